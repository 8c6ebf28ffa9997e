"""TREC topics: <top> with <num>, <title>, <desc> and <narr>, closed or not; or XML, as <topic number="1"><query>…"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cranfield.errors import DataError
from cranfield.texts.forms import (
    Found,
    Kind,
    Losses,
    Note,
    Piece,
    Records,
    Texts,
    columns_of,
    fault_at,
    line_numbers,
    text_format,
)
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
_LANGUAGE = re.compile(r"([a-z]{1,2})-(?=(?:title|desc|description|narr|narrative)$)")
_MAIN = ("title", "description", "narrative")
_INDENT = re.compile(r"[ \t]*\Z")
_TO_NEXT_LINE = re.compile(r"[ \t]*(?:\r?\n)*")
# What may stand between topics: comments, and the tags and declarations of what topics are in.
_AROUND = re.compile(
    r"<!--.*?(?:-->|\Z)|<!DOCTYPE\b[^<>\[]*(?:\[.*?\]\s*)?>|<[?/]?[a-z][^<>]*>", re.IGNORECASE | re.DOTALL
)
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_.-]*")


def read(text: str, source: str, kind: Kind) -> Found:
    text = text.replace("\r\n", "\n")
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    starts: list[int] = []
    unclosed = loose = 0
    tags = list(_BOUNDARY.finditer(text))
    for number, tag in enumerate(tags):
        if tag[1]:
            continue
        last = number + 1 == len(tags)
        unclosed += last or not tags[number + 1][1]
        body = text[tag.end() : None if last else tags[number + 1].start()]
        own = attributes(tag[2])
        fields = _fields(body)
        outside = fields.pop("", "")
        id = fields.pop("id", "") or next((own.pop(name) for name in _IDS if name in own), "")
        if not id:
            remedy = 'A topic has its id in <num>, or as <topic number="…">.'
            raise fault_at(text, tag.start(), "a topic without a number", source, remedy)
        if outside and not fields:
            fields["title"] = outside
        else:
            loose += bool(outside)
        ids.append(id)
        rows.append(own | fields)
        starts.append(tag.start())
    if not ids:
        raise DataError("has no <top> and no <topic>", source=source, remedy="Is this a file of TREC topics?")
    rows, in_languages = _choose_language(rows)
    notes = [
        Note("unclosed-top", unclosed, "topic", "without </top>: ended where the next begins"),
        Note("loose-text", loose, "topic", "with words outside any field: left out"),
        *in_languages,
    ]
    lines = line_numbers(text, starts)
    return Found(ids, columns_of(rows), lambda number: (source, lines[number]), notes)


def _fields(body: str) -> dict[str, str]:
    """The fields of one topic; under no name what stands outside of them."""
    parts = TAG.split(without_unseen(body))
    names = [name.lower() for name in parts[2::4]]
    to_come = Counter(name for name, slash in zip(names, parts[1::4], strict=True) if slash)
    pieces: dict[str, list[str]] = {"": [parts[0]]}
    current = field = ""
    before = parts[0]
    for name, slash, more, piece in zip(names, parts[1::4], parts[3::4], parts[4::4], strict=True):
        closed = to_come[current] > 0
        to_come[name] -= bool(slash)
        begins_a_line = before.rstrip(" \t")[-1:] in ("", "\n")
        known = _LANGUAGE.sub("", name) in _FIELDS
        if slash:
            current, field = ("", "") if name == current else (current, field)
        elif current and closed:
            pass  # markup within a field
        elif known or field == "id" or (to_come[name] > 0 and (not current or begins_a_line)):
            current, field = name, _field_of(name, more)
            pieces.setdefault(field, []).append("\n")
        pieces[field] += [" ", piece]
        before = piece
    texts = {field: "".join(strings).strip(BLANKS) for field, strings in pieces.items()}
    return {field: _without_label(field.partition("@")[0], text) for field, text in texts.items()}


def _field_of(tag: str, more: str) -> str:
    """What a tag's text is; title@en where the tag says the language, as <EN-title> or <title lang="en">."""
    prefix = _LANGUAGE.match(tag)
    field = _FIELDS.get(_LANGUAGE.sub("", tag), tag)
    own = attributes(more) if more else {}
    language = prefix[1] if prefix else (own.get("xml:lang") or own.get("lang", "")).lower()
    return f"{field}@{language}" if language and field in _MAIN else field


