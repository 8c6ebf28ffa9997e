"""A project in the making: what it is made from, its runs, its options, until somebody judges in it.

Every function here is part of a transaction of its caller's. States: a draft is being put together; while it is
preparing a job works on it (`preparing.py`); then it is ready, or has failed with a reason and can be changed and
prepared again. Once somebody has judged, what is asked stays as it is.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, exists, insert, select, update

from cranfield.errors import DataError, shorten
from cranfield.judging.scale import Scale
from cranfield.tables import Run
from cranfield.texts.writing import write_run
from cranfield.web.accounts.invitations import join
from cranfield.web.accounts.people import UserAccount
from cranfield.web.projects.collections import PARTS, DataFiles, KeptPart, ProjectSource, checked_ids
from cranfield.web.projects.guidelines import USUAL, new_guidelines
from cranfield.web.projects.jobs import enqueue
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.projects.scales import new_scale
from cranfield.web.store.audit import note
from cranfield.web.store.tables import (
    EventRow,
    LeaseRow,
    PairRow,
    PostponedRow,
    ProjectRow,
    RunRow,
    ScanTermsRow,
    TopicRow,
)

PREPARE = "prepare"  # the kind of job
LONGEST_TITLE, LONGEST_RUN = 120, 100
MOST_RUNS = 1000
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, kw_only=True)
class NewProject:
    """What a project begins with; its name in addresses is made of the title where none is given."""

    title: str
    slug: str = ""
    options: ProjectOptions = field(default_factory=ProjectOptions)
    source: ProjectSource = field(default_factory=ProjectSource)
    scale: Scale = field(default_factory=Scale.usual)
    guidelines: str = USUAL


def create_project(connection: Connection, now: int, new: NewProject, *, owner: UserAccount | None) -> int:
    """Makes a draft; whoever makes it owns it."""
    title, slug = checked_title(new.title), checked_slug(new.slug or slug_of(new.title))
    if connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).first():
        raise DataError(f"there is a project '{slug}' already: choose another short name")
    user = None if owner is None else owner.id
    values = {"slug": slug, "title": title, "collection": "", "state": "draft", "created_at": now, "created_by": user}
    made = insert(ProjectRow).values(
        **values, source=new.source.to_json(), settings=new.options.to_json(), findings=[], reason=None
    )
    project = int(connection.execute(made.returning(ProjectRow.id)).scalar_one())
    note(connection, now, "project made", user=user, project=project, slug=slug)
    if owner is not None:
        join(connection, now, project, owner, "owner")
    new_scale(connection, now, project, new.scale, user=user)
    new_guidelines(connection, now, project, new.guidelines, user=user)
    return project


def checked_title(title: str) -> str:
    """A title that can be shown."""
    title = " ".join(title.split())
    if not title or len(title) > LONGEST_TITLE or not title.isprintable():
        raise DataError(f"a title has 1 to {LONGEST_TITLE} characters that can be seen")
    return title


def checked_slug(slug: str) -> str:
    """The name of a project in addresses."""
    if not _SLUG.fullmatch(slug):
        raise DataError(
            f"'{shorten(slug, 60)}' is no short name: it has up to 40 of a to z, 0 to 9 and -, which is not at an end"
        )
    return slug


def slug_of(title: str) -> str:
    """A short name from a title.

    >>> slug_of("Ducks & Geese, 2026"), slug_of("Fußgänger"), slug_of("鸭子")
    ('ducks-geese-2026', 'fu-ganger', 'project')
    """
    plain = "".join(c for c in unicodedata.normalize("NFKD", title) if not unicodedata.combining(c)).lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "project"


def change_title(connection: Connection, now: int, project: int, title: str, *, user: int | None) -> None:
    """Gives a project another title; its address stays."""
    title = checked_title(title)
    connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(title=title))
    note(connection, now, "title", user=user, project=project, title=title)


def change_options(
    connection: Connection, now: int, project: int, said: Mapping[str, Any], *, user: int | None
) -> ProjectOptions:
    """Changes options. Those that decide which documents are asked for change only as long as nobody has judged; then
    the project is a draft again."""
    row = _locked(connection, project)
    before = ProjectOptions.from_json(row.settings)
    fixed = row.state == "preparing" or has_begun(connection, project)
    after = before.changed(said, prepared=fixed)
    changes = {name: value for name, value in after.to_json().items() if value != before.to_json()[name]}
    if changes:
        if row.state == "ready" and not set(changes) <= before.changeable:
            empty(connection, project)
            connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(state="draft"))
        connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(settings=after.to_json()))
        note(connection, now, "options", user=user, project=project, **changes)
    return after


def change_ids(connection: Connection, now: int, project: int, said: str, *, user: int | None) -> None:
    """Says what runs call the topics; if that is new, the project is a draft again."""
    ids = checked_ids(said)
    if ids == ProjectSource.from_json(_locked(connection, project).source).ids:
        return
    source = replace(ProjectSource.from_json(_open(connection, project).source), ids=ids)
    connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(source=source.to_json()))
    note(connection, now, "topic ids", user=user, project=project, ids=ids)


def add_part(connection: Connection, now: int, project: int, kind: str, part: KeptPart, *, user: int | None) -> None:
    """Takes an uploaded file for the documents, the topics or the judgements that are known."""
    assert kind in PARTS
    source = ProjectSource.from_json(_open(connection, project).source)
    source = replace(source, parts={**source.parts, kind: part})
    values: dict[str, Any] = {"source": source.to_json()}
    if kind == "documents":
        values["collection"] = ""
    connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(**values))
    note(connection, now, f"{kind} added", user=user, project=project, name=part.name, digest=part.digest)


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """A run whose file is kept already."""

    name: str
    digest: str
    topics: int
    rows: int


def kept_run(run: Run, files: DataFiles) -> NewRun:
    """Keeps a run that was read here, as uploads are kept."""
    with tempfile.TemporaryDirectory(dir=files.incoming()) as folder:
        path = Path(folder) / "kept.run"
        write_run(run, path, format="trec", lossy=True)
        return NewRun(name=run.name, digest=files.keep_new("run", path), topics=len(run.topics), rows=len(run))


def add_run(connection: Connection, now: int, project: int, run: NewRun, *, user: int | None) -> int:
    """Adds a run under a name that no other run of the project has; the same file under the same name is no new one."""
    _open(connection, project)
    name = checked_run_name(run.name)
    runs = connection.execute(select(RunRow.id, RunRow.name, RunRow.digest).where(RunRow.project_id == project)).all()
    for row in runs:
        if row.name == name:
            if row.digest == run.digest:
                return int(row.id)
            raise DataError(f"there is a run '{name}' already, and this is another: name it differently")
    if len(runs) >= MOST_RUNS:
        raise DataError(f"a project has at most {MOST_RUNS} runs")
    values = {"name": name, "digest": run.digest, "topics": run.topics, "rows": run.rows, "at": now}
    made = insert(RunRow).values(project_id=project, **values).returning(RunRow.id)
    number = int(connection.execute(made).scalar_one())
    note(connection, now, "run added", user=user, project=project, name=name, digest=run.digest)
    return number


def checked_run_name(name: str) -> str:
    """A name of a run that can be shown."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_RUN or not name.isprintable():
        raise DataError(f"the name of a run has 1 to {LONGEST_RUN} characters that can be seen")
    return name


