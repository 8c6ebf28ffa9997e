"""Every caution has data that give it, and data that do not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from cranfield.online import Trial, aggregate, read_logs
from cranfield.online.analysis import TrialAnalysis, analyse
from cranfield.online.moments_files import Excluded
from cranfield.online.trial import Cap, Guardrail, Looks, OwnMetric
from cranfield.online.trial_ledger import TrialLook
from made_trials import START, searching_users, trial_aggregate

ARMS = {"old": 1.0, "new": 1.0}


def codes(result: TrialAnalysis) -> set[str]:
    return {warning.code for warning in result.warnings}


def of_units(old: Any, new: Any, parts: Any = None, **more: Any) -> TrialAnalysis:
    trial = Trial("t", ARMS, "value_per_unit", **more)
    names = trial.metric_names
    wide = [dict.fromkeys(names, np.asarray(values, dtype=float)) for values in (old, new)]
    return analyse(trial_aggregate(trial, dict(zip(ARMS, wide, strict=True)), parts), trial)


def normal(seed: int, count: int = 400, mean: float = 10.0) -> Any:
    return np.random.default_rng(seed).normal(mean, 1, count)


def test_nothing_odd_is_nothing_said() -> None:
    assert codes(of_units(normal(1), normal(2))) == set()


def test_few_units() -> None:
    found = of_units(normal(1, 29), normal(2, 30))
    assert [w.message.split(":")[0] for w in found.warnings if w.code == "few-units"] == ["the arm old has 29 units"]
    assert "few-units" not in codes(of_units(normal(1, 30), normal(2, 30)))


def test_an_effect_too_good_to_be_true() -> None:
    assert "too-good-to-be-true" in codes(of_units(normal(1), normal(2, mean=16)))
    assert "too-good-to-be-true" in codes(of_units(normal(1), normal(2, mean=10.8)))  # p below 1e-8
    assert "too-good-to-be-true" not in codes(of_units(normal(1), normal(2, mean=10.3)))


def test_a_secondary_metric_that_is_worse() -> None:
    found = of_units(normal(1), normal(2, mean=10.5), secondary=("latency",))
    assert (found.decision, "secondary-worse" in codes(found)) == ("ship", True)
    assert "secondary-worse" not in codes(of_units(normal(1), normal(2, mean=9.5), secondary=("latency",)))


def test_a_complement_with_an_effect() -> None:
    def parts(mean: float) -> Any:
        values = {"old": {"value_per_unit": normal(3)}, "new": {"value_per_unit": normal(4, mean=mean)}}
        return {("triggered", "exposed"): values, ("triggered", "complement"): values}

    assert "complement-differs" in codes(of_units(normal(1), normal(2), parts(11)))
    assert "complement-differs" not in codes(of_units(normal(1), normal(2), parts(10)))


def test_a_segment_whose_sample_ratio_is_off() -> None:
    def parts(count: int) -> Any:
        values = {"old": {"value_per_unit": normal(3)}, "new": {"value_per_unit": normal(4, count)}}
        return {("segment:device", "phone"): values}

    found = of_units(normal(1), normal(2), parts(200), segments=("device",))
    assert "sample-ratio-of-parts" in codes(found)
    assert "device = phone" in str(found)
    assert not found.withheld
    assert "sample-ratio-of-parts" not in codes(of_units(normal(1), normal(2), parts(390), segments=("device",)))


def test_fewer_units_than_planned_and_unplanned_looks() -> None:
    early = of_units(normal(1), normal(2), maximum=8000)
    assert "unplanned-look" in codes(early)
    looks = {"maximum": 1600, "looks": Looks("pocock", (0.5, 1.0))}
    assert codes(of_units(normal(1), normal(2), **looks)) == set()


def test_what_was_not_planned_is_told_of_the_look_that_it_was() -> None:
    trial = Trial("t", ARMS, "value_per_unit", maximum=1600, looks=Looks("pocock", (0.5, 1.0)))
    values = {arm: {"value_per_unit": normal(seed)} for seed, arm in enumerate(ARMS)}

    def told(*looks: tuple[int, bool]) -> str:
        made = [TrialLook("2026-11-03", "t", trial.digest, units, 9, last) for units, last in looks]
        found = analyse(trial_aggregate(trial, values), trial, looks=made)
        (caution,) = [w.message for w in found.warnings if w.code == "unplanned-look"]
        assert found.rule.why.startswith("An earlier" if caution.startswith("an earlier") else "This look was not")
        return caution

    assert told((500, False)).startswith("an earlier look was not planned: intervals are always valid since then")
    assert told((500, True)).startswith("this look was not planned, and an earlier one used up all of alpha: neither")
    assert told((800, False)).startswith("this look was not planned: its intervals are always valid")


def test_an_always_valid_find_is_said_to_be_biased() -> None:
    looks = {"maximum": 1600, "looks": Looks("always-valid")}
    assert "biased-estimate" in codes(of_units(normal(1), normal(2, mean=10.5), **looks))
    assert "biased-estimate" not in codes(of_units(normal(1), normal(2), **looks))


def test_units_in_two_arms() -> None:
    from dataclasses import replace

    trial = Trial("t", ARMS, "value_per_unit")
    values = {"old": {"value_per_unit": normal(1)}, "new": {"value_per_unit": normal(2)}}
    found = trial_aggregate(trial, values)
    for units, told in ((20, True), (5, False)):
        left_out = replace(found, excluded=(Excluded("of a unit in two arms", units, 90, 3),))
        result = analyse(left_out, trial)
        assert ("units-in-two-arms" in codes(result)) == told
        assert "of a unit in two arms" in str(result)


@pytest.fixture(scope="module")
def logs() -> dict[str, Any]:
    return searching_users(3, 900, effect=0.05)


def of_log(frames: dict[str, Any], **more: Any) -> TrialAnalysis:
    trial = Trial("t", ARMS, **({"primary": "ctr", "covariates": ("before",)} | more))
    return analyse(aggregate(read_logs(frames), trial), trial)


def test_part_weeks(logs: dict[str, Any]) -> None:
    import polars as pl

    assert "part-weeks" not in codes(of_log(logs))
    cut = logs["impressions"].filter(pl.col("ts") < START.replace(day=START.day + 9))
    found = of_log(logs | {"impressions": cut})
    told = [warning for warning in found.warnings if warning.code == "part-weeks"]
    assert "1 week and 2 days" in told[0].message
    assert not told[0].doubtful
    one = logs["impressions"].filter(pl.col("ts") < START.replace(day=START.day + 1))
    only = [w for w in of_log(logs | {"impressions": one}).warnings if w.code == "part-weeks"]
    assert (only[0].doubtful, "covers 1 day," in only[0].message) == (True, True)


def test_a_trial_that_ended_with_fewer_units_than_planned(logs: dict[str, Any]) -> None:
    for maximum, told in ((2000, True), (900, False)):
        found = of_log(logs, maximum=maximum, end=START + timedelta(days=14))
        assert found.rule.final
        assert ("fewer-units-than-planned" in codes(found)) == told
    going_on = of_log(logs, maximum=2000, end=START + timedelta(days=15))
    assert not going_on.rule.final
    assert "unplanned-look" in codes(going_on)


def test_without_a_maximum_the_one_look_is_when_the_log_reaches_the_end(logs: dict[str, Any]) -> None:
    """It has queries of the last day, or later ones, which do not count."""
    last = START + timedelta(days=13, hours=23)
    for end, planned in ((last, True), (last + timedelta(hours=2), False), (last - timedelta(days=5), True)):
        found = of_log(logs, end=end)
        assert (found.rule.planned, found.rule.final) == (planned, planned)
    import polars as pl

    late = START + timedelta(days=20)
    shown = logs["impressions"]
    stamps = pl.when(pl.int_range(pl.len()) == 0).then(pl.lit(late)).otherwise(pl.col("ts"))
    one = shown.with_columns(ts=stamps.cast(shown.schema["ts"]))
    assert not of_log(logs, end=START + timedelta(days=18)).rule.planned
    assert of_log(logs | {"impressions": one}, end=START + timedelta(days=18)).rule.planned


def test_once_alpha_is_used_up_the_course_and_its_parts_have_ends(logs: dict[str, Any]) -> None:
    trial = Trial("t", ARMS, "ctr", covariates=("before",), segments=("device",))
    looks = [TrialLook("2026-11-03", "t", trial.digest, 500, 500, True)]
    found = analyse(aggregate(read_logs(logs), trial), trial, looks=looks)
    assert found.rule.exhausted
    wide: list[Any] = [
        *found.triggered,
        *found.segments,
        found.adjusted[0].regression,
        found.adjusted[0].plain,
        found.course[-1],
    ]
    assert len(wide) > 6
    assert all(np.isfinite([each.low, each.high]).all() for each in wide)


def test_a_covariate_that_the_treatment_changed(logs: dict[str, Any]) -> None:
    import polars as pl

    assert "covariate-differs" not in codes(of_log(logs))
    arms = logs["covariates"].join(logs["assignments"], on="unit_id")
    value = pl.when(pl.col("variant") == "new").then(pl.col("value") + 3).otherwise(pl.col("value"))
    changed = arms.with_columns(value.alias("value")).select("unit_id", "metric", "value")
    assert "covariate-differs" in codes(of_log(logs | {"covariates": changed}))
    half = logs["covariates"].head(300)
    assert "unknown-covariates" in codes(of_log(logs | {"covariates": half}))


def test_a_denominator_that_the_treatment_moves(logs: dict[str, Any]) -> None:
    import polars as pl

    assert "denominator-moved" not in codes(of_log(logs))
    arms = logs["assignments"].rename({"unit_id": "user_id"}).select("user_id", "variant")
    twice = logs["impressions"].join(arms.filter(pl.col("variant") == "new"), on="user_id").drop("variant")
    more = twice.with_columns(query_id=pl.lit("again-") + pl.col("query_id"))
    found = of_log(logs | {"impressions": pl.concat([logs["impressions"], more])})
    told = [warning.message for warning in found.warnings if warning.code == "denominator-moved"]
    assert len(told) == 1
    assert "what it is divided by changed by +" in told[0]


def test_winsorised_and_censored(logs: dict[str, Any]) -> None:
    own = {"searches": OwnMetric("queries", "units")}
    caps = {"searches": Cap(quantile=0.95)}
    found = of_log(logs, primary="searches", secondary=("time_to_click",), metrics=own, winsorise=caps)
    assert {"winsorised", "censored"} <= codes(found)
    shares = next(w.message for w in found.warnings if w.code == "censored")
    assert "old 6" in shares or "old 5" in shares


def test_an_effect_that_wears_off() -> None:
    import polars as pl

    frames = searching_users(8, 3000, effect=0.0)
    first = frames["impressions"].group_by("user_id").agg(pl.col("ts").min().alias("first"))
    arms = frames["assignments"].rename({"unit_id": "user_id"}).select("user_id", "variant")
    shown = frames["impressions"].join(first, on="user_id").join(arms, on="user_id")
    new = shown.filter((pl.col("variant") == "new") & (pl.col("ts") == pl.col("first")))
    clicks = new.select("query_id", "ts", pl.lit("click").alias("action"), pl.lit(1).cast(pl.Int64).alias("rank"))
    events = pl.concat([frames["events"], clicks])
    assert "effect-changes" not in codes(of_log(frames))
    found = of_log(frames | {"events": events})
    assert "effect-changes" in codes(found)
    assert found.fading[0].slope < 0


def test_guardrails_are_told_with_their_margin(logs: dict[str, Any]) -> None:
    found = of_log(logs, guardrails=(Guardrail("latency", 0.05, relative=True),), secondary=("rr_first",))
    assert "5.00%" in str(found)
    assert found.guardrails[0].standing == "held"
