"""Data frames of any library that speaks the Arrow PyCapsule protocol: pandas, polars, pyarrow, duckdb.

String columns are used where they are, without a copy. Columns are found by name: see layout.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from cranfield._core import CoreError, arrow_columns, arrow_metadata, read_arrow
from cranfield.formats.format import Parsed, Request, collapsed_note, decode, tagged
from cranfield.formats.given import is_pandas
from cranfield.formats.labels import is_label
from cranfield.formats.layout import check_grades, require_columns
from cranfield.formats.memory import read_lists
from cranfield.formats.refusals import row_error
from cranfield.formats.stand_ins import number_columns, with_numbers, with_ranks_told
from cranfield.travel import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas
    import pyarrow

    from cranfield.formats.given import ArrowStream, Values

    Lists: TypeAlias = list[tuple[str, Values]]


def read_frame(frame: ArrowStream, source: str, request: Request) -> Parsed:
    try:
        stream = frame.__arrow_c_stream__()
    except (ImportError, TypeError, ValueError):
        if not is_pandas(frame):
            raise
        # pandas needs pyarrow for this, and pyarrow needs columns of one type; without either, the columns will do
        return _read_lists(_pandas_columns(frame), source, request)
    metadata = arrow_metadata(stream)
    tags: list[object] = []
    numbers: list[str] = []
    try:
        names = arrow_columns(stream)
        columns = require_columns(names, request.kind, request.columns, source)
        if columns.tag >= 0 or columns.kind == "rank":
            stream, numbers = _watched(frame, stream, columns.tag, tags)
        wanted = [columns.topic, columns.document, columns.value, columns.rank]
        judging = (None, False) if metadata else request.judged_against  # rows tell whether it is still theirs
        table = read_arrow(stream, wanted, columns.kind, *judging, request.threads)
    except CoreError as error:
        lists = _columns_of(frame) if "score or grade" in error.args[1].get("message", "") and request.labels else None
        if lists is None or not _has_labels(lists[columns.value][1]):
            raise row_error(error, source, request, tags) from None
        return _read_lists(lists, source, request)
    check_grades(table, names[columns.value], request, source)
    luggage = unpacked(metadata, table, columns.kind) if metadata else None
    parsed = tagged(Parsed(table, collapsed_note(table), luggage=luggage), tags)
    return with_ranks_told(parsed, names, columns, numbers)


class _Held:
    """A stream that has been asked for, to be given on."""

    def __init__(self, stream: object) -> None:
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.stream


def _watched(frame: ArrowStream, stream: object, tag: int, tags: list[object]) -> tuple[object, list[str]]:
    """The same stream, of which a column of tags is looked at as it passes, for some pass only once; and the names of
    the columns that have numbers.
    """
    try:
        import pyarrow
    except ImportError:
        columns = getattr(frame, "get_columns", None)  # polars does without
        if tag >= 0 and columns is not None:
            tags += columns()[tag].unique(maintain_order=True).to_list()
        return stream, []
    reader = pyarrow.RecordBatchReader.from_stream(_Held(stream))

    def passing() -> Iterator[pyarrow.RecordBatch]:
        for batch in reader:
            if tag >= 0:
                tags.extend(tags_of(batch.column(tag)))
            yield batch

    watched = pyarrow.RecordBatchReader.from_batches(reader.schema, passing())
    return watched.__arrow_c_stream__(), number_columns(reader.schema)


def tags_of(column: pyarrow.Array) -> list[object]:
    """The tags of some rows, each once, and at the end that of the last row which has one."""
    import pyarrow

    if str(column.type) == "string_view":  # as polars has it
        column = column.cast(pyarrow.large_string())
    if pyarrow.types.is_nested(column.type) or pyarrow.types.is_floating(column.type):
        return _values(column)
    known = column.drop_null()
    return [*_values(known.unique()), *_values(known[-1:])]


def _values(column: pyarrow.Array) -> list[object]:
    """What a column holds, for Python. Text is any bytes, as ids are; what Python has no value for, such as dates after
    the year 9999, is a number.
    """
    import pyarrow

    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        texts = column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column
        return [decode(text) for text in texts.cast(pyarrow.large_binary()).to_pylist() if text is not None]
    except (OverflowError, ValueError):  # of a time zone that nobody knows
        return list(column.cast(f"int{column.type.bit_width}").to_pylist())


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


def _pandas_columns(frame: pandas.DataFrame) -> Lists:
    return [(str(name), frame.iloc[:, i].tolist()) for i, name in enumerate(frame.columns)]


def _columns_of(frame: ArrowStream) -> Lists | None:
    """A frame's columns by name, or None where nothing is there to take them out of it."""
    if is_pandas(frame):
        return _pandas_columns(frame)
    try:
        import pyarrow
    except ImportError:
        return None
    table = pyarrow.table(frame)
    return [(name, table.column(i).to_pylist()) for i, name in enumerate(table.column_names)]


def _has_labels(values: Values) -> bool:
    return any(isinstance(value, str) and is_label(value) for value in values)


def _read_lists(lists: Lists, source: str, request: Request) -> Parsed:
    names = [name for name, _ in lists]
    columns = require_columns(names, request.kind, request.columns, source)
    topics, documents, values = (lists[i][1] for i in (columns.topic, columns.document, columns.value))
    tags = lists[columns.tag][1] if columns.tag >= 0 else []
    parsed = read_lists(topics, documents, values, source, request, kind=columns.kind, tags=tags)
    check_grades(parsed.table, names[columns.value], request, source)
    first = [(name, values[0]) for name, values in lists] if values else []
    return with_ranks_told(parsed, names, columns, with_numbers(first))
