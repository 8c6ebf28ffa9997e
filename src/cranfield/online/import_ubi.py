"""OpenSearch's User Behavior Insights: documents of `ubi_queries` and `ubi_events`, as JSON.

Its schema refuses its own examples, so nothing is validated by it: what cannot be used is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.errors import DataError, shorten
from cranfield.formats.sources import open_source, utf8_text
from cranfield.online.imports import LogRow, Notes, log_format, moment, whole_number


@log_format("ubi")
def ubi(files: Sequence[str], notes: Notes) -> Iterator[LogRow]:
    """User Behavior Insights (UBI) 1.x: queries and events, in one file or several; JSON lines, a list, or answers of
    OpenSearch with the documents in `_source`. Which a document is, its fields tell.

    `ordinal` becomes the rank as it is, since UBI does not say whether it counts from 0: `online check` finds out.
    """
    queries: list[dict[str, Any]] = []
    sessions: dict[str, str] = {}
    for path in files:
        for record in _records(path):
            if "action_name" in record:
                yield from _event(record, notes, sessions)
            elif record.get("query_id"):
                queries.append(_query(record, notes))
            else:
                notes["document: neither a query with query_id nor an event with action_name, left out"] += 1
    for query in queries:  # UBI has sessions in events alone
        if query["session_id"] is None:
            query["session_id"] = sessions.get(query["query_id"])
        yield LogRow("impressions", query)


def _records(path: str) -> Iterator[Mapping[str, Any]]:
    """The documents of a file."""
    text = utf8_text(open_source(path))
    start = text.lstrip()[:1]
    if start == "[" or (start == "{" and '"hits"' in text[:2000]):
        try:
            document = json.loads(text)
        except ValueError as error:
            raise DataError(f"is not JSON: {error}", source=path) from None
        listed = document if isinstance(document, list) else document.get("hits", {}).get("hits", [])
        for record in listed:
            yield from _unwrapped(record)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield from _unwrapped(json.loads(line))
            except ValueError as error:
                raise DataError(f"is not JSON: {error}", source=path, line=number, text=shorten(line)) from None


def _unwrapped(record: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(record, Mapping) and isinstance(record.get("_source"), Mapping):
        record = record["_source"]
    if isinstance(record, Mapping) and not (len(record) == 1 and ("index" in record or "create" in record)):
        yield record  # the lines between documents that are sent in bulk say only where they go


def _of(record: Mapping[str, Any], *path: str) -> Any:
    """What stands under a path of keys, or None."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str | None:
    return None if value is None or isinstance(value, Mapping | list) else str(value)


def _query(record: Mapping[str, Any], notes: Notes) -> dict[str, Any]:
    said = record.get("user_query")
    hits = record.get("query_response_hit_ids")
    docs = [str(hit) for hit in hits] if isinstance(hits, list) else None
    attributes = record.get("query_attributes")
    more = attributes if isinstance(attributes, Mapping) else {}
    experiment = more.get("experiment")
    inside = experiment if isinstance(experiment, Mapping) else {}
    return {
        "query_id": str(record["query_id"]),
        "ts": moment(record.get("timestamp"), notes),
        "user_id": _text(record.get("user_id") or record.get("client_id")),
        "session_id": _text(record.get("session_id") or more.get("session_id")),
        "query_text": _text(said.get("query") if isinstance(said, Mapping) else said),
        "experiment": _text(inside.get("name") or (experiment if not inside else None)),
        "variant": _text(inside.get("variant") or more.get("variant") or more.get("arm")),
        "docs": docs,
        "n_results": None if docs is None else len(docs),
    }


def _event(record: Mapping[str, Any], notes: Notes, sessions: dict[str, str]) -> Iterator[LogRow]:
    query = _text(record.get("query_id"))
    if not query:
        notes["event: without query_id, left out"] += 1
        return
    session = _text(record.get("session_id"))
    if session is not None:
        sessions.setdefault(query, session)
    attributes = record.get("event_attributes")
    more = attributes if isinstance(attributes, Mapping) else {}
    ordinal = _of(more, "position", "ordinal")
    values = {}
    for name, key in (("dwell_s", "dwell_time"), ("value", "value")):
        number = more.get(key)
        values[name] = float(number) if isinstance(number, int | float) and not isinstance(number, bool) else None
    yield LogRow(
        "events",
        {
            "query_id": query,
            "ts": moment(record.get("timestamp"), notes),
            "action": str(record["action_name"]),
            "doc_id": _text(_of(more, "object", "object_id")),
            "rank": None if ordinal is None else whole_number(ordinal, notes, "ordinal"),
            "currency": _text(more.get("currency")),
            **values,
        },
    )
