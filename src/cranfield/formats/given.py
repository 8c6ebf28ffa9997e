"""What runs, judgements and texts may be given as: the types that the readers take, and how they are told apart."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from typing import Protocol

    import numpy as np
    import pandas
    from numpy.typing import NDArray
    from typing_extensions import TypeIs

    from cranfield.render.json_form import Json as Json
    from cranfield.tables import Qrels, Run

    class Readable(Protocol):
        """An open file."""

        def read(self) -> str | bytes: ...

    class ArrowStream(Protocol):
        """A data frame of any library that speaks the Arrow PyCapsule protocol, whose capsules have no type."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Path: TypeAlias = "str | os.PathLike[str]"
File: TypeAlias = "Path | Readable"
Scalar: TypeAlias = "str | bytes | int | float | np.generic | None"
# What a topic has: {document: number}, {document: (grade, chance)}, {document: {group: grade}}, [(better, worse), …].
Value: TypeAlias = "Scalar | Sequence[Value] | Nested"
Nested: TypeAlias = "Mapping[str, Value] | Mapping[int, Value] | Mapping[str | int, Value]"
Values: TypeAlias = "list[Scalar]"
Column: TypeAlias = "NDArray[np.generic] | Sequence[Scalar] | Sequence[Sequence[Scalar]]"
Arrays: TypeAlias = "tuple[Column, Column, Column]"
# A named tuple, a dict, or a tuple of ids where preferences are given.
Record: TypeAlias = "tuple[Scalar, ...] | Mapping[str, Scalar]"
Records: TypeAlias = "Iterable[Record]"
Given: TypeAlias = "File | ArrowStream | Nested | Arrays | Records | Run | Qrels"
# One run, a list of them, or {name: run}; a list under a name has the runs of one system under several seeds.
GivenRuns: TypeAlias = "Given | Sequence[Given] | Mapping[str, Given | Sequence[Given]]"


ON_SPARK = (
    "Its rows are on a cluster: cranfield.spark.evaluate takes it, with a column for the run; .toArrow() brings a "
    "small one here."
)


def is_file(source: Given) -> TypeIs[File]:
    """Whether this is a path or an open file, rather than something in memory.

    >>> is_file("a.run"), is_file({"q1": {"d1": 1.0}})
    (True, False)
    """
    return isinstance(source, str | os.PathLike) or is_open(source)


def is_open(source: Given) -> TypeIs[Readable]:
    """Whether this is an open file: a wrapper may have the method without being of a class that has it."""
    return hasattr(source, "read")


def is_frame(source: Given) -> TypeIs[ArrowStream]:
    """Whether this is a data frame."""
    return hasattr(source, "__arrow_c_stream__")


def is_of_spark(source: object) -> bool:
    """Whether this is a frame of Spark: its rows are on a cluster, and may be of several runs."""
    return type(source).__module__.startswith("pyspark.")


def to_be_collected(source: object) -> list[str]:
    """What to do with a frame that is only asked for, as a LazyFrame of polars is, or with one of Spark."""
    if is_of_spark(source):
        return [ON_SPARK]
    return ["Its rows are not read yet: call .collect()."] if hasattr(source, "collect") else []


def is_pandas(source: Given) -> TypeGuard[pandas.DataFrame]:
    """Whether this is a data frame of pandas, which needs pyarrow to be read as any other."""
    return hasattr(source, "iloc")
