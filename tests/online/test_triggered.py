"""Where lists differ: both parts counted from the files by hand, and adjusted by plain least squares."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cranfield.online import read_logs, read_trial
from cranfield.online.analysis import analyse
from places import EXAMPLES


def rows(name: str) -> list[dict[str, Any]]:
    text = (EXAMPLES / name).read_text()
    return list(csv.DictReader(text.splitlines())) if name.endswith("csv") else list(map(json.loads, text.splitlines()))


def clicks_and_queries(part: str, *, whole_units: bool = False) -> dict[str, tuple[int, int]]:
    """Of each unit, its clicked queries and its queries in a part."""
    clicked = {event["query_id"] for event in rows("events.jsonl") if event["action"] == "click"}
    shown = [row for row in rows("impressions.jsonl") if not row["is_bot"]]
    first: dict[str, str] = {}
    for row in shown:
        if row["trigger"]:
            first[row["user_id"]] = min(row["ts"], first.get(row["user_id"], row["ts"]))
    counted: dict[str, tuple[int, int]] = {}
    for row in shown:
        user = row["user_id"]
        since = first.get(user)
        exposed = since is not None and (whole_units or row["ts"] >= since)
        if exposed == (part == "exposed"):
            clicks, queries = counted.get(user, (0, 0))
            counted[user] = (clicks + (row["query_id"] in clicked), queries + 1)
    if part == "complement":  # who was assigned and came not at all is in it too
        seen = {row["user_id"] for row in rows("impressions.jsonl")}
        counted |= {row["unit_id"]: (0, 0) for row in rows("assignments.csv") if row["unit_id"] not in seen}
    return counted


def adjusted(units: dict[str, tuple[int, int]]) -> tuple[float, float, float]:
    """Control, treatment and p: a regression in each arm on what was known before, then the delta method."""
    arm_of = {row["unit_id"]: row["variant"] for row in rows("assignments.csv")}
    known = {row["unit_id"]: float(row["value"]) for row in rows("covariates.csv") if row["metric"] == "ctr"}
    before = {unit: known.get(unit, 0.0) for unit in units}
    middle = np.mean(list(before.values()))
    values, variances, slopes, freedoms = [], [], [], []
    for arm in ("bm25", "dense"):
        mine = [unit for unit in units if arm_of[unit] == arm]
        design = np.array([[1.0, before[unit] - middle] for unit in mine])
        counts = np.array([units[unit] for unit in mine], dtype=np.float64)
        fitted = np.linalg.lstsq(design, counts, rcond=None)[0]
        ratio = fitted[0, 0] / fitted[0, 1]
        weights = np.array([1.0, -ratio]) / fitted[0, 1]
        left = (counts - design @ fitted) @ weights
        values.append(ratio)
        freedoms.append(len(mine) - 2)
        variances.append(left @ left / freedoms[-1] * np.linalg.inv(design.T @ design)[0, 0])
        slopes.append(fitted[1] @ weights)
    shared = (slopes[1] - slopes[0]) ** 2 * np.var(list(before.values()), ddof=1) / len(before)
    freedom = sum(variances) ** 2 / sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
    p = 2 * stats.t.sf(abs(values[1] - values[0]) / np.sqrt(sum(variances) + shared), freedom)
    return float(values[0]), float(values[1]), float(p)


def as_they_are(units: dict[str, tuple[int, int]]) -> tuple[float, float]:
    """Control and treatment, not adjusted: clicked queries by queries."""
    arm_of = {row["unit_id"]: row["variant"] for row in rows("assignments.csv")}
    counts = [np.sum([units[unit] for unit in units if arm_of[unit] == arm], axis=0) for arm in ("bm25", "dense")]
    control, treatment = (float(clicks / queries) for clicks, queries in counts)
    return control, treatment


@pytest.mark.parametrize("part", ["exposed", "complement"])
def test_both_parts_are_those_counted_by_hand(part: str) -> None:
    found = analyse(read_logs(str(EXAMPLES)), read_trial(str(EXAMPLES / "experiment.toml")))
    (effect,) = [effect for effect in found.triggered if effect.part == part]
    units = clicks_and_queries(part)
    assert sum(effect.units) == len(units)
    control, treatment, p = adjusted(units)
    assert (effect.difference, effect.p) == pytest.approx((treatment - control, p), rel=1e-9)
    assert (effect.control, effect.treatment) == pytest.approx(as_they_are(units), rel=1e-9)


def test_whole_units_have_another_difference_with_nearly_the_same_p() -> None:
    """With all queries of exposed units the example's p is the same to four digits, and yet another one."""
    since, whole = (adjusted(clicks_and_queries("exposed", whole_units=whole)) for whole in (False, True))
    assert since[1] - since[0] == pytest.approx(0.1298, abs=5e-5)
    assert whole[1] - whole[0] == pytest.approx(0.1154, abs=5e-5)
    assert (since[2], whole[2]) == pytest.approx((0.169565, 0.169600), abs=5e-7)


def test_stamps_of_the_example_are_in_order_as_text() -> None:
    """What is counted by hand compares stamps as text."""
    stamps = [row["ts"] for row in rows("impressions.jsonl")]
    assert sorted(stamps) == sorted(stamps, key=datetime.fromisoformat)
