"""A sitting: somebody judges a topic. What is before them, what they say of it, and what comes next.

Page and API both come here; it alone puts leases, judgements, texts and progress together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection, bindparam, delete, insert, select
from starlette.exceptions import HTTPException

from cranfield.errors import CranfieldError, shorten
from cranfield.judging.scale import Scale
from cranfield.judging.showing import ShownDocument, scan_pattern, shown
from cranfield.web.admission import Visit
from cranfield.web.judging.leasing import RECENT, Asker, Leased, give_back, lease, renew
from cranfield.web.judging.progress import OwnProgress, own_progress
from cranfield.web.judging.recording import NewJudgement, is_verdict, record
from cranfield.web.judging.topic_addresses import named
from cranfield.web.shelf import Shelf
from cranfield.web.store.tables import EventRow, LeaseRow, PairRow, ScaleRow, ScanTermsRow, TopicRow

AHEAD = 2  # documents that a page holds: the one that is read and the one after it


@dataclass(frozen=True, kw_only=True)
class TopicHere:
    """The topic of a sitting, and the words that the assessor wants marked."""

    id: int
    name: str
    fields: tuple[tuple[str, str], ...]
    terms: tuple[str, ...]

    @property
    def question(self) -> str:
        """All that the topic says, for marking its words."""
        return " ".join(text for name, text in self.fields if name in ("title", "description")) or " ".join(
            text for _, text in self.fields
        )


@dataclass(frozen=True, kw_only=True)
class Card:
    """A document before an assessor."""

    leased: Leased
    shown: ShownDocument
    html: bool


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A judgement that was not stored, and why; sent again it would be refused again."""

    key: str
    status: int
    message: str


@dataclass(frozen=True, kw_only=True)
class SaidBefore:
    """A judgement made before, that can be undone."""

    key: str
    pair: int
    document: str
    kind: str
    grade: int | None
    near: int | None


@dataclass(frozen=True, kw_only=True)
class JudgedAnswer:
    """What came of judgements that were sent: those that are stored, now or before, and those that never will be."""

    saved: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    topics: frozenset[int] = frozenset()

    def with_one(self, other: JudgedAnswer) -> JudgedAnswer:
        """This, and what came of another one."""
        return JudgedAnswer(
            saved=self.saved + other.saved, refused=self.refused + other.refused, topics=self.topics | other.topics
        )


def scale_of(connection: Connection, project: int) -> Scale:
    """The scale that holds now."""
    return Scale.from_json(connection.execute(_SCALE, {"project": project}).scalar_one())


def topic_here(connection: Connection, visit: Visit, topic: int) -> TopicHere:
    """A topic of the visitor's project, or 404."""
    row = connection.execute(_TOPIC, {"topic": topic, "project": visit.here.id, "user": visit.person.id}).first()
    if row is None:
        raise HTTPException(404)
    fields = tuple((str(name), str(text)) for name, text in row.fields)
    return TopicHere(id=row.id, name=row.name, fields=fields, terms=tuple(row.words or ()))


def topic_named(connection: Connection, visit: Visit, segment: str) -> TopicHere:
    """The topic of the visitor's project that a segment of an address names, or 404 that says so."""
    name = named(segment)
    row = connection.execute(_NAMED, {"name": name, "project": visit.here.id}).first()
    if row is None:
        raise UnknownTopicError(name)
    return topic_here(connection, visit, row.id)


class UnknownTopicError(HTTPException):
    """There is no such topic; a member of the project may know that."""

    def __init__(self, name: str) -> None:
        message = f"no topic of this project has the id '{shorten(name, 60)}': the page Judge lists its topics"
        super().__init__(404, message)


# Built once: they are run for every judgement.
_SCALE = (
    select(ScaleRow.scale).where(ScaleRow.project_id == bindparam("project")).order_by(ScaleRow.version.desc()).limit(1)
)
_NAMED = select(TopicRow.id).where(TopicRow.name == bindparam("name"), TopicRow.project_id == bindparam("project"))
_TOPIC = (
    select(TopicRow.id, TopicRow.name, TopicRow.fields, ScanTermsRow.words)
    .outerjoin(ScanTermsRow, (ScanTermsRow.topic_id == TopicRow.id) & (ScanTermsRow.user_id == bindparam("user")))
    .where(TopicRow.id == bindparam("topic"), TopicRow.project_id == bindparam("project"))
)


def asker_of(visit: Visit, topic: int) -> Asker:
    """How this person asks for documents, as the project's options have it."""
    options = visit.here.settings
    return Asker(
        user=visit.person.id,
        topic=topic,
        owned=bool(options.get("owned", False)),
        repeats=float(options.get("repeats", 0.0)),
        lease_ms=int(60_000 * float(options.get("lease_minutes", 10))),
    )


def judged(visit: Visit, judgements: Sequence[NewJudgement]) -> JudgedAnswer:
    """Stores opinions, each in a transaction of its own: one that is refused takes no other with it. A verdict is none
    (`web/review/adjudication.py`): who may judge may not adjudicate."""
    answer = JudgedAnswer()
    for said in judgements:
        answer = answer.with_one(visit.store.together(partial(_judged, visit, said)))
    return answer


