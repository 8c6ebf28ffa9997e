"""Pictures that are matrices: topics by systems, p-values, ranks under resampling, agreement of measures."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats
from cranfield.plot.labels import text_width
from cranfield.plot.style import SHADES, WHOLE, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture
from cranfield.plot.topics import MOST, axis_title, columns, means
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.resampled import topic_draws
from cranfield.statistics.significance import Sampling

if TYPE_CHECKING:
    import altair as alt

RESAMPLES = 2000
AT_ONCE = 100  # resamples
DECIMALS = 12  # of means that are told apart
UNDEFINED = "–"  # where a measure has all runs level, there is no ordering to agree with
MOST_CELLS = 20_000  # of a heat map
MOST_WRITTEN = 12  # names of a matrix whose numbers are written into it
# p-values are below which step, its name and its shade; the darker, the surer.
P_STEPS = ((0.001, "below 0.001"), (0.01, "below 0.01"), (0.05, "below 0.05"), (float("inf"), "0.05 or more"))
P_SHADES = ("#08306b", "#2171b5", "#9ecae1", "#f0f0f0")
P_DARK = ("below 0.001", "below 0.01")


@picture("heatmap", measures=("nDCG@10",), uses=("sort",))
def heatmap(subject: Subject) -> Chart:
    """Topics by runs: every score at a glance, hard topics to the left and good runs on top."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure, scores = results.measures[0], results.scores[:, 0]
    sign = measure.sign or 1
    topic_order = np.argsort(sign * np.nanmean(scores, axis=0)) if subject.sort else np.arange(len(results.topics))
    run_order = np.argsort(-sign * results.means[:, 0]) if subject.sort else np.arange(len(results.runs))
    made = columns(results.topics, topic_order.tolist(), min(MOST, max(60, MOST_CELLS // len(results.runs))))
    shown = means(scores, made)
    rows = [
        {"run": results.runs[r], "topic": column.label, "score": float(shown[r, c])}
        for r in run_order
        for c, column in enumerate(made)
        if not np.isnan(shown[r, c])
    ]
    width = look.width_beside(text_width(results.runs, look) + 6 * look.font)
    few = len(results.topics) * (look.font + 2) <= width
    order = f", {'hardest' if measure.sign else 'lowest'} first" if subject.sort else ""
    height = max(4, len(results.runs)) * (look.font + 6)
    high = 1.0 if measure.definition.range == (0.0, 1.0) else float(np.nanmax(scores))
    chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X(
                "topic:N",
                title=f"topic{order}" if few else axis_title(len(results.topics), made, order, "column"),
                sort=[column.label for column in made],
                axis=alt.Axis(labels=few, ticks=few, domain=False),
            ),
            y=alt.Y("run:N", title=None, sort=[results.runs[r] for r in run_order], axis=alt.Axis(labelLimit=WHOLE)),
            color=alt.Color(
                "score:Q",
                title=measure.label,
                scale=alt.Scale(
                    range=list(SHADES),
                    domain=[min(0.0, float(np.nanmin(scores))), high or 1.0],
                    reverse=measure.sign < 0,  # strong is good
                ),
                legend=alt.Legend(gradientLength=min(height - 2 * look.font, 200)),
            ),
            tooltip=["run:N", "topic:N", alt.Tooltip("score:Q", format=".4f")],
        )
        .properties(width=width, height=height)
    )
    return styled(chart, look)


@picture("p-values", measures=("nDCG@10",), uses=("baseline",))
def p_values(subject: Subject) -> Chart:
    """A matrix of adjusted p-values: which runs differ from which."""
    import altair as alt

    comparison = subject.comparison
    panel = comparison.panels[0]
    order = [comparison.systems[i] for i in np.argsort(-panel.gains, kind="stable")]
    rows = []
    for (i, j), p in zip(comparison.pairs.tolist(), panel.adjusted.tolist(), strict=True):
        for a, b in ((i, j), (j, i)):
            shown = "<.001" if p < 0.001 else f"{p:.3f}"
            step = next(name for limit, name in P_STEPS if p < limit)
            rows.append({"a": comparison.systems[a], "b": comparison.systems[b], "value": p, "shown": shown})
            rows[-1] |= {"step": step, "dark": step in P_DARK}
    scale = alt.Scale(domain=[name for _, name in P_STEPS], range=list(P_SHADES))
    colour = alt.Color(
        "step:N",
        title="adjusted p",
        scale=scale,
        legend=alt.Legend(orient="top", symbolType="square", titleOrient="left", columns=2),
    )
    return _square(rows, order, find_theme(subject.theme), title=panel.heading, colour=colour)


@picture("agreement", measures=("nDCG@10", "AP", "RR", "P@10"), several=True)
def agreement(subject: Subject) -> Chart:
    """Kendall's tau between the orderings of the runs by each pair of measures."""
    import altair as alt

    results = subject.results
    if len(results.runs) < 3:
        raise UsageError("orderings of fewer than three runs have nothing to agree on")
    kendall = find_coefficient("kendall")
    for measure in results.measures:
        measure.check_direction("take another measure", reason="runs are put in order")
    gains = results.means * [measure.sign for measure in results.measures]
    names = [measure.label for measure in results.measures]
    rows: list[Row] = [
        {"a": a, "b": b, "value": None, "shown": UNDEFINED, "dark": False}
        if np.isnan(value)
        else {"a": a, "b": b, "value": value, "shown": f"{value:.2f}", "dark": abs(value) > 0.6}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        for value in [float(kendall.function(gains[:, i], gains[:, j]))]
    ]
    scale = alt.Scale(domain=[-1, 0, 1], range=["#b35806", "#ffffff", "#08519c"], interpolate="rgb", clamp=True)
    colour = alt.Color("value:Q", title="tau", scale=scale)
    return _square(rows, names, find_theme(subject.theme), title="Kendall's tau of the orderings", colour=colour)


@picture("stability", measures=("nDCG@10",))
def stability(subject: Subject) -> Chart:
    """How often each run takes each rank when topics are drawn anew: is the ordering safe?"""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    for measure in results.measures:
        measure.check_direction("take another measure", reason="runs are put in order")
    measure = results.measures[0]
    scores = measure.sign * results.scores[:, 0][:, ~np.isnan(results.scores[:, 0]).any(axis=0)]
    if scores.shape[1] < 2:
        raise UsageError(
            f"topics can be drawn anew from 2 that all runs have a score on or more, not {scores.shape[1]}"
        )
    count = len(results.runs)
    shares = rank_shares(scores)
    by_mean = np.argsort(-scores.mean(axis=1), kind="stable")
    rows = [
        {"run": results.runs[r], "rank": place + 1, "share": float(shares[r, place])}
        for r in by_mean
        for place in range(count)
        if shares[r, place]
    ]
    chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X(
                "rank:O",
                title=f"rank by {measure.label}, topics drawn anew",
                axis=alt.Axis(labelAngle=0, labelOverlap="parity"),
            ),
            y=alt.Y("run:N", title=None, sort=[results.runs[r] for r in by_mean], axis=alt.Axis(labelLimit=WHOLE)),
            color=alt.Color(
                "share:Q",
                title="share",
                scale=alt.Scale(range=list(SHADES), domain=[0, 1]),
                legend=alt.Legend(format=".0%", gradientLength=max(count, 4) * look.font),
            ),
            tooltip=["run:N", "rank:O", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    text = chart.mark_text(fontSize=look.font - 2).encode(
        text=alt.Text("share:Q", format=".0%"),
        color=alt.condition(alt.datum.share > 0.5, alt.value("white"), alt.value("#222")),
    )
    written = count <= MOST_WRITTEN and look.column is None
    layered = alt.layer(chart, text) if written else chart
    cell = look.font + 14 if written else look.font + 7
    width = min(max(count, 3) * cell * 1.5, look.width_beside(text_width(results.runs, look) + 6 * look.font))
    return styled(layered.properties(width=width, height=max(count, 4) * cell), look)


def rank_shares(scores: Floats) -> Floats:
    """shares[system, rank]: how often each system takes each rank by its mean, best first, when topics are drawn anew.

    Scores are gains: the higher the better. Systems that tie share the ranks they take.

    >>> rank_shares(np.array([[0.9, 0.8, 0.7], [0.1, 0.2, 0.3]]))
    array([[1., 0.],
           [0., 1.]])
    """
    count, ranks = len(scores), np.arange(len(scores))
    times_at_rank, topics = np.zeros((count, count)), scores.shape[1]
    draws = topic_draws(topics, Sampling(resamples=RESAMPLES))
    # How often each topic is drawn says it all: means of many draws are one product, however many topics there are.
    while times := [np.bincount(draw, minlength=topics) for draw in islice(draws, AT_ONCE)]:
        # Sums of the same scores in another order may differ in their last digits.
        for mean in (np.array(times, dtype=np.float64) @ scores.T / topics).round(DECIMALS):
            ordered = np.sort(-mean)
            first, end = np.searchsorted(ordered, -mean, "left"), np.searchsorted(ordered, -mean, "right")
            tied = (ranks >= first[:, None]) & (ranks < end[:, None])
            times_at_rank += tied / (end - first)[:, None]
    return times_at_rank / RESAMPLES


def _square(rows: list[Row], order: list[str], look: Theme, *, title: str, colour: alt.Color) -> Chart:
    """Names against names; the numbers are written into the cells if there is room for them."""
    import altair as alt

    written = len(order) <= MOST_WRITTEN
    angle = -40 if written else -90
    base = chart_of(rows).encode(
        x=alt.X("b:N", title=None, sort=order, axis=alt.Axis(labelAngle=angle, labelLimit=WHOLE, labelOverlap=False)),
        y=alt.Y("a:N", title=None, sort=order, axis=alt.Axis(labelLimit=WHOLE)),
        tooltip=["a:N", "b:N", alt.Tooltip("value:Q", format=".4f")],
    )
    cells = base.mark_rect(stroke="white").encode(color=colour)
    text = base.mark_text(fontSize=look.font - 2).encode(
        text="shown:N", color=alt.condition(alt.datum.dark, alt.value("white"), alt.value("#222"))
    )
    layered = alt.layer(cells, text) if written else cells
    size = max(2, len(order)) * (look.font * 3.6 if written else look.font + 2)
    return styled(layered.properties(width=size, height=size, title=title), look)
