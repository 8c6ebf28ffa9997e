"""TREC documents: <DOC> elements, many to a file, with an id in <DOCNO> and tags that differ from source to source.

What stands in a heading (HEADLINE, HL, TI, …) is the title; what stands in TEXT and in lead paragraphs is the text;
other elements are fields under their own names. A document without TEXT is text as a whole, and so is a web page but
for its TITLE. Markup that is not closed or not nested is read as far as it can be, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from cranfield.errors import DataError
from cranfield.texts.forms import (
    Found,
    Kind,
    Losses,
    Note,
    Records,
    Texts,
    columns_of,
    fault_at,
    line_numbers,
    text_format,
)
from cranfield.texts.markup import BLANKS, TAG, attributes, marked_up, plain, without_unseen

_BOUNDARY = re.compile(r"<(/?)doc((?:\s[^<>]*)?)>", re.IGNORECASE)
FIRST = re.compile(r"^[ \t]*(?:<[^<>\n]*>[ \t]*)*?<doc(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE)
_KNOWN = {
    "docno": "id",
    **dict.fromkeys(("headline", "hl", "ti", "title", "head", "ttl", "doctitle"), "title"),
    **dict.fromkeys(("text", "lp", "leadpara"), "text"),
}
_OF_PAGES = {"docno": "id", "title": "title"}
_ABOUT_THE_FILE = ("docid", "dochdr", "docoldno")
_ID = re.compile(r"\s*<docno\b", re.IGNORECASE)
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_.-]*")


class _Odd:
    """What was odd in a file: how many documents, and which entities."""

    def __init__(self) -> None:
        self.documents: Counter[str] = Counter()
        self.entities: Counter[str] = Counter()

    def notes(self) -> list[Note]:
        notes = [Note(code, self.documents[code], *_SENTENCES[code]) for code in sorted(_SENTENCES)]
        names = ", ".join(name for name, _ in self.entities.most_common(3))
        remark = f"with an unknown entity, left as it is: {names}"
        return [*notes, Note("unknown-entities", self.entities.total(), "place", remark)]


_SENTENCES = {
    "unclosed-doc": ("document", "without </DOC>: ended where the next begins, or the file does"),
    "unclosed-tag": ("document", "with a heading or text that is not closed: ended at the next field"),
    "no-text": ("document", "without <TEXT>: everything but id and title was taken for text"),
    "loose-text": ("document", "with words outside any field: added to the text"),
    "outside": ("place", "with words between documents: left out"),
}


def read(text: str, source: str, kind: Kind) -> Found:
    text = text.replace("\r\n", "\n")
    ids: list[str] = []
    rows: list[dict[str, str]] = []
    starts: list[int] = []
    odd = _Odd()
    for start, own_id, body in _bodies(text, odd):
        fields = _fields(body, odd)
        id = fields.pop("id", "") or own_id
        if not id:
            raise fault_at(text, start, "a document without <DOCNO>", source, "Every document needs an id.")
        ids.append(id)
        rows.append(fields)
        starts.append(start)
    if not ids:
        raise DataError("has no <DOC>", source=source, remedy="Is this a file of TREC documents?")
    lines = line_numbers(text, starts)
    return Found(ids, columns_of(rows), lambda number: (source, lines[number]), odd.notes())


def _bodies(text: str, odd: _Odd) -> Iterator[tuple[int, str, str]]:
    """For each document where it starts, the id in its tag if there is one, and what stands in it."""
    opened: re.Match[str] | None = None
    after = 0  # where the last document ended
    for tag in _BOUNDARY.finditer(text):
        if opened is not None:
            if not tag[1] and not _begins(tag):
                continue
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


def _begins(tag: re.Match[str]) -> bool:
    """Whether a tag in a document that is not closed begins another one, and is not part of the text."""
    line = tag.string.rfind("\n", 0, tag.start()) + 1
    return not tag.string[line : tag.start()].strip() or bool(tag[2]) or _ID.match(tag.string, tag.end()) is not None


def _body(tag: re.Match[str], body: str) -> tuple[int, str, str]:
    return tag.start(), attributes(tag[2]).get("id", "") if tag[2] else "", body


def _fields(body: str, odd: _Odd) -> dict[str, str]:
    """The fields of one document."""
    parts = TAG.split(without_unseen(body))
    names, slashes = [name.lower() for name in parts[2::4]], parts[1::4]
    last = {name: i for i, name in enumerate(names) if slashes[i]}  # where each is closed for the last time
    page = "dochdr" in names or ("html" in names and "text" not in names[: names.index("html")])
    known = _OF_PAGES if page else _KNOWN
    whole = page or not any(_KNOWN.get(name) == "text" and not slashes[i] for i, name in enumerate(names))
    loose = [parts[0]]
    pieces: dict[str, list[str]] = {}
    stack: list[str] = []
    closed, unclosed = True, False  # the field we are in; any field
    for i, (name, slash, more, piece) in enumerate(zip(names, slashes, parts[3::4], parts[4::4], strict=True)):
        inside = stack[-1] if stack else ""
        between = " "
        if page and inside in known and not closed:
            stack.pop()  # the title of a page has no markup in it
            inside = ""
        if slash:
            if name in stack and (name == inside or inside not in known):
                del stack[stack.index(name) :]
        elif name == "doctitle" and known.get(inside) == "text" and _closed_next(names, slashes, i, known):
            stack.append(name)  # the Federal Register has its titles in the text
            between = "\n"
        elif more.endswith("/") or (inside in known and (closed or not _ends(inside, name))):
            pass  # markup within a field
        elif name in known or name in _ABOUT_THE_FILE or (last.get(name, 0) > i and name != "p" and not whole):
            if inside in known:
                stack.pop()
            closed = last.get(name, 0) > i and (
                known.get(name) in (None, "text") or _closed_next(names, slashes, i, known)
            )
            unclosed |= not closed
            stack.append(name)
            between = "\n"
        here = pieces.setdefault(known.get(stack[-1], stack[-1]), []) if stack else loose
        here += [between, piece]
    outside = "".join(loose).strip(BLANKS)
    if outside:
        pieces.setdefault("text", []).append(f"\n{outside}")
    odd.documents["loose-text"] += bool(outside) and not whole
    odd.documents["unclosed-tag"] += unclosed
    odd.documents["no-text"] += whole and not page
    texts = {field: "".join(strings).strip(BLANKS) for field, strings in pieces.items() if field not in _ABOUT_THE_FILE}
    return {field: plain(text, odd.entities) for field, text in texts.items() if text}


def _closed_next(names: list[str], slashes: list[str], opened: int, known: Mapping[str, str]) -> bool:
    """Whether a heading or an id is closed before another field begins."""
    for i in range(opened + 1, len(names)):
        if slashes[i] and names[i] == names[opened]:
            return True
        if not slashes[i] and names[i] in known:
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
            unfit = not _FIELD_NAME.fullmatch(field) or field in (*_KNOWN, *_ABOUT_THE_FILE, "html")
            if field != "title" and unfit:
                losses.add(f"TREC documents have no field '{field}'", id)
                continue
            lines.append(f"<{field.upper()}>{marked_up(text)}</{field.upper()}>")
        lines += ["<TEXT>", marked_up(fields.get("text", "")), "</TEXT>", "</DOC>\n"]
        yield "\n".join(lines)


def recognise(head: str, kind: Kind) -> bool:
    return kind == "documents" and FIRST.search(head) is not None


def after_last_document(text: str) -> int:
    """Where the last document that is closed ends."""
    last = max(text.rfind("</DOC>"), text.rfind("</doc>"))
    opened = next((tag.start() for tag in _BOUNDARY.finditer(text) if not tag[1]), len(text))
    return last + len("</DOC>") if opened < last else 0


TREC = text_format(
    "trec",
    read,
    write,
    of=("documents",),
    recognise=recognise,
    suffixes=(".sgml", ".sgm", ".trec", ".xml"),
    tried=60,  # late: tags may stand in any text
    records=Records(cut=after_last_document),
)
