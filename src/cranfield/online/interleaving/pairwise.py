"""Pairwise preference multileaving: what a click tells of two documents, weighted by how often it could be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from cranfield.errors import UsageError
from cranfield.online.interleaving.method import (
    Draw,
    Equal,
    Interleaved,
    InterleavingScheme,
    Number,
    Rankings,
    interleaver,
)


@interleaver("pairwise", title="pairwise preference", logged="all rankings as they were", rankers=None)
class PairwisePreference(InterleavingScheme):
    """For place x, every document that some ranker has among its first x and that is not shown yet is equally likely
    (Oosterhuis and de Rijke 2017).

    A clicked document is preferred to those above it that were not clicked, and to the next one if that was not. A
    ranker gains by every such pair that it has in this order and loses by every one that it has the other way round.
    A pair counts if both documents stand where either could have stood, weighted by 1 over the chance of that.

    >>> from cranfield.online.interleaving.method import Interleaved, credit
    >>> shown = Interleaved((tuple("01234"), tuple("01243"), tuple("21403")), tuple("01234"))
    >>> credit("pairwise", shown, ["2"])
    (-3.0, -3.0, 3.0)
    """

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        docs: list[str] = []
        chances: list[Number] = []
        known: set[str] = set()
        candidates: list[str] = []
        for place in range(min(length, sum(map(len, rankings)))):
            for ranking in rankings:
                if place < len(ranking) and ranking[place] not in known:
                    known.add(ranking[place])
                    candidates.append(ranking[place])
            if not candidates:  # every document of every ranking is shown
                break
            count = len(candidates)
            chosen = draw(Equal(count)) if count > 1 else 0
            docs.append(candidates[chosen])
            chances.append(Fraction(1, count) if self.exact else 1 / count)
            candidates[chosen] = candidates[-1]
            candidates.pop()
        return Interleaved(rankings, tuple(docs), (), tuple(chances))

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        credit: list[Number] = [0] * len(shown.rankings)
        if not slots:
            return tuple(credit)
        ranks = [{doc: rank for rank, doc in enumerate(ranking)} for ranking in shown.rankings]
        if not set(shown.docs) <= set().union(*ranks):
            raise UsageError("a document was shown that is in no ranking")
        best = [min(of[doc] for of in ranks if doc in of) for doc in shown.docs]
        left = self._left(shown.rankings, len(shown.docs))
        for better, worse in preferred_pairs(len(shown.docs), slots):
            both = max(best[better], best[worse])  # from here on either could be shown
            if min(better, worse) < both:
                continue
            weight: Number = 1
            for place in range(min(best[better], best[worse]), both):  # the one that could come earlier did not
                if left[place] == 1:
                    raise UsageError("the list shown cannot have come from these rankings")
                weight *= Fraction(left[place], left[place] - 1) if self.exact else left[place] / (left[place] - 1)
            for ranker, of in enumerate(ranks):
                first, second = (of.get(shown.docs[slot], len(of)) for slot in (better, worse))
                credit[ranker] += weight * ((first < second) - (first > second))
        return tuple(credit)

    def _left(self, rankings: Rankings, places: int) -> list[int]:
        """How many documents could be shown at each place, whatever stands above it."""
        known: set[str] = set()
        left = []
        for place in range(places):
            known.update(ranking[place] for ranking in rankings if place < len(ranking))
            left.append(len(known) - place)
        return left


def preferred_pairs(length: int, slots: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Of a list so long, with clicks on these places: which place is preferred to which.

    >>> list(preferred_pairs(5, [1, 3]))
    [(1, 0), (1, 2), (3, 0), (3, 2), (3, 4)]
    """
    clicked = set(slots)
    for slot in slots:
        for other in range(min(slot + 2, length)):
            if other not in clicked:
                yield slot, other
