"""Where runs stand among each other, best first, as columns beside their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure
    from cranfield.render.grid import Field
    from cranfield.render.json_form import Json

UNKNOWN = "–"


class Earlier(NamedTuple):
    """Where a run stood before, among the runs that there were, and with which mean."""

    rank: int
    mean: float


@dataclass(frozen=True, kw_only=True)
class Places:
    """For each run, in the order of the results, its rank and tier by a measure and perhaps where it stood before.

    `rule` says in words how tiers are decided, or why there are none. `source` is what the earlier places are from.
    """

    measure: Measure
    means: tuple[float, ...]
    tiers: tuple[str, ...]
    rule: str
    earlier: tuple[Earlier | None, ...] | None = None
    source: str | None = None

    @property
    def ranks(self) -> list[int]:
        """The rank of each run."""
        return ranks(self.means, self.measure)

    @property
    def order(self) -> list[int]:
        """The numbers of the runs, best first, those of one rank as they were given."""
        found = self.ranks
        return sorted(range(len(found)), key=found.__getitem__)

    def header(self) -> tuple[list[str], list[str]]:
        """What stands above the columns before the name of a run, and above those after its scores."""
        after = ["rank before", "moved", f"{self.measure} before", "change"]
        return ["rank", "tier"], [] if self.earlier is None else after

    def cells(self, run: int) -> tuple[list[str], list[str]]:
        """The same columns of a run, as people read them."""
        lead = [str(self.ranks[run]), self.tiers[run]]
        if self.earlier is None:
            return lead, []
        before = self.earlier[run]
        if before is None:
            return lead, [UNKNOWN] * 4
        moved, change = before.rank - self.ranks[run], self.means[run] - before.mean
        return lead, [str(before.rank), f"{moved:+d}" if moved else "0", f"{before.mean:.4f}", f"{change:+z.4f}"]

    def exact(self, run: int) -> tuple[list[Field], list[Field]]:
        """The same in full precision, None for what is not known."""
        lead: list[Field] = [self.ranks[run], self.tiers[run]]
        if self.earlier is None:
            return lead, []
        before = self.earlier[run]
        if before is None:
            return lead, [None] * 4
        return lead, [before.rank, before.rank - self.ranks[run], before.mean, self.means[run] - before.mean]

    def to_dict(self, run: int) -> dict[str, Json]:
        """What the JSON form has of a run."""
        document: dict[str, Json] = {"rank": self.ranks[run], "tier": self.tiers[run]}
        if self.earlier is not None:
            names = ("rank_before", "moved", "mean_before", "change")
            document |= dict(zip(names, self.exact(run)[1], strict=True))
        return document


def ranks(means: Sequence[float], measure: Measure) -> list[int]:
    """The rank of each mean, 1 for the best; means that are the same to rounding share one, and the next is left out.

    >>> from cranfield.measures import AP, E
    >>> ranks([0.3, 0.1 + 0.2, 0.5, 0.1], AP), ranks([0.3, 0.5], E @ 10)
    ([2, 2, 1, 4], [1, 2])
    """
    found = [0] * len(means)
    first = 0.0
    rank = 0
    for place, run in enumerate(sorted(range(len(means)), key=lambda run: -measure.sign * means[run]), start=1):
        if place == 1 or not isclose(means[run], first, rel_tol=1e-12):
            rank, first = place, means[run]
        found[run] = rank
    return found
