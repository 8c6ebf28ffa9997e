"""Which test decides, that tests without an answer say so, and that no interval contradicts the p-value beside it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import cranfield
from cranfield.comparison.comparison import Comparison
from cranfield.comparison.comparison_tables import legend, pairs_grid, render
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Question
from cranfield.comparison.standing import tiers
from cranfield.comparison.systems import compare_results
from cranfield.evaluation.experiment import Experiment
from cranfield.planning.plans import power_analysis
from cranfield.statistics.corrections import all_corrections
from cranfield.statistics.deciding import FEW_CHANGED, decide
from cranfield.statistics.differences import moments
from cranfield.statistics.effects import effects, sure_interval
from cranfield.statistics.families import maxt
from cranfield.statistics.intervals import flipped
from cranfield.statistics.randomised import exact_p, monte_carlo_p, randomisation
from cranfield.statistics.significance import Sampling, all_pairs, all_tests, find_test
from made import FEW_DRAWS, Floats, compared, on_collections, with_differences
from simulate import band

PAIR = np.array([[0, 1]])
PAIRED = [test for test in all_tests() if test.kind != "independent"]


@cache
def border() -> Floats:
    """Differences on 15 topics that t takes for significant at 5% and the exact test does not."""
    random = np.random.default_rng(0)
    while True:
        difference = np.round(random.normal(0.05, 0.1, 15) + random.exponential(0.05, 15), 3)
        scores = with_differences(difference)
        if stats.ttest_rel(*scores).pvalue < 0.05 < exact_p(scores, PAIR, Sampling())[0]:
            return scores


def cells(comparison: Comparison, column: str, panel: int = 0) -> list[str]:
    """A column of the table of pairs as text, with what stands above it."""
    grid = pairs_grid(comparison, comparison.panels[panel])
    place = list(grid.header).index(column)
    return [row[place].text + row[place].above for row in grid.cells()]


def test_the_decision_is_not_against_the_warning_beside_it() -> None:
    scores = border()
    found = compared(scores)
    (pair,) = found.rows()
    assert pair.p["t"] < 0.05 < pair.p["randomisation"] == pair.adjusted_p
    assert (pair.decided_by, pair.significant) == ("randomisation", False)
    assert "*" not in cells(found, "difference")[0]
    (warning,) = [warning.message for warning in found.warnings if warning.code == "few-topics"]
    assert warning.startswith(
        "15 topics are few (50 are usual, 200 better): the exact randomisation test decides, as t is fragile; the smal"
    )


def test_a_test_that_is_asked_for_decides_and_the_warning_says_so() -> None:
    scores = border()
    found = compared(scores, tests=["t", "randomisation"])
    (pair,) = found.rows()
    assert (pair.decided_by, pair.significant, pair.adjusted_p) == ("t", True, pair.p["t"])
    assert cells(found, "difference")[0].endswith("*")
    (warning,) = [warning.message for warning in found.warnings if warning.code == "few-topics"]
    exact = f"{pair.p['randomisation']:.4f}"
    assert warning.startswith(
        "15 topics are few (50 are usual, 200 better): the paired t test is fragile, and decides because it was asked "
        f"for; the exact randomisation test does not agree on a and b (p {exact}); the smallest difference that "
    )
    agreeing = compared(with_differences([0.1, 0.2, 0.3, 0.1, 0.2, 0.15]), tests=["t", "randomisation"])
    assert "the exact randomisation test agrees on every pair" in agreeing.warnings[0].message
    alone = compared(scores, tests=["t"])
    assert "see what the exact randomisation test says (--test randomisation)" in alone.warnings[0].message
    other = compared(scores, tests=["randomisation"])
    assert other.warnings[0].message.startswith("15 topics are few (50 are usual, 200 better); the smallest differenc")
    two = compared({"AP": scores, "RR": scores}, tests=["t", "randomisation"]).warnings
    (both,) = [warning.message for warning in two if warning.code == "few-topics"]
    assert f"does not agree on a and b (AP, p {exact}), a and b (RR, p {exact}); " in both


@pytest.mark.parametrize("changed", [0, 1, FEW_CHANGED - 1, FEW_CHANGED, 60])
def test_t_decides_from_25_changed_topics_on(changed: int) -> None:
    difference = np.zeros(60)
    difference[:changed] = np.random.default_rng(changed).normal(0.02, 0.1, changed)
    found = compared(with_differences(difference))
    (pair,) = found.rows()
    expected = "t" if changed >= 25 else "randomisation"
    assert (pair.decided_by, pair.adjusted_p) == (expected, pair.p[expected])
    here = "no" if changed >= 25 else "every"
    rule = (
        "Decided by the paired t test; where two systems differ on fewer than 25 topics or t is undefined, by the "
        f"exact randomisation test instead (here in {here} comparison); one comparison, with nothing to correct for."
    )
    assert rule in legend(found)
    document = found.to_dict()
    assert document["rule"] in rule
    assert document["pairs"][0]["decided_by"] == expected


def test_each_pair_is_decided_by_itself_and_the_table_says_by_which_test() -> None:
    random = np.random.default_rng(2)
    few = np.zeros(40)
    few[:5] = 0.2
    found = compared(with_differences(few, random.normal(0, 0.1, 40)))
    assert [pair.decided_by for pair in found.rows()] == ["t", "randomisation", "t"]
    assert cells(found, "decided by") == ["t", "randomisation", "t"]
    assert "(here in 1 of 3 comparisons)" in legend(found)
    assert {test.name for test in found.deciding} == {"t", "randomisation"}
    assert "decided by" not in pairs_grid(compared(with_differences(few)), compared(with_differences(few)).panels[0])[0]


@pytest.mark.parametrize("amount", [-0.1, 0.1])
def test_a_constant_difference_is_undefined_by_t_and_decided_by_randomisation(amount: float) -> None:
    """A candidate that loses on 50 of 50 topics by the same amount: p was 1."""
    found = compared(with_differences([amount] * 50), tests=["t"])
    (pair,) = found.rows()
    assert np.isnan(pair.p["t"])
    assert (pair.decided_by, pair.adjusted_p, pair.significant) == ("randomisation", 2.0**-49, True)
    assert cells(found, "p (t)") == ["–"]
    assert cells(found, "adjusted p") == ["<0.0001"]
    assert cells(found, "95% interval") == [f"[{amount:+.4f}, {amount:+.4f}]"]
    assert cells(found, "d_z") == ["+∞" if amount > 0 else "-∞"]
    assert "A p of – is undefined." in legend(found)
    told = [(warning.code, warning.message) for warning in found.warnings]
    assert ("undefined", "the paired t test is undefined for a and b: the exact randomisation test decides") in told
    assert json.loads(render(found, "json"))["pairs"][0]["p"] == {"t": None}
    assert (
        "Decided by the paired t test; where that is undefined, by the exact randomisation test instead (here in"
        in legend(found)
    )


@pytest.mark.parametrize("test", [None, *(test.name for test in PAIRED)])
def test_identical_runs_are_not_significantly_different(test: str | None) -> None:
    scores = np.tile(np.linspace(0, 1, 30), (3, 1))
    scores[2] += np.linspace(-0.2, 0.3, 30)
    found = compared(scores, tests=None if test is None else [test])
    same, *others = found.rows()
    assert same.adjusted_p == pytest.approx(1)
    assert not same.significant
    assert (same.low <= 0 <= same.high) or np.isnan(same.low)
    assert others[0].adjusted_p == others[1].adjusted_p
    only = compared(scores[:2], tests=None if test is None else [test])
    (pair,) = only.rows()
    assert (pair.adjusted_p, pair.significant) == (1, False)
    if test in (None, "t", "bootstrap", "tukey"):
        assert pair.decided_by == "randomisation"
        assert np.isnan(next(iter(pair.p.values())))


def test_undefined_pairs_of_a_family_test_are_corrected_for_all_pairs() -> None:
    scores = np.array([np.full(12, 0.1), np.full(12, 0.2), np.full(12, 0.4)])
    found = compared(scores, tests=["tukey"])
    for pair in found.rows():
        assert (pair.decided_by, pair.adjusted_p) == ("randomisation", 3 * 2.0**-11)
        assert pair.low == pytest.approx(pair.difference) == pytest.approx(pair.high)


def degenerate() -> Iterator[tuple[str, Floats]]:
    random = np.random.default_rng(8)
    yield "two topics", random.random((3, 2))
    yield "two topics, two systems", np.array([[0.1, 0.4], [0.3, 0.2]])
    yield "three topics", random.random((3, 3))
    yield "all equal", np.full((3, 10), 0.4)
    yield "all zero", np.zeros((3, 30))
    yield "constant", np.tile(random.random(30), (3, 1)) + np.array([[0.0], [0.1], [0.3]])
    one = np.tile(random.random(40), (3, 1))
    one[0, 5] += 0.3
    yield "one topic changed", one
    apart = random.random(30)
    yield "one unit in the last place apart", np.array([apart, np.nextafter(apart, 1), random.random(30)])
    yield "only that", np.array([apart, np.nextafter(apart, 1)])
    yield "one outlier", np.concatenate([np.zeros((2, 30)), np.eye(1, 30) * 1e6])


@pytest.mark.parametrize(
    ("name", "scores"), list(degenerate()), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("test", [None, *(test.name for test in PAIRED)])
def test_degenerate_data_are_decided_and_shown(name: str, scores: Floats, test: str | None) -> None:
    found = compared({"AP": scores, "RR": scores[:, ::-1]}, tests=None if test is None else [test], margin=0.1)
    for pair in found.rows():
        assert 0 <= pair.adjusted_p <= 1
        assert all(0 < p <= 1 or np.isnan(p) for p in pair.p.values())
        assert_no_contradiction(pair, found.alpha)
        i, j = (found.systems.index(system) for system in (pair.system, pair.other))
        if np.allclose(scores[i], scores[j], rtol=0, atol=1e-14):
            assert pair.adjusted_p == pytest.approx(1)
    for format in ("table", "latex", "html", "markdown", "csv", "json"):
        assert "nan" not in render(found, format).lower().replace("nanmean", "") or format == "csv"
    json.loads(render(found, "json"), parse_constant=lambda constant: pytest.fail(constant))


def test_systems_one_unit_in_the_last_place_apart_do_not_differ() -> None:
    scores = np.random.default_rng(1).random(60)
    both = np.array([scores, np.nextafter(scores, 1)])
    three = np.array([*both, np.random.default_rng(2).random(60)])
    for made in (both, three):
        assert maxt(made, PAIR, FEW_DRAWS).p[0] == 1
        assert monte_carlo_p(made, PAIR, FEW_DRAWS)[0] == 1
        assert randomisation(made, PAIR, FEW_DRAWS).p[0] == 1
    assert maxt(three, all_pairs(3), FEW_DRAWS).p[0] == 1
    assert maxt(three, all_pairs(3), FEW_DRAWS).p[1] < 1


def assert_no_contradiction(pair: Any, alpha: float) -> None:
    if not np.isnan(pair.low):
        outside = pair.low > 0 or pair.high < 0
        assert outside == (pair.adjusted_p < alpha) == pair.significant
        assert pair.together_low <= pair.low <= pair.high <= pair.together_high
    assert pair.significant == (pair.adjusted_p < alpha)


def made_up() -> Iterator[Floats]:
    """Scores of many kinds: few and many topics, coarse, skewed, with few topics that change, with real differences."""
    random = np.random.default_rng(5)
    for systems, topics, shift in itertools.product((2, 3, 5), (4, 9, 16, 30, 60), (0.0, 0.12, 0.3)):
        base = random.beta(0.7, 1.9, topics)
        noise = random.normal(0, 0.15, (systems, topics)) + np.linspace(0, shift, systems)[:, None]
        yield base + noise
        yield np.round(5 * (base + noise)) / 5
        yield base + np.where(random.random((systems, topics)) < 0.15, np.abs(noise), 0.0)


@pytest.mark.parametrize("correction", [correction.name for correction in all_corrections()])
def test_no_interval_contradicts_the_adjusted_p_beside_it(correction: str) -> None:
    seen: set[tuple[str, bool]] = set()
    for scores in made_up():
        found = compared(scores, correction=correction)
        for pair in found.rows():
            assert_no_contradiction(pair, found.alpha)
            seen.add((pair.decided_by, pair.significant))
    assert seen == set(itertools.product(("t", "randomisation"), (True, False)))


@pytest.mark.parametrize("test", [test.name for test in PAIRED if test.name != "t"])
def test_no_interval_contradicts_a_test_that_was_asked_for(test: str) -> None:
    seen: set[bool] = set()
    sampling = Sampling(seed=1, resamples=299)
    for scores in itertools.islice(made_up(), 0, None, 3):
        found = compared({"AP": scores, "RR": scores[::-1]}, tests=[test], sampling=sampling, alpha=0.1)
        for pair in found.rows():
            assert_no_contradiction(pair, found.alpha)
            assert np.isnan(pair.low) == (test in ("wilcoxon", "sign"))
            seen.add(pair.significant)
    assert seen == {True, False}


# Those of independent samples need topics of their own: test_independent holds theirs against SciPy's.
WITH_INTERVALS = [test.name for test in all_tests() if test.half_width is not None and test.kind != "independent"]


@pytest.mark.parametrize("name", WITH_INTERVALS)
def test_intervals_agree_with_their_test_before_anything_is_put_right(name: str) -> None:
    """The last step moves an end that rounding put on the wrong side of zero; it must have nothing else to do."""
    test, sampling, seen = find_test(name), Sampling(seed=2, resamples=499), set()
    for scores in itertools.islice(made_up(), 0, None, 2):
        if scores.shape == (2, 4) or (name == "randomised-tukey" and len(scores) == 2):
            continue
        pairs = all_pairs(len(scores))
        p = test.function(scores, pairs, sampling).p
        for level in (0.05, 0.2):
            assert test.half_width is not None
            half = test.half_width(scores, pairs, level, sampling)
            outside = np.abs(moments(scores, pairs).mean) > half * (1 + 1e-9)
            known = ~np.isnan(p) & (np.abs(np.abs(moments(scores, pairs).mean) - half) > 1e-9)
            np.testing.assert_array_equal(outside[known], p[known] < level)
            seen |= set(outside[known].tolist())
    assert seen == {True, False}


def slow_p(difference: Floats) -> float:
    """The share of all flips with a sum as far from zero, to rounding."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(difference))))
    sums = np.abs(signs @ difference)
    return float(np.mean(sums >= sums[0] - 1e-9))


