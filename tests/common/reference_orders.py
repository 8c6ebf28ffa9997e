"""Slow references of the measures of order: see reference.py."""

from __future__ import annotations

from reference import Topic


def Compat(topic: Topic, p: float, normalize: bool) -> float:
    """Overlap set by set; documents are numbered, those retrieved first."""
    grades = [-1.0 if grade is None else grade for grade in topic.ranked]
    missed = list(topic.judged)
    for grade in topic.ranked:
        if grade is not None:
            missed.remove(grade)
    grades += missed
    run = list(range(len(topic.ranked)))
    ideal = sorted((number for number, grade in enumerate(grades) if grade > 0), key=lambda number: -grades[number])
    depth = max(topic.length, len(ideal))
    best = overlap(ideal, ideal, p, depth) if normalize else sum(p**i for i in range(depth))
    return overlap(run, ideal, p, depth) / best if best > 0 else 0.0


def overlap(one: list[int], other: list[int], p: float, depth: int) -> float:
    return sum(p ** (i - 1) * len(set(one[:i]) & set(other[:i])) / i for i in range(1, depth + 1))


def Accuracy(topic: Topic, rel: float, cutoff: int | None) -> float:
    """Pair by pair."""
    shown = topic.ranked[: topic.length if cutoff is None else min(cutoff, topic.length)]
    relevant = [grade is not None and grade >= rel for grade in shown]
    pairs = [(i, j) for i, one in enumerate(relevant) for j, other in enumerate(relevant) if one and not other]
    if not any(relevant):
        return 0.0
    return sum(i < j for i, j in pairs) / len(pairs) if pairs else 1.0
