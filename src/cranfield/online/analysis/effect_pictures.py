"""Pictures of online experiments: effects with their intervals, how they went, and whether arms had their shares."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING

from cranfield.errors import percent
from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.estimates import MetricEffect
from cranfield.plot.style import BAD, COLOURS, GOOD, INK, NEUTRAL, Chart, Row, Theme, chart_of, find_theme, styled

if TYPE_CHECKING:
    import altair as alt

STANDINGS = ("better", "worse", "different", "open")
SHADE = 0.2  # of a band
ROW = 22  # pixels of a row of a forest
MOST_ROWS = 60
LEAST_LABEL = 130  # pixels of a name, however small the plot
_ALARM_Z = 3.2905  # two-sided 0.001


def effects_forest(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """Relative effects of all metrics with the intervals that decide: primary, guardrails, secondary."""
    effects = [
        *((effect, "primary") for effect in result.primary),
        *((effect, "guardrail") for effect in result.guarded),
        *((effect, "secondary") for effect in result.secondary),
    ]
    several = len(result.primary) > 1
    rows = [
        _row(f"{e.metric} ({role})" + (f", {e.arm}" if several else ""), e, e.relative, e.relative_low, e.relative_high)
        for e, role in effects
        if isfinite(e.relative)
    ]
    gone = len(effects) - len(rows)
    caption = "Effect on each metric relative to the control, with the interval that goes with its decision."
    caption += f" {gone} without a relative effect left out." if gone else ""
    return _forest(rows, _look(theme), "relative effect", ".1%", caption)


def segments_forest(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect in each segment, with all units above."""
    several = len(result.primary) > 1
    shown = [*result.primary, *result.segments[: MOST_ROWS - len(result.primary)]]
    rows = [
        _row((e.part or "all units") + (f", {e.arm}" if several else ""), e, e.difference, e.low, e.high) for e in shown
    ]
    gone = len(result.segments) + len(result.primary) - len(shown)
    caption = f"Difference of {result.trial.primary} in segments named beforehand, corrected as one family."
    caption += f" {gone} segments left out." if gone else ""
    return _forest(rows, _look(theme), f"difference of {result.trial.primary}", "+.3~g", caption)


def _look(theme: str | Theme) -> Theme:
    return theme if isinstance(theme, Theme) else find_theme(theme)


def _row(label: str, effect: MetricEffect, value: float, low: float, high: float) -> Row:
    return {
        "label": label,
        "value": value if isfinite(value) else None,
        "low": low if isfinite(low) else None,
        "high": high if isfinite(high) else None,
        "standing": effect.standing if effect.standing in STANDINGS else "open",
    }


def _forest(rows: Sequence[Row], look: Theme, title: str, form: str, caption: str) -> Chart:
    import altair as alt

    base = chart_of(rows)
    colour = alt.Color(
        "standing:N",
        title=None,
        scale=alt.Scale(domain=list(STANDINGS), range=[GOOD, BAD, COLOURS[2], NEUTRAL]),
        legend=alt.Legend(orient="top", columns=4 if look.width > 300 else 2),
    )
    names = alt.Axis(labelLimit=max(look.width / 2, LEAST_LABEL), labelPadding=8, ticks=False, domain=False)
    y = alt.Y("label:N", title=None, sort=None, axis=names)
    across = alt.X("low:Q", title=title, axis=alt.Axis(format=form), scale=alt.Scale(padding=12))
    bars = base.transform_filter("datum.low != null && datum.high != null").mark_rule(strokeWidth=look.line)
    ends = bars.encode(y=y, x=across, x2="high:Q", color=colour)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, x="value:Q", color=colour)
    height = look.row(len(rows), ROW) * max(len(rows), 1)
    made = alt.layer(ends, points, _zero("x")).properties(width=look.width, height=height)
    return styled(made, look, caption=caption + _without_ends(rows))


def _without_ends(rows: Sequence[Row]) -> str:
    """What is to be said of intervals that a picture cannot show."""
    endless = sum(row["low"] is None or row["high"] is None for row in rows)
    if not endless:
        return ""
    which = "Intervals" if endless == len(rows) else f"{endless} of {len(rows)} intervals"
    return f" {which} that have no end are not drawn."


def _zero(side: str) -> alt.Chart:
    import altair as alt

    rule: alt.Chart = chart_of([{"zero": 0.0}]).mark_rule(color=INK, strokeDash=[4, 3])
    return rule.encode(x=alt.datum(0)) if side == "x" else rule.encode(y=alt.datum(0))


