"""Fusion: every method and normalisation against its definition and against ranx, and what must hold for all."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

import numpy as np
import pytest

from commands import Outcome, command_line
from cranfield import DataError, UsageError, evaluate, read_run
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.given import Given
from cranfield.formats.reading import Reading
from cranfield.fusion import Training, all_methods, all_normalisations, find_method, fuse, train_fusion
from cranfield.fusion.probabilities import LEVELS, SEGMENTS
from places import ROOT

CLASSIC = ROOT.parent / "shared" / "data" / "cranfield"

Scores = dict[str, float]  # of documents
Runs = list[dict[str, Scores]]  # {topic: {document: score}}


def generated(seed: int, *, runs: int = 4, topics: int = 5, depth: int = 12, ties: bool = True) -> Runs:
    """Runs that share many documents; with `ties`, some scores are equal or below 0 and some topics are missing."""
    random = np.random.default_rng(seed)
    made: Runs = []
    for _ in range(runs):
        run = {}
        for topic in range(topics):
            if ties and random.random() < 0.15:
                continue
            documents = random.choice(2 * depth, random.integers(1, depth + 1) if ties else depth, replace=False)
            scores = random.integers(-4, 9, len(documents)) / 2 if ties else random.gamma(2, 5, len(documents)) + 0.1
            run[f"q{topic}"] = {f"d{d}": float(s) for d, s in zip(documents, scores, strict=True)}
        made.append(run or {"q0": {"d1": 1.0}})
    return made


# --- definitions, one topic at a time ---------------------------------------------------------------------------------


def in_order(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


def normalised(name: str, one: Scores, every: set[str]) -> Scores:
    """A list with normalised scores; `every` has the documents of all lists of the topic."""
    low, high = min(one.values()), max(one.values())
    total = sum(score - low for score in one.values())
    mean, deviation, order = fmean(one.values()), pstdev(one.values()), in_order(one)
    formulas: dict[str, Callable[[str], float]] = {
        "none": lambda d: one[d],
        "min-max": lambda d: (one[d] - low) / (high - low) if high > low else 1.0,
        "min-max-inverted": lambda d: (high - one[d]) / (high - low) if high > low else 1.0,
        "max": lambda d: one[d] / high,
        "sum": lambda d: (one[d] - low) / total if total else 1 / len(one),
        "z": lambda d: (one[d] - mean) / deviation if high > low else 0.0,
        "rank": lambda d: 1 - order.index(d) / len(one),
        "borda": lambda d: 1 - order.index(d) / len(every) if d in one else 0.5 - (len(one) - 1) / (2 * len(every)),
    }
    return {document: formulas[name](document) for document in (every if name == "borda" else one)}


class Entry:
    """What one document has in one list: its score there, its rank, the length of the list, and which run it is of."""

    def __init__(self, score: float, rank: int, length: int, run: int) -> None:
        self.score, self.rank, self.length, self.run = score, rank, length, run


def window(p: dict[str, Any], e: Entry) -> float:
    known = p["probabilities"][e.run]
    ranks = range(max(e.rank - p["w"], 1), min(e.rank + p["w"], e.length) + 1)
    return fmean(known[i - 1] if i <= len(known) else 0.0 for i in ranks)


def segment_of(ends: Sequence[int], rank: int) -> int:
    return next((g for g, end in enumerate(ends[1:]) if rank <= end), len(ends) - 1)


def of_segment(p: dict[str, Any], e: Entry) -> float:
    segment = (e.rank - 1) // math.ceil(e.length / p["segments"])
    return float(p["probabilities"][e.run][segment] / (segment + 1))


def of_level(p: dict[str, Any], e: Entry) -> float:
    level = segment_of(LEVELS.tolist(), e.rank)
    return float(p["log_odds"][e.run][level]) if level < len(LEVELS) - 1 else math.log(0.001 / 0.999)


def weight(p: dict[str, Any], e: Entry) -> float:
    return float(p["weights"][e.run])


# What a document is worth, from its entries; p are the parameters, and m the number of lists of the topic.
DEFINITIONS: dict[str, Callable[[list[Entry], dict[str, Any], int], float]] = {
    "combsum": lambda x, p, m: sum(e.score for e in x),
    "combmnz": lambda x, p, m: len(x) * sum(e.score for e in x),
    "combanz": lambda x, p, m: sum(e.score for e in x) / len(x),
    "combmin": lambda x, p, m: min(e.score for e in x),
    "combmax": lambda x, p, m: max(e.score for e in x),
    "combmed": lambda x, p, m: median(e.score for e in x),
    "combgmnz": lambda x, p, m: len(x) ** p["gamma"] * sum(e.score for e in x),
    "weighted-sum": lambda x, p, m: sum(weight(p, e) * e.score for e in x),
    "wmnz": lambda x, p, m: sum(weight(p, e) for e in x) * sum(e.score for e in x),
    "mixed": lambda x, p, m: math.sqrt(len(x)) * sum(weight(p, e) * e.score for e in x),
    "rrf": lambda x, p, m: sum(1 / (p["k"] + e.rank) for e in x),
    "isr": lambda x, p, m: len(x) * sum(1 / e.rank**2 for e in x),
    "log-isr": lambda x, p, m: math.log(len(x)) * sum(1 / e.rank**2 for e in x),
    "logn-isr": lambda x, p, m: math.log(len(x) + p["sigma"]) * sum(1 / e.rank**2 for e in x),
    "rbc": lambda x, p, m: sum((1 - p["phi"]) * p["phi"] ** (e.rank - 1) for e in x),
    "mapfuse": lambda x, p, m: sum(p["maps"][e.run] / e.rank for e in x),
    "posfuse": lambda x, p, m: sum((p["probabilities"][e.run] + [0.0] * 99)[e.rank - 1] for e in x),
    "slidefuse": lambda x, p, m: sum(window(p, e) for e in x),
    "probfuse": lambda x, p, m: sum(of_segment(p, e) for e in x),
    "segfuse": lambda x, p, m: sum(
        p["probabilities"][e.run][segment_of(SEGMENTS.tolist(), e.rank)] * (e.score + 1) for e in x
    ),
    "bayesfuse": lambda x, p, m: sum(of_level(p, e) for e in x) + (m - len(x)) * math.log(0.001 / 0.999),
}


def borda_count(lists: list[tuple[int, Scores]], weights: Sequence[float]) -> Scores:
    every = {document for _, one in lists for document in one}
    points = dict.fromkeys(every, 0.0)
    for run, one in lists:
        placed = in_order(one)
        for document in every:
            left = fmean(range(1, len(every) - len(one) + 1)) if len(every) > len(one) else 0.0
            own = len(every) - placed.index(document) if document in one else left
            points[document] += weights[run] * own
    return points


def expected(runs: Runs, method: str, norm: str, parameters: dict[str, Any]) -> dict[str, Scores]:
    """Fusion by definition. Condorcet has none that gives scores: see its own tests."""
    fused: dict[str, Scores] = {}
    for topic in sorted({topic for run in runs for topic in run}):
        lists = [(number, run[topic]) for number, run in enumerate(runs) if topic in run]
        if method in ("bordafuse", "weighted-bordafuse"):
            fused[topic] = borda_count(lists, parameters.get("weights", [1.0] * len(runs)))
            continue
        every = {document for _, one in lists for document in one}
        entries: dict[str, list[Entry]] = {}
        for number, one in lists:
            placed = in_order(one)
            for document, score in normalised(norm, one, every).items():
                rank = placed.index(document) + 1 if document in one else 0
                entries.setdefault(document, []).append(Entry(score, rank, len(one), number))
        fused[topic] = {d: DEFINITIONS[method](x, parameters, len(lists)) for d, x in entries.items()}
    return fused


def some_parameters(method: str, runs: int) -> dict[str, Any]:
    """Values for every parameter of a method."""
    random = np.random.default_rng(7)
    values: dict[str, Any] = {
        "gamma": 0.7,
        "k": 11,
        "sigma": 0.2,
        "phi": 0.8,
        "w": 2,
        "segments": 5,
        "weights": [0.31, 0.24, 0.2, 0.15, 0.1, 0.4][:runs],
        "maps": [0.3, 0.1, 0.25, 0.2, 0.22, 0.15][:runs],
        "log_odds": [np.round(random.normal(size=9), 3).tolist() for _ in range(runs)],
        "probabilities": [np.round(random.random(5 if method == "probfuse" else 10), 3).tolist() for _ in range(runs)],
    }
    return {name: values[name] for name in find_method(method).parameters}


def assert_same(found: Mapping[str, Mapping[str, float]], wanted: Mapping[str, Mapping[str, float]]) -> None:
    assert set(found) == set(wanted)
    for topic, scores in found.items():
        assert dict(scores) == pytest.approx(dict(wanted[topic]), rel=1e-9, abs=1e-9), topic


NORMS = [one.name for one in all_normalisations()]
CASES = [
    (method.name, norm)
    for method in all_methods()
    for norm in (["none"] if method.by_rank else NORMS)
    if "condorcet" not in method.name and not (method.with_ranks and norm in ("borda", "min-max-inverted"))
]


def fused_by(method: str, norm: str) -> Callable[..., Any]:
    return partial(fuse, method=method, norm=None if find_method(method).by_rank else norm)


@pytest.mark.parametrize(("method", "norm"), CASES)
def test_every_method_and_normalisation_is_its_definition(method: str, norm: str) -> None:
    for seed in range(3):
        runs = generated(seed, runs=4 if seed else 2, ties=norm != "max")
        parameters = some_parameters(method, len(runs))
        found = fused_by(method, norm)(runs, parameters=parameters)
        assert_same(found.to_dict(), expected(runs, method, norm, parameters))


# --- elections --------------------------------------------------------------------------------------------------------


def lead(above: str, below: str, lists: list[Scores], weights: Sequence[float]) -> float:
    """By how much weight lists have one document above the other; of two that a list lacks, it says nothing."""
    total = 0.0
    for one, weight in zip(lists, weights, strict=True):
        order = in_order(one)
        place = [order.index(d) if d in one else len(order) for d in (above, below)]
        total += weight * (place[0] < place[1]) - weight * (place[0] > place[1])
    return total


@pytest.mark.parametrize("method", ["condorcet", "weighted-condorcet"])
def test_in_condorcet_no_majority_has_a_document_above_the_one_before_it(method: str) -> None:
    for seed in range(10):
        runs = generated(seed, runs=5)
        weights = [1.0] * 5 if method == "condorcet" else [0.3, 0.1, 0.2, 0.3, 0.1]
        parameters = {} if method == "condorcet" else {"weights": weights}
        fused = fuse(runs, method, parameters=parameters).to_dict()
        for topic, scores in fused.items():
            lists = [run[topic] for run in runs if topic in run]
            counted = [weight for run, weight in zip(runs, weights, strict=True) if topic in run]
            ranking = list(scores)
            assert list(scores.values()) == list(range(len(ranking), 0, -1))
            for upper, lower in pairwise(ranking):
                assert lead(lower, upper, lists, counted) <= 1e-9
            points = borda_count(list(enumerate(lists)), counted)
            for upper, lower in combinations(ranking, 2):  # where nobody is ahead, the Borda count decides
                if all(lead(a, b, lists, counted) == 0 for a, b in combinations(ranking, 2)):
                    assert points[upper] >= points[lower] - 1e-9


def test_a_document_that_beats_every_other_wins_the_election() -> None:
    won = 0
    for seed in range(40):
        runs = generated(seed, runs=5, topics=1, depth=5, ties=False)
        fused = fuse(runs, "condorcet").to_dict()["q0"]
        lists = [run["q0"] for run in runs]
        for one in fused:
            if all(lead(one, other, lists, [1] * 5) > 0 for other in fused if other != one):
                assert next(iter(fused)) == one
                won += 1
    assert won > 5


def test_weights_that_add_up_to_the_same_are_no_majority() -> None:
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}]
    even = fuse(runs, "weighted-condorcet", parameters={"weights": [0.1, 0.2, 0.3]}).of("q")
    swapped = fuse([runs[2], *runs[:2]], "weighted-condorcet", parameters={"weights": [0.3, 0.2, 0.1]}).of("q")
    assert even == swapped


# --- ranx -------------------------------------------------------------------------------------------------------------

RANX = importlib.util.find_spec("ranx")
needs_ranx = pytest.mark.skipif(RANX is None, reason="ranx is not installed")
# Without compiling, which would take minutes; hashes of text fixed, because ranx's order of candidates hangs on them.
WITH_RANX = """
import json, sys
from ranx import Qrels, Run, fuse, fusion
def plain(x):
    if isinstance(x, (list, tuple)): return [plain(y) for y in x]
    return x.tolist() if hasattr(x, "tolist") else x
