"""What is made, where a job was started, of what its tasks tell: whole runs as they were judged, and what is odd."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from cranfield._core import Progress, Table, read_text
from cranfield.errors import DataError
from cranfield.evaluation import findings
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding, JoinCounts
from cranfield.evaluation.results import Results
from cranfield.evaluation.scored_frames import FrameFacts
from cranfield.formats.format import collapsed_note
from cranfield.formats.sources import no_rows, open_source
from cranfield.formats.trec_text import parsed_text
from cranfield.judged import Judged
from cranfield.measures import Measure
from cranfield.spark.found_faults import fault_in_files
from cranfield.spark.jobs import LAYOUTS, Job, TaskReport
from cranfield.spark.judged_parts import RemoteTable, RowCounts, counted_together, judged_together
from cranfield.spark.missing_topics import missing_counts
from cranfield.spark.run_sources import RunSource, RunSources
from cranfield.spark.running import outcome_of, topics_left
from cranfield.tables import Origin, Run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JudgedTopics: TypeAlias = Callable[[], tuple[Sequence[str], int]]  # some of them, and how many there are
LOG = logging.getLogger("cranfield.spark")
_HEAD = 1 << 16


def judged_runs(
    session: SparkSession, experiment: Experiment, sources: RunSources, measures: Sequence[Measure]
) -> list[tuple[Run, Judged]]:
    """The runs as they were judged in the cluster, whole, and what is known of their rows, which stay there."""
    judgements = experiment.judgements(measures)
    job = Job(judgements.qrels, judgements.pool, experiment.policy, experiment.reading, (), sources.kinds)
    reports = outcome_of(session, job, sources).reports
    made, errors = [], []
    for source in sources.runs:
        of_run = reports.get(source.name, [])
        parts = [report.part for report in of_run if report.part is not None]
        judged = judged_together(parts, judgements.pool)
        counts = counted_together(part.rows for part in parts)
        if not counts.rows:
            errors.append(_without_rows(source, job))
            continue
        answered = tuple(topic for topic, there in zip(judged.topics, judged.answered.tolist(), strict=True) if there)
        made.append((_run(source, of_run, RemoteTable(counts, answered), job), judged))
    if errors:
        raise sources.told(errors)
    return made


def _run(source: RunSource, reports: Sequence[TaskReport], rows: RemoteTable, job: Job) -> Run:
    """A run whose rows are in the cluster, and where it came from."""
    table = cast("Table", rows)
    origin = next((report.origin for report in reports if report.origin is not None), None)
    if origin is None:
        return Run(table, _origin(source, table, rows.counts_of_rows, job))
    return Run(table, _given(origin, source))


def _given(origin: Origin, source: RunSource) -> Origin:
    """Where a run came from that was read whole, by the names that were given here."""
    return origin._replace(name=source.title, path=source.files[0], notes=(*origin.notes, *source.notes))


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
    return Origin(source.title, source.path, digest, tag, (*parsed.notes, *source.notes), source.kind)


def _last_tag(source: RunSource) -> str:
    """The tag on the last line."""
    assert source.kind is not None
    tail = bytes(open_source(source.files[-1]).data[-_HEAD:])
    lines = tail if len(tail) < _HEAD else tail.partition(b"\n")[2]
    return read_text(lines, LAYOUTS[source.kind], None, False, 1, Progress())[2]


def findings_of_runs(
    reports: Mapping[str, list[TaskReport]], job: Job, sources: RunSources, judged: JudgedTopics
) -> list[Finding]:
    """What is odd of runs, as on one machine; those without rows or without a judged topic are refused, as there."""
    errors, told = [], []
    for source in sources.runs:
        of_run = reports.get(source.name, [])
        counts = counted_together(report.rows for report in of_run)
        run = _run(source, of_run, RemoteTable(counts), job)
        if not counts.rows:
            errors.append(_without_rows(source, job))
        elif not counts.answered:
            topics, count = judged()
            common = (counts.unjudged_count, count)
            errors.append(findings.no_common_topic(run, topics, job.policy.topic_set, common))
        else:
            told.append(findings.of_counts(run, _join_counts(of_run, counts, job), job.policy, job.measures))
    if errors:
        raise sources.told(errors)
    runs = sources.runs
    return [*findings.of_runs([run.name for run in runs], [run.path for run in runs], told)]


def _join_counts(reports: Sequence[TaskReport], counts: RowCounts, job: Job) -> JoinCounts:
    """What tasks told of a run, as findings take it; topics without an answer are known here if judged ones are."""
    if job.qrels is not None:
        left = topics_left(reports, len(job.pool.topics))
        missing = missing_counts(job, left)
        counts = counts._replace(
            missing=missing.missing, missing_count=missing.missing_count, missing_scores=missing.missing_scores
        )
    return JoinCounts(
        missing=counts.missing,
        missing_count=counts.missing_count,
        missing_score=min(counts.missing_scores, key=_least_likely, default=""),
        extra=counts.unjudged,
        extra_count=counts.unjudged_count,
        judged=counts.judged,
        longest=counts.longest,
        tied_topics=counts.tied_topics,
    )


def _least_likely(score: str) -> bool:
    """Of ways in which topics are scored, what is said of all of them: 0 only where all are scored 0."""
    return score == "scored 0"


def log(told: Iterable[Finding]) -> None:
    """Writes what is odd to the log: what puts a number in doubt as a warning."""
    for finding in told:
        LOG.log(logging.WARNING if finding.doubtful else logging.INFO, "%s", finding)


def _without_rows(source: RunSource, job: Job) -> DataError:
    return fault_in_files(source, job.reading) if source.pieces else no_rows(source.name, None)


def result_frame(session: SparkSession, results: Results) -> DataFrame:
    """Results as a frame of Spark."""
    log(results.warnings)
    frame = session.createDataFrame(results.to_arrow())
    FrameFacts(results.runs, results.measures, results.warnings).attach(frame)
    return frame
