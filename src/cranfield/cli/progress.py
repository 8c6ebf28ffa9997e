"""What goes on beside the main work: reading while libraries load, a bar for inputs that take longer than a second,
and for whatever else takes long the seconds that it has taken."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from cranfield.cli.streams import before_writing, unguarded_error

if TYPE_CHECKING:
    from cranfield._core import Progress

Made = TypeVar("Made")
PATIENCE = 1.0
LONG = 2.0  # seconds after which any command says that it is still at work
_bars = threading.Semaphore(1)  # whoever holds it has the last line of the terminal


@contextmanager
def watched(label: str) -> Iterator[Progress]:
    """Gives a Progress to read with, and draws it from another thread once it has taken more than a second."""
    from cranfield._core import Progress, keep_freed_memory

    keep_freed_memory()  # what one run needed is about what the next one needs
    progress = Progress()
    with _drawn(label, progress):
        yield progress


class Counter:
    """Steps done, of how many."""

    def __init__(self, total: int) -> None:
        self.done, self.total = 0, total

    def step(self) -> None:
        self.done += 1


@contextmanager
def counted(label: str, total: int) -> Iterator[Counter]:
    """Gives a Counter whose `step` is called after each of `total` steps, and draws it if it takes long."""
    counter = Counter(total)
    with _drawn(label, counter):
        yield counter


@contextmanager
def _drawn(label: str, progress: Progress | Counter) -> Iterator[None]:
    """Draws on a terminal, from another thread."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    drawer = threading.Thread(target=_draw, args=(label, progress, finished), daemon=True)
    drawer.start()
    try:
        yield
    finally:
        finished.set()
        drawer.join()


@contextmanager
def read_meanwhile(read: Callable[[], Made]) -> Iterator[Callable[[], Made]]:
    """Reads in another thread while the block loads NumPy and what needs it, which takes longer than most files take to
    read. What was read, or what is wrong with it, is got by calling.

    NumPy's linear algebra is told not to start threads of its own: nothing here uses it, and starting them takes longer
    than many an evaluation.
    """
    from cranfield.formats.format import readable

    readable()  # what reads is loaded first: two threads that load would wait for each other at every file
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    made: list[Made] = []
    wrong: list[BaseException] = []

    def done() -> None:
        try:
            made.append(read())
        except BaseException as error:
            wrong.append(error)

    worker = threading.Thread(target=done)
    worker.start()

    def result() -> Made:
        worker.join()
        if wrong:
            raise wrong[0]
        return made[0]

    yield result
    worker.join()  # an error, or who wants to stop, does not wait for it: the command is over


def _draw(label: str, progress: Progress | Counter, finished: threading.Event) -> None:
    if finished.wait(PATIENCE):
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    amount = MofNCompleteColumn() if isinstance(progress, Counter) else DownloadColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with _bars, Bar(*columns, console=Console(file=unguarded_error()), transient=True) as bar:
        task = bar.add_task(label, total=None)
        while not finished.wait(0.1):
            bar.update(task, completed=progress.done, total=progress.total or None)


@contextmanager
def seconds_told(command: str) -> Iterator[None]:
    """On a terminal, counts the seconds of a command that takes long, unless a bar is drawn; until it prints."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    teller = threading.Thread(target=_tell_seconds, args=(command, finished), daemon=True)

    def stop() -> None:
        finished.set()
        if teller is not threading.current_thread():
            teller.join()

    teller.start()
    try:
        with before_writing(stop):
            yield
    finally:
        stop()


def _tell_seconds(command: str, finished: threading.Event) -> None:
    begun = time.monotonic()
    terminal = unguarded_error()
    pause = LONG
    while not finished.wait(pause):
        pause = 1.0
        if not _bars.acquire(blocking=False):
            continue  # a bar says more
        try:
            terminal.write(f"\r{command}: {time.monotonic() - begun:.0f} s …")
            terminal.flush()
            finished.wait(pause)
            terminal.write("\r\x1b[K")
            terminal.flush()
        finally:
            _bars.release()
        pause = 0.0
