"""JSON lines: an object a line, with the columns of layout.py as keys.

The core reads them as they almost always are. Whatever it does not understand, and every fault, is read once more in
Python, which tells what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from cranfield._core import CoreError, TextLayout, read_columns
from cranfield.errors import DataError, shorten
from cranfield.formats.format import (
    BYTE_ORDER_MARK,
    Parsed,
    Request,
    Rows,
    Writer,
    collapsed_note,
    decode,
    several_tags_note,
    table_format,
    tagged,
)
from cranfield.formats.json_text import encoder, has_topics, json_objects, parse, starts
from cranfield.formats.labels import grade_of, remedies
from cranfield.formats.layout import Columns, check_grades, require_columns
from cranfield.formats.sources import Buffer, Flow
from cranfield.formats.stand_ins import with_numbers, with_ranks_told
from cranfield.formats.trec_text import TextRows, flow_rows, read_rows
from cranfield.tables import Run

if TYPE_CHECKING:
    from cranfield.formats.given import Json

_FIRST_LINE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*(\{[^\r\n]*)")


def read_json_lines(data: Buffer, source: str, request: Request) -> Parsed:
    return _read_in_core(data, source, request) or _read_in_python(data, source, request)


def _read_in_core(data: Buffer, source: str, request: Request) -> Parsed | None:
    """What the core makes of JSON lines; nothing where it does not understand all of them."""
    found = _layout(data, request)
    if found is None:
        return None
    layout, keys, columns, numbers = found
    try:
        read = read_rows(data, request, layout)
    except CoreError:
        return None
    check_grades(read[0], keys[columns.value], request, source)
    return with_ranks_told(_parsed(read), keys, columns, numbers)


def flow_json_lines(flow: Flow, request: Request) -> Parsed | None:
    """A run that is judged while it is unpacked."""
    found = _layout(flow.head, request)
    if found is None:
        return None
    layout, keys, columns, numbers = found
    read = flow_rows(flow, request, layout)
    return None if read is None else with_ranks_told(_parsed(read), keys, columns, numbers)


def _parsed(read: TextRows) -> Parsed:
    table, _, tag, several_tags = read
    return Parsed(table, collapsed_note(table) + (several_tags_note() if several_tags else ()), tag)


def _layout(head: Buffer, request: Request) -> tuple[TextLayout, tuple[str, ...], Columns, list[str]] | None:
    """How the core is to read lines that begin so, the keys of the first, which of them is which, and those that have
    numbers; nothing where the first line is odd.
    """
    first = _FIRST_LINE.match(head)
    if first is None:
        return None
    try:
        entry = parse(decode(first[1]), "", 1)
        row = entry if isinstance(entry, dict) else {}
        keys = tuple(row)
        columns = require_columns(keys, request.kind, request.columns, "")
    except DataError:
        return None
    name, kind = keys[columns.value], columns.kind

    def names(others: list[str]) -> tuple[int, int, int, int] | None:
        """Which key is which, on a line with these; nothing where the number is not what it is on the first line."""
        try:
            at = require_columns(others, request.kind, request.columns, "")
        except DataError:
            return None
        return (at.topic, at.document, at.value, at.tag) if (others[at.value], at.kind) == (name, kind) else None

    return TextLayout.of_json_lines(names, kind), keys, columns, with_numbers(row.items())


def _read_in_python(data: Buffer, source: str, request: Request) -> Parsed:
    text = decode(bytes(data).removeprefix(BYTE_ORDER_MARK))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows: list[list[Json]] = [[], [], []]
    numbers: list[int] = []
    keys: tuple[str, ...] | None = None
    wanted: list[str] = []
    kind: str = request.kind
    tag_key: str | None = None
    tags: list[Json] = []
    first: tuple[tuple[str, ...], Columns, list[str]] | None = None
    for number, line, entry in json_objects(lines, source):
        if tuple(entry) != keys:
            keys = tuple(entry)
            columns = require_columns(keys, request.kind, request.columns, f"{source}:{number}")
            first = first or (keys, columns, with_numbers(entry.items()))
            if columns.kind != first[1].kind:  # 1 is the best rank, and among scores the worst
                message = f"a {columns.kind}, where the lines above have {first[1].kind}s"
                other = "Every line must have the score under the same key: a rank and a score cannot be compared."
                raise DataError(message, source=source, line=number, text=line, remedy=other)
            wanted, kind = [keys[i] for i in (columns.topic, columns.document, columns.value)], columns.kind
            tag_key = keys[columns.tag] if columns.tag >= 0 else None
        row = [entry[name] for name in wanted]
        row[2] = grade_of(row[2], request.labels)
        fault = _fault(row, request)
        if fault:
            others = (_value_of(other, wanted[2]) for other in lines[number:])
            remedy, option = remedies([row[2], *others], request.labels) if fault.startswith("grade") else (None, None)
            if remedy is None and fault.startswith(request.kind):
                from cranfield.formats.refusals import no_number

                remedy = no_number(row[2], request.kind)
            raise DataError(fault, source=source, line=number, text=line, remedy=remedy, option=option)
        for column, value in zip(rows, row, strict=True):
            column.append(value)
        numbers.append(number)
        if tag_key is not None:
            tags.append(entry[tag_key])
    try:
        table, _ = read_columns(rows[0], 1, rows[1], rows[2], kind, request.threads)
    except CoreError as error:
        several = len({str(tag) for tag in tags if tag is not None}) > 1
        raise _at_its_line(error, rows, numbers, lines, source, request, several=several) from None
    if wanted:
        check_grades(table, wanted[2], request, source)
    parsed = tagged(Parsed(table, collapsed_note(table)), tags)
    return parsed if first is None else with_ranks_told(parsed, *first)


def _value_of(line: str, key: str) -> Json:
    """What a line that may be no object has under a key."""
    try:
        entry = parse(line, "", None)
    except DataError:
        return None
    return entry.get(key) if isinstance(entry, dict) else None


def _fault(row: list[Json], request: Request) -> str | None:
    topic, document, value = row
    for role, id in (("topic", topic), ("document", document)):
        if not isinstance(id, str | int) or isinstance(id, bool):
            return f"{role} id {id!r} is neither a string nor an integer"
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f"{request.kind} {value!r} is not a number"
    return None


def _at_its_line(
    error: CoreError,
    rows: list[list[Json]],
    numbers: list[int],
    lines: list[str],
    source: str,
    request: Request,
    *,
    several: bool,
) -> Exception:
    """The core counts rows; people count lines. `several` says that there is more than one tag."""
    from cranfield.formats.refusals import IN_GROUPS, SEVERAL_RUNS, row_problem, row_remedy

    code, fault = error.args
    if code != "duplicate":
        number = numbers[fault["row"]]
        problem = row_problem(code, request.kind, decode(fault["field"]))
        remedy, option = row_remedy(code, request)
        return DataError(problem, source=source, line=number, text=lines[number - 1], remedy=remedy, option=option)
    same = [
        i
        for i, pair in enumerate(zip(rows[0], rows[1], strict=True))
        if (str(pair[0]), str(pair[1])) == (fault["topic"], fault["doc"])
    ]
    first = same[0]
    second = next(i for i in same if rows[2][i] != rows[2][first])
    return DataError(
        f"document '{shorten(fault['doc'])}' is given a second {request.kind} for the same topic",
        source=source,
        line=numbers[second],
        text=lines[numbers[second] - 1],
        remedy=f"Line {numbers[first]} has another: {shorten(lines[numbers[first] - 1])}"
        + (IN_GROUPS if request.kind == "grade" else f"\n    {SEVERAL_RUNS}" if several else ""),
    )


def write_json_lines(table: Rows, tag: str) -> Iterator[str]:
    encode = encoder()
    end = f', "tag": {encode(tag)}}}\n'
    for topic, documents in table.to_dict().items():
        start = f'{{"topic": {encode(topic)}, "document": '
        rows = zip(count(1), map(encode, documents), map(encode, documents.values()), strict=False)
        if isinstance(table, Run):
            yield "".join([f'{start}{id}, "rank": {rank}, "score": {value}{end}' for rank, id, value in rows])
        else:
            yield "".join([f'{start}{id}, "grade": {value.removesuffix(".0")}}}\n' for _, id, value in rows])


# An object whose first value is an object is a topic with its documents; otherwise it is a row.
JSON_LINES = table_format(
    "jsonl",
    read_json_lines,
    suffixes=(".jsonl", ".ndjson"),
    recognise=lambda head, request: starts(head, rb"\S") and not has_topics(head, request),
    tried=30,
    writer=Writer(write_json_lines, (".jsonl", ".ndjson")),
    flow=flow_json_lines,
)
