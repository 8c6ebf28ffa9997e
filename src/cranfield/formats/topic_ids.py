"""Topics by their ids: a list, or those of judgements."""

from __future__ import annotations

from cranfield.errors import DataError
from cranfield.formats import read_qrels
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source


def read_topic_ids(path: str, reading: Reading = DEFAULT) -> tuple[str, ...]:
    """Topics of a judgement file, or of a list with one id a line."""
    lines = bytes(open_source(path).data).decode("utf-8-sig", "surrogateescape").split("\n")
    ids = [line.strip() for line in lines if line.strip()]
    if not ids:
        raise DataError("no topic in it", source=path, remedy="Write a topic id on each line, or name judgements.")
    a_list = all(len(line.split()) == 1 for line in ids) and not any("," in line for line in ids)
    return tuple(ids) if a_list else tuple(read_qrels(path, reading=reading).topics)


def read_topic_list(path: str) -> tuple[str, ...]:
    """Topic ids with white space between, as one a line."""
    source = open_source(path)
    topics = tuple(bytes(source.data).decode("utf-8", "surrogateescape").split())
    if not topics:
        raise DataError("no topic in it", source=source.label, remedy="Write a topic id on each line.")
    return topics
