"""What the systems of a pair differ by: means and variances of many pairs at once, and who wins on how many topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats, Integers, differences

Booleans = NDArray[np.bool_]
DIGITS = 10  # scores that agree in so many are the same: what they differ by is rounding
_BLOCK = 1 << 20  # differences held at a time


class PairedMoments(NamedTuple):
    """Mean and variance (over n - 1) of each pair's differences; both are exactly 0 where only rounding differs."""

    mean: Floats
    variance: Floats

    @property
    def constant(self) -> Booleans:
        """Where a pair differs by the same on every topic, and not by zero: its variance says nothing."""
        return np.asarray((self.variance == 0) & (self.mean != 0))

    def over(self, spread: Floats) -> Floats:
        """The mean in units of a spread: 0 for systems that do not differ, infinite for a constant difference.

        >>> summary = PairedMoments(np.array([0.0, 0.1, 0.3]), np.array([0.0, 0.0, 0.01]))
        >>> summary.over(np.array([0.0, 0.0, 0.1])).round(3)
        array([ 0., inf,  3.])
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.mean == 0, 0.0, self.mean / spread)


class WinTieLoss(NamedTuple):
    """On how many topics the first system of each pair is better, as good, and worse."""

    wins: Integers
    ties: Integers
    losses: Integers


def moments(scores: Floats, pairs: Integers) -> PairedMoments:
    """Mean and variance of the differences of each pair.

    >>> mean, variance = moments(np.array([[0.5, 0.7, 0.9], [0.4, 0.5, 0.6]]), np.array([[0, 1]]))
    >>> mean.round(6), variance.round(6)
    (array([0.2]), array([0.01]))
    """
    check_complete(scores)
    systems, topics = scores.shape
    mean, variance = np.empty((2, len(pairs)))
    direct = np.ones(len(pairs), dtype=bool)
    if systems**2 <= len(pairs) * topics:
        mean, variance, direct = _by_covariance(scores, pairs)
    for block in _blocks(np.flatnonzero(direct), topics):
        difference = differences(scores, pairs[block])
        mean[block] = difference.mean(axis=1)
        variance[block] = difference.var(axis=1, ddof=1)
    rounding = np.abs(scores).max(axis=1)[pairs].max(axis=1) * 10.0**-DIGITS
    variance = np.where(np.sqrt(variance) <= rounding, 0.0, variance)
    return PairedMoments(np.where((variance == 0) & (np.abs(mean) <= rounding), 0.0, mean), variance)


def whole_differences(scores: Floats, pairs: Integers) -> tuple[Floats, Floats]:
    """Each pair's differences as whole numbers of a unit, and the unit: what only rounding tells apart is the same.

    The unit is ten decimal places below the larger system's best score. 0.3 - 0.2 and 0.2 - 0.1 are not the same
    double, and a test on ranks that takes them as they are misses the tie.

    >>> whole_differences(np.array([[0.3, 0.2], [0.2, 0.1]]), np.array([[0, 1]]))
    (array([[1.e+09, 1.e+09]]), array([1.e-10]))
    """
    largest = np.abs(scores).max(axis=1)[pairs].max(axis=1)
    unit = 10.0 ** (np.ceil(np.log10(np.where(largest == 0, 1.0, largest))) - DIGITS)
    return np.round(differences(scores, pairs) / unit[:, None]), unit


def rounded(scores: Floats) -> Floats:
    """Scores rounded to ten digits of the largest, so that 0.1 + 0.2 is 0.3.

    >>> rounded(np.array([0.1 + 0.2, 0.3])).tolist()
    [0.3, 0.3]
    """
    largest = np.nanmax(np.abs(scores))
    return np.round(scores, DIGITS - int(np.ceil(np.log10(largest)))) if largest else scores


def win_tie_loss(scores: Floats, pairs: Integers, tie: float = 0.0) -> WinTieLoss:
    """Topics won, tied and lost by each pair's first system; a difference of at most `tie` is a tie.

    >>> win_tie_loss(np.array([[0.3, 0.2, 0.1, 0.9], [0.2, 0.2, 0.3, 0.8]]), np.array([[0, 1]]))
    WinTieLoss(wins=array([2]), ties=array([1]), losses=array([1]))
    """
    check_complete(scores)
    counts = np.zeros((3, len(pairs)), dtype=np.int64)
    for block in _blocks(np.arange(len(pairs)), scores.shape[1]):
        whole, unit = whole_differences(scores, pairs[block])
        least = np.round(tie / unit)[:, None]
        counts[:, block] = [rows.sum(axis=1) for rows in (whole > least, np.abs(whole) <= least, whole < -least)]
    return WinTieLoss(*counts)


def in_blocks(pairs: Integers, topics: int) -> Iterator[Integers]:
    """The pairs in pieces, so that what is computed for each topic of each pair stays small.

    >>> [len(block) for block in in_blocks(np.zeros((2500, 2), dtype=np.int64), 1000)]
    [1048, 1048, 404]
    """
    for block in _blocks(np.arange(len(pairs)), topics):
        yield pairs[block]


def check_complete(scores: Floats) -> None:
    """Refuses scores that no paired test can use.

    >>> check_complete(np.array([[0.1, np.nan], [0.2, 0.3]]))
    Traceback (most recent call last):
    cranfield.errors.UsageError: a score is missing: leave out topics that some system lacks, or score them 0
    """
    if scores.shape[1] < 2:
        raise UsageError(f"{scores.shape[1]} topic: a test needs at least 2; evaluate on more topics")
    if not np.isfinite(scores).all():
        raise UsageError("a score is missing: leave out topics that some system lacks, or score them 0")


def _by_covariance(scores: Floats, pairs: Integers) -> tuple[Floats, Floats, Booleans]:
    """PairedMoments of all pairs from one matrix product, and which pairs are too alike for it to be exact.

    var(x - y) = var x + var y - 2 cov(x, y) loses as many digits as it is smaller than var x + var y.
    """
    mean = scores.mean(axis=1)
    deviation = scores - scores.mean(axis=0)
    deviation -= deviation.mean(axis=1, keepdims=True)
    covariance = deviation @ deviation.T / (scores.shape[1] - 1)
    first, second = pairs.T
    separate = covariance[first, first] + covariance[second, second]
    variance = separate - 2 * covariance[first, second]
    return mean[first] - mean[second], variance, variance < 1e-3 * separate


def _blocks(chosen: Integers, topics: int) -> Iterator[Integers]:
    step = max(1, _BLOCK // topics)
    for start in range(0, max(1, len(chosen)), step):
        yield chosen[start : start + step]


def standard_errors(scores: Floats, pairs: Integers) -> Floats:
    """Of the mean difference of each pair.

    >>> standard_errors(np.array([[0.2, 0.4, 0.6], [0.1, 0.3, 0.2]]), np.array([[0, 1]])).round(4)
    array([0.1])
    """
    return np.asarray(np.sqrt(moments(scores, pairs).variance / scores.shape[1]))
