"""Judgements of some topics in the very form of their file: its rows are taken over as they are, with every column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from cranfield.errors import DataError
from cranfield.formats import chosen_format, request_for
from cranfield.formats.delimited import header
from cranfield.formats.format import BYTE_ORDER_MARK, decode, is_comment
from cranfield.formats.json_text import parse
from cranfield.formats.layout import ColumnNames, find_columns
from cranfield.formats.reading import Reading
from cranfield.formats.sources import Buffer


class TopicLine(NamedTuple):
    """A line as it stands in the file, and its topic, if it has any; of a comment that is its first word.

    A header stands in every part.
    """

    topic: str | None
    text: bytes
    is_header: bool = False


class JudgementParts(NamedTuple):
    """For each part its file, and the number of comments that are in none."""

    files: dict[str, bytes]
    comments: int = 0


def parted(
    data: Buffer, format: str, parts: Mapping[str, Collection[str]], reading: Reading, source: str
) -> JudgementParts:
    """For each part, topics under a name, the file that has its judgements and nothing else but a header.

    Comments are in no part: nobody knows which topics they tell of, and a judgement that was taken out by a # before
    it would be handed out.

    >>> qrels = b"1 0 d1 2\\n# 1 0 d3 1\\n2 0 d2 1\\n"
    >>> parted(qrels, "trec", {"train": ["1"], "test": ["2"]}, Reading(), "qrels.txt")
    JudgementParts(files={'train': b'1 0 d1 2\\n', 'test': b'2 0 d2 1\\n'}, comments=1)
    """
    if format in _LINES:
        lines = list(_LINES[format](bytes(data), reading.told, source))
        known = {topic for topics in parts.values() for topic in topics}
        comments = sum(is_comment(text, fits=topic in known) for topic, text, is_header in lines if not is_header)
        return JudgementParts({name: _of_lines(lines, set(topics)) for name, topics in parts.items()}, comments)
    cut = _cutter(data, format, reading.told, source)
    return JudgementParts({name: cut(set(topics)) for name, topics in parts.items()})


def _of_lines(lines: Sequence[TopicLine], topics: Collection[str]) -> bytes:
    return b"".join(text for topic, text, is_header in lines if is_header or topic in topics)


def _cutter(data: Buffer, format: str, columns: ColumnNames, source: str) -> Callable[[Collection[str]], bytes]:
    """What makes of topics the file of their judgements."""
    if format == "json":
        outer = parse(decode(bytes(data).removeprefix(BYTE_ORDER_MARK)), source, None)
        return lambda topics: _of_object(outer, topics)
    if format == "parquet":
        return lambda topics: _of_parquet(data, topics, columns, source)
    raise DataError(
        f"judgements in the format {format} cannot be cut into parts",
        source=source,
        remedy="Write them in another first: `cranfield convert`.",
    )


def _ended(data: bytes) -> list[bytes]:
    """The lines with their ends; the last one gets one if it has none, as others may follow it."""
    lines = data.splitlines(keepends=True)
    if lines and not lines[-1].endswith((b"\n", b"\r")):
        lines[-1] += b"\n"
    return lines


def _of_text(data: bytes, columns: ColumnNames, source: str) -> Iterator[TopicLine]:
    """TREC text: the topic is the first field."""
    for text in _ended(data):
        fields = text.removeprefix(BYTE_ORDER_MARK).split(None, 1)
        yield TopicLine(decode(fields[0]) if fields else None, text)


def _of_delimited(data: bytes, columns: ColumnNames, source: str, delimiter: str) -> Iterator[TopicLine]:
    """CSV and TSV: the topic is in the column of that name."""
    first, *rest = _ended(data)
    place = find_columns(header(first.removeprefix(BYTE_ORDER_MARK), delimiter), "grade", columns).topic
    yield TopicLine(None, first, is_header=True)
    for text in rest:
        fields = header(text, delimiter)
        yield TopicLine(fields[place] if 0 <= place < len(fields) else None, text)


def _of_json_lines(data: bytes, columns: ColumnNames, source: str) -> Iterator[TopicLine]:
    for number, text in enumerate(_ended(data), start=1):
        entry = parse(decode(text.removeprefix(BYTE_ORDER_MARK)), source, number) if text.strip() else {}
        names = list(entry) if isinstance(entry, dict) else []
        place = find_columns(names, "grade", columns).topic
        yield TopicLine(str(entry[names[place]]) if isinstance(entry, dict) and place >= 0 else None, text)


_LINES: dict[str, Callable[[bytes, ColumnNames, str], Iterator[TopicLine]]] = {
    "trec": _of_text,
    "csv": lambda data, columns, source: _of_delimited(data, columns, source, ","),
    "tsv": lambda data, columns, source: _of_delimited(data, columns, source, "\t"),
    "jsonl": _of_json_lines,
}


def _of_object(outer: object, topics: Collection[str]) -> bytes:
    import json

    kept = {topic: rest for topic, rest in outer.items() if topic in topics} if isinstance(outer, dict) else {}
    return (json.dumps(kept, indent=1) + "\n").encode("utf-8", "surrogateescape")


def _of_parquet(data: Buffer, topics: Collection[str], columns: ColumnNames, source: str) -> bytes:
    from cranfield.formats.parquet import parquet_table, rows_with

    table = parquet_table(data, source)
    return rows_with(table, find_columns(table.column_names, "grade", columns).topic, topics)


def name_of_format(data: Buffer, reading: Reading, source: str) -> str:
    """The format that judgements of any kind are in: as told, or as their beginning tells."""
    return chosen_format(reading.format, data, source, request_for("grade", reading)).name
