"""What is printed, kept from steering the terminal that shows it: ids and names may hold anything.

Warnings and errors are always shown with escapes for control characters, results only on a terminal: a pipe or a file
gets what machines read (JSON, CSV, trec_eval's columns, runs) to the byte. Tables for people escape on their own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cranfield.render.escaping import visible_lines
from cranfield.render.terminal import NO_TERMINAL, SEQUENCES, Terminal, coloured, wrapped, written_for


class Guarded:
    """A stream of text, with escapes for control characters in everything that is written to it, bytes included."""

    def __init__(self, stream: Any) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Writes the text, and says that it has."""
        _about_to_write()
        self.unguarded.write(visible_lines(text))
        return len(text)

    @property
    def buffer(self) -> GuardedBytes:
        """The same for bytes."""
        return GuardedBytes(self.unguarded.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


class GuardedBytes:
    """A stream of bytes, likewise."""

    def __init__(self, stream: Any) -> None:
        self.unguarded = stream

    def write(self, content: bytes) -> int:
        """Writes the bytes, and says that it has."""
        _about_to_write()
        shown = visible_lines(bytes(content).decode("utf-8", "surrogateescape"))
        self.unguarded.write(shown.encode("utf-8", "surrogateescape"))
        return len(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


_waiting: list[Callable[[], None]] = []


@contextmanager
def before_writing(call: Callable[[], None]) -> Iterator[None]:
    """Calls this once, before the first text that is written within, so that it can take its own off the terminal."""
    _waiting.append(call)
    try:
        yield
    finally:
        _waiting.clear()


def _about_to_write() -> None:
    while _waiting:
        _waiting.pop()()


@contextmanager
def guarded() -> Iterator[None]:
    """Standard error guarded while the block runs, and standard output if it is a terminal, whose width tables fit."""
    out, err = sys.stdout, sys.stderr
    try:
        if out is not None and out.isatty():
            sys.stdout = Guarded(out)
        if err is not None:
            sys.stderr = Guarded(err)
        with written_for(terminal_of(out)):
            yield
    finally:
        sys.stdout, sys.stderr = out, err


def terminal_of(stream: Any) -> Terminal:
    """What a stream is shown on. Who sets NO_COLOR, or has a terminal called dumb, gets no colours.

    A pipe is read by programs, which take a line for a warning or a row: COLUMNS is of the terminal alone.
    """
    if stream is None or not stream.isatty():
        return NO_TERMINAL
    try:
        width = os.get_terminal_size(stream.fileno()).columns
    except OSError:
        width = 0
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else width
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    return Terminal(width or None, not plain)


def show_text(text: str) -> None:
    """Writes a result to standard output: as it is into a file, with our own colours and no other on a terminal."""
    out = sys.stdout
    if out is not None:
        _write(out, text)
        out.flush()


def clear_screen() -> None:
    """An empty terminal, written to from its upper left corner; anything else is left as it is."""
    out = sys.stdout
    if isinstance(out, Guarded):
        _about_to_write()
        out.unguarded.write("\x1b[H\x1b[2J")


def tell(kind: str, text: str) -> None:
    """Says something on standard error, under the name of its kind: an error, a warning or a note."""
    if sys.stderr is None:
        return
    style = {"warning": "doubtful", "note": "note", "error": "bad"}[kind]
    where = terminal_of(unguarded_error())
    said = wrapped(f"cranfield: {kind}: {text}", where).replace(f"{kind}:", coloured(f"{kind}:", style, where), 1)
    _write(sys.stderr, f"{said}\n")


def _write(stream: Any, text: str) -> None:
    """A stream that is guarded takes our own sequences as they are; whatever else looks like one has an escape."""
    if not isinstance(stream, Guarded):
        stream.write(text)
        return
    _about_to_write()
    for part in re.split("(" + "|".join(map(re.escape, SEQUENCES)) + ")", text):
        (stream.unguarded if part in SEQUENCES else stream).write(part)


def unguarded_error() -> Any:
    """Standard error as it is, for what moves the cursor on purpose."""
    return getattr(sys.stderr, "unguarded", sys.stderr)
