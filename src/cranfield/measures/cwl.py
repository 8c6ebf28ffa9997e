"""User models: C/W/L, where a measure is the chance C(i) that a user who has seen rank i goes on to the next.

From it follow V(i) = C(1) ⋯ C(i - 1), the chance that rank i is seen, and W(i) = V(i) / Σ V, the share of a user's
attention that it gets. Gains are grades divided by the highest, between 0 and 1; with min_grade = m the scale begins
there: (grade - m) / (highest - m). With `of` every model gives

- EU, expected utility: the gain a document read, the measure itself;
- ETU, expected total utility: the gain of a whole visit;
- ED, expected depth: how many documents are read;
- EC and ETC, expected cost a document and in all: every document costs 1 here, so that EC is 1 and ETC is ED;
- residual: by how much EU changes if all that is unjudged, below the end of the list too, had the highest gain.

Models that have a measure of their own, of binary relevance, are called after it: P_CWL, RR_CWL, AP_CWL, RBP_CWL. ERR
has no C ("ERR is not C/W/L": see NERR8 to NERR11). TBG and U-measure, which need lengths of documents, are in timed.py.
"""
# ruff: noqa: N803  T is what the papers call it, and ir_measures

from __future__ import annotations

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import Traits
from cranfield.measures.explained import Trace, Working
from cranfield.measures.explained_gains import average_gain
from cranfield.measures.registry import measure
from cranfield.measures.walking import MODEL, Grade, gains_by_rank, pooled_gain, quantity, walk
from cranfield.registry import Parameter, is_number

RANGE = (0.0, float("inf"))
TARGET = Parameter("the gain that the user wants in all", "a number above 0", lambda v: is_number(v) and v > 0)
# Below a half the base of INST's square is negative for who has found all: chances rise again, even above 1.
LEAST_TARGET = Parameter(
    "the gain that the user wants in all", "a number from 0.5", lambda v: is_number(v) and v >= 0.5
)


@measure(Traits(range=RANGE, exact_ties=True, linear=True), **MODEL)
def P_CWL(judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int) -> Floats:
    """Precision as a user model: all of the first k documents are read.

    With max_grade=1 and whole grades EU is P@k; without, a document counts as its share of the highest grade.

    Formula: C(i) = 1 for i < k
    Reference: Moffat, Bailey, Scholer and Thomas, "Incorporating user expectations and behavior into the measurement
      of search effectiveness", TOIS 35(3), 2017.

    >>> (P_CWL @ 4).per_topic(relstring("20100"))
    array([0.375])
    >>> (P_CWL(of="residual") @ 4).per_topic(relstring("2-100"))
    array([0.25])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: np.ones_like(gain))


@measure(Traits(range=RANGE, may_hurt=True), **MODEL)
def RR_CWL(
    judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """Reciprocal rank as a user model: documents are read until one has any gain.

    With max_grade=1 and whole grades EU is RR.

    Formula: C(i) = 1 if g_i = 0, otherwise 0
    Reference: Moffat, Bailey, Scholer and Thomas, "Incorporating user expectations and behavior into the measurement
      of search effectiveness", TOIS 35(3), 2017.

    >>> RR_CWL.per_topic(relstring("0012")), RR_CWL(of="ED").per_topic(relstring("0012"))
    (array([0.16666667]), array([3.]))
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: (gain == 0).astype(np.float64))


