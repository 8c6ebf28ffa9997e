"""Agreement, adjudication and own judgements for programs: the records of `web/review` as they are."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import BaseModel, Field

from cranfield.judging.events import Reason
from cranfield.web.accounts.roles import Permission
from cranfield.web.api.judging import LARGEST, Document
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import topic_here
from cranfield.web.review.adjudication import (
    Contested,
    LateOpinion,
    NewVerdict,
    Voice,
    case_of,
    decide,
    late_opinions,
    queue,
    text_of,
)
from cranfield.web.review.agreement import (
    SystemOrders,
    Told,
    ToldDisagreement,
    ToldSelf,
    ToldTopic,
    agreement_of,
    system_orders,
)
from cranfield.web.review.history import OwnOpinion, own_opinions
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class AgreementAnswer(BaseModel):
    """How far assessors agree. `table` counts two assessors who gave one document two grades, the lower one first."""

    summary: str
    assessors: list[str]
    shared: int
    agreed: int
    coefficients: list[Told]
    topics: list[ToldTopic]
    table: list[list[int]]
    disagreements: list[ToldDisagreement]
    selves: list[ToldSelf]
    notes: list[str]
    orders: SystemOrders | None = None


class AdjudicationQueue(BaseModel):
    """What is to be decided, and what was said after a verdict."""

    contested: list[Contested]
    late: list[LateOpinion]


class CaseAnswer(BaseModel):
    """A pair before an adjudicator. `why_not` says why the token's owner may not decide it."""

    pair: int
    topic: str
    fields: list[tuple[str, str]]
    document: Document
    opinions: list[Voice]
    verdict: NewVerdict | None
    seen: int
    why_not: str
    remark: str


class SaidVerdict(BaseModel):
    """A verdict: a grade, or a reason why there is none; or the key of one that is taken back. With `seen`, the number
    that came with the pair, it is refused if something was said of it since."""

    pair: int = Field(ge=1, le=LARGEST)
    key: str = Field(min_length=1, max_length=100)
    grade: int | None = None
    reason: Reason | None = None
    note: str = Field(default="", max_length=4000)
    undoes: str | None = Field(default=None, max_length=100)
    seen: int | None = Field(default=None, ge=0, le=LARGEST)


class Stored(BaseModel):
    """The key of a verdict that is stored."""

    saved: str


@router.get("/projects/{project}/agreement")
@needs(Permission.ADJUDICATE)
def agreement(request: Request, visit: Visiting, systems: bool = False) -> AgreementAnswer:
    """How far assessors agree; with `systems`, also whether it changes the order of the project's runs."""
    kept = request.app.state.kept
    found = agreement_of(kept, visit.store, visit.here.id)
    orders = system_orders(kept, visit.store, visit.here.id, request.app.state.settings.folder) if systems else None
    return AgreementAnswer.model_validate({**vars(found), "orders": orders})


@router.get("/projects/{project}/adjudications")
@needs(Permission.ADJUDICATE)
def adjudications(visit: Visiting) -> AdjudicationQueue:
    """What is to be decided, the largest disagreements first."""
    with visit.store.reading() as connection:
        contested = queue(connection, visit.here.id, visit.person.id)
        late = late_opinions(connection, visit.here.id)
    return AdjudicationQueue(contested=contested, late=late)


@router.get("/projects/{project}/adjudications/{pair}")
@needs(Permission.ADJUDICATE)
def adjudication(request: Request, visit: Visiting, pair: int) -> CaseAnswer:
    """A pair with all that was said of it."""
    with visit.store.reading() as connection:
        here = case_of(connection, visit, pair)
    document, _ = text_of(request.app.state.shelf, visit, here)
    return CaseAnswer(
        pair=here.pair,
        topic=here.topic.name,
        fields=list(here.topic.fields),
        document=Document(id=document.id, title=document.title, text=document.text, html=document.html),
        opinions=list(here.opinions),
        verdict=here.verdict,
        seen=here.seen,
        why_not=here.why_not,
        remark=here.remark,
    )


@router.post("/projects/{project}/adjudications")
@needs(Permission.ADJUDICATE)
def adjudicate(visit: Visiting, said: SaidVerdict) -> Stored:
    """Stores a verdict, or takes one back."""
    parts = said.model_dump(exclude={"seen"})
    kind: Any = "adjudicate" if said.undoes is None else "undo"
    decide(visit, NewJudgement(kind=kind, origin="api", view="whole", **parts), said.seen)
    return Stored(saved=said.key)


@router.get("/projects/{project}/topics/{topic}/mine")
@needs(Permission.JUDGE)
def mine(visit: Visiting, topic: int) -> list[OwnOpinion]:
    """What the token's owner thinks of the documents of a topic; `judgements` changes it."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
        return own_opinions(connection, visit.here.id, visit.person.id, topic)
