"""What a pooling method is: it says which documents of a topic are judged, and in which order.

To add a method, write a function or class and decorate it with `@pooling_method`: the command line, its help, the
simulations and the properties tested for every method read the registry. There are three kinds:

- "order": a function of the candidates that gives all their numbers, those to be judged first first;
- "adaptive": a class with `next()` and `judged(document, relevant)`, which learns from each judgement; with
  `reads=True` it is also given the texts of a collection;
- "sample": a function that draws lots and keeps the chance that each document had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Integers
from cranfield.pooling.candidates import Candidates, Pooled
from cranfield.registry import Entry, Parameter, Registry, described

if TYPE_CHECKING:
    from cranfield.pooling.learned import PoolTexts

Kind = Literal["order", "adaptive", "sample"]
Function = Callable[..., Any]


class Adaptive(Protocol):
    """One topic's judgements in the making."""

    def next(self) -> int | None:
        """The number of the document to judge next; None when all are judged."""
        ...

    def judged(self, document: int, relevant: bool) -> None:
        """Takes note of a judgement."""
        ...


@runtime_checkable
class Taught(Adaptive, Protocol):
    """A method that also learns from judgements it did not ask for."""

    def taught(self, relevant: Mapping[int, bool]) -> None:
        """Takes note of judgements that exist."""
        ...


class Strategy(Entry[Function]):
    """A method under its name, with the values of its parameters; those that are not the usual ones are printed.

    >>> find_method("rrf(k=10)").settings, str(find_method("maxmean(rate=0, shared=0)"))
    ({'k': 10}, 'maxmean(rate=0)')
    """

    title: str
    kind: Kind = "order"
    reads: bool = False  # whether it needs the texts of documents
    texts: PoolTexts | None = None

    @property
    def says(self) -> str:
        """How it works: the first paragraph of the docstring."""
        return " ".join(self.help.split("\n\n")[0].split())

    def reading(self, texts: PoolTexts | None) -> Strategy:
        """The same with the texts of a collection, if it reads any."""
        return self.replaced(texts=texts) if self.reads else self

    def check_texts(self) -> None:
        """That it has the texts that it reads."""
        if self.reads and self.texts is None:
            raise UsageError(f"{self.name} reads the documents: it needs a collection (--collection FOLDER)")

    def beyond_runs(self, pooled: Pooled) -> bool:
        """Whether it may ask for any document of the collection that it reads."""
        return self.reads and (not pooled.runs or bool(self.settings.get("whole")))

    def candidates(self, pooled: Pooled, topic: str) -> Candidates:
        """What it may ask for: the documents of the runs, or any of the collection."""
        candidates = pooled.of(topic)
        self.check_texts()
        return self.texts.widened(candidates) if self.texts and self.beyond_runs(pooled) else candidates

    def started(self, candidates: Candidates, rng: np.random.Generator) -> Adaptive:
        """The method at work on one topic; an order that is known from the start learns nothing."""
        self.check_texts()
        if self.reads:
            reader: Adaptive = self.function(candidates, rng, self.texts, **self.settings)
            return reader
        if self.kind == "adaptive":
            made: Adaptive = self.function(candidates, rng, **self.settings)
            return made
        if self.kind == "order":
            return InOrder(self.function(candidates, **self.settings))
        raise UsageError(f"{self.name} draws a sample: it has no order in which documents are judged")


class InOrder:
    """Documents in an order that does not depend on what is found."""

    def __init__(self, order: Integers) -> None:
        self._order = iter(order.tolist())

    def next(self) -> int | None:
        return next(self._order, None)

    def judged(self, document: int, relevant: bool) -> None:
        pass


METHODS: Registry[Strategy] = Registry(
    "pooling method",
    group="cranfield.pooling",
    package="cranfield.pooling",
    decorator="pooling_method",
    order=("fixed_orders", "adaptive", "strata", "learned"),
    form="name(parameter=number, …)",
)


def pooling_method(
    name: str, *, title: str, kind: Kind = "order", reads: bool = False, **parameters: Parameter
) -> Callable[[Function], Function]:
    """Registers a method; the first paragraph of its docstring says how it works, its keywords are its parameters."""

    def register(function: Function) -> Function:
        known = described(function, "pooling_method", parameters)
        METHODS.add(Strategy(name=name, title=title, kind=kind, reads=reads, function=function, parameters=known))
        return function

    return register


def all_methods(*kinds: Kind) -> tuple[Strategy, ...]:
    """Every registered method, or those of some kinds, with its defaults.

    >>> [method.name for method in all_methods("order")][:3]
    ['depth', 'plan', 'rrf']
    """
    wanted = kinds or get_args(Kind)
    return tuple(method for kind in wanted for method in METHODS.all() if method.kind == kind)


def find_method(text: str | Strategy) -> Strategy:
    """The method of a notation such as rrf, rrf(k=10) or maxmean(rate=0).

    >>> find_method("rrf(p=10)")
    Traceback (most recent call last):
    cranfield.errors.UsageError: rrf has no parameter 'p'; it has k
    """
    return text if isinstance(text, Strategy) else METHODS.find(text)
