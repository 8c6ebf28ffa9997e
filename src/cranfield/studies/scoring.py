"""`score_answers`: what participants gave each system, with intervals, and whether the items of a scale go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, percent, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.statistics.significance import Floats
from cranfield.studies.answers import Answers
from cranfield.studies.scales import Scale

FEW_SHEETS = 10  # below, the agreement of items says little
WEAK = 0.7  # Cronbach's alpha below which items hardly measure one thing (Nunnally, "Psychometric theory", 1978)
ROUNDING = 1e-10  # share of the answers' sum below which a spread of sums is none


class SystemScore(NamedTuple):
    """A system's mean over participants (of their own means), its spread and interval, and how items go together."""

    system: str
    participants: int
    sheets: int
    mean: float
    sd: float
    low: float
    high: float
    median: float
    alpha: float


class ParticipantScore(NamedTuple):
    """The mean of what a participant gave a system, and over how many sheets."""

    participant: str
    system: str
    sheets: int
    mean: float


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StudyScores(PrintedInNotebooks):
    """Scores by system and participant; `level` is the chance that an interval misses, `alpha` that of all sheets,
    within systems."""

    scale: Scale
    level: float
    systems: tuple[SystemScore, ...]
    participants: tuple[ParticipantScore, ...]
    alpha: float
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.studies.study_tables import render_scores

        return render_scores(self, format)


