"""Curves as lines, each with its name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from cranfield.plot.curves import LEVELS, Curves, Point, interpolation
from cranfield.plot.labels import beside_lines, end_labels, within
from cranfield.plot.naming import NAMED, OTHERS, hue, hued, named_systems, of_grey
from cranfield.plot.style import GROUND, Chart, Row, Theme, chart_of, find_theme, styled

if TYPE_CHECKING:
    import altair as alt

AXIS = 34  # pixels of an axis with its title, at the font of a paper
FEW_RANKS = 10  # of which each has a tick
FEW = 4  # runs of which a picture shows everything; of more it shows what can still be told apart
DASHES = [4, 3]
THIN = 0.7  # lines of systems that are not named
RUN, SECOND, SHARED = "run", "second", "shared"
STEPS: Final = "step-before"
STRAIGHT: Final = "linear"


class Chosen(TypedDict, total=False):
    """The systems that are named among many: the baseline and those to highlight, beside the best; or just those
    `named`, as in other pictures of the same page.
    """

    baseline: str | None
    highlight: Sequence[str]
    named: Sequence[str]


def lines(
    curves: Curves,
    *,
    theme: str = "screen",
    title: str = "",
    caption: str = "",
    y_domain: tuple[float, float] | None = None,
    chosen: Chosen | None = None,
    labels: Mapping[str, str] | None = None,
) -> Chart:
    """One line a run. A second series of each run is thin and dashed, and drawn once if all runs share it (an ideal).

    Of many runs the one that lies best on the whole and those `chosen` are coloured and named.

    >>> from cranfield.evaluation.experiment import Experiment
    >>> from cranfield.plot.curves import interpolated
    >>> curves = interpolated(Experiment({"1": {"d1": 1}}, {"a": {"1": {"d1": 1.0}}}))
    >>> lines(curves).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    import altair as alt

    look, shared = find_theme(theme), shared_series(curves)
    gains = levels(curves)
    named = _named(curves, gains, chosen or {})
    rows = [_row(point, SECOND if point.series else RUN) for point in curves.points if point.series not in shared]
    for row in rows:
        row["label"] = (labels or {}).get(str(row["label"]), row["label"])
    rows += [_reference(point) for points in shared.values() for point in points]
    texts = [str(row["label"]) for row in rows if row["part"] == SHARED or row["system"] in named]
    low, high = y_domain or _limits([point.y for point in curves.points])
    across = [point.x for point in curves.points] or [0.0, 1.0]
    data = chart_of(rows)
    base = hued(data).encode(
        x=_across(curves.x, across, _width(texts, look), look),
        y=_upwards(curves.y, low, high),
        color=hue(),
        detail="label:N",
        tooltip=["label:N", alt.Tooltip("x:Q", title=curves.x), alt.Tooltip("y:Q", title=curves.y, format=".4f")],
    )
    join: Literal["step-before", "linear"] = STEPS if curves.steps else STRAIGHT
    of_runs = base.transform_filter(alt.datum.part == RUN)
    layers = [
        of_runs.transform_filter(OTHERS).mark_line(strokeWidth=THIN, interpolate=join),
        of_runs.transform_filter(NAMED).mark_line(strokeWidth=look.line, interpolate=join),
    ]
    if any(row["part"] == SECOND for row in rows):
        second = base.transform_filter(alt.datum.part == SECOND).transform_filter(NAMED)
        layers.append(second.mark_line(strokeWidth=look.line * 0.6, strokeDash=DASHES))
    if shared:
        reference = base.transform_filter(alt.datum.part == SHARED)
        layers.append(reference.mark_line(strokeWidth=look.line * 0.8, strokeDash=DASHES))
    layers += end_labels(data.transform_filter(alt.datum.part != SECOND), look, (low, high), max(across))
    told = caption + of_grey(named, len(gains), curves.noun)
    return _finished(layers, look, texts=texts, title=title, caption=told, named=named)


