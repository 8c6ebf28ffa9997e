"""Pools taken apart and replayed: definitions written out with `evaluate`, known answers, methods against depth-k."""

from __future__ import annotations

import json
from collections import Counter
from math import isnan
from pathlib import Path
from random import Random

import numpy as np
import pytest

from commands import printed
from cranfield import DataError, UsageError, evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.pools import curves
from cranfield.plot.subject import Subject, find_picture
from cranfield.policy import Policy
from cranfield.pooling.analysis import LeftOut, LeftOutRun, PoolAnalysis, analyse
from cranfield.pooling.candidates import pooled_runs
from cranfield.pooling.making import make_pool
from cranfield.pooling.missing import Missing, estimate_missing, power_law
from cranfield.pooling.pool_tables import FORMATS, render_analysis, render_simulation
from cranfield.pooling.reusability import LIMITS, WORDS, verdict_of
from cranfield.pooling.simulation import Simulation, simulate
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.resampled import Estimate
from cranfield.statistics.significance import Sampling
from places import COLLECTION, EXAMPLES

Rankings = dict[str, dict[str, dict[str, float]]]
Judgements = dict[str, dict[str, float]]
ADAPTIVE = ("move-to-front", "hedge", "maxmean", "maxmean(rate=0)", "thompson", "thompson(rate=0)")


def systems(
    seed: int, *, runs: int = 8, topics: int = 12, documents: int = 150, deep: int = 60
) -> tuple[Rankings, Judgements]:
    """A few good systems and more poor ones, as campaigns have them; every document has its true grade."""
    random = Random(f"pool analysis {seed}")
    names = [f"d{number}" for number in range(documents)]
    qrels = {
        f"q{t}": {name: float(random.choice((1, 2)) if random.random() < 0.15 else 0) for name in names}
        for t in range(topics)
    }
    found: Rankings = {}
    for r in range(runs):
        quality = 2.0 if r % 4 == 0 else 0.4
        found[f"run{r}"] = {}
        for topic, grades in qrels.items():
            scores = {name: quality * min(grade, 1) + random.gauss(0, 1) for name, grade in grades.items()}
            best = sorted(scores, key=lambda name: -scores[name])[:deep]
            found[f"run{r}"][topic] = {name: scores[name] for name in best}
    return found, qrels


def pooled_qrels(runs: Rankings, truth: Judgements, depth: int) -> Judgements:
    """The judgements that a pool of that depth gives."""
    return {topic: {d: truth[topic][d] for d in of} for topic, of in make_pool(runs, depth=depth).documents.items()}


def top(run: dict[str, dict[str, float]], topic: str, depth: int) -> set[str]:
    return set(sorted(run[topic], key=lambda d: -run[topic][d])[:depth])


@pytest.fixture(scope="module")
def pooled() -> tuple[Rankings, Judgements]:
    runs, truth = systems(1)
    return runs, pooled_qrels(runs, truth, 12)


GROUPS = {f"run{r}": f"group{r // 3}" for r in range(8)}


@pytest.fixture(scope="module")
def analysis(pooled: tuple[Rankings, Judgements]) -> PoolAnalysis:
    runs, qrels = pooled
    return analyse(Experiment(qrels, runs), groups=GROUPS, sampling=Sampling(resamples=100))


def test_depth_of_the_pool_is_found(analysis: PoolAnalysis, pooled: tuple[Rankings, Judgements]) -> None:
    runs, qrels = pooled
    assert analysis.depth == analysis.judged_depth == 12
    assert analysis.judged == sum(map(len, qrels.values()))
    assert analysis.nobodys == 0
    for share in analysis.shares:
        each = []
        for run in runs.values():
            counts = [(len(top(run, t, share.depth) & qrels[t].keys()), min(share.depth, len(run[t]))) for t in qrels]
            each.append(sum(judged for judged, _ in counts) / sum(size for _, size in counts))
        assert (share.least, share.mean, share.most) == pytest.approx((min(each), np.mean(each), max(each)))
        assert (share.least == 1) == (share.depth <= 12)


