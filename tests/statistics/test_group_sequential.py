"""Limits of looks: values of rpact, an independent integration, error rates by simulation, looks that move."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.crossing import crossing, root
from cranfield.statistics.group_sequential import LIMITS, Boundary, Limits, SequentialDesign, error_of_peeking
from cranfield.statistics.significance import Floats
from simulate import band

OBF: Limits = "obrien-fleming"
POCOCK: Limits = "pocock"
SPENT_OBF: Limits = "lan-demets-obrien-fleming"
SPENT_POCOCK: Limits = "lan-demets-pocock"


def equal(looks: int) -> Floats:
    return np.arange(1, looks + 1) / looks


def one_sided(limits: Limits, looks: int) -> Boundary:
    return SequentialDesign(limits, alpha=0.025, sides=1).boundary(equal(looks))


def two_sided(limits: Limits, looks: int) -> Boundary:
    return SequentialDesign(limits).boundary(equal(looks))


RPACT = [
    (OBF, [2.7965097, 1.9774310]),
    (OBF, [3.4710914, 2.4544323, 2.0040356]),
    (OBF, [4.5617423, 3.2256389, 2.6337232, 2.2808712, 2.0400732]),
    (POCOCK, [2.1782721] * 2),
    (POCOCK, [2.2894785] * 3),
    (POCOCK, [2.3612997] * 4),
    (POCOCK, [2.4131803] * 5),
    (SPENT_OBF, [2.9625880, 1.9685956]),
    (SPENT_OBF, [3.7103029, 2.5114275, 1.9930475]),
    (SPENT_OBF, [4.8768849, 3.3570119, 2.6802801, 2.2898168, 2.0310321]),
    (SPENT_POCOCK, [2.2794282, 2.2949111, 2.2959396]),
    (SPENT_POCOCK, [2.4379767, 2.4268139, 2.4101941, 2.3966493, 2.3859997]),
]


@pytest.mark.parametrize(("limits", "expected"), RPACT, ids=lambda value: str(value)[:30])
def test_limits_are_rpacts(limits: Limits, expected: list[float]) -> None:
    assert one_sided(limits, len(expected)).upper == pytest.approx(expected, abs=2e-7)
    assert two_sided(limits, len(expected)).upper == pytest.approx(expected, abs=2e-5)


def test_two_sided_pocock_differs_in_the_sixth_digit() -> None:
    found = [two_sided(POCOCK, looks).upper[0] for looks in (3, 4, 5)]
    assert found == pytest.approx([2.2894781, 2.3612979, 2.4131762], abs=1e-7)


def test_spent_is_rpacts() -> None:
    expected = [5.38871e-07, 3.94152e-04, 3.80806e-03, 1.22118e-02, 0.025]
    assert one_sided(SPENT_OBF, 5).spent == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("limits", "power", "inflation", "expected"),
    [
        (SPENT_OBF, 0.8, [1.003725, 1.0127948, 1.0196373, 1.0247199], [0.9213863, 0.865569, 0.8387426, 0.8236627]),
        (OBF, 0.9, [1.0071264, 1.0161007, 1.022163, 1.0264863], None),
        (POCOCK, 0.9, [1.1000825, 1.1506381, 1.1831344, 1.2065805], None),
    ],
)
def test_inflation_and_expected_size_are_rpacts(
    limits: Limits, power: float, inflation: list[float], expected: list[float] | None
) -> None:
    boundaries = [one_sided(limits, looks) for looks in (2, 3, 4, 5)]
    assert [each.inflation(power) for each in boundaries] == pytest.approx(inflation, abs=1e-6)
    if expected is not None:
        assert [each.expected_size(power) for each in boundaries] == pytest.approx(expected, abs=1e-6)


UNEVEN = [0.15, 0.2, 0.55, 0.9, 1.0]


def by_multivariate_normal(upper: Floats, information: list[float], drift: float) -> float:
    """The chance to cross no upper limit, by SciPy's multivariate normal distribution."""
    times = np.array(information)
    covariance = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    mean = drift * np.sqrt(times)
    inside = stats.multivariate_normal(mean, covariance, allow_singular=True)
    return float(inside.cdf(upper, rng=np.random.default_rng(0)))


