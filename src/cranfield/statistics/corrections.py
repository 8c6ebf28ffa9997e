"""Many comparisons at once: p-values adjusted so that chance finds do not pile up.

The family may have any shape, such as systems × measures × collections: all its p-values count as one family, and each
adjusted one stands where its p-value stood. An adjusted p-value is compared with alpha as a single one would be.

All of them find what lies below some level and nothing else. A correction knows that level from how many comparisons
there are and how many of them it found, so that an interval can be as wide as the decision beside it is strict.

To add a correction, write a function and decorate it with `@correction`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cranfield.errors import UsageError
from cranfield.registry import Entry, Parameter, Registry, described
from cranfield.statistics.significance import Floats

Adjusts = Callable[[Floats], Floats]
Levels = Callable[[float, int, int], float]
DEFAULT = "holm"


class Correction(Entry[Adjusts]):
    """A correction for many comparisons, and in words what it keeps below alpha.

    `levels` gives, of alpha, the number of comparisons and how many were found, where p-values are found: see `level`.
    `together` says that intervals at that level hold for all comparisons at once.
    """

    title: str
    controls: str
    levels: Levels
    together: bool = False

    def __call__(self, p: Floats) -> Floats:
        """Adjusted p-values, each where its p-value stands. An undefined one stays so, and counts as a comparison made.

        >>> find_correction("bonferroni")(np.array([[0.01, 0.02], [0.4, 0.03]]))
        array([[0.04, 0.08],
               [1.  , 0.12]])
        """
        p = np.asarray(p, dtype=np.float64)
        undefined = np.isnan(p)
        counted = np.where(undefined, 1.0, p)
        if not ((counted >= 0) & (counted <= 1)).all():
            raise UsageError("a p-value is not from 0 to 1")
        adjusted = np.minimum(self.function(counted.ravel()), 1.0).reshape(p.shape) if p.size else p
        return np.where(undefined, np.nan, adjusted)

    def level(self, alpha: float, comparisons: int, significant: int = 0) -> float:
        """The level that parts what was found from the rest: p lies below it exactly where adjusted p is below alpha.

        With nothing found it is what the smallest p-value must be below, the level at which to plan.

        >>> [find_correction("holm").level(0.05, 4, significant) for significant in (0, 2, 4)]
        [0.0125, 0.025, 0.05]
        """
        return self.levels(alpha, comparisons, significant)


CORRECTIONS: Registry[Correction] = Registry(
    "correction", group="cranfield.corrections", package="cranfield.statistics", decorator="correction"
)


def correction(
    name: str, *, title: str, controls: str, levels: Levels, together: bool = False, **parameters: Parameter
) -> Callable[[Adjusts], Adjusts]:
    """Registers a function as a correction; it takes and gives a flat array, and may exceed 1."""

    def register(function: Adjusts) -> Adjusts:
        entry = Correction(
            name=name,
            title=title,
            controls=controls,
            levels=levels,
            together=together,
            function=function,
            parameters=described(function, "correction", parameters),
        )
        CORRECTIONS.add(entry)
        return function

    return register


def all_corrections() -> tuple[Correction, ...]:
    """Every registered correction.

    >>> [correction.name for correction in all_corrections()][:2]
    ['holm', 'hochberg']
    """
    return CORRECTIONS.all()


def find_correction(name: str = DEFAULT) -> Correction:
    """The correction of a name.

    >>> find_correction().title
    'Holm'
    """
    return CORRECTIONS.find(name)


def family_wise_error(alpha: float, comparisons: int) -> float:
    """The chance of at least one false alarm among so many uncorrected, independent comparisons: 1 - (1 - alpha)^k.

    >>> round(family_wise_error(0.05, 20), 4)
    0.6415
    """
    return float(-np.expm1(comparisons * np.log1p(-alpha)))


_ANY = "the chance of even one false alarm in the family, whatever the comparisons have to do with each other"


def _left(alpha: float, comparisons: int, significant: int) -> float:
    """What is left to decide shares alpha."""
    return alpha * (1 / max(comparisons - significant, 1))


def _of_significant(alpha: float, comparisons: int, significant: int) -> float:
    """As much of alpha as there are findings among the comparisons."""
    return alpha * (max(significant, 1) / comparisons)


@correction("holm", title="Holm", controls=_ANY, levels=_left)
def holm(p: Floats) -> Floats:
    """The smallest of k p-values times k, the next times k - 1 and so on, none below the one before.

    Reference: Holm, "A simple sequentially rejective multiple test procedure", 1979.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p)
    return _back(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), order)


@correction(
    "hochberg",
    title="Hochberg",
    controls="the chance of even one false alarm in the family, if the comparisons are independent or depend on each "
    "other positively",
    levels=_left,
)
def hochberg(p: Floats) -> Floats:
    """Holm's factors from the largest p-value down, none above the one after.

    Reference: Hochberg, "A sharper Bonferroni procedure for multiple tests of significance", 1988.

    >>> hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    order = np.argsort(p)[::-1]
    return _back(np.minimum.accumulate(p[order] * np.arange(1, len(p) + 1)), order)


@correction(
    "bonferroni",
    title="Bonferroni",
    controls=_ANY,
    levels=lambda alpha, comparisons, significant: alpha * (1 / comparisons),
    together=True,
)
def bonferroni(p: Floats) -> Floats:
    """Every p-value times the number of comparisons; never less strict than Holm.

    >>> bonferroni(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.12, 0.09])
    """
    return p * len(p)


@correction(
    "benjamini-hochberg",
    title="Benjamini-Hochberg",
    controls="the expected share of false alarms among what is found, if the comparisons are independent or depend on "
    "each other positively; single false alarms are to be expected",
    levels=_of_significant,
)
def benjamini_hochberg(p: Floats) -> Floats:
    """The i-th smallest of k p-values times k / i, none above the one after.

    Reference: Benjamini and Hochberg, "Controlling the false discovery rate", 1995.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.04, 0.04])
    """
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="bh"))


@correction(
    "benjamini-yekutieli",
    title="Benjamini-Yekutieli",
    controls="the expected share of false alarms among what is found, whatever the comparisons have to do with each "
    "other",
    levels=lambda alpha, comparisons, significant: (
        _of_significant(alpha, comparisons, significant) / sum(1 / i for i in range(1, comparisons + 1))
    ),
)
def benjamini_yekutieli(p: Floats) -> Floats:
    """Benjamini-Hochberg times 1 + 1/2 + … + 1/k.

    Reference: Benjamini and Yekutieli, "The control of the false discovery rate in multiple testing under
    dependency", 2001.

    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03])).round(4)
    array([0.055 , 0.0733, 0.0733])
    """
    from scipy.stats import false_discovery_control

    return np.asarray(false_discovery_control(p, method="by"))


@correction("none", title="none", controls="nothing beyond each comparison taken alone", levels=lambda alpha, *_: alpha)
def none(p: Floats) -> Floats:
    """The p-values as they are.

    >>> none(np.array([0.01, 0.04]))
    array([0.01, 0.04])
    """
    return p


def _back(adjusted: Floats, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> Floats:
    """Values in sorted order, put where they came from."""
    original = np.empty_like(adjusted)
    original[order] = adjusted
    return original
