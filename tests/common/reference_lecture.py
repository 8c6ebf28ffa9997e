"""Slow references of the lectures' measures: see reference.py."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

from reference import CG, Gain, Topic, count_relevant, ideal_gains, nDCG, over, relevant_ranks


def PLast(topic: Topic, rel: float, cutoff: int | None) -> float:
    ranks = relevant_ranks(topic, rel, cutoff)
    return len(ranks) / ranks[-1] if ranks else 0.0


def RelativeRecall(topic: Topic, expected: int | None, rel: float, cutoff: int | None) -> float:
    return over(len(relevant_ranks(topic, rel, cutoff)), count_relevant(topic, rel) if expected is None else expected)


def RecallEffort(topic: Topic, expected: int | None, over: str, rel: float) -> float:
    number = count_relevant(topic, rel) if expected is None else expected
    if over == "retrieved":
        return number / topic.length if topic.length else 0.0
    ranks = relevant_ranks(topic, rel)
    return number / ranks[number - 1] if 0 < number <= len(ranks) else 0.0


def ESL(topic: Topic, wanted: int, counting: str, unfound: float, rel: float) -> float:
    """Level by level, as Cooper tells it."""
    scores = topic.scores or [-float(rank) for rank in range(len(topic.ranked))]
    nonrelevant = found = 0
    for _, level in groupby(zip(scores, topic.ranked, strict=True), key=lambda pair: pair[0]):
        hits = [grade is not None and grade >= rel for _, grade in level]
        relevant, others = sum(hits), len(hits) - sum(hits)
        if found + relevant >= wanted:
            others_read = nonrelevant + Fraction(others * (wanted - found), relevant + 1)
            return float(others_read + (wanted if counting == "all" else 0))
        found += relevant
        nonrelevant += others
    return unfound


def weights(weight: str, cutoff: int) -> list[int]:
    return [1 if weight == "equal" else cutoff + 1 - rank for rank in range(1, cutoff + 1)]


def Satisfaction(topic: Topic, rel: float, weight: str, of: str, cutoff: int | None) -> float:
    values = weights(weight, topic.length if cutoff is None else cutoff)
    found = sum(values[rank - 1] for rank in relevant_ranks(topic, rel, cutoff))
    return over(found, sum(values[: topic.length if of == "returned" else count_relevant(topic, rel)]))


def Frustration(topic: Topic, rel: float, weight: str, of: str, cutoff: int | None) -> float:
    if not topic.ranked:
        return 1.0
    values = weights(weight, topic.length if cutoff is None else cutoff)
    relevant = relevant_ranks(topic, rel, cutoff)
    shown = values[: topic.length]
    bad = sum(value for rank, value in enumerate(shown, start=1) if rank not in relevant)
    return over(bad, sum(shown if of == "returned" else values))


def IdealCG(topic: Topic, gain: Gain, cutoff: int | None) -> float:
    return sum(ideal_gains(topic, gain, "judged")[:cutoff])


def NCG(topic: Topic, gain: Gain, ideal: str, cutoff: int | None) -> float:
    return over(CG(topic, gain, cutoff), sum(ideal_gains(topic, gain, ideal)[:cutoff]))


def AreaNCG(topic: Topic, gain: Gain, cutoff: int) -> float:
    return sum(NCG(topic, gain, "judged", rank) for rank in range(1, cutoff + 1)) / cutoff


def AreaNDCG(topic: Topic, gain: Gain, base: float | None, cutoff: int) -> float:
    return sum(nDCG(topic, gain, base, "judged", rank) for rank in range(1, cutoff + 1)) / cutoff
