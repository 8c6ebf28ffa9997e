"""Who comes in: the session or the token of a request, the project it names, and whether the route's permission is met.

A project that a visitor may not see does not exist for them: 404, never 403, so that nobody learns what there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sqlalchemy import Connection, and_, bindparam, select
from starlette.exceptions import HTTPException

from cranfield.web.accounts.people import UserAccount
from cranfield.web.accounts.roles import Permission, allows
from cranfield.web.accounts.secrets import digest
from cranfield.web.accounts.sessions import IDLE, is_stale, note_use
from cranfield.web.accounts.tokens import bearer, note_token
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import MemberRow, ProjectRow, SessionRow, UserRow

SAFE_METHODS = frozenset({"GET", "HEAD"})
JUDGING = (Permission.JUDGE, Permission.ADJUDICATE)


@dataclass(frozen=True, kw_only=True)
class ProjectHere:
    """The project that a request is about."""

    id: int
    slug: str
    title: str
    collection: str
    settings: dict[str, Any]
    state: str
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Visit:
    """What is known of a request when its handler begins. `account`, `project` and `role` are there where the route's
    permission asks for them (`person`, `here` say so to the type checker)."""

    store: Store
    account: UserAccount | None = None
    project: ProjectHere | None = None
    role: str | None = None
    pseudonym: str | None = None
    session: str | None = None

    @property
    def person(self) -> UserAccount:
        assert self.account is not None
        return self.account

    @property
    def here(self) -> ProjectHere:
        assert self.project is not None
        return self.project

    def may(self, permission: Permission) -> bool:
        """Whether the visitor meets another permission too, to show or hide a link."""
        if permission is Permission.ADMIN:
            return self.account is not None and self.account.admin
        if permission.of_project:
            return allows(self.role, permission)
        return permission is Permission.ANYONE or self.account is not None


def cookie_name(secure: bool) -> str:
    """The name by which a browser keeps a cookie from other hosts and from http."""
    return "__Host-session" if secure else "session"


def scopes_for(needs: Permission, method: str, scope: str | None) -> tuple[str, ...]:
    """What a token must be for, besides what its owner may do: one of these is enough."""
    if scope is not None:
        return (scope,)
    if needs is Permission.ANYONE:
        return ()
    if needs in JUDGING:
        return ("read", "judge") if method in SAFE_METHODS else ("judge",)
    return ("read",) if method in SAFE_METHODS else ("manage",)


def admitted(request: Request, needs: Permission, surface: str, scope: str | None = None) -> Visit:
    """The visit, or 401 for somebody who must sign in, 403 for a token that is for less, 404 for all else."""
    store: Store = request.app.state.store
    scopes = scopes_for(needs, request.method, scope)
    visit = _by_token(request, store, scopes) if surface == "api" else _by_session(request, store)
    if needs is Permission.ANYONE:
        return visit
    if visit.account is None:
        raise HTTPException(401, "sign in first" if surface == "page" else _without_account(request))
    if needs.of_project and (visit.project is None or not allows(visit.role, needs)):
        raise HTTPException(404)
    if needs is Permission.ADMIN and not visit.account.admin:
        raise HTTPException(404)
    return visit


def _without_account(request: Request) -> str:
    """What a program is told that shows no token, or one that counts for nothing, whoever's it is or was."""
    if request.headers.get("authorization", "").lower().startswith("bearer "):
        return "this token is unknown or has ended: make one on the page /account"
    return "a token is needed: Authorization: Bearer …"


def _by_session(request: Request, store: Store) -> Visit:
    word = request.cookies.get(cookie_name(request.app.state.settings.secure))
    slug = request.path_params.get("project")
    if word is None:
        return Visit(store=store)
    now = store.clock()
    with store.reading() as connection:
        row = _session_row(connection, now, word, slug)
    if row is None:
        return Visit(store=store)
    if is_stale(row.used_at, now):
        with store.writing() as connection:
            note_use(connection, now, word)
    account = UserAccount(id=row.user_id, name=row.name, admin=row.admin)
    return Visit(store=store, account=account, session=word, **_place(row))


def _session_row(connection: Connection, now: int, word: str, slug: str | None) -> Any:
    """Session, person, project and role in one question to the database."""
    known = {"word": digest(word), "slug": slug or "", "now": now, "idle": now - IDLE}
    return connection.execute(_BY_WORD, known).first()


_PLACE = (
    ProjectRow.id.label("project_id"),
    ProjectRow.slug,
    ProjectRow.title,
    ProjectRow.collection,
    ProjectRow.settings,
    ProjectRow.state,
    ProjectRow.reason,
    MemberRow.role,
    MemberRow.pseudonym,
)
# Built once: to build a statement costs more than to run it, and these are run for every request.
_BY_WORD = (
    select(SessionRow.used_at, UserRow.id.label("user_id"), UserRow.name, UserRow.admin, *_PLACE)
    .join(UserRow, UserRow.id == SessionRow.user_id)
    .outerjoin(ProjectRow, ProjectRow.slug == bindparam("slug"))
    .outerjoin(MemberRow, and_(MemberRow.project_id == ProjectRow.id, MemberRow.user_id == UserRow.id))
    .where(
        SessionRow.digest == bindparam("word"),
        SessionRow.until > bindparam("now"),
        SessionRow.used_at > bindparam("idle"),
        UserRow.disabled_at.is_(None),
    )
)
_OF_MEMBER = (
    select(*_PLACE)
    .join(MemberRow, and_(MemberRow.project_id == ProjectRow.id, MemberRow.user_id == bindparam("user")))
    .where(ProjectRow.slug == bindparam("slug"))
)


def _place(row: Any) -> dict[str, Any]:
    """The project and the visitor's role in it; nothing where they have none."""
    if row is None or row.role is None:
        return {}
    project = ProjectHere(
        id=row.project_id,
        slug=row.slug,
        title=row.title,
        collection=row.collection,
        settings=row.settings,
        state=row.state,
        reason=row.reason,
    )
    return {"project": project, "role": row.role, "pseudonym": row.pseudonym}


def _by_token(request: Request, store: Store, scopes: tuple[str, ...]) -> Visit:
    kind, _, shown = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not shown:
        return Visit(store=store)
    now = store.clock()
    slug = request.path_params.get("project")
    with store.reading() as connection:
        known = bearer(connection, now, shown.strip())
        if known is None:
            return Visit(store=store)
        place = _place(connection.execute(_OF_MEMBER, {"user": known.account.id, "slug": slug or ""}).first())
    if known.stale:
        with store.writing() as connection:
            note_token(connection, now, known.public)
    if scopes and not known.scopes.intersection(scopes):
        raise HTTPException(403, f"this token is not for that: it lacks '{scopes[0]}'")
    return Visit(store=store, account=known.account, **place)
