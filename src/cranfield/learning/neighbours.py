"""Which documents are most like each document: found once, when features are built, and kept with them.

Relevant documents are like each other. A learner that has seen few of them says little of a document alone, and more of
it together with those that are like it (Diaz 2005, regularised scores).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cranfield._core import nearest_rows, row_products
from cranfield.judged import Floats
from cranfield.tables import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEIGHBOURS = 10
COMMON = 500  # terms that more documents have cost most of the time to compare, and tell least
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
    def _weights(self) -> tuple[NDArray[np.int64], NDArray[np.float32], Floats]:
        """Where the neighbours of each document begin, the weight of each, and that of all with the document's own."""
        count, each = self.numbers.shape
        weights = np.square(self.cosines)
        return each * np.arange(count + 1), weights.ravel(), OWN + weights.sum(axis=1, dtype=np.float64)

    def smoothed(self, scores: Floats) -> Floats:
        """Scores of all documents, each averaged with those of its neighbours: the nearer one is, the more it counts.
        A document that is like no other keeps its own.
        """
        starts, weights, total = self._weights
        of_neighbours = row_products(starts, self.numbers.ravel(), weights, scores, None, 1)
        averaged: Floats = (OWN * scores + of_neighbours) / total
        return averaged


def find_neighbours(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    weights: NDArray[np.float32],
    frequencies: NDArray[np.int32],
) -> Neighbours:
    """The nearest of each row of length 1, by the columns that some documents share, and at most COMMON."""
    shared = (frequencies > 1) & (frequencies <= COMMON)
    count = len(starts) - 1
    each = min(NEIGHBOURS, count - 1)
    numbers, cosines = nearest_rows(starts, columns, weights, shared, each, thread_count())
    return Neighbours(numbers.reshape(count, each), cosines.reshape(count, each))
