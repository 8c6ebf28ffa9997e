"""Pairs of a topic and a document, as they are put into the queue: in which order, and how many opinions each gets.

What is drawn here is drawn by the seed for each pair alone, so that it does not matter when a pair comes in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from zlib import crc32

import numpy as np

from cranfield.judging.near_duplicates import near_duplicates
from cranfield.judging.order import arranged
from cranfield.pooling.making import Sampled
from cranfield.texts.document_store import DocumentStore
from cranfield.web.projects.options import ProjectOptions

COMPARED = 20_000  # characters of a document that are looked at for near-duplicates


@dataclass(frozen=True, kw_only=True)
class Queued:
    """Documents of a topic that come into the queue, those that should be judged first first.

    `batch` and `place` are the first free ones; `calibration` are those that every assessor judges at the start;
    `sample` says how documents were drawn.
    """

    topic_id: int
    topic: str
    documents: Sequence[str]
    source: str = "pool"
    calibration: Sequence[str] = ()
    sample: Mapping[str, Sampled] = field(default_factory=dict)
    batch: int = 0
    place: int = 0


def pair_rows(queued: Queued, store: DocumentStore, options: ProjectOptions) -> Iterator[dict[str, Any]]:
    """The rows of the table `pair`: within a batch in random order, near-duplicates one after another."""
    rng = generator(options.seed, queued.topic, queued.batch)
    documents = [document for document in queued.documents if document not in set(queued.calibration)]
    groups = near_groups(store, [*queued.calibration, *documents])
    # Groups are told apart by where they come in, so that those of later batches get other numbers.
    near = {document: queued.place + group for document, group in groups.items()}
    place, batch = queued.place, queued.batch
    calibration = [tuple(queued.calibration)] if queued.calibration else []
    for source, together in (("calibration", calibration), (queued.source, _batches(documents, options))):
        for members in together:
            for document in arranged(members, groups, rng):
                drawn = queued.sample.get(document)
                yield {
                    "topic_id": queued.topic_id,
                    "document": document,
                    "source": source,
                    "stratum": None if drawn is None else drawn.stratum,
                    "chance": None if drawn is None else drawn.chance,
                    "near": near.get(document),
                    "batch": batch,
                    "place": place,
                    "wanted": 0 if source == "calibration" else wanted(options, queued.topic, document),
                    "opinions": 0,
                }
                place += 1
            batch += 1


def _batches(documents: Sequence[str], options: ProjectOptions) -> Iterator[tuple[str, ...]]:
    size = options.batch or max(len(documents), 1)
    for start in range(0, len(documents), size):
        yield tuple(documents[start : start + size])


def wanted(options: ProjectOptions, topic: str, document: str) -> int:
    """How many opinions a pair gets: one more where it is drawn for the overlap.

    >>> wanted(ProjectOptions(overlap=1), "1", "d1"), wanted(ProjectOptions(wanted=3), "1", "d1")
    (2, 3)
    """
    return options.wanted + (lot(options.seed, "overlap", topic, document) < options.overlap)


def lot(seed: int, *words: str) -> float:
    """A number from 0 to 1 (excluded) that depends on nothing but the seed and the words.

    >>> lot(0, "overlap", "1", "d1") == lot(0, "overlap", "1", "d1") != lot(1, "overlap", "1", "d1")
    True
    """
    said = "\0".join((str(seed), *words)).encode("utf-8", "surrogatepass")
    return int.from_bytes(sha256(said).digest()[:7]) / 2**56


def near_groups(store: DocumentStore, documents: Sequence[str]) -> dict[str, int]:
    """The groups of near-duplicates among documents."""
    texts = {id: f"{known.title}\n{known.text[:COMPARED]}" for id, known in store.many(documents).items()}
    return near_duplicates(texts)


def generator(seed: int, topic: str, batch: int) -> np.random.Generator:
    """Random numbers of one topic, the same whatever other topics there are."""
    return np.random.default_rng([seed, crc32(topic.encode("utf-8", "surrogatepass")), batch])
