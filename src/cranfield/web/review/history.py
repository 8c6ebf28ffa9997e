"""What somebody judged, topic by topic: their own opinions that hold, to be looked at and changed.

Blind repeats are not among them: who sees one is no longer blind.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from cranfield.web.store.tables import EventRow, OpinionRow, PairRow, TopicRow


@dataclass(frozen=True, kw_only=True)
class OwnOpinion:
    """An opinion of the visitor; `key` is that of the event, and undoes it."""

    pair: int
    document: str
    kind: str
    grade: int | None
    reason: str | None
    note: str
    at: int
    key: str


def own_opinions(connection: Connection, project: int, user: int, topic: int) -> list[OwnOpinion]:
    """What somebody thinks of the documents of a topic, what they said last first."""
    asked = (
        select(EventRow, PairRow.document)
        .join(OpinionRow, OpinionRow.event_id == EventRow.id)
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(
            TopicRow.project_id == project,
            TopicRow.id == topic,
            OpinionRow.user_id == user,
            OpinionRow.repeat.is_(False),
        )
        .order_by(EventRow.id.desc())
    )
    return [
        OwnOpinion(
            pair=row.pair_id,
            document=row.document,
            kind=row.kind,
            grade=row.grade,
            reason=row.reason,
            note=row.note,
            at=row.at,
            key=row.key,
        )
        for row in connection.execute(asked)
    ]
