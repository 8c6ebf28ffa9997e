"""A plan in words, a row for each thing that it fixes, for people who have not written it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.errors import plural

if TYPE_CHECKING:
    from cranfield.online.trial import Cap, Guardrail, Trial


def plan_rows(trial: Trial) -> list[list[str]]:
    """What a plan fixes, in the order in which one asks for it; what it does not fix is told too, where it decides.

    >>> from cranfield.online import read_trial
    >>> rows = dict(plan_rows(read_trial("examples/experiment.toml")))
    >>> rows["arms"], rows["looks"]
    ('bm25 (control) 50%, dense 50%', '50%, 100% of the maximum; spending obrien-fleming')
    >>> rows["guardrail latency"], rows["guardrail zero_results"]
    ('less is better; worse by less than 20', 'less is better; worse by less than 5%')
    """
    metrics = trial.resolved()
    rows = [
        ["name", trial.name],
        ["digest", trial.digest],
        ["arms", ", ".join(_arm(arm, of, arm == trial.control) for arm, of in trial.shares.items())],
        ["unit", trial.unit],
        ["primary", f"{trial.primary}; {_better(metrics[trial.primary].better)}"],
        *([f"guardrail {rail.metric}", _rail(rail, metrics[rail.metric].better)] for rail in trial.guardrails),
        ["secondary", "; ".join(f"{name}, {_better(metrics[name].better)}" for name in trial.secondary) or "none"],
        ["segments", ", ".join(trial.segments) or "none"],
        ["covariates", ", ".join(trial.covariates) or "none"],
        ["alpha", f"{trial.alpha:g}"],
        ["looks", _looks(trial)],
        ["maximum", "not fixed" if trial.maximum is None else plural(trial.maximum, "unit")],
        ["left out", "; ".join(_exclusions(trial)) or "nothing"],
        *([f"cap of {name}", _cap(cap)] for name, cap in trial.winsorise.items()),
        *(
            [f"metric {name}", f"{own.numerator} by {own.denominator}; {_better(own.better)}"]
            for name, own in trial.metrics.items()
        ),
        ["salt", trial.salt or "none"],
        ["start", "not fixed" if trial.start is None else trial.start.isoformat()],
        ["end", "not fixed" if trial.end is None else trial.end.isoformat()],
    ]
    return [list(row) for row in rows]


def _better(better: str) -> str:
    return "neither more nor less is better" if better == "neither" else f"{better} is better"


def _arm(arm: str, of: float, control: bool) -> str:
    return f"{arm}{' (control)' if control else ''} {_percent(of)}"


def _percent(value: float) -> str:
    return f"{value * 100:.6g}%"


def _rail(rail: Guardrail, better: str) -> str:
    return f"{_better(better)}; worse by less than {_percent(rail.margin) if rail.relative else f'{rail.margin:g}'}"


def _looks(trial: Trial) -> str:
    looks = trial.looks
    if looks.spending == "always-valid":
        return "at any time: intervals are always valid"
    if len(looks.at) < 2:
        return "one, the first" if trial.maximum is None and trial.end is None else "one, at the end"
    parameter = "" if looks.parameter is None else f" with {looks.parameter:g}"
    return f"{', '.join(map(_percent, looks.at))} of the maximum; spending {looks.spending}{parameter}"


def _exclusions(trial: Trial) -> list[str]:
    out = trial.exclusions
    told = [name for name, holds in (("bots", out.bots), ("duplicates of events", out.duplicates)) if holds]
    if out.queries_per_day is not None:
        told.append(f"units with more than {out.queries_per_day:g} queries on some day")
    if out.late_hours is not None:
        told.append(f"events more than {out.late_hours:g} hours after their query")
    return told + ([f"the units {', '.join(out.units)}"] if out.units else [])


def _cap(cap: Cap) -> str:
    if cap.value is not None:
        return f"{cap.value:g} a unit"
    assert cap.quantile is not None
    return f"the quantile {_percent(cap.quantile)} of all units"
