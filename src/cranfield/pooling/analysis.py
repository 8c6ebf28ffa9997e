"""What each run added to a pool, and what would be wrong about a run that had not been pooled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import DEPTHS, Finding, of_qrels, of_run
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats, Integers, Judged, Mask
from cranfield.measures import Measure
from cranfield.pooling.judging import checked_rel
from cranfield.pooling.missing import LEAST_DEPTH, Missing, estimate_missing
from cranfield.pooling.rejudged import NOWHERE, Systems, check_policy
from cranfield.pooling.reusability import Reusability, verdict_of
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.significance import Sampling
from cranfield.statistics.tau_ap import first_ranks
from cranfield.tables import Qrels, Run


class Contribution(NamedTuple):
    """What a run or a group brought into the pool: documents judged, relevant ones, and those that nobody else had."""

    name: str
    judged: int
    relevant: int
    only_judged: int
    only_relevant: int


class LeftOutRun(NamedTuple):
    """A run's score and rank with its own documents in the pool, and without those that only it (its group) had.

    `sign` is the measure's: -1 where less is better.
    """

    run: str
    score: float
    score_without: float
    rank: int
    rank_without: int
    sign: int = 1

    @property
    def loss(self) -> float:
        """By what share of it the run's score becomes worse."""
        return self.sign * (self.score - self.score_without) / abs(self.score) if self.score else 0.0

    @property
    def drop(self) -> int:
        """How many ranks it falls."""
        return self.rank_without - self.rank


class LeftOut(NamedTuple):
    """Everything as if a run or a group had not been pooled: its runs, and how all runs are then ordered."""

    name: str
    runs: tuple[LeftOutRun, ...]
    tau: float
    tau_ap: float


class JudgedShare(NamedTuple):
    """The share of retrieved documents that is judged, down to a depth: of the run with the least, mean, the most."""

    depth: int
    least: float
    mean: float
    most: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PoolAnalysis(PrintedInNotebooks):
    """A pool taken apart. `depth` is how far runs count as pooled; None: as far as they go."""

    measure: str
    depth: int | None
    judged_depth: int
    topics: int
    judged: int
    relevant: int
    nobodys: int
    contributions: tuple[Contribution, ...]
    left_out: tuple[LeftOut, ...]
    group_contributions: tuple[Contribution, ...]
    groups_left_out: tuple[LeftOut, ...]
    shares: tuple[JudgedShare, ...]
    missing: Missing | None
    verdict: Reusability
    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        from cranfield.pooling.pool_tables import render_analysis

        return render_analysis(self, format)


def analyse(
    experiment: Experiment,
    *,
    groups: Mapping[str, str] | None = None,
    depth: int | None = None,
    measure: str | Measure = "AP",
    rel: float = 1,
    sampling: Sampling | None = None,
) -> PoolAnalysis:
    """Takes the pool behind judgements apart, given the runs that it was made from.

    `depth` is how far runs were pooled. By default it is the depth down to which all of them are judged, if that is
    10 at least; otherwise every judged document that a run retrieved anywhere counts as its own. `groups` says whose
    run each is: runs of one group share documents, so that leaving out one of them shows little.

    >>> runs = {"a": {"q1": {"d1": 3.0, "d2": 2.0}}, "b": {"q1": {"d2": 2.0, "d3": 1.0}}}
    >>> analysis = analyse(Experiment({"q1": {"d1": 1, "d2": 0, "d3": 1}}, runs))
    >>> analysis.contributions[0]
    Contribution(name='a', judged=2, relevant=1, only_judged=1, only_relevant=1)
    >>> analysis.left_out[0].runs[0]
    LeftOutRun(run='a', score=0.5, score_without=0.0, rank=1, rank_without=2, sign=1)
    """
    check_policy(experiment)
    qrels, runs = experiment.judgements().qrels, experiment.tables()
    names = [run.name for run in runs]
    if len(names) < 2:
        raise UsageError("a pool of one run has nobody to compare with: give at least two runs")
    systems = Systems(qrels, runs, measure)
    judged_depth = _judged_depth(systems.judged)
    if depth is None:
        depth = judged_depth if judged_depth >= LEAST_DEPTH else None
    grades = systems.pool.grades
    pooled_by = _pooled_by(systems.ranks, grades, depth, qrels)
    is_relevant = grades >= max(checked_rel(rel), 0)
    parts = _parts(systems, names, {name: np.array([i]) for i, name in enumerate(names)}, pooled_by, is_relevant)
    whose = _members(names, groups) if groups is not None else {}
    of_groups = _parts(systems, names, whose, pooled_by, is_relevant)
    missing, doubts = _missing(systems, is_relevant, depth, judged_depth, sampling)
    return PoolAnalysis(
        measure=str(systems.measure),
        depth=depth,
        judged_depth=judged_depth,
        topics=len(systems.pool.topics),
        judged=int(np.count_nonzero(grades >= 0)),
        relevant=int(np.count_nonzero(is_relevant)),
        nobodys=int(np.count_nonzero(is_relevant & ~pooled_by.any(axis=0))),
        contributions=parts.contributions,
        left_out=parts.left_out,
        group_contributions=of_groups.contributions,
        groups_left_out=of_groups.left_out,
        shares=tuple(_judged_share(systems.judged, at) for at in DEPTHS if _reached(systems.judged, at)),
        missing=missing,
        verdict=verdict_of(of_groups.left_out or parts.left_out, len(names), missing),
        warnings=tuple(dict.fromkeys([*_findings(qrels, runs, systems), *doubts])),
    )


