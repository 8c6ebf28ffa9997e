"""`read_page_views`: result pages with the clicks on them, from JSON lines, from tables of a log, or logs of others.

A line with documents is an impression, one with an action an event, which belongs to the impression of its query_id; an
impression may have its clicks with it instead. Whatever is odd is counted and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats.json_text import json_objects
from cranfield.formats.sources import open_source, utf8_text
from cranfield.registry import is_number

if TYPE_CHECKING:
    from cranfield.formats.given import File, Json

# What a field may be called, by what it is; the first is our own name.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "query_id": ("query_id",),
    "time": ("ts", "timestamp", "time"),
    "user": ("user_id", "client_id"),
    "session": ("session_id",),
    "query": ("query_text", "user_query", "query_hash", "query"),
    "topic": ("topic", "topic_id"),
    "system": ("variant", "system"),
    "documents": ("docs", "documents", "query_response_hit_ids"),
    "clicks": ("clicks",),
    "action": ("action", "action_name"),
    "document": ("doc_id", "document", "object_id"),
    "rank": ("rank",),
    "dwell": ("dwell_s",),
}
CLICK = "click"
REMEDY = 'An impression is {"query_text": "…", "docs": ["…"], "clicks": ["…"]}; docs/clicks.md has all fields.'


class PageClick(NamedTuple):
    """A click: on which document, when (seconds; None where unknown) and for how long it was read (the same)."""

    document: str
    time: float | None = None
    dwell: float | None = None


class PageView(NamedTuple):
    """One result page as a user saw it. `topic` is what judgements call what was looked for, if the log says."""

    query: str
    documents: tuple[str, ...]
    clicks: tuple[PageClick, ...] = ()
    user: str | None = None
    session: str | None = None
    topic: str | None = None
    system: str | None = None
    time: float | None = None


class PageViews(NamedTuple):
    """Pages in the order of the log, where they are from, and what is odd about them."""

    views: tuple[PageView, ...]
    source: str
    warnings: tuple[Finding, ...] = ()


class LogLine(NamedTuple):
    """An object of a file, or a row of a table, and where it stands."""

    source: str
    number: int
    text: str
    entry: Mapping[str, Json]

    def wrong(self, message: str) -> DataError:
        """The error about something in it."""
        return DataError(message, source=self.source, line=self.number, text=self.text, remedy=REMEDY)

    def field(self, role: str) -> Json:
        """What stands in it for a role, whatever it is called; None where there is nothing."""
        return next((self.entry[name] for name in FIELDS[role] if self.entry.get(name) is not None), None)

    def text_of(self, role: str) -> str | None:
        """An id or a text; a whole number is taken as its digits."""
        value = self.field(role)
        if value is None:
            return None
        if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
            raise self.wrong(f"{self._called(role)} must be text, not {value!r}")
        return str(value)

    def seconds(self, role: str) -> float | None:
        """A time in seconds since 1970, or how many seconds something took."""
        value = self.field(role)
        if value is None:
            return None
        if isinstance(value, int | float) and is_number(value):
            return float(value)
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            message = f"{self._called(role)} must be a number of seconds or an ISO 8601 time, not {value!r}"
            raise self.wrong(message) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()

    def _called(self, role: str) -> str:
        return next(name for name in FIELDS[role] if self.entry.get(name) is not None)


def read_page_views(*files: File, format: str | None = None) -> PageViews:
    """Reads logs: JSON lines of impressions, and of events on them, in any files and any order; or the tables of a log,
    as a folder or files called impressions and events (Parquet, CSV); or with a `format` a log of others (ubi, …).

    >>> import io
    >>> log = io.StringIO('{"query_id": "1", "query_text": "cats", "docs": ["a", "b"]}\\n'
    ...                   '{"query_id": "1", "action": "click", "doc_id": "b"}')
    >>> read_page_views(log).views[0].clicks
    (PageClick(document='b', time=None, dwell=None),)
    """
    from cranfield.online.page_tables import foreign_lines, is_of_tables, table_lines

    odd: list[Finding] = []
    if format is not None:
        lines, label = foreign_lines(format, files, odd)
    elif is_of_tables(files):
        lines, label = table_lines(files, odd)
    else:
        opened = [_opened(file) for file in files]
        label = ", ".join(dict.fromkeys(name for name, _ in opened))
        lines = (line for name, text in opened for line in _lines(name, text))
    impressions: list[tuple[LogLine, PageView]] = []
    events: list[LogLine] = []
    for line in lines:
        if line.field("documents") is not None:
            impressions.append((line, _page(line)))
        elif line.field("action") is not None:
            events.append(line)
        else:
            raise line.wrong("neither an impression (docs) nor an event (action)")
    if not impressions:
        raise DataError("has no impressions", source=label or "the log", remedy=REMEDY)
    views, found = _joined(impressions, events, label)
    return PageViews(tuple(views), label, (*odd, *found))


def _opened(file: File) -> tuple[str, str]:
    opened = open_source(file)
    return opened.label, utf8_text(opened)


def _lines(name: str, text: str) -> Iterator[LogLine]:
    for number, line, entry in json_objects(text.split("\n"), name):
        yield LogLine(name, number, line, entry)


def _page(line: LogLine) -> PageView:
    query = line.text_of("query") or line.text_of("topic")
    if query is None:
        raise line.wrong("an impression without a query")
    documents = line.field("documents")
    if not isinstance(documents, list) or not all(_is_id(document) for document in documents):
        raise line.wrong("docs must be a list of ids")
    return PageView(
        query=query,
        documents=tuple(map(str, documents)),
        clicks=tuple(_inline(line)),
        user=line.text_of("user"),
        session=line.text_of("session"),
        topic=line.text_of("topic"),
        system=line.text_of("system"),
        time=line.seconds("time"),
    )


def _is_id(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _inline(line: LogLine) -> Iterator[PageClick]:
    """The clicks that stand with an impression: ids of documents, or objects like events."""
    clicks = line.field("clicks")
    if clicks is None:
        return
    if not isinstance(clicks, list):
        raise line.wrong("clicks must be a list of documents, or of objects with doc_id")
    for each in clicks:
        if isinstance(each, dict):
            own = line._replace(entry=each)
            document = own.text_of("document")
            if document is None:
                raise line.wrong("a click without doc_id")
            yield PageClick(document, own.seconds("time"), own.seconds("dwell"))
        elif _is_id(each):
            yield PageClick(str(each))
        else:
            raise line.wrong(f"{each!r} is no id of a document")


def _joined(
    impressions: Sequence[tuple[LogLine, PageView]], events: Sequence[LogLine], source: str
) -> tuple[list[PageView], list[Finding]]:
    """Pages with the clicks of the events on them, and what was odd."""
    kept: list[PageView] = []
    place: dict[str, int] = {}
    again: list[str] = []
    for line, page in impressions:
        query_id = line.text_of("query_id")
        if query_id is not None and query_id in place:
            again.append(query_id)
            continue
        if query_id is not None:
            place[query_id] = len(kept)
        kept.append(page)
    clicks: dict[int, list[PageClick]] = {}
    lost: list[str] = []
    for event in events:
        if event.text_of("action") != CLICK:
            continue
        query_id = event.text_of("query_id")
        if query_id is None or query_id not in place:
            lost.append(query_id or f"line {event.number}")
        else:
            clicks.setdefault(place[query_id], []).append(_clicked(event, kept[place[query_id]]))
    views = [page._replace(clicks=(*page.clicks, *clicks.get(number, ()))) for number, page in enumerate(kept)]
    return views, list(_told(again, lost, source))


def _clicked(event: LogLine, page: PageView) -> PageClick:
    """The click of an event; where it does not name the document, its rank, from 1, does."""
    document, rank = event.text_of("document"), event.field("rank")
    if document is None:
        if not isinstance(rank, int) or isinstance(rank, bool) or rank < 1:
            raise event.wrong("a click needs doc_id, or the rank of the document, from 1")
        document = page.documents[rank - 1] if rank <= len(page.documents) else f"rank {rank}"
    return PageClick(document, event.seconds("time"), event.seconds("dwell"))


def _told(again: Iterable[str], lost: Iterable[str], source: str) -> Iterator[Finding]:
    repeated, without = list(again), list(lost)
    if repeated:
        message = f"{plural(len(repeated), 'impression')} with a query_id that was there before, left out: "
        yield Finding("impressions-again", source, message + some(list(dict.fromkeys(repeated))))
    if without:
        message = f"{plural(len(without), 'click')} on pages that are not in the log, not counted: "
        yield Finding("clicks-without-page", source, message + some(list(dict.fromkeys(without))))
