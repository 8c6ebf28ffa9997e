"""Where opinions differ somebody decides: the queue of such pairs, one of them with all that was said, the verdict.

In the queue is a pair that has all the opinions it wants and no verdict, where two grades differ or somebody could not
tell. Whoever judged a pair does not decide it, as long as somebody else in the project can: an adjudicator or an owner
who has not judged it. A verdict says which events were seen: if something was said meanwhile it is refused, not lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, and_, case, exists, func, select
from starlette.exceptions import HTTPException

from cranfield.judging.scale import Scale
from cranfield.judging.showing import ShownDocument, shown
from cranfield.texts.document_store import StoredDocument
from cranfield.web.accounts.roles import LEAST_ROLE, ROLES, Permission
from cranfield.web.admission import Visit
from cranfield.web.judging.recording import NewJudgement, is_verdict, record
from cranfield.web.judging.sitting import TopicHere, scale_of, topic_here
from cranfield.web.shelf import Shelf
from cranfield.web.store.tables import (
    EventRow,
    MemberRow,
    OpinionRow,
    PairRow,
    TopicRow,
    UserRow,
    VerdictRow,
)


@dataclass(frozen=True, kw_only=True)
class Contested:
    """A pair that somebody must decide: how many steps of the scale apart its grades are, whether it is relevant to
    some and not to others, how many opinions it has and how many of these could not tell; `mine` says that the visitor
    judged it."""

    pair: int
    topic: str
    document: str
    steps: int
    crosses: bool
    opinions: int
    cannot: int
    mine: bool


@dataclass(frozen=True, kw_only=True)
class Voice:
    """What somebody said of a pair, by pseudonym; `late` says that it came after the verdict."""

    assessor: str
    kind: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    late: bool


@dataclass(frozen=True, kw_only=True)
class NewVerdict:
    """What holds for a pair; `key` undoes it, if the visitor gave it."""

    assessor: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    key: str | None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pair before an adjudicator. `seen` is the number of its last event; `why_not` says why the visitor may not
    decide it, `remark` that they do although they judged it."""

    pair: int
    document: str
    topic: TopicHere
    scale: Scale
    opinions: tuple[Voice, ...]
    verdict: NewVerdict | None
    seen: int
    why_not: str
    remark: str


OWN = "You judged this document: somebody else decides."
ALONE = "You judged this document yourself. Nobody else in this project can decide it, so you may."


def queue(connection: Connection, project: int, user: int) -> list[Contested]:
    """What is to be decided: grades that are furthest apart first; what the visitor judged is marked."""
    scale = scale_of(connection, project)
    low, high = func.min(OpinionRow.grade), func.max(OpinionRow.grade)
    cannot = func.sum(case((OpinionRow.kind == "cannot", 1), else_=0))
    mine = func.sum(case((OpinionRow.user_id == user, 1), else_=0))
    columns = (PairRow.id, TopicRow.name, TopicRow.place, PairRow.document)
    asked = (
        select(
            *columns,
            low.label("low"),
            high.label("high"),
            cannot.label("cannot"),
            mine.label("mine"),
            func.count().label("said"),
        )
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(
            TopicRow.project_id == project,
            OpinionRow.repeat.is_(False),
            PairRow.opinions >= PairRow.wanted,
            ~exists().where(VerdictRow.pair_id == PairRow.id),
        )
        .group_by(*columns)
        .having((low != high) | (cannot > 0))
    )
    places = {value: place for place, value in enumerate(scale.values)}
    contested = [
        (
            row.place,
            Contested(
                pair=row.id,
                topic=row.name,
                document=row.document,
                steps=0 if row.low is None else places.get(row.high, 0) - places.get(row.low, 0),
                crosses=row.low is not None and scale.relevant(row.high) and not scale.relevant(row.low),
                opinions=row.said,
                cannot=int(row.cannot),
                mine=bool(row.mine),
            ),
        )
        for row in connection.execute(asked)
    ]
    contested.sort(key=lambda each: (-each[1].steps, not each[1].crosses, each[0], each[1].document))
    return [each for _, each in contested]


