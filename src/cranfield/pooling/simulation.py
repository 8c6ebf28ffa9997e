"""Replays pooling methods on judgements that exist: how much each would have found for how many judgements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, share, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats, Integers, Mask
from cranfield.measures import Measure
from cranfield.pooling.candidates import Plan, Pooled, pooled_runs
from cranfield.pooling.judging import check_planned, checked_budget, checked_rel, replayed
from cranfield.pooling.rejudged import Systems, check_policy
from cranfield.pooling.strategy import Strategy, all_methods, find_method
from cranfield.statistics.coefficients import find_coefficient
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.pooling.learned import PoolTexts

BUDGETS = (10, 20, 50, 100)
TARGETS = (0.75, 0.8, 0.95)  # of recall, whose cost is told
TIMES = (1, 2, 4)  # judgements for each relevant document, after which recall is told


class Replay(NamedTuple):
    """What a method would have found with a budget: judgements made, relevant documents among them, their share of
    all relevant ones, and Kendall's tau-b between the ordering of the runs under these judgements and under all.
    """

    method: str
    budget: int
    judged: int
    relevant: int
    recall: float
    tau: float


class Effort(NamedTuple):
    """What judging costs with a method: for each of `TARGETS` the judgements after which half of the topics have that
    recall (none if fewer ever have), and how many topics have it; and for each of `TIMES` the mean recall of topics
    after so many times their number of relevant documents. All within the largest budget.
    """

    method: str
    needed: tuple[int | None, ...]
    reached: tuple[int, ...]
    recall: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Simulation(PrintedInNotebooks):
    """`found[method][b]` are the relevant documents, of all topics, after b judgements a topic as far as they go."""

    methods: tuple[str, ...]
    budgets: tuple[int, ...]
    rows: tuple[Replay, ...]
    efforts: tuple[Effort, ...]
    beyond_runs: tuple[str, ...]  # methods that may ask for documents that no run has
    found: Mapping[str, Integers]
    topics: tuple[str, ...]
    relevant: int
    measure: str
    depth: int
    seed: int
    warnings: tuple[Finding, ...]

    def of(self, method: str, budget: int) -> Replay:
        """The row of a method and a budget."""
        for row in self.rows:
            if (row.method, row.budget) == (method, budget):
                return row
        raise UsageError(f"{method} was not replayed with a budget of {budget}; methods: {', '.join(self.methods)}")

    def _rendered(self, format: str) -> str:
        from cranfield.pooling.pool_tables import render_simulation

        return render_simulation(self, format)


def simulate(
    experiment: Experiment,
    methods: Iterable[str | Strategy] = (),
    budgets: Sequence[int] = BUDGETS,
    *,
    depth: int | None = None,
    plan: Plan | None = None,
    rel: float = 1,
    measure: str | Measure = "AP",
    seed: int = 0,
) -> Simulation:
    """Replays methods, all that have an order and need no more than runs by default, on the topics that are judged and
    answered by a run. One that reads is given its texts (`find_method("cal").reading(pool_texts(collection))`).

    A budget is a number of judgements a topic. A document without a judgement counts as not relevant and is paid for.

    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d3": 2.0, "d2": 1.0}}}
    >>> experiment = Experiment({"q1": {"d1": 0, "d2": 1, "d3": 0}}, runs)
    >>> [(row.method, row.budget, row.relevant) for row in simulate(experiment, ["depth", "rrf"], [1, 2]).rows]
    [('depth', 1, 0), ('depth', 2, 0), ('rrf', 1, 1), ('rrf', 2, 1)]
    """
    check_policy(experiment)
    wanted = _wanted(methods, plan)
    steps = sorted({checked_budget(budget) or 0 for budget in budgets})
    if not steps:
        raise UsageError("no budget given")
    pooled = pooled_runs(list(experiment.tables()), depth, plan)
    judgements = _judgements(experiment.judgements().qrels, pooled, rel)
    systems = Systems(judgements.qrels, pooled.runs, measure)
    of_texts = [finding for read in _texts(wanted) for finding in read.findings(pooled)]
    replays = {name: _replayed(method, pooled, judgements, steps[-1], seed) for name, method in wanted.items()}
    return Simulation(
        methods=tuple(replays),
        budgets=tuple(steps),
        rows=tuple(_rows(replays, systems, judgements, steps)),
        efforts=tuple(_effort(name, made) for name, made in replays.items()),
        beyond_runs=tuple(name for name, method in wanted.items() if method.beyond_runs(pooled)),
        found={name: made.relevant_after[: made.longest + 1] for name, made in replays.items()},
        topics=judgements.topics,
        relevant=judgements.relevant,
        measure=str(systems.measure),
        depth=max(share.depth for share in pooled.shares),
        seed=seed,
        warnings=(
            *pooled.findings(),
            *of_texts,
            *judgements.warnings,
            *_unjudged(replays.values(), judgements.qrels.name),
        ),
    )


def usual_methods(*, planned: bool, read: bool = False) -> list[Strategy]:
    """All that have an order: with a plan the one that needs it, with texts those that read.

    >>> [method.name for method in usual_methods(planned=False, read=True)][-2:]
    ['hedge', 'cal']
    """
    return [
        method
        for method in all_methods("order", "adaptive")
        if (planned or method.name != "plan") and (read or not method.reads)
    ]


def _wanted(methods: Iterable[str | Strategy], plan: Plan | None) -> dict[str, Strategy]:
    """The methods to replay by their names: all that have an order, if none is named."""
    wanted = {str(method): method for method in map(find_method, methods)}
    if not wanted:
        wanted = {str(method): method for method in usual_methods(planned=plan is not None)}
    for method in wanted.values():
        check_planned(method, plan)
        method.check_texts()
    return wanted


def _texts(methods: Mapping[str, Strategy]) -> list[PoolTexts]:
    """What methods read, each once."""
    return list({id(method.texts): method.texts for method in methods.values() if method.texts is not None}.values())


def _rows(
    replays: Mapping[str, _Made], systems: Systems, judgements: _Judgements, budgets: Sequence[int]
) -> Iterator[Replay]:
    full = systems.averages(systems.scores()[:, judgements.places])
    kendall = find_coefficient("kendall")
    for name, made in replays.items():
        for budget in budgets:
            part = systems.averages(systems.scores(made.when <= budget)[:, judgements.places])
            relevant = int(made.relevant_after[budget])
            share, tau = relevant / judgements.relevant, kendall(full, part)
            yield Replay(name, budget, int(made.judged_after[budget]), relevant, share, tau)


def _unjudged(replays: Collection[_Made], source: str) -> list[Finding]:
    unjudged, requests = sum(made.unjudged for made in replays), sum(int(made.judged_after[-1]) for made in replays)
    if not unjudged:
        return []
    message = f"{share(unjudged / requests, 1)} of the documents asked for have no judgement and count as not relevant"
    return [Finding("unjudged", source, message, doubtful=unjudged > requests / 10)]


class _Judgements(NamedTuple):
    """Judgements as a replay looks them up: for each topic, which rows of the pool its documents have."""

    qrels: Qrels
    topics: tuple[str, ...]
    places: Integers  # of those topics among all judged ones
    rows: Mapping[str, Mapping[str, int]]
    is_relevant: Mask  # for each row
    is_judged: Mask
    relevant: int
    warnings: tuple[Finding, ...]


class _Made(NamedTuple):
    """Judgements made after each step, relevant ones among them, when each row was judged, how many were no rows, the
    most judgements of a topic, and for each topic when it has the recall of each target and its recall after each of
    the times.
    """

    judged_after: Integers
    relevant_after: Integers
    when: Floats
    unjudged: int
    longest: int
    needed: Floats  # needed[topic, target], infinite where it never has it
    recall: Floats  # recall[topic, times]


def _judgements(qrels: Qrels, pooled: Pooled, rel: float) -> _Judgements:
    grades = qrels.table.values()
    rows: dict[str, dict[str, int]] = {}
    row = 0
    for topic, count in zip(qrels.topics, qrels.table.counts().tolist(), strict=True):
        documents = qrels.table.documents(topic.encode("utf-8", "surrogateescape"))
        rows[topic] = dict(zip(documents, range(row, row + count), strict=True))
        row += count
    is_relevant = grades >= max(checked_rel(rel), 0)
    answered = set(pooled.topics)
    has_relevant = {topic for topic, of in rows.items() if is_relevant[list(of.values())].any()}
    topics = tuple(topic for topic in rows if topic in answered and topic in has_relevant)
    if not has_relevant:
        source = qrels.origin.path or qrels.name
        raise DataError(f"not one document has a grade of {rel:g} or more: nothing can be found", source=source)
    if not topics:
        raise DataError(
            f"no topic has both a relevant document and an answer: judged are {some(list(rows), 3)}, answered "
            f"{some(pooled.topics, 3)}",
            source=qrels.origin.path or qrels.name,
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    left_out = {
        "without a relevant document": [topic for topic in rows if topic not in has_relevant],
        "that no run answers": [topic for topic in rows if topic not in answered],
        "without judgements": [topic for topic in pooled.topics if topic not in rows],
    }
    warnings = tuple(
        Finding("topics-left-out", qrels.name, f"{plural(len(names), 'topic')} {why}, left out: {some(names)}")
        for why, names in left_out.items()
        if names
    )
    places = np.array([i for i, topic in enumerate(rows) if topic in set(topics)])
    relevant = sum(int(is_relevant[list(rows[topic].values())].sum()) for topic in topics)
    return _Judgements(qrels, topics, places, rows, is_relevant, grades >= 0, relevant, warnings)


def _replayed(method: Strategy, pooled: Pooled, judgements: _Judgements, budget: int, seed: int) -> _Made:
    judged_at, relevant_at = np.zeros(budget + 1, dtype=np.int64), np.zeros(budget + 1, dtype=np.int64)
    when = np.full(len(judgements.is_relevant), np.inf)
    unjudged = longest = 0
    needed = np.full((len(judgements.topics), len(TARGETS)), np.inf)
    recall = np.zeros((len(judgements.topics), len(TIMES)))
    for place, topic in enumerate(judgements.topics):
        candidates, rows = method.candidates(pooled, topic), judgements.rows[topic]
        row = np.array([rows.get(document, -1) for document in candidates.documents])
        known = row >= 0
        known[known] = judgements.is_judged[row[known]]
        relevant = known & judgements.is_relevant[row]
        answers = relevant.tolist()
        method_at_work = method.started(candidates, candidates.generator(seed))
        order = np.fromiter(replayed(method_at_work, answers.__getitem__, budget), np.int64)
        steps = np.arange(1, len(order) + 1)
        judged_at[steps] += 1
        relevant_at[steps] += relevant[order]
        when[row[order][known[order]]] = steps[known[order]]
        unjudged += int(np.count_nonzero(~known[order]))
        longest = max(longest, len(order))
        needed[place], recall[place] = _costs(relevant[order], int(judgements.is_relevant[list(rows.values())].sum()))
    return _Made(np.cumsum(judged_at), np.cumsum(relevant_at), when, unjudged, longest, needed, recall)


def _costs(relevant: Mask, total: int) -> tuple[Floats, Floats]:
    """After how many judgements a topic has the recall of each target, and its recall after each of the times."""
    found = np.concatenate(([0], np.cumsum(relevant)))
    wanted = np.ceil(np.round(np.array(TARGETS) * total, 9))
    needed = np.searchsorted(found, wanted).astype(float)
    needed[needed == len(found)] = np.inf
    recall: Floats = found[np.minimum(np.array(TIMES) * total, len(found) - 1)] / total
    return needed, recall


def _effort(name: str, made: _Made) -> Effort:
    """The median is the lower one of an even number of topics: a number of judgements that a topic really needs."""
    middle = np.sort(made.needed, axis=0)[(len(made.needed) - 1) // 2]
    needed = tuple(int(count) if np.isfinite(count) else None for count in middle.tolist())
    reached = tuple(np.isfinite(made.needed).sum(axis=0).tolist())
    return Effort(name, needed, reached, tuple(made.recall.mean(axis=0).tolist()))
