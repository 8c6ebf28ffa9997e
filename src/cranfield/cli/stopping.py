"""Ctrl-C and SIGTERM: what was begun is put away, and the exit code says that it was stopped, not that all is done."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

PATIENCE = 3.0  # seconds for the work to end by itself


class Stopped(BaseException):
    """Somebody wants the program to end. Not a KeyboardInterrupt, of which click would make exit code 1."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number
        self.exit_code = 128 + number


def stop_on_signals() -> None:
    """From here on, signals that ask the program to end raise `Stopped`; where that leads to nothing, it ends at once.

    The core does not look at signals while it computes: a thread waits for it, but not for long.
    """
    asked: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        if asked:  # for the second time
            end_at_once(number)
        asked.append(number)
        raise Stopped(number)

    def swallowed(unraisable: Any) -> None:
        """Where Python can't raise, in callbacks of the garbage collector or of imports, it tells and goes on."""
        if isinstance(unraisable.exc_value, Stopped):
            end_at_once(asked[0])
        sys.__unraisablehook__(unraisable)

    sys.unraisablehook = swallowed
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup, or in the background of a script
            signal.signal(number, stop)
    _watch()


def _watch() -> None:
    """Ends the program when a signal has come and the main thread is still busy some time later."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def wait() -> None:
        number = 0
        while number not in (signal.SIGINT, signal.SIGTERM):
            number = os.read(reading, 1)[0]
        threading.Event().wait(PATIENCE)
        end_at_once(number)

    threading.Thread(target=wait, daemon=True).start()


def end_at_once(number: int) -> None:
    """Removes files that are half written, and ends."""
    from cranfield.formats.output import discard_unfinished

    discard_unfinished()
    os._exit(128 + number)
