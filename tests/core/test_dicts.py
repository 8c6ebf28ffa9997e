"""Dicts of text and numbers are read in one pass by several threads; whatever else dicts hold takes another way, and
what comes of both is the same."""

from __future__ import annotations

import random
from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import Policy, Reading, read_qrels, read_run
from cranfield.errors import CranfieldError
from cranfield.formats.format import Judging
from cranfield.judged import joined

Table = dict[Any, dict[Any, Any]]


class Name(str):
    """Text of a type of its own, which is not read in one pass."""

    __slots__ = ()


def otherwise(table: Mapping[Any, Mapping[Any, Any]]) -> Table:
    """The same ids and numbers, read the other way."""
    return {topic: {Name(id): value for id, value in documents.items()} for topic, documents in table.items()}


ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
scores = st.one_of(
    st.sampled_from([0, 1, 2, True, -1.5, 0.5, float("inf"), np.float64(0.25)]),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63 - 1),
)
runs = st.dictionaries(ids, st.dictionaries(ids, scores, max_size=12), max_size=6)


def told(run: cranfield.Run, qrels: cranfield.Qrels, ties: str) -> list[Any]:
    judged = joined(run, qrels, ties)
    arrays = (judged.offsets, judged.rank, judged.row, judged.tie_first, judged.tie_size, judged.retrieved)
    facts = (run.table.tied(), run.table.collapsed(), run.table.rank_disagreements(), run.table.counts())
    return [run.topics, *(array.tolist() for array in (*arrays, *facts))]


def in_order(run: cranfield.Run) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(topic, list(documents.items())) for topic, documents in run.to_dict().items()]


@settings(max_examples=150, deadline=None)
@given(run=runs, data=st.data(), ties=st.sampled_from(["docid", "file"]))
def test_both_ways_and_judging_at_once_give_the_same(run: Table, data: st.DataObject, ties: str) -> None:
    known = sorted({id for documents in run.values() for id in documents}) or ["d"]
    grades = st.dictionaries(st.sampled_from(known), st.integers(0, 3), min_size=1, max_size=8)
    qrels = data.draw(st.dictionaries(st.sampled_from(sorted(run) or ["q"]), grades, min_size=1, max_size=6))
    read, other = read_qrels(qrels), read_qrels(otherwise(qrels))
    assert read.to_dict() == other.to_dict()
    if not any(run.values()):
        with pytest.raises(CranfieldError, match="no rows"):
            read_run(run)
        return
    kept, slowly = read_run(run), read_run(otherwise(run))
    assert list(kept.to_dict().items()) == list(slowly.to_dict().items())
    assert [list(of.items()) for of in kept.to_dict().values()] == [
        list(of.items()) for of in slowly.to_dict().values()
    ]
    at_once = read_run(run, judging=Judging(read.table, ties))
    assert told(kept, read, ties) == told(slowly, read, ties) == told(at_once, read, ties)


def test_a_dict_equals_the_file_that_was_written_of_it(tmp_path: Path) -> None:
    random_numbers = random.Random(5)
    run = {
        str(topic): {f"d{i}": round(random_numbers.random(), 2) for i in random_numbers.sample(range(400), 300)}
        for topic in range(120)  # several parts
    }
    qrels = {topic: {f"d{i}": i % 4 for i in range(0, 400, 3)} for topic in run}
    lines = [f"{topic} Q0 {id} 1 {score!r} t\n" for topic, documents in run.items() for id, score in documents.items()]
    (tmp_path / "a.run").write_text("".join(lines))
    for ties in ("docid", "file", "best"):
        for threads in (1, 3):
            policy, reading = Policy(ties=ties), Reading(threads=threads)
            measured = [
                cranfield.evaluate(
                    qrels, given, ["AP", "nDCG@10", "RR"], policy=policy, reading=reading
                ).scores.tolist()
                for given in (run, tmp_path / "a.run", otherwise(run))
            ]
            assert measured[0] == measured[1] == measured[2]


def test_rows_of_a_run_judged_at_once_are_not_kept() -> None:
    qrels = read_qrels({"q": {"d": 1}})
    run = read_run({"q": {"d": 1.0, "e": 0.5}}, judging=Judging(qrels.table, "docid"))
    with pytest.raises(CranfieldError, match="its rows are gone"):
        run.to_dict()
    results = cranfield.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "e": 2.0}}, "RR")
    assert results.mean() == {"run": {"RR": 0.5}}
    (table,) = results.experiment.tables()  # read once more, with its rows
    assert table.to_dict() == {"q": {"e": 2.0, "d": 1.0}}


LARGE = {f"q{topic}": {f"d{i}": 1.0 / (i + 1) for i in range(1000)} for topic in range(40)}


def with_entry(topic: Any, document: Any, value: Any) -> Table:
    return {**LARGE, topic: {**LARGE.get(topic, {"d0": 1.0}), document: value}}


