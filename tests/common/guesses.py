"""Rankings with holes where nobody has judged, and every way in which they may be filled."""

from __future__ import annotations

from itertools import product

# Short lists with holes: relevant documents above, between and below them, some not retrieved, several grades.
RANKINGS = ("-1-0-", "1-2--/1", "--/21", "2-1-/0", "0--1/22", "---", "12/1", "-2-1", "1--", "-0-/1112")


def every_guess(ranking: str, grades: str) -> list[str]:
    """The ranking with each hole judged in every way."""
    found = []
    for chosen in product(grades, repeat=ranking.count("-")):
        guess = iter(chosen)
        found.append("".join(next(guess) if c == "-" else c for c in ranking))
    return found
