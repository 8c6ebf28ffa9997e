"""The opinions and verdicts of a project at one moment, in one read of the database, and what is kept of them.

Whatever is computed from a snapshot is kept until an event comes that was not in it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, and_, func, select

from cranfield.judging.events import moment
from cranfield.judging.scale import Scale
from cranfield.judging.state import Opinion, Pair, Slot, State
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import (
    EventRow,
    MemberRow,
    OpinionRow,
    PairRow,
    RunRow,
    ScaleRow,
    TopicRow,
    VerdictRow,
)

Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What a snapshot is known by: the number of the last event, how many there are (on PostgreSQL an earlier number
    may come later), the version of the scale and the runs."""

    last: int
    events: int
    scale: int
    runs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class AskedPairs:
    """A pair of the queue: its number, why it is there, how many opinions it wants, and how it was drawn."""

    number: int
    source: str
    wanted: int
    stratum: int | None
    chance: float | None


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A project at one moment; people by pseudonym, topics and documents by name, topics in their order."""

    mark: Mark
    scale: Scale
    state: State
    topics: tuple[str, ...]
    pairs: Mapping[Pair, AskedPairs]

    @property
    def pool(self) -> dict[str, list[str]]:
        """The documents that were to be judged, by topic; not those for calibration, which are shown and not asked."""
        pool: dict[str, list[str]] = {}
        for (topic, document), asked in self.pairs.items():
            if asked.source != "calibration":
                pool.setdefault(topic, []).append(document)
        return pool

    @property
    def chances(self) -> dict[Pair, float]:
        """The chance of each pair that was drawn by lot."""
        return {pair: asked.chance for pair, asked in self.pairs.items() if asked.chance is not None}


@contextmanager
def moment_of(store: Store) -> Iterator[Connection]:
    """A connection to which the database stands still, whatever others write meanwhile."""
    with store.reading() as connection:
        if connection.dialect.name == "postgresql":  # SQLite is so by itself
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield connection


def mark_of(connection: Connection, project: int) -> Mark:
    """What the project is known by at this moment."""
    events = select(func.max(EventRow.id), func.count()).where(EventRow.project_id == project)
    last, count = connection.execute(events).one()
    scale = connection.execute(select(func.max(ScaleRow.version)).where(ScaleRow.project_id == project)).scalar()
    runs = select(RunRow.name, RunRow.digest).where(RunRow.project_id == project).order_by(RunRow.name)
    return Mark(
        last=last or 0,
        events=count,
        scale=scale or 0,
        runs=tuple((row.name, row.digest) for row in connection.execute(runs)),
    )


def taken(connection: Connection, project: int) -> Snapshot:
    """The project as it is now."""
    mark = mark_of(connection, project)
    scale = select(ScaleRow.scale).where(ScaleRow.project_id == project, ScaleRow.version == mark.scale)
    names = select(TopicRow.name).where(TopicRow.project_id == project).order_by(TopicRow.place, TopicRow.id)
    return Snapshot(
        mark=mark,
        scale=Scale.from_json(connection.execute(scale).scalar_one()),
        state=State(opinions=_opinions(connection, project), verdicts=_verdicts(connection, project)),
        topics=tuple(connection.execute(names).scalars()),
        pairs=_pairs(connection, project),
    )


def _opinions(connection: Connection, project: int) -> dict[Slot, Opinion]:
    asked = _said(OpinionRow, project).add_columns(OpinionRow.repeat)
    return {(row.topic, row.document, row.pseudonym, row.repeat): _opinion(row) for row in connection.execute(asked)}


def _verdicts(connection: Connection, project: int) -> dict[Pair, Opinion]:
    return {(row.topic, row.document): _opinion(row) for row in connection.execute(_said(VerdictRow, project))}


def _said(table: type[OpinionRow] | type[VerdictRow], project: int) -> Select[*tuple[Any, ...]]:
    """Opinions or verdicts, in the order in which they were given."""
    return (
        select(
            TopicRow.name.label("topic"),
            PairRow.document,
            MemberRow.pseudonym,
            EventRow.kind,
            EventRow.grade,
            EventRow.reason,
            EventRow.note,
            EventRow.at,
            EventRow.key,
        )
        .select_from(table)
        .join(EventRow, EventRow.id == table.event_id)
        .join(PairRow, PairRow.id == table.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .join(MemberRow, and_(MemberRow.project_id == TopicRow.project_id, MemberRow.user_id == table.user_id))
        .where(TopicRow.project_id == project)
        .order_by(EventRow.id)
    )


def _opinion(row: Any) -> Opinion:
    return Opinion(
        kind=row.kind,
        grade=row.grade,
        reason=row.reason,
        note=row.note,
        at=moment(row.at / 1000),
        key=row.key,
        assessor=row.pseudonym,
    )


def _pairs(connection: Connection, project: int) -> dict[Pair, AskedPairs]:
    asked = (
        select(
            TopicRow.name,
            PairRow.document,
            PairRow.id,
            PairRow.source,
            PairRow.wanted,
            PairRow.stratum,
            PairRow.chance,
        )
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(TopicRow.project_id == project)
        .order_by(TopicRow.place, TopicRow.id, PairRow.document)
    )
    return {
        (row.name, row.document): AskedPairs(
            number=row.id, source=row.source, wanted=row.wanted, stratum=row.stratum, chance=row.chance
        )
        for row in connection.execute(asked)
    }


class KeptSnapshots:
    """What was computed from snapshots: one value of each kind for a project, until an event makes it old.

    Who asks while it is being computed waits for it.
    """

    def __init__(self) -> None:
        self._values: dict[tuple[int, str], tuple[Mark, object]] = {}
        self._turns: dict[tuple[int, str], threading.Lock] = {}
        self._turn = threading.Lock()

    def of(self, store: Store, project: int, kind: str, make: Callable[[Snapshot], Made]) -> Made:
        """The value of a kind, made from a snapshot of now unless the one that is kept still holds."""
        name = project, kind
        with self._turn:
            turn = self._turns.setdefault(name, threading.Lock())
        with turn:
            with moment_of(store) as connection:
                mark = mark_of(connection, project)
                known = self._values.get(name)
                if known is not None and known[0] == mark:
                    return known[1]  # type: ignore[return-value]
                snapshot = taken(connection, project)
            made = make(snapshot)
            self._values[name] = mark, made
            return made
