"""Squares that put systems into orders, so that neither place nor what came before favours any of them."""

from __future__ import annotations

from typing import TypeAlias

from cranfield.errors import UsageError

Rows: TypeAlias = "tuple[tuple[int, ...], ...]"
POWERS = {4: 0b111, 8: 0b1011, 16: 0b10011}  # orders that are powers of two, and a polynomial of their field


def williams_squares(systems: int) -> Rows:
    """Orders in which each system is in each place, and follows each other one, equally often.

    One square for an even number of systems; for an odd one two, the second with the orders of the first reversed.

    Reference: Williams, "Experimental designs balanced for the estimation of residual effects of treatments", 1949.

    >>> williams_squares(4)
    ((0, 1, 3, 2), (1, 2, 0, 3), (2, 3, 1, 0), (3, 0, 2, 1))
    >>> williams_squares(3)
    ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0), (0, 2, 1), (1, 0, 2))
    """
    if systems < 1:
        raise UsageError(f"a square has at least one system, not {systems}")
    first = zigzag(systems)
    square = tuple(tuple((place + row) % systems for place in first) for row in range(systems))
    return square if systems % 2 == 0 or systems == 1 else square + tuple(row[::-1] for row in square)


def zigzag(systems: int) -> tuple[int, ...]:
    """0, 1, n - 1, 2, n - 2, …: neighbours differ by another number, modulo n, each time."""
    return tuple((place + 1) // 2 if place % 2 else -(place // 2) % systems for place in range(systems))


def graeco_latin_square(order: int) -> tuple[Rows, Rows]:
    """A Graeco-Latin square: two Latin squares in which each number of one meets each of the other once.

    There is none of order 2 or 6; here are those of odd order, whose first is a square of Williams, and of order 4, 8
    and 16.

    References: Euler, "Recherches sur une nouvelle espèce de quarrés magiques", 1782; Bose, "On the application of the
    properties of Galois fields to the problem of construction of hyper-Græco-Latin squares", 1938.

    >>> graeco_latin_square(3)
    (((0, 1, 2), (1, 2, 0), (2, 0, 1)), ((0, 2, 1), (1, 0, 2), (2, 1, 0)))
    """
    numbers = range(order)
    if order % 2:
        first = zigzag(order)
        ones = tuple(tuple((place + row) % order for place in first) for row in numbers)
        return ones, tuple(tuple((2 * place + row) % order for place in first) for row in numbers)
    if order not in POWERS:
        why = "there is none" if order in (2, 6) else "none is known here"
        raise UsageError(f"a Graeco-Latin square of {order} systems: {why}; take the design williams")

    def doubled(number: int) -> int:
        return number << 1 ^ (POWERS[order] if number << 1 >= order else 0)

    ones = tuple(tuple(row ^ place for place in numbers) for row in numbers)
    return ones, tuple(tuple(doubled(row) ^ place for place in numbers) for row in numbers)
