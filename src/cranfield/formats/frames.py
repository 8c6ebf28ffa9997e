"""Data frames of any library that speaks the Arrow PyCapsule protocol: pandas, polars, pyarrow, duckdb.

String columns are used where they are, without a copy. Columns are found by name: see columns.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield._core import CoreError, arrow_columns, arrow_metadata, read_arrow
from cranfield.formats.format import Parsed, Request, collapsed_note, row_error
from cranfield.formats.given import is_pandas
from cranfield.formats.layout import check_grades, require_columns
from cranfield.formats.memory import read_lists
from cranfield.travel import unpacked

if TYPE_CHECKING:
    import pandas

    from cranfield.formats.given import ArrowStream


def read_frame(frame: ArrowStream, source: str, request: Request) -> Parsed:
    try:
        stream = frame.__arrow_c_stream__()
    except (ImportError, TypeError, ValueError):
        if not is_pandas(frame):
            raise
        # pandas needs pyarrow for this, and pyarrow needs columns of one type; without either, the columns will do
        return _read_pandas_columns(frame, source, request)
    metadata = arrow_metadata(stream)
    try:
        names = arrow_columns(stream)
        columns = require_columns(names, request.kind, request.columns, source)
        wanted = [columns.topic, columns.document, columns.value, columns.rank]
        table = read_arrow(stream, wanted, columns.kind, request.threads)
    except CoreError as error:
        raise row_error(error, source, request) from None
    check_grades(table, names[columns.value], request, source)
    return Parsed(table, collapsed_note(table), luggage=unpacked(metadata, table, columns.kind) if metadata else None)


def noted(parsed: Parsed) -> Parsed:
    """Tells a table that has come back what its rows cannot."""
    table, luggage = parsed.table, parsed.luggage
    if luggage is not None:
        import numpy as np

        counts = np.zeros((2, len(table.topics())), dtype=np.uint32)
        for row, pairs in enumerate((luggage.collapsed, luggage.rank_disagreements)):
            for topic, count in pairs:
                counts[row, topic] = count
        table.note(counts[0], counts[1])
    return parsed


def _read_pandas_columns(frame: pandas.DataFrame, source: str, request: Request) -> Parsed:
    names = [str(name) for name in frame.columns]
    columns = require_columns(names, request.kind, request.columns, source)
    lists = [frame.iloc[:, i].tolist() for i in (columns.topic, columns.document, columns.value)]
    parsed = read_lists(lists[0], lists[1], lists[2], source, request, kind=columns.kind)
    check_grades(parsed.table, names[columns.value], request, source)
    return parsed