def test_a_short_list_that_is_judged_whole_sets_no_depth() -> None:
    deep = {"q1": {f"d{i}": -float(i) for i in range(40)}}
    other = {"q1": {f"e{i}": -float(i) for i in range(40)}}
    short = {"q1": {"d0": 1.0}}
    pool = {"q1": {f"{letter}{i}": i % 3 for letter in "de" for i in range(15)}}
    found = analyse(Experiment(pool, {"deep": deep, "other": other, "short": short}), sampling=Sampling(resamples=20))
    assert found.depth == found.judged_depth == 15
    whole = analyse(Experiment(pool, {"short": short, "longer": {"q1": {"d1": 2.0, "e1": 1.0}}}))
    assert whole.judged_depth == 2


def test_shares_are_told_down_to_the_longest_list_of_any_topic() -> None:
    """One topic has lists of 12, another of 3: rank 10 is reached, rank 20 is not, and both lists are judged whole."""
    lists = {"q1": {f"d{i}": -float(i) for i in range(12)}, "q2": {f"d{i}": -float(i) for i in range(3)}}
    turned = {topic: {document: -score for document, score in of.items()} for topic, of in lists.items()}
    pool = {topic: {document: 1 if document == "d1" else 0 for document in of} for topic, of in lists.items()}
    found = analyse(Experiment(pool, {"a": lists, "b": turned}))
    assert [(share.depth, share.least, share.most) for share in found.shares] == [(1, 1, 1), (5, 1, 1), (10, 1, 1)]
    assert found.judged_depth == 12


def members(name: str) -> list[str]:
    return [name] if name in GROUPS else [run for run, group in GROUPS.items() if group == name]


@pytest.mark.parametrize("name", ["run0", "run1", "run7", "group0", "group2"])
def test_what_a_run_or_group_brings_by_definition(
    name: str, analysis: PoolAnalysis, pooled: tuple[Rankings, Judgements]
) -> None:
    runs, qrels = pooled
    inside = members(name)
    reduced: Judgements = {}
    counts: Counter[str] = Counter()
    for topic, grades in qrels.items():
        theirs = set().union(*(top(runs[run], topic, 12) for run in inside))
        others = set().union(*(top(runs[run], topic, 12) for run in runs if run not in inside))
        relevant = {d for d, grade in grades.items() if grade >= 1}
        counts.update(judged=len(theirs), relevant=len(theirs & relevant))
        counts.update(only_judged=len(theirs - others), only_relevant=len(theirs & relevant - others))
        reduced[topic] = {d: grade for d, grade in grades.items() if d not in theirs - others}
    contributions = {one.name: one for one in (*analysis.contributions, *analysis.group_contributions)}
    assert contributions[name]._asdict() == {"name": name, **counts}

    full = evaluate(qrels, runs, "AP").means[:, 0]
    without = evaluate(reduced, runs, "AP").means[:, 0]
    names = list(runs)
    (left_out,) = [one for one in (*analysis.left_out, *analysis.groups_left_out) if one.name == name]
    assert [run.run for run in left_out.runs] == inside
    for run in left_out.runs:
        i = names.index(run.run)
        assert (run.score, run.score_without) == pytest.approx((full[i], without[i]), abs=1e-11)
        assert run.rank == 1 + sum(score > full[i] + 1e-12 for score in full)
        assert run.rank_without == 1 + sum(score > without[i] + 1e-12 for score in without)
    assert left_out.tau == pytest.approx(find_coefficient("kendall")(full, without))
    assert left_out.tau_ap == pytest.approx(find_coefficient("tau_ap_b")(full, without))


def test_without_a_pool_depth_whole_lists_count() -> None:
    runs = {"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}, "b": {"q1": {"d3": 2.0, "d4": 1.0}}}
    found = analyse(Experiment({"q1": {"d1": 1, "d3": 1, "d9": 1}}, runs))
    assert (found.depth, found.judged_depth, found.nobodys, found.missing) == (None, 1, 1, None)
    assert any(finding.code == "pool-depth" for finding in found.warnings)


def test_the_scale_of_grades_stays_that_of_all_judgements() -> None:
    """Leaving out the only document of grade 3 does not make grade 1 the highest there is."""
    runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}, "c": {"q1": {"d2": 1.0}}}
    found = analyse(Experiment({"q1": {"d1": 3, "d2": 1}}, runs), measure="ERR", groups={"a": "x", "b": "x", "c": "y"})
    (a, b) = found.groups_left_out[0].runs
    assert (a.score, a.score_without) == pytest.approx((7 / 8, 0.0))
    assert (b.score, b.score_without) == pytest.approx((1 / 8, 1 / 8))