@pytest.mark.parametrize("topics", [3, 5, 6, 8, 11])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.3])
def test_an_interval_holds_what_its_test_does_not_reject(topics: int, level: float) -> None:
    """Every flip of the differences less δ, listed, just inside and just outside of each end."""
    random = np.random.default_rng(topics)
    rows = np.stack([random.normal(0.1, 0.3, topics), np.round(random.normal(0.2, 0.2, topics), 1)])
    low, high = flipped(rows, level, FEW_DRAWS)
    for row, bottom, top in zip(rows, low, high, strict=True):
        if np.isinf(bottom):
            assert 2.0 ** (1 - topics) >= level
            assert np.isinf(top)
            continue
        assert 2.0 ** (1 - topics) < level
        for inside in np.linspace(bottom, top, 5):
            assert slow_p(row - inside) >= level - 1e-12
        for outside in (bottom - 1e-6, top + 1e-6, bottom - 0.1, top + 0.1):
            assert slow_p(row - outside) < level


def test_drawn_intervals_are_near_the_listed_ones_and_follow_the_seed() -> None:
    random = np.random.default_rng(3)
    difference = random.normal(0.1, 0.2, (4, 14))
    listed = flipped(difference, 0.05, FEW_DRAWS)
    # A topic more that changes nothing by itself: drawn now, with the same means but for that topic.
    drawn = flipped(np.pad(difference, ((0, 0), (0, 1))), 0.05, Sampling(seed=1, resamples=40_000))
    np.testing.assert_allclose(drawn.low, np.array(listed.low) * 14 / 15, atol=0.03)
    other = flipped(np.pad(difference, ((0, 0), (0, 1))), 0.05, Sampling(seed=2, resamples=40_000))
    assert (drawn.low != other.low).any()
    np.testing.assert_allclose(drawn.high, other.high, atol=0.01)
    many = np.zeros((1, 5000))
    many[0, :6] = 0.4
    sparse = flipped(many, 0.05, Sampling(resamples=20_000))
    assert 0 <= sparse.low[0] < many.mean() < sparse.high[0] < 6 * 0.4 / 2300


