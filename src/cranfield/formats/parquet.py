"""Parquet files, through pyarrow. Columns are found by name: see columns.py."""

from __future__ import annotations

from typing import Any

from cranfield.errors import DataError
from cranfield.formats.base import Format, Reading, Request
from cranfield.formats.frames import read_frame


def read_parquet(data: Any, source: str, request: Request) -> Reading:
    return read_frame(parquet_table(data, source), source, request)


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
