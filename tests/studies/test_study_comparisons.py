"""Which system participants find better, and whether measures say the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from commands import command_line
from cranfield import Experiment
from cranfield.errors import DataError, UsageError
from cranfield.statistics.significance import Sampling
from cranfield.studies import (
    Answers,
    Scale,
    StudyComparison,
    StudyQuestion,
    compare_answers,
    correlate_answers,
    read_answers,
    score_answers,
)

FREE = Scale(name="free", items=("score",), low=-100, high=100)


def answers(rows: Sequence[tuple[object, object, object, float]], scale: Scale = FREE) -> Answers:
    """Of (participant, system, topic, score)."""
    given = [{"user": p, "system": s, **({"topic": t} if t is not None else {}), "score": x} for p, s, t, x in rows]
    return read_answers(given, scale)  # type: ignore[arg-type]


def crossed(systems: int = 3, participants: int = 10, topics: int = 6, seed: int = 0, gain: float = 1.0) -> Answers:
    draw = np.random.default_rng(seed)
    people, tasks = draw.normal(0, 1, participants), draw.normal(0, 0.8, topics)
    return answers(
        [
            (f"p{p}", f"S{s}", f"t{t}", gain * s + people[p] + tasks[t] + draw.normal(0, 1))
            for s, p, t in product(range(systems), range(participants), range(topics))
        ]
    )


def codes(comparison: StudyComparison) -> dict[str, str]:
    return {finding.code: finding.message for finding in comparison.warnings}


def test_a_balanced_study_is_the_analysis_of_variance() -> None:
    given = crossed()
    found = compare_answers(given, StudyQuestion(additive=True))
    scores = given.scores.reshape(3, 10, 6)
    grand = scores.mean()
    squares = [
        size * ((scores.mean(axis=axes) - grand) ** 2).sum()
        for size, axes in ((60, (1, 2)), (18, (0, 2)), (30, (0, 1)))
    ]
    free = 180 - 1 - 2 - 9 - 5
    residual = (((scores - grand) ** 2).sum() - sum(squares)) / free
    assert found.method == "mixed"
    assert list(found.variances) == ["participant", "topic", "residual"]
    assert found.variances["residual"] == pytest.approx(residual, rel=1e-6)
    assert found.overall is not None
    assert found.overall.f == pytest.approx(squares[0] / 2 / residual, rel=1e-6)
    pair = found.pairs[0]
    assert (pair.first, pair.second, pair.participants) == ("S0", "S1", 10)
    t = pair.difference / np.sqrt(2 * residual / 60)
    assert pair.p == pytest.approx(2 * stats.t.sf(abs(t), free), rel=1e-5)
    assert [pair.better for pair in found.pairs] == ["S1", "S2", "S2"]
    assert found.friedman is not None
    wanted = stats.friedmanchisquare(*scores.mean(axis=2))
    assert (found.friedman.chi_square, found.friedman.p) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_interactions_are_there_unless_left_out() -> None:
    draw = np.random.default_rng(6)
    suits = draw.normal(0, 1, (6, 3))
    given = answers([(p, s, t, suits[t, s] + draw.normal()) for p, t, s in product(range(10), range(6), range(3))])
    found = compare_answers(given)
    assert list(found.variances) == ["participant", "participant × system", "topic", "topic × system", "residual"]
    assert found.pairs[0].freedom < compare_answers(given, StudyQuestion(additive=True)).pairs[0].freedom / 2


def test_an_interaction_without_repeats_is_not_asked_for() -> None:
    rows = [(p, s, (p + s) % 4, float(p * s % 3 + s)) for p, s in product(range(8), range(2))]
    assert "participant × system" not in compare_answers(answers(rows)).variances


def test_intervals_go_with_decisions() -> None:
    for seed in range(8):
        for pair in compare_answers(crossed(seed=seed, gain=0.25)).pairs:
            assert (pair.corrected < 0.05) == (pair.low > 0 or pair.high < 0) == (pair.better is not None)


def test_without_topics_means_of_participants_are_paired() -> None:
    draw = np.random.default_rng(1)
    first, second = draw.normal(1, 1, 9), draw.normal(0, 1, 9)
    found = compare_answers(
        answers([(p, s, None, x) for s, of in (("A", first), ("B", second)) for p, x in enumerate(of)])
    )
    wanted = stats.ttest_rel(first, second)
    (pair,) = found.pairs
    assert found.method == "paired"
    assert pair.p == pytest.approx(wanted.pvalue)
    assert (pair.low, pair.high) == pytest.approx(wanted.confidence_interval(0.95))
    assert pair.wilcoxon == pytest.approx(stats.wilcoxon(first, second).pvalue)
    assert found.overall is None


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "none"])
def test_all_pairs_are_one_family(correction: str) -> None:
    found = compare_answers(crossed(gain=0.3), StudyQuestion(correction=correction))
    p = [pair.p for pair in found.pairs]
    wanted = p if correction == "none" else multipletests(p, method=correction)[1]
    assert [pair.corrected for pair in found.pairs] == pytest.approx(wanted)


def test_less_may_be_better() -> None:
    load = Scale(name="load", items=("score",), low=-100, high=100, better="less")
    rows = [(p, s, None, x + p % 3 / 7 * (s == "A")) for s, x in (("A", 1.0), ("B", 5.0)) for p in range(8)]
    assert compare_answers(answers(rows, load)).pairs[0].better == "A"
    assert compare_answers(answers(rows)).pairs[0].better == "B"


def test_who_lacks_a_system_is_told() -> None:
    rows: list[tuple[object, object, object, float]] = [
        (p, s, None, float(p * 7 % 5 + (s == "B"))) for p in range(6) for s in "AB"
    ]
    assert "incomplete-participants" not in codes(compare_answers(answers([*rows[:-1], (5, "B", None, 9.0)])))
    found = compare_answers(answers([*rows[:-1], (6, "B", None, 9.0)]))
    assert codes(found)["incomplete-participants"].startswith("2 participants of 7 without a score for every system")
    assert found.pairs[0].participants == 5


def test_a_difference_that_is_the_same_for_everybody_has_no_p() -> None:
    found = compare_answers(answers([(p, s, None, p + 2.0 * (s == "B")) for p in range(6) for s in "AB"]))
    (pair,) = found.pairs
    assert np.isnan([pair.p, pair.low]).all()
    assert pair.better is None
    assert codes(found)["no-residual"] == "A and B: they differ by the same for every participant: p is undefined"


def test_what_has_no_p_is_undecided_and_not_called_chance() -> None:
    rows = [(p, s, None, p + 1.0 * (s == "B")) for p in range(12) for s in "AB"]
    text = str(compare_answers(answers(rows)))
    assert (
        "A and B: undecided, there is no p (Wilcoxon's is 0.0005), as they differ by the same for every participant"
        in text
    )
    assert "chance would have it" not in text
    assert "tests-apart" not in codes(compare_answers(answers(rows)))
    same = [(p, s, None, float(p)) for p in range(12) for s in "AB"]
    assert "as they have the same score from every participant" in str(compare_answers(answers(same)))
    third = [(p, "C", None, p * 2.0 % 7) for p in range(12)]
    mixed = compare_answers(answers(rows + third))
    assert [pair.undecided is None for pair in mixed.pairs] == [False, True, True]
    model = str(compare_answers(answers([(p, s, t, p + s + t) for p, s, t in product(range(6), range(2), range(5))])))
    assert "0 and 1: undecided, there is no p (Wilcoxon's is 0.0312), as beside participants and topics" in model
    assert "F(" not in model


@pytest.mark.parametrize("apart", [True, False])
def test_one_participant_is_not_generalised_from(apart: bool) -> None:
    rows = [("p1", s, f"t{t}{s if apart else ''}", t % 5 + 3.0 * (s == "B")) for t in range(20) for s in "AB"]
    with pytest.raises(DataError, match="one participant: nothing tells how others would find the systems"):
        compare_answers(answers(rows))
    own = [(s, s, t, x) for _, s, t, x in rows]
    with pytest.raises(DataError, match="one participant for each system: nothing tells whether systems differ"):
        compare_answers(answers(own))


def test_one_topic_is_not_generalised_from_in_silence() -> None:
    draw = np.random.default_rng(3)
    rows = [(p, s, t, draw.normal()) for p in range(8) for s in "AB" for t in "xy"]
    assert "one-topic" not in codes(compare_answers(answers(rows)))
    alone = compare_answers(answers([row for row in rows if row[2] == "x"]))
    assert codes(alone)["one-topic"] == "one topic: nothing tells whether it is the same on others"
    apart = compare_answers(answers([row for row in rows if row[2] == ("x" if row[1] == "A" else "y")]))
    assert codes(apart)["one-topic"] == "one topic for each system: nothing tells whether systems differ or topics do"
    assert all(finding.doubtful for finding in (*alone.warnings, *apart.warnings) if finding.code == "one-topic")


def test_scores_without_chance_are_told_of_the_mixed_model_too() -> None:
    rows = [(p, s, t, p + 2.0 * s + t) for p, s, t in product(range(6), range(2), range(5))]
    found = compare_answers(answers(rows))
    assert "p is undefined" in codes(found)["no-residual"]
    assert found.pairs[0].better is None


def test_different_people_for_each_system_are_compared_without_pairs() -> None:
    rows = [
        (f"{s}{p}", s, None, float(x)) for s, of in (("A", (1, 2, 3, 2)), ("B", (4, 5, 6, 4))) for p, x in enumerate(of)
    ]
    found = compare_answers(answers(rows))
    assert (found.method, found.overall, found.variances) == ("welch", None, {})
    wanted = stats.ttest_ind((1, 2, 3, 2), (4, 5, 6, 4), equal_var=False)
    (pair,) = found.pairs
    assert (pair.p, pair.freedom) == pytest.approx((wanted.pvalue, wanted.df))
    assert (pair.low, pair.high) == pytest.approx(wanted.confidence_interval(0.95))
    assert np.isnan(pair.wilcoxon)
    assert "p: by Welch's t tests, as every participant gave a single score; corrected" in str(found)
    assert "no-effect" not in codes(found)
    with pytest.raises(DataError, match="no pairs to test"):
        compare_answers(answers(rows), StudyQuestion(model="paired"))


def test_samples_of_other_sizes_and_variances_raise_no_false_alarms() -> None:
    """A pooled variance has 33 of 100 where the smaller sample varies more."""
    draw = np.random.default_rng(4)
    alarms = 0
    for _ in range(100):
        given = {"A": draw.normal(50, 12, 6), "B": draw.normal(50, 3, 24)}
        rows = [(f"{s}{p}", s, None, float(x)) for s, of in given.items() for p, x in enumerate(of)]
        alarms += compare_answers(answers(rows)).pairs[0].better is not None
    assert alarms <= 12


def test_independent_samples_that_have_no_variance_are_undecided() -> None:
    lone = compare_answers(answers([("a", "A", None, 3.0), ("b", "B", None, 1.0), ("c", "B", None, 2.0)]))
    assert lone.pairs[0].undecided == "one participant has a score for A"
    constant = compare_answers(
        answers([(f"{s}{p}", s, None, x) for s, x in (("A", 0.1), ("B", 0.3)) for p in range(6)])
    )
    assert constant.pairs[0].undecided == "neither varies from participant to participant"
    assert np.isnan(constant.pairs[0].p)
    half = [("a", "A", None, 1.0), ("b", "A", None, 1.0), ("c", "B", None, 2.0), ("d", "B", None, 3.0)]
    assert compare_answers(answers(half)).pairs[0].freedom == pytest.approx(1)


def test_a_singular_fit_and_few_levels_are_told_and_only_then() -> None:
    rows = [(p, s, t, float((p * 5 + s * 3 + t * 7) % 11)) for p, s, t in product(range(4), range(2), range(5))]
    found = codes(compare_answers(answers(rows)))
    assert "a singular fit" in found["singular-fit"]
    assert found["few-levels"].startswith("fewer than 5 levels of participant (4)")
    calm = codes(compare_answers(crossed(participants=12), StudyQuestion(additive=True)))
    assert not {"singular-fit", "few-levels", "not-converged", "no-residual", "interval-scale"} & set(calm)


def test_steps_between_answers_are_an_assumption() -> None:
    likert = Scale(name="mood", items=("score",), whole=True)
    rows = [(p, s, None, float(1 + (p * 3 + (s == "B")) % 5)) for p in range(8) for s in "AB"]
    assert codes(compare_answers(answers(rows, likert)))["interval-scale"].endswith("of participants, assumes less")
    apart = [(f"{p}{s}", s, None, x) for p, s, _, x in rows]
    assert codes(compare_answers(answers(apart, likert)))["interval-scale"].endswith("which is an assumption")
    topics = [(p, s, t, x) for p, s, _, x in rows for t in range(3)]
    assert codes(compare_answers(answers(topics, likert)))["interval-scale"].endswith(
        "does without, but takes the topics as given: it says nothing of others"
    )


@pytest.mark.parametrize("model", ["mixed", "paired"])
def test_tests_that_know_nothing_of_other_topics_say_so(model: str) -> None:
    """Systems that suit topics differently: on these topics one is better, whoever is asked."""
    draw = np.random.default_rng(5)
    suits = {("A", 0): 1.5, ("B", 0): 0.0, ("A", 1): -0.2, ("B", 1): 0.0, ("A", 2): 0.3, ("B", 2): 0.0}
    rows = [(p, s, t, x + draw.normal(0, 0.2)) for p in range(12) for (s, t), x in suits.items()]
    found = compare_answers(answers(rows), StudyQuestion(model=model))
    text = str(found)
    assert "Wilcoxon's test on the means of participants, which takes the topics as given" in text
    assert ("on the means of participants, which take the topics as given; corrected" in text) == (model == "paired")
    if model == "mixed":
        assert found.pairs[0].better is None
        assert codes(found)["tests-apart"].endswith(
            ": Wilcoxon's takes the topics as given, and says nothing of others"
        )
    assert "report both" not in text
    without = compare_answers(answers([(p, s, None, x) for p, s, t, x in rows if t == 0]))
    assert "as given" not in str(without)


def test_tests_that_decide_differently_are_told() -> None:
    far = [(p, s, None, x if s == "A" else 0.0) for p, x in enumerate((1, 1.1, 1.2, 1.3, 1.4)) for s in "AB"]
    found = compare_answers(answers(far))
    assert found.pairs[0].better == "A"
    assert found.pairs[0].wilcoxon == 0.0625  # the least that five can give
    assert codes(found)["tests-apart"] == "the t test and Wilcoxon's test decide differently on A and B: report both"


@pytest.mark.parametrize(
    ("change", "message"),
    [({"model": "anova"}, "a model is auto, mixed or paired"), ({"alpha": 1.0}, "between 0 and 1")],
)
def test_questions_without_sense_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        StudyQuestion(**change)  # type: ignore[arg-type]


def test_one_system_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="one system with scores, A"):
        compare_answers(answers([(1, "A", None, 2.0), (2, "A", None, 3.0)]))


# Correlation with measures: RR of a run that has its only relevant document at a given rank.


def experiment(ranks: dict[str, list[int]]) -> Experiment:
    qrels = {f"t{t}": {"rel": 1} for t in range(len(next(iter(ranks.values()))))}
    runs = {
        name: {f"t{t}": {"rel" if r == rank else f"d{r}": float(-r) for r in range(1, 9)} for t, rank in enumerate(of)}
        for name, of in ranks.items()
    }
    return Experiment(qrels, runs)


RANKS = {"A": [1, 2, 4, 5, 8, 3, 2, 6, 7, 1, 2, 3], "B": [2, 1, 5, 8, 4, 2, 3, 1, 5, 6, 4, 7]}


def felt(noise: float = 0.0, sign: float = 1.0) -> list[tuple[object, object, object, float]]:
    draw = np.random.default_rng(2)
    return [
        (p, s, f"t{t}", sign / rank + draw.normal(0, noise))
        for p in range(4)
        for s, of in RANKS.items()
        for t, rank in enumerate(of)
    ]


def test_scores_that_are_the_measure_agree_with_it_completely() -> None:
    found = correlate_answers(answers(felt()), experiment(RANKS), "RR", sampling=Sampling(0, 200))
    assert [row.estimate.value for row in found.rows] == pytest.approx([1.0] * 6)
    assert {row.over for row in found.rows} == {"all", "within topics"}
    assert {row.pairs for row in found.rows} == {24}
    assert found.warnings == ()


def test_coefficients_are_those_of_means_by_system_and_topic() -> None:
    given = answers(felt(0.3))
    found = correlate_answers(given, experiment(RANKS), "RR", sampling=Sampling(0, 200))
    scores = given.scores.reshape(4, 2, 12).mean(axis=0)
    measure = 1 / np.array(list(RANKS.values()))
    value = {(row.coefficient, row.over): row.estimate for row in found.rows}
    assert value["pearson", "all"].value == pytest.approx(np.corrcoef(scores.ravel(), measure.ravel())[0, 1])
    assert value["spearman", "all"].value == pytest.approx(stats.spearmanr(scores.ravel(), measure.ravel()).statistic)
    assert value["kendall", "all"].value == pytest.approx(stats.kendalltau(scores.ravel(), measure.ravel()).statistic)
    centred = [(of - of.mean(axis=0)).ravel() for of in (scores, measure)]
    assert value["pearson", "within topics"].value == pytest.approx(np.corrcoef(*centred)[0, 1])
    for estimate in value.values():
        assert estimate.low < estimate.value < estimate.high


def test_agreement_is_one_whichever_side_is_a_loss() -> None:
    load = Scale(name="load", items=("score",), low=-100, high=100, better="less")
    found = correlate_answers(
        answers(felt(sign=-1), load), experiment(RANKS), "RR", ["pearson"], sampling=Sampling(0, 100)
    )
    assert found.rows[0].estimate.value == pytest.approx(1)
    lost = correlate_answers(answers(felt(sign=-1)), experiment(RANKS), "RR", ["pearson"], sampling=Sampling(0, 100))
    assert lost.rows[0].estimate.value == pytest.approx(-1)


def test_systems_and_topics_that_are_not_there_are_told() -> None:
    more: list[tuple[object, object, object, float]] = [(9, "C", "t1", 1.0), (9, "A", "t99", 1.0)]
    found = correlate_answers(answers(felt() + more), experiment(RANKS), "RR", sampling=Sampling(0, 100))
    told = {finding.code: finding.message for finding in found.warnings}
    assert told["unknown-systems"] == "1 system not among the runs, left out: C"
    assert told["unknown-topics"] == "1 topic not among the judged topics, left out: t99"
    with pytest.raises(DataError, match=r"two systems in common .*: answers are about C, runs are A, B"):
        correlate_answers(answers(more[:1]), experiment(RANKS), "RR")


def test_topics_that_agree_on_neither_side_are_named_of_both() -> None:
    other = [(p, s, f"q{t}", x) for p, s, t, x in felt()]
    with pytest.raises(DataError, match=r"two topics in common .* qt0, qt1, .*, judged topics are t0, t1, "):
        correlate_answers(answers(other), experiment(RANKS), "RR")


def test_a_run_that_nobody_answered_about_is_told() -> None:
    three = experiment(RANKS | {"C": RANKS["A"]})
    found = correlate_answers(answers(felt()), three, "RR", sampling=Sampling(0, 100))
    told = {finding.code: finding.message for finding in found.warnings}
    assert told["unasked-runs"] == "1 run that nobody answered about, left out: C"
    without = [(f"{p}{t}", s, None, x) for p, s, t, x in felt()]
    told = {finding.code: finding.message for finding in correlate_answers(answers(without), three, "RR").warnings}
    assert told["unasked-runs"] == "1 run that nobody answered about, left out: C"


def test_answers_without_topics_are_held_against_means() -> None:
    ranks = {"A": [1, 2, 1, 2], "B": [2, 2, 3, 1], "C": [4, 5, 2, 3], "D": [8, 8, 8, 1]}
    given = {"A": (80, 90, 75), "B": (70, 95, 60), "C": (50, 65, 75), "D": (70, 70, 20)}
    rows = [(p, s, None, float(x)) for s, of in given.items() for p, x in enumerate(of)]
    found = correlate_answers(answers(rows), experiment(ranks), "RR")
    means = [np.mean(of) for of in given.values()]
    measure = [np.mean([1 / rank for rank in of]) for of in ranks.values()]
    value = {row.coefficient: row.estimate for row in found.rows}
    assert {(row.over, row.pairs) for row in found.rows} == {("systems", 4)}
    assert value["pearson"].value == pytest.approx(np.corrcoef(means, measure)[0, 1])
    assert value["kendall"].value == pytest.approx(stats.kendalltau(means, measure).statistic)
    assert all(np.isnan([estimate.low, estimate.high]).all() for estimate in value.values())
    assert [(point.system, point.participants) for point in found.points] == [(system, 3) for system in given]
    told = {finding.code: finding.message for finding in found.warnings}
    assert told["few-systems"] == "4 systems, a point each, as answers to free have no topics: so few say little"
    assert "few-topics" not in told
    assert "over systems: the mean of participants against the mean of the measure" in str(found)
    assert "drawn anew" not in str(found)
    two = correlate_answers(answers(rows[:6]), experiment({name: ranks[name] for name in "AB"}), "RR")
    assert "any coefficient of two is 1, -1 or none" in str(two)


def test_systems_stand_best_first_and_those_without_a_score_last() -> None:
    for better, order in (("more", ["B", "C", "A"]), ("less", ["A", "C", "B"])):
        scale = Scale(name="s", items=("score",), low=-100, high=100, better=better)
        rows = [(p, s, None, x + p) for s, x in (("A", 1.0), ("B", 9.0), ("C", 4.0)) for p in (0, 1, 3)]
        given = answers([(p, s, t, x + (p == 1) * (s == "A")) for p, s, t, x in rows], scale)
        assert [score.system for score in score_answers(given).systems] == order
        assert [mean.system for mean in compare_answers(given).means] == order


@pytest.mark.parametrize("systems", [2, 3])
def test_what_a_study_could_find_is_found_with_a_chance_of_80_percent(systems: int) -> None:
    """By the noncentral t distribution, from the pair's own standard error, at the level of one pair of all."""
    draw = np.random.default_rng(4)
    table = draw.normal(0, 1, (systems, 15))
    rows = [(p, f"S{s}", None, float(table[s, p])) for s in range(systems) for p in range(15)]
    comparison = compare_answers(answers(rows))
    level = 0.05 / len(comparison.pairs)
    for pair, (a, b) in zip(comparison.pairs, combinations(range(systems), 2), strict=True):
        error = float((table[a] - table[b]).std(ddof=1)) / np.sqrt(15)
        edge = stats.t.ppf(1 - level / 2, 14)
        power = stats.nct.sf(edge, 14, pair.detectable / error) + stats.nct.cdf(-edge, 14, pair.detectable / error)
        assert power == pytest.approx(0.8, abs=1e-3)
    shown = sorted(f"{pair.detectable:.2f}" for pair in comparison.pairs)
    several = f"{shown[0]} to {shown[-1]}, by pair, would be found after correction"
    told = f"{shown[0]} would be found" if systems == 2 else several
    assert f"a true difference of {told} with a chance of 80%, a smaller one less often" in str(comparison)
    assert "more than the scale has" not in str(comparison)
    narrow = Scale(name="narrow", items=("score",), low=-5, high=5)
    two = answers([(1, "A", None, 1.0), (1, "B", None, 4.0), (2, "A", None, 4.0), (2, "B", None, 0.0)], narrow)
    (pair,) = compare_answers(two).pairs
    wanted = f"a true difference of {pair.detectable:.2f}, more than the scale has (10), would be found with a chance"
    assert wanted in str(compare_answers(two))
    constant = [(p, s, None, float(p + (s == "A"))) for p in range(5) for s in "AB"]
    assert "a true difference" not in str(compare_answers(answers(constant)))


