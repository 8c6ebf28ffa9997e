"""`cranfield diagnose`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.progress import counted
from cranfield.comparison.diagnosis_tables import FORMATS, render

if TYPE_CHECKING:
    from cranfield.quotation.text_sources import TextSource


@click.command("diagnose")
@click.argument("qrels")
@click.argument("run")
@click.argument("other")
@click.option("-m", "--measure", default="nDCG@10", show_default=True, help="The measure to explain.")
@click.option(
    "--slices", metavar="FILE", help="Topic attributes: CSV or TSV with a header, the topic in the first column."
)
@click.option(
    "--topic", "looked_at", multiple=True, help="Show the documents that moved on this topic; may be repeated."
)
@click.option(
    "--shown",
    type=click.IntRange(1),
    metavar="K",
    help="Show documents down to this rank. [default: the measure's cutoff]",
)
@click.option("--every-topic", is_flag=True, help="Show every topic, not only those at both ends.")
@options.texts
@options.output_format(list(FORMATS))
@options.inputs
def command(
    qrels: str,
    run: str,
    other: str,
    measure: str,
    slices: str | None,
    looked_at: tuple[str, ...],
    shown: int | None,
    every_topic: bool,
    texts: TextSource | None,
    output_format: str,
    inputs: options.Inputs,
) -> None:
    """Where does the difference between RUN and OTHER come from?

    Lists the topics by what each adds to the difference, with what is left without it (! marks those that decide);
    slices of topics by their attributes; and for single topics the documents that entered, left or moved, with their
    grades. With --collection, or --questions and --documents, topics have their questions beside them, and documents
    their titles.

    \b
    Examples:
      $ cranfield diagnose qrels.txt dense.run bm25.run
      $ cranfield diagnose qrels.txt dense.run bm25.run -m AP --topic 2 -f markdown
      $ cranfield diagnose pond.qrels pond-bm25.run pond-titles.run -m AP --collection pond.toml
    """
    from cranfield.comparison.diagnosis import diagnose
    from cranfield.formats.attributes import read_attributes

    diagnosis = diagnose(
        inputs.experiment(qrels, [run, other], rows=True),
        measure,
        slices=read_attributes(slices) if slices else None,
        topics=looked_at,
        depth=shown,
        collection=texts,
        watch=counted,
    )
    options.show(render(diagnosis, output_format, every_topic=every_topic), diagnosis.warnings)
