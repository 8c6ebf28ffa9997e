"""Which rule a look has: the plan's where it was planned, always valid where it was not; and that alpha is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from cranfield.online import Trial
from cranfield.online.analysis.families import family_limits
from cranfield.online.analysis.looking import BURN_IN, look_rule, unplanned_looks
from cranfield.online.trial import Looks
from cranfield.online.trial_ledger import TrialLook
from cranfield.statistics.group_sequential import SequentialDesign


def trial_of(spending: Any = "obrien-fleming", at: tuple[float, ...] = (0.5, 1.0), **more: Any) -> Trial:
    return Trial("t", {"a": 1, "b": 1}, "ctr", **({"maximum": 10_000} | more), looks=Looks(spending, at))


def made(trial: Trial, *units: int, **more: Any) -> list[TrialLook]:
    """Looks that were made with so many units."""
    return [TrialLook("2026-11-03", "t", trial.digest, each, **more) for each in units]


def test_planned_looks_have_the_limits_of_the_design() -> None:
    trial = trial_of(at=(0.2, 0.4, 0.6, 0.8, 1.0))
    limits = SequentialDesign("lan-demets-obrien-fleming").boundary([0.2, 0.4, 0.6, 0.8, 1.0]).nominal
    looks: list[int] = []
    for number, units in enumerate((2000, 4000, 6000, 8000, 10_000)):
        rule = look_rule(trial, units, made(trial, *looks))
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
        rule = look_rule(trial_of(), units, made(trial_of(), 5000))
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
    rule = look_rule(trial_of(), 9990, made(trial_of(), 3000))
    assert (rule.method, rule.planned, rule.final) == ("always valid", False, False)


@pytest.mark.parametrize("spending", ["pocock", "always-valid"])
def test_with_the_maximum_reached_no_look_follows(spending: str) -> None:
    trial = trial_of(spending, (1.0,))
    rule = look_rule(trial, 10_000, made(trial, 3000))
    assert (rule.method, rule.final) == ("always valid", True)


def test_what_planned_looks_spent_is_not_there_for_unplanned_ones() -> None:
    trial = trial_of("pocock")
    before = look_rule(trial, 7000)
    after = look_rule(trial, 7000, made(trial, 5000))
    assert after.spent == pytest.approx(SequentialDesign("lan-demets-pocock").spent(0.5))
    assert after.limit() < before.limit()
    gone = look_rule(trial_of(), 14_000, made(trial_of(), 5000, 10_000))
    assert gone.limit() == 0
    assert "used up all of alpha" in gone.why


def test_the_same_number_of_units_is_the_same_look() -> None:
    assert look_rule(trial_of(), 5000, made(trial_of(), 5000, 10_000)) == look_rule(trial_of(), 5000)


def test_one_look_is_a_test_at_alpha_and_a_second_is_not() -> None:
    trial = trial_of(at=(1.0,), maximum=None)
    rule = look_rule(trial, 700)
    assert (rule.method, rule.final, rule.limit()) == ("one look", True, 0.05)
    assert look_rule(trial, 900, made(trial, 700)).method == "always valid"


def test_a_trial_that_has_ended_takes_its_last_look_with_what_there_is() -> None:
    rule = look_rule(trial_of(at=(1.0,)), 4000, ended=True)
    assert (rule.method, rule.final, rule.limit()) == ("one look", True, 0.05)
    assert "since the trial has ended" in rule.why
    rule = look_rule(trial_of(), 7000, made(trial_of(), 5000), ended=True)
    assert rule.final
    assert float(rule.boundary().spent[-1]) == pytest.approx(0.05)


END = datetime(2026, 11, 16, tzinfo=UTC)


def test_without_a_maximum_the_one_look_is_at_the_end() -> None:
    trial = trial_of(at=(1.0,), maximum=None, end=END)
    early = look_rule(trial, 3000, queries=9000)
    assert (early.method, early.planned, early.final, early.spent) == ("always valid", False, False, 0.0)
    assert early.why.startswith(
        "This look was not planned (planned is one, at the trial's end, 2026-11-16 00:00 UTC): from there on"
    )
    last = look_rule(trial, 4000, queries=20_000, ended=True)
    assert (last.method, last.planned, last.final, last.limit()) == ("one look", True, True, 0.05)
    assert last.why == "The one look that was planned, at the trial's end (2026-11-16 00:00 UTC)."
    assert last.last
    assert not early.last


def test_after_an_early_look_the_one_at_the_end_is_always_valid_and_final() -> None:
    trial = trial_of(at=(1.0,), maximum=None, end=END)
    rule = look_rule(trial, 4000, made(trial, 3000, queries=9000, last=False), queries=20_000, ended=True)
    assert (rule.method, rule.final, rule.exhausted, rule.last) == ("always valid", True, False, False)
    assert 0 < rule.limit() < 0.05
    assert rule.why.startswith("An earlier look was not planned (planned is one, at the trial's end")
    assert look_rule(trial, 4100, made(trial, 3000, last=False), queries=9000).why.startswith("This look was not")


def test_without_a_maximum_and_an_end_the_first_look_is_the_one_and_says_so() -> None:
    rule = look_rule(trial_of(at=(1.0,), maximum=None), 700)
    assert rule.why == (
        "The plan has neither a maximum nor an end: this look, the first, is the one. All of alpha is spent on it, and "
        "any later one was not planned."
    )


@pytest.mark.parametrize("more", [{"maximum": None}, {"maximum": None, "end": END}, {"maximum": 10_000, "end": END}])
def test_no_two_looks_spend_all_of_alpha(more: dict[str, Any]) -> None:
    """Also with the same units and more queries, and where the last look was made early because the trial ended."""
    trial = trial_of(at=(1.0,), **more)
    first = look_rule(trial, 4000, queries=9000, ended="end" in more)
    assert (first.limit(), first.last) == (0.05, True)
    looks = made(trial, 4000, queries=9000, last=True)
    for units, queries in ((4000, 9001), (4001, 9001), (12_000, 30_000)):
        later = look_rule(trial, units, looks, queries=queries, ended="end" in more)
        assert (later.exhausted, later.limit(), later.limit(sides=1), later.decided) == (True, 0.0, 0.0, 4000)
        assert 0 < later.shown() < 0.05
        assert later.why == (
            "This look was not planned, and the one with 4,000 units used up all of alpha: nothing more can be found. "
            "Intervals are always valid from there on, and decide nothing."
        )
    again = look_rule(trial, 4000, looks, queries=9000, ended="end" in more)
    assert again == first


def test_what_is_shown_is_the_limit_wherever_something_can_be_found() -> None:
    for rule in (look_rule(trial_of(), 5000), look_rule(trial_of(), 3000), look_rule(trial_of(), 100)):
        assert rule.shown(0.5) == rule.limit(0.5)


def test_a_plan_that_was_changed_planned_nothing() -> None:
    trial = trial_of()
    looks = [TrialLook("2026-11-03", "t", "another", 5000)]
    assert " as planned" in look_rule(trial, 10_000, made(trial, 5000)).why
    told = look_rule(trial, 10_000, looks).why
    assert "Look 2 of 2 by the plan as it is now, the last" in told
    assert "planned" not in told
    one = trial_of(at=(1.0,))
    assert look_rule(one, 10_000, looks[:0]).why.startswith("The one look that was planned")
    moved = look_rule(trial, 5400, [looks[0]._replace(units=5400)]).why
    assert "The plan as it is now has it at 50%; the limit" in moved


def test_unplanned_looks_are_counted() -> None:
    trial = trial_of()
    for units, count in (((5000, 10_000), 0), ((3000, 5000, 10_000), 1), ((5000, 5000, 7000, 10_000, 11_000), 1)):
        assert unplanned_looks(trial, made(trial, *units)) == count
    assert unplanned_looks(trial, made(trial, 5000, 10_000, 12_000)) == 1
    assert unplanned_looks(trial_of("always-valid", (1.0,)), made(trial, 1, 2, 3)) == 0


@pytest.mark.parametrize("kind", ["to the end", "first look"])
def test_alpha_is_kept_without_a_maximum(kind: str) -> None:
    """Paths without an effect, looked at every day: whatever is found over all looks is found in 5 % at most."""
    from scipy.special import ndtr

    trial = trial_of(at=(1.0,), maximum=None, end=END if kind == "to the end" else None)
    peeks = [1000, 2000, 3000, 4000, 5000]
    rng = np.random.default_rng(2)
    paths = np.cumsum(rng.normal(0, np.sqrt(np.diff([0, *peeks])), (40_000, 5)), axis=1) / np.sqrt(peeks)
    limits, looks = [], list[TrialLook]()
    for units in peeks:
        rule = look_rule(trial, units, looks, queries=units, ended=kind == "to the end" and units == 5000)
        limits.append(rule.limit())
        looks += made(trial, units, queries=units, last=rule.last)
    alarms = float((2 * ndtr(-np.abs(paths)) < np.array(limits)).any(axis=1).mean())
    assert alarms < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40_000)


def test_always_valid_by_plan() -> None:
    trial = trial_of("always-valid", (1.0,))
    rule = look_rule(trial, 5000, made(trial, 300, 1000, 4000))
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
    trial = trial_of("pocock")
    limits = [look_rule(trial, units, made(trial, *peeks[:look])).limit() for look, units in enumerate(peeks)]
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


@pytest.mark.parametrize("kind", ["rare", "skewed"])
def test_always_valid_holds_from_the_burn_in_on(kind: str) -> None:
    """Unequal arms of rare or skewed values, looked at 60 times from the burn-in on: found in 5 % at most."""
    from cranfield.statistics.moments import Moments
    from cranfield.statistics.ratios import Ratio

    rng = np.random.default_rng(7)
    trial = trial_of("always-valid", (1.0,))
    peeks = np.unique(np.geomspace(BURN_IN, 10_000, 60).astype(int))
    limits = [look_rule(trial, int(units)).limit() for units in peeks]
    alarms, times = 0, 150
    for _ in range(times):
        if kind == "rare":
            values = (rng.random(10_000) < 0.02).astype(float)
        else:
            values = rng.lognormal(0, 1.5, 10_000) * (rng.random(10_000) < 0.2)
        treated = rng.random(10_000) < 0.25
        for units, limit in zip(peeks, limits, strict=True):
            arms = [Moments.of({"v": values[:units][treated[:units] == arm]}) for arm in (False, True)]
            if Ratio("v").compared(*arms).difference().p < limit:
                alarms += 1
                break
    assert alarms / times < 0.05
