"""What members see of a project: its state, its topics and how far they are, and what is next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select

from cranfield.render.json_form import Json
from cranfield.web.judging.progress import question_of
from cranfield.web.projects.collections import ProjectSource, shown_source
from cranfield.web.projects.jobs import latest
from cranfield.web.projects.making import PREPARE
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.store.tables import MemberRow, PairRow, ProjectRow, RunRow, TopicRow


@dataclass(frozen=True, kw_only=True)
class TopicCount:
    """A topic: its title, how many documents are in the queue, and how many of them have all opinions wanted.

    Calibration documents, which everybody judges, are not counted.
    """

    name: str
    title: str
    documents: int
    finished: int
    owner_id: int | None


@dataclass(frozen=True, kw_only=True)
class ProjectRun:
    """A run of a project."""

    id: int
    name: str
    topics: int
    rows: int
    digest: str
    at: int


@dataclass(frozen=True, kw_only=True)
class ProjectOverview:
    """A project at one moment. `progress` is what the job that prepares it says, if there is one under way."""

    slug: str
    title: str
    state: str
    reason: str | None
    progress: str | None
    collection: str
    findings: tuple[tuple[str, str], ...]
    options: ProjectOptions
    source: ProjectSource
    topics: tuple[TopicCount, ...]
    people: int
    runs: int
    may_judge: bool = True  # whoever looks at it

    def to_json(self) -> dict[str, Json]:
        """What the API and `cranfield project show` tell of it."""
        names = ("slug", "title", "state", "reason", "progress", "next_step", "collection", "people", "runs")
        counted: dict[str, Json] = {name: getattr(self, name) for name in (*names, "documents", "finished")}
        counted["ids"] = self.source.ids
        topics: list[Json] = [
            {"name": topic.name, "title": topic.title, "documents": topic.documents, "finished": topic.finished}
            for topic in self.topics
        ]
        findings: list[Json] = [{"code": code, "message": message} for code, message in self.findings]
        return {**counted, "options": self.options.to_json(), "findings": findings, "topics": topics}

    @property
    def documents(self) -> int:
        return sum(topic.documents for topic in self.topics)

    @property
    def finished(self) -> int:
        return sum(topic.finished for topic in self.topics)

    @property
    def next_step(self) -> str:
        """What is to be done, in a sentence."""
        if self.state == "draft":
            lacking = [] if self.source.collection or self.source.place else ["documents", "topics"]
            lacking = [kind for kind in lacking if kind not in self.source.parts]
            if lacking:
                return f"The owner uploads {' and '.join(lacking)}."
            if not self.runs and not self.options.learns:
                return "The owner uploads the runs from which documents are chosen."
            return "The owner has it prepared."
        if self.state == "preparing":
            return "The server prepares it; this page says how far it is."
        if self.state == "failed":
            return "The owner mends what is said above, and has it prepared again."
        if self.documents == self.finished and not self.options.adaptive:
            return "Every document has the opinions wanted: look at the agreement, and release the judgements."
        return "Judge." if self.may_judge else "Its assessors judge."


def overview(connection: Connection, project: int, *, may_judge: bool = True) -> ProjectOverview:
    """A project as its members see it; a viewer is not told to judge."""
    row = connection.execute(select(ProjectRow).where(ProjectRow.id == project)).one()
    job = latest(connection, project, PREPARE) if row.state == "preparing" else None
    source = ProjectSource.from_json(row.source)
    return ProjectOverview(
        slug=row.slug,
        title=row.title,
        state=row.state,
        reason=row.reason,
        progress=None if job is None else job.progress or "waiting for its turn",
        collection=shown_source(source),
        findings=tuple((code, sentence) for code, sentence in row.findings),
        options=ProjectOptions.from_json(row.settings),
        source=source,
        topics=topics_of(connection, project),
        people=_people(connection, project),
        runs=_count(connection, RunRow, project),
        may_judge=may_judge,
    )


def topics_of(connection: Connection, project: int) -> tuple[TopicCount, ...]:
    """The topics in their order, each with its progress."""
    asked_for = PairRow.wanted > 0
    finished = case((asked_for & (PairRow.opinions >= PairRow.wanted), 1), else_=0)
    counted = (
        select(
            TopicRow.name,
            TopicRow.fields,
            TopicRow.owner_id,
            func.sum(case((asked_for, 1), else_=0)).label("documents"),
            func.sum(finished).label("finished"),
        )
        .outerjoin(PairRow, PairRow.topic_id == TopicRow.id)
        .where(TopicRow.project_id == project)
        .group_by(TopicRow.id)
        .order_by(TopicRow.place)
    )
    return tuple(
        TopicCount(
            name=row.name,
            title=question_of(row.fields),
            documents=int(row.documents or 0),
            finished=int(row.finished or 0),
            owner_id=row.owner_id,
        )
        for row in connection.execute(counted)
    )


def runs_of(connection: Connection, project: int) -> tuple[ProjectRun, ...]:
    """The runs of a project by name."""
    asked = select(RunRow).where(RunRow.project_id == project).order_by(RunRow.name)
    return tuple(
        ProjectRun(id=row.id, name=row.name, topics=row.topics, rows=row.rows, digest=row.digest, at=row.at)
        for row in connection.execute(asked)
    )


def _people(connection: Connection, project: int) -> int:
    """How many are members; somebody who was removed has no role."""
    return connection.execute(select(func.count(MemberRow.role)).where(MemberRow.project_id == project)).scalar_one()


def _count(connection: Connection, table: Any, project: int) -> int:
    asked = select(func.count()).select_from(table).where(table.project_id == project)
    return int(connection.execute(asked).scalar_one())
