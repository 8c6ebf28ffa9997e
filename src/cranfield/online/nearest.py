"""Names in the order in which one may have meant them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from cranfield.errors import shorten

MOST = 8  # names that are told


def nearest_first(meant: str, names: Iterable[str]) -> str:
    """All names as a text, those that are written most like the one that was meant first.

    >>> nearest_first("refnd", ["click", "cart", "refund"])
    'refund, click, cart'
    """
    known = list(dict.fromkeys(names))
    near = get_close_matches(meant, known, len(known) or 1)
    ordered = [shorten(name, 60) for name in (*near, *(name for name in known if name not in near))]
    return ", ".join(ordered[:MOST]) + (", …" if len(ordered) > MOST else "")