def next_case(connection: Connection, project: int, user: int) -> int | None:
    """The next pair that the visitor may decide."""
    for each in queue(connection, project, user):
        if not each.mine or not standing_of(connection, project, user, each.pair)[0]:
            return each.pair
    return None


def case_of(connection: Connection, visit: Visit, pair: int) -> Case:
    """A pair that somebody gave an opinion of, or 404."""
    asked = (
        select(PairRow.topic_id, PairRow.document)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(PairRow.id == pair, TopicRow.project_id == visit.here.id)
    )
    row = connection.execute(asked).first()
    seen = _seen(connection, pair)
    if row is None or not seen:
        raise HTTPException(404)
    verdict, number = _verdict(connection, visit, pair)
    why_not, remark = standing_of(connection, visit.here.id, visit.person.id, pair)
    return Case(
        pair=pair,
        document=row.document,
        topic=topic_here(connection, visit, row.topic_id),
        scale=scale_of(connection, visit.here.id),
        opinions=_voices(connection, visit.here.id, pair, number),
        verdict=verdict,
        seen=seen,
        why_not=why_not,
        remark=remark,
    )


def text_of(shelf: Shelf, visit: Visit, here: Case, part: int = 1) -> tuple[StoredDocument, ShownDocument]:
    """The document of a case, with the words of the question marked."""
    document = shelf.of(visit.here.collection).get(here.document)
    return document, shown(document, here.topic.question, here.topic.terms, part=part)


def standing_of(connection: Connection, project: int, user: int, pair: int) -> tuple[str, str]:
    """Why somebody may not decide a pair, and what is to be said if they may; both empty for most."""
    mine = select(EventRow.id).where(
        EventRow.pair_id == pair, EventRow.user_id == user, EventRow.kind.in_(("grade", "cannot"))
    )
    if connection.execute(mine.limit(1)).first() is None:
        return "", ""
    return (OWN, "") if _others(connection, project, user, pair) else ("", ALONE)


def _others(connection: Connection, project: int, user: int, pair: int) -> bool:
    """Whether somebody else could decide: they may, have not been shut out, and have not judged the pair."""
    roles = ROLES[ROLES.index(LEAST_ROLE[Permission.ADJUDICATE]) :]
    judged = exists().where(
        EventRow.pair_id == pair,
        EventRow.user_id == MemberRow.user_id,
        EventRow.kind.in_(("grade", "cannot")),
    )
    asked = (
        select(MemberRow.user_id)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(
            MemberRow.project_id == project,
            MemberRow.user_id != user,
            MemberRow.role.in_(roles),
            UserRow.disabled_at.is_(None),
            ~judged,
        )
    )
    return connection.execute(asked.limit(1)).first() is not None


def decide(visit: Visit, said: NewJudgement, seen: int | None) -> None:
    """Stores a verdict, or takes one back. `seen` is the last event that the adjudicator knew of; None asks nothing."""
    with visit.store.writing() as connection:
        locked = (
            select(PairRow.id)
            .join(TopicRow, TopicRow.id == PairRow.topic_id)
            .where(PairRow.id == said.pair, TopicRow.project_id == visit.here.id)
            .with_for_update(of=TopicRow)
        )
        if connection.execute(locked).first() is None or not _seen(connection, said.pair):
            raise HTTPException(404)
        if not is_verdict(connection, visit.person.id, said):
            raise HTTPException(400, "this is for verdicts: opinions are given where documents are judged")
        sent_before = select(EventRow.id).where(EventRow.user_id == visit.person.id, EventRow.key == said.key)
        if connection.execute(sent_before).first() is None and said.kind != "undo":
            why_not, _ = standing_of(connection, visit.here.id, visit.person.id, said.pair)
            if why_not:
                raise HTTPException(409, why_not)
            if seen is not None and seen != _seen(connection, said.pair):
                raise HTTPException(409, "something was said of this document meanwhile: look at it again")
        record(connection, visit.store.clock(), visit.here.id, visit.person.id, said)


