"""Sizes of online experiments: reference values, statsmodels, and power by simulation."""

from __future__ import annotations

from math import ceil, inf, nan, sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import NormalIndPower, TTestIndPower
from statsmodels.stats.proportion import proportion_effectsize

from cranfield.errors import UsageError
from cranfield.statistics.group_sequential import SequentialDesign
from cranfield.statistics.moments import Moments
from cranfield.statistics.power import power, topics_needed
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.sizes import Sizing
from simulate import band


def test_reference_values_of_shares() -> None:
    found = [round(Sizing().proportion(*case)) for case in ((0.2, 0.05), (0.2, 0.01), (0.05, 0.005))]
    assert found == [1030, 25_255, 30_244]
    arcsine = Sizing().proportion(0.2, 0.05, method="arcsine")
    assert arcsine == pytest.approx(1091.896, abs=1e-3)
    effect = proportion_effectsize(0.25, 0.2)
    assert arcsine == pytest.approx(NormalIndPower().solve_power(effect, power=0.8, alpha=0.05), rel=1e-6)


def test_reference_values_of_means() -> None:
    assert Sizing().mean(0.5, 1.0) == pytest.approx(63.76561, abs=1e-4)
    assert Sizing().mean(0.02, 1.0) == pytest.approx(39_245.263, abs=1e-2)
    assert ceil(Sizing().mean(0.5, 1.0)) == topics_needed(0.5, design="independent")


@pytest.mark.parametrize("allocation", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("sides", [1, 2])
def test_statsmodels_says_the_same_of_means(allocation: float, sides: int) -> None:
    sizing = Sizing(power=0.9, alpha=0.01, sides=sides, allocation=allocation)
    side = "two-sided" if sides == 2 else "larger"
    expected = TTestIndPower().solve_power(0.3, power=0.9, alpha=0.01, ratio=allocation, alternative=side)
    assert sizing.mean(0.3, 1.0) == pytest.approx(expected, rel=1e-5)
    assert sizing.mean(-0.6, 2.0) == pytest.approx(expected, rel=1e-5)
    assert sizing.detectable(sizing.mean(0.3, 1.0), 1.0) == pytest.approx(0.3, rel=1e-6)


def test_reference_values_of_interleaving() -> None:
    found = [ceil(Sizing().preference(rate)) for rate in (0.51, 0.52, 0.55, 0.60)]
    assert found == [19_620, 4_904, 783, 194]
    assert Sizing().preference(0.4) == pytest.approx(Sizing().preference(0.6))


def test_covariates_and_looks_scale_the_size() -> None:
    plain = Sizing().mean(0.01, 1.0)
    assert Sizing(covariate_correlation=-0.8).mean(0.01, 1.0) == pytest.approx(plain * 0.36, rel=1e-4)
    inflation = SequentialDesign("lan-demets-obrien-fleming").boundary([0.25, 0.5, 0.75, 1.0]).inflation(0.8)
    assert Sizing(inflation=inflation).mean(0.01, 1.0) == pytest.approx(plain * 1.0196373, rel=1e-6)
    assert Sizing(inflation=inflation).proportion(0.2, 0.01) == pytest.approx(25_255.08 * 1.0196373, rel=1e-5)
    assert Sizing(inflation=inflation).preference(0.55) > Sizing().preference(0.55)
    both = Sizing(inflation=1.1, covariate_correlation=0.5)
    assert both.detectable(both.mean(0.01, 1.0), 1.0) == pytest.approx(0.01, rel=1e-6)


def test_few_units_are_the_t_test() -> None:
    units = Sizing().mean(3.0, 1.0)
    assert power(3.0, units, design="independent") == pytest.approx(0.8, abs=1e-6)
    assert Sizing().mean(50.0, 1.0) == 2


def test_ratios_have_the_power_that_was_planned() -> None:
    random, sets = np.random.default_rng(71), 800
    ratio = Ratio("clicks", "queries")

    def drawn(users: int, gain: float) -> Moments:
        queries = 1 + random.poisson(3, users)
        return Moments.of({"clicks": random.binomial(queries, random.beta(2, 3, users) + gain), "queries": queries})

    users = ceil(Sizing().ratio(ratio, drawn(200_000, 0.0), 0.05))
    random_gain = 0.0
    found = 0
    for _ in range(sets):
        control, treatment = drawn(users, random_gain), drawn(users, random_gain)
        shifted = treatment.with_sum("more", {"clicks": 1.0, "queries": 0.05})
        found += Ratio("more", "queries").of(shifted).value > 0 and (
            _difference(ratio, control, shifted) / _error(ratio, control, treatment) > stats.norm.isf(0.025)
        )
    assert found / sets == pytest.approx(0.8, abs=band(0.8, sets))


def _difference(ratio: Ratio, control: Moments, shifted: Moments) -> float:
    return Ratio("more", "queries").value(shifted) - ratio.value(control)


def _error(ratio: Ratio, control: Moments, treatment: Moments) -> float:
    return sqrt(ratio.of(control).variance + ratio.of(treatment).variance)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"power": 1.0}, "alpha and power"),
        ({"alpha": 0.0}, "alpha and power"),
        ({"alpha": 0.9}, "alpha below power"),
        ({"sides": 0}, "1 side or 2"),
        ({"allocation": 0.0}, "allocation must be above 0"),
        ({"inflation": 0.9}, "inflation 1 or more"),
        ({"covariate_correlation": 1.0}, "between -1 and 1"),
    ],
)
def test_bad_aims_are_refused(settings: dict[str, float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Sizing(**settings)  # type: ignore[arg-type]


def test_what_cannot_be_planned_is_refused() -> None:
    for difference in (0.0, inf, nan):
        with pytest.raises(UsageError, match="difference to be found"):
            Sizing().mean(difference, 1.0)
    with pytest.raises(UsageError, match="standard deviation"):
        Sizing().mean(0.1, 0.0)
    for share, difference in ((0.0, 0.1), (0.95, 0.05), (0.5, 0.0)):
        with pytest.raises(UsageError, match="shares must be between"):
            Sizing().proportion(share, difference)
    for rate in (0.5, 0.0, 1.0):
        with pytest.raises(UsageError, match="win rate"):
            Sizing().preference(rate)
    with pytest.raises(UsageError, match="too few"):
        Sizing().detectable(1, 1.0)
    with pytest.raises(UsageError, match="does not vary in 3 units"):
        Sizing().ratio(Ratio("x"), Moments.of({"x": [1, 1, 1]}), 0.1)
