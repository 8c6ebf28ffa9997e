"""Columns of Arrow tables, as NumPy works with them: which value is which, and where it stands among others."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import DataError, shorten
from cranfield.online.logs import Frame

Strings: TypeAlias = "NDArray[np.object_]"
Flags: TypeAlias = "NDArray[np.bool_]"
Numbers: TypeAlias = "NDArray[np.int64]"
_ENGINES = ("duckdb", "_duckdb", "polars")


def arrow_table(frame: Frame) -> Any:
    """The rows of a lazy frame as an Arrow table; what an engine finds wrong with a file is told as ours."""
    try:
        return frame.collect(backend="pyarrow").to_native()
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in _ENGINES:
            raise
        raise DataError(f"the log cannot be read: {shorten(' '.join(str(error).split()), 300)}") from None


def chosen(rows: Any, which: Flags) -> Any:
    """Some rows of a table or a column."""
    import pyarrow as pa

    return rows.filter(pa.array(which))


def codes(column: Any) -> Numbers:
    """A number for each value, the same for the same."""
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    found: Numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def numbered(values: Any) -> tuple[list[Any], Numbers]:
    """The different values of an array, and for each row the number of its own, -1 where there is none."""
    import pyarrow as pa

    encoded = (pa.array(values) if isinstance(values, np.ndarray) else values).dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)


def places(column: Any, among: Any) -> Numbers:
    """Where each value stands among others, or -1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    others = among.cast(column.type)
    others = others.combine_chunks() if isinstance(others, pa.ChunkedArray) else others
    found = pc.fill_null(pc.index_in(column, value_set=others), -1)
    return np.asarray(found.to_numpy(), dtype=np.int64)


def is_among(column: Any, among: Any) -> Flags:
    """Whether each value is one of others."""
    return places(column, among) >= 0


def objects(column: Any) -> Strings:
    """The values as Python has them."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=object)


def texts(column: Any) -> Strings:
    """The values as texts, whatever they are."""
    import pyarrow as pa

    return objects(column.cast(pa.string()))
