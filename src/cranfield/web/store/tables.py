"""The tables, the same on SQLite and PostgreSQL. Times are milliseconds of UTC; secrets are kept as digests alone.

Judgements are events that are never changed nor deleted (a trigger refuses it); `opinion` and `verdict` are what they
come to, written in the same transaction, and can be made again from the events at any time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, Index, MetaData, Text, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import Integer

# SQLite numbers rows by itself only where the type is INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")

NAMES = {
    "ix": "ix_%(column_0_N_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class StoredTable(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {int: Number, str: Text, dict[str, Any]: JSON, list[Any]: JSON}  # noqa: RUF012


class UserRow(StoredTable):
    """A person. `folded` is the name without case, so that nobody takes a name that looks the same."""

    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    folded: Mapped[str] = mapped_column(unique=True)
    password: Mapped[str | None]
    admin: Mapped[bool] = mapped_column(default=False)
    disabled_at: Mapped[int | None]
    created_at: Mapped[int]


class SessionRow(StoredTable):
    """A browser in which a person has signed in."""

    __tablename__ = "session"
    digest: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    created_at: Mapped[int]
    used_at: Mapped[int]
    until: Mapped[int]
    browser: Mapped[str]


class TokenRow(StoredTable):
    """What a program shows instead of a password; shown once, kept as a digest."""

    __tablename__ = "token"
    id: Mapped[int] = mapped_column(primary_key=True)
    public: Mapped[str] = mapped_column(unique=True)
    digest: Mapped[str]
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    name: Mapped[str]
    scopes: Mapped[list[Any]]
    created_at: Mapped[int]
    until: Mapped[int]
    used_at: Mapped[int | None]
    ended_at: Mapped[int | None]


class InvitationRow(StoredTable):
    """A link that makes an account (`setup`, the first one), lets into a project (`project`) or sets a password anew
    (`reset`)."""

    __tablename__ = "invitation"
    digest: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"), index=True)
    role: Mapped[str | None]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    created_by: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    created_at: Mapped[int]
    until: Mapped[int]
    uses_left: Mapped[int]
    __table_args__ = (CheckConstraint("uses_left >= 0", name="uses_left"),)


DELETED = "deleted"  # the state of a project that is gone


class ProjectRow(StoredTable):
    """A collection, topics, runs and people who judge. `settings` say how the queue is filled and how often a pair is
    judged (`projects/options.py`); `state` is draft, preparing, ready or failed, with the reason, or deleted: then
    nothing but this row is left, for the log of who did what (`projects/deleting.py`).

    `source` says what it is made from (`projects/sources.py`), `collection` is the digest of its documents once they
    are stored, `findings` what was found while it was prepared.
    """

    __tablename__ = "project"
    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    collection: Mapped[str]
    source: Mapped[dict[str, Any]] = mapped_column(default=dict)
    settings: Mapped[dict[str, Any]]
    findings: Mapped[list[Any]] = mapped_column(default=list)
    state: Mapped[str]
    reason: Mapped[str | None]
    created_at: Mapped[int]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


class MemberRow(StoredTable):
    """A person's role in a project, and the name under which their judgements appear. Somebody who was removed has no
    role, and keeps the name: their judgements stay."""

    __tablename__ = "member"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    role: Mapped[str | None]
    pseudonym: Mapped[str]
    joined_at: Mapped[int]
    removed_at: Mapped[int | None]
    __table_args__ = (
        UniqueConstraint("project_id", "pseudonym"),
        CheckConstraint("(role IS NULL) = (removed_at IS NOT NULL)", name="removed"),
    )


class ScaleRow(StoredTable):
    """A grading scale of a project; a judgement names the version it was made by."""

    __tablename__ = "scale"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    scale: Mapped[dict[str, Any]]
    at: Mapped[int]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


class GuidelineRow(StoredTable):
    """What assessors are told, in Markdown; every version stays."""

    __tablename__ = "guideline"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    text: Mapped[str]
    at: Mapped[int]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))


class TopicRow(StoredTable):
    """An information need; `owner_id` is the assessor whose it is, where topics have owners."""

    __tablename__ = "topic"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    place: Mapped[int]
    fields: Mapped[list[Any]]
    owner_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    __table_args__ = (UniqueConstraint("project_id", "name"),)


class RunRow(StoredTable):
    """A ranking that a project has; its file lies beside the database under its digest."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str]
    digest: Mapped[str]
    topics: Mapped[int] = mapped_column(default=0)
    rows: Mapped[int] = mapped_column(default=0)
    at: Mapped[int]
    __table_args__ = (UniqueConstraint("project_id", "name"),)


