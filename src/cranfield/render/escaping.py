"""Text of others (ids, names of files, titles) on its way into something that is read as more than text.

One function for each target, all in this module: `visible` for terminals, `readable` for documents that are read at
length, `Markup` for HTML, `script_data` for scripts, `markdown`, `latex`, `separated_text` for CSV and TSV, `drawable`
for pictures. What is for people shows control characters as escapes, so that a name can neither move a cursor nor turn
a line round nor pretend to be two lines; what is for machines (JSON, CSV, runs, judgements) has every text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

# Patterns are compiled when they are first used, and kept by `re`: most commands use none of them.

# C0, DEL and C1; marks that turn the direction of text; separators of lines; what is no character. Bytes that are not
# UTF-8 (surrogates from \udc80 on) stay as they are, but for those that a terminal may take for C1.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udc9f\udd00-\udfff]"
_UNSEEN_IN_LINES = _UNSEEN.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f")


def visible(text: str) -> str:
    """The text on one line, with escapes for what would not be seen, or would do something else than be seen.

    >>> print(visible("a\\x1b[2Jb\\nc"), visible("\\u202efdp.exe"), visible("café\\u200d"))
    a\\x1b[2Jb\\nc \\u202efdp.exe café‍
    """
    return text if text.isprintable() else re.sub(_UNSEEN, _escape, text)


def visible_lines(text: str) -> str:
    """The same of a text that has lines and columns of its own.

    >>> print(visible_lines("one\\ntwo\\x07"))
    one
    two\\x07
    """
    return re.sub(_UNSEEN_IN_LINES, _escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if "\udc80" <= character <= "\udc9f":  # a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return ascii(character)[1:-1]


def utf8(text: str) -> str:
    """The text with an escape for every byte that is not UTF-8, for files that must be.

    >>> print(utf8("caf\\udce9"))
    caf\\xe9
    """
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# What a text of lines may hold and a reader is not to meet: controls, separators, marks that turn text against its own
# direction, halves of characters and what is no character. Marks that a language with two directions needs stay.
_UNREADABLE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202d\u202e\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
_LINE_ENDS = dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028", "\n") | {"\u2029": "\n\n"}


def readable(text: str) -> str:
    """A text of many lines that people read: every end of a line is one, controls are drawn, what is nothing is �.

    >>> print(readable("one\\r\\ntwo\\x1b[2J\\ud83d"))
    one
    two␛[2J�
    """

    def drawn(match: re.Match[str]) -> str:
        character = match.group()
        if character in _LINE_ENDS:
            return _LINE_ENDS[character]
        if character < " ":
            return chr(0x2400 + ord(character))
        return "␡" if character == "\x7f" else "�"

    return re.sub(_UNREADABLE, drawn, text.replace("\r\n", "\n"))


class Markup:
    """HTML that is safe to stand in a page. It is made of a str by `text`, which escapes it, by `element`, which does
    so with its content and attributes, and by `fixed`, for markup written out in this package's own files.

    >>> str(Markup.element("b", "x < y", title='"'))
    '<b title="&quot;">x &lt; y</b>'
    """

    __slots__ = ("_html",)
    _html: str

    def __init__(self) -> None:
        self._html = ""

    @classmethod
    def _of(cls, html: str) -> Markup:
        made = cls()
        made._html = html
        return made

    @classmethod
    def text(cls, text: str) -> Markup:
        """A text as text.

        >>> str(Markup.text("<script>\\x1b"))
        '&lt;script&gt;\\\\x1b'
        """
        seen = visible(text)
        for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
            seen = seen.replace(character, entity)
        return cls._of(seen)

    @classmethod
    def fixed(cls, html: str) -> Markup:
        """Markup as it is; a test sees to it that it holds no text of others: a literal, or one of our own files."""
        return cls._of(html)

    @classmethod
    def lines(cls, text: str) -> Markup:
        """A text that has lines of its own, for `pre`.

        >>> str(Markup.lines("a\\n<b>"))
        'a\\n&lt;b&gt;'
        """
        return cls.fixed("\n").join(map(cls.text, text.split("\n")))

    @classmethod
    def element(cls, tag: str, *content: str | Markup, **attributes: str | float | None) -> Markup:
        """An element; an underscore in the name of an attribute stands for a dash, `class_` for class.

        An attribute that is None is left out, and so is the end of an element without content, as svg's path.

        >>> str(Markup.element("p", "a", class_="note", data_n=1, id=None)), str(Markup.element("path", d="M0 0"))
        ('<p class="note" data-n="1">a</p>', '<path d="M0 0"/>')
        """
        written = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{cls.text(str(value))}"'
            for name, value in attributes.items()
            if value is not None
        )
        return cls._of(f"<{tag}{written}>{cls.of(*content)}</{tag}>" if content else f"<{tag}{written}/>")

    @classmethod
    def of(cls, *parts: str | Markup) -> Markup:
        """Parts one after the other, those that are text escaped."""
        return cls._of("".join(str(part if isinstance(part, Markup) else cls.text(part)) for part in parts))

    def join(self, parts: Iterable[Markup]) -> Markup:
        """Parts with this between them."""
        return Markup._of(self._html.join(str(part) for part in parts))

    def filled(self, **parts: str | Markup) -> Markup:
        """This as a template, with the parts in the places of their names: ${name}.

        >>> str(Markup.fixed("<h1>${title}</h1>").filled(title="a & b"))
        '<h1>a &amp; b</h1>'
        """
        from string import Template

        return Markup._of(Template(self._html).substitute({name: str(Markup.of(part)) for name, part in parts.items()}))

    def __str__(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"Markup({self._html!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Markup) and other._html == self._html

    def __hash__(self) -> int:
        return hash(self._html)

    def __bool__(self) -> bool:
        return bool(self._html)


def script_data(data: Json) -> Markup:
    """JSON that can stand inside a script element, whatever ids it holds.

    >>> str(script_data(["</script><b>"]))
    '["\\\\u003c/script>\\\\u003cb>"]'
    """
    import json

    return Markup.fixed(json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


# What Markdown or its extensions would take for more than text, wherever in a line it stands; an underscore only where
# it is not inside of a word, a backslash only where it would escape something.
_MARKDOWN = r"[`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|\\(?=[!-/:-@\[-`{-~]|$)"
_TAG = r"<(?=[A-Za-z/!?])|&(?=#?\w+;)"
_BLOCK = r"^(\s*)([#>+=-]|\d+[.)])"  # a heading, a quotation, a list, a rule


def markdown(text: str) -> str:
    """A text inside of a line of Markdown, in a cell of a table for example: no tag, no emphasis, no link, no end.

    >>> print(markdown("a|b <i> *c* [d](e) run_1"), markdown("<0.0001"), markdown("-0.5"))
    a\\|b &lt;i> \\*c\\* \\[d\\](e) run_1 <0.0001 -0.5
    """
    escaped = re.sub(_MARKDOWN, lambda match: f"\\{match.group()}", visible(text))
    return re.sub(_TAG, lambda match: "&lt;" if match.group() == "<" else "&amp;", escaped)


def markdown_line(text: str) -> str:
    """A text as a line of its own: it is not a heading, a list or a quotation either.

    >>> print(markdown_line("# a"), markdown_line("1. b"), markdown_line("- c"))
    \\# a 1\\. b \\- c
    """

    def escaped(match: re.Match[str]) -> str:
        blanks, mark = match.groups()
        return f"{blanks}{mark[:-1]}\\{mark[-1]}"

    return re.sub(_BLOCK, escaped, markdown(text).lstrip())


def markdown_code(text: str, language: str = "") -> str:
    """A text as a block of code, within more backquotes than it has itself.

    >>> print(markdown_code("a"), end="")
    ```
    a
    ```
    """
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{visible_lines(text)}\n{fence}\n"


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"}
    # TeX's old fonts have other signs in these places, and no minus outside formulas.
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "−": "$-$", "↓": "$\\downarrow$"}
    | {"∞": "$\\infty$", "±": "$\\pm$", "×": "$\\times$", "≥": "$\\ge$", "≤": "$\\le$", "→": "$\\to$", "–": "--"}
)


def latex(text: str) -> str:
    """A text with nothing in it that LaTeX would take for a command.

    >>> latex("a_b & 5 %")
    'a\\\\_b \\\\& 5 \\\\%'
    """
    return visible(text).translate(_LATEX)


def latex_number(text: str) -> str:
    """The same for what stands in a column of numbers, where a hyphen before a digit is a minus.

    >>> latex_number("[-0.5, +∞]"), latex_number("1e-05"), latex_number("2024-05-06")
    ('[$-$0.5, +$\\\\infty$]', '1e$-$05', '2024-05-06')
    """
    return latex(re.sub(_MINUS, "−", text))


_MINUS = r"(?<![0-9A-Za-z_.])-(?=[0-9.∞])|(?<=[0-9]e)-(?=[0-9])"


def latex_comment(text: str) -> str:
    """A text as a comment of LaTeX, which ends with the line.

    >>> latex_comment("a\\nb")
    '% a\\\\nb\\n'
    """
    return f"% {visible(text)}\n"


_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"


def separated_text(text: str) -> str:
    """A text in CSV or TSV, which spreadsheets take for a formula if it begins like one: an apostrophe before it says
    that it is none. A plain number is no formula, and stays the number that it is. JSON has every text as it is.

    >>> separated_text("=1+1"), separated_text("-1"), separated_text("-a"), separated_text("d-1")
    ("'=1+1", '-1', "'-a", 'd-1')
    """
    return f"'{text}" if text[:1] in _FORMULA and not re.fullmatch(_NUMBER, text) else text


_FORMULA = {"=", "+", "-", "@", "\t", "\r"}

# What every object of JavaScript has: Vega looks up groups by name in such objects, and finds these where none are.
_JAVASCRIPT = frozenset(
    (
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
        "__proto__",
    )
)
_NOTHING = "\u2060"  # a joiner of words, which has no width


def drawable(specification: Mapping[str, Json]) -> dict[str, Json]:
    """The specification of a picture in which every text can be drawn: XML has no control characters.

    >>> print(drawable({"title": "a\\x07", "values": [1, "b"]}))
    {'title': 'a\\\\x07', 'values': [1, 'b']}
    """
    return {name: _drawable(item) for name, item in specification.items()}


def _drawable(value: Json) -> Json:
    if isinstance(value, str):
        return _NOTHING + value if value in _JAVASCRIPT else utf8(visible(value))
    if isinstance(value, Mapping):
        return drawable(value)
    return [_drawable(item) for item in value] if isinstance(value, list | tuple) else value
