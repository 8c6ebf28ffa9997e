"""Pictures of comparisons: differences by topic, and of pairs with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.standing import against
from cranfield.errors import percent
from cranfield.plot.labels import text_width
from cranfield.plot.style import BAD, GOOD, INK, NEUTRAL, WHOLE, Chart, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture
from cranfield.plot.topics import axis_title, columns, means

if TYPE_CHECKING:
    import altair as alt

MOST_PAIRS = 45  # of a forest; of more, those with the best system are shown


@picture("histogram", measures=("Rprec",), uses=("sort",))
def histogram(subject: Subject) -> Chart:
    """The precision histogram: difference of two runs on every topic, sorted or in the order of the topics."""
    import altair as alt

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    difference = results.of(measure, first) - results.of(measure, second)
    counted = np.flatnonzero(~np.isnan(difference))
    if subject.sort:
        counted = counted[np.argsort(-difference[counted] * (measure.sign or 1), kind="stable")]
    bars_made = columns(results.topics, counted.tolist())
    rows = [
        {"topic": column.label, "difference": value, "better": first if value * measure.sign > 0 else second}
        for column, value in zip(bars_made, means(difference, bars_made).tolist(), strict=True)
    ]
    names = [column.label for column in bars_made]
    few = len(rows) * (look.font + 2) <= look.width
    flat = few and text_width(names, look) * len(rows) <= look.width * 0.8
    axis = alt.Axis(labels=few, ticks=few, domain=False, labelAngle=0 if flat else -90, labelOverlap=False)
    best_first = f", best for {first} first" if measure.sign else ", largest difference first"
    order = best_first if subject.sort else ""
    named = f"{measure.label}: {first} − {second}"
    bars = (
        chart_of(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "topic:N",
                title="topic" if few else axis_title(len(counted), bars_made, order, "bar"),
                sort=names,
                axis=axis,
                scale=alt.Scale(paddingInner=0.1 if len(rows) <= 100 else 0),
            ),
            y=alt.Y(
                "difference:Q", title=named if text_width([named], look) <= look.height else f"{measure}: difference"
            ),
            color=_by_winner(first, second) if measure.sign else alt.value(NEUTRAL),
            tooltip=["topic:N", alt.Tooltip("difference:Q", format="+.4f")],
        )
    )
    title = "" if difference[counted].any() else "no difference on any topic"
    return styled(alt.layer(bars, _zero("y")).properties(width=look.width, height=look.height, title=title), look)


def _by_winner(first: str, second: str) -> alt.Color:
    """The colour of a topic: that of the run which is better on it."""
    import altair as alt

    return alt.Color(
        "better:N",
        title=None,
        scale=alt.Scale(domain=[first, second], range=[GOOD, BAD]),
        legend=alt.Legend(
            orient="top", direction="horizontal", labelExpr="datum.label + ' is better'", symbolType="square"
        ),
    )


@picture("forest", measures=("nDCG@10",), several=True, uses=("baseline",))
def forest(subject: Subject) -> Chart:
    """Differences of pairs with their intervals: thick as strict as the corrected p, thin for all of them together."""
    import altair as alt

    look = find_theme(subject.theme)
    panels = [_of_panel(subject.comparison, number, look) for number in range(len(subject.comparison.panels))]
    return styled(panels[0] if len(panels) == 1 else alt.vconcat(*panels), look)


def _of_panel(comparison: Comparison, number: int, look: Theme) -> alt.LayerChart | alt.FacetChart:
    """The pairs of one measure, the largest gain first."""
    import altair as alt

    panel = comparison.panels[number]
    title, shown = panel.heading, comparison
    if len(comparison.pairs) > MOST_PAIRS:
        reference = panel.best or 0
        which = "the first" if panel.best is None else "the best"
        shown = against(comparison, reference)
        title = f"{title}, against {which}, {comparison.systems[reference]} ({len(comparison.pairs)} compared)"
    of_panel = list(shown.rows())[number * len(shown.pairs) : (number + 1) * len(shown.pairs)]
    rows = [
        vars(pair)
        | {
            "pair": f"{pair.system} − {pair.other}",
            "verdict": "significant" if pair.significant else "not significant",
            "p": None,
        }
        for pair in sorted(of_panel, key=lambda pair: -pair.difference * (panel.measure.sign or 1))
    ]
    names = [row["pair"] for row in rows]
    base = chart_of(rows).encode(
        y=alt.Y("pair:N", title=None, sort=names, axis=alt.Axis(labelLimit=WHOLE, grid=True)),
        color=alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=["significant", "not significant"], range=[GOOD, NEUTRAL]),
            legend=alt.Legend(orient="top", symbolType="circle"),
        ),
        tooltip=[
            "pair:N",
            "measure:N",
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("difference", "low", "high", "adjusted_p")),
        ],
    )
    # Where no difference is ever rejected an interval has no end: it goes on to the edge.
    named = ("low", "high", "together_low", "together_high", "difference")
    known = [row[name] for row in rows for name in named if np.isfinite(row[name])]
    for row, name in ((row, name) for row in rows for name in named):
        row[name] = max(min(row[name], max(known)), min(known)) if row[name] == row[name] else None
    across = alt.X(
        "together_low:Q",
        title=f"difference, {percent(comparison.level)} interval; thin: {percent(comparison.alpha)} for all "
        f"{comparison.comparisons:,} comparisons together",
    )
    layers = [
        base.mark_rule(strokeWidth=look.line / 2).encode(x=across, x2="together_high:Q"),
        base.mark_rule(strokeWidth=look.line * 2).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=look.font * 4, opacity=1).encode(x="difference:Q"),
        _zero("x"),
    ]
    width = look.width_beside(text_width(names, look) + look.font)
    height = max(len(rows), 2) * (look.font + 7)
    return alt.layer(*layers).properties(width=width, height=height, title=title)


def _zero(axis: str) -> alt.Chart:
    """A line where there is no difference."""
    rule = chart_of([{"zero": 0}]).mark_rule(color=INK, strokeWidth=1)
    zero: alt.Chart = rule.encode(**{axis: "zero:Q"})
    return zero