out = []
for job in json.load(sys.stdin):
    runs = [Run(run) for run in job["runs"]]
    try:
        if "qrels" in job:
            out.append(plain(getattr(fusion, job["train"])(Qrels(job["qrels"]), runs, **job["params"])))
        else:
            fused = fuse(runs, norm=job["norm"], method=job["method"], params=job["params"])
            out.append({q: {d: float(s) for d, s in found.items()} for q, found in fused.run.items()})
    except Exception as error:
        out.append(repr(error))
json.dump(out, sys.stdout)
"""


def with_ranx(jobs: list[dict[str, Any]]) -> list[Any]:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", WITH_RANX],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    answers: list[Any] = json.loads(done.stdout)
    return answers


def ranx_names(module: str, function: str) -> list[str]:
    """The names that one of ranx's functions knows, read from its source: loading ranx takes seconds."""
    if RANX is None or RANX.origin is None:
        return []
    text = (Path(RANX.origin).parent / module / "__init__.py").read_text().split(f"def {function}(")[1]
    names = [name for names in re.findall(r"method (?:==|in) (.*):", text) for name in re.findall(r'"([\w-]+)"', names)]
    return [name for name in names if "_" not in name or name.replace("_", "-") not in names]


RANX_METHODS = ranx_names("fusion", "fusion_switch")
RANX_NORMS = ranx_names("normalization", "norm_switch")
RANX_PARAMETERS = {"probabilities": "probs", "maps": "map_scores"}


