"""What is written is what is read again, for every pair of formats; and what cannot be is refused, never lost."""

from __future__ import annotations

import io
import itertools
import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import command_line
from cranfield import DataError, UsageError, convert, read_qrels, read_run, write_qrels, write_run
from cranfield.formats.reading import Reading
from cranfield.formats.writers import writable
from cranfield.texts import names, read_documents, read_topics
from cranfield.texts.collection import read_collection
from cranfield.texts.texts import Documents, Topics
from cranfield.texts.writing import write_collection, write_documents, write_topics
from places import COLLECTION

WRITTEN = {
    "run": [format.name for format in writable() if format.serves("score")],
    "qrels": [format.name for format in writable()],
}
# Texts that a careless reader or writer would change.
AWKWARD = [
    "plain words",
    "",
    " a blank before and after ",
    "\tin tabs\t",
    "two\nlines\n",
    "\n\nlines before and after\n\n",
    'quotes: "a", \'b\', ""c""',
    '"',
    "a,comma;and|others",
    "tags <b>bold</b> </TEXT> </DOC> <DOC> <top> </title> <!-- no --> <?x?>",
    "1 < 2 > 0, <4>, a<b, <",
    "AT&T, &amp; &lt; &#65; &nosuch; &blank;",
    "ünïcödé 漢字 🦆 \u00a0\u2028\u0085\u200b",
    "back\\slash \\n \\t",
    ".I 12\n.T\n.W\nnot a field",
    ".Well",
    "Topic: not a label",
    "Description: Description: twice",
    "Narrative:",
    "carriage\rreturn\r\nand line",
    "null",
    "NaN",
    "{}",
    "0",
    "#",
]
IDS = [
    "1",
    "001",
    "d-1",
    "FT911-1",
    "ü",
    "a:b",
    "NA",
    "null",
    "#2",
    "x&amp;y",
    "a<b>",
    "a,b",
    'q"q',
    "0.5",
    "-1",
    "[x]",
]


def same(one: Documents | Topics, other: Documents | Topics) -> bool:
    """Whether two tables hold the same texts; a field that is empty everywhere is no field."""

    def rows(texts: Documents | Topics) -> list[tuple[str, dict[str, str]]]:
        return [(id, {name: text for name, text in fields.items() if text}) for id, fields in texts.rows()]

    return type(one) is type(other) and rows(one) == rows(other)


def rng_texts(fields: list[str], seed: int) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    rng = random.Random(seed)
    return tuple(IDS), {field: rng.choices(AWKWARD, k=len(IDS)) for field in fields}


# What each format holds without loss; what a text may not contain.
DOCUMENT_FIELDS = {
    "trec": ["title", "text", "author", "date"],
    "smart": ["title", "author", "bibliography", "text", "keywords"],
    "msmarco": ["url", "title", "text"],
}
TOPIC_FIELDS = {
    "trec": ["title", "description", "narrative", "domain", "other"],
    "smart": ["title", "description", "narrative"],
    "msmarco": ["title"],
}
ANY_FIELDS = ["title", "text", "author", "url", "anything else"]


def held(text: str, format: str) -> str:
    """A text without what a format is known not to hold."""
    if format in ("tsv", "msmarco"):
        return " ".join(text.split("\t")).replace("\n", " ").replace("\r", " ")
    if format == "smart":
        return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n.", "\n .").replace(".I ", "I ")
    return text


def made(kind: str, formats: tuple[str, ...], seed: int) -> Any:
    """Documents or topics that all of these formats can hold."""
    of = DOCUMENT_FIELDS if kind == "documents" else TOPIC_FIELDS
    default = ANY_FIELDS if kind == "documents" else ["title", "description", "narrative", "anything else"]
    fields = [field for field in default if all(field in of.get(format, default) for format in formats)]
    if set(formats) == {formats[0]}:
        fields = of.get(formats[0], default)
    ids, columns = rng_texts(fields, seed)
    for format in formats:
        columns = {name: [held(text, format) for text in texts] for name, texts in columns.items()}
    return (Documents if kind == "documents" else Topics)(ids, columns)


WRITE: dict[str, Any] = {
    "documents": write_documents,
    "topics": write_topics,
    "run": write_run,
    "qrels": write_qrels,
}
READ: dict[str, Any] = {"documents": read_documents, "topics": read_topics, "run": read_run, "qrels": read_qrels}
TEXT_PAIRS = [(kind, *pair) for kind in ("documents", "topics") for pair in itertools.product(names(kind), names(kind))]