@pytest.mark.parametrize("seed", range(3))
def test_power_law_is_poisson_regression(seed: int) -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(seed)
    depths = np.arange(2, 60)
    counts = rng.poisson(40 * depths**-0.8, (3, len(depths))).astype(float)
    level, slope = power_law(counts, depths)
    design = np.stack([np.ones(len(depths)), np.log(depths)], axis=1)
    for row, (a, b) in zip(counts, zip(level, slope, strict=True), strict=True):
        fitted = api.GLM(row, design, family=api.families.Poisson()).fit(tol=1e-14, maxiter=200)
        assert (a, b) == pytest.approx(tuple(fitted.params), abs=1e-8)


def test_missing_documents_are_estimated() -> None:
    """Where new ones do fall as a power of depth, nine in ten intervals hold the number that is missing."""
    inside, topics, depth = 0, 50, 50
    expected = 2.0 * np.arange(1, 501, dtype=np.float64) ** -0.7
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hardness = rng.gamma(4, 0.25, (topics, 1))
        made = estimate_missing(rng.poisson(hardness * expected[:depth]), sampling=Sampling(seed, 300))
        assert made is not None
        missing = topics * expected[depth:].sum()
        inside += made.missing.low <= missing <= made.missing.high
        assert made.share.value == pytest.approx(made.missing.value / (made.missing.value + made.found))
    assert inside >= 33


def test_nothing_is_extrapolated_from_too_little() -> None:
    assert estimate_missing(np.ones((5, 9), dtype=np.int64)) is None
    only_at_the_top = np.zeros((5, 50), dtype=np.int64)
    only_at_the_top[:, :5] = 3
    assert estimate_missing(only_at_the_top) is None
    with pytest.raises(UsageError, match="below the pool's depth"):
        estimate_missing(np.ones((5, 20), dtype=np.int64), reach=20)


def test_verdicts() -> None:
    """Many alike runs pooled deeply are reusable; two unlike ones pooled to one rank are not."""
    runs, truth = systems(3, runs=12, topics=10, documents=100, deep=100)
    deep = analyse(Experiment(pooled_qrels(runs, truth, 60), runs), depth=60, sampling=Sampling(resamples=50))
    assert deep.verdict.word == WORDS[0], deep.verdict
    assert all(": fine" in reason for reason in deep.verdict.reasons)
    odd: Rankings = {
        "a": {f"q{t}": {"x": 2.0, "y": 1.0} for t in range(5)},
        "b": {f"q{t}": {"z": 2.0, "w": 1.0} for t in range(5)},
    }
    shallow = analyse(Experiment({f"q{t}": {"x": 1, "z": t % 2} for t in range(5)}, odd), depth=1)
    assert shallow.verdict.word == WORDS[2]
    assert "too much" in shallow.verdict.reasons[0]
    assert len(shallow.verdict.reasons) == len(LIMITS)


LOSS = (
    "largest share of its score that a run loses when left out, the worst quarter of runs not counted: {} (fine up to "
    "5.0%, too much above 15.0%): {}"
)
DROP = (
    "most ranks that a run falls when left out, as a share of all ranks, a fall by one not counted: {} (fine up to "
    "10.0%, too much above 25.0%): {}"
)
TAU = (
    "largest change of the order of runs when one of them is left out (1 - tau): {} (fine up to 0.100, too much above "
    "0.200): {}"
)
MISSING = "share of relevant documents likely missing: {} (fine up to 20.0%, too much above 50.0%): {}"


def left(*, rank: int = 1, after: int | None = None, without: float = 0.5, tau: float = 1.0) -> LeftOut:
    """A run that scores 0.5, left out of the pool."""
    return LeftOut("a", (LeftOutRun("a", 0.5, without, rank, rank if after is None else after),), tau, tau)


