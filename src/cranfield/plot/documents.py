"""Score and relevance of documents by rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.plot.curves import Ranked
from cranfield.plot.labels import rank_ticks, row_axis, text_width
from cranfield.plot.style import FAINT, GREY, GROUND, SHADES, Chart, Row, Theme, chart_of, find_theme, styled

if TYPE_CHECKING:
    import altair as alt

GRADES = (FAINT, *SHADES[2::2])  # not relevant, then darker with the grade
UNJUDGED = "unjudged"
MOST_BARS = 12  # runs that have bars, below each other; of more each is a row of cells
FEW = 4  # runs that have the room of half a picture each
TICK = 40  # pixels from one tick of scores to the next
BARS = "A bar a document, as high as its score"
CELLS = "A cell a document, a row a system"


def score_and_grade(rows: Sequence[Ranked], *, title: str = "", caption: str = "", theme: str = "screen") -> Chart:
    """A bar a document, as high as its score, darker the more relevant it is; unjudged documents are hollow. Of many
    runs a cell a document.

    >>> chart = score_and_grade([Ranked("a", "1", 1, "d1", 2.0, 1.0), Ranked("a", "1", 2, "d2", 1.5, None)])
    >>> chart.to_dict()["spec"]["mark"]["type"]
    'bar'
    """
    import altair as alt

    look = find_theme(theme)
    runs = list(dict.fromkeys(row.run for row in rows))
    grades = sorted({row.grade for row in rows if row.grade is not None})
    domain = [*(f"{grade:g}" for grade in grades), UNJUDGED]
    shades = [GRADES[min(int(max(grade, 0)), len(GRADES) - 1)] for grade in grades]
    colour = alt.Color(
        "shown:N",
        title="grade",
        scale=alt.Scale(domain=domain, range=[*shades, GROUND]),
        sort=domain,
        legend=alt.Legend(symbolStrokeColor=GREY, symbolStrokeWidth=0.6),
    )
    last = max((row.rank for row in rows), default=1)
    ticks = alt.Axis(labelOverlap=False, labelAngle=0, values=rank_ticks(last, _width(runs, look), look))
    base = chart_of([_row(row) for row in rows]).encode(
        x=alt.X("rank:O", title="rank", axis=ticks),
        color=colour,
        tooltip=["system:N", "rank:O", "document:N", alt.Tooltip("score:Q", format=".4g"), "shown:N"],
    )
    made = _bars(base, runs, look) if len(runs) <= MOST_BARS else _cells(base, runs, look)
    made = made.properties(title=title) if title else made
    told = f"{caption}{' ' if caption else ''}{BARS if len(runs) <= MOST_BARS else CELLS}"
    return styled(made, look, caption=f"{told}; the darker the more relevant, hollow where unjudged.")


def _row(row: Ranked) -> Row:
    shown = UNJUDGED if row.grade is None else f"{row.grade:g}"
    return {"system": row.run, "rank": row.rank, "document": row.document, "score": row.score, "shown": shown}


def _bars(base: alt.Chart, runs: Sequence[str], look: Theme) -> alt.FacetChart:
    """The runs below each other, each with scores of its own height."""
    import altair as alt

    height = min(look.height // (2 if len(runs) <= FEW else 4), look.most // len(runs) - look.font * 2)
    # A scale needs three ticks to be read off, if their labels have room above each other.
    ticks = alt.Axis(tickCount=max(3, height // TICK), labelOverlap="greedy")
    chart = (
        base.mark_bar(stroke=GREY, strokeWidth=0.6)
        .encode(y=alt.Y("score:Q", title="score" if len(runs) <= FEW else None, axis=ticks))
        .properties(width=_width(runs, look), height=height)
    )
    header = alt.Header(labelAngle=0, labelAlign="left")
    faceted = chart.facet(row=alt.Row("system:N", title=None, sort=list(runs), header=header))
    made: alt.FacetChart = faceted.resolve_scale(y="independent")
    return made


def _cells(base: alt.Chart, runs: Sequence[str], look: Theme) -> alt.Chart:
    """A row a run: what was found where, without scores."""
    import altair as alt

    step, names = row_axis(len(runs), look, wanted=look.font + 6)
    cells = base.mark_rect(stroke=GREY, strokeWidth=min(0.6, step / 30))
    made: alt.Chart = cells.encode(y=alt.Y("system:N", title=None, sort=list(runs), axis=names)).properties(
        width=_width(runs, look), height=alt.Step(step)
    )
    return made


def _width(runs: Sequence[str], look: Theme) -> int:
    return look.width_beside(text_width(runs, look) + 11 * look.font)
