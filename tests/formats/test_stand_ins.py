"""Ranks in the place of scores, and several runs in one table: the same is said of them in every form of input."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cranfield
from commands import command_line
from cranfield import DataError, Reading
from cranfield.errors import ArgumentError

QRELS = {"1": {"a": 1}, "2": {"a": 1}}
NOTE = "the run has ranks and no scores: documents are ordered by rank"
SEVERAL = "more than one run tag: have several runs been joined into one file?"
Row = dict[str, Any]


def delimited(delimiter: str, name: str) -> Callable[[list[Row], Path], Path]:
    def made(rows: list[Row], folder: Path) -> Path:
        lines = [delimiter.join(map(str, row)) for row in (rows[0], *(row.values() for row in rows))]
        text = "\n".join(lines).encode()
        path = folder / name
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return path

    return made


def json_lines(rows: list[Row], folder: Path, *, odd: bool = False) -> Path:
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(row).replace('"a"', '"\\u0061"' if odd else '"a"') + "\n" for row in rows))
    return path


def parquet(rows: list[Row], folder: Path) -> Path:
    path = folder / "run.parquet"
    pd.DataFrame(rows).to_parquet(path)
    return path


FILES: dict[str, Callable[[list[Row], Path], Any]] = {
    "csv": delimited(",", "run.csv"),
    "tsv": delimited("\t", "run.tsv"),
    "csv, packed": delimited(",", "run.csv.gz"),
    "JSON lines": json_lines,
    "JSON lines that Python reads": lambda rows, folder: json_lines([*rows[:-1], rows[-1] | {"more": {}}], folder),
    "Parquet": parquet,
}
MEMORY: dict[str, Callable[[list[Row], Path], Any]] = {
    "pandas": lambda rows, folder: pd.DataFrame(rows),
    "polars": lambda rows, folder: pl.DataFrame(rows),
    "Arrow": lambda rows, folder: pa.Table.from_pylist(rows),
    "a stream that passes once": lambda rows, folder: pa.Table.from_pylist(rows).to_reader(),
    "records": lambda rows, folder: iter(rows),
}
FORMS = pytest.mark.parametrize("made", [pytest.param(made, id=form) for form, made in (FILES | MEMORY).items()])


def rows_of(ranks: Sequence[float], **more: Any) -> list[Row]:
    documents = ["a", "b"] * len(ranks)
    return [{"topic": str(i // 2 + 1), "document": documents[i], "rank": rank, **more} for i, rank in enumerate(ranks)]


@FORMS
@pytest.mark.parametrize("judged", [True, False])
def test_a_rank_with_a_fraction_is_refused(
    made: Callable[[list[Row], Path], Any], judged: bool, tmp_path: Path
) -> None:
    source = made(rows_of([1, 2, 10.5, 3]), tmp_path)
    read = (lambda: cranfield.evaluate(QRELS, source, "AP")) if judged else (lambda: cranfield.read_run(source))
    with pytest.raises(DataError, match=r"rank '?10\.5'? is not a whole number") as refused:
        read()
    assert "reading=Reading(columns={'score': 'rank'})" in str(refused.value)
    assert "--columns score=rank" in refused.value.at_prompt


@FORMS
def test_what_is_advised_of_a_fraction_is_done(made: Callable[[list[Row], Path], Any], tmp_path: Path) -> None:
    run = cranfield.read_run(made(rows_of([1, 10.5]), tmp_path), reading=Reading(columns={"score": "rank"}))
    assert run.to_dict() == {"1": {"b": 10.5, "a": 1.0}}
    assert run.origin.notes == ()


@FORMS
def test_ranks_for_scores_are_told_and_so_is_a_number_that_nobody_reads(
    made: Callable[[list[Row], Path], Any], tmp_path: Path
) -> None:
    unread = "'points' is not read: --columns score=points (columns={'score': 'points'} in Python)"
    for more, told in (({}, NOTE), ({"points": 7.5, "remark": "x"}, f"{NOTE}; {unread} if that is the score")):
        results = cranfield.evaluate(QRELS, made(rows_of([1, 2, 1, 2], **more), tmp_path), "AP")
        assert [(one.code, one.message, one.doubtful) for one in results.warnings] == [
            ("scores-from-ranks", told, False)
        ]
        run = cranfield.read_run(made(rows_of([1, 2], **more), tmp_path))
        assert run.origin.notes == (("scores-from-ranks", told),)


@FORMS
def test_scores_are_not_said_to_be_ranks(made: Callable[[list[Row], Path], Any], tmp_path: Path) -> None:
    assert cranfield.read_run(made(rows_of([1, 2], score=2.5), tmp_path)).origin.notes == ()


def test_a_rank_among_scores_is_refused_in_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"topic": "1", "document": "a", "score": 3}\n{"topic": "1", "document": "b", "rank": 1}\n')
    with pytest.raises(DataError, match=r"jsonl:2: a rank, where the lines above have scores"):
        cranfield.read_run(path)


def test_msmarco_refuses_scores(tmp_path: Path) -> None:
    for name, pack in (("a.tsv", bytes), ("a.tsv.gz", gzip.compress)):
        (tmp_path / name).write_bytes(pack(b"1\ta\t10.5\n1\tb\t9.5\n"))
        with pytest.raises(DataError, match=r":1: rank '10\.5' is not a whole number[^§]*If it is a score"):
            cranfield.evaluate(QRELS, tmp_path / name, "AP", reading=Reading(format="msmarco"))
    whole = io.BytesIO(b"1 a 1.0\n1 b 2e0\n")
    assert cranfield.read_run(whole, reading=Reading(format="msmarco")).to_dict() == {"1": {"a": -1.0, "b": -2.0}}
    with pytest.raises(DataError, match=r"2 fields where msmarco needs 3 \(topic, document, rank\)"):
        cranfield.read_run(io.BytesIO(b"1 a\n"), reading=Reading(format="msmarco"))


def tagged_rows(document: str, tags: Sequence[object] = ("x", "y")) -> list[Row]:
    return [
        {"run": tag, "topic": "1", "document": id, "score": score}
        for tag, id, score in zip(tags, ("a", document), (2.5, 1.5), strict=True)
    ]


@FORMS
def test_several_runs_in_one_table_are_told(made: Callable[[list[Row], Path], Any], tmp_path: Path) -> None:
    run = cranfield.read_run(made(tagged_rows("b"), tmp_path))
    assert (run.origin.notes, run.origin.tag) == ((("several-tags", SEVERAL),), "y")
    assert SEVERAL in [
        one.message for one in cranfield.evaluate(QRELS, made(tagged_rows("b"), tmp_path), "AP").warnings
    ]
    assert cranfield.read_run(made(tagged_rows("b", ("x", "x")), tmp_path)).origin.notes == ()


@pytest.mark.parametrize("made", [pytest.param(made, id=form) for form, made in MEMORY.items()])
def test_tags_that_are_numbers_or_missing(made: Callable[[list[Row], Path], Any], tmp_path: Path) -> None:
    assert cranfield.read_run(made(tagged_rows("b", (1, 2)), tmp_path)).origin.notes == (("several-tags", SEVERAL),)
    assert cranfield.read_run(made(tagged_rows("b", ("x", None)), tmp_path)).origin.tag == "x"


def test_tags_that_are_categories() -> None:
    rows = tagged_rows("b")
    pandas, polars = pd.DataFrame(rows).astype({"run": "category"}), pl.DataFrame(rows)
    for frame in (pandas, polars.with_columns(pl.col("run").cast(pl.Categorical))):
        assert cranfield.read_run(frame).origin.notes == (("several-tags", SEVERAL),)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(made, id=form)
        for form, made in (FILES | MEMORY).items()
        if not form.startswith(("csv", "tsv"))  # they show both lines
    ],
)
def test_a_document_in_two_runs_of_one_table(made: Callable[[list[Row], Path], Any], tmp_path: Path) -> None:
    for tags, several in ((("x", "y"), True), (("x", "x"), False)):
        with pytest.raises(DataError) as refused:
            cranfield.read_run(made(tagged_rows("a", tags), tmp_path))
        assert ("several runs in it" in str(refused.value)) is several


def test_frames_where_pyarrow_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    for frame in (pd.DataFrame(tagged_rows("b")), pl.DataFrame(tagged_rows("b"))):
        assert cranfield.read_run(frame).origin.notes == (("several-tags", SEVERAL),)
    assert cranfield.read_run(pl.DataFrame(rows_of([1, 2]))).origin.notes == (("scores-from-ranks", NOTE),)


def test_a_frame_of_spark_and_a_series_are_refused() -> None:
    class DataFrame:
        """As PySpark's: before 4.1 it has no Arrow stream."""

        def collect(self) -> list[Row]:
            raise AssertionError

    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    streaming = type("DataFrame", (DataFrame,), {"__arrow_c_stream__": None, "__module__": DataFrame.__module__})
    for frame in (DataFrame(), streaming(), {"a": DataFrame()}):
        with pytest.raises(ArgumentError, match=r"cranfield\.spark\.evaluate takes it"):
            cranfield.evaluate(QRELS, frame, "AP")  # type: ignore[arg-type]
    for series in (pd.Series([1.0], index=["a"]), pl.Series([1.0])):
        with pytest.raises(ArgumentError, match="not Series\n    Give the frame with the columns topic"):
            cranfield.read_run(series)


