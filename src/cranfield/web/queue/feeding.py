"""The feeder: whenever something was judged in a project whose method learns, it learns anew and changes what is asked
next. It works beside the requests: nobody waits for it, since a page has its next document already, and methods are at
work in a process of their own (`proposing_process.py`).

A topic that is woken while the feeder works on it is done once more, whatever came meanwhile: there are never more
trainings than topics in work. Pairs that nobody has seen are taken back and asked in the new order; what somebody has
before them, or has spoken of, stays.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Protocol

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, select, union_all, update

from cranfield.errors import CranfieldError
from cranfield.web.judging.sitting import scale_of
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.projects.pairs import wanted
from cranfield.web.queue.asked import AskedTopic, asked_topic
from cranfield.web.queue.proposing import LEARNER, SAMPLE, AskingProject
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import EventRow, LeaseRow, Number, PairRow, ProjectRow, RunRow, TopicRow

log = logging.getLogger("cranfield.web")
LONGEST_REST = 0.2  # seconds between two trainings, at most


class Proposals(Protocol):
    """Who proposes what is asked next: `Proposer`, here or in a process of its own."""

    def warm(self, collection: str) -> None: ...

    def proposed(self, project: AskingProject, topic: AskedTopic, active: int) -> list[tuple[str, str]]: ...

    def close(self) -> None: ...


class Feeder:
    """`wake` says that something was judged; a thread does the rest."""

    def __init__(self, store: Store, proposals: Proposals) -> None:
        self.store, self.proposals = store, proposals
        self._woken: dict[int, None] = {}
        self._short: set[int] = set()  # of the woken, those in which nothing is left to judge
        self._judged: Counter[int] = Counter()  # how often something was judged in each topic
        self._learned: dict[int, int] = {}  # and how many of these its queue follows from
        self._change = threading.Condition()
        self._stopping = False
        self._busy = False
        self._unready = False  # there may be projects in which nothing was asked yet
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        self._unready = True
        self._thread = threading.Thread(target=self._run, name="feeder", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._change:
            self._stopping = True
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()
        self.proposals.close()

    def wake(self, topics: Iterable[int], *, ran_out: bool = False) -> None:
        """Something was judged in these topics; or they ran out, and then they come before others."""
        topics = list(topics)
        with self._change:
            self._woken.update(dict.fromkeys(topics))
            (self._short if ran_out else self._judged).update(topics)
            self._change.notify_all()

    def make_ready(self) -> None:
        """A project may have become ready: its first documents should wait before somebody comes."""
        with self._change:
            self._unready = True
            self._change.notify_all()

    def settle(self, seconds: float = 60) -> bool:
        """Waits until nothing is left to do; for tests and for simulations."""
        with self._change:
            return self._change.wait_for(lambda: not (self._woken or self._busy or self._unready), seconds)

    def has_learned(self, topic: int) -> bool:
        """Whether the queue of a topic follows from all that was judged in it: who finds nothing in it then will find
        nothing until somebody judges."""
        with self._change:
            return self._learned.get(topic) == self._judged[topic]

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._stopping or self._woken or self._unready)
                if self._stopping:
                    return
                topic = None if self._unready else self._first()
                self._unready, self._busy = False, True
            began = time.monotonic()
            try:
                self._warm() if topic is None else self.feed(topic)
            except Exception:  # the queue stays as it is; the next judgement tries again
                log.exception("the queue of topic %s was not changed", topic or "any project")
            with self._change:
                self._busy = False
                self._change.notify_all()
                # Half of the time is for the requests alone, unless somebody waits for a document.
                rest = min(time.monotonic() - began, LONGEST_REST)
                self._change.wait_for(lambda: self._stopping or self._short, rest)

    def _first(self) -> int:
        """The topic that is fed next; it is no longer among those woken."""
        topic = next((topic for topic in self._woken if topic in self._short), next(iter(self._woken)))
        del self._woken[topic]
        self._short.discard(topic)
        return topic

    def _warm(self) -> None:
        """Fills the queues of topics in which nothing was asked yet, and loads what learners need before the first
        judgement does: it takes seconds in which requests would wait."""
        with self.store.reading() as connection:
            projects = connection.execute(_READY).all()
            empty = connection.execute(_EMPTY).all()
        options = {row.id: ProjectOptions.from_json(row.settings) for row in projects}
        self.wake([row.id for row in empty if row.project_id in options and options[row.project_id].adaptive])
        for row in projects:
            if options[row.id].learns:
                self.proposals.warm(row.collection)

    def feed(self, topic: int) -> int:
        """Learns anew and changes what a topic asks next; how many pairs wait then."""
        with self._change:
            judged = self._judged[topic]
        with self.store.reading() as connection:
            project = _project(connection, topic)
            if project is None or not project.options.adaptive:
                return 0
            known = asked_topic(connection, topic, scale_of(connection, project.id).threshold)
            now = self.store.clock()
            active = connection.execute(_AT_WORK, {"topic": topic, "now": now}).scalar_one()
        proposed = self.proposals.proposed(project, known, active)
        count = self.store.together(lambda connection: _change_queue(connection, known, proposed, project.options))
        with self._change:
            self._learned[topic] = judged
        return count


def _project(connection: Connection, topic: int) -> AskingProject | None:
    row = connection.execute(_PROJECT, {"topic": topic}).first()
    if row is None or row.state != "ready":
        return None
    try:
        options = ProjectOptions.from_json(row.settings)
    except CranfieldError:
        return None
    runs = tuple(connection.execute(_RUNS, {"project": row.id}).scalars())
    return AskingProject(id=row.id, collection=row.collection, options=options, runs=runs)


def _change_queue(
    connection: Connection, known: AskedTopic, proposed: Sequence[tuple[str, str]], options: ProjectOptions
) -> int:
    """Puts what is proposed in the place of what nobody has seen. What was given to somebody while the method was
    thinking stays, as does what is the same, and counts for the budget, of which the method did not know; how many
    pairs wait afterwards."""
    here = {"topic": known.id}
    connection.execute(_LOCK_TOPIC, here)
    rows = {row.document: row for row in connection.execute(_PAIRS, here)}
    seen = {*connection.execute(_SEEN, here).scalars()}
    idle = {document for document, row in rows.items() if row.source in (LEARNER, SAMPLE) and row.id not in seen}
    place = 1 + max((row.place for row in rows.values()), default=-1)
    batch = 1 + max((row.batch for row in rows.values()), default=-1)
    room = inf if options.budget is None else options.budget - (len(rows) - len(idle))
    moved: list[Mapping[str, object]] = []
    fresh: list[Mapping[str, object]] = []
    taken, gone = [], set(idle)
    for offset, (document, source) in enumerate(proposed):
        if document in rows and document not in idle:
            if rows[document].source == SAMPLE and source == LEARNER:
                taken.append({"pair": rows[document].id, "new_source": LEARNER})
        elif len(moved) + len(fresh) >= room:
            continue
        elif document in idle:
            gone.remove(document)
            new = {"new_place": place + offset, "new_batch": batch, "new_source": source}
            moved.append({"pair": rows[document].id, **new})
        else:
            fresh.append(_row(known, document, source, place + offset, batch, options))
    if gone:
        connection.execute(_TAKE_BACK, [{"pair": rows[document].id} for document in gone])
    for statement, values in ((_MOVE, moved), (_TAKE_OVER, taken), (_ASK, fresh)):
        if values:
            connection.execute(statement, values)
    return connection.execute(_WAITING, here).scalar_one()


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


# Built once: they are run after every judgement.
_HERE, _PAIR = bindparam("topic", type_=Number), bindparam("pair", type_=Number)
_PROJECT = (
    select(ProjectRow.id, ProjectRow.collection, ProjectRow.settings, ProjectRow.state)
    .join(TopicRow, TopicRow.project_id == ProjectRow.id)
    .where(TopicRow.id == _HERE)
)
_READY = select(ProjectRow.id, ProjectRow.collection, ProjectRow.settings).where(ProjectRow.state == "ready")
_EMPTY = select(TopicRow.id, TopicRow.project_id).where(~exists().where(PairRow.topic_id == TopicRow.id))
_RUNS = select(RunRow.digest).where(RunRow.project_id == bindparam("project")).order_by(RunRow.name)
_AT_WORK = (  # how many people are at work in a topic
    select(func.count(LeaseRow.user_id.distinct()))
    .join(PairRow, PairRow.id == LeaseRow.pair_id)
    .where(PairRow.topic_id == _HERE, LeaseRow.until > bindparam("now"))
)
_LOCK_TOPIC = select(TopicRow.id).where(TopicRow.id == _HERE).with_for_update()
_PAIRS = select(PairRow.id, PairRow.document, PairRow.source, PairRow.place, PairRow.batch).where(
    PairRow.topic_id == _HERE
)
_OF_TOPIC = select(PairRow.id).where(PairRow.topic_id == _HERE)
_SEEN = union_all(
    select(EventRow.pair_id).where(EventRow.pair_id.in_(_OF_TOPIC)),
    select(LeaseRow.pair_id).where(LeaseRow.pair_id.in_(_OF_TOPIC)),
)
_TAKE_BACK = delete(PairRow).where(PairRow.id == _PAIR)
_MOVE = (
    update(PairRow)
    .where(PairRow.id == _PAIR)
    .values(place=bindparam("new_place"), batch=bindparam("new_batch"), source=bindparam("new_source"))
)
_TAKE_OVER = update(PairRow).where(PairRow.id == _PAIR).values(source=bindparam("new_source"))
_ASK = insert(PairRow)
_WAITING = select(func.count()).select_from(PairRow).where(PairRow.topic_id == _HERE, PairRow.opinions < PairRow.wanted)
