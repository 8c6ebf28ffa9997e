"""`evaluate`: judgements and runs in, results out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.efficiency.resources import check_figures
from cranfield.errors import ArgumentError, DataError, UsageError, some
from cranfield.evaluation import findings
from cranfield.evaluation.opinions import Scored, opinions, scored, shown_pool, spread
from cranfield.evaluation.results import Input, Results
from cranfield.formats import distinct_names, read_qrels, read_run
from cranfield.formats.format import Judging
from cranfield.formats.kinds import KINDS
from cranfield.formats.layout import Layout
from cranfield.judged import Floats, Judged, Mask, Pool, aligned, arranged, joined, pool
from cranfield.measures import Measure, as_measures
from cranfield.policy import Policy
from cranfield.tables import Qrels, Run, describe_type, thread_count

if TYPE_CHECKING:
    from cranfield._core import Progress

UNJUDGED = -1e6  # negative says that nobody judged; far below, so that a table of gains does not mean it by chance


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Iterable[str | Measure],
    *,
    policy: Policy | None = None,
    bounds: bool = False,
    judgements: str | None = None,
    known: Any = None,
    lengths: Any = None,
    figures: str | Iterable[str] = (),
    format: Layout | str | None = None,
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
    as judgements; `lengths` of documents are a file or {document: length}. `figures` of efficiency, "p99" or
    "throughput", are read from the metadata of the runs. The result is always a `Results`.

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
    if bounds and policy.grades == "probabilities":
        raise UsageError("bounds are those of grades: probabilities have none")
    ratios = any(measure.is_ratio_of_means for measure in wanted)
    if bounds and ratios:
        raise UsageError("bounds of a ratio of means are not those of its topics: choose another average than ratio")
    figures = check_figures(figures)
    threads = thread_count(threads)
    sources = named_runs(runs)
    read: dict[str, Any] = {"digest": digest, "format": format, "threads": threads, "progress": progress}
    judged_by = read_qrels(qrels, kind=judgements or needed_kind(wanted), **read)
    inputs = [_input(judged_by)]
    if known is not None:
        known = read_qrels(known, **read)
        inputs.append(_input(known))
        judged_by = with_known(judged_by, known)
    length_of: Mapping[str, float] = {}
    if lengths is not None:
        from cranfield.formats.lengths import read_lengths

        length_of, path, digested = read_lengths(lengths, digest)
        inputs.append(Input("lengths", path, digested, len(length_of), 0))
    for measure in wanted:
        measure.check_needs({*judged_by.columns, *(["lengths"] if length_of else [])})
    timed = [measure.definition.needs == "lengths" for measure in wanted]
    pooled = pool(judged_by)
    heard = opinions(judged_by, pooled, policy)
    if (heard is not None or policy.grades == "probabilities") and ratios:
        raise UsageError("several judges and probabilities have no ratio of means: choose another average than ratio")
    if heard is not None and any(timed):
        raise UsageError(f"measures that read lengths take one judge: judges=grade, not {policy.judges}")
    reported = shown_pool(judged_by, pooled, policy, heard)
    warnings = findings.of_qrels(judged_by, reported, policy) + (heard.told if heard else [])
    warnings += findings.searched_bounds(wanted, judged_by.name) if bounds else []
    warnings += findings.unreachable_grade(wanted, reported, judged_by.name)

    # One file: all threads on it. Many: a file a thread. Only what is judged of a run is kept.
    workers = min(threads, len(sources))
    each = threads if workers == 1 else 1
    judging = None if any(timed) else Judging(judged_by.table, policy.ties)

    def seen(run: Run, qrels: Qrels, pooled: Pool, measures: list[Measure]) -> tuple[Judged, Scored]:
        """A run seen through judgements, and its scores with what belongs to them."""
        whole = joined(run, qrels, policy.ties, pooled=pooled, threads=each)
        judged = whole if policy.ties == "expected" else arranged(whole, policy)
        found = scored(whole, measures, policy, heard, bounds)
        if ratios:
            denominators = [measure.denominators(judged) for measure in measures]
            found.cubes.append(np.array(denominators).reshape(len(measures), len(judged.topics)))
        return judged, found

    def one(source: tuple[str | None, Any]) -> tuple[Input, list[findings.Finding], Mask, list[Floats]]:
        name, given = source
        run = read_run(given, name=name, judging=judging, **read | {"threads": each})
        plain = [measure for measure, reads in zip(wanted, timed, strict=True) if not reads]
        judged, found = seen(run, judged_by, pooled, plain)
        scores, errors = found.cubes, found.errors
        if any(timed):
            every = with_lengths(judged_by, run, length_of)
            others = [measure for measure, reads in zip(wanted, timed, strict=True) if reads]
            _, more = seen(run, every, pool(every), others)
            place = np.argsort(np.argsort(timed, kind="stable"))
            scores = [np.concatenate(pair)[place] for pair in zip(scores, more.cubes, strict=True)]
            errors = np.concatenate((errors, more.errors))[place]
        told = findings.of_run(run, judged, policy) + findings.of_sampling(run, wanted, errors, policy)
        return _input(run), told + spread(run.name, wanted, found.single), judged.answered, scores

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
    measured, unknown = _efficiency(names, [run_input.path for run_input, _, _, _ in evaluated], figures)
    warnings += unknown
    cubes = [np.stack(cube) for cube in zip(*(scores for _, _, _, scores in evaluated), strict=True)]
    answered = np.stack([answered for _, _, answered, _ in evaluated])
    topics, cubes = _choose_topics(policy, names, pooled.topics, cubes, answered, reported.has_relevant)
    denominators = cubes.pop() if ratios else None
    scores, lower, upper = cubes if bounds else (cubes[0], None, None)
    told = tuple(warnings)
    return Results(
        tuple(names), wanted, topics, scores, policy, tuple(inputs), told, lower, upper, denominators, measured
    )


def _efficiency(
    names: list[str], paths: list[str | None], figures: tuple[str, ...]
) -> tuple[dict[str, tuple[float | None, ...]], list[findings.Finding]]:
    """Figures of efficiency, and what to say of runs that lack one; a figure that no run has is an error."""
    if not figures:
        return {}, []
    from cranfield.efficiency.metadata import figures_of, no_figure

    measured = figures_of(paths, figures)
    for figure, values in measured.items():
        if all(value is None for value in values):
            raise no_figure(figure, names)
    missing = [[figure for figure, values in measured.items() if values[r] is None] for r in range(len(names))]
    return measured, [findings.unknown_figures(name, of) for name, of in zip(names, missing, strict=True) if of]


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


def with_lengths(qrels: Qrels, run: Run, lengths: Mapping[str, float]) -> Qrels:
    """The judgements with all that a run retrieved, unjudged documents with a negative grade, and a column of lengths.

    >>> run = read_run({"q1": {"d1": 2.0, "d5": 1.0}})
    >>> qrels = with_lengths(read_qrels({"q1": {"d1": 2, "d2": 1}}), run, {"d1": 80, "d5": 120})
    >>> qrels.of("q1"), qrels.columns["lengths"]
    ({'d1': 2.0, 'd2': 1.0, 'd5': -1000000.0}, array([ 80.,  nan, 120.]))
    """
    every: dict[str, dict[str, float]] = {}
    missing: dict[str, None] = {}
    for topic, grades in qrels.to_dict().items():
        retrieved = run.table.documents(topic.encode("utf-8", "surrogateescape"))
        missing |= {document: None for document in retrieved if document not in lengths}
        every[topic] = dict.fromkeys(retrieved, UNJUDGED) | grades
    if missing:
        raise DataError(
            f"retrieved {len(missing):,} documents without a length: {some(list(missing))}",
            source=run.name,
            remedy="Every retrieved document needs one, judged or not: those above it decide when another is reached.",
        )
    made = read_qrels(every)
    column = [lengths.get(document, np.nan) for grades in made.to_dict().values() for document in grades]
    return replace(made, columns={"lengths": np.array(column, dtype=np.float64)})


def _choose_topics(
    policy: Policy, runs: list[str], topics: tuple[str, ...], cubes: list[Floats], answered: Mask, has_relevant: Mask
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
    bare = [run for run, of_run in zip(runs, answered, strict=True) if not (of_run & keep).any()]
    if bare and policy.topics == "run":
        raise DataError(
            "answers no topic with a relevant document, and topics without one were to be left out",
            source=some(bare),
            remedy="A mean over no topic is no number: leave the run out, or let such topics count.",
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


def read_runs(runs: Any, **read: Any) -> list[Run]:
    """The runs as tables, each under a name of its own; `read` is passed on to `read_run`.

    >>> [run.name for run in read_runs({"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d2": 1.0}}})]
    ['a', 'b']
    """
    tables = [read_run(run, name=name, **read) for name, run in named_runs(runs)]
    names = distinct_names([(table.name, table.origin.path) for table in tables])
    return [table.renamed(name) for table, name in zip(tables, names, strict=True)]


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
            raise ArgumentError(
                f"expected {{topic: {{document: score}}}} or {{name: run}}, but a value is {describe_type(first)}"
            )
        return not runs
    return not any(isinstance(value, Mapping) for value in first.values())