def score_answers(answers: Answers, *, level: float = 0.05) -> StudyScores:
    """Mean, standard deviation, t interval and median of each system, over participants.

    Whoever answered several times about a system counts once, with the mean: answers of one person are no independent
    ones. Cronbach's alpha is over all complete sheets, without what systems differ by.

    Reference: Cronbach, "Coefficient alpha and the internal structure of tests", 1951.

    >>> from cranfield.studies import find_scale, read_answers
    >>> rows = [{"participant": p, "system": "A", "satisfaction": s} for p, s in zip("abcd", (4, 5, 3, 4))]
    >>> print(score_answers(read_answers(rows, find_scale("satisfaction"))))
    satisfaction, from 1 to 5, more is better
    system  participants  sheets  mean    sd   low  high  median
    A                  4       4  4.00  0.82  2.70  5.30    4.00
    <BLANKLINE>
    low and high: 95% interval of the mean over participants (t)
    <BLANKLINE>
    1 warning (.warnings):
      the answers: the interval of A goes beyond the scale, 1 to 5: t takes means of few participants for normal
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of intervals is between 0 and 1, not {level:g}")
    names = list(dict.fromkeys(answers.systems))
    of_participants = participant_scores(answers)
    of_systems = [_system_score(name, answers, of_participants, level) for name in names]
    systems = tuple(sorted(of_systems, key=lambda score: answers.scale.best_first(score.mean)))
    warnings = [*answers.warnings, *_doubts(answers, systems, level)]
    return StudyScores(
        scale=answers.scale,
        level=level,
        systems=systems,
        participants=of_participants,
        alpha=pooled_alpha(answers),
        warnings=tuple(warnings),
    )


def participant_scores(answers: Answers) -> tuple[ParticipantScore, ...]:
    """What each participant gave each system, in the mean; who has no score is not there."""
    given: dict[tuple[str, str], list[float]] = {}
    for participant, system, score in zip(answers.participants, answers.systems, answers.scores.tolist(), strict=True):
        if score == score:
            given.setdefault((participant, system), []).append(score)
    return tuple(ParticipantScore(*who, len(scores), float(np.mean(scores))) for who, scores in given.items())


def turned(answers: Answers) -> Floats:
    """The answers, items turned round that are."""
    scale = answers.scale
    return np.array([scale.turned(item, of) for item, of in zip(scale.items, answers.values.T, strict=True)]).T


def cronbach_alpha(values: Floats) -> float:
    """Cronbach's alpha of values[sheet, item]: k / (k - 1) (1 - Σ variance of items / variance of their sum).

    Sheets that lack an item do not count. NaN for a single item, fewer than two sheets, or sums that are all the same.

    >>> round(cronbach_alpha(np.array([[1.0, 2], [2, 3], [3, 5]])), 4)
    0.9474
    """
    complete = values[~np.isnan(values).any(axis=1)]
    items = complete.shape[1]
    if items < 2 or len(complete) < 2:
        return float("nan")
    sums = complete.sum(axis=1)
    total, parts = float(sums.var(ddof=1)), float(complete.var(axis=0, ddof=1).sum())
    rounding = (ROUNDING * float(np.abs(complete).sum(axis=1).max())) ** 2
    return items / (items - 1) * (1 - parts / total) if total > rounding else float("nan")


def pooled_alpha(answers: Answers) -> float:
    """Cronbach's alpha of all sheets, the mean of each system taken off every item: what systems differ by is no sign
    that items go together."""
    values = turned(answers)[np.isfinite(answers.scores)]
    systems = np.array(answers.systems)[np.isfinite(answers.scores)]
    complete = ~np.isnan(values).any(axis=1)
    values, systems = values[complete], systems[complete]
    centred = values.copy()
    for name in set(systems.tolist()):
        centred[systems == name] -= values[systems == name].mean(axis=0)
    # Around the mean of all, so that what is rounding is told by the size of the answers.
    return cronbach_alpha(centred + values.mean(axis=0)) if len(values) else float("nan")


def _system_score(
    name: str, answers: Answers, of_participants: tuple[ParticipantScore, ...], level: float
) -> SystemScore:
    from scipy.special import stdtrit

    own = np.array([system == name for system in answers.systems]) & np.isfinite(answers.scores)
    means = np.array([score.mean for score in of_participants if score.system == name])
    count = len(means)
    mean, median = (float(means.mean()), float(np.median(means))) if count else (np.nan, np.nan)
    sd = float(means.std(ddof=1)) if count > 1 else np.nan
    half = float(-stdtrit(count - 1, level / 2) * sd / np.sqrt(count)) if count > 1 else np.nan
    alpha = cronbach_alpha(turned(answers)[own])
    return SystemScore(name, count, int(own.sum()), mean, sd, mean - half, mean + half, median, alpha)


def _doubts(answers: Answers, systems: tuple[SystemScore, ...], level: float) -> list[Finding]:
    scale, source = answers.scale, answers.source
    findings = []
    alone = [score.system for score in systems if score.participants < 2]
    if alone:
        message = f"fewer than two participants have a score for {some(alone)}: no {percent(level)} interval"
        findings.append(Finding("one-participant", source, message))
    beyond = [score.system for score in systems if score.low < scale.bottom or score.high > scale.top]
    if beyond:
        which = f"interval of {beyond[0]} goes" if len(beyond) == 1 else f"intervals of {some(beyond)} go"
        ends = f"{scale.bottom:g} to {scale.top:g}"
        message = f"the {which} beyond the scale, {ends}: t takes means of few participants for normal"
        findings.append(Finding("interval-beyond", source, message))
    sheets = int((np.isfinite(answers.scores) & ~np.isnan(answers.values).any(axis=1)).sum())
    alpha = pooled_alpha(answers)
    if len(scale.items) > 1 and sheets < FEW_SHEETS:
        message = (
            f"Cronbach's alpha is that of {plural(sheets, 'whole sheet')}: too few to say whether items go together"
        )
        findings.append(Finding("few-sheets", source, message, doubtful=False))
    elif len(scale.items) > 1 and alpha != alpha:
        message = "no Cronbach's alpha: within systems the sums of answers do not vary from sheet to sheet"
        findings.append(Finding("no-alpha", source, message))
    elif alpha < WEAK:
        message = f"Cronbach's alpha is {alpha:.2f}, below {WEAK:g}: the items hardly measure one thing"
        if alpha < 0:
            message += "; is one of them reversed, and not said to be?"
        findings.append(Finding("weak-scale", source, message))
    return findings