def test_a_system_alone_on_its_topic_tells_nothing_within_topics() -> None:
    rows = felt(0.3)
    lone = [row for row in rows if row[1] == "A" or row[2] in ("t0", "t1", "t2")]
    found = correlate_answers(answers(lone), experiment(RANKS), "RR", ["pearson"], sampling=Sampling(0, 100))
    assert [(row.over, row.pairs, row.topics) for row in found.rows] == [("all", 15, 12), ("within topics", 6, 3)]
    both = [row for row in rows if row[2] in ("t0", "t1", "t2")]
    few = correlate_answers(answers(both), experiment(RANKS), "RR", ["kendall"], sampling=Sampling(0, 100))
    all_lone = correlate_answers(answers(lone), experiment(RANKS), "RR", ["kendall"], sampling=Sampling(0, 100))
    assert all_lone.rows[1].estimate == few.rows[1].estimate
    (doubt,) = [w.message for w in found.warnings if w.code == "few-topics"]
    assert (
        doubt == "3 topics with several systems, which tell within topics: intervals over fewer than 10 are too narrow"
    )
    apart = [row for row in rows if (row[1] == "A") == (row[2] in ("t0", "t1", "t2"))]
    none = correlate_answers(answers(apart), experiment(RANKS), "RR", ["pearson"], sampling=Sampling(0, 100))
    assert (none.rows[1].pairs, none.rows[1].topics) == (0, 0)
    assert np.isnan(none.rows[1].estimate.value)
    assert "no coefficient within topics: no topic has scores of several systems" in str(none)


