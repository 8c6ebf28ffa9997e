"""What is kept of a log: moments of the units of each arm, as a whole and by part; as JSON, read again, added up.

A warehouse or a cluster that computes the same numbers writes the same file, and nothing else need leave it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cranfield.errors import DataError, UsageError, either
from cranfield.formats.output import save
from cranfield.formats.sources import open_source, utf8_text
from cranfield.online.metrics import Better, Per
from cranfield.render.json_form import as_json
from cranfield.statistics.moments import Moments, total

SCHEMA = "cranfield.online-moments/1"
WHOLE = "all"
# What parts are by. A segment is `segment:` and the name of its column.
PARTS = (WHOLE, "day", "first day", "exposure", "triggered")
SEGMENT = "segment:"


class MetricColumns(NamedTuple):
    """Where the sums of a metric stand in the moments: the metric is mean(numerator) / mean(denominator).

    Without a denominator it is the mean of the numerator over units. `censored` are the queries of which only a bound
    is known. `cap` is the value at which the numerator of a unit was cut, if it was. Of a `quantile` the numerators are
    what units add to that of their arm (`statistics.clustered_quantiles`).
    """

    name: str
    better: Better
    per: Per
    numerator: str
    denominator: str | None = None
    censored: str | None = None
    cap: float | None = None
    quantile: float | None = None


class MomentsPart(NamedTuple):
    """The moments of the units of an arm in a part of the log: all of it, a segment, a day, …"""

    by: str
    value: str
    arm: str
    moments: Moments


class Excluded(NamedTuple):
    """What does not count for a reason: how many units, queries and events of theirs."""

    reason: str
    units: int
    queries: int
    events: int


@dataclass(frozen=True, eq=False)
class Aggregate:
    """A log reduced to what the statistics of its trial need.

    `slices` has the moments, of which `whole` are those of all units. `excluded` says what was left out and why,
    `capped` how many units of each metric were cut at its cap, `unknown_covariates` how many units have no value of a
    covariate and count as 0, `rough_quantiles` which quantiles have too few units. `actions` are those of the log, with
    their events, and `unseen` the action of each metric that counts one it has not. Where an arm has no units,
    `arms_from` is the file that says who is in which, and `arms_seen` are the arms that it has.

    >>> from cranfield.online import aggregate, read_logs, read_trial
    >>> found = aggregate(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> {arm: moments.count for arm, moments in found.whole.items()}
    {'bm25': 30, 'dense': 29}
    """

    experiment: str
    digest: str
    unit: str
    arms: tuple[str, ...]
    metrics: tuple[MetricColumns, ...]
    slices: tuple[MomentsPart, ...]
    units: int
    queries: int
    events: int
    excluded: tuple[Excluded, ...] = ()
    covariates: tuple[str, ...] = ()
    capped: Mapping[str, int] | None = None
    unknown_covariates: Mapping[str, int] | None = None
    rough_quantiles: tuple[str, ...] = ()
    actions: Mapping[str, int] | None = None
    unseen: Mapping[str, str] | None = None
    arms_from: str = ""
    arms_seen: tuple[str, ...] = ()

    @property
    def whole(self) -> dict[str, Moments]:
        """The moments of all units, by arm."""
        return self.of(WHOLE).get("", {})

    def of(self, by: str) -> dict[str, dict[str, Moments]]:
        """The moments of each part by its value, and of each arm in it: `day`, `first day` (on which units were first
        seen), `exposure` (days since then), `triggered` (exposed, complement), or `segment:` and a column.
        """
        found: dict[str, dict[str, Moments]] = {}
        for part in self.slices:
            if part.by == by:
                found.setdefault(part.value, {})[part.arm] = part.moments
        return found

    def metric(self, name: str) -> MetricColumns:
        """Where a metric stands."""
        for columns in self.metrics:
            if columns.name == name:
                return columns
        raise UsageError(
            f"there are no moments of the metric '{name}'; there is {either(m.name for m in self.metrics)}"
        )

    def to_plain(self) -> dict[str, object]:
        """The form in JSON."""
        return {
            "experiment": self.experiment,
            "digest": self.digest,
            "unit": self.unit,
            "arms": list(self.arms),
            "units": self.units,
            "queries": self.queries,
            "events": self.events,
            "metrics": [columns._asdict() for columns in self.metrics],
            "covariates": list(self.covariates),
            "excluded": [part._asdict() for part in self.excluded],
            "capped": dict(self.capped or {}),
            "unknown_covariates": dict(self.unknown_covariates or {}),
            "rough_quantiles": list(self.rough_quantiles),
            "actions": None if self.actions is None else dict(self.actions),
            "unseen": None if self.unseen is None else dict(self.unseen),
            "arms_from": self.arms_from,
            "arms_seen": list(self.arms_seen),
            "slices": [{"by": s.by, "value": s.value, "arm": s.arm, **s.moments.to_plain()} for s in self.slices],
        }

    def save(self, path: str) -> None:
        """Writes the moments to a file."""
        save(path, [as_json(SCHEMA, self.to_plain())])


def read_moments(path: str) -> Aggregate:
    """The moments of a file, as `Aggregate.save` or a warehouse wrote it.

    >>> import tempfile, pathlib
    >>> from cranfield.online import aggregate, read_logs, read_trial
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "moments.json"
    >>> aggregate(read_logs("examples"), read_trial("examples/experiment.toml")).save(str(file))
    >>> read_moments(str(file)).arms
    ('bm25', 'dense')
    """
    text = utf8_text(open_source(path))
    try:
        document = json.loads(text)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", source=path) from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise DataError(f"is no file of moments: its schema is not {SCHEMA}", source=path)
    try:
        return _of_plain(document, path)
    except KeyError as error:
        raise DataError(f"has no {error}", source=path) from None
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"is not as a file of moments should be: {error}", source=path) from None


def _of_plain(document: dict[str, Any], path: str) -> Aggregate:
    metrics = tuple(MetricColumns(**columns) for columns in document["metrics"])
    slices = tuple(
        MomentsPart(part["by"], part["value"], part["arm"], Moments.from_plain(_moments(part), source=path))
        for part in document["slices"]
    )
    arms = tuple(document["arms"])
    for part in slices:
        if part.by not in PARTS and not part.by.startswith(SEGMENT):
            raise DataError(f"has moments by '{part.by}': that is {either(PARTS)} or {SEGMENT}NAME", source=path)
        if part.arm not in arms:
            raise DataError(f"has moments of the arm '{part.arm}', and arms {either(arms)}", source=path)
        for columns in metrics:
            for name in filter(None, (columns.numerator, columns.denominator, columns.censored)):
                if name not in part.moments.names:
                    raise DataError(f"has no moments of '{name}', which {columns.name} needs", source=path)
    if {part.arm for part in slices if part.by == WHOLE} != set(arms):
        raise DataError(f"has not the moments by '{WHOLE}' of every arm", source=path)
    return Aggregate(
        experiment=str(document["experiment"]),
        digest=str(document["digest"]),
        unit=str(document["unit"]),
        arms=arms,
        metrics=metrics,
        slices=slices,
        units=int(document["units"]),
        queries=int(document["queries"]),
        events=int(document["events"]),
        excluded=tuple(Excluded(**part) for part in document.get("excluded", ())),
        covariates=tuple(document.get("covariates", ())),
        capped=dict(document.get("capped", {})),
        unknown_covariates=dict(document.get("unknown_covariates", {})),
        rough_quantiles=tuple(document.get("rough_quantiles", ())),
        actions=None if document.get("actions") is None else dict(document["actions"]),
        unseen=None if document.get("unseen") is None else dict(document["unseen"]),
        arms_from=str(document.get("arms_from", "")),
        arms_seen=tuple(document.get("arms_seen", ())),
    )


def _moments(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name not in ("by", "value", "arm")}


def added(parts: Sequence[Aggregate]) -> Aggregate:
    """The moments of logs that have different units, as shards by a hash of the unit, put together.

    They must be of one trial, and caps must be values, the same in all: a quantile of each part is none of the whole.
    So metrics that are quantiles cannot be added.

    >>> from cranfield.online import aggregate, read_logs, read_trial
    >>> half = aggregate(read_logs("examples"), read_trial("examples/experiment.toml"))
    >>> added([half]).units
    59
    """
    if not parts:
        raise UsageError("there are no moments to add")
    first = parts[0]
    quantiles = [columns.name for columns in first.metrics if columns.quantile is not None]
    if quantiles and len(parts) > 1:
        raise UsageError(f"{quantiles[0]} is a quantile: those of parts cannot be added, so aggregate the whole log")
    for other in parts[1:]:
        if other.digest != first.digest:
            raise UsageError(f"moments of trials with digests {first.digest} and {other.digest} cannot be added")
        if other.metrics != first.metrics:
            raise UsageError("moments whose metrics or caps differ cannot be added: cap at a value, not at a quantile")
    gathered: dict[tuple[str, str, str], list[Moments]] = {}
    reasons: dict[str, list[Excluded]] = {}
    for part in parts:
        for piece in part.slices:
            gathered.setdefault(piece[:3], []).append(piece.moments)
        for left_out in part.excluded:
            reasons.setdefault(left_out.reason, []).append(left_out)
    return replace(
        first,
        slices=tuple(MomentsPart(*key, total(of)) for key, of in gathered.items()),
        units=sum(part.units for part in parts),
        queries=sum(part.queries for part in parts),
        events=sum(part.events for part in parts),
        excluded=tuple(
            Excluded(reason, sum(e.units for e in of), sum(e.queries for e in of), sum(e.events for e in of))
            for reason, of in reasons.items()
        ),
        capped=_summed([part.capped for part in parts]),
        unknown_covariates=_summed([part.unknown_covariates for part in parts]),
        actions=_summed([part.actions for part in parts]),
        unseen={name: action for name, action in (first.unseen or {}).items() if _in_all(name, parts)},
        arms_seen=tuple(dict.fromkeys(arm for part in parts for arm in part.arms_seen)),
    )


def _in_all(name: str, parts: Sequence[Aggregate]) -> bool:
    """Whether the action that a metric counts is in none of them."""
    return all(name in (part.unseen or {}) for part in parts)


def _summed(counts: Sequence[Mapping[str, int] | None]) -> dict[str, int]:
    found: dict[str, int] = {}
    for of in counts:
        for name, count in (of or {}).items():
            found[name] = found.get(name, 0) + count
    return found