@pytest.mark.parametrize("topics", [8, 20, 40])
def test_intervals_of_randomisation_cover_the_true_difference(topics: int) -> None:
    """Symmetric differences around 0.3: 95% of intervals hold it; with few topics, whose p-values are few, more do."""
    sets = 1000
    difference = np.random.default_rng(topics).standard_t(4, (sets, topics)) * 0.2 + 0.3
    low, high = flipped(difference, 0.05, Sampling(seed=3, resamples=1999))
    covered = float(np.mean((low <= 0.3) & (high >= 0.3)))
    assert covered >= 0.95 - band(0.95, sets)
    assert covered <= (1.0 if topics < 10 else 0.95 + band(0.95, sets))


@pytest.mark.parametrize(("topics", "by_t"), [(10, 0.52), (25, 0.79), (50, 0.86)])
def test_few_changed_topics_are_covered_by_the_interval_that_is_offered(topics: int, by_t: float) -> None:
    """8% of topics change, by gains of a beta distribution: what t covers, and what the warning offers instead."""
    sets = 4000
    random = np.random.default_rng(topics)
    gain = np.where(random.random((sets, topics)) < 0.08, random.beta(2, 3, (sets, topics)), 0.0)
    scores = np.zeros((2 * sets, topics))
    scores[::2] = gain
    pairs = np.arange(2 * sets).reshape(-1, 2)
    found, truth = effects(scores, pairs), 0.08 * 0.4
    covered = np.mean((found.low <= truth) & (found.high >= truth))
    assert abs(covered - by_t) < 0.05
    low, high = sure_interval(found.wins, found.losses, topics, 1.0, 0.05)
    assert np.mean((low <= truth) & (high >= truth)) >= 0.95 - band(0.95, sets)


