"""What documents contribute to many scores at once: as `explain` has it, for whole runs instead of one topic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cranfield.evaluation.experiment import Experiment
from cranfield.judged import Floats, Judged
from cranfield.measures import Measure
from cranfield.tables import Run

DECIMALS = 10  # beyond them stands what taking one score from another leaves


def contributions(
    experiment: Experiment, run: Run, measures: Sequence[Measure], topics: Sequence[str], depth: int
) -> list[Floats | None]:
    """For each measure what the first documents of every topic add to its score, by topic and rank.

    None stands for a measure that is no sum over documents, or that needs more than grades. Ranks below the end of a
    list add 0.

    >>> from cranfield.measures import AP, F
    >>> experiment = Experiment({"7": {"d1": 2, "d4": 1}}, {"7": {"d1": 9.0, "d2": 8.0, "d4": 7.0}})
    >>> adds, none = contributions(experiment, experiment.tables()[0], [AP, F @ 3], ["7"], 3)
    >>> adds.round(4), none
    (array([[0.5   , 0.    , 0.3333]]), None)
    """
    judged = experiment.judged(run)
    number = {topic: t for t, topic in enumerate(judged.topics)}
    seen = judged.select(np.array([number[topic] for topic in topics], dtype=np.int64))
    cuts = [seen.cut(rank) for rank in range(1, depth + 1)]
    return [
        _by_cuts(measure, cuts) if measure.traits.cumulative else _by_topic(measure, seen, depth)
        for measure in measures
    ]


def _by_cuts(measure: Measure, cuts: Sequence[Judged]) -> Floats:
    """By what the score grows from each rank to the next: a score of all topics a rank, instead of a topic a score."""
    grown = np.stack([measure.per_topic(cut) for cut in cuts], axis=1)
    added: Floats = np.diff(grown, axis=1, prepend=0.0).round(DECIMALS)
    return added + 0.0  # no negative zero


def _by_topic(measure: Measure, judged: Judged, depth: int) -> Floats | None:
    """As the measure itself explains each topic; its ranks must be those of the ranking."""
    if measure.definition.needs is not None or measure.parameters["judged_only"]:
        return None
    found = np.zeros((len(judged.topics), depth))
    for t in range(len(judged.topics)):
        added = measure.working(measure.trace(judged.select(np.array([t])))).contribution
        if added is None:
            return None
        first = added[:depth].round(DECIMALS)
        found[t, : len(first)] = first
    return found
