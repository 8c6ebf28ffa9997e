"""The feeder: whenever something was judged in a project whose method learns, it learns anew and changes what is asked
next. It works beside the requests: nobody waits for it, since a page has its next document already.

A topic that is woken while the feeder works on it is done once more, whatever came meanwhile: there are never more
trainings than topics in work. Pairs that nobody has seen are taken back and asked in the new order; what somebody has
before them, or has spoken of, stays.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update

from cranfield.errors import CranfieldError
from cranfield.learning import batch_after, is_sample_turn, sample_order
from cranfield.pooling.candidates import Pooled
from cranfield.web.feature_files import FeatureFiles
from cranfield.web.judging.sitting import scale_of
from cranfield.web.projects.collections import DataFiles
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.projects.pairs import wanted
from cranfield.web.queue.asked import AskedTopic, asked_topic
from cranfield.web.queue.methods import ByReading, ByRuns, QueueMethod, pooled_files
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import Shelf
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import EventRow, LeaseRow, PairRow, ProjectRow, RunRow, TopicRow

log = logging.getLogger("cranfield.web")
MOST_METHODS = 500  # topics whose methods are kept in memory
AHEAD = 10  # documents that wait at least, beyond those that people have before them
LARGEST_BATCH = 100
SAMPLE, LEARNER = "sample", "learner"


@dataclass(frozen=True, kw_only=True)
class _Project:
    id: int
    collection: str
    options: ProjectOptions
    threshold: int
    runs: tuple[str, ...]  # digests


class Feeder:
    """`wake` says that something was judged; a thread does the rest."""

    def __init__(self, settings: ServerSettings, store: Store, shelf: Shelf) -> None:
        self.store, self.shelf = store, shelf
        self.files, self.features = DataFiles(settings.folder), FeatureFiles(settings.folder)
        self._methods: OrderedDict[int, tuple[ProjectOptions, QueueMethod]] = OrderedDict()
        self._pooled: dict[int, tuple[object, Pooled]] = {}
        self._woken: dict[int, None] = {}
        self._exhausted: set[int] = set()
        self._change = threading.Condition()
        self._stopping = False
        self._busy = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._change:
            self._stopping = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()

    def wake(self, topics: Iterable[int]) -> None:
        """Something was judged in these topics, or they ran out."""
        with self._change:
            self._woken.update(dict.fromkeys(topics))
            self._change.notify_all()

    def settle(self, seconds: float = 60) -> bool:
        """Waits until nothing is left to do; for tests and for simulations."""
        with self._change:
            return self._change.wait_for(lambda: not self._woken and not self._busy, seconds)

    def expects(self, topic: int) -> bool:
        """Whether more may come in a topic that has nothing to ask just now."""
        return topic not in self._exhausted

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._stopping or self._woken)
                if self._stopping:
                    return
                topic = next(iter(self._woken))
                del self._woken[topic]
                self._busy = True
            try:
                self.feed(topic)
            except Exception:  # the queue stays as it is; the next judgement tries again
                log.exception("the queue of topic %d was not changed", topic)
            with self._change:
                self._busy = False
                self._change.notify_all()

    def feed(self, topic: int) -> int:
        """Learns anew and changes what a topic asks next; how many pairs wait then."""
        with self.store.reading() as connection:
            project = _project(connection, topic)
            if project is None or not project.options.adaptive:
                return 0
            known = asked_topic(connection, topic, project.threshold)
            active = _active(connection, self.store.clock(), topic)
        method = self._method(project, known)
        proposed = self._proposed(project, known, method, active)
        with self.store.writing() as connection:
            count = _change_queue(connection, known, proposed, project.options)
        (self._exhausted.discard if count else self._exhausted.add)(topic)
        return count

    def _method(self, project: _Project, topic: AskedTopic) -> QueueMethod:
        kept = self._methods.pop(topic.id, None)
        if kept is None or kept[0] != project.options:
            kept = project.options, self._new_method(project, topic)
        self._methods[topic.id] = kept
        while len(self._methods) > MOST_METHODS:
            self._methods.popitem(last=False)
        return kept[1]

    def _new_method(self, project: _Project, topic: AskedTopic) -> QueueMethod:
        if project.options.learns:
            features = self.features.of(project.collection, self.shelf.of(project.collection))
            return ByReading(features, topic, project.options.seed)
        key = (project.runs, project.options.depth)
        if self._pooled.get(project.id, (None,))[0] != key:
            self._pooled[project.id] = key, pooled_files(self.files, project.runs, project.options.depth)
        return ByRuns(self._pooled[project.id][1], topic, project.options)

    def _proposed(
        self, project: _Project, topic: AskedTopic, method: QueueMethod, active: int
    ) -> list[tuple[str, str]]:
        """Documents that should wait, the first one first, with their source.

        The learner does not learn from the sample, nor choose by it: only so does the sample tell what was missed. When
        it names a document that was sampled, that one is its own from then on, and is not judged again.
        """
        options = project.options
        chosen = {pair.document: pair for pair in topic.pairs if pair.source != SAMPLE}
        sampled = {pair.document: pair for pair in topic.pairs if pair.source == SAMPLE and not pair.idle}
        grades = {document: pair.relevant for document, pair in chosen.items() if pair.relevant is not None}
        fixed = {document for document, pair in chosen.items() if not (pair.idle and pair.source == LEARNER)}
        spent = len(fixed) + len(sampled)
        left = LARGEST_BATCH if options.budget is None else max(options.budget - spent, 0)
        count = min(left, LARGEST_BATCH, max(AHEAD + 2 * active, batch_after(len(grades))))
        best = method.best(topic, grades, count + len(sampled), fixed)
        store = self.shelf.of(project.collection)
        lacking = set(store.missing(best))
        proposed: list[tuple[str, str]] = []
        order = iter(self._sample(options, topic, method))
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

    def _sample(self, options: ProjectOptions, topic: AskedTopic, method: QueueMethod) -> Sequence[str]:
        return sample_order(method.universe, topic.name, options.seed) if options.sample else ()


def _project(connection: Connection, topic: int) -> _Project | None:
    asked = (
        select(ProjectRow.id, ProjectRow.collection, ProjectRow.settings, ProjectRow.state)
        .join(TopicRow, TopicRow.project_id == ProjectRow.id)
        .where(TopicRow.id == topic)
    )
    row = connection.execute(asked).first()
    if row is None or row.state != "ready":
        return None
    try:
        options = ProjectOptions.from_json(row.settings)
    except CranfieldError:
        return None
    runs = connection.execute(select(RunRow.digest).where(RunRow.project_id == row.id).order_by(RunRow.name)).scalars()
    threshold = scale_of(connection, row.id).threshold
    return _Project(id=row.id, collection=row.collection, options=options, threshold=threshold, runs=tuple(runs))


def _active(connection: Connection, now: int, topic: int) -> int:
    """How many people are at work in a topic."""
    asked = (
        select(func.count(LeaseRow.user_id.distinct()))
        .join(PairRow, PairRow.id == LeaseRow.pair_id)
        .where(PairRow.topic_id == topic, LeaseRow.until > now)
    )
    return connection.execute(asked).scalar_one()


def _change_queue(
    connection: Connection, known: AskedTopic, proposed: Sequence[tuple[str, str]], options: ProjectOptions
) -> int:
    """Puts what is proposed in the place of what nobody has seen. What was given to somebody while the method was
    thinking stays, as does what is the same; how many pairs wait afterwards."""
    connection.execute(select(TopicRow.id).where(TopicRow.id == known.id).with_for_update())
    spoken = select(EventRow.pair_id).where(EventRow.pair_id == PairRow.id)
    leased = select(LeaseRow.pair_id).where(LeaseRow.pair_id == PairRow.id)
    unseen = select(PairRow.id, PairRow.document, PairRow.source).where(
        PairRow.topic_id == known.id,
        PairRow.source.in_((LEARNER, SAMPLE)),
        ~spoken.exists(),
        ~leased.exists(),
    )
    idle = {row.document: row for row in connection.execute(unseen)}
    names = {document for document, _ in proposed}
    gone = [row.id for document, row in idle.items() if document not in names]
    if gone:
        connection.execute(delete(PairRow).where(PairRow.id.in_(gone)))
    others = {
        row.document: row
        for row in connection.execute(
            select(PairRow.id, PairRow.document, PairRow.source).where(PairRow.topic_id == known.id)
        )
    }
    top = connection.execute(
        select(func.max(PairRow.place), func.max(PairRow.batch)).where(PairRow.topic_id == known.id)
    ).one()
    place, batch = (top[0] if top[0] is not None else -1) + 1, (top[1] if top[1] is not None else -1) + 1
    fresh = []
    for offset, (document, source) in enumerate(proposed):
        if document in idle:
            row = idle[document]
            values = {"place": place + offset, "batch": batch, "source": source}
            connection.execute(update(PairRow).where(PairRow.id == row.id).values(**values))
        elif document in others:
            if others[document].source == SAMPLE and source == LEARNER:
                connection.execute(update(PairRow).where(PairRow.id == others[document].id).values(source=LEARNER))
        else:
            fresh.append(_row(known, document, source, place + offset, batch, options))
    if fresh:
        connection.execute(insert(PairRow), fresh)
    waiting = (
        select(func.count()).select_from(PairRow).where(PairRow.topic_id == known.id, PairRow.opinions < PairRow.wanted)
    )
    return connection.execute(waiting).scalar_one()


def _row(
    known: AskedTopic, document: str, source: str, place: int, batch: int, options: ProjectOptions
) -> Mapping[str, object]:
    return {
        "topic_id": known.id,
        "document": document,
        "source": source,
        "stratum": None,
        "chance": None,
        "near": None,
        "batch": batch,
        "place": place,
        "wanted": wanted(options, known.name, document),
        "opinions": 0,
    }
