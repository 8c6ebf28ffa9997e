"""Judging for programs: leases, judgements, documents, progress."""

from __future__ import annotations

from fastapi import Request, Response
from pydantic import BaseModel, Field

from cranfield.judging.events import Kind, Origin, Reason, View
from cranfield.web.accounts.roles import Permission
from cranfield.web.judging.progress import topics_of
from cranfield.web.judging.recording import NewJudgement
from cranfield.web.judging.sitting import (
    document_before_me,
    judged,
    leave,
    progress_here,
    recent,
    scale_of,
    set_terms,
    stay,
    topic_here,
)
from cranfield.web.queue.advice import topic_advice
from cranfield.web.queue.handing_out import handed_out
from cranfield.web.routes import Visiting, api_router, needs

router = api_router()
LARGEST = 2**53 - 1
LOOK_AGAIN = 2  # seconds after which somebody who waits asks again, as the page does
RETRY = "Seconds to wait before asking again; there when `waiting` is true."


class SaidJudgement(BaseModel):
    """What somebody says of a pair. `key` is chosen by the sender: sent again with it, it is the same judgement."""

    pair: int = Field(ge=1, le=LARGEST)
    kind: Kind
    key: str = Field(min_length=1, max_length=100)
    grade: int | None = None
    reason: Reason | None = None
    note: str = Field(default="", max_length=4000)
    undoes: str | None = Field(default=None, max_length=100)
    active_ms: int = Field(default=0, ge=0, le=LARGEST)
    away_ms: int = Field(default=0, ge=0, le=LARGEST)
    view: View = "passage"

    def judgement(self, origin: Origin) -> NewJudgement:
        return NewJudgement(**self.model_dump(), origin=origin)


class Topic(BaseModel):
    """A topic, and how far its judging has come."""

    id: int
    name: str
    question: str
    pairs: int
    done: int
    mine: int
    relevant: int
    owner: str | None


class TopicInFull(Topic):
    """A topic with every field of its question in order, the words that are marked, and one's own progress in words."""

    fields: list[tuple[str, str]]
    terms: list[str]
    progress: str


class RuleAnswer(BaseModel):
    """A rule as it stands: `met` is null where it cannot tell, `value` is the number that it looks at."""

    rule: str
    met: bool | None
    value: float | None
    says: str


class AdviceAnswer(BaseModel):
    """The rules for a topic. `documents` are all that could be asked for, `among` says which these are."""

    judged: int
    relevant: int
    documents: int
    among: str
    rules: list[RuleAnswer]


class Lease(BaseModel):
    """A pair that is yours until a time, in milliseconds of UTC."""

    pair: int
    document: str
    until: int


class LeaseAnswer(BaseModel):
    """The documents that are yours now. With none of them, `waiting` tells whether to ask again: it is true while the
    method of the project learns from what was judged, so that more may come (the header Retry-After says in how many
    seconds to ask); it is false when nothing is left for you in this topic, until somebody else judges or leaves."""

    leases: list[Lease]
    waiting: bool


class LeaseRequest(BaseModel):
    """How many documents are wanted."""

    count: int = Field(default=1, ge=1, le=20)


class Refused(BaseModel):
    """A judgement that was not stored, and why."""

    key: str
    status: int
    message: str


class JudgedKeys(BaseModel):
    """Keys of the judgements that are stored, now or before, and what was refused."""

    saved: list[str]
    refused: list[Refused]


class Document(BaseModel):
    """A document."""

    id: str
    title: str
    text: str
    html: bool


class RecentJudgement(BaseModel):
    """A judgement that can be undone, by its key."""

    key: str
    pair: int
    document: str
    kind: Kind
    grade: int | None


class Terms(BaseModel):
    """Words that are marked."""

    terms: list[str] = Field(max_length=100)


class KeptLeases(BaseModel):
    """How many are still yours."""

    kept: int


class ReadPairs(BaseModel):
    """Pairs that are being read."""

    pairs: list[int] = Field(max_length=20)


@router.get("/projects/{project}/topics")
@needs(Permission.JUDGE)
def topics(visit: Visiting) -> list[Topic]:
    """The topics of the project, as the owner of the token sees them."""
    with visit.store.reading() as connection:
        scale = scale_of(connection, visit.here.id)
        rows = topics_of(connection, visit.here.id, visit.person.id, scale.threshold)
    return [Topic(**vars(row)) for row in rows]


