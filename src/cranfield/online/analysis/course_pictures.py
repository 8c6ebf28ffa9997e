"""Pictures of how an online experiment went: its effect and the shares of its arms, day by day."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from typing import NamedTuple

from cranfield.errors import percent, share
from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.effect_pictures import themed, without_ends
from cranfield.plot.style import COLOURS, INK, Chart, Row, Theme, chart_of, styled

SHADE = 0.2  # of a band
_ALARM_Z = 3.2905  # two-sided 0.001
_DAYS = "units first seen by"


class _Axes(NamedTuple):
    """What stands at the axes: across, and up with the form of its numbers; `dates` if days are dates."""

    across: str
    up: str
    form: str = "+.3~g"
    dates: bool = True


def effect_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect on the units that had come by each day: bars at looks that were planned, a band elsewhere."""
    primary = result.trial.primary
    rows = [
        _course_row(p.day, p.arm, p.difference, (p.low, p.high)) | {"look": "planned" if p.planned else None}
        for p in result.course
        if isfinite(p.difference)
    ]
    caption = f"Difference of {primary} in units that had come by a day, with all that they did since."
    if result.rule.method == "always valid":
        caption += (
            " The shaded intervals are always valid: they hold on all days together, and something is found on any day "
            "on which one leaves out 0."
        )
    else:
        caption += (
            " Bars are the intervals of looks that were made as planned: something is found where one of them leaves "
            "out 0. On other days the plan has no look; shaded is the interval, always valid, that one would have had "
            "there."
        )
    return _over_time(rows, _Axes(_DAYS, f"difference of {primary}"), themed(theme), caption)


def novelty_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The primary effect by days since units were first exposed."""
    primary = result.trial.primary
    rows = [
        _course_row(d.day, d.arm, d.difference, (d.low, d.high)) for d in result.exposed_days if isfinite(d.difference)
    ]
    sure = percent(result.trial.alpha)
    caption = f"Difference of {primary} by days since first exposure; {sure} intervals of each day by itself."
    axes = _Axes("days since first exposure", f"difference of {primary}", dates=False)
    return _over_time(rows, axes, themed(theme), caption)


def sample_course(result: TrialAnalysis, *, theme: str | Theme = "screen") -> Chart:
    """The share of each arm but the control among the units seen by each day, with what chance leaves room for."""
    wanted = {arm: part for arm, part in result.trial.shares.items() if arm != result.trial.control}
    rows: list[Row] = []
    for day in result.sample.days:
        total = sum(day.counts)
        for arm, count in zip(result.sample.arms, day.counts, strict=True):
            if arm in wanted and total:
                room = _ALARM_Z * sqrt(wanted[arm] * (1 - wanted[arm]) / total)
                ends = wanted[arm] - room, wanted[arm] + room
                rows.append(_course_row(day.day, arm, count / total, ends, wanted[arm]))
    told = ", ".join(f"{arm} {share(part, 1)}" for arm, part in wanted.items())
    whose = next(iter(wanted)) if len(wanted) == 1 else "each arm but the control"
    caption = (
        f"Share of {whose} among all units first seen by a day; dashed: as planned ({told}); shaded: what chance "
        "leaves room for at one look (99.9%)."
    )
    return _over_time(rows, _Axes(_DAYS, f"share of {whose}", "~%"), themed(theme), caption)


def _course_row(day: str | int, arm: str, value: float, ends: tuple[float, float], expected: float = 0.0) -> Row:
    low, high = (end if isfinite(end) else None for end in ends)
    return {"day": day, "arm": arm, "value": value, "low": low, "high": high, "expected": expected}


def _over_time(rows: list[Row], axes: _Axes, look: Theme, caption: str) -> Chart:
    import altair as alt

    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    colour = alt.Color(
        "arm:N",
        title=None,
        scale=alt.Scale(domain=arms, range=[*COLOURS[: len(arms)]]),
        legend=alt.Legend(orient="top", symbolOpacity=1) if len(arms) > 1 else None,
    )
    base = chart_of(rows)
    dates = alt.Axis(format="%-d %b", tickCount=6, labelOverlap=True)
    # A day in UTC is not to become the evening before, wherever the picture is drawn.
    there = alt.Scale(type="utc", padding=6) if axes.dates else alt.Scale(zero=False, nice=False)
    ticks = dates if axes.dates else alt.Axis(tickMinStep=1)
    x = alt.X("day:T" if axes.dates else "day:Q", title=axes.across, axis=ticks, scale=there)
    height = alt.Axis(format=axes.form, titlePadding=12), alt.Scale(domain=_window(rows))
    low, middle = (alt.Y(name, title=axes.up, axis=height[0], scale=height[1]) for name in ("low:Q", "value:Q"))
    ended = base.transform_filter("datum.low != null")
    band = ended.transform_filter("!datum.look").mark_area(opacity=SHADE, clip=True)
    bars = ended.transform_filter("datum.look").mark_rule(strokeWidth=2 * look.line, clip=True)
    line = base.mark_line(strokeWidth=look.line, point=True, clip=True)
    made = alt.layer(
        band.encode(x=x, y=low, y2="high:Q", color=colour),
        bars.encode(x=x, y=low, y2="high:Q", color=colour),
        line.encode(x=x, y=middle, color=colour),
        *_expected(rows),
    )
    return styled(made.properties(width=look.width, height=look.height), look, caption=caption + without_ends(rows))


def _expected(rows: Sequence[Row]) -> list[Chart]:
    """Dashed lines at what would be without an effect: 0, or the planned shares."""
    import altair as alt

    levels = dict.fromkeys(row["expected"] for row in rows)
    return [
        chart_of([{"expected": level}]).mark_rule(color=INK, strokeDash=[4, 3]).encode(y=alt.datum(level))
        for level in levels
    ]


def _window(rows: Sequence[Row]) -> list[float]:
    """What is worth seeing of the height: what was expected, and the intervals of all but the first days, which may be
    endless.
    """
    later = rows[len(rows) // 4 :]
    ends = [row[name] for row in later for name in ("low", "high", "value", "expected")]
    known = [float(end) for end in ends if isinstance(end, float | int)] or [-1.0, 1.0]
    room = 0.05 * (max(known) - min(known)) or 1.0
    return [min(known) - room, max(known) + room]
