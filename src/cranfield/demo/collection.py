"""The collection: documents of the interpreter that runs, with the topics and judgements that are shipped."""

from __future__ import annotations

import platform
from importlib.resources import files

from cranfield.demo.documents import standard_library
from cranfield.errors import some
from cranfield.formats import read_qrels
from cranfield.tables import Qrels
from cranfield.texts import Topics, read_topics
from cranfield.texts.collection import Collection

NAME = "python-docstrings"


def demo_collection() -> Collection:
    """Documents, topics and judgements of the demo.

    Judged documents that this version of Python does not have are left out, and named in a note.

    >>> collection = demo_collection()
    >>> len(collection.topics), collection.qrels.of("1")["str.strip"]
    (80, 3.0)
    """
    documents, topics, qrels = standard_library(), shipped_topics(), _shipped("judgements")
    known = frozenset(documents.ids)
    here, gone = _kept(qrels, known)
    notes = []
    if gone:
        version = platform.python_version()
        told = f"{len(gone):,} of {len(qrels):,} judgements are of documents that Python {version} does not have"
        notes.append(("not-in-this-python", f"{told}, and are left out: {some(gone)}"))
    return Collection(NAME, documents, topics, here, tuple(notes))


def shipped_topics() -> Topics:
    """The topics: a short query, a question, and what counts as relevant.

    >>> topics = shipped_topics()
    >>> topics.fields["title"][0], topics.fields["description"][0]
    ('remove whitespace at both ends', 'How do I get rid of blanks at the beginning and at the end of a string?')
    """
    with files(__package__).joinpath("topics.txt").open("rb") as file:
        return read_topics(file, name=NAME)


def judged_again() -> Qrels:
    """A sample of the documents, judged a second time.

    >>> judged_again()
    <Qrels 'judged-again': 320 rows, 77 topics>
    """
    return _shipped("judged_again")


def _shipped(name: str) -> Qrels:
    with files(__package__).joinpath(f"{name}.txt").open("rb") as file:
        return read_qrels(file, name=name.replace("_", "-"))


def _kept(qrels: Qrels, known: frozenset[str]) -> tuple[Qrels, list[str]]:
    """The judgements of known documents, and the documents of the others."""
    grades = qrels.to_dict()
    here = {topic: {id: grade for id, grade in judged.items() if id in known} for topic, judged in grades.items()}
    gone = sorted({id for judged in grades.values() for id in judged} - known)
    return read_qrels(here, name=qrels.name), gone