@pytest.mark.parametrize(
    ("seen", "share", "word", "first"),
    [
        ([left()], 0.2, "likely reusable", LOSS.format("0.0%", "fine")),
        ([left(without=0.47)], 0.1, "to be used with care", LOSS.format("6.0%", "care")),
        ([left(without=0.4)], 0.1, "not reusable", LOSS.format("20.0%", "too much")),
        # Of five runs four count: the worst quarter is rounded down.
        ([left(rank=4, without=0.4)], 0.1, "not reusable", LOSS.format("20.0%", "too much")),
        ([left(), left(rank=5, without=0.4)], 0.1, "likely reusable", LOSS.format("0.0%", "fine")),
        ([left(without=0.6)], 0.1, "likely reusable", LOSS.format("0.0%", "fine")),
        # A rank more or less is nothing; two of four possible ones are half of them.
        ([left(rank=2, after=3)], 0.1, "likely reusable", LOSS.format("0.0%", "fine")),
        ([left(rank=2, after=4)], 0.1, "not reusable", DROP.format("50.0%", "too much")),
        ([left(), left(tau=0.85)], 0.1, "to be used with care", TAU.format("0.150", "care")),
        ([left()], 0.51, "not reusable", MISSING.format("51.0%", "too much")),
        ([left()], None, "to be used with care", MISSING.format("unknown", "care")),
    ],
)  # fmt: skip
def test_verdicts_say_what_they_go_by(seen: list[LeftOut], share: float | None, word: str, first: str) -> None:
    estimate = Estimate(share or 0.0, 0.0, 1.0, 0)
    missing = None if share is None else Missing(10, estimate, estimate, -1.0, 10, 100)
    found = verdict_of(seen, 5, missing)
    assert (found.word, found.reasons[0]) == (word, first)
    assert {reason.split(": ")[0] for reason in found.reasons} == {t.split(": ")[0] for t in (LOSS, DROP, TAU, MISSING)}


def test_wrong_requests_are_answered() -> None:
    runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}}
    qrels = {"q1": {"d1": 1}}
    with pytest.raises(UsageError, match="at least two runs"):
        analyse(Experiment(qrels, {"a": runs["a"]}))
    with pytest.raises(DataError, match="no group for 1 run: b"):
        analyse(Experiment(qrels, runs), groups={"a": "x"})
    with pytest.raises(DataError, match="all runs are of one group, x"):
        analyse(Experiment(qrels, runs), groups={"a": "x", "b": "x"})
    with pytest.raises(DataError, match="not one judged document was retrieved"):
        analyse(Experiment({"q1": {"D1": 1}}, runs))
    with pytest.raises(UsageError, match="no budget"):
        simulate(Experiment(qrels, runs), budgets=[])
    with pytest.raises(UsageError, match="draws a sample"):
        simulate(Experiment(qrels, runs), ["stratified"])
    with pytest.raises(UsageError, match="needs a plan"):
        simulate(Experiment(qrels, runs), ["plan"])
    for rel in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="must be a number"):
            simulate(Experiment(qrels, runs), rel=rel)
    with pytest.raises(DataError, match="not one document has a grade of 2 or more"):
        simulate(Experiment(qrels, runs), rel=2)
    with pytest.raises(DataError, match="no topic has both"):
        simulate(Experiment({"q2": {"d1": 1}}, runs))


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    runs, truth = systems(4, runs=12, topics=30)
    return simulate(Experiment(truth, runs), ["depth", "rrf", *ADAPTIVE], [1, 10, 20, 40], depth=50)


def test_a_pool_has_no_policy() -> None:
    experiment = Experiment(
        {"q1": {"d1": 1}}, {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d1": 1.0}}}, Policy(ties="file")
    )
    for use in (analyse, simulate):
        with pytest.raises(UsageError, match="a pool has no policy"):
            use(experiment)


def test_methods_that_learn_find_more_than_depth(simulation: Simulation) -> None:
    for budget in (20, 40):
        depth = simulation.of("depth", budget).relevant
        for method in simulation.methods:
            if method != "depth":
                assert simulation.of(method, budget).relevant > depth, (method, budget)


def test_simulation_counts_by_definition(simulation: Simulation) -> None:
    runs, truth = systems(4, runs=12, topics=30)
    for budget in (1, 10, 40):
        found = 0
        judged: Judgements = {}
        for candidates in pooled_runs(runs, 50):
            first = candidates.documents[:budget]
            judged[candidates.topic] = {d: truth[candidates.topic][d] for d in first}
            found += sum(grade >= 1 for grade in judged[candidates.topic].values())
        row = simulation.of("depth", budget)
        assert (row.judged, row.relevant) == (budget * 30, found)
        assert row.recall == found / sum(grade >= 1 for of in truth.values() for grade in of.values())
        orders = [evaluate(qrels, runs, "AP").means[:, 0] for qrels in (truth, judged)]
        assert row.tau == pytest.approx(find_coefficient("kendall")(*orders))


def test_simulation_ends_where_documents_do() -> None:
    runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}}
    made = simulate(Experiment({"q1": {"d2": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}, runs), ["depth", "maxmean"], [10])
    for row in made.rows:
        assert (row.judged, row.relevant, row.recall) == (3, 2, 1.0)
    assert {finding.code for finding in made.warnings} == {"missing-topics", "topics-left-out", "unjudged"}
    assert made.found["depth"].tolist() == [0, 1, 2]
    assert curves(made).of("maxmean")[-1] == (2.0, 1.0)


def test_a_method_named_twice_is_replayed_once() -> None:
    runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}}
    made = simulate(Experiment({"q1": {"d2": 1}}, runs), ["rrf", "depth", "rrf(k=60)"], [1, 2, 2])
    assert [(row.method, row.budget) for row in made.rows] == [("rrf", 1), ("rrf", 2), ("depth", 1), ("depth", 2)]


