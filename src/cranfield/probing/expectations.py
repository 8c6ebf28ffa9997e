"""Documents that must be found: is our page among the first ten?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cranfield.errors import DataError, UsageError, some
from cranfield.formats import read_qrels
from cranfield.formats.known import read_pairs
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source

WITHIN = 10


@dataclass(frozen=True, kw_only=True)
class Expectations:
    """Documents that must be among the first `within` of a topic's answer.

    >>> Expectations(items=[("1", "d7")]).within
    10
    """

    items: Sequence[tuple[str, str]]
    within: int = WITHIN

    def __post_init__(self) -> None:
        if self.within < 1:
            raise UsageError(f"within must be 1 or more, not {self.within}")
        if not self.items:
            raise UsageError("no document is expected: give a topic and a document at least")

    def check(self, topics: Iterable[str], depth: int) -> None:
        """That these topics are asked, and deep enough."""
        known = set(topics)
        strange = [topic for topic in dict.fromkeys(topic for topic, _ in self.items) if topic not in known]
        if strange:
            raise DataError(f"documents are expected for topics that are not asked: {some(strange)}")
        if self.within > depth:
            raise UsageError(f"of {depth} documents a topic, none can be seen to be within {self.within}: ask for more")

    def seen_in(self, rankings: Mapping[str, Sequence[str]]) -> Visibility:
        """Where each document stands in the engine's own order; topics without an answer have none.

        >>> Expectations(items=[("1", "d7"), ("1", "d9")], within=2).seen_in({"1": ["d3", "d7", "d9"]}).share
        0.5
        """
        places = {topic: {id: rank for rank, id in enumerate(ids, start=1)} for topic, ids in rankings.items()}
        return Visibility(
            self.within,
            tuple(ItemRank(topic, document, places.get(topic, {}).get(document)) for topic, document in self.items),
        )


class ItemRank(NamedTuple):
    """A document that is expected, and its rank, if it was found at all.

    >>> ItemRank("1", "d7", 3).within(10)
    True
    """

    topic: str
    document: str
    rank: int | None

    def within(self, most: int) -> bool:
        """Whether it stands among the first so many."""
        return self.rank is not None and self.rank <= most


class Visibility(NamedTuple):
    """The ranks of all documents that are expected, and how many of them are visible.

    >>> seen = Visibility(10, (ItemRank("1", "d7", 2), ItemRank("1", "d9", 3), ItemRank("2", "d8", 11)))
    >>> round(seen.share, 2), seen.success, seen.reciprocal_rank, [item.topic for item in seen.missing]
    (0.67, 0.5, 0.25, ['2'])
    """

    within: int
    items: tuple[ItemRank, ...]

    @property
    def missing(self) -> tuple[ItemRank, ...]:
        """Those that are not visible."""
        return tuple(item for item in self.items if not item.within(self.within))

    @property
    def share(self) -> float:
        """The share of documents that is visible."""
        return 1 - len(self.missing) / len(self.items)

    @property
    def best(self) -> dict[str, int | None]:
        """For each topic the best rank among its documents that are visible, if any is."""
        visible: dict[str, list[int]] = {item.topic: [] for item in self.items}
        for item in self.items:
            if item.rank is not None and item.within(self.within):
                visible[item.topic].append(item.rank)
        return {topic: min(ranks, default=None) for topic, ranks in visible.items()}

    @property
    def success(self) -> float:
        """The share of topics of which a document is visible: the mean of Success@within."""
        return sum(rank is not None for rank in self.best.values()) / len(self.best)

    @property
    def reciprocal_rank(self) -> float:
        """The mean, over topics, of 1 / rank of the best document, 0 where none is visible: that of RR@within."""
        return sum(1 / rank for rank in self.best.values() if rank) / len(self.best)


def read_items(path: str, *, reading: Reading = DEFAULT) -> list[tuple[str, str]]:
    """Documents that are expected: lines of topic and document, or judgements, of which the relevant ones count.

    >>> read_items("examples/pond.qrels")[:2]
    [('1', 'd01'), ('2', 'd02')]
    """
    pairs = read_pairs(open_source(path))
    if pairs is not None:
        return pairs
    qrels = read_qrels(path, reading=reading)
    return [(topic, document) for topic in qrels.topics for document, grade in qrels.of(topic).items() if grade > 0]
