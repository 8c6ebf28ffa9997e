"""Projects for programs: made, looked at, given runs, prepared."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel
from sqlalchemy import select
from starlette.exceptions import HTTPException

from cranfield.judging.scale import Scale
from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit
from cranfield.web.projects.collections import ProjectSource, checked_collection, checked_ids, listed_collections
from cranfield.web.projects.deleting import delete_project
from cranfield.web.projects.guidelines import USUAL
from cranfield.web.projects.making import NewProject, ask_for_preparation, create_project, remove_run, slug_of
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.projects.overview import overview, runs_of
from cranfield.web.projects.receiving import taken
from cranfield.web.review.run_files import run_download
from cranfield.web.routes import Visiting, api_router, needs
from cranfield.web.store.tables import MemberRow, ProjectRow
from cranfield.web.uploads.reading import CheckedUpload

router = api_router()


class ProjectEntry(BaseModel):
    """A project in a list."""

    slug: str
    title: str
    role: str
    state: str


class ProjectRequest(BaseModel):
    """A new project. `collection` is one that the server lists; without it documents and topics are uploaded.
    `ids` says what runs call its topics: given, position or number. `options` are those of the settings page; what is
    not said is as usual."""

    model_config = {"extra": "forbid"}

    title: str
    slug: str = ""
    collection: str | None = None
    ids: str = "given"
    options: dict[str, Any] = {}
    scale: dict[str, Any] | None = None
    guidelines: str = USUAL


class TopicAnswer(BaseModel):
    """A topic and how far it is; documents for calibration are not counted."""

    name: str
    title: str
    documents: int
    finished: int


class FindingAnswer(BaseModel):
    """What was found while the project was prepared."""

    code: str
    message: str


class ProjectAnswer(BaseModel):
    """A project as its members see it. `state` is draft, preparing (then `progress` says how far), ready or failed
    (then `reason` says why)."""

    slug: str
    title: str
    state: str
    reason: str | None
    progress: str | None
    next_step: str
    collection: str
    ids: str
    options: dict[str, Any]
    findings: list[FindingAnswer]
    people: int
    runs: int
    documents: int
    finished: int
    topics: list[TopicAnswer]


class RunAnswer(BaseModel):
    """A run of a project."""

    id: int
    name: str
    topics: int
    rows: int
    digest: str


class UploadAnswer(BaseModel):
    """A file that was read and kept, and what is odd about it."""

    name: str
    rows: int
    topics: int
    documents: int
    digest: str
    findings: list[FindingAnswer]
    more_findings: int


@router.get("/collections")
@needs(Permission.ADMIN)
def collections(request: Request) -> list[str]:
    """The collections that the operator lists, from which projects can be made."""
    return sorted(listed_collections(request.app.state.settings))


@router.get("/projects")
@needs(Permission.SIGNED_IN)
def projects(visit: Visiting) -> list[ProjectEntry]:
    """The projects of which the owner of the token is a member."""
    asked = (
        select(ProjectRow.slug, ProjectRow.title, ProjectRow.state, MemberRow.role)
        .join(MemberRow, MemberRow.project_id == ProjectRow.id)
        .where(MemberRow.user_id == visit.person.id, MemberRow.role.is_not(None))
        .order_by(ProjectRow.title)
    )
    with visit.store.reading() as connection:
        rows = connection.execute(asked).all()
    return [ProjectEntry(slug=row.slug, title=row.title, role=row.role, state=row.state) for row in rows]


@router.post("/projects", status_code=201)
@needs(Permission.ADMIN)
def make_project(request: Request, visit: Visiting, asked: ProjectRequest) -> ProjectEntry:
    """Makes a project; the owner of the token owns it."""
    named = asked.collection
    listed = None if named is None else checked_collection(request.app.state.settings, named)
    new = NewProject(
        title=asked.title,
        slug=asked.slug or slug_of(asked.title),
        options=ProjectOptions.from_json(asked.options),
        source=ProjectSource(collection=listed, ids=checked_ids(asked.ids)),
        scale=Scale.usual() if asked.scale is None else Scale.from_json(asked.scale),
        guidelines=asked.guidelines,
    )
    with visit.store.writing() as connection:
        create_project(connection, visit.store.clock(), new, owner=visit.person)
    return ProjectEntry(slug=new.slug, title=asked.title, role="owner", state="draft")


@router.get("/projects/{project}")
@needs(Permission.VIEW)
def project(visit: Visiting) -> ProjectAnswer:
    """How a project is doing."""
    return project_answer(visit)


def project_answer(visit: Visit) -> ProjectAnswer:
    with visit.store.reading() as connection:
        shown = overview(connection, visit.here.id, may_judge=visit.may(Permission.JUDGE))
        return ProjectAnswer.model_validate(shown.to_json())


@router.delete("/projects/{project}", status_code=204)
@needs(Permission.OWN)
def delete(visit: Visiting) -> Response:
    """Deletes a project in which nobody has judged; judgements, and what they are in, are never deleted."""
    with visit.store.writing() as connection:
        delete_project(connection, visit.store.clock(), visit.here.id, user=visit.person.id)
    return Response(status_code=204)


@router.post("/projects/{project}/prepare", status_code=202)
@needs(Permission.OWN)
def prepare(request: Request, visit: Visiting) -> ProjectAnswer:
    """Has the project prepared; ask for the project until its state is ready or failed."""
    with visit.store.writing() as connection:
        ask_for_preparation(connection, visit.store.clock(), visit.here.id, user=visit.person.id)
    request.app.state.worker.wake()
    return project_answer(visit)


@router.get("/projects/{project}/runs")
@needs(Permission.OWN)
def runs(visit: Visiting) -> list[RunAnswer]:
    """The runs of a project."""
    with visit.store.reading() as connection:
        listed = runs_of(connection, visit.here.id)
    return [RunAnswer(id=run.id, name=run.name, topics=run.topics, rows=run.rows, digest=run.digest) for run in listed]


@router.post("/projects/{project}/runs", status_code=201)
@needs(Permission.OWN, streams=True)
async def upload_run(request: Request, file: str = "upload") -> UploadAnswer:
    """Adds a run: the body is the file, called `file`; the query may say name and format."""
    return upload_answer(await taken(request, request.state.visit, "run", file))


@router.get("/projects/{project}/runs/{run}/file", response_class=Response)
@needs(Permission.OWN)
def run_file(request: Request, visit: Visiting, run: int) -> Response:
    """A run, as TREC text."""
    with visit.store.reading() as connection:
        return run_download(connection, request.app.state.settings.folder, visit.here.id, run)


@router.delete("/projects/{project}/runs/{run}", status_code=204)
@needs(Permission.OWN)
def delete_run(visit: Visiting, run: int) -> Response:
    """Takes a run out."""
    with visit.store.writing() as connection:
        if not remove_run(connection, visit.store.clock(), visit.here.id, run, user=visit.person.id):
            raise HTTPException(404)
    return Response(status_code=204)


def upload_answer(checked: CheckedUpload) -> UploadAnswer:
    return UploadAnswer(
        name=checked.name,
        rows=checked.rows,
        topics=checked.topics,
        documents=checked.documents,
        digest=checked.sha256,
        findings=[FindingAnswer(code=finding.code, message=finding.message) for finding in checked.findings],
        more_findings=checked.more_findings,
    )