def test_same_seed_same_simulation() -> None:
    runs, truth = systems(5, runs=5, topics=5)
    one, other, third = (simulate(Experiment(truth, runs), ["thompson"], [10], seed=seed) for seed in (3, 3, 4))
    assert one.rows == other.rows
    assert (one.found["thompson"] != third.found["thompson"]).any()


def test_picture_shows_what_was_found(simulation: Simulation) -> None:
    made = curves(simulation)
    for method in simulation.methods:
        points = dict(made.of(method))
        assert points[40.0] == simulation.of(method, 40).recall
        assert points[0.0] == 0.0

    runs, truth = systems(6, runs=3, topics=3)
    chart = find_picture("pooling").draw(Subject(experiment=Experiment(truth, runs), depth=10))
    assert chart.to_dict()["layer"]


def test_every_format_shows_every_number(analysis: PoolAnalysis, simulation: Simulation) -> None:
    for form in FORMATS:
        text, replay = render_analysis(analysis, form), render_simulation(simulation, form)
        assert text.endswith("\n")
        assert replay.endswith("\n")
        if form == "json":
            document = json.loads(text)
            assert document["schema"] == "cranfield.pool-analysis/1"
            assert document["verdict"]["word"] == analysis.verdict.word
            assert len(json.loads(replay)["found"]["depth"]) == 41
        elif form in ("csv", "tsv"):
            assert len(text.splitlines()) == 1 + 8 + 8
            assert len(replay.splitlines()) == 1 + len(simulation.rows)
        else:
            assert all(f"{run.score_without:.4f}" in text for one in analysis.left_out for run in one.runs)
            assert all(f"{row.recall:.4f}" in replay for row in simulation.rows)
            assert analysis.verdict.word in text


def test_commands(tmp_path: Path) -> None:
    (tmp_path / "groups.csv").write_text("run,group\nbm25,x\ndense,y\n")
    runs = ["pool", "bm25.run", "dense.run"]
    analysed = ["--analyse", "qrels.txt", "--groups", str(tmp_path / "groups.csv"), "-f", "json"]
    document = json.loads(printed(*runs, *analysed, folder=EXAMPLES))
    assert [one["name"] for one in document["groups_left_out"]] == ["x", "y"]
    picture = tmp_path / "pools.svg"
    replayed = ["--simulate", "qrels.txt", "--method", "depth", "--budget", "5", "--picture", str(picture), "-f", "csv"]
    assert printed(*runs, *replayed, folder=EXAMPLES).startswith("method,budget,judged,relevant,recall,tau\n")
    assert picture.read_bytes().startswith(b"<svg")


@pytest.mark.skipif(not COLLECTION.is_dir(), reason="the data folder with real runs is not here")
def test_real_runs_replayed() -> None:
    """Eight runs on the classic collection: every method that learns beats depth-k at every budget."""
    runs = sorted(map(str, (COLLECTION / "runs").glob("*.run.gz")))
    made = simulate(Experiment(str(COLLECTION / "cranfield.qrels"), runs), ["depth", *ADAPTIVE], [10, 30])
    assert made.relevant == 1612
    for budget in made.budgets:
        depth = made.of("depth", budget)
        assert depth.judged == 225 * budget
        for method in made.methods[1:]:
            row = made.of(method, budget)
            assert row.judged == depth.judged
            assert row.relevant > depth.relevant
            assert not isnan(row.tau)
