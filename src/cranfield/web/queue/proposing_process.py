"""A proposer in a process of its own: learning never holds up a request, as it would in a thread of the same Python.

The process begins with the first thing that is asked of it, gives way to the server where cores are few, and ends with
it, however the server ends. If it is killed itself, the next question begins another.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TypeVar

from cranfield.web.queue.asked import AskedTopic
from cranfield.web.queue.proposing import AskingProject, Proposer

GIVES_WAY = 5  # by how much its priority is lower than the server's
Given = TypeVar("Given")


class ProposerProcess:
    """What `Proposer` does, elsewhere."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pool: ProcessPoolExecutor | None = None

    def warm(self, collection: str) -> None:
        self._asked(_warm, collection)

    def proposed(self, project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]:
        return self._asked(_proposed, project, topic, active)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _asked(self, act: Callable[..., Given], *given: object) -> Given:
        if self._pool is None:
            spawned = multiprocessing.get_context("spawn")  # threads of the server and its locks stay behind
            self._pool = ProcessPoolExecutor(1, spawned, initializer=_begin, initargs=(self._folder,))
        try:
            return self._pool.submit(act, *given).result()
        except BrokenProcessPool:
            self.close()
            raise


_here: list[Proposer] = []  # in the process of its own, the one that it has


def _begin(folder: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server hears it, and ends this one
    os.nice(GIVES_WAY)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    _here.append(Proposer(folder))


def _end_with_the_server() -> None:
    server = multiprocessing.parent_process()
    assert server is not None
    server.join()
    os._exit(1)


def _warm(collection: str) -> None:
    _here[0].warm(collection)


def _proposed(project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]:
    return _here[0].proposed(project, topic, active)
