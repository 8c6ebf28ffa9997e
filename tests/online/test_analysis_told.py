"""What an analysis prints and writes: numbers beside their sentences, all forms, and names that want to be more."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from commands import command_line
from cranfield.errors import UsageError
from cranfield.online import Trial, aggregate, read_logs, read_moments, read_trial
from cranfield.online.analysis import TrialAnalysis, analyse, cautions
from cranfield.online.analysis.analysis_tables import FORMATS, render_analysis, to_plain
from cranfield.online.analysis.plan_rows import plan_rows
from cranfield.online.analysis.trial_page import page_of, pictures, write_report
from cranfield.online.analysis.verdicts import effect_told, rails_told
from cranfield.online.trial import Cap, Exclusions, Guardrail, Looks
from cranfield.online.trial_ledger import TrialLook
from cranfield.plot.style import DARK
from cranfield.statistics.ratios import Ratio
from made_trials import searching_users, trial_aggregate
from places import EXAMPLES, ROOT

HOSTILE = '<script>alert("x")</script>|\x1b[31m*'


def made_trial() -> Trial:
    return Trial(
        "ranker",
        {"old": 1, "new": 1},
        primary="ctr",
        secondary=("rr_first", "abandonment", "queries_per_unit"),
        guardrails=(Guardrail("latency", 5.0),),
        segments=("device",),
        covariates=("before",),
        maximum=2000,
        looks=Looks("obrien-fleming", (0.25, 0.5, 1.0)),
    )


@pytest.fixture(scope="module")
def found() -> TrialAnalysis:
    trial = made_trial()
    logs = read_logs(searching_users(4, 2000, effect=0.08))
    looks = [TrialLook("then", trial.name, trial.digest, 510), TrialLook("then", trial.name, trial.digest, 1003)]
    return analyse(aggregate(logs, trial), trial, looks=looks)


def test_effects_are_those_of_the_units_counted_by_hand(found: TrialAnalysis) -> None:
    """Sums of each unit from the rows themselves, then the delta method: no part of the aggregation is used."""
    import polars as pl

    frames = searching_users(4, 2000, effect=0.08)
    clicked = frames["events"].select("query_id").unique().with_columns(clicked=pl.lit(1))
    rows = frames["impressions"].join(clicked, on="query_id", how="left").with_columns(pl.col("clicked").fill_null(0))
    units = rows.group_by("user_id").agg(pl.len().alias("n"), pl.col("clicked").sum())
    units = frames["assignments"].join(units, left_on="unit_id", right_on="user_id", how="left").fill_null(0)
    values = []
    for arm in ("old", "new"):
        of = units.filter(pl.col("variant") == arm)
        c, n = of["clicked"].to_numpy().astype(float), of["n"].to_numpy().astype(float)
        ratio = c.sum() / n.sum()
        left = c - ratio * n
        values.append((ratio, left.var(ddof=1) / len(c) / n.mean() ** 2))
    primary = found.primary[0]
    assert primary.plain == pytest.approx(values[1][0] - values[0][0])
    ways = found.adjusted[0]
    assert ways.plain.error == pytest.approx(np.sqrt(values[0][1] + values[1][1]))
    assert ways.remaining[2] < 1
    assert primary.difference == ways.regression.value
    assert Ratio("c", "n").columns == ("c", "n")


def test_the_verdict_stands_first_and_says_what_the_tables_say(found: TrialAnalysis) -> None:
    text = str(found)
    assert found.decision == "ship"
    first = re.sub(r"\s+", " ", text.split("\n\n")[0])
    primary = found.primary[0]
    assert first.startswith("Ship new: it is better by the primary metric: ctr")
    for number in (primary.difference, primary.low, primary.high):
        assert f"{number:+.4g}" in first
        assert text.count(f"{number:+.4g}") >= 2
    assert f"{primary.relative:+.2%}" in first
    assert found.trial.digest in text


def test_after_looks_before_it_the_estimate_is_corrected_towards_nothing(found: TrialAnalysis) -> None:
    (stopped,) = found.stopped
    assert 0 < stopped.effect.estimate < stopped.effect.plain == found.primary[0].difference
    told = " ".join(str(found).split())
    assert f"the median unbiased estimate is {stopped.effect.estimate:+.4g}" in told


def test_the_family_is_counted(found: TrialAnalysis) -> None:
    assert found.family is not None
    assert found.family.size == 3 + 2 + 1
    told = "one family of 6 questions (3 secondary metrics, 2 segments, 1 test of whether segments differ)"
    assert told in str(found)
    assert {effect.limit for effect in (*found.secondary, *found.segments)} == {found.family.limit}


def test_directions_are_told(found: TrialAnalysis) -> None:
    by_name = {effect.metric: effect for effect in found.secondary}
    assert by_name["abandonment"].difference < 0
    assert by_name["abandonment"].standing == "better"
    assert by_name["queries_per_unit"].standing in ("open", "different")
    assert "less is better of abandonment" in str(found)
    assert "neither more nor less is better of queries_per_unit" in str(found)


def test_who_was_shown_worse_results_is_counted(found: TrialAnalysis) -> None:
    (lost,) = found.worse
    assert lost.arm == "old"
    queries = {shown.arm: shown.queries or 0 for shown in found.exposures}
    assert lost.counted == pytest.approx(queries["old"])
    assert lost.lost == pytest.approx(found.primary[0].difference * queries["old"])
    assert lost.low == pytest.approx(found.primary[0].low * queries["old"])
    assert "old did worse than new: over" in str(found)
    assert [shown.days for shown in found.exposures] == [14, 14]


def test_json_has_everything_and_csv_every_effect(found: TrialAnalysis) -> None:
    document = json.loads(render_analysis(found, "json"))
    assert document["schema"] == "cranfield.online-analysis/1"
    assert (document["digest"], document["decision"]) == (found.trial.digest, "ship")
    assert document["look"]["number"] == 3
    assert document["sample_ratio"]["broken"] is None
    for name in (
        "primary",
        "secondary",
        "guardrails",
        "segments",
        "triggered",
        "course",
        "exposures",
        "worse",
        "stopped",
    ):
        assert len(document[name]) == len(getattr(found, name)) > 0, name
    rows = list(csv.DictReader(io.StringIO(render_analysis(found, "csv"))))
    assert len(rows) == 1 + 3 + 2 + 2 + 1
    assert float(rows[0]["difference"]) == found.primary[0].difference
    assert rows[-1]["standing"] == found.guardrails[0].standing
    assert float(rows[-1]["worst"]) == found.guardrails[0].worst


def test_moments_give_the_same_analysis(tmp_path: Path) -> None:
    trial = made_trial()
    aggregated = aggregate(read_logs(searching_users(4, 600)), trial)
    aggregated.save(str(tmp_path / "m.json"))
    again = analyse(read_moments(str(tmp_path / "m.json")), trial)
    assert render_analysis(again, "json") == render_analysis(analyse(aggregated, trial), "json")


def test_the_course_ends_where_the_look_is(found: TrialAnalysis) -> None:
    last, primary = found.course[-1], found.primary[0]
    assert last.units == found.units
    assert (last.difference, last.low, last.high) == pytest.approx((primary.difference, primary.low, primary.high))


def test_pictures_are_valid_and_hold_the_numbers(found: TrialAnalysis) -> None:
    drawn = {picture.name: picture.chart() for picture in pictures(found)}
    assert list(drawn) == ["effects", "course", "shares", "segments", "novelty"]
    for chart in drawn.values():
        chart.to_dict()  # checked against the schema of Vega-Lite
    rows = drawn["effects"].to_dict()["layer"][0]["data"]["values"]
    primary = found.primary[0]
    assert rows[0]["low"] == primary.relative_low
    assert [row["standing"] for row in rows] == [
        *(effect.standing for effect in found.primary),
        *(rail.standing for rail in found.guardrails),
        *(effect.standing for effect in found.secondary),
    ]
    course = drawn["course"].to_dict()["layer"][0]["data"]["values"]
    assert course[-1]["high"] == found.course[-1].high


def test_the_report_is_one_page_that_loads_nothing(found: TrialAnalysis, tmp_path: Path) -> None:
    write_report(found, str(tmp_path / "r.html"))
    page = (tmp_path / "r.html").read_text()
    assert "<script" not in page
    assert page.count("<svg ") == 2 * 5  # for a screen, and for a phone
    assert page.count('class="drawing drawn"') == page.count('class="drawing drawn-phone"') == 5
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert found.trial.digest in page
    for verdict in found.verdicts:
        assert verdict.why in page
    with pytest.raises(UsageError, match=r"can be html, not '\.pdf'"):
        write_report(found, str(tmp_path / "r.pdf"))


def test_the_report_has_the_plan_in_words() -> None:
    trial = read_trial(str(EXAMPLES / "experiment.toml"))
    rows = {row[0]: row[1] for row in plan_rows(trial)}
    assert rows == {
        "name": "dense-2026",
        "digest": trial.digest,
        "arms": "bm25 (control) 50%, dense 50%",
        "unit": "user_id",
        "primary": "ctr; more is better",
        "guardrail latency": "less is better; worse by less than 20",
        "guardrail zero_results": "less is better; worse by less than 5%",
        "secondary": "abandonment, less is better; rr_first, more is better; carts, more is better",
        "segments": "device",
        "covariates": "ctr",
        "alpha": "0.05",
        "looks": "50%, 100% of the maximum; spending obrien-fleming",
        "maximum": "400 units",
        "left out": "bots; duplicates of events; units with more than 200 queries on some day; "
        "events more than 24 hours after their query",
        "cap of carts": "the quantile 99% of all units",
        "metric carts": "count(cart) by units; more is better",
        "salt": "dense-2026",
        "start": "2026-11-02T00:00:00+00:00",
        "end": "2026-11-16T00:00:00+00:00",
    }
    page = page_of(analyse(read_logs(str(EXAMPLES)), trial))
    made = page[page.index("How it was made</h2>") :]
    for told in rows.values():
        assert told in made
    assert "null" not in made
    assert "[" not in re.sub(r"<[^>]+>", "", made)


def test_what_a_plan_leaves_open_is_told() -> None:
    arms, everything = {"a": 3.0, "b": 1.0, "c": 1.0}, Exclusions(bots=False, duplicates=False)
    plain = dict(plan_rows(Trial("t", arms, "ctr", secondary=("queries_per_unit",), exclusions=everything)))
    assert plain["arms"] == "a (control) 60%, b 20%, c 20%"
    assert plain["secondary"] == "queries_per_unit, neither more nor less is better"
    assert (plain["looks"], plain["maximum"], plain["left out"]) == ("one, the first", "not fixed", "nothing")
    assert {plain[name] for name in ("segments", "covariates", "salt")} == {"none"}
    assert (plain["start"], plain["end"]) == ("not fixed", "not fixed")
    ends = Trial("t", arms, "ctr", maximum=9), Trial("t", arms, "ctr", end=datetime(2026, 11, 16, tzinfo=UTC))
    assert [dict(plan_rows(trial))["looks"] for trial in ends] == ["one, at the end"] * 2
    spent = Looks("hwang-shih-decani", (0.3, 1.0), -4.0)
    more = Trial("t", {"a": 1, "b": 1}, "ctr", maximum=9, looks=spent, winsorise={"ctr": Cap(value=3.0)})
    rows = dict(plan_rows(more))
    assert rows["looks"] == "30%, 100% of the maximum; spending hwang-shih-decani with -4"
    assert (rows["cap of ctr"], rows["secondary"]) == ("3 a unit", "none")
    some = Trial("t", {"a": 1, "b": 1}, "ctr", looks=Looks("always-valid"), exclusions=Exclusions(units=("x", "y")))
    rows = dict(plan_rows(some))
    assert rows["looks"] == "at any time: intervals are always valid"
    assert rows["left out"] == "bots; duplicates of events; the units x, y"


def test_guardrails_are_told_as_they_stand(found: TrialAnalysis) -> None:
    rail = found.guardrails[0]
    one, two = (rail._replace(standing="broken", metric=name) for name in ("latency", "zero_results"))
    one, two = one._replace(harm=7.25, margin=5.0), two._replace(harm=0.04, margin=0.02, relative=True)
    assert rails_told([one]) == "the guardrail latency: worse by 7.25, more than its margin of 5"
    assert rails_told([one, two]) == (
        "the guardrails latency, zero_results: latency is worse by 7.25, more than its margin of 5; zero_results is "
        "worse by 4.00%, more than its margin of 2.00%"
    )
    assert rails_told([one._replace(standing="open")]) == "the guardrail latency is not shown to hold"
    why = one._replace(standing="open", note="nobody knows")
    assert rails_told([why]) == "the guardrail latency is not shown to hold; latency: nobody knows"
    assert rails_told([one._replace(standing="held")]) == "the guardrail latency holds"


def test_what_is_adjusted_is_told_and_one_control_reads_the_same_beside_every_arm() -> None:
    frames = searching_users(4, 900, arms=("old", "new", "newer"))
    trial = Trial("t", {"old": 1, "new": 1, "newer": 1}, "ctr", secondary=("rr_first",), covariates=("before",))
    found = analyse(aggregate(read_logs(frames), trial), trial)
    one, two = found.primary
    old = frames["assignments"].filter(variant="old").select(user_id="unit_id")
    asked = frames["impressions"].join(old, on="user_id").select("query_id")
    by_hand = len(asked.join(frames["events"].select("query_id").unique(), on="query_id")) / len(asked)
    assert one.control == two.control == pytest.approx(by_hand)
    assert one.treatment - one.control == pytest.approx(one.plain)
    assert one.difference != pytest.approx(one.plain)
    told = (
        "control and treatment are the arms as they are; the difference, its interval, the relative ones and p are "
        "adjusted by regression on before"
    )
    assert str(found).count(told) == 3  # of the primary metric, secondary ones, and where lists differ
    bare = replace(trial, covariates=())
    assert "adjusted by regression" not in str(analyse(aggregate(read_logs(frames), bare), bare))


def test_a_margin_is_asked_on_one_side_only(found: TrialAnalysis) -> None:
    assert found.guardrails[0].limit == found.rule.limit(1, sides=1)
    assert found.guardrails[0].limit != found.primary[0].limit == found.rule.limit(1)


def test_the_confidence_of_the_verdict_is_that_of_its_interval(found: TrialAnalysis) -> None:
    assert found.primary[0].shown == found.primary[0].limit
    assert "(99% interval " in effect_told(found.primary[0]._replace(shown=0.01))
    assert effect_told(found.primary[0]._replace(shown=0.0)).endswith(", with no interval that ends")


def test_either_sample_ratio_withholds_and_from_the_alarm_on(found: TrialAnalysis) -> None:
    sample = found.sample
    assert sample._replace(p=0.002, sequential_p=0.5).broken is None
    assert "p = 0.0009" in str(sample._replace(p=0.0009, sequential_p=0.5).broken)
    assert "p = 0.0002" in str(sample._replace(p=0.5, sequential_p=0.0002).broken)


def test_too_few_units_for_what_is_always_valid_leave_it_open() -> None:
    found = analyse(read_logs(str(EXAMPLES)), read_trial(str(EXAMPLES / "experiment.toml")))
    assert str(found.verdicts[0]).endswith("there are too few units for an interval that is always valid.")


def hostile_analysis(count: int = 60) -> TrialAnalysis:
    arm = HOSTILE + "arm"
    trial = Trial(
        HOSTILE,
        {HOSTILE + "control": 1, arm: 1},
        "value_per_unit",
        segments=(HOSTILE + "segment",),
        secondary=("rr_first",),
        guardrails=(Guardrail("latency", 1.0),),
    )
    rng = np.random.default_rng(0)
    values = {a: {m: rng.normal(5 + 2 * (a == arm), 1, count) for m in trial.metric_names} for a in trial.arms}
    parts = {(f"segment:{HOSTILE}segment", HOSTILE + "value"): values, ("day", "2026-11-02"): values}
    parts |= {("first day", "2026-11-02"): values, ("first day", "2026-11-03"): values}
    return analyse(trial_aggregate(trial, values, parts), trial)


@pytest.mark.parametrize("format", FORMATS)
def test_hostile_names_stay_names(format: str) -> None:
    text = render_analysis(hostile_analysis(), format)
    assert format in ("csv", "tsv") or "\x1b" not in text  # the terminal escapes what a file keeps
    if format in ("html", "markdown"):
        assert "<script" not in text


def test_hostile_names_stay_names_in_the_report() -> None:
    page = page_of(hostile_analysis())
    assert "<script" not in page
    assert "\x1b" not in page
    assert "alert" in page  # it is there, as text


def test_a_withheld_result_has_a_report_without_effects(tmp_path: Path) -> None:
    trial = Trial("t", {"a": 1, "b": 1}, "value_per_unit")
    values = {"a": {"value_per_unit": np.arange(900.0)}, "b": {"value_per_unit": np.arange(500.0)}}
    found = analyse(trial_aggregate(trial, values), trial)
    page = page_of(found)
    assert "Data broken" in page
    assert "Primary metric" not in page
    assert not pictures(found)


def test_intervals_without_an_end_are_said_not_to_be_drawn() -> None:
    trial = read_trial(str(EXAMPLES / "experiment.toml"))
    page = page_of(analyse(read_logs(str(EXAMPLES)), trial))  # too few units for any interval
    assert page.count("Intervals that have no end are not drawn.") == 3  # effects, course and segments
    assert "of 6 intervals" not in page


def test_every_colour_of_the_pictures_has_another_on_a_dark_page(found: TrialAnalysis) -> None:
    """No script draws them anew: the style turns each colour, and one that it forgot would stay as on white paper."""
    page = page_of(found)
    turned = dict(re.findall(r'\.drawing \[fill="(#[0-9a-f]{6})"\] \{ fill: (#[0-9a-f]{6}); \}', page))
    assert turned == dict(DARK)
    drawings = "".join(re.findall(r"<svg .*?</svg>", page, re.DOTALL))
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawings)) - {"none", "transparent"}
    assert used <= set(turned)
    assert "screen and (prefers-color-scheme: dark)" in page  # paper stays white


PAGE = ROOT / "docs" / "online-analysis.md"


def test_the_page_names_every_caution_and_every_key(found: TrialAnalysis) -> None:
    page = PAGE.read_text()
    source = Path(str(cautions.__file__)).read_text()
    codes = re.findall(r'Finding\(\s*"([a-z-]+)"', source)
    assert len(codes) > 12
    for name in (*codes, "trial-changed", *to_plain(found)):
        assert f"`{name}`" in page, name


def test_the_commands_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXAMPLES.iterdir():
        if path.suffix in (".jsonl", ".csv", ".toml"):
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^\$ cranfield (.*)$", PAGE.read_text(), re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        done = command_line(*line.split())
        assert done.exit == 0, done.stderr
        assert done.stdout
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "experiment.toml.ledger").exists()
