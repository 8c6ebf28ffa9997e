"""Every number that the five lecture notes work out, how it is spelt here, what is right, and where the notes slip.

`exact` has the notes' own formula, written out in plain arithmetic; `ours` asks the library. What is printed must be
`exact` rounded or cut to the digits that are printed, but at the places that `wrong` names: there the notes slip, and
`slip` says how. What is cut where rounding gives another digit is no slip, and docs/lectures.md names each as cut.
Numbers of the notes are facts and stand here; their sentences do not.

Left out are numbers that nothing can compute: a class's scores without its runs, sizes of collections, rules of thumb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from itertools import accumulate
from math import log2, prod

import numpy as np

from cranfield import evaluate
from cranfield.explanation.rank_correlation import explain_correlation
from cranfield.measures import parse_measure
from cranfield.measures.gain import discount
from cranfield.statistics.coefficients import find_coefficient
from lectures import (
    FIVE_RELEVANT,
    GRADES_Q1,
    GRADES_Q2,
    LISTED_Q1,
    LISTED_Q2,
    Q1,
    Q2,
    Q2_LATE,
    Q2_REORDERED,
    TEN_RELEVANT,
    relevant,
)

RANKS = range(1, 16)
ADDED_UP = "terms that were rounded or cut before are added up"
LIST_OF_Q1 = "the list of answers has d3, of grade 3, at rank 4, where the gains printed have 0"


@dataclass(frozen=True, kw_only=True)
class Number:
    """What the notes print in one place: one number or several, as text; nothing where they leave it as an exercise."""

    seed: str
    place: str
    what: str
    printed: str = ""
    spelling: str
    ours: Callable[[], Sequence[float]]
    exact: Sequence[float]
    slip: str = ""
    wrong: tuple[int, ...] = ()  # which of the numbers are, from 1

    def __str__(self) -> str:
        return f"{self.seed} {self.what}"


@dataclass(frozen=True)
class Ours:
    """How something is spelt here, and how it is computed."""

    spelling: str
    values: Callable[[], Sequence[float]]

    def times(self, factor: float) -> Ours:
        return Ours(f"{factor:g} × {self.spelling}", lambda: [factor * value for value in self.values()])

    def inverse(self) -> Ours:
        return Ours(f"1 / {self.spelling}", lambda: [1 / value for value in self.values()])

    def steps(self) -> Ours:
        """What each value adds to the one before it: the gain at a rank, of the gain cumulated down to it."""
        return Ours(f"steps of {self.spelling}", lambda: np.diff([0.0, *self.values()]).tolist())


def by_hand(documents: Sequence[str], grades: dict[str, int]) -> str:
    """A ranking as grades in rank order, - where nobody judged, and after / what was judged and is not retrieved."""
    missed = [str(grade) for document, grade in grades.items() if document not in documents]
    return "".join(str(grades.get(document, "-")) for document in documents) + "/" + "".join(missed)


def measured(measure: str, *rankings: str, at: Iterable[float] = ()) -> Ours:
    """The mean of a measure over rankings written by hand, at each of some ranks or recall levels."""
    names = [f"{measure}@{place:g}" for place in at] or [measure]

    def values() -> list[float]:
        qrels: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for number, ranking in enumerate(rankings, start=1):
            shown, _, missed = ranking.partition("/")
            run[str(number)] = {f"d{rank}": -float(rank) for rank in range(1, len(shown) + 1)}
            grades = {f"d{rank}": int(grade) for rank, grade in enumerate(shown, start=1) if grade != "-"}
            qrels[str(number)] = grades | {f"missed {i}": int(grade) for i, grade in enumerate(missed)}
        means = evaluate(qrels, run, names).means[0]
        return [float(value) for value in means]

    return Ours(measure if names == [measure] else f"{measure}@k", values)


def averaged(name: str, values: Sequence[float]) -> Ours:
    """A mean of values that are given."""
    return Ours(name, lambda: [parse_measure(name).aggregate(np.array(values))])


def correlated(name: str, first: Sequence[float], second: Sequence[float]) -> Ours:
    """How far two rankings agree."""
    return Ours(name, lambda: [find_coefficient(name).function(np.array(first), np.array(second))])


def differences(first: Sequence[float], second: Sequence[float]) -> Ours:
    """By how much the ranks of each document differ."""
    names = [f"d{number}" for number in range(len(first))]
    rankings = [dict(zip(names, ranks, strict=True)) for ranks in (first, second)]
    return Ours("d of try --correlation", lambda: [item.difference for item in explain_correlation(*rankings).items])


def discounted(base: float | None, ranks: Iterable[int]) -> Ours:
    """What a gain is divided by at each rank."""
    spelling = "discount of DCG" if base is None else f"discount of DCG(base={base:g})"
    return Ours(spelling, lambda: discount(np.array(list(ranks)), base).tolist())


def cumulated(values: Iterable[float]) -> list[float]:
    return list(accumulate(values))


def divided(values: Sequence[float], by: Sequence[float]) -> list[float]:
    return [value / other for value, other in zip(values, by, strict=True)]


def halves(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """The mean of two vectors."""
    return [(one + other) / 2 for one, other in zip(first, second, strict=True)]


def kept_whole_first(rank: int) -> float:
    """What 004 divides a gain by: nothing at rank 1, then the logarithm of the rank."""
    return 1.0 if rank == 1 else log2(rank)


def one_more(rank: int) -> float:
    """What 000, 002 and 003 divide a gain by."""
    return log2(rank + 1)


def dcg(gains: Sequence[float], divisor: Callable[[int], float]) -> list[float]:
    return cumulated(gain / divisor(rank) for rank, gain in enumerate(gains, start=1))


def number(seed: str, place: str, what: str, printed: str, ours: Ours, exact: Sequence[float]) -> Number:
    return Number(
        seed=seed, place=place, what=what, printed=printed, spelling=ours.spelling, ours=ours.values, exact=exact
    )


def slipped(entry: Number, slip: str, *wrong: int) -> Number:
    """The same, with what is wrong in the notes: at these of its numbers, or at the only one."""
    return replace(entry, slip=slip, wrong=wrong or (1,))


def digits(printed: str, exact: float, way: str) -> bool:
    """Whether a number is printed with as many digits of it, rounded or cut in a way of `decimal`."""
    last = Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent))
    near = Decimal(repr(round(float(exact), 12)))  # 0.29 is a little less in binary
    return near.quantize(last, way) == Decimal(printed)


def is_cut(printed: str, exact: float) -> bool:
    """Whether a number is printed cut, where it would be rounded to another; with all its digits it is neither."""
    whole = "/" in printed or abs(float(printed) - exact) <= 1e-14 * abs(exact)
    return not whole and digits(printed, exact, ROUND_DOWN) and not digits(printed, exact, ROUND_HALF_EVEN)


TEN = by_hand(Q1, relevant(TEN_RELEVANT))
THREE = by_hand(Q2, {"d3": 1, "d56": 1, "d129": 1})
FIVE = by_hand(Q1, relevant(FIVE_RELEVANT))
REORDERED = by_hand(Q2_REORDERED, {"d123": 1, "d6": 1, "d3": 1})
LATE = by_hand(Q2_LATE, {"d9": 1, "d3": 1})
FOUND_TEN, FOUND_THREE, FOUND_REORDERED = (1, 3, 6, 10, 15), (3, 8, 15), (3, 6, 10)
LEVELS = [level / 10 for level in range(11)]
INTERPOLATED = [1 / 3] * 4 + [1 / 4] * 3 + [1 / 5] * 4  # of three relevant documents, at ranks 3, 8 and 15
PRECISIONS = [1, 2 / 3, 3 / 6, 4 / 10, 5 / 15]  # where the five of the ten relevant documents are found
AP_RUN_1, AP_RUN_2 = (0.05, 0.10, 0.50, 0.50, 0.75), (0.10, 0.30, 0.45, 0.45, 0.60)
SPEARMAN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (2, 3, 1, 5, 4, 7, 8, 10, 6, 9)
# 2^grade - 1 of 3 2 3 0 1 2, and of 3 3 2 2 1 0.
EXPONENTIAL, EXPONENTIAL_IDEAL = (7, 3, 7, 0, 1, 3), (7, 7, 3, 3, 1, 0)


def f(precision: float, recall: float, beta: float) -> float:
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


MEANS = [
    number(
        "000", "MAP: an example", "q1: precision at each of ten relevant documents", "1 0.66 0.5 0.4 0.33",
        measured("P", TEN, at=FOUND_TEN), PRECISIONS,
    ),
    slipped(
        number("000", "MAP: an example", "q1: average precision", "0.28", measured("AP", TEN), [2.9 / 10]), ADDED_UP
    ),
    number(
        "000", "MAP: an example", "q2: interpolated precision at recall 0.1 to 1",
        "0.33 0.33 0.33 0.25 0.25 0.25 0.2 0.2 0.2 0.2", measured("IPrec", THREE, at=LEVELS[1:]), INTERPOLATED[1:],
    ),
    slipped(
        number(
            "000", "MAP: an example", "q2: called MAP, the mean of those ten", "0.254",
            measured("InterpolatedAP(points=10)", THREE), [2.55 / 10],
        ),
        f"{ADDED_UP}; and it is no average precision, which is 0.2611",
    ),
    slipped(
        number(
            "000", "MAP: an example", "mean of both", "0.267",
            measured("InterpolatedAP(points=10)", TEN, THREE), [(0.29 + 0.255) / 2],
        ),
        "the mean of two numbers that were too low",
    ),
    number("000", "GMAP: example", "run 1: MAP", "0.38", averaged("MAP", AP_RUN_1), [1.9 / 5]),
    number("000", "GMAP: example", "run 2: MAP", "0.38", averaged("MAP", AP_RUN_2), [1.9 / 5]),
    number("000", "GMAP: example", "run 1: GMAP", "0.25", averaged("GMAP", AP_RUN_1), [prod(AP_RUN_1) ** 0.2]),
    number("000", "GMAP: example", "run 2: GMAP", "0.33", averaged("GMAP", AP_RUN_2), [prod(AP_RUN_2) ** 0.2]),
    number("000", "MRR: an example", "q1: position of the first", "1", measured("RR", TEN).inverse(), [1]),
    number("000", "MRR: an example", "q2: position of the first", "3", measured("RR", THREE).inverse(), [3]),
    number("000", "MRR: an example", "q1: RR down to rank 3", "1", measured("RR@3", TEN), [1]),
    number("000", "MRR: an example", "q2: RR down to rank 3", "0.33", measured("RR@3", THREE), [1 / 3]),
    number("000", "MRR: an example", "MRR down to rank 3", "0.67", measured("MRR@3", TEN, THREE), [2 / 3]),
    *(
        number(
            "000", "F-measure: homework", f"{query}: F with beta {beta:g}", "",
            measured(f"SetF(beta={beta:g})", ranking), [f(precision, recall, beta)],
        )
        for query, ranking, precision, recall in (("Q1", TEN, 5 / 15, 5 / 10), ("Q2", THREE, 3 / 15, 1))
        for beta in (1, 2, 0.5)
    ),
]  # fmt: skip

CORRELATION = [
    number(
        "000", "SRCC: class exercise", "differences of ranks", "-1 -1 +2 -1 +1 -1 -1 -2 +3 +1",
        differences(*SPEARMAN), [-1, -1, 2, -1, 1, -1, -1, -2, 3, 1],
    ),
    number(
        "000", "SRCC: class exercise", "sum of their squares", "24",
        Ours("Σ d² of try --correlation", lambda: [sum(d**2 for d in differences(*SPEARMAN).values())]),
        [1 + 1 + 4 + 1 + 1 + 1 + 1 + 4 + 9 + 1],
    ),
    number(
        "000", "SRCC: class exercise", "coefficient", "0.854", correlated("spearman", *SPEARMAN),
        [1 - 6 * 24 / (10 * (10**2 - 1))],
    ),
    number(
        "000", "Rank correlation metrics", "the same ranking", "1",
        correlated("spearman", SPEARMAN[0], SPEARMAN[0]), [1],
    ),
    number(
        "000", "Rank correlation metrics", "the reverse", "-1",
        correlated("spearman", SPEARMAN[0], SPEARMAN[0][::-1]), [-1],
    ),
]  # fmt: skip

EXERCISE = [
    number(
        "000", "Revised reference collections", "q1: the ideal ranking", "3 3 3 2 2 2 1 1 1 1",
        measured("IdealCG", by_hand(Q1, GRADES_Q1), at=range(1, 11)).steps(), [3, 3, 3, 2, 2, 2, 1, 1, 1, 1],
    ),
    number("000", "Class exercise: compute CG", "CG of 3 2 3 0 1 2", "", measured("CG", "323012"), [11]),
    number(
        "000", "Class exercise: compute DCG", "divisors", "1 1.585 2 2.322 2.585 2.807",
        discounted(None, range(1, 7)), [one_more(rank) for rank in range(1, 7)],
    ),
    number(
        "000", "Class exercise: compute DCG", "terms", "7 1.892 3.5 0 0.386 1.068",
        measured("DCG(gain='exp')", "323012", at=range(1, 7)).steps(),
        [gain / one_more(rank) for rank, gain in enumerate(EXPONENTIAL, start=1)],
    ),
    slipped(
        number(
            "000", "Class exercise: compute DCG", "DCG", "13.846",
            measured("DCG(gain='exp')", "323012"), dcg(EXPONENTIAL, one_more)[-1:],
        ),
        ADDED_UP,
    ),
    slipped(
        number(
            "000", "Class exercise: compute IDCG", "terms of the ideal", "7 4.416 1.5 1.286 0.386 0",
            measured("IdealDCG(gain='exp')", "323012", at=range(1, 7)).steps(),
            [gain / one_more(rank) for rank, gain in enumerate(EXPONENTIAL_IDEAL, start=1)],
        ),
        "the fourth term is 3 / 2.322 = 1.292", 4,
    ),
    slipped(
        number(
            "000", "Class exercise: compute IDCG", "ideal DCG", "14.588",
            measured("IdealDCG(gain='exp')", "323012"), dcg(EXPONENTIAL_IDEAL, one_more)[-1:],
        ),
        "it has the wrong fourth term",
    ),
    number(
        "000", "Class exercise: compute NDCG", "nDCG", "0.949", measured("nDCG(gain='exp')", "323012"),
        [dcg(EXPONENTIAL, one_more)[-1] / dcg(EXPONENTIAL_IDEAL, one_more)[-1]],
    ),
    number("000", "Limitations", "{1,1,1}", "", measured("nDCG", "111/0"), [1]),
    number("000", "Limitations", "{1,1,1,0}: the same", "", measured("nDCG", "1110"), [1]),
    number("000", "Limitations", "{1,1,1} of five", "", measured("nDCG(ideal='retrieved')", "111/11"), [1]),
    number("000", "Limitations", "{1,1,1,1,1}: the same", "", measured("nDCG(ideal='retrieved')", "11111"), [1]),
    number(
        "000", "Limitations", "{1,1,1} of five, with the usual ideal", "", measured("nDCG", "111/11"),
        [dcg([1] * 3, one_more)[-1] / dcg([1] * 5, one_more)[-1]],
    ),
]  # fmt: skip

BOLD = "0101001000/1111111"  # ten documents of which the second, fourth and seventh are relevant, of ten in all
SAID = "110/11111111"  # what the numbers say instead
LISTS = [
    slipped(
        number(
            "001", "Example", "precision at 1, 2, 3", "1 1 0.67", measured("P", BOLD, at=(1, 2, 3)), [0, 1 / 2, 1 / 3]
        ),
        "the list has its second, fourth and seventh documents in bold, the numbers are of one that begins with two "
        "relevant documents", 1, 2, 3,
    ),
    slipped(
        number("001", "Example", "recall at 1, 2, 3", "0.1 0.2 0.2", measured("R", BOLD, at=(1, 2, 3)), [0, 0.1, 0.1]),
        "as with precision", 1, 2, 3,
    ),
    number(
        "001", "Example", "precision at 1, 2, 3, of the list that is meant", "1 1 0.67",
        measured("P", SAID, at=(1, 2, 3)), [1, 1, 2 / 3],
    ),
    number(
        "001", "Example", "recall at 1, 2, 3, of the list that is meant", "0.1 0.2 0.2",
        measured("R", SAID, at=(1, 2, 3)), [0.1, 0.2, 0.2],
    ),
    number(
        "001", "Precision-recall plots", "precision at recall 10 % to 90 %, averaged", "",
        measured("InterpolatedAP(points=9)", BOLD), [(1 / 2 + 1 / 2 + 3 / 7) / 9],
    ),
    number(
        "001", "Single value measures", "precision at each relevant document seen, averaged", "",
        measured("AP(over='seen')", BOLD), [(1 / 2 + 2 / 4 + 3 / 7) / 3],
    ),
    number("001", "Single value measures", "precision at the first", "", measured("PFirst", BOLD), [1 / 2]),
    number("001", "Single value measures", "precision at the last", "", measured("PLast", BOLD), [3 / 7]),
]  # fmt: skip

EVERY_OTHER, IN_FIVE = "10101", range(1, 6)
GRADED, GRADED_GAINS, GRADED_IDEAL = "32301", (3, 2, 3, 0, 1), (3, 3, 2, 1, 0)
PRECISION_IN_FIVE, RECALL_IN_FIVE = [1, 1 / 2, 2 / 3, 2 / 4, 3 / 5], [1 / 3, 1 / 3, 2 / 3, 2 / 3, 1]
POST = [
    number(
        "002", "1. Precision@k", "precision at 1 to 5", "1 0.5 0.67 0.5 0.6",
        measured("P", EVERY_OTHER, at=IN_FIVE), PRECISION_IN_FIVE,
    ),
    number("002", "1. Precision@k", "model A, the first three: precision at 5", "", measured("P@5", "11100"), [3 / 5]),
    number("002", "1. Precision@k", "model B, the last three: the same", "", measured("P@5", "00111"), [3 / 5]),
    number(
        "002", "2. Recall@k", "recall at 1 to 5", "0.33 0.33 0.67 0.67 1",
        measured("R", EVERY_OTHER, at=IN_FIVE), RECALL_IN_FIVE,
    ),
    slipped(
        number(
            "002", "3. F1@k", "F at 1 to 5", "0.5 0.4 0.666 0.571 0.749", measured("F", EVERY_OTHER, at=IN_FIVE),
            [f(p, r, 1) for p, r in zip(PRECISION_IN_FIVE, RECALL_IN_FIVE, strict=True)],
        ),
        "2 · 0.6 / 1.6 is 0.75", 5,
    ),
    number("002", "1. Mean reciprocal rank", "first relevant at 1", "1", measured("RR", EVERY_OTHER), [1]),
    number("002", "1. Mean reciprocal rank", "first relevant at 5", "0.2", measured("RR", "00001"), [1 / 5]),
    number("002", "1. Mean reciprocal rank", "none", "0", measured("RR", "00000/1"), [0]),
    slipped(
        number(
            "002", "2. Average precision", "first, third and fifth", "0.7575",
            measured("AP", EVERY_OTHER), [(1 + 2 / 3 + 3 / 5) / 3],
        ),
        "2.2667 / 3 is 0.7556",
    ),
    number("002", "2. Average precision", "the first three", "1", measured("AP", "11100"), [1]),
    number(
        "002", "1. Cumulative gain", "CG at 1 to 5", "3 5 8 8 9",
        measured("CG", GRADED, at=IN_FIVE), cumulated(GRADED_GAINS),
    ),
    number("002", "1. Cumulative gain", "CG at 2, the first two swapped", "5", measured("CG@2", "23301"), [2 + 3]),
    number(
        "002", "2. Discounted cumulative gain", "divisors",
        "1 1.5849625007211563 2 2.321928094887362 2.584962500721156",
        discounted(None, IN_FIVE), [one_more(rank) for rank in IN_FIVE],
    ),
    number(
        "002", "2. Discounted cumulative gain", "percent kept at 1, 2, 3", "100 63 50",
        discounted(None, (1, 2, 3)).inverse().times(100), [100, 100 / log2(3), 50],
    ),
    number(
        "002", "2. Discounted cumulative gain", "terms", "3 1.2618 1.5 0 0.3868",
        measured("DCG", GRADED, at=IN_FIVE).steps(), [3, 2 / log2(3), 3 / 2, 0, 1 / log2(6)],
    ),
    slipped(
        number(
            "002", "2. Discounted cumulative gain", "DCG at 1 to 5", "3 4.2618 5.7618 5.7618 6.1486",
            measured("DCG", GRADED, at=IN_FIVE), dcg(GRADED_GAINS, one_more),
        ),
        ADDED_UP, 5,
    ),
    number(
        "002", "3. Normalized discounted cumulative gain", "terms of the ideal", "3 1.8927 1 0.4306 0",
        measured("IdealDCG", GRADED, at=IN_FIVE).steps(), [3, 3 / log2(3), 2 / 2, 1 / log2(5), 0],
    ),
    slipped(
        number(
            "002", "3. Normalized discounted cumulative gain", "ideal DCG at 1 to 5", "3 4.8927 5.8927 6.3233 6.3233",
            measured("IdealDCG", GRADED, at=IN_FIVE), dcg(GRADED_IDEAL, one_more),
        ),
        ADDED_UP, 4, 5,
    ),
    number(
        "002", "3. Normalized discounted cumulative gain", "nDCG at 1 to 5", "1 0.8710 0.9777 0.9112 0.9723",
        measured("nDCG", GRADED, at=IN_FIVE), divided(dcg(GRADED_GAINS, one_more), dcg(GRADED_IDEAL, one_more)),
    ),
]  # fmt: skip

COURSE = [
    number(
        "003", "nDCG: example", "ideal DCG of grades 3 and 1", "3.63", measured("IdealDCG", "31"), [3 + 1 / log2(3)]
    ),
]  # fmt: skip

SECOND_ROW = [50, 50, 50, 40, 30, 30, 30, 20, 20, 20, 10]  # of a query whose ranking 004 does not give
CURVES = [
    number(
        "004", "Example 1", "recall at each relevant document, percent", "10 20 30 40 50",
        measured("R", TEN, at=FOUND_TEN).times(100), [10, 20, 30, 40, 50],
    ),
    number(
        "004", "Example 1", "precision there", "100 66.6 50 40 33.3",
        measured("P", TEN, at=FOUND_TEN).times(100), [100 * value for value in PRECISIONS],
    ),
    number(
        "004", "Example 2", "recall at each relevant document, percent", "33.3 66.6 100",
        measured("R", THREE, at=FOUND_THREE).times(100), [100 / 3, 200 / 3, 100],
    ),
    number(
        "004", "Example 2", "precision there", "33.3 25 20",
        measured("P", THREE, at=FOUND_THREE).times(100), [100 / 3, 25, 20],
    ),
    number(
        "004", "Interpolated precision", "at recall 0, 20, 40 and 70 percent", "33.3 33.3 25 20",
        measured("IPrec", THREE, at=(0, 0.2, 0.4, 0.7)).times(100), [100 / 3, 100 / 3, 25, 20],
    ),
    number(
        "004", "Interpolated recall-precision curve", "at the eleven levels",
        "33.3 33.3 33.3 33.3 25 25 25 20 20 20 20",
        measured("IPrec", THREE, at=LEVELS).times(100), [100 * value for value in INTERPOLATED],
    ),
    slipped(
        number(
            "004", "Average recall-precision curve", "mean with 50 50 50 40 30 30 30 20 20 20 10",
            "41.65 41.65 41.65 36.65 27.5 27.5 27.5 20 20 20 15",
            Ours(
                "(IPrec@k + given) / 2",
                lambda: halves([100 * v for v in measured("IPrec", THREE, at=LEVELS).values()], SECOND_ROW),
            ),
            halves([100 * value for value in INTERPOLATED], SECOND_ROW),
        ),
        "33.3 was cut before the mean was taken", 1, 2, 3, 4,
    ),
]  # fmt: skip

CUT_Q1, CUT_REORDERED = "10100100/11", "00100100/1"  # the first eight
SUMMARIES = [
    number("004", "Precision@K", "precision at 5 and 15", "0.4 0.33", measured("P", FIVE, at=(5, 15)), [2 / 5, 5 / 15]),
    number("004", "R-Precision", "first query", "0.4", measured("Rprec", FIVE), [2 / 5]),
    number("004", "R-Precision", "second query, percent", "33.3", measured("Rprec", REORDERED).times(100), [100 / 3]),
    number(
        "004", "R-Precision", "second query: precision at each relevant document", "33.3 33.3 30",
        measured("P", REORDERED, at=FOUND_REORDERED).times(100), [100 / 3, 100 / 3, 30],
    ),
    slipped(
        number(
            "004", "MAP", "fifteen documents each", "0.449", measured("MAP", FIVE, REORDERED),
            [(sum(PRECISIONS) / 5 + (1 / 3 + 1 / 3 + 3 / 10) / 3) / 2],
        ),
        ADDED_UP,
    ),
    slipped(
        number(
            "004", "MAP", "eight documents each", "0.326", measured("MAP", CUT_Q1, CUT_REORDERED),
            [((1 + 2 / 3 + 1 / 2) / 5 + (1 / 3 + 1 / 3) / 3) / 2],
        ),
        ADDED_UP,
    ),
    number("004", "MAP", "the same by a cutoff", "", measured("MAP@8", FIVE, REORDERED), [(13 / 30 + 2 / 9) / 2]),
    number(
        "004", "MRR", "first at 1, 6 and 3, counted before rank 5", "4/9",
        measured("MRR@4", FIVE, LATE, REORDERED), [(1 + 0 + 1 / 3) / 3],
    ),
    number("004", "MRR", "the same, counted down to rank 5", "4/9", measured("MRR@5", FIVE, LATE, REORDERED), [4 / 9]),
]  # fmt: skip

# What the notes print as gains of the two answers; the first list of answers gives something else.
GAINS_Q1, GAINS_Q2 = [1, 0, 1, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 3], [0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3]
LISTED_GAINS_Q1 = [1, 0, 1, 3, 0, 3, 0, 0, 0, 2, 0, 0, 0, 0, 3]
IDEAL_Q1, IDEAL_Q2 = [3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0], [3, 2, 1, *[0] * 12]
MEANT_Q1, MEANT_Q2 = by_hand(Q1, GRADES_Q1), by_hand(Q2, GRADES_Q2)
WRITTEN_Q1, WRITTEN_Q2 = by_hand(LISTED_Q1, GRADES_Q1), by_hand(LISTED_Q2, GRADES_Q2)
CG_MEANT = halves(cumulated(GAINS_Q1), cumulated(GAINS_Q2))
ICG = halves(cumulated(IDEAL_Q1), cumulated(IDEAL_Q2))
DCG_MEANT = halves(dcg(GAINS_Q1, kept_whole_first), dcg(GAINS_Q2, kept_whole_first))
IDCG = halves(dcg(IDEAL_Q1, kept_whole_first), dcg(IDEAL_Q2, kept_whole_first))


def vector(place: str, what: str, printed: str, ours: Ours, exact: Sequence[float]) -> Number:
    return number("004", place, what, printed, ours, exact)


LITERAL = [  # of the answers as they are listed
    slipped(
        vector(
            "DCG 2", "q1: gains of the list", "1 0 1 0 0 3 0 0 0 2 0 0 0 0 3",
            measured("CG", WRITTEN_Q1, at=RANKS).steps(), LISTED_GAINS_Q1,
        ),
        LIST_OF_Q1, 4,
    ),
    slipped(
        vector(
            "DCG 3", "q1: CG of the list, 13 at rank 15", "1 1 2 2 2 5 5 5 5 7 7 7 7 7 10",
            measured("CG", WRITTEN_Q1, at=RANKS), cumulated(LISTED_GAINS_Q1),
        ),
        LIST_OF_Q1, *range(4, 16),
    ),
    slipped(
        vector(
            "DCG 5", "q1: DCG of the list", "1 1 1.6 1.6 1.6 2.8 2.8 2.8 2.8 3.4 3.4 3.4 3.4 3.4 4.2",
            measured("DCG(base=2)", WRITTEN_Q1, at=RANKS), dcg(LISTED_GAINS_Q1, kept_whole_first),
        ),
        LIST_OF_Q1, *range(4, 16),
    ),
    vector(
        "DCG 2", "q2: gains of the list", "0 0 2 0 0 0 0 1 0 0 0 0 0 0 3",
        measured("CG", WRITTEN_Q2, at=RANKS).steps(), GAINS_Q2,
    ),
]  # fmt: skip

GAINS = [  # of the gains as they are printed
    vector(
        "DCG 2", "q1: gains", "1 0 1 0 0 3 0 0 0 2 0 0 0 0 3", measured("CG", MEANT_Q1, at=RANKS).steps(), GAINS_Q1
    ),
    vector(
        "DCG 3", "q1: CG", "1 1 2 2 2 5 5 5 5 7 7 7 7 7 10", measured("CG", MEANT_Q1, at=RANKS), cumulated(GAINS_Q1)
    ),
    vector("DCG 3", "q2: CG", "0 0 2 2 2 2 2 3 3 3 3 3 3 3 6", measured("CG", MEANT_Q2, at=RANKS), cumulated(GAINS_Q2)),
    vector(
        "DCG 4", "divisors at ranks 1, 2 and 3", "",
        discounted(2, (1, 2, 3)), [kept_whole_first(rank) for rank in (1, 2, 3)],
    ),
    vector(
        "DCG 5", "q1: DCG", "1 1 1.6 1.6 1.6 2.8 2.8 2.8 2.8 3.4 3.4 3.4 3.4 3.4 4.2",
        measured("DCG(base=2)", MEANT_Q1, at=RANKS), dcg(GAINS_Q1, kept_whole_first),
    ),
    vector(
        "DCG 5", "q2: DCG", "0 0 1.3 1.3 1.3 1.3 1.3 1.6 1.6 1.6 1.6 1.6 1.6 1.6 2.4",
        measured("DCG(base=2)", MEANT_Q2, at=RANKS), dcg(GAINS_Q2, kept_whole_first),
    ),
    vector(
        "CG & DCG curves 1", "mean CG", "0.5 0.5 2.0 2.0 2.0 3.5 3.5 4.0 4.0 5.0 5.0 5.0 5.0 5.0 8.0",
        measured("CG", MEANT_Q1, MEANT_Q2, at=RANKS), CG_MEANT,
    ),
    slipped(
        vector(
            "CG & DCG curves 1", "mean DCG", "0.5 0.5 1.5 1.5 1.5 2.1 2.1 2.2 2.2 2.5 2.5 2.5 2.5 2.5 3.3",
            measured("DCG(base=2)", MEANT_Q1, MEANT_Q2, at=RANKS), DCG_MEANT,
        ),
        "means of rounded numbers: 1.45 and 2.03 are 1.4 and 2.0", 3, 4, 5, 6, 7,
    ),
    vector(
        "Ideal G & CG & DCG 1", "q1: ideal gains", "3 3 3 2 2 2 1 1 1 1 0 0 0 0 0",
        measured("IdealCG", MEANT_Q1, at=RANKS).steps(), IDEAL_Q1,
    ),
    vector(
        "Ideal G & CG & DCG 1", "q2: ideal gains", "3 2 1 0 0 0 0 0 0 0 0 0 0 0 0",
        measured("IdealCG", MEANT_Q2, at=RANKS).steps(), IDEAL_Q2,
    ),
    vector(
        "Ideal G & CG & DCG 1", "q1: ideal CG", "3 6 9 11 13 15 16 17 18 19 19 19 19 19 19",
        measured("IdealCG", MEANT_Q1, at=RANKS), cumulated(IDEAL_Q1),
    ),
    vector(
        "Ideal G & CG & DCG 1", "q2: ideal CG", "3 5 6 6 6 6 6 6 6 6 6 6 6 6 6",
        measured("IdealCG", MEANT_Q2, at=RANKS), cumulated(IDEAL_Q2),
    ),
    vector(
        "Ideal G & CG & DCG 2", "q1: ideal DCG",
        "3.0 6.0 7.9 8.9 9.8 10.5 10.9 11.2 11.5 11.8 11.8 11.8 11.8 11.8 11.8",
        measured("IdealDCG(base=2)", MEANT_Q1, at=RANKS), dcg(IDEAL_Q1, kept_whole_first),
    ),
    vector(
        "Ideal G & CG & DCG 2", "q2: ideal DCG", "3.0 5.0 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6 5.6",
        measured("IdealDCG(base=2)", MEANT_Q2, at=RANKS), dcg(IDEAL_Q2, kept_whole_first),
    ),
    vector(
        "Ideal G & CG & DCG 2", "mean ideal CG",
        "3.0 5.5 7.5 8.5 9.5 10.5 11.0 11.5 12.0 12.5 12.5 12.5 12.5 12.5 12.5",
        measured("IdealCG", MEANT_Q1, MEANT_Q2, at=RANKS), ICG,
    ),
    vector(
        "Ideal G & CG & DCG 2", "mean ideal DCG", "3.0 5.5 6.8 7.3 7.7 8.1 8.3 8.4 8.6 8.7 8.7 8.7 8.7 8.7 8.7",
        measured("IdealDCG(base=2)", MEANT_Q1, MEANT_Q2, at=RANKS), IDCG,
    ),
    vector(
        "Normalized CG & DCG 1", "NCG", "0.17 0.09 0.27 0.24 0.21 0.33 0.32 0.35 0.33 0.40 0.40 0.40 0.40 0.40 0.64",
        measured("NCG(agg='ratio')", MEANT_Q1, MEANT_Q2, at=RANKS), divided(CG_MEANT, ICG),
    ),
    slipped(
        vector(
            "Normalized CG & DCG 1", "NDCG",
            "0.17 0.09 0.21 0.20 0.19 0.25 0.25 0.26 0.26 0.29 0.29 0.29 0.29 0.29 0.38",
            measured("nDCG(base=2, agg='ratio')", MEANT_Q1, MEANT_Q2, at=RANKS), divided(DCG_MEANT, IDCG),
        ),
        "the ratio of rounded numbers, 3.3 / 8.7; it is 0.374", 15,
    ),
    vector(
        "Normalized CG & DCG 2", "area under the curve of NCG", "",
        measured("AreaNCG(agg='ratio')@15", MEANT_Q1, MEANT_Q2), [sum(divided(CG_MEANT, ICG)) / 15],
    ),
    vector(
        "Normalized CG & DCG 2", "area under the curve of NDCG", "",
        measured("AreaNDCG(base=2, agg='ratio')@15", MEANT_Q1, MEANT_Q2), [sum(divided(DCG_MEANT, IDCG)) / 15],
    ),
]  # fmt: skip

NUMBERS = [*MEANS, *CORRELATION, *EXERCISE, *LISTS, *POST, *COURSE, *CURVES, *SUMMARIES, *LITERAL, *GAINS]
