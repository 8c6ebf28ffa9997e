"""A data folder to try the server with: the docstrings of this Python, topics, five runs, and their pool."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from cranfield.demo.building import SYSTEMS
from cranfield.demo.embedded import demo_collection
from cranfield.errors import DataError
from cranfield.search import Timing, build_index, retrieve
from cranfield.tables import Run
from cranfield.texts.collection import Collection
from cranfield.texts.writing import write_documents, write_topics
from cranfield.web.projects.collections import DataFiles, KeptPart, ProjectSource
from cranfield.web.projects.making import NewProject, add_run, ask_for_preparation, create_project, kept_run
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import ProjectRow
from cranfield.web.working import worker

SLUG = "demo"
OPTIONS = ProjectOptions(method="depth", depth=10, overlap=0.2)  # two who try it see where they differ
GUIDELINES = """\
Each document is the docstring of a function, class or module of Python. The question says what somebody wants to do.

- **highly relevant**: with this alone the task is done.
- **relevant**: it does most of the task, or does it in a roundabout way.
- **partially relevant**: it belongs to the matter, but does not do it.
- **not relevant**: anything else, whatever words it shares with the question.
"""


def make_demonstration(settings: ServerSettings, told: Callable[[str], None]) -> None:
    """Makes a data folder with the project `demo`, ready to judge; one that has it is left as it is."""
    store = open_folder(settings)
    try:
        _make(settings, store, told)
    finally:
        store.close()


def _make(settings: ServerSettings, store: Store, told: Callable[[str], None]) -> None:
    with store.reading() as connection:
        if connection.execute(select(ProjectRow.id).where(ProjectRow.slug == SLUG)).first():
            return
    collection = demo_collection()
    assert collection.documents is not None
    told(f"{len(collection.documents):,} docstrings of this Python")
    files = DataFiles(settings.folder)
    source = ProjectSource(parts=_parts(collection, files))
    runs = [kept_run(run, files) for run in _searched(collection)]
    told(f"searched by {len(runs)} systems")
    new = NewProject(title="Python docstrings", slug=SLUG, options=OPTIONS, source=source, guidelines=GUIDELINES)
    with store.writing() as connection:
        now = store.clock()
        project = create_project(connection, now, new, owner=None)
        for run in runs:
            add_run(connection, now, project, run, user=None)
        ask_for_preparation(connection, now, project, user=None)
    worker(settings, store).run_all()
    with store.reading() as connection:
        row = connection.execute(select(ProjectRow.state, ProjectRow.reason).where(ProjectRow.id == project)).one()
    if row.state != "ready":
        raise DataError(f"the demonstration could not be made: {row.reason}")
    told("pooled: the project demo is ready")


def _parts(collection: Collection, files: DataFiles) -> dict[str, KeptPart]:
    assert collection.documents is not None
    assert collection.topics is not None
    with tempfile.TemporaryDirectory(dir=files.incoming()) as folder:
        documents, topics = Path(folder) / "documents.jsonl", Path(folder) / "topics.jsonl"
        write_documents(collection.documents, documents)
        write_topics(collection.topics, topics, format="jsonl")
        counts = {"documents": len(collection.documents), "topics": len(collection.topics)}
        return {
            path.stem: KeptPart(digest=files.keep_new(path.stem, path), name=path.name, rows=counts[path.stem])
            for path in (documents, topics)
        }


def _searched(collection: Collection) -> list[Run]:
    """The runs of the demo's systems; those that search the same fields share an index."""
    assert collection.documents is not None
    assert collection.topics is not None
    indexes = {fields: build_index(collection.documents, fields=fields) for fields in {s.fields for s in SYSTEMS}}
    return [
        retrieve(
            indexes[system.fields],
            collection.topics,
            system.model,
            parameters=system.parameters,
            query=system.query,
            depth=OPTIONS.depth * 10,
            tag=system.name,
            timing=Timing(warm_up=0, repeats=1),
        ).run
        for system in SYSTEMS
    ]
