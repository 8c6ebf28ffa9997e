"""Measures that lectures teach and tools leave out: what a user expected, how long the search took, whole curves."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Judged
from cranfield.measures import explained, explained_gains, explained_ranked
from cranfield.measures.arithmetic import ratio, within
from cranfield.measures.definition import Traits, needed
from cranfield.measures.gain import UNDISCOUNTED, Gain, discounted, gains, ideal_dcg, ideal_gains
from cranfield.measures.known import known_relevant
from cranfield.measures.registry import measure
from cranfield.registry import Parameter, is_number, is_whole

EXPECTED = Parameter(
    "how many relevant documents the user expects to find; None: all there are; 'known': as many as were known before",
    "None, 'known' or a whole number from 1",
    lambda v: v is None or v == "known" or is_whole(v),
)
WEIGHT = Parameter(
    "what a rank counts: all the same (equal), or k at the first rank down to 1 at the last (linear)",
    "'equal' or 'linear'",
    lambda v: isinstance(v, str) and v in ("equal", "linear"),
)


@measure(explain=explained_ranked.last_precision)
def PLast(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Precision where the last relevant document of the ranking is found; 0 if there is none.

    Relevant documents that are not retrieved do not count against it: it says how much a user had to read who went
    as deep as the list had something to give.

    Formula: r_i / i, i the rank of the last relevant document retrieved
    Reference: taught among the single value measures; for others of the kind see Baeza-Yates and Ribeiro-Neto, Modern
      Information Retrieval, 1999, chapter 3.

    >>> PLast.per_topic(relstring("00101", "101/1"))
    array([0.4       , 0.66666667])
    """
    hit = judged.hits(rel, cutoff)
    hits = judged.total(hit)
    last = hit & (judged.running(hit) == hits[judged.topic])
    return judged.total(last * judged.running(hit) / judged.rank)


@measure(
    Traits(exact_ties=True, range=(0, float("inf"))),
    expected=EXPECTED,
    explain=lambda trace, **parameters: explained_ranked.share_of_expected(trace, _expected, **parameters),
)
def RelativeRecall(
    judged: Judged, *, expected: int | str | None = None, rel: float = 1, cutoff: int | None = None
) -> Floats:
    """Relevant documents found, as a share of those that the user expected to find.

    It is above 1 where the list has more than was expected; a user who expects all there are measures recall. With
    expected='known' the documents known before are read as for Coverage, and it is |R ∩ A| / |R ∩ K|.

    Formula: (number of relevant documents found) / (number expected)
    Reference: Korfhage, Information Storage and Retrieval, 1997; |R ∩ A| / |R ∩ K| in lectures after Baeza-Yates and
      Ribeiro-Neto.

    >>> RelativeRecall(expected=4).per_topic(relstring("10101"))
    array([0.75])
    """
    hits = judged.total(judged.hits(rel) * judged.within(cutoff))
    return ratio(hits, _expected(judged, expected, rel))


def _expected(judged: Judged, expected: int | str | None, rel: float) -> Floats:
    """For each topic, how many relevant documents the user expects."""
    if expected is None:
        return judged.n_relevant(rel)
    if isinstance(expected, int):
        return np.full(len(judged.topics), float(expected))
    if "known" not in judged.pool.columns:
        raise UsageError(f"expected='known' needs {needed('known')}; and it has no bounds")
    return known_relevant(judged, rel)


@measure(
    Traits(range=(0, float("inf"))),
    expected=EXPECTED,
    explain=lambda trace, **parameters: explained_ranked.effort(trace, _expected, **parameters),
    over=Parameter(
        "examined: the documents read until the expected ones are found (Korfhage; Baeza-Yates and Ribeiro-Neto); "
        "retrieved: all documents of the answer, in lectures after them: |R ∩ K| / |A| with expected='known'",
        "'examined' or 'retrieved'",
        lambda v: isinstance(v, str) and v in ("examined", "retrieved"),
    ),
)
def RecallEffort(
    judged: Judged, *, expected: int | str | None = None, over: str = "examined", rel: float = 1
) -> Floats:
    """Relevant documents expected, as a share of the documents that the user has to read for them.

    By the first definition a list that does not have the expected number scores 0: no reading is enough. The second
    looks at the length of the answer alone, and is above 1 where it is shorter than the number expected.

    Formula: (number expected) / (rank at which the last of them is found), or / (number retrieved)
    Reference: Korfhage, Information Storage and Retrieval, 1997; Baeza-Yates and Ribeiro-Neto, Modern
      Information Retrieval, 1999, chapter 3.

    >>> RecallEffort(expected=2).per_topic(relstring("10101", "10000"))
    array([0.66666667, 0.        ])
    >>> RecallEffort(expected=2, over="retrieved").per_topic(relstring("10101", "10000"))
    array([0.4, 0.4])
    """
    wanted = _expected(judged, expected, rel)
    if over == "retrieved":
        return ratio(wanted, judged.retrieved)
    hit = judged.hits(rel)
    last = hit & (judged.running(hit) == wanted[judged.topic])
    return judged.total(last * wanted[judged.topic] / judged.rank)


