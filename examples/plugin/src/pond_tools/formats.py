"""A format of runs and judgements, reader and writer together: `topic: document document …`, best first."""

from collections.abc import Iterator
from typing import Any

from cranfield.errors import DataError
from cranfield.formats.format import Parsed, Request, Rows, Writer, decode, table_format
from cranfield.formats.memory import read_mapping
from cranfield.formats.rows import BLANKS


def read_ranked(data: Any, source: str, request: Request) -> Parsed:
    """Documents count from the last, which has 1: only their order is known."""
    rows: dict[str, dict[str, int]] = {}
    for number, line in enumerate(decode(bytes(data)).splitlines(), start=1):
        topic, colon, documents = line.partition(":")
        if not colon:
            raise DataError("no colon after the topic", source=source, line=number, text=line)
        names = documents.split()
        rows[topic] = {name: len(names) - place for place, name in enumerate(names)}
    return read_mapping(rows, source, request)


def write_ranked(table: Rows, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        yield f"{topic}: {' '.join(documents)}\n"


RANKED = table_format(
    "ranked",
    read_ranked,
    suffixes=(".ranked",),
    only="score",
    writer=Writer(write_ranked, (".ranked",), unfit=BLANKS, has_tag=False, has_scores=False),
)
