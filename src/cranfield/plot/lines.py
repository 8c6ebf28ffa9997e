"""Curves as lines, each with its name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cranfield.plot.curves import Curves, Point
from cranfield.plot.labels import End, beside_lines, end_labels
from cranfield.plot.style import (
    COLOURS,
    DASHES,
    INK,
    Chart,
    Row,
    Theme,
    chart_of,
    colour_scale,
    dash_scale,
    find_theme,
    styled,
)

if TYPE_CHECKING:
    import altair as alt

AXIS = 34  # pixels of an axis with its title, at the font of a paper
FEW = 4  # runs of which a picture shows everything; of more it shows what can still be told apart
DOTS = [2, 2]
RUN, SECOND, SHARED, REST = "run", "second", "shared", "rest"
MOST_TOLD_APART = len(COLOURS) * len(DASHES)  # lines; of more, some are named and the others are pale
MOST_NAMED = 20
PALE = "#d0d0d0"


def lines(
    curves: Curves, *, theme: str = "screen", title: str = "", y_domain: tuple[float, float] | None = None
) -> Chart:
    """One line a run. A second series of each run is thin and dotted, and drawn once if all runs share it (an ideal).

    >>> from cranfield.evaluation.experiment import Experiment
    >>> from cranfield.plot.curves import interpolated
    >>> curves = interpolated(Experiment({"1": {"d1": 1}}, {"a": {"1": {"d1": 1.0}}}))
    >>> lines(curves).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    import altair as alt

    every = list(dict.fromkeys(_label(point) for point in curves.points if not point.series))
    names, more = highest(curves, every)
    shared = shared_series(curves)
    look = find_theme(theme).tall_enough_for(len(names) + len(shared))
    rows = [
        _row(point, SECOND if point.series else RUN)
        for point in curves.points
        if point.series not in shared and _label(point) in names
    ]
    rows += [_row(point, REST) for point in curves.points if not point.series and _label(point) not in names]
    rows += [_row(point._replace(run=point.series), SHARED) for points in shared.values() for point in points]
    low, high = y_domain or _limits([point.y for point in curves.points])
    base = chart_of(rows).encode(
        x=alt.X("x:Q", title=curves.x, scale=alt.Scale(nice=False, zero=False)),
        y=alt.Y("y:Q", title=curves.y, scale=alt.Scale(domain=[low, high], nice=False)),
        detail="label:N",
        tooltip=["label:N", alt.Tooltip("x:Q", title=curves.x), alt.Tooltip("y:Q", title=curves.y, format=".4f")],
    )
    coloured = base.encode(color=alt.Color("label:N", scale=colour_scale(names), legend=None))
    dash = alt.StrokeDash("label:N", scale=dash_scale(names), legend=None)
    main = coloured.mark_line(strokeWidth=look.line).encode(strokeDash=dash)
    second = coloured.mark_line(strokeWidth=look.line * 0.6, strokeDash=DOTS)
    layers = [base.mark_line(strokeWidth=0.7, color=PALE).transform_filter(alt.datum.part == REST)] if more else []
    layers.append(main.transform_filter(alt.datum.part == RUN))
    if any(row["part"] == SECOND for row in rows):
        layers.append(second.transform_filter(alt.datum.part == SECOND))
    if shared:
        reference = base.mark_line(strokeWidth=look.line * 0.8, strokeDash=DOTS, color=INK)
        layers.append(reference.transform_filter(alt.datum.part == SHARED))
    ends = _ends(curves, names)
    ends += [_end(_label(points[0]._replace(run=series)), points, INK, DOTS) for series, points in shared.items()]
    caption = "; ".join(filter(None, (title, more)))
    return _finished([*layers, *end_labels(ends, look, (low, high))], [end.name for end in ends], look, caption)


def highest(curves: Curves, names: Sequence[str]) -> tuple[list[str], str]:
    """The curves that are named, and what is to be said of the others: all of them, or those that end highest.

    >>> points = [Point(f"run {i}", "", "", 1.0, float(i)) for i in range(100)]
    >>> names, told = highest(Curves("rank", "P", tuple(points)), [f"run {i}" for i in range(100)])
    >>> len(names), names[0], told
    (20, 'run 80', 'the 20 of 100 that end highest are named')
    """
    if len(names) <= MOST_TOLD_APART:
        return list(names), ""
    last = {_label(point): point.y for point in curves.points if not point.series}
    best = set(sorted(names, key=lambda name: -last[name])[:MOST_NAMED])
    return [name for name in names if name in best], f"the {MOST_NAMED} of {len(names)} that end highest are named"


def shared_series(curves: Curves) -> Mapping[str, list[Point]]:
    """The second series that is the same for every run, such as the ideal, by its name.

    >>> points = [Point("a", "", "ideal", 1.0, 3.0), Point("b", "", "ideal", 1.0, 3.0), Point("b", "", "", 1.0, 2.0)]
    >>> shared_series(Curves("rank", "gain", tuple(points)))
    {'ideal': [Point(run='a', topic='', series='ideal', x=1.0, y=3.0)]}
    """
    shared: dict[str, list[Point]] = {}
    for series in dict.fromkeys(point.series for point in curves.points if point.series):
        of_curve: dict[tuple[str, str], list[Point]] = {}
        for point in curves.points:
            if point.series == series:
                of_curve.setdefault((point.run, point.topic), []).append(point)
        first, *others = of_curve.values()
        if all([(p.x, p.y) for p in other] == [(p.x, p.y) for p in first] for other in others):
            shared[series] = first
    return shared


