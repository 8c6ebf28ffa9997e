"""Judgements and topics of every part of splits as files of their own, to be handed out or kept back."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.formats import read_qrels, suffix_of
from cranfield.formats.parts import name_of_format, parted
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source
from cranfield.planning.splits import Splits
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.texts import Ids, Topics


def judgement_files(splits: Splits, qrels: Qrels, reading: Reading = DEFAULT) -> dict[str, bytes]:
    """For each part a file of its judgements, as train.qrels, in the format of the file that they were read from.

    Every column is kept. What was written is read again and held against the judgements.
    """
    path = qrels.origin.path
    if path is None or not os.path.isfile(path):
        raise UsageError(f"{path or qrels.name}: parts are cut from a file, and this is none: write it as one first")
    opened = open_source(path)
    format = name_of_format(opened.data, reading, opened.label)
    files = parted(opened.data, format, splits.parts, reading, opened.label)
    told = replace(reading, format=format)
    for part, topics in splits.parts.items():
        if read_qrels(io.BytesIO(files[part]), reading=told).to_dict() != qrels.to_dict(list(topics)):
            raise DataError(
                f"the judgements of {part} cannot be cut out of it line by line",
                source=path,
                remedy="Write it anew first: `cranfield convert`.",
            )
    return {f"{part}.qrels": data for part, data in files.items()}


def topic_files(splits: Splits, source: str, ids: Ids = "given") -> dict[str, bytes]:
    """For each part a file of its topics, as train.topics.tsv, in the format of the file that they are read from.

    Those of a collection, a folder or a TOML file, are written as JSON lines. A topic of a part that is not there is an
    error.
    """
    from cranfield.texts.writing import write_topics

    topics, format, suffix = _topics(source, ids)
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
    files = {}
    for part, wanted in splits.parts.items():
        file = io.BytesIO()
        chosen = set(wanted)
        write_topics(topics.only([topic for topic in topics.ids if topic in chosen]), file, format=format)
        files[f"{part}.topics{suffix}"] = file.getvalue()
    return files


def _topics(source: str, ids: Ids) -> tuple[Topics, str, str]:
    """The topics of a file or a collection, the format to write them in, and what files of it end in."""
    from cranfield.texts import PARQUET, read_topics
    from cranfield.texts.choosing import choose
    from cranfield.texts.collection import read_collection
    from cranfield.texts.forms import decoded

    if os.path.isdir(source) or suffix_of(source) == ".toml":
        topics = read_collection(source, only=("topics",), ids=ids).topics
        if topics is None:
            raise DataError("has no topics", source=source)
        return topics, "jsonl", ".jsonl"
    topics = read_topics(source, ids=ids)
    if not os.path.isfile(source):
        return topics, "jsonl", ".jsonl"
    opened = open_source(source)
    if opened.data[:4] == b"PAR1":
        return topics, PARQUET, ".parquet"
    chosen = choose(decoded(opened.data, opened.label)[0], opened.label, "topics", None)
    return topics, "jsonl" if chosen is None else chosen.name, suffix_of(source)
