"""Whether the order of documents that share a score is anything to a measure: a warning of ties is for those alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.judged import Judged, relstring
from cranfield.measures.registry import Measure


def minds_ties(measure: Measure) -> bool:
    """Whether the score depends on the order of tied documents. The measure itself is asked, so that nobody keeps a
    list: one relevant document stands first and last of as many as it can tell apart, the others not relevant or not
    judged. What needs more than grades is taken to mind.

    >>> from cranfield.measures import parse_measure
    >>> [name for name in ("P@10", "AP", "SetP", "ESL", "NumRel") if minds_ties(parse_measure(name))]
    ['P@10', 'AP']
    """
    if measure.definition.needs is not None:
        return True
    others = 2 * (measure.parameters.get("cutoff") or 2)
    grade = max(9.0, measure.parameters.get("rel") or 0.0)
    for other in "0-":
        first, last = (_tied(written, grade) for written in (f"9{other * others}", f"{other * others}9"))
        if not np.array_equal(measure.per_topic(first), measure.per_topic(last)):
            return True
    return False


def _tied(written: str, grade: float) -> Judged:
    """A ranking in which all documents share a score, and 9 stands for a grade."""
    judged = relstring(written)
    everything = np.full_like(judged.rank, len(written))
    judged = replace(judged, tie_first=np.ones_like(judged.rank), tie_size=everything)
    return judged.regraded(np.where(judged.pool.grades == 9, grade, judged.pool.grades))
