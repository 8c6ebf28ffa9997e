"""Methods that learn from each judgement where to look next.

Those that choose a run and take its next document break ties between runs by lot, as their papers do.
"""

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats
from cranfield.pooling.candidates import Candidates
from cranfield.pooling.strategy import pooling_method
from cranfield.registry import number

RATE = number("what is kept of earlier judgements at each new one: 1 all, 0 none", 0, 1)
SHARED = number("1: a judgement counts for every run that has the document; 0: for the one that gave it", 0, 1)


class _FromRuns:
    """Chooses a run by `worth`, and judges the first of its documents that is not judged yet."""

    def __init__(self, candidates: Candidates, rng: np.random.Generator) -> None:
        self.candidates, self.rng = candidates, rng
        self._lists: list[list[int]] = [documents.tolist() for documents in candidates.lists]
        self._closed = np.array(
            [0.0 if documents else -np.inf for documents in self._lists]
        )  # added to what runs are worth
        self._left = sum(map(bool, self._lists))
        self._place = [0] * len(self._lists)
        self._judged = bytearray(len(candidates.documents))
        self._giver = 0  # the run that gave the document asked for

    def worth(self) -> Floats:
        """How much each run promises."""
        raise NotImplementedError

    def next(self) -> int | None:
        while self._left:
            run = self._best()
            document = self._first_unjudged(run)
            if document is not None:
                self._giver = run
                return document
            self._close(run)
        return None

    def judged(self, document: int, relevant: bool) -> None:
        self._judged[document] = 1

    def _close(self, run: int) -> None:
        self._closed[run] = -np.inf
        self._left -= 1

    def _best(self) -> int:
        worth = self.worth() + self._closed
        best = np.flatnonzero(worth == worth.max())
        return int(best[self.rng.integers(len(best))] if len(best) > 1 else best[0])

    def _first_unjudged(self, run: int) -> int | None:
        documents, place = self._lists[run], self._place[run]
        while place < len(documents) and self._judged[documents[place]]:
            place += 1
        self._place[run] = place
        return documents[place] if place < len(documents) else None


@pooling_method("move-to-front", title="move-to-front", kind="adaptive")
class MoveToFront(_FromRuns):
    """Takes the next document of the run with the fewest ranks since its last relevant one, and stays with that run
    while its documents are relevant; one that was judged for another run counts as it is passed (Cormack, Palmer and
    Clarke 1998, their local variant: each topic by itself).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> found = pooled_runs({"a": {"q": {"x": 3.0, "y": 2.0}}, "b": {"q": {"z": 2.0, "x": 1.0}}}).of("q")
    >>> method = MoveToFront(found, found.generator(0))
    >>> first = method.next()
    >>> method.judged(first, relevant=False)
    >>> sorted(method.worth().tolist())
    [-1.0, 0.0]
    """

    def __init__(self, candidates: Candidates, rng: np.random.Generator) -> None:
        super().__init__(candidates, rng)
        self._priority = np.zeros(len(candidates.lists))
        self._relevant = bytearray(len(candidates.documents))
        self._front: int | None = None  # the run that has just given a relevant document

    def worth(self) -> Floats:
        return self._priority

    def next(self) -> int | None:
        while self._left:
            run = self._best() if self._front is None else self._front
            if self._place[run] == len(self._lists[run]):
                self._close(run)
                self._front = None
                continue
            document = self._lists[run][self._place[run]]
            if not self._judged[document]:
                self._giver = run
                return document
            self._pass(run, document)
        return None

    def judged(self, document: int, relevant: bool) -> None:
        super().judged(document, relevant)
        self._relevant[document] = relevant
        self._pass(self._giver, document)

    def _pass(self, run: int, document: int) -> None:
        """A run at a document that is judged: to the front, or a step back."""
        self._place[run] += 1
        self._front = run if self._relevant[document] else None
        self._priority[run] = 0 if self._relevant[document] else self._priority[run] - 1


