"""Documents that the user knew before: judgements of any form, or lines of a topic and a document."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats import read_qrels, stem
from cranfield.formats.datasets import is_dataset
from cranfield.formats.format import decode, rows_of_text
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
        pairs = read_pairs(opened) if opened is not None else None
        if opened is not None and pairs is not None:
            known: dict[str, dict[str, float]] = {}
            for topic, document in pairs:
                known.setdefault(topic, {})[document] = 1.0
            qrels = read_qrels(known, name=stem(opened.label))
            origin = qrels.origin._replace(path=opened.path, digest=opened.digest(), format="known")
            return replace(qrels, origin=origin)
    return read_qrels(source, reading=replace(reading, judgements="plain"))


def read_pairs(opened: Source) -> list[tuple[str, str]] | None:
    """The lines of a topic and a document, in their order and each once; None if the first line is none.

    >>> import io
    >>> read_pairs(open_source(io.StringIO("# mine\\n1 d3\\n1 d8\\n")))
    [('1', 'd3'), ('1', 'd8')]
    """
    if not _starts_with_pair(bytes(opened.data[:LOOKED_AT])):
        return None
    pairs: dict[tuple[str, str], None] = {}
    for number, line in _rows(bytes(opened.data)):
        fields = [decode(field) for field in line.split()]
        if len(fields) != 2:
            raise DataError(
                f"{len(fields)} fields where a topic and a document are expected",
                source=opened.label,
                line=number,
                text=decode(line),
                remedy="The first line has two; judgements have four: topic, 0, document and grade.",
            )
        pairs[fields[0], fields[1]] = None
    return list(pairs)


def _starts_with_pair(start: bytes) -> bool:
    rows = _rows(start)
    return bool(rows) and len(rows[0][1].split()) == 2 and not rows[0][1].lstrip().startswith((b"{", b"["))


def _rows(data: bytes) -> list[tuple[int, bytes]]:
    return rows_of_text(data, lambda line: len(line.split()) == 2, [])
