"""Tests of all systems together: their p-values hold for the whole family of comparisons, with no further correction.

The chance of even one false finding among all pairs stays below the level at which p is judged.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.statistics.differences import check_complete, in_blocks, standard_errors
from cranfield.statistics.randomised import (
    ROUNDING,
    draws,
    mean_differences,
    most_extreme,
    notes_on,
    randomisation,
    standard_error,
    summands,
)
from cranfield.statistics.significance import Floats, Integers, Outcome, Sampling, differences, significance_test


def _half_width_of_tukey(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    return np.full(len(pairs), tukey_half_width(scores, 1 - level))


@significance_test(
    "tukey",
    title="Tukey's HSD",
    null="all systems have the same mean; scores are a topic's effect plus a system's effect plus normal errors",
    kind="family",
    fragile=True,
    half_width=_half_width_of_tukey,
)
def tukey(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Tukey's honestly significant differences with topics as blocks: the studentised range over all systems.

    The error is what is left of the two-way layout, so that hard and easy topics do not count as noise. The statistic
    is the studentised difference q.
    Reference: Tukey, "The problem of multiple comparisons", 1953; Carterette, 2012.

    >>> scores = np.array([[0.5, 0.6, 0.4, 0.7], [0.4, 0.5, 0.2, 0.5], [0.1, 0.3, 0.2, 0.4]])
    >>> tukey(scores, np.array([[0, 1], [0, 2]]), Sampling()).p.round(4)
    array([0.0435, 0.0017])
    """
    systems, topics = scores.shape
    mean_error = standard_error_of_means(scores)
    difference = mean_differences(scores, pairs)
    if mean_error == 0:
        note = "systems differ by the same on every topic: without an error to compare differences with p is undefined"
        undefined = np.full(len(pairs), np.nan)
        return Outcome(undefined, undefined, np.zeros(len(pairs)), (note,))
    q = difference / mean_error
    p = studentised_range_tail(np.abs(q), systems, (systems - 1) * (topics - 1))
    return Outcome(q, p, np.zeros(len(pairs)), notes_on(scores, pairs))


def tukey_half_width(scores: Floats, confidence: float = 0.95) -> float:
    """Half the width of the simultaneous intervals around the differences of means, the same for all pairs.

    With the stated confidence, all the intervals together hold the true differences.

    >>> scores = np.array([[0.5, 0.6, 0.4, 0.7], [0.4, 0.5, 0.2, 0.5], [0.1, 0.3, 0.2, 0.4]])
    >>> round(tukey_half_width(scores), 4)
    0.1446
    """
    systems, topics = scores.shape
    return studentised_range_quantile(1 - confidence, systems, (systems - 1) * (topics - 1)) * standard_error_of_means(
        scores
    )


def standard_error_of_means(scores: Floats) -> float:
    """The standard error of a system's mean from the residuals of the two-way layout: systems + topics + error.

    >>> standard_error_of_means(np.array([[3.0, 1.0], [1.0, 3.0]]))
    1.4142135623730951
    """
    check_complete(scores)
    systems, topics = scores.shape
    if systems < 2:
        raise UsageError("one system: Tukey's test compares at least 2")
    centred = scores - scores.mean(axis=0)
    residual = centred - centred.mean(axis=1, keepdims=True)
    mean_square = np.square(residual).sum() / ((systems - 1) * (topics - 1))
    # What rounding leaves of residuals that are zero is no error.
    return float(np.sqrt(mean_square / topics)) if np.sqrt(mean_square) > ROUNDING * np.abs(scores).max() else 0.0


