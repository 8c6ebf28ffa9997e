"""A job on a cluster: which tasks it has, and what is made of what they tell.

Files are judged where they are read, since the rows of a topic nearly always stand together. Each task tells its
topics; where two pieces of a run have one in common, its rows stand in several places, and the run is done again: its
lines travel, and those of a topic meet in one task. Rows of frames always travel.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.judged import Integers
from cranfield.spark.file_tasks import file_lines, judged_pieces, whole_files
from cranfield.spark.found_faults import first_fault
from cranfield.spark.jobs import JUDGEMENTS, OUTCOME, ROWS, Fault, Job, TaskReport
from cranfield.spark.judged_parts import NO_TOPICS
from cranfield.spark.row_tasks import judged_rows, rows_with_judgements, unanswered_topics
from cranfield.spark.run_sources import RunSources

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

    from cranfield.spark.jobs import Work
    from cranfield.spark.piece_texts import FilePiece

_TASKS_A_CORE = 8  # of files that are read whole: more would only cost their start


class JobOutcome(NamedTuple):
    """What tasks told, by run; and their scores, which stay in the cluster for as long as `kept` is."""

    reports: dict[str, list[TaskReport]]
    scores: DataFrame | None = None
    kept: tuple[DataFrame, ...] = ()

    def release(self) -> None:
        """Lets the workers forget the scores; those of a session that was stopped have."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError):
            for frame in self.kept:
                frame.unpersist()


def outcome_of(session: SparkSession, job: Job, sources: RunSources) -> JobOutcome:
    """The outcome where every task has the judgements; the error, if something is wrong with a run."""
    shared = session.sparkContext.broadcast(job)
    first = _frame_of_tasks(session, shared, sources)
    kept = [first.persist()] if job.measures else []
    try:
        reports = _reports_of(first)
        scattered = {run for run in reports if _is_scattered(reports[run])}
        if scattered:
            again = tuple(piece for piece in sources.pieces if piece.run in scattered)
            assert scattered == {piece.run for piece in again}, "rows of a topic were brought to two places"
            second = _together([_lines(session, again)], shared)
            kept += [second.persist()] if job.measures else []
            reports = {run: of for run, of in reports.items() if run not in scattered} | _reports_of(second)
            first = first.where(~first["run"].isin(list(scattered))).unionByName(second)
        _refuse_faults(reports, job, sources)
        if not job.measures:
            return JobOutcome(reports)
        return JobOutcome(reports, _with_unanswered(session, first.where("told is null"), shared, reports), tuple(kept))
    except BaseException:
        JobOutcome({}, None, tuple(kept)).release()
        raise


def outcome_with_judgements(
    session: SparkSession, job: Job, sources: RunSources, grades: DataFrame, highest: float
) -> JobOutcome:
    """The outcome where judgements are too many for that: rows and judgements of a topic meet in one task."""
    shared = session.sparkContext.broadcast(job)
    lines = [_lines(session, sources.pieces)] if sources.pieces else []
    together = reduce(_union, [grades, *lines, *sources.frames]).repartition("topic")
    ordered = together.sortWithinPartitions("run", "topic", "place")
    frame = ordered.mapInArrow(rows_with_judgements(shared, highest), OUTCOME).persist()
    outcome = JobOutcome({}, frame.where("told is null"), (frame,))
    try:
        reports = _reports_of(frame)
        _refuse_faults(reports, job, sources)
    except BaseException:
        outcome.release()
        raise
    return outcome._replace(reports=reports)


def _frame_of_tasks(session: SparkSession, job: Broadcast[Job], sources: RunSources) -> DataFrame:
    """Files whole and in pieces where they lie, rows of frames brought together by topic."""
    parts = []
    if sources.whole:
        parts.append(_tasks(session, whole_files(job, sources.whole), len(sources.whole)))
    if sources.pieces:
        parts.append(_tasks(session, judged_pieces(job, sources.pieces), len(sources.pieces), each=True))
    if sources.frames:
        parts.append(_together(sources.frames, job))
    return reduce(_union, parts)


def _together(rows: Sequence[DataFrame], job: Broadcast[Job]) -> DataFrame:
    ordered = reduce(_union, rows).repartition("run", "topic").sortWithinPartitions("run", "topic", "place")
    return ordered.mapInArrow(judged_rows(job), OUTCOME)


def _lines(session: SparkSession, pieces: tuple[FilePiece, ...]) -> DataFrame:
    return _tasks(session, file_lines(pieces), len(pieces), ROWS, each=True)


def _tasks(session: SparkSession, work: Work, count: int, schema: str = OUTCOME, *, each: bool = False) -> DataFrame:
    """Work on so many numbered things: as many tasks, or no more of them than do."""
    most = count if each else _TASKS_A_CORE * session.sparkContext.defaultParallelism
    return session.range(0, count, 1, min(count, most)).mapInArrow(work, schema)


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionByName(other)


def _reports_of(outcome: DataFrame) -> dict[str, list[TaskReport]]:
    """What tasks have to tell, by run, in an order of its own."""
    reports: dict[str, list[TaskReport]] = {}
    for row in outcome.where("told is not null").select("told").collect():
        report: TaskReport = pickle.loads(row[0])
        reports.setdefault(report.run, []).append(report)
    return reports


def _is_scattered(reports: Sequence[TaskReport]) -> bool:
    """Whether a topic was judged in two places, each time by a part of its rows. A fault is told without asking."""
    topics = _topics(reports)
    return len(np.unique(topics)) < len(topics) and all(report.fault is None for report in reports)


def _topics(reports: Iterable[TaskReport]) -> Integers:
    return np.concatenate([NO_TOPICS, *(report.topics for report in reports)])


def topics_left(reports: Iterable[TaskReport], count: int) -> Integers:
    """The numbers of the judged topics, of which there are so many, that a run does not answer."""
    is_left, topics = np.ones(count, dtype=bool), _topics(reports)
    is_left[topics[topics >= 0]] = False
    return np.flatnonzero(is_left)


def _refuse_faults(reports: dict[str, list[TaskReport]], job: Job, sources: RunSources) -> None:
    """Raises the error of runs that something is wrong with: the one that one machine finds, a run's first; all such
    runs are told at once, in their order. Which task met what, and when, changes nothing."""
    faults: dict[str, list[Fault]] = {}
    for run, of_run in reports.items():
        found = [report.fault for report in of_run if report.fault is not None]
        if found:
            faults[run] = found
    if JUDGEMENTS in faults:
        raise min(faults[JUDGEMENTS], key=lambda fault: fault.topic).as_error()
    errors = [
        run.error or first_fault(run, faults[run.name], job.reading)
        for run in sources.runs
        if run.error is not None or run.name in faults
    ]
    if errors:
        raise sources.told(errors)


def _with_unanswered(
    session: SparkSession, scores: DataFrame, job: Broadcast[Job], reports: dict[str, list[TaskReport]]
) -> DataFrame:
    """Scores, with those of the judged topics that runs do not answer."""
    left = []
    for run, of_run in sorted(reports.items()):
        topics = topics_left(of_run, len(job.value.pool.topics))
        if len(topics):
            left.append((run, topics))
    return scores.unionByName(_tasks(session, unanswered_topics(job, tuple(left)), len(left))) if left else scores
