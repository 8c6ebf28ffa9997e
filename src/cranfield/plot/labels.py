"""Where names stand in a picture: beside the end of a line, or near a point, never on top of each other."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from cranfield.judged import Floats
from cranfield.plot.naming import NAMED, hue, hued
from cranfield.plot.room import widest
from cranfield.plot.style import AXIS, INK, WHOLE, Theme, chart_of

if TYPE_CHECKING:
    import altair as alt

LINE = 1.15  # from one line of text to the next, for each pixel of the font
LETTER = 0.56  # width of a letter, for each pixel of the font: on the wide side
DIGIT = 0.64  # of a digit, in the widest of the fonts that are common
SIDES = (1.0, -1.0, 0.0, 0.5, -0.5)  # of a point: right and below, left and above, in line with it, halfway
AWAY = (0.4, 2, 4, 7, 11)  # from a point to its name, in radii of the point


def end_labels(base: alt.Chart, look: Theme, limits: tuple[float, float], right: float) -> list[alt.Chart]:
    """Each name to the right of its line's end, moved apart where names would touch and led to by a thin line.

    `base` has rows of `label`, `x`, `y` and, where a line is about a system, `system`. Names are placed by the chart
    itself, whichever of them are shown.
    """
    import altair as alt

    low, high = limits
    gap = (high - low) * look.font * LINE / look.height
    lines = (
        hued(base)
        .transform_filter(NAMED)
        .transform_aggregate(last="argmax(x)", level="mean(y)", groupby=["label", "system", "hue"])
        .transform_calculate(end="datum.last.y", x="datum.last.x", right=str(right))
    )
    # Lines that end in the same place are named in the order in which they lie before that.
    placed = kept_apart(lines, ["end", "level"], gap, low, high).encode(color=hue())
    leader = look.font + 3
    thin = placed.mark_rule(strokeWidth=0.7, xOffset=2, x2Offset=leader)
    text = placed.mark_text(align="left", dx=leader + 3, fontSize=look.font)
    return [
        thin.encode(x="x:Q", x2="right:Q", y="end:Q", y2="place:Q"),
        text.encode(x="right:Q", y="place:Q", text="label:N", color=alt.value(INK)),
    ]


def kept_apart(chart: alt.Chart, fields: Sequence[str], gap: float, low: float, high: float) -> alt.Chart:
    """The chart with a `place` in each row: as near as may be to the first of the fields, in the order of all of them,
    at least `gap` from the others, and within the limits; where there is no room for all, the gap shrinks.

    Pushing labels upwards only, or downwards only, keeps them apart; so does the mean of the two, which is nearer.
    """
    import altair as alt

    order: list[alt.SortField | dict[str, str]] = [alt.SortField("label_number")]
    first: list[alt.SortField | dict[str, str]] = [alt.SortField(field) for field in fields]
    return (
        chart.transform_window(label_number="row_number()", sort=first)
        .transform_joinaggregate(label_count="count()")
        .transform_calculate(label_gap=f"min({gap}, {high - low} / max(datum.label_count - 1, 1))")
        .transform_calculate(free=f"datum['{fields[0]}'] - datum.label_number * datum.label_gap")
        .transform_window(upwards="max(free)", sort=order, frame=[None, 0])
        .transform_window(downwards="min(free)", sort=order, frame=[0, None])
        .transform_calculate(
            place=f"clamp((datum.upwards + datum.downwards) / 2, {low} - datum.label_gap, "
            f"{high} - datum.label_count * datum.label_gap) + datum.label_number * datum.label_gap"
        )
    )


def beside_lines(names: Sequence[str], look: Theme) -> float:
    """How many pixels the names at the ends of lines take.

    >>> from cranfield.plot.style import find_theme
    >>> beside_lines(["bm25"], find_theme("screen")) < beside_lines(["bm25 with feedback"], find_theme("screen"))
    True
    """
    return look.font + 6 + text_width(names, look)


def row_axis(count: int, look: Theme, *, wanted: float) -> tuple[float, alt.Axis]:
    """How high each of so many rows is, and the axis with their names: smaller where rows are low, and no name on
    another where they are lower than that.

    >>> from cranfield.plot.style import find_theme
    >>> [row_axis(count, find_theme("screen"), wanted=20)[0] for count in (5, 60)]
    [20, 15.0]
    """
    import altair as alt

    step = look.row(count, wanted)
    font = max(look.font * 0.6, min(look.font, step / LINE))
    overlap: Literal[False, "greedy"] = False if font * LINE <= step + 0.5 else "greedy"
    return step, alt.Axis(labelLimit=WHOLE, labelFontSize=font, labelOverlap=overlap)


def rank_ticks(last: int, width: float, look: Theme) -> list[int]:
    """The ranks that have a tick and a label under an axis so wide: the first, and as many others as there is room for.

    >>> from cranfield.plot.style import find_theme
    >>> rank_ticks(8, 560, find_theme("screen")), rank_ticks(60, 560, find_theme("screen"))
    ([1, 2, 3, 4, 5, 6, 7, 8], [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60])
    """
    room = width / (look.font * DIGIT * (len(str(last)) + 1))
    if last <= room:
        return [*range(1, last + 1)]
    step = next(s * 10**power for power in range(9) for s in (2, 5, 10) if last / (s * 10**power) <= room)
    return [1, *range(step, last + 1, step)]


def within(title: str, width: float, look: Theme) -> str | list[str]:
    """The title of an axis, in lines no wider than its plot if that is narrow.

    >>> from cranfield.plot.style import find_theme
    >>> within("documents gone through for each topic", 90, find_theme("paper"))
    ['documents gone', 'through for each', 'topic']
    """
    lines = textwrap.wrap(title, max(12, int(width / (look.font * LETTER)))) or [title]
    return lines if len(lines) > 1 else lines[0]


def text_width(texts: Sequence[str], look: Theme) -> float:
    """How many pixels the longest of some texts takes, about."""
    return max(map(len, texts), default=0) * look.font * LETTER


class Frame(NamedTuple):
    """What a plot shows, in the units of its axes, and how many pixels it has for that."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float
    height: float

    def pixels(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is, from the upper left corner."""
        (left, right), (low, high) = self.x, self.y
        return (x - left) / (right - left) * self.width, (high - y) / (high - low) * self.height

    def units(self, across: float, down: float) -> tuple[float, float]:
        """The point at a place in pixels."""
        (left, right), (low, high) = self.x, self.y
        return left + across / self.width * (right - left), high - down / self.height * (high - low)


class PlacedName(NamedTuple):
    """The name of a point: what and where the point is, where the end of the name that is nearer to it stands, and
    which end that is; and where a line from the point to it ends: in the point itself, if none is needed.

    By its nearer end a name is held off its point, whatever the letters are that it is drawn in.
    """

    label: str
    x: float
    y: float
    text_x: float
    text_y: float
    align: str
    near_x: float
    near_y: float


def near_points(
    named: Sequence[tuple[str, float, float]],
    others: Sequence[tuple[float, float]],
    frame: Frame,
    look: Theme,
    *,
    lines: Sequence[tuple[float, float, float, float]] = (),
) -> list[PlacedName]:
    """Where the name of each point stands, and where a line to it ends, if one is needed: not on another point, nor,
    if that can be, across the lines, which go straight across or up and down.

    >>> from cranfield.plot.style import find_theme
    >>> frame = Frame((0.0, 1.0), (0.0, 1.0), 100.0, 100.0)
    >>> names = near_points([("a", 0.5, 0.5), ("b", 0.5, 0.5)], [], frame, find_theme("screen"))
    >>> [(name.label, name.text_x > 0.5, name.align) for name in names]
    [('a', True, 'left'), ('b', False, 'right')]
    """
    points = [frame.pixels(x, y) for _, x, y in named] + [frame.pixels(x, y) for x, y in others]
    radius = look.font * 0.35
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    for x, y, to_x, to_y in lines:
        (left, right), (top, bottom) = (
            sorted(pair) for pair in zip(frame.pixels(x, y), frame.pixels(to_x, to_y), strict=True)
        )
        taken.append((left - 1, top - 1, right + 1, bottom + 1))
    boxes = np.array(taken)
    names = []
    for (label, x, y), point in zip(named, points, strict=False):
        size = widest(label, look.font), look.font * LINE
        box = _free_place(point, size, boxes, frame, radius)
        boxes = np.vstack([boxes, box])
        align, end = _nearer_end(box, point[0])
        text_x, text_y = frame.units(end, (box[1] + box[3]) / 2)
        edge = min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])
        apart = abs(edge[0] - point[0]) + abs(edge[1] - point[1]) > 2 * radius
        near_x, near_y = frame.units(*edge) if apart else (x, y)
        names.append(PlacedName(label, x, y, text_x, text_y, align, near_x, near_y))
    return names


Box = tuple[float, float, float, float]  # left, top, right, bottom
SIDES_OF_TEXT: Final = ("left", "center", "right")


def _nearer_end(box: Box, x: float) -> tuple[str, float]:
    """The end of a name in a box that is nearer to its point, or its middle above and below it, and where it is.

    >>> _nearer_end((10.0, 0.0, 30.0, 8.0), 5.0), _nearer_end((10.0, 0.0, 30.0, 8.0), 20.0)
    (('left', 10.0), ('center', 20.0))
    """
    left, _, right, _ = box
    if left < x < right:
        return "center", (left + right) / 2
    return ("left", left) if x <= left else ("right", right)


def _free_place(
    point: tuple[float, float], size: tuple[float, float], boxes: Floats, frame: Frame, radius: float
) -> Box:
    """The nearest box around a point that covers nothing; where there is none, that which covers least."""
    (x, y), (width, height) = point, size
    best, least = (x, y, x + width, y + height), float("inf")
    for away, down, right in product(AWAY, (0.0, -1.0, 1.0, -0.5, 0.5), SIDES):
        gap = radius * (1 + away)
        left, top = x + right * (gap + width / 2) - width / 2, y + down * (gap + height / 2) - height / 2
        box = (left, top, left + width, top + height)
        over = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
        covered = float(np.prod(np.maximum(over, 0), axis=1).sum())
        outside = max(0.0, -left, -top, box[2] - frame.width, box[3] - frame.height)
        if covered + outside * height < least:
            best, least = box, covered + outside * height
        if least == 0:
            break
    return best


def name_layers(names: Sequence[PlacedName], look: Theme) -> list[alt.Chart]:
    """The names that `near_points` has placed, each with a thin line to its point."""

    base = chart_of([name._asdict() for name in names])
    line = base.mark_rule(strokeWidth=0.7, color=AXIS).encode(x="x:Q", y="y:Q", x2="near_x:Q", y2="near_y:Q")
    texts = [
        base.transform_filter(f"datum.align == '{align}'")
        .mark_text(align=align, fontSize=look.font, color=INK)
        .encode(x="text_x:Q", y="text_y:Q", text="label:N")
        for align in SIDES_OF_TEXT
    ]
    return [line, *texts]
