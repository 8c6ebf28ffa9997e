"""Documents in one file that is only ever read: any of a million by its id, at once, by many threads.

The file is a database of SQLite. It is written as a whole or not at all (`StoreWriter`), and nobody changes it
afterwards: that is why it can be opened without locks. Texts and ids stand in it as bytes, because a database takes no
half characters, and documents have them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple, Self, TypeAlias
from urllib.parse import quote

from cranfield.errors import DataError, UsageError, plural, shorten
from cranfield.formats import stem, touched
from cranfield.formats.output import whole_file

FORM = 1  # of the file; a later one is refused
_SQLITE = b"SQLite format 3\0"
_APPLICATION = int.from_bytes(b"cran", "big")  # stands in the head of the file, and tells it from other databases
_HEAD = 100  # bytes of a file of SQLite that say how long it is and whose
_NO_FIELDS: Mapping[str, str] = MappingProxyType({})
_PAGE = 16_384  # bytes: with smaller pages much of each stays empty, as a text is about as long
_MEMORY = -256  # KiB that a connection keeps of the file; the system keeps the rest

# Ids stand apart from texts, so that they can be listed without going through everything.
_TABLES = """
CREATE TABLE identity (number INTEGER PRIMARY KEY, id BLOB NOT NULL);
CREATE TABLE content (number INTEGER PRIMARY KEY, title BLOB, text BLOB, html INTEGER, fields BLOB);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
_DOCUMENT = "SELECT id, title, text, html, fields FROM identity JOIN content USING (number)"


class StoredDocument(NamedTuple):
    """A document: its title (empty where it has none), its text, whether that is HTML, and other fields by name."""

    id: str
    title: str
    text: str
    html: bool = False
    fields: Mapping[str, str] = _NO_FIELDS


class DocumentTwiceError(DataError):
    """Two documents have one id.

    >>> issubclass(DocumentTwiceError, DataError)
    True
    """

    def __init__(self, id: str, path: str) -> None:
        self.id = id
        remedy = "Each id may stand once: decide which is right."
        super().__init__(f"document '{shorten(id, 60)}' comes a second time", source=path, remedy=remedy)


