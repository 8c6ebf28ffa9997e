"""Rankings typed by hand, means and rank correlation with their working; the numbers of lecture notes among them."""

from __future__ import annotations

import itertools
import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from commands import command_line, printed
from cranfield import Experiment, Policy, UsageError, evaluate
from cranfield.explanation import explain, explain_agreement, explain_correlation, explain_mean, typed
from cranfield.explanation.averages import averages_of, means_of
from cranfield.explanation.by_hand import correlate_typed, evaluate_typed, explain_typed
from cranfield.explanation.workings_tables import render
from cranfield.judged import relstring
from cranfield.measures import parse_measure
from cranfield.statistics.coefficients import find_coefficient
from generate import Collection, collections

# A class exercise of lecture notes: ranks of ten documents in two rankings.
NOTES = {"d123": (1, 2), "d84": (2, 3), "d56": (3, 1), "d6": (4, 5), "d8": (5, 4)}
NOTES |= {"d9": (6, 7), "d511": (7, 8), "d129": (8, 10), "d187": (9, 6), "d25": (10, 9)}
MEASURES = ["nDCG@5", "AP", "RR", "P@3", "DCG", "ERR", "RBP", "bpref"]


@pytest.mark.parametrize("ranking", ["3,2,3,0,1,2/2", "32301", "1-0/1", "0.5,2,-1,-/10,", "101;0-1/1;2"])
def test_typed_rankings_score_as_the_same_ranking_elsewhere(ranking: str) -> None:
    results = evaluate_typed([ranking], MEASURES)
    topics = ranking.split(";")
    whole = relstring(*topics)
    for i, name in enumerate(MEASURES):
        assert results.scores[0, i].tolist() == pytest.approx(parse_measure(name).per_topic(whole).tolist())
    assert results.topics == tuple(str(i) for i in range(1, len(topics) + 1))


def test_an_experiment_has_what_was_typed() -> None:
    experiment = typed("2,-,0.5/1;1", name="mine", policy=Policy(depth=2))
    assert experiment.names == ("mine",)
    assert experiment.judgements().qrels.to_dict() == {"1": {"d1": 2.0, "d4": 1.0, "d3": 0.5}, "2": {"d1": 1.0}}
    assert experiment.tables()[0].to_dict() == {"1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "2": {"d1": 1.0}}
    assert experiment.evaluate("NumRet").mean() == {"mine": {"NumRet": 3.0}}


def test_systems_stand_side_by_side_each_against_its_own_grades() -> None:
    results = evaluate_typed({"a": "101;01", "b": "110;10"}, ["AP", "nDCG(agg='ratio')"])
    assert results.runs == ("a", "b")
    assert results.warnings == ()
    for run, ranking in (("a", "101;01"), ("b", "110;10")):
        alone = evaluate_typed({run: ranking}, ["AP", "nDCG(agg='ratio')"])
        assert alone.mean()[run] == results.mean()[run]
        assert alone.per_topic()[run] == results.per_topic()[run]
    names = [source.name for source in results.inputs]
    assert names == ["what is typed", "what is typed", "a", "b"]


def test_systems_that_cannot_be_compared_are_told() -> None:
    uneven = evaluate_typed(["101;1", "110/1;1"], "AP")
    assert [str(warning) for warning in uneven.warnings] == [
        "what is typed: systems were typed with different judged grades on 1 topic (1): of one topic all would "
        "have the same; what a system missed goes after /"
    ]
    assert uneven.runs == ("run1", "run2")
    short = evaluate_typed(["101;1", "110"], "AP")
    assert [str(warning) for warning in short.warnings] == [
        "what is typed: systems differ in their topics: run1 2 topics, run2 1 topic"
    ]
    assert short.mean()["run2"] == {"AP": 1.0}
    assert list(short.per_topic()["run2"]) == ["1"]
    assert evaluate_typed(["1-0", "01-"], "AP").warnings == ()


def test_topics_that_are_left_out_of_one_system_do_not_move_those_of_another() -> None:
    results = evaluate_typed({"a": "0;01;1", "b": "1;1;0"}, "RR", Policy(empty_topics="drop"))
    assert results.per_topic() == {
        "a": {"2": {"RR": 0.5}, "3": {"RR": 1.0}},
        "b": {"1": {"RR": 1.0}, "2": {"RR": 1.0}},
    }


def test_a_ranking_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError) as found:
        typed("/1")
    told = "run: nothing is retrieved: what stands before / is the ranking, what stands after it not"
    assert str(found.value) == told


