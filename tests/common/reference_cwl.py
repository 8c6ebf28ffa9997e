"""Slow references of the user models, rank by rank from the chance to stop there: see reference.py.

The package takes expected total utility as utility times depth; here it comes from where users stop.
"""
# ruff: noqa: N803  T is what the papers call it

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate

from reference import Topic

Grades = tuple[float, float | None]  # those that are worth 0 and 1
GoesOn = Callable[[int, float, float], float]  # from a rank, given the gain there and the gain so far


def share(grade: float, lowest: float, highest: float) -> float:
    if grade <= lowest or highest <= lowest:
        return 0.0
    return 1.0 if grade >= highest else (grade - lowest) / (highest - lowest)


def gains(topic: Topic, grades: Grades, cutoff: int, unjudged: float) -> list[float]:
    lowest, highest = grades[0], topic.max_grade if grades[1] is None else grades[1]
    listed = [
        unjudged if grade is None or grade < 0 else share(grade, lowest, highest) for grade in topic.ranked[:cutoff]
    ]
    return listed + [unjudged] * (cutoff - len(listed))


def expectations(gain: list[float], goes_on: GoesOn) -> dict[str, float]:
    reached = 1.0
    seen: list[float] = []
    total_utility = total_cost = so_far = 0.0
    for rank, value in enumerate(gain, start=1):
        seen.append(reached)
        so_far += value
        on = goes_on(rank, value, so_far) if rank < len(gain) and reached > 0 else 0.0
        total_utility += reached * (1 - on) * so_far
        total_cost += reached * (1 - on) * rank
        reached *= on
    all_seen = math.fsum(seen)
    attention = [chance / all_seen for chance in seen]
    utility = math.fsum(weight * value for weight, value in zip(attention, gain, strict=True))
    cost = math.fsum(attention)
    return {"EU": utility, "ETU": total_utility, "EC": cost, "ETC": total_cost, "ED": 1 / attention[0]}


def of_model(topic: Topic, grades: Grades, of: str, cutoff: int, goes_on: GoesOn) -> float:
    worst = expectations(gains(topic, grades, cutoff, 0.0), goes_on)
    if of == "residual":
        return expectations(gains(topic, grades, cutoff, 1.0), goes_on)["EU"] - worst["EU"]
    return worst[of]


def P_CWL(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: 1.0)


def RR_CWL(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: 0.0 if gain > 0 else 1.0)


def AP_CWL(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    pooled = gains(Topic([*topic.judged], [], topic.max_grade), (min_grade, max_grade), len(topic.judged), 0.0)
    found = gains(topic, (min_grade, max_grade), cutoff, 0.0)
    elsewhere = math.fsum(pooled) - math.fsum(found)

    def expected(gain: list[float]) -> dict[str, float]:
        everything = math.fsum(gain) + elsewhere
        stops = math.fsum(value / rank for rank, value in enumerate(gain, start=1))
        so_far = list(accumulate(gain))
        precision = [value / rank * so_far[rank - 1] for rank, value in enumerate(gain, start=1)]
        depth = everything / stops if stops > 0 else cutoff
        total = math.fsum(precision) / stops if stops > 0 else 0.0
        return {"EU": total / depth, "ETU": total, "EC": 1.0, "ETC": depth, "ED": depth}

    if of == "residual":
        return expected(gains(topic, (min_grade, max_grade), cutoff, 1.0))["EU"] - expected(found)["EU"]
    return expected(found)[of]


def RBP_CWL(topic: Topic, p: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: p)


def SDCG(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(
        topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: math.log(rank + 1) / math.log(rank + 2)
    )


def NERR8(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: 1 - gain)


def NERR9(topic: Topic, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(
        topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: rank / (rank + 1) * (1 - gain)
    )


def NERR10(topic: Topic, p: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: p * (1 - gain))


def NERR11(topic: Topic, T: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(
        topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: (1 - 1 / (rank + 2 * T)) ** 2 * (1 - gain)
    )


def INSQ(topic: Topic, T: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: (1 - 1 / (rank + 2 * T)) ** 2)


def INST(topic: Topic, T: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    return of_model(
        topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: (1 - 1 / (rank + T + (T - so_far))) ** 2
    )


def BPM(topic: Topic, T: float, min_grade: float, max_grade: float | None, of: str, cutoff: int) -> float:
    """Who has T but for the last bit stops: a third, one and two thirds need not be 2 in binary."""
    return of_model(topic, (min_grade, max_grade), of, cutoff, lambda rank, gain, so_far: float(round(so_far, 9) < T))
