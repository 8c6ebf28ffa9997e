"""Looking whether all is as it should be: the database, the log, the judgements, and every file that rows refer to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, Row, select, text

from cranfield.errors import CranfieldError, plural
from cranfield.texts.document_store import DocumentStore
from cranfield.web.data_folder import digest_of
from cranfield.web.judging.rebuilding import differences
from cranfield.web.projects.collections import DataFiles, ProjectSource
from cranfield.web.review.release_files import folder_of
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import FILE, Shelf
from cranfield.web.store.audit import broken
from cranfield.web.store.engine import open_store, versions
from cranfield.web.store.schema import form_of, newest
from cranfield.web.store.tables import DELETED, ProjectRow, ReleaseRow, RunRow

COPY = "copy it from a backup"
_PROJECTS = select(ProjectRow).where(ProjectRow.state != DELETED).order_by(ProjectRow.id)


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Something that was looked at, and what is wrong with it; nothing where it is well."""

    what: str
    wrong: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReferredFile:
    """A file that a row of the database refers to: of which kind, whose it is, and its SHA-256."""

    path: Path
    kind: str
    whose: str
    digest: str


def examined(settings: ServerSettings) -> Iterator[Examined]:
    """Looks at everything: the database, the log, every project's judgements against their events, and all files."""
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
            for project in connection.execute(_PROJECTS):
                unlike = differences(connection, project.id)
                wrong = f"{plural(len(unlike), 'difference')}, the first: {unlike[0]}" if unlike else None
                yield Examined(what=f"judgements of {project.slug}", wrong=wrong)
    finally:
        store.close()
    yield from examined_files(settings)


def examined_files(settings: ServerSettings) -> Iterator[Examined]:
    """Looks at every file that the database refers to, and at all stores of documents."""
    store = open_store(settings.folder, settings.database)
    try:
        with store.reading() as connection:
            projects = connection.execute(_PROJECTS).all()
            files = {project.slug: list(_referred(connection, settings.folder, project)) for project in projects}
    finally:
        store.close()
    for slug, referred in files.items():
        found = [Examined(what=_called(file, settings.folder), wrong=_fault(file)) for file in referred]
        yield from (one for one in found if one.wrong)
        if all(one.wrong is None for one in found):
            kinds = Counter(file.kind for file in referred)
            counted = ", ".join(plural(count, kind) for kind, count in kinds.items())
            yield Examined(what=f"files of {slug}: {counted or 'none'}")
    shelf = Shelf(settings.folder)
    named = {project.collection for project in projects if project.collection}
    for collection in sorted(named | {path.parent.name for path in shelf.folder.glob(f"*/{FILE}")}):
        yield _documents(shelf.path(collection), collection)


def _referred(connection: Connection, folder: Path, project: Row[ProjectRow]) -> Iterator[ReferredFile]:
    """The files of a project, other than its documents: uploads, runs, releases."""
    kept = DataFiles(folder).kept
    for kind, part in ProjectSource.from_json(project.source).parts.items():
        path = kept(kind, part.digest)
        yield ReferredFile(path=path, kind="upload", whose=f"{kind} of {project.slug}", digest=part.digest)
    for run in connection.execute(select(RunRow).where(RunRow.project_id == project.id).order_by(RunRow.id)):
        whose = f"run {run.name} of {project.slug}"
        yield ReferredFile(path=kept("run", run.digest), kind="run", whose=whose, digest=run.digest)
    asked = select(ReleaseRow).where(ReleaseRow.project_id == project.id).order_by(ReleaseRow.version)
    for release in connection.execute(asked):
        whose = f"release {release.version} of {project.slug}"
        for name, digest in release.provenance["files"].items():
            path = folder_of(folder, project.slug) / str(release.version) / name
            digest = digest.removeprefix("sha256:")
            yield ReferredFile(path=path, kind="release file", whose=whose, digest=digest)


def _called(file: ReferredFile, folder: Path) -> str:
    return f"{file.path.relative_to(folder).as_posix()} ({file.whose})"


def _fault(file: ReferredFile) -> str | None:
    """What is wrong with a file, and what to do."""
    try:
        digest = digest_of(file.path)
    except FileNotFoundError:
        return f"is missing: {COPY}"
    except OSError as error:
        return f"cannot be read ({error.strerror}): give the server the right to read it, or {COPY}"
    return None if digest == file.digest else f"was changed, its SHA-256 is no longer {file.digest}: {COPY}"


def _integrity(connection: Connection) -> Examined:
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT 1"))
        return Examined(what="PostgreSQL answers")
    said = connection.exec_driver_sql("PRAGMA integrity_check").scalar()
    return Examined(what="integrity of the database", wrong=None if said == "ok" else str(said))


def _documents(path: Path, collection: str) -> Examined:
    """Looks whether the documents of a collection are there, and are those whose digest it is named by."""
    what = f"documents of {collection}"
    if not path.exists():
        return Examined(what=what, wrong=f"{FILE} is missing: {COPY}")
    try:
        with DocumentStore(path) as documents:
            documents.check()
            other = documents.digest.rpartition(":")[2]
    except CranfieldError as error:
        return Examined(what=what, wrong=str(error))
    return Examined(what=what, wrong=None if other == collection else f"they are those of {other}: {COPY}")
