"""Uploads as the package reads them, in a child process: what is kept, what is told, and what they cannot do."""

from __future__ import annotations

import ast
import base64
import bz2
import gzip
import json
import lzma
import os
import random
import stat
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import cranfield
from commands import command_line
from cranfield.formats import read_qrels, read_run
from cranfield.texts import read_documents, read_topics
from cranfield.web.uploads import child
from cranfield.web.uploads.child import ChildLimits, in_child, work_folder
from cranfield.web.uploads.file_names import LONGEST, harmless_name
from cranfield.web.uploads.leftovers import remove_leftovers
from cranfield.web.uploads.reading import (
    MOST_FINDINGS,
    CheckedUpload,
    UploadKind,
    UploadOptions,
    _checked,
    checked_upload,
)
from cranfield.web.uploads.refusal import UploadError
from cranfield.web.uploads.unpacking import UnpackingLimits
from places import EXAMPLES, ROOT

PACKAGE = Path(cranfield.__file__).parent
RUN = b"q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2 8.5 tag\nq2 Q0 d1 1 3 tag\n"
QRELS = b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d9 2\n"
SMART = b".I 1\n.T\nducks\n.W\nThey swim.\n.I 2\n.W\nThey fly.\n"
SGML = b"<DOC><DOCNO> d1 </DOCNO><TEXT>They swim.</TEXT></DOC>\n<DOC><DOCNO>d2</DOCNO><TEXT>They fly.</TEXT></DOC>\n"
TOPICS = b"<top>\n<num> Number: 051\n<title> Topic: ducks\n<desc> Description:\nHow do they swim?\n</top>\n"
BEIR = b'{"_id": "d1", "title": "Ducks", "text": "They swim."}\n{"_id": "d2", "title": "", "text": "They fly."}\n'


def checked(folder: Path, kind: UploadKind, data: bytes, name: str = "mine.txt", **more: Any) -> CheckedUpload:
    upload = folder / "upload"
    upload.write_bytes(data)
    try:
        return checked_upload(upload, kind=kind, name=name, folder=folder, **more)
    finally:
        upload.unlink()
        assert not [name for name in os.listdir(folder) if name.startswith("child-")]


def refusal(folder: Path, kind: UploadKind, data: bytes, name: str = "mine.txt", **more: Any) -> UploadError:
    with pytest.raises(UploadError) as refused:
        checked(folder, kind, data, name, **more)
    assert str(folder) not in str(refused.value)
    assert os.listdir(folder) == []
    return refused.value


def test_a_run_is_kept_as_trec_text(tmp_path: Path) -> None:
    csv = b"qid,docid,score\nq1,d1,9.5\nq1,d2,8.5\nq2,d1,3\n"
    for data, format, tag in ((RUN, "trec", "tag"), (csv, "csv", "")):
        for packed, compression in ((data, None), (gzip.compress(data), "gzip"), (bz2.compress(data), "bzip2")):
            run = checked(tmp_path, "run", packed)
            assert (run.rows, run.topics, run.documents) == (3, 2, 2)
            assert (run.compression, run.format, run.tag, run.findings) == (compression, format, tag, ())
            kept = Path(run.path)
            assert read_run(run.path).to_dict() == {"q1": {"d1": 9.5, "d2": 8.5}, "q2": {"d1": 3.0}}
            assert (kept.parent, kept.suffix, stat.S_IMODE(kept.stat().st_mode)) == (tmp_path, ".run", 0o600)
            assert (run.size, len(run.sha256), run.name) == (kept.stat().st_size, 64, "mine.txt")
            run.remove()
            run.remove()
            assert os.listdir(tmp_path) == []


def test_judgements_topics_and_documents_are_kept_in_one_form(tmp_path: Path) -> None:
    qrels = checked(tmp_path, "judgements", QRELS)
    assert (qrels.rows, qrels.topics, qrels.documents) == (3, 2, 3)
    assert read_qrels(qrels.path).to_dict() == {"q1": {"d1": 1.0, "d2": 0.0}, "q2": {"d9": 2.0}}
    topics = checked(tmp_path, "topics", TOPICS)
    assert (topics.rows, topics.topics, topics.documents) == (1, 1, 0)
    assert read_topics(topics.path).queries() == ["ducks"]
    assert read_topics(checked(tmp_path, "topics", TOPICS, options=UploadOptions(ids="number")).path).ids == ("51",)
    for data in (SMART, SGML, BEIR):
        documents = checked(tmp_path, "documents", data)
        assert (documents.rows, documents.topics, documents.documents) == (2, 0, 2)
        assert documents.path.endswith(".documents.jsonl")
        assert read_documents(documents.path).fields["text"] == ["They swim.", "They fly."]


