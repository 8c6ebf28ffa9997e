"""`correlate`: how far two runs agree on the documents of each topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.rankings.correlation import COEFFICIENTS, Correlation, CorrelationRow, as_names, orientations
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.runs import read_runs
from cranfield.judged import Floats
from cranfield.statistics.coefficients import Coefficient, find_coefficient
from cranfield.statistics.overlap import (
    LARGE_RESIDUAL,
    TIE_TREATMENTS,
    TiedRanking,
    Ties,
    overlap_at,
    prefix_weight,
    rank_biased_overlap,
)
from cranfield.tables import Run

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.render.json_form import Json

COUNTS = ("in both", "first only", "second only")


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How the documents of two lists are held against each other.

    `p` is the persistence of rank-biased overlap, `ties` its treatment of equal scores (w, a or b); `depth` is where
    overlap, Jaccard and Kendall's tau union are taken.
    """

    p: float = 0.9
    ties: Ties = "b"
    depth: int = 10


DEFAULT_OVERLAP = Overlap()


class ListAgreement(NamedTuple):
    """What is computed for each topic."""

    coefficients: tuple[Coefficient, ...]
    overlap: Overlap

    @property
    def columns(self) -> tuple[str, ...]:
        at = f"@{self.overlap.depth}"
        names = (str(coefficient) for coefficient in self.coefficients)
        return (*COUNTS, *names, f"overlap{at}", f"Jaccard{at}", "RBO", "RBO low", "RBO high")


def correlate(
    first: Given,
    second: Given,
    coefficients: str | Iterable[str] = COEFFICIENTS,
    *,
    overlap: Overlap = DEFAULT_OVERLAP,
    depth: int | None = None,
    reading: Reading = DEFAULT,
) -> Correlation:
    """How far two runs agree, topic by topic and on the whole.

    Coefficients are over the documents that both lists of a topic hold; overlap and rank-biased overlap are over all.
    `depth` cuts both runs first. Topics that only one run has are named.

    >>> a = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
    >>> b = {"q1": {"d1": 3.0, "d3": 2.0, "d2": 1.0}, "q2": {"d1": 2.0, "d2": 1.0}}
    >>> correlation = correlate(a, b, ["kendall", "spearman"])
    >>> round(correlation.of("q1")["kendall"], 4), round(correlation.mean()["spearman"], 4)
    (0.3333, 0.75)
    """
    if depth is not None and depth < 1:
        raise UsageError(f"depth must be a whole number from 1, not {depth}")
    wanted = tuple(find_coefficient(name) for name in as_names(coefficients))
    settings = ListAgreement(wanted, overlap)
    runs = read_runs([first, second], reading)
    names = [run.name for run in runs]
    topics, warnings = _shared_topics(runs, names)

    ours, theirs = (run.to_dict(topics) for run in runs)
    pairs = [(cut(ours[topic], depth), cut(theirs[topic], depth)) for topic in topics]
    values = np.array([_of_topic(*pair, settings) for pair in pairs])
    rows = tuple(CorrelationRow((topic,), tuple(line)) for topic, line in zip(topics, values.tolist(), strict=True))
    warnings += _doubts(values, topics, settings, " and ".join(names))
    notes = _notes(names, pairs, settings)
    options: dict[str, Json] = {"p": overlap.p, "ties": overlap.ties, "depth": depth, "overlap_depth": overlap.depth}
    return Correlation(
        "runs", ("topic",), settings.columns, rows, _means(values), notes, tuple(warnings), COUNTS, options
    )


