"""What a file holds, told by its beginning: what can be read only once is kept, and no more is unpacked than needed."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from typing import Any

from cranfield.errors import DataError
from cranfield.formats.sources import COMPRESSIONS, Decoder, open_source
from cranfield.texts.forms import refuse_packed
from cranfield.texts.kinds import Content, kind_of

_PIECE = 1 << 18  # bytes: even compressed enough for the first lines


class _Kept(io.BytesIO):
    """What came through a pipe, to be read again."""

    def __init__(self, data: Any, name: str) -> None:
        super().__init__(data)
        self.name = name


def peek(source: str | os.PathLike[str]) -> tuple[Any, Content | None]:
    """What to read in place of a path, which is the path itself unless it can be read only once, and what it holds.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"1 0 d1 1")
    ...     file.flush()
    ...     peek(file.name)[1]
    'qrels'
    """
    path = os.fspath(source)
    again: Any = source
    if path != "-" and (os.path.isfile(path) or not os.path.exists(path)):
        data, label = beginning(path), path
    else:
        opened = open_source(path)
        data, label = opened.data, opened.label
        again = _Kept(data, label)
    refuse_packed(data, label)
    if not len(data):
        raise DataError("is empty", source=label)
    return again, kind_of(data, label)


def beginning(path: str) -> Any:
    """A file's bytes, or of a compressed one the first lines."""
    first = b""
    try:
        with open(path, "rb") as file:
            packed = _decoder_for(file.read(10)) is not None
        if packed:
            first = next(unpacked(path), b"")
    except Exception:  # whatever it is, open_source says it better
        first = b""
    return first if b"\n" in first else open_source(path).data


def unpacked(path: str) -> Iterator[bytes]:
    """What is in a file, compressed or not, piece by piece; of a damaged one whatever its decoder raises."""
    with open(path, "rb") as file:
        piece = file.read(_PIECE)
        new_decoder = _decoder_for(piece)
        while piece and new_decoder is None:
            yield piece
            piece = file.read(_PIECE)
        while piece and new_decoder is not None:  # one compressed text after another
            decoder = new_decoder()
            while not decoder.eof:
                if not piece:
                    raise EOFError("it ends too early")
                yield decoder.decompress(piece)
                piece = decoder.unused_data if decoder.eof else file.read(_PIECE)
            piece = piece or file.read(_PIECE)


def _decoder_for(stored: bytes) -> Callable[[], Decoder] | None:
    return next((new_decoder for _, magic, new_decoder in COMPRESSIONS if magic.match(stored[:10])), None)
