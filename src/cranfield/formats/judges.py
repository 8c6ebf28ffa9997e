"""Judgements of several judges (assessors, annotators), each with a grade of his own: see grouped.py.

A document's own grade is the mean of those given to it. A negative grade says that a judge did not judge, and counts
only where nobody did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.formats.grouped import Grouping, as_qrels, in_order, read_rows
from cranfield.formats.kinds import kind_of_judgements
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield._core import Floats
    from cranfield.formats.given import Given

NAMES = ("judge", "judge_id", "assessor", "assessor_id", "annotator", "annotator_id", "iteration")


@kind_of_judgements("judges")
def read(source: Given, name: str | None, reading: Reading = DEFAULT) -> Qrels:
    """Judgements with the column `judges`, in which a judge is the same in all topics.

    >>> qrels = read({"q1": {"d1": {"ann": 1, "bob": 0}}, "q2": {"d1": {"bob": 2}}}, None)
    >>> qrels.to_dict(), qrels.groups["q2"]
    ({'q1': {'d1': 0.5}, 'q2': {'d1': 2.0}}, ('ann', 'bob'))
    >>> qrels.columns["judges"]
    array([[ 1.,  0.],
           [nan,  2.]])
    """
    judged = read_rows(source, name, Grouping("judge", NAMES, reading.told, reading.numbers))
    everybody = in_order(row.group for row in judged.rows)
    return as_qrels(judged, "judges", {row.topic: everybody for row in judged.rows}, _mean)


def _mean(grades: Floats) -> Floats:
    import numpy as np

    judged = grades >= 0
    total = np.sum(np.where(judged, grades, 0.0), axis=1)
    means: Floats = np.where(judged.any(axis=1), total / np.maximum(judged.sum(axis=1), 1), np.nanmax(grades, axis=1))
    return means
