"""The formats of documents and topics, and which of them a text is in."""

from __future__ import annotations

from collections.abc import Mapping

from cranfield.errors import UsageError
from cranfield.formats import suffix_of
from cranfield.texts import json_lines, sgml, smart, trec_topics
from cranfield.texts import separated as delimited
from cranfield.texts.forms import Kind, TextFormat

# In the order in which they are tried on a file's first characters; tags may stand in any text.
_BEFORE = (smart.SMART, delimited.CSV, delimited.TSV, json_lines.JSON_LINES, json_lines.BEIR)
FORMATS: Mapping[Kind, tuple[TextFormat, ...]] = {
    "documents": (*_BEFORE, sgml.TREC, delimited.MSMARCO),
    "topics": (*_BEFORE, trec_topics.TREC, delimited.MSMARCO),
}
PARQUET = "parquet"


def names(kind: Kind) -> list[str]:
    """The names of the formats.

    >>> names("topics")
    ['smart', 'csv', 'tsv', 'jsonl', 'beir', 'trec', 'msmarco', 'parquet']
    """
    return [format.name for format in FORMATS[kind]] + [PARQUET]


def format_named(name: str, kind: Kind) -> TextFormat:
    """A format by its name."""
    for format in FORMATS[kind]:
        if format.name == name:
            return format
    raise UsageError(f"unknown format of {kind} '{name}'; known: {', '.join(names(kind))}")


def recognised(text: str, kind: Kind) -> TextFormat | None:
    """The format that a text's beginning gives away."""
    first = text.find("\n")
    head = text[: max(1 << 16, first)] if first >= 0 else text  # at least the first line
    return next((format for format in FORMATS[kind] if format.recognise(head, kind)), None)


def choose(text: str, label: str, kind: Kind, format: str | None) -> TextFormat | None:
    if format is not None:
        return format_named(format, kind)
    suffix = suffix_of(label)
    return recognised(text, kind) or next((known for known in FORMATS[kind] if suffix in known.suffixes), None)
