"""A/A replay finds what it should, and something where tests are wrong; plans agree with formulas and with chance."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield.errors import UsageError
from cranfield.online import Trial, read_logs
from cranfield.online.analysis import PrePeriod, SeenPeriod, overview_of, plan_trial, pre_period, replay
from cranfield.online.analysis.planning import render_plan
from cranfield.online.analysis.replaying import dealt, render_replay
from cranfield.online.trial import Looks
from cranfield.online.trial_ledger import note_look
from cranfield.statistics.sizes import Sizing
from cranfield.statistics.unit_bootstrap import unit_hashes
from made_trials import START, searching_users

ARMS = {"old": 1.0, "new": 1.0}


def test_a_replay_of_a_real_effect_finds_it_no_more_often_than_alpha() -> None:
    logs = read_logs(searching_users(2, 500, effect=0.2))
    trial = Trial("t", ARMS, "ctr", secondary=("rr_first",), covariates=("before",))
    found = replay(logs, trial, times=400)
    for part in found.metrics:
        assert part.asked == 400
        assert part.low < 0.05 < part.high or abs(part.found / 400 - 0.05) < 0.035
        assert not part.off
    assert found.sample_ratio.found <= 3
    assert "as often as they should be" in str(found)
    assert found == replay(logs, trial, times=400)
    assert found != replay(logs, trial, times=400, seed=1)


def test_a_replay_tells_of_tests_that_are_wrong() -> None:
    """A handful of units with one that outweighs all others: t does not hold there, and the replay shows it."""
    import polars as pl

    frames = searching_users(2, 300)
    giant = frames["impressions"].head(1).with_columns(latency_ms=pl.lit(1e9))
    frames["impressions"] = pl.concat([giant, frames["impressions"].tail(-1)])
    found = replay(read_logs(frames), Trial("t", ARMS, "latency"), times=300)
    assert found.metrics[0].off
    assert "not as often as they should be (5%): latency" in found.verdict


def test_units_are_dealt_by_weights_anew_each_time() -> None:
    hashes = unit_hashes(map(str, range(20_000)))
    first, second = dealt(hashes, [1, 1, 2], 0), dealt(hashes, [1, 1, 2], 1)
    for arms in (first, second):
        assert np.bincount(arms) / 20_000 == pytest.approx([0.25, 0.25, 0.5], abs=0.015)
    together = np.mean((first == 2) & (second == 2))
    assert together == pytest.approx(0.25, abs=0.015)
    assert (first == dealt(hashes, [1, 1, 2], 0)).all()


def typed(value: float = 0.4, sd: float = 0.5, explained: float = 0.0) -> PrePeriod:
    return PrePeriod("ctr", (SeenPeriod(0, 0, value, sd),), explained)


def test_a_typed_plan_is_the_formula() -> None:
    plan = plan_trial(Trial("t", ARMS, "ctr"), typed(), 0.05)
    assert plan.arms["old"] == int(np.ceil(Sizing().mean(0.02, 0.5)))
    assert plan.maximum == 2 * plan.arms["old"]
    cuped = plan_trial(Trial("t", ARMS, "ctr"), typed(explained=0.36), 0.05)
    assert cuped.maximum / plan.maximum == pytest.approx(0.64, abs=0.001)
    negative = plan_trial(Trial("t", ARMS, "ctr"), typed(), -0.05)
    assert negative.maximum == plan.maximum


def test_looks_and_arms_cost_what_they_cost() -> None:
    one = plan_trial(Trial("t", ARMS, "ctr"), typed(), 0.05)
    looks = Looks("obrien-fleming", (0.2, 0.4, 0.6, 0.8, 1.0))
    five = plan_trial(Trial("t", ARMS, "ctr", maximum=1000, looks=looks), typed(), 0.05)
    assert five.inflation == pytest.approx(1.0247199, abs=1e-6)
    assert five.maximum / one.maximum == pytest.approx(1.0247, abs=0.001)
    assert [look.units for look in five.looks][-1] == five.maximum
    assert five.looks[0].limit < five.looks[-1].limit < 0.05
    three = plan_trial(Trial("t", {"a": 1, "b": 1, "c": 1}, "ctr"), typed(), 0.05)
    assert three.arms["a"] > one.arms["old"]
    always = plan_trial(Trial("t", ARMS, "ctr", looks=Looks("always-valid")), typed(), 0.05)
    assert 1.5 < always.inflation < 2.5
    unequal = plan_trial(Trial("t", {"a": 9, "b": 1}, "ctr"), typed(), 0.05)
    assert unequal.arms["a"] == pytest.approx(9 * unequal.arms["b"], abs=9)
    assert unequal.maximum > one.maximum


def test_what_was_planned_is_what_can_be_found() -> None:
    plan = plan_trial(Trial("t", ARMS, "ctr"), typed(), 0.05)
    again = plan_trial(Trial("t", ARMS, "ctr", maximum=plan.maximum), typed(), 0.05)
    assert again.planned == pytest.approx(0.05, rel=1e-3)


def test_weeks_count_every_unit_once() -> None:
    frames = searching_users(6, 1500, days=28)
    before = pre_period(read_logs(frames), Trial("t", ARMS, "ctr", covariates=("before",)))
    times = frames["impressions"]
    for period in before.periods:
        import polars as pl

        until = START.timestamp() + period.days * 86_400
        seen = times.filter(pl.col("ts") < datetime.fromtimestamp(until, UTC))["user_id"].n_unique()
        assert period.units == seen
    assert [period.days for period in before.periods] == [7, 14, 21, 28]
    assert 0.05 < before.explained < 0.5
    assert before.explained_by == "the covariates before"
    assert before.after(8).units < 2 * before.periods[-1].units
    assert not before.after(8).told


def test_without_covariates_the_first_half_of_the_log_explains() -> None:
    frames = searching_users(6, 1500, days=28)
    del frames["covariates"]
    before = pre_period(read_logs(frames), Trial("t", ARMS, "ctr", covariates=("before",)))
    assert 0 < before.explained < 0.3
    assert "first half of the log" in before.explained_by


def test_a_plan_from_a_log_lasts_until_there_are_units_enough() -> None:
    frames = searching_users(6, 3000, days=28)
    trial = Trial("t", ARMS, "ctr")
    before = pre_period(read_logs(frames), trial)
    plan = plan_trial(trial, before, 0.15)
    assert plan.duration is not None
    enough = [week.weeks for week in plan.weeks if week.units >= week.needed]
    assert plan.duration == enough[0]
    assert f"That takes {plan.duration} week" in str(plan)
    less = plan_trial(trial, before, 0.15, taking_part=0.1)
    assert less.duration is None or less.duration > plan.duration
    never = plan_trial(trial, before, 0.001)
    assert never.duration is None
    assert "Not even 26 weeks bring as many" in " ".join(str(never).split())


@pytest.mark.parametrize(
    ("before", "effect", "told"),
    [
        (typed(value=0.0), 0.1, "an effect relative to it is none"),
        (typed(), 0.0, "not 0"),
        (PrePeriod("ctr", (SeenPeriod(7, 5, 0.4, 0.0),)), 0.1, "does not vary over 5 units"),
    ],
)
def test_what_cannot_be_planned_is_refused(before: PrePeriod, effect: float, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plan_trial(Trial("t", ARMS, "ctr"), before, effect)


@pytest.mark.parametrize("format", ["table", "json", "csv", "tsv", "markdown", "latex", "html"])
def test_every_form(format: str) -> None:
    hostile = Trial("<script>\x1b", {"<script>a": 1, "b": 1}, "ctr")
    plan = render_plan(plan_trial(hostile, typed(), 0.05), format)
    logs = read_logs(searching_users(2, 60, arms=("<script>a", "b")))
    again = render_replay(replay(logs, hostile, times=10), format)
    listed = overview_of([hostile])._rendered(format)
    for text in (plan, again, listed):
        assert format in ("csv", "tsv") or "\x1b" not in text  # the terminal escapes what a file keeps
        assert format not in ("html", "markdown") or "<script" not in text


def test_looks_that_were_not_planned_are_counted(tmp_path: Path) -> None:
    trial, ledger = Trial("t", ARMS, "ctr", maximum=1000), str(tmp_path / "ledger")
    for units in (300, 300, 1000):
        note_look(ledger, trial, units, queries=units, last=False)
    found = overview_of([trial], ledger=ledger)
    assert (found.trials[0].looks, found.trials[0].planned, found.trials[0].unplanned) == (2, 1, 1)
    assert re.search(r"looks +planned +unplanned.*\n.* 2 +1 +1 +1,000 +100.0%", found._rendered("table"))
    assert found._rendered("csv").splitlines()[1].endswith(",2,1,1000,1000,no,1")


def named(name: str, salt: str, start: int, end: int, **more: Any) -> Trial:
    return Trial(name, ARMS, "ctr", salt=salt, start=START.replace(day=start), end=START.replace(day=end), **more)


def test_trials_in_one_layer_at_one_time_are_told() -> None:
    def codes(*trials: Trial) -> list[str]:
        return [warning.code for warning in overview_of(trials).warnings]

    first = named("first", "s", 2, 10)
    assert codes(first, named("second", "s", 9, 12)) == ["same-salt"]
    assert codes(first, named("second", "s", 10, 12)) == []
    assert codes(first, named("second", "other", 9, 12)) == []
    assert codes(first, named("first", "s", 9, 12)) == ["same-name"]
