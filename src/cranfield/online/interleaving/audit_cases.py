"""The rankings on which methods are audited: all there are, up to a length, but for the names of documents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

from cranfield.online.interleaving.method import Ranking
from cranfield.online.interleaving.outcomes import AuditCase

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def audit_cases(length: int, overlapping: int, *, rankers: int = 2) -> list[AuditCase]:
    """Every case, the smallest first.

    Of two rankers: up to `length`, one ranking against all its permutations, all documents shown; up to `overlapping`,
    all rankings that share some documents or none, of any two lengths, with as many documents shown as the longer one
    has, or of two equally long ones fewer. Of three: permutations alone, up to 3.

    >>> [len([case for case in audit_cases(4, 3) if case.is_permuted and case.length == n]) for n in (1, 2, 3, 4)]
    [1, 2, 6, 24]
    """
    found: dict[AuditCase, None] = {}
    if rankers > 2:
        for size in range(1, min(length, 3) + 1):
            orders = list(permutations(LETTERS[:size]))
            for others in product(orders, repeat=rankers - 1):
                found[AuditCase((orders[0], *others), size)] = None
        return list(found)
    for size in range(1, max(length, overlapping) + 1):
        if size <= length:
            for other in permutations(LETTERS[:size]):
                found[AuditCase((tuple(LETTERS[:size]), other), size)] = None
        if size <= overlapping:
            for first, second in product(range(size + 1), repeat=2):
                if max(first, second) == size:
                    for other in _others(first, second):
                        for shown in range(size, 0 if first == second else size - 1, -1):
                            found[AuditCase((tuple(LETTERS[:first]), other), shown)] = None
    return sorted(found, key=_size)


def _size(case: AuditCase) -> tuple[int, int, int]:
    longest = max(map(len, case.rankings))
    return longest, len(set().union(*case.rankings)), longest - case.length


def _others(first: int, second: int) -> Iterator[Ranking]:
    """Every ranking so long beside one of the first letters: of these letters, and of new ones in their order."""

    def longer(docs: Ranking, new: int) -> Iterator[Ranking]:
        if len(docs) == second:
            yield docs
            return
        for doc in LETTERS[:first]:
            if doc not in docs:
                yield from longer((*docs, doc), new)
        yield from longer((*docs, LETTERS[first + new]), new + 1)

    return longer((), 0)