def studentised_range_tail(q: Floats, systems: int, freedom: int) -> Floats:
    """The chance that the range of normal means, in units of an estimated standard error, is at least q.

    scipy's integrates anew for each q, which takes ten milliseconds and has no digits left below 1e-9. Here it is two
    sums, over the largest value and over the estimated standard error: equal steps suffice, because both densities are
    smooth and vanish at both ends.

    >>> studentised_range_tail(np.array([0.0, 3.449021, 60.0]), 3, 38).round(6)
    array([1.  , 0.05, 0.  ])
    """
    from scipy.interpolate import CubicSpline
    from scipy.special import gammainccinv, gammaincinv, gammaln

    # s, the ratio of the estimated standard error to the true one: freedom · s² has a χ² distribution.
    half = freedom / 2
    low, high = (np.log(np.sqrt(inverse(half, 1e-50) / half)) for inverse in (gammaincinv, gammainccinv))
    log_s, step = np.linspace(low, high, 128 + int(4 * (high - low)), retstep=True)
    log_density = np.log(2) + half * np.log(half) - gammaln(half) + freedom * log_s - half * np.exp(2 * log_s)
    s, mass = np.exp(log_s), np.exp(log_density) * step

    widest = 50.0  # a range of normal values that no p-value of interest reaches
    grid = np.arange(0.0, min(widest, q.max(initial=0.0) * s[-1]) + 0.1, 0.025)
    log_tail = CubicSpline(grid, np.log(normal_range_tail(grid, systems)))
    unique, place = np.unique(q, return_inverse=True)
    tail = np.concatenate(
        [
            np.exp(log_tail(np.minimum(np.outer(some, s), grid[-1]))) @ mass
            for some in np.array_split(unique, 1 + len(unique) // 1000)
        ]
    )
    return np.asarray(np.minimum(tail, 1.0)[place])


@lru_cache
def studentised_range_quantile(chance: float, systems: int, freedom: int) -> float:
    """The q that the studentised range is at least with that chance; scipy's takes a second.

    >>> round(studentised_range_quantile(0.05, 3, 38), 4)
    3.449
    """
    low, high = 0.0, 8.0
    while studentised_range_tail(np.array([high]), systems, freedom)[0] > chance:
        low, high = high, 4 * high
    for _ in range(5):  # many at once cost as much as one
        q = np.linspace(low, high, 100)
        above = int(np.count_nonzero(studentised_range_tail(q, systems, freedom) >= chance))
        low, high = q[above - 1], q[min(above, 99)]
    return float(high)


def normal_range_tail(width: Floats, systems: int) -> Floats:
    """The chance that the largest and smallest of independent standard normal values are further apart than `width`.

    Given the largest, z, that is one minus the chance that all others lie within `width` below it.

    >>> normal_range_tail(np.array([0.0, 1.959964 * np.sqrt(2)]), 2).round(6)
    array([1.  , 0.05])
    """
    from scipy.special import log_ndtr, ndtr

    z, step = np.linspace(-9.0, 36.0, 256, retstep=True)
    mass = np.exp(np.log(systems / np.sqrt(2 * np.pi)) - z**2 / 2 + (systems - 1) * log_ndtr(z)) * step
    with np.errstate(divide="ignore"):
        outside = -np.expm1((systems - 1) * np.log1p(-np.minimum(1.0, ndtr(z - width[:, np.newaxis]) / ndtr(z))))
    return np.asarray(outside @ mass)


def _half_width_of_randomised_tukey(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    """The range of the means that a share of the level exceeds among all dealings of the scores."""
    most = most_extreme(level, sampling.resamples)
    if most < 0:
        return np.full(len(pairs), np.inf)
    terms = summands(scores)
    ranges = np.sort(_core.permuted_ranges(terms.values, *draws(sampling)))
    half = ranges[len(ranges) - 1 - most] * _unit(scores, terms.values) / scores.shape[1]
    return np.full(len(pairs), half)


def _unit(scores: Floats, values: Floats) -> float:
    """What one of the values is worth that scores were turned into to be added up."""
    whole = np.ptp(values, axis=0).max()
    return float(np.ptp(scores, axis=0).max() / whole) if whole else 1.0


@significance_test(
    "randomised-tukey",
    title="randomised Tukey HSD",
    null="on every topic it does not matter which system a score came from: all systems could be exchanged",
    kind="family",
    half_width=_half_width_of_randomised_tukey,
)
def randomised_tukey(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Each topic's scores are dealt to the systems anew; a difference is compared with the range of the means so made.

    With two systems this is the randomisation test, and as exact.
    Reference: Carterette, "Multiple testing in statistical analysis of systems-based information retrieval
    experiments", 2012.

    >>> scores = np.array([[0.5, 0.6, 0.4, 0.7], [0.4, 0.5, 0.2, 0.5], [0.1, 0.3, 0.2, 0.4]])
    >>> randomised_tukey(scores, np.array([[0, 1], [0, 2]]), Sampling(resamples=9_999)).p.round(2)
    array([0.48, 0.01])
    """
    check_complete(scores)
    if len(scores) == 2:
        return randomisation(scores, pairs, sampling)
    p = permutation_p(scores, pairs, sampling)
    return Outcome(mean_differences(scores, pairs), p, standard_error(p, sampling), notes_on(scores, pairs))


def permutation_p(scores: Floats, pairs: Integers, sampling: Sampling) -> Floats:
    """The share of permutations in which the largest difference of any two systems is at least the pair's."""
    terms = summands(scores)
    ranges = np.sort(_core.permuted_ranges(terms.values, *draws(sampling)))
    threshold = np.abs(terms.sums(pairs)) - 2 * terms.rounding.max()
    count = sampling.resamples - np.searchsorted(ranges, threshold, side="left")
    return np.asarray((1 + count) / (1 + sampling.resamples))


def _half_width_of_maxt(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    """The largest statistic that a share of the level exceeds, of the pairs that are left without those found."""
    topics = scores.shape[1]
    outcome = maxt(scores, pairs, sampling)
    left = np.flatnonzero(outcome.p >= level)
    if not len(left):
        left = np.array([int(np.argmin(np.abs(outcome.statistic)))])
    terms = summands(scores)
    size, rounding = root_of_squares(terms.values, pairs[left]), terms.rounding[pairs[left]].sum(axis=1)
    weight = np.divide(1.0, size, out=np.zeros(len(left)), where=size > rounding)
    most = most_extreme(level, sampling.resamples)
    if most < 0:
        return np.full(len(pairs), np.inf)
    low, high = 0.0, float(np.sqrt(topics))
    for _ in range(4):  # pairs of no weight behind the others ask how often these exceed each of many thresholds
        grid = np.linspace(low, high, 66)
        family = np.concatenate([pairs[left], np.repeat(pairs[left[:1]], len(grid), axis=0)])
        weights = np.concatenate([weight, np.zeros(len(grid))])
        thresholds = np.concatenate([np.full(len(left), np.inf), grid])
        count = _core.flipped_maxima(terms.values, family, weights, thresholds, *draws(sampling))[len(left) :]
        within = int(np.argmax(count <= most)) if (count <= most).any() else len(grid) - 1
        low, high = grid[max(within - 1, 0)], grid[within]
    with np.errstate(divide="ignore"):
        t = float(high * np.sqrt((topics - 1) / np.maximum(topics - high**2, 0.0)))
    return np.asarray(t * standard_errors(scores, pairs))


@significance_test(
    "maxt",
    title="step-down maxT by sign flips",
    null="on every topic it does not matter which of the two systems a score came from: they could be exchanged",
    kind="family",
    half_width=_half_width_of_maxt,
)
def maxt(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """All pairs are tested by the same sign flips, each compared with the largest of the pairs not yet rejected.

    Shared flips keep the correlations of the pairs, which corrections of separate p-values must assume to be the worst.
    For one pair this is the randomisation test. For several it takes all differences of a topic to be as likely with
    the opposite signs, which skewed scores are only nearly; the simulated family-wise error is right from 25 topics on.
    The statistic is Σd / √Σd², of which Student's t is a monotone function; flips leave its denominator alone.
    Reference: Westfall and Young, "Resampling-based multiple testing", 1993, with sign flips for resamples.

    >>> scores = np.array([[5, 6, 4, 7, 6, 8], [4, 5, 2, 5, 5, 6], [1, 3, 2, 4, 3, 1]]) / 10
    >>> maxt(scores, np.array([[0, 1], [0, 2], [1, 2]]), Sampling(resamples=9_999)).p.round(2)
    array([0.03, 0.03, 0.06])
    """
    check_complete(scores)
    terms = summands(scores)
    sums, size, rounding = terms.sums(pairs), root_of_squares(terms.values, pairs), terms.rounding[pairs].sum(axis=1)
    # A pair that differs by rounding only, if at all, must not take part: its statistic is noise.
    weight = np.divide(1.0, size, out=np.zeros(len(pairs)), where=size > rounding)
    statistic = sums * weight
    threshold = (np.abs(sums) - rounding) * weight * (1 - ROUNDING)

    order = np.argsort(np.abs(statistic), kind="stable")
    count = _core.flipped_maxima(terms.values, pairs[order], weight[order], threshold[order], *draws(sampling))
    stepwise = (1 + count) / (1 + sampling.resamples)
    p = np.empty(len(pairs))
    p[order] = np.maximum.accumulate(stepwise[::-1])[::-1]  # no pair is rejected before one with a larger statistic
    return Outcome(statistic, p, standard_error(p, sampling), notes_on(scores, pairs))


def root_of_squares(values: Floats, pairs: Integers) -> Floats:
    """For each pair the root of the sum of its squared differences.

    >>> root_of_squares(np.array([[3.0, 4.0], [0.0, 0.0]]), np.array([[0, 1]]))
    array([5.])
    """
    blocks = in_blocks(pairs, values.shape[1])
    return np.concatenate([np.sqrt(np.square(differences(values, block)).sum(axis=1)) for block in blocks])
