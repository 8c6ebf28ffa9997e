"""Ranks that stand in for scores: what is said of them, in every form of input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING

from cranfield.errors import shorten, some
from cranfield.formats.format import RANKS_NOTE, Parsed
from cranfield.formats.layout import Columns

if TYPE_CHECKING:
    import pyarrow


def with_ranks_told(parsed: Parsed, names: Sequence[str], columns: Columns, numbers: Iterable[str]) -> Parsed:
    """A table, and if its scores are ranks, a note of it; which of the columns with `numbers` nobody reads, too: the
    name of the score may be misspelt.
    """
    if columns.kind != "rank":
        return parsed
    code, note = RANKS_NOTE
    used = {names[place] for place in columns[:5] if place >= 0}
    unread = [name for name in numbers if name not in used]
    if unread:
        name = shorten(unread[0], 60)
        note += (
            f"; {some([repr(shorten(name, 60)) for name in unread])} {'is' if len(unread) == 1 else 'are'} not read: "
            f"--columns score={name} (columns={{'score': {name!r}}} in Python) if that is the score"
        )
    others = tuple(pair for pair in parsed.notes if pair[0] != code)
    return parsed._replace(notes=(*others, (code, note)))


def with_numbers(row: Iterable[tuple[str, object]]) -> list[str]:
    """The names of those columns that have a number in a row.

    >>> with_numbers([("topic", "1"), ("rank", 2), ("points", 7.5), ("seen", True)])
    ['rank', 'points']
    """
    return [name for name, value in row if isinstance(value, Real) and not isinstance(value, bool)]


def number_columns(schema: pyarrow.Schema) -> list[str]:
    """The names of those columns that have numbers."""
    import pyarrow.types as types

    kinds = (types.is_integer, types.is_floating, types.is_decimal)
    return [field.name for field in schema if any(is_one(field.type) for is_one in kinds)]
