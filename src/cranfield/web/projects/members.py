"""The people of a project: their roles, and the links that let others in. All of it stays inside the project: nothing
here touches an account."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, update
from starlette.exceptions import HTTPException

from cranfield.errors import DataError
from cranfield.web.accounts.invitations import end_links_by, invite
from cranfield.web.accounts.roles import ROLES
from cranfield.web.store.audit import note
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import InvitationRow, LeaseRow, MemberRow, PairRow, ProjectRow, TopicRow, UserRow

SHOWN = 16  # characters of a link's digest that name it: enough to end it, too little to use it


@dataclass(frozen=True, kw_only=True)
class Member:
    """Somebody in a project, by the name under which their judgements appear; `role` is None of one who was removed."""

    pseudonym: str
    name: str
    role: str | None
    joined_at: int
    removed_at: int | None
    disabled: bool


@dataclass(frozen=True, kw_only=True)
class OpenLink:
    """A link into a project that still lets somebody in. `name` is enough to end it and tells nothing of its word."""

    name: str
    role: str
    uses_left: int
    made_by: str | None
    created_at: int
    until: int


def members(connection: Connection, project: int) -> list[Member]:
    """The people of a project, also those who were removed, in the order in which they came."""
    disabled = UserRow.disabled_at.is_not(None).label("disabled")
    asked = (
        select(MemberRow.pseudonym, UserRow.name, MemberRow.role, MemberRow.joined_at, MemberRow.removed_at, disabled)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(MemberRow.project_id == project)
        .order_by(MemberRow.joined_at, func.length(MemberRow.pseudonym), MemberRow.pseudonym)
    )
    return [Member(**row._mapping) for row in connection.execute(asked)]


def open_links(connection: Connection, now: int, project: int) -> list[OpenLink]:
    """The links into a project that still work, the newest first."""
    asked = (
        select(
            func.substr(InvitationRow.digest, 1, SHOWN).label("name"),
            InvitationRow.role,
            InvitationRow.uses_left,
            UserRow.name.label("made_by"),
            InvitationRow.created_at,
            InvitationRow.until,
        )
        .outerjoin(UserRow, UserRow.id == InvitationRow.created_by)
        .where(InvitationRow.kind == "project", InvitationRow.project_id == project)
        .where(InvitationRow.until > now, InvitationRow.uses_left > 0)
        .order_by(InvitationRow.created_at.desc(), InvitationRow.digest)
    )
    return [OpenLink(**row._mapping) for row in connection.execute(asked)]


def new_link(store: Store, by: int, project: int, role: str, uses: int) -> str:
    """The word of a new link into a project, whole for the only time."""
    now = store.clock()
    with store.writing() as connection:
        word = invite(connection, now, "project", by=by, project=project, role=role, uses=uses)
        note(connection, now, "link made", user=by, project=project, role=role, uses=uses)
    return word


def end_link(store: Store, by: int, project: int, name: str) -> None:
    """Ends a link of this project; those whom it let in stay."""
    now = store.clock()
    named = delete(InvitationRow).where(
        InvitationRow.kind == "project",
        InvitationRow.project_id == project,
        func.substr(InvitationRow.digest, 1, SHOWN) == name,
    )
    with store.writing() as connection:
        if not connection.execute(named).rowcount:
            raise HTTPException(404)
        note(connection, now, "link ended", user=by, project=project)


def change_role(store: Store, by: int, project: int, pseudonym: str, role: str) -> str:
    """Gives a member another role. Says what else follows."""
    if role not in ROLES:
        raise DataError(f"a role is {', '.join(ROLES)}, not '{role}'")
    now = store.clock()
    with store.writing() as connection:
        user, name, before = _locked_member(connection, project, pseudonym)
        if role != "owner":
            _keep_an_owner(connection, project, user, name)
        ended = 0 if role == "owner" else end_links_by(connection, user, project)
        if role == "viewer":
            _end_leases(connection, project, user)
        _set(connection, project, user, role=role)
        note(connection, now, "role changed", user=by, project=project, member=pseudonym, before=before, role=role)
    return _told(f"{name} is {role} now.", ended)


def remove(store: Store, by: int, project: int, pseudonym: str) -> str:
    """Lets a member in no more; their judgements and their pseudonym stay. Says what else follows."""
    now = store.clock()
    with store.writing() as connection:
        user, name, before = _locked_member(connection, project, pseudonym)
        _keep_an_owner(connection, project, user, name)
        ended = end_links_by(connection, user, project)
        _end_leases(connection, project, user)
        _set(connection, project, user, role=None, removed_at=now)
        note(connection, now, "member removed", user=by, project=project, member=pseudonym, before=before)
        others = len(open_links(connection, now, project))
    told = _told(f"{name} was removed; their judgements stay.", ended)
    if others:
        told += " Links that are still open let in whoever has them under a new name: end those you no longer need."
    return told


def _told(told: str, ended: int) -> str:
    return told + (f" Open links that they made have ended: {ended}." if ended else "")


def _locked_member(connection: Connection, project: int, pseudonym: str) -> tuple[int, str, str]:
    """Number, name and role of a member. The project is locked, so that two owners who remove each other at once do not
    both succeed."""
    connection.execute(select(ProjectRow.id).where(ProjectRow.id == project).with_for_update())
    asked = (
        select(MemberRow.user_id, UserRow.name, MemberRow.role)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(MemberRow.project_id == project, MemberRow.pseudonym == pseudonym, MemberRow.role.is_not(None))
    )
    row = connection.execute(asked).first()
    if row is None:
        raise HTTPException(404)
    return row.user_id, row.name, str(row.role)


def _keep_an_owner(connection: Connection, project: int, user: int, name: str) -> None:
    """A project keeps an owner who can sign in."""
    asked = (
        select(MemberRow.user_id, UserRow.disabled_at)
        .join(UserRow, UserRow.id == MemberRow.user_id)
        .where(MemberRow.project_id == project, MemberRow.role == "owner")
    )
    owners = connection.execute(asked).all()
    if any(row.user_id == user for row in owners) and not any(
        row.user_id != user and row.disabled_at is None for row in owners
    ):
        raise DataError(f"'{name}' is the last owner of this project: make another one first")


def _set(connection: Connection, project: int, user: int, **values: str | int | None) -> None:
    own = update(MemberRow).where(MemberRow.project_id == project, MemberRow.user_id == user)
    connection.execute(own.values(**values))


def _end_leases(connection: Connection, project: int, user: int) -> None:
    """Documents that somebody who may not judge any more has before them go to others at once."""
    pairs = select(PairRow.id).join(TopicRow, TopicRow.id == PairRow.topic_id).where(TopicRow.project_id == project)
    connection.execute(delete(LeaseRow).where(LeaseRow.user_id == user, LeaseRow.pair_id.in_(pairs)))
