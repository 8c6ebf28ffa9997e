"""Compressed data: recognised by its first bytes, whatever the file is called, and unpacked a piece at a time."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from cranfield.errors import CranfieldError, DataError, UsageError, shorten
from cranfield.records import NamedTuple

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Protocol

    class Decoder(Protocol):
        """What the decompressors of the standard library have in common."""

        @property
        def eof(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        @property
        def needs_input(self) -> bool: ...
        def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes: ...

    class _ZlibDecoder(Protocol):
        @property
        def eof(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        @property
        def unconsumed_tail(self) -> bytes: ...
        def decompress(self, data: bytes | memoryview, max_length: int = 0, /) -> bytes: ...


EXPANSION = 500
LEAST_LIMIT = 1 << 28
VARIABLE = "CRANFIELD_EXPANSION"
PIECE = 1 << 20  # bytes to unpack at once
_MOST_AT_ONCE = 1 << 24  # bytes to make of them
_LONGEST_HEADER = 1 << 17  # bytes of a member of gzip that are looked at for the end of its header

Stored = bytes | bytearray | mmap.mmap  # the bytes of a file, as they came or where they lie


def _has_gzip_header(data: bytes | memoryview) -> bool:
    """Whether the whole header of a member of gzip is there: ten bytes, and what its flags say there is besides.

    >>> member = b"\\x1f\\x8b\\x08\\x08" + bytes(6) + b"a.run\\0"
    >>> _has_gzip_header(member), _has_gzip_header(member[:-1])
    (True, False)
    """
    if len(data) < 12:
        return len(data) >= 10 and not data[3] & 0b11110
    flags, end = data[3], 10
    if flags & 4:  # further data, whose length comes first
        end += 2 + int.from_bytes(data[10:12], "little")
    texts = bytes(data[:_LONGEST_HEADER]) if flags & 24 else b""
    for flag in (8, 16):  # a name, a comment
        if flags & flag:
            end = texts.find(b"\0", end) + 1
            if end == 0:
                return False
    return end + (flags & 2) <= len(data)  # a checksum of it has two bytes


class _Gzip:
    """zlib's decompressor with the manners of the others: what it has not got to yet, it keeps.

    Intel's, where it is installed, is four times as fast. It cannot go on within a header that has names and the like,
    where zlib can: it gets members whose header is there.
    """

    def __init__(self) -> None:
        import zlib

        self._decoder: _ZlibDecoder = zlib.decompressobj(wbits=31)
        self._begun = False

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    def decompress(self, data: bytes | memoryview, max_length: int = -1) -> bytes:
        if not self._begun and _has_gzip_header(data):
            self._decoder = _zlib().decompressobj(wbits=31)
        self._begun = True
        return self._decoder.decompress(self._decoder.unconsumed_tail or data, max(max_length, 0))


def _zlib() -> ModuleType:
    from importlib import import_module

    try:
        return import_module("isal.isal_zlib")
    except ImportError:
        return import_module("zlib")


def _bzip2() -> Decoder:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Decoder:
    import lzma

    return lzma.LZMADecompressor()


def zstd_module() -> ModuleType:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    module: ModuleType = zstd
    return module


def _zstd() -> Decoder:
    decoder: Decoder = zstd_module().ZstdDecompressor()
    return decoder


class Compression(NamedTuple):
    """A way to compress, recognised by the first bytes, whatever the file is called."""

    name: str
    magic: tuple[bytes, ...]
    decoder: Callable[[], Decoder]

    def begins(self, start: bytes | memoryview) -> bool:
        """Whether something that starts so is compressed in this way."""
        return bytes(start).startswith(self.magic)


COMPRESSIONS = (
    Compression("gzip", (b"\x1f\x8b",), _Gzip),
    # All ten bytes: a topic may be called BZh9.
    Compression(
        "bzip2", tuple(b"BZh%d%b" % (n, b) for n in range(1, 10) for b in (b"1AY&SY", b"\x17rE8P\x90")), _bzip2
    ),
    Compression("xz", (b"\xfd7zXZ\x00",), _xz),
    # A frame, or one to be skipped, with which pzstd's files begin and those that can be searched end.
    Compression("zstd", (b"\x28\xb5\x2f\xfd", *(b"%c\x2a\x4d\x18" % skipped for skipped in range(0x50, 0x60))), _zstd),
)


def pieces_of(stored: Stored, begin: int = 0) -> Iterator[memoryview]:
    """Stored bytes a piece at a time; those of a mapped file do not stay in memory."""
    view = memoryview(stored)
    for at in range(begin, len(view), PIECE):
        yield view[at : at + PIECE]
        let_go(stored, at, at + PIECE)


def let_go(stored: Stored, begin: int, end: int) -> None:
    """Says that a part of a file need not stay in memory: whoever looks at it again gets it back from the file."""
    if isinstance(stored, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        begin -= begin % mmap.PAGESIZE
        stored.madvise(mmap.MADV_DONTNEED, begin, min(end, len(stored)) - begin)


def compression_of(start: bytes) -> Compression | None:
    """How something is compressed that starts so; None if it is not."""
    return next((compression for compression in COMPRESSIONS if compression.begins(start)), None)


class UnpackedSoFar(NamedTuple):
    """What was unpacked before: how it was compressed, and its bytes as stored and as they are."""

    compression: Compression | None = None
    stored: int = 0
    size: int = 0


NOTHING = UnpackedSoFar()


def unpacked(pieces: Iterable[bytes | memoryview], label: str, before: UnpackedSoFar = NOTHING) -> Iterator[bytes]:
    """What compressed bytes hold, piece by piece and never much at once, whatever they expand to.

    A text that grows beyond reason is refused as soon as it does: see `most_unpacked`.
    """
    compression, stored, size = before
    decoder: Decoder | None = None
    rest = b""
    try:
        for piece in pieces:
            stored += len(piece)
            data: bytes | memoryview = rest + bytes(piece) if rest else piece
            rest = b""
            while len(data) or (decoder is not None and not decoder.needs_input):
                if decoder is None:
                    compression = compression or compression_of(bytes(data[:10]))
                    assert compression is not None
                    if compression.name == "xz":
                        data = bytes(data).lstrip(b"\0")  # zero bytes may pad its streams
                    if not compression.begins(data[:10]):
                        rest = bytes(data)  # the next piece may tell what it is
                        break
                    decoder = compression.decoder()
                out = decoder.decompress(data, _MOST_AT_ONCE)
                size += len(out)
                check_size(label, stored, size)
                yield out
                data = b""
                if decoder.eof:  # concatenated streams are one text
                    data, decoder = decoder.unused_data, None
            if len(rest) >= 10:
                break
        if decoder is not None:
            raise EOFError("it ends too early")
        if any(rest) or any(any(piece) for piece in pieces):  # zero bytes may pad the end
            raise EOFError("something else follows the compressed data")
    except decoder_errors(compression) as error:
        if isinstance(error, CranfieldError):
            raise
        raise DataError(
            f"damaged {compression.name if compression else ''} data ({error})",
            source=label,
            remedy="Fetch or write the file again; nothing was evaluated.",
        ) from None


def most_unpacked(stored: int) -> float:
    """How many bytes so many compressed ones may become: EXPANSION times as many, but at least LEAST_LIMIT.

    Runs shrink to a twentieth, the most regular tables that programs write to a hundredth; what shrinks to less than
    a five hundredth was made to fill a memory. The environment variable CRANFIELD_EXPANSION sets another factor.
    """
    factor = os.environ.get(VARIABLE)
    if factor is None:
        return max(LEAST_LIMIT, EXPANSION * stored)
    if not (factor.isascii() and factor.isdigit()):
        raise UsageError(f"{VARIABLE} must be a whole number, not '{shorten(factor, 60)}'")
    return max(LEAST_LIMIT, int(factor) * stored)


def check_size(label: str, stored: int, size: int) -> None:
    """An error where so many stored bytes have become so many more that they may fill the memory."""
    if size <= LEAST_LIMIT or size <= most_unpacked(stored):
        return
    limit = os.environ.get(VARIABLE, str(EXPANSION))
    raise DataError(
        f"is compressed to less than 1/{limit} of its text, {size >> 20:,} MiB of it so far: it may fill the memory",
        source=label,
        remedy=f"If it is what it should be, unpack it first, or set {VARIABLE} to more than {limit}.",
    )


def decoder_errors(compression: Compression | None) -> tuple[type[Exception], ...]:
    """What a decompressor raises on damaged data."""
    name = compression.name if compression else ""
    if name == "gzip":
        import zlib

        return (EOFError, zlib.error, _zlib().error)
    if name == "xz":
        import lzma

        return (EOFError, lzma.LZMAError)
    if name == "zstd":
        return (EOFError, zstd_module().ZstdError)
    return (EOFError, OSError, ValueError)
