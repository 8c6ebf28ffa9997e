"""Jobs: done once, whoever dies in the middle, and failed in words when they cannot be done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text

from cranfield.errors import DataError
from cranfield.web.projects.jobs import DIED, FAULTY, LEASE, TRIES, LostJobError, Work, Worker, claim, enqueue, latest
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import JobRow, UserRow
from sites import Site


class Naming:
    """A task that makes an account: done twice, it would make two, or fail."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault, self.given_up = fault, list[str]()

    def run(self, work: Work) -> None:
        work.tell("on the way")
        if self.fault is not None:
            raise self.fault
        with work.store.writing() as connection:
            name = work.payload["name"]
            connection.execute(insert(UserRow).values(name=name, folded=name, admin=False, created_at=0))
            work.done(connection)

    def gave_up(self, connection: Connection, project: int | None, payload: Mapping[str, Any], reason: str) -> None:
        self.given_up.append(reason)


def enqueued(store: Store, name: str = "ada") -> int:
    with store.writing() as connection:
        return enqueue(connection, store.clock(), "name", payload={"name": name})


def jobs(store: Store) -> list[tuple[str, int, str | None]]:
    with store.reading() as connection:
        asked = select(JobRow.state, JobRow.tries, JobRow.reason).order_by(JobRow.id)
        return [(row.state, row.tries, row.reason) for row in connection.execute(asked)]


def names(store: Store) -> list[str]:
    with store.reading() as connection:
        return sorted(connection.execute(select(UserRow.name)).scalars())


def test_jobs_are_done_in_their_order(store: Store) -> None:
    for name in ("ada", "bob", "cem"):
        enqueued(store, name)
    assert Worker(store, {"name": Naming()}).run_all() == 3
    assert jobs(store) == [("done", 1, None)] * 3
    assert names(store) == ["ada", "bob", "cem"]


def test_a_job_is_there_only_if_the_act_is(store: Store) -> None:
    def act() -> None:
        with store.writing() as connection:
            enqueue(connection, store.clock(), "name", payload={"name": "ada"})
            raise RuntimeError("the act failed")

    with pytest.raises(RuntimeError, match="the act failed"):
        act()
    assert jobs(store) == []


def test_a_kind_that_a_worker_does_not_know_waits(store: Store) -> None:
    with store.writing() as connection:
        enqueue(connection, store.clock(), "another", payload={})
    assert Worker(store, {"name": Naming()}).run_all() == 0
    assert jobs(store) == [("waiting", 0, None)]


def test_what_the_data_do_not_allow_is_told_at_once(store: Store) -> None:
    enqueued(store)
    task = Naming(DataError("has no topics"))
    Worker(store, {"name": task}).run_all()
    assert jobs(store) == [("failed", 1, "has no topics")]
    assert task.given_up == ["has no topics"]


def test_a_fault_of_the_server_is_tried_again_and_then_told_without_its_words(store: Store) -> None:
    enqueued(store)
    task = Naming(ZeroDivisionError("/secret/place"))
    assert Worker(store, {"name": task}).run_all() == TRIES
    assert jobs(store) == [("failed", TRIES, FAULTY)]
    assert task.given_up == [FAULTY]
    assert "secret" not in FAULTY


def test_a_worker_that_lost_its_lease_writes_nothing(store: Store, clock: Any) -> None:
    """Two workers have begun one job: only the one that has it now may end it."""
    enqueued(store)
    task = Naming()
    slow = claim(store, "slow", {"name": task})
    assert slow is not None
    assert claim(store, "quick", {"name": task}) is None, "it is claimed"
    clock.now += LEASE + 1
    quick = claim(store, "quick", {"name": task})
    assert quick is not None
    task.run(quick)
    for act in (task.run, Work.renew):
        with pytest.raises(LostJobError):
            act(slow)
    assert names(store) == ["ada"]
    assert jobs(store) == [("done", 2, None)]


def test_a_lease_that_is_renewed_does_not_end(store: Store, clock: Any) -> None:
    enqueued(store)
    work = claim(store, "slow", {"name": Naming()})
    assert work is not None
    for _ in range(3):
        clock.now += LEASE - 1
        work.renew()
    assert claim(store, "other", {"name": Naming()}) is None


