"""An object a line: BEIR's corpus.jsonl and queries.jsonl, and whatever else has an id and texts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats.json_text import json_objects, parse
from cranfield.texts.columns import ACCEPTED, find_roles, held_names, require_roles
from cranfield.texts.forms import (
    Found,
    Kind,
    Losses,
    Records,
    Texts,
    after_last_line,
    columns_of,
    line_pieces,
    text_format,
)
from cranfield.texts.texts import Topics

if TYPE_CHECKING:
    from cranfield.formats.given import Json, Value


def read(text: str, source: str, kind: Kind) -> Found:
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    keys: tuple[str, ...] | None = None
    roles: dict[str, str] = {}
    for number, line, entry in json_objects(text.split("\n"), source):
        if isinstance(metadata := entry.get("metadata"), dict):
            entry = _unfolded(entry, metadata, kind)
        if tuple(entry) != keys:
            keys = tuple(entry)
            roles = require_roles(keys, kind, source, number)
        row = {}
        for key, value in entry.items():
            if roles[key] != "id":
                row[roles[key]] = as_text(value)
            elif isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                ids.append(str(value))
            else:
                message = f"the id {value!r} is neither a string nor an integer" if value != "" else "empty id"
                raise DataError(message, source=source, line=number, text=line)
        rows.append(row)
        lines.append(number)
    return Found(ids, columns_of(rows), lambda number: (source, lines[number]), [])


def _unfolded(entry: dict[str, Json], metadata: dict[str, Json], kind: Kind) -> dict[str, Json]:
    """BEIR keeps under `metadata` what is neither title nor text."""
    outer = {key: value for key, value in entry.items() if key != "metadata"}
    names = _names_in_metadata(tuple(outer), tuple(metadata), kind)
    return outer | {names[key]: value for key, value in metadata.items()}


@lru_cache
def _names_in_metadata(outer: tuple[str, ...], inner: tuple[str, ...], kind: Kind) -> dict[str, str]:
    """What to call what is under `metadata`, which must not take the place of what stands outside."""
    known = {key.lower() for key in outer} | {"id"}
    used = set((find_roles(outer, kind) or {}).values()) & set(ACCEPTED[kind])
    roles = find_roles((*outer, *inner), kind) or {}
    return {key: f"metadata.{key}" if key.lower() in known or roles.get(key) in used else key for key in inner}


def as_text(value: Value) -> str:
    """A value of a field as text: nothing for null, JSON for what is neither text nor number.

    >>> as_text("a"), as_text(None), as_text(3), as_text(["a", 1])
    ('a', '', '3', '["a", 1]')
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.decode("latin-1")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def write(texts: Texts, losses: Losses) -> Iterator[str]:
    names = held_names(texts, losses)
    encode = _encoder()
    for id, fields in texts.rows():
        yield encode({"id": id, **{name: fields.get(name, "") for name in names}}) + "\n"


def write_beir(texts: Texts, losses: Losses) -> Iterator[str]:
    main = (
        {"_id": "id", "text": "title"} if isinstance(texts, Topics) else {"_id": "id", "title": "title", "text": "text"}
    )
    names = held_names(texts, losses, main)
    encode = _encoder()
    for id, fields in texts.rows():
        held = {key: id if role == "id" else fields.get(role, "") for key, role in main.items()}
        yield encode({**held, "metadata": {name: fields[name] for name in names if fields.get(name)}}) + "\n"


def _encoder() -> Callable[[Mapping[str, str | dict[str, str]]], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False).encode


def recognise(head: str, kind: Kind) -> bool:
    first = head.lstrip().split("\n", 1)[0]
    if not first.startswith("{"):
        return False
    try:
        entry = parse(first, "", 1)
    except DataError:  # its reader will say what is wrong with it
        return first.rstrip().endswith("}")
    return isinstance(entry, dict) and find_roles(tuple(entry), kind) is not None


LINES = Records(cut=after_last_line, pieces=line_pieces)
JSON_LINES = text_format(
    "jsonl",
    read,
    write,
    recognise=recognise,
    suffixes=(".jsonl", ".ndjson", ".json"),
    tried=40,
    records=LINES,
)
BEIR = text_format("beir", read, write_beir, tried=50, records=LINES)