def _named(curves: Curves, gains: Mapping[str, float], chosen: Chosen) -> tuple[str, ...]:
    if "named" in chosen:
        return tuple(chosen["named"])
    baseline, highlight = chosen.get("baseline"), chosen.get("highlight", ())
    of_baseline = _of_runs([] if baseline is None else [baseline], curves)
    return named_systems(gains, baseline=of_baseline, highlight=_of_runs(highlight, curves))


def levels(curves: Curves) -> dict[str, float]:
    """Each line, with how good it is on the whole: the mean of its heights, turned so that more is better.

    >>> levels(Curves("rank", "E", (Point("a", "", "", 1.0, 0.5), Point("a", "", "", 2.0, 0.7)), sign=-1))
    {'a': -0.6}
    """
    heights: dict[str, list[float]] = {}
    for point in curves.points:
        if not point.series:
            heights.setdefault(_label(point), []).append(point.y)
    return {name: (curves.sign or 1) * sum(of_line) / len(of_line) for name, of_line in heights.items()}


def _of_runs(runs: Sequence[str], curves: Curves) -> list[str]:
    """The lines of some runs: of each one, or one a topic where topics are drawn."""
    of_run: dict[str, dict[str, None]] = {}
    for point in curves.points:
        of_run.setdefault(point.run, {})[_label(point)] = None
    return [label for run in runs for label in of_run.get(run, {run: None})]


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


def raw_and_interpolated(
    raw: Curves,
    smooth: Curves,
    *,
    theme: str = "screen",
    title: str = "",
    chosen: Chosen | None = None,
) -> Chart:
    """The points where relevant documents are found, and the interpolated curve over them, as lectures draw it.

    Of many runs only the interpolated curves are drawn: their points would hide each other.
    """
    import altair as alt

    look = find_theme(theme)
    over = replace(smooth, points=tuple(point._replace(topic="") for point in smooth.points))
    steps = replace(raw, points=tuple(point._replace(topic="") for point in interpolation(raw).points))
    gains = levels(over)
    if len(gains) > FEW:
        caption = f"Interpolated precision at the eleven standard recall levels{title and ', ' + title}."
        heading = title[:1].upper() + title[1:]
        return lines(over, theme=theme, title=heading, caption=caption, y_domain=(0.0, 1.0), chosen=chosen)
    named = _named(over, gains, chosen or {})
    tooltip = [
        alt.Tooltip("system:N"),
        alt.Tooltip("x:Q", title="recall"),
        alt.Tooltip("y:Q", title="precision", format=".4f"),
    ]
    x, y = _across("recall", LEVELS, _width(named, look), look), _upwards("precision", 0.0, 1.0)
    at_levels = chart_of([_row(point, RUN) for point in over.points])
    after_each, stepped, square = (
        hued(data).encode(color=hue(), tooltip=tooltip, x=x, y=y, detail="system:N")
        for data in (
            chart_of([_row(point._replace(topic=""), RUN) for point in raw.points]),
            chart_of([_row(point, RUN) for point in steps.points]),
            at_levels,
        )
    )
    layers = [
        after_each.mark_line(strokeWidth=look.line / 2, strokeDash=DASHES),
        stepped.mark_line(strokeWidth=look.line, interpolate=STEPS),
        # A relevant document may be found just at a level: its point is seen within the square.
        square.mark_point(shape="square", filled=False, fill=GROUND, size=look.font * 7, opacity=1, clip=False),
        after_each.mark_point(filled=True, size=look.font * 3, opacity=1, clip=False),
        *end_labels(at_levels, look, (0.0, 1.0), 1.0),
    ]
    told = "Points: after each relevant document; squares: interpolated, the highest precision from there on"
    caption = (
        f"Precision after each relevant document{title and ' of ' + title} (points) and interpolated precision (steps, "
        "with squares at the eleven standard recall levels): the highest at this recall or any above."
    )
    headings = [*filter(None, [title[:1].upper() + title[1:]]), told]
    caption += of_grey(named, len(gains))
    return _finished(layers, look, texts=named, title=headings, caption=caption, named=named)


