"""Measures that lectures teach and tools leave out: what a user expected, how long the search took."""

from __future__ import annotations

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Judged, Mask
from cranfield.measures import explained, explained_ranked
from cranfield.measures.arithmetic import ratio
from cranfield.measures.bounded import Bounds
from cranfield.measures.definition import Traits, needed
from cranfield.measures.known import bounds_of_share_of_known, known_relevant
from cranfield.measures.registry import measure
from cranfield.notation import Value
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
NOTHING_RETRIEVED = explained.Working(np.zeros(0, bool), because="nothing is retrieved, which is the worst there is")


@measure(explain=explained_ranked.last_precision)
def PLast(judged: Judged, *, rel: float = 1, cutoff: int | None = None) -> Floats:
    """Precision where the last relevant document of the ranking is found; 0 if there is none.

    Relevant documents that are not retrieved do not count against it: it says how much a user had to read who went
    as deep as the list had something to give.

    Formula: r_i / i, i the rank of the last relevant document retrieved
    Known as: R-precision (in notes that take it where the last relevant document is found, while Rprec is precision at
      rank R); precision at the last relevant document
    Reference: taught among the single value measures; for others of the kind see Baeza-Yates and Ribeiro-Neto, Modern
      Information Retrieval, 1999, chapter 3.

    >>> PLast.per_topic(relstring("00101", "101/1"))
    array([0.4       , 0.66666667])
    """
    hit = judged.hits(rel, cutoff)
    hits = judged.total(hit)
    last = hit & (judged.running(hit) == hits[judged.topic])
    return judged.total(last * judged.running(hit) / judged.rank)


def _share_of(*, expected: int | str | None, **_: Value) -> Traits:
    """What is true of relative recall: what was known bounds it by a formula of its own."""
    if expected != "known":
        return Traits(exact_ties=True, range=(0, float("inf")))
    return Traits(exact_ties=True, range=(0, float("inf")), every_document=True, bounds=_bounds_of_known)


def _bounds_of_known(judged: Judged, *, expected: str, rel: float, cutoff: int | None) -> Bounds:
    return bounds_of_share_of_known(judged, rel=rel, cutoff=cutoff)


@measure(
    varied=_share_of,
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
    Known as: relative recall
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
        raise UsageError(f"expected='known' needs {needed('known')}")
    return known_relevant(judged, rel)


def _effort_of(*, expected: int | str | None, **_: Value) -> Traits:
    """What is true of recall effort: what is known and relevant is found late as well as early."""
    by_known = expected == "known"
    return Traits(range=(0, float("inf")), every_document=by_known, may_hurt=by_known)


@measure(
    varied=_effort_of,
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

    Formula: (number expected) / (rank at which the last of them is found)
    Formula with over='retrieved': (number expected) / (number retrieved)
    Known as: recall effort
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
    Traits(exact_ties=True, range=(0, float("inf")), every_document=True),
    better="lower",
    explain=lambda trace, **parameters: explained_ranked.search(trace, _search, **parameters),
    wanted=Parameter("how many relevant documents the user wants", "a whole number from 1", is_whole),
    counting=Parameter(
        "the documents that are not relevant (others), or all that the user goes through, those wanted among them",
        "'others' or 'all'",
        lambda v: isinstance(v, str) and v in ("others", "all"),
    ),
    unfound=Parameter(
        "the length of a search that the list cannot satisfy: take at least the depth of the lists",
        "a number from 0",
        lambda v: is_number(v) and v >= 0,
    ),
)
def ESL(judged: Judged, *, wanted: int = 1, counting: str = "others", unfound: float = 1000, rel: float = 1) -> Floats:
    """Expected search length: how many documents that are not relevant are read to find the relevant ones wanted.

    Documents of equal score form a level that is read in random order, so this is the mean over all orders whatever
    the policy on ties. Cooper's ranking holds the whole collection, and every search ends well; a run may have too few
    relevant documents, and the length that is given to such a search is ours. Lectures also count all documents that a
    user goes through, which are as many more as are wanted: counting='all'.

    Formula: j + i s / (r + 1): j documents that are not relevant stand in the levels above the one that satisfies the
      user; it has r relevant documents and i others, and s are still wanted from it
    Formula with counting='all': j + i s / (r + 1) + (number wanted): j documents that are not relevant stand in the
      levels above the one that satisfies the user; it has r relevant documents and i others, and s are still wanted
      from it
    Known as: expected search length
    Reference: Cooper, "Expected search length: a single measure of retrieval effectiveness based on the weak ordering
      action of retrieval systems", American Documentation 19(1), 1968.

    >>> ESL(wanted=2).per_topic(relstring("010-1", "01"))
    array([   3., 1000.])
    >>> ESL(wanted=2, counting="all").per_topic(relstring("010-1", "01"))
    array([   5., 1000.])
    """
    j, i, s, r, ends_well = _search(judged, wanted, rel)
    relevant_read = wanted if counting == "all" else 0
    return np.where(ends_well > 0, j + i * s / (r + 1) + relevant_read, float(unfound))


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
    varied=lambda *, of, **_: Traits(exact_ties=True, linear=of == "returned"),
    weight=WEIGHT,
    of=Parameter(
        "a share of the best that is possible in the first k, or of the documents returned, as lectures have it",
        "'possible' or 'returned'",
        lambda v: isinstance(v, str) and v in ("possible", "returned"),
    ),
    explain=lambda trace, *, rel, **parameters: _explained_weights(trace, trace.relevant(rel), rel, **parameters),
)
def Satisfaction(
    judged: Judged, *, rel: float = 1, weight: str = "equal", of: str = "possible", cutoff: int | None = None
) -> Floats:
    """How much of what could satisfy a user in the first k documents is there; looks at relevant documents alone.

    The idea is Myaeng and Korfhage's: pleasure in relevant documents and annoyance at the others are two things, not
    one minus the other. Lectures give it as the percentage of relevant documents returned, of='returned': the share of
    the documents returned that is relevant. The share of the best possible, and the linear weights, are ours. Without
    a cutoff k is the length of the list.

    Formula: Σ w_i over the ranks i ≤ k of relevant documents / Σ w_i over the ranks i ≤ min(k, R); w_i = 1, with
      weight='linear' k + 1 - i
    Formula with of='returned': Σ w_i over the ranks i ≤ k of relevant documents / Σ w_i over the ranks i ≤ min(k, n);
      w_i = 1, with weight='linear' k + 1 - i
    Known as: share of relevant documents returned (of='returned')
    Reference: Myaeng and Korfhage, "Integration of user profiles: models and experiments in information retrieval",
      Information Processing and Management 26(6), 1990.

    >>> (Satisfaction @ 4).per_topic(relstring("1001/1"))
    array([0.66666667])
    >>> (Satisfaction(weight="linear") @ 4).per_topic(relstring("1001/1"))
    array([0.55555556])
    >>> Satisfaction(of="returned").per_topic(relstring("1001/1", "10"))
    array([0.5, 0.5])
    """
    depth = _depth(judged, cutoff)
    return ratio(
        _hit_weight(judged, rel, weight, cutoff), _weight_down_to(_shared(judged, rel, of, cutoff), weight, depth)
    )


