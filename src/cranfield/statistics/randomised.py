"""The randomisation test: if it did not matter which of two systems a score came from, what would chance alone do?

On each topic the two scores are exchanged or not, which flips the sign of their difference. The p-value is the share of
all such flips under which the differences add up to at least as much, on either side of zero, as they do.

Where that is affordable, all flips are accounted for and p is exact: by the chances of every possible sum where
differences are multiples of a common unit (Pagano and Tritchler, 1983), or by listing the sums of each half of the
topics and letting them meet. Otherwise flips are drawn at random, and p = (1 + as extreme) / (1 + drawn), which is
never zero.

Equal sums must be seen as equal: .3 - .2 and .2 - .1 differ as floating-point numbers. Scores with a common denominator
(four decimals, P@10, RR@10) are therefore counted in whole units. For all others, sums closer together than `ROUNDING`
times what was added up are equal.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.statistics.differences import check_complete, in_blocks, win_tie_loss
from cranfield.statistics.significance import Floats, Integers, Outcome, Sampling, significance_test
from cranfield.tables import thread_count

AFFORDABLE = 1 << 24  # steps a pair may take to be exact: a few milliseconds
LARGEST_DENOMINATOR = 10**9
LARGEST_SUM = 2.0**52  # of whole numbers that doubles hold without rounding
ROUNDING = 1e-12


@significance_test(
    "randomisation",
    title="randomisation test",
    null="on every topic it does not matter which of the two systems a score came from: they could be exchanged",
)
def randomisation(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Two-sided randomisation test of the mean difference by flipping the signs of the topics' differences.

    Exact where affordable, whatever the number of resamples; the choice depends on the pair's scores alone.
    Reference: Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval
    evaluation", 2007.

    >>> scores = np.array([[0.4, 0.5, 0.3, 0.6], [0.3, 0.3, 0.3, 0.2]])
    >>> randomisation(scores, np.array([[0, 1]]), Sampling()).p
    array([0.25])
    """
    check_complete(scores)
    p = exact_p(scores, pairs, sampling)
    drawn = np.isnan(p)
    if drawn.any():
        p[drawn] = monte_carlo_p(scores, pairs[drawn], sampling)
    error = np.where(drawn, standard_error(p, sampling), 0.0)
    return Outcome(mean_differences(scores, pairs), p, error, notes_on(scores, pairs))


def exact_p(
    scores: Floats, pairs: Integers, sampling: Sampling, affordable: int = AFFORDABLE, *, one_sided: bool = False
) -> Floats:
    """The share of all flips that are as extreme, NaN for a pair for which that would take too many steps.

    One-sided, those are as extreme under which the first system is ahead of the second by at least as much as it is.

    >>> scores, pair = np.array([[3.0, 2.0, 4.0], [1.0, 1.0, 1.0]]), np.array([[0, 1]])
    >>> exact_p(scores, pair, Sampling()), exact_p(scores, pair, Sampling(), one_sided=True)
    (array([0.25]), array([0.125]))
    """
    denominator = np.array([common_denominator(row) for row in scores], dtype=np.int64)
    threads = thread_count(sampling.threads)

    def of_block(pairs: Integers) -> Floats:
        first, second = pairs.T
        unit = np.lcm(denominator[first], denominator[second])
        added_up = (np.abs(scores[first]) + np.abs(scores[second])).sum(axis=1)
        whole = (unit > 0) & (unit <= LARGEST_DENOMINATOR) & (added_up * unit < LARGEST_SUM)
        scale = np.where(whole, unit, 1)[:, np.newaxis]
        ours, theirs = scores[first] * scale, scores[second] * scale
        ours[whole], theirs[whole] = np.rint(ours[whole]), np.rint(theirs[whole])
        tolerance = np.where(whole, 0.0, ROUNDING * added_up)
        return _core.exact_flips(ours - theirs, tolerance, affordable, threads, one_sided)

    return np.concatenate([of_block(block) for block in in_blocks(pairs, scores.shape[1])])


