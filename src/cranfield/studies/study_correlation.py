"""`correlate_answers`: do participants feel what a measure says? Scores by system and topic against the measure's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.evaluation.results import Results
from cranfield.statistics.coefficients import COEFFICIENTS
from cranfield.statistics.resampled import Estimate, default_sampling, percentile_estimate, topic_draws
from cranfield.statistics.significance import Floats, Integers, Sampling
from cranfield.studies.answers import Answers
from cranfield.studies.scales import Scale
from cranfield.studies.scoring import participant_scores

USUAL = ("spearman", "kendall", "pearson")
FEW_TOPICS = 10  # below, an interval over topics drawn anew says little
FEW_SYSTEMS = 10  # below, a coefficient over systems does
ROUNDING = 10  # digits to which scores are taken for the same
SAME = 10**-ROUNDING


class MeasureFelt(NamedTuple):
    """A coefficient between a measure and the scores: over all (system, topic), within topics that have several
    systems, or over systems."""

    measure: str
    coefficient: str
    over: str
    pairs: int
    topics: int
    estimate: Estimate


class FeltPoint(NamedTuple):
    """A system on a topic, or without one on all: the mean score of its participants, and the measure's."""

    system: str
    topic: str
    participants: int
    score: float
    measures: tuple[float, ...]


class _Sides(NamedTuple):
    """Scores and values of a measure, by topic and system, that are held against each other."""

    measure: str
    over: str
    scores: Floats
    values: Floats


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyCorrelation(PrintedInNotebooks):
    """Coefficients and the points that they are of; intervals are over topics, and without topics there are none."""

    scale: Scale
    measures: tuple[str, ...]
    seed: int
    resamples: int
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    rows: tuple[MeasureFelt, ...]
    points: tuple[FeltPoint, ...]
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.studies.study_tables import render_correlation

        return render_correlation(self, format)


def correlate_answers(
    answers: Answers,
    experiment: Experiment,
    measures: str | Sequence[str] = "nDCG@10",
    coefficients: Sequence[str] = USUAL,
    *,
    sampling: Sampling | None = None,
) -> StudyCorrelation:
    """How far scores by system and topic go with a measure of the runs of these systems on these topics.

    Systems are called as the runs. A coefficient is over all pairs of system and topic, and again within topics: the
    mean of each topic taken off both sides, so that easy topics, which please and score high everywhere, make no
    correlation. 1 is agreement, whether more or less is better on either side. Intervals are over topics drawn anew,
    each with all its systems. Answers without topics, as to SUS once a system, are held against the means of the runs:
    a coefficient over systems, without an interval.

    >>> from cranfield.studies import find_scale, read_answers
    >>> said = {("A", "q1"): 5, ("B", "q1"): 2, ("A", "q2"): 3, ("B", "q2"): 5}
    >>> rows = [{"user": "p1", "system": s, "topic": t, "satisfaction": x} for (s, t), x in said.items()]
    >>> answers = read_answers(rows, find_scale("satisfaction"))
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> runs = {"A": {"q1": {"d1": 2, "d2": 1}, "q2": {"d1": 2, "d2": 1}}, "B": {"q1": {"d9": 1}, "q2": {"d2": 1}}}
    >>> found = correlate_answers(answers, Experiment(qrels, runs), "RR", ["spearman"])
    >>> [(row.over, row.pairs, round(row.estimate.value, 4)) for row in found.rows]
    [('all', 4, 1.0), ('within topics', 4, 1.0)]
    """
    sampling = sampling or default_sampling()
    functions = {name: _function(name) for name in coefficients}
    results = experiment.evaluate(list(measures) if not isinstance(measures, str) else measures)
    points, findings = _by_system(answers, results) if answers.topics is None else _by_topic(answers, results)
    systems = tuple(dict.fromkeys(point.system for point in points))
    topics = () if answers.topics is None else tuple(dict.fromkeys(point.topic for point in points))
    neither = [str(measure) for measure in results.measures if measure.better == "neither"]
    if neither:
        message = f"{some(neither)} says nothing of quality: neither more nor less of it is better"
        findings.append(Finding("no-direction", answers.source, message))
    sides = list(_sides(points, systems, topics, answers.scale, results))
    findings += [*_still(sides, answers.scale, answers.source), *_few(answers, systems, points)]
    rows = [row for own in sides for row in _rows(own, functions, sampling)]
    findings += _without_value(rows, sampling, answers.source)
    return StudyCorrelation(
        scale=answers.scale,
        measures=tuple(map(str, results.measures)),
        seed=sampling.seed,
        resamples=sampling.resamples,
        systems=systems,
        topics=topics,
        rows=tuple(rows),
        points=tuple(points),
        warnings=(*answers.warnings, *results.warnings, *findings),
    )


