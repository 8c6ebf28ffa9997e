"""One-sided evidence that one system scores higher than another on the same topics, and by how much at least.

A decision to release asks in one direction: is the candidate worse, is it better? The randomisation test then counts
the flips under which the first system is ahead of the second by at least as much as it is. A flip takes some topics
and turns their differences around, which lowers the sum by twice what they add up to: p is the share of all sets of
topics on which the first system is not ahead. So whenever the first system gains on a topic, no set becomes one more
to count, and p does not rise. The t test makes no such promise: a larger win on one topic can raise its p, by the
variance it adds.

With n topics on which the systems differ, p is 2^-n at the least: the empty set always counts.
"""

from __future__ import annotations

from math import ceil, inf, isnan, nan
from typing import Literal, NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.differences import moments, whole_differences
from cranfield.statistics.randomised import exact_p, monte_carlo_p, standard_error
from cranfield.statistics.significance import Floats, Sampling, all_tests, find_test

RANDOMISATION = "randomisation"
_PAIR = np.array([[0, 1]])
_MOST_LISTED = 16  # topics up to which all sets of them are listed
_DRAWN = 1 << 18  # topics in or out of a set, drawn at a time


class Ahead(NamedTuple):
    """On how many topics the first system is ahead, level and behind."""

    ahead: int
    level: int
    behind: int

    @property
    def topics(self) -> int:
        return sum(self)

    @property
    def changed(self) -> int:
        return self.ahead + self.behind


class OneSided(NamedTuple):
    """The chance of so large a lead if there were none, the test that answered, and how it came to its p.

    That is another test than asked for where the one asked for has no answer, as t without variance. `method` is
    exact or drawn for randomisation, formula for the others; `error` is the standard error of a p that is drawn.
    """

    p: float
    test: str
    method: Literal["exact", "drawn", "formula"]
    error: float = 0.0


def one_sided_tests() -> tuple[str, ...]:
    """The tests that have a one-sided form: randomisation, and those whose statistic is as likely on either side if
    there is no difference. What the studentised bootstrap draws is as skewed as the differences are.

    >>> one_sided_tests()
    ('randomisation', 't', 'wilcoxon', 'sign')
    """
    return (RANDOMISATION, *(test.name for test in all_tests() if test.side is not None))


def check_one_sided(test: str) -> None:
    """Refuses a test that has no one-sided form.

    >>> check_one_sided("bootstrap")
    Traceback (most recent call last):
    cranfield.errors.UsageError: bootstrap is not one-sided; take one of randomisation, t, wilcoxon, sign
    """
    if test != RANDOMISATION and find_test(test).side is None:
        raise UsageError(f"{find_test(test)} is not one-sided; take one of {', '.join(one_sided_tests())}")


def counted(first: Floats, second: Floats) -> Ahead:
    """On how many topics the first system is ahead, level and behind; what only rounding tells apart is level.

    >>> counted(np.array([0.3, 0.5, 0.1]), np.array([0.1, 0.5, 0.4]))
    Ahead(ahead=1, level=1, behind=1)
    """
    whole = whole_differences(np.stack([first, second]), _PAIR)[0]
    return Ahead(*(int(np.count_nonzero(part)) for part in (whole > 0, whole == 0, whole < 0)))


