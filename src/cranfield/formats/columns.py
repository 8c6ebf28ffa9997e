"""Which column of a CSV, TSV, Parquet file or data frame is which: by its name.

Names are compared without regard to case; where several fit, the first of the list is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cranfield.errors import DataError, some
from cranfield.formats.base import Kind

ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "topic": ("topic", "topic_id", "query_id", "query-id", "queryid", "qid", "q_id"),
    "document": (
        "document", "document_id", "docno", "doc_id", "docid", "doc",
        "corpus-id", "corpus_id", "pid", "passage_id", "did",
    ),
    "score": ("score", "sim", "similarity"),
    "grade": ("grade", "relevance", "rel", "label", "judgement", "judgment", "score"),
    "rank": ("rank",),
    "tag": ("tag", "run_id", "runid", "run", "system"),
}  # fmt: skip


class Columns(NamedTuple):
    """Column numbers. A run with ranks and no scores has `value` point at the rank, and `kind` say so."""

    topic: int
    document: int
    value: int
    rank: int
    tag: int
    kind: str


def find_columns(names: Sequence[str], kind: Kind, given: Mapping[str, str]) -> Columns | None:
    """The columns, or None if topic, document or number cannot be found.

    >>> find_columns(["query-id", "corpus-id", "score"], "grade", {})
    Columns(topic=0, document=1, value=2, rank=-1, tag=-1, kind='grade')
    """
    known = [name.strip().lower() for name in names]

    def find(role: str) -> int:
        accepted = (given[role].strip().lower(),) if role in given else ACCEPTED[role]
        return next((known.index(name) for name in accepted if name in known), -1)

    topic, document, value = find("topic"), find("document"), find(kind)
    rank, tag = (find("rank"), find("tag")) if kind == "score" else (-1, -1)
    if topic < 0 or document < 0:
        return None
    if value < 0 and rank >= 0:
        return Columns(topic, document, rank, -1, tag, "rank")
    return None if value < 0 else Columns(topic, document, value, rank, tag, kind)


def require_columns(names: Sequence[str], kind: Kind, given: Mapping[str, str], source: str) -> Columns:
    """As find_columns, but an error that says what is accepted if they are not there."""
    unknown = sorted(set(given) - set(ACCEPTED))
    if unknown:
        raise DataError(
            f"columns names the role '{unknown[0]}'", source=source, remedy=f"Roles: {', '.join(ACCEPTED)}."
        )
    columns = find_columns(names, kind, given)
    if columns is None:
        roles = ("topic", "document", kind)
        accepted = "\n    ".join(f"{role}: {', '.join(ACCEPTED[role])}" for role in roles)
        raise DataError(
            f"no columns for {', '.join(roles)} among {some([repr(name) for name in names], 12)}",
            source=source,
            remedy=f"Accepted names, or say which is which with columns={{'topic': 'your name', …}}:\n    {accepted}",
        )
    known = [name.strip().lower() for name in names]
    for place in (columns.topic, columns.document, columns.value, columns.rank, columns.tag):
        if place >= 0 and known.count(known[place]) > 1:
            raise DataError(
                f"more than one column is called '{known[place]}'",
                source=source,
                remedy="Which one is meant? Rename the other.",
            )
    return columns