class PairRow(StoredTable):
    """A document to be judged for a topic. It is asked for while `opinions < wanted`, the least `place` first.

    `source` says why it is in the queue (pool, sample, learner, calibration), `stratum` and `chance` how it was drawn,
    `near` the group of near-duplicates it belongs to, `batch` those that are asked for in a random order.
    """

    __tablename__ = "pair"
    id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"))
    document: Mapped[str]
    source: Mapped[str]
    stratum: Mapped[int | None]
    chance: Mapped[float | None]
    near: Mapped[int | None]
    batch: Mapped[int]
    place: Mapped[int]
    wanted: Mapped[int]
    opinions: Mapped[int] = mapped_column(default=0)
    __table_args__ = (
        UniqueConstraint("topic_id", "document"),
        CheckConstraint("opinions >= 0", name="opinions"),
        Index(
            "ix_pair_open",
            "topic_id",
            "place",
            "id",
            sqlite_where=text("opinions < wanted"),
            postgresql_where=text("opinions < wanted"),
        ),
    )


class LeaseRow(StoredTable):
    """A pair that an assessor has before them; nobody else gets its slot until it ends. `shown_at` puts them in order:
    when it was given, or less than any time where it was undone, so that it comes first."""

    __tablename__ = "lease"
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    repeat: Mapped[bool] = mapped_column(primary_key=True, default=False)
    until: Mapped[int]
    shown_at: Mapped[int]


class EventRow(StoredTable):
    """A judgement, or the undoing of one. No row is ever changed or deleted."""

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    kind: Mapped[str]
    grade: Mapped[int | None]
    reason: Mapped[str | None]
    note: Mapped[str] = mapped_column(default="")
    repeat: Mapped[bool] = mapped_column(default=False)
    undoes: Mapped[str | None]
    active_ms: Mapped[int]
    away_ms: Mapped[int]
    view: Mapped[str]
    scale: Mapped[int]
    guideline: Mapped[int]
    origin: Mapped[str]
    key: Mapped[str]
    body: Mapped[str]  # digest of what was asked: the same key with another body is refused
    at: Mapped[int]
    __table_args__ = (
        UniqueConstraint("user_id", "key"),
        Index("ix_event_project", "project_id", "id"),
        Index("ix_event_user", "user_id", "id"),
    )


class OpinionRow(StoredTable):
    """What an assessor thinks of a pair now; `grade` is null where they could not tell."""

    __tablename__ = "opinion"
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    repeat: Mapped[bool] = mapped_column(primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("event.id"))
    kind: Mapped[str]
    grade: Mapped[int | None]
    at: Mapped[int]


class PostponedRow(StoredTable):
    """A pair that an assessor wants to see later: it comes when nothing else is left."""

    __tablename__ = "postponed"
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True, index=True)
    at: Mapped[int]


class VerdictRow(StoredTable):
    """What an adjudicator decided for a pair; `grade` is null where it is to have none."""

    __tablename__ = "verdict"
    pair_id: Mapped[int] = mapped_column(ForeignKey("pair.id"), primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("event.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    grade: Mapped[int | None]
    at: Mapped[int]


class ScanTermsRow(StoredTable):
    """Words that an assessor wants marked in the documents of a topic."""

    __tablename__ = "scan_terms"
    topic_id: Mapped[int] = mapped_column(ForeignKey("topic.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), primary_key=True)
    words: Mapped[list[Any]]


class ReleaseRow(StoredTable):
    """Judgements as they were given to others: a file that never changes, and how it came to be."""

    __tablename__ = "release"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    version: Mapped[int]
    digest: Mapped[str]
    provenance: Mapped[dict[str, Any]]
    at: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    __table_args__ = (UniqueConstraint("project_id", "version"),)


class JobRow(StoredTable):
    """Work that a request began and a worker ends: claimed with a lease, tried again when the worker dies."""

    __tablename__ = "job"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"), index=True)
    payload: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(index=True)  # waiting, running, done, failed
    tries: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None]
    until: Mapped[int | None]
    progress: Mapped[str | None]
    reason: Mapped[str | None]
    created_at: Mapped[int]
    ended_at: Mapped[int | None]


class AuditRow(StoredTable):
    """Who did what, each row with the digest of the one before it, so that a change of the past shows."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[int]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user.id"))
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"), index=True)
    what: Mapped[str]
    detail: Mapped[dict[str, Any]]
    digest: Mapped[str]
