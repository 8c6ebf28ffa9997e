"""A project of few documents about ducks, straight into the database: for tests of judging."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, insert

from cranfield.judging.scale import Scale
from cranfield.texts.document_store import DocumentStore, StoredDocument, StoreWriter
from cranfield.web.projects.collections import DataFiles
from cranfield.web.store.tables import PairRow, ScaleRow, TopicRow
from sites import Site

DOCUMENTS = [
    StoredDocument("d1", "Ducks", "Some birds fly.\n\nDucks swim, and dive. They like ponds."),
    StoredDocument("d2", "Swans", "Swans swim.\n\nThey are white."),
    StoredDocument("d3", "", "Nothing to see here."),
    StoredDocument("d4", "بط", "البط يسبح في البركة.\n\nduck"),
    StoredDocument("d5", "<script>alert(1)</script>", "<img src=x onerror=alert(1)> ducks"),
    StoredDocument("d6", "Page", "<h1>Ducks</h1><p>They <b>swim</b>.</p><script>alert(1)</script>", html=True),
]


def pond(
    site: Site,
    slug: str = "ducks",
    *,
    wanted: int = 1,
    documents: Sequence[StoredDocument] = DOCUMENTS,
    **settings: object,
) -> dict[str, int]:
    """The project; numbers of its pairs by document. The topic's number is under 'topic'."""
    number = site.project(slug, collection=stored(site.settings.folder, documents), settings=settings)
    with site.store.writing() as connection:
        scale = {"project_id": number, "version": 1, "scale": Scale.usual().to_json(), "at": 0}
        connection.execute(insert(ScaleRow).values(**scale))
        return asked_for(connection, number, wanted, documents)


def stored(folder: Path, documents: Sequence[StoredDocument] = DOCUMENTS) -> str:
    """Stores documents in a data folder, as a preparation does; the name of the collection."""
    files = DataFiles(folder)
    building = files.unfinished()
    with StoreWriter(building, name="pond") as writer:
        writer.add(documents)
    with DocumentStore(building) as made:
        collection = made.digest.rpartition(":")[2]
    if files.documents(collection).exists():  # a server may have it open
        building.unlink()
    else:
        files.documents(collection).parent.mkdir(mode=0o700)
        building.replace(files.documents(collection))
    return collection


def asked_for(
    connection: Connection, project: int, wanted: int = 1, documents: Sequence[StoredDocument] = DOCUMENTS
) -> dict[str, int]:
    """The topic of a project, and every document as a pair of it."""
    made = {}
    fields = [["title", "swimming ducks"], ["description", "Do ducks <b>swim</b> & dive?"]]
    topic = insert(TopicRow).values(project_id=project, name="1", place=1, fields=fields).returning(TopicRow.id)
    made["topic"] = connection.execute(topic).scalar_one()
    for place, document in enumerate(documents):
        values = {"topic_id": made["topic"], "document": document.id, "source": "pool", "batch": 0, "place": place}
        pair = insert(PairRow).values(wanted=wanted, opinions=0, **values).returning(PairRow.id)
        made[document.id] = connection.execute(pair).scalar_one()
    return made
