"""Agreement, adjudication and own judgements for programs."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from pydantic import BaseModel, Field

from cranfield.judging.events import Reason
from cranfield.web.accounts.roles import Permission
from cranfield.web.api.judging import LARGEST, Document
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import topic_here
from cranfield.web.review.adjudication import case_of, decide, late_opinions, queue, text_of
from cranfield.web.review.agreement import agreement_of, system_orders
from cranfield.web.review.history import own_opinions
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()


class ToldCoefficient(BaseModel):
    """An agreement between assessors and the documents it rests on; no value on too few."""

    name: str
    assessors: list[str]
    documents: int
    value: float | None
    low: float | None
    high: float | None


class ToldTopicAgreement(BaseModel):
    """A topic: documents that several judged, those on which all of these agree, and alpha; none on too few."""

    topic: str
    documents: int
    agreed: int
    alpha: float | None


class DisagreementOnPair(BaseModel):
    """A pair on which grades differ."""

    pair: int
    topic: str
    document: str
    steps: int
    crosses: bool
    grades: list[tuple[str, int]]
    settled: bool


class SelfAgreement(BaseModel):
    """Documents that somebody judged twice without being told."""

    assessor: str
    pairs: int
    same_grade: int
    same_relevance: int
    kappa: float | None


class Orders(BaseModel):
    """Whether another assessor would put the systems in another order."""

    summary: str
    rows: list[tuple[str, str, float | None]]
    notes: list[str]


class AgreementAnswer(BaseModel):
    """How far assessors agree. `table` counts two assessors who gave one document two grades, the lower one first."""

    summary: str
    assessors: list[str]
    shared: int
    agreed: int
    coefficients: list[ToldCoefficient]
    topics: list[ToldTopicAgreement]
    table: list[list[int]]
    disagreements: list[DisagreementOnPair]
    selves: list[SelfAgreement]
    notes: list[str]
    orders: Orders | None = None


class ContestedPair(BaseModel):
    """A pair that somebody must decide."""

    pair: int
    topic: str
    document: str
    steps: int
    crosses: bool
    opinions: int
    cannot: int
    mine: bool


class OpinionAfterVerdict(BaseModel):
    """An opinion that came after the verdict on its pair."""

    pair: int
    topic: str
    document: str
    assessor: str
    grade: int | None
    verdict: int | None
    at: int


class AdjudicationQueue(BaseModel):
    """What is to be decided, and what was said after a verdict."""

    contested: list[ContestedPair]
    late: list[OpinionAfterVerdict]


class VoiceOnPair(BaseModel):
    """What somebody said of a pair."""

    assessor: str
    kind: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    late: bool


class VerdictOnPair(BaseModel):
    """What holds for a pair."""

    assessor: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    key: str | None


class CaseAnswer(BaseModel):
    """A pair before an adjudicator. `why_not` says why the token's owner may not decide it."""

    pair: int
    topic: str
    fields: list[tuple[str, str]]
    document: Document
    opinions: list[VoiceOnPair]
    verdict: VerdictOnPair | None
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


class OwnJudgement(BaseModel):
    """What the token's owner thinks of a document; `key` undoes it."""

    pair: int
    document: str
    kind: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    key: str


@router.get("/projects/{project}/agreement")
@needs(Permission.ADJUDICATE)
def agreement(request: Request, visit: Visiting, systems: bool = False) -> AgreementAnswer:
    """How far assessors agree; with `systems`, also whether it changes the order of the project's runs."""
    kept = request.app.state.kept
    found = agreement_of(kept, visit.store, visit.here.id)
    orders = system_orders(kept, visit.store, visit.here.id, request.app.state.settings.folder) if systems else None
    parts: dict[str, Any] = {name: value for name, value in vars(found).items() if name != "scale"}
    for name in ("coefficients", "topics", "disagreements", "selves"):
        parts[name] = [vars(each) for each in parts[name]]
    return AgreementAnswer.model_validate({**parts, "orders": None if orders is None else vars(orders)})


@router.get("/projects/{project}/adjudications")
@needs(Permission.ADJUDICATE)
def adjudications(visit: Visiting) -> AdjudicationQueue:
    """What is to be decided, the largest disagreements first."""
    with visit.store.reading() as connection:
        contested = queue(connection, visit.here.id, visit.person.id)
        late = late_opinions(connection, visit.here.id)
    return AdjudicationQueue(
        contested=[ContestedPair(**vars(each)) for each in contested],
        late=[OpinionAfterVerdict(**vars(each)) for each in late],
    )


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
        opinions=[VoiceOnPair(**vars(voice)) for voice in here.opinions],
        verdict=None if here.verdict is None else VerdictOnPair(**vars(here.verdict)),
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
def mine(visit: Visiting, topic: int) -> list[OwnJudgement]:
    """What the token's owner thinks of the documents of a topic; `judgements` changes it."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
        opinions = own_opinions(connection, visit.here.id, visit.person.id, topic)
    return [OwnJudgement(**vars(opinion)) for opinion in opinions]
