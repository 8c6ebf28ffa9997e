"""Probabilistic interleaving: any document may stand anywhere, those at the top of a ranking far more likely."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from cranfield.errors import UsageError, shorten
from cranfield.online.interleaving.method import (
    Draw,
    Equal,
    Interleaved,
    InterleavingScheme,
    Number,
    Ranking,
    Rankings,
    interleaver,
)
from cranfield.registry import Parameter, number


class _Sampling:
    """A ranker that gives documents by chance, none twice: of those left, each in proportion to its weight.

    What is left is told by sums from the bottom up, less what was given below the first document left. So nothing is
    added up anew for each document, and the small weights of the bottom are not lost beside those of the top.
    """

    def __init__(self, ranking: Ranking, weights: tuple[Number, ...], sums: tuple[Number, ...]) -> None:
        self.ranking, self.weights, self.sums = ranking, weights, sums
        self.places: dict[str, int] = {}
        self.known = 0  # how far `places` goes: of a long ranking only the top is ever asked for
        self.first = 0
        self.gone: dict[int, Number] = {}  # given already, below the first that is left

    def place(self, doc: str) -> int | None:
        """Where a document stands."""
        while doc not in self.places and self.known < len(self.ranking):
            self.places[self.ranking[self.known]] = self.known
            self.known += 1
        return self.places.get(doc)

    def mass(self) -> Number:
        """The weight of all that is left."""
        return self.sums[self.first] - sum(self.gone.values())

    def chance(self, doc: str) -> Number:
        """That of a document that is left; 0 if the ranking does not have it, or nothing is left."""
        place = self.place(doc)
        return 0 if place is None else self.weights[place] / self.mass()

    def is_able(self, count: int = 1) -> bool:
        """Whether it has so many documents left."""
        return len(self.ranking) - self.first - len(self.gone) >= count

    def take(self, doc: str) -> None:
        """A document is shown, whoever gave it."""
        place = self.place(doc)
        if place is None:
            return
        self.gone[place] = self.weights[place]
        while self.first in self.gone:
            del self.gone[self.first]
            self.first += 1

    def sampled(self, draw: Draw) -> str:
        """One of the documents left: down the ranking, is it this one or one of those below?"""
        left, place = self.mass(), self.first
        while True:
            weight = self.weights[place]
            rest = left - weight
            if self.sums[place + 1] == 0 or rest <= 0 or not self._more(place) or draw((weight, rest)) == 0:
                return self.ranking[place]
            left, place = rest, place + 1
            while place in self.gone:
                place += 1

    def _more(self, place: int) -> bool:
        """Whether something is left below a place."""
        below = len(self.ranking) - place - 1
        return below > len(self.gone) or below > sum(gone > place for gone in self.gone)


@lru_cache(maxsize=256)
def rank_weights(count: int, tau: float, exact: bool) -> tuple[tuple[Number, ...], tuple[Number, ...]]:
    """1 / rank^tau for so many ranks, and the sums of these from each rank down."""
    ranks = range(1, count + 1)
    if exact and float(tau).is_integer():
        weights: tuple[Number, ...] = tuple(Fraction(1, rank ** int(tau)) for rank in ranks)
    else:
        weights = tuple(float(rank) ** -tau for rank in ranks)
    sums: list[Number] = [0]
    for weight in reversed(weights):
        sums.append(sums[-1] + weight)
    return weights, tuple(reversed(sums))


@interleaver(
    "probabilistic",
    title="probabilistic",
    logged="both rankings as they were, and tau",
    tau=number("how steeply the weight of a rank falls, as 1 / rank^tau", 0, 20),
    coins=Parameter(
        "a coin for each place, or one for each round of two places, in which both rankers give one document",
        "'each' or 'rounds'",
        lambda value: value in ("each", "rounds"),
    ),
)
class Probabilistic(InterleavingScheme):
    """For every place a coin chooses a ranker, and the ranker gives one of its documents that are not shown yet, each
    with a chance in proportion to 1 / rank^tau (Hofmann, Whiteson and de Rijke 2011).

    A click is shared out by what is known of who gave the document: the chance of each ranker to give it there, over
    the sum of both. The coins of places are independent, so this is the mean over all ways in which the list could have
    come about, place by place; with a coin for each round, round by round. From where a ranker has nothing left to
    give, clicks count for nobody.

    >>> from cranfield.online.interleaving.method import credit, interleaved
    >>> shown = interleaved("probabilistic", [["1", "2"], ["2", "3"]], rng=5, length=2)
    >>> shown.docs, credit("probabilistic", shown, ["2"])
    (('2', '3'), (0.1111111111111111, 0.8888888888888888))
    """

    def __init__(self, *, tau: float = 3, coins: str = "each") -> None:
        self.tau, self.rounds = tau, coins == "rounds"

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        rankers = _sampling(rankings, self.tau, self.exact)
        docs: list[str] = []
        chances: list[Number] = []
        odds: tuple[Number, ...] = (1, 1)  # of who is to give the next document, as far as documents tell
        last: int | None = None
        while len(docs) < length:
            able = [place for place, ranker in enumerate(rankers) if ranker.is_able()]
            if not able:
                break
            coin = draw(Equal(2)) if len(able) == 2 and last is None else 0
            chosen = able[0] if len(able) == 1 else coin if last is None else 1 - last
            doc = rankers[chosen].sampled(draw)
            given = [ranker.chance(doc) if ranker.is_able() else 0 for ranker in rankers]
            weights = [odds[place] for place in able]
            chances.append(min(1, sum(odds[place] * given[place] for place in able) / sum(weights)))  # not 1 + 1e-14
            docs.append(doc)
            is_first = self.rounds and last is None and len(able) == 2
            odds = (given[1], given[0]) if is_first else (1, 1)
            last = chosen if is_first else None
            for ranker in rankers:
                ranker.take(doc)
        return Interleaved(rankings, tuple(docs), (), tuple(chances))

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        size = 2 if self.rounds else 1
        shares = _shares(shown.rankings, shown.docs, self.tau, size, self.exact) if slots else ()
        credit: list[Number] = [0] * len(shown.rankings)
        for slot in slots:
            for ranker, share in enumerate(shares[slot]):
                credit[ranker] += share
        return tuple(credit)


def _sampling(rankings: Rankings, tau: float, exact: bool) -> list[_Sampling]:
    return [_Sampling(ranking, *rank_weights(len(ranking), tau, exact)) for ranking in rankings]


@lru_cache(maxsize=16)
def _shares(rankings: Rankings, docs: Ranking, tau: float, size: int, exact: bool) -> tuple[tuple[Number, ...], ...]:
    """For each place, how likely each ranker is to have given the document; they add up to 1, or are all 0.

    `size` is the number of places in a round: of 1, each by itself; of 2, each ranker gave one of both.
    """
    rankers = _sampling(rankings, tau, exact)
    shares: list[tuple[Number, ...]] = []
    for start in range(0, len(docs), size):
        part = docs[start : start + size]
        fair = all(ranker.is_able(len(part)) for ranker in rankers)
        given = []
        for doc in part:
            given.append([ranker.chance(doc) if fair else 0 for ranker in rankers])
            if fair and not any(given[-1]):
                raise UsageError(f"'{shorten(doc)}' was shown and is in no ranking")
            for ranker in rankers:
                ranker.take(doc)
        likely = [given[0][0], given[0][1]] if len(part) == 1 else _orders(given)
        whole = sum(likely)
        first = tuple(chance / whole if whole else 0 for chance in likely)
        shares += [first, first[::-1]][: len(part)]
    return tuple(shares)


def _orders(given: Sequence[Sequence[Number]]) -> list[Number]:
    """How likely each ranker is to have given the first of two documents, and the other one the second."""
    return [given[0][0] * given[1][1], given[0][1] * given[1][0]]
