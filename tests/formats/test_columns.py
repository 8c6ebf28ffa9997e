"""Columns with names of their own: which one is missing, what to do about it at each door, and that it is done."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import cranfield
from commands import OF_THE_SERVER, command_line
from cranfield import DataError, UsageError
from cranfield.cli import COMMANDS, cli, main
from cranfield.formats.layout import ACCEPTED
from cranfield.formats.reading import Reading
from engine_server import with_engine
from places import EXAMPLES, ROOT

SWAPPED = (
    "This looks like a run, where judgements are expected: are the two arguments swapped, or is a run given as both?"
)
NAMES = {"topic": "qid", "document": "docno", "score": "score", "grade": "rel"}
FORMS = ("csv", "tsv", "tsv.txt", "jsonl", "parquet", "pandas", "polars", "records")


def table(form: str, renamed: dict[str, str], kind: str, folder: Path, values: tuple[float, float] = (2, 1)) -> Any:
    """A run or judgements in a form, with some columns called otherwise."""
    names = [renamed.get(role, NAMES[role]) for role in ("topic", "document", kind)]
    rows: list[tuple[str, str, float]] = [("q1", "d1", values[0]), ("q1", "d2", values[1])]
    if form in ("csv", "tsv", "tsv.txt"):
        path = folder / f"table.{form.removeprefix('tsv.')}"
        delimiter = "," if form == "csv" else "\t"
        path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in (names, *rows)))
        return path
    entries = [dict(zip(names, row, strict=True)) for row in rows]
    if form == "records":
        return entries
    if form == "jsonl":
        path = folder / "table.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path
    library = pytest.importorskip("polars" if form == "polars" else "pandas")
    frame = library.DataFrame(entries)
    if form != "parquet":
        return frame
    pytest.importorskip("pyarrow")
    frame.to_parquet(folder / "table.parquet")
    return folder / "table.parquet"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "role"), [(k, r) for k in ("score", "grade") for r in ("topic", "document", k)])
def test_a_missing_column_is_named_alone_and_can_be_told(form: str, kind: str, role: str, tmp_path: Path) -> None:
    source = table(form, {role: "mine"}, kind, tmp_path)
    read: Any = cranfield.read_run if kind == "score" else cranfield.read_qrels
    with pytest.raises(DataError) as refused:
        read(source)
    assert f"no column for the {role} among " in str(refused.value)
    assert f"Say which it is when it is read, as reading=Reading(columns={{'{role}': 'mine'}})." in str(refused.value)
    assert f"Say which it is: --columns {role}=mine." in refused.value.at_prompt
    assert "--columns" not in str(refused.value)
    assert "when it is read" not in refused.value.at_prompt
    for other in {"topic", "document", "score", "grade"} - {role}:
        assert f"for the {other}" not in str(refused.value)
    told = read(source, reading=Reading(columns={role: "mine"}))
    assert told.to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert read(source, reading=Reading(columns={role: ("other", "mine")})).to_dict() == told.to_dict()


@pytest.mark.parametrize("form", FORMS)
def test_judgements_in_the_place_of_a_run_are_told(form: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as refused:
        cranfield.read_run(table(form, {}, "grade", tmp_path))
    assert "no column for the score, but one for the grade, 'rel'" in str(refused.value)
    assert "This looks like judgements, where a run is expected: is it in the right place?" in str(refused.value)
    said = "If 'rel' is the score all the same, say so: "
    assert f"{said}reading=Reading(columns={{'score': 'rel'}})." in str(refused.value)
    assert f"{said}--columns score=rel." in refused.value.at_prompt
    reading = Reading(columns={"score": "rel"})
    assert cranfield.read_run(table(form, {}, "grade", tmp_path), reading=reading).of("q1") == {"d1": 2.0, "d2": 1.0}


@pytest.mark.parametrize("form", FORMS)
def test_a_run_in_the_place_of_judgements_is_told_by_its_scores(form: str, tmp_path: Path) -> None:
    def run() -> Any:
        return table(form, {}, "score", tmp_path, (2.5, 1))

    with pytest.raises(DataError) as refused:
        cranfield.read_qrels(run())
    assert "the column 'score' has scores, not grades: 2.5" in str(refused.value)
    assert SWAPPED in str(refused.value)
    assert "If 'score' is the grade all the same, say so: --columns grade=score." in refused.value.at_prompt
    told = cranfield.read_qrels(run(), reading=Reading(columns={"grade": "score"}))
    assert told.of("q1") == cranfield.read_run(run()).of("q1") == {"d1": 2.5, "d2": 1.0}
    # BEIR has grades under this name, and grades may have fractions under their own.
    assert cranfield.read_qrels(table(form, {}, "score", tmp_path)).of("q1") == {"d1": 2.0, "d2": 1.0}
    assert cranfield.read_qrels(table(form, {}, "grade", tmp_path, (0.5, 0.25))).of("q1") == {"d1": 0.5, "d2": 0.25}


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("qid,docno,rank,score", "'rank', 'score'"),
        ("qid,docno,score,run_id", "'score', 'run_id'"),
        ("qid,docno,rank", "'rank'"),
        ("qid,docno,similarity,rank,tag", "'similarity', 'rank', 'tag'"),
    ],
)
def test_a_run_in_the_place_of_judgements_is_told_by_its_columns(header: str, shown: str, tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"{header}\n1,d1{',1' * (header.count(',') - 1)}\n")
    with pytest.raises(DataError, match=re.escape(f"no column for the grade, but those of a run, {shown}")) as refused:
        cranfield.read_qrels(path)
    assert SWAPPED in str(refused.value)
    assert cranfield.read_run(path).of("1") in ({"d1": 1.0}, {"d1": -1.0})
    path.write_text(f"{header},grade\n1,d1{',1' * header.count(',')}\n")
    assert cranfield.read_qrels(path).of("1") == {"d1": 1.0}


def test_swapped_tables_are_told_at_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("qid,docno,rel\n1,d1,1\n1,d2,0\n")
    (tmp_path / "beir.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n")
    (tmp_path / "r.csv").write_text("qid,docno,score\n1,d1,1.5\n1,d2,0.25\n")
    for judgements in ("q.csv", "beir.tsv"):
        right = command_line("evaluate", judgements, "r.csv", "-m", "AP", folder=tmp_path)
        assert (right.exit, right.stdout, right.stderr) == (0, "run      AP\nr    1.0000\n", "")
        for more in ((), ("--columns", "score=rel")):
            wrong = command_line("evaluate", "r.csv", judgements, "-m", "AP", *more, folder=tmp_path)
            assert (wrong.exit, wrong.stdout) == (3, "")
            assert SWAPPED in wrong.stderr


def test_several_missing_columns_are_told_together(tmp_path: Path) -> None:
    path = table("csv", {"document": "x", "score": "y"}, "score", tmp_path)
    with pytest.raises(DataError) as refused:
        cranfield.read_run(path)
    assert "no columns for document and score among 'qid', 'x', 'y'" in str(refused.value)
    assert "Say which is which: --columns document=NAME --columns score=NAME." in refused.value.at_prompt


def test_a_name_that_is_not_there_is_no_column(tmp_path: Path) -> None:
    path = table("csv", {}, "score", tmp_path)
    with pytest.raises(DataError, match=r"no column for the document \(not 'dcno'\) among 'qid', 'docno', 'score'"):
        cranfield.read_run(path, reading=Reading(columns={"document": "dcno"}))


def test_what_is_no_column_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no 'doc'"):
        cranfield.read_run(table("csv", {}, "score", tmp_path), reading=Reading(columns={"doc": "docno"}))
    for text, told in (("docno", "as document=mydoc, not 'docno'"), ("doc=x", "there is no 'doc'")):
        done = CliRunner().invoke(cli, ["check", "q", "--columns", text])
        assert isinstance(done.exception, UsageError)
        assert told in str(done.exception)


def test_a_first_row_is_not_taken_for_a_header(tmp_path: Path) -> None:
    """Ids may be words that are also names of columns; a row has a number in it, a header none."""
    path = tmp_path / "qrels.txt"
    path.write_text("topic\t0\tdoc\t1\nq2\t0\td2\t0\n")
    assert cranfield.read_qrels(path).to_dict() == {"topic": {"doc": 1.0}, "q2": {"d2": 0.0}}


def test_the_column_of_judges_can_be_told(tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text("qid,docno,who,rel\nq1,d1,ann,1\nq1,d1,bob,0\n")
    with pytest.raises(DataError) as refused:
        cranfield.read_qrels(path, reading=Reading(judgements="judges"))
    assert "no column for the judge among 'qid', 'docno', 'who', 'rel'" in str(refused.value)
    assert "--columns judge=who" in refused.value.at_prompt
    told = cranfield.read_qrels(path, reading=Reading(judgements="judges", columns={"judge": "who"}))
    assert told.groups == {"q1": ("ann", "bob")}


# Every command that reads runs or judgements, on files in which the document is called mydoc.
READERS: dict[str, str] = {
    "agreement": "qrels.csv again.csv",
    "check": "qrels.csv a.csv",
    "compare": "qrels.csv a.csv b.csv -m AP",
    "convert": "a.csv --kind run -o - --to trec",
    "correlate": "a.csv b.csv",
    "describe": "qrels.csv a.csv --kind qrels",
    "diagnose": "qrels.csv a.csv b.csv",
    "evaluate": "qrels.csv a.csv",
    "explain": "qrels.csv a.csv --topic 1",
    "fuse": "a.csv b.csv",
    "gate": "qrels.csv a.csv b.csv",
    "online interleave": "a.csv b.csv",
    "online link": "qrels.csv a.csv b.csv --resamples 100",
    "online rehearse": "qrels.csv a.csv b.csv --users 50 --resamples 100",
    "online simulate": "qrels.csv a.csv b.csv --users 5 -o simulated",
    "plan": "qrels.csv a.csv b.csv",
    "plot": "interpolated qrels.csv a.csv -o picture.json",
    "pool": "a.csv b.csv --depth 3",
    "probe": "http://localhost:9200/pond --topics pond-topics.tsv --rate 2000 --expect pond.csv",
    "report": "qrels.csv a.csv b.csv -m AP -o report.tex",
    "search": "pond.toml --grid k1=0.6,1.2 --tune pond.csv --repeats 1 --warm-up 0",
    "split": "qrels.csv",
    "trec_eval": "qrels.csv a.csv",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("columns")
    for name in ("pond.toml", "pond-documents.jsonl", "pond-topics.tsv", "pond.qrels"):
        (made / name).write_bytes((EXAMPLES / name).read_bytes())
    for name, source in (("a", "bm25.run"), ("b", "dense.run")):
        rows = [line.split() for line in (EXAMPLES / source).read_text().splitlines()]
        (made / f"{name}.csv").write_text("qid,mydoc,score\n" + "".join(f"{r[0]},{r[2]},{r[4]}\n" for r in rows))
    for name, source in (("qrels", "qrels.txt"), ("again", "qrels.txt"), ("pond", "pond.qrels")):
        rows = [line.split() for line in (EXAMPLES / source).read_text().splitlines()]
        (made / f"{name}.csv").write_text("qid,mydoc,rel\n" + "".join(f"{r[0]},{r[2]},{r[3]}\n" for r in rows))
    return made


def test_every_command_that_reads_tables_is_here() -> None:
    def has_columns(name: str) -> bool:
        command = cli.get_command(click.Context(cli), name)
        return command is not None and "columns" in [option.name for option in command.params]

    studies = {name for name in COMMANDS if name.startswith("study ")}  # their columns are those of answers
    assert {name for name in COMMANDS if has_columns(name)} - studies == set(READERS)
    logs = {name for name in COMMANDS if name.startswith("online ")}  # their columns are those of logs
    assert set(COMMANDS) - set(READERS) - studies - logs - OF_THE_SERVER == {"demo", "judge", "measures", "try"}


@pytest.mark.parametrize("name", READERS)
def test_every_command_names_the_option_and_takes_it(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    words = [with_engine(word) if name == "probe" else word for word in READERS[name].split()]
    monkeypatch.setattr(sys, "argv", ["cranfield", name, *words])
    with pytest.raises(SystemExit):
        main()
    assert "--columns document=mydoc" in capfd.readouterr().err
    done = CliRunner().invoke(cli, [name, *words, "--columns", "document=mydoc"])
    assert done.exit_code in ((0, 1) if name in ("check", "gate", "probe") else (0,)), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_the_documentation_names_every_role() -> None:
    page = (ROOT / "docs" / "inputs.md").read_text()
    assert "--columns document=my_doc" in page
    for role, names in ACCEPTED.items():
        assert f"| {role} | `{names[0]}`" in page


def test_no_column_is_two_things_at_once(tmp_path: Path) -> None:
    path = table("csv", {}, "score", tmp_path)
    with pytest.raises(DataError, match="the column 'docno' is asked to be two things at once"):
        cranfield.read_run(path, reading=Reading(columns={"topic": "docno", "document": "docno"}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("topic;document;score\nq1;d1;1\n", "the header has no comma, but semicolons"),
        ("q1,d1,3.0\nq1,d2,2.0\n", "the first line names no columns, but has values: 'q1', 'd1', '3.0'"),
    ],
)
def test_other_delimiters_and_missing_headers_are_told(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=told):
        cranfield.read_run(path)
