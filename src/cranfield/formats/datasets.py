"""Collections by their id in ir_datasets, where that package is installed: "ir_datasets:vaswani", "irds:…"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from cranfield.errors import DataError, UsageError, shorten

if TYPE_CHECKING:
    from cranfield.formats.given import Record

PREFIXES = ("ir_datasets:", "irds:")


def is_dataset(source: object) -> TypeGuard[str]:
    """
    >>> is_dataset("irds:vaswani"), is_dataset("vaswani.qrels")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(PREFIXES)


def name_of(source: str) -> str:
    """
    >>> name_of("irds:vaswani")
    'vaswani'
    """
    return source.partition(":")[2]


def open_dataset(source: str) -> Any:
    """The dataset of ir_datasets."""
    id = name_of(source)
    try:
        import ir_datasets  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise DataError(
            "needs the package ir_datasets", source=source, remedy="pip install 'cranfield[datasets]'"
        ) from None
    try:
        return ir_datasets.load(id)
    except KeyError:
        raise UsageError(f"ir_datasets has no dataset '{shorten(id, 80)}'") from None


def has(dataset: Any, part: str) -> bool:
    """Whether a dataset has documents, queries, judgements or scored documents."""
    return bool(getattr(dataset, f"has_{part}")())


def records(source: str, part: str) -> list[Record]:
    """The records of a part of a dataset; ir_datasets fetches what is not there yet."""
    return list(iterate(source, part))


def iterate(source: str, part: str) -> Iterator[Record]:
    """The records of a part of a dataset, one by one."""
    dataset = open_dataset(source)
    if not has(dataset, part):
        raise DataError(f"has no {part}", source=source)
    try:
        yield from getattr(dataset, f"{part}_iter")()
    except (OSError, RuntimeError) as error:
        message = f"ir_datasets could not get its {part}: {shorten(str(error), 200)}"
        raise DataError(message, source=source) from None
