"""What may be judged: for each topic the documents that runs retrieved, down to the depth to which each run counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats.grouped import in_order
from cranfield.formats.runs import read_runs
from cranfield.judged import Floats, Integers, Mask
from cranfield.tables import Run

if TYPE_CHECKING:
    from cranfield.formats.given import GivenRuns

DEPTH = 100  # TREC's usual one


class Share(NamedTuple):
    """How far a run counts, and when it is its turn: runs of priority 1 first."""

    depth: int
    priority: int = 1


Plan = Mapping[str, Share]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of one topic, numbered as they come when every run gives its first, then its second, and so on.

    So a document's number goes by its best rank, then by the first run that has it there. `lists` has the numbers of
    each run's documents in rank order, `shares` how far and when each run counts.

    >>> one = Candidates("q1", ("d1", "d2", "d3"), (np.array([0, 1]), np.array([1, 2])), (Share(2), Share(2)))
    >>> one.rank
    array([[ 1.,  2., inf],
           [inf,  1.,  2.]])
    """

    topic: str
    documents: tuple[str, ...]
    lists: tuple[Integers, ...]
    shares: tuple[Share, ...]

    @cached_property
    def rank(self) -> Floats:
        """rank[run, document] from 1; infinite where the run does not have the document."""
        ranks = np.full((len(self.lists), len(self.documents)), np.inf)
        for of_run, documents in zip(ranks, self.lists, strict=True):
            of_run[documents] = np.arange(1, len(documents) + 1)
        return ranks

    @cached_property
    def best_rank(self) -> Integers:
        """The best rank of each document."""
        best: Integers = self.rank.min(axis=0).astype(np.int64)
        return best

    @cached_property
    def retrieved_by(self) -> Mask:
        """retrieved_by[document, run]: whether the run has the document."""
        return np.ascontiguousarray(np.isfinite(self.rank).T)

    @property
    def longest(self) -> int:
        """Documents of the longest list."""
        return max(map(len, self.lists))

    def generator(self, seed: int) -> np.random.Generator:
        """Random numbers of this topic alone: they do not depend on which other topics there are."""
        return np.random.default_rng([seed, crc32(self.topic.encode("utf-8", "surrogateescape"))])


@dataclass(frozen=True, eq=False)
class Pooled:
    """The runs that are pooled, whole, and how far each counts."""

    runs: tuple[Run, ...]
    shares: tuple[Share, ...]
    asked: tuple[str, ...] = ()  # topics, where there is no run that could answer them

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(run.name for run in self.runs)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Every topic that a run answers; without runs, every topic that is asked."""
        return in_order(chain(self.asked, *(run.topics for run in self.runs)))

    def of(self, topic: str) -> Candidates:
        """The candidates of one topic."""
        key = topic.encode("utf-8", "surrogateescape")
        retrieved = [run.table.documents(key)[: share.depth] for run, share in zip(self.runs, self.shares, strict=True)]
        turns = dict.fromkeys(chain.from_iterable(zip_longest(*retrieved)))
        turns.pop(None, None)  # what zip_longest puts where a list has ended
        number = {document: i for i, document in enumerate(turns)}
        lists = tuple(np.fromiter(map(number.__getitem__, ids), np.int64, len(ids)) for ids in retrieved)
        return Candidates(topic, tuple(turns), lists, self.shares)

    def __iter__(self) -> Iterator[Candidates]:
        return map(self.of, self.topics)

    def findings(self) -> list[Finding]:
        """Runs that lack topics which others answer."""
        findings = []
        for run in self.runs:
            answered = set(run.topics)
            missing = [topic for topic in self.topics if topic not in answered]
            if missing:
                message = f"adds nothing to the pools of {plural(len(missing), 'topic')} it lacks: {some(missing)}"
                findings.append(Finding("missing-topics", run.name, message))
        return findings


def pooled_runs(runs: GivenRuns, depth: int | None = None, plan: Plan | None = None) -> Pooled:
    """Reads runs, as `evaluate` takes them, to be pooled to a depth, or each to that of a plan.

    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d3": 1.0}}}
    >>> pooled_runs(runs).of("q1").documents, pooled_runs(runs, depth=1).of("q1").documents
    (('d1', 'd2', 'd3'), ('d1', 'd2'))
    """
    if depth is not None and (isinstance(depth, bool) or not isinstance(depth, int) or depth < 1):
        raise UsageError(f"depth must be a whole number from 1, not {depth!r}")
    if depth is not None and plan is not None:
        raise UsageError("a depth for all runs and a plan with the depth of each exclude each other")
    named = tuple(read_runs(runs))
    names = [run.name for run in named]
    if plan is None:
        return Pooled(named, (Share(depth or DEPTH),) * len(named))
    _check_plan(plan, names)
    return Pooled(named, tuple(plan[name] for name in names))


def _check_plan(plan: Plan, names: Sequence[str]) -> None:
    unplanned = [name for name in names if name not in plan]
    if unplanned:
        remedy = "Every run needs a depth, or it would be left out of the pool in silence."
        raise DataError(
            f"no depth for {plural(len(unplanned), 'run')}: {some(unplanned)}", source="plan", remedy=remedy
        )
    unknown = [name for name in plan if name not in names]
    if unknown:
        remedy = f"The runs are {some(names)}."
        message = f"a depth for {plural(len(unknown), 'run')} that {'is' if len(unknown) == 1 else 'are'} not there"
        raise DataError(f"{message}: {some(unknown)}", source="plan", remedy=remedy)
