"""Runs as a cluster reads them: the rows of Spark's frames, files whole, and large files in pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeGuard

from cranfield.errors import ArgumentError, DataError, UsageError, all_told, plural, shorten, some
from cranfield.formats import chosen_format, distinct_names, request_for, stem
from cranfield.formats.datasets import is_dataset
from cranfield.formats.layout import Columns, require_columns
from cranfield.formats.reading import Reading
from cranfield.formats.refusals import IDS
from cranfield.formats.sources import opened_file
from cranfield.formats.unpacking import compression_of
from cranfield.spark.jobs import JUDGEMENTS, LAYOUTS
from cranfield.spark.piece_texts import FilePiece
from cranfield.tables import describe_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from cranfield.formats.given import Path

    GivenRun: TypeAlias = "DataFrame | Path"
    ClusterRuns: TypeAlias = "GivenRun | Sequence[GivenRun] | Mapping[str, GivenRun]"

_HEAD = 1 << 16
_TREC = ("topic", "Q0", "document", "rank", "score", "tag")
_NUMBERS = ("byte", "short", "integer", "long", "float", "double", "boolean")  # those of Arrow that readers take
_OPENED_HERE = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # names of files that a process has open


class Cutting(NamedTuple):
    """How files are cut: into pieces of `most` bytes at most, of one size, and as many as keep all `cores` busy."""

    most: int
    cores: int

    def cuts(self, size: int) -> list[int]:
        """The bytes at which a file is cut, from its first to its end.

        >>> Cutting(100, 2).cuts(250), Cutting(100, 2).cuts(80)
        ([0, 63, 126, 189, 250], [0, 80])
        """
        pieces = -(-size // self.most)
        pieces = pieces if pieces == 1 else -(-pieces // self.cores) * self.cores
        return [*range(0, size, -(-size // pieces)), size]


class RunSource(NamedTuple):
    """A run under a name that no other has: `kind` says what its rows are (a format of text, or score or rank in a
    frame), or nothing where its file is read whole. `title` is what it is called, as others may be; `files` and `path`
    are as they were given, and what travels to workers, whose folders are others, is absolute. Of one that cannot be
    read there is an `error`, which is told with those of the others; `notes` are what is odd of its folder."""

    name: str
    kind: str | None
    title: str
    files: tuple[str, ...] = ()
    pieces: tuple[FilePiece, ...] = ()
    path: str | None = None
    notes: tuple[tuple[str, str], ...] = ()
    error: DataError | None = None


class WholeFile(NamedTuple):
    """A file that one task reads: the run that it is, where it lies, and what it was called when it was given."""

    run: str
    path: str
    given: str


class RunSources(NamedTuple):
    """All runs in their order, and the frames that have the rows of some of them."""

    runs: tuple[RunSource, ...]
    frames: tuple[DataFrame, ...]

    @property
    def whole(self) -> tuple[WholeFile, ...]:
        """The files of runs that are read whole."""
        return tuple(
            WholeFile(run.name, os.path.abspath(run.files[0]), run.files[0])
            for run in self.runs
            if run.kind is None and run.error is None
        )

    @property
    def kinds(self) -> dict[str, str]:
        """What the rows are of the runs that travel."""
        return {run.name: run.kind for run in self.runs if run.kind is not None}

    @property
    def pieces(self) -> tuple[FilePiece, ...]:
        """The pieces of files that are read in pieces."""
        return tuple(piece for run in self.runs for piece in run.pieces)

    def told(self, errors: Sequence[DataError]) -> DataError:
        """The errors of some runs as one."""
        return errors[0] if len(errors) == 1 else all_told(errors, "run" if self.frames else "file")


def is_spark(given: object) -> TypeGuard[DataFrame]:
    """Whether this is a frame of Spark."""
    return type(given).__module__.startswith("pyspark.sql")


def refuse_unshared(runs: Sequence[object]) -> None:
    """Refuses what can be read by this process alone: standard input, pipes and devices, data sets of a library."""
    for run in runs:
        if isinstance(run, str | os.PathLike):
            path = os.fspath(run)
            is_pipe = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
            if run == "-" or is_dataset(run) or is_pipe or os.path.abspath(path).startswith(_OPENED_HERE):
                raise UsageError(f"a cluster reads files that every worker sees, not {path}: name a file")


def sources_of(runs: ClusterRuns, reading: Reading, cutting: Cutting, *, whole: bool = True) -> RunSources:
    """The runs that were given; large files are read in pieces, and so are others where none may be read `whole`."""
    named: list[tuple[str | None, Any]]
    if isinstance(runs, Mapping):
        named = [(str(name), run) for name, run in runs.items()]
    else:
        named = [(None, run) for run in (runs if isinstance(runs, list | tuple) else [runs])]
    if not named:
        raise UsageError("no run given")
    refuse_unshared([run for _, run in named])
    made: list[RunSource] = []
    frames: list[DataFrame] = []
    for number, (name, run) in enumerate(named, start=1):
        if is_spark(run):
            default = name or ("run" if len(named) == 1 else f"run{number}")
            frame, of_frame = _of_frame(run, name, default, reading)
            frames.append(frame)
            made += of_frame
        elif isinstance(run, str | os.PathLike):
            made.append(_of_path(os.fspath(run), name, reading, cutting, whole))
        else:
            raise ArgumentError(
                f"a run is a frame of Spark or the path of a file that every worker sees, not {describe_type(run)}",
                "What is in memory here is evaluated here: cranfield.evaluate takes it.",
            )
    sources = RunSources(tuple(_told_apart(made)), tuple(frames))
    errors = [run.error for run in made if run.error is not None]
    if len(errors) == len(made):  # no task is left that could find more
        raise sources.told(errors)
    return sources


def _told_apart(runs: Sequence[RunSource]) -> Iterator[RunSource]:
    names = distinct_names([(run.name, run.files[0] if run.files else None) for run in runs])
    twice = [run.name for run, name in zip(runs, names, strict=True) if not run.files and run.name != name]
    if twice:
        raise UsageError(f"more than one frame has rows of {some(list(dict.fromkeys(twice)))}: name runs apart")
    for run, name in zip(runs, names, strict=True):
        pieces = tuple(piece._replace(run=name) for piece in run.pieces)
        yield run._replace(name=name, pieces=pieces)


# -- files --


def _of_path(path: str, name: str | None, reading: Reading, cutting: Cutting, whole: bool) -> RunSource:
    """A file or a folder; what is wrong with it waits, to be told with what tasks find wrong with others."""
    name = name or stem(path.rstrip("/"))
    try:
        return _of_files(path, name, reading, cutting, whole)
    except DataError as error:
        return RunSource(name, None, name, (path,), path=path, error=error)


def _of_files(path: str, name: str, reading: Reading, cutting: Cutting, whole: bool) -> RunSource:
    """A file, or a folder of files that are one run, as Spark writes them."""
    files, notes = _listed(path) if os.path.isdir(path) else ((path,), ())
    try:
        kinds = {file: _text_format(file, reading) for file in files}
    except DataError:  # whoever reads it will tell, of all such files at once
        return RunSource(name, None, name, (path,), path=path)
    sizes = {file: os.path.getsize(file) for file in files if kinds[file] is not None}
    if whole and len(files) == 1 and (kinds[files[0]] is None or sizes[files[0]] <= cutting.most):
        return RunSource(name, None, name, files, path=path, notes=notes)
    odd = [file for file in files if kinds[file] is None or kinds[file] != kinds[files[0]]]
    if odd:
        raise _not_plain(odd[0], reading)
    absolute = tuple(map(os.path.abspath, files))
    pieces = tuple(
        FilePiece(name, absolute, number, *ends)
        for number, file in enumerate(files)
        for ends in pairwise(cutting.cuts(sizes[file]))
    )
    return RunSource(name, kinds[files[0]], name, files, pieces, path, notes)


def _listed(folder: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The files of a folder with anything in them, and a note of those without."""
    names = sorted(name for name in os.listdir(folder) if not name.startswith(("_", ".")))
    paths = [os.path.join(folder, name) for name in names]
    inner = [path for path in paths if os.path.isdir(path)]
    if inner:
        raise DataError(
            f"has a folder in it, {shorten(os.path.basename(inner[0]), 60)}: the files of a run lie side by side",
            source=folder,
            remedy="partitionBy of Spark writes such folders: read them with Spark, and give the frame.",
        )
    files = tuple(path for path in paths if os.path.isfile(path) and os.path.getsize(path))
    if not files:
        raise DataError("no file with anything in it is in this folder", source=folder)
    empty = [name for name, path in zip(names, paths, strict=True) if os.path.isfile(path) and path not in files]
    if not empty:
        return files, ()
    note = f"{plural(len(empty), 'empty file')} left out: {some(empty)} (a task that failed leaves such)"
    return files, (("empty-files", note),)


