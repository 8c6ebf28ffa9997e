"""What a learner knows of the documents of collections: computed once, kept beside them, opened once."""

from __future__ import annotations

import threading
from pathlib import Path

from cranfield.errors import DataError
from cranfield.learning import Features, build_features, open_features
from cranfield.texts.document_store import DocumentStore
from cranfield.web.data_folder import FolderPart, part_of


class FeatureFiles:
    """`files.of(collection, documents)` has the features of a collection; they are built when they are not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = part_of(folder, FolderPart.COLLECTIONS)
        self._open: dict[str, Features] = {}
        self._turn = threading.Lock()

    def of(self, collection: str, documents: DocumentStore) -> Features:
        with self._turn:
            if collection not in self._open:
                self._open[collection] = _opened(self._folder / collection / "features", documents)
            return self._open[collection]


def _opened(place: Path, documents: DocumentStore) -> Features:
    """The features of a folder, built where there are none yet, or those of an earlier version."""
    try:
        return open_features(place)
    except DataError:
        texts = ((document.id, f"{document.title} {document.text}") for document in documents.documents())
        return build_features(texts, folder=place)
