"""Cumulated gain: graded relevance, discounted by rank."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import DataError
from cranfield.exports import Late
from cranfield.judged import Floats, Integers, Judged, Pool
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.definition import Traits, Trec
from cranfield.measures.registry import measure
from cranfield.notation import Value
from cranfield.registry import Parameter

if TYPE_CHECKING:
    from cranfield.measures import bounded, explained_gains
else:  # most evaluations ask for neither
    bounded, explained_gains = Late("cranfield.measures.bounded"), Late("cranfield.measures.explained_gains")

Gain = str | Mapping[float, float]
MAX_EXPONENT = 1000
UNDISCOUNTED = float("inf")  # the base of a discount that begins at no rank: DCG is CG
IDEAL = Parameter(
    "whose documents the ideal ranking has: all that are judged, or those of the list alone (retrieved)",
    "'judged' or 'retrieved'",
    lambda v: isinstance(v, str) and v in ("judged", "retrieved"),
)


@measure(
    Traits(
        range=(0, float("inf")),
        exact_ties=True,
        bounds=lambda judged, **parameters: bounds_of_dcg(judged, base=UNDISCOUNTED, **parameters),
        linear=True,
        cumulative=True,
    ),
    explain=explained_gains.cumulated,
)
def CG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """Cumulated gain: the gains of the retrieved documents added up.

    Formula: Σ g_i over ranks i
    Known as: cumulated gain; cumulative gain
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (CG @ 3).per_topic(relstring("32301"))
    array([8.])
    """
    return judged.total(gains(judged.grade, gain) * judged.within(cutoff))


@measure(
    Traits(
        range=(0, float("inf")),
        exact_ties=True,
        bounds=lambda judged, **parameters: bounds_of_dcg(judged, **parameters),
        linear=True,
        cumulative=True,
    ),
    trec="dcg",
    explain=explained_gains.cumulated,
)
def DCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int | None = None) -> Floats:
    """Discounted cumulated gain: gains added up, each divided by a discount that grows with rank.

    Formula: Σ g_i / log2(i + 1); with base b: Σ g_i / max(1, log_b(i))
    Known as: discounted cumulated gain; discounted cumulative gain
    Reference: Järvelin and Kekäläinen, TOIS 20(4), 2002 (base); Burges et al., "Learning to rank using gradient
      descent", ICML 2005 (log2(i + 1), exponential gain).

    >>> DCG.per_topic(relstring("32301"))
    array([6.14871231])
    >>> DCG(gain="exp").per_topic(relstring("323012"))
    array([13.84826363])
    """
    return dcg(judged, gain, base, cutoff)


@measure(
    Traits(range=(0, float("inf")), exact_ties=True),
    aliases=("IDCG",),
    trec="ideal_dcg",
    better="neither",
    explain=explained_gains.ideal,
)
def IdealDCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int | None = None) -> Floats:
    """The highest DCG that any ranking of the judged documents can have.

    Formula: Σ g_i / log2(i + 1) over all judged documents, best first; with base b: Σ g_i / max(1, log_b(i))
    Known as: ideal DCG; ideal discounted cumulated gain
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> IdealDCG.per_topic(relstring("1/3"))
    array([3.63092975])
    """
    return ideal_dcg(judged, gain, base, cutoff)


def normalised(*, ideal: str, **_: Value) -> Traits:
    """What is true of nDCG and NCG: the documents of a list, and so its own ideal, are the same in every order."""
    return Traits(
        exact_ties=True,
        bounds=lambda judged, **parameters: bounds_of_ndcg(judged, **parameters),
        denominator=(lambda judged, **parameters: ideal_of(judged, **parameters)) if ideal == "judged" else None,
        whole_list=ideal == "retrieved",
        cumulative=ideal == "judged",
    )


@measure(
    varied=normalised,
    aliases=("NDCG",),
    trec=Trec("ndcg", at="ndcg_cut", cutoffs=(5, 10, 15, 20, 30, 100, 200, 500, 1000)),
    explain=explained_gains.cumulated,
    ideal=IDEAL,
)
def nDCG(
    judged: Judged,
    *,
    gain: Gain = "linear",
    base: float | None = None,
    ideal: str = "judged",
    cutoff: int | None = None,
) -> Floats:
    """DCG divided by that of the ideal ranking, which has all judged documents, best first.

    With a cutoff the ideal is cut at the same depth. Averaged over topics it is the mean of ratios; with agg='ratio'
    the ratio of means, mean DCG over mean ideal DCG, where topics count by what there is to be gained. With
    ideal='retrieved' the whole list is sorted and then cut: relevant documents that it lacks are not missed, so that
    1 1 1 scores as well as 1 1 1 1 1.

    Formula: DCG@k / DCG@k of the ideal ranking
    Formula with ideal='retrieved': DCG@k / DCG@k of the documents of the list, best first
    Known as: normalized discounted cumulative gain; normalised discounted cumulated gain
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> nDCG(gain="exp").per_topic(relstring("323012"))
    array([0.94881075])
    >>> nDCG.per_topic(relstring("111/11")).round(4), nDCG(ideal="retrieved").per_topic(relstring("111/11"))
    (array([0.7227]), array([1.]))
    """
    return ratio(dcg(judged, gain, base, cutoff), ideal_of(judged, gain=gain, base=base, ideal=ideal, cutoff=cutoff))


def gains(grade: Floats, gain: Gain) -> Floats:
    """What each grade is worth. Negative grades mean that a document was not judged: they are worth nothing."""
    judged = np.maximum(grade, 0.0)
    if gain == "linear":
        return judged
    if gain == "exp":
        if judged.max(initial=0.0) > MAX_EXPONENT:
            raise DataError(
                f"a grade of {judged.max():g} is too large for exponential gain",
                remedy="2^grade must be a double: use linear gain, or a table of gains.",
            )
        return np.exp2(judged) - 1
    assert isinstance(gain, Mapping)
    worth = judged.copy()
    for level, value in gain.items():
        worth[grade == level] = value
    return worth


def discount(rank: Integers, base: float | None) -> Floats:
    """What a gain at each rank is divided by."""
    out: Floats = np.log2(rank + 1.0) if base is None else np.maximum(1.0, np.log(rank + 0.0) / np.log(base))
    return out


def dcg(judged: Judged, gain: Gain, base: float | None, cutoff: int | None) -> Floats:
    """DCG of each topic's ranking."""
    worth = gains(judged.grade, gain)
    if judged.expected:
        return judged.total(worth * judged.at_rank(lambda rank: within(rank, cutoff) / discount(rank, base)))
    return judged.total(discounted(worth, judged.rank, base, cutoff))