@router.get("/projects/{project}/topics/{topic}")
@needs(Permission.JUDGE)
def topic_with_fields(visit: Visiting, topic: int) -> TopicInFull:
    """A topic with all that it says, and the words that the token's owner has marked in its documents."""
    with visit.store.reading() as connection:
        here = topic_here(connection, visit, topic)
        scale = scale_of(connection, visit.here.id)
        rows = topics_of(connection, visit.here.id, visit.person.id, scale.threshold)
        progress = progress_here(connection, visit, topic, scale)
    row = next(row for row in rows if row.id == topic)
    return TopicInFull(**vars(row), fields=list(here.fields), terms=list(here.terms), progress=progress.line)


@router.get("/projects/{project}/topics/{topic}/advice")
@needs(Permission.JUDGE)
def advice(request: Request, visit: Visiting, topic: int) -> AdviceAnswer:
    """Whether the topic could stop: what each rule says, by all that anybody judged. None of them decides."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
    found = topic_advice(visit, request.app.state.shelf, request.app.state.settings.folder, topic)
    return AdviceAnswer(**{**vars(found), "rules": [RuleAnswer(**vars(rule)) for rule in found.rules]})


@router.post(
    "/projects/{project}/topics/{topic}/leases",
    responses={200: {"headers": {"Retry-After": {"description": RETRY, "schema": {"type": "integer"}}}}},
)
@needs(Permission.JUDGE)
def lease_documents(
    request: Request, response: Response, visit: Visiting, topic: int, wanted: LeaseRequest
) -> LeaseAnswer:
    """The next documents to judge; what you undid and what is yours already comes first. Where there is none, `waiting`
    tells a method that is still learning from a topic that is finished."""
    with visit.store.reading() as connection:
        here = topic_here(connection, visit, topic)
    given = handed_out(request.app.state.feeder, visit, here, wanted.count)
    if given.waiting:
        response.headers["retry-after"] = str(LOOK_AGAIN)
    leases = [Lease(pair=row.pair, document=row.document, until=row.until) for row in given.leases]
    return LeaseAnswer(leases=leases, waiting=given.waiting)


@router.put("/projects/{project}/topics/{topic}/leases")
@needs(Permission.JUDGE)
def renew_leases(visit: Visiting, topic: int, held: ReadPairs) -> KeptLeases:
    """Keeps documents that are being read."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
    return KeptLeases(kept=stay(visit, topic, held.pairs))


@router.delete("/projects/{project}/topics/{topic}/leases", status_code=204)
@needs(Permission.JUDGE)
def end_leases(visit: Visiting, topic: int) -> None:
    """Gives all documents of the topic back."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
    leave(visit, topic)


@router.post("/projects/{project}/judgements")
@needs(Permission.JUDGE)
def judge(request: Request, visit: Visiting, judgements: list[SaidJudgement]) -> JudgedKeys:
    """Stores judgements. Each is stored or refused by itself; what is refused says why."""
    answer = judged(visit, [one.judgement("api") for one in judgements])
    request.app.state.feeder.wake(answer.topics)
    refused = [Refused(key=one.key, status=one.status, message=one.message) for one in answer.refused]
    return JudgedKeys(saved=list(answer.saved), refused=refused)


@router.get("/projects/{project}/topics/{topic}/documents/{pair}")
@needs(Permission.JUDGE)
def document(request: Request, visit: Visiting, topic: int, pair: int) -> Document:
    """A document that is, or was, yours to judge."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
    leased = document_before_me(visit, topic, pair)
    stored = request.app.state.shelf.of(visit.here.collection).get(leased.document)
    return Document(id=stored.id, title=stored.title, text=stored.text, html=stored.html)


@router.get("/projects/{project}/topics/{topic}/judgements")
@needs(Permission.JUDGE)
def recent_judgements(visit: Visiting, topic: int) -> list[RecentJudgement]:
    """The last judgements of the token's owner in the topic that can be undone, the newest first."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
        return [RecentJudgement.model_validate(vars(one)) for one in recent(connection, visit, topic)]


@router.put("/projects/{project}/topics/{topic}/terms")
@needs(Permission.JUDGE)
def mark(visit: Visiting, topic: int, words: Terms) -> Terms:
    """Sets the words that are marked in the documents of the topic."""
    with visit.store.reading() as connection:
        topic_here(connection, visit, topic)
    return Terms(terms=list(set_terms(visit, topic, words.terms)))
