"""How things are written: `name(parameter=value, …)`, and of measures also `@cutoff`. One parser for all of them.

It looks nothing up and imports nothing: texts come from files and from strangers too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from cranfield.errors import UsageError, shorten
from cranfield.numerals import NotPlainError, literal
from cranfield.records import NamedTuple

# What a parameter can be.
Value: TypeAlias = "bool | int | float | str | Sequence[Value] | Mapping[Value, Value] | None"
Given: TypeAlias = tuple[tuple[str, Value], ...]

# Compiled when they are first used: starting up has no use for them.
_HEAD = r"[^\W\d]\w*(?:-\w+)*"
_WORD = r"[^\W\d]\w*(?:[-.]\w+)*"
_REFERENCE = r"\s*([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)"
_KEYWORD = r"\blambda(?=\s*=)"  # a word of Python's: its parameter has a _ after it


class Written(NamedTuple):
    """What a text says in the notation `name(parameter=value, …)@at`."""

    name: str
    given: Given = ()
    at: Value = None
    has_at: bool = False


class NotationError(UsageError):
    """A text is not in the notation; `reason` is "form", "several" names, "position" (a value without a name) or
    "value".

    >>> parse("rrf(60)")
    Traceback (most recent call last):
    cranfield.notation.NotationError: 'rrf(60)': parameters are given by name, as in name(parameter=value)
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


def parse(text: str) -> Written:
    """What a text says in the notation. Nothing is looked up, and nothing imported.

    >>> parse("nDCG(gain='exp')@10")
    Written(name='nDCG', given=(('gain', 'exp'),), at=10, has_at=True)
    >>> parse("weighted-sum(weights=[0.7, 0.3])").given
    (('weights', [0.7, 0.3]),)

    A word needs no quotes.

    >>> parse("nDCG(gain=exp)").given, parse("nDCG(dcg=exp-log2)").given
    ((('gain', 'exp'),), (('dcg', 'exp-log2'),))
    """
    name, has_at, rank = text.partition("@")
    if name.isidentifier() and (not has_at or _is_plain_whole(rank)):  # most are: they need no parser, which must load
        return Written(name, at=int(rank) if has_at else None, has_at=bool(has_at))
    head = re.match(_HEAD, text)
    if head is None:
        raise NotationError(f"'{shorten(text)}' is not written as name(parameter=value)", "form")
    # A name may have hyphens in it, which Python has not: _ of the same length stand in its place.
    code = re.sub(_KEYWORD, "lambda_", "_" * len(head[0]) + text[head.end() :])
    try:
        node: ast.expr = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotationError(f"'{shorten(text)}' is not written as name(parameter=value)", "form") from None
    at: ast.expr | None = None
    keywords: list[ast.keyword] = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        at, node = node.right, node.left
    if isinstance(node, ast.Call):
        if node.args:
            message = f"'{shorten(text)}': parameters are given by name, as in name(parameter=value)"
            raise NotationError(message, "position")
        keywords, node = node.keywords, node.func
    if not isinstance(node, ast.Name):
        several = isinstance(node, ast.Tuple)
        message = f"'{shorten(text)}' is not written as name(parameter=value)"
        raise NotationError(message, "several" if several else "form")
    values = tuple((keyword.arg or "**", _read_parameter(keyword, code, text)) for keyword in keywords)
    return Written(head[0], values, None if at is None else _read(at, code, text), at is not None)


def _is_plain_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10 and text[0] != "0"


def _read_parameter(keyword: ast.keyword, code: str, text: str) -> Value:
    """A value, or a word as it stands there: whether the parameter can be that word is not known here."""
    node = keyword.value
    may_be_word = keyword.arg is not None and not isinstance(node, ast.Constant)
    written = ast.get_source_segment(code, node) or "" if may_be_word else ""
    return written if re.fullmatch(_WORD, written) else _read(node, code, text)


def _read(node: ast.expr, code: str, text: str) -> Value:
    try:
        return literal(node, code)
    except NotPlainError as error:
        raise UsageError(f"'{text}': {error}") from None
    except (ValueError, TypeError, MemoryError, RecursionError):
        message = f"'{shorten(text)}': a parameter is a number, a word, a text in quotes, or a list or table of them"
        raise NotationError(message, "value") from None


def notation(name: str, given: Given) -> str:
    """How something is written with these values.

    >>> notation("rrf", (("k", 10),)), notation("jm", (("lambda_", 0.5),)), notation("isr", ())
    ('rrf(k=10)', 'jm(lambda=0.5)', 'isr')
    """
    values = ", ".join(f"{spelt(key)}={value!r}" for key, value in given)
    return f"{name}({values})" if values else name


def spelt(parameter: str) -> str:
    """A parameter as people write it, who may use words of Python's.

    >>> spelt("lambda_"), spelt("k1")
    ('lambda', 'k1')
    """
    return parameter.removesuffix("_")


def reference(text: str) -> tuple[str, str] | None:
    """The module and the name in it that a text starts with, as `package.module:Name`; None if it starts with none.

    >>> reference("mine.measures:Half@10"), reference("nDCG(gain={1: 3})@10")
    (('mine.measures', 'Half'), None)
    """
    match = re.match(_REFERENCE, text) if ":" in text else None
    return (match[1], match[2]) if match else None


def check_no_reference(text: str) -> None:
    """Refuses what would have to be imported: names come from files and strangers too, and importing runs code."""
    if reference(text) is not None:
        raise UsageError(
            f"'{shorten(text)}' names a module: only -m on the command line imports one. Import it yourself and give "
            "the measure, or install it as a plug-in and give its name"
        )


def plain_value(value: Value) -> Value:
    """Whole numbers without a point, so that equal values print alike.

    >>> plain_value(60.0), plain_value([0.5, 1.0]), plain_value("a")
    (60, [0.5, 1], 'a')
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, list | tuple):
        return type(value)(map(plain_value, value))
    return {plain_value(key): plain_value(of) for key, of in value.items()} if isinstance(value, Mapping) else value
