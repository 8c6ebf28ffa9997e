"""A learner for one topic: from what is judged it learns which documents look relevant, and says what to judge next.

As AutoTAR (Cormack and Grossman 2015): the question counts as a relevant document, documents drawn anew each time are
presumed not relevant, and batches grow by a tenth. Where many documents are relevant, so are many of those presumed
not to be: there are fewer of them the more are judged, and after 100 judgements none. The classifier is that of
ASReview's default (a linear support vector machine with squared hinge loss, where relevant documents together weigh 9.8
times the others) with half its cost, on the same kind of features (`features.py`). Scores are then averaged over
neighbours (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Mask
from cranfield.learning.features import Features
from cranfield.search.tokens import library

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from cranfield.learning.features import Weights

COST = 0.055  # half of ASReview's: fewer judgements to 95% on collections that the figures are not of
RATIO = 9.8  # the weight of all relevant documents to that of all others
PRESUMED = 100
EVERY = 500_000  # up to so many documents all are scored each time
NEAR = 20_000  # of more than that: the best so far, scored each time; all of them once a batch


class TopicLearner:
    """What was learned of one topic: `learned` takes all judgements so far, `best` gives what to judge next.

    `start` are documents to judge first, such as those of a pool, in the order given; `among` are those that may be
    asked for (all of the collection by default). The same seed and the same judgements give the same documents,
    whatever was learned before: judgements that come close together may be learned at once. Only in a collection of
    more than 500,000 documents does it also matter when all of them were last scored.

    Documents judged as a probability sample (`sample_order`) should not be learned from before `best` names them:
    then what it finds does not depend on the sample, and the sample tells honestly what it missed.

    >>> from cranfield.learning import build_features
    >>> features = build_features({"d1": "ducks swim", "d2": "ducks fly", "d3": "boats swim", "d4": "a red car"})
    >>> learner = TopicLearner(features, "swimming")
    >>> learner.best(2)
    ['d3', 'd1']
    >>> learner.learned({"d1": True, "d3": False})
    >>> learner.best(1, without=["d1", "d3"])
    ['d2']
    """

    def __init__(
        self,
        features: Features,
        question: str,
        *,
        seed: int = 0,
        start: Sequence[str] = (),
        among: Collection[str] | None = None,
    ) -> None:
        self.features, self.seed, self.start = features, seed, tuple(start)
        self._question = features.of_text(question)
        self._key = crc32(question.encode("utf-8", "surrogateescape"))
        self._among: Integers | None = None
        if among is not None:
            self._among = np.unique(self._numbers(among))
        self._judged = 0
        self._by_lot = not self._question.nnz
        self._scored = -1  # how many were judged when all documents were last scored
        self._state: tuple[Integers, Floats] | None = None  # documents that may be asked for, and their scores
        self._near: tuple[Integers, Floats] | None = None  # the best of very many, and what their neighbours add

    @property
    def knows_nothing(self) -> bool:
        """Whether it could only draw lots: no word of a question or of a relevant document is known."""
        return self._by_lot

    @property
    def batch(self) -> int:
        """How many documents AutoTAR would judge before it learns anew."""
        return batch_after(self._judged)

    def learned(self, grades: Mapping[str, bool]) -> None:
        """Learns from all judgements so far: whether each document is relevant. Documents that the collection lacks
        have no text and teach nothing.
        """
        rows = self.features.rows
        known = {rows[document]: bool(relevant) for document, relevant in grades.items() if document in rows}
        numbers = np.array(sorted(known), dtype=np.int64)
        relevant = np.array([known[number] for number in numbers.tolist()], dtype=bool)
        self._judged = len(grades)
        self._score(self._weights(numbers, relevant))

    def best(self, count: int, without: Collection[str] = ()) -> list[str]:
        """The documents to judge next, most promising first, without those named."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise UsageError(f"how many documents must be a whole number from 0, not {count!r}")
        if self._state is None:
            self.learned({})
        assert self._state is not None
        numbers, scores = self._state  # at one moment: another thread may learn meanwhile
        left_out = set(without)
        first = [document for document in self.start if document not in left_out][:count]
        left_out.update(self.start)
        closed = np.isin(numbers, self._numbers(left_out))
        open_numbers, open_scores = numbers[~closed], scores[~closed]
        best = _largest(open_scores, count - len(first))
        return first + [self.features.ids[number] for number in open_numbers[best].tolist()]

    def _numbers(self, documents: Collection[str]) -> Integers:
        """The numbers of documents; those that the collection lacks have none."""
        rows = self.features.rows
        return np.array([rows[document] for document in documents if document in rows], dtype=np.int64)

    def _weights(self, judged: Integers, relevant: Mask) -> Weights | None:
        """What each column says of relevance; None where there is nothing to learn from."""
        from scipy.sparse import vstack

        asks = self._question.nnz > 0
        if not asks and not relevant.any():
            return None
        presumed = self._presumed(judged, not relevant.all())
        if not len(presumed) and relevant.all():
            return self._sum(judged)
        rows = [self._question] if asks else []
        rows += [self.features.matrix[judged], self.features.matrix[presumed]]
        labels = np.concatenate((np.ones(int(asks), bool), relevant, np.zeros(len(presumed), bool)))
        documents = vstack(rows, format="csr")
        return _fitted(documents, labels) if documents.nnz else None

    def _presumed(self, judged: Integers, others: bool) -> Integers:
        """Documents drawn from those not judged, and taken as not relevant: few of them are. `others` says whether some
        judged ones are not.
        """
        rng = np.random.default_rng([self.seed, self._key, len(judged)])
        count = len(self.features)
        wanted = max(PRESUMED - len(judged), 0 if others else 1)
        drawn = rng.choice(count, min(wanted + len(judged), count), replace=False)
        return np.sort(drawn[~np.isin(drawn, judged)][:wanted])

    def _sum(self, relevant: Integers) -> Weights:
        """Everything relevant, taken together: the nearest thing where nothing speaks against it."""
        total = self._question.toarray().ravel() + np.asarray(self.features.matrix[relevant].sum(axis=0)).ravel()
        weights: Weights = total.astype(np.float32)
        return weights

    def _score(self, weights: Weights | None) -> None:
        count = len(self.features) if self._among is None else len(self._among)
        numbers = self.features.numbers if self._among is None else self._among
        self._by_lot = weights is None
        if weights is None:
            rng = np.random.default_rng([self.seed, self._key])
            lots: Floats = rng.permutation(len(self.features)).astype(np.float64)
            self._state = numbers, lots[numbers]
            return
        due = self._near is None or self._judged >= self._scored + batch_after(max(self._scored, 0))
        if count <= EVERY or due or self._judged < self._scored:
            own = self.features.products(weights)
            scores = self.features.neighbours.smoothed(own)
            self._scored = self._judged
            if count > EVERY:
                numbers = np.sort(numbers[_largest(scores[numbers], NEAR)])
                self._near = numbers, (scores - own)[numbers]
            scores = scores[numbers]
        else:
            assert self._near is not None
            numbers, added = self._near
            scores = self.features.products(weights, numbers) + added
        self._state = numbers, scores


