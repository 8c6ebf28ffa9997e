"""The method that reads: documents are chosen by what a learner finds in their texts, not by where runs have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import DataError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.learning.features import Features, build_features
from cranfield.learning.learner import TopicLearner
from cranfield.pooling.candidates import Candidates, Pooled
from cranfield.pooling.strategy import pooling_method
from cranfield.registry import number

if TYPE_CHECKING:
    from cranfield.texts.collection import Collection


@dataclass(frozen=True, eq=False, kw_only=True)
class PoolTexts:
    """What a method reads: the documents of a collection as features, and the question of each topic.

    >>> from cranfield.texts import read_collection
    >>> texts = pool_texts(read_collection(documents={"d1": "Ducks swim."}, topics={"1": "ducks"}, name="pond"))
    >>> texts.features, dict(texts.questions)
    (<Features: 1 document>, {'1': 'ducks'})
    """

    features: Features
    questions: Mapping[str, str]
    name: str = ""

    def pooled(self) -> Pooled:
        """No run at all: the topics of the collection, for a method that needs nothing else."""
        return Pooled((), (), tuple(self.questions))

    def widened(self, candidates: Candidates) -> Candidates:
        """The candidates of a topic, and every other document of the collection, in its order."""
        rows = self.features.rows
        lacking = tuple(document for document in candidates.documents if document not in rows)
        at = {document: len(rows) + i for i, document in enumerate(lacking)}
        numbers = np.array([rows.get(document, at.get(document, -1)) for document in candidates.documents], np.int64)
        documents = self.features.ids if not lacking else (*self.features.ids, *lacking)
        return replace(candidates, documents=documents, lists=tuple(numbers[ranked] for ranked in candidates.lists))

    def findings(self, pooled: Pooled) -> list[Finding]:
        """Documents and topics of runs that the collection lacks: a learner can say nothing of them."""
        findings = []
        asked = [topic for topic in pooled.topics if not self.questions.get(topic, "").strip()]
        if not any(topic in self.questions for topic in pooled.topics):
            raise DataError(
                f"has no topic that a run has: {some(list(self.questions), 3)}, where the runs have "
                f"{some(pooled.topics, 3)}",
                source=self.name,
                remedy="Topic ids must be the same text: 0001 is not 1; --ids says what topics are called.",
            )
        if asked:
            message = f"has no question for {plural(len(asked), 'topic')}, learned from judgements alone: {some(asked)}"
            findings.append(Finding("no-question", self.name, message, doubtful=True))
        retrieved = {document for candidates in pooled for document in candidates.documents}
        lacking = retrieved - self.features.rows.keys()
        if lacking and len(lacking) == len(retrieved):
            raise DataError(
                f"has no document that a run has: {some(self.features.ids, 3)}, where the runs have "
                f"{some(sorted(retrieved), 3)}",
                source=self.name,
                remedy="Are they runs on this collection? Document ids must be the same text.",
            )
        if lacking:
            message = f"has no text of {plural(len(lacking), 'document')} of the runs, which come last: "
            findings.append(Finding("no-text", self.name, message + some(sorted(lacking)), doubtful=True))
        return findings


def pool_texts(collection: Collection) -> PoolTexts:
    """The texts of a collection, as the method cal reads them.

    >>> from cranfield.texts import read_collection
    >>> pool_texts(read_collection(topics={"1": "ducks"}, name="pond"))
    Traceback (most recent call last):
        ...
    cranfield.errors.DataError: pond: has no documents to learn from
    """
    for part, what in ((collection.documents, "documents to learn from"), (collection.topics, "topics")):
        if part is None or not len(part):
            raise DataError(f"has no {what}", source=collection.name)
    assert collection.documents is not None
    assert collection.topics is not None
    questions = dict(zip(collection.topics.ids, collection.topics.queries(), strict=True))
    return PoolTexts(features=build_features(collection.documents), questions=questions, name=collection.name)


@pooling_method(
    "cal",
    title="continuous active learning",
    kind="adaptive",
    reads=True,
    whole=number("1: any document of the collection may be asked for; 0: only those of the runs", 0, 1),
    refresh=number("it learns anew when so many more are judged, as a share of those judged before", 0, 1),
    first=number("how far down every run's documents are judged before anything is learned", 0, 1000),
)
class ContinuousActiveLearning:
    """Reads the documents: a classifier learns from the question and the judgements so far which look relevant, and
    the best are judged next (after AutoTAR of Cormack and Grossman 2015, which learns anew about as often as
    refresh=0.1); what it says of a document is averaged with what it says of those most like it. Needs a collection.

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> from cranfield.texts import read_collection
    >>> pond = read_collection(documents={"x": "a car", "y": "ducks swim"}, topics={"q": "duck"})
    >>> found = pooled_runs({"a": {"q": {"x": 3.0, "y": 2.0}}}).of("q")
    >>> ContinuousActiveLearning(found, found.generator(0), pool_texts(pond)).next()
    1
    """

    def __init__(
        self,
        candidates: Candidates,
        rng: np.random.Generator,
        texts: PoolTexts,
        *,
        whole: float = 0,
        refresh: float = 0.02,
        first: float = 0,
    ) -> None:
        self.candidates, self.refresh = candidates, refresh
        features = texts.features
        every = candidates.documents is features.ids
        self._number = features.rows if every else {document: i for i, document in enumerate(candidates.documents)}
        self._by_rank = self._ranked()
        ranked = [documents[: int(first)].tolist() for documents in candidates.lists]
        start = np.unique(np.array([i for documents in ranked for i in documents], dtype=np.int64))
        self._learner = TopicLearner(
            features,
            texts.questions.get(candidates.topic, ""),
            seed=int(rng.integers(2**31)),
            start=[candidates.documents[i] for i in rng.permutation(start).tolist()],
            among=None if every else candidates.documents,
        )
        self._grades: dict[str, bool] = {}
        self._batch: list[str] = []

    def next(self) -> int | None:
        if not self._batch:
            self._learner.learned(self._grades)
            self._batch = self._chosen(max(1, int(self.refresh * len(self._grades))))
        return self._number[self._batch[0]] if self._batch else None

    def judged(self, document: int, relevant: bool) -> None:
        name = self.candidates.documents[document]
        self._grades[name] = relevant
        self._batch = [waiting for waiting in self._batch if waiting != name]

    def taught(self, relevant: Mapping[int, bool]) -> None:
        """Learns from judgements that it did not ask for, before anything else is asked."""
        self._grades |= {self.candidates.documents[document]: grade for document, grade in relevant.items()}
        self._batch = []

    def _chosen(self, count: int) -> list[str]:
        """The next documents; those without a text come last, and where nothing is known yet, those ranked first."""
        if self._learner.knows_nothing:
            chosen = self._left(count)
            if chosen:
                return chosen
        chosen = self._learner.best(count, without=self._grades)
        return chosen or self._left(count)

    def _left(self, count: int) -> list[str]:
        left = (document for document in self._by_rank if document not in self._grades)
        return [document for document, _ in zip(left, range(count), strict=False)]

    def _ranked(self) -> list[str]:
        """The documents of runs by their best ranks."""
        best: dict[int, int] = {}
        for documents in self.candidates.lists:
            for rank, document in enumerate(documents.tolist()):
                best[document] = min(rank, best.get(document, rank))
        return [self.candidates.documents[i] for i in sorted(best, key=best.__getitem__)]
