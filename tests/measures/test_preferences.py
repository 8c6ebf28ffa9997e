"""Preferences: the reader, the measures against every pair written down, and trec_eval where it has the same."""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield import DataError, Measure, UsageError, evaluate, read_qrels
from cranfield.formats.reading import Reading
from cranfield.judged import relstring
from cranfield.measures.preferences import pairs
from generate import Rankings, all_variants, collections, ranking
from guesses import RANKINGS, every_guess
from reference_preferences import Pair, deepest, increases_of, ppref_of, preferred_of, rpref_of, wpref_of

VARIANTS = [measure for measure in all_variants() if measure.definition.family == "preferences"]
Preferences = dict[str, list[tuple[str, str, str]]]


def drawn(seed: int) -> tuple[Preferences, Rankings]:
    """Preferences of two judges between some of the documents, none in circles, and rankings with holes."""
    random = Random(seed)
    preferences: Preferences = {}
    run: Rankings = {}
    for topic in map(str, range(1, 7)):
        documents = [f"d{i}" for i in range(12)]
        found = set()
        for judge in ("ann", "bob"):
            worth = {document: random.random() for document in documents}
            for _ in range(random.randint(1, 14)):
                one, other = random.sample(documents, 2)
                better, worse = (one, other) if worth[one] > worth[other] else (other, one)
                found.add((better, worse, judge))
        preferences[topic] = sorted(found)
        answer = random.sample([*documents, *(f"x{i}" for i in range(8))], random.randint(3, 15))
        run[topic] = {document: -float(place) for place, document in enumerate(answer)}
    del run["6"]
    return preferences, run


def with_what_follows(of_topic: list[tuple[str, str, str]]) -> list[tuple[str, str]]:
    """Pair by pair until nothing more follows, for each judge."""
    found: list[tuple[str, str]] = []
    for judge in sorted({judge for _, _, judge in of_topic}):
        own = {(better, worse) for better, worse, by in of_topic if by == judge}
        while True:
            further = {(a, d) for a, b in own for c, d in own if b == c} - own
            if not further:
                break
            own |= further
        found += sorted(own)
    return found


def slowly(measure: Measure, of_topic: list[tuple[str, str]], scores: dict[str, float]) -> float:
    place = {document: float(rank) for rank, document in enumerate(ranking(scores), start=1)}
    rank = {document: place.get(document, math.inf) for pair in of_topic for document in pair}
    ranks: list[Pair] = [(rank[better], rank[worse]) for better, worse in of_topic]
    cutoff = deepest(measure.parameters["cutoff"])
    if measure.definition.name == "APpref":
        if measure.parameters["over"] == "increases":
            return increases_of(ranks, len(place), cutoff)
        return preferred_of(ranks, [rank[better] for better in sorted({better for better, _ in of_topic})], cutoff)
    functions: dict[str, Callable[[list[Pair], float], float]] = {
        "Ppref": ppref_of,
        "Rpref": rpref_of,
        "Wpref": wpref_of,
    }
    return functions[measure.definition.name](ranks, cutoff)


@pytest.mark.parametrize("measure", VARIANTS, ids=str)
def test_measures_are_those_of_every_pair(measure: Measure) -> None:
    for seed in range(8):
        preferences, run = drawn(seed)
        found = evaluate(preferences, run, measure, reading=Reading(judgements="preferences")).per_topic()["run"]
        for topic, of_topic in preferences.items():
            expected = slowly(measure, with_what_follows(of_topic), run.get(topic, {}))
            assert found[topic][str(measure)] == pytest.approx(expected, rel=1e-12, abs=1e-12), (seed, topic)


@pytest.mark.parametrize("measure", VARIANTS, ids=str)
def test_grades_imply_the_preferences_between_them(measure: Measure) -> None:
    for made in collections(1):
        written = {
            topic: [(one, other) for one, other in permutations(grades, 2) if grades[one] > grades[other] >= 0]
            for topic, grades in made.qrels.items()
        }
        written = {topic: of_topic for topic, of_topic in written.items() if of_topic}
        by_grades = evaluate(made.qrels, made.run, measure).per_topic()["run"]
        by_pairs = evaluate(written, made.run, measure, reading=Reading(judgements="preferences")).per_topic()["run"]
        for topic in written:
            assert by_pairs[topic] == pytest.approx(by_grades[topic], rel=1e-12, abs=1e-12), (made, topic)


def trec_lines(seed: int, subgroups: int) -> str:
    """Judgements in groups without contradiction: each judge has one order, and sub-groups show parts of it."""
    random = Random(f"{seed} {subgroups}")
    lines = []
    for topic, judge in product("123", ("ann", "bob")):
        worth = {f"d{i}": random.randint(1, 4) for i in range(10)}
        for subgroup in range(subgroups):
            shown = random.sample(sorted(worth), 6)
            lines += [f"{topic} {judge} s{subgroup} {document} {worth[document]}\n" for document in shown]
    return "".join(lines)