@pytest.mark.parametrize(("kind", "first", "second"), TEXT_PAIRS)
def test_texts_survive_every_pair_of_formats(kind: Any, first: str, second: str, tmp_path: Path) -> None:
    for seed in range(3):
        texts = made(kind, (first, second), seed)
        one, two = tmp_path / "one", tmp_path / "two"
        assert WRITE[kind](texts, one, format=first) == ()
        notes = tuple(note for _, note in READ[kind](one, reading=Reading(format=first)).notes)
        assert convert(one, two, kind=kind, to_format=second, reading=Reading(format=first)) == notes
        assert same(READ[kind](two, reading=Reading(format=second)), texts)


@pytest.mark.parametrize("kind", ["documents", "topics"])
def test_texts_are_recognised_by_what_is_written(kind: Any, tmp_path: Path) -> None:
    for format in names(kind):
        texts = made(kind, (format,), 1)
        if format == "msmarco":  # with a title it is told by the address in the second column
            main = texts.main[0] if kind == "topics" else texts.main[1]
            texts = replace(texts, fields={main: texts.fields[main]})
        WRITE[kind](texts, tmp_path / "x", format=format)
        assert same(READ[kind](tmp_path / "x"), texts), format


plain_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(plain_text, plain_text), min_size=1, max_size=4),
    st.sampled_from(["trec", "csv", "jsonl", "beir"]),
)
def test_any_text_survives_formats_that_hold_everything(rows: list[tuple[str, str]], format: str) -> None:
    ids = tuple(str(i) for i in range(len(rows)))
    documents = Documents(ids, {"title": [row[0] for row in rows], "text": [row[1] for row in rows]})
    topics = Topics(ids, {"title": [row[0] for row in rows], "description": [row[1] for row in rows]})
    for texts, kind in ((documents, "documents"), (topics, "topics")):
        out = io.BytesIO()
        WRITE[kind](texts, out, format=format)
        assert same(READ[kind](io.BytesIO(out.getvalue()), reading=Reading(format=format)), texts)


LIKE_A_FIELD = "a line that looks like the beginning of a field gets a blank before it"


def test_what_a_format_of_texts_cannot_hold_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"text": "a\tb"}, "msmarco", "tabs and ends of lines in a text become blanks (1: d1)"),
        ({"text": "a\nb"}, "tsv", "tabs and ends of lines in a text become blanks (1: d1)"),
        ({"text": "a", "author": "b"}, "msmarco", "MS MARCO's format has no field 'author' (1: d1)"),
        ({"text": "a", "year": "1"}, "smart", "SMART's format has no field 'year' (1: d1)"),
        (
            {"text": "a\n.T\nb"},
            "smart",
            f"{LIKE_A_FIELD} (1: d1)",
        ),
        ({"text": "a\rb"}, "smart", "carriage returns become ends of lines (1: d1)"),
        ({"text": "a", "Two Words": "b"}, "trec", "TREC documents have no field 'Two Words' (1: d1)"),
        ({"text": "a", "headline": "b"}, "trec", "TREC documents have no field 'headline' (1: d1)"),
    ]
    for fields, format, message in cases:
        documents = Documents(("d1",), {name: [text] for name, text in fields.items()})
        with pytest.raises(DataError) as caught:
            write_documents(documents, out, format=format)
        assert message in str(caught.value)
        assert not out.exists()
        assert list(write_documents(documents, out, format=format, lossy=True)) == [message]
        out.unlink()


def test_a_field_that_would_be_read_as_another_is_refused(tmp_path: Path) -> None:
    documents = Documents(("d1",), {"text": ["a"], "headline": ["b"], "Title ": ["c"]})
    for format in ("jsonl", "csv", "tsv", "parquet", "beir"):
        held_all = write_documents(documents, tmp_path / format, format=format, lossy=True)
        back = read_documents(tmp_path / format, reading=Reading(format=format))
        kept = {name: text for name, (text,) in back.fields.items() if text}
        assert kept == ({"text": "a", "headline": "b"} if format == "beir" else {"text": "a"})
        assert len(held_all) == (1 if format == "beir" else 2)


