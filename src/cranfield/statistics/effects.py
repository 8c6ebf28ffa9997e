"""How large a difference is, how surely it is known, and how large one would have to be for a test to find it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.differences import PairedMoments, moments, win_tie_loss
from cranfield.statistics.power import detectable_shift
from cranfield.statistics.significance import Floats, Integers, Outcome, Sampling, differences

Resampled = Literal["percentile", "basic", "BCa"]
_HELD = 1 << 22  # numbers held at a time while resampling


class Effects(NamedTuple):
    """How much the first system of each pair differs from the second, an entry a pair.

    mean: mean difference over topics
    low, high: its t interval
    d_z: mean difference over the standard deviation of the differences; infinite if the difference never varies
    wins, ties, losses: on how many topics the first system is better, as good (to ten digits), worse
    detectable: the least true mean difference that a t test on as many topics finds with the asked-for power, if
      differences vary as they do here; NaN where that cannot be computed
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

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4]])
    >>> effect = effects(scores, np.array([[0, 1]]))
    >>> effect.mean.round(4), effect.low.round(4), effect.high.round(4), effect.d_z.round(4), effect.detectable.round(4)
    (array([0.2]), array([0.0244]), array([0.3756]), array([1.4142]), array([0.2379]))
    >>> effect.wins, effect.ties, effect.losses
    (array([4]), array([1]), array([0]))
    """
    from scipy.special import stdtrit

    _check_share(alpha, "alpha")
    _check_share(power, "power")
    if comparisons < 1:
        raise UsageError(f"comparisons must be a whole number from 1, not {comparisons}")
    degrees = scores.shape[1] - 1
    summary = moments(scores, pairs)
    error = _standard_error(summary, scores)
    level = alpha / comparisons
    quantile = -stdtrit(degrees, level / 2)
    return Effects(
        summary.mean,
        summary.mean - quantile * error,
        summary.mean + quantile * error,
        summary.over(np.sqrt(summary.variance)),
        *win_tie_loss(scores, pairs, tie),
        detectable(error, np.full(len(pairs), float(degrees)), power=power, alpha=level),
    )


def detectable(error: Floats, freedom: Floats, *, power: float, alpha: float) -> Floats:
    """The least true differences found with that power, given their standard errors with degrees of freedom.

    >>> detectable(np.array([0.01, 0.02]), np.array([49.0, 49.0]), power=0.8, alpha=0.05).round(4)
    array([0.0286, 0.0572])
    """
    shifts = {degrees: _shift(degrees, power, alpha) for degrees in set(freedom.tolist())}
    return np.asarray(error * np.array([shifts[degrees] for degrees in freedom.tolist()]))


def _shift(freedom: float, power: float, alpha: float) -> float:
    try:
        return detectable_shift(freedom, power=power, alpha=alpha)
    except UsageError:  # two topics and a level of 0.0001, or power below alpha: no number to give
        return np.nan


def sure_interval(
    gains: Integers, losses: Integers, topics: int, largest: float, alpha: float
) -> tuple[Floats, Floats]:
    """Ends of an interval for each mean difference that holds however few topics change, from their number alone.

    Topics are gained and lost by `largest` at most, so the mean difference is at most that times the share of gains
    among all topics that could be asked, and at least minus that times the share of losses. Either share has an exact
    bound (Clopper and Pearson, 1934). It is wide; t intervals, which are not, miss the true difference far too often
    where few topics change.

    >>> low, high = sure_interval(np.array([4]), np.array([0]), 50, 1.0, 0.05)
    >>> low.round(4), high.round(4)
    (array([-0.0711]), array([0.1923]))
    """
    from scipy.special import betaincinv

    def most(count: Integers) -> Floats:
        share = betaincinv(count + 1.0, np.maximum(topics - count, 1), 1 - alpha / 2)
        return np.where(count < topics, share, 1.0) * largest

    return -most(losses), most(gains)


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
    summary = moments(scores, pairs)
    return within(margin, summary.mean, _standard_error(summary, scores), scores.shape[1] - 1)


def within(margin: float, difference: Floats, error: Floats, freedom: Floats | float) -> Outcome:
    """Two one-sided t tests of differences with known standard errors and degrees of freedom: `equivalence`.

    Where the differences do not vary t is undefined, and the randomisation test answers: of all flips of n differences,
    one is as far inside the margin as they are, or all if they are not inside.

    >>> within(0.02, np.array([0.0]), np.array([0.01]), 20.0).p.round(4)
    array([0.0296])
    """
    from scipy.special import stdtr

    if not margin > 0:
        raise UsageError(f"the margin must be above 0, not {margin}: name the largest difference that does not matter")
    inside = margin - np.abs(difference)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(inside == 0, 0.0, inside / error)
    flips = np.where(inside > 0, 0.5 ** (np.asarray(freedom) + 1), 1.0)
    return Outcome(statistic, np.where(error == 0, flips, stdtr(freedom, -statistic)), np.zeros(len(difference)))


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
    summary = moments(scores, pairs)
    low, high = summary.mean.copy(), summary.mean.copy()
    varying = np.flatnonzero(summary.variance)
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


def _standard_error(summary: PairedMoments, scores: Floats) -> Floats:
    return np.asarray(np.sqrt(summary.variance / scores.shape[1]))


def _check_share(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, not {value}")
