"""Judgements of subtopics and of judges: every input gives the same, and what is wrong is said with its place."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from commands import command_line
from cranfield import DataError, Qrels, UsageError, evaluate, read_qrels
from cranfield.errors import DuplicateError
from cranfield.formats.grouped import in_order, trec_lines
from cranfield.formats.reading import Reading

TEXT = "q1 2 d1 1\nq1 10 d1 2\nq1 2 d2 0\nq2 b d1 -2\nq2 a d1 3\nq2 0 d9 0\n"
NESTED = {"q1": {"d1": {"2": 1, "10": 2}, "d2": {"2": 0}}, "q2": {"d1": {"b": -2, "a": 3}, "d9": {"0": 0}}}
ROWS = [tuple(line.split()) for line in TEXT.splitlines()]


class Judgement(NamedTuple):
    """As ir_measures and ir_datasets have it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Plain:
    def __init__(self, topic: str, aspect: int | str, docno: str, rel: float) -> None:
        self.topic, self.aspect, self.docno, self.rel = topic, aspect, docno, rel


def csv_text(delimiter: str, group: str) -> str:
    return "".join(delimiter.join(row) + "\n" for row in [("topic", group, "document", "grade"), *ROWS])


def parquet_bytes() -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(columns()), file)
    return file.getvalue()


def columns() -> dict[str, list[Any]]:
    topics, groups, documents, grades = map(list, zip(*ROWS, strict=True))
    return {"query_id": topics, "Subtopic": groups, "docno": documents, "label": [int(grade) for grade in grades]}


def frame(library: str) -> Any:
    module = pytest.importorskip(library)
    return module.table(columns()) if library == "pyarrow" else module.DataFrame(columns())


SOURCES: dict[str, Any] = {
    "text": lambda: io.StringIO(TEXT),
    "windows text": lambda: io.BytesIO(b"\xef\xbb\xbf" + TEXT.replace(" ", "\t").replace("\n", "\r\n").encode()),
    "blank lines": lambda: io.StringIO("\n" + TEXT.replace("\n", " \n\n")),
    "gzip": lambda: io.BytesIO(gzip.compress(TEXT.encode())),
    "bzip2": lambda: io.BytesIO(bz2.compress(TEXT.encode())),
    "csv": lambda: io.StringIO(csv_text(",", "aspect")),
    "tsv": lambda: io.StringIO(csv_text("\t", "iteration")),
    "json": lambda: io.StringIO(json.dumps(NESTED)),
    "json lines": lambda: io.StringIO(
        "".join(json.dumps({"qid": t, "intent": g, "doc": d, "rel": int(r)}) + "\n" for t, g, d, r in ROWS)
    ),
    "parquet": lambda: io.BytesIO(parquet_bytes()),
    "dict": lambda: NESTED,
    "records": lambda: [Judgement(t, d, int(r), g) for t, g, d, r in ROWS],
    "an iterator of records": lambda: (Judgement(t, d, int(r), g) for t, g, d, r in ROWS),
    "objects": lambda: [Plain(t, int(g) if g.isdigit() else g, d, float(r)) for t, g, d, r in ROWS],
    "dicts": lambda: [{"topic": t, "subtopic": g, "doc": d, "rel": float(r)} for t, g, d, r in ROWS],
    "pandas": lambda: frame("pandas"),
    "polars": lambda: frame("polars"),
    "pyarrow": lambda: frame("pyarrow"),
}


def as_dict(qrels: Qrels, kind: str) -> dict[str, dict[str, dict[str, float]]]:
    """Back to {topic: {document: {group: grade}}}."""
    rows = iter(qrels.columns[kind])
    return {
        topic: {
            document: {
                name: grade
                for name, grade in zip(qrels.groups[topic], next(rows).tolist(), strict=False)
                if not math.isnan(grade)
            }
            for document in documents
        }
        for topic, documents in qrels.to_dict().items()
    }


@pytest.mark.parametrize("source", SOURCES)
def test_every_input_gives_the_same_judgements(source: str) -> None:
    qrels = read_qrels(SOURCES[source](), name="mine", reading=Reading(judgements="subtopics"))
    assert as_dict(qrels, "subtopics") == NESTED
    assert qrels.groups == {"q1": ("2", "10"), "q2": ("0", "a", "b")}
    assert qrels.to_dict() == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 3, "d9": 0}}
    assert qrels.columns["subtopics"].shape == (4, 3)
    assert qrels.columns["by_id"].tolist() == [1, 0, 1, 0]
    assert qrels.name == "mine"


def test_a_file_is_known_by_its_name_and_its_path(tmp_path: Path) -> None:
    path = tmp_path / "web.qrels.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    qrels = read_qrels(path, reading=Reading(judgements="judges"))
    assert (qrels.name, qrels.origin.path) == ("web", str(path))


