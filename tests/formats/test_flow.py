"""Compressed runs that are judged while they are unpacked, and texts in which topics stand scattered: whatever way a
run is read, its numbers and its errors are those of the plain, grouped text."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cranfield
from cranfield import DataError
from cranfield._core import TextStream
from cranfield.formats import sources, unpacking
from cranfield.formats.reading import Reading
from cranfield.formats.trec_text import RUN
from cranfield.formats.unpacking import zstd_module

MEASURES = ["AP", "nDCG@10", "RR", "P@5"]
TOPICS, ROWS = 250, 200  # more than a piece of text
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: bytes(zstd_module().compress(data)),
    "members.gz": lambda data: gzip.compress(data[:700_001]) + gzip.compress(data[700_001:]),
}


def lines_of(seed: int = 7) -> list[str]:
    """A run with ties and ranks."""
    chance = random.Random(seed)
    lines = []
    for topic in range(TOPICS):
        for rank, number in enumerate(chance.sample(range(9000), ROWS), start=1):
            lines.append(f"t{topic} Q0 document-{number} {rank} {chance.choice([1.5, 2.0, chance.random()])} tag\n")
    return lines


LINES = lines_of()


@pytest.fixture(scope="module")
def qrels(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("flow") / "qrels"
    judged = (line.split() for line in LINES[::5])
    path.write_text("".join(f"{words[0]} 0 {words[2]} {len(words[2]) % 3}\n" for words in judged))
    return str(path)


@pytest.fixture
def not_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """No compressed text may be held whole."""

    def refused(stored: sources.Buffer, label: str, threads: int) -> sources.Buffer:
        assert unpacking.compression_of(bytes(stored[:10])) is None, f"{label} was unpacked whole"
        return stored

    monkeypatch.setattr(sources, "_decompressed", refused)


def scores(qrels: str, run: Path, threads: int = 2, ties: str = "docid") -> object:
    policy = cranfield.Policy(ties=ties)
    results = cranfield.evaluate(qrels, str(run), MEASURES, policy=policy, reading=Reading(threads=threads))
    return results.scores.tolist(), sorted((warning.code, warning.message) for warning in results.warnings)


@pytest.mark.usefixtures("not_whole")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("form", PACKED)
def test_a_packed_run_scores_as_the_plain_one(form: str, threads: int, qrels: str, tmp_path: Path) -> None:
    text = "".join(LINES).encode()
    plain, packed = tmp_path / "plain.run", tmp_path / f"packed.run.{form}"
    plain.write_bytes(text)
    packed.write_bytes(PACKED[form](text))
    for ties in ("docid", "file"):
        assert scores(qrels, packed, threads, ties) == scores(qrels, plain, threads, ties)


@pytest.mark.usefixtures("not_whole")
@pytest.mark.parametrize(
    "kind", ["crlf", "cr", "mark", "no last newline", "comments", "csv", "tsv", "msmarco", "short"]
)
def test_other_texts_flow_too(kind: str, qrels: str, tmp_path: Path) -> None:
    text = "".join(LINES)
    rows = [line.split() for line in LINES]
    name = {"csv": "run.csv", "tsv": "run.tsv"}.get(kind, "run.run")
    text = {
        "crlf": text.replace("\n", "\r\n"),
        "cr": text.replace("\n", "\r"),
        "mark": "\ufeff" + text,
        "no last newline": text[:-1],
        "comments": f"# ir_metadata.start\n# tag: x\n# ir_metadata.end\n{text}# the end\n",
        "csv": "topic,document,score\n" + "".join(f"{row[0]},{row[2]},{row[4]}\n" for row in rows),
        "tsv": "topic\tdocument\tscore\n" + "".join(f"{row[0]}\t{row[2]}\t{row[4]}\n" for row in rows),
        "msmarco": "".join(f"{row[0]}\t{row[2]}\t{row[3]}\n" for row in rows),
        "short": "".join(LINES[:3]),
    }[kind]
    (tmp_path / name).write_text(text, newline="")
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    reading = Reading(format="msmarco") if kind == "msmarco" else Reading()
    plain, packed = (
        cranfield.evaluate(qrels, str(tmp_path / file), MEASURES, reading=reading) for file in (name, f"{name}.gz")
    )
    assert packed.scores.tolist() == plain.scores.tolist()
    assert [(w.code, w.message) for w in packed.warnings] == [(w.code, w.message) for w in plain.warnings]
    assert packed.inputs[1]._replace(path="", digest="") == plain.inputs[1]._replace(path="", digest="")


@pytest.mark.usefixtures("not_whole")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_alike_wherever_pieces_do(
    end: str, qrels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A piece may end between CR and LF."""
    text = end.join([*"".join(LINES).splitlines(), ""]).encode()
    (tmp_path / "plain.run").write_text("".join(LINES))
    (tmp_path / "packed.run.gz").write_bytes(gzip.compress(text))
    expected = scores(qrels, tmp_path / "plain.run")
    for piece in (1 << 20, (1 << 20) + 1, (1 << 20) + 2, 54_321):
        stream = TextStream(RUN, cranfield.read_qrels(qrels).table, False, 2)
        assert all(stream.feed(text[at : at + piece]) for at in range(0, len(text), piece))
        read = stream.finish()
        assert read is not None
        assert (read[0].row_count, read[1]) == (TOPICS * ROWS, 0)
    assert scores(qrels, tmp_path / "packed.run.gz") == expected


