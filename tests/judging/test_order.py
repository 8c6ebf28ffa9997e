"""The order in which documents are met, near-duplicates, and what comes again."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.judging.events import Event, moment
from cranfield.judging.near_duplicates import near_duplicates
from cranfield.judging.order import RepeatRule, arranged, repeats

IDS = [f"d{n}" for n in range(12)]


@given(
    st.lists(st.sampled_from(IDS), unique=True),
    st.dictionaries(st.sampled_from(IDS), st.integers(0, 3)),
    st.integers(0, 99),
)
def test_a_batch_is_all_there_and_groups_stand_together(batch: list[str], groups: dict[str, int], seed: int) -> None:
    order = arranged(batch, groups, np.random.default_rng(seed))
    assert sorted(order) == sorted(batch)
    assert order == arranged(batch[::-1], groups, np.random.default_rng(seed))
    runs = [number for number, _ in groupby(groups.get(document, document) for document in order)]
    assert len(runs) == len(set(runs))


def test_every_place_is_as_likely() -> None:
    rng = np.random.default_rng(0)
    first = Counter(arranged(["a", "b", "c"], {}, rng)[0] for _ in range(3000))
    assert all(850 < first[document] < 1150 for document in "abc")
    inner = Counter(arranged(["a", "b"], {"a": 1, "b": 1}, rng)[0] for _ in range(1000))
    assert 400 < inner["a"] < 600


def graded(count: int, **said: object) -> list[Event]:
    usual: dict[str, object] = {"topic": "q", "assessor": "ann", "kind": "grade", "grade": 1}
    return [Event(document=f"d{n}", key=f"{n}", at=moment(n), **{**usual, **said}) for n in range(count)]  # type: ignore[arg-type]


ALWAYS = RepeatRule(share=1)


def test_what_comes_again_is_fifty_documents_or_thirty_minutes_away() -> None:
    events = graded(60)
    assert repeats(events, "ann", moment(60), ALWAYS) == [("q", f"d{n}") for n in range(10)]
    assert repeats(events[:50], "ann", moment(60), ALWAYS) == []
    assert repeats(events[:51], "ann", moment(60), ALWAYS) == [("q", "d0")]
    assert repeats(events[:2], "ann", moment(1799), ALWAYS) == []
    assert repeats(events[:2], "ann", moment(1800), ALWAYS) == [("q", "d0")]
    assert repeats(events, "bob", moment(9999), ALWAYS) == []


def test_what_came_again_or_has_no_grade_does_not_come() -> None:
    events = graded(2)
    again = Event(topic="q", document="d0", assessor="ann", kind="grade", grade=1, key="r", at=moment(5), repeat=True)
    assert repeats([*events, again], "ann", moment(9999), ALWAYS) == [("q", "d1")]
    later = Event(topic="q", document="d1", assessor="ann", kind="later", key="l", at=moment(6))
    assert repeats([*events, again, later], "ann", moment(9999), ALWAYS) == []
    cannot = graded(1, kind="cannot", grade=None, reason="other")
    assert repeats(cannot, "ann", moment(9999), ALWAYS) == []


def test_looking_at_one_document_often_is_not_fifty_documents() -> None:
    often = [
        Event(topic="q", document="x", assessor="ann", kind="grade", grade=1, key=f"x{n}", at=moment(2))
        for n in range(60)
    ]
    assert repeats([*graded(1), *often], "ann", moment(3), ALWAYS) == []


def test_the_share_is_drawn_by_seed_assessor_and_pair() -> None:
    rule = RepeatRule(share=0.04)
    drawn = {n for n in range(20_000) if rule.drawn("q", str(n), "ann")}
    assert 650 < len(drawn) < 950
    assert drawn != {n for n in range(20_000) if rule.drawn("q", str(n), "bob")}
    assert drawn != {n for n in range(20_000) if RepeatRule(share=0.04, seed=1).drawn("q", str(n), "ann")}


WORDS = st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h"])


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.casefold().split()
    return {tuple(words)} - {()} if len(words) < 5 else {tuple(words[n : n + 5]) for n in range(len(words) - 4)}


def by_definition(texts: dict[str, str]) -> set[frozenset[str]]:
    """Every pair looked at, and chains followed until nothing changes."""
    groups = {name: {name} for name in texts}
    for a in texts:
        for b in texts:
            one, other = shingles(texts[a]), shingles(texts[b])
            if one and other and len(one & other) / len(one | other) >= 0.8:
                joined = groups[a] | groups[b]
                for name in joined:
                    groups[name] = joined
    return {frozenset(group) for group in groups.values() if len(group) > 1}


@given(
    st.lists(
        st.tuples(st.lists(WORDS, max_size=40), st.lists(st.tuples(st.integers(0, 40), WORDS), max_size=3)), max_size=8
    )
)
def test_near_is_what_the_definition_says(made: list[tuple[list[str], list[tuple[int, str]]]]) -> None:
    texts: dict[str, str] = {}
    for number, (words, changes) in enumerate(made):
        texts[f"a{number}"] = " ".join(words)
        changed = list(words)
        for place, word in changes:
            changed[place : place + 1] = [word]
        texts[f"b{number}"] = " ".join(changed)
    groups = near_duplicates(texts)
    members: dict[int, set[str]] = {}
    for name, number in groups.items():
        members.setdefault(number, set()).add(name)
    assert {frozenset(group) for group in members.values()} == by_definition(texts)
    assert near_duplicates(dict(reversed(texts.items()))) == groups
    assert sorted(members) == list(range(len(members)))


@pytest.mark.parametrize(("tail", "near"), [(20, True), (21, False)])
def test_the_limit_is_exact(tail: int, near: bool) -> None:
    """Eighty shingles, and the same with more behind: 80 of 100 are near, 80 of 101 are not."""
    words = [f"w{n}" for n in range(84 + tail)]
    assert bool(near_duplicates({"a": " ".join(words[:84]), "b": " ".join(words)})) is near


def test_texts_without_words_case_and_scripts_without_blanks() -> None:
    assert near_duplicates({}) == {}
    assert near_duplicates({"a": "", "b": " … ", "c": "?"}) == {}
    assert near_duplicates({"a": "One, two", "b": "one two!"}) == {"a": 0, "b": 0}
    text = "".join(chr(0x4E00 + n) for n in range(60))
    assert near_duplicates({"a": text, "b": text + "一"}) == {"a": 0, "b": 0}


def test_thousands_that_are_the_same_are_not_compared_each_with_each() -> None:
    template = " ".join(f"w{n}" for n in range(100))
    groups = near_duplicates({f"d{n}": f"{template} x{n}" for n in range(3000)})
    assert len(groups) == 3000
    assert set(groups.values()) == {0}
