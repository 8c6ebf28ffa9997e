"""The pages on which somebody decides where opinions differ. Every act is a form; keys press its buttons."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException

from cranfield.judging.events import REASONS
from cranfield.web.accounts.roles import Permission
from cranfield.web.cleaning import FRAME_POLICY, cleaned_html
from cranfield.web.judging.leasing import Leased
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import Card
from cranfield.web.review.adjudication import case_of, decide, last_verdict, late_opinions, next_case, queue, text_of
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.templating import page

router = page_router()
SHOWN = 200  # pairs of the queue on its page
FAULTS = {
    "changed": "That was not stored: something was said of this document meanwhile. Look at it again.",
    "not-stored": "That was not stored: you may not decide this document, or it was decided otherwise meanwhile.",
}


@router.get("/p/{project}/adjudicate")
@needs(Permission.ADJUDICATE)
def queue_page(request: Request, visit: Visiting) -> Response:
    """What is to be decided, and opinions that came after a verdict."""
    with visit.store.reading() as connection:
        contested = queue(connection, visit.here.id, visit.person.id)
        late = late_opinions(connection, visit.here.id)
        following = next_case(connection, visit.here.id, visit.person.id)
        last = last_verdict(connection, visit.here.id, visit.person.id)
    return page(
        request,
        "adjudications.html",
        contested=contested[:SHOWN],
        count=len(contested),
        late=late[:SHOWN],
        following=following,
        last=last,
        undo_key=uuid4().hex,
        base=f"/p/{visit.here.slug}/adjudicate",
    )


@router.get("/p/{project}/adjudicate/{pair}")
@needs(Permission.ADJUDICATE)
def case_page(
    request: Request, visit: Visiting, pair: int, fault: Annotated[str, Field(max_length=50)] = ""
) -> Response:
    """One document with everything that was said of it."""
    base = f"/p/{visit.here.slug}/adjudicate"
    with visit.store.reading() as connection:
        here = case_of(connection, visit, pair)
        last = last_verdict(connection, visit.here.id, visit.person.id)
        left = len(queue(connection, visit.here.id, visit.person.id))
    document, seen = text_of(request.app.state.shelf, visit, here)
    leased = Leased(pair=pair, topic=here.topic.id, document=here.document, repeat=False, until=0)
    card = Card(leased=leased, shown=seen, html=document.html)
    return page(
        request,
        "adjudicate.html",
        case=here,
        card=card,
        labels={grade.value: grade.label for grade in here.scale.grades},
        reasons=REASONS,
        key=uuid4().hex,
        undo_key=uuid4().hex,
        last=last,
        left=left,
        fault=FAULTS.get(fault, ""),
        base=base,
    )


@router.post("/p/{project}/adjudicate/{pair}")
@needs(Permission.ADJUDICATE)
def decide_by_form(
    visit: Visiting,
    pair: int,
    act: Annotated[str, Form(max_length=50)],
    key: Annotated[str, Form(max_length=100)],
    seen: Annotated[int, Form()] = 0,
    note: Annotated[str, Form(max_length=5000)] = "",
    undoes: Annotated[str, Form(max_length=100)] = "",
) -> Response:
    """Takes a verdict and goes on to the next document, or takes one back and stays there."""
    base = f"/p/{visit.here.slug}/adjudicate"
    said = _verdict(pair, act, key, note, undoes)
    try:
        decide(visit, said, seen or None)
    except HTTPException as error:
        if error.status_code != 409:
            raise
        fault = "changed" if "meanwhile" in str(error.detail) else "not-stored"
        return RedirectResponse(f"{base}/{pair}?fault={fault}", 303)
    if act == "undo":
        return RedirectResponse(f"{base}/{pair}", 303)
    with visit.store.reading() as connection:
        following = next_case(connection, visit.here.id, visit.person.id)
    return RedirectResponse(base if following is None else f"{base}/{following}", 303)


def _verdict(pair: int, act: str, key: str, note: str, undoes: str) -> NewJudgement:
    if act == "undo":
        return NewJudgement(pair=pair, kind="undo", key=key, undoes=undoes, view="whole")
    kind, _, detail = act.partition(":")
    said: dict[str, Any]
    if kind == "cannot" and detail in REASONS:
        said = {"reason": detail}
    elif kind == "grade" and detail.removeprefix("-").isdecimal():
        said = {"grade": int(detail)}
    else:
        raise HTTPException(400, "a form says grade:N, cannot:REASON or undo")
    return NewJudgement(pair=pair, kind="adjudicate", key=key, note=note, view="whole", **said)


@router.get("/p/{project}/adjudicate/{pair}/document")
@needs(Permission.ADJUDICATE)
def case_document(request: Request, visit: Visiting, pair: int, part: int = 1) -> Response:
    """A part of a document that somebody gave an opinion of."""
    with visit.store.reading() as connection:
        here = case_of(connection, visit, pair)
    _, seen = text_of(request.app.state.shelf, visit, here, part)
    return page(request, "document.html", shown=seen, pair=pair, document=here.document, topic=here.topic)


@router.get("/p/{project}/adjudicate/{pair}/document/page")
@needs(Permission.ADJUDICATE)
def case_frame(request: Request, visit: Visiting, pair: int, part: int = 1) -> Response:
    """A document that is HTML, cleaned, for a frame in which nothing runs."""
    with visit.store.reading() as connection:
        here = case_of(connection, visit, pair)
    document, _ = text_of(request.app.state.shelf, visit, here)
    if not document.html:
        raise HTTPException(404)
    return HTMLResponse(cleaned_html(document.text, part), headers={"content-security-policy": FRAME_POLICY})
