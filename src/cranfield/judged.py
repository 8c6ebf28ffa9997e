"""The join of a run with judgements, and the one place where order, ties, depth and judged-only are decided.

`Judged` is what measures see, and all they see: for each topic the retrieved documents that are judged, in rank order,
and the grades of all judged documents. Unjudged documents are not stored; how many precede a hit is its rank minus its
place among the hits. A run of millions of rows becomes a few thousand hits, and a measure a few lines over all topics.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import numpy as np

from cranfield import _core
from cranfield.errors import DataError, UsageError
from cranfield.policy import Policy
from cranfield.records import NamedTuple, dataclass
from cranfield.tables import Qrels, Run, thread_count
from cranfield.travel import Travelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"
Mask: TypeAlias = "NDArray[np.bool_]"


@dataclass(frozen=True, eq=False, repr=False)
class Pool(Travelling):
    """The judgements alone: for each topic all grades, best first. One pool serves every run judged against it.

    `columns` is what else is known of each judged document, by name: arrays with an entry for each grade.
    """

    topics: tuple[str, ...]
    offsets: Integers
    grades: Floats
    max_grade: float
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    _cache: dict[Hashable, Floats] = field(default_factory=dict, init=False)  # of no other pool, even by `replace`

    def check(self) -> None:
        _check_arrays(self, {"offsets": np.int64, "grades": np.float64})
        self.total(self.grades)
        if len(self.offsets) != len(self.topics) + 1:
            raise DataError("topics and offsets differ in number")
        if any(len(column) != len(self.grades) for column in self.columns.values()):
            raise DataError("a column has not an entry for each judgement")

    def once(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """What depends on the judgements alone is computed for the first run only."""
        if key not in self._cache:
            self._cache[key] = compute()
        return self._cache[key]

    def total(self, x: Floats | Mask) -> Floats:
        """Sum of x, a value for each grade, over each topic."""
        return _core.segment_sum(self.offsets, x, "judgements")

    @cached_property
    def longest(self) -> int:
        """The largest number of grades that a topic has."""
        return int(np.diff(self.offsets).max(initial=0))

    @cached_property
    def topic(self) -> Integers:
        """For each grade the number of its topic."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.offsets))

    @cached_property
    def place(self) -> Integers:
        """Rank of each grade in the ideal ranking of its topic, from 1."""
        return np.arange(1, len(self.grades) + 1) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    @cached_property
    def has_relevant(self) -> Mask:
        """For each topic, whether any document is graded above 0."""
        return self.total(self.grades > 0) > 0

    def select(self, topics: Integers) -> Pool:
        """Some topics only. The highest grade stays that of the whole collection."""
        offsets, chosen = _chosen_segments(self.offsets, topics)
        columns = {name: column[chosen] for name, column in self.columns.items()}
        return Pool(tuple(self.topics[t] for t in topics), offsets, self.grades[chosen], self.max_grade, columns)

    def cut(self, depth: int) -> Pool:
        """The best grades of each topic, down to a depth."""
        sizes = np.minimum(np.diff(self.offsets), depth)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        kept = np.arange(offsets[-1]) + np.repeat(self.offsets[:-1] - offsets[:-1], sizes)
        columns = {name: column[kept] for name, column in self.columns.items()}
        return Pool(self.topics, offsets, self.grades[kept], self.max_grade, columns)

    def regraded(self, grades: Floats) -> tuple[Pool, Integers]:
        """Other grades for the same documents, NaN for one that is not judged; and where each document now stands.

        A document without a grade stands at -1. The highest grade is that of the new ones.
        """
        kept = np.flatnonzero(~np.isnan(grades))
        order = kept[np.lexsort((_narrow(-grades[kept]), _narrow(self.topic[kept])))]
        place = np.full(len(grades), -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        offsets = np.searchsorted(self.topic[order], np.arange(len(self.topics) + 1)).astype(np.int64)
        columns = {name: column[order] for name, column in self.columns.items()}
        return Pool(self.topics, offsets, grades[order], float(grades[kept].max(initial=0.0)), columns), place


class Unjudged(NamedTuple):
    """The retrieved documents that nobody judged, topic by topic, from the top."""

    offsets: Integers
    topic: Integers
    rank: Integers

    @property
    def counts(self) -> Integers:
        """How many a topic has."""
        return np.diff(self.offsets)

    @property
    def place(self) -> Integers:
        """Of each among those of its topic, from 1."""
        return np.arange(1, len(self.rank) + 1) - self.offsets[self.topic]

    def total(self, x: Floats | Mask) -> Floats:
        """Sum of x over each topic."""
        return _core.segment_sum(self.offsets, x, "unjudged documents")

    def running(self, x: Floats) -> Floats:
        """Sum of x from the topic's first to each."""
        return _core.running_sum(self.offsets, x, "unjudged documents")


@dataclass(frozen=True, eq=False, repr=False)
class Judged(Travelling):
    """One ranking for each topic of the judgements, seen through them.

    Arrays with an entry a hit (a retrieved document with a judgement, in rank order): `rank` from 1 in the full
    ranking, `row` the number of its judgement in the pool, `grade` (negative means pooled but not judged), `tie_first`
    and `tie_size` of the ranks it shares with documents of the same score. Topic t's hits are offsets[t] to
    offsets[t + 1]; `retrieved` counts all documents, and `answered` says whether the run has the topic at all, though
    its list may have been condensed to nothing.

    `expected` asks for the mean over all orders of tied documents: `within` and `at_rank` then give means over the
    ranks that a hit may take, `levelled` means at each rank, so that a measure which is a sum over hits or over ranks
    is exact without more ado.
    """

    pool: Pool
    offsets: Integers
    rank: Integers
    row: Integers
    grade: Floats
    tie_first: Integers
    tie_size: Integers
    retrieved: Integers
    answered: Mask
    expected: bool = False

    def check(self) -> None:
        whole = ("offsets", "rank", "row", "tie_first", "tie_size", "retrieved")
        _check_arrays(self, dict.fromkeys(whole, np.int64) | {"grade": np.float64, "answered": np.bool_})
        for values in (self.rank, self.row, self.grade, self.tie_first, self.tie_size):
            self.total(values)
        if {len(self.offsets) - 1, len(self.retrieved), len(self.answered)} != {len(self.topics)}:
            raise DataError("there is not an entry for each topic")
        if np.any((self.row < -1) | (self.row >= len(self.pool.grades))) or np.any(self.retrieved < 0):
            raise DataError("a hit has no judgement")
        if np.any(self.rank < 1) or np.any(self.tie_first < 1) or np.any(self.tie_size < 1):
            raise DataError("a hit has no rank")

    @property
    def topics(self) -> tuple[str, ...]:
        return self.pool.topics

    @cached_property
    def topic(self) -> Integers:
        """For each hit the number of its topic."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.offsets))

    @property
    def digest(self) -> str:
        """The same for rankings of as many documents that have the judged ones at the same ranks."""
        from xxhash import xxh3_128

        digest = xxh3_128()
        for array in (self.offsets, self.rank, self.row, self.retrieved):
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    @cached_property
    def unjudged(self) -> Unjudged:
        """All ranks of the lists but those of judged documents; a negative grade is no judgement."""
        offsets = np.concatenate(([0], np.cumsum(self.retrieved))).astype(np.int64)
        is_open = np.ones(offsets[-1], dtype=bool)
        known = self.grade >= 0
        is_open[offsets[self.topic[known]] + self.rank[known] - 1] = False
        topic = np.repeat(np.arange(len(self.topics)), self.retrieved)[is_open]
        rank = np.flatnonzero(is_open) - offsets[topic] + 1
        counts = np.bincount(topic, minlength=len(self.topics))
        return Unjudged(np.concatenate(([0], np.cumsum(counts))).astype(np.int64), topic, rank)

    def hits(self, rel: float, cutoff: int | None = None) -> Mask:
        """Which hits are relevant: grade at least `rel`, rank at most `cutoff`."""
        relevant = self.grade >= max(rel, 0)  # a negative grade says that nobody judged
        return relevant if cutoff is None else relevant & (self.rank <= cutoff)

    def within(self, cutoff: int | Floats | None) -> Floats:
        """1 for each hit that stands at the cutoff or above, 0 for the others; a cutoff for each hit may be given."""
        if cutoff is None:
            return np.ones(len(self.rank))
        if not self.expected:
            return (self.rank <= cutoff).astype(np.float64)
        share: Floats = np.clip((cutoff - self.tie_first + 1) / self.tie_size, 0.0, 1.0)
        return share

    def at_rank(self, value: Callable[[Integers], Floats]) -> Floats:
        """The value of each hit's rank, a function of ranks."""
        if not self.expected:
            return value(self.rank)
        last = self.tie_first + self.tie_size - 1
        up_to = np.concatenate(([0.0], np.cumsum(value(np.arange(1, last.max(initial=0) + 1)))))
        mean: Floats = (up_to[last] - up_to[self.tie_first - 1]) / self.tie_size
        # A sum that is taken apart again is not quite what it was; a hit that is not tied needs no sum.
        alone = self.tie_size == 1
        mean[alone] = value(self.rank[alone])
        return mean

    @cached_property
    def group(self) -> Integers:
        """For each hit the number of its tie group, counted over all topics."""
        starts = np.ones(len(self.rank), dtype=np.int64)
        starts[1:] = (self.tie_first[1:] != self.tie_first[:-1]) | (self.topic[1:] != self.topic[:-1])
        return np.cumsum(starts) - 1

    @cached_property
    def group_starts(self) -> Integers:
        """The number of each tie group's first hit."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    def levelled(self, x: Floats) -> tuple[Judged, Floats]:
        """The rankings with an entry for every rank that x may stand at, and there the mean of x over all orders.

        Ranks that share a score share what their documents have: whatever is a sum, over ranks, of x times a weight of
        the rank has its mean over all orders here. An entry is no document: its grade and row are nobody's.
        """
        if not self.expected:
            return self, x
        first = self.group_starts
        size = self.tie_size[first]
        group = np.repeat(np.arange(len(first)), size)
        place = np.arange(len(group)) - np.repeat(np.cumsum(size) - size, size)
        rank = self.tie_first[first][group] + place
        topic = self.topic[first][group]
        shared = (np.bincount(self.group, x, minlength=1)[: len(size)] / size)[group]
        level = replace(
            self,
            offsets=np.searchsorted(topic, np.arange(len(self.topics) + 1)).astype(np.int64),
            rank=rank,
            row=np.full(len(rank), -1),
            grade=np.full(len(rank), np.nan),
            tie_first=rank,
            tie_size=np.ones_like(rank),
            expected=False,
        )
        return level, shared

    def in_group(self, x: Mask | Floats) -> Floats:
        """For each hit, the sum of x over its tie group."""
        sums: Floats = np.bincount(self.group, x, minlength=1).astype(np.float64)
        return sums[self.group]

    def above_group(self, x: Mask | Floats) -> Floats:
        """For each hit, the sum of x over the hits above its tie group in the topic's ranking."""
        return (self.running(x) - x)[self.group_starts][self.group]

    def total(self, x: Floats | Mask | Integers) -> Floats:
        """Sum of x, a value for each hit, over each topic."""
        return _core.segment_sum(self.offsets, x, "hits")

    def running(self, x: Floats | Mask) -> Floats:
        """Sum of x from the top of the topic's ranking down to each hit, the hit included."""
        return _core.running_sum(self.offsets, x, "hits")

    def product_above(self, x: Floats) -> Floats:
        """Product of x over the hits above each hit in its topic's ranking; 1 for the first."""
        return _core.product_above(self.offsets, x, "hits")

    def best_from_here(self, x: Floats) -> Floats:
        """Largest x at each hit or below it in the topic's ranking."""
        return _core.best_from_here(self.offsets, x, "hits")

    def n_relevant(self, rel: float) -> Floats:
        """For each topic, the number of documents judged relevant."""
        return self.pool.once(("relevant", rel), lambda: self.pool.total(self.pool.grades >= max(rel, 0)))

    def n_nonrelevant(self, rel: float) -> Floats:
        """For each topic, the number of documents judged and not relevant; negative grades are not judgements."""
        grades = self.pool.grades
        return self.pool.once(("nonrelevant", rel), lambda: self.pool.total((grades >= 0) & (grades < rel)))

    def ordered(self, ties: str) -> Judged:
        """Tied documents with the better grades first ("best") or last ("worst"), unjudged ones between them."""
        sign = 1 if ties == "best" else -1
        relevant = self.grade > 0
        order = np.lexsort((-sign * self.grade, self.group))
        place = np.arange(len(order)) - self.group_starts[self.group]
        # Hits of one group in their new order: those that stand in front count from its start, the others from its end.
        in_front = relevant[order] if sign > 0 else ~relevant[order]
        behind = self.in_group(np.ones(len(order), dtype=bool))[order] - 1 - place
        first, size = self.tie_first[order], self.tie_size[order]
        rank = np.where(in_front, first + place, first + size - 1 - behind).astype(np.int64)
        return replace(self, rank=rank, row=self.row[order], grade=self.grade[order])

    def random_ranks(self, rng: np.random.Generator) -> Integers:
        """A rank for each hit, with tied documents in a random order."""
        first = self.group_starts
        sizes = self.tie_size[first]
        # Every rank of every group that holds a hit gets a random number; hits take the ranks of the smallest.
        owner = np.repeat(np.arange(len(sizes)), sizes)
        start = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        drawn = np.argsort(owner + rng.random(len(owner))) - np.repeat(start, sizes)
        place = np.arange(len(self.group)) - first[self.group]
        rank: Integers = self.tie_first + drawn[start[self.group] + place]
        return rank

    def reordered(self, rank: Integers) -> Judged:
        """Tied documents at other ranks of their group, one for each hit."""
        order = np.lexsort((rank, self.topic))
        return replace(self, rank=rank[order], row=self.row[order], grade=self.grade[order])

    def cut(self, depth: int) -> Judged:
        """The rankings down to a depth."""
        kept = self._keep(self.rank <= depth)
        tie_size = np.minimum(kept.tie_size, depth - kept.tie_first + 1)
        return replace(kept, tie_size=tie_size, retrieved=np.minimum(self.retrieved, depth))

    def condensed(self) -> Judged:
        """The rankings without their unjudged documents: what is judged moves up. Made once."""
        return self._condensed

    @cached_property
    def _condensed(self) -> Judged:
        kept = self._keep(self.grade >= 0)
        every = np.ones(len(kept.rank), dtype=bool)
        rank = kept.running(every).astype(np.int64)
        tie_first = kept.above_group(every).astype(np.int64) + 1
        tie_size = kept.in_group(every).astype(np.int64)
        return replace(kept, rank=rank, tie_first=tie_first, tie_size=tie_size, retrieved=np.diff(kept.offsets))

    def select(self, topics: Integers) -> Judged:
        """Some topics only."""
        offsets, chosen = _chosen_segments(self.offsets, topics)
        pool = self.pool.select(topics)
        moved = np.repeat(pool.offsets[:-1] - self.pool.offsets[topics], np.diff(offsets))
        return Judged(
            pool,
            offsets,
            self.rank[chosen],
            self.row[chosen] + moved,
            self.grade[chosen],
            self.tie_first[chosen],
            self.tie_size[chosen],
            self.retrieved[topics],
            self.answered[topics],
        )

    def regraded(self, grades: Floats) -> Judged:
        """The same rankings under other grades, one for each judgement of the pool; NaN: not judged.

        >>> one, other = relstring("10-2").regraded(np.array([np.nan, 0.0, 3.0])).grade
        >>> one, other  # the pool had 2, 1, 0: the first is no longer judged
        (np.float64(0.0), np.float64(3.0))
        """
        pool, place = self.pool.regraded(grades)
        kept = self._keep(place[self.row] >= 0)
        row = place[kept.row]
        return replace(kept, pool=pool, row=row, grade=pool.grades[row])

    def _keep(self, kept: Mask) -> Judged:
        offsets = np.concatenate(([0], np.cumsum(kept)))[self.offsets]
        return replace(
            self,
            offsets=offsets,
            rank=self.rank[kept],
            row=self.row[kept],
            grade=self.grade[kept],
            tie_first=self.tie_first[kept],
            tie_size=self.tie_size[kept],
        )


def _check_arrays(holder: Pool | Judged, kinds: Mapping[str, type[np.generic]]) -> None:
    for name, kind in kinds.items():
        array = getattr(holder, name)
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
            raise DataError(f"{name} is not an array of {kind.__name__}")


def _narrow(numbers: Integers | Floats) -> NDArray[np.number]:
    """Small whole numbers in 16 bits, which NumPy sorts much faster; others as they are."""
    if not np.all(np.abs(numbers) < 2**15):
        return numbers
    narrow = numbers.astype(np.int16)
    return narrow if np.array_equal(narrow, numbers) else numbers


def _chosen_segments(offsets: Integers, segments: Integers) -> tuple[Integers, Integers]:
    """Offsets and element numbers of some segments of a CSR array, in the order given."""
    parts = [np.arange(offsets[s], offsets[s + 1]) for s in segments]
    chosen = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64), chosen


