"""`read_topic_set`: the topics that an evaluation is to be restricted to, from what people have them in."""

from __future__ import annotations

import os

from cranfield.errors import DataError, either
from cranfield.formats import read_qrels
from cranfield.formats.datasets import is_dataset
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import Source, as_file, open_source
from cranfield.planning.splits import SCHEMA, Splits, read_splits
from cranfield.policy import TopicSet

A_LIST = "If it is meant as a list of topics: it has one id on each line, and nothing else."


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
    if is_dataset(source):
        return TopicSet(tuple(read_qrels(source, reading=reading).topics), source)
    path, named = _path_and_part(source)
    opened = open_source(path)
    if named is None:
        if not _has_splits(opened):
            return TopicSet(_unrepeated(_topic_ids(opened, reading), opened.label), source)
        splits = read_splits(as_file(opened))
        if part not in splits.parts:
            raise _unnamed(source, splits)
        return TopicSet(splits.parts[part], f"{source}:{part}")
    if not _has_splits(opened):
        raise DataError(
            f"has no part '{named}': parts are of the JSON that `cranfield split` writes, as splits.json:{named}",
            source=opened.label,
            remedy="Name such a file, or this one without a part for all topics in it.",
        )
    splits = read_splits(as_file(opened))
    if len(splits.folds) == 1:
        named = named.removeprefix("fold1.")
    if named not in splits.parts:
        raise _unnamed(path, splits, f"has no part '{named}'")
    return TopicSet(splits.parts[named], source)


def _topic_ids(opened: Source, reading: Reading) -> tuple[str, ...]:
    """Topics of a list with one id a line, of judgements, or of what is neither and has topics with their texts.

    The source has been opened before, as a pipe can be read only once.
    """
    text = decode(bytes(opened.data).removeprefix(BYTE_ORDER_MARK)).replace("\r", "\n")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        raise DataError(
            "no topic in it", source=opened.label, remedy="Write a topic id on each line, or name judgements."
        )
    is_json = lines[0].startswith("{")
    if not is_json and all(len(line.split()) == 1 and "," not in line for line in lines):
        return tuple(lines)
    try:
        return tuple(read_qrels(as_file(opened), reading=reading).topics)
    except DataError as no_judgements:
        from cranfield.texts import read_topics

        try:
            return tuple(read_topics(as_file(opened)).ids)
        except DataError:
            raise no_judgements.with_more([] if is_json else [A_LIST]) from None


def _path_and_part(source: str) -> tuple[str, str | None]:
    """A part is what follows a colon after a file that is there, or that is called as JSON is; others are of a name."""
    if not os.path.exists(source):
        colons = [place for place, character in enumerate(source) if character == ":"]
        for colon in reversed(colons):
            path = source[:colon]
            if path == "-" or (os.path.exists(path) and not os.path.isdir(path)) or path.endswith(".json"):
                return path, source[colon + 1 :]
    return source, None


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


def _has_splits(opened: Source) -> bool:
    """Whether this is what `cranfield split` writes, which no list of topics and no judgements are."""
    start = decode(bytes(opened.data[:4096]))
    return start.lstrip("\ufeff \t\r\n").startswith("{") and (SCHEMA in start or '"folds"' in start)