@measure(
    Traits(exact_ties=True, linear=True),
    better="lower",
    weight=WEIGHT,
    of=Parameter(
        "a share of the first k ranks, or of the documents returned, as lectures have it",
        "'ranks' or 'returned'",
        lambda v: isinstance(v, str) and v in ("ranks", "returned"),
    ),
    explain=lambda trace, *, rel, **parameters: (
        _explained_weights(trace, ~trace.relevant(rel), rel, **parameters) if trace.length else NOTHING_RETRIEVED
    ),
)
def Frustration(
    judged: Judged, *, rel: float = 1, weight: str = "equal", of: str = "ranks", cutoff: int | None = None
) -> Floats:
    """How much of the first k ranks goes to documents that are not relevant: a loss, 0 is perfect and 1 is worst.

    Looks at documents that are not relevant alone, unjudged ones among them. A list that ends before rank k does not
    frustrate with what it does not show; of='returned' is the share of the documents returned that is not relevant, as
    in lectures. Without a cutoff k is the length of the list, and the two are the same. A list with nothing in it is 1,
    the worst: a system that answers nothing is not the best one.

    Formula: Σ w_i over the ranks i ≤ k of retrieved documents that are not relevant / Σ w_i over all ranks i ≤ k;
      w_i = 1, with weight='linear' k + 1 - i
    Formula with of='returned': Σ w_i over the ranks i ≤ k of retrieved documents that are not relevant / Σ w_i over the
      ranks i ≤ min(k, n); w_i = 1, with weight='linear' k + 1 - i
    Known as: share of non-relevant documents returned (of='returned')
    Reference: Myaeng and Korfhage, "Integration of user profiles: models and experiments in information retrieval",
      Information Processing and Management 26(6), 1990; the linear weights are ours.

    >>> (Frustration @ 4).per_topic(relstring("1001/1", "10"))
    array([0.5 , 0.25])
    >>> Frustration(of="returned").per_topic(relstring("1001/1", "10", "/1"))
    array([0.5, 0.5, 1. ])
    """
    depth = _depth(judged, cutoff)
    shown = _weight_down_to(_shared(judged, rel, "returned", cutoff), weight, depth)
    wasted = ratio(
        shown - _hit_weight(judged, rel, weight, cutoff),
        _weight_down_to(_shared(judged, rel, of, cutoff), weight, depth),
    )
    return np.where(judged.retrieved > 0, wasted, 1.0)


def _depth(judged: Judged, cutoff: int | None) -> Floats:
    """For each topic k: the cutoff, or else the length of its list."""
    return judged.retrieved.astype(np.float64) if cutoff is None else np.full(len(judged.topics), float(cutoff))


def _shared(judged: Judged, rel: float, of: str, cutoff: int | None) -> Floats:
    """For each topic how many of the first ranks a share is taken of: all k, those returned, or those that could be
    relevant."""
    depth = _depth(judged, cutoff)
    if of == "ranks":
        return depth
    return np.minimum(depth, judged.retrieved if of == "returned" else judged.n_relevant(rel))


def _hit_weight(judged: Judged, rel: float, weight: str, cutoff: int | None) -> Floats:
    """Sum of the weights of the relevant documents down to k."""
    if weight == "equal":
        return judged.total(judged.hits(rel) * judged.within(cutoff))
    if cutoff is not None:
        return judged.total(judged.hits(rel) * judged.at_rank(lambda rank: np.maximum(cutoff + 1.0 - rank, 0.0)))
    below = judged.retrieved[judged.topic] + 1.0 - judged.at_rank(lambda rank: rank.astype(np.float64))
    return judged.total(judged.hits(rel) * below)


def _weight_down_to(rank: Floats, weight: str, depth: Floats) -> Floats:
    """Sum of the weights from the first rank to one at or above k."""
    return rank if weight == "equal" else rank * (2.0 * depth + 1 - rank) / 2


def _explained_weights(
    trace: explained.Trace, counts: Mask, rel: float, weight: str, of: str, cutoff: int | None
) -> explained.Working:
    """The weights of the documents that count over those of the ranks that a share is taken of."""
    below = _weight_down_to(_shared(trace.judged, rel, of, cutoff), weight, _depth(trace.judged, cutoff))
    return explained_ranked.weighted(trace, counts, float(below[0]), weight=weight, cutoff=cutoff)
