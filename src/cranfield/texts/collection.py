"""A test collection as a whole: documents, topics and judgements, from a folder, a small TOML file, or part by part."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cranfield.errors import ArgumentError, DataError, UsageError, plural, shorten, some
from cranfield.formats import read_qrels
from cranfield.formats.datasets import has, is_dataset, open_dataset
from cranfield.formats.labels import Labels, checked
from cranfield.formats.reading import Reading
from cranfield.formats.sources import read_toml
from cranfield.tables import Qrels
from cranfield.texts import Ids, read_documents, read_topics, renumbered
from cranfield.texts.content import Content, kind_of
from cranfield.texts.facts import NO_FACTS, CollectionFacts, facts_of
from cranfield.texts.peeking import beginning, is_index
from cranfield.texts.streaming import large_documents
from cranfield.texts.texts import Documents, Topics

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.texts.forms import GivenTexts

TOML = "collection.toml"
DOCUMENT_FOLDERS = ("documents", "docs", "corpus")
PARTS: tuple[Content, ...] = ("documents", "topics", "qrels")


@dataclass(frozen=True, eq=False, repr=False)
class Collection:
    """Documents, topics and judgements, each None where it is not there; `notes` say what was odd about the whole,
    `facts` what its grades are called and where its topics are from.

    >>> Collection("ducks", Documents(("d1",), {"text": ["They swim."]}))
    <Collection 'ducks': 1 document, 0 topics, 0 judgements>
    """

    name: str
    documents: Documents | None = None
    topics: Topics | None = None
    qrels: Qrels | None = None
    notes: tuple[tuple[str, str], ...] = ()
    facts: CollectionFacts = NO_FACTS

    def __repr__(self) -> str:
        parts = {"document": self.documents, "topic": self.topics, "judgement": self.qrels}
        counts = (plural(0 if part is None else len(part), noun) for noun, part in parts.items())
        return f"<Collection {self.name!r}: {', '.join(counts)}>"


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a collection is read from: where each part is, and what a list of them says besides."""

    documents: GivenTexts | None = None
    topics: GivenTexts | None = None
    qrels: Given | None = None
    name: str | None = None
    ids: Ids = "given"
    formats: Mapping[str, str] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    facts: CollectionFacts = NO_FACTS


GivenCollection: TypeAlias = "Collection | str | os.PathLike[str]"


def read_collection(
    source: GivenCollection | None = None,
    *,
    documents: GivenTexts | None = None,
    topics: GivenTexts | None = None,
    qrels: Given | None = None,
    ids: Ids = "given",
    name: str | None = None,
    only: Sequence[Content] = PARTS,
    streamed: bool = False,
) -> Collection:
    """Reads a collection: a folder, a TOML file that names the parts, an id of ir_datasets, or the parts themselves.

    In a folder the parts are found by content and name: BEIR's corpus.jsonl, queries.jsonl and qrels/test.tsv, SMART's
    files, and others. Where that does not decide, `collection.toml` in it does, with documents = "…", topics = "…",
    qrels = "…" and perhaps ids = "position", [labels] for judgements whose grades are words, [grades] with what each
    grade is called, and topic_source. Parts given by name replace those found. `ids` is that of `read_topics`;
    `only` names the parts to read; with `streamed` the documents of a large file or folder stay there, and are read
    block by block whenever they are gone through.

    >>> read_collection(documents={"d1": "They swim."}, topics={"1": "ducks"}, qrels={"1": {"d1": 1}}, name="ducks")
    <Collection 'ducks': 1 document, 1 topic, 1 judgement>
    """
    if isinstance(source, Collection):
        return replace(
            source,
            documents=source.documents if "documents" in only else None,
            topics=source.topics if "topics" in only else None,
            qrels=source.qrels if "qrels" in only else None,
        )
    notes: list[tuple[str, str]] = []
    parts = Parts()
    if source is not None:
        parts, notes = parts_of(source)
        name = name or parts.name
        ids = parts.ids if ids == "given" else ids
    parts = replace(
        parts,
        documents=parts.documents if documents is None else documents,
        topics=parts.topics if topics is None else topics,
        qrels=parts.qrels if qrels is None else qrels,
    )
    if all(part is None for part in (parts.documents, parts.topics, parts.qrels)):
        raise UsageError("a collection needs documents, topics or qrels")
    return _read_parts(parts, name or "collection", ids, notes, only, streamed)


