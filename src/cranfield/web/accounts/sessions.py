"""Browsers in which a person has signed in."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from cranfield.web.accounts.secrets import digest, new_word
from cranfield.web.store.tables import SessionRow

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
IDLE = 3 * DAY
LONGEST = 30 * DAY
NOTED = 5 * MINUTE  # how exactly the last use is kept


@dataclass(frozen=True, kw_only=True)
class OpenSession:
    """A session as its owner sees it; `name` is enough to end it and tells nothing of the word."""

    name: str
    browser: str
    created_at: int
    used_at: int
    own: bool


def begin_session(connection: Connection, now: int, user: int, browser: str) -> str:
    """The word of a new session."""
    word = new_word()
    values = {"user_id": user, "created_at": now, "used_at": now, "until": now + LONGEST, "browser": browser[:200]}
    connection.execute(insert(SessionRow).values(digest=digest(word), **values))
    connection.execute(delete(SessionRow).where((SessionRow.until < now) | (SessionRow.used_at < now - IDLE)))
    return word


def is_stale(used_at: int, now: int) -> bool:
    """Whether the last use should be noted anew."""
    return now - used_at > NOTED


def note_use(connection: Connection, now: int, word: str) -> None:
    connection.execute(update(SessionRow).where(SessionRow.digest == digest(word)).values(used_at=now))


def end_session(connection: Connection, word: str) -> None:
    connection.execute(delete(SessionRow).where(SessionRow.digest == digest(word)))


def open_sessions(connection: Connection, now: int, user: int, word: str) -> list[OpenSession]:
    """The sessions of a person, the last used first."""
    asked = select(SessionRow).where(
        SessionRow.user_id == user, SessionRow.until > now, SessionRow.used_at > now - IDLE
    )
    return [
        OpenSession(
            name=row.digest[:16],
            browser=row.browser,
            created_at=row.created_at,
            used_at=row.used_at,
            own=row.digest == digest(word),
        )
        for row in connection.execute(asked.order_by(SessionRow.used_at.desc()))
    ]


def end_named(connection: Connection, user: int, name: str) -> bool:
    """Ends one of a person's sessions; whether there was such a one."""
    named = delete(SessionRow).where(SessionRow.user_id == user, SessionRow.digest.startswith(name, autoescape=True))
    return len(name) == 16 and connection.execute(named).rowcount > 0
