"""Chance that is a function of who and what, so that a user who comes back is as before: hashes made random numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.statistics.significance import Floats

Keys: TypeAlias = "NDArray[np.uint64]"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mixed(*parts: NDArray[np.int64] | int) -> Keys:
    """64 bits of whole numbers, evenly spread (the finaliser of SplitMix64, over each part in turn).

    >>> keys = mixed(7, np.arange(100_000))
    >>> len(np.unique(keys)), round(float((keys >> np.uint64(63)).mean()), 2)
    (100000, 0.5)
    """
    state: Keys = np.zeros(1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for part in parts:
            state = (state ^ np.asarray(part).astype(np.uint64)) + _GOLDEN
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return state


def uniform(*parts: NDArray[np.int64] | int) -> Floats:
    """Numbers between 0 and 1 of whole numbers, neither of which is reached."""
    return np.asarray(((mixed(*parts) >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53)


def normal(*parts: NDArray[np.int64] | int) -> Floats:
    """Normally distributed numbers of whole numbers.

    >>> drawn = normal(1, np.arange(100_000))
    >>> abs(float(drawn.mean())) < 0.01, abs(float(drawn.std()) - 1) < 0.01
    (True, True)
    """
    from scipy.special import ndtri

    return np.asarray(ndtri(uniform(*parts)))
