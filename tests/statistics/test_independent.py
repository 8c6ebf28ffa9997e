"""Tests for systems scored on different topics, against published figures and SciPy; and their error rates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from scipy import stats

from cranfield.cli import cli
from cranfield.errors import DataError, UsageError
from cranfield.statistics.deciding import Decision, decide
from cranfield.statistics.independent import exchanged, mann_whitney, student, welch
from cranfield.statistics.intervals import unpaired
from cranfield.statistics.significance import Sampling, SignificanceTest, all_pairs, all_tests, find_test
from places import EXAMPLES
from simulate import MARGINS, Floats, band, pairs_within

PAIR = np.array([[0, 1]])
SAMPLING = Sampling()
SLEEP = [[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]]
INDEPENDENT = [test for test in all_tests() if test.kind == "independent"]


def apart(*samples: Floats | list[float]) -> Floats:
    """Samples as scores[system, topic], each system on topics of its own."""
    scores = np.full((len(samples), sum(map(len, samples))), np.nan)
    start = 0
    for row, sample in zip(scores, samples, strict=True):
        row[start : start + len(sample)] = sample
        start += len(sample)
    return scores


def test_student_sleep_as_if_independent() -> None:
    scores = apart(*SLEEP)
    outcome = welch(scores, PAIR, SAMPLING)
    assert outcome.statistic[0] == pytest.approx(-1.8608135, abs=5e-8)
    assert outcome.p[0] == pytest.approx(0.07939414, abs=5e-9)  # 17.77647 degrees of freedom
    assert outcome.p[0] == pytest.approx(2 * stats.t.sf(1.8608135, 17.77647), rel=1e-6)
    outcome = mann_whitney(scores, PAIR, SAMPLING)
    assert outcome.statistic[0] == 25.5
    assert outcome.p[0] == pytest.approx(0.0693276, abs=5e-8)
    assert student(scores, PAIR, SAMPLING).p[0] == pytest.approx(0.07918671, abs=5e-9)


def test_all_pairs_are_those_of_scipy() -> None:
    random = np.random.default_rng(1)
    samples = [random.beta(1, 2, size=size).round(2) for size in (5, 8, 9, 30, 31)]
    scores, pairs = apart(*samples), all_pairs(5)
    oracles: dict[Any, Callable[..., Any]] = {
        student: stats.ttest_ind,
        welch: partial(stats.ttest_ind, equal_var=False),
        mann_whitney: stats.mannwhitneyu,
    }
    for test, oracle in oracles.items():
        outcome = test(scores, pairs, SAMPLING)
        expected = [oracle(samples[first], samples[second]) for first, second in pairs]
        np.testing.assert_allclose(outcome.statistic, [found.statistic for found in expected], rtol=1e-12)
        np.testing.assert_allclose(outcome.p, [found.pvalue for found in expected], rtol=1e-12)
        assert not outcome.error.any()


@pytest.mark.parametrize("test", INDEPENDENT, ids=lambda test: test.name)
def test_shared_topics_are_refused(test: SignificanceTest) -> None:
    scores = np.array([[0.1, 0.2, 0.3, np.nan], [np.nan, np.nan, 0.2, 0.4], [0.1, 0.2, np.nan, np.nan]])
    with pytest.raises(UsageError, match="1 topic is shared by two systems: use a paired test such as 't'"):
        test.function(scores, PAIR, SAMPLING)
    with pytest.raises(UsageError, match="2 topics are shared"):
        test.function(scores, all_pairs(3), SAMPLING)
    assert test.function(scores, np.array([[1, 2]]), SAMPLING).p.shape == (1,)


@pytest.mark.parametrize("test", INDEPENDENT, ids=lambda test: test.name)
def test_a_single_topic_is_refused(test: SignificanceTest) -> None:
    with pytest.raises(UsageError, match="fewer than 2 topics"):
        test.function(apart([0.1], [0.2, 0.3]), PAIR, SAMPLING)


@pytest.mark.parametrize("test", INDEPENDENT, ids=lambda test: test.name)
def test_scores_that_never_vary(test: SignificanceTest) -> None:
    outcome = test.function(apart([0.1 + 0.2, 0.3], [0.3, 0.3], [0.5, 0.5]), all_pairs(3), SAMPLING)
    if test.name == "mann-whitney":
        assert outcome.p[0] == 1
        assert outcome.p[1] == pytest.approx(1 / 3, abs=0.2)
    else:
        assert np.isnan(outcome.p).all()
        assert outcome.notes == ("in 3 of 3 pairs neither system's scores vary: p is undefined",)


def test_welch_with_one_system_that_never_varies() -> None:
    """The variance is all the other's, and so are the degrees of freedom."""
    samples = [[0.5, 0.5, 0.5, 0.5], [0.1, 0.4, 0.3, 0.6, 0.2]]
    other = np.array(samples[1])
    by_hand = stats.t.sf(abs(other.mean() - 0.5) / (other.std(ddof=1) / np.sqrt(5)), 4) * 2
    for first, second in (samples, samples[::-1]):
        outcome = welch(apart(first, second), PAIR, SAMPLING)
        assert outcome.p[0] == pytest.approx(by_hand, rel=1e-12)
        assert outcome.notes == ()


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (2, 5), (4, 4)])
def test_constant_scores_are_dealt_anew(sizes: tuple[int, int]) -> None:
    """Every way to deal the scores to samples of these sizes, listed."""
    scores = apart([0.7] * sizes[0], [0.2] * sizes[1])
    values = np.array([0.7] * sizes[0] + [0.2] * sizes[1])
    apart_by = []
    for chosen in combinations(range(len(values)), sizes[0]):
        kept = np.isin(np.arange(len(values)), chosen)
        apart_by.append(abs(values[kept].mean() - values[~kept].mean()))
    assert exchanged(scores, PAIR)[0] == pytest.approx(np.mean(np.array(apart_by) >= apart_by[0] - 1e-12))
    assert exchanged(apart([0.1 + 0.2] * 3, [0.3] * 3), PAIR)[0] == 1


