"""Judgements of a sample, where the chance of each document to be judged is known. Text of five columns, either

- topic, iteration, document, stratum, grade, as NIST's sample_eval.pl reads it: all documents of the pool, with a
  negative grade for those that were not drawn. The chance is the share of the topic's stratum that was drawn; or
- topic, document, grade, algorithm, chance ("prels", as statAP_MQ_eval reads it): the documents that were judged.
  Algorithms 0 and 2 did not draw lots for a document: it counts as if its chance were 1. Lines with the chance NA or
  the grade -999 are of documents that were not judged, and are left out.

A last column of whole numbers alone is one of grades; with a point in it anywhere, or NA, it is one of chances. As a
safeguard the iteration must be the same on every line. In memory: {topic: {document: (grade, chance)}}, or records
with a topic, a document, a grade and either a stratum or a chance (`iprob` and, for the algorithm, `method`, as
ir_datasets calls them).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from math import isfinite
from numbers import Integral, Real
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten, some
from cranfield.formats import read_qrels, stem
from cranfield.formats.format import decode, repeated_note, rows_of_text
from cranfield.formats.given import is_file
from cranfield.formats.kinds import kind_of_judgements
from cranfield.formats.layout import ColumnNames, require_columns
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import no_rows, open_source
from cranfield.tables import Origin, Qrels, describe_type

if TYPE_CHECKING:
    from cranfield.formats.given import Given, Nested, Value

LAYOUTS = "topic, iteration, document, stratum, grade; or topic, document, grade, algorithm, chance"
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"[+-]?[0-9]+")
WITHOUT_LOTS = (0, 2)  # the algorithms of prels that chose a document for sure
NOT_JUDGED = -999
NO_CHANCE = "NA"
CHANCES = ("chance", "iprob", "probability")

Notes = list[tuple[str, str]]
Stratum = tuple[str, str]  # of a topic


class Place(NamedTuple):
    """Where something is said, for messages."""

    source: str
    line: int | None = None
    text: str | None = None

    def fault(self, message: str, remedy: str | None = None) -> DataError:
        return DataError(message, source=self.source, line=self.line, text=self.text, remedy=remedy)


class SampledJudgement(NamedTuple):
    """What is said of a document: its stratum, or its chance; None for one that was not judged."""

    topic: str
    document: str
    grade: float
    stratum: str | None
    chance: float | None
    by_lot: bool
    place: Place


@kind_of_judgements("sampled")
def read(source: Given, name: str | None, reading: Reading = DEFAULT) -> Qrels:
    """Judgements with the columns `sampled`, each document's chance, and, where strata are given, `stratum`.

    >>> import io
    >>> qrels = read(io.StringIO("q1 0 d1 1 2\\nq1 0 d2 2 0\\nq1 0 d3 2 -1\\n"), None)
    >>> qrels.of("q1"), qrels.columns["sampled"].tolist(), qrels.columns["stratum"].tolist()
    ({'d1': 2.0, 'd2': 0.0, 'd3': -1.0}, [1.0, 0.5, 0.5], [0, 1, 1])
    """
    notes: Notes = []
    path: str | None = None
    if is_file(source):
        opened = open_source(source)
        path, label = opened.path, opened.label
        rows = _of_text(bytes(opened.data), label, notes)
    else:
        label = name or "the qrels"
        of_memory = _of_mapping(source, label) if isinstance(source, Mapping) else None
        rows = list(_of_records(source, label, reading.told) if of_memory is None else of_memory)
    if not rows:
        raise no_rows(label, path)
    rows = _distinct(rows, notes)
    with_strata = rows[0].stratum is not None
    if any((row.stratum is not None) != with_strata for row in rows):
        raise DataError("some records have a stratum and others have none", source=label)
    if not with_strata:
        rows = _judged(rows, notes)
    default = "qrels" if path is None else stem(label)
    origin = Origin(name or default, path, notes=tuple(notes))
    return _with_columns(rows, _chances(rows) if with_strata else None, label, origin)


def _of_text(data: bytes, label: str, notes: Notes) -> list[SampledJudgement]:
    if b"\0" in data:
        raise DataError("NUL byte", source=label, remedy="This is not text, or it is UTF-16: convert it to UTF-8.")
    placed: list[tuple[list[str], Place]] = []
    for number, line in rows_of_text(data, lambda line: len(line.split()) == 5, notes):
        fields, place = [decode(field) for field in line.split()], Place(label, number, decode(line.strip()))
        if len(fields) != 5:
            raise place.fault(f"{len(fields)} fields where judgements of a sample need 5", f"Either {LAYOUTS}.")
        placed.append((fields, place))
    if any(not WHOLE.fullmatch(fields[4]) for fields, _ in placed):
        return [_with_chance(fields, place) for fields, place in placed]
    return [_with_stratum(fields, place, iteration=placed[0][0][1]) for fields, place in placed]


def _with_stratum(fields: list[str], place: Place, iteration: str) -> SampledJudgement:
    topic, second, document, stratum, grade = fields
    if second != iteration or not (WHOLE.fullmatch(second) or second == "Q0"):
        message = f"iteration '{shorten(second, 60)}' where every line must have the same one, 0 as a rule"
        raise place.fault(message, "If these are documents and the last column has chances, write those as 1.0.")
    return SampledJudgement(
        topic=topic,
        document=document,
        grade=_number("grade", grade, place),
        stratum=stratum,
        chance=None,
        by_lot=True,
        place=place,
    )


def _with_chance(fields: list[str], place: Place) -> SampledJudgement:
    topic, document, grade, algorithm, chance = fields
    by_lot = _number("algorithm", algorithm, place) not in WITHOUT_LOTS
    drawn = None if chance == NO_CHANCE else _chance(_number("chance", chance, place), by_lot, place)
    return SampledJudgement(
        topic=topic,
        document=document,
        grade=_number("grade", grade, place),
        stratum=None,
        chance=drawn,
        by_lot=by_lot,
        place=place,
    )


def _number(of: str, text: str, place: Place) -> float:
    if not NUMBER.fullmatch(text) or not isfinite(float(text)):
        remedy = f"Either {LAYOUTS}: a last column that is not of whole numbers alone is taken for one of chances."
        raise place.fault(f"{of} '{shorten(text, 60)}' is not a number", remedy)
    return float(text)


def _chance(chance: float, by_lot: bool, place: Place) -> float:
    if not (0 <= chance <= 1) or (chance == 0 and by_lot):
        remedy = f"It must be above 0 and at most 1; {NO_CHANCE} is for a document that was not judged."
        raise place.fault(f"a chance of {chance:g} to be judged", remedy)
    return chance if by_lot else 1.0


def _of_mapping(source: Nested, label: str) -> Iterator[SampledJudgement]:
    for topic, documents in source.items():
        if not isinstance(documents, Mapping):
            kind = describe_type(documents)
            raise ArgumentError(
                f"{label}: expected {{topic: {{document: (grade, chance)}}}}, but topic {topic!r} has {kind}"
            )
        for document, pair in documents.items():
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ArgumentError(f"{label}: expected (grade, chance) for {topic!r}, {document!r}, not {pair!r}")
            yield _of_values(topic, document, pair[0], {"chance": pair[1]}, label)


def _of_records(source: Given, label: str, aliases: ColumnNames) -> Iterator[SampledJudgement]:
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray | memoryview):
        raise ArgumentError(
            f"{label}: expected a path, a file, a dict of dicts or records, not {describe_type(source)}"
        )
    for record in source:
        values = record if isinstance(record, Mapping) else getattr(record, "_asdict", lambda: None)()
        if values is None:
            raise ArgumentError(f"{label}: a record is a named tuple or a dict, not {describe_type(record)}")
        names = list(values)
        columns = require_columns(names, "grade", aliases, label)
        topic, document, grade = (values[names[i]] for i in (columns.topic, columns.document, columns.value))
        yield _of_values(topic, document, grade, values, label)


def _of_values(
    topic: Value, document: Value, grade: Value, values: Mapping[str, Value], label: str
) -> SampledJudgement:
    place = Place(f"{label}: topic {topic!r}, document {document!r}")
    for id in (topic, document):
        if not isinstance(id, str | Integral) or isinstance(id, bool) or id == "":
            raise place.fault(f"id {id!r} is neither a string nor an integer")
    names = (str(topic), str(document), _real("grade", grade, place))
    if "stratum" in values:
        return SampledJudgement(*names, str(values["stratum"]), None, True, place)
    chances = [values[name] for name in CHANCES if name in values]
    if not chances:
        raise place.fault(f"a record has neither a stratum nor a chance, but {', '.join(values)}")
    by_lot = _real("method", values.get("method", 1), place) not in WITHOUT_LOTS
    drawn = None if chances[0] in (None, NO_CHANCE) else _chance(_real("chance", chances[0], place), by_lot, place)
    return SampledJudgement(*names, None, drawn, by_lot, place)


def _real(of: str, value: Value, place: Place) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
        raise place.fault(f"{of} {value!r} is not a number")
    return float(value)


def _distinct(rows: list[SampledJudgement], notes: Notes) -> list[SampledJudgement]:
    """Each document once; it is an error if two lines differ about it."""
    distinct: dict[tuple[str, str], SampledJudgement] = {}
    repeats: list[SampledJudgement] = []
    for row in rows:
        other = distinct.setdefault((row.topic, row.document), row)
        if other is not row:
            repeats.append(row)
        if other[:-1] != row[:-1]:
            where = f"line {other.place.line}" if other.place.line else "another record"
            raise DuplicateError(
                f"document '{shorten(row.document, 60)}' is judged a second time for the same topic",
                source=row.place.source,
                line=row.place.line,
                text=row.place.text,
                remedy=f"It differs from {where}: decide which is right.",
            )
    if repeats:
        notes += repeated_note(len(repeats), repeats[0].topic, repeats[0].document)
    return list(distinct.values())


def _judged(rows: list[SampledJudgement], notes: Notes) -> list[SampledJudgement]:
    """The rows of judged documents, and what should be said about them."""
    kept = [row for row in rows if row.chance is not None and row.grade > NOT_JUDGED]
    if not kept:
        raise Place(rows[0].place.source).fault("no document was judged")
    if len(kept) < len(rows):
        left_out = len(rows) - len(kept)
        notes.append(("not-judged", f"{left_out:,} documents that were not judged (NA, {NOT_JUDGED}) are left out"))
    without_lots = sorted({row.topic for row in kept} - {row.topic for row in kept if row.by_lot})
    if without_lots:
        message = f"topics for which no lots were drawn, where statAP is AP of what was judged: {some(without_lots)}"
        notes.append(("no-lots", f"{message}; statAP_MQ_eval leaves them out"))
    return kept


def _chances(rows: list[SampledJudgement]) -> dict[Stratum, float]:
    """Of each stratum of each topic, the share that was drawn."""
    size = Counter((row.topic, str(row.stratum)) for row in rows)
    drawn = Counter((row.topic, str(row.stratum)) for row in rows if row.grade >= 0)
    return {stratum: drawn[stratum] / size[stratum] for stratum in size}


def _with_columns(
    rows: list[SampledJudgement], shares: Mapping[Stratum, float] | None, label: str, origin: Origin
) -> Qrels:
    """The judgements, and the columns in the order of their rows."""
    import numpy as np

    by_topic: dict[str, dict[str, SampledJudgement]] = {}
    for row in rows:
        by_topic.setdefault(row.topic, {})[row.document] = row
    grades = {topic: {document: row.grade for document, row in of.items()} for topic, of in by_topic.items()}
    qrels = read_qrels(grades, name=label)
    ordered = [by_topic[topic][document] for topic, of in qrels.to_dict().items() for document in of]
    if shares is None:
        return replace(qrels, origin=origin, columns={"sampled": np.array([row.chance for row in ordered])})
    of_topics = groupby(sorted(shares), key=itemgetter(0))
    number = {stratum: i for _, strata in of_topics for i, stratum in enumerate(strata)}
    keys = [(row.topic, str(row.stratum)) for row in ordered]
    columns = {"sampled": np.array([shares[key] for key in keys]), "stratum": np.array([number[key] for key in keys])}
    return replace(qrels, origin=origin, columns=columns)
