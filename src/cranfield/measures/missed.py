"""What a measure hangs on, as it says itself: relevant documents that a run misses, or the first one that it finds."""

from __future__ import annotations

import numpy as np

from cranfield.judged import relstring
from cranfield.measures.registry import Measure

ALONE, WITH_MISSED = "9", "9/9999999999"  # a perfect list, and the same where ten more were to be found
FIRST, SECOND, ALL = "9000/999", "0900/999", "9999"  # one of four relevant documents at rank 1, at rank 2, and all
NEARLY = 0.01  # a user of ERR may go on after a perfect document, but hardly does


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


def stops_at_first(measure: Measure) -> bool:
    """Whether the rank of the first relevant document is all that counts, as for RR, and hardly more for ERR.

    >>> from cranfield.measures import parse_measure
    >>> names = ("AP", "P@10", "nDCG@10", "Success@10", "RR@10", "ERR@20")
    >>> [name for name in names if stops_at_first(parse_measure(name))]
    ['RR@10', 'ERR@20']
    """
    if measure.definition.needs is not None:
        return False
    first, second, both = measure.per_topic(relstring(FIRST, SECOND, ALL)).tolist()
    return bool(np.isclose(first, both, rtol=NEARLY) and not np.isclose(first, second, rtol=NEARLY))
