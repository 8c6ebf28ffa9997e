"""`cranfield online simulate`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options, simulated
from cranfield.errors import plural
from cranfield.formats.reading import Reading

if TYPE_CHECKING:
    from cranfield.cli.simulated import Users

DESIGNS, FORMS = ("ab", "interleaving"), ("parquet", "jsonl")  # as `users` has them, which would load NumPy


@click.command("online simulate")
@click.argument("qrels")
@click.argument("runs", nargs=2, metavar="RUN RUN")
@click.option(
    "--design",
    type=click.Choice(DESIGNS),
    default=DESIGNS[0],
    show_default=True,
    help="ab: half of the users see each run's lists; interleaving: all see lists made of both.",
)
@click.option("--method", default="team-draft", show_default=True, help="How lists are interleaved.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=options.OutputFile(folder=True),
    required=True,
    help="Where the tables of the log, and of an A/B test experiment.toml, are written, over an earlier simulation's.",
)
@click.option("--to", type=click.Choice(FORMS), default=FORMS[0], show_default=True, help="How tables are written.")
@simulated.users(coming=True)
@options.reading("labels")
def command(
    qrels: str,
    runs: tuple[str, ...],
    design: str,
    method: str,
    output: str,
    to: str,
    users: Users,
    reading: Reading,
) -> None:
    """Rehearse an online experiment: simulated users of two runs leave the log that live ones would.

    Users ask the judged topics, look at lists from the top, and click by how relevant documents are; they come back,
    and differ. The log has impressions, events and, of an A/B test, assignments, as Parquet or JSON lines, beside which
    experiment.toml is the plan: `online analyse` takes them. Interleaving has no arms and no plan: `online preferences`
    takes its log. What comes next is told on standard error.

    \b
    Examples:
      $ cranfield online simulate qrels.txt bm25.run dense.run --users 200 -o rehearsal
      $ cranfield online simulate qrels.txt bm25.run dense.run --design interleaving --to jsonl -o interleaved
    """
    from cranfield.cli.progress import counted
    from cranfield.cli.streams import tell
    from cranfield.evaluation.findings import Finding
    from cranfield.online.users import UserSimulation, write_simulated
    from cranfield.online.users.simulating import AT_ONCE

    assert users.population is not None
    rankings = simulated.judged_rankings(qrels, runs, users.model, reading)
    simulation = UserSimulation(rankings, users.model, users.population, design, method)  # type: ignore[arg-type]
    with counted("simulating users", -(-users.population.users // AT_ONCE)) as counter:
        written = write_simulated(simulation, output, to=to, step=counter.step)
    for file, rows in written.files.items():
        click.echo(f"{file}: {plural(rows, 'row')}")
    if written.plan is not None:
        click.echo(f"{written.plan}: the plan")
    tell("note", f"next: {_next(output, list(written.files), written.plan)}")
    notes = [Finding("simulated", qrels, note, doubtful=False) for note in rankings.notes]
    options.warn([*(Finding("simulated", output, note, doubtful=False) for note in written.notes), *notes])


def _next(folder: str, files: list[str], plan: str | None) -> str:
    """What reads the log: `online analyse` by the plan, or `online preferences`, which takes impressions and events.

    >>> _next("log", ["log/impressions.jsonl", "log/events.jsonl"], None)
    'cranfield online preferences log/impressions.jsonl log/events.jsonl'
    """
    from shlex import join

    if plan is None:
        return join(["cranfield", "online", "preferences", *files])
    return join(["cranfield", "online", "analyse", folder, "--trial", plan])
