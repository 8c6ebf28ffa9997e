"""Score and relevance of documents by rank."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.plot.curves import Ranked
from cranfield.plot.labels import text_width
from cranfield.plot.style import NEUTRAL, Chart, chart_of, find_theme, styled

GRADES = ("#d9d9d9", "#c6dbef", "#6baed6", "#2171b5", "#08306b")  # not relevant, then darker with the grade
UNJUDGED = "unjudged"
MOST = 12  # runs, below each other
FEW = 4  # runs that have the room of half a picture each


def score_and_grade(rows: Sequence[Ranked], *, title: str = "", theme: str = "screen") -> Chart:
    """A bar a document, as high as its score, darker the more relevant it is; unjudged documents are hollow.

    >>> chart = score_and_grade([Ranked("a", "1", 1, "d1", 2.0, 1.0), Ranked("a", "1", 2, "d2", 1.5, None)])
    >>> chart.to_dict()["spec"]["mark"]["type"]
    'bar'
    """
    import altair as alt

    look = find_theme(theme)
    runs = list(dict.fromkeys(row.run for row in rows))
    if len(runs) > MOST:
        title = "; ".join([*filter(None, [title]), f"the first {MOST} of {len(runs)} runs"])
    runs = runs[:MOST]
    rows = [row for row in rows if row.run in runs]
    grades = sorted({row.grade for row in rows if row.grade is not None})
    domain = [*(f"{grade:g}" for grade in grades), UNJUDGED]
    shades = [GRADES[min(int(max(grade, 0)), len(GRADES) - 1)] for grade in grades]
    values = [row._asdict() | {"shown": UNJUDGED if row.grade is None else f"{row.grade:g}"} for row in rows]
    chart = (
        chart_of(values)
        .mark_bar(stroke=NEUTRAL, strokeWidth=0.6)
        .encode(
            x=alt.X("rank:O", title="rank", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("score:Q", title="score"),
            color=alt.Color(
                "shown:N", title="grade", scale=alt.Scale(domain=domain, range=[*shades, "white"]), sort=domain
            ),
            tooltip=["run:N", "rank:O", "document:N", alt.Tooltip("score:Q", format=".4g"), "shown:N"],
        )
        .properties(
            width=look.width_beside(text_width(runs, look) + 10 * look.font),
            height=look.height // (2 if len(runs) <= FEW else 4),
        )
    )
    made = chart.facet(row=alt.Row("run:N", title=None, sort=runs, header=alt.Header(labelAngle=0, labelAlign="left")))
    made = made.properties(title=title) if title else made
    return styled(made.resolve_scale(y="independent"), look)
