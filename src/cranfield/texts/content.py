"""What a file holds: a run, judgements, topics or documents; by its content, or its name where that does not tell."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from cranfield.errors import DataError
from cranfield.formats.format import BYTE_ORDER_MARK
from cranfield.formats.json_text import parse
from cranfield.formats.labels import LEVELS, is_label
from cranfield.formats.layout import ACCEPTED
from cranfield.formats.sources import Buffer
from cranfield.texts import sgml, trec_topics
from cranfield.texts.columns import ACCEPTED as TEXTS
from cranfield.texts.forms import with_line_feeds

Content = Literal["run", "qrels", "topics", "documents"]
# In this order: "topics.qrels" are judgements.
_NAMES: tuple[tuple[Content, re.Pattern[str]], ...] = (
    ("qrels", re.compile(r"qrel|judg[e]?ment")),
    ("topics", re.compile(r"topic|quer(y|ies)|qry")),
    ("documents", re.compile(r"corpus|collection|document|docs|passages|\.all\b")),
    ("run", re.compile(r"\brun|\.run\b|results|\.res\b")),
)
_FOLDERS: Mapping[str, Content] = {"qrels": "qrels", "topics": "topics", "documents": "documents", "runs": "run"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf", re.IGNORECASE)
_HEAD = 1 << 16


def head_of(data: Buffer) -> str:
    """The first lines of a file, whatever they are encoded in."""
    end = data.find(b"\n", _HEAD) if b"\n" not in data[:_HEAD] else _HEAD
    head = bytes(data[: end if end > 0 else None]).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    return with_line_feeds(head)


def kind_of(data: Buffer, path: str) -> Content | None:
    """What some bytes hold that were read from a path, or None if it cannot be told.

    >>> kind_of(b"1 Q0 d1 1 9.5 tag", "a.txt"), kind_of(b"1 0 d1 1", "a.txt"), kind_of(b".I 1\\n.W\\nducks", "cran.qry")
    ('run', 'qrels', 'topics')
    >>> kind_of(b'{"_id": "1", "text": "ducks"}', "a.jsonl") is None
    True
    """
    if data[:4] == b"PAR1":
        from cranfield.formats.parquet import parquet_table

        return _by_columns(parquet_table(data, path).column_names, path)
    head = head_of(data)
    if re.match(r"\s*\.I\b", head):
        has_more = re.search(r"^\.[TAB]\s*$", head, re.MULTILINE)
        return by_name(path) or ("documents" if has_more else None)
    first = next((line.rstrip("\r") for line in head.split("\n") if line.strip() and not line.startswith("#")), "")
    if first.lstrip().startswith("{"):
        return _by_object(first, path)
    for delimiter in "\t,":
        content = (
            _by_columns([name.strip('" ') for name in first.split(delimiter)], path) if delimiter in first else None
        )
        if content:
            return content
    if sgml.FIRST.search(head):
        return "documents"
    if trec_topics.FIRST.search(head):
        return "topics"
    return _by_fields(first, path)


def by_name(path: str) -> Content | None:
    """What a file's name says it holds.

    >>> by_name("beir/qrels/test.tsv"), by_name("queries.dev.tsv"), by_name("data.txt")
    ('qrels', 'topics', None)
    """
    folder, name = os.path.split(path.lower())
    content = next((kind for kind, pattern in _NAMES if pattern.search(name)), None)
    return content or _FOLDERS.get(os.path.basename(folder))


def _by_columns(names: Sequence[str], path: str) -> Content | None:
    known = {name.strip().lower() for name in names}

    def has(role: str) -> bool:
        return not known.isdisjoint(ACCEPTED[role])

    if has("topic") and has("document"):
        if has("rank") or has("tag"):
            return "run"
        if not known.isdisjoint(set(ACCEPTED["grade"]) - set(ACCEPTED["score"])) or {"query-id", "corpus-id"} <= known:
            return "qrels"
        return _table(by_name(path)) if has("score") else None
    topic_only = set(ACCEPTED["topic"]) | {"query", "description", "narrative"}
    document_only = set(ACCEPTED["document"]) | {"contents", "body", "passage", "abstract"}
    if known.isdisjoint(TEXTS["documents"]["id"] + TEXTS["topics"]["id"]):
        return None
    if has("document") or (known & document_only and not known & topic_only):
        return "documents"
    if known & topic_only:
        return "topics"
    return _text(by_name(path))


def _by_object(first: str, path: str) -> Content | None:
    try:
        entry = cast("Mapping[str, Mapping[str, float]]", parse(first, path, 1))  # it starts with a brace
    except DataError:  # one object over several lines
        return _table(by_name(path))
    if entry and all(isinstance(value, dict) for value in entry.values()):
        values = [number for documents in entry.values() for number in documents.values()]
        if any(isinstance(value, str) for value in values):
            return None
        return "run" if any(value != int(value) for value in values) else _table(by_name(path))
    return _by_columns(list(entry), path)


def _by_fields(first: str, path: str) -> Content | None:
    fields = first.split()
    numbers = [bool(_NUMBER.fullmatch(field)) for field in fields]
    between_tabs = first.split("\t")
    if len(fields) in (3, 4) and (fields[-1] in LEVELS or (is_label(fields[-1]) and by_name(path) == "qrels")):
        return "qrels"
    if len(between_tabs) in (2, 4) and not numbers[-1]:
        return _text(by_name(path)) or ("documents" if "://" in between_tabs[1] else None)
    if len(fields) >= 6 and numbers[3] and numbers[4]:
        return "run"
    if len(fields) == 4 and numbers[3]:
        return "qrels"
    return "run" if len(fields) == 3 and numbers[2] and by_name(path) == "run" else None


def _table(kind: Content | None) -> Content | None:
    return kind if kind in ("run", "qrels") else None


def _text(kind: Content | None) -> Content | None:
    return kind if kind in ("topics", "documents") else None
