"""Documents written block by block: the same bytes, notes and errors as if everything were read at once."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from cranfield import DataError, convert, describe
from cranfield.formats.reading import Reading
from cranfield.texts import blockwise, names, peeking, read_documents, streaming
from cranfield.texts import conversion as converting

FORMATS = [format for format in names("documents") if format != "parquet"]


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few lines make many blocks, and falling back on reading everything is noticed."""
    monkeypatch.setattr(blockwise, "LARGE", 0)
    monkeypatch.setattr(blockwise, "BLOCK", 120)
    monkeypatch.setattr(peeking, "_PIECE", 50)


def at_once(source: Any, where: Any, **options: Any) -> tuple[str, ...]:
    """What `convert` did before there were blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(converting, "stream", lambda *_: None)
        patch.setattr(blockwise, "LARGE", 1 << 60)
        return convert(source, where, kind="documents", **options)


def in_blocks(source: Any, where: Any, **options: Any) -> tuple[str, ...]:
    """What `convert` does, and never by reading everything."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(converting, "read_documents", None)
        return convert(source, where, kind="documents", **options)


def documents_in(format: str) -> str:
    """Forty documents; the author comes only late, and some texts look like the beginning of another document."""
    if format in ("csv", "tsv", "msmarco"):
        delimiter = "," if format == "csv" else "\t"
        lines = [["id", "title", "text", "author"]] if format != "msmarco" else []
        lines += [[f"d{i}", "ü" * i, f"text {i}", "brown" if i > 30 else ""] for i in range(40)]
        lines = [[line[0], f"http://{line[0]}", line[1], line[2]] for line in lines] if format == "msmarco" else lines
        return "\n\n".join(delimiter.join(line) for line in lines)
    if format in ("jsonl", "beir"):
        rows = [{"_id": f"d{i}", "text": f"text {i}", **({"author": "brown"} if i > 30 else {})} for i in range(40)]
        return "\r\n".join(json.dumps(row) for row in rows)
    if format == "smart":
        return "".join(f".I d{i}\n.W\n.Ice {i}\n.W\nagain\n" + (".A\nbrown\n" if i > 30 else "") for i in range(40))
    late = "<AUTHOR>brown</AUTHOR>"
    return "Read me\n" + "".join(
        f"<DOC>\n<DOCNO>d{i}</DOCNO>{late if i > 30 else ''}<TEXT>\n&nosuch; {i}\n{'</TEXT></DOC>' if i % 9 else ''}\n"
        for i in range(40)
    )


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("first", [format for format in FORMATS if format != "csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_blocks_give_the_same_bytes_and_notes(first: str, packed: bool, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    text = documents_in(first).encode()
    source.write_bytes(gzip.compress(text[:700]) + gzip.compress(text[700:]) if packed else text)
    for second in FORMATS:
        options = {"reading": Reading(format=first), "to_format": second, "lossy": True}
        told = in_blocks(source, tmp_path / "one", **options)
        assert told == at_once(source, tmp_path / "other", **options)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
        read = read_documents(tmp_path / "one", reading=Reading(format=second))
        assert read.ids == tuple(f"d{i}" for i in range(40))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blockwise, "LARGE", 1 << 60)
            assert read_documents(tmp_path / "one", reading=Reading(format=second)).fields == read.fields


@pytest.mark.usefixtures("_small_blocks")
def test_a_folder_file_by_file(tmp_path: Path) -> None:
    folder = tmp_path / "ap"
    folder.mkdir()
    (folder / "a.sgml").write_text(documents_in("trec"))
    (folder / "b.gz").write_bytes(gzip.compress(documents_in("trec").replace("d", "e").encode()))
    (folder / "readme").write_text("What is here.")
    told = in_blocks(folder, tmp_path / "one.csv")
    assert told == at_once(folder, tmp_path / "other.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert "1 file without documents, left out: readme" in told


TAGS = ["DOC", "doc", "DOCNO", "TEXT", "HEAD", "TITLE", "DOCHDR", "DOCTITLE", "HL", "LP", "B"]
SOUP = [f"<{tag}>" for tag in TAGS] + [f"</{tag}>" for tag in TAGS]
SOUP += ["<html>", "<P>", "<!-- x -->", "<!--", "<!DOCTYPE a>", "<![CDATA[ z ]]>", "&amp;", "&x;", "a<b", "word", "\n"]


def outcome(way: Callable[..., tuple[str, ...]], source: Path, out: Path) -> Any:
    try:
        return way(source, out, reading=Reading(format="trec")), out.read_bytes()
    except DataError as error:
        return str(error).split("\n")[0]  # a block may begin amid the line that is shown below


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_markup_blocks_change_nothing(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    source = tmp_path / "docs"
    for _ in range(60):
        made = [
            f"<DOC><DOCNO>{i}</DOCNO>{''.join(rng.choices(SOUP, k=rng.randint(0, 12)))}{rng.choice(['</DOC>', ''])}\n"
            for i in range(6)
        ]
        source.write_text("".join(made))
        whole = outcome(at_once, source, tmp_path / "out.jsonl")
        assert outcome(partial(convert, kind="documents"), source, tmp_path / "out.jsonl") == whole, "".join(made)


BAD: dict[str, tuple[Callable[[str], str], str]] = {
    "a tab too many": (lambda text: text.replace("text 33", "te\txt"), r"docs:69: 5 fields where 4 are expected"),
    "the same document again": (lambda text: text.replace("d33\t", "d2\t"), r"docs:69: .*'d2'.*\n.*First on line 7\."),
    "the same document at once": (lambda text: text.replace("d33\t", "d32\t"), r"docs:69: .*\n.*First on line 67\."),
    "a NUL": (lambda text: text.replace("text 33", "te\0xt"), r"docs:69: NUL byte at offset"),
}


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
def test_faults_are_told_with_their_lines(spoil: Callable[[str], str], message: str, tmp_path: Path) -> None:
    (tmp_path / "docs").write_text(spoil(documents_in("tsv")))
    with pytest.raises(DataError, match=message):
        at_once(tmp_path / "docs", tmp_path / "out.jsonl")
    with pytest.raises(DataError, match=message):
        convert(tmp_path / "docs", tmp_path / "out.jsonl", kind="documents")
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


@pytest.mark.usefixtures("_small_blocks")
def test_what_blocks_cannot_tell_is_read_at_once(tmp_path: Path) -> None:
    source, out = tmp_path / "docs", tmp_path / "out.jsonl"
    late = documents_in("jsonl").encode() + '\n{"_id": "d99", "text": "caf\xe9"}'.encode("latin-1")
    source.write_bytes(late)
    assert convert(source, out, kind="documents") == (f"1 file not in UTF-8, read as Latin-1: {source}, line 41",)
    assert json.loads(out.read_text().splitlines()[-1])["text"] == "café"
    source.write_text(documents_in("csv"))
    convert(source, out, kind="documents")
    assert len(read_documents(out)) == 40
    source.write_bytes(gzip.compress(documents_in("jsonl").encode())[:-20])
    with pytest.raises(DataError, match="damaged gzip data"):
        convert(source, out, kind="documents")
    source.write_text(documents_in("msmarco") + "\nd99\tno more than this\n")
    with pytest.raises(DataError, match=r"docs:80: 2 fields where 4 are expected"):
        convert(source, out, kind="documents")


@pytest.mark.usefixtures("_small_blocks")
def test_nothing_is_written_if_the_last_block_loses_something(tmp_path: Path) -> None:
    (tmp_path / "docs").write_text(documents_in("jsonl") + '\n{"_id": "d99", "text": "a\\tb"}\n')
    with pytest.raises(DataError, match=r"nothing was written: .*\(1: d99\)"):
        convert(tmp_path / "docs", tmp_path / "out.tsv", kind="documents")
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]
    out = io.StringIO()
    with pytest.raises(DataError, match="nothing was written"):
        convert(tmp_path / "docs", out, kind="documents", to_format="tsv")
    assert out.getvalue() == ""


class Record(NamedTuple):
    doc_id: str
    text: str


class Dataset:
    """Documents that come one by one, and judgements that cannot be had."""

    def has_docs(self) -> bool:
        return True

    def docs_iter(self) -> Iterator[Record]:
        return (Record(f"d{i}", f"text {i}") for i in range(25))


def test_a_dataset_batch_by_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("ir_datasets")
    package.load = {"ducks": Dataset()}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    monkeypatch.setattr(streaming, "BATCH", 10)
    assert in_blocks("irds:ducks", tmp_path / "out.tsv") == ()
    assert read_documents(tmp_path / "out.tsv").ids == tuple(f"d{i}" for i in range(25))


# Pipes


class Input(NamedTuple):
    """Standard input, which can be read only once."""

    buffer: io.BytesIO


def test_what_can_be_read_only_once_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, first in (("1 Q0 d1 1 0.5 a\n", '{"topic": "1"'), ("<DOC><DOCNO>1</DOCNO></DOC>", '{"id": "1"')):
        monkeypatch.setattr(sys, "stdin", Input(io.BytesIO(text.encode())))
        out = io.StringIO()
        convert("-", out, to_format="jsonl")
        assert out.getvalue().startswith(first)
    monkeypatch.setattr(sys, "stdin", Input(io.BytesIO(gzip.compress(b"1 0 d1 1\n"))))
    judgements = describe("-").judgements
    assert judgements is not None
    assert judgements.judged == 1


def test_nothing_at_all_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    for command in (describe, lambda path: convert(path, "-", to_format="csv")):
        with pytest.raises(DataError, match="x: is empty"):
            command(tmp_path / "x")


@pytest.mark.usefixtures("_small_blocks")
def test_no_more_is_unpacked_than_tells_what_a_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "some.gz"
    lines = "".join(f"1 Q0 d{i} {i} 0.5 a\n" for i in range(1000)).encode()
    path.write_bytes(gzip.compress(lines, 0))
    assert peeking.peek(path) == (path, "run")
    assert 0 < len(peeking.beginning(str(path))) < 50
    path.write_bytes(gzip.compress(b"") + gzip.compress(b"1 0 d1 1\n"))
    assert peeking.peek(path) == (path, "qrels")
