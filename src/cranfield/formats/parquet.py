"""Parquet files, through pyarrow. Columns are found by name: see columns.py."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats.format import Parsed, Request, Rows, Writer, table_format, tagged
from cranfield.formats.layout import require_columns
from cranfield.formats.rows import column_names
from cranfield.formats.sources import Buffer
from cranfield.tables import Run

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

    from cranfield.formats.given import Json


def read_parquet(data: Buffer, source: str, request: Request) -> Parsed:
    """The columns that are wanted, as Arrow has them: no row of theirs becomes an object of Python."""
    from cranfield.formats.frames import read_frame

    file = _opened(data, source)
    names = file.schema_arrow.names
    columns = require_columns(names, request.kind, request.columns, source)
    few = [names[place] for place in (columns.topic, columns.tag) if place >= 0]  # of which many rows have the same
    file = _opened(data, source, [name for name in few if _is_text(file.schema_arrow.field(name))])
    table = _columns_of(file, [names[place] for place in columns[:5] if place >= 0], source)
    reading = read_frame(table, source, request)._replace(luggage=None)  # a file is what it is, whoever wrote it
    return tagged(reading, _tags(table.column(names[columns.tag]))) if columns.tag >= 0 else reading


def parquet_table(data: Buffer, source: str) -> pyarrow.Table:
    """The file as a table of pyarrow, with every column."""
    return _columns_of(_opened(data, source), None, source)


def _is_text(field: pyarrow.Field) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type))


def _opened(data: Buffer, source: str, few: Sequence[str] = ()) -> pyarrow.parquet.ParquetFile:
    """The file; of columns that hold few different texts, each of these once."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError(
            "reading Parquet needs pyarrow", source=source, remedy="pip install 'cranfield[frames]'"
        ) from None
    try:
        return pyarrow.parquet.ParquetFile(pyarrow.py_buffer(data), read_dictionary=few)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"damaged Parquet file ({error})", source=source) from None


def _columns_of(file: pyarrow.parquet.ParquetFile, names: list[str] | None, source: str) -> pyarrow.Table:
    """Some columns of a file in the order in which they stand there, or all."""
    import pyarrow

    try:
        return file.read(columns=names)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"damaged Parquet file ({error})", source=source) from None


def _tags(column: pyarrow.ChunkedArray) -> list[Json]:
    """The tags that there are, and at the end that of the last row which has one."""
    import pyarrow

    if pyarrow.types.is_nested(column.type) or pyarrow.types.is_floating(column.type):
        return list(column.to_pylist())
    known = column.drop_null()
    return [*known.unique().to_pylist(), *known[-1:].to_pylist()]


def rows_with(table: pyarrow.Table, column: int, ids: Collection[str]) -> bytes:
    """The rows that have one of some ids in a column, as a Parquet file with every column."""
    import pyarrow
    import pyarrow.parquet

    kept = table.filter(pyarrow.array([str(id) in ids for id in table.column(column).to_pylist()]))
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(kept, sink)
    return bytes(sink.getvalue())


def columns(table: Rows, tag: str) -> dict[str, list[str | float]]:
    """Topic, document and number as columns, for Parquet; of runs also rank and tag."""
    rows = [
        (topic, document, rank, value, tag) if isinstance(table, Run) else (topic, document, value)
        for topic, documents in table.to_dict().items()
        for rank, (document, value) in enumerate(documents.items(), start=1)
    ]
    return {name: list(column) for name, column in zip(column_names(table), zip(*rows, strict=True), strict=True)}


def table_bytes(columns: Mapping[str, list[str] | list[str | float]]) -> bytes:
    """Columns as a Parquet file."""
    import io

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise DataError("needs pyarrow", source="Parquet", remedy="pip install 'cranfield[frames]'") from None
    out = io.BytesIO()
    try:
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), out)
    except UnicodeEncodeError as error:
        raise DataError(f"{error.object!r} is not UTF-8", remedy="Parquet holds nothing else; choose trec.") from None
    return out.getvalue()


PARQUET = table_format(
    "parquet",
    read_parquet,
    suffixes=(".parquet",),
    recognise=lambda head, request: head[:4] == b"PAR1",
    tried=0,
    writer=Writer(lambda table, tag: [table_bytes(columns(table, tag))], (".parquet",)),
)
