"""Many questions at once: secondary metrics and segments are one family, and its size is part of the answer.

The primary metric is asked first and alone, guardrails must all hold: neither is corrected for the other. Everything
else is Holm's family: the smallest p must be below the limit of alpha by the number of questions, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cranfield.online.analysis.looking import LookRule
from cranfield.statistics.corrections import find_correction


class FamilyLimits(NamedTuple):
    """The limit of p of each question of a family at this look, and what was asked."""

    size: int
    limit: float
    found: int


def family_limits(ps: Sequence[float], rule: LookRule) -> FamilyLimits:
    """The limit that parts what is found from the rest: Holm's steps, each with the limit of the look for its share.

    >>> rule = LookRule("one look", 100, 0.05, 1, True, True, (1.0,), None, 1.0)
    >>> family_limits([0.001, 0.02, 0.6], rule)
    FamilyLimits(size=3, limit=0.05, found=2)
    """
    correction = find_correction("holm")
    ordered = np.sort(np.where(np.isnan(ps), 1.0, np.asarray(ps, dtype=np.float64)))
    limit_of: Callable[[int], float] = lambda found: rule.limit(correction.level(1.0, max(len(ordered), 1), found))
    found = 0
    while found < len(ordered) and ordered[found] < limit_of(found):
        found += 1
    return FamilyLimits(len(ordered), limit_of(min(found, max(len(ordered) - 1, 0))), found)