def ranx_parameters(ours: dict[str, Any]) -> dict[str, Any]:
    """Our parameters as ranx calls and holds them."""
    theirs = {RANX_PARAMETERS.get(name, name): value for name, value in ours.items() if name != "segments"}
    if "log_odds" in theirs:
        each_rank = [np.repeat(one, np.diff(LEVELS)).tolist() for one in theirs["log_odds"]]
        theirs["log_odds"] = each_rank
    return theirs


def without_circles(seed: int) -> Runs:
    """Five runs of the same documents, no ties, on whose majorities all documents stand in a line."""
    random = np.random.default_rng(seed)
    scores = np.arange(9.0) + random.normal(scale=1.2, size=(5, 9))
    return [{"q0": {f"d{d}": float(score) for d, score in enumerate(one)}} for one in scores]


def runs_for(method: str) -> Runs:
    return without_circles(4) if "condorcet" in method else generated(11, ties=False)


@pytest.mark.parametrize("method", ["condorcet", "weighted-condorcet"])
def test_majorities_of_the_runs_compared_with_ranx_make_no_circle(method: str) -> None:
    """In a circle every order is right, and ranx's hangs on how Python sorts."""
    lists = [run["q0"] for run in runs_for(method)]
    weights = some_parameters(method, 5).get("weights", [1.0] * 5)
    beaten = [sum(lead(a, b, lists, weights) > 1e-9 for b in lists[0] if b != a) for a in lists[0]]
    assert sorted(beaten) == list(range(len(lists[0])))


