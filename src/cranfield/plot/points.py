"""Pictures of points: the topics of two runs, and runs by what they cost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from cranfield.efficiency.resources import FIGURES
from cranfield.errors import UsageError
from cranfield.evaluation.results import Results
from cranfield.plot.labels import Frame, name_layers, near_points
from cranfield.plot.style import COLOURS, NEUTRAL, altair, find_theme, styled
from cranfield.plot.subject import Subject, picture

NAMED = 4  # topics that are named on either side, those on which two runs differ most
MOST_NAMED = 20  # runs by cost that there is room to name; of more, those on the front are
SINGLE = 0.6  # opacity of a point
CROWD = 500  # points from which on they are smaller and fainter, so that their density shows
FRONT, BEATEN = "on the front", "beaten on both by another"


@picture("scatter", measures=("nDCG@10",))
def scatter(subject: Subject) -> Any:
    """The topics of two runs: the score of one against that of the other, with the names of those that differ most."""
    alt = altair()

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    rows: list[dict[str, Any]] = [
        {"topic": topic, "a": float(a), "b": float(b)}
        for topic, a, b in zip(results.topics, results.of(measure, first), results.of(measure, second), strict=True)
        if not np.isnan(a + b)
    ]
    if not rows:
        raise UsageError("the two runs have no topic in common")
    values = [value for row in rows for value in (row["a"], row["b"])]
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
        alt.Chart(alt.Data(values=[{"x": low, "y": low}, {"x": high, "y": high}]))
        .mark_line(color=NEUTRAL, strokeDash=[3, 3], strokeWidth=1)
        .encode(x=x, y=y)
    )
    crowd = SINGLE * min(1.0, (CROWD / len(rows)) ** 0.5)
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, opacity=crowd, size=look.font * 4 * crowd / SINGLE, color=COLOURS[0])
        .encode(x=alt.X("b:Q", scale=limits), y=alt.Y("a:Q", scale=limits), tooltip=tooltip)
    )
    apart = sorted(rows, key=lambda row: row["a"] - row["b"])
    below = [row for row in apart if row["a"] < row["b"]][:NAMED]
    above = [row for row in apart if row["a"] > row["b"]][-NAMED:]
    named = [(row["topic"], row["b"], row["a"]) for row in (*below, *above)]
    others = [(row["b"], row["a"]) for row in rows if row not in below and row not in above]
    names = near_points(named, others, Frame((low, high), (low, high), side, side), look)
    layers = [diagonal, points, *name_layers(names, look)]
    side_of = {1: "above", -1: "below"}
    title = f"{side_of[measure.sign]} the line {first} is better" if measure.sign else ""
    return styled(alt.layer(*layers).properties(width=side, height=side, title=title), look)


@picture("pareto", measures=("nDCG@10",))
def pareto(subject: Subject) -> Any:
    """Effectiveness against cost, such as latency: steps join the runs that no other beats on both."""
    alt = altair()

    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    measure.check_direction("nothing beats anything by it")
    label, costs = (subject.cost_label, subject.costs) if subject.costs is not None else _measured(results)
    missing = [run for run in results.runs if run not in costs]
    if missing:
        raise UsageError(f"no cost is known of {', '.join(missing)}: give a table of run and cost")
    rows: list[dict[str, Any]] = [
        {"run": run, "cost": costs[run], "mean": float(mean), "gain": float(mean) * measure.sign}
        for run, mean in zip(results.runs, results.means[:, 0], strict=True)
    ]
    front = [row for row in rows if not any(_dominates(other, row) for other in rows)]
    front.sort(key=lambda row: row["cost"])
    joined = [row | {"on": FRONT if row in front else BEATEN} for row in rows]
    frame = Frame(
        _around([row["cost"] for row in rows]), _around([row["mean"] for row in rows]), look.width, look.height
    )
    x = alt.X("cost:Q", title=label, scale=alt.Scale(domain=list(frame.x), nice=False))
    y = alt.Y("mean:Q", title=measure.label, scale=alt.Scale(domain=list(frame.y), nice=False))
    steps = alt.Chart(alt.Data(values=front)).mark_line(
        color=COLOURS[0], strokeWidth=look.line / 2, interpolate="step-after"
    )
    points = (
        alt.Chart(alt.Data(values=joined))
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
    named = rows if len(rows) <= MOST_NAMED else front
    unnamed = [(row["cost"], row["mean"]) for row in rows if row not in named]
    where = [(row["run"], row["cost"], row["mean"]) for row in named]
    names = near_points(where, [*unnamed, *_along_steps(front)], frame, look)
    layers = [steps.encode(x=x, y=y), points, *name_layers(names, look)]
    title = "" if named is rows else f"{len(rows)} runs; those on the front are named"
    return styled(alt.layer(*layers).properties(width=look.width, height=look.height, title=title), look)


def _along_steps(front: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Points along the steps from each run of the front to the next, so that no name is written across them."""
    found: list[tuple[float, float]] = []
    for one, other in pairwise(front):
        found += [(x, one["mean"]) for x in np.linspace(one["cost"], other["cost"], 50)]
        found += [(other["cost"], y) for y in np.linspace(one["mean"], other["mean"], 50)]
    return found


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


def _dominates(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a run is at least as good at no more cost, and better in one of the two."""
    as_good = one["cost"] <= other["cost"] and one["gain"] >= other["gain"]
    return bool(as_good and (one["cost"] < other["cost"] or one["gain"] > other["gain"]))
