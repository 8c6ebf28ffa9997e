"""Events as the database has them, and as everything else does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, and_, select

from cranfield.judging.events import Event, moment
from cranfield.web.store.tables import EventRow, MemberRow, PairRow, TopicRow

NO_TOPIC = "-"  # numbers of pairs are unique without their topics
_SAME = (
    "kind",
    "key",
    "grade",
    "reason",
    "note",
    "repeat",
    "undoes",
    "active_ms",
    "away_ms",
    "view",
    "scale",
    "guideline",
    "origin",
)


def stored_event(row: Row[*tuple[Any, ...]]) -> Event:
    """A row as an event whose document is the number of the pair, its assessor that of the user."""
    return _event(row, NO_TOPIC, str(row.pair_id), str(row.user_id))


def told_events(connection: Connection, project: int) -> Iterator[Event]:
    """The events of a project as others get them: topics and documents by name, people by pseudonym."""
    asked = (
        select(EventRow, TopicRow.name.label("topic"), PairRow.document, MemberRow.pseudonym)
        .join(PairRow, PairRow.id == EventRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .join(MemberRow, and_(MemberRow.project_id == EventRow.project_id, MemberRow.user_id == EventRow.user_id))
        .where(EventRow.project_id == project)
        .order_by(EventRow.id)
    )
    for row in connection.execute(asked):
        yield _event(row, row.topic, row.document, row.pseudonym)


def _event(row: Row[*tuple[Any, ...]], topic: str, document: str, assessor: str) -> Event:
    same = {name: getattr(row, name) for name in _SAME}
    return Event(topic=topic, document=document, assessor=assessor, at=moment(row.at / 1000), **same)
