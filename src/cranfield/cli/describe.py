"""`cranfield describe`"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.description.description_tables import FORMATS
from cranfield.formats.reading import Reading

if TYPE_CHECKING:
    from cranfield.texts import Ids
    from cranfield.texts.content import Content


@click.command("describe")
@click.argument("collection")
@click.argument("runs", nargs=-1)
@click.option(
    "--kind",
    type=click.Choice(["qrels", "topics", "documents"]),
    help="What a file holds, where its content and name do not tell; of a collection, the part to describe.",
)
@click.option("--from", "input_format", metavar="FORMAT", help="Format of COLLECTION, where its content does not tell.")
@click.option("--judgements", type=options.JUDGEMENTS, default="plain", help="Kind of judgements in a file of them.")
@click.option("--run-format", metavar="FORMAT", help="Format of RUNS, where their content does not tell, as msmarco.")
@options.reading("format", "threads", kind=True)
@options.topic_ids
@options.output_format(list(FORMATS))
def command(
    collection: str,
    runs: tuple[str, ...],
    kind: Content | None,
    reading: Reading,
    run_format: str | None,
    ids: Ids,
    output_format: str,
) -> None:
    """What does COLLECTION hold, and what can be measured with it?

    COLLECTION is a folder (BEIR, SMART, or with a collection.toml), an id of ir_datasets (irds:…), or a file with
    judgements, topics or documents. Prints counts and lengths, the judgements for each topic and grade, whether
    they are sparse or dense, which measures and cutoffs they support, and what to beware of; with RUNS, also how
    deep they are judged.

    \b
    Examples:
      $ cranfield describe qrels.txt
      $ cranfield describe qrels.txt bm25.run dense.run
      $ cranfield describe qrels.txt -f markdown
    """
    from cranfield.description.description import describe
    from cranfield.description.description_tables import render

    description = describe(
        collection,
        list(runs) or (),
        kind=kind,
        reading=reading,
        run_reading=replace(reading, format=run_format),
        ids=ids,
    )
    options.show(render(description, output_format))
