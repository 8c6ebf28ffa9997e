"""Where something stands in JSON: `hits.hits[*]._id`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import UsageError, shorten, some

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

# A name, the place in a list, or a name in quotes: in this order in the groups.
_STEP = re.compile(r'(?:^|\.)([^.\[\]"\s]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]')
EVERY = "[*]"
Step = str | int


class JsonPath(NamedTuple):
    """The way to a list, and from each of its entries on.

    >>> path = JsonPath.parse("hits.hits[*]._id")
    >>> path.values({"hits": {"hits": [{"_id": "d1"}, {"_id": "d2"}]}})
    ['d1', 'd2']
    """

    text: str
    to_list: tuple[Step, ...]
    in_entry: tuple[Step, ...]

    @classmethod
    def parse(cls, text: str) -> JsonPath:
        before, every, after = text.partition(EVERY)
        if not every or EVERY in after:
            raise UsageError(f"'{text}' says not where the documents are: put one [*] there, as results[*].id")
        return cls(text, steps(before, text), steps(after, text))

    def values(self, document: Json) -> list[Json]:
        """One of each entry of the list; a LookupError says where the way ends."""
        entries = value_at(document, self.to_list)
        if isinstance(entries, str) or not isinstance(entries, Sequence):
            raise LookupError(f"at {_shown(self.to_list)} is no list")
        found = []
        for number, entry in enumerate(entries):
            try:
                found.append(value_at(entry, self.in_entry))
            except LookupError as error:
                raise LookupError(f"in entry {number + 1} of {_shown(self.to_list)} {error}") from None
        return found


def steps(text: str, whole: str | None = None) -> tuple[Step, ...]:
    """Names and places, one after the other.

    >>> steps('body["a.b"][0].c')
    ('body', 'a.b', 0, 'c')
    """
    taken: list[Step] = []
    rest = text.removeprefix("$").removeprefix(".")
    while rest:
        step = _STEP.match(rest)
        if not step:
            raise UsageError(
                f"'{whole or text}' is no path in JSON: write names with dots between, [0] for one entry, [*] for all"
            )
        name, place, quoted = step.groups()
        taken.append(name if name is not None else int(place) if place is not None else json.loads(quoted))
        rest = rest[step.end() :]
    return tuple(taken)


def value_at(document: Json, way: Sequence[Step]) -> Json:
    """What stands at the end of a way; a LookupError says where it ends before.

    >>> value_at({"a": [{"b": 3}]}, ("a", 0, "b"))
    3
    >>> value_at({"a": {"c": 3}}, ("a", "b"))
    Traceback (most recent call last):
    LookupError: there is no b in a, which has c
    """
    value = document
    for number, step in enumerate(way):
        before = _shown(way[:number])
        if isinstance(step, str) and isinstance(value, dict):
            if step not in value:
                known = f"which has {shorten(some(list(value)), 100)}" if value else "which is empty"
                raise LookupError(f"there is no {step} in {before}, {known}")
            value = value[step]
        elif isinstance(step, int) and isinstance(value, list):
            if step >= len(value):
                raise LookupError(f"there is no [{step}] in {before}, which has {len(value)} entries")
            value = value[step]
        else:
            raise LookupError(f"there is no {step} in {before}, which is {_kind(value)}")
    return value


def _shown(way: Sequence[Step]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in way)
    return text.removeprefix(".") or "it"


def _kind(value: Json) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", type(None): "null", bool: "true or false"}
    return kinds.get(type(value), "a number")