@measure(
    Traits(exact_ties=True, range=(0, float("inf"))),
    better="lower",
    explain=lambda trace, *, wanted, unfound, rel: explained_ranked.search(trace, wanted, rel, _search),
    wanted=Parameter("how many relevant documents the user wants", "a whole number from 1", is_whole),
    unfound=Parameter(
        "the length of a search that the list cannot satisfy: take at least the depth of the lists",
        "a number from 0",
        lambda v: is_number(v) and v >= 0,
    ),
)
def ESL(judged: Judged, *, wanted: int = 1, unfound: float = 1000, rel: float = 1) -> Floats:
    """Expected search length: how many documents that are not relevant are read to find the relevant ones wanted.

    Documents of equal score form a level that is read in random order, so this is the mean over all orders whatever
    the policy on ties. Cooper's ranking holds the whole collection, and every search ends well; a run may have too few
    relevant documents, and the length that is given to such a search is ours.

    Formula: j + i s / (r + 1): j documents that are not relevant stand in the levels above the one that satisfies the
      user; it has r relevant documents and i others, and s are still wanted from it
    Reference: Cooper, "Expected search length: a single measure of retrieval effectiveness based on the weak ordering
      action of retrieval systems", American Documentation 19(1), 1968.

    >>> ESL(wanted=2).per_topic(relstring("010-1", "01"))
    array([   3., 1000.])
    """
    j, i, s, r, ends_well = _search(judged, wanted, rel)
    return np.where(ends_well > 0, j + i * s / (r + 1), float(unfound))


def _search(judged: Judged, wanted: int, rel: float) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """For each topic j, i, s and r of expected search length, and whether the list has as many as are wanted."""
    hit = judged.hits(rel)
    last = hit & (judged.running(hit) == wanted)
    first = judged.total(last * judged.tie_first)
    above = judged.total(hit & (judged.tie_first < first[judged.topic]))
    relevant = judged.total(hit & (judged.tie_first == first[judged.topic]))
    others = judged.total(last * judged.tie_size) - relevant
    return first - 1 - above, others, wanted - above, relevant, judged.total(last)


@measure(
    Traits(exact_ties=True),
    weight=WEIGHT,
    explain=lambda trace, *, rel, weight, cutoff: explained.averaged(
        trace,
        trace.relevant(rel) * _weight(trace.rank, weight, cutoff),
        float(_weight_down_to(np.minimum(trace.judged.n_relevant(rel), cutoff), weight, cutoff)[0]),
    ),
)
def Satisfaction(judged: Judged, *, rel: float = 1, weight: str = "equal", cutoff: int) -> Floats:
    """How much of what could satisfy a user in the first k documents is there; looks at relevant documents alone.

    The idea is Myaeng and Korfhage's: pleasure in relevant documents and annoyance at the others are two things, not
    one minus the other. Lectures give it as the percentage of relevant documents returned; the share of the best
    possible, and the linear weights, are ours.

    Formula: Σ w_i over the ranks i ≤ k of relevant documents / Σ w_i over the ranks i ≤ min(k, R); w_i = 1, or
      k + 1 - i
    Reference: Myaeng and Korfhage, "Integration of user profiles: models and experiments in information retrieval",
      Information Processing and Management 26(6), 1990.

    >>> (Satisfaction @ 4).per_topic(relstring("1001/1"))
    array([0.66666667])
    >>> (Satisfaction(weight="linear") @ 4).per_topic(relstring("1001/1"))
    array([0.55555556])
    """
    hit_weight = judged.total(judged.hits(rel) * judged.at_rank(lambda rank: _weight(rank, weight, cutoff)))
    return ratio(hit_weight, _weight_down_to(np.minimum(judged.n_relevant(rel), cutoff), weight, cutoff))


@measure(
    Traits(exact_ties=True, linear=True),
    better="lower",
    weight=WEIGHT,
    explain=lambda trace, *, rel, weight, cutoff: explained.averaged(
        trace,
        ~trace.relevant(rel) * _weight(trace.rank, weight, cutoff),
        float(_weight_down_to(np.array([float(cutoff)]), weight, cutoff)[0]),
    ),
)
def Frustration(judged: Judged, *, rel: float = 1, weight: str = "equal", cutoff: int) -> Floats:
    """How much of the first k ranks goes to documents that are not relevant: a loss, 0 is perfect and 1 is worst.

    Looks at documents that are not relevant alone, unjudged ones among them. A list that ends before rank k does not
    frustrate with what it does not show.

    Formula: Σ w_i over the ranks i ≤ k of retrieved documents that are not relevant / Σ w_i over all ranks i ≤ k;
      w_i = 1, or k + 1 - i
    Reference: Myaeng and Korfhage, "Integration of user profiles: models and experiments in information retrieval",
      Information Processing and Management 26(6), 1990; the linear weights are ours.

    >>> (Frustration @ 4).per_topic(relstring("1001/1", "10"))
    array([0.5 , 0.25])
    """
    hit_weight = judged.total(judged.hits(rel) * judged.at_rank(lambda rank: _weight(rank, weight, cutoff)))
    shown = _weight_down_to(np.minimum(judged.retrieved, cutoff).astype(np.float64), weight, cutoff)
    return (shown - hit_weight) / _weight_down_to(np.array([float(cutoff)]), weight, cutoff)


