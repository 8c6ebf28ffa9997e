"""What an admin of the server does with accounts: they let nobody in by themselves, and never see a password."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select, update
from starlette.exceptions import HTTPException

from cranfield.errors import DataError
from cranfield.web.accounts.invitations import end_links_by, invite
from cranfield.web.accounts.people import end_sessions
from cranfield.web.store.audit import note
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import MemberRow, ProjectRow, UserRow


@dataclass(frozen=True, kw_only=True)
class KnownPerson:
    """An account as an admin sees it."""

    id: int
    name: str
    admin: bool
    created_at: int
    disabled_at: int | None
    projects: int


def known_people(connection: Connection) -> list[KnownPerson]:
    """All accounts, by name."""
    asked = (
        select(UserRow.id, UserRow.name, UserRow.admin, UserRow.created_at, UserRow.disabled_at)
        .add_columns(func.count(MemberRow.role).label("projects"))
        .outerjoin(MemberRow, MemberRow.user_id == UserRow.id)
        .group_by(UserRow.id)
        .order_by(UserRow.folded)
    )
    return [KnownPerson(**row._mapping) for row in connection.execute(asked)]


def disable(store: Store, by: int, user: int) -> str:
    """Lets a person in no more; what they judged stays, and so does their role. Says what else follows."""
    now = store.clock()
    with store.writing() as connection:
        name = _locked_name(connection, user)
        _keep_an_admin(connection, user, name)
        connection.execute(update(UserRow).where(UserRow.id == user).values(disabled_at=now))
        end_sessions(connection, user)
        ended = end_links_by(connection, user)
        alone = _projects_without_owner(connection, user)
        note(connection, now, "account disabled", user=by, account=user, links_ended=ended)
    told = f"{name} cannot sign in any more; all that they judged stays."
    if ended:
        told += f" Open links that they made have ended: {ended}."
    if alone:
        told += f" Nobody else owns: {', '.join(alone)}."
    return told


def enable(store: Store, by: int, user: int) -> str:
    """Lets a person in again, by the password they had."""
    return f"{_changed(store, by, user, 'account enabled', disabled_at=None)} can sign in again."


def make_admin(store: Store, by: int, user: int) -> str:
    """Makes somebody an admin of the server."""
    return f"{_changed(store, by, user, 'admin made', admin=True)} is an admin now."


def unmake_admin(store: Store, by: int, user: int) -> str:
    """Takes that away again, but from the last one."""
    return f"{_changed(store, by, user, 'admin unmade', admin=False)} is no admin any more."


def _changed(store: Store, by: int, user: int, what: str, **values: bool | None) -> str:
    """Changes an account, and notes `what` was done; its name."""
    with store.writing() as connection:
        name = _locked_name(connection, user)
        if values.get("admin") is False:
            _keep_an_admin(connection, user, name)
        connection.execute(update(UserRow).where(UserRow.id == user).values(**values))
        note(connection, store.clock(), what, user=by, account=user)
    return name


def reset_word(store: Store, by: int, user: int) -> str:
    """The word of a link that sets a person's password anew; those made before end."""
    now = store.clock()
    with store.writing() as connection:
        name = _locked_name(connection, user)
        if connection.execute(select(UserRow.disabled_at).where(UserRow.id == user)).scalar_one() is not None:
            raise DataError(f"the account of '{name}' is disabled: enable it first")
        word = invite(connection, now, "reset", by=by, user=user)
        note(connection, now, "reset link made", user=by, account=user)
    return word


def _locked_name(connection: Connection, user: int) -> str:
    """The name of an account. The accounts of all admins are locked, so that two admins who take the right from each
    other at once do not both succeed."""
    connection.execute(select(UserRow.id).where(UserRow.admin).order_by(UserRow.id).with_for_update())
    name = connection.execute(select(UserRow.name).where(UserRow.id == user)).scalar()
    if name is None:
        raise HTTPException(404)
    return str(name)


def _keep_an_admin(connection: Connection, user: int, name: str) -> None:
    able = set(connection.execute(select(UserRow.id).where(UserRow.admin, UserRow.disabled_at.is_(None))).scalars())
    if able == {user}:
        raise DataError(f"'{name}' is the last admin: make another one first")


def _projects_without_owner(connection: Connection, user: int) -> list[str]:
    """The projects that a person owns and nobody else who can sign in does."""
    owned = select(MemberRow.project_id).where(MemberRow.user_id == user, MemberRow.role == "owner")
    others = (
        select(MemberRow.project_id)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(MemberRow.role == "owner", UserRow.disabled_at.is_(None))
    )
    asked = select(ProjectRow.title).where(ProjectRow.id.in_(owned), ProjectRow.id.not_in(others))
    return list(connection.execute(asked.order_by(ProjectRow.title)).scalars())
