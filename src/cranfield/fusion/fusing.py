"""`fuse`: runs in, one run out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield import _core
from cranfield.efficiency.metadata import run_metadata, tuning_of
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import EXPECTED_NOTES, Finding
from cranfield.formats import distinct_names, read_run, stem
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.runs import named_runs
from cranfield.fusion.lists import Floats, Lists, gathered
from cranfield.fusion.method import Method, Normalisation, find_method, find_normalisation
from cranfield.notation import Value
from cranfield.render.json_form import Json, plain
from cranfield.tables import Origin, Run, side_by_side, thread_count

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns

DEPTH = 1000
HARMLESS = (*EXPECTED_NOTES, "train-topics")  # notes that put no number in doubt
ROWS_AT_ONCE = 200_000  # of the lists of all runs: what is computed with stays in the cache


def fuse(
    runs: GivenRuns,
    method: str = "rrf",
    *,
    norm: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    depth: int = DEPTH,
    name: str | None = None,
    reading: Reading = DEFAULT,
) -> Run:
    """Fuses runs into one by a method such as "rrf" or "combmnz"; docs/fusion.md has them all.

    Each run is anything `read_run` takes; several come as a list, or as {name: run}. `norm` makes scores comparable
    first: min-max unless another is named; methods that look at ranks alone have no use for it. `parameters` are the
    method's own, such as {"k": 30} or {"weights": [0.7, 0.3]}; `train_fusion` learns them. The result has `depth`
    documents a topic at most, ties by document id as in every run. A topic that some runs lack is fused from those
    that have it, and a note says so.

    >>> a = {"q1": {"d1": 3.0, "d2": 2.0}}
    >>> b = {"q1": {"d2": 9.0, "d3": 8.0}}
    >>> fuse([a, b], "combsum").of("q1")
    {'d2': 1.0, 'd1': 1.0, 'd3': 0.0}
    >>> fuse([a, b], "rrf", parameters={"k": 0}).of("q1")
    {'d2': 1.5, 'd1': 1.0, 'd3': 0.5}
    """
    threads = thread_count(reading.threads)
    recipe = Recipe.of(method, norm, depth)
    sources = Sources.read(runs, reading)
    values = recipe.method.checked(parameters or {}, len(sources.tables))
    parts = fused_parts(sources, sources.topics, recipe, values, threads)
    return fused_run(parts, sources, name or recipe.method.name, threads)


class Sources(NamedTuple):
    """The runs to fuse: their names, where they are from, their tables, and for each topic how many runs have it.

    `oddities` are what readers of the fused run must know of them.
    """

    names: tuple[str, ...]
    origins: tuple[str, ...]
    tables: tuple[_core.Table, ...]
    answered: Mapping[str, int]
    oddities: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, runs: GivenRuns, reading: Reading) -> Sources:
        """Reads one run a thread."""
        named = named_runs(runs)
        if len(named) < 2:
            raise UsageError("one run alone has nothing to be fused with: give two runs or more")
        threads = thread_count(reading.threads)
        threads_each = max(1, threads // len(named))

        def read(source: tuple[str | None, Given]) -> Run:
            return read_run(source[1], name=source[0], reading=reading.in_threads(threads_each))

        read_runs = side_by_side(read, named, threads)
        answered: dict[str, int] = {}
        for run in read_runs:
            for topic in run.topics:
                answered[topic] = answered.get(topic, 0) + 1
        if max(answered.values()) < 2:
            own = "; ".join(f"{run.name} has {some(run.topics, 2)}" for run in read_runs[:2])
            raise DataError(f"no topic is in two runs, so that there is nothing to fuse: {own}")
        names = distinct_names([(run.name, run.origin.path) for run in read_runs])
        origins = (run.origin.path or name for run, name in zip(read_runs, names, strict=True))
        oddities = [odd for run, name in zip(read_runs, names, strict=True) for odd in _oddities(run, name)]
        return cls(tuple(names), tuple(origins), tuple(run.table for run in read_runs), answered, tuple(oddities))

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(self.answered)

    def notes(self, topics: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """What is odd about the runs, and which topics were fused from some of them only."""
        partial = [topic for topic in topics if self.answered[topic] < len(self.tables)]
        if not partial:
            return self.oddities
        note = f"{plural(len(partial), 'topic')} not in every run, fused from those that have them: {some(partial)}"
        return (*self.oddities, ("partial-topics", note))


def _oddities(run: Run, name: str) -> Iterator[tuple[str, str]]:
    for code, note in run.origin.notes:
        if code not in HARMLESS:
            yield code, f"{name}: {note}"
    disagree = int(run.table.rank_disagreements().sum())
    if disagree:  # as where low scores are the good ones: the run is then fused upside down
        note = f"the rank column contradicts the scores in {plural(disagree, 'row')}; the scores decide"
        yield "rank-disagreement", f"{name}: {note}"


class Recipe(NamedTuple):
    """How to fuse, but for the parameters."""

    method: Method
    norm: Normalisation
    depth: int

    @classmethod
    def of(cls, method: str, norm: str | None, depth: int) -> Recipe:
        chosen = find_method(method)
        if norm is not None and chosen.by_rank:
            raise UsageError(f"{chosen.name} looks at ranks alone, which no normalisation changes: leave '{norm}' out")
        normalisation = find_normalisation(norm or ("none" if chosen.by_rank else "min-max"))
        if chosen.with_ranks and not normalisation.keeps_ranks:
            problem = f"looks at ranks too, which {normalisation.name} does not keep: choose another"
            raise UsageError(f"{chosen.name} {problem}")
        if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
            raise UsageError(f"depth must be a whole number from 1, not {depth!r}")
        return cls(chosen, normalisation, depth)


def fused_parts(
    sources: Sources, topics: Sequence[str], recipe: Recipe, parameters: Mapping[str, Value], threads: int
) -> list[_core.Ranked]:
    """The fused rankings of some topics, a part for every few of them: memory is that of a few topics at a time."""
    rows = sum(table.row_count for table in sources.tables)
    at_once = max(1, ROWS_AT_ONCE * len(sources.answered) // rows)

    def fused(few: Sequence[str]) -> _core.Ranked:
        lists = gathered(sources.origins, sources.tables, tuple(few))
        with np.errstate(all="ignore"):  # what comes of it is looked at below
            return lists.gathered.ranked(fused_scores(lists, recipe, parameters), recipe.depth)

    return side_by_side(fused, [topics[i : i + at_once] for i in range(0, len(topics), at_once)], threads)


def fused_scores(lists: Lists, recipe: Recipe, parameters: Mapping[str, Value]) -> Floats:
    """A finite score for each document of the lists."""
    if not recipe.method.by_rank:
        remedy = "Fuse by ranks, as with rrf, or take such scores out of the run."
        lists.refuse(~np.isfinite(lists.best) | ~np.isfinite(lists.worst), "has an infinite score", remedy)
        lists = recipe.norm.function(lists)
    scores = recipe.method.function(lists, **parameters)
    if not np.isfinite(scores).all():
        at = int(np.argmin(np.isfinite(scores)))
        topic = lists.topics[int(np.searchsorted(lists.document_offsets, at, side="right")) - 1]
        raise DataError(
            f"topic {topic}, document {lists.gathered.document_id(at)}: {recipe.method.name} gives no finite number",
            remedy="Scores or parameters are too large to compute with: normalise, or fuse by ranks, as with rrf.",
        )
    return np.ascontiguousarray(scores, dtype=np.float64)


def fused_run(parts: list[_core.Ranked], sources: Sources, name: str, threads: int) -> Run:
    """The parts as one run, with what must be said about them."""
    table = _core.ranked_table(parts, threads)
    return Run(table, Origin(name, tag=name, notes=sources.notes(table.topics())))


def findings(run: Run) -> tuple[Finding, ...]:
    """What must be said of a fused run."""
    return tuple(Finding(code, run.name, note, doubtful=code not in HARMLESS) for code, note in run.origin.notes)


def with_tuned_runs(
    tuning: Mapping[str, Json] | None, runs: Sequence[str]
) -> tuple[dict[str, Json] | None, list[Finding]]:
    """What a fusion was tuned on, with what its runs were: who tests the fusion tests them. And what is not known.

    >>> with_tuned_runs({"method": "rrf"}, ["examples/bm25.run"])
    ({'method': 'rrf'}, [])
    """
    of_runs: list[Json] = []
    doubts = []
    for path in runs:
        try:
            record = tuning_of(path)
        except DataError as error:
            message = f"what it was tuned on is not known: {error.message} ({error.source})"
            doubts.append(Finding("unreadable-metadata", stem(path), message, doubtful=False))
        else:
            of_runs += [{"run": stem(path), **record}] if record else []
    parts: dict[str, Json] = {**(tuning or {}), **({"of runs": of_runs} if of_runs else {})}
    return parts or None, doubts


def fusion_metadata(
    tag: str,
    runs: Sequence[str],
    method: str,
    *,
    norm: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    depth: int = DEPTH,
    learnt_from: str | None = None,
    command: Iterable[str] = (),
) -> dict[str, Json]:
    """What was done to runs, as their fused run's metadata have it.

    >>> fusion_metadata("rrf", ["a.run", "b.run"], "rrf", parameters={"k": 30})["method"]["fusion"]
    [{'name': 'rrf', 'k': 30, 'depth': 1000}]
    """
    own = {name: plain(value) for name, value in (parameters or {}).items()}
    settings = {"normalisation": norm, **own, "depth": depth, "learnt from": learnt_from}
    fusion = {"name": method, **{name: value for name, value in settings.items() if value is not None}}
    described: dict[str, Json] = {"automatic": True, "fusion": [fusion]}
    return run_metadata(tag, method=described, data={"runs": list(runs)}, command=command)
