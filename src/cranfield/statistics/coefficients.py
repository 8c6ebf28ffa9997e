"""How far two orders of the same items agree: coefficients on two arrays of scores, the higher the better.

To add a coefficient, write a function and decorate it with `@coefficient`: the command line, its help and the
properties tested for every coefficient read the registry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.registry import Entry, Parameter, Registry, described
from cranfield.statistics.significance import Floats

Side = Literal["neither", "first", "second"]
Agreement = Callable[[Floats, Floats], float]

NOT_A_NUMBER = float("nan")


class Coefficient(Entry[Agreement]):
    """A coefficient of agreement, from -1 (reversed) to 1 (the same order).

    `truth` says which argument is the one to be met; with "neither" they may change places. `ties` says what becomes
    of items of equal score. The coefficient is NaN where it is undefined: fewer than two items, all items tied on one
    side, or ties that it has no rule for.

    >>> find_coefficient("kendall")([1, 2, 3, 4], [1, 2, 4, 3]).__round__(4)
    0.6667
    """

    title: str
    says: str
    ties: str
    truth: Side = "neither"

    def __call__(self, first: ArrayLike, second: ArrayLike) -> float:
        x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if x.shape != y.shape or x.ndim != 1:
            raise UsageError(
                f"{self.title} takes two scores for each item, not arrays of shape {x.shape} and {y.shape}"
            )
        if np.isnan(x).any() or np.isnan(y).any():
            raise UsageError(f"{self.title}: a score is NaN, which has no place in an order; leave the item out")
        if len(x) < 2 or (x == x[0]).all() or (y == y[0]).all():
            return NOT_A_NUMBER
        # Only the order counts: whole numbers in place of scores spare scipy infinities.
        ranks = [np.unique(side, return_inverse=True)[1].astype(np.float64) for side in (x, y)]
        return self.function(ranks[0], ranks[1])

    def orientation(self, first: str = "the first", second: str = "the second") -> str:
        """Which side is the truth, in words."""
        if self.truth == "neither":
            return "both sides count alike"
        truth, estimate = (first, second) if self.truth == "first" else (second, first)
        return f"{truth} is the truth, {estimate} is judged by it from the top down"


COEFFICIENTS: Registry[Coefficient] = Registry(
    "coefficient", group="cranfield.coefficients", package="cranfield.statistics", decorator="coefficient"
)


def coefficient(
    name: str, *, title: str, says: str, ties: str, truth: Side = "neither", **parameters: Parameter
) -> Callable[[Agreement], Agreement]:
    """Registers a function as a coefficient; its keywords are its parameters."""

    def register(function: Agreement) -> Agreement:
        known = described(function, "coefficient", parameters)
        entry = Coefficient(
            name=name, title=title, says=says, ties=ties, truth=truth, function=function, parameters=known
        )
        COEFFICIENTS.add(entry)
        return function

    return register


def all_coefficients() -> tuple[Coefficient, ...]:
    """Every registered coefficient."""
    return COEFFICIENTS.all()


def find_coefficient(name: str) -> Coefficient:
    """The coefficient of a name.

    >>> find_coefficient("tau_ap").orientation()
    'the first is the truth, the second is judged by it from the top down'
    """
    return COEFFICIENTS.find(name)


@coefficient(
    "spearman",
    title="Spearman's rho",
    says="How close the ranks are: items far from their place count by the square of the distance.",
    ties="tied items share the mean of their ranks",
)
def spearman(first: Floats, second: Floats) -> float:
    """Pearson's correlation of the ranks.

    >>> round(spearman(np.arange(10.0), np.array([2.0, 3, 1, 5, 4, 7, 8, 10, 6, 9])), 4)
    0.8545
    """
    from scipy import stats

    return float(stats.spearmanr(first, second).statistic)


def _kendall(first: Floats, second: Floats, variant: str) -> float:
    from scipy import stats

    # No p-value is used, and the asymptotic one is the cheapest; for two items scipy has the exact one only.
    method = "asymptotic" if len(first) > 2 else "exact"
    return float(stats.kendalltau(first, second, variant=variant, method=method).statistic)


@coefficient(
    "kendall",
    title="Kendall's tau-b",
    says="Of the pairs of items, the share in the same order less the share in opposite orders.",
    ties="pairs tied on one side do not count against that side",
)
def kendall(first: Floats, second: Floats) -> float:
    """(concordant - discordant) / √((pairs untied in the first) (pairs untied in the second))

    >>> kendall(np.array([1.0, 2, 3]), np.array([1.0, 3, 2])).__round__(4)
    0.3333
    """
    return _kendall(first, second, "b")


@coefficient(
    "kendall_a",
    title="Kendall's tau-a",
    says="As tau-b, but out of all pairs: the mean over all orders of the tied items.",
    ties="a tied pair is half in the same order, half in the opposite one, and adds nothing",
)
def kendall_a(first: Floats, second: Floats) -> float:
    """(concordant - discordant) / pairs

    >>> kendall_a(np.array([1.0, 2, 3]), np.array([1.0, 2, 2])).__round__(4)
    0.6667
    """
    pairs = len(first) * (len(first) - 1) / 2
    untied = [
        pairs - sum(size * (size - 1) / 2 for size in np.unique(x, return_counts=True)[1]) for x in (first, second)
    ]
    return float(kendall(first, second) * np.sqrt(untied[0] * untied[1]) / pairs)


@coefficient(
    "kendall_c",
    title="Kendall's tau-c",
    says="As tau-b, for sides with different numbers of distinct values, such as grades against scores.",
    ties="scaled by the side with fewer distinct values, so that its ties can still give 1",
)
def kendall_c(first: Floats, second: Floats) -> float:
    """2 (concordant - discordant) / (n² (m - 1) / m), m the smaller number of distinct values.

    >>> kendall_c(np.array([1.0, 1, 2, 2]), np.array([1.0, 2, 3, 4]))
    1.0
    """
    return _kendall(first, second, "c")


@coefficient(
    "weighted_kendall",
    title="Weighted tau",
    says="Kendall's tau in which a pair weighs more the higher its items stand (hyperbolic weights, Vigna 2015).",
    ties="as tau-b, with weights; the mean of weighing by either side's ranks",
)
def weighted_kendall(first: Floats, second: Floats) -> float:
    """Weights 1/(rank + 1) of both items added, ranks from 0.

    >>> x = np.array([4.0, 3, 2, 1])
    >>> weighted_kendall(x, np.array([3.0, 4, 2, 1])) < weighted_kendall(x, np.array([4.0, 3, 1, 2]))
    True
    """
    from scipy import stats

    return float(stats.weightedtau(first, second).statistic)
