"""Documents and topics as tables of text: an id for each, and fields by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from cranfield.errors import DataError, UsageError, some

BLOCK = 10_000  # documents or topics that are gone through at once
AnyTexts = TypeVar("AnyTexts", bound="_Texts")


@dataclass(frozen=True, eq=False, repr=False)
class _Texts:
    """Ids, and for each field a text for every id; an empty text where a field is missing.

    `notes` say what was odd about the source, as (code, sentence). `main` are the fields meant where none is named.
    """

    ids: tuple[str, ...]
    fields: Mapping[str, Sequence[str]]
    name: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    main: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field, texts in self.fields.items():
            if len(texts) != len(self.ids):
                raise UsageError(f"{len(texts)} texts of the field '{field}' for {len(self.ids)} ids")
        if len(set(self.ids)) < len(self.ids):
            seen: set[str] = set()
            twice = [i for i in self.ids if i in seen or seen.add(i)]  # type: ignore[func-returns-value]
            raise DataError(f"ids must be distinct; these come twice: {some(twice)}", source=self.name or None)

    def text(self, *fields: str) -> list[str]:
        """For each id the fields named as one text, in the order given; the main ones if none is named."""
        return joined_columns([self.fields[field] for field in self._named(fields)], len(self))

    def blocks(self, *fields: str) -> Iterator[tuple[Sequence[str], list[str]]]:
        """Ids and what `text` gives of them, some at a time: of many there is never a second copy.

        >>> list(Documents(("d1", "d2"), {"text": ["They swim.", "Geese fly."]}).blocks())
        [(('d1', 'd2'), ['They swim.', 'Geese fly.'])]
        """
        columns = [self.fields[field] for field in self._named(fields)]
        for first in range(0, len(self), BLOCK):
            ids = self.ids[first : first + BLOCK]
            yield ids, joined_columns([column[first : first + BLOCK] for column in columns], len(ids))

    def _named(self, fields: Sequence[str]) -> list[str]:
        """The fields named, which must be there; the main ones that are there if none is named."""
        unknown = [field for field in fields if field not in self.fields]
        if unknown:
            raise UsageError(f"no field {some(unknown)}; there are {some(list(self.fields))}")
        return [field for field in fields or self.main if field in self.fields]

    def empty(self) -> int:
        """How many have no word in any of the main fields."""
        columns = [self.fields[field] for field in self.main if field in self.fields]
        return count_empty(columns) if columns else len(self)

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each id with its fields."""
        for number, id in enumerate(self.ids):
            yield id, {field: texts[number] for field, texts in self.fields.items()}

    def only(self: AnyTexts, ids: Sequence[str]) -> AnyTexts:
        """Some of them, in the order given."""
        place = {id: number for number, id in enumerate(self.ids)}
        missing = [id for id in ids if id not in place]
        if missing:
            raise UsageError(f"no {some(missing)} among {self.name or 'them'}")
        chosen = [place[id] for id in ids]
        fields = {field: [texts[i] for i in chosen] for field, texts in self.fields.items()}
        return replace(self, ids=tuple(ids), fields=fields)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {len(self):,} with {', '.join(self.fields)}>"


def joined_columns(columns: Sequence[Sequence[str]], count: int) -> list[str]:
    """Fields of so many texts as one text each, without those that are empty.

    >>> joined_columns([["Ducks", ""], ["They swim.", "Geese fly."]], 2), joined_columns([], 1)
    (['Ducks They swim.', 'Geese fly.'], [''])
    """
    if not columns:
        return [""] * count
    return [" ".join(part for part in parts if part) for parts in zip(*columns, strict=True)]


def count_empty(columns: Sequence[Sequence[str]]) -> int:
    """
    >>> count_empty([["a", "", " "], ["b", "c", ""]])
    1
    """
    return sum(not any(map(str.strip, texts)) for texts in zip(*columns, strict=True))


class Documents(_Texts):
    """What is searched: `text`, and where the source has them `title`, `author` and others.

    Title and text are what is searched unless other fields are named.

    >>> documents = Documents(("d1", "d2"), {"title": ["Ducks", ""], "text": ["They swim.", "Geese fly."]})
    >>> documents.text()
    ['Ducks They swim.', 'Geese fly.']
    """

    main = ("title", "text")


class Topics(_Texts):
    """What is asked: `title` (the short query), and where the source has them `description` and `narrative`.

    The narrative tells assessors what counts as relevant; it is part of a query only if it is asked for by name.

    >>> topics = Topics(("1",), {"title": ["ducks"], "description": ["How do ducks swim?"], "narrative": ["…"]})
    >>> topics.queries(), topics.queries("title", "description")
    (['ducks'], ['ducks How do ducks swim?'])
    """

    main = ("title", "description")

    def queries(self, *fields: str) -> list[str]:
        """Each topic's query: its title, or its description where it has none, or the fields named."""
        if fields:
            return self.text(*fields)
        titles = self.fields.get("title", [""] * len(self))
        longer = self.fields.get("description", [""] * len(self))
        return [title or description for title, description in zip(titles, longer, strict=True)]
