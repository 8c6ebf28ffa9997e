"""Optimised interleaving: of all lists that respect both rankings, shown with such chances that nobody is preferred."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import log2
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import UsageError, some
from cranfield.online.interleaving.method import Draw, Interleaved, InterleavingScheme, Number, Rankings, interleaver
from cranfield.registry import Parameter

CREDITS = ("inverse", "linear", "binary")
MOST = 12  # places: 2^12 lists at most
BALANCED = 1e-9  # an expected difference below this is none


@interleaver(
    "optimised",
    title="optimised",
    logged="both rankings as they were, and the chance of the list",
    credit=Parameter(
        "what a click is worth: the difference of 1 / rank, that of ranks, or 1 to who has it higher",
        "'inverse', 'linear' or 'binary'",
        lambda value: value in CREDITS,
    ),
)
class Optimised(InterleavingScheme):
    """All lists whose next document is always the best one left of one ranking or the other; a linear program finds
    with which chances they are shown, so that a click at any rank is expected to give nobody more, and so that outcomes
    are as open as they can be (Radlinski and Craswell 2013).

    A click gives what the document is worth to a ranker by its rank, one that a ranking does not have being just below
    its end. As outcomes are the more open the nearer the entropy of who wins is to 1, with clicks in proportion to
    1 / rank, this is what is made large. Where no chances are fair at every rank, the sum over ranks of what is unfair
    is made as small as it can be, and this is noted. The number of lists doubles with every place: 12 at most.

    >>> from cranfield.online.interleaving.method import interleaved
    >>> [round(chance, 4) for chance in interleaved("optimised", [["1", "2"], ["2", "3"]], rng=4, length=2).chances]
    [0.4286, 1.0]
    """

    def __init__(self, *, credit: str = "inverse") -> None:
        self.worth = credit

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        names: dict[str, int] = {}
        known = tuple(tuple(names.setdefault(doc, len(names)) for doc in ranking) for ranking in rankings)
        plan = planned(known, length, self.worth)
        numbers = plan.lists[draw(plan.chances)] if len(plan.lists) > 1 else plan.lists[0]
        docs = list(names)
        chances, above = [], 1.0
        for place in range(1, len(numbers) + 1):
            mass = plan.mass(numbers[:place])
            chances.append(min(1.0, mass / above))
            above = mass
        return Interleaved(rankings, tuple(docs[i] for i in numbers), (), tuple(chances), notes=plan.notes)

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        ranks = [{doc: rank for rank, doc in enumerate(ranking, 1)} for ranking in shown.rankings]
        credit: list[Number] = [0, 0]
        for slot in slots:
            first, second = (of.get(shown.docs[slot], len(of) + 1) for of in ranks)
            gained = worth(first, second, self.worth)
            credit = [credit[0] + gained[0], credit[1] + gained[1]]
        return tuple(credit if self.exact else map(float, credit))


def worth(first: int, second: int, credit: str) -> tuple[Fraction | int, Fraction | int]:
    """What a click on a document gives each ranker, by the ranks at which they have it.

    >>> worth(1, 3, "inverse"), worth(1, 3, "linear"), worth(1, 3, "binary")
    ((Fraction(1, 1), Fraction(1, 3)), (3, 1), (1, 0))
    """
    if credit == "inverse":
        return Fraction(1, first), Fraction(1, second)
    return (second, first) if credit == "linear" else (int(first < second), int(second < first))


class ListPlan(NamedTuple):
    """Every list that may be shown, with its chance; documents are numbers."""

    lists: tuple[tuple[int, ...], ...]
    chances: tuple[float, ...]
    notes: tuple[str, ...]

    def mass(self, prefix: tuple[int, ...]) -> float:
        """The chance of a list that begins so."""
        pairs = zip(self.lists, self.chances, strict=True)
        return sum(chance for docs, chance in pairs if docs[: len(prefix)] == prefix)


@lru_cache(maxsize=4096)
def planned(rankings: tuple[tuple[int, ...], ...], length: int, credit: str) -> ListPlan:
    """The chances of all lists; the same for rankings that differ in the names of documents alone."""
    lists = _prefix_lists(rankings, length)
    places = len(lists[0])
    if places == 0:
        return ListPlan(lists, (1.0,), ())
    ranks = [{doc: rank for rank, doc in enumerate(ranking, 1)} for ranking in rankings]
    first, second = ranks
    docs = {**first, **second}
    gains = {doc: worth(first.get(doc, len(first) + 1), second.get(doc, len(second) + 1), credit) for doc in docs}
    lead = np.array([[float(gains[doc][0] - gains[doc][1]) for doc in docs] for docs in lists]).T
    found = _solved(lead, np.array([_openness(column) for column in lead.T]))
    off = np.abs(lead @ found)
    notes: tuple[str, ...] = ()
    if off.max() > BALANCED:
        places_off = [f"{place + 1} (by {off[place]:.3g})" for place in np.flatnonzero(off > BALANCED)]
        notes = (
            f"no chances of these lists are fair at every rank: clicks at random prefer one ranker at rank "
            f"{some(places_off)}",
        )
    kept = [place for place in range(len(lists)) if found[place] > 0]
    return ListPlan(tuple(lists[i] for i in kept), tuple(float(found[i]) for i in kept), notes)


def _prefix_lists(rankings: tuple[tuple[int, ...], ...], length: int) -> tuple[tuple[int, ...], ...]:
    longest = min(length, len(set().union(*rankings)))
    if longest > MOST:
        raise UsageError(
            f"optimised goes through all lists, 2^{longest} or so: at most {MOST} places; show fewer, or take pairwise"
        )
    lists: dict[tuple[int, ...], None] = {(): None}
    for _ in range(longest):
        longer: dict[tuple[int, ...], None] = {}
        for docs in lists:
            for ranking in rankings:
                top = next((doc for doc in ranking if doc not in docs), None)
                if top is not None:
                    longer[(*docs, top)] = None
        lists = longer
    return tuple(lists)


def _openness(lead: Any) -> float:
    """How open it is who wins by a list: the entropy of whom a click prefers, times the share that prefer one."""
    shares = 1 / np.arange(1, len(lead) + 1)
    first, second = float(shares[lead > 0].sum()), float(shares[lead < 0].sum())
    if not first or not second:
        return 0.0
    part = first / (first + second)
    return -(part * log2(part) + (1 - part) * log2(1 - part)) * (first + second) / float(shares.sum())


def _solved(lead: Any, openness: Any) -> Any:
    """Chances of lists (columns of `lead`) that add up to 1: fair at every rank if they can be, and then most open."""
    from scipy.optimize import linprog

    places, lists = lead.shape
    scale = np.maximum(np.abs(lead).max(axis=1, keepdims=True), 1e-300)
    even, one = lead / scale, np.ones((1, lists))
    fair = linprog(-openness, A_eq=np.vstack([even, one]), b_eq=[0.0] * places + [1.0], method="highs")
    if fair.status == 0:
        return _cleaned(fair.x)
    # with slack above and below at every rank, first as little of it as can be, then as open as that allows
    slack = np.hstack([lead, np.eye(places), -np.eye(places)])
    total = np.hstack([one, np.zeros((1, 2 * places))])
    costs = np.hstack([np.zeros(lists), np.ones(2 * places)])
    least = linprog(costs, A_eq=np.vstack([slack, total]), b_eq=[0.0] * places + [1.0], method="highs")
    open_most = linprog(
        np.hstack([-openness, np.zeros(2 * places)]),
        A_eq=np.vstack([slack, total]),
        b_eq=[0.0] * places + [1.0],
        A_ub=costs[None, :],
        b_ub=[least.fun * (1 + 1e-9) + 1e-12],
        method="highs",
    )
    return _cleaned((open_most if open_most.status == 0 else least).x[:lists])


def _cleaned(chances: Any) -> Any:
    kept = np.where(chances < 1e-12, 0.0, chances)
    return kept / kept.sum()
