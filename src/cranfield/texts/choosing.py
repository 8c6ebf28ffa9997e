"""The formats of documents and topics, and which of them a text is in."""

from __future__ import annotations

from cranfield.formats import suffix_of
from cranfield.texts.forms import FORMATS, Kind, TextFormat

PARQUET = "parquet"


def names(kind: Kind) -> list[str]:
    """The names of the formats.

    >>> names("topics")[-2:]
    ['msmarco', 'parquet']
    """
    return [*FORMATS[kind], PARQUET]


def format_named(name: str, kind: Kind) -> TextFormat:
    """A format by its name."""
    return FORMATS[kind].find(name)


def recognised(text: str, kind: Kind) -> TextFormat | None:
    """The format that a text's beginning gives away."""
    first = text.find("\n")
    head = text[: max(1 << 16, first)] if first >= 0 else text  # at least the first line
    return next((format for format in FORMATS[kind].values() if format.recognise(head, kind)), None)


def choose(text: str, label: str, kind: Kind, format: str | None) -> TextFormat | None:
    if format is not None:
        return format_named(format, kind)
    suffix = suffix_of(label)
    return recognised(text, kind) or next((known for known in FORMATS[kind].values() if suffix in known.suffixes), None)
