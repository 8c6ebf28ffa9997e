"""CSV and TSV with a header; and MS MARCO's TSV without one: id and text, or id, url, title and body.

In CSV a field may stand in quotes and run over several lines; in TSV quotes mean nothing.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from cranfield.errors import DataError
from cranfield.formats.headed import csv_rows
from cranfield.texts.columns import find_roles, held_names, require_roles
from cranfield.texts.forms import Found, Kind, Losses, Piece, Records, Texts, after_last_line, line_pieces, text_format
from cranfield.texts.texts import Topics

_LONG_FORM = ("id", "url", "title", "text")
_NEEDS_QUOTES = re.compile(r'[",\r\n]')
_NOT_IN_TSV = re.compile(r"[\t\r\n]")


def read_csv(text: str, source: str, kind: Kind) -> Found:
    rows = [(line, row) for line, row in csv_rows(text, source) if row]
    return _with_header([row for _, row in rows], [line for line, _ in rows], source, kind)


def read_tsv(text: str, source: str, kind: Kind) -> Found:
    rows, lines = _tab_separated(text)
    return _with_header(rows, lines, source, kind)


def _tab_separated(text: str) -> tuple[list[list[str]], list[int]]:
    lines = text.replace("\r\n", "\n").split("\n")
    numbers = [number for number, line in enumerate(lines, start=1) if line.strip(" ")]
    return [lines[number - 1].split("\t") for number in numbers], numbers


def _with_header(rows: list[list[str]], lines: list[int], source: str, kind: Kind) -> Found:
    if not rows:
        raise DataError("is empty", source=source)
    header = [name.strip() for name in rows[0]]
    roles = require_roles(header, kind, source, lines[0])
    return _columns(rows[1:], lines[1:], [roles[name] for name in header], source)


def _columns(rows: list[list[str]], lines: list[int], names: Sequence[str], source: str) -> Found:
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(names):
            raise DataError(
                f"{len(row)} fields where {len(names)} are expected ({', '.join(names)})",
                source=source,
                line=line,
                text="\t".join(row),
                remedy="Every line must have the columns of the first; in TSV a text may not contain a tab.",
            )
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    ids = columns.pop("id")
    if "" in ids:
        raise DataError("empty id", source=source, line=lines[ids.index("")])
    return Found(ids, columns, lambda number: (source, lines[number]), [])


def read_msmarco(text: str, source: str, kind: Kind) -> Found:
    rows, lines = _tab_separated(text)
    long_form = kind == "documents" and bool(rows) and len(rows[0]) == 4
    role = "text" if kind == "documents" else "title"
    return _columns(rows, lines, _LONG_FORM if long_form else ("id", role), source)


def csv_pieces(text: str) -> list[Piece]:
    """The header, which is no record, and the rows with their ends: one may run over several lines."""
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, strict=True)
    pieces: list[Piece] = []
    line = at = 0
    for row in reader:
        size = sum(map(len, lines[line : reader.line_num]))
        pieces += [Piece(at, at + size, is_record=bool(pieces))] if row else []
        line, at = reader.line_num, at + size
    return pieces


def tsv_pieces(text: str) -> list[Piece]:
    """The header, which is no record, and the rows with their ends."""
    return [piece._replace(is_record=number > 0) for number, piece in enumerate(line_pieces(text))]


def write_csv(texts: Texts, losses: Losses) -> Iterator[str]:
    names = held_names(texts, losses)
    yield _csv_line(["id", *names])
    for id, fields in texts.rows():
        yield _csv_line([id, *(fields.get(name, "") for name in names)])


def _csv_line(fields: Sequence[str]) -> str:
    quoted = ('"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text for text in fields)
    return ",".join(quoted) + "\n"


def write_tsv(texts: Texts, losses: Losses) -> Iterator[str]:
    names = held_names(texts, losses)
    yield _tsv_line("", ["id", *names], losses)
    for id, fields in texts.rows():
        yield _tsv_line(id, [id, *(fields.get(name, "") for name in names)], losses)


def write_msmarco(texts: Texts, losses: Losses) -> Iterator[str]:
    is_topics = isinstance(texts, Topics)
    long_form = not is_topics and any(any(texts.fields.get(name, ())) for name in ("title", "url"))
    names = _LONG_FORM[1:] if long_form else ("title",) if is_topics else ("text",)
    for id, fields in texts.rows():
        yield _tsv_line(id, [id, *(fields.get(name, "") for name in names)], losses)
        for name, text in fields.items():
            if text and name not in names:
                losses.add(f"MS MARCO's format has no field '{name}'", id)


def _tsv_line(id: str, fields: list[str], losses: Losses) -> str:
    if _NOT_IN_TSV.search(id):
        raise DataError(f"the id {id!r} cannot be written as TSV", remedy="Choose another format, such as jsonl.")
    line = "\t".join(fields)
    if line.count("\t") >= len(fields) or "\n" in line or "\r" in line:
        losses.add("tabs and ends of lines in a text become blanks", id)
        line = "\t".join(_NOT_IN_TSV.sub(" ", field) for field in fields)
    return line + "\n"


def recognise_header(head: str, kind: Kind, delimiter: str) -> bool:
    first = head.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
    try:
        names = next(csv.reader([first])) if delimiter == "," and first else first.split("\t")
    except csv.Error:
        return False
    return len(names) > 1 and find_roles(names, kind) is not None


def recognise_msmarco(head: str, kind: Kind) -> bool:
    first = head.lstrip("\r\n").split("\n", 1)[0].split("\t")
    return len(first) == 2 or (kind == "documents" and len(first) == 4 and "://" in first[1])


CSV = text_format(
    "csv",
    read_csv,
    write_csv,
    recognise=lambda head, kind: recognise_header(head, kind, ","),
    suffixes=(".csv",),
    tried=20,
    records=Records(pieces=csv_pieces),
)
TSV = text_format(
    "tsv",
    read_tsv,
    write_tsv,
    recognise=lambda head, kind: recognise_header(head, kind, "\t"),
    suffixes=(".tsv",),
    tried=30,
    records=Records(cut=after_last_line, pieces=tsv_pieces),
)
MSMARCO = text_format(
    "msmarco",
    read_msmarco,
    write_msmarco,
    recognise=recognise_msmarco,
    tried=70,
    records=Records(cut=after_last_line, pieces=line_pieces),
)
