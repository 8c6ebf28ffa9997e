"""The pages on which people judge: the topics, and one document after another.

Every act is a form. The script of the page (judge.js) sends the same judgements as JSON, before the next document is
asked for, so that nobody waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from cranfield.judging.events import LARGEST, REASONS, View
from cranfield.judging.showing import shown
from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit
from cranfield.web.api.judging import ReadPairs, SaidJudgement
from cranfield.web.cleaning import FRAME_POLICY, cleaned_html
from cranfield.web.judging.progress import next_topic, topics_of
from cranfield.web.judging.recording import LONGEST_KEY, LONGEST_NOTE, NewJudgement
from cranfield.web.judging.sitting import (
    AHEAD,
    Card,
    TopicHere,
    cards,
    document_before_me,
    judged,
    leave,
    progress_here,
    recent,
    said_of,
    scale_of,
    set_terms,
    stay,
    topic_named,
)
from cranfield.web.judging.topic_addresses import in_address
from cranfield.web.projects.guidelines import guidelines
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.advice import topic_advice
from cranfield.web.queue.handing_out import handed_out
from cranfield.web.routes import Visiting, needs, page_router
from cranfield.web.shelf import Shelf
from cranfield.web.templating import environment, page

router = page_router()
Text = Annotated[str, Form(max_length=5000)]


@router.get("/p/{project}/judge")
@needs(Permission.JUDGE)
def topics_page(request: Request, visit: Visiting, after: str | None = None) -> Response:
    """The topics, with what is left of each; or, after one, the next in which something is left."""
    owned = ProjectOptions.from_json(visit.here.settings).owned
    with visit.store.reading() as connection:
        if after is not None:
            onward = next_topic(connection, visit.here.id, visit.person.id, after, owned=owned)
            if onward is not None:
                return RedirectResponse(f"/p/{visit.here.slug}/judge/{in_address(onward)}", 303)
        scale = scale_of(connection, visit.here.id)
        topics = topics_of(connection, visit.here.id, visit.person.id, scale.threshold)
    return page(request, "topics.html", topics=topics, owned=owned)


@router.get("/p/{project}/judge/{topic}")
@needs(Permission.JUDGE)
def judging_page(
    request: Request,
    visit: Visiting,
    topic: str,
    whole: bool = False,
    fault: Annotated[str, Field(max_length=300)] = "",
    undone: int | None = None,
) -> Response:
    """The document to judge next."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    given = handed_out(request.app.state.feeder, visit, here, AHEAD)
    made = cards(_shelf(request), visit, here, given.leases)
    with visit.store.reading() as connection:
        scale = scale_of(connection, visit.here.id)
        progress = progress_here(connection, visit, here.id, scale)
        said = recent(connection, visit, here.id)
        told = guidelines(connection, visit.here.id)
    before = said[0] if said else None
    near = bool(made and before and before.near is not None and before.near == made[0].leased.near)
    return page(
        request,
        "judge.html",
        topic=here,
        cards=[_card(card, _address(visit, here), whole=whole, near=near and card is made[0]) for card in made],
        scale=scale,
        progress=progress.line if made else replace(progress, left=0).line,
        said=[{**vars(one), "label": said_of(one, scale), "undo_key": uuid4().hex} for one in said],
        reasons=REASONS,
        key=uuid4().hex,
        whole=whole,
        waiting=given.waiting,
        guidelines=told,
        fault=FAULTS.get(fault, ""),
        undone="" if undone is None else _undone(undone, made),
        base=_address(visit, here),
    )


# What a form without script is told when its judgement was not stored; addresses carry the name, never the words.
FAULTS = {
    "not-stored": "That was not stored: somebody changed it meanwhile, or it was no longer yours to judge.",
}


def _undone(pair: int, made: Sequence[Card]) -> str:
    """What a form without script is told when something was undone."""
    if made and made[0].leased.pair == pair:
        return "Undone: this document is before you again."
    return "Undone. That document is not before you again: something else that you said of it holds."


class JudgingForm(BaseModel):
    """A judgement as a form sends it: `act` is what the button says, as grade:2, cannot:language, later or undo."""

    pair: int = Field(ge=1, le=LARGEST)
    act: str = Field(max_length=100)
    key: str = Field(min_length=1, max_length=LONGEST_KEY)
    note: str = Field(default="", max_length=LONGEST_NOTE)
    undoes: str = Field(default="", max_length=LONGEST_KEY)
    whole: bool = False

    def judgement(self) -> NewJudgement:
        """What the form says."""
        kind, _, detail = self.act.partition(":")
        said: dict[str, Any] = {"kind": kind}
        if kind == "grade":
            said["grade"] = _number(detail)
        elif kind == "cannot":
            said["reason"] = detail
        elif kind == "undo":
            said["undoes"] = self.undoes
        elif kind != "later":
            raise HTTPException(400, "a form says grade:N, cannot:REASON, later or undo")
        view: View = "whole" if self.whole else "passage"
        return NewJudgement(pair=self.pair, key=self.key, note=self.note, view=view, **said)