def test_a_table_without_rows_has_no_lines(tmp_path: Path) -> None:
    empty = pd.DataFrame({"topic": ["1"], "document": ["a"], "score": [1.0]}).iloc[:0]
    empty.to_parquet(tmp_path / "run.parquet")
    for source in (empty, tmp_path / "run.parquet"):
        with pytest.raises(DataError, match="has no rows\n    Give at least one document"):
            cranfield.read_run(source)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_json_lines_whose_first_value_is_a_list_end_in_any_way(end: str, tmp_path: Path) -> None:
    rows = [{"k": [1, 2], "topic": "1", "document": id, "score": score} for id, score in (("a", 2), ("b", 1))]
    path = tmp_path / "run"
    path.write_bytes("".join(json.dumps(row) + end for row in rows).encode())
    assert cranfield.read_run(path).to_dict() == {"1": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('{"topic": "1", "document": "a", "score": null}', "A document without a score is to be left out."),
        ('{"topic": "1", "document": "a", "score": "1,5"}', "Write the decimal point as a point: 1.5."),
        ('{"topic": "1", "document": "a", "score": "zzz"}', "A score is a number, without quotes."),
        (
            '{"topic": "1", "document": "a", "score": 1}\n{"topic": ',
            "Each line is to be one JSON value: if it ends too early",
        ),
        ('{"1": {"a": null}}', "A document without a score is to be left out."),
        ('{"1": {"a": 2},\n', "The whole is to be one JSON value: if it ends too early"),
    ],
)
def test_advice_for_what_is_no_score(text: str, advice: str) -> None:
    with pytest.raises(DataError) as refused:
        cranfield.read_run(io.StringIO(text))
    assert advice in str(refused.value)


