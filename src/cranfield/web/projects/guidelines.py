"""What assessors are told, in Markdown: a new version is a new row, and every old one can be read."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from cranfield.web.cleaning import guideline_html
from cranfield.web.store.audit import note
from cranfield.web.store.tables import GuidelineRow, ProjectRow

USUAL = """\
Judge each document by itself, for the question as it is written.

A document is relevant if it helps to answer the question, however little; you need not agree with it, and it does not
matter whether you have read the same elsewhere. If you can't tell, say so and why.
"""


@dataclass(frozen=True, kw_only=True)
class GuidelineVersion:
    """A version of the guidelines, from 1, and when it was written."""

    version: int
    text: str
    at: int

    @property
    def html(self) -> str:
        """As it stands in a page."""
        return guideline_html(self.text)


def guidelines(connection: Connection, project: int, version: int | None = None) -> GuidelineVersion | None:
    """The guidelines as they are now, or as they were; None if there never were such."""
    asked = select(GuidelineRow).where(GuidelineRow.project_id == project)
    if version is not None:
        asked = asked.where(GuidelineRow.version == version)
    row = connection.execute(asked.order_by(GuidelineRow.version.desc()).limit(1)).first()
    return None if row is None else GuidelineVersion(version=row.version, text=row.text, at=row.at)


def guideline_versions(connection: Connection, project: int) -> list[tuple[int, int]]:
    """Every version and when it was written, the newest first."""
    asked = select(GuidelineRow.version, GuidelineRow.at).where(GuidelineRow.project_id == project)
    return [(row.version, row.at) for row in connection.execute(asked.order_by(GuidelineRow.version.desc()))]


def new_guidelines(connection: Connection, now: int, project: int, text: str, *, user: int | None) -> int:
    """Adds a version; the same text again is none."""
    text = text.replace("\r\n", "\n").replace("\0", "")
    guideline_html(text)  # too long a text is refused before it is kept
    connection.execute(select(ProjectRow.id).where(ProjectRow.id == project).with_for_update())
    last = connection.execute(select(func.max(GuidelineRow.version)).where(GuidelineRow.project_id == project)).scalar()
    before = guidelines(connection, project)
    if before is not None and before.text == text:
        return before.version
    version = (last or 0) + 1
    values = {"project_id": project, "version": version, "text": text, "at": now, "user_id": user}
    connection.execute(insert(GuidelineRow).values(**values))
    note(connection, now, "guidelines", user=user, project=project, version=version)
    return version
