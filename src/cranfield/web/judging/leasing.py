"""Which document comes next: leases, so that no pair gets more opinions than it wants.

A lease keeps one place of a pair for one person. It ends with time, and then another may get the place; but its row
stays for a day, so that a judgement that comes late is taken all the same, as an opinion more than was wanted, and
never lost. Order: what they undid, the last first; what was before them and is still theirs; calibration documents of
the topic; now and then a document they judged before (blind); the queue; and at last what they put off.

To build a statement costs far more than to run it: all are built once, with places for who asks, of what and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.orm import aliased

from cranfield.web.store.tables import LeaseRow, Number, OpinionRow, PairRow, PostponedRow, TopicRow

DAY = 24 * 60 * 60_000
REPEAT_AFTER = 30 * 60_000  # a document comes again when this time has gone by,
REPEAT_DOCUMENTS = 50  # or so many documents,
RECENT = 10  # and never while it is among the last judgements, which can be seen and undone


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks for documents, of which topic, and what the project's options say of it."""

    user: int
    topic: int
    owned: bool = False
    repeats: float = 0.0
    lease_ms: int = 10 * 60_000


@dataclass(frozen=True, kw_only=True)
class Leased:
    """A pair that is before somebody. Whether they judged it before (`repeat`) is never told to them; `near` is its
    group of near-duplicates."""

    pair: int
    topic: int
    document: str
    repeat: bool
    until: int
    near: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """Somebody asks, at a time, for so many pairs of a topic that belongs to somebody (or to nobody)."""

    asker: Asker
    now: int
    owner: int | None
    count: int

    @property
    def parameters(self) -> dict[str, int | None]:
        asker = self.asker
        return {"user": asker.user, "topic": asker.topic, "now": self.now, "owner": self.owner, "count": self.count}


# The number of a pair, its document and its group of near-duplicates; and whether it comes again.
_Found: TypeAlias = tuple[Row[*tuple[Any, ...]], bool]


def lease(connection: Connection, now: int, asker: Asker, count: int = 2) -> list[Leased]:
    """The next pairs for somebody, at most `count`; fewer where fewer are left."""
    owner = connection.execute(_LOCK_TOPIC, {"topic": asker.topic}).one().owner_id
    kept = _kept(connection, now, asker)[:count]
    until = now + asker.lease_ms
    if kept:
        own = {"user": asker.user, "end": until}
        connection.execute(_RENEW, [own | {"pair": row.id, "again": repeat} for row, repeat in kept])
    fresh: list[_Found] = []
    for source in (_calibration, _repeat, _queued, _postponed):
        if (left := count - len(kept) - len(fresh)) > 0:
            fresh += source(connection, _Turn(asker=asker, now=now, owner=owner, count=left))
    if fresh:
        rows = [
            {"pair_id": row.id, "user_id": asker.user, "repeat": repeat, "until": until, "shown_at": now + place}
            for place, (row, repeat) in enumerate(fresh)  # when they ask again, the order is the same
        ]
        connection.execute(_GIVE, rows)
    return [
        Leased(pair=row.id, topic=asker.topic, document=row.document, repeat=repeat, until=until, near=row.near)
        for row, repeat in [*kept, *fresh]
    ]


def give_back(connection: Connection, user: int, topic: int) -> int:
    """Ends the leases of somebody who leaves a topic; how many there were."""
    of_topic = select(PairRow.id).where(PairRow.topic_id == topic)
    mine = delete(LeaseRow).where(LeaseRow.user_id == user, LeaseRow.pair_id.in_(of_topic))
    return connection.execute(mine).rowcount


def renew(connection: Connection, now: int, user: int, pairs: Sequence[int], lease_ms: int) -> int:
    """Keeps what somebody is reading theirs; how many of the pairs still are."""
    mine = (LeaseRow.user_id == user) & LeaseRow.pair_id.in_(pairs) & (LeaseRow.until > now)
    return connection.execute(update(LeaseRow).where(mine).values(until=now + lease_ms)).rowcount


def _kept(connection: Connection, now: int, asker: Asker) -> list[_Found]:
    """What was given to them before and is theirs still, or again: what they undid, then the first given first. Old
    rows go."""
    connection.execute(_FORGET, {"user": asker.user, "old": now - DAY})
    rows = connection.execute(_KEPT, {"user": asker.user, "topic": asker.topic, "now": now})
    return [(row, row.repeat) for row in rows]


def _calibration(connection: Connection, turn: _Turn) -> list[_Found]:
    """Documents that everybody judges first."""
    return [(row, False) for row in connection.execute(_CALIBRATION, turn.parameters)]


def _queued(connection: Connection, turn: _Turn) -> list[_Found]:
    """The queue: pairs with a place left."""
    return [(row, False) for row in connection.execute(_QUEUED[_is_reserved(turn)], turn.parameters)]


def _postponed(connection: Connection, turn: _Turn) -> list[_Found]:
    """What they put off, when nothing else is left; the first put off first. What they judged before was a repeat."""
    first = connection.execute(_PUT_OFF[_is_reserved(turn)], turn.parameters)
    again = connection.execute(_PUT_OFF_AGAIN, turn.parameters)
    rows = [(row, False) for row in first] + [(row, True) for row in again]
    return sorted(rows, key=lambda found: (found[0].at, found[0].id, found[1]))[: turn.count]