@pytest.mark.parametrize(("test", "equal"), [(student, True), (welch, False)])
def test_one_system_whose_scores_never_vary(test: Any, equal: bool) -> None:
    """The other's variance is enough: as SciPy has it, and no word of systems that do not vary."""
    varying, constant = [0.1, 0.4, 0.35, 0.8, 0.6], [0.25] * 4
    for first, second in ((varying, constant), (constant, varying)):
        outcome = test(apart(first, second), PAIR, SAMPLING)
        own = [
            (np.mean(sample), np.std(sample, ddof=1) if sample is varying else 0.0, len(sample))
            for sample in (first, second)
        ]
        expected = stats.ttest_ind_from_stats(*own[0], *own[1], equal_var=equal)
        assert outcome.statistic[0] == pytest.approx(expected.statistic, rel=1e-12)
        assert outcome.p[0] == pytest.approx(expected.pvalue, rel=1e-12)
        assert 0 < outcome.p[0] < 1
        assert outcome.notes == ()


def test_ties_of_ranks_are_seen_through_rounding() -> None:
    assert mann_whitney(apart([0.1 + 0.2, 0.9], [0.3, 0.1]), PAIR, SAMPLING).statistic[0] == 3.5


@pytest.mark.parametrize("test", INDEPENDENT, ids=lambda test: test.name)
def test_false_alarms_stay_in_their_band(test: SignificanceTest) -> None:
    """Both systems' scores from one distribution, as unequal in number of topics as 30 and 20."""
    sets = 2000
    scores = MARGINS["nDCG"](np.random.default_rng(2).random((sets, 2, 50)))
    scores[:, 0, 30:] = np.nan
    scores[:, 1, :30] = np.nan
    p = test.function(scores.reshape(2 * sets, 50), pairs_within(sets), SAMPLING).p
    assert abs(np.mean(p <= 0.05) - 0.05) <= band(0.05, sets)


def by(test: str, scores: Floats) -> Decision:
    outcomes = {test: find_test(test).function(scores, PAIR, SAMPLING)}
    return decide(scores, PAIR, outcomes, SAMPLING, by_rule=False, kind="independent")


@pytest.mark.parametrize(("test", "equal"), [("student", True), ("welch", False)])
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_intervals_are_those_of_scipy(test: str, equal: bool, level: float) -> None:
    random = np.random.default_rng(5)
    samples = random.beta(1, 2, size=12), random.beta(2, 2, size=7)
    scores = apart(*samples)
    decision = by(test, scores)
    ends = unpaired(scores, PAIR, decision, level, decision.p < level)
    expected = stats.ttest_ind(*samples, equal_var=equal).confidence_interval(1 - level)
    assert (ends.low[0], ends.high[0]) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert (ends.low[0] > 0 or ends.high[0] < 0) == (decision.p[0] < level)


@pytest.mark.parametrize("test", ["student", "welch", "mann-whitney"])
def test_no_interval_of_ranks_nor_where_nothing_varies(test: str) -> None:
    constant = apart([0.7] * 3, [0.2] * 4)
    varying = apart([0.7, 0.4, 0.2], [0.2, 0.1, 0.3])
    for scores in (constant, varying):
        decision = by(test, scores)
        ends = unpaired(scores, PAIR, decision, 0.05, decision.p < 0.05)
        shown = test != "mann-whitney" and scores is varying
        assert np.isfinite([ends.low[0], ends.high[0]]).all() == shown
        assert np.isnan([ends.low[0], ends.high[0]]).any() != shown


