"""What a trial must be to mean something: every mistake is told with the key it stands under."""

from __future__ import annotations

from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING

from cranfield.errors import UsageError, either, shorten
from cranfield.online.trial import SPENDINGS, Looks

if TYPE_CHECKING:
    from cranfield.online.trial import Trial


class TrialError(UsageError):
    """A trial says something that cannot be; `key` is where.

    >>> TrialError("alpha", "is a number between 0 and 1, not 2").key
    'alpha'
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key} {message}")
        self.key = key


def check_trial(trial: Trial) -> None:
    """Refuses a trial that contradicts itself."""
    if not trial.name.strip():
        raise TrialError("name", "is empty: an experiment has a name")
    _check_arms(trial)
    if not 0 < trial.alpha < 1:
        raise TrialError("alpha", f"is a number between 0 and 1, not {trial.alpha:g}")
    if trial.maximum is not None and trial.maximum < 2:
        raise TrialError("maximum", f"is a whole number of units from 2, not {trial.maximum}")
    if trial.start is not None and trial.end is not None and trial.start >= trial.end:
        raise TrialError("end", f"({trial.end}) must be after start ({trial.start})")
    _check_metrics(trial)
    _check_looks(trial.looks, trial.maximum)
    _check_limits(trial)


def _check_arms(trial: Trial) -> None:
    if len(trial.arms) < 2:
        raise TrialError("arms", f"has {len(trial.arms)}: at least two are compared")
    for arm, weight in trial.arms.items():
        if not isfinite(weight) or weight <= 0:
            raise TrialError(f"arms.{arm}", f"is a weight above 0, not {weight:g}")


def _check_metrics(trial: Trial) -> None:
    places = [("primary", trial.primary)]
    places += [(f"guardrails.{rail.metric}", rail.metric) for rail in trial.guardrails]
    places += [("secondary", name) for name in trial.secondary]
    for name, own in trial.metrics.items():
        try:
            trial.metric(name)
        except UsageError as error:
            raise TrialError(f"metrics.{name}", f"cannot be: {error}") from None
        if own.better not in ("more", "less", "neither"):
            raise TrialError(f"metrics.{name}.better", f"is more, less or neither, not '{shorten(own.better)}'")
    better = {}
    for key, name in places:
        try:
            better[name] = trial.metric(name).better
        except UsageError as error:
            raise TrialError(key, f"is no metric: {error}") from None
    if better[trial.primary] == "neither":
        raise TrialError("primary", f"is {trial.primary}, of which neither more nor less is better: it decides nothing")
    if trial.metric(trial.primary).is_quantile:
        raise TrialError("primary", f"is {trial.primary}, a quantile: it can be a guardrail or secondary")
    for rail in trial.guardrails:
        if better[rail.metric] == "neither":
            raise TrialError(f"guardrails.{rail.metric}", "has no direction in which it could get worse")
        if not isfinite(rail.margin) or rail.margin < 0:
            raise TrialError(f"guardrails.{rail.metric}", f"has a margin from 0, not {rail.margin:g}")
        if rail.relative and rail.margin >= 1:
            raise TrialError(
                f"guardrails.{rail.metric}",
                f"has a relative margin of {rail.margin:g}, which is {rail.margin * 100:g} %: write "
                f"{rail.margin / 100:g} for {rail.margin:g} %, or a margin in units of the metric",
            )
    if trial.primary in trial.secondary:
        raise TrialError("secondary", f"has {trial.primary}, which is the primary metric already")


def _check_looks(looks: Looks, maximum: int | None) -> None:
    if looks.spending not in SPENDINGS:
        near = get_close_matches(str(looks.spending), SPENDINGS, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise TrialError("looks.spending", f"is {either(SPENDINGS)}, not '{shorten(str(looks.spending))}'{meant}")
    rising = all(a < b for a, b in zip(looks.at, looks.at[1:], strict=False))
    if not looks.at or not rising or looks.at[0] <= 0 or looks.at[-1] != 1:
        raise TrialError("looks.at", f"has rising shares of the maximum, the last of which is 1, not {list(looks.at)}")
    if len(looks.at) > 1 and maximum is None:
        raise TrialError("looks.at", "has shares of the maximum, which is not given: write maximum = …")


def _check_limits(trial: Trial) -> None:
    for name, cap in trial.winsorise.items():
        key = f"winsorise.{name}"
        if name not in trial.metric_names:
            near = get_close_matches(name, trial.metric_names, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise TrialError(key, f"is none of the trial's metrics, {', '.join(trial.metric_names)}{meant}")
        if trial.metric(name).is_quantile:
            raise TrialError(key, "is a quantile, which a few large values do not move: it is not capped")
        if (cap.quantile is None) == (cap.value is None):
            raise TrialError(key, "is a quantile, or a table with at = VALUE")
        if cap.quantile is not None and not 0.5 < cap.quantile < 1:
            raise TrialError(key, f"is a quantile between 0.5 and 1, not {cap.quantile:g}")
        if cap.value is not None and not (isfinite(cap.value) and cap.value > 0):
            raise TrialError(key, f"is capped at a value above 0, not {cap.value:g}")
    for name, limit in (
        ("queries_per_day", trial.exclusions.queries_per_day),
        ("late_hours", trial.exclusions.late_hours),
    ):
        if limit is not None and not (isfinite(limit) and limit > 0):
            raise TrialError(f"exclusions.{name}", f"is a number above 0, not {limit:g}")