def test_the_sure_interval_is_that_of_clopper_and_pearson() -> None:
    gains, losses = np.array([0, 3, 20]), np.array([0, 1, 0])
    low, high = sure_interval(gains, losses, 20, 2.0, 0.05)
    for k, (won, lost) in enumerate(zip(gains.tolist(), losses.tolist(), strict=True)):
        shares = [stats.binomtest(count, 20).proportion_ci(0.95, "exact").high for count in (lost, won)]
        assert (low[k], high[k]) == pytest.approx((-2 * shares[0], 2 * shares[1]))


def test_more_measures_never_loosen_a_comparison() -> None:
    for scores in itertools.islice(made_up(), 0, None, 4):
        alone = {(p.system, p.other): p for p in compared(scores).rows()}
        more = compared({"AP": scores, "RR": np.zeros(scores.shape), "P@10": scores**2})
        for pair in itertools.islice(more.rows(), len(alone)):
            before = alone[pair.system, pair.other]
            assert pair.adjusted_p >= before.adjusted_p
            assert not (pair.significant and not before.significant)
            assert pair.low <= before.low
            assert pair.high >= before.high
            assert not pair.detectable < before.detectable
            assert pair.p == pytest.approx(before.p, nan_ok=True)


@pytest.mark.parametrize("topics", [4, 7, 8, 9, 30])
def test_what_can_be_found_is_what_plan_says_after_correction(topics: int) -> None:
    scores = np.random.default_rng(topics).random((3, topics))
    for correction, share in (("holm", 6), ("bonferroni", 6), ("none", 1), ("benjamini-hochberg", 6)):
        found = compared({"AP": scores, "RR": scores}, correction=correction, power=0.9, alpha=0.04)
        for pair in itertools.islice(found.rows(), 3):
            i, j = (found.systems.index(name) for name in (pair.system, pair.other))
            sd = float((scores[i] - scores[j]).std(ddof=1))
            planned = power_analysis(topics=topics, sd=sd, power=0.9, alpha=0.04, comparisons=share)
            if 2.0 ** (1 - topics) >= 0.04 / share:  # no flip reaches the level
                assert pair.detectable == np.inf
                assert cells(found, "detectable")[0] == "∞"
            else:
                assert pair.detectable == pytest.approx(planned.difference)


