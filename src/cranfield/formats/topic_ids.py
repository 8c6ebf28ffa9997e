"""Topics by their ids, in a list."""

from __future__ import annotations

from cranfield.errors import DataError
from cranfield.formats.sources import open_source


def read_topic_list(path: str) -> tuple[str, ...]:
    """Topic ids with white space between, as one a line."""
    source = open_source(path)
    topics = tuple(bytes(source.data).decode("utf-8", "surrogateescape").split())
    if not topics:
        raise DataError("no topic in it", source=source.label, remedy="Write a topic id on each line.")
    return topics
