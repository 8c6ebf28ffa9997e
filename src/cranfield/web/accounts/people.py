"""Accounts: names, and what is known of a person who visits."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from cranfield.errors import DataError
from cranfield.web.accounts.passwords import checked_password, hashed, outdated, verified
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import InvitationRow, SessionRow, UserRow

LONGEST_NAME = 64


@dataclass(frozen=True, kw_only=True)
class UserAccount:
    """A person with an account."""

    id: int
    name: str
    admin: bool


def folded(name: str) -> str:
    """A name as it is compared: without case and with one way of writing each letter.

    >>> folded("ÅSA") == folded("Åsa")
    True
    """
    return unicodedata.normalize("NFKC", name).casefold()


def checked_name(name: str) -> str:
    """A name that can be shown and typed."""
    name = unicodedata.normalize("NFC", name).strip()
    if not name or len(name) > LONGEST_NAME:
        raise DataError(f"a name has 1 to {LONGEST_NAME} characters")
    if not re.fullmatch(r"[\w][\w .'@+-]*", name):
        raise DataError("a name has letters, digits, blanks and . ' @ + - _ and begins with a letter or a digit")
    return name


def new_password(password: str, *names: str) -> str:
    """What is stored of a new password. It takes time: never while a transaction is open."""
    return hashed(checked_password(password, *names))


def new_account(connection: Connection, now: int, name: str, stored: str, *, admin: bool = False) -> UserAccount:
    """Makes an account; a name that somebody has is refused."""
    name = checked_name(name)
    if connection.execute(select(UserRow.id).where(UserRow.folded == folded(name))).first():
        raise DataError(f"the name '{name}' is taken")
    values = {"name": name, "folded": folded(name), "password": stored, "admin": admin, "created_at": now}
    number = connection.execute(insert(UserRow).values(**values).returning(UserRow.id)).scalar_one()
    return UserAccount(id=number, name=name, admin=admin)


def signed_in(store: Store, name: str, password: str) -> UserAccount | None:
    """The account of a name and a password, unless it is disabled; None after the same time for a name nobody has.
    A password that was stored with costs of another day is stored anew."""
    asked = select(UserRow.id, UserRow.name, UserRow.admin, UserRow.password).where(
        UserRow.folded == folded(name), UserRow.disabled_at.is_(None)
    )
    with store.reading() as connection:
        row = connection.execute(asked).first()
    # No connection is held meanwhile: it takes time, and others wait for one.
    if not verified(None if row is None else row.password, password) or row is None:
        return None
    if outdated(row.password):
        renewed = hashed(password)
        with store.writing() as connection:
            same = (UserRow.id == row.id) & (UserRow.password == row.password)
            connection.execute(update(UserRow).where(same).values(password=renewed))
    return UserAccount(id=row.id, name=row.name, admin=row.admin)


def set_password(connection: Connection, user: int, stored: str) -> None:
    """Sets a password; every session of the person ends, and every link that would set another."""
    connection.execute(update(UserRow).where(UserRow.id == user).values(password=stored))
    end_sessions(connection, user)
    end_resets(connection, user)


def end_resets(connection: Connection, user: int) -> None:
    """Ends the links that set a person's password."""
    connection.execute(delete(InvitationRow).where(InvitationRow.kind == "reset", InvitationRow.user_id == user))


def end_sessions(connection: Connection, user: int) -> None:
    """Signs a person out everywhere."""
    connection.execute(delete(SessionRow).where(SessionRow.user_id == user))
