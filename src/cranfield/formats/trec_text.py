"""TREC text. Runs: topic, Q0, document, rank, score, tag. Judgements: topic, iteration, document, grade.

Fields stand between blanks or tabs. In runs more columns may follow the tag. `msmarco` runs have three columns and no
header: topic, document, rank.
"""

from __future__ import annotations

from typing import Any

from cranfield._core import CoreError, read_text
from cranfield.formats.format import (
    Format,
    Reading,
    Request,
    collapsed_note,
    comments_note,
    several_tags_note,
    text_error,
)
from cranfield.formats.heads import END, metadata_lines


def read_trec(data: Any, source: str, request: Request) -> Reading:
    if request.kind == "score":
        return read_fields(data, source, request, fields=[0, 2, 4, 3, 5], least=6, most=0)
    return read_fields(data, source, request, fields=[0, 2, 3, -1, -1], least=4, most=4)


def read_msmarco(data: Any, source: str, request: Request) -> Reading:
    return read_fields(data, source, request, fields=[0, 1, 2, -1, -1], least=3, most=3, kind="rank")


def read_fields(
    data: Any,
    source: str,
    request: Request,
    *,
    fields: list[int],
    least: int,
    most: int,
    kind: str | None = None,
    delimiter: str = " ",
    quotes: bool = False,
    header_lines: int = 0,
) -> Reading:
    """Any delimited text; `fields` are the numbers of topic, document, value, rank and tag."""
    judging = request.judging
    layout = "trec" if delimiter == " " else "csv" if quotes else "tsv"
    try:
        table, comments, tag, several_tags = read_text(
            data,
            delimiter,
            quotes,
            fields,
            least,
            most,
            header_lines,
            kind or request.kind,
            judging is None,  # what is judged at once may stay in the mapped file meanwhile
            judging.qrels if judging else None,
            judging is not None and judging.ties == "file",
            request.threads,
            request.progress,
        )
    except CoreError as error:
        raise text_error(error, source, request, layout) from None
    notes = collapsed_note(table)
    if comments:
        told = metadata_lines(data)
        comments -= len(told) if END in told[-1:] else 0  # no surprise
    notes += comments_note(comments)
    if several_tags:
        notes += several_tags_note()
    if kind == "rank":
        notes += (("scores-from-ranks", "the run has ranks and no scores: documents are ordered by rank"),)
    return Reading(table, notes, tag)


TREC = Format("trec", (), lambda head, request: False, read_trec)
MSMARCO = Format("msmarco", (), lambda head, request: False, read_msmarco)
