"""`compare_answers`: do participants find one system better than another, whoever was asked and on whichever topics?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, either, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.statistics.corrections import DEFAULT, Correction, find_correction
from cranfield.statistics.effects import detectable
from cranfield.statistics.friedman import friedman
from cranfield.statistics.independent import pooled_freedom
from cranfield.statistics.intervals import Ends, agreeing, of_t
from cranfield.statistics.mixed_effects import MixedFit, OverallTest, fit_mixed
from cranfield.statistics.significance import Floats, Integers, Sampling, find_test
from cranfield.studies.answers import Answers
from cranfield.studies.scales import Scale
from cranfield.studies.scoring import participant_scores

MODELS = ("auto", "mixed", "paired")
FEW = 5  # levels of a random effect below which its variance is hardly known
ONE = np.array([[0, 1]])
POWER = 0.8  # the usual chance that a study should have of finding what is there
ROUNDING = 1e-12  # share of a score below which a spread is none
NO_CHANCE = "beside participants and topics the scores do not vary by chance at all"


@dataclass(frozen=True, kw_only=True)
class StudyQuestion:
    """How to compare: the model, whether it leaves interactions out, the correction, and alpha."""

    model: str = "auto"
    additive: bool = False
    correction: str = DEFAULT
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise UsageError(f"a model is {either(MODELS)}, not '{self.model}'")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha is between 0 and 1, not {self.alpha:g}")


class SystemMean(NamedTuple):
    """A system's mean under the model, and its standard error."""

    system: str
    mean: float
    error: float


class StudyPair(NamedTuple):
    """The difference of two systems: its interval, p and corrected p; and Wilcoxon's p on means of participants.

    `better` names the system that is significantly better, or is None. `detectable` is the least true difference that a
    study with such a standard error finds, after correction, with the chance `power`. `undecided` says why
    there is no p where there is none.
    """

    first: str
    second: str
    participants: int
    difference: float
    low: float
    high: float
    freedom: float
    p: float
    corrected: float
    better: str | None
    wilcoxon: float
    wilcoxon_corrected: float
    detectable: float
    undecided: str | None


class RankTest(NamedTuple):
    """Friedman's test on means of the participants who have a score for every system."""

    participants: int
    chi_square: float
    p: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyComparison(PrintedInNotebooks):
    """What was found, by which method: "mixed", "paired" or "welch".

    `variances` are those of the random effects of a mixed model and of its residual.
    """

    scale: Scale
    method: str
    additive: bool
    correction: str
    alpha: float
    level: float
    power: float
    sheets: int
    participants: int
    topics: int
    means: tuple[SystemMean, ...]
    variances: Mapping[str, float]
    overall: OverallTest | None
    friedman: RankTest | None
    pairs: tuple[StudyPair, ...]
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.studies.study_tables import render_comparison

        return render_comparison(self, format)


class _Found(NamedTuple):
    """What a model says: means, and of each pair the difference, its error and degrees of freedom, and why it has no
    error where it has none."""

    means: tuple[SystemMean, ...]
    difference: Floats
    error: Floats
    freedom: Floats
    undecided: Sequence[str | None]
    variances: Mapping[str, float]
    overall: OverallTest | None


class _Sheets(NamedTuple):
    """Scores that there are, with the numbers of participant, system and topic."""

    scores: Floats
    participant: Integers
    system: Integers
    topic: Integers | None
    systems: tuple[str, ...]


