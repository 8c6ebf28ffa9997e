"""The gate of continuous integration: what passes, what fails, and with which words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_cases import cranfield as command
from test_compare import QRELS, RUNS, write

from cranfield import UsageError
from cranfield.gating import Check, Rule, Thresholds, gate


def failed(baseline: str, candidate: str, thresholds: Thresholds) -> list[str]:
    verdict = gate(QRELS, RUNS[baseline], RUNS[candidate], thresholds)
    assert verdict.passed == all(check.passed for check in verdict.checks)
    return [check.what for check in verdict.checks if not check.passed]


def test_a_better_candidate_passes_and_a_worse_one_does_not() -> None:
    both = Thresholds({"AP": Rule(tolerance=0.01)})
    assert failed("poor", "good", both) == []
    assert failed("good", "poor", both) == ["AP falls by at most 0.01", "AP does not fall significantly"]


def test_each_rule_stands_alone() -> None:
    assert failed("good", "poor", Thresholds({"AP": Rule(tolerance=1, significant=False)})) == []
    floor = Thresholds({"AP": Rule(significant=False, minimum=0.99)})
    assert failed("poor", "good", floor) == ["AP is at least 0.99"]


def test_the_significance_of_several_measures_is_corrected() -> None:
    one = gate(QRELS, RUNS["fair"], RUNS["poor"], Thresholds({"AP": Rule()}))
    two = gate(QRELS, RUNS["fair"], RUNS["poor"], Thresholds({"AP": Rule(), "RR": Rule()}))
    assert one.comparison.panels[0].adjusted[0] <= two.comparison.panels[0].adjusted[0]


def test_a_protected_topic_may_fall_so_far() -> None:
    change = gate(QRELS, RUNS["good"], RUNS["poor"]).comparison.panels[0].scores
    fall = float(change[1, 4] - change[0, 4])
    assert fall > 0
    rules = {"nDCG@10": Rule(significant=False)}
    assert failed("good", "poor", Thresholds(rules, {"5": fall})) == []
    assert failed("good", "poor", Thresholds(rules, {"5": fall - 1e-6}))
    with pytest.raises(UsageError, match="no topic 999 among those compared"):
        gate(QRELS, RUNS["good"], RUNS["poor"], Thresholds(rules, {"999": 0}))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"measure": {}}, "unknown key 'measure'; there are alpha, measures, topics"),
        ({"measures": {"AP": {"tolerence": 1}}}, "has 'tolerence'; it may have tolerance, significant, minimum"),
        ({"measures": {"AP": 3}}, "has 3"),
        ({"measures": {"APP": {}}}, "unknown measure 'APP'"),
        ({"topics": {"301": "much"}}, "topic 301 must be a number, not 'much'"),
        ({"alpha": True}, "alpha must be a number"),
        ({"measures": 3}, "measures must be a table"),
        ({"topics": [1]}, "topics must be a table"),
        ({"topics": {"301": -0.1}}, "topic 301 must be 0 or more"),
        ({"measures": {"AP": {"tolerance": "x"}}}, "AP.*: tolerance must be a number, not 'x'"),
        ({"measures": {"AP": {"tolerance": -1}}}, "AP.*: tolerance must be 0 or more"),
        ({"measures": {"AP": {"minimum": float("nan")}}}, "AP.*: minimum must be a number, not nan"),
        ({"measures": {"AP": {"significant": "no"}}}, "AP.*: significant must be true or false, not 'no'"),
        ({"measures": {"AP": {}, "map": {}}}, "AP has two rules"),
        ({"measures": {"AP": {"significant": False}}}, "nothing is checked"),
    ],
)
def test_wrong_thresholds_are_explained(document: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Thresholds.of_document(document)


def test_the_command_exits_with_1_and_writes_a_summary(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    poor, good = (write(tmp_path / f"{name}.run", RUNS[name]) for name in ("poor", "good"))
    summary = tmp_path / "summary.md"
    summary.write_text("# Build\n")
    fails = command("gate", qrels, good, poor, "-m", "AP", "--tolerance", "0.01", "--summary", summary)
    assert fails.exit == 1
    assert "The candidate fails 2 of 2 checks." in fails.stdout
    assert summary.read_text().startswith("# Build\n### ❌ Retrieval quality")
    assert command("gate", qrels, poor, good, "-f", "json").exit == 0
    nowhere = command("gate", qrels, poor, good, "--summary", tmp_path / "no" / "summary.md")
    assert nowhere.exit == 3
    assert "summary.md: cannot be written" in nowhere.stderr

    config = tmp_path / "gate.toml"
    config.write_text('alpha = 0.01\n[measures."nDCG@10"]\ntolerance = 0.5\nminimum = 0.1\n[topics]\n7 = 1.0\n')
    passes = command("gate", qrels, poor, good, "--config", config, "-f", "json")
    document = json.loads(passes.stdout)
    assert document["passed"] is True
    assert [check["what"] for check in document["checks"]] == [
        "nDCG@10 falls by at most 0.5",
        "nDCG@10 does not fall significantly",
        "nDCG@10 is at least 0.1",
        "nDCG@10 of topic 7 falls by at most 1",
    ]
    both = command("gate", qrels, poor, good, "--config", config, "--tolerance", "0.5")
    assert both.exit == 2
    assert "--tolerance or --config, not both" in both.stderr
    nothing = command("gate", qrels, good, poor, "--no-significant")
    assert nothing.exit == 2
    assert "nothing is checked" in nothing.stderr
    config.write_text("alpha = \n")
    assert "is not TOML" in command("gate", qrels, poor, good, "--config", config).stderr
    assert command("gate", qrels, poor, good, "--topic", "7=x").exit == 2


def test_a_threshold_that_is_met_exactly_passes() -> None:
    qrels = {str(topic): {"d1": 1} for topic in range(10)}
    first, second = ({topic: {"d1": rank, "d2": 2} for topic in qrels} for rank in (3, 1))
    for fallen, fall in ((3, 0.15), (6, 0.3), (7, 0.35)):  # 0.7 - 1 is a bit below -0.3
        after = {topic: second[topic] if int(topic) < fallen else first[topic] for topic in qrels}
        rule = Rule(tolerance=fall, minimum=1 - fall, significant=False)
        assert gate(qrels, first, after, Thresholds({"RR": rule})).passed


def test_a_check_says_what_it_found() -> None:
    verdict = gate(QRELS, RUNS["poor"], RUNS["good"], Thresholds({"AP": Rule(minimum=0.1, significant=False)}))
    mean = verdict.comparison.panels[0].means[0]
    assert verdict.checks == (Check("AP is at least 0.1", True, f"{mean:.4f}"),)
