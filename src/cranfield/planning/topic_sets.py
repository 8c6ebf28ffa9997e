"""`read_topic_set`: the topics that an evaluation is to be restricted to, from what people have them in."""

from __future__ import annotations

import os

from cranfield.errors import DataError, either
from cranfield.formats import read_qrels
from cranfield.formats.format import decode
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source
from cranfield.planning.splits import SCHEMA, Splits, read_splits
from cranfield.policy import TopicSet


def read_topic_set(source: str, reading: Reading = DEFAULT, *, part: str | None = None) -> TopicSet:
    """Topics from a list with one id a line, from judgements, from a file of topics, or a part of splits by its name:
    splits.json:test.

    Parts are called as the files of `cranfield split` are: train and test, or of several folds fold1.train, fold1.test
    and so on. Splits that are named without a part are an error, unless `part` says which is meant and they have it.
    The set is called as the source is.

    >>> import tempfile
    >>> from cranfield.planning import split
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = split(["1", "2", "3", "4"], test_share=0.5, seed=1).write(f"{folder}/splits.json")[0]
    ...     read_topic_set(f"{path}:test").topics
    ('2', '4')
    """
    path, colon, named = source.rpartition(":")
    if not colon or os.path.exists(source):
        if not _has_splits(source):
            return TopicSet(_unrepeated(_topic_ids(source, reading), source), source)
        splits = read_splits(source)
        if part not in splits.parts:
            raise _unnamed(source, splits)
        return TopicSet(splits.parts[part], f"{source}:{part}")
    splits = read_splits(path)
    if len(splits.folds) == 1:
        named = named.removeprefix("fold1.")
    if named not in splits.parts:
        raise _unnamed(path, splits, f"has no part '{named}'")
    return TopicSet(splits.parts[named], source)


def _topic_ids(path: str, reading: Reading) -> tuple[str, ...]:
    """Topics of a list with one id a line, of judgements, or of what is neither and has topics with their texts."""
    lines = bytes(open_source(path).data).decode("utf-8-sig", "surrogateescape").split("\n")
    ids = [line.strip() for line in lines if line.strip()]
    if not ids:
        raise DataError("no topic in it", source=path, remedy="Write a topic id on each line, or name judgements.")
    if all(len(line.split()) == 1 for line in ids) and not any("," in line for line in ids):
        return tuple(ids)
    try:
        return tuple(read_qrels(path, reading=reading).topics)
    except DataError as no_judgements:
        from cranfield.texts import read_topics

        try:
            return tuple(read_topics(path).ids)
        except DataError:
            raise no_judgements from None


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
