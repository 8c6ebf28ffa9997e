"""Which document comes next: leases, so that no pair gets more opinions than it wants.

A lease keeps one place of a pair for one person. It ends with time, and then another may get the place; but its row
stays for a day, so that a judgement that comes late is taken all the same, as an opinion more than was wanted, and
never lost. Order: what was before them and is still theirs, calibration documents of the topic, now and then a
document they judged before (blind), the queue, and at last what they put off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    and_,
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

from cranfield.web.store.tables import LeaseRow, OpinionRow, PairRow, PostponedRow, TopicRow

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


def lease(connection: Connection, now: int, asker: Asker, count: int = 2) -> list[Leased]:
    """The next pairs for somebody, at most `count`; fewer where fewer are left."""
    topic = connection.execute(
        select(TopicRow.id, TopicRow.owner_id).where(TopicRow.id == asker.topic).with_for_update()
    ).one()
    kept = _kept(connection, now, asker)[:count]
    _renew(connection, now, asker, kept)
    fresh: list[tuple[int, bool]] = []
    for source in (_calibration, _repeat, _queued, _postponed):
        if len(kept) + len(fresh) < count:
            left = count - len(kept) - len(fresh)
            fresh += source(connection, now, asker, topic.owner_id, left)
    until = now + asker.lease_ms
    if fresh:
        rows = [
            {"pair_id": pair, "user_id": asker.user, "repeat": repeat, "until": until, "shown_at": now + place}
            for place, (pair, repeat) in enumerate(fresh)  # when they ask again, the order is the same
        ]
        connection.execute(insert(LeaseRow), rows)
    return _described(connection, asker, [*kept, *fresh], until)


def give_back(connection: Connection, user: int, topic: int) -> int:
    """Ends the leases of somebody who leaves a topic; how many there were."""
    of_topic = select(PairRow.id).where(PairRow.topic_id == topic)
    mine = delete(LeaseRow).where(LeaseRow.user_id == user, LeaseRow.pair_id.in_(of_topic))
    return connection.execute(mine).rowcount


def renew(connection: Connection, now: int, user: int, pairs: Sequence[int], lease_ms: int) -> int:
    """Keeps what somebody is reading theirs; how many of the pairs still are."""
    mine = (LeaseRow.user_id == user) & LeaseRow.pair_id.in_(pairs) & (LeaseRow.until > now)
    return connection.execute(update(LeaseRow).where(mine).values(until=now + lease_ms)).rowcount


def _kept(connection: Connection, now: int, asker: Asker) -> list[tuple[int, bool]]:
    """What was given to them before and is theirs still, or again: the first given first. Old rows go."""
    connection.execute(delete(LeaseRow).where(LeaseRow.user_id == asker.user, LeaseRow.until < now - DAY))
    free = or_(
        LeaseRow.until > now,
        LeaseRow.repeat.is_(True),
        PairRow.source == "calibration",
        _taken(now, asker.user) < PairRow.wanted,
    )
    asked = (
        select(LeaseRow.pair_id, LeaseRow.repeat)
        .join(PairRow, PairRow.id == LeaseRow.pair_id)
        .where(LeaseRow.user_id == asker.user, PairRow.topic_id == asker.topic, free)
        .order_by(LeaseRow.shown_at, PairRow.place, PairRow.id)
    )
    return [(row.pair_id, row.repeat) for row in connection.execute(asked)]


def _renew(connection: Connection, now: int, asker: Asker, kept: Sequence[tuple[int, bool]]) -> None:
    for pair, repeat in kept:
        mine = (LeaseRow.user_id == asker.user) & (LeaseRow.pair_id == pair) & (LeaseRow.repeat == repeat)
        connection.execute(update(LeaseRow).where(mine).values(until=now + asker.lease_ms))


def _calibration(
    connection: Connection, now: int, asker: Asker, owner: int | None, count: int
) -> list[tuple[int, bool]]:
    """Documents that everybody judges first."""
    asked = (
        select(PairRow.id)
        .where(
            PairRow.topic_id == asker.topic,
            PairRow.source == "calibration",
            ~_judged_by(asker.user),
            ~_before(asker.user),
        )
        .order_by(PairRow.place, PairRow.id)
        .limit(count)
    )
    return [(row.id, False) for row in connection.execute(asked)]


def _queued(connection: Connection, now: int, asker: Asker, owner: int | None, count: int) -> list[tuple[int, bool]]:
    """The queue: pairs with a place left."""
    asked = _open(now, asker, owner).where(~_put_off(asker.user))
    asked = asked.order_by(PairRow.place, PairRow.id).limit(count)
    return [(row.id, False) for row in connection.execute(asked)]


def _postponed(connection: Connection, now: int, asker: Asker, owner: int | None, count: int) -> list[tuple[int, bool]]:
    """What they put off, when nothing else is left; the first put off first. What they judged before was a repeat."""
    put_off = and_(PostponedRow.pair_id == PairRow.id, PostponedRow.user_id == asker.user)
    asked = _open(now, asker, owner).join(PostponedRow, put_off).add_columns(PostponedRow.at)
    held = aliased(LeaseRow)
    before_them = exists().where(held.pair_id == PairRow.id, held.user_id == asker.user)
    again = select(PairRow.id, PostponedRow.at).join(PostponedRow, put_off)
    again = again.where(PairRow.topic_id == asker.topic, _judged_by(asker.user), ~before_them)
    rows = [(row.at, row.id, False) for row in connection.execute(asked)]
    rows += [(row.at, row.id, True) for row in connection.execute(again)]
    return [(pair, repeat) for _, pair, repeat in sorted(rows)[:count]]


def _repeat(connection: Connection, now: int, asker: Asker, owner: int | None, count: int) -> list[tuple[int, bool]]:
    """A document that they judged long enough ago, if one is due: one in every 1/share."""
    if asker.repeats <= 0:
        return []
    mine = select(OpinionRow.pair_id, OpinionRow.repeat, OpinionRow.at).join(PairRow, PairRow.id == OpinionRow.pair_id)
    mine = mine.where(OpinionRow.user_id == asker.user, PairRow.topic_id == asker.topic, ~_put_off(asker.user))
    rows = connection.execute(mine.order_by(OpinionRow.at, OpinionRow.pair_id)).all()
    first = [row for row in rows if not row.repeat]
    again = {row.pair_id for row in rows if row.repeat}
    if len(again) + 1 > asker.repeats * len(first):
        return []
    under_way = select(LeaseRow.pair_id).where(LeaseRow.user_id == asker.user, LeaseRow.repeat.is_(True))
    if connection.execute(under_way).first() is not None:
        return []
    far = len(first) - REPEAT_DOCUMENTS
    due = [
        row.pair_id
        for place, row in enumerate(first)
        if row.pair_id not in again and (place < far or now - row.at >= REPEAT_AFTER) and place < len(first) - RECENT
    ]
    # Which one comes cannot be told from outside, and is the same for the same judgements.
    return [(due[len(first) * 7919 % len(due)], True)] if due else []


def _open(now: int, asker: Asker, owner: int | None) -> Select[int]:
    """Pairs of the topic that have a place left for this person."""
    reserved: ColumnElement[int] | int = 0
    if asker.owned and owner is not None and owner != asker.user:
        other = aliased(OpinionRow)
        held = aliased(LeaseRow)
        judged = exists().where(other.pair_id == PairRow.id, other.user_id == owner, other.repeat.is_(False))
        reads = exists().where(held.pair_id == PairRow.id, held.user_id == owner, held.until > now)
        reserved = case((or_(judged, reads), 0), else_=1)  # one place is the owner's
    return select(PairRow.id).where(
        PairRow.topic_id == asker.topic,
        PairRow.opinions < PairRow.wanted,
        ~_judged_by(asker.user),
        ~_before(asker.user),
        _taken(now, asker.user) + reserved < PairRow.wanted,
    )


def _taken(now: int, user: int) -> ColumnElement[int]:
    """Places of a pair that are gone: opinions, and what others have before them."""
    other = aliased(LeaseRow)
    leased = (
        select(func.count())
        .select_from(other)
        .where(other.pair_id == PairRow.id, other.user_id != user, other.until > now, other.repeat.is_(False))
        .correlate(PairRow)
        .scalar_subquery()
    )
    return PairRow.opinions + leased


def _judged_by(user: int) -> ColumnElement[bool]:
    opinion = aliased(OpinionRow)
    return exists().where(opinion.pair_id == PairRow.id, opinion.user_id == user, opinion.repeat.is_(False))


def _before(user: int) -> ColumnElement[bool]:
    held = aliased(LeaseRow)
    return exists().where(held.pair_id == PairRow.id, held.user_id == user, held.repeat.is_(False))


def _put_off(user: int) -> ColumnElement[bool]:
    put_off = aliased(PostponedRow)
    return exists().where(put_off.pair_id == PairRow.id, put_off.user_id == user)


def _described(connection: Connection, asker: Asker, pairs: Sequence[tuple[int, bool]], until: int) -> list[Leased]:
    numbers = [pair for pair, _ in pairs]
    asked = select(PairRow.id, PairRow.document, PairRow.near).where(PairRow.id.in_(numbers))
    rows = {row.id: row for row in connection.execute(asked)}
    return [
        Leased(
            pair=pair,
            topic=asker.topic,
            document=rows[pair].document,
            repeat=repeat,
            until=until,
            near=rows[pair].near,
        )
        for pair, repeat in pairs
    ]
