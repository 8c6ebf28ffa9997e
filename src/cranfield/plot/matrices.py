"""Pictures that are matrices: topics by systems, p-values, ranks under resampling, agreement of measures."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.judged import Floats
from cranfield.plot.labels import LINE, rank_ticks, row_axis, text_width, within
from cranfield.plot.style import (
    AXIS,
    GRID,
    GROUND,
    SHADES,
    TWO_SIDED,
    WRITTEN_SHADES,
    Chart,
    Row,
    Theme,
    chart_of,
    find_theme,
    styled,
)
from cranfield.plot.subject import Subject, picture
from cranfield.plot.topics import MOST, axis_title, columns, group_size, means
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.resampled import topic_draws
from cranfield.statistics.significance import Sampling

if TYPE_CHECKING:
    import altair as alt

RESAMPLES = 2000
AT_ONCE = 100  # resamples
ROUNDING = 1e-9
DECIMALS = 12  # of means that are told apart
UNDEFINED = "–"  # where a measure has all runs level, there is no ordering to agree with
MOST_CELLS = 20_000  # of a heat map
LEGIBLE = 0.7  # of the font, that the letters of rows so high still have
MOST_WRITTEN = 12  # names of a matrix whose numbers are written into it
# p-values are below which step, its name and its shade; the darker, the surer.
P_STEPS = ((0.001, "below 0.001"), (0.01, "below 0.01"), (0.05, "below 0.05"), (float("inf"), "0.05 or more"))
P_SHADES = (SHADES[5], SHADES[3], SHADES[1], GROUND)


@picture("heatmap", measures=("nDCG@10",), uses=("sort",))
def heatmap(subject: Subject) -> Chart:
    """Topics by runs, hard topics to the left and good runs on top; of very many topics neighbours are one column."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure, scores = results.measures[0], results.scores[:, 0]
    sign, count = measure.sign or 1, len(results.runs)
    topic_order = np.argsort(sign * np.nanmean(scores, axis=0)) if subject.sort else np.arange(len(results.topics))
    run_order = np.argsort(-sign * results.means[:, 0]) if subject.sort else np.arange(count)
    most = min(MOST, max(60, MOST_CELLS // count))
    made, size = columns(results.topics, topic_order.tolist(), most), group_size(len(results.topics), most)
    shown = means(scores, made)
    rows = [
        {"system": results.runs[r], "topic": column.label, "score": float(shown[r, c])}
        for r in run_order
        for c, column in enumerate(made)
        if not np.isnan(shown[r, c])
    ]
    width = look.width_beside(text_width(results.runs, look) + _beside(look))
    few = len(results.topics) * (look.font + 2) <= width
    order = f", {'hardest' if measure.sign else 'lowest'} first" if subject.sort else ""
    step, names = row_axis(count, look, wanted=look.font + 6)
    high = 1.0 if measure.definition.range == (0.0, 1.0) else float(np.nanmax(scores))
    low = min(0.0, float(np.nanmin(scores)))
    shades = list(SHADES if measure.sign >= 0 else SHADES[::-1])  # strong is good
    chart = (
        chart_of(rows)
        .mark_rect()
        .encode(
            x=alt.X(
                "topic:N",
                title=within(f"topic{order}", width, look)
                if few
                else axis_title(len(results.topics), size, order, "column"),
                sort=[column.label for column in made],
                axis=alt.Axis(labels=few, ticks=few, domain=False, labelOverlap="parity"),
            ),
            y=alt.Y("system:N", title=None, sort=[results.runs[r] for r in run_order], axis=names),
            color=alt.Color(
                "score:Q",
                title=measure.label,
                scale=alt.Scale(range=shades, domain=[low, high if high > low else low + 1.0], interpolate="rgb"),
                legend=_shades(count * step, width, look),
            ),
            tooltip=["system:N", "topic:N", alt.Tooltip("score:Q", format=".4f")],
        )
        .properties(width=width, height=alt.Step(step))
    )
    caption = f"{measure} of {plural(count, 'system')} on {plural(len(results.topics), 'topic')}"
    column = "a topic" if size == 1 else f"the mean of {size} neighbouring topics"
    caption += f", a column {column}{order}{', the best system on top' if subject.sort else ''}."
    return styled(chart, look, caption=caption)


def _beside(look: Theme) -> float:
    """How many pixels a legend of shades takes beside a plot: on paper it stands above."""
    return 9.0 * look.font if look.column is None else look.font


def _shades(height: float, width: float, look: Theme, **options: Any) -> alt.Legend:
    """A legend of shades, beside a plot so high or, where there is only a column, above one so wide."""
    import altair as alt

    if look.column is None:
        return alt.Legend(gradientLength=min(max(height, 60.0), 200.0), **options)
    thin: dict[str, Any] = {
        "gradientThickness": look.font * 0.75,
        "titleOrient": "left",
        "titlePadding": look.font,
        **options,
    }
    return alt.Legend(orient="top", direction="horizontal", gradientLength=width * 0.6, **thin)


@picture("p-values", measures=("nDCG@10",), uses=("baseline",))
def p_values(subject: Subject) -> Chart:
    """A matrix of adjusted p-values: which runs differ from which."""
    import altair as alt

    comparison = subject.comparison
    panel = comparison.panels[0]
    order = [comparison.systems[i] for i in np.argsort(-panel.gains, kind="stable")]
    found: dict[tuple[str, str], float] = {}
    for (i, j), p in zip(comparison.pairs.tolist(), panel.adjusted.tolist(), strict=True):
        a, b = comparison.systems[i], comparison.systems[j]
        found[a, b] = found[b, a] = p
    rows = [_p_row(a, b, found[a, b]) for a in order for b in order if (a, b) in found]
    look = find_theme(subject.theme)
    colour = alt.Color(
        "step:N",
        title="adjusted p",
        scale=alt.Scale(domain=[name for _, name in P_STEPS], range=list(P_SHADES)),
        legend=alt.Legend(orient="top", symbolType="square", symbolStrokeColor=AXIS, symbolStrokeWidth=1, columns=2),
    )
    caption = (
        f"p of the pairs of {plural(len(order), 'system')} by {panel.measure} on {plural(len(panel.topics), 'topic')}, "
        f"adjusted for {plural(comparison.comparisons, 'comparison')}, the best system first. Decided by "
        f"{comparison.rule}."
    )
    made = _square(rows, order, look, colour=colour, value="adjusted p")
    return styled(made.properties(title=panel.heading), look, caption=caption)


def _p_row(system: str, other: str, p: float) -> Row:
    """A cell of the matrix: p as it is written into it, and the step that it lies below."""
    shown = "<.001" if p < 0.001 else f"{p:.3f}"
    step = next(name for limit, name in P_STEPS if p < limit)
    return {"system": system, "other": other, "value": p, "shown": shown, "step": step}


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
        {"measure": a, "other_measure": b, **_written(value)}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        for value in [float(kendall.function(gains[:, i], gains[:, j]))]
    ]
    scale = alt.Scale(domain=[-1, -0.5, 0, 0.5, 1], range=list(TWO_SIDED), interpolate="rgb", clamp=True)
    look = find_theme(subject.theme)
    colour = alt.Color("value:Q", title="tau", scale=scale)
    made = _square(rows, names, look, colour=colour, value="tau", of="measure")
    caption = (
        f"Kendall's tau between the orderings of {plural(len(results.runs), 'system')} by each pair of measures, on "
        f"{plural(len(results.topics), 'topic')}: 1 where two measures order all systems alike."
    )
    return styled(made.properties(title="Kendall's tau of the orderings"), look, caption=caption)


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
        {"system": results.runs[r], "rank": place + 1, "share": share, "shown": written_share(share)}
        for r in by_mean
        for place, share in enumerate(shares[r].tolist())
        if share
    ]
    room = look.width_beside(text_width(results.runs, look) + _beside(look))
    widest = text_width(["100 %"], look) * (look.font - 2) / look.font
    written = count <= MOST_WRITTEN and room / count >= widest
    step, names = row_axis(count, look, wanted=look.font + (14 if written else 7))
    width = room if look.column else min(max(count, 3) * step * 1.6, room)
    most = 1.0 if written else float(np.ceil(shares.max() * 10) / 10)
    ranks = alt.Scale(domain=[*range(1, count + 1)])  # whichever systems are shown, they are those among all
    base = chart_of(rows).encode(
        x=alt.X(
            "rank:O",
            title=within(f"rank by {measure.label}, topics drawn anew", width, look),
            scale=ranks,
            axis=alt.Axis(
                labelAngle=0, labelOverlap="parity", labelSeparation=4, values=rank_ticks(count, width, look)
            ),
        ),
        y=alt.Y("system:N", title=None, sort=[results.runs[r] for r in by_mean], axis=names),
        tooltip=["system:N", "rank:O", alt.Tooltip("share:Q", format=".1%")],
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "share:Q",
            title="share",
            scale=alt.Scale(range=list(WRITTEN_SHADES if written else SHADES), domain=[0, most], interpolate="rgb"),
            legend=_shades(count * step, width, look, labelExpr="format(datum.value * 100, '.0f') + ' %'"),
        )
    )
    # A page that is too narrow for the numbers has the shades alone, and the numbers in its table.
    numbers = base.transform_filter(f"width / {count} >= {widest}").mark_text(fontSize=look.font - 2)
    layered = alt.layer(cells, numbers.encode(text="shown:N")) if written else cells
    caption = (
        f"How often each of {plural(count, 'system')} takes each rank by {measure} when {scores.shape[1]:,} topics are "
        f"drawn anew from these, with replacement, {RESAMPLES:,} times."
        + (" Each percentage is rounded by itself: a row may add up to 99 or 101, say." if written else "")
    )
    made = layered.properties(width=width, height=alt.Step(step))
    return styled(made, look, caption=caption)


