"""Judgements into the database: an event, and what it changes, in one transaction.

What one person thinks of one pair is made anew from their few events on it at each event, by the function that defines
what events mean (`judging/state.py`). So the tables are what a rebuild would make of them, by construction.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields

from sqlalchemy import Connection, Row, delete, func, insert, select, update
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
    before = connection.execute(
        select(EventRow.id, EventRow.body).where(EventRow.user_id == user, EventRow.key == said.key)
    ).first()
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
    number = connection.execute(insert(EventRow).values(**values).returning(EventRow.id)).scalar_one()
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
    undone = select(EventRow.kind).where(EventRow.user_id == user, EventRow.key == said.undoes)
    return connection.execute(undone).scalar() == "adjudicate"


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
    asked = (
        select(PairRow.id, PairRow.topic_id, PairRow.document, PairRow.source)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(PairRow.id == pair, TopicRow.project_id == project)
        .with_for_update(of=TopicRow)
    )
    row = connection.execute(asked).first()
    if row is None:
        raise HTTPException(404)
    return row


def _versions(connection: Connection, project: int) -> tuple[tuple[int, Scale], int]:
    """The scale and the version of the guidelines that hold now."""
    scale = connection.execute(
        select(ScaleRow.version, ScaleRow.scale)
        .where(ScaleRow.project_id == project)
        .order_by(ScaleRow.version.desc())
        .limit(1)
    ).one()
    guideline = connection.execute(
        select(func.max(GuidelineRow.version)).where(GuidelineRow.project_id == project)
    ).scalar()
    return (scale.version, Scale.from_json(scale.scale)), guideline or 0


def _is_repeat(connection: Connection, user: int, said: NewJudgement) -> bool:
    """Whether this is about a blind repeat: as the event that is undone was, or as the pair was given to them.

    There is one lease of a pair at most (`_after` sees to it). Without any it is their first opinion, said anew.
    """
    if said.kind == "undo":
        asked = select(EventRow.repeat).where(EventRow.user_id == user, EventRow.key == said.undoes)
    else:
        asked = select(LeaseRow.repeat).where(LeaseRow.user_id == user, LeaseRow.pair_id == said.pair)
    return said.kind != "adjudicate" and not said.anew and bool(connection.execute(asked).scalar())


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
        asked = select(EventRow).where(EventRow.user_id == user, EventRow.key == said.undoes)
        undone = connection.execute(asked).first()
        stands = {other.key for other in standing(map(stored_event, _rows(connection, pair.id, user)))}
        check_undo(event, None if undone is None else stored_event(undone), said.undoes in stands)
        return
    given = select(LeaseRow.pair_id).where(LeaseRow.pair_id == pair.id, LeaseRow.user_id == user)
    judged = select(EventRow.id).where(
        EventRow.pair_id == pair.id,
        EventRow.user_id == user,
        EventRow.kind.in_(("grade", "cannot", "later")),  # who decided a pair has not been given it to judge
    )
    if connection.execute(given).first() is None and connection.execute(judged.limit(1)).first() is None:
        raise HTTPException(409, f"document '{pair.document}' was not given to you to judge")


def _after(connection: Connection, now: int, pair: int, user: int, kind: Kind, *, repeat: bool) -> None:
    """Leases and pairs put off, as the judgement leaves them."""
    mine = (LeaseRow.pair_id == pair) & (LeaseRow.user_id == user)
    connection.execute(delete(LeaseRow).where(mine, LeaseRow.repeat == repeat))
    if not _opinion_of(connection, pair, user, repeat=False):
        connection.execute(delete(LeaseRow).where(mine, LeaseRow.repeat.is_(True)))  # there is nothing to repeat
    connection.execute(delete(PostponedRow).where(PostponedRow.pair_id == pair, PostponedRow.user_id == user))
    if kind == "undo" and not _opinion_of(connection, pair, user, repeat=repeat):
        # It is before them again, and nobody else gets its place.
        own = {"pair_id": pair, "user_id": user, "repeat": repeat}
        connection.execute(insert(LeaseRow).values(**own, until=now + UNDONE, shown_at=now))
    if kind == "later":
        connection.execute(insert(PostponedRow).values(pair_id=pair, user_id=user, at=now))


UNDONE = 10 * 60_000  # milliseconds for which an undone pair is kept for the one who undid it


def _opinion_of(connection: Connection, pair: int, user: int, *, repeat: bool) -> bool:
    asked = select(OpinionRow.pair_id).where(
        OpinionRow.pair_id == pair, OpinionRow.user_id == user, OpinionRow.repeat == repeat
    )
    return connection.execute(asked).first() is not None


def settle_opinion(connection: Connection, pair: int, user: int, *, repeat: bool) -> None:
    """Makes a person's opinion of a pair anew from their events, and counts the opinions of the pair."""
    rows = {row.key: row for row in _rows(connection, pair, user)}
    opinions = state_of(map(stored_event, rows.values())).opinions
    opinion = opinions.get((NO_TOPIC, str(pair), str(user), repeat))
    mine = (OpinionRow.pair_id == pair) & (OpinionRow.user_id == user) & (OpinionRow.repeat == repeat)
    connection.execute(delete(OpinionRow).where(mine))
    if opinion is not None:
        row = rows[opinion.key]
        own = {"pair_id": pair, "user_id": user, "repeat": repeat}
        connection.execute(insert(OpinionRow).values(**own, event_id=row.id, kind=row.kind, grade=row.grade, at=row.at))
    count = select(func.count()).select_from(OpinionRow).where(OpinionRow.pair_id == pair, OpinionRow.repeat.is_(False))
    connection.execute(update(PairRow).where(PairRow.id == pair).values(opinions=count.scalar_subquery()))


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
    asked = select(EventRow).where(EventRow.pair_id == pair, EventRow.user_id == user).order_by(EventRow.id)
    return list(connection.execute(asked))


def _event(said: NewJudgement, user: int, *, repeat: bool) -> Event:
    """The judgement as the event that it will be; the pair's number stands for its document."""
    values = {name: getattr(said, name) for name in _STORED}
    return Event(topic=NO_TOPIC, document=str(said.pair), assessor=str(user), repeat=repeat, at=moment(0), **values)
