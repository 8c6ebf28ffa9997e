"""CSV and TSV with a header line, BEIR's qrels among them. Columns are found by name: see layout.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count

from cranfield._core import TextLayout
from cranfield.formats.format import BYTE_ORDER_MARK, Parsed, Request, Rows, Writer, decode, is_number, table_format
from cranfield.formats.layout import Columns, check_grades, is_header, require_columns
from cranfield.formats.rows import LINES, TABS, column_names, number
from cranfield.formats.sources import Buffer, Flow
from cranfield.formats.stand_ins import with_ranks_told
from cranfield.formats.trec_text import flow_fields, read_fields
from cranfield.tables import Run

LOOKED_AT = 1 << 16  # bytes in which the first row stands
_FIRST_LINE = re.compile(rb"[^\r\n]*")


def header(head: bytes, delimiter: str) -> list[str]:
    """The names on the first line."""
    line = decode(_first_line(head))
    if delimiter == "," and '"' in line:
        import csv

        try:
            return next(csv.reader([line], strict=True))
        except csv.Error:
            return []
    return line.split(delimiter)


def read_delimited(data: Buffer, source: str, request: Request, delimiter: str) -> Parsed:
    names, columns, layout = _layout(data, source, request, delimiter)
    parsed = read_fields(data, source, request, layout)
    check_grades(parsed.table, names[columns.value], request, source)
    return with_ranks_told(parsed, names, columns, _with_numbers(data, names, delimiter))


def flow_delimited(flow: Flow, request: Request, delimiter: str) -> Parsed | None:
    """A run that is judged while it is unpacked."""
    names, columns, layout = _layout(flow.head, flow.label, request, delimiter)
    parsed = flow_fields(flow, request, layout)
    return parsed and with_ranks_told(parsed, names, columns, _with_numbers(flow.head, names, delimiter))


def _layout(head: Buffer, source: str, request: Request, delimiter: str) -> tuple[list[str], Columns, TextLayout]:
    """The names on the first line, which of them is which, and how the lines below are read."""
    names = header(_first_line(head).removeprefix(BYTE_ORDER_MARK), delimiter)
    columns = require_columns(names, request.kind, request.columns, source)
    layout = TextLayout(
        topic=columns.topic,
        document=columns.document,
        value=columns.value,
        rank=columns.rank,
        tag=columns.tag,
        min_fields=len(names),
        max_fields=len(names),
        delimiter=delimiter,
        quotes=delimiter == ",",
        header_lines=1,
        kind=columns.kind,
    )
    return names, columns, layout


def _first_line(text: Buffer) -> bytes:
    """Up to its end and not a byte further: a mapped file comes into memory where it is looked at."""
    line = _FIRST_LINE.match(text)
    assert line is not None
    return bytes(line[0])


def _with_numbers(head: Buffer, names: list[str], delimiter: str) -> list[str]:
    """The names of the columns that have a number in the first row."""
    first = next((line for line in bytes(head[:LOOKED_AT]).splitlines()[1:] if line.strip()), b"")
    return [name for name, field in zip(names, header(first, delimiter), strict=False) if is_number(field)]


def has_header(head: bytes, request: Request, delimiter: str) -> bool:
    return is_header(header(head, delimiter), request.kind, request.columns)


def read_csv(data: Buffer, source: str, request: Request) -> Parsed:
    """A text with commas between fields, and a header."""
    return read_delimited(data, source, request, ",")


def read_tsv(data: Buffer, source: str, request: Request) -> Parsed:
    """A text with tabs between fields, and a header."""
    return read_delimited(data, source, request, "\t")


def write_delimited(table: Rows, tag: str, delimiter: str, held: Callable[[str], str]) -> Iterator[str]:
    yield delimiter.join(column_names(table)) + "\n"
    for topic, documents in table.to_dict().items():
        start, end = held(topic) + delimiter, delimiter + held(tag) + "\n"
        rows = zip(count(1), map(held, documents), map(number, documents.values()), strict=False)
        if isinstance(table, Run):
            lines = [f"{start}{id}{delimiter}{rank}{delimiter}{value}{end}" for rank, id, value in rows]
        else:
            lines = [f"{start}{id}{delimiter}{value}\n" for _, id, value in rows]
        yield "".join(lines)


def _quoted(text: str) -> str:
    held = text.lstrip().startswith("#") or '"' in text or "," in text  # a # in quotes does not start a comment
    return '"' + text.replace('"', '""') + '"' if held else text


def write_beir(table: Rows, tag: str) -> Iterator[str]:
    yield "query-id\tcorpus-id\tscore\n"
    for topic, documents in table.to_dict().items():
        yield "".join([f"{topic}\t{document}\t{number(value)}\n" for document, value in documents.items()])


CSV = table_format(
    "csv",
    read_csv,
    suffixes=(".csv",),
    recognise=lambda head, request: has_header(head, request, ","),
    tried=20,
    writer=Writer(lambda table, tag: write_delimited(table, tag, ",", _quoted), (".csv",), unfit=LINES),
    flow=lambda flow, request: flow_delimited(flow, request, ","),
)
TSV = table_format(
    "tsv",
    read_tsv,
    recognise=lambda head, request: has_header(head, request, "\t"),  # MS MARCO calls its TREC qrels .tsv
    tried=10,
    writer=Writer(lambda table, tag: write_delimited(table, tag, "\t", str), (".tsv",), unfit=TABS, has_comments=True),
    flow=lambda flow, request: flow_delimited(flow, request, "\t"),
)
BEIR = table_format("beir", read_tsv, writer=Writer(write_beir, unfit=TABS, has_tag=False, has_comments=True))
