"""JSON lines: the core reads what Python's json reads, to the bit, or leaves it to Python."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import DataError
from cranfield.formats import json_lines, request_for
from cranfield.formats.format import Kind, Parsed
from cranfield.formats.reading import Reading


def told(read: Callable[..., Parsed | None], data: bytes, kind: Kind) -> object:
    """All that a reader says of a text: its rows in their order, its notes and its tag; or its error; or nothing."""
    try:
        parsed = read(data, "a.jsonl", request_for(kind, Reading(threads=2)))
    except DataError as error:
        return str(error)
    if parsed is None:
        return None
    table = parsed.table
    rows = {topic: table.documents(topic.encode("utf-8", "surrogateescape")) for topic in table.topics()}
    facts = [table.counts().tolist(), table.tied().tolist(), table.collapsed().tolist(), table.repeated]
    return rows, table.values().tobytes(), facts, parsed.notes, parsed.tag, table.is_run, table.fingerprint()


def agree(data: bytes, kind: Kind = "score") -> bool:
    """Whether the core understood a text; if so, it must have said what Python says."""
    in_core = told(json_lines._read_in_core, data, kind)
    in_python = told(json_lines._read_in_python, data, kind)
    if in_core is not None:
        assert in_core == in_python, data
    return in_core is not None


blanks = st.sampled_from(["", "", "", " ", "\t", "  "])
plain_text = st.text("abz09 _-.#/é😀\x7f", max_size=6)
escapes = st.sampled_from(
    [
        "\\n",
        "\\t",
        '\\"',
        "\\\\",
        "\\/",
        "\\b",
        "\\u00e9",
        "\\uD83D\\uDE00",
        "\\u0000",
        "\\ud83d",
        "\\udc80",
        "\\x",
        "\\u12g4",
    ]
)
strings = st.lists(st.one_of(plain_text, plain_text, escapes), max_size=3).map(lambda parts: f'"{"".join(parts)}"')
numbers = st.one_of(
    st.integers(-(10**9), 10**9).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "0",
            "-0",
            "-0.0",
            "1e3",
            "1E-3",
            "12.5e+2",
            "1e-400",
            "1e400",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "1e",
            "0x1",
            "NaN",
            "Infinity",
            "-Infinity",
        ]
    ),
    st.sampled_from(["123456789.125", "0.1000000000000000055511151231257827021181583404541", "9" * 301, "8" * 300]),
)
values = st.recursive(
    st.one_of(strings, numbers, st.sampled_from(["true", "false", "null", "nul"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda found: f"[{', '.join(found)}]"),
        st.lists(st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"']), inner), max_size=3).map(
            lambda found: "{" + ",".join(f"{key}:{value}" for key, value in found) + "}"
        ),
    ),
    max_leaves=4,
)
ids = st.one_of(st.sampled_from(['"q1"', '"q2"', '"d1"', '"d2"', "7", '"7"']), strings, numbers)
tags = st.one_of(st.sampled_from(['"bm25"', "5", "null", "true", '""', "1.5", "[]"]), values)
others = st.tuples(st.sampled_from(['"x"', '"note"', '"rank"', '"\\u0078"', '"topic "']), values)


@st.composite
def objects(draw: st.DrawFn) -> str:
    """An object with the columns of a row, in any order; now and then one is missing, twice or something else."""
    score = draw(st.one_of(numbers, numbers, numbers, values))
    pairs = [
        (draw(st.sampled_from(['"topic"', '"topic"', '"qid"', '"t\\u006fpic"', '"Topic"'])), draw(ids)),
        (draw(st.sampled_from(['"document"', '"document"', '"docno"'])), draw(ids)),
        (draw(st.sampled_from(['"score"', '"score"', '"score"', '"sim"', '"rank"'])), score),
    ]
    pairs += draw(st.lists(others, max_size=2))
    if draw(st.booleans()):
        pairs.append(('"tag"', draw(tags)))
    if draw(st.integers(0, 9)) == 0:
        pairs = pairs[1:]
    if draw(st.booleans()):
        pairs = draw(st.permutations(pairs))
    b = [draw(blanks) for _ in range(6)]
    inner = (b[0] + ",").join(f"{b[1]}{key}{b[2]}:{b[3]}{value}" for key, value in pairs)
    return f"{b[4]}{{{inner}{b[5]}}}{b[0]}"


ends = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n \t\n", "\n\x1f\n", ""])
texts = st.tuples(
    st.sampled_from(["", "", "\ufeff", "\n"]), st.lists(st.tuples(objects(), ends), min_size=1, max_size=5)
).map(lambda made: (made[0] + "".join(line + end for line, end in made[1])).encode())


@given(texts)
@settings(max_examples=200, derandomize=True)
def test_the_core_says_what_python_says_of_runs(data: bytes) -> None:
    agree(data)


@given(texts.map(lambda data: data.replace(b'"score"', b'"grade"').replace(b'"sim"', b'"label"')), st.booleans())
@settings(max_examples=80, derandomize=True)
def test_the_core_says_what_python_says_of_judgements(data: bytes, labelled: bool) -> None:
    agree(data.replace(b"true", b'"L2"') if labelled else data, "grade")


@given(texts, st.integers(0, 200), st.binary(max_size=2))
@settings(max_examples=150, derandomize=True)
@example(b'{"topic":"q","document":"\xff\xc3","score":1}', 0, b"")
def test_damaged_lines_too(data: bytes, place: int, junk: bytes) -> None:
    agree(data[:place] + junk + data[place + 1 :])


def lines_of(count: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        row = {"topic": f"q{i * 40 // count}", "document": f"d{i}", "score": round(chance.random(), 4), "tag": "x"}
        if i % 7 == 0:
            row = dict(reversed(row.items()))
        if i % 11 == 0:
            row |= {"note": {"a": [1, 2.5e3, None], "b": "\u00e9\t"}}
        lines.append(json.dumps(row, ensure_ascii=bool(i % 3)))
    return lines


UNDERSTOOD = {
    "escapes": b'{"topic": "q\\u00e9\\n", "document": "a\\/b\\ud83d\\ude00", "score": -1.5e-3, "tag": "t"}\n',
    "whole ids": b'{"qid": 12, "docno": -0, "score": -0}\r\n{"qid": 13, "docno": 7, "score": Infinity}',
    "keys in any order": b'{"score":1,"topic":"q","document":"d"}\n{"document":"e","topic":"q","score":1}\n',
    "keys that come and go": b'{"topic":"q","document":"d","score":1,"x":[]}\n{"topic":"q","document":"e","score":1}\n',
    "nested": b'{"x": {"a": [{"b": {}}, []]}, "topic":"q","document":"d","score":1}',
    "mark and blank lines": b'\xef\xbb\xbf\n \t\r\n{"topic":"q","document":"d","score":1}\r\r\n',
    "bytes that are not UTF-8": b'{"topic":"\xff","document":"\xed\xa0\x80\xc3","score":1}',
    "ranks": b'{"topic":"q","document":"d","rank":2}\n{"topic":"q","document":"e","rank":1}\n',
    "repeated": b'{"topic":"q","document":"d","score":1}\n{"topic":"q","document":"d","score":1.0}\n',
    "tags": b'{"topic":"q","document":"d","score":1,"tag":null}\n{"topic":"q","document":"e","score":1,"tag":5}\n'
    b'{"topic":"q","document":"f","score":1,"tag":false}\n',
    "names": b'{"Query_ID ":"q","document":"d","\\u0073core":1}',
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_what_is_usual_is_read_by_the_core(name: str) -> None:
    assert agree(UNDERSTOOD[name])


LEFT = {
    "half a character": b'{"topic":"q","document":"\\ud800","score":1}',
    "half of another": b'{"topic":"q","document":"\\udcc3\\udca9","score":1}',
    "a key twice": b'{"topic":"q","document":"d","score":1,"x":1,"\\u0078":2}',
    "a key twice inside": b'{"topic":"q","document":"d","score":1,"x":{"a":1,"a":1}}',
    "not a number": b'{"topic":"q","document":"d","score":1,"x":NaN}',
    "too large": b'{"topic":"q","document":"d","score":1,"x":1e400}',
    "another score": b'{"topic":"q","document":"d","score":1}\n{"topic":"q","document":"d","score":2}',
    "control character": b'{"topic":"q","document":"d\t","score":1}',
    "empty id": b'{"topic":"","document":"d","score":1}',
    "two on a line": b'{"topic":"q","document":"d","score":1}{"topic":"q","document":"e","score":1}',
    "over two lines": b'{"topic":"q","document":"d",\n"score":1}',
    "a list": b'[{"topic":"q","document":"d","score":1}]',
    "cut short": b'{"topic":"q","document":"d","score":1}\n{"topic":"q","docum',
    "a tag with a fraction": b'{"topic":"q","document":"d","score":1,"tag":1.50}',
    "an empty tag": b'{"topic":"q","document":"d","score":1,"tag":""}',
    "scores and ranks": b'{"topic":"q","document":"d","score":1}\n{"topic":"q","document":"e","rank":1}',
    "a word for a score": b'{"topic":"q","document":"d","score":"1"}',
    "nested too deeply": b'{"x":' + b"[" * 5000 + b"]" * 5000 + b',"topic":"q","document":"d","score":1}',
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_odd_is_left_to_python(name: str) -> None:
    assert not agree(LEFT[name])


def test_labels_are_numbers() -> None:
    assert agree(b'{"topic":"q","document":"d","grade":"L2"}\n{"topic":"q","document":"e","grade":0}\n', "grade")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_large_texts_whatever_the_threads(end: str) -> None:
    """Several parts of the core, topics that go on over their borders."""
    data = end.join(lines_of(20_000)).encode()
    assert len(data) > 5 << 18  # three parts
    assert agree(data)
    chance = random.Random(2)
    lines = data.split(end.encode())
    chance.shuffle(lines)
    assert agree(end.encode().join(lines))
    tables = [
        cranfield.read_run(io.BytesIO(data), reading=Reading(threads=threads, format="jsonl")).to_dict()
        for threads in (1, 5)
    ]
    assert tables[0] == tables[1]


def evaluated(qrels: Any, path: Path) -> object:
    results = cranfield.evaluate(qrels, str(path), ["AP", "nDCG@10", "RR"], reading=Reading(threads=2))
    return results.scores.tolist(), [(w.code, w.message) for w in results.warnings], results.inputs[1].tag


@pytest.mark.parametrize("how", ["together", "shuffled"])
def test_runs_are_judged_while_they_are_read_or_unpacked(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = lines_of(15_000)
    qrels = {f"q{i}": {f"d{d}": 1 for d in range(0, 15_000, 13)} for i in range(40)}
    if how == "shuffled":
        random.Random(3).shuffle(lines)
    text = "\n".join(lines).encode()
    (tmp_path / "a.jsonl").write_bytes(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
    found = [evaluated(qrels, tmp_path / name) for name in ("a.jsonl", "a.jsonl.gz")]
    monkeypatch.setattr(json_lines, "_layout", lambda head, request: None)
    assert [evaluated(qrels, tmp_path / "a.jsonl")] * 2 == found


@pytest.mark.parametrize("threads", [1, 4])
def test_a_fault_is_told_as_ever(threads: int, tmp_path: Path) -> None:
    """Plain or packed, also where threads ask for the meaning of ever new keys when the reading ends."""
    lines = [line[:-1] + f', "k{i}": 1}}' for i, line in enumerate(lines_of(20_000))]
    lines[9_000] = '{"topic": "q17", "document": "d", "score": "high"}'
    text = "\n".join(lines).encode()
    (tmp_path / "a.jsonl").write_bytes(text)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text))
    for name in ("a.jsonl", "a.jsonl.gz"):
        with pytest.raises(DataError, match=r":9001: score 'high' is not a number"):
            cranfield.evaluate({"q17": {"d": 1}}, str(tmp_path / name), "AP", reading=Reading(threads=threads))


def test_a_record_whose_first_field_is_an_object_is_no_topic(tmp_path: Path) -> None:
    lines = [f'{{"x": {{"a": 1}}, "topic": "q", "document": "d{i}", "score": {9 - i}}}' for i in range(3)]
    for number in (1, 3):
        (tmp_path / "run.jsonl").write_text("\n".join(lines[:number]) + "\n")
        assert len(cranfield.read_run(tmp_path / "run.jsonl")) == number
    topics = '{"q": {"d0": 1.5}}\n'
    (tmp_path / "run.jsonl").write_text(topics)
    assert cranfield.read_run(tmp_path / "run.jsonl").to_dict() == {"q": {"d0": 1.5}}


def test_a_fault_is_told_alike_whatever_the_file_is_called(tmp_path: Path) -> None:
    for name in ("run.jsonl", "my: run.jsonl"):
        (tmp_path / name).write_text('{"topic": "q", "document": "", "score": 1}\n')
        with pytest.raises(DataError) as told:
            cranfield.read_run(tmp_path / name)
        assert str(told.value).startswith(f"{tmp_path / name}:1: empty id"), told.value


def test_numbers_in_quotes() -> None:
    for kind, read in (("score", cranfield.read_run), ("grade", cranfield.read_qrels)):
        with pytest.raises(DataError) as told:
            read(io.StringIO(f'{{"topic": "1", "document": "d", "{kind}": "2.5"}}\n'))
        assert str(told.value).splitlines()[0].endswith(f"{kind} '2.5' is not a number")
        assert str(told.value).endswith("\n    It is in quotes, and so it is text: write the number without them.")
