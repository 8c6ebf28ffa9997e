"""Parquet files, through pyarrow. Columns are found by name: see layout.py."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats.format import Judging, Parsed, Request, Rows, Writer, collapsed_note, table_format, tagged
from cranfield.formats.layout import Columns, require_columns
from cranfield.formats.rows import column_names
from cranfield.formats.sources import Buffer
from cranfield.formats.stand_ins import number_columns, with_ranks_told
from cranfield.formats.unpacking import let_go
from cranfield.tables import Run, side_by_side

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.parquet

    from cranfield._core import FrameStream

BATCH = 1 << 16  # rows that are unpacked at once
ROWS_AT_ONCE = 7_000_000  # rows of scattered topics that are held in memory, to be put in order


def read_parquet(data: Buffer, source: str, request: Request) -> Parsed:
    """The columns that are wanted, as Arrow has them: no row of theirs becomes an object of Python."""
    schema = _opened(data, source).schema_arrow
    names = _names(schema, source)
    columns = require_columns(names, request.kind, request.columns, source)
    few = [names[place] for place in (columns.topic, columns.tag) if place >= 0]  # of which many rows have the same
    few = [name for name in few if _is_text(schema.field(name))]
    try:
        parsed = _read(data, source, request, columns, few)
    except _NotByEntriesError:
        parsed = _read(data, source, request, columns, [])
    return with_ranks_told(parsed, names, columns, number_columns(schema))


class _NotByEntriesError(Exception):
    """The file cannot be read so that each different text of some columns comes once: pyarrow can't do that with every
    encoding, or the file is damaged.
    """


def _read(data: Buffer, source: str, request: Request, columns: Columns, few: list[str]) -> Parsed:
    from cranfield.formats.frames import read_frame

    file = _opened(data, source, few)
    names = file.schema_arrow.names
    wanted = [names[place] for place in columns[:5] if place >= 0]
    tag = names[columns.tag] if columns.tag >= 0 else None
    if request.judging is not None:
        judged = _judged(_RowGroups(data, file.metadata, few, wanted, tag), columns, request, request.judging)
        if judged is not None:
            return judged
    table = _columns_of(file, wanted, source, few)
    return read_frame(table, source, request)._replace(luggage=None)  # a file is what it is, whoever wrote it


class _RowGroups:
    """The row groups of a file, each read by itself: those that are not wanted at the moment need no memory."""

    def __init__(
        self,
        data: Buffer,
        metadata: pyarrow.parquet.FileMetaData,
        few: list[str],
        names: list[str],
        tag: str | None,
    ) -> None:
        self.data, self.metadata, self.few, self.names, self.tag = data, metadata, few, names, tag
        self.sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]

    def read(self, group: int, stream: FrameStream) -> list[object] | None:
        """Gives the rows of a group to a stream, and gives their tags; nothing where there is no use in going on."""
        import pyarrow
        import pyarrow.parquet

        from cranfield.formats.frames import tags_of

        tags: list[object] = []
        left = self.sizes[group]

        def batches() -> Iterator[pyarrow.RecordBatch]:
            nonlocal left
            file = pyarrow.parquet.ParquetFile(
                pyarrow.py_buffer(self.data),
                metadata=self.metadata,
                read_dictionary=self.few,
                page_checksum_verification=True,
            )
            for batch in file.iter_batches(BATCH, row_groups=[group], columns=self.names, use_threads=False):
                left -= len(batch)
                if self.tag is not None:
                    tags.extend(tags_of(batch.column(self.tag)))
                yield batch.select(self.names)  # in this order, whatever that of the file is

        went_on = True
        try:
            made = batches()
            first = next(made, None)
            if first is not None:
                reader = pyarrow.RecordBatchReader.from_batches(first.schema, chain([first], made))
                del first  # it need not stay until the last is read
                went_on = stream.read(reader.__arrow_c_stream__(), group)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError):
            return None  # whoever reads the whole file tells what is wrong
        let_go(self.data, 0, len(self.data))  # what is read of it elsewhere comes back from the file
        return tags if went_on and left == 0 else None


def _judged(groups: _RowGroups, columns: Columns, request: Request, judging: Judging) -> Parsed | None:
    """A run judged as it is read, one row group after another; nothing where there is a fault in it."""
    from cranfield._core import FrameStream

    here = [place for place in columns[:5] if place >= 0]  # as they stand in batches
    wanted = [here.index(place) if place >= 0 else -1 for place in columns[:4]]
    stream = FrameStream(wanted, columns.kind, judging.qrels, judging.ties == "file")
    tags = _passed(groups, stream, request)
    if not stream.end_share(request.threads):
        if not stream.is_scattered:
            return None
        shares = groups.metadata.num_rows // ROWS_AT_ONCE + 1
        for share in range(shares):
            stream.begin_share(share, shares)
            tags = _passed(groups, stream, request)
            if not stream.end_share(request.threads):
                return None
    if tags is None:
        return None
    table = stream.finish()
    return tagged(Parsed(table, collapsed_note(table)), tags)


def _passed(groups: _RowGroups, stream: FrameStream, request: Request) -> list[object] | None:
    """Gives all rows of a file to a stream, and gives the tags; nothing where there was no use in going on."""
    size, count = len(groups.data), len(groups.sizes)
    request.progress.expect(size)

    def read(group: int) -> list[object] | None:
        tags = groups.read(group, stream)
        request.progress.advance(size * (group + 1) // count - size * group // count)  # groups are about alike
        return tags

    tags: list[object] = []
    for of_group in side_by_side(read, range(len(groups.sizes)), request.threads):
        if of_group is None:
            return None
        tags += of_group
    return tags


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
        file = pyarrow.parquet.ParquetFile(
            pyarrow.py_buffer(data), read_dictionary=few, page_checksum_verification=True
        )
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _damaged(error, source) from None
    _check_footer(file.metadata, source)
    return file


def _check_footer(metadata: pyarrow.parquet.FileMetaData, source: str) -> None:
    """That what a footer says twice is the same: it has no checksum, and pyarrow believes either."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != metadata.num_rows:
        raise _damaged(f"{rows:,} rows where it should have {metadata.num_rows:,}", source)
    for place in range(metadata.num_columns if groups else 0):
        said, stored = metadata.schema.column(place).physical_type, groups[0].column(place).physical_type
        if said != stored:
            raise _damaged(f"a column is {said} and {stored} at once", source)


def _columns_of(
    file: pyarrow.parquet.ParquetFile, names: list[str] | None, source: str, few: Sequence[str] = ()
) -> pyarrow.Table:
    """Some columns of a file in the order in which they stand there, or all."""
    import pyarrow

    try:
        table = file.read(columns=names)
        for column in table.columns:
            if pyarrow.types.is_dictionary(column.type):
                column.validate(full=True)  # pyarrow does not look whether there are the entries that rows refer to
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        if few:
            raise _NotByEntriesError from error
        raise _damaged(error, source) from None
    if table.num_rows != file.metadata.num_rows:
        raise _damaged(f"{table.num_rows:,} rows where it should have {file.metadata.num_rows:,}", source)
    return table


def _names(schema: pyarrow.Schema, source: str) -> list[str]:
    try:
        names: list[str] = schema.names
    except UnicodeDecodeError as error:
        raise _damaged(f"the name of a column is not UTF-8: {error.object!r}", source) from None
    return names


def _damaged(why: object, source: str) -> DataError:
    return DataError(f"damaged Parquet file ({why})", source=source)


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
