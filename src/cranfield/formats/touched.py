"""What one command reads and what it writes: no output may be an input, and no two outputs one file.

Files are told apart by device and inode, whatever they are called: a hard link, a symbolic link, /dev/fd/3 or another
way to a folder is the same file. Every file is opened through `sources` or `output`, which ask here before they do so;
the command line says at its start what it is going to write, so that the first reading of such a file is refused
before any work is done. Outside a command nothing is kept: a program may write a file, read it, and write it again.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO, TypeAlias

from cranfield.errors import UsageError, shorten

Identity: TypeAlias = "tuple[int, int] | str"  # device and inode; of a file that is not there yet, its path


class _Touched:
    """Files under the names that the user gave them."""

    def __init__(self) -> None:
        self.read: dict[Identity, str] = {}
        self.announced: dict[Identity, tuple[str, str]] = {}  # what will be written, and what for
        self.written: dict[Identity, str] = {}


_now: _Touched | None = None  # of the process, not of a thread: runs are read in several


@contextmanager
def one_command() -> Iterator[None]:
    """Inside, outputs and inputs are held against each other.

    >>> with one_command():
    ...     will_write("README.md", "--output")
    ...     reads("./README.md")
    Traceback (most recent call last):
    cranfield.errors.UsageError: README.md is also read (as ./README.md) and would be written over
        Nothing was changed. Name another file for the output.
    """
    global _now
    before, _now = _now, _Touched()
    standard_output = _of_stream(sys.stdout)  # a file to which the shell appends
    if standard_output is not None:
        _now.announced[standard_output] = ("standard output", "")
    try:
        yield
    finally:
        _now = before


@contextmanager
def own_files() -> Iterator[None]:
    """Inside, nothing is kept: a server reads and writes the files of its folder again and again.

    >>> with one_command():
    ...     will_write("README.md", "--output")
    ...     with own_files():
    ...         reads("README.md")
    """
    global _now
    before, _now = _now, None
    try:
        yield
    finally:
        _now = before


def will_write(place: str, purpose: str) -> None:
    """Says that a file is going to be written: it may not be read, nor be written for another purpose.

    >>> with one_command():
    ...     will_write("new.run", "--output")
    ...     will_write("./new.run", "--learnt")
    Traceback (most recent call last):
    cranfield.errors.UsageError: --output and --learnt name one file, ./new.run: give one of them another name
    """
    if _now is None or _holds_nothing(place):
        return
    identity = _identity(place)
    if identity in _now.read:
        raise _clash(place, _now.read[identity])
    _, other = _now.announced.setdefault(identity, (place, purpose))
    if other and other != purpose:
        raise UsageError(f"{other} and {purpose} name one file, {shorten(place)}: give one of them another name")


def reads(place: str) -> None:
    """Says that a file is about to be read; '-' is standard input."""
    if _now is None or (place != "-" and _holds_nothing(place)):
        return
    identity = _of_stream(sys.stdin) if place == "-" else _identity(place)
    if identity is None:
        return
    source = "standard input" if place == "-" else place
    if identity in _now.announced:
        raise _clash(_now.announced[identity][0], source)
    _now.read[identity] = source


def writes(place: str) -> None:
    """Says that a file is about to be written, announced or not."""
    if _now is None or _holds_nothing(place):
        return
    identity = _identity(place)
    if identity in _now.read:
        raise _clash(place, _now.read[identity])
    if identity in _now.written:
        raise UsageError(f"{shorten(place)} was just written, as {shorten(_now.written[identity])}: name another file")


def wrote(place: str) -> None:
    """Says that a file has been written."""
    if _now is not None and not _holds_nothing(place):
        _now.written[_identity(place)] = place


def _clash(output: str, source: str) -> UsageError:
    also = "" if source == output else f" (as {shorten(source)})"
    return UsageError(
        f"{shorten(output)} is also read{also} and would be written over",
        "Nothing was changed. Name another file for the output.",
    )


def _holds_nothing(place: str) -> bool:
    """Whether there is something else than a file there: a pipe or a terminal holds nothing that could be lost."""
    try:
        return not stat.S_ISREG(os.stat(place).st_mode)
    except (OSError, ValueError):  # it is not there, or its name has a NUL
        return False


def _identity(place: str) -> Identity:
    try:
        status = os.stat(place)
    except (OSError, ValueError):
        return place if "\0" in place else os.path.realpath(place)
    return status.st_dev, status.st_ino


def _of_stream(stream: TextIO) -> Identity | None:
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or no file behind it
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