def judged_and_next(
    visit: Visit, topic: TopicHere, judgements: Sequence[NewJudgement], count: int
) -> tuple[JudgedAnswer, list[Leased]]:
    """Stores opinions and leases the next pairs. The last opinion and the leases are one transaction, since a disk
    takes as long to make sure of one as of both."""
    clock, asker = visit.store.clock, asker_of(visit, topic.id)

    def last_and_next(connection: Connection) -> tuple[JudgedAnswer, list[Leased]]:
        last = _judged(visit, judgements[-1], connection) if judgements else JudgedAnswer()
        return last, lease(connection, clock(), asker, count)

    earlier = judged(visit, judgements[:-1])
    last, leases = visit.store.together(last_and_next)
    return earlier.with_one(last), leases


def _judged(visit: Visit, said: NewJudgement, connection: Connection) -> JudgedAnswer:
    """What came of one judgement. One that is refused has changed nothing."""
    try:
        if is_verdict(connection, visit.person.id, said):
            raise HTTPException(403, "this is for opinions: verdicts are given in the queue of adjudication")
        stored = record(connection, visit.store.clock(), visit.here.id, visit.person.id, said)
    except HTTPException as error:
        return JudgedAnswer(refused=(Refusal(key=said.key, status=error.status_code, message=str(error.detail)),))
    except CranfieldError as error:
        return JudgedAnswer(refused=(Refusal(key=said.key, status=400, message=str(error)),))
    return JudgedAnswer(saved=(said.key,), topics=frozenset({stored.topic}))


def cards(shelf: Shelf, visit: Visit, topic: TopicHere, leases: Sequence[Leased]) -> list[Card]:
    """The documents of leases, ready to be shown."""
    store = shelf.of(visit.here.collection)
    made = []
    for leased in leases:
        document = store.get(leased.document)
        seen = shown(document, topic.question, topic.terms)
        made.append(Card(leased=leased, shown=seen, html=document.html))
    return made


def document_before_me(visit: Visit, topic: int, pair: int) -> Leased:
    """A pair that the visitor has, or had, before them, or 404."""
    with visit.store.reading() as connection:
        asked = select(PairRow.id, PairRow.document).where(PairRow.id == pair, PairRow.topic_id == topic)
        row = connection.execute(asked).first()
        mine = [
            select(LeaseRow.pair_id).where(LeaseRow.pair_id == pair, LeaseRow.user_id == visit.person.id),
            select(EventRow.pair_id).where(EventRow.pair_id == pair, EventRow.user_id == visit.person.id),
        ]
        if row is None or not any(connection.execute(one.limit(1)).first() for one in mine):
            raise HTTPException(404)
    return Leased(pair=pair, topic=topic, document=row.document, repeat=False, until=0)


def recent(connection: Connection, visit: Visit, topic: int) -> list[SaidBefore]:
    """The last judgements of the visitor in a topic that stand, the newest first."""
    undone = select(EventRow.undoes).where(EventRow.user_id == visit.person.id, EventRow.undoes.is_not(None))
    asked = (
        select(EventRow.key, EventRow.pair_id, EventRow.kind, EventRow.grade, PairRow.document, PairRow.near)
        .join(PairRow, PairRow.id == EventRow.pair_id)
        .where(
            EventRow.user_id == visit.person.id,
            PairRow.topic_id == topic,
            EventRow.kind.in_(("grade", "cannot", "later")),
            EventRow.key.not_in(undone),
        )
        .order_by(EventRow.id.desc())
        .limit(RECENT)
    )
    return [
        SaidBefore(
            key=row.key,
            pair=row.pair_id,
            document=row.document,
            kind=row.kind,
            grade=row.grade,
            near=row.near,
        )
        for row in connection.execute(asked)
    ]


def said_of(said: SaidBefore, scale: Scale) -> str:
    """What was said, in words.

    >>> said_of(SaidBefore(key="k", pair=1, document="d1", kind="grade", grade=2, near=None), Scale.usual())
    'relevant'
    >>> said_of(SaidBefore(key="k", pair=1, document="d1", kind="cannot", grade=None, near=None), Scale.usual())
    "can't tell"
    """
    labels = {grade.value: grade.label for grade in scale.grades}
    if said.grade is not None:
        return labels.get(said.grade, str(said.grade))  # the scale may have changed since
    return {"cannot": "can't tell"}.get(said.kind, said.kind)


def progress_here(connection: Connection, visit: Visit, topic: int, scale: Scale) -> OwnProgress:
    """The visitor's own progress in a topic."""
    return own_progress(connection, topic, visit.person.id, scale.threshold, asker_of(visit, topic).repeats)


def leave(visit: Visit, topic: int) -> None:
    """Gives back what is before somebody."""
    with visit.store.writing() as connection:
        give_back(connection, visit.person.id, topic)


def stay(visit: Visit, topic: int, pairs: Sequence[int]) -> int:
    """Keeps what somebody reads theirs; how many of the pairs still are."""
    how = asker_of(visit, topic)
    with visit.store.writing() as connection:
        return renew(connection, visit.store.clock(), visit.person.id, list(pairs)[:100], how.lease_ms)


def set_terms(visit: Visit, topic: int, words: Sequence[str]) -> tuple[str, ...]:
    """Sets the words that an assessor wants marked in a topic."""
    kept = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    scan_pattern(kept)  # refuses what cannot be looked for
    with visit.store.writing() as connection:
        mine = (ScanTermsRow.topic_id == topic) & (ScanTermsRow.user_id == visit.person.id)
        connection.execute(delete(ScanTermsRow).where(mine))
        connection.execute(insert(ScanTermsRow).values(topic_id=topic, user_id=visit.person.id, words=list(kept)))
    return kept