def last_verdict(connection: Connection, project: int, user: int) -> tuple[int, str] | None:
    """The pair and the key of the last verdict that somebody gave and that still holds."""
    asked = (
        select(VerdictRow.pair_id, EventRow.key)
        .join(EventRow, EventRow.id == VerdictRow.event_id)
        .where(EventRow.project_id == project, VerdictRow.user_id == user)
        .order_by(VerdictRow.event_id.desc())
        .limit(1)
    )
    row = connection.execute(asked).first()
    return None if row is None else (row.pair_id, row.key)


@dataclass(frozen=True, kw_only=True)
class LateOpinion:
    """An opinion that came after the verdict on its pair."""

    pair: int
    topic: str
    document: str
    assessor: str
    grade: int | None
    verdict: int | None
    at: int


def late_opinions(connection: Connection, project: int) -> list[LateOpinion]:
    """Opinions that came after a verdict, the newest first: the verdict holds, but whoever gave it did not know."""
    asked = (
        select(
            PairRow.id,
            TopicRow.name,
            PairRow.document,
            MemberRow.pseudonym,
            OpinionRow.grade,
            VerdictRow.grade.label("verdict"),
            OpinionRow.at,
        )
        .join(VerdictRow, VerdictRow.pair_id == OpinionRow.pair_id)
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .join(MemberRow, and_(MemberRow.project_id == TopicRow.project_id, MemberRow.user_id == OpinionRow.user_id))
        .where(
            TopicRow.project_id == project,
            OpinionRow.repeat.is_(False),
            OpinionRow.event_id > VerdictRow.event_id,
        )
        .order_by(OpinionRow.event_id.desc())
    )
    return [
        LateOpinion(
            pair=row.id,
            topic=row.name,
            document=row.document,
            assessor=row.pseudonym,
            grade=row.grade,
            verdict=row.verdict,
            at=row.at,
        )
        for row in connection.execute(asked)
    ]


def _seen(connection: Connection, pair: int) -> int:
    """The number of the last event of a pair; 0 where there is none."""
    return int(connection.execute(select(func.max(EventRow.id)).where(EventRow.pair_id == pair)).scalar() or 0)


def _voices(connection: Connection, project: int, pair: int, verdict: int | None) -> tuple[Voice, ...]:
    asked = (
        select(EventRow, MemberRow.pseudonym)
        .join(OpinionRow, OpinionRow.event_id == EventRow.id)
        .join(MemberRow, and_(MemberRow.project_id == project, MemberRow.user_id == EventRow.user_id))
        .where(OpinionRow.pair_id == pair, OpinionRow.repeat.is_(False))
        .order_by(MemberRow.pseudonym)
    )
    return tuple(
        Voice(
            assessor=row.pseudonym,
            kind=row.kind,
            grade=row.grade,
            reason=row.reason,
            note=row.note,
            at=row.at,
            late=verdict is not None and row.id > verdict,
        )
        for row in connection.execute(asked)
    )


def _verdict(connection: Connection, visit: Visit, pair: int) -> tuple[NewVerdict | None, int | None]:
    """The verdict on a pair and the number of its event."""
    asked = (
        select(EventRow, MemberRow.pseudonym)
        .join(VerdictRow, VerdictRow.event_id == EventRow.id)
        .join(MemberRow, and_(MemberRow.project_id == visit.here.id, MemberRow.user_id == EventRow.user_id))
        .where(VerdictRow.pair_id == pair)
    )
    row = connection.execute(asked).first()
    if row is None:
        return None, None
    made = NewVerdict(
        assessor=row.pseudonym,
        grade=row.grade,
        reason=row.reason,
        note=row.note,
        at=row.at,
        key=row.key if row.user_id == visit.person.id else None,
    )
    return made, row.id
