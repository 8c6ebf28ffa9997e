"""`evaluate` on a cluster: judgements and runs in, a frame of scores out."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from cranfield.errors import UsageError
from cranfield.evaluation import findings
from cranfield.evaluation.evaluation import no_topic_left, no_topic_of
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.evaluation.scored_frames import FrameFacts
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.judged import pool
from cranfield.measures import Measure, as_measures
from cranfield.policy import Policy
from cranfield.spark.clusters import active_session, cutting_of, session_on, spark_libraries
from cranfield.spark.jobs import Job
from cranfield.spark.judgement_frames import SOURCE, JudgementFrame
from cranfield.spark.run_sources import RunSources, is_spark, refuse_unshared, sources_of
from cranfield.spark.running import JobOutcome, outcome_of, outcome_with_judgements
from cranfield.spark.telling import JudgedTopics, findings_of_runs, judged_runs, log, result_frame
from cranfield.spark.waiting import attended

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cranfield.evaluation.findings import Finding
    from cranfield.formats.given import Given
    from cranfield.spark.run_sources import ClusterRuns

FEW_JUDGEMENTS = 5_000_000  # as are sent to every worker


def evaluate(
    qrels: Given | DataFrame,
    runs: ClusterRuns,
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    reading: Reading = DEFAULT,
    broadcast: int = FEW_JUDGEMENTS,
) -> DataFrame:
    """Evaluates runs on a Spark cluster: a frame with the columns run, topic, measure and score, to the last bit as
    `cranfield.evaluate` has them.

    `runs` are a Spark DataFrame with the columns topic, document, score or rank, and run if there are several in it; or
    the path of a file that every worker sees, or of a folder whose files are one run; or several of these, as a list or
    {name: run}. `qrels` are a Spark DataFrame, or anything that `read_qrels` takes. `policy` and `reading` are those of
    `cranfield.evaluate`; the run is the column that `reading` calls tag. Up to `broadcast` judgements are sent to every
    worker; more of them, in a frame, are joined with the runs by topic.

    The call runs the job, and raises what is wrong with an input. Scores stay in the cluster: see `Results.from_frame`.

    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> session = SparkSession.builder.master("local[2]").getOrCreate()  # doctest: +SKIP
    >>> rows = [("bm25", "q1", "d1", 2.5), ("bm25", "q1", "d2", 1.5), ("dense", "q1", "d2", 0.9)]
    >>> runs = session.createDataFrame(rows, ["run", "topic", "document", "score"])  # doctest: +SKIP
    >>> frame = evaluate({"q1": {"d2": 1}}, runs, ["RR", "P@1"])  # doctest: +SKIP
    >>> sorted(tuple(row) for row in frame.collect())  # doctest: +SKIP
    [('bm25', 'q1', 'P@1', 0.0), ('bm25', 'q1', 'RR', 0.5), ('dense', 'q1', 'P@1', 1.0), ('dense', 'q1', 'RR', 1.0)]
    """
    with spark_libraries("cranfield.spark"):
        session, policy, wanted = active_session(), policy or Policy(), as_measures(measures)
        _check(policy, wanted, runs)
        with attended(session):
            return _evaluated(session, qrels, runs, wanted, policy, reading, broadcast)


def _evaluated(
    session: SparkSession,
    qrels: Given | DataFrame,
    runs: ClusterRuns,
    wanted: tuple[Measure, ...],
    policy: Policy,
    reading: Reading,
    broadcast: int,
) -> DataFrame:
    if is_spark(qrels):
        frame = JudgementFrame.of(qrels, reading)
        if frame.count > broadcast:
            sources = sources_of(runs, reading, cutting_of(session), whole=False)
            return _joined_by_topic(session, frame, sources, wanted, policy, reading)
        qrels = frame.collected()
    sources = sources_of(runs, reading, cutting_of(session))
    experiment = Experiment(qrels, (), policy, reading, rows=False)
    if policy.ties == "expected" or policy.grades != "grades" or policy.judges != "grade":
        # What is drawn, or learnt of judges, is the same for all topics: that is done where all are known.
        experiment.take_judged(judged_runs(session, experiment, sources, wanted))
        return result_frame(session, experiment.evaluate(wanted))
    judgements = experiment.judgements(wanted)
    for measure in wanted:
        measure.check_needs({*judgements.qrels.columns})
    of_qrels = [
        *experiment.restriction(),
        *findings.of_qrels(judgements.qrels, judgements.pool, policy, wanted),
        *findings.unreachable_grade(wanted, judgements.pool, judgements.qrels.name),
    ]
    job = Job(judgements.qrels, judgements.pool, policy, reading, wanted, sources.kinds)
    topics = judgements.pool.topics
    return _finished(outcome_of(session, job, sources), job, sources, lambda: (topics, len(topics)), of_qrels)


def evaluate_on(
    master: str,
    experiment: Experiment,
    measures: str | Measure | Iterable[str | Measure],
    *,
    bounds: bool = False,
    figures: str | Iterable[str] = (),
) -> Results:
    """Evaluates an experiment whose runs are files, read and judged on a master: "spark://HOST:PORT", or "local[*]" for
    every core of this machine. Every worker must see the files. The results are those of `experiment.evaluate`, with
    its warnings.

    >>> experiment = Experiment("examples/qrels.txt", ["examples/bm25.run"])
    >>> evaluate_on("local[2]", experiment, "AP").mean()  # doctest: +SKIP
    {'bm25': {'AP': 0.6667}}
    """
    wanted = as_measures(measures)
    runs = experiment.runs if isinstance(experiment.runs, list | tuple | dict) else [experiment.runs]
    refuse_unshared([*runs.values()] if isinstance(runs, dict) else runs)
    with session_on(master) as session, attended(session):
        sources = sources_of(cast("ClusterRuns", runs), experiment.reading, cutting_of(session))
        experiment.take_judged(judged_runs(session, experiment, sources, wanted))
    return experiment.evaluate(wanted, bounds=bounds, figures=figures)


def _joined_by_topic(
    session: SparkSession,
    qrels: JudgementFrame,
    sources: RunSources,
    measures: tuple[Measure, ...],
    policy: Policy,
    reading: Reading,
) -> DataFrame:
    """The scores where judgements are too many to be sent to every worker."""
    unfit = [
        said
        for said, is_so in (
            ("ties=expected", policy.ties == "expected"),
            ("grades=probabilities", policy.grades != "grades"),
            (f"judges={policy.judges}", policy.judges != "grade"),
            ("a topic set", policy.topic_set is not None),
        )
        if is_so
    ]
    if unfit:
        raise UsageError(
            f"{unfit[0]} needs judgements that every worker has, and there are {qrels.count:,}: "
            f"let them be sent, by broadcast={qrels.count}"
        )
    for measure in measures:
        measure.check_needs(set())
    if not qrels.highest:
        raise findings.nothing_relevant(SOURCE)
    job = Job(None, pool(qrels.nothing()), policy, reading, measures, sources.kinds)
    outcome = outcome_with_judgements(session, job, sources, qrels.rows, qrels.highest)
    return _finished(outcome, job, sources, qrels.topics)  # a job of its own, if they are to be named


def _finished(
    outcome: JobOutcome, job: Job, sources: RunSources, judged: JudgedTopics, of_qrels: Sequence[Finding] = ()
) -> DataFrame:
    """The scores of an outcome, of the topics that count; what is odd is logged, and stays with the frame."""
    assert outcome.scores is not None
    names = tuple(run.name for run in sources.runs)
    try:
        told = (*of_qrels, *findings_of_runs(outcome.reports, job, sources, judged))
        scores = _chosen(outcome.scores, job.policy, names)
    except BaseException:
        outcome.release()
        raise
    log(told)
    FrameFacts(names, job.measures, told).attach(scores)
    # The scores stay with the workers for as long as somebody has the frame.
    weakref.finalize(scores, outcome.release).atexit = False
    return scores


def _chosen(scores: DataFrame, policy: Policy, runs: Sequence[str]) -> DataFrame:
    """The topics that count by the policy."""
    from pyspark.sql import functions

    if policy.topics == "run":
        scores = scores.where("answered")
    elif policy.topics == "common":
        every = scores.groupBy("topic").agg(functions.min("answered").alias("shared")).where("shared").select("topic")
        scores = scores.join(every, "topic", "left_semi")
    if policy.topics != "qrels" or policy.empty_topics == "drop":
        left = {row[0] for row in scores.select("run").distinct().collect()}
        if not left:
            raise no_topic_left(policy)
        bare = [run for run in runs if run not in left]
        if bare and policy.topics == "run":
            raise no_topic_of(bare)
    return scores.select("run", "topic", "measure", "score")


def _check(policy: Policy, measures: tuple[Measure, ...], runs: Any) -> None:
    timed = [str(measure) for measure in measures if measure.definition.needs == "lengths"]
    if timed:
        raise UsageError(f"{timed[0]} reads the length of every document retrieved: evaluate it on one machine")
    given = runs.values() if isinstance(runs, dict) else runs if isinstance(runs, list | tuple) else [runs]
    if policy.ties == "file" and any(map(is_spark, given)):
        raise UsageError("ties=file is about the order of a file, and the rows of a Spark DataFrame have none")
