"""What owners decide, for programs: options, parts, scale and guidelines."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from cranfield.judging.scale import Scale
from cranfield.web.accounts.roles import Permission
from cranfield.web.api.projects import ProjectAnswer, UploadAnswer, project_answer, upload_answer
from cranfield.web.projects.collections import PartKind
from cranfield.web.projects.guidelines import guidelines, new_guidelines
from cranfield.web.projects.making import change_ids, change_options, change_title
from cranfield.web.projects.receiving import taken
from cranfield.web.projects.scales import current_scale, new_scale, scale_version
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class ProjectChange(BaseModel):
    """What is to change; what is not said stays. Options that choose documents, and what runs call topics (`ids`:
    given, position or number), are fixed once somebody has judged."""

    model_config = {"extra": "forbid"}

    title: str | None = None
    ids: str | None = None
    options: dict[str, Any] = {}


class ScaleAnswer(BaseModel):
    """A version of the scale: grades (value, label, key, gain) and the lowest relevant one."""

    version: int
    scale: dict[str, Any]


class GuidelinesRequest(BaseModel):
    """Guidelines in Markdown."""

    model_config = {"extra": "forbid"}

    text: str


class GuidelinesAnswer(BaseModel):
    """A version of the guidelines: as written, and as HTML that is safe to show."""

    version: int
    text: str
    html: str


@router.patch("/projects/{project}")
@needs(Permission.OWN)
def change(visit: Visiting, asked: ProjectChange) -> ProjectAnswer:
    """Changes title, options and what runs call topics."""
    now, project, user = visit.store.clock(), visit.here.id, visit.person.id
    with visit.store.writing() as connection:
        if asked.options:
            change_options(connection, now, project, asked.options, user=user)
        if asked.ids is not None:
            change_ids(connection, now, project, asked.ids, user=user)
        if asked.title is not None:
            change_title(connection, now, project, asked.title, user=user)
    return project_answer(visit)


@router.put("/projects/{project}/parts/{kind}")
@needs(Permission.OWN, streams=True)
async def upload_part(request: Request, kind: PartKind, file: str = "upload") -> UploadAnswer:
    """Takes documents, topics or known judgements: the body is the file, called `file`; the query may say format, and
    of topics ids (given, position, number)."""
    return upload_answer(await taken(request, request.state.visit, kind, file))


@router.get("/projects/{project}/scale")
@needs(Permission.VIEW)
def scale(visit: Visiting, version: int | None = None) -> ScaleAnswer:
    """The scale, now or in an earlier version."""
    with visit.store.reading() as connection:
        project = visit.here.id
        shown = current_scale(connection, project) if version is None else scale_version(connection, project, version)
    if shown is None:
        raise HTTPException(404)
    return ScaleAnswer(version=shown.version, scale=dict(shown.scale.to_json()))


@router.put("/projects/{project}/scale")
@needs(Permission.OWN)
def change_scale(visit: Visiting, asked: dict[str, Any]) -> ScaleAnswer:
    """Makes a new version of the scale."""
    made = Scale.from_json(asked)
    with visit.store.writing() as connection:
        version = new_scale(connection, visit.store.clock(), visit.here.id, made, user=visit.person.id)
    return ScaleAnswer(version=version, scale=dict(made.to_json()))


@router.get("/projects/{project}/guidelines")
@needs(Permission.VIEW)
def read_guidelines(visit: Visiting, version: int | None = None) -> GuidelinesAnswer:
    """The guidelines, now or in an earlier version."""
    with visit.store.reading() as connection:
        shown = guidelines(connection, visit.here.id, version)
    if shown is None:
        raise HTTPException(404)
    return GuidelinesAnswer(version=shown.version, text=shown.text, html=shown.html)


@router.put("/projects/{project}/guidelines")
@needs(Permission.OWN)
def change_guidelines(visit: Visiting, asked: GuidelinesRequest) -> GuidelinesAnswer:
    """Makes a new version of the guidelines."""
    with visit.store.writing() as connection:
        version = new_guidelines(connection, visit.store.clock(), visit.here.id, asked.text, user=visit.person.id)
        shown = guidelines(connection, visit.here.id, version)
    assert shown is not None
    return GuidelinesAnswer(version=version, text=shown.text, html=shown.html)
