"""Scales of grades: what one may be, and its JSON form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cranfield.errors import DataError, UsageError
from cranfield.judging.scale import OWN_KEYS, Grade, Scale


def grade(value: int, key: str | None = None, **other: Any) -> Grade:
    given = {"label": f"grade {value}", "key": key or str(abs(value)), "gain": float(max(value, 0)), **other}
    return Grade(value=value, **given)


def test_the_usual_scale() -> None:
    scale = Scale.usual()
    assert scale.values == (0, 1, 2, 3)
    assert scale.threshold == 1
    assert [g.key for g in scale.grades] == ["0", "1", "2", "3"]
    assert [g.gain for g in scale.grades] == [0, 1, 2, 3]
    assert [scale.relevant(value) for value in scale.values] == [False, True, True, True]


def test_a_scale_with_spam_goes_through_json() -> None:
    scale = Scale(grades=(grade(-2, "s", label="spam"), grade(0), grade(1), grade(4)), threshold=4)
    assert Scale.from_json(json.loads(json.dumps(scale.to_json()))) == scale
    assert not scale.relevant(-2)
    assert not scale.relevant(1)
    assert scale.relevant(4)
    assert scale.of_key("S") == scale.grades[0]
    assert scale.of_key("9") is None


@pytest.mark.parametrize(
    ("grades", "threshold", "message"),
    [
        ([grade(1)], 1, "two grades or more"),
        ([grade(1), grade(0)], 1, "grades rise: 0 can't stand after 1"),
        ([grade(0), grade(0, "1")], 1, "grades rise: 0 can't stand after 0"),
        ([grade(0, "a"), grade(1, "A")], 1, "two grades have the key 'a'"),
        ([grade(0, label="no"), grade(1, label="No")], 1, "two grades have the label 'no'"),
        ([grade(0, gain=2.0), grade(1)], 1, "grade 1 has less gain, 1, than 0"),
        ([grade(0), grade(2)], 1, "the threshold is the lowest grade that is relevant, 2, not 1"),
        ([grade(0), grade(1), grade(2)], 0, "that is relevant, 1 or 2, not 0"),
        ([grade(-1), grade(0)], 0, "here none is above 0"),
    ],
)
def test_what_no_scale_is(grades: list[Grade], threshold: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Scale(grades=tuple(grades), threshold=threshold)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"key": "10"}, "a key is one character that can be typed and seen, not '10'"),
        ({"key": "\x1b"}, "a key is one character"),
        ({"key": ""}, "a key is one character"),
        ({"key": "U"}, "the key 'U' is taken, for undo"),
        ({"label": " "}, "a label has 1 to 80 characters"),
        ({"label": "x" * 81}, "a label has 1 to 80 characters"),
        ({"gain": float("nan")}, "a gain is a number, not nan"),
        ({"gain": True}, "a gain is a number, not True"),
    ],
)
def test_what_no_grade_is(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        grade(1, **given) if "key" not in given else Grade(**{"value": 1, "label": "a", "gain": 1.0, **given})


def test_every_own_key_is_refused() -> None:
    for key, used in OWN_KEYS.items():
        with pytest.raises(UsageError, match=f"is taken, for {used}"):
            Grade(value=1, label="a", key=key, gain=1.0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "a scale has grades and threshold, and nothing else"),
        ({"grades": []}, "a scale has grades and threshold, and nothing else"),
        ({"grades": "ab", "threshold": 1}, "the grades of a scale are a list, not 'ab'"),
        ({"grades": [{"value": 1}], "threshold": 1}, "a grade has value, label, key and gain"),
        ({"grades": [{"value": 1.5, "label": "a", "key": "a", "gain": 1}], "threshold": 1}, "a whole number, not 1.5"),
        (Scale.usual().to_json() | {"threshold": True}, "the lowest grade that is relevant, 1, 2 or 3, not True"),
    ],
)
def test_json_that_is_no_scale(data: object, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Scale.from_json(data, "scale.json")
    assert str(caught.value).startswith("scale.json: ")


def test_a_value_that_no_grade_has() -> None:
    with pytest.raises(DataError, match="True is no grade"):
        Scale.usual().of_value(True)
    assert Scale.usual().of_value(3).label == "highly relevant"
