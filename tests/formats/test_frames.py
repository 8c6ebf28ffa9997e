"""Arrow frames are read where they are: every layout of text, in pieces and slices, judged at once; no text copied."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cranfield
from cranfield import Policy, Reading, read_qrels, read_run
from cranfield.errors import ArgumentError, DataError, UsageError
from cranfield.formats.format import Judging

TOPICS, DEPTH = 60, 50
ROWS = [
    (f"q{topic}", f"document-{(topic * 31 + i * 17) % 997}{'-of-a-name-that-is-long' * (i % 3)}", float(-(i // 2)))
    for topic in range(TOPICS)
    for i in range(DEPTH)
]
RUN = {f"q{topic}": {id: score for of, id, score in ROWS if of == f"q{topic}"} for topic in range(TOPICS)}
QRELS = {topic: {id: i % 3 for i, id in enumerate(documents) if i % 2} for topic, documents in RUN.items()}
BY_SCORE = sorted(ROWS, key=lambda row: -row[2])  # topics take turns

Made = Callable[[list[tuple[str, str, float]]], Any]


def frame(text: pa.DataType) -> Made:
    def made(rows: list[tuple[str, str, float]]) -> pa.Table:
        topics, ids, scores = zip(*rows, strict=True)
        columns = [pa.array(column, pa.string()).cast(text) for column in (topics, ids)]
        return pa.table([*columns, pa.array(scores)], names=["qid", "docno", "score"])

    return made


def in_pieces(rows: list[tuple[str, str, float]]) -> pa.Table:
    """Pieces of 7 rows, none of which begins where its memory does, and empty ones between them."""
    table = frame(pa.string())(rows)
    pieces = [table.slice(start, 7) for start in range(0, len(rows), 7)]
    return pa.concat_tables([part for piece in pieces for part in (table.slice(3, 0), piece)])


def inside_of_more(rows: list[tuple[str, str, float]]) -> pa.Table:
    """A slice, before and after which stand rows that nobody may see, with nulls among them."""
    table = frame(pa.large_string())(rows)
    hidden = pa.table({"qid": [None, "x"], "docno": ["y", None], "score": [None, 1.0]}, schema=table.schema)
    return pa.concat_tables([hidden, table, hidden]).combine_chunks().slice(2, len(rows))


FRAMES: dict[str, Made] = {
    "string": frame(pa.string()),
    "large_string": frame(pa.large_string()),
    "string_view": frame(pa.string_view()),
    "binary": frame(pa.binary()),
    "dictionary": frame(pa.dictionary(pa.int32(), pa.string())),
    "dictionary of large strings": frame(pa.dictionary(pa.int16(), pa.large_string())),
    "in pieces": in_pieces,
    "inside of more": inside_of_more,
    "a stream": lambda rows: frame(pa.string())(rows).to_reader(max_chunksize=100),
    "polars": lambda rows: pl.DataFrame(frame(pa.string())(rows).to_pydict()),
    "polars, categories": lambda rows: pl.DataFrame(frame(pa.string())(rows).to_pydict()).with_columns(
        pl.col("qid", "docno").cast(pl.Categorical)
    ),
    "polars, rows of more": lambda rows: pl.concat(
        [pl.DataFrame(frame(pa.string())(part).to_pydict()) for part in (rows[:9], rows[:700], rows[700:])],
        rechunk=False,
    ).slice(9),
    "pandas": lambda rows: pd.DataFrame(frame(pa.string())(rows).to_pydict()),
    "pandas, Arrow's types": lambda rows: frame(pa.string())(rows).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, some rows": lambda rows: pd.concat(
        [pd.DataFrame(frame(pa.string())(part).to_pydict()) for part in (rows[:9], rows)]
    ).iloc[9:],
}


@pytest.mark.parametrize("layout", FRAMES)
def test_every_layout_is_the_same_run(layout: str) -> None:
    expected = read_run(RUN)
    for rows in (ROWS, BY_SCORE):
        read = read_run(FRAMES[layout](rows))
        assert read.to_dict() == expected.to_dict()
        for ties in ("docid", "file"):
            scores = [
                cranfield.evaluate(
                    QRELS, given, ["AP", "nDCG@10"], policy=Policy(ties=ties), reading=Reading(threads=3)
                )
                for given in (FRAMES[layout](rows), read, RUN)
            ]
            assert scores[0].scores.tolist() == scores[1].scores.tolist() == scores[2].scores.tolist()
            assert scores[0].warnings == scores[1].warnings


def test_large_frames_are_judged_at_once_whatever_stands_at_the_seams() -> None:
    """Parts of 65,536 rows are read side by side: topics that go on in the next part, and one that comes again."""
    rows = [(f"q{row // 1000}", f"d{row % 1000}", float(-(row % 1000))) for row in range(200_000)]
    qrels = read_qrels({f"q{topic}": {f"d{topic % 10}": 1, "d999": 1} for topic in range(200)})
    for given in (rows, [*rows[500:], *rows[:500]]):
        judged = read_run(frame(pa.string())(given), judging=Judging(qrels.table, "docid"), reading=Reading(threads=2))
        kept = read_run(frame(pa.string())(given))
        results = [cranfield.evaluate(qrels, run, ["AP", "RR"]).scores.tolist() for run in (judged, kept)]
        assert results[0] == results[1]
    with pytest.raises(ValueError, match="its rows are gone"):
        read_run(frame(pa.string())(rows), judging=Judging(qrels.table, "docid")).to_dict()


@pytest.mark.parametrize("layout", ["string", "string_view", "dictionary", "in pieces", "inside of more", "polars"])
@pytest.mark.parametrize("column", ["qid", "docno", "score"])
def test_a_null_is_refused_and_its_row_named(layout: str, column: str) -> None:
    table = pa.table(FRAMES[layout](ROWS))
    place = table.column_names.index(column)
    values = table.column(column).to_pylist()
    values[1234] = None
    text = table.schema.field(place).type
    holed = table.set_column(
        place, column, pa.chunked_array([pa.array(values[:1000], text), pa.array(values[1000:], text)])
    )
    for given in (holed, pa.concat_tables([holed.slice(1000, 500)]).slice(0)):
        row = 1234 if given is holed else 234
        for judging in (None, Judging(read_qrels(QRELS).table, "docid")):
            with pytest.raises(DataError) as refused:
                read_run(given, judging=judging)
            assert str(refused.value).startswith(
                f"the run: row {row} (counting from 0), column '{column}': missing value"
            )


def test_a_null_in_a_dictionary_is_refused_at_the_first_row_that_has_it() -> None:
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1]), pa.array(["a", None, "b"], pa.string_view()))
    frame = pa.table({"topic": ["q"] * 4, "document": ids, "score": [4.0, 3.0, 2.0, 1.0]})
    with pytest.raises(DataError, match=r"row 1 \(counting from 0\), column 'document': missing value"):
        read_run(frame)
    assert read_run(frame.slice(2, 1)).to_dict() == {"q": {"b": 2.0}}


@pytest.mark.parametrize("places", [[0, 1, 2], [0, 1, 2_000_000_000], [0, 1, -1]])
@pytest.mark.parametrize("judged", [False, True])
def test_entries_that_a_dictionary_does_not_have_are_refused(places: list[int], judged: bool) -> None:
    """Nobody checks what others put together: what lies beyond its end is not ours."""
    ids = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(["q1", "q2"]), safe=False)
    judging = Judging(read_qrels(QRELS).table, "docid") if judged else None
    for column in ("topic", "document"):
        frame = pa.table({"topic": ["q"] * 3, "document": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]} | {column: ids})
        with pytest.raises(ArgumentError, match=f"column '{column}' refers to entries that its dictionary does not"):
            read_run(frame, judging=judging)


def test_numbers_of_64_bits_without_a_sign_are_read_whole() -> None:
    large = [2**64 - 1, 2**63, 5]
    numbers = pa.array(large, pa.uint64())
    frame = pa.table({"topic": pa.array([7] * 3, pa.uint64()), "document": numbers, "score": numbers})
    assert read_run(frame).to_dict() == {"7": {str(id): float(id) for id in large}}


def test_our_own_tables_come_back_with_all_that_rows_cannot_tell() -> None:
    """Their metadata is believed where the rows are still theirs: rows are kept then, judged at once or not."""
    run = read_run(RUN, name="mine")
    results = cranfield.evaluate(QRELS, run.to_arrow(), "AP")
    assert results.runs == ("mine",)
    assert results.scores.tolist() == cranfield.evaluate(QRELS, RUN, "AP").scores.tolist()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are those of Linux")
@pytest.mark.parametrize("layout", ["large_string", "string_view"])
def test_no_text_is_copied(layout: str) -> None:
    """100 MB of ids: to judge them takes next to nothing, to keep the run what it notes of its rows."""
    script = Path(__file__).parents[2] / "bench" / "frame_growth.py"
    done = subprocess.run([sys.executable, script, layout], capture_output=True, text=True, check=True)
    grown = json.loads(done.stdout)
    assert grown["judged"] < 0.02 * grown["text"]
    assert 0.02 * grown["text"] < grown["kept"] < 0.08 * grown["text"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2.5", "column 'score' holds text; a score or grade is a float or an integer\n    Cast the column to floats"),
        (
            Decimal("2.5"),
            "column 'score' holds decimals; a score or grade is a float or an integer\n    Cast the column",
        ),
        ([2.5], "column 'score' holds lists; a score or grade is a float or an integer"),
    ],
)
def test_types_are_told_in_words(value: object, said: str) -> None:
    with pytest.raises(UsageError) as told:
        read_run(pa.table({"topic": ["q"], "document": ["d"], "score": [value]}))
    assert said in str(told.value)
    assert ("Cast" in str(told.value)) == (not isinstance(value, list))
    with pytest.raises(UsageError, match="column 'document' holds floats; ids are strings or integers"):
        read_run(pa.table({"topic": ["q"], "document": [1.5], "score": [1.0]}))


def test_frames_that_are_not_collected() -> None:
    lazy: Any = pl.DataFrame({"topic": ["q"], "document": ["d"], "score": [1.0]}).lazy()
    for given in (lazy, {"a": lazy}):
        with pytest.raises(UsageError, match=r"not LazyFrame|a value is LazyFrame") as told:
            cranfield.evaluate({"q": {"d": 1}}, given, "AP")
        assert str(told.value).endswith("\n    Its rows are not read yet: call .collect().")


def test_frames_that_are_wrong_are_not_called_files() -> None:
    bad = pa.table({"topic": ["q"], "document": ["d"], "score": [float("nan")]})
    with pytest.raises(DataError, match="1 other run is wrong as well"):
        cranfield.evaluate({"q": {"d": 1}}, {"a": bad, "b": bad}, "AP")
