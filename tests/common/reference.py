"""Every measure once more, slowly and obviously, from the formulas: plain loops over one topic's ranking.

Nothing here comes from the package, so that agreement means something. A function is found by the measure's name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

Gain = str | Mapping[float, float]


@dataclass
class Topic:
    """Grades in rank order with None for an unjudged document, and the grades of all judged documents.

    Scores stand in rank order too, if they are needed to tell which documents are tied.
    """

    ranked: list[float | None]
    judged: list[float]
    max_grade: float
    scores: list[float] = field(default_factory=list)
    length_was_read: bool = False

    @property
    def length(self) -> int:
        """How many documents were retrieved. A measure that reads it looks at more than what stands above."""
        self.length_was_read = True
        return len(self.ranked)


@cache
def of(name: str) -> Callable[..., float]:
    """The reference of the measure of that name, from here or from a module beside this one for its family."""
    modules = [import_module(path.stem) for path in sorted(Path(__file__).parent.glob("reference*.py"))]
    found = next((vars(module)[name] for module in modules if name in vars(module)), None)
    assert callable(found), f"{name} has no reference: write one in tests/common/reference.py, or in a module beside it"
    function: Callable[..., float] = found
    return function


def evaluate(name: str, topic: Topic, parameters: Mapping[str, Any]) -> float:
    """The value of a measure with these parameters."""
    return of(name)(topic, **{key: value for key, value in parameters.items() if key not in ("judged_only", "agg")})


def relevant_ranks(topic: Topic, rel: float, cutoff: int | None = None) -> list[int]:
    ranks = []
    for rank, grade in enumerate(topic.ranked, start=1):
        if grade is not None and grade >= rel and (cutoff is None or rank <= cutoff):
            ranks.append(rank)
    return ranks


def count_relevant(topic: Topic, rel: float) -> int:
    return sum(1 for grade in topic.judged if grade >= rel)


def over(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator != 0 else 0.0


def weighted_harmonic(precision: float, recall: float, beta: float) -> float:
    if precision == 0 or recall == 0:
        return 0.0
    weight_of_recall = beta**2 / (1 + beta**2)
    return 1 / (weight_of_recall / recall + (1 - weight_of_recall) / precision)


def P(topic: Topic, rel: float, cutoff: int) -> float:
    return len(relevant_ranks(topic, rel, cutoff)) / cutoff


def R(topic: Topic, rel: float, cutoff: int) -> float:
    return over(len(relevant_ranks(topic, rel, cutoff)), count_relevant(topic, rel))


def F(topic: Topic, rel: float, beta: float, cutoff: int) -> float:
    return weighted_harmonic(P(topic, rel, cutoff), R(topic, rel, cutoff), beta)


def E(topic: Topic, rel: float, b: float, cutoff: int) -> float:
    return 1 - weighted_harmonic(P(topic, rel, cutoff), R(topic, rel, cutoff), b)


def Success(topic: Topic, rel: float, cutoff: int) -> float:
    return 1.0 if relevant_ranks(topic, rel, cutoff) else 0.0


def AP(topic: Topic, rel: float, over: str, cutoff: int | None) -> float:
    total = 0.0
    for found, rank in enumerate(relevant_ranks(topic, rel, cutoff), start=1):
        total += found / rank
    number = count_relevant(topic, rel) if over == "all" else len(relevant_ranks(topic, rel, cutoff))
    return total / number if number else 0.0


def RR(topic: Topic, rel: float, cutoff: int | None) -> float:
    ranks = relevant_ranks(topic, rel, cutoff)
    return 1 / ranks[0] if ranks else 0.0


def Rprec(topic: Topic, rel: float) -> float:
    relevant = count_relevant(topic, rel)
    return over(len(relevant_ranks(topic, rel, relevant)), relevant)


def Bpref(topic: Topic, rel: float) -> float:
    relevant = count_relevant(topic, rel)
    nonrelevant = sum(1 for grade in topic.judged if 0 <= grade < rel)
    above, total = 0, 0.0
    for grade in topic.ranked:
        if grade is None or grade < 0:
            continue
        if grade < rel:
            above += 1
        else:
            total += 1 if above == 0 else 1 - min(above, relevant) / min(nonrelevant, relevant)
    return over(total, relevant)


def IPrec(topic: Topic, rel: float, recall: float) -> float:
    relevant = count_relevant(topic, rel)
    best = 0.0
    for found, rank in enumerate(relevant_ranks(topic, rel), start=1):
        if found / relevant >= recall - 1e-12:
            best = max(best, found / rank)
    return best


def InterpolatedAP(topic: Topic, rel: float, points: int) -> float:
    levels = {11: range(11), 10: range(1, 11), 9: range(1, 10)}[points]
    return sum(IPrec(topic, rel, level / 10) for level in levels) / points


def worth(grade: float | None, gain: Gain) -> float:
    if grade is None:
        return 0.0
    if isinstance(gain, str):
        return 0.0 if grade < 0 else grade if gain == "linear" else 2**grade - 1
    table = dict(gain)
    return table[grade] if grade in table else max(grade, 0)


def discounted(gains: list[float], base: float | None, cutoff: int | None) -> float:
    total = 0.0
    for rank, gain in enumerate(gains[:cutoff], start=1):
        total += gain / (math.log2(rank + 1) if base is None else max(1.0, math.log(rank, base)))
    return total


def CG(topic: Topic, gain: Gain, cutoff: int | None) -> float:
    return sum(worth(grade, gain) for grade in topic.ranked[:cutoff])


def DCG(topic: Topic, gain: Gain, base: float | None, cutoff: int | None) -> float:
    return discounted([worth(grade, gain) for grade in topic.ranked], base, cutoff)


def ideal_gains(topic: Topic, gain: Gain, ideal: str) -> list[float]:
    grades = [*topic.judged] if ideal == "judged" else topic.ranked
    return sorted((max(worth(grade, gain), 0.0) for grade in grades), reverse=True)


def nDCG(topic: Topic, gain: Gain, base: float | None, ideal: str, cutoff: int | None) -> float:
    return over(DCG(topic, gain, base, cutoff), discounted(ideal_gains(topic, gain, ideal), base, cutoff))


def SetP(topic: Topic, rel: float) -> float:
    return over(len(relevant_ranks(topic, rel)), topic.length)


def SetR(topic: Topic, rel: float) -> float:
    return over(len(relevant_ranks(topic, rel)), count_relevant(topic, rel))


def SetF(topic: Topic, rel: float, beta: float) -> float:
    return weighted_harmonic(SetP(topic, rel), SetR(topic, rel), beta)


def ERR(topic: Topic, max_grade: float | None, cutoff: int | None) -> float:
    highest = topic.max_grade if max_grade is None else max_grade
    total, reached = 0.0, 1.0
    for rank, grade in enumerate(topic.ranked[:cutoff], start=1):
        satisfied = 0.0 if grade is None else (2 ** min(max(grade, 0), highest) - 1) / 2**highest
        total += reached * satisfied / rank
        reached *= 1 - satisfied
    return total


def RBP(topic: Topic, p: float, rel: float, cutoff: int | None) -> float:
    return sum((1 - p) * p ** (rank - 1) for rank in relevant_ranks(topic, rel, cutoff))


def NumQ(topic: Topic) -> float:
    return 1


def NumRet(topic: Topic) -> float:
    return topic.length


def NumRel(topic: Topic, rel: float) -> float:
    return count_relevant(topic, rel)


def NumRelRet(topic: Topic, rel: float, cutoff: int | None) -> float:
    return len(relevant_ranks(topic, rel, cutoff))


def Judged(topic: Topic, cutoff: int | None) -> float:
    judged = sum(1 for grade in topic.ranked[:cutoff] if grade is not None and grade >= 0)
    return over(judged, topic.length if cutoff is None else min(topic.length, cutoff))