def test_ids_are_never_changed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for id, format in (("a\tb", "tsv"), ("a\nb", "msmarco"), (" a", "smart")):
        with pytest.raises(DataError, match="cannot be written"):
            write_topics(Topics((id,), {"title": ["x"]}), out, format=format, lossy=True)
    with pytest.raises(DataError, match="is not UTF-8"):
        write_topics(Topics(("\udce9",), {"title": ["x"]}), out, format="trec")
    for id, format in (("a b", "trec"), ("a\tb", "tsv"), ("a\nb", "csv")):
        for kind in ("run", "qrels"):
            with pytest.raises(DataError, match=f"cannot be written as {format}"):
                WRITE[kind]({"q": {id: 1}}, out, format=format, lossy=True)
    with pytest.raises(DataError, match="cannot be written as trec"):
        write_run({"\ufeffq": {"d": 1}}, out, format="trec")
    assert not list(tmp_path.iterdir())


# Runs and judgements

NUMBERS = [0.1, 1 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 3.0, 2**53 + 2.0, 123456.789, -17.25, 1e16, 1e22]


def a_table(formats: tuple[str, ...], values: list[float]) -> dict[str, dict[str, float]]:
    unfit = [format.writer.unfit for format in writable() if format.writer and format.name in formats]
    ids = [
        id for id in (*IDS, "with blank", "with\ttab", "é\u2028") if not any(pattern.search(id) for pattern in unfit)
    ]
    rng = random.Random(7)
    return {topic: {id: rng.choice(values) for id in rng.sample(ids, 9)} for topic in ids[:5]}


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [(kind, *pair) for kind, formats in WRITTEN.items() for pair in itertools.product(formats, formats)],
)
def test_tables_survive_every_pair_of_formats(kind: Any, first: str, second: str, tmp_path: Path) -> None:
    values = NUMBERS if kind == "run" else [0.0, 1.0, 2.0, -1.0, 0.5]
    values = values[:3] if "ntcir" in (first, second) else values  # it has levels
    ranks_only = kind == "run" and "msmarco" in (first, second)
    table = READ[kind](a_table((first, second), values), name="system")
    one, two = tmp_path / "one", tmp_path / "two"
    WRITE[kind](table, one, format=first, lossy=ranks_only)
    convert(one, two, kind=kind, to_format=second, lossy=ranks_only, reading=Reading(format=first))
    back = READ[kind](two, reading=Reading(format="tsv" if second == "beir" else second)).to_dict()
    if ranks_only:
        assert {topic: list(of) for topic, of in back.items()} == {t: list(of) for t, of in table.to_dict().items()}
    else:
        assert json.dumps(back) == json.dumps(table.to_dict())  # order and signs of zero included


def test_infinite_scores_survive(tmp_path: Path) -> None:
    run = {"q": {"a": float("inf"), "b": 1.0, "c": float("-inf")}}
    for format in ("trec", "csv", "tsv", "jsonl", "json", "parquet"):
        write_run(run, tmp_path / "x", format=format)
        assert read_run(tmp_path / "x", reading=Reading(format=format)).to_dict() == run


def test_ranks_are_those_that_count_and_agree_with_the_scores(tmp_path: Path) -> None:
    run = read_run({"q": {"a": 1.0, "b": 1.0, "c": 2.0}})
    write_run(run, tmp_path / "x.run", tag="t")
    assert (tmp_path / "x.run").read_text() == "q Q0 c 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 1 t\n"
    assert read_run(tmp_path / "x.run").table.rank_disagreements().sum() == 0


def test_what_a_format_of_runs_cannot_hold_is_refused(tmp_path: Path) -> None:
    run, out = {"q": {"a": 0.5, "b": 0.25}}, tmp_path / "out"
    with pytest.raises(DataError, match="scores are dropped, their order is kept"):
        write_run(run, out, format="msmarco")
    assert not out.exists()
    assert write_run(run, out, format="msmarco", lossy=True) == ("scores are dropped, their order is kept (1: q)",)
    ranks_only = read_run(out, reading=Reading(format="msmarco"))
    assert write_run(ranks_only, out, format="msmarco") == ()
    with pytest.raises(DataError, match="blanks in the tag become _"):
        write_run(run, out, format="trec", tag="my system")
    for tag, written in (("my system", "my_system"), ("  ", "run")):
        write_run(run, out, format="trec", tag=tag, lossy=True)
        assert read_run(out).origin.tag == written
    tagged = read_run(io.StringIO("q Q0 a 1 2.5 bm25\n"))
    assert write_run(tagged, out, format="json") == ("the tag 'bm25' is not written: json has no place for it",)
    subtopics = read_qrels({"q": {"d": {"1": 1, "2": 0}}}, reading=Reading(judgements="subtopics"))
    with pytest.raises(DataError, match="what is known besides the grade is dropped: subtopics"):
        write_qrels(subtopics, out, format="trec")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_ranks_are_written_from_one(format: str, tmp_path: Path) -> None:
    out = tmp_path / "a.run"
    write_run({"q": {"a": 0.5, "b": 0.75}, "r": {"c": 1.0}}, out, format=format)
    ranks: list[int]
    if format == "parquet":
        from pyarrow import parquet

        ranks = parquet.read_table(out).column("rank").to_pylist()
    elif format == "jsonl":
        ranks = [json.loads(line)["rank"] for line in out.read_text().splitlines()]
    else:
        header, *rows = (re.split("[,\t]", line) for line in out.read_text().splitlines())
        ranks = [int(row[header.index("rank")]) for row in rows]
    assert ranks == [1, 2, 1]


