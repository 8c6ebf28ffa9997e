"""Projects at the prompt: in a data folder when no server runs on it, or by asking a server that does."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from sqlalchemy import Connection, select

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats import read_run
from cranfield.web.accounts.invitations import person
from cranfield.web.projects.collections import DataFiles, KeptPart, PartKind, ProjectSource, checked_ids
from cranfield.web.projects.deleting import delete_project
from cranfield.web.projects.making import (
    NewProject,
    NewRun,
    add_part,
    add_run,
    ask_for_preparation,
    create_project,
    kept_run,
    slug_of,
)
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.projects.overview import overview
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings, is_loopback
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import DELETED, ProjectRow
from cranfield.web.uploads.advice import advice_for_uploads
from cranfield.web.uploads.reading import checked_upload
from cranfield.web.working import worker

Answer = dict[str, Any]
TIMEOUT = 600.0  # seconds for one answer: a file may be long
TOKEN = "CRANFIELD_TOKEN"
NOT_KEPT = "The project was not kept: mend that, and give the command again."


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A project that is wanted. In a folder `collection` is a place, for a server a name that it lists."""

    title: str
    slug: str = ""
    collection: str | None = None
    ids: str = "given"
    options: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[PartKind, str] = field(default_factory=dict)
    runs: tuple[str, ...] = ()
    owner: str | None = None


class Desk(Protocol):
    """Where projects are asked for. What cannot be prepared is not there afterwards: the same wish can be mended."""

    def create(self, wish: Wish, told: Callable[[str], None]) -> Answer: ...

    def delete(self, slug: str) -> None: ...

    def projects(self) -> list[Answer]: ...

    def project(self, slug: str) -> Answer: ...