@pytest.mark.parametrize(("ranking", "topic"), [("000", "1"), ("-1,0", "1"), ("1;000", "2"), ("000;000/1", "1")])
def test_a_ranking_of_which_nothing_is_relevant_scores_0_and_is_told_how_to_type_more(ranking: str, topic: str) -> None:
    """One topic is treated as one of several is."""
    results = evaluate_typed([ranking], ["RR", "AP", "nDCG"])
    assert list(results.per_topic()["run"][topic].values()) == [0, 0, 0]
    told = [str(warning) for warning in results.warnings if warning.code == "no-relevant"]
    assert told == [
        f"what is typed: 1 topic without a relevant document, scored 0 for every run: {topic}; what a ranking missed "
        "goes after /, as in 0,0/1"
    ]
    assert [str(warning) for warning in explain_typed([ranking], "RR").warnings if warning.doubtful] == told
    assert evaluate_typed(["000/1"], "RR").warnings == ()


@pytest.mark.parametrize("name", ["Frustration", "Frustration@4", "Frustration(of='returned', weight='linear')@4"])
def test_a_list_with_nothing_in_it_is_said_to_be_the_worst(name: str) -> None:
    (account,) = explain(typed("1;/1"), "2", name).accounts
    assert account.text.endswith("= 1.0000 (nothing is retrieved, which is the worst there is)")
    assert account.bounds == (1, 1)
    (account,) = explain(typed("1;01"), "2", name).accounts
    assert "nothing" not in account.text


def test_what_is_left_out_of_the_mean_has_a_mean_that_it_is_left_out_of() -> None:
    workings = explain_typed(["0;1"], "AP", Policy(empty_topics="drop"))
    assert [average.text for average in workings.averages] == ["AP = 1 / 1 = 1.0000"]
    assert workings.averages[0].topics == ("2",)
    notes = [note for explanation in workings.explanations for note in explanation.accounts[0].notes]
    assert notes == ["this topic is left out of the mean: it has no relevant document (empty_topics=drop)"]


@pytest.mark.parametrize("words", [(), ("--explain",)])
def test_grades_with_blanks_between_them_are_no_rankings(words: tuple[str, ...]) -> None:
    done = command_line("try", "3", "2", "0.5", "-", "1", "-m", "nDCG", *words)
    assert done.exit == 2
    assert done.stderr == "cranfield: 5 rankings of one document each; join grades with commas: 3,2,0.5,-,1\n"
    for rankings in (("1", "0"), ("a=1", "b=0", "c=1"), ("1", "0", "11"), ("1", "0", "1/1")):
        assert command_line("try", *rankings, "-m", "RR", *words).exit == 0


def test_an_explanation_of_a_typed_ranking_is_that_of_explain() -> None:
    workings = explain_typed(["3,2,0/1", "0,1"], ["AP", "nDCG@5"])
    accounts = [account for explanation in workings.explanations for account in explanation.accounts]
    assert [(account.run, str(account.measure)) for account in accounts] == [
        ("run1", "AP"),
        ("run1", "nDCG@5"),
        ("run2", "AP"),
        ("run2", "nDCG@5"),
    ]
    assert accounts[0].text == explain(typed("3,2,0/1"), "1", "AP").accounts[0].text
    assert [missed.document for missed in accounts[0].missed] == ["d4"]
    assert workings.averages == ()  # of one topic there is no mean
    assert [average.run for average in explain_typed(["1;1", "1;01"], "AP").averages] == ["run1", "run2"]


