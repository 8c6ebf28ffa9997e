"""Judgements and topics of each part of a split, as files of their own: nothing of them is lost, nothing is added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Outcome, command_line
from cranfield import DataError, Reading, UsageError, read_qrels
from cranfield.planning import read_splits, split
from cranfield.planning.parts import judgement_files, topic_files
from places import EXAMPLES

TREC = "# judged in spring\n1 0 d1 2\n2 0 d1 1\n1 it2 d2 0\n\n3 0 d9 -1\n3\t7  d3\t1.5\n4 0 d1 1"
HALVES = {"folds": [{"train": ["1", "4"], "test": ["2", "3"]}]}


def cut(content: str | bytes, path: Path, reading: Reading | None = None) -> dict[str, bytes]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    reading = reading or Reading()
    return judgement_files(read_splits(HALVES), read_qrels(str(path), reading=reading), reading).files


class TestJudgements:
    def test_of_text_are_lines_as_they_stand(self, tmp_path: Path) -> None:
        files = cut(TREC, tmp_path / "qrels.txt")
        assert files == {
            "train.qrels": b"1 0 d1 2\n1 it2 d2 0\n4 0 d1 1\n",
            "test.qrels": b"2 0 d1 1\n3 0 d9 -1\n3\t7  d3\t1.5\n",
        }

    @pytest.mark.parametrize(
        ("name", "head", "row"),
        [("qrels.txt", "", "{} 0 d1 1\n"), ("qrels.csv", "topic,document,grade\n", "{},d1,1\n")],
    )
    def test_that_a_comment_has_are_in_no_part_and_it_is_told(
        self, tmp_path: Path, name: str, head: str, row: str
    ) -> None:
        """A judgement that was taken out by a # before it is as private as the others of its topic."""
        rows = [row.format(topic) for topic in range(1, 5)]
        secret = "# " + row.format("3").replace("d1", "private")
        path = tmp_path / name
        path.write_text(head + rows[0] + secret + "".join(rows[1:]))
        made = judgement_files(read_splits(HALVES), read_qrels(str(path)))
        assert made.files["train.qrels"].decode() == head + rows[0] + rows[3]
        assert made.files["test.qrels"].decode() == head + rows[1] + rows[2]
        assert [str(note) for note in made.notes] == [
            f"{path}: 1 comment in no part: nobody knows which topics they tell of"
        ]

    def test_of_a_topic_that_begins_with_a_number_sign_are_no_comments(self, tmp_path: Path) -> None:
        path = tmp_path / "qrels.txt"
        path.write_text("#1 0 d1 1\n#2 0 d1 1\n")
        halves = read_splits({"folds": [{"train": ["#1"], "test": ["#2"]}]})
        made = judgement_files(halves, read_qrels(str(path)))
        assert made.files == {"train.qrels": b"#1 0 d1 1\n", "test.qrels": b"#2 0 d1 1\n"}
        assert made.notes == ()

    def test_of_csv_keep_columns_that_nobody_knows(self, tmp_path: Path) -> None:
        text = (
            'judge,topic,document,grade,why\nann,1,d1,1,"clear, short"\nann,2,d1,0,\n"bob",3,d2,1,x\nbob,4,"d,3",2,\n'
        )
        files = cut(text, tmp_path / "qrels.csv")
        assert files["train.qrels"].decode() == text.replace("ann,2,d1,0,\n", "").replace('"bob",3,d2,1,x\n', "")
        assert files["test.qrels"].decode() == 'judge,topic,document,grade,why\nann,2,d1,0,\n"bob",3,d2,1,x\n'

    def test_of_tsv_with_columns_that_are_told(self, tmp_path: Path) -> None:
        text = "mine\tdoc\trel\n1\td1\t1\n2\td1\t0\n3\td1\t1\n4\td1\t1\n"
        files = cut(text, tmp_path / "qrels.tsv", Reading(columns={"topic": "mine"}))
        assert files["test.qrels"] == b"mine\tdoc\trel\n2\td1\t0\n3\td1\t1\n"

    def test_of_json_lines_and_of_json(self, tmp_path: Path) -> None:
        lines = [f'{{"qid": {topic}, "doc": "d1", "rel": 1, "note": "{topic}!"}}\n' for topic in (1, 2, 3, 4)]
        assert cut("".join(lines), tmp_path / "qrels.jsonl")["test.qrels"].decode() == lines[1] + lines[2]
        nested = {str(topic): {"d1": topic, "d2": 0.5} for topic in (1, 2, 3, 4)}
        test = json.loads(cut(json.dumps(nested), tmp_path / "qrels.json")["test.qrels"])
        assert test == {topic: nested[topic] for topic in "23"}

    def test_of_parquet_keep_columns_that_nobody_knows(self, tmp_path: Path) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pyarrow.table({"topic": [1, 2, 3, 4], "document": ["d"] * 4, "grade": [1, 0, 2, 1], "by": list("abcd")})
        parquet.write_table(table, tmp_path / "made.parquet")
        files = cut((tmp_path / "made.parquet").read_bytes(), tmp_path / "qrels.parquet")
        test = parquet.read_table(pyarrow.BufferReader(files["test.qrels"]))
        assert test.to_pydict() == {"topic": [2, 3], "document": ["d", "d"], "grade": [0, 2], "by": ["b", "c"]}

    def test_of_subtopics_keep_them(self, tmp_path: Path) -> None:
        text = "".join(f"{topic} {part} d1 {part - 1}\n" for topic in (1, 2, 3, 4) for part in (1, 2))
        files = cut(text, tmp_path / "qrels.txt", Reading(judgements="subtopics"))
        assert files["test.qrels"].decode() == "2 1 d1 0\n2 2 d1 1\n3 1 d1 0\n3 2 d1 1\n"

    def test_of_grades_that_are_words_keep_the_words(self, tmp_path: Path) -> None:
        text = "1 0 d1 good\n2 0 d1 poor\n3 0 d1 good\n4 0 d1 good\n"
        files = cut(text, tmp_path / "qrels.txt", Reading(labels={"good": 2, "poor": 0}))
        assert files["test.qrels"].decode() == "2 0 d1 poor\n3 0 d1 good\n"

    def test_of_a_compressed_file_are_plain(self, tmp_path: Path) -> None:
        import gzip

        assert cut(gzip.compress(TREC.encode()), tmp_path / "qrels.gz") == cut(TREC, tmp_path / "qrels.txt")

    def test_of_bytes_that_are_no_text_keep_them(self, tmp_path: Path) -> None:
        files = cut(b"1 0 caf\xe9 1\n2 0 caf\xe9 1\n3 0 d 1\n4 0 d 1\r\n", tmp_path / "qrels.txt")
        assert files["test.qrels"] == b"2 0 caf\xe9 1\n3 0 d 1\n"
        assert files["train.qrels"] == b"1 0 caf\xe9 1\n4 0 d 1\r\n"

    def test_that_have_changed_since_they_were_read_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "qrels.txt"
        path.write_text(TREC)
        qrels = read_qrels(str(path))
        path.write_text(TREC.replace("d1 2", "d1 1"))
        with pytest.raises(DataError, match="the judgements of train cannot be cut out of it"):
            judgement_files(read_splits(HALVES), qrels)

    def test_that_are_in_no_file_are_refused(self) -> None:
        with pytest.raises(UsageError, match="qrels: parts are cut from a file, and this is none"):
            judgement_files(read_splits(HALVES), read_qrels({"1": {"d": 1}}))


