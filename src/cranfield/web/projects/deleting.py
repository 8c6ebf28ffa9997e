"""A project in which nobody has judged goes, at its owner's wish; judgements are never deleted, nor what they are in.

Its row stays, without a name that an address could have: the log of who did what speaks of it, and its number must
never be another project's. Files that were uploaded lie under their digests, where other projects may have them too:
they stay.
"""

from __future__ import annotations

from sqlalchemy import Connection, delete, exists, select, update

from cranfield.errors import DataError
from cranfield.web.projects.making import empty, has_begun
from cranfield.web.store.audit import note
from cranfield.web.store.tables import (
    DELETED,
    GuidelineRow,
    InvitationRow,
    MemberRow,
    ProjectRow,
    ReleaseRow,
    RunRow,
    ScaleRow,
)


def why_kept(connection: Connection, project: int) -> str | None:
    """Why a project cannot be deleted now; None if it can."""
    if has_begun(connection, project):
        return "documents of this project have been judged: judgements are never deleted, and so neither is the project"
    if connection.execute(select(exists().where(ReleaseRow.project_id == project))).scalar():
        return "judgements of this project have been released: others may cite them, so it stays"
    state = connection.execute(select(ProjectRow.state).where(ProjectRow.id == project)).scalar_one()
    return "the project is being prepared: wait until that is done" if state == "preparing" else None


def delete_project(connection: Connection, now: int, project: int, *, user: int | None) -> None:
    """Deletes a project in which nobody has judged: nobody sees it any more, and its name is free."""
    row = connection.execute(select(ProjectRow).where(ProjectRow.id == project).with_for_update()).one()
    kept = why_kept(connection, project)
    if kept is not None:
        raise DataError(kept)
    empty(connection, project)
    for table in (RunRow, ScaleRow, GuidelineRow, InvitationRow, MemberRow):
        connection.execute(delete(table).where(table.project_id == project))
    gone = update(ProjectRow).where(ProjectRow.id == project)
    gone = gone.values(slug=f"{DELETED}/{project}", state=DELETED, reason=None)
    connection.execute(gone.values(collection="", source={}, settings={}, findings=[]))
    note(connection, now, "project deleted", user=user, project=project, slug=row.slug, title=row.title)
