"""Pictures with a row a system: means with intervals, every score, scores with their bounds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import dist, sqrt
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.plot.rows import MOST_ROWS
from cranfield.plot.saving import drawn
from cranfield.plot.style import caption_of, find_theme
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, RUNS, TOPICS, system
from scene import written

KINDS = ("means", "beeswarm", "bounds")
T_39 = 2.0226909  # two-sided 95 % point of Student's t with 39 degrees of freedom, from a table


def chart(kind: str, runs: dict[str, Any] = RUNS, measures: tuple[str, ...] = ("nDCG@10",), **chosen: Any) -> Any:
    return find_picture(kind).draw(Subject(experiment=Experiment(QRELS, runs), measures=measures, **chosen))


def rows_of(made: Any, layer: int = 0) -> list[dict[str, Any]]:
    specification = made.to_dict()
    data = specification["layer"][layer].get("data") or specification["data"]  # where all layers have the same
    rows: list[dict[str, Any]] = data["values"]
    return rows


@cache
def many(count: int) -> Subject:
    """So many systems on a few topics, evaluated once."""
    runs = {f"system {number}": system(1.2 * number / count, number, TOPICS[:12]) for number in range(count)}
    experiment = Experiment({topic: QRELS[topic] for topic in TOPICS[:12]}, runs)
    return Subject(experiment=experiment, measures=("AP",), evaluated=experiment.evaluate("AP", bounds=True))


def of_many(kind: str, count: int, **chosen: Any) -> Any:
    return find_picture(kind).draw(replace(many(count), **chosen))


def test_means_have_the_interval_of_student_s_t() -> None:
    rows = rows_of(chart("means"))
    scores = cranfield.evaluate(QRELS, RUNS, "nDCG@10").per_topic()
    assert [row["system"] for row in rows] == ["good", "fair", "poor"]
    for row in rows:
        own = [values["nDCG@10"] for values in scores[row["system"]].values()]
        half = T_39 * stdev(own) / sqrt(40)
        assert [row["mean"], row["low"], row["high"]] == pytest.approx(
            [fmean(own), fmean(own) - half, fmean(own) + half]
        )
        assert row["topics"] == 40
    assert "95% t intervals" in caption_of(chart("means"))


def test_averages_that_are_no_means_have_a_bootstrap_interval() -> None:
    made = chart("means", measures=("GMAP",))
    scores = cranfield.evaluate(QRELS, RUNS, "GMAP").of("GMAP", "fair")
    draws = np.random.default_rng([0, 0]).integers(40, size=(1000, 40))
    replicates = np.exp(np.log(np.maximum(scores, 1e-5))[draws].mean(axis=1))
    (row,) = (row for row in rows_of(made) if row["system"] == "fair")
    assert [row["low"], row["high"]] == pytest.approx(np.quantile(replicates, [0.025, 0.975]).tolist())
    assert "bootstrap intervals" in caption_of(made)
    both = caption_of(chart("means", measures=("AP", "GMAP")))
    assert "intervals (t; of averages other than the mean, bootstrap percentiles)" in both


def test_one_topic_has_a_mean_and_no_interval() -> None:
    made = find_picture("means").draw(Subject(experiment=Experiment({"3": QRELS["3"]}, RUNS), measures=("AP",)))
    assert all(row["low"] is None and row["high"] is None and row["mean"] > 0 for row in rows_of(made))
    assert "interval" not in caption_of(made)
    assert b"NaN" not in drawn(made, "json")


@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_several_measures_stand_side_by_side_in_one_order(theme: str) -> None:
    made = chart("means", measures=("AP", "P@5", "RR"), theme=theme).to_dict()
    panels = made["hconcat"]
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in panels] == ["AP", "P@5", "RR"]
    orders = {tuple(panel["layer"][0]["encoding"]["y"]["sort"]) for panel in panels}
    assert orders == {("good", "fair", "poor")}
    assert [panel["layer"][0]["encoding"]["y"]["axis"]["labels"] for panel in panels] == [True, False, False]
    column = find_theme(theme).column
    assert column is None or sum(panel["width"] for panel in panels) < column
    narrow = {f"a run with quite a long name, {name}": run for name, run in RUNS.items()}
    assert ("vconcat" in chart("means", narrow, ("AP", "P@5", "RR"), theme=theme).to_dict()) == (theme == "paper")


def test_a_swarm_has_a_point_for_every_score() -> None:
    made = chart("beeswarm")
    results = cranfield.evaluate(QRELS, RUNS, "nDCG@10")
    drawn_scores = {(row["system"], row["topic"]): row["score"] for row in rows_of(made)}
    assert drawn_scores == {(run, topic): score for run, topic, _, score in results.rows()}
    assert {row["system"]: row["mean"] for row in rows_of(made, 1)} == pytest.approx(results["nDCG@10"])
    assert "a point a topic, 40 topics" in caption_of(made)


def pixels(made: Any) -> dict[str, list[tuple[float, float]]]:
    """Where the points of each system are, from the middle of its row."""
    encoding, specification = made.to_dict()["layer"][0]["encoding"], made.to_dict()
    (low, high), step = encoding["x"]["scale"]["domain"], specification["height"]["step"]
    of_system: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of(made):
        x = (row["score"] - low) / (high - low) * specification["width"]
        of_system.setdefault(row["system"], []).append((x, row["offset"] * step / 2))
    return of_system


@pytest.mark.parametrize("count", [5, 20, 60])
@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_points_of_a_swarm_touch_no_other_and_stay_in_their_row(count: int, theme: str) -> None:
    made = of_many("beeswarm", count, theme=theme)
    specification = made.to_dict()
    diameter = 2 * sqrt(specification["layer"][0]["mark"]["size"] / np.pi)
    assert "a point a topic" in caption_of(made)
    for points in pixels(made).values():
        assert min(dist(a, b) for a, b in combinations(points, 2)) >= diameter - 1e-9
    step = specification["height"]["step"]
    assert all(abs(y) + diameter / 2 <= step / 2 + 1e-9 for points in pixels(made).values() for _, y in points)


def seven_thousand(score: Any) -> Results:
    topics = [f"q{number}" for number in range(7000)]
    qrels = {topic: {"a": 1} for topic in topics}
    runs = {name: {topic: {"a": 1.0} for topic in topics} for name in ("one", "other")}
    results = cranfield.evaluate(qrels, runs, "AP")
    results.scores[:, 0] = score
    return results


def test_seven_thousand_topics_are_counted_and_it_is_said() -> None:
    results = seven_thousand(np.random.default_rng(1).beta(1, 3, size=(2, 7000)).round(3))
    made = find_picture("beeswarm").draw(Subject(measures=("AP",), evaluated=results))
    rows = rows_of(made)
    for name in ("one", "other"):
        own = [row for row in rows if row["system"] == name]
        assert sum(row["topics"] for row in own) == 7000
        scores = results.of("AP", name)
        for row in own:
            assert row["topics"] == np.count_nonzero((scores >= row["from"]) & (scores < row["to"]))
    assert "how many of 7,000 topics have about this score, in 40 steps" in caption_of(made)


@pytest.mark.parametrize(("count", "numbers"), [(3, True), (60, False)])
def test_topics_without_a_hit_hide_no_others_and_are_counted(count: int, numbers: bool) -> None:
    """On 200 topics, half of which have a score of 0, bars show how the others lie."""
    topics = [f"q{number}" for number in range(200)]
    runs = {f"system {number}": {topic: {"a": 1.0} for topic in topics} for number in range(count)}
    results = cranfield.evaluate({topic: {"a": 1} for topic in topics}, runs, "AP")
    results.scores[:, 0] = np.where(np.arange(200) < 100, 0.0, np.linspace(0.2, 0.9, 200) ** 2)
    made = find_picture("beeswarm").draw(Subject(measures=("AP",), evaluated=results))
    step = made.to_dict()["height"]["step"]
    rows = [row for row in rows_of(made) if row["system"] == "system 1"]
    cut = [row for row in rows if row["is_cut"]]
    assert [(row["topics"], row["from"] <= 0.0) for row in cut] == [(100, True)]
    between = [row for row in rows if not row["is_cut"]]
    assert max(row["height"] for row in between) > 0.9 * step
    for row in between:
        assert row["height"] / row["topics"] == pytest.approx(between[0]["height"] / between[0]["topics"])
    assert (written(made) == ["100"] * count) == numbers
    assert ("with the number of its topics beside it" in caption_of(made)) == numbers


def test_bounds_are_those_of_the_evaluation_with_the_share_unjudged() -> None:
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1}}
    runs = {"x": {"1": {"a": 3.0, "n1": 2.0}, "2": {"n2": 2.0, "a": 1.0}}, "y": {"1": {"b": 2.0, "c": 1.0}}}
    experiment = Experiment(qrels, runs)
    made = find_picture("bounds").draw(Subject(experiment=experiment, measures=("P@2",)))
    rows = {row["system"]: row for row in rows_of(made)}
    # x: one of two on each topic, with one unjudged on each; y: one of two on the first, nothing on the second.
    assert [rows["x"][end] for end in ("low", "score", "high", "unjudged")] == [0.5, 0.5, 1.0, 0.5]
    assert [rows["y"][end] for end in ("low", "score", "high", "unjudged")] == [0.25, 0.25, 0.25, 0.0]
    assert (rows["x"]["shown"], rows["y"]["shown"]) == ("50%", "0%")
    assert "share of the first 2 documents that nobody judged" in caption_of(made)
    bounded = experiment.evaluate("P@2", bounds=True)
    assert rows_of(bounded.plot.bounds()) == rows_of(made)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theme", ["screen", "paper"])
@pytest.mark.parametrize("count", [5, 20, 60, 70])
def test_a_row_a_system_stays_in_bounds(kind: str, theme: str, count: int) -> None:
    made = of_many(kind, count, theme=theme)
    specification, look = made.to_dict(), find_theme(theme)
    names = {row["system"] for row in rows_of(made)}
    assert len(names) == min(count, MOST_ROWS)
    step = specification["height"]["step"]
    assert step * len(names) <= look.most + 1
    assert step >= look.font, "names lie on each other"
    named = next(param["value"] for param in specification["params"] if param["name"] == "named")
    assert len(named) == (5 if count == 5 else 1)
    assert ("In colour" in caption_of(made)) == (count > 5)
    assert ("60 of 70 systems, the best and those named," in caption_of(made)) == (count == 70)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chosen", [{"highlight": ("system 0",)}, {"baseline": "system 0"}])
def test_a_system_that_is_asked_for_is_shown_among_seventy(kind: str, chosen: dict[str, Any]) -> None:
    made = of_many(kind, 70, **chosen)
    assert "system 0" in {row["system"] for row in rows_of(made)}
    assert "system 0" in caption_of(made)


@pytest.mark.parametrize("kind", KINDS)
def test_a_baseline_is_a_line_at_its_mean(kind: str) -> None:
    mean = cranfield.evaluate(QRELS, RUNS, "nDCG@10")["nDCG@10"]["fair"]
    made, without = chart(kind, baseline="fair"), chart(kind)

    def lines_at(of: Any) -> list[list[dict[str, Any]]]:
        layers = [layer for layer in of.to_dict()["layer"] if layer["mark"].get("strokeDash")]
        return [layer["data"]["values"] for layer in layers]

    ((row,),) = lines_at(made)
    assert row.pop("system") == "fair"
    assert list(row.values()) == pytest.approx([mean])
    assert caption_of(made).endswith(" Dashed: the mean of fair.")
    assert lines_at(without) == []
    assert "Dashed" not in caption_of(without)


@pytest.mark.parametrize("kind", KINDS)
def test_runs_stand_as_they_come_if_they_are_not_sorted(kind: str) -> None:
    order = chart(kind, sort=False).to_dict()["layer"][0]["encoding"]["y"]["sort"]
    assert order == list(RUNS)
    loss = chart(kind, measures=("E@10",)).to_dict()["layer"][0]["encoding"]["y"]["sort"]
    assert loss == ["good", "fair", "poor"], "less of a loss is better"
