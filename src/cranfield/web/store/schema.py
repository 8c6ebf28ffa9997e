"""The form of the database: brought to that of this version, or refused when a newer version wrote it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from cranfield.errors import DataError
from cranfield.web.store.engine import Store

MIGRATIONS = Path(__file__).parent / "migrations"


def newest() -> str:
    """The form that this version of the program works with."""
    head = ScriptDirectory(str(MIGRATIONS)).get_current_head()
    assert head is not None
    return head


def form_of(connection: Connection) -> str | None:
    """The form of a database; None of one that is empty."""
    return MigrationContext.configure(connection).get_current_revision()


def migrate(store: Store) -> tuple[str | None, str]:
    """Brings the database to the newest form in one transaction: (what it was, what it is)."""
    with store.writing() as connection:
        before = form_of(connection)
        known = {script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}
        if before is not None and before not in known:
            raise DataError(
                f"the database has form {before}, which this version of cranfield does not know: a newer one wrote it; "
                "install that version, or restore a backup"
            )
        head = newest()
        if before != head:
            command.upgrade(config(connection), "head")
        return before, head


def config(connection: Connection) -> Config:
    """What Alembic is told: where the migrations are, and which connection to use."""
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made