def scored(*cells: tuple[str, str, str | None]) -> Answers:
    return answers([(*cell, float(number**2 % 7)) for number, cell in enumerate(cells)])


TWICE = scored(*((p, s, None) for p in "abcd" for s in "AB"))  # everybody used both systems
OF_TOPICS = scored(*((p, s, t) for p in "abcd" for s, t in (("A", "1"), ("B", "2"), ("A", "3"), ("B", "4"))))
OWN_TOPICS = scored(*((p, s, p + s) for p in "abcd" for s in "AB"))  # topics that nobody else had
SINGLE = scored(*((f"{s}{n}", s, None) for s in "AB" for n in range(4)))  # everybody gave one score
ONE_TOPIC = scored(*((f"{s}{n}", s, "1") for s in "AB" for n in range(4)))
TWO_TOPICS = scored(*((f"{s}{n}", s, "12"[n % 2]) for s in "AB" for n in range(4)))
APART = scored(*((f"{s}{n}", s, t) for s in "AB" for n in range(4) for t in ("1", "2")))
ONE_BOTH = scored(("a", "A", None), ("a", "B", None), ("b", "A", None), ("c", "B", None), ("d", "A", None))


@pytest.mark.parametrize(
    ("given", "asked", "method"),
    [
        (TWICE, "auto", "paired"),
        (OF_TOPICS, "auto", "mixed"),
        (OWN_TOPICS, "auto", "paired"),
        (SINGLE, "auto", "welch"),
        (ONE_TOPIC, "auto", "welch"),
        (TWO_TOPICS, "auto", "mixed"),
        (APART, "auto", "mixed"),
        (ONE_BOTH, "auto", "mixed"),
        (TWICE, "mixed", "mixed"),
        (SINGLE, "mixed", "welch"),
        (OF_TOPICS, "paired", "paired"),
    ],
)
def test_the_help_says_which_test_is_made_when(given: Answers, asked: str, method: str) -> None:
    said = " ".join(command_line("study", "compare", "--help").stdout.split())
    assert (
        "or Welch's t tests where every participant gave one score and so has every topic (or there is one topic, or "
        "none); paired: t tests on the means of participants; auto: mixed where topics have two scores or more, or "
        "fewer than two participants used both systems of a pair; otherwise paired." in said
    )
    comparison = compare_answers(given, StudyQuestion(model=asked))
    assert comparison.method == method
    name = {"mixed": "a mixed-effects model", "paired": "paired t tests", "welch": "Welch's t tests"}[method]
    assert f"p: by {name}" in str(comparison)


