"""Simulated users: they click by their tables, come back as themselves, and leave logs that are as live ones are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from cranfield import read_qrels, read_run
from cranfield.errors import DataError, UsageError
from cranfield.online import Trial, aggregate, assigned_arm, check_logs, read_logs, read_trial
from cranfield.online.interleaving import preferences, read_interleaving
from cranfield.online.users import (
    ActionCosts,
    JudgedRankings,
    Population,
    UserModel,
    UserSimulation,
    link_offline,
    rehearse,
    write_simulated,
)
from cranfield.online.users.arrivals import arrivals, zipf_shares
from cranfield.online.users.behaviours import BEHAVIOURS, ClickTable
from cranfield.online.users.browsing import browse
from cranfield.online.users.hashed_chance import normal, uniform
from cranfield.online.users.user_sums import METRICS, sums_of_users, votes_of_users
from cranfield.statistics.interleaved import preference
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio
from places import EXAMPLES

PLAIN = UserModel(taste=0.0)


def rankings(depth: int = 10, rel: float | None = None) -> JudgedRankings:
    runs = [read_run(str(EXAMPLES / f"{name}.run")) for name in ("bm25", "dense")]
    return JudgedRankings.of(read_qrels(str(EXAMPLES / "qrels.txt")), runs, ["bm25", "dense"], depth=depth, rel=rel)


def same(seed: int = 0) -> JudgedRankings:
    """Two rankers that answer alike."""
    known = rankings()
    asked = tuple(one._replace(rankings=(one.rankings[0],) * 2) for one in known.asked)
    return JudgedRankings(("one", "other"), asked, known.relevance, known.top)


def pages(row: list[float], count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.tile(np.array(row), (count, 1))


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
@pytest.mark.parametrize("kind", ["binary", "graded"])
def test_clicks_and_stops_are_as_often_as_the_table_says(name: str, kind: str) -> None:
    """Every way down a page of three documents has the chance that multiplying out the table gives."""
    table: ClickTable = getattr(BEHAVIOURS[name], kind)
    row = [0.0, 1.0, 0.5] if kind == "graded" else [0.0, 1.0, 0.0]
    count = 40_000
    shown = pages(row, count)
    clicked = browse(PLAIN, table, shown, np.zeros_like(shown), np.random.default_rng(7)).clicked
    seen = np.bincount(clicked @ np.array([1, 2, 4]), minlength=8)
    steps = np.linspace(0, 1, len(table.click))
    click = [table.click[int(np.flatnonzero(steps == relevance)[0])] for relevance in row]
    stop = [table.stop[int(np.flatnonzero(steps == relevance)[0])] for relevance in row]
    expected = np.zeros(8)

    def go(rank: int, chance: float, bits: int) -> None:
        if rank == 3:
            expected[bits] += chance
            return
        go(rank + 1, chance * (1 - click[rank]), bits)
        expected[bits | 1 << rank] += chance * click[rank] * stop[rank]
        go(rank + 1, chance * click[rank] * (1 - stop[rank]), bits | 1 << rank)

    go(0, 1.0, 0)
    assert seen[expected == 0].sum() == 0
    possible = expected > 0
    if possible.sum() > 1:
        assert chisquare(seen[possible], expected[possible] * count).pvalue > 0.001


def test_the_tables_are_those_of_the_literature() -> None:
    assert BEHAVIOURS["perfect"].binary == ((0.0, 1.0), (0.0, 0.0))
    assert BEHAVIOURS["navigational"].binary == ((0.05, 0.95), (0.2, 0.9))
    assert BEHAVIOURS["informational"].binary == ((0.4, 0.9), (0.1, 0.5))
    assert BEHAVIOURS["random"].binary == ((0.5, 0.5), (0.0, 0.0))
    assert BEHAVIOURS["almost-random"].binary == ((0.4, 0.6), (0.5, 0.5))
    assert BEHAVIOURS["perfect"].graded.click == (0.0, 0.2, 0.4, 0.8, 1.0)
    assert BEHAVIOURS["navigational"].graded == ((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9))
    assert BEHAVIOURS["informational"].graded == ((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5))


@pytest.mark.parametrize("design", ["ab", "interleaving"])
def test_a_perfect_user_clicks_exactly_what_is_relevant(design: str) -> None:
    known = rankings(rel=1)
    model = UserModel("perfect", rel=1, taste=2.0, leaning=2.0)
    simulation = UserSimulation(known, model, Population(users=200), design)  # type: ignore[arg-type]
    for block in simulation.blocks():
        relevance = simulation.arrays().relevance[block.shown]
        assert (block.browsed.clicked == (relevance == 1)).all()


def test_users_stop_where_their_rules_say() -> None:
    shown = pages([0.0, 0.0, 1.0, 1.0, 1.0], 500)
    table = BEHAVIOURS["perfect"].binary

    def seen(**rules: int) -> set[int]:
        found = browse(UserModel("perfect", **rules), table, shown, np.zeros_like(shown), np.random.default_rng(1))  # type: ignore[arg-type]
        return set(found.seen.tolist())

    assert seen() == {5}
    assert seen(depth=4) == {4}
    assert seen(patience=2) == {2}
    assert seen(patience=3) == {5}
    assert seen(satisfied_after=2) == {4}
    short = np.array([[1.0, np.nan]])
    found = browse(UserModel("perfect"), table, short, np.zeros_like(short), np.random.default_rng(1))
    assert found.clicked.tolist() == [[True, False]]
    assert found.seen.tolist() == [1]


def test_actions_cost_their_seconds() -> None:
    costs = ActionCosts(query=3, snippet=2, irrelevant=10, relevant=40, spread=0.0)
    model = UserModel("perfect", taste=0.0, costs=costs)
    shown = np.array([[1.0, 0.0, 1.0]])
    found = browse(model, BEHAVIOURS["perfect"].binary, shown, np.zeros_like(shown), np.random.default_rng(1))
    assert found.at.round(9).tolist() == [[2.0, 0.0, 46.0]]
    assert found.dwell.round(9).tolist() == [[40.0, 0.0, 40.0]]
    assert found.seconds.round(9).tolist() == [86.0]


def test_hashed_chance_is_even() -> None:
    assert kstest(uniform(3, 1, np.arange(20_000)), "uniform").pvalue > 0.001
    assert kstest(normal(3, 1, np.arange(20_000)), "norm").pvalue > 0.001
    assert abs(np.corrcoef(normal(3, 1, np.arange(20_000)), normal(3, 2, np.arange(20_000)))[0, 1]) < 0.03


@pytest.mark.parametrize("activity", ["geometric", "zipf"])
def test_users_come_as_often_as_asked(activity: str) -> None:
    population = Population(users=20_000, sessions=3.0, queries=1.5, activity=activity)  # type: ignore[arg-type]
    found = arrivals(population, range(20_000), 4, np.random.default_rng(2))
    sessions = np.bincount(found.user[found.opens], minlength=20_000)
    assert sessions.min() == 1
    assert abs(sessions.mean() - 3) < 0.15
    assert abs(len(found.user) / sessions.sum() - 1.5) < 0.02
    assert chisquare(np.bincount(found.topic)).pvalue > 0.001
    if activity == "zipf":
        expected = zipf_shares(3.0, population.most_sessions)[:3] * 20_000
        assert np.allclose(np.bincount(sessions)[1:4], expected, rtol=0.05)


def test_popular_topics_are_asked_more() -> None:
    found = arrivals(Population(users=9_000, popularity=1.0), range(9_000), 3, np.random.default_rng(2))
    counts = np.bincount(found.topic)
    assert chisquare(counts, np.array([6, 3, 2]) / 11 * counts.sum()).pvalue > 0.001


@pytest.mark.parametrize("to", ["parquet", "jsonl"])
@pytest.mark.parametrize("design", ["ab", "interleaving"])
def test_nothing_is_odd_about_the_log(tmp_path: Path, design: str, to: str) -> None:
    simulation = UserSimulation(rankings(), UserModel(), Population(users=400, days=3), design)  # type: ignore[arg-type]
    written = write_simulated(simulation, str(tmp_path), to=to)
    logs = read_logs(str(tmp_path))
    trial = None if written.plan is None else read_trial(written.plan)
    assert check_logs(logs, trial).problems == ()
    # A plan of arms is of no use to a log without arms: `analyse` refuses it.
    assert (trial is None) == (design == "interleaving") == (not (tmp_path / "experiment.toml").exists())
    assert {Path(file).stem for file in written.files} == set(logs.tables())
    if design == "interleaving":
        log = read_interleaving(str(tmp_path / f"impressions.{to}"), str(tmp_path / f"events.{to}"))
        assert log.problems == ()
        found = preferences(log)
        assert found.rankers == ("bm25", "dense")
        votes = votes_of_users(simulation)
        told = preference(votes.wins, votes.ties, votes.losses)
        pair = found.pairs[0]
        assert (pair.wins, pair.losses, pair.ties) == (told.wins, told.losses, told.ties)
        assert pair.delta == pytest.approx(told.effect.value, abs=1e-12)


def test_bots_are_what_is_odd_if_they_are_asked_for(tmp_path: Path) -> None:
    population = Population(users=300, days=2, bots=0.1)
    simulation = UserSimulation(rankings(), UserModel(), population)
    written = write_simulated(simulation, str(tmp_path))
    assert written.plan is not None
    problems = {problem.code for problem in check_logs(read_logs(str(tmp_path)), read_trial(written.plan)).problems}
    assert problems == {"bots"}
    excluded = aggregate(read_logs(str(tmp_path)), read_trial(written.plan), parts=()).excluded
    assert [part.reason for part in excluded] == ["of a bot"]
    assert 15 <= excluded[0].units <= 50
    assert excluded[0].queries > 30 * excluded[0].units  # two sessions of thirty, about


def test_sums_without_a_log_are_those_of_the_aggregation(tmp_path: Path) -> None:
    simulation = UserSimulation(rankings(), UserModel(leaning=0.5), Population(users=500, bots=0.02))
    write_simulated(simulation, str(tmp_path))
    trial = Trial("t", {"bm25": 1, "dense": 1}, "ctr", secondary=METRICS[1:])
    found = aggregate(read_logs(str(tmp_path)), trial, parts=())
    users = sums_of_users(simulation)
    for place, arm in enumerate(trial.arms):
        (moments,) = (part.moments for part in found.slices if part.by == "all" and part.arm == arm)
        mine = users.arm == place
        assert moments.count == mine.sum()
        for name in METRICS:
            assert moments.mean(f"{name}: numerator") == pytest.approx(users.sums[name][mine].mean(), abs=1e-12)
            assert moments.variance(f"{name}: numerator") == pytest.approx(np.var(users.sums[name][mine], ddof=1))


def test_arms_are_assigned_by_the_salt_of_the_plan(tmp_path: Path) -> None:
    simulation = UserSimulation(rankings(), UserModel(), Population(users=60, seed=4))
    written = write_simulated(simulation, str(tmp_path), to="jsonl")
    assert written.plan is not None
    trial = read_trial(written.plan)
    rows = [json.loads(line) for line in (tmp_path / "assignments.jsonl").read_text().splitlines()]
    assert len(rows) == 60
    assert all(row["variant"] == assigned_arm(row["unit_id"], trial.salt, trial.arms) for row in rows)


def test_the_same_seed_gives_the_same_log_and_another_another(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        simulation = UserSimulation(rankings(), UserModel(), Population(users=40, seed=seed), "interleaving")
        write_simulated(simulation, str(tmp_path / name), to="jsonl")
    texts = [(tmp_path / name / "impressions.jsonl").read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]


def test_who_asks_again_sees_the_same_interleaved_list() -> None:
    for method in ("team-draft", "probabilistic"):
        population = Population(users=60, sessions=8)
        simulation = UserSimulation(rankings(), UserModel(), population, "interleaving", method)
        (block,) = simulation.blocks()
        lists: dict[tuple[int, int], set[int]] = {}
        for user, topic, shown in zip(block.queries.user, block.queries.topic, block.shown, strict=True):
            lists.setdefault((int(user), int(topic)), set()).add(int(shown))
        assert max(map(len, lists.values())) == 1
        assert len({shown for of in lists.values() for shown in of}) > 20


def test_interleaved_lists_have_the_chances_of_their_method() -> None:
    simulation = UserSimulation(rankings(depth=4), UserModel(depth=4), Population(users=4000), "interleaving")
    (block,) = simulation.blocks()
    _, first = np.unique(block.queries.user * 100 + block.queries.topic, return_index=True)
    teams = simulation.arrays().teams[block.shown[first]]
    for rank in range(4):
        assert chisquare(np.bincount(teams[:, rank])).pvalue > 0.001


def test_without_a_difference_tests_find_one_as_rarely_as_they_should() -> None:
    """A/A: both arms show the same lists, to users with tastes of their own."""
    rejected = {"ab": 0, "interleaving": 0}
    times = 200
    for seed in range(times):
        model, population = UserModel(taste=1.0, leaning=1.0), Population(users=150, seed=seed)
        users = sums_of_users(UserSimulation(same(), model, population))
        mine = [users.arm == arm for arm in (0, 1)]
        arms = [Moments.of({"c": users.sums["ctr"][arm], "n": users.queries[arm]}) for arm in mine]
        rejected["ab"] += Ratio("c", "n").compared(*arms).difference().p < 0.05
        votes = votes_of_users(UserSimulation(same(), model, population, "interleaving"))
        rejected["interleaving"] += preference(votes.wins, votes.ties, votes.losses).effect.p < 0.05
    assert all(1 <= count <= 23 for count in rejected.values()), rejected  # 99.9 % of 200 at 0.05


def test_a_rehearsal_finds_the_better_ranker_in_whichever_place() -> None:
    found = rehearse(UserSimulation(rankings(), UserModel(), Population(users=1500)))
    assert all(one.effect > 0 for one in found.needed)
    assert found.verdict.startswith("Both find dense.")
    known = rankings()
    turned = replace(
        known,
        names=("dense", "bm25"),
        asked=tuple(one._replace(rankings=one.rankings[::-1]) for one in known.asked),
    )
    other = rehearse(UserSimulation(turned, UserModel(), Population(users=1500)))
    assert all(one.effect < 0 for one in other.needed)
    assert other.verdict.startswith("Both find dense.")


def test_a_rehearsal_sizes_as_a_textbook_does() -> None:
    """With one query a user, click-through rates are proportions: n = 2 z² (p q + p' q') / d² of both arms together."""
    simulation = UserSimulation(rankings(), UserModel(), Population(users=3000, sessions=1.0, queries=1.0))
    users = sums_of_users(simulation)
    p, q = (users.sums["ctr"][users.arm == arm].mean() for arm in (0, 1))
    z = (1.959963985 + 0.841621234) ** 2
    textbook = 2 * z * (p * (1 - p) + q * (1 - q)) / (p - q) ** 2
    (found,) = (one for one in rehearse(simulation).needed if one.metric == "ctr")
    assert found.users == pytest.approx(textbook, rel=0.002)


def test_what_a_rehearsal_says_follows_from_its_interval() -> None:
    found = rehearse(UserSimulation(rankings(), UserModel(), Population(users=300)))
    best, shown = min(found.needed[:-1], key=lambda one: one.users), found.needed[-1]

    def told(low: float, high: float) -> str:
        clear = best._replace(effect=0.1, error=0.01, times=1.5, times_low=low, times_high=high)
        return found._replace(needed=(clear, shown._replace(effect=0.1, error=0.01))).verdict

    assert "needs 1.5 times as many users (1.2 to 2) as interleaving" in told(1.2, 2.0)
    assert "needs 1.5 times as many users (0.5 to 0.9) as interleaving" in told(0.5, 0.9)
    assert "It cannot be told which needs fewer users: an A/B test by" in told(0.9, 2.0)
    against = (best._replace(effect=-0.1, error=0.01), shown._replace(effect=0.1, error=0.01))
    assert found._replace(needed=against).verdict.startswith("Interleaving prefers dense, an A/B test by")


def test_a_rehearsal_without_a_difference_cannot_tell() -> None:
    found = rehearse(UserSimulation(same(), UserModel(), Population(users=400, seed=3)))
    assert found.verdict.startswith("Cannot tell")


def test_offline_foretells_online_where_clicks_follow_judgements() -> None:
    known = rankings()
    scores = np.array(
        [
            [sum(known.relevance[one.query].get(doc, 0.0) for doc in one.rankings[system]) for one in known.asked]
            for system in (0, 1)
        ]
    )
    model = UserModel("perfect", taste=0.0)
    found = link_offline(known, scores, "gain", model)
    assert found.links[0].correlation > 0.5
    assert found.links[-1].metric == "preference"
    turned = link_offline(known, -scores, "loss", model)
    for one, other in zip(found.links, turned.links, strict=True):
        assert one.correlation == pytest.approx(-other.correlation)
        assert one.slope == pytest.approx(-other.slope)
        if not np.isnan(one.agreeing):
            assert one.agreeing == pytest.approx(1 - other.agreeing)


def test_what_cannot_be_is_refused() -> None:
    run = read_run({"q": {"a": 1.0}})
    with pytest.raises(DataError, match="no relevant document"):
        JudgedRankings.of(read_qrels({"q": {"a": 0}}), [run, run], ["x", "y"], depth=10)
    with pytest.raises(DataError, match="none of the topics"):
        JudgedRankings.of(read_qrels({"other": {"a": 1}}), [run, run], ["x", "y"], depth=10)
    for wrong in ({"behaviour": "nobody"}, {"taste": -1.0}, {"depth": 0}, {"taste": float("nan")}):
        with pytest.raises(UsageError):
            UserModel(**wrong)
    for other in ({"users": 0}, {"bots": 1.0}, {"sessions": 0.5}, {"activity": "daily"}, {"popularity": -1.0}):
        with pytest.raises(UsageError):
            Population(**other)


def test_a_ranker_without_an_answer_shows_an_empty_page(tmp_path: Path) -> None:
    qrels = read_qrels({"1": {"a": 1}, "2": {"b": 1}})
    runs = [read_run({"1": {"a": 2.0}, "2": {"b": 1.0}}), read_run({"1": {"a": 1.0}})]
    known = JudgedRankings.of(qrels, runs, ["old", "new"], depth=5)
    assert known.notes == ("1 topic without an answer of some run: an A/B test shows an empty page there",)
    write_simulated(UserSimulation(known, UserModel("perfect", taste=0.0), Population(users=200)), str(tmp_path))
    codes = {problem.code for problem in check_logs(read_logs(str(tmp_path))).problems}
    assert codes <= {"no-results", "empty-lists"}
