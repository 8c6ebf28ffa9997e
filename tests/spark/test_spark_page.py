"""What docs/spark.md shows runs; what is odd of runs is logged."""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cranfield
from cranfield import Policy, Results, spark
from cranfield.report.contents import gather
from cranfield.report.report_tables import inputs_grid
from places import EXAMPLES, ROOT
from spark_cluster import pieces_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_example_runs(session: SparkSession) -> None:
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    assert "session = SparkSession.builder" in code
    names: dict[str, object] = {"session": session}
    shown = StringIO()
    with redirect_stdout(shown):
        exec(re.sub(r"session = SparkSession.builder.*\n", "", code), names)
    assert re.search(r"\| *bm25\| *RR\| *0.75\|", shown.getvalue())
    assert "dense" in shown.getvalue().partition("+\n\n")[2]


def test_the_report_of_a_frame(session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the files, and lists them."""
    assert session
    page = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[1], names)
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    report, expected = (
        gather(given, ["nDCG@10", "AP"])
        for given in (names["results"], cranfield.Experiment("qrels.txt", ["bm25.run", "dense.run"]))
    )
    assert str(report.comparison) == str(expected.comparison)
    assert inputs_grid(report).rows == inputs_grid(expected).rows
    assert "bm25.run" in inputs_grid(report).rows[1][1]


ODD_QRELS = {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1}, "3": {"d1": 0}, "4": {"d1": 1}}
ODD_LINES = [
    "# a comment",
    "1 Q0 d1 2 3.0 tag",
    "1 Q0 d2 1 3.0 tag",
    "1 Q0 d2 1 3.0 tag",
    "4 Q0 d3 1 3.0 tag",
    "4 Q0 d1 2 4.0 tag",
    "7 Q0 d2 1 3.0 tag",
    "8 Q0 d2 1 3.0 tag",
]


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    told = [record.getMessage() for record in caplog.records if record.name == "cranfield.spark"]
    caplog.clear()
    return told


def test_what_is_odd_is_logged(session: SparkSession, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    """All that one machine warns of, with names of topics, and in its order; results of the frame have it too."""
    path = tmp_path / "a.run"
    path.write_text("\n".join(ODD_LINES))
    fields = [line.split() for line in ODD_LINES[1:]]
    rows = [("a", topic, document, float(score), int(rank)) for topic, _, document, rank, score, _ in fields]
    frame = session.createDataFrame(rows, "run string, topic string, document string, score double, rank int")
    grades = [(topic, document, grade) for topic, of in ODD_QRELS.items() for document, grade in of.items()]
    judged = session.createDataFrame(grades, "topic string, document string, grade int")
    measures = ["nDCG@10", "AP"]
    for policy in (
        Policy(),
        Policy(ties="best", empty_topics="drop"),
        Policy(topics="common"),
        Policy(ties="expected"),
    ):
        expected = cranfield.evaluate(ODD_QRELS, path, measures, policy=policy).warnings
        told = [str(finding) for finding in expected]
        assert any("no answer to" in line and "2" in line for line in told)
        assert any("have equal scores in 1 topic" in line for line in told) == (policy.ties == "docid")
        with caplog.at_level(logging.INFO, "cranfield.spark"):
            for size in (40, 1 << 20):
                with pieces_of(session, size):
                    scores = spark.evaluate(ODD_QRELS, path, measures, policy=policy)
                assert logged(caplog) == told
                assert Results.from_frame(scores, policy=policy).warnings == expected
            of_frame = spark.evaluate(ODD_QRELS, frame, measures, policy=policy)
            without_comments = [line for line in told if "comments" not in line]
            assert logged(caplog) == without_comments
            results = Results.from_frame(of_frame, ODD_QRELS, policy=policy)
            assert [str(finding) for finding in results.warnings] == without_comments
            if policy.ties != "expected":  # which needs judgements that every worker has
                spark.evaluate(judged, frame, measures, policy=policy, broadcast=0)
                assert logged(caplog) == [line for line in without_comments if not line.startswith("qrels:")]


def test_results_of_a_frame_keep_the_order(session: SparkSession) -> None:
    """Runs and measures stand as they were asked for, as long as the frame is the one that was made."""
    rows = [(run, "1", "d1", 1.0) for run in ("a", "b")]
    frame = session.createDataFrame(rows, "run string, topic string, document string, score double")
    given = {"b": frame.where("run = 'b'"), "a": frame.where("run = 'a'")}
    scores = spark.evaluate({"1": {"d1": 1}}, given, ["RR", "nDCG@10", "AP"])
    results = Results.from_frame(scores)
    assert (results.runs, [*map(str, results.measures)]) == (("b", "a"), ["RR", "nDCG@10", "AP"])
    assert {finding.code for finding in results.warnings} == {"short-of-cutoff"}
    other = Results.from_frame(scores.where("score >= 0"))
    assert (other.runs, [*map(str, other.measures)]) == (("a", "b"), ["AP", "RR", "nDCG@10"])
    assert [str(finding) for finding in other.warnings] == [
        "the frame of scores: what was odd of its runs is not in it: spark.evaluate has written that to the log "
        "cranfield.spark"
    ]
