"""Curves as lines, each with its name at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.curves import Curves, Point
from cranfield.plot.style import Theme, altair, colour_scale, dash_scale, find_theme, spread, styled


def lines(
    curves: Curves, *, theme: str = "screen", title: str = "", y_domain: tuple[float, float] | None = None
) -> Any:
    """One line a run; a second series of each run (an ideal, an upper bound) is thin and dotted.

    >>> from cranfield.curves import collect, interpolated
    >>> curves = interpolated(collect({"1": {"d1": 1}}, {"a": {"1": {"d1": 1.0}}}))
    >>> lines(curves).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    alt = altair()

    look = find_theme(theme)
    names = list(dict.fromkeys(_label(point) for point in curves.points))
    low, high = y_domain or _limits([point.y for point in curves.points])
    rows = [{"label": _label(p), "part": p.series or "run", "x": p.x, "y": p.y} for p in curves.points]
    series = list(dict.fromkeys(row["part"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=curves.x, scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("y:Q", title=curves.y, scale=alt.Scale(domain=[low, high], nice=False)),
        color=alt.Color("label:N", scale=colour_scale(names), legend=None),
        detail="part:N",
        tooltip=["label:N", alt.Tooltip("x:Q", title=curves.x), alt.Tooltip("y:Q", title=curves.y, format=".4f")],
    )
    main = base.transform_filter(alt.datum.part == "run").mark_line(strokeWidth=look.line)
    layers = [main.encode(strokeDash=alt.StrokeDash("label:N", scale=dash_scale(names), legend=None))]
    if len(series) > 1:
        layers.append(
            base.transform_filter(alt.datum.part != "run").mark_line(strokeWidth=look.line / 2, strokeDash=[2, 2])
        )
    layers.append(_end_labels(curves, names, look, (low, high)))
    chart = alt.layer(*layers).properties(width=look.width, height=look.height, title=title)
    return styled(chart, look)


def raw_and_interpolated(raw: Curves, smooth: Curves, *, theme: str = "screen", title: str = "") -> Any:
    """The points where relevant documents are found, and the interpolated curve over them, as lectures draw it."""
    alt = altair()

    look = find_theme(theme)
    names = list(dict.fromkeys(point.run for point in smooth.points))
    colour = alt.Color("run:N", scale=colour_scale(names), legend=None)
    limits = alt.Scale(domain=[0, 1], nice=False)
    axes = {"x": alt.X("x:Q", title="recall", scale=limits), "y": alt.Y("y:Q", title="precision", scale=limits)}
    found = alt.Chart(alt.Data(values=list(raw.rows()))).encode(color=colour, **axes)
    over = alt.Chart(alt.Data(values=list(smooth.rows()))).encode(color=colour, **axes)
    renamed = Curves(smooth.x, smooth.y, tuple(point._replace(topic="") for point in smooth.points))
    layers = [
        found.mark_line(strokeWidth=look.line / 2, opacity=0.6),
        found.mark_point(filled=True, size=look.font * 4, opacity=1),
        over.mark_line(strokeWidth=look.line, strokeDash=[6, 3]),
        over.mark_point(shape="square", size=look.font * 3, opacity=1),
        _end_labels(renamed, names, look, (0.0, 1.0)),
    ]
    return styled(alt.layer(*layers).properties(width=look.width, height=look.height, title=title), look)


def band(curves: Curves, *, theme: str = "screen") -> Any:
    """Lines with a band from each up to its upper series."""
    alt = altair()

    look = find_theme(theme)
    names = list(dict.fromkeys(point.run for point in curves.points))
    upper = {(point.run, point.x): point.y for point in curves.points if point.series == "upper"}
    rows = [p._asdict() | {"upper": upper[p.run, p.x]} for p in curves.points if p.series == ""]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x:Q", title=curves.x, scale=alt.Scale(nice=False, zero=False)),
        color=alt.Color("run:N", scale=colour_scale(names), legend=None),
        tooltip=["run:N", "x:Q", alt.Tooltip("y:Q", format=".4f"), alt.Tooltip("upper:Q", format=".4f")],
    )
    height = alt.Y("y:Q", title=curves.y, scale=alt.Scale(domain=[0, 1]))
    layers = [
        base.mark_area(opacity=0.07).encode(y=height, y2="upper:Q"),
        base.mark_line(strokeWidth=look.line / 2, strokeDash=[2, 2]).encode(y="upper:Q"),
        base.mark_line(strokeWidth=look.line).encode(y=height),
        _end_labels(
            Curves(curves.x, curves.y, tuple(p for p in curves.points if not p.series)), names, look, (0.0, 1.0)
        ),
    ]
    return styled(alt.layer(*layers).properties(width=look.width, height=look.height), look)


def _end_labels(curves: Curves, names: Sequence[str], look: Theme, limits: tuple[float, float]) -> Any:
    """Each name to the right of its line's last point, moved apart where names would touch."""
    alt = altair()

    low, high = limits
    last = {_label(point): point for point in curves.points if point.series == ""}
    shown = [name for name in names if name in last]
    gap = (high - low) * look.font * 1.1 / look.height
    places = spread([last[name].y for name in shown], gap, low, high)
    rows = [{"label": name, "x": last[name].x, "y": place} for name, place in zip(shown, places, strict=True)]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_text(align="left", dx=5, fontSize=look.font, limit=600)
        .encode(x="x:Q", y="y:Q", text="label:N", color=alt.Color("label:N", scale=colour_scale(names), legend=None))
    )


def _label(point: Point) -> str:
    return f"{point.run}, topic {point.topic}" if point.topic else point.run


def _limits(values: Sequence[float]) -> tuple[float, float]:
    highest = max(values, default=1.0)
    return 0.0, 1.0 if 0.5 < highest <= 1 else highest * 1.05 or 1.0
