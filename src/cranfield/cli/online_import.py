"""`cranfield online import`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.errors import plural

FORMS = ("parquet", "jsonl")  # as `imports` has them, which would load more than --help needs


@click.command("online import")
@click.argument("format")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=options.OutputFile(folder=True),
    required=True,
    help="Where the tables impressions and events are written.",
)
@click.option("--to", type=click.Choice(FORMS), default=FORMS[0], show_default=True, help="How they are written.")
def command(format: str, files: tuple[str, ...], output: str, to: str) -> None:
    """Make a log of others one that `online check` and the rest read. What is left out or guessed is told.

    FORMAT is ubi (OpenSearch's User Behavior Insights, queries and events), trec-session (Session Track, XML) or yandex
    (Relevance Prediction Challenge). FILES may be compressed.

    \b
    Examples:
      $ cranfield online import yandex yandex.tsv -o searches
    """
    from cranfield.evaluation.findings import Finding
    from cranfield.online.imports import import_logs

    done = import_logs(format, files, output, to=to)
    for file, rows in done.files.items():
        click.echo(f"{file}: {plural(rows, 'row')}")
    options.warn([Finding("import", format, note, doubtful=False) for note in done.notes])
