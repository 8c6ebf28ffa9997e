"""The critical-difference diagram: of a few systems with their names to both sides, of more with a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.standing import level_groups, mean_ranks
from cranfield.errors import plural
from cranfield.plot.labels import LINE, text_width
from cranfield.plot.naming import hue, hued, in_colour
from cranfield.plot.rank_rows import packed, rank_rows
from cranfield.plot.style import INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

if TYPE_CHECKING:
    import altair as alt

FIRST_BAR, BAR_STEP = 16, 7  # pixels below the axis
BARS = 0.3  # of the greatest height, for all bars
MOST_BESIDE = 10  # systems that have room for their names to both sides
WIDE = 0.45  # of a column that is left between them


@picture("critical-difference", measures=("nDCG@10",), uses=("highlight",))
def critical(subject: Subject) -> Chart:
    """Mean ranks of the runs over topics; bars join runs that cannot be told apart, dots are on those joined.

    The chart itself finds the rows of names, so that none is left empty where some systems are not shown.
    """
    look = find_theme(subject.theme)
    subject = replace(subject, baseline=None) if subject.baseline is not None else subject
    comparison, panel = subject.comparison, subject.comparison.panels[0]
    panel.measure.check_direction("take another measure", reason="runs are put in order")
    ranks, count = mean_ranks(panel).tolist(), len(comparison.systems)
    order = np.argsort(ranks, kind="stable").tolist()
    # From the best group to the worst, whatever order they were made in: bars then go down like stairs.
    together = sorted(level_groups(comparison, panel, order), key=lambda members: sorted(ranks[i] for i in members))
    systems: list[Row] = [
        {"system": comparison.systems[i], "rank": ranks[i], "label": f"{comparison.systems[i]} {ranks[i]:.2f}"}
        for i in order
    ]
    places = {system: place for place, system in enumerate(order)}
    lanes = packed([(min(places[i] for i in members), max(places[i] for i in members)) for members in together])
    joined: list[Row] = [
        {"system": comparison.systems[i], "rank": ranks[i], "group": group, "lane": lane}
        for group, (members, lane) in enumerate(zip(together, lanes, strict=True))
        for i in members
    ]
    title = f"Bars join systems that cannot be told apart (adjusted p {comparison.alpha:g} or more)"
    label = f"mean rank by {panel.measure.label}"
    made = (
        _both_sides(systems, joined, label, look)
        if _has_room(systems, look)
        else rank_rows(systems, joined, label, look)
    )
    caption = (
        f"Mean rank of {count} systems by {panel.measure} over {plural(len(panel.topics), 'topic')}, 1 is best. Each "
        "bar joins the systems dotted on it, which cannot be told apart: adjusted p "
        f"{comparison.alpha:g} or more, corrected for {plural(comparison.comparisons, 'comparison')}."
    )
    named = subject.named
    return styled(
        made.properties(title=title), look, caption=caption + in_colour(named, count), params={"named": named}
    )


def _has_room(systems: Sequence[Row], look: Theme) -> bool:
    """Whether there are so few systems, with names so short, that ranks can be told apart between the names."""
    return len(systems) <= MOST_BESIDE and look.width_beside(_beside(systems, look)) >= WIDE * (look.column or 0)


def _beside(systems: Sequence[Row], look: Theme) -> float:
    """How many pixels the names take on both sides."""
    return 2 * text_width([str(row["label"]) for row in systems], look)


def _both_sides(systems: Sequence[Row], joined: Sequence[Row], label: str, look: Theme) -> Chart:
    """Names to the left and to the right, bars above them."""
    import altair as alt

    size = _sizes(len(systems), len({row["group"] for row in joined}), look)
    rows = _with_bars(chart_of([*systems, *joined]))
    layers = [*_brackets(rows, size, label, look), *(_bars(rows, size, look) if joined else [])]
    # As high as what is in it: names of systems that are not shown leave no room behind.
    return alt.layer(*layers).properties(width=look.width_beside(_beside(systems, look)), height=1)


class Sizes(NamedTuple):
    """Of a diagram of so many systems, in pixels: from bar to bar, from bars to names, from name to name."""

    systems: int
    bar: float
    below: float
    row: float

    def down(self) -> alt.Y:
        """The channel of what lies `down` from the axis."""
        return self.from_axis("down")

    def from_axis(self, field: str) -> alt.Y:
        """A channel in pixels below the axis."""
        import altair as alt

        return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, 1], range=[0, 1]))


def _sizes(systems: int, bars: int, look: Theme) -> Sizes:
    bar = min(BAR_STEP, look.most * BARS / max(bars, 1))
    below = FIRST_BAR + (look.font + 6) / 2
    row = min(look.font + 6.0, (look.most - below - bar * bars) / ((systems + 1) // 2))
    return Sizes(systems, bar, below, row)


def _with_bars(rows: alt.Chart) -> alt.Chart:
    """Rows of systems, and of the systems of a group the number of its `bar`, from above; with how many `bars` there
    are. One system alone is not joined.
    """
    import altair as alt

    return (
        rows.transform_joinaggregate(members="count()", groupby=["group"])
        .transform_calculate(joined="isValid(datum.group)")
        .transform_filter("!datum.joined || datum.members > 1")
        .transform_window(number="dense_rank()", groupby=["joined"], sort=[alt.SortField("group")])
        .transform_calculate(bar="datum.joined ? datum.number : 0")
        .transform_joinaggregate(bars="max(bar)")
    )


def _brackets(rows: alt.Chart, size: Sizes, label: str, look: Theme) -> list[alt.Chart]:
    """From each rank a line down and out to a row of its own, the better half to the left."""
    import altair as alt

    axis = alt.X(
        "rank:Q",
        title=label,
        scale=alt.Scale(domain=[1.0, float(size.systems)], nice=False),
        axis=alt.Axis(orient="top", values=[*range(1, size.systems + 1)], format="d", grid=False),
    )
    placed = (
        hued(rows.transform_filter("!datum.joined"))
        .transform_window(place="row_number()", sort=[alt.SortField("rank")])
        .transform_joinaggregate(systems="count()")
        .transform_calculate(left="datum.place <= ceil(datum.systems / 2)", zero="0")
        .transform_calculate(row="datum.left ? datum.place - 1 : datum.systems - datum.place")
        .transform_calculate(
            down=f"{size.below} + datum.bars * {size.bar} + datum.row * {size.row}",
            edge=f"datum.left ? 1 : {size.systems}",
        )
        .encode(color=hue(), tooltip=["system:N", alt.Tooltip("rank:Q", title="mean rank", format=".3f")])
    )
    line = placed.mark_rule(strokeWidth=look.line / 2)
    text = placed.encode(x="edge:Q", y=size.down(), text="label:N", color=alt.value(INK))
    font = max(look.font * 0.6, min(look.font, size.row / LINE))
    return [
        line.encode(x=axis, y=size.from_axis("zero"), y2="down:Q"),
        line.encode(x="rank:Q", x2="edge:Q", y=size.down()),
        text.transform_filter("datum.left").mark_text(align="right", dx=-4, fontSize=font),
        text.transform_filter("!datum.left").mark_text(align="left", dx=4, fontSize=font),
    ]


def _bars(rows: alt.Chart, size: Sizes, look: Theme) -> list[alt.Chart]:
    """A bar over the ranks of each group, with dots on those of its systems."""

    members = rows.transform_filter("datum.joined").transform_calculate(
        down=f"{FIRST_BAR} + (datum.bar - 1) * {size.bar}"
    )
    ends = members.transform_aggregate(low="min(rank)", high="max(rank)", groupby=["group", "down"])
    bar = ends.mark_rule(strokeWidth=min(look.line, size.bar / 2), color=INK, xOffset=-2, x2Offset=2)
    dot = members.mark_point(filled=True, opacity=1, size=min(look.line * 8, size.bar**2), color=INK)
    return [bar.encode(x="low:Q", x2="high:Q", y=size.down()), dot.encode(x="rank:Q", y=size.down())]
