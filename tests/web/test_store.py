"""The database: its form, its one writer, what cannot be changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, event, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from cranfield.errors import DataError, UsageError
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.audit import broken, note
from cranfield.web.store.engine import Store, open_store
from cranfield.web.store.schema import form_of, migrate, newest
from cranfield.web.store.tables import AuditRow, StoredTable, UserRow


def test_migrations_make_the_tables_that_the_program_knows(store: Store) -> None:
    with store.reading() as connection:
        assert form_of(connection) == newest()
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, StoredTable.metadata) == []


def test_migrating_twice_changes_nothing(store: Store) -> None:
    assert migrate(store) == (newest(), newest())


def test_a_newer_form_is_refused_in_words(store: Store) -> None:
    with store.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DataError, match="form 9999, which this version of cranfield does not know"):
        migrate(store)


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    def fail() -> None:
        with store.writing() as connection:
            connection.execute(insert(UserRow).values(name="a", folded="a", admin=False, created_at=0))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(UserRow)).scalar_one() == 0


def test_readers_do_not_write_on_sqlite(store: Store) -> None:
    if store.dialect != "sqlite":
        pytest.skip("PostgreSQL's readers are its writers")
    with pytest.raises(DBAPIError, match="readonly"), store.reading() as connection:
        connection.execute(insert(UserRow).values(name="a", folded="a", admin=False, created_at=0))


def test_writers_wait_for_each_other(store: Store) -> None:
    """Each reads a number and writes it raised: nothing gets lost, nobody is told that the database is locked."""
    with store.writing() as connection:
        connection.execute(insert(UserRow).values(name="0", folded="a", admin=False, created_at=0))

    def raise_it() -> None:
        for _ in range(10):
            with store.writing() as connection:
                number = int(connection.execute(select(UserRow.name).with_for_update()).scalar_one())
                connection.execute(text('UPDATE "user" SET name = :name'), {"name": str(number + 1)})

    threads = [threading.Thread(target=raise_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.reading() as connection:
        assert connection.execute(select(UserRow.name)).scalar_one() == "80"


def user_named(name: str) -> Callable[[Connection], str]:
    """Adds a person, and gives their name; an empty one is refused."""

    def act(connection: Connection) -> str:
        connection.execute(insert(UserRow).values(name=name, folded=name, admin=False, created_at=0))
        if not name:
            raise DataError("nobody has no name")
        return name

    return act


def all_at_once(store: Store, names: list[str]) -> dict[int, str]:
    """What came of adding people who all wait while somebody else writes, by their place: a name, or an error."""
    came: dict[int, str] = {}

    def add(place: int, name: str) -> None:
        try:
            came[place] = store.together(user_named(name))
        except (DataError, DBAPIError) as error:
            came[place] = type(error).__name__

    threads = [threading.Thread(target=add, args=named) for named in enumerate(names)]
    with store.writing():
        for thread in threads:
            thread.start()
            while store.dialect == "sqlite" and len(store._waiting) <= threads.index(thread):
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    return came


def test_who_writes_at_once_shares_a_commit_and_fails_alone(store: Store) -> None:
    commits: list[object] = []
    event.listen(store._writer, "commit", commits.append)
    came = all_at_once(store, ["ann", "", "bob", "ann", "cleo"])
    assert sorted(came.values()) == ["DataError", "IntegrityError", "ann", "bob", "cleo"]
    with store.reading() as connection:
        assert set(connection.execute(select(UserRow.name)).scalars()) == {"ann", "bob", "cleo"}
    if store.dialect == "sqlite":
        assert len(commits) == 2  # of the one who wrote before them, and of all five


def test_two_who_wait_for_each_other_both_get_their_turn(store: Store) -> None:
    """As two do who each judged a document of the topic that the other asks of."""
    for name in ("ann", "bob"):
        store.together(user_named(name))
    both_hold_one = threading.Barrier(2)
    turns: list[str] = []

    def lock(first: str, second: str) -> str:
        def act(connection: Connection) -> str:
            turns.append(first)
            for name in (first, second):
                connection.execute(select(UserRow.id).where(UserRow.name == name).with_for_update())
                if store.dialect == "postgresql" and name == first and len(turns) <= 2:
                    both_hold_one.wait(timeout=30)
            return first

        return store.together(act)

    with ThreadPoolExecutor(2) as two:
        assert sorted(two.map(lock, ["ann", "bob"], ["bob", "ann"])) == ["ann", "bob"]
    # Whoever is turned away may come back before the other goes on, and meet it again: three turns, or more.
    assert len(turns) >= 3 if store.dialect == "postgresql" else len(turns) == 2


def test_when_the_shared_commit_fails_nobody_is_told_that_it_was_stored(tmp_path: Path) -> None:
    store = open_folder(ServerSettings(folder=tmp_path / "data"))
    failing = [True]

    def fail(connection: Connection) -> None:
        if failing:
            connection.exec_driver_sql("what no database understands")

    event.listen(store._writer, "commit", fail)
    for name in ("ann", "bob"):
        with pytest.raises(DBAPIError):
            store.together(user_named(name))
    failing.clear()
    assert store.together(user_named("cleo")) == "cleo"
    with store.reading() as connection:
        assert set(connection.execute(select(UserRow.name)).scalars()) == {"cleo"}
    store.close()


@pytest.mark.parametrize("act", ["UPDATE audit SET what = 'x'", "DELETE FROM audit"])
def test_the_log_is_never_changed(store: Store, act: str) -> None:
    with store.writing() as connection:
        note(connection, 1, "began", detail="x")
    with pytest.raises(DBAPIError, match="rows of audit are never changed"), store.writing() as connection:
        connection.execute(text(act))


def test_a_change_of_the_past_shows(store: Store) -> None:
    with store.writing() as connection:
        for number in range(4):
            note(connection, number, "act", number=number)
    with store.writing() as connection:
        assert list(broken(connection)) == []
        for name in ("audit_update", "audit_delete") if store.dialect == "sqlite" else ():
            connection.execute(text(f"DROP TRIGGER {name}"))
        if store.dialect == "postgresql":
            connection.execute(text("ALTER TABLE audit DISABLE TRIGGER ALL"))
        second = connection.execute(select(AuditRow.id).order_by(AuditRow.id).offset(1).limit(1)).scalar_one()
        connection.execute(text("UPDATE audit SET what = 'another act' WHERE id = :id"), {"id": second})
        assert list(broken(connection)) == [second]
        connection.execute(text("DELETE FROM audit WHERE id = :id"), {"id": second})
        assert list(broken(connection)) == [second + 1]


def test_a_folder_with_sqlite_is_for_one_process(tmp_path: Path) -> None:
    store = open_folder(ServerSettings(folder=tmp_path))
    with pytest.raises(UsageError, match="another process uses"):
        open_store(tmp_path)
    store.close()
    open_store(tmp_path).close()


def test_the_folder_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    open_folder(ServerSettings(folder=folder)).close()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "cranfield.db").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("mysql://root@localhost/x", "--db takes postgresql://…, not mysql://…"),
        ("somewhere", "--db takes the address of a PostgreSQL database"),
    ],
)
def test_other_databases_are_refused(tmp_path: Path, address: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        open_store(tmp_path, address)


def test_sqlite_keeps_what_was_committed_even_when_the_power_goes(tmp_path: Path) -> None:
    store = open_folder(ServerSettings(folder=tmp_path))
    with store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    with store.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 0
    store.close()
