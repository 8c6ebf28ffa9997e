"""Runs best first: ranks, tiers, and what changed from the public half of the topics to the private one."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import cranfield
from commands import Outcome, command_line
from cranfield import DataError, Experiment, Policy, Results, UsageError
from cranfield.comparison import leaderboard
from cranfield.comparison.standing import tiers
from cranfield.evaluation.result_tables import FORMATS
from cranfield.policy import TopicSet
from places import COLLECTION, EXAMPLES

TOPICS = [f"t{number:02}" for number in range(30)]
QRELS = {topic: {"d1": 1, "d2": 0} for topic in TOPICS}
HALVES = {"public": TopicSet(TOPICS[:15], "public"), "private": TopicSet(TOPICS[15:], "private")}


def run(*ranks: int) -> dict[str, dict[str, float]]:
    """A run that has the relevant document of each topic at some rank, over and over."""
    lists = [[f"x{number}" for number in range(1, rank)] + ["d1"] for rank in ranks]
    return {
        topic: {d: 9.0 - place for place, d in enumerate(lists[number % len(ranks)])}
        for number, topic in enumerate(TOPICS)
    }


RUNS = {"weak": run(4), "good": run(1), "even": run(1, 2), "twin": run(1, 2), "odd": run(2, 1)}


def results(policy: Policy | None = None, runs: Any = RUNS, measures: Any = "RR") -> Results:
    return cranfield.evaluate(QRELS, runs, measures, policy=policy)


def halves(now: dict[str, Any] = RUNS) -> tuple[dict[str, Any], Results]:
    """The public results as JSON, and the private ones."""
    public = results(Policy(topic_set=HALVES["public"])).to_dict()
    return public, results(Policy(topic_set=HALVES["private"]), now)


class TestRanksAndTiers:
    def test_the_best_is_first_and_the_same_mean_shares_a_rank(self) -> None:
        places = leaderboard(results(), "RR").places
        assert [list(RUNS)[number] for number in places.order] == ["good", "even", "twin", "odd", "weak"]
        assert places.ranks == [5, 1, 2, 2, 2]

    def test_of_a_loss_the_lowest_is_first(self) -> None:
        places = leaderboard(results(measures="E@1"), "E@1").places
        assert places.ranks == [5, 1, 2, 2, 2]

    def test_tiers_are_those_of_a_comparison_on_this_measure_alone(self) -> None:
        board = leaderboard(results(measures=["RR", "AP", "P@1"]), "RR")
        comparison = cranfield.compare(Experiment(QRELS, RUNS), "RR")
        assert list(board.places.tiers) == tiers(comparison, comparison.panels[0])
        assert board.places.tiers == ("3", "1", "2", "2", "2")
        assert "Holm correction for 10 comparisons, level 0.05" in board.places.rule

    def test_a_run_that_was_handed_in_twice_is_told(self) -> None:
        warnings = leaderboard(results(), "RR").warnings
        assert any("every judged document at the same rank: even and twin" in warning.message for warning in warnings)

    def test_few_topics_are_told(self) -> None:
        few = Policy(topic_set=TopicSet(TOPICS[:4]))
        assert any(warning.code == "few-topics" for warning in leaderboard(results(few), "RR").warnings)
        of_all = [warning for warning in leaderboard(results(), "RR").warnings if warning.code == "few-topics"]
        assert [warning.doubtful for warning in of_all] == [False]  # 30 topics are a note alone

    @pytest.mark.parametrize(
        ("measure", "policy", "runs", "rule"),
        [
            ("AP(agg='geometric')", Policy(), RUNS, "compare means over topics, which this is not"),
            ("RR", Policy(topics="run"), {"a": RUNS["good"], "b": {"t01": RUNS["weak"]["t01"]}}, "topics of their own"),
            ("RR", Policy(topic_set=TopicSet(["t01"])), RUNS, "one topic alone"),
        ],
    )
    def test_where_nothing_can_be_tested_there_are_ranks_alone(
        self, measure: str, policy: Policy, runs: Any, rule: str
    ) -> None:
        board = leaderboard(results(policy, runs, measure), measure)
        assert set(board.places.tiers) == {"–"}
        assert board.places.rule.startswith("no tiers: ")
        assert rule in board.places.rule
        assert 1 in board.places.ranks

    def test_one_run_is_first_in_the_first_tier(self) -> None:
        places = leaderboard(results(runs={"a": RUNS["good"]}), "RR").places
        assert (places.ranks, places.tiers) == ([1], ("1",))

    def test_a_measure_without_a_better_side_is_refused(self) -> None:
        with pytest.raises(UsageError, match="no value of NumRet is better than another"):
            leaderboard(results(measures="NumRet"), "NumRet")
        with pytest.raises(UsageError, match="AP was not evaluated"):
            leaderboard(results(), "AP")

    def test_it_prints_as_its_table(self) -> None:
        board = leaderboard(results(), "RR")
        assert str(board).startswith("rank  tier  run       RR\n1     1     good  1.0000\n")
        assert repr(board).startswith("<Leaderboard: 5 runs by RR>")
        assert '<th scope="col">rank</th>' in board._repr_html_()
        assert board.to_dict()["runs"][0]["rank"] == 1


class TestChanges:
    def test_ranks_and_scores_before_are_beside_those_now(self) -> None:
        public, private = halves()
        board = leaderboard(private, "RR", public)
        good, odd = (board.to_dict()["runs"][place] for place in (0, 1))
        assert (good["name"], good["rank_before"], good["moved"], good["change"]) == ("good", 1, 0, 0.0)
        # Each half has an odd number of topics, of which one run or the other has the more.
        assert (odd["name"], odd["rank"], odd["rank_before"], odd["moved"]) == ("odd", 2, 4, 2)
        for run in board.to_dict()["runs"]:
            assert run["moved"] == run["rank_before"] - run["rank"]
            assert run["change"] == pytest.approx(run["mean"]["RR"] - run["mean_before"])
            assert run["mean_before"] == next(r["mean"]["RR"] for r in public["runs"] if r["name"] == run["name"])
        assert {run["name"]: run["moved"] for run in board.to_dict()["runs"]} == {
            "good": 0,
            "odd": 2,
            "even": -1,
            "twin": -1,
            "weak": 0,
        }

    def test_upwards_is_plus_as_people_read_it(self) -> None:
        public, private = halves()
        cells = leaderboard(private, "RR", public).places.cells(list(RUNS).index("odd"))
        assert cells == (["2", "1"], ["4", "+2", "0.7333", "+0.0333"])

    def test_nothing_is_doubtful_about_two_halves_of_the_same_runs(self) -> None:
        public, private = halves()
        codes = {warning.code for warning in leaderboard(private, "RR", public).warnings}
        assert not codes & {"topics-in-both", "unknown-topics", "runs-gone", "runs-new", "other-runs"}

    def test_topics_in_both_are_named(self) -> None:
        public, _ = halves()
        now = results(Policy(topic_set=TopicSet(TOPICS[13:])))
        told = [w for w in leaderboard(now, "RR", public).warnings if w.code == "topics-in-both"]
        assert [w.message for w in told] == ["these topics are in both, 2 of 17 here: t13, t14"]
        assert told[0].doubtful

    def test_runs_that_are_gone_or_new_are_named_and_have_no_change(self) -> None:
        public, private = halves({"good": RUNS["good"], "late": RUNS["weak"]})
        board = leaderboard(private, "RR", public)
        messages = {warning.code: warning.message for warning in board.warnings}
        assert messages["runs-gone"] == (
            "4 runs of it not here now, but counted in the ranks before: weak, even, twin, odd"
        )
        assert messages["runs-new"] == "1 run not in it, so without a change: late"
        assert board.places.cells(1) == (["2", board.places.tiers[1]], ["–"] * 4)
        assert board.places.exact(1)[1] == [None] * 4

    def test_no_run_in_common_is_an_error(self) -> None:
        public, private = halves({"late": RUNS["weak"], "later": RUNS["good"]})
        with pytest.raises(DataError, match="none of these runs is in it: it has weak, good, even and 2 more"):
            leaderboard(private, "RR", public)

    def test_another_measure_is_refused(self) -> None:
        public, _ = halves()
        with pytest.raises(UsageError, match="the earlier results: no scores by AP in it, but by RR: two measures"):
            leaderboard(results(measures="AP"), "AP", public)

    @pytest.mark.parametrize(
        ("setting", "told"), [({"depth": 3}, "depth is 3 now and was None"), ({"ties": "file"}, "ties is file now")]
    )
    def test_another_policy_is_refused(self, setting: dict[str, Any], told: str) -> None:
        public, _ = halves()
        with pytest.raises(UsageError, match=told):
            leaderboard(results(Policy(**setting)), "RR", public)

    @pytest.mark.parametrize("change", ["schema", "runs", "policy", "measures", "inputs"])
    def test_what_is_no_evaluation_is_refused(self, change: str) -> None:
        public, private = halves()
        del public[change]
        with pytest.raises(DataError, match="is not the JSON of an evaluation"):
            leaderboard(private, "RR", public)
        with pytest.raises(DataError, match="is not the JSON of an evaluation"):
            leaderboard(private, "RR", public | {change: 3})

    @pytest.mark.parametrize(
        ("place", "value", "told"),
        [
            (("runs", 1, "mean", "RR"), True, "the mean of good by RR must be a number, not True"),
            (("runs", 1, "mean", "RR"), "0.4", "the mean of good by RR must be a number, not '0.4'"),
            (("runs", 1, "mean", "RR"), float("inf"), "the mean of good by RR must be a number, not inf"),
            (("runs", 1, "mean", "RR"), None, "the mean of good by RR must be a number, not None"),
            (("runs", 1, "mean"), 0.4, "'mean' must be an object, not 0.4"),
            (("runs", 1, "name"), 4, "the name of a run must be text, not 4"),
            (("runs", 1, "name"), "weak", "has two runs of the name weak"),
            (("runs",), [], "has no runs"),
            (("measures",), [], "has no measures"),
            (("measures",), "RR", "'measures' must be a list of texts, not 'RR'"),
            (("runs", 1), "good", "'runs' must be a list of objects, not"),
            (("policy", "topic_set", "topics"), "123", "'topics' must be a list of texts, not '123'"),
            (("policy", "topic_set", "topics"), [1, 2], "'topics' must be a list of texts, not [1, 2]"),
            (("policy", "topic_set"), 3, "'topic_set' must be an object, not 3"),
            (("inputs",), [], "'inputs' must be the judgements and a file for each run, not []"),
            (("inputs", 0, "digest"), 3, "'digest' must be text or null, not 3"),
            (("inputs", 2, "digest"), 3, "'digest' must be text or null, not 3"),
        ],
    )
    def test_what_is_damaged_is_refused_with_what_it_is(self, place: tuple[Any, ...], value: Any, told: str) -> None:
        public, private = halves()
        for run in public["runs"]:
            del run["topics"]
        leaderboard(private, "RR", public)
        within: Any = public
        for step in place[:-1]:
            within = within[step]
        within[place[-1]] = value
        with pytest.raises(DataError) as error:
            leaderboard(private, "RR", public)
        assert f"the earlier results: {told}" in str(error.value).replace("is not the JSON of an evaluation: ", "")
        assert "cranfield evaluate … -f json" in str(error.value)

    def test_how_numbers_are_drawn_matters_only_where_they_are(self) -> None:
        public, _ = halves()
        other: dict[str, Any] = {"seed": 7, "samples": 50, "topic_set": HALVES["private"]}
        assert leaderboard(results(Policy(**other)), "RR", public).places.earlier
        expected = results(Policy(ties="expected", topic_set=HALVES["public"])).to_dict()
        with pytest.raises(UsageError, match="samples is 50 now and was 200; seed is 7 now and was 0"):
            leaderboard(results(Policy(ties="expected", **other)), "RR", expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("class")
    for name in ("qrels.txt", "bm25.run", "dense.run"):
        (home / name).write_bytes((EXAMPLES / name).read_bytes())
    command_line("split", "qrels.txt", "--test-share", "0.5", "--with-qrels", "-o", "halves", folder=home)
    public = evaluated(home, "-f", "json", part="train")
    (home / "public.json").write_text(public.stdout)
    (home / "all.json").write_text(evaluated(home, "-f", "json").stdout)
    return home


def evaluated(folder: Path, *given: str, part: str | None = None, qrels: str = "qrels.txt") -> Outcome:
    topics = [] if part is None else ["--topic-set", f"halves/splits.json:{part}"]
    return command_line("evaluate", qrels, "bm25.run", "dense.run", *topics, *given, folder=folder)


class TestCommand:
    def test_a_measure_that_was_not_asked_for_is_added(self, folder: Path) -> None:
        done = evaluated(folder, "-m", "P@5", "--sort", "ndcg_cut_10")
        assert done.stdout.splitlines()[0].split() == ["rank", "tier", "run", "P@5", "nDCG@10"]
        assert [line.split()[2] for line in done.stdout.splitlines()[1:]] == ["dense", "bm25"]
        assert "note: nDCG@10: a tier has the runs that are not significantly different from its best" in done.stderr

    @pytest.mark.parametrize("format", FORMATS)
    def test_every_format_has_ranks_tiers_and_changes_and_the_best_first(self, folder: Path, format: str) -> None:
        done = evaluated(folder, "-m", "AP", "--sort", "AP", "--before", "public.json", "-f", format, part="test")
        text = done.stdout
        assert done.exit == 0
        if format == "trec":
            tags = re.findall(r"runid\s+all\s+(\S+)", text)
            assert len(tags) == 2
            assert re.findall(r"^(\w+)\s+all\s+\S+$", text, re.M)[:8] == [
                *("runid", "map", "rank", "tier", "rank_before", "moved", "AP_before", "change"),
            ]
        elif format in ("json", "jsonl"):
            runs = json.loads(text)["runs"] if format == "json" else [json.loads(line) for line in text.splitlines()]
            assert [run.get("name", run.get("run")) for run in runs] == ["dense", "bm25"]
            assert [(run["rank"], run["tier"], run["rank_before"], run["moved"]) for run in runs] == [
                (1, "1", 1, 0),
                (2, "1", 2, 0),
            ]
        else:
            assert text.index("dense") < text.index("bm25")
            for heading in ("rank", "tier", "AP", "rank before", "moved", "AP before", "change"):
                assert heading in text

    def test_with_topics_places_stand_beside_the_mean_alone(self, folder: Path) -> None:
        done = evaluated(folder, "-m", "AP", "--sort", "AP", "-q", "-f", "csv", part="test")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        assert [row["rank"] for row in rows] == ["", "", "", "1", "", "", "", "2"]
        assert [row["topic"] for row in rows] == ["2", "5", "6", "all"] * 2

    def test_the_json_says_what_it_is_sorted_by_and_since_when(self, folder: Path) -> None:
        done = evaluated(folder, "-m", "AP", "--sort", "AP", "--before", "public.json", "-f", "json", part="test")
        document = json.loads(done.stdout)
        assert (document["sorted"]["by"], document["sorted"]["before"]) == ("AP", "public.json")
        assert document["sorted"]["tiers"].startswith("a tier has the runs that")
        assert "tiers" in {warning["code"] for warning in document["warnings"]}

    def test_what_it_printed_may_be_what_the_next_is_held_against(self, folder: Path) -> None:
        first = evaluated(folder, "--sort", "AP", "-f", "json", part="train").stdout
        (folder / "sorted.json").write_text(first)
        table, other = (
            evaluated(folder, "--sort", "AP", "--before", name, part="test").stdout
            for name in ("sorted.json", "public.json")
        )
        assert table == other

    def test_all_topics_before_are_in_both_where_the_judgements_are_the_same(self, folder: Path) -> None:
        done = evaluated(folder, "--sort", "AP", "--before", "all.json", part="test")
        assert "warning: all.json: these topics are in both, 3 of 3 here: 2, 5, 6" in done.stderr

    def test_topics_that_are_not_told_are_told_to_be_so(self, folder: Path) -> None:
        done = evaluated(folder, "--sort", "AP", "--before", "all.json", qrels="halves/test.qrels")
        assert "warning: all.json: does not say which topics it is over" in done.stderr
        by_topic = evaluated(folder, "-q", "-f", "json", qrels="halves/train.qrels").stdout
        (folder / "by-topic.json").write_text(by_topic)
        told = evaluated(folder, "--sort", "AP", "--before", "by-topic.json", qrels="halves/test.qrels").stderr
        assert "by-topic.json" not in told

    def test_a_run_from_another_file_is_noted(self, folder: Path) -> None:
        public = json.loads((folder / "public.json").read_text())
        (folder / "bm25.json").write_text(json.dumps(public).replace(public["inputs"][1]["digest"], "xxh3_128:other"))
        done = evaluated(folder, "--sort", "AP", "--before", "bm25.json", part="test")
        assert "note: bm25.json: 1 run from another file than before: bm25" in done.stderr

    def test_ranks_before_need_a_measure(self, folder: Path) -> None:
        done = evaluated(folder, "--before", "public.json")
        assert done.exit == 2
        assert "--before is about ranks: say by which measure, as --sort nDCG@10" in done.stderr


@pytest.mark.skipif(not COLLECTION.exists(), reason="the shared data are not here")
def test_a_class_of_twenty_is_scored_in_two_commands(tmp_path: Path) -> None:
    """The runs of real systems with noise of their own, as if twenty students had handed them in."""
    draw = random.Random(1)
    runs = sorted((COLLECTION / "runs").glob("*m*.run.gz"))[:5]
    for number in range(20):
        with gzip.open(runs[number % 5], "rt") as file:
            found = [line.split() for line in file if not line.startswith("#")]
        noise = number // 5 * 0.2
        lines = [f"{t} Q0 {d} 1 {float(score) + draw.gauss(0, noise):.6f} x\n" for t, _, d, _, score, _ in found]
        (tmp_path / f"student{number:02}.run").write_text("".join(lines))
    names = [f"student{number:02}.run" for number in range(20)]
    qrels = str(COLLECTION / "cranfield.qrels")
    given = ["--test-share", "0.5", "--with-qrels", "--with-topics", str(COLLECTION / "cran.qry")]
    split = command_line("split", qrels, *given, "--ids", "position", "-o", "halves", folder=tmp_path)
    assert split.stdout == (
        "1 split in halves/splits.json and 2 lists of topics beside it, with 4 files of judgements and topics\n"
    )
    line = ["evaluate", qrels, *names, "-m", "nDCG@10", "--sort", "nDCG@10"]
    public = command_line(*line, "--topic-set", "halves/splits.json:train", "-f", "json", folder=tmp_path)
    (tmp_path / "public.json").write_text(public.stdout)
    private = command_line(
        *line, "--topic-set", "halves/test.qrels", "--before", "public.json", "-f", "csv", folder=tmp_path
    )
    rows = list(csv.DictReader(io.StringIO(private.stdout)))
    assert [int(row["rank"]) for row in rows] == list(range(1, 21))
    assert sorted(int(row["rank before"]) for row in rows) == list(range(1, 21))
    assert any(int(row["moved"]) for row in rows)
    assert "in both" not in private.stderr
    whole = cranfield.evaluate(qrels, [str(tmp_path / name) for name in names], "nDCG@10")
    for row in rows:
        both = float(row["nDCG@10"]) * 112 + float(row["nDCG@10 before"]) * 113
        assert both / 225 == pytest.approx(whole["nDCG@10"][row["run"]])
