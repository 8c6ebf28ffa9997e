"""Quantiles of latency by unit: as they are by hand, on every engine, and with intervals that are those of units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from cranfield.errors import UsageError
from cranfield.online import Trial, added, aggregate, read_logs
from cranfield.online.analysis import analyse
from cranfield.online.analysis.estimates import ratio_of
from cranfield.online.trial import Cap, Guardrail
from cranfield.statistics.clustered_quantiles import QUANTILE_RATIO, outer_shares, quantile_moments
from cranfield.statistics.significance import Floats

ARMS = {"A": 1.0, "B": 1.0}
METRICS = ("latency_quantile", "latency_quantile(q=0.5)")


def latencies(seed: int, users: int = 60, slower: float = 1.0) -> list[tuple[str, str, float | None]]:
    """User, arm and latency of each query: users are slow at everything, and some latencies after the first are not
    known.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, str, float | None]] = []
    for user in range(users):
        arm, own = "AB"[user % 2], rng.standard_normal()
        for query in range(rng.geometric(0.2)):
            value = float(np.exp(5 + own + rng.standard_normal())) * (slower if arm == "B" else 1.0)
            rows.append((f"u{user}", arm, None if query and rng.random() < 0.05 else value))
    return rows


def tables(rows: Sequence[tuple[str, str, float | None]]) -> dict[str, Any]:
    import pyarrow as pa

    stamps = pa.array([1_793_600_000_000_000 + 1_000_000 * place for place in range(len(rows))])
    impressions = {
        "query_id": [f"q{place}" for place in range(len(rows))],
        "user_id": [row[0] for row in rows],
        "variant": [row[1] for row in rows],
        "latency_ms": pa.array([row[2] for row in rows], pa.float64()),
        "ts": stamps.cast(pa.timestamp("us", tz="UTC")),
    }
    return {
        "impressions": pa.table(impressions),
        "events": pa.table({"query_id": ["q0"], "action": ["click"]}),
    }


def polars_of(given: dict[str, Any]) -> dict[str, Any]:
    import polars as pl

    return {name: pl.from_arrow(table) for name, table in given.items()}


def trial(**more: Any) -> Trial:
    return Trial("t", ARMS, "ctr", **{"secondary": METRICS, **more})


@pytest.mark.parametrize("engine", [lambda given: given, polars_of], ids=["duckdb", "polars"])
@pytest.mark.parametrize("seed", [1, 2])
def test_quantiles_are_those_of_the_values_and_vary_by_unit(seed: int, engine: Callable[[Any], Any]) -> None:
    rows = latencies(seed)
    found = aggregate(read_logs(engine(tables(rows))), trial(), parts=())
    for name, quantile in zip(METRICS, (0.95, 0.5), strict=True):
        columns = found.metric(name)
        assert columns.quantile == quantile
        for arm in ARMS:
            users = {user: place for place, user in enumerate(dict.fromkeys(u for u, a, _ in rows if a == arm))}
            values = [value for _, a, value in rows if a == arm and value is not None]
            units = [users[u] for u, a, value in rows if a == arm and value is not None]
            assert set(units) == set(users.values())
            expected = QUANTILE_RATIO.of(quantile_moments(values, units, quantile))
            seen = ratio_of(columns).of(found.whole[arm])
            assert seen.value == pytest.approx(np.quantile(values, quantile), rel=1e-9)
            assert seen == pytest.approx(expected, rel=1e-9)


def test_standard_errors_are_those_of_resampled_users() -> None:
    rng = np.random.default_rng(3)
    for quantile in (0.5, 0.9):
        units = np.repeat(np.arange(400), rng.geometric(0.2, 400))
        values = np.exp(rng.standard_normal(400)[units] + rng.standard_normal(len(units)))
        found = QUANTILE_RATIO.of(quantile_moments(values, units.tolist(), quantile)).variance ** 0.5
        of_user: list[Floats] = np.split(values, np.flatnonzero(np.diff(units)) + 1)
        drawn = [
            np.quantile(np.concatenate([of_user[u] for u in rng.integers(0, 400, 400)]), quantile) for _ in range(400)
        ]
        assert found == pytest.approx(np.std(drawn), rel=0.2)


def in_steps(rng: np.random.Generator, users: int, step: float) -> tuple[Floats, Any]:
    """Latencies of users, of which half are at or below e^5, where a step ends."""
    units = np.repeat(np.arange(users), rng.geometric(0.2, users))
    noise = np.sqrt(0.5) * (rng.standard_normal(users)[units] + rng.standard_normal(len(units)))
    return np.exp(5) + step * np.ceil((np.exp(5 + noise) - np.exp(5)) / step), units


