"""The gate of continuous integration: what passes, what fails, what cannot be told, and with which words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from commands import Outcome, command_line
from cranfield import DataError, Policy, UsageError, measure
from cranfield.comparison.gate.decision import Both, as_comparison, gate, measure_checks
from cranfield.comparison.gate.gate_tables import render
from cranfield.comparison.gate.rules import Answer, Rule, Thresholds
from cranfield.comparison.gate.verdict import ANSWERS, Check
from cranfield.evaluation.experiment import Experiment
from cranfield.judged import Floats, Judged
from cranfield.measures import Measure, all_measures, parse_measure
from cranfield.measures.definition import Better
from cranfield.measures.registry import MEASURES
from cranfield.statistics.significance import Sampling
from noisy import QRELS, RUNS, write
from places import EXAMPLES

AP = parse_measure("AP")
NON_INFERIOR = Rule(require="non-inferior", margin=0.1)
BETTER = Rule(require="better")
HARM = Rule()
OPPOSITE: dict[Better, Better] = {"higher": "lower", "lower": "higher", "neither": "neither"}


def failed(baseline: str, candidate: str, thresholds: Thresholds) -> list[str]:
    verdict = gate(Experiment(QRELS, [RUNS[baseline], RUNS[candidate]]), thresholds)
    assert verdict.passed == all(check.passed for check in verdict.checks)
    return [check.what for check in verdict.checks if not check.passed]


def check_of(
    gains: Any, rule: Rule = HARM, measure: Measure = AP, alpha: float = 0.05, test: str = "randomisation"
) -> Check:
    """The check of a candidate that gains so much on each topic over a baseline of 0.5."""
    baseline = np.full(len(gains), 0.5)
    topics = tuple(map(str, range(len(gains))))
    both = Both(measure, topics, baseline, baseline + np.asarray(gains) * (measure.sign or 1))
    (check,) = measure_checks(both, rule, alpha, test, Sampling(resamples=999))
    return check


def answers(gains: Any, **more: Any) -> tuple[Answer, Answer, Answer]:
    """What is answered to each requirement: no evidence of harm, non-inferior by 0.1, better."""
    harm, inferior, better = (check_of(gains, rule, **more).answer for rule in (HARM, NON_INFERIOR, BETTER))
    return harm, inferior, better


def test_a_better_candidate_passes_and_a_worse_one_does_not() -> None:
    both = Thresholds({"AP": Rule(tolerance=0.01)})
    assert failed("poor", "good", both) == []
    assert failed("good", "poor", both) == ["AP falls by at most 0.01", "AP does not fall significantly"]
    assert failed("poor", "good", Thresholds({"AP": BETTER})) == []
    assert failed("good", "poor", Thresholds({"AP": BETTER})) == ["AP rises significantly"]
    assert failed("good", "poor", Thresholds({"AP": NON_INFERIOR})) == ["AP falls by less than 0.1, surely"]


def test_each_rule_stands_alone() -> None:
    assert failed("good", "poor", Thresholds({"AP": Rule(tolerance=1, significant=False)})) == []
    floor = Thresholds({"AP": Rule(significant=False, minimum=0.99)})
    assert failed("poor", "good", floor) == ["AP is at least 0.99"]
    ceiling = Thresholds({"AP": Rule(significant=False, maximum=0.01)})
    assert failed("poor", "good", ceiling) == ["AP is at most 0.01"]


@pytest.mark.parametrize(
    ("gains", "expected"),
    [
        # no evidence of harm, non-inferior by 0.1, better
        ([0.0], ("pass", "pass", "fail")),
        ([0.0] * 3, ("pass", "pass", "fail")),
        ([0.0] * 50, ("pass", "pass", "fail")),
        ([0.3], ("pass", "cannot tell", "cannot tell")),
        ([-0.3], ("cannot tell", "fail", "fail")),
        ([-0.3, 0.3], ("cannot tell", "cannot tell", "cannot tell")),
        ([0.2] * 4, ("pass", "cannot tell", "cannot tell")),
        ([-0.2] * 4, ("cannot tell", "fail", "fail")),
        ([-0.05] * 4, ("cannot tell", "cannot tell", "fail")),
        ([0.2] * 5, ("pass", "pass", "pass")),
        ([-0.2] * 5, ("fail", "fail", "fail")),
        ([-0.01] * 50, ("fail", "pass", "fail")),  # constant, and within the margin
        ([-0.1] * 50, ("fail", "fail", "fail")),  # the margin itself is not within it
        ([-0.4, *[0.0] * 49], ("cannot tell", "pass", "fail")),  # one topic changed
        ([0.4, *[0.0] * 49], ("pass", "pass", "cannot tell")),
        ([-0.4, 0.1, *[0.0] * 48], ("pass", "pass", "fail")),
        ([-0.4] * 4 + [0.0] * 6, ("cannot tell", "fail", "fail")),
        ([-0.4] * 5 + [0.0] * 5, ("fail", "fail", "fail")),
    ],
    ids=str,
)
def test_three_answers(gains: list[float], expected: tuple[Answer, ...]) -> None:
    assert answers(gains) == expected
    loss = parse_measure("E@10")
    assert answers(gains, measure=loss) == expected  # a rise of a loss is what a fall is


def test_five_topics_that_lose_more_than_half_do_not_pass_and_four_cannot_tell() -> None:
    qrels = {str(t): {f"d{n}": 2 for n in range(5)} for t in range(5)}
    good = {t: {f"d{n}": 10.0 - n for n in range(5)} for t in qrels}
    bad = {t: {f"d{n}" if n > 2 else f"x{n}": 10.0 - n for n in range(5)} for t in qrels}
    five = gate(Experiment(qrels, [good, bad]), Thresholds({"DCG": Rule()}))
    assert five.answer == "fail"
    assert "p=0.0312 (exact randomisation), 5 of 5 topics changed" in five.checks[0].detail
    four = gate(Experiment({t: qrels[t] for t in "0123"}, [good, bad]), Thresholds({"DCG": Rule()}))
    assert four.answer == "cannot tell"
    assert four.checks[0].detail.endswith(
        "4 of 4 topics changed; 4 topics can never give a p below 0.05: 5 topics that differ are needed at least"
    )


def test_how_many_topics_are_needed_goes_by_alpha() -> None:
    assert check_of([-0.2] * 6).answer == "fail"
    check = check_of([-0.2] * 6, alpha=0.01)
    assert check.answer == "cannot tell"
    assert check.evidence is not None
    assert (check.evidence.needed, check.evidence.changed, check.evidence.topics) == (7, 6, 6)
    few = check_of([-0.2] * 3 + [0.0] * 9)
    assert "so few can never give a p below 0.05: 5 topics that differ are needed" in few.detail


@pytest.mark.parametrize("test", ["randomisation", "t", "wilcoxon", "sign"])
def test_a_constant_loss_fails_whatever_the_test(test: str) -> None:
    check = check_of([-0.1] * 50, test=test)
    assert check.answer == "fail"
    assert check.evidence is not None
    decided = "randomisation" if test == "t" else test
    assert check.evidence.test == decided
    assert ("(exact randomisation, for t has no answer here)" in check.detail) == (test == "t")
    assert "p<0.0001" in check.detail
    assert "0.0000 " not in check.detail


def test_t_decides_where_it_has_an_answer() -> None:
    gains = [-0.1, -0.2, -0.1, -0.2, -2.0]
    assert check_of(gains).answer == "fail"
    by_t = check_of(gains, test="t")
    assert by_t.answer == "pass"
    assert "(t), 5 of 5" in by_t.detail


whole_gains = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


@given(whole_gains, st.data())
def test_no_answer_worsens_when_a_topic_improves(whole: list[int], data: st.DataObject) -> None:
    gains = np.array(whole) / 10
    improved = gains.copy()
    improved[data.draw(st.integers(0, len(whole) - 1))] += data.draw(st.integers(1, 6)) / 10
    for rule in (HARM, Rule(require="non-inferior", margin=0.15), BETTER):
        if rule.require == "non-inferior" and not gains.any():
            continue  # the same scores pass, however few the topics are
        before, after = check_of(gains, rule).answer, check_of(improved, rule).answer
        assert ANSWERS.index(after) <= ANSWERS.index(before)


@given(whole_gains, st.sampled_from([HARM, NON_INFERIOR, BETTER]), st.sampled_from([0.05, 0.2, 0.6]))
def test_interval_and_answer_say_the_same(whole: list[int], rule: Rule, alpha: float) -> None:
    check = check_of(np.array(whole) / 10, rule, alpha=alpha)
    found = check.evidence
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    if rule.require == "no-evidence-of-harm":
        assert found.low == -np.inf
        assert (found.p < alpha) == (check.answer == "fail")
        assert found.high <= 1e-9 if check.answer == "fail" else found.high >= -1e-9
    else:
        assert found.high == np.inf
        limit = -0.1 if rule.require == "non-inferior" else 0.0
        assert found.low >= limit - 1e-9 if found.p < alpha else found.low <= limit + 1e-9


def test_interval_and_answer_say_the_same_next_to_alpha_though_the_interval_is_drawn() -> None:
    gains = np.random.default_rng(3).normal(-0.1, 0.2, 20)
    evidence = check_of(gains).evidence
    assert evidence is not None
    assert evidence.method == "exact"
    for factor, answer in ((1.001, "fail"), (0.999, "pass")):
        check = check_of(gains, alpha=evidence.p * factor)
        assert check.answer == answer
        assert check.evidence is not None
        assert check.evidence.high is not None
        assert check.evidence.high <= 0 if answer == "fail" else check.evidence.high >= 0
    loosely, strictly = (check_of([-0.2] * 5, alpha=alpha).answer for alpha in (0.03126, 2**-5))
    assert (loosely, strictly) == ("fail", "cannot tell")  # p must be below alpha


def twin(measure: Measure) -> Measure:
    """The measure whose values are the other's with the sign turned, and of which the others are better."""
    definition = measure.definition.replaced(better=OPPOSITE[measure.better])
    return Measure(definition, f"Minus{measure.name}", measure.given)


