"""Intervals that go with a decision: each leaves out zero exactly where the deciding p-value lies below the level.

An interval holds the differences that its test would not reject. A t interval beside the p-value of another test says
"excludes zero" where that test says "not significant", or the reverse, and a reader must guess which of the two to
believe. Wilcoxon's, Mann and Whitney's and the sign test are not about the mean difference and have no
interval of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cranfield.statistics.deciding import RANDOMISATION, Decision
from cranfield.statistics.differences import Booleans, moments
from cranfield.statistics.significance import Floats, Integers, Sampling, differences, find_test

MOST_LISTED = 14  # topics of which all subsets are listed
_HELD = 1 << 22  # subset means held at a time
_DRAWN = 1 << 26  # random numbers drawn for all intervals, at most


class Ends(NamedTuple):
    """Lower and upper end of each pair's interval: infinite where a test rejects nothing, NaN where there is none."""

    low: Floats
    high: Floats


def decided(
    scores: Floats, pairs: Integers, decision: Decision, level: float, significant: Booleans, sampling: Sampling
) -> Ends:
    """For each pair the differences that its deciding test does not reject at the level.

    `significant` are the pairs where it rejects that there is none.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4, 0.5], [0.5, 0.1, 0.0, 0.2, 0.3, 0.2]])
    >>> by_t = Decision(np.array([0.0036]), np.array([0.0]), ("t",))
    >>> decided(scores, np.array([[0, 1]]), by_t, 0.05, by_t.p < 0.05, Sampling())
    Ends(low=array([0.12494809]), high=array([0.34171858]))
    >>> decided(scores, np.array([[0, 1]]), by_t._replace(by=("randomisation",)), 0.05, by_t.p < 0.05, Sampling())
    Ends(low=array([0.1]), high=array([0.4]))
    """
    low, high = np.full((2, len(pairs)), np.nan)
    mean = moments(scores, pairs).mean
    for name in dict.fromkeys(decision.by):
        own = np.array([test == name for test in decision.by])
        half_width = find_test(name).half_width
        if name == RANDOMISATION or (name == "randomised-tukey" and len(scores) == 2):
            low[own], high[own] = flipped(differences(scores, pairs[own]), level, sampling)
        elif half_width is not None:
            half = half_width(scores, pairs[own], level, sampling)
            low[own], high[own] = mean[own] - half, mean[own] + half
    return agreeing(Ends(low, high), mean, significant)


def unpaired(scores: Floats, pairs: Integers, decision: Decision, level: float, significant: Booleans) -> Ends:
    """The same of systems on topics of their own: none where scores do not vary, nor of a test that has no interval.

    >>> scores = np.array([[0.7, 0.3, 0.5, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1, 0.2]])
    >>> by_welch = Decision(np.array([0.0798]), np.array([0.0]), ("welch",))
    >>> unpaired(scores, np.array([[0, 1]]), by_welch, 0.05, by_welch.p < 0.05)
    Ends(low=array([-0.08373021]), high=array([0.78373021]))
    """
    means = np.nanmean(scores, axis=1)
    mean, half = means[pairs[:, 0]] - means[pairs[:, 1]], np.full(len(pairs), np.nan)
    for name in set(decision.by) - {RANDOMISATION}:
        own, half_width = np.array([test == name for test in decision.by]), find_test(name).half_width
        if half_width is not None:
            half[own] = half_width(scores, pairs[own], level, Sampling())
    return agreeing(Ends(mean - half, mean + half), mean, significant)


def agreeing(ends: Ends, mean: Floats, significant: Booleans) -> Ends:
    """The same where an end that was drawn, or rounded, lies on the wrong side of zero: it goes to zero.

    >>> agreeing(Ends(np.array([0.1, -0.1]), np.array([0.3, 0.3])), np.array([0.2, 0.1]), np.array([False, False]))
    Ends(low=array([ 0. , -0.1]), high=array([0.3, 0.3]))
    >>> agreeing(Ends(np.array([-0.1]), np.array([0.3])), np.array([0.1]), np.array([True])).low > 0
    array([ True])
    """
    least = np.nextafter(0.0, 1.0)
    low = np.where(significant, np.where(mean > 0, np.maximum(ends.low, least), ends.low), np.minimum(ends.low, 0.0))
    high = np.where(
        significant, np.where(mean > 0, ends.high, np.minimum(ends.high, -least)), np.maximum(ends.high, 0.0)
    )
    return Ends(low, high)


