"""Files written as a whole or not at all, compressed if their name says so."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from cranfield.errors import DataError, UsageError

Where: TypeAlias = "str | os.PathLike[str] | IO[Any]"


def _plain(path: str) -> Any:
    return open(path, "xb")


def _gzip(path: str) -> Any:
    import gzip

    # no name and no time in the file: the same content gives the same bytes
    return gzip.GzipFile("", "wb", 6, open(path, "xb"), mtime=0)


def _bzip2(path: str) -> Any:
    import bz2

    return bz2.open(path, "xb")


def _xz(path: str) -> Any:
    import lzma

    return lzma.open(path, "xb")


def _zstd(path: str) -> Any:
    from cranfield.formats.sources import zstd_module

    return zstd_module().open(path, "xb")


_OPENERS: Mapping[str, Callable[[str], Any]] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz, ".zst": _zstd}


def save(where: Where, chunks: Iterable[str | bytes]) -> None:
    """Writes a file under another name first, so that it is there as a whole or not at all.

    '-' is standard output; an open file is written to as it is.
    """
    if not isinstance(where, str | os.PathLike):
        _write(where, chunks)
        return
    path = os.fspath(where)
    if path == "-":
        sys.stdout.flush()
        _write(getattr(sys.stdout, "buffer", sys.stdout), chunks)
        sys.stdout.flush()
        return
    path = os.path.realpath(path)
    try:
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or a device
            with open(path, "wb") as file:
                _write(file, chunks)
            return
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", source=os.fspath(where)) from None
    opener = _OPENERS.get(os.path.splitext(path)[1].lower(), _plain)
    with whole_file(where) as temporary:
        with opener(temporary) as file:
            _write(file, chunks)
            inner = getattr(file, "fileobj", None)
        if inner is not None:
            inner.close()


@contextmanager
def whole_file(where: str | os.PathLike[str]) -> Iterator[str]:
    """The path of a file to write instead, which takes the place of the other if all goes well, and else is removed."""
    path = os.path.realpath(where)
    temporary = f"{path}.{os.getpid()}.part"
    try:
        try:
            yield temporary
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", source=os.fspath(where)) from None


def check_place(*places: str | None) -> None:
    """That files can be written there: an error now, rather than after hours of work. None and '-' are fine.

    >>> check_place("-", None)
    >>> check_place("no such folder/a.run")
    Traceback (most recent call last):
    cranfield.errors.DataError: no such folder/a.run: cannot be written: there is no folder no such folder
    """
    for place in places:
        if place is None or place == "-":
            continue
        folder = os.path.dirname(place) or "."
        if os.path.isdir(place):
            raise DataError("cannot be written: it is a folder", source=place)
        if not os.path.isdir(folder):
            raise DataError(f"cannot be written: there is no folder {folder}", source=place)
        if not os.access(place if os.path.exists(place) else folder, os.W_OK):
            raise DataError("cannot be written: it is not allowed", source=place)


def append(path: str, text: str) -> None:
    """Adds text at the end of a file, which need not be there yet."""
    try:
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", source=path) from None


def make_folder(path: os.PathLike[str]) -> None:
    """Makes a folder, and those it is in, where they are not there yet."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", source=os.fspath(path)) from None


def _write(file: Any, chunks: Iterable[str | bytes]) -> None:
    as_text = isinstance(file, io.TextIOBase)
    for chunk in chunks:
        if as_text and isinstance(chunk, bytes):
            raise UsageError("the file must be open for bytes, not for text")
        if isinstance(chunk, str) and not as_text:
            try:
                chunk = chunk.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as error:
                broken = error.object[max(0, error.start - 20) : error.end]
                raise DataError(f"half a character in {broken!r} cannot be written") from None
        file.write(chunk)
