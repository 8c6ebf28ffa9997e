"""Do several systems differ at all, judged by their ranks on each topic, and how far apart must mean ranks be?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.differences import check_complete, rounded
from cranfield.statistics.significance import Floats


class Friedman(NamedTuple):
    """Mean rank of each system (1 is best), Friedman's chi-square with its p, and Iman and Davenport's sharper F."""

    ranks: Floats
    chi_square: float
    chi_square_p: float
    f: float
    p: float


def friedman(scores: Floats, *, correct_for_ties: bool = True) -> Friedman:
    """Friedman's test of scores[system, topic]: is any system's rank higher than chance would have it?

    The null hypothesis is that on each topic all orders of the systems are equally likely. Demšar 2006 leaves out the
    correction for ties, without which the test finds less.

    References: Friedman, "The use of ranks to avoid the assumption of normality", 1937; Iman and Davenport,
    "Approximations of the critical region of the Friedman statistic", 1980.

    >>> outcome = friedman(np.array([[0.5, 0.7, 0.9, 0.8], [0.4, 0.5, 0.6, 0.8], [0.1, 0.2, 0.3, 0.4]]))
    >>> outcome.ranks, round(outcome.chi_square, 4), round(outcome.p, 4)
    (array([1.125, 1.875, 3.   ]), 7.6, 0.0001)
    """
    from scipy.special import chdtrc, fdtrc
    from scipy.stats import rankdata

    check_complete(scores)
    systems, topics = scores.shape
    if systems < 3:
        raise UsageError(f"{systems} systems: Friedman's test needs at least 3; use a paired test for 2")
    ranks = rankdata(-rounded(scores), axis=0)
    middle = (systems + 1) / 2
    # Untied ranks vary by systems * (systems + 1) / 12; tied ones by less.
    spread = ((ranks - middle) ** 2).sum() / topics / (systems - 1) if correct_for_ties else systems * middle / 6
    means = ranks.mean(axis=1)
    if spread == 0:
        return Friedman(means, 0.0, 1.0, 0.0, 1.0)
    chi_square = float(topics * ((means - middle) ** 2).sum() / spread)
    most = topics * (systems - 1)
    f = (topics - 1) * chi_square / (most - chi_square) if chi_square < most else np.inf
    p = float(fdtrc(systems - 1, (systems - 1) * (topics - 1), f)) if np.isfinite(f) else 0.0
    return Friedman(means, chi_square, float(chdtrc(systems - 1, chi_square)), float(f), p)


def critical_difference(systems: int, topics: int, alpha: float = 0.05) -> float:
    """How far apart the mean ranks of two systems must be to differ significantly, all pairs considered (Nemenyi).

    CD = q √(k (k + 1) / 6 n), where q is the quantile of the studentised range of k systems over √2.

    Reference: Demšar, "Statistical comparisons of classifiers over multiple data sets", 2006.

    >>> round(critical_difference(systems=4, topics=14), 4)
    1.2536
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - alpha, systems, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(systems * (systems + 1) / (6 * topics)))
