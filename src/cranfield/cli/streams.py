"""What is printed, kept from steering the terminal that shows it: ids and names may hold anything.

Warnings and errors are always shown with escapes for control characters, results only on a terminal: a pipe or a file
gets what machines read (JSON, CSV, trec_eval's columns, runs) to the byte. Tables for people escape on their own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cranfield.render.escaping import visible_lines


class Guarded:
    """A stream of text, with escapes for control characters in everything that is written to it, bytes included."""

    def __init__(self, stream: Any) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Writes the text, and says that it has."""
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
        shown = visible_lines(bytes(content).decode("utf-8", "surrogateescape"))
        self.unguarded.write(shown.encode("utf-8", "surrogateescape"))
        return len(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Standard error guarded while the block runs, and standard output if it is a terminal."""
    out, err = sys.stdout, sys.stderr
    try:
        if out is not None and out.isatty():
            sys.stdout = Guarded(out)
        if err is not None:
            sys.stderr = Guarded(err)
        yield
    finally:
        sys.stdout, sys.stderr = out, err


def unguarded_error() -> Any:
    """Standard error as it is, for what moves the cursor on purpose."""
    return getattr(sys.stderr, "unguarded", sys.stderr)
