"""Methods of interleaving that somebody else wrote: what they must have, and whose line it is where they fail."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cranfield.errors import UsageError, shorten
from cranfield.online.interleaving.method import Interleaved, Interleaves, Rankings

_OURS = Path(__file__).parents[2]
_FIELDS = "an Interleaved is Interleaved(rankings, docs, teams), see docs/interleaving.md"


class MadeWrongError(UsageError):
    """What a method of one's own gave is not what it must be; `function` is the one of its functions that gave it."""

    def __init__(self, function: str, message: str) -> None:
        super().__init__(message)
        self.function = function


def own_method(method: object, name: str | None) -> Interleaves:
    """The method, made if it is a class; that it has what a method needs."""
    called = name or (method.__name__ if isinstance(method, type) else shorten(repr(method)))
    own: Any = method
    if isinstance(method, type):
        try:
            own = method()
        except Exception as error:  # whatever the code of others does
            raise UsageError(f"{called} cannot be made without arguments: {_failure(error)}") from error
    for needed in ("interleave", "credit"):
        if not callable(getattr(own, needed, None)):
            raise UsageError(
                f"{called} has no {needed}: a method of interleaving has interleave(rankings, length, draw) and "
                "credit(shown, slots)"
            )
    made: Interleaves = own
    return made


@contextmanager
def faults_of(method: Interleaves, called: str) -> Iterator[None]:
    """Names the method, and the file and line of its own code, where what runs it fails."""
    try:
        yield
    except MadeWrongError as error:
        raise UsageError(f"{called}: {error}{_where_defined(method, error.function)}") from error
    except UsageError as error:
        raise UsageError(f"{called}: {error}{_where_raised(error)}") from error
    except Exception as error:  # whatever the code of others does
        raise UsageError(f"{called} failed: {_failure(error)}") from error


def _failure(error: Exception) -> str:
    return f"{type(error).__name__}: {shorten(str(error), 300)}{_where_raised(error)}"


def _where_raised(error: Exception) -> str:
    """The last line that is not ours on the way to an error."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_ours(frame.filename)]
    if not lines:
        return ""
    text = f": {shorten(lines[-1].line)}" if lines[-1].line else ""
    return f" ({lines[-1].filename}, line {lines[-1].lineno}{text})"


def _where_defined(method: Interleaves, function: str) -> str:
    code = getattr(getattr(method, function), "__code__", None)
    return f" ({code.co_filename}, line {code.co_firstlineno}: {function})" if code else ""


def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_OURS)


def checked_list(given: object, rankings: Rankings) -> Interleaved:
    """What `interleave` gave, as an Interleaved whose fields are what they must be.

    >>> checked_list(["b"], (("a",), ("b",))).docs
    ('b',)
    >>> checked_list(Interleaved((("a",), ("b",)), ["b"], [1]), (("a",), ("b",))).teams
    (1,)
    """
    if not isinstance(given, Interleaved):
        if not isinstance(given, tuple | list):
            said = f"interleave must give an Interleaved or a list of documents, not {shorten(repr(given))}"
            raise MadeWrongError("interleave", said)
        given = Interleaved(rankings, tuple(given))
    docs, teams = given.docs, given.teams
    if not isinstance(docs, tuple | list) or not all(isinstance(doc, str) for doc in docs):
        raise MadeWrongError("interleave", f"docs must be a list of documents, not {shorten(repr(docs))}: {_FIELDS}")
    numbers = range(-1, len(rankings))
    if (
        not isinstance(teams, tuple | list)
        or (teams and len(teams) != len(docs))
        or any(t not in numbers for t in teams)
    ):
        raise MadeWrongError(
            "interleave",
            "teams must have for each document of the list the number of its ranker from 0, or -1, not "
            f"{shorten(repr(teams))}: {_FIELDS}",
        )
    if given.rankings != rankings:
        raise MadeWrongError("interleave", f"rankings must be those that interleave was given: {_FIELDS}")
    return given._replace(docs=tuple(docs), teams=tuple(teams))
