"""Methods that learn, at work on a topic: what they would ask next, given all that was said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from cranfield.formats import read_run
from cranfield.formats.reading import Reading
from cranfield.learning import Features, TopicLearner
from cranfield.pooling.candidates import Pooled, pooled_runs
from cranfield.pooling.judging import JudgingSession
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.asked import AskedTopic


class QueueMethod(Protocol):
    """What a topic asks next. `universe` are all documents that could ever be asked for, of which samples are drawn."""

    @property
    def universe(self) -> Sequence[str]: ...

    def best(self, topic: AskedTopic, grades: Mapping[str, bool], count: int, without: set[str]) -> list[str]: ...


class ByReading:
    """Active learning: all documents of the collection, by what the learner makes of their texts."""

    def __init__(self, features: Features, topic: AskedTopic, seed: int) -> None:
        self._learner = TopicLearner(features, topic.question, seed=seed)

    @property
    def universe(self) -> Sequence[str]:
        return self._learner.features.ids

    def best(self, topic: AskedTopic, grades: Mapping[str, bool], count: int, without: set[str]) -> list[str]:
        self._learner.learned(grades)
        return self._learner.best(count, without)


class ByRuns:
    """An adaptive pool: documents of the runs, by where they stand and what was found."""

    def __init__(self, pooled: Pooled, topic: AskedTopic, options: ProjectOptions) -> None:
        self._pooled, self._options = pooled, options
        self._universe = tuple(pooled.of(topic.name).documents) if topic.name in pooled.topics else ()

    @property
    def universe(self) -> Sequence[str]:
        return self._universe

    def best(self, topic: AskedTopic, grades: Mapping[str, bool], count: int, without: set[str]) -> list[str]:
        if not self._universe:
            return []
        session = JudgingSession(self._pooled, self._options.method, rel=1, seed=self._options.seed)
        if grades:
            session.take({topic.name: {document: float(relevant) for document, relevant in grades.items()}})
        ahead = session.ahead(topic.name, count + len(without))
        return [document for document in ahead if document not in without][:count]


def pooled_files(files: DataFiles, digests: Sequence[str], depth: int) -> Pooled:
    """What the runs of a project have down to a depth, from the digests of their files."""
    paths = [str(files.kept("run", digest)) for digest in digests]
    runs = [read_run(path, name=str(place), reading=Reading(threads=1)) for place, path in enumerate(paths)]
    return pooled_runs(runs, depth)
