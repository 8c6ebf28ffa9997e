"""Two rankings in one table: a document a row, and its rank in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, DuplicateError, shorten
from cranfield.formats.format import decode, rows_of_text
from cranfield.formats.sources import nothing_in_it, open_source
from cranfield.numerals import decimal

if TYPE_CHECKING:
    from cranfield.formats.given import File

REMEDY = "A row is a document and its two ranks, with commas, tabs or blanks between; a header may name the rankings."
NAMES = ("R1", "R2")


class TwoRankings(NamedTuple):
    """{document: rank} twice, and what the rankings are called."""

    names: tuple[str, str]
    first: dict[str, float]
    second: dict[str, float]


def read_ranks(source: File) -> TwoRankings:
    """Two rankings of the same documents from a file of three columns; the first row may name them.

    >>> import io
    >>> read_ranks(io.StringIO("documents,R1,R2\\nd123,1,2\\nd84,2,1\\n"))
    TwoRankings(names=('R1', 'R2'), first={'d123': 1.0, 'd84': 2.0}, second={'d123': 2.0, 'd84': 1.0})
    """
    opened = open_source(source)
    lines = rows_of_text(bytes(opened.data), lambda line: len(_fields(decode(line))) == 3, [])
    rows = [(number, decode(line), _fields(decode(line))) for number, line in lines]
    if not rows:
        raise nothing_in_it(opened.label)
    names = NAMES
    head = rows[0][2]
    if len(head) == 3 and decimal(head[1]) is None and decimal(head[2]) is None:
        names, rows = (head[1], head[2]), rows[1:]
    ranks: tuple[dict[str, float], dict[str, float]] = {}, {}
    for number, line, fields in rows:
        if len(fields) != 3:
            raise DataError(f"{len(fields)} columns, not 3", source=opened.label, line=number, text=line, remedy=REMEDY)
        document, *given = fields
        if document in ranks[0]:
            raise DuplicateError(
                f"document '{shorten(document, 40)}' is there twice",
                source=opened.label,
                line=number,
                text=line,
                remedy="A document has one row: leave out all but one.",
            )
        for of, text in zip(ranks, given, strict=True):
            rank = decimal(text)
            if rank is None:
                what = f"rank '{shorten(text, 40)}' is not a number"
                raise DataError(what, source=opened.label, line=number, text=line, remedy=REMEDY)
            of[document] = rank
    return TwoRankings(names, *ranks)


def _fields(line: str) -> list[str]:
    separator = next((mark for mark in ("\t", ",") if mark in line), None)
    return [field.strip() for field in line.split(separator) if separator or field]
