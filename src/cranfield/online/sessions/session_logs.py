"""`read_sessions`: the result pages of a log by session, with what judgements say of the documents on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels
from cranfield.online.page_views import PageView, read_page_views

if TYPE_CHECKING:
    from cranfield.formats.given import File, Given
    from cranfield.online.page_views import PageViews

ONE_SYSTEM = "log"  # what the system is called where a log names none


class ReadDocument(NamedTuple):
    """A document that was clicked: its gain, and after how many seconds of the session (None where unknown)."""

    document: str
    gain: float
    second: float | None


class UserSession(NamedTuple):
    """One session: result pages in their order, gains[page][rank] of what stands on them, and what users did.

    `documents` are as the gains, `pool` has the gains of all documents judged for the session's topics, best first.
    `seconds` are from the first page to the last thing known to have happened; None where the log has no times.
    """

    name: str
    system: str
    user: str | None
    documents: tuple[tuple[str, ...], ...]
    gains: tuple[tuple[float, ...], ...]
    pool: tuple[float, ...]
    queries: int
    clicks: int
    read: tuple[ReadDocument, ...]
    seconds: float | None


class Sessions(NamedTuple):
    """Sessions in the order of the log, where they are from, and what is odd about them."""

    sessions: tuple[UserSession, ...]
    source: str
    warnings: tuple[Finding, ...] = ()

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order in which they come."""
        return tuple(dict.fromkeys(session.system for session in self.sessions))


def read_sessions(*files: File, qrels: Given, format: str | None = None) -> Sessions:
    """Reads JSON lines of impressions and events, the tables of a log, or with a `format` a log of others; and
    judgements of the documents on them.

    The judgements of a page are those of its topic, or of its query where the log names no topic. What nobody judged,
    and what was judged below 0, gains nothing.

    >>> import io
    >>> log = io.StringIO('{"session_id": "s1", "topic": "7", "query_text": "cats", "docs": ["a", "b"]}')
    >>> read_sessions(log, qrels={"7": {"b": 2}}).sessions[0].gains
    ((0.0, 2.0),)
    """
    return judged_sessions(read_page_views(*files, format=format), qrels)


def judged_sessions(views: PageViews, qrels: Given) -> Sessions:
    """The sessions of pages."""
    judgements = {topic: dict(grades) for topic, grades in read_qrels(qrels).to_dict().items()}
    of_session: dict[tuple[str, str], list[PageView]] = {}
    without = 0
    for view in views.views:
        if view.session is None:
            without += 1
        else:
            of_session.setdefault((view.system or ONE_SYSTEM, view.session), []).append(view)
    if not of_session:
        raise DataError(
            "names no sessions", source=views.source, remedy="Every impression of a session has its session_id."
        )
    sessions = [_session(name, system, pages, judgements) for (system, name), pages in of_session.items()]
    told = [*views.warnings, *_odd(views, of_session.values(), judgements)]
    if without:
        message = f"{plural(without, 'page')} without a session, left out"
        told.append(Finding("no-session", views.source, message))
    return Sessions(tuple(sessions), views.source, tuple(told))


def topic_of(page: PageView) -> str:
    """What judgements call what a page is about."""
    return page.topic or page.query


def _session(
    name: str, system: str, views: list[PageView], judgements: Mapping[str, Mapping[str, float]]
) -> UserSession:
    timed = all(view.time is not None for view in views)
    pages = sorted(views, key=lambda view: view.time or 0.0) if timed else views
    start = pages[0].time if timed else None
    worth = {topic: judgements.get(topic, {}) for topic in dict.fromkeys(map(topic_of, pages))}
    pool = {(topic, document): grade for topic, grades in worth.items() for document, grade in grades.items()}
    queries = [page.query for page in pages]
    read: dict[str, ReadDocument] = {}
    for page in pages:
        for click in page.clicks:
            second = click.time - start if click.time is not None and start is not None else None
            gain = max(worth[topic_of(page)].get(click.document, 0.0), 0.0)
            read.setdefault(click.document, ReadDocument(click.document, gain, second))
    return UserSession(
        name=name,
        system=system,
        user=next((page.user for page in pages if page.user is not None), None),
        documents=tuple(page.documents for page in pages),
        gains=tuple(
            tuple(max(worth[topic_of(page)].get(document, 0.0), 0.0) for document in page.documents) for page in pages
        ),
        pool=tuple(sorted((grade for grade in pool.values() if grade > 0), reverse=True)),
        queries=1 + sum(one != other for one, other in pairwise(queries)),
        clicks=sum(len(page.clicks) for page in pages),
        read=tuple(read.values()),
        seconds=None if start is None else _end(pages, start) - start,
    )


def _end(pages: Iterable[PageView], start: float) -> float:
    """When the last thing happened that is known: a page, a click, or the end of reading what was clicked."""
    moments = [start]
    for page in pages:
        moments.append(page.time if page.time is not None else start)
        moments += [click.time + (click.dwell or 0.0) for click in page.clicks if click.time is not None]
    return max(moments)


def _odd(
    views: PageViews, sessions: Iterable[list[PageView]], judgements: Mapping[str, Mapping[str, float]]
) -> list[Finding]:
    pages = [page for of_session in sessions for page in of_session]
    findings = []
    unjudged = list(dict.fromkeys(topic_of(page) for page in pages if topic_of(page) not in judgements))
    if unjudged and len(unjudged) == len({topic_of(page) for page in pages}):
        raise DataError(
            f"no page is about a topic that is judged, but about {some(unjudged)}",
            source=views.source,
            remedy="A page's topic (or its query) is what judgements call it.",
        )
    if unjudged:
        message = f"nothing is judged for {some(unjudged)}: what is shown there gains nothing"
        findings.append(Finding("unjudged-topics", views.source, message))
    foreign = [click.document for page in pages for click in page.clicks if click.document not in page.documents]
    if foreign:
        message = (
            f"{plural(len(foreign), 'click')} on documents not shown on the page: {some(list(dict.fromkeys(foreign)))}"
        )
        findings.append(Finding("not-shown", views.source, message))
    empty = sum(not any(page.documents for page in of_session) for of_session in sessions)
    if empty:
        findings.append(Finding("empty-sessions", views.source, f"{plural(empty, 'session')} that showed no document"))
    times = sum(page.time is None for page in pages)
    if times:
        message = f"{times:,} of {plural(len(pages), 'page')} without a time: their sessions last an unknown time"
        findings.append(Finding("no-times", views.source, message))
    return findings
