"""Tasks that judge rows: those of many topics in one call of the core, all rows of a topic together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from cranfield._core import CoreError, Progress, Table, read_arrow, read_text
from cranfield.errors import DataError, shorten
from cranfield.evaluation.findings import tied_topic_count
from cranfield.evaluation.opinions import scored
from cranfield.formats import read_qrels, request_for
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.refusals import row_error, row_problem
from cranfield.judged import Integers, Judged, joined, pool
from cranfield.spark.jobs import JUDGEMENTS, LAYOUTS, OUTCOME, UNREADABLE, Fault, Job, TaskReport, told
from cranfield.spark.judged_parts import NO_ROWS, RowCounts, counted_together, part_of, row_counts, stand_in
from cranfield.spark.missing_topics import missing_counts, unanswered
from cranfield.tables import Origin, Qrels, Run

if TYPE_CHECKING:
    import pyarrow
    from pyspark import Broadcast

    from cranfield.spark.jobs import Batches, Work

_AT_ONCE = 1 << 24  # bytes of rows that are judged in one call


def judged_rows(job: Broadcast[Job]) -> Work:
    """Judges rows in the order of run, topic and place, all rows of a run's topic in one partition."""

    def work(batches: Batches) -> Batches:  # what it calls is found where it runs: only the job travels with it
        for run, rows in of_whole_topics(batches):
            yield from _judged(job.value, run, rows)

    return work