def mirrored(check: Check) -> Any:
    """What a check of the twin must have: the answer, and the numbers with the sign turned."""
    found = check.evidence
    if found is None:
        return check.rule, check.answer
    low, high = (None if end is None else -end for end in (found.high, found.low))
    return check.rule, check.answer, found._replace(low=low, high=high)


@pytest.mark.parametrize("measure", [one for one in all_measures() if one.sign], ids=lambda one: one.name)
def test_the_twin_of_every_measure_mirrors_every_decision(measure: Measure) -> None:
    other, random = twin(measure), np.random.default_rng(len(measure.name))
    assert other.sign == -measure.sign
    for topics in (1, 4, 7, 40):
        baseline, candidate = random.integers(0, 5, (2, topics)) / 4
        candidate = candidate if topics < 40 else baseline - 0.1 * measure.sign * random.random(topics)
        names = tuple(map(str, range(topics)))
        one = Both(measure, names, baseline, candidate)
        two = Both(other, names, -baseline, -candidate)
        for rule in (
            Rule(tolerance=0.1),
            Rule(require="non-inferior", margin="20%"),
            Rule(require="better"),
        ):
            for test in ("randomisation", "t") if rule.tolerance else ("randomisation",):
                given = (rule, 0.1, test, Sampling(resamples=199))
                first, second = list(measure_checks(one, *given)), list(measure_checks(two, *given))
                assert [(c.rule, c.answer, c.evidence) if c.evidence else (c.rule, c.answer) for c in first] == [
                    mirrored(c) for c in second
                ]
        floor = next(measure_checks(one, Rule(significant=False, minimum=0.4), 0.05, "t", Sampling()))
        ceiling = next(measure_checks(two, Rule(significant=False, maximum=-0.4), 0.05, "t", Sampling()))
        assert floor.answer == ceiling.answer