def test_findings_are_those_of_check(tmp_path: Path) -> None:
    """The sentences are those that the command prints, of judgements and of a run held against them."""
    odd = b"q1 Q0 d1 1 1 tag\nq1 Q0 d2 2 1 tag\nq1 Q0 d3 3 5 other\nq7 Q0 d1 1 1 tag\n"
    (tmp_path / "given").mkdir()
    for name, data in (("mine.run", odd), ("judgements", QRELS)):
        (tmp_path / "given" / name).write_bytes(data)
    printed = command_line("check", "judgements", "mine.run", folder=tmp_path / "given").stdout
    run = checked(tmp_path, "run", odd, "mine.run", judgements=tmp_path / "given" / "judgements")
    told = [f"{'doubtful' if of.doubtful else 'note':<8}  {of.code:<20}  {of.message}" for of in run.findings]
    assert len(told) >= 4
    assert printed.startswith("\n".join(told) + "\n\n")
    alone = checked(tmp_path, "run", odd, "mine.run")
    assert [(of.code, of.doubtful) for of in alone.findings] == [
        ("several-tags", True),
        ("rank-disagreement", True),
        ("ties", False),
    ]
    assert alone.findings[2].message == "mine: 2 documents tied in score: a convention orders them"
    of_texts = checked(tmp_path, "documents", SMART.replace(b"They fly.", b"")).findings
    assert [of.message for of in of_texts] == ["1 document without a word"]


def test_findings_are_at_most_a_hundred() -> None:
    said = {"findings": [["a", "b", True]] * 130, "compression": None, "format": None, "tag": "\x1b\ud800"}
    kept = _checked("run", "a.run", {**said, "rows": 1, "topics": 1, "documents": 1}, "a")  # type: ignore[dict-item]
    assert (len(kept["findings"]), kept["more_findings"], MOST_FINDINGS) == (100, 30, 100)
    assert kept["tag"].encode() == b"\\x1b\\ud800"


def test_all_faults_come_back_in_the_packages_words_under_the_clients_name(tmp_path: Path) -> None:
    wrong = RUN + b"q3 Q0 d1 1 high tag\nq3 Q0 d2\n"
    error = refusal(tmp_path, "run", wrong, "/home/ada/best.run")
    (tmp_path / "best.run").write_bytes(wrong)
    with pytest.raises(cranfield.DataError) as known:
        read_run(str(tmp_path / "best.run"))
    (tmp_path / "best.run").unlink()
    assert error.status == 422
    assert str(error).startswith(str(known.value).replace(f"{tmp_path}/", ""))
    assert "Also:\n    best.run:5: 3 fields" in str(error)


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("run", b"", "mine.txt: is empty"),
        ("run", QRELS, "This looks like judgements, and a run is expected here: send it as judgements."),
        ("judgements", RUN, "This looks like a run, and judgements are expected here: send it as a run."),
        ("judgements", b"q1 0 d1 0\n", "mine.txt: nothing is relevant: no grade is above 0"),
        ("run", RUN.replace(b"9.5", b"nan"), "mine.txt:1: score is 'nan'"),
        ("run", b"q1 Q0 d\0 1 1 t\n", "mine.txt:1: NUL byte at offset 7"),
        ("run", RUN.decode().encode("utf-16"), "mine.txt: is UTF-16"),
        ("run", gzip.compress(RUN)[:-9], "mine.txt: damaged gzip data"),
        ("documents", b"no documents", "mine.txt:1: is in no known format of documents"),
        ("documents", SMART + b".I 1\n.W\nagain\n", "mine.txt:9: document '1' comes a second time"),
        ("topics", b"no topics", "mine.txt: has no <top> and no <topic>"),
        ("documents", b'{"_id": "a", "text": ' + b"[" * 100_000 + b"\n", "mine.txt:1: "),
        ("run", b"PK\x03\x04" + bytes(100), "mine.txt: is a zip archive"),
        ("run", gzip.compress(gzip.compress(RUN)), "mine.txt: is compressed twice"),
        ("documents", b"PAR1" + bytes(100), "mine.txt: is a Parquet file"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_input_is_told_in_the_packages_words(tmp_path: Path, kind: UploadKind, data: bytes, words: str) -> None:
    assert words in str(refusal(tmp_path, kind, data))


def test_names_are_made_harmless(tmp_path: Path) -> None:
    for name in ("../../etc/passwd", "C:\\a\\b.run", "irds:vaswani", "-", ".kept", "a\0b", "\u202efdp.run", "x" * 400):
        harmless = harmless_name(name)
        assert harmless == harmless_name(harmless)
        assert 0 < len(harmless) <= LONGEST
        assert not set(harmless) & set("/\\:\0\u202e \n")
        assert harmless[0] not in ".-"
        assert str(refusal(tmp_path, "run", b"wrong\n", name)).startswith(f"{harmless}:1: ")


def test_a_name_is_no_module(tmp_path: Path) -> None:
    """What lies in the child's folder under the name of a library that readers load late is not loaded."""
    trap = b"raise SystemExit(9)\n"
    for name in ("lzma.py", "numpy.py", "json.py", "pyarrow.py"):
        assert "fields where trec needs" in str(refusal(tmp_path, "run", trap, name))


@pytest.mark.parametrize("kind", ["run", "judgements", "topics", "documents"])
def test_what_names_other_files_is_refused(tmp_path: Path, kind: UploadKind) -> None:
    secret = tmp_path / "secret" / "qrels.txt"
    secret.parent.mkdir()
    secret.write_bytes(QRELS)
    toml = f'documents = "{secret}"\ntopics = "{secret}"\nqrels = "{secret}"\n'.encode()
    folder = tmp_path / "uploads"
    folder.mkdir()
    error = refusal(folder, kind, toml, "lake.TOML")
    assert (error.code, "a TOML file names other files" in str(error)) == ("not-one-file", True)
    for data in (toml, f"{secret}\n".encode(), b"irds:vaswani\n", b"ir_datasets:vaswani", b"http://127.0.0.1/a.run\n"):
        assert refusal(folder, kind, data).code == "contents"


def test_links_pipes_folders_and_devices_are_no_uploads(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "link").symlink_to(tmp_path / "run")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "link", tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "missing"):
        with pytest.raises(UploadError) as refused:
            checked_upload(path, kind="run", name="a.run", folder=tmp_path)
        assert refused.value.code == "not-one-file"
        assert str(refused.value).startswith("a.run: is no file")
        with pytest.raises(UploadError, match="the judgements: is no file"):
            checked_upload(tmp_path / "run", kind="run", name="a.run", folder=tmp_path, judgements=path)


