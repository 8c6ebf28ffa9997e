"""What an upload holds, unpacked in steps: one stream of gzip, bzip2, xz or zstd, or a file as it is.

The decompressors are those of `formats.sources`; here every step is held against what an upload may become. Archives,
and what is packed within, are refused: what is read is one file, and what it unpacks to is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from cranfield.errors import DataError
from cranfield.formats.unpacking import compression_of, unpacked
from cranfield.web.uploads.refusal import UploadError

PIECE = 1 << 16  # bytes of an upload to read at once
HEAD = 1 << 9  # bytes that tell what something is: an archive of tar says so at the 257th


@dataclass(frozen=True, kw_only=True)
class UnpackingLimits:
    """What an upload may become.

    text_bytes, rows: of what is unpacked. ratio: of its bytes to those of the upload, once there are more than
    ratio_from of them. members: streams in a row that are one text, as parallel compressors write them.
    """

    text_bytes: int = 1 << 30
    rows: int = 10_000_000
    ratio: int = 200
    ratio_from: int = 1 << 20
    members: int = 100_000


UNPACKING = UnpackingLimits()
_ARCHIVES = (
    ("a zip archive", re.compile(rb"PK(\x03\x04|\x05\x06|\x07\x08)")),
    ("a tar archive", re.compile(rb".{257}ustar", re.DOTALL)),
    ("a 7z archive", re.compile(rb"7z\xbc\xaf\x27\x1c")),
    ("a rar archive", re.compile(rb"Rar!\x1a\x07")),
    ("compressed by compress (.Z)", re.compile(rb"\x1f\x9d")),
    ("compressed by lz4", re.compile(rb"\x04\x22M\x18")),
    ("compressed by lzip", re.compile(rb"LZIP[\x00\x01]")),
    ("a Parquet file, which is packed within", re.compile(rb"PAR1")),
    ("an Arrow file, which may be packed within", re.compile(rb"ARROW1\0\0|FEA1")),
)


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """What came of an upload: how it was compressed, and how many bytes and lines it has."""

    compression: str | None
    size: int
    rows: int


def unpack(source: BinaryIO, target: BinaryIO, name: str, limits: UnpackingLimits = UNPACKING) -> Unpacked:
    """Writes what an open file holds to another, as it is or unpacked.

    >>> import gzip, io
    >>> unpack(io.BytesIO(gzip.compress(b"q1 0 d1 1\\n")), io.BytesIO(), "a.gz")
    Unpacked(compression='gzip', size=10, rows=1)
    >>> unpack(io.BytesIO(b"PK\\x03\\x04"), io.BytesIO(), "a.zip")
    Traceback (most recent call last):
    cranfield.web.uploads.refusal.UploadError: a.zip: is a zip archive
        Upload one file, as it is or compressed by gzip, bzip2, xz or zstd.
    """
    stored = _Counted(source)
    first = stored.read(PIECE)
    compression = compression_of(first[:10])
    _refuse_archive(first, name)
    pieces = stored.pieces(first)
    counter = _Counter(name, limits)
    for text in pieces if compression is None else _steps(pieces, name):
        counter.count(text, stored, compressed=compression is not None)
        target.write(text)
    return Unpacked(compression=compression.name if compression else None, size=counter.size, rows=counter.rows)


class _Counted:
    """An open file, and how much of it was read, in how many pieces."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = self.reads = 0

    def read(self, size: int) -> bytes:
        """So many bytes, fewer at the end alone: whatever the file is, its beginning is seen whole."""
        data = b""
        while len(data) < size and (more := self._file.read(size - len(data))):
            data += more
        self.size += len(data)
        self.reads += 1
        return data

    def pieces(self, first: bytes) -> Iterator[bytes]:
        piece = first
        while piece:
            yield piece
            piece = self.read(PIECE)


def _steps(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    try:
        yield from unpacked(pieces, name)
    except DataError as error:
        if "memory" in error.message and "zstd" in error.message:  # a window that only --long unpacks
            message = f"{name}: unpacking it needs more memory than zstd takes unless told to"
            raise UploadError("memory", message, "Compress it without --long.") from None
        raise


class _Counter:
    """What has come out so far, held against the limits at every step."""

    def __init__(self, name: str, limits: UnpackingLimits) -> None:
        self.size = self._steps = self._feeds = self._returns = 0
        self._name, self._limits = name, limits
        self._head = b""
        self._last = b""

    @property
    def rows(self) -> int:
        """Lines, whichever way they end, with one that has no end."""
        return max(self._feeds, self._returns) + (self._last not in (b"", b"\n", b"\r"))

    def count(self, text: bytes, stored: _Counted, *, compressed: bool) -> None:
        limits, name = self._limits, self._name
        self._steps += 1
        self.size += len(text)
        self._feeds += text.count(b"\n")
        self._returns += text.count(b"\r")
        self._last = text[-1:] or self._last
        if self.size > limits.text_bytes:
            raise UploadError("expansion", f"{name}: unpacks to more than {limits.text_bytes:,} bytes")
        if compressed and self.size > limits.ratio_from and self.size > limits.ratio * stored.size:
            message = f"{name}: unpacks to more than {limits.ratio} times its bytes"
            raise UploadError("expansion", message, "It may be made to fill a memory. Send it as it is.")
        if self.rows > limits.rows:
            raise UploadError("rows", f"{name}: has more than {limits.rows:,} lines")
        # A step ends with a piece, with a stream or with as much as is made at once; the last are few.
        if compressed and self._steps - stored.reads > limits.members + (self.size >> 20):
            raise UploadError("expansion", f"{name}: is more than {limits.members:,} compressed streams in a row")
        if compressed and len(self._head) < HEAD:
            self._head += text[: HEAD - len(self._head)]
            _refuse_nested(self._head, name)


def _refuse_archive(start: bytes, name: str) -> None:
    for what, pattern in _ARCHIVES:
        if pattern.match(start):
            remedy = "Upload one file, as it is or compressed by gzip, bzip2, xz or zstd."
            raise UploadError("packed", f"{name}: is {what}", remedy)


def _refuse_nested(start: bytes, name: str) -> None:
    if compression_of(start[:10]) is not None:
        raise UploadError("packed", f"{name}: is compressed twice", "Compress it once.")
    _refuse_archive(start, name)
