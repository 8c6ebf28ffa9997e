"""The picture of every score: a point a topic, kept apart from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.judged import Floats
from cranfield.plot.naming import hue, hued
from cranfield.plot.rows import SystemRows, across, padded, system_rows
from cranfield.plot.style import INK, Chart, Row, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture

WIDTHS = (7.0, 6.0, 5.0, 4.0, 3.5, 3.0, 2.5, 2.0)  # of a point in pixels, the largest that fits being taken
MOST_POINTS = 1000  # topics of which each has a point of its own
TALLEST, LOWEST = 5.0, 1.6  # lines of text that a row may be high


class Dot(NamedTuple):
    """A point of a swarm: the score where it stands, how far from the middle of its row, counted in points, and the
    topics that it stands for.
    """

    score: float
    lane: int
    topics: list[int]


@picture("beeswarm", measures=("nDCG@10",), uses=("baseline", "sort", "highlight"))
def beeswarm(subject: Subject) -> Chart:
    """Every score as a point, a row of points a system, with its mean: where do topics lie, not only their average?"""
    import altair as alt

    look = find_theme(subject.theme)
    results = subject.results
    measure, systems = results.measures[0], system_rows(subject, results)
    scores = np.stack([results.scores[results.runs.index(name), 0] for name in systems.names])
    if np.isnan(scores).all():
        raise UsageError(f"no topic has a score in {measure}: there is nothing to draw")
    low, high = padded(scores[~np.isnan(scores)].tolist(), 0.02)
    width = look.width_beside(systems.beside(look))
    size, most, swarms = swarmed((scores - low) / (high - low) * width, systems.step(look, TALLEST))
    step = max(systems.step(look, LOWEST), 2 * _reach(swarms) * size)
    rows: list[Row] = [
        {
            "system": name,
            "topic": results.topics[dot.topics[0]] if len(dot.topics) == 1 else plural(len(dot.topics), "topic"),
            "score": float(scores[s, dot.topics].mean()),
            "offset": dot.lane * size / (step / 2),
            "topics": len(dot.topics),
        }
        for s, name in enumerate(systems.names)
        for dot in swarms[s]
    ]
    middle: list[Row] = [
        {"system": name, "mean": float(results.means[results.runs.index(name), 0])} for name in systems.names
    ]
    area = np.pi / 4 * (size * 0.92) ** 2
    points = (
        hued(chart_of(rows))
        .mark_circle(opacity=0.75, size=area)
        .encode(
            x=across("score", measure.label, [low, high], width, look),
            y=systems.axis(),
            yOffset=alt.YOffset("offset:Q", scale=alt.Scale(domain=[-1, 1], nice=False)),
            color=hue(),
            tooltip=["system:N", "topic:N", alt.Tooltip("score:Q", format=".4f")],
        )
    )
    if most > 1:  # a full point stands for `most` topics, smaller ones for as many as their area says
        points = points.encode(
            size=alt.Size("topics:Q", scale=alt.Scale(domain=[0, most], range=[0, area]), legend=None)
        )
    mean = (
        chart_of(middle)
        .mark_tick(orient="vertical", color=INK, thickness=look.line, size=step * 0.9)
        .encode(
            x=across("mean", measure.label, [low, high], width, look),
            y=systems.axis(),
            tooltip=["system:N", alt.Tooltip("mean:Q", format=".4f")],
        )
    )
    chart = alt.layer(points, mean).properties(width=width, height=alt.Step(step, **{"for": "position"}))
    caption = _caption(str(measure), systems, len(results.topics), most)
    return styled(chart, look, caption=caption, params={"named": systems.named})


def swarmed(places: Floats, height: float) -> tuple[float, int, list[list[Dot]]]:
    """places[system, topic] in pixels as swarms no higher than `height`: how wide a point is, for how many topics it
    stands at most, and the points of each system.

    >>> swarmed(np.array([[10.0, 10.0, 90.0]]), 30.0)
    (7.0, 1, [[Dot(score=10.0, lane=0, topics=[0]), Dot(score=10.0, lane=1, topics=[1]), Dot(score=90.0, lane=0, topics=[2])]])
    """  # noqa: E501  the points are one line
    if places.shape[1] <= MOST_POINTS:
        for size in WIDTHS:
            swarms = [apart(row, size) for row in places]
            if _reach(swarms) * size <= height / 2:
                return size, 1, swarms
    size = min(WIDTHS[4], height / 3)
    half = max(1, int((height / 2 - size / 2) / size))
    groups = [_groups(row, size) for row in places]
    fullest = max(len(group) for row in groups for group in row)
    most = -(-fullest // (2 * half + 1))
    return size, most, [_stacked(row, places[i], most) for i, row in enumerate(groups)]


def apart(places: Floats, size: float) -> list[Dot]:
    """Points in the first lane, from the middle outwards, in which they touch no other.

    >>> [(dot.topics, dot.lane) for dot in apart(np.array([5.0, 4.0, 4.5, np.nan, 9.0]), 2.0)]
    [([1], 0), ([2], 1), ([0], -1), ([4], 0)]
    """
    last: list[float] = []  # place of the last point in each lane
    dots = []
    for topic in np.argsort(places, kind="stable").tolist():
        place = float(places[topic])
        if np.isnan(place):
            continue
        lane = next((i for i, before in enumerate(last) if place - before >= size), len(last))
        last[lane : lane + 1] = [place]
        dots.append(Dot(place, _side(lane), [topic]))
    return dots


def _side(lane: int) -> int:
    """
    >>> [_side(lane) for lane in range(5)]
    [0, 1, -1, 2, -2]
    """
    return (lane + 1) // 2 * (1 if lane % 2 else -1)


def _reach(swarms: Sequence[Sequence[Dot]]) -> float:
    """How far points go from the middle, in points."""
    return max((abs(dot.lane) for swarm in swarms for dot in swarm), default=0) + 0.5


def _groups(places: Floats, size: float) -> list[list[int]]:
    """Topics that lie within the width of a point, in the order of their scores."""
    columns: dict[int, list[int]] = {}
    for topic in np.argsort(places, kind="stable").tolist():
        if not np.isnan(places[topic]):
            columns.setdefault(int(places[topic] // size), []).append(topic)
    return list(columns.values())


def _stacked(groups: Sequence[Sequence[int]], places: Floats, most: int) -> list[Dot]:
    """Each group as points of at most so many topics, above and below each other."""
    return [
        Dot(float(places[list(group)].mean()), _side(number), list(group[start : start + most]))
        for group in groups
        for number, start in enumerate(range(0, len(group), most))
    ]


def _caption(measure: str, systems: SystemRows, topics: int, most: int) -> str:
    whole = f"a point a topic, {plural(topics, 'topic')}"
    binned = f"{topics:,} topics, a full point for every {most:,} of nearly the same score, smaller points for fewer"
    return (
        f"{measure} of {systems.told}, topic by topic: {whole if most == 1 else binned}; "
        f"points are moved up or down only to keep them apart. The vertical line is the mean.{systems.coloured}"
    )
