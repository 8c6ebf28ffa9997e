"""What goes on beside the main work: a library loading, a bar for inputs that take longer than a second."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield._core import Progress

PATIENCE = 1.0


@contextmanager
def watched(label: str) -> Iterator[Progress]:
    """Gives a Progress to read with, and draws it from another thread once it has taken more than a second."""
    from cranfield._core import Progress

    progress = Progress()
    if not sys.stderr.isatty():
        yield progress
        return
    finished = threading.Event()
    drawer = threading.Thread(target=_draw, args=(label, progress, finished), daemon=True)
    drawer.start()
    try:
        yield progress
    finally:
        finished.set()
        drawer.join()


@contextmanager
def loading(module: str) -> Iterator[None]:
    """Imports a module in another thread while the block runs.

    NumPy's linear algebra is told not to start threads of its own: nothing here uses it, and starting them takes
    longer than many an evaluation.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    loader = threading.Thread(target=import_module, args=(module,))
    loader.start()
    try:
        yield
    finally:
        loader.join()


def _draw(label: str, progress: Progress, finished: threading.Event) -> None:
    if finished.wait(PATIENCE):
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)
        while not finished.wait(0.1):
            bar.update(task, completed=progress.done, total=progress.total or None)