ON_TOPICS = {"first": "1 2 3", "second": "4 5 6", "both": "3 4 5 6"}


@pytest.fixture(scope="module")
def own_topics(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Runs that share no topic, one that shares some with either, and their judgements."""
    folder, examples = tmp_path_factory.mktemp("topics"), EXAMPLES
    lines = (examples / "bm25.run").read_text().splitlines(keepends=True)
    made = {"qrels": str(examples / "qrels.txt")}
    for name, topics in ON_TOPICS.items():
        (folder / f"{name}.run").write_text("".join(line for line in lines if line.split()[0] in topics.split()))
        made[name] = str(folder / f"{name}.run")
    return made


def compared(files: dict[str, str], runs: str, *words: str) -> Result:
    paths = [files[name] for name in ("qrels", *runs.split())]
    return CliRunner().invoke(cli, ["compare", *paths, "-m", "AP", *words])


UNPAIRED = [test.name for test in INDEPENDENT]


@pytest.mark.parametrize("test", UNPAIRED)
def test_disjoint_topics_are_compared_once_the_policy_says_so(test: str, own_topics: dict[str, str]) -> None:
    refused = compared(own_topics, "first second", "--test", test)
    assert isinstance(refused.exception, UsageError)
    assert f"{test} is for systems that each have topics of their own" in str(refused.exception)
    assert "under --topics qrels every topic counts for all: say --topics run" in str(refused.exception)
    assert "shared by" not in str(refused.exception)
    done = compared(own_topics, "first second", "--test", test, "--topics", "run")
    assert done.exit_code == 0, done.output
    assert 'not significantly different: that is not "equal"\n' in done.stderr
    assert "--equivalence" not in done.stderr  # which these tests refuse
    has_none = "has no interval of the mean difference." in done.stdout.replace("\n", " ")
    assert has_none == (test == "mann-whitney")
    assert ("The interval leaves out 0" in done.stdout) != has_none


def test_scores_that_do_not_vary_have_no_interval_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"{topic} 0 d 1\n" for topic in "1234"))
    for name, topics in (("one", "12"), ("two", "34")):
        (tmp_path / name).write_text("".join(f"{topic} Q0 d 1 1 {name}\n" for topic in topics))
    files = {name: str(tmp_path / name) for name in ("qrels", "one", "two")}
    done = compared(files, "one two", "--test", "welch", "--topics", "run")
    assert "No interval is computed where scores do not vary." in done.stdout.replace("\n", " ")


@pytest.mark.parametrize("test", UNPAIRED)
@pytest.mark.parametrize("words", [[], ["--topics", "run"]])
def test_topics_that_are_shared_are_told_as_such(test: str, words: list[str], own_topics: dict[str, str]) -> None:
    """At once, whatever the policy: none sends to another that refuses as well."""
    refused = compared(own_topics, "first both", "--test", test, *words)
    assert str(refused.exception) == "1 topic is shared by two systems: use a paired test such as 't'"


@pytest.mark.parametrize("words", [[], ["--test", "t"], ["--test", "tukey"], ["--test", "wilcoxon"]])
def test_a_paired_test_without_shared_topics_names_the_unpaired_ones(
    words: list[str], own_topics: dict[str, str]
) -> None:
    refused = compared(own_topics, "first second", "--topics", "run", *words)
    assert isinstance(refused.exception, DataError)
    assert "a comparison needs 2 topics with a score from every system or more, not 0" in str(refused.exception)
    assert all(test in str(refused.exception) for test in UNPAIRED)
    assert "--test welch, student or mann-whitney" in str(refused.exception)


def test_tests_of_both_kinds_are_not_mixed(own_topics: dict[str, str]) -> None:
    for order in (["--test", "welch", "--test", "t"], ["--test", "t", "--test", "welch"]):
        refused = compared(own_topics, "first second", "--topics", "run", *order)
        assert "t is for systems that share topics, welch for systems that do not" in str(refused.exception)


def test_help_and_list_say_how_to_compare_systems_on_topics_of_their_own() -> None:
    told = " ".join(CliRunner().invoke(cli, ["compare", "--help"]).output.split())
    assert "compared with --topics run and an unpaired test: --test welch, student or mann-whitney" in told
    listed = CliRunner().invoke(cli, ["compare", "--test", "list"]).output
    assert listed.count("(each system on topics of its own: --topics run)") == len(UNPAIRED)


def test_paired_comparisons_still_point_to_equivalence(own_topics: dict[str, str]) -> None:
    assert "Ask for equivalence" in compared(own_topics, "second both").stderr
