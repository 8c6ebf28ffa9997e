"""A bootstrap by hashes: weights are Poisson, parts add up to the whole, intervals are those of the delta method."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Floats, Sampling
from cranfield.statistics.unit_bootstrap import BootstrapSums, bootstrap_estimate, poisson_weights, unit_hashes

RANDOM = np.random.default_rng(13)
USERS = [f"user {number}" for number in range(2000)]
QUERIES = 1 + RANDOM.poisson(3, len(USERS))
CLICKS = RANDOM.binomial(QUERIES, RANDOM.beta(2, 3, len(USERS)))


def ctr(total: Mapping[str, Floats]) -> Floats:
    return total["clicks"] / total["queries"]


def sums(chosen: slice, sampling: Sampling) -> BootstrapSums:
    return BootstrapSums.of(
        {"clicks": CLICKS[chosen], "queries": QUERIES[chosen]}, unit_hashes(USERS[chosen]), sampling
    )


def test_weights_are_poisson() -> None:
    hashes = unit_hashes(map(str, range(50_000)))
    weights = poisson_weights(hashes, 0)
    counts = np.bincount(np.minimum(weights, 6), minlength=7)
    expected = np.append(stats.poisson(1).pmf(np.arange(6)), stats.poisson(1).sf(5)) * len(hashes)
    assert stats.chisquare(counts, expected).pvalue > 1e-4
    other = poisson_weights(hashes, 1)
    assert abs(np.corrcoef(weights, other)[0, 1]) < 4 / np.sqrt(len(hashes))
    assert abs(np.corrcoef(weights[:-1], weights[1:])[0, 1]) < 4 / np.sqrt(len(hashes))
    assert (poisson_weights(hashes, 0, seed=1) != weights).any()


def test_weights_are_the_same_forever() -> None:
    """They follow from ids alone: shards made years apart on other machines go together."""
    assert unit_hashes(["ann", "bób"]).tolist() == [5200682613324210888, 221022291760496456]
    assert poisson_weights(unit_hashes(map(str, range(12))), 5, seed=3).tolist() == [1, 0, 3, 3, 3, 2, 1, 0, 1, 0, 1, 2]


def test_parts_add_up_to_the_whole() -> None:
    sampling = Sampling(seed=4, resamples=40)
    whole = sums(slice(None), sampling)
    merged = sums(slice(700, None), sampling) + sums(slice(0, 700), sampling)
    assert merged.sums == pytest.approx(whole.sums)
    assert whole.sums[0].tolist() == [CLICKS.sum(), QUERIES.sum()]


def test_the_interval_is_that_of_the_delta_method() -> None:
    found = sums(slice(None), Sampling(resamples=1000)).estimate(ctr)
    known = Ratio("clicks", "queries").of(Moments.of({"clicks": CLICKS, "queries": QUERIES}))
    assert found.value == pytest.approx(known.value)
    half = 1.96 * np.sqrt(known.variance)
    assert (found.low, found.high) == pytest.approx((known.value - half, known.value + half), abs=0.2 * half)


def test_two_arms() -> None:
    sampling = Sampling(resamples=600)
    first, second = (sums(half, sampling).replicates(ctr) for half in (slice(0, 1000), slice(1000, None)))
    found = bootstrap_estimate(second - first, confidence=0.9)
    arms = [
        Moments.of({"clicks": CLICKS[half], "queries": QUERIES[half]}) for half in (slice(0, 1000), slice(1000, None))
    ]
    effect = Ratio("clicks", "queries").compared(arms[0], arms[1]).difference(confidence=0.9)
    assert found.value == pytest.approx(effect.value)
    assert (found.low, found.high) == pytest.approx((effect.low, effect.high), abs=0.15 * (effect.high - effect.low))


def test_few_units_leave_resamples_without_a_value() -> None:
    found = BootstrapSums.of({"clicks": [1.0], "queries": [2.0]}, unit_hashes(["ann"]), Sampling(resamples=100))
    estimate = found.estimate(ctr)
    assert (estimate.value, estimate.low, estimate.high) == (0.5, 0.5, 0.5)
    assert 20 < estimate.undefined < 55  # as often as the only unit is not drawn


def test_what_does_not_go_together_is_refused() -> None:
    hashes = unit_hashes(["ann", "bob"])
    with pytest.raises(UsageError, match="do not go together"):
        BootstrapSums.of({"x": [1.0]}, hashes)
    with pytest.raises(UsageError, match="stands twice"):
        BootstrapSums.of({"x": [1.0, 2.0]}, unit_hashes(["ann", "ann"]))
    with pytest.raises(UsageError, match="missing"):
        BootstrapSums.of({"x": [1.0, np.nan]}, hashes)
    one, other = (BootstrapSums.of({"x": [1.0, 2.0]}, hashes, Sampling(seed, 5)) for seed in (0, 1))
    with pytest.raises(UsageError, match="unlike"):
        one + other
    with pytest.raises(UsageError, match="0 or more"):
        poisson_weights(hashes, -1)
