"""The critical-difference diagram."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.comparison.standing import level_groups, mean_ranks
from cranfield.judged import Floats
from cranfield.plot.labels import text_width
from cranfield.plot.style import COLOURS, INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

FIRST_BAR, BAR_STEP = 16, 7  # pixels below the axis


@picture("critical-difference", measures=("nDCG@10",))
def critical(subject: Subject) -> Chart:
    """Mean ranks of the runs over topics; bars join runs that cannot be told apart, dots are on those joined."""
    import altair as alt

    look = find_theme(subject.theme)
    comparison = subject.comparison if subject.baseline is None else replace(subject, baseline=None).comparison
    panel = comparison.panels[0]
    panel.measure.check_direction("take another measure", reason="runs are put in order")
    ranks = mean_ranks(panel)
    order = np.argsort(ranks, kind="stable")
    together = level_groups(comparison, panel, order.tolist())
    labels = [f"{comparison.systems[i]} {ranks[i]:.2f}" for i in order]
    lines, texts, height = _brackets(labels, ranks[order], len(together), look)

    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], range=[0, height]))
    span = alt.Scale(domain=[1.0, float(len(ranks))], nice=False)
    axis = alt.X("rank:Q", title=None, scale=span, axis=alt.Axis(orient="top", tickMinStep=1, grid=False))
    drawn = chart_of(lines).mark_line(color=INK, strokeWidth=look.line / 2)
    named = chart_of(texts).encode(x="rank:Q", y=y, text="label:N")
    places = [float(FIRST_BAR + BAR_STEP * k) for k in range(len(together))]
    bars = [
        {"rank": float(ranks[group[0]]), "end": float(ranks[group[-1]]), "y": at}
        for group, at in zip(together, places, strict=True)
    ]
    dots = [{"rank": float(ranks[i]), "y": at} for group, at in zip(together, places, strict=True) for i in group]
    joined = chart_of(bars).mark_rule(strokeWidth=look.line * 2, color=COLOURS[1], xOffset=-2, x2Offset=2)
    marked = chart_of(dots).mark_point(filled=True, opacity=1, size=look.line * 20, color=COLOURS[1])
    layers = [
        drawn.encode(x=axis, y=y, detail="label:N", order="order:Q"),
        named.transform_filter(alt.datum.left).mark_text(align="right", dx=-4, fontSize=look.font),
        named.transform_filter(~alt.datum.left).mark_text(align="left", dx=4, fontSize=look.font),
        *([joined.encode(x="rank:Q", x2="end:Q", y=y)] if bars else []),
        *([marked.encode(x="rank:Q", y=y)] if bars else []),
    ]
    joins = f"bars join runs that cannot be told apart (adjusted p {comparison.alpha:g} or more)"
    title = f"mean rank by {panel.measure.label}; {joins}"
    width = look.width_beside(2 * text_width(labels, look))
    return styled(alt.layer(*layers).properties(width=width, height=height, title=title), look)


def _brackets(labels: list[str], ranks: Floats, bars: int, look: Theme) -> tuple[list[Row], list[Row], int]:
    """From each rank a line down and out to a row of its own, the better half to the left; and the height of it all."""
    count = len(labels)
    half, step = (count + 1) // 2, look.font + 6
    top = FIRST_BAR + BAR_STEP * bars + step // 2
    lines: list[Row] = []
    texts: list[Row] = []
    for place, (label, rank) in enumerate(zip(labels, ranks.tolist(), strict=True)):
        left = place < half
        end, down = (1.0, top + place * step) if left else (float(count), top + (count - 1 - place) * step)
        corners = [(rank, 0), (rank, down), (end, down)]
        lines += [{"label": label, "rank": x, "y": y, "order": i} for i, (x, y) in enumerate(corners)]
        texts.append({"label": label, "rank": end, "y": down, "left": left})
    return lines, texts, top + half * step
