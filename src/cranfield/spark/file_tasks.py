"""Tasks that read files: whole ones and pieces of large ones, which they judge at once; or lines, which travel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cranfield._core import spans_of
from cranfield.errors import DataError
from cranfield.formats import read_run
from cranfield.formats.format import Judging
from cranfield.judged import Integers, joined
from cranfield.spark.jobs import NAMES, UNREADABLE, Fault, Job, TaskReport, told
from cranfield.spark.piece_texts import FilePiece, piece_text
from cranfield.spark.row_tasks import judged_lines, outcome, unreadable

if TYPE_CHECKING:
    import pyarrow
    from pyspark import Broadcast

    from cranfield.spark.jobs import Batches, Work
    from cranfield.spark.run_sources import WholeFile

_SPAN = 1 << 16  # bytes of lines that travel as one value
_AT_ONCE = 1 << 24  # bytes of lines in a batch
_FILE = 40  # bits of a place that say where in a file it is; those above say in which of a run's files


def whole_files(job: Broadcast[Job], files: tuple[WholeFile, ...]) -> Work:
    """Reads and judges the files of runs, one after another, as one machine does."""

    def work(batches: Batches) -> Batches:  # what it calls is found where it runs: only the job travels with it
        for number in _numbers(batches):
            yield from _whole_file(job.value, files[number])

    return work


def _whole_file(job: Job, file: WholeFile) -> Batches:
    assert job.qrels is not None
    judging = Judging(job.qrels.table, job.policy.ties)
    try:
        open(file.path, "rb").close()
        run = read_run(file.path, name=file.run, reading=job.reading.in_threads(1), judging=judging)
    except OSError as error:
        reason = _reason(file.path, error)
        yield told(TaskReport(file.run, Fault.of(file.run, unreadable(reason))))
        return
    except DataError as error:
        yield told(TaskReport(file.run, Fault.of(file.run, error).under(file.given, file.path)))
        return
    judged = joined(run, job.qrels, job.policy.ties, pooled=job.pool, threads=1)
    yield from outcome(job, run, judged, origin=run.origin)


def judged_pieces(job: Broadcast[Job], pieces: tuple[FilePiece, ...]) -> Work:
    """Reads and judges pieces of files, each in one call of the core, and tells which topics are in each."""

    def work(batches: Batches) -> Batches:
        for number in _numbers(batches):
            yield from _judged_piece(job.value, pieces[number])

    return work


def _judged_piece(job: Job, piece: FilePiece) -> Batches:
    try:
        text = piece_text(piece)[1]
    except OSError as error:
        yield told(TaskReport(piece.run, Fault.of(piece.run, unreadable(_reason(_path(piece, error), error)))))
        return
    if text:
        yield from judged_lines(job, piece.run, text, all_topics=True)


def file_lines(pieces: tuple[FilePiece, ...]) -> Work:
    """The lines of pieces of files, those of a topic together as far as they stand together."""

    def work(batches: Batches) -> Batches:
        for number in _numbers(batches):
            yield from _lines(pieces[number])

    return work


def _lines(piece: FilePiece) -> Batches:
    import pyarrow as pa

    try:
        start, text = piece_text(piece)
    except OSError as error:
        yield _rows(piece.run, pa.array([b""]), pa.array([UNREADABLE]), pa.array([_reason(_path(piece, error), error)]))
        return
    begins, topics, ends = spans_of(text, _SPAN)
    count = len(begins) - 1
    place = begins[:-1] + start.offset + (start.file << _FILE)
    lines = _rows(piece.run, _binary(ends, topics), pa.array(place), _binary(begins, text))
    first = 0
    while first < count:
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + _AT_ONCE)))
        yield lines.slice(first, last - first)
        first = last


def _path(piece: FilePiece, error: OSError) -> str:
    return str(error.filename or piece.paths[piece.file])


def _reason(path: str, error: OSError) -> bytes:
    """Which file cannot be read, and why."""
    return f"{path}\n{error.strerror or error}".encode("utf-8", "surrogateescape")


def _rows(run: str, topic: pyarrow.Array, place: pyarrow.Array, text: pyarrow.Array) -> pyarrow.RecordBatch:
    import pyarrow as pa

    others = [pa.nulls(len(topic), kind) for kind in (pa.binary(), pa.float64(), pa.int32())]
    return pa.record_batch([pa.repeat(pa.scalar(run), len(topic)), topic, place, text, *others], names=list(NAMES))


def _binary(offsets: Integers, data: bytes) -> pyarrow.Array:
    """Bytes cut at offsets, where they are."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)


def _numbers(batches: Batches) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()
