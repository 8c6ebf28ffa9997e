"""The experiment: judgements, runs, the policy and how they are read. Every use case starts from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from cranfield.errors import DataError, UsageError, all_told, plural, some
from cranfield.formats import distinct_names, read_qrels, read_run, stem
from cranfield.formats.format import Judging
from cranfield.formats.given import is_file
from cranfield.formats.kinds import KINDS
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.runs import is_ranked_run, named_runs, told_apart
from cranfield.judged import Judged, Pool, aligned, arranged, joined, pool
from cranfield.measures.registry import Measure
from cranfield.policy import Policy
from cranfield.records import NamedTuple, dataclass
from cranfield.tables import Qrels, Run, describe_type, side_by_side, thread_count

if TYPE_CHECKING:
    from cranfield.evaluation.findings import Finding
    from cranfield.evaluation.results import Results
    from cranfield.formats.given import File, Given, GivenRuns, Value
    from cranfield.formats.lengths import Lengths

UNJUDGED = -1e6  # negative says that nobody judged; far below, so that a table of gains does not mean it by chance
Made = TypeVar("Made")
AnyTable = TypeVar("AnyTable", Run, Qrels)
Source = TypeVar("Source")
GivenLengths: TypeAlias = "File | Mapping[str, Value]"
NamedSource: TypeAlias = "tuple[str | None, Given]"  # a run, and the name it was given


class Input(NamedTuple):
    """A file or object that was read: what for, and what it held."""

    name: str
    path: str | None
    digest: str | None
    rows: int
    topics: int
    tag: str = ""
    role: str = "run"
    format: str = "memory"


class Judgements(NamedTuple):
    """Judgements of one kind, with what the user knew before as a column, and the pool that measures see.

    They are those of the policy's topic set where it has one; `whole` is the pool of all topics, and `source` says what
    was read.
    """

    qrels: Qrels
    pool: Pool
    whole: Pool
    source: Input


class _Fingerprint(NamedTuple):
    """What tells whether a file is still the same."""

    size: int
    time: int
    digest: str | None


@dataclass(eq=False)
class _Memory:
    """What has been read and joined so far."""

    judgements: dict[str, Judgements] = field(default_factory=dict)
    known: Qrels | None = None
    lengths: Lengths | None = None
    tables: tuple[Run, ...] | None = None
    joins: dict[tuple[str, int], Judged] = field(default_factory=dict)
    ahead: Run | None = None
    elsewhere: Sequence[tuple[Run, Judged]] | None = None
    files: dict[str, _Fingerprint] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class Experiment:
    """Judgements, runs, the policy and how they are read; each thing is read and joined once, when it is asked for.

    `qrels` and each run are anything `read_qrels` and `read_run` take: a path, a dict of dicts, a data frame, arrays.
    Several runs come as a list, or as {name: run}. `policy` holds every decision that changes a number, `reading` says
    how inputs are read. `known` are documents the user knew before, as judgements; `lengths` of documents are a file or
    {document: length}. With `rows=False` only what is judged of a run is kept, which takes less time and memory; what
    needs all rows then (curves, explanations) reads the files again, if they are still the same.

    >>> experiment = Experiment({"1": {"d1": 1}}, {"a": {"1": {"d2": 2.0, "d1": 1.0}}, "b": {"1": {"d1": 1.0}}})
    >>> experiment.names, experiment.evaluate("RR").mean()
    (('a', 'b'), {'a': {'RR': 0.5}, 'b': {'RR': 1.0}})
    >>> experiment.documents(experiment.tables()[0], ["1"], depth=10)
    [['d2', 'd1']]
    """

    qrels: Given
    runs: GivenRuns = ()
    policy: Policy = field(default_factory=Policy)
    reading: Reading = DEFAULT
    known: Given | None = None
    lengths: GivenLengths | None = None
    rows: bool = True
    _memory: _Memory = field(default_factory=_Memory, init=False, repr=False)

    def __repr__(self) -> str:
        given = self.runs
        if (
            isinstance(given, Mapping)
            and any(isinstance(run, list) for run in given.values())
            and not is_ranked_run(given)
        ):
            runs = [str(system) for system in given]  # each of several runs
        else:
            runs = distinct_names([(name or _shown(run), _path(run)) for name, run in self._sources])
        listed = f": {some(runs)}" if runs else ""
        return f"<Experiment: {_path(self.qrels) or _shown(self.qrels)}, {plural(len(runs), 'run')}{listed}>"

    def __getstate__(self) -> dict[str, Any]:
        """Travels without what it has read: files are read again there, if they are the same. Streams stay behind."""
        state = dict(vars(self))
        for name in ("qrels", "runs", "known", "lengths"):
            state[name] = _without_streams(state[name])
        return state | {"reading": replace(self.reading, progress=None), "_memory": _Memory(files=self._memory.files)}

    def evaluate(
        self,
        measures: str | Measure | Iterable[str | Measure],
        *,
        bounds: bool = False,
        figures: str | Iterable[str] = (),
    ) -> Results:
        """Every run on every measure and topic; see `cranfield.evaluate`."""
        from cranfield.evaluation.evaluation import evaluated

        return evaluated(self, measures, bounds=bounds, figures=figures)

    def take(self, qrels: Qrels, run: Run | None, measures: Iterable[Measure]) -> None:
        """What was read ahead, as the reading says: plain judgements, and a run alone that was judged against them.

        Nothing is taken where measures need judgements of another kind.
        """
        if (self.reading.judgements or needed_kind(measures)) == "plain":
            self._memory.judgements["plain"] = self._complete(qrels)
            self._memory.ahead = run

    def take_judged(self, runs: Sequence[tuple[Run, Judged]]) -> None:
        """The runs as they were read and judged elsewhere, against `judgements`; their rows are not here."""
        self._memory.elsewhere = runs

    def judgements(self, measures: Iterable[Measure] = ()) -> Judgements:
        """The judgements, of the kind that was asked for or that measures need."""
        reading = self.reading.of(needed_kind(measures))
        kind = reading.judgements or "plain"
        if kind not in self._memory.judgements:
            qrels = self._checked(self.qrels, lambda: read_qrels(self.qrels, reading=reading))
            self._memory.judgements[kind] = self._complete(qrels)
        return self._memory.judgements[kind]

    def _complete(self, qrels: Qrels) -> Judgements:
        """Judgements as read, with what the user knew and their pool; of the policy's topic set alone if it has one."""
        known, topic_set = self.known_documents, self.policy.topic_set
        source = input_of(qrels, "judgements")
        qrels = qrels if known is None else with_known(qrels, known)
        whole = pool(qrels)
        if topic_set is None:
            return Judgements(qrels, whole, whole, source)
        from cranfield.evaluation.restriction import restricted

        return Judgements(*restricted(qrels, whole, topic_set), whole, source)

    def check_inside(self, topics: Sequence[str]) -> None:
        """That topics which somebody asks for are not outside the policy's topic set, while they are judged."""
        if self.policy.topic_set is not None:
            from cranfield.evaluation.restriction import check_inside

            check_inside(topics, self.judgements().whole.topics, self.policy.topic_set)

    def restriction(self) -> list[Finding]:
        """That some of the judged topics alone count, if so: whatever is shown of the experiment says it."""
        if self.policy.topic_set is None:
            return []
        from cranfield.evaluation.restriction import told

        judgements = next(iter(self._memory.judgements.values()), None) or self.judgements()  # of whichever kind
        return [told(self.policy.topic_set, judgements.qrels.name, len(judgements.whole.topics))]

    def suited(self, measures: Iterable[Measure]) -> Experiment:
        """The same with judgements of the kind that measures need, whatever is made of it; what was read is shared."""
        reading = self.reading.of(needed_kind(measures))
        suited = replace(self, reading=reading)
        object.__setattr__(suited, "_memory", self._memory)
        return suited

    @property
    def known_documents(self) -> Qrels | None:
        """What the user knew before."""
        if self.known is not None and self._memory.known is None:
            from cranfield.formats.known import read_known

            self._memory.known = read_known(self.known, self.reading)
        return self._memory.known

    @property
    def document_lengths(self) -> Lengths | None:
        """How long documents are, and where that was read."""
        if self.lengths is not None and self._memory.lengths is None:
            from cranfield.formats.lengths import read_lengths

            self._memory.lengths = read_lengths(self.lengths, self.reading.digest)
        return self._memory.lengths

    @property
    def lengths_by_document(self) -> Mapping[str, float]:
        """How long documents are; empty where nobody said."""
        lengths = self.document_lengths
        return {} if lengths is None else lengths.of

    def beside(self, judgements: Judgements) -> list[Input]:
        """What was read besides the runs."""
        inputs = [judgements.source]
        known, lengths = self.known_documents, self.document_lengths
        if known is not None:
            inputs.append(input_of(known, "known"))
        if lengths is not None:
            inputs.append(Input("lengths", lengths.path, lengths.digest, len(lengths.of), 0, role="lengths"))
        return inputs

    @property
    def names(self) -> tuple[str, ...]:
        """What the runs are called; no two have the same name."""
        return tuple(run.name for run in self.tables())

    def tables(self) -> tuple[Run, ...]:
        """The runs with all their rows, each under a name of its own."""
        if self._memory.tables is None:
            tables = self._side_by_side(self._sources, lambda source, threads: self._read(source, None, threads))
            self._memory.tables = tuple(told_apart(tables))
        return self._memory.tables

    @property
    def has_several_runs(self) -> bool:
        return len(self._memory.elsewhere or self._sources) > 1

    def each_run(
        self, work: Callable[[Run, Judged], Made], judgements: Judgements, *, rows: bool = False
    ) -> list[Made]:
        """What `work` makes of every run and its join with judgements: a run a thread, or one run with all threads.

        Where rows are not kept, only what is judged of a run is read, unless `rows` are needed all the same, or the
        judgements look like scores.
        """
        if self._memory.elsewhere is not None:
            if rows:
                raise UsageError(
                    "lengths, and the bounds of some measures, need every row of a run: those of a cluster stay there"
                )
            return self._side_by_side(self._memory.elsewhere, lambda pair, threads: work(*pair))
        if self.has_several_runs:
            judgements.qrels.table.keep_slots(thread_count(self.reading.threads))
        if self.rows or self._memory.tables is not None:
            return self._side_by_side(
                self.tables(), lambda run, threads: work(run, self.joined(run, judgements, threads))
            )
        from cranfield.evaluation.findings import has_many_grades

        rows = rows or has_many_grades(judgements.pool, self.policy)
        judging = None if rows else Judging(judgements.qrels.table, self.policy.ties)

        def read_and_work(source: NamedSource, threads: int) -> Made:
            ahead = None if rows else self._memory.ahead  # which was read without its rows
            run = ahead or self._read(source, judging, threads)
            whole = joined(run, judgements.qrels, self.policy.ties, pooled=judgements.pool, threads=threads)
            return work(run, whole)

        return self._side_by_side(self._sources, read_and_work)

    def joined(self, run: Run, judgements: Judgements, threads: int | None = None) -> Judged:
        """A run seen through judgements, whole: ties in the order of documents or of the file."""
        key = run.name, id(judgements.qrels)
        if key not in self._memory.joins:
            self._memory.joins[key] = joined(
                run, judgements.qrels, self.policy.ties, pooled=judgements.pool, threads=threads
            )
        return self._memory.joins[key]

    def judged(self, run: Run, judgements: Judgements | None = None) -> Judged:
        """A run as measures see it: in the policy's order, cut and condensed as it says."""
        whole = self.joined(run, judgements or self.judgements())
        return arranged(replace(whole, expected=self.policy.ties == "expected"), self.policy)

    def alone(self, run: Run) -> Experiment:
        """The same with one of its runs."""
        qrels = self.judgements().qrels
        known, lengths = self.known_documents, self.lengths_by_document or None
        alone = replace(self, qrels=qrels, runs=[run], known=known, lengths=lengths, rows=True)
        alone._memory.judgements.update(self._memory.judgements)
        return alone

    def documents(self, run: Run, topics: Sequence[str], depth: int) -> list[list[str]]:
        """The first documents of some topics in the policy's order; that of ties=expected, which has none, is docid's.

        Judged documents stand where the join has them, whatever the policy; the unjudged fill the ranks between.
        """
        judgements = self.judgements()
        judged = arranged(self.joined(run, judgements), self.policy)
        number = {topic: t for t, topic in enumerate(judged.topics)}
        lists = []
        for topic in topics:
            t, name = number[topic], topic.encode("utf-8", "surrogateescape")
            pooled = judgements.qrels.table.documents(name)
            hits = slice(judged.offsets[t], judged.offsets[t + 1])
            rows = (judged.row[hits] - judged.pool.offsets[t]).tolist()
            standing = dict(zip(judged.rank[hits].tolist(), (pooled[row] for row in rows), strict=True))
            judged_ids = set(standing.values())
            others = (document for document in run.table.documents(name) if document not in judged_ids)
            last = min(depth, int(judged.retrieved[t]))
            lists.append([standing[rank] if rank in standing else next(others) for rank in range(1, last + 1)])
        return lists

    @property
    def _sources(self) -> list[NamedSource]:
        return [] if isinstance(self.runs, tuple) and not self.runs else named_runs(self.runs)

    def _side_by_side(self, sources: Sequence[Source], work: Callable[[Source, int], Made]) -> list[Made]:
        """One source: all threads on it. Many: a source a thread; what is wrong with any is told of all at once."""
        threads = thread_count(self.reading.threads)
        of_each = threads if len(sources) == 1 else 1

        def made_or_wrong(source: Source) -> tuple[Made | None, DataError | None]:
            try:
                return work(source, of_each), None
            except DataError as error:
                return None, error

        pairs = side_by_side(made_or_wrong, sources, threads)
        wrong = [error for _, error in pairs if error is not None]
        if wrong:
            are_files = self._sources and all(is_file(source) for _, source in self._sources)
            raise wrong[0] if len(wrong) == 1 else all_told(wrong, "file" if are_files else "run")
        return [cast("Made", made) for made, _ in pairs]

    def _read(self, source: NamedSource, judging: Judging | None, threads: int) -> Run:
        name, run = source
        reading = self.reading.in_threads(threads)
        return self._checked(run, lambda: read_run(run, name=name, reading=reading, judging=judging))

    def _checked(self, source: Given, read: Callable[[], AnyTable]) -> AnyTable:
        """What is read, if it is what was read before: a picture of other rankings than its scores would be wrong."""
        path = os.fspath(source) if isinstance(source, str | os.PathLike) and os.path.isfile(source) else None
        before = os.stat(path) if path is not None else None
        table = read()
        if path is not None and before is not None:
            now = _Fingerprint(before.st_size, before.st_mtime_ns, table.origin.digest)
            known = self._memory.files.setdefault(path, now)
            same = known.digest == now.digest if known.digest and now.digest else known == now
            if not same:
                raise DataError(
                    "has changed since it was read for these results",
                    source=path,
                    remedy="Evaluate it again: what is shown would be of another file than the scores.",
                )
        return table


