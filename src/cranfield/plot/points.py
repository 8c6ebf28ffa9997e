"""Pictures of points: the topics of two runs, and runs by what they cost."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cranfield.efficiency.resources import FIGURES
from cranfield.errors import UsageError
from cranfield.evaluation.results import Results
from cranfield.plot.labels import Frame, name_layers, near_points
from cranfield.plot.style import COLOURS, NEUTRAL, Chart, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

NAMED = 4  # topics that are named on either side, those on which two runs differ most
MOST_NAMED = 20  # runs by cost that there is room to name; of more, those on the front are
SINGLE = 0.6  # opacity of a point
CROWD = 500  # points from which on they are smaller and fainter, so that their density shows
FRONT, BEATEN = "on the front", "beaten on both by another"


class TopicPoint(NamedTuple):
    """A topic, with its score by the first of two runs and by the second."""

    topic: str
    a: float
    b: float


class RunPoint(NamedTuple):
    """A run: its cost, its mean, and its mean turned so that more is better."""

    run: str
    cost: float
    mean: float
    gain: float


@picture("scatter", measures=("nDCG@10",))
def scatter(subject: Subject) -> Chart:
    """The topics of two runs: the score of one against that of the other, with the names of those that differ most."""
    import altair as alt

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    scored = [
        TopicPoint(topic, float(a), float(b))
        for topic, a, b in zip(results.topics, results.of(measure, first), results.of(measure, second), strict=True)
        if not np.isnan(a + b)
    ]
    if not scored:
        raise UsageError("the two runs have no topic in common")
    values = [value for point in scored for value in (point.a, point.b)]
    low, high = min(0.0, *values), max(1.0 if measure.definition.range == (0.0, 1.0) else 0.0, *values) or 1.0
    limits = alt.Scale(domain=[low, high], nice=False)
    side = min(look.width, int(look.height * 1.1))
    tooltip = [
        "topic:N",
        # no names here: titles become part of an expression of Vega's, which reads more into them than text
        alt.Tooltip("a:Q", title="upwards", format=".4f"),
        alt.Tooltip("b:Q", title="across", format=".4f"),
    ]
    x = alt.X("x:Q", title=f"{measure.label}, {second}", scale=limits)
    y = alt.Y("y:Q", title=f"{measure.label}, {first}", scale=limits)
    diagonal = (
        chart_of([{"x": low, "y": low}, {"x": high, "y": high}])
        .mark_line(color=NEUTRAL, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=x, y=y)
    )
    crowd = SINGLE * min(1.0, (CROWD / len(scored)) ** 0.5)
    points = (
        chart_of([point._asdict() for point in scored])
        .mark_point(filled=True, opacity=crowd, size=look.font * 4 * crowd / SINGLE, color=COLOURS[0])
        .encode(x=alt.X("b:Q", scale=limits), y=alt.Y("a:Q", scale=limits), tooltip=tooltip)
    )
    apart = sorted(scored, key=lambda point: point.a - point.b)
    below = [point for point in apart if point.a < point.b][:NAMED]
    above = [point for point in apart if point.a > point.b][-NAMED:]
    named = [(point.topic, point.b, point.a) for point in (*below, *above)]
    others = [(point.b, point.a) for point in scored if point not in below and point not in above]
    names = near_points(named, others, Frame((low, high), (low, high), side, side), look)
    layers = [diagonal, points, *name_layers(names, look)]
    side_of = {1: "above", -1: "below"}
    title = f"{side_of[measure.sign]} the line {first} is better" if measure.sign else ""
    return styled(alt.layer(*layers).properties(width=side, height=side, title=title), look)


@picture("pareto", measures=("nDCG@10",), uses=("costs",))
def pareto(subject: Subject) -> Chart:
    """Effectiveness against cost, such as latency: steps join the runs that no other beats on both."""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    measure.check_direction("nothing beats anything by it")
    label, costs = (subject.cost_label, subject.costs) if subject.costs is not None else _measured(results)
    missing = [run for run in results.runs if run not in costs]
    if missing:
        raise UsageError(
            f"no cost is known of {', '.join(missing)}: give a table of run and cost with --costs (costs= in Python)"
        )
    runs = [
        RunPoint(run, costs[run], float(mean), float(mean) * measure.sign)
        for run, mean in zip(results.runs, results.means[:, 0], strict=True)
    ]
    front = [run for run in runs if not any(_dominates(other, run) for other in runs)]
    front.sort(key=lambda run: run.cost)
    joined = [run._asdict() | {"on": FRONT if run in front else BEATEN} for run in runs]
    frame = Frame(_around([run.cost for run in runs]), _around([run.mean for run in runs]), look.width, look.height)
    x = alt.X("cost:Q", title=label, scale=alt.Scale(domain=list(frame.x), nice=False))
    y = alt.Y("mean:Q", title=measure.label, scale=alt.Scale(domain=list(frame.y), nice=False))
    steps = chart_of([run._asdict() for run in front]).mark_line(
        color=COLOURS[0], strokeWidth=look.line / 2, interpolate="step-after"
    )
    points = (
        chart_of(joined)
        .mark_point(filled=True, size=look.font * 6, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "on:N",
                title=None,
                scale=alt.Scale(domain=[FRONT, BEATEN], range=[COLOURS[0], NEUTRAL]),
                legend=alt.Legend(orient="top"),
            ),
            tooltip=["run:N", alt.Tooltip("cost:Q", title="cost"), alt.Tooltip("mean:Q", format=".4f")],
        )
    )
    named = runs if len(runs) <= MOST_NAMED else front
    unnamed = [(run.cost, run.mean) for run in runs if run not in named]
    where = [(run.run, run.cost, run.mean) for run in named]
    names = near_points(where, [*unnamed, *_along_steps(front)], frame, look)
    layers = [steps.encode(x=x, y=y), points, *name_layers(names, look)]
    title = "" if named is runs else f"{len(runs)} runs; those on the front are named"
    return styled(alt.layer(*layers).properties(width=look.width, height=look.height, title=title), look)


def _along_steps(front: list[RunPoint]) -> list[tuple[float, float]]:
    """Points along the steps from each run of the front to the next, so that no name is written across them."""
    points: list[tuple[float, float]] = []
    for run, following in pairwise(front):
        points += [(x, run.mean) for x in np.linspace(run.cost, following.cost, 50)]
        points += [(following.cost, y) for y in np.linspace(run.mean, following.mean, 50)]
    return points


def _measured(results: Results) -> tuple[str, dict[str, float]]:
    """The first figure of efficiency among the results for which less is better."""
    for name, values in results.figures.items():
        if FIGURES[name].is_cost:
            known = zip(results.runs, values, strict=True)
            return FIGURES[name].title, {run: value for run, value in known if value is not None}
    return "cost", {}


def _around(values: list[float]) -> tuple[float, float]:
    """Limits of an axis with some room on either side, from 0 if that is near."""
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.1 or 1.0
    return 0.0 if 0 <= low < (high - low) / 2 else low - room, high + room


def _dominates(run: RunPoint, other: RunPoint) -> bool:
    """Whether a run is at least as good at no more cost, and better in one of the two."""
    as_good = run.cost <= other.cost and run.gain >= other.gain
    return as_good and (run.cost < other.cost or run.gain > other.gain)