XML = """<?xml version="1.0"?>
<!DOCTYPE topics [<!ENTITY a "b">]>
<topics year="2012">
  <topic number="1" type="faceted">
    <query>ducks &amp; geese</query>
    <subtopic number="1" type="inf">Where do <b>ducks</b> live?</subtopic>
    <!-- of topic 1 -->
  </topic>
  <!-- topic 3 was easy -->
  <topic number="2"><query>swans</query></topic>
  <topic number="3"><query>herons</query><subtopic number="1" type="nav">page</subtopic></topic>
  <topic number="4"><query>owls</query></topic>
</topics>
"""
TOP = "<top>\n<num> Number: {0}\n<title> ducks {0}\n<desc> Description:\nSwim in d1 <b>?\n<odd x=1>o</odd>\n</top>\n\n"
JSON_LINES = [
    '{"_id":"1","text":"a","metadata":{"k":[1]}}\n',
    '{"_id": "2", "text": "b", "weight": 1.0}\n',
    '{"text": "c", "_id": 3, "none": null}\n',
    '{"_id": "4", "text": "d", "metadata": {}}\n',
]
AS_THEY_STAND = {
    "jsonl": ("topics.jsonl", "", JSON_LINES, ""),
    "tsv": ("topics.tsv", "Query_ID\tquery\tmine\n", [f"{n}\tducks {n}\t\n" for n in (1, 2, 3, 4)], ""),
    "csv": ("topics.csv", "QID,Query\r\n", ["1,a\r\n", '2,"b\r\nc, "" d"\r\n', '3,"d"\r\n', "4,\r\n"], ""),
    "msmarco": ("queries.tsv", "", [f"{n}\tducks {n}\n" for n in (1, 2, 3, 4)], ""),
    "trec": ("topics.51", "", [TOP.format(n) for n in (1, 2, 3, 4)], ""),
    "unclosed": ("topics.51", "", [TOP.format(n).replace("</top>", "") for n in (1, 2, 3, 4)], ""),
    "one line": ("t.xml", "<t>", [f"<topic number='{n}'><query>x</query></topic>" for n in (1, 2, 3, 4)], "</t>\n"),
    "smart": ("topics.qry", "", [f".I {n}\n.W\nducks {n}\n\n.Z\nzzz\n" for n in (1, 2, 3, 4)], ""),
}


