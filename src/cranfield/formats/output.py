"""Files written as a whole or not at all, compressed if their name says so."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, TypeAlias, cast

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats import touched

Where: TypeAlias = "str | os.PathLike[str] | IO[str] | IO[bytes]"


def _plain(path: str) -> io.BufferedIOBase:
    return open(path, "xb")


def _gzip(path: str) -> io.BufferedIOBase:
    import gzip

    # no name and no time in the file: the same content gives the same bytes
    return gzip.GzipFile("", "wb", 6, open(path, "xb"), mtime=0)


def _bzip2(path: str) -> io.BufferedIOBase:
    import bz2

    return bz2.open(path, "xb")


def _xz(path: str) -> io.BufferedIOBase:
    import lzma

    return lzma.open(path, "xb")


def _zstd(path: str) -> io.BufferedIOBase:
    from cranfield.formats.unpacking import zstd_module

    file: io.BufferedIOBase = zstd_module().open(path, "xb")
    return file


_OPENERS: Mapping[str, Callable[[str], io.BufferedIOBase]] = {".gz": _gzip, ".bz2": _bzip2, ".xz": _xz, ".zst": _zstd}


def save(where: Where, chunks: Iterable[str | bytes]) -> None:
    """Writes a file under another name first, so that it is there as a whole or not at all.

    '-' is standard output; an open file is written to as it is.
    """
    if not isinstance(where, str | os.PathLike):
        _write(where, chunks)
        return
    path = os.fspath(where)
    if path == "-":
        if sys.stdout is None:
            raise DataError("is closed", source="standard output")
        sys.stdout.flush()
        _write(getattr(sys.stdout, "buffer", sys.stdout), chunks)
        sys.stdout.flush()
        return
    with _told(path):
        path = os.path.realpath(path)
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or a device
            with open(path, "wb") as file:
                _write(file, chunks)
            return
    with whole_file(where) as temporary:
        _fill(temporary, path, chunks)


def save_all(files: Mapping[str, str | bytes]) -> None:
    """Writes several files, and their folders where they are not there yet: all of them or none.

    Every place is looked at and everything is written under other names before the first file takes its place.
    """
    for place in files:
        touched.writes(place)
        with _told(place):  # also that a name has a NUL in it
            pass
    made = _make_folders({os.path.dirname(os.path.realpath(place)) for place in files})
    try:
        for place in files:
            _check_writable(place)
        with ExitStack() as unfinished:
            for place, content in files.items():
                _fill(unfinished.enter_context(whole_file(place)), place, [content])
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):
                os.rmdir(folder)
        raise


def _make_folders(folders: Iterable[str]) -> list[str]:
    """Makes folders and those they are in, and gives those that were not there, the outer ones first."""
    missing: set[str] = set()
    for folder in folders:
        while not os.path.lexists(folder) and folder not in missing:
            missing.add(folder)
            folder = os.path.dirname(folder)
    for folder in sorted(missing):
        with _told(folder):
            os.makedirs(folder, exist_ok=True)
    return sorted(missing)


def _fill(temporary: str, path: str, chunks: Iterable[str | bytes]) -> None:
    """Writes the file that will have this path, compressed if that says so."""
    opener = _OPENERS.get(os.path.splitext(path)[1].lower(), _plain)
    with opener(temporary) as file:
        _write(cast("IO[bytes]", file), chunks)
        inner = getattr(file, "fileobj", None)
    if inner is not None:
        inner.close()


@contextmanager
def whole_file(where: str | os.PathLike[str]) -> Iterator[str]:
    """The path of a file to write instead, which takes the place of the other if all goes well, and else is removed."""
    place = os.fspath(where)
    touched.writes(place)
    with _told(place):
        path = os.path.realpath(place)
        temporary = _temporary(path)
        _unfinished.add(temporary)
        try:
            yield temporary
            os.replace(temporary, path)
        finally:
            _discard(temporary)
    touched.wrote(place)


# Files that are being written under another name, for whoever must end at once.
_unfinished: set[str] = set()


def discard_unfinished() -> None:
    """Removes what has been begun: the program ends here."""
    for temporary in list(_unfinished):
        _discard(temporary)


def _discard(temporary: str) -> None:
    with suppress(OSError):
        os.remove(temporary)
    _unfinished.discard(temporary)


def _temporary(path: str) -> str:
    """A name in the same folder that no other thread, process or machine uses; hidden, as nobody is to read it."""
    folder, name = os.path.split(path)
    short = os.fsdecode(os.fsencode(name)[:150])  # with the rest it is still no longer than a name may be
    return os.path.join(folder, f".{short}.{os.urandom(6).hex()}.part")


@contextmanager
def _told(place: str) -> Iterator[None]:
    """What the system refuses, in words."""
    if "\0" in place:
        raise DataError("cannot be written: a name has no NUL in it", source=shorten(place))
    try:
        yield
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", source=place) from None


def check_place(place: str | None, purpose: str) -> None:
    """That a file can be written there and is nothing that is read: an error now, rather than after hours of work.

    None and '-' are fine; `purpose` is the option that names the file.

    >>> check_place("-", "--output")
    >>> check_place("no such folder/a.run", "--output")
    Traceback (most recent call last):
    cranfield.errors.DataError: no such folder/a.run: cannot be written: there is no folder no such folder
    """
    if place is None or place == "-":
        return
    _check_writable(place)
    touched.will_write(place, purpose)


def _check_writable(place: str) -> None:
    folder = os.path.dirname(place) or "."
    if "\0" in place:
        raise DataError("cannot be written: a name has no NUL in it", source=shorten(place))
    if os.path.isdir(place):
        raise DataError("cannot be written: it is a folder", source=place)
    if not os.path.isdir(folder):
        raise DataError(f"cannot be written: there is no folder {folder}", source=place)
    if not os.access(place if os.path.exists(place) else folder, os.W_OK):
        raise DataError("cannot be written: it is not allowed", source=place)


def so_far(path: str) -> str:
    """What is in a file to which something will be added; nothing where there is none yet."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", source=path) from None


def append(path: str, text: str) -> None:
    """Adds text at the end of a file, which need not be there yet."""
    touched.writes(path)
    with _told(path), open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def _write(file: IO[Any], chunks: Iterable[str | bytes]) -> None:
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
