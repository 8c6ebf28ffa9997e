"""Judgements and topics of every part of splits as files of their own, to be handed out or kept back."""

from __future__ import annotations

import io
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels, suffix_of
from cranfield.formats.parts import name_of_format, parted
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import Buffer, open_source
from cranfield.planning.splits import Splits
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.texts import Ids, Topics


@dataclass(frozen=True, kw_only=True)
class PartFiles:
    """The content of files by their names, and what is to be told of them."""

    files: dict[str, bytes]
    notes: tuple[Finding, ...] = ()


def judgement_files(splits: Splits, qrels: Qrels, reading: Reading = DEFAULT) -> PartFiles:
    """For each part a file of its judgements, as train.qrels, in the format of the file that they were read from.

    Every column is kept, comments are not. What was written is read again and held against the judgements.
    """
    path = qrels.origin.path
    if path is None or not os.path.isfile(path):
        raise UsageError(f"{path or qrels.name}: parts are cut from a file, and this is none: write it as one first")
    opened = open_source(path)
    format = name_of_format(opened.data, reading, opened.label)
    files, comments = parted(opened.data, format, splits.parts, reading, opened.label)
    told = replace(reading, format=format)
    for part, topics in splits.parts.items():
        if read_qrels(io.BytesIO(files[part]), reading=told).to_dict() != qrels.to_dict(list(topics)):
            raise DataError(
                f"the judgements of {part} cannot be cut out of it line by line",
                source=path,
                remedy="Write it anew first: `cranfield convert`.",
            )
    left_out = f"{plural(comments, 'comment')} in no part: nobody knows which topics they tell of"
    notes = (Finding("comments-left-out", path, left_out, doubtful=False),) if comments else ()
    return PartFiles(files={f"{part}.qrels": data for part, data in files.items()}, notes=notes)


def topic_files(splits: Splits, source: str, ids: Ids = "given") -> PartFiles:
    """For each part a file of its topics, as train.topics.tsv: cut out of the file they are in, as they stand there.

    Those of a collection, a folder or a TOML file, are written as JSON lines; topics that get other ids are written
    anew. What was written is read again and held against the topics. One of a part that is not there is an error.
    """
    given = _topics(source, ids)
    topics = given.topics
    known = set(topics.ids)
    missing = list(dict.fromkeys(topic for part in splits.parts.values() for topic in part if topic not in known))
    if missing:
        from cranfield.texts.collection import other_ids

        judged = [topic for part in splits.folds[0] for topic in part]
        raise DataError(
            f"has no text of {plural(len(missing), 'judged topic')}: {some(missing)}",
            source=source,
            remedy=other_ids(topics, judged) or "Name the topics of these judgements.",
        )
    from cranfield.texts.parting import not_cut, same_topics

    files, notes = _cut_topics(given, splits, source) if given.data is not None else _written_topics(given, splits)
    for part, wanted in splits.parts.items():
        if not same_topics(files[part], given.format, _only(topics, wanted)):
            raise not_cut(given.format, source, part)
    if given.renumbered:
        message = (
            f"its topics get other ids, so that they are written anew, as {given.format}: what is in it besides their "
            "fields is left out"
        )
        notes = (*notes, Finding("topics-written-anew", source, message, doubtful=False))
    return PartFiles(files={f"{part}.topics{given.suffix}": data for part, data in files.items()}, notes=notes)


def _only(topics: Topics, wanted: Collection[str]) -> Topics:
    chosen = set(wanted)
    return topics.only([topic for topic in topics.ids if topic in chosen])


def _cut_topics(given: _GivenTopics, splits: Splits, source: str) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    from cranfield.texts.parting import parted_topics

    assert given.data is not None
    files, places = parted_topics(given.data, given.format, given.topics, splits.parts, source)
    left_out = f"{plural(places, 'place')} with words outside of topics in no part: nobody knows which they tell of"
    return files, (Finding("words-left-out", source, left_out, doubtful=False),) if places else ()


def _written_topics(given: _GivenTopics, splits: Splits) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    from cranfield.texts.writing import write_topics

    files = {}
    for part, wanted in splits.parts.items():
        file = io.BytesIO()
        write_topics(_only(given.topics, wanted), file, format=given.format)
        files[part] = file.getvalue()
    return files, ()


class _GivenTopics(NamedTuple):
    """Topics, the format that they are to be in, what files of it end in, and the data to cut them from, if any."""

    topics: Topics
    format: str
    suffix: str
    data: Buffer | None = None
    renumbered: bool = False


def _topics(source: str, ids: Ids) -> _GivenTopics:
    """The topics of a file or a collection."""
    from cranfield.texts import PARQUET, read_topics
    from cranfield.texts.choosing import choose
    from cranfield.texts.collection import read_collection
    from cranfield.texts.forms import decoded
    from cranfield.texts.parting import can_be_cut

    if os.path.isdir(source) or suffix_of(source) == ".toml":
        topics = read_collection(source, only=("topics",), ids=ids).topics
        if topics is None:
            raise DataError("has no topics", source=source)
        return _GivenTopics(topics, "jsonl", ".jsonl")
    topics = read_topics(source, ids=ids)
    if not os.path.isfile(source):
        return _GivenTopics(topics, "jsonl", ".jsonl")
    opened = open_source(source)
    if opened.data[:4] == b"PAR1":
        format, suffix = PARQUET, ".parquet"
    else:
        chosen = choose(decoded(opened.data, opened.label)[0], opened.label, "topics", None)
        format, suffix = "jsonl" if chosen is None else chosen.name, suffix_of(source)
    renumbered = ids != "given" and topics.ids != read_topics(source).ids
    return _GivenTopics(
        topics, format, suffix, None if renumbered or not can_be_cut(format) else opened.data, renumbered
    )
