"""`cranfield convert`"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.streams import tell
from cranfield.formats.reading import Reading

if TYPE_CHECKING:
    from cranfield.texts import Ids
    from cranfield.texts.conversion import Kind


@click.command("convert")
@click.argument("source", metavar="INPUT")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(folder=True),
    required=True,
    metavar="OUTPUT",
    help="File to write; '-' is standard output.",
)
@click.option(
    "--kind",
    type=click.Choice(["run", "qrels", "topics", "documents", "collection"]),
    help="What INPUT holds, where its content and name do not tell; of a collection, the part to write.",
)
@click.option("--from", "from_", metavar="FORMAT", help="Format of INPUT, where its content does not tell.")
@click.option("--to", metavar="FORMAT", help="Format of OUTPUT, where its suffix does not tell.")
@click.option("--lossy", is_flag=True, help="Write even if something is lost on the way, and say what.")
@options.reading("format", "threads")
@options.topic_ids
def command(
    source: str,
    output: str,
    kind: Kind | None,
    from_: str | None,
    to: str | None,
    lossy: bool,
    ids: Ids,
    reading: Reading,
) -> None:
    """Write a run, judgements, topics or documents in another format.

    \b
    Formats:
      run, qrels         trec, msmarco, csv, tsv, beir, jsonl, json, parquet
      qrels              ntcir
      topics, documents  trec, smart, csv, tsv, jsonl, beir, msmarco, parquet

    Ids and texts, and the numbers to the last digit, are the same when OUTPUT is read again; where a format cannot hold
    something, nothing is written, unless --lossy allows it. Compression follows the suffix: .gz, .bz2, .xz, .zst.

    INPUT may be '-' (standard input) or a collection (a folder, irds:…), which is written as a folder in BEIR's form,
    or with --kind the part of it that is named.

    \b
    Examples:
      $ cranfield convert bm25.run -o bm25.jsonl.gz
      $ cranfield convert qrels.txt -o - --to beir
      $ cranfield convert bm25.run -o - --to msmarco --lossy

    More are in docs/collections.md.
    """
    from cranfield.efficiency.metadata import carry_metadata
    from cranfield.texts.conversion import convert

    for told in convert(
        source, output, kind=kind, reading=replace(reading, format=from_), to_format=to, lossy=lossy, ids=ids
    ):
        tell("warning", told)
    if output != "-":
        carried = carry_metadata(source, output)
        click.echo(f"wrote {output}{', and beside it the metadata of the run' if carried else ''}")
