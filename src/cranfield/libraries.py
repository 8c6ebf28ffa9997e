"""Libraries that only some things need, loaded when they do. Where one is missing, the error says what to install."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from cranfield.errors import LibraryError

# The extra of this package that brings a library; others are installed under their own names.
EXTRAS = {
    "Stemmer": "search",
    "bm25s": "search",
    "duckdb": "online",
    "fastapi": "web",
    "psycopg": "postgres",
    "pyarrow": "frames",
    "pyspark": "spark",
    "sklearn": "search",
    "sqlalchemy": "web",
    "tirex_tracker": "resources",
    "yaml": "search",
}


def library(name: str, purpose: str, extra: str | None = None) -> ModuleType:
    """A library; if it is not installed, the error says for what it is needed and how to install it.

    `extra` is the extra of this package that brings it, where several do.

    >>> library("json", "this example").__name__
    'json'
    >>> library("no_such_thing", "this")
    Traceback (most recent call last):
    cranfield.errors.LibraryError: this needs no_such_thing, which is not installed: pip install no_such_thing
    >>> library("no_such_thing", "this", "spark")
    Traceback (most recent call last):
    cranfield.errors.LibraryError: this needs no_such_thing, which is not installed: pip install 'cranfield[spark]'
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        extra = extra or EXTRAS.get(name.partition(".")[0])
        wanted = f"'cranfield[{extra}]'" if extra else str(error.name)
        raise LibraryError(f"{purpose} needs {error.name}, which is not installed: pip install {wanted}") from None
