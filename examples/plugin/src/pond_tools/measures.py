"""A measure: a function of all topics at once, and its keywords are its parameters."""

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures import Traits, measure
from cranfield.registry import Parameter, is_number


@measure(
    Traits(exact_ties=False),
    half=Parameter("the rank at which a find is worth a half", "a number above 0", lambda v: is_number(v) and v > 0),
)
def Promptness(judged: Judged, *, rel: float = 1, half: float = 5, cutoff: int | None = None) -> Floats:
    """What the best of the relevant documents found is worth, by its rank: 1 at the top, a half at `half`.

    Formula: max 2^(-(i - 1) / (half - 1)) over the ranks i of relevant documents
    Reference: an example.

    >>> Promptness(half=3).per_topic(relstring("0010", "1000"))
    array([0.5, 1. ])
    """
    worth = np.where(judged.hits(rel, cutoff), 2.0 ** (-(judged.rank - 1) / (half - 1)), 0.0)
    best = np.zeros(len(judged.topics))
    np.maximum.at(best, judged.topic, worth)
    return best
