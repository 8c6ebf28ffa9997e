"""Making a project, what its members see of it, and its runs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from cranfield.errors import CranfieldError, DataError
from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit
from cranfield.web.projects.collections import ProjectSource, checked_collection, checked_ids, listed_collections
from cranfield.web.projects.deleting import delete_project, why_kept
from cranfield.web.projects.guidelines import guidelines
from cranfield.web.projects.making import (
    NewProject,
    ask_for_preparation,
    create_project,
    remove_run,
    slug_of,
    why_fixed,
)
from cranfield.web.projects.options import WORDS, ProjectOptions, method_choices, options_of_form
from cranfield.web.projects.overview import overview, runs_of
from cranfield.web.projects.receiving import taken
from cranfield.web.review.run_files import run_download
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page
from cranfield.web.uploads.refusal import refused

router = page_router()
AT_FIRST = ("method", "depth", "budget", "wanted", "overlap")  # the options that a new project is asked for


@router.get("/projects/new")
@needs(Permission.ADMIN)
def new_project_page(request: Request) -> Response:
    """The form of a new project."""
    return _new_page(request, said={}, message=None)


class NewProjectForm(BaseModel):
    """The fields of the form."""

    title: str = ""
    slug: str = ""
    collection: str = ""
    ids: str = "given"
    method: str = ""
    depth: str = ""
    budget: str = ""
    wanted: str = ""
    overlap: str = ""


@router.post("/projects/new")
@needs(Permission.ADMIN)
def new_project(request: Request, visit: Visiting, sent: Annotated[NewProjectForm, Form()]) -> Response:
    """Makes a project, with its maker as owner."""
    form = sent.model_dump()
    try:
        listed = checked_collection(request.app.state.settings, sent.collection) if sent.collection else None
        options = ProjectOptions.from_json(_for_new(options_of_form(form)))
        slug = sent.slug.strip() or slug_of(sent.title)
        source = ProjectSource(collection=listed, ids=checked_ids(sent.ids))
        new = NewProject(title=sent.title, slug=slug, options=options, source=source)
        with visit.store.writing() as connection:
            create_project(connection, visit.store.clock(), new, owner=visit.person)
    except CranfieldError as error:
        return _new_page(request, said=form, message=str(error), status=400)
    return RedirectResponse(f"/p/{slug}", 303)


def _for_new(said: dict[str, Any]) -> dict[str, Any]:
    """A plan needs the names of runs, which come later: such a project begins with a pool, and is changed then."""
    if str(said.get("method", "")).startswith("plan"):
        raise DataError("a plan names the runs: begin with depth, upload them, then choose plan in the settings")
    return said


def _new_page(request: Request, *, said: dict[str, str], message: str | None, status: int = 200) -> Response:
    options = {name: str(value) for name, value in ProjectOptions().to_json().items() if value is not None}
    usual = {"title": "", "slug": "", "collection": "", "ids": "given"}
    return page(
        request,
        "project_new.html",
        status=status,
        said={**usual, **{name: options.get(name, "") for name in AT_FIRST}, **said},
        message=message,
        words=WORDS,
        names=AT_FIRST,
        methods=[choice for choice in method_choices() if choice[0] != "plan"],
        collections=sorted(listed_collections(request.app.state.settings)),
    )


@router.get("/p/{project}")
@needs(Permission.VIEW)
def project_page(request: Request, visit: Visiting) -> Response:
    """How a project is doing, for every member."""
    with visit.store.reading() as connection:
        shown = overview(connection, visit.here.id, may_judge=visit.may(Permission.JUDGE))
        return page(request, "project.html", project=shown)


@router.get("/p/{project}/guidelines")
@needs(Permission.VIEW)
def guidelines_page(request: Request, visit: Visiting, version: int | None = None) -> Response:
    """What assessors are told, now or in an earlier version."""
    with visit.store.reading() as connection:
        shown = guidelines(connection, visit.here.id, version)
    if shown is None:
        raise HTTPException(404)
    return page(request, "guidelines.html", shown=shown)


@router.get("/p/{project}/delete")
@needs(Permission.OWN)
def delete_page(request: Request, visit: Visiting) -> Response:
    """Asks whether the project is to be deleted, or says why it cannot be."""
    with visit.store.reading() as connection:
        return page(request, "project_delete.html", kept=why_kept(connection, visit.here.id))


@router.post("/p/{project}/delete")
@needs(Permission.OWN)
def delete(visit: Visiting) -> Response:
    """Deletes the project."""
    with visit.store.writing() as connection:
        delete_project(connection, visit.store.clock(), visit.here.id, user=visit.person.id)
    return RedirectResponse("/", 303)


@router.post("/p/{project}/prepare")
@needs(Permission.OWN)
def prepare(request: Request, visit: Visiting) -> Response:
    """Has the project prepared."""
    with visit.store.writing() as connection:
        ask_for_preparation(connection, visit.store.clock(), visit.here.id, user=visit.person.id)
    request.app.state.worker.wake()
    return RedirectResponse(f"/p/{visit.here.slug}", 303)


@router.get("/p/{project}/runs")
@needs(Permission.OWN)
def runs_page(request: Request, visit: Visiting) -> Response:
    """The runs from which documents are chosen."""
    return shown_runs(request, visit)


def shown_runs(request: Request, visit: Visit, *, message: str | None = None) -> Response:
    with visit.store.reading() as connection:
        project, runs = overview(connection, visit.here.id), runs_of(connection, visit.here.id)
        fixed = why_fixed(connection, visit.here.id)
    return page(request, "runs.html", project=project, runs=runs, fixed=fixed, message=message)


@router.post("/p/{project}/runs")
@needs(Permission.OWN, streams=True)
async def upload_run(request: Request) -> Response:
    """Adds a run: a form with a file, and perhaps a name."""
    visit = request.state.visit
    try:
        await taken(request, visit, "run")
    except CranfieldError as error:
        return refused(error, await run_in_threadpool(shown_runs, request, visit, message=str(error)))
    return RedirectResponse(f"/p/{visit.here.slug}/runs", 303)


@router.get("/p/{project}/runs/{run}/file")
@needs(Permission.OWN)
def run_file(request: Request, visit: Visiting, run: int) -> Response:
    """A run, as TREC text."""
    with visit.store.reading() as connection:
        return run_download(connection, request.app.state.settings.folder, visit.here.id, run)


@router.post("/p/{project}/runs/{run}/remove")
@needs(Permission.OWN)
def remove(request: Request, visit: Visiting, run: int) -> Response:
    """Takes a run out."""
    try:
        with visit.store.writing() as connection:
            if not remove_run(connection, visit.store.clock(), visit.here.id, run, user=visit.person.id):
                raise HTTPException(404)
    except CranfieldError as error:
        return refused(error, shown_runs(request, visit, message=str(error)))
    return RedirectResponse(f"/p/{visit.here.slug}/runs", 303)