def test_a_job_that_kills_its_workers_is_given_up(store: Store, clock: Any) -> None:
    enqueued(store)
    task = Naming()
    for number in range(TRIES):
        assert claim(store, f"worker {number}", {"name": task}) is not None
        clock.now += LEASE + 1
    assert claim(store, "the last", {"name": task}) is None
    assert jobs(store) == [("failed", TRIES, DIED)]
    assert task.given_up == [DIED]


def test_many_workers_do_each_job_once(store: Store) -> None:
    for number in range(24):
        enqueued(store, f"person {number:02}")
    workers = [Worker(store, {"name": Naming()}) for _ in range(6)]
    threads = [threading.Thread(target=worker.run_all) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert jobs(store) == [("done", 1, None)] * 24
    assert len(names(store)) == 24


DYING = """
import os, signal, sys
from pathlib import Path
from sqlalchemy import insert
from cranfield.web.projects.jobs import claim
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import UserRow
store = open_folder(ServerSettings(folder=Path(sys.argv[1]), database=sys.argv[2]), lambda: int(sys.argv[3]))
work = claim(store, "dying", {"name": None})
work.tell("half of it")
with store.writing() as connection:
    connection.execute(insert(UserRow).values(name="ada", folded="ada", admin=False, created_at=0))
    work.done(connection)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_job_of_a_killed_process_is_done_again_once(settings: ServerSettings, clock: Any) -> None:
    """Killed with everything written and nothing committed: nothing of it is there, and the next worker does it."""
    store = open_folder(settings, clock)
    enqueued(store)
    store.close()  # SQLite is for one process at a time
    arguments = [str(settings.folder), settings.database, str(clock.now)]
    dead = subprocess.run([sys.executable, "-c", DYING, *arguments], check=False, env=dict(os.environ))
    assert dead.returncode == -signal.SIGKILL
    store = open_folder(settings, clock)
    try:
        assert names(store) == []
        assert jobs(store) == [("running", 1, None)]
        worker = Worker(store, {"name": Naming()})
        if store.dialect == "postgresql":  # another server may have it
            assert worker.run_all() == 0
            clock.now += LEASE + 1
            worker.run_all()
        else:  # the folder is for one process, and that is dead: nobody waits for its lease
            worker.start()
            worker.wake()
            for _ in range(500):
                if jobs(store)[0][0] == "done":
                    break
                threading.Event().wait(0.01)
            worker.stop()
        assert jobs(store) == [("done", 2, None)]
        assert names(store) == ["ada"]
    finally:
        store.close()


def test_progress_is_seen_and_gone_when_it_is_done(site: Site) -> None:
    project = site.project()
    with site.store.writing() as connection:
        enqueue(connection, site.store.clock(), "name", project=project, payload={"name": "ada"})
    work = claim(site.store, "worker", {"name": Naming()})
    assert work is not None
    work.tell("comparing documents " + "x" * 1000)
    with site.store.reading() as connection:
        row = latest(connection, project, "name")
        assert (row.state, row.progress[:10], len(row.progress)) == ("running", "comparing ", 200)
        assert latest(connection, project, "another") is None
    Naming().run(work)
    with site.store.reading() as connection:
        assert latest(connection, project, "name").progress is None


def test_a_database_that_is_away_stops_no_worker(
    settings: ServerSettings, clock: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The thread looks again by itself."""
    store = open_folder(settings, clock)
    worker = Worker(store, {"name": Naming()})
    worker.start()
    with store.writing() as connection:
        connection.execute(text("ALTER TABLE job RENAME TO gone"))
    for _ in range(500):
        if "failed while looking for work" in caplog.text:
            break
        worker.wake()
        threading.Event().wait(0.01)
    assert "failed while looking for work" in caplog.text
    with store.writing() as connection:
        connection.execute(text("ALTER TABLE gone RENAME TO job"))
    enqueued(store)
    for _ in range(500):
        if jobs(store)[0][0] == "done":
            break
        worker.wake()
        threading.Event().wait(0.01)
    worker.stop()
    assert jobs(store) == [("done", 1, None)]
    store.close()
