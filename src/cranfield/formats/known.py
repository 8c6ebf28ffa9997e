"""Documents that the user knew before: judgements of any form, or lines of a topic and a document."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats import read_qrels, stem
from cranfield.formats.datasets import is_dataset
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.sources import open_source
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.formats.reading import Reading
    from cranfield.formats.sources import Source

LOOKED_AT = 4096  # bytes of a file that tell its form


def read_known(source: Given, reading: Reading) -> Qrels:
    """What was known: all that `read_qrels` takes, and files whose lines are a topic and a document.

    >>> import tempfile, pathlib
    >>> from cranfield.formats.reading import DEFAULT
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "known.txt")
    ...     _ = path.write_text("q1 d3\\nq1 d8\\n")
    ...     read_known(path, DEFAULT).to_dict()
    {'q1': {'d3': 1.0, 'd8': 1.0}}
    """
    if reading.says_nothing and isinstance(source, str | os.PathLike) and not is_dataset(source):
        looked_at = os.fspath(source) != "-"  # which can be read once
        opened = open_source(source, reading.digest) if looked_at and os.path.isfile(source) else None
        if opened is not None and _in_pairs(opened):
            return _pairs(opened)
    return read_qrels(source, reading=replace(reading, judgements="plain"))


def _in_pairs(opened: Source) -> bool:
    start = decode(bytes(opened.data[:LOOKED_AT]).removeprefix(BYTE_ORDER_MARK)).lstrip()
    return not start.startswith(("{", "[")) and len(start.partition("\n")[0].split()) == 2


def _pairs(opened: Source) -> Qrels:
    known: dict[str, dict[str, float]] = {}
    for number, line in enumerate(decode(bytes(opened.data).removeprefix(BYTE_ORDER_MARK)).splitlines(), start=1):
        fields = line.split()
        if fields and len(fields) != 2:
            raise DataError(
                f"{len(fields)} fields where a topic and a document are expected",
                source=opened.label,
                line=number,
                text=line,
                remedy="The first line has two; judgements have four: topic, 0, document and grade.",
            )
        if fields:
            known.setdefault(fields[0], {})[fields[1]] = 1.0
    qrels = read_qrels(known, name=stem(opened.label))
    return replace(qrels, origin=qrels.origin._replace(path=opened.path, digest=opened.digest(), format="known"))
