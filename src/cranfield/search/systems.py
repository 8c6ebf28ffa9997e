"""What a model makes of an index: a system that ranks documents for a query.

A document's score is the sum over the terms it shares with the query; documents that share none are not retrieved.
Scores are rounded to nine decimals: what lies beyond may differ between machines, and must decide neither over ranks
nor over the bytes of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from cranfield.errors import UsageError
from cranfield.search.index import AT_ONCE, Index

if TYPE_CHECKING:
    from cranfield.search.index import Floats, Integers

DECIMALS = 9


class Ranking(NamedTuple):
    """Documents by number, best first, with their scores."""

    documents: Integers
    scores: Floats


class System(Protocol):
    """What a model makes of an index: something that ranks documents for a query."""

    @property
    def index(self) -> Index:
        """What is searched."""

    def rank(self, query: str, depth: int) -> Ranking: ...


@dataclass(frozen=True, eq=False)
class Weighted:
    """A system whose scores are sums over the terms that query and document share."""

    index: Index
    weights: Floats  # of each posting
    of_query: Callable[[Integers, Floats], Floats] = lambda terms, counts: counts
    of_document: Floats | None = None  # added for each word of the query

    def __post_init__(self) -> None:
        parts = (self.weights[first : first + AT_ONCE] for first in range(0, len(self.weights), AT_ONCE))
        finite = all(np.isfinite(part).all() for part in parts)
        if not (finite and (self.of_document is None or np.isfinite(self.of_document).all())):
            raise UsageError(
                "the weights of terms are beyond what numbers can hold: a parameter is too small or too great"
            )

    def rank(self, query: str, depth: int) -> Ranking:
        terms, counts = self.index.query(query)
        scores, matching = np.zeros(len(self.index)), np.zeros(len(self.index), dtype=bool)
        for term, weight in zip(terms.tolist(), self.of_query(terms, counts).tolist(), strict=True):
            postings = self.index.postings(term)
            documents = self.index.documents[postings]  # each once
            scores[documents] += weight * self.weights[postings]
            matching[documents] = True
        if self.of_document is not None:
            scores += counts.sum() * self.of_document
        return best(np.flatnonzero(matching), scores[matching], depth)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A system that ranks all documents by chance, the same for the same seed and query."""

    index: Index
    seed: int

    def rank(self, query: str, depth: int) -> Ranking:
        digest = hashlib.blake2b(f"{self.seed} {query}".encode("utf-8", "surrogateescape"), digest_size=16).digest()
        scores = np.random.default_rng(int.from_bytes(digest)).random(len(self.index))
        return best(np.arange(len(self.index)), scores, depth)


def best(documents: Integers, scores: Floats, depth: int) -> Ranking:
    """The best documents by score descending, ties by number ascending.

    >>> best(np.array([0, 1, 2, 3]), np.array([1.0, 3.0, 1.0, 2.0]), 3)
    Ranking(documents=array([1, 3, 0]), scores=array([3., 2., 1.]))
    """
    scores = np.round(scores, DECIMALS) + 0.0  # no negative zero
    if len(scores) > depth:
        enough = scores >= -np.partition(-scores, depth - 1)[depth - 1]
        documents, scores = documents[enough], scores[enough]
    order = np.argsort(-scores, kind="stable")[:depth]
    return Ranking(documents[order], scores[order])


def as_rows(index: Index, rankings: Mapping[str, Ranking]) -> dict[str, dict[str, float]]:
    """Rankings by topic as {topic: {document: score}}; topics for which nothing was found are left out."""
    return {
        topic: dict(zip(map(index.ids.__getitem__, documents.tolist()), scores.tolist(), strict=True))
        for topic, (documents, scores) in rankings.items()
        if len(documents)
    }
