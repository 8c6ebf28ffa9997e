"""Trials whose outcome is known: units of arms as columns, and whole logs of users who click more in one arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from cranfield.online import Aggregate, Trial
from cranfield.online.moments_files import WHOLE, MetricColumns, MomentsPart
from cranfield.statistics.moments import Moments
from cranfield.statistics.significance import Floats

START = datetime(2026, 11, 2, tzinfo=UTC)
Values = Mapping[str, Sequence[float] | Floats]  # of each metric, a value for each unit


def columns_of(trial: Trial) -> tuple[MetricColumns, ...]:
    """Every metric as a mean over units, in the direction that it has."""
    return tuple(
        MetricColumns(name, metric.better, "unit", f"{name}: numerator") for name, metric in trial.resolved().items()
    )


def moments_of(values: Values) -> Moments:
    """The moments of units with these values, a query each."""
    count = len(next(iter(values.values())))
    columns = {f"{name}: numerator": np.asarray(each, dtype=float) for name, each in values.items()}
    return Moments.of({"queries": np.ones(count), **columns})


def trial_aggregate(
    trial: Trial, arms: Mapping[str, Values], parts: Mapping[tuple[str, str], Mapping[str, Values]] | None = None
) -> Aggregate:
    """What is kept of a log whose units have these values; `parts` are by what and which value, as a segment's."""
    slices = [MomentsPart(WHOLE, "", arm, moments_of(values)) for arm, values in arms.items()]
    for (by, value), of in (parts or {}).items():
        slices += [MomentsPart(by, value, arm, moments_of(values)) for arm, values in of.items()]
    units = sum(part.moments.count for part in slices if part.by == WHOLE)
    return Aggregate(
        trial.name, trial.digest, trial.unit, tuple(trial.arms), columns_of(trial), tuple(slices), units, units, 0
    )


def searching_users(
    seed: int, users: int = 2000, *, effect: float = 0.0, days: int = 14, arms: Sequence[str] = ("old", "new")
) -> dict[str, Any]:
    """The tables of a log, as Polars frames: users search on some days and click with a chance of their own, which in
    every arm but the first is larger by `effect`. What they did before is a covariate, their device a segment.
    """
    import polars as pl

    rng = np.random.default_rng(seed)
    arm = rng.integers(0, len(arms), users)
    taste = rng.beta(3, 5, users)
    first = (days * rng.random(users) ** 1.5).astype(int)  # fewer new ones come every day
    queries = rng.geometric(0.4, users)
    who = np.repeat(np.arange(users), queries)
    late = np.minimum(first[who] + rng.integers(0, days, len(who)) * (np.arange(len(who)) % 2), days - 1)
    seconds = late * 86_400 + rng.integers(0, 86_000, len(who))
    clicked = rng.random(len(who)) < np.clip(taste[who] + effect * (arm[who] > 0), 0, 1)
    names = np.array([f"u{number:05d}" for number in range(users)])
    times = [START + timedelta(seconds=int(second)) for second in seconds]
    ids = [f"q{number:06d}" for number in range(len(who))]
    latency = rng.gamma(9, 12, len(who))
    shown = [["d1", "d2", "d3"]] * len(who)
    impressions = pl.DataFrame(
        {"query_id": ids, "ts": times, "user_id": names[who], "docs": shown, "latency_ms": latency}
    ).with_columns(n_results=pl.lit(3), trigger=pl.Series(rng.random(len(who)) < 0.6))
    places = np.flatnonzero(clicked)
    events = pl.DataFrame(
        {
            "query_id": [ids[place] for place in places],
            "ts": [times[place] + timedelta(seconds=5) for place in places],
            "action": ["click"] * len(places),
            "rank": rng.integers(1, 4, len(places)),
        }
    )
    device = np.array(["phone", "desktop"])[rng.integers(0, 2, users)]
    assignments = pl.DataFrame({"unit_id": names, "variant": np.array(arms)[arm], "device": device})
    before = rng.binomial(8, taste).astype(float)
    covariates = pl.DataFrame({"unit_id": names, "metric": ["before"] * users, "value": before})
    return {"impressions": impressions, "events": events, "assignments": assignments, "covariates": covariates}
