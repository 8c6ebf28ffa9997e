"""What every format of documents and topics needs: what it is, what it reads and what it could not write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from cranfield.errors import DataError, shorten, some
from cranfield.formats.base import BYTE_ORDER_MARK
from cranfield.texts.base import Documents, Topics

Kind = Literal["documents", "topics"]
Texts = Documents | Topics
Notes = list[tuple[str, str]]


class Found(NamedTuple):
    """What a reader found: ids, a column of texts for each field, the line on which each id stands, and notes."""

    ids: list[str]
    fields: dict[str, list[str]]
    line: Callable[[int], int | None]
    notes: Notes


class Losses:
    """What a format cannot hold, counted as it is written, with a few ids to look at."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = {}

    def add(self, what: str, id: str) -> None:
        """Something of one document, topic or row is lost."""
        self._ids.setdefault(what, []).append(id)

    def told(self) -> list[str]:
        """A sentence for each kind of loss."""
        return [f"{what} ({len(ids):,}: {some(ids, 3)})" for what, ids in self._ids.items()]


class TextFormat(NamedTuple):
    """A file format: its name, the suffixes and the first characters that give it away, its reader and its writer."""

    name: str
    suffixes: tuple[str, ...]
    recognise: Callable[[str, Kind], bool]
    read: Callable[[str, str, Kind], Found]
    write: Callable[[Texts, Losses], Iterator[str]]


def decoded(data: Any, source: str) -> tuple[str, Notes]:
    """Bytes as text: UTF-8, or Latin-1 with a note, which is what old collections are in.

    >>> decoded("café".encode("latin-1"), "ap890101")
    ('café', [('latin-1', 'not UTF-8 (first on line 1): read as Latin-1')])
    """
    if data[:2] == b"\x1f\x9d":
        raise DataError("is compressed by compress (.Z)", source=source, remedy="Unpack it first: gzip -d does.")
    notes: Notes = []
    start = len(BYTE_ORDER_MARK) if data[:3] == BYTE_ORDER_MARK else 0
    with memoryview(data) as view:
        try:
            text = str(view[start:], "utf-8")
        except UnicodeDecodeError as error:
            text = str(view[start:], "latin-1")
            line = text.count("\n", 0, error.start) + 1
            notes.append(("latin-1", f"not UTF-8 (first on line {line:,}): read as Latin-1"))
    at = text.find("\0")
    if at >= 0:
        raise DataError(
            f"NUL byte at offset {start + at:,}",
            source=source,
            line=text.count("\n", 0, at) + 1,
            text=line_at(text, at),
            remedy="This is not text, or it is damaged; tr -d '\\000' takes such bytes out.",
        )
    return text, notes


def line_at(text: str, at: int) -> str:
    """The line of a text in which a place stands."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else None]


def fault_at(text: str, at: int, message: str, source: str, remedy: str | None = None) -> DataError:
    """An error about a place in a text."""
    line = text.count("\n", 0, at) + 1
    return DataError(message, source=source, line=line, text=line_at(text, at), remedy=remedy)


def columns_of(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Rows of fields as columns; an empty text where a row lacks a field; fields that are empty everywhere left out.

    >>> columns_of([{"title": "a", "date": ""}, {"text": "b"}])
    {'title': ['a', ''], 'text': ['', 'b']}
    """
    names = dict.fromkeys(name for row in rows for name, text in row.items() if text)
    return {name: [row.get(name, "") for row in rows] for name in names}


def joined(parts: Iterable[Found]) -> Found:
    """Several readings as one, in their order; lines are those of the parts."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.fields)
    ids = [id for part in parts for id in part.ids]
    fields = {
        name: [text for part in parts for text in part.fields.get(name) or [""] * len(part.ids)] for name in names
    }
    counts: dict[str, list[str]] = {}
    for part in parts:
        for code, note in part.notes:
            counts.setdefault(code, []).append(note)
    notes = [
        (code, told[0] if len(told) == 1 else f"in {len(told):,} files: {told[0]}") for code, told in counts.items()
    ]
    return Found(ids, fields, lambda number: None, notes)


BYTES_AS_LATIN_1 = re.compile("[\x80-\xff]")


def id_bytes(id: str) -> str:
    """An id read as Latin-1, as runs and judgements have it: ids are bytes, whatever the text around them is in."""
    return id.encode("latin-1").decode("utf-8", "surrogateescape") if BYTES_AS_LATIN_1.search(id) else id


def no_duplicates(found: Found, noun: str, source: str) -> None:
    """It is an error if an id comes twice."""
    if len(set(found.ids)) == len(found.ids):
        return
    first: dict[str, int] = {}
    for number, id in enumerate(found.ids):
        other = first.setdefault(id, number)
        if other != number:
            line, before = found.line(number), found.line(other)
            where = f"First on line {before:,}. " if before else ""
            raise DataError(
                f"{noun} '{shorten(id, 60)}' comes a second time",
                source=source,
                line=line,
                remedy=f"{where}Each id may stand once: decide which is right.",
            )
