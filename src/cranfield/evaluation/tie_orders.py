"""The orders in which tied documents may stand: one by one where a topic has few of them, otherwise at random.

Documents that no measure tells apart are exchangeable: those of one grade, and those nobody judged. So what counts are
arrangements: a tie group of s documents, n_1, n_2, … of one kind each, has s! / (n_1! n_2! ⋯), all equally likely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np

from cranfield.judged import Floats, Integers, Judged, Mask


class TieOrders:
    """The orders of a run's tied documents down to a rank; a tie group below that stays out of the count.

    `ways` is for each topic the number of arrangements, `draw` gives a ranking with one of them. `apart` are the rows
    of the pool that are not to be taken for exchangeable whatever their grade.
    """

    def __init__(self, judged: Judged, reach: int, apart: Mask, most: int) -> None:
        self.judged = judged
        first, group = judged.group_starts, judged.group
        kind = _kinds(judged, apart)
        size = judged.tie_size[first]
        # Of each kind in each group how many there are; the rest of the group is not judged.
        pairs, count = np.unique(np.stack((group, kind)), axis=1, return_counts=True)
        factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, size.max(initial=1) + 1)))))
        unjudged = size - np.bincount(group, minlength=len(first))
        alike = np.bincount(pairs[0], factorial[count], minlength=len(first)) + factorial[unjudged]
        in_reach = judged.tie_first[first] <= reach
        mixed = np.where(in_reach, np.maximum(factorial[size] - alike, 0.0), 0.0)  # as logarithms
        topic = judged.topic[first]
        total = np.bincount(topic, mixed, minlength=len(judged.topics))
        self.ways: Floats = np.where(total < np.log(most) + 0.5, np.rint(np.exp(np.minimum(total, 30.0))), np.inf)

        listed = np.flatnonzero((mixed > 1e-9) & (self.ways[topic] <= most))
        self._hits = np.flatnonzero(np.isin(group, listed))
        self._hits = self._hits[np.lexsort((kind[self._hits], group[self._hits]))]
        tables, stride = [], np.ones(len(judged.topics), dtype=np.int64)
        strides: list[int] = []
        for g in listed.tolist():
            kinds = count[np.searchsorted(pairs[0], g) : np.searchsorted(pairs[0], g, "right")]
            tables.append(_places(int(size[g]), tuple(kinds.tolist())))
            strides.append(int(stride[topic[g]]))
            stride[topic[g]] *= len(tables[-1])
        # The tables one after the other, and for each hit where in its group's table it finds its place.
        self._places = np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0, dtype=np.int64)
        width = np.array([table.shape[1] for table in tables], dtype=np.int64)
        starts = np.cumsum([0, *(table.size for table in tables)])[:-1].astype(np.int64)
        owner = np.repeat(np.arange(len(tables)), width)
        self._start = starts[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(width) - width, width)
        self._width, self._stride = width[owner], np.array(strides, dtype=np.int64)[owner]
        self._length = np.array([len(table) for table in tables], dtype=np.int64)[owner]

    def draw(self, number: int, rng: np.random.Generator, few: Mask) -> Judged:
        """The ranking in which topics with `few` ways have the arrangement of a number, others a random one."""
        judged = self.judged
        rank = judged.rank.copy() if few.all() else judged.random_ranks(rng)
        chosen = few[judged.topic[self._hits]]
        hits = self._hits[chosen]
        row = number // self._stride[chosen] % self._length[chosen]
        rank[hits] = judged.tie_first[hits] + self._places[self._start[chosen] + row * self._width[chosen]]
        return judged.reordered(rank)


def _kinds(judged: Judged, apart: Mask) -> Integers:
    """A number for each hit: the same for those that no measure tells apart."""
    pool = judged.pool
    columns = [pool.grades, np.where(apart, np.arange(len(apart)), -1)]
    for column in pool.columns.values():
        if column.dtype == object:
            columns.append(np.arange(len(column)))
        else:
            columns += list(np.nan_to_num(column.astype(np.float64), nan=-1.0).reshape(len(column), -1).T)
    seen = [column[judged.row] for column in columns]
    kind: Integers = np.unique(np.stack(seen), axis=1, return_inverse=True)[1].ravel()
    return kind


@lru_cache(maxsize=1000)
def _places(size: int, kinds: tuple[int, ...]) -> Integers:
    """Every arrangement of a group, a row each: the places from 0 of its documents, those of one kind together.

    >>> _places(3, (1, 1))[:3]
    array([[0, 1],
           [0, 2],
           [1, 0]])
    """
    return np.array(list(_arrangements(range(size), kinds)), dtype=np.int64)


def _arrangements(places: Sequence[int], kinds: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not kinds:
        yield ()
        return
    for chosen in combinations(places, kinds[0]):
        left = [place for place in places if place not in chosen]
        for others in _arrangements(left, kinds[1:]):
            yield chosen + others
