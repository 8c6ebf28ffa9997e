"""What two arms differ by in a metric: as it is, and adjusted by what was known of units before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Literal, NamedTuple

from cranfield.online.metrics import Better
from cranfield.online.moments_files import MetricColumns
from cranfield.statistics.arms import TwoArms
from cranfield.statistics.covariates import Adjustment, cuped, regression_adjusted
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio

if TYPE_CHECKING:
    from cranfield.statistics.arms import ArmEffect

EffectStanding = Literal["better", "worse", "different", "open", "unknown"]
SIGN: Mapping[Better, int] = {"more": 1, "less": -1, "neither": 0}


class Estimated(NamedTuple):
    """The two arms in a metric: `arms` is what decides, adjusted if there are covariates; `plain` is not adjusted."""

    arms: TwoArms
    plain: TwoArms
    adjustment: Adjustment | None
    cuped: Adjustment | None


class MetricEffect(NamedTuple):
    """The effect of an arm on a metric, against the control, in all units or in a part of them.

    `low` and `high` are at the confidence 1 - `limit`, so that they leave out 0 exactly where p is below the limit:
    something is found then, and `standing` is better or worse as the metric's direction has it. Where alpha is used up
    the limit is 0, and they are at 1 - `shown`, which decides nothing. `control` and `treatment` are the arms as they
    are; difference and `relative`, by the adjusted control, are adjusted where there are covariates, and `plain` is
    not. `remaining` is the share of the variance that the adjustment leaves.
    """

    metric: str
    better: Better
    arm: str
    part: str
    control: float
    treatment: float
    units: tuple[int, int]
    difference: float
    low: float
    high: float
    error: float
    relative: float
    relative_low: float
    relative_high: float
    p: float
    limit: float
    standing: EffectStanding
    plain: float
    plain_low: float
    plain_high: float
    plain_p: float
    remaining: float
    note: str | None = None
    shown: float = 0.0

    @property
    def found(self) -> bool:
        """Whether it is better, worse, or different where there is no direction."""
        return self.standing in ("better", "worse", "different")

    @property
    def gain(self) -> float:
        """The difference in the direction that is better: below 0 it is a loss."""
        return self.difference * (SIGN[self.better] or 1)


def ratio_of(columns: MetricColumns) -> Ratio:
    """The metric as a ratio of columns of the moments."""
    return Ratio(columns.numerator, columns.denominator)


def estimated(columns: MetricColumns, control: Moments, treatment: Moments, covariates: Sequence[str]) -> Estimated:
    """The two arms; with covariates, as regression in each arm has them (Lin), and as CUPED has them beside.

    >>> from cranfield.online import aggregate, read_logs, read_trial
    >>> found = aggregate(read_logs("examples"), read_trial("examples/experiment.toml"), parts=())
    >>> both = estimated(found.metric("ctr"), found.whole["bm25"], found.whole["dense"], found.covariates)
    >>> both.adjustment is not None and both.adjustment.remaining < 1.1
    True
    """
    ratio = ratio_of(columns)
    plain = ratio.compared(control, treatment)
    if not covariates:
        return Estimated(plain, plain, None, None)
    known = [Ratio(name) for name in covariates]
    adjusted = regression_adjusted(ratio, known, control, treatment)
    return Estimated(adjusted.arms, plain, adjusted, cuped(ratio, known, control, treatment))


def effect_of(
    estimate: Estimated, columns: MetricColumns, arm: str, limit: float, *, part: str = "", shown: float | None = None
) -> MetricEffect:
    """The effect with the interval of a limit, or of another one that is `shown` in its place."""
    shown = limit if shown is None else shown
    confidence = confidence_of(shown)
    absolute, relative, plain = (
        effect if shown > 0 else effect._replace(low=-inf, high=inf)
        for effect in (
            estimate.arms.difference(confidence=confidence),
            estimate.arms.relative(confidence=confidence),
            estimate.plain.difference(confidence=confidence),
        )
    )
    known = relative.method != "undefined"
    notes = [*absolute.notes, *(estimate.adjustment.notes if estimate.adjustment else ())]
    if absolute.method != "undefined" and not known:
        notes += relative.notes
    return MetricEffect(
        columns.name,
        columns.better,
        arm,
        part,
        estimate.plain.control,
        estimate.plain.treatment,
        estimate.plain.units,
        absolute.value,
        absolute.low,
        absolute.high,
        absolute.error,
        relative.value if known else nan,
        relative.low if known else nan,
        relative.high if known else nan,
        absolute.p,
        limit,
        standing_of(absolute, limit, columns.better),
        plain.value,
        plain.low,
        plain.high,
        plain.p,
        estimate.adjustment.remaining if estimate.adjustment else 1.0,
        "; ".join(notes) or None,
        shown,
    )


def confidence_of(limit: float) -> float:
    """The confidence of the interval that goes with a limit of p; of 95 % where nothing is below the limit."""
    return 1 - limit if limit > 0 else 0.95


def standing_of(effect: ArmEffect, limit: float, better: Better) -> EffectStanding:
    """What an effect is at a limit of p, in the direction of its metric."""
    if effect.method == "undefined" or isnan(effect.p):
        return "unknown"
    if not effect.p < limit or effect.value == 0:
        return "open"
    sign = SIGN[better]
    return "different" if not sign else "better" if effect.value * sign > 0 else "worse"
