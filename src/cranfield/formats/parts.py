"""Judgements of some topics in the very form of their file: its rows are taken over as they are, with every column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from cranfield.errors import DataError
from cranfield.formats import chosen_format, request_for
from cranfield.formats.delimited import header
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.json_text import parse
from cranfield.formats.layout import ColumnNames, find_columns
from cranfield.formats.reading import Reading
from cranfield.formats.sources import Buffer


class TopicLine(NamedTuple):
    """A line as it stands in the file, and its topic, if it has any; of a comment that is its first word."""

    topic: str | None
    text: bytes


def parted(
    data: Buffer, format: str, parts: Mapping[str, Collection[str]], reading: Reading, source: str
) -> dict[str, bytes]:
    """For each part, topics under a name, the file that has its judgements and no others.

    Lines that are of no topic, as a header and comments are, stand in every part.

    >>> qrels = b"1 0 d1 2\\n# the second\\n2 0 d2 1\\n"
    >>> parted(qrels, "trec", {"train": ["1"], "test": ["2"]}, Reading(), "qrels.txt")["test"]
    b'# the second\\n2 0 d2 1\\n'
    """
    cut = _cutter(data, format, {topic for topics in parts.values() for topic in topics}, reading.told, source)
    return {name: cut(set(topics)) for name, topics in parts.items()}


def _cutter(
    data: Buffer, format: str, known: Collection[str], columns: ColumnNames, source: str
) -> Callable[[Collection[str]], bytes]:
    """What makes of topics the file of their judgements."""
    if format == "json":
        outer = parse(decode(bytes(data).removeprefix(BYTE_ORDER_MARK)), source, None)
        return lambda topics: _of_object(outer, topics)
    if format == "parquet":
        return lambda topics: _of_parquet(data, topics, columns, source)
    if format not in _LINES:
        raise DataError(
            f"judgements in the format {format} cannot be cut into parts",
            source=source,
            remedy="Write them in another first: `cranfield convert`.",
        )
    lines = list(_LINES[format](bytes(data), columns, source))
    return lambda topics: b"".join(text for topic, text in lines if topic in topics or topic not in known)


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
    yield TopicLine(None, first)
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
    from cranfield.formats.parquet import parquet_table

    table = parquet_table(data, source)
    import pyarrow
    import pyarrow.parquet

    column = table.column(find_columns(table.column_names, "grade", columns).topic).to_pylist()
    kept = table.filter(pyarrow.array([str(topic) in topics for topic in column]))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(kept, sink)
    return bytes(sink.getvalue())


def name_of_format(data: Buffer, reading: Reading, source: str) -> str:
    """The format that judgements of any kind are in: as told, or as their beginning tells."""
    return chosen_format(reading.format, data, source, request_for("grade", reading)).name