def flipped(difference: Floats, level: float, sampling: Sampling, weights: Floats | None = None) -> Ends:
    """For each row of differences the interval of the randomisation test by sign flips.

    Taken from all differences, δ is rejected if too few flips give so large a sum. A flip gives a larger one exactly if
    the mean of the topics it turns is below δ: the ends are those means of subsets of the topics that a share of
    level / 2 lies beyond (Hartigan, "Using subsample values as typical values", 1969). All subsets of up to 14 topics
    are listed, and drawn of more. With `weights` of the topics the means are weighted.

    >>> flipped(np.array([[0.2, 0.2, 0.2, 0.4, 0.1, 0.3], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]), 0.05, Sampling())
    Ends(low=array([0.1, 0. ]), high=array([0.4, 0. ]))
    >>> flipped(np.array([[0.2, 0.1, 0.2, 0.4]]), 0.05, Sampling())
    Ends(low=array([-inf]), high=array([inf]))
    """
    topics = difference.shape[1]
    weight = np.ones(topics) if weights is None else weights / weights.max()
    listed = topics <= MOST_LISTED
    # Topics without any difference turn alike: how many of them do is all that matters.
    alike: Booleans = np.zeros(topics, dtype=bool)
    if not listed and weights is None:
        alike = np.asarray(~difference.any(axis=0))
    count = 2**topics - 1 if listed else min(sampling.resamples, max(_DRAWN // max(topics - int(alike.sum()), 1), 999))
    # As many subsets, the empty one among them, that lie beyond an end: p = (1 + count) / (1 + drawn) on one side.
    place = int(np.ceil(level / 2 * (count + 1) - 1 - 1e-9)) if listed else int(np.ceil(level / 2 * (count + 1) - 0.5))
    low, high = np.full(len(difference), -np.inf), np.full(len(difference), np.inf)
    if place < 1:
        return Ends(low, high)
    for start in range(0, len(difference), step := max(1, _HELD // count)):
        rows = slice(start, start + step)
        means = _subset_means(difference[rows] * weight, weight, alike, count, listed, sampling)
        means.partition((place - 1, count - place), axis=1)
        low[rows], high[rows] = means[:, place - 1], means[:, count - place]
    return Ends(low, high)


def _subset_means(
    weighted: Floats, weight: Floats, alike: Booleans, count: int, listed: bool, sampling: Sampling
) -> Floats:
    """means[row, subset] of subsets that are not empty."""
    topics = len(weight)
    means = np.empty((len(weighted), count))
    start, random = 0, np.random.default_rng(sampling.seed)
    distinct = ~alike
    for chosen in _listed(topics) if listed else _drawn(int(distinct.sum()), count, random):
        size = chosen @ weight[distinct]
        if alike.any():
            size += random.binomial(int(alike.sum()), 0.5, len(size))
        sums = weighted[:, distinct] @ chosen.T
        # An empty subset, all but never drawn, has no mean: that of all topics is in no tail.
        whole = weighted.sum(axis=1, keepdims=True) / weight.sum()
        with np.errstate(invalid="ignore", divide="ignore"):
            means[:, start : start + len(chosen)] = np.where(size > 0, sums / size, whole)
        start += len(chosen)
    return means


def _listed(topics: int) -> Iterator[Floats]:
    yield (np.arange(1, 2**topics)[:, None] >> np.arange(topics) & 1).astype(np.float64)


def _drawn(topics: int, count: int, random: np.random.Generator) -> Iterator[Floats]:
    for start in range(0, count, step := max(64, _HELD // max(topics, 1) // 4)):
        rows = min(step, count - start)
        bits = np.unpackbits(
            np.frombuffer(random.bytes(rows * -(-topics // 8)), dtype=np.uint8).reshape(rows, -1), axis=1
        )
        yield bits[:, :topics].astype(np.float64)


def of_t(mean: Floats, error: Floats, freedom: Floats, level: float) -> Ends:
    """Intervals of differences with known standard errors and degrees of freedom.

    >>> of_t(np.array([0.2]), np.array([0.1]), np.array([20.0]), 0.05)
    Ends(low=array([-0.00859634]), high=array([0.40859634]))
    """
    from scipy.special import stdtrit

    half = -stdtrit(freedom, level / 2) * error
    return Ends(mean - half, mean + half)
