"""Alembic runs this for each migration, on the connection that `schema.py` gives it."""

from __future__ import annotations

from alembic import context

from cranfield.web.store.tables import StoredTable

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=StoredTable.metadata,
    render_as_batch=True,  # SQLite changes a table by writing it anew
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
