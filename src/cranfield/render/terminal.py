"""The terminal that text is written for: how wide it is and whether it has colours. Elsewhere nothing is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from cranfield.records import NamedTuple


class Terminal(NamedTuple):
    """A width in characters, None where lines may be as long as they are; and whether there are colours."""

    width: int | None = None
    colours: bool = False


NO_TERMINAL = Terminal()
_written_for: ContextVar[Terminal] = ContextVar("written_for", default=NO_TERMINAL)


def terminal() -> Terminal:
    """What text is being written for."""
    return _written_for.get()


@contextmanager
def written_for(terminal: Terminal) -> Iterator[None]:
    """Text that is made within is for this terminal.

    >>> with written_for(Terminal(width=40)):
    ...     terminal().width
    40
    """
    token = _written_for.set(terminal)
    try:
        yield
    finally:
        _written_for.reset(token)


def wrapped(text: str, where: Terminal | None = None) -> str:
    """Sentences in lines as wide as the terminal, words whole; where nothing is as wide as anything, as they are.

    >>> print(wrapped("one two three", Terminal(width=8)))
    one two
    three
    >>> wrapped("one two three")
    'one two three'
    """
    width = (where or terminal()).width
    if width is None:
        return text
    import textwrap

    lines = textwrap.TextWrapper(
        width, break_long_words=False, break_on_hyphens=False, replace_whitespace=False, expand_tabs=False
    )
    return "\n".join(map(lines.fill, text.split("\n")))


STYLES: Final = {"strong": "1", "quiet": "2", "bad": "31", "good": "32", "doubtful": "33", "note": "36"}
END = "\x1b[0m"
SEQUENCES = tuple(f"\x1b[{code}m" for code in (*STYLES.values(), "0"))  # all that this module ever writes


def coloured(text: str, style: str, where: Terminal | None = None) -> str:
    """The text in a style, where there are colours.

    >>> coloured("best", "strong"), coloured("best", "strong", Terminal(colours=True))
    ('best', '\\x1b[1mbest\\x1b[0m')
    """
    if not text or not (where or terminal()).colours:
        return text
    return f"\x1b[{STYLES[style]}m{text}{END}"
