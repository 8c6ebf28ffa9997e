"""Tables on their way to other processes and libraries: pickled, or as Arrow.

Pickling: `core/wire.hpp` has the form of tables and its number. The records around them (`Run`, `Qrels`, `Pool`,
`Judged`) are pickled field by field, after that number. What arrives is checked: it is the same, or an error.

Arrow: rows are columns topic, document, and score or grade, which `read_run` and `read_qrels` take like any frame. What
rows cannot tell (name, path, digest, notes, lines that were left out) is JSON in the schema's metadata, under
"cranfield". It is believed where the rows are still those that were written; libraries that keep no metadata, such as
polars, lose it. Further columns of judgements are called "column:NAME" and need pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError
from cranfield.libraries import library
from cranfield.records import NamedTuple, dataclass

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from cranfield._core import Integers, Table
    from cranfield.tables import Origin

PREFIX = "column:"


class Travelling:
    """A dataclass that is pickled by its public fields and the number of the form."""

    def __reduce__(self) -> tuple[Any, ...]:
        from cranfield._core import WIRE_FORM

        names = [field.name for field in fields(self) if not field.name.startswith("_")]  # type: ignore[arg-type]
        state = {name: getattr(self, name) for name in names}
        plain = {name: dict(value) if isinstance(value, Mapping) else value for name, value in state.items()}
        return arrived, (type(self), WIRE_FORM, plain)

    def check(self) -> None:
        """That fields fit each other; a `DataError` otherwise."""


def arrived(kind: type[Travelling], form: int, state: Mapping[str, Any]) -> Travelling:
    """What `Travelling` sent."""
    from cranfield._core import check_form

    check_form(form)
    if not (isinstance(kind, type) and issubclass(kind, Travelling)):
        raise DataError(f"nothing that travels is pickled as {kind!r}")
    try:
        made = kind(**state)
        made.check()
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"this is no {kind.__name__} as it was pickled: {error}") from None
    return made


def table_arrived(form: int, arrays: Mapping[str, Any]) -> Table:
    """The table that `core/wire.cpp` sent."""
    from cranfield._core import table_of_wire
    from cranfield.tables import thread_count

    return table_of_wire(form, **arrays, threads=thread_count())


class Luggage(NamedTuple):
    """What travels with the rows of a frame. `collapsed` and `rank_disagreements` are (number of the topic, count)."""

    origin: Origin
    groups: Mapping[str, tuple[str, ...]]
    columns: tuple[str, ...]
    collapsed: tuple[tuple[int, int], ...]
    rank_disagreements: tuple[tuple[int, int], ...]


def packed(table: Table, kind: str, luggage: Luggage) -> bytes:
    """Luggage as metadata of a schema, with what tells whether the rows are still the same."""
    import json

    from cranfield._core import WIRE_FORM

    said = {"form": WIRE_FORM, "kind": kind, "rows": f"{table.fingerprint():016x}", **luggage._asdict()}
    return json.dumps(said).encode()


def unpacked(metadata: bytes, table: Table, kind: str) -> Luggage | None:
    """What `packed` put there; nothing where it was written for other rows, or in another form."""
    import json

    from cranfield._core import WIRE_FORM
    from cranfield.tables import Origin

    try:
        said = json.loads(metadata)
        if (said["form"], said["kind"]) != (WIRE_FORM, kind) or said["rows"] != f"{table.fingerprint():016x}":
            return None
        name, path, digest, tag, notes, format = said["origin"]
        return Luggage(
            origin=Origin(
                str(name),
                None if path is None else str(path),
                None if digest is None else str(digest),
                str(tag),
                tuple((str(code), str(sentence)) for code, sentence in notes),
                str(format),
            ),
            groups={str(topic): tuple(map(str, names)) for topic, names in said["groups"].items()},
            columns=tuple(map(str, said["columns"])),
            collapsed=_counts(said["collapsed"], table),
            rank_disagreements=_counts(said["rank_disagreements"], table),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _counts(said: Iterable[tuple[int, int]], table: Table) -> tuple[tuple[int, int], ...]:
    counts = tuple((int(topic), int(count)) for topic, count in said)
    if not all(0 <= topic < len(table.topics()) and 0 <= count < 2**32 for topic, count in counts):
        raise ValueError("counts of topics that are not there")
    return counts


def counted(counts: Integers) -> tuple[tuple[int, int], ...]:
    """Counts of topics that are not 0, with the topics' numbers."""
    return tuple((topic, count) for topic, count in enumerate(counts.tolist()) if count)


@dataclass(frozen=True)
class Stream:
    """A stream that is there already, for who asks for one."""

    capsule: object

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.capsule


def with_columns(rows: Stream, columns: Mapping[str, NDArray[Any]]) -> pyarrow.Table:
    """Rows with further columns: numbers, lists of one length, or lists of any."""
    library("pyarrow", "giving judgements with further columns to others")
    import pyarrow as pa

    table = pa.table(rows)
    for name, values in columns.items():
        if values.ndim == 2:
            column = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
        elif values.dtype == object:
            column = pa.array(list(values), type=pa.list_(pa.int64()))
        else:
            column = pa.array(values)
        table = table.append_column(PREFIX + name, column)
    return table


def columns_of(frame: Any, names: Iterable[str], table: Table) -> dict[str, NDArray[Any]]:
    """Further columns of a frame, in the order of the table's rows."""
    library("pyarrow", "reading judgements with further columns")
    import pyarrow as pa

    rows = pa.table(frame)
    if rows.num_rows != table.row_count:
        raise DataError("a stream can be read only once: make a table of it, which can be read again")
    ids = zip(*(map(_bytes, rows.column(name).to_pylist()) for name in ("topic", "document")), strict=True)
    number = {id: i for i, id in enumerate(ids)}
    topics = list(map(_bytes, table.topics()))
    order = [number[topic, _bytes(document)] for topic in topics for document in table.documents(topic)]
    return {name: _values(rows.column(PREFIX + name).combine_chunks())[order] for name in names}


def _values(column: pyarrow.Array) -> NDArray[Any]:
    import numpy as np
    import pyarrow as pa

    if pa.types.is_fixed_size_list(column.type):
        matrix: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
        return matrix.reshape(len(column), column.type.list_size)
    values: NDArray[Any] = np.empty(len(column), dtype=object)
    if not pa.types.is_list(column.type):
        values = column.to_numpy(zero_copy_only=False)
    else:
        for i, entry in enumerate(column):
            values[i] = entry.values.to_numpy(zero_copy_only=False)
    return values


def _bytes(id: str | bytes) -> bytes:
    return id if isinstance(id, bytes) else id.encode("utf-8", "surrogateescape")
