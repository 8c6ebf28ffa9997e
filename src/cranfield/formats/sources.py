"""Bytes from wherever they are: a file, compressed or not, standard input, a pipe, an open file."""

from __future__ import annotations

import mmap
import os
import re
import stat
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from cranfield.errors import DataError, UsageError, shorten


class Decoder(Protocol):
    """What the decompressors of the standard library have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: Any, /) -> bytes: ...


def _gzip() -> Any:
    import zlib

    return zlib.decompressobj(wbits=31)


def _bzip2() -> Decoder:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Decoder:
    import lzma

    return lzma.LZMADecompressor()


def zstd_module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _zstd() -> Decoder:
    decoder: Decoder = zstd_module().ZstdDecompressor()
    return decoder


# Recognised by their first bytes, whatever the file is called. A topic may be called BZh9: bzip2 needs all ten.
COMPRESSIONS: tuple[tuple[str, re.Pattern[bytes], Callable[[], Decoder]], ...] = (
    ("gzip", re.compile(rb"\x1f\x8b"), _gzip),
    ("bzip2", re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), _bzip2),
    ("xz", re.compile(rb"\xfd7zXZ\x00"), _xz),
    ("zstd", re.compile(rb"\x28\xb5\x2f\xfd"), _zstd),
)


class Source(NamedTuple):
    """The bytes to parse, what to call them, and a digest of the file as it is stored, being computed meanwhile."""

    data: Any
    label: str
    path: str | None
    digest: Callable[[], str | None]


def open_source(where: Any, digest: str | None = None) -> Source:
    """Reads a path ('-' is standard input) or an open file, decompressed."""
    if hasattr(where, "read"):
        stored = where.read()
        label, path = str(getattr(where, "name", "open file")), None
        if isinstance(stored, str):
            stored = stored.encode("utf-8", "surrogateescape")
    else:
        path = label = os.fspath(where)
        if isinstance(label, bytes):
            path = label = os.fsdecode(label)
        if label == "-":
            label, stored = "standard input", sys.stdin.buffer.read()
        else:
            stored = _stored_bytes(label)
    digested = digest_meanwhile(stored, digest)
    return Source(_text(_decompressed(stored, label), label), label, path, digested)


def _stored_bytes(path: str) -> Any:
    try:
        mode = os.stat(path)
        if stat.S_ISDIR(mode.st_mode):
            raise IsADirectoryError(0, "is a directory; name a file in it")
        with open(path, "rb") as file:
            # A pipe cannot be mapped, and an empty file must not be.
            if not stat.S_ISREG(mode.st_mode) or mode.st_size == 0:
                return file.read()
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        hint = "This looks like the text itself: wrap it in io.StringIO." if "\n" in path else None
        missing = isinstance(error, FileNotFoundError)
        message = "no such file" if missing else getattr(error, "strerror", None) or str(error)
        raise DataError(message, source=shorten(path.split("\n")[0]), remedy=hint) from None


def _decompressed(stored: Any, label: str) -> Any:
    for name, magic, new_decoder in COMPRESSIONS:
        if magic.match(stored[:10]):
            try:
                return _all_streams(stored, magic, new_decoder)
            except _decoder_errors(name) as error:
                raise DataError(
                    f"damaged {name} data ({error})",
                    source=label,
                    remedy="Fetch or write the file again; nothing was evaluated.",
                ) from None
    if stored[:4] == b"PK\x03\x04":
        raise DataError("is a zip archive", source=label, remedy="Unpack it first.")
    return stored


def _decoder_errors(name: str) -> tuple[type[Exception], ...]:
    """What a decompressor raises on damaged data."""
    if name == "gzip":
        import zlib

        return (EOFError, zlib.error)
    if name == "xz":
        import lzma

        return (EOFError, lzma.LZMAError)
    if name == "zstd":
        return (EOFError, zstd_module().ZstdError)
    return (EOFError, OSError, ValueError)


def _all_streams(stored: Any, magic: re.Pattern[bytes], new_decoder: Callable[[], Decoder]) -> bytearray:
    """Concatenated streams are one text; zero bytes may pad the end; anything else is damage."""
    view = memoryview(stored)
    out = bytearray()
    at = 0
    while at < len(view):
        if not magic.match(view[at : at + 10]):
            if any(view[at:]):
                raise EOFError("something else follows the compressed data")
            break
        decoder = new_decoder()
        while not decoder.eof:
            if at >= len(view):
                raise EOFError("it ends too early")
            piece = view[at : at + (1 << 20)]
            out += decoder.decompress(piece)
            at += len(piece)
        at -= len(decoder.unused_data)
    return out


def _text(data: Any, label: str) -> Any:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError("is UTF-16", source=label, remedy="Convert it: iconv -f UTF-16 -t UTF-8.")
    return data


def digest_meanwhile(stored: Any, algorithm: str | None) -> Callable[[], str | None]:
    """Starts computing a digest beside other work; the result is what calling it returns."""
    if algorithm is None:
        return lambda: None
    new_hash(algorithm)  # an unknown name is refused before anything is read
    found: list[str] = []
    worker = threading.Thread(target=lambda: found.append(compute_digest(stored, algorithm)))
    worker.start()

    def result() -> str:
        worker.join()
        return found[0]

    return result


def new_hash(algorithm: str) -> Any:
    """A hash object: xxh3_128, which costs next to nothing, or sha256 and others of hashlib."""
    if algorithm == "xxh3_128":
        import xxhash

        return xxhash.xxh3_128()
    import hashlib

    known = {"blake2b", "md5", "sha1", "sha256", "sha384", "sha512"}
    if algorithm not in known:
        raise UsageError(f"unknown digest '{algorithm}'; known: xxh3_128, {', '.join(sorted(known))}")
    return hashlib.new(algorithm)


def compute_digest(stored: Any, algorithm: str) -> str:
    """`algorithm:hexdigits` of some bytes.

    >>> compute_digest(b"abc", "sha256")[:20]
    'sha256:ba7816bf8f01c'
    """
    made = new_hash(algorithm)
    made.update(stored)
    return f"{algorithm}:{made.hexdigest()}"
