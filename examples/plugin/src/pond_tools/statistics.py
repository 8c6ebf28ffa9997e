"""A coefficient of agreement: two orders of the same items in, a number from -1 to 1 out."""

import numpy as np

from cranfield.statistics.coefficients import coefficient
from cranfield.statistics.significance import Floats


@coefficient(
    "footrule",
    title="Spearman's footrule",
    says="How far items are from their places, added up, against the farthest that they could be.",
    ties="tied items share the first of their places",
)
def footrule(first: Floats, second: Floats) -> float:
    """1 - 2 Σ |place in the first - place in the second| / ⌊n² / 2⌋

    >>> footrule(np.array([0.0, 1, 2]), np.array([2.0, 1, 0]))
    -1.0
    """
    return float(1 - 2 * np.abs(first - second).sum() / (len(first) ** 2 // 2))
