"""A/A replay: the units of a log dealt to the arms anew, many times, to see how often something is found in nothing.

Whatever the treatment did is dealt out evenly, so that the arms differ by chance alone: what the pipeline finds then is
a false alarm, and it should find alpha of them. Arms follow from a hash of the unit and a salt of each replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError, percent, plural, share
from cranfield.online.aggregation import units_of
from cranfield.online.analysis.estimates import estimated
from cranfield.online.units import PRE
from cranfield.render.document import Block, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Grid, separated
from cranfield.render.json_form import as_json
from cranfield.statistics.sample_ratio import ALARM, sample_ratio
from cranfield.statistics.unit_bootstrap import hashed_places, unit_hashes

if TYPE_CHECKING:
    from cranfield.online.logs import Logs
    from cranfield.online.trial import Trial

SCHEMA = "cranfield.online-replay/1"
SURE = 0.999  # the confidence with which a share of false alarms is said to be off


class ReplayShare(NamedTuple):
    """How often a metric was found to differ between arms that do not: of `asked` replays, with a 99.9 % interval, so
    wide since several metrics are looked at at once. `off` says that alpha is not in it.
    """

    metric: str
    found: int
    asked: int
    low: float
    high: float
    off: bool


@dataclass(frozen=True)
class UnitReplay:
    """What an A/A replay found: false alarms by metric, and of the sample ratio."""

    experiment: str
    digest: str
    units: int
    times: int
    seed: int
    alpha: float
    metrics: tuple[ReplayShare, ...]
    sample_ratio: ReplayShare

    @property
    def verdict(self) -> str:
        """Whether false alarms are as often as they should be, in a sentence."""
        off = [part.metric for part in self.metrics if part.off]
        if not off:
            return (
                f"False alarms are as often as they should be: {share(self.alpha)} is within what {self.times:,} "
                "replays leave open, for every metric."
            )
        return f"False alarms are not as often as they should be ({share(self.alpha)}): {', '.join(off)}."

    def __str__(self) -> str:
        return render_replay(self, "table")


def replay(logs: Logs, trial: Trial, *, times: int = 1000, seed: int = 0) -> UnitReplay:
    """Deals the units of a log to the arms anew, so many times, and tests each metric of the first arm each time.

    Tests are those of one look at alpha, adjusted by covariates if the trial has any.

    >>> from cranfield.online import read_logs, read_trial
    >>> found = replay(read_logs("examples"), read_trial("examples/experiment.toml"), times=50)
    >>> found.times, found.metrics[0].metric
    (50, 'ctr')
    """
    if times < 1 or seed < 0:
        raise UsageError(f"times must be 1 or more and the seed 0 or more, not {times} and {seed}")
    units, columns = units_of(logs, trial)
    hashes = unit_hashes(map(str, units.ids.to_pylist()))
    covariates = [f"{PRE}{name}" for name in trial.covariates]
    weights = list(trial.arms.values())
    found = {each.name: [0, 0] for each in columns}
    alarms = 0
    for number in range(times):
        arms = dealt(hashes, weights, number, seed)
        control, treatment = (units.moments(arms == arm) for arm in (0, 1))
        counts = np.bincount(arms, minlength=len(weights)).tolist()
        alarms += sample_ratio(counts, weights).p < ALARM
        for each in columns:
            p = estimated(each, control, treatment, covariates).arms.difference().p
            found[each.name][1] += not isnan(p)
            found[each.name][0] += p < trial.alpha
    shares = tuple(_share(name, hits, asked, trial.alpha) for name, (hits, asked) in found.items())
    ratio = _share("sample ratio", alarms, times, ALARM)
    return UnitReplay(trial.name, trial.digest, len(hashes), times, seed, trial.alpha, shares, ratio)


def dealt(hashes: NDArray[np.uint64], weights: Sequence[float], number: int, seed: int = 0) -> NDArray[np.int64]:
    """The arm of each unit in a replay, as a number: by its hash and a salt, as often as the weights have it.

    >>> arms = dealt(unit_hashes(map(str, range(10_000))), [3, 1], 7)
    >>> bool(0.73 < (arms == 0).mean() < 0.77)
    True
    """
    edges = np.cumsum(np.asarray(weights, dtype=np.float64))
    places = hashed_places(hashes, number, seed)
    return np.minimum(np.searchsorted(edges / edges[-1], places, side="right"), len(weights) - 1).astype(np.int64)


def _share(metric: str, found: int, asked: int, alpha: float) -> ReplayShare:
    from scipy.stats import binomtest

    if not asked:
        return ReplayShare(metric, found, asked, 0.0, 1.0, False)
    interval = binomtest(int(found), asked).proportion_ci(SURE)
    off = not interval.low <= alpha <= interval.high
    return ReplayShare(metric, int(found), asked, float(interval.low), float(interval.high), off)


def render_replay(found: UnitReplay, format: str) -> str:
    """In a format, ending in a newline; CSV and TSV have a line for each metric."""
    if format == "json":
        return as_json(SCHEMA, found, verdict=found.verdict)
    parts = [*found.metrics, found.sample_ratio]
    if format in DELIMITERS:
        return separated(
            ReplayShare._fields, [[*part[:5], "yes" if part.off else "no"] for part in parts], DELIMITERS[format]
        )
    return written(_blocks(found, parts), format)


def _blocks(found: UnitReplay, parts: Sequence[ReplayShare]) -> list[Block]:
    rows = [
        [
            part.metric,
            f"{part.found:,}",
            f"{part.asked:,}",
            share(part.found / part.asked, 1) if part.asked else "–",
            share(part.low, 1),
            share(part.high, 1),
        ]
        for part in parts
    ]
    counted = f"Trial {found.experiment}, digest {found.digest}: {plural(found.units, 'unit')}, seed {found.seed}."
    notes = [
        f"found: at {percent(found.alpha)}, where {share(found.alpha)} are to be expected; of the sample ratio "
        f"{share(ALARM, 1)}; low and high: {percent(1 - SURE)} interval of the share"
    ]
    grid = Grid(["metric", "found", "of", "share", "low", "high"], rows)
    return [Paragraph(found.verdict), Paragraph(counted), *titled("False alarms, of units dealt anew", grid, notes)]
