"""How far systems come in the same order under two measures, two sets of judgements or two sets of topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.rankings.correlation import (
    COEFFICIENTS,
    Correlation,
    CorrelationRow,
    as_names,
    drawn_and_read,
    orientations,
)
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.formats import distinct_names
from cranfield.judged import Floats
from cranfield.measures import Measure
from cranfield.statistics.coefficients import Coefficient, find_coefficient
from cranfield.statistics.orderings import Ordering, agreement_of_orderings, arithmetic_mean, split_half_stability
from cranfield.statistics.resampled import default_sampling
from cranfield.statistics.significance import Sampling

if TYPE_CHECKING:
    from cranfield.formats.given import Given

FEW_SYSTEMS = 5


class Named(NamedTuple):
    """An ordering of systems and what to call it."""

    name: str
    ordering: Ordering


def correlate_systems(
    experiment: Experiment,
    measures: str | Measure | Iterable[str | Measure],
    coefficients: str | Iterable[str] = COEFFICIENTS,
    *,
    other_qrels: Given | None = None,
    topic_sets: Sequence[Iterable[str]] = (),
    sampling: Sampling | None = None,
) -> Correlation:
    """How far two orderings of systems agree, with intervals from resampled topics; the first ordering is the truth.

    Several measures: the orderings under each pair of them. With `other_qrels`: under the first and the second
    judgements, for each measure, over the topics of both. With `topic_sets`: on the first set of topics and on the
    second, or, if one is given, on it and on all other topics.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> runs = {"a": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, "b": {"q1": {"d9": 2.0, "d1": 1.0}, "q2": {"d2": 1.0}}}
    >>> correlate_systems(Experiment(qrels, runs), ["AP", "P@1"], "kendall").of("AP", "P@1", "kendall")["value"]
    1.0
    """
    if other_qrels is not None and topic_sets:
        raise UsageError("compare two sets of judgements or two sets of topics, not both at once")
    results = _evaluated(experiment, measures)
    warnings = list(results.warnings)
    if other_qrels is not None:
        others = _evaluated(replace(experiment, qrels=other_qrels), measures)
        pairs = _under_two_qrels(results, others, warnings)
    elif topic_sets:
        pairs = _on_two_topic_sets(results, topic_sets, warnings)
    elif len(results.measures) > 1:
        orderings = [Named(str(m), _ordering(results, i)) for i, m in enumerate(results.measures)]
        pairs = list(combinations(orderings, 2))
    else:
        raise UsageError("one ordering has nothing to agree with: give two measures, two qrels or a set of topics")

    sampling = sampling or default_sampling()
    wanted = [find_coefficient(name) for name in as_names(coefficients)]
    rows: list[CorrelationRow] = []
    for first, second in pairs:
        estimates = agreement_of_orderings(
            wanted, first.ordering, second.ordering, sampling, same_topics=not topic_sets
        )
        for coefficient, estimate in zip(wanted, estimates, strict=True):
            rows.append(CorrelationRow((first.name, second.name, str(coefficient)), estimate[:3]))
            warnings += _undefined(
                coefficient, f"{first.name} and {second.name}", estimate.value, estimate.undefined, sampling
            )
    warnings += _few_systems(results)
    notes = [
        *orientations(wanted, "the first ordering", "the second"),
        f"low and high: middle 95% of {sampling.resamples:,} resamples of the topics, seed {sampling.seed}",
        *_orders(results.runs, dict.fromkeys(named for pair in pairs for named in pair)),
    ]
    labels, columns = ("first", "second", "coefficient"), ("value", "low", "high")
    settings = drawn_and_read(sampling, results.policy)
    return Correlation("systems", labels, columns, tuple(rows), None, tuple(notes), tuple(warnings), settings=settings)


def correlate_halves(
    experiment: Experiment,
    measures: str | Measure | Iterable[str | Measure],
    coefficients: str | Iterable[str] = COEFFICIENTS,
    *,
    sampling: Sampling | None = None,
) -> Correlation:
    """How well the ordering of systems on one random half of the topics tells that on the other, over many splits.

    >>> qrels = {f"q{i}": {"d1": 1} for i in range(4)}
    >>> runs = {"a": {q: {"d1": 1.0} for q in qrels}, "b": {q: {"d9": 2.0, "d1": 1.0} for q in qrels}}
    >>> correlation = correlate_halves(Experiment(qrels, runs), "AP", "kendall", sampling=Sampling(resamples=10))
    >>> correlation.of("AP", "kendall")["mean"]
    1.0
    """
    results = _evaluated(experiment, measures)
    warnings = list(results.warnings)
    sampling = sampling or default_sampling()
    wanted = [find_coefficient(name) for name in as_names(coefficients)]
    rows: list[CorrelationRow] = []
    for i, measure in enumerate(results.measures):
        for coefficient, stability in zip(
            wanted, split_half_stability(wanted, _ordering(results, i), sampling), strict=True
        ):
            rows.append(CorrelationRow((str(measure), str(coefficient)), stability[:4]))
            warnings += _undefined(coefficient, str(measure), stability.mean, stability.undefined, sampling)
    warnings += _few_systems(results)
    half = len(results.topics) // 2
    notes = (
        f"{sampling.resamples:,} random splits of {plural(len(results.topics), 'topic')} into {half} and "
        f"{len(results.topics) - half}, seed {sampling.seed}; low and high hold the middle 95% of them",
        *orientations(wanted, "the first half", "the second"),
        "on all topics the ordering is steadier than on halves of them",
    )
    labels, columns = ("measure", "coefficient"), ("mean", "deviation", "low", "high")
    settings = drawn_and_read(sampling, results.policy)
    return Correlation("halves", labels, columns, tuple(rows), None, notes, tuple(warnings), settings=settings)


def _evaluated(experiment: Experiment, measures: str | Measure | Iterable[str | Measure]) -> Results:
    if experiment.policy.topics == "run":
        raise UsageError("systems are ordered on the same topics: choose topics=qrels or topics=common")
    results = experiment.evaluate(measures)
    if len(results.runs) < 2:
        raise UsageError("one system has no order: give at least two runs")
    for measure in results.measures:
        measure.check_direction("it puts systems in no order")
    return results


def _ordering(results: Results, measure: int, topics: Sequence[int] | None = None) -> Ordering:
    """The systems as a measure orders them, the better the higher, by the measure's own average over topics."""
    ordered_by = results.measures[measure]

    def average(scores: Floats) -> Floats:
        averages: Floats = np.apply_along_axis(ordered_by.aggregate, -1, scores)
        return ordered_by.sign * averages

    def gain(scores: Floats) -> Floats:
        return ordered_by.sign * arithmetic_mean(scores)

    scores = results.scores[:, measure, :] if topics is None else results.scores[:, measure, list(topics)]
    return Ordering(scores, gain if ordered_by.parameters["agg"] == "mean" else average)


