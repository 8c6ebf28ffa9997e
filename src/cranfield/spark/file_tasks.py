"""Tasks that read files: whole ones, or pieces of large ones, whose lines travel to where their topic is judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield._core import spans_of
from cranfield.errors import DataError
from cranfield.formats import read_run
from cranfield.formats.format import BYTE_ORDER_MARK, Judging
from cranfield.judged import Integers, joined
from cranfield.spark.jobs import MARKER, NAMES, UNREADABLE, Fault, Job, TaskReport, told
from cranfield.spark.row_tasks import outcome

if TYPE_CHECKING:
    import pyarrow
    from pyspark import Broadcast

    from cranfield.spark.jobs import Batches, Work

_SPAN = 1 << 16  # bytes of lines that travel as one value
_AT_ONCE = 1 << 24  # bytes of lines in a batch
_FILE = 40  # bits of a place that say where in a file it is; those above say in which of a run's files


class FilePiece(NamedTuple):
    """A piece of a file of a run: the lines that begin between two bytes. `file` is its number among the run's."""

    run: str
    path: str
    file: int
    begin: int
    end: int


def whole_files(job: Broadcast[Job], files: tuple[FilePiece, ...]) -> Work:
    """Reads and judges one file after another, as one machine does."""

    def work(batches: Batches) -> Batches:
        for number in _numbers(batches):
            yield from _whole_file(job.value, files[number])

    return work


def _whole_file(job: Job, file: FilePiece) -> Batches:
    assert job.qrels is not None
    judging = Judging(job.qrels.table, job.policy.ties)
    try:
        run = read_run(file.path, name=file.run, reading=job.reading.in_threads(1), judging=judging)
    except DataError as error:
        yield told(TaskReport(file.run, Fault.of(file.run, error)))
        return
    judged = joined(run, job.qrels, job.policy.ties, pooled=job.pool, threads=1)
    yield from outcome(job, run, judged, np.arange(len(job.pool.topics)), run.origin)


def file_lines(pieces: tuple[FilePiece, ...]) -> Work:
    """The lines of pieces of files, those of a topic together as far as they stand together."""

    def work(batches: Batches) -> Batches:
        for number in _numbers(batches):
            yield from _lines(pieces[number])

    return work


def _lines(piece: FilePiece) -> Batches:
    import pyarrow as pa

    try:
        text = piece_text(piece)
    except OSError as error:
        reason = pa.array([f"{piece.path}\n{error.strerror or error}".encode("utf-8", "surrogateescape")])
        yield _rows(piece.run, pa.array([b""]), pa.array([UNREADABLE]), reason)
        return
    begins, topics, ends = spans_of(text, _SPAN)
    count = len(begins) - 1
    place = begins[:-1] + piece.begin + (piece.file << _FILE)
    lines = _rows(piece.run, _binary(ends, topics), pa.array(place), _binary(begins, text))
    first = 0
    while first < count:
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + _AT_ONCE)))
        yield lines.slice(first, last - first)
        first = last


def piece_text(piece: FilePiece) -> bytes:
    """The lines that begin in a piece of a file, whole: the last may go on behind its end."""
    with open(piece.path, "rb") as file:
        before = max(piece.begin - 1, 0)  # the byte before tells whether a line begins here
        file.seek(before)
        begin = before + (len(file.readline()) if piece.begin else 0)
        text = file.read(piece.end - begin) if begin < piece.end else b""
        if text and not text.endswith(b"\n"):
            text += file.readline()
    text = text.removeprefix(BYTE_ORDER_MARK) if piece.begin == 0 else text
    return text if not text or text.endswith((b"\n", b"\r")) else text + b"\n"


def markers(job: Broadcast[Job], runs: tuple[str, ...]) -> Work:
    """A row for each judged topic of each run, so that what a run does not answer is scored too."""

    def work(batches: Batches) -> Batches:
        import pyarrow as pa

        topics = pa.array(list(job.value.number_of), pa.binary())
        place, text = pa.array(np.full(len(topics), MARKER)), pa.nulls(len(topics), pa.binary())
        for number in _numbers(batches):
            yield _rows(runs[number], topics, place, text)

    return work


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