@pytest.mark.parametrize("users", [20, 50, 500])
@pytest.mark.parametrize("step", [50.0, 100.0, 400.0])
def test_equal_values_do_not_make_a_quantile_sure(step: float, users: int) -> None:
    """Where a quantile lies between two steps it is one or the other by chance: A/A tests of it rejected in every other
    case, because half of the step was taken for its standard error, and less where many values are equal.
    """
    rng = np.random.default_rng(11)
    rejected = missed = 0
    for _ in range(120):
        arms = [quantile_moments(*in_steps(rng, users, step), 0.5) for _ in range(2)]
        rejected += QUANTILE_RATIO.compared(*arms).difference().p < 0.05
        alone = QUANTILE_RATIO.against(arms[0], float(np.exp(5))).difference()
        missed += not alone.low <= 0 <= alone.high
    assert rejected <= 14  # of 120 at 0.05: more in one of a thousand cases
    assert missed <= 20  # one arm of 20 users misses a tenth; without care it was half


def test_a_step_is_on_one_side() -> None:
    """By hand: of ten units with two values each, seven have both at 100, three both at 200."""
    units = np.repeat(np.arange(10), 2)
    values = np.where(units < 7, 100.0, 200.0)
    found = QUANTILE_RATIO.of(quantile_moments(values, units, 0.5))
    share = np.sqrt(0.7 * 0.3 / 9)  # standard error of the share at 100, by unit
    at = outer_shares(0.5, [2] * 7 + [0] * 3, [2] * 10)
    stretch = 0.5 / np.sqrt(0.21)
    assert at.stretch == pytest.approx(stretch)
    assert (at.high - at.low) / 2 == pytest.approx(1.959964 * share * stretch)
    assert found.value == pytest.approx(100)
    assert found.variance**0.5 == pytest.approx(100 / 1.959964)  # the interval of 95 % just reaches the next step


def test_units_in_two_arms_are_no_part_of_the_quantile() -> None:
    rows = [*latencies(4), ("both", "A", 1e6), ("both", "B", 1e6)]
    with_both = aggregate(read_logs(tables(rows)), trial(), parts=())
    without = aggregate(read_logs(tables(rows[:-2])), trial(), parts=())
    for arm in ARMS:
        np.testing.assert_allclose(with_both.whole[arm].means, without.whole[arm].means)


def test_equal_latencies_and_none_at_all() -> None:
    constant = [(f"u{n}", "AB"[n % 2], 100.0 if n % 2 else 80.0) for n in range(24)]
    found = analyse(read_logs(tables(constant)), trial())
    effect = next(e for e in found.secondary if e.metric == "latency_quantile")
    assert (effect.control, effect.treatment, effect.difference) == (80.0, 100.0, 20.0)
    assert "no unit varies within its arm" in str(effect.note)
    nothing = [(f"u{n}", "AB"[n % 2], None if n % 2 else 80.0 + n) for n in range(24)]
    found = analyse(read_logs(tables(nothing)), trial())
    effect = next(e for e in found.secondary if e.metric == "latency_quantile")
    assert effect.standing == "unknown"
    assert "treatment has nothing to divide by" in str(effect.note)


def test_too_few_units_for_a_quantile_are_told() -> None:
    told = {w.code: w.message for w in analyse(read_logs(tables(latencies(5, 8))), trial()).warnings}
    assert told["rough-quantile"].startswith("latency_quantile: too few units")
    assert outer_shares(0.95, [1, 2, 3], [2, 2, 3]).cut
    many = analyse(read_logs(tables(latencies(5, 400))), trial(secondary=("latency_quantile(q=0.5)",)))
    assert "rough-quantile" not in {warning.code for warning in many.warnings}


def test_a_slower_arm_breaks_its_guardrail() -> None:
    """Less is better: a treatment that is slower is worse, and one that is quicker is not."""
    for slower, standing in ((1.6, "broken"), (1 / 1.6, "held")):
        plan = trial(secondary=(), guardrails=(Guardrail("latency_quantile(q=0.5)", 0.05, relative=True),))
        found = analyse(read_logs(tables(latencies(6, 3000, slower))), plan)
        assert found.guardrails[0].standing == standing
        assert not any(each.metric.startswith("latency") for each in found.denominators)


def test_quantiles_decide_nothing_alone_and_are_neither_capped_nor_added() -> None:
    with pytest.raises(UsageError, match="primary is latency_quantile, a quantile: it can be a guardrail or secondary"):
        Trial("t", ARMS, "latency_quantile")
    with pytest.raises(UsageError, match="not capped"):
        trial(winsorise={"latency_quantile": Cap(value=500.0)})
    with pytest.raises(UsageError, match="between 0 and 1"):
        trial(secondary=("latency_quantile(q=1)",))
    found = aggregate(read_logs(tables(latencies(7))), trial(), parts=())
    with pytest.raises(UsageError, match="latency_quantile is a quantile: those of parts cannot be added"):
        added([found, found])
