"""Documents block by block, so that a collection larger than memory can be written in another format."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from cranfield.formats import stem
from cranfield.formats.datasets import is_dataset, iterate
from cranfield.texts import fitting_files, left_out, read_file
from cranfield.texts.blockwise import NotInBlocksError, blocks, is_large
from cranfield.texts.forms import Found, GivenTexts, Note, merged, not_in_text, second_time
from cranfield.texts.tabular import read_memory
from cranfield.texts.texts import Documents, count_empty

BATCH = 10_000  # records of ir_datasets

Parts = Callable[[], Iterator[Found]]


class MoreFieldsError(Exception):
    """A block has a field that is not among those known."""


@dataclass(frozen=True, eq=False, repr=False)
class Streamed(Documents):
    """Documents whose rows are read anew whenever they are asked for.

    Of `ids` and `fields` no more is true than which fields there are. `met` are the notes of the last reading.
    """

    parts: Parts = lambda: iter(())
    met: list[Note] = field(default_factory=list)

    def rows(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Each id with its fields."""
        self.met.clear()
        names = list(self.fields)
        hashes = array("q")
        notes: list[Note] = []
        empty = 0
        for block in self.parts():
            if any(any(texts) for name, texts in block.fields.items() if name not in self.fields):
                raise MoreFieldsError
            if any(map(not_in_text, block.ids)):
                raise NotInBlocksError
            hashes.extend(map(hash, block.ids))
            notes += block.notes
            nothing = [""] * len(block.ids)
            columns = {name: block.fields.get(name, nothing) for name in names}
            main = [column for name, column in columns.items() if name in self.main]
            empty += count_empty(main or [nothing])
            for id, *texts in zip(block.ids, *columns.values(), strict=True):
                yield id, dict(zip(names, texts, strict=True))
        if not hashes:
            raise NotInBlocksError
        self._no_duplicates(hashes)
        self.met.extend(merged([*notes, Note("empty-documents", empty, "document", "without a word")]))

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


def widened(documents: Streamed) -> Streamed:
    """The same documents with the fields of all blocks, not of the first alone."""
    return _with_fields(documents.name, documents.parts, None)


def _with_fields(name: str, parts: Parts, blocks: int | None) -> Streamed:
    names = dict.fromkeys(
        name for block in islice(parts(), blocks) for name, texts in block.fields.items() if any(texts)
    )
    return Streamed(("",), {name: ["…"] for name in names}, name, parts=parts)


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
