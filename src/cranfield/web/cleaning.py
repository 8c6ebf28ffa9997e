"""HTML and Markdown of others as HTML that does nothing: no script runs, nothing is loaded, nothing leads away.

Nothing else in this door makes HTML of a text that is not ours. A document is shown in `<iframe sandbox srcdoc>` under
the content policy of the page; what this module gives is harmless without either.
"""

from __future__ import annotations

import re
from collections import Counter

import nh3
from markdown_it import MarkdownIt

from cranfield.errors import UsageError
from cranfield.judging.showing import part_of
from cranfield.render.escaping import Markup, readable
from cranfield.texts.markup import looks_like_html, text_of_html

__all__ = ["FRAME_POLICY", "cleaned_html", "guideline_html", "looks_like_html"]

# What a browser lets a document of others do when it is opened by itself: nothing.
FRAME_POLICY = (
    "default-src 'none'; style-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox"
)
LONGEST_GUIDELINE = 100_000  # characters
DEEPEST = 500  # elements within one another: what takes a browser's rules to read grows with the square of it

# fmt: off
_TEXT = frozenset((
    "abbr", "b", "bdi", "bdo", "big", "br", "cite", "code", "del", "dfn", "em", "i", "ins", "kbd", "mark", "q", "rp",
    "rt", "ruby", "s", "samp", "small", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
))
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "div", "dl", "dt", "figcaption", "figure",
    "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section",
    "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
))
# What stands in these is no text of a page, or is read by other rules than those of HTML.
_WITH_CONTENT = frozenset((
    "applet", "audio", "canvas", "embed", "frameset", "iframe", "math", "noembed", "noframes", "noscript", "object",
    "plaintext", "script", "style", "svg", "template", "textarea", "video", "xmp",
))
# These end by themselves, where the next one begins or at once.
_ENDING = frozenset((
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "param", "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
))
# fmt: on
_CELLS = {str(number) for number in range(1, 100)}  # a cell over a million rows would keep a browser busy

# Only lists of what may be: a function that looks at attributes would be asked, and if it failed, be ignored.
_DOCUMENT = nh3.Cleaner(
    tags=set(_TEXT | _BLOCKS),
    clean_content_tags=set(_WITH_CONTENT),
    attributes={"*": {"lang"}, "ol": {"start"}},
    tag_attribute_values={tag: {"dir": {"ltr", "rtl", "auto"}} for tag in _TEXT | _BLOCKS - {"td", "th"}}
    | {tag: {"dir": {"ltr", "rtl", "auto"}, "colspan": _CELLS, "rowspan": _CELLS} for tag in ("td", "th")},
    strip_comments=True,
    link_rel=None,
    url_schemes=set(),
)
_GUIDELINE = nh3.Cleaner(
    tags=set(_TEXT | _BLOCKS | {"a"}),
    clean_content_tags=set(_WITH_CONTENT),
    attributes={"a": {"href", "title"}, "ol": {"start"}},
    strip_comments=True,
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
)


def cleaned_html(text: str, part: int = 1) -> str:
    """A document that is HTML, for `<iframe sandbox srcdoc>`: its words, headings, lists and tables, and no more.

    Links are what they say and lead nowhere; pictures, forms, styles and scripts are left out. Of a long page a part is
    given, by its number from 1, as `shown` has them, with a sentence that says so. A page whose elements are nested
    beyond all measure is given as text.

    >>> cleaned_html('<h1 onclick="x()">Ducks</h1><a href="javascript:x()">swim</a><img src=x onerror=x()><script>x()')
    '<h1>Ducks</h1>swim'
    """
    piece = part_of(text, part, html=True)
    told = [piece.note] if piece.note else []
    page = readable(piece.text)
    if _is_deep(page):
        told.append("The elements of this page are nested too deep to be shown: here is its text.")
        page = str(Markup.element("pre", Markup.lines(text_of_html(page))))
    else:
        page = _DOCUMENT.clean(page)
    return "".join(str(Markup.element("p", Markup.element("em", sentence))) for sentence in told) + page


_OPENING = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")


def _is_deep(page: str) -> bool:
    """Whether elements may stand in one another too deep; some that are counted end before, none is left out."""
    open_now: Counter[str] = Counter()
    depth = 0
    for end, name in _OPENING.findall(page):
        name = name.lower()
        if end and open_now[name]:
            open_now[name] -= 1
            depth -= 1
        elif not end and name not in _ENDING:
            open_now[name] += 1
            depth += 1
            if depth > DEEPEST:
                return True
    return False


def guideline_html(markdown: str) -> str:
    """Guidelines in Markdown, with tables, as HTML to stand in a page; HTML in them is text, and a picture is a link.

    >>> guideline_html("# Relevant\\n\\nOnly *ducks*, <b>no</b> [geese](javascript:x).")
    '<h1>Relevant</h1>\\n<p>Only <em>ducks</em>, &lt;b&gt;no&lt;/b&gt; [geese](javascript:x).</p>\\n'
    >>> guideline_html("[more](https://example.org)")
    '<p><a href="https://example.org" rel="noopener noreferrer nofollow">more</a></p>\\n'
    """
    if len(markdown) > LONGEST_GUIDELINE:
        raise UsageError(f"guidelines of {len(markdown):,} characters are too long: there may be {LONGEST_GUIDELINE:,}")
    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")
    return _GUIDELINE.clean(reader.render(readable(markdown)))
