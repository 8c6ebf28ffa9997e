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
    Number,
    Ranking,
    Rankings,
    Scheme,
    interleaver,
)
from cranfield.registry import number


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
        return 0 if place is None else self.weights[place] / self.mass()  # type: ignore[operator]

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
            rest = left - weight  # type: ignore[operator]
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
        sums.append(sums[-1] + weight)  # type: ignore[operator]
    return weights, tuple(reversed(sums))


@interleaver(
    "probabilistic",
    title="probabilistic",
    logged="both rankings as they were, and tau",
    tau=number("how steeply the weight of a rank falls, as 1 / rank^tau", 0, 20),
)
class Probabilistic(Scheme):
    """For every place a coin chooses a ranker, and the ranker gives one of its documents that are not shown yet, each
    with a chance in proportion to 1 / rank^tau (Hofmann, Whiteson and de Rijke 2011).

    A click is shared out by what is known of who gave the document: the chance of each ranker to give it there, over
    the sum of both. The coins of places are independent, so this is the mean over all ways in which the list could have
    come about, place by place. From where a ranker has nothing left to give, clicks count for nobody.

    >>> from cranfield.online.interleaving.method import credit, interleaved
    >>> shown = interleaved("probabilistic", [["1", "2"], ["2", "3"]], rng=5, length=2)
    >>> shown.docs, credit("probabilistic", shown, ["2"])
    (('1', '2'), (0.5294117647058824, 0.47058823529411764))
    """

    def __init__(self, *, tau: float = 3) -> None:
        self.tau = tau

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        rankers = _sampling(rankings, self.tau, self.exact)
        docs: list[str] = []
        chances: list[Number] = []
        while len(docs) < length:
            able = [ranker for ranker in rankers if ranker.first < len(ranker.ranking)]
            if not able:
                break
            doc = able[draw(Equal(len(able))) if len(able) > 1 else 0].sampled(draw)
            chances.append(sum(ranker.chance(doc) for ranker in able) / len(able))  # type: ignore[operator]
            docs.append(doc)
            for ranker in rankers:
                ranker.take(doc)
        return Interleaved(rankings, tuple(docs), (), tuple(chances))

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        shares = _shares(shown.rankings, shown.docs, self.tau, self.exact) if slots else ()
        credit: list[Number] = [0] * len(shown.rankings)
        for slot in slots:
            for ranker, share in enumerate(shares[slot]):
                credit[ranker] += share
        return tuple(credit)


def _sampling(rankings: Rankings, tau: float, exact: bool) -> list[_Sampling]:
    return [_Sampling(ranking, *rank_weights(len(ranking), tau, exact)) for ranking in rankings]


@lru_cache(maxsize=16)
def _shares(rankings: Rankings, docs: Ranking, tau: float, exact: bool) -> tuple[tuple[Number, ...], ...]:
    """For each place, how likely each ranker is to have given the document; they add up to 1, or are all 0."""
    rankers = _sampling(rankings, tau, exact)
    shares: list[tuple[Number, ...]] = []
    for doc in docs:
        fair = all(ranker.first < len(ranker.ranking) for ranker in rankers)
        chances = [ranker.chance(doc) if fair else 0 for ranker in rankers]
        whole = sum(chances)
        if fair and not whole:
            raise UsageError(f"'{shorten(doc)}' was shown and is in no ranking")
        shares.append(tuple(chance / whole if whole else 0 for chance in chances))
        for ranker in rankers:
            ranker.take(doc)
    return tuple(shares)
