"""Whom users prefer: by user, with ties in the denominator, and never from data that are broken."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from cranfield.errors import DataError, UsageError
from cranfield.online.interleaving import InterleavingLog, find_interleaver, interleaved, preferences, read_interleaving
from cranfield.online.interleaving.impressions import Impression
from cranfield.online.interleaving.interleaving_tables import render_preferences
from cranfield.online.interleaving.method import Interleaved


def impression(query: int, user: str, outcome: int) -> Impression:
    """One that A (1) or B (-1) wins, or nobody (0, with a click each)."""
    teams = (0, 1) if query % 2 else (1, 0)
    slots = (0, 1) if outcome == 0 else (teams.index(0 if outcome > 0 else 1),)
    return Impression(f"q{query}", user, Interleaved(((), ()), (f"a{query}", f"b{query}"), teams), slots)


def log(outcomes: list[tuple[str, int]], **changes: Any) -> InterleavingLog:
    shown = tuple(impression(i, user, outcome) for i, (user, outcome) in enumerate(outcomes))
    return InterleavingLog(find_interleaver("team-draft"), ("A", "B"), shown, ())._replace(**changes)


def test_delta_has_ties_in_the_denominator() -> None:
    """I11"""
    outcomes = [(f"u{i}", 1 if i < 400 else -1 if i < 750 else 0) for i in range(1000)]
    pair = preferences(log(outcomes)).pairs[0]
    assert (pair.wins, pair.losses, pair.ties) == (400, 350, 250)
    assert pair.delta == pytest.approx(0.025, abs=1e-12)
    # every user has one impression: what is clustered is what is not
    values = np.array([1.0] * 400 + [0.0] * 350 + [0.5] * 250)
    assert pair.error == pytest.approx(values.std(ddof=1) / 1000**0.5, rel=1e-9)


@pytest.mark.parametrize(("wins", "count", "p"), [(60, 100, 0.05688793), (540, 1000, 0.01244415)])
def test_sign_test_of_users(wins: int, count: int, p: float) -> None:
    """I12"""
    pair = preferences(log([(f"u{i}", 1 if i < wins else -1) for i in range(count)])).pairs[0]
    assert pair.sign_p == pytest.approx(p, abs=1e-8)
    assert pair.sign_p == pytest.approx(binomtest(wins, count).pvalue)
    assert (pair.users_first, pair.users_second, pair.users_even) == (wins, count - wins, 0)


def test_error_is_clustered_by_user() -> None:
    """The delta method over users, worked out by hand; the statistic of impressions would be twice as sure."""
    rng = np.random.default_rng(1)
    outcomes = [
        (f"u{user}", 1 if rng.random() < share else -1) for user, share in enumerate(rng.random(60)) for _ in range(8)
    ]
    pair = preferences(log(outcomes)).pairs[0]
    won = np.array([sum(o > 0 for u, o in outcomes if u == f"u{user}") for user in range(60)], dtype=float)
    share = won.sum() / 480
    residual = won - share * 8
    assert pair.error == pytest.approx((residual.var(ddof=1) / 60) ** 0.5 / 8, rel=1e-9)
    assert pair.error > 1.5 * (share * (1 - share) / 480) ** 0.5
    assert pair.low < pair.delta < pair.high
    assert (pair.low > 0 or pair.high < 0) == (pair.adjusted < 0.05)
    assert abs(pair.boot_low - pair.low) < 0.03


def test_users_with_tastes_do_not_make_a_difference() -> None:
    """Groundwork, A/A: per impression 30 % of experiments find something, by user 5 %. Fewer are simulated here."""
    found = {"user": 0, "sign": 0, "impression": 0}
    rounds = 120
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        tastes = 1 / (1 + np.exp(-rng.normal(0, 1, 120)))
        outcomes = [
            (f"u{user}", 1 if rng.random() < taste else -1)
            for user, taste in enumerate(tastes)
            for _ in range(rng.geometric(1 / 8))
        ]
        pair = preferences(log(outcomes), resamples=100).pairs[0]
        found["user"] += pair.p < 0.05
        found["sign"] += pair.sign_p < 0.05
        found["impression"] += binomtest(pair.wins, pair.wins + pair.losses).pvalue < 0.05
    margin = 3.3 * (0.05 * 0.95 / rounds) ** 0.5
    assert found["user"] / rounds < 0.05 + margin
    assert found["sign"] / rounds < 0.05 + margin
    assert found["impression"] / rounds > 0.2


@pytest.mark.parametrize(("rate", "needed"), [(0.51, 19_620), (0.52, 4_904), (0.55, 783), (0.60, 194)])
def test_queries_needed(rate: float, needed: int) -> None:
    """I13, from the formula of a proportion against a half; what plans take belongs to planning."""
    spread = norm.isf(0.025) / 2 + norm.isf(0.2) * (rate * (1 - rate)) ** 0.5
    assert round((spread / (rate - 0.5)) ** 2) in (needed - 1, needed, needed + 1)


def test_everybody_prefers_the_same() -> None:
    """Nothing varies, so there is no t test: the sign test decides, and is said to."""
    found = preferences(log([(f"u{i}", 1) for i in range(40)]))
    pair = found.pairs[0]
    assert (pair.delta, pair.by_sign) == (0.5, True)
    assert isnan(pair.low)
    assert pair.p == pair.sign_p < 1e-6
    assert found.verdict == "Users prefer A to B: 100.0% of impressions with clicks go to it, ties as halves."
    assert "the sign test decides" in render_preferences(found, "table")
    mirrored = preferences(log([(f"u{i}", -1) for i in range(40)]))
    assert mirrored.verdict == "Users prefer B to A: 100.0% of impressions with clicks go to it, ties as halves."


@pytest.mark.parametrize(
    "outcomes", [[("u1", 1)], [("u1", 1), ("u2", 1)], [(f"u{i}", 0) for i in range(50)], [("u1", 1)] * 50]
)
def test_too_little_to_tell(outcomes: list[tuple[str, int]]) -> None:
    found = preferences(log(outcomes))
    assert found.verdict == "Cannot tell yet whether users prefer A or B."
    assert render_preferences(found, "table").startswith(found.verdict)


def test_no_clicks_at_all() -> None:
    silent = log([("u1", 1), ("u2", 1)])
    silent = silent._replace(impressions=tuple(one._replace(slots=()) for one in silent.impressions))
    found = preferences(silent)
    assert found.verdict.startswith("Cannot tell yet")
    assert "2 impressions of 2 had no click that counts: they are left out" in found.warnings
    for form in ("table", "json", "csv", "markdown", "latex", "html"):
        assert render_preferences(found, form)


def test_teams_that_are_not_even_withhold_the_result() -> None:
    """Guard 12: a server that always lets A begin."""
    outcomes = [(f"u{i}", 1) for i in range(100)]
    shown = [one._replace(shown=one.shown._replace(teams=(0, 1)), slots=(0,)) for one in log(outcomes).impressions]
    found = preferences(log(outcomes, impressions=tuple(shown)))
    assert found.pairs == ()
    assert found.verdict.startswith("Data broken: teams are not drawn evenly at rank 1: A 100.0%, B 0.0% of 100")
    text = render_preferences(found, "table")
    assert "Delta" not in text
    assert "Users prefer" not in text


def test_the_same_list_again_is_one_draw() -> None:
    """Seeded lists come back as they were: ten users who each see one list a hundred times are ten draws."""
    shown = [
        Impression(f"q{user}-{i}", f"u{user}", Interleaved(((), ()), ("a", "b"), (0, 1) if user < 7 else (1, 0)), (0,))
        for user in range(10)
        for i in range(100)
    ]
    found = preferences(log([], impressions=tuple(shown)))
    assert found.broken is None
    assert found.shares[0].counts == (7, 3)


def test_lists_that_are_alike_are_told() -> None:
    rankings = (("a", "b", "c"), ("a", "c", "b"))
    shown = [
        Impression(f"q{i}", f"u{i}", Interleaved(rankings, ("a", "b"), (i % 2, 1 - i % 2)), (0,)) for i in range(40)
    ]
    same = Impression("same", "u0", Interleaved((("a", "b"), ("a", "b")), ("a", "b"), (0, 1)), (0, 1))
    found = preferences(log([], impressions=(*shown, same)))
    assert "1 impression of 41 had the same list from all rankers: clicks on them are noise" in found.warnings
    assert (
        "100% of 42 clicks were above where the rankings begin to differ: they tell nothing of who is better"
        in found.warnings
    )


def test_balanced_is_said_to_be_biased() -> None:
    method = find_interleaver("balanced")
    shown = [
        Impression(f"q{i}", f"u{i}", interleaved(method, [["a", "b"], ["b", "a"]], rng=i), (0,)) for i in range(40)
    ]
    found = preferences(InterleavingLog(method, ("A", "B"), tuple(shown), ()))
    assert any("balanced interleaving is biased" in warning for warning in found.warnings)


def several() -> InterleavingLog:
    """Three rankers, of which the first has what is clicked at the top, the last at the bottom."""
    method = find_interleaver("team-draft-multileaving")
    rankings = [["x", "p", "q", "r"], ["p", "x", "q", "r"], ["p", "q", "r", "x"]]
    shown = []
    for i in range(600):
        made = interleaved(method, rankings, rng=i)
        renamed = made._replace(docs=tuple(f"{doc}{i}" for doc in made.docs), rankings=((), (), ()))
        shown.append(Impression(f"q{i}", f"u{i % 200}", renamed, (made.docs.index("x"),)))
    return InterleavingLog(method, ("good", "middle", "bad"), tuple(shown), ())


def test_several_rankers() -> None:
    found = preferences(several())
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("good", "middle"),
        ("good", "bad"),
        ("middle", "bad"),
    ]
    assert all(pair.adjusted >= pair.p for pair in found.pairs)
    assert found.pairs[1].winner(0.05) == "good"
    assert found.order[0].ranker == "good"
    assert all(one.best <= one.place <= one.worst for one in found.order)
    text = render_preferences(found, "table")
    assert "p (Holm)" in text
    assert "low and high: 95% interval, corrected as the decision is;" in text
    assert "Users prefer" in found.verdict


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


ROW: dict[str, Any] = {
    "query_id": "q1",
    "user_id": "u1",
    "docs": ["a", "b"],
    "teams": [0, 1],
    "policy": {"method": "team-draft"},
}
CLICK: dict[str, Any] = {"query_id": "q1", "action": "click", "doc_id": "a", "rank": 1}


def test_odd_events_are_counted_and_named(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        CLICK,
        CLICK,
        CLICK | {"doc_id": "zz"},
        CLICK | {"query_id": "q9"},
        CLICK | {"action": "hover"},
        {"action": "click"},
    ]
    found = read_interleaving(written(tmp_path / "i", [ROW]), written(tmp_path / "e", events))
    assert found.impressions[0].slots == (0,)
    assert found.problems == (
        "1 click on documents that were not shown",
        "1 click again on a document clicked before, counted once",
        "1 click of queries that were not logged as impressions",
        "1 event called click without a query or a document, left out",
    )
    assert preferences(found).warnings[-4:] == found.problems


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"user_id": None}, "i:2: user_id is missing"),
        ({"query_id": "q1"}, "i:2: two impressions are 'q1'"),
        ({"docs": "ab"}, "i:2: docs must be lists of documents"),
        ({"docs": ["a", "a"]}, "i:2: docs has a document twice"),
        ({"teams": [0]}, "i:2: team-draft needs a team for every document"),
        ({"teams": [0, 5]}, "i:2: team 5 of 2 rankers"),
        ({"policy": {"method": "balanced"}}, "i:2: made by balanced, others by team-draft"),
        ({"policy": {"method": "pairwise"}}, "i:2: made by pairwise"),
        ({"policy": {}}, "i:2: policy must name a method"),
        ({"rankings": [["a"], ["c"]]}, "i:2: a document was shown that no ranking has"),
    ],
)
def test_impressions_that_are_none(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    rows = [ROW, ROW | {"query_id": "q2"} | row]
    with pytest.raises(DataError, match=said):
        read_interleaving(written(tmp_path / "i", rows), written(tmp_path / "e", [CLICK]))


def test_logs_that_do_not_say_enough(tmp_path: Path) -> None:
    bare = {name: value for name, value in ROW.items() if name != "policy"}
    impressions, events = written(tmp_path / "i", [bare]), written(tmp_path / "e", [CLICK])
    with pytest.raises(DataError, match="nothing says which method made it"):
        read_interleaving(impressions, events)
    assert read_interleaving(impressions, events, method="team-draft").method.name == "team-draft"
    with pytest.raises(DataError, match="probabilistic needs the rankings"):
        read_interleaving(impressions, events, method="probabilistic")
    with pytest.raises(DataError, match="has no event called 'buy'"):
        read_interleaving(impressions, events, method="team-draft", action="buy")
    with pytest.raises(DataError, match="has no impressions"):
        read_interleaving(written(tmp_path / "none", []), events)
    with pytest.raises(UsageError, match="alpha"):
        preferences(read_interleaving(impressions, events, method="team-draft"), alpha=1)


def test_parquet_is_read_as_json_lines_are(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = [ROW | {"query_id": f"q{i}", "user_id": f"u{i % 7}"} for i in range(30)]
    events = [CLICK | {"query_id": f"q{i}", "doc_id": "ab"[i % 2]} for i in range(30)]
    for name, table in (("i", rows), ("e", events)):
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(table), tmp_path / f"{name}.parquet")
    lines = read_interleaving(written(tmp_path / "i", rows), written(tmp_path / "e", events))
    columns = read_interleaving(str(tmp_path / "i.parquet"), str(tmp_path / "e.parquet"))
    assert lines == columns


def test_the_seed_decides_the_bootstrap() -> None:
    rng = Random(1)
    outcomes = [(f"u{int(rng.random() ** 2 * 50)}", rng.choice((-1, 1))) for i in range(301)]
    first, again, other = (preferences(log(outcomes), seed=seed, resamples=150).pairs[0] for seed in (1, 1, 2))
    assert first == again
    assert (first.boot_low, first.boot_high) != (other.boot_low, other.boot_high)
    assert first.low == other.low
