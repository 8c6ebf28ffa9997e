"""What a formula of fusion sees: for some topics the lists of every run, joined by document.

A list is what one run gave for one topic, best first. Rows are the entries of lists; a document has a row in every list
that names it. Formulas compute a number for each row and add them up by document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.errors import DataError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64, np.bool_)


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of all runs for some topics.

    With an entry for each list: `run` and `topic`, numbers into `runs` and `topics`; its rows are offsets[i] to
    offsets[i + 1]. With an entry for each row: `score` and `document`. With an entry for each document: `found`, the
    number of lists that have it. The documents of topic t are document_offsets[t] to document_offsets[t + 1].
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    run: Integers
    topic: Integers
    offsets: Integers
    score: Floats
    document: Integers
    found: Integers
    document_offsets: Integers
    gathered: _core.Gathered

    @cached_property
    def length(self) -> Integers:
        """Of each list."""
        return np.diff(self.offsets)

    @cached_property
    def candidates(self) -> Integers:
        """For each topic, how many documents its lists have together."""
        return np.diff(self.document_offsets)

    @cached_property
    def rank(self) -> Integers:
        """Of each row in its list, from 1."""
        return np.arange(1, len(self.score) + 1) - self.each(self.offsets[:-1])

    @cached_property
    def best(self) -> Floats:
        """The highest score of each list, which is its first."""
        return self.score[self.offsets[:-1]]

    @cached_property
    def worst(self) -> Floats:
        """The lowest score of each list, which is its last."""
        return self.score[self.offsets[1:] - 1]

    def each(self, x: NDArray[Number]) -> NDArray[Number]:
        """A value of lists for each of their rows."""
        return np.repeat(x, self.length)

    def each_document(self, x: NDArray[Number]) -> NDArray[Number]:
        """A value of topics for each of their documents."""
        return np.repeat(x, self.candidates)

    def in_list(self, x: Floats) -> Floats:
        """The sum of x over each list."""
        return _core.segment_sum(self.offsets, np.ascontiguousarray(x))

    def total(self, x: Floats) -> Floats:
        """The sum of x over the rows of each document."""
        return _core.document_sums(self.document, np.ascontiguousarray(x), len(self.found))

    def total_or(self, x: Floats, absent: Floats) -> Floats:
        """The same, where a list that lacks the document adds its value of `absent`."""
        if_none = _core.document_sums(self.topic, absent, len(self.topics))
        return self.total(x - self.each(absent)) + self.each_document(if_none)

    def smallest(self, x: Floats) -> Floats:
        """The least x among the rows of each document."""
        return _core.document_minima(self.document, np.ascontiguousarray(x), len(self.found))

    def largest(self, x: Floats) -> Floats:
        """The largest x among the rows of each document."""
        return _core.document_maxima(self.document, np.ascontiguousarray(x), len(self.found))

    def median(self, x: Floats) -> Floats:
        """The x in the middle of the rows of each document, or the mean of the two there."""
        return _core.document_medians(self.document, np.ascontiguousarray(x), len(self.found))

    def scored(self, score: Floats) -> Lists:
        """The same lists with other scores."""
        return replace(self, score=score)

    def filled(self, absent: Floats) -> Lists:
        """Every list with every document of its topic: those it lacks get its value of `absent`. Ranks mean nothing."""
        length = self.candidates[self.topic]
        offsets = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
        first = self.document_offsets[self.topic]
        score = np.repeat(absent, length)
        score[self.each(offsets[:-1] - first) + self.document] = self.score
        document = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - first, length)
        lists = np.bincount(self.topic, minlength=len(self.topics))
        return replace(self, offsets=offsets, score=score, document=document, found=np.repeat(lists, self.candidates))

    def refuse(self, wrong: Mask, problem: str, remedy: str) -> None:
        """An error that names the first of the lists marked, if any is."""
        if wrong.any():
            at = int(np.argmax(wrong))
            where = f"topic {self.topics[self.topic[at]]}"
            raise DataError(f"{where}: {problem}", source=self.runs[self.run[at]], remedy=remedy)


def gathered(runs: tuple[str, ...], tables: tuple[_core.Table, ...], topics: tuple[str, ...]) -> Lists:
    """The lists of runs for some topics; errors call the runs what `runs` does."""
    ids = tuple(topic.encode("utf-8", "surrogateescape") for topic in topics)
    lists = _core.gather(tables, ids)
    return Lists(
        runs,
        topics,
        lists.list_run,
        lists.list_topic,
        lists.list_offsets,
        lists.score,
        lists.document,
        lists.found,
        lists.document_offsets,
        lists,
    )