def discounted(worth: Floats, rank: Integers, base: float | None, cutoff: int | None) -> Floats:
    """Each gain divided by its rank's discount; logarithms are taken only where there is something to divide."""
    counted = np.flatnonzero(worth != 0 if cutoff is None else (worth != 0) & (rank <= cutoff))
    terms = np.zeros(len(worth))
    terms[counted] = worth[counted] / discount(rank[counted], base)
    return terms


def ideal_gains(pool: Pool, gain: Gain) -> Floats:
    """The gains of each topic's ideal ranking, largest first; negative ones are left out of it as 0."""

    def compute() -> Floats:
        worth = gains(pool.grades, gain)
        if isinstance(gain, Mapping):  # a map need not grow with the grade
            worth = np.maximum(worth[np.lexsort((-worth, pool.topic))], 0.0)
        return worth

    return pool.once(("ideal gains", _key(gain)), compute)


def ideal_dcg(judged: Judged, gain: Gain, base: float | None, cutoff: int | None) -> Floats:
    """DCG of each topic's ideal ranking: all positive gains, largest first."""
    if cutoff is not None and cutoff >= judged.pool.longest:
        cutoff = None  # the same, and computed once for all such cutoffs

    def compute() -> Floats:
        # Gains grow with grades, unless a table says otherwise: no more than the best grades are looked at.
        pool = judged.pool if cutoff is None or isinstance(gain, Mapping) else judged.pool.cut(cutoff)
        return pool.total(discounted(ideal_gains(pool, gain), pool.place, base, cutoff))

    return judged.pool.once(("ideal", _key(gain), base, cutoff), compute)


def retrieved_gains(judged: Judged, gain: Gain) -> Floats:
    """The gains of each topic's list, largest first; negative ones are left out of the ideal as 0."""
    worth = np.maximum(gains(judged.grade, gain), 0.0)
    return worth[np.lexsort((-worth, judged.topic))]


def ideal_of(
    judged: Judged, *, gain: Gain, base: float | None = UNDISCOUNTED, ideal: str, cutoff: int | None
) -> Floats:
    """DCG of each topic's ideal ranking, of all judged documents or of those retrieved; CG without a discount."""
    if ideal == "judged":
        return ideal_dcg(judged, gain, base, cutoff)
    place = np.arange(1, len(judged.rank) + 1) - judged.offsets[judged.topic]
    return judged.total(discounted(retrieved_gains(judged, gain), place, base, cutoff))


def _key(gain: Gain) -> Hashable:
    return tuple(sorted(gain.items())) if isinstance(gain, Mapping) else gain


def highest_gain(judged: Judged, gain: Gain) -> float:
    """What a document may be worth at most: as much as the best grade of the judgements, or of a table of gains."""
    table = gain.values() if isinstance(gain, Mapping) else ()
    return float(max([*gains(np.array([judged.pool.max_grade]), gain), *table]))


def bounds_of_dcg(judged: Judged, *, gain: Gain, base: float | None, cutoff: int | None) -> bounded.Bounds:
    """Every unjudged document can only add."""
    rank = judged.unjudged.rank
    added = judged.unjudged.total(within(rank, cutoff) / discount(rank, base))
    known = dcg(judged, gain, base, cutoff)
    return known, known + highest_gain(judged, gain) * added


def bounds_of_ndcg(
    judged: Judged, *, gain: Gain, base: float | None = UNDISCOUNTED, ideal: str, cutoff: int | None
) -> bounded.Bounds:
    """An unjudged document adds to DCG and to the ideal."""
    longest = int((np.diff(judged.pool.offsets) + judged.retrieved).max(initial=0))
    ranks = np.arange(1, longest + 1)
    weight = within(ranks, cutoff) / discount(ranks, base)
    worth = np.maximum(gains(judged.pool.grades, gain), 0.0)
    counted = np.ones(len(worth), dtype=bool)
    if ideal == "retrieved":
        counted[:] = False
        counted[judged.row] = True
    known = dcg(judged, gain, base, cutoff)
    return bounded.of_ratio_to_ideal(judged, known, worth, counted, highest_gain(judged, gain), weight)
