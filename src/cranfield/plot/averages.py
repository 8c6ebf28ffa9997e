"""The picture of means with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import percent, plural
from cranfield.evaluation.results import Results
from cranfield.judged import Integers
from cranfield.plot.naming import hue, hued
from cranfield.plot.rows import SystemRows, across, at_baseline, padded, point_size, system_rows, told_baseline
from cranfield.plot.style import Chart, Row, Theme, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture
from cranfield.statistics.intervals import of_t
from cranfield.statistics.resampled import default_sampling, percentile_estimate, topic_draws

if TYPE_CHECKING:
    import altair as alt

LEVEL = 0.05
ROW = 1.6  # lines of text
NARROWEST = 52  # pixels of a panel on paper, below which panels stand on each other
GAP = 10  # pixels between panels


class MeanEstimate(NamedTuple):
    """A system's mean, the ends of its interval (NaN where there is none) and the topics that it is over."""

    mean: float
    low: float
    high: float
    topics: int


@picture("means", measures=("nDCG@10",), several=True, uses=("baseline", "sort", "highlight"))
def means(subject: Subject) -> Chart:
    """Dot plot: the mean of every system with its interval over topics, several measures side by side."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    systems = system_rows(subject, results)
    rows = [_rows(results, place, systems) for place in range(len(results.measures))]
    room = look.width_beside(systems.beside(look)) - GAP * (len(rows) - 1)
    wide = room / len(rows) >= NARROWEST
    width = room / len(rows) if wide else look.width_beside(systems.beside(look))
    panels = [
        _panel(subject, place, panel, systems, look, width=width, labels=place == 0 or not wide)
        for place, panel in enumerate(rows)
    ]
    joined = panels[0] if len(panels) == 1 else (alt.hconcat if wide else alt.vconcat)(*panels, spacing=GAP)
    caption = _caption(results, systems, [row for panel in rows for row in panel])
    return styled(joined, look, caption=caption + told_baseline(subject), params={"named": systems.named})


def _rows(results: Results, place: int, systems: SystemRows) -> list[Row]:
    """A row a system: its mean and the ends of its interval, None where there is none."""
    rows: list[Row] = []
    for name in systems.names:
        made = estimate(results, results.runs.index(name), place)
        ends = {end: value if np.isfinite(value) else None for end, value in (("low", made.low), ("high", made.high))}
        mean = made.mean if np.isfinite(made.mean) else None
        measure = str(results.measures[place])
        rows.append({"system": name, "measure": measure, "mean": mean, **ends, "topics": made.topics})
    return rows


def estimate(results: Results, run: int, place: int) -> MeanEstimate:
    """The mean of a run with its 95 % interval over topics: that of t for arithmetic means, for other averages the
    middle of what they are when topics are drawn anew. One topic has none, nor has the area under a curve of ratios.

    >>> import cranfield
    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 1}, "3": {"d1": 1}}
    >>> run = {"1": {"d1": 1.0}, "2": {"d2": 2.0, "d1": 1.0}, "3": {"d2": 2.0, "d1": 1.0}}
    >>> [round(number, 4) for number in estimate(cranfield.evaluate(qrels, run, "RR"), 0, 0)]
    [0.6667, -0.0504, 1.3838, 3]
    """
    measure, scores = results.measures[place], results.scores[run, place]
    counted = np.flatnonzero(~np.isnan(scores))
    mean, unknown = float(results.means[run, place]), float("nan")
    if len(counted) < 2 or measure.points:
        return MeanEstimate(mean, unknown, unknown, len(counted))
    if _is_arithmetic(results, place):
        error = np.array([scores[counted].std(ddof=1) / len(counted) ** 0.5])
        low, high = of_t(np.array([mean]), error, np.array([len(counted) - 1.0]), LEVEL)
        return MeanEstimate(mean, float(low[0]), float(high[0]), len(counted))
    denominators = None if results.denominators is None else results.denominators[run, place]

    def drawn(places: Integers) -> float:
        return measure.aggregate(scores[places], None if denominators is None else denominators[places])

    replicates = [drawn(counted[draw]) for draw in topic_draws(len(counted), default_sampling())]
    interval = percentile_estimate(mean, np.array(replicates), 1 - LEVEL)
    return MeanEstimate(mean, interval.low, interval.high, len(counted))


def _is_arithmetic(results: Results, place: int) -> bool:
    return bool(results.measures[place].parameters["agg"] == "mean")


def _panel(
    subject: Subject,
    place: int,
    rows: Sequence[Row],
    systems: SystemRows,
    look: Theme,
    *,
    width: float,
    labels: bool,
) -> alt.LayerChart | alt.FacetChart:
    """The means of one measure."""
    import altair as alt

    results = subject.results
    values = [value for row in rows for name in ("mean", "low", "high") if isinstance(value := row[name], float)]
    step = systems.step(look, ROW)
    low, mean = (across(field, results.measures[place].label, padded(values), width, look) for field in ("low", "mean"))
    figures = (alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high"))
    tooltip: list[str | alt.Tooltip] = ["system:N", *figures, "topics:Q"]
    base = hued(chart_of(rows)).encode(y=systems.axis(labels=labels), color=hue(), tooltip=tooltip)
    layers = [
        *at_baseline(subject, results, place, mean, look),
        base.mark_rule(strokeWidth=look.line * 0.8).encode(x=low, x2="high:Q"),
        base.mark_point(filled=True, opacity=1, size=point_size(look, step)).encode(x=mean),
    ]
    return alt.layer(*layers).properties(width=width, height=alt.Step(step))


def _caption(results: Results, systems: SystemRows, rows: Sequence[Row]) -> str:
    """What the dots and lines are."""
    named, first = ", ".join(str(measure) for measure in results.measures), results.measures[0]
    order = {1: f", the highest {first} first", -1: f", the lowest {first} first", 0: ""}[first.sign]
    shown = f"{named} of {systems.told} on {plural(len(results.topics), 'topic')}{order}: means over topics"
    arithmetic = {_is_arithmetic(results, place) for place in range(len(results.measures))}
    how = "intervals (t; of averages other than the mean, bootstrap percentiles)"
    if len(arithmetic) == 1:
        how = "t intervals" if arithmetic == {True} else "bootstrap intervals (percentiles of 1,000 draws of topics)"
    if all(row["low"] is None for row in rows):
        return f"{shown}.{systems.coloured}"
    return (
        f"{shown} with {percent(LEVEL)} {how}. Hard topics are hard for all systems: two systems may differ surely "
        f"though their intervals overlap.{systems.coloured}"
    )
