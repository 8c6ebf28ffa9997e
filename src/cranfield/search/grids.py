"""Grids of parameters: `k1=0.6:1.8:0.2` for a range, `variant=lucene,robertson` for values one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import product

from cranfield.errors import UsageError
from cranfield.notation import Value
from cranfield.numerals import decimal, whole
from cranfield.search.models import Model

MOST = 10_000  # combinations beyond which a grid is a slip of the pen


def parse_grid(texts: Iterable[str], model: Model) -> dict[str, tuple[Value, ...]]:
    """The values to try for each parameter of a model. A range has its end in it, if a step falls there.

    >>> from cranfield.search.models import find_model
    >>> parse_grid(["k1=0.6:1.2:0.2", "variant=lucene,atire"], find_model("bm25"))
    {'k1': (0.6, 0.8, 1.0, 1.2), 'variant': ('lucene', 'atire')}
    """
    grid: dict[str, tuple[Value, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = own_name(name.strip())
        if not name or not equals or not values.strip():
            raise UsageError(f"a grid is name=first:last:step or name=value,value, not '{text}'")
        if name in grid:
            raise UsageError(f"two grids for {name}: give all its values in one")
        model.check_names([name])
        spelt = _range(values, text) if ":" in values else [value.strip() for value in values.split(",")]
        grid[name] = tuple(as_value(value, name, model) for value in spelt)
        if len(set(grid[name])) < len(grid[name]):
            raise UsageError(f"'{text}' has a value twice")
        for value in grid[name]:
            model.check({name: value})
    return grid


def points(grid: Mapping[str, tuple[Value, ...]]) -> list[dict[str, Value]]:
    """Every combination of values, the last parameter changing fastest.

    >>> points({"k1": (0.9, 1.2), "b": (0.4,)})
    [{'k1': 0.9, 'b': 0.4}, {'k1': 1.2, 'b': 0.4}]
    """
    count = 1
    for values in grid.values():
        count *= len(values)
    if count > MOST:
        raise UsageError(f"the grid has {count:,} combinations, more than {MOST:,}: try fewer values")
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def as_value(text: str, name: str, model: Model) -> Value:
    """A parameter's value from text, of the type of its default.

    >>> from cranfield.search.models import find_model
    >>> as_value("1.2", "k1", find_model("bm25"))
    1.2
    """
    kind = type(model.defaults[name])
    if kind is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise UsageError(f"{name} must be true or false, not '{text}'")
    if kind is str:
        return text
    value = whole(text) if kind is int else decimal(text)
    if value is None:
        raise UsageError(f"{name} must be a {'whole ' if kind is int else ''}number, not '{text}'")
    return value


def own_name(name: str) -> str:
    """A parameter's name in Python, where `lambda` is a word of the language.

    >>> own_name("lambda"), own_name("k1")
    ('lambda_', 'k1')
    """
    return "lambda_" if name == "lambda" else name


def _range(values: str, text: str) -> list[str]:
    """Decimal numbers from first to last: 0.6 + 0.2 is 0.8, not a neighbour of it."""
    parts = [part.strip() for part in values.split(":")]
    if len(parts) != 3 or any(decimal(part) is None for part in parts):
        raise UsageError(f"a range is first:last:step, three numbers, not '{text}'")
    first, last, step = map(Decimal, parts)
    if step <= 0 or last < first:
        raise UsageError(f"a range goes from first up to last by a step above 0, not '{text}'")
    count = int((last - first) / step) + 1
    if count > MOST:
        raise UsageError(f"'{text}' has {count:,} values, more than {MOST:,}")
    return [str(first + step * i) for i in range(count)]
