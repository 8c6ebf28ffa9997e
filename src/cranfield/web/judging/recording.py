"""Judgements into the database: an event, and what it changes, in one transaction.

What one person thinks of one pair is made anew from their few events on it at each event, by the function that defines
what events mean (`judging/state.py`). So the tables are what a rebuild would make of them, by construction. What is
refused is refused before anything is written. Statements are built once, as in `leasing.py`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields

from sqlalchemy import Boolean, Connection, Row, bindparam, delete, func, insert, select, update
from starlette.exceptions import HTTPException

from cranfield.errors import DataError
from cranfield.judging.events import Event, Kind, Origin, Reason, View, moment
from cranfield.judging.scale import Scale
from cranfield.judging.state import check_undo, standing, state_of
from cranfield.web.judging.stored_events import NO_TOPIC, stored_event
from cranfield.web.store.tables import (
    EventRow,
    GuidelineRow,
    LeaseRow,
    Number,
    OpinionRow,
    PairRow,
    PostponedRow,
    ScaleRow,
    TopicRow,
    VerdictRow,
)

LONGEST_NOTE, LONGEST_KEY = 4000, 100


@dataclass(frozen=True, kw_only=True)
class NewJudgement:
    """What somebody says of a pair, before it is an event. `key` is chosen by the sender: sent again with the same key,
    it is the same judgement. Whether it is a blind repeat is not theirs to say: they do not know. `anew` is said
    of what they see that they judged before, so never of a repeat."""

    pair: int
    kind: Kind
    key: str
    grade: int | None = None
    reason: Reason | None = None
    note: str = ""
    undoes: str | None = None
    active_ms: int = 0
    away_ms: int = 0
    view: View = "passage"
    origin: Origin = "page"
    anew: bool = False

    @property
    def digest(self) -> str:
        """The same for the same judgement, however it was sent."""
        said = [getattr(self, field.name) for field in fields(self) if field.name != "origin"]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A judgement as it is stored; `again` says that it was stored before."""

    key: str
    event: int
    topic: int
    again: bool


def record(connection: Connection, now: int, project: int, user: int, said: NewJudgement) -> Recorded:
    """Stores a judgement and what follows from it. The same key with something else in it is a conflict.

    Whoever calls has checked that the person may judge (or adjudicate) in the project.
    """
    if not 0 < len(said.key) <= LONGEST_KEY or len(said.note) > LONGEST_NOTE:
        raise DataError(f"a key has 1 to {LONGEST_KEY} characters, a note at most {LONGEST_NOTE}")
    pair = _pair(connection, project, said.pair)
    before = connection.execute(_BY_KEY, {"user": user, "named": said.key}).first()
    if before is not None:
        if before.body != said.digest:
            raise HTTPException(409, f"the key '{said.key}' was used for another judgement")
        return Recorded(key=said.key, event=before.id, topic=pair.topic_id, again=True)
    scale, guideline = _versions(connection, project)
    repeat = _is_repeat(connection, user, said)
    _check(connection, user, pair, said, scale[1], repeat=repeat)
    values = {
        "project_id": project,
        "pair_id": pair.id,
        "user_id": user,
        **{name: getattr(said, name) for name in _STORED},
        "repeat": repeat,
        "scale": scale[0],
        "guideline": guideline,
        "body": said.digest,
        "at": now,
    }
    number = connection.execute(_NEW_EVENT, values).scalar_one()
    if is_verdict(connection, user, said):
        settle_verdict(connection, pair.id)
    else:
        settle_opinion(connection, pair.id, user, repeat=repeat)
        _after(connection, now, pair.id, user, said.kind, repeat=repeat)
    return Recorded(key=said.key, event=number, topic=pair.topic_id, again=False)


def is_verdict(connection: Connection, user: int, said: NewJudgement) -> bool:
    """Whether a judgement decides for all, or takes such a decision back; others say what one person thinks."""
    if said.kind != "undo":
        return said.kind == "adjudicate"
    undone = connection.execute(_BY_KEY, {"user": user, "named": said.undoes}).first()
    return undone is not None and undone.kind == "adjudicate"


