"""Can judgements be trusted for systems that were not pooled? In words, with the limits that decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from cranfield.pooling.analysis import LeftOut
    from cranfield.pooling.missing import Missing

WORDS = ("likely reusable", "to be used with care", "not reusable")


class Limit(NamedTuple):
    """What is looked at, and from where on it calls for care, and from where on it condemns."""

    of: str
    care: float
    condemned: float
    percent: bool = True

    def grade(self, value: float) -> int:
        """0, 1 or 2: fine, care, condemned. What can't be told calls for care."""
        if np.isnan(value):
            return 1
        return int(value > self.care) + int(value > self.condemned)

    def told(self, value: float) -> str:
        """The value beside its limits."""
        shown = [f"{number:.1%}" if self.percent else f"{number:.3f}" for number in (value, self.care, self.condemned)]
        value_shown = "unknown" if np.isnan(value) else shown[0]
        return f"{self.of}: {value_shown} (fine up to {shown[1]}, too much above {shown[2]})"


# Runs that find next to nothing lose large shares of it: as TREC does, the worst quarter is left out of account.
COUNTED = 0.75
# Orderings with a tau of 0.9 count as equivalent since Voorhees 2000; runs left out of TREC's pools lost a few percent
# at most where collections proved reusable (Zobel 1998; Buckley et al. 2007).
LIMITS = (
    Limit(
        "largest share of its score that a run loses when left out, the worst quarter of runs not counted",
        0.05,
        0.15,
    ),
    Limit(
        "most ranks that a run falls when left out, as a share of all ranks, a fall by one not counted",
        0.10,
        0.25,
    ),
    Limit("largest change of the order of runs when one of them is left out (1 - tau)", 0.10, 0.20, percent=False),
    Limit("share of relevant documents likely missing", 0.20, 0.50),
)


class Reusability(NamedTuple):
    """The verdict, and a sentence for each thing looked at, the worst first."""

    word: str
    reasons: tuple[str, ...]


def verdict_of(left_out: Sequence[LeftOut], systems: int, missing: Missing | None) -> Reusability:
    """The worst of what is seen when runs (groups, where they are known) are left out, and of what is missing.

    >>> verdict_of([], 2, None).word
    'to be used with care'
    """
    runs = [run for omission in left_out for run in omission.runs]
    values = (
        max((max(run.loss, 0.0) for run in runs if run.rank <= np.ceil(COUNTED * systems)), default=np.nan),
        max((run.drop if run.drop > 1 else 0 for run in runs), default=np.nan) / max(systems - 1, 1),
        1 - float(np.min([omission.tau for omission in left_out] or [np.nan])),
        missing.share.value if missing else np.nan,
    )
    grades = [limit.grade(value) for limit, value in zip(LIMITS, values, strict=True)]
    worst_first = sorted(range(len(LIMITS)), key=lambda i: -grades[i])
    reasons = tuple(f"{LIMITS[i].told(values[i])}: {('fine', 'care', 'too much')[grades[i]]}" for i in worst_first)
    return Reusability(WORDS[max(grades)], reasons)
