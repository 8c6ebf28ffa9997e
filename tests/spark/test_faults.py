"""What is wrong with an input is told as on one machine, whichever task meets it, and the same every time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cranfield
from cranfield import CranfieldError, DataError, UsageError, spark
from spark_cluster import pieces_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QRELS = {str(topic): {"d1": 1, "d2": 0} for topic in range(40)}
LINES = [f"{topic} Q0 d{number} {number} {9.5 - number} tag" for topic in range(40) for number in range(1, 9)]

BAD = {
    "a line cut short": {7: "0 Q0 d8 8", 200: "25 Q0 d1 1 x tag"},
    "no number": {250: "31 Q0 d3 3 high tag", 311: "38 Q0 d8 8 nan tag"},
    "a second score": {300: LINES[300].replace("d5", "d2")},
    "a second score elsewhere": {300: "0 Q0 d1 1 0.25 tag", 310: "38 Q0 d7 x 1.5 tag"},
    "a NUL": {100: "12 Q0 d\0 5 4.5 tag"},
    "marks of joined files, with which pieces begin": {at: f"\ufeff{LINES[at]}" for at in range(8, len(LINES), 8)},
    "a rank": {150: LINES[150].replace(" 7 ", " seven ")},
}


def refusal(qrels: object, run: Path) -> str:
    with pytest.raises(DataError) as told:
        cranfield.evaluate(qrels, [run], "AP")  # type: ignore[arg-type]
    return str(told.value)


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_bad_lines(session: SparkSession, tmp_path: Path, bad: dict[int, str]) -> None:
    path = tmp_path / "bad.run"
    path.write_text("".join(f"{bad.get(number, line)}\n" for number, line in enumerate(LINES)))
    expected = refusal(QRELS, path)
    assert "bad.run:" in expected
    for size in (500, 1 << 20):  # in pieces, and whole
        with pieces_of(session, size), pytest.raises(DataError) as told:
            spark.evaluate(QRELS, [path], "AP")
        assert str(told.value) == expected


def test_all_files_that_are_wrong_are_told(session: SparkSession, tmp_path: Path) -> None:
    for name, change in (("a", "0 Q0 d1"), ("b", None), ("c", "39 Q0 d8 8 zero tag"), ("d", None)):
        lines = LINES if change is None else [*LINES[:-1], change]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "d.run").write_text("")
    runs = [tmp_path / f"{name}.run" for name in "abcd"]
    with pytest.raises(DataError) as expected:
        cranfield.evaluate(QRELS, runs, "AP")
    assert "2 other files are wrong as well" in str(expected.value)
    with pieces_of(session, 700), pytest.raises(DataError) as told:
        spark.evaluate(QRELS, runs, "AP")
    assert str(told.value) == str(expected.value)


def test_the_files_of_a_folder_are_named(session: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    first, second = tmp_path / "run" / "part-0", tmp_path / "run" / "part-1"
    first.write_text("\n".join(LINES[:100]))
    second.write_text("\n".join([*LINES[100:], "3 Q0 d4 4 0.125 tag"]))
    with pieces_of(session, 500), pytest.raises(DataError) as told:
        spark.evaluate(QRELS, tmp_path / "run", "AP")
    assert str(told.value).splitlines()[:3] == [
        f"{second}:221: document 'd4' is given a second score for the same topic",
        "    221 | 3 Q0 d4 4 0.125 tag",
        f"    Line 28 of {first} has another: {LINES[27]}",
    ]


ROWS = [("a", str(topic), f"d{number}", 9.5 - number) for topic in range(12) for number in range(6)]
WRONG: dict[str, list[tuple[str | None, str | None, str | None, float | None]]] = {
    "a: topic '3' has document 'd2' twice, with the scores 0.5 and 7.5": [("a", "3", "d2", 0.5)],
    "a: topic '5', document 'd9', column 'score': score is NaN": [
        ("a", "5", "d9", float("nan")),
        ("a", "7", "d9", None),
    ],
    "a: topic '7', document 'd9', column 'score': missing value": [("a", "7", "d9", None)],
    "a: topic '7', column 'document': missing value": [("a", "7", None, 1.0)],
    "a: a row without ids, column 'topic': missing value": [("a", None, None, 1.0)],
    "a: topic '4', document '', column 'document': empty id": [("a", "4", "", 1.0)],
    "the runs: a row without a name of its run, in the column 'run'": [(None, "4", "d9", 1.0)],
}


@pytest.mark.parametrize("expected", WRONG)
def test_rows_of_frames(session: SparkSession, expected: str) -> None:
    for partitions in (1, 7):
        rows = [*WRONG[expected], *ROWS, ("b", "1", "d1", 1.0)]
        frame = session.createDataFrame(rows, "run string, topic string, document string, score double")
        with pytest.raises(DataError) as told:
            spark.evaluate(QRELS, frame.repartition(partitions), "AP")
        assert str(told.value).partition("\n")[0] == expected


def test_judgements_that_contradict(session: SparkSession) -> None:
    rows = [("1", "d1", 1), ("2", "d2", 0), ("2", "d2", 2), ("3", "d3", 0), ("3", "d3", 1)]
    judged = session.createDataFrame(rows, "topic string, document string, grade int").repartition(3)
    runs = session.createDataFrame(ROWS, "run string, topic string, document string, score double")
    expected = r"^the judgements: topic '2' has document 'd2' twice, with the grades 0 and 2"
    for broadcast in (0, 100):
        with pytest.raises(DataError, match=expected):
            spark.evaluate(judged, runs, "AP", broadcast=broadcast)


def test_no_topic_in_common(session: SparkSession) -> None:
    """Where judgements are joined by topic, no task sees both: it is told as on one machine. So is a bad row of such a
    topic."""
    others = {f"z{number}": {"d1": 1} for number in range(7)}
    judged = session.createDataFrame([(topic, "d1", 1) for topic in others], "topic string, document string, grade int")
    schema = "run string, topic string, document string, score double"
    rows = session.createDataFrame(ROWS, schema)
    bad = rows.union(session.createDataFrame([("a", "5", "d9", float("nan"))], schema))
    with pytest.raises(DataError) as expected:
        cranfield.evaluate(others, {"a": {topic: {"d1": 1.0} for _, topic, *_ in ROWS}}, "AP")
    assert "the run has 0, 1, 2 and 9 more, the judgements have z0, z1, z2 and 4 more" in str(expected.value)
    for broadcast in (0, 100):
        with pytest.raises(DataError) as error:
            spark.evaluate(judged, rows, "AP", broadcast=broadcast)
        assert str(error.value) == str(expected.value)
        with pytest.raises(DataError, match=r"^a: topic '5', document 'd9', column 'score': score is NaN"):
            spark.evaluate(judged, bad, "AP", broadcast=broadcast)


def test_frames_that_are_wrong_are_not_files(session: SparkSession) -> None:
    rows = [(run, "1", "d1", float("nan")) for run in "ab"]
    frame = session.createDataFrame(rows, "run string, topic string, document string, score double")
    with pytest.raises(DataError, match="1 other run is wrong as well"):
        spark.evaluate(QRELS, frame, "AP")


def test_columns_of_any_name(session: SparkSession) -> None:
    """A dot in a name is no field of a struct, and a backtick ends no quotes."""
    frame = session.createDataFrame(
        [("x", "1", "d1", 1.0, 1)], "run string, topic string, document string, s double, r int"
    )
    odd = frame.toDF("my.run", "to`pic", "docu.ment", "the score", "a.rank")
    columns = {"tag": "my.run", "topic": "to`pic", "document": "docu.ment", "score": "the score", "rank": "a.rank"}
    found = spark.evaluate({"1": {"d1": 1}}, odd, "AP", reading=cranfield.Reading(columns=columns))
    assert [tuple(row) for row in found.collect()] == [("x", "1", "AP", 1.0)]


def test_numbers_are_those_of_other_frames(session: SparkSession) -> None:
    """Booleans are taken and decimals are not, as from Arrow."""
    rows = session.createDataFrame([("1", "d1", 1.0, "x")], "topic string, document string, score double, rank string")
    frame = rows.drop("rank")
    assert spark.evaluate(QRELS, frame.withColumn("score", frame["score"].cast("boolean")), "RR").count() == 40
    with pytest.raises(UsageError) as told:
        spark.evaluate(QRELS, frame.withColumn("score", frame["score"].cast("decimal(9,3)")), "RR")
    assert str(told.value).splitlines() == [
        "run: column 'score' must have floats or whole numbers, not decimal",
        "    Cast it: Column.cast('double').",
    ]
    with pytest.raises(UsageError, match="run: column 'rank' must have whole numbers, not string"):
        spark.evaluate(QRELS, rows, "RR")


def test_what_cannot_be_evaluated(session: SparkSession, tmp_path: Path) -> None:
    schema = "run string, topic string, document string, score double"
    frame = session.createDataFrame(ROWS, schema)
    halves = frame.selectExpr("score as topic", "document", "score")
    refused: list[tuple[type[CranfieldError], str, dict[str, object]]] = [
        (DataError, "a: no topic in common with the judgements: the run has 0, 1, 2 and", {"qrels": {"z": {"d1": 1}}}),
        (DataError, "qrels: nothing is relevant", {"qrels": {"1": {"d1": 0}}}),
        (UsageError, "ties=file is about the order of a file", {"policy": cranfield.Policy(ties="file")}),
        (UsageError, "a run is a frame of Spark or the path", {"runs": {"q1": {"d1": 1.0}}}),
        (UsageError, "no run given", {"runs": []}),
        (UsageError, "more than one frame has rows of a", {"runs": [frame, frame]}),
        (DataError, "no column for the document among 'run', 'topic', 'score'", {"runs": frame.drop("document")}),
        (
            UsageError,
            "run: topic ids are text or whole numbers, not double",
            {"runs": halves},
        ),
        (DataError, "no such file", {"runs": tmp_path / "nowhere.run"}),
        (DataError, "has no rows", {"runs": {"empty": frame.where("false")}}),
        (DataError, "has no rows", {"qrels": session.createDataFrame([], "topic string, document string, grade int")}),
    ]
    for kind, text, given in refused:
        arguments: dict[str, object] = {"qrels": QRELS, "runs": frame, "measures": "AP"} | given
        with pytest.raises(kind) as told:
            spark.evaluate(**arguments)  # type: ignore[arg-type]
        assert text in str(told.value)


def test_a_folder_hides_no_other(session: SparkSession, tmp_path: Path) -> None:
    """What is wrong with a folder is found before any task starts, and is told with what tasks find, in order."""
    assert session
    for name, lines in {"bad": ["0 Q0 d1"], "nan": ["0 Q0 d1 1 nan tag"]}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "part-0").write_text("\n".join([*LINES, *lines]) + "\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "nested" / "inner").mkdir(parents=True)

    def refused(*names: str) -> list[str]:
        with pytest.raises(DataError) as told:
            spark.evaluate(QRELS, [tmp_path / name for name in names], "AP")
        return str(told.value).splitlines()

    told = refused("empty", "bad", "nested", "nan")
    assert told[0] == f"{tmp_path}/empty: no file with anything in it is in this folder"
    assert told[1] == "    3 other files are wrong as well:"
    assert told[2].startswith(f"    {tmp_path}/bad/part-0:321: ")
    assert told[3].startswith(f"    {tmp_path}/nested: has a folder in it")
    assert told[4].startswith(f"    {tmp_path}/nan/part-0:321: ")
    assert refused("bad", "empty")[-1].startswith(f"    {tmp_path}/empty: no file")
    assert refused("empty", "nested")[1:] == [
        "    1 other file is wrong as well:",
        f"    {tmp_path}/nested: has a folder in it, inner: the files of a run lie side by side",
    ]
