"""`cranfield explain`"""

from __future__ import annotations

import click

from cranfield.cli import options
from cranfield.explanation.explanation_tables import FORMATS, render

DEFAULT_MEASURES = ("nDCG@10", "AP")


@click.command("explain")
@click.argument("qrels")
@click.argument("run")
@click.argument("other_run", required=False)
@click.option("--topic", required=True, help="The topic to explain.")
@options.measures(*DEFAULT_MEASURES)
@click.option(
    "--shown",
    type=click.IntRange(1),
    metavar="K",
    help="Show every document down to this rank. By default down to the measure's cutoff or the last document that "
    "counts, at most 20, and below that only documents that count.",
)
@options.output_format(list(FORMATS))
@options.inputs
def command(
    qrels: str,
    run: str,
    other_run: str | None,
    topic: str,
    measures: tuple[str, ...],
    shown: int | None,
    output_format: str,
    inputs: options.Inputs,
) -> None:
    """How does the score of RUN on a topic arise?

    Shows for each rank the document, its grade, whether it counts, precision and recall so far, and what the
    measure makes of it; then the formula with the numbers put in, and what would change if documents that nobody
    judged were relevant. Where a measure is not a sum over documents, each document shows what it is worth: the
    score less what it would be if that document were not relevant. With OTHER_RUN both rankings are shown side by
    side, with the documents that moved, entered and left.

    \b
    Examples:
      $ cranfield explain qrels.txt bm25.run --topic 1 -m nDCG@5
      $ cranfield explain qrels.txt bm25.run dense.run --topic 2 -m AP -f html
    """
    from cranfield.explanation.accounts import explain

    runs = [run] if other_run is None else [run, other_run]
    explanation = explain(inputs.experiment(qrels, runs, rows=True), topic, measures or DEFAULT_MEASURES, shown=shown)
    options.warn(explanation.warnings)
    click.echo(render(explanation, output_format), nl=False)