class _Bandit(_FromRuns):
    """A run's chance to give a relevant document has a beta distribution, from a uniform one at the start.

    A judgement counts for the run that was chosen, as a bandit's reward does for the arm that was pulled, or for all
    that have the document. What such a run showed before is then multiplied by the rate: 1 is the stationary bandit,
    and with 0 a run is as good as its last document.
    """

    def __init__(self, candidates: Candidates, rng: np.random.Generator, *, rate: float = 1, shared: float = 0) -> None:
        super().__init__(candidates, rng)
        self.rate, self.shared = rate, shared >= 0.5
        self._relevant = np.zeros(len(candidates.lists))
        self._seen = np.zeros(len(candidates.lists))

    def judged(self, document: int, relevant: bool) -> None:
        super().judged(document, relevant)
        rewarded = self.candidates.retrieved_by[document] if self.shared else self._giver
        for count, new in ((self._relevant, float(relevant)), (self._seen, 1.0)):
            count[rewarded] = self.rate * count[rewarded] + new


@pooling_method("maxmean", title="MaxMean bandit", kind="adaptive", rate=RATE, shared=SHARED)
class MaxMean(_Bandit):
    """Takes the run whose judged documents have the largest mean of relevance, (1 + relevant) / (2 + judged) (Losada,
    Parapar and Barreiro 2016; with rate=0 their non-stationary bandit).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> found = pooled_runs({"a": {"q": {"x": 3.0}}, "b": {"q": {"y": 2.0}}}).of("q")
    >>> method = MaxMean(found, found.generator(0))
    >>> first = method.next()
    >>> method.judged(first, relevant=True)
    >>> sorted(method.worth().round(3).tolist())
    [0.5, 0.667]
    """

    def worth(self) -> Floats:
        mean: Floats = (1 + self._relevant) / (2 + self._seen)
        return mean


@pooling_method("thompson", title="Thompson sampling", kind="adaptive", rate=RATE, shared=SHARED)
class Thompson(_Bandit):
    """Draws each run's chance from its beta distribution and takes the run with the largest: what is not known well
    is tried now and then (Losada, Parapar and Barreiro 2016; with rate=0 their non-stationary bandit).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> found = pooled_runs({"a": {"q": {"x": 3.0}}, "b": {"q": {"y": 2.0}}}).of("q")
    >>> Thompson(found, found.generator(0)).worth().shape  # a draw for each run
    (2,)
    """

    def worth(self) -> Floats:
        return self.rng.beta(1 + self._relevant, 1 + self._seen - self._relevant)


@pooling_method(
    "hedge",
    title="hedge",
    kind="adaptive",
    beta=number("what a unit of loss leaves of a run's weight: the smaller, the faster it learns", 0.0001, 0.9999),
)
class Hedge:
    """Takes the document whose weighted sum of ln(Z / rank) over the runs is largest, Z the number of documents of the
    topic; half of it is each run's gain if the document is relevant, otherwise its loss, and its weight is beta^loss.
    A document that a run does not have stands for the mean of the ranks below its list (Aslam, Pavlu and Savell 2003).

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> found = pooled_runs({"a": {"q": {"x": 3.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "z": 1.0}}}).of("q")
    >>> method = Hedge(found, found.generator(0))
    >>> method.next()
    1
    >>> method.judged(1, relevant=False)  # which both had, b higher up
    >>> method.weights().round(3).tolist()
    [0.69, 0.31]
    """

    def __init__(self, candidates: Candidates, rng: np.random.Generator, *, beta: float = 0.1) -> None:
        self.beta = beta
        worth = np.log(len(candidates.documents) / np.arange(1, len(candidates.documents) + 1))
        self._worth = np.empty((len(candidates.lists), len(candidates.documents)))  # to each run, of each document
        for of_run, documents in zip(self._worth, candidates.lists, strict=True):
            below = worth[len(documents) :]
            of_run[:] = below.mean() if len(below) else 0.0
            of_run[documents] = worth[: len(documents)]
        self._loss = np.zeros(len(candidates.lists))
        self._open = np.ones(len(candidates.documents), dtype=bool)

    def weights(self) -> Floats:
        """How far each run is trusted; they sum to 1."""
        weights = self.beta ** (self._loss - self._loss.min())  # the best run has 1: no overflow
        shares: Floats = weights / weights.sum()
        return shares

    def next(self) -> int | None:
        if not self._open.any():
            return None
        return int(np.argmax(np.where(self._open, self.weights() @ self._worth, -np.inf)))

    def judged(self, document: int, relevant: bool) -> None:
        self._open[document] = False
        self._loss += (-0.5 if relevant else 0.5) * self._worth[:, document]