_pools: WeakKeyDictionary[Qrels, Pool] = WeakKeyDictionary()


def pool(qrels: Qrels) -> Pool:
    """The judgements as measures see them: the same as before for the same judgements, with what is known of them.

    >>> import cranfield
    >>> qrels = cranfield.read_qrels({"q1": {"d1": 1, "d2": 0, "d9": 2}})
    >>> pool(qrels).grades, pool(qrels) is pool(qrels)
    (array([2., 1., 0.]), True)
    """
    known = _pools.get(qrels)
    if known is None:
        grades = qrels.table.values()
        offsets = np.concatenate(([0], np.cumsum(qrels.table.counts())))
        known = Pool(tuple(qrels.topics), offsets, grades, float(grades.max(initial=0.0)), qrels.columns)
        _pools[qrels] = known
    return known


def judge(
    run: Run, qrels: Qrels, policy: Policy | None = None, *, pooled: Pool | None = None, threads: int | None = None
) -> Judged:
    """Joins a run with judgements under a policy. `pooled` saves making the pool anew for every run.

    >>> import cranfield
    >>> qrels = cranfield.read_qrels({"q1": {"d1": 1, "d2": 0, "d9": 2}})
    >>> judged = cranfield.judged.judge(cranfield.read_run({"q1": {"d1": 1.0, "d2": 3.0, "d5": 2.0}}), qrels)
    >>> judged.rank.tolist(), judged.grade.tolist()
    ([1, 3], [0.0, 1.0])
    """
    policy = policy or Policy()
    if policy.ties == "expected" and policy.depth is not None:
        raise UsageError("a depth cuts through ties in every order differently: `evaluate` draws orders and cuts each")
    judged = joined(run, qrels, policy.ties, pooled=pooled, threads=threads)
    return arranged(replace(judged, expected=policy.ties == "expected"), policy)