def test_a_twin_is_gated_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_called", "_entries"):
        monkeypatch.setattr(MEASURES, name, dict(getattr(MEASURES, name)))

    @measure(better="lower")
    def MinusAP(judged: Judged) -> Floats:
        """Average precision with the sign turned."""
        return -AP.per_topic(judged)

    for baseline in RUNS:
        for candidate in RUNS:
            rules = {"tolerance": 0.05, "require": "no-evidence-of-harm"}
            experiment = Experiment(QRELS, [RUNS[baseline], RUNS[candidate]])
            one, two = (
                gate(experiment, Thresholds({name: Rule(**rules)}, {"7": 0.1}))  # type: ignore[arg-type]
                for name in ("AP", "MinusAP")
            )
            assert [check.answer for check in one.checks] == [check.answer for check in two.checks]
            assert [check.what.replace("fall", "rise").replace("AP", "MinusAP") for check in one.checks] == [
                check.what for check in two.checks
            ]
            assert (one.means[0].better, one.means[0].worse) == (two.means[0].better, two.means[0].worse)


@settings(max_examples=40)
@given(st.data())
def test_another_measure_never_turns_fail_into_pass(data: st.DataObject) -> None:
    names = data.draw(
        st.lists(st.sampled_from(["AP", "RR", "P@5", "nDCG@10", "E@10", "NumRet"]), min_size=2, unique=True)
    )
    rule = data.draw(st.sampled_from([HARM, BETTER, Rule(require="non-inferior", margin="1%"), Rule(tolerance=0.0)]))
    topics = data.draw(st.integers(1, 12))
    some = {str(t): QRELS[str(t)] for t in range(1, topics + 1)}
    baseline, candidate = data.draw(st.permutations(list(RUNS)))[:2]
    if names[0] == "NumRet":
        names[0], names[1] = names[1], names[0]
    fewer, more = (
        gate(Experiment(some, [RUNS[baseline], RUNS[candidate]]), Thresholds(dict.fromkeys(chosen, rule)))
        for chosen in (names[:-1], names)
    )
    assert ANSWERS.index(more.answer) >= ANSWERS.index(fewer.answer)
    assert more.checks[: len(fewer.checks)] == fewer.checks


def test_how_often_chance_alone_fails_a_candidate_is_said() -> None:
    def promise(rules: dict[str, Rule], alpha: float = 0.05, test: str = "randomisation") -> str:
        return gate(Experiment(QRELS, [RUNS["fair"], RUNS["good"]]), Thresholds(rules, {}, alpha), test=test).promise

    one = "A candidate that does no harm fails by chance in at most 5% of all cases."
    assert promise({"AP": HARM}) == one
    assert promise({"AP": HARM, "RR": Rule(significant=False, minimum=0)}) == one
    assert promise({"AP": HARM}, test="t") == one.replace("at most", "about")
    assert promise({"AP": HARM, "RR": HARM, "E@5": HARM}) == (
        "3 measures are tested at 0.05 each, and none weakens another: a candidate that does no harm fails by chance "
        "in at most 15% of all cases (14.3% if the measures were independent)."
    )
    assert "at most 100% of all cases (84% if" in promise({"AP": HARM, "RR": HARM}, alpha=0.6)
    assert promise({"AP": BETTER, "RR": BETTER}, alpha=0.01) == (
        "A candidate that is no better on one of the measures passes by chance in at most 1% of all cases."
    )
    assert promise({"AP": NON_INFERIOR}) == (
        "A candidate that is worse by the margin or more on one of the measures passes by chance in about 5% of all "
        "cases, if differences lie evenly around their mean; more often, if a few topics carry the loss."
    )
    assert promise({"AP": Rule(significant=False, minimum=0)}) == ""


@pytest.mark.parametrize("measures", [1, 4])
def test_chance_fails_no_more_candidates_than_said(measures: int) -> None:
    """Measures that have nothing to do with each other, where the bound is nearest."""
    random, fails, sets = np.random.default_rng(4), 0, 500
    for _ in range(sets):
        fails += any(check_of(random.normal(size=8)).answer == "fail" for _ in range(measures))
    expected = 1 - (1 - 0.05) ** measures
    assert fails / sets <= measures * 0.05 + 4 * np.sqrt(expected * (1 - expected) / sets)
    assert fails / sets >= 0.5 * expected


def test_a_protected_topic_may_get_worse_so_far() -> None:
    change = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]])).results.scores[:, 0]
    fall = float(change[0, 4] - change[1, 4])
    assert fall > 0
    rules = {"nDCG@10": Rule(significant=False)}
    assert failed("good", "poor", Thresholds(rules, {"5": fall})) == []
    assert failed("good", "poor", Thresholds(rules, {"5": fall - 1e-6}))
    with pytest.raises(UsageError, match="no topic 999 among those compared"):
        gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds(rules, {"999": 0}))
    loss = Thresholds({"E@10": Rule(significant=False)}, {"5": 0})
    assert failed("good", "poor", loss) == ["E@10 of topic 5 rises by at most 0"]
    assert failed("poor", "good", loss) == []


def test_a_loss_gets_worse_when_it_rises() -> None:
    rule = {"E@10": Rule(tolerance=0.01, maximum=0.4)}
    assert failed("good", "poor", Thresholds(rule)) == [
        "E@10 rises by at most 0.01",
        "E@10 does not rise significantly",
        "E@10 is at most 0.4",
    ]
    assert failed("poor", "good", Thresholds({"E@10": Rule(tolerance=0.01)})) == []
    assert failed("good", "poor", Thresholds({"E@10": BETTER})) == ["E@10 falls significantly"]
    assert failed("good", "poor", Thresholds({"AP": BETTER})) == ["AP rises significantly"]


