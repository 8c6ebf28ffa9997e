"""Tokens: what a program shows to the API. `cran_<public>_<secret>`, shown once, for some acts and some time."""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, insert, select, update

from cranfield.errors import DataError
from cranfield.web.accounts.people import UserAccount
from cranfield.web.accounts.secrets import digest, new_word, public_name
from cranfield.web.accounts.sessions import DAY, is_stale
from cranfield.web.store.tables import TokenRow, UserRow

SCOPES = {
    "read": "read what its owner may read",
    "judge": "lease documents and judge them",
    "manage": "make and change projects, members and releases",
    "people": "disable accounts, make admins and links for new passwords (admins of the server alone)",
}
MOST_DAYS, USUAL_DAYS = 365, 180
PREFIX = "cran"


@dataclass(frozen=True, kw_only=True)
class ShownToken:
    """A token as its owner sees it afterwards."""

    public: str
    name: str
    scopes: tuple[str, ...]
    created_at: int
    until: int
    used_at: int | None


@dataclass(frozen=True, kw_only=True)
class Bearer:
    """Who shows a token, and what it is for."""

    account: UserAccount
    scopes: frozenset[str]
    public: str
    stale: bool  # its last use should be noted


def new_token(connection: Connection, now: int, user: int, name: str, scopes: list[str], days: int) -> str:
    """A token, whole for the only time."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise DataError(f"a token is for some of {', '.join(SCOPES)}, not {', '.join(unknown) or 'nothing'}")
    if not 1 <= days <= MOST_DAYS:
        raise DataError(f"a token is good for 1 to {MOST_DAYS} days, not {days}")
    public, secret = public_name(), new_word()
    connection.execute(
        insert(TokenRow).values(
            public=public,
            digest=digest(secret),
            user_id=user,
            name=name.strip()[:64] or "token",
            scopes=sorted(set(scopes)),
            created_at=now,
            until=now + days * DAY,
        )
    )
    return f"{PREFIX}_{public}_{secret}"


def bearer(connection: Connection, now: int, shown: str) -> Bearer | None:
    """Who a token stands for; None of one that is wrong, ended or too old."""
    prefix, _, rest = shown.partition("_")
    public, _, secret = rest.partition("_")
    if prefix != PREFIX or not secret:
        return None
    row = connection.execute(_BY_NAME, {"public": public, "now": now}).first()
    if row is None or not hmac.compare_digest(row.digest, digest(secret)):
        return None
    account = UserAccount(id=row.id, name=row.name, admin=row.admin)
    stale = row.used_at is None or is_stale(row.used_at, now)
    return Bearer(account=account, scopes=frozenset(row.scopes), public=public, stale=stale)


_BY_NAME = (  # built once: it is run for every request
    select(TokenRow.digest, TokenRow.scopes, TokenRow.used_at, UserRow.id, UserRow.name, UserRow.admin)
    .join(UserRow, UserRow.id == TokenRow.user_id)
    .where(
        TokenRow.public == bindparam("public"),
        TokenRow.until > bindparam("now"),
        TokenRow.ended_at.is_(None),
        UserRow.disabled_at.is_(None),
    )
)


def note_token(connection: Connection, now: int, public: str) -> None:
    connection.execute(update(TokenRow).where(TokenRow.public == public).values(used_at=now))


def tokens_of(connection: Connection, now: int, user: int) -> list[ShownToken]:
    """The tokens of a person that still work, the newest first."""
    asked = select(TokenRow).where(TokenRow.user_id == user, TokenRow.until > now, TokenRow.ended_at.is_(None))
    return [
        ShownToken(
            public=row.public,
            name=row.name,
            scopes=tuple(row.scopes),
            created_at=row.created_at,
            until=row.until,
            used_at=row.used_at,
        )
        for row in connection.execute(asked.order_by(TokenRow.id.desc()))
    ]


def end_token(connection: Connection, now: int, user: int, public: str) -> bool:
    """Ends one of a person's tokens; whether there was such a one."""
    own = update(TokenRow).where(TokenRow.user_id == user, TokenRow.public == public, TokenRow.ended_at.is_(None))
    return connection.execute(own.values(ended_at=now)).rowcount > 0
