"""Calls of public functions with names and types that they do not have, told as this package tells errors.

What a function takes stands in its signature; nothing here is written down a second time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar

from cranfield.errors import ArgumentError, shorten
from cranfield.numerals import LARGEST

Made = TypeVar("Made")


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool) and abs(int(value)) <= LARGEST


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") or (isinstance(value, list | tuple) and not any(map(_is_text, value)))


def _is_text(value: Any) -> bool:
    return isinstance(value, str | bytes | Mapping)


def _is_made_of(text: str) -> Callable[[Any], bool]:
    """Whether a value is a series of what stands in the brackets, where that is text."""

    def check(value: Any) -> bool:
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            return False
        return text != "str" or not isinstance(value, Sequence) or all(isinstance(each, str) for each in value)

    return check


# What annotations mean that say it all; others, as Any, are left to the function itself.
_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "None": ("None", lambda value: value is None),
    "bool": ("True or False", lambda value: isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")),
    "int": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "str": ("text", lambda value: isinstance(value, str)),
    "Mapping": ("a mapping of names to values", lambda value: isinstance(value, Mapping)),
    "Floats": ("an array of numbers", _is_array),
    "os.PathLike": ("a path", lambda value: hasattr(value, "__fspath__")),
}
_SERIES = ("Iterable", "Sequence", "tuple")
_CLASSES = (
    *("Aims", "Documents", "Efficiency", "Index", "Indexing", "Judging", "Measure", "Policy", "Pool", "Qrels"),
    *("Run", "Sampling", "Splits", "Thresholds", "Timing", "Topics"),
)


class _Kind(NamedTuple):
    """What an argument may be, in words and as a test."""

    told: str
    fits: Callable[[Any], bool]


def checked(function: Callable[..., Made], module: str) -> Callable[..., Made]:
    """The same function for callers outside: a wrong name or type is an `ArgumentError` before anything is done.

    `module` is where callers find it, for pickle.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    open_ended = bool(code.co_flags & 0x08)  # it takes further names, and says itself what is wrong with them
    kinds = {name: found for name in names if (found := _kinds(function.__annotations__.get(name)))}

    @wraps(function)
    def call(*values: Any, **named: Any) -> Made:
        if not open_ended:
            check_names(function.__name__, named, names)
        for name, value in (*zip(names, values, strict=False), *named.items()):
            accepted = kinds.get(name)
            if accepted and not any(kind.fits(value) for kind in accepted):
                wanted = " or ".join(dict.fromkeys(kind.told for kind in accepted))
                raise ArgumentError(f"{function.__name__}: {name} must be {wanted}, not {shorten(repr(value), 60)}")
        try:
            return function(*values, **named)
        except TypeError as error:
            if named.get("read") and "keyword" in str(error):  # names that it passes on
                raise ArgumentError(f"{function.__name__}: read: {error}") from None
            raise

    call.__module__ = module
    return call


def built(kind: Callable[..., Made], given: Mapping[str, Any], where: str) -> Made:
    """A dataclass from names and values that a caller gave to a function besides `policy` and `read`."""
    check_names(where, given, (*kind.__dataclass_fields__, "policy", "read"))  # type: ignore[attr-defined]
    return kind(**given)


def check_names(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    """That a function has arguments of these names.

    >>> check_names("compare", ["test"], ["tests", "alpha"])
    Traceback (most recent call last):
    cranfield.errors.ArgumentError: compare has no argument 'test'; did you mean tests?
    """
    taken = list(known)
    unknown = next((name for name in given if name not in taken), None)
    if unknown is None:
        return
    from difflib import get_close_matches

    from cranfield.policy import Policy

    near = get_close_matches(unknown, taken, n=1, cutoff=0.5)
    if unknown in Policy.__dataclass_fields__ and "policy" in taken:
        told = f"it is part of the policy: policy=Policy({unknown}=…)"
    elif "read" in taken and unknown in ("format", "threads", "digest", "progress", "columns"):
        told = f"how files are read is told by read={{'{unknown}': …}}"
    else:
        told = f"did you mean {near[0]}?" if near else f"it has {', '.join(taken)}"
    raise ArgumentError(f"{where} has no argument '{shorten(unknown, 60)}'; {told}")


def _kinds(annotation: Any) -> tuple[_Kind, ...]:
    """The kinds of value that an annotation allows; none if it allows what cannot be told from its name."""
    found = []
    for part in re.split(r"\s*\|\s*(?![^\[]*\])", str(annotation or "")):
        name, _, inside = part.removesuffix("]").partition("[")
        if name in _KINDS:
            found.append(_Kind(*_KINDS[name]))
        elif name in _SERIES:
            found.append(_Kind("a series of text" if inside == "str" else "a series", _is_made_of(inside)))
        elif name in _CLASSES:
            found.append(_Kind(f"of the class {name}", partial(_is_a, name)))
        else:
            return ()
    return tuple(found)


def _is_a(name: str, value: Any) -> bool:
    return any(base.__name__ == name for base in type(value).__mro__)
