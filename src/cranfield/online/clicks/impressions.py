"""Result pages as users saw them, and what they clicked: what click models are fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.judged import Floats, Integers, Mask


class Impression(NamedTuple):
    """One result page: what was asked, the documents from the top down, those clicked, by whom and in which session.

    A session may have several pages. Where nobody says who the user was, `user` is None.
    """

    query: str
    documents: Sequence[str]
    clicks: Sequence[str] = ()
    user: str | None = None
    session: str | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClickLog:
    """Pages of all queries, those of a query together; a pair is a query with a document shown for it.

    Page p has the slots offsets[p] to offsets[p + 1], of which `pair` has the number and `clicked` whether it was
    clicked. Query q has the pages from query_pages[q] and the pairs from query_pairs[q] on. `unit` has for each page
    the number of its user: of the session where the log names no users, of the page where it names neither.

    >>> log = click_log([Impression("jaguar", ["car", "cat"], ["cat"], "ann"), Impression("jaguar", ["cat"])])
    >>> log
    <ClickLog: 2 pages, 1 query, 2 pairs, 1 click>
    >>> log.documents, log.clicked.tolist()
    (('car', 'cat'), [False, True, False])
    """

    source: str
    queries: tuple[str, ...]
    documents: tuple[str, ...]  # of each pair
    offsets: Integers
    pair: Integers
    clicked: Mask
    query_pages: Integers
    query_pairs: Integers
    unit: Integers
    units: str  # what users are here: "user", "session" or "page"
    warnings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        counts = {"page": self.pages, "query": len(self.queries), "pair": len(self.documents)}
        told = [plural(count, noun) if noun != "query" else queries_told(count) for noun, count in counts.items()]
        return f"<ClickLog: {', '.join(told)}, {plural(int(self.clicked.sum()), 'click')}>"

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return len(self.offsets) - 1

    @cached_property
    def rank(self) -> Integers:
        """The rank of each slot on its page, from 0."""
        return np.arange(len(self.pair)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    @cached_property
    def ranks(self) -> int:
        """The slots of the longest page."""
        return int(np.diff(self.offsets).max(initial=0))

    @cached_property
    def query_of_pair(self) -> Integers:
        """The number of the query of each pair."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.query_pairs))

    def per_pair(self, slots: Mask, weight: Floats) -> Floats:
        """How often each pair has a slot among these, each counting as its page does."""
        of_slot = np.repeat(weight, np.diff(self.offsets))
        counted = np.bincount(self.pair[slots], of_slot[slots], len(self.documents))
        return np.asarray(counted, dtype=np.float64)

    def per_rank(self, slots: Mask, weight: Floats) -> Floats:
        """How often each rank has a slot among these, each counting as its page does."""
        of_slot = np.repeat(weight, np.diff(self.offsets))
        return np.asarray(np.bincount(self.rank[slots], of_slot[slots], self.ranks), dtype=np.float64)

    @cached_property
    def last_click(self) -> Integers:
        """The rank, from 0, of the last click on each page; -1 without one."""
        last = np.full(self.pages, -1)
        page = np.repeat(np.arange(self.pages), np.diff(self.offsets))
        np.maximum.at(last, page[self.clicked], self.rank[self.clicked])
        return last