def test_intervals_say_what_they_hold_for() -> None:
    random = np.random.default_rng(3)
    scores = random.normal(0.5, 0.1, (4, 40)) + np.array([[0], [0], [0], [0.5]])
    found = compared(scores)
    assert sum(pair.significant for pair in found.rows()) == 3
    assert found.level == pytest.approx(0.05 / 3)
    text = " ".join(render(found, "table").split())
    assert "98.3% interval" in text
    own = "Each interval holds for its own comparison, and is a 98.3% one so that it leaves out 0 exactly where adj"
    assert own in text
    assert "Holm correction for 6 comparisons" in text
    together = " ".join(render(found, "table", simultaneous=True).split())
    assert "95% simultaneous interval" in together
    assert "Intervals hold for all 6 comparisons together (Bonferroni), whatever the correction of p." in together
    for pair in found.rows():
        difference = scores[found.systems.index(pair.system)] - scores[found.systems.index(pair.other)]
        for ends, level in (((pair.low, pair.high), 0.05 / 3), ((pair.together_low, pair.together_high), 0.05 / 6)):
            expected = stats.ttest_1samp(difference, 0).confidence_interval(1 - level)
            assert ends == pytest.approx((expected.low, expected.high))
    none = " ".join(render(compared(scores, correction="none"), "latex", columns=["interval"]).split())
    assert "not corrected for 6 comparisons" in none
    assert "95\\% interval" in none
    bonferroni = " ".join(render(compared(scores, correction="bonferroni"), "table").split())
    assert "Intervals hold for all 6 comparisons together; one leaves out 0 exactly" in bonferroni
    single = " ".join(render(compared(scores[:2]), "table").split())
    assert "The interval leaves out 0 exactly where that p is below 0.05." in single
    assert "95% interval" in single
    for alone in ({"correction": "bonferroni"}, {"tests": ["tukey"]}):  # of one comparison there is nothing together
        assert "simultaneous" not in render(compared(scores[:2], **alone), "table").split("pair ")[1]
    ranks = " ".join(render(compared(scores, tests=["wilcoxon"]), "table").split())
    assert "The Wilcoxon signed-rank test has no interval of the mean difference." in ranks


