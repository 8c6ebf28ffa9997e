"""Agreement of opinions, of several people and of one with himself."""

from __future__ import annotations

from math import isnan

import pytest

from cranfield.agreement.assessment import assess
from cranfield.judging.consistency import consistency
from cranfield.judging.events import Event, moment
from cranfield.judging.scale import Grade, Scale
from cranfield.judging.state import State, state_of
from cranfield.statistics.significance import Sampling

FEW = Sampling(resamples=50)
USUAL = Scale.usual()


def graded(grades: dict[str, dict[str, dict[str, int]]], *, repeat: bool = False) -> list[Event]:
    return [
        Event(
            topic=topic,
            document=document,
            assessor=who,
            kind="grade",
            grade=grade,
            repeat=repeat,
            key=f"{topic} {document} {repeat}",
            at=moment(0),
        )
        for who, topics in grades.items()
        for topic, documents in topics.items()
        for document, grade in documents.items()
    ]


ANN = {"q1": {"d1": 3, "d2": 0, "d3": 1, "d4": 2}, "q2": {"d5": 1, "d6": 0}}
BOB = {"q1": {"d1": 0, "d2": 0, "d3": 2, "d4": 3}, "q2": {"d5": 1, "d6": 1}}


def test_the_numbers_are_those_of_agreement() -> None:
    found = consistency(state_of(graded({"ann": ANN, "bob": BOB})), USUAL, sampling=FEW)
    known = assess({"ann": ANN, "bob": BOB}, sampling=FEW)
    assert found.assessment is not None
    assert found.assessment.coefficients == known.coefficients
    assert found.assessment.topics == known.topics
    assert found.assessment.grades == known.grades


def test_disagreements_stand_the_biggest_first() -> None:
    events = graded({"ann": ANN, "bob": BOB})
    events.append(Event(topic="q1", document="d4", assessor="z", kind="adjudicate", grade=3, key="v", at=moment(1)))
    found = consistency(state_of(events), USUAL, sampling=FEW)
    assert [(pair.document, pair.steps, pair.crosses, pair.settled) for pair in found.disagreements] == [
        ("d1", 3, True, False),
        ("d6", 1, True, False),
        ("d3", 1, False, False),
        ("d4", 1, False, True),
    ]
    assert found.disagreements[0].grades == (("ann", 3), ("bob", 0))


def test_spam_is_a_grade_on_which_people_agree_or_not() -> None:
    scale = Scale(
        grades=tuple(
            Grade(value=v, label=f"g{v}", key=k, gain=max(v, 0.0)) for v, k in ((-2, "s"), (0, "0"), (1, "1"))
        ),
        threshold=1,
    )
    ann = {"q1": {"d1": -2, "d2": 0, "d3": 1, "d4": 1}}
    bob = {"q1": {"d1": -2, "d2": -2, "d3": 1, "d4": 1}}
    found = consistency(state_of(graded({"ann": ann, "bob": bob})), scale, sampling=FEW)
    assert found.assessment is not None
    assert found.assessment.values == (-2, 0, 1)
    assert found.assessment.of("kappa", "ann", "bob").value == pytest.approx((0.75 - 0.375) / (1 - 0.375))
    assert [(pair.document, pair.steps) for pair in found.disagreements] == [("d2", 1)]


def test_repeats_are_held_against_the_first_grade_alone() -> None:
    again = {"q1": {"d1": 3, "d2": 1, "d3": 2, "d4": 2}, "q2": {"d9": 1}}  # d9 was never graded before
    events = [*graded({"ann": ANN}), *graded({"ann": again}, repeat=True)]
    found = consistency(state_of(events), USUAL, sampling=FEW)
    (own,) = found.selves
    assert (own.assessor, own.pairs, own.same_grade, own.same_relevance) == ("ann", 4, 2, 3)
    assert own.changed == (("q1", "d2"), ("q1", "d3"))
    assert own.kappa == pytest.approx(1 / 3)
    assert 0 < own.kappa < own.kappa_quadratic
    assert found.assessment is None
    assert [warning.code for warning in found.warnings] == ["nothing-shared"]


def test_repeats_that_do_not_vary_have_no_kappa() -> None:
    one = {"q1": {"d1": 1}}
    found = consistency(state_of([*graded({"ann": one}), *graded({"ann": one}, repeat=True)]), USUAL)
    assert isnan(found.selves[0].kappa)
    assert consistency(State(), USUAL).disagreements == ()


RUNS = {
    "x": {"q1": {"d1": 4.0, "d4": 3.0, "d3": 2.0, "d2": 1.0}, "q2": {"d5": 2.0, "d6": 1.0}},
    "y": {"q1": {"d2": 4.0, "d3": 3.0, "d4": 2.0, "d1": 1.0}, "q2": {"d6": 2.0, "d5": 1.0}},
}


def test_whether_it_changes_the_order_of_systems() -> None:
    found = consistency(state_of(graded({"ann": ANN, "bob": BOB})), USUAL, runs=RUNS, sampling=FEW)
    known = assess({"ann": ANN, "bob": BOB}, runs=RUNS, sampling=FEW)
    assert found.assessment is not None
    assert found.assessment.orderings is not None
    assert known.orderings is not None
    assert found.assessment.orderings.says == known.orderings.says
    assert found.warnings == known.warnings


def test_an_order_that_cannot_be_told_is_said() -> None:
    nothing = {"q1": {"d1": 0, "d2": 0}}
    found = consistency(state_of(graded({"ann": nothing, "bob": nothing})), USUAL, runs=RUNS, sampling=FEW)
    assert found.assessment is not None
    assert found.assessment.orderings is None
    assert "whether the order of systems changes can't be told" in found.warnings[-1].message


def test_it_prints_as_its_tables() -> None:
    first = {"ann": {"q1": {"d1": 3, "d2": 0, "d3": 1}}, "bob": {"q1": {"d1": 0, "d2": 0, "d3": 2}}}
    again = {"ann": {"q1": {"d1": 3, "d3": 0}}}
    found = consistency(state_of([*graded(first), *graded(again, repeat=True)]), USUAL, sampling=FEW)
    shown = str(found)
    assert "Agreement of ann, bob on 1 topic" in shown
    assert "2 disagreements" in shown
    rows = {tuple(line.split()) for line in shown.splitlines()}
    assert ("q1", "d1", "ann", "3,", "bob", "0", "3", "yes") in rows
    assert ("q1", "d3", "ann", "1,", "bob", "2", "1") in rows
    assert ("ann", "2", "1", "1", "0.3333", "0.8571") in rows
    assert "<table" in found._repr_html_()
    assert str(consistency(State(), USUAL)).splitlines()[-1].endswith("nothing can be said of agreement")


def test_of_many_disagreements_the_biggest_are_shown() -> None:
    many = [f"d{n}" for n in range(25)]
    apart = {"ann": {"q1": dict.fromkeys(many, 0)}, "bob": {"q1": dict.fromkeys(many, 1)}}
    shown = str(consistency(state_of(graded(apart)), USUAL, sampling=FEW))
    assert "25 disagreements" in shown
    assert "… and 5 more" in shown
