"""Methods whose order is known before anything is judged. Ties go to the best rank, then to the run given first."""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Integers
from cranfield.pooling.candidates import Candidates
from cranfield.pooling.strategy import pooling_method
from cranfield.registry import number


def _smallest_first(key: Floats) -> Integers:
    return np.argsort(key, kind="stable")


def _largest_sum_first(weights: Floats) -> Integers:
    """Documents by the sum of their runs' weights; sorted first, so that equal weights make equal sums."""
    return _smallest_first(-np.sort(weights, axis=0).sum(axis=0))


@pooling_method("depth", title="depth-k")
def depth(candidates: Candidates) -> Integers:
    """Every run's first document, then every run's second, and so on down to the depth (Sparck Jones and van
    Rijsbergen 1975; TREC).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> depth(pooled_runs({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "z": 1.0}}}).of("q")).tolist()
    [0, 1, 2]
    """
    return np.arange(len(candidates.documents))


@pooling_method("plan", title="TREC plan")
def plan(candidates: Candidates) -> Integers:
    """Runs of priority 1 first, each down to its own depth and all equally far at any time, then those of priority 2.

    >>> from cranfield.pooling.candidates import Share, pooled_runs
    >>> runs = {"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"q": {"w": 1.0}}}
    >>> found = pooled_runs(runs, plan={"a": Share(2, 1), "b": Share(1, 2)}).of("q")
    >>> [found.documents[i] for i in plan(found)]
    ['x', 'y', 'w']
    """
    depths, priorities = np.array(candidates.shares).T[:, :, None]
    return _smallest_first((priorities + candidates.rank / depths).min(axis=0))


@pooling_method("rrf", title="reciprocal rank fusion", k=number("added to every rank: the larger, the flatter", 0, 1e9))
def rrf(candidates: Candidates, *, k: float = 60) -> Integers:
    """Documents by the sum of 1 / (k + rank) over the runs that have them (Cormack, Clarke and Buettcher 2009).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> rrf(pooled_runs({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "z": 1.0}}}).of("q")).tolist()
    [1, 0, 2]
    """
    return _largest_sum_first(1 / (k + candidates.rank))


@pooling_method("rbp", title="RBP order", p=number("persistence: chance to go on to the next rank", 0, 0.9999))
def rbp(candidates: Candidates, *, p: float = 0.8) -> Integers:
    """Documents by the sum of (1 - p) p^(rank - 1) over the runs that have them: what their judgements weigh in
    rank-biased precision (Moffat, Webber and Zobel 2007).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> rbp(pooled_runs({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "z": 1.0}}}).of("q")).tolist()
    [1, 0, 2]
    """
    return _largest_sum_first((1 - p) * p ** (candidates.rank - 1))
