"""Where names stand in a picture: beside the end of a line, or near a point, never on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.judged import Floats
from cranfield.plot.style import COLOURS, Row, Theme, chart_of

if TYPE_CHECKING:
    import altair as alt

LETTER = 0.56  # width of a letter, for each pixel of the font: on the wide side
SIDES = (1.0, -1.0, 0.0, 0.5, -0.5)  # of a point: right and below, left and above, in line with it, halfway
AWAY = (0.4, 2, 4, 7, 11)  # from a point to its name, in radii of the point


class End(NamedTuple):
    """The end of a line: its name, where it is, how high the whole line lies, its colour and its dashes."""

    name: str
    x: float
    y: float
    level: float
    colour: str
    dash: Sequence[int]


def end_labels(ends: Sequence[End], look: Theme, limits: tuple[float, float]) -> list[alt.Chart]:
    """Each name to the right of its line's end, moved apart where names would touch and led to by a thin line.

    Where colours repeat, a sample of the line with its dashes stands before the name.
    """
    import altair as alt

    low, high = limits
    # Lines that end in the same place are named in the order in which they lie before that.
    ordered = sorted(ends, key=lambda end: (end.y, end.level))
    places = spread([end.y for end in ordered], (high - low) * look.font * 1.1 / look.height, low, high)
    right = max((end.x for end in ends), default=0.0)
    rows: list[Row] = [
        {"label": end.name, "x": end.x, "right": right, "from": end.y, "y": place, "colour": end.colour}
        for end, place in zip(ordered, places, strict=True)
    ]
    base = chart_of(rows).encode(color=alt.Color("colour:N", scale=None))
    leader, sample = look.font + 3, _sample(len(ends), look)
    thin = base.mark_rule(strokeWidth=0.7, xOffset=2, x2Offset=leader)
    layers = [thin.encode(x="x:Q", x2="right:Q", y="from:Q", y2="y:Q")]
    if sample:
        dashes = alt.Scale(domain=[end.name for end in ends], range=[list(end.dash) for end in ends])
        key = base.mark_rule(strokeWidth=look.line, xOffset=leader, x2Offset=leader + sample)
        dash = alt.StrokeDash("label:N", scale=dashes, legend=None)
        layers.append(key.encode(x="right:Q", x2="right:Q", y="y:Q", strokeDash=dash))
    text = base.mark_text(align="left", dx=leader + sample + 3, fontSize=look.font)
    return [*layers, text.encode(x="right:Q", y="y:Q", text="label:N")]


def _sample(count: int, look: Theme) -> int:
    """How long the sample of a line is: there is none where colours tell all lines apart."""
    return look.font * 2 if count > len(COLOURS) else 0


def beside_lines(names: Sequence[str], look: Theme) -> float:
    """How many pixels the names at the ends of lines take.

    >>> from cranfield.plot.style import find_theme
    >>> beside_lines(["bm25"], find_theme("screen")) < beside_lines(["bm25 with feedback"], find_theme("screen"))
    True
    """
    return look.font + 6 + _sample(len(names), look) + text_width(names, look)


def text_width(texts: Sequence[str], look: Theme) -> float:
    """How many pixels the longest of some texts takes, about."""
    return max(map(len, texts), default=0) * look.font * LETTER


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels as near as can be to where they belong, at least `gap` apart and inside the limits.

    Labels that would touch are pooled into a block centred on the mean of their places, as in isotonic regression.
    Where there is no room for all, the gap shrinks.

    >>> spread([5.0, 5.0, 0.0], 1.0, 0.0, 10.0)
    [4.5, 5.5, 0.0]
    """
    count = len(wanted)
    if count == 0:
        return []
    gap = min(gap, (high - low) / max(count - 1, 1))
    order = sorted(range(count), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []  # where the first label of each block would be, and how many there are
    for place, i in enumerate(order):
        blocks.append((wanted[i] - place * gap, 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (upper, n), (lower, m) = blocks[-2], blocks[-1]
            blocks[-2:] = [((upper * n + lower * m) / (n + m), n + m)]
    starts = np.repeat([start for start, _ in blocks], [number for _, number in blocks])
    starts = np.clip(starts, low, high - (count - 1) * gap)
    places = [0.0] * count
    for place, i in enumerate(order):
        places[i] = float(starts[place] + place * gap)
    return places


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
    """The name of a point: what and where the point is, where the left end of the name stands, and where a line from
    the point to it ends: in the point itself, if none is needed.
    """

    label: str
    x: float
    y: float
    text_x: float
    text_y: float
    near_x: float
    near_y: float


def near_points(
    named: Sequence[tuple[str, float, float]], others: Sequence[tuple[float, float]], frame: Frame, look: Theme
) -> list[PlacedName]:
    """Where the name of each point stands, and where a line to it ends, if one is needed.

    >>> from cranfield.plot.style import find_theme
    >>> frame = Frame((0.0, 1.0), (0.0, 1.0), 100.0, 100.0)
    >>> names = near_points([("a", 0.5, 0.5), ("b", 0.5, 0.5)], [], frame, find_theme("screen"))
    >>> [(name.label, name.text_x > 0.5) for name in names]
    [('a', True), ('b', False)]
    """
    points = [frame.pixels(x, y) for _, x, y in named] + [frame.pixels(x, y) for x, y in others]
    radius = look.font * 0.35
    boxes = np.array([(x - radius, y - radius, x + radius, y + radius) for x, y in points])
    names = []
    for (label, x, y), point in zip(named, points, strict=False):
        size = len(label) * look.font * LETTER, look.font * 1.1
        box = _free_place(point, size, boxes, frame, radius)
        boxes = np.vstack([boxes, box])
        text_x, text_y = frame.units(box[0], (box[1] + box[3]) / 2)
        edge = min(max(point[0], box[0]), box[2]), min(max(point[1], box[1]), box[3])
        apart = abs(edge[0] - point[0]) + abs(edge[1] - point[1]) > 2 * radius
        near_x, near_y = frame.units(*edge) if apart else (x, y)
        names.append(PlacedName(label=label, x=x, y=y, text_x=text_x, text_y=text_y, near_x=near_x, near_y=near_y))
    return names


Box = tuple[float, float, float, float]  # left, top, right, bottom


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
    line = base.mark_rule(strokeWidth=0.7, color="#888").encode(x="x:Q", y="y:Q", x2="near_x:Q", y2="near_y:Q")
    text = base.mark_text(align="left", fontSize=look.font, color="#222")
    return [line, text.encode(x="text_x:Q", y="text_y:Q", text="label:N")]
