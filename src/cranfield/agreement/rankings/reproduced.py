"""Was a run, or the improvement of one run on another, reproduced?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.agreement.rankings.correlation import Correlation, CorrelationRow, drawn_and_read
from cranfield.agreement.rankings.runs import DEFAULT_OVERLAP, Overlap, cut
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_run
from cranfield.formats.runs import named_runs, told_apart
from cranfield.judged import Floats
from cranfield.measures import Measure, as_measures
from cranfield.statistics.overlap import LARGE_RESIDUAL, TiedRanking, overlap_at, rank_biased_overlap
from cranfield.statistics.reproducibility import (
    Effect,
    kendall_tau_union,
    reproduction_of_effect,
    reproduction_of_scores,
    share_of_sign_changes,
)
from cranfield.statistics.resampled import Estimate, default_sampling, percentile_estimate, topic_draws
from cranfield.statistics.significance import Sampling
from cranfield.tables import Run

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns
    from cranfield.render.json_form import Json

PERFECT = {"RMSE": 0.0, "nRMSE": 0.0, "effect ratio": 1.0, "delta relative improvement": 0.0}
UNSURE = 0.025  # how often an effect may turn round under resampling before ratios to it are in doubt


class Scores(NamedTuple):
    """Scores[run, topic] of the originals and of their reproductions under one measure."""

    measure: str
    original: Floats
    reproduced: Floats


def reproduction(
    experiment: Experiment,
    reproduced: GivenRuns,
    measures: str | Measure | Iterable[str | Measure],
    *,
    other_qrels: Given | None = None,
    overlap: Overlap = DEFAULT_OVERLAP,
    sampling: Sampling | None = None,
) -> Correlation:
    """How close reproduced runs come to their originals, and how much of an improvement they reproduce.

    The runs of the experiment are the originals. They and `reproduced` are one run each, or two: first the baseline,
    then what improves on it. For each run: RMSE and nRMSE of the scores by topic, and the agreement of its documents.
    For two: effect ratio and delta relative improvement. With `other_qrels` the reproduction is on another collection,
    and only the improvement is compared. Intervals are over resampled topics.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> old, new = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, {"q1": {"d9": 2.0, "d1": 1.0}, "q2": {"d2": 1.0}}
    >>> round(reproduction(Experiment(qrels, {"old": old}), {"new": new}, "RR").of("old", "RR", "RMSE")["value"], 4)
    0.3536
    """
    sampling, policy = sampling or default_sampling(), experiment.policy
    if policy.topics == "run":
        raise UsageError("reproductions are compared on the same topics: choose topics=qrels or topics=common")
    pairs = _paired(experiment, reproduced)
    if other_qrels is not None and len(pairs) == 1:
        raise UsageError(
            "on another collection only an improvement can be compared: give two originals, baseline first"
        )
    scores, oddities = _evaluated(experiment, other_qrels, pairs, measures)
    warnings = list(oddities)

    rows: list[CorrelationRow] = []
    if other_qrels is None:
        for number, (old, new) in enumerate(pairs):
            rows += _of_scores(old.name, number, scores, sampling)
            rows += _of_documents(old, new, overlap, policy.depth, sampling, warnings)
    if len(pairs) == 2:
        name = f"{pairs[1][0].name} on {pairs[0][0].name}"
        rows += _of_improvement(name, scores, sampling, warnings, same_topics=other_qrels is None)
    notes = [
        *(f"{old.name}: reproduced by {new.name}" for old, new in pairs),
        f"low and high: middle 95% of {sampling.resamples:,} resamples of the topics, seed {sampling.seed}",
        "on another collection: topics are resampled on each side on its own"
        if other_qrels is not None
        else "Kendall's tau union numbers documents by original rank and says little without the overlap; prefer RBO",
    ]
    labels, columns = ("run", "measure", "quantity"), ("value", "low", "high", "perfect")
    settings: dict[str, Json] = {"p": overlap.p, "ties": overlap.ties, "overlap_depth": overlap.depth}
    settings |= drawn_and_read(sampling, policy)
    return Correlation(
        "reproduction", labels, columns, tuple(rows), None, tuple(notes), tuple(warnings), settings=settings
    )


def _paired(experiment: Experiment, reproduced: GivenRuns) -> list[tuple[Run, Run]]:
    """Each original with its reproduction, under names that tell them apart."""
    originals, reproductions = (
        [read_run(run, name=name, reading=experiment.reading) for name, run in named_runs(runs)]
        for runs in (experiment.runs, reproduced)
    )
    if len(originals) != len(reproductions) or len(originals) > 2:
        raise UsageError(
            f"{plural(len(originals), 'original')} and {plural(len(reproductions), 'reproduction')}: give one of each, "
            "or two of each, the baseline first"
        )
    named = told_apart([*originals, *reproductions])
    return list(zip(named[: len(originals)], named[len(originals) :], strict=True))


def _evaluated(
    experiment: Experiment,
    other_qrels: Given | None,
    pairs: list[tuple[Run, Run]],
    measures: str | Measure | Iterable[str | Measure],
) -> tuple[list[Scores], tuple[Finding, ...]]:
    """Scores under each measure, and what was odd about the inputs."""
    wanted = as_measures(measures)
    other_average = [str(measure) for measure in wanted if measure.parameters["agg"] != "mean"]
    if other_average:
        raise UsageError(f"reproduction is measured on arithmetic means, not on {', '.join(other_average)}")
    originals, reproductions = [old for old, _ in pairs], [new for _, new in pairs]
    if other_qrels is None:
        results = replace(experiment, runs=originals + reproductions).evaluate(wanted)
        first, second, warnings = results.scores[: len(pairs)], results.scores[len(pairs) :], results.warnings
    else:
        of_originals, of_reproductions = (
            replace(experiment, runs=originals).evaluate(wanted),
            replace(experiment, qrels=other_qrels, runs=reproductions).evaluate(wanted),
        )
        first, second, warnings = (
            of_originals.scores,
            of_reproductions.scores,
            of_originals.warnings + of_reproductions.warnings,
        )
    return [Scores(str(measure), first[:, i], second[:, i]) for i, measure in enumerate(wanted)], warnings


def _row(run: str, measure: str, quantity: str, estimate: Estimate, perfect: float) -> CorrelationRow:
    return CorrelationRow((run, measure, quantity), (*estimate[:3], perfect))


def _of_scores(name: str, run: int, scores: list[Scores], sampling: Sampling) -> list[CorrelationRow]:
    """RMSE and nRMSE under each measure."""
    return [
        _row(name, measure, quantity, estimate, PERFECT[quantity])
        for measure, original, reproduced in scores
        for quantity, estimate in reproduction_of_scores(original[run], reproduced[run], sampling).items()
    ]


def _of_documents(
    old: Run, new: Run, overlap: Overlap, cutoff: int | None, sampling: Sampling, warnings: list[Finding]
) -> list[CorrelationRow]:
    """Agreement of the lists, as means over the topics of both."""
    name, theirs = old.name, set(new.topics)
    topics = [topic for topic in old.topics if topic in theirs]
    if not topics:
        raise DataError(
            f"no topic in common: {name} has {some(old.topics, 3)}, {new.name} has {some(new.topics, 3)}",
            remedy="A reproduction on another collection needs --qrels twice (other_qrels).",
        )
    alone = [topic for topic in [*old.topics, *new.topics] if topic not in set(topics)]
    if alone:
        message = f"{plural(len(alone), 'topic')} only in the original or only in the reproduction: {some(alone)}"
        warnings.append(Finding("unshared-topics", name, message))
    columns: dict[str, list[float]] = {}
    residuals = []
    first, second = old.to_dict(topics), new.to_dict(topics)
    p, depth = overlap.p, overlap.depth
    for topic in topics:
        lists = [cut(run[topic], cutoff) for run in (first, second)]
        x, y = (TiedRanking.of_scores(list(ranking), list(ranking.values())) for ranking in lists)
        biased = rank_biased_overlap(x, y, p, overlap.ties)
        residuals.append(biased.residual)
        values = {
            f"RBO(p={p:g})": biased.extrapolated,
            f"overlap@{depth}": overlap_at(x, y, depth)[0],
            f"Kendall's tau union@{depth}": kendall_tau_union(x.documents, y.documents, depth),
        }
        for quantity, value in values.items():
            columns.setdefault(quantity, []).append(value)
    if np.mean(residuals) > LARGE_RESIDUAL:
        message = f"RBO is uncertain by {np.mean(residuals):.2f} on average: the lists are too short for p={p:g}"
        warnings.append(Finding("large-residual", name, message))
    return [_row(name, "–", quantity, _mean(np.array(column), sampling), 1.0) for quantity, column in columns.items()]


def _mean(values: Floats, sampling: Sampling) -> Estimate:
    """The mean over the topics that have a value."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Estimate(float("nan"), float("nan"), float("nan"))
    means = np.array([defined[draw].mean() for draw in topic_draws(len(defined), sampling)])
    return percentile_estimate(float(defined.mean()), means)


def _of_improvement(
    name: str, scores: list[Scores], sampling: Sampling, warnings: list[Finding], *, same_topics: bool
) -> list[CorrelationRow]:
    """Effect ratio and delta relative improvement under each measure."""
    rows = []
    for measure, *sides in scores:
        original, reproduced = (Effect(*side) for side in sides)
        estimates = reproduction_of_effect(original, reproduced, sampling, same_topics=same_topics)
        rows += [_row(name, measure, quantity, estimates[quantity], PERFECT[quantity]) for quantity in estimates]
        turns = share_of_sign_changes(original, sampling)
        if turns > UNSURE:
            message = (
                f"{measure}: the original improvement of {original.improvement:.4f} vanishes or turns round in "
                f"{turns:.0%} of the resamples: a ratio to it says little"
            )
            warnings.append(Finding("unsure-effect", name, message))
    return rows
