"""How the effect goes: as units came in, by days since units were first exposed, and where the lists differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

from cranfield.online.analysis.estimates import MetricEffect, effect_of, estimated
from cranfield.statistics.arms import TwoArms, upper_tail
from cranfield.statistics.moments import Moments, total
from cranfield.statistics.ratios import Ratio

if TYPE_CHECKING:
    from cranfield.online.analysis.looking import LookRule
    from cranfield.online.moments_files import Aggregate, MetricColumns
    from cranfield.online.trial import Trial


class CoursePoint(NamedTuple):
    """The effect on the units that had come by a day, with all that they did since; the interval is of that many units.

    `planned` says that a look of the plan was made there: `low` and `high` are by its limit then. Elsewhere they are
    always valid, as those of a look that was not planned.
    """

    day: str
    arm: str
    units: int
    difference: float
    low: float
    high: float
    planned: bool


class ExposureDay(NamedTuple):
    """The effect in queries that units sent so many days after they were first seen, each day by itself."""

    day: int
    arm: str
    units: int
    difference: float
    low: float
    high: float


class Fading(NamedTuple):
    """Whether the effect changes with the days since first exposure: the slope by day, and its p, roughly.

    Days of one unit are taken for independent, which they are not quite.
    """

    arm: str
    slope: float
    error: float
    p: float


def course(found: Aggregate, trial: Trial, rule: LookRule, arm: str) -> tuple[CoursePoint, ...]:
    """The primary effect as units came in."""
    days = found.of("first day")
    columns = found.metric(trial.primary)
    points = []
    so_far: list[Mapping[str, Moments]] = []
    seen = sum(moments.count for arms in days.values() for moments in arms.values())
    looks, before = _looks_made(rule, seen), 0
    for day in sorted(days):
        so_far.append(days[day])
        both = [_sum(so_far, name) for name in (trial.control, arm)]
        units = sum(_sum(so_far, name).count for name in trial.arms)
        planned = any(before < look <= units for look in looks)
        # The last day is this look, whose rule knows of units too that never came.
        applied = rule if units == seen else rule.at_units(units, planned=planned)
        limit = applied.shown(1 / (len(trial.arms) - 1))
        effect = effect_of(estimated(columns, both[0], both[1], found.covariates), columns, arm, limit)
        points.append(CoursePoint(day, arm, units, effect.difference, effect.low, effect.high, planned))
        before = units
    return tuple(points)


def _looks_made(rule: LookRule, seen: int) -> list[int]:
    """How many of the units that were seen there were at each look that was made as planned, this one among them."""
    if rule.method == "always valid":
        return []
    return [round(seen * share / rule.information[-1]) for share in rule.information]


def _sum(parts: Sequence[Mapping[str, Moments]], arm: str) -> Moments:
    return total(part[arm] for part in parts)


def by_exposure(found: Aggregate, trial: Trial, arm: str) -> tuple[ExposureDay, ...]:
    """The primary effect by days since first exposure, with 95 % intervals of each day by itself."""
    columns = found.metric(trial.primary)
    points = []
    for value, arms in sorted(found.of("exposure").items()):
        if trial.control not in arms or arm not in arms:
            continue
        estimate = estimated(columns, arms[trial.control], arms[arm], ())
        effect = effect_of(estimate, columns, arm, trial.alpha)
        points.append(ExposureDay(int(value), arm, sum(effect.units), effect.difference, effect.low, effect.high))
    return tuple(points)


def fading(found: Aggregate, trial: Trial, arm: str) -> Fading | None:
    """The slope of the effect over the days since first exposure, weighted by how well each is known."""
    columns = found.metric(trial.primary)
    known = []
    for value, arms in sorted(found.of("exposure").items()):
        if trial.control in arms and arm in arms:
            both = estimated(columns, arms[trial.control], arms[arm], ()).plain
            if both.unknown is None and both.spread() > 0 and min(both.units) >= 30:
                known.append((int(value), both.treatment - both.control, both.spread() ** -2))
    if len(known) < 3:
        return None
    weight = sum(w for _, _, w in known)
    middle = sum(day * w for day, _, w in known) / weight
    square = sum(w * (day - middle) ** 2 for day, _, w in known)
    slope = sum(w * (day - middle) * effect for day, effect, w in known) / square
    error = 1 / sqrt(square)
    return Fading(arm, slope, error, 2 * upper_tail(abs(slope / error), float("inf")))


def triggered_effects(found: Aggregate, trial: Trial, rule: LookRule, arm: str) -> tuple[MetricEffect, ...]:
    """The primary effect on units from their first query on for which the arms' lists differ; and on queries before
    that and on all other units, which must show none.
    """
    columns: MetricColumns = found.metric(trial.primary)
    effects = []
    for value, arms in sorted(found.of("triggered").items(), reverse=True):
        if trial.control in arms and arm in arms:
            estimate = estimated(columns, arms[trial.control], arms[arm], found.covariates)
            share = 1 / (len(trial.arms) - 1)
            limit, shown = rule.limit(share), rule.shown(share)
            effects.append(effect_of(estimate, columns, arm, limit, part=value, shown=shown))
    return tuple(effects)


class DenominatorEffect(NamedTuple):
    """What a rate is divided by, for each unit: if the treatment changes it, the rate alone misleads.

    `per_unit` is the relative effect on the numerator for each unit, NaN where there is none.
    """

    metric: str
    arm: str
    relative: float
    p: float
    per_unit: float
    moved: bool


def denominator_effects(found: Aggregate, trial: Trial, rule: LookRule, arm: str) -> tuple[DenominatorEffect, ...]:
    """The effect on the denominators of all rates; those that share one have the same. A quantile is no rate."""
    control, treatment = found.whole[trial.control], found.whole[arm]
    effects = []
    for name in trial.metric_names:
        columns = found.metric(name)
        if columns.denominator is None or columns.quantile is not None:
            continue
        below = Ratio(columns.denominator).compared(control, treatment)
        above = Ratio(columns.numerator).compared(control, treatment)
        p = below.difference().p
        moved = not isnan(p) and p < rule.limit()
        effects.append(DenominatorEffect(name, arm, _relative(below), p, _relative(above), moved))
    return tuple(effects)


def _relative(arms: TwoArms) -> float:
    found = arms.relative()
    return nan if found.method == "undefined" else found.value
