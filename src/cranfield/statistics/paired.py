"""Tests for two systems scored on the same topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.statistics.differences import (
    PairedMoments,
    check_complete,
    in_blocks,
    moments,
    standard_errors,
    whole_differences,
    win_tie_loss,
)
from cranfield.statistics.randomised import AFFORDABLE, most_extreme
from cranfield.statistics.significance import Floats, Integers, Outcome, Sampling, differences, significance_test

MOST_EXACT = 50  # differences up to which the distribution of signed ranks is computed, not approximated
TIE = 1e-9  # resampled statistics that are this close to the observed one, relatively, are as large


def _half_width_of_t(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    from scipy.special import stdtrit

    return np.asarray(-stdtrit(scores.shape[1] - 1, level / 2) * standard_errors(scores, pairs))


def statistic_side(scores: Floats, outcome: Outcome) -> float:
    """The side of a test whose statistic is above zero where the first system is ahead."""
    return float(outcome.statistic[0])


@significance_test(
    "t",
    title="paired t test",
    null="on average over all topics that could have been asked, the two systems score the same",
    fragile=True,
    half_width=_half_width_of_t,
    side=statistic_side,
)
def t(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Student's paired t test: is the mean difference large beside how much the difference varies over topics?

    t = d̄ / √(s² / n) with n - 1 degrees of freedom. It assumes that means of n differences are about normal, which
    holds from some 25 topics on unless a few topics decide everything. Where the difference is the same on every topic,
    p is undefined and a note says so: there is no variation to judge it by.

    Reference: Student, "The probable error of a mean", 1908.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.5, 0.1, 0.0, 0.2, 0.4]])
    >>> outcome = t(scores, np.array([[0, 1]]), Sampling())
    >>> outcome.statistic.round(4), outcome.p.round(4)
    (array([3.1623]), array([0.0341]))
    """
    from scipy.special import stdtr

    summary = moments(scores, pairs)
    statistic = t_statistic(summary, scores.shape[1])
    p = np.where(summary.variance == 0, np.nan, 2 * stdtr(scores.shape[1] - 1, -np.abs(statistic)))
    return Outcome(statistic, p, np.zeros(len(pairs)), _constant_note(summary))


def t_statistic(summary: PairedMoments, topics: int) -> Floats:
    """The mean difference in standard errors.

    >>> t_statistic(PairedMoments(np.array([0.2]), np.array([0.02])), 5).round(4)
    array([3.1623])
    """
    return summary.over(np.sqrt(summary.variance / topics))


@significance_test(
    "wilcoxon",
    title="Wilcoxon signed-rank test",
    null="the differences lie evenly around zero: a gain of any size is as likely as a loss of that size. "
    "This is not about the mean: many small losses beside a few large gains are enough to reject it, the more topics "
    "the more surely",
    about_mean=False,
    side=statistic_side,
)
def wilcoxon(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """Wilcoxon's signed-rank test: topics ranked by the size of the difference, ranks of gains against those of losses.

    The statistic is the sum of the ranks of gains minus that of losses. Differences are rounded to ten digits first, so
    that 0.3 - 0.2 and 0.2 - 0.1 are tied; tied differences share their mean rank. Differences of zero are left out, as
    Wilcoxon did. p is exact for up to 50 differences, tied or not; otherwise normal, with the variance corrected for
    ties and 1/2 for continuity.

    Reference: Wilcoxon, "Individual comparisons by ranking methods", 1945.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.6, 0.5, 0.0, 0.1, 0.4]])
    >>> outcome = wilcoxon(scores, np.array([[0, 1]]), Sampling())
    >>> outcome.statistic, outcome.p
    (array([5.]), array([0.5]))
    >>> outcome.notes
    ('differences of zero, left out: 1 of 5 topics', 'differences tied in size: 2 of 5 topics')
    """
    check_complete(scores)
    topics = scores.shape[1]
    parts = [_signed_ranks(whole_differences(scores, block)[0]) for block in in_blocks(pairs, topics)]
    ranks = _SignedRanks(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    notes = _counted(ranks.zeros, topics, "differences of zero, left out") + _counted(
        ranks.tied, topics, "differences tied in size"
    )
    return Outcome(ranks.statistic, ranks.p, np.zeros(len(pairs)), notes)


class _SignedRanks(NamedTuple):
    statistic: Floats
    p: Floats
    zeros: Floats
    tied: Floats


def _signed_ranks(difference: Floats) -> _SignedRanks:
    from scipy.stats import rankdata

    size = np.abs(difference)
    zeros = (size == 0).sum(axis=1)
    ranks = np.where(size > 0, np.copysign(rankdata(size, axis=1) - zeros[:, None], difference), 0.0)
    kept = difference.shape[1] - zeros
    p = np.ones(len(difference))
    # SciPy chooses one way for all rows of an array; here the way of a pair hangs on that pair alone.
    exact = kept <= MOST_EXACT
    p[exact] = _exact_ranks_p(ranks[exact])
    p[~exact] = signed_rank_p(difference[~exact], "asymptotic")
    return _SignedRanks(ranks.sum(axis=1), p, zeros, _tied(size))


def signed_rank_p(difference: Floats, method: Literal["exact", "asymptotic"]) -> Floats:
    """Two-sided p of the signed-rank test for each row of differences, zeros left out.

    >>> signed_rank_p(np.array([[1.0, 2.0, 3.0, -4.0, 0.0]]), "exact")
    array([0.875])
    """
    from scipy.stats import wilcoxon

    if not len(difference):
        return np.empty(0)
    p = wilcoxon(difference, axis=1, zero_method="wilcox", correction=True, method=method).pvalue
    return np.asarray(p, dtype=np.float64)


def _exact_ranks_p(ranks: Floats) -> Floats:
    """The share of all ways to set the signs of the ranks that make their sum as large, for each row.

    Ranks shared by an even number of ties end in a half, so twice the ranks are whole numbers.
    """
    return _core.exact_flips(2 * ranks, np.zeros(len(ranks)), AFFORDABLE, 1) if len(ranks) else np.empty(0)


def _tied(size: Floats) -> Floats:
    """In each row, how many sizes other than zero there are that occur more than once."""
    ordered = np.sort(size, axis=1)
    same = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] > 0)
    tied = np.zeros(size.shape, dtype=bool)
    tied[:, 1:] |= same
    tied[:, :-1] |= same
    return np.asarray(tied.sum(axis=1))


