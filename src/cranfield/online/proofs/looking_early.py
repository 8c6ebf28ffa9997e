"""Proofs about looking early: peeking, group sequential limits, evidence of signs, estimates after stopping."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cranfield.errors import plural
from cranfield.online.proofs.proof import ProofEffort, ProvedClaim, above, at_most, rate
from cranfield.statistics.after_stopping import after_stopping
from cranfield.statistics.chance_sequences import sign_evidence
from cranfield.statistics.group_sequential import SequentialDesign, error_of_peeking
from cranfield.statistics.significance import Floats

AT_ONCE = 20_000  # paths that are drawn together
LOOKS = (1, 2, 3, 4, 5, 10, 20, 50)
UNEVEN = (0.1, 0.35, 0.8, 1.0)
DESIGNS = (
    "obrien-fleming",
    "pocock",
    "lan-demets-obrien-fleming",
    "lan-demets-pocock",
    "hwang-shih-decani",
    "kim-demets",
)
CONCENTRATION, SIGNS = 50.0, 2000


def paths(rng: np.random.Generator, information: Sequence[float], count: int) -> Iterator[Floats]:
    """z at each look, of experiments without an effect; some at a time."""
    times = np.asarray(information, dtype=np.float64)
    steps = np.sqrt(np.diff(times, prepend=0.0))
    for start in range(0, count, AT_ONCE):
        drawn = rng.standard_normal((min(AT_ONCE, count - start), len(times))) * steps
        yield np.cumsum(drawn, axis=1) / np.sqrt(times)


def peeking(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """a: who tests at 0.05 at every look errs as often as the integral over all paths says."""
    times, rng = effort.times(40_000, 1_000_000), effort.rng("a")
    errors = np.zeros(max(LOOKS), dtype=np.int64)
    for z in paths(rng, range(1, max(LOOKS) + 1), times):
        errors += np.logical_or.accumulate(np.abs(z) > 1.959963984540054, axis=1).sum(axis=0)
    for looks in LOOKS:
        claim = f"z = 1.96 at each of {plural(looks, 'look')}: error"
        yield rate("a", claim, error_of_peeking(looks), int(errors[looks - 1]), times)


def group_sequential(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """b: limits keep the error, for each rule, number of looks, and looks that are not even."""
    times, rng = effort.times(40_000, 1_000_000), effort.rng("b")
    for name in DESIGNS:
        for looks in (2, 3, 4, 5, 0):
            information = [(look + 1) / looks for look in range(looks)] if looks else list(UNEVEN)
            upper = SequentialDesign(name).boundary(information).upper  # type: ignore[arg-type]
            hits = sum(int((np.abs(z) > upper).any(axis=1).sum()) for z in paths(rng, information, times))
            when = f"{looks} looks" if looks else f"looks at {', '.join(map(str, UNEVEN))}"
            yield rate("b", f"{name}, {when}: error", 0.05, hits, times)


def signs(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """d: evidence of wins and losses may be looked at after each of 2,000 users; a sign test may not."""
    times, rng = effort.times(2_000, 20_000), effort.rng("d")
    users = np.arange(1, SIGNS + 1)
    valid = naive = 0
    for start in range(0, times, 1000):
        wins = np.cumsum(rng.random((min(1000, times - start), SIGNS)) < 0.5, axis=1)
        evidence = sign_evidence(wins, users - wins, concentration=CONCENTRATION)
        valid += int((evidence >= np.log(20)).any(axis=1).sum())
        z = np.abs(2 * wins - users) / np.sqrt(users)
        naive += int((z[:, 19:] > 1.959963984540054).any(axis=1).sum())
    yield at_most("d", f"evidence of signs, {SIGNS:,} looks: error at most", 0.05, valid, times)
    yield above("d", f"z of signs at each of {SIGNS - 19:,} looks: error above", 0.3, naive, times)


def stopped(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """n: after stopping early the plain estimate is too large; the median unbiased one is not, and its interval holds.

    Effects are in units of the drift, as z of all information.
    """
    times, rng = effort.times(300, 4_000), effort.rng("n")
    information, drift = np.array([1 / 3, 2 / 3, 1.0]), 2.0
    boundary = SequentialDesign("pocock").boundary(information)
    plain, below, covered = 0.0, 0, 0
    squares = 0.0
    for _ in range(times):
        z = np.cumsum(rng.standard_normal(3) / np.sqrt(3)) / np.sqrt(information) + drift * np.sqrt(information)
        crossed = np.flatnonzero(np.abs(z) > boundary.upper)
        look = int(crossed[0]) if len(crossed) else 2
        error = 1 / np.sqrt(information[look])
        found = after_stopping(boundary, look, float(z[look] * error), float(error))
        plain += found.plain - drift
        squares += (found.plain - drift) ** 2
        below += found.estimate < drift
        covered += found.low <= drift <= found.high
    mean = plain / times
    error_of_mean = float(np.sqrt((squares / times - mean**2) / times))
    yield ProvedClaim(
        "n", "plain estimate after Pocock, 3 looks: bias above", 0.0, mean, 3.29 * error_of_mean, np.inf, times
    )
    yield rate("n", "median unbiased estimate: share below the truth", 0.5, below, times)
    yield rate("n", "interval after stopping: share that has the truth", 0.95, covered, times)
