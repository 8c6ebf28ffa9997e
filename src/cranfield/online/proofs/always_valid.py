"""Proofs about asymptotic confidence sequences: the error over 500 looks, and from how many units on they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from cranfield.online.proofs.proof import OUTSIDE, ProofEffort, ProvedClaim, at_most
from cranfield.statistics.confidence_sequences import ConfidenceSequence
from cranfield.statistics.significance import Floats

AT_ONCE = 50  # paths that are drawn together
TUNED_FOR = 5000.0
BURN_IN = 1000
BURN_INS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def _normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.standard_normal(shape)


def _rare(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray((rng.random(shape) < 0.02) - 0.02, dtype=np.float64)


def _revenue(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.asarray(np.exp(rng.standard_normal(shape)) - np.exp(0.5), dtype=np.float64)


def _ratio(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """What users add to a ratio: clicks of geometric queries with a rate of their own, less the expected ones."""
    queries = rng.geometric(0.2, shape)
    return np.asarray(rng.binomial(queries, rng.beta(2, 3, shape)) - 0.4 * queries, dtype=np.float64)


UNITS: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = {
    "normal values": _normal,
    "one in 50": _rare,
    "log-normal revenue": _revenue,
    "clicks / queries": _ratio,
}


def outside(z_squared: Floats, looks: Floats, sequence: ConfidenceSequence) -> Floats:
    """For each path and look, whether the truth is outside the interval."""
    return np.asarray(z_squared > sequence.factors(looks) ** 2)


def _z_squared(values: Floats, looks: Floats) -> Floats:
    """The square of the mean over its standard error after so many units, the truth being 0."""
    places = looks.astype(np.int64) - 1
    sums, squares = np.cumsum(values, axis=1)[:, places], np.cumsum(values**2, axis=1)[:, places]
    means = sums / looks
    variances = np.maximum(squares - looks * means**2, 0.0) / np.maximum(looks - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variances > 0, looks * means**2 / variances, 0.0)  # without a spread nothing is said


def over_looks(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """c: over 500 looks from 1,000 units to 50,000 (10,000 in short), the error is at most 0.05."""
    times, most = effort.times(200, 2_000), effort.times(10_000, 50_000)
    looks = np.linspace(BURN_IN, most, 500).round()
    sequence = ConfidenceSequence(TUNED_FOR, burn_in=BURN_IN)
    for name, drawn in UNITS.items():
        rng = effort.rng(f"c {name}")
        hits = 0
        for _ in range(times // AT_ONCE):
            crossed = outside(_z_squared(drawn(rng, (AT_ONCE, most)), looks), looks, sequence)
            hits += int(crossed.any(axis=1).sum())
        claim = f"confidence sequence, {name}, 500 looks from {BURN_IN:,} units to {most:,}: error at most"
        yield at_most("c", claim, 0.05, hits, times)


def smallest_sizes(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """c: looked at from the beginning they err; from a number of units on they do not. It is found and told.

    Tuned for 100 units, where they decide early: what is tuned for thousands of units is so wide before that it hardly
    errs. Told is the smallest burn-in, of those tried, whose error is within limits; what is claimed is that there is
    one up to 5,000 units.
    """
    from scipy.stats import binom

    times, most = effort.times(1_000, 10_000), effort.times(6_000, 20_000)
    looks = np.unique(np.geomspace(2, most, 300).round())
    sequence = ConfidenceSequence(100.0)
    limit = float(binom.ppf(1 - OUTSIDE, times, 0.05)) / times
    for name, drawn in UNITS.items():
        rng = effort.rng(f"c burn-in {name}")
        errors = np.zeros(len(BURN_INS))
        for _ in range(times // AT_ONCE):
            crossed = outside(_z_squared(drawn(rng, (AT_ONCE, most)), looks), looks, sequence)
            for place, burn_in in enumerate(BURN_INS):
                errors[place] += crossed[:, looks >= burn_in].any(axis=1).sum()
        shares = errors / times
        held = [burn_in for burn_in, share in zip(BURN_INS, shares, strict=True) if share <= limit]
        claim = f"confidence sequence, {name}, from 2 units on: error {shares[0]:.3f}; it holds from so many, at most"
        smallest = float(held[0]) if held else np.inf
        yield ProvedClaim("c", claim, float(BURN_INS[-1]), smallest, 0.0, float(BURN_INS[-1]), times)
