"""JSON: values of it with faults told by line, and the format that is one object of topics with their documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from cranfield.errors import DataError, shorten
from cranfield.formats.format import (
    BYTE_ORDER_MARK,
    Parsed,
    Request,
    Rows,
    Writer,
    decode,
    table_format,
)
from cranfield.formats.layout import find_columns
from cranfield.formats.sources import Buffer

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
    part = "Each line" if line is not None else "The whole"
    remedy = (
        f"{part} is to be one JSON value: if it ends too early, the file is incomplete, and is to be written again."
    )
    try:
        value: Json = _decoder().decode(text)
        return value
    except json.JSONDecodeError as error:
        if line is None:
            lines = text.split("\n")
            line, shown = error.lineno, lines[error.lineno - 1]
        message = f"not JSON: {error.msg} at column {error.colno}"
        raise DataError(message, source=source, line=line, text=shown, remedy=remedy) from None
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


def read_json(data: Buffer, source: str, request: Request) -> Parsed:
    from cranfield.formats.memory import read_mapping

    outer = parse(decode(bytes(data).removeprefix(BYTE_ORDER_MARK)), source, None)
    if not isinstance(outer, dict):
        remedy = "Records are read as JSON lines, an object a line: jq -c '.[]' makes lines of a list."
        raise DataError("expected one object of topics, each an object of documents", source=source, remedy=remedy)
    try:
        return read_mapping(outer, source, request)
    except TypeError as error:
        message, _, remedy = str(error).removeprefix(f"{source}: ").partition("\n    ")
        raise DataError(message, source=source, remedy=remedy or None) from None


def starts(head: bytes, value: bytes) -> bool:
    """Whether a text starts with an object whose first value starts so; any other text is dismissed at once."""
    return head.lstrip()[:1] == b"{" and bool(re.match(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*' + value, head))


def has_topics(head: bytes, request: Request) -> bool:
    """Whether a text starts as topics with their documents do, and not as a record whose first field is an object."""
    if not starts(head, rb"[\[{]"):
        return False
    import json

    line, *more = re.split(rb"[\r\n]", head.strip(), maxsplit=1)
    try:
        record = json.loads(line) if len(line) < LONGEST_RECORD else None
    except (ValueError, RecursionError):  # it goes on in the next line, or is told where it is read
        record = None
    if record is None or all(isinstance(value, list | dict) for value in record.values()):
        return True
    # Topics of which some have no documents are told so, which a record that names no column would not be.
    return not more and len(find_columns(tuple(record), request.kind, request.columns).missing()) == 3


def write_json(table: Rows, tag: str) -> Iterator[str]:
    encode = encoder()
    opening = "{"
    for topic, documents in table.to_dict().items():
        yield f"{opening}{encode(topic)}: {encode(documents)}"
        opening = ",\n"
    yield "}\n"


def encoder() -> Callable[[Json | Mapping[str, float]], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False).encode


JSON = table_format(
    "json",
    read_json,
    suffixes=(".json",),
    recognise=has_topics,
    tried=40,
    writer=Writer(write_json, (".json",), has_tag=False),
)