def one_sided(first: Floats, second: Floats, test: str = RANDOMISATION, sampling: Sampling | None = None) -> OneSided:
    """Is the first system ahead of the second?

    Randomisation is exact where affordable and drawn otherwise, as in the two-sided test. Of the other tests p is half
    the two-sided one where the statistic is on the first system's side, and one less that half otherwise. Where such a
    test has no answer (a single topic, a difference that does not vary), randomisation gives it.

    >>> one_sided(np.array([3.0, 2.0, 4.0]), np.array([1.0, 1.0, 1.0]))
    OneSided(p=0.125, test='randomisation', method='exact', error=0.0)
    >>> one_sided(np.array([0.4, 0.5, 0.6]), np.array([0.3, 0.4, 0.5]), "t")
    OneSided(p=0.125, test='randomisation', method='exact', error=0.0)
    """
    check_one_sided(test)
    sampling = sampling or Sampling()
    scores = np.stack([first, second])
    if test != RANDOMISATION and scores.shape[1] > 1 and (test != "t" or moments(scores, _PAIR).variance[0] > 0):
        known = find_test(test)
        outcome = known.function(scores, _PAIR, sampling)
        half = float(outcome.p[0]) / 2
        if not isnan(half) and known.side is not None:
            return OneSided(half if known.side(scores, outcome) > 0 else 1 - half, test, "formula")
    p = exact_p(scores, _PAIR, sampling, one_sided=True)
    if not np.isnan(p[0]):
        return OneSided(float(p[0]), RANDOMISATION, "exact")
    p = monte_carlo_p(scores, _PAIR, sampling, one_sided=True)
    return OneSided(float(p[0]), RANDOMISATION, "drawn", float(standard_error(p, sampling)[0]))


def topics_needed(alpha: float) -> int:
    """The least number of topics that differ with which randomisation can give a p below alpha.

    >>> topics_needed(0.05), topics_needed(0.01), topics_needed(0.5)
    (5, 7, 2)
    """
    topics = 1
    while 0.5**topics >= alpha:
        topics += 1
    return topics


def least_lead(
    first: Floats, second: Floats, alpha: float, test: str = RANDOMISATION, sampling: Sampling | None = None
) -> float:
    """The mean difference that the first system has at least, surely: the end of its one-sided interval.

    It is the test turned around: every smaller lead is rejected at alpha when taken away from each topic. NaN for tests
    that are not about the mean; -inf where the topics are too few to reject any lead.

    Taking a lead away, a set of topics counts against it if their mean is no larger. So under randomisation the end
    is an order statistic of the means over sets of topics (Hartigan, "Using subsample values as typical values",
    1969): all of them up to 16 topics, else as many as there are resamples. It is right in 1 - alpha of all cases
    whatever the distribution of the differences, if only they lie evenly around their mean.

    >>> first, second = np.array([0.5, 0.4, 0.6, 0.3, 0.7]), np.full(5, 0.2)
    >>> round(least_lead(first, second, 0.05), 6), least_lead(first[:4], second[:4], 0.05)
    (0.1, -inf)
    """
    scores, sampling = np.stack([first, second]), sampling or Sampling()
    if test in ("wilcoxon", "sign"):
        return nan
    if test == "t":
        from scipy.special import stdtrit

        summary, topics = moments(scores, _PAIR), len(first)
        return float(summary.mean[0] + stdtrit(topics - 1, alpha) * np.sqrt(summary.variance[0] / topics))
    means = _means_over_sets(first - second, sampling)
    counting = ceil(alpha * (1 + len(means))) - 2  # sets beside the empty one that may count, for p to be below alpha
    return -inf if counting < 0 else float(np.partition(means, counting)[counting])


def _means_over_sets(difference: Floats, sampling: Sampling) -> Floats:
    """The mean over every set of topics but the empty one, or over sets drawn at random."""
    topics = len(difference)
    if topics <= _MOST_LISTED:
        sums, sizes = np.zeros(1), np.zeros(1)
        for value in difference:
            sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
        return np.asarray(sums[1:] / sizes[1:])
    random, means = np.random.default_rng(sampling.seed), []
    columns = np.stack([difference, np.ones(topics)], axis=1)
    for start in range(0, sampling.resamples, rows := max(1, _DRAWN // topics)):
        bits = random.integers(0, 256, (min(rows, sampling.resamples - start), -(-topics // 8)), dtype=np.uint8)
        sums, sizes = (np.unpackbits(bits, axis=1, count=topics).astype(np.float64) @ columns).T
        means.append(np.divide(sums, sizes, out=np.full(len(sums), -inf), where=sizes > 0))
    return np.concatenate(means)