# Where ranx is arbitrary or wrong; docs/fusion.md says why.
TIED: Runs = [{"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 2.0, "c": 1.0}}]
TURNED: Runs = [{"q": {"b": 1.0, "a": 1.0}}, TIED[1]]
SINGLE: Runs = [{"q": {"a": 5.0}}, {"q": {"b": 2.0, "c": 1.0}}]
EQUAL: Runs = [{"q": {"a": 5.0, "c": 5.0}}, {"q": {"b": 2.0, "c": 1.0}}]
NEGATIVE: Runs = [{"q": {"a": -1.0, "b": -3.0}}, {"q": {"a": 2.0, "b": 1.0}}]
TINY: Runs = [{"q": {"a": 3e-12, "b": 1e-12}}, {"q": {"b": 2e-12, "a": 1e-12}}]
LOW: Runs = [{"q": {"a": -2e9}}, {"q": {"b": -3e9}}]
ELECTION = generated(5, runs=3, topics=1, ties=False)
RENAMED: Runs = [{"q0": {f"x{d[1:]}y": s for d, s in run["q0"].items()}} for run in ELECTION]
ODDITIES: dict[str, tuple[Runs, str, str | None]] = {
    "tied": (TIED, "isr", None),
    "turned": (TURNED, "isr", None),
    "single": (SINGLE, "sum", "min-max"),
    "equal": (EQUAL, "sum", "sum"),
    "negative": (NEGATIVE, "sum", "max"),
    "tiny": (TINY, "sum", "min-max"),
    "low": (LOW, "max", None),
    "election": (ELECTION, "condorcet", None),
    "renamed": (RENAMED, "condorcet", None),
}
# Judgements of some documents of `generated`, to learn from.
QRELS = {f"q{topic}": {f"d{d}": 1 + d % 2 for d in range(topic, 24, 3)} for topic in range(5)}
LEARNING = [method.name for method in all_methods() if method.learnt]
# Lists of 1,001 documents; of all that ranks 501 to 1,000 have, one is relevant.
LONG: Runs = [{f"q{topic}": {f"d{d}": -float(d) for d in range(1, 1002)} for topic in range(3)}] * 2
RARE = {"q0": {"d600": 1}, "q1": {"d1": 1}, "q2": {"d1": 1}}


@pytest.fixture(scope="module")
def by_ranx() -> dict[Any, Any]:
    """What ranx makes of the same runs, by each of its methods and normalisations, in one process."""
    jobs: dict[Any, dict[str, Any]] = {}
    for method in RANX_METHODS:
        runs = runs_for(method)
        parameters = ranx_parameters(some_parameters(method, len(runs)))
        for norm in [*RANX_NORMS, "none"]:
            called = None if norm == "none" else norm
            jobs[method, norm] = {"runs": runs, "method": method, "norm": called, "params": parameters}
    for name, (runs, method, called) in ODDITIES.items():
        jobs[name] = {"runs": runs, "method": method, "norm": called, "params": {}}
    for method in LEARNING:
        given = {"n_segments": 5} if method == "probfuse" else {}
        learning = {"runs": generated(11, ties=False), "qrels": QRELS, "train": f"{method}_train", "params": given}
        jobs["learnt", method] = learning
    jobs["rare"] = {"runs": LONG, "qrels": RARE, "train": "bayesfuse_train", "params": {}}
    levels = {"log_odds": [[0.5] * 1000] * 2}
    jobs["long"] = {"runs": LONG, "method": "bayesfuse", "norm": None, "params": levels}
    return dict(zip(jobs, with_ranx(list(jobs.values())), strict=True))


@needs_ranx
def test_ranx_has_no_method_or_normalisation_that_is_missing_here() -> None:
    assert len(RANX_METHODS) == 25
    assert len(RANX_NORMS) == 7
    assert {find_method(name).name for name in RANX_METHODS} == {method.name for method in all_methods()}


@needs_ranx
@pytest.mark.parametrize("norm", [*RANX_NORMS, "none"])
@pytest.mark.parametrize("method", RANX_METHODS)
def test_ranx_agrees(method: str, norm: str, by_ranx: dict[tuple[str, str], Any]) -> None:
    runs = runs_for(method)
    parameters = some_parameters(method, len(runs))
    theirs = by_ranx[method, norm]
    if norm in ("borda", "min-max-inverted") and (find_method(method).by_rank or find_method(method).with_ranks):
        # ranx takes ranks from what it has normalised: turned around, or, after borda, in the order of a Python set.
        with pytest.raises(UsageError, match="looks at ranks"):
            fuse(runs, method, norm=norm, parameters=parameters)
        assert fuse(runs, method, parameters=parameters).to_dict() != theirs
        return
    assert_same(fused_by(method, norm)(runs, parameters=parameters).to_dict(), theirs)


@needs_ranx
def test_where_ranx_is_arbitrary_or_wrong(by_ranx: dict[Any, Any]) -> None:
    # Ties stand as they were put in; here by document id.
    assert by_ranx["tied"] != by_ranx["turned"]
    assert fuse(TIED, "isr").to_dict() == fuse(TURNED, "isr").to_dict()
    # A list of one document: it is the best of its list, and gets 1 as the best of every list does.
    assert by_ranx["single"]["q"] == {"b": 1.0, "a": 0.0, "c": 0.0}
    assert fuse(SINGLE, "combsum").of("q") == {"b": 1.0, "a": 1.0, "c": 0.0}
    # Every list has the same to give away under sum, and a list of equal scores divides it evenly.
    assert by_ranx["equal"]["q"] == {"b": 1.0, "a": 0.0, "c": 0.0}
    assert fuse(EQUAL, "combsum", norm="sum").of("q") == {"b": 1.0, "c": 0.5, "a": 0.5}
    # The highest score divides; where it is below 0, ranx divides by 1e-9, and one list drowns the other.
    assert by_ranx["negative"]["q"]["a"] < -1e8
    with pytest.raises(DataError, match="not above 0"):
        fuse(NEGATIVE, "combsum", norm="max")
    # Denominators below 1e-9 are taken for 1e-9: the same scores in another unit fuse otherwise.
    assert by_ranx["tiny"]["q"]["a"] == pytest.approx(0.002)
    assert fuse(TINY, "combsum").of("q") == pytest.approx({"a": 1.0, "b": 1.0})
    # A document that a list lacks has the score -1e9 there, not none.
    assert by_ranx["low"]["q"] == {"a": -1e9, "b": -1e9}
    assert fuse(LOW, "combmax", norm="none").of("q") == {"a": -2e9, "b": -3e9}
    # Votes of lists that have neither document go to the second; and the order starts as a set of text has it.
    ranking, again = list(by_ranx["election"]["q0"]), [f"d{d[1:-1]}" for d in by_ranx["renamed"]["q0"]]
    assert ranking != again
    lists = [run["q0"] for run in ELECTION]
    assert any(lead(lower, upper, lists, [1] * 3) > 0 for upper, lower in pairwise(ranking))
    # In Bayes-fuse, levels with no relevant document get better odds than levels with few; here they never do.
    odds = by_ranx["rare"][0]
    assert odds[300] > odds[600]
    ours = (
        train_fusion(Experiment(RARE, LONG), "bayesfuse", Training(same_topics=True)).folds[0].parameters["log_odds"][0]
    )
    assert ours[7] <= ours[8]
    # A list longer than 1,000 has no odds there: an error, and what happens to be in memory where ranx is compiled.
    assert "IndexError" in by_ranx["long"]
    assert fuse(LONG, "bayesfuse", depth=2000, parameters={"log_odds": [[0.5] * 9] * 2}).of("q0")["d1001"] < -13


@needs_ranx
@pytest.mark.parametrize("method", LEARNING)
def test_ranx_learns_the_same(method: str, by_ranx: dict[Any, Any]) -> None:
    theirs = by_ranx["learnt", method]
    fixed = {"probfuse": {"segments": 5}, "slidefuse": {"w": 3}}.get(method, {})
    trained = train_fusion(
        Experiment(QRELS, generated(11, ties=False)), method, Training(same_topics=True), parameters=fixed
    )
    learnt = trained.folds[0].parameters[str(find_method(method).learnt)]
    if method == "bayesfuse":  # for each rank there, for each level here
        theirs = [[one[start] for start in LEVELS[:-1]] for one in theirs]
    if method == "segfuse":
        # The sizes 5, 15, 35 … of segments are taken for their ends, so that the second has ranks 6 to 15, not 6 to 20.
        assert [one[0] for one in learnt] == pytest.approx([one[0] for one in theirs])
        assert [one[1] * 15 for one in learnt] == pytest.approx([one[1] * 10 for one in theirs])
        return
    assert np.array(learnt) == pytest.approx(np.array(theirs), rel=1e-9, abs=1e-9)


# --- what holds for all -----------------------------------------------------------------------------------------------

METHODS = [method.name for method in all_methods()]
RUNWISE = {"weights", "maps", "log_odds", "probabilities"}


@pytest.mark.parametrize("method", METHODS)
def test_the_order_of_the_runs_does_not_matter(method: str) -> None:
    """Not even in the last digit: documents that have the same ranks in other lists are tied."""
    parameters = some_parameters(method, 4)
    order = [2, 0, 3, 1]
    moved = {name: [value[i] for i in order] if name in RUNWISE else value for name, value in parameters.items()}
    for seed in range(10):
        runs = generated(seed, depth=20)
        one = fuse(runs, method, parameters=parameters).to_dict()
        other = fuse([runs[i] for i in order], method, parameters=moved).to_dict()
        assert {q: list(found.items()) for q, found in one.items()} == {q: list(f.items()) for q, f in other.items()}


def test_documents_with_the_same_ranks_in_other_lists_are_tied() -> None:
    ranks = [1, 2, 7]
    assert len({1 / 61 + 1 / 62 + 1 / 67, 1 / 62 + 1 / 67 + 1 / 61, 1 / 67 + 1 / 61 + 1 / 62}) > 1
    runs: Runs = [{"q": {f"{number}-{i}": -float(i) for i in range(1, 9) if i not in ranks}} for number in range(3)]
    for name, order in {"a": ranks, "b": [2, 7, 1], "c": [7, 1, 2]}.items():
        for run, rank in zip(runs, order, strict=True):
            run["q"][name] = -float(rank)
    scores = fuse(runs, "rrf").of("q")
    assert scores["a"] == scores["b"] == scores["c"]
    assert list(scores)[:3] == ["c", "b", "a"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("norm", ["min-max", "sum", "z", "rank"])
def test_the_unit_and_the_zero_of_scores_do_not_matter(method: str, norm: str) -> None:
    runs = generated(2)
    scaled = [{q: {d: 4 * s + 8 for d, s in found.items()} for q, found in run.items()} for run in runs]
    parameters = some_parameters(method, 4)
    one, other = (fused_by(method, norm)(x, parameters=parameters).to_dict() for x in (runs, scaled))
    assert_same(one, other)


@pytest.mark.parametrize("method", METHODS)
def test_renaming_documents_in_their_order_changes_nothing_but_names(method: str) -> None:
    runs = generated(3)
    new = [{q: {f"é{d}": s for d, s in found.items()} for q, found in run.items()} for run in runs]
    parameters = some_parameters(method, 4)
    one, other = (fuse(x, method, parameters=parameters).to_dict() for x in (runs, new))
    assert {q: {f"é{d}": s for d, s in found.items()} for q, found in one.items()} == other
    assert [list(found) for found in one.values()] == [[d[1:] for d in found] for found in other.values()]


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_the_company_of_other_topics_do_not_matter(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cranfield.fusion.fusing.ROWS_AT_ONCE", 60)
    runs = [read_run(run) for run in generated(4, topics=30)]
    parameters = some_parameters(method, 4)
    alone = fuse(runs, method, parameters=parameters, reading=Reading(threads=1)).to_dict()
    assert fuse(runs, method, parameters=parameters, reading=Reading(threads=3)).to_dict() == alone
    monkeypatch.setattr("cranfield.fusion.fusing.ROWS_AT_ONCE", 10**9)
    assert fuse(runs, method, parameters=parameters).to_dict() == alone


@pytest.mark.parametrize("method", METHODS)
def test_depth_cuts_the_same_ranking(method: str) -> None:
    runs = generated(5)
    parameters = some_parameters(method, 4)
    whole = fuse(runs, method, parameters=parameters).to_dict()
    cut = fuse(runs, method, parameters=parameters, depth=3)
    assert {q: list(found.items())[:3] for q, found in whole.items()} == {
        q: list(found.items()) for q, found in cut.to_dict().items()
    }


def test_a_run_given_twice_counts_twice() -> None:
    a, b = generated(6, runs=2)
    twice = fuse([a, a, b], "combsum").to_dict()
    assert_same(twice, fuse([a, b], "weighted-sum", parameters={"weights": [2, 1]}).to_dict())


def test_topics_that_some_runs_lack_are_fused_from_the_others_and_named() -> None:
    fused = fuse([{"1": {"a": 1.0}, "2": {"b": 1.0}}, {"1": {"a": 1.0}, "3": {"c": 1.0}}], "rrf")
    assert fused.topics == ["1", "2", "3"]
    assert fused.origin.notes == (
        ("partial-topics", "2 topics not in every run, fused from those that have them: 2, 3"),
    )
    assert fuse([{"1": {"a": 1.0}}, {"1": {"a": 1.0}}]).origin.notes == ()


def test_what_is_odd_about_a_run_is_said_of_the_fused_one(tmp_path: Path) -> None:
    """Distances among similarities turn a ranking around; the rank column shows it."""
    (tmp_path / "far.run").write_text("q Q0 a 1 0.1 x\nq Q0 b 2 0.2 x\nq Q0 b 2 0.2 x\n")
    (tmp_path / "near.run").write_text("q Q0 a 1 9 x\nq Q0 b 2 8 x\n")
    done = fuse_command(tmp_path / "far.run", tmp_path / "near.run")
    told = "far: the rank column contradicts the scores in 1 row; the scores decide"
    assert f"cranfield: warning: rrf: {told}\n" in done.stderr
    assert "cranfield: warning: rrf: far: 1 " in done.stderr
    fused = fuse([tmp_path / "far.run", tmp_path / "near.run"])
    assert ("rank-disagreement", told) in fused.origin.notes
    mixed: dict[str, Given] = {"once": fused, "more": PAIR[0]}
    again = fuse(mixed)
    assert ("rank-disagreement", f"once: {told}") in again.origin.notes


def test_ids_that_are_not_utf_8_survive(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"q\xff Q0 d\xfe 1 2 x\nq\xff Q0 e 2 1 x\n")
    fused = fuse([tmp_path / "a", tmp_path / "b"], "combsum")
    assert fused.to_dict() == {"q\udcff": {"d\udcfe": 2.0, "e": 0.0}}


# --- errors -----------------------------------------------------------------------------------------------------------

PAIR: Runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "c": 1.0}}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "rff"}, "unknown method of fusion 'rff'; there are bayesfuse"),
        ({"method": "combsum", "norm": "minmax"}, "unknown normalisation 'minmax'"),
        ({"method": "rrf", "norm": "z"}, "rrf looks at ranks alone"),
        ({"method": "rrf", "parameters": {"c": 1}}, "rrf has no parameter 'c'; it has: k"),
        ({"method": "combsum", "parameters": {"k": 1}}, "it has: none"),
        ({"method": "rrf", "parameters": {"k": -1}}, "k must be a number from 0, not -1"),
        ({"method": "rrf", "parameters": {"k": math.nan}}, "k must be a number from 0, not nan"),
        ({"method": "rrf", "parameters": {"k": True}}, "k must be a number from 0"),
        ({"method": "rbc", "parameters": {"phi": 1}}, "phi must be a number between 0 and 1"),
        ({"method": "wsum", "parameters": {"weights": [1]}}, "an entry for each of the 2 runs"),
        ({"method": "wsum", "parameters": {"weights": 0.5}}, "an entry for each of the 2 runs"),
        ({"method": "wsum", "parameters": {"weights": [1, -1]}}, "weights must be a list of numbers from 0"),
        ({"method": "wsum", "parameters": {"weights": [0, 0]}}, "one of the weights at least must be above 0"),
        ({"method": "posfuse"}, "posfuse needs probabilities: learn them"),
        (
            {"method": "probfuse", "parameters": {"segments": 3, "probabilities": [[0.1], [0.2]]}},
            "each of the 3 segments",
        ),
        ({"depth": 0}, "depth must be a whole number from 1, not 0"),
    ],
)
def test_wrong_calls_are_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        fuse(PAIR, **given)


