"""A bootstrap over units that can be made on many machines and added up: each unit has a Poisson weight of its own.

The weight of a unit in a resample follows from a hash of its id, the seed and the number of the resample, so that a
unit has the same weights wherever its values are, and every run gives the same. Resampling n of n units is close to
weights that are Poisson with mean 1 (Chamandy, Muralidharan, Najmi and Naidu, "Estimating uncertainty for massive data
streams", 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cranfield.errors import UsageError
from cranfield.statistics.resampled import CONFIDENCE, Estimate, default_sampling, percentile_estimate
from cranfield.statistics.significance import Floats, Sampling

Hashes = NDArray[np.uint64]
_BLOCK = 1 << 16  # units whose weights are held at a time
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # of splitmix64


def unit_hashes(ids: Iterable[str]) -> Hashes:
    """A number of 64 bits for each id, the same on every machine.

    >>> unit_hashes(["ann", "bob"]).dtype, len(unit_hashes([]))
    (dtype('uint64'), 0)
    """
    from xxhash import xxh3_64_intdigest

    return np.fromiter((xxh3_64_intdigest(unit.encode()) for unit in ids), dtype=np.uint64)


def poisson_weights(hashes: Hashes, resample: int, seed: int = 0) -> NDArray[np.int64]:
    """How often each unit is in a resample: Poisson with mean 1, by its hash.

    >>> weights = poisson_weights(unit_hashes(map(str, range(10_000))), 3)
    >>> bool(0.97 < weights.mean() < 1.03), bool(0.95 < weights.var() < 1.05)
    (True, True)
    """
    return np.searchsorted(_poisson_shares(), hashed_places(hashes, resample, seed), side="right").astype(np.int64)


def hashed_places(hashes: Hashes, resample: int, seed: int = 0) -> Floats:
    """Where each unit lies between 0 and 1 in a resample, by its hash: evenly spread, and anew in each.

    >>> places = hashed_places(unit_hashes(map(str, range(10_000))), 3)
    >>> bool(0.49 < places.mean() < 0.51), bool(places.max() < 1)
    (True, True)
    """
    if resample < 0 or seed < 0:
        raise UsageError(f"the number of a resample and the seed must be 0 or more, not {resample} and {seed}")
    key = int(_mixed(np.array([(seed * _STEP + resample + 1) % 2**64], dtype=np.uint64))[0])
    return (_mixed(hashes ^ np.uint64(key)) >> np.uint64(11)).astype(np.float64) * 2.0**-53


@dataclass(frozen=True, eq=False)
class BootstrapSums:
    """Sums of columns over units, and in each resample: `sums[0]` is of the units as they are. Parts add up.

    >>> hashes = unit_hashes(["ann", "bob", "cat"])
    >>> sums = BootstrapSums.of({"clicks": [1, 2, 0], "queries": [4, 3, 2]}, hashes)
    >>> sums.estimate(lambda total: total["clicks"] / total["queries"]).value
    0.3333333333333333
    """

    names: tuple[str, ...]
    sums: Floats
    seed: int

    @classmethod
    def of(cls, columns: Mapping[str, ArrayLike], hashes: Hashes, sampling: Sampling | None = None) -> BootstrapSums:
        """Sums of columns with a value for each unit, whose hashes stand in the same order.

        No unit may be in two parts.
        """
        sampling = sampling or default_sampling()
        table = np.stack([np.asarray(values, dtype=np.float64) for values in columns.values()], axis=1)
        if table.ndim != 2 or len(table) != len(hashes):
            raise UsageError(f"columns of {len(table)} units and hashes of {len(hashes)} do not go together")
        if not np.isfinite(table).all():
            raise UsageError("a value is missing or infinite: give every unit a number in every column")
        if len(np.unique(hashes)) < len(hashes):
            raise UsageError("a unit stands twice: add up its values first")
        sums = np.zeros((sampling.resamples + 1, table.shape[1]))
        sums[0] = table.sum(axis=0)
        for start in range(0, len(table), _BLOCK):
            part, own = table[start : start + _BLOCK], hashes[start : start + _BLOCK]
            for resample in range(sampling.resamples):
                sums[resample + 1] += poisson_weights(own, resample, sampling.seed) @ part
        return cls(tuple(columns), sums, sampling.seed)

    def __add__(self, other: BootstrapSums) -> BootstrapSums:
        """The sums of the units of both."""
        if not isinstance(other, BootstrapSums):
            return NotImplemented
        if (self.names, self.seed, self.sums.shape) != (other.names, other.seed, other.sums.shape):
            raise UsageError("sums with unlike columns, seeds or numbers of resamples cannot be added")
        return BootstrapSums(self.names, self.sums + other.sums, self.seed)

    def replicates(self, function: Callable[[Mapping[str, Floats]], Floats]) -> Floats:
        """A function of the sums, of the units as they are first and then in each resample; NaN where it has none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(function(dict(zip(self.names, self.sums.T, strict=True))), dtype=np.float64)

    def estimate(
        self, function: Callable[[Mapping[str, Floats]], Floats], *, confidence: float = CONFIDENCE
    ) -> Estimate:
        """A function of the sums with its percentile interval."""
        return bootstrap_estimate(self.replicates(function), confidence=confidence)


def bootstrap_estimate(replicates: Floats, *, confidence: float = CONFIDENCE) -> Estimate:
    """The estimate of replicates, the first of which is of the units as they are.

    For the difference of two arms give the difference of their replicates: those of different units are independent.

    >>> bootstrap_estimate(np.array([0.5, 0.2, 0.4, 0.6]), confidence=0.5)
    Estimate(value=0.5, low=0.30000000000000004, high=0.5, undefined=0)
    """
    return percentile_estimate(float(replicates[0]), replicates[1:], confidence)


def _mixed(values: Hashes) -> Hashes:
    """Steele, Lea and Flood's splitmix64: every bit of the result depends on every bit of the value."""
    mixed = values + np.uint64(_STEP)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(_FIRST)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(_SECOND)
    return mixed ^ (mixed >> np.uint64(31))


def _poisson_shares() -> Floats:
    """The chance of 0, of 1 or less, …: up to 1 in floating point."""
    steps = 1 / np.cumprod(np.concatenate([[1.0], np.arange(1.0, 18.0)]))
    return np.asarray(np.cumsum(steps) / np.e)