SCATTERED = {
    "by turns": lambda lines: [lines[i * ROWS + j] for j in range(ROWS) for i in range(TOPICS)],
    "shuffled": lambda lines: random.Random(1).sample(lines, len(lines)),
    "one line elsewhere": lambda lines: [*lines[1:], lines[0]],
    "in two halves": lambda lines: [
        line for half in (0, 1) for i, line in enumerate(lines) if (i % ROWS < ROWS // 2) == (half == 0)
    ],
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("how", SCATTERED)
def test_scattered_topics_score_as_those_together(how: str, packed: bool, qrels: str, tmp_path: Path) -> None:
    lines = SCATTERED[how](LINES)
    together = sorted(lines, key=lambda line: int(line.split()[0][1:]))  # stable: ties stand as in the scattered file
    (tmp_path / "together.run").write_text("".join(together))
    text = "".join(lines).encode()
    scattered = tmp_path / ("scattered.run.gz" if packed else "scattered.run")
    scattered.write_bytes(gzip.compress(text) if packed else text)
    for ties in ("docid", "file"):
        for threads in (1, 2):
            assert scores(qrels, scattered, threads, ties) == scores(qrels, tmp_path / "together.run", 1, ties)


FAULTS = {
    "a number": (40_000, "t199 Q0 d1 1 much tag\n"),
    "few fields": (30_000, "t149 Q0 d1\n"),
    "nul": (20_000, "t99 Q0 d\0 1 2.5 tag\n"),
    "not a number": (49_999, "t249 Q0 d1 1 nan tag\n"),
    "another score": (10_000, LINES[9_990].replace(" tag", "9 tag")),
    "another score far away": (50_000, LINES[10].replace(" tag", "9 tag")),
}


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_as_in_the_plain_text(fault: str, scattered: bool, qrels: str, tmp_path: Path) -> None:
    place, line = FAULTS[fault]
    lines = [*LINES[:place], line, *LINES[place:]]
    if scattered:
        lines = [*lines[1:], lines[0]]
    text = "".join(lines).encode()
    told = []
    for name, content in (("run.run", text), ("run.run.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(content)
        for threads in (1, 2):
            with pytest.raises(DataError) as caught:
                scores(qrels, tmp_path / name, threads)
            told.append(str(caught.value).replace(name, ""))
    assert len(set(told)) == 1
    at = place if scattered else place + 1
    assert f":{at}:" in told[0]


@pytest.mark.parametrize("cut", [1000, -5])
def test_what_ends_too_early_is_refused(cut: int, qrels: str, tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress("".join(LINES).encode())[:cut])
    with pytest.raises(DataError, match=r"damaged gzip data \(it ends too early\)"):
        scores(qrels, tmp_path / "run.gz")


def test_damage_in_the_middle_is_refused(qrels: str, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress("".join(LINES).encode()))
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "run.gz").write_bytes(packed)
    with pytest.raises(DataError, match="damaged gzip data"):
        scores(qrels, tmp_path / "run.gz")


def test_without_a_faster_library_zlib_does(monkeypatch: pytest.MonkeyPatch, qrels: str, tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress("".join(LINES).encode()))
    known = scores(qrels, tmp_path / "run.gz")
    monkeypatch.setitem(sys.modules, "isal.isal_zlib", None)
    assert unpacking._zlib().__name__ == "zlib"
    assert scores(qrels, tmp_path / "run.gz") == known
