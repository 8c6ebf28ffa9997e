"""Adjustment by covariates: frozen values of others, statsmodels, coverage by simulation, what cannot be adjusted."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from statsmodels.api import OLS

from cranfield.errors import UsageError
from cranfield.statistics.covariates import cuped, regression_adjusted, robust_regression_adjusted
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.significance import Floats
from simulate import band

USERS = json.loads(Path(__file__).with_name("online_users.json").read_text())
CONTROL, TREATMENT = (Moments.from_plain(USERS[arm]) for arm in ("control", "treatment"))
Y = np.array([2.1, 3.9, 6.2, 8.1, 9.8, 12.2, 13.9, 16.1])
X = np.arange(1.0, 9.0)
BOTH = (cuped, regression_adjusted)


def arm(chosen: slice, **columns: Floats) -> Moments:
    return Moments.of({name: values[chosen] for name, values in columns.items()})


def test_reference_of_eight_units() -> None:
    a, b = (arm(slice(start, None, 2), y=Y, x=X) for start in (0, 1))
    found = cuped(Ratio("y"), [Ratio("x")], a, b)
    theta = found.coefficients[0, 0]
    assert theta == pytest.approx(1.996428571, abs=1e-8)
    pooled = (a + b).with_sum("left", {"y": 1.0, "x": -theta})
    assert pooled.variance("y") == pytest.approx(23.936964286, abs=1e-8)
    assert pooled.variance("left") == pytest.approx(0.022602041, abs=1e-8)
    assert 1 - pooled.variance("left") / pooled.variance("y") == pytest.approx(0.999055768, abs=1e-8)
    assert Ratio("y").compared(a, b).difference().value == pytest.approx(2.075, abs=1e-8)
    assert found.arms.difference().value == pytest.approx(0.078571429, abs=1e-8)


def test_tea_tasting_says_the_same() -> None:
    orders = cuped(
        Ratio("orders", "sessions"), [Ratio("orders_covariate", "sessions_covariate")], CONTROL, TREATMENT
    ).arms.difference()
    assert (orders.value, orders.low, orders.high, orders.p) == pytest.approx(
        (0.031734, 0.011344, 0.052124, 0.002293), abs=5.1e-7
    )
    found = cuped(Ratio("revenue"), [Ratio("revenue_covariate")], CONTROL, TREATMENT)
    revenue = found.arms.difference()
    assert (revenue.value, revenue.low, revenue.high, revenue.p) == pytest.approx(
        (0.731014, 0.202287, 1.259742, 0.006744), abs=5.1e-7
    )
    assert (found.arms.control, found.arms.treatment) == pytest.approx((5.121453608942883, 5.852468057212222))
    assert found.remaining == pytest.approx(0.7232671, abs=1e-6)


def drawn(seed: int, sizes: tuple[int, int], correlation: float = 0.7) -> tuple[list[Floats], list[Floats]]:
    """Outcomes and covariates (two columns) of two arms whose slopes and variances differ."""
    random = np.random.default_rng(seed)
    known = [random.normal(2, 1.5, (size, 2)) for size in sizes]
    outcomes = [
        correlation * (1 + place) * table[:, 0] - 0.3 * table[:, 1] + random.normal(0, 1 + 0.2 * np.abs(table[:, 0]))
        for place, table in enumerate(known)
    ]
    return outcomes, known


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
@pytest.mark.parametrize("sizes", [(30, 70), (200, 50), (6, 6)])
def test_regression_is_one_with_interactions_in_statsmodels(sizes: tuple[int, int], kind: str) -> None:
    outcomes, known = drawn(sum(sizes), sizes)
    centred = np.concatenate(known) - np.concatenate(known).mean(axis=0)
    treated = np.repeat([0.0, 1.0], sizes)[:, None]
    design = np.column_stack([np.ones(sum(sizes)), treated, centred, treated * centred])
    fit = OLS(np.concatenate(outcomes), design).fit(cov_type=kind)
    arms = robust_regression_adjusted(*outcomes, *known, kind=kind)  # type: ignore[arg-type]
    effect = arms.difference()
    assert (effect.value, effect.error) == pytest.approx((fit.params[1], fit.bse[1]), rel=1e-8)
    names = ("y", "x", "z")
    control, treatment = (
        Moments.of(dict(zip(names, np.column_stack([outcome, table]).T, strict=True)))
        for outcome, table in zip(outcomes, known, strict=True)
    )
    by_moments = regression_adjusted(Ratio("y"), [Ratio("x"), Ratio("z")], control, treatment)
    assert by_moments.arms.difference().value == pytest.approx(fit.params[1], rel=1e-8)
    assert by_moments.coefficients[0] == pytest.approx(fit.params[2:4])
    assert by_moments.coefficients[1] == pytest.approx(fit.params[2:4] + fit.params[4:])


def test_the_variance_by_moments_is_the_robust_one_and_that_of_the_mean_covariates() -> None:
    outcomes, known = drawn(1, (4000, 9000))
    columns = [
        dict(zip(("y", "x", "z"), np.column_stack([outcome, table]).T, strict=True))
        for outcome, table in zip(outcomes, known, strict=True)
    ]
    moments = [Moments.of(each) for each in columns]
    found = regression_adjusted(Ratio("y"), [Ratio("x"), Ratio("z")], moments[0], moments[1])
    robust = robust_regression_adjusted(*outcomes, *known).difference().error ** 2
    slopes = found.coefficients[1] - found.coefficients[0]
    spread = np.cov(np.concatenate(known).T) / 13000
    assert found.arms.difference().error ** 2 == pytest.approx(robust + slopes @ spread @ slopes, rel=2e-3)


@pytest.mark.parametrize("adjust", BOTH, ids=lambda function: function.__name__)
@pytest.mark.parametrize("sizes", [(150, 150), (60, 240)])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_adjusted_intervals_hold(adjust: object, sizes: tuple[int, int], correlation: float) -> None:
    """Ratio metrics of users who come with a habit: 95 % intervals of A/A tests hold 0, of difference and relative."""
    random, sets = np.random.default_rng(17), 400
    held, held_relative, remaining = 0, 0, []
    for _ in range(sets):
        users = sum(sizes)
        habit = random.normal(0, 1, users)
        queries = 1 + random.poisson(np.exp(1 + 0.2 * habit))
        values = queries * (2 + correlation * habit) + random.normal(0, np.sqrt(queries))
        before = 1 + random.poisson(np.exp(1 + 0.2 * habit))
        earlier = before * (2 + 0.9 * habit) + random.normal(0, np.sqrt(before))
        arms = [
            arm(half, c=values, n=queries.astype(float), x=earlier, m=before.astype(float))
            for half in (slice(0, sizes[0]), slice(sizes[0], users))
        ]
        found = adjust(Ratio("c", "n"), [Ratio("x", "m")], arms[0], arms[1])  # type: ignore[operator]
        effect, relative = found.arms.difference(), found.arms.relative()
        held += effect.low <= 0 <= effect.high
        held_relative += relative.low <= 0 <= relative.high
        remaining.append(found.remaining)
    assert held == held_relative
    assert held / sets == pytest.approx(0.95, abs=band(0.05, sets))
    assert (np.mean(remaining) < 0.7) == (correlation > 0)


@pytest.mark.parametrize("adjust", BOTH, ids=lambda function: function.__name__)
def test_what_tells_nothing_changes_nothing(adjust: object) -> None:
    plain = Ratio("revenue").compared(CONTROL, TREATMENT)
    constant = [moments.with_sum("one", {"revenue": 0.0}) for moments in (CONTROL, TREATMENT)]
    found = adjust(Ratio("revenue"), [Ratio("one")], *constant)  # type: ignore[operator]
    assert found.arms == plain
    assert found.remaining == 1
    assert found.notes == ("one does not vary: it is left out",)
    empty = adjust(Ratio("revenue"), [Ratio("revenue_covariate", "one")], *constant)  # type: ignore[operator]
    assert empty.notes == ("revenue_covariate/one has no value in an arm: it is left out",)
    assert empty.arms == plain


@pytest.mark.parametrize("adjust", BOTH, ids=lambda function: function.__name__)
def test_a_covariate_given_twice_counts_once(adjust: object) -> None:
    ratio, covariate = Ratio("revenue"), Ratio("revenue_covariate")
    once = adjust(ratio, [covariate], CONTROL, TREATMENT)  # type: ignore[operator]
    twice = adjust(ratio, [covariate, covariate], CONTROL, TREATMENT)  # type: ignore[operator]
    assert twice.arms.difference()[:2] == pytest.approx(once.arms.difference()[:2])
    doubled = [moments.with_sum("double", {"revenue_covariate": 2.0}) for moments in (CONTROL, TREATMENT)]
    same = adjust(ratio, [covariate, Ratio("double")], *doubled)  # type: ignore[operator]
    assert same.arms.difference()[:2] == pytest.approx(once.arms.difference()[:2], rel=1e-3)


@pytest.mark.parametrize("adjust", BOTH, ids=lambda function: function.__name__)
def test_degenerate_arms(adjust: object) -> None:
    covariate = [Ratio("x")]
    empty, one, two = (Moments.of({"y": np.arange(n) * 2.0, "x": np.arange(n) ** 2.0}) for n in (0, 1, 2))
    for arms in ((empty, two), (two, empty), (one, two), (empty, empty)):
        assert isnan(adjust(Ratio("y"), covariate, *arms).arms.difference().p)  # type: ignore[operator]
    same = [Moments.of({"y": np.full(9, value), "x": np.arange(9.0)}) for value in (1.0, 2.0)]
    constant = adjust(Ratio("y"), covariate, *same).arms.difference()  # type: ignore[operator]
    assert constant.method == "exchange"
    assert constant.p < 0.001
    exact = [Moments.of({"y": 2 * np.arange(start, 9.0), "x": np.arange(start, 9.0)}) for start in (0, 1)]
    nothing_left = adjust(Ratio("y"), covariate, *exact).arms.difference()  # type: ignore[operator]
    assert nothing_left.value == pytest.approx(0, abs=1e-12)
    assert nothing_left.method in ("exchange", "undefined")
    with pytest.raises(UsageError, match="no covariate"):
        adjust(Ratio("y"), [], two, two)  # type: ignore[operator]


def test_too_few_units_are_not_fitted() -> None:
    a, b = (Moments.of({"y": [1.0, 2.0, 4.0], "x": [1.0, 0.0, 2.0]}) for _ in range(2))
    found = regression_adjusted(Ratio("y"), [Ratio("x")], a, b)
    assert found.notes == ("an arm has fewer than 4 units: nothing is adjusted",)
    assert found.arms == Ratio("y").compared(a, b)


def test_balance_tells_of_a_covariate_that_the_treatment_changed() -> None:
    random = np.random.default_rng(2)
    a, b = (Moments.of({"y": random.normal(size=500), "x": random.normal(shift, 1, 500)}) for shift in (0.0, 0.5))
    assert cuped(Ratio("y"), [Ratio("x")], a, b).balance[0].p < 1e-6


def test_bad_tables_are_refused() -> None:
    with pytest.raises(UsageError, match="covariates must be a table of 4 units"):
        robust_regression_adjusted([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4], [[1], [2], [3], [4]])
    with pytest.raises(UsageError, match="HC2 or HC3"):
        robust_regression_adjusted([1] * 4, [1] * 4, [[1]] * 4, [[1]] * 4, kind="HC1")  # type: ignore[arg-type]
