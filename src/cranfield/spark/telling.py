"""What is made, where a job was started, of what its tasks tell: whole runs as they were judged, and what is odd."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from cranfield._core import Progress, Table, read_text
from cranfield.errors import DataError, all_told, plural, some
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.formats.format import collapsed_note
from cranfield.formats.sources import no_rows, open_source
from cranfield.formats.trec_text import parsed_text
from cranfield.judged import Judged
from cranfield.measures import Measure
from cranfield.spark.found_faults import fault_in_files
from cranfield.spark.jobs import LAYOUTS, Job, TaskReport
from cranfield.spark.judged_parts import FEW, RemoteTable, RowCounts, counted_together, judged_together
from cranfield.spark.run_sources import RunSource, RunSources
from cranfield.spark.running import outcome_of, told_of
from cranfield.tables import Origin, Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOG = logging.getLogger("cranfield.spark")
_HEAD = 1 << 16


def judged_runs(
    session: SparkSession, experiment: Experiment, sources: RunSources, measures: Sequence[Measure]
) -> list[tuple[Run, Judged]]:
    """The runs as they were judged in the cluster, whole, and what is known of their rows, which stay there."""
    judgements = experiment.judgements(measures)
    job = Job(judgements.qrels, judgements.pool, experiment.policy, experiment.reading, (), sources.kinds)
    tells = _by_run(told_of(outcome_of(session, job, sources), sources, job))
    made = []
    for source in sources.runs:
        of_run = tells.get(source.name, [])
        parts = [tell.part for tell in of_run if tell.part is not None]
        judged = judged_together(parts, judgements.pool)
        counts = counted_together(part.rows for part in parts)
        if not counts.rows:
            raise _without_rows(source, job)
        answered = tuple(topic for topic, there in zip(judged.topics, judged.answered.tolist(), strict=True) if there)
        table = cast("Table", RemoteTable(counts, answered))
        origin = next((tell.origin for tell in of_run if tell.origin is not None), None)
        run = Run(table, _origin(source, table, counts, job) if origin is None else origin._replace(name=source.title))
        made.append((run, judged))
    return made


def _by_run(tells: Sequence[TaskReport]) -> dict[str, list[TaskReport]]:
    by_run: dict[str, list[TaskReport]] = {}
    for tell in tells:
        by_run.setdefault(tell.run, []).append(tell)
    return by_run


def _origin(source: RunSource, table: Table, counts: RowCounts, job: Job) -> Origin:
    """Where a run came from that was read in pieces, or in a frame."""
    if source.kind is None or source.kind not in LAYOUTS:
        return Origin(source.title, notes=collapsed_note(table))
    layout, first = LAYOUTS[source.kind], source.files[0]
    tag = next(iter(counts.tags), "") if len(counts.tags) < 2 else _last_tag(source)
    with open(first, "rb") as file:
        head = file.read(_HEAD)
    parsed = parsed_text((table, counts.comments, tag, counts.several_tags), head, layout)
    digest = open_source(first, job.reading.digest).digest() if len(source.files) == 1 else None
    return Origin(source.title, source.path, digest, tag, parsed.notes, source.kind)


def _last_tag(source: RunSource) -> str:
    """The tag on the last line."""
    assert source.kind is not None
    tail = bytes(open_source(source.files[-1]).data[-_HEAD:])
    lines = tail if len(tail) < _HEAD else tail.partition(b"\n")[2]
    return read_text(lines, LAYOUTS[source.kind], None, False, 1, Progress())[2]


def checked_runs(tells: Sequence[TaskReport], job: Job, sources: RunSources, topics: Sequence[str]) -> None:
    """Refuses runs without rows or without a judged topic, as one machine does; what else is odd of rows is logged.

    `topics` are the judged ones, as far as they are known here.
    """
    errors, by_run = [], _by_run(tells)
    for source in sources.runs:
        counts = counted_together(tell.rows for tell in by_run.get(source.name, []))
        run = Run(cast("Table", RemoteTable(counts)), Origin(source.title, source.path))
        if not counts.rows:
            errors.append(_without_rows(source, job))
        elif not counts.answered:
            errors.append(findings.no_common_topic(run, topics, job.policy.topic_set))
        else:
            for finding in _odd(source, counts, run, job):
                LOG.log(logging.WARNING if finding.doubtful else logging.INFO, "%s", finding)
    if errors:
        raise errors[0] if len(errors) == 1 else all_told(errors)


def _odd(source: RunSource, counts: RowCounts, run: Run, job: Job) -> list[Finding]:
    told = [Finding(code, source.name, message) for code, message in collapsed_note(run.table)]
    missing = len(job.pool.topics) - counts.answered if job.qrels is not None else 0
    if missing and job.policy.topics == "qrels":
        told.append(Finding("missing-topics", source.name, f"no answer to {plural(missing, 'judged topic')}"))
    if counts.unjudged_count and job.qrels is not None and job.policy.topic_set is None:
        named = some(counts.unjudged[:FEW])
        more = f" and {counts.unjudged_count - FEW:,} more" if counts.unjudged_count > FEW else ""
        message = f"{plural(counts.unjudged_count, 'topic')} without judgements, left out: {named}{more}"
        told.append(Finding("extra-topics", source.name, message, doubtful=False))
    return [*told, *findings.of_ranks(run)]


def _without_rows(source: RunSource, job: Job) -> DataError:
    return fault_in_files(source, job.reading) if source.pieces else no_rows(source.name, None)


def result_frame(session: SparkSession, results: Results) -> DataFrame:
    """Results as a frame of Spark."""
    return session.createDataFrame(results.to_arrow())
