"""Judgements in groups: four things a row, namely topic, group, document and grade. A group is a subtopic or a judge.

TREC text with the group in the second column; CSV or TSV with a header, JSON lines and Parquet with a column for the
group; JSON and dicts as {topic: {document: {group: grade}}}; data frames; records with a field for the group, such as
the `iteration` of ir_measures' and ir_datasets' judgements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple, TypeGuard, cast

from cranfield._core import Progress
from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten
from cranfield.formats import stem
from cranfield.formats.delimited import header
from cranfield.formats.format import BYTE_ORDER_MARK, Request, decode, readable, repeated_note, rows_of_text
from cranfield.formats.given import is_file, is_frame, is_open, is_pandas
from cranfield.formats.json_text import parse as parse_json
from cranfield.formats.labels import NO_LABELS, Labels, grade_of, remedies
from cranfield.formats.layout import NOTHING, ColumnNames, no_column, require_columns
from cranfield.formats.memory import read_lists, records_of, values_of
from cranfield.formats.parquet import parquet_table
from cranfield.formats.refusals import UNJUDGED
from cranfield.formats.sources import Buffer, no_rows, nothing_in_it, open_source
from cranfield.tables import Origin, Qrels, describe_type

if TYPE_CHECKING:
    from cranfield._core import Floats
    from cranfield.formats.given import ArrowStream, Given, Nested, Records, Value, Values

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
Notes = list[tuple[str, str]]
NESTED = "{topic: {document: {group: grade}}}"


class GroupedJudgement(NamedTuple):
    """One judgement, and the line it stands on where it comes from a text."""

    topic: str
    group: str
    document: str
    grade: float
    line: int | None = None
    text: str | None = None


class Rows(NamedTuple):
    """Judgements as they were read, each once, and where from."""

    rows: list[GroupedJudgement]
    origin: Origin


class Grouping(NamedTuple):
    """What a group is, what its column may be called, what columns are said to be called, and the labels of grades."""

    noun: str
    names: tuple[str, ...]
    columns: ColumnNames = NOTHING
    labels: Labels = NO_LABELS


class Line(NamedTuple):
    """A line of TREC text: its ids, the number at its end, and where it stands."""

    ids: tuple[str, ...]
    grade: float
    number: int
    text: str


def read_rows(source: Given, name: str | None, wanted: Grouping) -> Rows:
    """Judgements from a file or from memory.

    >>> read_rows({"q1": {"d1": {"a": 1, "b": 2}}}, None, Grouping("judge", ("judge",))).rows[1]
    GroupedJudgement(topic='q1', group='b', document='d1', grade=2.0, line=None, text=None)
    """
    path = None
    notes: Notes = []
    if is_file(source):
        opened = open_source(source)
        path, label = opened.path, opened.label
        if not len(opened.data):
            raise nothing_in_it(label, once=path == "-" or is_open(source))
        judgements = _read_bytes(opened.data, label, wanted, notes)
    else:
        label = name or "the qrels"
        judgements = _read_memory(source, label, wanted)
    rows, repeats = _each_once(judgements, label, wanted.noun)
    if not rows:
        raise no_rows(label, path)
    if repeats:
        notes += repeated_note(len(repeats), repeats[0].topic, repeats[0].document)
    return Rows(rows, Origin(name or ("qrels" if path is None else stem(label)), path, notes=tuple(notes)))


def trec_lines(data: bytes, source: str, fields: int, notes: Notes, labels: Labels = NO_LABELS) -> Iterator[Line]:
    """Lines of ids with a number (or its label) at the end; comments and blank lines are left out, comments noted.

    >>> list(trec_lines(b"q1 0 d1 2", "qrels", 4, []))
    [Line(ids=('q1', '0', 'd1'), grade=2.0, number=1, text='q1 0 d1 2')]
    """
    rows = rows_of_text(data, lambda line: len(_parts(line)) == fields, notes)
    for number, line in rows:
        parts, text = [decode(part) for part in _parts(line)], decode(line)
        if len(parts) != fields:
            problem = f"{len(parts)} fields where there must be {fields}"
            pool = UNJUDGED.format("a grade at the end of each line") if len(parts) == 3 and parts[1] == "0" else None
            raise DataError(problem, source=source, line=number, text=text, remedy=pool)
        grade = _number(parts[-1], labels)
        if not _is_grade(grade):
            remedy, option = remedies((decode(_parts(other)[-1]) for _, other in rows), labels)
            raise DataError(_no_number(grade), source=source, line=number, text=text, remedy=remedy, option=option)
        yield Line(tuple(parts[:-1]), grade, number, text)


def _parts(line: bytes) -> list[bytes]:
    return re.split(rb"[ \t]+", line.strip(b" \t"))


def _read_bytes(data: Buffer, source: str, wanted: Grouping, notes: Notes) -> Iterable[GroupedJudgement]:
    whole = bytes(data).removeprefix(BYTE_ORDER_MARK)
    request = Request("grade", 1, Progress(), wanted.columns, None)
    format = next((format.name for format in readable() if format.recognise(whole[: 1 << 16], request)), "trec")
    if format == "parquet":
        return _read_frame(parquet_table(data, source), source, wanted)
    if (at := whole.find(b"\0")) >= 0:
        raise DataError("NUL byte", source=source, line=whole.count(b"\n", 0, at) + 1, remedy="This is not text.")
    if format == "json":
        try:
            return list(_read_mapping(cast("Nested", parse_json(decode(whole), source, None)), source, wanted.labels))
        except TypeError as error:
            raise DataError(str(error)) from None
    if format == "jsonl":
        return _read_json_lines(whole, source, wanted)
    if format in ("csv", "tsv"):
        return _read_delimited(whole, source, wanted, "," if format == "csv" else "\t", notes)
    return (
        GroupedJudgement(topic=topic, group=group, document=document, grade=grade, line=number, text=text)
        for (topic, group, document), grade, number, text in trec_lines(whole, source, 4, notes, wanted.labels)
    )


def _read_memory(source: Given, label: str, wanted: Grouping) -> Iterable[GroupedJudgement]:
    if isinstance(source, Mapping):
        return _read_mapping(source, label, wanted.labels)
    if is_frame(source):
        return _read_frame(source, label, wanted)
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray | memoryview):
        raise ArgumentError(
            f"{label}: expected a path, an open file, {NESTED}, a data frame or records, not {describe_type(source)}"
        )
    rows, fields = records_of(cast("Records", source), label)
    lists = [values_of(rows, fields[i], label) for i in _columns(fields, label, wanted)]
    return (_row(four, label, wanted.labels) for four in zip(*lists, strict=True))


def _read_mapping(outer: Nested, source: str, labels: Labels) -> Iterator[GroupedJudgement]:
    for topic, documents in outer.items():
        for document, groups in _entries(documents, source):
            for group, grade in _entries(groups, source):
                yield _row((topic, group, document, grade), source, labels)


def _entries(value: Value, source: str) -> Iterable[tuple[str | int, Value]]:
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{source}: expected {NESTED}, but a value is {describe_type(value)}")
    return value.items()


def _read_frame(frame: ArrowStream, source: str, wanted: Grouping) -> Iterator[GroupedJudgement]:
    if is_pandas(frame):
        names = [str(column) for column in frame.columns]
        lists = [frame.iloc[:, i].tolist() for i in _columns(names, source, wanted)]
    else:
        try:
            import pyarrow
        except ImportError:
            raise DataError(
                "reading this frame needs pyarrow", source=source, remedy="pip install 'cranfield[frames]'"
            ) from None
        table = pyarrow.table(frame)
        lists = [table.column(i).to_pylist() for i in _columns(table.column_names, source, wanted)]
    return (_row(four, source, wanted.labels) for four in zip(*lists, strict=True))


def _read_json_lines(data: bytes, source: str, wanted: Grouping) -> Iterator[GroupedJudgement]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            text = decode(line)
            entry = parse_json(text, source, number)
            if not isinstance(entry, dict):
                raise DataError("expected an object on each line", source=source, line=number, text=text)
            keys = tuple(entry)
            four = [entry[keys[i]] for i in _columns(keys, f"{source}:{number}", wanted)]
            yield _row(four, source, wanted.labels, number, text)


def _read_delimited(
    data: bytes, source: str, wanted: Grouping, delimiter: str, notes: Notes
) -> Iterator[GroupedJudgement]:
    names = header(data, delimiter)
    places = _columns(names, source, wanted)
    for number, line in rows_of_text(
        data, lambda line: len(header(line, delimiter)) == len(names), notes, delimiter.encode()
    ):
        if number > 1:
            fields, text = header(line, delimiter), decode(line)
            if len(fields) != len(names):
                message = f"{len(fields)} fields where the header has {len(names)}"
                raise DataError(message, source=source, line=number, text=text)
            topic, group, document, grade = (fields[i] for i in places)
            yield _row((topic, group, document, _number(grade, wanted.labels)), source, wanted.labels, number, text)


def _columns(header: Sequence[str], source: str, wanted: Grouping) -> tuple[int, int, int, int]:
    """Where topic, group, document and grade stand."""
    columns = require_columns(header, "grade", wanted.columns, source)
    known = [name.strip().lower() for name in header]
    names = [name.strip().lower() for name in wanted.columns.get(wanted.noun, wanted.names)]
    group = next((known.index(name) for name in names if name in known), None)
    if group is None:
        raise no_column({wanted.noun: wanted.names}, header, columns[:3], wanted.columns, source)
    return columns.topic, group, columns.document, columns.value


def _row(
    four: Sequence[Value], source: str, labels: Labels, line: int | None = None, text: str | None = None
) -> GroupedJudgement:
    """A judgement of ids that may be integers and a grade that may be a label, checked."""
    *ids, given = four
    grade = grade_of(given, labels)
    faults = [f"id {id!r} is neither a string nor an integer" for id in ids if not _is_id(id)]
    if faults or not _is_grade(grade):
        where = source if line is not None else f"{source}: {shorten(repr(tuple(four)))}"
        remedy, option = (None, None) if faults else remedies([grade], labels)
        message = faults[0] if faults else _no_number(grade)
        raise DataError(message, source=where, line=line, text=text, remedy=remedy, option=option)
    topic, group, document = map(str, ids)
    return GroupedJudgement(topic=topic, group=group, document=document, grade=float(grade), line=line, text=text)


def _is_id(value: Value) -> bool:
    return isinstance(value, str | Integral) and not isinstance(value, bool) and value != ""


def _is_grade(value: Value) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _no_number(grade: Value) -> str:
    shown = f"'{shorten(grade, 60)}'" if isinstance(grade, str) else repr(grade)
    return f"grade {shown} is not a number"


def _number(text: str, labels: Labels) -> float | str:
    """A decimal number or that of a label, or the text itself where it is none: Python would take 1_0 for ten."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else grade_of(text.strip(), labels)


