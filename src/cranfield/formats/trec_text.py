"""TREC text. Runs: topic, Q0, document, rank, score, tag. Judgements: topic, iteration, document, grade.

Fields stand between blanks or tabs. In runs more columns may follow the tag. `msmarco` runs have three columns and no
header: topic, document, rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from typing import TypeAlias

from cranfield._core import CoreError, Table, TextLayout, TextStream, read_text
from cranfield.formats.format import (
    RANKS_NOTE,
    Parsed,
    Request,
    Rows,
    Writer,
    collapsed_note,
    comments_note,
    decode,
    several_tags_note,
    table_format,
)
from cranfield.formats.heads import END, metadata_lines
from cranfield.formats.labels import is_label, labels_of
from cranfield.formats.rows import BLANKS, number
from cranfield.formats.sources import Buffer, Flow
from cranfield.tables import Run

RUN = TextLayout(topic=0, document=2, rank=3, value=4, tag=5, min_fields=6, kind="score")
QRELS = TextLayout(topic=0, document=2, value=3, min_fields=4, max_fields=4, kind="grade")
SEARCHED = 1 << 26  # bytes of judgements that are searched for the labels of grades, once one is a fault
ABOVE = 1 << 16  # bytes in which the first row stands, whatever comments are above it
RANKS = TextLayout(topic=0, document=1, value=2, min_fields=3, max_fields=3, kind="rank")


def read_trec(data: Buffer, source: str, request: Request) -> Parsed:
    return read_fields(data, source, request, RUN if request.kind == "score" else QRELS)


def read_msmarco(data: Buffer, source: str, request: Request) -> Parsed:
    return read_fields(data, source, request, RANKS, "msmarco")


def flow_trec(flow: Flow, request: Request) -> Parsed | None:
    return flow_fields(flow, request, RUN)


def flow_msmarco(flow: Flow, request: Request) -> Parsed | None:
    return flow_fields(flow, request, RANKS)


TextRows: TypeAlias = tuple[Table, int, str, bool]  # a table, how many comments, the tag, and whether there are several


def read_rows(data: Buffer, request: Request, layout: TextLayout) -> TextRows:
    """What the core makes of a text: judged as it is read where that is all that is wanted."""
    judging = request.judging
    return read_text(
        data,
        layout,
        judging.qrels if judging else None,
        judging is not None and judging.ties == "file",
        request.threads,
        request.progress,
        dict(request.labels),
    )


def flow_rows(flow: Flow, request: Request, layout: TextLayout) -> TextRows | None:
    """The same of a text that is judged while it is unpacked; nothing where only the whole text will do: there
    is a fault in it, or a topic stands in several places."""
    judging = request.judging
    assert judging is not None
    stream = TextStream(layout, judging.qrels, judging.ties == "file", request.threads)
    return stream.finish() if all(map(stream.feed, flow.pieces)) else None


def read_fields(data: Buffer, source: str, request: Request, layout: TextLayout, name: str | None = None) -> Parsed:
    """Delimited text of whatever layout; the format's name is for errors."""
    try:
        return parsed_text(read_rows(data, request, layout), data, layout)
    except CoreError as error:
        from cranfield.formats.refusals import text_error

        name = name or ("trec" if layout.delimiter == " " else "csv" if layout.quotes else "tsv")
        first = _is_first(data, error.args[1]["line"])
        raise text_error(error, source, request, name, _labels(data, layout, error), first=first) from None


def flow_fields(flow: Flow, request: Request, layout: TextLayout) -> Parsed | None:
    """Delimited text that is judged while it is unpacked."""
    read = flow_rows(flow, request, layout)
    return None if read is None else parsed_text(read, flow.head, layout)


def parsed_text(read: TextRows, head: Buffer, layout: TextLayout) -> Parsed:
    """What was read, with what is to be said of it; `head` is the text, or how it begins."""
    table, comments, tag, several_tags = read
    notes = collapsed_note(table)
    if comments:
        metadata = metadata_lines(head)
        comments -= len(metadata) if END in metadata[-1:] else 0  # no surprise
    notes += comments_note(comments)
    if several_tags:
        notes += several_tags_note()
    if layout.kind == "rank":
        notes += (RANKS_NOTE,)
    return Parsed(table, notes, tag)


def _is_first(data: Buffer, line: int) -> bool:
    """Whether nothing but blank lines and comments stands above a line."""
    above = bytes(data[:ABOVE]).splitlines()[: line - 1]
    return len(above) == line - 1 and not any(words and not words.startswith(b"#") for words in map(bytes.strip, above))


def _labels(data: Buffer, layout: TextLayout, error: CoreError) -> list[str]:
    """The words among the grades of a text in which one was no number, unless it is that of a header line."""
    code, fault = error.args
    if code != "not-a-number" or layout.kind != "grade" or not is_label(decode(fault["field"])):
        return []
    lines = islice(bytes(data[:SEARCHED]).splitlines(), fault["line"], None)
    between = None if layout.delimiter == " " else layout.delimiter
    rows = (decode(line).split(between) for line in lines)
    others = labels_of(row[layout.value].strip().strip('"') for row in rows if len(row) > layout.value)
    return labels_of([decode(fault["field"]), *others]) if others or fault["line"] > 1 else []


def write_trec(table: Rows, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        rows = zip(count(1), documents, map(number, documents.values()), strict=False)
        if isinstance(table, Run):
            yield "".join([f"{topic} Q0 {document} {rank} {value} {tag}\n" for rank, document, value in rows])
        else:
            yield "".join([f"{topic} 0 {document} {value}\n" for _, document, value in rows])


def write_msmarco(table: Rows, tag: str) -> Iterator[str]:
    for topic, documents in table.to_dict().items():
        if isinstance(table, Run):
            yield "".join([f"{topic}\t{document}\t{rank}\n" for rank, document in enumerate(documents, start=1)])
        else:
            yield "".join([f"{topic}\t0\t{document}\t{number(value)}\n" for document, value in documents.items()])


TREC = table_format(
    "trec",
    read_trec,
    tried=60,
    writer=Writer(
        write_trec,
        (".run", ".qrels", ".trec", ".txt", ".res", ".qrel"),
        unfit=BLANKS,
        has_comments=True,
        drops_mark=True,
    ),
    flow=flow_trec,
)
MSMARCO = table_format(
    "msmarco",
    read_msmarco,
    tried=50,
    only="score",
    writer=Writer(write_msmarco, unfit=BLANKS, has_tag=False, has_scores=False, has_comments=True, drops_mark=True),
    flow=flow_msmarco,
)
