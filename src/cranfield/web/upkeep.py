"""Backups that are data folders themselves, and restoring them into either database."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, func, insert, select

from cranfield.errors import DataError, UsageError
from cranfield.web.data_folder import carried_files, digest_of
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store, open_store
from cranfield.web.store.schema import migrate, newest
from cranfield.web.store.tables import StoredTable

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
    for path in carried_files(folder):  # after the rows: what these refer to was there before them, and stays
        inside = path.relative_to(folder)
        (target / inside).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            shutil.copy2(path, target / inside)
        except FileNotFoundError:  # no row refers to what goes away: it was being made
            continue
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
