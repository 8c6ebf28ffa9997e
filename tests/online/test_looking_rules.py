"""Which rule a look has: that of the plan where it was planned, always valid where it was not; and that alpha is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cranfield.online import Trial
from cranfield.online.analysis.families import family_limits
from cranfield.online.analysis.looking import BURN_IN, look_rule
from cranfield.online.trial import Looks
from cranfield.statistics.group_sequential import SequentialDesign


def trial_of(spending: Any = "obrien-fleming", at: tuple[float, ...] = (0.5, 1.0), **more: Any) -> Trial:
    return Trial("t", {"a": 1, "b": 1}, "ctr", **({"maximum": 10_000} | more), looks=Looks(spending, at))


def test_planned_looks_have_the_limits_of_the_design() -> None:
    trial = trial_of(at=(0.2, 0.4, 0.6, 0.8, 1.0))
    limits = SequentialDesign("lan-demets-obrien-fleming").boundary([0.2, 0.4, 0.6, 0.8, 1.0]).nominal
    looks: list[int] = []
    for number, units in enumerate((2000, 4000, 6000, 8000, 10_000)):
        rule = look_rule(trial, units, looks)
        assert (rule.method, rule.planned, rule.final) == ("group sequential", True, number == 4)
        assert rule.limit() == pytest.approx(float(limits[number]), rel=1e-9)
        looks.append(units)


def test_a_look_made_elsewhere_has_the_limit_of_where_it_was_made() -> None:
    rule = look_rule(trial_of(), 5400)
    moved = SequentialDesign("lan-demets-obrien-fleming").boundary([0.54]).nominal[0]
    assert rule.limit() == pytest.approx(float(moved), rel=1e-9)
    assert "planned for 50%; the limit is that of where it was made" in rule.why


def test_the_last_look_spends_what_is_left_also_beyond_the_maximum() -> None:
    for units in (9600, 10_000, 12_000):
        rule = look_rule(trial_of(), units, [5000])
        assert rule.final
        assert float(rule.boundary().spent[-1]) == pytest.approx(0.05)


@pytest.mark.parametrize("units", [100, 3000, 4400, 5600, 9000])
def test_a_look_that_was_not_planned_is_always_valid(units: int) -> None:
    rule = look_rule(trial_of(), units)
    assert (rule.method, rule.planned, rule.final) == ("always valid", False, False)
    assert "not planned" in rule.why
    assert rule.burning_in == (units < BURN_IN)
    assert rule.limit() < 0.05
    assert (rule.limit() == 0) == (units < BURN_IN)


def test_after_an_unplanned_look_none_is_planned_again() -> None:
    rule = look_rule(trial_of(), 10_000, [3000])
    assert (rule.method, rule.planned) == ("always valid", False)


def test_what_planned_looks_spent_is_not_there_for_unplanned_ones() -> None:
    before = look_rule(trial_of("pocock"), 7000)
    after = look_rule(trial_of("pocock"), 7000, [5000])
    assert after.spent == pytest.approx(SequentialDesign("lan-demets-pocock").spent(0.5))
    assert after.limit() < before.limit()
    gone = look_rule(trial_of(), 14_000, [5000, 10_000])
    assert gone.limit() == 0
    assert "used up all of alpha" in gone.why


def test_the_same_number_of_units_is_the_same_look() -> None:
    assert look_rule(trial_of(), 5000, [5000, 10_000]) == look_rule(trial_of(), 5000)


def test_one_look_is_a_test_at_alpha_and_a_second_is_not() -> None:
    trial = trial_of(at=(1.0,), maximum=None)
    rule = look_rule(trial, 700)
    assert (rule.method, rule.final, rule.limit()) == ("one look", True, 0.05)
    assert look_rule(trial, 900, [700]).method == "always valid"


def test_a_trial_that_has_ended_takes_its_last_look_with_what_there_is() -> None:
    rule = look_rule(trial_of(at=(1.0,)), 4000, ended=True)
    assert (rule.method, rule.final, rule.limit()) == ("one look", True, 0.05)
    assert "since the trial has ended" in rule.why
    rule = look_rule(trial_of(), 7000, [5000], ended=True)
    assert rule.final
    assert float(rule.boundary().spent[-1]) == pytest.approx(0.05)


def test_always_valid_by_plan() -> None:
    rule = look_rule(trial_of("always-valid", (1.0,)), 5000, [300, 1000, 4000])
    assert (rule.method, rule.planned, rule.spent) == ("always valid", True, 0.0)
    assert "By the plan" in rule.why


@pytest.mark.parametrize("peeks", [[5000, 10_000], [3000, 5000, 7000, 10_000], [5000, 7500, 10_000]])
def test_alpha_is_kept_over_all_looks_however_one_looks(peeks: list[int]) -> None:
    """Paths of z without an effect, looked at as often as one likes: found in 5 % at most."""
    rng = np.random.default_rng(1)
    steps = np.diff([0, *peeks])
    paths = np.cumsum(rng.normal(0, np.sqrt(steps), (40_000, len(peeks))), axis=1) / np.sqrt(peeks)
    from scipy.special import ndtr

    ps = 2 * ndtr(-np.abs(paths))
    limits = [look_rule(trial_of("pocock"), units, peeks[:look]).limit() for look, units in enumerate(peeks)]
    alarms = float((ps < np.array(limits)).any(axis=1).mean())
    assert alarms < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40_000)
    if len(peeks) == 2:
        assert alarms > 0.045


def test_a_family_is_holms_at_one_look_and_stricter_with_every_question() -> None:
    from cranfield.statistics.corrections import find_correction

    rule = look_rule(trial_of(at=(1.0,), maximum=None), 100)
    rng = np.random.default_rng(0)
    for _ in range(50):
        ps = rng.beta(0.3, 2, 6)
        limits = family_limits(ps, rule)
        adjusted = find_correction("holm")(ps)
        assert ((ps < limits.limit) == (adjusted < 0.05)).all()
        more = family_limits([*ps, rng.random()], rule)
        assert set(np.flatnonzero(ps < more.limit)) <= set(np.flatnonzero(ps < limits.limit))


def test_a_question_without_an_answer_counts_in_its_family() -> None:
    rule = look_rule(trial_of(at=(1.0,), maximum=None), 100)
    assert family_limits([0.02, float("nan"), float("nan")], rule).found == 0
    assert family_limits([0.02], rule).found == 1