def _text_format(path: str, reading: Reading) -> str | None:
    """The format of a file that is plain text of which each line begins with its topic; otherwise none."""
    with opened_file(path) as file:
        head = file.read(_HEAD)
    if not head or compression_of(head) is not None or head[:2] in (b"\xff\xfe", b"\xfe\xff", b"PK"):
        return None
    name = chosen_format(reading.format, head, path, request_for("score", reading)).name
    return name if name in LAYOUTS else None


def _not_plain(path: str, reading: Reading) -> DataError:
    """The error for a file that is not text whose lines begin with their topic, and what can be done about it."""
    with opened_file(path) as file:
        head = file.read(_HEAD)
    remedy = "Read it with Spark, and give the frame."
    if compression_of(head) is not None:
        remedy = "Unpack it, or read it with Spark and give the frame."
    elif reading.format is None and len(head.split(b"\n", 1)[0].split()) == len(_TREC):
        remedy = (
            "Its name says otherwise, but its lines may be TREC text: --format trec (Reading(format='trec') in Python) "
            "reads them."
        )
    return DataError(
        "is not plain TREC text, as a run must be that is a folder, or is joined with judgements by topic",
        source=path,
        remedy=remedy,
    )


# -- frames --


def column_of(frame: DataFrame, place: int) -> Column:
    """A column by its place: its name is quoted, since a dot in it means a field of a struct otherwise."""
    return frame["`" + frame.columns[place].replace("`", "``") + "`"]