def _side_of_sign(scores: Floats, outcome: Outcome) -> float:
    wins, _, losses = win_tie_loss(scores, np.array([[0, 1]]))
    return float(wins[0] - losses[0])


@significance_test(
    "sign",
    title="sign test",
    null="on a topic where the two systems differ, each is as likely as the other to be the better one; "
    "by how much does not count, so this is not about the mean",
    about_mean=False,
    side=_side_of_sign,
)
def sign(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """The sign test: topics won against topics lost, as with a fair coin; tied topics are left out and counted.

    The statistic is the number of topics won; p is binomial and exact.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4], [0.6, 0.2, 0.0, 0.1, 0.4]])
    >>> outcome = sign(scores, np.array([[0, 1]]), Sampling())
    >>> outcome.statistic, outcome.p, outcome.notes
    (array([4.]), array([0.125]), ('topics tied, left out: 1 of 5 topics',))
    """
    return sign_test(scores, pairs)


def sign_test(scores: Floats, pairs: Integers, tie: float = 0.0) -> Outcome:
    """The sign test where a difference of at most `tie` is a tie.

    >>> scores = np.array([[0.70, 0.30, 0.20, 0.60, 0.41], [0.60, 0.20, 0.00, 0.10, 0.40]])
    >>> sign_test(scores, np.array([[0, 1]]), tie=0.01).p
    array([0.125])
    """
    from scipy.special import bdtr

    wins, ties, losses = win_tie_loss(scores, pairs, tie)
    p = np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses).astype(np.float64), wins + losses, 0.5))
    notes = _counted(ties, scores.shape[1], "topics tied, left out")
    return Outcome(wins.astype(np.float64), p, np.zeros(len(pairs)), notes)