def batch_after(judged: int) -> int:
    """The size of AutoTAR's batch after so many judgements: 1 at first, then always a tenth more, rounded up.

    >>> [batch_after(judged) for judged in (0, 1, 2, 3, 55, 66, 1000)]
    [1, 2, 2, 3, 11, 13, 115]
    """
    size, end = 1, 1
    while end <= judged:
        size += -(-size // 10)
        end += size
    return size


def _fitted(documents: csr_matrix, relevant: Mask) -> Weights:
    """The weight of each column in a linear support vector machine that parts relevant documents from the others.

    Solved in its primal form, which draws no random numbers: threads cannot disturb each other.
    """
    from scipy.sparse import csr_matrix

    used, columns = np.unique(documents.indices, return_inverse=True)
    compact = csr_matrix((documents.data, columns, documents.indptr), shape=(documents.shape[0], len(used)))
    balance = np.where(relevant, 1.0, relevant.sum() / (RATIO * (~relevant).sum()))
    machine = library("sklearn.svm").LinearSVC(C=COST, dual=False)
    machine.fit(compact, relevant, sample_weight=_bounded(balance * (len(relevant) / balance.sum()), compact))
    weights = np.zeros(documents.shape[1], dtype=np.float32)
    weights[used] = machine.coef_[0]
    return weights


def _bounded(weights: Floats, documents: csr_matrix) -> Floats:
    """The weights that do, without the columns that only one document has, what these do with them.

    In the dual form they add the square of their length to the diagonal, where 1 / (2 · cost · weight) stands.
    """
    alone = np.maximum(1 - np.asarray(documents.multiply(documents).sum(axis=1), dtype=np.float64).ravel(), 0)
    return weights / (1 + 2 * COST * alone * weights)


def _largest(scores: Floats, count: int) -> Integers:
    """Where the largest scores are, largest first; of equal ones the first."""
    if count <= 0:
        return np.zeros(0, dtype=np.int64)
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = np.flatnonzero(scores > least)
        chosen = np.concatenate((above, np.flatnonzero(scores == least)[: count - len(above)]))
    else:
        chosen = np.arange(len(scores))
    order: Integers = chosen[np.lexsort((chosen, -scores[chosen]))]
    return order
