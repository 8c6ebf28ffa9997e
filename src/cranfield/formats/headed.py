"""Small tables under a header: CSV with commas or semicolons between its fields, and TSV."""

from __future__ import annotations

import csv
import io
import re
import sys
from typing import NamedTuple

from cranfield.errors import DataError, plural

_QUOTED = re.compile('"[^"]*"')
DELIMITERS = "\t,;"  # spreadsheets write semicolons where a comma is the decimal point


class HeadedRow(NamedTuple):
    """A row: the number of the line on which it starts, that line, and what each column has."""

    number: int
    text: str
    fields: dict[str, str]


class HeadedTable(NamedTuple):
    """The names of the columns, the line where they stand, and the rows below."""

    names: list[str]
    header: str
    rows: list[HeadedRow]


def headed_table(text: str, source: str) -> HeadedTable:
    """A table of some lines, each with a field for every name of its header; without names where there is no line.

    >>> table = headed_table('topic;kind\\n1;"short; easy"\\n', "topics.csv")
    >>> table.names, table.rows
    (['topic', 'kind'], [HeadedRow(number=2, text='1;"short; easy"', fields={'topic': '1', 'kind': 'short; easy'})])
    """
    lines = _lines(text)
    first = next((line for line in lines if line.strip()), "")
    bare = _QUOTED.sub("", first)
    delimiter = next((mark for mark in DELIMITERS if mark in bare), ",")
    names, header = list[str](), ""
    rows = []
    for number, fields in csv_rows(text, source, delimiter):
        line = lines[number - 1].rstrip("\r\n")
        if not any(field.strip() for field in fields):
            continue
        if not names:
            names, header = [name.strip() for name in fields], line
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise DataError(f"two columns are called '{twice[0]}'", source=source, line=number, text=line)
        elif len(fields) != len(names):
            raise DataError(
                f"{plural(len(fields), 'field')} where the header has {len(names)}",
                source=source,
                line=number,
                text=line,
                remedy=f"Every line has the header's columns; a field with {_mark(delimiter)} in it stands in quotes.",
            )
        else:
            rows.append(HeadedRow(number, line, dict(zip(names, fields, strict=True))))
    return HeadedTable(names, header, rows)


def _mark(delimiter: str) -> str:
    return {"\t": "a tab", ",": "a comma", ";": "a semicolon"}[delimiter]


def _lines(text: str) -> list[str]:
    """The lines as csv counts them, with their ends."""
    return io.StringIO(text, newline="").readlines()


def csv_rows(text: str, source: str, delimiter: str = ",") -> list[tuple[int, list[str]]]:
    """The rows of CSV, each with the number of the line on which it starts: a field in quotes may run over several.

    >>> csv_rows('a,"b\\nc"\\nd,e', "table.csv")
    [(1, ['a', 'b\\nc']), (3, ['d', 'e'])]
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    limit = csv.field_size_limit(sys.maxsize)
    rows = []
    number = 1
    try:
        for fields in reader:
            rows.append((number, fields))
            number = reader.line_num + 1
        return rows
    except csv.Error as error:
        raise DataError(
            f"not CSV: {error}",
            source=source,
            line=number,
            text=_lines(text)[number - 1].rstrip("\r\n"),
            remedy='Inside quotes, write " as "".',
        ) from None
    finally:
        csv.field_size_limit(limit)
