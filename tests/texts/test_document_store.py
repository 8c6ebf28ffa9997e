"""The store of documents: each as it was read, a file that is whole or not there, and many readers at once."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cranfield import DataError, UsageError
from cranfield.formats import touched
from cranfield.quotation import TextSource, build_store
from cranfield.texts import DocumentStore, StoredDocument, blockwise, peeking, read_documents
from cranfield.texts.document_store import FORM, StoreWriter
from places import COLLECTION, EXAMPLES

POND = EXAMPLES / "pond.toml"
ODD = [
    StoredDocument("d1", "Ducks", "They swim."),
    StoredDocument("", "", ""),
    StoredDocument("d\udce9", "half \ud83d", "a\x00b\r\n\ud800"),
    StoredDocument("D1", "", "x" * 100_000, False, {"author": "Brown", "né": "\udcff"}),
    StoredDocument("d1 ", "'; DROP TABLE identity; --", "<p>ü</p>", True),
    StoredDocument("語" * 200, "語", "語" * 3000),
]


def written(path: Path, documents: list[StoredDocument], name: str = "") -> DocumentStore:
    with StoreWriter(path, name) as writer:
        writer.add(documents)
    return DocumentStore(path)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> DocumentStore:
    return written(tmp_path_factory.mktemp("store") / "odd.store", ODD, "odd")


def test_every_document_comes_back_as_it_was(odd: DocumentStore) -> None:
    assert [odd.get(document.id) for document in ODD] == ODD
    assert list(odd.documents()) == ODD
    assert list(odd.ids()) == [document.id for document in ODD]
    assert (len(odd), odd.name) == (len(ODD), "odd")
    odd.check()


def test_documents_that_are_not_there_are_told(odd: DocumentStore) -> None:
    assert "d1" in odd
    assert "d2" not in odd
    assert 1 not in odd
    assert list(odd.many(["D1", "d2", "d1"])) == ["D1", "d1"]
    assert odd.missing(["D1", "d2", "d1", "\ud800"]) == ["d2", "\ud800"]
    with pytest.raises(DataError, match=r"^odd: has no document 'd2'$"):
        odd.get("d2")


def test_a_collection_is_stored_with_all_of_its_fields(tmp_path: Path) -> None:
    store = build_store(POND, tmp_path / "pond.store")
    documents = read_documents(EXAMPLES / "pond-documents.jsonl")
    assert list(store.ids()) == list(documents.ids)
    for id, fields in documents.rows():
        stored = store.get(id)
        assert {"title": stored.title, "text": stored.text, **stored.fields} == fields
    assert (store.name, store.notes) == ("pond", ())


def test_fields_besides_title_and_text_are_kept_and_stand_in_where_there_is_no_text(tmp_path: Path) -> None:
    given = {
        "d1": {"title": "Ducks", "text": "They swim.", "author": "Brown", "date": ""},
        "d2": {"title": "Geese", "text": " ", "abstract": "They fly.", "author": "Gray"},
        "d3": {"text": "<p>Swans</p>"},
    }
    store = build_store(TextSource(documents=[given]), tmp_path / "store")
    assert store.get("d1") == StoredDocument("d1", "Ducks", "They swim.", False, {"author": "Brown"})
    second = store.get("d2")
    assert sorted(second.text.split("\n\n")) == ["Gray", "They fly."]
    assert second.fields == {}
    assert [store.get(id).html for id in given] == [False, False, True]


def test_documents_without_a_word_are_kept_and_counted(tmp_path: Path) -> None:
    given: Any = {"d1": "swim", "d2": " ", "d3": {"title": "", "text": ""}}
    store = build_store(TextSource(documents=[given]), tmp_path / "store")
    assert len(store) == 3
    assert store.notes == read_documents(given).notes == (("empty-documents", "2 documents without a word"),)


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blockwise, "LARGE", 0)
    monkeypatch.setattr(blockwise, "BLOCK", 120)
    monkeypatch.setattr(peeking, "_PIECE", 50)


def lines(documents: list[tuple[str, str]]) -> str:
    return "".join(json.dumps({"_id": id, "text": text}, ensure_ascii=False) + "\n" for id, text in documents)


@pytest.mark.usefixtures("_small_blocks")
def test_block_by_block_gives_the_same_file_as_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "docs.jsonl"
    source.write_text(lines([(f"d{i}", f"text {i} é" if i % 7 else "") for i in range(60)]))
    with monkeypatch.context() as patch:
        patch.setattr("cranfield.quotation.storing.read_documents", None)
        streamed = build_store(TextSource(documents=[source]), tmp_path / "one.store")
    monkeypatch.setattr(blockwise, "LARGE", 1 << 60)
    again = build_store(TextSource(documents=[source]), tmp_path / "two.store")
    assert (tmp_path / "one.store").read_bytes() == (tmp_path / "two.store").read_bytes()
    assert streamed.digest == again.digest
    assert streamed.notes == again.notes == (("empty-documents", "9 documents without a word"),)


@pytest.mark.usefixtures("_small_blocks")
def test_a_file_that_only_reading_at_once_can_read_is_stored_once(tmp_path: Path) -> None:
    """Its first blocks were written before the byte came that is not UTF-8: nothing of them may stand there twice."""
    source = tmp_path / "docs.jsonl"
    source.write_bytes(
        lines([(f"d{i}", "text") for i in range(30)]).encode() + b'{"_id": "d\xe9", "text": "caf\xe9"}\n'
    )
    store = build_store(TextSource(documents=[source]), tmp_path / "store")
    documents = read_documents(source)
    assert tuple(store.ids()) == documents.ids
    assert store.get("d\udce9").text == "café"
    assert store.notes == documents.notes
    assert [code for code, _ in store.notes] == ["latin-1"]


def test_the_digest_is_that_of_the_documents_alone(tmp_path: Path) -> None:
    def digest(*documents: StoredDocument, name: str = "a") -> str:
        return written(tmp_path / f"{name}.store", list(documents)).digest

    first = digest(ODD[0], ODD[3])
    assert first == digest(ODD[0], ODD[3], name="b")
    changed = [
        (ODD[3], ODD[0]),
        (ODD[0],),
        (ODD[0]._replace(html=True), ODD[3]),
        (ODD[0]._replace(title="Duck", text="sThey swim."), ODD[3]),
        (ODD[0], ODD[3]._replace(fields={"author": "Gray"})),
    ]
    assert len({first, *(digest(*documents) for documents in changed)}) == 6


@pytest.mark.usefixtures("_small_blocks")
def test_an_id_that_comes_twice_is_an_error_as_in_reading(tmp_path: Path) -> None:
    source = tmp_path / "docs.jsonl"
    source.write_text(lines([(f"d{i}", "text") for i in range(30)] + [("d3", "other")]))
    with pytest.raises(DataError) as at_once:
        read_documents(source)
    with pytest.raises(DataError) as stored:
        build_store(TextSource(documents=[source]), tmp_path / "store")
    assert str(stored.value) == str(at_once.value)
    assert "docs.jsonl:31: document 'd3' comes a second time" in str(stored.value)
    assert "First on line 4." in str(stored.value)
    assert os.listdir(tmp_path) == ["docs.jsonl"]


def test_an_id_in_two_sources_is_an_error_that_names_both(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines([("d1", "x")]))
    (tmp_path / "b.jsonl").write_text(lines([("d2", "x"), ("d1", "y")]))
    both = TextSource(documents=[tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    with pytest.raises(DataError, match=r"b\.jsonl: document 'd1' comes a second time") as error:
        build_store(both, tmp_path / "store")
    assert "a.jsonl" in str(error.value)
    memory: Any = [({"d1": "x"}), iter([{"id": "d1", "text": "y"}])]
    with pytest.raises(DataError, match="document 'd1' comes a second time"):
        build_store(TextSource(documents=memory), tmp_path / "store")


def test_without_documents_there_is_no_store(tmp_path: Path) -> None:
    topics = TextSource(topics={"1": "ducks"})
    with pytest.raises(DataError, match="has no documents"):
        build_store(topics, tmp_path / "store")
    with pytest.raises(DataError, match="has no document"), StoreWriter(tmp_path / "store"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_file_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "store"
    before = written(path, ODD[:1]).digest

    def failing() -> Iterator[StoredDocument]:
        yield ODD[1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), StoreWriter(path) as writer:
        writer.add(failing())
    assert os.listdir(tmp_path) == ["store"]
    assert DocumentStore(path).digest == before


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    many = [StoredDocument(f"d{i}", "", "x" * 10_000) for i in range(1000)]
    with pytest.raises(DataError, match=r"store: cannot be written: "), largest_file(1 << 20):
        written(tmp_path / "store", many)
    assert os.listdir(tmp_path) == []
    with pytest.raises(DataError, match="cannot be written"):
        written(tmp_path / "nowhere" / "store", many)


def test_a_store_does_not_replace_what_it_is_made_of(tmp_path: Path) -> None:
    source = tmp_path / "docs.jsonl"
    source.write_text(lines([("d1", "x")]))
    with touched.one_command(), pytest.raises(UsageError, match="is also read"):
        build_store(TextSource(documents=[source]), source)
    assert source.read_text() == lines([("d1", "x")])


def cut(data: bytes) -> bytes:
    return data[:-1]


def newer(data: bytes) -> bytes:
    return data[:60] + (FORM + 1).to_bytes(4, "big") + data[64:]


def other_database(_: bytes) -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE fact (name TEXT, value TEXT)")
    data = connection.serialize()
    connection.close()
    return data


REFUSED: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda data: b"", "is not a store of documents\n"),
    (lambda data: data[:50], "is not a store of documents\n"),
    (lambda data: b"q1 Q0 d7 3 11.5 bm25\n" * 100, "is not a store of documents\n"),
    (other_database, "is not a store of documents\n"),
    (cut, "is cut off: "),
    (lambda data: data[:100], "is cut off: 100 of "),
    (newer, f"is of form {FORM + 1}, newer than what is known here \\({FORM}\\)\n    Use a newer cranfield"),
    (lambda data: data[:100] + b"\0" * (len(data) - 100), "is damaged\n    Copy it again"),
]


@pytest.mark.parametrize(("change", "told"), REFUSED)
def test_what_is_no_whole_store_is_refused(change: Callable[[bytes], bytes], told: str, tmp_path: Path) -> None:
    path = tmp_path / "store"
    written(path, ODD).close()
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(DataError, match=f"store: {told}"):
        DocumentStore(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        DocumentStore(tmp_path / "nothing")
    with pytest.raises(DataError, match="cannot be read"):
        DocumentStore(tmp_path)


def test_a_letter_that_was_changed_is_noticed_by_the_check(tmp_path: Path) -> None:
    path = tmp_path / "store"
    written(path, ODD).close()
    path.write_bytes(path.read_bytes().replace(b"They swim.", b"They sway."))
    with DocumentStore(path) as store, pytest.raises(DataError, match="is damaged"):
        store.check()


def test_another_file_in_its_place_is_noticed(tmp_path: Path) -> None:
    """A thread that begins later must not read other documents than those that began earlier."""
    path = tmp_path / "store"
    store = written(path, ODD)
    ids = store.ids()
    assert next(ids) == "d1"  # by the connection that is open
    written(path, [StoredDocument("d1", "", "Another.")]).close()
    with pytest.raises(DataError, match="is another file than the one that was opened"):
        store.get("d1")
    assert len([*ids]) == len(ODD) - 1


def test_a_store_that_is_closed_says_so(tmp_path: Path) -> None:
    with written(tmp_path / "store", ODD, "odd") as store:
        assert repr(store) == "<DocumentStore 'odd': 6 documents>"
    with pytest.raises(UsageError, match="the documents of odd are closed"):
        store.get("d1")


def test_a_path_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"50% of? #1 caf\xe9 \xc3\xa9.store")
    assert written(path, ODD).get("d1") == ODD[0]


def test_many_threads_read_at_once(tmp_path: Path) -> None:
    documents = [StoredDocument(f"d{i}", f"title {i}", f"text {i} " * (i % 50)) for i in range(500)]
    store = written(tmp_path / "store", documents)
    wrong: list[object] = []
    begin = threading.Barrier(12)

    def read(number: int) -> None:
        begin.wait()
        try:
            for document in documents[number::3] * 3:
                if store.get(document.id) != document:
                    wrong.append(document.id)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(number % 3,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    store.close()


def test_progress_is_counted_by_document(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []

    class Steps:
        done = 0

        def step(self) -> None:
            self.done += 1

    steps = Steps()

    @contextmanager
    def watch(label: str, total: int) -> Iterator[Steps]:
        told.append((label, total))
        yield steps

    build_store(POND, tmp_path / "store", watch=watch)
    assert (told, steps.done) == ([("documents", 0)], 12)


@pytest.mark.skipif(not COLLECTION.exists(), reason="the collection is not here")
def test_a_real_collection(tmp_path: Path) -> None:
    documents = next(path for path in sorted(COLLECTION.iterdir()) if path.name.startswith("cran.all"))
    store = build_store(TextSource(documents=[documents]), tmp_path / "store")
    read = read_documents(documents)
    assert tuple(store.ids()) == read.ids
    assert [document.text for document in store.documents() if document.text.strip()] == [
        text for text in read.fields["text"] if text.strip()
    ]
    store.check()