def test_a_client_may_name_few_formats(tmp_path: Path) -> None:
    ducks = b"1\tducks\n2\tgeese\n"
    assert checked(tmp_path, "topics", ducks, options=UploadOptions(format="msmarco")).rows == 2
    for name in os.listdir(tmp_path):
        (tmp_path / name).unlink()
    for format in ("parquet", "a.module:Name", "x" * 500):
        error = refusal(tmp_path, "topics", ducks, options=UploadOptions(format=format))
        assert str(error).startswith("uploads of topics are in trec, smart, ")
    assert str(refusal(tmp_path, "topics", ducks, options=UploadOptions(ids="x"))).startswith("ids are given, ")


def test_what_a_killed_server_leaves_is_removed(tmp_path: Path) -> None:
    kept = Path(checked(tmp_path, "run", RUN).path)
    (tmp_path / "0123.upload").write_bytes(RUN)
    (tmp_path / "child-x").mkdir()
    (tmp_path / "child-x" / "a.run").write_bytes(RUN)
    (tmp_path / "child-y").symlink_to("/etc")
    assert remove_leftovers(tmp_path) == 2
    assert sorted(os.listdir(tmp_path)) == sorted([kept.name, "child-y"])


def of_four_gigabytes() -> bytes:
    """A small xz file that asks for a dictionary of 4 GiB."""
    packed = bytearray(lzma.compress(RUN))
    assert (packed[12], packed[14]) == (2, 0x21)
    packed[16] = 40
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    return bytes(packed)


def test_bombs_end_in_the_child_within_less_memory_than_they_have_text(tmp_path: Path) -> None:
    small = ChildLimits(memory=300 << 20, wall_seconds=60)
    line = b"q1 Q0 d1 1 9.5 tag\n" * (1 << 18)
    for packed in (bz2.compress(line) * 100, lzma.compress(line) * 100, gzip.compress(line) * 100):
        assert refusal(tmp_path, "run", packed, limits=small).code == "expansion"
    assert refusal(tmp_path, "run", of_four_gigabytes(), limits=small).code == "memory"
    long = b"".join(b"q1 Q0 d%d 1 %d tag\n" % (i, i) for i in range(1_000_000))
    assert refusal(tmp_path, "run", long, limits=small).code == "memory"