def parts_of(source: str | os.PathLike[str]) -> tuple[Parts, list[tuple[str, str]]]:
    """Where the parts of a collection are, with its name, and what is odd about it; nothing of them is read.

    >>> parts, notes = parts_of("examples/pond.toml")
    >>> parts.name, parts.topics, notes
    ('pond', 'examples/pond-topics.tsv', [])
    """
    if is_dataset(source):
        return _of_dataset(source), []
    if not isinstance(source, str | os.PathLike):
        raise ArgumentError(f"a collection is a folder, a TOML file or a dataset, not {shorten(repr(source), 60)}")
    path = Path(os.fspath(source))
    listed = path / TOML if path.is_dir() else path
    notes: list[tuple[str, str]] = []
    if listed.is_file() and listed.suffix == ".toml":
        parts = _of_toml(listed)
    elif path.is_dir():
        parts, notes = _of_folder(path)
    else:
        raise DataError("is neither a folder nor a TOML file", source=str(path), remedy=f"Name a folder, or a {TOML}.")
    return replace(parts, name=parts.name or path.resolve().name), notes


def _read_parts(
    parts: Parts, name: str, ids: Ids, notes: list[tuple[str, str]], only: Sequence[Content], streamed: bool
) -> Collection:
    formats, topics, qrels = parts.formats, None, None
    documents: Documents | None = None
    if parts.documents is not None and "documents" in only:
        format = formats.get("documents")
        documents = large_documents(parts.documents, format) if streamed else None
        if documents is None:
            documents = read_documents(parts.documents, reading=Reading(format=format))
    if parts.topics is not None and "topics" in only:
        topics = read_topics(parts.topics, reading=Reading(format=formats.get("topics")), ids=ids)
    if parts.qrels is not None and "qrels" in only:
        of_qrels = "tsv" if formats.get("qrels") == "beir" else formats.get("qrels")
        qrels = read_qrels(parts.qrels, reading=Reading(format=of_qrels, labels=parts.labels))
    if topics is not None and qrels is not None:
        trap = other_ids(topics, qrels.topics)
        if trap:
            notes = [*notes, ("topic-ids", trap)]
    return Collection(name, documents, topics, qrels, tuple(notes), parts.facts)


def other_ids(topics: Topics, judged: Sequence[str]) -> str | None:
    """What to say if the judgements do not use the topics' ids, but their positions or numbers.

    >>> other_ids(Topics(("001", "004"), {"title": ["ducks", "geese"]}), ["1", "2"])
    "the judgements do not use the topics' ids (001, 004) but their positions: --ids position (ids= in Python)"
    """
    way = other_way(topics, judged)
    if way is None:
        return None
    shown = some(topics.ids, 3)
    return f"the judgements do not use the topics' ids ({shown}) but {_MEANING[way]}: --ids {way} (ids= in Python)"


def check_positions(topics: Topics, used: Sequence[str], whose: str, remedy: str) -> None:
    """An error where positions of topics are used in the place of ids: people would judge by another topic's question.

    >>> check_positions(Topics(("2", "4"), {"title": ["ducks", "geese"]}), ["1", "2"], "the runs have", "Rename them.")
    Traceback (most recent call last):
    cranfield.errors.DataError: the runs have positions of topics (1, 2), not ids (2, 4): questions would be mixed up
        Rename them.
    """
    if uses_positions(topics, used):
        positions, ids = some(list(used), 3), some(topics.ids, 3)
        message = f"{whose} positions of topics ({positions}), not ids ({ids}): questions would be mixed up"
        raise DataError(message, remedy=remedy)


def uses_positions(topics: Topics, used: Sequence[str]) -> bool:
    """Whether topics are called by their positions, so that an id would be that of another; numbers are no danger."""
    return len(used) > 1 and other_way(topics, used) == "position"  # one may stand for anything


_MEANING: Mapping[Ids, str] = {"number": "the numbers in them", "position": "their positions"}