def _under_two_qrels(first: Results, second: Results, warnings: list[Finding]) -> list[tuple[Named, Named]]:
    names = distinct_names([(results.inputs[0].name, results.inputs[0].path) for results in (first, second)])
    warnings += [finding for finding in second.warnings if finding not in warnings]
    places = {topic: place for place, topic in enumerate(second.topics)}
    shared = [(place, places[topic]) for place, topic in enumerate(first.topics) if topic in places]
    if not shared:
        raise DataError(
            f"the two sets of judgements have no topic in common: {some(first.topics, 3)} and {some(second.topics, 3)}",
            source=second.inputs[0].path or names[1],
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    kept = {first.topics[here] for here, _ in shared}
    for name, results in zip(names, (first, second), strict=True):
        alone = [topic for topic in results.topics if topic not in kept]
        if alone:
            message = f"{plural(len(alone), 'topic')} that the other judgements lack, left out: {some(alone)}"
            warnings.append(Finding("unshared-topics", name, message))
    here, there = zip(*shared, strict=True)
    return [
        (
            Named(f"{measure} {names[0]}", _ordering(first, i, here)),
            Named(f"{measure} {names[1]}", _ordering(second, i, there)),
        )
        for i, measure in enumerate(first.measures)
    ]


def _on_two_topic_sets(
    results: Results, topic_sets: Sequence[Iterable[str]], warnings: list[Finding]
) -> list[tuple[Named, Named]]:
    if len(topic_sets) > 2:
        raise UsageError(f"two sets of topics are compared, not {len(topic_sets)}")
    known = {topic: place for place, topic in enumerate(results.topics)}
    sets: list[list[int]] = []
    for number, wanted in enumerate(topic_sets, start=1):
        ids = list(dict.fromkeys(wanted))
        unknown = [topic for topic in ids if topic not in known]
        if unknown:
            message = f"{plural(len(unknown), 'topic')} not among those evaluated, left out: {some(unknown)}"
            warnings.append(Finding("unknown-topics", f"topic set {number}", message))
        sets.append(sorted(known[topic] for topic in ids if topic in known))
    if len(sets) == 1:
        sets.append([place for place in range(len(results.topics)) if place not in set(sets[0])])
    for number, places in enumerate(sets, start=1):
        if not places:
            raise DataError(f"no topic of set {number} was evaluated", remedy="Topic ids must be those of the qrels.")
    both = [results.topics[place] for place in sorted(set(sets[0]) & set(sets[1]))]
    if both:
        message = f"{plural(len(both), 'topic')} in both sets make the orderings agree more: {some(both)}"
        warnings.append(Finding("shared-topics", "topic sets", message))
    first, second = (f"set {number} ({plural(len(places), 'topic')})" for number, places in enumerate(sets, start=1))
    return [
        (
            Named(f"{measure} {first}", _ordering(results, i, sets[0])),
            Named(f"{measure} {second}", _ordering(results, i, sets[1])),
        )
        for i, measure in enumerate(results.measures)
    ]


def _orders(systems: tuple[str, ...], orderings: Iterable[Named]) -> list[str]:
    """Each ordering in words, best system first."""
    described = []
    for name, ordering in orderings:
        order = np.argsort(-ordering.numbers(), kind="stable")
        described.append(f"{name}: {some([systems[i] for i in order.tolist()], 10)}")
    return described


def _undefined(
    coefficient: Coefficient, source: str, value: float, undefined: int, sampling: Sampling
) -> list[Finding]:
    if np.isnan(value):
        message = f"{coefficient} is undefined: systems are tied ({coefficient.ties})"
        return [Finding("undefined-coefficient", source, message)]
    if undefined:
        message = (
            f"{coefficient} is undefined in {undefined:,} of {sampling.resamples:,} resamples, in which systems "
            "are tied; they are left out"
        )
        return [Finding("undefined-resamples", source, message, doubtful=undefined > sampling.resamples / 20)]
    return []


def _few_systems(results: Results) -> list[Finding]:
    if len(results.runs) >= FEW_SYSTEMS:
        return []
    message = f"an ordering of {len(results.runs)} systems has few pairs to agree on: the coefficient says little"
    return [Finding("few-systems", "runs", message)]
