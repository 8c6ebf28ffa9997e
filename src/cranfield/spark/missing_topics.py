"""Judged topics that a run does not answer: what is to be said of them, and the lists they are scored by."""

from __future__ import annotations

import numpy as np

from cranfield.evaluation.findings import LOOKED_AT, score_of_nothing
from cranfield.judged import Integers, Judged, Pool
from cranfield.spark.jobs import Job
from cranfield.spark.judged_parts import NO_ROWS, RowCounts


def unanswered(of: Pool) -> Judged:
    """The lists of a run that answers nothing."""
    none, zeros = np.zeros(0, dtype=np.int64), np.zeros(len(of.topics), dtype=np.int64)
    return Judged(of, np.zeros(len(zeros) + 1, dtype=np.int64), none, none, np.zeros(0), none, none, zeros, zeros > 0)


def missing_counts(job: Job, topics: Integers) -> RowCounts:
    """What is to be said of topics without an answer, by their numbers: their names, and how they are scored."""
    if job.policy.empty_topics == "drop":
        topics = topics[job.pool.has_relevant[topics]]
    if not len(topics):
        return NO_ROWS
    score = score_of_nothing(unanswered(job.pool).select(topics[:LOOKED_AT]), job.measures)
    names = tuple(job.pool.topics[topic] for topic in topics.tolist())
    return RowCounts(missing=names, missing_count=len(names), missing_scores=frozenset([score]))
