"""NTCIR's judgements: topic, document and a level such as L2, or a letter.

The first two workshops have four columns: topic, letter, document, and 0 or 1, which is the letter cut in two. Read as
TREC text such a file has the grades 0 and 1; here it has those of the letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cranfield._core import TextLayout
from cranfield.formats.format import (
    BYTE_ORDER_MARK,
    Parsed,
    Request,
    Rows,
    Writer,
    decode,
    is_comment,
    is_number,
    table_format,
)
from cranfield.formats.labels import LEVELS, is_label
from cranfield.formats.rows import BLANKS
from cranfield.formats.sources import Buffer
from cranfield.formats.trec_text import read_fields

LEVEL = TextLayout(topic=0, document=1, value=2, min_fields=3, max_fields=3, kind="grade")
LETTER = TextLayout(topic=0, value=1, document=2, min_fields=4, max_fields=4, kind="grade")
LOOKED_AT = 10  # lines, to recognise the format


def read_ntcir(data: Buffer, source: str, request: Request) -> Parsed:
    first = next(_rows(bytes(data[: 1 << 16])), [])
    if len(first) != 4:
        return read_fields(data, source, request, LEVEL, "ntcir")
    parsed = read_fields(data, source, request, LETTER, "ntcir")
    note = ("letters-as-grades", "grades are those of the letters in the second column, not the 0 or 1 in the last")
    return parsed._replace(notes=(*parsed.notes, note))


def recognise(head: bytes, request: Request) -> bool:
    """Whether the first lines have a label that is known where NTCIR has it. Of a table that was given one is enough,
    if the others may be labels: what the table lacks is then told.

    A second column of zeros is that of TREC: a pool that nobody has judged may have documents called L1 and L2.
    """
    rows = list(islice(_rows(head), LOOKED_AT))
    if not rows or len({len(row) for row in rows}) > 1:
        return False
    told = request.labels is not LEVELS  # a table says that the letters are the grades
    if len(rows[0]) == 3:
        return _known([row[2] for row in rows], request, told) and any(row[1] != "0" for row in rows)
    if not told or len(rows[0]) != 4 or not all(is_number(row[3]) for row in rows):
        return False
    return _known([row[1] for row in rows], request, told)


def _known(fields: list[str], request: Request, told: bool) -> bool:
    """Whether all are labels with a number, or, where a table was given, some and the others may be."""
    if all(field in request.labels for field in fields):
        return True
    written = {label.casefold() for label in request.labels}  # s for S is told as lacking, not read as something else
    return told and any(field.casefold() in written for field in fields) and all(map(is_label, fields))


def _rows(head: bytes) -> Iterator[list[str]]:
    """The fields of the lines that are neither blank nor comments."""
    for line in head.removeprefix(BYTE_ORDER_MARK).splitlines():
        fields = decode(line).split()
        if fields and not is_comment(line, fits=len(fields) in (3, 4)):
            yield fields


def write_ntcir(table: Rows, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        yield "".join([f"{topic} {document} L{grade:.0f}\n" for document, grade in documents.items()])


NTCIR = table_format(
    "ntcir",
    read_ntcir,
    recognise=recognise,
    tried=45,
    only="grade",
    writer=Writer(write_ntcir, unfit=BLANKS, has_tag=False, has_comments=True, drops_mark=True, levels=True),
)