def remove_run(connection: Connection, now: int, project: int, run: int, *, user: int | None) -> bool:
    """Takes a run out of a project; whether it had it. The file stays: other projects may have it too."""
    if connection.execute(select(RunRow.id).where(RunRow.project_id == project, RunRow.id == run)).first() is None:
        return False
    _open(connection, project)
    own = delete(RunRow).where(RunRow.project_id == project, RunRow.id == run).returning(RunRow.name)
    row = connection.execute(own).first()
    if row is not None:
        note(connection, now, "run removed", user=user, project=project, name=row.name)
    return row is not None


def ask_for_preparation(connection: Connection, now: int, project: int, *, user: int | None) -> int:
    """Puts a project to work: the job's number. What it is made from is read by the job, anew each time."""
    _open(connection, project)
    connection.execute(
        update(ProjectRow)
        .where(ProjectRow.id == project)
        .values(state="preparing", reason=None, findings=[], collection="")
    )
    note(connection, now, "preparation", user=user, project=project)
    return enqueue(connection, now, PREPARE, project=project)


def has_begun(connection: Connection, project: int) -> bool:
    """Whether somebody has judged in a project."""
    return bool(connection.execute(select(exists().where(EventRow.project_id == project))).scalar())


def why_fixed(connection: Connection, project: int) -> str | None:
    """Why what a project is made from cannot change now; None if it can."""
    if has_begun(connection, project):
        return "documents of this project have been judged: what it is made from stays as it is"
    state = connection.execute(select(ProjectRow.state).where(ProjectRow.id == project)).scalar_one()
    return "the project is being prepared: wait until that is done" if state == "preparing" else None


def empty(connection: Connection, project: int) -> None:
    """Takes everything out of the queue of a project in which nobody has judged."""
    topics = select(TopicRow.id).where(TopicRow.project_id == project)
    pairs = select(PairRow.id).where(PairRow.topic_id.in_(topics))
    for table in (LeaseRow, PostponedRow):
        connection.execute(delete(table).where(table.pair_id.in_(pairs)))
    connection.execute(delete(PairRow).where(PairRow.topic_id.in_(topics)))
    connection.execute(delete(ScanTermsRow).where(ScanTermsRow.topic_id.in_(topics)))
    connection.execute(delete(TopicRow).where(TopicRow.project_id == project))


def _locked(connection: Connection, project: int) -> Any:
    return connection.execute(select(ProjectRow).where(ProjectRow.id == project).with_for_update()).one()


def _open(connection: Connection, project: int) -> Any:
    """The project, if what it is made from may change; if it was ready it is a draft again."""
    row = _locked(connection, project)
    fixed = why_fixed(connection, project)
    if fixed is not None:
        raise DataError(fixed)
    if row.state == "ready":
        empty(connection, project)
        connection.execute(update(ProjectRow).where(ProjectRow.id == project).values(state="draft"))
    return row
