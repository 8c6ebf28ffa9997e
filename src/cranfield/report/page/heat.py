"""The heat map as a small picture: one path a shade, since a mark for each of thousands of scores weighs a megabyte."""

from __future__ import annotations

import numpy as np

from cranfield.measures import Measure
from cranfield.plot.topics import columns, means
from cranfield.render.escaping import Markup, visible
from cranfield.report.contents import Report

SHADES = 9  # classes s0 to s8 of the style sheet
CELL, WIDE = 18, 640


def heat_map(report: Report, measure: Measure) -> Markup:
    """Topics across, hardest first; systems down, best first; a score is as dark as it is good.

    Where there are more topics than points across, neighbours are drawn as their mean.
    """
    results = report.results
    scores = results.scores[:, results.measures.index(measure)]
    systems = [results.runs.index(standing.system) for standing in report.standings(measure)]
    order = np.argsort((measure.sign or 1) * np.nanmean(scores, axis=0), kind="stable").tolist()
    topics = columns(results.topics, order, WIDE)
    shade = shades(means(scores, topics), loss=measure.sign < 0)
    squares: dict[int, list[str]] = {}
    for y, system in enumerate(systems):
        for x in range(len(topics)):
            if shade[system, x] >= 0:
                squares.setdefault(int(shade[system, x]), []).append(f"M{x} {y}h1v1h-1z")
    paths = [Markup.element("path", class_=f"s{number}", d="".join(parts)) for number, parts in sorted(squares.items())]
    label = 8 * max(len(visible(results.runs[system])) for system in systems)
    names = [
        Markup.element("text", results.runs[system], x=label - 8, y=f"{(y + 0.7) * CELL:g}", text_anchor="end")
        for y, system in enumerate(systems)
    ]
    height = CELL * len(systems)
    field = Markup.element(
        "svg",
        *paths,
        x=label,
        width=WIDE,
        height=height,
        viewBox=f"0 0 {len(topics)} {len(systems)}",
        preserveAspectRatio="none",
        shape_rendering="crispEdges",
    )
    return Markup.element(
        "svg",
        *names,
        field,
        viewBox=f"0 0 {label + WIDE} {height}",
        width=label + WIDE,
        height=height,
        role="img",
        aria_label=f"{measure} of every system on every topic",
    )


def shades(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], *, loss: bool = False
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The shade of each score: 0 for none up to 8 for the highest there is, or for 1; -1 where there is no score.

    Of a loss, the lowest score has the strongest shade.

    >>> shades(np.array([[0.0, 0.5, 1.0, np.nan]])), shades(np.array([[0.0, 1.0]]), loss=True)
    (array([[ 0,  4,  8, -1]]), array([[8, 0]]))
    """
    low, high = min(0.0, float(np.nanmin(scores))), float(np.nanmax(scores))
    top = 1.0 if 0 < high <= 1 and low == 0 else high
    share = (scores - low) / (top - low or 1.0)
    share = 1 - share if loss else share
    return np.where(np.isnan(share), -1, np.floor(np.nan_to_num(share) * (SHADES - 1) + 0.5)).astype(np.int64)