def _few(answers: Answers, systems: Sequence[str], points: Sequence[FeltPoint]) -> list[Finding]:
    """That there are few systems, or few topics, to go by: those with several systems, for the rest is of no use within
    topics."""
    if answers.topics is None:
        message = f"{plural(len(systems), 'system')}, a point each, as answers to {answers.scale.name} have no topics: "
        message += "any coefficient of two is 1, -1 or none" if len(systems) == 2 else "so few say little"
        return [Finding("few-systems", answers.source, message)] if len(systems) < FEW_SYSTEMS else []
    counts = Counter(point.topic for point in points)
    several = sum(count > 1 for count in counts.values())
    if several >= FEW_TOPICS:
        return []
    which = "" if several == len(counts) else " with several systems, which tell within topics"
    message = f"{plural(several, 'topic')}{which}: intervals over fewer than {FEW_TOPICS} are too narrow"
    return [Finding("few-topics", answers.source, message)]


def _sides(
    points: Sequence[FeltPoint], systems: tuple[str, ...], topics: tuple[str, ...], scale: Scale, results: Results
) -> Iterator[_Sides]:
    """What is held against each other, by every measure; on both sides more is better."""
    rows = topics or ("",)
    scores = _cube(points, systems, rows, [point.score for point in points])
    scores = -scores if scale.better == "less" else scores
    several = (~np.isnan(scores)).sum(axis=1) > 1  # a system alone on its topic is its topic's mean
    for number, measure in enumerate(results.measures):
        values = _cube(points, systems, rows, [point.measures[number] for point in points])
        values = -values if measure.better == "lower" else values
        if not topics:
            yield _Sides(str(measure), "systems", scores, values)
            continue
        yield _Sides(str(measure), "all", scores, values)
        yield _Sides(str(measure), "within topics", _within(scores[several]), _within(values[several]))


def _rows(
    sides: _Sides, functions: Mapping[str, Callable[[Floats, Floats], float]], sampling: Sampling
) -> Iterator[MeasureFelt]:
    pairs, topics = int((~np.isnan(sides.scores)).sum()), 0 if sides.over == "systems" else len(sides.scores)
    for name, function in functions.items():
        estimate = _estimate(sides.scores, sides.values, function, sampling)
        if sides.over == "systems":  # no topics to draw anew
            estimate = Estimate(estimate.value, nan, nan)
        yield MeasureFelt(sides.measure, name, sides.over, pairs, topics, estimate)


def _still(sides: Sequence[_Sides], scale: Scale, source: str) -> list[Finding]:
    """Why coefficients do not exist: what does not vary goes with nothing."""
    why: dict[str, str] = {}  # by what does not vary, which within topics need not be said again
    for measure, over, scores, values in sides:
        where = {"all": "on every topic", "within topics": "within each topic", "systems": "in the mean"}[over]
        none = "no coefficient within topics" if over == "within topics" else "no coefficient"
        if not scores.size:
            why.setdefault(over, f"{none}: no topic has scores of several systems")
        elif np.nanmax(scores) - np.nanmin(scores) <= SAME:
            message = f"{none}: participants give every system the same score of {scale.name} {where}"
            why.setdefault("scores", message)
        elif np.nanmax(values) - np.nanmin(values) <= SAME:
            why.setdefault(measure, f"{none} with {measure}: every system has the same {where}")
    return [Finding("no-coefficient", source, message) for message in why.values()]


