"""Bad and tricky input: the right number, or a refusal that names file, line, text and remedy. Never a number from part
of the input."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import cranfield
from commands import command_line, command_process, of_a_process
from cranfield import CranfieldError, DataError, UsageError
from cranfield.errors import ArgumentError
from cranfield.formats import sources
from cranfield.formats.reading import Reading
from cranfield.tables import MOST_THREADS, thread_count

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

QRELS = b"q1 0 d1 1\n"
RUN = b"q1 Q0 d2 1 9.5 t\nq1 Q0 d1 2 8.5 t\n"
ROW = b"q1 Q0 d9 1 99 t\n"
REVERSED = b"q1 Q0 d2 1 8.5 t\nq1 Q0 d1 2 9.5 t\n"


class Refused(NamedTuple):
    """An input that must be refused: the physical line at fault, what the error says, and the advice it gives."""

    text: bytes
    line: int | None
    says: str
    advice: str = ""


def cases(table: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Parametrises a test over a table of named cases."""
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in table.items()])


def physical_line(text: bytes, number: int) -> str:
    return re.split(rb"\r\n|\r|\n", text.removeprefix(b"\xef\xbb\xbf"))[number - 1].decode("utf-8", "surrogateescape")


def files(folder: Path, qrels: bytes = QRELS, run: bytes = RUN) -> tuple[Path, Path]:
    paths = folder / "the.qrels", folder / "the.run"
    for path, text in zip(paths, (qrels, run), strict=True):
        path.write_bytes(text)
    return paths


def check_message(message: str, path: Path, case: Refused) -> None:
    assert str(path) in message
    assert case.says in message
    assert case.advice in message
    if case.line is not None:
        assert f"{path}:{case.line}: " in message
        assert f"\n    {case.line} | " in message


def check_refusal(read: Callable[[Path], object], path: Path, case: Refused, qrels: Path, run: Path) -> None:
    """The same refusal from the library and from the command line, which prints nothing else."""
    with pytest.raises(DataError) as caught:
        read(path)
    error = caught.value
    assert error.source == str(path)
    assert error.line == case.line
    check_message(str(error), path, case)
    if case.line is not None:
        assert error.text == physical_line(case.text, case.line)
    outcome = command_line("evaluate", qrels, run, "-m", "RR")
    assert (outcome.exit, outcome.stdout) == (3, "")
    check_message(outcome.stderr, path, case)


def check_rr(qrels: Any, run: Any, expected: float) -> None:
    assert cranfield.evaluate(qrels, run, "RR").means[0, 0] == pytest.approx(expected, abs=1e-15)


REFUSED_RUNS = {
    "empty file": Refused(b"", None, "empty"),
    "blank lines only": Refused(b"\n  \n\t\n", None, "no rows"),
    "comments only": Refused(b"# nothing here\n", None, "no rows"),
    "no topic but #": Refused(RUN.replace(b"q1", b"#"), None, "no rows"),
    "only a byte order mark": Refused(b"\xef\xbb\xbf", None, "empty"),
    "NUL in an id": Refused(RUN + b"q1 Q0 d\x003 3 1 t\n", 3, "NUL byte at offset 41", "iconv"),
    "NUL in a score": Refused(b"q1 Q0 d1 1 9\x00 t\n", 1, "NUL byte at offset 12"),
    "NUL after the last line": Refused(RUN + b"\x00", 3, "NUL byte at offset 34"),
    "NUL in a comment": Refused(b"# a\x00\n" + RUN, 1, "NUL byte at offset 3"),
    "files with byte order marks, joined": Refused(
        2 * (b"\xef\xbb\xbf" + RUN), 3, "byte order mark in front of a topic", "sed"
    ),
    "NUL after a byte order mark": Refused(b"\xef\xbb\xbf" + RUN + b"\x00", 3, "NUL byte at offset 37"),
    "UTF-16 little endian": Refused(RUN.decode().encode("utf-16"), None, "UTF-16", "iconv"),
    "UTF-16 big endian": Refused(b"\xfe\xff" + RUN.decode().encode("utf-16-be"), None, "UTF-16", "iconv"),
    "UTF-16 unmarked": Refused(RUN.decode().encode("utf-16-le"), 1, "NUL byte at offset 1", "UTF-16"),
    "zip archive": Refused(b"PK\x03\x04rest", None, "zip", "Unpack"),
    "header line": Refused(b"topic Q0 document rank score tag\n" + RUN, 1, "score 'score' is not a number", "header"),
    "CSV without a header": Refused(b"q1,d1,9.5\n", 1, "1 field", "CSV"),
    "judgements": Refused(QRELS, 1, "4 fields where trec needs 6", "looks like judgements, where a run is expected"),
    "three columns": Refused(b"q1 d1 1\n", 1, "3 fields", "msmarco"),
    "three columns, with comments above": Refused(b"# mine\n\nq1 d1 1\n", 3, "3 fields", "msmarco"),
    "three columns, of which one is rather a score": Refused(
        b"q1 d1 9.5\n", 1, "3 fields", "\n    If the third is a score, write a line above that names the columns"
    ),
    "last line cut short after a number": Refused(RUN + b"q1 Q0 17", 3, "3 fields", "cut short"),
    "only line cut short after a number": Refused(b"q1 Q0 17", 1, "3 fields", "cut short"),
    "last line cut short after the rank": Refused(RUN + b"q1 Q0 d3 3", 3, "4 fields", "cut short"),
    "no tag anywhere": Refused(b"q1 Q0 d3 3 7.5\nq1 Q0 d4 4 7\n", 1, "5 fields", "score and tag.\n    If the last"),
    "three columns below six": Refused(RUN + b"q1 d1 1\n", 3, "3 fields", "cut short"),
    "a list of JSON": Refused(b'[{"topic": "q1", "document": "d1", "score": 1}]', 1, "", "jq -c '.[]'"),
    "a word for a score": Refused(RUN + b"q1 Q0 d3 3 zzz t\n", 3, "'zzz'", "shifts the columns"),
    "two runs joined": Refused(RUN + b"q1 Q0 d1 1 3 other\n", 3, "a second score", "several runs in it"),
    "no tag": Refused(RUN + b"q1 Q0 d3 3 7.5\n", 3, "5 fields"),
    "last line cut short": Refused(RUN + b"q1 Q0 d3", 3, "3 fields", "incomplete"),
    "topics of SMART": Refused(b".I 001\n.W\nducks\n", 1, "2 fields", "This does not look like a run"),
    "blank in an id": Refused(b"q1 Q0 the doc 1 9.5 t\n", 1, "", "An id may not contain a blank"),
    "blank lines count": Refused(b"\n\n" + RUN + b"\nq1 Q0 d3 3 high t\n", 6, "score 'high' is not a number"),
    "comments count": Refused(b"# x\n" + RUN + b"q1 Q0 d3 3 high t\n", 4, "'high'"),
    "CR LF counts once": Refused(RUN.replace(b"\n", b"\r\n") + b"q1 Q0 d3 3 high t\r\n", 3, "'high'"),
    "lone CR counts": Refused(RUN.replace(b"\n", b"\r") + b"q1 Q0 d3 3 high t\r", 3, "'high'"),
    "mixed line ends count": Refused(b"q1 Q0 a 1 9 t\rq1 Q0 b 2 8 t\r\n\nq1 Q0 c 3 high t", 4, "'high'"),
    "byte order mark, then a fault": Refused(b"\xef\xbb\xbf" + ROW + b"q1 Q0 d3 3 high t", 2, "'high'"),
    "unprintable text is shown escaped": Refused(b"q1 Q0 d\x1b[2J 1 high t\n", 1, "\\x1b"),
    "a 5 MB score": Refused(b"q1 Q0 d1 1 " + b"x" * 5_000_000 + b" t\n", 1, "is not a number"),
    "NaN": Refused(RUN + b"q1 Q0 d3 3 nan t\n", 3, "score is 'nan'", "leave the line out"),
    "NaN, all of them": Refused(b"q1 Q0 d1 1 NaN t\nq1 Q0 d2 2 NaN t\n", 1, "score is 'NaN'"),
    "NaN, negative": Refused(b"q1 Q0 d1 1 -nan t\n", 1, "'-nan'"),
    "hexadecimal": Refused(b"q1 Q0 d1 1 0x1p3 t\n", 1, "'0x1p3' is not a number"),
    "digit separators": Refused(b"q1 Q0 d1 1 1_000 t\n", 1, "'1_000' is not a number", "without separators"),
    "decimal comma": Refused(b"q1 Q0 d1 1 1,5 t\n", 1, "'1,5' is not a number", "as a point: 1.5."),
    "Unicode digits": Refused("q1 Q0 d1 1 ١٢ t\n".encode(), 1, "'١٢' is not a number", "Digits 0 to 9"),
    "number with a tail": Refused(b"q1 Q0 d1 1 9.5abc t\n", 1, "'9.5abc' is not a number"),
    "quoted number": Refused(b'q1 Q0 d1 1 "9.5" t\n', 1, "is not a number"),
    "exponent without digits": Refused(b"q1 Q0 d1 1 9e t\n", 1, "'9e' is not a number"),
    "Fortran exponent": Refused(b"q1 Q0 d1 1 9d2 t\n", 1, "'9d2' is not a number"),
    "two signs": Refused(b"q1 Q0 d1 1 +-9 t\n", 1, "'+-9' is not a number"),
    "a sign alone": Refused(b"q1 Q0 d1 1 - t\n", 1, "'-' is not a number"),
    "a point alone": Refused(b"q1 Q0 d1 1 . t\n", 1, "'.' is not a number"),
    "two points": Refused(b"q1 Q0 d1 1 1.2.3 t\n", 1, "'1.2.3' is not a number"),
    "overflow": Refused(b"q1 Q0 d1 1 1e309 t\n", 1, "'1e309' is too large"),
    "overflow, negative": Refused(b"q1 Q0 d1 1 -1e309 t\n", 1, "'-1e309' is too large"),
    "overflow that begins with 0": Refused(b"q1 Q0 d1 1 0.1e400 t\n", 1, "'0.1e400' is too large"),
    "overflow that begins with -0": Refused(b"q1 Q0 d1 1 -0.1e400 t\n", 1, "'-0.1e400' is too large"),
    "overflow that begins with a point": Refused(b"q1 Q0 d1 1 .1e400 t\n", 1, "'.1e400' is too large"),
    "overflow with a negative exponent": Refused(b"q1 Q0 d1 1 1" + b"0" * 400 + b"e-1 t\n", 1, "is too large"),
    "overflow in digits": Refused(b"q1 Q0 d1 1 " + b"9" * 400 + b" t\n", 1, "is too large"),
    "rank is a word": Refused(b"q1 Q0 d1 first 9.5 t\n", 1, "rank 'first' is not a whole number"),
    "rank with a fraction": Refused(b"q1 Q0 d1 1.5 9.5 t\n", 1, "rank '1.5' is not a whole number"),
    "rank NaN": Refused(b"q1 Q0 d1 nan 9.5 t\n", 1, "rank 'nan' is not a whole number"),
    "rank infinite": Refused(b"q1 Q0 d1 inf 9.5 t\n", 1, "rank 'inf' is not a whole number"),
    "conflicting duplicate": Refused(RUN + b"q1 Q0 d2 3 1 t\n", 3, "'d2'", "Line 1 has another: q1 Q0 d2 1 9.5 t"),
    "conflict after a repetition": Refused(ROW + ROW + b"q1 Q0 d9 1 98 t\n", 3, "'d9'", "Line 1 has another"),
    "CSV: too few fields": Refused(b"topic,document,score\nq1,d1\n", 2, "2 fields", "header"),
    "CSV: too many fields": Refused(b"topic,document,score\nq1,d1,9,8\n", 2, "4 fields", "quotes"),
    "CSV: open quote": Refused(b'topic,document,score\nq1,"d1,9\n', 2, "quoted field", "quotes"),
    "CSV: text after a quote": Refused(b'topic,document,score\nq1,"d1"x,9\n', 2, "quoted field"),
    "CSV: empty topic": Refused(b"topic,document,score\n,d1,9\n", 2, "empty topic or document id"),
    "CSV: empty document": Refused(b'topic,document,score\nq1,"",9\n', 2, "empty topic or document id"),
    "CSV: empty score": Refused(b"topic,document,score\nq1,d1,\n", 2, "is not a number"),
    "CSV: NUL": Refused(b"topic,document,score\nq1,d\x001,9\n", 2, "NUL byte at offset 25"),
    "CSV: NaN": Refused(b"topic,document,score\n\nq1,d1,nan\n", 3, "score is 'nan'"),
    "CSV: conflicting duplicate": Refused(b"topic,document,score\nq,d,1\nq,e,1\nq,d,2\n", 4, "'d'", "Line 2"),
    "CSV: header alone": Refused(b"topic,document,score\n", None, "no rows"),
    "TSV: quotes hold nothing together": Refused(b'topic\tdocument\tscore\nq\t"d\t1"\t9\n', 2, "4 fields"),
    "JSON lines: cut short": Refused(b'{"topic": "q", "document": "d", "score": 1}\n{"topic":\n', 2, "not JSON"),
    "JSON lines: not an object": Refused(b'{"topic": "q", "document": "d", "score": 1}\n[1]\n', 2, "object"),
    "JSON lines: NaN": Refused(b'{"topic": "q", "document": "d", "score": NaN}\n', 1, "NaN"),
    "JSON lines: overflow": Refused(b'{"topic": "q", "document": "d", "score": 1e999}\n', 1, "too large"),
    "JSON lines: long integer": Refused(b'{"topic": "q", "document": "d", "score": ' + b"9" * 400 + b"}\n", 1, ""),
    "JSON lines: longer integer": Refused(b'{"topic": "q", "document": "d", "score": ' + b"9" * 9999 + b"}\n", 1, ""),
    "JSON lines: text as score": Refused(b'{"topic": "q", "document": "d", "score": "1"}\n', 1, "not a number"),
    "JSON lines: true as id": Refused(b'{"topic": "q", "document": true, "score": 1}\n', 1, "integer"),
    "JSON lines: null as id": Refused(b'{"topic": null, "document": "d", "score": 1}\n', 1, "integer"),
    "JSON lines: empty id": Refused(b'{"topic": "q", "document": "", "score": 1}\n', 1, "empty"),
    "JSON lines: half a character": Refused(b'{"topic": "q\\ud800", "document": "d", "score": 1}\n', 1, ""),
    "JSON lines: a key twice": Refused(b'{"topic": "q", "document": "d", "score": 1, "score": 2}\n', 1, "'score'"),
    "JSON: a list, then scores": Refused(
        b'{"q1": ["d1"], "q2": {"d1": 1.0}}', None, "topic 'q2' has dict where others have a list", "All topics"
    ),
    "JSON: scores, then a list": Refused(
        b'{"q1": {"d1": 1.0}, "q2": ["d1"]}', None, "topic 'q1' has dict where others have a list", "All topics"
    ),
    "JSON: a list, then a word": Refused(
        b'{"q1": ["d1"], "q2": "d1"}\n', None, "topic 'q2' has str where others have a list", "All topics"
    ),
    "JSON lines: a field with a list": Refused(
        b'{"terms": ["a"], "topic": "q", "document": "d", "score": NaN}\n', 1, "a value is NaN"
    ),
    "JSON lines: conflict": Refused(
        b'{"topic": "q", "document": "d", "score": 1}\n\n{"topic": "q", "document": "d", "score": 2}\n', 3, "'d'"
    ),
}  # fmt: skip