def test_one_run_is_not_enough() -> None:
    with pytest.raises(UsageError, match="two runs or more"):
        fuse(PAIR[:1])


def test_runs_that_share_no_topic_are_no_runs_to_fuse() -> None:
    apart = [{"1": {"a": 1.0}}, {"2": {"a": 1.0}}, {"3": {"a": 1.0}}]
    with pytest.raises(DataError, match=r"no topic is in two runs.* has 1; .* has 2"):
        fuse(apart)
    assert fuse([*apart, apart[0]]).topics == ["1", "2", "3"]


@pytest.mark.parametrize("size", [10**20, 10**308, 10**400])
def test_numbers_of_any_size_are_computed_with_or_refused(size: int) -> None:
    if size > 10**308:
        with pytest.raises(UsageError, match="k must be a number from 0, not 1000"):
            fuse(PAIR, "rrf", parameters={"k": size})
    else:
        assert fuse(PAIR, "rrf", parameters={"k": size}).of("q")["b"] == pytest.approx(2 / size)


@pytest.mark.parametrize("norm", ["min-max", "sum", "z"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e160, 1e307])
def test_scores_too_small_or_too_large_to_square_or_add_up_are_normalised_all_the_same(norm: str, unit: float) -> None:
    scores = {"a": 9.0, "b": 8.5, "c": 8.0, "d": 0.0, "e": -6.0}
    usual, odd = ([{"q": {d: s * u for d, s in scores.items()}}] * 2 for u in (1.0, unit))
    assert_same(fuse(odd, "combsum", norm=norm).to_dict(), fuse(usual, "combsum", norm=norm).to_dict())


