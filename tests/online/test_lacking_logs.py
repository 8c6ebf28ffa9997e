"""Logs that lack what their plan counts on: queries, events, an action, an arm. None of it is taken for a result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import command_line
from cranfield.errors import DataError
from cranfield.online import Trial, added, aggregate, check_logs, read_logs, read_moments
from cranfield.online.analysis import TrialAnalysis, analyse
from cranfield.online.analysis.replaying import replay
from cranfield.online.trial import Guardrail, OwnMetric
from cranfield.online.users import JudgedRankings, Population, UserSimulation, write_simulated
from made_trials import searching_users
from places import EXAMPLES

ARMS = {"old": 1.0, "new": 1.0}
REFUNDS = {"refunds": OwnMetric("count(refnd)", "units", "less")}
PLAN = 'name = "t"\nprimary = "ctr"\n[arms]\nold = 1\nnew = 1\n'


@pytest.fixture(scope="module")
def logs() -> dict[str, Any]:
    return searching_users(5, 1500, effect=0.1)


def analysed(frames: dict[str, Any], **more: Any) -> TrialAnalysis:
    trial = Trial("t", **({"arms": ARMS, "primary": "ctr"} | more))
    return analyse(aggregate(read_logs(frames), trial), trial)


def test_a_guardrail_of_an_action_that_never_occurs_is_open_and_told(logs: dict[str, Any]) -> None:
    rails = {"guardrails": (Guardrail("refunds", 0.02),)}
    found = analysed(logs, metrics=REFUNDS, **rails)
    told = "no event of the log is a 'refnd', which it counts; there are click"
    assert (found.guardrails[0].standing, found.guardrails[0].note) == ("open", told)
    assert (found.decision, f"is not shown to hold; refunds: {told}" in found.verdicts[0].why) == ("do not ship", True)
    assert [w.message for w in found.warnings if w.code == "unseen-action"] == [f"refunds: {told}"]
    import polars as pl

    one = logs["events"].head(1).with_columns(action=pl.lit("refund"))
    events = pl.concat([logs["events"], one])
    assert "there are refund, click" in str(analysed(logs | {"events": events}, metrics=REFUNDS, **rails).verdicts[0])
    seen = {"refunds": OwnMetric("count(refund)", "units", "less")}
    held = analysed(logs | {"events": events}, metrics=seen, **rails)
    assert (held.guardrails[0].standing, held.decision) == ("held", "ship")
    assert "unseen-action" not in {w.code for w in held.warnings}


def test_what_was_unseen_is_kept_with_the_moments(logs: dict[str, Any], tmp_path: Path) -> None:
    trial = Trial("t", ARMS, "ctr", guardrails=(Guardrail("refunds", 0.02),), metrics=REFUNDS)
    found = aggregate(read_logs(logs), trial, parts=())
    found.save(str(tmp_path / "m.json"))
    again = read_moments(str(tmp_path / "m.json"))
    assert (again.unseen, again.actions) == (found.unseen, found.actions)
    assert again.unseen == {"refunds": "refnd"}
    assert analyse(again, trial).guardrails[0].standing == "open"
    from dataclasses import replace

    other = replace(found, unseen={}, actions={"refnd": 1, "click": 2})
    assert added([found, found]).unseen == {"refunds": "refnd"}
    both = added([found, other])
    assert (both.unseen, (both.actions or {})["refnd"]) == ({}, 1)


def test_a_primary_metric_of_an_action_that_never_occurs_cannot_tell(logs: dict[str, Any]) -> None:
    found = analysed(logs, primary="refunds", metrics=REFUNDS)
    assert found.decision == "cannot tell yet"
    assert found.verdicts[0].why == (
        "nothing can be said of refunds: no event of the log is a 'refnd', which it counts; there are click"
    )


def test_a_log_without_any_event_is_broken_where_the_plan_counts_some(logs: dict[str, Any]) -> None:
    silent = logs | {"events": logs["events"].head(0)}
    found = analysed(silent)
    assert (found.decision, found.withheld) == ("data broken", True)
    assert found.verdicts[0].why == "the log has no event at all, and ctr counts some"
    assert "Primary" not in str(found)
    assert analysed(silent, primary="latency").decision == "do not ship"


def test_check_tells_of_no_events_and_of_an_arm_without(logs: dict[str, Any]) -> None:
    import polars as pl

    def problems(events: Any) -> dict[str, Any]:
        return {p.code: p for p in check_logs(read_logs(logs | {"events": events})).problems}

    assert {"no-clicks", "arms-without-events"}.isdisjoint(problems(logs["events"]))
    none = problems(logs["events"].head(0))["no-clicks"]
    queries = len(logs["impressions"])
    assert (none.doubtful, none.count, none.of) == (True, queries, queries)
    assert none.message.startswith(f"there is no event at all after {queries:,} queries")
    old = logs["assignments"].filter(pl.col("variant") == "old").rename({"unit_id": "user_id"})
    asked = logs["impressions"].join(old.select("user_id"), on="user_id").select("query_id")
    silent = problems(logs["events"].join(asked, on="query_id"))["arms-without-events"]
    assert (silent.doubtful, silent.count, silent.of, silent.examples) == (True, 1, 2, ("new",))


def test_a_few_queries_without_a_click_are_nothing_odd(tmp_path: Path) -> None:
    """An arm of one query, beside one whose only query was clicked."""
    tables: dict[str, list[dict[str, Any]]] = {
        "impressions": [{"query_id": f"q{i}", "ts": i, "user_id": f"u{i}", "variant": "ab"[i]} for i in range(2)],
        "events": [{"query_id": "q0", "action": "click"}],
    }
    for name, rows in tables.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "arms-without-events" not in {p.code for p in check_logs(read_logs(str(tmp_path))).problems}


def test_check_finds_what_the_plan_names_and_the_log_has_not(logs: dict[str, Any]) -> None:
    more: dict[str, Any] = {"segments": ("devise", "device"), "covariates": ("bfore", "before")}
    rail = (Guardrail("refunds", 0.02), Guardrail("deep", 1))
    own = REFUNDS | {"deep": OwnMetric("depth", better="less")}
    trial = Trial("t", ARMS, "ctr", guardrails=rail, metrics=own, **more)
    found = {p.code: p for p in check_logs(read_logs(logs), trial).problems if p.doubtful}
    assert set(found) == {"missing-actions", "missing-segments", "missing-covariates", "missing-columns"}
    assert "segment devise is a column neither of impressions nor of assignments: they have device, query_id, " in (
        found["missing-segments"].message
    )
    assert found["missing-covariates"].message == "the covariate bfore is not in the log: there are before"
    assert found["missing-actions"].message == (
        "refunds: no event of the log is a 'refnd', which it counts; there are click"
    )
    assert "the metric deep needs the column depth of the impressions" in found["missing-columns"].message
    bare = {name: frame for name, frame in logs.items() if name != "covariates"}
    plain = Trial("t", ARMS, "ctr", covariates=("before",), unit="client")
    told = {p.code: p.message for p in check_logs(read_logs(bare), plain).problems if p.doubtful}
    assert told["missing-covariates"] == "the covariate before is not in the log: there are none"
    assert told["missing-columns"].startswith("the unit of the trial, client, is no column: they have query_id")


def test_an_arm_without_units_is_broken_and_the_arms_of_the_log_are_told(logs: dict[str, Any], tmp_path: Path) -> None:
    found = analysed(logs, arms={"old": 1.0, "nwe": 1.0})
    assert (found.decision, found.withheld) == ("data broken", True)
    assert found.verdicts[0].why == "no unit is in the arm nwe: assignments (polars) has new, old"
    import polars as pl

    shown = logs["impressions"].join(
        logs["assignments"].select(pl.col("unit_id").alias("user_id"), "variant"), on="user_id"
    )
    bare = {"impressions": shown, "events": logs["events"]}
    assert "nwe: impressions (polars) has new, old" in str(analysed(bare, arms={"old": 1.0, "nwe": 1.0}))
    also_old = logs["assignments"].filter(pl.col("variant") == "new").with_columns(variant=pl.lit("old"))
    twice = analysed(logs | {"assignments": pl.concat([logs["assignments"], also_old])})
    assert twice.verdicts[0].why == "no unit of the arm new counts, though assignments (polars) has some"
    (tmp_path / "experiment.toml").write_text("maximum = 9000\n" + PLAN.replace("new", "nwe"))
    for name, frame in logs.items():
        frame.write_parquet(tmp_path / f"{name}.parquet")
    done = command_line("online", "analyse", str(tmp_path))
    assert (done.exit, done.stdout.startswith("Data broken for nwe: no unit is in the arm nwe: ")) == (1, True)
    assert "was not planned" not in done.stdout + done.stderr
    assert not (tmp_path / "experiment.toml.ledger").exists()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_log_without_queries_is_refused_by_every_command(form: str, logs: dict[str, Any], tmp_path: Path) -> None:
    import polars as pl

    for name, frame in logs.items():
        flat = frame.drop("docs") if name == "impressions" else frame
        rows = flat.head(0) if name == "impressions" else flat
        getattr(pl.DataFrame(rows), f"write_{form}")(tmp_path / f"{name}.{form}")
    (tmp_path / "experiment.toml").write_text(PLAN)
    plan = ["--trial", str(tmp_path / "experiment.toml")]
    impressions = f"{tmp_path}/impressions.{form}"
    for more in (["analyse", *plan], ["analyse", *plan, "--replay", "10"], ["plan", *plan, "--effect", "0.1"]):
        done = command_line("online", more[0], str(tmp_path), *more[1:])
        assert done.exit == 3
        assert done.stderr.startswith(f"cranfield: {impressions}: has no query")
    checked = command_line("online", "check", str(tmp_path), *plan)
    assert (checked.exit, "no-queries: the impressions have no rows" in checked.stdout) == (1, True)


def test_a_file_of_nothing_is_called_empty(tmp_path: Path) -> None:
    (tmp_path / "impressions.csv").write_text("")
    (tmp_path / "events.csv").write_text("query_id,action\n")
    with pytest.raises(DataError, match=r"impressions.csv: is empty: it has nothing, not even the names of columns"):
        read_logs(str(tmp_path))


def test_metrics_of_ranks_are_refused_where_ranks_count_from_0(logs: dict[str, Any]) -> None:
    import polars as pl

    zero = logs | {"events": logs["events"].with_columns(rank=pl.col("rank") - 1)}
    below = int((zero["events"]["rank"] < 1).sum())
    told = (
        rf"^events \(polars\): {below} of [0-9,]+ clicks have a rank below 1, and ranks count from 1.*\n.*Add 1 to each"
    )
    for metric in ("rr_first", "rank_first", "clicks_at_1"):
        with pytest.raises(DataError, match=told):
            analysed(zero, secondary=(metric,))
    with pytest.raises(DataError, match=told):
        replay(read_logs(zero), Trial("t", ARMS, "rr_first"), times=10)
    assert analysed(zero).decision == "ship"  # no rank is asked for
    cart = logs["events"].head(1).with_columns(action=pl.lit("cart"), rank=pl.lit(0).cast(pl.Int64))
    assert analysed(logs | {"events": pl.concat([logs["events"], cart])}, secondary=("rr_first",)).decision == "ship"


def simulated(folder: Path, **more: Any) -> Any:
    from cranfield import read_qrels, read_run

    runs = [read_run(str(EXAMPLES / f"{name}.run")) for name in ("bm25", "dense")]
    rankings = JudgedRankings.of(read_qrels(str(EXAMPLES / "qrels.txt")), runs, ["bm25", "dense"], depth=10)
    design = more.pop("design", "ab")
    return write_simulated(
        UserSimulation(rankings, population=Population(users=50), design=design), str(folder), **more
    )


def test_a_simulation_written_anew_begins_a_new_ledger(tmp_path: Path) -> None:
    assert simulated(tmp_path).notes == ()
    ledger = tmp_path / "experiment.toml.ledger"
    ledger.write_text("a look\n")
    (tmp_path / "mine.txt").write_text("kept\n")
    over = "an earlier simulation was there and is written over"
    assert simulated(tmp_path).notes == (f"{over}, and its ledger is removed",)
    assert not ledger.exists()
    for _ in range(2):
        assert simulated(tmp_path, to="jsonl", design="interleaving").notes == (over,)
        assert {path.name for path in tmp_path.iterdir()} == {
            *("simulation.txt", "impressions.jsonl", "events.jsonl", "mine.txt")
        }
    assert (
        tmp_path / "simulation.txt"
    ).read_text() == "50 navigational users simulated over 14 days, seed 0: team-draft\n"
    simulated(tmp_path)
    assert not (tmp_path / "simulation.txt").exists()


@pytest.mark.parametrize("name", ["experiment.toml", "impressions.parquet"])
def test_what_no_simulation_wrote_is_not_written_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(PLAN)
    qrels, *runs = (str(EXAMPLES / file) for file in ("qrels.txt", "bm25.run", "dense.run"))
    done = command_line("online", "simulate", qrels, *runs, "--users", "50", "-o", str(tmp_path))
    assert (done.exit, done.stderr) == (
        2,
        f"cranfield: {tmp_path / name} is there already, and no simulation wrote it; name another folder with -o\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_preferences_of_broken_data_end_with_1(tmp_path: Path) -> None:
    lines = (EXAMPLES / "shown.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    shown = [rows[0] | {"query_id": f"q{i}", "user_id": f"u{i}"} for i in range(200)]
    clicks = [{"query_id": f"q{i}", "action": "click", "doc_id": rows[0]["docs"][0]} for i in range(200)]
    for name, made in (("shown", shown), ("clicked", clicks)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    done = command_line("online", "preferences", str(tmp_path / "shown.jsonl"), str(tmp_path / "clicked.jsonl"))
    assert (done.exit, done.stdout.startswith("Data broken: ")) == (1, True)
    sound = command_line(
        "online", "preferences", str(EXAMPLES / "shown.jsonl"), str(EXAMPLES / "clicked.jsonl"), "--resamples", "100"
    )
    assert sound.exit == 0
