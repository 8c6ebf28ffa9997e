"""Backups, restoring them into either database, and looking whether all is well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, text

from cranfield.errors import DataError, UsageError
from cranfield.web.judging.rebuilding import from_tables
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import EventRow, ProjectRow, UserRow
from cranfield.web.upkeep import backup, examined, restore
from ponds import pond
from sites import Site


def judged_pond(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "adjudicator")
    ann = site.program("ann")
    leases = ann.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 3}).json()
    said = [
        {"pair": one["pair"], "kind": "grade", "grade": number, "key": f"k{number}"}
        for number, one in enumerate(leases)
    ]
    assert len(ann.post("/api/v1/projects/ducks/judgements", json=said).json()["saved"]) == 3


def contents(store: Store) -> tuple[object, ...]:
    with store.reading() as connection:
        project = connection.execute(select(ProjectRow.id)).scalar_one()
        events = [tuple(row) for row in connection.execute(select(EventRow).order_by(EventRow.id))]
        people = [tuple(row) for row in connection.execute(select(UserRow).order_by(UserRow.id))]
        return from_tables(connection, project), events, people


@pytest.mark.parametrize("into", ["sqlite", "postgresql"])
def test_a_backup_restores_into_either_database(
    site: Site, into: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    judged_pond(site)
    backup(site.store, site.settings.folder, tmp_path / "saved")
    address = request.getfixturevalue("cluster").new_database() if into == "postgresql" else ""
    settings = ServerSettings(folder=tmp_path / "back", database=address)
    restore(settings, tmp_path / "saved")
    store = open_folder(settings, site.store.clock)
    assert contents(store) == contents(site.store)
    # It goes on where it was: new rows get new numbers, leases and documents are there.
    again = Site(settings, store)
    ann = again.program("ann")
    topic = ann.get("/api/v1/projects/ducks/topics").json()[0]["id"]
    lease = ann.post(f"/api/v1/projects/ducks/topics/{topic}/leases", json={"count": 1}).json()[0]
    said = [{"pair": lease["pair"], "kind": "grade", "grade": 3, "key": "new"}]
    assert ann.post("/api/v1/projects/ducks/judgements", json=said).json()["saved"] == ["new"]
    assert again.visitor("ann").get(f"/p/ducks/judge/{topic}").status_code == 200
    store.close()
    assert [one.wrong for one in examined(settings) if one.wrong] == []


def test_a_backup_is_a_folder_that_can_be_served(site: Site, tmp_path: Path) -> None:
    judged_pond(site)
    backup(site.store, site.settings.folder, tmp_path / "saved")
    store = open_folder(ServerSettings(folder=tmp_path / "saved"))
    assert contents(store) == contents(site.store)
    store.close()


def test_a_backup_overwrites_nothing(site: Site, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("dear")
    with pytest.raises(UsageError, match="is there and not empty"):
        backup(site.store, site.settings.folder, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter"]


def test_a_backup_that_was_changed_is_not_restored(site: Site, tmp_path: Path) -> None:
    judged_pond(site)
    backup(site.store, site.settings.folder, tmp_path / "saved")
    documents = next((tmp_path / "saved" / "collections").rglob("*.store"))
    documents.write_bytes(documents.read_bytes()[:-1] + b"x")
    with pytest.raises(DataError, match="is missing or not as it was"):
        restore(ServerSettings(folder=tmp_path / "back"), tmp_path / "saved")
    assert not (tmp_path / "back").exists()


def test_nothing_is_restored_over_something(site: Site, tmp_path: Path) -> None:
    judged_pond(site)
    backup(site.store, site.settings.folder, tmp_path / "saved")
    site.store.close()
    with pytest.raises(UsageError, match="the database has rows already"):
        restore(site.settings, tmp_path / "saved")
    with pytest.raises(DataError, match="is no backup"):
        restore(ServerSettings(folder=tmp_path / "new"), tmp_path)


def test_what_is_not_as_it_should_be_is_told(site: Site) -> None:
    judged_pond(site)
    with site.store.writing() as connection:
        connection.execute(text("UPDATE opinion SET grade = 3 WHERE grade = 0"))
    site.store.close()
    told = {one.what: one.wrong for one in examined(site.settings)}
    assert "events say" in str(told["judgements of ducks"])
    assert told["log of who did what"] is None
    documents = site.settings.folder / "collections" / "pond" / "documents.store"
    content = documents.read_bytes()
    assert b"Swans swim" in content
    documents.write_bytes(content.replace(b"Swans swim", b"Swans swam"))
    told = {one.what: one.wrong for one in examined(replace(site.settings))}
    assert told["documents of pond"] is not None
