"""Files of others, read a part at a time: memory does not follow their size."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator

from cranfield.errors import DataError, shorten
from cranfield.formats.sources import open_source
from cranfield.texts.peeking import pieces_of

_BUFFER = 1 << 20


class _Joined(io.RawIOBase):
    """Pieces of bytes as one file."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = iter(pieces)
        self.held = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not len(self.held):
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.held = memoryview(piece)
        count = min(len(buffer), len(self.held))
        buffer[:count] = self.held[:count]
        self.held = self.held[count:]
        return count


def opened(path: str) -> io.BufferedReader:
    """A file to read from, unpacked on the way; '-' is standard input, which is held in memory."""
    pieces: Iterable[bytes] = [bytes(open_source(path).data)] if path == "-" else pieces_of(path)
    return io.BufferedReader(_Joined(pieces), _BUFFER)


def lines_of(path: str) -> Iterator[tuple[int, str]]:
    """The lines of a file of text in UTF-8 with their numbers; blank ones are passed over.

    >>> [(number, line.split()) for number, line in lines_of("examples/yandex.tsv")][1]
    (2, ['1', '12', 'C', 'd2'])
    """
    for number, line in enumerate(opened(path), start=1):
        bare = line.rstrip(b"\r\n")
        if number == 1:
            bare = bare.removeprefix(codecs.BOM_UTF8)
        try:
            text = bare.decode("utf-8")
        except UnicodeDecodeError:
            shown = shorten(bare.decode("utf-8", "backslashreplace"))
            raise DataError("is not UTF-8", source=path, line=number, text=shown) from None
        if "\0" in text:
            raise DataError("NUL byte", source=path, line=number, text=shorten(text), remedy="Is this a file of text?")
        if text and not text.isspace():
            yield number, text