@measure(
    Traits(range=(-1.0, float("inf")), may_hurt=True),
    **{**MODEL, "explain": lambda trace, **parameters: explained_ap(trace, **parameters)},
)
def AP_CWL(
    judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """Average precision as a user model: the user stops at each relevant document alike, knowing where they all are.

    Documents with a gain that the list does not have down to the cutoff stand infinitely far down. So with max_grade=1
    and whole grades EU is AP@k, and where nothing is found the depth is the cutoff. AP falls when a document far down
    turns out to be relevant: the residual can be negative.

    Formula: C(i) = Σ_{j>i} g_j / j / Σ_{j≥i} g_j / j; EU = Σ (g_i / i) Σ_{j≤i} g_j / G and ED = G / Σ g_i / i, where G
      is the gain of all judged documents
    Reference: Moffat, Bailey, Scholer and Thomas, "Incorporating user expectations and behavior into the measurement
      of search effectiveness", TOIS 35(3), 2017.

    >>> AP_CWL.per_topic(relstring("101/1")), AP_CWL(of="ED").per_topic(relstring("101/1"))
    (array([0.55555556]), array([2.25]))
    """
    rank = np.arange(1.0, cutoff + 1)

    def read(gain: Floats, elsewhere: Floats) -> tuple[Floats, Floats]:
        by_rank = gain / rank
        everything = gain.sum(axis=1) + elsewhere
        stops = by_rank.sum(axis=1)
        utility = ratio((by_rank * np.cumsum(gain, axis=1)).sum(axis=1), everything)
        return utility, np.where(stops > 0, ratio(everything, stops), float(cutoff))

    return quantity(judged, of, (min_grade, max_grade), cutoff, read)


@measure(Traits(range=RANGE, exact_ties=True, linear=True), **MODEL)
def RBP_CWL(
    judged: Judged, *, p: float = 0.8, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """Rank-biased precision as a user model: on with the same chance from every document, down to the cutoff.

    This is cwl_eval's RBP, whose user stops at rank 1000 at the latest. trec_eval's, GradedRBP, looks infinitely far
    down, and so does RBP, of binary relevance; with a cutoff that p does not make negligible they differ.

    Formula: C(i) = p for i < k
    Reference: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 27(1), 2008.

    >>> RBP_CWL(p=0.5).per_topic(relstring("201")), RBP_CWL(p=0.5, of="ED").per_topic(relstring("201"))
    (array([0.5625]), array([2.]))
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: np.full_like(gain, p))


@measure(Traits(range=RANGE, exact_ties=True, linear=True), **MODEL)
def SDCG(judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int) -> Floats:
    """Scaled DCG: attention falls with the logarithm of the rank, and the ideal has the highest grade at every rank.

    Formula: C(i) = log2(i + 1) / log2(i + 2) for i < k; EU = DCG@k / (max_grade Σ_{i≤k} 1 / log2(i + 1))
    Reference: Järvelin and Kekäläinen, TOIS 20(4), 2002; scaled by Moffat, Bailey, Scholer and Thomas, TOIS 35(3),
      2017.

    >>> (SDCG @ 3).per_topic(relstring("201"))
    array([0.58659841])
    """
    return walk(
        judged,
        of,
        (min_grade, max_grade),
        cutoff,
        lambda rank, gain: _rows(np.log2(rank + 1) / np.log2(rank + 2), gain),
    )


@measure(Traits(range=RANGE), **MODEL)
def NERR8(judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int) -> Floats:
    """Nearly ERR, equation 8: the user goes on as long as not satisfied, and stops at rank k.

    Formula: C(i) = 1 - g_i for i < k
    Reference: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: exploring the relationship between expected
      reciprocal rank and other metrics", ICTIR 2021.

    >>> (NERR8 @ 3).per_topic(relstring("102"))
    array([0.5])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: 1 - gain)


@measure(Traits(range=RANGE), **MODEL)
def NERR9(judged: Judged, *, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int) -> Floats:
    """Nearly ERR, equation 9: as NERR8, and attention falls as one over the rank.

    Formula: C(i) = (1 - g_i) i / (i + 1) for i < k
    Reference: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: exploring the relationship between expected
      reciprocal rank and other metrics", ICTIR 2021.

    >>> (NERR9 @ 3).per_topic(relstring("102"))
    array([0.47058824])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: (1 - gain) * (rank / (rank + 1)))


@measure(Traits(range=RANGE), **MODEL)
def NERR10(
    judged: Judged, *, p: float = 0.9, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """Nearly ERR, equation 10: as NERR8, with the persistence of RBP in place of a last rank.

    Formula: C(i) = p (1 - g_i)
    Reference: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: exploring the relationship between expected
      reciprocal rank and other metrics", ICTIR 2021.

    >>> NERR10(p=0.5).per_topic(relstring("102"))
    array([0.45454545])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: p * (1 - gain))


