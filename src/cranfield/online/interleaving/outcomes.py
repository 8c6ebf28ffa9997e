"""Every list that a method can make of some rankings, with its exact chance: all of chance replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import NamedTuple

from cranfield.errors import UsageError, shorten
from cranfield.online.interleaving.method import Interleaved, Interleaves, Number, Rankings, Weights, drawing
from cranfield.online.interleaving.own_methods import MadeWrongError, checked_list

MOST_OUTCOMES = 200_000  # of one pair of rankings


class AuditCase(NamedTuple):
    """Rankings, and how many documents of them are shown."""

    rankings: Rankings
    length: int

    @property
    def is_permuted(self) -> bool:
        """Whether all rankings have the same documents, and all of these are shown."""
        return len({frozenset(ranking) for ranking in self.rankings}) == 1 and self.length == len(self.rankings[0])

    @property
    def kind(self) -> str:
        """What sort of case it is."""
        if len(self.rankings) > 2:
            return f"{len(self.rankings)} rankers"
        if self.is_permuted:
            return f"permutations of {self.length}"
        return "overlapping" if len(set(map(len, self.rankings))) == 1 else "unequal lengths"


class Shown(NamedTuple):
    """A list with its chance, and the credit that each set of clicked places gives every ranker.

    `rounded` says that one of these numbers was a floating-point number that stands for one nearby.
    """

    docs: tuple[str, ...]
    chance: Fraction
    credit: dict[tuple[int, ...], tuple[Fraction, ...]]
    rounded: bool


class ElsewhereError(Exception):
    """The method draws chance from elsewhere: the same draws gave another list, or other draws."""


class DrawReplay:
    """`draw` that gives what it is told, and afterwards the first that can be; it keeps what was asked."""

    def __init__(self, told: Sequence[int]) -> None:
        self.told, self.asked = list(told), list[list[Fraction]]()
        self.taken: list[int] = []
        self.rounded = False

    def __call__(self, weights: Weights) -> int:
        known = _checked(weights)
        turn = len(self.taken)
        place = self.told[turn] if turn < len(self.told) else next(i for i, weight in enumerate(known) if weight)
        if place >= len(known) or not known[place]:
            raise ElsewhereError
        self.rounded = self.rounded or any(map(is_rounded, weights))
        self.asked.append(known)
        self.taken.append(place)
        return place

    def chance(self) -> Fraction:
        """The chance of what was drawn."""
        chance = Fraction(1)
        for weights, place in zip(self.asked, self.taken, strict=True):
            chance *= weights[place] / sum(weights)
        return chance

    def next(self) -> list[int] | None:
        """What to tell next: the last draw that has another outcome left gives it."""
        for turn in reversed(range(len(self.taken))):
            for place in range(self.taken[turn] + 1, len(self.asked[turn])):
                if self.asked[turn][place]:
                    return [*self.taken[:turn], place]
        return None


def _checked(weights: Weights) -> list[Fraction]:
    known = [Fraction(weight) for weight in weights]
    if not known or min(known) < 0 or not sum(known):
        raise UsageError(f"draw takes weights from 0, one of them above, not {shorten(repr(list(weights)))}")
    return known


def all_outcomes(method: Interleaves, case: AuditCase, *, twice: bool) -> list[Shown]:
    """Every list with its chance and credit; with `twice` each is made again and again, to see whether it is the same.

    >>> from cranfield.online.interleaving.method import find_interleaver
    >>> case = AuditCase((("a", "b"), ("b", "a")), 2)
    >>> found = all_outcomes(find_interleaver("team-draft").made(), case, twice=False)
    >>> [(shown.docs, str(shown.chance)) for shown in found]
    [(('a', 'b'), '1/2'), (('b', 'a'), '1/2')]
    """
    chances: dict[Interleaved, Fraction] = {}
    rounded = False
    told: list[int] | None = []
    for _ in range(MOST_OUTCOMES):
        replay = DrawReplay(told or [])
        shown = made(method, case, replay)
        for _ in range(
            (2 if told else 20) if twice else 0
        ):  # often once: few cases must not hide chance from elsewhere
            again = DrawReplay(replay.taken)
            if made(method, case, again) != shown or again.asked != replay.asked:
                raise ElsewhereError
        plain = shown._replace(chances=(), notes=())
        chances[plain] = chances.get(plain, Fraction(0)) + replay.chance()
        rounded = rounded or replay.rounded
        told = replay.next()
        if told is None:
            return [_counted(method, shown, chance, rounded) for shown, chance in chances.items()]
    raise UsageError(
        f"more than {MOST_OUTCOMES:,} outcomes for rankings of {case.length}: audit shorter ones with --length"
    )


def drawn_outcomes(method: Interleaves, case: AuditCase, count: int, rng: Random) -> list[Shown]:
    """So many lists drawn at random, each with its share of them."""
    draw = drawing(rng)
    lists = [made(method, case, draw) for _ in range(count)]
    return [_counted(method, shown, Fraction(1, count)) for shown in lists]


def _counted(method: Interleaves, shown: Interleaved, chance: Fraction, rounded: bool = False) -> Shown:
    credit: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for slots in click_sets(len(shown.docs)):
        answer = method.credit(shown, slots)
        rankers = len(shown.rankings)
        if not isinstance(answer, Sequence) or len(answer) != rankers:
            raise MadeWrongError("credit", f"credit must give a number for each of {rankers} rankers, not {answer!r}")
        given = tuple(answer)
        credit[slots] = tuple(map(_fraction, given))
        rounded = rounded or any(map(is_rounded, given))
    return Shown(shown.docs, chance, credit, rounded)


def is_rounded(number: Number) -> bool:
    """Whether it is likely to stand for another number nearby, as a float that is no half, quarter or such does.

    >>> is_rounded(0.1), is_rounded(0.25), is_rounded(Fraction(1, 10))
    (True, False, False)
    """
    return isinstance(number, float) and Fraction(number).denominator > 2**20


def made(method: Interleaves, case: AuditCase, draw: Callable[[Weights], int]) -> Interleaved:
    """A list of the method; that it can be one."""
    shown = checked_list(method.interleave(case.rankings, case.length, draw), case.rankings)
    docs = shown.docs
    if len(docs) > case.length or len(set(docs)) < len(docs) or not set(docs) <= set().union(*case.rankings):
        raise MadeWrongError(
            "interleave",
            f"interleave made {spelt_list(docs)} of {' and '.join(map(spelt_list, case.rankings))}: at most "
            f"{case.length} of their documents were asked for, none twice",
        )
    return shown


def _fraction(number: Number) -> Fraction:
    try:
        return Fraction(number)
    except (TypeError, ValueError, OverflowError):
        raise MadeWrongError("credit", f"credit must be a finite number, not {number!r}") from None


def click_sets(length: int) -> Iterator[tuple[int, ...]]:
    """Every set of places, small ones first; none of them too.

    >>> list(click_sets(2))
    [(), (0,), (1,), (0, 1)]
    """
    for size in range(length + 1):
        yield from combinations(range(length), size)


def spelt_list(docs: Sequence[str]) -> str:
    """Documents as they stand in a sentence; of one letter each, as a word.

    >>> spelt_list(("a", "b")), spelt_list(("d1", "d2")), spelt_list(())
    ('ab', 'd1 d2', 'nothing')
    """
    return ("" if all(len(doc) == 1 for doc in docs) else " ").join(docs) or "nothing"