def queries_told(count: int) -> str:
    """How many queries, in words."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def click_log(impressions: Iterable[Impression], source: str = "pages", warnings: Sequence[Finding] = ()) -> ClickLog:
    """Puts pages in order by query; what cannot be right is counted, named, and stands in the log's warnings.

    A page without documents teaches nothing and is left out; a click on a document that was not shown is not counted.
    Of a document that stands twice on a page, a click counts for the higher place.

    >>> pages = [Impression("a", ["x"], ["y"], "u1"), Impression("a", ["x"], ["x"], "u2"), Impression("a", [])]
    >>> log = click_log(pages)
    >>> print(*log.warnings, sep="\\n")
    pages: 1 page without documents, left out: a
    pages: 1 click on documents not shown on the page, not counted: y (a)
    """
    rows = list(impressions)
    shown = [row for row in rows if row.documents]
    if not shown:
        raise DataError(
            "has no page with documents", source=source, remedy="A click model learns from what users were shown."
        )
    number: dict[str, int] = {}
    query = np.array([number.setdefault(row.query, len(number)) for row in shown])
    order = np.argsort(query, kind="stable")
    slots, pairs, found = _numbered([shown[place] for place in order])
    of_query = np.bincount(query, minlength=len(number))
    unit, units = _units([shown[place] for place in order])
    told = [*warnings, *_left_out(rows, source), *found.told(source, len(shown))]
    if not slots.clicked.any():
        told.append(Finding("no-clicks", source, "nobody clicked anything: only the prior tells documents apart"))
    if units == "page":
        message = "names neither users nor sessions: every page counts as a user of its own"
        told.append(Finding("no-users", source, message))
    return ClickLog(
        source=source,
        queries=tuple(number),
        documents=pairs.documents,
        offsets=np.concatenate([[0], np.cumsum([len(shown[place].documents) for place in order])]),
        pair=slots.pair,
        clicked=slots.clicked,
        query_pages=np.concatenate([[0], np.cumsum(of_query)]),
        query_pairs=np.concatenate([[0], np.cumsum(pairs.of_query)]),
        unit=unit,
        units=units,
        warnings=tuple(told),
    )


class _NumberedSlots(NamedTuple):
    pair: Integers
    clicked: Mask


class _NumberedPairs(NamedTuple):
    documents: tuple[str, ...]
    of_query: list[int]


class _OddClicks(NamedTuple):
    """Clicks on what was not shown, and pages with a document twice."""

    not_shown: list[str]
    twice: list[str]

    def told(self, source: str, pages: int) -> list[Finding]:
        findings = []
        if self.not_shown:
            message = f"{plural(len(self.not_shown), 'click')} on documents not shown on the page, not counted: "
            findings.append(Finding("not-shown", source, message + some(list(dict.fromkeys(self.not_shown)))))
        if self.twice:
            message = (
                f"{plural(len(self.twice), 'page')} of {pages:,} with a document twice, where a click counts for the "
                f"higher place: {some(list(dict.fromkeys(self.twice)))}"
            )
            findings.append(Finding("shown-twice", source, message))
        return findings


def _numbered(rows: Sequence[Impression]) -> tuple[_NumberedSlots, _NumberedPairs, _OddClicks]:
    """Slots with the numbers of their pairs, in the order of pages that stand together by query."""
    pair: list[int] = []
    clicked: list[bool] = []
    documents: list[str] = []
    of_query: list[int] = []
    odd = _OddClicks([], [])
    known: dict[str, int] = {}
    query: str | None = None
    for row in rows:
        if row.query != query:
            query, known = row.query, {}
            of_query.append(0)
        open_clicks = set(row.clicks)
        if len(set(row.documents)) < len(row.documents):
            odd.twice.append(row.query)
        for document in row.documents:
            place = known.get(document)
            if place is None:
                place = known[document] = len(documents)
                documents.append(document)
                of_query[-1] += 1
            pair.append(place)
            clicked.append(document in open_clicks)
            open_clicks.discard(document)
        odd.not_shown.extend(f"{document} ({row.query})" for document in row.clicks if document in open_clicks)
    slots = _NumberedSlots(np.array(pair, dtype=np.int64), np.array(clicked, dtype=bool))
    return slots, _NumberedPairs(tuple(documents), of_query), odd


def _units(rows: Sequence[Impression]) -> tuple[Integers, str]:
    """For each page the number of whom it belongs to, and what these are: users if the log names any."""
    units = "user" if any(row.user is not None for row in rows) else "session"
    if units == "session" and all(row.session is None for row in rows):
        return np.arange(len(rows)), "page"
    number: dict[tuple[str, str | int], int] = {}
    owners = []
    for place, row in enumerate(rows):
        owner: tuple[str, str | int] = ("page", place)
        if row.user is not None and units == "user":
            owner = ("user", row.user)
        elif row.session is not None:
            owner = ("session", row.session)
        owners.append(number.setdefault(owner, len(number)))
    return np.array(owners), units


def _left_out(rows: Sequence[Impression], source: str) -> list[Finding]:
    empty = [row.query for row in rows if not row.documents]
    if not empty:
        return []
    without = f"{plural(len(empty), 'page')} without documents, left out: {some(list(dict.fromkeys(empty)))}"
    return [Finding("empty-pages", source, without)]


def check_same_length(log: ClickLog, weight: Floats) -> None:
    """That there is a weight for each page, and none below 0."""
    if len(weight) != log.pages or not np.isfinite(weight).all() or (weight < 0).any():
        raise UsageError(f"a weight from 0 is needed for each of {plural(log.pages, 'page')}")
