"""The picture of scores with their bounds under unjudged documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.comparison.panels import judging, unjudged_shares
from cranfield.errors import plural, share
from cranfield.evaluation.results import Results
from cranfield.plot.labels import text_width
from cranfield.plot.naming import hue, hued
from cranfield.plot.rows import across, at_baseline, padded, point_size, system_rows, told_baseline
from cranfield.plot.style import INK, Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

if TYPE_CHECKING:
    import altair as alt

HEAD = "unjudged"
ROW = 1.6  # lines of text


@picture("bounds", measures=("nDCG@10",), uses=("baseline", "sort", "highlight"))
def bounds(subject: Subject) -> Chart:
    """The least and the most each score could be, whatever the unjudged documents are, and the share of these."""
    import altair as alt

    look = find_theme(subject.theme)
    results = _bounded(subject)
    measure, systems = results.measures[0], system_rows(subject, results)
    ends = results.bounds()
    judged = results.experiment.evaluate(judging(results.measures))
    unjudged = dict(zip(results.runs, unjudged_shares(judged, measure).tolist(), strict=True))
    rows: list[Row] = [
        {
            "system": name,
            "score": results.mean()[name][str(measure)],
            "low": ends[name][str(measure)][0],
            "high": ends[name][str(measure)][1],
            "unjudged": unjudged[name],
            "shown": share(unjudged[name]),
        }
        for name in systems.names
    ]
    texts = [HEAD, *(str(row["shown"]) for row in rows)]
    width = look.width_beside(systems.beside(look) + text_width(texts, look) + look.font)
    step = systems.step(look, ROW)
    values = [value for row in rows for end in ("low", "high", "score") if isinstance(value := row[end], float)]
    title = f"{measure.label}, least to most"
    low, score = (across(field, title, padded(values), width, look) for field in ("low", "score"))
    tooltip: list[str | alt.Tooltip] = [
        "system:N",
        *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("score", "low", "high")),
        alt.Tooltip("unjudged:Q", format=".1%"),
    ]
    base = hued(chart_of(rows)).encode(y=systems.axis(), color=hue(), tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=look.line * 2, opacity=0.45).encode(x=low, x2="high:Q"),
        base.mark_point(filled=True, opacity=1, size=point_size(look, step)).encode(x=score),
        *at_baseline(subject, results, 0, score, look),
        _beside(base, look).encode(x=alt.value(width), text="shown:N", color=alt.value(INK)),
        _beside(chart_of([{"head": HEAD}]), look, -look.font / 2).encode(
            x=alt.value(width), y=alt.value(0), text="head:N"
        ),
    ]
    chart = alt.layer(*layers).properties(width=width, height=alt.Step(step))
    cutoff = measure.parameters.get("cutoff")
    documents = f"the first {cutoff} documents" if cutoff else "the documents"
    caption = (
        f"{measure} of {systems.told} on {plural(len(results.topics), 'topic')}: the point has unjudged documents as "
        "not relevant; the bar goes from the least to the most it could be if those retrieved were judged. Unjudged: "
        f"share of {documents} that nobody judged."
    )
    return styled(
        chart, look, caption=caption + systems.coloured + told_baseline(subject), params={"named": systems.named}
    )


def _beside(base: alt.Chart, look: Theme, dy: float = 0.0) -> alt.Chart:
    """Text to the right of the plot."""
    text: alt.Chart = base.mark_text(align="left", dx=look.font / 2, dy=dy, fontSize=look.font, color=INK)
    return text


def _bounded(subject: Subject) -> Results:
    """The results with their bounds, which are computed where nobody asked for them before."""
    results = subject.results
    if results.lower is not None:
        return results
    return results.experiment.evaluate(results.measures, bounds=True)
