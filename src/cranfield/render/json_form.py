"""What the JSON forms of all results share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, TypeAlias

from cranfield.version import __version__

# What JSON can hold: tuples are written as lists.
Json: TypeAlias = "str | float | Mapping[str, Json] | Sequence[Json] | None"


def finite(document: Mapping[str, Json]) -> dict[str, Json]:
    """The same without numbers that JSON does not have.

    >>> finite({"a": [1.5, float("nan")], "b": float("inf")})
    {'a': [1.5, None], 'b': None}
    """
    return {name: _finite(item) for name, item in document.items()}


def _finite(value: Json) -> Json:
    if isinstance(value, Mapping):
        return finite(value)
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def plain(value: Any) -> Json:
    """Results as JSON can hold them: named tuples and data classes as dicts, NumPy's arrays as lists.

    >>> plain({"a": (1, [2])})
    {'a': [1, [2]]}
    """
    if hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if is_dataclass(value):
        return {entry.name: plain(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def as_json(schema: str, result: Any, **more: Json) -> str:
    """A result under the name of its form; a number that does not exist is null."""
    document = plain(result)
    assert isinstance(document, Mapping)
    document = finite({"schema": schema, "version": __version__, **document, **more})
    import json

    return json.dumps(document, allow_nan=False, indent=1) + "\n"
