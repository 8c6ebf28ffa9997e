"""The documents of collections: read-only stores beside the database, opened once."""

from __future__ import annotations

import threading
from pathlib import Path

from cranfield.texts.document_store import DocumentStore
from cranfield.web.data_folder import FolderPart, part_of

FILE = "documents.store"


class Shelf:
    """`shelf.of(collection)` has the documents of a collection, by the name that projects know it by."""

    def __init__(self, folder: Path) -> None:
        self.folder = part_of(folder, FolderPart.COLLECTIONS)
        self._open: dict[str, DocumentStore] = {}
        self._turn = threading.Lock()

    def path(self, collection: str) -> Path:
        """Where the documents of a collection are kept."""
        return self.folder / collection / FILE

    def of(self, collection: str) -> DocumentStore:
        with self._turn:
            if collection not in self._open:
                self._open[collection] = DocumentStore(self.path(collection))
            return self._open[collection]

    def close(self) -> None:
        with self._turn:
            for store in self._open.values():
                store.close()
            self._open.clear()
