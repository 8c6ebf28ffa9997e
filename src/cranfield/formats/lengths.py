"""Lengths of documents, in words or characters: a line a document with its id and its length, JSON, or a dict."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.given import is_file
from cranfield.formats.json_text import parse
from cranfield.formats.layout import ACCEPTED
from cranfield.formats.sources import open_source
from cranfield.numerals import decimal
from cranfield.tables import describe_type

if TYPE_CHECKING:
    from cranfield.formats.given import File, Json, Value

# A document, its length, and the line where they stand, if they stand in one.
Entry: TypeAlias = "tuple[str | int, Value, int | None]"


class Lengths(NamedTuple):
    """{document: length}, and where it was read."""

    of: dict[str, float]
    path: str | None = None
    digest: str | None = None


def read_lengths(source: File | Mapping[str, Value], digest: str | None = None) -> Lengths:
    """Lengths from a file or a mapping.

    A file is a JSON object, or has a document and its length a line, between a tab or blanks; a header may name the
    columns. It may be compressed.

    >>> import io
    >>> read_lengths(io.StringIO("d1\\t120\\nd2\\t80\\n")).of
    {'d1': 120.0, 'd2': 80.0}
    """
    if isinstance(source, Mapping):
        return Lengths(_checked(((document, length, None) for document, length in source.items()), "lengths", []))
    if not is_file(source):
        raise ArgumentError(f"lengths: expected a file or {{document: length}}, not {describe_type(source)}")
    opened = open_source(source, digest)
    text = decode(bytes(opened.data).removeprefix(BYTE_ORDER_MARK))
    if text.lstrip().startswith("{"):
        entries = cast("dict[str, Json]", parse(text, opened.label, None))
        lengths = _checked(((document, length, None) for document, length in entries.items()), opened.label, [])
    else:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lengths = _checked(_entries(lines, opened.label), opened.label, lines)
    return Lengths(lengths, opened.path, opened.digest())


def _entries(lines: list[str], source: str) -> Iterable[Entry]:
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or (number == 1 and _is_header(fields)):
            continue
        if len(fields) != 2:
            raise DataError(
                f"{len(fields)} fields where a document and its length are expected",
                source=source,
                line=number,
                text=line,
            )
        yield fields[0], fields[1], number


def _is_header(fields: list[str]) -> bool:
    names = [field.strip().lower() for field in fields]
    return len(names) == 2 and names[0] in ACCEPTED["document"] and names[1] == "length"


def _checked(entries: Iterable[Entry], source: str, lines: list[str]) -> dict[str, float]:
    lengths: dict[str, float] = {}
    for name, value, number in entries:
        document, length = str(name), _number(value)
        text = lines[number - 1] if number else None
        if length is None:
            shown = shorten(value, 60) if isinstance(value, str) else describe_type(value)
            raise DataError(
                f"the length of document '{shorten(document, 60)}' is {shown}: it must be a number from 0",
                source=source,
                line=number,
                text=text,
            )
        if lengths.setdefault(document, length) != length:
            raise DuplicateError(
                f"document '{shorten(document, 60)}' is given a second length", source=source, line=number, text=text
            )
    if not lengths:
        raise DataError("has no lengths", source=source)
    return lengths


def _number(value: Value) -> float | None:
    """A length as a number, or None if it is not one."""
    if isinstance(value, bool):
        return None
    number = decimal(value.strip()) if isinstance(value, str) else value
    try:
        length = float(number)  # type: ignore[arg-type]  # what is no number is refused below
    except (TypeError, ValueError, OverflowError):
        return None
    return length if math.isfinite(length) and length >= 0 else None