REFUSED_QRELS = {
    "empty file": Refused(b"", None, "empty"),
    "blank lines only": Refused(b"\n \n", None, "no rows"),
    "a run": Refused(RUN, 1, "6 fields where trec needs 4", "swapped"),
    "iteration missing": Refused(b"q1 d1 1\n", 1, "3 fields", "iteration"),
    "a fifth column": Refused(QRELS + b"q1 0 d2 1 extra\n", 2, "5 fields"),
    "header line": Refused(b"topic iteration document grade\n" + QRELS, 1, "'grade' is not a number", "header"),
    "last line cut short": Refused(QRELS + b"q1 0 d2", 2, "3 fields", "incomplete"),
    "grade is a word": Refused(b"q1 0 d1 relevant\n", 1, "grade 'relevant' is not a number"),
    "grade NaN": Refused(b"q1 0 d1 nan\n", 1, "grade is 'nan'"),
    "grade infinite": Refused(b"q1 0 d1 inf\n", 1, "grade 'inf' is infinite"),
    "grade overflows": Refused(b"q1 0 d1 1e999\n", 1, "grade '1e999' is too large"),
    "grade overflows behind a 0": Refused(b"q1 0 d1 0.5e999\n", 1, "grade '0.5e999' is too large"),
    "decimal comma": Refused(b"q1 0 d1 0,5\n", 1, "grade '0,5' is not a number", "decimal point"),
    "NUL": Refused(b"q1 0 d1 1\nq1 0 d2\x00 1\n", 2, "NUL byte at offset 17"),
    "conflicting duplicate": Refused(QRELS + b"q1 0 d2 1\nq1 0 d1 0\n", 3, "'d1'", "Line 1 has another: q1 0 d1 1"),
    "nothing relevant": Refused(b"q1 0 d1 0\nq1 0 d2 -1\n", None, "nothing is relevant", "last column"),
    "CSV grade missing": Refused(b"topic,document,grade\nq1,d1,\n", 2, "is not a number"),
    "JSON cut short": Refused(b'{"q1": {"d1": 1},\n', 2, "not JSON"),
    "JSON cut short inside": Refused(b'{"q1":\n {"d1": \n', 3, "not JSON"),
    "JSON with NaN": Refused(b'{"q1": {"d1": NaN}}', None, "NaN"),
    "JSON overflow": Refused(b'{"q1": {"d1": 1e999}}', None, "1e999"),
    "JSON with text as grade": Refused(b'{"q1": {"d1": "1"}}', None, "must be numbers"),
    "JSON with a topic twice": Refused(b'{"q1": {"d1": 1}, "q1": {"d2": 1}}', None, "'q1' appears twice"),
    "JSON nested without end": Refused(b'{"q":' * 100_000, None, ""),
    "Parquet cut short": Refused(b"PAR1" + b"\x15\x04" * 20, None, "Parquet"),
}  # fmt: skip