_STORED = (
    "kind",
    "grade",
    "reason",
    "note",
    "undoes",
    "active_ms",
    "away_ms",
    "view",
    "origin",
    "key",
)


def _pair(connection: Connection, project: int, pair: int) -> Row[int, int, str, str]:
    """The pair, with its topic locked: judgements of one topic happen one after another."""
    row = connection.execute(_PAIR_OF_PROJECT, {"pair": pair, "project": project}).first()
    if row is None:
        raise HTTPException(404)
    return row


def _versions(connection: Connection, project: int) -> tuple[tuple[int, Scale], int]:
    """The scale and the version of the guidelines that hold now."""
    row = connection.execute(_VERSIONS, {"project": project}).one()
    return (row.version, Scale.from_json(row.scale)), row.guideline or 0


def _is_repeat(connection: Connection, user: int, said: NewJudgement) -> bool:
    """Whether this is about a blind repeat: as the event that is undone was, or as the pair was given to them.

    There is one lease of a pair at most (`_after` sees to it). Without any it is their first opinion, said anew.
    """
    if said.kind == "adjudicate" or said.anew:
        return False
    if said.kind == "undo":
        undone = connection.execute(_BY_KEY, {"user": user, "named": said.undoes}).first()
        return undone is not None and undone.repeat
    return bool(connection.execute(_LEASE, {"user": user, "pair": said.pair}).scalar())


def _check(
    connection: Connection,
    user: int,
    pair: Row[int, int, str, str],
    said: NewJudgement,
    scale: Scale,
    *,
    repeat: bool,
) -> None:
    """That the judgement is whole, of the scale, and of a document that was given to this person."""
    event = _event(said, user, repeat=repeat)  # refuses what no event may be
    if said.grade is not None:
        scale.of_value(said.grade)
    if said.kind == "adjudicate":
        return
    if said.kind == "undo":
        undone = connection.execute(_BY_KEY, {"user": user, "named": said.undoes}).first()
        stands = {other.key for other in standing(map(stored_event, _rows(connection, pair.id, user)))}
        check_undo(event, None if undone is None else stored_event(undone), said.undoes in stands)
        return
    own = {"pair": pair.id, "user": user}
    if connection.execute(_LEASE, own).first() is None and connection.execute(_OPINION_EVENT, own).first() is None:
        raise HTTPException(409, f"document '{pair.document}' was not given to you to judge")


def _after(connection: Connection, now: int, pair: int, user: int, kind: Kind, *, repeat: bool) -> None:
    """Leases and pairs put off, as the judgement leaves them."""
    mine = {"pair": pair, "user": user}
    connection.execute(_END_LEASE, mine | {"again": repeat})
    opinions = {row.repeat for row in connection.execute(_OPINIONS, mine)}
    if False not in opinions:
        connection.execute(_END_LEASE, mine | {"again": True})  # there is nothing to repeat
    connection.execute(_NO_LONGER_LATER, mine)
    own = {"pair_id": pair, "user_id": user}
    if kind == "undo" and repeat not in opinions:
        # It is before them again, sooner than all else that is, and nobody else gets its place.
        connection.execute(_NEW_LEASE, own | {"repeat": repeat, "until": now + UNDONE, "shown_at": -now})
    if kind == "later":
        connection.execute(_NEW_LATER, own | {"at": now})


UNDONE = 10 * 60_000  # milliseconds for which an undone pair is kept for the one who undid it


def settle_opinion(connection: Connection, pair: int, user: int, *, repeat: bool) -> None:
    """Makes a person's opinion of a pair anew from their events, and counts the opinions of the pair."""
    rows = {row.key: row for row in _rows(connection, pair, user)}
    opinions = state_of(map(stored_event, rows.values())).opinions
    opinion = opinions.get((NO_TOPIC, str(pair), str(user), repeat))
    connection.execute(_END_OPINION, {"pair": pair, "user": user, "again": repeat})
    if opinion is not None:
        row = rows[opinion.key]
        own = {"pair_id": pair, "user_id": user, "repeat": repeat}
        said = {"event_id": row.id, "kind": row.kind, "grade": row.grade, "at": row.at}
        connection.execute(_NEW_OPINION, own | said)
    connection.execute(_COUNT_OPINIONS, {"pair": pair})


