"""What is wrong with a run, told as one machine tells it, whichever task has met it.

A task that reads a piece of a file knows neither the number of a line nor what stands before it. So a file in which
something is wrong is read once more, here and whole, without keeping its rows: its error is the one that
`cranfield.evaluate` raises.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from cranfield._core import CoreError, read_text
from cranfield.errors import DataError
from cranfield.formats import read_qrels, read_run, request_for
from cranfield.formats.format import BYTE_ORDER_MARK, Judging
from cranfield.formats.reading import Reading
from cranfield.formats.refusals import text_error
from cranfield.formats.sources import open_source, opened_file
from cranfield.spark.jobs import LAYOUTS, Fault
from cranfield.spark.run_sources import RunSource


def first_fault(run: RunSource, faults: Sequence[Fault], reading: Reading) -> DataError:
    """The error of a run, given what tasks found wrong with it: of a frame that of the first topic, as bytes; of a file
    that cannot be read here either, why not."""
    known = [fault for fault in faults if fault.error is not None]
    try:
        for file in run.files:
            with opened_file(file):
                pass
    except DataError as error:
        return error
    if known:
        return min(known, key=lambda fault: (fault.topic, str(fault.error))).as_error()
    return fault_in_files(run, reading)


def fault_in_files(run: RunSource, reading: Reading) -> DataError:
    """The first fault in the files of a run: of each alone, in their order, then of all together. Where there is none
    any more, that they have changed."""
    judging = Judging(read_qrels({"-": {"-": 1}}).table, "docid")  # some judgements or other: rows are not kept
    try:
        for file in run.files:
            read_run(file, name=run.name, reading=reading, judging=judging)
        if len(run.files) > 1:
            _read_together(run, reading, judging)
    except DataError as error:
        return error
    return DataError(
        "has changed while it was read", source=run.files[0], remedy="Evaluate it again when nobody writes to it."
    )


def _read_together(run: RunSource, reading: Reading, judging: Judging) -> None:
    """Reads files as one text; an error says in which of them it is, and on which line there."""
    assert run.kind is not None
    texts = [bytes(open_source(file).data).removeprefix(BYTE_ORDER_MARK) for file in run.files]
    whole = b"".join(text if text.endswith((b"\n", b"\r")) else text + b"\n" for text in texts)
    lines = list(accumulate((len(text.splitlines()) for text in texts), initial=0))
    request = request_for("score", reading)

    def place(line: int) -> tuple[str, int]:
        file = bisect_left(lines, line) - 1
        return run.files[file], line - lines[file]

    try:
        read_text(whole, LAYOUTS[run.kind], judging.qrels, False, request.threads, request.progress)
    except CoreError as error:
        code, fault = error.args
        file, line = place(fault["line"])
        told = {**fault, "line": line}
        if fault["other_line"]:
            told["other_line"] = "{1} of {0}".format(*place(fault["other_line"]))
        raise text_error(CoreError(code, told), file, request, run.kind) from None
