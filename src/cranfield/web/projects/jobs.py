"""Work that a request begins and a thread ends: rows of the table `job`.

A job is enqueued in the transaction of the act that asks for it, so that neither is there without the other. A worker
claims it with a lease, which it renews as long as it lives; when it dies, the lease ends and another worker begins
anew. What a job comes to is written in the transaction in which it is marked as done, and only by the worker that still
has it: a job that is begun twice is done once.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, and_, insert, or_, select, update
from sqlalchemy.exc import DBAPIError

from cranfield.errors import CranfieldError
from cranfield.formats.touched import own_files
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import JobRow

log = logging.getLogger("cranfield.web")
TRIES = 3
LEASE = 60_000  # milliseconds; a worker that lives renews it in time
RENEWED = 15.0  # seconds between two renewals
POLL = 1.0  # seconds after which a worker looks by itself whether there is something to do
PROGRESS = 200  # characters
DIED = f"the server stopped in the middle of it {TRIES} times: its log may say why"
FAULTY = "something went wrong on the server; it is in its log"


class LostJobError(Exception):
    """The lease ended meanwhile, and another worker has the job: nothing of this one is kept."""


class Task(Protocol):
    """What a kind of job does."""

    def run(self, work: Work) -> None:
        """Does it. What comes of it is written in one transaction together with `work.done`."""
        ...

    def gave_up(self, connection: Connection, project: int | None, payload: Mapping[str, Any], reason: str) -> None:
        """Tells whoever waits for it that it failed, in the transaction that says so."""
        ...


@dataclass(frozen=True, kw_only=True)
class Work:
    """A job that a worker has claimed."""

    store: Store
    id: int
    kind: str
    project: int | None
    payload: Mapping[str, Any]
    tries: int
    worker: str

    def tell(self, progress: str) -> None:
        """Says how far it is, to those who wait; an error if it is no longer this worker's."""
        with self.store.writing() as connection:
            self.change(connection, progress=progress[:PROGRESS], until=self.store.clock() + LEASE)

    def renew(self) -> None:
        """Keeps the job for another while."""
        with self.store.writing() as connection:
            self.change(connection, until=self.store.clock() + LEASE)

    def done(self, connection: Connection) -> None:
        """Marks it as done, in the transaction of what it came to."""
        ended = self.store.clock()
        self.change(connection, state="done", progress=None, reason=None, until=None, ended_at=ended)

    def change(self, connection: Connection, **values: Any) -> None:
        own = update(JobRow).where(JobRow.id == self.id, JobRow.worker == self.worker, JobRow.state == "running")
        if connection.execute(own.values(**values)).rowcount != 1:
            raise LostJobError


def enqueue(
    connection: Connection, now: int, kind: str, *, project: int | None = None, payload: Mapping[str, Any] | None = None
) -> int:
    """Asks for a job, in the transaction of the act; gives its number."""
    values = {"kind": kind, "project_id": project, "payload": dict(payload or {}), "state": "waiting", "tries": 0}
    made = insert(JobRow).values(**values, created_at=now).returning(JobRow.id)
    return int(connection.execute(made).scalar_one())


def latest(connection: Connection, project: int, kind: str) -> Any:
    """The last job of a kind that a project had: state, progress, tries, reason; None if it had none."""
    asked = (
        select(JobRow.id, JobRow.state, JobRow.progress, JobRow.tries, JobRow.reason, JobRow.created_at)
        .where(JobRow.project_id == project, JobRow.kind == kind)
        .order_by(JobRow.id.desc())
        .limit(1)
    )
    return connection.execute(asked).first()


