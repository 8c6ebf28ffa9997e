"""`evaluate`: judgements and runs in, results out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield import findings
from cranfield.errors import DataError, UsageError
from cranfield.expected import expected_scores
from cranfield.formats import read_qrels, read_run
from cranfield.formats.base import Judging
from cranfield.formats.kinds import KINDS
from cranfield.judged import Floats, Mask, aligned, joined, judge, pool
from cranfield.measures import Measure, as_measures
from cranfield.policy import Policy
from cranfield.results import Input, Results
from cranfield.tables import Qrels, Run, describe_type, thread_count

if TYPE_CHECKING:
    from cranfield._core import Progress


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    bounds: bool = False,
    judgements: str | None = None,
    known: Any = None,
    format: str | None = None,
    digest: str | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluates one run or many against judgements.

    `qrels` and each run are anything `read_qrels` and `read_run` take: a path, a dict of dicts, a data frame, arrays.
    Several runs come as a list, or as {name: run}. `measures` are names ("nDCG@10") or Measure objects. `policy`
    holds every decision that changes a number. `bounds` adds the least and the most each score could be, whatever the
    unjudged documents retrieved are worth. `judgements` is the kind of judgements in `qrels`, where they say more than
    a grade; by default the kind that a measure needs, or plain ones. `known` are documents the user knew before,
    as judgements. The result is always a `Results`.

    >>> qrels = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}
    >>> a = {"q1": {"d1": 3.0, "d2": 2.0}, "q2": {"d3": 1.5}}
    >>> b = {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"d4": 9.0, "d3": 1.5}}
    >>> print(evaluate(qrels, {"a": a, "b": b}, ["nDCG@10", "AP"]))
    run  nDCG@10      AP
    a     1.0000  1.0000
    b     0.6309  0.5000
    """
    wanted = as_measures(measures)
    policy = policy or Policy()
    if bounds and policy.ties == "expected":
        raise UsageError("bounds are those of one order: choose another policy for ties than expected")
    threads = thread_count(threads)
    sources = named_runs(runs)
    read: dict[str, Any] = {"digest": digest, "format": format, "threads": threads, "progress": progress}
    judged_by = read_qrels(qrels, kind=judgements or needed_kind(wanted), **read)
    inputs = [_input(judged_by)]
    if known is not None:
        known = read_qrels(known, **read)
        inputs.append(_input(known))
        judged_by = with_known(judged_by, known)
    for measure in wanted:
        measure.check_needs(judged_by.columns)
    pooled = pool(judged_by)
    warnings = findings.of_qrels(judged_by, pooled)
    warnings += findings.unreachable_grade(wanted, pooled, judged_by.name)

    # One file: all threads on it. Many: a file a thread. Only what is judged of a run is kept.
    workers = min(threads, len(sources))
    each = threads if workers == 1 else 1
    judging = Judging(judged_by.table, policy.ties)

    def one(source: tuple[str | None, Any]) -> tuple[Input, list[findings.Finding], Mask, list[Floats]]:
        name, given = source
        run = read_run(given, name=name, judging=judging, **read | {"threads": each})
        if policy.ties == "expected":
            judged = joined(run, judged_by, policy.ties, pooled=pooled, threads=each)
            expected, errors = expected_scores(judged, wanted, policy)
            scores = [expected]
            told = findings.of_sampling(run, wanted, errors, policy)
        else:
            judged = judge(run, judged_by, policy, pooled=pooled, threads=each)
            scores = [np.array([measure.per_topic(judged) for measure in wanted])]
            if bounds:
                pairs = [measure.bounds(judged) for measure in wanted]
                scores += [np.array([pair[side] for pair in pairs]) for side in (0, 1)]
            told = []
        return _input(run), findings.of_run(run, judged, policy.ties) + told, judged.answered, scores

    if workers == 1:
        evaluated = [one(source) for source in sources]
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as executor:
            evaluated = list(executor.map(one, sources))

    names = distinct_names([(run_input.name, run_input.path) for run_input, _, _, _ in evaluated])
    inputs += [run_input for run_input, _, _, _ in evaluated]
    for _, found, _, _ in evaluated:
        warnings += found
    cubes = [np.stack(cube) for cube in zip(*(scores for _, _, _, scores in evaluated), strict=True)]
    answered = np.stack([answered for _, _, answered, _ in evaluated])
    topics, cubes = _choose_topics(policy, pooled.topics, cubes, answered, pooled.has_relevant)
    scores, lower, upper = cubes if bounds else (cubes[0], None, None)
    return Results(tuple(names), wanted, topics, scores, policy, tuple(inputs), tuple(warnings), lower, upper)