# Means


def text_of(scores: list[float], measure: str) -> str:
    """How the mean of topics arises whose documents give a measure these scores."""
    qrels = {str(i): {"d": 1} for i in range(len(scores))}
    runs = {str(i): [*(f"x{j}" for j in range(round(1 / s) - 1)), "d"] if s else ["x"] for i, s in enumerate(scores)}
    return explain_mean(Experiment(qrels, runs), measure).averages[0].text


@pytest.mark.parametrize(
    ("scores", "measure", "text"),
    [
        ([0.5, 0.25], "AP", "AP = (0.5 + 0.25) / 2 = 0.75 / 2 = 0.3750"),
        ([0.5], "AP", "AP = 0.5 / 1 = 0.5000"),
        (
            [0.5, 0.25],
            "GMAP",
            "GMAP = (0.5 · 0.25)^(1/2) = exp((−0.6931 − 1.3863) / 2) = exp(−1.0397) = 0.3536",
        ),
        (
            [0.5, 0.0],
            "GMAP",
            "GMAP = (0.5 · 1e-05)^(1/2) = exp((−0.6931 − 11.5129) / 2) = exp(−6.103) = 0.0022 "
            "(where 1 value below 1e-05 is taken as that)",
        ),
        (
            [0.0, 0.0],
            "GMAP",
            "GMAP = (1e-05 · 1e-05)^(1/2) = exp((−11.5129 − 11.5129) / 2) = exp(−11.5129) = 0.0000 "
            "(where 2 values below 1e-05 are taken as that)",
        ),
        ([0.5, 0.25], "HMAP", "HMAP = 2 / (1/0.5 + 1/0.25) = 2 / 6 = 0.3333"),
        ([0.5, 0.0], "HMAP", "HMAP = 0.0000 (a value is 0, and the harmonic mean is 0 if any is)"),
        ([0.5, 0.25], "NumRel", "NumRel = 1 + 1 = 2"),
        (
            [0.5, 1.0],
            "nDCG(agg='ratio')",
            "nDCG(agg='ratio') = (0.6309 + 1) / (1 + 1) = 1.6309 / 2 = 0.8155",
        ),
        ([0.5] * 12, "AP", "AP = (0.5 + 0.5 + 0.5 + 0.5 + 0.5 + … + 0.5 + 0.5) / 12 = 6 / 12 = 0.5000"),
    ],
)
def test_a_mean_is_written_with_its_numbers(scores: list[float], measure: str, text: str) -> None:
    assert text_of(scores, measure) == text


def test_the_ratio_of_means_is_that_of_sums() -> None:
    """Σ DCG / Σ ideal DCG, where the mean of nDCG is another number."""
    experiment = typed("3,2,3,0,1,2/2;0,1/3")
    (average,) = explain_mean(experiment, "nDCG(agg='ratio')").averages
    dcg, ideal = (experiment.evaluate(name).scores[0, 0] for name in ("DCG", "IdealDCG"))
    assert list(average.columns["numerator"]) == pytest.approx(dcg.tolist())
    assert list(average.columns["denominator"]) == pytest.approx(ideal.tolist())
    assert average.value == pytest.approx(dcg.sum() / ideal.sum())
    assert average.value != pytest.approx(experiment.evaluate("nDCG").mean()["run"]["nDCG"])


@pytest.mark.parametrize("collection", collections(1), ids=repr)
def test_means_are_those_of_evaluate(collection: Collection) -> None:
    measures = ["AP", "GMAP", "HMAP", "nDCG(agg='ratio')@5", "NumRelRet", "P@5"]
    for policy in (Policy(), Policy(topics="run"), Policy(empty_topics="drop")):
        results = evaluate(collection.qrels, collection.run, measures, policy=policy)
        for average in averages_of(results):
            assert average.value == results.mean()[average.run][average.name]
            assert list(average.topics) == list(results.per_topic()[average.run])


