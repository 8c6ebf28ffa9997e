"""The files that trec_eval reads. NumPy is loaded only where scores are changed, so that it may load meanwhile."""

from __future__ import annotations

from typing import NamedTuple

from cranfield.formats import read_qrels, read_run
from cranfield.formats.format import Judging
from cranfield.formats.preferences import Judgement, graded_lines
from cranfield.formats.sources import nothing_in_it, open_source
from cranfield.tables import AnyTable, Qrels, Run
from cranfield.trec_eval.arguments import CalculationError, Options
from cranfield.trec_eval.names import Wanted


class Files(NamedTuple):
    """What was read: judgements as a table, or line by line where they are in groups, and the run."""

    qrels: Qrels | None
    lines: list[Judgement]
    run: Run


def read(requests: list[Wanted], options: Options, qrels: str, run: str) -> Files:
    """Reads both files, in the format that the options name."""
    _check_format(requests, options)
    if options.format != "qrels":
        lines = _read_groups(qrels, 5 if options.format == "prefs" else 4)
        return Files(None, lines, _unrepeated(read_run(run, reading=options.reading)))
    judgements = _unrepeated(read_qrels(qrels, reading=options.reading))
    judging = None if options.version == "9.0" else Judging(judgements.table, "docid")
    return Files(judgements, [], _unrepeated(read_run(run, reading=options.reading, judging=judging)))


def single_precision(run: Run) -> Run:
    """The run as 9.0 stores it: scores that differ beyond seven digits are equal there."""
    import numpy as np

    values = run.table.values()
    largest = float(np.finfo(np.float32).max)
    single = np.clip(values, -largest, largest).astype(np.float32).astype(np.float64)
    counts = run.table.counts()
    same_topic = np.ones(len(values) - 1, dtype=bool)
    same_topic[np.cumsum(counts)[:-1] - 1] = False
    if not np.any(same_topic & (values[1:] != values[:-1]) & (single[1:] == single[:-1])):
        return run  # no two scores became one: the order is the same
    topics = [topic for topic, count in zip(run.topics, counts.tolist(), strict=True) for _ in range(count)]
    documents = [document for topic in run.topics for document in run.table.documents(as_bytes(topic))]
    return Run(read_run((topics, documents, single)).table, run.origin)


def byte_order(topics: tuple[str, ...]) -> list[int]:
    """The order in which trec_eval goes through topics: that of their bytes.

    >>> byte_order(("9", "10", "2"))
    [1, 2, 0]
    """
    return sorted(range(len(topics)), key=lambda t: as_bytes(topics[t]))


def _check_format(requests: list[Wanted], options: Options) -> None:
    format = "prefs" if options.format == "qrels_prefs" else options.format
    for request in requests:
        needed = request.entry.judgements
        if needed and needed != format:
            raise CalculationError(
                f"{request.entry.name} cannot be calculated from judgements of the format {options.format}",
                remedy=f"It reads -R {needed}; -m {'official' if format == 'qrels' else format} names what can be.",
            )


def _unrepeated(table: AnyTable) -> AnyTable:
    if table.table.collapsed_count:
        raise CalculationError(
            f"{table.origin.path}: a document is given twice for the same topic",
            remedy="trec_eval stops at this too; cranfield evaluate counts lines that agree once.",
        )
    return table


def _read_groups(path: str, fields: int) -> list[Judgement]:
    source = open_source(path)
    lines = list(graded_lines(bytes(source.data), source.label, fields, []))
    if not lines:
        raise nothing_in_it(source.label)
    return lines


def as_bytes(text: str) -> bytes:
    """An id as it stands in the file."""
    return text.encode("utf-8", "surrogateescape")
