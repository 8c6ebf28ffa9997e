"""Numbers as they are written, in options and notation as in files: digits 0 to 9, a sign, a point, an exponent.

Python's own int() and float() take more, and with it slips of the pen: 1_0 is 10 to them, and so are the digits of
every script, while nan passes every check of a range.
"""

from __future__ import annotations

import ast
import re
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.notation import Value

_WHOLE = r"[+-]?[0-9]+"
_DECIMAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
LARGEST = 2**63 - 1  # what the core and NumPy hold


class NotPlainError(ValueError):
    """A number is not written plainly."""


def whole(text: str) -> int | None:
    """A whole number, or None if the text is none, or a larger one than anybody needs.

    >>> whole("10"), whole("1_0"), whole("１０"), whole("1" * 30)
    (10, None, None, None)
    """
    if not re.fullmatch(_WHOLE, text) or len(text) > 20:
        return None
    number = int(text)
    return number if abs(number) <= LARGEST else None


def decimal(text: str) -> float | None:
    """A number, or None if the text is none.

    >>> decimal("0.5"), decimal("1e3"), decimal("0_1.5"), decimal("nan"), decimal("1e999")
    (0.5, 1000.0, None, None, None)
    """
    if not re.fullmatch(_DECIMAL, text):
        return None
    number = float(text)
    return number if isfinite(number) else None


def literal(node: ast.expr, text: str) -> Value:
    """The value that stands in a text parsed by `ast`, which has no number that is not written plainly."""
    for part in ast.walk(node):
        value = part.value if isinstance(part, ast.Constant) else None
        if isinstance(value, int | float | complex) and not isinstance(value, bool):
            written = ast.get_source_segment(text, part) or ""
            if not re.fullmatch(_DECIMAL, written):
                raise NotPlainError(f"'{written}' is not a number: digits are 0 to 9, with nothing between them")
    literal_value: Value = ast.literal_eval(node)
    return literal_value
