"""Training of fusion: what is learnt, from which topics, and for which."""

from __future__ import annotations

import json
import math
from itertools import pairwise, product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from commands import Outcome, command_line
from cranfield import DataError, Policy, UsageError, evaluate, read_run, split
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.reading import Reading
from cranfield.fusion import Training, all_methods, find_method, fuse, train_fusion
from cranfield.fusion.probabilities import LEVELS, SEGMENTS, odds_of
from cranfield.fusion.searching import best_parameters, simplex
from cranfield.planning import read_splits
from places import EXAMPLES, ROOT

CLASSIC = ROOT.parent / "shared" / "data" / "cranfield"

Runs = list[dict[str, dict[str, float]]]
Qrels = dict[str, dict[str, int]]

TRAINED = [method.name for method in all_methods() if method.learnt or method.tuned]
LEARNT = [method.name for method in all_methods() if method.learnt]


def collection(seed: int, *, runs: int = 2, topics: int = 10, depth: int = 30) -> tuple[Runs, Qrels]:
    """Systems of different worth on topics with a few relevant documents, graded 1 or 2."""
    random = np.random.default_rng(seed)
    qrels: Qrels = {}
    made: Runs = [{} for _ in range(runs)]
    for topic in map(str, range(1, topics + 1)):
        grades = {f"d{d}": int(random.integers(1, 3)) for d in random.choice(60, 6, replace=False)}
        qrels[topic] = grades | {f"d{d}": 0 for d in range(60, 63)}
        for number, run in enumerate(made):
            worth = 2.5 - 2.0 * number / runs
            scores = {f"d{d}": worth * (grades.get(f"d{d}", 0) > 0) + random.normal() for d in range(60)}
            kept = sorted(scores, key=lambda d: scores[d], reverse=True)[: random.integers(depth // 2, depth + 1)]
            run[topic] = {document: float(scores[document]) for document in kept}
    return made, qrels


@pytest.mark.parametrize("method", TRAINED)
def test_what_is_used_on_a_topic_does_not_depend_on_its_judgements(method: str) -> None:
    runs, qrels = collection(1)
    trained = train_fusion(Experiment(qrels, runs), method, Training(folds=3, seed=4))
    for number, fold in enumerate(trained.folds):
        assert not set(fold.train) & set(fold.test)
        worthless = {topic: {d: 2 - grade for d, grade in grades.items()} for topic, grades in qrels.items()}
        changed = {topic: worthless[topic] if topic in fold.test else qrels[topic] for topic in qrels}
        again = train_fusion(Experiment(changed, runs), method, Training(splits={"folds": [_split(fold)]}))
        assert again.folds[0].parameters == trained.folds[number].parameters
        assert again.folds[0].score == pytest.approx(fold.score)
        assert again.run.to_dict() == trained.run.to_dict(list(fold.test))


def _split(fold: Any) -> dict[str, list[str]]:
    return {"train": list(fold.train), "test": list(fold.test)}


@pytest.mark.parametrize("method", TRAINED)
def test_every_topic_is_fused_with_what_its_fold_learnt(method: str) -> None:
    runs, qrels = collection(2)
    trained = train_fusion(Experiment(qrels, runs), method, Training(folds=4))
    assert sorted(topic for fold in trained.folds for topic in fold.test) == sorted(qrels)
    for fold in trained.folds:
        known = fuse(runs, method, parameters=fold.parameters).to_dict(list(fold.test))
        assert trained.run.to_dict(list(fold.test)) == known
        on_train = {topic: qrels[topic] for topic in fold.train}
        found = evaluate(on_train, fuse(runs, method, parameters=fold.parameters), "nDCG@10")
        assert found.scores[0, 0].mean() == pytest.approx(fold.score)


@pytest.mark.parametrize("method", ["rrf", "rbc", "combgmnz", "logn-isr"])
def test_the_best_of_the_grid_is_taken(method: str) -> None:
    runs, qrels = collection(3)
    (name,) = find_method(method).parameters
    grid = find_method(method).parameters[name].grid
    trained = train_fusion(Experiment(qrels, runs), method, Training(measure="AP", folds=2))
    for fold in trained.folds:
        train = {topic: qrels[topic] for topic in fold.train}
        means = [evaluate(train, fuse(runs, method, parameters={name: v}), "AP").scores[0, 0].mean() for v in grid]
        assert fold.score == pytest.approx(max(means))
        assert fold.parameters == {name: grid[int(np.argmax(np.round(means, 10)))]}


def test_a_measure_is_averaged_in_its_own_way() -> None:
    runs, qrels = collection(3)
    (fold,) = train_fusion(Experiment(qrels, runs), "rrf", Training(measure="GMAP", same_topics=True)).folds
    grid = find_method("rrf").parameters["k"].grid
    geometric = [evaluate(qrels, fuse(runs, "rrf", parameters={"k": k}), "GMAP").means.item() for k in grid]
    assert fold.score == pytest.approx(max(geometric))
    with pytest.raises(UsageError, match="is a ratio of means"):
        train_fusion(Experiment(qrels, runs), "rrf", Training(measure="R(agg='ratio')@10"))


def test_of_two_runs_every_tenth_of_a_weight_is_tried() -> None:
    runs, qrels = collection(4)
    for method in ("weighted-sum", "wmnz", "mixed", "weighted-bordafuse", "weighted-condorcet"):
        (fold,) = train_fusion(Experiment(qrels, runs), method, Training(same_topics=True)).folds
        tried = [[tenth / 10, (10 - tenth) / 10] for tenth in range(11)]
        means = [evaluate(qrels, fuse(runs, method, parameters={"weights": w}), "nDCG@10").scores.mean() for w in tried]
        assert fold.score == pytest.approx(max(means)), method


def test_weights_of_a_grid_are_all_that_sum_to_one() -> None:
    for runs in (2, 3, 4):
        points = simplex(runs)
        assert sorted(points) == sorted(
            [part / 10 for part in parts] for parts in product(range(11), repeat=runs) if sum(parts) == 10
        )
        spread = [sum(weight * weight for weight in point) for point in points]
        assert all(one <= other + 1e-12 for one, other in pairwise(spread))


def test_many_runs_are_searched_weight_by_weight() -> None:
    method = find_method("weighted-sum")
    goal = np.array([0.4, 0.0, 0.1, 0.3, 0.05, 0.15])
    trials: list[tuple[float, ...]] = []

    def score(point: dict[str, Any]) -> float:
        trials.append(tuple(point["weights"]))
        return -float(np.abs(np.array(point["weights"]) - goal).sum())

    best, highest = best_parameters(method, 6, {}, score)
    assert np.array(best["weights"]).sum() == pytest.approx(1)
    assert highest > -0.2 > score({"weights": [1 / 6] * 6})
    assert len(trials) < 1000
    assert best_parameters(method, 6, {}, score) == (best, highest)


@pytest.mark.parametrize("runs", [2, 3, 4, 5])
def test_up_to_four_runs_have_a_grid_of_all_weights(runs: int) -> None:
    tried: list[list[float]] = []

    def score(point: dict[str, Any]) -> float:
        tried.append(point["weights"])
        return -abs(float(point["weights"][0]) - 0.3)

    best, highest = best_parameters(find_method("weighted-sum"), runs, {}, score)
    if runs < 5:  # of five runs there would be 1,001
        assert tried == simplex(runs)
        assert best["weights"] == next(weights for weights in simplex(runs) if weights[0] == 0.3)
    else:
        assert tried[0] == [0.2] * 5
        assert len(tried) < 20 * 5 * 7
    assert highest == pytest.approx(-abs(np.array(best["weights"])[0] - 0.3))


def test_weights_are_changed_one_by_one_for_as_long_as_it_helps() -> None:
    """The same climb by hand: every weight times every factor, kept where it is better, until nothing is."""
    target = [0.05, 0.4, 0.0, 0.3, 0.25]
    factors = (0, 0.25, 0.5, 0.8, 1.25, 2, 4)
    tried: list[list[float]] = []

    def score(weights: list[float]) -> float:
        return -sum((weight - aim) ** 2 for weight, aim in zip(weights, target, strict=True))

    def told(point: dict[str, Any]) -> float:
        tried.append(point["weights"])
        return score(point["weights"])

    best, highest = best_parameters(find_method("weighted-sum"), 5, {}, told)
    weights, expected, rounds = [0.2] * 5, [[0.2] * 5], 0
    while True:
        start = weights
        for run, factor in product(range(5), factors):
            changed = [weight * factor if at == run else weight for at, weight in enumerate(weights)]
            if weights[run] == 0 or not sum(changed):
                continue
            expected.append([round(weight / sum(changed), 12) for weight in changed])
            if score(expected[-1]) > score(weights) + 1e-12:
                weights = expected[-1]
        rounds += 1
        if weights == start:
            break
    assert 2 < rounds < 20
    assert tried == expected
    assert best["weights"] == weights
    assert highest == score(weights)
    # What always helps a little is stopped after 20 rounds.
    count = 0

    def growing(point: dict[str, Any]) -> float:
        nonlocal count
        count += 1
        return count * 1e-6

    best_parameters(find_method("weighted-sum"), 5, {}, growing)
    assert count <= 1 + 20 * 5 * 7


def test_every_trial_is_told() -> None:
    runs, qrels = collection(4)
    trials: list[int] = []
    train_fusion(Experiment(qrels, runs), "rrf", Training(folds=3), tried=lambda: trials.append(1))
    assert len(trials) == 3 * len(find_method("rrf").parameters["k"].grid)


def test_a_useless_run_among_many_loses_its_weight() -> None:
    runs, qrels = collection(5, runs=5, topics=12)
    noise = {topic: {f"d{d}": float(np.cos(d * 7)) for d in range(40)} for topic in qrels}
    trained = train_fusion(Experiment(qrels, [*runs, noise]), "weighted-sum", Training(folds=2))
    for fold in trained.folds:
        assert len(fold.parameters["weights"]) == 6
        assert fold.parameters["weights"][5] < 1 / 6
    assert (
        train_fusion(
            Experiment(qrels, [*runs, noise], reading=Reading(threads=1)), "weighted-sum", Training(folds=2)
        ).folds
        == trained.folds
    )


# --- what is learnt of a run ------------------------------------------------------------------------------------------


def learnt_by_definition(method: str, run: dict[str, dict[str, float]], qrels: Qrels, segments: int) -> Any:
    hits = []
    for topic, grades in qrels.items():
        ranking = sorted(run.get(topic, {}), key=lambda d: (run[topic][d], d), reverse=True)
        hits.append([int(grades.get(document, 0) >= 1) for document in ranking])
    if method == "mapfuse":
        precisions = [[sum(one[: i + 1]) / (i + 1) for i, hit in enumerate(one) if hit] for one in hits]
        relevant = [sum(grade >= 1 for grade in grades.values()) for grades in qrels.values()]
        return fmean(sum(one) / count for one, count in zip(precisions, relevant, strict=True))
    if method in ("posfuse", "slidefuse"):
        depth = max(map(len, hits))
        return [fmean(one[i] for one in hits if len(one) > i) for i in range(depth)]
    if method == "probfuse":
        parts = []
        for one in hits:
            size = max(math.ceil(len(one) / segments), 1)
            cut = [one[g * size : (g + 1) * size] for g in range(segments)]
            parts.append([fmean(part) if part else 0.0 for part in cut])
        return [fmean(part[g] for part in parts) for g in range(segments)]
    ends = (SEGMENTS if method == "segfuse" else LEVELS).tolist()
    bounds = list(pairwise(ends))
    precision = [fmean(sum(one[start:end]) / (end - start) for one in hits) for start, end in bounds]
    if method == "segfuse":
        return precision
    believed = [min(max(p, 0.001), 0.999) for p in precision]
    return [math.log(p / (1 - p)) for p in believed]


@pytest.mark.parametrize("method", LEARNT)
def test_what_is_learnt_is_its_definition(method: str) -> None:
    runs, qrels = collection(6, depth=40)
    del runs[1]["3"]
    fixed = {"probfuse": {"segments": 7}, "slidefuse": {"w": 2}}.get(method, {})
    (fold,) = train_fusion(Experiment(qrels, runs), method, Training(same_topics=True), parameters=fixed).folds
    learnt = fold.parameters[str(find_method(method).learnt)]
    assert fold.parameters | fixed == fold.parameters
    for run, found in zip(runs, learnt, strict=True):
        assert found == pytest.approx(learnt_by_definition(method, run, qrels, 7), rel=1e-12, abs=1e-15)


def test_segments_have_the_sizes_of_the_paper() -> None:
    assert np.diff(SEGMENTS).tolist()[:5] == [5, 15, 35, 75, 155]


def test_log_odds_grow_with_precision_and_never_end() -> None:
    odds = odds_of(np.linspace(0, 1, 101))
    assert np.isfinite(odds).all()
    assert (np.diff(odds) > 0).all()
    assert odds[0] == pytest.approx(-odds[-1])


# --- which topics -----------------------------------------------------------------------------------------------------


def test_folds_are_those_of_split() -> None:
    runs, qrels = collection(7)
    trained = train_fusion(Experiment(qrels, runs), "rrf", Training(folds=3, seed=9))
    made = split(sorted(qrels, key=int), folds=3, seed=9)
    assert [(fold.train, fold.test) for fold in trained.folds] == [tuple(one) for one in made.folds]
    assert train_fusion(Experiment(qrels, runs), "rrf", Training(splits=made)).folds == trained.folds
    assert (
        train_fusion(Experiment(qrels, runs), "rrf", Training(splits=read_splits(made.to_dict()))).folds
        == trained.folds
    )


def test_topics_without_judgements_use_what_all_judged_ones_teach() -> None:
    runs, qrels = collection(8)
    few = {topic: qrels[topic] for topic in list(qrels)[:6]}
    trained = train_fusion(Experiment(few, runs), "weighted-sum", Training(folds=2))
    rest = trained.folds[-1]
    assert (sorted(rest.train, key=int), rest.test) == (list(few), tuple(list(qrels)[6:]))
    on_all = train_fusion(Experiment(few, runs), "weighted-sum", Training(same_topics=True))
    assert rest.parameters == on_all.folds[0].parameters == on_all.folds[1].parameters
    assert on_all.run.topics == trained.run.topics
    assert trained.run.topics == list(qrels)


def test_topics_that_are_only_trained_on_are_left_out() -> None:
    runs, qrels = collection(9)
    made = split(list(qrels), test_share=0.3, seed=1)
    trained = train_fusion(Experiment(qrels, runs), "rrf", Training(splits=made))
    assert set(trained.run.topics) == set(made.folds[0].test)
    assert [str(warning) for warning in trained.warnings if warning.code == "train-topics"] == [
        f"rrf: 7 topics only trained on, and left out: {', '.join(made.folds[0].train[:5])} and 2 more"
    ]


def test_training_on_the_topics_one_tests_on_is_asked_for_and_warned_of() -> None:
    runs, qrels = collection(10)
    trained = train_fusion(Experiment(qrels, runs), "rrf", Training(same_topics=True))
    assert [warning.code for warning in trained.warnings] == ["tuned-on-test"]
    assert trained.warnings[0].doubtful
    said = evaluate(qrels, trained.run, "AP").warnings
    assert "tuned-on-test" in [warning.code for warning in said if warning.doubtful]
    assert train_fusion(Experiment(qrels, runs), "rrf").warnings == ()
    overlapping = {"folds": [{"train": ["1", "2"], "test": ["2", "3"]}]}
    with pytest.raises(DataError, match="both in train and in test: 2"):
        train_fusion(Experiment(qrels, runs), "rrf", Training(splits=overlapping))


def test_wrong_calls_are_told() -> None:
    runs, qrels = collection(11)
    with pytest.raises(UsageError, match="combsum has nothing to learn"):
        train_fusion(Experiment(qrels, runs), "combsum")
    with pytest.raises(UsageError, match="leave the policy out"):
        train_fusion(Experiment(qrels, runs, Policy(ties="file")), "rrf")
    with pytest.raises(UsageError, match="posfuse has nothing to learn"):
        train_fusion(Experiment(qrels, runs), "posfuse", parameters={"probabilities": [[0.1], [0.2]]})
    with pytest.raises(UsageError, match="rrf has nothing to learn"):
        train_fusion(Experiment(qrels, runs), "rrf", parameters={"k": 30})
    with pytest.raises(UsageError, match="test a topic more than once"):
        train_fusion(Experiment(qrels, runs), "rrf", Training(splits=split(list(qrels), folds=2, repeats=2)))
    with pytest.raises(UsageError, match="one of the two"):
        train_fusion(Experiment(qrels, runs), "rrf", Training(same_topics=True, splits=split(list(qrels), folds=2)))
    with pytest.raises(DataError, match="judges no topic that a run has"):
        train_fusion(Experiment({"99": {"d1": 1}, "98": {"d1": 1}}, runs), "rrf", Training(folds=2))
    with pytest.raises(UsageError, match="unknown measure"):
        train_fusion(Experiment(qrels, runs), "rrf", Training(measure="nDCQ"))


# --- command line -----------------------------------------------------------------------------------------------------


def fuse_command(*arguments: Any) -> Outcome:
    return command_line("fuse", *map(str, arguments), folder=ROOT)


def test_the_command_trains_and_writes_what_was_learnt(tmp_path: Path) -> None:
    runs = ["examples/bm25.run", "examples/dense.run"]
    splits = tmp_path / "splits.json"
    split(EXAMPLES / "qrels.txt", folds=3, seed=2).write(splits)
    done = fuse_command(
        *runs, "--method", "wsum", "--train", "examples/qrels.txt", "--splits", splits, "-m", "AP", "--learnt",
        tmp_path / "learnt.json", "-o", tmp_path / "fused.run",
    )  # fmt: skip
    assert (done.exit, done.stderr) == (0, "")
    trained = train_fusion(
        Experiment(EXAMPLES / "qrels.txt", [ROOT / run for run in runs]),
        "wsum",
        Training(measure="AP", splits=splits),
    )
    assert done.stdout.startswith(f"{trained}\n2 runs fused into ")
    assert done.stdout.startswith("fold 1: weights ")
    assert json.loads((tmp_path / "learnt.json").read_text()) == json.loads(trained.to_json())
    assert read_run(tmp_path / "fused.run").to_dict() == trained.run.to_dict()
    piped = fuse_command(
        *runs, "--method", "wsum", "--train", "examples/qrels.txt", "--splits", splits, "-m", "AP", "--learnt", "-",
        "-o", tmp_path / "fused.run",
    )  # fmt: skip
    assert json.loads(piped.stdout) == json.loads(trained.to_json())
    assert piped.stderr == done.stdout
    same = fuse_command(*runs, "--train", "examples/qrels.txt", "--same-topics", "-o", tmp_path / "fit.run")
    assert "warning: rrf: was tuned on the topics it is given for" in same.stderr


@pytest.mark.skipif(not CLASSIC.exists(), reason="the classic collection is not here")
def test_training_on_the_classic_collection_does_not_harm() -> None:
    runs = [CLASSIC / "runs" / f"{name}.run.gz" for name in ("bm25-stem", "vsm-tfidf")]
    qrels = CLASSIC / "cranfield.qrels"
    trained = train_fusion(Experiment(qrels, runs), "weighted-sum", Training(measure="AP", folds=5, seed=1))
    alone = evaluate(qrels, runs, "AP").scores[:, 0].mean(axis=1)
    fused = evaluate(qrels, trained.run, "AP").scores[0, 0].mean()
    assert fused > alone.min()
    assert fused > alone.max() - 0.005
