"""What a command tells people, as blocks of plain text and tables: only the writers here know how a form looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from cranfield.render.escaping import (
    Markup,
    latex_comment,
    markdown,
    markdown_code,
    markdown_line,
    visible,
    visible_lines,
)
from cranfield.render.grid import WRITERS, Grid, html_table
from cranfield.render.terminal import coloured, terminal, wrapped

WIDTH = 100  # of paragraphs on a terminal


class Title(NamedTuple):
    """What stands above something; one of level 4, above a table, is no heading of a page that it may be put into."""

    text: str
    level: int = 4


class Paragraph(NamedTuple):
    """Sentences; `quiet` ones are set back, as a formula under a title."""

    text: str
    quiet: bool = False


class Bullet(NamedTuple):
    """A sentence in a list of them."""

    text: str


class Quotation(NamedTuple):
    """What a text says: what it is called, and parts of it, each with whether it is marked."""

    text: str
    parts: Sequence[tuple[str, bool]] = ()


class Code(NamedTuple):
    """Lines that keep their places."""

    text: str
    language: str = ""


class PictureFile(NamedTuple):
    """A picture in a file beside the text."""

    text: str
    file: str


Block: TypeAlias = Title | Paragraph | Bullet | Quotation | Code | PictureFile | Grid


def titled(title: str, grid: Grid | None, notes: Sequence[str] = ()) -> list[Block]:
    """A table, or none, with what stands above it and sentences below."""
    return [Title(title), *([grid] if grid else []), *map(Bullet, notes)]


def written(blocks: Iterable[Block], format: str) -> str:
    """Blocks one below the other, in one of the forms that people read: table, markdown, latex or html.

    >>> blocks = titled("Scores", Grid(["run", "AP"], [["a", "0.5"]]), ["One <run>."])
    >>> print(written(blocks, "markdown"), end="")
    **Scores**
    <BLANKLINE>
    | run | AP |
    | --- | ---: |
    | a | 0.5 |
    <BLANKLINE>
    - One &lt;run>.
    >>> print(written(blocks, "table"), end="")
    Scores
    run   AP
    a    0.5
    <BLANKLINE>
    One <run>.
    """
    shown = _captioned(blocks) if format in ("latex", "html") else list(blocks)
    write = {"table": _text, "markdown": _markdown, "latex": _latex, "html": _html}[format]
    gaps = ["", *("\n" if _apart(block, following, format) else "" for block, following in pairwise(shown))]
    return "".join(gap + write(block) for gap, block in zip(gaps, shown, strict=True))


def _captioned(blocks: Iterable[Block]) -> list[Block]:
    """The same blocks, with what stands above a table as its caption, unless it has one of its own."""
    shown: list[Block] = []
    for block in blocks:
        above = shown[-1] if shown else None
        if isinstance(block, Grid) and isinstance(above, Title) and above.level == Title("").level:
            shown[-1] = block._replace(caption=block.caption or above.text)
        else:
            shown.append(block)
    return shown


def _apart(block: Block, following: Block, format: str) -> bool:
    """Whether there is an empty line between two blocks."""
    alike = isinstance(block, Bullet | Quotation) and type(block) is type(following)
    if format == "html" or alike:
        return False
    if format == "latex":  # what is told of a table is a comment right under it
        return isinstance(following, Title) or (isinstance(block, Grid) and isinstance(following, Grid))
    return format == "markdown" or not isinstance(block, Title) or isinstance(following, Title)


def _text(block: Block) -> str:
    if isinstance(block, Grid):
        return WRITERS["table"](block)
    if isinstance(block, Code):
        return visible_lines(block.text) + "\n"
    if isinstance(block, Quotation):
        return _quoted_text(block)
    if isinstance(block, Paragraph) and not block.quiet:
        import textwrap

        return textwrap.fill(visible(block.text), min(WIDTH, terminal().width or WIDTH)) + "\n"
    text = wrapped(visible(block.text)) if isinstance(block, Bullet) else visible(block.text)
    return (coloured(text, "strong") if isinstance(block, Title) else text) + "\n"


def _quoted_text(block: Quotation) -> str:
    """A line with the name, and under it the text, set in; what is marked is in bold where there is such a thing."""
    import textwrap

    parts = [(visible(text), is_marked) for text, is_marked in block.parts]
    width = min(WIDTH, terminal().width or WIDTH)
    lines = textwrap.wrap("".join(text for text, _ in parts), width, initial_indent="    ", subsequent_indent="    ")
    said = _with_marks("\n".join(lines), parts)
    return "\n".join([coloured(visible(block.text), "strong"), *([said] if said else [])]) + "\n"


def _with_marks(wrapped: str, parts: Sequence[tuple[str, bool]]) -> str:
    """Parts marked in a text whose lines were broken since: it differs from them in blanks alone."""
    shown, at = "", 0
    for text, is_marked in parts:
        left = sum(not character.isspace() for character in text)
        end = at
        while left:
            left -= not wrapped[end].isspace()
            end += 1
        piece = wrapped[at:end]
        word = piece.lstrip()
        shown += piece[: len(piece) - len(word)] + (coloured(word, "strong") if is_marked else word)
        at = end
    return shown + wrapped[at:]


def _markdown(block: Block) -> str:
    match block:
        case Grid():
            return WRITERS["markdown"](block)
        case Title(text, level):
            return f"**{markdown(text)}**\n" if level == 4 else f"{'#' * level} {markdown(text)}\n"
        case Paragraph(text, quiet):
            return f"*{markdown(text)}*\n" if quiet else f"{markdown_line(text)}\n"
        case Bullet(text):
            return f"- {markdown_line(text)}\n"
        case Quotation(text, parts):
            said = "".join(f"**{markdown(part)}**" if is_marked else markdown(part) for part, is_marked in parts)
            return f"- {markdown_line(text)}" + (f": {said}\n" if said else "\n")
        case Code(text, language):
            return markdown_code(text, language)
        case PictureFile(text, file):
            return f"![{markdown(text)}]({_address(file)})\n"


def _latex(block: Block) -> str:
    """A table; everything else would stand outside of its float, and is a comment."""
    if isinstance(block, Grid):
        return WRITERS["latex"](block)
    lines = block.text.split("\n") if isinstance(block, Code) else [block.text]
    if isinstance(block, Quotation):
        lines.append("".join(text for text, _ in block.parts))
    return "".join(map(latex_comment, lines))


def _html(block: Block) -> str:
    return str(html_block(block)) + ("" if isinstance(block, Grid) else "\n")


def html_block(block: Block) -> Markup:
    """A block to stand in more markup.

    >>> print(html_block(Quotation("d1", [("Ducks ", False), ("swim", True)])))
    <p><strong>d1</strong><br>Ducks <mark>swim</mark></p>
    """
    match block:
        case Grid():
            return html_table(block)
        case Title(text, level):
            return Markup.element(f"h{min(level, 3)}", text)
        case Code(text):
            return Markup.element("pre", Markup.lines(text))
        case PictureFile(text, file):
            return Markup.element("img", alt=text, src=_address(file))
        case Quotation(text, parts):
            said = Markup.of(*(Markup.element("mark", part) if is_marked else part for part, is_marked in parts))
            name = Markup.element("strong", text)
            return Markup.element("p", name, Markup.fixed("<br>"), said) if said else Markup.element("p", name)
        case Paragraph(text) | Bullet(text):
            return Markup.element("p", text)


def _address(file: str) -> str:
    from urllib.parse import quote

    return quote(file)