def test_a_title_that_begins_like_its_label_keeps_it_in_every_language(tmp_path: Path) -> None:
    fields = {"title": "Topic: ducks", "de-title": "Topic: Enten", "narrative": "Narrative: none"}
    write_topics({"1": fields}, tmp_path / "topics.txt", format="trec")
    assert read_topics(tmp_path / "topics.txt").fields == {name: [text] for name, text in fields.items()}


# Files


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_files_are_compressed_as_their_name_says(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.run{suffix}"
    write_run({"q": {"a": 1.0}}, path)
    assert (path.read_bytes()[:1] == b"q") == (suffix == "")
    assert read_run(path).to_dict() == {"q": {"a": 1.0}}
    first = path.read_bytes()
    write_run({"q": {"a": 1.0}}, path)
    assert path.read_bytes() == first


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    write_documents({"d1": "a"}, path)
    before = path.read_text()
    with pytest.raises(DataError, match="half a character"):
        write_documents({"d1": "a", "d2": "\ud800"}, path)
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DataError, match="cannot be written"):
        write_documents({"d1": "a"}, tmp_path / "no" / "folder.jsonl")


def test_a_file_may_be_converted_onto_itself_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "x.tsv", tmp_path / "link.tsv"
    path.write_text("1\tducks\n2\tgeese\n")
    link.symlink_to(path)
    convert(link, link, kind="documents", to_format="csv")
    assert link.is_symlink()
    assert path.read_text() == "id,text\n1,ducks\n2,geese\n"