def _half_width_of_bootstrap(scores: Floats, pairs: Integers, level: float, sampling: Sampling) -> Floats:
    """The size of t* that a share of the level exceeds among topics drawn anew, in standard errors."""
    topics, error, mean = scores.shape[1], standard_errors(scores, pairs), moments(scores, pairs).mean
    half = np.full(len(pairs), np.inf)
    most = most_extreme(level, sampling.resamples)
    if most < 0:
        return half
    for start in range(0, len(pairs), step := max(1, _STATISTICS // sampling.resamples)):
        rows = slice(start, start + step)
        centred = differences(scores, pairs[rows]) - mean[rows, None]
        t = np.empty((len(centred), sampling.resamples))
        done = 0
        for drawn in draws(sampling, topics):
            # As in the test, a draw whose differences do not vary is as extreme as any.
            means, squares = np.square(centred @ drawn.T / topics), centred**2 @ drawn.T / topics * (1 - TIE)
            varies = squares > means
            part = t[:, done : done + len(drawn)]
            part[...] = np.inf
            np.divide(means * (topics - 1), squares - means, out=part, where=varies)
            done += len(drawn)
        t.partition(sampling.resamples - 1 - most, axis=1)
        critical = np.sqrt(t[:, sampling.resamples - 1 - most])
        half[rows] = np.multiply(critical, error[rows], out=np.zeros(len(centred)), where=error[rows] > 0)
    return half


@significance_test(
    "bootstrap",
    title="studentised bootstrap",
    null="on average over all topics that could have been asked, the two systems score the same",
    fragile=True,
    half_width=_half_width_of_bootstrap,
)
def bootstrap(scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome:
    """The bootstrap test: how often would topics drawn anew, from differences moved to mean zero, give so large a t?

    Topics are drawn with replacement; each draw has its own t* = d̄* / √(s*² / n), which keeps the rate of false alarms
    where it belongs, while comparing plain means does not (0.067 for 0.05 with 25 topics). p = (1 + number of draws
    with |t*| ≥ |t|) / (1 + draws). Where the difference is the same on every topic, p is undefined, as in the t test.

    Reference: Sakai, "Evaluating evaluation metrics based on the bootstrap", 2006.

    >>> scores = np.array([[0.7, 0.3, 0.2, 0.6, 0.4, 0.3], [0.5, 0.1, 0.1, 0.2, 0.4, 0.4]])
    >>> bootstrap(scores, np.array([[0, 1]]), Sampling(seed=1, resamples=999)).p
    array([0.133])
    """
    if sampling.resamples < 1:
        raise UsageError(f"a bootstrap test needs at least one resample, not {sampling.resamples}")
    topics = scores.shape[1]
    summary = moments(scores, pairs)
    statistic = t_statistic(summary, topics)
    extreme = np.full(len(pairs), np.nan)
    varying = np.flatnonzero(summary.variance > 0)
    for start in range(0, len(varying), step := max(1, _HELD // topics)):
        block = varying[start : start + step]
        centred = differences(scores, pairs[block]) - summary.mean[block, None]
        extreme[block] = _draws_as_extreme(centred, statistic[block], sampling)
    p = (1 + extreme) / (1 + sampling.resamples)
    error = np.nan_to_num(np.sqrt(p * (1 - p) / sampling.resamples))
    return Outcome(statistic, p, error, _constant_note(summary))


_HELD = 1 << 24  # differences for which draws are made once
_STATISTICS = 1 << 22  # statistics of draws held at a time
_DRAWN = 1 << 15  # numbers drawn at a time: what fits in the cache
_COMPARED = 1 << 22  # pairs × draws compared at a time; with less, threads of the matrix product wait for each other


def _draws_as_extreme(centred: Floats, observed: Floats, sampling: Sampling) -> Integers:
    """For each row of differences moved to mean zero, how many draws have |t*| ≥ |t|.

    With M the mean and Q the mean square of a draw, t*² = M² (n - 1) / (Q - M²), so that |t*| ≥ |t| exactly when
    M² (n - 1 + t²) ≥ t² Q: two matrix products for all rows and draws, and no division.
    """
    topics = centred.shape[1]
    squared = np.square(observed)[:, None]
    left = centred * np.sqrt(topics - 1 + squared) / topics
    right = centred**2 * squared * (1 - TIE) / topics
    extreme = np.zeros(len(centred), dtype=np.int64)
    for drawn in draws(sampling, topics):
        for start in range(0, len(centred), step := max(1, _COMPARED // len(drawn))):
            rows = slice(start, start + step)
            extreme[rows] += (np.square(left[rows] @ drawn.T) >= right[rows] @ drawn.T).sum(axis=1)
    return extreme


def draws(sampling: Sampling, topics: int) -> Iterator[Floats]:
    """How often each of n topics is there among n drawn with replacement: a row a draw, in pieces.

    >>> [piece.sum(axis=1).tolist() for piece in draws(Sampling(seed=0, resamples=3), 5)]
    [[5.0, 5.0, 5.0]]
    """
    random = np.random.default_rng(sampling.seed)
    piece = max(64, _DRAWN // topics)
    for start in range(0, sampling.resamples, piece):
        rows = min(piece, sampling.resamples - start)
        drawn = random.integers(0, topics, size=(rows, topics)) + np.arange(rows)[:, None] * topics
        yield np.bincount(drawn.ravel(), minlength=rows * topics).reshape(rows, topics).astype(np.float64)


def _constant_note(summary: PairedMoments) -> tuple[str, ...]:
    constant = int(summary.constant.sum())
    if not constant:
        return ()
    pairs = f"in {constant:,} of {len(summary.mean):,} pairs the" if len(summary.mean) > 1 else "the"
    return (f"{pairs} difference is the same on every topic: without variation p is undefined",)


def _counted(counts: Floats | Integers, topics: int, kind: str) -> tuple[str, ...]:
    """A note of how many topics it concerns, if any."""
    if not np.any(counts):
        return ()
    if len(counts) == 1:
        return (f"{kind}: {int(counts[0]):,} of {topics:,} topics",)
    concerned = np.count_nonzero(counts)
    return (f"{kind}: up to {int(counts.max()):,} of {topics:,} topics, in {concerned:,} of {len(counts):,} pairs",)