def band(
    curves: Curves,
    *,
    theme: str = "screen",
    title: str = "",
    caption: str = "",
    chosen: Chosen | None = None,
) -> Chart:
    """Lines with a band from each that is named up to its upper series; of many the band is left out."""
    import altair as alt

    look, gains = find_theme(theme), levels(curves)
    named = _named(curves, gains, chosen or {})
    upper = {(point.run, point.x): point.y for point in curves.points if point.series == "upper"}
    data = chart_of([_row(p, RUN) | {"upper": upper[p.run, p.x]} for p in curves.points if not p.series])
    across = [point.x for point in curves.points] or [0.0, 1.0]
    shaded = len(named) <= FEW
    base = hued(data).encode(
        x=_across(curves.x, across, _width(named, look), look),
        color=hue(),
        detail="system:N",
        tooltip=["system:N", "x:Q", alt.Tooltip("y:Q", format=".4f"), alt.Tooltip("upper:Q", format=".4f")],
    )
    height, most = _upwards(curves.y, 0.0, 1.0), alt.Y("upper:Q", title=curves.y)
    of_named, of_others = base.transform_filter(NAMED), base.transform_filter(OTHERS)
    layers = [
        of_others.mark_line(strokeWidth=THIN).encode(y=height),
        *([of_named.mark_area(opacity=0.1).encode(y=height, y2="upper:Q")] if shaded else []),
        of_named.mark_line(strokeWidth=look.line * 0.6, strokeDash=DASHES).encode(y=most),
        of_named.mark_line(strokeWidth=look.line).encode(y=height),
        *end_labels(data, look, (0.0, 1.0), max(across)),
    ]
    caption += " Shaded: what lies between the two." if shaded else ""
    caption += of_grey(named, len(gains))
    return _finished(layers, look, texts=named, title=title, caption=caption, named=named)


def _width(texts: Sequence[str], look: Theme) -> float:
    """How wide a plot is that has these names at the ends of its lines."""
    return look.width_beside(AXIS + beside_lines(texts, look))


def _across(title: str, places: Sequence[float], width: float, look: Theme) -> alt.X:
    """The axis below, with limits of all rows: it stays where it is when some are left out. Few whole numbers, such as
    ranks, are all marked, and nothing between them.
    """
    import altair as alt

    low, high = min(places), max(places)
    whole = high - low < FEW_RANKS and all(float(place).is_integer() for place in places)
    axis = alt.Axis(values=[*range(int(low), int(high) + 1)], format="d") if whole else alt.Undefined
    return alt.X("x:Q", title=within(title, width, look), axis=axis, scale=_limited(low, high))


def _upwards(title: str, low: float, high: float) -> alt.Y:
    """The axis to the left, likewise."""
    import altair as alt

    return alt.Y("y:Q", title=title, scale=_limited(low, high))


def _limited(low: float, high: float) -> alt.Scale:
    import altair as alt

    if not low < high:
        low, high = low - 0.5, high + 0.5
    return alt.Scale(domain=[low, high], nice=False, zero=False)


def _finished(
    layers: Sequence[alt.Chart],
    look: Theme,
    *,
    texts: Sequence[str],
    title: str | list[str],
    caption: str,
    named: Sequence[str],
) -> Chart:
    import altair as alt

    chart = alt.layer(*layers).properties(width=_width(texts, look), height=look.height, title=title)
    return styled(chart, look, caption=caption, params={"named": named})


def _row(point: Point, part: str) -> Row:
    """A point of a system's line; a system with a line a topic is as many as it has lines."""
    label = _label(point)
    return {"system": label, "label": label, "part": part, "x": point.x, "y": point.y}


def _reference(point: Point) -> Row:
    """A point of a line that belongs to no system."""
    return {"label": _label(point._replace(run=point.series)), "part": SHARED, "x": point.x, "y": point.y}


def _label(point: Point) -> str:
    return f"{point.run}, topic {point.topic}" if point.topic else point.run


def _limits(values: Sequence[float]) -> tuple[float, float]:
    highest = max(values, default=1.0)
    return 0.0, 1.0 if 0.5 < highest <= 1 else highest * 1.05 or 1.0
