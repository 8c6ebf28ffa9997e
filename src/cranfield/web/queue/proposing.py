"""What a topic should ask next: the method of its project at work on all that was said of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from cranfield.learning import TopicLearner, batch_after, is_sample_turn
from cranfield.learning.recall import sample_draws
from cranfield.pooling.candidates import Pooled
from cranfield.search.tokens import library
from cranfield.web.feature_files import FeatureFiles
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.queue.asked import AskedTopic
from cranfield.web.queue.methods import ByReading, ByRuns, QueueMethod, pooled_files
from cranfield.web.shelf import Shelf

MOST_METHODS = 500  # topics whose methods are kept in memory
AHEAD = 20  # documents that wait at least, beyond those that people have before them
LARGEST_BATCH = 100
SAMPLE, LEARNER = "sample", "learner"


@dataclass(frozen=True, kw_only=True)
class AskingProject:
    """A project whose method learns, as far as the method must know it."""

    id: int
    collection: str
    options: ProjectOptions
    runs: tuple[str, ...]  # digests


class Proposer:
    """Proposes what topics ask next. It reads files of the folder alone, and keeps what methods have learned."""

    def __init__(self, folder: Path) -> None:
        self._shelf, self._files, self._features = Shelf(folder), DataFiles(folder), FeatureFiles(folder)
        self._methods: OrderedDict[int, tuple[ProjectOptions, QueueMethod]] = OrderedDict()
        self._pooled: dict[int, tuple[object, Pooled]] = {}

    def warm(self, collection: str) -> None:
        """Loads what the learners of a collection need before the first judgement does: it takes seconds."""
        library("sklearn.svm")
        features = self._features.of(collection, self._shelf.of(collection))
        TopicLearner(features, "").best(1)

    def proposed(self, project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]:
        """Documents that should wait, the first one first, with their source; so many people are at work on them.

        The learner does not learn from the sample, nor choose by it: only so does the sample tell what was missed. When
        it names a document that was sampled, that one is its own from then on, and is not judged again.
        """
        options, method = project.options, self._method(project, topic)
        chosen = {pair.document: pair for pair in topic.pairs if pair.source != SAMPLE}
        sampled = {pair.document: pair for pair in topic.pairs if pair.source == SAMPLE and not pair.idle}
        grades = {document: pair.relevant for document, pair in chosen.items() if pair.relevant is not None}
        fixed = {document for document, pair in chosen.items() if not (pair.idle and pair.source == LEARNER)}
        spent = len(fixed) + len(sampled)
        left = LARGEST_BATCH if options.budget is None else max(options.budget - spent, 0)
        count = min(left, LARGEST_BATCH, max(AHEAD + 2 * active, batch_after(len(grades))))
        best = method.best(topic, grades, count + len(sampled), fixed)
        lacking = set(self._shelf.of(project.collection).missing(best))
        proposed: list[tuple[str, str]] = []
        order = sample_draws(method.universe, topic.name, options.seed)
        for document in best:
            if document in lacking:
                continue
            if document in sampled:  # the learner's own now
                proposed.append((document, LEARNER))
                continue
            if is_sample_turn(spent + len(proposed), options.sample):
                drawn = next((d for d in order if d not in fixed and d not in sampled), None)
                if drawn is not None and all(drawn != taken for taken, _ in proposed):
                    proposed.append((drawn, SAMPLE))
            if all(document != taken for taken, _ in proposed):
                proposed.append((document, LEARNER))
        return proposed[:count]

    def close(self) -> None:
        self._shelf.close()

    def _method(self, project: AskingProject, topic: AskedTopic) -> QueueMethod:
        kept = self._methods.pop(topic.id, None)
        if kept is None or kept[0] != project.options:
            kept = project.options, self._new_method(project, topic)
        self._methods[topic.id] = kept
        while len(self._methods) > MOST_METHODS:
            self._methods.popitem(last=False)
        return kept[1]

    def _new_method(self, project: AskingProject, topic: AskedTopic) -> QueueMethod:
        if project.options.learns:
            features = self._features.of(project.collection, self._shelf.of(project.collection))
            return ByReading(features, topic, project.options.seed)
        key = (project.runs, project.options.depth)
        if self._pooled.get(project.id, (None,))[0] != key:
            self._pooled[project.id] = key, pooled_files(self._files, project.runs, project.options.depth)
        return ByRuns(self._pooled[project.id][1], topic, project.options)
