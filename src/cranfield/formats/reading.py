"""How inputs are read: one noun for every function that reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, cast

from cranfield.errors import UsageError
from cranfield.formats.labels import LEVELS, Labels, checked
from cranfield.formats.layout import OURS, ROLES, ColumnNames
from cranfield.records import dataclass
from cranfield.tables import thread_count

if TYPE_CHECKING:
    from cranfield._core import Progress


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How judgements, runs and what is beside them are read, where they do not tell themselves.

    format: of files whose content and name do not say it. judgements: their kind, where they say more than a grade
    (subtopics, judges, sampled, preferences, or plain); by default the one that a measure needs, or plain. columns:
    which column is which where names are unusual, {"topic": "my_query", …}; of several names for one, the first that
    is there counts, so that inputs which differ can be read together. labels: the numbers of grades that are words,
    {"S": 3, "A": 2, …}; without any, those of NTCIR's levels L0, L1, … . digest: how files are digested, as "xxh3_128";
    by default they are not. threads: every core by default; results do not depend on it. progress: of the core, to
    watch it.

    >>> Reading(format="csv", columns={"document": "mydoc"}).columns
    {'document': ('mydoc',)}
    """

    format: str | None = None
    judgements: str | None = None
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    digest: str | None = None
    threads: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        unknown = [role for role in self.columns if role not in ROLES]
        if unknown and self.judgements in (None, "plain", *OURS):  # those of plug-ins may have columns of their own
            raise UsageError(f"columns are those of {', '.join(ROLES)}; there is no '{unknown[0]}'")
        several = {role: (names,) if isinstance(names, str) else tuple(names) for role, names in self.columns.items()}
        object.__setattr__(self, "columns", several)
        object.__setattr__(self, "labels", checked(self.labels))
        thread_count(self.threads)

    @property
    def told(self) -> ColumnNames:
        """What columns are called, by what they are: always several names."""
        return cast("ColumnNames", self.columns)

    @property
    def numbers(self) -> Labels:
        """The number of every label that a grade may be."""
        return self.labels or LEVELS

    @property
    def says_nothing(self) -> bool:
        """Whether inputs must tell their format and columns themselves."""
        return self.format is None and not self.columns

    def of(self, judgements: str) -> Reading:
        """The same for a kind of judgements, unless one was asked for."""
        return self if self.judgements is not None else replace(self, judgements=judgements)

    def in_threads(self, threads: int) -> Reading:
        """The same with another number of threads."""
        return replace(self, threads=threads)


DEFAULT = Reading()