def test_tukey_shows_its_own_simultaneous_intervals() -> None:
    random = np.random.default_rng(4)
    scores = random.normal(0.5, 0.1, (4, 30))
    found = compared({"AP": scores, "RR": scores}, tests=["tukey"])
    residual = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    error = np.sqrt((residual**2).sum() / (3 * 29) / 30)
    half = stats.studentized_range.ppf(1 - 0.05 / 2, 4, 3 * 29) * error
    for pair in found.rows():
        assert (pair.low, pair.high) == pytest.approx((pair.difference - half, pair.difference + half))
        assert (pair.together_low, pair.together_high) == (pair.low, pair.high)
    text = " ".join(render(found, "table").split())
    assert "95% simultaneous interval" in text
    assert (
        "Decided by Tukey's HSD; corrected by the test itself for all pairs of a measure, and Bonferroni for the 2"
        in text
    )
    assert "Intervals hold for all 12 comparisons together; one leaves out 0" in text


def test_the_size_of_the_family_is_told_however_much_is_shown() -> None:
    from cranfield.comparison.standing import against

    scores = np.random.default_rng(1).random((5, 30))
    part = against(compared({"AP": scores, "RR": scores}), 0)
    assert len(part.pairs) == 4
    assert "Holm correction for 20 comparisons" in legend(part)


def test_the_summary_of_collections_is_a_corrected_t_test() -> None:
    """By hand: means of the collections' differences, standard errors with Satterthwaite's degrees of freedom."""
    random = np.random.default_rng(6)
    one, other = random.normal(0.5, 0.1, (3, 30)), random.normal(0.5, 0.2, (3, 40))
    one[0] += 0.05
    found = on_collections({"web": one, "news": other})
    (macro,) = found.macro
    p = []
    for k, (i, j) in enumerate(found.pairs.tolist()):
        samples = [each[i] - each[j] for each in (one, other)]
        variances = [sample.var(ddof=1) / len(sample) / 4 for sample in samples]
        error = np.sqrt(sum(variances))
        freedom = error**4 / sum(v**2 / (len(s) - 1) for v, s in zip(variances, samples, strict=True))
        difference = np.mean([sample.mean() for sample in samples])
        assert macro.difference[k] == pytest.approx(difference)
        p.append(2 * stats.t.sf(abs(difference / error), freedom))
        half = stats.t.isf(macro.level / 2, freedom) * error
        assert (macro.low[k], macro.high[k]) == pytest.approx((difference - half, difference + half))
    order = np.argsort(p)
    holm = np.maximum.accumulate(np.array(p)[order] * [3, 2, 1]).clip(max=1)
    np.testing.assert_allclose(macro.adjusted[order], holm)
    text = " ".join(render(found, "table").split())
    assert (
        "p is by t of the mean of the collections' differences, with Satterthwaite's degrees of freedom; adjusted p: "
        "Holm correction for the 3 comparisons of this table."
    ) in text
    (entry, *_) = found.to_dict()["macro"]
    assert (entry["p"], entry["adjusted_p"], entry["decided_by"]) == (p[0], macro.adjusted[0], "t") or p[0] == (
        pytest.approx(entry["p"])
    )


