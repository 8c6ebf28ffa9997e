"""What a topic has asked for and what was said of it, as a method that learns must know it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from cranfield.web.store.tables import EventRow, LeaseRow, Number, OpinionRow, PairRow, TopicRow, VerdictRow


@dataclass(frozen=True, kw_only=True)
class AskedPair:
    """A pair of a topic: why it is there, whether it is relevant (None: nobody has said), and whether it is `idle`:
    nobody has it before them, nobody has said anything of it."""

    id: int
    document: str
    source: str
    relevant: bool | None
    idle: bool


@dataclass(frozen=True, kw_only=True)
class AskedTopic:
    """A topic with all its pairs, in the order in which they were judged and then in that of the queue."""

    id: int
    name: str
    question: str
    pairs: tuple[AskedPair, ...]


def asked_topic(connection: Connection, topic: int, threshold: int) -> AskedTopic:
    """The topic as it is now. Where opinions differ, most decide, and half of them make a document relevant: a learner
    loses less by one document too many."""
    here = {"topic": topic}
    row = connection.execute(_TOPIC, here).one()
    said: dict[int, list[tuple[int, bool]]] = {}
    for one in connection.execute(_OPINIONS, here):
        said.setdefault(one.pair_id, []).append((one.event_id, one.grade >= threshold))
    decided = {one.pair_id: one.grade >= threshold for one in connection.execute(_VERDICTS, here)}
    touched = {*connection.execute(_LEASED, here).scalars(), *connection.execute(_SPOKEN, here).scalars()}
    placed = []
    for pair in connection.execute(_PAIRS, here):
        votes = [relevant for _, relevant in said.get(pair.id, [])]
        relevant = decided.get(pair.id, 2 * sum(votes) >= len(votes) if votes else None)
        first = min((event for event, _ in said.get(pair.id, [])), default=None)
        made = AskedPair(
            id=pair.id,
            document=pair.document,
            source=pair.source,
            relevant=relevant,
            idle=pair.id not in touched,
        )
        placed.append(((first is None, first or pair.place, pair.id), made))
    fields = {str(name): str(text) for name, text in row.fields}
    question = " ".join(fields[name] for name in ("title", "description") if name in fields) or " ".join(
        fields.values()
    )
    pairs = tuple(made for _, made in sorted(placed, key=lambda one: one[0]))
    return AskedTopic(id=topic, name=row.name, question=question, pairs=pairs)


# Built once: they are run after every judgement.
_HERE = bindparam("topic", type_=Number)
_OF_TOPIC = select(PairRow.id).where(PairRow.topic_id == _HERE)
_TOPIC = select(TopicRow.name, TopicRow.fields).where(TopicRow.id == _HERE)
_OPINIONS = (
    select(OpinionRow.pair_id, OpinionRow.event_id, OpinionRow.grade)
    .join(PairRow, PairRow.id == OpinionRow.pair_id)
    .where(PairRow.topic_id == _HERE, OpinionRow.repeat.is_(False), OpinionRow.grade.is_not(None))
)
_VERDICTS = (
    select(VerdictRow.pair_id, VerdictRow.grade)
    .join(PairRow, PairRow.id == VerdictRow.pair_id)
    .where(PairRow.topic_id == _HERE, VerdictRow.grade.is_not(None))
)
_PAIRS = select(PairRow.id, PairRow.document, PairRow.source, PairRow.place).where(PairRow.topic_id == _HERE)
_LEASED = select(LeaseRow.pair_id).where(LeaseRow.pair_id.in_(_OF_TOPIC))
_SPOKEN = select(EventRow.pair_id).where(EventRow.pair_id.in_(_OF_TOPIC)).distinct()