def claim(store: Store, worker: str, tasks: Mapping[str, Task]) -> Work | None:
    """The oldest job that nobody has, now this worker's; None if there is none. Jobs that killed their workers too
    often are given up on the way."""
    now = store.clock()
    orphaned = and_(JobRow.state == "running", JobRow.until < now)
    open_jobs = and_(or_(JobRow.state == "waiting", orphaned), JobRow.kind.in_(list(tasks)))
    with store.writing() as connection:
        given_up = connection.execute(
            update(JobRow)
            .where(open_jobs, JobRow.tries >= TRIES)
            .values(state="failed", reason=DIED, progress=None, ended_at=now)
            .returning(JobRow.kind, JobRow.project_id, JobRow.payload)
        ).all()
        for job in given_up:
            tasks[job.kind].gave_up(connection, job.project_id, job.payload, DIED)
        # On PostgreSQL workers pass over what another is just claiming; SQLite has one writer and knows no such word.
        first = select(JobRow.id).where(open_jobs, JobRow.tries < TRIES).order_by(JobRow.id).limit(1)
        claimed = connection.execute(
            update(JobRow)
            .where(JobRow.id == first.with_for_update(skip_locked=True).scalar_subquery())
            .values(state="running", worker=worker, until=now + LEASE, tries=JobRow.tries + 1)
            .returning(JobRow.id, JobRow.kind, JobRow.project_id, JobRow.payload, JobRow.tries)
        ).first()
    if claimed is None:
        return None
    return Work(
        store=store,
        id=claimed.id,
        kind=claimed.kind,
        project=claimed.project_id,
        payload=claimed.payload,
        tries=claimed.tries,
        worker=worker,
    )


def orphan_all(store: Store) -> None:
    """Ends all leases, when it is known that no worker lives: a folder with SQLite is for one process."""
    with store.writing() as connection:
        connection.execute(update(JobRow).where(JobRow.state == "running").values(until=store.clock() - 1))


class Worker:
    """A thread that does jobs, one after another. `wake` lets it look at once; by itself it looks every second. After
    each job it calls `ended`."""

    def __init__(self, store: Store, tasks: Mapping[str, Task], ended: Callable[[], None] = lambda: None) -> None:
        self.store, self.tasks, self.ended = store, tasks, ended
        self.name = secrets.token_hex(8)
        self._wanted, self._stopping = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        if self.store.dialect == "sqlite":
            orphan_all(self.store)
        self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self._wanted.set()

    def stop(self, seconds: float = 8.0) -> None:
        """Waits so long for what is under way; what is not ended then is done again by the next server."""
        self._stopping.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def run_all(self) -> int:
        """Does what there is to do, in this thread; how many jobs that were."""
        count = 0
        while not self._stopping.is_set() and (work := claim(self.store, self.name, self.tasks)) is not None:
            self._do(work)
            self.ended()
            count += 1
        return count

    def _loop(self) -> None:
        while not self._stopping.is_set():
            try:
                self.run_all()
            except DBAPIError as error:
                log.error("the database failed while looking for work: %s", type(error).__name__)
            self._wanted.wait(POLL)
            self._wanted.clear()

    def _do(self, work: Work) -> None:
        try:
            with _renewing(work), own_files():
                self.tasks[work.kind].run(work)
        except LostJobError:
            log.warning("job %d (%s) is another worker's now", work.id, work.kind)
        except CranfieldError as error:  # about the data: they will be the same next time
            self._failed(work, str(error))
        except Exception as error:
            log.error("job %d (%s) failed, try %d", work.id, work.kind, work.tries, exc_info=error)
            if work.tries >= TRIES:
                self._failed(work, FAULTY)
            else:
                with suppress(LostJobError), self.store.writing() as connection:
                    work.change(connection, state="waiting", worker=None, until=None)

    def _failed(self, work: Work, reason: str) -> None:
        ended = self.store.clock()
        with suppress(LostJobError), self.store.writing() as connection:
            work.change(connection, state="failed", reason=reason, progress=None, until=None, ended_at=ended)
            self.tasks[work.kind].gave_up(connection, work.project, work.payload, reason)


@contextmanager
def _renewing(work: Work, seconds: float = RENEWED) -> Iterator[None]:
    """Renews the lease while the work goes on, and no longer."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(seconds):
            try:
                work.renew()
            except LostJobError:
                return
            except DBAPIError:
                log.warning("the lease of job %d could not be renewed", work.id)

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