def compare_answers(answers: Answers, question: StudyQuestion | None = None) -> StudyComparison:
    """Compares all pairs of systems, corrected for their number.

    With topics, by a mixed-effects model: systems are fixed, participants and topics are random and crossed, and so is
    what a participant or a topic adds to one system (unless `additive`), as far as answers are repeated so that it can
    be told from chance. Without topics, by paired t tests on the means of participants; where everybody gave a single
    score, by Welch's t tests. Wilcoxon's and Friedman's tests stand beside: the others take the steps between answers
    for equally wide; but these take the topics as given.

    References: Baayen, Davidson and Bates, "Mixed-effects modeling with crossed random effects for subjects and items",
    2008; Barr, Levy, Scheepers and Tily, "Random effects structure for confirmatory hypothesis testing", 2013.

    >>> from cranfield.studies import find_scale, read_answers
    >>> given = {"A": (4, 5, 3, 4, 5), "B": (3, 3, 3, 2, 4)}
    >>> rows = [{"user": p, "system": s, "satisfaction": x} for s, of in given.items() for p, x in enumerate(of)]
    >>> pair, = compare_answers(read_answers(rows, find_scale("satisfaction"))).pairs
    >>> pair.difference, round(pair.p, 4), pair.better
    (1.2, 0.0327, 'A')
    """
    question = question or StudyQuestion()
    correction = find_correction(question.correction)
    sheets = _sheets(answers)
    names = sheets.systems
    pairs = list(combinations(range(len(names)), 2))
    by_participant = _table(answers, names)
    findings = list(answers.warnings)
    model = _model(question, sheets, by_participant, answers.source)
    if model == "mixed":
        found = _mixed(sheets, pairs, question, answers.source, findings)
    elif model == "welch":
        found = _welch(by_participant, names, pairs, findings, answers.source)
    else:
        found = _paired(by_participant, names, pairs, findings, answers.source)
    of_pairs, level = _pairs(found, by_participant, sheets, pairs, answers.scale, correction, question.alpha)
    findings += _cautions(answers, sheets, model, of_pairs, question.alpha)
    return StudyComparison(
        scale=answers.scale,
        method=model,
        additive=question.additive,
        correction=question.correction,
        alpha=question.alpha,
        level=level,
        power=POWER,
        sheets=len(sheets.scores),
        participants=len(by_participant[0]),
        topics=0 if sheets.topic is None else len(set(sheets.topic.tolist())),
        means=tuple(sorted(found.means, key=lambda mean: answers.scale.best_first(mean.mean))),
        variances=found.variances,
        overall=found.overall,
        friedman=_friedman(by_participant),
        pairs=of_pairs,
        warnings=tuple(findings),
    )


def _sheets(answers: Answers) -> _Sheets:
    scored = np.isfinite(answers.scores)
    kept = np.flatnonzero(scored).tolist()
    systems = tuple(dict.fromkeys(answers.systems[row] for row in kept))
    if len(systems) < 2:
        remedy = "Comparing takes two; are all systems in the column of systems?"
        raise DataError(f"one system with scores, {systems[0]}", source=answers.source, remedy=remedy)
    topics = answers.topics
    return _Sheets(
        answers.scores[scored],
        _numbered([answers.participants[row] for row in kept]),
        np.array([systems.index(answers.systems[row]) for row in kept]),
        None if topics is None else _numbered([topics[row] for row in kept]),
        systems,
    )


def _numbered(names: Sequence[object]) -> Integers:
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([place[name] for name in names], dtype=np.int64)


def _table(answers: Answers, systems: tuple[str, ...]) -> Floats:
    """means[system, participant], NaN where a participant has no score for a system."""
    scores = participant_scores(answers)
    participants = {name: place for place, name in enumerate(dict.fromkeys(score.participant for score in scores))}
    table = np.full((len(systems), len(participants)), np.nan)
    for score in scores:
        table[systems.index(score.system), participants[score.participant]] = score.mean
    return table


def _repeats(level: Integers) -> bool:
    return len(np.unique(level)) < len(level)


def _vary(level: Integers, system: Integers) -> bool:
    """Whether there is more than one participant (or topic), and not just one for each system: otherwise what these do
    cannot be told from what systems do."""
    systems: dict[int, set[int]] = {}
    for number, own in zip(level.tolist(), system.tolist(), strict=True):
        systems.setdefault(number, set()).add(own)
    parts: list[set[int]] = []  # systems that hang together by somebody who used them
    for used in systems.values():
        touching = [part for part in parts if part & used]
        parts = [part for part in parts if not part & used] + [used.union(*touching)]
    return len(systems) > len(parts)