class StoreWriter:
    """Writes a store, document by document, within `with`; the file is there once all went well.

    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/ducks.store"
    >>> with StoreWriter(path) as writer:
    ...     writer.add([StoredDocument("d1", "Ducks", "They swim.")])
    >>> DocumentStore(path).get("d1").text
    'They swim.'
    """

    def __init__(self, path: str | os.PathLike[str], name: str = "") -> None:
        self.path = os.fspath(path)
        self.name = name or stem(self.path)
        self.notes: list[tuple[str, str]] = []  # what is to be said of the documents, as (code, sentence)
        self._count = 0
        self._digest = hashlib.blake2b(digest_size=16)
        self._file = whole_file(self.path)

    def __enter__(self) -> Self:
        self._temporary = self._file.__enter__()
        try:
            with self._told():
                self._database = sqlite3.connect(self._temporary, isolation_level=None)
                # Nothing is to be kept of a file that is not finished.
                self._database.executescript(
                    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; "
                    f"PRAGMA page_size = {_PAGE}; PRAGMA application_id = {_APPLICATION}; "
                    f"PRAGMA user_version = {FORM}; {_TABLES} BEGIN;"
                )
        except BaseException as error:
            self._leave(error)
            raise
        return self

    def add(self, documents: Iterable[StoredDocument]) -> None:
        """Writes documents; each is forgotten at once."""
        with self._told():
            for document in documents:
                self._count += 1
                row = _row(document)
                _digest(self._digest, row)
                self._database.execute("INSERT INTO identity VALUES (?, ?)", (self._count, row[0]))
                self._database.execute("INSERT INTO content VALUES (?, ?, ?, ?, ?)", (self._count, *row[1:]))

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._finish()
        except BaseException as fault:
            self._leave(fault)
            raise
        self._leave(error)

    def _finish(self) -> None:
        if not self._count:
            raise DataError("has no document", source=self.name)
        touched.writes(self.path)  # the documents were read since it was begun
        facts = {"name": self.name, "documents": self._count, "digest": f"blake2b:{self._digest.hexdigest()}"}
        with self._told():
            rows = [(name, json.dumps(value)) for name, value in ({**facts, "notes": self.notes}).items()]
            self._database.executemany("INSERT INTO fact VALUES (?, ?)", rows)
            try:
                self._database.execute("CREATE UNIQUE INDEX number_of ON identity (id)")
            except sqlite3.IntegrityError:
                twice = "SELECT id FROM identity GROUP BY id HAVING count(*) > 1 ORDER BY min(number) LIMIT 1"
                raise DocumentTwiceError(_decoded(self._database.execute(twice).fetchone()[0]), self.name) from None
            self._database.execute("COMMIT")
            self._database.close()
        with open(self._temporary, "rb+") as file:  # the system may still have it in memory alone
            os.fsync(file.fileno())

    def _leave(self, error: BaseException | None) -> None:
        if hasattr(self, "_database"):
            self._database.close()
        self._file.__exit__(None if error is None else type(error), error, None)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the database refuses, in words: that a disk is full, most of all."""
        try:
            yield
        except (sqlite3.Error, OverflowError) as error:
            raise DataError(f"cannot be written: {error}", source=self.path) from None


class DocumentStore:
    """The documents of a file that `StoreWriter` wrote, or `cranfield.quotation.build_store`.

    `name`, `digest` (the same for the same documents in the same order) and `notes` (what was odd about them, as code
    and sentence) stand in the file. Threads may share a store; each reads by a connection that no other has meanwhile.

    >>> from cranfield.quotation import build_store
    >>> import tempfile
    >>> pond = build_store("examples/pond.toml", f"{tempfile.mkdtemp()}/pond.store")
    >>> len(pond), "d12" in pond, pond.get("d12").title
    (12, True, 'Why feathers stay dry')
    >>> pond.get("d99")
    Traceback (most recent call last):
    cranfield.errors.DataError: pond: has no document 'd99'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._idle: deque[sqlite3.Connection] = deque()
        self._closed = False
        self.path = os.path.abspath(os.fspath(path))
        self._file = _checked(self.path)
        with self._connection() as connection:
            facts = {name: json.loads(value) for name, value in connection.execute("SELECT name, value FROM fact")}
            self.name: str = facts["name"]
            self.digest: str = facts["digest"]
            self.notes: tuple[tuple[str, str], ...] = tuple((code, told) for code, told in facts["notes"])
            self._count: int = facts["documents"]

    def get(self, id: str) -> StoredDocument:
        """The document of this id; it is an error if there is none."""
        with self._connection() as connection:
            document = _found(connection, id)
        if document is None:
            raise DataError(f"has no document '{shorten(id, 60)}'", source=self.name)
        return document

    def many(self, ids: Iterable[str]) -> dict[str, StoredDocument]:
        """The documents of these ids, in their order; ids that are not here are not in it, see `missing`."""
        with self._connection() as connection:
            documents = ((id, _found(connection, id)) for id in ids)
            return {id: document for id, document in documents if document is not None}

    def missing(self, ids: Iterable[str]) -> list[str]:
        """Those of these ids that no document has."""
        with self._connection() as connection:
            return [id for id in ids if not _known(connection, id)]

    def ids(self) -> Iterator[str]:
        """Every id, in the order of the collection."""
        with self._connection() as connection:
            for (id,) in connection.execute("SELECT id FROM identity ORDER BY number"):
                yield _decoded(id)

    def documents(self) -> Iterator[StoredDocument]:
        """Every document, in the order of the collection; one is in memory at a time."""
        with self._connection() as connection:
            for row in connection.execute(f"{_DOCUMENT} ORDER BY number"):
                yield _document(row)

    def check(self) -> None:
        """Reads everything; it is an error if that is not what was written. Opening looks at the length alone."""
        with self._connection() as connection:
            (fault,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        digest, count = hashlib.blake2b(digest_size=16), 0
        for document in self.documents():
            count += 1
            _digest(digest, _row(document))
        if fault != "ok" or count != self._count or f"blake2b:{digest.hexdigest()}" != self.digest:
            raise _damaged(self.path)

    def close(self) -> None:
        """Lets go of the file."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses as long as this goes on."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connected()
        try:
            yield connection
        except sqlite3.Error:
            raise _damaged(self.path) from None
        finally:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise UsageError(f"the documents of {self.name} are closed")
        if _checked(self.path) != self._file:
            remedy = "Begin anew: what was read before may be from other documents."
            raise DataError("is another file than the one that was opened", source=self.path, remedy=remedy)
        address = f"file:{quote(os.fsencode(self.path))}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
            connection.execute(f"PRAGMA cache_size = {_MEMORY}")
        except sqlite3.Error:
            raise _damaged(self.path) from None
        return connection

    def __contains__(self, id: object) -> bool:
        with self._connection() as connection:
            return isinstance(id, str) and _known(connection, id)

    def __len__(self) -> int:
        return self._count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<DocumentStore {self.name!r}: {plural(len(self), 'document')}>"


class _Identity(NamedTuple):
    """What tells a file from another that has taken its place."""

    device: int
    inode: int
    size: int
    changed: int


def _checked(path: str) -> _Identity:
    """A file that is a store, whole, and of a form that is known here: its head says so."""
    try:
        with open(path, "rb") as file:
            head, status = file.read(_HEAD), os.fstat(file.fileno())
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read: {getattr(error, 'strerror', None) or error}", source=path) from None
    if len(head) < _HEAD or not head.startswith(_SQLITE) or _number(head, 68, 4) != _APPLICATION:
        remedy = "Build one of the collection: cranfield.quotation.build_store."
        raise DataError("is not a store of documents", source=path, remedy=remedy)
    form = _number(head, 60, 4)
    if form > FORM:
        remedy = "Use a newer cranfield, or build it anew of the collection."
        raise DataError(f"is of form {form}, newer than what is known here ({FORM})", source=path, remedy=remedy)
    page = _number(head, 16, 2)
    expected = _number(head, 28, 4) * (65_536 if page == 1 else page)
    if status.st_size < expected:
        remedy = "Copy it again, or build it anew of the collection."
        raise DataError(f"is cut off: {status.st_size:,} of {expected:,} bytes are there", source=path, remedy=remedy)
    return _Identity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _number(head: bytes, at: int, length: int) -> int:
    return int.from_bytes(head[at : at + length], "big")


def _damaged(path: str) -> DataError:
    return DataError("is damaged", source=path, remedy="Copy it again, or build it anew of the collection.")


def _found(connection: sqlite3.Connection, id: str) -> StoredDocument | None:
    row = connection.execute(f"{_DOCUMENT} WHERE id = ?", (_encoded(id),)).fetchone()
    return None if row is None else _document(row)


def _known(connection: sqlite3.Connection, id: str) -> bool:
    return connection.execute("SELECT 1 FROM identity WHERE id = ?", (_encoded(id),)).fetchone() is not None


_Row: TypeAlias = "tuple[bytes, bytes, bytes, bool, bytes | None]"


def _row(document: StoredDocument) -> _Row:
    fields = json.dumps(dict(document.fields)).encode() if document.fields else None
    return _encoded(document.id), _encoded(document.title), _encoded(document.text), document.html, fields


def _digest(digest: hashlib.blake2b, row: _Row) -> None:
    for part in (*row[:3], b"1" if row[3] else b"", row[4] or b""):
        digest.update(len(part).to_bytes(8, "big"))  # or two documents could be taken for two others
        digest.update(part)


def _document(row: _Row) -> StoredDocument:
    id, title, text, html, fields = row
    others = json.loads(fields) if fields else _NO_FIELDS
    return StoredDocument(_decoded(id), _decoded(title), _decoded(text), bool(html), others)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
