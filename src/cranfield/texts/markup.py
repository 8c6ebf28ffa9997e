"""Tags and entities, as loosely as old collections write them."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from html.entities import html5

# Parts: a slash if it closes, the name, whatever follows the name.
TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)((?:[\s/][^<>]*)?)>")
ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
BLANKS = " \t\r\n"
_ENTITY = re.compile(r"&(#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_LIKE_A_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_UNSEEN = re.compile(r"<(!--|script\b|style\b)", re.IGNORECASE)
_ENDS = {
    "!--": re.compile("-->"),
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
}
_DECLARATION = re.compile(r"<[!?][A-Za-z][^<>]*>")
_PROLOGUE = re.compile(r"\ufeff?\s*(?:<\?xml[^<>]*>\s*)?(?:<!--(?:[^-]|-(?!->))*-->\s*)*")
_PAGE = re.compile(r"<(?:!doctype\s+html|(?:html|head|body)[\s>])", re.IGNORECASE)
_BLOCKS = (
    "address|article|aside|blockquote|body|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|"
    "h[1-6]|head|header|hgroup|hr|html|legend|li|main|menu|nav|ol|option|p|pre|section|select|summary|table|tbody|td|"
    "tfoot|th|thead|title|tr|ul"
)
_BLOCK_NAME = re.compile(_BLOCKS, re.IGNORECASE)
_LOOKED_AT = 100_000  # characters of a text that is perhaps HTML
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_TREC = {"blank": " ", "hyph": "-"}  # of the Federal Register on TREC's discs; in HTML they are something else


def plain(text: str, unknown: Counter[str] | None = None) -> str:
    """A text with its entities replaced; those that nobody knows stay, and are counted.

    >>> plain("AT&T &amp; R&amp;D &lt;b&gt; &#233; &nosuch;")
    'AT&T & R&D <b> é &nosuch;'
    """
    if "&" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        name = match[1]
        if name[0] == "#":
            code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
            if 128 <= code < 160:  # Windows characters that old pages number so
                return unescape(match[0])
            if 0 < code < 0xD800 or 0xDFFF < code < 0x110000:
                return chr(code)
        known = _TREC.get(name) or html5.get(f"{name};")
        if known is None and unknown is not None:
            unknown[match[0]] += 1
        return match[0] if known is None else known

    return _ENTITY.sub(character, text)


def marked_up(text: str) -> str:
    """A text such that reading gives it back; what cannot be mistaken for a tag or an entity stays as it is.

    >>> marked_up(" AT&T: a<b, <b>, &amp;")
    '&#32;AT&T: a&lt;b, &lt;b>, &amp;amp;'
    """
    text = _LIKE_A_TAG.sub("&lt;", _ENTITY.sub(r"&amp;\1;", text)).replace("\r", "&#13;")
    if text and text[0] in BLANKS:
        text = f"&#{ord(text[0])};{text[1:]}"
    if text and text[-1] in BLANKS:
        text = f"{text[:-1]}&#{ord(text[-1])};"
    return text


def without_unseen(text: str) -> str:
    """A text without comments, declarations, scripts and style sheets; CDATA as the text that it stands for.

    >>> without_unseen("<!DOCTYPE html>a <!-- b --> c <![CDATA[1 <b 2]]>")
    ' a   c 1 &lt;b 2'
    """
    if "<![CDATA[" in text:
        last = text.rfind("]]>") + 3  # nothing is looked for that has no end, or many beginnings would take forever
        text = _CDATA.sub(lambda match: marked_up(match[1].strip(BLANKS)), text[:last]) + text[last:]
    if "<!" in text or "<?" in text:
        text = _DECLARATION.sub(" ", text)
    kept: list[str] = []
    at = 0
    endless: set[str] = set()
    for start in _UNSEEN.finditer(text):
        mark = start[1].lower()
        if start.start() < at or mark in endless:
            continue
        end = _ENDS[mark].search(text, start.end())
        if end is None:
            endless.add(mark)
            continue
        kept += [text[at : start.start()], " "]
        at = end.end()
    return "".join([*kept, text[at:]]) if kept else text


def attributes(text: str) -> dict[str, str]:
    """What stands in a tag after its name.

    >>> attributes(' number="1" type=faceted')
    {'number': '1', 'type': 'faceted'}
    """
    return {name.lower(): plain(a or b or c) for name, a, b, c in ATTRIBUTE.findall(text)}


def looks_like_html(text: str) -> bool:
    """Whether a text is a page, or begins with an element of one that it also ends; a text with tags in it is not one.

    >>> looks_like_html("<!DOCTYPE html><title>Ducks</title>"), looks_like_html(" <p>They <b>swim</b>.</p>")
    (True, True)
    >>> looks_like_html("In HTML, a <p> is a paragraph."), looks_like_html("<vector> is a header of C++")
    (False, False)
    """
    start = text[:_LOOKED_AT]
    first = _PROLOGUE.match(start)
    start = start[first.end() :] if first else start
    if _PAGE.match(start):
        return True
    tag = TAG.match(start)
    if tag is None or tag[1] or not _BLOCK_NAME.fullmatch(tag[2]):
        return False
    return re.search(f"</{tag[2]}\\s*>", start, re.IGNORECASE) is not None


def text_of_html(text: str) -> str:
    """What a page says: blocks become paragraphs, tags and what is not shown are left out, entities are replaced.

    >>> text_of_html("<h1>Ducks</h1><p>They <b>swim</b>.<br>And fly &amp; dive.<script>x</script></p>")
    'Ducks\\n\\nThey swim.\\nAnd fly & dive.'
    """

    def blank(match: re.Match[str]) -> str:
        name = match[2].lower()
        return "\n" if name == "br" else "\t" if name in ("td", "th") else "\n\n" if _BLOCK_NAME.fullmatch(name) else ""

    words = TAG.sub(blank, without_unseen(text))
    words = re.sub(r"\n[ \t]*\n\s*", "\n\n", words)
    return plain(words).strip()
