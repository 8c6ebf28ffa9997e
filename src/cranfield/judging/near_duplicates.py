"""Documents that say nearly the same, so that an assessor can see them one after another.

Two texts are near when their runs of five words (shingles), each counted once, have a Jaccard coefficient of 0.8 or
more; a group is what is near by way of others. Nothing is estimated: shingles are compared as they are. To be near, two
texts must share one of the rarest fifth of their shingles (the prefix filter of Chaudhuri, Ganti and Kaushik 2006), so
that only pairs that do are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cranfield.judged import Integers

LENGTH = 5  # words of a shingle
NEAR = 0.8
# Words; of scripts that write no blanks, letters.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def near_duplicates(texts: Mapping[str, str]) -> dict[str, int]:
    """For each document that has a near-duplicate the number of its group, from 0; the others are not in it.

    It does not matter in which order texts are given. A text without words is near to nothing.

    >>> ducks = "ducks swim well in the pond and geese swim well in the lake but hens do not swim at all there"
    >>> near_duplicates({"d1": ducks, "d2": ducks + " today", "d3": "geese fly"})
    {'d1': 0, 'd2': 0}
    """
    ids = sorted(texts)
    shingled = _shingles([_WORD.findall(texts[id].casefold()) for id in ids])
    groups = _Groups(len(ids))
    apart: set[tuple[int, int]] = set()
    for places in _candidates(shingled):
        among: dict[int, list[int]] = {}  # what was seen of them, by group: in one of them all are near already
        for place in places:
            for others in [others for root, others in among.items() if groups.root(root) != groups.root(place)]:
                if _is_near_to_one(shingled, place, others, apart):
                    groups.join(others[0], place)
            among.setdefault(groups.root(place), []).append(place)
    return {ids[place]: number for number, places in enumerate(groups.found()) for place in places}


class _Groups:
    """Places that belong together, by a chain of others."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def root(self, place: int) -> int:
        while self._above[place] != place:
            self._above[place] = place = self._above[self._above[place]]
        return place

    def join(self, first: int, second: int) -> None:
        self._above[self.root(second)] = self.root(first)

    def found(self) -> list[list[int]]:
        """The groups of two or more, in the order of their first members."""
        members: dict[int, list[int]] = {}
        for place in range(len(self._above)):
            members.setdefault(self.root(place), []).append(place)
        return [places for places in members.values() if len(places) > 1]


def _is_near_to_one(shingled: _Shingled, place: int, others: Sequence[int], apart: set[tuple[int, int]]) -> bool:
    """Whether a text is near to one of some others; those that are not are known from then on."""
    for other in others:
        if (other, place) not in apart:
            if jaccard(shingled.of(other), shingled.of(place)) >= NEAR:
                return True
            apart.add((other, place))
    return False


class _Shingled(NamedTuple):
    """Numbers of shingles, each once in a text and in rising order, text after text, and where each text begins."""

    numbers: Integers
    starts: Integers

    def of(self, place: int) -> Integers:
        return self.numbers[self.starts[place] : self.starts[place + 1]]


def jaccard(first: Integers, second: Integers) -> float:
    """Of all numbers in two sets, each in rising order, the share that both have.

    >>> jaccard(np.array([1, 2, 3]), np.array([2, 3, 4]))
    0.5
    """
    if min(len(first), len(second)) < NEAR * max(len(first), len(second)):
        return min(len(first), len(second)) / max(len(first), len(second), 1)  # no more than that
    both = len(np.intersect1d(first, second, assume_unique=True))
    return both / (len(first) + len(second) - both)


def _shingles(texts: Sequence[Sequence[str]]) -> _Shingled:
    """Equal runs of words get equal numbers, different ones different numbers."""
    known: dict[str, int] = {}
    words: list[int] = []
    text_of: list[int] = []
    for place, text in enumerate(texts):
        numbers = [known.setdefault(word, len(known) + 1) for word in text]
        if 0 < len(numbers) < LENGTH:
            numbers += [0] * (LENGTH - len(numbers))  # a short text is one shingle
        words += numbers
        text_of += [place] * len(numbers)
    if not words:
        return _Shingled(np.zeros(0, dtype=np.int64), np.zeros(len(texts) + 1, dtype=np.int64))
    of_word, whose = np.array(words, dtype=np.int64), np.array(text_of, dtype=np.int64)
    twos = _joined(of_word[:-1], of_word[1:])
    fours = _joined(twos[:-2], twos[2:])
    fives = _joined(fours[:-1], of_word[LENGTH - 1 :])
    inside = whose[: len(fives)] == whose[LENGTH - 1 :]
    count = int(fives.max()) + 1
    once = np.sort(whose[: len(fives)][inside] * count + fives[inside])
    once = once[np.diff(once, prepend=-1) > 0]
    starts = np.searchsorted(once // count, np.arange(len(texts) + 1))
    return _Shingled(once % count, starts)


def _joined(first: Integers, second: Integers) -> Integers:
    """A number for each pair of numbers, the same for the same."""
    pairs = first * (int(second.max()) + 1) + second
    numbers: Integers = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return numbers


def _candidates(shingled: _Shingled) -> list[list[int]]:
    """For each shingle, the texts that have it among their rarest ones, if there are several."""
    rarity = np.bincount(shingled.numbers, minlength=1)
    prefixes = []
    for place, (start, end) in enumerate(pairwise(shingled.starts.tolist())):
        own = shingled.numbers[start:end]
        rarest = own[np.lexsort((own, rarity[own]))][: len(own) - int(np.ceil(NEAR * len(own) - 1e-9)) + 1]
        rarest = rarest[rarity[rarest] > 1]
        prefixes.append(np.stack([rarest, np.full(len(rarest), place)]))
    if not prefixes:
        return []
    numbers, places = np.concatenate(prefixes, axis=1)
    order = np.lexsort((places, numbers))
    parts = np.split(places[order], np.flatnonzero(np.diff(numbers[order])) + 1)
    return [part.tolist() for part in parts if len(part) > 1]
