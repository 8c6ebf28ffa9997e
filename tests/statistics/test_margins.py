"""Guardrails and limits: directions mirror, the worst harm agrees with p, and what is unknown is open."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.margins import equivalent, non_inferior
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from cranfield.statistics.winsorising import WinsorLimits, winsor_limits, winsorised
from simulate import band

VALUES, SPREADS, MARGINS = st.floats(-5, 5), st.floats(1e-4, 4), st.floats(0.01, 2)


def test_by_hand() -> None:
    arms = TwoArms(10.0, 9.5, 0.04, 0.05, freedom=60)
    found = non_inferior(arms, 1.0)
    assert found.p == pytest.approx(stats.t.sf(0.5 / 0.3, 60))
    assert found.p_broken == pytest.approx(stats.t.cdf(0.5 / 0.3, 60))
    assert found.worst == pytest.approx(0.5 + stats.t.isf(0.05, 60) * 0.3)
    assert non_inferior(arms, 1.1).standing == "held"
    assert found.standing == "open"  # p = 0.0504
    assert non_inferior(TwoArms(10.0, 7.0, 0.04, 0.05, freedom=60), 1.0).standing == "broken"


@given(VALUES, VALUES, SPREADS, SPREADS, MARGINS, st.booleans())
def test_a_loss_is_a_gain_turned_around(
    control: float, treatment: float, first: float, second: float, margin: float, relative: bool
) -> None:
    arms = TwoArms(control, treatment, first, second, freedom=50)
    gain = non_inferior(arms, margin, relative=relative)
    loss = non_inferior(arms.mirrored(), margin, higher_is_better=False, relative=relative)
    assert (loss.p, loss.p_broken, loss.worst) == pytest.approx((gain.p, gain.p_broken, gain.worst), nan_ok=True)
    assert loss.standing == gain.standing


@given(VALUES, VALUES, SPREADS, SPREADS, MARGINS, st.booleans())
def test_the_worst_harm_agrees_with_the_decision(
    control: float, treatment: float, first: float, second: float, margin: float, relative: bool
) -> None:
    found = non_inferior(TwoArms(control, treatment, first, second, freedom=50), margin, relative=relative)
    if isnan(found.p):
        assert found.standing == "open"
        assert found.worst == inf
        assert found.note
        return
    assume(abs(found.p - 0.05) > 1e-6)
    assert (found.worst < margin) == (found.standing == "held")


@given(VALUES, VALUES, SPREADS, SPREADS, MARGINS)
def test_a_larger_margin_is_never_harder(
    control: float, treatment: float, first: float, second: float, margin: float
) -> None:
    arms = TwoArms(control, treatment, first, second, freedom=50)
    assert non_inferior(arms, margin * 1.5).p <= non_inferior(arms, margin).p
    assert equivalent(arms, margin * 1.5).p <= equivalent(arms, margin).p
    assert equivalent(arms, margin).p >= non_inferior(arms, margin).p


def test_a_harm_of_the_margin_passes_in_five_per_cent() -> None:
    random, sets = np.random.default_rng(14), 2000
    held = {True: 0, False: 0}
    for _ in range(sets):
        a, b = (Moments.of({"x": random.normal(mean, 1, 80)}) for mean in (10.0, 9.8))
        arms = Ratio("x").compared(a, b)
        for relative, margin in ((False, 0.2), (True, 0.02)):
            held[relative] += non_inferior(arms, margin, relative=relative).standing == "held"
    for count in held.values():
        assert count / sets == pytest.approx(0.05, abs=band(0.05, sets))


@pytest.mark.parametrize("relative", [True, False])
def test_what_is_unknown_is_open(relative: bool) -> None:
    for arms in (TwoArms(nan, 1.0, nan, 0.1), TwoArms(1.0, 1.0, nan, 0.1, units=(1, 9))):
        found = non_inferior(arms, 0.1, relative=relative)
        assert (found.standing, found.worst) == ("open", inf)
        assert found.note
        assert isnan(equivalent(arms, 0.1, relative=relative).p)


def test_a_margin_relative_to_nothing_is_open() -> None:
    found = non_inferior(TwoArms(0.01, 0.5, 0.04, 0.04), 0.1, relative=True)
    assert found.standing == "open"
    assert found.note is not None
    assert "not surely off zero" in found.note


def test_a_guardrail_that_nothing_ever_touched_is_held_and_a_total_loss_broken() -> None:
    """No zero results in either arm; and no results at all in one: neither has any variance."""
    never, always = Moments.of({"x": np.zeros(500)}), Moments.of({"x": np.ones(500)})
    held = non_inferior(Ratio("x").compared(never, never), 0.01, higher_is_better=False)
    assert (held.standing, held.worst) == ("held", 0)
    broken = non_inferior(Ratio("x").compared(never, always), 0.01, higher_is_better=False)
    assert broken.standing == "broken"
    few = Moments.of({"x": np.zeros(2)})
    assert non_inferior(Ratio("x").compared(few, few), 0.01).standing == "open"


def test_bad_margins_are_refused() -> None:
    arms = TwoArms(1.0, 1.0, 0.1, 0.1)
    for margin in (0.0, -0.1, inf, nan):
        for call in (non_inferior, equivalent):
            with pytest.raises(UsageError, match="a margin must be above 0"):
                call(arms, margin)
    with pytest.raises(UsageError, match="alpha must be between"):
        non_inferior(arms, 0.1, alpha=0.6)


def test_limits_are_values_that_were_seen() -> None:
    values = np.array([5.0, 1, 2, 3, 4, 100])
    assert winsor_limits(values, upper=0.8) == WinsorLimits(1.0, 5.0)
    assert winsor_limits(values, upper=1.0, lower=0.2) == WinsorLimits(2.0, 100.0)
    assert winsorised(values, WinsorLimits(2.0, 5.0)).values.tolist() == [5, 2, 2, 3, 4, 5]
    assert winsorised(values, WinsorLimits(2.0, 5.0)).changed == 2
    assert values[-1] == 100
    assert winsor_limits([7.0]) == WinsorLimits(7.0, 7.0)


def test_limits_of_nonsense_are_refused() -> None:
    for bad in ([], [nan], [1.0, inf]):
        with pytest.raises(UsageError, match="finite numbers"):
            winsor_limits(bad)
    with pytest.raises(UsageError, match="quantiles"):
        winsor_limits([1.0, 2.0], upper=99)
    with pytest.raises(UsageError, match="missing"):
        winsorised([nan], WinsorLimits(0, 1))
