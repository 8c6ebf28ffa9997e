"""An evaluation on a topic set: the same scores of its topics as among all, told wherever numbers are shown."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield import DataError, Experiment, Policy, Reading, UsageError
from cranfield.comparison import compare_collections
from cranfield.evaluation.findings import Finding
from cranfield.planning import read_splits, read_topic_set
from cranfield.plot.style import caption_of
from cranfield.policy import TopicSet
from cranfield.report.contents import gather
from cranfield.report.figures import figures
from cranfield.report.report_tables import policy_grid
from places import EXAMPLES

DRAW = random.Random(5)
DOCUMENTS = [f"d{number:02}" for number in range(30)]
# Only topic 1 has the highest grade, and the ids of the set are numbers, while not all are: their order differs.
QRELS = {
    topic: {d: DRAW.choice([0, 0, 1, 2, 4 if topic == "1" else 1]) for d in DRAW.sample(DOCUMENTS, 20)}
    for topic in ("1", "9", "10", "x", "caf\udce9")
}
RUNS = {
    name: {topic: {d: DRAW.uniform(0, 9) for d in DRAW.sample(DOCUMENTS, 15)} for topic in [*QRELS, "unjudged"]}
    for name in ("a", "b")
}
SET = TopicSet(["10", "9", "caf\udce9"], "the public half")
MEASURES = ["ERR@10", "nDCG@10", "AP", "GradedRBP", "Bpref", "INST", "NumRel"]


def same_as_among_all(qrels: object, measures: list[str], *, policy: Policy | None = None, **given: object) -> None:
    whole = cranfield.evaluate(qrels, RUNS, measures, policy=policy, **given)  # type: ignore[arg-type]
    settings = {} if policy is None else {"judges": policy.judges, "ties": policy.ties}
    part = cranfield.evaluate(qrels, RUNS, measures, policy=Policy(topic_set=SET, **settings), **given)  # type: ignore[arg-type]
    assert set(part.topics) == set(SET.topics)
    places = [whole.topics.index(topic) for topic in part.topics]
    assert np.array_equal(part.scores, whole.scores[:, :, places])
    assert not np.array_equal(part.means, whole.means)


class TestScores:
    def test_are_those_that_the_topics_have_among_all(self) -> None:
        same_as_among_all(QRELS, MEASURES)

    @pytest.mark.parametrize("judges", ["grade", "mean", "agreement", "majority"])
    def test_under_several_judges(self, judges: str) -> None:
        grades = {
            topic: {
                document: {"ann": grade, "bob": max(0, grade - number % 2), "eve": number % 3}
                for number, (document, grade) in enumerate(given.items())
            }
            for topic, given in QRELS.items()
        }
        reading = Reading(judgements="judges")
        same_as_among_all(grades, ["ERR@10", "nDCG@10"], policy=Policy(judges=judges), reading=reading)

    def test_of_subtopics(self) -> None:
        parts = {t: {d: {"s1": g, "s2": (g + 1) % 2} for d, g in docs.items()} for t, docs in QRELS.items()}
        same_as_among_all(parts, ["alpha_nDCG@10", "StRecall@5"], reading=Reading(judgements="subtopics"))

    def test_with_lengths_and_with_known_documents(self) -> None:
        same_as_among_all(QRELS, ["TBG", "U"], lengths={d: 50.0 + number for number, d in enumerate(DOCUMENTS)})
        known = {topic: {d: 1 for d, g in docs.items() if g > 1} or {"d00": 1} for topic, docs in QRELS.items()}
        same_as_among_all(QRELS, ["Novelty"], known=known)

    def test_bounds_are_the_same_too(self) -> None:
        lengths = {d: 50.0 + number for number, d in enumerate(DOCUMENTS)}
        whole, part = (
            cranfield.evaluate(QRELS, RUNS, ["TBG", "U", "ERR@10"], policy=policy, bounds=True, lengths=lengths)
            for policy in (Policy(), Policy(topic_set=SET))
        )
        assert whole.upper is not None
        assert part.upper is not None
        assert np.array_equal(part.upper, whole.upper[:, :, [whole.topics.index(topic) for topic in part.topics]])

    def test_of_a_run_alone_in_the_experiment_have_the_highest_grade_of_all(self) -> None:
        experiment = Experiment(QRELS, RUNS, Policy(topic_set=SET))
        alone = experiment.alone(experiment.tables()[0])
        assert alone.evaluate("ERR@10").mean()["a"] == experiment.evaluate("ERR@10").mean()["a"]
        assert alone.judgements().pool.max_grade == 4

    def test_under_other_decisions_on_topics(self) -> None:
        runs = {"a": RUNS["a"], "b": {"9": RUNS["b"]["9"]}}
        results = cranfield.evaluate(QRELS, runs, "AP", policy=Policy(topics="common", topic_set=SET))
        assert results.topics == ("9",)


class TestWhatIsTold:
    def test_judgements_that_count_in_part_are_noted_and_topics_outside_are_not(self) -> None:
        warnings = cranfield.evaluate(QRELS, RUNS, "AP", policy=Policy(topic_set=SET)).warnings
        assert Finding("topic-set", "qrels", "3 of 5 judged topics count: those of the public half", False) in warnings
        assert "extra-topics" not in {warning.code for warning in warnings}
        without = {warning.code for warning in cranfield.evaluate(QRELS, RUNS, "AP").warnings}
        assert "extra-topics" in without
        assert "topic-set" not in without

    def test_check_tells_the_same(self) -> None:
        codes = {finding.code for finding in cranfield.check(Experiment(QRELS, RUNS, Policy(topic_set=SET)))}
        assert "topic-set" in codes
        assert "extra-topics" not in codes

    def test_the_json_form_has_name_number_and_topics_and_the_input_as_it_was_read(self) -> None:
        document = cranfield.evaluate(QRELS, RUNS, "AP", policy=Policy(topic_set=SET)).to_dict()
        assert document["policy"]["topic_set"] == {"name": "the public half", "count": 3, "topics": list(SET.topics)}
        assert (document["inputs"][0]["topics"], document["inputs"][0]["rows"]) == (5, 100)
        assert "topic_set" not in cranfield.evaluate(QRELS, RUNS, "AP").to_dict()["policy"]

    def test_a_report_says_so(self) -> None:
        report = gather(Experiment(QRELS, RUNS, Policy(topic_set=SET)), "AP")
        row = next(row for row in policy_grid(report).rows if row[1] == "topic_set")
        assert row[2] == "3 topics of the public half"
        assert "topic-set" in {finding.code for finding in report.findings}
        assert report.title == "2 systems on qrels, 3 topics of the public half"
        from cranfield.report.page import render

        assert "2 systems, 3 topics of the public half; AP" in render(report)
        plain = gather(Experiment({t: QRELS[t] for t in "19"}, {"a": RUNS["a"]}), "AP")
        assert next(row[2] for row in policy_grid(plain).rows if row[1] == "topic_set") == "no"

    def test_a_run_without_a_topic_of_the_set_is_refused(self) -> None:
        with pytest.raises(DataError, match="no topic in common with the public half: the run has 1, the public half"):
            cranfield.evaluate(QRELS, {"1": {"d01": 1.0}}, "AP", policy=Policy(topic_set=SET))

    def test_topics_without_judgements_are_named(self) -> None:
        wanted = Policy(topic_set=TopicSet(["9", "77", "78"], "public.txt"))
        with pytest.raises(DataError, match=r"qrels: has no judgement of 2 topics of public\.txt: 77, 78"):
            cranfield.evaluate(QRELS, RUNS, "AP", policy=wanted)

    @pytest.mark.parametrize("topics", ["12", [1, 2], [], ["1", "1"]])
    def test_what_is_no_set_of_topics_is_refused(self, topics: object) -> None:
        with pytest.raises(UsageError, match="mine: "):
            TopicSet(topics, "mine")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="topic_set must be a TopicSet"):
            Policy(topic_set=topics)  # type: ignore[arg-type]

    def test_topics_may_be_any_iterable(self) -> None:
        assert TopicSet((topic for topic in "12"), "mine").topics == ("1", "2")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=r"mine: topics are a list of ids, each of them text, not \(1, 2\)"):
            TopicSet((number for number in (1, 2)), "mine")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="mine: topics are a list of ids, each of them text, not 3"):
            TopicSet(3, "mine")  # type: ignore[arg-type]

    def test_a_set_belongs_to_one_collection(self) -> None:
        both = {name: Experiment(QRELS, RUNS, Policy(topic_set=SET)) for name in ("web", "news")}
        with pytest.raises(UsageError, match="a topic set belongs to one collection"):
            compare_collections(both, "AP")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, split in two and in three folds."""
    home = tmp_path_factory.mktemp("class")
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        (home / name).write_bytes((EXAMPLES / name).read_bytes())
    assert command_line("split", "qrels.txt", "--test-share", "0.5", "-o", "halves", folder=home).exit == 0
    assert command_line("split", "qrels.txt", "--folds", "3", "-o", "folds.json", folder=home).exit == 0
    assert command_line("split", "qrels.txt", "--test-share", "0.5", "-o", "a:test.json", folder=home).exit == 0
    return home


