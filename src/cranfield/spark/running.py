"""A job on a cluster: which tasks it has, and what is made of what they tell."""

from __future__ import annotations

import pickle
from functools import reduce
from typing import TYPE_CHECKING

from cranfield.errors import all_told
from cranfield.spark.file_tasks import file_lines, markers, whole_files
from cranfield.spark.found_faults import first_fault
from cranfield.spark.jobs import JUDGEMENTS, OUTCOME, ROWS, Fault, Job, TaskReport
from cranfield.spark.row_tasks import judged_rows, rows_with_judgements
from cranfield.spark.run_sources import RunSources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_TASKS_A_CORE = 8  # of files that are read whole: more would only cost their start


def outcome_of(session: SparkSession, job: Job, sources: RunSources) -> DataFrame:
    """The outcome where every task has the judgements: files whole where they lie, rows brought together by topic."""
    shared = session.sparkContext.broadcast(job)
    parts = []
    if sources.whole:
        parts.append(_numbered(session, len(sources.whole)).mapInArrow(whole_files(shared, sources.whole), OUTCOME))
    rows = _rows(session, sources)
    if rows:
        names = tuple(run.name for run in sources.runs if run.kind is not None)
        if job.measures:
            rows.append(_numbered(session, len(names)).mapInArrow(markers(shared, names), ROWS))
        together = reduce(_union, rows).repartition("run", "topic").sortWithinPartitions("run", "topic", "place")
        parts.append(together.mapInArrow(judged_rows(shared), OUTCOME))
    return reduce(_union, parts)


def outcome_with_judgements(
    session: SparkSession, job: Job, sources: RunSources, grades: DataFrame, highest: float
) -> DataFrame:
    """The outcome where judgements are too many for that: rows and judgements of a topic meet in one task."""
    shared = session.sparkContext.broadcast(job)
    together = reduce(_union, [grades, *_rows(session, sources)]).repartition("topic")
    ordered = together.sortWithinPartitions("run", "topic", "place")
    return ordered.mapInArrow(rows_with_judgements(shared, highest), OUTCOME)


def _rows(session: SparkSession, sources: RunSources) -> list[DataFrame]:
    pieces = sources.pieces
    of_files = [session.range(0, len(pieces), 1, len(pieces)).mapInArrow(file_lines(pieces), ROWS)] if pieces else []
    return [*of_files, *sources.frames]


def _numbered(session: SparkSession, count: int) -> DataFrame:
    most = _TASKS_A_CORE * session.sparkContext.defaultParallelism
    return session.range(0, count, 1, min(count, most))


def _union(one: DataFrame, other: DataFrame) -> DataFrame:
    return one.unionByName(other)


def told_of(outcome: DataFrame, sources: RunSources, job: Job) -> list[TaskReport]:
    """What the tasks have to tell, in an order of its own; or the error of the runs that something is wrong with.

    Errors are those that one machine finds: a run's first, and all runs with one are told at once, in their order.
    Which task met what, and when, changes nothing.
    """
    rows = outcome.where("told is not null").select("told").collect()
    tells: list[TaskReport] = [pickle.loads(row[0]) for row in rows]
    faults: dict[str, list[Fault]] = {}
    for tell in tells:
        if tell.fault is not None:
            faults.setdefault(tell.run, []).append(tell.fault)
    if JUDGEMENTS in faults:
        raise min(faults[JUDGEMENTS], key=lambda fault: fault.topic).as_error()
    errors = [first_fault(run, faults[run.name], job.reading) for run in sources.runs if run.name in faults]
    if errors:
        raise errors[0] if len(errors) == 1 else all_told(errors)
    return tells