def test_errors_name_the_file(tmp_path: Path) -> None:
    for name, score in {"good.run": 1, "bad.run": -1}.items():
        (tmp_path / name).write_text(f"q Q0 d 1 {score} x\n")
    with pytest.raises(DataError, match="^" + re.escape(f"{tmp_path / 'bad.run'}: topic q: the highest score")):
        fuse([tmp_path / "good.run", tmp_path / "bad.run"], "combsum", norm="max")


def test_scores_that_cannot_be_computed_with_are_errors_and_never_nan() -> None:
    infinite = [{"q": {"a": math.inf, "b": 1.0}}, PAIR[1]]
    with pytest.raises(DataError, match="topic q: has an infinite score"):
        fuse({"a": infinite[0], "b": infinite[1]}, "combsum")
    assert list(fuse(infinite, "rrf").of("q")) == ["b", "a", "c"]
    huge = [{"q": {"a": 1.7e308, "b": -1.7e308}}] * 2
    for norm in NORMS:
        try:
            values = fuse(huge, "combsum", norm=norm).of("q").values()
        except DataError:
            continue
        assert all(math.isfinite(value) for value in values), norm


@pytest.mark.parametrize("norm", NORMS)
def test_lists_whose_scores_are_all_equal_stay_finite(norm: str) -> None:
    equal = [{"q": {"a": 0.1, "b": 0.1, "c": 0.1}}, {"q": {"a": 7.0}}]
    values = fuse(equal, "combsum", norm=norm).of("q")
    assert all(math.isfinite(value) for value in values.values())
    if norm in ("min-max", "max", "min-max-inverted"):
        assert values == {"a": 2.0, "c": 1.0, "b": 1.0}
    if norm == "sum":
        assert values == pytest.approx({"a": 1 + 1 / 3, "b": 1 / 3, "c": 1 / 3})
    if norm == "z":
        assert set(values.values()) == {0.0}


