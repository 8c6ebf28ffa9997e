"""What a comparison says of its topics and judgements: at the right moment, once, and not otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield.comparison.comparison import Comparison
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.measures import all_measures, parse_measure
from cranfield.measures.missed import counts_missed
from cranfield.policy import Policy
from made import compared, on_collections

RANDOM = np.random.default_rng(5)
Judgements = Mapping[str, Mapping[str, int]]


def advice(comparison: Comparison, code: str) -> list[Finding]:
    return [warning for warning in comparison.warnings if warning.code == code]


def collection(topics: int, *, judged: int, relevant: int, retrieved: int) -> Experiment:
    """Two systems that find the relevant documents at ranks drawn by chance, over so many judged documents a topic."""
    random = np.random.default_rng(topics)
    qrels = {f"q{topic}": {f"d{number}": int(number < relevant) for number in range(judged)} for topic in range(topics)}
    runs = {
        name: {
            topic: dict(zip(map("d{}".format, random.permutation(retrieved)), range(retrieved, 0, -1), strict=True))
            for topic in qrels
        }
        for name in ("a", "b")
    }
    return Experiment(qrels, runs)


# Few topics


@pytest.mark.parametrize(("topics", "doubtful"), [(24, True), (25, False), (49, False)])
def test_fewer_topics_than_are_usual_are_told_once_with_what_they_could_find(topics: int, doubtful: bool) -> None:
    found = compared({"AP": RANDOM.normal(0.5, 0.1, (3, topics)), "RR": RANDOM.normal(0.5, 0.2, (3, topics))})
    (finding,) = advice(found, "few-topics")
    ap, rr = (panel.effects.detectable.max() for panel in found.panels)
    assert (finding.source, finding.doubtful) == ("topics", doubtful)
    assert finding.message.startswith(f"{topics} topics are few (50 are usual, 200 better)")
    assert finding.message.endswith(
        "; the smallest differences that would be found after correction with a chance of 80% are about "
        f"{ap:.3f} in AP, {rr:.3f} in RR"
    )
    assert ("the exact randomisation test decides" in finding.message) == doubtful


def test_from_50_topics_on_nothing_is_said() -> None:
    assert not advice(compared(RANDOM.normal(0.5, 0.1, (3, 50))), "few-topics")


def test_each_collection_with_few_topics_is_named() -> None:
    scores = {"web": RANDOM.normal(0.5, 0.1, (2, 60)), "news": RANDOM.normal(0.5, 0.1, (2, 30))}
    (finding,) = advice(on_collections(scores), "few-topics")
    assert finding.source == "topics of news"


def test_it_is_told_on_the_command_line_and_in_a_report_alike(tmp_path: Path) -> None:
    arguments = ("examples/qrels.txt", "examples/bm25.run", "examples/dense.run", "-m", "AP", "-m", "RR")
    (line,) = [line for line in command_line("compare", *arguments).stderr.splitlines() if "are few" in line]
    told = line.removeprefix("cranfield: warning: ")
    assert told.startswith("topics: 6 topics are few (50 are usual, 200 better): the exact randomisation test decides")
    page = tmp_path / "report.md"
    assert command_line("report", *arguments, "-o", str(page)).exit == 0
    assert told.removeprefix("topics: ") in page.read_text()


# Sparse judgements


def test_sparse_judgements_need_thousands_of_topics() -> None:
    few = cranfield.compare(collection(30, judged=1, relevant=1, retrieved=5), "RR")
    (finding,) = advice(few, "few-topics")
    told = "judgements are sparse (1 relevant document known a topic), for which thousands of topics are needed"
    assert finding.message.startswith(f"30 topics are few (50 are usual, 200 better); {told}; the smallest difference ")
    (finding,) = advice(cranfield.compare(collection(300, judged=2, relevant=2, retrieved=5), "RR"), "few-topics")
    assert finding.message.startswith(
        "300 topics are few; judgements are sparse (2 relevant documents known a topic), "
    )
    assert not finding.doubtful


@pytest.mark.parametrize(
    ("topics", "judged", "relevant"),
    [(1000, 1, 1), (60, 10, 1), (60, 3, 3), (60, 3, 2)],
    ids=["thousand", "dense", "relevant", "shallow"],
)
def test_judgements_that_are_not_sparse_and_thousands_of_topics_are_not_told(
    topics: int, judged: int, relevant: int
) -> None:
    found = cranfield.compare(collection(topics, judged=judged, relevant=relevant, retrieved=5), "RR")
    assert not advice(found, "few-topics")
    described = cranfield.describe(found_qrels(topics, judged, relevant))
    assert not [finding for finding in described.findings if finding.code == "few-topics"]


def found_qrels(topics: int, judged: int, relevant: int) -> Judgements:
    qrels = collection(topics, judged=judged, relevant=relevant, retrieved=1).qrels
    assert isinstance(qrels, dict)
    return qrels


def test_describe_says_the_same_of_sparse_judgements() -> None:
    told = "judgements are sparse (1 relevant document known a topic), for which thousands of topics are needed"
    starts = {
        6: "6 topics: with fewer than 25, chance orders systems as much as merit does; ",
        30: "30 topics, where 50 are usual and 200 better: only large differences will show; ",
        300: "300 topics are few: ",
    }
    for topics, start in starts.items():
        findings = cranfield.describe(found_qrels(topics, 1, 1)).findings
        (finding,) = [finding for finding in findings if finding.code == "few-topics"]
        assert finding.message == start + told
        assert finding.doubtful == (topics < 25)


# Shallow pools


def test_measures_of_recall_are_told_where_the_pool_does_not_reach_as_far() -> None:
    deep = collection(60, judged=20, relevant=5, retrieved=100)
    found = cranfield.compare(deep, ["AP", "R@20", "nDCG@10", "P@100", "RR", "nDCG"])
    (finding,) = advice(found, "shallow-pool")
    assert (finding.source, finding.doubtful) == ("judgements", True)
    assert finding.message == (
        "the pool is shallow for AP, nDCG: 20 documents a topic are judged (median), fewer than the ranks looked "
        "at, and 80% of what a shows there is not. Relevant documents that nobody judged are missing from what is to "
        "be found: prefer measures of the top, as nDCG@10"
    )
    (finding,) = advice(cranfield.compare(deep, ["R@50", "R@20"]), "shallow-pool")
    assert finding.message.startswith("the pool is shallow for R@50: 20 documents")
    (finding,) = advice(
        cranfield.compare(collection(60, judged=3, relevant=1, retrieved=20), "nDCG@10"), "shallow-pool"
    )
    assert finding.message.startswith("the pool is shallow for nDCG@10: 3 documents a topic are judged")
    assert finding.message.endswith("prefer measures of the top, as nDCG@3")


@pytest.mark.parametrize(
    ("judged", "relevant", "retrieved", "measures"),
    [
        (20, 5, 20, ["AP"]),  # lists end where judging does
        (20, 5, 100, ["nDCG@10", "R@20", "P@100"]),
        (60, 5, 100, ["AP"]),  # most is judged
        (20, 20, 100, ["AP"]),  # relevant ones alone: nobody knows how far they were looked for
    ],
)
def test_other_measures_and_pools_are_not_told(judged: int, relevant: int, retrieved: int, measures: list[str]) -> None:
    found = cranfield.compare(collection(60, judged=judged, relevant=relevant, retrieved=retrieved), measures)
    assert not advice(found, "shallow-pool")


def test_a_measure_is_asked_whether_missed_documents_count() -> None:
    missed = {name for name in ("AP", "R@5", "Rprec", "Bpref", "F@10", "IPrec@0.5", "nDCG", "E@10", "P@10", "RR", "RBP",
              "ERR@20", "Success@10", "IPrec@0") if counts_missed(parse_measure(name))}  # fmt: skip
    assert missed == {"AP", "R@5", "Rprec", "Bpref", "F@10", "IPrec@0.5", "nDCG", "E@10"}
    for measure in all_measures():  # none fails
        counts_missed(measure if measure.is_complete else parse_measure(f"{measure.name}@1"))


# Topics of their own


def apart() -> tuple[Judgements, dict[str, dict[str, dict[str, float]]]]:
    qrels = {f"{side}{number}": {"d1": 1, "d2": 2} for side in "ab" for number in range(6)}
    runs = {
        side: {topic: {"x": 9.0 * (int(topic[1]) % 2), "d1": 5.0} for topic in qrels if topic[0] == side}
        for side in "ab"
    }
    return qrels, runs


def test_systems_that_share_no_topic_are_told_how_to_compare_them() -> None:
    qrels, runs = apart()
    found = cranfield.compare(Experiment(qrels, runs), "RR")
    (finding,) = advice(found, "nothing-shared")
    assert str(finding) == (
        "topics: no topic is answered by both a and b: each scores 0 on the topics of the other. Compare them on "
        "topics of their own: --topics run --test welch"
    )
    found = cranfield.compare(Experiment(qrels, runs, policy=Policy(topics="run")), "RR", tests=["welch"])
    assert not advice(found, "nothing-shared")
    assert found.panels[0].means.tolist() == [0.75, 0.75]
    runs["b"]["a1"] = {"d1": 1.0}
    assert not advice(cranfield.compare(Experiment(qrels, runs), "RR"), "nothing-shared")


@pytest.mark.parametrize("policy", ["run", "common"])
@pytest.mark.parametrize("tests", [None, ["t"]])
def test_every_other_way_says_how(policy: str, tests: list[str] | None) -> None:
    qrels, runs = apart()
    with pytest.raises(cranfield.errors.DataError, match=r"compared by .*--test welch"):
        cranfield.compare(Experiment(qrels, runs, policy=Policy(topics=policy)), "RR", tests=tests)
