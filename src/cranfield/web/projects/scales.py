"""Grading scales of a project: a new version is a new row, and a grade that was used does not vanish."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from cranfield.errors import DataError, either
from cranfield.judging.scale import Scale
from cranfield.web.store.audit import note
from cranfield.web.store.tables import EventRow, ProjectRow, ScaleRow


@dataclass(frozen=True, kw_only=True)
class ScaleVersion:
    """A scale, its number from 1, and when it was made."""

    version: int
    scale: Scale
    at: int


def current_scale(connection: Connection, project: int) -> ScaleVersion:
    """The scale by which judgements are made now."""
    asked = select(ScaleRow).where(ScaleRow.project_id == project).order_by(ScaleRow.version.desc()).limit(1)
    row = connection.execute(asked).first()
    if row is None:
        raise DataError("the project has no scale")
    return ScaleVersion(version=row.version, scale=Scale.from_json(row.scale), at=row.at)


def scale_version(connection: Connection, project: int, version: int) -> ScaleVersion | None:
    """An earlier scale; None if there never was one of this number."""
    row = connection.execute(
        select(ScaleRow).where(ScaleRow.project_id == project, ScaleRow.version == version)
    ).first()
    return None if row is None else ScaleVersion(version=row.version, scale=Scale.from_json(row.scale), at=row.at)


def new_scale(connection: Connection, now: int, project: int, scale: Scale, *, user: int | None) -> int:
    """Adds a version, unless a grade that somebody gave would be gone; the same scale again is no new version."""
    connection.execute(select(ProjectRow.id).where(ProjectRow.id == project).with_for_update())
    last = connection.execute(select(func.max(ScaleRow.version)).where(ScaleRow.project_id == project)).scalar()
    if last is not None:
        if current_scale(connection, project).scale == scale:
            return int(last)
        gone = [grade for grade in used_grades(connection, project) if grade not in scale.values]
        if gone:
            grades = either(map(str, gone))
            raise DataError(f"documents were graded {grades}: a grade that was given stays on the scale")
    version = (last or 0) + 1
    values = {"project_id": project, "version": version, "scale": scale.to_json(), "at": now, "user_id": user}
    connection.execute(insert(ScaleRow).values(**values))
    note(connection, now, "scale", user=user, project=project, version=version)
    return version


def used_grades(connection: Connection, project: int) -> list[int]:
    """The grades that were ever given in a project."""
    asked = select(EventRow.grade).where(EventRow.project_id == project, EventRow.grade.is_not(None)).distinct()
    return sorted(int(grade) for grade in connection.execute(asked).scalars() if grade is not None)