def cut_topics(content: str | bytes, path: Path) -> dict[str, bytes]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    made = topic_files(read_splits(HALVES), str(path))
    assert made.notes == ()
    return made.files


class TestTopics:
    @pytest.mark.parametrize("form", AS_THEY_STAND)
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_are_cut_out_of_their_file_as_they_stand(self, tmp_path: Path, form: str, mark: str) -> None:
        name, head, records, end = AS_THEY_STAND[form]
        files = cut_topics(mark + head + "".join(records) + end, tmp_path / name)
        train, test = f"train.topics{Path(name).suffix}", f"test.topics{Path(name).suffix}"
        assert files[train].decode() == mark + head + records[0] + records[3] + end
        assert files[test].decode() == mark + head + records[1] + records[2] + end

    @pytest.mark.parametrize("form", ["jsonl", "tsv", "msmarco", "smart", "csv"])
    def test_that_end_without_an_end_of_line_get_one(self, tmp_path: Path, form: str) -> None:
        name, head, records, _ = AS_THEY_STAND[form]
        order = [records[n] for n in (0, 3, 2, 1)]
        files = cut_topics((head + "".join(order)).removesuffix("\n").removesuffix("\r"), tmp_path / name)
        assert files[f"test.topics{Path(name).suffix}"].decode().replace("\r", "") == (
            head + records[2] + records[1]
        ).replace("\r", "")

    def test_in_lines_that_end_as_on_old_machines(self, tmp_path: Path) -> None:
        files = cut_topics("id\ttitle\r1\ta\r2\tb\r3\tc\r4\td", tmp_path / "topics.tsv")
        assert files["train.topics.tsv"] == b"id\ttitle\r1\ta\r4\td\r"

    def test_of_xml_keep_subtopics_with_their_attributes_and_no_comment_between(self, tmp_path: Path) -> None:
        path = tmp_path / "topics.xml"
        path.write_text(XML)
        made = topic_files(read_splits(HALVES), str(path))
        lines = XML.splitlines(keepends=True)
        assert made.files["train.topics.xml"].decode() == "".join([*lines[:8], *lines[11:]])
        assert made.files["test.topics.xml"].decode() == "".join([*lines[:3], *lines[9:11], *lines[12:]])
        assert [str(note) for note in made.notes] == [
            f"{path}: 1 place with words outside of topics in no part: nobody knows which they tell of"
        ]

    def test_in_latin_1_keep_their_bytes(self, tmp_path: Path) -> None:
        records = [TOP.format(n).replace("ducks", "caf\xe9").encode("latin-1") for n in (1, 2, 3, 4)]
        files = cut_topics(b"".join(records), tmp_path / "topics.51")
        assert files["test.topics.51"] == records[1] + records[2]

    def test_of_a_compressed_file_are_plain(self, tmp_path: Path) -> None:
        import gzip

        name, _, records, _ = AS_THEY_STAND["jsonl"]
        files = cut_topics(gzip.compress("".join(records).encode()), tmp_path / f"{name}.gz")
        assert files["test.topics.jsonl"].decode() == records[1] + records[2]

    def test_of_parquet_keep_columns_and_types(self, tmp_path: Path) -> None:
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        table = pyarrow.table({"qid": [1, 2, 3, 4], "query": list("abcd"), "many": [[1], [2, 3], [], [4]]})
        parquet.write_table(table, tmp_path / "made.parquet")
        files = cut_topics((tmp_path / "made.parquet").read_bytes(), tmp_path / "topics.parquet")
        test = parquet.read_table(pyarrow.BufferReader(files["test.topics.parquet"]))
        assert test.to_pydict() == {"qid": [2, 3], "query": ["b", "c"], "many": [[2, 3], []]}

    def test_that_are_others_once_they_are_apart_are_refused(self, tmp_path: Path) -> None:
        """In SMART's format .W is the description where any topic has a title, and the query where none has."""
        path = tmp_path / "topics.qry"
        path.write_text("".join(f".I {n}\n{'.T' if n == 1 else '.W'}\nducks\n" for n in (1, 2, 3, 4)))
        with pytest.raises(DataError) as error:
            topic_files(read_splits(HALVES), str(path))
        assert str(error.value) == (
            f"{path}: the topics of test in the format smart cannot be taken out of it as they stand\n"
            "    Write it anew first: `cranfield convert` with --to jsonl."
        )

    def test_of_the_example_have_its_header(self) -> None:
        made = split(list("123456"), test_share=0.5)
        files = topic_files(made, str(EXAMPLES / "pond-topics.tsv")).files
        lines = (EXAMPLES / "pond-topics.tsv").read_text().splitlines(keepends=True)
        for part, topics in made.parts.items():
            kept = [lines[0], *(line for line in lines[1:] if line.split("\t")[0] in topics)]
            assert files[f"{part}.topics.tsv"].decode() == "".join(kept)

    def test_of_a_collection_are_json_lines(self) -> None:
        files = topic_files(split(list("123456"), folds=2), str(EXAMPLES / "pond.toml")).files
        assert sorted(files) == [f"fold{n}.{part}.topics.jsonl" for n in (1, 2) for part in ("test", "train")]

    def test_that_are_not_there_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "topics.tsv").write_text("id\ttitle\n1\tducks\n2\tgeese\n")
        with pytest.raises(DataError, match="has no text of 2 judged topics: 4, 3"):
            topic_files(read_splits(HALVES), str(tmp_path / "topics.tsv"))

    def test_under_other_ids_are_answered_with_how_to_say_so_and_written_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "topics.tsv"
        path.write_text("qid\ttitle\n" + "".join(f"00{n}\tducks\n" for n in (1, 2, 3, 4)))
        with pytest.raises(DataError, match="--ids number"):
            topic_files(read_splits(HALVES), str(path))
        made = topic_files(read_splits(HALVES), str(path), "number")
        assert made.files["test.topics.tsv"] == b"id\ttitle\n2\tducks\n3\tducks\n"
        assert [str(note) for note in made.notes] == [
            f"{path}: its topics get other ids, so that they are written anew, as tsv: what is in it besides their "
            "fields is left out"
        ]

    def test_whose_ids_are_the_same_by_another_rule_are_cut_all_the_same(self, tmp_path: Path) -> None:
        name, head, records, _ = AS_THEY_STAND["tsv"]
        (tmp_path / name).write_text(head + "".join(records))
        made = topic_files(read_splits(HALVES), str(tmp_path / name), "number")
        assert (made.files["test.topics.tsv"].decode(), made.notes) == (head + records[1] + records[2], ())


