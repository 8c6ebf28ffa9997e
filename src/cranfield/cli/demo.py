"""`cranfield demo`"""

from __future__ import annotations

import click

from cranfield.cli import options


@click.command("demo")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(folder=True),
    default="cranfield-demo",
    show_default=True,
    metavar="FOLDER",
    help="Where everything goes: a new or empty folder, or that of an earlier demo, which is written over.",
)
def command(output: str) -> None:
    """See it all at work, with no data of your own: a collection, five systems, tables and a report.

    The documents are the docstrings of the standard library of the Python you run it with, and the topics are questions
    that programmers ask. Documents were judged one by one; README.md in the folder tells how, and what the judgements
    are good for. Nothing is downloaded.

    \b
    Examples:
      $ cranfield demo
      $ cranfield demo -o /tmp/docstrings
    """
    from cranfield.demo import build_demo
    from cranfield.demo.telling import told

    made = build_demo(output, say=lambda text: click.echo(text, err=True))
    click.echo(told(made), nl=False)
