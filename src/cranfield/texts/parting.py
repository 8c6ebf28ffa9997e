"""Topics of some ids in the very form of their file: records are taken over as they stand, whatever else is in them."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

from cranfield.errors import DataError
from cranfield.formats.format import BYTE_ORDER_MARK
from cranfield.formats.parquet import parquet_table, rows_with
from cranfield.formats.reading import Reading
from cranfield.formats.sources import Buffer
from cranfield.texts import PARQUET, format_named, read_topics
from cranfield.texts.columns import require_roles
from cranfield.texts.forms import Piece, decoded
from cranfield.texts.texts import Topics


class TopicParts(NamedTuple):
    """For each part its file, and how many places with words outside of topics are in none."""

    files: dict[str, bytes]
    left_out: int = 0


def can_be_cut(format: str) -> bool:
    """Whether the records of a format can be taken over as they stand."""
    return format == PARQUET or format_named(format, "topics").pieces is not None


def parted_topics(
    data: Buffer, format: str, topics: Topics, parts: Mapping[str, Collection[str]], source: str
) -> TopicParts:
    """For each part, ids under a name, the file that has its topics and what stands around all of them, as a header.

    `topics` are those that were read from the data. Words outside of topics are in no part.

    >>> given = b'{"_id": "1", "text": "a", "metadata": {"k": [1]}}\\n{"_id": "2", "text": "b"}\\n'
    >>> topics = read_topics(io.BytesIO(given))
    >>> parted_topics(given, "jsonl", topics, {"train": ["1"]}, "topics.jsonl").files["train"]
    b'{"_id": "1", "text": "a", "metadata": {"k": [1]}}\\n'
    """
    if format == PARQUET:
        table = parquet_table(data, source)
        roles = require_roles(list(table.column_names), "topics", source)
        column = next(place for place, name in enumerate(table.column_names) if roles[name] == "id")
        return TopicParts({name: rows_with(table, column, set(ids)) for name, ids in parts.items()})
    text, encoding, mark = _as_it_stands(data)
    by_records = format_named(format, "topics").pieces
    pieces = by_records(decoded(data, source)[0]) if by_records else []
    if sum(piece.is_record for piece in pieces) != len(topics):
        raise not_cut(format, source)
    pieces[-1] = pieces[-1]._replace(end=max(pieces[-1].end, _end_of_last(pieces[-1], text)))
    files = {name: mark + _chosen(text, pieces, topics.ids, set(ids)).encode(encoding) for name, ids in parts.items()}
    around = pairwise([0, *(place for piece in pieces for place in piece[:2]), len(text)])
    gaps = [text[start:end] for number, (start, end) in enumerate(around) if number % 2 == 0]
    return TopicParts(files, sum(bool(gap.strip()) for gap in gaps))


def _as_it_stands(data: Buffer) -> tuple[str, str, bytes]:
    """The text with the ends of lines that it has, what it is encoded in, and the mark before it; a line at its end."""
    mark = BYTE_ORDER_MARK if data[:3] == BYTE_ORDER_MARK else b""
    stored = bytes(data[len(mark) :])
    try:
        text, encoding = stored.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = stored.decode("latin-1"), "latin-1"
    if not text.endswith(("\n", "\r")):
        text += "\r" if "\r" in text and "\n" not in text else "\n"
    return text, encoding, mark


def _end_of_last(last: Piece, text: str) -> int:
    """Where a piece ends that had no end of line, now that the text has one."""
    return len(text) if last.end == len(text) - 1 else last.end


def _chosen(text: str, pieces: Collection[Piece], ids: Collection[str], wanted: Collection[str]) -> str:
    of_records = iter(ids)
    kept = [piece for piece in pieces if not piece.is_record or next(of_records) in wanted]
    return "".join(text[piece.start : piece.end] for piece in kept)


def not_cut(format: str, source: str, part: str | None = None) -> DataError:
    """The error for topics that are other ones once they are apart."""
    which = "topics" if part is None else f"the topics of {part}"
    return DataError(
        f"{which} in the format {format} cannot be taken out of it as they stand",
        source=source,
        remedy="Write it anew first: `cranfield convert` with --to jsonl.",
    )


def same_topics(data: bytes, format: str, topics: Topics) -> bool:
    """Whether reading a file gives these topics: the same ids in the same order, and the same text in every field."""
    read = read_topics(io.BytesIO(data), reading=Reading(format=format))
    blank = [""] * len(topics)
    names = {*read.fields, *topics.fields}
    return read.ids == topics.ids and all(
        list(read.fields.get(name, blank)) == list(topics.fields.get(name, blank)) for name in names
    )