def test_many_topics_are_not_all_shown() -> None:
    qrels = {str(i): {"d": 1} for i in range(1, 31)}
    experiment = Experiment(qrels, {str(i): ["d"] for i in range(1, 31)})
    text = str(explain_mean(experiment, "AP"))
    assert "\n20      1.0000\n⋮\nΣ      30.0000\n" in text
    assert "Not shown: 10 topics of 30; the sums are of all." in text
    assert "Not shown: 27 topics of 30; the sums are of all." in str(explain_mean(experiment, "AP", shown=3))
    assert "Not shown" not in str(explain_mean(experiment, "AP", shown=30))


def test_means_of_the_lecture_notes() -> None:
    """Two runs of one MAP, which differ in GMAP."""
    runs = {"Run 1": [0.05, 0.10, 0.50, 0.50, 0.75], "Run 2": [0.10, 0.30, 0.45, 0.45, 0.60]}
    values = {(average.run, average.name): average.value for average in means_of(runs).averages}
    assert [round(values[run, "MAP"], 2) for run in runs] == [0.38, 0.38]
    assert [round(values[run, "GMAP"], 2) for run in runs] == [0.25, 0.33]
    assert [round(values[run, "HMAP"], 4) for run in runs] == [
        round(5 / sum(1 / x for x in r), 4) for r in runs.values()
    ]
    with pytest.raises(UsageError, match=r"Run 1: −0\.5 is below 0"):
        means_of({"Run 1": [0.5, -0.5]})


# Rank correlation


def test_the_exercise_of_the_lecture_notes() -> None:
    first, second = ({name: float(ranks[i]) for name, ranks in NOTES.items()} for i in (0, 1))
    correlation = explain_correlation(first, second)
    assert [item.name for item in correlation.items] == list(NOTES)
    assert [item.difference for item in correlation.items] == [-1, -1, 2, -1, 1, -1, -1, -2, 3, 1]
    spearman, kendall, tau_ap = correlation.coefficients
    assert spearman.text == "spearman = 1 − 6 · 24 / (10 · (10² − 1)) = 1 − 144 / 990 = 0.8545"
    assert kendall.text == "kendall = (38 − 7) / 45 = 31 / 45 = 0.6889"
    assert tau_ap.text == (
        "tau_ap = 2 / 9 · (0/1 + 1/2 + 3/3 + 3/4 + 5/5 + … + 8/8 + 7/9) − 1 = 2 / 9 · 6.7183 − 1 = 0.4929"
    )
    assert correlation.notes == ()


def value_of(step: str) -> float:
    """What a step of a working comes to, by Python."""
    written = step.replace("−", "-").replace("·", "*").replace("²", "**2").replace("√", "np.sqrt")
    return float(eval(written, {"np": np}))


@pytest.mark.parametrize("second", [*itertools.permutations(range(1, 5))])
def test_every_step_comes_to_the_coefficient(second: tuple[int, ...]) -> None:
    first = {f"d{i}": float(i) for i in range(1, 5)}
    correlation = explain_correlation(first, dict(zip(first, map(float, second), strict=True)))
    for worked in correlation.coefficients:
        value = find_coefficient(worked.name)([-1, -2, -3, -4], [-rank for rank in second])
        assert worked.value == pytest.approx(value)
        assert [value_of(step) for step in worked.steps] == pytest.approx([value] * len(worked.steps), abs=1e-4)