FAULTS: dict[str, tuple[Table, str]] = {
    "nan": (with_entry("q7", "d9", float("nan")), r"topic 'q7', document 'd9'.*(nan|NaN)"),
    "nan of NumPy": (with_entry("q7", "d9", np.float64("nan")), r"topic 'q7', document 'd9'.*(nan|NaN)"),
    "an id that is no text": (
        with_entry("q7", 1.5, 1.0),
        r"'q7', document 1\.5: .*must be str or int, not float",
    ),
    "a topic that is no text": (with_entry(None, "d1", 1.0), r"topic None: .*must be str or int, not NoneType"),
    "a bool for an id": (with_entry("q7", True, 1.0), r"topic 'q7', document True: .*must be str or int, not bool"),
    "text for a number": (
        with_entry("q7", "d9", "high"),
        r"'q7', document 'd9': scores must be numbers, not str",
    ),
    "nothing for a number": (
        with_entry("q7", "d9", None),
        r"'q7', document 'd9': scores must be numbers, not None",
    ),
    "an empty id": (with_entry("q7", "", 1.0), r"topic 'q7', document ''"),
    "an empty topic": (with_entry("", "d9", 1.0), "a topic"),
    "half of a character": (with_entry("q7", "d\ud800", 1.0), r"topic 'q7'"),
    "a number too large": (with_entry("q7", "d9", 10**400), r"topic 'q7', document 'd9'"),
    "no dict": (
        {**LARGE, "q7": cast("Any", 5)},
        r"topic 'q7': expected \{topic: \{document: number\}\}, but .* is int",
    ),
    "twice, as text and as a number": (with_entry("q7", "7", 1.0) | {"q8": {"7": 1.0, 7: 2.0}}, "'7'.*q8|q8.*'7'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_is_told_as_ever(fault: str) -> None:
    """The first fault by place, whichever thread met one first, and whichever way the dict would have taken without."""
    run, told = FAULTS[fault]
    messages = []
    for faulty in (run, {"q39": run["q39"], **run}, {"q0": {Name("d0"): 1.0}, **run}):
        for threads in (1, 4):
            with pytest.raises(CranfieldError, match=told) as error:
                cranfield.evaluate({"q0": {"d0": 1}}, {"run": faulty}, "AP", reading=Reading(threads=threads))
            messages.append(str(error.value))
    assert len(set(messages)) == 1


def test_of_several_faults_the_first_is_told() -> None:
    run = with_entry("q3", "d999", float("nan")) | {"q30": {"d1": "x"}}
    with pytest.raises(CranfieldError, match="topic 'q3', document 'd999'"):
        read_run(run)


def test_a_grade_may_not_be_infinite_and_a_score_may() -> None:
    assert read_run({"q": {"a": float("-inf"), "b": 1}}).to_dict() == {"q": {"b": 1.0, "a": float("-inf")}}
    with pytest.raises(CranfieldError, match=r"topic 'q', document 'a'.*infinite"):
        read_qrels({"q": {"a": float("inf"), "b": 1}})


@pytest.mark.parametrize(
    "number", [1, True, np.float64(1), np.float32(1), np.int64(1), np.bool_(True), Decimal(1), np.array(1.0)], ids=repr
)
def test_numbers_of_every_type(number: Any) -> None:
    assert read_run({"q": {"a": 0.5, "b": number}}).to_dict() == {"q": {"b": 1.0, "a": 0.5}}
    assert read_qrels({"q": {"a": 0, "b": number}}).to_dict() == {"q": {"b": 1.0, "a": 0.0}}


@pytest.mark.parametrize(
    "kind",
    [dict, OrderedDict, UserDict, lambda of: defaultdict(dict, of)],
    ids=["dict", "ordered", "of users", "with a default"],
)
def test_dicts_of_every_type(kind: Any) -> None:
    run = kind({"q2": kind({"a": 1.0, "b": 2.0}), "q1": kind({}), "q3": kind({"c": 1})})
    assert read_run(run).to_dict() == {"q2": {"b": 2.0, "a": 1.0}, "q3": {"c": 1.0}}
    assert cranfield.evaluate({"q2": {"b": 1}}, {"run": run}, "RR").mean() == {"run": {"RR": 1.0}}


def test_whole_numbers_are_ids_too_and_stand_beside_text() -> None:
    """A topic that is there as text and as a number is one topic, judged at once or not."""
    run: Any = {1: {7: 1.0, "8": 3.0}, "1": {"9": 2.0}}
    assert read_run(run).to_dict() == {"1": {"8": 3.0, "9": 2.0, "7": 1.0}}
    assert cranfield.evaluate({"1": {"9": 1}}, {"run": run}, "RR").mean() == {"run": {"RR": 0.5}}


def test_bytes_that_are_not_utf8_are_the_same_id_as_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"q Q0 caf\xe9 1 2 t\nq Q0 caf\xc3\xa9 2 1 t\n")
    run = {"q": {"caf\udce9": 2.0, "café": 1.0}}
    assert read_run(tmp_path / "a.run").to_dict() == read_run(run).to_dict() == run
    with pytest.raises(CranfieldError, match="café"):  # one and the same, spelt in two ways
        read_run({"q": {"caf\udcc3\udca9": 2.0, "café": 1.0}})


def test_every_script_is_utf8() -> None:
    texts = ["\x7f", "\x80", "߿", "ࠀ", "\uffff", "\U00010000", "\U0010ffff", "aé", "aé\u0800", "aé\u0800\U0001f600"]
    run = {"q": {text: float(score) for score, text in enumerate(texts)}}
    assert read_run(run).to_dict() == {"q": dict(reversed(run["q"].items()))}
    tied = read_run({"q": dict.fromkeys(texts, 1.0)})
    assert list(tied.of("q")) == sorted(texts, key=str.encode, reverse=True)
