"""The data that the page carries: every number in full precision, null where there is none."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.standing import level_groups, mean_ranks
from cranfield.plot.curves import Curves
from cranfield.plot.matrices import rank_shares
from cranfield.plot.style import COLOURS, DASHES
from cranfield.render.escaping import utf8, visible
from cranfield.render.json_form import Json, finite
from cranfield.report.carried_texts import CarriedTexts
from cranfield.report.contents import Report, TopDocuments
from cranfield.report.report_tables import listed_topics


def payload(report: Report) -> dict[str, Json]:
    """Everything that the page's script shows."""
    comparison, listed = report.comparison, listed_topics(report)
    return finite(
        {
            "title": visible(report.title),
            "systems": shown(report.systems),
            "topics": shown(report.results.topics[t] for t in listed),
            "all_topics": len(report.results.topics),
            "letters": [comparison.letter(i) for i in range(len(report.systems))] if comparison else ["a"],
            "colours": list(COLOURS),
            "dashes": [list(dash) for dash in DASHES],
            "alpha": comparison.alpha if comparison else None,
            "level": comparison.level if comparison else None,
            "baseline": visible(comparison.baseline) if comparison and comparison.baseline is not None else None,
            "pairs": comparison.pairs.tolist() if comparison else [],
            "measures": [_measure(report, i, listed) for i in range(len(report.results.measures))],
            "curves": {
                "interpolated": _curves(report.precision_recall, report.systems),
                "cutoff": _curves(report.by_cutoff, report.systems),
            },
            "rankings": _rankings(report.rankings, listed),
            **({} if report.texts is None else _texts(report.texts, report.rankings, listed)),
        }
    )


def _texts(carried: CarriedTexts, rankings: TopDocuments, listed: list[int]) -> dict[str, Json]:
    """What was asked and found: texts stand beside the documents of the rankings; null where there is none."""
    documents = [
        [entry and entry._asdict() for entry in map(texts.get, rankings.documents[topic])]
        for topic, texts in zip(listed, carried.texts, strict=True)
    ]
    return {
        "questions": carried.questions,
        "texts": documents,
        "whole": dict(zip(shown(carried.whole), carried.whole.values(), strict=True)),
        "words": carried.words,
        "left_out": carried.left_out,
    }


def shown(names: Iterable[str]) -> list[str]:
    """Names as the page's own tables show them: the script finds systems by that.

    >>> print(*shown(["a\\x1b", "caf\\udce9"]))
    a\\x1b caf\\xe9
    """
    return [utf8(visible(name)) for name in names]


def _rankings(rankings: TopDocuments, listed: list[int]) -> dict[str, Json]:
    """The documents of the topics that are listed."""
    return {
        "depth": rankings.depth,
        "documents": [shown(rankings.documents[t]) for t in listed],
        "grades": [rankings.grades[t] for t in listed],
        "places": [[places[t] for t in listed] for places in rankings.places],
    }


def _measure(report: Report, number: int, listed: list[int]) -> dict[str, Json]:
    measure = report.results.measures[number]
    entry: dict[str, Json] = {
        "name": str(measure),
        "label": measure.label,
        "sign": measure.sign,
        "count": bool(measure.is_count),
        "scores": report.results.scores[:, number][:, listed].tolist(),
        "means": report.results.means[:, number].tolist(),
        "reference": report.reference(measure),
    }
    panel = report.panel(measure)
    if report.comparison is None or panel is None:
        return entry
    return entry | {"means": panel.means.tolist(), **_compared(report.comparison, panel)}


def _compared(comparison: Comparison, panel: Panel) -> dict[str, Json]:
    effects, together = panel.effects, panel.together
    figures: dict[str, Json] = {
        "difference": effects.mean.tolist(),
        "low": effects.low.tolist(),
        "high": effects.high.tolist(),
        "together_low": together.low.tolist(),
        "together_high": together.high.tolist(),
        "wins": effects.wins.tolist(),
        "ties": effects.ties.tolist(),
        "losses": effects.losses.tolist(),
        "adjusted_p": panel.adjusted.tolist(),
    }
    if not panel.measure.sign:  # no system is better than another: nothing to put in order
        return figures
    figures["shares"] = rank_shares(panel.scores * panel.measure.sign).tolist()
    if len(comparison.systems) > 2 and comparison.baseline is None:
        ranks = mean_ranks(panel)
        joined = level_groups(comparison, panel, np.argsort(ranks, kind="stable").tolist())
        figures |= {"ranks": ranks.tolist(), "groups": joined}
    return figures


def _curves(curves: Curves, systems: tuple[str, ...]) -> dict[str, Json]:
    lines = [curves.of(system) for system in systems]
    return {
        "x": curves.x,
        "y": curves.y,
        "xs": [x for x, _ in lines[0]],
        "ys": [[y for _, y in line] for line in lines],
    }
