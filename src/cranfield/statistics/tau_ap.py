"""tau-AP, Kendall's tau that weighs the top of the list: both directions, symmetric, and two rules for ties.

Yilmaz, Aslam and Robertson, "A new rank correlation coefficient for information retrieval", 2008; for ties Urbano and
Marrero, "The treatment of ties in AP correlation", 2017.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from cranfield.statistics.coefficients import NOT_A_NUMBER, coefficient
from cranfield.statistics.significance import Floats, Integers

# The curve of tau-AP over generalisability that gt4ireval fits, after Urbano, Marrero and Martín 2013.
TAU_AP_EXPONENT = 3.98652984123827


@coefficient(
    "tau_ap",
    title="tau-AP",
    says="Kendall's tau that weighs the top: how likely an item above another is rightly so, averaged down the list.",
    ties="undefined: tau_ap_a or tau_ap_b have a rule",
    truth="first",
)
def tau_ap(truth: Floats, estimate: Floats) -> float:
    """2 / (n - 1) Σ_{i=2..n} C(i) / (i - 1) - 1 down the estimate, C(i) those above i that the truth has above it too.

    >>> tau_ap(np.array([4.0, 3, 2, 1]), np.array([3.0, 4, 2, 1])).__round__(4)
    0.3333
    """
    if _has_ties(truth) or _has_ties(estimate):
        return NOT_A_NUMBER
    return _down(truth, estimate)


@coefficient(
    "tau_ap_reversed",
    title="tau-AP reversed",
    says="tau-AP down the first order, with the second as the truth.",
    ties="undefined: tau_ap_b has a rule",
    truth="second",
)
def tau_ap_reversed(estimate: Floats, truth: Floats) -> float:
    """
    >>> tau_ap_reversed(np.array([3.0, 4, 2, 1]), np.array([4.0, 3, 2, 1])).__round__(4)
    0.3333
    """
    return tau_ap(truth, estimate)


@coefficient(
    "tau_ap_symmetric",
    title="symmetric tau-AP",
    says="The mean of tau-AP in both directions.",
    ties="undefined: tau_ap_b has a rule",
)
def tau_ap_symmetric(first: Floats, second: Floats) -> float:
    """
    >>> tau_ap_symmetric(np.array([3.0, 2, 1]), np.array([1.0, 3, 2]))
    -0.25
    """
    return (tau_ap(first, second) + tau_ap(second, first)) / 2


@coefficient(
    "tau_ap_a",
    title="tau-AP,a",
    says="tau-AP when ties in the estimate hide an order: its mean over all orders of the tied items.",
    ties="in the second: mean over all their orders; in the first, the truth: undefined",
    truth="first",
)
def tau_ap_a(truth: Floats, estimate: Floats) -> float:
    """2 / (n - 1) Σ_i (C(i) mean_{k=1..t} 1 / (p + k - 2) + Σ_{k<t} k / (p + k - 1) / 2 t) - 1.

    p is the first rank of the tie that i is in, t its size.

    >>> tau_ap_a(np.array([3.0, 2, 1]), np.array([2.0, 2, 1]))
    0.5
    """
    if _has_ties(truth):
        return NOT_A_NUMBER
    first, size = first_ranks(estimate), tie_sizes(estimate)
    last = first + size - 1
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, len(truth) + 1))])
    from_above = concordant_above(truth, estimate) * (harmonic[last - 1] - harmonic[np.maximum(first - 2, 0)]) / size
    from_the_tie = (size - 1 - (first - 1) * (harmonic[last - 1] - harmonic[first - 1])) / (2 * size)
    return float(2 / (len(truth) - 1) * np.sum(from_above + from_the_tie) - 1)


@coefficient(
    "tau_ap_b",
    title="tau-AP,b",
    says="tau-AP when tied items really are equal: the mean of both directions, each over its items below the first.",
    ties="a pair tied on either side is not in the same order; items tied at the top are no one's successors",
)
def tau_ap_b(first: Floats, second: Floats) -> float:
    """Mean of both directions of 2 mean_{p_i > 1} C(i) / (p_i - 1) - 1.

    >>> tau_ap_b(np.array([3.0, 2, 2]), np.array([3.0, 2, 2]))
    1.0
    """
    return (_down(first, second) + _down(second, first)) / 2


def tau_ap_of_generalisability(dependability: ArrayLike) -> Floats:
    """The tau-AP to expect between the ordering of a topic set with this Eρ² and that of all topics.

    >>> tau_ap_of_generalisability([0.93, 0.95, 0.98]).round(4).tolist()
    [0.7488, 0.8151, 0.9226]
    """
    values: Floats = np.asarray(dependability, dtype=np.float64) ** TAU_AP_EXPONENT
    return values


def first_ranks(scores: Floats) -> Integers:
    """The rank of each item, those tied all standing at the first of their ranks.

    >>> first_ranks(np.array([5.0, 7.0, 5.0, 1.0])).tolist()
    [2, 1, 2, 4]
    """
    ranks: Integers = len(scores) - np.searchsorted(np.sort(scores), scores, side="right") + 1
    return ranks


def tie_sizes(scores: Floats) -> Integers:
    """How many items have the score of each.

    >>> tie_sizes(np.array([5.0, 7.0, 5.0, 1.0])).tolist()
    [2, 1, 2, 1]
    """
    _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    counts: Integers = sizes[group].astype(np.int64)
    return counts


def concordant_above(truth: Floats, estimate: Floats) -> Integers:
    """For each item how many stand above it on both sides; those tied with it on one side do not.

    >>> concordant_above(np.array([4.0, 3, 2, 1]), np.array([3.0, 4, 2, 1])).tolist()
    [0, 0, 2, 3]
    """
    counts = np.zeros(len(truth), dtype=np.int64)
    seen: list[float] = []  # the truth's scores of the items above, kept sorted
    values = truth.tolist()
    for group in _tie_groups(estimate):
        for item in group:
            counts[item] = len(seen) - bisect_right(seen, values[item])
        for item in group:
            insort(seen, values[item])
    return counts


def _down(truth: Floats, estimate: Floats) -> float:
    """2 mean C(i) / (p_i - 1) - 1 over the items below the first of the estimate, p_i the first rank of i's tie."""
    above = first_ranks(estimate) - 1
    below_top = above > 0
    return float(2 * np.mean(concordant_above(truth, estimate)[below_top] / above[below_top]) - 1)


def _tie_groups(scores: Floats) -> Iterator[list[int]]:
    """The numbers of the items, group by group of equal score, best first."""
    order = np.argsort(-scores, kind="stable")
    ordered, items = scores[order], order.tolist()
    ends = [*(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), len(items)]
    for begin, end in pairwise([0, *ends]):
        yield items[begin:end]


def _has_ties(scores: Floats) -> bool:
    return len(np.unique(scores)) < len(scores)