def test_formats_follow_the_suffix(tmp_path: Path) -> None:
    documents = {"d1": {"title": "Ducks", "text": "They swim."}}
    starts = {
        "corpus.jsonl": '{"_id": "d1"',
        "x.jsonl": '{"id": "d1"',
        "x.csv": "id,title,text\n",
        "x.tsv": "id\ttitle\ttext\n",
        "x.sgml": "<DOC>\n<DOCNO>d1",
        "cran.all": ".I d1\n",
    }
    for name, start in starts.items():
        write_documents(documents, tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
    with pytest.raises(UsageError, match="does not say in which format"):
        write_documents(documents, tmp_path / "x.doc")
    with pytest.raises(UsageError, match="unknown format to write run in 'smart'"):
        write_run({"q": {"d": 1}}, tmp_path / "x", format="smart")


def test_a_collection_as_a_folder(tmp_path: Path) -> None:
    made = read_collection(
        documents={"d1": {"text": "They swim.", "author": "b"}},
        topics=Topics(("1",), {"title": ["ducks"], "description": ["How?"], "narrative": ["…"]}),
        qrels={"1": {"d1": 2, "d2": 0}},
    )
    assert write_collection(made, tmp_path / "ducks") == ()
    back = read_collection(tmp_path / "ducks")
    assert same(present(back.documents), present(made.documents))
    assert same(present(back.topics), present(made.topics))
    assert present(back.qrels).to_dict() == present(made.qrels).to_dict()


def test_a_collection_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    unfit = Topics(("1",), {"title": ["ducks"], "Title ": ["x"]})
    made = read_collection(documents={"d1": "They swim."}, topics=unfit)
    with pytest.raises(DataError, match="nothing was written"):
        write_collection(made, tmp_path / "ducks")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    for where in (tmp_path / "file", tmp_path / "file" / "ducks"):
        with pytest.raises(DataError, match="cannot be written"):
            write_collection(read_collection(documents={"d1": "a"}), where)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_collection_is_not_written_where_a_file_is_meant(tmp_path: Path) -> None:
    write_collection(read_collection(documents={"d1": "a\xe9"}, topics={"1": "ducks"}), tmp_path / "ducks")
    for where in ("-", io.StringIO(), tmp_path / "x.csv", tmp_path / "x.jsonl.gz"):
        with pytest.raises(
            UsageError, match="written as a folder in BEIR's form; to write a part of it, name it: --kind"
        ):
            convert(tmp_path / "ducks", where)
    with pytest.raises(UsageError, match="collections have no runs"):
        convert(tmp_path / "ducks", tmp_path / "x", kind="run")
    with pytest.raises(DataError, match="has no qrels"):
        convert(tmp_path / "ducks", tmp_path / "x.csv", kind="qrels")
    assert [path.name for path in tmp_path.iterdir()] == ["ducks"]
    (tmp_path / "ducks" / "queries.jsonl").write_bytes('{"_id": "1", "text": "caf\xe9"}'.encode("latin-1"))
    (told,) = convert(tmp_path / "ducks", tmp_path / "other")  # what is odd about a part is told too
    assert told.startswith("1 file not in UTF-8")


def test_a_part_of_a_collection_is_read_alone(tmp_path: Path) -> None:
    folder, out = tmp_path / "ducks", tmp_path / "x.csv"
    folder.mkdir()
    (folder / "old.qry").write_text(".I 007\n.W\nducks\n")
    (folder / "qrels.txt").write_text("1 0 d1 1\n")
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n{not JSON}')
    (told,) = convert(folder, out, kind="topics")
    assert "--ids position" in told
    assert convert(folder, out, kind="qrels") == ()
    with pytest.raises(DataError, match=r"corpus\.jsonl:2: not JSON"):
        convert(folder, out, kind="documents")


def test_the_format_of_the_files_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_text(".I 1\n.W\nducks\n")
    convert(tmp_path / "in", tmp_path / "x.csv", kind="documents", reading=Reading(format="smart"))
    assert (tmp_path / "x.csv").read_text() == "id,text\n1,ducks\n"


def test_languages_survive_where_one_is_the_title(tmp_path: Path) -> None:
    both = Topics(("1",), {"title": ["Enten"], "en-title": ["ducks"], "en-description": ["How?"]})
    write_topics(both, tmp_path / "x", format="trec")
    assert same(read_topics(tmp_path / "x"), both)
    for fields in ({"en-title": ["ducks"]}, {"title": ["Enten"], "en-desc": ["How?"]}):
        with pytest.raises(DataError, match="TREC topics have no field 'en-"):
            write_topics(Topics(("1",), fields), tmp_path / "y", format="trec")


def present(part: Any) -> Any:
    assert part is not None
    return part


# The command


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 0.30000000000000004 bm25\n")
    (tmp_path / "some.tsv").write_text("1\tducks\n")
    done = command_line("convert", "a.run", "-o", "a.csv", folder=tmp_path)
    assert (done.exit, done.stdout, done.stderr) == (0, "wrote a.csv\n", "")
    assert (tmp_path / "a.csv").read_text() == "topic,document,rank,score,tag\nq1,d1,1,0.30000000000000004,bm25\n"
    done = command_line("convert", "a.run", "-o", "-", "--to", "msmarco", folder=tmp_path)
    assert (done.exit, done.stdout) == (3, "")
    assert "scores are dropped" in done.stderr
    done = command_line("convert", "a.run", "-o", "-", "--to", "msmarco", "--lossy", folder=tmp_path)
    assert (done.exit, done.stdout) == (0, "q1\td1\t1\n")
    assert "warning: scores are dropped, their order is kept (1: q1)" in done.stderr
    done = command_line("convert", "some.tsv", "-o", "x.jsonl", folder=tmp_path)
    assert done.exit == 2
    assert "run, qrels, topics or documents? Say so with --kind" in done.stderr
    done = command_line(
        "convert", "some.tsv", "-o", "-", "--kind", "topics", "--to", "beir", "--ids", "position", folder=tmp_path
    )
    assert json.loads(done.stdout) == {"_id": "1", "text": "ducks", "metadata": {}}


@pytest.mark.skipif(not COLLECTION.is_dir(), reason="the data folder with the Cranfield collection is not here")
def test_the_cranfield_collection_survives(tmp_path: Path) -> None:
    documents = read_documents(COLLECTION / "cran.all.1400.gz")
    for format in ("smart", "trec", "beir", "csv", "parquet"):
        assert write_documents(documents, tmp_path / "x", format=format) == ()
        assert same(read_documents(tmp_path / "x"), documents), format
    run = read_run(COLLECTION / "runs" / "bm25.run.gz")
    for format in ("trec", "csv", "tsv", "jsonl", "json", "parquet"):
        write_run(run, tmp_path / "y", format=format)
        assert read_run(tmp_path / "y", reading=Reading(format=format)).to_dict() == run.to_dict()
