"""Proofs about units: tests by query and by impression err, those by user do not; adjustment and sample ratios hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cranfield.online.proofs.proof import ProofEffort, ProvedClaim, at_most, rate
from cranfield.statistics.clustered_quantiles import QUANTILE_RATIO, quantile_moments
from cranfield.statistics.covariates import cuped, regression_adjusted
from cranfield.statistics.interleaved import preference, sign_test
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.sample_ratio import ALARM, sample_ratio, sequential_sample_ratio
from cranfield.statistics.significance import Floats

QUANTILE = 1.959963984540054


def rejected_if_clustered(alike: float, sizes: Floats, chances: Floats) -> float:
    """How often a test that takes events of a unit for strangers rejects at 0.05, without a difference.

    `alike` is how much the events of a unit are correlated; units have so many events with these chances. The variance
    is larger than it thinks by 1 + alike (E n² / E n - 1).

    >>> round(rejected_if_clustered(0.0, np.array([1.0, 2.0]), np.array([0.5, 0.5])), 3)
    0.05
    """
    from scipy.special import ndtr

    larger = 1 + alike * (float(chances @ sizes**2) / float(chances @ sizes) - 1)
    return float(2 * ndtr(-QUANTILE / np.sqrt(larger)))


def _geometric(mean: float) -> tuple[Floats, Floats]:
    sizes = np.arange(1, 2000, dtype=np.float64)
    return sizes, (1 - 1 / mean) ** (sizes - 1) / mean


def queries_of_users(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """e: an A/A test of click-through rate, 1,000 users an arm with 5 queries on average and rates of their own."""
    times, rng = effort.times(400, 5_000), effort.rng("e")
    by_query = by_user = 0
    ratio = Ratio("clicks", "queries")
    for _ in range(times):
        queries = rng.geometric(0.2, (2, 1000)).astype(np.float64)
        clicks = rng.binomial(queries.astype(np.int64), rng.beta(2, 3, (2, 1000))).astype(np.float64)
        total, clicked = queries.sum(axis=1), clicks.sum(axis=1)
        pooled = clicked.sum() / total.sum()
        z = (clicked[1] / total[1] - clicked[0] / total[0]) / np.sqrt(pooled * (1 - pooled) * (1 / total).sum())
        by_query += abs(z) > QUANTILE
        arms = [Moments.of({"clicks": clicks[arm], "queries": queries[arm]}) for arm in range(2)]
        by_user += ratio.compared(*arms).difference().p < 0.05
    expected = rejected_if_clustered(1 / 6, *_geometric(5))  # of Beta(2, 3): 1 / (2 + 3 + 1)
    yield rate("e", "A/A of click-through rate, tested by query: rejected", expected, by_query, times)
    yield rate("e", "the same by user, delta method: rejected", 0.05, by_user, times)


def quantiles_of_users(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """e: quantiles of latency, 500 users an arm with 5 queries on average, some of whom are slow at everything.

    Logarithms of latencies are normal, half of their variance between users.
    """
    from scipy.special import ndtri

    times = effort.times(150, 4_000)
    for quantile in (0.5, 0.95):
        rng = effort.rng(f"e {quantile}")
        by_query = by_user = covered = 0
        truth = float(np.exp(5 + ndtri(quantile)))
        for _ in range(times):
            arms = []
            for slower in (1.0, 1.0, 1.1):
                queries = rng.geometric(0.2, 500)
                users = np.repeat(np.arange(500), queries)
                noise = np.sqrt(0.5) * (rng.standard_normal(500)[users] + rng.standard_normal(len(users)))
                arms.append((slower * np.exp(5 + noise), users))
            moments = [quantile_moments(*arm, quantile) for arm in arms]
            by_user += QUANTILE_RATIO.compared(*moments[:2]).difference().p < 0.05
            alone = [quantile_moments(values, np.arange(len(values)), quantile) for values, _ in arms[:2]]
            by_query += QUANTILE_RATIO.compared(*alone).difference().p < 0.05
            slow = QUANTILE_RATIO.compared(moments[0], moments[2]).difference()
            covered += slow.low <= 0.1 * truth <= slow.high
        expected = rejected_if_clustered(_alike_at(quantile), *_geometric(5))
        name = f"quantile {quantile:g} of latency"
        yield rate("e", f"A/A of the {name}, tested by query: rejected", expected, by_query, times)
        yield rate("e", "the same by user, outer interval: rejected", 0.05, by_user, times)
        yield rate("e", f"{name}, a tenth slower, by user: share that has the truth", 0.95, covered, times)


def equal_latencies(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """e: the same of latencies in steps of 100 ms, where half of them are at a step: the quantile jumps, if anything.

    The share that has the truth is told of one arm, whose quantile is the step itself.
    """
    times, rng = effort.times(150, 2_000), effort.rng("e steps")
    step, truth = 100.0, float(np.exp(5))
    rejected = missed = 0
    for _ in range(times):
        arms = []
        for _ in range(2):
            users = np.repeat(np.arange(500), rng.geometric(0.2, 500))
            noise = np.sqrt(0.5) * (rng.standard_normal(500)[users] + rng.standard_normal(len(users)))
            arms.append(quantile_moments(truth + step * np.ceil((np.exp(5 + noise) - truth) / step), users, 0.5))
        rejected += QUANTILE_RATIO.compared(*arms).difference().p < 0.05
        alone = QUANTILE_RATIO.against(arms[0], truth).difference()
        missed += not alone.low <= 0 <= alone.high
    name = "median of latency in steps of 100 ms, by user"
    yield at_most("e", f"A/A of the {name}: rejected at most", 0.05, rejected, times)
    yield at_most("e", f"{name}: share that has not the truth, at most", 0.05, missed, times)


def _alike_at(quantile: float) -> float:
    """How much it is correlated within users whether a value is below the quantile, if half the variance is theirs."""
    from scipy.special import ndtr, ndtri

    points, weights = np.polynomial.hermite_e.hermegauss(60)
    below = ndtr((ndtri(quantile) - np.sqrt(0.5) * points) / np.sqrt(0.5))
    squares = float(weights @ below**2) / float(weights.sum())
    return (squares - quantile**2) / (quantile * (1 - quantile))


def impressions_of_users(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """f: interleaving without a difference, 400 users with tastes of their own and 8 impressions on average."""
    from scipy.special import expit

    times, rng = effort.times(400, 5_000), effort.rng("f")
    by_impression = by_user = majority = 0
    for _ in range(times):
        shown = rng.geometric(1 / 8, 400)
        wins = rng.binomial(shown, expit(rng.standard_normal(400)))
        total, won = int(shown.sum()), int(wins.sum())
        by_impression += sign_test(won, total - won) < 0.05
        found = preference(wins, np.zeros(400), shown - wins)
        by_user += found.effect.p < 0.05
        majority += found.sign_p < 0.05
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    second = float(weights @ expit(points) ** 2) / float(weights.sum())
    expected = rejected_if_clustered((second - 0.25) / 0.25, *_geometric(8))
    yield rate("f", "interleaving A/A, tested by impression: rejected", expected, by_impression, times)
    yield rate("f", "the same by user, t test: rejected", 0.05, by_user, times)
    yield at_most("f", "the same, sign test of users (discrete): rejected at most", 0.05, majority, times)


def adjustment(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """g: intervals after adjustment hold, whatever the correlation, with arms of 100 and 400 units."""
    times = effort.times(300, 5_000)
    for correlation in (0.0, 0.5, 0.9):
        rng = effort.rng(f"g {correlation}")
        covered = {"CUPED": 0, "regression": 0}
        for _ in range(times):
            arms = []
            for units, effect in ((100, 0.0), (400, 0.3)):
                before = rng.standard_normal(units)
                noise = np.sqrt(1 - correlation**2) * rng.standard_normal(units)
                arms.append(Moments.of({"y": correlation * before + noise + effect, "x": before}))
            for name, adjusted in (("CUPED", cuped), ("regression", regression_adjusted)):
                found = adjusted(Ratio("y"), [Ratio("x")], *arms).arms.difference()
                covered[name] += found.low <= 0.3 <= found.high
        for name, hits in covered.items():
            yield rate(
                "g", f"{name}, correlation {correlation:g}, arms 1 : 4: share that has the truth", 0.95, hits, times
            )


def sample_ratios(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """h: sample ratio alarms come as often as they should, and find 49.8 : 50.2 in a million units."""
    from scipy.special import ndtr, ndtri

    times, rng = effort.times(20_000, 200_000), effort.rng("h")
    counts = rng.binomial(100_000, 0.5, times)
    alarms = sum(sample_ratio([count, 100_000 - count], [1, 1]).p < ALARM for count in counts.tolist())
    yield rate("h", "sample ratio of 100,000 units as planned: alarms", ALARM, alarms, times)
    tries = effort.times(2_000, 20_000)
    counts = rng.binomial(1_000_000, 0.502, tries)
    found = sum(sample_ratio([count, 1_000_000 - count], [1, 1]).p < ALARM for count in counts.tolist())
    limit = float(-ndtri(ALARM / 2))
    power = float(ndtr(4 - limit) + ndtr(-4 - limit))
    yield rate("h", "sample ratio of a million units at 49.8 : 50.2: found", power, found, tries)
    paths = effort.times(300, 3_000)
    hits = 0
    for _ in range(paths):
        first = np.cumsum(rng.binomial(500, 0.5, 100))
        looks = np.stack([first, 500 * np.arange(1, 101) - first], axis=1)
        hits += float(sequential_sample_ratio(looks, [1, 1]).p[-1]) < 0.05
    yield at_most("h", "sequential sample ratio, 100 looks: alarms at 0.05, at most", 0.05, hits, paths)
