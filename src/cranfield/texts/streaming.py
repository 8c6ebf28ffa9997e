"""Documents block by block, so that a collection larger than memory can be written in another format."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

from cranfield.formats import stem
from cranfield.formats.datasets import is_dataset, iterate
from cranfield.formats.reading import Reading
from cranfield.texts import blockwise, fitting_files, left_out, read_documents, read_file
from cranfield.texts.blockwise import NotInBlocksError, blocks, is_large
from cranfield.texts.forms import Found, GivenTexts, Note, merged, not_in_text, second_time
from cranfield.texts.tabular import read_memory
from cranfield.texts.texts import Documents, count_empty, joined_columns

BATCH = 10_000  # records of ir_datasets

Parts = Callable[[], Iterator[Found]]
Made = TypeVar("Made")


class MoreFieldsError(Exception):
    """A block has a field that is not among those known."""


@dataclass(frozen=True, eq=False, repr=False)
class Streamed(Documents):
    """Documents whose rows are read anew whenever they are asked for.

    Of `ids` and `fields` no more is true than which fields there are. `met` are the notes of the last reading, `late`
    what is told of it; `whole` reads everything at once.
    """

    parts: Parts = lambda: iter(())
    met: list[Note] = field(default_factory=list)
    late: list[tuple[str, str]] = field(default_factory=list)
    whole: Callable[[], Documents] | None = None
    wide: bool = False  # whether all fields are known, not only those of the first block

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each id with its fields."""
        names = list(self.fields)
        for ids, columns in self._parts():
            for id, *texts in zip(ids, *(columns[name] for name in names), strict=True):
                yield id, dict(zip(names, texts, strict=True))

    def blocks(self, *fields: str) -> Iterator[tuple[Sequence[str], list[str]]]:
        names = self._named(fields)
        for ids, columns in self._parts(needed=self.main):
            yield ids, joined_columns([columns[name] for name in names], len(ids))

    def _named(self, fields: Sequence[str]) -> list[str]:
        if not self.wide and any(field not in self.fields for field in fields):
            raise MoreFieldsError
        return super()._named(fields)

    def _parts(self, needed: Sequence[str] | None = None) -> Iterator[tuple[Sequence[str], dict[str, Sequence[str]]]]:
        """Ids and columns, some at a time. Fields that are not known must not come: any, or one of those needed."""
        self.met.clear()
        self.late.clear()
        hashes = array("q")
        notes: list[Note] = []
        empty = 0
        for block in self.parts():
            others = (name for name in block.fields if name not in self.fields and (needed is None or name in needed))
            if any(any(block.fields[name]) for name in others):
                raise MoreFieldsError
            if any(map(not_in_text, block.ids)):
                raise NotInBlocksError
            hashes.extend(map(hash, block.ids))
            notes += block.notes
            nothing = [""] * len(block.ids)
            columns: dict[str, Sequence[str]] = {name: block.fields.get(name, nothing) for name in self.fields}
            main = [column for name, column in columns.items() if name in self.main]
            empty += count_empty(main or [nothing])
            yield block.ids, columns
        if not hashes:
            raise NotInBlocksError
        self._no_duplicates(hashes)
        self.met.extend(merged([*notes, Note("empty-documents", empty, "document", "without a word")]))
        self.late.extend((note.code, note.told()) for note in self.met if note.times)

    def _no_duplicates(self, hashes: array[int]) -> None:
        import numpy as np

        values, counts = np.unique(np.frombuffer(hashes, dtype=np.int64), return_counts=True)
        suspects = set(values[counts > 1].tolist())
        first: dict[str, tuple[str, int | None]] = {}
        for block in self.parts() if suspects else ():
            for number, id in enumerate(block.ids):
                if hash(id) in suspects:
                    if id in first:
                        raise second_time(id, "document", block.place(number), first[id])
                    first[id] = block.place(number)


def stream(source: GivenTexts, format: str | None) -> Streamed | None:
    """Documents to be read block by block: a folder, a large file, a dataset of ir_datasets; None for anything else."""
    if is_dataset(source):
        return _with_fields(source.partition(":")[2], lambda: _of_dataset(source), 1)
    if isinstance(source, str | os.PathLike) and os.path.isdir(source):
        folder = Path(source)
        return _with_fields(folder.name, lambda: _of_folder(folder, format), 1)
    if is_large(source):
        path = os.fspath(source)
        return _with_fields(stem(path), lambda: blocks(path, format), 1)
    return None


def large_documents(source: GivenTexts, format: str | None) -> Streamed | None:
    """Documents of a large file, or of a folder that holds much, to be read block by block; None for anything else."""
    if not (is_large(source) or _is_large_folder(source)):
        return None
    try:
        documents = stream(source, format)
    except NotInBlocksError:
        return None
    if documents is None:
        return None
    fields = documents.fields if "text" in documents.fields else {**documents.fields, "text": ["…"]}
    return replace(documents, fields=fields, whole=lambda: read_documents(source, reading=Reading(format=format)))


def worked_through(documents: Documents, work: Callable[[Documents], Made]) -> Made:
    """What `work` makes of documents; if they are streamed, with all their fields, or read at once where that must be.

    >>> worked_through(Documents(("d1",), {"text": ["They swim."]}), len)
    1
    """
    if not isinstance(documents, Streamed):
        return work(documents)
    try:
        try:
            return work(documents)
        except MoreFieldsError:
            return work(widened(documents))
    except NotInBlocksError:
        if documents.whole is None:
            raise
    read = documents.whole()
    documents.late[:] = read.notes
    return work(replace(read, name=documents.name))


def widened(documents: Streamed) -> Streamed:
    """The same documents with the fields of all blocks, not of the first alone."""
    return replace(documents, fields={**documents.fields, **_fields(documents.parts, None)}, wide=True)


def _with_fields(name: str, parts: Parts, blocks: int | None) -> Streamed:
    return Streamed(("",), _fields(parts, blocks), name, parts=parts)


def _fields(parts: Parts, blocks: int | None) -> dict[str, list[str]]:
    found = (name for block in islice(parts(), blocks) for name, texts in block.fields.items() if any(texts))
    return {name: ["…"] for name in dict.fromkeys(found)}


def _is_large_folder(source: GivenTexts) -> bool:
    if not isinstance(source, str | os.PathLike) or not os.path.isdir(source):
        return False
    return sum(path.stat().st_size for path in Path(source).rglob("*") if path.is_file()) >= blockwise.LARGE


def _of_dataset(source: str) -> Iterator[Found]:
    records = iterate(source, "docs")
    while batch := list(islice(records, BATCH)):
        yield read_memory(batch, source, "documents")


def _of_folder(folder: Path, format: str | None) -> Iterator[Found]:
    others: list[str] = []
    for path in fitting_files(folder, "documents", format, others):
        if is_large(path):
            yield from blocks(str(path), format)
        else:
            yield read_file(path, "documents", format)[0]
    yield Found([], {}, lambda number: (str(folder), None), left_out(others, "documents"))