class TestCommand:
    def split(self, folder: Path, *given: str) -> Outcome:
        return command_line("split", EXAMPLES / "pond.qrels", *given, folder=folder)

    def test_files_are_called_as_parts_are(self, tmp_path: Path) -> None:
        given = ("--test-share", "0.5", "--with-qrels", "--with-topics", str(EXAMPLES / "pond-topics.tsv"))
        done = self.split(tmp_path, *given, "-o", "class")
        assert done.stdout.endswith("2 lists of topics beside it, with 4 files of judgements and topics\n")
        parts = [f"{part}.{end}" for part in ("test", "train") for end in ("qrels", "topics.tsv", "txt")]
        assert sorted(path.name for path in (tmp_path / "class").iterdir()) == ["splits.json", *parts]
        test = read_splits(tmp_path / "class" / "splits.json").folds[0].test
        assert (tmp_path / "class" / "test.txt").read_text().split() == list(test)
        assert set(read_qrels(str(tmp_path / "class" / "test.qrels")).topics) == set(test)

    def test_files_of_other_splits_are_not_left_among_them(self, tmp_path: Path) -> None:
        self.split(tmp_path, "--test-share", "0.5", "--with-qrels", "-o", "class")
        assert self.split(tmp_path, "--test-share", "0.5", "--with-qrels", "-o", "class").exit == 0
        for given in (("--folds", "2"), ("--test-share", "0.5")):
            done = self.split(tmp_path, *given, "-o", "class")
            assert done.exit == 3
            assert "class: has files of other splits: test.qrels, " in done.stderr

    def test_judgements_that_would_be_written_over_keep_the_whole_folder_as_it_is(self, tmp_path: Path) -> None:
        self.split(tmp_path, "--test-share", "0.5", "--with-qrels", "-o", "class")
        before = {path: path.read_bytes() for path in (tmp_path / "class").iterdir()}
        line = ["split", "class/test.qrels", "--test-share", "0.5", "--with-qrels", "-o", "class"]
        done = command_line(*line, folder=tmp_path)
        assert done.exit == 2
        assert "class/test.qrels is also read" in done.stderr
        assert {path: path.read_bytes() for path in (tmp_path / "class").iterdir()} == before

    def test_all_files_are_written_or_none(self, tmp_path: Path) -> None:
        """A place that cannot be written is known before anything is."""
        (tmp_path / "class" / "test.qrels").mkdir(parents=True)
        (tmp_path / "class" / "train.txt").write_text("mine\n")
        done = self.split(tmp_path, "--test-share", "0.5", "--with-qrels", "-o", "class")
        assert (done.exit, done.stdout) == (3, "")
        assert "class/test.qrels: cannot be written: it is a folder" in done.stderr
        assert sorted(path.name for path in (tmp_path / "class").iterdir()) == ["test.qrels", "train.txt"]
        assert (tmp_path / "class" / "train.txt").read_text() == "mine\n"

    def test_a_folder_that_was_made_in_vain_is_gone(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="cannot be written"):
            split(list("1234"), folds=2).write(tmp_path / "a" / "b", {"x" * 300: b""})
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            (("--with-qrels",), "--with-qrels writes a file for each part: name a folder for them, as -o class"),
            (("--with-qrels", "-o", "splits.json"), "--with-qrels writes a file for each part"),
            (("--with-topics", "t.tsv", "-o", "splits.json"), "--with-topics writes a file for each part"),
            (("--ids", "number", "-o", "class"), "--ids is about the ids of topics: name these, with --with-topics"),
        ],
    )
    def test_what_does_not_go_together_is_refused(self, tmp_path: Path, given: tuple[str, ...], told: str) -> None:
        done = self.split(tmp_path, *given)
        assert (done.exit, list(tmp_path.iterdir())) == (2, [])
        assert told in done.stderr
