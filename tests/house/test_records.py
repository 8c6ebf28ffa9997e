"""What `records` makes are dataclasses and named tuples of the standard library in all that their users meet."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import pytest

from cranfield import Policy, Reading, records
from cranfield.evaluation.experiment import Experiment, Input
from cranfield.tables import Qrels

Decorator = Callable[..., Any]


def point(decorator: Decorator, **chosen: bool) -> Any:
    """A class with every kind of field that we use."""

    @decorator(**chosen)
    class Point:
        """A point."""

        x: int
        y: float = 0.5
        tags: list[str] = dataclasses.field(default_factory=list)
        hidden: int = dataclasses.field(default=7, repr=False, compare=False)
        made: list[int] = dataclasses.field(default_factory=list, init=False)
        SIDES: ClassVar[int] = 4

        def __post_init__(self) -> None:
            object.__setattr__(self, "y", self.y * 2)

    return Point


CHOSEN: list[dict[str, bool]] = [
    {"frozen": True},
    {"frozen": False},
    {"frozen": True, "eq": False, "repr": False},
    {"frozen": True, "kw_only": True},
]
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {"x": 1}),
    ((1,), {}),
    ((1, 2.0), {}),
    ((1, 2.0, ["a"], 9), {}),
    ((1,), {"tags": ["b"], "y": 3.0}),
    ((), {}),
    ((1,), {"x": 2}),
    ((1,), {"z": 2}),
    ((1, 2.0, [], 3, 4), {}),
    ((1,), {"made": [1]}),
]


def outcome(made: Callable[[], Any]) -> Any:
    try:
        value = made()
    except TypeError:
        return TypeError
    return vars(value)


@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_it_is_made_as_one_of_the_standard_library(
    chosen: dict[str, bool], call: tuple[tuple[Any, ...], dict[str, Any]]
) -> None:
    ours, theirs = point(records.dataclass, **chosen), point(dataclasses.dataclass, **chosen)
    given, named = call
    assert outcome(lambda: ours(*given, **named)) == outcome(lambda: theirs(*given, **named))


@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_it_is_told_and_compared_as_one_of_the_standard_library(chosen: dict[str, bool]) -> None:
    ours, theirs = point(records.dataclass, **chosen), point(dataclasses.dataclass, **chosen)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert [field.name for field in dataclasses.fields(ours)] == [field.name for field in dataclasses.fields(theirs)]
    for kind in (ours, theirs):
        one, other = kind(x=1, hidden=1), kind(x=1, hidden=2)
        assert (one == other) is chosen.get("eq", True)
        assert one != point(records.dataclass, **chosen)(x=1)
        assert dataclasses.replace(one, x=5, y=0.25).y == 0.5
        assert dataclasses.asdict(one) == {"x": 1, "y": 1.0, "tags": [], "hidden": 1, "made": []}
        assert copy.deepcopy(one).tags is not one.tags
        assert one.tags is not other.tags
        if chosen.get("repr", True):
            assert repr(one).endswith("Point(x=1, y=1.0, tags=[], made=[])")
        assert (kind.__hash__ is None) is (chosen.get("eq", True) and not chosen["frozen"])
        changes: list[Callable[[Any], None]] = [lambda made: setattr(made, "x", 2), lambda made: delattr(made, "x")]
        for change in changes:
            if chosen["frozen"]:
                with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
                    change(one)
            else:
                change(kind(x=1))


def test_equal_records_have_one_hash() -> None:
    assert {Policy(depth=5): "five"}[Policy(depth=5)] == "five"
    assert len({Policy(), Policy(depth=1), Policy()}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Reading(columns={"topic": "t"}))


def test_a_wrong_argument_is_named() -> None:
    with pytest.raises(TypeError, match=r"^Policy\.__init__\(\) got an unexpected keyword argument 'colour'$"):
        Policy(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("record", [Policy(depth=3), Reading(threads=2, columns={"topic": "t"})], ids=str)
def test_it_travels(record: Any) -> None:
    assert pickle.loads(pickle.dumps(record)) == record


def test_what_is_derived_has_the_fields_of_both() -> None:
    assert list(inspect.signature(Qrels).parameters) == ["table", "origin", "columns", "groups"]
    assert "_memory" not in inspect.signature(Experiment).parameters


def pair(kind: Any) -> Any:
    """A class of named tuples with all that ours have."""

    class Pair(kind):  # type: ignore[misc]
        """A pair."""

        one: int
        other: str = "x"

        @property
        def both(self) -> str:
            return f"{self.one}{self.other}"

        @classmethod
        def of(cls, text: str) -> Any:
            return cls(len(text), other=text)

    return Pair


MADE: list[Callable[[Any], Any]] = [
    lambda kind: kind(1),
    lambda kind: kind(one=1, other="y"),
    lambda kind: kind(1, other="y")._replace(one=2),
    lambda kind: kind._make([3, "z"]),
    lambda kind: kind.of("abc").both,
    lambda kind: kind(1)._asdict(),
    lambda kind: kind(1) == (1, "x"),
    lambda kind: copy.copy(kind(5)),
    lambda kind: copy.deepcopy(kind(5)),
    lambda kind: type("More", (kind,), {})(7)._replace(other="w"),
    lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__),
    lambda kind: [(one.name, one.kind, one.default) for one in inspect.signature(kind).parameters.values()],
    lambda kind: hash(kind(1)),
    lambda kind: kind(),
    lambda kind: kind(1, "y", 2),
    lambda kind: kind(1, one=1),
    lambda kind: kind(1, third=1),
    lambda kind: kind._make([1]),
    lambda kind: kind(1)._replace(third=1),
    lambda kind: setattr(kind(1), "one", 2),
    lambda kind: setattr(kind(1), "third", 2),
]


@pytest.mark.parametrize("number", range(len(MADE)))
@pytest.mark.parametrize("first", [False, True])
def test_a_named_tuple_is_as_one_of_the_standard_library(number: int, first: bool) -> None:
    """Whether or not it is among the first that are made of its class: after them what makes it is compiled."""

    def told(kind: Any) -> str:
        for _ in range(0 if first else records.FEW):
            kind(0)
        try:
            return repr(MADE[number](kind))
        except (TypeError, ValueError, AttributeError) as error:
            refusal = (
                type(error) if "third" in str(error) else error
            )  # of fields that there are not it says more or less
            return repr(refusal).replace("ValueError", "TypeError")  # as `_replace` raises from 3.13 on

    assert told(pair(records.NamedTuple)) == told(pair(NamedTuple))


def test_a_named_tuple_travels() -> None:
    shape = Input("a", None, None, 3, 1)
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert type(pickle.loads(pickle.dumps(shape))) is Input
