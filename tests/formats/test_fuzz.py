"""The readers against random input: what is written comes back, and damaged bytes are read or refused, nothing else.

CRANFIELD_FUZZ sets how many mutations of each input are tried; seeds are fixed, so every run tries the same ones.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import DataError
from cranfield.formats.reading import Reading

MUTATIONS = int(os.environ.get("CRANFIELD_FUZZ") or 300)
THREADS = (1, 2, 5)

Table = dict[str, dict[str, float]]


def reference_reader(text: bytes, topic: int, document: int, value: int) -> Table:
    """What a run or qrels says, read slowly and simply: only for text that is well formed."""
    table: dict[bytes, dict[bytes, float]] = {}
    for line in re.split(rb"\r\n|\r|\n", text.removeprefix(b"\xef\xbb\xbf")):
        fields = re.findall(rb"[^ \t]+", line)
        if fields and fields[0] != b"#":
            table.setdefault(fields[topic], {})[fields[document]] = float(fields[value])
    return {decode(t): {decode(d): v for d, v in documents.items()} for t, documents in table.items()}


def decode(id: bytes) -> str:
    return id.decode("utf-8", "surrogateescape")


def in_order(table: Table) -> dict[str, list[tuple[str, float]]]:
    """Value descending, then id descending as bytes: the order of a run."""

    def key(entry: tuple[str, float]) -> tuple[float, bytes]:
        return entry[1], entry[0].encode("utf-8", "surrogateescape")

    return {topic: sorted(documents.items(), key=key, reverse=True) for topic, documents in table.items()}


def entries(table: Table) -> dict[str, list[tuple[str, float]]]:
    return {topic: list(documents.items()) for topic, documents in table.items()}


# Ids that, coming first, would make the input look like something else: marked, compressed, Parquet, JSON, UTF-16.
MAGIC = (
    b"\xef\xbb\xbf", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"PAR1", b"{", b"\xff\xfe",
    b"\xfe\xff",
)  # fmt: skip
# Bytes that may stand in an id: all but NUL, blank, tab and the line ends.
ids = st.lists(st.sampled_from(sorted(set(range(1, 256)) - set(b" \t\r\n"))), min_size=1, max_size=9).map(bytes)
plain_ids = st.text("abc019#\"',é.", min_size=1, max_size=4).map(str.encode)
any_id = st.one_of(plain_ids, ids).filter(lambda raw: raw != b"#" and not raw.startswith(MAGIC))
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-1000, 1000, places=3, allow_nan=False).map(str),
    st.sampled_from(["0", "-0", "+1", ".5", "5.", "1e3", "1E-3", "00012", "123456789.125", "0.1000000000000000055"]),
)
blanks = st.text(" \t", min_size=1, max_size=3).map(str.encode)
margin = st.text(" \t", max_size=2).map(str.encode)
COMMENTS = [b"\n# a comment\n", b"\n# Q0 d1 1 2.5 tag\n", b"\r\t# 0 d1 3\r\n"]
line_ends = st.sampled_from([b"\n", b"\r\n", b"\r", b"\n\n", b"\n \t\r\n", *COMMENTS])


class Layout(NamedTuple):
    """How a row is written, and where its topic, document and number stand."""

    write: Callable[[bytes, bytes, bytes], list[bytes]]
    positions: tuple[int, int, int]
    read: Callable[..., Any]


RUN = Layout(lambda t, d, v: [t, b"Q0", d, b"1", v, b"tag"], (0, 2, 4), cranfield.read_run)
LONG_RUN = Layout(lambda t, d, v: [t, b"Q0", d, b"1", v, b"tag", b"and", b"more"], (0, 2, 4), cranfield.read_run)
QRELS = Layout(lambda t, d, v: [t, b"0", d, v], (0, 2, 3), cranfield.read_qrels)


@st.composite
def texts(draw: st.DrawFn) -> tuple[Layout, bytes]:
    """A table without duplicates, its lines in any order, blanks and line ends of every legal kind."""
    layout = draw(st.sampled_from([RUN, LONG_RUN, QRELS]))
    keys = draw(st.lists(st.tuples(any_id, any_id), min_size=1, max_size=12, unique=True))
    out = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
    for topic, document in keys:
        row = layout.write(topic, document, draw(numbers).encode())
        out += draw(margin)
        for field in row[:-1]:
            out += field + draw(blanks)
        out += row[-1] + draw(margin) + draw(line_ends)
    return layout, out if draw(st.booleans()) else out.rstrip(b"\r\n")


@given(texts())
@settings(max_examples=200, derandomize=True)
def test_what_is_written_is_read(written: tuple[Layout, bytes]) -> None:
    layout, text = written
    expected = reference_reader(text, *layout.positions)
    read = layout.read(io.BytesIO(text)).to_dict()
    assert read == expected
    if layout is not QRELS:
        assert entries(read) == in_order(expected)


@given(texts(), st.randoms(use_true_random=False))
@settings(max_examples=100, derandomize=True)
def test_order_of_lines_does_not_count(written: tuple[Layout, bytes], shuffler: random.Random) -> None:
    layout, text = written
    lines = [line for line in re.split(rb"\r\n|\r|\n", text.removeprefix(b"\xef\xbb\xbf")) if line.strip(b" \t")]
    before = layout.read(io.BytesIO(b"\n".join(lines))).to_dict()
    shuffler.shuffle(lines)
    after = layout.read(io.BytesIO(b"\n".join(lines))).to_dict()
    assert after == before
    if layout is not QRELS:
        assert entries(after) == entries(before)


def large_table(seed: int, rows: int) -> tuple[list[bytes], Table]:
    """Rows of several chunks of the reader, with many ties and topics that come and go; and what they say."""
    chooser = random.Random(seed)
    table: Table = {}
    lines = []
    for i in range(rows):
        topic, document = f"q{chooser.randrange(40)}", f"doc-{i}-" + "x" * chooser.randrange(30)
        value = chooser.choice([str(chooser.randrange(20)), repr(chooser.random()), f"{chooser.uniform(-9, 9):.4f}"])
        table.setdefault(topic, {})[document] = float(value)
        blank = chooser.choice([" ", "\t", "  "])
        end = chooser.choice(["\n", "\n", "\n", "\r\n", "\n\n", "\r"])
        lines.append((blank.join([topic, "Q0", document, "1", value, "tag"]) + end).encode())
    return lines, table


@pytest.mark.parametrize("seed", range(2))
def test_threads_and_order_do_not_count_in_large_files(seed: int) -> None:
    lines, table = large_table(seed, 60_000)
    expected = in_order(table)
    for threads in THREADS:
        assert (
            entries(cranfield.read_run(io.BytesIO(b"".join(lines)), reading=Reading(threads=threads)).to_dict())
            == expected
        )
    random.Random(seed).shuffle(lines)
    assert entries(cranfield.read_run(io.BytesIO(b"".join(lines)), reading=Reading(threads=2)).to_dict()) == expected


@pytest.mark.parametrize("ties", ["docid", "file"])
def test_threads_do_not_change_a_score(ties: str) -> None:
    """Ties by file included, where rows of one topic come from several chunks."""
    lines, table = large_table(7, 60_000)
    chooser = random.Random(8)
    qrels = {
        t: {d: chooser.randrange(3) for d in chooser.sample(sorted(documents), 50)} for t, documents in table.items()
    }
    measures, policy = ["nDCG", "AP", "RR", "P@20", "Bpref"], cranfield.Policy(ties=ties)
    text = b"".join(lines)
    scores = [
        cranfield.evaluate(
            qrels, io.BytesIO(text), measures, policy=policy, reading=Reading(threads=threads)
        ).scores.tolist()
        for threads in THREADS
    ]
    assert scores[0] == scores[1] == scores[2]


def test_ties_by_file_follow_the_file_across_chunks() -> None:
    """All scores equal: the document on line n has rank n, although the topic's rows are scattered over the file."""
    rows = 60_000
    lines = [b"q%d Q0 %s 1 1 tag\n" % (i % 3, b"d%06d" % ((i * 7919) % rows)) for i in range(rows)]
    wanted = [rows // 2, 5, rows - 2]
    qrels = {f"q{i % 3}": {f"d{(i * 7919) % rows:06d}": 1} for i in wanted}
    results = cranfield.evaluate(qrels, io.BytesIO(b"".join(lines)), "RR", policy=cranfield.Policy(ties="file"))
    expected = {f"q{i % 3}": 1 / (i // 3 + 1) for i in wanted}
    assert {topic: values["RR"] for topic, values in results.per_topic()["run"].items()} == expected


SEEDS: Mapping[str, tuple[Callable[..., Any], bytes]] = {
    "run": (
        cranfield.read_run,
        b"q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2 8.25e-1 tag\n# comment\nq2 Q0 d1 1 -3 tag\nq2 Q0 d3 2 -inf tag\n",
    ),
    "qrels": (cranfield.read_qrels, b"q1 0 d1 1\nq1 0 d2 0\n\nq2 0 d1 2\nq2 0 d3 -1\nq2 0 d4 0.5\n"),
    "csv": (
        cranfield.read_run,
        b'topic,document,score,rank,note\nq1,d1,9.5,1,a\nq1,"d,2",8.5,2,"b ""c"""\nq2,d1,-1e3,1,\n',
    ),
    "tsv": (cranfield.read_qrels, b'query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td"2\t0\nq2\td1\t2\n'),
    "jsonl": (
        cranfield.read_run,
        b'{"qid": "q1", "docno": "d1", "score": 9.5}\n{"qid": "q1", "docno": "d\\u00e9", "score": 8}\n'
        b'{"docno": 7, "qid": "q2", "score": -1e3}\n',
    ),
    "json": (cranfield.read_qrels, b'{"q1": {"d1": 1, "d2": 0},\n "q2": {"d\\u00e9": 2, "d3": 0.5}}\n'),
}
FORMATS = ("trec", "msmarco", "csv", "tsv", "jsonl", "json")
SPECIAL: Sequence[bytes] = (
    b"\0", b"\r", b"\n", b"\r\n", b'"', b'""', b"'", b"\xff", b"\xfe", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe9", b"0",
    b"9", b"e", b"E", b".", b"-", b"+", b"#", b",", b"\t", b" ", b"{", b"}", b"[", b"]", b":", b"\\", b"\\u",
    b"\\ud800", b"nan", b"NaN",
    b"inf", b"Infinity", b"1e999", b"e999", b"e-999", b"9" * 400, b"9" * 5000, b"0x", b"_", b"null", b"true",
    b"\x1f\x8b", b"BZh", b"PAR1", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"x" * 70_000, b"," * 100,
)  # fmt: skip


def mutated(data: bytes, chooser: random.Random) -> bytes:
    """The data with one to four accidents."""
    out = bytearray(data)
    for _ in range(chooser.randint(1, 4)):
        at = chooser.randrange(len(out) + 1)
        length = chooser.choice([1, 1, 1, 2, 5, 20])
        match chooser.randrange(6):
            case 0 if at < len(out):
                out[at] ^= 1 << chooser.randrange(8)
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = out[at : at + length]
            case 3:
                out[at : at + length] = chooser.choice(SPECIAL)
            case 4:
                del out[at:]
            case _:
                out[at:at] = chooser.choice(SPECIAL)
    return bytes(out)


def read_or_refuse(read: Callable[..., Any], data: bytes, format: str | None = None) -> bool:
    """Whether the data can be read. Only a DataError may refuse it, and it must be fit to print."""
    try:
        table = read(io.BytesIO(data), reading=Reading(format=format, threads=1))
    except DataError as error:
        message = str(error)
        assert all(c.isprintable() or c in "\n\t" for c in message), repr(message)
        assert len(message) < 2000, "the error shows too much of the input"
        return False
    assert len(table) == sum(map(len, table.to_dict().values())) > 0
    return True


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_text_is_read_or_refused(name: str) -> None:
    read, data = SEEDS[name]
    assert read_or_refuse(read, data)
    for seed in range(MUTATIONS):
        chooser = random.Random(f"{name} {seed}")
        damaged = mutated(data, chooser)
        format = chooser.choice([None, None, None, name if name in FORMATS else "trec", *FORMATS])
        try:
            read_or_refuse(read, damaged, format)
        except Exception as error:
            error.add_note(f"mutation {seed} of {name} as {format}: {damaged[:300]!r}")
            raise


@pytest.mark.parametrize("name", SEEDS)
def test_every_prefix_is_read_or_refused(name: str) -> None:
    """Files that were cut short: the commonest accident of all."""
    read, data = SEEDS[name]
    for length in range(len(data)):
        try:
            read_or_refuse(read, data[:length])
        except Exception as error:
            error.add_note(f"the first {length} bytes of {name}: {data[:length]!r}")
            raise


def test_damaged_gzip_is_read_as_before_or_refused() -> None:
    """The checksum stands between damage and a number; what can still be read must be what was written."""
    read, text = SEEDS["run"]
    whole = read(io.BytesIO(text)).to_dict()
    packed = gzip.compress(text, mtime=0)
    for seed in range(MUTATIONS):
        chooser = random.Random(f"gzip {seed}")
        damaged = bytearray(packed)
        for _ in range(chooser.randint(1, 3)):
            damaged[chooser.randrange(2, len(damaged))] ^= 1 << chooser.randrange(8)
        try:
            table = read(io.BytesIO(bytes(damaged))).to_dict()
        except DataError:
            continue
        assert table == whole, f"mutation {seed}"


@pytest.mark.parametrize("length", range(2, 40, 3))
def test_gzip_cut_short_is_refused(length: int) -> None:
    """Its first bytes alone may be taken for text, but not for a run."""
    with pytest.raises(DataError, match="damaged gzip" if length > 4 else "open file"):
        cranfield.read_run(io.BytesIO(gzip.compress(SEEDS["run"][1], mtime=0)[:length]))