@pytest.mark.parametrize("source", ["text", "dict", "records"])
def test_a_judge_has_the_same_place_in_every_topic(source: str) -> None:
    """And a grade is the mean over those who judged; where nobody did, it stays negative."""
    qrels = read_qrels(SOURCES[source](), reading=Reading(judgements="judges"))
    names = ("0", "10", "2", "a", "b")
    assert qrels.groups == {"q1": names, "q2": names}
    assert as_dict(qrels, "judges") == NESTED
    assert qrels.to_dict() == {"q1": {"d1": 1.5, "d2": 0}, "q2": {"d1": 3, "d9": 0}}
    alone = read_qrels({"q1": {"d1": {"a": -2, "b": -1}, "d2": {"a": 1}}}, reading=Reading(judgements="judges"))
    assert alone.of("q1") == {"d2": 1, "d1": -1}


def test_names_are_in_the_order_of_numbers_where_all_are() -> None:
    assert in_order(["10", "9", "010", "9"]) == ("9", "010", "10")
    assert in_order(["10", "9", "x"]) == ("10", "9", "x")


def test_ids_of_any_bytes_survive() -> None:
    qrels = read_qrels(
        io.BytesIO(b"q\xe9 s\xff d\xe9 1\nq\xe9 s\xff d\xf0 0\n"), reading=Reading(judgements="subtopics")
    )
    run = io.BytesIO(b"q\xe9 Q0 d\xe9 1 1 x\n")
    assert evaluate(qrels, run, "StRecall@1").scores.ravel().tolist() == [1]


def test_lines_that_repeat_another_count_once_and_are_told() -> None:
    qrels = read_qrels(io.StringIO(TEXT + "q1 2 d1 1\nq1 2 d1 1.0\n"), reading=Reading(judgements="subtopics"))
    assert as_dict(qrels, "subtopics") == NESTED
    results = evaluate(qrels, {"q1": {"d1": 1.0}}, "StRecall@1")
    assert "2 lines repeat another with the same value" in "\n".join(map(str, results.warnings))