def needed_kind(measures: Iterable[Measure]) -> str:
    """The kind of judgements that measures need: plain ones unless one needs more."""
    needs = (measure.definition.needs or "" for measure in measures)
    return next((need for need in needs if need in KINDS), "plain")


def with_known(qrels: Qrels, known: Qrels) -> Qrels:
    """The judgements with a column that tells which documents the user knew before: those of a grade above 0.

    >>> qrels = with_known(read_qrels({"q1": {"d1": 2, "d2": 1}}), read_qrels({"q1": {"d2": 1, "d7": 1}}))
    >>> qrels.columns["known"].tolist()
    [False, True]
    """
    return replace(qrels, columns={**qrels.columns, "known": aligned(known, qrels) > 0})


def _choose_topics(
    policy: Policy, topics: tuple[str, ...], cubes: list[Floats], answered: Mask, has_relevant: Mask
) -> tuple[tuple[str, ...], list[Floats]]:
    """Which topics count: those of the qrels, those all runs answer, or for each run its own."""
    keep = np.ones(len(topics), dtype=bool)
    if policy.empty_topics == "drop":
        keep &= has_relevant
    if policy.topics == "common":
        keep &= answered.all(axis=0)
    elif policy.topics == "run":
        cubes = [np.where(answered[:, None, :], cube, np.nan) for cube in cubes]
        keep &= answered.any(axis=0)
    if not keep.any():
        raise DataError(
            f"no topic is left under the policy topics={policy.topics}, empty_topics={policy.empty_topics}",
            remedy="The runs share no judged topic, or none of those they share has a relevant document.",
        )
    return tuple(topic for topic, kept in zip(topics, keep.tolist(), strict=True) if kept), [
        cube[:, :, keep] for cube in cubes
    ]


def _input(table: Run | Qrels) -> Input:
    origin = table.origin
    return Input(origin.name, origin.path, origin.digest, len(table), len(table.topics), origin.tag)


def named_runs(runs: Any) -> list[tuple[str | None, Any]]:
    """The runs one by one, with the names given to them: one run of any kind, a list of runs, or {name: run}."""
    if isinstance(runs, Mapping) and not _is_one_run(runs):
        named: list[tuple[str | None, Any]] = [(str(name), run) for name, run in runs.items()]
    elif isinstance(runs, list) and not hasattr(next(iter(runs), None), "_fields"):
        named = [(None, run) for run in runs]
        if len(runs) > 1:
            named = [(None if _has_a_name(run) else f"run{i}", run) for i, run in enumerate(runs, start=1)]
    else:
        named = [(None, runs)]
    if not named:
        raise UsageError("no run given")
    return named


def _has_a_name(run: Any) -> bool:
    return isinstance(run, Run | str | os.PathLike) or hasattr(run, "read")


def _is_one_run(runs: Mapping[Any, Any]) -> bool:
    """Whether this is {topic: {document: score}} rather than {name: run}."""
    first = next(iter(runs.values()), None)
    if not isinstance(first, Mapping):
        known = (
            isinstance(first, Run | str | os.PathLike | tuple)
            or hasattr(first, "read")
            or hasattr(first, "__arrow_c_stream__")
        )
        if runs and not known:
            raise TypeError(
                f"expected {{topic: {{document: score}}}} or {{name: run}}, but a value is {describe_type(first)}"
            )
        return not runs
    return not any(isinstance(value, Mapping) for value in first.values())


def distinct_names(named: list[tuple[str, str | None]]) -> list[str]:
    """Names that tell runs apart: files of one name get their folders, anything else a number.

    >>> distinct_names([("bm25", "a/bm25.run"), ("bm25", "b/bm25.run"), ("x", None)])
    ['a/bm25.run', 'b/bm25.run', 'x']
    """
    names = [name for name, _ in named]
    unique = (
        [name if names.count(name) == 1 else path or name for name, path in named]
        if len(set(names)) < len(names)
        else names
    )
    seen: dict[str, int] = {}
    out = []
    for name in unique:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out