@pytest.mark.parametrize("limits", LIMITS)
def test_the_chance_to_cross_is_that_of_the_multivariate_normal(limits: Limits) -> None:
    boundary = SequentialDesign(limits, alpha=0.025, sides=1).boundary(UNEVEN)
    for drift in (0.0, 2.5):
        expected = by_multivariate_normal(boundary.upper, UNEVEN, drift)
        assert 1 - boundary.power(drift) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("looks", [1, 2, 5, 12])
def test_limits_spend_alpha_and_no_more(limits: Limits, looks: int, sides: int) -> None:
    design = SequentialDesign(limits, alpha=0.05, sides=sides)
    for information in (equal(looks), equal(looks) ** 1.7):
        boundary = design.boundary(information)
        found = crossing(boundary.upper, boundary.lower, information)
        assert found.total == pytest.approx(0.05, abs=1e-9)
        assert np.cumsum(found.upper + found.lower) == pytest.approx(boundary.spent, abs=1e-9)
    if looks == 1:
        assert boundary.upper[0] == pytest.approx(stats.norm.isf(0.05 / sides), abs=1e-9)


@pytest.mark.parametrize("limits", LIMITS)
def test_errors_by_simulation_with_uneven_looks(limits: Limits) -> None:
    random, sets = np.random.default_rng(9), 100_000
    times = np.array(UNEVEN)
    steps = random.standard_normal((sets, len(times))) * np.sqrt(np.diff(times, prepend=0))
    z = steps.cumsum(axis=1) / np.sqrt(times)
    boundary = SequentialDesign(limits).boundary(UNEVEN)
    assert np.mean((np.abs(z) >= boundary.upper).any(axis=1)) == pytest.approx(0.05, abs=band(0.05, sets))
    moved = z + 2.8 * np.sqrt(times)
    crossed = (np.abs(moved) >= boundary.upper).any(axis=1)
    assert np.mean(crossed) == pytest.approx(boundary.power(2.8), abs=band(0.8, sets))
    stopped = np.where(crossed, (np.abs(moved) >= boundary.upper).argmax(axis=1), len(times) - 1)
    assert times[stopped].mean() == pytest.approx(boundary.expected_information(2.8), abs=0.003)


def test_peeking_costs_what_it_is_known_to_cost() -> None:
    """The table of a million simulations, and one of our own."""
    simulated = {1: 0.0498, 2: 0.0832, 3: 0.1077, 4: 0.1265, 5: 0.1419, 10: 0.1937, 20: 0.2473, 50: 0.3198}
    for looks, rate in simulated.items():
        assert error_of_peeking(looks) == pytest.approx(rate, abs=3 * np.sqrt(rate * (1 - rate) / 1e6))
    random, sets = np.random.default_rng(12), 20_000
    sums = random.standard_normal((sets, 20)).cumsum(axis=1) / np.sqrt(np.arange(1, 21))
    for looks in (2, 5, 20):
        at = np.linspace(20 / looks, 20, looks).astype(int) - 1
        rate = float(np.mean((np.abs(sums[:, at]) > 1.959964).any(axis=1)))
        assert rate == pytest.approx(error_of_peeking(looks), abs=band(0.25, sets))


def test_spending_functions_follow_their_formulas() -> None:
    def spent(limits: Limits, parameter: float | None = None) -> list[float]:
        return [SequentialDesign(limits, 0.025, 1, parameter).spent(time) for time in (0.0, 0.3, 1.0, 1.2)]

    assert spent("hwang-shih-decani", 0.0) == pytest.approx([0, 0.0075, 0.025, 0.025])
    assert spent("hwang-shih-decani", -4) == pytest.approx([0, 0.025 * np.expm1(1.2) / np.expm1(4), 0.025, 0.025])
    assert spent("kim-demets", 2) == pytest.approx([0, 0.025 * 0.09, 0.025, 0.025])
    assert spent(SPENT_POCOCK) == pytest.approx([0, 0.025 * np.log(1 + (np.e - 1) * 0.3), 0.025, 0.025])
    both = SequentialDesign(SPENT_OBF).spent(0.5)
    assert both == pytest.approx(2 * SequentialDesign(SPENT_OBF, 0.025, 1).spent(0.5))