def _shown(source: Given) -> str:
    """What a source will be called, or its type where it has no name."""
    path = _path(source)
    if path is not None:
        return stem(path)
    return source.name if isinstance(source, Run | Qrels) else describe_type(source)


def _path(source: Given) -> str | None:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else None


def _without_streams(source: Any) -> Any:
    """A source, or those of several runs, without open files and the like, which can be read only here and once."""
    if isinstance(source, list):
        return [_without_streams(run) for run in source]
    if isinstance(source, Mapping):
        return {name: _without_streams(run) for name, run in source.items()}
    return () if hasattr(source, "read") or isinstance(source, Iterator) else source


def input_of(table: Run | Qrels, role: str = "run") -> Input:
    """What a table was read from."""
    origin = table.origin
    return Input(
        origin.name, origin.path, origin.digest, len(table), len(table.topics), origin.tag, role, origin.format
    )


def needed_kind(measures: Iterable[Measure]) -> str:
    """The kind of judgements that measures need: plain ones unless one needs more."""
    needs = (measure.definition.needs for measure in measures if measure.definition.needs)
    return next((need for need in needs if need in KINDS), "plain")


def with_known(qrels: Qrels, known: Qrels) -> Qrels:
    """The judgements with a column that tells which documents the user knew before: those of a grade above 0.

    >>> qrels = with_known(read_qrels({"q1": {"d1": 2, "d2": 1}}), read_qrels({"q1": {"d2": 1, "d7": 1}}))
    >>> qrels.columns["known"].tolist()
    [False, True]
    """
    return replace(qrels, columns={**qrels.columns, "known": aligned(known, qrels) > 0})


