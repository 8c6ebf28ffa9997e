"""Tests are dealt to workers so that those of a file stay together, and each is dealt once."""

from __future__ import annotations

from dealing import TOGETHER, hands


def group_of(test: str) -> str:
    return test.rpartition("@")[2]


def test_tests_of_a_file_are_dealt_together_and_groups_stay_whole() -> None:
    grouped = ["tests/a.py::one@spark", "tests/b.py::one@spark"]
    assert set(hands(grouped, group_of).values()) == {"spark"}
    few = [f"tests/a.py::test[{number}]" for number in range(TOGETHER)]
    assert set(hands([*few, *grouped], group_of).values()) == {"tests/a.py 0", "spark"}
    others = ["tests/b.py::test"]
    assert hands([*few, *others], group_of)["tests/b.py::test"] != hands([*few, *others], group_of)[few[0]]


def test_a_long_file_is_dealt_in_several_hands() -> None:
    many = [f"tests/a.py::test[{number}]" for number in range(TOGETHER + 1)]
    dealt = hands(many, group_of)
    assert list(dealt) == many
    assert (dealt[many[0]], dealt[many[-2]], dealt[many[-1]]) == ("tests/a.py 0", "tests/a.py 0", "tests/a.py 1")
