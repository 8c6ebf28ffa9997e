"""Slow references of trec_eval's own measures: see reference.py."""

from __future__ import annotations

import math

from reference import AP, DCG, Gain, Topic, count_relevant, discounted, nDCG, over, relevant_ranks, worth


def infAP(topic: Topic, rel: float) -> float:
    total = 0.0
    relevant = nonrelevant = pooled = 0
    for rank, grade in enumerate(topic.ranked, start=1):
        if grade is None:
            continue
        if grade >= max(rel, 0):
            if rank == 1:
                total += 1
            else:
                share = (relevant + 1e-5) / (relevant + nonrelevant + 2e-5)
                total += 1 / rank + (rank - 1) / rank * (pooled / (rank - 1)) * share
            relevant += 1
        elif grade >= 0:
            nonrelevant += 1
        pooled += 1
    return over(total, count_relevant(topic, rel))


def RprecMult(topic: Topic, rel: float, multiple: float) -> float:
    depth = math.ceil(multiple * count_relevant(topic, rel) - 1e-12)
    return over(len(relevant_ranks(topic, rel, depth)), depth)


def RelP(topic: Topic, rel: float, cutoff: int) -> float:
    return over(len(relevant_ranks(topic, rel, cutoff)), min(cutoff, count_relevant(topic, rel)))


def BinG(topic: Topic, rel: float) -> float:
    total = 0.0
    for above, rank in enumerate(relevant_ranks(topic, rel)):
        total += 1 / math.log2(2 + rank - 1 - above)
    return over(total, count_relevant(topic, rel))


def ideal_gains(topic: Topic, gain: Gain) -> list[float]:
    return sorted((value for grade in topic.judged if (value := worth(grade, gain)) > 0), reverse=True)


def IdealDCG(topic: Topic, gain: Gain, base: float | None, cutoff: int | None) -> float:
    return discounted(ideal_gains(topic, gain), base, cutoff)


def G(topic: Topic, gain: Gain) -> float:
    ideal = ideal_gains(topic, gain)
    total = cost = gained = 0.0
    for index, grade in enumerate(topic.ranked):
        cost += max(1.0, ideal[index]) if index < len(ideal) else 1.0
        gained += worth(grade, gain)
        total += worth(grade, gain) / math.log2(2 + cost - gained)
    return over(total, sum(ideal))


def nDCGRel(topic: Topic, gain: Gain) -> float:
    ideal = ideal_gains(topic, gain)
    values = [
        nDCG(topic, gain, None, "judged", rank)
        for rank, grade in enumerate(topic.ranked, start=1)
        if worth(grade, gain) > 0
    ]
    values += [nDCG(topic, gain, None, "judged", None)] * (len(ideal) - len(values))
    return over(sum(values), len(ideal))


def RnDCG(topic: Topic, gain: Gain) -> float:
    ideal = ideal_gains(topic, gain)
    ranks: list[int | None] = [i for i in range(1, len(ideal) + 1) if i == len(ideal) or ideal[i] < ideal[i - 1]]
    if ideal and topic.length >= len(ideal) + 2:
        ranks.append(None)
    values = [over(DCG(topic, gain, None, rank), discounted(ideal, None, rank)) for rank in ranks]
    return over(sum(values), len(ranks))


def Yaap(topic: Topic, rel: float) -> float:
    relevant = count_relevant(topic, rel)
    precisions = AP(topic, rel, "all", None) * relevant
    return math.log((1 + precisions) / (1 + relevant - precisions))


def GradedRBP(topic: Topic, p: float, max_grade: float | None, cutoff: int | None) -> float:
    highest = topic.max_grade if max_grade is None else max_grade
    total = 0.0
    for index, grade in enumerate(topic.ranked[:cutoff]):
        if grade is not None and grade > 0:
            total += min(grade, highest) / max(highest, 1) * p**index
    return (1 - p) * total


def RBPResidual(topic: Topic, p: float, cutoff: int | None) -> float:
    judged = [index for index, grade in enumerate(topic.ranked[:cutoff]) if grade is not None and grade >= 0]
    return 1 - (1 - p) * sum(p**index for index in judged)


def Unjudged(topic: Topic, cutoff: int) -> float:
    judged = sum(1 for grade in topic.ranked[:cutoff] if grade is not None and grade >= 0)
    return (min(topic.length, cutoff) - judged) / cutoff


def NumNonrelRet(topic: Topic, rel: float) -> float:
    return sum(1 for grade in topic.ranked if grade is not None and 0 <= grade < rel)


def SetRelP(topic: Topic, rel: float) -> float:
    return over(len(relevant_ranks(topic, rel)), min(topic.length, count_relevant(topic, rel)))


def SetAP(topic: Topic, rel: float) -> float:
    found = len(relevant_ranks(topic, rel))
    return over(found, topic.length) * over(found, count_relevant(topic, rel))


def Utility(topic: Topic, rel: float, a: float, b: float, c: float, d: float, documents: float) -> float:
    found, relevant = len(relevant_ranks(topic, rel)), count_relevant(topic, rel)
    neither = documents - topic.length - (relevant - found)
    return a * found + b * (topic.length - found) + c * (relevant - found) + d * neither


def ScaledUtility(topic: Topic, rel: float, a: float, b: float, least: float) -> float:
    found, relevant = len(relevant_ranks(topic, rel)), count_relevant(topic, rel)
    if relevant == 0:
        return 0.0
    share = (a * found + b * (topic.length - found)) / (a * relevant)
    return 0.0 if share < least else (share - least) / (1 - least)
