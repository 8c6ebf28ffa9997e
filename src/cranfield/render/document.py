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
from cranfield.render.terminal import coloured, terminal

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


class Code(NamedTuple):
    """Lines that keep their places."""

    text: str
    language: str = ""


class PictureFile(NamedTuple):
    """A picture in a file beside the text."""

    text: str
    file: str


Block: TypeAlias = Title | Paragraph | Bullet | Code | PictureFile | Grid


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
    shown = list(blocks) if format != "latex" else _captioned(blocks)
    write = {"table": _text, "markdown": _markdown, "latex": _latex, "html": _html}[format]
    gaps = ["", *("\n" if _apart(block, following, format) else "" for block, following in pairwise(shown))]
    return "".join(gap + write(block) for gap, block in zip(gaps, shown, strict=True))


def _captioned(blocks: Iterable[Block]) -> list[Block]:
    """The same blocks, with what stands above a table as its caption, unless it has one of its own."""
    shown: list[Block] = []
    for block in blocks:
        above = shown[-1] if shown else None
        if isinstance(block, Grid) and isinstance(above, Title):
            shown[-1] = block._replace(caption=block.caption or above.text)
        else:
            shown.append(block)
    return shown


def _apart(block: Block, following: Block, format: str) -> bool:
    """Whether there is an empty line between two blocks."""
    if format == "html" or (isinstance(block, Bullet) and isinstance(following, Bullet)):
        return False
    if format == "latex":  # what is told of a table is a comment right under it
        return isinstance(following, Title) or (isinstance(block, Grid) and isinstance(following, Grid))
    return format == "markdown" or not isinstance(block, Title) or isinstance(following, Title)


def _text(block: Block) -> str:
    if isinstance(block, Grid):
        return WRITERS["table"](block)
    if isinstance(block, Code):
        return visible_lines(block.text) + "\n"
    if isinstance(block, Paragraph) and not block.quiet:
        import textwrap

        return textwrap.fill(visible(block.text), min(WIDTH, terminal().width or WIDTH)) + "\n"
    text = visible(block.text)
    return (coloured(text, "strong") if isinstance(block, Title) else text) + "\n"


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
        case Code(text, language):
            return markdown_code(text, language)
        case PictureFile(text, file):
            return f"![{markdown(text)}]({_address(file)})\n"


def _latex(block: Block) -> str:
    """A table; everything else would stand outside of its float, and is a comment."""
    if isinstance(block, Grid):
        return WRITERS["latex"](block)
    return "".join(map(latex_comment, block.text.split("\n") if isinstance(block, Code) else [block.text]))


def _html(block: Block) -> str:
    match block:
        case Grid():
            return str(html_table(block))
        case Title(text, level):
            return f"{Markup.element(f'h{min(level, 3)}', text)}\n"
        case Code(text):
            return f"{Markup.element('pre', Markup.lines(text))}\n"
        case PictureFile(text, file):
            return f"{Markup.element('img', alt=text, src=_address(file))}\n"
        case Paragraph(text) | Bullet(text):
            return f"{Markup.element('p', text)}\n"


def _address(file: str) -> str:
    from urllib.parse import quote

    return quote(file)
