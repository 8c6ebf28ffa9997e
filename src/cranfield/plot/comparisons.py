"""Pictures of comparisons: differences by topic, and of pairs with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.standing import against
from cranfield.errors import percent, plural
from cranfield.evaluation.results import Results
from cranfield.judged import Floats
from cranfield.plot.labels import row_axis, text_width, within
from cranfield.plot.naming import hue, hued
from cranfield.plot.style import BAD, GOOD, INK, NEUTRAL, Chart, Row, Theme, chart_of, find_theme, styled, title_lines
from cranfield.plot.subject import Subject, picture
from cranfield.plot.topics import MOST, axis_title, group_size

if TYPE_CHECKING:
    import altair as alt

PAIR_FIGURES = ("difference", "low", "high", "adjusted_p")
LEVEL = 1e-12  # a sum of differences from which on it is one
MOST_PAIRS = 45  # of a forest; of more, those with the best system are shown
HALF = 0.5  # of a column, that a forest needs beside its names; with less it is as wide as the page
LARGEST_DOT, SMALLEST_DOT = 4.0, 0.5  # pixels of area for each of the font
BETTER, WORSE, NOT, DIFFERENT = "significantly better", "significantly worse", "not significant", "significant"


@picture("histogram", measures=("Rprec",), uses=("sort",), aliases=("waterfall",))
def histogram(subject: Subject) -> Chart:
    """Precision histogram, or waterfall: difference of two runs by topic (very many: of neighbours), with its mean."""
    first, second = subject.two_runs()
    return by_topic(subject.results, first, second, theme=subject.theme, sort=subject.sort)


def by_topic(
    results: Results,
    first: str,
    second: str,
    *,
    theme: str = "screen",
    sort: bool = True,
    named: Sequence[str] = (),
) -> Chart:
    """The difference of two systems on every topic, by the first measure. The rows are the scores of all systems, and
    the chart's parameters `first` and `second` say which two it shows. They have the colours of their places among
    those `named`, and so that of other pictures.

    >>> import cranfield
    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> results = cranfield.evaluate(qrels, {"a": {"1": {"d1": 1.0}}, "b": {"2": {"d1": 1.0}}}, "AP")
    >>> by_topic(results, "a", "b").to_dict()["params"][0]
    {'name': 'first', 'value': 'a'}
    """
    import altair as alt

    look, measure = find_theme(theme), results.measures[0]
    rows, scores = _score_rows(results), results.scores[:, 0]
    of_both = ~np.isnan(results.of(measure, first) - results.of(measure, second))
    count = int(of_both.sum())
    size, few = group_size(count), count * (look.font + 2) <= look.width
    names = [topic for topic, known in zip(results.topics, of_both, strict=True) if known]
    flat = few and text_width(names, look) * count <= look.width * 0.8
    order = "" if not sort else ", best for the first system first" if measure.sign else ", largest difference first"
    axis = alt.Axis(labels=few, ticks=few, domain=False, labelAngle=0 if flat else -90, labelOverlap="parity")
    differences = _differences(chart_of(rows), measure.sign or 1, sort=sort)
    x = alt.X(
        "topic:N",
        title="topic" if few else axis_title(count, size, order, "bar"),
        sort=alt.EncodingSortField("column", op="min"),
        axis=axis,
        scale=alt.Scale(paddingInner=0.1 if count <= 100 else 0),
    )
    reach = alt.Scale(domain=_reach(scores))
    bars = hued(differences).mark_bar()
    bars = bars.encode(
        x=x,
        y=alt.Y("difference:Q", title=f"{measure.label}: difference", scale=reach, stack=None),
        color=_by_winner(results.runs, look) if measure.sign else alt.value(NEUTRAL),
        order="column:Q",  # who walks from bar to bar goes from left to right
        tooltip=["topic:N", alt.Tooltip("difference:Q", format="+.4f")],
    )
    none = differences.transform_aggregate(least="min(difference)", most="max(difference)")
    none = none.transform_filter("datum.least == 0 && datum.most == 0").mark_text(fontSize=look.font, dy=-look.font)
    said = none.encode(text=alt.value("no difference on any topic"), x=alt.value(look.width / 2), y=alt.datum(0))
    # Where no score is better than another no colour says which system is which.
    heading = "" if measure.sign else alt.Title(alt.ExprRef("first + ' − ' + second"))
    summed = [*_summed(chart_of(rows), measure.sign or 1, look)]
    made = alt.layer(bars, _zero("y"), *summed, said).properties(width=look.width, height=look.height, title=heading)
    caption = f"Difference of two systems by {measure} on each of {plural(count, 'topic')}{order}."
    caption += f" Each bar is the mean of {size} neighbouring topics." if size > 1 else ""
    caption += " Dashed: the mean; the fewest topics that add up to half of it are counted."
    caption += " The colour is that of the system that is better on the topic." if measure.sign else ""
    chosen = {"first": first, "second": second, "named": named or (first, second)}
    return styled(made, look, caption=caption, params=chosen)


def _score_rows(results: Results) -> list[Row]:
    """Every score by the first measure, with the place of its topic."""
    scores = results.scores[:, 0]
    return [
        {"system": run, "topic": topic, "place": t, "score": float(scores[r, t])}
        for r, run in enumerate(results.runs)
        for t, topic in enumerate(results.topics)
        if not np.isnan(scores[r, t])
    ]


def _differences(scores: alt.Chart, sign: int, *, sort: bool) -> alt.Chart:
    """The first system's score minus the second's on every topic that both have, as columns of neighbours in order."""
    import altair as alt

    in_order = alt.SortField("gain", order="descending") if sort else alt.SortField("place")
    return (
        _of_topics(scores, sign)
        .transform_window(number="row_number()", sort=[in_order, alt.SortField("place")])
        .transform_joinaggregate(topics_counted="count()")
        .transform_calculate(column=f"floor((datum.number - 1) / ceil(datum.topics_counted / {MOST}))")
        .transform_aggregate(
            difference="mean(difference)",
            gain="mean(gain)",
            from_="argmin(number)",
            to="argmax(number)",
            groupby=["column"],
        )
        .transform_calculate(
            topic="datum.from_.topic == datum.to.topic ? datum.to.topic : datum.from_.topic + ' … ' + datum.to.topic",
            system="datum.gain > 0 ? first : second",
        )
    )


def _of_topics(scores: alt.Chart, sign: int) -> alt.Chart:
    """The difference of the two systems on every topic that both have, and as a gain, of which more is better."""
    return (
        scores.transform_calculate(
            a="datum.system == first ? datum.score : null", b="datum.system == second ? datum.score : null"
        )
        .transform_aggregate(a="max(a)", b="max(b)", groupby=["topic", "place"])
        .transform_filter("isValid(datum.a) && isValid(datum.b)")
        .transform_calculate(difference="datum.a - datum.b", gain=f"(datum.a - datum.b) * {sign}")
    )


def _summed(scores: alt.Chart, sign: int, look: Theme) -> Iterator[alt.Chart]:
    """The mean of the differences as a line, and above the plot what it is and how few topics add up to half of it:
    those that are best for the system which is better on the whole.
    """
    import altair as alt

    differing = (
        _of_topics(scores, sign)
        .transform_joinaggregate(total="sum(gain)", mean="mean(difference)", counted="count()")
        .transform_calculate(share="datum.total > 0 ? datum.gain : -datum.gain")
        .transform_window(
            running="sum(share)",
            topic_number="row_number()",
            sort=[alt.SortField("share", order="descending"), alt.SortField("place")],
        )
        .transform_filter(f"abs(datum.total) > {LEVEL} && datum.running >= abs(datum.total) / 2 - {LEVEL}")
        .transform_aggregate(half="min(topic_number)", mean="min(mean)", counted="min(counted)")
        .transform_filter("datum.counted > 0")
        .transform_calculate(
            told=f"'mean ' + {signed('datum.mean')} + '; ' + format(datum.half, ',') + ' of ' + "
            "format(datum.counted, ',') + (datum.counted == 1 ? ' topic' : ' topics') + "
            "(datum.half == 1 ? ' makes' : ' make') + ' half of it'"
        )
    )
    yield differing.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=look.line / 2).encode(y="mean:Q")
    text = differing.mark_text(align="right", baseline="bottom", dy=-3, fontSize=look.font)
    yield text.encode(x=alt.value(look.width), y=alt.value(0), text="told:N")


def signed(value: str) -> str:
    """The expression of a chart that writes a value with its sign; what is rounded to zero has no minus."""
    return f"format(abs({value}) < 0.00005 ? 0 : {value}, '+.4f')"


def _reach(scores: Floats) -> list[float]:
    """How far the difference of any two systems goes on a topic; of two alone, from the least to the greatest."""
    if len(scores) == 2:
        difference = scores[0] - scores[1]
        known = difference[~np.isnan(difference)].tolist()
        low, high = min([0.0, *known]), max([0.0, *known])
    else:
        high = float(np.nanmax(np.nanmax(scores, axis=0) - np.nanmin(scores, axis=0)))
        low = -high
    return [low, high] if low < high else [-1.0, 1.0]


def _by_winner(names: Sequence[str], look: Theme) -> alt.Color:
    """The colour of a topic: that of the system which is better on it."""
    import altair as alt

    return hue().legend(
        orient="top",
        title=None,
        offset=look.font * 2,
        direction="horizontal",
        values=alt.ExprRef("[indexof(named, first), indexof(named, second)]"),
        labelExpr="(datum.value == indexof(named, first) ? first : second) + ' is better'",
        symbolType="square",
        columnPadding=look.font * 2.5 + text_width(names, look) / 5,  # where letters are wider than those measured
    )


@picture("forest", measures=("nDCG@10",), several=True, uses=("baseline",))
def forest(subject: Subject) -> Chart:
    """Differences of pairs, each with an interval as strict as its corrected p: it leaves out 0 where that decides."""
    import altair as alt

    look, comparison = find_theme(subject.theme), subject.comparison
    panels, told = [], ""
    for panel in comparison.panels:
        title, reference = panel.heading, None
        if comparison.baseline is not None:
            reference = comparison.systems.index(comparison.baseline)
        elif len(comparison.pairs) > MOST_PAIRS:
            reference = panel.best or 0
            which = "the first" if panel.best is None else "the best"
            title = f"{title}, against {which} ({len(comparison.pairs):,} pairs compared)"
            told = f" Of {len(comparison.pairs):,} pairs those with {which} system are shown."
        made = forest_of(comparison, panel, look, None if reference is None else [reference])
        panels.append(made.properties(title=title_lines(title, look)))
    chart = panels[0] if len(panels) == 1 else alt.vconcat(*panels)
    return styled(chart, look, caption=forest_caption(comparison) + told)


def forest_caption(comparison: Comparison) -> str:
    """What a forest shows, of how many topics and comparisons."""
    topics = plural(len(comparison.panels[0].topics), "topic")
    return (
        f"Mean difference on {topics} with its {percent(comparison.level)} interval, as strict as the correction for "
        f"{plural(comparison.comparisons, 'comparison')}: it leaves out 0 where the difference is significant "
        f"(adjusted p below {comparison.alpha:g}), and nowhere else. Decided by {comparison.rule}."
    )


def forest_of(
    comparison: Comparison, panel: Panel, look: Theme, baselines: Sequence[int] | None = None
) -> alt.LayerChart | alt.FacetChart:
    """The pairs of one measure, the largest gain first; or every system against each of some baselines. Each row then
    has its `baseline`, and those of one are to be shown: its name stands once, below them or in a page's heading.
    """
    import altair as alt

    rows = _pair_rows(comparison, panel, baselines)
    # Where no difference is ever rejected an interval has no end: it goes on to the edge.
    fields = ("low", "high", "difference")
    known = [row[name] for row in rows for name in fields if np.isfinite(row[name])] or [0.0]
    least, most = min(0.0, *known), max(0.0, *known)
    for row, name in ((row, name) for row in rows for name in fields):
        row[name] = max(min(row[name], most), least) if row[name] == row[name] else None
    step, axis = row_axis(len(rows) // len(baselines or [0]), look, wanted=look.font + 7)
    verdicts = {BETTER: GOOD, WORSE: BAD, NOT: NEUTRAL} if panel.measure.sign else {DIFFERENT: INK, NOT: NEUTRAL}
    verdicts = {name: colour for name, colour in verdicts.items() if any(row["verdict"] == name for row in rows)}
    label = "pair" if baselines is None else "system"
    width = _forest_width(text_width([str(row[label]) for row in rows], look) + look.font, look)
    base = chart_of(rows).encode(
        y=alt.Y(f"{label}:N", title=None, sort=alt.EncodingSortField("gain", op="min", order="descending"), axis=axis),
        color=alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=list(verdicts), range=list(verdicts.values())),
            legend=alt.Legend(orient="top", symbolType="circle", columns=1 if width < (look.column or 0) else 0),
        ),
        tooltip=[
            "pair:N",
            "measure:N",
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in (*fields, "adjusted_p")),
        ],
    )
    of_one = f" from {comparison.systems[baselines[0]]}" if baselines is not None and len(baselines) == 1 else ""
    title = f"difference{of_one}, {percent(comparison.level)} interval"
    across = alt.X("low:Q", title=within(title, width, look), scale=alt.Scale(domain=[least, most]))
    layers = [
        base.mark_rule(strokeWidth=look.line).encode(x=across, x2="high:Q"),
        base.mark_point(filled=True, size=_dot(rows, width / (most - least or 1.0), look), opacity=1).encode(
            x="difference:Q"
        ),
        _zero("x"),
    ]
    made: alt.LayerChart | alt.FacetChart = alt.layer(*layers).properties(width=width, height=alt.Step(step))
    return made


def _forest_width(beside: float, look: Theme) -> int:
    """How wide the intervals may be beside their names: in a column, or on the page where names would take most of it.

    >>> from cranfield.plot.style import find_theme
    >>> [_forest_width(beside, find_theme("paper")) for beside in (60, 160)], _forest_width(160, find_theme("screen"))
    ([182, 346], 560)
    """
    width = look.width_beside(beside)
    if look.column is None or look.page is None or width >= HALF * look.column:
        return width
    return look.page - int(beside)


def _dot(rows: Sequence[Mapping[str, Any]], unit: float, look: Theme) -> float:
    """The area of a dot, which is no wider than half of the interval that it stands on, of most rows."""
    widths = [(row["high"] - row["low"]) * unit for row in rows if row["low"] is not None and row["high"] is not None]
    half = float(np.median(widths)) / 2 if widths else np.inf
    return max(look.font * SMALLEST_DOT, min(look.font * LARGEST_DOT, half**2))


def _pair_rows(comparison: Comparison, panel: Panel, baselines: Sequence[int] | None) -> list[dict[str, Any]]:
    one = replace(comparison, panels=(panel,))
    sign = panel.measure.sign
    rows: list[dict[str, Any]] = []
    for shown in [one] if baselines is None else [against(one, baseline) for baseline in baselines]:
        # As they stand, from top to bottom: who walks from mark to mark goes that way.
        for pair in sorted(shown.rows(), key=lambda pair: -np.nan_to_num(pair.difference * (sign or 1), nan=-np.inf)):
            verdict = NOT if not pair.significant else DIFFERENT if not sign else BETTER
            verdict = WORSE if verdict == BETTER and pair.difference * sign < 0 else verdict
            row = {name: getattr(pair, name) for name in ("measure", "system", "other", *PAIR_FIGURES)}
            row |= {"pair": f"{pair.system} − {pair.other}", "verdict": verdict}
            row |= {"gain": pair.difference * (sign or 1)}
            rows.append(row if baselines is None else row | {"baseline": pair.other})
    return rows


def _zero(axis: str) -> alt.Chart:
    """A line where there is no difference."""
    rule = chart_of([{"zero": 0}]).mark_rule(color=INK, strokeWidth=1)
    zero: alt.Chart = rule.encode(**{axis: "zero:Q"})
    return zero
