"""Pages from templates: everything put into them is escaped and readable, and a name that is missing is an error."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cranfield.errors import plural
from cranfield.formats.faults import ALSO, OTHERS
from cranfield.render.escaping import readable
from cranfield.web.accounts.roles import Permission
from cranfield.web.admission import Visit
from cranfield.web.judging.topic_addresses import in_address

FEW = 3  # faults of a file that a page shows
FOLDER = Path(__file__).parent / "pages"


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_tricks,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(asset=asset, Permission=Permission)
    made.filters.update(moment=moment, in_address=in_address, told_lines=told_lines)
    return made


def _without_tricks(value: object) -> object:
    """Every text of others as it can be read: no name or note has control characters, or turns what stands after it."""
    return readable(value) if type(value) is str and not value.isprintable() else value


@cache
def asset(name: str) -> str:
    """The address of one of our own scripts or styles, which browsers keep as long as none of them changes: they are
    in one folder by one digest, so that a script finds the others beside it."""
    return f"/static/{_digest_of_all()}/{name}"


@cache
def _digest_of_all() -> str:
    made = hashlib.sha256()
    for path in sorted((FOLDER / "static").iterdir()):
        content = path.read_bytes()
        made.update(f"{path.name} {len(content)} ".encode() + content)
    return made.hexdigest()[:16]


def moment(milliseconds: int | None) -> str:
    """A time as people read it.

    >>> moment(0)
    '1970-01-01 00:00 UTC'
    """
    if milliseconds is None:
        return "never"
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def told_lines(message: str) -> list[str]:
    """The lines of an error, for paragraphs. Of many faults of one file the first few are shown, and how many others
    there are.

    >>> told_lines("a.run:1: 4 fields\\n    Send it as judgements.\\n    Also:\\n    " + "\\n    ".join("abcdef"))
    ['a.run:1: 4 fields', 'Send it as judgements.', 'Also:', 'a', 'b', 'c', 'and 3 other faults']
    """
    lines = [line.strip() for line in message.split("\n") if line.strip()]
    if ALSO not in lines:
        return lines
    start = lines.index(ALSO) + 1
    others = [line for line in lines[start:] if line != OTHERS]
    if len(others) <= FEW:
        return lines
    left = plural(len(others) - FEW, "other fault") + (" or more" if OTHERS in lines else "")
    return [*lines[:start], *others[:FEW], f"and {left}"]


def page(request: Request, template: str, *, status: int = 200, **content: Any) -> HTMLResponse:
    """A page; templates have `visit`, the address, and what is given by name."""
    visit = getattr(request.state, "visit", None) or Visit(store=request.app.state.store)
    text = environment().get_template(template).render(visit=visit, path=request.url.path, **content)
    return HTMLResponse(text, status)
