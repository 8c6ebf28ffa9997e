"""What a pooling method is: it says which documents of a topic are judged, and in which order.

To add a method, write a function or class and decorate it with `@pooling_method`: the command line, its help, the
simulations and the properties tested for every method read the registry. There are three kinds:

- "order": a function of the candidates that gives all their numbers, those to be judged first first;
- "adaptive": a class with `next()` and `judged(document, relevant)`, which learns from each judgement;
- "sample": a function that draws lots and keeps the chance that each document had.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from cranfield.errors import UsageError
from cranfield.numerals import NotPlainError, literal
from cranfield.pooling.candidates import Candidates

Kind = Literal["order", "adaptive", "sample"]
_NOTATION = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*")


class Adaptive(Protocol):
    """One topic's judgements in the making."""

    def next(self) -> int | None:
        """The number of the document to judge next; None when all are judged."""
        ...

    def judged(self, document: int, relevant: bool) -> None:
        """Takes note of a judgement."""
        ...


class Parameter(NamedTuple):
    """What a number means, and the least and the most it may be."""

    help: str
    least: float
    most: float

    def check(self, name: str, value: Any) -> float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not self.least <= value <= self.most:
            raise UsageError(f"{name} must be a number from {self.least:g} to {self.most:g}, not {value!r}")
        return float(value)


class Method(NamedTuple):
    """A method under its name, with the values of its parameters; those that are not the usual ones are printed.

    >>> find_method("rrf(k=10)").settings, str(find_method("maxmean(rate=0, shared=0)"))
    ({'k': 10.0}, 'maxmean(rate=0)')
    """

    name: str
    title: str
    says: str
    kind: Kind
    function: Callable[..., Any]
    parameters: Mapping[str, Parameter]
    defaults: Mapping[str, float]
    settings: Mapping[str, float]

    def __str__(self) -> str:
        given = [f"{name}={value:g}" for name, value in self.settings.items() if value != self.defaults[name]]
        return f"{self.name}({', '.join(given)})" if given else self.name

    def started(self, candidates: Candidates, rng: np.random.Generator) -> Adaptive:
        """The method at work on one topic; an order that is known from the start learns nothing."""
        if self.kind == "adaptive":
            made: Adaptive = self.function(candidates, rng, **self.settings)
            return made
        if self.kind == "order":
            return InOrder(self.function(candidates, **self.settings))
        raise UsageError(f"{self.name} draws a sample: it has no order in which documents are judged")


class InOrder:
    """Documents in an order that does not depend on what is found."""

    def __init__(self, order: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self._order = iter(order.tolist())

    def next(self) -> int | None:
        return next(self._order, None)

    def judged(self, document: int, relevant: bool) -> None:
        pass


_METHODS: dict[str, Method] = {}
Function = Callable[..., Any]


def pooling_method(
    name: str, *, title: str, kind: Kind = "order", **parameters: Parameter
) -> Callable[[Function], Function]:
    """Registers a method; the first paragraph of its docstring says how it works, its keywords are its parameters."""

    def register(function: Function) -> Function:
        says = " ".join((function.__doc__ or "").strip().split("\n\n")[0].split())
        of = function.__init__ if inspect.isclass(function) else function
        defaults = inspect.signature(of).parameters
        settings = {parameter: float(defaults[parameter].default) for parameter in parameters}
        _METHODS[name] = Method(name, title, says, kind, function, parameters, settings, settings)
        return function

    return register


def all_methods(*kinds: Kind) -> tuple[Method, ...]:
    """Every registered method, or those of some kinds, with its defaults.

    >>> [method.name for method in all_methods("order")]
    ['depth', 'plan', 'rrf', 'rbp']
    """
    _load()
    wanted = kinds or get_args(Kind)
    return tuple(method for kind in wanted for method in _METHODS.values() if method.kind == kind)


def find_method(text: str | Method) -> Method:
    """The method of a notation such as rrf, rrf(k=10) or maxmean(rate=0).

    >>> find_method("rrf(p=10)")
    Traceback (most recent call last):
    cranfield.errors.UsageError: rrf has no parameter 'p'; it has k
    """
    if isinstance(text, Method):
        return text
    _load()
    match = _NOTATION.fullmatch(text)
    name, inside = match.groups() if match else (text, None)
    if name not in _METHODS:
        raise UsageError(f"unknown pooling method '{name}'; there are {', '.join(m.name for m in all_methods())}")
    method = _METHODS[name]
    given = _settings(text, inside or "")
    for parameter in given:
        if parameter not in method.parameters:
            known = ", ".join(method.parameters) or "none"
            raise UsageError(f"{name} has no parameter '{parameter}'; it has {known}")
    checked = {key: method.parameters[key].check(f"{name}: {key}", value) for key, value in given.items()}
    return method._replace(settings={**method.settings, **checked})


def _settings(text: str, inside: str) -> dict[str, Any]:
    try:
        written = f"f({inside})"
        call = ast.parse(written, mode="eval").body
        assert isinstance(call, ast.Call)
        assert not call.args
        return {keyword.arg or "": literal(keyword.value, written) for keyword in call.keywords}
    except NotPlainError as error:
        raise UsageError(f"'{text}': {error}") from None
    except (SyntaxError, ValueError, TypeError, AssertionError, MemoryError, RecursionError):
        raise UsageError(f"'{text}' is not a pooling method: write name(parameter=number, …)") from None


def _load() -> None:
    from cranfield.pooling import adaptive, fixed_orders, strata  # noqa: F401  register their methods
