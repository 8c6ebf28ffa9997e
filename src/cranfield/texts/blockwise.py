"""A large file of documents block by block: never all of its text in memory, and read as if it were at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from cranfield.errors import DataError
from cranfield.formats.format import BYTE_ORDER_MARK
from cranfield.texts.choosing import PARQUET, choose
from cranfield.texts.forms import Found, GivenTexts, TextFormat, decoded
from cranfield.texts.peeking import pieces_of
from cranfield.texts.separated import MSMARCO, TSV

LARGE = 1 << 26  # bytes of a file: a smaller one is read as a whole
BLOCK = 1 << 24


class NotInBlocksError(Exception):
    """Only reading all of it at once tells what it means."""


def is_large(source: GivenTexts) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of a file that is better read block by block."""
    return isinstance(source, str | os.PathLike) and os.path.isfile(source) and os.path.getsize(source) >= LARGE


def blocks(path: str, format: str | None) -> Iterator[Found]:
    """The documents of a file, some at a time."""
    chosen: TextFormat | None = None
    header = rest = ""
    lines = 0  # that were read before
    columns: list[str] | None = None
    if format == PARQUET:
        raise NotInBlocksError
    for piece, last in _texts(path):
        text = rest + piece
        if chosen is None:
            chosen = choose(text, path, "documents", format)
            if chosen is None or chosen.cut is None:
                raise NotInBlocksError
            cut = chosen.cut
        end = len(text) if last else cut(text)
        block, rest = text[:end], text[end:]
        if not block or block.isspace():
            rest = text
            continue
        documents = _read_block(chosen, header, block, lines, path, last)
        if chosen in (TSV, MSMARCO) and columns not in (None, list(documents.fields)):
            raise NotInBlocksError
        yield documents
        columns = list(documents.fields)
        lines += block.count("\n")
        if chosen is TSV and not header:
            header = block.lstrip("\r\n").split("\n", 1)[0] + "\n"


def _read_block(chosen: TextFormat, header: str, block: str, lines: int, path: str, last: bool) -> Found:
    before = lines - header.count("\n")
    try:
        documents = chosen.read(header + block, path, "documents")
    except DataError:
        if last and not chosen.recognise(block, "documents"):
            raise NotInBlocksError from None
        return chosen.read(header + "\n" * before + block, path, "documents")  # fails again, with the right line

    def place(number: int) -> tuple[str, int | None]:
        source, line = documents.place(number)
        return source, None if line is None else line + before

    return documents._replace(place=place)


def _texts(path: str) -> Iterator[tuple[str, bool]]:
    """Whole lines of a file, and whether they are the last."""
    held = bytearray()
    first = True
    for piece in _pieces(path):
        held += piece
        end = held.rfind(b"\n") + 1 if len(held) >= BLOCK else 0
        if end:
            yield _text(bytes(held[:end]), path, first), False
            del held[:end]
            first = False
    yield _text(bytes(held), path, first), True


def _pieces(path: str) -> Iterable[bytes]:
    try:
        yield from pieces_of(path)
    except DataError:  # reading it at once says what is wrong
        raise NotInBlocksError from None


def _text(data: bytes, path: str, first: bool) -> str:
    try:
        text, notes = decoded(data, path)
    except DataError:
        raise NotInBlocksError from None
    if notes or (not first and data.startswith(BYTE_ORDER_MARK)):
        raise NotInBlocksError
    return text
