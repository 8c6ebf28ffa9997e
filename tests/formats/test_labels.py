"""Grades that are words: NTCIR's levels and letters, and tables of labels in every form of judgements."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest

import cranfield
from commands import command_line
from cranfield import Reading, read_qrels, read_run
from cranfield.errors import ArgumentError, DataError, UsageError
from cranfield.formats.labels import LEVELS, read_labels
from cranfield.formats.reading import DEFAULT
from cranfield.texts.content import kind_of
from cranfield.texts.writing import write_qrels, write_run

LEVELLED = "0001 clueweb12-0001 L2\n0001 clueweb12-0002 L0\n0002 clueweb12-0001 L3\n"
GRADES = {"0001": {"clueweb12-0001": 2.0, "clueweb12-0002": 0.0}, "0002": {"clueweb12-0001": 3.0}}
RUN = "0001 Q0 clueweb12-0002 1 2.5 x\n0001 Q0 clueweb12-0001 2 1.5 x\n0002 Q0 clueweb12-0001 1 1 x\n"
# As NTCIR's first workshops wrote them: topic, letter, document, and the letter cut in two.
LETTERED = "0001\tC\tgakkai-10176\t0 \n0001\tA\tgakkai-10187\t1 \n0001\tB\tgakkai-10218\t0 \n"
LETTERS = Reading(labels={"S": 3, "A": 2, "B": 1, "C": 0})


def read(text: str, reading: Reading = DEFAULT) -> dict[str, dict[str, float]]:
    return read_qrels(io.StringIO(text), reading=reading).to_dict()


def test_levels_of_ntcir_are_read_without_a_word() -> None:
    qrels = read_qrels(io.StringIO(LEVELLED))
    assert (qrels.to_dict(), qrels.origin.format, qrels.origin.notes) == (GRADES, "ntcir", ())
    assert read(LEVELLED.replace("\n", "\r\n")) == read(LEVELLED.replace(" ", "\t  ")) == GRADES
    assert read("\ufeff# WWW-2\n\n" + LEVELLED) == GRADES


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_lines_are_read_in_parts_and_give_the_same(threads: int) -> None:
    lines = [
        f"{topic:04} d{document:05} L{(topic * document) % 11}\n" for topic in range(60) for document in range(1500)
    ]
    qrels = read(f"{''.join(lines)}", Reading(threads=threads))
    assert len(qrels) == 60
    assert all(grade == (int(topic) * int(d[1:])) % 11 for topic, of in qrels.items() for d, grade in of.items())


def test_runs_beside_judgements_of_ntcir_keep_their_own_format(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(LEVELLED)
    (tmp_path / "a.run").write_text(RUN)
    plain = cranfield.evaluate(tmp_path / "q.txt", tmp_path / "a.run", "nDCG@10")
    named = cranfield.evaluate(tmp_path / "q.txt", tmp_path / "a.run", "nDCG@10", reading=Reading(format="ntcir"))
    given = cranfield.evaluate(GRADES, {"a": read_run(io.StringIO(RUN))}, "nDCG@10")
    assert plain.mean() == named.mean() == given.mean()


def test_letters_of_the_first_workshops_count_where_a_table_says_so() -> None:
    assert read(LETTERED) == {"0001": {"gakkai-10187": 1.0, "gakkai-10218": 0.0, "gakkai-10176": 0.0}}  # as TREC text
    qrels = read_qrels(io.StringIO(LETTERED), reading=LETTERS)
    assert qrels.to_dict() == {"0001": {"gakkai-10187": 2.0, "gakkai-10218": 1.0, "gakkai-10176": 0.0}}
    note = "grades are those of the letters in the second column, not the 0 or 1 in the last"
    assert qrels.origin.notes == (("letters-as-grades", note),)
    assert read("1 d1 S\n1 d2 B\n", LETTERS) == {"1": {"d1": 3.0, "d2": 1.0}}


def test_a_table_takes_the_place_of_the_levels() -> None:
    assert read("1 0 d1 L2\n", Reading(labels={"L2": 7})) == {"1": {"d1": 7.0}}
    with pytest.raises(DataError, match="The table of labels lacks L1"):
        read("1 0 d1 L2\n1 0 d2 L1\n", Reading(labels={"L2": 7}))


def of_frame(kind: str) -> Any:
    columns = {"topic": ["1", "1"], "document": ["d1", "d2"], "grade": ["A", "C"]}
    return pandas.DataFrame(columns) if kind == "pandas" else pyarrow.table(columns)


def parquet() -> io.BytesIO:
    out = io.BytesIO()
    pyarrow.parquet.write_table(of_frame("pyarrow"), out)
    return io.BytesIO(out.getvalue())


FORMS: dict[str, Any] = {
    "trec": lambda: io.StringIO("1 0 d1 A\n1 0 d2 C\n"),
    "ntcir": lambda: io.StringIO("1 d1 A\n1 d2 C\n"),
    "csv": lambda: io.StringIO('topic,document,grade\n1,d1,"A"\n1,d2,C\n'),
    "tsv": lambda: io.StringIO("topic\tdocument\tgrade\n1\td1\tA\n1\td2\tC\n"),
    "jsonl": lambda: io.StringIO('{"qid": 1, "doc": "d1", "grade": "A"}\n{"qid": 1, "doc": "d2", "grade": "C"}\n'),
    "json": lambda: io.StringIO('{"1": {"d1": "A", "d2": "C"}}'),
    "parquet": parquet,
    "dict": lambda: {"1": {"d1": "A", "d2": "C"}},
    "arrays": lambda: (["1", "1"], ["d1", "d2"], ["A", "C"]),
    "records": lambda: [{"topic": "1", "document": d, "grade": g} for d, g in (("d1", "A"), ("d2", "C"))],
    "pandas": lambda: of_frame("pandas"),
    "pyarrow": lambda: of_frame("pyarrow"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_numbers_in_every_form(form: str) -> None:
    assert read_qrels(FORMS[form](), reading=LETTERS).to_dict() == {"1": {"d1": 2.0, "d2": 0.0}}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "ntcir"])  # which nothing tells without a table
def test_labels_without_a_table_are_refused_with_the_table_to_write(form: str) -> None:
    with pytest.raises((DataError, ArgumentError), match=r"reading=Reading\(labels=\{'A': 2, 'C': 0\}\)"):
        read_qrels(FORMS[form]())


@pytest.mark.parametrize("form", FORMS)
def test_labels_are_not_for_scores(form: str) -> None:
    with pytest.raises((DataError, ArgumentError)):
        read_run(FORMS[form](), reading=LETTERS)


def test_groups_of_judgements_have_labels_too() -> None:
    subtopics = Reading(judgements="subtopics")
    assert read("1 1 d1 L2\n1 2 d1 L0\n1 2 d2 L1\n", subtopics) == {"1": {"d1": 2.0, "d2": 1.0}}  # NTCIR's Dqrels
    judges = Reading(judgements="judges", labels={"good": 1, "bad": 0})
    assert read("1 ann d1 good\n1 bob d1 bad\n", judges) == {"1": {"d1": 0.5}}
    csv = "topic,judge,document,grade\n1,ann,d1,good\n1,bob,d1,bad\n"
    rows = [
        json.dumps({"topic": "1", "judge": j, "document": "d1", "grade": g}) for j, g in (("a", "good"), ("b", "bad"))
    ]
    nested: Any = {"1": {"d1": {"ann": "good", "bob": "bad"}}}
    for source in (io.StringIO(csv), io.StringIO("\n".join(rows)), nested, io.StringIO(json.dumps(nested))):
        assert read_qrels(source, reading=judges).to_dict() == {"1": {"d1": 0.5}}
    with pytest.raises(DataError, match=r"labels=\{'bad': NUMBER, 'good': NUMBER\}"):
        read("1 ann d1 good\n1 bob d1 bad\n", Reading(judgements="judges"))


def test_a_header_line_is_not_taken_for_labels() -> None:
    with pytest.raises(DataError, match="If this is a header line") as refused:
        read("topic 0 document relevance\n1 0 d1 1\n")
    assert "labels" not in str(refused.value)
    with pytest.raises(DataError, match="Grades are labels here: relevant") as refused:
        read("1 0 d1 1\n1 0 d2 relevant\n")
    assert "header" not in str(refused.value)


@pytest.mark.parametrize(
    ("labels", "table"),
    [
        ("CAB", "--labels 'A=2,B=1,C=0' (S highly relevant"),
        ("BSCA", "--labels 'S=3,A=2,B=1,C=0' (S highly relevant"),
        ("ABCD", "--labels 'A=3,B=2,C=1,D=0' (if A is the best"),
        ("XY", "--labels 'X=NUMBER,Y=NUMBER' (0 for not relevant"),
    ],
)
def test_the_table_to_write_is_that_of_a_scale_that_is_known(labels: str, table: str) -> None:
    with pytest.raises(DataError) as refused:
        read("".join(f"1 0 d{letter} {letter}\n" for letter in labels))
    assert table in refused.value.at_prompt


def test_three_columns_with_a_letter_are_said_to_be_ntcir() -> None:
    with pytest.raises(DataError, match="looks like NTCIR's form"):
        read("1 d1 A\n1 d2 B\n")
    with pytest.raises(DataError, match=r"labels=\{'A': 2, 'B': 1\}"):
        read("1 d1 A\n1 d2 B\n", Reading(format="ntcir"))
    with pytest.raises(DataError, match=r"2 fields where ntcir needs 3 \(topic, document, grade\), or 4"):
        read("1 d1 L1\n1 L1\n", Reading(format="ntcir"))


def test_a_pool_of_documents_called_as_levels_is_no_judgements() -> None:
    with pytest.raises(DataError, match="looks like a pool that nobody has judged"):
        read("1 0 L1\n1 0 L2\n")


def test_the_description_on_top_of_a_run_of_ntcir_is_named() -> None:
    with pytest.raises(DataError, match="description that runs of NTCIR start with"):
        read_run(io.StringIO(f"<SYSDESC>BM25</SYSDESC>\n{RUN}"))


def test_tables_are_typed_or_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("S = 3\nA = 2\n")
    (tmp_path / "collection.toml").write_text('qrels = "q.txt"\n[labels]\nS = 3\nA = 2\n')
    typed = read_labels(" S=3, A=2 ")
    assert typed == read_labels(str(tmp_path / "own.toml")) == read_labels(str(tmp_path / "collection.toml"))
    (tmp_path / "wrong.toml").write_text('S = "high"\n')
    with pytest.raises(DataError, match=r"wrong.toml: the grade of the label 'S' is a number, not 'high'"):
        read_labels(str(tmp_path / "wrong.toml"))
    for wrong in ("", "A", "A=", "=1", "A=1,A=1", "A=nan", "A=inf", "1=2", "a b=1"):
        with pytest.raises(UsageError):
            read_labels(wrong)


def test_levels_are_written_and_read_again(tmp_path: Path) -> None:
    write_qrels(GRADES, tmp_path / "q.txt", format="ntcir")
    assert (tmp_path / "q.txt").read_text() == LEVELLED
    assert read_qrels(tmp_path / "q.txt").to_dict() == GRADES
    for grade in (0.5, -1, 100):
        with pytest.raises(DataError, match=f"document 'd1': the grade {grade} is no level of ntcir"):
            write_qrels({"1": {"d1": grade}}, tmp_path / "none.txt", format="ntcir")
    with pytest.raises(UsageError, match="ntcir is a format of judgements"):
        write_run({"1": {"d1": 1.0}}, tmp_path / "none.txt", format="ntcir")
    assert not (tmp_path / "none.txt").exists()
    assert len(LEVELS) == 100


def test_the_content_of_ntcir_is_judgements() -> None:
    assert kind_of(LEVELLED.encode(), "any.txt") == "qrels"
    assert kind_of(b"1 d1 A\n", "any.qrels") == "qrels"
    assert kind_of(b"1 d1 A\n", "any.txt") is None


def test_letters_are_converted_at_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.qrels").write_text(LETTERED)
    done = command_line("convert", "old.qrels", "-o", "-", "--to", "trec", "--labels", "A=2,B=1,C=0")
    assert done.stdout == "0001 0 gakkai-10187 2\n0001 0 gakkai-10218 1\n0001 0 gakkai-10176 0\n"
    assert "grades are those of the letters" in done.stderr
    done = command_line("convert", "old.qrels", "-o", "-", "--to", "ntcir", "--labels", "A=2,B=1,C=0")
    assert done.stdout.splitlines()[0] == "0001 gakkai-10187 L2"


def test_judgements_of_clef_and_fire_are_trec_text() -> None:
    fire = "176 Q0 1020830_nation_story_1151316.utf8 0\n176 Q0 1020906_frontpage_story_1173228.utf8 1\n"
    assert read(fire) == {
        "176": {"1020906_frontpage_story_1173228.utf8": 1.0, "1020830_nation_story_1151316.utf8": 0.0}
    }
    assert kind_of(fire.encode(), "any.txt") == "qrels"
    clef = "301-AH 0 ATS.940429.0093 0\r\n301-AH 0 LEMONDE94-000001-19940101 1\r\n"
    assert read(clef) == {"301-AH": {"LEMONDE94-000001-19940101": 1.0, "ATS.940429.0093": 0.0}}


@pytest.mark.parametrize("text", ["1 d1 S\n1 d2 B\n2 d1 C\n", "1 S d1 1\n1 B d2 0\n2 C d1 0\n"], ids=["three", "four"])
def test_a_label_that_the_table_lacks_is_named(tmp_path: Path, text: str) -> None:
    """A file is NTCIR's though its table is not whole; one of other words is not."""
    (tmp_path / "q").write_text(text)
    (tmp_path / "r").write_text("1 Q0 d1 1 2 t\n")
    done = command_line("evaluate", "q", "r", "--labels", "S=3,A=2,C=0", folder=tmp_path)
    assert done.exit == 3
    assert done.stderr.startswith("cranfield: q:2: grade 'B' is not a number\n")
    assert "The table of labels lacks B. Say which number each is: --labels 'S=3,A=2,C=0,B=NUMBER'" in done.stderr
    assert command_line("evaluate", "q", "r", "--labels", "S=3,B=2,C=0", folder=tmp_path).exit == 0
    small = command_line("evaluate", "q", "r", "--labels", "s=3,b=2,c=0", folder=tmp_path)  # no other reading of it
    assert (small.exit, "The table of labels lacks B, C, S" in small.stderr) == (3, True)


def test_letters_without_a_table_are_told_with_all_they_need(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 d1 S\n1 d2 B\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 2 t\n")
    done = command_line("evaluate", "q", "r", folder=tmp_path)
    assert "--format ntcir, and --labels with the number of each letter, as --labels S=3,A=2,B=1,C=0" in done.stderr
