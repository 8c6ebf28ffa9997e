"""`Store`: reading and writing on SQLite or PostgreSQL.

SQLite: one process (a lock file beside the database), one writing connection behind one lock, which alone checkpoints,
and reading connections that cannot write. Versions before 3.51.3 can corrupt a database in WAL mode when two
connections write and checkpoint at an unlucky moment; so there is only ever one that does. Each commit waits for the
disk, so those who write at once share one (`together`). PostgreSQL: a small pool, since on few cores more connections
are slower, not faster; it lets commits share the disk itself.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError

from cranfield.errors import UsageError

POOL = 8  # connections to PostgreSQL, or that read from SQLite
MOST_TOGETHER = 20  # that share a transaction
TRIES, DEADLOCK = 5, "40P01"  # how often something is tried whose transaction PostgreSQL gives up, and by which sign
BUSY = 10.0  # seconds that a reader waits while the file is being recovered
Given = TypeVar("Given")


def milliseconds() -> int:
    """Now, in milliseconds of UTC."""
    return time.time_ns() // 1_000_000


class _Work(Generic[Given]):
    """Something to be done in a transaction that others may share, and what came of it."""

    def __init__(self, act: Callable[[Connection], Given]) -> None:
        self._act = act
        self._given: list[Given] = []
        self._error: BaseException | None = None
        self.done = False

    def do(self, connection: Connection) -> None:
        """Does it, or leaves no trace of it and keeps the error: what others do in the same transaction stays. When the
        database itself fails (a full disk) it may have given up the whole transaction, and so does this."""
        try:
            with connection.begin_nested():
                self._given.append(self._act(connection))
        except DBAPIError as error:
            if not isinstance(error, IntegrityError):
                raise
            self._error = error
        except Exception as error:
            self._error = error

    def fail(self, error: BaseException) -> None:
        """The transaction was given up: so was this."""
        self._error = self._error or error

    def outcome(self) -> Given:
        if self._error is not None:
            raise self._error
        return self._given[0]


class Store:
    """The database of a server. `clock` is the time that everything stored goes by.

    with store.writing() as connection: …   # one transaction, committed at the end, given up on an error
    with store.reading() as connection: …
    store.together(act)                     # act(connection), in a transaction that others may share
    """

    def __init__(self, reader: Engine, writer: Engine, clock: Callable[[], int] = milliseconds) -> None:
        self._reader, self._writer, self.clock = reader, writer, clock
        self._turn = threading.Lock()
        self._waiting: deque[_Work[Any]] = deque()
        self._lock_file: int | None = None

    @property
    def dialect(self) -> str:
        return str(self._writer.dialect.name)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with self._reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        if self.dialect == "sqlite":
            with self._turn, self._writer.begin() as connection:
                yield connection
        else:
            with self._writer.begin() as connection:
                yield connection

    def together(self, act: Callable[[Connection], Given]) -> Given:
        """What `act` gives, once it is on disk. On SQLite whoever gets the turn does what all who wait want, in one
        transaction: the disk makes sure of many as quickly as of one. What fails fails alone, unless the commit does:
        then none of it happened, and all are told.
        """
        if self.dialect != "sqlite":
            return self._in_spite_of_others(act)
        mine = _Work(act)
        self._waiting.append(mine)
        with self._turn:
            while not mine.done:
                self._do_waiting()
        return mine.outcome()

    def _in_spite_of_others(self, act: Callable[[Connection], Given]) -> Given:
        """Two who judge across topics may each hold what the other waits for. PostgreSQL gives up one of them; nothing
        of it happened, so it is done again."""
        for _ in range(TRIES - 1):
            try:
                with self.writing() as connection:
                    return act(connection)
            except OperationalError as error:
                if getattr(error.orig, "sqlstate", "") != DEADLOCK:
                    raise
        with self.writing() as connection:
            return act(connection)

    def _do_waiting(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_TOGETHER))]
        try:
            with self._writer.begin() as connection:
                for work in batch:
                    work.do(connection)
        except BaseException as error:
            for work in batch:
                work.fail(error)
        finally:
            for work in batch:
                work.done = True

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Reads that all see the same moment."""
        with self._reader.connect() as connection:
            if self.dialect == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def close(self) -> None:
        self._reader.dispose()
        self._writer.dispose()
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    def hold(self, lock: int) -> None:
        """Keeps the lock of the file until the store is closed."""
        self._lock_file = lock


def open_store(folder: Path, database: str = "", clock: Callable[[], int] = milliseconds) -> Store:
    """The store of a data folder: SQLite in it, or PostgreSQL by its address. The tables are not looked at."""
    if database:
        return _postgresql(database, clock)
    lock = _only_process(folder)
    file = folder / "cranfield.db"
    store = Store(_sqlite(file, writes=False), _sqlite(file, writes=True), clock)
    store.hold(lock)
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    with store._writer.connect() as connection:  # readers find a database in WAL mode
        connection.exec_driver_sql("SELECT 1")
    return store


def _only_process(folder: Path) -> int:
    lock = os.open(folder / "cranfield.lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise UsageError(
            f"another process uses '{folder}': a folder with SQLite is for one at a time; stop the other first, as a "
            "server is stopped by Ctrl-C or SIGTERM (projects are made and shown while it runs: cranfield project … "
            "--server URL)"
        ) from None
    return lock


def _sqlite(file: Path, *, writes: bool) -> Engine:
    engine = create_engine(
        f"sqlite:///{file}",
        pool_size=1 if writes else POOL,
        max_overflow=0 if writes else POOL * 4,
        hide_parameters=True,  # what stands in an error gets into the log
        connect_args={"check_same_thread": False, "timeout": BUSY},
    )

    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        pragmas = ["foreign_keys = ON", "temp_store = MEMORY"]
        if writes:
            pragmas += ["journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 1000"]
        else:
            pragmas += ["query_only = ON", "wal_autocheckpoint = 0"]
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", begin)
    return engine


def _postgresql(address: str, clock: Callable[[], int]) -> Store:
    try:
        url = make_url(address)
    except ArgumentError:
        raise UsageError("--db takes the address of a PostgreSQL database: postgresql://user@host/name") from None
    if url.get_backend_name() != "postgresql":
        raise UsageError(f"--db takes postgresql://…, not {url.get_backend_name()}://…; SQLite needs no --db")
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=POOL,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"options": "-c timezone=UTC -c lock_timeout=10000 -c statement_timeout=60000"},
    )
    return Store(engine, engine, clock)


def versions() -> str:
    """What the store stands on, for `serve --check`."""
    import sqlite3

    return f"SQLite {sqlite3.sqlite_version}, SQLAlchemy {sqlalchemy.__version__}"