def _each_once(
    rows: Iterable[GroupedJudgement], source: str, noun: str
) -> tuple[list[GroupedJudgement], list[GroupedJudgement]]:
    """The judgements without those that repeat another, and those that do."""
    seen: dict[tuple[str, str, str], GroupedJudgement] = {}
    repeats: list[GroupedJudgement] = []
    for row in rows:
        first = seen.setdefault(row[:3], row)
        if first is not row:
            repeats.append(row)
        if first.grade != row.grade:
            other = f"Line {first.line} has another: {shorten(first.text)}\n    " if first.text else ""
            raise DuplicateError(
                f"document '{shorten(row.document)}' is given a second grade for the same topic and {noun}, "
                f"{row.group}: {first.grade:g} and {row.grade:g}",
                source=source,
                line=row.line,
                text=row.text,
                remedy=f"{other}Each document may appear once for each topic and {noun}: decide which is right.",
            )
    return list(seen.values()), repeats


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Names each once: by number where all are numbers, otherwise as bytes.

    >>> in_order(["10", "9", "10"]), in_order(["b", "10", "a"])
    (('9', '10'), ('10', 'a', 'b'))
    """
    distinct = sorted(set(names), key=lambda name: name.encode("utf-8", "surrogateescape"))
    numbers = all(name.isascii() and name.isdigit() for name in distinct)
    return tuple(sorted(distinct, key=int) if numbers else distinct)


def as_qrels(
    judged: Rows, kind: str, names: Mapping[str, tuple[str, ...]], combine: Callable[[Floats], Floats]
) -> Qrels:
    """Judgements with a row a document, and a matrix of rows × groups as the column `kind`: NaN where there is none.

    `names` are the groups of each topic in the order of the matrix, and `combine` makes of its rows the grades.
    """
    import numpy as np

    number: dict[tuple[str, str], int] = {}
    for row in judged.rows:
        number.setdefault((row.topic, row.document), len(number))
    place = {topic: {group: i for i, group in enumerate(groups)} for topic, groups in names.items()}
    matrix = np.full((len(number), max(map(len, names.values()))), np.nan)
    for row in judged.rows:
        matrix[number[row.topic, row.document], place[row.topic][row.group]] = row.grade
    request = Request("grade", 1, Progress(), {}, None)
    topics: Values = [topic for topic, _ in number]
    documents: Values = [document for _, document in number]
    table = read_lists(topics, documents, combine(matrix), judged.origin.name, request, kind="grade").table
    order = [
        number[topic, document]
        for topic in table.topics()
        for document in table.documents(topic.encode("utf-8", "surrogateescape"))
    ]
    return Qrels(table, judged.origin, {kind: matrix[order]}, names)
