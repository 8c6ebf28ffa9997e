"""Which format runs and judgements are written in."""

from __future__ import annotations

from cranfield.formats import suffix_of
from cranfield.formats.format import FORMATS, Format


def writable() -> tuple[Format, ...]:
    """The formats that can be written.

    >>> writable()[0].name
    'trec'
    """
    return tuple(format for format in FORMATS.values() if format.writer is not None)


def format_of(path: str) -> str:
    """The format that the suffix of a run or of judgements calls for; TREC text if it calls for none.

    >>> format_of("fused.jsonl.gz"), format_of("fused.v2"), format_of("-")
    ('jsonl', 'trec', 'trec')
    """
    return by_suffix(suffix_of(path)) or "trec"


def by_suffix(suffix: str) -> str | None:
    """The format that a suffix calls for, of a plug-in if it is none of ours."""
    suffixes = {end: format.name for format in writable() if format.writer for end in format.writer.suffixes}
    if suffix and suffix not in suffixes:
        FORMATS.load_plugins()
        suffixes |= {end: format.name for format in writable() if format.writer for end in format.writer.suffixes}
    return suffixes.get(suffix)