def raw_and_interpolated(raw: Curves, smooth: Curves, *, theme: str = "screen", title: str = "") -> Chart:
    """The points where relevant documents are found, and the interpolated curve over them, as lectures draw it.

    Of many runs only the interpolated curves are drawn: their points would hide each other.
    """
    import altair as alt

    look = find_theme(theme)
    over = Curves(smooth.x, smooth.y, tuple(point._replace(topic="") for point in smooth.points))
    names = list(dict.fromkeys(point.run for point in over.points))
    if len(names) > FEW:
        return lines(over, theme=theme, title=title, y_domain=(0.0, 1.0))
    colour = alt.Color("run:N", scale=colour_scale(names), legend=None)
    limits = alt.Scale(domain=[0, 1], nice=False)
    x, y = alt.X("x:Q", title="recall", scale=limits), alt.Y("y:Q", title="precision", scale=limits)
    tooltip: list[str | alt.Tooltip] = [
        "run:N",
        alt.Tooltip("x:Q", title="recall"),
        alt.Tooltip("y:Q", title="precision", format=".4f"),
    ]
    after_each = chart_of(list(raw.rows())).encode(color=colour, tooltip=tooltip, x=x, y=y)
    levels = chart_of(list(over.rows())).encode(color=colour, tooltip=tooltip, x=x, y=y)
    layers = [
        after_each.mark_line(strokeWidth=look.line / 2, opacity=0.7),
        levels.mark_line(strokeWidth=look.line, strokeDash=[6, 3]),
        # A relevant document may be found just at a level: its point is seen within the square.
        levels.mark_point(shape="square", filled=False, fill="white", size=look.font * 7, opacity=1, clip=False),
        after_each.mark_point(filled=True, size=look.font * 3, opacity=1, clip=False),
        *end_labels(_ends(over, names), look, (0.0, 1.0)),
    ]
    caption = "points: after each relevant document; squares: interpolated"
    return _finished(
        layers, names, look, [title, caption] if look.column else f"{title}; {caption}" if title else caption
    )


def band(curves: Curves, *, theme: str = "screen", title: str = "") -> Chart:
    """Lines with a band from each up to its upper series; of many runs the band is left out."""
    import altair as alt

    names, more = highest(curves, list(dict.fromkeys(point.run for point in curves.points)))
    look = find_theme(theme).tall_enough_for(len(names))
    upper = {(point.run, point.x): point.y for point in curves.points if point.series == "upper"}
    rows = [p._asdict() | {"upper": upper[p.run, p.x]} for p in curves.points if p.series == "" and p.run in names]
    rest = [p._asdict() for p in curves.points if p.series == "" and p.run not in names]
    pale = chart_of(rest).mark_line(strokeWidth=0.7, color=PALE)
    base = chart_of(rows).encode(
        x=alt.X("x:Q", title=curves.x, scale=alt.Scale(nice=False, zero=False)),
        color=alt.Color("run:N", scale=colour_scale(names), legend=None),
        tooltip=["run:N", "x:Q", alt.Tooltip("y:Q", format=".4f"), alt.Tooltip("upper:Q", format=".4f")],
    )
    height = alt.Y("y:Q", title=curves.y, scale=alt.Scale(domain=[0, 1]))
    dash = alt.StrokeDash("run:N", scale=dash_scale(names), legend=None)
    layers = [
        *([pale.encode(x="x:Q", y="y:Q", detail="run:N")] if rest else []),
        *([base.mark_area(opacity=0.1).encode(y=height, y2="upper:Q")] if len(names) <= FEW else []),
        base.mark_line(strokeWidth=look.line * 0.6, strokeDash=DOTS).encode(y=alt.Y("upper:Q", title=curves.y)),
        base.mark_line(strokeWidth=look.line).encode(y=height, strokeDash=dash),
        *end_labels(_ends(curves, names), look, (0.0, 1.0)),
    ]
    return _finished(layers, names, look, "; ".join(filter(None, (title, more))))


def _finished(layers: Sequence[alt.Chart], names: Sequence[str], look: Theme, title: str | list[str]) -> Chart:
    import altair as alt

    width = look.width_beside(AXIS + beside_lines(names, look))
    return styled(alt.layer(*layers).properties(width=width, height=look.height, title=title), look)


def _row(point: Point, part: str) -> Row:
    return {"label": _label(point), "part": part, "x": point.x, "y": point.y}


def _ends(curves: Curves, names: Sequence[str]) -> list[End]:
    of_name: dict[str, list[Point]] = {name: [] for name in names}
    for point in curves.points:
        if point.series == "" and _label(point) in of_name:
            of_name[_label(point)].append(point)
    return [
        _end(name, points, COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)])
        for i, (name, points) in enumerate(of_name.items())
    ]


def _end(name: str, points: Sequence[Point], colour: str, dash: Sequence[int]) -> End:
    level = sum(point.y for point in points) / len(points)
    return End(name, points[-1].x, points[-1].y, level, colour, dash)


def _label(point: Point) -> str:
    return f"{point.run}, topic {point.topic}" if point.topic else point.run


def _limits(values: Sequence[float]) -> tuple[float, float]:
    highest = max(values, default=1.0)
    return 0.0, 1.0 if 0.5 < highest <= 1 else highest * 1.05 or 1.0