@router.post("/p/{project}/judge/{topic}")
@needs(Permission.JUDGE)
def judge_by_form(request: Request, visit: Visiting, topic: str, said: Annotated[JudgingForm, Form()]) -> Response:
    """Takes a judgement from a form and shows the next document."""
    with visit.store.reading() as connection:
        base = _address(visit, topic_named(connection, visit, topic))
    judgement = said.judgement()
    answer = judged(visit, [judgement])
    request.app.state.feeder.wake(answer.topics)
    if answer.refused:
        return RedirectResponse(f"{base}?fault=not-stored", 303)
    return RedirectResponse(f"{base}?undone={judgement.pair}" if judgement.kind == "undo" else base, 303)


class Sent(BaseModel):
    """What the page sends: judgements, which documents it has, and how many more it wants."""

    judgements: list[SaidJudgement] = Field(default=[], max_length=200)
    have: list[int] = Field(default=[], max_length=20)
    want: int = Field(default=2, ge=0, le=5)


@router.post("/p/{project}/judge/{topic}/judgements")
@needs(Permission.JUDGE)
def judge_by_script(request: Request, visit: Visiting, topic: str, sent: Sent) -> Response:
    """Takes judgements from the page's script; answers with the next documents."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    said = [one.judgement("page") for one in sent.judgements]
    given = handed_out(request.app.state.feeder, visit, here, sent.want, said)
    fresh = [one for one in given.leases if one.pair not in sent.have]
    made = cards(_shelf(request), visit, here, fresh)
    with visit.store.reading() as connection:
        progress = progress_here(connection, visit, here.id, scale_of(connection, visit.here.id))
    return JSONResponse(
        {
            "saved": given.answer.saved,
            "refused": [vars(one) for one in given.answer.refused],
            "cards": [_card(card, _address(visit, here)) for card in made],
            "progress": progress.line if given.leases else replace(progress, left=0).line,
            "waiting": given.waiting,
        }
    )


@router.post("/p/{project}/judge/{topic}/leave")
@needs(Permission.JUDGE)
def leave_topic(visit: Visiting, topic: str) -> Response:
    """Gives the documents back and goes to the topics."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    leave(visit, here.id)
    return RedirectResponse(f"/p/{visit.here.slug}/judge", 303)


@router.post("/p/{project}/judge/{topic}/stay")
@needs(Permission.JUDGE)
def stay_in_topic(visit: Visiting, topic: str, held: ReadPairs) -> Response:
    """Keeps the documents that somebody reads theirs."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    return JSONResponse({"kept": stay(visit, here.id, held.pairs)})


@router.post("/p/{project}/judge/{topic}/terms")
@needs(Permission.JUDGE)
def mark_terms(request: Request, visit: Visiting, topic: str, terms: Text = "") -> Response:
    """Sets the words that are marked in every document of the topic, separated by commas or lines."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    set_terms(visit, here.id, terms.replace("\n", ",").split(","))
    return RedirectResponse(_address(visit, here), 303)


@router.get("/p/{project}/judge/{topic}/advice")
@needs(Permission.JUDGE)
def advice_page(request: Request, visit: Visiting, topic: str) -> Response:
    """Whether the topic could stop: rules side by side."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    advice = topic_advice(visit, _shelf(request), request.app.state.settings.folder, here.id)
    return page(request, "advice.html", topic=here, advice=advice, words=RULES)


# What a rule of `cranfield.learning` is called on a page.
RULES = {
    "consecutive": "Documents in a row that are not relevant",
    "target test": "Test of a recall that is too low",
    "sample": "Estimate by the sample",
    "budget": "Budget",
}


@router.get("/p/{project}/judge/{topic}/documents/{pair}")
@needs(Permission.JUDGE)
def document_part(request: Request, visit: Visiting, topic: str, pair: int, part: int = 1) -> Response:
    """A part of a long document that is before somebody: a page, or for the script a piece of one."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    leased = document_before_me(visit, here.id, pair)
    document = _shelf(request).of(visit.here.collection).get(leased.document)
    seen = shown(document, here.question, here.terms, part=part)
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"html": environment().get_template("part.html").render(shown=seen)})
    return page(request, "document.html", shown=seen, pair=pair, document=leased.document, topic=here)


@router.get("/p/{project}/judge/{topic}/documents/{pair}/page")
@needs(Permission.JUDGE)
def document_frame(request: Request, visit: Visiting, topic: str, pair: int, part: int = 1) -> Response:
    """A document that is HTML, cleaned, for a frame in which nothing runs."""
    with visit.store.reading() as connection:
        here = topic_named(connection, visit, topic)
    leased = document_before_me(visit, here.id, pair)
    document = _shelf(request).of(visit.here.collection).get(leased.document)
    if not document.html:
        raise HTTPException(404)
    return HTMLResponse(cleaned_html(document.text, part), headers={"content-security-policy": FRAME_POLICY})


def _card(card: Card, address: str, *, whole: bool = False, near: bool = False) -> dict[str, Any]:
    """A card as page and script have it: the same HTML, from one template, which escapes every text of others."""
    base = f"{address}/documents/{card.leased.pair}"
    text = environment().get_template("card.html").render(card=card, whole=whole, near=near, base=base)
    return {"pair": card.leased.pair, "document": card.leased.document, "near": card.leased.near, "html": text}


def _address(visit: Visit, here: TopicHere) -> str:
    return f"/p/{visit.here.slug}/judge/{in_address(here.name)}"


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise HTTPException(400, "a grade is a whole number") from None


def _shelf(request: Request) -> Shelf:
    shelf: Shelf = request.app.state.shelf
    return shelf
