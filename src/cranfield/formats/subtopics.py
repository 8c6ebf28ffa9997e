"""Judgements for each subtopic (aspect, intent) of a topic, as in the diversity tasks of TREC: see grouped.py.

A document's own grade is the highest that it has for any subtopic.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cranfield.formats.grouped import Grouping, as_qrels, in_order, read_rows
from cranfield.formats.kinds import kind_of_judgements
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield._core import Integers
    from cranfield.formats.given import Given

NAMES = ("subtopic", "subtopic_id", "subtopic-id", "aspect", "intent", "iteration")


@kind_of_judgements("subtopics")
def read(source: Given, name: str | None, reading: Reading = DEFAULT) -> Qrels:
    """Judgements with the columns `subtopics`, each topic's by name, and `by_id`, the order of ids descending.

    >>> qrels = read({"q1": {"d1": {"b": 1}, "d2": {"a": 0, "b": 2}}}, None)
    >>> qrels.of("q1"), qrels.groups, qrels.columns["by_id"]
    ({'d2': 2.0, 'd1': 1.0}, {'q1': ('a', 'b')}, array([0, 1]))
    >>> qrels.columns["subtopics"]
    array([[ 0.,  2.],
           [nan,  1.]])
    """
    import numpy as np

    judged = read_rows(source, name, Grouping("subtopic", NAMES, reading.told, reading.numbers))
    groups: dict[str, set[str]] = {}
    for row in judged.rows:
        groups.setdefault(row.topic, set()).add(row.group)
    names = {topic: in_order(subtopics) for topic, subtopics in groups.items()}
    qrels = as_qrels(judged, "subtopics", names, lambda grades: np.nanmax(grades, axis=1))
    return replace(qrels, columns={**qrels.columns, "by_id": _by_id(qrels)})


def _by_id(qrels: Qrels) -> Integers:
    """The place of each document among those of its topic by id, descending: ndeval's choice between equal ones."""
    import numpy as np

    places: list[int] = []
    for topic in qrels.topics:
        ids = [document.encode("utf-8", "surrogateescape") for document in qrels.of(topic)]
        place = {document: i for i, document in enumerate(sorted(ids, reverse=True))}
        places += [place[document] for document in ids]
    return np.array(places)
