"""What every page has around what it tells: its head, the way to its sections, and its foot."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

from cranfield.render.escaping import Markup, utf8
from cranfield.version import __version__

NOTHING = Markup()


class Section(NamedTuple):
    """A part of a page: what links call it, its title, and what stands in it."""

    name: str
    title: str
    content: Markup


class ScriptParts(NamedTuple):
    """What a page with scripts has more: which scripts may run, and what stands before, above and after the sections.

    `allowed` are digests, with blanks between.
    """

    allowed: str
    before: Markup = NOTHING
    told: Markup = NOTHING
    after: Markup = NOTHING


def page_part(name: str) -> Markup:
    """A file of the page that is our own: style, script or template."""
    return Markup.fixed(files("cranfield.report.page").joinpath(name).read_text(encoding="utf-8"))


def framed(
    title: str, subtitle: str, sections: list[Section], style: Markup, scripts: ScriptParts | None = None
) -> str:
    """A page as text; without `scripts` none may run in it."""
    links = [Markup.fixed('<a href="#${name}">${title}</a>').filled(name=s.name, title=s.title) for s in sections]
    page = page_part("frame.html").filled(
        title=title,
        subtitle=subtitle,
        version=__version__,
        style=style,
        links=between(Markup.fixed(" "), links),
        scripts="" if scripts is None else Markup.fixed("; script-src ${allowed}").filled(allowed=scripts.allowed),
        before=NOTHING if scripts is None else scripts.before,
        told=NOTHING if scripts is None else scripts.told,
        sections=Markup.of(*map(_section, sections)),
        after=NOTHING if scripts is None else scripts.after,
    )
    return utf8(str(page))


_SECTION = Markup.fixed(
    '<section id="${name}" aria-labelledby="${name}-title">\n<h2 id="${name}-title">${title}</h2>\n'
    "${content}</section>\n"
)


def _section(section: Section) -> Markup:
    return _SECTION.filled(name=section.name, title=section.title, content=section.content)


def between(what: Markup, parts: Iterable[Markup]) -> Markup:
    """Parts with something between each two of them.

    >>> str(between(Markup.fixed(" "), [Markup.text("a"), Markup.text("b")]))
    'a b'
    """
    first, *others = [*parts] or [NOTHING]
    return Markup.of(first, *(part for other in others for part in (what, other)))


def figures_of(pictures: Markup) -> Markup:
    """Pictures beside each other, as far as there is room."""
    return Markup.fixed('<div class="figures">\n${pictures}</div>\n').filled(pictures=pictures)