@pytest.mark.parametrize(
    ("first", "second"), [((1, 2, 2, 4), (2, 1, 3, 3)), ((1, 1, 3), (1, 2, 3)), ((1, 2, 3), (1, 2, 2))]
)
def test_shared_ranks(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    names = [f"d{i}" for i in range(len(first))]
    ours, theirs = (dict(zip(names, map(float, side), strict=True)) for side in (first, second))
    correlation = explain_correlation(ours, theirs)
    spearman, kendall, tau_ap = correlation.coefficients
    for worked in (spearman, kendall):
        value = find_coefficient(worked.name)([-rank for rank in first], [-rank for rank in second])
        assert worked.value == pytest.approx(value)
        assert value_of(worked.steps[0]) == pytest.approx(value, abs=1e-4)
    assert tau_ap.text == "tau_ap = undefined (where ranks are shared it has no rule; tau_ap_b has one)"
    assert any("equal ones share their mean" in note for note in correlation.notes)


def test_rankings_of_which_nothing_can_be_said() -> None:
    tied = explain_correlation({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0})
    assert [worked.text.partition("(")[2] for worked in tied.coefficients] == ["all of one ranking share a rank)"] * 3
    with pytest.raises(UsageError, match=r"^1 document in both rankings, and it takes two to have an order$"):
        explain_correlation(["a", "b"], ["b", "c"])
    with pytest.raises(UsageError, match="a ranking has a document once, not a twice"):
        explain_correlation(["a", "a"], ["b", "a"])


def test_documents_of_one_ranking_alone_are_left_out_and_named() -> None:
    correlation = explain_correlation(["a", "b", "c", "d"], ["e", "a", "c", "b"])
    assert correlation.notes == (
        "Only in R1, and left out: d.",
        "Only in R2, and left out: e.",
        "Ranks are counted anew among the 3 documents of both; equal ones share their mean.",
    )
    assert [(item.first, item.second) for item in correlation.items] == [(1, 1), (2, 3), (3, 2)]


def test_documents_of_equal_score_share_a_rank() -> None:
    """No order of ties is taken for an opinion: the coefficients are those of `cranfield correlate`."""
    qrels = {"1": {"d1": 1}}
    tied = {"1": {"d1": 1.0, "d2": 1.0, "d3": 0.5}}
    runs: dict[str, Any] = {"a": {"1": ["d1", "d2", "d3"]}, "b": tied}
    spearman, kendall, _ = explain_agreement(Experiment(qrels, runs), "1").coefficients
    assert spearman.value == pytest.approx(stats.spearmanr([3, 2, 1], [1.0, 1.0, 0.5]).statistic)
    assert kendall.value == pytest.approx(stats.kendalltau([3, 2, 1], [1.0, 1.0, 0.5]).statistic)
    level = {"1": {"d1": 1.0, "d2": 1.0, "d3": 1.0}}
    for coefficient in explain_agreement(Experiment(qrels, {"a": runs["a"], "b": level}), "1").coefficients:
        assert isnan(coefficient.value)
    with pytest.raises(UsageError, match="no policy on rankings applies to it"):
        explain_agreement(Experiment(qrels, runs, Policy(ties="best")), "1")
    with pytest.raises(UsageError, match="no topic 'x'"):
        explain_agreement(Experiment(qrels, runs), "x")
    with pytest.raises(UsageError, match="between two runs, not 1"):
        explain_agreement(Experiment(qrels, {"a": tied}), "1")


def test_numbers_too_large_to_be_added_up_are_refused() -> None:
    assert "is no score of a measure" in command_line("try", "--means", "1e308,1e308").stderr
    done = command_line("try", "1e308,1e308", "-m", "CG", "-f", "json")
    assert (done.exit, json.loads(done.stdout)["runs"][0]["mean"]) == (0, {"CG": None})  # JSON has no infinity


def test_long_rankings_are_not_all_shown() -> None:
    names = [f"d{i}" for i in range(30)]
    text = str(explain_correlation(names, names[::-1], shown=20))
    assert "\n⋮\n" in text
    assert "Not shown: 10 documents of 30; the sums are of all." in text
    assert "Not shown" not in str(explain_correlation(names, names))


def test_typed_lists_are_ranks_or_names() -> None:
    assert [item.name for item in correlate_typed({"a": "2,1", "b": "1,2"}).items] == ["d2", "d1"]
    assert [item.name for item in correlate_typed({"a": "y,x", "b": "x,y"}).items] == ["y", "x"]
    for rankings, told in (
        ({"a": "1,2", "b": "x,y"}, "one list has numbers and the other names"),
        ({"a": "nan,1", "b": "1,2"}, r"^'nan' is not a number \(character 1 of what is typed\)"),
        ({"a": "1,2,3", "b": "1,x,3"}, r"^'x' is not a number \(character 3 of what is typed\)"),
        ({"a": "1,2", "b": "1,2,3"}, "2 ranks and 3: both lists have one for each of d1, d2, …"),
        ({"a": "1,2", "b": "1,2", "c": "1,2"}, "between two rankings, not 3"),
    ):
        with pytest.raises(UsageError, match=told):
            correlate_typed(rankings)


# The command


def test_a_ranking_may_start_with_an_unjudged_document() -> None:
    for words in (["-1"], ["--", "-1"], ["-,1"], ["-,-,1"], ["--1"]):
        done = command_line("try", "-m", "RR", *words)
        assert (done.exit, done.stderr) == (0, ""), words
    assert printed("try", "-1", "-m", "RR") == printed("try", "01", "-m", "RR")
    assert "No such option" in command_line("try", "--explian", "1").stderr


def test_the_file_of_the_notes_prints_their_table(tmp_path: Path) -> None:
    path = tmp_path / "ranks.csv"
    path.write_text("documents,R1,R2\n" + "".join(f"{name},{a},{b}\n" for name, (a, b) in NOTES.items()))
    lines = printed("try", "--correlation", path).splitlines()
    assert lines[0].split() == ["document", "R1", "R2", "d", "d²", "C", "D"]
    assert [line.split()[:5] for line in lines[1:11]] == [
        [name, str(a), str(b), f"{'+' if a > b else ''}{a - b}".replace("-", "−"), str((a - b) ** 2)]
        for name, (a, b) in NOTES.items()
    ]
    assert lines[11].split() == ["Σ", "24", "38", "7"]
    document = json.loads(printed("try", "--correlation", path, "-f", "json"))
    assert document["coefficients"][0]["value"] == pytest.approx(1 - 6 * 24 / 990)


def test_a_mean_over_recall_levels_shows_every_level() -> None:
    """Beside the sum, whose middle is left out."""
    workings = explain_typed(["101001-1/11"], "InterpolatedAP(points=9)")
    levels = [1.0, 2 / 3, 2 / 3, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0]
    (account,) = workings.explanations[0].accounts
    assert [level for level, _ in account.levels] == pytest.approx([i / 10 for i in range(1, 10)])
    assert [precision for _, precision in account.levels] == pytest.approx(levels)
    table = render(workings, "table")
    assert "recall  precision\n0.1        1.0000\n0.2        0.6667\n" in table
    assert "0.9        0.0000\n" in table
    assert ">precision</th>" in render(workings, "html")
    document = json.loads(render(workings, "json"))["explanations"][0]["accounts"][0]
    assert document["levels"][1] == {"recall": 0.2, "precision": pytest.approx(2 / 3)}
    assert not explain_typed(["101"], "AP").explanations[0].accounts[0].levels


@pytest.mark.parametrize("name", ["HMAP", "GMAP", "AP(agg='geometric')", "AP(agg='ratio')"])
def test_a_topic_has_the_measure_and_the_mean_its_average(name: str) -> None:
    table = render(explain_typed(["101;011"], name), "table")
    for topic in ("1", "2"):
        assert f"AP of run on topic {topic}: " in table
    assert f"{name} of run: " in table
    assert f"{name} of run on topic" not in table


def test_the_harmonic_mean_of_one_value_has_brackets() -> None:
    assert [average.text for average in means_of({"run": [0.1]}).averages][2] == "HMAP = 1 / (1/0.1) = 1 / 10 = 0.1000"
