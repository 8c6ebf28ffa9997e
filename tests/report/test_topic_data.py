"""What the view of a topic carries of what documents add: within its limits, and where not, why not."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from cranfield.evaluation.experiment import Experiment
from cranfield.report.contents import Report, gather
from cranfield.report.page.explained_topics import size
from cranfield.report.page.topic_data import carried_contributions
from noisy import QRELS, RUNS

LIMITS = vars(sys.modules["cranfield.report.page.topic_data"])  # the package has a function of that name
LEFT_OUT = "What each document adds to {} is not in this file."
SLOW = "nDCG(ideal='retrieved')@10"  # is explained topic by topic


def report(*measures: str) -> Report:
    return gather(Experiment(QRELS, RUNS), list(measures))


def test_what_would_make_the_page_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    made = report("nDCG@10", "AP", "P@5")
    first, second, third = carried_contributions(made)
    assert all(isinstance(entry, dict) for entry in (first, second, third))
    monkeypatch.setitem(LIMITS, "MOST_CONTRIBUTED", size(first) + size(third))
    assert carried_contributions(made) == [first, LEFT_OUT.format("AP"), third]
    monkeypatch.setitem(LIMITS, "MOST_CONTRIBUTED", size(first) + size(third) - 1)
    assert carried_contributions(made) == [first, LEFT_OUT.format("AP"), LEFT_OUT.format("P@5")]


def test_measures_that_take_their_time_are_left_out_of_many_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    made = report("AP", SLOW)
    scores = len(RUNS) * len(QRELS)
    monkeypatch.setitem(LIMITS, "MOST_BY_TOPIC", scores)
    quick, slow = carried_contributions(made)
    assert isinstance(slow, dict)
    monkeypatch.setitem(LIMITS, "MOST_BY_TOPIC", scores - 1)
    assert carried_contributions(made) == [quick, LEFT_OUT.format(made.results.measures[1])]


def test_a_page_without_documents_has_nothing_that_they_add() -> None:
    made = report("AP", "F@10")
    bare = replace(made, rankings=made.rankings._replace(depth=0))
    assert carried_contributions(bare) == [LEFT_OUT.format("AP"), LEFT_OUT.format("F@10")]


def test_why_there_is_nothing_is_told_as_it_is() -> None:
    condensed = "F(judged_only=True)@10"
    assert carried_contributions(report("F@10", condensed)) == [
        "F@10 is not a sum over documents.",
        f"{condensed} leaves out what is not judged: what documents add at other ranks is not in this file.",
    ]
    qrels = {"1": {"1": {"a": 1, "b": 0}, "2": {"b": 1}}, "2": {"1": {"a": 1}}}
    runs = {"x": {topic: {"a": 2.0, "b": 1.0} for topic in qrels}, "y": {topic: {"b": 1.0} for topic in qrels}}
    told = carried_contributions(gather(Experiment(qrels, runs), "StRecall@2"))
    assert told == ["What each document adds to StRecall@2 depends on more than grades, and is not in this file."]
