"""Bytes from wherever they are: a file, compressed or not, standard input, a pipe, an open file."""

from __future__ import annotations

import io
import math
import mmap
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from cranfield.errors import ArgumentError, DataError, UsageError, shorten
from cranfield.formats import touched
from cranfield.formats.given import is_open
from cranfield.formats.unpacking import PIECE, compression_of, pieces_of
from cranfield.records import NamedTuple

if TYPE_CHECKING:
    from typing import Protocol, TypedDict

    from cranfield.formats.given import Path, Readable

    class Hash(Protocol):
        """What the hash objects of hashlib and xxhash have in common."""

        def update(self, data: Buffer | memoryview, /) -> None: ...
        def hexdigest(self) -> str: ...

    class _Line(TypedDict):
        line: int
        text: str


COPIED = 1 << 22  # bytes of a file that are copied sooner than mapped, above all beside other threads
DEVICE = 1 << 26  # bytes of a device that is read as a file: a terminal has fewer, /dev/zero has no end
MOST_NAMES = 2000  # of files in a folder that are looked at for one that may have been meant

OFFICE = (b"[Content_Types].xml", b"vnd.oasis.opendocument")  # in the first bytes of what spreadsheets keep

Buffer = bytes | bytearray | mmap.mmap  # the bytes of a file: as they came, unpacked, or where they lie


class LargeFile(mmap.mmap):
    """A mapped file that the cache of the system could not hold: the core reads its text from the disk."""

    descriptor: int

    def __new__(cls, file: int, length: int, access: int) -> Self:
        mapped = super().__new__(cls, file, length, access=access)
        mapped.descriptor = os.dup(file)
        return mapped

    def __del__(self) -> None:
        os.close(self.descriptor)


