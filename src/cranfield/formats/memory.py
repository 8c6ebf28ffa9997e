"""Python objects: dict of dicts or of ranked lists, arrays of ids and scores, records such as ir_measures' tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import getitem
from typing import TYPE_CHECKING, Any, cast

from cranfield._core import CoreError, Table, read_columns, read_dict, read_integer_columns
from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten
from cranfield.formats.format import EXPECTED, Parsed, Request, collapsed_note, tagged
from cranfield.formats.labels import grade_of, remedies
from cranfield.formats.layout import check_grades, require_columns
from cranfield.formats.refusals import IDS, no_number, row_error
from cranfield.formats.stand_ins import with_numbers, with_ranks_told
from cranfield.tables import describe_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cranfield._core import Floats
    from cranfield.formats.given import Arrays, Column, Nested, Record, Records, Scalar, Value, Values

FAISS_PADDING = -1


def read_mapping(outer: Nested, source: str, request: Request) -> Parsed:
    """{topic: {document: number}}, or of a run {topic: [document, …]}, best first."""
    if request.kind == "score" and any(isinstance(documents, list) for documents in outer.values()):
        return _read_ranked(outer, source, request)
    plain: dict[str | int, Value] = {
        topic: documents if isinstance(documents, dict) or not isinstance(documents, Mapping) else dict(documents)
        for topic, documents in outer.items()
    }
    try:
        table = _read_dict(plain, request)
    except CoreError as error:
        raise row_error(error, source, request) from None
    except TypeError as error:
        every = [value for documents in plain.values() if isinstance(documents, dict) for value in documents.values()]
        remedy, _ = remedies(every, request.labels)
        odd = [value for value in every if value is None or isinstance(value, str)]
        remedy = remedy or (no_number(odd[0], request.kind) if odd else None)
        raise ArgumentError(f"{source}: {_misfit(plain, request)}{error}", *filter(None, [remedy])) from None
    return Parsed(table, collapsed_note(table))


def _read_ranked(outer: Nested, source: str, request: Request) -> Parsed:
    """{topic: [document, …]}: scores are made from the order, a whole number each, so that no two are tied."""
    topics: Values = []
    documents: Values = []
    scores: Values = []
    for topic, ranked in outer.items():
        if not isinstance(ranked, list):
            raise ArgumentError(
                f"{source}: topic {topic!r} has {describe_type(ranked)} where others have a list of documents",
                "All topics of a run are {document: score}, or all are [document, …], best first.",
            )
        _check_ranked(topic, ranked, source)
        topics += [topic] * len(ranked)
        documents += cast("Values", ranked)
        scores += range(len(ranked), 0, -1)
    return read_lists(topics, documents, scores, source, request, kind=request.kind)


def _check_ranked(topic: str | int, ranked: list[Value], source: str) -> None:
    """That a list has documents only, each once."""
    if {*map(type, ranked)} <= {str} and len({*ranked}) == len(ranked):
        return
    place: dict[str, int] = {}
    for rank, document in enumerate(ranked, start=1):
        if isinstance(document, bool) or not (isinstance(document, str) or hasattr(document, "__index__")):
            raise ArgumentError(
                f"{source}: topic {topic!r}, rank {rank}: document ids must be str or int, not "
                f"{describe_type(document)}: {shorten(repr(document), 60)}",
                "A ranked list is [document, …], best first; documents with scores are {document: score}.",
            )
        first = place.setdefault(str(document), rank)
        if first != rank:
            raise DuplicateError(
                f"topic '{topic}': document '{document}' stands at ranks {first} and {rank}",
                source=source,
                remedy="A ranking has a document once: leave out all but the first.",
            )


def _read_dict(outer: dict[str | int, Value], request: Request) -> Table:
    """The table of a dict; once more with the numbers of labels where grades are words."""
    try:
        return read_dict(outer, request.kind, *request.judged_against, request.threads)
    except TypeError:
        if not request.labels:
            raise
    graded = {
        topic: {document: grade_of(value, request.labels) for document, value in documents.items()}
        if isinstance(documents, dict)
        else documents
        for topic, documents in outer.items()
    }
    return read_dict(graded, request.kind, *request.judged_against, request.threads)


def _misfit(outer: dict[str | int, Value], request: Request) -> str:
    """Where the first entry stands that is of a wrong type."""
    for topic, documents in outer.items():
        if _fits({topic: documents}, request):
            continue
        if not _fits({topic: {}}, request):
            return f"topic {topic!r}: "
        entries = documents.items() if isinstance(documents, dict) else ()
        wrong = (
            f", document {document!r}" for document, value in entries if not _fits({topic: {document: value}}, request)
        )
        return f"topic {topic!r}{next(wrong, '')}: "
    return ""


def _fits(outer: dict[str | int, Value], request: Request) -> bool:
    try:
        _read_dict(outer, request)
    except TypeError:
        return False
    except CoreError:
        return True
    return True


def read_lists(
    topics: Values,
    documents: Values,
    values: Values | Floats,
    source: str,
    request: Request,
    *,
    kind: str,
    tags: Sequence[object] = (),
) -> Parsed:
    """Three columns of equal length, and perhaps a fourth, of the tags of a run."""
    if request.labels and isinstance(values, list) and any(isinstance(value, str) for value in values):
        values = [grade_of(value, request.labels) for value in values]
    try:
        table, _ = read_columns(topics, 1, documents, values, kind, request.threads)
    except CoreError as error:
        raise row_error(error, source, request, tags) from None
    except TypeError as error:
        misfit = _misfit_row(error, topics, 1, documents, values, source, request.kind)
        remedy, _ = remedies(values, request.labels)
        raise misfit if remedy is None else ArgumentError(str(misfit), remedy) from None
    parsed = Parsed(table, collapsed_note(table))
    return tagged(parsed, tags) if tags else parsed


def _misfit_row(
    error: TypeError, topics: Values, per_topic: int, documents: Values, values: Values | Floats, source: str, kind: str
) -> ArgumentError:
    """The error for the first row whose topic or document is no id, or whose value is no number."""

    def told(row: int, entry: Scalar, *remedy: str) -> ArgumentError:
        where = f"row {row}" if per_topic == 1 else f"row {row // per_topic}, place {row % per_topic}"
        return ArgumentError(f"{source}: {where} (counting from 0): {error}: {shorten(repr(entry), 60)}", *remedy)

    for row, (document, value) in enumerate(zip(documents, values, strict=True)):
        for id in (topics[row // per_topic], document):
            if not isinstance(id, str) and (isinstance(id, bool) or not hasattr(id, "__index__")):
                return told(row, id, IDS)
        if not hasattr(value, "__float__"):
            return told(row, value, no_number(value, kind))
    return ArgumentError(f"{source}: {error}")


def _ids(given: Column) -> NDArray[np.generic]:
    """Ids as an array. Of a list of mixed types NumPy would make text, a missing one into the id 'nan'."""
    import numpy as np

    array = np.asarray(given)
    return np.asarray(given, dtype=object) if array.dtype.kind == "U" and isinstance(given, list | tuple) else array


def read_arrays(arrays: Arrays, source: str, request: Request) -> Parsed:
    """(topics, documents, values): documents and values are topics × k, or all three are columns of equal length."""
    import numpy as np

    if any(np.ma.isMaskedArray(array) for array in arrays):
        raise ArgumentError(
            f"{source}: masked arrays have holes; give plain arrays, or a data frame without missing values"
        )
    try:
        topics, documents, values = _ids(arrays[0]), _ids(arrays[1]), np.asarray(arrays[2])
    except ValueError:
        raise DataError(
            "the arrays are ragged", source=source, remedy="Every topic must have equally many ids."
        ) from None
    if topics.ndim != 1 or documents.ndim not in (1, 2) or documents.shape != values.shape:
        shapes = ", ".join(str(array.shape) for array in (topics, documents, values))
        raise DataError(
            f"shapes {shapes} do not fit together",
            source=source,
            remedy="Give topics of shape (n,) with ids and scores of shape (n, k), or three of shape (n,).",
        )
    if len(topics) != len(documents):
        raise DataError(f"{len(topics):,} topics, but {len(documents):,} rows of documents", source=source)
    if values.dtype.kind in "UO" and request.labels:
        values = _numbers(values, source, request)
    if values.dtype.kind not in "fiub":
        raise ArgumentError(f"{source}: {request.kind}s must be numbers, not {values.dtype}")
    per_topic = documents.shape[1] if documents.ndim == 2 else 1
    numbers = np.ascontiguousarray(values.ravel(), dtype=np.float64)
    table: Table
    try:
        if documents.dtype.kind == "i" or (documents.dtype.kind == "u" and documents.dtype.itemsize < 8):
            ids = np.ascontiguousarray(documents.ravel(), dtype=np.int64)
            table, padded = read_integer_columns(
                topics.tolist(), per_topic, ids, numbers, FAISS_PADDING, request.kind, request.threads
            )
        else:
            table, padded = read_columns(
                topics.tolist(), per_topic, _strings(documents), numbers, request.kind, request.threads
            )
    except CoreError as error:
        raise row_error(error, source, request) from None
    except TypeError as error:
        raise _misfit_row(
            error, topics.tolist(), per_topic, _strings(documents), numbers, source, request.kind
        ) from None
    notes = collapsed_note(table)
    if padded:
        notes += (("padding", f"{padded:,} places with the id -1, as FAISS fills up short lists, were left out"),)
    return Parsed(table, notes)


def _numbers(grades: NDArray[np.generic], source: str, request: Request) -> NDArray[np.generic]:
    """Grades that are words as numbers."""
    import numpy as np

    flat = [grade_of(grade, request.labels) for grade in grades.ravel().tolist()]
    remedy, _ = remedies(flat, request.labels)
    if remedy is not None:
        raise ArgumentError(f"{source}: grades must be numbers", remedy)
    known = all(isinstance(grade, int | float) for grade in flat)
    return np.array(flat, dtype=np.float64).reshape(grades.shape) if known else grades


def _strings(documents: NDArray[np.generic]) -> Values:
    flat = documents.ravel().tolist()
    return [item.decode("utf-8", "surrogateescape") for item in flat] if documents.dtype.kind == "S" else flat


def read_records(records: Records, source: str, request: Request) -> Parsed:
    """Named tuples or objects with fields such as query_id, doc_id and score (or relevance)."""
    rows, names = records_of(records, source)
    columns = require_columns(names, request.kind, request.columns, source)
    lists = [values_of(rows, names[i], source) for i in (columns.topic, columns.document, columns.value)]
    tags = values_of(rows, names[columns.tag], source) if columns.tag >= 0 else []
    parsed = read_lists(lists[0], lists[1], lists[2], source, request, kind=columns.kind, tags=tags)
    check_grades(parsed.table, names[columns.value], request, source)
    first = [(name, values_of(rows[:1], name, source)[0]) for name in names] if columns.kind == "rank" else []
    return with_ranks_told(parsed, names, columns, with_numbers(first))


def records_of(records: Records, source: str) -> tuple[list[Record], tuple[str, ...]]:
    """The records, and the names of their fields."""
    rows = list(records)
    if not rows:
        raise DataError(
            "no rows",
            source=source,
            remedy="An iterator can be read once: if it was read before, make it anew or keep it as a list.",
        )
    if isinstance(rows[0], Mapping):
        names = tuple(map(str, rows[0]))
    else:
        names = tuple(getattr(rows[0], "_fields", ()) or getattr(rows[0], "__dict__", ()))
    if not names:
        raise ArgumentError(
            f"{source}: expected {EXPECTED}, not a {describe_type(records)} of {describe_type(rows[0])}"
        )
    return rows, names


def values_of(rows: list[Record], name: str, source: str) -> Values:
    """What a field of records has in each of them."""
    get: Callable[[Any, Any], Any] = getitem if isinstance(rows[0], Mapping) else getattr
    try:
        return [get(row, name) for row in rows]
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(f"a record lacks a field ({error})", source=source) from None