def _without_value(rows: Sequence[MeasureFelt], sampling: Sampling, source: str) -> list[Finding]:
    """How many draws of topics an interval is without."""
    partial = [row for row in rows if row.estimate.undefined and row.estimate.value == row.estimate.value]
    if not partial:
        return []
    most = max(row.estimate.undefined for row in partial)
    named = some([f"{row.coefficient} with {row.measure}, {row.over}" for row in partial])
    message = (
        f"in up to {most:,} of {sampling.resamples:,} draws of topics one side does not vary, and there is no "
        f"coefficient; intervals are without them ({named})"
    )
    return [Finding("undefined-draws", source, message, doubtful=most > sampling.resamples // 20)]


def _function(name: str) -> Callable[[Floats, Floats], float]:
    """A coefficient of two arrays; NaN where one of them does not vary."""
    if name == "pearson":
        return pearson
    if COEFFICIENTS.look_up(name) is None:
        raise UsageError(f"there is no coefficient '{name}', but {', '.join(('pearson', *COEFFICIENTS))}")
    return COEFFICIENTS.find(name)


def pearson(first: Floats, second: Floats) -> float:
    """Pearson's correlation, of the values themselves; NaN where one side does not vary.

    >>> round(pearson(np.array([1.0, 2, 3]), np.array([1.0, 2, 4])), 4)
    0.982
    """
    x, y = first - first.mean(), second - second.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 1e-12 else float("nan")


def _by_topic(answers: Answers, results: Results) -> tuple[list[FeltPoint], list[Finding]]:
    """Systems on topics that have scores and are among the runs; what is left out is told."""
    assert answers.topics is not None
    given: dict[tuple[str, str], list[float]] = {}
    for system, topic, score in zip(answers.systems, answers.topics, answers.scores.tolist(), strict=True):
        if score == score:
            given.setdefault((system, topic), []).append(score)
    runs = {name: number for number, name in enumerate(results.runs)}
    topics = {name: number for number, name in enumerate(results.topics)}
    asked = list(dict.fromkeys(topic for _, topic in given))
    points = []
    for (system, topic), scores in given.items():
        if system in runs and topic in topics:
            of_run = results.scores[runs[system], :, topics[topic]].tolist()
            if all(value == value for value in of_run):
                points.append(FeltPoint(system, topic, len(scores), float(np.mean(scores)), tuple(of_run)))
    findings = _left_out(answers, results, [system for system, _ in given])
    unknown = [topic for topic in asked if topic not in topics]
    if unknown:
        message = f"{plural(len(unknown), 'topic')} not among the judged topics, left out: {some(unknown)}"
        findings.append(Finding("unknown-topics", answers.source, message))
    if len({system for system, _ in given if system in runs}) < 2:
        raise _too_few("systems", list(dict.fromkeys(answers.systems)), "runs", results.runs, answers.source)
    if len({point.topic for point in points}) < 2 or len({point.system for point in points}) < 2:
        raise _too_few("topics", asked, "judged topics", results.topics, answers.source)
    return points, findings


def _by_system(answers: Answers, results: Results) -> tuple[list[FeltPoint], list[Finding]]:
    """Systems that have scores and are among the runs, each with its means over participants and over topics."""
    given: dict[str, list[float]] = {}
    for score in participant_scores(answers):
        given.setdefault(score.system, []).append(score.mean)
    means = dict(zip(results.runs, results.means.tolist(), strict=True))
    points = [
        FeltPoint(system, "", len(scores), float(np.mean(scores)), tuple(means[system]))
        for system, scores in given.items()
        if system in means
    ]
    if len(points) < 2:
        raise _too_few("systems", list(dict.fromkeys(answers.systems)), "runs", results.runs, answers.source)
    return points, _left_out(answers, results, list(given))


def _left_out(answers: Answers, results: Results, systems: Sequence[str]) -> list[Finding]:
    """Systems that are no runs, and runs that nobody answered about."""
    unknown = [name for name in dict.fromkeys(systems) if name not in results.runs]
    unasked = [name for name in results.runs if name not in systems]
    findings = []
    if unknown:
        message = f"{plural(len(unknown), 'system')} not among the runs, left out: {some(unknown)}"
        findings.append(Finding("unknown-systems", answers.source, message))
    if unasked:
        message = f"{plural(len(unasked), 'run')} that nobody answered about, left out: {some(unasked)}"
        findings.append(Finding("unasked-runs", answers.source, message))
    return findings


def _too_few(what: str, asked: Sequence[str], others: str, known: Sequence[str], source: str) -> DataError:
    """Fewer than two in common: what either side has."""
    return DataError(
        f"fewer than two {what} in common with scores on both sides: answers are about {some(asked)}, {others} are "
        f"{some(list(known))}",
        source=source,
        remedy="Systems are called as the runs, topics as in the judgements.",
    )


def _cube(
    points: Sequence[FeltPoint], systems: tuple[str, ...], topics: tuple[str, ...], values: list[float]
) -> Floats:
    """values[topic, system], NaN where there is none."""
    cube = np.full((len(topics), len(systems)), np.nan)
    for point, value in zip(points, values, strict=True):
        cube[topics.index(point.topic), systems.index(point.system)] = value
    return cube


def _within(values: Floats) -> Floats:
    """Values without the mean of their topic; equal ones stay equal."""
    means = np.nanmean(values, axis=1, keepdims=True)
    return np.asarray(np.round(values - means, ROUNDING))


def _estimate(
    scores: Floats, values: Floats, function: Callable[[Floats, Floats], float], sampling: Sampling
) -> Estimate:
    def of(rows: slice | Integers) -> float:
        first, second = scores[rows].ravel(), values[rows].ravel()
        known = ~np.isnan(first)
        return function(first[known], second[known])

    if not len(scores):
        return percentile_estimate(float("nan"), np.full(sampling.resamples, np.nan))
    replicates = np.array([of(draw) for draw in topic_draws(len(scores), sampling)])
    return percentile_estimate(of(slice(None)), replicates)
