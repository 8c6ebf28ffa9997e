"""JSON lines, an object a line with the columns of columns.py; and JSON, one object of topics with their documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from cranfield._core import CoreError, read_columns
from cranfield.errors import DataError, shorten
from cranfield.formats.format import (
    BYTE_ORDER_MARK,
    IN_GROUPS,
    Parsed,
    Request,
    Rows,
    Writer,
    collapsed_note,
    decode,
    row_error,
    table_format,
    tagged,
)
from cranfield.formats.labels import grade_of, remedies
from cranfield.formats.layout import check_grades, find_columns, require_columns
from cranfield.formats.sources import Buffer
from cranfield.tables import Run

if TYPE_CHECKING:
    import json

    from cranfield.formats.given import Json

LONGEST_RECORD = 1 << 16  # bytes; what is longer on its first line is a whole table


def _no_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DataError(f"key '{key}' appears twice in one object")
            seen.add(key)
    return entries


def _constant(name: str) -> float:
    if name == "NaN":
        raise DataError("a value is NaN")
    return float(name.replace("Infinity", "inf"))


def _float(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise DataError(f"{shorten(digits, 60)} is too large for a double")
    return value


def _int(digits: str) -> int:
    if len(digits) > 300:
        raise DataError(f"{shorten(digits, 60)} is too large for a double")
    return int(digits)


@cache
def _decoder() -> json.JSONDecoder:
    import json

    return json.JSONDecoder(
        object_pairs_hook=_no_duplicates, parse_constant=_constant, parse_float=_float, parse_int=_int
    )


def parse(text: str, source: str, line: int | None) -> Json:
    """One JSON value; `line` is its number where it is a line, and None where it is the whole text."""
    import json

    shown = text if line is not None else None
    try:
        value: Json = _decoder().decode(text)
        return value
    except json.JSONDecodeError as error:
        if line is None:
            lines = text.split("\n")
            line, shown = error.lineno, lines[error.lineno - 1]
        message = f"not JSON: {error.msg} at column {error.colno}"
        raise DataError(message, source=source, line=line, text=shown) from None
    except RecursionError:
        raise DataError("nested too deeply", source=source, line=line, text=shown) from None
    except DataError as error:
        raise DataError(str(error), source=source, line=line, text=shown) from None


def json_objects(lines: Iterable[str], source: str) -> Iterator[tuple[int, str, dict[str, Json]]]:
    """The objects of JSON lines, each with the number and the text of its line; blank lines are passed over.

    >>> list(json_objects(['{"a": 1}', "", '{"a": 2}'], "answers.jsonl"))
    [(1, '{"a": 1}', {'a': 1}), (3, '{"a": 2}', {'a': 2})]
    """
    is_first = True
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        if line.strip() in ("{", "[") or (is_first and line.lstrip()[:1] == "["):
            raise DataError(
                "one JSON value, where an object is expected on each line",
                source=source,
                line=number,
                text=line,
                remedy="jq -c . makes a line of each; jq -c '.[]' of each in a list.",
            )
        entry = parse(line, source, number)
        if not isinstance(entry, dict):
            raise DataError("expected an object on each line", source=source, line=number, text=line)
        is_first = False
        yield number, line, entry


def read_json_lines(data: Buffer, source: str, request: Request) -> Parsed:
    text = decode(bytes(data).removeprefix(BYTE_ORDER_MARK))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rows: list[list[Json]] = [[], [], []]
    numbers: list[int] = []
    keys: tuple[str, ...] | None = None
    wanted: list[str] = []
    kind: str = request.kind
    tag_key: str | None = None
    tags: list[Json] = []
    for number, line, entry in json_objects(lines, source):
        if tuple(entry) != keys:
            keys = tuple(entry)
            columns = require_columns(keys, request.kind, request.columns, f"{source}:{number}")
            wanted, kind = [keys[i] for i in (columns.topic, columns.document, columns.value)], columns.kind
            tag_key = keys[columns.tag] if columns.tag >= 0 else None
        row = [entry[name] for name in wanted]
        row[2] = grade_of(row[2], request.labels)
        fault = _fault(row, request)
        if fault:
            others = (_value_of(other, wanted[2]) for other in lines[number:])
            remedy, option = remedies([row[2], *others], request.labels) if fault.startswith("grade") else (None, None)
            raise DataError(fault, source=source, line=number, text=line, remedy=remedy, option=option)
        for column, value in zip(rows, row, strict=True):
            column.append(value)
        numbers.append(number)
        if tag_key is not None:
            tags.append(entry[tag_key])
    try:
        table, _ = read_columns(rows[0], 1, rows[1], rows[2], kind, request.threads)
    except CoreError as error:
        raise _at_its_line(error, rows, numbers, lines, source, request) from None
    if wanted:
        check_grades(table, wanted[2], request, source)
    return tagged(Parsed(table, collapsed_note(table)), tags)


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
    error: CoreError, rows: list[list[Json]], numbers: list[int], lines: list[str], source: str, request: Request
) -> Exception:
    """The core counts rows; people count lines."""
    code, fault = error.args
    if code != "duplicate":
        number = numbers[fault["row"]]
        plain = row_error(error, source, request)
        return DataError(str(plain).split(": ", 2)[-1], source=source, line=number, text=lines[number - 1])
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
        + (IN_GROUPS if request.kind == "grade" else ""),
    )


def read_json(data: Buffer, source: str, request: Request) -> Parsed:
    from cranfield.formats.memory import read_mapping

    outer = parse(decode(bytes(data).removeprefix(BYTE_ORDER_MARK)), source, None)
    if not isinstance(outer, dict):
        raise DataError("expected one object of topics, each an object of documents", source=source)
    try:
        return read_mapping(outer, source, request)
    except TypeError as error:
        message, _, remedy = str(error).removeprefix(f"{source}: ").partition("\n    ")
        raise DataError(message, source=source, remedy=remedy or None) from None


def _starts(head: bytes, value: bytes) -> bool:
    """Whether a text starts with an object whose first value starts so; any other text is dismissed at once."""
    return head.lstrip()[:1] == b"{" and bool(re.match(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*' + value, head))


def _has_lists(head: bytes, request: Request) -> bool:
    """Whether a text starts as topics with lists of documents do, and not as a record whose first field is a list."""
    if not _starts(head, rb"\["):
        return False
    import json

    line, _, more = head.strip().partition(b"\n")
    try:
        record = json.loads(line) if len(line) < LONGEST_RECORD else None
    except ValueError:  # it goes on in the next line
        record = None
    if record is None or all(isinstance(value, list) for value in record.values()):
        return True
    # Topics of which some have no list are told so, which a record that names no column would not be.
    return not more and len(find_columns(tuple(record), request.kind, request.columns).missing()) == 3


def write_json_lines(table: Rows, tag: str) -> Iterator[str]:
    encode = _encoder()
    end = f', "tag": {encode(tag)}}}\n'
    for topic, documents in table.to_dict().items():
        start = f'{{"topic": {encode(topic)}, "document": '
        rows = zip(count(1), map(encode, documents), map(encode, documents.values()), strict=False)
        if isinstance(table, Run):
            yield "".join([f'{start}{id}, "rank": {rank}, "score": {value}{end}' for rank, id, value in rows])
        else:
            yield "".join([f'{start}{id}, "grade": {value.removesuffix(".0")}}}\n' for _, id, value in rows])


def write_json(table: Rows, tag: str) -> Iterator[str]:
    encode = _encoder()
    opening = "{"
    for topic, documents in table.to_dict().items():
        yield f"{opening}{encode(topic)}: {encode(documents)}"
        opening = ",\n"
    yield "}\n"


def _encoder() -> Callable[[Json | Mapping[str, float]], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False).encode


# An object whose first value is an object is a topic with its documents; otherwise it is a row.
JSON_LINES = table_format(
    "jsonl",
    read_json_lines,
    suffixes=(".jsonl", ".ndjson"),
    recognise=lambda head, request: _starts(head, rb"[^{\s]") and not _has_lists(head, request),
    tried=30,
    writer=Writer(write_json_lines, (".jsonl", ".ndjson")),
)
JSON = table_format(
    "json",
    read_json,
    suffixes=(".json",),
    recognise=lambda head, request: _starts(head, rb"\{") or _has_lists(head, request),
    tried=40,
    writer=Writer(write_json, (".json",), has_tag=False),
)