def settle_verdict(connection: Connection, pair: int) -> None:
    """Makes the verdict on a pair anew from its events."""
    asked = select(EventRow).where(EventRow.pair_id == pair).order_by(EventRow.id)
    rows = {(str(row.user_id), row.key): row for row in connection.execute(asked)}
    verdict = state_of(map(stored_event, rows.values())).verdicts.get((NO_TOPIC, str(pair)))
    connection.execute(delete(VerdictRow).where(VerdictRow.pair_id == pair))
    if verdict is not None:
        row = rows[verdict.assessor, verdict.key]
        connection.execute(
            insert(VerdictRow).values(pair_id=pair, event_id=row.id, user_id=row.user_id, grade=row.grade, at=row.at)
        )


def _rows(connection: Connection, pair: int, user: int) -> list[Row[EventRow]]:
    return list(connection.execute(_EVENTS, {"pair": pair, "user": user}))


def _event(said: NewJudgement, user: int, *, repeat: bool) -> Event:
    """The judgement as the event that it will be; the pair's number stands for its document."""
    values = {name: getattr(said, name) for name in _STORED}
    return Event(topic=NO_TOPIC, document=str(said.pair), assessor=str(user), repeat=repeat, at=moment(0), **values)


_USER, _PAIR = bindparam("user", type_=Number), bindparam("pair", type_=Number)
_AGAIN = bindparam("again", type_=Boolean)
_BY_KEY = select(EventRow).where(EventRow.user_id == _USER, EventRow.key == bindparam("named"))
_EVENTS = select(EventRow).where(EventRow.pair_id == _PAIR, EventRow.user_id == _USER).order_by(EventRow.id)
_OPINION_EVENT = (
    select(EventRow.id)
    .where(
        EventRow.pair_id == _PAIR,
        EventRow.user_id == _USER,
        EventRow.kind.in_(("grade", "cannot", "later")),  # who decided a pair has not been given it to judge
    )
    .limit(1)
)
_NEW_EVENT = insert(EventRow).returning(EventRow.id)
_PAIR_OF_PROJECT = (
    select(PairRow.id, PairRow.topic_id, PairRow.document, PairRow.source)
    .join(TopicRow, TopicRow.id == PairRow.topic_id)
    .where(PairRow.id == _PAIR, TopicRow.project_id == bindparam("project"))
    .with_for_update(of=TopicRow)
)
_VERSIONS = (
    select(
        ScaleRow.version,
        ScaleRow.scale,
        select(func.max(GuidelineRow.version))
        .where(GuidelineRow.project_id == bindparam("project"))
        .scalar_subquery()
        .label("guideline"),
    )
    .where(ScaleRow.project_id == bindparam("project"))
    .order_by(ScaleRow.version.desc())
    .limit(1)
)
_LEASE = select(LeaseRow.repeat).where(LeaseRow.user_id == _USER, LeaseRow.pair_id == _PAIR)
_NEW_LEASE = insert(LeaseRow)
_END_LEASE = delete(LeaseRow).where(LeaseRow.pair_id == _PAIR, LeaseRow.user_id == _USER, LeaseRow.repeat == _AGAIN)
_NEW_LATER = insert(PostponedRow)
_NO_LONGER_LATER = delete(PostponedRow).where(PostponedRow.pair_id == _PAIR, PostponedRow.user_id == _USER)
_OPINIONS = select(OpinionRow.repeat).where(OpinionRow.pair_id == _PAIR, OpinionRow.user_id == _USER)
_NEW_OPINION = insert(OpinionRow)
_END_OPINION = delete(OpinionRow).where(
    OpinionRow.pair_id == _PAIR, OpinionRow.user_id == _USER, OpinionRow.repeat == _AGAIN
)
_COUNT_OPINIONS = (
    update(PairRow)
    .where(PairRow.id == _PAIR)
    .values(
        opinions=select(func.count())
        .select_from(OpinionRow)
        .where(OpinionRow.pair_id == _PAIR, OpinionRow.repeat.is_(False))
        .scalar_subquery()
    )
)
