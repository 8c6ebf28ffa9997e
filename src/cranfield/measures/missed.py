"""Whether a measure looks at relevant documents that a run misses: those whose worth hangs on finding all of them."""

from __future__ import annotations

import numpy as np

from cranfield.judged import relstring
from cranfield.measures.registry import Measure

ALONE, WITH_MISSED = "9", "9/9999999999"  # a perfect list, and the same where ten more were to be found


def counts_missed(measure: Measure) -> bool:
    """Whether more relevant documents that are not retrieved change the score, as they do that of recall, AP, Rprec and
    nDCG, and not that of P, RR or RBP. The measure itself is asked, so that nobody keeps a list.

    >>> from cranfield.measures import parse_measure
    >>> [name for name in ("AP", "R@100", "nDCG@10", "P@10", "RR") if counts_missed(parse_measure(name))]
    ['AP', 'R@100', 'nDCG@10']
    """
    if measure.definition.needs is not None:
        return False
    alone, with_missed = measure.per_topic(relstring(ALONE, WITH_MISSED)).tolist()
    return not np.isclose(alone, with_missed)
