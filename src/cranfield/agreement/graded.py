"""The grades of several assessors, document by document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.opinions import of_judges
from cranfield.formats import distinct_names, read_qrels
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.judged import Floats, Integers, Mask
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import ArrowStream, File, Given

JUDGES = Reading(judgements="judges")
GivenJudges: TypeAlias = "Mapping[str, Given] | File | ArrowStream | Qrels"  # {assessor: judgements}, or all in one


class SharedGrades(NamedTuple):
    """The documents that two assessors both judged: the topic of each, and which grade each gave, as its place among
    all values."""

    topic: Integers
    first: Integers
    second: Integers


@dataclass(frozen=True, eq=False)
class Graded:
    """grades[document, judge], NaN where there is none, and which topic each document is of."""

    judges: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Integers
    documents: tuple[str, ...]
    grades: Floats
    values: Floats

    def by_topic(self, count: Callable[[Floats], Floats], judges: Sequence[int] | slice = slice(None)) -> Floats:
        """A count for each topic, from the grades of its documents by some judges."""
        of_judges, starts = self.grades[:, judges], np.searchsorted(self.topic, np.arange(len(self.topics) + 1))
        return np.array([count(of_judges[a:b]) for a, b in pairwise(starts)])

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of assessors who have judged a document in common, as places in `judges`."""
        return list(self._shared)

    def shared(self, pair: tuple[int, int]) -> SharedGrades:
        """What two assessors, the one who comes first in `judges` first, said of the documents that both judged."""
        return self._shared[pair]

    @cached_property
    def _shared(self) -> dict[tuple[int, int], SharedGrades]:
        """All pairs at once: with many assessors, of whom few judge a document, looking at each pair takes minutes."""
        rows, judges = np.nonzero(~np.isnan(self.grades))  # the judges of a document are one after another
        places = np.searchsorted(self.values, self.grades[rows, judges])
        found: list[tuple[Integers, ...]] = []
        for step in range(1, len(self.judges)):
            same = rows[step:] == rows[:-step]
            if not same.any():
                break
            both = (judges, places)
            ends = [column[at][same] for column in both for at in (slice(None, -step), slice(step, None))]
            found.append((self.topic[rows[step:][same]], *ends))
        if not found:
            return {}
        topic, first, second, given, other = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((topic, second, first))
        name = (first * len(self.judges) + second)[order]
        starts = np.flatnonzero(np.diff(name, prepend=-1))
        columns = [np.split(column[order], starts[1:]) for column in (topic, given, other)]
        names = [divmod(number, len(self.judges)) for number in name[starts].tolist()]
        return {pair: SharedGrades(*of_pair) for pair, of_pair in zip(names, zip(*columns, strict=True), strict=True)}

    def judged_by(self, judges: Sequence[int]) -> Mask:
        """The documents that all of some assessors judged."""
        return np.logical_not(np.isnan(self.grades[:, list(judges)]).any(axis=1))

    def find_something(self, judges: Sequence[int]) -> bool:
        """Whether each of some assessors finds something relevant among the documents that all of these judged."""
        return bool((self.grades[self.judged_by(judges)][:, list(judges)] > 0).any(axis=0).all())

    def alone(self, judges: Sequence[int]) -> list[Qrels]:
        """The judgements of each of some assessors, on the documents that all of these judged."""
        rows = np.flatnonzero(self.judged_by(judges)).tolist()
        judgements = []
        for judge in judges:
            grades: dict[str, dict[str, float]] = {}
            for row in rows:
                grades.setdefault(self.topics[self.topic[row]], {})[self.documents[row]] = float(
                    self.grades[row, judge]
                )
            judgements.append(read_qrels(grades, name=self.judges[judge]))
        return judgements


def graded_by(judgements: GivenJudges, *, negative: bool = False) -> Graded:
    """The grades of {assessor: judgements}, or of judgements of the kind "judges".

    A negative grade is no judgement, unless `negative` says that it is one of the scale, as spam.

    >>> graded_by({"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": -1, "d2": 2}}}).grades.tolist()
    [[1.0, nan], [0.0, 2.0]]
    """
    qrels = of_judges(judgements) if isinstance(judgements, Mapping) else read_qrels(judgements, reading=JUDGES)
    if "judges" not in qrels.columns:
        raise UsageError("one grade a document says nothing of agreement: give the judgements of several assessors")
    given = qrels.columns["judges"]
    grades = given if negative else np.where(given >= 0, given, np.nan)
    judges = next(iter(qrels.groups.values()))
    if len(judges) < 2:
        raise DataError(
            f"one assessor, {judges[0]}: there is nobody to agree with",
            source=qrels.origin.path or qrels.name,
            remedy="Give a file for each assessor, or one whose second column or column judge says who gave the grade.",
        )
    if not (np.count_nonzero(~np.isnan(grades), axis=1) > 1).any():
        raise DataError(
            f"no document was judged by two assessors of {some(judges)}",
            source=qrels.name,
            remedy="Topic and document ids must be the same text in the judgements of all.",
        )
    topic = np.repeat(np.arange(len(qrels.topics)), qrels.table.counts())
    documents = tuple(document for of_topic in qrels.to_dict().values() for document in of_topic)
    return Graded(judges, tuple(qrels.topics), topic, documents, grades, np.unique(grades[~np.isnan(grades)]))


def judges_of(sources: Sequence[Given], reading: Reading = DEFAULT) -> Qrels | dict[str, Qrels]:
    """Judgements to assess: one source with a judge for each grade, or one a judge, named after its file.

    >>> list(judges_of([read_qrels({"q1": {"d1": 1}}, name="ann"), read_qrels({"q1": {"d1": 0}}, name="bob")]))
    ['ann', 'bob']
    """
    if len(sources) == 1:
        return read_qrels(sources[0], reading=replace(reading, judgements="judges"))
    tables = [read_qrels(source, reading=reading) for source in sources]
    names = distinct_names([(table.name, table.origin.path) for table in tables])
    return dict(zip(names, tables, strict=True))
