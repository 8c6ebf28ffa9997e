"""What a reader of an analysis must know before believing it: each caution has a code, a sentence and a test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from math import isnan
from typing import TYPE_CHECKING

from cranfield.errors import plural, share, some
from cranfield.evaluation.findings import Finding
from cranfield.online.analysis.looking import NEAR
from cranfield.online.analysis.verdicts import shared, signed
from cranfield.online.seen_events import unseen_told
from cranfield.online.units import IN_TWO_ARMS
from cranfield.statistics.sample_ratio import ALARM

if TYPE_CHECKING:
    from cranfield.online.analysis.analysis import TrialAnalysis
    from cranfield.online.analysis.looking import LookRule
    from cranfield.online.moments_files import Aggregate

FEW = 30  # units of an arm below which even t leans on normal values
TOO_GOOD, TOO_SURE = 0.5, 1e-8  # relative effect and p from which on an error of measurement is likelier
TWICE = 0.01  # share of units in two arms from which on the assignment is in doubt
FADES = 0.01  # p of a slope over the days since exposure


def cautions(result: TrialAnalysis, found: Aggregate) -> list[Finding]:
    """Everything to be told of an analysis, what is most doubtful first; of effects only if there are any."""
    told = [*_of_units(result), *_of_time(result, found), *_of_data(result, found)]
    if not result.withheld:
        told += [*_of_effects(result), *_of_covariates(result, found), *_of_parts(result)]
    return sorted(told, key=lambda finding: not finding.doubtful)


def _of_units(result: TrialAnalysis) -> Iterator[Finding]:
    name, trial = result.trial.name, result.trial
    for arm, count in zip(result.sample.arms, result.sample.counts, strict=True):
        if 0 < count < FEW:
            yield Finding(
                "few-units",
                name,
                f"the arm {arm} has {plural(count, 'unit')}: with fewer than {FEW}, intervals need normal values",
            )
    if result.rule.final and trial.maximum is not None and result.units < trial.maximum * (1 - NEAR):
        reached = share(result.units / trial.maximum, 1)
        yield Finding(
            "fewer-units-than-planned",
            name,
            f"the trial has ended with {reached} of the {plural(trial.maximum, 'unit')} planned: it finds less than it "
            "was to find",
        )
    if not result.rule.planned and not result.withheld:  # what is withheld is no look
        yield Finding("unplanned-look", name, _unplanned(result.rule))
    if result.overridden:
        yield Finding("mismatch-overridden", name, f"effects are shown although {result.sample.broken}")


def _unplanned(rule: LookRule) -> str:
    if rule.exhausted:
        return "this look was not planned, and an earlier one used up all of alpha: neither it nor a later one decides"
    if rule.fits:
        return "an earlier look was not planned: intervals are always valid since then, and at every later look"
    return "this look was not planned: its intervals are always valid, as those of every later look will be"


def _of_time(result: TrialAnalysis, found: Aggregate) -> Iterator[Finding]:
    days = sorted(found.of("day"))
    if not days:
        return
    length = (date.fromisoformat(days[-1]) - date.fromisoformat(days[0])).days + 1
    if length % 7:
        weeks = (
            f"{plural(length // 7, 'week')} and {plural(length % 7, 'day')}" if length > 7 else plural(length, "day")
        )
        yield Finding(
            "part-weeks",
            result.trial.name,
            f"the log covers {weeks}, not whole weeks: days of the week count unevenly, and people differ by these",
            doubtful=length < 7,
        )


def _of_data(result: TrialAnalysis, found: Aggregate) -> Iterator[Finding]:
    name = result.trial.name
    twice = sum(part.units for part in found.excluded if part.reason == IN_TWO_ARMS)
    if twice and twice > TWICE * (result.units + twice):
        yield Finding(
            "units-in-two-arms",
            name,
            f"{plural(twice, 'unit')} ({share(twice / (result.units + twice), 1)}) were in two arms and are left out: "
            "if the arms lose unlike ones, they are no longer alike",
        )
    for metric, action in (found.unseen or {}).items():
        yield Finding("unseen-action", name, f"{metric}: {unseen_told(action, found.actions or ())}")
    for metric, capped in (found.capped or {}).items():
        cap = found.metric(metric).cap
        if capped and cap is not None:
            told = f"{metric}: {plural(capped, 'unit')} above {cap:.4g} count as that, as the trial has it"
            yield Finding("winsorised", name, told, doubtful=False)
    for metric in found.rough_quantiles:
        told = f"{metric}: too few units for so high or low a quantile: its interval is a rough one"
        yield Finding("rough-quantile", name, told)
    for columns in found.metrics:
        if columns.censored is not None:
            shares = ", ".join(
                f"{arm} {share(moments.mean(columns.censored) / moments.mean(below), 1)}"
                for arm, moments in found.whole.items()
                if (below := columns.denominator or columns.censored) in moments.names and moments.mean(below)
            )
            told = f"{columns.name}: of some queries only a bound is known, which counts as its value: {shares}"
            yield Finding("censored", name, told, doubtful=False)


def _of_effects(result: TrialAnalysis) -> Iterator[Finding]:
    name = result.trial.name
    for effect in result.primary:
        large = not isnan(effect.relative) and abs(effect.relative) > TOO_GOOD and effect.found
        if large or effect.p < TOO_SURE:
            how = (
                f"by {shared(effect.relative)}, more than changes to search usually do"
                if large
                else f"with p = {effect.p:.1g}, surer than tests of search usually are"
            )
            yield Finding(
                "too-good-to-be-true",
                name,
                f"{effect.metric} of {effect.arm} changed {how}: suspect what is measured before you believe it "
                "(Twyman's law)",
            )
    worse = [effect for effect in result.secondary if effect.standing == "worse"]
    for effect in worse:
        told = f"{effect.arm} is worse by the secondary metric {effect.metric}: {signed(effect.difference)}"
        yield Finding("secondary-worse", name, told)
    for moved in result.denominators:
        if moved.moved:
            per_unit = "" if isnan(moved.per_unit) else f"; what it counts changed by {shared(moved.per_unit)} a unit"
            yield Finding(
                "denominator-moved",
                name,
                f"{moved.metric} of {moved.arm}: what it is divided by changed by {shared(moved.relative)} a unit "
                f"(p = {moved.p:.2g}), so that it tells only part of the effect{per_unit}",
            )
    for fade in result.fading:
        if fade.p < FADES:
            way = "grows" if fade.slope > 0 else "falls"
            yield Finding(
                "effect-changes",
                name,
                f"the difference of {fade.arm} {way} by {abs(fade.slope):.3g} a day since first exposure (p = "
                f"{fade.p:.2g}, roughly): users may be getting used to it",
            )
    if result.rule.method == "always valid" and any(effect.found for effect in result.primary):
        yield Finding(
            "biased-estimate",
            name,
            "if this look ends the experiment because of what it shows, the plain estimate is too large on average; "
            "the interval holds",
            doubtful=False,
        )


def _of_covariates(result: TrialAnalysis, found: Aggregate) -> Iterator[Finding]:
    name = result.trial.name
    for ways in result.adjusted:
        for covariate, difference, p in ways.balance:
            if p < ALARM:
                yield Finding(
                    "covariate-differs",
                    name,
                    f"{ways.arm} and the control differ in the covariate {covariate} ({signed(difference)}, p = "
                    f"{p:.2g}): it was not known before exposure, or the arms were not alike",
                )
    unknown = {covariate: count for covariate, count in (found.unknown_covariates or {}).items() if count}
    for covariate, count in unknown.items():
        told = f"{plural(count, 'unit')} have no value of the covariate {covariate} and count as 0"
        yield Finding("unknown-covariates", name, told, doubtful=False)


def _of_parts(result: TrialAnalysis) -> Iterator[Finding]:
    name = result.trial.name
    for effect in result.triggered:
        if effect.part == "complement" and effect.found:
            yield Finding(
                "complement-differs",
                name,
                f"queries of {effect.arm} before or without a list that differs show an effect all the same "
                f"({signed(effect.difference)}, p = {effect.p:.2g}): they must be as in an A/A test, so what says "
                "whether lists differ is wrong",
            )
    parts = result.sample.parts
    off = [part.part for part in parts if part.p < ALARM / len(parts)]
    if off:
        told = f"the sample ratio is off in {some(off)}: effects there compare units that are not alike"
        yield Finding("sample-ratio-of-parts", name, told)