def test_no_file_is_written_that_is_too_long(tmp_path: Path) -> None:
    """Neither what is unpacked nor what is kept, which has more columns than what came."""
    rows = b"topic,document,score\n" + b"".join(b"q1,d%d,%d\n" % (i, i) for i in range(5000))
    for data, most in ((gzip.compress(rows), len(rows) // 2), (rows, len(rows) + 1000)):
        error = refusal(tmp_path, "run", data, limits=ChildLimits(file_bytes=most))
        assert (error.code, f"more than {most:,} bytes" in str(error)) == ("file-size", True)


def test_the_ratio_of_every_reader_holds_as_well(tmp_path: Path) -> None:
    """Where the uploads' own ratio is set beyond reason, that of every reader holds."""
    packed = bz2.compress(b"q1 Q0 d1 1 9.5 tag\n" * (1 << 18)) * 80
    wide = UnpackingLimits(ratio=1 << 40, rows=1 << 40)
    assert "is compressed to less than 1/500 of its text" in str(refusal(tmp_path, "run", packed, unpacking=wide))


def imports_of(module: str) -> set[str]:
    """The modules of the package that a module may load, at its top or later."""
    base = PACKAGE.joinpath(*module.split(".")[1:])
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not path.is_file():
        return set()
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.startswith("cranfield.")}


def test_no_upload_can_reach_what_imports_measures() -> None:
    """From the uploads' modules, by whatever way of imports, nobody comes to where names become code."""
    to_see = {f"cranfield.web.uploads.{path.stem}" for path in (PACKAGE / "web" / "uploads").glob("*.py")}
    seen: set[str] = set()
    while to_see:
        module = to_see.pop()
        if module not in seen:
            seen.add(module)
            to_see |= imports_of(module)
    assert {"cranfield.formats.sources", "cranfield.evaluation.checking", "cranfield.texts.conversion"} <= seen
    assert not [name for name in seen if name.startswith(("cranfield.measures.importing", "cranfield.cli"))]


PIECES = (b"\n", b"\0", b"\r", b"\t", b"<", b"{", b'"', b"1e999", b"nan", b"\xff\xfe")


def mutated(random: random.Random, data: bytes) -> bytes:
    """Bytes with a few of them changed, cut off, doubled or moved."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 6)):
        at, to = sorted((random.randrange(len(changed) + 1), random.randrange(len(changed) + 1)))
        kind = random.randrange(5)
        if kind == 0:
            changed[at:at] = random.randbytes(random.randrange(1, 9))
        elif kind == 1:
            del changed[at : min(to, at + 20)]
        elif kind == 2:
            changed[at:at] = changed[at:to]
        elif kind == 3 and changed:
            changed[min(at, len(changed) - 1)] = random.randrange(256)
        else:
            changed[at:at] = random.choice(PIECES)
    return bytes(changed)


HOSTILE = (
    b"/etc/passwd\n",
    b"irds:vaswani",
    b'qrels = "/etc/passwd"\n',
    b'{"_id": "file:///etc/passwd", "text": "http://127.0.0.1/"}\n',
    b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><DOC><DOCNO>1</DOCNO><TEXT>&b;</TEXT></DOC>',
    b"q1 Q0 os:system 1 1 os:system\n",
    b'# ir_metadata.start\n# measures: "os:system@10"\n# ir_metadata.end\nq1 Q0 d1 1 1 a\n',
)


def test_hundreds_of_random_uploads_are_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One child reads them all, as every kind: none fails otherwise than in words, none opens what it names."""
    places = (str(ROOT / "tests" / "common"), os.environ.get("PYTHONPATH"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    monkeypatch.setattr(child, "MODULE", "misbehaving_child")
    drawn = random.Random(15)
    right = [RUN, QRELS, SMART, SGML, TOPICS, BEIR, (EXAMPLES / "bm25.run").read_bytes()]
    right += [gzip.compress(RUN, mtime=0), bz2.compress(QRELS), lzma.compress(BEIR)]
    names = ("a.run", "a.qrels", "a.txt", "a.csv", "a.json", "a.xml", "upload")
    uploads = [(drawn.choice(names), drawn.randbytes(drawn.randrange(300))) for _ in range(100)]
    uploads += [(drawn.choice(names), mutated(drawn, drawn.choice(right))) for _ in range(300)]
    uploads = [("a.txt", data) for data in (*right, *HOSTILE)] + uploads
    (tmp_path / "uploads").write_text(json.dumps([(name, base64.b64encode(data).decode()) for name, data in uploads]))
    opened = os.open(tmp_path / "uploads", os.O_RDONLY)
    try:
        with work_folder(tmp_path) as work:
            arguments: Any = {"unpacking": asdict(UnpackingLimits(text_bytes=1 << 24))}
            many = ChildLimits(answer_bytes=1 << 24)
            said: Any = in_child("check_many", arguments, inputs={"upload": opened}, folder=work, limits=many)
    finally:
        os.close(opened)
    outcomes = said["outcomes"]
    assert len(outcomes) == 4 * len(uploads)
    failed = [(uploads[int(number)], kind, text) for number, kind, outcome, text in outcomes if outcome == "failed"]
    assert failed == []
    assert sum(outcome == "read" for _, _, outcome, _ in outcomes) > 50
    assert sum(outcome == "refused" for _, _, outcome, _ in outcomes) > 500
    assert not [text for *_, text in outcomes if str(tmp_path) in text]
    assert said["outside"] == []
    assert "cranfield.measures.importing" not in said["modules"]
    assert not [name for name in said["modules"] if name.startswith("cranfield.cli")]