def _choose_language(rows: list[dict[str, str]]) -> tuple[list[dict[str, str]], list[Note]]:
    """The first language is the one read, if nothing has none; the fields of others get its name before theirs."""
    parted = [[(*key.partition("@"), text) for key, text in row.items() if text] for row in rows]
    languages = list(dict.fromkeys(language for row in parted for field, _, language, _ in row if field in _MAIN))
    chosen = "" if "" in languages else (languages or [""])[0]
    others = [language for language in languages if language != chosen]
    named = [
        {field if language in ("", chosen) else f"{language}-{field}": text for field, _, language, text in row}
        for row in parted
    ]
    if not chosen or not others:
        return named, []
    remark = f"in several languages, read in the first ({chosen}); the others are fields such as {others[0]}-title"
    return named, [Note("languages", len(rows), "topic", remark)]


def _without_label(field: str, text: str) -> str:
    label = _LABEL[field].match(text) if field in _LABEL else None
    return plain(text[label.end() :] if label else text)


def write(topics: Texts, losses: Losses) -> Iterator[str]:
    tag_of = {field: tag for tag, field in reversed(_FIELDS.items())} | {"id": "num"}
    in_no_language = any(any(topics.fields.get(field, ())) for field in _MAIN)
    misread = [
        field
        for field in topics.fields
        if _LANGUAGE.match(field) and not (in_no_language and field.partition("-")[2] in _MAIN)
    ]
    for id, fields in topics.rows():
        lines = ["<top>", "", f"<num> {_LABELS['id']}: {marked_up(id)}"]
        in_order = {name: fields[name] for name in dict.fromkeys((*_LABELS, *fields)) if fields.get(name)}
        for field, text in in_order.items():
            if field == "title":
                lines += [f"<title> {_no_label(field, marked_up(text))}", ""]
            elif field in _LABELS and field != "id":
                lines += [f"<{tag_of[field]}> {_LABELS[field]}:", marked_up(text), ""]
            elif not _FIELD_NAME.fullmatch(field) or field in _FIELDS or field in ("top", "topic", *misread):
                losses.add(f"TREC topics have no field '{field}'", id)
            else:
                lines += [f"<{field}>{_no_label(_LANGUAGE.sub('', field), marked_up(text))}</{field}>", ""]
        yield "\n".join([*lines, "</top>", "\n"])


def _no_label(field: str, text: str) -> str:
    return f"&#{ord(text[0])};{text[1:]}" if field in _LABEL and _LABEL[field].match(text) else text


def pieces(text: str) -> list[Piece]:
    """Each topic with its tags; and around topics the tags of what they are in, but no comments and no words."""
    tags = list(_BOUNDARY.finditer(text))
    found: list[Piece] = []
    at = 0
    for tag, following in zip(tags, [*tags[1:], None], strict=True):
        if tag[1]:
            continue
        end = len(text) if following is None else following.end() if following[1] else following.start()
        indent = _INDENT.search(text, max(at, text.rfind("\n", 0, tag.start()) + 1), tag.start())
        start = indent.start() if indent else tag.start()
        found += _around(text, at, start)
        at = _after_blanks(text, end)
        found.append(Piece(start, at))
    return [*found, *_around(text, at, len(text))]


def _around(text: str, start: int, end: int) -> Iterator[Piece]:
    for markup in _AROUND.finditer(text, start, end):
        if not markup[0].startswith("<!--"):
            yield Piece(markup.start(), min(end, _after_blanks(text, markup.end())), is_record=False)


def _after_blanks(text: str, at: int) -> int:
    blanks = _TO_NEXT_LINE.match(text, at)
    return blanks.end() if blanks and "\n" in blanks[0] else at


def recognise(head: str, kind: Kind) -> bool:
    return kind == "topics" and FIRST.search(head) is not None


TREC = text_format(
    "trec",
    read,
    write,
    of=("topics",),
    recognise=recognise,
    suffixes=(".topics", ".xml", ".txt"),
    tried=60,  # late: tags may stand in any text
    records=Records(pieces=pieces),
)
