"""Logs in the form of Yandex's Relevance Prediction Challenge: a line for each query and click, tabs between fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cranfield.errors import DataError, shorten
from cranfield.online.import_files import lines_of
from cranfield.online.imports import LogRow, Notes, log_format

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@log_format("yandex")
def yandex(files: Sequence[str], notes: Notes) -> Iterator[LogRow]:
    """`SessionID Time Q QueryID RegionID URL …` and `SessionID Time C URL`, tabs between.

    A click belongs to the last list of its session in which the document was shown: users go back to earlier ones.
    Times are those since the session began, taken for seconds after 1970 began; there are no users, so that each
    session is one.
    """
    for path in files:
        session, lists = None, list[dict[str, Any]]()
        seen: set[str] = set()
        for number, line in lines_of(path):
            fields = line.split("\t")
            if len(fields) < 4 or not _is_time(fields[1]) or fields[2] not in ("Q", "C"):
                form = "SessionID, Time, Q, QueryID, RegionID and URLs, or SessionID, Time, C and a URL"
                raise DataError(
                    "is no line of such a log",
                    source=path,
                    line=number,
                    text=shorten(line),
                    remedy=f"A line has {form}, with tabs between.",
                )
            if fields[0] != session:
                if fields[0] in seen:
                    raise DataError(
                        f"session {shorten(fields[0], 40)} goes on after another began",
                        source=path,
                        line=number,
                        text=shorten(line),
                        remedy="Sort the file by session.",
                    )
                session, lists = fields[0], []
                seen.add(session)
                notes["session: their times are taken for seconds, their users for sessions"] += 1
            if fields[2] == "Q":
                lists.append(_query(fields, len(lists)))
                yield LogRow("impressions", lists[-1])
            else:
                yield from _click(fields, lists, notes)


def _is_time(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _time(text: str) -> datetime:
    return _EPOCH + timedelta(seconds=int(text))


def _query(fields: list[str], place: int) -> dict[str, Any]:
    return {
        "query_id": f"{fields[0]}-{place + 1}",
        "ts": _time(fields[1]),
        "user_id": fields[0],
        "session_id": fields[0],
        "query_text": fields[3],
        "docs": fields[5:],
        "n_results": len(fields[5:]),
    }


def _click(fields: list[str], lists: list[dict[str, Any]], notes: Notes) -> Iterator[LogRow]:
    if not lists:
        notes["click: before the first query of its session, left out"] += 1
        return
    shown = next((query for query in reversed(lists) if fields[3] in query["docs"]), None)
    if shown is None:
        notes["click: on a document that its session was not shown, given to the last query without a rank"] += 1
    query = shown or lists[-1]
    yield LogRow(
        "events",
        {
            "query_id": query["query_id"],
            "ts": _time(fields[1]),
            "action": "click",
            "doc_id": fields[3],
            "rank": None if shown is None else shown["docs"].index(fields[3]) + 1,
        },
    )
