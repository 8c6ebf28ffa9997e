"""TREC topics: <top> with <num>, <title>, <desc> and <narr>, closed or not; or XML, as <topic number="1"><query>…"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cranfield.errors import DataError
from cranfield.texts.forms import Found, Kind, Losses, TextFormat, Texts, columns_of, fault_at
from cranfield.texts.markup import BLANKS, TAG, attributes, marked_up, plain, without_unseen

_BOUNDARY = re.compile(r"<(/?)top(?:ic)?((?:\s[^<>]*)?)>", re.IGNORECASE)
FIRST = re.compile(r"^[ \t]*(?:<[^<>\n]*>[ \t]*)*?<top(?:ic)?(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE)
_IDS = ("number", "id", "num", "qid", "topicid", "identifier")
# The tags that may stand unclosed, and the fields they are; the first for a field is the one written.
_FIELDS = {
    **dict.fromkeys(_IDS, "id"),
    "dom": "domain",
    "title": "title",
    "query": "title",
    "desc": "description",
    "description": "description",
    "question": "description",
    "smry": "summary",
    "narr": "narrative",
    "narrative": "narrative",
    "con": "concepts",
    "fac": "factors",
    "def": "definitions",
    "head": "head",
}
# What stands before the text of a field and is not part of it.
_LABELS = {
    "id": "Number",
    "domain": "Domain",
    "title": "Topic",
    "description": "Description",
    "summary": "Summary",
    "narrative": "Narrative",
    "concepts": "Concept(s)",
    "factors": "Factor(s)",
    "definitions": "Definition(s)",
}
_LABEL = {field: re.compile(rf"{re.escape(label)} *:[{BLANKS}]*", re.IGNORECASE) for field, label in _LABELS.items()}
_LANGUAGE = re.compile(r"[a-z]{2}-(?=title|desc|narr)")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_.-]*")


def read(text: str, source: str, kind: Kind) -> Found:
    text = text.replace("\r\n", "\n")
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    starts: list[int] = []
    unclosed = 0
    tags = list(_BOUNDARY.finditer(text))
    for number, tag in enumerate(tags):
        if tag[1]:
            continue
        last = number + 1 == len(tags)
        unclosed += last or not tags[number + 1][1]
        body = text[tag.end() : None if last else tags[number + 1].start()]
        given = attributes(tag[2])
        fields = _fields(_CDATA.sub(lambda match: marked_up(match[1]), body))
        id = fields.pop("id", "") or next((given.pop(name) for name in _IDS if name in given), "")
        if not id:
            remedy = 'A topic has its id in <num>, or as <topic number="…">.'
            raise fault_at(text, tag.start(), "a topic without a number", source, remedy)
        ids.append(id)
        rows.append(given | fields)
        starts.append(tag.start())
    if not ids:
        raise DataError("has no <top> and no <topic>", source=source, remedy="Is this a file of TREC topics?")
    notes = [("unclosed-top", f"{unclosed:,} topics without </top>: ended where the next begins")] if unclosed else []
    return Found(ids, columns_of(rows), lambda number: text.count("\n", 0, starts[number]) + 1, notes)


def _fields(body: str) -> dict[str, str]:
    parts = TAG.split(without_unseen(body))
    names = [_LANGUAGE.sub("", name.lower()) for name in parts[2::4]]
    to_come = Counter(name for name, slash in zip(names, parts[1::4], strict=True) if slash)
    pieces: dict[str, list[str]] = {}
    current = ""
    before = parts[0]
    for name, slash, piece in zip(names, parts[1::4], parts[4::4], strict=True):
        closed = to_come[current] > 0
        to_come[name] -= bool(slash)
        begins_a_line = before.rstrip(" \t")[-1:] in ("", "\n")
        if slash:
            current = "" if name == current else current
        elif current and closed:
            pass  # markup within a field
        elif name in _FIELDS or (to_come[name] > 0 and (not current or begins_a_line)):
            current = name
            pieces.setdefault(_FIELDS.get(name, name), []).append("\n")
        if current:
            pieces[_FIELDS.get(current, current)] += [" ", piece]
        before = piece
    return {field: _without_label(field, "".join(some).strip(BLANKS)) for field, some in pieces.items()}


def _without_label(field: str, text: str) -> str:
    label = _LABEL[field].match(text) if field in _LABEL else None
    return plain(text[label.end() :] if label else text)


def write(topics: Texts, losses: Losses) -> Iterator[str]:
    tag_of = {field: tag for tag, field in reversed(_FIELDS.items())} | {"id": "num"}
    for id, fields in topics.rows():
        lines = ["<top>", "", f"<num> {_LABELS['id']}: {marked_up(id)}"]
        in_order = {name: fields[name] for name in dict.fromkeys((*_LABELS, *fields)) if fields.get(name)}
        for field, text in in_order.items():
            if field == "title":
                lines += [f"<title> {_no_label(field, marked_up(text))}", ""]
            elif field in _LABELS and field != "id":
                lines += [f"<{tag_of[field]}> {_LABELS[field]}:", marked_up(text), ""]
            elif not _FIELD_NAME.fullmatch(field) or field in _FIELDS or field in ("top", "topic"):
                losses.add(f"TREC topics have no field '{field}'", id)
            else:
                lines += [f"<{field}>{marked_up(text)}</{field}>", ""]
        yield "\n".join([*lines, "</top>", "\n"])


def _no_label(field: str, text: str) -> str:
    return f"&#{ord(text[0])};{text[1:]}" if _LABEL[field].match(text) else text


def recognise(head: str, kind: Kind) -> bool:
    return kind == "topics" and FIRST.search(head) is not None


TREC = TextFormat("trec", (".topics", ".xml", ".txt"), recognise, read, write)