def other_way(topics: Topics, judged: Sequence[str]) -> Ids | None:
    """What the judgements call topics, if not all of it are ids of topics, but all of it numbers or positions.

    An id among positions is that of another topic; among numbers it is that of the same.

    >>> other_way(Topics(("001", "004"), {"title": ["ducks", "geese"]}), ["1", "4"])
    'number'
    """
    if set(judged) <= set(topics.ids):
        return None
    for way in _MEANING:
        try:
            fits = set(judged) <= set(renumbered(topics, way).ids)
        except DataError:  # two ids with the same number
            continue
        if fits:
            return way
    return None


def _of_dataset(source: str) -> Parts:
    dataset = open_dataset(source)
    return Parts(
        documents=source if has(dataset, "docs") else None,
        topics=source if has(dataset, "queries") else None,
        qrels=source if has(dataset, "qrels") else None,
        name=source.partition(":")[2],
    )


def _of_toml(path: Path) -> Parts:
    parts = read_toml(str(path))
    known = ("name", *PARTS, "ids", "formats", "labels", "grades", "topic_source")
    unknown = [key for key in parts if key not in known]
    if unknown:
        raise DataError(f"unknown entry {some(unknown)}", source=str(path), remedy=f"Known: {', '.join(known)}.")
    for part in PARTS:
        if part in parts and not is_dataset(parts[part]):
            parts[part] = str(path.parent / str(parts[part]))
    facts = facts_of(parts.pop("topic_source", None), parts.pop("grades", {}), str(path))
    try:
        labels = checked(parts.pop("labels", {}))
    except UsageError as error:
        raise DataError(str(error), source=str(path)) from None
    return Parts(**parts, labels=labels, facts=facts)


def read_facts(source: str | os.PathLike[str]) -> CollectionFacts:
    """What a collection's file, or the one in its folder, says of it besides where its parts are.

    >>> read_facts("nowhere")
    Traceback (most recent call last):
        ...
    cranfield.errors.DataError: nowhere: has no collection.toml that could say what its grades are called
    """
    return listed_parts(source).facts


def listed_parts(source: str | os.PathLike[str]) -> Parts:
    """What a collection's file, or the one in its folder, lists and says; nothing of it is read.

    >>> listed_parts("examples/pond.toml").name
    'pond'
    """
    path = Path(os.fspath(source))
    listed = path / TOML if path.is_dir() else path
    if not listed.is_file() or listed.suffix != ".toml":
        raise DataError(f"has no {TOML} that could say what its grades are called", source=str(path))
    return _of_toml(listed)


def _of_folder(folder: Path) -> tuple[Parts, list[tuple[str, str]]]:
    """The parts of a collection among the files of a folder, and what is to be said of the other files."""
    files = sorted(path for path in (*folder.iterdir(), *folder.glob("qrels/*")) if path.is_file())
    files = [path for path in files if not path.name.startswith(".") and not is_index(path)]
    candidates: dict[str, list[Path]] = {part: [] for part in PARTS}
    left_out: list[str] = []
    for path in files:
        kind = kind_of(beginning(str(path)), str(path))
        if kind in candidates:
            candidates[kind].append(path)
        else:
            left_out.append(path.name)
    own_folders = [folder / name for name in DOCUMENT_FOLDERS if (folder / name).is_dir()]
    candidates["documents"] += own_folders
    places: dict[str, str] = {}
    for part, paths in candidates.items():
        tests = [path for path in paths if re.match(r"test\b", path.name)]
        chosen = tests if len(paths) > 1 and len(tests) == 1 else paths
        if len(chosen) > 1:
            own = f' Or put them all into a folder "{DOCUMENT_FOLDERS[0]}".' if part == "documents" else ""
            raise DataError(
                f"several files may be the {part}: {some([path.name for path in chosen])}",
                source=str(folder),
                remedy=f'Say which: {part}= in Python, or a file {TOML} with {part} = "…".{own}',
            )
        if chosen:
            places[part] = str(chosen[0])
            left_out += [f"{path.parent.name}/{path.name}" for path in paths if path not in chosen]
    if not places:
        raise DataError("holds neither documents nor topics nor judgements", source=str(folder))
    parts = Parts(documents=places.get("documents"), topics=places.get("topics"), qrels=places.get("qrels"))
    return parts, [("left-out", f"files left out: {some(left_out)}")] if left_out else []
