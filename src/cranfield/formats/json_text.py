"""JSON lines, an object a line with the columns of columns.py; and JSON, one object of topics with their documents."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError
from cranfield.formats.base import Format, Reading, Request, decode
from cranfield.formats.columns import require_columns
from cranfield.formats.memory import read_lists, read_mapping

if TYPE_CHECKING:
    import json


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DataError(f"key '{key}' appears twice in one object")
            seen.add(key)
    return entries


def _refuse_constant(name: str) -> float:
    if name == "NaN":
        raise DataError("a value is NaN")
    return float(name.replace("Infinity", "inf"))


@cache
def _decoder() -> json.JSONDecoder:
    import json

    return json.JSONDecoder(object_pairs_hook=_no_duplicates, parse_constant=_refuse_constant)


def _parse(text: str, source: str, line: int | None) -> Any:
    import json

    try:
        return _decoder().decode(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"not JSON: {error.msg} at column {error.colno}",
            source=source,
            line=line if line is not None else error.lineno,
            text=text if line is not None else text.splitlines()[error.lineno - 1] if text else "",
        ) from None
    except DataError as error:
        raise DataError(str(error), source=source, line=line, text=text if line is not None else None) from None


def read_json_lines(data: Any, source: str, request: Request) -> Reading:
    rows: list[list[Any]] = [[], [], []]
    keys: tuple[str, ...] | None = None
    wanted: list[str] = []
    kind: str = request.kind
    for number, line in enumerate(decode(bytes(data)).replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        entry = _parse(line, source, number)
        if not isinstance(entry, dict):
            raise DataError("expected an object on each line", source=source, line=number, text=line)
        if tuple(entry) != keys:
            keys = tuple(entry)
            columns = require_columns(keys, request.kind, request.columns, f"{source}:{number}")
            wanted, kind = [keys[i] for i in (columns.topic, columns.document, columns.value)], columns.kind
        for column, name in zip(rows, wanted, strict=True):
            column.append(entry[name])
        _check_row([column[-1] for column in rows], source, number, line, request)
    return read_lists(rows[0], rows[1], rows[2], source, request, kind=kind)


def _check_row(row: list[Any], source: str, number: int, line: str, request: Request) -> None:
    topic, document, value = row
    if not isinstance(topic, str | int) or not isinstance(document, str | int) or isinstance(topic, bool):
        raise DataError("ids must be strings or integers", source=source, line=number, text=line)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise DataError(f"{request.kind} {value!r} is not a number", source=source, line=number, text=line)


def read_json(data: Any, source: str, request: Request) -> Reading:
    outer = _parse(decode(bytes(data)), source, None)
    if not isinstance(outer, dict):
        raise DataError("expected one object of topics, each an object of documents", source=source)
    try:
        return read_mapping(outer, source, request)
    except TypeError as error:
        raise DataError(str(error), source=source) from None


def _is_json_line(head: bytes, request: Request) -> bool:
    first = head.lstrip().splitlines()[0] if head.strip() else b""
    if not first.startswith(b"{"):
        return False
    import json

    try:
        entry = json.loads(first)
    except ValueError:
        return False
    return isinstance(entry, dict) and not any(isinstance(value, dict) for value in entry.values())


JSON_LINES = Format("jsonl", (".jsonl", ".ndjson"), _is_json_line, read_json_lines)


def _is_json(head: bytes, request: Request) -> bool:
    start = head.lstrip()
    return start[:1] == b"{" and start[1:].lstrip()[:1] == b'"'


JSON = Format("json", (".json",), _is_json, read_json)
