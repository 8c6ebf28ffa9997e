"""What docs/spark.md shows runs; what is odd of runs is logged."""

from __future__ import annotations

import logging
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from cranfield import spark
from places import ROOT

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


def test_what_is_odd_is_logged(session: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    rows = [("a", "1", "d1", 2.0, 1), ("a", "1", "d2", 3.0, 2), ("a", "1", "d2", 3.0, 2), ("a", "7", "d2", 3.0, 1)]
    frame = session.createDataFrame(rows, "run string, topic string, document string, score double, rank int")
    with caplog.at_level(logging.INFO, "cranfield.spark"):
        spark.evaluate({"1": {"d1": 1}, "2": {"d1": 1}}, frame, "AP")
    assert sorted(record.getMessage() for record in caplog.records if record.name == "cranfield.spark") == [
        "a: 1 line repeats another with the same value, that of document 'd2' of topic '1'; each counts once",
        "a: 1 topic without judgements, left out: 7",
        "a: no answer to 1 judged topic",
        "a: the rank column contradicts the scores in 1 row; the scores decide",
    ]
