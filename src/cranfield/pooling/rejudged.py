"""The scores of runs when only some of the judgements are there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.judged import Floats, Integers, Judged, Mask, Pool, judge, pool
from cranfield.measures import Measure, parse_measure
from cranfield.policy import Policy
from cranfield.tables import Qrels, Run

NOWHERE = np.iinfo(np.int32).max  # the rank of a document that a run does not have


class Systems:
    """Runs seen once through the full judgements, to be scored under parts of them.

    >>> from cranfield import read_qrels, read_run
    >>> systems = Systems(read_qrels({"q1": {"d1": 1, "d2": 1}}), [read_run({"q1": {"d1": 2.0, "d2": 1.0}})], "AP")
    >>> systems.scores(), systems.scores(np.array([True, False]))
    (array([[1.]]), array([[1.]]))
    >>> systems.ranks
    array([[1, 2]], dtype=int32)
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], measure: str | Measure) -> None:
        self.pool = pool(qrels)
        self.measure = parse_measure(measure) if isinstance(measure, str) else measure
        self.measure.check_needs(set(qrels.columns))
        self.measure.check_direction("choose a measure that orders runs")
        if self.measure.is_ratio_of_means:
            raise UsageError("a ratio of means orders no runs here: choose another average than ratio")
        self.judged = [judge(run, qrels, pooled=self.pool) for run in runs]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """ranks[run, judgement], the judgements in the order of the pool; NOWHERE for a document not retrieved."""
        ranks = np.full((len(self.judged), len(self.pool.grades)), NOWHERE, dtype=np.int32)
        for of_run, seen in zip(ranks, self.judged, strict=True):
            of_run[seen.row] = seen.rank
        return ranks

    def scores(self, kept: Mask | None = None) -> Floats:
        """scores[run, topic] under all judgements, or under those kept; the others count as never made."""
        if kept is None:
            return np.array([self.measure.per_topic(seen) for seen in self.judged])
        reduced, place = self.pool.regraded(np.where(kept, self.pool.grades, np.nan))
        reduced = replace(reduced, max_grade=self.pool.max_grade)
        return np.array([self.measure.per_topic(_through(seen, reduced, place)) for seen in self.judged])

    def averages(self, scores: Floats) -> Floats:
        """The number by which each run is ordered, equal ones tied whatever the order of summation."""
        return np.round([self.measure.aggregate(of_run) for of_run in scores], 12)


def _through(seen: Judged, reduced: Pool, place: Integers) -> Judged:
    """A run through fewer judgements; `place` says where each of the full ones went, -1 for nowhere."""
    kept = place[seen.row] >= 0
    row = place[seen.row[kept]]
    return replace(
        seen,
        pool=reduced,
        offsets=np.concatenate(([0], np.cumsum(kept)))[seen.offsets],
        rank=seen.rank[kept],
        row=row,
        grade=reduced.grades[row],
        tie_first=seen.tie_first[kept],
        tie_size=seen.tie_size[kept],
    )


def check_policy(experiment: Experiment) -> None:
    """A pool is made of whole rankings, and what is relevant is judged: another policy would count for nothing."""
    if experiment.policy != Policy():
        raise UsageError("a pool has no policy: its runs are taken whole, with ties by document id")
