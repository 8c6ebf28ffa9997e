"""Who did what: rows that hold the digest of the row before them, so that a change of the past shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, insert, select, text

from cranfield.web.store.tables import AuditRow

FIRST = "0" * 64
_TURN = 0x6372616E  # the advisory lock of PostgreSQL under which rows are chained


def note(
    connection: Connection,
    now: int,
    what: str,
    *,
    user: int | None = None,
    project: int | None = None,
    **detail: object,
) -> None:
    """Adds a row, in the transaction of the act itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": _TURN})
    before = connection.execute(select(AuditRow.digest).order_by(AuditRow.id.desc()).limit(1)).scalar() or FIRST
    values = {"at": now, "user_id": user, "project_id": project, "what": what, "detail": detail}
    connection.execute(insert(AuditRow).values(digest=_digest(before, values), **values))


def broken(connection: Connection) -> Iterator[int]:
    """The numbers of rows that do not follow from the row before them."""
    before = FIRST
    for row in connection.execute(select(AuditRow).order_by(AuditRow.id)):
        values = {
            "at": row.at,
            "user_id": row.user_id,
            "project_id": row.project_id,
            "what": row.what,
            "detail": row.detail,
        }
        if _digest(before, values) != row.digest:
            yield row.id
        before = row.digest


def _digest(before: str, values: Mapping[str, object]) -> str:
    return hashlib.sha256((before + json.dumps(values, sort_keys=True)).encode()).hexdigest()
