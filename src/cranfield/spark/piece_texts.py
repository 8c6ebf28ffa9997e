"""The text of a piece of a run's files, cut where a topic begins: what stands together is read by one task.

A piece is given by two bytes of a file, and neither is where anything begins. The first line from there on has a topic,
and so may some behind it: the first line of another topic is where the piece begins, and by the same rule where it
ends. So each line is in one piece, whoever reads it, and no topic is cut whose lines stand together, across the ends of
files neither: those of a folder are one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from cranfield._core import spans_of
from cranfield.formats.format import BYTE_ORDER_MARK

_BLOCK = 1 << 16  # bytes that are looked at first; a topic that goes on is followed in larger ones
_LARGEST = 1 << 24
_UNCUT = 1 << 62
_NO_TOPICS = (b"", b"#")  # blank lines and most comments, which may stand in the middle of a topic
_NEWLINE = re.compile(rb"[\r\n]")


class FilePiece(NamedTuple):
    """A piece of a run, whose files these are: what begins between two bytes of one of them."""

    run: str
    paths: tuple[str, ...]
    file: int
    begin: int
    end: int


class BytePlace(NamedTuple):
    """A byte of one of several files."""

    file: int
    offset: int


def piece_text(piece: FilePiece) -> tuple[BytePlace, bytes]:
    """Where the text of a piece begins, and the text: whole topics, as far as their lines stand together."""
    end = BytePlace(piece.file, piece.end)
    first = topic_start(piece.paths, BytePlace(piece.file, piece.begin), end)
    if first is None:
        return end, b""
    last = topic_start(piece.paths, end)
    assert last is not None
    return first, _text(piece.paths, first, last)


def topic_start(paths: tuple[str, ...], place: BytePlace, limit: BytePlace | None = None) -> BytePlace | None:
    """Where the first line begins behind a place that has another topic than the first one there.

    None where that topic goes on beyond a limit: nothing begins before it, and no more is read to find out where.
    """
    if place == (0, 0):
        return place
    topic = None
    for file in range(place.file, len(paths)):
        for offset, found in _spans(paths[file], place.offset if file == place.file else 0):
            if found in _NO_TOPICS:
                continue
            if topic is None:
                topic = found
            elif found != topic:
                return BytePlace(file, offset)
            elif limit is not None and BytePlace(file, offset) >= limit:
                return None
    return BytePlace(len(paths), 0)


def _spans(path: str, offset: int) -> Iterator[tuple[int, bytes]]:
    """Where lines begin that have the same first field, and that field, from the first line behind an offset on."""
    size = _BLOCK
    with open(path, "rb") as file:
        position = max(offset - 1, 0)  # the byte before tells whether a line begins here
        file.seek(position)
        text = file.read(size)
        if offset == 0:
            skipped = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
        else:
            while not (end := _NEWLINE.search(text)) and (more := file.read(size)):
                text, size = text + more, min(2 * size, _LARGEST)
            skipped = end.end() if end else len(text)
        text, position = text[skipped:], position + skipped
        while True:
            more = file.read(size)
            whole = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1 if more else len(text)
            begins, topics, ends = spans_of(text[:whole], _UNCUT)
            for begin, field in zip(begins.tolist(), pairwise(ends.tolist()), strict=False):
                yield position + begin, topics[slice(*field)]
            if not more:
                return
            text, position, size = text[whole:] + more, position + whole, min(2 * size, _LARGEST)


def _text(paths: tuple[str, ...], first: BytePlace, last: BytePlace) -> bytes:
    """What stands between two places, each line with its end."""
    parts = []
    for number in range(first.file, min(last.file, len(paths) - 1) + 1):
        begin = first.offset if number == first.file else 0
        with open(paths[number], "rb") as file:
            file.seek(begin)
            part = file.read(last.offset - begin) if number == last.file else file.read()
        part = part.removeprefix(BYTE_ORDER_MARK) if begin == 0 else part
        parts.append(part if not part or part.endswith((b"\n", b"\r")) else part + b"\n")
    return parts[0] if len(parts) == 1 else b"".join(parts)