def _findings(qrels: Qrels, runs: Sequence[Run], systems: Systems) -> Iterator[Finding]:
    yield from of_qrels(qrels, systems.pool)
    for run, seen in zip(runs, systems.judged, strict=True):
        yield from of_run(run, seen)


def _pooled_by(ranks: NDArray[np.int32], grades: Floats, depth: int | None, qrels: Qrels) -> Mask:
    """pooled_by[run, judgement]: whether the run brought the judged document into the pool."""
    if not ((ranks < NOWHERE) & (grades >= 0)).any():
        raise DataError(
            "not one judged document was retrieved by any of these runs: they are not those that were pooled",
            source=qrels.origin.path or qrels.name,
            remedy="Document ids must be the same text in runs and judgements.",
        )
    return np.logical_and(ranks < NOWHERE if depth is None else ranks <= depth, grades >= 0)


class _Parts(NamedTuple):
    """What each run or each group brought into the pool, and everything as if it had not been pooled."""

    contributions: tuple[Contribution, ...]
    left_out: tuple[LeftOut, ...]


def _parts(
    systems: Systems, names: Sequence[str], members: Mapping[str, Integers], pooled_by: Mask, is_relevant: Mask
) -> _Parts:
    full = systems.averages(systems.scores())
    return _Parts(
        tuple(_contribution(name, of, pooled_by, is_relevant) for name, of in members.items()),
        tuple(_left_out(systems, names, name, of, _only(pooled_by, of), full) for name, of in members.items()),
    )


def _members(names: Sequence[str], groups: Mapping[str, str]) -> dict[str, Integers]:
    """The runs of each group; every run must have one."""
    without = [name for name in names if name not in groups]
    if without:
        remedy = "Every run needs a group, one of its own if it belongs to nobody else."
        raise DataError(f"no group for {plural(len(without), 'run')}: {some(without)}", source="groups", remedy=remedy)
    members: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        members.setdefault(groups[name], []).append(i)
    if len(members) < 2:
        raise DataError(f"all runs are of one group, {next(iter(members))}: without it nobody is left", source="groups")
    return {group: np.array(of) for group, of in members.items()}


def _only(pooled_by: Mask, members: Integers) -> Mask:
    """The documents that these runs have and no other."""
    others = np.delete(pooled_by, members, axis=0)
    return np.logical_and(pooled_by[members].any(axis=0), ~others.any(axis=0))


def _contribution(name: str, members: Integers, pooled_by: Mask, is_relevant: Mask) -> Contribution:
    theirs, only = pooled_by[members].any(axis=0), _only(pooled_by, members)
    counts = (theirs, theirs & is_relevant, only, only & is_relevant)
    return Contribution(name, *(int(np.count_nonzero(count)) for count in counts))


def _left_out(
    systems: Systems, names: Sequence[str], name: str, members: Integers, only: Mask, full: Floats
) -> LeftOut:
    without = systems.averages(systems.scores(~only)) if only.any() else full
    sign = systems.measure.sign
    gains, gains_without = sign * full, sign * without
    before, after = first_ranks(gains), first_ranks(gains_without)
    runs = tuple(
        LeftOutRun(names[i], float(full[i]), float(without[i]), int(before[i]), int(after[i]), sign)
        for i in members.tolist()
    )
    tau, tau_ap = (find_coefficient(coefficient)(gains, gains_without) for coefficient in ("kendall", "tau_ap_b"))
    return LeftOut(name, runs, tau, tau_ap)


def _judged_depth(judged: Sequence[Judged]) -> int:
    """The rank down to which all runs are judged on every topic; a list that is judged to its end sets no limit."""
    first_unjudged = [int(seen.unjudged.rank.min()) for seen in judged if len(seen.unjudged.rank)]
    return min(first_unjudged) - 1 if first_unjudged else max(int(seen.retrieved.max()) for seen in judged)


def _reached(judged: Sequence[Judged], depth: int) -> bool:
    return any(int(seen.retrieved.max()) >= depth for seen in judged)


def _judged_share(judged: Sequence[Judged], depth: int) -> JudgedShare:
    shares = [
        np.count_nonzero((seen.rank <= depth) & (seen.grade >= 0)) / max(np.minimum(seen.retrieved, depth).sum(), 1)
        for seen in judged
    ]
    return JudgedShare(depth, float(min(shares)), float(np.mean(shares)), float(max(shares)))


def _missing(
    systems: Systems, is_relevant: Mask, depth: int | None, judged_depth: int, sampling: Sampling | None
) -> tuple[Missing | None, list[Finding]]:
    """How many relevant documents are likely missing, where the pool's depth is known."""
    if depth is None:
        message = (
            f"some run has an unjudged document at rank {judged_depth + 1} already, so that the depth of the pool "
            "cannot be seen: give it (--depth) to learn how many relevant documents the pool is likely to have missed"
        )
        return None, [Finding("pool-depth", "pool", message)]
    findings = []
    if judged_depth < depth:
        message = f"not all documents down to rank {depth} are judged: the number of missing ones comes out low"
        findings.append(Finding("pool-depth", "pool", message))
    best = systems.ranks.min(axis=0)
    new = np.zeros((len(systems.pool.topics), depth), dtype=np.int64)
    inside = is_relevant & (best <= depth)
    np.add.at(new, (systems.pool.topic[inside], best[inside] - 1), 1)
    made = estimate_missing(new, sampling=sampling)
    if made is None:
        message = f"too few relevant documents come in below the first tenth of {plural(depth, 'rank')} to extrapolate"
        findings.append(Finding("few-relevant", "pool", message))
    return made, findings