def _model(question: StudyQuestion, sheets: _Sheets, table: Floats, source: str) -> str:
    if not _vary(sheets.participant, sheets.system):
        alone = table.shape[1] == 1
        raise DataError(
            "one participant: nothing tells how others would find the systems"
            if alone
            else "one participant for each system: nothing tells whether systems differ or participants do",
            source=source,
            remedy="Comparing takes two participants or more; means are shown by `cranfield study score`.",
        )
    given = ~np.isnan(table)
    shared = min(int((given[a] & given[b]).sum()) for a, b in combinations(range(len(table)), 2))
    if question.model == "auto":
        with_topics = sheets.topic is not None and _repeats(sheets.topic)
        if not with_topics and shared > 1:
            return "paired"
    if question.model == "paired" and shared < 2:
        raise DataError(
            "fewer than two participants have scores for both of two systems: there are no pairs to test",
            source=source,
            remedy="Take the model mixed, which compares systems that different participants used.",
        )
    if question.model == "paired":
        return "paired"
    return "mixed" if _random_effects(sheets, question.additive) else "welch"


def _mixed(
    sheets: _Sheets, pairs: list[tuple[int, int]], question: StudyQuestion, source: str, findings: list[Finding]
) -> _Found:
    random = _random_effects(sheets, question.additive)
    fit = fit_mixed(sheets.scores, sheets.system, random)
    findings += _fit_findings(fit, random, source)
    weights = np.eye(len(sheets.systems))
    contrasts = [fit.contrast(weights[a] - weights[b]) for a, b in pairs]
    difference, error, freedom = (np.array(column) for column in zip(*contrasts, strict=True))
    errors = np.sqrt(np.diag(fit.covariance))
    return _Found(
        tuple(SystemMean(*row) for row in zip(sheets.systems, fit.means.tolist(), errors.tolist(), strict=True)),
        difference,
        np.where(fit.residual > 0, error, np.nan),
        freedom,
        [None if fit.residual > 0 else NO_CHANCE] * len(pairs),
        {**fit.variances, "residual": fit.residual},
        fit.overall(),
    )


def _random_effects(sheets: _Sheets, additive: bool) -> dict[str, Integers]:
    """What can be told from chance: participants and topics that are there more than once, and with one system."""
    effects: dict[str, Integers] = {}
    for name, level in (("participant", sheets.participant), ("topic", sheets.topic)):
        if level is None or not _repeats(level) or level.max() == 0:
            continue
        effects[name] = level
        cells = _numbered(list(zip(level.tolist(), sheets.system.tolist(), strict=True)))
        if not additive and _repeats(cells) and cells.max() > level.max():
            effects[f"{name} × system"] = cells
    return effects


def _fit_findings(fit: MixedFit, random: Mapping[str, Integers], source: str) -> list[Finding]:
    if fit.residual == 0:
        message = f"{NO_CHANCE}: p is undefined"
        return [Finding("no-residual", source, message)]
    findings = []
    if not fit.converged:
        message = (
            "the mixed-effects model did not converge: do not trust its intervals and p; --model paired needs none"
        )
        findings.append(Finding("not-converged", source, message))
    if fit.singular:
        message = f"no variance is left for {some(fit.singular)} (a singular fit): the model is that without it"
        findings.append(Finding("singular-fit", source, message, doubtful=False))
    few = [f"{name} ({int(level.max()) + 1})" for name, level in random.items() if level.max() + 1 < FEW]
    if few:
        message = f"fewer than {FEW} levels of {some(few)}: how much they vary is hardly known"
        findings.append(Finding("few-levels", source, message))
    absent = [name for name in ("participant", "topic") if name not in random]
    if absent:
        message = f"no random effect of {some(absent)}: there is none, only one, or each has a single score"
        findings.append(Finding("no-effect", source, message, doubtful=False))
    return findings