def effect_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect on the units that had come by each day, with the interval that so many units have."""
    look = _look(theme)
    rows: list[Row] = [
        {"day": p.day, "arm": p.arm, "difference": p.difference, "low": _end(p.low), "high": _end(p.high)}
        for p in result.course
        if isfinite(p.difference)
    ]
    caption = (
        f"Difference of {result.trial.primary} in units that had come by a day, with all that they did since, and the "
        f"interval by which a look with so many units decides ({result.rule.method}): something is found where it "
        "leaves out 0."
    )
    return _over_time(rows, look, "units first seen by", f"difference of {result.trial.primary}", caption)


def novelty_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect by days since units were first exposed."""
    look = _look(theme)
    rows: list[Row] = [
        {"day": d.day, "arm": d.arm, "difference": d.difference, "low": _end(d.low), "high": _end(d.high)}
        for d in result.exposed_days
        if isfinite(d.difference)
    ]
    sure = percent(result.trial.alpha)
    caption = (
        f"Difference of {result.trial.primary} by days since first exposure; {sure} intervals of each day by itself."
    )
    return _over_time(
        rows, look, "days since first exposure", f"difference of {result.trial.primary}", caption, days=False
    )


def _over_time(rows: list[Row], look: Theme, across: str, up: str, caption: str, *, days: bool = True) -> Chart:
    import altair as alt

    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    colour = alt.Color(
        "arm:N",
        title=None,
        scale=alt.Scale(domain=arms, range=[*COLOURS[: len(arms)]]),
        legend=alt.Legend(orient="top") if len(arms) > 1 else None,
    )
    base = chart_of(rows)
    dates = alt.Axis(format="%-d %b", tickCount=6, labelOverlap=True)
    # A day in UTC is not to become the evening before, wherever the picture is drawn.
    there = alt.Scale(type="utc") if days else alt.Scale(zero=False, nice=False)
    ticks = dates if days else alt.Axis(tickMinStep=1)
    x = alt.X("day:T" if days else "day:Q", title=across, axis=ticks, scale=there)
    axis, seen = alt.Axis(format="+.3~g", titlePadding=12), alt.Scale(domain=_window(rows))
    band = base.transform_filter("datum.low != null").mark_area(opacity=SHADE, clip=True)
    shade = band.encode(x=x, y=alt.Y("low:Q", title=up, axis=axis, scale=seen), y2="high:Q", color=colour)
    line = base.mark_line(strokeWidth=look.line, point=True, clip=True)
    line = line.encode(x=x, y=alt.Y("difference:Q", title=up, axis=axis, scale=seen), color=colour)
    made = alt.layer(shade, line, _zero("y")).properties(width=look.width, height=look.height)
    return styled(made, look, caption=caption + _without_ends(rows))


def _window(rows: Sequence[Row]) -> list[float]:
    """What is worth seeing of the height: the intervals of all but the first days, which may be endless."""
    later = rows[len(rows) // 4 :]
    ends = [row[name] for row in later for name in ("low", "high", "difference")]
    known = [float(end) for end in ends if isinstance(end, float | int)] or [-1.0, 1.0]
    low, high = min(0.0, *known), max(0.0, *known)
    room = 0.05 * (high - low) or 1.0
    return [low - room, high + room]


def _end(value: float) -> float | None:
    return value if isfinite(value) else None


def sample_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The share of each arm among the units seen by each day, with what chance leaves room for."""
    look = _look(theme)
    shares = result.trial.shares
    rows: list[Row] = []
    for day in result.sample.days:
        total = sum(day.counts)
        for arm, count in zip(result.sample.arms, day.counts, strict=True):
            room = _ALARM_Z * sqrt(shares[arm] * (1 - shares[arm]) / total) if total else 0.0
            rows.append(
                {
                    "day": day.day,
                    "arm": arm,
                    "difference": count / total - shares[arm] if total else None,
                    "low": -room,
                    "high": room,
                }
            )
    rows = [row for row in rows if row["arm"] != result.trial.control]
    caption = (
        "Share of units in each arm less its planned share, of all units first seen by a day; shaded: what chance "
        "leaves room for at one look (99.9%)."
    )
    return _over_time(rows, look, "units first seen by", "share less planned", caption)
