"""Scores of runs on the topics that simulated users ask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.evaluation.evaluation import evaluate
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.online.users.pages import JudgedRankings
from cranfield.statistics.significance import Floats


class OfflineScores(NamedTuple):
    """scores[run, topic] on a measure, and what it is called; more is better."""

    scores: Floats
    label: str


def scores_of_asked(
    rankings: JudgedRankings, qrels: str, runs: Sequence[str], measure: str, reading: Reading = DEFAULT
) -> OfflineScores:
    """The scores of runs on the topics of rankings, in their order; a measure of which less is better is turned round.

    >>> from cranfield import read_qrels, read_run
    >>> files = ["examples/bm25.run", "examples/dense.run"]
    >>> qrels = read_qrels("examples/qrels.txt")
    >>> rankings = JudgedRankings.of(qrels, [read_run(file) for file in files], ["bm25", "dense"], depth=10)
    >>> scores_of_asked(rankings, "examples/qrels.txt", files, "P@10").scores.mean(axis=1).round(2).tolist()
    [0.32, 0.43]
    """
    found = evaluate(qrels, list(runs), [measure], reading=reading)
    (known,) = found.measures
    places = {topic: place for place, topic in enumerate(found.topics)}
    missing = [one.query for one in rankings.asked if one.query not in places]
    if missing:
        raise UsageError(f"{known} has no score for the topic '{missing[0]}'")
    scores = found.scores[:, 0, [places[one.query] for one in rankings.asked]]
    if np.isnan(scores).any():
        raise UsageError(f"{known} has no score for some topic of a run")
    if not known.sign:
        raise UsageError(f"of {known} neither more nor less is better: it can foretell nothing")
    return OfflineScores(known.sign * scores, f"{'' if known.sign > 0 else '-'}{known}")
