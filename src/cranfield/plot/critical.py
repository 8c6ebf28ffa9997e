"""The critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.comparison.standing import level_groups, mean_ranks
from cranfield.errors import plural
from cranfield.plot.labels import LINE, text_width
from cranfield.plot.naming import hue, hued, of_grey
from cranfield.plot.style import INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

if TYPE_CHECKING:
    import altair as alt

FIRST_BAR, BAR_STEP = 16, 7  # pixels below the axis
BARS = 0.3  # of the greatest height, for all bars


@picture("critical-difference", measures=("nDCG@10",), uses=("highlight",))
def critical(subject: Subject) -> Chart:
    """Mean ranks of the runs over topics; bars join runs that cannot be told apart, dots are on those joined.

    The chart itself finds the rows of names, so that none is left empty where some systems are not shown.
    """
    import altair as alt

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
    joined: list[Row] = [
        {"system": comparison.systems[i], "rank": ranks[i], "group": group}
        for group, members in enumerate(together)
        for i in members
    ]
    size = _sizes(count, len(together), look)
    layers = [*_brackets(systems, size, look), *(_bars(joined, size, look) if joined else [])]
    joins = f"bars join runs that cannot be told apart (adjusted p {comparison.alpha:g} or more)"
    title = [f"mean rank by {panel.measure.label};", joins]
    width = look.width_beside(2 * text_width([str(row["label"]) for row in systems], look))
    caption = (
        f"Mean rank of {count} systems by {panel.measure} over {plural(len(panel.topics), 'topic')}, 1 is best. Each "
        "bar joins the systems dotted on it, which cannot be told apart: adjusted p "
        f"{comparison.alpha:g} or more, corrected for {plural(comparison.comparisons, 'comparison')}."
    )
    made = alt.layer(*layers).properties(
        width=width, height=size.height, title=title if look.column else " ".join(title)
    )
    named = subject.named
    return styled(made, look, caption=caption + of_grey(named, count), params={"named": named})


class Sizes(NamedTuple):
    """Of a diagram of so many systems, in pixels: from bar to bar, where names begin, from name to name, all of it."""

    systems: int
    bar: float
    top: float
    row: float
    height: float

    def down(self) -> alt.Y:
        """The channel of what lies `down` from the axis."""
        return self.from_axis("down")

    def from_axis(self, field: str) -> alt.Y:
        """A channel in pixels below the axis."""
        import altair as alt

        return alt.Y(f"{field}:Q", axis=None, scale=alt.Scale(domain=[0, self.height], range=[0, self.height]))


def _sizes(systems: int, bars: int, look: Theme) -> Sizes:
    bar = min(BAR_STEP, look.most * BARS / max(bars, 1))
    half = (systems + 1) // 2
    top = FIRST_BAR + bar * bars + (look.font + 6) / 2
    row = min(look.font + 6.0, (look.most - top) / half)
    return Sizes(systems, bar, top, row, top + half * row)


def _brackets(systems: Sequence[Row], size: Sizes, look: Theme) -> list[alt.Chart]:
    """From each rank a line down and out to a row of its own, the better half to the left."""
    import altair as alt

    axis = alt.X(
        "rank:Q",
        title=None,
        scale=alt.Scale(domain=[1.0, float(size.systems)], nice=False),
        axis=alt.Axis(orient="top", tickMinStep=1, grid=False),
    )
    placed = (
        hued(chart_of(systems))
        .transform_window(place="row_number()", sort=[alt.SortField("rank")])
        .transform_joinaggregate(systems="count()")
        .transform_calculate(left="datum.place <= ceil(datum.systems / 2)", zero="0")
        .transform_calculate(
            down=f"{size.top} + (datum.left ? datum.place - 1 : datum.systems - datum.place) * {size.row}",
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


def _bars(joined: Sequence[Row], size: Sizes, look: Theme) -> list[alt.Chart]:
    """A bar over the ranks of each group, with dots on those of its systems; one system alone is not joined."""
    import altair as alt

    members = (
        chart_of(joined)
        .transform_joinaggregate(members="count()", groupby=["group"])
        .transform_filter("datum.members > 1")
        .transform_window(bar="dense_rank()", sort=[alt.SortField("group")])
        .transform_calculate(down=f"{FIRST_BAR} + (datum.bar - 1) * {size.bar}")
    )
    ends = members.transform_aggregate(low="min(rank)", high="max(rank)", groupby=["group", "down"])
    bar = ends.mark_rule(strokeWidth=min(look.line, size.bar / 2), color=INK, xOffset=-2, x2Offset=2)
    dot = members.mark_point(filled=True, opacity=1, size=min(look.line * 20, size.bar**2), color=INK)
    return [bar.encode(x="low:Q", x2="high:Q", y=size.down()), dot.encode(x="rank:Q", y=size.down())]