def monte_carlo_p(scores: Floats, pairs: Integers, sampling: Sampling, *, one_sided: bool = False) -> Floats:
    """The p-values from flips drawn at random; all pairs see the same flips. One-sided as in `exact_p`.

    >>> scores = np.array([[0.4, 0.5, 0.3, 0.6], [0.3, 0.3, 0.3, 0.2]])
    >>> monte_carlo_p(scores, np.array([[0, 1]]), Sampling(resamples=9_999)).round(2)
    array([0.25])
    """
    terms = summands(scores)
    sums = terms.sums(pairs)
    threshold = (sums if one_sided else np.abs(sums)) - terms.rounding[pairs].sum(axis=1)
    count = _core.flipped_sums(terms.values, pairs, threshold, *draws(sampling), one_sided)
    return (1 + count) / (1 + sampling.resamples)


class Summands(NamedTuple):
    """Scores as they are added up: less what all systems have in common on a topic, in whole units where there are.

    `rounding` says for each system how far its sum may be off; zero for whole units.
    """

    values: Floats
    rounding: Floats

    def sums(self, pairs: Integers) -> Floats:
        """For each pair the sum of its differences."""
        total = self.values.sum(axis=1)
        return np.asarray(total[pairs[:, 0]] - total[pairs[:, 1]])


def summands(scores: Floats) -> Summands:
    """Scores to be added up without rounding, or with known rounding.

    >>> summands(np.array([[0.3, 0.2], [0.2, 0.1]])).values
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    denominator = common_denominator(scores)
    if denominator:
        whole = np.rint(scores * denominator)
        values = whole - np.rint(whole.mean(axis=0))
        return Summands(np.ascontiguousarray(values), np.zeros(len(scores)))
    values = scores - scores.mean(axis=0)
    # What all have in common has been rounded too: it counts, or systems that differ by nothing else seem to differ.
    return Summands(np.ascontiguousarray(values), ROUNDING * np.abs(scores).sum(axis=1))


def common_denominator(values: Floats) -> int:
    """The number of which all values are multiples when divided by it, to a few units in the last place; 0 if none.

    >>> common_denominator(np.array([0.25, 0.1, 1 - 0.9])), common_denominator(np.array([1 / 3, 1 / 7, 0.5]))
    (20, 42)
    >>> common_denominator(np.sqrt([2.0, 3.0, 5.0]))
    0
    """
    largest = np.abs(values).max(initial=0.0)
    most = min(LARGEST_DENOMINATOR, LARGEST_SUM / (max(largest, 1.0) * max(values.size, 1)))
    values = np.unique(values)
    denominator = 1
    while denominator <= most:
        scaled = values * denominator
        tolerance = 4 * np.finfo(float).eps * largest * denominator
        broken = scaled[np.abs(scaled - np.rint(scaled)) > tolerance]
        if not broken.size:
            return denominator
        fraction = Fraction(broken[0]).limit_denominator(10**6)
        if abs(float(fraction) - broken[0]) > tolerance:
            return 0
        denominator *= fraction.denominator
    return 0


def draws(sampling: Sampling) -> tuple[int, int, int]:
    """Seed, resamples and threads, as the core wants them."""
    if sampling.resamples < 1:
        raise UsageError(f"a randomised test needs at least one resample, not {sampling.resamples}")
    return sampling.seed % 2**64, sampling.resamples, thread_count(sampling.threads)


def standard_error(p: Floats, sampling: Sampling) -> Floats:
    """How far a p-value from resamples is off by chance.

    >>> standard_error(np.array([0.5]), Sampling(resamples=99))
    array([0.05])
    """
    return np.asarray(np.sqrt(p * (1 - p) / (1 + sampling.resamples)))


def mean_differences(scores: Floats, pairs: Integers) -> Floats:
    """For each pair the difference of the means."""
    mean = scores.mean(axis=1)
    return np.asarray(mean[pairs[:, 0]] - mean[pairs[:, 1]])


def notes_on(scores: Floats, pairs: Integers) -> tuple[str, ...]:
    """Says how many pairs have the same scores throughout."""
    identical = int(np.sum(win_tie_loss(scores, pairs).ties == scores.shape[1]))
    if not identical:
        return ()
    return (f"{identical:,} of {len(pairs):,} pairs have the same score on every topic: p = 1",)


def most_extreme(level: float, resamples: int) -> int:
    """How many resamples may be as extreme for p = (1 + number) / (1 + resamples) to be below the level; -1 if none."""
    return max(int(np.ceil(level * (1 + resamples) - 1e-9)) - 2, -1)
