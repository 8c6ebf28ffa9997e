"""Normalised cumulated gain without a discount, and areas under the curves of cumulated gain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield import _core
from cranfield.judged import Floats, Integers, Judged
from cranfield.measures import explained_gains
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import Traits
from cranfield.measures.gain import (
    IDEAL,
    UNDISCOUNTED,
    Gain,
    discounted,
    gains,
    ideal_dcg,
    ideal_gains,
    ideal_of,
    nDCG,
    normalised,
)
from cranfield.measures.registry import Measure, measure
from cranfield.notation import Value


@measure(
    Traits(range=(0, float("inf")), exact_ties=True),
    aliases=("ICG",),
    better="neither",
    explain=explained_gains.ideal,
)
def IdealCG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """The highest CG that any ranking of the judged documents can have.

    The mean of CG divided by the mean of this one is NCG(agg='ratio'); so with DCG, IdealDCG and nDCG.

    Formula: Σ g_i over the first k judged documents, best first
    Known as: ideal CG; ideal cumulated gain
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (IdealCG @ 2).per_topic(relstring("12/3"))
    array([5.])
    """
    return ideal_dcg(judged, gain, UNDISCOUNTED, cutoff)


@measure(varied=normalised, explain=explained_gains.cumulated, ideal=IDEAL)
def NCG(judged: Judged, *, gain: Gain = "linear", ideal: str = "judged", cutoff: int | None = None) -> Floats:
    """CG divided by that of the ideal ranking: no rank down to the cutoff counts more than another.

    Averaged over topics it is the mean of ratios; with agg='ratio' the ratio of means, mean CG over mean IdealCG. The
    ideal ranking has all judged documents, with ideal='retrieved' those of the list: sorted, and then cut.

    Formula: CG@k / CG@k of the ideal ranking
    Formula with ideal='retrieved': CG@k / CG@k of the documents of the list, best first
    Known as: normalized cumulated gain; normalised cumulated gain
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (NCG @ 3).per_topic(relstring("1002/3"))
    array([0.16666667])
    >>> (NCG(ideal="retrieved") @ 3).per_topic(relstring("1002/3"))
    array([0.33333333])
    """
    gained = judged.total(gains(judged.grade, gain) * judged.within(cutoff))
    return ratio(gained, ideal_of(judged, gain=gain, ideal=ideal, cutoff=cutoff))


def _curve(of: Measure, cutoff: int, **parameters: Value) -> list[Measure]:
    """A measure at each rank down to the cutoff."""
    return [of(**parameters) @ rank for rank in range(1, cutoff + 1)]


@measure(
    Traits(exact_ties=True, may_hurt=True, points=lambda **parameters: _curve(NCG, **parameters)),
    explain=explained_gains.area,
)
def AreaNCG(judged: Judged, *, gain: Gain = "linear", cutoff: int) -> Floats:
    """Area under the NCG curve down to rank k, as a share of the ideal ranking's: the mean of NCG at ranks 1 to k.

    Averaged over topics it is the area under the mean curve; with agg='ratio' that under the curve of the ratios of
    means, mean CG over mean IdealCG at each rank.

    Formula: (1 / k) Σ NCG@i over ranks i ≤ k
    Known as: area under the NCG curve
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (AreaNCG @ 2).per_topic(relstring("12"))
    array([0.75])
    """
    return _area(judged, gain, UNDISCOUNTED, cutoff)


@measure(
    Traits(exact_ties=True, may_hurt=True, points=lambda **parameters: _curve(nDCG, **parameters)),
    explain=explained_gains.area,
)
def AreaNDCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int) -> Floats:
    """Area under the nDCG curve down to rank k, as a share of the ideal ranking's: the mean of nDCG at ranks 1 to k.

    Averaged over topics it is the area under the mean curve; with agg='ratio' that under the curve of the ratios of
    means, mean DCG over mean IdealDCG at each rank.

    Formula: (1 / k) Σ nDCG@i over ranks i ≤ k
    Known as: area under the NDCG curve
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (AreaNDCG @ 2).per_topic(relstring("12"))
    array([0.67985935])
    """
    return _area(judged, gain, base, cutoff)


def _area(judged: Judged, gain: Gain, base: float | None, cutoff: int) -> Floats:
    """Mean over ranks of cumulated over ideal cumulated gain.

    A gain at rank r adds to every rank from there on: it counts with the sum of 1 / ideal over ranks r to k.
    """
    pool = judged.pool
    sizes = np.diff(pool.offsets)

    def compute() -> Floats:
        ideal = _core.running_sum(pool.offsets, discounted(ideal_gains(judged.pool, gain), pool.place, base, None))
        inverse = ratio(1.0, ideal)
        return np.stack((inverse, _core.running_sum(pool.offsets, inverse)))

    key = tuple(sorted(gain.items())) if isinstance(gain, Mapping) else gain
    inverse, down_to = pool.once(("inverse ideal", key, base), compute)

    def inverse_sum(rank: Integers, topic: Integers) -> Floats:
        """Sum of 1 / ideal from the first rank; the ideal stays as it is below its last document."""
        place = np.minimum(rank, sizes[topic])
        at = np.maximum(pool.offsets[topic] + place - 1, 0)
        out: Floats = np.where(place > 0, down_to[at], 0.0) + (rank - place) * inverse[pool.offsets[topic + 1] - 1]
        return out

    level, worth = judged.levelled(gains(judged.grade, gain))
    shown = discounted(worth, level.rank, base, cutoff)
    below = inverse_sum(np.full(len(shown), cutoff), level.topic) - inverse_sum(level.rank - 1, level.topic)
    return level.total(shown * below) / cutoff