@pytest.fixture(params=["copied", "mapped"])
def _held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the bytes of a file are held: small ones are copied, large ones mapped."""
    if request.param == "mapped":
        monkeypatch.setattr(sources, "COPIED", 0)


@pytest.mark.usefixtures("_held")
@cases(REFUSED_RUNS)
def test_run_is_refused(case: Refused, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=case.text)
    check_refusal(cranfield.read_run, run, case, qrels, run)


@pytest.mark.usefixtures("_held")
@cases(REFUSED_QRELS)
def test_qrels_are_refused(case: Refused, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, qrels=case.text)

    def read(path: Path) -> object:
        judgements = cranfield.read_qrels(path)
        return cranfield.evaluate(judgements, run, "RR")

    check_refusal(read, qrels, case, qrels, run)


@pytest.mark.parametrize("id", [2.0, None, float("nan"), True, 1.5])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("form", ["pandas", "columns", "records", "arrays", "matrix"])
def test_ids_that_are_neither_text_nor_whole_numbers_are_told_with_their_row(id: Any, place: int, form: str) -> None:
    rows: list[list[Any]] = [["1", "a", 2.0], ["1", "b", 1.0]]
    rows[1][place] = id
    names = ["qid", "docno", "score"]
    source: Any = pandas.DataFrame(rows, columns=names, dtype=object)
    where = r"row 1( \(counting from 0\))?(, column '(qid|docno)')?"
    if form == "columns":
        source = source.convert_dtypes() if id is None else source
    elif form == "records":
        source = [dict(zip(names, row, strict=True)) for row in rows]
    elif form == "arrays":
        source = tuple(map(list, zip(*rows, strict=True)))
    elif form == "matrix":
        source = ([row[0] for row in rows], [[row[1], "x"] for row in rows], [[2.0, 1.0], [2.0, 1.0]])
        where = r"row 1, place 0 \(counting from 0\)"
    with pytest.raises((ArgumentError, DataError), match=f"^the run: {where}: ") as refused:
        cranfield.read_run(source)
    missing = "missing value" in str(refused.value)
    role = ("topic", "document")[place]
    assert missing or f"{role} ids must be str or int, not {type(id).__name__}: {id!r}\n    A row without an id" in str(
        refused.value
    )


def test_a_column_of_floats_is_told_with_its_remedy() -> None:
    frame = pandas.DataFrame({"qid": [1, None], "docno": ["a", "b"], "score": [2.0, 1.0]})
    with pytest.raises(ArgumentError, match=r"^the run: column 'qid' .*ids are strings or integers\n") as refused:
        cranfield.read_run(frame)
    assert "become whole numbers again by .astype('Int64')" in str(refused.value)
    whole = frame.dropna().astype({"qid": "Int64"})
    assert cranfield.read_run(whole).to_dict() == {"1": {"a": 2.0}}


def test_scores_that_are_no_numbers_are_told_with_their_row() -> None:
    records: Any = [{"qid": "1", "docno": "a", "score": 2.0}, {"qid": "1", "docno": "b", "score": "high"}]
    with pytest.raises(
        ArgumentError, match=r"^the run: row 1 .*: scores must be numbers, not str: 'high'\n    A score is a number"
    ):
        cranfield.read_run(records)
    with pytest.raises(ArgumentError, match=r"^the run: topic 1\.0: topic ids must be str or int, not float$"):
        cranfield.read_run({1.0: {"a": 1}})  # type: ignore[arg-type]


def test_second_of_two_runs_is_refused_and_the_first_is_not_printed(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    bad = tmp_path / "bad.run"
    bad.write_bytes(ROW + b"q1 Q0 d2 2 nan t\n")
    outcome = command_line("evaluate", qrels, run, bad, "-m", "RR")
    assert (outcome.exit, outcome.stdout) == (3, "")
    assert f"{bad}:2: " in outcome.stderr


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_swapped_arguments_are_named_as_such(command: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    outcome = command_line(command, run, qrels)
    assert (outcome.exit, outcome.stdout) == (3, "")
    assert "swapped" in outcome.stderr


def test_no_topic_in_common_is_an_error(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace(b"q1", b"q7"))
    outcome = command_line("evaluate", qrels, run)
    assert (outcome.exit, outcome.stdout) == (3, "")
    assert "no topic in common" in outcome.stderr
    assert "q7" in outcome.stderr
    assert "q1" in outcome.stderr


def test_no_topic_left_by_the_policy_is_an_error(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, qrels=QRELS + b"q2 0 d1 1\n")
    other = tmp_path / "other.run"
    other.write_bytes(RUN.replace(b"q1", b"q2"))
    outcome = command_line("evaluate", qrels, run, other, "--topics", "common")
    assert (outcome.exit, outcome.stdout) == (3, "")
    assert "no topic is left" in outcome.stderr


class Accepted(NamedTuple):
    """Input that is odd but right, and the reciprocal rank it must give."""

    run: bytes
    expected: float = 0.5
    qrels: bytes = QRELS


BIG = b"x" * 1_000_000
ACCEPTED = {
    "plain": Accepted(RUN),
    "byte order mark in the run": Accepted(b"\xef\xbb\xbf" + RUN),
    "byte order mark in the qrels": Accepted(RUN, qrels=b"\xef\xbb\xbf" + QRELS),
    "CR LF": Accepted(RUN.replace(b"\n", b"\r\n"), qrels=b"q1 0 d1 1\r\n"),
    "lone CR": Accepted(RUN.replace(b"\n", b"\r"), qrels=b"q1 0 d1 1\r"),
    "no final newline": Accepted(RUN[:-1], qrels=QRELS[:-1]),
    "no final newline after CR LF": Accepted(RUN.replace(b"\n", b"\r\n")[:-2], qrels=b"q1 0 d9 0\r\nq1 0 d1 1"),
    "blank lines": Accepted(b"\n" + RUN.replace(b"\n", b"\n \t\n"), qrels=b"\n\n" + QRELS + b"  \n"),
    "tabs and runs of blanks": Accepted(b"  q1\t Q0  d2 \t1 9 t \n\tq1\tQ0\td1\t2\t8\tt\n", qrels=b" q1\t0  d1\t1 \n"),
    "seven columns": Accepted(RUN.replace(b" t\n", b" t more text\n")),
    "a hundred columns": Accepted(RUN.replace(b" t\n", b" t" + b" x" * 94 + b"\n")),
    "a comment": Accepted(b"# written today\n" + RUN, qrels=b"# judged by hand\n" + QRELS),
    "a comment of as many words as a row": Accepted(b"# one two three four five\n" + RUN, qrels=b"# a b c\n" + QRELS),
    "topic #2": Accepted(RUN.replace(b"q1", b"#2"), qrels=QRELS.replace(b"q1", b"#2")),
    "document #2": Accepted(RUN.replace(b"d1", b"#2"), qrels=QRELS.replace(b"d1", b"#2")),
    "document #": Accepted(RUN.replace(b"d1", b"#"), qrels=QRELS.replace(b"d1", b"#")),
    "no-break space in ids": Accepted(RUN.replace(b"d1", b"d\xc2\xa01"), qrels=QRELS.replace(b"d1", b"d\xc2\xa01")),
    "other Unicode spaces": Accepted(
        RUN.replace(b"d1", "d\u20031\u2028".encode()), qrels=QRELS.replace(b"d1", "d\u20031\u2028".encode())
    ),
    "control characters in ids": Accepted(
        RUN.replace(b"d1", b"d\x01\x0b\x0c\x1c\x7f"), qrels=QRELS.replace(b"d1", b"d\x01\x0b\x0c\x1c\x7f")
    ),
    "control characters tell ids apart": Accepted(ROW.replace(b"d9", b"d1\x01") + RUN, 1 / 3),
    "Latin-1 ids": Accepted(RUN.replace(b"d1", b"caf\xe9"), qrels=QRELS.replace(b"d1", b"caf\xe9")),
    "Latin-1 topic": Accepted(RUN.replace(b"q1", b"caf\xe9"), qrels=QRELS.replace(b"q1", b"caf\xe9")),
    "0xff and 0xfe inside": Accepted(RUN.replace(b"d1", b"\xff\xfe"), qrels=QRELS.replace(b"d1", b"\xff\xfe")),
    "one text in two normal forms is two ids": Accepted(
        ROW.replace(b"d9", b"e\xcc\x81") + RUN.replace(b"d1", b"\xc3\xa9"), 1 / 3, QRELS.replace(b"d1", b"\xc3\xa9")
    ),
    "quotes in ids": Accepted(RUN.replace(b"d1", b'"d1'), qrels=QRELS.replace(b"d1", b'"d1')),
    "a quoted id is another": Accepted(ROW.replace(b"d9", b'"d1"') + RUN, 1 / 3),
    "commas in ids": Accepted(RUN.replace(b"d1", b"d,1,2,3"), qrels=QRELS.replace(b"d1", b"d,1,2,3")),
    "0001 is not 1": Accepted(ROW.replace(b"d9", b"1") + RUN.replace(b"d1", b"0001"), 1 / 3, b"q1 0 0001 1\n"),
    "1.0 is not 1": Accepted(ROW.replace(b"d9", b"1.0") + RUN.replace(b"d1", b"1"), 1 / 3, b"q1 0 1 1\n"),
    "case counts": Accepted(ROW.replace(b"d9", b"D1") + RUN, 1 / 3),
    "NA and null are ids": Accepted(
        b"q1 Q0 null 1 9 t\nq1 Q0 nan 2 8 t\nq1 Q0 NA 3 7 t\nq1 Q0 None 4 6 t\n", 1 / 3, b"q1 0 NA 1\nq1 0 null 0\n"
    ),
    "topic NA": Accepted(RUN.replace(b"q1", b"NA"), qrels=QRELS.replace(b"q1", b"NA")),
    "topic BZh": Accepted(RUN.replace(b"q1", b"BZh1"), qrels=QRELS.replace(b"q1", b"BZh1")),
    "a document of 1 MB": Accepted(RUN.replace(b"d1", BIG), qrels=QRELS.replace(b"d1", BIG)),
    "two documents of 1 MB differ at their ends": Accepted(
        RUN.replace(b"d1", BIG + b"1").replace(b"d2", BIG + b"2"), qrels=QRELS.replace(b"d1", BIG + b"1")
    ),
    "a topic of 1 MB": Accepted(RUN.replace(b"q1", BIG), qrels=QRELS.replace(b"q1", BIG)),
    "a line of 5 MB": Accepted(RUN[:-1] + b" x" * 2_500_000 + b"\n"),
    "a comment of 5 MB": Accepted(b"#" + b"x" * 5_000_000 + b"\n" + RUN),
    "infinite scores": Accepted(b"q1 Q0 d1 1 -inf t\nq1 Q0 d2 2 inf t\nq1 Q0 d3 3 1e308 t\n", 1 / 3),
    "Infinity": Accepted(REVERSED.replace(b"9.5", b"+Infinity"), 1),
    "scores in every notation": Accepted(b"q1 Q0 a 1 +3 t\nq1 Q0 b 2 .25e1 t\nq1 Q0 d1 3 2. t\nq1 Q0 c 4 1E0 t", 1 / 3),
    "negative scores": Accepted(b"q1 Q0 d1 1 -2 t\nq1 Q0 d2 2 -1 t\n"),
    "scores too small for a double": Accepted(b"q1 Q0 d1 1 1e-400 t\nq1 Q0 d2 2 1e-300 t\n"),
    "small numbers with large exponents": Accepted(b"q1 Q0 d1 1 0." + b"0" * 400 + b"1e401 t\nq1 Q0 d2 2 2 t\n"),
    "zero with a large exponent": Accepted(b"q1 Q0 d1 1 0e999 t\nq1 Q0 d2 2 1e-9 t\n"),
    "scores that differ in the 17th digit": Accepted(
        b"q1 Q0 d2 1 0.10000000000000000 t\nq1 Q0 d1 2 0.10000000000000002 t\n", 1
    ),
    "zeros of both signs tie": Accepted(b"q1 Q0 d1 1 0 t\nq1 Q0 d2 2 -0.0 t\n"),
    "order of the file does not count": Accepted(REVERSED, 1),
    "ranks from 0": Accepted(RUN.replace(b" 1 9", b" 0 9").replace(b" 2 8", b" 1 8")),
    "ranks as floats": Accepted(RUN.replace(b" 1 9", b" 1.0 9").replace(b" 2 8", b" 2.0 8")),
    "ranks beyond 32 bits": Accepted(RUN.replace(b" 2 8", b" 99999999999999999999 8")),
    "topics interleaved": Accepted(
        b"q1 Q0 d2 1 9 t\nq2 Q0 d1 1 9 t\nq1 Q0 d1 2 8 t\nq2 Q0 d2 2 8 t\nq1 Q0 d3 3 8.5 t\n", (1 / 3 + 1) / 2,
        b"q2 0 d1 1\nq1 0 d1 1\nq2 0 d2 0\nq1 0 d9 0\n",
    ),
    "identical duplicates": Accepted(RUN + RUN, qrels=QRELS + QRELS),
    "the same value written differently": Accepted(RUN + b"q1 Q0 d1 2 85e-1 t\n", qrels=QRELS + b"q1 0 d1 1.0\n"),
    "grade 100000000": Accepted(RUN, qrels=b"q1 0 d1 100000000\n"),
    "grade 1e300": Accepted(RUN, qrels=b"q1 0 d1 1e300\n"),
    "grade 0.5 is below 1": Accepted(RUN, 0, b"q1 0 d1 0.5\nq1 0 d9 1\n"),
    "grade 0.9999 is not rounded": Accepted(REVERSED, 0.5, b"q1 0 d1 0.9999\nq1 0 d2 1\n"),
    "grade with a sign": Accepted(RUN, qrels=b"q1 0 d1 +1\n"),
    "the iteration may be anything": Accepted(RUN, qrels=b"q1 Q0 d1 1\nq1 x d2 0\n"),
    "CSV": Accepted(b"topic,document,score\nq1,d2,9\nq1,d1,8\n"),
    "CSV with a byte order mark": Accepted(b"\xef\xbb\xbftopic,document,score\r\nq1,d2,9\r\nq1,d1,8"),
    "CSV with lone CR": Accepted(b"topic,document,score\rq1,d2,9\rq1,d1,8\r"),
    "CSV with quotes": Accepted(b'"topic","document","score"\n"q1","d,""2",9\n"q1","d1","8"\n'),
    "CSV in another order": Accepted(b"score,extra,docno,QID\n9,,d2,q1\n8,x,d1,q1\n"),
    "CSV with ids like numbers": Accepted(b"qid,docid,score\n1,01,9\n1,1,8\n", qrels=b"qid,docid,label\n1,1,1\n"),
    "TSV with quotes in ids": Accepted(
        b'query-id\tcorpus-id\tscore\nq1\t"d2\t9\nq1\td1"\t8\n', qrels=b'query-id\tcorpus-id\tscore\nq1\td1"\t1\n'
    ),
    "ranks without scores": Accepted(b"topic\tdocument\trank\nq1\td1\t2\nq1\td2\t1\n"),
    "JSON lines": Accepted(
        b'{"qid": "q1", "docid": "d2", "score": 9}\r\n\r\n{"docid": "d1", "qid": "q1", "score": 8.5}'
    ),
    "JSON lines, a document of 1 MB": Accepted(
        b'{"qid": "q1", "docid": "' + BIG + b'", "score": 9}\n{"qid": "q1", "docid": "d1", "score": 8.5}\n'
    ),
    "JSON": Accepted(b'{"q1":\n {"d2": 9, "d1": 8}}\n', qrels=b'{"q1": {"d1": 1}}'),
}  # fmt: skip


@pytest.mark.usefixtures("_held")
@cases(ACCEPTED)
def test_odd_input_gives_the_right_number(case: Accepted, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, case.qrels, case.run)
    check_rr(qrels, run, case.expected)
    check_rr(cranfield.read_qrels(qrels), cranfield.read_run(run), case.expected)
    outcome = command_line("evaluate", qrels, run, "-m", "RR", "-f", "csv")
    assert outcome.exit == 0, outcome.stderr
    assert float(outcome.stdout.splitlines()[1].split(",")[1]) == pytest.approx(case.expected, abs=1e-15)


@pytest.mark.parametrize("format", ["table", "csv", "tsv", "markdown", "latex", "html", "trec"])
def test_topic_that_is_not_utf8_is_printed_as_the_same_bytes(format: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, QRELS.replace(b"q1", b"caf\xe9"), RUN.replace(b"q1", b"caf\xe9"))
    outcome = command_line("evaluate", qrels, run, "-m", "RR", "-q", "-f", format)
    assert outcome.exit == 0, outcome.stderr
    assert b"caf\xe9" in outcome.stdout.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_json_is_utf8_whatever_the_topic(format: str, tmp_path: Path) -> None:
    """Bytes that are not UTF-8 would make the whole document unreadable; an escape keeps them."""
    qrels, run = files(tmp_path, QRELS.replace(b"q1", b"caf\xe9"), RUN.replace(b"q1", b"caf\xe9"))
    outcome = command_line("evaluate", qrels, run, "-m", "RR", "-q", "-f", format)
    assert outcome.exit == 0, outcome.stderr
    text = outcome.stdout.encode("utf-8", "surrogateescape").decode("utf-8", "strict")
    document = json.loads(text if format == "json" else text.splitlines()[0])
    assert (list(document["runs"][0]["topics"]) if format == "json" else [document["topic"]]) == ["caf\udce9"]


def test_a_table_wider_than_a_hundred_columns_is_read(tmp_path: Path) -> None:
    """In a process of its own: a reader that keeps a fixed number of fields would crash here."""
    filler = ",".join(f"c{i}" for i in range(3000))
    wide = f"{filler},topic,document,score\n{filler},q1,d2,9\n{filler},q1,d1,8\n".encode()
    qrels, run = files(tmp_path, run=wide)
    outcome = command_process("evaluate", qrels, run, "-m", "RR", "-f", "csv")
    assert (outcome.exit, outcome.stdout) == (0, "run,RR\nthe,0.5\n"), outcome.stderr


def test_fractional_grades_are_reported(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, qrels=b"q1 0 d1 1.5\n")
    assert "1 grade with a fraction" in command_line("evaluate", qrels, run).stderr


def test_comments_are_counted() -> None:
    run = cranfield.read_run(io.BytesIO(b"# one\n#two\n" + RUN))
    assert "2 lines starting with #" in dict(run.origin.notes)["comments"]


# Judgements and runs of every text format, each with two lines that could be rows but for a lone # in front.
COMMENTED = {
    ("run", "plain", "TREC"): b"# Q0 d9 1 9.5 x\nq1 Q0 d1 1 2 t\n #\tQ0 d9 1 9.5 x\n#2 Q0 d1 1 2 t\n",
    ("run", "plain", "no numbers"): b"# Q0 d9 1 high x\nq1 Q0 d1 1 2 t\n# Q0 d 1.5 2 x\n#2 Q0 d1 1 2 t\n",
    ("qrels", "plain", "TREC"): b"# graded 0 3\nq1 0 d1 1\n # graded 0 3\r\n#2 0 d1 1\n",
    ("qrels", "plain", "CSV"): b"topic,document,grade\n# a,d9,3\nq1,d1,1\n#,d9,3\n#2,d1,1\n",
    ("qrels", "plain", "topic last"): b"document\tgrade\ttopic\n#\t3\tq1\nd1\t1\tq1\n# d9\t3\tq1\nd1\t1\t#2\n",
    ("qrels", "judges", "TREC"): b"# ann d9 3\nq1 ann d1 1\n\t# ann d9 3\n#2 ann d1 1\n",
    ("qrels", "judges", "CSV"): b"topic,judge,document,grade\n# a,b,d9,3\nq1,a,d1,1\n#,a,d9,3\n#2,a,d1,1\n",
    ("qrels", "subtopics", "TREC"): b"# 1 d9 3\nq1 1 d1 1\n# 1 d8 3\n#2 1 d1 1\n",
    ("qrels", "sampled", "TREC"): b"# 0 d9 1 3\nq1 0 d1 1 1\n# 0 d8 1 3\n#2 0 d1 1 1\n",
    ("qrels", "preferences", "pairs"): b"# d9 d8\nq1 d1 d0\n# d8 d9\n#2 d1 d0\n",
    ("qrels", "preferences", "levels"): b"# j s d9 2\nq1 j s d1 1\nq1 j s d0 0\n# j s d8 1\n#2 j s d1 1\n#2 j s d0 0\n",
}


@pytest.mark.parametrize("case", COMMENTED, ids=" ".join)
def test_a_lone_mark_in_front_makes_a_comment_of_any_line(case: tuple[str, str, str]) -> None:
    (what, kind, _), text = case, COMMENTED[case]
    read = (
        cranfield.read_run(io.BytesIO(text))
        if what == "run"
        else cranfield.read_qrels(io.BytesIO(text), reading=Reading(judgements=kind))
    )
    assert sorted(read.topics) == ["#2", "q1"]
    assert {"d1"} <= {document for topic in read.topics for document in read.of(topic)} <= {"d0", "d1"}
    assert dict(read.origin.notes)["comments"] == "2 lines starting with # were taken for comments"


@pytest.mark.parametrize("kind", ["plain", "judges", "subtopics", "sampled", "preferences"])
def test_a_line_that_starts_with_a_mark_and_does_not_fit_is_a_comment(kind: str) -> None:
    row = {"sampled": b"q1 0 d1 1 1\n", "preferences": b"q1 d1 d0\n"}.get(kind, b"q1 0 d1 1\n")
    qrels = cranfield.read_qrels(io.BytesIO(b"#written today\n" + row), reading=Reading(judgements=kind))
    assert (list(qrels.topics), "comments" in dict(qrels.origin.notes)) == (["q1"], True)
    assert "comments" not in dict(cranfield.read_qrels(io.BytesIO(row), reading=Reading(judgements=kind)).origin.notes)


def test_a_comment_does_not_lower_the_mean(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, qrels=b"# graded 0 3\n" + QRELS)
    plain = tmp_path / "plain"
    plain.write_bytes(QRELS)
    assert (
        command_line("evaluate", qrels, run, "-m", "AP").stdout
        == command_line("evaluate", plain, run, "-m", "AP").stdout
    )


@pytest.mark.parametrize("topic", ["#", "# a"])
@pytest.mark.parametrize("format", ["trec", "msmarco", "tsv", "beir"])
def test_a_topic_that_would_read_as_a_comment_is_not_written(topic: str, format: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"the id '{topic}' cannot be written as {format}"):
        cranfield.write_run({topic: {"d1": -1.0}}, tmp_path / "run", format=format, lossy=True)


@pytest.mark.parametrize(
    ("topic", "format"),
    [
        *(("#2", name) for name in ("trec", "tsv", "beir")),
        *itertools.product(("#", "# a", "#2"), ("csv", "jsonl", "json")),
    ],
)
def test_other_topics_that_start_with_a_mark_come_back(topic: str, format: str, tmp_path: Path) -> None:
    cranfield.write_run({topic: {"d1": -1.0}}, tmp_path / "run", format=format, lossy=True)
    assert cranfield.read_run(tmp_path / "run").to_dict() == {topic: {"d1": -1.0}}


LARGE_GRADES = ("nDCG", "nDCG@10", "nDCG(gain='exp')", "ERR", "ERR@10", "AP", "RBP", "Bpref", "InterpolatedAP")


@pytest.mark.parametrize("grade", [60, 2000, 10**8])
@pytest.mark.parametrize("measure", LARGE_GRADES)
def test_large_grades_never_give_nan(measure: str, grade: int) -> None:
    """The only relevant document is first: each of these is 1, or 0.2 for RBP. Otherwise it must be refused."""
    try:
        value = cranfield.evaluate({"q": {"a": grade}}, {"q": {"a": 2.0, "b": 1.0}}, measure).means[0, 0]
    except CranfieldError:
        return
    assert value == pytest.approx(0.2 if measure == "RBP" else 1.0)


def filler(rows: int, topic: str = "f") -> bytes:
    """Lines to push others apart: 32 bytes each, so that 50,000 are more than a chunk of the reader."""
    return b"".join(b"%s Q0 filler%09d 1 %d.5 t\n" % (topic.encode(), i, 100_000 + i) for i in range(rows))


DISTANT = 50_000


@pytest.mark.parametrize("topic", ["f", "q1"], ids=["other topics between", "same topic between"])
@pytest.mark.parametrize("threads", [1, 3])
def test_conflict_of_distant_lines_is_found(topic: str, threads: int, tmp_path: Path) -> None:
    _, run = files(tmp_path, run=RUN + filler(DISTANT, topic) + b"q1 Q0 d1 3 7.5 t\n" + filler(3, "g"))
    with pytest.raises(DataError, match=r"Line 2 has another: q1 Q0 d1 2 8\.5 t") as caught:
        cranfield.read_run(run, reading=Reading(threads=threads))
    assert caught.value.line == DISTANT + 3
    assert caught.value.text == "q1 Q0 d1 3 7.5 t"


@pytest.mark.parametrize("topic", ["f", "q1"], ids=["other topics between", "same topic between"])
def test_identical_distant_lines_collapse_and_are_counted(topic: str, tmp_path: Path) -> None:
    _, run = files(tmp_path, run=RUN + filler(DISTANT, topic) + RUN)
    read = cranfield.read_run(run)
    assert len(read) == DISTANT + 2
    assert dict(read.origin.notes)["duplicates-collapsed"].startswith("2 lines repeat another")


def test_conflict_among_interleaved_topics_is_found(tmp_path: Path) -> None:
    lines = [b"q%d Q0 d%d 1 %d t\n" % (i % 7, i // 7, i) for i in range(700)]
    _, run = files(tmp_path, run=b"".join(lines) + b"q3 Q0 d50 1 0.5 t\n")
    with pytest.raises(DataError, match=r"'d50'[^$]*Line 354 has another: q3 Q0 d50 1 353 t") as caught:
        cranfield.read_run(run)
    assert caught.value.line == 701


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_first_of_several_faults_is_named_whatever_the_threads(threads: int, tmp_path: Path) -> None:
    text = filler(DISTANT) + b"q1 Q0 d1 1 bad t\n" + filler(DISTANT, "g") + b"q1 Q0 d1\n"
    _, run = files(tmp_path, run=text)
    with pytest.raises(DataError, match="'bad'") as caught:
        cranfield.read_run(run, reading=Reading(threads=threads))
    assert caught.value.line == DISTANT + 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CR LF", "CR"])
def test_lines_are_counted_physically_across_chunks(end: bytes, tmp_path: Path) -> None:
    text = (filler(DISTANT) + b"\n\n# x\nq1 Q0 d1 1 bad t\n").replace(b"\n", end)
    _, run = files(tmp_path, run=text)
    with pytest.raises(DataError) as caught:
        cranfield.read_run(run)
    assert caught.value.line == DISTANT + 4


def test_one_topic_of_a_million_rows(tmp_path: Path) -> None:
    rows = 1_000_000
    qrels, run = files(tmp_path, qrels=b"q 0 d7 1\n", run=b"".join(b"q Q0 d%d 0 %d t\n" % (i, i) for i in range(rows)))
    results = cranfield.evaluate(qrels, run, ["RR", "NumRet"])
    assert results.means[0, 1] == rows
    assert results.means[0, 0] == 1 / (rows - 7)


COMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),  # off by default
}


@pytest.mark.parametrize("suffix", COMPRESS)
class TestCompression:
    def test_is_recognised_by_content_whatever_the_name(self, suffix: str, tmp_path: Path) -> None:
        packed = COMPRESS[suffix](RUN)
        names = ["a.run", f"a.run.{suffix}", "a", "a.txt", *(f"b.{other}" for other in COMPRESS)]
        for name in names:
            (tmp_path / name).write_bytes(packed)
            check_rr(io.BytesIO(QRELS), tmp_path / name, 0.5)

    def test_plain_text_may_have_its_suffix(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / f"plain.{suffix}"
        path.write_bytes(RUN)
        check_rr(io.BytesIO(QRELS), path, 0.5)

    def test_several_members_are_one_text_even_if_a_line_runs_over(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "members"
        pieces = (RUN[:5], b"", RUN[5:20], RUN[20:])
        path.write_bytes(b"".join(map(COMPRESS[suffix], pieces)))
        check_rr(io.BytesIO(QRELS), path, 0.5)

    def test_byte_order_mark_inside_is_stripped(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "marked"
        path.write_bytes(COMPRESS[suffix](b"\xef\xbb\xbf" + RUN))
        check_rr(io.BytesIO(QRELS), path, 0.5)

    def test_nothing_inside_is_an_empty_input(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "nothing"
        path.write_bytes(COMPRESS[suffix](b""))
        with pytest.raises(DataError, match="empty"):
            cranfield.read_run(path)

    def test_line_numbers_are_those_of_the_text(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "bad"
        path.write_bytes(COMPRESS[suffix](RUN + b"q1 Q0 d3 3 nan t\n"))
        with pytest.raises(DataError) as caught:
            cranfield.read_run(path)
        assert caught.value.line == 3

    def test_truncated_is_refused_wherever_it_ends(self, suffix: str, tmp_path: Path) -> None:
        packed = COMPRESS[suffix](RUN + filler(200))
        path = tmp_path / "cut"
        for length in {len(packed) - 1, len(packed) - 4, len(packed) - 9, len(packed) // 2, 12}:
            path.write_bytes(packed[:length])
            with pytest.raises(DataError, match="damaged"):
                cranfield.read_run(path)
        qrels, _ = files(tmp_path)
        outcome = command_line("evaluate", qrels, path)
        assert (outcome.exit, outcome.stdout) == (3, "")
        assert str(path) in outcome.stderr
        assert "again" in outcome.stderr

    def test_truncated_second_member_is_refused(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "cut"
        path.write_bytes(COMPRESS[suffix](RUN) + COMPRESS[suffix](filler(50))[:-5])
        with pytest.raises(DataError, match="damaged"):
            cranfield.read_run(path)

    def test_text_after_the_data_is_refused(self, suffix: str, tmp_path: Path) -> None:
        path = tmp_path / "tail"
        path.write_bytes(COMPRESS[suffix](RUN) + ROW)
        with pytest.raises(DataError, match="damaged"):
            cranfield.read_run(path)

    def test_damage_in_the_middle_is_refused(self, suffix: str, tmp_path: Path) -> None:
        packed = bytearray(COMPRESS[suffix](filler(300)))
        packed[len(packed) // 2] ^= 0x55
        path = tmp_path / "damaged"
        path.write_bytes(packed)
        with pytest.raises(DataError, match="damaged"):
            cranfield.read_run(path)


def test_wrong_gzip_checksum_is_refused(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(RUN))
    packed[-6] ^= 1
    path = tmp_path / "sum.gz"
    path.write_bytes(packed)
    with pytest.raises(DataError, match="damaged gzip"):
        cranfield.read_run(path)


def test_zeros_that_pad_a_gzip_file_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "padded.gz"
    path.write_bytes(gzip.compress(RUN) + bytes(512))
    check_rr(io.BytesIO(QRELS), path, 0.5)


class TestSources:
    def test_path_objects_strings_and_open_files(self, tmp_path: Path) -> None:
        qrels, run = files(tmp_path)
        with run.open("rb") as binary, run.open(encoding="utf-8") as text:
            for source in (run, str(run), binary, text, io.BytesIO(RUN), io.StringIO(RUN.decode())):
                check_rr(qrels, source, 0.5)

    def test_standard_input(self, tmp_path: Path) -> None:
        qrels, run = files(tmp_path)
        assert "0.5000" in command_line("evaluate", qrels, "-", "-m", "RR", stdin=RUN).stdout
        assert "0.5000" in command_line("evaluate", "-", run, "-m", "RR", stdin=gzip.compress(QRELS)).stdout

    def test_fault_in_standard_input_is_named_so(self, tmp_path: Path) -> None:
        qrels, _ = files(tmp_path)
        outcome = command_line("evaluate", qrels, "-", stdin=RUN + b"q1 Q0 d3 3 nan t\n")
        assert (outcome.exit, outcome.stdout) == (3, "")
        assert "standard input:3: " in outcome.stderr

    def test_standard_input_for_both_is_an_error(self) -> None:
        outcome = command_line("evaluate", "-", "-", stdin=QRELS)
        assert outcome.exit in (2, 3)
        assert outcome.stdout == ""
        assert "standard input" in outcome.stderr

    def test_standard_input_of_a_process(self, tmp_path: Path) -> None:
        qrels, _ = files(tmp_path)
        for name in ("-", "/dev/stdin"):
            outcome = command_process("evaluate", qrels, name, "-m", "RR", stdin=RUN)
            assert "0.5000" in outcome.stdout, outcome.stderr

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
    def test_named_pipe(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(RUN + filler(DISTANT)),))
        writer.start()
        check_rr(io.BytesIO(QRELS), pipe, 0.5)
        writer.join()

    @pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
    def test_process_substitution(self) -> None:
        reading, writing = os.pipe()
        os.write(writing, RUN)
        os.close(writing)
        try:
            check_rr(io.BytesIO(QRELS), f"/dev/fd/{reading}", 0.5)
        finally:
            os.close(reading)

    def test_directory_missing_file_and_empty_device(self, tmp_path: Path) -> None:
        qrels, _ = files(tmp_path)
        for path, says in ((tmp_path, "directory"), (tmp_path / "nope", "no such file"), (Path(os.devnull), "empty")):
            for arguments in ((qrels, path), (path, qrels)):
                outcome = command_line("evaluate", *arguments)
                assert (outcome.exit, outcome.stdout) == (3, "")
                assert f"{path}: " in outcome.stderr
                assert says in outcome.stderr

    def test_file_used_as_a_folder(self, tmp_path: Path) -> None:
        qrels, run = files(tmp_path)
        outcome = command_line("evaluate", qrels, run / "more")
        assert outcome.exit == 3
        assert str(run / "more") in outcome.stderr

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
    def test_unreadable_file(self, tmp_path: Path) -> None:
        qrels, run = files(tmp_path)
        run.chmod(0)
        outcome = command_line("evaluate", qrels, run)
        assert (outcome.exit, outcome.stdout) == (3, "")
        assert f"{run}: Permission denied" in outcome.stderr

    @pytest.mark.parametrize("lines", [2, 1000])
    def test_text_given_for_a_path_is_recognised(self, lines: int) -> None:
        with pytest.raises(DataError, match=r"io\.StringIO") as caught:
            cranfield.read_run(RUN.decode() * lines)
        assert len(str(caught.value)) < 500

    def test_path_with_a_nul(self) -> None:
        with pytest.raises(DataError):
            cranfield.read_run("a\0b")

    def test_file_read_to_its_end_is_an_error_the_second_time(self) -> None:
        source = io.BytesIO(RUN)
        cranfield.read_run(source)
        with pytest.raises(DataError, match="empty"):
            cranfield.read_run(source)

    def test_consumed_iterator_is_an_error_and_not_an_empty_run(self) -> None:
        records = iter([Record("q1", "d2", 9.5), Record("q1", "d1", 8.5)])
        check_rr({"q1": {"d1": 1}}, records, 0.5)
        with pytest.raises(DataError, match="An iterator can be read once"):
            cranfield.evaluate({"q1": {"d1": 1}}, records, "RR")

    def test_consumed_arrow_stream_is_an_error(self) -> None:
        reader = pyarrow.table({"topic": ["q1"], "document": ["d1"], "score": [1.0]}).to_reader()
        check_rr({"q1": {"d1": 1}}, reader, 1)
        with pytest.raises(DataError, match="no rows"):
            cranfield.read_run(reader)


class Record(NamedTuple):
    """As ir_measures and ir_datasets write a retrieved document."""

    query_id: str
    doc_id: str
    score: float


Columns = tuple[list[Any], list[Any], list[Any]]


def as_frame(frame: Callable[[dict[str, Any]], Any], value: str) -> Callable[[Columns], Any]:
    return lambda columns: frame(dict(zip(("topic", "document", value), columns, strict=True)))


def as_dict(columns: Columns) -> dict[Any, dict[Any, Any]]:
    out: dict[Any, dict[Any, Any]] = {}
    for topic, document, value in zip(*columns, strict=True):
        out.setdefault(topic, {})[document] = value
    return out


def as_records(columns: Columns) -> Iterator[Record]:
    return itertools.starmap(Record, zip(*columns, strict=True))


SHAPES: Mapping[str, Callable[[Columns], Any]] = {
    "polars": as_frame(polars.DataFrame, "score"),
    "pandas": as_frame(pandas.DataFrame, "score"),
    "pyarrow": as_frame(pyarrow.table, "score"),
    "arrays": lambda columns: tuple(map(np.array, columns)),
    "lists": lambda columns: columns,
    "dict": as_dict,
    "records": as_records,
}
every_shape = pytest.mark.parametrize("shape", SHAPES)
columns_shapes = pytest.mark.parametrize("shape", [name for name in SHAPES if name != "dict"])

REFUSED_IN_MEMORY: Mapping[str, Columns] = {
    "NaN score": (["q1", "q1"], ["d1", "d2"], [1.0, float("nan")]),
    "empty topic": (["q1", ""], ["d1", "d2"], [1.0, 2.0]),
    "empty document": (["q1", "q1"], ["d1", ""], [1.0, 2.0]),
    "missing topic": (["q1", None], ["d1", "d2"], [1.0, 2.0]),
    "missing document": (["q1", "q1"], ["d1", None], [1.0, 2.0]),
    "missing score": (["q1", "q1"], ["d1", "d2"], [1.0, None]),
    "text as score": (["q1", "q1"], ["d1", "d2"], ["1", "2"]),
    "float as topic": ([1.0, 1.0], ["d1", "d2"], [1.0, 2.0]),
    "float as document": (["q1", "q1"], [1.0, 2.5], [1.0, 2.0]),
    "nothing": ([], [], []),
}


@every_shape
@pytest.mark.parametrize("columns", [pytest.param(columns, id=name) for name, columns in REFUSED_IN_MEMORY.items()])
def test_bad_objects_are_refused(shape: str, columns: Columns) -> None:
    """A wrong value is a DataError, a wrong type a TypeError."""
    with pytest.raises((DataError, TypeError), match=r"NaN|empty|missing|must be|ids are|is a float|no rows"):
        cranfield.read_run(SHAPES[shape](columns))


@columns_shapes
def test_conflicting_rows_are_refused_in_every_shape(shape: str) -> None:
    with pytest.raises(DataError, match=r"'q1' has document 'd1' twice, with the scores 1 and 2"):
        cranfield.read_run(SHAPES[shape]((["q1", "q2", "q1"], ["d1", "d1", "d1"], [1.0, 5.0, 2.0])))


@columns_shapes
def test_identical_rows_collapse_in_every_shape(shape: str) -> None:
    run = cranfield.read_run(SHAPES[shape]((["q1", "q2", "q1"], ["d1", "d1", "d1"], [1.0, 5.0, 1.0])))
    assert len(run) == 2
    assert "duplicates-collapsed" in dict(run.origin.notes)


@every_shape
def test_infinite_scores_are_fine_in_every_shape(shape: str) -> None:
    run = cranfield.read_run(SHAPES[shape]((["q"] * 3, ["a", "b", "c"], [float("-inf"), float("inf"), 0.0])))
    assert list(run.of("q")) == ["b", "c", "a"]


@pytest.mark.parametrize("shape", ["polars", "pandas", "pyarrow", "arrays", "dict"])
def test_infinite_grades_are_refused_in_every_shape(shape: str) -> None:
    shapes = {**SHAPES, **{n: as_frame(f, "grade") for n, f in FRAMES.items()}}
    with pytest.raises(DataError, match="infinite"):
        cranfield.read_qrels(shapes[shape]((["q1"], ["d1"], [float("inf")])))


FRAMES: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "polars": polars.DataFrame,
    "pandas": pandas.DataFrame,
    "pyarrow": pyarrow.table,
}


@every_shape
def test_ids_are_strings_end_to_end_in_every_shape(shape: str) -> None:
    documents = ["0001", "1", "NA", "null", "nan", "None", "1e3", " ", "é", "d\u00a01", '"', "TRUE"]
    run = cranfield.read_run(SHAPES[shape]((["007"] * 12, documents, [float(-i) for i in range(12)])))
    assert run.topics == ["007"]
    assert list(run.of("007")) == documents


@every_shape
def test_whole_numbers_are_ids_too(shape: str) -> None:
    run = cranfield.read_run(SHAPES[shape](([1, 1, 2], [10, 2**62, 10], [3.0, 2.0, 1.0])))
    assert run.to_dict() == {"1": {"10": 3.0, str(2**62): 2.0}, "2": {"10": 1.0}}


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@every_shape
def test_order_of_rows_never_counts(shape: str, order: tuple[int, ...]) -> None:
    """Ties and all: d1, the relevant one, ties with d0 and d2, and by id stands between them."""
    rows = [("q1", "d0", 1.0), ("q1", "d1", 1.0), ("q1", "d2", 1.0), ("q2", "d1", 0.0)]
    topics, documents, scores = (list(column) for column in zip(*(rows[i] for i in order), strict=True))
    check_rr({"q2": {"d1": 1}, "q1": {"d1": 1}}, SHAPES[shape]((topics, documents, scores)), (1 / 2 + 1) / 2)


@pytest.mark.parametrize("names", list(itertools.permutations(["score", "topic", "document"])))
@pytest.mark.parametrize("library", FRAMES)
def test_order_of_columns_never_counts(library: str, names: tuple[str, ...]) -> None:
    columns = {"topic": ["q1", "q1"], "document": ["d2", "d1"], "score": [9.5, 8.5]}
    check_rr({"q1": {"d1": 1}}, FRAMES[library]({name: columns[name] for name in names}), 0.5)


TABLE = pandas.DataFrame({"topic": ["1", "1"], "document": ["7", "8"], "score": [2, 1]})
PANDAS: Mapping[str, Callable[[], Any]] = {
    "object": lambda: TABLE.astype({"topic": object, "document": object}),
    "string": lambda: TABLE.astype({"topic": "string", "document": "string"}),
    "arrow strings": lambda: TABLE.astype({"topic": "string[pyarrow]", "document": "string[pyarrow]"}),
    "category": lambda: TABLE.astype({"topic": "category", "document": "category"}),
    "integer ids": lambda: TABLE.astype({"topic": "int16", "document": "uint64"}),
    "nullable integer ids": lambda: TABLE.astype({"topic": "int64", "document": "int64"}).astype({"document": "Int64"}),
    "mixed objects": lambda: TABLE.assign(document=pandas.Series(["7", 8], dtype=object)),
    "float16 scores": lambda: TABLE.astype({"score": "float16"}),
    "float32 scores": lambda: TABLE.astype({"score": "float32"}),
    "int8 scores": lambda: TABLE.astype({"score": "int8"}),
    "uint64 scores": lambda: TABLE.astype({"score": "uint64"}),
    "nullable scores": lambda: TABLE.astype({"score": "Float64"}),
    "any index": lambda: TABLE.set_axis([5, 5], axis=0),
    "text index": lambda: TABLE.set_axis(["x", "y"], axis=0),
    "reversed": lambda: TABLE.iloc[::-1],
    "topic as index": lambda: TABLE.set_index("topic"),
    "both ids as index": lambda: TABLE.set_index(["topic", "document"]),
    "a slice": lambda: pandas.concat([TABLE.assign(topic="0"), TABLE, TABLE.assign(topic="0")]).iloc[2:4],
}


@pytest.mark.parametrize("made", [pytest.param(made, id=name) for name, made in PANDAS.items()])
def test_dtype_and_index_of_pandas_never_count(made: Callable[[], Any]) -> None:
    frame = made()
    before = frame.copy()
    assert cranfield.read_run(frame).to_dict() == {"1": {"7": 2.0, "8": 1.0}}
    pandas.testing.assert_frame_equal(frame, before)


POLARS: Mapping[str, Callable[[polars.DataFrame], polars.DataFrame]] = {
    "strings": lambda frame: frame,
    "categorical": lambda frame: frame.with_columns(polars.col("topic", "document").cast(polars.Categorical)),
    "enum": lambda frame: frame.with_columns(polars.col("document").cast(polars.Enum(["8", "x", "7"]))),
    "integers": lambda frame: frame.with_columns(polars.col("topic", "document").cast(polars.UInt8)),
    "binary": lambda frame: frame.with_columns(polars.col("document").cast(polars.Binary)),
    "float32": lambda frame: frame.with_columns(polars.col("score").cast(polars.Float32)),
    "chunks": lambda frame: polars.concat([frame.head(1), frame.tail(1)], rechunk=False),
    "slice": lambda frame: polars.concat([frame.with_columns(topic=polars.lit("0")), frame]).slice(2, 2),
}


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in POLARS.items()])
def test_dtype_and_chunks_of_polars_never_count(change: Callable[[polars.DataFrame], polars.DataFrame]) -> None:
    frame = change(polars.DataFrame({"topic": ["1", "1"], "document": ["7", "8"], "score": [2, 1]}))
    assert cranfield.read_run(frame).to_dict() == {"1": {"7": 2.0, "8": 1.0}}


ARROW_IDS = ("string", "large_string", "string_view", "binary", "large_binary", "int32", "dictionary")


@pytest.mark.parametrize("name", ARROW_IDS)
def test_arrow_types_never_count(name: str) -> None:
    kind = pyarrow.dictionary(pyarrow.int8(), pyarrow.string()) if name == "dictionary" else getattr(pyarrow, name)()
    plain = pyarrow.table({"topic": ["0", "1", "1"], "document": ["5", "7", "8"], "score": [3, 2, 1]})
    if name == "int32":
        ids = {c: pyarrow.array([int(x) for x in plain[c].to_pylist()], kind) for c in ("topic", "document")}
    elif name == "dictionary":
        ids = {c: plain[c].dictionary_encode() for c in ("topic", "document")}
    else:
        ids = {c: plain[c].cast(kind) for c in ("topic", "document")}
    table = pyarrow.table({**ids, "score": plain["score"]}).slice(1)
    assert cranfield.read_run(table).to_dict() == {"1": {"7": 2.0, "8": 1.0}}


@pytest.mark.parametrize("shape", ["polars", "pandas", "pyarrow", "arrays", "dict"])
def test_true_and_false_are_grades_in_every_shape(shape: str) -> None:
    shapes = {**SHAPES, **{n: as_frame(f, "grade") for n, f in FRAMES.items()}}
    qrels = cranfield.read_qrels(shapes[shape]((["q1", "q1"], ["d1", "d2"], [True, False])))
    assert qrels.to_dict() == {"q1": {"d1": 1.0, "d2": 0.0}}


@pytest.mark.parametrize("library", FRAMES)
def test_row_and_column_of_a_fault_in_a_frame_are_named(library: str) -> None:
    rows = 100_000
    scores = [float(i) for i in range(rows)]
    scores[77_777] = float("nan")
    frame = {"topic": ["q"] * rows, "document": [str(i) for i in range(rows)], "score": scores}
    with pytest.raises(DataError, match=r"row 77,?777 .*'score'"):
        cranfield.read_run(FRAMES[library](frame))


def test_columns_with_unknown_names_are_answered_with_the_accepted_ones() -> None:
    frame = polars.DataFrame({"a": ["q"], "b": ["d"], "c": [1.0]})
    with pytest.raises(DataError, match=r"'a', 'b', 'c'[^$]*query_id[^$]*docno") as caught:
        cranfield.read_run(frame)
    assert "columns=" in str(caught.value)
    named = cranfield.read_run(frame, reading=Reading(columns={"topic": "a", "document": "b", "score": "c"}))
    assert named.to_dict() == {"q": {"d": 1.0}}


def test_one_column_name_twice_is_refused() -> None:
    """Which of the two is meant? Taking either in silence may give a wrong number."""
    with pytest.raises(DataError, match="score"):
        cranfield.read_run(io.BytesIO(b"topic,document,score,score\nq1,d1,1,2\n"))
    twice = pandas.DataFrame([["q1", "d1", 1.0, 2.0]], columns=["topic", "document", "score", "score"])
    with pytest.raises(DataError, match="score"):
        cranfield.read_run(twice)


REFUSED_ARRAYS: Mapping[str, tuple[Any, Any, Any]] = {
    "fewer topics": (["q1"], [["a", "b"], ["c", "d"]], [[2.0, 1.0], [2.0, 1.0]]),
    "fewer scores": (["q1"], [["a", "b"]], [[2.0]]),
    "ragged lists": (["q1", "q2"], [["a", "b"], ["c"]], [[2.0, 1.0], [2.0]]),
    "topics in two dimensions": ([["q1"]], [["a"]], [[1.0]]),
    "single values": ("q1", "a", 1.0),
    "masked scores": (["q1"], [["a", "b"]], np.ma.masked_array([[2.0, 1.0]], mask=[[True, False]])),
    "complex scores": (["q1"], [["a"]], [[1j]]),
    "dates as scores": (["q1"], [["a"]], np.array([["2020-01-01"]], dtype="datetime64[D]")),
}


@cases(REFUSED_ARRAYS)
def test_arrays_that_do_not_fit_are_refused(case: tuple[Any, Any, Any]) -> None:
    with pytest.raises((DataError, TypeError), match=r"shapes|topics, but|must be numbers|masked|missing|ragged"):
        cranfield.read_run(case)


def test_unsigned_ids_do_not_wrap_around_to_padding() -> None:
    """2^64 - 1 has the bits of -1, with which FAISS fills short lists."""
    run = cranfield.read_run((["q"], np.array([[2**64 - 1, 2**63, 5]], dtype=np.uint64), np.array([[3.0, 2.0, 1.0]])))
    assert list(run.of("q")) == [str(2**64 - 1), str(2**63), "5"]


def test_unsigned_ids_in_frames_are_read_or_refused() -> None:
    frame = polars.DataFrame(
        {"topic": ["q"], "document": polars.Series([2**64 - 1], dtype=polars.UInt64), "score": [1]}
    )
    try:
        outcome = str(list(cranfield.read_run(frame).of("q")))
    except (DataError, TypeError) as error:
        outcome = str(error)
    assert "'document'" in outcome or outcome == f"['{2**64 - 1}']"


def test_dict_of_ids_that_are_the_same_text_conflicts() -> None:
    documents: dict[str, dict[str | int, float]] = {"q": {1: 1.0, "1": 2.0}}
    with pytest.raises(DataError, match="twice"):
        cranfield.read_run(documents)
    topics: dict[str | int, dict[str, int]] = {1: {"d": 1}, "1": {"d": 0}}
    with pytest.raises(DataError, match="twice"):
        cranfield.read_qrels(topics)


def test_dict_of_ids_that_are_the_same_text_and_agree_is_reported() -> None:
    documents: dict[str, dict[str | int, float]] = {"q": {1: 1.0, "1": 1.0}}
    run = cranfield.read_run(documents)
    assert run.to_dict() == {"q": {"1": 1.0}}
    assert "duplicates-collapsed" in dict(run.origin.notes)


def test_dict_entries_are_named_in_errors() -> None:
    with pytest.raises(DataError, match="topic 'q2', document 'd7'"):
        cranfield.read_run({"q1": {"d1": 1.0}, "q2": {"d7": float("nan")}})
    with pytest.raises(DataError, match="d7"):
        cranfield.read_run({"q2": {"d7": 10**400}})


def test_half_a_character_is_refused_as_id() -> None:
    with pytest.raises(DataError):
        cranfield.read_run({"q": {"d\ud800": 1.0}})


def test_inputs_are_left_as_they_were() -> None:
    qrels, run = {"q1": {"d1": 1}}, {"q1": {"d2": 9.5, "d1": 8.5}}
    cranfield.evaluate(qrels, run, "RR")
    assert list(run["q1"]) == ["d2", "d1"]
    assert qrels == {"q1": {"d1": 1}}


WRONG_TYPES: Mapping[str, Any] = {
    "None": None,
    "a number": 3,
    "bytes": RUN,
    "a class": dict,
    "a list of strings": ["q1", "d1"],
    "a list of numbers": [1.0, 2.0],
    "a list of lists": [["q1", "d1", 1.0]],
    "a set": {"q1"},
    "a dict of numbers": {"q1": 1.0},
    "a dict of sets": {"q1": {"d1", "d2"}},
    "a column alone": polars.Series([1, 2]),
    "a lazy frame": polars.DataFrame({"topic": ["q"]}).lazy(),
    "a one-dimensional array": np.zeros(3),
}


@pytest.mark.parametrize("read", [cranfield.read_run, cranfield.read_qrels])
@cases(WRONG_TYPES)
def test_wrong_types_are_answered_with_what_is_accepted(read: Callable[[Any], object], case: Any) -> None:
    with pytest.raises(TypeError, match="expected"):
        read(case)


def test_a_run_is_no_qrels_nor_the_other_way_round() -> None:
    qrels, run = cranfield.read_qrels({"q1": {"d1": 1}}), cranfield.read_run({"q1": {"d1": 1.0}})
    with pytest.raises(TypeError, match="Run"):
        cranfield.evaluate(run, run, "RR")
    with pytest.raises(TypeError, match="Qrels"):
        cranfield.evaluate(qrels, qrels, "RR")


def test_dict_records_are_read_or_answered_with_what_is_accepted() -> None:
    try:
        outcome = str(cranfield.read_run([{"query_id": "q1", "doc_id": "d1", "score": 1.0}]).to_dict())
    except TypeError as error:
        outcome = str(error)
    assert "expected" in outcome or outcome == "{'q1': {'d1': 1.0}}"


EMPTY: Mapping[str, tuple[Any, Any]] = {
    "no judgements": ({}, {"q1": {"d1": 1.0}}),
    "judgements of nothing": ({"q1": {}}, {"q1": {"d1": 1.0}}),
    "no results": ({"q1": {"d1": 1}}, {}),
    "results without documents": ({"q1": {"d1": 1}}, {"q1": {}}),
    "no topic in common": ({"q1": {"d1": 1}}, {"q2": {"d1": 1.0}}),
    "nothing relevant": ({"q1": {"d1": 0, "d2": -1}}, {"q1": {"d1": 1.0}}),
    "an empty frame": ({"q1": {"d1": 1}}, polars.DataFrame({"topic": [], "document": [], "score": []})),
    "an empty list of records": ({"q1": {"d1": 1}}, iter(())),
}


@cases(EMPTY)
def test_nothing_to_evaluate_is_an_error_and_not_zero(case: tuple[Any, Any]) -> None:
    with pytest.raises((DataError, TypeError)):
        cranfield.evaluate(*case, "RR")


def test_no_run_and_no_measure_are_usage_errors() -> None:
    with pytest.raises(UsageError, match="no run"):
        cranfield.evaluate({"q1": {"d1": 1}}, [], "RR")
    with pytest.raises(UsageError, match="no measure"):
        cranfield.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 1.0}}, [])


WRONG_MEASURES: Mapping[str, str] = {
    "P@0": "cutoff must be a whole number from 1, not 0",
    "P@-5": "cutoff must be a whole number from 1, not -5",
    "P@5.0": "cutoff must be a whole number from 1, not 5.0",
    "P@'5'": "cutoff must be a whole number from 1, not '5'",
    "P@True": "cutoff must be a whole number from 1, not True",
    "P@x": "",
    "P@": "unknown measure",
    "P": "P needs a cutoff",
    "P_0": "cutoff must be a whole number from 1, not 0",
    "P_-5": "-5",
    "P.5,0": "cutoff must be a whole number from 1, not 0",
    "P_5.5": "unknown measure",
    "P_1_0": "unknown measure",
    "P_x": "unknown measure",
    "P@5@10": "unknown measure",
    "P@" + "9" * 400: "",
    "recip_rank.10": "recip_rank",
    "map.10": "map",
    "nDGC@10": "did you mean nDCG",
    "nDcg@10": "did you mean nDCG",
    "mRR": "did you mean MRR",
    "Precison@5": "did you mean Precision",
    "xyzzy": "`cranfield measures` lists them",
    "": "unknown measure ''",
    "Rprec@10": "Rprec takes no cutoff",
    "AP(rel='x')": "rel must be a number, not 'x'",
    "AP(rel=x)": "rel must be a number, not 'x'",
    "AP(rel=None)": "rel must be a number",
    "AP(rel=1e999)": "rel must be a number",
    "AP(rel=1" + "0" * 400 + ")": "rel must be a number",
    "AP(rel=1, rel=2)": "rel",
    "AP(level=2)": "no parameter 'level'; it has rel",
    "AP(2)": "parameters are given by name",
    "AP(**{'rel': 2})": "",
    "AP(agg='median')": "agg must be",
    "AP(agg=[])": "agg must be",
    "AP(dcg='log2')": "no parameter 'dcg'",
    "RBP(p=1)": "p must be a number between 0 and 1",
    "RBP(p=80)": "p must be a number between 0 and 1",
    "nDCG(gain='log')@10": "gain must be",
    "nDCG(gain={})@10": "gain must be",
    "nDCG(gain={1: 'x'})@10": "gain must be",
    "nDCG(gain={[]: 1})@10": "",
    "nDCG(dcg='nonsense')@10": "dcg",
    "nDCG(gain='exp', gains='linear')@10": "gain",
    "nDCG(base=1)": "base must be",
    "IPrec@1.5": "recall must be a number from 0 to 1",
    "iprec_at_recall_nan": "recall",
    "InterpolatedAP(points=7)": "points must be 11, 10 or 9",
    "__import__('os')": "",
    "AP if 1 else P": "unknown measure",
    "(" * 500: "unknown measure",
}  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "says"), [pytest.param(m, s, id=m[:40] or "empty") for m, s in WRONG_MEASURES.items()]
)
def test_wrong_measures_are_refused(measure: str, says: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    outcome = command_line("evaluate", qrels, run, "-m", measure)
    assert (outcome.exit, outcome.stdout) == (2, ""), outcome.stderr
    assert says in outcome.stderr
    with pytest.raises(UsageError):
        cranfield.evaluate(qrels, run, measure)


def test_the_name_itself_is_the_first_suggestion_when_something_follows_it() -> None:
    with pytest.raises(UsageError, match=r"did you mean recip_rank\b"):
        cranfield.measures.parse_measure("recip_rank.10")


WRONG_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "depth 0": ("--depth", "0"),
    "depth -1": ("--depth", "-1"),
    "depth x": ("--depth", "x"),
    "threads 0": ("--threads", "0"),
    "unknown option": ("--no-such-option",),
    "unknown ties": ("--ties", "random"),
    "unknown topics": ("--topics", "all"),
    "unknown output format": ("-f", "xls"),
    "unknown input format": ("--format", "xls"),
    "unknown digest": ("-f", "json", "--digest", "nonsense"),
    "digest without a length": ("-f", "json", "--digest", "shake_128"),
}


@cases(WRONG_OPTIONS)
def test_wrong_options_are_usage_errors(case: tuple[str, ...], tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    outcome = command_line("evaluate", qrels, run, "-m", "RR", *case)
    assert (outcome.exit, outcome.stdout) == (2, ""), outcome.stderr
    assert outcome.stderr


def test_missing_arguments_are_usage_errors(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    for arguments in (("evaluate",), ("evaluate", qrels), ("no-such-command",)):
        outcome = command_line(*arguments)
        assert (outcome.exit, outcome.stdout) == (2, "")


def test_wrong_number_of_threads_in_the_environment_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, threads in (("1", 1), ("3", 3), ("0", 1), (str(10**6), MOST_THREADS)):
        monkeypatch.setenv("CRANFIELD_THREADS", given)
        assert thread_count(None) == threads
    monkeypatch.setenv("CRANFIELD_THREADS", "many")
    outcome = command_line("evaluate", *files(tmp_path), "-m", "RR")
    assert (outcome.exit, outcome.stdout) == (2, "")
    assert "CRANFIELD_THREADS" in outcome.stderr


@pytest.mark.parametrize(("score", "measure", "exit"), [(b"nan", "RR", 3), (b"1", "P@0", 2)], ids=["data", "usage"])
def test_refusals_never_show_a_traceback(score: bytes, measure: str, exit: int, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=b"q1 Q0 d1 1 " + score + b" t\n")
    outcome = command_process("evaluate", qrels, run, "-m", measure)
    assert (outcome.exit, outcome.stdout) == (exit, "")
    assert "Traceback" not in outcome.stderr


def test_broken_pipe_is_quiet(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    command = [sys.executable, "-m", "cranfield", "evaluate", str(qrels), str(run)]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, env=of_a_process())
    finally:
        os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def test_of_a_file_that_is_not_there_the_nearest_is_named(tmp_path: Path) -> None:
    for name in ("bm25.run.gz", "dense.run", "qrels.txt"):
        (tmp_path / name).write_bytes(ROW)
    (tmp_path / "dense").mkdir()

    def told(name: str | Path) -> str:
        with pytest.raises(DataError, match=r"^[^\n]*: no such file") as refused:
            cranfield.read_run(name)
        return "\n".join(str(refused.value).split("\n")[1:]).strip()

    assert told(tmp_path / "bm25.run") == f"Did you mean {tmp_path / 'bm25.run.gz'}?"
    assert told(tmp_path / "dens.run") == f"Did you mean {tmp_path / 'dense.run'}?"
    assert told(tmp_path / "nothing-like-it") == ""
    assert told(tmp_path / "runs" / "bm25.run") == f"There is no folder {tmp_path / 'runs'}."
    (tmp_path / "qrels.txt").write_bytes(QRELS)
    here = command_line("evaluate", "qrels.txt", "bm25.run", folder=tmp_path)
    assert (here.exit, here.stderr) == (3, "cranfield: bm25.run: no such file\n    Did you mean bm25.run.gz?\n")


def test_of_an_empty_input_it_is_said_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty.run").write_bytes(b"")
    (tmp_path / "head.csv").write_bytes(b"topic,document,score\n")

    def told(source: Any) -> str:
        with pytest.raises(DataError) as refused:
            cranfield.read_run(source)
        return str(refused.value)

    assert told(tmp_path / "empty.run").endswith(": is empty\n    Nothing was written to it: make it again.")
    assert told(io.StringIO("")).endswith(": is empty\n    It can be read only once.")
    assert told(tmp_path / "head.csv").endswith(
        ": has no rows\n    It has no line but blank ones, comments and a header."
    )
    assert told({"q1": {}}) == "the run: has no rows\n    Give at least one document."
    for kind in ("judges", "preferences"):
        with pytest.raises(DataError, match="is empty\n    Nothing was written to it: make it again"):
            cranfield.read_qrels(tmp_path / "empty.run", reading=Reading(judgements=kind))
