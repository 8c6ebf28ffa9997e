"""`cranfield online demo`"""

from __future__ import annotations

import click

from cranfield.cli import options


@click.command("online demo")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(folder=True),
    default="cranfield-online-demo",
    show_default=True,
    metavar="FOLDER",
    help="Where everything goes: a new or empty folder, or that of an earlier demo, which is written over.",
)
@click.option("--users", type=click.IntRange(100), default=4000, show_default=True, help="How many are simulated.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same users.")
def command(output: str, users: int, seed: int) -> None:
    """See an online experiment, with no users of your own: simulated ones decide between two systems.

    Two systems of `cranfield demo` search its collection; simulated users click by its judgements, on interleaved lists
    and in an A/B test. Both are analysed as live ones would be, and a report on the A/B test is written. Nothing is
    downloaded.

    \b
    Examples:
      $ cranfield online demo
      $ cranfield online demo --users 1000 -o /tmp/users
    """
    from cranfield.demo.online_demo import build_online_demo
    from cranfield.demo.online_telling import told_online

    made = build_online_demo(output, users=users, seed=seed, say=lambda text: click.echo(text, err=True))
    click.echo(told_online(made), nl=False)
