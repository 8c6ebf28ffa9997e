"""The collection: documents of the interpreter that runs, with the topics and judgements that are shipped."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.resources import files

from cranfield.demo.documents import standard_library
from cranfield.errors import plural, some
from cranfield.formats import read_qrels
from cranfield.tables import Qrels
from cranfield.texts import Topics, read_topics
from cranfield.texts.collection import Collection

NAME = "python-docstrings"
Grades = dict[str, dict[str, float]]  # by topic and document


def demo_collection() -> Collection:
    """Documents, topics and judgements of the demo.

    Judged documents that are not in this version of Python are left out, and so are topics of which no relevant
    document remains; notes name them.

    >>> collection = demo_collection()
    >>> len(collection.topics), collection.qrels.of("1")["str.strip"]
    (80, 3.0)
    """
    documents, topics, shipped = standard_library(), shipped_topics(), _shipped("judgements")
    known = frozenset(documents.ids)
    judged = shipped.to_dict()
    here = {topic: {id: grade for id, grade in grades.items() if id in known} for topic, grades in judged.items()}
    answered = {topic: grades for topic, grades in here.items() if any(grades.values())}
    return Collection(
        NAME,
        documents,
        topics.only([topic for topic in topics.ids if topic in answered]),
        read_qrels(answered, name=shipped.name),
        tuple(_left_out(judged, here)),
    )


def _left_out(judged: Grades, here: Grades) -> Iterator[tuple[str, str]]:
    """Which documents and topics of the judgements are not in this Python."""
    version = f"Python {platform.python_version()}"
    gone = [id for topic, grades in judged.items() for id in grades if id not in here[topic]]
    if gone:
        count = plural(len(gone), "judgement")
        yield "not-in-this-python", f"{count} left out, of documents not found in {version}: {some(sorted(set(gone)))}"
    bare = [topic for topic, grades in here.items() if not any(grades.values())]
    if bare:
        count = plural(len(bare), "topic")
        yield "no-relevant-document", f"{count} left out, of which {version} has no relevant document: {some(bare)}"


def shipped_topics() -> Topics:
    """The topics: a short query, a question, and what counts as relevant.

    >>> topics = shipped_topics()
    >>> topics.fields["title"][0], topics.fields["description"][0]
    ('remove whitespace at both ends', 'How do I get rid of blanks at the beginning and at the end of a string?')
    """
    with files(__package__).joinpath("topics.txt").open("rb") as file:
        return read_topics(file, name=NAME)


def shipped_note() -> str:
    """How the collection was made, and what it is not good for.

    >>> shipped_note().splitlines()[0]
    '# The demo collection'
    """
    return files(__package__).joinpath("README.md").read_text(encoding="utf-8")


def judged_again() -> Qrels:
    """A sample of the documents, judged a second time.

    >>> judged_again()
    <Qrels 'judged-again': 320 rows, 77 topics>
    """
    return _shipped("judged_again")


def _shipped(name: str) -> Qrels:
    with files(__package__).joinpath(f"{name}.txt").open("rb") as file:
        return read_qrels(file, name=name.replace("_", "-"))
