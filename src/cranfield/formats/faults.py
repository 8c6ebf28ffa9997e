"""Every fault of a file, not only the first: for `check`. Readers stop at a fault; without its line they go on."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError
from cranfield.formats.sources import open_source
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.formats.given import Path, Readable

MOST_FAULTS = 20
ALSO, OTHERS = "Also:", "Others may follow."  # lines before and after the faults that are told below the first
MOST_BYTES = 1 << 28  # to read over and over again


class Faults(NamedTuple):
    """The faults of a file in the order of its lines, and whether others may follow."""

    told: list[DataError]
    others: bool


class _Lines(io.BytesIO):
    """The lines of a file as an open file of its name."""

    def __init__(self, lines: list[bytes], name: str) -> None:
        super().__init__(b"".join(lines))
        self.name = name


def all_faults(path: Path, read: Callable[[Path | Readable], Run | Qrels]) -> Faults:
    """The faults of a file: the line of each is made blank, and the file is read again, until it can be.

    >>> from cranfield.formats import read_qrels
    >>> all_faults("nowhere.qrels", read_qrels).told
    [DataError('nowhere.qrels: no such file')]
    """
    fault = _fault(path, read)
    if fault is None or fault.line is None:
        return Faults([] if fault is None else [fault], others=False)
    lines = bytes(open_source(path).data).splitlines(keepends=True)
    size = sum(map(len, lines))
    faults: list[DataError] = []
    # What is wrong behind the last line is that nothing follows it: no line to be made blank.
    while fault is not None and fault.line is not None and fault.line <= len(lines):
        if len(faults) == MOST_FAULTS:
            return Faults(_by_line(faults), others=True)
        faults.append(fault)
        if size * len(faults) > MOST_BYTES or not _has_records(lines):
            return Faults(_by_line(faults), others=True)
        lines[fault.line - 1] = b"\n"
        fault = _fault(_Lines(lines, os.fsdecode(path)), read)
    if fault is not None and not faults:
        return Faults([fault], others=False)
    return Faults(_by_line(faults), others=fault is not None and any(map(bytes.strip, lines)))


def _fault(source: Path | Readable, read: Callable[[Path | Readable], Run | Qrels]) -> DataError | None:
    try:
        read(source)
    except DataError as fault:
        return fault
    return None


def _by_line(faults: list[DataError]) -> list[DataError]:
    return sorted(faults, key=lambda fault: fault.line or 0)


def _has_records(lines: list[bytes]) -> bool:
    """Whether each line stands for itself, unlike those of a JSON object that is written on several."""
    first = next((line.strip() for line in lines if line.strip()), b"")
    return not first.startswith((b"{", b"[")) or first.endswith(b"}")