def test_a_measure_without_a_better_side_counts_against_a_figure_alone() -> None:
    shown = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"NumRet": HARM, "AP": BETTER}, {"5": 1}))
    assert {check.measure for check in shown.checks} == {"AP"}
    assert [str(warning) for warning in shown.warnings if warning.code == "no-direction"] == [
        "NumRet: no value is better than another: it is shown and decides nothing without a minimum or a maximum"
    ]
    assert "NumRet" in render(shown, "table")
    held = gate(Experiment(QRELS, [RUNS["good"], RUNS["good"]]), Thresholds({"NumRet": Rule(minimum=31)}))
    assert [(check.what, check.answer) for check in held.checks] == [("NumRet a topic is at least 31", "fail")]
    assert not [warning for warning in held.warnings if warning.code == "no-direction"]
    for thresholds in ({"rules": {"NumRet": Rule(tolerance=3)}}, {"rules": {"NumRet": HARM}, "topics": {"5": 1}}):
        with pytest.raises(UsageError, match="no value of NumRet is better than another"):
            Thresholds(**thresholds)


def test_topics_without_a_score_from_both_are_left_out() -> None:
    half = {topic: answer for topic, answer in RUNS["poor"].items() if int(topic) <= 4}
    common = gate(Experiment(QRELS, [RUNS["good"], half], policy=Policy(topics="run")), Thresholds({"AP": HARM}))
    assert common.means[0].topics == 4
    assert common.answer == "cannot tell"
    rest = {topic: answer for topic, answer in RUNS["poor"].items() if int(topic) > 4}
    with pytest.raises(DataError, match="AP: there is no topic with a score from both"):
        gate(Experiment(QRELS, [half, rest], policy=Policy(topics="run")), Thresholds({"AP": HARM}))
    with pytest.raises(UsageError, match="no topic 9 among"):
        gate(Experiment(QRELS, [RUNS["good"], half], policy=Policy(topics="run")), Thresholds({"AP": HARM}, {"9": 0}))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"measure": {}}, "unknown key 'measure'; there are alpha, cannot-tell, require, margin, measures, topics"),
        (
            {"measures": {"AP": {"tolerence": 1}}},
            "has 'tolerence'; it may have tolerance, significant, minimum, maximum",
        ),
        ({"measures": {"AP": 3}}, "has 3"),
        ({"measures": {"APP": {}}}, "unknown measure 'APP'"),
        ({"topics": {"301": "much"}}, "topic 301 must be a number, not 'much'"),
        ({"alpha": True}, "alpha must be a number"),
        ({"alpha": 1}, "alpha must be between 0 and 1, not 1"),
        ({"measures": 3}, "measures must be a table"),
        ({"topics": [1]}, "topics must be a table"),
        ({"topics": {"301": -0.1}}, "topic 301 must be 0 or more"),
        ({"measures": {"AP": {"tolerance": "x"}}}, "AP.*: tolerance must be a number, not 'x'"),
        ({"measures": {"AP": {"tolerance": -1}}}, "AP.*: tolerance must be 0 or more"),
        ({"measures": {"AP": {"minimum": float("nan")}}}, "AP.*: minimum must be a number, not nan"),
        ({"measures": {"AP": {"maximum": "x"}}}, "AP.*: maximum must be a number, not 'x'"),
        ({"measures": {"AP": {"minimum": 0.5, "maximum": 0.4}}}, "minimum 0.5 is above maximum 0.4"),
        ({"measures": {"AP": {"significant": "no"}}}, "AP.*: significant must be true or false, not 'no'"),
        ({"measures": {"AP": {}, "map": {}}}, "AP has two rules"),
        ({"measures": {"AP": {"significant": False}}}, "nothing is checked"),
        ({"measures": {"AP": {"require": "best"}}}, "AP.*: require must be one of no-evidence-of-harm, non-inferior"),
        ({"require": "non-inferior"}, "by how much"),
        ({"margin": 0.1}, "a margin is for non-inferior, and no-evidence-of-harm is required"),
        ({"require": "non-inferior", "margin": 0}, "margin must be a number above 0"),
        ({"require": "non-inferior", "margin": "2 percent"}, "margin must be a number above 0"),
        ({"require": "non-inferior", "margin": "1_0%"}, "margin must be a number above 0"),
        ({"require": "non-inferior", "margin": "２%"}, "margin must be a number above 0"),
        ({"measures": {"AP": {"require": "better", "significant": False}}}, "is a matter of significance"),
        ({"measures": {"NumRet": {"tolerance": 3}}}, "has tolerance, and no value of NumRet is better than another"),
        ({"measures": {"NumRet": {"require": "better"}}}, "has require, and no value of NumRet is better"),
        ({"measures": {"NumRet": {"significant": True}}}, "has significant, and no value of NumRet is better"),
        ({"measures": {"NumRet": {}}}, "nothing is checked: no value of NumRet is better than another"),
        ({"cannot-tell": "maybe"}, "cannot-tell counts as pass or fail, not 'maybe'"),
    ],
)
def test_wrong_thresholds_are_explained(document: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Thresholds.of_document(document)


def test_a_file_sets_what_is_required_for_all_measures_or_one() -> None:
    made = Thresholds.of_document(
        {
            "require": "non-inferior",
            "margin": "2%",
            "cannot-tell": "fail",
            "measures": {
                "AP": {},
                "RR": {"margin": 0.1},
                "P@5": {"require": "better"},
                "R@5": {"significant": False, "minimum": 0.1},
                "NumRet": {"maximum": 1000},
            },
        }
    )
    asked = {name: (rule.require, rule.margin, rule.significant) for name, rule in made.rules.items()}
    assert asked == {
        "AP": ("non-inferior", "2%", True),
        "RR": ("non-inferior", 0.1, True),
        "P@5": ("better", None, True),
        "R@5": ("no-evidence-of-harm", None, False),
        "NumRet": ("no-evidence-of-harm", None, True),
    }
    assert made.cannot_tell == "fail"
    assert Thresholds.of_document({"require": "better"}).rules == {"nDCG@10": BETTER}


def test_a_margin_in_percent_is_of_the_baselines_mean() -> None:
    gains = [-0.004] * 30
    two, one = (check_of(gains, Rule(require="non-inferior", margin=given)) for given in ("2%", "0.5%"))
    assert (two.answer, one.answer) == ("pass", "fail")
    assert two.evidence is not None
    assert two.evidence.margin == pytest.approx(0.01)
    assert two.what == "AP falls by less than 2% of the baseline (0.01), surely"
    with pytest.raises(UsageError, match="a margin is about the mean, and sign is not: take randomisation or t"):
        gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": NON_INFERIOR}), test="sign")


@pytest.mark.parametrize(("changed", "warned"), [(0, False), (1, True), (9, True), (10, False), (40, False)])
def test_a_margin_judged_by_few_changed_topics_is_warned_of(changed: int, warned: bool) -> None:
    candidate = {topic: RUNS["poor" if int(topic) <= changed else "good"][topic] for topic in RUNS["good"]}
    for rule in (Rule(require="non-inferior", margin=0.4), HARM):
        verdict = gate(Experiment(QRELS, [RUNS["good"], candidate]), Thresholds({"AP": rule}))
        found = [str(warning) for warning in verdict.warnings if warning.code == "few-changed"]
        assert bool(found) == (warned and rule is not HARM)
        if found:
            topics = "the 1 topic" if changed == 1 else f"the {changed} topics"
            assert found == [
                f"AP: the interval rests on {topics} that changed, of 40, and holds less often than 95%: a rare large "
                "loss may not be among so few. Take more topics, or protect those that matter (--topic)"
            ]


def test_a_p_next_to_alpha_is_warned_of_where_it_is_drawn() -> None:
    def warned(alpha: float) -> list[str]:
        thresholds, sampling = Thresholds({"AP": HARM}, {}, alpha), Sampling(0, 999)
        verdict = gate(Experiment(QRELS, [RUNS["fair"], RUNS["poor"]]), thresholds, sampling=sampling)
        return [warning.message for warning in verdict.warnings if warning.code == "near-alpha"]

    found = gate(Experiment(QRELS, [RUNS["fair"], RUNS["poor"]]), Thresholds({"AP": HARM}), sampling=Sampling(0, 999))
    assert found.checks[0].evidence is not None
    p = found.checks[0].evidence.p
    assert warned(0.05) == []
    (message,) = warned(p)
    assert message == (
        f"p {p:.4f} from 999 resamples is within 3 standard errors of {p:g}: another seed may decide otherwise, take "
        "more (--resamples)"
    )
    error = found.checks[0].evidence.error
    assert [len(warned(p + errors * error)) for errors in (2.9, 3.1)] == [1, 0]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("gate")
    runs = {name: str(write(folder / f"{name}.run", RUNS[name])) for name in RUNS}
    few = {topic: QRELS[topic] for topic in ("1", "2", "3")}
    return runs | {"qrels": str(write(folder / "qrels.txt", QRELS)), "few": str(write(folder / "few.txt", few))}


def gated(files: dict[str, str], baseline: str, candidate: str, *options: str, qrels: str = "qrels") -> Outcome:
    return command_line("gate", files[qrels], files[baseline], files[candidate], *options)


def test_exit_codes(files: dict[str, str]) -> None:
    assert gated(files, "poor", "good").exit == 0
    assert gated(files, "good", "poor").exit == 1
    unsure = gated(files, "good", "poor", qrels="few")
    assert unsure.exit == 4
    assert unsure.stdout.startswith("The check cannot tell.\n")
    turned = {choice: gated(files, "good", "poor", "--cannot-tell", choice, qrels="few") for choice in ("pass", "fail")}
    assert {choice: found.exit for choice, found in turned.items()} == {"pass": 0, "fail": 1}
    assert turned["pass"].stdout.startswith("The check cannot tell; that counts as passed.\n")
    assert turned["fail"].stdout.startswith("The check cannot tell; that counts as failed.\n")
    assert gated(files, "poor", "good", "--no-significant").exit == 2
    assert "nothing is checked" in gated(files, "poor", "good", "--no-significant").stderr
    refused = gated(files, "poor", "good", "-m", "NumRet")
    assert refused.exit == 2
    assert "no value of NumRet is better than another. Give a minimum or a maximum" in refused.stderr
    assert gated(files, "poor", "good", "-m", "NumRet", "--maximum", "100").exit == 0
    assert gated(files, "poor", "good", "-m", "NumRet", "--maximum", "10").exit == 1


OPTIONS = [
    ["--alpha", "0.3"],
    ["--test", "t"],
    ["--test", "wilcoxon"],
    ["--test", "sign"],
    ["--seed", "1"],
    ["--resamples", "200000"],
    ["--require", "better"],
    ["--require", "non-inferior", "--margin", "0.3"],
    ["--require", "non-inferior", "--margin", "3%"],
    ["--tolerance", "0.1"],
    ["--minimum", "0.1"],
    ["--maximum", "0.9"],
    ["--topic", "3=0.9"],
    ["--cannot-tell", "fail"],
    ["-m", "RR"],
    ["--topics", "common"],
]


@pytest.mark.parametrize("given", OPTIONS, ids=" ".join)
def test_each_option_changes_what_is_found_and_is_told(files: dict[str, str], given: list[str]) -> None:
    plain, changed = (
        json.loads(gated(files, "fair", "poor", "-m", "AP", "-f", "json", *more).stdout) for more in ([], given)
    )
    assert plain != changed
    if given[0] in ("--alpha", "--test", "--require", "--seed", "--resamples"):
        assert plain["checks"] != changed["checks"]
    name = given[0].lstrip("-").replace("-", "_")
    if name in ("alpha", "test", "seed", "resamples", "cannot_tell"):
        assert str(changed[name]) == given[1]
        assert str(plain[name]) != given[1]


def test_alpha_and_test_decide(files: dict[str, str]) -> None:
    def answered(*given: str) -> Any:
        return json.loads(gated(files, "fair", "poor", "-m", "AP", "-f", "json", *given).stdout)["checks"][0]

    p = answered()["evidence"]["p"]
    assert 0 < p < 0.02
    assert answered("--alpha", str(p * 1.1))["answer"] == "fail"
    assert answered("--alpha", str(p * 0.9))["answer"] == "pass"
    by_test = {test: answered("--test", test)["evidence"] for test in ("randomisation", "t", "wilcoxon", "sign")}
    assert [found["test"] for found in by_test.values()] == list(by_test)
    assert len({found["p"] for found in by_test.values()}) == 4
    assert "bootstrap is not one-sided" in gated(files, "fair", "poor", "--test", "bootstrap").stderr
    assert "unknown test 'x'" in gated(files, "fair", "poor", "--test", "x").stderr


def test_the_json_form(files: dict[str, str]) -> None:
    found = json.loads(gated(files, "good", "poor", "-m", "AP", "--minimum", "0.1", "-f", "json").stdout)
    assert (found["schema"], found["answer"], found["passed"]) == ("cranfield.gate/2", "fail", False)
    assert [entry["name"] for entry in found["inputs"]] == ["qrels", "baseline", "candidate"]
    assert all(entry["digest"] for entry in found["inputs"])
    tested, minimum = found["checks"]
    assert (tested["rule"], tested["answer"], minimum["rule"], minimum["evidence"]) == (
        "no-evidence-of-harm",
        "fail",
        "minimum",
        None,
    )
    evidence = tested["evidence"]
    assert (evidence["test"], evidence["method"], evidence["topics"]) == ("randomisation", "drawn", 40)
    assert evidence["low"] is None
    assert evidence["high"] < 0
    verdict = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": HARM}))
    (means,) = found["measures"]
    assert means["better"] + means["same"] + means["worse"] == 40
    scores = verdict.results.scores[:, 0]
    assert (means["baseline"], means["candidate"]) == pytest.approx(tuple(scores.mean(axis=1)))
    assert (means["better"], means["worse"]) == ((scores[1] > scores[0]).sum(), (scores[1] < scores[0]).sum())
    assert found["promise"] == verdict.promise


def test_the_junit_form(files: dict[str, str]) -> None:
    given = ("-m", "AP", "--minimum", "0.01", "--tolerance", "0.01", "-f", "junit")

    def suite_of(outcome: Outcome) -> Any:
        (suite,) = ElementTree.fromstring(outcome.stdout.encode())
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        for kind in ("failures", "errors", "skipped"):
            assert int(suite.attrib[kind]) == sum(case.find(kind.removesuffix("s")) is not None for case in cases)
        return suite

    def kinds(suite: Any) -> list[str]:
        return [case[0].tag for case in suite.findall("testcase")]

    failing = gated(files, "good", "poor", *given)
    assert failing.exit == 1
    suite = suite_of(failing)
    assert kinds(suite) == ["failure", "failure", "system-out"]
    first = suite.find("testcase")
    assert first.attrib["name"] == "AP falls by at most 0.01"
    assert suite.findall("testcase")[1].attrib["name"] == "AP: no-evidence-of-harm"
    assert suite.attrib["name"] == "cranfield gate: poor against good on qrels"
    assert first[0].attrib["type"] == "tolerance"
    assert first[0].attrib["message"].startswith("fail: 0.")
    assert "at most 5% of all cases" in suite.find("system-out").text
    assert kinds(suite_of(gated(files, "good", "good", *given))) == ["system-out"] * 3
    few = {
        choice: kinds(suite_of(gated(files, "good", "poor", "-m", "AP", "-f", "junit", *choice, qrels="few")))
        for choice in ((), ("--cannot-tell", "pass"), ("--cannot-tell", "fail"))
    }
    assert list(few.values()) == [["error"], ["skipped"], ["failure"]]


def test_junit_holds_any_topic_id() -> None:
    qrels = {'a<b>&"\x07\x1b\udcff]]>': {"d1": 1.0}}
    run = {topic: {"d1": 1.0} for topic in qrels}
    verdict = gate(Experiment(qrels, [run, run]), Thresholds({"RR": Rule()}, dict.fromkeys(qrels, 0.0)))
    text = render(verdict, "junit")
    names = [case.attrib["name"] for case in ElementTree.fromstring(text.encode()).iter("testcase")]
    assert names[1] == 'RR of topic a<b>&"\\x07\\x1b\\udcff]]> falls by at most 0'


def test_the_table_says_the_same_as_the_verdict() -> None:
    rules = {"AP": Rule(tolerance=0.01), "E@10": HARM, "NumRet": Rule(maximum=50)}
    verdict = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds(rules))
    text = render(verdict, "table")
    lines = text.splitlines()
    assert lines[0] == "The candidate fails 3 of 4 checks."
    assert [line.split("  ")[0] for line in lines[3:7]] == ["FAIL", "FAIL", "FAIL", "pass"]
    of_measure = {line.split()[0]: line for line in lines[9:12]}
    means, evidence = verdict.means[0], verdict.checks[1].evidence
    assert evidence is not None
    assert evidence.high is not None
    assert f"{means.better}/{means.same}/{means.worse}" in of_measure["AP"]
    assert f"at most {evidence.high:+.4f}" in of_measure["AP"]
    assert of_measure["E@10"].startswith("E@10 ↓")
    assert "at least +0." in of_measure["E@10"]
    assert of_measure["NumRet"].endswith("–")
    assert "one-sided 95% interval" in lines[8]
    assert " ".join(lines[13:]) == verdict.promise
    assert "0.0000" not in of_measure["AP"]