def joined(run: Run, qrels: Qrels, ties: str, *, pooled: Pool | None = None, threads: int | None = None) -> Judged:
    """A run seen through judgements, whole: ties as in the input for "file", otherwise by document id.

    A run that was judged as it was read has no rows to be judged otherwise: other judgements or ties are refused.
    """
    try:
        offsets, rank, row, tie_first, tie_size, retrieved = _core.join(
            run.table, qrels.table, ties == "file", thread_count(threads)
        )
    except UsageError as error:
        raise UsageError(f"{run.name}: {error}") from None
    pooled = pooled or pool(qrels)
    if len(tie_size) < len(rank):  # nothing is tied
        tie_first, tie_size = rank, np.broadcast_to(np.int64(1), rank.shape)
    return Judged(pooled, offsets, rank, row, pooled.grades[row], tie_first, tie_size, retrieved, retrieved > 0)


def aligned(other: Qrels, qrels: Qrels) -> Floats:
    """What other judgements say of each document of some judgements, row by row; NaN where they say nothing.

    >>> import cranfield
    >>> one, other = cranfield.read_qrels({"q1": {"d1": 2, "d2": 1}}), cranfield.read_qrels({"q1": {"d2": 7, "d5": 1}})
    >>> aligned(other, one)
    array([nan,  7.])
    """
    pairs = joined(cast(Run, other), qrels, "docid")
    start = dict(zip(other.topics, np.cumsum(other.table.counts()) - other.table.counts(), strict=True))
    first = np.array([start.get(topic, 0) for topic in qrels.topics], dtype=np.int64)
    values = np.full(len(qrels), np.nan)
    values[pairs.row] = other.table.values()[first[pairs.topic] + pairs.rank - 1]
    return values