def _cache() -> float:
    """How many bytes of files the system may well keep in memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    except (AttributeError, ValueError, OSError):  # not on every system
        return math.inf


class Source(NamedTuple):
    """The bytes to parse, what to call them, and a digest of the file as it is stored, being computed meanwhile."""

    data: Buffer
    label: str
    path: str | None
    digest: Callable[[], str | None]


def open_source(
    where: Path | Readable, digest: str | None = None, *, is_input: bool = True, threads: int = 1
) -> Source:
    """Reads a path ('-' is standard input) or an open file, decompressed.

    A file that is only looked at, to see whether it is what is wanted, is no input yet, and may be written.
    """
    if is_open(where):
        content = where.read()
        label, path = str(getattr(where, "name", "open file")), None
        stored: Buffer = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    elif not isinstance(where, str | bytes | os.PathLike):
        raise ArgumentError(f"expected a path or an open file, not {shorten(repr(where), 60)}")
    else:
        path = label = os.fsdecode(where)
        if label == "-":
            touched.reads(label)
            label, stored = "standard input", _standard_input()
        else:
            stored = _stored_bytes(label, is_input)
    digested = digest_meanwhile(stored, digest)
    return Source(_text(_decompressed(stored, label, threads), label), label, path, digested)


class Flow(NamedTuple):
    """A compressed file that is read while it is unpacked: how its text begins, and all of it in pieces."""

    head: bytes
    pieces: Iterator[bytes]
    label: str
    digest: Callable[[], str | None]


def open_flow(where: Path | Readable, digest: str | None = None, threads: int = 1) -> Flow | None:
    """A file as a flow, if it is compressed and can be read again where the flow does not do."""
    if is_open(where) or not isinstance(where, str | bytes | os.PathLike) or not os.path.isfile(where):
        return None
    label = os.fsdecode(where)
    with opened_file(label) as file:
        if compression_of(file.read(10)) is None:
            return None
    stored = _stored_bytes(label, is_input=True)
    from cranfield.formats.members import unpacked_file

    pieces = unpacked_file(stored, label, threads)
    head = b""
    while len(head) < PIECE and (piece := next(pieces, None)) is not None:
        head += piece
    _text(head, label)
    return Flow(head, chain([head], pieces), label, digest_meanwhile(stored, digest))


class _OpenedFile(io.BytesIO):
    """Bytes that were read from somewhere, under its name."""

    name: str


def as_file(opened: Source) -> _OpenedFile:
    """What has been read as an open file, for those that read one: a pipe can be read only once.

    >>> as_file(open_source(io.StringIO("1 0 d1 1"))).name
    'open file'
    """
    file = _OpenedFile(opened.data)
    file.name = opened.label
    return file


def _stored_bytes(path: str, is_input: bool) -> Buffer:
    with opened_file(path, is_input=is_input) as file:
        mode = os.fstat(file.fileno())
        if stat.S_ISREG(mode.st_mode) and mode.st_size > COPIED:  # a pipe cannot be mapped
            kind = mmap.mmap if mode.st_size < _cache() else LargeFile
            return kind(file.fileno(), 0, access=mmap.ACCESS_READ)
        return _to_the_end(file, mode.st_mode, path)


def _standard_input() -> bytes:
    label = "standard input"
    if sys.stdin is None:
        raise DataError("is closed", source=label)
    file = sys.stdin.buffer
    try:
        mode = os.fstat(file.fileno()).st_mode
    except (OSError, ValueError):  # not a file of the system's
        mode = stat.S_IFIFO
    try:
        return _to_the_end(file, mode, label)
    except OSError as error:
        raise DataError(error.strerror or str(error), source=label) from None


def _to_the_end(file: BinaryIO, mode: int, label: str) -> bytes:
    if not stat.S_ISCHR(mode):
        return file.read()
    start = file.read(DEVICE + 1)
    if len(start) > DEVICE:
        raise DataError("is a device that does not end", source=label, remedy="Name a file.")
    return start


@contextmanager
def opened_file(path: str, *, is_input: bool = True) -> Iterator[BinaryIO]:
    """A file to read: the one way to open one, so that it is known to be an input, and faults are told alike."""
    if "\0" in path:
        raise _unreadable(path, ValueError("a name has no NUL in it"))
    if is_input:
        touched.reads(path)
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(0, "is a directory; name a file in it")
        with open(path, "rb") as file:
            yield file
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> DataError:
    hint = "This looks like the text itself: wrap it in io.StringIO." if "\n" in path else None
    missing = isinstance(error, FileNotFoundError)
    if missing and hint is None:
        hint = _nearest(path)
    message = "no such file" if missing else getattr(error, "strerror", None) or str(error)
    return DataError(message, source=shorten(path.split("\n")[0]), remedy=hint)


def _nearest(path: str) -> str | None:
    """What may have been meant by the name of a file that is not there, of those in its folder."""
    from difflib import get_close_matches

    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f"There is no folder {shorten(folder)}."
    try:
        with os.scandir(folder or ".") as entries:
            files = sorted(entry.name for entry in islice(entries, MOST_NAMES) if entry.is_file())
    except OSError:
        return None
    longer = [file for file in files if name and file.startswith(f"{name}.")]  # as compressed
    near = (longer or get_close_matches(name, files, n=1, cutoff=0.7))[:1]
    return f"Did you mean {shorten(os.path.join(folder, near[0]))}?" if near else None


def nothing_in_it(label: str, *, once: bool = False) -> DataError:
    """The error for an input that is empty; one that can be read only once may have been read before."""
    remedy = "It can be read only once." if once else "Nothing was written to it: make it again."
    return DataError("is empty", source=label, remedy=remedy)


def no_rows(label: str, path: str | None) -> DataError:
    """The error for an input without rows: a file if it has a path, or something in memory."""
    remedy = "It has no line but blank ones, comments and a header." if path else "Give at least one document."
    return DataError("has no rows", source=label, remedy=remedy)


def utf8_text(opened: Source) -> str:
    """The text of a source that is to be UTF-8, without a byte order mark: for words, where ids may be any bytes.

    >>> utf8_text(open_source(io.BytesIO("\ufeffcafé".encode())))
    'café'
    """
    data = bytes(opened.data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            "is not UTF-8",
            source=opened.label,
            **_line_at(data, error.start),
            remedy="Convert it, as from Windows by iconv -f WINDOWS-1252 -t UTF-8; spreadsheets save CSV as UTF-8 too.",
        ) from None
    if "\0" in text:
        raise DataError(
            "NUL byte", source=opened.label, **_line_at(data, data.index(b"\0")), remedy="Is this a file of text?"
        )
    return text


def _line_at(data: bytes, place: int) -> _Line:
    """Which line a byte stands in, and its text; bytes that are none are shown by their numbers."""
    start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
    shown = data[start : end if end >= 0 else None].decode("utf-8", "backslashreplace")
    return {"line": data.count(b"\n", 0, place) + 1, "text": shown.rstrip("\r")}


def read_toml(path: str) -> dict[str, Any]:
    """A TOML file as a dict."""
    return parsed_toml(bytes(open_source(path).data), path)


def parsed_toml(data: bytes, path: str) -> dict[str, Any]:
    """What the bytes of a TOML file say, as a dict."""
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(f"is not TOML: {reason}", source=path) from None


def _decompressed(stored: Buffer, label: str, threads: int) -> Buffer:
    if compression_of(bytes(stored[:10])) is not None:
        from cranfield.formats.members import unpacked_whole

        return unpacked_whole(stored, label, threads)
    if stored[:4] == b"PK\x03\x04" and any(name in stored[:100] for name in OFFICE):
        raise DataError("is a document of an office program", source=label, remedy="Save the sheet as CSV, in UTF-8.")
    if stored[:4] == b"PK\x03\x04":
        raise DataError("is a zip archive", source=label, remedy="Unpack it first.")
    return stored


def _text(data: Buffer, label: str) -> Buffer:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError("is UTF-16", source=label, remedy="Convert it: iconv -f UTF-16 -t UTF-8.")
    return data


def digest_meanwhile(stored: Buffer, algorithm: str | None) -> Callable[[], str | None]:
    """Starts computing a digest beside other work; the result is what calling it returns."""
    if algorithm is None:
        return lambda: None
    new_hash(algorithm)  # an unknown name is refused before anything is read
    digests: list[str] = []
    worker = threading.Thread(target=lambda: digests.append(compute_digest(stored, algorithm)))
    worker.start()

    def result() -> str:
        worker.join()
        return digests[0]

    return result


def new_hash(algorithm: str) -> Hash:
    """A hash object: xxh3_128, which costs next to nothing, or sha256 and others of hashlib."""
    if algorithm == "xxh3_128":
        import xxhash

        xxh3: Hash = xxhash.xxh3_128()
        return xxh3
    import hashlib

    known = {"blake2b", "md5", "sha1", "sha256", "sha384", "sha512"}
    if algorithm not in known:
        raise UsageError(f"unknown digest '{algorithm}'; known: xxh3_128, {', '.join(sorted(known))}")
    return hashlib.new(algorithm)


def compute_digest(stored: Buffer, algorithm: str) -> str:
    """`algorithm:hexdigits` of some bytes.

    >>> compute_digest(b"abc", "sha256")[:20]
    'sha256:ba7816bf8f01c'
    """
    made = new_hash(algorithm)
    for piece in pieces_of(stored):
        made.update(piece)
    return f"{algorithm}:{made.hexdigest()}"