def unanswered_topics(job: Broadcast[Job], left: tuple[tuple[str, Integers], ...]) -> Work:
    """The scores of topics that runs do not answer: names of runs, and the numbers of topics."""

    def work(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                run, topics = left[number]
                yield from _scores(job.value, run, unanswered(job.value.pool), topics)

    return work


def rows_with_judgements(job: Broadcast[Job], highest: float) -> Work:
    """The same where judgements of topics come with their rows, in front; `highest` is the highest grade of all."""

    def work(batches: Batches) -> Batches:
        return _rows_with_judgements(job.value, highest, batches)

    return work


def _rows_with_judgements(job: Job, highest: float, batches: Batches) -> Batches:
    import pyarrow as pa

    pieces = of_whole_topics(batches)
    grades, first = [], None
    for piece in pieces:
        if piece[0] != JUDGEMENTS:
            first = piece
            break
        grades.append(piece[1])
    rest = chain([] if first is None else [first], pieces)
    if not grades:
        for run, rows in rest:
            yield from _judged(_nobody_judged(job, rows), run, rows)
        return
    judgements = pa.concat_tables(grades)
    try:
        own = with_judgements(job, judgements, highest)
    except DataError:
        yield told(TaskReport(JUDGEMENTS, _fault_of_judgements(job, judgements)))
        return
    left = {run: np.ones(len(own.pool.topics), dtype=bool) for run in own.kinds}
    for run, rows in rest:
        left[run][_numbers(own, rows)] = False
        yield from _judged(own, run, rows)
    for run, is_left in left.items():
        missing = np.flatnonzero(is_left)
        yield told(TaskReport(run, rows=missing_counts(own, missing).shortened()))
        yield from _scores(own, run, unanswered(own.pool), missing)


def _nobody_judged(job: Job, rows: pyarrow.Table) -> Job:
    """The job with judgements of a topic that rows do not have: what is wrong with them is told all the same, and that
    they are there."""
    longest = max(len(topic or b"") for topic in rows.column("topic").unique().to_pylist())
    qrels = read_qrels({"-" * (longest + 1): {"-": 1}})
    return replace(job, qrels=qrels, pool=pool(qrels))


def of_whole_topics(batches: Batches) -> Iterator[tuple[str, pyarrow.Table]]:
    """Rows of one run at a time, cut between topics where they are many."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pending: list[pyarrow.RecordBatch] = []
    for batch in batches:
        for part in _of_one_run(batch):
            run = part.column("run")[0].as_py()
            if pending and pending[0].column("run")[0].as_py() != run:
                yield pending[0].column("run")[0].as_py(), pa.Table.from_batches(pending)
                pending = []
            if sum(rows.nbytes for rows in pending) >= _AT_ONCE:
                topic = pending[-1].column("topic")[-1]
                others = pc.not_equal(part.column("topic"), topic).to_numpy(zero_copy_only=False)
                same = int(np.argmax(others)) if others.any() else len(part)
                pending += [part.slice(0, same)] if same else []
                if same < len(part):
                    yield run, pa.Table.from_batches(pending)
                    pending = []
                part = part.slice(same)
            pending += [part] if len(part) else []
    if pending:
        yield pending[0].column("run")[0].as_py(), pa.Table.from_batches(pending)


def _of_one_run(batch: pyarrow.RecordBatch) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow.compute as pc

    runs = batch.column("run")
    changes = pc.not_equal(runs.slice(1), runs.slice(0, max(len(runs) - 1, 0))).to_numpy(zero_copy_only=False)
    places = [0, *(np.flatnonzero(changes) + 1).tolist(), len(runs)]
    for first, last in pairwise(places):
        if last > first:
            yield batch.slice(first, last - first)


def _judged(job: Job, run: str, rows: pyarrow.Table) -> Batches:
    """What is to be sent of some rows of a run: scores, or what is judged; or what is wrong with it."""
    import pyarrow.compute as pc

    if job.kinds[run] in LAYOUTS:
        unread = rows.filter(pc.equal(rows.column("place"), UNREADABLE)).column("text").to_pylist()
        if unread:
            yield told(TaskReport(run, Fault.of(run, unreadable(min(unread)))))
        else:
            yield from judged_lines(job, run, _together(rows))
        return
    try:
        table = _read_rows(rows, job.kinds[run])
    except CoreError:
        yield told(TaskReport(run, _fault(job, run, rows)))
        return
    yield from _joined(job, Run(table, Origin(run)))


def judged_lines(job: Job, run: str, lines: bytes | memoryview, *, all_topics: bool = False) -> Batches:
    """The same of lines of text. What is wrong with one must be seen in its file."""
    assert job.qrels is not None
    ties, layout = job.policy.ties == "file", LAYOUTS[job.kinds[run]]
    if lines[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK:  # no file begins here, so that it is a fault
        yield told(TaskReport(run, Fault(run)))
        return
    try:
        table, comments, tag, several = read_text(lines, layout, job.qrels.table, ties, 1, Progress())
    except CoreError:
        yield told(TaskReport(run, Fault(run)))
        return
    text = RowCounts(comments=comments, tags=frozenset([tag] if tag else []), several_tags=several)
    yield from _joined(job, Run(table, Origin(run)), text, all_topics=all_topics)


def _joined(job: Job, run: Run, text: RowCounts = NO_ROWS, *, all_topics: bool = False) -> Batches:
    assert job.qrels is not None
    judged = joined(run, job.qrels, job.policy.ties, pooled=job.pool, threads=1)
    yield from outcome(job, run, judged, text=text, all_topics=all_topics)


def outcome(
    job: Job,
    run: Run,
    judged: Judged,
    *,
    origin: Origin | None = None,
    text: RowCounts = NO_ROWS,
    all_topics: bool = False,
) -> Batches:
    """The scores of the topics that a run answers, and what is known of its rows; without measures, what is judged of
    it. `all_topics`: those are told that nobody judged, too."""
    own = row_counts(run, judged, job.judged_topics)
    answered = np.flatnonzero(judged.answered)
    topics = np.array([*answered.tolist(), *map(stand_in, own.unjudged)], dtype=np.int64) if all_topics else answered
    tied = tied_topic_count(judged, job.policy, job.measures) if job.measures else 0
    counts = counted_together([own._replace(tied_topics=tied), text])
    if not job.measures:
        yield told(TaskReport(run.name, part=part_of(judged, counts), origin=origin, topics=topics))
        return
    yield told(TaskReport(run.name, rows=counts.shortened(), origin=origin, topics=topics))
    yield from _scores(job, run.name, judged, answered)


def _scores(job: Job, run: str, judged: Judged, topics: Integers) -> Batches:
    import pyarrow as pa

    if job.policy.empty_topics == "drop":
        topics = topics[judged.pool.has_relevant[topics]]
    if not len(topics):
        return
    chosen = judged.select(topics)
    cube = scored(chosen, job.measures, job.policy, None, False).cubes[0]
    names = pa.array([str(measure) for measure in job.measures])
    try:
        of_topics = pa.array(chosen.topics, pa.string())
    except UnicodeEncodeError:
        yield told(TaskReport(run, Fault.of(run, _not_utf8(run, chosen.topics))))
        return
    count = len(topics) * len(job.measures)
    by_topic = np.repeat(np.arange(len(topics)), len(job.measures))
    by_measure = np.tile(np.arange(len(job.measures)), len(topics))
    columns = [
        pa.repeat(pa.scalar(run), count),
        of_topics.take(pa.array(by_topic)),
        names.take(pa.array(by_measure)),
        pa.array(cube.T.ravel()),
        pa.array(chosen.answered[by_topic]),
        pa.nulls(count, pa.binary()),
    ]
    yield pa.record_batch(columns, names=[column.split()[0] for column in OUTCOME.split(", ")])


def _not_utf8(run: str, topics: Sequence[str]) -> DataError:
    topic = next(topic for topic in topics if topic != topic.encode("utf-8", "replace").decode("utf-8"))
    return DataError(
        f"topic '{shorten(topic)}' is not UTF-8, and text in Spark is",
        source=run,
        remedy="Write the ids of topics in UTF-8, or evaluate the files without a frame: cranfield evaluate --engine.",
    )


def _together(rows: pyarrow.Table) -> bytes | memoryview:
    """The lines of rows one behind the other, which is how Arrow has them."""
    pieces = []
    for chunk in rows.column("text").chunks:
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        if data is not None and len(ends):
            pieces.append(memoryview(data)[int(ends[0]) : int(ends[-1])])
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _read_rows(rows: pyarrow.Table, kind: str) -> Table:
    """Rows of a frame as a table; ranks beside scores are looked at where there are any."""
    chosen = rows.select(["topic", "document", "value", "rank"])
    ranked = kind == "score" and chosen.column("rank").null_count == 0
    return read_arrow(chosen.__arrow_c_stream__(), [0, 1, 2, 3 if ranked else -1], kind, None, False, 1)


def _fault(job: Job, run: str, rows: pyarrow.Table) -> Fault:
    """What is wrong with the rows of a frame: the first topic tells, as bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for topic in sorted(rows.column("topic").unique().to_pylist(), key=lambda topic: topic or b""):
        ids = rows.column("topic")
        own = rows.filter(pc.is_null(ids) if topic is None else pc.equal(ids, pa.scalar(topic, pa.binary())))
        own = own.sort_by([("document", "ascending"), ("value", "ascending"), ("rank", "ascending")])
        try:
            _read_rows(own, job.kinds[run])
        except CoreError as error:
            return Fault.of(run, _error_of_rows(error, own, run, job), topic or b"")
    raise AssertionError("rows that are wrong together are wrong in some topic")


def _error_of_rows(error: CoreError, rows: pyarrow.Table, run: str, job: Job) -> DataError:
    """What the core found wrong with rows of a topic, told by their ids: in a cluster rows have no numbers."""
    code, fault = error.args
    request = request_for("grade" if run == JUDGEMENTS else "score", job.reading)
    source = "the judgements" if run == JUDGEMENTS else run
    if "row" not in fault:
        told_of = row_error(error, source, request)
        return told_of if isinstance(told_of, DataError) else DataError(str(told_of))
    row = rows.slice(fault["row"], 1).to_pylist()[0]
    ids = [f"{name} '{shorten(decode(row[name]))}'" for name in ("topic", "document") if row[name] is not None]
    column = {"value": job.kinds.get(run, "grade")}.get(fault["column"], fault["column"])
    problem = row_problem(code, request.kind, decode(fault["field"]))
    told_where = f"{', '.join(ids) or 'a row without ids'}, column '{column}'"
    return DataError(f"{told_where}: {problem}", source=source)


def with_judgements(job: Job, grades: pyarrow.Table, highest: float) -> Job:
    """The job with judgements of some topics. The highest grade is that of all, so that scores are those among all."""
    grades = grades.sort_by([("topic", "ascending"), ("document", "ascending"), ("value", "ascending")])
    try:
        table = _read_rows(grades, "grade")
    except CoreError:
        raise _fault_of_judgements(job, grades).as_error() from None
    qrels = Qrels(table, Origin("qrels"))
    return replace(job, qrels=qrels, pool=replace(pool(qrels), max_grade=highest))


def _fault_of_judgements(job: Job, grades: pyarrow.Table) -> Fault:
    return _fault(replace(job, kinds={JUDGEMENTS: "grade"}), JUDGEMENTS, grades)


def _numbers(job: Job, rows: pyarrow.Table) -> Integers:
    """The numbers of the judged topics among rows."""
    topics = rows.column("topic").unique().to_pylist()
    return np.array(sorted(job.number_of[topic] for topic in topics if topic in job.number_of), dtype=np.int64)


def unreadable(reason: bytes) -> DataError:
    """The error of a file that a worker cannot read: its path, and why, on a second line."""
    path, message = decode(reason).split("\n", 1)
    remedy = "Workers read files themselves: it must be at that place on all of them."
    return DataError(f"a worker cannot read it: {message}", source=path, remedy=remedy)
