"""Judgements and topics of each part of a split, as files of their own: nothing of them is lost, nothing is added."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cranfield
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
    return judgement_files(read_splits(HALVES), read_qrels(str(path), reading=reading), reading)


class TestJudgements:
    def test_of_text_are_lines_as_they_stand_with_comments_in_every_part(self, tmp_path: Path) -> None:
        files = cut(TREC, tmp_path / "qrels.txt")
        assert files == {
            "train.qrels": b"# judged in spring\n1 0 d1 2\n1 it2 d2 0\n\n4 0 d1 1\n",
            "test.qrels": b"# judged in spring\n2 0 d1 1\n\n3 0 d9 -1\n3\t7  d3\t1.5\n",
        }

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


class TestTopics:
    def test_are_in_the_format_they_were_in(self, tmp_path: Path) -> None:
        made = split(list("123456"), test_share=0.5)
        files = topic_files(made, str(EXAMPLES / "pond-topics.tsv"))
        lines = (EXAMPLES / "pond-topics.tsv").read_text().splitlines(keepends=True)
        for part, topics in made.parts.items():
            kept = [lines[0], *(line for line in lines[1:] if line.split("\t")[0] in topics)]
            assert files[f"{part}.topics.tsv"].decode() == "".join(kept)

    def test_of_trec_keep_every_field(self, tmp_path: Path) -> None:
        top = (
            "<top>\n<num> Number: {0}\n<title> ducks {0}\n<desc> Description:\nSwim?\n<narr> Narrative:\nAll.\n</top>\n"
        )
        (tmp_path / "topics.51").write_text("".join(top.format(number) for number in (1, 2, 3, 4)))
        files = topic_files(read_splits(HALVES), str(tmp_path / "topics.51"))
        (tmp_path / "test").write_bytes(files["test.topics.51"])
        topics = cranfield.texts.read_topics(str(tmp_path / "test"))
        assert topics.ids == ("2", "3")
        assert topics.fields["narrative"] == ["All.", "All."]

    def test_of_a_collection_are_json_lines(self) -> None:
        files = topic_files(split(list("123456"), folds=2), str(EXAMPLES / "pond.toml"))
        assert sorted(files) == [f"fold{n}.{part}.topics.jsonl" for n in (1, 2) for part in ("test", "train")]

    def test_that_are_not_there_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "topics.tsv").write_text("id\ttitle\n1\tducks\n2\tgeese\n")
        with pytest.raises(DataError, match="has no text of 2 judged topics: 4, 3"):
            topic_files(read_splits(HALVES), str(tmp_path / "topics.tsv"))

    def test_under_other_ids_are_answered_with_how_to_say_so(self, tmp_path: Path) -> None:
        (tmp_path / "topics.tsv").write_text("id\ttitle\n" + "".join(f"00{n}\tducks\n" for n in (1, 2, 3, 4)))
        with pytest.raises(DataError, match="--ids number"):
            topic_files(read_splits(HALVES), str(tmp_path / "topics.tsv"))
        assert topic_files(read_splits(HALVES), str(tmp_path / "topics.tsv"), "number")["test.topics.tsv"] == (
            b"id\ttitle\n2\tducks\n3\tducks\n"
        )


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
