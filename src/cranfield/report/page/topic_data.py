"""What the view of a topic shows besides rankings and scores: what is not judged, and what each document adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.explanation.contributions import contributions
from cranfield.measures import Measure
from cranfield.render.json_form import Json, finite
from cranfield.report.contents import Report
from cranfield.report.page.explained_topics import explainable, size
from cranfield.report.report_tables import listed_topics

if TYPE_CHECKING:
    from cranfield.judged import Floats

MOST_CONTRIBUTED = 500_000  # bytes of the page
MOST_BY_TOPIC = 5_000  # scores of a measure that must be explained one by one, at a third of a millisecond


def topic_data(report: Report) -> dict[str, Json]:
    """The entries of the page's data that the view of a topic needs."""
    return finite(
        {
            "unjudged": unjudged_shares(report),
            "contributions": carried_contributions(report),
        }
    )


def unjudged_shares(report: Report) -> list[Json]:
    """By system and topic listed, which share of the first documents nobody judged; None where there is none."""
    rankings, listed = report.rankings, listed_topics(report)
    unjudged = [[grade is None or grade < 0 for grade in grades] for grades in rankings.grades]

    def share(places: list[int], topic: int) -> float | None:
        return round(sum(unjudged[topic][d] for d in places) / len(places), 4) if places else None

    return [[share(of_system[t], t) for t in listed] for of_system in rankings.places]


def carried_contributions(report: Report) -> list[Json]:
    """For each measure what the first documents add to every score, or a sentence that says why that is not here.

    `values` has for each topic what documents add there; `places` has for each system a word for every topic with a
    letter for every rank, which tells the value.
    """
    measures = report.results.measures
    depth, listed = report.rankings.depth, listed_topics(report)
    if not depth or not explainable(report):
        return [_not_carried(measure) for measure in measures]
    tables = report.experiment.tables()
    quick = [m for m in measures if m.traits.cumulative or len(tables) * len(listed) <= MOST_BY_TOPIC]
    topics = [report.results.topics[t] for t in listed]
    by_system = [contributions(report.experiment, run, quick, topics, depth) for run in tables]
    arrays = dict(zip(quick, zip(*by_system, strict=True), strict=True))
    carried: list[Json] = []
    left = MOST_CONTRIBUTED
    for measure in measures:
        of_systems = arrays.get(measure, ())
        added = [array for array in of_systems if array is not None]
        if len(added) < len(of_systems):
            carried.append(_no_parts(measure))
            continue
        entry = _entry(np.stack(added)) if added else None
        if entry is None or size(entry) > left:
            carried.append(_not_carried(measure))
            continue
        left -= size(entry)
        carried.append(entry)
    return carried


def _not_carried(measure: Measure) -> str:
    return f"What each document adds to {measure} is not in this file."


def _no_parts(measure: Measure) -> str:
    """Why there is nothing to be said of what each document adds, as `contributions` decides it."""
    if measure.definition.needs is not None:
        return f"What each document adds to {measure} depends on more than grades, and is not in this file."
    if measure.parameters["judged_only"]:
        return f"{measure} leaves out what is not judged: what documents add at other ranks is not in this file."
    return f"{measure} is not a sum over documents."


def _entry(added: Floats) -> dict[str, Json]:
    """Numbers that come again and again, by system, topic and rank, written once for each topic."""
    values: list[Json] = []
    places = np.zeros(added.shape, dtype=np.int64)
    for t in range(added.shape[1]):
        distinct = np.unique(added[:, t])
        distinct = distinct[distinct != 0]
        values.append(distinct.tolist())
        places[:, t] = np.where(added[:, t] != 0, np.searchsorted(distinct, added[:, t]) + 1, 0)
    written: list[Json] = [" ".join(_written(of_topic.tolist()) for of_topic in of_system) for of_system in places]
    return {"values": values, "places": written}


def _written(places: list[int]) -> str:
    """A letter for each rank: 0 is nothing, 1 the first value, and so on; without what is nothing at the end.

    >>> _written([0, 2, 0, 11, 0, 0])
    '020;'
    """
    return "".join(chr(ord("0") + place) for place in places).rstrip("0")
