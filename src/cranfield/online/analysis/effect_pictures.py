"""Pictures of what an online experiment showed: effects with their intervals, guardrails with their margins."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING

from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.effect_tables import BETTER
from cranfield.online.analysis.estimates import SIGN, MetricEffect
from cranfield.online.analysis.guardrails import GuardrailResult
from cranfield.plot.style import BAD, COLOURS, GOOD, INK, NEUTRAL, Chart, Row, Theme, chart_of, find_theme, styled

if TYPE_CHECKING:
    import altair as alt

# A guardrail that is held is not better, nor is one that is broken worse: these have colours of their own.
STANDINGS = {
    "better": GOOD,
    "worse": BAD,
    "different": COLOURS[2],
    "held": COLOURS[5],
    "broken": COLOURS[6],
    "open": NEUTRAL,
}
ARROWS = {"more": "→ ", "less": "← ", "neither": ""}  # to the side that is better
ROW = 22  # pixels of a row of a forest
MOST_ROWS = 60
LEAST_LABEL = 170  # pixels of a name, however small the plot
MARGIN = "M0,-1L0,1"  # an upright stroke


def effects_forest(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """Relative effects of all metrics with the intervals that decide: primary, guardrails, secondary."""
    several = len(result.primary) > 1
    rows = [_effect_row(effect, "primary", several) for effect in result.primary]
    guarded = zip(result.guarded, result.guardrails, strict=True)
    rows += [_guardrail_row(effect, rail, several) for effect, rail in guarded]
    rows += [_effect_row(effect, "secondary", several) for effect in result.secondary]
    known = [row for row in rows if row["value"] is not None]
    caption = (
        "Effect on each metric relative to the control, with the interval that goes with its decision; an arrow points "
        "to the side that is better."
    )
    if result.guardrails:
        caption += (
            " The upright stroke of a guardrail is its margin: held where the whole interval is on the better side of "
            "it, broken where all of it is beyond."
        )
    gone = len(rows) - len(known)
    caption += f" {gone} without a relative effect left out." if gone else ""
    return _forest(known, themed(theme), "relative effect", ".1%", caption)


def _effect_row(effect: MetricEffect, role: str, several: bool) -> Row:
    label = _label(effect, role, several)
    return _row(label, effect.standing, effect.relative, effect.relative_low, effect.relative_high)


def _label(effect: MetricEffect, role: str, several: bool) -> str:
    return f"{ARROWS[effect.better]}{effect.metric} ({role})" + (f", {effect.arm}" if several else "")


def _guardrail_row(effect: MetricEffect, rail: GuardrailResult, several: bool) -> Row:
    """A guardrail as its table has it: from the smallest to the largest harm not ruled out, beside its margin.

    Where these are differences all are divided by the value of the control, which keeps what is within what.
    """
    by = -SIGN[effect.better] / (1 if rail.relative else abs(effect.control) or nan)
    ends = [rail.worst * by, rail.least * by]
    value = rail.harm * by if isfinite(effect.relative) else nan
    row = _row(_label(effect, "guardrail", several), rail.standing, value, min(ends), max(ends))
    return row | {"margin": rail.margin * by}


def segments_forest(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect in each segment, with all units above."""
    several = len(result.primary) > 1
    shown = [*result.primary, *result.segments[: MOST_ROWS - len(result.primary)]]
    rows = [
        _row((e.part or "all units") + (f", {e.arm}" if several else ""), e.standing, e.difference, e.low, e.high)
        for e in shown
    ]
    better = BETTER[result.primary[0].better]
    gone = len(result.segments) + len(result.primary) - len(shown)
    caption = f"Difference of {result.trial.primary} in segments named beforehand, corrected as one family."
    caption += f" {gone} segments left out." if gone else ""
    return _forest(rows, themed(theme), f"difference of {result.trial.primary}: {better}", "+.3~g", caption)


def themed(theme: str | Theme) -> Theme:
    """A theme, or the one of a name."""
    return theme if isinstance(theme, Theme) else find_theme(theme)


def _row(label: str, standing: str, value: float, low: float, high: float) -> Row:
    return {
        "label": label,
        "value": value if isfinite(value) else None,
        "low": low if isfinite(low) else None,
        "high": high if isfinite(high) else None,
        "standing": standing if standing in STANDINGS else "open",
    }


def _forest(rows: Sequence[Row], look: Theme, title: str, form: str, caption: str) -> Chart:
    import altair as alt

    base = chart_of(rows)
    found = {standing: colour for standing, colour in STANDINGS.items() if any(r["standing"] == standing for r in rows)}
    colour = alt.Color(
        "standing:N",
        title=None,
        scale=alt.Scale(domain=list(found), range=list(found.values())),
        legend=alt.Legend(orient="top", columns=len(STANDINGS) if look.width > 300 else 2),
    )
    names = alt.Axis(labelLimit=max(look.width / 2, LEAST_LABEL), labelPadding=8, ticks=False, domain=False)
    y = alt.Y("label:N", title=None, sort=None, axis=names)
    across = alt.X("low:Q", title=title, axis=alt.Axis(format=form), scale=alt.Scale(padding=12))
    bars = base.transform_filter("datum.low != null && datum.high != null").mark_rule(strokeWidth=look.line)
    ends = bars.encode(y=y, x=across, x2="high:Q", color=colour)
    points = base.mark_point(filled=True, size=60, opacity=1).encode(y=y, x="value:Q", color=colour)
    each = look.row(len(rows), ROW)
    margins = base.transform_filter("isValid(datum.margin)").mark_point(
        shape=MARGIN, size=(each * 0.7) ** 2, strokeWidth=look.line, color=INK, opacity=1
    )
    strokes = margins.encode(y=y, x="margin:Q")
    height = each * max(len(rows), 1)
    made = alt.layer(ends, points, strokes, _zero()).properties(width=look.width, height=height)
    return styled(made, look, caption=caption + without_ends(rows))


def without_ends(rows: Sequence[Row]) -> str:
    """What is to be said of intervals that a picture cannot show."""
    endless = sum(row["low"] is None or row["high"] is None for row in rows)
    if not endless:
        return ""
    which = "Intervals" if endless == len(rows) else f"{endless} of {len(rows)} intervals"
    return f" {which} that have no end are not drawn."


def _zero() -> alt.Chart:
    import altair as alt

    rule: alt.Chart = chart_of([{"zero": 0.0}]).mark_rule(color=INK, strokeDash=[4, 3])
    return rule.encode(x=alt.datum(0))
