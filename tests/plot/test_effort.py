"""Recall against effort, and the most that can be reached with it."""

from __future__ import annotations

from typing import Any

import pytest

from cranfield import UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.measures import parse_measure
from cranfield.plot.effort import IDEAL, REACHABLE, recall_by_effort
from cranfield.plot.style import caption_of
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, RUNS

# Of four relevant documents of the first topic three are retrieved, by one run or the other; the third has none.
JUDGED = {"1": {"a": 1, "b": 2, "c": 1, "d": 1, "n": 0}, "2": {"a": 1, "n": 0}, "3": {"n": 0}}
ANSWERS = {
    "x": {"1": {"n": 9.0, "a": 8.0, "u": 7.0, "b": 6.0}, "2": {"a": 9.0}, "3": {"n": 9.0}},
    "y": {"1": {"c": 9.0, "n": 8.0}, "2": {"n": 9.0, "a": 8.0}, "3": {"n": 9.0}},
}


def by_hand(run: str, effort: int) -> float:
    """Recall of the first documents of a run, mean over the three topics."""
    of_topics = []
    for topic, grades in JUDGED.items():
        relevant = {document for document, grade in grades.items() if grade > 0}
        shown = list(ANSWERS[run][topic])[:effort]  # they are written in the order of their scores
        of_topics.append(len(relevant.intersection(shown)) / len(relevant) if relevant else 0.0)
    return sum(of_topics) / 3


def test_recall_by_effort_is_that_of_the_first_documents() -> None:
    made, reach = recall_by_effort(Experiment(JUDGED, ANSWERS), parse_measure("R"))
    for run in ANSWERS:
        assert dict(made.of(run)) == pytest.approx({k: by_hand(run, k) for k in (1, 2, 3, 4)})
        assert dict(made.of(run, series=IDEAL)) == pytest.approx({k: (min(k, 4) / 4 + 1) / 3 for k in (1, 2, 3, 4)})
        assert dict(made.of(run, series=REACHABLE)) == pytest.approx({k: (min(k, 3) / 4 + 1) / 3 for k in (1, 2, 3, 4)})
    assert (reach.relevant.tolist(), reach.retrieved.tolist()) == ([4, 1, 0], [3, 1, 0])
    assert reach.share == pytest.approx((3 / 4 + 1) / 2)


def test_what_counts_as_relevant_can_be_chosen() -> None:
    made, reach = recall_by_effort(Experiment(JUDGED, ANSWERS), parse_measure("R(rel=2)"))
    assert made.of("x")[-1] == pytest.approx((4, 1 / 3))
    assert reach.relevant.tolist() == [1, 0, 0]


def drawn_rows(**chosen: Any) -> tuple[list[dict[str, Any]], str]:
    chart = find_picture("effort").draw(Subject(measures=("R",), **chosen))
    specification = chart.to_dict()
    data = specification["layer"][0].get("data") or specification["data"]
    return data["values"], caption_of(chart)


def test_the_limits_are_drawn_once_and_belong_to_no_system() -> None:
    rows, caption = drawn_rows(experiment=Experiment(JUDGED, ANSWERS))
    limits = [row for row in rows if row["label"] in (IDEAL, REACHABLE)]
    assert len(limits) == 8
    assert all("system" not in row for row in limits)
    assert {row["system"] for row in rows if row not in limits} == set(ANSWERS)
    assert "of the 88% of them that the systems retrieve together" in caption
    assert "mean over 3 topics" in caption


def test_where_all_is_retrieved_one_limit_is_enough() -> None:
    rows, caption = drawn_rows(experiment=Experiment(QRELS, RUNS))
    assert {row["label"] for row in rows} == {*RUNS, IDEAL}
    assert "(the systems retrieve all of them)" in caption
    assert max(row["x"] for row in rows) == 30
    shallow, _ = drawn_rows(experiment=Experiment(QRELS, RUNS), depth=7)
    assert max(row["x"] for row in shallow) == 7


def test_long_lists_are_drawn_at_a_hundred_places() -> None:
    long = {"a": {"1": {f"d{i}": 1.0 / (i + 1) for i in range(1500)}}}
    made, _ = recall_by_effort(Experiment({"1": {"d700": 1}}, long), parse_measure("R"))
    places = [x for x, _ in made.of("a")]
    assert (len(places), places[0], places[-1]) == (100, 1, 1000)
    assert all(y == (x > 700) for x, y in made.of("a"))


@pytest.mark.parametrize("wrong", ["AP", "R@10"])
def test_effort_is_of_recall_at_every_rank(wrong: str) -> None:
    with pytest.raises(UsageError, match=f"such as R or R\\(rel=2\\), not of {wrong}"):
        find_picture("effort").draw(Subject(experiment=Experiment(QRELS, RUNS), measures=(wrong,)))
