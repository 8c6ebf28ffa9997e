"""A measure of your own: one decorated function, and it works everywhere the built-in ones do."""

from pathlib import Path

import numpy as np

import cranfield
from cranfield.judged import Floats, Judged, relstring

HERE = Path(__file__).parent


# Keyword arguments become parameters. `judged` holds the judged documents of all topics at once: their ranks, their
# grades, and sums by topic, so that a measure is a formula and has no loop.
@cranfield.measure()
def Skimmed(judged: Judged, *, rel: float = 1, cutoff: int = 10) -> Floats:
    """Share of relevant documents among those seen by a user who reads rank i with a chance of 1/i.

    Formula: (Σ r_i / i) / (Σ 1 / i) over the ranks i down to the cutoff
    Reference: an example.

    >>> (Skimmed @ 2).per_topic(relstring("10"))
    array([0.66666667])
    """
    read = np.sum(1 / np.arange(1, cutoff + 1))
    return judged.total(judged.hits(rel, cutoff) / judged.rank) / read


# `relstring` writes a ranking by hand: relevant, not relevant, relevant. 1 + 1/3 of 1 + 1/2 + 1/3.
print("by hand:", (Skimmed @ 3).per_topic(relstring("101")).round(4))

# From now on it has a name, parameters and cutoffs like any other, here and in everything that takes a measure.
print(cranfield.evaluate(HERE / "qrels.txt", HERE / "dense.run", ["Skimmed@10", "Skimmed(rel=2)@10", "P@10"]))
