"""CSV and TSV with a header line, BEIR's qrels among them. Columns are found by name: see columns.py."""

from __future__ import annotations

from typing import Any

from cranfield._core import TextLayout
from cranfield.formats.format import BYTE_ORDER_MARK, Format, Parsed, Request, decode
from cranfield.formats.layout import is_header, require_columns
from cranfield.formats.trec_text import read_fields


def header(head: bytes, delimiter: str) -> list[str]:
    """The names on the first line."""
    line = decode(head.splitlines()[0]) if head.splitlines() else ""
    if delimiter == "," and '"' in line:
        import csv

        try:
            return next(csv.reader([line], strict=True))
        except csv.Error:
            return []
    return line.split(delimiter)


def read_delimited(data: Any, source: str, request: Request, delimiter: str) -> Parsed:
    end = min((at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0), default=len(data))
    names = header(bytes(data[:end]).removeprefix(BYTE_ORDER_MARK), delimiter)
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
    return read_fields(data, source, request, layout)


def has_header(head: bytes, request: Request, delimiter: str) -> bool:
    return is_header(header(head, delimiter), request.kind, request.columns)


CSV = Format(
    "csv",
    (".csv",),
    lambda head, request: has_header(head, request, ","),
    lambda data, source, request: read_delimited(data, source, request, ","),
)
TSV = Format(
    "tsv",
    (),  # MS MARCO calls its TREC qrels .tsv: only a header tells
    lambda head, request: has_header(head, request, "\t"),
    lambda data, source, request: read_delimited(data, source, request, "\t"),
)
