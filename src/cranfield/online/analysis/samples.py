"""Has every arm its share of the units: at this look, day by day, in segments and where the lists differ?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import share
from cranfield.online.moments_files import SEGMENT, Aggregate
from cranfield.online.nearest import nearest_first
from cranfield.statistics.moments import Moments
from cranfield.statistics.sample_ratio import ALARM, sample_ratio, sequential_sample_ratio

if TYPE_CHECKING:
    from cranfield.online.trial import Trial


class ArmSample(NamedTuple):
    """The units of arms, or of a part of them: their counts, and p of their being dealt by the weights."""

    part: str
    counts: tuple[int, ...]
    p: float


class DailySample(NamedTuple):
    """The units first seen up to a day, by arm, and the p of the sequential test so far."""

    day: str
    counts: tuple[int, ...]
    p: float


class SampleCheck(NamedTuple):
    """What the numbers of units say of the assignment. `p` is of one look, `sequential_p` holds at all looks together.

    `parts` are segments and units for which lists differ; `days` are units as they were first seen. `of_seen` says
    that units without queries are not known, so that the ratio is one of those who came. `empty` tells of an arm
    without units.
    """

    arms: tuple[str, ...]
    counts: tuple[int, ...]
    expected: tuple[float, ...]
    p: float
    sequential_p: float
    parts: tuple[ArmSample, ...]
    days: tuple[DailySample, ...]
    empty: str | None = None

    @property
    def broken(self) -> str | None:
        """Why no result is to be trusted; None if all is well. An arm without units is broken too."""
        if self.empty is not None:
            return self.empty
        least = min(value for value in (self.p, self.sequential_p) if not isnan(value))
        if least >= ALARM:
            return None
        total = sum(self.counts)
        told = ", ".join(
            f"{arm} has {count:,} units ({share(count / total, 2)}) where {wanted:,.0f} are expected"
            for arm, count, wanted in zip(self.arms, self.counts, self.expected, strict=True)
        )
        return f"the sample ratio is off (p = {least:.2g}, alarm at {ALARM:g}): {told}"


def sample_check(found: Aggregate, trial: Trial) -> SampleCheck:
    """The sample ratio of a log.

    >>> from cranfield.online import aggregate, read_logs, read_trial
    >>> trial = read_trial("examples/experiment.toml")
    >>> sample_check(aggregate(read_logs("examples"), trial, parts=()), trial).counts
    (30, 29)
    """
    arms, weights = tuple(trial.arms), list(trial.arms.values())
    whole = _counts(found.whole, arms)
    fixed = sample_ratio(whole, weights)
    days = _by_day(found.of("first day"), arms, weights)
    # Units without queries are assigned, and not seen on any day: who came is no sample of who was assigned.
    seen = days[-1].counts if days else ()
    at_looks = [day.counts for day in days] if seen == whole else [whole]
    sequential = sequential_sample_ratio(at_looks, weights).p[-1] if sum(whole) else float("nan")
    parts = []
    for by in dict.fromkeys(part.by for part in found.slices):
        if by.startswith(SEGMENT) or by == "triggered":
            for value, of in found.of(by).items():
                counts = _counts(of, arms)
                name = value if by == "triggered" else f"{by.removeprefix(SEGMENT)} = {value}"
                parts.append(ArmSample(name, counts, sample_ratio(counts, weights).p))
    empty = _empty_told(found, arms, whole)
    return SampleCheck(arms, whole, fixed.expected, fixed.p, float(sequential), tuple(parts), days, empty)


def _empty_told(found: Aggregate, arms: Sequence[str], counts: Sequence[int]) -> str | None:
    """Which arm has no units, which file says who is in which arm, and which arms that has."""
    empty = [arm for arm, count in zip(arms, counts, strict=True) if not count]
    if not empty:
        return None
    if empty[0] in found.arms_seen:
        return f"no unit of the arm {empty[0]} counts, though {found.arms_from} has some"
    has = f": {found.arms_from} has {nearest_first(empty[0], found.arms_seen)}" if found.arms_seen else ""
    return f"no unit is in the arm {empty[0]}{has}"


def _counts(of: Mapping[str, Moments], arms: Sequence[str]) -> tuple[int, ...]:
    return tuple(of[arm].count if arm in of else 0 for arm in arms)


def _by_day(
    days: Mapping[str, Mapping[str, Moments]], arms: Sequence[str], weights: Sequence[float]
) -> tuple[DailySample, ...]:
    if not days:
        return ()
    names = sorted(days)
    counts = np.cumsum([_counts(days[day], arms) for day in names], axis=0)
    ps = sequential_sample_ratio(counts, weights).p
    return tuple(
        DailySample(day, tuple(map(int, row)), float(p)) for day, row, p in zip(names, counts, ps, strict=True)
    )
