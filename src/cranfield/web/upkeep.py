"""Care for the data: backups that are data folders themselves, restoring them into either database, and looking
whether all is as it should be."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, func, insert, select, text

from cranfield.errors import CranfieldError, DataError, UsageError, plural
from cranfield.texts.document_store import DocumentStore
from cranfield.web.judging.rebuilding import differences
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import FILE, Shelf
from cranfield.web.store.audit import broken
from cranfield.web.store.engine import Store, open_store, versions
from cranfield.web.store.schema import form_of, migrate, newest
from cranfield.web.store.tables import ProjectRow, StoredTable

FOLDERS = ("collections", "runs", "releases")  # what lies beside the database and never changes
MANIFEST = "manifest.json"
ROWS = 1000  # copied at a time

Told = Callable[[str], None]


def backup(store: Store, folder: Path, target: Path, told: Told = lambda _: None) -> None:
    """Writes a copy of everything into a new folder, as it was at one moment; people may judge meanwhile.

    The copy is a data folder with SQLite, whatever the database is: it can be served as it is, or restored.
    """
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"'{target}' is there and not empty: a backup gets a new folder")
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    copy = open_store(target)
    try:
        migrate(copy)
        with store.snapshot() as source, copy.writing() as sink:
            rows = copied(source, sink)
    finally:
        copy.close()
    (target / "cranfield.lock").unlink(missing_ok=True)
    files = {}
    for name in FOLDERS:
        for path in _files(folder / name):
            inside = path.relative_to(folder)
            (target / inside).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.copy2(path, target / inside)
            files[inside.as_posix()] = digest_of(target / inside)
            told(f"copied {inside}")
    manifest = {"form": newest(), "rows": rows, "files": files}
    (target / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def restore(settings: ServerSettings, source: Path, told: Told = lambda _: None) -> None:
    """Brings a backup into an empty folder and an empty database, after looking whether it is whole."""
    manifest = source / MANIFEST
    if not manifest.is_file():
        raise DataError(f"'{source}' is no backup: it has no {MANIFEST}")
    known = json.loads(manifest.read_text(encoding="utf-8"))
    for name, digest in known["files"].items():
        path = source / name
        if not path.is_file() or digest_of(path) != digest:
            raise DataError(f"'{path}' is missing or not as it was when the backup was made")
    from cranfield.web.serving import make_private  # it opens what is restored

    make_private(settings.folder)
    store = open_store(settings.folder, settings.database)
    saved = open_store(source)
    try:
        migrate(store)
        migrate(saved)
        with saved.snapshot() as rows, store.writing() as sink:
            full = [
                table.name
                for table in StoredTable.metadata.sorted_tables
                if sink.execute(select(table).limit(1)).first()
            ]
            if full:
                raise UsageError(f"the database has rows already ({', '.join(full[:3])}): restore into an empty one")
            counts = copied(rows, sink)
        if counts != known["rows"]:
            raise DataError(f"the backup '{source}' has other rows than it says")
    finally:
        saved.close()
        store.close()
    for name in known["files"]:
        (settings.folder / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copy2(source / name, settings.folder / name)
        told(f"restored {name}")


def copied(source: Connection, sink: Connection) -> dict[str, int]:
    """Copies all rows of all tables; how many of each."""
    counts = {}
    for table in StoredTable.metadata.sorted_tables:
        counts[table.name] = 0
        order = list(table.primary_key.columns)
        for rows in source.execute(select(table).order_by(*order)).partitions(ROWS):
            sink.execute(insert(table), [row._asdict() for row in rows])
            counts[table.name] += len(rows)
        if sink.dialect.name == "postgresql" and "id" in table.c and counts[table.name]:
            last = select(func.max(table.c.id)).scalar_subquery()
            sink.execute(select(func.setval(func.pg_get_serial_sequence(f'"{table.name}"', "id"), last)))
    return counts


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Something that was looked at, and what is wrong with it; nothing where it is well."""

    what: str
    wrong: str | None = None


def examined(settings: ServerSettings) -> Iterator[Examined]:
    """Looks at everything: the database, the log, every project's judgements against their events, every document."""
    yield Examined(what=versions())
    store = open_store(settings.folder, settings.database)
    try:
        with store.reading() as connection:
            form = form_of(connection)
            yield Examined(
                what=f"form {form}", wrong=None if form == newest() else f"this version works with {newest()}"
            )
            if form != newest():
                return
            yield _integrity(connection)
            rows = list(broken(connection))
            wrong = f"{plural(len(rows), 'row')} were changed, the first is number {rows[0]}" if rows else None
            yield Examined(what="log of who did what", wrong=wrong)
            projects = connection.execute(select(ProjectRow.id, ProjectRow.slug, ProjectRow.collection)).all()
            for project in projects:
                unlike = differences(connection, project.id)
                wrong = f"{plural(len(unlike), 'difference')}, the first: {unlike[0]}" if unlike else None
                yield Examined(what=f"judgements of {project.slug}", wrong=wrong)
    finally:
        store.close()
    for path in sorted((Shelf(settings.folder).folder).glob(f"*/{FILE}")):
        yield _documents(path)


def _integrity(connection: Connection) -> Examined:
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT 1"))
        return Examined(what="PostgreSQL answers")
    said = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    return Examined(what="integrity of the database", wrong=None if said == "ok" else str(said))


def _documents(path: Path) -> Examined:
    what = f"documents of {path.parent.name}"
    try:
        with DocumentStore(path) as documents:
            documents.check()
    except CranfieldError as error:
        return Examined(what=what, wrong=str(error))
    return Examined(what=what)


def digest_of(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