def _of_frame(frame: DataFrame, name: str | None, default: str, reading: Reading) -> tuple[DataFrame, list[RunSource]]:
    """The rows of a frame as they travel, and the runs in it: those of a column of names, unless it has one name."""
    from pyspark.sql import functions

    columns = require_columns(frame.columns, "score", reading.told, default)
    by_name = columns.tag >= 0 and name is None
    run = column_of(frame, columns.tag).cast("string") if by_name else functions.lit(default)
    rows = travelling(frame, columns, run, default)
    names = [default]
    if by_name:
        found = [row[0] for row in rows.select("run").distinct().collect()]
        unnamed = [found_name for found_name in found if not found_name]
        if unnamed:
            raise DataError(
                f"a row without a name of its run, in the column '{frame.columns[columns.tag]}'",
                source="the runs",
                remedy="Fill it in, or leave the rows out.",
            )
        names = sorted(found)
    if not names:
        raise DataError("has no rows", source="the runs", remedy="Give at least one document.")
    return rows, [RunSource(one, columns.kind, one) for one in names]


def judgement_rows(frame: DataFrame, reading: Reading) -> DataFrame:
    """The rows of judgements as they travel."""
    from pyspark.sql import functions

    columns = require_columns(frame.columns, "grade", reading.told, "the judgements")
    return travelling(frame, columns, functions.lit(JUDGEMENTS), "the judgements")


def travelling(frame: DataFrame, columns: Columns, run: Column, source: str) -> DataFrame:
    """The columns of a frame by what they are, with ids as bytes and values as doubles."""
    from pyspark.sql import functions

    def id_of(place: int, role: str) -> Column:
        column, type = column_of(frame, place), frame.schema[place].dataType.typeName()
        if type not in ("string", "binary", "byte", "short", "integer", "long"):
            raise ArgumentError(f"{source}: {role} ids are text or whole numbers, not {type}", IDS)
        return column if type == "binary" else column.cast("string").cast("binary")

    type = frame.schema[columns.value].dataType.typeName()
    value = frame.columns[columns.value]
    if type not in _NUMBERS:
        cast = "Cast it: Column.cast('double')."
        raise ArgumentError(f"{source}: column '{value}' must have floats or whole numbers, not {type}", cast)
    if columns.rank >= 0 and frame.schema[columns.rank].dataType.typeName() not in _NUMBERS:
        type = frame.schema[columns.rank].dataType.typeName()
        raise ArgumentError(f"{source}: column '{frame.columns[columns.rank]}' must have whole numbers, not {type}")
    null = functions.lit(None)
    rank = null.cast("int") if columns.rank < 0 else column_of(frame, columns.rank).cast("int")
    return frame.select(
        run.alias("run"),
        id_of(columns.topic, "topic").alias("topic"),
        functions.lit(0).cast("bigint").alias("place"),
        null.cast("binary").alias("text"),
        id_of(columns.document, "document").alias("document"),
        column_of(frame, columns.value).cast("double").alias("value"),
        rank.alias("rank"),
    )