@measure(Traits(range=RANGE), **MODEL, T=TARGET)
def NERR11(
    judged: Judged, *, T: float = 1, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """Nearly ERR, equation 11: as NERR8, with the growing persistence of INSQ in place of a last rank.

    Formula: C(i) = ((i + 2T - 1) / (i + 2T))² (1 - g_i)
    Reference: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: exploring the relationship between expected
      reciprocal rank and other metrics", ICTIR 2021.

    >>> NERR11.per_topic(relstring("102"))
    array([0.46391753])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: (1 - gain) * _growing(rank + 2 * T))


@measure(Traits(range=RANGE, exact_ties=True, linear=True), **MODEL, T=TARGET)
def INSQ(
    judged: Judged, *, T: float = 1, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """The more a user wants, and the further down, the likelier to go on; what was found does not matter.

    Users who want much read far: at T = 1 cutting at rank 1000 moves EU in the third digit.

    Formula: C(i) = ((i + 2T - 1) / (i + 2T))²
    Reference: Moffat, Scholer and Thomas, "Models and metrics: IR evaluation as a user process", ADCS 2012.

    >>> (INSQ @ 3).per_topic(relstring("201"))
    array([0.66393443])
    """
    return walk(judged, of, (min_grade, max_grade), cutoff, lambda rank, gain: _rows(_growing(rank + 2 * T), gain))


@measure(Traits(range=RANGE), **MODEL, T=LEAST_TARGET)
def INST(
    judged: Judged, *, T: float = 1, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int = 1000
) -> Floats:
    """As INSQ, but users want less the more they have found: they are likelier to stop then.

    T is at least 0.5: below that the formula gives chances that rise with what was found, even above 1.

    Formula: C(i) = ((i + T + T_i - 1) / (i + T + T_i))², where T_i = T - Σ_{j≤i} g_j is still wanted
    Reference: Moffat, Bailey, Scholer and Thomas, "INST: an adaptive metric for information retrieval evaluation",
      ADCS 2015.

    >>> (INST @ 3).per_topic(relstring("201"))
    array([0.7755102])
    """

    def going_on(rank: Floats, gain: Floats) -> Floats:
        return _growing(rank + 2 * T - np.cumsum(gain, axis=1))

    return walk(judged, of, (min_grade, max_grade), cutoff, going_on)


@measure(Traits(range=RANGE, may_hurt=True), **MODEL, T=TARGET)
def BPM(
    judged: Judged, *, T: float = 1, min_grade: float = 0, max_grade: Grade = None, of: str = "EU", cutoff: int
) -> Floats:
    """Bejeweled player model, static: documents are read until their gains reach T, or the patience of k is used up.

    Formula: C(i) = 1 if i < k and Σ_{j≤i} g_j < T, otherwise 0
    Reference: Zhang, Liu, Li, Zhang, Xu and Ma, "Evaluating web search with a Bejeweled player model", SIGIR 2017.

    >>> (BPM @ 5).per_topic(relstring("10102")), (BPM(T=2) @ 5).per_topic(relstring("10102"))
    (array([0.33333333]), array([0.4]))
    """
    # One third, one, and a third twice more are a little less than 2 in binary: such a user has what was wanted.
    return walk(
        judged,
        of,
        (min_grade, max_grade),
        cutoff,
        lambda rank, gain: (np.cumsum(gain, axis=1) < T - 1e-9).astype(np.float64),
    )


def explained_ap(trace: Trace, *, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> Working:
    """What the list has down to the cutoff, or all there is, if that should be more by rounding."""
    grades = (min_grade, max_grade)
    gain = gains_by_rank(trace.judged, grades, cutoff)[0]
    return average_gain(trace, gain, max(float(pooled_gain(trace.judged, grades)[0]), float(gain.sum())), of=of)


def _growing(x: Floats) -> Floats:
    return ((x - 1) / x) ** 2


def _rows(chance: Floats, gain: Floats) -> Floats:
    """The same chance in every topic."""
    return np.broadcast_to(chance, gain.shape)
