"""Comparisons of scores made up for the purpose: what is decided hangs on the scores alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Details, Question
from cranfield.comparison.systems import compare_results
from cranfield.evaluation.experiment import Experiment, Input
from cranfield.evaluation.results import Results
from cranfield.measures import parse_measure
from cranfield.policy import Policy
from cranfield.statistics.significance import Sampling

Floats = NDArray[np.float64]
FEW_DRAWS = Sampling(seed=4, resamples=999)


def results(scores: Mapping[str, Floats], names: Sequence[str] = (), digest: str | None = None) -> Results:
    """scores[system, topic] of each measure, as if they had been evaluated."""
    measures = tuple(parse_measure(name) for name in scores)
    cube = np.stack([np.asarray(each, dtype=np.float64) for each in scores.values()], axis=1)
    runs = tuple(names) or tuple("abcdefghijklmnopqrstuvwxyz"[: len(cube)])
    topics = tuple(f"q{number}" for number in range(cube.shape[2]))
    policy = Policy(topics="run") if np.isnan(cube).any() else Policy()
    return Results(
        runs=runs,
        measures=measures,
        topics=topics,
        scores=cube,
        policy=policy,
        inputs=(Input("qrels", None, digest, 1, len(topics), role="judgements"),),
        warnings=(),
        experiment=Experiment({}),
    )


def asked_of(**question: Any) -> Question:
    """A question from the names of its own fields and of its details."""
    details = Details(**{name: question.pop(name) for name in [*question] if name in Details.__dataclass_fields__})
    return Question(**{"sampling": FEW_DRAWS, "details": details, **question})


def compared(scores: Floats | Mapping[str, Floats], **question: Any) -> Comparison:
    """A comparison of scores[system, topic], of one measure (AP) or of each by name."""
    given = scores if isinstance(scores, Mapping) else {"AP": np.asarray(scores, dtype=np.float64)}
    found = results(given)
    asked = asked_of(**question)
    return compare_results({"": Evaluated(found, {run: [run] for run in found.runs})}, found.measures, asked)


def on_collections(scores: Mapping[str, Floats | Mapping[str, Floats]], **question: Any) -> Comparison:
    """The same on several collections."""
    found = {
        name: results(each if isinstance(each, Mapping) else {"AP": np.asarray(each, dtype=np.float64)})
        for name, each in scores.items()
    }
    asked = asked_of(**question)
    evaluated = {name: Evaluated(each, {run: [run] for run in each.runs}) for name, each in found.items()}
    return compare_results(evaluated, next(iter(found.values())).measures, asked)


def with_differences(*differences: Sequence[float] | Floats) -> Floats:
    """A system for each row of differences to the last one, which scores 0.5 on every topic."""
    rows = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    return np.concatenate([rows + 0.5, np.full((1, rows.shape[1]), 0.5)])
