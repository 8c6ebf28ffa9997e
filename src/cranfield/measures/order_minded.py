"""Whether the order of documents that share a score is anything to a measure: a warning of ties is for those alone.
And whether better grades first and last are the extremes of what that order can do, as --ties best and worst have them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from itertools import permutations, product

import numpy as np

from cranfield.judged import Judged, arranged, relstring
from cranfield.measures.registry import Measure
from cranfield.policy import Policy

# Rankings to try orders on: what stands above the tied documents, these, what stands below, and what was missed.
ABOVE, TIED, BELOW, MISSED = ("", "1", "0"), ("310", "110", "321", "31-0", "100-"), ("", "1"), ("", "/3")


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


@lru_cache(maxsize=64)
def _tied(written: str, grade: float) -> Judged:
    """A ranking in which all documents share a score, and 9 stands for a grade."""
    judged = relstring(written)
    everything = np.full_like(judged.rank, len(written))
    judged = replace(judged, tie_first=np.ones_like(judged.rank), tie_size=everything)
    return judged.regraded(np.where(judged.pool.grades == 9, grade, judged.pool.grades))


def has_extremes(measure: Measure, depth: int | None) -> bool:
    """Whether better grades first and last give the highest and the lowest score of all orders of ties, of lists that
    are cut at a depth. The measure itself is asked here too: of small rankings all orders are tried, as they are and
    with a cutoff and a depth brought up to where these are cut. What needs more than grades has none, as grades alone
    decide.

    >>> from cranfield.measures import parse_measure
    >>> [has_extremes(parse_measure("nDCG(ideal='retrieved')"), depth) for depth in (None, 10)]
    [True, False]
    """
    if measure.definition.needs is not None:
        return False
    cutoff = measure.parameters.get("cutoff")
    limits = sorted({limit for limit in (cutoff, depth) if limit is not None})
    near = {limit: min(limit, 3 + place) for place, limit in enumerate(limits)}
    brought_up = measure if cutoff is None else measure(cutoff=near[cutoff])
    return _extremes_of_small(measure, depth) and _extremes_of_small(brought_up, depth and near[depth])


def _extremes_of_small(measure: Measure, depth: int | None) -> bool:
    orders, starts, tied = _orders()
    every = measure.per_topic(arranged(orders, Policy(depth=depth)))
    highest, lowest = np.maximum.reduceat(every, starts), np.minimum.reduceat(every, starts)
    first, last = (measure.per_topic(arranged(tied, Policy(ties=ties, depth=depth))) for ties in ("best", "worst"))
    gain = np.allclose(first, highest) and np.allclose(last, lowest)
    return bool(gain or (np.allclose(first, lowest) and np.allclose(last, highest)))  # of a loss


@cache
def _orders() -> tuple[Judged, np.ndarray[tuple[int], np.dtype[np.int64]], Judged]:
    """All orders of small rankings, where those of each ranking start, and the rankings themselves with their ties."""
    written: list[str] = []
    starts, rankings, ties = [], [], []
    for above, tied, below, missed in product(ABOVE, TIED, BELOW, MISSED):
        starts.append(len(written))
        written += [f"{above}{''.join(order)}{below}{missed}" for order in sorted(set(permutations(tied)))]
        rankings.append(f"{above}{tied}{below}{missed}")
        ties.append((len(above) + 1, len(tied)))
    judged = relstring(*rankings)
    first, size = np.array(ties)[judged.topic].T
    inside = (judged.rank >= first) & (judged.rank < first + size)
    judged = replace(judged, tie_first=np.where(inside, first, judged.rank), tie_size=np.where(inside, size, 1))
    return relstring(*written), np.array(starts), judged
