"""What writers of runs and judgements share: numbers such that reading gives the same doubles, names of columns."""

from __future__ import annotations

import re

from cranfield.formats.format import Rows
from cranfield.tables import Run

BLANKS = re.compile("[ \t\r\n\0]")
TABS = re.compile("[\t\r\n\0]")
LINES = re.compile("[\r\n\0]")


def number(value: float) -> str:
    """A number in the fewest digits that give it back; whole numbers without a point.

    >>> number(3.0), number(0.1), number(1e300), number(float("inf"))
    ('3', '0.1', '1e+300', 'inf')
    """
    return repr(value).removesuffix(".0")


def column_names(table: Rows) -> tuple[str, ...]:
    """What the columns are called."""
    return ("topic", "document", "rank", "score", "tag") if isinstance(table, Run) else ("topic", "document", "grade")
