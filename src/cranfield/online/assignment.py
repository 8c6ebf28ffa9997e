"""Who is in which arm: by a hash of a salt and the unit, so that nobody need remember it.

Experiments with different salts are independent: each is a layer over all units. The hash is SHA-256, of whose digest
the first 64 bits are a place between 0 and 1; arms lie there side by side, as wide as their weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate
from math import ceil

from cranfield.errors import UsageError


def place_of(unit: str, salt: str) -> float:
    """Where a unit lies between 0 and 1, under a salt: the same each time, and evenly spread over units.

    >>> place_of("user-1", "ranker-2026") == place_of("user-1", "ranker-2026") != place_of("user-1", "other")
    True
    """
    return _bits(unit, salt) / 2**64


def assigned_arm(unit: str, salt: str, arms: Mapping[str, float], share: float = 1.0) -> str | None:
    """The arm of a unit, by a salt and the weights of the arms; None if it is not in the `share` that takes part.

    Whether a unit takes part and which arm it has are decided by hashes of their own: with a growing share nobody
    changes arms.

    >>> arms = {"control": 1, "new": 1}
    >>> [assigned_arm(f"user-{number}", "ranker-2026", arms) for number in range(4)]
    ['control', 'control', 'new', 'new']
    >>> assigned_arm("user-1", "ranker-2026", arms, share=0.0) is None
    True
    """
    if not salt:
        raise UsageError("a salt is needed: without one, experiments would have the same units in the same arms")
    if not 0 <= share <= 1:
        raise UsageError(f"share is a number from 0 to 1, not {share}")
    ends = _ends(tuple(arms.items()))
    if share < 1 and Fraction(_bits(unit, f"{salt}\0share"), 2**64) >= Fraction(share):
        return None
    place = _bits(unit, salt)
    return next((arm for end, arm in ends if place < end), ends[-1][1])


@lru_cache(maxsize=64)
def _ends(arms: tuple[tuple[str, float], ...]) -> tuple[tuple[int, str], ...]:
    """Where each arm with a weight ends, of 2^64 places, exactly: it does not depend on rounding."""
    weights = [weight for _, weight in arms]
    if not arms or not all(0 <= weight < float("inf") for weight in weights) or not any(weights):
        raise UsageError(f"weights of arms are numbers from 0, not all 0, and not {dict(arms)}")
    total = sum(map(Fraction, weights))
    reached = accumulate(Fraction(weight) / total for weight in weights)
    return tuple((ceil(end * 2**64), arm) for end, (arm, weight) in zip(reached, arms, strict=True) if weight)


def _bits(unit: str, salt: str) -> int:
    """64 bits of a hash. The salt's length stands before it: no other salt and unit make the same text."""
    text = f"{len(salt)}:{salt}|{unit}".encode("utf-8", "surrogateescape")
    return int.from_bytes(sha256(text).digest()[:8], "big")
