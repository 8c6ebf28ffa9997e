"""What a method of interleaving is: rankings of several rankers become one list, and clicks on it become credit.

To add a method, write a class and decorate it with `@interleaver`: the command line, its help, the server's library
and the auditor read the registry. It has `interleave(rankings, length, draw)`, which gives an `Interleaved`, and
`credit(shown, slots)`, which gives a number for every ranker.

Chance comes through `draw(weights)` alone, which gives the place of one of the weights. So a list can be made again
from a seed, and the auditor can go through every outcome there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple, Protocol, TypeAlias, overload

from cranfield.errors import UsageError, plural, shorten
from cranfield.registry import Entry, Parameter, Registry, described

Number: TypeAlias = "int | float | Fraction"
Weights: TypeAlias = "Sequence[Number]"
Draw: TypeAlias = "Callable[[Weights], int]"
Ranking: TypeAlias = "tuple[str, ...]"
Rankings: TypeAlias = "tuple[Ranking, ...]"
NOBODY = -1  # the team of a document whose clicks count for no ranker


class Equal(Sequence[Number]):
    """As many weights of 1 as are wanted, without writing them down.

    >>> list(Equal(3))
    [1, 1, 1]
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, place: int) -> Number: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Number]: ...

    def __getitem__(self, place: int | slice) -> Number | Sequence[Number]:
        chosen = range(self.size)[place]  # an error where there is none
        return Equal(len(chosen)) if isinstance(chosen, range) else 1


class Interleaved(NamedTuple):
    """A list to show, and all that must be logged with it.

    `teams` has for each document the number of the ranker that a click on it counts for, or -1; it is empty for methods
    without teams. `chances` has for each document the chance that it had of standing there, given the documents and
    teams above it. `leader` is the ranker that began, where that decides everything. `notes` are sentences on what a
    reader of the credit must know.
    """

    rankings: Rankings
    docs: Ranking
    teams: tuple[int, ...] = ()
    chances: tuple[Number, ...] = ()
    leader: int | None = None
    notes: tuple[str, ...] = ()


class Interleaves(Protocol):
    """What can be served with and audited, of ours or of one's own."""

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        """A list of at most so many documents; all chance comes through `draw`."""
        ...

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        """What each ranker gets for clicks on these places of the list, counted from 0, in their order."""
        ...


class InterleavingScheme:
    """What our methods have in common. `exact` asks for fractions where numbers would be rounded."""

    exact: bool = False

    def __init__(self) -> None: ...

    def team_credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        """A click is worth 1 to the ranker whose team the document is in."""
        credit = [0] * len(shown.rankings)
        for slot in slots:
            if shown.teams[slot] != NOBODY:
                credit[shown.teams[slot]] += 1
        return tuple(credit)


class Interleaver(Entry[Callable[..., Interleaves]]):
    """A method under its name, with the values of its parameters.

    >>> str(find_interleaver("probabilistic(tau=2)")), find_interleaver("team-draft").rankers
    ('probabilistic(tau=2)', 2)
    """

    title: str
    logged: str  # what must be logged for its credit, in words
    rankers: int | None = 2  # how many rankings it takes; None: any number from 2
    is_deep: bool = True  # whether what a ranking has further down than the list is long can matter

    @property
    def says(self) -> str:
        """How it works: the first paragraph of the docstring."""
        return " ".join(self.help.split("\n\n")[0].split())

    def made(self) -> Interleaves:
        """The method, ready to be used."""
        return self.function()

    def check_rankings(self, rankings: Sequence[Sequence[str]], length: int | None = None) -> Rankings:
        """The rankings as they are worked with; that there are as many as it takes, and no document twice in one, as
        far down as it can matter to a list of this length.
        """
        if len(rankings) < 2 or (self.rankers is not None and len(rankings) != self.rankers):
            wanted = "2 rankings or more" if self.rankers is None else f"{self.rankers} rankings"
            more = "; for more, take team-draft-multileaving" if len(rankings) > 2 and self.rankers else ""
            raise UsageError(f"{self.name} interleaves {wanted}, not {len(rankings)}{more}")
        for ranker, ranking in enumerate(rankings):
            if isinstance(ranking, str):
                raise UsageError(f"ranking {ranker + 1} must be a list of documents, not the text '{shorten(ranking)}'")
            seen = ranking if length is None or self.is_deep else ranking[:length]
            if len(set(seen)) != len(seen):
                twice = next(doc for doc, count in Counter(seen).items() if count > 1)
                raise UsageError(f"ranking {ranker + 1} has '{shorten(str(twice))}' twice: a document stands once")
        return tuple(map(tuple, rankings))