def test_the_summary_of_small_collections_is_decided_by_randomisation() -> None:
    """Topics weigh as their collection has it; every flip listed."""
    one, other = with_differences([0.1, 0.2, -0.05, 0.3]), with_differences([0.2, 0.1, 0.25, 0.05, 0.1, 0.02])
    (macro,) = on_collections({"web": one, "news": other}).macro
    weighted = np.concatenate([(one[0] - one[1]) / 4, (other[0] - other[1]) / 6])
    assert macro.decided.by == ("randomisation",)
    assert macro.decided.p[0] == pytest.approx(slow_p(weighted))
    assert (macro.low[0] > 0 or macro.high[0] < 0) == (macro.adjusted[0] < 0.05)
    weights = np.repeat([1 / 4, 1 / 6], [4, 6])
    for end in (macro.low[0] - 1e-6, macro.high[0] + 1e-6):
        assert slow_p(weighted - weights * end) < 0.05
    for end in (macro.low[0], macro.high[0]):
        assert slow_p(weighted - weights * end) >= 0.05 - 1e-12


def test_no_summary_of_collections_contradicts_itself() -> None:
    for scores in itertools.islice(made_up(), 0, None, 5):
        if scores.shape[1] > 8:
            half = scores.shape[1] // 3
            for macro in on_collections({"web": scores[:, :half], "news": scores[:, half:]}).macro:
                outside = (macro.low > 0) | (macro.high < 0)
                np.testing.assert_array_equal(outside, macro.adjusted < 0.05)


def test_a_collection_entered_twice_is_noticed() -> None:
    scores = np.random.default_rng(1).random((2, 30))
    twice = on_collections({"web": scores, "news": scores + 0.01, "again": scores})
    messages = [warning.message for warning in twice.warnings if warning.code == "twice"]
    assert messages == [
        "web and again have the same topics and scores: one collection entered twice counts twice. Leave one out"
    ]
    assert "twice" not in {
        warning.code for warning in on_collections({"web": scores, "news": scores[:, ::-1]}).warnings
    }
    one_alike = on_collections({"web": {"AP": scores, "RR": scores}, "news": {"AP": scores, "RR": scores + 0.01}})
    assert "twice" not in {warning.code for warning in one_alike.warnings}
    # Runs of other topics have no score on those of each other, which is no difference either.
    scores[0, :15] = scores[1, 15:] = np.nan
    apart = on_collections({"web": scores, "again": scores, "news": scores + 0.01}, tests=["welch"])
    assert [warning.message for warning in apart.warnings if warning.code == "twice"] == messages


def test_the_rule_looks_at_sizes_and_not_at_signs() -> None:
    """Whatever the signs of the differences, the same test decides: it may look at what it takes as given."""
    random = np.random.default_rng(7)
    for topics, changed in ((20, 20), (60, 24), (60, 25)):
        difference = np.zeros(topics)
        difference[:changed] = random.normal(0.1, 0.1, changed)
        by = set()
        for _ in range(5):
            scores = with_differences(difference * random.choice([-1, 1], topics))
            outcomes = {"t": find_test("t").function(scores, PAIR, FEW_DRAWS)}
            by.add(decide(scores, PAIR, outcomes, FEW_DRAWS).by)
        assert len(by) == 1


