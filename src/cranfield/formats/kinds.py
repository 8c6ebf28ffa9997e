"""Judgements that say more than a grade for each document.

Each kind is a module of this package, called as the kind, with a function `read(source, name, reading) -> Qrels` that
is decorated with `@kind_of_judgements` and puts what else is known of each document into a column of the judgements,
under the name of the kind. To add a kind, write its module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from cranfield.errors import UsageError
from cranfield.formats.layout import OURS
from cranfield.formats.reading import Reading
from cranfield.formats.sources import open_source
from cranfield.registry import Entry, Registry
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import Given

NUMBERED = ("sampled", "preferences")  # whose grades and levels are numbers, as the programs that made them have it
ReadsKind = Callable[["Given", str | None, Reading], Qrels]


class KindOfJudgements(Entry[ReadsKind]):
    """Judgements that say more than a grade: the function reads them."""


class ByModule(Registry[KindOfJudgements]):
    """A registry that knows the names from those of the modules: nothing is loaded to list them."""

    def get_built_in(self, name: str) -> KindOfJudgements | None:
        if name in self.modules():
            import_module(f"{self.package}.{name}")
        return self.get_registered(name)

    def __contains__(self, name: object) -> bool:
        return name in self.modules() or name in self.others()

    def __iter__(self) -> Iterator[str]:
        return iter((*self.modules(), *self.others()))

    def __len__(self) -> int:
        return len((*self.modules(), *self.others()))

    def others(self) -> list[str]:
        """Those of plug-ins that are loaded."""
        return [kind.name for kind in self.registered() if kind.name not in self.modules()]


KINDS = ByModule(
    "kind of judgements",
    group="cranfield.judgements",
    package="cranfield.formats",
    decorator="kind_of_judgements",
    order=OURS,
)


def kind_of_judgements(name: str) -> Callable[[ReadsKind], ReadsKind]:
    """Registers a function as the reader of a kind of judgements; its module is called as the kind."""

    def register(function: ReadsKind) -> ReadsKind:
        package, _, module = function.__module__.rpartition(".")
        if package == KINDS.package and module != name:  # where it is looked for
            raise UsageError(f"{function.__module__}: the module of the kind of judgements {name} must be {name}.py")
        KINDS.add(KindOfJudgements(name=name, function=function))
        return function

    return register


def read_kind(source: Given, name: str | None, reading: Reading) -> Qrels:
    """Judgements of one of these kinds; their format is found from the content."""
    kind = reading.judgements or "plain"
    known = KINDS.look_up(kind)
    if known is None:
        near = KINDS.suggestion(kind)
        raise UsageError(f"unknown kind of judgements '{kind}'; there are plain, {', '.join(KINDS)}{near}")
    if reading.labels and kind in NUMBERED:
        raise UsageError(f"labels are for plain judgements, subtopics and judges: the grades of {kind} are numbers")
    qrels = known.function(source, name, reading)
    if reading.digest is None or qrels.origin.path in (None, "-"):
        return qrels
    digested = open_source(qrels.origin.path, reading.digest).digest()
    return replace(qrels, origin=qrels.origin._replace(digest=digested))
