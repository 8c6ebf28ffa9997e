"""The id of a topic in an address. An id may have a slash, or be nothing but dots, which browsers and servers take for
more than text even where it is escaped with %; so it is escaped with ~ here, which is a letter like others to them."""

from __future__ import annotations

from urllib.parse import quote, unquote


def in_address(name: str) -> str:
    """The id of a topic as one segment of an address; most stay as they are.

    >>> in_address("100"), in_address("q/1"), in_address(".."), in_address("~")
    ('100', 'q~2F1', '~2E~2E', '~7E')
    """
    escaped = quote(name, safe="").replace("~", "%7E")
    return (escaped if escaped.strip(".") else escaped.replace(".", "%2E")).replace("%", "~")


def named(segment: str) -> str:
    """The id of a topic from a segment of an address, also where somebody typed it as it is.

    >>> named("100"), named("q~2F1"), named("~2E~2E"), named("50%")
    ('100', 'q/1', '..', '50%')
    """
    return unquote(segment.replace("%", "%25").replace("~", "%"))
