"""Texts of what a result shows: the best passage, words marked in all their forms, and no more kept than is shown."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cranfield import DataError, Experiment, libraries
from cranfield.comparison.diagnosis import diagnose
from cranfield.errors import ArgumentError, LibraryError
from cranfield.explanation import explain
from cranfield.quotation import TextSource, quote
from cranfield.quotation import quoting as room
from cranfield.quotation.passages import LENGTH, Vocabulary, marked, passage
from cranfield.report.contents import gather
from cranfield.texts import blockwise, read_documents
from cranfield.texts.collection import Collection, read_collection
from cranfield.texts.texts import Documents, Topics
from places import EXAMPLES

POND = EXAMPLES / "pond.toml"


def codes(quotations: room.Quotations) -> dict[str, str]:
    return {finding.code: finding.message for finding in quotations.findings}


def found_passage(text: str, question: str) -> str:
    vocabulary = Vocabulary()
    wanted = vocabulary.terms(question)
    return passage(text, [word for word in vocabulary.words(text) if word.term in wanted])


FILLER = "Nothing of any interest is told here, and it goes on. "


def test_a_passage_has_the_most_different_words_of_the_question() -> None:
    text = "Cats, cats, cats, cats and cats. " + FILLER * 20 + "A cat sleeps on the mat. " + FILLER * 20
    assert "A cat sleeps on the mat." in found_passage(text, "sleeping cats")


def test_of_as_many_different_words_the_passage_with_more_of_them_then_the_first() -> None:
    text = "One cat. " + FILLER * 10 + "Cats, a cat. " + FILLER * 10 + "A cat and cats. " + FILLER * 10
    assert "Cats, a cat." in found_passage(text, "cats")


@pytest.mark.parametrize("seed", range(20))
def test_a_passage_is_a_stretch_of_the_text_of_bounded_length(seed: int) -> None:
    draw = random.Random(seed)
    words = draw.choices(["cat", "dog", "a", "x" * 30, "swimming", "İstanbul", "é" * 3], k=draw.randint(0, 400))
    text = " ".join(words)
    cut = found_passage(text, "swimming cat")
    said = cut.removeprefix("… ").removesuffix(" …")
    assert said in text
    assert len(said) <= LENGTH
    assert len(said) >= min(len(text), LENGTH // 2)
    assert cut.startswith("… ") == (not text.startswith(said))
    if "cat" in words:
        assert "cat" in said or "swimming" in said


def test_a_text_without_a_word_of_the_question_is_shown_from_its_beginning() -> None:
    cut = found_passage(FILLER * 20, "geese")
    assert cut.startswith("Nothing of any interest")
    assert cut.endswith(" …")


def test_a_text_without_blanks_is_cut_all_the_same() -> None:
    assert found_passage("字" * 5000, "字") == "字" * LENGTH + " …"
    assert found_passage("", "cat") == ""


def test_words_are_marked_in_every_form_that_search_takes_for_the_same() -> None:
    documents = read_documents({"d1": "Cats sleep. A CAT sleeps, sleeping well."})
    cats = quote(Collection("cats", documents, topics({"1": "a cat asleep, sleep"})), {"1": ["d1"]})
    assert cats.words("1", ["d1"]) == ["cat", "cats", "sleep", "sleeping", "sleeps"]
    assert [text for text, is_marked in cats.passage("1", "d1") if is_marked] == [
        "Cats", "sleep", "CAT", "sleeps", "sleeping"
    ]  # fmt: skip
    assert "".join(text for text, _ in cats.passage("1", "d1")) == "Cats sleep. A CAT sleeps, sleeping well."


def topics(given: dict[str, Any]) -> Any:
    from cranfield.texts import read_topics

    return read_topics(given)


def test_stop_words_are_not_marked() -> None:
    assert marked("the cat of the house", Vocabulary().terms("the cat of")) == [
        ("the ", False), ("cat", True), (" of the house", False)
    ]  # fmt: skip


def test_the_question_has_all_fields_in_the_order_of_the_collection() -> None:
    given = topics({"1": {"title": "ducks", "description": "How do\nducks swim?", "narrative": "Any duck."}})
    told = quote(Collection("ducks", None, given), {"1": []})
    assert told.questions["1"] == (
        ("title", "ducks"), ("description", "How do\nducks swim?"), ("narrative", "Any duck.")
    )  # fmt: skip
    assert told.question("1") == "ducks"


def test_a_topic_without_a_title_is_told_by_what_it_has() -> None:
    told = quote(
        Collection("ducks", None, topics({"1": {"title": "", "description": "How\n do ducks swim?"}})), {"1": []}
    )
    assert told.question("1") == "How do ducks swim?"


def test_a_collection_is_a_toml_file_a_folder_an_object_or_its_parts(tmp_path: Path) -> None:
    for name in ("pond-documents.jsonl", "pond-topics.tsv"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    parts = TextSource(topics=EXAMPLES / "pond-topics.tsv", documents=[str(EXAMPLES / "pond-documents.jsonl")])
    for source in (POND, str(POND), tmp_path, read_collection(POND), TextSource(collection=POND), parts):
        told = quote(source, {"1": ["d01"]})
        assert (told.question("1"), told.title("d01")) == ("can ducks swim well", "Ducks on the water")
        assert told.findings == ()


def test_an_id_of_ir_datasets_is_a_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    class Dataset:
        def has_docs(self) -> bool:
            return True

        has_queries, has_qrels = has_docs, lambda self: False

        def docs_iter(self) -> Iterator[Any]:
            yield from [SimpleNamespace(doc_id="d1", text="A cat.", _fields=("doc_id", "text"))]

        def queries_iter(self) -> Iterator[Any]:
            yield from [SimpleNamespace(query_id="1", text="cats", _fields=("query_id", "text"))]

    module = SimpleNamespace(load=lambda _: Dataset())
    monkeypatch.setitem(sys.modules, "ir_datasets", module)
    told = quote("irds:cats", {"1": ["d1"]})
    assert (told.name, told.question("1"), told.words("1", ["d1"])) == ("cats", "cats", ["cat"])


def test_parts_replace_those_of_the_collection() -> None:
    source = TextSource(collection=POND, topics={"1": "geese"}, documents=[{"d01": "A goose."}, {"d02": "Two geese."}])
    told = quote(source, {"1": ["d01", "d02"]})
    assert told.question("1") == "geese"
    assert told.words("1", ["d01", "d02"]) == ["geese"]
    assert told.documents["d02"].passages["1"] == "Two geese."


def test_topics_may_be_called_by_position(tmp_path: Path) -> None:
    source = TextSource(collection=POND, topics={"70": "ducks", "80": "geese"}, ids="position")
    assert quote(source, {"2": []}).question("2") == "geese"
    listed = tmp_path / "pond.toml"
    (tmp_path / "topics.tsv").write_text("id\ttitle\n70\tducks\n80\tgeese\n")
    listed.write_text('topics = "topics.tsv"\nids = "position"\n')
    assert quote(listed, {"2": []}).question("2") == "geese"


def test_what_the_collection_lacks_is_counted_and_named() -> None:
    told = quote(POND, {"1": ["d01", "x1"], "9": ["x2"], "10": []})
    assert codes(told) == {
        "topics-without-text": "no text of 2 of 3 topics: 9, 10",
        "documents-without-text": "no text of 2 of 3 documents shown: x1, x2",
    }
    assert (told.short_question("9"), told.short_title("x1"), list(told.passage("1", "x1"))) == ("–", "–", [])


def test_topics_with_other_ids_are_told_how_they_are_meant() -> None:
    source = TextSource(topics={"001": "ducks", "004": "geese"})
    assert "but their positions: --ids position" in codes(quote(source, {"1": [], "2": []}))["topic-ids"]
    assert codes(quote(source, {"1": []})) == {
        "topics-without-text": "no text of the only topic: 1; there are 001, 004"
    }


TRAP = {"001": "ducks", "2": "geese", "4": "swans"}  # as in Cranfield: the judgements' 2 is the second topic by chance
JUDGED = ["1", "2", "3"]


def test_no_question_is_shown_where_judgements_have_positions_for_ids() -> None:
    source = TextSource(topics=TRAP | {"9": "teals"}, documents=[{"d1": "geese and ducks"}])
    told = quote(source, {"2": ["d1"], "4": []}, judged=[*JUDGED, "4"])
    assert (told.question("2"), told.questions, told.words("2", ["d1"])) == ("", {}, [])
    finding = next(finding for finding in told.findings if finding.code == "topic-ids")
    assert finding.doubtful
    assert finding.message.startswith("what was asked is not shown: the judgements do not use the topics' ids (001, 2")
    assert "their positions: --ids position" in told.no_question
    right = quote(TextSource(topics=TRAP, ids="position"), {"2": [], "3": []}, judged=JUDGED)
    assert (right.question("3"), right.findings, right.unasked) == ("swans", (), None)


def test_ids_that_are_numbers_of_other_ids_are_those_of_the_same_topics() -> None:
    told = quote(TextSource(topics=TRAP), {"1": [], "2": []}, judged=["1", "2", "4"])
    assert (told.question("2"), told.question("1")) == ("geese", "")
    assert "the numbers in them: --ids number" in codes(told)["topics-without-text"]


def test_every_door_knows_all_judged_topics() -> None:
    judged = {topic: {"d1": 1} for topic in JUDGED}
    runs = {name: {topic: {"d1": 1.0, "d2": 2.0 * n} for topic in JUDGED} for n, name in enumerate("ab")}
    experiment = Experiment(judged, runs)
    source = TextSource(topics=TRAP)
    explained = explain(experiment, "2", "RR", collection=source)
    diagnosed = diagnose(experiment, "RR", collection=source)
    reported = gather(experiment, "RR", collection=source)
    for quotations in (explained.quotations, diagnosed.quotations, reported.quotations):
        assert quotations is not None
        assert quotations.questions == {}
    assert "What was asked is not shown: the judgements do not use" in str(explained)
    for told in (explained.warnings, diagnosed.warnings, reported.findings):
        assert [finding.code for finding in told if finding.doubtful].count("topic-ids") == 1
    kinds = [finding.doubtful for finding in reported.findings]
    assert kinds == sorted(kinds, reverse=True)


def test_files_by_themselves_are_named_together() -> None:
    source = TextSource(topics=EXAMPLES / "pond-topics.tsv", documents=[str(EXAMPLES / "pond-documents.jsonl")])
    assert source.opened().name == "pond-topics and pond-documents"
    assert TextSource(topics={"1": "ducks"}).opened().name == "the texts"


def test_a_part_that_is_not_there_is_said() -> None:
    documents = {"d01": {"title": "Ducks", "text": ""}, "d02": {"title": "", "text": " "}}
    told = quote(TextSource(documents=[documents]), {"1": ["d01", "d02"]})
    assert codes(told) == {
        "no-questions": "has no topics: what was asked is not shown",
        "empty-texts": "without a word are 1 of 2 documents shown: d02",
    }
    alone = quote(TextSource(topics={"1": "ducks"}), {"1": ["d01"]})
    assert codes(alone) == {"no-documents": "has no documents: what was found is not shown"}


SWAPPED = "; give each in the place of the other (--questions, --documents)"


def test_questions_and_documents_that_look_swapped_are_said_to() -> None:
    """Also where both have numbers for ids, and some documents shown have the ids of questions."""
    found = {str(number): f"about ducks {number}" for number in range(1, 31)}
    asked = {str(number): f"ducks? {number}" for number in range(1, 6)}
    documents = Documents(tuple(found), {"text": list(found.values())})
    topics = Topics(tuple(asked), {"title": list(asked.values())})
    shown = {topic: [str(10 * number + int(topic)) for number in range(3)] for topic in asked}
    right = quote(TextSource(topics=topics, documents=[documents]), shown)
    assert [finding.code for finding in right.findings if "swapped" in finding.code] == []
    as_topics = Topics(documents.ids, {"title": list(found.values())})
    as_documents = Documents(topics.ids, {"text": list(asked.values())})
    swapped = quote(TextSource(topics=as_topics, documents=[as_documents]), shown)
    (told,) = [finding for finding in swapped.findings if finding.code == "texts-swapped"]
    assert told.doubtful
    assert told.message == (
        "questions and documents look swapped: of 15 documents shown, 10 are among the questions and not among the "
        f"documents{SWAPPED}"
    )


def test_topics_read_as_documents_are_said_to_be() -> None:
    topics = Topics(("1", "2"), {"title": ["ducks", "geese"]})
    as_documents = Documents(("1", "2"), {"text": ["ducks", "geese"]})
    shown = {"1": ["d1", "d2"], "2": ["d3"]}
    wrong = quote(TextSource(topics=topics, documents=[as_documents]), shown)
    assert [finding.message for finding in wrong.findings if finding.doubtful] == [
        "questions and documents look swapped: what was read as documents has ids of topics, and no text of 3 of 3 "
        f"documents shown{SWAPPED}"
    ]
    # Other documents, of which some have the ids of topics by chance, are no topics.
    others = Documents(("1", "2", "7", "8"), {"text": ["ducks", "geese", "swans", "herons"]})
    assert not any(f.doubtful for f in quote(TextSource(topics=topics, documents=[others]), shown).findings)


def test_words_in_fields_of_other_names_are_shown() -> None:
    told = quote(TextSource(documents=[{"d1": {"abstract": "On ducks.", "author": "Ada"}}]), {"1": ["d1"]}, room=99)
    assert "On ducks." in told.documents["d1"].passages["1"]


def test_nothing_else_is_a_collection() -> None:
    with pytest.raises(ArgumentError, match="a folder, a TOML file, a dataset"):
        quote(7, {"1": []})  # type: ignore[arg-type]
    with pytest.raises(DataError, match="neither a folder nor a TOML file"):
        quote("nowhere", {"1": []})


def test_a_long_title_is_cut() -> None:
    told = quote(TextSource(documents=[{"d1": {"title": "word " * 100_000, "text": "a"}}]), {"1": ["d1"]})
    assert len(told.title("d1")) == room.LONGEST_TITLE
    assert told.title("d1").endswith("…")
    assert len(told.short_title("d1")) == room.IN_TABLES


def texts_of(sizes: dict[str, int]) -> dict[str, str]:
    return {id: id[0] * size for id, size in sizes.items()}


@pytest.mark.parametrize("seed", range(10))
def test_whole_texts_are_the_most_important_in_whatever_order_they_come(seed: int) -> None:
    draw = random.Random(seed)
    ids = [f"d{number:02}" for number in range(30)]
    shown = {topic: draw.sample(ids, 10) for topic in "abc"}
    sizes = {id: draw.randint(1, 400) for id in ids}
    order = list(dict.fromkeys(shown[topic][place] for place in range(10) for topic in "abc"))
    fitting, taken = [], 0
    for id in order:
        taken += sizes[id]
        if taken > 2000:
            break
        fitting.append(id)
    draw.shuffle(ids)
    told = quote(TextSource(documents=[texts_of({id: sizes[id] for id in ids})]), shown, room=2000)
    assert list(told.whole) == fitting


def test_a_book_does_not_push_out_the_others() -> None:
    documents = {"book": "b " * 5_000_000, "note": "n " * 100}
    told = quote(TextSource(documents=[documents]), {"1": ["book", "note"]}, room=1_000_000)
    assert list(told.whole) == ["note"]
    assert set(told.documents) == {"book", "note"}


def test_of_a_large_file_no_more_than_a_block_is_held_and_reading_ends_with_the_last_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": f"d{n}", "text": f"cat number {n}"}) + "\n" for n in range(500)))
    monkeypatch.setattr(blockwise, "LARGE", 0)
    monkeypatch.setattr(blockwise, "BLOCK", 400)
    monkeypatch.setattr("cranfield.quotation.text_sources.read_documents", None)  # that is all of it at once
    sizes = []
    read = blockwise._read_block

    def counted(*arguments: Any) -> Any:
        sizes.append(len(arguments[2]))
        return read(*arguments)

    monkeypatch.setattr(blockwise, "_read_block", counted)
    monkeypatch.setattr("cranfield.texts.peeking._PIECE", 100)
    told = quote(TextSource(topics={"1": "cats"}, documents=[path]), {"1": ["d3", "d20"]})
    assert {id: quoted.passages["1"] for id, quoted in told.documents.items()} == {
        "d3": "cat number 3", "d20": "cat number 20"
    }  # fmt: skip
    assert max(sizes) <= 600
    assert sum(sizes) < 2500  # of some 20,000


def test_a_large_file_that_must_be_read_at_once_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "documents.jsonl"
    lines = [json.dumps({"id": f"d{n}", "text": "café"}, ensure_ascii=False).encode("latin-1") for n in range(50)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    monkeypatch.setattr(blockwise, "LARGE", 0)
    monkeypatch.setattr(blockwise, "BLOCK", 120)
    told = quote(TextSource(documents=[path]), {"1": ["d49"]})
    assert told.documents["d49"].passages["1"] == "café"


def test_who_watches_sees_every_document_that_is_found() -> None:
    seen: list[tuple[str, int]] = []

    class Watched:
        def __init__(self, label: str, total: int) -> None:
            seen.append((label, total))

        def __enter__(self) -> Watched:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def step(self) -> None:
            seen.append(("step", 1))

    quote(POND, {"1": ["d01", "d02", "x"]}, watch=Watched)
    assert seen == [("texts", 3), ("step", 1), ("step", 1)]


def test_without_the_libraries_of_search_words_are_marked_as_they_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, purpose: str) -> Any:
        raise LibraryError(f"{purpose} needs {name}")

    monkeypatch.setattr(libraries, "library", missing)
    told = quote(POND, {"1": ["d01"]})
    assert told.words("1", ["d01"]) == ["ducks", "swim"]
    assert "pip install 'cranfield[search]'" in codes(told)["no-stemmer"]
    assert "no-stemmer" not in codes(quote(POND, {"1": []}))
