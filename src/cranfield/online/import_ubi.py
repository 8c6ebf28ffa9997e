"""OpenSearch's User Behavior Insights: documents of `ubi_queries` and `ubi_events`, as JSON.

Its schema refuses its own examples, so nothing is validated by it: what cannot be used is counted.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats.sources import open_source, utf8_text
from cranfield.online.import_files import lines_of, opened
from cranfield.online.imports import LogRow, Notes, log_format, moment, whole_number

_HEAD = 2000  # bytes that tell what a file holds
_PIECE = 1 << 16  # bytes of a list that are looked at together
_BETWEEN = re.compile(r"[\s,]*\[?[\s,]*")  # what stands before a document of a list


@log_format("ubi")
def ubi(files: Sequence[str], notes: Notes) -> Iterator[LogRow]:
    """User Behavior Insights (UBI) 1.x: queries and events, in one file or several; JSON lines, a list, or answers of
    OpenSearch with the documents in `_source`. Which a document is, its fields tell.

    `ordinal` becomes the rank as it is, since UBI does not say whether it counts from 0: `online check` finds out.
    """
    if "-" in files:
        raise UsageError("a log of UBI is read twice, and standard input can be read once: name a file")
    sessions = _sessions(files)
    for path in files:
        for record in _records(path):
            if "action_name" in record:
                yield from _event(record, notes)
            elif record.get("query_id"):
                yield LogRow("impressions", _query(record, notes, sessions))
            else:
                notes["document: neither a query with query_id nor an event with action_name, left out"] += 1


def _sessions(files: Sequence[str]) -> dict[str, str]:
    """The session of each query that has events: UBI has sessions in events alone, and these come after, or before."""
    found: dict[str, str] = {}
    for path in files:
        for record in _records(path):
            query, session = _text(record.get("query_id")), _text(record.get("session_id"))
            if "action_name" in record and query and session is not None:
                found.setdefault(query, session)
    return found


def _records(path: str) -> Iterator[Mapping[str, Any]]:
    """The documents of a file, one after the other."""
    head = opened(path).peek(_HEAD)[:_HEAD].removeprefix(codecs.BOM_UTF8).lstrip()
    if head.startswith(b"["):
        yield from _listed(path)
    elif head.startswith(b"{") and b'"hits"' in head:  # an answer of OpenSearch, which has ten thousand at most
        yield from _answered(path)
    else:
        for number, line in lines_of(path):
            try:
                yield from _unwrapped(json.loads(line))
            except ValueError as error:
                raise DataError(f"is not JSON: {error}", source=path, line=number, text=shorten(line)) from None


def _answered(path: str) -> Iterator[Mapping[str, Any]]:
    text = utf8_text(open_source(path))
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", source=path) from None
    for record in document.get("hits", {}).get("hits", []):
        yield from _unwrapped(record)


def _listed(path: str) -> Iterator[Mapping[str, Any]]:
    """The documents of a list, of which no more than one is held."""
    decoder, held, at, file = json.JSONDecoder(), "", 0, opened(path)
    try:
        for text in codecs.iterdecode(iter(lambda: file.read(_PIECE), b""), "utf-8-sig"):
            held, at = held[at:] + text, 0
            while (at := _BETWEEN.match(held, at).end()) < len(held) and held[at] != "]":  # type: ignore[union-attr]
                try:
                    record, at = decoder.raw_decode(held, at)
                except ValueError:
                    break  # it goes on in the next piece, if there is one
                yield from _unwrapped(record)
    except UnicodeDecodeError:
        raise DataError("is not UTF-8", source=path) from None
    if held[at:].strip() != "]":
        raise DataError("is not JSON: the list does not end, or has something else in it", source=path)


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


def _query(record: Mapping[str, Any], notes: Notes, sessions: Mapping[str, str]) -> dict[str, Any]:
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
        "session_id": _text(record.get("session_id") or more.get("session_id"))
        or sessions.get(str(record["query_id"])),
        "query_text": _text(said.get("query") if isinstance(said, Mapping) else said),
        "experiment": _text(inside.get("name") or (experiment if not inside else None)),
        "variant": _text(inside.get("variant") or more.get("variant") or more.get("arm")),
        "docs": docs,
        "n_results": None if docs is None else len(docs),
    }


def _event(record: Mapping[str, Any], notes: Notes) -> Iterator[LogRow]:
    query = _text(record.get("query_id"))
    if not query:
        notes["event: without query_id, left out"] += 1
        return
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
