"""Backups, restoring them into either database, and looking whether all is well."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from cranfield.errors import DataError, UsageError
from cranfield.judging.scale import Scale
from cranfield.web.data_folder import CARRIED, FolderPart, digest_of
from cranfield.web.examining import examined
from cranfield.web.judging.rebuilding import from_tables
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import EventRow, ProjectRow, ScaleRow, UserRow
from cranfield.web.upkeep import backup, restore
from cranfield.web.working import worker
from ponds import DOCUMENTS, pond, stored
from sites import Site


def judged_pond(site: Site) -> None:
    pairs = pond(site)
    site.member("ann", "ducks", "adjudicator")
    ann = site.program("ann")
    leases = ann.post(f"/api/v1/projects/ducks/topics/{pairs['topic']}/leases", json={"count": 3}).json()["leases"]
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
    lease = ann.post(f"/api/v1/projects/ducks/topics/{topic}/leases", json={"count": 1}).json()["leases"][0]
    said = [{"pair": lease["pair"], "kind": "grade", "grade": 3, "key": "new"}]
    assert ann.post("/api/v1/projects/ducks/judgements", json=said).json()["saved"] == ["new"]
    assert again.visitor("ann").get("/p/ducks/judge/1").status_code == 200
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
    (documents,) = (site.settings.folder / "collections").glob("*/documents.store")
    content = documents.read_bytes()
    assert b"Swans swim" in content
    documents.write_bytes(content.replace(b"Swans swim", b"Swans swam"))
    told = {one.what: one.wrong for one in examined(replace(site.settings))}
    assert told[f"documents of {documents.parent.name}"] is not None


def full_folder(site: Site) -> str:
    """A project with one of everything that a folder holds; its name."""
    site.person("ada", admin=True)
    ada, url = site.program("ada"), "/api/v1/projects"
    asked = {"title": "Ducks", "options": {"method": "cal", "batch": 2}}
    slug = str(ada.post(url, json=asked).json()["slug"])
    parts = {
        "documents": "".join(json.dumps({"_id": f"d{n}", "text": f"duck {n}"}) + "\n" for n in range(5)),
        "topics": '{"_id": "1", "text": "ducks"}\n',
        "judgements": "1 0 d4 1\n",
    }
    for kind, content in parts.items():
        assert ada.put(f"{url}/{slug}/parts/{kind}?file={kind}", content=content).status_code == 200
    run = "".join(f"1 Q0 d{n} {n + 1} {-n} a\n" for n in range(5))
    assert ada.post(f"{url}/{slug}/runs", content=run).status_code == 201
    ada.post(f"{url}/{slug}/prepare")
    worker(site.settings, site.store).run_all()
    topic = ada.get(f"{url}/{slug}/topics").json()[0]["id"]
    (lease,) = ada.post(f"{url}/{slug}/topics/{topic}/leases", json={"count": 1}).json()["leases"]
    said = [{"pair": lease["pair"], "kind": "grade", "grade": 1, "key": "k"}]
    ada.post(f"{url}/{slug}/judgements", json=said)
    assert ada.post(f"{url}/{slug}/releases", json={}).status_code == 201
    return slug


def tree(folder: Path) -> dict[str, str]:
    """All files of a folder with their digests, but for the database and what a server is receiving."""
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("cranfield."))
    named = {path.relative_to(folder).as_posix(): digest_of(path) for path in paths}
    return {name: digest for name, digest in named.items() if not name.startswith(f"{FolderPart.INCOMING}/")}


def test_a_backup_carries_everything(site: Site, tmp_path: Path) -> None:
    """Every part of the folder has something in it, so a part that is new and forgotten fails here."""
    slug = full_folder(site)
    folder, saved = site.settings.folder, tmp_path / "saved"
    (folder / "incoming").mkdir(exist_ok=True)
    (folder / "incoming" / "half").write_text("on its way")
    (folder / "collections" / "0123.building").write_text("not whole")
    (folder / "releases" / slug / "0123.making").mkdir()
    (folder / "releases" / slug / "0123.making" / "qrels.txt").write_text("not whole")
    whole = {name: digest for name, digest in tree(folder).items() if "0123." not in name}
    assert {name.partition("/")[0] for name in whole} == set(CARRIED) == set(FolderPart) - {FolderPart.INCOMING}
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(FolderPart)
    assert {name.partition(".")[2] for name in whole if name.startswith("uploads/")} == {
        "documents.jsonl",
        "topics.jsonl",
        "qrels",
    }
    assert any("/features/" in name for name in whole)
    backup(site.store, folder, saved)
    assert json.loads((saved / "manifest.json").read_text())["files"] == whole
    assert {name: digest for name, digest in tree(saved).items() if name != "manifest.json"} == whole
    settings = ServerSettings(folder=tmp_path / "back")
    restore(settings, saved)
    assert tree(settings.folder) == whole
    assert [one for one in examined(settings) if one.wrong] == []


def test_what_was_restored_can_be_prepared_again(site: Site, tmp_path: Path) -> None:
    """Another project of the same uploads, not prepared yet: nothing but its uploads has its texts."""
    slug = full_folder(site)
    with site.store.writing() as connection:
        row = connection.execute(select(ProjectRow.source, ProjectRow.settings)).one()
    backup(site.store, site.settings.folder, tmp_path / "saved")
    settings = ServerSettings(folder=tmp_path / "back")
    restore(settings, tmp_path / "saved")
    shutil.rmtree(settings.folder / "collections")
    store = open_folder(settings)
    again = Site(settings, store)
    again.project("again", source=row.source, settings=row.settings, state="draft", collection="")
    again.member("ada", "again", "owner")
    ada = again.program("ada")
    run = (settings.folder / "runs").glob("*.run").__next__()
    assert ada.post("/api/v1/projects/again/runs", content=run.read_bytes()).status_code == 201
    with store.writing() as connection:
        project = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == "again")).scalar_one()
        connection.execute(insert(ScaleRow).values(project_id=project, version=1, scale=Scale.usual().to_json(), at=0))
    assert ada.post("/api/v1/projects/again/prepare").status_code == 202
    worker(settings, store).run_all()
    state = ada.get("/api/v1/projects/again").json()
    store.close()
    assert (state["state"], state["reason"]) == ("ready", None), slug


RUINS = {
    "runs/*.run": "run a of ducks",
    "uploads/*.documents.jsonl": "documents of ducks",
    "uploads/*.topics.jsonl": "topics of ducks",
    "uploads/*.qrels": "judgements of ducks",
    "releases/ducks/1/qrels.txt": "release 1 of ducks",
    "releases/ducks/1/provenance.json": "release 1 of ducks",
    "releases/ducks/1/events.jsonl": "release 1 of ducks",
}


def test_every_file_that_rows_refer_to_is_looked_at(site: Site) -> None:
    assert full_folder(site) == "ducks"
    site.store.close()
    folder = site.settings.folder
    well = list(examined(site.settings))
    assert [one for one in well if one.wrong] == []
    assert "files of ducks: 3 uploads, 1 run, 3 release files" in [one.what for one in well]
    referred = {name for name in tree(folder) if not name.startswith("collections/")}
    assert referred == {path.relative_to(folder).as_posix() for glob in RUINS for path in folder.glob(glob)}
    for glob, whose in RUINS.items():
        (path,) = folder.glob(glob)
        content, name = path.read_bytes(), path.relative_to(folder).as_posix()
        digest = digest_of(path)
        path.unlink()
        assert wrong_in(site) == [(f"{name} ({whose})", "is missing: copy it from a backup")]
        path.write_bytes(content + b"\n")
        changed = f"was changed, its SHA-256 is no longer {digest}: copy it from a backup"
        assert wrong_in(site) == [(f"{name} ({whose})", changed)]
        path.unlink()
        path.mkdir()
        ((what, why),) = wrong_in(site)
        assert (what, why) == (
            f"{name} ({whose})",
            "cannot be read (Is a directory): give the server the right to read it, or copy it from a backup",
        )
        path.rmdir()
        path.write_bytes(content)
    assert wrong_in(site) == []


def wrong_in(site: Site) -> list[tuple[str, str]]:
    return [(one.what, one.wrong) for one in examined(site.settings) if one.wrong]


def test_documents_that_lack_or_are_others_are_told(site: Site) -> None:
    judged_pond(site)
    other = stored(site.settings.folder, DOCUMENTS[:2])
    site.store.close()
    folder = site.settings.folder / "collections"
    (mine,) = (path.name for path in folder.iterdir() if path.name != other)
    shutil.copy(folder / other / "documents.store", folder / mine / "documents.store")
    assert wrong_in(site) == [(f"documents of {mine}", f"they are those of {other}: copy it from a backup")]
    (folder / mine / "documents.store").unlink()
    assert wrong_in(site) == [(f"documents of {mine}", "documents.store is missing: copy it from a backup")]