@pytest.mark.parametrize(
    ("gains", "headline"),
    [
        ({"AP": [0.0] * 9, "RR": [0.1] * 9}, "The candidate passes 2 of 2 checks."),
        ({"AP": [-0.1] * 9, "RR": [0.1] * 9}, "The candidate fails 1 of 2 checks."),
        ({"AP": [-0.1] * 9, "RR": [-0.1] * 3 + [0.0] * 6}, "The candidate fails 1 of 2 checks, and 1 cannot tell."),
        ({"AP": [0.1] * 9, "RR": [-0.1] * 3 + [0.0] * 6}, "1 of 2 checks cannot tell, the others pass."),
        ({"AP": [-0.1] * 3, "RR": [-0.1] * 3}, "None of the 2 checks can tell."),
    ],
)
def test_the_headline_counts(gains: dict[str, list[float]], headline: str) -> None:
    checks = tuple(check_of(each, measure=parse_measure(name)) for name, each in gains.items())
    some = gate(Experiment(QRELS, [RUNS["good"], RUNS["good"]]))
    assert replace(some, checks=checks, means=(), warnings=()).headline == headline


def test_the_command_writes_a_summary_and_reads_a_file(files: dict[str, str], tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("# Build\n")
    fails = gated(files, "good", "poor", "-m", "AP", "--tolerance", "0.01", "--summary", str(summary))
    assert fails.exit == 1
    assert "The candidate fails 2 of 2 checks." in fails.stdout
    assert summary.read_text().startswith("# Build\n### ❌ Retrieval quality")
    assert "| ❌ FAIL | AP does not fall significantly |" in summary.read_text()
    nowhere = gated(files, "poor", "good", "--summary", str(tmp_path / "no" / "summary.md"))
    assert nowhere.exit == 3
    assert "summary.md: cannot be written" in nowhere.stderr

    config = tmp_path / "gate.toml"
    config.write_text(
        'alpha = 0.01\n[measures."nDCG@10"]\ntolerance = 0.5\nminimum = 0.1\nmaximum = 0.99\n[topics]\n7 = 1.0\n'
    )
    passes = gated(files, "poor", "good", "--config", str(config), "-f", "json")
    document = json.loads(passes.stdout)
    assert (document["passed"], document["alpha"]) == (True, 0.01)
    assert [check["what"] for check in document["checks"]] == [
        "nDCG@10 falls by at most 0.5",
        "nDCG@10 does not fall significantly",
        "nDCG@10 is at least 0.1",
        "nDCG@10 is at most 0.99",
        "nDCG@10 of topic 7 falls by at most 1",
    ]
    for threshold in (
        *(["--tolerance", "0.5"], ["-m", "AP"], ["--alpha", "0.05"], ["--require", "better"], ["--margin", "1%"]),
        *(["--minimum", "0"], ["--maximum", "1"], ["--topic", "7"], ["--no-significant"], ["--cannot-tell", "pass"]),
    ):
        both = gated(files, "poor", "good", "--config", str(config), *threshold)
        assert both.exit == 2
        assert "or --config, not both" in both.stderr
    config.write_text("alpha = \n")
    assert "is not TOML" in gated(files, "poor", "good", "--config", str(config)).stderr
    for fall in ("x", "0_1", "１", "nan", "-1"):
        assert gated(files, "poor", "good", "--topic", f"7={fall}").exit == 2
    assert gated(files, "poor", "good", "--margin", "1%").exit == 2
    assert gated(files, "poor", "good", "--require", "non-inferior").exit == 2


def test_a_threshold_that_is_met_exactly_passes() -> None:
    qrels = {str(topic): {"d1": 1} for topic in range(10)}
    first, second = ({topic: {"d1": rank, "d2": 2} for topic in qrels} for rank in (3, 1))
    for fallen, fall in ((3, 0.15), (6, 0.3), (7, 0.35)):  # 0.7 - 1 is a bit below -0.3
        after = {topic: second[topic] if int(topic) < fallen else first[topic] for topic in qrels}
        rule = Rule(tolerance=fall, minimum=1 - fall, maximum=1 - fall, significant=False)
        assert gate(Experiment(qrels, [first, after]), Thresholds({"RR": rule})).passed


def test_a_check_says_what_it_found() -> None:
    verdict = gate(
        Experiment(QRELS, [RUNS["poor"], RUNS["good"]]), Thresholds({"AP": Rule(minimum=0.1, significant=False)})
    )
    mean = verdict.means[0].candidate
    assert verdict.checks == (
        Check(measure="AP", rule="minimum", what="AP is at least 0.1", answer="pass", detail=f"{mean:.4f}"),
    )


def test_the_ledger_counts_what_was_tested(files: dict[str, str], tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.jsonl"
    given = ("-m", "AP", "-m", "NumRet", "-m", "E@10", "--ledger", str(ledger))
    assert "made on these judgements before" not in gated(files, "good", "poor", *given).stderr
    (entry,) = map(json.loads, ledger.read_text().splitlines())
    assert (entry["comparisons"], entry["significant"], entry["measures"]) == (2, 2, ["AP", "E@10"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", entry["when"])
    again = gated(files, "good", "good", *given)
    assert "2 comparisons were made on these judgements before, in 1 session; 2 significant" in again.stderr
    assert [json.loads(line)["significant"] for line in ledger.read_text().splitlines()] == [2, 0]
    assert gated(files, "good", "poor", "--no-significant", "--minimum", "0", "--ledger", str(ledger)).exit == 0
    assert len(ledger.read_text().splitlines()) == 2  # nothing was tested


def test_a_ledger_counts_one_sided_significance() -> None:
    """Of 5 topics all the worse, p is .031 on one side and .062 on both."""
    qrels = {str(t): {"d1": 1} for t in range(5)}
    good, bad = ({t: {"d1": score, "d2": 2.0} for t in qrels} for score in (3.0, 1.0))
    verdict = gate(Experiment(qrels, [good, bad]), Thresholds({"RR": HARM}))
    made = as_comparison(verdict, [parse_measure("RR")], "randomisation")
    assert made is not None
    assert [pair.significant for pair in made.rows()] == [True]
    one = gate(Experiment({"0": qrels["0"]}, [good, bad]), Thresholds({"RR": HARM}))
    assert as_comparison(one, [parse_measure("RR")], "randomisation") is None


def test_a_candidate_that_shows_more_unjudged_documents_is_warned_of() -> None:
    def warned(candidate: Any) -> list[str]:
        verdict = gate(Experiment(QRELS, [RUNS["good"], candidate]), Thresholds({"P@10": HARM}))
        return [warning.message for warning in verdict.warnings if warning.code == "uneven-judging"]

    unjudged = {topic: {f"x{n}": 100.0 - n for n in range(5)} | answer for topic, answer in RUNS["good"].items()}
    assert warned(RUNS["fair"]) == []
    (message,) = warned(unjudged)
    assert "candidate" in message
    assert message.index("candidate") < message.index("baseline")


@pytest.mark.parametrize(
    ("margin", "told"),
    [
        (2, "a margin of 2 lets everything pass: AP goes from 0 to 1; 2% of the baseline is written 2%"),
        (1.0, "a margin of 1 lets everything pass"),
        ("200%", "a margin of 200% of the baseline lets everything pass: it must be below 100%"),
        ("100%", "must be below 100%"),
    ],
)
def test_a_margin_that_nothing_could_fail_is_refused(margin: float | str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        gate(
            Experiment(QRELS, [RUNS["good"], RUNS["poor"]]),
            Thresholds({"AP": Rule(require="non-inferior", margin=margin)}),
        )
    wide = Thresholds({"ESL": Rule(require="non-inferior", margin=2)})
    assert gate(Experiment(QRELS, [RUNS["good"], RUNS["good"]]), wide).passed


def test_a_limit_on_the_good_side_is_warned_of() -> None:
    rule = Rule(significant=False, minimum=0.1, maximum=0.9)
    verdict = gate(
        Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": rule, "E@5": rule, "NumRet": rule})
    )
    told = {warning.source: warning.message for warning in verdict.warnings if warning.code == "turned-limit"}
    assert told == {
        "AP": "higher values are better, and a maximum refuses those: was a minimum meant (--minimum)?",
        "E@5": "lower values are better, and a minimum refuses those: was a maximum meant (--maximum)?",
    }


def test_with_too_few_topics_the_reason_is_told_and_nothing_is_promised_that_cannot_be() -> None:
    better, worse = ({topic: RUNS[name][topic] for topic in list(QRELS)[:4]} for name in ("good", "poor"))
    few = {topic: QRELS[topic] for topic in list(QRELS)[:4]}
    gained = gate(Experiment(few, [worse, better]), Thresholds({"AP": HARM}))
    assert (gained.answer, gained.checks[0].detail.endswith("; no topic got worse")) == ("pass", True)
    assert gained.promise == "With so few topics nothing can fail for harm by chance."
    assert gate(Experiment(few, [better, worse]), Thresholds({"AP": HARM})).answer == "cannot tell"
    margin = Thresholds({"AP": Rule(require="non-inferior", margin=0.1)})
    assert not [w for w in gate(Experiment(few, [better, worse]), margin).warnings if w.code == "few-changed"]


def test_one_check_is_spoken_of_as_one() -> None:
    few = {topic: QRELS[topic] for topic in list(QRELS)[:4]}
    one = Thresholds({"AP": HARM})
    assert gate(Experiment(few, [RUNS["good"], RUNS["poor"]]), one).headline == "The check cannot tell."
    assert gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), one).headline == "The candidate fails the check."
    assert gate(Experiment(QRELS, [RUNS["good"], RUNS["good"]]), one).headline == "The candidate passes the check."


def test_means_over_topics_are_gated_and_what_decides_nothing_is_a_note() -> None:
    with pytest.raises(UsageError, match="means over topics are compared"):
        gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"GMAP": HARM}))
    verdict = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": HARM, "NumRet": HARM}))
    assert [(w.source, w.doubtful) for w in verdict.warnings if w.code == "no-direction"] == [("NumRet", False)]