class TestFiles:
    @pytest.mark.parametrize("source", ["halves/splits.json:test", "halves/splits.json:fold1.test", "halves/test.txt"])
    def test_a_part_of_splits_is_named_as_its_file_is(self, folder: Path, source: str) -> None:
        wanted = read_splits(folder / "halves" / "splits.json").folds[0].test
        topic_set = read_topic_set(str(folder / source))
        assert topic_set == TopicSet(wanted, str(folder / source))

    def test_of_several_folds_each_has_its_parts(self, folder: Path) -> None:
        splits = read_splits(folder / "folds.json")
        for number, fold in enumerate(splits.folds, start=1):
            assert read_topic_set(f"{folder}/folds.json:fold{number}.test").topics == fold.test
            assert read_topic_set(f"{folder}/folds.json:fold{number}.train").topics == fold.train

    def test_judgements_have_topics_too(self, folder: Path) -> None:
        assert read_topic_set(str(folder / "qrels.txt")).topics == tuple("123456")

    def test_a_colon_may_be_in_the_name_of_a_file(self, folder: Path) -> None:
        assert len(read_topic_set(f"{folder}/a:test.json:train").topics) == 3
        (folder / "list:test").write_text("1\n2\n")
        assert read_topic_set(f"{folder}/list:test").topics == ("1", "2")

    @pytest.mark.parametrize(
        ("source", "told"),
        [
            ("halves/splits.json", "Name a part: {0}:train or {0}:test."),
            ("halves/splits.json:all", "has no part 'all'\n    Name a part: {0}:train or {0}:test."),
            ("folds.json:test", "Name a part: {0}:fold1.train, {0}:fold1.test, … or {0}:fold3.test."),
            ("nowhere.json:test", "no such file"),
        ],
    )
    def test_another_part_is_answered_with_those_there_are(self, folder: Path, source: str, told: str) -> None:
        path = str(folder / source.partition(":")[0])
        with pytest.raises(DataError) as error:
            read_topic_set(str(folder / source))
        assert told.format(path) in str(error.value)

    @pytest.mark.parametrize("name", ["a:b.txt", "C:list.txt", "x:y:list"])
    def test_a_colon_that_follows_no_file_is_of_the_name(self, folder: Path, name: str) -> None:
        with pytest.raises(DataError) as error:
            read_topic_set(str(folder / name))
        assert str(error.value).startswith(f"{folder / name}: no such file")

    def test_a_collection_of_ir_datasets_is_no_file_with_a_part(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []

        def records(source: str, kind: str) -> list[dict[str, object]]:
            asked.append(f"{source} {kind}")
            return [{"query_id": topic, "doc_id": "d1", "relevance": 1} for topic in ("7", "9")]

        monkeypatch.setattr("cranfield.formats.records", records)
        assert read_topic_set("irds:some/test") == TopicSet(["7", "9"], "irds:some/test")
        assert asked == ["irds:some/test qrels"]

    @pytest.mark.parametrize("content", ["1\n3\n", "1 0 d1 1\n3 0 d1 0\n"])
    def test_a_pipe_is_read_once(self, folder: Path, content: str) -> None:
        import os
        import threading

        pipe = folder / f"pipe{len(content)}"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=[content])
        writer.start()
        assert read_topic_set(str(pipe)).topics == ("1", "3")
        writer.join()

    @pytest.mark.parametrize("content", ["2\n5\n", "2 0 d1 1\n5 0 d1 0\n"])
    def test_standard_input_is_read_once(self, folder: Path, content: str) -> None:
        line = ["evaluate", "qrels.txt", "bm25.run", "-m", "NumQ", "-f", "csv", "--topic-set", "-"]
        done = command_line(*line, folder=folder, stdin=content.encode())
        assert (done.exit, done.stdout.splitlines()[-1]) == (0, "bm25,2.0")

    def test_parts_may_come_from_standard_input_too(self, folder: Path) -> None:
        splits = (folder / "halves" / "splits.json").read_bytes()
        line = ["evaluate", "qrels.txt", "bm25.run", "-m", "NumQ", "-f", "csv", "--topic-set", "-:test"]
        assert command_line(*line, folder=folder, stdin=splits).stdout.splitlines()[-1] == "bm25,3.0"

    @pytest.mark.parametrize("content", ["1 2\n", "1,2\n", "# mine\n1\n2\n"])
    def test_what_is_no_list_of_topics_is_told_what_one_is(self, folder: Path, content: str) -> None:
        (folder / "mine.txt").write_text(content)
        with pytest.raises(DataError, match="list of topics: it has one id on each line, and nothing else"):
            read_topic_set(str(folder / "mine.txt"))

    def test_lines_may_end_in_any_way(self, folder: Path) -> None:
        for content in (b"1\r2\r", b"1\r\n2", b"\xef\xbb\xbf1\n2\n"):
            (folder / "ends.txt").write_bytes(content)
            assert read_topic_set(str(folder / "ends.txt")).topics == ("1", "2")

    def test_judgements_as_json_without_blanks_are_no_topic(self, folder: Path) -> None:
        (folder / "compact.json").write_text('{"1":{"D1":1}}')
        assert read_topic_set(str(folder / "compact.json")).topics == ("1",)

    def test_a_part_of_what_has_none_is_told_what_has(self, folder: Path) -> None:
        with pytest.raises(
            DataError, match=r"qrels\.txt: has no part 'train': parts are of the JSON that `cranfield split`"
        ):
            read_topic_set(f"{folder}/qrels.txt:train")

    def test_a_topic_that_is_there_twice_is_told(self, folder: Path) -> None:
        (folder / "twice.txt").write_text("1\n2\n1\n")
        with pytest.raises(DataError, match=r"twice\.txt: topic 1 is there twice"):
            read_topic_set(str(folder / "twice.txt"))

    @pytest.mark.parametrize("name", ["test.qrels", "test.topics.tsv", "test.topics.xml", "test.topics.jsonl"])
    def test_what_split_writes_of_a_part_is_its_set(self, tmp_path: Path, name: str) -> None:
        topics = tmp_path / f"pond.{name.rpartition('.')[2]}" if "topics" in name else EXAMPLES / "pond-topics.tsv"
        if topics.parent == tmp_path:
            given = ["--kind", "topics", "--to", "trec"] if topics.suffix == ".xml" else ["--kind", "topics"]
            assert command_line("convert", EXAMPLES / "pond-topics.tsv", "-o", topics, *given, "--lossy").exit == 0
        line = ("split", EXAMPLES / "pond.qrels", "--test-share", "0.5", "--with-qrels", "--with-topics", topics)
        assert command_line(*line, "-o", tmp_path / "class").exit == 0
        wanted = read_splits(tmp_path / "class" / "splits.json").folds[0].test
        assert set(read_topic_set(str(tmp_path / "class" / name)).topics) == set(wanted)

    def test_what_is_neither_judgements_nor_topics_is_told_as_judgements(self, tmp_path: Path) -> None:
        (tmp_path / "bad.qrels").write_text("1 0 d1 1\n2 0 d1\n")
        with pytest.raises(DataError, match=r"bad\.qrels:2"):
            read_topic_set(str(tmp_path / "bad.qrels"))


