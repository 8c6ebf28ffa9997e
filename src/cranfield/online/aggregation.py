"""The one aggregation: a log becomes sums of each unit, and these become moments of each arm.

The queries and the sums of units are computed where the log is (`queries`, `unit_sums`), a pass for each kind of part;
what comes back has a row for each unit (`units`), of which NumPy makes moments here (`unit_parts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cranfield.online.logs import Logs
from cranfield.online.moments_files import Aggregate, Excluded
from cranfield.online.seen_events import unseen_actions
from cranfield.online.unit_parts import UnitParts, check_segments
from cranfield.online.unit_quantiles import with_quantiles
from cranfield.online.unit_sums import UnitSums
from cranfield.online.units import (
    COUNTED,
    PRE,
    CountedUnits,
    UnitTable,
    arms_in_log,
    check_any,
    counted_units,
    with_assigned,
    with_caps,
    with_covariates,
)

if TYPE_CHECKING:
    from cranfield.online.trial import Trial

EVERY_PART = ("segments", "day", "exposure", "triggered")


def aggregate(logs: Logs, trial: Trial, *, parts: Sequence[str] = EVERY_PART) -> Aggregate:
    """Reduces a log to the moments that its trial needs, by arm; and by part: `segments`, `day`, `exposure` (days since
    a unit was first seen) and `triggered`, if the log says which queries are: each takes a pass over the log.

    Units are those of the assignments, if there are any: one without queries counts with nothing. The part by the day
    on which units were first seen costs nothing more.

    >>> from cranfield.online import read_logs, read_trial
    >>> found = aggregate(read_logs("examples"), read_trial("examples/experiment.toml"), parts=["triggered"])
    >>> found.digest, sorted(found.of("triggered"))
    ('508af3c94c5d2ebb', ['complement', 'exposed'])
    """
    check_segments(logs, trial.segments)
    sums = UnitSums(logs, trial)
    rows = sums.collected(with_excluded=True)
    queries, events = (int(rows.column(name).to_numpy().sum()) for name in COUNTED)
    found = _complete(rows, sums)
    empty = set(trial.arms) - set(found.units.arms)
    source, arms = arms_in_log(logs, trial) if empty else ("", ())
    made = UnitParts(sums, found)
    slices = made.whole()
    if "triggered" in parts:
        slices += made.by_trigger()
    if "segments" in parts:
        slices += [part for name in trial.segments for part in made.by_segment(name)]
    slices += [part for key in ("day", "exposure") if key in parts for part in made.by_query(key)]
    return Aggregate(
        experiment=trial.name,
        digest=trial.digest,
        unit=trial.unit,
        arms=tuple(trial.arms),
        metrics=sums.metric_columns(found.caps),
        slices=tuple(slices),
        units=len(found.units.arms),
        queries=queries - sum(part.queries for part in found.excluded),
        events=events - sum(part.events for part in found.excluded),
        excluded=(*found.excluded, *_unmatched(sums.seen.total, events)),
        covariates=tuple(f"{PRE}{name}" for name in trial.covariates),
        capped=dict(found.capped),
        unknown_covariates=dict(found.unknown),
        rough_quantiles=found.cut,
        actions=dict(sums.seen.actions),
        unseen=unseen_actions(logs, sums.metrics, sums.seen),
        arms_from=source,
        arms_seen=arms,
    )


def _complete(rows: Any, sums: UnitSums) -> CountedUnits:
    """Units that count, those without queries added, numerators cut at their caps, covariates beside them."""
    logs, trial = sums.logs, sums.trial
    found = counted_units(rows, list(sums.columns), assigned=logs.assignments is not None)
    found = with_assigned(found, logs, trial)
    check_any(found, logs)
    return with_covariates(with_caps(with_quantiles(found, sums), trial), logs, trial)


def _unmatched(count: int, matched: int) -> list[Excluded]:
    """Events that belong to no query of the log, or came too late."""
    reason = "events without a query, duplicates or late ones"
    return [Excluded(reason, 0, 0, count - matched)] if count > matched else []


def units_of(logs: Logs, trial: Trial) -> UnitTable:
    """The units of a log with their sums, as `aggregate` has them before it makes moments of each arm.

    >>> from cranfield.online import read_logs, read_trial
    >>> units, metrics = units_of(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> len(units.arms), metrics[0].name
    (59, 'ctr')
    """
    sums = UnitSums(logs, trial)
    rows = sums.collected(with_excluded=True)
    found = _complete(rows, sums)
    return UnitTable(found.units, sums.metric_columns(found.caps))


def pooled_units(logs: Logs, trial: Trial) -> UnitTable:
    """The units of a log in which nothing was tried yet, all of them together: what an experiment is planned from.

    >>> from cranfield.online import read_logs, read_trial
    >>> units, _ = pooled_units(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> set(units.arms.tolist())
    {'bm25'}
    """
    import narwhals as nw

    names = [name for name in logs.columns("impressions") if name not in ("variant", "experiment")]
    shown = logs.impressions.select(*names).with_columns(nw.lit(trial.control).alias("variant"))
    sums = UnitSums(replace(logs, impressions=shown, assignments=None), trial)
    found = counted_units(sums.collected(with_excluded=True), list(sums.columns), assigned=False)
    check_any(found, logs)
    found = with_covariates(with_caps(with_quantiles(found, sums), trial), logs, trial)
    return UnitTable(found.units, sums.metric_columns(found.caps))
