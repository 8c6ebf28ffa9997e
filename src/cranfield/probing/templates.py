"""Bodies and addresses with {query} and {depth} in them. A query is put in as a value: it breaks nothing around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

from cranfield.errors import DataError
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.json_text import parse
from cranfield.formats.sources import open_source
from cranfield.probing.addresses import MASK, SECRET

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

_MARK = re.compile(r"\{(query|depth)\}")
# A text in JSON is passed over; a mark outside of one becomes a text.
_BARE = re.compile(r'"(?:[^"\\]|\\.)*"|\{(?:query|depth)\}')


def read_template(path: str) -> Json:
    """A body in JSON, where {query} and {depth} may stand for values, with or without quotes around them.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "body.json").write_text('{"match": {query}, "size": {depth}, "as": "{depth}"}')
    ...     read_template(f"{folder}/body.json")
    {'match': '{query}', 'size': '{depth}', 'as': '{depth}'}
    """
    text = decode(bytes(open_source(path).data).removeprefix(BYTE_ORDER_MARK))
    try:
        template = parse(_BARE.sub(lambda found: found[0] if found[0][0] == '"' else f'"{found[0]}"', text), path, None)
    except DataError as error:
        if not SECRET.search(text):
            raise
        raise DataError(error.message, source=path, line=error.line) from None  # the line may hold a secret
    if "{query}" not in json.dumps(template):
        raise DataError("has no {query} in it", source=path, remedy='Write it where the query goes: "query": {query}.')
    return template


def filled(template: Json, query: str, depth: int) -> Json:
    """The template with a query and a depth; what stands alone becomes a text and a number.

    >>> filled({"q": "title:({query})", "size": "{depth}"}, 'a "duck" {depth}', 10)
    {'q': 'title:(a "duck" {depth})', 'size': 10}
    """
    if isinstance(template, dict):
        return {name: filled(value, query, depth) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(value, query, depth) for value in template]
    if template == "{depth}":
        return depth
    if isinstance(template, str):
        return _MARK.sub(lambda mark: query if mark[1] == "query" else str(depth), template)
    return template


def without_secrets(template: Json) -> Json:
    """The template as it may be kept: what lets one in is masked.

    >>> without_secrets({"api_key": "x", "key": "{query}", "of": [{"token": ["y"]}]})
    {'api_key': '***', 'key': '{query}', 'of': [{'token': '***'}]}
    """
    if isinstance(template, dict):
        return {
            name: MASK if SECRET.search(name) and any(_values(value)) else without_secrets(value)
            for name, value in template.items()
        }
    return [without_secrets(value) for value in template] if isinstance(template, list) else template


def body_secrets(template: Json) -> Iterator[str]:
    """The values of a template that let one in: those under names of secrets, however deep.

    >>> list(body_secrets({"auth": {"basic": "x"}, "q": "{query}", "of": [{"password": 1234}]}))
    ['x', '1234']
    """
    if isinstance(template, dict):
        for name, value in template.items():
            yield from _values(value) if SECRET.search(name) else body_secrets(value)
    elif isinstance(template, list):
        for value in template:
            yield from body_secrets(value)


def _values(template: Json) -> Iterator[str]:
    """Texts and numbers, as texts; what is put in is neither, nor is what is set or not."""
    if isinstance(template, dict | list):
        for value in template.values() if isinstance(template, dict) else template:
            yield from _values(value)
    elif isinstance(template, str | int | float) and not isinstance(template, bool):
        text = str(template)
        if text and not _MARK.fullmatch(text):
            yield text


def as_body(document: Json) -> bytes:
    """JSON as it is sent; bytes of a query that are no UTF-8 are sent as the sign for what cannot be read.

    >>> as_body({"q": "\\udcff"})
    b'{"q": "\\xef\\xbf\\xbd"}'
    """
    return _readable(json.dumps(document, ensure_ascii=False))


def filled_address(text: str, query: str, depth: int) -> str:
    """An address with a query and a depth in it.

    >>> filled_address("/find?q={query}&n={depth}", "ducks & {depth}", 10)
    '/find?q=ducks%20%26%20%7Bdepth%7D&n=10'
    """
    return _MARK.sub(lambda mark: quote(_readable(query), safe="") if mark[1] == "query" else str(depth), text)


def _readable(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()