def _repeat(connection: Connection, turn: _Turn) -> list[_Found]:
    """A document that they judged long enough ago, if one is due: one in every 1/share."""
    share = turn.asker.repeats
    if share <= 0:
        return []
    rows = connection.execute(_JUDGED, turn.parameters).all()
    first = [row for row in rows if not row.repeat]
    again = {row.id for row in rows if row.repeat}
    if len(again) + 1 > share * len(first):
        return []
    if connection.execute(_REPEATS_HELD, turn.parameters).first() is not None:
        return []
    far = len(first) - REPEAT_DOCUMENTS
    due = [
        row
        for place, row in enumerate(first)
        if row.id not in again and (place < far or turn.now - row.at >= REPEAT_AFTER) and place < len(first) - RECENT
    ]
    # Which one comes cannot be told from outside, and is the same for the same judgements.
    return [(due[len(first) * 7919 % len(due)], True)] if due else []


def _is_reserved(turn: _Turn) -> bool:
    """Whether one place of every pair is for somebody else, whose topic it is."""
    return turn.asker.owned and turn.owner is not None and turn.owner != turn.asker.user


_USER, _TOPIC, _NOW = (bindparam(name, type_=Number) for name in ("user", "topic", "now"))
_PAIR = (PairRow.id, PairRow.document, PairRow.near)


def _taken() -> ColumnElement[int]:
    """Places of a pair that are gone: opinions, and what others have before them."""
    other = aliased(LeaseRow)
    leased = (
        select(func.count())
        .select_from(other)
        .where(other.pair_id == PairRow.id, other.user_id != _USER, other.until > _NOW, other.repeat.is_(False))
        .correlate(PairRow)
        .scalar_subquery()
    )
    return PairRow.opinions + leased


def _judged_by_them() -> ColumnElement[bool]:
    opinion = aliased(OpinionRow)
    return exists().where(opinion.pair_id == PairRow.id, opinion.user_id == _USER, opinion.repeat.is_(False))


def _before_them(*, repeats: bool) -> ColumnElement[bool]:
    held = aliased(LeaseRow)
    before = exists().where(held.pair_id == PairRow.id, held.user_id == _USER)
    return before if repeats else before.where(held.repeat.is_(False))


def _put_off() -> ColumnElement[bool]:
    put_off = aliased(PostponedRow)
    return exists().where(put_off.pair_id == PairRow.id, put_off.user_id == _USER)


def _open(*, reserved: bool) -> Select[int, str, int | None]:
    """Pairs of the topic that have a place left for this person, where one is the owner's or none is."""
    kept: ColumnElement[int] | int = 0
    if reserved:
        other, held, owner = aliased(OpinionRow), aliased(LeaseRow), bindparam("owner", type_=Number)
        judged = exists().where(other.pair_id == PairRow.id, other.user_id == owner, other.repeat.is_(False))
        reads = exists().where(held.pair_id == PairRow.id, held.user_id == owner, held.until > _NOW)
        kept = case((or_(judged, reads), 0), else_=1)
    return select(*_PAIR).where(
        PairRow.topic_id == _TOPIC,
        PairRow.opinions < PairRow.wanted,
        ~_judged_by_them(),
        ~_before_them(repeats=False),
        _taken() + kept < PairRow.wanted,
    )


_WAITS = and_(PostponedRow.pair_id == PairRow.id, PostponedRow.user_id == _USER)
_LOCK_TOPIC = select(TopicRow.id, TopicRow.owner_id).where(TopicRow.id == _TOPIC).with_for_update()
_FORGET = delete(LeaseRow).where(LeaseRow.user_id == _USER, LeaseRow.until < bindparam("old"))
_GIVE = insert(LeaseRow)
_RENEW = (
    update(LeaseRow)
    .where(LeaseRow.user_id == _USER, LeaseRow.pair_id == bindparam("pair"), LeaseRow.repeat == bindparam("again"))
    .values(until=bindparam("end"))
)
_KEPT = (
    select(*_PAIR, LeaseRow.repeat)
    .join(LeaseRow, LeaseRow.pair_id == PairRow.id)
    .where(
        LeaseRow.user_id == _USER,
        PairRow.topic_id == _TOPIC,
        or_(
            LeaseRow.until > _NOW,
            LeaseRow.repeat.is_(True),
            PairRow.source == "calibration",
            _taken() < PairRow.wanted,
        ),
    )
    .order_by(LeaseRow.shown_at, PairRow.place, PairRow.id)
)
_CALIBRATION = (
    select(*_PAIR)
    .where(
        PairRow.topic_id == _TOPIC,
        PairRow.source == "calibration",
        ~_judged_by_them(),
        ~_before_them(repeats=False),
    )
    .order_by(PairRow.place, PairRow.id)
    .limit(bindparam("count"))
)
_QUEUED = {
    reserved: _open(reserved=reserved).where(~_put_off()).order_by(PairRow.place, PairRow.id).limit(bindparam("count"))
    for reserved in (False, True)
}
_PUT_OFF = {
    reserved: _open(reserved=reserved).join(PostponedRow, _WAITS).add_columns(PostponedRow.at)
    for reserved in (False, True)
}
_PUT_OFF_AGAIN = (
    select(*_PAIR, PostponedRow.at)
    .join(PostponedRow, _WAITS)
    .where(PairRow.topic_id == _TOPIC, _judged_by_them(), ~_before_them(repeats=True))
)
_JUDGED = (
    select(*_PAIR, OpinionRow.repeat, OpinionRow.at)
    .join(OpinionRow, OpinionRow.pair_id == PairRow.id)
    .where(OpinionRow.user_id == _USER, PairRow.topic_id == _TOPIC, ~_put_off())
    .order_by(OpinionRow.at, OpinionRow.pair_id)
)
_REPEATS_HELD = select(LeaseRow.pair_id).where(LeaseRow.user_id == _USER, LeaseRow.repeat.is_(True))
