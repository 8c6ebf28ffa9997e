"""Methods and normalisations by name. Importing their modules registers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from cranfield.errors import UsageError
from cranfield.fusion import normalisations, probabilities, ranks, scores, votes  # noqa: F401  register themselves
from cranfield.fusion.method import METHODS, NORMALISATIONS, Method, Normalisation

Registered = TypeVar("Registered", bound=Method | Normalisation)


def all_methods() -> tuple[Method, ...]:
    """Every method of fusion, by name.

    >>> [method.name for method in all_methods() if method.learnt]
    ['bayesfuse', 'mapfuse', 'posfuse', 'probfuse', 'segfuse', 'slidefuse']
    """
    return tuple(METHODS[name] for name in sorted(METHODS))


def all_normalisations() -> tuple[Normalisation, ...]:
    """Every normalisation, by name.

    >>> [one.name for one in all_normalisations()]
    ['borda', 'max', 'min-max', 'min-max-inverted', 'none', 'rank', 'sum', 'z']
    """
    return tuple(NORMALISATIONS[name] for name in sorted(NORMALISATIONS))


def find_method(name: str) -> Method:
    """The method of a name or an alias.

    >>> find_method("mnz").title
    'CombMNZ'
    """
    return _found(name, METHODS, "method of fusion")


def find_normalisation(name: str) -> Normalisation:
    """The normalisation of a name or an alias.

    >>> find_normalisation("zmuv").name
    'z'
    """
    return _found(name, NORMALISATIONS, "normalisation")


def _found(name: str, known: Mapping[str, Registered], what: str) -> Registered:
    names = {alias: key for key, one in known.items() for alias in (key, *one.aliases)}
    if name.lower() in names:
        return known[names[name.lower()]]
    raise UsageError(f"unknown {what} '{name}'; there are {', '.join(sorted(known))}")
