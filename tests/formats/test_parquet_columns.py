"""Parquet: the columns that are wanted, whatever their types, in files of several row groups."""

from __future__ import annotations

import io
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

import cranfield
from cranfield import DataError

TOPICS, DOCUMENTS, SCORES = ["a", "a", "b", "c"], ["x", "y", "z", "x"], [1.0, 2.0, 3.0, 4.0]
TABLE = {"a": {"y": 2.0, "x": 1.0}, "b": {"z": 3.0}, "c": {"x": 4.0}}


def written(**columns: Any) -> io.BytesIO:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), file, row_group_size=2)
    file.seek(0)
    return file


def text(values: list[str | None], kind: Any = None) -> Any:
    return pyarrow.array(values, kind or pyarrow.string())


@pytest.mark.parametrize(
    ("tags", "tag", "several"),
    [
        (text(["t", "t", "t", "t"]), "t", False),
        (text(["t", None, "u", "t"]), "t", True),
        (text(["t", None, "t", None]), "t", False),
        (text([None, None, None, None]), "", False),
        (text(["", "", "", "t"], pyarrow.large_string()), "t", True),
        (text(["t", "u", "u", "u"]).dictionary_encode(), "u", True),
        (pyarrow.array([7, 7, None, 7]), "7", False),
        (pyarrow.array([7, 7, 7, 8]), "8", True),
        (pyarrow.array([0.0, -0.0, 0.0, -0.0]), "-0.0", True),
        (pyarrow.array([[1], None, [2], None]), "[2]", True),
        (pyarrow.array([True, True, None, False]), "False", True),
    ],
)
def test_the_tag_is_that_of_the_last_row_which_has_one(tags: Any, tag: str, several: bool) -> None:
    run = cranfield.read_run(written(topic=TOPICS, document=DOCUMENTS, score=SCORES, tag=tags))
    assert (run.to_dict(), run.origin.tag) == (TABLE, tag)
    assert ("several-tags" in [code for code, _ in run.origin.notes]) == several


@pytest.mark.parametrize(
    "topics",
    [
        text(list(TOPICS), pyarrow.large_string()),
        text(list(TOPICS)).dictionary_encode(),
        pyarrow.array([topic.encode() for topic in TOPICS]),
    ],
)
def test_topics_may_be_text_of_any_type_and_other_columns_anything(topics: Any) -> None:
    others = {"topic.x": [1, 2, 3, 4], "more": [{"topic": 1}] * 4, "last": [None] * 4}
    file = written(more_before=[[1], [2], [3], [4]], topic=topics, document=DOCUMENTS, score=SCORES, **others)
    assert cranfield.read_run(file).to_dict() == TABLE


def test_a_topic_that_is_missing_is_told() -> None:
    file = written(topic=text(["a", None, "b", "c"]), document=DOCUMENTS, score=SCORES)
    with pytest.raises(DataError, match=r"row 1 \(counting from 0\), column 'topic': missing value"):
        cranfield.read_run(file)
