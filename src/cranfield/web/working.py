"""The work that goes on behind the pages: which kinds of jobs there are, and the thread that does them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cranfield.web.projects.jobs import Task, Worker
from cranfield.web.projects.making import PREPARE
from cranfield.web.projects.preparing import Preparation
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store


def tasks(settings: ServerSettings) -> Mapping[str, Task]:
    """What a worker of this server does, by kind."""
    return {PREPARE: Preparation(settings)}


def worker(settings: ServerSettings, store: Store, ended: Callable[[], None] = lambda: None) -> Worker:
    """A worker that knows every kind of job, and calls `ended` after each."""
    return Worker(store, tasks(settings), ended)
