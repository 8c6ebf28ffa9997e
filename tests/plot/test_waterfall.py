"""The histogram of differences as a waterfall: its mean, and how few topics make half of it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

import cranfield
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.saving import drawn
from cranfield.plot.style import COLOURS, caption_of
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, RUNS


def told(chart: Any) -> list[str]:
    """What stands above the bars."""
    texts = re.findall(r"<text[^>]*>([^<]+)<", drawn(chart, "svg").decode())
    return [unescape(text) for text in texts if "mean" in text]


def histogram(first: str, second: str, measure: str, **chosen: Any) -> Any:
    runs = {name: RUNS[name] for name in (first, second)}
    return find_picture("histogram").draw(Subject(experiment=Experiment(QRELS, runs), measures=(measure,), **chosen))


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("measure", ["AP", "E@10"])
@pytest.mark.parametrize(("first", "second"), [("good", "fair"), ("fair", "good")])
def test_the_mean_and_the_topics_that_make_half_of_it_are_written(
    first: str, second: str, measure: str, sort: bool
) -> None:
    results = cranfield.evaluate(QRELS, RUNS, measure)
    difference = (results.of(measure, first) - results.of(measure, second)).tolist()
    total = sum(difference)
    largest = sorted((d if total > 0 else -d for d in difference), reverse=True)
    half = next(k for k in range(1, 41) if sum(largest[:k]) >= abs(total) / 2)
    mean = f"{total / 40:+.4f}".replace("-", "−")
    assert told(histogram(first, second, measure, sort=sort)) == [f"mean {mean}; {half} of 40 topics make half of it"]


def test_one_topic_makes_half_of_it() -> None:
    """Of four topics, and of one alone."""
    found, lost = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0}
    for topics, expected in ((4, "mean +0.2500; 1 of 4 topics makes half of it"), (1, "mean +1.0000; 1 of 1 topic")):
        qrels = {str(topic): {"d1": 1} for topic in range(topics)}
        runs = {"a": dict.fromkeys(qrels, found), "b": {topic: found if int(topic) else lost for topic in qrels}}
        chart = find_picture("histogram").draw(Subject(experiment=Experiment(qrels, runs), measures=("AP",)))
        assert [text[: len(expected)] for text in told(chart)] == [expected]


def test_bars_have_the_colours_of_the_two_systems_by_their_places() -> None:
    chart = histogram("good", "fair", "AP").to_dict()
    assert {param["name"]: param["value"] for param in chart["params"]}["named"] == ["good", "fair"]
    svg = drawn(histogram("good", "fair", "AP"), "svg").decode()
    bars = svg.partition("mark-rect")[2].partition("</g>")[0]
    assert set(re.findall('fill="(#[0-9a-f]+)"', bars)) == set(COLOURS[:2])


def test_nothing_is_written_where_nothing_differs() -> None:
    same = dict.fromkeys(("a", "b"), RUNS["good"])
    chart = find_picture("histogram").draw(Subject(experiment=Experiment(QRELS, same), measures=("AP",)))
    assert told(chart) == []


def test_the_line_is_at_the_mean_and_the_caption_says_what_it_is() -> None:
    chart = histogram("good", "fair", "AP")
    dashed = [layer for layer in chart.to_dict()["layer"] if layer["mark"].get("strokeDash")]
    assert [layer["encoding"]["y"]["field"] for layer in dashed] == ["mean"]
    assert "Dashed: the mean; the fewest topics that add up to half of it are counted." in caption_of(chart)


def test_a_waterfall_is_a_histogram() -> None:
    assert find_picture("waterfall") == find_picture("histogram")
    two = cranfield.evaluate(QRELS, {name: RUNS[name] for name in ("good", "fair")}, "AP")
    assert two.plot.waterfall().to_dict() == two.plot.histogram().to_dict()