# --- command line and documentation -----------------------------------------------------------------------------------


def fuse_command(*arguments: Any) -> Outcome:
    return command_line("fuse", *map(str, arguments), folder=ROOT)


def test_the_command_writes_what_the_library_gives(tmp_path: Path) -> None:
    runs = ["examples/bm25.run", "examples/dense.run"]
    done = fuse_command(*runs, "--method", "wsum", "-p", "weights=0.7,0.3", "--norm", "z", "-o", tmp_path / "fused.run")
    assert (done.exit, done.stderr) == (0, "")
    ours = fuse([ROOT / run for run in runs], "weighted-sum", norm="z", parameters={"weights": [0.7, 0.3]})
    assert done.stdout == f"2 runs fused into {tmp_path / 'fused.run'}: 6 topics, {len(ours):,} rows\n"
    written = read_run(tmp_path / "fused.run")
    assert written.to_dict() == ours.to_dict()
    assert written.origin.tag == "weighted-sum"
    shown = fuse_command(*runs, "--depth", 2, "--name", "both")
    assert shown.stdout.splitlines()[0].split()[3:] == [
        "1",
        str(next(iter(fuse(runs_paths(runs)).of("1").values()))),
        "both",
    ]
    assert len(shown.stdout.splitlines()) == 2 * len(ours.topics)


