"""Which format runs and judgements are written in."""

from __future__ import annotations

from cranfield.formats import suffix_of
from cranfield.formats.format import FORMATS, Format


def writable() -> tuple[Format, ...]:
    """The formats that can be written.

    >>> [format.name for format in writable()]
    ['trec', 'msmarco', 'csv', 'tsv', 'beir', 'jsonl', 'json', 'parquet']
    """
    return tuple(format for format in FORMATS.values() if format.writer is not None)


def format_of(path: str) -> str:
    """The format that the suffix of a run or of judgements calls for; TREC text if it calls for none.

    >>> format_of("fused.jsonl.gz"), format_of("fused.v2"), format_of("-")
    ('jsonl', 'trec', 'trec')
    """
    suffix = suffix_of(path)
    return next((each.name for each in writable() if each.writer and suffix in each.writer.suffixes), "trec")