def test_the_error_of_p_is_told_where_p_is_a_number_from_draws() -> None:
    tiny = gate(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": HARM}), sampling=Sampling(0, 99_999))
    assert "p<0.0001 (" in tiny.checks[0].detail
    near = gate(Experiment(QRELS, [RUNS["fair"], RUNS["good"]]), Thresholds({"AP": HARM}), sampling=Sampling(0, 999))
    assert " ± " in near.checks[0].detail
    # The smallest p of so many draws, on either side of where it is no more written as a number.
    for resamples, told in ((9_998, "p=0.0001 ± 0.0001 (randomisation), "), (10_000, "p<0.0001 (randomisation), ")):
        drawn = gate(
            Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), Thresholds({"AP": HARM}), sampling=Sampling(0, resamples)
        )
        assert drawn.checks[0].evidence is not None
        assert drawn.checks[0].evidence.p == 1 / (resamples + 1)
        assert told in drawn.checks[0].detail


def test_what_a_verdict_rests_on_is_a_comparison_measure_by_measure() -> None:
    """Nothing is corrected, as no measure weakens another; two sides have twice the level."""
    for alpha, level in ((0.05, 0.1), (0.6, 1.0)):
        thresholds = Thresholds({"AP": HARM, "RR": HARM, "NumRet": Rule(minimum=1)}, alpha=alpha)
        verdict = gate(Experiment(QRELS, [RUNS["fair"], RUNS["poor"]]), thresholds, sampling=Sampling(3, 500))
        made = as_comparison(verdict, [means.measure for means in verdict.means], "t")
        assert made is not None
        assert [panel.measure for panel in made.panels] == [means.measure for means in verdict.means]
        assert (made.systems, made.baseline) == (("candidate", "baseline"), "baseline")
        assert made.pairs.tolist() == [[0, 1]]
        assert made.alpha == pytest.approx(level, abs=1e-9)
        assert made.alpha < 1
        assert (made.correction.name, made.tests[0].name, made.sampling) == ("none", "t", Sampling(3, 500))
        for panel in made.panels[:2]:
            assert (
                panel.adjusted.tolist()
                == panel.p["t"].tolist()
                == pytest.approx([stats.ttest_rel(*panel.scores).pvalue])
            )
        (alone,) = as_comparison(verdict, [AP], "t").panels  # type: ignore[union-attr]
        assert alone.measure == AP
    one_topic = {"1": QRELS["1"]}
    assert (
        as_comparison(gate(Experiment(one_topic, [RUNS["fair"], RUNS["poor"]]), Thresholds({"AP": HARM})), [AP], "t")
        is None
    )


def test_the_summary_names_the_runs_whatever_was_read_beside_them(tmp_path: Path) -> None:
    (tmp_path / "known.txt").write_text("1 0 D001 1\n")
    qrels, bm25, dense = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))
    wanted = ["-m", "Novelty", "--known", "known.txt", "-f", "markdown"]
    done = command_line("gate", qrels, bm25, dense, *wanted, folder=tmp_path)
    assert "Retrieval quality: dense against bm25 on qrels\n" in done.stdout
