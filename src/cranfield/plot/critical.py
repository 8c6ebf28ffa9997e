"""The critical-difference diagram."""

from __future__ import annotations

from typing import Any

import numpy as np

from cranfield.comparing import check_direction
from cranfield.plot.base import Subject, picture
from cranfield.plot.comparisons import cliques
from cranfield.plot.labels import text_width
from cranfield.plot.style import COLOURS, INK, Theme, altair, find_theme, styled
from cranfield.statistics.friedman import critical_difference, friedman

FIRST_BAR, BAR_STEP = 16, 7  # pixels below the axis


@picture("critical-difference", measures=("nDCG@10",))
def critical(subject: Subject) -> Any:
    """Mean ranks of the runs over topics; bars join runs that do not differ significantly (Friedman and Nemenyi)."""
    alt = altair()

    look = find_theme(subject.theme)
    results = subject.results
    scores = results.scores[:, 0][:, ~np.isnan(results.scores[:, 0]).any(axis=0)]
    check_direction(results.measures, "runs are put in order")
    ranks = friedman(scores * results.measures[0].sign).ranks
    difference = critical_difference(*scores.shape)
    order = np.argsort(ranks, kind="stable")
    together = cliques(ranks[order], difference)
    labels = [f"{results.runs[i]} {ranks[i]:.2f}" for i in order]
    lines, texts, height = _brackets(labels, ranks[order], len(together), look)

    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0, height], range=[0, height]))
    span = alt.Scale(domain=[1.0, float(len(ranks))], nice=False)
    axis = alt.X("rank:Q", title=None, scale=span, axis=alt.Axis(orient="top", tickMinStep=1, grid=False))
    drawn = alt.Chart(alt.Data(values=lines)).mark_line(color=INK, strokeWidth=look.line / 2)
    named = alt.Chart(alt.Data(values=texts)).encode(x="rank:Q", y=y, text="label:N")
    bars = [
        {"rank": float(ranks[order[i]]), "end": float(ranks[order[j]]), "y": float(FIRST_BAR + BAR_STEP * k)}
        for k, (i, j) in enumerate(together)
    ]
    joined = alt.Chart(alt.Data(values=bars)).mark_rule(
        strokeWidth=look.line * 2, color=COLOURS[1], xOffset=-2, x2Offset=2
    )
    layers = [
        drawn.encode(x=axis, y=y, detail="label:N", order="order:Q"),
        named.transform_filter(alt.datum.left).mark_text(align="right", dx=-4, fontSize=look.font),
        named.transform_filter(~alt.datum.left).mark_text(align="left", dx=4, fontSize=look.font),
        *([joined.encode(x="rank:Q", x2="end:Q", y=y)] if bars else []),
    ]
    title = f"mean rank by {results.measures[0].label}; critical difference {difference:.2f}"
    width = look.width_beside(2 * text_width(labels, look))
    return styled(alt.layer(*layers).properties(width=width, height=height, title=title), look)


def _brackets(
    labels: list[str], ranks: Any, bars: int, look: Theme
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """From each rank a line down and out to a row of its own, the better half to the left; and the height of it all."""
    count = len(labels)
    half, step = (count + 1) // 2, look.font + 6
    top = FIRST_BAR + BAR_STEP * bars + step // 2
    lines: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    for place, (label, rank) in enumerate(zip(labels, ranks.tolist(), strict=True)):
        left = place < half
        end, down = (1.0, top + place * step) if left else (float(count), top + (count - 1 - place) * step)
        corners = [(rank, 0), (rank, down), (end, down)]
        lines += [{"label": label, "rank": x, "y": y, "order": i} for i, (x, y) in enumerate(corners)]
        texts.append({"label": label, "rank": end, "y": down, "left": left})
    return lines, texts, top + half * step
