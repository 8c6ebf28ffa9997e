"""Curves as data: the same numbers as the measures they are made of, and the lectures' own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cranfield import Policy, UsageError, evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.curves import (
    LONGEST,
    area,
    by_cutoff,
    gains,
    interpolated,
    normalised_gains,
    precision_recall,
    rank_biased,
    ranked,
)
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, RUNS, TOPICS
from scene import written

COLLECTED = Experiment(QRELS, RUNS)


@pytest.mark.parametrize("measure", ["P", "R", "nDCG", "RBP(p=0.5)"])
def test_a_curve_by_cutoff_is_the_measure_at_every_cutoff(measure: str) -> None:
    curve = by_cutoff(COLLECTED, measure, [1, 5, 30])
    for k in (1, 5, 30):
        expected = evaluate(QRELS, RUNS, f"{measure}@{k}").mean()
        for run in RUNS:
            assert dict(curve.of(run))[k] == expected[run][f"{measure}@{k}"]
    topic = by_cutoff(COLLECTED, measure, [5], topics=["7"])
    assert topic.of("good", "7") == [
        (5, evaluate(QRELS, RUNS, f"{measure}@5").per_topic()["good"]["7"][f"{measure}@5"])
    ]


def test_the_interpolated_curve_never_rises_and_covers_the_raw_points() -> None:
    smooth = interpolated(COLLECTED, topics=["3"]).of("good", "3")
    raw = precision_recall(COLLECTED, ["3"]).of("good", "3")
    assert [y for _, y in smooth] == sorted((y for _, y in smooth), reverse=True)
    for recall, precision in smooth:
        reached = [y for x, y in raw if x >= recall - 1e-9]
        assert precision == pytest.approx(max(reached, default=0.0))


def test_raw_points_of_the_lecture() -> None:
    """Relevant documents at ranks 1, 3, 6, 10 and 15 of ten: recall 10 % to 50 %."""
    relevant = [1, 3, 6, 10, 15]
    run = {"q": {f"d{rank}": 100.0 - rank for rank in range(1, 16)}}
    qrels = {"q": {f"d{rank}": 1 for rank in relevant} | {f"x{number}": 1 for number in range(5)}}
    points = precision_recall(Experiment(qrels, run), ["q"]).of("run", "q")
    assert points == [(0.1, 1.0), (0.2, 2 / 3), (0.3, 0.5), (0.4, 0.4), (0.5, 1 / 3)]
    smooth = dict(interpolated(Experiment(qrels, run)).of("run"))
    assert [round(smooth[level / 10], 4) for level in range(11)] == [1, 1, 0.6667, 0.5, 0.4, 0.3333, 0, 0, 0, 0, 0]


def test_gain_curves_lie_below_their_ideals() -> None:
    for kind in ("CG", "DCG"):
        curves = gains(COLLECTED, kind, depth=20)
        for run in RUNS:
            own, ideal = curves.of(run), curves.of(run, series="ideal")
            assert all(y <= best + 1e-12 for (_, y), (_, best) in zip(own, ideal, strict=True))
    with pytest.raises(UsageError, match=r"one of CG, DCG, not 'AP'$"):
        gains(COLLECTED, "AP")
    with pytest.raises(UsageError, match=r"one of CG, DCG, not 'nDCG': nDCG is drawn by normalised-gain$"):
        gains(COLLECTED, "nDCG")


def test_axes_of_gains_name_the_convention() -> None:
    assert gains(COLLECTED, "CG", depth=2).y == "cumulated gain, CG"
    assert gains(COLLECTED, "DCG(base=2)", depth=2).y == "discounted cumulated gain, DCG(base=2)"
    assert normalised_gains(COLLECTED, "DCG(base=2)", depth=2).y == "nDCG(base=2), mean of ratios"


@pytest.mark.parametrize(("ratio", "own"), [("NCG", "CG"), ("nDCG", "DCG"), ("nDCG(base=2)", "DCG(base=2)")])
@pytest.mark.parametrize("average", ["mean of ratios", "ratio of means"])
def test_normalised_gains_go_by_the_name_of_the_ratio_as_well(ratio: str, own: str, average: str) -> None:
    by_ratio, by_own = (normalised_gains(COLLECTED, name, depth=5, average=average) for name in (ratio, own))
    assert by_ratio == by_own


def test_the_two_averages_of_normalised_gain_differ_as_they_should() -> None:
    ratios = dict(normalised_gains(COLLECTED, "DCG", depth=10).of("fair"))
    assert ratios[10] == pytest.approx(evaluate(QRELS, RUNS, "nDCG@10").mean()["fair"]["nDCG@10"])
    results = evaluate(QRELS, RUNS, ["DCG@10", "IdealDCG@10"]).mean()["fair"]
    means = dict(normalised_gains(COLLECTED, "DCG", depth=10, average="ratio of means").of("fair"))
    assert means[10] == pytest.approx(results["DCG@10"] / results["IdealDCG@10"])
    with pytest.raises(UsageError, match="average must be"):
        normalised_gains(COLLECTED, "DCG", average="median")


def test_the_area_is_the_mean_of_the_curve() -> None:
    assert area(normalised_gains(COLLECTED, "CG", depth=4).of("good")) == pytest.approx(
        np.mean([evaluate(QRELS, RUNS, f"NCG@{k}").mean()["good"][f"NCG@{k}"] for k in (1, 2, 3, 4)])
    )
    assert area([]) == 0


def test_rank_biased_precision_has_its_residual() -> None:
    curves = rank_biased(COLLECTED, p=0.8, depth=20)
    lower, upper = dict(curves.of("good")), dict(curves.of("good", series="upper"))
    assert lower[20] == pytest.approx(evaluate(QRELS, RUNS, "RBP@20").mean()["good"]["RBP@20"])
    assert upper[20] - lower[20] == pytest.approx(0.8**20)  # everything above is judged
    assert upper[1] >= upper[20]


@pytest.mark.parametrize(
    "policy",
    [
        Policy(topics="run"),
        Policy(empty_topics="drop"),
        Policy(ties="best"),
        Policy(ties="expected"),
        Policy(judged_only=True),
        Policy(depth=2),
    ],
    ids=str,
)
def test_rank_biased_precision_follows_the_policy(policy: Policy) -> None:
    qrels = {"1": {"a": 1, "b": 2, "c": -1, "d": 0}, "2": {"a": 0}, "3": {"x": 1, "y": 1}}
    run = {"1": {"c": 5.0, "a": 4.0, "b": 4.0, "z": 4.0, "d": 1.0}, "2": {"a": 1.0}}
    made = rank_biased(Experiment(qrels, {"s": run}, policy=policy), p=0.6, rel=2, depth=5)
    for k, y in made.of("s"):
        assert y == pytest.approx(evaluate(qrels, {"s": run}, f"RBP(p=0.6, rel=2)@{k:g}", policy=policy).means[0, 0])
    assert all(y <= 1 + 1e-12 for _, y in made.of("s", series="upper"))


def test_documents_by_rank_stand_in_the_order_of_the_policy() -> None:
    qrels, run = {"1": {"a": 1, "b": 0}}, {"s": {"1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}}

    def documents(**policy: Any) -> list[str]:
        return [row.document for row in ranked(Experiment(qrels, run, policy=Policy(**policy)), "1")]

    assert documents() == ["c", "b", "a", "d"]
    assert documents(ties="best")[0] == "a"
    assert documents(judged_only=True) == ["b", "a"]
    assert documents(depth=2) == ["c", "b"]
    for curve in (ranked, precision_recall):
        with pytest.raises(UsageError, match="ties=expected is the mean over many rankings"):
            curve(Experiment(qrels, run, policy=Policy(ties="expected")), "1")


def test_documents_by_rank() -> None:
    rows = [row for row in ranked(COLLECTED, "5", depth=3) if row.run == "good"]
    assert [row.rank for row in rows] == [1, 2, 3]
    assert rows[0].score >= rows[1].score
    assert all(row.grade == QRELS["5"][row.document] for row in rows)


def test_the_picture_of_ranks_says_of_which_topic_and_how_many() -> None:
    longest = max(len(run["5"]) for run in RUNS.values())

    def title(depth: int | None) -> str:
        subject = Subject(experiment=COLLECTED, topics=("5",), depth=depth)
        return str(find_picture("ranks").draw(subject).to_dict()["title"])

    assert title(2) == f"Topic 5, the first 2 of {longest} ranks"
    assert title(longest) == "Topic 5"


def test_unknown_topics_and_measures_without_a_cutoff_are_refused() -> None:
    with pytest.raises(UsageError, match="no topic x in the judgements"):
        by_cutoff(COLLECTED, "P", [1], topics=["x"])
    with pytest.raises(UsageError, match="SetP has no cutoff"):
        by_cutoff(COLLECTED, "SetP")
    assert len(TOPICS) == 40


def test_a_curve_goes_down_to_the_longest_list_but_not_for_ever() -> None:
    for length in (3, LONGEST + 20):
        run = {"q": {f"d{i}": -float(i) for i in range(length)}, "r": {"d0": 1.0}}
        curve = by_cutoff(Experiment({"q": {"d0": 1}, "r": {"d0": 1}}, run), "P").of("run")
        assert [x for x, _ in curve] == list(range(1, min(length, LONGEST) + 1))


def test_raw_points_count_what_is_relevant_from_the_grade_asked_for() -> None:
    qrels, run = {"1": {"a": 1, "b": 2, "c": 2}}, {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert precision_recall(Experiment(qrels, run), ["1"], rel=2).of("run", "1") == [(0.5, 0.5), (1.0, 2 / 3)]


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8, 40])
@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_ranks_have_ticks_at_ranks(depth: int, theme: str) -> None:
    chart = find_picture("cutoff").draw(Subject(experiment=COLLECTED, measures=("P",), depth=depth, theme=theme))
    labels = written(chart, "axis-label")
    below = labels[: next(i for i, text in enumerate(labels) if text.startswith("0"))]
    assert below
    assert all(text.isdigit() and 1 <= int(text) <= depth for text in below)
    assert len(set(below)) == len(below)