def _shared_topics(runs: list[Run], names: list[str]) -> tuple[list[str], list[Finding]]:
    """The topics of both runs, and what is odd about the runs."""
    theirs = set(runs[1].topics)
    shared = [topic for topic in runs[0].topics if topic in theirs]
    if not shared:
        raise DataError(
            f"no topic in common: {names[0]} has {some(runs[0].topics, 3)}, {names[1]} has {some(runs[1].topics, 3)}",
            source=runs[1].origin.path or runs[1].name,
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    findings = []
    for run, name in zip(runs, names, strict=True):
        findings += [Finding(code, name, message, doubtful=False) for code, message in run.origin.notes]
        disagree = int(run.table.rank_disagreements().sum())
        if disagree:
            message = f"the rank column contradicts the scores in {plural(disagree, 'row')}; the scores decide"
            findings.append(Finding("rank-disagreement", name, message))
        alone = [topic for topic in run.topics if topic not in set(shared)]
        if alone:
            message = f"{plural(len(alone), 'topic')} that the other run lacks, left out: {some(alone)}"
            findings.append(Finding("unshared-topics", name, message))
    return shared, findings


def cut(documents: dict[str, float], depth: int | None) -> dict[str, float]:
    return documents if depth is None else dict(list(documents.items())[:depth])


def _of_topic(first: dict[str, float], second: dict[str, float], settings: ListAgreement) -> tuple[float, ...]:
    both = [document for document in first if document in second]
    ours, theirs = np.array([first[d] for d in both]), np.array([second[d] for d in both])
    rankings = [TiedRanking.of_scores(list(run), list(run.values())) for run in (first, second)]
    return (
        *(len(both), len(first) - len(both), len(second) - len(both)),
        *(coefficient(ours, theirs) for coefficient in settings.coefficients),
        *overlap_at(rankings[0], rankings[1], settings.overlap.depth),
        *rank_biased_overlap(rankings[0], rankings[1], settings.overlap.p, settings.overlap.ties),
    )


def _means(values: Floats) -> tuple[float, ...]:
    """Means of the columns over the topics that have a value."""
    defined = ~np.isnan(values)
    sums, counts = np.where(defined, values, 0).sum(axis=0), defined.sum(axis=0)
    return tuple(np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0).tolist())


def _notes(
    names: list[str], pairs: list[tuple[dict[str, float], dict[str, float]]], settings: ListAgreement
) -> tuple[str, ...]:
    listed = ", ".join(str(coefficient) for coefficient in settings.coefficients)
    overlap = settings.overlap
    weight = prefix_weight(overlap.p, overlap.depth)
    notes = [f"first: {names[0]}; second: {names[1]}; {listed} over the documents in both lists, the rest over all"]
    notes += orientations(settings.coefficients, *names)
    notes.append(f"RBO at p={overlap.p:g}: the first {overlap.depth} ranks carry {weight:.0%} of the weight")
    tied = [sum(len(pair[side]) > len(set(pair[side].values())) for pair in pairs) for side in (0, 1)]
    if any(tied):
        notes.append(f"ties in {tied[0]} and {tied[1]} of {plural(len(pairs), 'topic')}")
        notes.append(f"RBO-{overlap.ties}: {TIE_TREATMENTS[overlap.ties]}")
        notes += [f"{coefficient}: {coefficient.ties}" for coefficient in settings.coefficients]
    return tuple(notes)


def _doubts(values: Floats, topics: list[str], settings: ListAgreement, source: str) -> list[Finding]:
    """What makes numbers of the table say less than they seem to."""
    findings = []
    column = {name: values[:, i] for i, name in enumerate(settings.columns)}
    for coefficient in settings.coefficients:
        missing = [topics[t] for t in np.flatnonzero(np.isnan(column[str(coefficient)]))]
        if missing:
            why = "fewer than two documents in common, or ties"
            undefined = f"{coefficient} is undefined for {plural(len(missing), 'topic')} ({why})"
            findings.append(Finding("undefined-coefficient", source, f"{undefined}, left out: {some(missing)}"))
    residual = column["RBO high"] - column["RBO low"]
    large = int(np.count_nonzero(residual > LARGE_RESIDUAL))
    if large:
        message = (
            f"RBO is uncertain by more than {LARGE_RESIDUAL:g} on {plural(large, 'topic')} (by {residual.mean():.2f} "
            f"on average): the lists are too short for p={settings.overlap.p:g}; look at its bounds, or take a "
            "smaller p"
        )
        findings.append(Finding("large-residual", source, message))
    in_both, alone = values[:, 0].sum(), values[:, 1:3].sum()
    if alone > in_both:
        message = "more documents are in one list only than in both: overlap and RBO see them, the coefficients do not"
        findings.append(Finding("few-shared-documents", source, message))
    return findings
