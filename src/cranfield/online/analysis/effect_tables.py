"""The tables of an analysis, each with its title and the sentences that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING

from cranfield.errors import percent, plural, share
from cranfield.online.analysis.verdicts import shared, signed
from cranfield.render.grid import Cell, Grid

if TYPE_CHECKING:
    from cranfield.online.analysis.analysis import TrialAnalysis
    from cranfield.online.analysis.estimates import MetricEffect

BETTER = {"more": "more is better", "less": "less is better", "neither": "neither is better"}
Table = tuple[str, Grid, list[str]]


def tables(result: TrialAnalysis) -> list[Table]:
    """Every table with its title and sentences; those of effects only if they are not withheld."""
    found: list[Table] = [_sample(result)]
    if result.withheld:
        found[0][2].append("Effects are withheld: mend the assignment or the log first.")
    else:
        found += [_effects("Primary metric", result.primary, _primary_notes(result))]
        found += [_guardrails(result)] if result.guardrails else []
        family = _family_notes(result)
        found += [_effects("Secondary metrics", result.secondary, family)] if result.secondary else []
        found += [_segments(result, [] if result.secondary else family)] if result.segments else []
        found += [_triggered(result)] if result.triggered else []
        found += [_adjusted(result)] if result.adjusted else []
        found += [_novelty(result)] if result.exposed_days else []
    found.append(_exposure(result))
    return [*found, _excluded(result)] if result.excluded else found


def p_shown(value: float) -> str:
    """A p-value: to four digits, or as below the least of these."""
    return "–" if isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _value(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4g}"


def _sample(result: TrialAnalysis) -> Table:
    sample, total = result.sample, sum(result.sample.counts)
    rows = [
        [arm, f"{count:,}", f"{wanted:,.1f}", share(count / total, 2) if total else "–"]
        for arm, count, wanted in zip(sample.arms, sample.counts, sample.expected, strict=True)
    ]
    note = f"p = {_p_long(sample.p)} at one look, {_p_long(sample.sequential_p)} at all looks together"
    return "Sample ratio", Grid(["arm", "units", "expected", "share"], rows), [f"{note}; alarm below 0.001"]


def _p_long(value: float) -> str:
    return "–" if isnan(value) else f"{value:.2g}"


def _effects(title: str, effects: Sequence[MetricEffect], notes: list[str]) -> Table:
    header = ["metric", "arm", "control", "treatment", "difference", "low", "high", "relative", "low", "high", "p", ""]
    rows = [[e.metric, e.arm, *_numbers(e)] for e in effects]
    return title, Grid(header, rows, labels=2), notes


def _numbers(effect: MetricEffect) -> list[str | Cell]:
    return [
        _value(effect.control),
        _value(effect.treatment),
        Cell(signed(effect.difference), bold=effect.found),
        signed(effect.low),
        signed(effect.high),
        shared(effect.relative),
        shared(effect.relative_low),
        shared(effect.relative_high),
        p_shown(effect.p),
        effect.standing,
    ]


def _primary_notes(result: TrialAnalysis) -> list[str]:
    first = result.primary[0]
    notes = [f"{BETTER[first.better]}; {_limit_told(first.limit, first.shown)}", *_adjustment_told(result)]
    if len(result.primary) > 1:
        notes.append(f"alpha is shared by {plural(len(result.primary), 'arm')}")
        notes.append(f"each arm was compared with {result.trial.control}, and none with another")
    notes += [f"{e.arm}: {e.note}" for e in result.primary if e.note]
    for arm, effect in result.stopped:
        sure = percent(result.trial.alpha / len(result.primary))
        ends = f"({sure} interval {signed(effect.low)} to {signed(effect.high)})"
        if len(result.rule.information) == 1:
            notes.append(f"{arm}: stopped at the first look, where the estimate needs no correction for looks before")
        else:
            notes.append(
                f"{arm}: after looks before this one, if none of them had found anything, the median unbiased estimate "
                f"is {signed(effect.estimate)} {ends}, in place of {signed(effect.plain)}"
            )
    return notes


def _adjustment_told(result: TrialAnalysis) -> list[str]:
    """Of what a table shows, what is adjusted: the arms are as they were, or one control would read differently."""
    if not result.adjusted:
        return []
    names = ", ".join(covariate for covariate, _, _ in result.adjusted[0].balance)
    return [
        "control and treatment are the arms as they are; the difference, its interval, the relative ones and p are "
        f"adjusted by regression on {names}"
    ]


def _limit_told(limit: float, shown: float) -> str:
    if limit <= 0:
        interval = f"; the interval ({percent(shown)}) is always valid, and decides nothing" if shown > 0 else ""
        return f"nothing can be found at this look{interval}"
    return (
        f"found if p is below {limit:.3g} at this look; the interval ({percent(limit)}) is the one that goes with that"
    )


def _family_notes(result: TrialAnalysis) -> list[str]:
    if result.family is None:
        return []
    parts = [
        (len(result.secondary), "secondary metric", ""),
        (len(result.segments), "segment", ""),
        (len(result.differences), "test", " of whether segments differ"),
    ]
    told = ", ".join(f"{plural(count, noun)}{more}" for count, noun, more in parts if count)
    family = f"one family of {plural(result.family.size, 'question')} ({told}), corrected by Holm"
    shown = [*result.secondary, *result.segments][0].shown
    notes = [f"{family}; {_limit_told(result.family.limit, shown)}"]
    notes += _adjustment_told(result) if result.secondary else []
    odd = [e.metric for e in result.secondary if e.better == "less"]
    if odd:
        notes.append(f"less is better of {', '.join(dict.fromkeys(odd))}")
    neither = [e.metric for e in result.secondary if e.better == "neither"]
    if neither:
        notes.append(f"neither more nor less is better of {', '.join(dict.fromkeys(neither))}")
    return notes + [f"{e.metric}, {e.arm}: {e.note}" for e in result.secondary if e.note]


def _guardrails(result: TrialAnalysis) -> Table:
    header = ["metric", "arm", "margin", "harm", "worst", "p held", "p broken", ""]
    rows = []
    for rail in result.guardrails:
        told = shared if rail.relative else signed
        rows.append(
            [
                rail.metric,
                rail.arm,
                told(rail.margin).removeprefix("+"),
                told(rail.harm),
                told(rail.worst),
                p_shown(rail.p),
                p_shown(rail.p_broken),
                rail.standing,
            ]
        )
    limit = result.guardrails[0].limit
    below = f"one-sided p below {limit:.3g}" if limit > 0 else "which nothing can be at this look"
    notes = [
        f"held if a harm of the margin is ruled out, {below}, and broken if less harm is; all must hold",
        "harm: how much worse, below 0 a gain; worst: the largest harm that is not ruled out",
        *(f"{rail.metric}, {rail.arm}: {rail.note}" for rail in result.guardrails if rail.note),
    ]
    return "Guardrails", Grid(header, rows, labels=2), notes


def _segments(result: TrialAnalysis, notes: list[str]) -> Table:
    header = ["segment", "arm", "units", "difference", "low", "high", "relative", "p", ""]
    rows: list[list[str | Cell]] = [
        [
            effect.part,
            effect.arm,
            f"{sum(effect.units):,}",
            Cell(signed(effect.difference), bold=effect.found),
            signed(effect.low),
            signed(effect.high),
            shared(effect.relative),
            p_shown(effect.p),
            effect.standing,
        ]
        for effect in result.segments
    ]
    between = [
        f"{d.arm}: the effect {'differs' if d.found else 'is not shown to differ'} between values of {d.segment} "
        f"(p = {_p_long(d.p)})"
        for d in result.differences
    ]
    title = f"Segments, by {result.trial.primary}"
    return title, Grid(header, rows, labels=2), [*between, *notes]


def _triggered(result: TrialAnalysis) -> Table:
    _, grid, _ = _effects("", result.triggered, [])
    rows = [[e.part, *row[1:]] for e, row in zip(result.triggered, grid.rows, strict=True)]
    notes = [
        "exposed: units from their first query on for which the arms' lists differ; complement: queries before that, "
        "and all other units, which must show no effect, as in an A/A test",
        *_adjustment_told(result),
    ]
    return f"Where lists differ, by {result.trial.primary}", Grid(["part", *grid.header[1:]], rows, labels=2), notes


def _adjusted(result: TrialAnalysis) -> Table:
    rows = []
    for ways in result.adjusted:
        for name, effect, left in zip(
            ("as it is", "CUPED", "regression"), (ways.plain, ways.cuped, ways.regression), ways.remaining, strict=True
        ):
            ends = [signed(effect.value), signed(effect.low), signed(effect.high), p_shown(effect.p)]
            rows.append([name, ways.arm, *ends, share(left, 1) if left <= 1 else f"{left:.1%}"])
    names = ", ".join(covariate for covariate, _, _ in result.adjusted[0].balance)
    notes = [f"by {names}, known before; regression in each arm decides"]
    header = ["adjustment", "arm", "difference", "low", "high", "p", "variance left"]
    return f"Adjustment, by {result.trial.primary}", Grid(header, rows, labels=2), notes


def _novelty(result: TrialAnalysis) -> Table:
    shown = [day for day in result.exposed_days if day.day < 14]
    rows = [[f"{d.day}", d.arm, f"{d.units:,}", signed(d.difference), signed(d.low), signed(d.high)] for d in shown]
    more = len(result.exposed_days) - len(shown)
    notes = [f"{percent(result.trial.alpha)} intervals of each day by itself, uncorrected"]
    notes += [f"{more:,} later rows are left out here"] if more else []
    for fade in result.fading:
        notes.append(f"{fade.arm}: {signed(fade.slope)} a day ± {fade.error:.2g} (p = {_p_long(fade.p)}, roughly)")
    header = ["days since first exposure", "arm", "units", "difference", "low", "high"]
    return f"Novelty, by {result.trial.primary}", Grid(header, rows, labels=2), notes


def _exposure(result: TrialAnalysis) -> Table:
    rows = [
        [e.arm, *("–" if count is None else f"{count:,}" for count in (e.units, e.queries, e.days))]
        for e in result.exposures
    ]
    notes = []
    for lost in result.worse:
        other = result.trial.control if lost.arm == lost.treatment else lost.treatment
        found = any(effect.found for effect in result.primary if effect.arm == lost.treatment)
        notes.append(
            f"{lost.arm} did worse than {other}{'' if found else ', if not surely'}: over {lost.counted:,.0f} "
            f"{_counted(lost.per, lost.counted)} it lost {_amount(lost.lost)} of what {result.trial.primary} counts "
            f"({_amount(lost.low)} to {_amount(lost.high)}; below 0 nothing is lost)"
        )
    return "Who was shown what", Grid(["arm", "units", "queries", "days"], rows), notes


def _counted(per: str, count: float) -> str:
    plurals = {"query": "queries", "unit": "units", "session": "sessions", "click": "clicks"}
    return per if round(count) == 1 else plurals.get(per, f"{per}s")


def _amount(value: float) -> str:
    return ("-∞" if value < 0 else "∞") if isinf(value) else f"{value:,.4g}"


def _excluded(result: TrialAnalysis) -> Table:
    rows = [[part.reason, f"{part.units:,}", f"{part.queries:,}", f"{part.events:,}"] for part in result.excluded]
    return "What does not count", Grid(["reason", "units", "queries", "events"], rows), []
