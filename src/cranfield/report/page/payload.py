"""The data that the page carries: every number in full precision, null where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.comparison_tables import has_letters
from cranfield.comparison.standing import leading, on_topics, tiers, verdict
from cranfield.errors import share
from cranfield.plot.naming import MOST_NAMED
from cranfield.plot.style import COLOURS, DARK
from cranfield.render.escaping import utf8, visible
from cranfield.render.json_form import Json, finite
from cranfield.report.carried_texts import CarriedDocument, CarriedTexts
from cranfield.report.contents import Report, TopDocuments
from cranfield.report.report_tables import listed_topics, reading_against


def payload(report: Report) -> dict[str, Json]:
    """Everything that the page's script shows, but for its pictures."""
    comparison, listed = report.comparison, listed_topics(report)
    baseline = None if comparison is None else comparison.baseline
    return finite(
        {
            "title": visible(report.title),
            "systems": shown(report.systems),
            "topics": shown(report.results.topics[t] for t in listed),
            "all_topics": len(report.results.topics),
            "letters": _letters(comparison),
            "colours": list(COLOURS),
            "dark_colours": [DARK[colour] for colour in COLOURS],
            "most_named": MOST_NAMED,
            "alpha": comparison.alpha if comparison else None,
            "baseline": None if baseline is None else report.systems.index(baseline),
            "reading": utf8(visible(reading_against(baseline))) if comparison else "",
            "reading_against": reading_against("{baseline}"),
            "comparisons": comparison.comparisons if comparison else 0,
            "pairs": comparison.pairs.tolist() if comparison else [],
            "measures": [_measure(report, i, listed) for i in range(len(report.results.measures))],
            "rankings": _rankings(report.rankings, listed),
            **({} if report.texts is None else _texts(report.texts, report.rankings, listed)),
        }
    )


def _texts(carried: CarriedTexts, rankings: TopDocuments, listed: list[int]) -> dict[str, Json]:
    """What was asked and found: texts stand beside the documents of the rankings.

    null stands where the collection has none, 0 where there was no room for it.
    """

    def entry(texts: Mapping[str, CarriedDocument], document: str) -> Json:
        found = texts.get(document)
        return found._asdict() if found else None if document in carried.missing else 0

    documents = [
        [entry(texts, document) for document in rankings.documents[topic]]
        for topic, texts in zip(listed, carried.texts, strict=True)
    ]
    asked: list[Json] = [
        question or (None if number in carried.unknown else 0) for number, question in enumerate(carried.questions)
    ]
    return {
        "questions": asked,
        "no_question": carried.no_question,
        "collection": carried.name,
        "texts": documents,
        "whole": dict(zip(shown(carried.whole), carried.whole.values(), strict=True)),
        "words": carried.words,
    }


def _letters(comparison: Comparison | None) -> list[str]:
    """The letter of each system; none where there are more systems than letters."""
    if comparison is None:
        return ["a"]
    return [comparison.letter(i) for i in range(len(comparison.systems))] if has_letters(comparison) else []


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
        "below": None
        if rankings.below is None
        else [[_pairs_in_a_row(of[t]) for t in listed] for of in rankings.below],
    }


def _pairs_in_a_row(ranks: Mapping[int, int]) -> list[int]:
    """
    >>> _pairs_in_a_row({4: 17, 0: 12})
    [4, 17, 0, 12]
    """
    return [number for entry in ranks.items() for number in entry]


def _measure(report: Report, number: int, listed: list[int]) -> dict[str, Json]:
    measure = report.results.measures[number]
    entry: dict[str, Json] = {
        "name": str(measure),
        "label": measure.label,
        "sign": measure.sign,
        "count": bool(measure.is_count),
        "scores": report.results.scores[:, number][:, listed].tolist(),
        "means": report.results.means[:, number].tolist(),
        "verdict": utf8(visible(report.verdict(measure))),
    }
    panel = report.panel(measure)
    if report.comparison is None or panel is None:
        return entry
    return entry | {"means": panel.means.tolist(), **_compared(report.comparison, panel)}


def _compared(comparison: Comparison, panel: Panel) -> dict[str, Json]:
    """Every pair, and what is said of systems: as they were compared, and as seen from each of them as the baseline."""
    effects = panel.effects
    figures: dict[str, Json] = {
        "difference": effects.mean.tolist(),
        "low": effects.low.tolist(),
        "high": effects.high.tolist(),
        "without_interval": np.flatnonzero(np.isnan(effects.low)).tolist(),
        "wins": effects.wins.tolist(),
        "ties": effects.ties.tolist(),
        "losses": effects.losses.tolist(),
        "adjusted_p": panel.adjusted.tolist(),
        "unjudged": None if panel.unjudged is None else [share(part, 1) for part in panel.unjudged.tolist()],
        "on": utf8(visible(on_topics(panel))),
        "ranked": leading(panel.measure),
        "beats": [comparison.beaten_by(panel, system) for system in range(len(comparison.systems))],
        "tiers": tiers(comparison, panel),
    }
    if comparison.baseline is not None:
        return figures
    from_each = [replace(comparison, baseline=system) for system in comparison.systems]
    return figures | {
        "tiers_against": [tiers(seen, panel) for seen in from_each],
        "verdicts_against": shown(verdict(seen, panel) for seen in from_each),
    }
