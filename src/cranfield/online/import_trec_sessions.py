"""Sessions of the TREC Session Track, in XML: interactions of a user with a query, results and clicks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from cranfield.errors import DataError
from cranfield.online.import_files import opened
from cranfield.online.imports import LogRow, Notes, log_format, moment

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CLOCK = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:\.\d+)?)")
_IDS = ("clueweb12id", "clueweb09id", "docno", "url")


@log_format("trec-session")
def trec_session(files: Sequence[str], notes: Notes) -> Iterator[LogRow]:
    """Session Track XML: `session` > `interaction` > `query`, `results` > `result`, `clicked` > `click`.

    A click's time on the document is from its starttime to its endtime. Times without a day are put on 1970-01-01. The
    last query of a session, `currentquery`, has no results and is left out.
    """
    from xml.etree.ElementTree import ParseError, iterparse

    for path in files:
        root: Element | None = None
        try:
            for event, element in iterparse(opened(path), events=("start", "end")):
                root = element if root is None else root
                if event == "end" and element.tag == "session":
                    yield from _session(element, notes)
                    root.clear()  # or what was read would be kept until the file ends
        except ParseError as error:
            line = error.position[0]
            raise DataError(f"is not XML: {error}", source=path, line=line, text=_line(path, line)) from None


def _line(path: str, number: int) -> str:
    """A line of a file that can be read again."""
    if path == "-":
        return ""
    found = next(islice(opened(path), number - 1, None), b"") if number > 0 else b""
    return found.decode("utf-8", "backslashreplace").rstrip("\r\n")


def _session(session: Element, notes: Notes) -> Iterator[LogRow]:
    name = session.get("num") or session.get("id") or ""
    user = session.get("userid") or (session.findtext("userid") or "").strip() or f"session-{name}"
    topic = session.find("topic")
    about = None if topic is None else topic.get("num") or topic.get("id")
    if session.find("currentquery") is not None:
        notes["current query: without results, left out"] += 1
    for place, interaction in enumerate(session.findall("interaction"), start=1):
        query = f"{name}-{interaction.get('num') or place}"
        docs = _documents(interaction)
        yield LogRow(
            "impressions",
            {
                "query_id": query,
                "ts": _time(interaction.get("starttime") or session.get("starttime"), notes),
                "user_id": user,
                "session_id": name,
                "query_text": (interaction.findtext("query") or "").strip(),
                "topic": about,
                "docs": [docs[rank] for rank in sorted(docs)],
                "n_results": len(docs),
            },
        )
        for click in interaction.iter("click"):
            yield _click(click, query, docs, notes)


def _documents(interaction: Element) -> dict[int, str]:
    """The documents shown, by rank."""
    found: dict[int, str] = {}
    for place, result in enumerate(interaction.iter("result"), start=1):
        rank = result.get("rank") or ""
        ids = [(result.findtext(tag) or "").strip() for tag in _IDS]
        found[int(rank) if rank.isdigit() else place] = next(filter(None, ids), "")
    return found


def _click(click: Element, query: str, docs: dict[int, str], notes: Notes) -> LogRow:
    text = (click.findtext("rank") or "").strip()
    rank = int(text) if text.isdigit() else None
    named = [(click.findtext(tag) or "").strip() for tag in _IDS]
    start, end = (_time(click.get(name), notes) for name in ("starttime", "endtime"))
    row: dict[str, Any] = {
        "query_id": query,
        "ts": start,
        "action": "click",
        "doc_id": next(filter(None, named), None) or docs.get(rank or 0),
        "rank": rank,
        "dwell_s": None if start is None or end is None else (end - start).total_seconds(),
    }
    return LogRow("events", row)


def _time(text: str | None, notes: Notes) -> datetime | None:
    if text is None or not text.strip():
        notes["time: missing"] += 1
        return None
    clock = _CLOCK.fullmatch(text.strip())
    if clock is None:
        number = re.fullmatch(r"\d+(\.\d+)?", text.strip())
        return moment(float(text) if number else text, notes)
    notes["time: without a day, put on 1970-01-01"] += 1
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
        hours=int(clock[1]), minutes=int(clock[2]), seconds=float(clock[3])
    )