@pytest.mark.parametrize("subgroups", [1, 3])
def test_the_drop_in_of_trec_eval_agrees(tmp_path: Path, subgroups: int) -> None:
    for seed in range(3):
        run = {topic: {f"d{i}": -float(n) for n, i in enumerate(Random(seed).sample(range(14), 8))} for topic in "123"}
        rows = [f"{t} Q0 {d} 0 {s} t\n" for t, ds in run.items() for d, s in ds.items()]
        (tmp_path / "prefs").write_text(trec_lines(seed, subgroups))
        (tmp_path / "run").write_text("".join(rows))
        asked = "trec_eval -q -R prefs -m prefs_simp -m prefs_simp_imp prefs run"
        done = command_line(*asked.split(), folder=tmp_path)
        printed = {tuple(line.split()[:2]): float(line.split()[2]) for line in done.stdout.splitlines()}
        ours = evaluate(tmp_path / "prefs", run, ["Rpref", "Ppref"], reading=Reading(judgements="preferences"))
        for topic in ("1", "2", "3", "all"):
            values = ours.mean()["run"] if topic == "all" else ours.per_topic()["run"][topic]
            assert values["Rpref"] == pytest.approx(printed["prefs_simp", topic], abs=5.0001e-5)
            assert values["Ppref"] == pytest.approx(printed["prefs_simp_imp", topic], abs=5.0001e-5)


def test_a_topic_has_its_pairs_wherever_it_stands() -> None:
    preferences, run = drawn(3)
    judged = cranfield.judged.judge(
        cranfield.read_run(run), read_qrels(preferences, reading=Reading(judgements="preferences"))
    )
    for measure in VARIANTS:
        together = measure.per_topic(judged)
        backwards = np.arange(len(judged.topics))[::-1]
        assert measure.per_topic(judged.select(backwards)).tolist() == together[backwards].tolist()


def test_a_document_without_a_grade_leaves_its_pairs() -> None:
    judged = cranfield.judged.judge(
        cranfield.read_run({"q": {"b": 3, "a": 2, "c": 1}}),
        read_qrels({"q": [("a", "b"), ("b", "c")]}, reading=Reading(judgements="preferences")),
    )
    grades = judged.pool.grades.copy()
    grades[1] = np.nan
    better, worse = pairs(judged.regraded(grades).pool)
    assert (better.tolist(), worse.tolist()) == ([0], [1])  # a over c, which followed from the two
    assert cranfield.measures.Ppref.per_topic(judged.regraded(grades)).tolist() == [1.0]


def test_an_example_by_hand() -> None:
    """The ranking b, a, x with d missing; preferred are a to b, a to c, b to c and c to d: b to d and a to d follow."""
    preferences = {"q": [("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")]}
    run = {"q": {"b": 3.0, "a": 2.0, "x": 1.0}}
    found = evaluate(
        preferences, run, ["Ppref", "Ppref@1", "Rpref", "APpref"], reading=Reading(judgements="preferences")
    ).mean()["run"]
    # At b: over c and d right, a over it wrong. At a: over c and d right. c over d is not ordered.
    assert found == pytest.approx({"Ppref": 4 / 5, "Ppref@1": 2 / 3, "Rpref": 4 / 6, "APpref": (2 / 3 + 4 / 5) / 2})


def notes_of(source: Any) -> dict[str, str]:
    return dict(read_qrels(source, reading=Reading(judgements="preferences")).origin.notes)


def test_grades_are_the_levels_of_worse_documents() -> None:
    qrels = read_qrels(
        {"q": [("a", "b"), ("b", "c"), ("a", "d"), ("e", "f")]}, reading=Reading(judgements="preferences")
    )
    assert qrels.of("q") == {"a": 2, "b": 1, "e": 1, "c": 0, "d": 0, "f": 0}
    assert "grades are made from preferences" in dict(qrels.origin.notes)["grades-from-preferences"]


def test_a_circle_has_no_order_and_is_told() -> None:
    circle = {"q": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]}
    qrels = read_qrels(circle, reading=Reading(judgements="preferences"))
    assert qrels.of("q") == {"a": 1, "b": 1, "c": 1, "d": 0}
    assert sorted(len(entry) - 1 for entry in qrels.columns["preferences"]) == [0, 1, 1, 1]
    assert notes_of(circle)["preferences-in-circles"].startswith("3 pairs of documents")


def test_judges_may_disagree_and_each_preference_counts() -> None:
    said = {"q": [("a", "b", "x"), ("a", "b", "y"), ("b", "a", "z"), ("b", "c", "z")]}
    qrels = read_qrels(said, reading=Reading(judgements="preferences"))
    assert qrels.of("q") == {"a": 2, "b": 1, "c": 0}  # a over b by two to one
    assert notes_of(said)["disputed-preferences"].startswith("judges disagree on 1 pair of documents:")
    results = evaluate(said, {"q": {"a": 3, "b": 2, "c": 1}}, "Rpref", reading=Reading(judgements="preferences"))
    assert results.scores[0, 0, 0] == 3 / 4  # a over b twice and b over c, against b over a


def test_what_was_said_twice_by_one_judge_counts_once() -> None:
    qrels = read_qrels([("q", "a", "b"), ("q", "a", "b")], reading=Reading(judgements="preferences"))
    assert [entry.tolist() for entry in qrels.columns["preferences"]] == [[0, 1], [1]]


