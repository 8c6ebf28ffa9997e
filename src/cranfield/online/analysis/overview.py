"""Many experiments at once: which there are, how far each is, and which of them get into each other's way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import plural, share
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import Printed
from cranfield.online.analysis.looking import unplanned_looks
from cranfield.online.trial_ledger import TrialLook, changed_since, ledger_of, read_looks
from cranfield.render.document import titled, written
from cranfield.render.grid import DELIMITERS, Grid, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.online.trial import Trial

SCHEMA = "cranfield.online-trials/1"


class TrialState(NamedTuple):
    """A trial and what its ledger says: looks made with the units of the last, and whether its plan was changed.

    `planned` are the looks that the plan has, `unplanned` those made that it has not.
    """

    experiment: str
    digest: str
    primary: str
    arms: tuple[str, ...]
    salt: str
    start: str | None
    end: str | None
    looks: int
    planned: int | None
    units: int
    maximum: int | None
    changed: bool
    unplanned: int = 0


@dataclass(frozen=True, repr=False)
class TrialOverview(Printed):
    """All trials that were asked for, in the order of their start."""

    trials: tuple[TrialState, ...]
    warnings: tuple[Finding, ...] = ()

    def _rendered(self, format: str) -> str:
        return render_overview(self, format)


def overview_of(trials: Sequence[Trial], *, ledger: str | None = None) -> TrialOverview:
    """The trials with their looks, from one ledger for all or from that beside each.

    Two that run at once with the same salt are told: they put the same units into the same arms, so that neither can be
    told from the other.

    >>> from cranfield.online import Trial
    >>> both = [Trial(name, {"a": 1, "b": 1}, primary="ctr", salt="s") for name in ("first", "second")]
    >>> [found.code for found in overview_of(both).warnings]
    ['same-salt']
    """
    ordered = sorted(trials, key=lambda trial: (trial.start is not None, trial.start and trial.start.timestamp()))
    states, warnings = [], []
    for trial in ordered:
        place = ledger or ledger_of(trial)
        looks = [] if place is None else read_looks(place, trial)
        changed = changed_since(looks, trial)
        warnings += changed
        states.append(_state(trial, looks, changed=bool(changed)))
    for first, second in combinations(ordered, 2):
        warnings += _clash(first, second)
    return TrialOverview(tuple(states), tuple(warnings))


def _state(trial: Trial, looks: Sequence[TrialLook], *, changed: bool) -> TrialState:
    made = len({(look.units, look.queries) for look in looks})
    planned = None if trial.looks.spending == "always-valid" else len(trial.looks.at)
    times = [None if time is None else time.isoformat() for time in (trial.start, trial.end)]
    return TrialState(
        trial.name,
        trial.digest,
        trial.primary,
        tuple(trial.arms),
        trial.salt,
        times[0],
        times[1],
        made,
        planned,
        looks[-1].units if looks else 0,
        trial.maximum,
        changed,
        unplanned_looks(trial, looks),
    )


def _clash(first: Trial, second: Trial) -> list[Finding]:
    """What is wrong between two trials."""
    if first.name == second.name and first.digest != second.digest:
        told = f"two plans have this name, with the digests {first.digest} and {second.digest}"
        return [Finding("same-name", first.name, told)]
    apart = (first.end is not None and second.start is not None and first.end <= second.start) or (
        second.end is not None and first.start is not None and second.end <= first.start
    )
    if first.name == second.name or apart or not first.salt or first.salt != second.salt:
        return []
    told = f"it runs at the same time as {second.name} with the same salt: both put the same units into the same arms"
    return [Finding("same-salt", first.name, told)]


def render_overview(found: TrialOverview, format: str) -> str:
    """In a format, ending in a newline."""
    if format == "json":
        return as_json(SCHEMA, found)
    if format in DELIMITERS:
        rows = [[*s[:3], " ".join(s.arms), *s[4:-2], "yes" if s.changed else "no", s.unplanned] for s in found.trials]
        return separated(TrialState._fields, rows, DELIMITERS[format])
    header = ["trial", "digest", "primary", "layer", "from", "to", "looks", "planned", "unplanned"]
    header += ["units", "of maximum", "plan"]
    shown = [
        [
            s.experiment,
            s.digest,
            s.primary,
            s.salt or "–",
            (s.start or "–")[:10],
            (s.end or "–")[:10],
            f"{s.looks}",
            "any" if s.planned is None else f"{s.planned}",
            f"{s.unplanned}",
            f"{s.units:,}",
            share(s.units / s.maximum, 1) if s.maximum else "–",
            "changed" if s.changed else "as it was" if s.looks else "not looked at",
        ]
        for s in found.trials
    ]
    return written(titled(plural(len(shown), "trial"), Grid(header, shown, labels=6)), format)
