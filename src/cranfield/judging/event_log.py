"""Events in a file: a line of JSON each, added at the end and on the disk before anything else happens.

One process at a time writes to a log; another one is refused.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

from cranfield.errors import DataError, UsageError, shorten
from cranfield.evaluation.findings import Finding
from cranfield.formats import touched
from cranfield.formats.sources import open_source
from cranfield.judging.events import Event
from cranfield.judging.state import standing


class EventLog:
    """A log that is open for adding: `events` are those in it, `findings` what was odd about the file.

    A last line that was never finished, since the machine stopped while it was written, is cut off and told.

    >>> import tempfile
    >>> from cranfield.judging.events import moment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with EventLog(f"{folder}/ann.events") as log:
    ...         log.add(Event(topic="q", document="d", assessor="ann", kind="later", key="1", at=moment(0)))
    ...     [event.kind for event in read_events(f"{folder}/ann.events")]
    ['later']
    """

    def __init__(self, path: str) -> None:
        touched.writes(path)  # no input is it
        self.path = path
        with _told(path):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise DataError("cannot be a log: it is no file that keeps what is written", source=path)
            _lock(self._file, path)
            with _told(path):
                content = _content(self._file)
            self.events, self._size, torn = _parsed(content, path)
            self.findings: tuple[Finding, ...] = ()
            if self._size != len(content):
                with _told(path):
                    os.ftruncate(self._file, self._size)
                    os.fsync(self._file)
                message = f"the last line was never finished, and is cut off: {shorten(torn)}"
                self.findings = (Finding("torn-line", path, message),)
            elif content and not content.endswith(b"\n"):  # all of an event is there, but for the end of its line
                self._write(b"\n")
        except BaseException:
            os.close(self._file)
            raise

    def add(self, event: Event) -> None:
        """Adds an event; when this returns it is on the disk. One that the log has already changes nothing."""
        standing([*self.events, event])  # refuses what can't be added
        if any((other.assessor, other.key) == (event.assessor, event.key) for other in self.events):
            return
        self._write(event.line.encode("ascii") + b"\n")
        self.events.append(event)

    def _write(self, line: bytes) -> None:
        """All of it or nothing: what a full disk took half of is taken away again."""
        try:
            written = os.write(self._file, line)
            if written < len(line):
                raise OSError(None, "no space left")
            os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._size)
            raise DataError(
                f"cannot be written: {error.strerror or error}",
                source=self.path,
                remedy="What was judged before is in it; this judgement is not.",
            ) from None
        self._size += len(line)

    def close(self) -> None:
        """Lets others write to the log."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_events(path: str) -> list[Event]:
    """The events of a log, which may be in use; a last line that is not finished yet is no event.

    >>> read_events("no such.events")
    Traceback (most recent call last):
    cranfield.errors.DataError: no such.events: no such file
    """
    return _parsed(bytes(open_source(path).data), path)[0]


def _parsed(content: bytes, path: str) -> tuple[list[Event], int, str]:
    """Events, how many bytes of the content they are, and what stands behind them."""
    *lines, last = content.split(b"\n")
    events = [_event(line, path, number) for number, line in enumerate(lines, start=1)]
    size = len(content) - len(last)
    if last:
        try:
            events.append(_event(last, path, len(lines) + 1))
            size += len(last)
        except DataError:
            pass
    try:
        standing(events)
    except DataError as error:
        raise DataError(error.message, source=path, remedy="Somebody has changed the log by hand.") from None
    return events, size, last.decode("utf-8", "backslashreplace")


def _event(line: bytes, path: str, number: int) -> Event:
    text = line.decode("utf-8", "surrogateescape")
    try:
        return Event.from_json(json.loads(line))
    except DataError as error:
        raise DataError(error.message, source=path, line=number, text=text) from None
    except (ValueError, RecursionError):  # not JSON, or not UTF-8
        remedy = "A log has a line of JSON for each event, and is written by cranfield judge."
        raise DataError("not an event", source=path, line=number, text=text, remedy=remedy) from None


def _content(file: int) -> bytes:
    with open(file, "rb", closefd=False) as opened:
        opened.seek(0)
        return opened.read()


def _lock(file: int, path: str) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(
            f"{path} is in use: somebody else is judging with it", "Name another log, --events FILE."
        ) from None


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", source=path) from None
