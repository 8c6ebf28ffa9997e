"""Each verdict on data that give it; data of which nothing can be said; asking more never makes a decision easier."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cranfield.errors import UsageError
from cranfield.online import Trial, all_metrics
from cranfield.online.analysis import TrialAnalysis, analyse
from cranfield.online.analysis.trial_page import page_of
from cranfield.online.analysis.verdicts import DECISIONS
from cranfield.online.metrics import Better
from cranfield.online.trial import Guardrail, Looks, OwnMetric
from cranfield.online.trial_ledger import TrialLook
from cranfield.statistics.significance import Floats
from made_trials import Values, trial_aggregate

ARMS = {"old": 1.0, "new": 1.0}
RNG = np.random.default_rng(5)


def units_around(mean: float) -> Floats:
    """600 units whose mean is this one, and whose standard deviation is 1."""
    drawn = RNG.normal(0, 1, 600)
    return np.asarray(mean + (drawn - drawn.mean()) / drawn.std(ddof=1))


FLAT = units_around(10)
SHIFTED = {size: units_around(10 + size) for size in (-1.0, -0.3, 0.0, 0.3, 1.0)}


def trial_of(primary: str = "value_per_unit", **more: Any) -> Trial:
    return Trial("t", ARMS, primary, **more)


def analysed(trial: Trial, old: Values, new: Values, **more: Any) -> TrialAnalysis:
    return analyse(trial_aggregate(trial, {"old": old, "new": new}), trial, **more)


def of_primary(shift: float, **more: Any) -> TrialAnalysis:
    trial = trial_of(**more)
    return analysed(trial, {"value_per_unit": FLAT}, {"value_per_unit": SHIFTED[shift]})


@pytest.mark.parametrize(
    ("shift", "decision", "told"),
    [
        (0.3, "ship", "it is better by the primary metric: value_per_unit +0.3"),
        (-0.3, "do not ship", "it is worse by the primary metric: value_per_unit -0.3"),
        (0.0, "do not ship", "no gain was shown by the last look"),
    ],
)
def test_the_primary_metric_decides_at_the_one_look(shift: float, decision: str, told: str) -> None:
    found = of_primary(shift)
    assert found.decision == decision
    assert told in found.verdicts[0].why
    assert str(found).startswith(decision.capitalize())


def test_an_early_look_that_shows_nothing_cannot_tell_yet() -> None:
    found = of_primary(0.0, maximum=2400, looks=Looks("obrien-fleming", (0.5, 1.0)))
    assert (found.decision, found.rule.method, found.rule.planned) == ("cannot tell yet", "group sequential", True)
    assert "neither a gain nor a loss is shown" in found.verdicts[0].why


@pytest.mark.parametrize(
    ("shift", "decision", "told"),
    [
        (1.0, "do not ship", "it breaks the guardrail latency: worse by 1, more than its margin of 0.5"),
        (0.0, "ship", "the guardrail latency holds"),
    ],
)
def test_a_guardrail_decides_too(shift: float, decision: str, told: str) -> None:
    trial = trial_of(guardrails=(Guardrail("latency", 0.5),))
    old = {"value_per_unit": FLAT, "latency": FLAT}
    found = analysed(trial, old, {"value_per_unit": SHIFTED[1.0], "latency": SHIFTED[shift]})
    assert (found.decision, told in found.verdicts[0].why) == (decision, True)


def test_an_open_guardrail_waits_and_at_the_last_look_stops_it() -> None:
    looks: dict[str, Any] = {"maximum": 2400, "looks": Looks("pocock", (0.5, 1.0))}
    for more, decision in ((looks, "cannot tell yet"), ({}, "do not ship")):
        trial = trial_of(guardrails=(Guardrail("latency", 0.02),), **more)
        old = {"value_per_unit": FLAT, "latency": FLAT}
        found = analysed(trial, old, {"value_per_unit": SHIFTED[1.0], "latency": FLAT[::-1]})
        assert found.guardrails[0].standing == "open"
        assert found.decision == decision
        assert "but the guardrail latency is not shown to hold" in found.verdicts[0].why


def test_a_margin_of_nothing_is_held_only_by_a_gain() -> None:
    trial = trial_of(guardrails=(Guardrail("latency", 0.0),))
    for shift, standing in ((-1.0, "held"), (0.0, "open"), (1.0, "broken")):
        values = {"value_per_unit": SHIFTED[1.0], "latency": SHIFTED[shift]}
        found = analysed(trial, {"value_per_unit": FLAT, "latency": FLAT}, values)
        assert found.guardrails[0].standing == standing


def test_a_sample_ratio_that_is_off_withholds_every_effect() -> None:
    trial = trial_of(secondary=("rr_first",), guardrails=(Guardrail("latency", 0.5),))
    old = dict.fromkeys(trial.metric_names, FLAT)
    new = dict.fromkeys(trial.metric_names, SHIFTED[1.0][:400])
    found = analysed(trial, old, new)
    assert (found.decision, found.withheld, found.overridden) == ("data broken", True, False)
    for name in ("primary", "secondary", "guardrails", "guarded", "segments", "triggered", "worse", "course"):
        assert getattr(found, name) == (), name
    assert "old has 600 units (60.00%) where 500 are expected" in found.verdicts[0].why
    assert "Effects are withheld" in str(found)
    assert "Primary" not in str(found)


def test_who_asks_for_effects_all_the_same_gets_them_and_the_result_says_so() -> None:
    trial = trial_of()
    old, new = {"value_per_unit": FLAT}, {"value_per_unit": SHIFTED[1.0][:400]}
    found = analysed(trial, old, new, despite_mismatch=True)
    assert (found.decision, found.withheld, found.overridden) == ("data broken", False, True)
    assert found.primary[0].standing == "better"
    assert "effects are shown because that was asked for, and decide nothing" in found.verdicts[0].why
    assert "mismatch-overridden" in {warning.code for warning in found.warnings}
    sound = analysed(trial, old, {"value_per_unit": SHIFTED[1.0]}, despite_mismatch=True)
    assert not sound.overridden


def test_an_empty_arm_is_broken_whatever_is_asked() -> None:
    found = analysed(trial_of(), {"value_per_unit": FLAT}, {"value_per_unit": []}, despite_mismatch=True)
    assert (found.decision, found.withheld) == ("data broken", True)
    assert "no unit is in the arm new" in found.verdicts[0].why


@pytest.mark.parametrize(
    ("old", "new", "decision"),
    [
        ([1.0], [2.0], "cannot tell yet"),
        ([1.0, 2.0], [2.0], "cannot tell yet"),
        ([1.0, 2.0], [2.0, 3.0], "do not ship"),
        ([5.0] * 50, [5.0] * 50, "do not ship"),
        ([5.0] * 50, [6.0] * 50, "ship"),
        ([6.0] * 50, [5.0] * 50, "do not ship"),
        ([5.0] * 2, [6.0] * 2, "do not ship"),
        ([0.0] * 50, [0.0] * 50, "do not ship"),
    ],
    ids=["one-unit", "one-unit-in-an-arm", "two-units", "equal", "all-better", "all-worse", "two-each", "nothing"],
)
def test_degenerate_data_are_decided(old: list[float], new: list[float], decision: str) -> None:
    found = analysed(trial_of(), {"value_per_unit": old}, {"value_per_unit": new})
    assert found.decision == decision
    assert found.decision in DECISIONS
    for format in ("table", "html"):
        assert "nan" not in found._rendered(format).lower()


def test_an_all_worse_arm_is_worse_and_not_only_unproven() -> None:
    found = analysed(trial_of(), {"value_per_unit": [6.0] * 50}, {"value_per_unit": [5.0] * 50})
    assert found.primary[0].standing == "worse"


def mirrored(values: Values) -> Values:
    return {name: -np.asarray(each, dtype=float) for name, each in values.items()}


@pytest.mark.parametrize("metric", [m for m in all_metrics() if m.better != "neither" and not m.is_quantile], ids=str)
@pytest.mark.parametrize("shift", [-0.3, 0.0, 0.3])
def test_a_loss_mirrors_a_gain(metric: Any, shift: float) -> None:
    """The twin of a metric with its sign turned, declared the other way round, gets the same decisions."""
    other: Better = "less" if metric.better == "more" else "more"
    twin = {"twin": OwnMetric("queries", "units", other), "rail twin": OwnMetric("queries", "units", other)}
    rail = OwnMetric("queries", "units", metric.better)
    first = Trial("t", ARMS, metric.name, guardrails=(Guardrail("rail", 0.2),), metrics={"rail": rail})
    second = Trial("t", ARMS, "twin", guardrails=(Guardrail("rail twin", 0.2),), metrics=twin)
    old, new = {metric.name: FLAT, "rail": FLAT}, {metric.name: SHIFTED[shift], "rail": SHIFTED[0.0]}
    names = {metric.name: "twin", "rail": "rail twin"}
    one = analysed(first, old, new)
    two = analysed(second, *({names[key]: v for key, v in mirrored(values).items()} for values in (old, new)))
    assert one.decision == two.decision
    assert one.primary[0].standing == two.primary[0].standing
    assert one.primary[0].gain == pytest.approx(two.primary[0].gain)
    assert one.guardrails[0].standing == two.guardrails[0].standing
    assert one.guardrails[0].worst == pytest.approx(two.guardrails[0].worst)
    assert [lost.arm for lost in one.worse] == [lost.arm for lost in two.worse]
    assert [lost.lost for lost in one.worse] == pytest.approx([lost.lost for lost in two.worse])
    gain = shift if metric.better == "more" else -shift
    assert (one.primary[0].standing == "better") == (gain > 0)


LOOSE = ("do not ship", "cannot tell yet", "ship")  # each is easier to act upon than the one before


@pytest.mark.parametrize("seed", range(12))
def test_asking_more_never_makes_a_decision_easier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = ("latency", "zero_results", "reformulation")
    values = {name: rng.normal(10, 1, 200) for name in ("value_per_unit", "rr_first", "ctr", *names)}
    other = {name: rng.normal(10 + rng.normal(0, 0.15), 1, 200) for name in values}
    other["value_per_unit"] = values["value_per_unit"] + 0.2
    last = len(LOOSE)
    found_before: set[str] | None = None
    for count in range(len(names) + 1):
        rails = tuple(Guardrail(name, 0.3) for name in names[:count])
        found = analysed(trial_of(guardrails=rails), values, other)
        place = LOOSE.index(found.decision)
        assert place <= last
        last = place
    for secondary in (("rr_first",), ("rr_first", "ctr"), ("rr_first", "ctr", *names)):
        found = analysed(trial_of(secondary=secondary), values, other)
        now = {effect.metric for effect in found.secondary if effect.found}
        assert found_before is None or (now & {"rr_first"}) <= found_before
        found_before = now & {"rr_first"}


def test_more_arms_share_alpha() -> None:
    values = {"value_per_unit": FLAT}
    limits = []
    for names in (("new",), ("new", "newer"), ("new", "newer", "newest")):
        arms = dict.fromkeys(("old", *names), 1.0)
        trial = Trial("t", arms, "value_per_unit")
        found = analyse(trial_aggregate(trial, dict.fromkeys(arms, values)), trial)
        assert [verdict.arm for verdict in found.verdicts] == list(names)
        limits.append(found.primary[0].limit)
    assert limits == pytest.approx([0.05, 0.025, 0.05 / 3])


def test_moments_of_another_plan_are_refused() -> None:
    trial = trial_of()
    found = trial_aggregate(trial, {"old": {"value_per_unit": FLAT}, "new": {"value_per_unit": FLAT}})
    changed = replace(trial, alpha=0.1)
    with pytest.raises(UsageError, match=f"the digest {trial.digest}, and that of t is {changed.digest}"):
        analyse(found, changed)


def test_a_plan_that_was_changed_after_a_look_is_told() -> None:
    trial = trial_of()
    looks = [TrialLook("2026-11-03", "t", "another", 100), TrialLook("2026-11-04", "t", trial.digest, 1200)]
    found = analysed(trial, {"value_per_unit": FLAT}, {"value_per_unit": FLAT}, looks=looks)
    told = [warning for warning in found.warnings if warning.code == "trial-changed"]
    assert len(told) == 1
    assert "changed after results were seen" in told[0].message


def test_what_a_changed_plan_says_is_said_to_be_unplanned_beside_the_verdict() -> None:
    trial = trial_of(maximum=2400, looks=Looks("pocock", (0.5, 1.0)))
    values = {"value_per_unit": FLAT}, {"value_per_unit": SHIFTED[1.0]}
    looks = [TrialLook("2026-11-03", "t", "another", 1200)]
    found, same = analysed(trial, *values, looks=looks), analysed(trial, *values)
    text, page = str(found), page_of(found)
    told = "The plan was changed after results were seen: its digest is"
    assert told in " ".join(text.split("Trial t, digest")[0].split())
    assert "What it says now was not planned, and neither was this verdict." in " ".join(text.split())
    assert told in page
    assert "Its plan was changed after results were seen." in page
    assert "The plan, as it is now, changed after results were seen" in page
    for before in (" as planned", "as it was fixed"):
        assert before not in text + page
        assert before in str(same) + page_of(same)
    assert json.loads(found._rendered("json"))["look"]["planned"] is False
    assert json.loads(same._rendered("json"))["look"]["planned"] is True
    assert same.changed is None


def test_once_alpha_is_used_up_intervals_end_and_nothing_is_decided() -> None:
    trial = trial_of(secondary=("rr_first",), guardrails=(Guardrail("latency", 0.5),))
    old = dict.fromkeys(trial.metric_names, FLAT)
    new = {"value_per_unit": SHIFTED[1.0], "rr_first": SHIFTED[1.0], "latency": SHIFTED[0.0]}
    looks = [TrialLook("2026-11-03", "t", trial.digest, 900, 900, True)]
    first, found = analysed(trial, old, new), analysed(trial, old, new, looks=looks)
    assert first.decision == "ship"
    assert found.decision == "cannot tell yet"
    assert found.verdicts[0].why.startswith(
        "the last look of the plan, with 900 units, used up all of alpha, so what it said stands and this one decides "
        "nothing: value_per_unit +1 ("
    )
    effect = found.primary[0]
    assert (effect.limit, effect.standing) == (0.0, "open")
    assert first.primary[0].low > effect.low > 0.5
    assert (found.secondary[0].standing, np.isfinite(found.secondary[0].low)) == ("open", True)
    rail = found.guardrails[0]
    assert (rail.standing, np.isfinite(rail.worst)) == ("open", True)
    assert "nothing can be found at this look; the interval (" in str(found)
    assert "is always valid, and decides nothing" in str(found)


def test_arms_that_are_all_to_be_shipped_were_not_compared_with_each_other() -> None:
    arms = dict.fromkeys(("old", "new", "newer"), 1.0)
    trial = Trial("t", arms, "value_per_unit")
    told = "new and newer were each compared with old, and not with each other: which of them is best is not shown."
    for last, there in ((SHIFTED[1.0], True), (FLAT, False)):
        values = {"old": FLAT, "new": SHIFTED[1.0], "newer": last}
        made = trial_aggregate(trial, {arm: {"value_per_unit": each} for arm, each in values.items()})
        found = analyse(made, trial)
        assert (told in " ".join(str(found).split()), told in page_of(found)) == (there, there)
        assert "each arm was compared with old, and none with another" in str(found)
    assert "none with another" not in str(of_primary(0.3))


@pytest.mark.parametrize("seed", range(8))
def test_the_interval_leaves_out_nothing_exactly_where_something_is_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    trial = trial_of(secondary=("rr_first", "ctr", "latency"), maximum=400, looks=Looks("pocock", (0.5, 1.0)))
    old = {name: rng.normal(10, 1, 100) for name in trial.metric_names}
    new = {name: rng.normal(10 + rng.normal(0, 0.4), 1, 100) for name in trial.metric_names}
    found = analysed(trial, old, new)
    for effect in (*found.primary, *found.secondary):
        assert (not effect.low <= 0 <= effect.high) == effect.found == (effect.p < effect.limit)
        assert (not effect.relative_low <= 0 <= effect.relative_high) == effect.found
