"""How far judging has come, topic by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, bindparam, case, exists, func, or_, select

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
    """The short form of a question, in one line: its title, or the first field that says something.

    >>> question_of([["description", "Do ducks swim?"], ["title", "ducks\\nand geese"]])
    'ducks and geese'
    """
    texts = {str(field[0]): " ".join(str(field[1]).split()) for field in fields}
    return next((text for text in (texts.get("title", ""), *texts.values()) if text), "")


def topics_of(connection: Connection, project: int, user: int, threshold: int) -> list[TopicCounts]:
    """The topics of a project in their order, as one person sees them; `threshold` is the lowest relevant grade."""
    counts = _counts(connection, project)
    mine = _mine(connection, project, user, threshold)
    asked = (
        select(TopicRow.id, TopicRow.name, TopicRow.fields, MemberRow.pseudonym)
        .outerjoin(MemberRow, and_(MemberRow.project_id == TopicRow.project_id, MemberRow.user_id == TopicRow.owner_id))
        .where(TopicRow.project_id == project)
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


def next_topic(connection: Connection, project: int, user: int, after: str, *, owned: bool) -> str | None:
    """The first topic after another, and then from the first on, in which one person finds something to judge."""
    left = (
        select(TopicRow.name, TopicRow.place)
        .join(PairRow, PairRow.topic_id == TopicRow.id)
        .where(TopicRow.project_id == project, TopicRow.name != after, PairRow.opinions < PairRow.wanted)
        .where(~exists().where(OpinionRow.pair_id == PairRow.id, OpinionRow.user_id == user))
        .distinct()
    )
    if owned:
        left = left.where(or_(TopicRow.owner_id.is_(None), TopicRow.owner_id == user))
    here = select(TopicRow.place).where(TopicRow.project_id == project, TopicRow.name == after)
    place = connection.execute(here).scalar()
    rows = connection.execute(left).all()
    found = min(rows, key=lambda row: (place is not None and row.place < place, row.place), default=None)
    return None if found is None else str(found.name)


def _counts(connection: Connection, project: int) -> Mapping[int, tuple[int, int]]:
    done = func.sum(case((PairRow.opinions >= PairRow.wanted, 1), else_=0))
    asked = (
        select(PairRow.topic_id, func.count().label("pairs"), done.label("done"))
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(TopicRow.project_id == project, PairRow.source != "calibration")
        .group_by(PairRow.topic_id)
    )
    return {row.topic_id: (row.pairs, int(row.done or 0)) for row in connection.execute(asked)}


def _mine(connection: Connection, project: int, user: int, threshold: int) -> Mapping[int, tuple[int, int]]:
    relevant = func.sum(case((OpinionRow.grade >= threshold, 1), else_=0))
    asked = (
        select(PairRow.topic_id, func.count().label("mine"), relevant.label("relevant"))
        .join(PairRow, PairRow.id == OpinionRow.pair_id)
        .join(TopicRow, TopicRow.id == PairRow.topic_id)
        .where(TopicRow.project_id == project, OpinionRow.user_id == user)
        .group_by(PairRow.topic_id)
    )
    return {row.topic_id: (row.mine, int(row.relevant or 0)) for row in connection.execute(asked)}


@dataclass(frozen=True, kw_only=True)
class OwnProgress:
    """How far one person has come in a topic: what they judged, and what they may still meet."""

    mine: int
    relevant: int
    left: int

    @property
    def line(self) -> str:
        """One line, the same for template and script.

        >>> OwnProgress(mine=3, relevant=1, left=10).line
        'You judged 3, 1 of them relevant; 10 are left.'
        >>> OwnProgress(mine=3, relevant=1, left=0).line
        'You judged 3, 1 of them relevant.'
        """
        left = f"; {self.left:,} {'is' if self.left == 1 else 'are'} left" if self.left else ""
        return f"You judged {self.mine:,}, {self.relevant:,} of them relevant{left}."


def own_progress(connection: Connection, topic: int, user: int, threshold: int, repeats: float) -> OwnProgress:
    """How far one person has come in a topic; `threshold` is the lowest relevant grade.

    Calibration documents and what comes again blind (the share `repeats`) are among those left, so that nobody can tell
    by this number which of the documents are of what kind: it is one less with everything they judge.
    """
    own = {"topic": topic, "user": user}
    judged = connection.execute(_OWN_OPINIONS, own | {"threshold": threshold}).one()
    left: int = connection.execute(_LEFT, own).scalar_one()
    first, again = judged.mine - (judged.again or 0), judged.again or 0
    left += max(0, int(repeats * (first + left)) - again)
    return OwnProgress(mine=judged.mine, relevant=judged.relevant or 0, left=left)


# Built once: they are run for every judgement.
_BY_THEM = and_(OpinionRow.pair_id == PairRow.id, OpinionRow.user_id == bindparam("user"))
_OWN_OPINIONS = (
    select(
        func.count().label("mine"),
        func.sum(case((OpinionRow.grade >= bindparam("threshold"), 1), else_=0)).label("relevant"),
        func.sum(case((OpinionRow.repeat.is_(True), 1), else_=0)).label("again"),
    )
    .select_from(OpinionRow)
    .join(PairRow, _BY_THEM)
    .where(PairRow.topic_id == bindparam("topic"))
)
_LEFT = (
    select(func.count())
    .select_from(PairRow)
    .where(
        PairRow.topic_id == bindparam("topic"),
        or_(PairRow.opinions < PairRow.wanted, PairRow.source == "calibration"),
        ~exists().where(_BY_THEM, OpinionRow.repeat.is_(False)),
    )
)
