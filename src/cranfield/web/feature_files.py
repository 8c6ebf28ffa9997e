"""What a learner knows of the documents of collections: computed once, kept beside them, opened once."""

from __future__ import annotations

import threading
from pathlib import Path

from cranfield.learning import Features, build_features, open_features
from cranfield.texts.document_store import DocumentStore


class FeatureFiles:
    """`files.of(collection, documents)` has the features of a collection; they are built when they are not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "collections"
        self._open: dict[str, Features] = {}
        self._turn = threading.Lock()

    def of(self, collection: str, documents: DocumentStore) -> Features:
        with self._turn:
            if collection not in self._open:
                place = self._folder / collection / "features"
                if not (place / "features.json").exists():
                    texts = ((document.id, f"{document.title} {document.text}") for document in documents.documents())
                    build_features(texts).save(place)
                self._open[collection] = open_features(place)
            return self._open[collection]
