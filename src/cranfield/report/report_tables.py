"""The tables of a report, the same in every form it is written in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from cranfield.comparison.comparison_tables import (
    beaten_letters,
    column_legend,
    corrected,
    has_letters,
    interval,
    interval_header,
    legend,
    pairs_grid,
    shown_p,
    star_legend,
    systems_grid,
)
from cranfield.comparison.standing import NO_TIER
from cranfield.efficiency import efficiency_columns
from cranfield.errors import plural, share
from cranfield.evaluation.findings import Finding, gathered
from cranfield.evaluation.result_tables import shown
from cranfield.formats.sources import compute_digest, opened_file
from cranfield.policy import TopicSet
from cranfield.render.grid import Cell, Grid

if TYPE_CHECKING:
    from cranfield.comparison.standing import Standing
    from cranfield.measures import Measure
    from cranfield.report.contents import Report

MOST_SCORES = 400_000  # of all topics, systems and measures that are listed
MOST_DIGESTED = 100_000_000  # bytes of a file of texts, which is not read whole for its digest alone if it is larger
MOST_PAIRS = 300  # pairs of all measures together that are listed one by one

# What to do about a finding, where its sentence does not say so itself.
ADVICE: Mapping[str, str] = {
    "duplicates-collapsed": "Nothing, if the file was put together from overlapping parts.",
    "extra-topics": "Nothing, unless these topics should have been judged.",
    "fractional-grades": "Choose rel for binary measures, as AP(rel=0.5).",
    "missing-topics": "Run the system on these topics, or count only shared topics with --topics common.",
    "no-relevant": "Leave these topics out with --empty-topics drop; no system can score on them.",
    "nothing-judged": "Compare document ids in both files: a prefix, a suffix or another case is enough.",
    "rank-disagreement": "Find out which of the two columns the system meant; scores decide here.",
    "short-lists": "Nothing, if the system finds no more; measures of recall are lower for it.",
    "ties": "Look at the mean over all orders with --ties expected.",
    "unjudged": "See how far scores could move with `cranfield evaluate --bounds`.",
}
# The policy in words: what each of its settings decides.
DECIDES: Mapping[str, str] = {
    "ties": "order of documents with equal scores",
    "topics": "topics that count",
    "depth": "rankings are cut at",
    "judged_only": "unjudged documents are taken out",
    "empty_topics": "topics without a relevant document",
    "samples": "draws, where a mean over orders or relevance has no formula",
    "seed": "seed of those draws",
    "grades": "what grades are",
    "judges": "how several judges become one",
    "topic_set": "topics that alone are evaluated on",
}


def standings_grid(report: Report, measure: Measure) -> Grid:
    """Systems on one measure, best first: tier, mean, difference to the reference with its interval."""
    standings, reference = report.standings(measure), report.reference(measure)
    if report.comparison is None or reference is None:
        return Grid(["system", measure.label], [[s.system, shown(s.mean, measure)] for s in standings])
    ends = interval_header(report.comparison)
    letters = has_letters(report.comparison)
    header = [
        *([""] if letters else []),
        "system",
        "tier",
        measure.label,
        f"− {report.systems[reference]}",
        ends,
        "adjusted p",
        "W/T/L",
    ]
    judged = all(standing.unjudged is not None for standing in standings)
    rows: list[list[str | Cell]] = []
    by_tier = {tier: number for number, tier in enumerate(dict.fromkeys(standing.tier for standing in standings))}
    standings = sorted(standings, key=lambda standing: by_tier[standing.tier])  # within a tier still best first
    for place, standing in enumerate(standings):
        mean = Cell(f"{standing.mean:.4f}", best=place == 0 and measure.sign != 0, above=_beaten(report, standing))
        row: list[str | Cell] = [*([standing.letter] if letters else []), standing.system, standing.tier, mean]
        row += _to_reference(standing)
        rows.append(row + ([f"{share(standing.unjudged or 0.0, 1)}"] if judged else []))
    return Grid([*header, *(["unjudged"] if judged else [])], rows, labels=2 + letters)


def _beaten(report: Report, standing: Standing) -> str:
    """The systems that one beats: their letters, or how many they are."""
    comparison = report.comparison
    numbers = {} if comparison is None else {comparison.letter(i): i for i in range(len(comparison.systems))}
    return "" if comparison is None else beaten_letters(comparison, [numbers[letter] for letter in standing.beats])


def _to_reference(standing: Standing) -> list[str | Cell]:
    if standing.difference is None or standing.low is None or standing.high is None or standing.adjusted_p is None:
        return ["–", "–", "–", "–"]
    return [
        f"{standing.difference:+z.4f}",
        interval(standing.low, standing.high),
        shown_p(standing.adjusted_p),
        "–" if standing.tier == NO_TIER else f"{standing.wins}/{standing.ties}/{standing.losses}",
    ]


def pairs_listed(report: Report, measure: Measure) -> Grid | None:
    """Every pair on one measure with the p of every test, unless there are too many for anyone to read."""
    panel = report.panel(measure)
    if report.comparison is None or panel is None or report.comparison.comparisons > MOST_PAIRS:
        return None
    return pairs_grid(report.comparison, panel)


def measures_grid(report: Report) -> Grid:
    """Every system on every measure, and its efficiency."""
    if report.comparison is not None:
        return systems_grid(report.comparison)
    results = report.results
    means = [shown(float(mean), m) for mean, m in zip(results.means[0], results.measures, strict=True)]
    header = [
        "system",
        *(measure.label for measure in results.measures),
        *map(efficiency_columns.header, results.figures),
    ]
    return Grid(header, [[results.runs[0], *means, *efficiency_columns.cells(results.figures, 0)]])


def has_more_than_standings(report: Report) -> bool:
    """Whether the table of every measure says what the table of one measure does not."""
    return len(report.results.measures) > 1 or bool(report.results.figures)


def listed_topics(report: Report) -> list[int]:
    """The numbers of the topics listed: all, or a part of very many, evenly from the hardest to the easiest."""
    import numpy as np

    scores = report.results.scores
    most = max(1, MOST_SCORES // (scores.shape[0] * scores.shape[1]))
    if scores.shape[2] <= most:
        return list(range(scores.shape[2]))
    order = np.argsort(np.nanmean(scores[:, 0], axis=0), kind="stable")
    return sorted(order[np.linspace(0, len(order) - 1, most).round().astype(int)].tolist())


def which_topics(report: Report) -> str:
    """The topics that are listed, in words."""
    count, listed = len(report.results.topics), len(listed_topics(report))
    if listed == count:
        return "every topic"
    return f"{listed:,} of {count:,} topics, evenly from the hardest to the easiest"


def topics_grid(report: Report, measure: Measure) -> Grid:
    """The score of every topic that is listed by every system; – where a topic does not count for a system.

    With the questions of a collection, each topic has its own beside it.
    """
    quotations = report.quotations
    scores = report.results.scores[:, report.results.measures.index(measure)]
    rows = [
        [
            report.results.topics[t],
            *([] if quotations is None else [quotations.short_question(report.results.topics[t])]),
            *("–" if value != value else shown(value, measure) for value in scores[:, t].tolist()),
        ]
        for t in listed_topics(report)
    ]
    asked = [] if quotations is None else ["question"]
    return Grid(["topic", *asked, *report.systems], rows, labels=1 + len(asked))


def shown_findings(report: Report) -> list[Finding]:
    """What was found, each thing once; a page is kept, so that all are named of whom it was found."""
    return gathered(report.findings, most=None)


def findings_grid(report: Report) -> Grid:
    """What is odd about the data or the comparison, what puts numbers in doubt first, and what to do."""
    rows = [
        ["doubtful" if finding.doubtful else "note", finding.source, finding.message, ADVICE.get(finding.code, "")]
        for finding in shown_findings(report)
    ]
    return Grid(["kind", "about", "what was found", "what to do"], rows, labels=4)


def grades_grid(report: Report) -> Grid | None:
    """What each grade is called, and how many judgements have it; None where the collection does not say."""
    import numpy as np

    labels, given = report.facts.grades, report.experiment.judgements().pool.grades
    if not labels:
        return None
    grades = sorted({*labels, *given.tolist()}, reverse=True)
    rows = [[f"{grade:g}", labels.get(grade, "–"), f"{np.count_nonzero(given == grade):,}"] for grade in grades]
    return Grid(["grade", "meaning", "judgements"], rows, labels=2)


def topics_from(report: Report) -> list[str]:
    """Where the topics are from, in a sentence; nothing where the collection does not say."""
    return [] if report.facts.topic_source is None else [f"Topics: {report.facts.topic_source}"]


def texts_from(report: Report) -> list[str]:
    """Where the texts are from, in a sentence; nothing without a collection."""
    return [] if report.quotations is None else [f"Texts: {report.quotations.name}"]


def policy_grid(report: Report) -> Grid:
    """Every decision that changes a number."""
    policy = report.results.policy
    rows = [[DECIDES[setting.name], setting.name, _answer(getattr(policy, setting.name))] for setting in fields(policy)]
    rows.append(["documents nobody judged", "unjudged", "not relevant"])
    rows.append(["documents of a negative grade", "negative grades", "taken for documents that nobody judged"])
    return Grid(["decision", "name", "here"], rows, labels=3)


def inputs_grid(report: Report) -> Grid:
    """The files that were read, with what tells whether they have changed since."""
    rows = [
        [
            source.name,
            source.path or "in memory",
            _size(source.path),
            f"{source.rows:,}",
            f"{source.topics:,}",
            source.digest or "–",
        ]
        for source in report.results.inputs
    ]
    rows += _text_files(report)
    return Grid(["name", "file", "bytes", "rows", "topics", "digest"], rows, labels=2)


def _text_files(report: Report) -> list[list[str]]:
    """The files of questions and documents; nothing is counted in them, and a digest is made of those not too large."""
    if report.quotations is None:
        return []
    opened, algorithm = report.quotations.source.opened(), report.experiment.reading.digest
    documents = opened.documents if report.quotations.reads_documents else ()
    named = [("questions", opened.topics), *(("documents", source) for source in documents)]
    rows = []
    for what, source in named:
        if isinstance(source, str | os.PathLike):
            path = os.fspath(source)
            digest = "–" if algorithm is None else _digest(path, algorithm)
            rows.append([what, path, _size(path), "–", "–", digest])
    return rows


def _digest(path: str, algorithm: str) -> str:
    if not os.path.isfile(path) or os.path.getsize(path) > MOST_DIGESTED:
        return "–"
    with opened_file(path) as file:
        return compute_digest(file.read(), algorithm)


def reading(report: Report) -> list[str]:
    """How to read the tables of systems."""
    if report.comparison is None:
        return []
    lines = [legend(report.comparison, stars=False), column_legend(report.comparison, ["unjudged"])]
    return [*filter(None, lines), reading_against(report.comparison.baseline)]


def reading_pairs(report: Report) -> list[str]:
    """How to read the tables of pairs; nothing where none is listed."""
    comparison = report.comparison
    grid = pairs_listed(report, report.results.measures[0])
    if comparison is None or grid is None:
        return []
    return [star_legend(comparison), column_legend(comparison, grid.header)]


def reading_against(baseline: str | None) -> str:
    """What tiers and differences are, with a baseline or without one."""
    counts = (
        "W/T/L counts topics won, tied and lost against it. Tiers stand one below the other, and in each the best "
        "first: a mean may stand below a lower one of the tier above."
    )
    if baseline is None:
        return (
            "A tier holds systems that are not significantly different from the best of the tier; differences are to "
            f"the best system of the measure. {counts}"
        )
    return f"The tier says whether a system is significantly above or below {baseline}; differences are to it. {counts}"


def tested(report: Report) -> list[str]:
    """The tests of significance, their null hypotheses, and the correction."""
    comparison = report.comparison
    if comparison is None:
        return []
    lines = [f"{test.title[0].upper()}{test.title[1:]}. Null hypothesis: {test.null}." for test in comparison.tests]
    decided = f"Decided by {comparison.rule}; {corrected(comparison)}, level {comparison.alpha:g}."
    return [*lines, decided]


def _answer(value: str | float | TopicSet | None) -> str:
    if isinstance(value, TopicSet):
        return f"{plural(len(value.topics), 'topic')} of {value.name}"
    return "no" if value is False or value is None else "yes" if value is True else str(value)


def _size(path: str | None) -> str:
    return f"{os.path.getsize(path):,}" if path and os.path.isfile(path) else "–"
