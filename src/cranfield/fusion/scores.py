"""Methods that add up, choose among or weigh the scores of a document."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.fusion.lists import Floats, Lists
from cranfield.fusion.method import WEIGHTS, method
from cranfield.registry import Parameter, is_number

FOX = 'Fox and Shaw, "Combination of multiple searches", TREC-2, 1993'
LEE = 'Lee, "Analyses of multiple evidence combination", SIGIR 1997'
VOGT = 'Vogt and Cottrell, "Fusion via a linear combination of scores", Information Retrieval 1(3), 1999'
WU = 'Wu and Crestani, "Data fusion with estimated weights", CIKM 2002'


@method("combsum", title="CombSUM", formula="Σ s", reference=FOX, aliases=("sum",))
def comb_sum(lists: Lists) -> Floats:
    """The sum of the scores."""
    return lists.total(lists.score)


@method("combmnz", title="CombMNZ", formula="n Σ s", reference=FOX, aliases=("mnz",))
def comb_mnz(lists: Lists) -> Floats:
    """The sum of the scores times the number of lists that have the document, which makes a sum below 0 worse."""
    return lists.found * lists.total(lists.score)


@method("combanz", title="CombANZ", formula="(1 / n) Σ s", reference=FOX, aliases=("anz",))
def comb_anz(lists: Lists) -> Floats:
    """The mean of the scores."""
    return lists.total(lists.score) / lists.found


@method("combmin", title="CombMIN", formula="min s", reference=FOX, aliases=("min",))
def comb_min(lists: Lists) -> Floats:
    """The lowest score, among the lists that have the document."""
    return lists.smallest(lists.score)


@method("combmax", title="CombMAX", formula="max s", reference=FOX, aliases=("max",))
def comb_max(lists: Lists) -> Floats:
    """The highest score."""
    return lists.largest(lists.score)


@method("combmed", title="CombMED", formula="median s", reference=FOX, aliases=("med",))
def comb_med(lists: Lists) -> Floats:
    """The score in the middle; of an even number, the mean of the two there."""
    return lists.median(lists.score)


@method(
    "combgmnz",
    title="CombGMNZ",
    formula="n^gamma Σ s",
    reference=LEE,
    aliases=("gmnz",),
    gamma=Parameter(
        "what agreement counts: 0 is CombSUM, 1 CombMNZ, -1 CombANZ",
        "a number",
        is_number,
        grid=(1.0, *(step / 10 for step in range(21) if step != 10)),
    ),
)
def comb_gmnz(lists: Lists, *, gamma: float = 1.0) -> Floats:
    """CombMNZ with a power of the number of lists."""
    return np.power(lists.found.astype(np.float64), gamma) * lists.total(lists.score)


@method(
    "weighted-sum",
    title="Weighted sum",
    formula="Σ w s",
    reference=VOGT,
    aliases=("wsum",),
    weights=WEIGHTS,
)
def weighted_sum(lists: Lists, *, weights: Sequence[float]) -> Floats:
    """The sum of the scores, each times the weight of its run."""
    return lists.total(each_weight(lists, weights) * lists.score)


@method("wmnz", title="Weighted MNZ", formula="(Σ w) (Σ s)", reference=WU, weights=WEIGHTS)
def weighted_mnz(lists: Lists, *, weights: Sequence[float]) -> Floats:
    """CombMNZ in which every list that has the document counts as much as its run."""
    return lists.total(each_weight(lists, weights)) * lists.total(lists.score)


@method("mixed", title="Mixed", formula="√n Σ w s", reference=WU, weights=WEIGHTS)
def mixed(lists: Lists, *, weights: Sequence[float]) -> Floats:
    """Between the weighted sum and CombMNZ: the weighted sum times the root of the number of lists."""
    return np.sqrt(lists.found) * weighted_sum(lists, weights=weights)


def each_weight(lists: Lists, weights: Sequence[float]) -> Floats:
    """The weight of its run for each row."""
    return lists.each(np.asarray(weights, dtype=np.float64)[lists.run])
