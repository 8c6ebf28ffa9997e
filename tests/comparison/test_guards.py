"""What a reader is warned of, word by word, and when nothing is said."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from commands import command_line
from cranfield.comparison import standing
from cranfield.comparison.comparison import Comparison
from cranfield.comparison.comparison_tables import column_legend, legend, pairs_grid, render, systems_grid
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Details, Question
from cranfield.comparison.standing import level_groups, mean_ranks, standings, tiers
from cranfield.comparison.systems import compare, compare_collections, compare_results
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.given import Given
from cranfield.planning.splits import split
from cranfield.policy import Policy
from cranfield.report.contents import gather
from cranfield.statistics.effects import sure_interval
from cranfield.statistics.significance import Sampling
from made import FEW_DRAWS, Floats, compared, on_collections, results, with_differences
from noisy import QRELS, RUNS, TOPICS, system, write

RANDOM = np.random.default_rng(12)
MANY = RANDOM.normal(0.5, 0.1, (3, 60))


def said(comparison: Comparison, code: str) -> list[str]:
    return [warning.message for warning in comparison.warnings if warning.code == code]


def doubtful(comparison: Comparison) -> set[str]:
    return {warning.code for warning in comparison.warnings if warning.doubtful}


def test_an_ordinary_comparison_is_not_doubted() -> None:
    found = compared(MANY[:2] + np.array([[0], [0.2]]))
    assert found.warnings == ()


CHANCE = "the chance of a false alarm among them would be"


@pytest.mark.parametrize(
    ("question", "told", "doubts"),
    [
        (
            {},
            "adjusted p-values (Holm) keep below 0.05 the chance of even one false alarm in the family, whatever",
            False,
        ),
        (
            {"correction": "benjamini-hochberg"},
            "adjusted p-values (Benjamini-Hochberg) keep below 0.05 the expected share of false alarms among what "
            "is found, if the comparisons are independent or depend on each other positively; single false alarms are",
            False,
        ),
        ({"correction": "none"}, "they are not corrected", True),
        (
            {"tests": ["tukey"]},
            "Tukey's HSD corrects for all pairs itself and, times their number, for the measures",
            False,
        ),
        ({"tests": ["maxt"]}, "the step-down maxT by sign flips corrects for all pairs itself and, times their", False),
    ],
)
def test_the_family_is_told_with_what_keeps_false_alarms_down(
    question: dict[str, Any], told: str, doubts: bool
) -> None:
    found = compared({"AP": MANY, "RR": MANY + 0.01}, **question)
    (message,) = said(found, "many-comparisons")
    assert message.startswith(f"6 comparisons: uncorrected, {CHANCE} about 26% if they were independent; {told}")
    assert ("many-comparisons" in doubtful(found)) == doubts
    assert not said(compared(MANY[:2], **question), "many-comparisons")
    if "tests" in question:
        alone = said(compared(MANY, **question), "many-comparisons")
        assert alone[0].endswith("corrects for all pairs itself")
        assert "Holm" not in legend(found)


def test_tests_that_are_not_about_the_mean_say_their_null_hypothesis() -> None:
    for name, start in (("wilcoxon", "the Wilcoxon signed-rank test is"), ("sign", "the sign test is")):
        (message,) = said(compared(MANY, tests=["t", name]), "other-null")
        assert message.startswith(f"{start} not about the mean; its null hypothesis: ")
    for name in ("t", "randomisation", "bootstrap"):
        assert not said(compared(MANY, tests=[name]), "other-null")


def test_too_few_resamples_are_counted_from_the_family() -> None:
    two = {"AP": MANY, "RR": MANY + 0.01}
    few = Sampling(seed=7, resamples=1199)
    found = compared(two, tests=["bootstrap"], sampling=few)
    assert said(found, "few-resamples") == [
        "1,199 resamples are too few for 6 comparisons: take 1,200 or more (--resamples)"
    ]
    (drawn,) = said(found, "sampled-p")
    error = max(float(panel.error["bootstrap"].max()) for panel in found.panels)
    assert drawn == f"p-values are from 1,199 resamples, seed 7: standard error up to {error:.1g}"
    assert not said(compared(two, tests=["bootstrap"], sampling=Sampling(resamples=1200)), "few-resamples")
    family = compared(two, tests=["maxt"], sampling=Sampling(resamples=399))
    assert said(family, "few-resamples") == [
        "399 resamples are too few for 6 comparisons: take 400 or more (--resamples)"
    ]
    assert not said(compared(two, tests=["maxt"], sampling=Sampling(resamples=400)), "few-resamples")
    # Beside t, which decides, draws of another test are nobody's concern; nor are those of an exact one.
    assert not said(compared(two, sampling=few), "sampled-p")
    exact = compared(with_differences([0.1, 0.2, 0.3, 0.4, 0.1, 0.2]), sampling=Sampling(resamples=99))
    assert not said(exact, "sampled-p")
    assert not said(exact, "few-resamples")


def test_few_topics_say_what_could_be_found() -> None:
    scores = RANDOM.normal(0.5, 0.1, (3, 24))
    found = compared(scores, power=0.9)
    (message,) = said(found, "few-topics")
    most = found.panels[0].effects.detectable.max()
    assert message == (
        "24 topics are few (50 are usual, 200 better): the exact randomisation test decides, as t is fragile; the "
        f"smallest difference that would be found after correction with a chance of 90% is about {most:.3f} in AP"
    )
    assert "after correction" not in said(compared(scores[:2]), "few-topics")[0]


@pytest.mark.parametrize(("topics", "systems", "cannot"), [(5, 2, True), (6, 2, False), (6, 3, True), (8, 3, False)])
def test_too_few_topics_to_decide_anything_are_said_to_be(topics: int, systems: int, cannot: bool) -> None:
    (message,) = said(compared(RANDOM.normal(0.5, 0.1, (systems, topics))), "few-topics")
    least, level = 2.0 ** (1 - topics), 0.05 / (systems * (systems - 1) // 2)
    told = f"{topics} topics cannot decide anything at level {level:.2g}, as no randomisation p is below {least:.2g}"
    assert (told in message) == cannot == (least >= level)


def test_few_changed_topics_are_told_with_an_interval_that_holds() -> None:
    difference = np.zeros(50)
    difference[:4] = [0.2, 0.1, -0.3, 0.4]
    found = compared(with_differences(difference))
    (low,), (high,) = sure_interval(np.array([3]), np.array([1]), 50, 1.0, 0.05)
    assert said(found, "few-changed") == [
        "few of the 50 topics change (a and b on 4): intervals from so few differences cover too little; counting "
        "only how many change, whatever their scores, the 95% interval of the mean difference is, for a and b "
        f"[{low:+.4f}, {high:+.4f}]"
    ]
    assert "few-changed" in doubtful(found)
    unbounded = said(compared({"ESL": with_differences(difference)}), "few-changed")
    assert unbounded[0].endswith("(a and b on 4): intervals from so few differences cover too little")
    many = with_differences(*[np.roll(difference, k) for k in range(4)])
    assert "; 5 more): intervals" in said(compared(many), "few-changed")[0]
    for count, topics, told in ((12, 50, True), (13, 50, False), (24, 100, True), (25, 200, False), (0, 50, False)):
        changed = np.zeros(topics)
        changed[:count] = np.linspace(0.1, 0.3, count)
        assert bool(said(compared(with_differences(changed)), "few-changed")) == told, (count, topics)


def test_identical_and_undefined_pairs_are_named() -> None:
    scores = np.stack([MANY[0], MANY[0], MANY[1], MANY[0] + 0.1])
    found = compared(scores)
    assert said(found, "same-scores") == ["the same by AP on every topic: a and b"]
    assert not said(found, "identical")
    assert said(found, "undefined") == [
        "the paired t test is undefined for a and b, a and d, b and d: the exact randomisation test decides"
    ]
    assert "undefined" not in doubtful(found)
    assert not said(compared(MANY), "undefined")
    assert not said(compared(MANY), "same-scores")
    notes = said(found, "test-note")
    assert "in 2 of 6 pairs the difference is the same on every topic: without variation p is undefined" in notes
    assert "1 of 6 pairs have the same score on every topic: p = 1" in notes


def test_only_equal_rankings_are_asked_about() -> None:
    """Scores may agree where rankings do not; a copy under other scores is still the same ranking."""
    copy = {topic: {document: 2 * score for document, score in of.items()} for topic, of in RUNS["good"].items()}
    turned = {topic: {document: -score for document, score in of.items()} for topic, of in RUNS["good"].items()}
    runs = {"good": RUNS["good"], "copy": copy, "turned": turned}
    found = compare(Experiment(QRELS, runs), ["AP", "R@30"])
    asked = "every judged document at the same rank: good and copy. Are these the same run twice?"
    assert said(found, "identical") == [asked, asked]
    assert said(found, "same-scores") == [
        "the same by R@30 on every topic, though their rankings differ: good and turned, copy and turned"
    ]
    assert "same-scores" not in doubtful(found)


def test_runs_of_long_names_are_told_apart_in_warnings() -> None:
    """Names of runs that lie in two folders are their paths, which differ at the end."""
    folder = "/home/ada/experiments/of/this/summer/"
    named = Experiment(QRELS, {f"{folder}bm25.run": RUNS["fair"], f"{folder}bm25-stemmed.run": RUNS["fair"]})
    (message,) = said(compare(named, "AP"), "identical")
    assert "/home/ada/experimen…this/summer/bm25.run and /home/ada/experimen…mer/bm25-stemmed.run. Are" in message


def test_small_effects_are_told_where_they_are_significant() -> None:
    topics = 900
    noise = np.random.default_rng(1).normal(0, 0.1, (3, topics))
    noise -= noise.mean(axis=1, keepdims=True)
    noise /= noise.std(axis=1, ddof=1, keepdims=True) * 10
    scores = with_differences(*(noise + np.array([[0.012], [0.021], [0.0066]])))
    found = compared({"AP": scores, "RR": scores * 0}, baseline="d")
    assert [pair.significant for pair in found.rows()][:3] == [True, True, False]
    assert next(itertools.islice(found.rows(), 2, None)).p["t"] < 0.05
    assert said(found, "small-effect") == [
        "significant but small (|d_z| below 0.2): a and d. Does such a difference matter?"
    ]
    turned = compared({"AP": 1 - scores, "RR": scores * 0}, baseline="d")
    assert said(turned, "small-effect") == said(found, "small-effect")


def test_what_is_not_significant_is_not_called_equal() -> None:
    scores = np.stack([MANY[0], MANY[1], MANY[1] + 0.3])
    found = compared(scores)
    assert said(found, "not-equal") == [
        '1 pair not significantly different: that is not "equal". Ask for equivalence within a margin that matters '
        "(--equivalence)"
    ]
    assert "not-equal" not in doubtful(found)
    assert said(compared(MANY), "not-equal")[0].startswith("3 pairs not significantly different")
    assert not said(compared(scores, margin=0.05), "not-equal")
    assert not said(compared(scores[1:]), "not-equal")


def unjudged_run(share: float, topics: list[str]) -> dict[str, dict[str, float]]:
    """Ten documents a topic, that share of them unjudged."""
    return {t: {(f"x{n}" if n < 10 * share else f"d{n}"): 20.0 - n for n in range(10)} for t in topics}


def test_uneven_judging_names_the_system_with_more_unjudged_documents() -> None:
    for names in (("a", "b", "c"), ("c", "b", "a")):
        runs = {name: unjudged_run({"a": 0.2, "b": 0.6, "c": 0.3}[name], TOPICS) for name in names}
        found = compare(Experiment(QRELS, runs), "P@10")
        assert said(found, "uneven-judging") == [
            "unjudged documents are 60% of what b shows and 20% for a: the first may be better than it looks "
            "(`cranfield evaluate --bounds`, or `bounds=True` in Python, says by how much)"
        ]
    close = {"a": unjudged_run(0.2, TOPICS), "b": unjudged_run(0.3, TOPICS)}
    assert not said(compare(Experiment(QRELS, close), "P@10"), "uneven-judging")
    apart = {"a": unjudged_run(0.2, TOPICS), "b": unjudged_run(0.4, TOPICS)}
    assert said(compare(Experiment(QRELS, apart), "P@10"), "uneven-judging")
    assert not said(compare(Experiment(QRELS, apart), "NumRet"), "uneven-judging")


def test_uneven_judging_at_rank_1_is_told_of_measures_that_stop_there() -> None:
    """Of ten documents one is unjudged in either run: the first, or the last."""
    first = {t: {"x": 99.0} | {f"d{n}": 20.0 - n for n in range(9)} for t in TOPICS}
    last = {t: {f"d{n}": 20.0 - n for n in range(9)} | {"x": 0.0} for t in TOPICS}
    experiment = Experiment(QRELS, {"last": last, "first": first})
    for measure in ("RR@10", "RR", "ERR@10"):
        assert said(compare(experiment, measure), "uneven-judging") == [
            "unjudged documents are 100% of what first shows at rank 1 and 0% for last: the first may be better than "
            "it looks (`cranfield evaluate --bounds`, or `bounds=True` in Python, says by how much)"
        ]
    for measure in ("P@10", "Success@10", "R@10", "AP"):
        assert not said(compare(experiment, measure), "uneven-judging")
    (message,) = said(compare(experiment, "P@1"), "uneven-judging")
    assert "100% of what first shows and 0%" in message


def test_unjudged_documents_are_of_what_is_shown() -> None:
    """A run without an answer to a third of the topics shows nothing there, and nothing unjudged."""
    runs = {"a": unjudged_run(0.1, TOPICS[: len(TOPICS) * 2 // 3]), "b": unjudged_run(0.1, TOPICS)}
    found = compare(Experiment(QRELS, runs), "P@10")
    assert not said(found, "uneven-judging")
    unjudged = found.panels[0].unjudged
    assert unjudged is not None
    assert unjudged == pytest.approx([0.1, 0.1])
    assert "10.0%" in render(found, "table")
    cube = results({"AP": MANY, "Judged": np.full((3, 60), 0.75), "NumRet": np.zeros((3, 60))})
    cube.scores[1:, 2] = 10
    asked = Question(sampling=FEW_DRAWS)
    nothing = compare_results({"": Evaluated(cube, {run: [run] for run in cube.runs})}, cube.measures[:1], asked)
    assert [row[3].text for row in systems_grid(nothing).cells()] == ["–", "25.0%", "25.0%"]
    assert not said(nothing, "uneven-judging")
    cube.scores[2, 1] = 0.25
    uneven = compare_results({"": Evaluated(cube, {run: [run] for run in cube.runs})}, cube.measures[:1], asked)
    (message,) = said(uneven, "uneven-judging")
    assert message.startswith("unjudged documents are 75% of what c shows and 25% for b:")
    cube.scores[2, 1], cube.scores[1, 1] = 0.004, 0.9999
    nearly = compare_results({"": Evaluated(cube, {run: [run] for run in cube.runs})}, cube.measures[:1], asked)
    (message,) = said(nearly, "uneven-judging")
    assert message.startswith("unjudged documents are 99.6% of what c shows and 0.01% for b:")
    assert [row[3].text for row in systems_grid(nearly).cells()] == ["–", "0.01%", "99.6%"]
    cube.scores[:, 2] = 0
    silent = compare_results({"": Evaluated(cube, {run: [run] for run in cube.runs})}, cube.measures[:1], asked)
    assert not said(silent, "uneven-judging")


def test_one_run_alone_of_a_system_is_told() -> None:
    seeds: dict[str, Given | Sequence[Given]] = {
        "fair": [system(0.4, seed) for seed in range(3)],
        "good": system(1.0, 1),
        "best": system(2.0, 2),
    }
    found = compare(Experiment(QRELS, seeds), "AP")
    assert said(found, "one-seed") == [
        "one run alone of good, best: the result is about that run, not the method under other seeds"
    ]
    only = compare(Experiment(QRELS, {"fair": [system(0.4, 1)], "good": [system(1.0, 1)]}), "AP")
    assert said(only, "one-seed") == [
        "one run of each system (fair, good): the result is about these runs, not the methods"
    ]
    assert "± is the standard deviation of a system's runs; d_z and W/T/L are of the mean over its runs" in legend(
        found
    )
    assert "±" not in legend(only)


def test_seeds_that_never_vary_are_decided_by_randomisation() -> None:
    """Three runs the same of each of two systems that differ by the same on ten topics."""
    qrels = {str(t): {"d1": 1} for t in range(10)}
    first, second = ({t: {"d1": rank, "d2": 2.0} for t in qrels} for rank in (3.0, 1.0))
    (pair,) = compare(Experiment(qrels, {"a": [first] * 3, "b": [second] * 3}), "RR").rows()
    assert np.isnan(pair.p["seeds"])
    assert (pair.decided_by, pair.adjusted_p, pair.low, pair.high) == ("randomisation", 2.0**-9, 0.5, 0.5)


def test_p_values_that_nothing_corrects_say_so() -> None:
    runs = {name: RUNS[name] for name in ("fair", "good", "poor")}
    found = compare(
        Experiment(QRELS, runs),
        "AP",
        baseline="poor",
        details=Details(splits=split(TOPICS, folds=4), margin=0.1, risk=1.0),
    )
    text = render(found, "markdown")
    assert "p (t over folds), uncorrected" in text
    assert "p equivalent, uncorrected" in text
    assert "| p, uncorrected |" in text
    one = compare(
        Experiment(QRELS, {"fair": runs["fair"], "good": runs["good"]}),
        "AP",
        details=Details(splits=split(TOPICS, folds=4), margin=0.1),
    )
    assert "uncorrected" not in render(one, "markdown")
    held = compare(Experiment(QRELS, runs), "AP", details=Details(splits=split(TOPICS, test_share=0.5)))
    assert "p (t on the test topics), uncorrected" in render(held, "markdown")


def test_the_summary_over_collections_says_what_it_did() -> None:
    few = on_collections({"web": MANY[:2, :10], "news": MANY[:2, 10:20]})
    text = " ".join(render(few, "table").split())
    assert (
        "p is by randomisation of all topics, each weighed by its collection; adjusted p: one comparison, with" in text
    )
    mixed = np.stack([MANY[0], MANY[1], MANY[1]])
    mixed[2, :3] += 0.1
    both = " ".join(render(on_collections({"web": mixed[:, :30], "news": mixed[:, 30:]}), "table").split())
    assert "degrees of freedom or, where few topics change, randomisation of all topics" in both
    far = MANY + np.array([[0], [0], [0.5]])
    grid = render(on_collections({"web": far, "news": far + 0.01}), "markdown")
    rows = [line for line in grid.splitlines() if line.startswith("| AP")]
    assert [(r"<sup>\*</sup>" in row) for row in rows] == [False, True, True]


def test_a_ledger_knows_judgements_by_what_is_in_them(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    qrels = write(tmp_path / "qrels.txt", QRELS)
    copy = write(tmp_path / "under-another-name.txt", QRELS)
    changed = write(tmp_path / "changed.txt", QRELS | {"1": {"d1": 1}})
    runs = [write(tmp_path / f"{name}.run", RUNS[name]) for name in ("fair", "good")]
    old = {"schema": "cranfield.ledger/1", "judgements": None, "comparisons": 7, "significant": 2}
    assert "ledger" not in command_line("compare", qrels, *runs, "--ledger", ledger, "-m", "AP").stderr
    (entry,) = map(json.loads, ledger.read_text().splitlines())
    assert entry["schema"] == "cranfield.ledger/2"
    assert entry["comparisons"] == 1
    assert entry["significant"] == 1
    assert entry["measures"] == ["AP"]
    assert entry["correction"] == "holm"
    assert entry["systems"] == ["fair", "good"]
    again = command_line("compare", copy, *runs, "--ledger", ledger).stderr
    assert (
        "1 comparison was made on these judgements before, in 1 session; 1 significant. p-values are corrected for "
        "this session alone: report the others too"
    ) in again
    assert "made on these judgements before" not in command_line("compare", changed, *runs, "--ledger", ledger).stderr
    listed = tmp_path / "collections.toml"
    listed.write_text(
        "".join(
            f"[{name}]\nqrels = '{file}'\n[{name}.runs]\na = 'fair.run'\nb = 'good.run'\n"
            for name, file in (("new", "changed.txt"), ("known", "qrels.txt"))
        )
    )
    several = command_line("compare", "--collections", listed, "--ledger", ledger, "-m", "AP").stderr
    assert "5 comparisons were made on these judgements before, in 3 sessions" in several
    with ledger.open("a") as file:
        file.write(json.dumps({**old, "judgements": entry["judgements"][0]}) + "\n")
    third = command_line("compare", qrels, *runs, "--ledger", ledger, "-m", "AP").stderr
    assert "12 comparisons were made on these judgements before, in 4 sessions; 7 significant" in third
    twin = write(tmp_path / "twin.run", system(0.4, 77))
    command_line("compare", qrels, runs[0], twin, "--ledger", ledger, "-m", "AP")
    last = json.loads(ledger.read_text().splitlines()[-1])
    assert (last["comparisons"], last["significant"]) == (1, 0)


def test_a_file_listed_twice_among_collections_is_noticed(tmp_path: Path) -> None:
    for name in ("one.txt", "other.txt"):
        write(tmp_path / name, QRELS)
    for name in ("fair", "good", "poor"):
        write(tmp_path / f"{name}.run", RUNS[name])
    listed = tmp_path / "collections.toml"
    listed.write_text(
        "[x]\nqrels = 'one.txt'\n[x.runs]\na = 'fair.run'\nb = 'good.run'\n"
        "[y]\nqrels = 'other.txt'\n[y.runs]\na = 'poor.run'\nb = 'good.run'\n"
    )
    told = command_line("compare", "--collections", listed, "-m", "AP").stderr
    assert "x and y have the same judgements: one collection entered twice counts twice. Leave one out" in told
    write(tmp_path / "other.txt", {topic: grades | {"another": 1} for topic, grades in QRELS.items()})
    assert "counts twice" not in command_line("compare", "--collections", listed, "-m", "AP").stderr


def differing(*gaps: float) -> Floats:
    """Systems so far apart, each from the next, with little noise: 60 topics."""
    noise = np.random.default_rng(5).normal(0, 0.02, (len(gaps) + 1, 60))
    return np.asarray(0.3 + noise + np.cumsum([0.0, *gaps])[:, None])


def test_letters_stars_and_bests_are_those_of_the_adjusted_p_values() -> None:
    """By hand from SciPy's t tests and Holm's steps; p of 0.03 before the correction must not count."""
    noise = np.random.default_rng(3).normal(0, 0.1, (2, 60))
    noise -= noise.mean(axis=1, keepdims=True)
    shift = stats.t.isf(0.015, 59) * noise.std(axis=1, ddof=1)[0] / np.sqrt(60)
    scores = with_differences(noise[0] + shift, noise[1] + 0.5)
    found = compared(scores)
    p = {(i, j): stats.ttest_rel(scores[i], scores[j]).pvalue for i, j in itertools.combinations(range(3), 2)}
    assert 0.025 < p[0, 2] < 0.035
    order = sorted(p, key=lambda pair: p[pair])
    adjusted, largest = {}, 0.0
    for k, places in enumerate(order):
        largest = max(largest, p[places] * (3 - k))
        adjusted[places] = min(largest, 1.0)
    three = {"AP": scores, "RR": scores[::-1]}
    wide = compared(three)
    assert [pair.significant for pair in wide.rows()] == [True, False, True, True, False, True]
    for pair in found.rows():
        key = (found.systems.index(pair.system), found.systems.index(pair.other))
        assert pair.adjusted_p == pytest.approx(adjusted[key])
    rows = systems_grid(wide).cells()
    assert [row[2].above for row in rows] == ["", "ac", ""]
    assert [row[2].best for row in rows] == [False, True, False]
    assert [row[3].above for row in rows] == ["", "ac", ""]
    text = render(wide, "table").splitlines()
    starred = [line.split()[3] for line in text if line.startswith(("a − ", "b − "))]
    assert [each.endswith("*") for each in starred] == [True, False, True] * 2
    losses = compared({"E@10": scores})
    assert mean_ranks(losses.panels[0]) == pytest.approx(4 - mean_ranks(found.panels[0]))
    assert mean_ranks(found.panels[0]).argmin() == 1
    neither = compared({"NumRet": scores})
    assert mean_ranks(neither.panels[0]).tolist() == mean_ranks(found.panels[0]).tolist()
    assert [row[2].above for row in systems_grid(losses).cells()] == ["b", "", "ab"]
    assert [row[2].best for row in systems_grid(losses).cells()] == [False, False, True]


def test_tiers_and_standings_follow_the_decision() -> None:
    found = compared(differing(0.0, 0.2, 0.0))
    panel = found.panels[0]
    assert tiers(found, panel) == ["2", "2", "1", "1"]
    order = np.argsort(-panel.means).tolist()
    assert [one.system for one in standings(found, panel, order[0])] == [found.systems[i] for i in order]
    best, second, third, _ = standings(found, panel, order[0])
    assert (best.difference, best.low, best.high, best.adjusted_p, best.unjudged) == (None,) * 5
    assert (best.wins, best.ties, best.losses) == (0, 0, 0)
    assert second.adjusted_p is not None
    assert second.adjusted_p >= 0.05
    assert (third.beats, set(best.beats)) == ((), {"a", "b"})
    assert third.difference == pytest.approx(panel.means[found.systems.index(third.system)] - panel.means[order[0]])
    low, difference, high = third.low, third.difference, third.high
    assert low is not None
    assert difference is not None
    assert high is not None
    assert low < difference < high < 0
    assert (third.wins, third.ties, third.losses) == (0, 0, 60)
    based = compared(differing(0.0, 0.2, 0.2), baseline="c")
    assert tiers(based, based.panels[0]) == ["below", "below", "level", "above"]
    assert tiers(compared({"NumRet": differing(0.2)}), compared({"NumRet": differing(0.2)}).panels[0]) == ["–", "–"]


def test_groups_join_what_does_not_differ_and_nothing_else() -> None:
    random = np.random.default_rng(9)
    gaps = set()
    for seed in range(12):
        scores = 0.5 + random.normal(0, 0.1, (6, 40)) * random.uniform(0.1, 2, (6, 1)) + random.normal(0, 0.04, (6, 1))
        found = compared(scores)
        panel = found.panels[0]
        order = np.argsort(-panel.means).tolist()
        groups = level_groups(found, panel, order)
        for (i, j), p in zip(found.pairs.tolist(), panel.adjusted.tolist(), strict=True):
            assert any(i in group and j in group for group in groups) == (p >= 0.05), seed
        for group in groups:
            places = [order.index(i) for i in group]
            assert places == sorted(places)
            gaps.add(places[-1] - places[0] >= len(group))
        assert not any(set(a) < set(b) for a in groups for b in groups)
    assert gaps == {True, False}


def test_groups_are_stretches_of_the_order_and_then_what_a_gap_keeps_out_of_them() -> None:
    """For every way in which four and five systems may differ, in an order that is not that of their numbers."""
    for order in ([2, 0, 3, 1], [4, 1, 0, 3, 2]):
        found = compared(np.random.default_rng(1).random((len(order), 6)))
        places = [tuple(sorted(map(order.index, pair))) for pair in found.pairs.tolist()]
        for differs in itertools.product([False, True], repeat=len(places)):
            panel = replace(found.panels[0], adjusted=np.where(differs, 0.01, 0.05))
            level = {pair for pair, each in zip(places, differs, strict=True) if not each}
            groups = [[order.index(system) for system in group] for group in level_groups(found, panel, order)]

            def is_level(group: Sequence[int], level: set[tuple[int, ...]] = level) -> bool:
                return all(pair in level for pair in itertools.combinations(group, 2))

            stretches = [range(a, b) for b in range(len(order) + 1) for a in range(b - 1) if is_level(range(a, b))]
            longest = sorted([*each] for each in stretches if not any({*each} < {*other} for other in stretches))
            assert [group for group in groups if group[-1] - group[0] < len(group)] == [
                each for each in longest if not any({*each} < {*group} for group in groups)
            ]
            with_gaps = [group for group in groups if group[-1] - group[0] >= len(group)]
            assert groups[len(groups) - len(with_gaps) :] == with_gaps
            covered = {pair for each in longest for pair in itertools.combinations(each, 2)}
            made_for = []
            for group in with_gaps:
                pairs = {*itertools.combinations(group, 2)}
                made_for.append(min(pairs - covered))
                covered |= pairs
                assert group == sorted(group)
                assert is_level(group)
                others = set(range(len(order))) - {*group}
                assert not any(is_level(sorted([*group, system])) for system in others)
            assert made_for == sorted(made_for)
            shared = {pair for group in groups for pair in itertools.combinations(group, 2)}
            assert shared == level
            assert all(len({*one} & {*other}) < len(one) for one, other in itertools.permutations(groups, 2))


def verdict(scores: dict[str, float], spread: float = 0.0, **question: Any) -> str:
    """The sentence of a report on systems whose only relevant document stands at the rank given, on 40 topics."""
    chance = np.random.default_rng(3)
    qrels = {str(t): {"r": 1} for t in range(40)}
    runs = {
        name: {t: {"r": -rank - (spread * chance.random())} | {f"x{n}": -n - 0.5 for n in range(1, 30)} for t in qrels}
        for name, rank in scores.items()
    }
    report = gather(Experiment(qrels, runs), "RR", Question(**question))
    return report.verdict(report.results.measures[0])


def test_the_verdict_counts_what_is_beaten_and_names_what_is_not() -> None:
    two = verdict({"a": 1, "b": 4})
    assert two == "a has the highest RR, 1.0000 on 40 topics, and is significantly better than the other."
    three = verdict({"b": 4, "a": 1, "c": 9})
    assert three == "a has the highest RR, 1.0000 on 40 topics, and is significantly better than both others."
    level = verdict({"b": 4, "a": 1, "twin": 1})
    assert level == "a and twin share the highest RR, 1.0000 on 40 topics."
    base = verdict({"b": 4, "a": 1, "c": 9, "d": 4}, baseline="b")
    assert base == (
        "a has the highest RR, 1.0000 on 40 topics. Against the baseline b, 1 of 3 is significantly better and 1 "
        "significantly worse."
    )
    best = "a has the highest RR, 1.0000 on 40 topics"
    assert verdict({"a": 1, "b": 4}, baseline="b") == f"{best}. a is significantly better than the baseline b."
    assert verdict({"a": 1, "b": 4}, baseline="a") == f"{best}. b is significantly worse than the baseline a."
    twins = "a and b share the highest RR, 1.0000 on 40 topics. b cannot be told from the baseline a with confidence."
    assert verdict({"a": 1, "b": 1}, baseline="a") == twins


def test_a_comparison_begins_with_its_verdicts_a_line_a_measure() -> None:
    found = compared({"AP": MANY, "E@10": MANY, "NumRet": MANY})
    first = render(found, "table").splitlines()[:4]
    verdicts = [standing.verdict(found, panel) for panel in found.panels]
    assert first == [*verdicts, ""]
    assert [text.split(", ")[0].split(" has ")[-1] for text in verdicts[:2]] == [
        "the highest AP",
        "the lowest E@10 (less is better)",
    ]
    collections = on_collections({"web": MANY[:2], "news": MANY[:2]})
    assert [line.split(" on ")[1].split(";")[0] for line in render(collections, "table").splitlines()[:2]] == [
        "60 topics of web",
        "60 topics of news",
    ]
    qrels = {str(t): {"d1": 1} for t in range(12)}
    own = {
        name: {t: {"d1": 2.0, "d2": 1.0 if name == "a" else 3.0} for t in list(qrels)[part::2]}
        for part, name in enumerate("ab")
    }
    unpaired = compare(Experiment(qrels, own, Policy(topics="run")), "RR", tests=["mann-whitney"])
    assert standing.verdict(unpaired, unpaired.panels[0]) == (
        "a has the highest RR, 1.0000 on topics of each system's own, and is significantly better than the other."
    )


def test_where_no_value_is_better_nothing_is_decided_and_not_counted() -> None:
    """A comparison was said to be one, and another test to decide 1 of 2."""
    alone, beside = compared(MANY[:2]), compared({"AP": MANY[:2], "NumRet": np.ones((2, 60))})
    assert alone.rule == beside.rule
    assert beside.rule.endswith("(here in no comparison)")
    assert [test.name for test in beside.deciding] == ["t"]


def test_columns_are_explained_where_they_are() -> None:
    runs = {name: unjudged_run(0.2, TOPICS) | {"1": {name: 1.0}} for name in "ab"}
    found = compare(Experiment(QRELS, runs), "P@10", details=Details(margin=0.1, power=0.9))
    told = column_legend(found)
    for column in ("unjudged", "d_z", "W/T/L", "detectable", "p equivalent"):
        assert f"{column}: " in told
        assert column in render(found, "table")
    assert "with a chance of 90%" in told
    assert "equal up to 0.1." in told
    assert "unjudged" not in column_legend(compared(MANY))
    assert "equivalent" not in column_legend(compared(MANY))


def report_on(scores: Floats, measure: str = "AP") -> tuple[str, Comparison]:
    from dataclasses import replace

    qrels = {str(t): {"r": 1} for t in range(3)}
    small = gather(Experiment(qrels, {name: {t: {"r": 1.0} for t in qrels} for name in "abcd"[: len(scores)]}), measure)
    comparison = compared({measure: scores})
    report = replace(small, comparison=comparison)
    return report.verdict(comparison.panels[0].measure), comparison


def test_the_verdict_says_how_many_and_which_cannot_be_told_apart() -> None:
    scores = differing(0.3, 0.3, 0.0)
    text, found = report_on(scores)
    means = found.panels[0].means
    best, other = ("c", "d") if means[2] > means[3] else ("d", "c")
    assert text == (
        f"{best} has the highest AP, {max(means):.4f} on 60 topics; {other} cannot be told from it with confidence. "
        f"{best} is significantly better than 2 of 3."
    )
    loss, _ = report_on(scores, "E@10")
    assert loss == (
        f"a has the lowest E@10 (less is better), {min(means):.4f} on 60 topics, and is significantly better than all "
        "3 others."
    )
    neither, _ = report_on(scores, "NumRet")
    assert neither == (
        f"NumRet says nothing of which system is better: from {min(means):.4f} to {max(means):.4f} on 60 topics."
    )


def test_runs_of_other_topics_are_compared_without_guards_on_differences() -> None:
    scores = np.full((2, 12), np.nan)
    scores[0, :6], scores[1, 6:] = np.linspace(0.1, 0.4, 6), np.linspace(0.3, 0.8, 6)
    found = compared(scores, tests=["welch"])
    assert {"few-changed", "identical"}.isdisjoint({warning.code for warning in found.warnings})
    least = found.panels[0].effects.detectable.max()
    assert said(found, "few-topics") == [
        "6 topics a system are few (50 are usual, 200 better); the smallest difference that would be found with a "
        f"chance of 80% is about {least:.3f} in AP"
    ]
    constant = np.full((2, 12), np.nan)
    constant[0, :6], constant[1, 6:] = 0.2, 0.5
    (pair,) = compared(constant, tests=["welch"]).rows()
    assert np.isnan(pair.p["welch"])
    assert pair.decided_by == "randomisation"
    assert pair.adjusted_p == pytest.approx(2 / 924)
    assert pair.significant


def test_options_are_written_down() -> None:
    found = compared(MANY, sampling=Sampling(seed=9, resamples=321), alpha=0.01, power=0.7, correction="bonferroni")
    document = found.to_dict()
    assert (document["seed"], document["resamples"], document["alpha"], document["power"]) == (9, 321, 0.01, 0.7)
    assert (document["correction"], document["comparisons"], document["level"]) == (
        "bonferroni",
        3,
        pytest.approx(0.01 / 3),
    )
    digests = results({"AP": MANY}, digest="x")
    asked = Question(sampling=FEW_DRAWS)
    named = compare_results({"": Evaluated(digests, {run: [run] for run in digests.runs})}, digests.measures, asked)
    assert [source.digest for source in named.judgements] == ["x"]


def test_collections_that_only_score_alike_are_not_one_collection() -> None:
    def collection(prefix: str) -> Experiment:
        topics = [f"{prefix}{number}" for number in range(8)]
        good, poor = ({topic: {"d1": rank, "d2": 2.0} for topic in topics} for rank in (3.0, 1.0))
        return Experiment({topic: {"d1": 1} for topic in topics}, {"a": good, "b": poor})

    assert not said(compare_collections({"web": collection("w"), "news": collection("n")}, "RR"), "twice")
    assert said(compare_collections({"web": collection("w"), "news": collection("w")}, "RR"), "twice")


def test_cells_of_the_table_are_what_the_scores_say() -> None:
    """Difference, interval, d_z, wins, ties and losses, p and adjusted p, from the scores alone."""
    scores = np.round(np.random.default_rng(2).normal(0.5, 0.1, (2, 40)) + np.array([[0.03], [0.0]]), 1)
    for measure, sign in (("AP", 1), ("E@10", -1)):
        found = compared({measure: scores})
        (row,) = pairs_grid(found, found.panels[0]).cells()
        difference = scores[0] - scores[1]
        t = stats.ttest_1samp(difference, 0)
        ends = t.confidence_interval(0.95)
        won, lost = int(np.sum(np.round(difference, 9) > 0)), int(np.sum(np.round(difference, 9) < 0))
        counts = (won, 40 - won - lost, lost) if sign > 0 else (lost, 40 - won - lost, won)
        assert won != lost
        assert [cell.text for cell in row[:5]] == [
            "a − b",
            f"{difference.mean():+.4f}",
            f"[{ends.low:+.4f}, {ends.high:+.4f}]",
            f"{difference.mean() / difference.std(ddof=1):+.2f}",
            "/".join(map(str, counts)),
        ]
        assert (row[5].text, row[7].text) == (f"{t.pvalue:.4f}", f"{t.pvalue:.4f}")
    neither = compared({"NumRet": scores})
    assert pairs_grid(neither, neither.panels[0]).cells()[0][4].text == "–"
