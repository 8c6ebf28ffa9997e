"""How large a difference is, how surely it is known, and how large one would have to be for a test to find it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.base import Floats, Integers, Outcome, Sampling, differences
from cranfield.statistics.differences import Moments, moments, win_tie_loss

Resampled = Literal["percentile", "basic", "BCa"]
_HELD = 1 << 22  # numbers held at a time while resampling


class Effects(NamedTuple):
    """How much the first system of each pair differs from the second, an entry a pair.

    mean: mean difference over topics
    low, high: its t interval
    d_z: mean difference over the standard deviation of the differences; infinite if the difference never varies
    wins, ties, losses: on how many topics the first system is better, as good (to ten digits), worse
    detectable: the least true mean difference that a t test on as many topics finds with the asked-for power
    """

    mean: Floats
    low: Floats
    high: Floats
    d_z: Floats
    wins: Integers
    ties: Integers
    losses: Integers
    detectable: Floats


def effects(
    scores: Floats,
    pairs: Integers,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    comparisons: int = 1,
    tie: float = 0.0,
) -> Effects:
    """Differences with their t intervals, effect sizes and counts.

    With `comparisons` the intervals hold together: all of that many contain the true difference with a chance of at
    least 1 - alpha (Bonferroni). A pair whose interval then leaves out zero is also significant after Holm's
    correction of the t test; the reverse need not hold, as Holm is the sharper. `detectable` follows the same alpha.

    detectable = (t_{1 - alpha/2} + t_{power}) s / √n, quantiles with n - 1 degrees of freedom.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4]])
    >>> found = effects(scores, np.array([[0, 1]]))
    >>> found.mean.round(4), found.low.round(4), found.high.round(4), found.d_z.round(4), found.detectable.round(4)
    (array([0.2]), array([0.0244]), array([0.3756]), array([1.4142]), array([0.2351]))
    >>> found.wins, found.ties, found.losses
    (array([4]), array([1]), array([0]))
    """
    from scipy.special import stdtrit

    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if comparisons < 1:
        raise UsageError(f"comparisons must be a whole number from 1, not {comparisons}")
    degrees = scores.shape[1] - 1
    found = moments(scores, pairs)
    error = _standard_error(found, scores)
    quantile = -stdtrit(degrees, alpha / comparisons / 2)
    return Effects(
        found.mean,
        found.mean - quantile * error,
        found.mean + quantile * error,
        found.over(np.sqrt(found.variance)),
        *win_tie_loss(scores, pairs, tie),
        (quantile + stdtrit(degrees, power)) * error,
    )


def equivalence(scores: Floats, pairs: Integers, margin: float) -> Outcome:
    """Are two systems as good as equal? Two one-sided t tests (TOST) of a mean difference beyond ±margin.

    The null hypothesis is that the systems differ by at least the margin on average; a small p says that they do not.
    A difference that is "not significant" says no such thing. The statistic is the t of the nearer bound, p the larger
    of the two p-values.

    Reference: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", 1987.

    >>> scores = np.array([[0.70, 0.30, 0.21, 0.60, 0.40], [0.69, 0.31, 0.20, 0.60, 0.39]])
    >>> equivalence(scores, np.array([[0, 1]]), margin=0.02).p.round(4)
    array([0.0081])
    """
    found = moments(scores, pairs)
    return within(margin, found.mean, _standard_error(found, scores), scores.shape[1] - 1)


def within(margin: float, difference: Floats, error: Floats, freedom: Floats | float) -> Outcome:
    """Two one-sided t tests of differences with known standard errors and degrees of freedom: `equivalence`.

    >>> within(0.02, np.array([0.0]), np.array([0.01]), 20.0).p.round(4)
    array([0.0296])
    """
    from scipy.special import stdtr

    if not margin > 0:
        raise UsageError(f"the margin must be above 0, not {margin}: name the largest difference that does not matter")
    inside = margin - np.abs(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(inside == 0, 0.0, inside / error)
    return Outcome(statistic, stdtr(freedom, -statistic), np.zeros(len(difference)))


def bootstrap_interval(
    scores: Floats,
    pairs: Integers,
    sampling: Sampling,
    *,
    method: Resampled = "percentile",
    alpha: float = 0.05,
) -> tuple[Floats, Floats]:
    """Lower and upper ends of bootstrap intervals of the mean differences.

    With 25 topics intervals of nominal 95 % cover the true difference of average precision in some 93 % of cases,
    "BCa" in 92 %, and t intervals in 95 %: prefer `effects` unless the differences are far from normal.

    Reference: Efron and Tibshirani, "An introduction to the bootstrap", 1993.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4]])
    >>> low, high = bootstrap_interval(scores, np.array([[0, 1]]), Sampling(seed=1, resamples=999))
    >>> low.round(2), high.round(2)
    (array([0.08]), array([0.32]))
    """
    from scipy.stats import bootstrap

    _check_share(alpha, "alpha")
    found = moments(scores, pairs)
    low, high = found.mean.copy(), found.mean.copy()
    varying = np.flatnonzero(found.variance)
    for start in range(0, len(varying), step := max(1, _HELD // sampling.resamples)):
        block = varying[start : start + step]
        # The same seed for every block: what a pair gets does not hang on the other pairs.
        interval = bootstrap(
            (differences(scores, pairs[block]),),
            np.mean,
            axis=1,
            method=method,
            confidence_level=1 - alpha,
            n_resamples=sampling.resamples,
            batch=max(1, _HELD // scores.shape[1] // len(block)),
            rng=np.random.default_rng(sampling.seed),
        ).confidence_interval
        low[block], high[block] = interval
    return low, high


def _standard_error(found: Moments, scores: Floats) -> Floats:
    return np.asarray(np.sqrt(found.variance / scores.shape[1]))


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, not {value}")