def test_why_there_is_no_coefficient_is_told() -> None:
    def told(rows: Sequence[tuple[object, object, object, float]], ranks: dict[str, list[int]]) -> list[str]:
        found = correlate_answers(answers(rows), experiment(ranks), "RR", sampling=Sampling(0, 50))
        reasons = [finding.message for finding in found.warnings if finding.code == "no-coefficient"]
        unknown = {(row.over, bool(np.isnan(row.estimate.value))) for row in found.rows}
        assert any(is_nan for _, is_nan in unknown) == bool(reasons)
        return reasons

    same = [(p, s, t, 4.0) for p, s, t, _ in felt()]
    assert told(felt(), RANKS) == []
    assert told(same, RANKS) == ["no coefficient: participants give every system the same score of free on every topic"]
    by_topic = [(p, s, t, float(str(t)[1:])) for p, s, t, _ in felt()]
    assert told(by_topic, RANKS) == [
        "no coefficient within topics: participants give every system the same score of free within each topic"
    ]
    assert told(felt(), {name: [2] * 12 for name in RANKS}) == [
        "no coefficient with RR: every system has the same on every topic"
    ]
    assert told(felt(), dict.fromkeys(RANKS, RANKS["A"])) == [
        "no coefficient within topics with RR: every system has the same within each topic"
    ]
    once = [(p, s, None, 4.0) for p in range(3) for s in "AB"]
    assert told(once, RANKS) == ["no coefficient: participants give every system the same score of free in the mean"]