INTERLEAVERS: Registry[Interleaver] = Registry(
    "method of interleaving",
    group="cranfield.interleaving",
    package="cranfield.online.interleaving",
    decorator="interleaver",
    order=("drafts", "probabilistic", "optimised", "pairwise"),
)


def interleaver(
    name: str, *, title: str, logged: str, rankers: int | None = 2, is_deep: bool = True, **parameters: Parameter
) -> Callable[[Callable[..., Interleaves]], Callable[..., Interleaves]]:
    """Registers a class; its docstring says how it works, the keywords of its `__init__` are its parameters."""

    def register(function: Callable[..., Interleaves]) -> Callable[..., Interleaves]:
        known = described(function, "interleaver", parameters)
        INTERLEAVERS.add(
            Interleaver(
                name=name,
                title=title,
                logged=logged,
                rankers=rankers,
                is_deep=is_deep,
                function=function,
                parameters=known,
            )
        )
        return function

    return register


def all_interleavers() -> tuple[Interleaver, ...]:
    """Every registered method.

    >>> [method.name for method in all_interleavers()][:2]
    ['balanced', 'team-draft']
    """
    return INTERLEAVERS.all()


def find_interleaver(text: str | Interleaver) -> Interleaver:
    """The method of a notation such as team-draft or probabilistic(tau=3).

    >>> find_interleaver("probabilistic(k=3)")
    Traceback (most recent call last):
    cranfield.errors.UsageError: probabilistic has no parameter 'k'; it has tau, coins
    """
    return text if isinstance(text, Interleaver) else INTERLEAVERS.find(text)


def drawing(rng: Random) -> Draw:
    """`draw` from a generator of random numbers.

    >>> draw = drawing(Random(1))
    >>> [draw((1, 3)) for _ in range(5)], [draw(Equal(4)) for _ in range(3)]
    ([0, 1, 1, 1, 1], [1, 2, 3])
    """
    random = rng.random

    def draw(weights: Weights) -> int:
        if type(weights) is Equal:
            return int(random() * weights.size)
        reached, point, chosen = 0.0, random() * float(sum(weights)), 0
        for place, weight in enumerate(weights):
            if weight:
                chosen = place
                reached += float(weight)
                if point < reached:
                    break
        return chosen

    return draw


def interleaved(
    method: str | Interleaver, rankings: Sequence[Sequence[str]], rng: Random | int | str, length: int | None = None
) -> Interleaved:
    """One list made of several rankings: what to show, and what to log with it.

    `rng` is a generator or a seed, which may be a text; the same seed gives the same list. Without `length` it is as
    long as the longest ranking.

    >>> shown = interleaved("team-draft", [["a", "b", "c"], ["b", "c", "a"]], rng=1)
    >>> shown.docs, shown.teams
    (('a', 'b', 'c'), (0, 1, 1))
    """
    entry = find_interleaver(method)
    known = entry.check_rankings(rankings, length)
    longest = max(map(len, known))
    if length is not None and length < 1:
        raise UsageError(f"a list has 1 document or more, not {length}")
    draw = drawing(rng if isinstance(rng, Random) else Random(rng))
    return entry.made().interleave(known, longest if length is None else min(length, sum(map(len, known))), draw)


def credit(method: str | Interleaver, shown: Interleaved, clicked: Collection[str]) -> tuple[float, ...]:
    """What each ranker gets for clicks on these documents, as the method defines it.

    A document that was clicked several times is given once. One that was not shown is an error.

    >>> shown = interleaved("team-draft", [["a", "b", "c"], ["b", "c", "a"]], rng=1)
    >>> credit("team-draft", shown, ["c"])
    (0.0, 1.0)
    """
    slots = {doc: slot for slot, doc in enumerate(shown.docs)}
    strange = [doc for doc in clicked if doc not in slots]
    if strange:
        raise UsageError(
            f"'{shorten(str(strange[0]))}' was clicked and is none of the {plural(len(shown.docs), 'document')} shown"
        )
    given = find_interleaver(method).made().credit(shown, sorted(slots[doc] for doc in set(clicked)))
    return tuple(map(float, given))
