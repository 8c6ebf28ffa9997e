"""Tests for two systems scored on different topics.

In scores[system, topic] NaN marks a topic that the system was not run on. Where two systems share topics these tests
are refused: they would take the difficulty of the topics, which both systems share, for chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.differences import DIGITS, rounded
from cranfield.statistics.significance import Floats, Integers, Outcome, Sampling, significance_test


def _half_width_of_student(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    first, second = (_samples(scores[systems]) for systems in pairs.T)
    freedom = (first.size + second.size - 2).astype(np.float64)
    pooled = ((first.size - 1) * first.deviation**2 + (second.size - 1) * second.deviation**2) / freedom
    return _half_width(np.sqrt(pooled * (1 / first.size + 1 / second.size)), freedom, level)


def _half_width_of_welch(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    samples = _samples(scores)
    variances = (np.square(samples.deviation) / samples.size)[pairs]
    freedom = pooled_freedom(variances, (samples.size[pairs] - 1).astype(np.float64))
    return _half_width(np.sqrt(variances.sum(axis=1)), freedom, level)


def _half_width(error: Floats, freedom: Floats, level: float) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(-stdtrit(freedom, level / 2) * error)


@significance_test(
    "student",
    title="Student's t, independent samples",
    null="on average over all topics that could have been asked, the two systems score the same, "
    "and their scores vary equally from topic to topic",
    kind="independent",
    half_width=_half_width_of_student,
)
def student(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Student's t test for independent samples, with one variance for both.

    >>> scores = np.array([[0.7, 0.3, 0.5, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1, 0.2]])
    >>> student(scores, np.array([[0, 1]]), Sampling()).p.round(4)
    array([0.1072])
    """
    return _t(scores, pairs, equal_variances=True)


