"""Keys of whoever judges: single presses on a terminal, whose settings are restored on every way out; else lines."""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from cranfield.errors import DataError

SPACE = "space"  # how a line says a blank
# What a terminal sends for arrows and other keys that are no characters, and for a character with Alt.
_NO_CHARACTER = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|O.|.)?")


class Keys(Protocol):
    """Where keys come from; None when there are no more."""

    def key(self) -> str | None:
        """The next key, one character."""

    def line(self) -> str:
        """A line of text; empty when there is none."""

    def wrong(self, key: str) -> None:
        """Called with a key that means nothing."""


class LineKeys:
    """A key on each line of standard input, for scripts: a line that is no key is an error, not a guess."""

    def __init__(self) -> None:
        self._number, self._text = 0, ""

    def key(self) -> str | None:
        """The key on the next line that is not empty; a blank is written `space`, or as it is."""
        for line in sys.stdin:
            self._number, self._text = self._number + 1, line.rstrip("\r\n")
            if self._text == SPACE or self._text.isspace():
                return " "
            if len(self._text) > 1:
                self.wrong(self._text)
            if self._text:
                return self._text
        return None

    def line(self) -> str:
        """The next line, whatever it is."""
        self._number += 1
        return sys.stdin.readline().rstrip("\r\n")

    def wrong(self, key: str) -> None:
        raise DataError(
            "not a key",
            source="standard input",
            line=self._number,
            text=key,
            remedy="A line has one key: that of a grade, or one of those that ? lists; space is the whole document.",
        )


class TerminalKeys:
    """Single presses, without waiting for the end of a line."""

    def __init__(self, file: int) -> None:
        self._file, self._waiting = file, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def key(self) -> str | None:
        """The next key; arrows and other keys that are no characters are passed over."""
        while not self._waiting:
            pressed = os.read(self._file, 1024)
            if not pressed or pressed == b"\x04":  # Ctrl-D
                return None
            self._waiting = _NO_CHARACTER.sub("", self._decoder.decode(pressed))
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return key

    def line(self) -> str:
        """A line, with the means of the terminal to correct it."""
        self._waiting = ""
        with _settings(self._file, by_key=False):
            return os.read(self._file, 4096).decode("utf-8", "replace").rstrip("\r\n")

    def wrong(self, key: str) -> None:
        pass


@contextmanager
def opened_keys() -> Iterator[Keys]:
    """The keys of a terminal if standard input and output are one, else lines of standard input."""
    if sys.stdin is None:
        raise DataError("is closed", source="standard input")
    if not (sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        yield LineKeys()
        return
    file = sys.stdin.fileno()
    with _settings(file, by_key=True):
        yield TerminalKeys(file)


@contextmanager
def _settings(file: int, *, by_key: bool) -> Iterator[None]:
    """A terminal that gives keys as they are pressed, or lines; afterwards it is as before, whatever happens."""
    import signal
    import termios
    import tty

    before = termios.tcgetattr(file)

    def take() -> None:
        if by_key:
            tty.setcbreak(file, termios.TCSANOW)  # Ctrl-C stays what it is
        else:
            lines = termios.tcgetattr(file)
            lines[3] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(file, termios.TCSANOW, lines)

    handler = signal.signal(signal.SIGCONT, lambda *_: take())  # the shell had it while we were stopped
    try:
        take()
        yield
    finally:
        signal.signal(signal.SIGCONT, handler)
        termios.tcsetattr(file, termios.TCSANOW, before)
