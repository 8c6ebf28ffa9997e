"""What a proof is: a claim, what it expects, what a simulation with a fixed seed shows, and whether that is within
limits that chance alone leaves once in a thousand times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

OUTSIDE = 0.001  # the chance that a true claim is outside its limits


class ProvedClaim(NamedTuple):
    """A claim with what was expected and seen. `low` and `high` are the limits of what is seen, if the claim is true;
    `times` is how often it was tried, 0 where every case was gone through.
    """

    part: str
    claim: str
    expected: float
    seen: float
    low: float
    high: float
    times: int

    @property
    def holds(self) -> bool:
        """Whether what was seen is within the limits."""
        return self.low <= self.seen <= self.high


class ProofEffort(NamedTuple):
    """How much is tried: `short` for the suite, or long; every part has chance of its own."""

    short: bool
    seed: int = 0

    def times(self, short: int, long: int) -> int:
        """So many times, or so many."""
        return short if self.short else long

    def rng(self, part: str) -> np.random.Generator:
        """The chance of a part."""
        return np.random.default_rng([self.seed, *part.encode()])


Proof: TypeAlias = "Callable[[ProofEffort], Iterator[ProvedClaim]]"


def rate(part: str, claim: str, expected: float, hits: int, times: int) -> ProvedClaim:
    """A claim that something happens with this chance: binomial limits.

    >>> rate("a", "a coin", 0.5, 51, 100).holds, rate("a", "a coin", 0.5, 80, 100).holds
    (True, False)
    """
    from scipy.stats import binom

    low, high = (float(binom.ppf(share, times, expected)) / times for share in (OUTSIDE / 2, 1 - OUTSIDE / 2))
    return ProvedClaim(part, claim, expected, hits / times, low, high, times)


def at_most(part: str, claim: str, most: float, hits: int, times: int) -> ProvedClaim:
    """A claim that something happens with this chance at most: a binomial limit above.

    >>> at_most("a", "errors", 0.05, 1, 100).holds, at_most("a", "errors", 0.05, 20, 100).holds
    (True, False)
    """
    from scipy.stats import binom

    return ProvedClaim(part, claim, most, hits / times, 0.0, float(binom.ppf(1 - OUTSIDE, times, most)) / times, times)


def above(part: str, claim: str, least: float, hits: int, times: int) -> ProvedClaim:
    """A claim that something happens more often than with this chance: a binomial limit below.

    >>> above("a", "too many errors", 0.05, 30, 100).holds, above("a", "too many errors", 0.05, 5, 100).holds
    (True, False)
    """
    from scipy.stats import binom

    low = float(binom.ppf(1 - OUTSIDE, times, least) + 1) / times
    return ProvedClaim(part, claim, least, hits / times, low, 1.0, times)


def between(part: str, claim: str, ends: tuple[float, float], hits: int, times: int) -> ProvedClaim:
    """A claim that something happens with a chance between two: a binomial limit at each.

    >>> between("k", "power", (0.75, 0.85), 78, 100).holds
    True
    """
    from scipy.stats import binom

    low = float(binom.ppf(OUTSIDE / 2, times, ends[0])) / times
    high = float(binom.ppf(1 - OUTSIDE / 2, times, ends[1])) / times
    return ProvedClaim(part, claim, sum(ends) / 2, hits / times, low, high, times)


def count(part: str, claim: str, expected: int, seen: int) -> ProvedClaim:
    """A claim about how many of all cases do something: exactly so many.

    >>> count("i", "biased", 12, 12).holds
    True
    """
    return ProvedClaim(part, claim, float(expected), float(seen), float(expected), float(expected), 0)


def value(part: str, claim: str, expected: float, seen: float, margin: float, times: int) -> ProvedClaim:
    """A claim about a number, with the margin that is left to chance.

    >>> value("l", "error", 0.0, 0.004, 0.01, 1000).holds
    True
    """
    return ProvedClaim(part, claim, expected, seen, expected - margin, expected + margin, times)


def least(part: str, claim: str, at: float, seen: float, times: int) -> ProvedClaim:
    """A claim that a number is above another.

    >>> least("k", "ratio", 1.0, 1.4, 1000).holds
    True
    """
    return ProvedClaim(part, claim, at, seen, np.nextafter(at, inf), inf, times)
