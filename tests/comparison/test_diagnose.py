"""Where a difference comes from: topics, slices and documents."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from commands import command_line
from cranfield import UsageError, evaluate, read_run
from cranfield.comparison.diagnosis import diagnose, sliced, topic_parts
from cranfield.errors import DataError
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.attributes import read_attributes
from cranfield.statistics.intervals import flipped
from cranfield.statistics.randomised import exact_p
from cranfield.statistics.significance import Sampling
from noisy import QRELS, RUNS, TOPICS, write

SCORES = evaluate(QRELS, {"good": RUNS["good"], "fair": RUNS["fair"]}, "AP").scores[:, 0]


def test_topics_are_taken_out_one_by_one() -> None:
    parts = topic_parts(TOPICS, SCORES)
    assert [part.difference for part in parts] == sorted((SCORES[0] - SCORES[1]).tolist(), reverse=True)
    assert sum(part.share for part in parts) == pytest.approx(1)
    for part in parts[::7]:
        rest = np.delete(SCORES, TOPICS.index(part.topic), axis=1)
        assert part.difference_without == pytest.approx((rest[0] - rest[1]).mean())
        assert part.p_without == pytest.approx(stats.ttest_rel(rest[0], rest[1]).pvalue, rel=1e-6)


def test_few_topics_are_taken_out_by_randomisation() -> None:
    """Of the eight ways to set three signs two add up to as much, whatever the three differences."""
    parts = topic_parts(["1", "2", "3", "4"], np.array([[0.3, 0.5, 0.7, 0.9], [0.2, 0.4, 0.6, 0.2]]))
    assert [part.p_without for part in parts] == [0.25] * 4


def test_a_constant_rest_is_decided_by_randomisation() -> None:
    """On 31 topics t decides; without the one that differs, nothing varies and t is undefined."""
    scores = np.array([np.full(31, 0.5), np.full(31, 0.4)])
    scores[0, 7] = 0.9
    names = [str(topic) for topic in range(31)]
    for part in topic_parts(names, scores):
        rest = np.delete(scores, int(part.topic), axis=1)
        expected = 2.0**-29 if part.topic == "7" else stats.ttest_rel(rest[0], rest[1]).pvalue
        assert part.p_without == pytest.approx(expected, rel=1e-6)


def test_the_test_that_decides_is_named(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    good, fair = (write(tmp_path / f"{name}.run", RUNS[name]) for name in ("good", "fair"))
    few = write(tmp_path / "few.txt", {topic: QRELS[topic] for topic in TOPICS[:9]})
    assert diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "AP").decided_by == "t"
    assert "p (paired t) <0.0001, 40 topics" in command_line("diagnose", qrels, good, fair, "-m", "AP").stdout
    found = command_line("diagnose", few, good, fair, "-m", "AP").stdout
    scores = SCORES[:, :9]
    exact = exact_p(scores, np.array([[0, 1]]), Sampling())[0]
    assert f"p (exact randomisation) {exact:.4f}, 9 topics" in found
    assert exact != pytest.approx(stats.ttest_rel(*scores).pvalue, abs=1e-4)


def test_systems_are_called_by_their_files_or_by_what_they_are_here(tmp_path: Path) -> None:
    good, fair = (write(tmp_path / f"{name}.run", RUNS[name]) for name in ("good", "fair"))
    of_files = diagnose(Experiment(QRELS, [str(good), str(fair)]), "AP")
    assert (of_files.system, of_files.other) == ("good", "fair")
    of_mappings = diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "AP")
    assert (of_mappings.system, of_mappings.other) == ("run1", "run2")
    of_runs = diagnose(Experiment(QRELS, [read_run(RUNS["good"], name="x"), read_run(RUNS["fair"], name="y")]), "AP")
    assert (of_runs.system, of_runs.other) == ("x", "y")


def test_shares_of_nothing_are_not_numbers() -> None:
    parts = topic_parts(["1", "2", "3"], np.array([[0.1, 0.2, 0.3], [0.2, 0.1, 0.3]]))
    assert all(np.isnan(part.share) for part in parts)


def test_the_diagnosis_adds_up() -> None:
    found = diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "AP", depth=5)
    assert found.difference == pytest.approx((SCORES[0] - SCORES[1]).mean())
    assert found.p == pytest.approx(stats.ttest_rel(SCORES[0], SCORES[1]).pvalue)
    largest = sorted(found.topics, key=lambda part: -abs(part.difference))[:3]
    assert {move.topic for move in found.moves} == {part.topic for part in largest}
    rankings = [list(read_run(RUNS[name]).of(found.moves[0].topic)) for name in ("good", "fair")]
    for move in found.moves:
        if move.topic == found.moves[0].topic:
            places = [ranking.index(move.document) + 1 for ranking in rankings]
            shown = [place if place <= 5 else None for place in places]
            assert [move.rank, move.other_rank] == shown
            assert move.grade == QRELS[move.topic][move.document]
            assert move.change in ("entered", "left", "up", "down")


def test_deciding_topics_change_the_verdict() -> None:
    qrels = {str(topic): {"d1": 1} for topic in range(5)}
    same = {topic: {"d1": 1.0} for topic in qrels}
    found = diagnose(Experiment(qrels, {"run": same, "other": {**same, "3": {"d2": 2.0, "d1": 1.0}}}), "RR")
    assert found.difference == pytest.approx(0.1)
    found = diagnose(
        Experiment(
            qrels,
            {"run": {**same, "2": {"x": 2.0, "d1": 1.0}}, "other": {**same, "3": {f"x{n}": 9.0 for n in range(9)}}},
        ),
        "RR",
    )
    assert [part.topic for part in found.deciding] == ["3"]


def test_unknown_topics_and_too_few_are_refused() -> None:
    with pytest.raises(UsageError, match="no topic 999 among those compared"):
        diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "AP", topics=["999"])
    with pytest.raises(UsageError, match=r"one measure is explained at a time; 'P\.5,10' names P@5, P@10"):
        diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "P.5,10")
    with pytest.raises(UsageError, match="GMAP: means over topics are compared; take AP instead"):
        diagnose(Experiment(QRELS, [RUNS["good"], RUNS["fair"]]), "gm_map")
    with pytest.raises(DataError, match="a diagnosis needs 3"):
        diagnose(Experiment({"1": {"d1": 1}}, {"run": {"1": {"d1": 1.0}}, "other": {"1": {"d1": 1.0}}}), "AP")


def test_slices_are_compared_on_their_own() -> None:
    attributes = {
        topic: {"kind": "odd" if int(topic) % 2 else "even", "length": str(int(topic) * 1.5)} for topic in TOPICS
    }
    found = sliced(TOPICS, SCORES, attributes)
    assert [(part.attribute, part.value, part.topics) for part in found] == [
        ("kind", "odd", 20),
        ("kind", "even", 20),
        ("length", "1.5 to 21", 14),
        ("length", "22.5 to 40.5", 13),
        ("length", "42 to 60", 13),
    ]
    odd = SCORES[:, ::2]
    assert found[0].p == exact_p(odd, np.array([[0, 1]]), Sampling())[0]
    assert {part.decided_by for part in found} == {"randomisation"}
    p = np.array([part.p for part in found])
    adjusted = np.array([part.adjusted_p for part in found])
    order = np.argsort(p)
    np.testing.assert_allclose(adjusted[order], np.maximum.accumulate(p[order] * np.arange(5, 0, -1)).clip(max=1))
    rejected = int(np.sum(adjusted < 0.05))
    assert [part.level for part in found] == pytest.approx([0.05 / max(5 - rejected, 1)] * 5)
    ends = flipped(np.diff(odd[::-1], axis=0), found[0].level, Sampling())
    assert (found[0].low, found[0].high) == (ends.low[0], ends.high[0])
    for part in found:
        assert (part.low > 0 or part.high < 0) == (part.adjusted_p < 0.05)
    halves = {topic: {"half": str(int(topic) // 21), "third": str(int(topic) % 3)} for topic in TOPICS}
    unsure = sliced(TOPICS, np.stack([SCORES[0], SCORES[0] + np.tile([0.1, -0.12], 20)]), halves)
    assert [part.adjusted_p < 0.05 for part in unsure] == [False] * 5
    assert [part.level for part in unsure] == pytest.approx([0.05 / 5] * 5)
    single = {topic: {"kind": "odd" if int(topic) % 2 else "even"} for topic in TOPICS[:5]} | {"6": {"kind": "one"}}
    (one,) = [part for part in sliced(TOPICS, SCORES, single) if part.value == "one"]
    assert np.isnan([one.p, one.adjusted_p, one.low, one.high]).all()
    lacking = {topic: {"length": "nan" if topic == "1" else str(int(topic) * 1.5)} for topic in TOPICS}
    assert [part.value for part in sliced(TOPICS, SCORES, lacking)] == ["3 to 21", "22.5 to 40.5", "42 to 60"]
    with pytest.raises(DataError, match="no topic of the attributes"):
        sliced(TOPICS, SCORES, {"x": {"kind": "odd"}})


def test_attributes_are_read_and_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "topics.csv"
    path.write_text('kind,topic\nodd,1\n"even, really",2\n')
    assert read_attributes(str(path)) == {"1": {"kind": "odd"}, "2": {"kind": "even, really"}}
    path.write_text('topic;kind\n1;odd\n2;"even;\nreally"\n')
    assert read_attributes(str(path)) == {"1": {"kind": "odd"}, "2": {"kind": "even;\nreally"}}
    for text, message in (
        ("topic,kind\n1,odd\n1,even\n", r"topics.csv:3: topic '1' is there twice"),
        ('topic,kind\n1,"odd\nor so"\n1,even\n', r"topics.csv:4: topic '1' is there twice\n    4 \| 1,even"),
        ("topic,kind\n1\n", r"topics.csv:2: 1 field where the header has 2"),
        ("topic\n1\n", "is not a table of topic attributes"),
        ("topic,kind,kind\n1,odd,even\n", "topics.csv:1: two columns are called 'kind'"),
    ):
        path.write_text(text)
        with pytest.raises(DataError, match=message):
            read_attributes(str(path))


def test_the_command_shows_topics_slices_and_documents(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    good, fair = (write(tmp_path / f"{name}.run", RUNS[name]) for name in ("good", "fair"))
    slices = tmp_path / "topics.tsv"
    slices.write_text("topic\tkind\n" + "".join(f"{topic}\t{'ab'[int(topic) % 2]}\n" for topic in TOPICS))
    shown = command_line("diagnose", qrels, good, fair, "-m", "AP", "--slices", slices, "--topic", "7")
    assert shown.exit == 0, shown.stderr
    assert "Slices of topics" in shown.stdout
    assert "Documents that moved, among the first 10" in shown.stdout
    every = json.loads(command_line("diagnose", qrels, good, fair, "-f", "json").stdout)
    assert len(every["topics"]) == 40
    assert len(command_line("diagnose", qrels, good, fair, "-f", "csv").stdout.splitlines()) == 41
    for format in ("markdown", "latex", "html"):
        assert "difference" in command_line("diagnose", qrels, good, fair, "-f", format, "--every-topic").stdout
