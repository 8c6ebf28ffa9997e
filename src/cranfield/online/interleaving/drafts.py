"""Balanced interleaving, and methods whose rankers pick documents for their teams."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from cranfield.errors import UsageError, shorten
from cranfield.online.interleaving.method import (
    NOBODY,
    Draw,
    Equal,
    Interleaved,
    InterleavingScheme,
    Number,
    Ranking,
    Rankings,
    interleaver,
)


@interleaver("balanced", title="balanced", logged="both rankings", is_deep=False)
class Balanced(InterleavingScheme):
    """One coin says who leads; then the rankings are gone down in turns, and documents that are shown already are
    passed over. Only two lists are possible (Joachims 2003).

    The lowest click is at some rank in one ranking or the other; down to the better of these, the clicked documents of
    each ranking are counted. It is biased: where one ranking is nearly the other moved up by one, clicks at random
    prefer it.

    >>> from cranfield.online.interleaving.method import interleaved
    >>> interleaved("balanced", [["a", "b", "c"], ["b", "c", "a"]], rng=1).docs
    ('a', 'b', 'c')
    """

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        leader = draw(Equal(2))
        docs, other = (_in_turns(rankings, first, length) for first in (leader, 1 - leader))
        chances: list[Number] = [1] * len(docs)
        parting = next((slot for slot, doc in enumerate(docs) if doc != other[slot]), None)
        if parting is not None:  # above, both lists are the same; from here on it is known who leads
            chances[parting] = Fraction(1, 2) if self.exact else 0.5
        return Interleaved(rankings, docs, (), tuple(chances), leader)

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        if not slots:
            return (0, 0)
        lowest, clicked = shown.docs[slots[-1]], {shown.docs[slot] for slot in slots}
        if not any(lowest in ranking for ranking in shown.rankings):
            raise UsageError(f"'{shorten(lowest)}' was shown and is in no ranking")
        depth = min(ranking.index(lowest) for ranking in shown.rankings if lowest in ranking) + 1
        return tuple(len(clicked.intersection(ranking[:depth])) for ranking in shown.rankings)


def _in_turns(rankings: Rankings, leader: int, length: int) -> Ranking:
    first, second = rankings[leader], rankings[1 - leader]
    shown: dict[str, None] = {}
    for place in range(max(len(first), len(second))):
        for ranking in (first, second):
            if place < len(ranking):
                shown[ranking[place]] = None
        if len(shown) >= length:
            break
    return tuple(shown)[:length]


class _Picking:
    """A ranker's ranking as far as it is not shown yet."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking, self.next = ranking, 0

    def top(self, shown: set[str]) -> str | None:
        """Its best document that is not shown."""
        ranking = self.ranking
        while self.next < len(ranking) and ranking[self.next] in shown:
            self.next += 1
        return ranking[self.next] if self.next < len(ranking) else None

    def has(self, count: int, shown: set[str]) -> bool:
        """Whether at least so many of its documents are not shown."""
        for place in range(self.next, len(self.ranking)):
            if not count:
                break
            count -= self.ranking[place] not in shown
        return not count


class _Drafting(InterleavingScheme):
    """Rounds in which every ranker picks once, in an order drawn anew."""

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        if len(rankings) == 2 and min(map(len, rankings)) >= length:
            return self._of_two(rankings, length, draw)
        pickers = [_Picking(ranking) for ranking in rankings]
        short = min(map(len, rankings)) < length  # else every round can be finished
        docs: list[str] = []
        teams: list[int] = []
        chances: list[Number] = []
        shown: set[str] = set()
        fair, turn = True, list(range(len(pickers)))
        while len(docs) < length:
            turn = turn or list(range(len(pickers)))
            if short and len(turn) == len(pickers):
                fair = fair and _finishes(pickers, min(len(pickers), length - len(docs)), shown)
            tops = [pickers[ranker].top(shown) for ranker in turn]
            if None in tops:
                turn = [ranker for ranker, top in zip(turn, tops, strict=True) if top is not None]
                tops = [top for top in tops if top is not None]
                if not any(picker.top(shown) for picker in pickers):
                    break
                if not turn:
                    continue
            place = draw(Equal(len(turn))) if len(turn) > 1 else 0
            doc = str(tops[place])
            same = tops.count(doc)
            docs.append(doc)
            teams.append(turn.pop(place) if fair else NOBODY)
            chances.append(1 if same == len(tops) else self._share(same, len(tops)))
            shown.add(doc)
        return Interleaved(rankings, tuple(docs), tuple(teams), tuple(chances))

    def _of_two(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        """The same for two rankings that are long enough, which is what servers have: as quick as can be."""
        coin, half = Equal(2), Fraction(1, 2) if self.exact else 0.5
        first, second = rankings
        i = j = 0
        docs: list[str] = []
        teams: list[int] = []
        chances: list[Number] = []
        shown: set[str] = set()
        while len(docs) < length:
            while first[i] in shown:
                i += 1
            while second[j] in shown:
                j += 1
            team, one, other = draw(coin), first[i], second[j]
            same = one == other
            shown.add(one)
            if same and len(docs) + 1 < length:  # who picks second takes the next that is left
                ranking, place = (second, j) if team == 0 else (first, i)
                while ranking[place] in shown:
                    place += 1
                pair = (one, ranking[place])
            else:
                pair = (one, other) if team == 0 else (other, one)
            docs += pair
            teams += (team, 1 - team)
            chances += (1 if same else half, 1)
            shown.update(pair)
        return Interleaved(rankings, tuple(docs[:length]), tuple(teams[:length]), tuple(chances[:length]))

    def _share(self, part: int, whole: int) -> Number:
        return Fraction(part, whole) if self.exact else part / whole

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> tuple[Number, ...]:
        return self.team_credit(shown, slots)


def _finishes(pickers: Sequence[_Picking], slots: int, shown: set[str]) -> bool:
    """Whether a round of so many slots can be finished whatever the order in which rankers pick."""
    return all(picker.has(slots, shown) for picker in pickers)


@interleaver("team-draft", title="team draft", logged="the team of every document", is_deep=False)
class TeamDraft(_Drafting):
    """In rounds, as sides are chosen for a game: a coin says who picks first, then each ranker picks its best document
    that is not shown yet, and the document goes to its team (Radlinski, Kurup and Joachims 2008).

    A click is worth 1 to the team. Clicks at random prefer nobody, but a document that one ranker has higher may help
    both equally: differences of a rank can stay unseen. Where a ranking is so short that a round could not be finished
    in either order, this round's documents and those below belong to nobody.

    >>> from cranfield.online.interleaving.method import interleaved
    >>> interleaved("team-draft", [["a", "b"], ["b", "a"]], rng=1).docs
    ('a', 'b')
    """


@interleaver(
    "team-draft-multileaving",
    title="team-draft multileaving",
    logged="the team of every document",
    rankers=None,
    is_deep=False,
)
class TeamDraftMultileaving(_Drafting):
    """In rounds, as sides are chosen for a game: in each round every ranker picks its best document that is not shown
    yet, in an order drawn anew, and the document goes to its team (Schuth and others 2014).

    A click is worth 1 to the team. Where a ranking is so short that a round could not be finished in every order, this
    round's documents and those below belong to nobody: credit for them would go to the longer ranking for its length.

    >>> from cranfield.online.interleaving.method import interleaved
    >>> interleaved("team-draft-multileaving", [["a", "b"], ["b", "c"], ["c", "a"]], rng=3).teams
    (0, 2)
    """
