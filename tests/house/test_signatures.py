"""Everything public and how it is called, as kept in `signatures.txt`: names, parameters, defaults, fields of records.

A default that moves changes what people get who never named it, and no test that gives the value notices. `make record`
writes it anew; then read the diff.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cranfield
from cranfield.errors import ArgumentError
from cranfield.records import Record
from cranfield.signatures import checked

KEPT = Path(__file__).with_name("signatures.txt")
PACKAGE = Path(cranfield.__file__).parent


class Some:
    def __repr__(self) -> str:
        return "…"


ANY = Some()


def signatures() -> str:
    rooms = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if "PUBLIC" in path.read_text())
    lines: list[str] = []
    for folder in rooms:
        room = importlib.import_module(".".join(("cranfield", *folder.relative_to(PACKAGE).parts)))
        lines += ["", f"# {room.__name__}", *(line for name in sorted(dir(room)) for line in _told(room, name))]
    return "\n".join(lines).lstrip("\n") + "\n"


def _told(room: object, name: str) -> Iterator[str]:
    value = getattr(room, name)
    if inspect.isclass(value):
        yield f"class {name}{_parameters(value)}"
        for method, function in sorted(inspect.getmembers(value, inspect.isfunction)):
            if not method.startswith("_") and function.__module__.startswith("cranfield"):
                yield f"    {method}{_parameters(function)}"
    elif callable(value):
        yield f"{name}{_parameters(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def _parameters(called: object) -> str:
    """Names and defaults; types are the type checker's."""
    if inspect.isclass(called) and issubclass(called, BaseException):
        return ""
    if inspect.isclass(called) and issubclass(called, Record):
        values = {name: getattr(called, name, None) for name in called._fields}
        return f"(*, {', '.join(name if value is None else f'{name}={value!r}' for name, value in values.items())})"
    assert callable(called)
    try:
        parameters = inspect.signature(called).parameters.values()
    except ValueError:  # of the core, which tells none
        return "(…)"
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    unnamed = re.compile(
        "factory| at 0x"
    )  # made anew, or without a name of its own: all that is told is a place in memory
    plain = [p.replace(default=ANY) if unnamed.search(repr(p.default)) else p for p in plain]
    return str(inspect.Signature(plain))


def test_everything_public_is_called_as_written_down() -> None:
    kept = KEPT.read_text(encoding="utf-8").splitlines()
    assert signatures().splitlines() == kept, "if this is meant: make record, and read the diff"


def test_a_record_wants_every_field_that_has_no_default() -> None:
    class Pair(Record):
        first: int
        second: int
        third: int = 3

    assert vars(Pair(first=1, second=2)) == {"first": 1, "second": 2, "third": 3}
    for fields in ({"first": 1}, {"second": 2, "third": 4}, {}, {"first": 1, "second": 2, "fourth": 4}):
        with pytest.raises(TypeError, match="Pair takes first, second, third, and was given"):
            Pair(**fields)


def test_a_value_that_takes_many_lines_is_told_by_its_class() -> None:
    import pandas

    frame = pandas.DataFrame({"qid": ["1"] * 50, "docno": map(str, range(50)), "rel": [1] * 50})
    with pytest.raises(ArgumentError) as told:
        cranfield.compare(frame, [frame], "AP")  # type: ignore[call-arg]
    assert str(told.value) == (
        "compare: experiment must be of the class Experiment or of the class Results, not a value of the class "
        "DataFrame; make one of judgements and runs: cranfield.Experiment(qrels, runs)"
    )


def test_what_is_missing_is_told_whether_it_has_a_place_or_only_a_name() -> None:
    def function(first: int, second: int = 2, *, third: int, fourth: int = 4) -> tuple[int, int, int, int]:
        return first, second, third, fourth

    called: Callable[..., tuple[int, int, int, int]] = checked(function, __name__)
    assert called(1, third=3) == (1, 2, 3, 4)
    assert called(first=1, third=3, second=5) == (1, 5, 3, 4)
    for values, names, missing in (
        ((), {}, "first and third"),
        ((1,), {}, "third"),
        ((1, 2), {}, "third"),
        ((), {"third": 3}, "first"),
    ):
        with pytest.raises(ArgumentError, match=f"^function needs {missing}$"):
            called(*values, **names)
    with pytest.raises(
        ArgumentError, match=r"^function was given 3 values without a name, and takes first, second; oth"
    ):
        called(1, 2, 3)


if __name__ == "__main__":
    KEPT.write_text(signatures(), encoding="utf-8")