def test_draws_without_a_coefficient_are_told() -> None:
    ranks = {"A": [1, 1, 1], "B": [1, 1, 2]}
    rows = [(1, s, f"t{t}", float(t + (s == "A"))) for s in "AB" for t in range(3)]
    found = correlate_answers(answers(rows), experiment(ranks), "RR", ["pearson"], sampling=Sampling(0, 200))
    undefined = [row.estimate.undefined for row in found.rows]
    assert min(undefined) > 10
    (finding,) = [finding for finding in found.warnings if finding.code == "undefined-draws"]
    assert finding.message.startswith(f"in up to {max(undefined)} of 200 draws of topics one side does not vary")
    assert finding.message.endswith("(pearson with RR, all, pearson with RR, within topics)")
    assert finding.doubtful
    many = correlate_answers(answers(felt()), experiment(RANKS), "RR", ["pearson"], sampling=Sampling(0, 50))
    assert "undefined-draws" not in {finding.code for finding in many.warnings}


def test_few_topics_no_topics_and_unknown_coefficients() -> None:
    few = {name: of[:3] for name, of in RANKS.items()}
    rows = [row for row in felt() if row[2] in ("t0", "t1", "t2")]
    found = correlate_answers(answers(rows), experiment(few), "RR", sampling=Sampling(0, 100))
    assert "3 topics: intervals over fewer than 10 are too narrow" in str(found)
    with pytest.raises(DataError, match=r"two systems in common .*: answers are about A, runs are A, B"):
        correlate_answers(answers([(1, "A", None, 2.0)]), experiment(RANKS), "RR")
    with pytest.raises(UsageError, match="there is no coefficient 'phi', but pearson, spearman"):
        correlate_answers(answers(felt()), experiment(RANKS), "RR", ["phi"])