def written_share(share: float) -> str:
    """A share as a whole percentage, never rounded to nothing or to all.

    >>> [written_share(share) for share in (0.7425, 0.004, 0.996, 1.0, 0.0)]
    ['74 %', '<1 %', '>99 %', '100 %', '']
    """
    percentage = share * 100
    if percentage < 1:
        return "<1 %" if share > 0 else ""
    return ">99 %" if 99 < percentage < 100 - ROUNDING else f"{percentage:.0f} %"


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


def _written(value: float) -> Row:
    """A coefficient, and how it is written into its cell."""
    if np.isnan(value):
        return {"value": None, "shown": UNDEFINED}
    return {"value": value, "shown": f"{value:.2f}".replace("-", "−")}


def _square(
    rows: list[Row], order: list[str], look: Theme, *, colour: alt.Color, value: str, of: str = "system"
) -> Chart:
    """Names against names; the numbers are written into the cells if there is room for them."""
    import altair as alt

    count, other = max(2, len(order)), "other" if of == "system" else f"other_{of}"
    side = min(look.font * (3.6 if count <= MOST_WRITTEN else LINE), _room(order, look) / count)
    written = count <= MOST_WRITTEN and side >= look.font * 2
    step, down = row_axis(count, look, wanted=side)
    _, across = row_axis(count, look, wanted=step)
    across.labelAngle = -40 if written else -90
    base = chart_of(rows).encode(
        x=alt.X(f"{other}:N", title=None, sort=order, axis=across),
        y=alt.Y(f"{of}:N", title=None, sort=order, axis=down),
        tooltip=[f"{of}:N", f"{other}:N", alt.Tooltip("value:Q", format=".4f", title=value)],
    )
    cells = base.mark_rect(stroke=GRID, strokeWidth=min(1.0, step / 20)).encode(color=colour)
    text = base.mark_text(fontSize=look.font - 2).encode(text="shown:N")
    layered = alt.layer(cells, text) if written else cells
    square: Chart = layered.properties(width=alt.Step(step), height=alt.Step(step))
    return square


def _room(names: list[str], look: Theme) -> float:
    """How wide all cells may be together: what the names leave of a column, or of the page where that is too little."""
    if look.column is None or look.page is None:
        return float("inf")
    beside = text_width(names, look) + 2 * look.font
    column = look.column - beside
    return column if column >= len(names) * look.font * LEGIBLE else look.page - beside
