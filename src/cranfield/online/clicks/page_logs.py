"""`read_clicks`: the pages of a log, for click models; and what judgements are to call the queries of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.online.clicks.impressions import ClickLog, Impression, click_log
from cranfield.online.page_views import read_page_views

if TYPE_CHECKING:
    from cranfield.formats.given import File


def read_clicks(*files: File, format: str | None = None) -> ClickLog:
    """Reads JSON lines of impressions, and of events on them, the tables of a log, or with a `format` a log of others;
    docs/clicks.md has their fields.

    Pages of one topic go together where the log names topics, otherwise those of one query.

    >>> import io
    >>> read_clicks(io.StringIO('{"query_text": "cats", "docs": ["a", "b"], "clicks": ["b"], "user_id": "u1"}'))
    <ClickLog: 1 page, 1 query, 2 pairs, 1 click>
    """
    log = read_page_views(*files, format=format)
    pages = (
        Impression(
            view.topic or view.query, view.documents, [click.document for click in view.clicks], view.user, view.session
        )
        for view in log.views
    )
    return click_log(pages, log.source, log.warnings)


def topics_of_queries(file: File) -> dict[str, str]:
    """{query: topic} of a file of topics; a query that two topics have is an error.

    >>> import io
    >>> topics_of_queries(io.StringIO('{"_id": "7", "text": "cats"}'))
    {'cats': '7'}
    """
    from cranfield.texts import read_topics

    topics = read_topics(file)
    named: dict[str, str] = {}
    for topic, query in zip(topics.ids, topics.queries(), strict=True):
        if query in named:
            message = f"topics {named[query]} and {topic} ask the same: {query}"
            raise DataError(message, remedy="A log does not tell which of them was meant: leave one out.")
        named[query] = topic
    return named
