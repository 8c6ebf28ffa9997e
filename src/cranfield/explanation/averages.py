"""How the scores of topics become one number: the mean of a measure with the numbers put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.explanation.workings import Average, Workings
from cranfield.judged import Floats
from cranfield.measures import Measure
from cranfield.measures.definition import AGGREGATES, FORMULAS, GEOMETRIC_FLOOR, RATIO
from cranfield.measures.explained import bracketed, bracketed_sign, number, quotient, summed

AREA = "area under the curve of ratios of means: (1 / k) Σ over ranks i of Σ numerators / Σ denominators at i"
LARGEST = 1e100  # of values whose means are asked for: far above every score
MEANS = {"MAP": "mean", "GMAP": "geometric", "HMAP": "harmonic"}


class _Working(NamedTuple):
    """What stands beside each topic, and the steps from the formula to the value."""

    steps: tuple[str, ...]
    columns: Mapping[str, Floats] = {}
    because: str = ""


def explain_mean(
    experiment: Experiment, measures: str | Measure | Iterable[str | Measure], *, shown: int | None = None
) -> Workings:
    """Explains how the topics of each run become one number, by the measure's own average.

    `shown` is how many topics are shown; by default at most 20. Every value is that of `evaluate`.

    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 2, "d2": 1}}
    >>> experiment = Experiment(qrels, {"1": ["d2", "d1"], "2": ["d1", "d2"]})
    >>> explain_mean(experiment, "AP").averages[0].text
    'AP = (0.5 + 1) / 2 = 1.5 / 2 = 0.7500'
    >>> explain_mean(experiment, "CG(agg='geometric')").averages[0].text
    "CG(agg='geometric') = (1 · 3)^(1/2) = exp((0 + 1.0986) / 2) = exp(0.5493) = 1.7321"
    """
    results = experiment.evaluate(measures)
    return Workings(averages=averages_of(results, shown), policy=results.policy, warnings=results.warnings)


def averages_of(results: Results, shown: int | None = None) -> tuple[Average, ...]:
    """How the means of results arise, for each measure those of all runs."""
    averages = []
    for i, measure in enumerate(results.measures):
        for r, run in enumerate(results.runs):
            counted = ~np.isnan(results.scores[r, i])
            below = None if results.denominators is None else results.denominators[r, i][counted]
            topics = [topic for topic, counts in zip(results.topics, counted, strict=True) if counts]
            aggregate = str(measure.parameters["agg"])
            scores, value = results.scores[r, i][counted], float(results.means[r, i])
            average = _average(str(measure), aggregate, run, topics, scores, below, value)
            if measure.points:  # no ratio of what the topics have, but the mean of such ratios at every rank
                working = _mean(results.curve_of(measure, r))
                average = replace(average, formula=AREA, steps=working.steps, because="", columns={})
            averages.append(replace(average, shown=shown, is_count=measure.is_count))
    return tuple(averages)


def means_of(values: Mapping[str, Sequence[float]]) -> Workings:
    """The arithmetic, the geometric and the harmonic mean of lists of values, as of average precision by topic.

    >>> for average in means_of({"run": [0.05, 0.1, 0.5, 0.5, 0.75]}).averages:
    ...     print(f"{average.name} {average.value:.4f}")
    MAP 0.3800
    GMAP 0.2480
    HMAP 0.1415
    """
    averages = []
    for run, given in values.items():
        if min(given) < 0:
            raise UsageError(f"{run}: {number(min(given))} is below 0, where these means have no meaning")
        if max(given) > LARGEST:
            raise UsageError(f"{run}: {number(max(given))} is no score of a measure: too large to be added up")
        topics, scores = [str(topic) for topic in range(1, len(given) + 1)], np.array(given, dtype=np.float64)
        averages += [
            _average(name, aggregate, run, topics, scores, None, AGGREGATES[aggregate](scores))
            for name, aggregate in MEANS.items()
        ]
    return Workings(averages=tuple(averages))


def _average(
    name: str,
    aggregate: str,
    run: str,
    topics: Sequence[str],
    scores: Floats,
    below: Floats | None,
    value: float,
) -> Average:
    if not len(scores):
        working = _Working((), because="no topic counts")
    elif aggregate == RATIO:
        assert below is not None
        working = _ratio(scores, below)
    else:
        working = WORKINGS[aggregate](scores)
    return Average(
        run=run,
        name=name,
        formula=FORMULAS[aggregate],
        value=value,
        steps=working.steps,
        because=working.because,
        topics=tuple(topics),
        scores=tuple(scores.tolist()),
        columns={name: tuple(column.tolist()) for name, column in working.columns.items()},
    )


def _numbers(values: Floats) -> list[str]:
    return [bracketed_sign(value) for value in values.tolist()]


def _signed_sum(values: Floats) -> str:
    """
    >>> _signed_sum(np.array([-1.0, 2.0, -0.5]))
    '−1 + 2 − 0.5'
    """
    return re.sub(r"\(−(\S+)\)", r"−\1", summed(_numbers(values))).replace("+ −", "− ")


def _mean(scores: Floats) -> _Working:
    total = _signed_sum(scores)
    steps = (quotient(total, len(scores)), quotient(number(float(np.sum(scores))), len(scores)))
    return _Working(steps if len(scores) > 1 else steps[1:])


def _geometric(scores: Floats) -> _Working:
    taken = np.maximum(scores, GEOMETRIC_FLOOR)
    logarithms = np.log(taken)
    product = summed(_numbers(taken)).replace(" + ", " · ")
    low = int(np.sum(scores < GEOMETRIC_FLOOR))
    verb = "is" if low == 1 else "are"
    because = f"where {plural(low, 'value')} below {number(GEOMETRIC_FLOOR)} {verb} taken as that" if low else ""
    steps = (
        f"{bracketed(product)}^(1/{len(scores)})",
        f"exp({quotient(_signed_sum(logarithms), len(scores))})",
        f"exp({number(float(np.mean(logarithms)))})",
    )
    return _Working(steps, {"ln": logarithms}, because)


def _harmonic(scores: Floats) -> _Working:
    if np.any(scores <= 0):
        return _Working((), because="a value is 0, and the harmonic mean is 0 if any is")
    inverse = 1 / scores
    terms = summed([f"1/{number(score)}" for score in scores.tolist()])
    steps = (f"{len(scores)} / ({terms})", f"{len(scores)} / {number(float(np.sum(inverse)))}")
    return _Working(steps, {"1/x": inverse})


def _sum(scores: Floats) -> _Working:
    return _Working((_signed_sum(scores),))


def _ratio(scores: Floats, below: Floats) -> _Working:
    above = scores * below
    totals = float(np.sum(above)), float(np.sum(below))
    steps = (
        f"{bracketed(_signed_sum(above))} / {bracketed(_signed_sum(below))}",
        f"{number(totals[0])} / {number(totals[1])}",
    )
    because = "" if totals[1] else "where nothing is to be divided by, the value is 0"
    return _Working(steps, {"numerator": above, "denominator": below}, because)


WORKINGS: Mapping[str, Callable[[Floats], _Working]] = {
    "mean": _mean,
    "geometric": _geometric,
    "harmonic": _harmonic,
    "sum": _sum,
}
