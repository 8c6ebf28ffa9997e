"""Pictures of a trial say what its tables say: guardrails by their margins, looks by the plan, shares by the arm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cranfield.online import Trial, aggregate, read_logs
from cranfield.online.analysis import TrialAnalysis, analyse
from cranfield.online.analysis.course_pictures import effect_course, sample_course
from cranfield.online.analysis.effect_pictures import STANDINGS, effects_forest, segments_forest
from cranfield.online.analysis.looking import look_rule
from cranfield.online.analysis.trial_page import page_of
from cranfield.online.trial import Guardrail, Looks
from cranfield.online.trial_ledger import TrialLook
from cranfield.plot.style import Chart, caption_of
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.margins import non_inferior
from made_trials import searching_users, trial_aggregate

LOOKS = (510, 1003)


def analysed(
    *rails: Guardrail, looks: tuple[int, ...] = LOOKS, arms: tuple[str, ...] = ("old", "new")
) -> TrialAnalysis:
    trial = Trial(
        "ranker",
        dict.fromkeys(arms, 1),
        primary="ctr",
        secondary=("abandonment", "queries_per_unit"),
        guardrails=rails,
        segments=("device",),
        maximum=2000,
        looks=Looks("obrien-fleming", (0.25, 0.5, 1.0)),
    )
    logs = read_logs(searching_users(4, 2000, effect=0.08))
    made = [TrialLook("then", trial.name, trial.digest, units) for units in looks]
    return analyse(aggregate(logs, trial), trial, looks=made)


def layer(chart: Chart, place: int = 0) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = chart.to_dict()["layer"][place]["data"]["values"]
    return values


RAILS = (
    Guardrail("latency", 0.001),  # that little cannot be ruled out
    Guardrail("ctr", 0.5, relative=True),
    Guardrail("rr_first", 0.0001, relative=True),
    Guardrail("abandonment", 0.2),
)


@pytest.fixture(scope="module")
def found() -> TrialAnalysis:
    return analysed(*RAILS)


def test_guardrails_are_drawn_as_their_table_has_them(found: TrialAnalysis) -> None:
    chart = effects_forest(found)
    rows = {row["label"]: row for row in layer(chart) if "margin" in row}
    assert len(rows) == len(RAILS)
    assert [rail.standing for rail in found.guardrails] == ["open", "held", "held", "held"]
    for rail, row in zip(found.guardrails, rows.values(), strict=True):
        assert rail.metric in row["label"]
        assert row["standing"] == rail.standing
        less = rail.metric in ("latency", "abandonment")
        assert row["label"].startswith("← " if less else "→ ")
        assert (row["margin"] > 0) == less  # on the side that is worse
        if rail.standing == "held":
            assert row["high"] < row["margin"] if less else row["low"] > row["margin"]
        if rail.standing == "open":
            assert row["low"] <= row["margin"] <= row["high"]
    relative = found.guardrails[1]
    drawn = rows["→ ctr (guardrail)"]
    assert (drawn["low"], drawn["high"], drawn["margin"]) == (-relative.worst, -relative.least, -relative.margin)
    absolute, control = found.guardrails[0], found.guarded[0].control
    drawn = rows["← latency (guardrail)"]
    assert drawn["high"] == pytest.approx(absolute.worst / control)
    assert drawn["value"] == pytest.approx(absolute.harm / control)
    assert "The upright stroke of a guardrail is its margin" in caption_of(chart)


def test_what_breaks_is_wholly_beyond_its_margin() -> None:
    worse = analysed(Guardrail("ctr", 0.01))
    turned = replace(
        worse, guardrails=tuple(rail._replace(standing="broken", worst=0.3, least=0.2) for rail in worse.guardrails)
    )
    (row,) = (row for row in layer(effects_forest(turned)) if "margin" in row)
    assert row["standing"] == "broken"
    assert row["high"] < row["margin"] < 0
    colours = effects_forest(turned).to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert colours["range"][colours["domain"].index("broken")] == STANDINGS["broken"]


def test_the_legend_has_what_is_drawn_and_no_more(found: TrialAnalysis) -> None:
    chart = effects_forest(found).to_dict()
    assert set(chart["layer"][0]["encoding"]["color"]["scale"]["domain"]) == {
        row["standing"] for row in layer(effects_forest(found))
    }
    assert len(set(STANDINGS.values())) == len(STANDINGS)
    assert "margin" not in caption_of(effects_forest(replace(found, guardrails=(), guarded=())))


def test_the_side_that_is_better_is_told(found: TrialAnalysis) -> None:
    labels = [row["label"] for row in layer(effects_forest(found))]
    assert "→ ctr (primary)" in labels
    assert "← abandonment (secondary)" in labels
    assert "queries_per_unit (secondary)" in labels
    assert "an arrow points to the side that is better" in caption_of(effects_forest(found))
    title = segments_forest(found).to_dict()["layer"][0]["encoding"]["x"]["title"]
    assert title == "difference of ctr: more is better"


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("treatment", [0.25, 0.27, 0.29, 0.31])
def test_the_least_harm_is_beyond_the_margin_exactly_where_it_is_broken(treatment: float, relative: bool) -> None:
    arms = TwoArms(0.30, treatment, 4e-6, 4e-6)
    margin = 0.1 if relative else 0.03
    result = non_inferior(arms, margin, relative=relative)
    assert (result.least > margin) == (result.standing == "broken") == (result.p_broken < 0.05)
    assert result.least <= result.worst


def test_only_planned_looks_have_intervals_of_the_plan(found: TrialAnalysis) -> None:
    planned = [point for point in found.course if point.planned]
    units_before = [0, *(point.units for point in found.course)]
    before = {point.day: units for point, units in zip(found.course, units_before, strict=False)}
    assert len(planned) == 3
    for point, look in zip(planned, (*LOOKS, found.units), strict=True):
        assert before[point.day] < look <= point.units
    # Elsewhere a look would not have been planned: it gets the rule that a look there would really have had.
    other = next(point for point in found.course if not point.planned and point.units > 600)
    made = [TrialLook("2026-11-03", "t", found.trial.digest, look) for look in LOOKS]
    rule = look_rule(found.trial, other.units, [look for look in made if look.units < other.units])
    assert rule.method == "always valid"
    width = (other.high - other.low) / 2
    last = found.course[-1]
    assert found.rule.at_units(other.units, planned=False).limit() == pytest.approx(rule.limit())
    assert width > (last.high - last.low) / 2
    second = found.rule.at_units(1003, planned=True)
    assert second.limit() == pytest.approx(look_rule(found.trial, 1003, made[:1]).limit())


def test_the_picture_of_the_course_says_what_counts(found: TrialAnalysis) -> None:
    chart = effect_course(found)
    assert (
        "Bars are the intervals of looks that were made as planned: something is found where one of them"
        in caption_of(chart)
    )
    assert "On other days the plan has no look; shaded is the interval, always valid" in caption_of(chart)
    assert [row["look"] for row in layer(chart)].count("planned") == 3
    band, bars = (chart.to_dict()["layer"][place]["transform"] for place in (0, 1))
    assert {"filter": "!datum.look"} in band
    assert {"filter": "datum.look"} in bars
    unplanned = analysed(looks=(300,))
    assert unplanned.rule.method == "always valid"
    assert not any(point.planned for point in unplanned.course)
    told = caption_of(effect_course(unplanned))
    assert "The shaded intervals are always valid: they hold on all days together" in told
    assert "Bars" not in told


def test_shares_are_of_a_named_arm_beside_the_planned_one(found: TrialAnalysis) -> None:
    chart = sample_course(found)
    rows = layer(chart)
    last, counts = rows[-1], found.sample.days[-1].counts
    assert {row["arm"] for row in rows} == {"new"}
    assert last["value"] == pytest.approx(counts[1] / sum(counts))
    assert last["low"] < last["expected"] == 0.5 < last["high"]
    assert chart.to_dict()["layer"][2]["encoding"]["y"]["title"] == "share of new"
    assert layer(chart, 3) == [{"expected": 0.5}]
    told = "Share of new among all units first seen by a day; dashed: as planned (new 50.0%)"
    assert caption_of(chart).startswith(told)


def test_a_mismatch_is_among_what_was_found() -> None:
    trial = Trial("t", {"old": 1, "new": 1}, primary="ctr")
    values = {"old": {"ctr": [0.0, 1.0] * 500}, "new": {"ctr": [0.0, 1.0] * 650}}
    broken = analyse(trial_aggregate(trial, values), trial)
    assert broken.withheld
    page = page_of(broken)
    quality = page[page.index('id="quality"') : page.index('id="made"')]
    assert "sample-ratio" in quality
    assert str(broken.sample.broken) in quality
    assert f"{len(broken.warnings) + 1} finding" in quality


def test_findings_wrap_on_a_telephone(browser: Any, tmp_path: Path) -> None:
    trial = Trial("t", {"old": 1, "new": 1}, primary="ctr")
    values = {"old": {"ctr": [0.0, 1.0] * 500}, "new": {"ctr": [0.0, 1.0] * 650}}
    (tmp_path / "r.html").write_text(page_of(analyse(trial_aggregate(trial, values), trial)))
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto((tmp_path / "r.html").as_uri())
    boxes = "[...document.querySelectorAll('#quality .box, #made .box')]"
    wide = page.evaluate(f"{boxes}.map(box => box.scrollWidth - box.clientWidth)")
    page.close()
    assert wide == [0, 0]
