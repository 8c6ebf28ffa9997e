"""Documents that stay in their file: the same index, run and words as of documents in memory, and the same errors."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from commands import Outcome, command_line
from cranfield import DataError, UsageError
from cranfield.search import build_index, indexed, load_index
from cranfield.texts.collection import read_collection
from cranfield.texts.streaming import Streamed, worked_through

WORDS = ("ducks", "geese", "swim", "fly", "pond", "lake", "river", "nests", "eggs", "feathers")


def rows(count: int = 400) -> list[dict[str, str]]:
    return [
        {"id": f"d{number}", "text": " ".join(WORDS[number * step % 10] for step in range(number % 7 + 1))}
        for number in range(count)
    ]


def collection(folder: Path, documents: Iterable[dict[str, str]], encoding: str = "utf-8") -> Path:
    folder.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in documents)
    (folder / "documents.jsonl").write_bytes(lines.encode(encoding))
    (folder / "topics.jsonl").write_text('{"id": "1", "title": "swimming ducks"}\n{"id": "2", "title": "eggs"}\n')
    return folder


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is large, and a block has few documents."""
    monkeypatch.setattr("cranfield.texts.blockwise.LARGE", 1)
    monkeypatch.setattr("cranfield.texts.blockwise.BLOCK", 3000)
    monkeypatch.setattr("cranfield.texts.peeking._PIECE", 1000)


def searched(folder: Path, *arguments: str) -> tuple[Outcome, str]:
    run = folder.parent / "found.run"
    run.unlink(missing_ok=True)
    done = command_line("search", folder, "-o", run, "--repeats", "1", "--warm-up", "0", *arguments)
    return done, run.read_text() if run.exists() else ""


def same_as_in_memory(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[Outcome, str]:
    """What comes of a search, after it was seen to be the same as without streams, notes and all."""
    done, run = searched(folder, *arguments)
    with monkeypatch.context() as patch:
        patch.setattr("cranfield.texts.blockwise.LARGE", 1 << 40)
        in_memory, wanted = searched(folder, *arguments)
    assert (done.exit, done.stderr, run) == (in_memory.exit, in_memory.stderr, wanted)
    return done, run


@pytest.mark.usefixtures("small_blocks")
def test_run_and_index_are_those_of_documents_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = collection(tmp_path / "pond", rows())
    done, run = same_as_in_memory(folder, monkeypatch)
    assert done.exit == 0
    assert run.count("\n") > 200
    streamed = read_collection(folder, streamed=True).documents
    assert isinstance(streamed, Streamed)
    whole = read_collection(folder).documents
    assert whole is not None
    assert not isinstance(whole, Streamed)
    assert len(list(streamed.blocks())) > 3
    assert build_index(streamed).digest == build_index(whole).digest
    index, _ = indexed(streamed, path=tmp_path / "pond.index")
    assert indexed(whole, path=tmp_path / "pond.index")[1].seconds is None
    assert (
        indexed(streamed, path=tmp_path / "pond.index")[0].ids == index.ids == load_index(tmp_path / "pond.index").ids
    )
    collection(folder, rows(399))
    with pytest.raises(DataError, match="is the index of other documents"):
        indexed(streamed, path=tmp_path / "pond.index")


@pytest.mark.usefixtures("small_blocks")
def test_a_folder_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = collection(tmp_path / "pond", [])
    (folder / "documents.jsonl").unlink()
    (folder / "docs").mkdir()
    for part in range(3):
        lines = [json.dumps(row) + "\n" for row in rows()[part::3]]
        (folder / "docs" / f"part{part}.jsonl").write_text("".join(lines))
    assert isinstance(read_collection(folder, streamed=True).documents, Streamed)
    done, run = same_as_in_memory(folder, monkeypatch)
    assert done.exit == 0
    assert run


@pytest.mark.usefixtures("small_blocks")
def test_what_is_odd_is_told_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = rows()
    documents[7]["text"] = documents[399]["text"] = ""
    done, _ = same_as_in_memory(collection(tmp_path / "pond", documents), monkeypatch)
    assert "note: 2 documents without a word" in done.stderr


@pytest.mark.usefixtures("small_blocks")
def test_fields_that_come_late_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A title in a later block is searched, and so is a field of another name if it is asked for."""
    documents = rows()
    documents[390] |= {"title": "swimming eggs", "keeper": "swan"}
    folder = collection(tmp_path / "pond", documents)
    streamed = read_collection(folder, streamed=True).documents
    assert isinstance(streamed, Streamed)
    assert list(streamed.fields) == ["text"]
    assert same_as_in_memory(folder, monkeypatch)[0].exit == 0
    (folder / "topics.jsonl").write_text('{"id": "1", "title": "swans"}\n')
    _, run = same_as_in_memory(folder, monkeypatch, "--fields", "keeper")
    assert run.startswith("1 Q0 d390 1 ")
    done, _ = same_as_in_memory(folder, monkeypatch, "--fields", "colour")
    assert "no field colour; there are text, title, keeper" in done.stderr
    with pytest.raises(UsageError, match="no field colour"):
        worked_through(streamed, lambda documents: list(documents.blocks("colour")))


@pytest.mark.usefixtures("small_blocks")
def test_what_only_reading_at_once_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = rows()
    documents[395]["text"] = "ducks café"
    folder = collection(tmp_path / "pond", documents, "latin-1")
    (folder / "topics.jsonl").write_text('{"id": "1", "title": "café"}\n', encoding="utf-8")
    done, run = same_as_in_memory(folder, monkeypatch)
    assert "not in UTF-8, read as Latin-1" in done.stderr
    assert run.startswith("1 Q0 d395 1 ")


@pytest.mark.usefixtures("small_blocks")
def test_errors_name_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = collection(tmp_path / "pond", [*rows(), {"id": "d5", "text": "again"}])
    done, run = same_as_in_memory(folder, monkeypatch)
    assert (done.exit, run) == (3, "")
    assert "documents.jsonl:401: document 'd5' comes a second time" in done.stderr
    with (folder / "documents.jsonl").open("a") as file:
        file.write('{"id": "d500", "text": \n')
    done, _ = same_as_in_memory(folder, monkeypatch)
    assert done.exit == 3
    assert "documents.jsonl:402" in done.stderr