@significance_test(
    "welch",
    title="Welch's t, independent samples",
    null="on average over all topics that could have been asked, the two systems score the same",
    kind="independent",
    half_width=_half_width_of_welch,
)
def welch(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Welch's t test for independent samples, each with its own variance.

    Reference: Welch, "The generalization of Student's problem when several different population variances are
    involved", 1947.

    >>> scores = np.array([[0.7, 0.3, 0.5, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1, 0.2]])
    >>> welch(scores, np.array([[0, 1]]), Sampling()).p.round(4)
    array([0.0798])
    """
    return _t(scores, pairs, equal_variances=False)


@significance_test(
    "mann-whitney",
    title="Mann-Whitney U, independent samples",
    null="a score of either system is as likely to be above as below a score of the other; this is not about the mean",
    kind="independent",
    about_mean=False,
)
def mann_whitney(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Mann and Whitney's test: how many pairs of topics, one of each system, the first system wins.

    The statistic U counts them, ties as a half; scores are rounded to ten digits first. p is exact if one system has at
    most 8 topics and no scores are tied; otherwise normal, corrected for ties and continuity.

    Reference: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger", 1947.

    >>> scores = np.array([[0.7, 0.3, 0.5, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1, 0.2]])
    >>> outcome = mann_whitney(scores, np.array([[0, 1]]), Sampling())
    >>> outcome.statistic, outcome.p
    (array([6.]), array([0.2]))
    """
    from scipy.stats import mannwhitneyu

    check_disjoint(scores, pairs)
    statistic_and_p = np.ones((2, len(pairs)))
    for place, pair in enumerate(pairs):
        own = rounded(scores[pair])
        first, second = (row[~np.isnan(row)] for row in own)
        if np.nanmin(own) == np.nanmax(own):
            statistic_and_p[0, place] = len(first) * len(second) / 2
        else:
            statistic_and_p[:, place] = mannwhitneyu(first, second)
    return Outcome(statistic_and_p[0], statistic_and_p[1], np.zeros(len(pairs)))


class _Samples(NamedTuple):
    """Mean, standard deviation and size of each system's sample."""

    mean: Floats
    deviation: Floats
    size: Integers


def _t(scores: Floats, pairs: Integers, equal_variances: bool) -> Outcome:
    from scipy.stats import ttest_ind_from_stats

    check_disjoint(scores, pairs)
    first, second = (_samples(scores[systems]) for systems in pairs.T)
    constant = (first.deviation == 0) & (second.deviation == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic, p = ttest_ind_from_stats(*first, *second, equal_var=equal_variances)
    statistic, p = np.where(constant, np.nan, statistic), np.where(constant, np.nan, p)
    note = f"in {np.count_nonzero(constant):,} of {len(pairs):,} pairs neither system's scores vary: p is undefined"
    return Outcome(statistic, p, np.zeros(len(pairs)), (note,) if constant.any() else ())


def exchanged(scores: Floats, pairs: Integers) -> Floats:
    """Exact p of systems neither of whose scores vary: the share of all ways to deal the scores to the two samples that
    part their means as far.

    It answers where t has nothing to compare a difference with. The first sample gets a hypergeometric number of the
    first system's scores, and the means are the further apart the further that is from its mean.

    >>> exchanged(np.array([[0.5, 0.5, 0.5, np.nan, np.nan], [np.nan, np.nan, np.nan, 0.1, 0.1]]), np.array([[0, 1]]))
    array([0.1])
    """
    from scipy.stats import hypergeom

    samples = _samples(scores)
    out = np.ones(len(pairs))
    for place, (i, j) in enumerate(pairs.tolist()):
        own, other = int(samples.size[i]), int(samples.size[j])
        if not np.isclose(samples.mean[i], samples.mean[j], rtol=10.0**-DIGITS, atol=0):
            kept = np.arange(max(0, own - other), own + 1)
            away = np.abs(kept - own * own / (own + other))
            out[place] = hypergeom(own + other, own, own).pmf(kept)[away >= away[-1] * (1 - 1e-9)].sum()
    return out


def _samples(scores: Floats) -> _Samples:
    mean = np.nanmean(scores, axis=1)
    deviation = np.nanstd(scores, axis=1, ddof=1)
    rounding = np.nanmax(np.abs(scores), axis=1) * 10.0**-DIGITS
    return _Samples(mean, np.where(deviation <= rounding, 0.0, deviation), (~np.isnan(scores)).sum(axis=1))


def pooled_freedom(variances: Floats, freedom: Floats) -> Floats:
    """Degrees of freedom of each row's sum of variances, each with its own (Satterthwaite, 1946); as in Welch's test.

    >>> pooled_freedom(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[9.0, 9.0], [9.0, 4.0]]))
    array([18., 13.])
    """
    total = variances.sum(axis=1)
    parts = (np.square(variances) / freedom).sum(axis=1)
    return np.asarray(np.divide(np.square(total), parts, out=freedom.sum(axis=1), where=parts > 0))


def check_disjoint(scores: Floats, pairs: Integers) -> None:
    """Refuses pairs of systems that share a topic, and systems with fewer than two.

    >>> check_disjoint(np.array([[0.1, 0.2, 0.3], [0.2, 0.2, np.nan]]), np.array([[0, 1]]))
    Traceback (most recent call last):
    cranfield.errors.UsageError: 2 topics are shared by two systems: use a paired test such as 't'
    """
    present = ~np.isnan(scores)
    shared = int((present[pairs[:, 0]] & present[pairs[:, 1]]).sum(axis=1).max(initial=0))
    if shared:
        raise shared_topics(shared)
    if (present.sum(axis=1)[pairs] < 2).any():
        raise UsageError("a system has fewer than 2 topics: evaluate it on more")


def shared_topics(number: int) -> UsageError:
    """What is said of systems that share topics, where a test is for those that do not.

    >>> print(shared_topics(1))
    1 topic is shared by two systems: use a paired test such as 't'
    """
    topics = "1 topic is" if number == 1 else f"{number:,} topics are"
    return UsageError(f"{topics} shared by two systems: use a paired test such as 't'")
