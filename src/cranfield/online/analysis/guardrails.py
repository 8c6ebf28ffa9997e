"""Guardrails of a trial: is each metric shown to be no worse than its margin?"""

from __future__ import annotations

from math import inf, isnan
from typing import NamedTuple

from cranfield.online.analysis.estimates import SIGN, Estimated
from cranfield.online.moments_files import MetricColumns
from cranfield.online.trial import Guardrail
from cranfield.statistics.margins import Standing, non_inferior

_TINY = 5e-324  # in place of a margin of 0: no harm at all is allowed
_MOST = 0.4999  # a level of p, one-sided


class GuardrailResult(NamedTuple):
    """A guardrail in one arm: held if a harm of the margin is ruled out, broken if less than that is, else open.

    `worst` is the largest harm not ruled out at this look's limit, in the margin's own units or, `relative`, as a share
    of the control; below 0 it is a gain. p is one-sided, of a harm below the margin; `p_broken` of one beyond it.
    `least` is the smallest harm not ruled out, as `worst` is the largest.
    """

    metric: str
    arm: str
    margin: float
    relative: bool
    harm: float
    worst: float
    p: float
    p_broken: float
    limit: float
    standing: Standing
    note: str | None = None
    least: float = -inf


class RailLimit(NamedTuple):
    """The limit of one-sided p at a look; that of the worst harm which is `shown`; and why nothing can hold, if so."""

    decides: float
    shown: float
    unseen: str | None = None


def guardrail_result(
    rail: Guardrail, columns: MetricColumns, estimate: Estimated, arm: str, limit: RailLimit
) -> GuardrailResult:
    """Holds the arms of a metric against a guardrail; one of which the log has nothing to count is open."""
    arms = estimate.arms
    level = min(limit.shown, _MOST) if limit.shown > 0 else 0.05
    found = non_inferior(
        arms,
        rail.margin or _TINY,
        higher_is_better=SIGN[columns.better] > 0,
        relative=rail.relative,
        alpha=level,
    )
    effect = arms.relative() if rail.relative else arms.difference()
    harm = -effect.value * SIGN[columns.better]
    known = limit.decides > 0 and limit.unseen is None and not isnan(found.p)
    standing: Standing = found.standing if known else "open"
    return GuardrailResult(
        rail.metric,
        arm,
        rail.margin,
        rail.relative,
        harm,
        found.worst if limit.shown > 0 else inf,
        found.p,
        found.p_broken,
        limit.decides,
        standing,
        limit.unseen or found.note,
        found.least if limit.shown > 0 else -inf,
    )