def test_the_suffix_says_how_a_run_is_written_and_trec_is_the_default(tmp_path: Path) -> None:
    runs = ["examples/bm25.run", "examples/dense.run"]
    for name, start in {
        "fused": "1 Q0 ",
        "fused.v2": "1 Q0 ",
        "fused.jsonl": '{"topic"',
        "fused.csv": "topic,",
    }.items():
        assert fuse_command(*runs, "-o", tmp_path / name).exit == 0
        assert (tmp_path / name).read_text().startswith(start)


def runs_paths(runs: list[str]) -> list[Path]:
    return [ROOT / run for run in runs]


def test_the_command_tells_what_is_wrong(tmp_path: Path) -> None:
    assert "two runs or more" in fuse_command("examples/bm25.run").stderr
    done = fuse_command("examples/bm25.run", "examples/dense.run", "-p", "k=many")
    assert done.exit == 2
    assert "expected NAME=VALUE" in done.stderr
    for words, told in {
        ("--seed", 1, "-m", "AP"): "--seed and --measure can only be given with --train QRELS",
        ("-p", "k=3", "-p", "k=4"): "k is given twice; several numbers have commas between, as in weights=0.7,0.3",
        ("--name", "my run"): "--name must be one word, because blanks end the columns of a run, not 'my run'",
        ("--train", "q", "--folds", 3, "--same-topics"): "--folds and --same-topics exclude each other",
        ("--train", "q", "--seed", 3, "--same-topics"): "--seed draws folds, and --same-topics has none to draw",
        ("--train", "q", "--learnt", "-"): "the run and what was learnt cannot both go to standard output: name a file"
        " for one",
    }.items():
        done = fuse_command("examples/bm25.run", "examples/dense.run", *words)
        assert (done.exit, done.stdout, done.stderr) == (2, "", f"cranfield: {told}\n")
    for name, topic in {"a": 1, "b": 2}.items():
        (tmp_path / name).write_text(f"1 Q0 d1 1 9 x\n{topic} Q0 d2 2 8 x\n")
    done = fuse_command(tmp_path / "a", tmp_path / "b")
    assert done.stderr == "cranfield: note: rrf: 1 topic not in every run, fused from those that have them: 2\n"
    lists = fuse_command("--method", "list").stdout
    assert all(f"{' or '.join((one.name, *one.aliases))}: {one.title}\n" in lists for one in all_methods())
    assert all(parameter.help in lists for method in all_methods() for parameter in method.parameters.values())
    assert all(one.formula in fuse_command("--norm", "list").stdout for one in all_normalisations()[:1])


def test_the_page_has_every_method_and_normalisation() -> None:
    page = (ROOT / "docs" / "fusion.md").read_text()
    for method in all_methods():
        parameters = ", ".join(f"`{name}` ({method.shown_default(name)})" for name in method.parameters)
        names = ", ".join(f"`{name}`" for name in (method.name, *method.aliases))
        assert f"| {names} | {method.formula} | {parameters} | {method.reference} |" in page, method.name
    for one in all_normalisations():
        names = ", ".join(f"`{name}`" for name in (one.name, *one.aliases))
        assert f"| {names} | {one.formula} | {one.help} | {one.reference} |" in page, one.name


@pytest.mark.skipif(not CLASSIC.exists(), reason="the classic collection is not here")
def test_fusing_two_systems_on_the_classic_collection() -> None:
    runs = sorted((CLASSIC / "runs").glob("*.run*"))
    assert len(runs) >= 2
    alone = evaluate(CLASSIC / "cranfield.qrels", runs, "AP").scores[:, 0].mean(axis=1)
    for method in ("rrf", "combsum", "combmnz", "bordafuse"):
        fused = evaluate(CLASSIC / "cranfield.qrels", fuse(runs, method), "AP").scores[0, 0].mean()
        assert fused > alone.min()
