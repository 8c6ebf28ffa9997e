"""Documents and topics in memory: dicts, records such as those of ir_datasets, data frames; and Parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, cast

from cranfield.errors import ArgumentError, DataError
from cranfield.formats.given import is_frame, is_pandas
from cranfield.formats.memory import records_of, values_of
from cranfield.formats.sources import Buffer
from cranfield.tables import describe_type
from cranfield.texts.columns import find_roles, held_names, require_roles
from cranfield.texts.forms import Found, Kind, Losses, Texts
from cranfield.texts.json_lines import as_text

if TYPE_CHECKING:
    from cranfield.formats.given import Given, Nested, Record, Records, Scalar, Value

EXPECTED = "a path, an open file, {id: text}, {id: {field: text}}, a data frame or an iterable of records"


def read_memory(source: Given, label: str, kind: Kind) -> Found:
    """Whatever is neither a path nor an open file."""
    if isinstance(source, Mapping):
        return _read_mapping(source, label, kind)
    if is_pandas(source):
        columns = {str(name): source.iloc[:, i].tolist() for i, name in enumerate(source.columns)}
        return read_columns(columns, label, kind)
    if is_frame(source):
        return read_columns(_pyarrow(label).table(source).to_pydict(), label, kind)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray | memoryview):
        rows, names = records_of(cast("Records", source), label)
        columns = {name: values_of(rows, name, label) for name in names}
        return read_columns(columns | _default_texts(rows, columns, kind), label, kind)
    raise ArgumentError(f"{label}: expected {EXPECTED}, not {describe_type(source)}")


class _WithText(Protocol):
    """A record of ir_datasets that says itself what its text is."""

    def default_text(self) -> str: ...


def _default_texts(rows: list[Record], columns: Mapping[str, list[Scalar]], kind: Kind) -> dict[str, list[str]]:
    """What ir_datasets says is the text of its records, where no field is: there is none, or it is a page in bytes."""
    if not hasattr(rows[0], "default_text"):
        return {}
    roles = find_roles(list(columns), kind)
    main = "text" if kind == "documents" else "title"
    pages = [name for name, role in (roles or {}).items() if role == main and isinstance(columns[name][0], bytes)]
    unread = pages if roles else ["text"]
    return {name: [cast("_WithText", row).default_text() for row in rows] for name in unread}


def _read_mapping(source: Nested, label: str, kind: Kind) -> Found:
    main = "text" if kind == "documents" else "title"
    entries = [
        cast("Mapping[str, Value]", entry) if isinstance(entry, Mapping) else {main: entry} for entry in source.values()
    ]
    names = dict.fromkeys(str(name) for entry in entries for name in entry)
    columns: dict[str, list[Value]] = {"id": list(source)}
    return read_columns(columns | {name: [entry.get(name) for entry in entries] for name in names}, label, kind)


def read_columns(columns: Mapping[str, Sequence[Value]], source: str, kind: Kind) -> Found:
    """Columns by name, with a value for each id."""
    roles = require_roles(list(columns), kind, source)
    fields = {roles[name]: column for name, column in columns.items()}
    ids = fields.pop("id")
    for row, id in enumerate(ids):
        if not isinstance(id, str | int) or isinstance(id, bool) or id == "":
            raise DataError(
                f"row {row} (counting from 0): the id {id!r} is neither text nor a whole number", source=source
            )
    texts = {name: [as_text(value) for value in column] for name, column in fields.items()}
    return Found([str(id) for id in ids], texts, lambda number: (source, None), [])


def read_parquet(data: Buffer, source: str, kind: Kind) -> Found:
    from cranfield.formats.parquet import parquet_table

    return read_columns(parquet_table(data, source).to_pydict(), source, kind)


def parquet_bytes(texts: Texts, losses: Losses) -> bytes:
    """The content of a Parquet file."""
    from cranfield.formats.parquet import table_bytes

    names = held_names(texts, losses)
    return table_bytes(
        {"id": list(texts.ids)} | {name: list(texts.fields.get(name, [""] * len(texts))) for name in names}
    )


def _pyarrow(label: str) -> ModuleType:
    try:
        import pyarrow
    except ImportError:
        raise DataError("needs pyarrow", source=label, remedy="pip install 'cranfield[frames]'") from None
    module: ModuleType = pyarrow
    return module