def arranged(judged: Judged, policy: Policy) -> Judged:
    """The rankings with ties in the order that grades decide, if the policy says so, and trimmed."""
    return trimmed(judged.ordered(policy.ties) if policy.ties in ("best", "worst") else judged, policy)


def trimmed(judged: Judged, policy: Policy) -> Judged:
    """The rankings cut at the policy's depth, then without their unjudged documents if it says so."""
    if policy.depth is not None:
        judged = judged.cut(policy.depth)
    return judged.condensed() if policy.judged_only else judged


def relstring(*rankings: str) -> Judged:
    """Writes judged rankings by hand, a string a topic, for examples and tests.

    Grades stand in rank order, `-` for an unjudged document; after `/` follow the grades of judged documents that
    were not retrieved. `formats.typed` has what may be written.

    >>> relstring("10-2/1").rank, relstring("10-2/1").pool.grades
    (array([1, 2, 4]), array([2., 1., 1., 0.]))
    """
    from cranfield.formats.typed import typed_ranking

    rank: list[int] = []
    row: list[int] = []
    grades: list[float] = []
    counts, pool_counts, retrieved = [0], [0], []
    for ranking in map(typed_ranking, rankings):
        ranks = [i for i, grade in enumerate(ranking.retrieved, start=1) if grade is not None]
        of_ranking = ranking.judged
        best_first = sorted(range(len(of_ranking)), key=lambda i: -of_ranking[i])
        place = {i: len(grades) + at for at, i in enumerate(best_first)}
        rank += ranks
        row += [place[i] for i in range(len(ranks))]
        grades += [of_ranking[i] for i in best_first]
        counts.append(len(rank))
        pool_counts.append(len(grades))
        retrieved.append(len(ranking.retrieved))
    topics = tuple(str(i) for i in range(1, len(rankings) + 1))
    pooled = Pool(topics, np.array(pool_counts), np.array(grades, dtype=np.float64), max(grades, default=0.0))
    at, rows, lengths = np.array(rank, dtype=np.int64), np.array(row, dtype=np.int64), np.array(retrieved)
    return Judged(pooled, np.array(counts), at, rows, pooled.grades[rows], at, np.ones_like(at), lengths, lengths > 0)