def test_records_in_a_list_of_json(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('[{"topic": "1", "document": "a", "score": 1}]')
    with pytest.raises(DataError, match=r"one object of topics[^§]*jq -c '\.\[\]' makes lines of a list"):
        cranfield.read_run(path)


def test_a_missing_value_is_to_be_left_out() -> None:
    frame = pd.DataFrame({"topic": ["1", "1"], "document": ["a", "b"], "score": [1.0, None]})
    with pytest.raises(DataError, match=r"missing value\n    A row without a value is to be left out: \.dropna\(\)"):
        cranfield.read_run(frame)


def test_a_format_holds_for_judgements_and_runs(tmp_path: Path) -> None:
    (tmp_path / "qrels.trec").write_text("1 0 a 1\n")
    (tmp_path / "run.csv").write_text("topic,document,score\n1,a,2\n")
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"1 Q0 a 1 2 t\n"))
    told = "holds for judgements and runs alike, and this is trec: without it, each is recognised by its content."
    refused = command_line("evaluate", "qrels.trec", "run.csv", "--format", "csv", folder=tmp_path)
    assert (refused.exit, refused.stdout) == (3, "")
    assert refused.stderr.splitlines()[-1].strip() == f"--format csv {told}"
    with pytest.raises(DataError) as in_python:
        cranfield.evaluate(QRELS, tmp_path / "run.gz", "AP", reading=Reading(format="csv"))
    assert f"reading=Reading(format='csv') {told}" in str(in_python.value)
    # Where nothing else reads it either, what is wrong with it as the format that was named is what helps.
    (tmp_path / "broken.csv").write_text("topic,document,score\n1,a,2\n1,b\n")
    with pytest.raises(DataError, match=r"csv:3: 2 fields where csv needs as many as its header"):
        cranfield.read_run(tmp_path / "broken.csv", reading=Reading(format="csv"))