def _paired(
    table: Floats, names: tuple[str, ...], pairs: list[tuple[int, int]], findings: list[Finding], source: str
) -> _Found:
    given = ~np.isnan(table)
    partial = int((~given).any(axis=0).sum())
    if partial:
        message = (
            f"{plural(partial, 'participant')} of {table.shape[1]} without a score for every system: each pair of "
            "systems is compared by those who have both"
        )
        findings.append(Finding("incomplete-participants", source, message))
    columns, undecided = [], list[str | None]()
    for a, b in pairs:
        both = given[a] & given[b]
        own = table[a, both] - table[b, both]
        mean, spread = float(own.mean()), float(own.std(ddof=1) / np.sqrt(len(own)))
        constant = spread <= ROUNDING * max(abs(mean), 1.0)
        same = "have the same score from" if abs(mean) <= ROUNDING else "differ by the same for"
        undecided.append(f"they {same} every participant" if constant else None)
        columns.append((mean, np.nan if constant else spread, len(own) - 1.0))
    findings += _without_p(undecided, names, pairs, source)
    difference, error, freedom = (np.array(column) for column in zip(*columns, strict=True))
    return _Found(_own_means(table, names), difference, error, freedom, undecided, {}, None)


def _welch(
    table: Floats, names: tuple[str, ...], pairs: list[tuple[int, int]], findings: list[Finding], source: str
) -> _Found:
    """Everybody gave a single score: systems are compared as independent samples, each with its own variance."""
    means = _own_means(table, names)
    size = (~np.isnan(table)).sum(axis=1)
    largest = np.nanmax(np.abs(table))
    columns, undecided = [], list[str | None]()
    for a, b in pairs:
        errors = np.array([means[a].error, means[b].error])
        alone = [names[system] for system in (a, b) if size[system] < 2]
        reason = None
        if alone:
            reason = f"one participant has a score for {some(alone)}"
        elif errors.max() <= ROUNDING * max(largest, 1.0):
            reason = "neither varies from participant to participant"
        undecided.append(reason)
        own = (np.nan, np.nan)
        if reason is None:
            freedoms = pooled_freedom(errors[None] ** 2, size[None, [a, b]] - 1.0)
            own = (float(np.hypot(*errors)), float(freedoms[0]))
        columns.append((means[a].mean - means[b].mean, *own))
    findings += _without_p(undecided, names, pairs, source)
    difference, error, freedom = (np.array(column) for column in zip(*columns, strict=True))
    return _Found(means, difference, error, freedom, undecided, {}, None)


def _own_means(table: Floats, names: tuple[str, ...]) -> tuple[SystemMean, ...]:
    """Means over the participants of each system, with their standard errors."""
    means = []
    for name, row in zip(names, table, strict=True):
        given = row[~np.isnan(row)]
        error = float(given.std(ddof=1) / np.sqrt(len(given))) if len(given) > 1 else np.nan
        means.append(SystemMean(name, float(given.mean()), error))
    return tuple(means)


def _without_p(
    undecided: Sequence[str | None], names: tuple[str, ...], pairs: list[tuple[int, int]], source: str
) -> list[Finding]:
    return [
        Finding("no-residual", source, f"{names[a]} and {names[b]}: {reason}: p is undefined")
        for reason, (a, b) in zip(undecided, pairs, strict=True)
        if reason is not None
    ]


