"""What the owner of a project decides: its title, options, scale, guidelines, and the files it is made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from cranfield.errors import CranfieldError
from cranfield.judging.scale import Scale
from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit
from cranfield.web.cleaning import guideline_html
from cranfield.web.projects.collections import PARTS
from cranfield.web.projects.guidelines import guideline_versions, guidelines, new_guidelines
from cranfield.web.projects.making import change_ids, change_options, change_title, has_begun
from cranfield.web.projects.options import WORDS, method_choices, options_of_form, plan_text
from cranfield.web.projects.overview import overview
from cranfield.web.projects.receiving import taken
from cranfield.web.projects.scales import current_scale, new_scale
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page
from cranfield.web.uploads.refusal import refused

router = page_router()
Long = Annotated[str, Form(max_length=400_000)]
MOST_GRADES = 12
BY_METHOD = ("sample", "batch")  # options that go by the method
CLEARED = ("budget", "strata", "plan", "batch")  # options that an empty field takes away


@router.get("/p/{project}/settings")
@needs(Permission.OWN)
def settings_page(request: Request, visit: Visiting) -> Response:
    """Everything that the owner decides."""
    return shown_settings(request, visit, saved="saved" in request.query_params)


async def sent_form(request: Request) -> dict[str, str]:
    """The fields as they were sent: an empty one takes an option away, one that is not sent leaves it."""
    return {name: str(value) for name, value in (await request.form()).items()}


@router.post("/p/{project}/settings")
@needs(Permission.OWN)
def change_settings(request: Request, visit: Visiting, sent: Annotated[dict[str, str], Depends(sent_form)]) -> Response:
    """Changes title and options."""
    form = {"owned": "", **sent}  # a box that is not ticked is not sent
    return _answered(request, visit, _changed(visit, form), form=form)


def _changed(visit: Visit, form: Mapping[str, str]) -> str | None:
    """What is wrong with it, if anything."""
    now, project, user = visit.store.clock(), visit.here.id, visit.person.id
    try:
        with visit.store.writing() as connection:
            said: dict[str, Any] = options_of_form(form)
            said |= {name: None for name in CLEARED if name in form and not form[name].strip()}
            before = visit.here.settings
            if said.get("method", before.get("method")) != before.get("method"):  # what it was is not meant for another
                said = {name: said[name] for name in said if name not in BY_METHOD or said[name] != before.get(name)}
            change_options(connection, now, project, said, user=user)
            if "ids" in form:
                change_ids(connection, now, project, form["ids"], user=user)
            if form.get("title", visit.here.title) != visit.here.title:
                change_title(connection, now, project, form["title"], user=user)
    except CranfieldError as error:
        return str(error)
    return None


class ScaleForm(BaseModel):
    """A column of fields for each part of a grade."""

    value: list[str] = []
    label: list[str] = []
    key: list[str] = []
    gain: list[str] = []
    threshold: str = ""


@router.post("/p/{project}/settings/scale")
@needs(Permission.OWN)
def change_scale(request: Request, visit: Visiting, sent: Annotated[ScaleForm, Form()]) -> Response:
    """Makes a new version of the scale; rows without anything in them are left out."""
    try:
        scale = scale_of_form(sent)
        with visit.store.writing() as connection:
            new_scale(connection, visit.store.clock(), visit.here.id, scale, user=visit.person.id)
    except CranfieldError as error:
        return _answered(request, visit, str(error))
    return _answered(request, visit, None)


def scale_of_form(form: ScaleForm) -> Scale:
    """The scale that a form says.

    >>> fields = {"value": ["0", "1", ""], "label": ["no", "yes", ""], "key": ["0", "1", ""], "gain": ["0", "1", ""]}
    >>> scale_of_form(ScaleForm(**fields, threshold="1")).values
    (0, 1)
    """
    columns = zip(form.value, form.label, form.key, form.gain, strict=False)
    rows = [row for row in columns if any(part.strip() for part in row)]
    grades = [
        {"value": _number(value), "label": label.strip(), "key": key.strip(), "gain": _number(gain)}
        for value, label, key, gain in rows[:MOST_GRADES]
    ]
    return Scale.from_json({"grades": grades, "threshold": _number(form.threshold)})


def _number(text: str) -> int | float | str:
    from cranfield.numerals import decimal, whole

    number = whole(text.strip())
    value = decimal(text.strip()) if number is None else number
    return text if value is None else value


@router.post("/p/{project}/settings/guidelines")
@needs(Permission.OWN)
def change_guidelines(request: Request, visit: Visiting, text: Long = "", act: Long = "save") -> Response:
    """Keeps a new version of the guidelines, or shows what they would look like."""
    try:
        if act == "preview":
            return shown_settings(request, visit, text=text, preview=guideline_html(text))
        with visit.store.writing() as connection:
            new_guidelines(connection, visit.store.clock(), visit.here.id, text, user=visit.person.id)
    except CranfieldError as error:
        return shown_settings(request, visit, text=text, message=str(error), status=400)
    return _answered(request, visit, None)


@router.post("/p/{project}/parts/{kind}")
@needs(Permission.OWN, streams=True)
async def upload_part(request: Request, kind: str) -> Response:
    """Takes documents, topics or known judgements."""
    visit = request.state.visit
    if kind not in PARTS:
        raise HTTPException(404)
    try:
        await taken(request, visit, kind)
    except CranfieldError as error:
        return refused(error, await run_in_threadpool(shown_settings, request, visit, message=str(error)))
    return _answered(request, visit, None)


def _answered(request: Request, visit: Visit, message: str | None, form: Mapping[str, str] | None = None) -> Response:
    if message is None:
        return RedirectResponse(f"/p/{visit.here.slug}/settings?saved", 303)
    return shown_settings(request, visit, message=message, status=400, form=form)


def shown_settings(
    request: Request,
    visit: Visit,
    *,
    message: str | None = None,
    status: int = 200,
    text: str | None = None,
    preview: str | None = None,
    form: Mapping[str, str] | None = None,
    saved: bool = False,
) -> Response:
    with visit.store.reading() as connection:
        project = overview(connection, visit.here.id)
        scale = current_scale(connection, visit.here.id)
        now = guidelines(connection, visit.here.id)
        versions = guideline_versions(connection, visit.here.id)
        begun = has_begun(connection, visit.here.id)
    options = {name: "" if value is None else str(value) for name, value in project.options.to_json().items()}
    options["plan"] = plan_text(project.options.plan)
    return page(
        request,
        "settings.html",
        status=status,
        message=message,
        project=project,
        title=(form or {}).get("title", project.title),
        ids=(form or {}).get("ids", project.source.ids),
        options=options | {name: value for name, value in (form or {}).items() if name in options},
        owned=project.options.owned,
        begun=begun,
        saved=saved,
        changeable=project.options.changeable if begun else frozenset(WORDS),
        words=WORDS,
        methods=method_choices(),
        scale=scale,
        text=text if text is not None else now.text if now else "",
        preview=preview,
        versions=versions,
        parts=PARTS,
    )
