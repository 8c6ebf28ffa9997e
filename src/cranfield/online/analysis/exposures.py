"""Who was shown worse results, and what it cost them: units and queries of each arm, and the loss of the worse one."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from cranfield.online.analysis.estimates import SIGN, MetricEffect
from cranfield.online.units import QUERIES

if TYPE_CHECKING:
    from cranfield.online.moments_files import Aggregate
    from cranfield.online.trial import Trial


class ArmExposure(NamedTuple):
    """What an arm was shown: units, their queries, and on how many days; None where the moments do not tell."""

    arm: str
    units: int
    queries: int | None
    days: int | None


class WorseArm(NamedTuple):
    """The arm that did worse by the primary metric, of control and treatment, and what it lost by that.

    `lost` is the difference times what the metric counts in that arm (queries, units, …), in units of the numerator,
    such as clicks; `low` and `high` are of the interval of the difference. Below 0 nothing was lost.
    """

    treatment: str
    arm: str
    counted: float
    per: str
    lost: float
    low: float
    high: float


def exposures(found: Aggregate, trial: Trial) -> tuple[ArmExposure, ...]:
    """What each arm was shown."""
    days = found.of("day")
    shown = []
    for arm in trial.arms:
        moments = found.whole[arm]
        queries = round(moments.means[moments.place(QUERIES)] * moments.count) if QUERIES in moments.names else None
        seen = sum(arm in day and day[arm].count > 0 for day in days.values()) if days else None
        shown.append(ArmExposure(arm, moments.count, queries, seen))
    return tuple(shown)


def worse_arm(found: Aggregate, trial: Trial, effect: MetricEffect) -> WorseArm | None:
    """The arm that did worse, and its loss; None where neither did or nothing is known."""
    columns = found.metric(trial.primary)
    gain = effect.difference * SIGN[columns.better]
    if not gain or isnan(gain):
        return None
    arm = effect.arm if gain < 0 else trial.control
    moments = found.whole[arm]
    counted = moments.count * (1.0 if columns.denominator is None else moments.mean(columns.denominator))
    ends = sorted(end * SIGN[columns.better] for end in (effect.low, effect.high))
    low, high = (-ends[1], -ends[0]) if gain < 0 else (ends[0], ends[1])
    return WorseArm(effect.arm, arm, counted, columns.per, abs(gain) * counted, low * counted, high * counted)