@pytest.mark.parametrize(
    "source",
    [
        "q a b\nq b c\n",
        "q a b ann\n\nq b c ann\n",
        "q ann 0 a 3\nq ann 0 b 2\nq ann 0 c 1\n",
        "\ufeffq\ta\tb\r\nq\tb\tc\r\n",
    ],
    ids=["pairs", "judge", "levels", "tabs"],
)
def test_text_in_either_form_and_compressed(source: str, tmp_path: Path) -> None:
    expected = read_qrels({"q": [("a", "b"), ("b", "c")]}, reading=Reading(judgements="preferences"))
    path = tmp_path / "p.txt.gz"
    path.write_bytes(gzip.compress(source.encode()))
    for given in (io.BytesIO(source.encode()), path):
        found = read_qrels(given, reading=Reading(judgements="preferences"))
        assert found.to_dict() == expected.to_dict()
        entries, wanted = found.columns["preferences"], expected.columns["preferences"]
        assert [entry.tolist() for entry in entries] == [entry.tolist() for entry in wanted]
    assert (found.name, found.origin.path) == ("p", str(path))


def test_topics_without_a_difference_stay() -> None:
    qrels = read_qrels(
        io.StringIO("1 j 0 a 1\n1 j 0 b 1\n2 j 0 a 2\n2 j 0 b 1\n"), reading=Reading(judgements="preferences")
    )
    assert qrels.to_dict() == {"1": {"a": 0, "b": 0}, "2": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "is empty"),
        ("q a b\nq a\n", ":2: 2 fields where preferences have 3"),
        ("q a\n", ":1: 2 fields where preferences have 3, 4 or 5"),
        ("q a b\nq c c\n", ":2: topic 'q': document 'c' is preferred to itself"),
        ("q 0 d1 1\nq 0 d2 0\n", "the judge, is the number '1'"),
        ("q j 0 a high\nq j 0 b 0\n", "grade 'high' is not a number"),
        ("q j 0 a 1\nq j 0 a 0\n", "document 'a' has two levels in sub-group '0'"),
        ("q j 0 a 1\nq j 0 b 1\n", "no document is preferred to another"),
        ("q a b\0\n", "NUL byte"),
    ],
)
def test_text_that_holds_no_preferences_is_refused(text: str, fragment: str, tmp_path: Path) -> None:
    path = tmp_path / "prefs.txt"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read_qrels(path, reading=Reading(judgements="preferences"))
    assert fragment in str(error.value)
    assert "prefs.txt" in str(error.value)


@pytest.mark.parametrize("source", [5, {"q": [("a",)]}, [("q", "a", "b", "c", "d")], [("q", "a", None)], ["qab"]])
def test_objects_that_are_no_preferences_are_refused(source: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a path|ids are text"):
        read_qrels(source, reading=Reading(judgements="preferences"))


@pytest.mark.parametrize("name", ["Ppref", "Rpref", "Wpref", "Ppref@2", "Rpref@3", "Wpref@2"])
def test_bounds_of_preferences_between_grades_are_attained(name: str) -> None:
    """The best way may have a grade between the highest and the lowest, which other measures never need."""
    random = Random(4)
    rankings = [*RANKINGS, "1-2--/1"]
    rankings += ["".join(random.choices("-012", k=6)) + "/" + "".join(random.choices("012", k=2)) for _ in range(12)]
    measure, judged = cranfield.measures.parse_measure(name), relstring("210", *rankings)
    lowest, highest = measure.bounds(judged)
    for i, text in enumerate(rankings, start=1):
        values = measure.per_topic(relstring("210", *every_guess(text, "012")))[1:]
        values = np.append(values, measure.per_topic(judged)[i])
        assert (lowest[i], highest[i]) == pytest.approx((values.min(), values.max()), abs=1e-12), text


def test_bounds_that_would_take_too_long_are_refused() -> None:
    judged = relstring("0123", "-" * 2000 + "1")
    with pytest.raises(UsageError, match="the lists are too long"):
        cranfield.measures.Ppref.bounds(judged)


def test_preferences_have_no_bounds() -> None:
    with pytest.raises(UsageError, match="preferences have no bounds"):
        evaluate(
            {"q": [("a", "b")]}, {"q": {"a": 1.0}}, "Ppref", bounds=True, reading=Reading(judgements="preferences")
        )


def test_the_command_line_takes_preferences(tmp_path: Path) -> None:
    (tmp_path / "prefs.txt").write_text("q a b\nq b c\n")
    (tmp_path / "a.run").write_text("q Q0 b 1 2.0 t\nq Q0 a 2 1.0 t\n")
    words = "evaluate prefs.txt a.run --judgements preferences -m Rpref"
    done = command_line(*words.split(), folder=tmp_path)
    assert done.stdout.splitlines()[1].split() == ["a", "0.6667"]
    assert "note: prefs: grades are made from preferences" in done.stderr


def test_topics_without_preferences_score_nothing() -> None:
    for measure in VARIANTS:
        assert measure.per_topic(relstring("", "00", "11/1", "--/1")).tolist() == [0, 0, 0, 0]
