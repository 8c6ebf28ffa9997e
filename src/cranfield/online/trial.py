"""A trial: what an online experiment is to show, said before it is looked at.

Arms, unit, the primary metric, guardrails, looks and exclusions stand in a file, `experiment.toml`. What the file means
has a digest, whatever its comments and order: it stands in every result, and who changes the plan afterwards is seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

from cranfield.online.metrics import METRICS, Better, defined_metric

if TYPE_CHECKING:
    from cranfield.online.metrics import Metric

Spending = Literal["obrien-fleming", "pocock", "hwang-shih-decani", "kim-demets", "always-valid"]
SPENDINGS: tuple[Spending, ...] = ("obrien-fleming", "pocock", "hwang-shih-decani", "kim-demets", "always-valid")
ALPHA = 0.05


class Guardrail(NamedTuple):
    """A metric that must not get worse by more than a margin, in its own units or, `relative`, as a share."""

    metric: str
    margin: float
    relative: bool = False


class Looks(NamedTuple):
    """When results are looked at: at these shares of the maximum, the last is 1; and how alpha is spent on them.

    `parameter` is gamma of Hwang, Shih and DeCani or rho of Kim and DeMets. `always-valid` needs no looks named.
    """

    spending: Spending = "obrien-fleming"
    at: tuple[float, ...] = (1.0,)
    parameter: float | None = None


class Cap(NamedTuple):
    """How far the numerator of a unit counts: to a value, or to a quantile of all units of all arms together."""

    quantile: float | None = None
    value: float | None = None


class Exclusions(NamedTuple):
    """Who and what does not count: decided beforehand, and counted in every result.

    `bots`: queries marked is_bot. `queries_per_day`: units with more on some day. `late_hours`: events that come later
    after their query. `duplicates`: the same event again. `units`: named ones.
    """

    bots: bool = True
    duplicates: bool = True
    queries_per_day: float | None = None
    late_hours: float | None = None
    units: tuple[str, ...] = ()


class OwnMetric(NamedTuple):
    """A metric that the trial defines: see `defined_metric`."""

    numerator: str
    denominator: str = "queries"
    better: Better = "more"


ONE_LOOK, USUAL = Looks(), Exclusions()


@dataclass(frozen=True)
class Trial:
    """An online experiment as it was planned.

    `arms` has the weights of the arms, the first of which is the control; `unit` is the column of impressions that
    says who was randomised; `maximum` is the planned number of units in all arms together.

    >>> trial = Trial("dense", {"bm25": 1, "dense": 1}, primary="ctr", maximum=20_000)
    >>> trial.control, trial.digest
    ('bm25', '40c13b9b53086583')
    """

    name: str
    arms: Mapping[str, float]
    primary: str
    unit: str = "user_id"
    secondary: tuple[str, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    segments: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    looks: Looks = ONE_LOOK
    maximum: int | None = None
    alpha: float = ALPHA
    exclusions: Exclusions = USUAL
    winsorise: Mapping[str, Cap] = field(default_factory=dict)
    metrics: Mapping[str, OwnMetric] = field(default_factory=dict)
    salt: str = ""
    start: datetime | None = None
    end: datetime | None = None
    source: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        from cranfield.online.trial_checks import check_trial

        check_trial(self)

    @property
    def control(self) -> str:
        """The arm that others are held against: the first."""
        return next(iter(self.arms))

    @property
    def shares(self) -> dict[str, float]:
        """The share of units that each arm should have.

        >>> Trial("t", {"a": 3, "b": 1}, primary="ctr").shares
        {'a': 0.75, 'b': 0.25}
        """
        total = sum(self.arms.values())
        return {arm: weight / total for arm, weight in self.arms.items()}

    @property
    def metric_names(self) -> tuple[str, ...]:
        """All metrics, as they are written: the primary one first, then guardrails, then the others."""
        named = (self.primary, *(rail.metric for rail in self.guardrails), *self.secondary)
        return tuple(dict.fromkeys(named))

    def metric(self, name: str) -> Metric:
        """A metric by name: one that the trial defines, or one of the registry."""
        if name in self.metrics:
            own = self.metrics[name]
            return defined_metric(name, own.numerator, own.denominator, own.better)
        return METRICS.find(name)

    def resolved(self) -> dict[str, Metric]:
        """All metrics, by how they are written."""
        return {name: self.metric(name) for name in self.metric_names}

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits of the SHA-256 of all that the trial says; the file it came from is no part of it.

        Arms keep their order, since the first is the control.
        """
        text = json.dumps(self.to_plain(), sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()[:16]

    def to_plain(self) -> dict[str, object]:
        """What the trial says, as JSON can hold it."""
        return {
            "name": self.name,
            "arms": [[arm, float(weight)] for arm, weight in self.arms.items()],
            "primary": self.primary,
            "unit": self.unit,
            "secondary": list(self.secondary),
            "guardrails": [list(rail) for rail in self.guardrails],
            "segments": list(self.segments),
            "covariates": list(self.covariates),
            "looks": [self.looks.spending, list(self.looks.at), self.looks.parameter],
            "maximum": self.maximum,
            "alpha": self.alpha,
            "exclusions": [*self.exclusions[:4], sorted(self.exclusions.units)],
            "winsorise": {name: list(cap) for name, cap in self.winsorise.items()},
            "metrics": {name: list(own) for name, own in self.metrics.items()},
            "salt": self.salt,
            "start": None if self.start is None else self.start.isoformat(),
            "end": None if self.end is None else self.end.isoformat(),
        }