def _pairs(
    found: _Found,
    table: Floats,
    sheets: _Sheets,
    pairs: list[tuple[int, int]],
    scale: Scale,
    correction: Correction,
    alpha: float,
) -> tuple[tuple[StudyPair, ...], float]:
    """Every pair, and the level of their intervals, which leave out 0 where the corrected p is below alpha."""
    from scipy.special import stdtr

    p = np.asarray(2 * stdtr(found.freedom, -np.abs(found.difference / found.error)))
    corrected = correction(p)
    significant = corrected < alpha
    level = correction.level(alpha, len(pairs), int(significant.sum()))
    known = np.isfinite(p)
    low, high = np.full((2, len(pairs)), np.nan)
    ends = of_t(found.difference[known], found.error[known], found.freedom[known], level)
    low[known], high[known] = agreeing(Ends(*ends), found.difference[known], significant[known])
    ranked = np.array([_wilcoxon(table[[a, b]]) for a, b in pairs])
    ranked_corrected = correction(ranked)
    findable, strictest = np.full(len(pairs), np.nan), correction.level(alpha, len(pairs), 0)
    findable[known] = detectable(found.error[known], found.freedom[known], power=POWER, alpha=strictest)
    names, shared = sheets.systems, ~np.isnan(table)
    rows = []
    for number, (a, b) in enumerate(pairs):
        ahead = a if (found.difference[number] > 0) == (scale.better == "more") else b
        rows.append(
            StudyPair(
                first=names[a],
                second=names[b],
                participants=int((shared[a] & shared[b]).sum()),
                difference=float(found.difference[number]),
                low=float(low[number]),
                high=float(high[number]),
                freedom=float(found.freedom[number]),
                p=float(p[number]),
                corrected=float(corrected[number]),
                better=names[ahead] if significant[number] else None,
                wilcoxon=float(ranked[number]),
                wilcoxon_corrected=float(ranked_corrected[number]),
                detectable=float(findable[number]),
                undecided=found.undecided[number] or (None if known[number] else "its degrees of freedom are unknown"),
            )
        )
    return tuple(rows), level


def _wilcoxon(two: Floats) -> float:
    """Wilcoxon's p on the means of participants who have both systems; NaN for fewer than two of them."""
    both = two[:, ~np.isnan(two).any(axis=0)]
    return float(find_test("wilcoxon").function(both, ONE, Sampling()).p[0]) if both.shape[1] > 1 else np.nan


def _friedman(table: Floats) -> RankTest | None:
    complete = table[:, ~np.isnan(table).any(axis=0)]
    if len(table) < 3 or complete.shape[1] < 2:
        return None
    outcome = friedman(complete)
    return RankTest(complete.shape[1], outcome.chi_square, outcome.chi_square_p)


def _cautions(answers: Answers, sheets: _Sheets, model: str, pairs: Sequence[StudyPair], alpha: float) -> list[Finding]:
    source, findings = answers.source, []
    topics = sheets.topic is not None and _repeats(sheets.topic)
    if sheets.topic is not None and not _vary(sheets.topic, sheets.system):
        message = (
            "one topic: nothing tells whether it is the same on others"
            if sheets.topic.max() == 0
            else "one topic for each system: nothing tells whether systems differ or topics do"
        )
        findings.append(Finding("one-topic", source, message))
    ranked = any(pair.wilcoxon == pair.wilcoxon for pair in pairs)
    message = "means take the steps between answers for equally wide, which is an assumption"
    if ranked and topics:
        message += (
            "; Wilcoxon's p, on the means of participants, does without, but takes the topics as given: it says "
            "nothing of others"
        )
    elif ranked:
        message += "; Wilcoxon's p, on the means of participants, assumes less"
    if answers.scale.whole:
        findings.append(Finding("interval-scale", source, message, doubtful=False))
    apart = [
        f"{pair.first} and {pair.second}"
        for pair in pairs
        if pair.undecided is None
        and (pair.corrected < alpha) != (pair.wilcoxon_corrected < alpha)
        and pair.wilcoxon == pair.wilcoxon
    ]
    if apart:
        who = "the model" if model == "mixed" else "the t test"
        mixed = "Wilcoxon's takes the topics as given, and says nothing of others"
        paired = "both take the topics as given, and say nothing of others"
        advice = (mixed if model == "mixed" else paired) if topics else "report both"
        message = f"{who} and Wilcoxon's test decide differently on {some(apart)}: {advice}"
        findings.append(Finding("tests-apart", source, message))
    return findings
