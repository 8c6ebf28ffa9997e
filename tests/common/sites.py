"""A server in the test's own process, and people and programs who visit it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import uvicorn
from fastapi import FastAPI
from sqlalchemy import Connection, insert, select
from starlette.testclient import TestClient

from cranfield.web.accounts.invitations import join
from cranfield.web.accounts.people import UserAccount, new_account
from cranfield.web.accounts.sessions import begin_session
from cranfield.web.accounts.tokens import SCOPES, new_token
from cranfield.web.app import application
from cranfield.web.serving import configuration, listening_socket
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import MemberRow, ProjectRow, UserRow

ADDRESS = "http://localhost:8000"
# Costs of a password are not what most tests are about.
STORED = "no password"


class Site:
    """`site.visitor("ada", role="owner")` is a browser of somebody who has signed in."""

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self.settings, self.store = settings, store
        self.app: FastAPI = application(settings, store)

    def stranger(self) -> TestClient:
        """A browser of nobody. It sends what a browser sends with a form of our own."""
        headers = {"origin": ADDRESS, "accept": "text/html"}
        return TestClient(self.app, base_url=ADDRESS, headers=headers, follow_redirects=False)

    def person(self, name: str, *, admin: bool = False) -> UserAccount:
        """An account, made when it is first asked for."""
        with self.store.writing() as connection:
            row = connection.execute(select(UserRow.id, UserRow.admin).where(UserRow.name == name)).first()
            if row is not None:
                return UserAccount(id=row.id, name=name, admin=row.admin)
            return new_account(connection, self.store.clock(), name, STORED, admin=admin)

    def member(self, name: str, project: str, role: str) -> UserAccount:
        """A person with a role in a project."""
        account = self.person(name)
        with self.store.writing() as connection:
            number = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == project)).scalar_one()
            join(connection, self.store.clock(), number, account, role)
        return account

    def visitor(self, name: str, *, admin: bool = False) -> TestClient:
        """A browser of somebody who has signed in."""
        account = self.person(name, admin=admin)
        with self.store.writing() as connection:
            word = begin_session(connection, self.store.clock(), account.id, "a browser")
        browser = self.stranger()
        browser.cookies.set("session", word)
        return browser

    def program(self, name: str, scopes: list[str] | None = None) -> TestClient:
        """A program with a token of somebody."""
        account = self.person(name)
        with self.store.writing() as connection:
            token = new_token(connection, self.store.clock(), account.id, "test", scopes or list(SCOPES), 1)
        return TestClient(self.app, base_url=ADDRESS, headers={"authorization": f"Bearer {token}"})

    def project(self, slug: str = "ducks", **values: Any) -> int:
        """A project without anything in it."""
        defaults = {"title": slug.title(), "collection": "none", "settings": {}, "state": "ready"}
        with self.store.writing() as connection:
            made = insert(ProjectRow).values(
                slug=slug, created_at=self.store.clock(), reason=None, created_by=None, **(defaults | values)
            )
            return connection.execute(made.returning(ProjectRow.id)).scalar_one()


@contextmanager
def live_site(settings: ServerSettings, store: Store, port: int = 0) -> Iterator[str]:
    """A real server on a port of loopback (0: a free one), in a thread: its address. The store stays open."""
    listening = listening_socket(replace(settings, port=port))
    here = replace(settings, port=listening.getsockname()[1])
    config = configuration(here, store)
    config.lifespan = "off"  # it would close the store
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while thread.is_alive() and not server.started:
            thread.join(0.01)
        assert server.started, "the server did not start"
        yield here.address
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def project_number(store: Store, slug: str, connection: Connection | None = None) -> int:
    asked = select(ProjectRow.id).where(ProjectRow.slug == slug)
    if connection is not None:
        return connection.execute(asked).scalar_one()
    with store.reading() as opened:
        return opened.execute(asked).scalar_one()


def pseudonym_of(store: Store, slug: str, name: str) -> str:
    """The name under which a person's judgements appear in a project."""
    asked = (
        select(MemberRow.pseudonym)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .join(ProjectRow, ProjectRow.id == MemberRow.project_id)
        .where(UserRow.name == name, ProjectRow.slug == slug)
    )
    with store.reading() as connection:
        return connection.execute(asked).scalar_one()


def link_of(text: str) -> str:
    """The first invitation link in a text."""
    match = re.search(r"/invite/[\w-]+", text)
    assert match, text
    return match.group()
