"""What a project is made from, and where it lies: collections that the operator lists, and files that were uploaded.

No client names a path: a collection is named as it is listed, an upload by the digest that it got here.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from cranfield.errors import DataError, UsageError, either, shorten
from cranfield.formats import stem
from cranfield.quotation.text_sources import TextSource
from cranfield.render.json_form import Json
from cranfield.texts import Ids
from cranfield.web.data_folder import BUILDING, FolderPart, part_of
from cranfield.web.settings import ServerSettings
from cranfield.web.shelf import Shelf

PartKind = Literal["documents", "topics", "judgements"]
PARTS: tuple[PartKind, ...] = get_args(PartKind)
IDS: tuple[Ids, ...] = get_args(Ids)
SUFFIX: Mapping[str, str] = {
    "documents": ".documents.jsonl",
    "topics": ".topics.jsonl",
    "judgements": ".qrels",
    "run": ".run",
}


@dataclass(frozen=True, kw_only=True)
class KeptPart:
    """A file that was uploaded, kept under its digest: what its sender called it, and how much it holds."""

    digest: str
    name: str
    rows: int


@dataclass(frozen=True, kw_only=True)
class ProjectSource:
    """What a project is made from: a collection that the operator lists (by its name) or gave at the prompt (by its
    place), and files, which replace the parts of the collection. `ids` says what runs call its topics: what they are
    given as, their positions, or their numbers.

    >>> ProjectSource.from_json(ProjectSource(collection="cacm").to_json()).collection
    'cacm'
    """

    collection: str | None = None
    place: str | None = None
    parts: Mapping[str, KeptPart] = field(default_factory=dict)
    ids: Ids = "given"

    def to_json(self) -> dict[str, Json]:
        parts: dict[str, Json] = {kind: asdict(part) for kind, part in self.parts.items()}
        return {"collection": self.collection, "place": self.place, "parts": parts, "ids": self.ids}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ProjectSource:
        """What the database has; a project that was made by hand may have nothing."""
        parts = {kind: KeptPart(**part) for kind, part in data.get("parts", {}).items()}
        ids = checked_ids(data.get("ids", "given"))
        return cls(collection=data.get("collection"), place=data.get("place"), parts=parts, ids=ids)


def checked_ids(said: str) -> Ids:
    """What topics are called, as somebody says it.

    >>> checked_ids("position")
    'position'
    """
    if said not in IDS:
        raise DataError(f"topics are called {either(IDS)}, not '{shorten(said, 60)}'")
    return said


def listed_collections(settings: ServerSettings) -> dict[str, Path]:
    """The collections from which projects may be made over the network, by name.

    >>> listed_collections(ServerSettings(folder=Path("data"), collections=(Path("examples/pond.toml"),)))
    {'pond': PosixPath('examples/pond.toml')}
    """
    listed: dict[str, Path] = {}
    for path in settings.collections:
        name = path.stem if path.suffix == ".toml" and path.stem != "collection" else path.resolve().name
        if path.name == "collection.toml":
            name = path.resolve().parent.name
        if name in listed:
            raise UsageError(f"two collections are called {name}: {listed[name]} and {path}; rename one of them")
        listed[name] = path
    return listed


def checked_collection(settings: ServerSettings, name: str) -> str:
    """The name of a collection that is listed."""
    known = listed_collections(settings)
    if name not in known:
        listed = f"it has {either(sorted(known))}" if known else "and it lists none: upload the documents"
        raise DataError(f"this server lists no collection '{shorten(name, 60)}'; {listed}")
    return name


class DataFiles:
    """Where files lie in a data folder, each under its digest; nobody changes one that is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def kept(self, kind: str, digest: str) -> Path:
        """The file of an upload or a run."""
        part = FolderPart.RUNS if kind == "run" else FolderPart.UPLOADS
        return self._below(part) / f"{_word(digest)}{SUFFIX[kind]}"

    def keep(self, kind: str, path: str | os.PathLike[str], digest: str) -> Path:
        """Moves a file to its place; one that is there already is the same."""
        place = self.kept(kind, digest)
        os.replace(path, place)
        return place

    def keep_new(self, kind: str, path: Path) -> str:
        """Moves a file of our own to its place; gives its digest."""
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.keep(kind, path, digest)
        return digest

    def incoming(self) -> Path:
        """Where uploads arrive."""
        return self._below(FolderPart.INCOMING)

    def documents(self, digest: str) -> Path:
        """The document store of a collection."""
        return Shelf(self.folder).path(_word(digest))

    def unfinished(self) -> Path:
        """A place for a document store that is being built."""
        return self._below(FolderPart.COLLECTIONS) / f"{secrets.token_hex(8)}{BUILDING}"

    def _below(self, part: FolderPart) -> Path:
        made = part_of(self.folder, part)
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
        return made


def _word(digest: str) -> str:
    if not digest or not digest.isalnum() or not digest.isascii():
        raise DataError(f"'{shorten(digest, 60)}' is no digest")
    return digest


def text_source(settings: ServerSettings, source: ProjectSource) -> TextSource:
    """Where the texts of a project are read from."""
    files = DataFiles(settings.folder)
    of_part = {kind: str(files.kept(kind, part.digest)) for kind, part in source.parts.items()}
    collection = place_of(settings, source)
    if collection is None and not {"documents", "topics"} <= set(of_part):
        lacking = either(kind for kind in ("documents", "topics") if kind not in of_part)
        raise DataError(f"there are no {lacking}: upload them, or choose a collection")
    return TextSource(
        collection=collection,
        documents=(of_part["documents"],) if "documents" in of_part else (),
        topics=of_part.get("topics"),
        ids=source.ids,
    )


def place_of(settings: ServerSettings, source: ProjectSource) -> str | None:
    """Where the collection of a project is; an error if it is no longer listed."""
    if source.collection is None:
        return source.place
    return str(listed_collections(settings)[checked_collection(settings, source.collection)])


def shown_source(source: ProjectSource) -> str:
    """What a project is made from, for people: no place of the server is in it."""
    if source.collection is not None:
        return source.collection
    return stem(source.place) if source.place is not None else "uploads"