REFUSED: dict[str, tuple[Any, str]] = {
    "a second grade": ("q1 1 d1 1\nq1 1 d2 0\nq1 1 d1 0\n", r":3: document 'd1' is given.*subtopic, 1: 1 and 0"),
    "its other line": ("q1 1 d1 1\nq1 1 d1 0\n", r"Line 1 has another: q1 1 d1 1"),
    "three fields": ("q1 1 d1 1\nq1 d1 1\n", r":2: 3 fields where there must be 4"),
    "a grade that is no number": ("q1 1 d1 high\n", r":1: grade 'high' is not a number"),
    "digits with a separator": ("q1 1 d1 1_0\n", r":1: grade '1_0' is not a number"),
    "nan": ("q1 1 d1 nan\n", r":1: grade 'nan' is not a number"),
    "too large": ("q1 1 d1 1e999\n", r":1: grade inf is not a number"),
    "a NUL": ("q1 1 d\0 1\n", r":1: NUL byte"),
    "nothing": ("", r"is empty"),
    "blank lines alone": ("\n\n", r"has no rows"),
    "no group": ("topic,document,grade\nq1,d1,1\n", r"no column for the subtopic among.*\n.*subtopic, .*iteration"),
    "a short row": ("topic,subtopic,document,grade\nq1,1,d1\n", r":2: 3 fields where the header has 4"),
    "a word in a table": ("topic,subtopic,document,grade\nq1,1,d1,x\n", r":2: grade 'x' is not a number"),
    "an empty id": ("topic,subtopic,document,grade\nq1,,d1,1\n", r":2: id '' is neither a string nor an integer"),
    "no object": ('{"qid": "q1", "subtopic": "1", "doc": "d", "rel": 1}\n[1]\n', r":2: expected an object"),
    "a grade in quotes": ('{"qid": "q1", "subtopic": "1", "doc": "d", "rel": "1"}\n', r":1: grade '1' is not a number"),
    "JSON without groups": ('{"q1": {"d1": 1}}', r"expected \{topic: \{document: \{group: grade\}\}\}.*int"),
    "broken JSON": ('{"q1": {"d1": {"a": 1}}', r":1: not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_in_a_text_is_said_with_its_line(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(DataError, match=f"(?s){message}"):
        read_qrels(io.StringIO(text), reading=Reading(judgements="subtopics"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q1": {"d1": {"a": math.nan}}}, r"\('q1', 'a', 'd1', nan\): grade nan is not a number"),
        ({"q1": {"d1": {"a": True}}}, "grade True is not a number"),
        ({"q1": {"d1": {None: 1}}}, "id None is neither a string nor an integer"),
        ({1.5: {"d1": {"a": 1}}}, "id 1.5 is neither"),
        ({}, "has no rows"),
        ([], "no rows"),
        ([{"qid": "1", "doc": "a", "subtopic": "1", "rel": 1}, {"qid": "1"}], "a record lacks a field"),
        ([{"qid": "1", "doc": "a", "rel": 1}], "no column for the subtopic"),
        ([Judgement("1", "a", 1, "x"), Judgement("1", "a", 2, "x")], "second grade for the same topic and subtopic, x"),
    ],
)
def test_what_is_wrong_in_memory_is_said(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_qrels(source, reading=Reading(judgements="subtopics"))


@pytest.mark.parametrize("source", [{"q1": {"d1": 1}}, {"q1": [1]}, 7, b"q1 1 d1 1", [1]])
def test_what_is_no_judgements_at_all_is_a_type_error(source: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        read_qrels(source, reading=Reading(judgements="subtopics"))


def test_a_second_grade_is_a_duplicate() -> None:
    with pytest.raises(DuplicateError):
        read_qrels([Judgement("1", "a", 1, "x"), Judgement("1", "a", 2, "x")], reading=Reading(judgements="judges"))


def test_an_unknown_kind_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"unknown kind of judgements 'groups'; there are plain, .*subtopics, judges"):
        read_qrels(NESTED, reading=Reading(judgements="groups"))


def test_lines_of_five_fields_serve_formats_with_groups_of_groups() -> None:
    (line,) = trec_lines(b"\nq1 a 1 d1 .5\n", "prefs", 5, [])
    assert line == (("q1", "a", "1", "d1"), 0.5, 2, "q1 a 1 d1 .5")


PLAIN = {
    "text": "q1 1 d1 1\nq1 2 d1 2\n",
    "csv": "topic,judge,document,grade\nq1,1,d1,1\nq1,2,d1,2\n",
    "jsonl": '{"qid": "q1", "doc": "d1", "rel": 1}\n{"qid": "q1", "doc": "d1", "rel": 2}\n',
}


@pytest.mark.parametrize("name", PLAIN)
def test_read_as_plain_judgements_a_file_in_groups_is_refused_with_the_remedy(name: str) -> None:
    with pytest.raises(DataError, match="--judgements subtopics"):
        read_qrels(io.StringIO(PLAIN[name]))


def test_the_remedy_is_not_given_where_the_group_is_the_same() -> None:
    with pytest.raises(DataError) as refused:
        read_qrels(io.StringIO("q1 1 d1 1\nq1 1 d1 2\n"))
    assert "--judgements" not in str(refused.value)


@pytest.mark.parametrize("name", ["text", "csv", "json"])
def test_the_command_reads_the_kind_that_a_measure_needs_whatever_the_format(tmp_path: Path, name: str) -> None:
    texts = {"text": TEXT, "csv": csv_text(",", "subtopic"), "json": json.dumps(NESTED)}
    (tmp_path / "a.qrels").write_text(texts[name])
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1 x\nq2 Q0 d9 1 1 x\n")
    done = command_line("evaluate", tmp_path / "a.qrels", tmp_path / "a.run", "-m", "StRecall@5", "-f", "trec")
    assert done.exit == 0, done.stderr
    assert done.stdout.split() == ["StRecall@5", "all", "0.5000"]


def test_a_matrix_has_no_number_where_a_group_says_nothing() -> None:
    matrix = read_qrels(NESTED, reading=Reading(judgements="subtopics")).columns["subtopics"]
    assert np.isnan(matrix).sum() == 12 - len(ROWS)


def test_standard_input_is_read_as_the_kind_that_a_measure_needs(tmp_path: Path) -> None:
    """And only once: twice is told."""
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1 x\n")
    asked = ("-m", "StRecall@5", "-f", "trec")
    for more in ((), ("--judgements", "subtopics")):
        done = command_line("evaluate", "-", tmp_path / "a.run", *asked, *more, stdin=TEXT.encode())
        assert (done.exit, done.stdout.split()[:2]) == (0, ["StRecall@5", "all"]), done.stderr
    twice = command_line("evaluate", "-", "-", *asked, stdin=TEXT.encode())
    assert (twice.exit, "It can be read only once." in twice.stderr) == (3, True)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("qrels.txt", ["q1 2 d1 1", "q1 2 d2 0", "q1 2 d1 0"]),
        ("qrels.csv", ["topic,subtopic,document,grade", "q1,2,d1,1", "q1,2,d1,0"]),
        ("qrels.tsv", ["topic\tsubtopic\tdocument\tgrade", "q1\t2\td1\t1", "q1\t2\td1\t0"]),
        (
            "qrels.jsonl",
            [
                '{"topic": "q1", "subtopic": "2", "document": "d1", "grade": 1}',
                '{"topic": "q1", "subtopic": "2", "document": "d1", "grade": 0}',
            ],
        ),
    ],
)
def test_two_grades_are_told_with_both_lines(name: str, lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DuplicateError) as caught:
        read_qrels(str(path), reading=Reading(judgements="subtopics"))
    first = next(number for number, line in enumerate(lines, start=1) if "d1" in line)
    told = str(caught.value).splitlines()
    assert told[0].startswith(f"{path}:{len(lines)}: ")
    assert told[1] == f"    {len(lines)} | {lines[-1]}"
    assert told[2] == f"    Line {first} has another: {lines[first - 1]}"