def _weight(rank: Integers, weight: str, cutoff: int) -> Floats:
    return within(rank, cutoff) if weight == "equal" else np.maximum(cutoff + 1.0 - rank, 0.0)


def _weight_down_to(rank: Floats, weight: str, cutoff: int) -> Floats:
    """Sum of the weights from the first rank to one at or above the cutoff."""
    return rank if weight == "equal" else rank * (2.0 * cutoff + 1 - rank) / 2


@measure(Traits(range=(0, float("inf")), exact_ties=True), better="neither", explain=explained_gains.ideal)
def IdealCG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """The highest CG that any ranking of the judged documents can have.

    The mean of CG divided by the mean of this one is NCG(agg='ratio'); so with DCG, IdealDCG and nDCG.

    Formula: Σ g_i over the first k judged documents, best first
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (IdealCG @ 2).per_topic(relstring("12/3"))
    array([5.])
    """
    return ideal_dcg(judged, gain, UNDISCOUNTED, cutoff)


@measure(
    Traits(exact_ties=True, denominator=lambda judged, *, gain, cutoff: ideal_dcg(judged, gain, UNDISCOUNTED, cutoff)),
    explain=lambda trace, **parameters: explained_gains.cumulated(trace, normalised=True, **parameters),
)
def NCG(judged: Judged, *, gain: Gain = "linear", cutoff: int | None = None) -> Floats:
    """CG divided by that of the ideal ranking: no rank down to the cutoff counts more than another.

    Averaged over topics it is the mean of ratios; with agg='ratio' the ratio of means, mean CG over mean IdealCG.

    Formula: CG@k / CG@k of the ideal ranking
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (NCG @ 3).per_topic(relstring("1002/3"))
    array([0.16666667])
    """
    gained = judged.total(gains(judged.grade, gain) * judged.within(cutoff))
    return ratio(gained, ideal_dcg(judged, gain, UNDISCOUNTED, cutoff))


@measure(Traits(exact_ties=True, may_hurt=True), explain=explained_gains.area)
def AreaNCG(judged: Judged, *, gain: Gain = "linear", cutoff: int) -> Floats:
    """Area under the NCG curve down to rank k, as a share of the ideal ranking's: the mean of NCG at ranks 1 to k.

    Formula: (1 / k) Σ NCG@i over ranks i ≤ k
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (AreaNCG @ 2).per_topic(relstring("12"))
    array([0.75])
    """
    return _area(judged, gain, UNDISCOUNTED, cutoff)


@measure(Traits(exact_ties=True, may_hurt=True), explain=explained_gains.area)
def AreaNDCG(judged: Judged, *, gain: Gain = "linear", base: float | None = None, cutoff: int) -> Floats:
    """Area under the nDCG curve down to rank k, as a share of the ideal ranking's: the mean of nDCG at ranks 1 to k.

    Formula: (1 / k) Σ nDCG@i over ranks i ≤ k
    Reference: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    >>> (AreaNDCG @ 2).per_topic(relstring("12"))
    array([0.67985935])
    """
    return _area(judged, gain, base, cutoff)


def _area(judged: Judged, gain: Gain, base: float | None, cutoff: int) -> Floats:
    """Mean over ranks of cumulated over ideal cumulated gain.

    A gain at rank r adds to every rank from there on: it counts with the sum of 1 / ideal over ranks r to k.
    """
    pool = judged.pool
    sizes = np.diff(pool.offsets)

    def compute() -> Floats:
        ideal = _core.running_sum(pool.offsets, discounted(ideal_gains(judged.pool, gain), pool.place, base, None))
        inverse = ratio(1.0, ideal)
        return np.stack((inverse, _core.running_sum(pool.offsets, inverse)))

    key = tuple(sorted(gain.items())) if isinstance(gain, Mapping) else gain
    inverse, down_to = pool.once(("inverse ideal", key, base), compute)

    def inverse_sum(rank: Integers, topic: Integers) -> Floats:
        """Sum of 1 / ideal from the first rank; the ideal stays as it is below its last document."""
        place = np.minimum(rank, sizes[topic])
        at = np.maximum(pool.offsets[topic] + place - 1, 0)
        out: Floats = np.where(place > 0, down_to[at], 0.0) + (rank - place) * inverse[pool.offsets[topic + 1] - 1]
        return out

    level, worth = judged.levelled(gains(judged.grade, gain))
    shown = discounted(worth, level.rank, base, cutoff)
    below = inverse_sum(np.full(len(shown), cutoff), level.topic) - inverse_sum(level.rank - 1, level.topic)
    return level.total(shown * below) / cutoff
