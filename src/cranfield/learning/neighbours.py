"""Which documents are most like each document: found once, when features are built, and kept with them.

Relevant documents are like each other. A learner that has seen few of them says little of a document alone, and more of
it together with those that are like it (Diaz 2005, regularised scores).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cranfield.judged import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_matrix

NEIGHBOURS = 10
COMMON = 500  # terms that more documents have cost most of the time to compare, and tell least
AT_ONCE = 500
OWN = 0.25  # the weight of a document's own score, where those of its neighbours are their squared cosines


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours:
    """The documents most like each document, nearest first, with the cosine of each pair; 0 where there are fewer.

    >>> from cranfield.learning import build_features
    >>> features = build_features({"d1": "ducks swim", "d2": "a red car", "d3": "swimming ducks", "d4": "my car"})
    >>> features.neighbours.numbers[:, 0]
    array([2, 3, 0, 1], dtype=int32)
    """

    numbers: NDArray[np.int32]
    cosines: NDArray[np.float32]

    @cached_property
    def _weights(self) -> tuple[csr_matrix, Floats]:
        from scipy.sparse import csr_matrix

        count, each = self.numbers.shape
        weights = np.square(self.cosines)
        parts = (weights.ravel(), self.numbers.ravel(), each * np.arange(count + 1))
        return csr_matrix(parts, shape=(count, count)), OWN + weights.sum(axis=1, dtype=np.float64)

    def smoothed(self, scores: Floats) -> Floats:
        """Scores of all documents, each averaged with those of its neighbours: the nearer one is, the more it counts.
        A document that is like no other keeps its own.
        """
        weights, total = self._weights
        averaged: Floats = (OWN * scores + weights @ scores) / total
        return averaged


def find_neighbours(matrix: csr_matrix, frequencies: NDArray[np.int32]) -> Neighbours:
    """The nearest of each row of length 1, by the columns that at most COMMON documents have."""
    count = matrix.shape[0]
    telling = _telling(matrix, frequencies)
    by_column = telling.T.tocsr()
    each = min(NEIGHBOURS, count - 1)
    numbers = np.tile(np.arange(count, dtype=np.int32)[:, None], (1, each))
    cosines = np.zeros((count, each), dtype=np.float32)
    for first in range(0, count, AT_ONCE):
        product = telling[first : first + AT_ONCE] @ by_column
        for row in range(product.shape[0]):
            part = slice(product.indptr[row], product.indptr[row + 1])
            others = product.indices[part] != first + row
            columns, values = product.indices[part][others], product.data[part][others]
            if len(values) > each:
                least = np.partition(values, len(values) - each)[len(values) - each] if each else np.inf
                columns, values = columns[values >= least], values[values >= least]
            best = np.lexsort((columns, -values))[:each]
            numbers[first + row, : len(best)], cosines[first + row, : len(best)] = columns[best], values[best]
    return Neighbours(numbers, cosines)


def _telling(matrix: csr_matrix, frequencies: NDArray[np.int32]) -> csr_matrix:
    """The columns that some documents share, and not too many, numbered anew."""
    from scipy.sparse import csr_matrix

    shared = (frequencies > 1) & (frequencies <= COMMON)
    kept = shared[matrix.indices]
    place = np.cumsum(shared, dtype=np.int32) - 1
    starts = np.concatenate(([0], np.cumsum(kept)))[matrix.indptr]
    parts = (matrix.data[kept], place[matrix.indices[kept]], starts)
    return csr_matrix(parts, shape=(matrix.shape[0], int(shared.sum())))
