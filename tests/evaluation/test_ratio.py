"""The ratio of means, agg='ratio': the mean of what measures divide over the mean of what they divide by."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import Measure, Policy, UsageError, evaluate
from cranfield.cli import cli
from cranfield.evaluation.result_tables import FORMATS, render
from cranfield.measures import all_measures, parse_measure
from generate import AT, Collection, collections
from lectures import GRADES_Q1, GRADES_Q2, Q1, Q2, ranked

COLLECTIONS = collections(2)
RANKS = range(1, 16)
QRELS = {"1": {"a": 1, "b": 1, "c": 1, "d": 1}, "2": {"a": 1}, "3": {"z": 0}}
RUN = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"a": 1.0}, "3": {"z": 1.0}}
ABLE = [measure for measure in all_measures() if measure.definition.denominator and not measure.definition.needs]
UNABLE = [measure for measure in all_measures() if not measure.definition.denominator]


def complete(measure: Measure) -> Measure:
    return measure if measure.is_complete else measure @ AT[str(measure.definition.at)]


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (
            "NCG(agg='ratio')",
            [0.167, 0.091, 0.267, 0.235, 0.211, 0.333, 0.318, 0.348, 0.333, 0.4, 0.4, 0.4, 0.4, 0.4, 0.64],
        ),
        (
            "nDCG(base=2, agg='ratio')",
            [0.167, 0.091, 0.214, 0.199, 0.188, 0.251, 0.245, 0.26, 0.256, 0.286, 0.286, 0.286, 0.286, 0.286, 0.374],
        ),
    ],
)
def test_curves_of_the_lecture(curve: str, expected: list[float]) -> None:
    """Mean (discounted) cumulated gain of two queries over that of their ideal rankings, at every rank."""
    names = [f"{curve}@{rank}" for rank in RANKS]
    results = evaluate({"1": GRADES_Q1, "2": GRADES_Q2}, {"1": ranked(Q1), "2": ranked(Q2)}, names)
    assert [round(value, 3) for value in results.mean()["run"].values()] == expected


PARTS = {
    "nDCG": ("DCG", "IdealDCG"),
    "nDCG@5": ("DCG@5", "IdealDCG@5"),
    "nDCG(gain='exp')@10": ("DCG(gain='exp')@10", "IdealDCG(gain='exp')@10"),
    "NCG@10": ("CG@10", "IdealCG@10"),
    "NCG(gain={1: 3, 2: 9})": ("CG(gain={1: 3, 2: 9})", "IdealCG(gain={1: 3, 2: 9})"),
    "SetR(rel=2)": ("NumRelRet(rel=2, agg='mean')", "NumRel(rel=2, agg='mean')"),
}


@pytest.mark.parametrize("made", COLLECTIONS, ids=str)
@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(topics="common"), Policy(topics="run"), Policy(empty_topics="drop"), Policy(depth=4)],
    ids=lambda policy: f"{policy.topics} {policy.empty_topics} {policy.depth}",
)
def test_is_the_mean_of_one_measure_over_the_mean_of_another(made: Collection, policy: Policy) -> None:
    """Whichever topics count; per topic the scores are those of every other average."""
    runs = {"whole": made.run, "part": dict(list(made.run.items())[:3])}
    ratios = [str(parse_measure(name)(agg="ratio")) for name in PARTS]
    results = evaluate(made.qrels, runs, [*PARTS, *ratios], policy=policy)
    parts = evaluate(made.qrels, runs, [name for pair in PARTS.values() for name in pair], policy=policy).mean()
    for run, values in results.mean().items():
        for name, ratio in zip(PARTS, ratios, strict=True):
            top, bottom = (parts[run][str(parse_measure(part))] for part in PARTS[name])
            assert values[ratio] == pytest.approx(top / bottom if bottom else 0.0, rel=1e-12, abs=1e-12)
            np.testing.assert_array_equal(results.of(ratio, run), results.of(name, run))


@pytest.mark.parametrize("measure", ABLE, ids=str)
def test_denominators_make_scores_whole_again(measure: Measure) -> None:
    """Where the denominator is 0 the score is, and the topic counts neither above nor below the line."""
    for made in COLLECTIONS:
        judged = cranfield.judged.judge(cranfield.read_run(made.run), cranfield.read_qrels(made.qrels))
        averaged = complete(measure)(agg="ratio")
        below = averaged.denominators(judged)
        scores = averaged.per_topic(judged)
        assert np.all(below >= 0)
        assert np.all(scores[below == 0] == 0)
        total = sum(Fraction(float(s)) * Fraction(float(d)) for s, d in zip(scores, below, strict=True))
        expected = float(total / sum(Fraction(float(d)) for d in below)) if below.any() else 0.0
        assert averaged.aggregate(scores, below) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert complete(measure).denominators(judged).tolist() == [1] * len(judged.topics)


def test_micro_averaged_recall_counts_documents() -> None:
    found = evaluate(QRELS, RUN, ["SetR", "SetR(agg='ratio')", "R(agg='ratio')@1", "AP(agg='ratio')"]).mean()["run"]
    assert found["SetR"] == pytest.approx((2 / 4 + 1 / 1 + 0) / 3)
    assert found["SetR(agg='ratio')"] == pytest.approx(3 / 5)
    assert found["R(agg='ratio')@1"] == pytest.approx(2 / 5)
    assert found["AP(agg='ratio')"] == pytest.approx((1 + 2 / 3 + 1) / 5)


def test_ties_are_averaged_before_the_ratio_is_taken() -> None:
    tied = {"1": dict.fromkeys("axyb", 1.0), "2": dict.fromkeys("ax", 1.0)}
    found = evaluate(QRELS, tied, ["R(agg='ratio')@2"], policy=Policy(ties="expected")).mean()["run"]
    assert found["R(agg='ratio')@2"] == pytest.approx((1 + 1) / 5), "two of four ranks for two documents, and one"
    cut = evaluate(QRELS, tied, ["R(agg='ratio')@2"], policy=Policy(ties="expected", depth=2, samples=2000))
    assert cut.mean()["run"]["R(agg='ratio')@2"] == pytest.approx(2 / 5, abs=0.03)


@pytest.mark.parametrize("measure", UNABLE, ids=str)
def test_is_refused_for_what_is_no_ratio(measure: Measure) -> None:
    with pytest.raises(UsageError, match=f"^{measure.definition.name} is not a ratio .* as are R, .*nDCG"):
        measure(agg="ratio")


def test_the_error_is_that_of_wrong_usage_on_the_command_line() -> None:
    with pytest.raises(UsageError, match="RR is not a ratio to what the judgements hold"):
        parse_measure("MRR(agg='ratio')")
    with pytest.raises(UsageError, match="agg must be mean, geometric, harmonic, sum, ratio, not 'rato'"):
        parse_measure("nDCG(agg='rato')")


def test_needs_denominators_and_has_no_bounds() -> None:
    with pytest.raises(UsageError, match="needs the topics' denominators"):
        parse_measure("nDCG(agg='ratio')").aggregate(np.array([0.5]))
    with pytest.raises(UsageError, match="bounds of a ratio of means"):
        evaluate(QRELS, RUN, ["AP", "nDCG(agg='ratio')"], bounds=True)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_it(form: str) -> None:
    results = evaluate(QRELS, RUN, ["nDCG(agg='ratio')@2", "nDCG@2"])
    mean = results.mean()["run"]["nDCG(agg='ratio')@2"]
    assert mean != pytest.approx(results.mean()["run"]["nDCG@2"], abs=0.01)
    assert f"{mean:.4f}"[:-1] in render(results, form)


def test_the_command_explains_it() -> None:
    called = CliRunner().invoke(cli, ["measures", "nDCG"])
    assert "ratio is the mean of what a measure divides" in " ".join(called.stdout.split())