def test_a_tier_has_all_that_cannot_be_told_from_its_best() -> None:
    """A system below one that differs from the best may still not differ from it: it is of the best's tier."""
    rng = np.random.default_rng(5)
    base = rng.random(60)
    noise: dict[str, Any] = {
        "best": 0.0,
        "near": 0.02 * rng.random(60),
        "wild": rng.normal(0.03, 0.4, 60),
        "poor": 0.5 + 0 * base,
    }
    qrels: Any = {str(t): {"d1": 1} for t in range(60)}
    runs: Any = {name: {t: {"d1": 1.0} for t in qrels} for name in noise}
    results = cranfield.evaluate(qrels, runs, "AP")
    scores = np.array([[base - lost] for lost in noise.values()]) + 1
    each = {"": Evaluated(replace(results, scores=scores), {name: [name] for name in noise})}
    found = compare_results(each, results.measures, Question())
    panel = found.panels[0]
    order = [found.systems[i] for i in np.argsort(-panel.means)]
    assert order == ["best", "near", "wild", "poor"]
    assert dict(zip(found.systems, tiers(found, panel), strict=True)) == {
        "best": "1",
        "wild": "1",
        "near": "2",
        "poor": "3",
    }


def test_against_a_baseline_the_legend_says_what_letters_cannot() -> None:
    qrels: Any = {str(t): {"d1": 1} for t in range(8)}
    runs: Any = {name: {t: {"d1": 1.0, "d2": 2.0 if name == "b" else 0.5} for t in qrels} for name in "abc"}
    told = legend(cranfield.compare(Experiment(qrels, runs), "RR", baseline="b"))
    assert "Only pairs with the baseline, b (b), were compared." in told
    assert "baseline" not in legend(cranfield.compare(Experiment(qrels, runs), "RR"))
    assert "* after a difference says that it is significant (adjusted p below 0.05)" in told


@pytest.mark.parametrize("test", ["bootstrap", "randomised-tukey", "maxt"])
def test_draws_too_few_to_reject_anything_give_intervals_without_ends(test: str) -> None:
    """Of 18 draws the smallest p is 1/19, above 0.05: no difference is ruled out. Of 20 it is 1/21."""
    scores = np.random.default_rng(3).normal(0.5, 0.01, (3, 30)) + np.array([[0.0], [0.2], [0.4]])
    for resamples, ends in ((18, False), (20, True)):
        alone = {"correction": "none"} if test == "bootstrap" else {}
        found = compared(scores, tests=[test], sampling=Sampling(resamples=resamples), **alone)
        (panel,) = found.panels
        assert (panel.adjusted < 0.05).all() == ends
        assert np.isfinite(panel.effects.low).all() == np.isfinite(panel.effects.high).all() == ends
        if not ends:
            assert (panel.effects.low == -np.inf).all()
            assert (panel.effects.high == np.inf).all()


def test_collections_of_other_topics_are_summed_up_by_t() -> None:
    """Runs of other topics have no differences to deal out: the mean of the collections' t, by Welch's formulas."""
    random = np.random.default_rng(8)
    parts = {name: (random.normal(0.5, 0.1, 12), random.normal(0.42, 0.2, 20)) for name in ("web", "news")}
    scores = {name: np.full((2, 32), np.nan) for name in parts}
    for name, (a, b) in parts.items():
        scores[name][0, :12], scores[name][1, 12:] = a, b
    (macro,) = on_collections(scores, tests=["welch"]).macro
    variances = [(a.var(ddof=1) / 12, b.var(ddof=1) / 20) for a, b in parts.values()]
    freedom = [sum(v) ** 2 / (v[0] ** 2 / 11 + v[1] ** 2 / 19) for v in variances]
    whole = [sum(v) / 4 for v in variances]
    error = np.sqrt(sum(whole))
    of_all = sum(whole) ** 2 / sum(v**2 / f for v, f in zip(whole, freedom, strict=True))
    difference = np.mean([a.mean() - b.mean() for a, b in parts.values()])
    assert macro.difference == pytest.approx([difference])
    assert macro.error == pytest.approx([error])
    assert macro.freedom == pytest.approx([of_all])
    assert macro.decided.by == ("t",)
    assert macro.decided.p == pytest.approx([2 * stats.t.sf(abs(difference / error), of_all)])
    assert macro.adjusted == pytest.approx(macro.decided.p)
