"""TREC documents: <DOC> elements, many to a file, with an id in <DOCNO> and tags that differ from source to source.

What stands in a heading (HEADLINE, HL, TI, …) is the title; what stands in TEXT and in lead paragraphs is the text;
other elements are fields under their own names. A document without TEXT, such as a web page, is text as a whole. Markup
that is not closed or not nested is read as far as it can be, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from cranfield.errors import DataError
from cranfield.texts.forms import Found, Kind, Losses, Notes, TextFormat, Texts, columns_of, fault_at
from cranfield.texts.markup import BLANKS, TAG, attributes, marked_up, plain, without_unseen

_BOUNDARY = re.compile(r"<(/?)doc((?:\s[^<>]*)?)>", re.IGNORECASE)
FIRST = re.compile(r"^[ \t]*(?:<[^<>\n]*>[ \t]*)*?<doc(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE)
_KNOWN = {
    "docno": "id",
    **dict.fromkeys(("headline", "hl", "ti", "title", "head", "ttl", "doctitle"), "title"),
    **dict.fromkeys(("text", "lp", "leadpara"), "text"),
}
_ABOUT_THE_FILE = ("docid", "dochdr", "docoldno")
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_.-]*")


class _Odd:
    """What was odd in a file: how many documents, and which entities."""

    def __init__(self) -> None:
        self.documents: Counter[str] = Counter()
        self.entities: Counter[str] = Counter()

    def notes(self) -> Notes:
        notes = [(code, f"{count:,} {_SENTENCES[code]}") for code, count in sorted(self.documents.items())]
        if self.entities:
            told = ", ".join(name for name, _ in self.entities.most_common(3))
            notes.append(("unknown-entities", f"{self.entities.total():,} unknown entities left as they are: {told}"))
        return notes


_SENTENCES = {
    "unclosed-doc": "documents without </DOC>: ended where the next begins, or the file does",
    "unclosed-tag": "documents with a heading or text that is not closed: ended at the next field",
    "no-text": "documents without <TEXT>: everything but id and title was taken for text",
    "loose-text": "documents with words outside any field: added to the text",
    "outside": "places with words between documents: left out",
}


def read(text: str, source: str, kind: Kind) -> Found:
    text = text.replace("\r\n", "\n")
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    starts: list[int] = []
    odd = _Odd()
    for start, given, body in _bodies(text, odd):
        fields = _fields(body, odd)
        id = fields.pop("id", "") or given
        if not id:
            raise fault_at(text, start, "a document without <DOCNO>", source, "Every document needs an id.")
        ids.append(id)
        rows.append(fields)
        starts.append(start)
    if not ids:
        raise DataError("has no <DOC>", source=source, remedy="Is this a file of TREC documents?")
    return Found(ids, columns_of(rows), lambda number: text.count("\n", 0, starts[number]) + 1, odd.notes())


def _bodies(text: str, odd: _Odd) -> Iterator[tuple[int, str, str]]:
    """For each document where it starts, the id in its tag if there is one, and what stands in it."""
    opened: re.Match[str] | None = None
    after = 0  # where the last document ended
    for tag in _BOUNDARY.finditer(text):
        if opened is not None:
            yield _body(opened, text[opened.end() : tag.start()])
            odd.documents["unclosed-doc"] += not tag[1]
        elif text[after : tag.start()].strip():
            odd.documents["outside"] += 1
        opened, after = (None if tag[1] else tag), tag.end()
    if opened is not None:
        odd.documents["unclosed-doc"] += 1
        yield _body(opened, text[opened.end() :])
    elif after and text[after:].strip():
        odd.documents["outside"] += 1
    odd.documents += Counter()  # forgets what was counted zero times


def _body(tag: re.Match[str], body: str) -> tuple[int, str, str]:
    return tag.start(), attributes(tag[2]).get("id", "") if tag[2] else "", body


def _fields(body: str, odd: _Odd) -> dict[str, str]:
    """The fields of one document."""
    parts = TAG.split(without_unseen(body))
    names, slashes = [name.lower() for name in parts[2::4]], parts[1::4]
    last = {name: i for i, name in enumerate(names) if slashes[i]}  # where each is closed for the last time
    whole = not any(_KNOWN.get(name) == "text" and not slash for name, slash in zip(names, slashes, strict=True))
    loose = [parts[0]]
    pieces: dict[str, list[str]] = {}
    stack: list[str] = []
    closed, unclosed = True, False  # the field we are in; any field
    for i, (name, slash, more, piece) in enumerate(zip(names, slashes, parts[3::4], parts[4::4], strict=True)):
        inside = stack[-1] if stack else ""
        between = " "
        if slash:
            if name in stack and (name == inside or inside not in _KNOWN):
                del stack[stack.index(name) :]
        elif more.endswith("/") or (inside in _KNOWN and (closed or not _ends(inside, name))):
            pass  # markup within a field
        elif name in _KNOWN or name in _ABOUT_THE_FILE or (last.get(name, 0) > i and name != "p" and not whole):
            if inside in _KNOWN:
                stack.pop()
            closed = last.get(name, 0) > i and (_KNOWN.get(name) in (None, "text") or _closed_next(names, slashes, i))
            unclosed |= not closed
            stack.append(name)
            between = "\n"
        here = pieces.setdefault(_KNOWN.get(stack[-1], stack[-1]), []) if stack else loose
        here += [between, piece]
    outside = "".join(loose).strip(BLANKS)
    if outside:
        pieces.setdefault("text", []).append(f"\n{outside}")
    odd.documents["loose-text"] += bool(outside) and not whole
    odd.documents["unclosed-tag"] += unclosed
    odd.documents["no-text"] += whole
    texts = {field: "".join(found).strip(BLANKS) for field, found in pieces.items() if field not in _ABOUT_THE_FILE}
    return {field: plain(text, odd.entities) for field, text in texts.items() if text}


def _closed_next(names: list[str], slashes: list[str], opened: int) -> bool:
    """Whether a heading or an id is closed before another field begins."""
    for i in range(opened + 1, len(names)):
        if slashes[i] and names[i] == names[opened]:
            return True
        if not slashes[i] and names[i] in _KNOWN:
            return False
    return False


def _ends(inside: str, name: str) -> bool:
    """Whether a tag ends a field that is not closed: text ends where another field is known to begin."""
    return name in _KNOWN or (_KNOWN[inside] != "text" and name != "p")


def write(documents: Texts, losses: Losses) -> Iterator[str]:
    for id, fields in documents.rows():
        lines = ["<DOC>", f"<DOCNO>{marked_up(id)}</DOCNO>"]
        for field, text in fields.items():
            if field == "text" or not text:
                continue
            if field != "title" and (not _FIELD_NAME.fullmatch(field) or field in _KNOWN or field in _ABOUT_THE_FILE):
                losses.add(f"TREC documents have no field '{field}'", id)
                continue
            lines.append(f"<{field.upper()}>{marked_up(text)}</{field.upper()}>")
        lines += ["<TEXT>", marked_up(fields.get("text", "")), "</TEXT>", "</DOC>\n"]
        yield "\n".join(lines)


def recognise(head: str, kind: Kind) -> bool:
    return kind == "documents" and FIRST.search(head) is not None


TREC = TextFormat("trec", (".sgml", ".sgm", ".trec", ".xml"), recognise, read, write)
