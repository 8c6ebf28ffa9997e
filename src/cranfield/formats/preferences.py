"""Preference judgements: which of two documents is the better one.

Text comes in two forms: lines of topic, better document, worse document and perhaps the judge; or trec_eval's prefs,
lines of topic, judge, sub-group, document and level, where every two documents of a sub-group that differ in level make
a preference. In memory: {topic: [(better, worse), …]}, or rows as in the text.

What a judge prefers is taken with all that follows from it: A over B and B over C is A over C. Where that leads in a
circle, the documents on it are left without order. Each document's entry in the column has its own row number, then
those of the documents that it is preferred to, as often as judges say so. Its grade is the number of levels of worse
documents: the longest chain of preferences, each held by more judges than hold the contrary, that starts from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from cranfield.errors import ArgumentError, DataError
from cranfield.formats import read_qrels, stem
from cranfield.formats.format import decode, is_number, rows_of_text
from cranfield.formats.given import is_file
from cranfield.formats.grouped import Notes, trec_lines
from cranfield.formats.kinds import kind_of_judgements
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import nothing_in_it, open_source
from cranfield.tables import Origin, Qrels, describe_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cranfield.formats.given import Given, Value

    Matrix = NDArray[np.bool_]  # [i, j]: document i is preferred to document j

EXPECTED = "a path, an open file, {topic: [(better, worse), …]} or rows of topic, better, worse and perhaps the judge"
NOTE = "grades are made from preferences: how many levels of documents are worse, 0 for one preferred to none"


class Judgement(NamedTuple):
    """A line of judgements in groups: within a group of one topic, sub-groups compare documents by their level."""

    topic: str
    group: str
    subgroup: str
    document: str
    level: float


class Statement(NamedTuple):
    """What a judge says of some documents of a topic: the higher level is better. A pair has the levels 1 and 0."""

    topic: str
    judge: str
    levels: dict[str, float]


@kind_of_judgements("preferences")
def read(source: Given, name: str | None = None, reading: Reading = DEFAULT) -> Qrels:
    """Reads preference judgements; they have no columns that could be called otherwise.

    >>> qrels = read({"q1": [("d1", "d2"), ("d2", "d3"), ("d1", "d4")]})
    >>> qrels.of("q1")
    {'d1': 2.0, 'd2': 1.0, 'd3': 0.0, 'd4': 0.0}
    >>> [entry.tolist() for entry in qrels.columns["preferences"]]
    [[0, 1, 2, 3], [1, 2], [2], [3]]
    """
    path = None
    notes: Notes = []
    if is_file(source):
        opened = open_source(source, None)
        path, label = opened.path, opened.label
        statements = list(_of_text(bytes(opened.data), label, notes))
    else:
        label = name or "the preferences"
        statements = list(_of_memory(source, label))
    by_topic: dict[str, list[Statement]] = {}
    for statement in statements:
        by_topic.setdefault(statement.topic, []).append(statement)
    compared = {topic: _compare(of_topic) for topic, of_topic in by_topic.items()}
    if not any(of_topic.counts.any() for of_topic in compared.values()):
        raise DataError("no document is preferred to another", source=label)
    qrels = read_qrels({topic: of_topic.grades for topic, of_topic in compared.items()})
    default = "qrels" if path is None else stem(label)
    origin = Origin(name or default, path, notes=(*notes, *_notes(list(compared.values()))))
    return replace(qrels, origin=origin, columns={"preferences": _column(qrels, compared)})


def graded_lines(data: bytes, label: str, fields: int, notes: Notes) -> Iterator[Judgement]:
    """Lines of topic, group, sub-group, document and level; with four fields there is one sub-group.

    >>> next(graded_lines(b"q1 ann d1 2", "qrels", 4, []))
    Judgement(topic='q1', group='ann', subgroup='0', document='d1', level=2.0)
    """
    for line in trec_lines(data, label, fields, notes):
        topic, group, *subgroup, document = line.ids
        yield Judgement(topic, group, subgroup[0] if subgroup else "0", document, line.grade)


def with_what_follows(prefers: Matrix) -> Matrix:
    """A over B and B over C is A over C.

    >>> import numpy as np
    >>> with_what_follows(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)[0]
    array([0, 1, 1])
    """
    import numpy as np

    while True:
        counted = prefers.astype(np.float32)
        further = prefers | (counted @ counted > 0)
        if np.array_equal(further, prefers):
            return prefers
        prefers = further


class _Compared(NamedTuple):
    """A topic: its documents with their grades, how many judges prefer i to j, and where they contradict themselves."""

    grades: dict[str, float]
    counts: NDArray[np.int64]
    in_circles: int
    disputed: int


def _of_text(data: bytes, label: str, notes: Notes) -> Iterator[Statement]:
    if b"\0" in data:
        raise DataError("NUL byte", source=label, remedy="This is not text, or it is UTF-16: convert it to UTF-8.")
    first = next((line for _, line in rows_of_text(data, lambda line: len(line.split()) in (3, 4, 5), [])), None)
    if first is None:
        raise nothing_in_it(label)
    fields = len(first.split())
    if fields == 5:
        yield from _of_levels(graded_lines(data, label, 5, notes), label)
        return
    for number, line in rows_of_text(data, lambda line: len(line.split()) == fields, notes):
        parts = line.split()
        text = decode(line)
        if len(parts) != fields or fields not in (3, 4):
            problem = f"{len(parts)} fields where preferences have {fields if fields in (3, 4) else '3, 4 or 5'}"
            remedy = "topic, better, worse and perhaps judge; or topic, judge, sub-group, document, level."
            raise DataError(problem, source=label, line=number, text=text, remedy=remedy)
        topic, better, worse, judge = map(decode, (*parts, b"")[:4])
        if is_number(judge):
            problem = f"the fourth field, the judge, is the number '{judge}'"
            remedy = "Plain judgements are not preferences. If these are, give judges names that are no numbers."
            raise DataError(problem, source=label, line=number, text=text, remedy=remedy)
        if better == worse:
            raise DataError(_to_itself(topic, better), source=label, line=number, text=text)
        yield Statement(topic, judge, {better: 1.0, worse: 0.0})


def _of_memory(source: Given, label: str) -> Iterator[Statement]:
    if isinstance(source, Mapping):
        pairs = cast("Mapping[str, Iterable[tuple[str, ...]]]", source)
        rows: Iterable[Value] = ((topic, *pair) for topic, of_topic in pairs.items() for pair in of_topic)
    elif isinstance(source, Iterable) and not isinstance(source, bytes | bytearray | memoryview):
        rows = cast("Iterable[Value]", source)
    else:
        raise ArgumentError(f"{label}: expected {EXPECTED}, not {describe_type(source)}")
    for row in rows:
        if not isinstance(row, Iterable) or isinstance(row, str) or len(fields := tuple(row)) not in (3, 4):
            raise ArgumentError(f"{label}: expected {EXPECTED}, but a row is {row!r}")
        if not all(isinstance(field, str | int) and field != "" for field in fields):
            raise ArgumentError(f"{label}: ids are text or whole numbers, but a row is {row!r}")
        topic, better, worse, judge = (*map(str, fields), "")[:4]
        if better == worse:
            raise DataError(_to_itself(topic, better), source=label)
        yield Statement(topic, judge, {better: 1.0, worse: 0.0})


def _to_itself(topic: str, document: str) -> str:
    return f"topic '{topic}': document '{document}' is preferred to itself"


def _of_levels(lines: Iterable[Judgement], label: str) -> Iterator[Statement]:
    groups: dict[tuple[str, str, str], dict[str, float]] = {}
    for line in lines:
        levels = groups.setdefault((line.topic, line.group, line.subgroup), {})
        if levels.setdefault(line.document, line.level) != line.level:
            problem = f"topic '{line.topic}': document '{line.document}' has two levels in sub-group '{line.subgroup}'"
            raise DataError(problem, source=label)
    return (Statement(topic, judge, levels) for (topic, judge, _), levels in groups.items())


def _compare(statements: list[Statement]) -> _Compared:
    import numpy as np

    documents = dict.fromkeys(document for statement in statements for document in statement.levels)
    number = {document: i for i, document in enumerate(documents)}
    judges: dict[str, Matrix] = {}
    for statement in statements:
        of_judge = judges.setdefault(statement.judge, np.zeros((len(number), len(number)), dtype=bool))
        at = [number[document] for document in statement.levels]
        levels = np.array(list(statement.levels.values()))
        of_judge[np.ix_(at, at)] |= levels[:, None] > levels
    counts = np.zeros((len(number), len(number)), dtype=np.int64)
    in_circles = 0
    for of_judge in judges.values():
        closed = with_what_follows(of_judge)
        in_circles += int(np.triu(closed & closed.T, 1).sum())
        counts += closed & ~closed.T
    disputed = int(np.triu((counts > 0) & (counts.T > 0)).sum())
    grades = dict(zip(documents, _levels(counts > counts.T), strict=True))
    return _Compared(grades, counts, in_circles, disputed)


def _levels(prefers: Matrix) -> list[float]:
    """For each document the length of the longest chain of preferences down from it; circles are one level."""
    import numpy as np

    closed = with_what_follows(prefers)
    prefers = closed & ~closed.T
    levels = np.zeros(len(prefers))
    while True:
        further = np.where(prefers, levels + 1, 0).max(axis=1)
        if np.array_equal(further, levels):
            lengths: list[float] = levels.tolist()
            return lengths
        levels = further


def _column(qrels: Qrels, compared: Mapping[str, _Compared]) -> NDArray[np.object_]:
    import numpy as np

    column = np.empty(len(qrels), dtype=object)
    start = 0
    for topic in qrels.topics:
        of_topic = compared[topic]
        number = {document: i for i, document in enumerate(of_topic.grades)}
        order = [number[d] for d in qrels.table.documents(topic.encode("utf-8", "surrogateescape"))]
        counts = of_topic.counts[np.ix_(order, order)]
        for i, row in enumerate(counts):
            column[start + i] = start + np.concatenate(([i], np.repeat(np.arange(len(row)), row)))
        start += len(order)
    return column


def _notes(compared: list[_Compared]) -> tuple[tuple[str, str], ...]:
    notes = [("grades-from-preferences", NOTE)]
    in_circles, disputed = (
        sum(getattr(of_topic, name) for of_topic in compared) for name in ("in_circles", "disputed")
    )
    if in_circles:
        message = f"{_pairs(in_circles)} preferred in a circle by one judge, and left without order"
        notes.append(("preferences-in-circles", message))
    if disputed:
        message = f"judges disagree on {_pairs(disputed)}: each preference counts as often as expressed"
        notes.append(("disputed-preferences", message))
    return tuple(notes)


def _pairs(count: int) -> str:
    return f"{count:,} pair{'' if count == 1 else 's'} of documents"
