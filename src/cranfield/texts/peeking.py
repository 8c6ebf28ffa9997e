"""What a file holds, told by its beginning: what can be read only once is kept, and no more is unpacked than needed."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import chain

from cranfield.errors import DataError
from cranfield.formats.sources import Buffer, nothing_in_it, open_source, opened_file
from cranfield.formats.unpacking import compression_of, unpacked
from cranfield.texts.content import Content, kind_of
from cranfield.texts.forms import refuse_packed

_PIECE = 1 << 18  # bytes: even compressed enough for the first lines


class _Kept(io.BytesIO):
    """What came through a pipe, to be read again."""

    def __init__(self, data: Buffer, name: str) -> None:
        super().__init__(data)
        self.name = name


def peek(source: str | os.PathLike[str]) -> tuple[str | os.PathLike[str] | io.BytesIO, Content | None]:
    """What to read in place of a path, which is the path itself unless it can be read only once, and what it holds.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"1 0 d1 1")
    ...     file.flush()
    ...     peek(file.name)[1]
    'qrels'
    """
    path = os.fspath(source)
    again: str | os.PathLike[str] | io.BytesIO = source
    if path != "-" and (os.path.isfile(path) or not os.path.exists(path)):
        data, label = beginning(path), path
    else:
        opened = open_source(path)
        data, label = opened.data, opened.label
        again = _Kept(data, label)
    refuse_packed(data, label)
    if not len(data):
        raise nothing_in_it(label)
    return again, kind_of(data, label)


def beginning(path: str) -> Buffer:
    """A file's bytes, or of a compressed one the first lines."""
    first = b""
    try:
        with opened_file(path, is_input=False) as file:
            packed = compression_of(file.read(10)) is not None
        if packed:
            first = next(pieces_of(path, is_input=False), b"")
    except DataError:  # open_source says it again, or gets further
        first = b""
    return first if b"\n" in first else open_source(path, is_input=False).data


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an index of `cranfield search --index`, which is no part of the collection that it lies in."""
    with opened_file(os.fspath(path), is_input=False) as file:
        start = file.read(40)
    return start[:4] == b"PK\x03\x04" and start[30:37] == b"ids.npy"


def pieces_of(path: str, *, is_input: bool = True) -> Iterator[bytes]:
    """What is in a file, compressed or not, piece by piece."""
    with opened_file(path, is_input=is_input) as file:
        first = file.read(_PIECE)
        pieces = chain([first] if first else [], iter(lambda: file.read(_PIECE), b""))
        yield from pieces if compression_of(first[:10]) is None else unpacked(pieces, path)
