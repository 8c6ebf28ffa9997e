"""`plan` and `power_analysis`: how many topics would show a difference, from judgements and runs or from numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment, Input
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import Printed
from cranfield.measures import Measure
from cranfield.policy import Policy
from cranfield.statistics import generalisability as theory
from cranfield.statistics import power as planning
from cranfield.statistics.generalisability import Components, IntervalEstimate
from cranfield.statistics.power import Design
from cranfield.statistics.significance import Floats, all_pairs, differences

POWER = 0.8


@dataclass(frozen=True)
class PowerAnalysis:
    """A comparison as planned: any two of effect, topics and power give the third, which `solved` names.

    `difference` and `sd` are there if the standard deviation was given. `alpha` is that of the whole family; each of
    the `comparisons` is tested at alpha / comparisons.
    """

    solved: str
    effect: float
    difference: float | None
    sd: float | None
    topics: int
    power: float
    alpha: float
    comparisons: int
    design: Design


def power_analysis(
    *,
    effect: float | None = None,
    difference: float | None = None,
    sd: float | None = None,
    topics: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    design: Design = "paired",
) -> PowerAnalysis:
    """Plans a comparison from numbers: the topics needed, the power there is, or the least difference that can be
    found.

    An effect is a difference divided by the standard deviation of the differences between two systems over topics (of
    the scores of one, if the design is "independent": topics are then those of each system). Give an effect, or a
    difference with sd, for the topics needed; topics for the least effect; both for the power. Power is 0.8 unless
    given.

    >>> power_analysis(difference=0.02, sd=0.1).topics
    199
    >>> round(power_analysis(topics=50, sd=0.1).difference, 4)
    0.0404
    >>> round(power_analysis(effect=0.3, topics=50, comparisons=3).power, 4)
    0.369
    """
    effect, sd = _checked_effect(effect, difference, sd)
    level = _level(alpha, comparisons)
    if effect is None and topics is None:
        raise UsageError("give an effect, or a difference with its standard deviation, or a number of topics, or both")
    if effect is not None and topics is not None:
        if power is not None:
            raise UsageError("effect, topics and power are all given: two of them decide the third")
        solved, power = "power", planning.power(effect, topics, alpha=level, design=design)
    elif effect is not None:
        solved, power = "topics", POWER if power is None else power
        topics = planning.topics_needed(effect, power=power, alpha=level, design=design)
    else:
        assert topics is not None
        solved, power = "effect", POWER if power is None else power
        effect = planning.detectable_effect(topics, power=power, alpha=level, design=design)
    solved_difference = None if sd is None else effect * sd
    return PowerAnalysis(solved, effect, solved_difference, sd, topics, power, alpha, comparisons, design)


def power_analyses(
    differences: Sequence[float] = (),
    effects: Sequence[float] = (),
    *,
    sd: float | None = None,
    topics: int | None = None,
    power: float | None = None,
    alpha: float = 0.05,
    comparisons: int = 1,
    design: Design = "paired",
) -> tuple[PowerAnalysis, ...]:
    """A plan for each difference and each effect; one from the other numbers, where there are none.

    >>> [analysis.topics for analysis in power_analyses([0.02, 0.05], sd=0.1)]
    [199, 34]
    """
    sizes: list[tuple[float | None, float | None]] = [(None, difference) for difference in differences]
    sizes += [(effect, None) for effect in effects]
    return tuple(
        power_analysis(
            effect=effect,
            difference=difference,
            sd=sd,
            topics=topics,
            power=power,
            alpha=alpha,
            comparisons=comparisons,
            design=design,
        )
        for effect, difference in sizes or [(None, None)]
    )


@dataclass(frozen=True)
class Aims:
    """What a plan from runs is to reach.

    differences: those to find; targets: values of Eρ² and Φ to reach; topics: how many there will be, if not as many as
    now; power: the chance of finding a difference that is there; alpha: that of finding one that is not, shared by all
    `comparisons`; confidence: that of intervals.

    >>> Aims(alpha=0.05, comparisons=10).level
    0.005
    >>> Aims(power=1.2)
    Traceback (most recent call last):
    cranfield.errors.UsageError: power must be between 0 and 1, not 1.2
    """

    differences: Sequence[float] = (0.01, 0.02, 0.05)
    targets: Sequence[float] = (0.9, 0.95)
    topics: int | None = None
    power: float = POWER
    alpha: float = 0.05
    comparisons: int = 1
    confidence: float = 0.95

    def __post_init__(self) -> None:
        shares = [
            ("power", self.power),
            ("confidence", self.confidence),
            *(("target", target) for target in self.targets),
        ]
        for name, value in shares:
            if not 0 < value < 1:
                raise UsageError(f"{name} must be between 0 and 1, not {value:g}")
        for difference in self.differences:
            _checked_positive("difference", difference)
        _level(self.alpha, self.comparisons)

    @property
    def level(self) -> float:
        """The level at which each comparison is tested."""
        return _level(self.alpha, self.comparisons)


class PairPlan(NamedTuple):
    """Two systems: the difference of their means (a - b), the standard deviation of their differences over topics with
    its interval, the least difference that could be found, and the topics needed for each difference asked about (None
    where the systems never differ).
    """

    a: str
    b: str
    difference: float
    sd: float
    sd_low: float
    sd_high: float
    detectable: float
    topics: tuple[int | None, ...]


@dataclass(frozen=True)
class MeasurePlan:
    """What one measure tells: the pairs of systems, the variance components, Eρ² and Φ, and the topics that would give
    each target of either.
    """

    measure: str
    pairs: tuple[PairPlan, ...]
    components: Components
    generalisability: IntervalEstimate
    dependability: IntervalEstimate
    topics_for_generalisability: tuple[IntervalEstimate, ...]
    topics_for_dependability: tuple[IntervalEstimate, ...]


@dataclass(frozen=True, repr=False)
class Plan(Printed):
    """What runs that exist say about comparisons to come. `topics` is how many there are, `planned` the number that
    detectable differences, Eρ² and Φ are for.
    """

    measures: tuple[MeasurePlan, ...]
    runs: tuple[str, ...]
    topics: int
    planned: int
    aims: Aims
    policy: Policy
    inputs: tuple[Input, ...]
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.planning.plan_tables import render

        return render(self, format)


def plan(
    experiment: Experiment, measures: str | Measure | Iterable[str | Measure], *, aims: Aims | None = None
) -> Plan:
    """Plans comparisons from judgements and two runs or more.

    For every pair of runs: the standard deviation of their differences, the least difference that would be found with
    the present topics (or as many as `aims` has), and the topics needed for each difference aimed at. For all runs
    together: generalisability Eρ² and dependability Φ, and the topics needed for each target.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}}
    >>> a = {"q1": {"d1": 2.0}, "q2": {"d9": 2.0, "d2": 1.0}, "q3": {"d3": 1.0}}
    >>> b = {"q1": {"d8": 2.0, "d1": 1.0}, "q2": {"d9": 2.0, "d2": 1.0}, "q3": {"d8": 3.0, "d9": 2.0, "d3": 1.0}}
    >>> planned = plan(Experiment(qrels, {"a": a, "b": b}), "RR", aims=Aims(differences=[0.1]))
    >>> pair = planned.measures[0].pairs[0]
    >>> round(pair.difference, 4), round(pair.sd, 4), pair.topics
    (0.3889, 0.3469, (97,))
    """
    aims = aims or Aims()
    results = experiment.evaluate(measures)
    if len(results.runs) < 2:
        raise UsageError("a plan from data needs 2 runs or more: a single one has no differences")
    for measure in results.measures:
        if measure.parameters["agg"] != "mean":
            raise UsageError(f"{measure} is not a mean over topics, which is what can be planned for")
    if len(results.topics) < 2:
        raise DataError(
            f"{plural(len(results.topics), 'topic')}: a standard deviation needs 2 or more",
            source=results.inputs[0].path or results.inputs[0].name,
        )
    if np.isnan(results.scores).any():
        raise UsageError("a plan needs runs that are scored on the same topics: choose another policy than topics=run")
    planned = len(results.topics) if aims.topics is None else aims.topics
    plans = tuple(
        _measure_plan(str(measure), results.runs, results.scores[:, m], planned, aims)
        for m, measure in enumerate(results.measures)
    )
    warnings = (*results.warnings, *_doubts(plans, aims.comparisons))
    return Plan(plans, results.runs, len(results.topics), planned, aims, results.policy, results.inputs, warnings)


def _measure_plan(measure: str, runs: tuple[str, ...], scores: Floats, planned: int, aims: Aims) -> MeasurePlan:
    components, sure = theory.variance_components(scores), aims.confidence
    return MeasurePlan(
        measure,
        _pairs(runs, scores, planned, aims),
        components,
        theory.generalisability(components, planned, confidence=sure),
        theory.dependability(components, planned, confidence=sure),
        tuple(theory.topics_for_generalisability(components, target, confidence=sure) for target in aims.targets),
        tuple(theory.topics_for_dependability(components, target, confidence=sure) for target in aims.targets),
    )


def _pairs(runs: tuple[str, ...], scores: Floats, planned: int, aims: Aims) -> tuple[PairPlan, ...]:
    effect = planning.detectable_effect(planned, power=aims.power, alpha=aims.level)
    pairs = all_pairs(len(runs))
    gaps = differences(scores, pairs)
    spreads = np.where(np.ptp(gaps, axis=1) <= 1e-12, 0.0, gaps.std(axis=1, ddof=1))
    low, high = planning.sd_interval(1, gaps.shape[1], confidence=aims.confidence)
    made = []
    for (a, b), gap, spread in zip(pairs.tolist(), gaps.mean(axis=1).tolist(), spreads.tolist(), strict=True):
        needed = tuple(
            planning.topics_needed(difference / spread, power=aims.power, alpha=aims.level) if spread else None
            for difference in aims.differences
        )
        made.append(PairPlan(runs[a], runs[b], gap, spread, low * spread, high * spread, effect * spread, needed))
    return tuple(made)


def _doubts(plans: tuple[MeasurePlan, ...], comparisons: int) -> list[Finding]:
    findings = []
    pairs = len(plans[0].pairs)
    if pairs * len(plans) > comparisons:
        message = (
            f"{plural(pairs * len(plans), 'comparison')} of a pair by a measure, planned as {comparisons}; "
            "if all are tested, plan with that many"
        )
        findings.append(Finding("comparisons", "plan", message, doubtful=False))
    for plan in plans:
        same = [f"{pair.a} and {pair.b}" for pair in plan.pairs if pair.sd == 0]
        if same:
            message = f"no topic tells these apart by {plan.measure}, so nothing can be planned for them: {some(same)}"
            findings.append(Finding("identical-scores", "plan", message))
        if plan.components.systems_variance == 0 and plan.components.residual_square > 0:
            message = (
                f"by {plan.measure} the runs differ no more than chance would have it: no number of topics is enough"
            )
            findings.append(Finding("no-system-variance", "plan", message))
    return findings


def _checked_effect(
    effect: float | None, difference: float | None, sd: float | None
) -> tuple[float | None, float | None]:
    if sd is not None:
        _checked_positive("sd", sd)
    if effect is not None and difference is not None:
        raise UsageError("give an effect or a difference, not both")
    if difference is None:
        return (None if effect is None else _checked_positive("effect", abs(effect))), sd
    if sd is None:
        raise UsageError("a difference needs the standard deviation of the differences over topics (sd)")
    return _checked_positive("difference", abs(difference)) / sd, sd


def _level(alpha: float, comparisons: int) -> float:
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must be between 0 and 1, not {alpha:g}")
    if comparisons < 1:
        raise UsageError(f"comparisons must be at least 1, not {comparisons}")
    return alpha / comparisons


def _checked_positive(name: str, value: float) -> float:
    if not 0 < value < float("inf"):
        raise UsageError(f"{name} must be a finite number above 0, not {value:g}")
    return value
