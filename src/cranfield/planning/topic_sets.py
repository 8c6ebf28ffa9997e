"""`read_topic_set`: the topics that an evaluation is to be restricted to, from what people have them in."""

from __future__ import annotations

import os

from cranfield.errors import DataError, either
from cranfield.formats.format import decode
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source
from cranfield.formats.topic_ids import read_topic_ids
from cranfield.planning.splits import SCHEMA, Splits, read_splits
from cranfield.policy import TopicSet


def read_topic_set(source: str, reading: Reading = DEFAULT) -> TopicSet:
    """Topics from a list with one id a line, from judgements, or a part of splits by its name: splits.json:test.

    Parts are called as the files of `cranfield split` are: train and test, or of several folds fold1.train, fold1.test
    and so on. The set is called as the source is.

    >>> import tempfile
    >>> from cranfield.planning import split
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = split(["1", "2", "3", "4"], test_share=0.5, seed=1).write(f"{folder}/splits.json")[0]
    ...     read_topic_set(f"{path}:test").topics
    ('2', '4')
    """
    path, colon, part = source.rpartition(":")
    if not colon or os.path.exists(source):
        if _has_splits(source):
            raise _unnamed(source, read_splits(source))
        return TopicSet(_unrepeated(read_topic_ids(source, reading), source), source)
    splits = read_splits(path)
    if len(splits.folds) == 1:
        part = part.removeprefix("fold1.")
    if part not in splits.parts:
        raise _unnamed(path, splits, f"has no part '{part}'")
    return TopicSet(splits.parts[part], source)


def _unnamed(path: str, splits: Splits, message: str = "has splits, of which one part is needed") -> DataError:
    names = [f"{path}:{name}" for name in splits.parts]
    shown = either(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, … or {names[-1]}"
    return DataError(message, source=path, remedy=f"Name a part: {shown}.")


def _unrepeated(topics: tuple[str, ...], source: str) -> tuple[str, ...]:
    """The topics, if each is there once: an error names the file here, where it is known."""
    seen: set[str] = set()
    for topic in topics:
        if topic in seen:
            raise DataError(f"topic {topic} is there twice", source=source, remedy="Each topic counts once.")
        seen.add(topic)
    return topics


def _has_splits(source: str) -> bool:
    """Whether a file is what `cranfield split` writes, which no list of topics and no judgements are."""
    if source == "-" or not os.path.isfile(source):
        return False
    start = decode(bytes(open_source(source).data[:4096]))
    return start.lstrip().startswith("{") and (SCHEMA in start or '"folds"' in start)
