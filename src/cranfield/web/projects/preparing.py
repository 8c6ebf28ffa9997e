"""The job that makes a project ready: documents stored, topics and pairs written, all of it or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from cranfield.errors import CranfieldError, DataError, plural, some
from cranfield.formats import read_qrels, read_run
from cranfield.formats.reading import Reading
from cranfield.quotation import build_store
from cranfield.search.collection_search import Steps
from cranfield.tables import Qrels, Run
from cranfield.texts.collection import check_positions
from cranfield.texts.document_store import DocumentStore
from cranfield.texts.texts import Topics
from cranfield.web.feature_files import FeatureFiles
from cranfield.web.projects.choosing import ChosenDocuments, Materials, chosen_documents, is_text
from cranfield.web.projects.collections import DataFiles, ProjectSource, place_of, text_source
from cranfield.web.projects.jobs import Work
from cranfield.web.projects.making import empty, has_begun
from cranfield.web.projects.options import CAL, ProjectOptions
from cranfield.web.projects.pairs import Queued, pair_rows
from cranfield.web.projects.scales import current_scale
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import PairRow, ProjectRow, RunRow, TopicRow

ROWS = 10_000  # of one statement
POSITIONS = (
    "Say that the runs call topics by their positions: --ids position at the prompt, 'What runs call topics' in the "
    "settings of a project."
)
LONGEST_FIELD = 100_000  # characters of a topic's field


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """What the database says of a project that is to be prepared."""

    options: ProjectOptions
    source: ProjectSource
    collection: str
    runs: Sequence[tuple[str, str]]  # names and digests
    rel: int


class Preparation:
    """Prepares projects, as jobs."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings, self.files = settings, DataFiles(settings.folder)

    def run(self, work: Work) -> None:
        """Reads, chooses and arranges; only the last step writes, in one transaction."""
        assert work.project is not None
        plan = self._plan(work)
        try:
            store = self._documents(work, plan)
            work.tell("reading topics and runs")
            texts = text_source(self.settings, plan.source).opened()
            topics = texts.read_topics()
            if topics is None:
                raise DataError("the collection has no topics: upload them")
            runs = [self._run(name, digest) for name, digest in plan.runs]
            check_positions(topics, sorted({topic for run in runs for topic in run.topics}), "the runs have", POSITIONS)
            known = self._known(plan)
            work.tell("choosing documents")
            asked = {id: fields for id, fields in topics.rows() if is_text(id) and any(map(str.strip, fields.values()))}
            materials = Materials(runs=runs, topics=asked, store=store, known=known, rel=plan.rel)
            chosen = chosen_documents(materials, plan.options)
            if plan.options.method == CAL:
                work.tell("weighing the words of documents")
                FeatureFiles(self.settings.folder).of(Path(store.path).parent.name, store)
        except CranfieldError as error:
            raise self._without_places(error, plan) from None
        findings = [*store.notes, *topics.notes, *_textless(topics, asked), *chosen.findings]
        rows = list(self._arranged(work, chosen, store, plan.options))
        work.tell(f"writing {plural(sum(len(of_topic) for _, of_topic in rows), 'pair')}")
        with work.store.writing() as connection:
            self._write(connection, work, asked, rows, findings)

    def gave_up(self, connection: Connection, project: int | None, payload: Mapping[str, Any], reason: str) -> None:
        failed = update(ProjectRow).where(ProjectRow.id == project, ProjectRow.state == "preparing")
        connection.execute(failed.values(state="failed", reason=reason))

    def _plan(self, work: Work) -> _Plan:
        with work.store.reading() as connection:
            row = connection.execute(select(ProjectRow).where(ProjectRow.id == work.project)).one()
            asked = select(RunRow.name, RunRow.digest).where(RunRow.project_id == work.project).order_by(RunRow.name)
            runs = [(run.name, run.digest) for run in connection.execute(asked)]
            rel = current_scale(connection, row.id).scale.threshold
        return _Plan(
            options=ProjectOptions.from_json(row.settings),
            source=ProjectSource.from_json(row.source),
            collection=row.collection,
            runs=runs,
            rel=rel,
        )

    def _documents(self, work: Work, plan: _Plan) -> DocumentStore:
        """The documents of the project, stored once for all projects that have the same."""
        if plan.collection and self.files.documents(plan.collection).exists():
            return DocumentStore(self.files.documents(plan.collection))
        work.tell("reading documents")
        building = self.files.unfinished()
        try:
            with build_store(text_source(self.settings, plan.source), building, watch=_telling(work)) as built:
                digest = built.digest.rpartition(":")[2]
            place = self.files.documents(digest)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not place.exists():
                building.replace(place)
        finally:
            building.unlink(missing_ok=True)
        with work.store.writing() as connection:
            connection.execute(update(ProjectRow).where(ProjectRow.id == work.project).values(collection=digest))
        return DocumentStore(place)

    def _run(self, name: str, digest: str) -> Run:
        return read_run(str(self.files.kept("run", digest)), name=name, reading=Reading(threads=1))

    def _known(self, plan: _Plan) -> Qrels | None:
        """Judgements that were given for this project; those of a collection may be what it is to be compared with."""
        part = plan.source.parts.get("judgements")
        return None if part is None else read_qrels(str(self.files.kept("judgements", part.digest)))

    def _arranged(
        self, work: Work, chosen: ChosenDocuments, store: DocumentStore, options: ProjectOptions
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The pairs of each topic, without the number that the topic will get."""
        last = time.monotonic()
        for number, topic in enumerate(chosen.documents):
            queued = Queued(
                topic_id=0,
                topic=topic,
                documents=chosen.documents[topic],
                calibration=chosen.calibration[topic],
                sample=chosen.sample.get(topic, {}),
            )
            yield topic, list(pair_rows(queued, store, options))
            if time.monotonic() - last > 1:
                work.tell(f"comparing documents: {number + 1} of {plural(len(chosen.documents), 'topic')}")
                last = time.monotonic()

    def _write(
        self,
        connection: Connection,
        work: Work,
        topics: Mapping[str, Mapping[str, str]],
        rows: Sequence[tuple[str, list[dict[str, Any]]]],
        findings: Sequence[tuple[str, str]],
    ) -> None:
        project = work.project
        assert project is not None
        if has_begun(connection, project):
            raise DataError("documents of this project have been judged meanwhile")
        empty(connection, project)
        connection.execute(
            insert(TopicRow),
            [
                {"project_id": project, "name": name, "place": place, "fields": _fields(fields), "owner_id": None}
                for place, (name, fields) in enumerate(topics.items())
            ],
        )
        asked = select(TopicRow.name, TopicRow.id).where(TopicRow.project_id == project)
        number = {row.name: row.id for row in connection.execute(asked)}
        pairs = (pair | {"topic_id": number[topic]} for topic, of_topic in rows for pair in of_topic)
        while chunk := list(islice(pairs, ROWS)):
            connection.execute(insert(PairRow), chunk)
        told = [[code, sentence] for code, sentence in findings]
        ready = update(ProjectRow).where(ProjectRow.id == project)
        connection.execute(ready.values(state="ready", reason=None, findings=told))
        work.done(connection)

    def _without_places(self, error: CranfieldError, plan: _Plan) -> DataError:
        """The error without paths of the server: members read it."""
        text = str(error)
        place = place_of(self.settings, plan.source) if plan.source.collection else plan.source.place
        for path, name in ((place, plan.source.collection or "the collection"), (str(self.settings.folder), "…")):
            if path:
                text = text.replace(path, name)
        told, *more = text.split("\n    ")
        return DataError(told, remedy="\n    ".join(more) or None)


def _textless(topics: Topics, asked: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    without = [id for id in topics.ids if id not in asked]
    if without:
        yield (
            "textless-topics",
            f"{plural(len(without), 'topic')} left out, without a text or with no id: {some(without)}",
        )
    if not asked:
        raise DataError("no topic has a text")


def _fields(fields: Mapping[str, str]) -> list[list[str]]:
    """The fields of a topic that have a text, in their order, as a database can have them."""
    readable = {
        name: text.encode("utf-8", "replace").decode().replace("\0", " ").strip() for name, text in fields.items()
    }
    return [[name, text[:LONGEST_FIELD]] for name, text in readable.items() if text]


class _DocumentsTold:
    """Tells now and then how many documents were read."""

    def __init__(self, work: Work) -> None:
        self.work, self.count, self.last = work, 0, time.monotonic()

    def step(self) -> None:
        self.count += 1
        if self.count % 1000 == 0 and time.monotonic() - self.last > 1:
            self.work.tell(f"reading documents: {self.count:,} so far")
            self.last = time.monotonic()


def _telling(work: Work) -> Any:
    @contextmanager
    def watch(_label: str, _total: int) -> Iterator[Steps]:
        yield _DocumentsTold(work)

    return watch
