"""Mean ranks with a row for each system, and beside them bars that join those that cannot be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cranfield.plot.labels import row_axis, text_width
from cranfield.plot.naming import hue, hued
from cranfield.plot.rows import point_size
from cranfield.plot.style import INK, Row, Theme, chart_of

if TYPE_CHECKING:
    import altair as alt

LANE = 0.6  # of the font, from one bar to the next
NARROWEST = 0.25  # of a column that is left for the ranks
SPACED = 1.4  # lines of text that a row is high


def packed(spans: Sequence[tuple[int, int]]) -> list[int]:
    """The lane of each span of places, from the first on: one in which there is a place between it and the next.

    >>> packed([(0, 3), (1, 5), (4, 6), (6, 8)])
    [0, 1, 2, 0]
    """
    ends: list[int] = []
    lanes = []
    for first, last in spans:
        lane = next((number for number, end in enumerate(ends) if end < first - 1), len(ends))
        ends[lane : lane + 1] = [last]
        lanes.append(lane)
    return lanes


def rank_rows(systems: Sequence[Row], joined: Sequence[Row], label: str, look: Theme) -> alt.LayerChart:
    """A point at the mean rank of each system, the best on top, and to the right of them a bar for each group.

    The chart itself finds the lanes of the bars that are shown.
    """
    import altair as alt

    lane = look.font * LANE
    lanes = len({row["lane"] for row in joined})
    beside = text_width([str(row["system"]) for row in systems], look) + look.font + lanes * lane
    width = look.width if look.column is None else max(look.column * NARROWEST, look.column - beside)
    step, axis = row_axis(len(systems), look, wanted=look.font * SPACED)
    axis.grid, axis.ticks, axis.domain = True, False, False
    ranks = [float(row["rank"] or 0.0) for row in systems]
    y = alt.Y("system:N", title=None, sort=alt.EncodingSortField("rank", op="min"), axis=axis)
    x = alt.X(
        "rank:Q",
        title=label,
        scale=alt.Scale(domain=[float(np.floor(min(ranks))), float(np.ceil(max(ranks)))], nice=False, zero=False),
        axis=alt.Axis(grid=False, tickMinStep=1, tickCount=max(2, int(width // (look.font * 4)))),
    )
    tooltip = ["system:N", alt.Tooltip("rank:Q", title="mean rank", format=".3f")]
    points = hued(chart_of([*systems, *joined]).transform_filter("!isValid(datum.group)"))
    layers: list[alt.Chart] = [
        points.mark_point(filled=True, opacity=1, size=point_size(look, step)).encode(
            x=x, y=y, color=hue(), tooltip=tooltip
        )
    ]
    if joined:
        layers += _bars(chart_of(joined), lane, step, look)
    layered = alt.layer(*layers)
    drawn: alt.LayerChart = layered.properties(width=width, height=alt.Step(step)).resolve_scale(x="independent")
    return drawn


def _bars(joined: alt.Chart, lane: float, step: float, look: Theme) -> list[alt.Chart]:
    """A bar from the first system of each group to its last, with dots on those that belong to it.

    They stand beside the plot, also where a narrow page draws it narrower: `width` is what it has there.
    """
    import altair as alt

    members = (
        joined.transform_joinaggregate(members="count()", groupby=["group"])
        .transform_filter("datum.members > 1")
        .transform_window(number="dense_rank()", sort=[alt.SortField("lane")])
        .transform_calculate(right=f"width + {look.font / 2} + datum.number * {lane}")
        .encode(
            x=alt.X("right:Q", axis=None, scale=alt.Scale(domain=[0, 1], range=[0, 1])),
            y=alt.Y("system:N", title=None, sort=alt.EncodingSortField("rank", op="min")),
            detail="group:N",
        )
    )
    line = members.mark_line(color=INK, strokeWidth=min(look.line, lane / 3) * 0.75)
    dot = members.mark_point(filled=True, opacity=1, color=INK, size=min(lane * 0.6, step * 0.5) ** 2)
    return [line.encode(order="rank:Q"), dot]
