"""The releases of a project: a list for all members, what is missing and the making for the owner, and the files."""

from __future__ import annotations

import gzip
from typing import Annotated

from fastapi import Form, Request
from fastapi.responses import RedirectResponse, Response

from cranfield.judging.releasing import ReleasePolicy
from cranfield.web.accounts.roles import Permission
from cranfield.web.review.release_files import EVENTS, PROVENANCE, QRELS, SAMPLED
from cranfield.web.review.releases import POLICY_WORDS, file_of, make_release, preview, versions
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page

router = page_router()
LEFT_OUT = 50  # runs that a page names


@router.get("/p/{project}/releases")
@needs(Permission.VIEW)
def releases_page(request: Request, visit: Visiting) -> Response:
    """All versions, the newest first."""
    with visit.store.reading() as connection:
        known = versions(connection, visit.here.id)
    return page(request, "releases.html", releases=known, sampled=SAMPLED)


@router.get("/p/{project}/releases/new")
@needs(Permission.OWN)
def new_release_page(request: Request, visit: Visiting, policy: ReleasePolicy = "majority") -> Response:
    """What a release would be now."""
    made = preview(visit, request.app.state.settings.folder, policy)
    return page(
        request,
        "release_new.html",
        preview=made,
        late=made.late,
        policies=POLICY_WORDS,
        most=LEFT_OUT,
    )


@router.post("/p/{project}/releases")
@needs(Permission.OWN)
def make_by_form(request: Request, visit: Visiting, policy: Annotated[ReleasePolicy, Form()]) -> Response:
    """Makes a release."""
    made, _ = make_release(visit, request.app.state.settings.folder, policy)
    return RedirectResponse(f"/p/{visit.here.slug}/releases#version-{made.version}", 303)


@router.get("/p/{project}/releases/{version}/qrels")
@needs(Permission.VIEW)
def qrels_file(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements, as text."""
    return _file(request, visit, version, QRELS)


@router.get("/p/{project}/releases/{version}/qrels.gz")
@needs(Permission.VIEW)
def qrels_packed(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements, packed."""
    return _file(request, visit, version, QRELS, packed=True)


@router.get("/p/{project}/releases/{version}/sampled")
@needs(Permission.VIEW)
def sampled_file(request: Request, visit: Visiting, version: int) -> Response:
    """The judgements with the chance of each, where documents were drawn by lot."""
    return _file(request, visit, version, SAMPLED)


@router.get("/p/{project}/releases/{version}/provenance")
@needs(Permission.ADJUDICATE)
def provenance_file(request: Request, visit: Visiting, version: int) -> Response:
    """How the judgements came about: who gave which grade, so for those alone who may see others' judgements."""
    return _file(request, visit, version, PROVENANCE)


@router.get("/p/{project}/releases/{version}/events")
@needs(Permission.OWN)
def events_file(request: Request, visit: Visiting, version: int) -> Response:
    """Everything that was said, under pseudonyms, a line each."""
    return _file(request, visit, version, EVENTS)


TYPES = {".txt": "text/plain; charset=utf-8", ".json": "application/json", ".jsonl": "application/jsonl"}


def _file(request: Request, visit: Visiting, version: int, name: str, *, packed: bool = False) -> Response:
    content = file_of(visit, request.app.state.settings.folder, version, name)
    return download(content, f"{visit.here.slug}-{version}-{name}", packed=packed)


def download(content: bytes, name: str, *, packed: bool) -> Response:
    """A file for the visitor to keep; packed it is the same bytes each time."""
    type = "application/gzip" if packed else TYPES[name[name.rindex(".") :]]
    headers = {"content-disposition": f'attachment; filename="{name}{".gz" if packed else ""}"'}
    return Response(gzip.compress(content, mtime=0) if packed else content, media_type=type, headers=headers)