class TestTopicsOutside:
    """A topic that somebody names is judged, and the set leaves it out: that is what is told."""

    @pytest.mark.parametrize(
        "line",
        [
            "explain qrels.txt bm25.run --topic {0}",
            "explain qrels.txt bm25.run dense.run --topic {0} -m AP",
            "diagnose qrels.txt bm25.run dense.run -m AP --topic {0}",
            "plot precision-recall qrels.txt bm25.run --topic {0} -o p.svg",
        ],
    )
    def test_is_told_by_every_command(self, folder: Path, line: str) -> None:
        outside = read_splits(folder / "halves" / "splits.json").folds[0].train[0]
        words = [*line.format(outside).split(), "--topic-set", "halves/splits.json:test"]
        done = command_line(*words, folder=folder)
        told = f"topic {outside} is judged, but is not in halves/splits.json:test, whose topics alone count"
        assert (done.exit, told in done.stderr) == (2, True), done.stderr
        assert "alone count" not in command_line(*line.format("77").split(), *words[-2:], folder=folder).stderr


class TestPictures:
    TOLD = "3 of 5 judged topics count: those of the public half."

    def test_a_caption_says_that_some_topics_alone_count(self) -> None:
        part = cranfield.evaluate(QRELS, RUNS, "AP", policy=Policy(topic_set=SET)).plot
        whole = cranfield.evaluate(QRELS, RUNS, "AP").plot
        for kind in ("histogram", "interpolated", "means"):
            assert caption_of(getattr(part, kind)()) == f"{caption_of(getattr(whole, kind)())} {self.TOLD}".replace(
                "5 topics", "3 topics"
            )

    def test_a_picture_of_one_topic_is_the_same_on_any_set(self) -> None:
        part = cranfield.evaluate(QRELS, RUNS, "AP", policy=Policy(topic_set=SET)).plot
        assert "count" not in caption_of(part.ranks(topics="10"))

    def test_every_picture_of_a_report_says_it(self) -> None:
        three = {**RUNS, "c": RUNS["a"]}
        report = gather(Experiment(QRELS, three, policy=Policy(topic_set=SET)), "AP")
        captions = [figure.caption for figure in figures(report)]
        assert len(captions) == 8
        assert [caption for caption in captions if not caption.endswith(self.TOLD)] == []
        forest = next(figure.draw_all for figure in figures(report) if figure.draw_all is not None)
        assert caption_of(forest()).endswith(self.TOLD)

    def test_the_command_prints_it(self, folder: Path) -> None:
        words = "plot means qrels.txt bm25.run dense.run -m AP -o p.json --topic-set halves/splits.json:test"
        done = command_line(*words.split(), folder=folder)
        assert done.stdout.rstrip().endswith("count: those of halves/splits.json:test.")
        caption = json.loads((folder / "p.json").read_text())["usermeta"]["caption"]
        assert done.stdout == f"p.json\n{caption}\n"


