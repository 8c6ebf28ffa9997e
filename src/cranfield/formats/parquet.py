"""Parquet files, through pyarrow. Columns are found by name: see columns.py."""

from __future__ import annotations

from typing import Any

from cranfield.errors import DataError
from cranfield.formats.format import Format, Parsed, Request, tagged
from cranfield.formats.frames import read_frame
from cranfield.formats.layout import require_columns


def read_parquet(data: Any, source: str, request: Request) -> Parsed:
    table = parquet_table(data, source)
    reading = read_frame(table, source, request)._replace(luggage=None)  # a file is what it is, whoever wrote it
    columns = require_columns(table.column_names, request.kind, request.columns, source)
    return tagged(reading, table.column(columns.tag).to_pylist()) if columns.tag >= 0 else reading


def parquet_table(data: Any, source: str) -> Any:
    """The file as a table of pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            "reading Parquet needs pyarrow", source=source, remedy="pip install 'cranfield[frames]'"
        ) from None
    try:
        return pyarrow.parquet.read_table(pyarrow.py_buffer(data))
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"damaged Parquet file ({error})", source=source) from None


PARQUET = Format("parquet", (".parquet",), lambda head, request: head[:4] == b"PAR1", read_parquet)
