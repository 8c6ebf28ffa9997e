"""What a topic has asked for and what was said of it, as a method that learns must know it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from cranfield.web.store.tables import EventRow, LeaseRow, OpinionRow, PairRow, TopicRow, VerdictRow


@dataclass(frozen=True, kw_only=True)
class AskedPair:
    """A pair of a topic: why it is there, whether it is relevant (None: nobody has said), and whether it is `idle`:
    nobody has it before them, nobody has said anything of it."""

    id: int
    document: str
    source: str
    relevant: bool | None
    idle: bool
    open: bool


@dataclass(frozen=True, kw_only=True)
class AskedTopic:
    """A topic with all its pairs, in the order in which they were judged and then in that of the queue."""

    id: int
    project: int
    name: str
    question: str
    pairs: tuple[AskedPair, ...]
    last: int  # the number of the last event: what was known


def asked_topic(connection: Connection, topic: int, threshold: int) -> AskedTopic:
    """The topic as it is now. Where opinions differ, most decide, and half of them make a document relevant: a learner
    loses less by one document too many."""
    row = connection.execute(select(TopicRow).where(TopicRow.id == topic)).one()
    said: dict[int, list[tuple[int, bool]]] = {}
    opinions = (
        select(OpinionRow.pair_id, OpinionRow.event_id, OpinionRow.grade)
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .where(PairRow.topic_id == topic, OpinionRow.repeat.is_(False), OpinionRow.grade.is_not(None))
    )
    for one in connection.execute(opinions):
        said.setdefault(one.pair_id, []).append((one.event_id, one.grade >= threshold))
    verdicts = (
        select(VerdictRow.pair_id, VerdictRow.grade)
        .join(PairRow, PairRow.id == VerdictRow.pair_id)
        .where(PairRow.topic_id == topic, VerdictRow.grade.is_not(None))
    )
    decided = {one.pair_id: one.grade >= threshold for one in connection.execute(verdicts)}
    touched = _touched(connection, topic)
    pairs = connection.execute(select(PairRow).where(PairRow.topic_id == topic)).all()
    placed = []
    for pair in pairs:
        votes = [relevant for _, relevant in said.get(pair.id, [])]
        relevant = decided.get(pair.id, 2 * sum(votes) >= len(votes) if votes else None)
        first = min((event for event, _ in said.get(pair.id, [])), default=None)
        made = AskedPair(
            id=pair.id,
            document=pair.document,
            source=pair.source,
            relevant=relevant,
            idle=pair.id not in touched,
            open=pair.opinions < pair.wanted,
        )
        placed.append(((first is None, first or pair.place, pair.id), made))
    last = connection.execute(select(func.max(EventRow.id)).where(EventRow.project_id == row.project_id)).scalar()
    fields = {str(name): str(text) for name, text in row.fields}
    question = " ".join(fields[name] for name in ("title", "description") if name in fields) or " ".join(
        fields.values()
    )
    return AskedTopic(
        id=topic,
        project=row.project_id,
        name=row.name,
        question=question,
        pairs=tuple(made for _, made in sorted(placed, key=lambda one: one[0])),
        last=last or 0,
    )


def _touched(connection: Connection, topic: int) -> set[int]:
    """Pairs that somebody has before them or has said something of."""
    of_topic = select(PairRow.id).where(PairRow.topic_id == topic)
    leased = connection.execute(select(LeaseRow.pair_id).where(LeaseRow.pair_id.in_(of_topic))).scalars()
    spoken = connection.execute(select(EventRow.pair_id).where(EventRow.pair_id.in_(of_topic)).distinct()).scalars()
    return {*leased, *spoken}