class TestCommands:
    @pytest.mark.parametrize("source", ["halves/splits.json:test", "halves/test.txt", "test.qrels"])
    def test_correlate_takes_the_same_sets(self, folder: Path, source: str) -> None:
        wanted = read_splits(folder / "halves" / "splits.json").folds[0].test
        rows = (EXAMPLES / "qrels.txt").read_text().splitlines(keepends=True)
        (folder / "test.qrels").write_text("".join(row for row in rows if row.split()[0] in wanted))
        line = ["correlate", "--qrels", "qrels.txt", "-m", "AP", "bm25.run", "dense.run", "--resamples", "9"]
        done = command_line(*line, "--topic-set", source, folder=folder)
        assert done.exit == 0, done.stderr
        assert "AP set 1 (3 topics)  AP set 2 (3 topics)" in done.stdout
        assert "not among those evaluated" not in done.stderr

    def test_every_file_that_is_wrong_is_named_at_once(self, folder: Path) -> None:
        (folder / "empty.run").write_text("")
        (folder / "odd.run").write_text("1 Q0 d1 1 high x\n")
        (folder / "others.run").write_text("77 Q0 d1 1 1.5 x\n")
        line = ["evaluate", "qrels.txt", "bm25.run", "others.run", "empty.run", "odd.run", "-m", "AP"]
        done = command_line(*line, "--topic-set", "halves/test.txt", "--sort", "AP", folder=folder)
        assert (done.exit, done.stdout) == (3, "")
        told = done.stderr.splitlines()
        assert told[0].startswith("cranfield: others.run: no topic in common with halves/test.txt")
        assert told[2:4] == ["    2 other files are wrong as well:", told[3]]
        assert told[3].startswith("    empty.run: ")
        assert told[4].startswith("    odd.run:1: ")
        assert len(told) == 5
        one = command_line(*line[:4], "-m", "AP", folder=folder)
        assert (one.exit, "wrong as well" in one.stderr) == (3, False)

    def test_compare_takes_splits_for_what_was_tuned_on(self, folder: Path) -> None:
        trained = ", ".join(sorted(read_splits(folder / "halves" / "splits.json").folds[0].train))
        line = ["compare", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "--tuned-on"]
        for source in ("halves/splits.json", "halves/splits.json:train", "halves/train.txt"):
            done = command_line(*line, source, folder=folder)
            assert f"topics: 3 of the topics tested on were tuned on: {trained}. Test on others" in done.stderr
        done = command_line(*line, "halves/splits.json:train", "--topic-set", "halves/splits.json:test", folder=folder)
        assert (done.exit, "tuned on" in done.stderr) == (0, False)
        done = command_line(*line, "folds.json", folder=folder)
        assert (done.exit, "has splits, of which one part is needed" in done.stderr) == (3, True)
        assert "Name a part: folds.json:fold1.train" in done.stderr

    def test_evaluate_gives_the_mean_of_the_set(self, folder: Path) -> None:
        """With one run, which is otherwise judged as it is read."""
        line = ["evaluate", "qrels.txt", "bm25.run", "-m", "ERR", "-m", "NumQ", "-f", "csv"]
        topics = command_line(*line, "-q", folder=folder).stdout.splitlines()
        scores = {row.split(",")[1]: float(row.split(",")[2]) for row in topics[1:]}
        part = command_line(*line, "--topic-set", "halves/splits.json:test", folder=folder)
        mean, count = part.stdout.splitlines()[1].split(",")[1:]
        wanted = read_splits(folder / "halves" / "splits.json").folds[0].test
        assert float(mean) == pytest.approx(np.mean([scores[topic] for topic in wanted]), abs=1e-15)
        assert float(count) == 3
        assert "note: qrels: 3 of 6 judged topics count: those of halves/splits.json:test" in part.stderr

    def test_a_ledger_keeps_the_set_and_knows_the_judgements(self, folder: Path) -> None:
        line = ["compare", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "--ledger", "ledger.jsonl"]
        command_line(*line, "--topic-set", "halves/test.txt", folder=folder)
        again = command_line(*line, folder=folder)
        entries = [json.loads(text) for text in (folder / "ledger.jsonl").read_text().splitlines()]
        assert entries[0]["topic_set"] == {"name": "halves/test.txt", "count": 3, "topics": ["2", "5", "6"]}
        assert "topic_set" not in entries[1]
        assert entries[0]["judgements"] == entries[1]["judgements"]
        assert "1 comparison was made on these judgements before" in again.stderr

    def test_gate_explain_and_diagnose_tell_it_in_their_json(self, folder: Path) -> None:
        given = ["--topic-set", "halves/test.txt", "-f", "json"]
        for line in (
            ["gate", "qrels.txt", "bm25.run", "dense.run"],
            ["explain", "qrels.txt", "bm25.run", "--topic", "2", "-m", "AP"],
            ["compare", "qrels.txt", "bm25.run", "dense.run"],
        ):
            document = json.loads(command_line(*line, *given, folder=folder).stdout)
            assert document["policy"]["topic_set"]["count"] == 3
        diagnosis = command_line("diagnose", "qrels.txt", "bm25.run", "dense.run", *given, folder=folder)
        assert len(json.loads(diagnosis.stdout)["topics"]) == 3

    def test_tables_of_compare_and_gate_say_so(self, folder: Path) -> None:
        given = ["qrels.txt", "bm25.run", "dense.run", "-m", "AP", "--topic-set", "halves/test.txt"]
        assert "2 systems on 3 topics of halves/test.txt. " in command_line("compare", *given, folder=folder).stdout
        gate = command_line("gate", *given, "-f", "markdown", folder=folder).stdout
        assert "dense against bm25 on qrels, 3 topics of halves/test.txt" in gate

    def test_two_sets_are_refused(self, folder: Path) -> None:
        line = [
            "evaluate",
            "qrels.txt",
            "bm25.run",
            "--topic-set",
            "halves/test.txt",
            "--topic-set",
            "halves/train.txt",
        ]
        done = command_line(*line, folder=folder)
        assert done.exit == 2
        assert "--topic-set was given twice: halves/test.txt, halves/train.txt; it takes one" in done.stderr

    def test_a_set_that_leaves_nothing_of_a_fold_is_told(self, folder: Path) -> None:
        line = ["compare", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "--splits", "folds.json"]
        done = command_line(*line, "--topic-set", "folds.json:fold1.test", folder=folder)
        assert done.exit == 3
        assert "Only the topics of folds.json:fold1.test are compared (--topic-set): compare without it." in done.stderr

    def test_explain_knows_no_other_topic(self, folder: Path) -> None:
        line = ["explain", "qrels.txt", "bm25.run", "-m", "AP", "--topic-set", "halves/test.txt", "--topic", "1"]
        done = command_line(*line, folder=folder)
        assert done.exit == 2
        assert "topic 1 is judged, but is not in halves/test.txt" in done.stderr
