"""Links that let somebody in: the first admin, a member of a project, or a person who forgot their password.

Looking at a link uses nothing up (previews of mail programs look); sending its form does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, delete, exists, func, insert, select, update

from cranfield.errors import DataError
from cranfield.web.accounts.people import UserAccount, end_resets, folded, new_account, set_password
from cranfield.web.accounts.roles import ROLES
from cranfield.web.accounts.secrets import digest, new_word
from cranfield.web.accounts.sessions import DAY
from cranfield.web.store.tables import DELETED, InvitationRow, MemberRow, ProjectRow, UserRow

Kind = Literal["setup", "project", "reset"]
GOOD_FOR = {"setup": 1, "project": 14, "reset": 2}  # days


@dataclass(frozen=True, kw_only=True)
class Invited:
    """What a link is for."""

    kind: Kind
    made_at: int
    project_id: int | None
    project: str | None
    slug: str | None
    role: str | None
    user_id: int | None
    user: str | None


def invite(
    connection: Connection,
    now: int,
    kind: Kind,
    *,
    by: int | None = None,
    project: int | None = None,
    role: str | None = None,
    user: int | None = None,
    uses: int = 1,
) -> str:
    """The word of a new link; setup links made before end, and so do those that set the same person's password."""
    if kind == "project" and role not in ROLES:
        raise DataError(f"a role is {', '.join(ROLES)}, not '{role}'")
    if not 1 <= uses <= 1000:
        raise DataError(f"a link is good for 1 to 1000 people, not {uses}")
    if kind == "setup":
        connection.execute(delete(InvitationRow).where(InvitationRow.kind == "setup"))
    if user is not None:
        end_resets(connection, user)
    word = new_word()
    connection.execute(
        insert(InvitationRow).values(
            digest=digest(word),
            kind=kind,
            project_id=project,
            role=role,
            user_id=user,
            created_by=by,
            created_at=now,
            until=now + GOOD_FOR[kind] * DAY,
            uses_left=uses,
        )
    )
    return word


def invited(connection: Connection, now: int, word: str) -> Invited | None:
    """What a link is for; None of one that is used up, too old or wrong, or for an account that is disabled.
    The link for the first account is good for nothing as soon as there is one."""
    asked = (
        select(InvitationRow, ProjectRow.title, ProjectRow.slug, UserRow.name)
        .outerjoin(ProjectRow, ProjectRow.id == InvitationRow.project_id)
        .outerjoin(UserRow, UserRow.id == InvitationRow.user_id)
        .where(InvitationRow.digest == digest(word), InvitationRow.until > now, InvitationRow.uses_left > 0)
        .where(UserRow.disabled_at.is_(None))
    )
    row = connection.execute(asked).first()
    if row is None or (row.kind == "setup" and connection.execute(select(UserRow.id).limit(1)).first()):
        return None
    return Invited(
        kind=row.kind,
        made_at=row.created_at,
        project_id=row.project_id,
        project=row.title,
        slug=row.slug,
        role=row.role,
        user_id=row.user_id,
        user=row.name,
    )


def accept(
    connection: Connection, now: int, word: str, *, account: UserAccount | None, name: str, stored: str
) -> UserAccount:
    """Uses a link: somebody with an account joins with it, others get one with a password that is `stored` already
    (`new_password`). The use counts only if all of it worked."""
    purpose = invited(connection, now, word)
    taken = connection.execute(
        update(InvitationRow)
        .where(InvitationRow.digest == digest(word), InvitationRow.uses_left > 0, InvitationRow.until > now)
        .values(uses_left=InvitationRow.uses_left - 1)
    )
    if purpose is None or taken.rowcount != 1:
        raise DataError("this link has been used or is too old: ask for a new one")
    if purpose.kind == "reset":
        assert purpose.user_id is not None
        set_password(connection, purpose.user_id, stored)
        row = connection.execute(select(UserRow.name, UserRow.admin).where(UserRow.id == purpose.user_id)).one()
        return UserAccount(id=purpose.user_id, name=row.name, admin=row.admin)
    if account is None:
        account = new_account(connection, now, name, stored, admin=purpose.kind == "setup")
    if purpose.kind == "setup":  # projects that were made before there was anybody, at the prompt
        nobodys = select(ProjectRow.id).where(~exists().where(MemberRow.project_id == ProjectRow.id))
        nobodys = nobodys.where(ProjectRow.state != DELETED)
        for project in connection.execute(nobodys).scalars().all():
            join(connection, now, project, account, "owner")
    if purpose.project_id is not None:
        _refuse_removed(connection, purpose, account)
        join(connection, now, purpose.project_id, account, str(purpose.role))
    return account


def join(connection: Connection, now: int, project: int, account: UserAccount, role: str) -> None:
    """Makes somebody a member; one who is keeps the higher of the two roles and their pseudonym, one who was removed
    gets their pseudonym again."""
    # The project's row is locked, so that two who join at once get two pseudonyms.
    connection.execute(select(ProjectRow.id).where(ProjectRow.id == project).with_for_update())
    row = connection.execute(
        select(MemberRow.role).where(MemberRow.project_id == project, MemberRow.user_id == account.id)
    ).first()
    if row is not None:
        higher = role if row.role is None else max(row.role, role, key=ROLES.index)
        connection.execute(
            update(MemberRow)
            .where(MemberRow.project_id == project, MemberRow.user_id == account.id)
            .values(role=higher, removed_at=None)
        )
        return
    members = select(func.count()).select_from(MemberRow).where(MemberRow.project_id == project)
    number = connection.execute(members).scalar_one()
    connection.execute(
        insert(MemberRow).values(
            project_id=project, user_id=account.id, role=role, pseudonym=f"assessor-{number + 1}", joined_at=now
        )
    )


def _refuse_removed(connection: Connection, purpose: Invited, account: UserAccount) -> None:
    """A link for several people that somebody came in by does not let them in again after they were removed."""
    removed = select(MemberRow.removed_at).where(
        MemberRow.project_id == purpose.project_id,
        MemberRow.user_id == account.id,
        MemberRow.removed_at >= purpose.made_at,
    )
    if connection.execute(removed).first():
        raise DataError("you were removed from this project after this link was made: ask its owner for a new one")


def end_links_by(connection: Connection, user: int, project: int | None = None) -> int:
    """Ends the links into projects (or into one) that a person made, when they may make none any more: how many."""
    made = delete(InvitationRow).where(InvitationRow.kind == "project", InvitationRow.created_by == user)
    if project is not None:
        made = made.where(InvitationRow.project_id == project)
    return connection.execute(made).rowcount


def person(connection: Connection, name: str) -> UserAccount | None:
    """The account of a name."""
    row = connection.execute(
        select(UserRow.id, UserRow.name, UserRow.admin).where(UserRow.folded == folded(name))
    ).first()
    return None if row is None else UserAccount(id=row.id, name=row.name, admin=row.admin)
