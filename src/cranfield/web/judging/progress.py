"""How far judging has come, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, case, exists, func, or_, select

from cranfield.web.store.tables import MemberRow, OpinionRow, PairRow, TopicRow


@dataclass(frozen=True, kw_only=True)
class TopicCounts:
    """A topic: how many pairs it has, how many have all the opinions they want, and what one person judged of it.

    What came again blind counts like everything else they judged: a number that stands still would tell it.
    """

    id: int
    name: str
    question: str
    pairs: int
    done: int
    mine: int
    relevant: int
    owner: str | None

    @property
    def left(self) -> int:
        return self.pairs - self.done


def question_of(fields: Sequence[Sequence[str]]) -> str:
    """The short form of a question: its title, or the first field that says something."""
    texts = {str(field[0]): str(field[1]) for field in fields}
    return next((text for text in (texts.get("title", ""), *texts.values()) if text.strip()), "")


def topics_of(
    connection: Connection, project: int, user: int, threshold: int, *, topic: int | None = None
) -> list[TopicCounts]:
    """The topics of a project in their order, as one person sees them; `threshold` is the lowest relevant grade."""
    only = [TopicRow.project_id == project] + ([TopicRow.id == topic] if topic is not None else [])
    counts = _counts(connection, only)
    mine = _mine(connection, only, user, threshold)
    asked = (
        select(TopicRow.id, TopicRow.name, TopicRow.fields, MemberRow.pseudonym)
        .outerjoin(MemberRow, and_(MemberRow.project_id == TopicRow.project_id, MemberRow.user_id == TopicRow.owner_id))
        .where(*only)
        .order_by(TopicRow.place, TopicRow.id)
    )
    return [
        TopicCounts(
            id=row.id,
            name=row.name,
            question=question_of(row.fields),
            pairs=counts.get(row.id, (0, 0))[0],
            done=counts.get(row.id, (0, 0))[1],
            mine=mine.get(row.id, (0, 0))[0],
            relevant=mine.get(row.id, (0, 0))[1],
            owner=row.pseudonym,
        )
        for row in connection.execute(asked)
    ]


def _counts(connection: Connection, only: Sequence[object]) -> Mapping[int, tuple[int, int]]:
    done = func.sum(case((PairRow.opinions >= PairRow.wanted, 1), else_=0))
    asked = (
        select(PairRow.topic_id, func.count().label("pairs"), done.label("done"))
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(*only, PairRow.source != "calibration")  # type: ignore[arg-type]
        .group_by(PairRow.topic_id)
    )
    return {row.topic_id: (row.pairs, int(row.done or 0)) for row in connection.execute(asked)}


def _mine(connection: Connection, only: Sequence[object], user: int, threshold: int) -> Mapping[int, tuple[int, int]]:
    relevant = func.sum(case((OpinionRow.grade >= threshold, 1), else_=0))
    asked = (
        select(PairRow.topic_id, func.count().label("mine"), relevant.label("relevant"))
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(*only, OpinionRow.user_id == user)  # type: ignore[arg-type]
        .group_by(PairRow.topic_id)
    )
    return {row.topic_id: (row.mine, int(row.relevant or 0)) for row in connection.execute(asked)}


def left_for(connection: Connection, topic: int, user: int, repeats: float) -> int:
    """How many documents of a topic one person may still meet: one less with everything they judge.

    Calibration documents and what comes again blind (the share `repeats`) are among them, so that nobody can tell by
    this number which of the documents are of what kind.
    """
    mine = and_(OpinionRow.pair_id == PairRow.id, OpinionRow.user_id == user)
    judged = exists().where(mine, OpinionRow.repeat.is_(False))
    wanted = or_(PairRow.opinions < PairRow.wanted, PairRow.source == "calibration")
    asked = select(func.count()).select_from(PairRow).where(PairRow.topic_id == topic, wanted, ~judged)
    left: int = connection.execute(asked).scalar_one()
    opinions = select(func.count()).select_from(PairRow).join(OpinionRow, mine).where(PairRow.topic_id == topic)
    first: int = connection.execute(opinions.where(OpinionRow.repeat.is_(False))).scalar_one()
    again: int = connection.execute(opinions.where(OpinionRow.repeat.is_(True))).scalar_one()
    return left + max(0, int(repeats * (first + left)) - again)
