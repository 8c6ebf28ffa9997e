"""Ratios and two arms: against statsmodels, SciPy, frozen values of others and simulation; every degenerate case."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import comb, inf, isnan, nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.api import OLS

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio, welch_freedom
from simulate import band

CTR = Ratio("clicks", "queries")
A = Moments.of({"clicks": [1, 0, 3, 2, 0, 1], "queries": [4, 2, 5, 2, 1, 6]})
B = Moments.of({"clicks": [2, 1, 3, 2, 1, 3], "queries": [4, 2, 4, 3, 1, 6]})
USERS = json.loads(Path(__file__).with_name("online_users.json").read_text())
CONTROL, TREATMENT = (Moments.from_plain(USERS[arm]) for arm in ("control", "treatment"))


def test_reference_of_two_small_arms() -> None:
    assert CTR.of(A).value == pytest.approx(0.35, abs=1e-9)
    assert CTR.of(A).variance == pytest.approx(0.015705, abs=1e-9)
    assert CTR.of(B).variance == pytest.approx(0.00336, abs=1e-9)
    effect = CTR.compared(A, B).difference()
    assert (effect.value, effect.error) == pytest.approx((0.25, 0.138076066), abs=1e-9)
    assert effect.statistic == pytest.approx(1.810596197, abs=1e-9)


def test_the_variance_is_that_of_a_regression_clustered_by_user() -> None:
    """A row for each query, users as clusters, no small-sample correction: times N / (N - 1) the variance here."""
    queries = {"A": [4, 2, 5, 2, 1, 6], "B": [4, 2, 4, 3, 1, 6]}
    clicks = {"A": [1, 0, 3, 2, 0, 1], "B": [2, 1, 3, 2, 1, 3]}
    rows = [
        (click < clicks[arm][user], arm == "B", f"{arm}{user}")
        for arm in "AB"
        for user, count in enumerate(queries[arm])
        for click in range(count)
    ]
    clicked, treated, users = (np.array(column) for column in zip(*rows, strict=True))
    groups = np.unique(users, return_inverse=True)[1]
    design = np.column_stack([np.ones(len(rows)), treated.astype(float)])
    fit = OLS(clicked.astype(float), design).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    assert fit.bse[1] == pytest.approx(0.126045627, abs=1e-9)
    assert CTR.compared(A, B).difference().error == pytest.approx(fit.bse[1] * np.sqrt(6 / 5), abs=1e-12)


@pytest.mark.parametrize(
    ("ratio", "control", "treatment", "interval", "p"),
    [
        (Ratio("sessions"), 1.996045, 1.982802, None, 0.674021),
        (Ratio("orders", "sessions"), 0.265726, 0.289031, (-0.002459, 0.049069), 0.076238),
        (Ratio("revenue"), 5.241028, 5.730111, None, 0.123070),
    ],
)
def test_tea_tasting_says_the_same(
    ratio: Ratio, control: float, treatment: float, interval: tuple[float, float] | None, p: float
) -> None:
    arms = ratio.compared(CONTROL, TREATMENT)
    effect = arms.difference()
    assert (arms.control, arms.treatment, effect.p) == pytest.approx((control, treatment, p), abs=5.1e-7)
    if interval is not None:
        assert (effect.low, effect.high) == pytest.approx(interval, abs=5.1e-7)


def test_gbstats_says_the_same_of_means() -> None:
    a = Moments.from_sums(["x"], 3407, [1396.87], [[52377.9767]])
    b = Moments.from_sums(["x"], 3461, [2422.7], [[134698.29]])
    arms = Ratio("x").compared(a, b)
    absolute = arms.difference()
    assert absolute[:2] == pytest.approx((0.29, 0.12478), abs=5e-6)
    assert (absolute.low, absolute.high, absolute.p) == pytest.approx((0.04538, 0.53462, 0.02016), abs=5e-6)
    relative = arms.relative(method="delta")
    assert relative[:2] == pytest.approx((0.70732, 0.37879), abs=5e-6)
    assert (relative.low, relative.high, relative.p) == pytest.approx((-0.03526, 1.44989, 0.06191), abs=6e-6)
    fieller = arms.relative()
    assert fieller.p == absolute.p
    assert fieller.low > 0  # as the difference, and unlike the delta method


def test_gbstats_says_the_same_of_proportions() -> None:
    """Its variance of a share is p (1 - p) / n."""
    variances = (0.5 * 0.5 / 28, (16 / 30) * (14 / 30) / 30)
    arms = TwoArms(14 / 28, 16 / 30, *variances, freedom=welch_freedom(variances, (27, 29)), units=(28, 30))
    relative = arms.relative(method="delta")
    assert (relative.value, relative.low, relative.high, relative.p) == pytest.approx(
        (0.06667, -0.47767, 0.61101, 0.80707), abs=6e-6
    )


def test_a_mean_is_welchs_test() -> None:
    random = np.random.default_rng(3)
    for sizes in ((5, 9), (40, 25), (2, 2)):
        a, b = random.normal(1, 1, sizes[0]), random.normal(1.5, 3, sizes[1])
        effect = Ratio("x").compared(Moments.of({"x": a}), Moments.of({"x": b})).difference(confidence=0.9)
        scipys = stats.ttest_ind(b, a, equal_var=False)
        assert (effect.statistic, effect.p, effect.freedom) == pytest.approx(
            (scipys.statistic, scipys.pvalue, scipys.df)
        )
        assert (effect.low, effect.high) == pytest.approx(tuple(scipys.confidence_interval(0.9)))
        known = Ratio("x").compared(Moments.of({"x": a}), Moments.of({"x": b})).difference(reference="z")
        assert known.p == pytest.approx(2 * stats.norm.sf(abs(effect.statistic)))
        assert (known.method, known.freedom) == ("z", inf)


def test_a_ratio_with_constant_denominator_is_a_mean() -> None:
    a, b = (Moments.of({"c": values, "n": [4.0] * 5}) for values in ([1, 0, 2, 4, 3], [4, 2, 2, 3, 3]))
    ratio = Ratio("c", "n").compared(a, b).difference()
    mean = Ratio("c").compared(a, b).difference()
    assert (ratio.value * 4, ratio.p, ratio.freedom) == pytest.approx((mean.value, mean.p, mean.freedom))


def test_linearised_values_have_the_ratios_variance() -> None:
    columns = {"clicks": [1, 0, 3, 2, 0, 1], "queries": [4, 2, 5, 2, 1, 6]}
    values = CTR.linearised(columns, A)
    assert values.mean() == pytest.approx(0, abs=1e-15)
    assert values.var(ddof=1) / 6 == pytest.approx(CTR.of(A).variance)
    weights = CTR.slope(A)
    assert A.with_sum("linear", weights).variance("linear") / 6 == pytest.approx(CTR.of(A).variance)
    means = Ratio("clicks").linearised(columns, A)
    assert means.tolist() == pytest.approx((np.array(columns["clicks"]) - 7 / 6).tolist())
    with pytest.raises(UsageError, match="denominators add up to 0"):
        CTR.linearised(columns, Moments.of({"clicks": [0], "queries": [0]}))


def test_equal_arms_are_found_to_differ_in_five_per_cent() -> None:
    """1,000 users an arm, queries geometric with mean 5, each user with a rate of Beta(2, 3): by query 18.5 %."""
    random, sets = np.random.default_rng(5), 1500
    by_user, by_query = 0, 0
    for _ in range(sets):
        queries = random.geometric(0.2, 600)
        clicks = random.binomial(queries, random.beta(2, 3, 600))
        arms = [
            Moments.of({"clicks": clicks[half], "queries": queries[half]}) for half in (slice(300), slice(300, 600))
        ]
        by_user += CTR.compared(arms[0], arms[1]).difference().p < 0.05
        shown = [arm.mean("queries") * arm.count for arm in arms]
        pooled = clicks.sum() / queries.sum()
        spread = np.sqrt(pooled * (1 - pooled) * (1 / shown[0] + 1 / shown[1]))
        by_query += abs(CTR.of(arms[1]).value - CTR.of(arms[0]).value) > 1.96 * spread
    assert by_user / sets == pytest.approx(0.05, abs=band(0.05, sets))
    assert by_query / sets == pytest.approx(0.185, abs=band(0.185, sets))


def test_fieller_holds_the_true_ratio_where_the_delta_method_does_not() -> None:
    """A control only three standard errors off zero."""
    random, sets = np.random.default_rng(8), 4000
    covered = {"fieller": 0, "delta": 0}
    for control, treatment in zip(random.normal(3, 1, sets), random.normal(6, 1, sets), strict=True):
        arms = TwoArms(control, treatment, 1.0, 1.0)
        for method in ("fieller", "delta"):
            effect = arms.relative(method=method)
            covered[method] += effect.low <= 1.0 <= effect.high
    assert covered["fieller"] / sets >= 0.95 - band(0.05, sets)


FINITE = st.floats(-50, 50).map(lambda value: round(value, 4))
SPREAD = st.floats(0.001, 20)


@given(FINITE, FINITE, SPREAD, SPREAD, st.floats(2, 500))
def test_the_relative_interval_agrees_with_the_difference(
    control: float, treatment: float, first: float, second: float, freedom: float
) -> None:
    arms = TwoArms(control, treatment, first, second, freedom=freedom)
    absolute, relative = arms.difference(), arms.relative()
    assert (absolute.low > 0 or absolute.high < 0) == (absolute.p < 0.05) or absolute.p == pytest.approx(0.05)
    if relative.method == "undefined":
        assert relative.notes
        assert isnan(relative.value)
        assert (relative.low, relative.high) == (-inf, inf)
        return
    assert relative.low <= relative.value + 1e-9
    assert relative.value - 1e-9 <= relative.high
    assume(abs(absolute.p - 0.05) > 1e-6)
    assert (relative.low > 0 or relative.high < 0) == (absolute.p < 0.05)
    assert np.sign(relative.value) == np.sign(absolute.value)


@given(FINITE, FINITE, SPREAD, SPREAD)
def test_gains_and_losses_mirror(control: float, treatment: float, first: float, second: float) -> None:
    arms = TwoArms(control, treatment, first, second, freedom=40)
    for effect, mirrored in (
        (arms.difference(), arms.mirrored().difference()),
        (arms.relative(), arms.mirrored().relative()),
    ):
        assert mirrored.p == pytest.approx(effect.p, nan_ok=True)
        assert (mirrored.low, mirrored.high) == pytest.approx((-effect.high, -effect.low))
    swapped = TwoArms(treatment, control, second, first, freedom=40).difference()
    assert swapped.value == -arms.difference().value
    assert swapped.p == arms.difference().p
    assert arms.p_above(1.5) == pytest.approx(
        1 - TwoArms(-control, -treatment, first, second, freedom=40).p_above(-1.5)
    )


NOTHING: Mapping[str, list[float]] = {"clicks": [], "queries": []}


@pytest.mark.parametrize(
    ("control", "treatment", "words"),
    [
        (NOTHING, {"clicks": [1, 2], "queries": [2, 3]}, "control has no units"),
        ({"clicks": [1, 2], "queries": [2, 3]}, NOTHING, "treatment has no units"),
        (NOTHING, NOTHING, "control has no units"),
        ({"clicks": [0, 0], "queries": [0, 0]}, {"clicks": [1, 2], "queries": [2, 3]}, "denominators add up to 0"),
        ({"clicks": [1], "queries": [2]}, {"clicks": [1, 2], "queries": [2, 3]}, "control has 1 unit: its variance"),
        ({"clicks": [1, 1], "queries": [2, 3]}, {"clicks": [1], "queries": [2]}, "treatment has 1 unit: its variance"),
    ],
)
def test_without_an_answer_there_is_none(
    control: Mapping[str, list[float]], treatment: Mapping[str, list[float]], words: str
) -> None:
    arms = CTR.compared(Moments.of(control), Moments.of(treatment))
    for effect in (arms.difference(), arms.relative(), arms.relative(method="delta")):
        assert words in effect.notes[0]
        assert effect.method == "undefined"
        assert isnan(effect.p)
        assert (effect.low, effect.high) == (-inf, inf)
    assert isnan(arms.p_above(0.0))


def test_a_unit_without_a_denominator_counts_as_nothing_but_a_unit() -> None:
    """A user without queries changes no rate, only the number of users."""
    with_none = Moments.of({"clicks": [1, 0, 3, 2, 0, 1, 0], "queries": [4, 2, 5, 2, 1, 6, 0]})
    assert CTR.of(with_none).value == pytest.approx(0.35)
    residual = np.array([1, 0, 3, 2, 0, 1, 0]) - 0.35 * np.array([4, 2, 5, 2, 1, 6, 0])
    assert CTR.of(with_none).variance == pytest.approx(residual.var(ddof=1) / 7 / (20 / 7) ** 2)


@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_arms_that_only_differ_between_them(size: int) -> None:
    """No variance at all, and every unit of one arm above the other: no p of 1, and no silence."""
    a, b = (Moments.of({"x": np.full(size, value)}) for value in (0.1, 0.3))
    effect = Ratio("x").compared(a, b).difference()
    assert effect.method == "exchange"
    assert effect.value == pytest.approx(0.2)
    assert effect.p == pytest.approx(2 / comb(2 * size, size))
    if effect.p < 0.05:
        assert (effect.low, effect.high) == (effect.value, effect.value)
    else:
        assert (effect.low, effect.high) == (-inf, inf)
    relative = Ratio("x").compared(a, b).relative()
    assert (relative.p, relative.value) == pytest.approx((effect.p, 2.0))
    assert Ratio("x").compared(b, a).difference().value == pytest.approx(-0.2)


def test_arms_that_are_all_equal() -> None:
    a, b = Moments.of({"x": np.full(50, 0.1)}), Moments.of({"x": np.full(60, 0.1)})
    effect = Ratio("x").compared(a, b).difference()
    assert (effect.value, effect.p, effect.method) == (0.0, 1.0, "exchange")
    assert (effect.low, effect.high) == (0.0, 0.0)
    assert Ratio("x").compared(Moments.of({"x": [0.0, 0.0]}), Moments.of({"x": [0.0, 0.0]})).relative().notes == (
        "the control is 0: there is no relative effect",
    )


def test_one_arm_without_variance_is_no_problem() -> None:
    a, b = Moments.of({"x": np.zeros(30)}), Moments.of({"x": np.tile([0.0, 1.0], 15)})
    effect = Ratio("x").compared(a, b).difference()
    assert effect.freedom == 29
    assert effect.p == pytest.approx(stats.ttest_1samp(np.tile([0.0, 1.0], 15), 0).pvalue)


def test_ratios_without_variance_count_units_that_surely_have_a_denominator() -> None:
    """Every query clicked or none: as unlikely as the units that count make it, at most."""
    queries = [4.0, 2, 5, 2, 1, 6, 0, 0]
    a, b = Moments.of({"clicks": queries, "queries": queries}), Moments.of({"clicks": np.zeros(8), "queries": queries})
    counted = CTR.of(a).counted
    assert 4 <= counted <= 6
    assert CTR.compared(a, b).difference().p == pytest.approx(2 / comb(2 * counted, counted))


def test_huge_values_keep_their_difference() -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(0, 1e-3, 400), random.normal(5e-4, 1e-3, 400)
    small = Ratio("x").compared(Moments.of({"x": a}), Moments.of({"x": b})).difference()
    huge = Ratio("x").compared(Moments.of({"x": 1e9 + a}), Moments.of({"x": 1e9 + b})).difference()
    assert huge.p == pytest.approx(small.p, rel=1e-2)
    assert huge.value == pytest.approx(small.value, abs=3e-7)


def test_one_group_against_a_value() -> None:
    values = np.array([2, 1, -1, 3, 1, 2.0])
    effect = Ratio("x").against(Moments.of({"x": values}), 0.5).difference()
    scipys = stats.ttest_1samp(values, 0.5)
    assert (effect.statistic, effect.p) == pytest.approx((scipys.statistic, scipys.pvalue))
    constant = Ratio("x").against(Moments.of({"x": np.ones(8)})).difference()
    assert (constant.p, constant.method) == (2**-7, "exchange")
    assert isnan(Ratio("x").against(Moments.of({"x": [1.0]})).difference().p)


def test_bad_requests_are_refused() -> None:
    arms = TwoArms(1.0, 1.0, 0.1, 0.1)
    for confidence in (0, 1, 95, nan):
        with pytest.raises(UsageError, match="confidence must be between 0 and 1"):
            arms.difference(confidence=confidence)
    with pytest.raises(UsageError, match="fieller or delta"):
        arms.relative(method="bootstrap")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no moments of 'click'"):
        Ratio("click").of(A)