@pytest.mark.parametrize("limits", [name for name in LIMITS if SequentialDesign(name).spends])
def test_limits_of_looks_that_have_been_stay_as_they_were(limits: Limits) -> None:
    design = SequentialDesign(limits)
    planned, moved = design.boundary([0.25, 0.5, 0.75, 1.0]), design.boundary([0.25, 0.61, 0.7])
    assert moved.upper[0] == pytest.approx(planned.upper[0], abs=1e-10)
    assert design.boundary([0.25, 0.61]).upper == pytest.approx(moved.upper[:2], abs=1e-10)
    found = crossing(moved.upper, moved.lower, moved.information)
    assert found.total == pytest.approx(design.spent(0.7), abs=1e-9)


def test_the_last_look_spends_what_is_left() -> None:
    design = SequentialDesign(SPENT_OBF)
    for information in ([0.4, 0.8], [0.4, 1.15]):
        ended = design.boundary(information, final=True)
        assert crossing(ended.upper, ended.lower, ended.information).total == pytest.approx(0.05, abs=1e-9)
    assert design.boundary([0.4, 0.8], final=True).upper[1] < design.boundary([0.4, 0.8]).upper[1]


def test_fifty_looks_and_very_early_ones() -> None:
    found = SequentialDesign(SPENT_OBF).boundary(equal(50))
    assert found.upper[0] > 15
    assert (np.diff(found.upper) < 0).all()
    early = SequentialDesign(SPENT_OBF).boundary([0.001, 0.5, 1.0])
    assert early.upper[0] == inf
    assert early.upper[1:] == pytest.approx(SequentialDesign(SPENT_OBF).boundary([0.5, 1.0]).upper, abs=1e-6)
    assert not early.crossed(0, 30)
    close = SequentialDesign(SPENT_POCOCK).boundary([0.5, 0.5002, 1.0])
    assert crossing(close.upper, close.lower, close.information).total == pytest.approx(0.05, abs=1e-8)


def test_what_stops() -> None:
    both, up = two_sided(OBF, 2), one_sided(OBF, 2)
    assert [both.crossed(0, z) for z in (2.7, 2.8, -2.8, -2.7)] == [False, True, True, False]
    assert [up.crossed(0, z) for z in (2.7, 2.8, -9)] == [False, True, False]
    assert both.nominal == pytest.approx(2 * stats.norm.sf(both.upper))
    assert both.power(-2.8) == pytest.approx(both.power(2.8))
    assert up.power(-2.8) < 1e-5
    assert both.power(both.drift_for(0.7)) == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize(
    ("design", "information", "words"),
    [
        ({"limits": "haybittle"}, [1.0], "there are no limits 'haybittle'; there are obrien-fleming, pocock"),
        ({"alpha": 0}, [1.0], "alpha must be between 0 and 1"),
        ({"sides": 3}, [1.0], "1 side or 2"),
        ({"parameter": 2.0}, [1.0], "has no parameter"),
        ({"limits": "kim-demets", "parameter": 0.0}, [1.0], "cannot be 0"),
        ({"limits": "hwang-shih-decani", "parameter": float("nan")}, [1.0], "cannot be nan"),
        ({}, [0.5, 0.4], "must grow"),
        ({}, [0.0, 0.4], "must grow"),
        ({}, [], "one for each look"),
        ({}, [float("nan")], "one for each look"),
        ({}, [0.5, 1.0, 1.1], "no look may follow"),
        ({"limits": "pocock"}, [0.5, 0.9], "needs all looks as planned"),
    ],
)
def test_bad_designs_are_refused(design: dict[str, object], information: list[float], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        SequentialDesign(**design).boundary(information)  # type: ignore[arg-type]


def test_other_nonsense_is_refused() -> None:
    with pytest.raises(UsageError, match="lan-demets-pocock does"):
        SequentialDesign("pocock").spent(0.5)
    with pytest.raises(UsageError, match="power must be between"):
        two_sided(OBF, 2).inflation(1.0)
    with pytest.raises(UsageError, match="looks must be 1 or more"):
        error_of_peeking(0)


def test_roots() -> None:
    assert root(lambda x: x - 0.3, 0, 1) == pytest.approx(0.3, abs=1e-12)
    assert root(lambda x: np.tanh(50 * (x - 0.9)), -5, 1) == pytest.approx(0.9, abs=1e-11)
    assert root(lambda x: x**9 - 1e-9, 0, 1) == pytest.approx(0.1, abs=1e-11)
    assert root(lambda x: x + 5, 0, 1) == 0
    assert root(lambda x: x - 5, 0, 1) == 1
