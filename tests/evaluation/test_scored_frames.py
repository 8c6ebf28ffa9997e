"""Results of scores in a frame are those that the scores came from, and what takes results takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import cranfield
from cranfield import DataError, Policy, Results, UsageError, compare, gate
from cranfield.comparison.gate.rules import Rule, Thresholds
from cranfield.report.contents import gather
from cranfield.report.report_tables import inputs_grid
from generate import graded

MADE = [graded(seed) for seed in range(3)]
QRELS = MADE[0].qrels
RUNS = {
    name: {topic: dict(list(found.items())[start:]) for topic, found in MADE[0].run.items()}
    for start, name in enumerate(("b", "a"))
}
MEASURES = ("nDCG@10", "AP", "Judged@10", "Judged", "NumRet")


@pytest.mark.parametrize("to", ["to_pandas", "to_polars", "to_arrow"])
def test_there_and_back(to: str) -> None:
    results = cranfield.evaluate(QRELS, RUNS, MEASURES)
    back = Results.from_frame(getattr(results, to)(), names=results.runs)
    assert (back.runs, back.topics) == (results.runs, results.topics)
    again = back.of_measures(results.measures)
    assert np.array_equal(again.scores, results.scores)
    assert again.mean() == results.mean()


def test_topics_of_runs_alone() -> None:
    runs = {"a": RUNS["a"], "b": dict(list(RUNS["b"].items())[:3])}
    policy = Policy(topics="run")
    results = cranfield.evaluate(QRELS, runs, "AP", policy=policy)
    frame = results.to_pandas()
    assert Results.from_frame(frame, policy=policy).per_topic() == results.per_topic()
    with pytest.raises(DataError, match="run 'b' has no score by AP on topic"):
        Results.from_frame(frame)


def test_compare_gate_and_report() -> None:
    results = cranfield.evaluate(QRELS, RUNS, MEASURES)
    back = Results.from_frame(results.to_pandas(), QRELS, names=["b", "a"], runs=RUNS)
    experiment = cranfield.Experiment(QRELS, RUNS)
    assert str(compare(back, ["AP", "nDCG@10"])) == str(compare(experiment, ["AP", "nDCG@10"]))
    rules = Thresholds({"AP": Rule(minimum=0.1)})
    assert str(gate(back, rules)) == str(gate(experiment, rules))
    other = gate(Results.from_frame(results.to_pandas(), names=["a", "b"]), rules)
    assert [means.baseline for means in other.means] == [means.candidate for means in gate(back, rules).means]
    assert str(gather(back, "AP").comparison) == str(gather(experiment, "AP").comparison)
    with pytest.raises(UsageError, match="scores alone: give their judgements and runs"):
        gather(Results.from_frame(results.to_pandas()), "AP")
    with pytest.raises(UsageError, match="RR was not evaluated"):
        compare(back, "RR")
    with pytest.raises(UsageError, match="not for 3 runs"):
        gate(cranfield.evaluate(QRELS, {**RUNS, "c": RUNS["a"]}, "AP"), rules)


def rows(**changed: Any) -> pandas.DataFrame:
    columns: dict[str, Any] = {"run": ["a", "a"], "topic": ["1", "2"], "measure": "AP", "score": [0.5, 0.25]}
    return pandas.DataFrame(columns | changed)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (rows(topic=["1", "1"]), "run 'a' has two scores by AP on topic '1'"),
        (rows(score=[0.5, None]), "run 'a' has no score by AP on topic '2'"),
        (rows(run=["a", None]), "a row has no run"),
        (rows(run=["a", "b"]), "run 'a' has no score by AP on topic '2'"),
        (rows().drop(columns="measure"), "no column measure among 'run', 'topic', 'score'"),
        (rows().iloc[:0], "the frame of scores: has no rows"),
        (rows(measure="APP"), "unknown measure"),
        ({"run": "a"}, "expected a data frame, not dict"),
    ],
)
def test_frames_that_are_none(frame: Any, said: str) -> None:
    with pytest.raises(cranfield.CranfieldError) as told:
        Results.from_frame(frame)
    assert said in str(told.value)


def test_measures_in_the_order_asked_for() -> None:
    results = cranfield.evaluate(QRELS, RUNS, MEASURES)
    back = Results.from_frame(results.to_pandas(), names=results.runs, measures=MEASURES)
    assert back.measures == results.measures
    assert np.array_equal(back.scores, results.scores)
    assert back.warnings == ()
    with pytest.raises(UsageError, match="measures are those in the frame, each once, in any order: AP, Judged, "):
        Results.from_frame(results.to_pandas(), measures=["AP"])


def test_names_are_those_of_the_frame() -> None:
    with pytest.raises(UsageError, match="names are those of the runs in the frame"):
        Results.from_frame(rows(), names=["a", "b"])


def test_judgements_are_those_of_the_scores() -> None:
    frame = cranfield.evaluate(QRELS, RUNS, "AP").to_pandas()
    first, *others = QRELS
    with pytest.raises(DataError, match=f"has scores on 1 topic that qrels does not judge: {first}\n"):
        Results.from_frame(frame, {topic: QRELS[topic] for topic in others}, names=["b", "a"])
    more = QRELS | {"x1": {"d1": 1}, "x2": {"d1": 0}}
    with pytest.raises(DataError, match="has no score on 2 topics that qrels judges: x1, x2\n"):
        Results.from_frame(frame, more)
    dropped = Policy(empty_topics="drop")
    frame = cranfield.evaluate(QRELS, RUNS, "AP", policy=dropped).to_pandas()
    with pytest.raises(DataError, match="has no score on 1 topic that qrels judges: x1\n"):
        Results.from_frame(frame, more, policy=dropped)
    common = Policy(topics="common")
    frame = cranfield.evaluate(QRELS, RUNS, "AP", policy=common).to_pandas()
    assert Results.from_frame(frame, more, policy=common).runs == ("a", "b")


@pytest.mark.parametrize(
    "policy", [Policy(), Policy(topics="run"), Policy(empty_topics="drop"), Policy(ties="expected", depth=5)]
)
def test_runs_are_those_of_the_scores(policy: Policy, tmp_path: Path) -> None:
    """Another run of the same name is refused by a score that differs, whichever measure the frame has first."""
    for name, run in RUNS.items():
        lines = [f"{topic} Q0 {d} 0 {score!r} x\n" for topic, found in run.items() for d, score in found.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = {name: tmp_path / f"{name}.run" for name in RUNS}
    measures = ["AP", "nDCG@10"]
    results = cranfield.evaluate(QRELS, files, measures, policy=policy)
    frame = results.to_pandas()
    back = Results.from_frame(frame, QRELS, names=["b", "a"], runs=files, policy=policy)
    assert [(of.name, of.path, of.rows, of.topics) for of in back.inputs[1:]] == [
        (of.name, of.path, of.rows, of.topics) for of in results.inputs[1:]
    ]
    listed = str(inputs_grid(gather(back, "AP")).rows)
    assert all(str(path) in listed for path in files.values())
    swapped = dict(zip(files, reversed(files.values()), strict=True))
    with pytest.raises(DataError, match=r"a.run: is not what the scores of b are of: on topic '\w+' its AP is 0"):
        Results.from_frame(frame, QRELS, names=["b", "a"], runs=swapped, policy=policy)
    with pytest.raises(UsageError, match="has the runs a, b, and those given are b, a: give them under"):
        Results.from_frame(frame, QRELS, runs=files, policy=policy)
    turned = {topic: {document: 1 - min(grade, 1) for document, grade in of.items()} for topic, of in QRELS.items()}
    with pytest.raises(cranfield.CranfieldError):
        Results.from_frame(frame, turned, names=["b", "a"], runs=files, policy=policy)
