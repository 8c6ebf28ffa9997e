"""Power, topics needed and detectable differences: known values, statsmodels, simulation, properties."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import FTestAnovaPower, TTestIndPower, TTestPower

from cranfield import UsageError
from cranfield.planning import power_analysis
from cranfield.statistics.power import (
    Design,
    anova_power,
    detectable_effect,
    power,
    sd_interval,
    topics_for_anova,
    topics_needed,
)

ORACLES = {"paired": TTestPower(), "independent": TTestIndPower()}

# Topics (for each system, if independent) for power .8 at alpha .05, as G*Power has them.
KNOWN: list[tuple[Design, float, float]] = [
    ("paired", 0.2, 198.15),
    ("paired", 0.5, 33.37),
    ("paired", 0.8, 14.30),
    ("independent", 0.2, 393.41),
    ("independent", 0.5, 63.77),
    ("independent", 0.8, 25.52),
]


@pytest.mark.parametrize(("design", "effect", "topics"), KNOWN)
def test_known_numbers_of_topics(design: Design, effect: float, topics: float) -> None:
    assert power(effect, topics - 0.005, design=design) < 0.8 < power(effect, topics + 0.005, design=design)
    assert topics_needed(effect, design=design) == np.ceil(topics)
    assert detectable_effect(topics, design=design) == pytest.approx(effect, abs=2e-4)


@pytest.mark.parametrize("design", ["paired", "independent"])
@pytest.mark.parametrize("topics", [2, 3, 10, 50, 249, 6980])
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01, 0.05 / 45])
def test_power_agrees_with_statsmodels(design: Design, topics: int, alpha: float) -> None:
    for effect in (0.01, 0.1, 0.3, 1.0, 1.7):
        # Two-sided power is NaN where the far tail is too small for it; the near tail then is all there is.
        sides = [ORACLES[design].power(effect, topics, alpha)]
        sides.append(ORACLES[design].power(effect, topics, alpha / 2, alternative="larger"))
        expected = sides[1] if np.isnan(sides[0]) else sides[0]
        assert power(effect, topics, alpha=alpha, design=design) == pytest.approx(expected, abs=1e-7)


def test_one_way_anova_agrees_with_known_values_and_statsmodels() -> None:
    # Cohen's f = .25 with 4 groups needs 178.40 scores. Best and worst 2 f √(m/2) apart, the others between, is that f.
    difference = 0.25 * sqrt(2 * 4)
    assert anova_power(difference, 1, 178.39 / 4, 4) < 0.8 < anova_power(difference, 1, 178.41 / 4, 4)
    assert topics_for_anova(difference, 1, 4) == 45
    for systems, topics in ((2, 20), (5, 50), (20, 100)):
        f = 0.3 / 0.8 / sqrt(2 * systems)
        expected = FTestAnovaPower().power(f, topics * systems, 0.05, k_groups=systems)
        assert anova_power(0.3, 0.8, topics, systems) == pytest.approx(expected, abs=1e-7)


def test_two_systems_by_anova_are_an_independent_t_test() -> None:
    for topics in (5, 30, 200):
        assert anova_power(0.1, 0.25, topics, 2) == pytest.approx(power(0.4, topics, design="independent"), abs=1e-9)


def test_topics_needed_is_the_least_number_and_near_the_normal_approximation() -> None:
    z = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    for effect in (0.05, 0.1, 0.2, 0.35, 0.6, 1.0, 2.5):
        topics = topics_needed(effect)
        assert power(effect, topics) >= 0.8
        assert topics == 2 or power(effect, topics - 1) < 0.8
        if effect <= 1:
            assert topics == pytest.approx(z**2 / effect**2 + stats.norm.isf(0.025) ** 2 / 2, abs=1.1)


@pytest.mark.parametrize("design", ["paired", "independent"])
def test_topics_needed_is_the_least_number_where_the_approximation_is_far_off(design: Design) -> None:
    for effect, wanted, alpha in (
        (0.05, 0.06, 0.05),
        (0.1, 0.1, 0.05),
        (0.05, 0.8, 0.5),
        (0.3, 0.99, 0.5),
        (0.3, 0.9999, 0.001),
        (2.0, 0.9999, 0.001),
        (10.0, 0.8, 0.001),
        (10.0, 0.5, 0.4),
    ):
        topics = topics_needed(effect, power=wanted, alpha=alpha, design=design)
        least = next(n for n in range(2, 10_000) if power(effect, n, alpha=alpha, design=design) >= wanted)
        assert topics == least


def test_detectable_effect_undoes_power() -> None:
    for design in ORACLES:
        for topics in (2, 7, 50, 10_000):
            for wanted in (0.1, 0.5, 0.8, 0.99):
                effect = detectable_effect(topics, power=wanted, design=design)  # type: ignore[arg-type]
                assert power(effect, topics, design=design) == pytest.approx(wanted, abs=1e-9)  # type: ignore[arg-type]


def test_power_without_effect_is_alpha_and_its_sign_does_not_matter() -> None:
    for topics in (2, 10, 1000):
        assert power(0, topics) == pytest.approx(0.05, abs=1e-9)
        assert power(-0.3, topics) == power(0.3, topics)


@pytest.mark.parametrize("topics", [10, 40])
def test_power_is_how_often_a_test_finds_the_difference(topics: int) -> None:
    trials = 4000
    random = np.random.default_rng(7)
    effect = detectable_effect(topics)
    found = stats.ttest_1samp(random.normal(effect, 1, (trials, topics)), 0, axis=1).pvalue < 0.05
    assert abs(found.mean() - 0.8) <= 4 * sqrt(0.8 * 0.2 / trials)


def test_interval_of_a_standard_deviation_covers() -> None:
    trials = 4000
    random = np.random.default_rng(8)
    estimates = random.normal(0, 2, (trials, 12)).std(axis=1, ddof=1)
    low, high = sd_interval(1, 12)  # of any other, as many times that
    assert sd_interval(0.3, 12) == pytest.approx((0.3 * low, 0.3 * high))
    covered = (estimates * low <= 2) & (estimates * high >= 2)
    assert abs(np.mean(covered) - 0.95) <= 4 * sqrt(0.95 * 0.05 / trials)


def test_any_two_of_effect_topics_and_power_give_the_third() -> None:
    needed = power_analysis(difference=0.02, sd=0.1, power=0.9, comparisons=4)
    assert (needed.solved, needed.topics) == ("topics", topics_needed(0.2, power=0.9, alpha=0.0125))
    assert power_analysis(effect=0.2, topics=needed.topics, comparisons=4).power >= 0.9
    least = power_analysis(topics=needed.topics, sd=0.1, power=0.9, comparisons=4)
    assert least.solved == "effect"
    assert least.difference == pytest.approx(0.02, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_analysis(), "give an effect"),
        (lambda: power_analysis(difference=0.1), "standard deviation"),
        (lambda: power_analysis(effect=0.1, difference=0.1, sd=1), "not both"),
        (lambda: power_analysis(effect=0.1, topics=50, power=0.8), "two of them decide"),
        (lambda: power_analysis(effect=0), "effect must be"),
        (lambda: power_analysis(difference=0.1, sd=0), "sd must be"),
        (lambda: power_analysis(effect=0.1, alpha=5, comparisons=100), "alpha must be"),
        (lambda: power_analysis(effect=0.1, comparisons=0), "comparisons must be"),
        (lambda: power_analysis(topics=1), "topics must be"),
        (lambda: topics_needed(0.1, power=0.04), "power must be above alpha"),
        (lambda: topics_needed(0.1, power=1), "power must be between"),
        (lambda: topics_needed(1e-9), "too small"),
        (lambda: topics_needed(float("nan")), "effect must be"),
        (lambda: power(0.1, 20, design="sideways"), "design must be one of paired, independent"),  # type: ignore[arg-type]
        (lambda: detectable_effect(2, alpha=1e-9), "cannot be computed"),
        (lambda: anova_power(0.1, 0.2, 50, 1), "systems must be"),
        (lambda: topics_for_anova(0.0, 0.2, 5), "difference must be"),
    ],
)
def test_what_makes_no_sense_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(UsageError, match=message):
        call()