def with_retrieved(
    qrels: Qrels, run: Run, *, known: Qrels | None = None, lengths: Mapping[str, float] | None = None
) -> Qrels:
    """The judgements with all that a run retrieved, unjudged documents with a negative grade, and of each document
    whether the user knew it and how long it is, as far as that is given.

    >>> run = read_run({"q1": {"d1": 2.0, "d5": 1.0}})
    >>> qrels = with_retrieved(read_qrels({"q1": {"d1": 2, "d2": 1}}), run, lengths={"d1": 80, "d5": 120})
    >>> qrels.of("q1"), qrels.columns["lengths"]
    ({'d1': 2.0, 'd2': 1.0, 'd5': -1000000.0}, array([ 80.,  nan, 120.]))
    """
    every: dict[str, dict[str, float]] = {}
    missing: dict[str, None] = {}
    for topic, grades in qrels.to_dict().items():
        retrieved = run.table.documents(topic.encode("utf-8", "surrogateescape"))
        missing |= {document: None for document in retrieved if lengths is not None and document not in lengths}
        every[topic] = dict.fromkeys(retrieved, UNJUDGED) | grades
    if missing:
        raise DataError(
            f"retrieved {len(missing):,} documents without a length: {some(list(missing))}",
            source=run.name,
            remedy="Every retrieved document needs one, judged or not: those above it decide when another is reached.",
        )
    made = read_qrels(every)
    if lengths is not None:
        column = [lengths.get(document, np.nan) for grades in made.to_dict().values() for document in grades]
        made = replace(made, columns={"lengths": np.array(column, dtype=np.float64)})
    return made if known is None else with_known(made, known)