class FolderDesk:
    """Projects of a data folder, which no server has open."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings

    def create(self, wish: Wish, told: Callable[[str], None]) -> Answer:
        """Makes a project and prepares it, in this process."""
        place = None if wish.collection is None else os.path.abspath(wish.collection)
        slug = wish.slug or slug_of(wish.title)
        options, files = ProjectOptions.from_json(wish.options), DataFiles(self.settings.folder)
        with self._store() as store:
            parts = {kind: self._part(kind, path, files) for kind, path in wish.parts.items()}
            runs = [self._run(path, files) for path in wish.runs]
            source = ProjectSource(place=place, ids=checked_ids(wish.ids))
            new = NewProject(title=wish.title, slug=slug, options=options, source=source)
            with store.writing() as connection:
                now, owner = store.clock(), None if wish.owner is None else person(connection, wish.owner)
                if wish.owner is not None and owner is None:
                    raise UsageError(f"there is no account '{shorten(wish.owner)}': --owner takes the name of one")
                project = create_project(connection, now, new, owner=owner)
                for kind, part in parts.items():
                    add_part(connection, now, project, kind, part, user=None)
                for run in runs:
                    add_run(connection, now, project, run, user=None)
                ask_for_preparation(connection, now, project, user=None)
            told(f"preparing {slug}")
            worker(self.settings, store).run_all()
            with store.writing() as connection:
                answer = overview(connection, project).to_json()
                if answer["state"] != "ready":
                    delete_project(connection, store.clock(), project, user=None)
            try:
                return _prepared(answer)
            except DataError as error:
                raise error.with_more([NOT_KEPT]) from None

    def delete(self, slug: str) -> None:
        """Deletes a project in which nobody has judged."""
        self._there()
        with self._store() as store, store.writing() as connection:
            delete_project(connection, store.clock(), self._number(connection, slug), user=None)

    def _run(self, path: str, files: DataFiles) -> NewRun:
        try:
            return kept_run(read_run(path), files)
        except DataError as error:
            raise _refusal(advice_for_uploads(error)) from None

    def _part(self, kind: PartKind, path: str, files: DataFiles) -> KeptPart:
        checked = checked_upload(path, kind=kind, name=PurePath(path).name, folder=files.incoming())
        files.keep(kind, checked.path, checked.sha256)
        return KeptPart(digest=checked.sha256, name=checked.name, rows=checked.rows)

    def projects(self) -> list[Answer]:
        """Every project of the folder."""
        self._there()
        with self._store() as store, store.reading() as connection:
            asked = select(ProjectRow.slug, ProjectRow.title, ProjectRow.state).where(ProjectRow.state != DELETED)
            rows = connection.execute(asked).all()
        return [{"slug": row.slug, "title": row.title, "state": row.state} for row in sorted(rows)]

    def project(self, slug: str) -> Answer:
        """One project of the folder."""
        self._there()
        with self._store() as store, store.reading() as connection:
            return overview(connection, self._number(connection, slug)).to_json()

    def _number(self, connection: Connection, slug: str) -> int:
        named = select(ProjectRow.id).where(ProjectRow.slug == slug, ProjectRow.state != DELETED)
        number = connection.execute(named).scalar()
        if number is None:
            raise DataError(f"there is no project '{shorten(slug)}' in {self.settings.folder}")
        return number

    def _there(self) -> None:
        """A folder is made by the first project, not by looking for one."""
        if not self.settings.database and not (self.settings.folder / "cranfield.db").exists():
            raise UsageError(f"'{self.settings.folder}' has no database: it is no folder of a server")

    @contextmanager
    def _store(self) -> Iterator[Store]:
        store = open_folder(self.settings)
        try:
            yield store
        finally:
            store.close()


class ServerDesk:
    """Projects of a running server, asked for with a token."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(
                f"--server takes the address of a server, such as https://judge.example.org, not {address}"
            )
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise UsageError("--server with http:// would send the token over the network as it is: use https://")
        self.address, self._token = f"{parts.scheme}://{parts.netloc}/api/v1", token

    def create(self, wish: Wish, told: Callable[[str], None]) -> Answer:
        """Makes a project, sends its files, and waits until the server has prepared it."""
        if wish.owner is not None:
            raise UsageError("--owner is for a folder: on a server whoever the token is of owns the project")
        asked: Answer = {"title": wish.title, "slug": wish.slug, "collection": wish.collection, "ids": wish.ids}
        asked["options"] = dict(wish.options)
        slug = quote(self._asked("POST", "/projects", json.dumps(asked).encode())["slug"])
        try:
            return _prepared(self._filled(slug, wish, told))
        except DataError as error:
            try:
                self.delete(slug)
            except DataError as other:
                raise error.with_more([f"The project {slug} is still there: {other.message}"]) from None
            raise error.with_more([NOT_KEPT]) from None

    def _filled(self, slug: str, wish: Wish, told: Callable[[str], None]) -> Answer:
        """Sends the files of a project, and waits until it is ready or has failed."""
        for kind, path in wish.parts.items():
            told(f"sending {path}")
            self._asked("PUT", f"/projects/{slug}/parts/{kind}?{_named(path)}", _content(path))
        for path in wish.runs:
            told(f"sending {path}")
            self._asked("POST", f"/projects/{slug}/runs?{_named(path)}", _content(path))
        answer: Answer = self._asked("POST", f"/projects/{slug}/prepare", b"")
        told(f"the server prepares {slug}")
        while answer["state"] == "preparing":
            time.sleep(0.2)
            answer = self._asked("GET", f"/projects/{slug}")
        return answer

    def delete(self, slug: str) -> None:
        """Deletes a project in which nobody has judged."""
        self._asked("DELETE", f"/projects/{quote(slug, safe='')}")

    def projects(self) -> list[Answer]:
        """The projects that the token's owner is a member of."""
        listed: list[Answer] = self._asked("GET", "/projects")
        return [{name: entry[name] for name in ("slug", "title", "state")} for entry in listed]

    def project(self, slug: str) -> Answer:
        """One project of the server."""
        answer: Answer = self._asked("GET", f"/projects/{quote(slug, safe='')}")
        return answer

    def _asked(self, method: str, path: str, data: bytes | None = None) -> Any:
        headers = {"authorization": f"Bearer {self._token}", "accept": "application/json"}
        if path == "/projects" and data is not None:
            headers["content-type"] = "application/json"
        request = Request(self.address + path, data, headers, method=method)
        try:
            with build_opener(_NoRedirects).open(request, timeout=TIMEOUT) as response:
                return None if response.status == 204 else json.load(response)
        except HTTPError as error:
            raise _refusal(_told(error), source=self.address.removesuffix("/api/v1")) from None
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise DataError(f"does not answer as a server does: {reason}", source=self.address) from None


def _prepared(answer: Answer) -> Answer:
    """A project that is ready; an error with the reason of one that could not be prepared."""
    if answer["state"] != "ready":
        raise _refusal(f"the project {answer['slug']} could not be prepared: {answer['reason']}")
    return answer


def _refusal(text: str, source: str | None = None) -> DataError:
    """An error of a text that has lines already."""
    told, *more = (line.strip() for line in text.split("\n"))
    return DataError(told, source=source, remedy="\n    ".join(more) or None)


class _NoRedirects(HTTPRedirectHandler):
    """The token is for the server that was named, and no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _named(path: str) -> str:
    return urlencode({"file": PurePath(path).name})


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", source=path) from None


def _told(error: HTTPError) -> str:
    try:
        return str(json.load(error)["error"])
    except (ValueError, KeyError, TypeError):
        return f"answers {error.code} {error.reason}"


def desk(folder: str | None, database: str, server: str | None) -> Desk:
    """Where to ask, by what was said at the prompt."""
    if (folder is None) == (server is None):
        raise UsageError("say where: --data FOLDER, when no server runs on it, or --server URL")
    if server is not None:
        if database:
            raise UsageError("--db is for --data: a server knows its database")
        token = os.environ.get(TOKEN, "")
        if not token:
            raise UsageError(f"a token is needed: make one on the page /account of the server, and set {TOKEN} to it")
        return ServerDesk(server, token)
    return FolderDesk(ServerSettings(folder=Path(str(folder)), database=database))
