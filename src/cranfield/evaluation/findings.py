"""What is odd about the inputs, found while they are joined: the warnings of `evaluate`, the report of `check`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError, plural, some
from cranfield.judged import Floats, Judged, Pool
from cranfield.policy import Policy
from cranfield.render.escaping import visible
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure

# Notes of readers that say what was done, not that anything is wrong.
EXPECTED_NOTES = ("comments", "padding", "scores-from-ranks", "partial-topics")
DEPTHS = (1, 5, 10, 20, 50, 100, 1000)
DENSE = 10  # judgements a topic from which unjudged documents are a hole rather than the rule


class Finding(NamedTuple):
    """One oddity: a stable code, which input it is about, a sentence, and whether it makes a number doubtful."""

    code: str
    source: str
    message: str
    doubtful: bool = True

    def __str__(self) -> str:
        return visible(f"{self.source}: {self.message}")


def of_qrels(qrels: Qrels, pool: Pool, policy: Policy | None = None) -> list[Finding]:
    """What is odd about judgements on their own; an error if no number could be right."""
    policy = policy or Policy()
    if np.all(pool.grades < 0):
        raise DataError(
            "nobody has judged it yet: every grade is negative, which says in the pool and not judged",
            source=qrels.origin.path or qrels.name,
            remedy="Give each document a grade. What `cranfield pool` wrote as strata of a sample takes those of its "
            "pool by `cranfield pool --fill QRELS --strata FILE`.",
        )
    if not pool.has_relevant.any():
        raise DataError(
            "nothing is relevant: no grade is above 0",
            source=qrels.origin.path or qrels.name,
            remedy="Every measure would be 0. Is this the right file, and is its last column the grade?",
        )
    findings = [Finding(code, qrels.name, message, doubtful=False) for code, message in qrels.origin.notes]
    if "subtopics" in qrels.columns and all(len(names) == 1 for names in qrels.groups.values()):
        message = "no topic has more than one subtopic: are these plain judgements, whose second column says nothing?"
        findings.append(Finding("one-subtopic", qrels.name, message))
    empty = [pool.topics[t] for t in np.flatnonzero(~pool.has_relevant)]
    if empty:
        counted = policy.empty_topics == "zero"
        done = "scored 0 for every run" if counted else "left out"
        message = f"{plural(len(empty), 'topic')} without a relevant document, {done}: {some(empty)}"
        findings.append(Finding("no-relevant", qrels.name, message, doubtful=counted))
    fractional = int(np.count_nonzero(pool.grades != np.floor(pool.grades)))
    if fractional and policy.grades == "grades" and policy.judges in ("grade", "majority"):
        message = f"{plural(fractional, 'grade')} with a fraction, kept as given; binary measures count grade >= rel"
        findings.append(Finding("fractional-grades", qrels.name, message))
    negative = int(np.count_nonzero(pool.grades < 0))
    if negative:
        message = f"{plural(negative, 'negative grade')}: in the pool but unjudged"
        findings.append(Finding("negative-grades", qrels.name, message, doubtful=False))
    return findings


def of_run(run: Run, judged: Judged, policy: Policy | None = None) -> list[Finding]:
    """What is odd about a run as seen through the judgements; an error if they have no topic in common."""
    policy = policy or Policy()
    if not judged.answered.any():
        raise no_common_topic(run, judged.topics)
    findings = [
        Finding(code, run.name, message, doubtful=code not in EXPECTED_NOTES) for code, message in run.origin.notes
    ]
    wanted = judged.pool.has_relevant if policy.empty_topics == "drop" else True
    missing = [judged.topics[t] for t in np.flatnonzero(~judged.answered & wanted)]
    if missing:
        done = {"qrels": "scored 0", "common": "left out for every run", "run": "left out"}[policy.topics]
        message = f"no answer to {plural(len(missing), 'judged topic')}, {done}: {some(missing)}"
        findings.append(Finding("missing-topics", run.name, message))
    known = set(judged.topics)
    extra = [topic for topic in run.topics if topic not in known]
    if extra:
        message = f"{plural(len(extra), 'topic')} without judgements, left out: {some(extra)}"
        findings.append(Finding("extra-topics", run.name, message, doubtful=False))
    findings += nothing_judged(run, judged)
    disagree = int(run.table.rank_disagreements().sum())
    if disagree:
        message = f"the rank column contradicts the scores in {plural(disagree, 'row')}; the scores decide"
        findings.append(Finding("rank-disagreement", run.name, message))
    tied = int(np.count_nonzero(judged.tie_size > 1))
    if tied and policy.ties in ("docid", "file"):  # otherwise every order is accounted for
        total = int(run.table.tied().sum())
        message = f"{plural(total, 'document')} tied in score, {tied:,} of them judged: their order is a convention"
        findings.append(Finding("ties", run.name, message))
    return findings


def no_common_topic(run: Run, judged: Sequence[str]) -> DataError:
    """What to say of a run that answers none of the judged topics: 0.0 would read as a bad system."""
    return DataError(
        f"no topic in common with the judgements: the run has {some(run.topics, 3)}, the judgements have "
        f"{some(list(judged), 3)}",
        source=run.origin.path or run.name,
        remedy="Is this the right pair of files? Topic ids must be the same text: 0001 is not 1.",
    )


def nothing_judged(run: Run, judged: Judged) -> list[Finding]:
    """Says so if no document of a run is judged."""
    if len(judged.rank):
        return []
    message = "not one retrieved document is judged: are document ids written the same way in both files?"
    return [Finding("nothing-judged", run.name, message)]


def of_sampling(run: Run, measures: Sequence[Measure], errors: Floats, policy: Policy) -> list[Finding]:
    """Which scores are means over random orders of ties or draws of relevance, and how far they may be off."""
    orders, worlds = policy.ties == "expected", policy.grades == "probabilities"
    over = "draws of relevance and order" if orders and worlds else "draws of relevance" if worlds else "orders of ties"
    findings = []
    for measure, error in zip(measures, errors.tolist(), strict=True):
        if error:
            message = f"{measure} is a mean over {policy.samples} random {over}: standard error {error:.1g}"
            code = "sampled-relevance" if worlds else "sampled-ties"
            findings.append(Finding(code, run.name, message, doubtful=False))
    return findings


def of_coverage(run: Run, judged: Judged) -> list[Finding]:
    """How far down the run is judged, and where its lists are short: for `check`."""
    findings = []
    shares = []
    for depth in DEPTHS:
        seen = int(np.minimum(judged.retrieved, depth).sum())
        if seen and depth <= judged.retrieved.max():
            judged_here = int(np.count_nonzero((judged.rank <= depth) & (judged.grade >= 0)))
            shares.append((depth, 1 - judged_here / seen))
    pool = judged.pool
    dense = np.count_nonzero(pool.grades >= 0) / len(pool.topics) >= DENSE
    if shares:
        table = ", ".join(f"{share:.1%} at {depth}" for depth, share in shares)
        doubtful = bool(dense and any(share > 0.2 for depth, share in shares if depth <= 10))
        findings.append(Finding("unjudged", run.name, f"unjudged documents by depth: {table}", doubtful))
    longest = int(judged.retrieved.max())
    short = [judged.topics[t] for t in np.flatnonzero((judged.retrieved > 0) & (judged.retrieved < longest))]
    if short:
        message = f"{plural(len(short), 'list')} shorter than the longest ({longest:,}): {some(short)}"
        findings.append(Finding("short-lists", run.name, message, doubtful=False))
    return findings


def unknown_figures(name: str, figures: Sequence[str]) -> Finding:
    """Figures of efficiency that were asked for and are not in a run's metadata."""
    return Finding("unknown-figures", name, f"no {', '.join(figures)} in its metadata", doubtful=False)


def searched_bounds(measures: Iterable[Measure], name: str) -> list[Finding]:
    """Measures whose bounds are not proven to be the widest."""
    findings = []
    for measure in measures:
        if measure.searches_bounds:
            widest = "the widest that a search found; in long lists wider ones may be possible"
            findings.append(Finding("searched-bounds", name, f"bounds of {measure} are {widest}", doubtful=False))
    return findings


def unreachable_grade(measures: Iterable[Measure], pool: Pool, name: str) -> list[Finding]:
    """Measures whose `rel` is above every grade: their zeros say nothing about a system."""
    findings = []
    for measure in measures:
        rel = measure.parameters.get("rel")
        if rel is not None and rel > pool.max_grade:
            message = f"{measure}: no judgement has grade {rel:g} or above (the highest is {pool.max_grade:g})"
            findings.append(Finding("unreachable-grade", name, message))
    return findings
