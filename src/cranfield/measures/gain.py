"""Cumulated gain: graded relevance, discounted by rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield.errors import DataError
from cranfield.judged import Floats, Integers, Judged
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.registry import measure

Gain = str | Mapping[float, float]
MAX_EXPONENT = 1000


@measure(range=(0, float("inf")))
def CG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """Cumulated gain: the gains of the retrieved documents added up.

    Formula: Σ g_i over ranks i
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (CG @ 3).per_topic(relstring("32301"))
    array([8.])
    """
    return judged.total(gains(judged.grade, gain) * within(judged.rank, cutoff))


@measure(range=(0, float("inf")))
def DCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int | None = None) -> Floats:
    """Discounted cumulated gain: gains added up, each divided by a discount that grows with rank.

    Formula: Σ g_i / log2(i + 1); with base b: Σ g_i / max(1, log_b(i))
    Reference: Järvelin and Kekäläinen, TOIS 20(4), 2002 (base); Burges et al., "Learning to rank using gradient
      descent", ICML 2005 (log2(i + 1), exponential gain).

    >>> DCG.per_topic(relstring("32301"))
    array([6.14871231])
    >>> DCG(gain="exp").per_topic(relstring("323012"))
    array([13.84826363])
    """
    return dcg(judged, gain, base, cutoff)


@measure(aliases=("NDCG",), trec="ndcg", trec_at="ndcg_cut", trec_cutoffs=(5, 10, 15, 20, 30, 100, 200, 500, 1000))
def nDCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int | None = None) -> Floats:
    """DCG divided by that of the ideal ranking, which has all judged documents, best first.

    With a cutoff the ideal is cut at the same depth. Averaged over topics it is the mean of ratios.

    Formula: DCG@k / DCG@k of the ideal ranking
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> nDCG(gain="exp").per_topic(relstring("323012"))
    array([0.94881075])
    """
    return ratio(dcg(judged, gain, base, cutoff), ideal_dcg(judged, gain, base, cutoff))


def gains(grade: Floats, gain: Gain) -> Floats:
    """What each grade is worth. Negative grades mean that a document was not judged: they are worth nothing."""
    judged = np.maximum(grade, 0.0)
    if gain == "linear":
        return judged
    if gain == "exp":
        if judged.max(initial=0.0) > MAX_EXPONENT:
            raise DataError(
                f"a grade of {judged.max():g} is too large for exponential gain",
                remedy="2^grade must be a double: use linear gain, or a table of gains.",
            )
        return np.exp2(judged) - 1
    assert isinstance(gain, Mapping)
    worth = judged.copy()
    for level, value in gain.items():
        worth[grade == level] = value
    return worth


def discount(rank: Integers, base: float | None) -> Floats:
    """What a gain at each rank is divided by."""
    out: Floats = np.log2(rank + 1.0) if base is None else np.maximum(1.0, np.log(rank + 0.0) / np.log(base))
    return out


def dcg(judged: Judged, gain: Gain, base: float | None, cutoff: int | None) -> Floats:
    """DCG of each topic's ranking."""
    return judged.total(discounted(gains(judged.grade, gain), judged.rank, base, cutoff))


def discounted(worth: Floats, rank: Integers, base: float | None, cutoff: int | None) -> Floats:
    """Each gain divided by its rank's discount; logarithms are taken only where there is something to divide."""
    counted = np.flatnonzero((worth != 0) & (within(rank, cutoff) > 0))
    terms = np.zeros(len(worth))
    terms[counted] = worth[counted] / discount(rank[counted], base)
    return terms


def ideal_dcg(judged: Judged, gain: Gain, base: float | None, cutoff: int | None) -> Floats:
    """DCG of each topic's ideal ranking: all positive gains, largest first."""
    pool = judged.pool
    key = tuple(sorted(gain.items())) if isinstance(gain, Mapping) else gain

    def compute() -> Floats:
        worth = gains(pool.grades, gain)
        if isinstance(gain, Mapping):  # a map need not grow with the grade
            topic = np.repeat(np.arange(len(pool.topics)), np.diff(pool.offsets))
            worth = np.maximum(worth[np.lexsort((-worth, topic))], 0.0)
        return pool.total(discounted(worth, pool.place, base, cutoff))

    return pool.once(("ideal", key, base, cutoff), compute)
