"""The ratio of means, agg='ratio': the mean of what measures divide over the mean of what they divide by."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cranfield
import reference
from cranfield import Measure, Policy, UsageError, evaluate
from cranfield.cli import cli
from cranfield.evaluation.result_tables import FORMATS, render
from cranfield.explanation.averages import explain_mean
from cranfield.measures import all_measures, parse_measure
from generate import AT, Collection, collections, ranking
from lectures import GRADES_Q1, GRADES_Q2, Q1, Q2, ranked

COLLECTIONS = collections(2)
RANKS = range(1, 16)
QRELS = {"1": {"a": 1, "b": 1, "c": 1, "d": 1}, "2": {"a": 1}, "3": {"z": 0}}
RUN = {"1": {"a": 3.0, "x": 2.0, "b": 1.0}, "2": {"a": 1.0}, "3": {"z": 1.0}}
ABLE = [measure for measure in all_measures() if measure.definition.denominator and not measure.definition.needs]
AREAS = [measure for measure in all_measures() if measure.definition.points]
UNABLE = [measure for measure in all_measures() if measure not in AREAS and not measure.definition.denominator]


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


AREA_FORMS = {
    "AreaNCG(agg='ratio')@5": "NCG(agg='ratio')",
    "AreaNDCG(agg='ratio')@15": "nDCG(agg='ratio')",
    "AreaNDCG(base=2, gain='exp', agg='ratio')@4": "nDCG(base=2, gain='exp', agg='ratio')",
    "AreaNCG(gain={1: 3, 2: 9}, judged_only=True, agg='ratio')@3": (
        "NCG(gain={1: 3, 2: 9}, judged_only=True, agg='ratio')"
    ),
}


def slow_area(made: Collection, name: str, topics: tuple[str, ...]) -> float:
    """(1 / k) Σ of summed gains over summed ideal gains at each rank, from the slow reference."""
    measure = parse_measure(name)
    one, whole = {"AreaNCG": ("CG", "IdealCG"), "AreaNDCG": ("DCG", "IdealDCG")}[measure.definition.name]
    shared = {key: value for key, value in measure.parameters.items() if key in ("gain", "base")}
    ratios = []
    for rank in range(1, measure.parameters["cutoff"] + 1):
        rankings = [reference_topic(made, topic, measure.parameters["judged_only"]) for topic in topics]
        above, below = (
            sum(reference.evaluate(part, topic, {**shared, "cutoff": rank}) for topic in rankings)
            for part in (one, whole)
        )
        ratios.append(above / below if below else 0.0)
    return sum(ratios) / len(ratios)


def reference_topic(made: Collection, topic: str, judged_only: bool) -> reference.Topic:
    grades = made.qrels[topic]
    documents = [d for d in ranking(made.run.get(topic, {})) if not judged_only or grades.get(d, -1) >= 0]
    return reference.Topic([grades.get(d) for d in documents], list(grades.values()), max(grades.values()))


@pytest.mark.parametrize("made", COLLECTIONS, ids=str)
@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(topics="common"), Policy(topics="run"), Policy(empty_topics="drop")],
    ids=lambda policy: f"{policy.topics} {policy.empty_topics}",
)
def test_an_area_is_that_under_the_curve_of_ratios(made: Collection, policy: Policy) -> None:
    """Whichever topics count; per topic the scores are those of every other average."""
    runs = {"whole": made.run, "part": dict(list(made.run.items())[:3])}
    plain = [str(parse_measure(name)(agg="mean")) for name in AREA_FORMS]
    results = evaluate(made.qrels, runs, [*AREA_FORMS, *plain], policy=policy)
    assert [str(measure) for measure in results.measures] == [str(parse_measure(n)) for n in (*AREA_FORMS, *plain)]
    for run, values in results.mean().items():
        topics = tuple(results.per_topic()[run])
        rankings = Collection(run, made.qrels, runs[run])
        for name, other in zip(AREA_FORMS, plain, strict=True):
            expected = slow_area(rankings, name, topics)
            assert values[str(parse_measure(name))] == pytest.approx(expected, rel=1e-12, abs=1e-12)
            np.testing.assert_array_equal(results.of(name, run), results.of(other, run))


@pytest.mark.parametrize("policy", [Policy(), Policy(depth=4), Policy(ties="expected"), Policy(ties="best")], ids=str)
def test_an_area_is_the_mean_of_its_points(policy: Policy) -> None:
    for made in COLLECTIONS[:8]:
        for name, point in AREA_FORMS.items():
            area = parse_measure(name)
            points = [f"{point}@{rank}" for rank in range(1, area.parameters["cutoff"] + 1)]
            assert [str(parse_measure(p)) for p in points] == [str(p) for p in area.points]
            both = evaluate(made.qrels, made.run, [area, points[0]], policy=policy)
            curve = evaluate(made.qrels, made.run, points, policy=policy).means[0]
            assert both.means[0] == pytest.approx([curve.mean(), curve[0]], rel=1e-12)
            assert both.points is not None
            assert both.points.means[0].tolist() == curve.tolist()
            assert both.only([area]).means[0, 0] == both.means[0, 0]


def test_the_area_of_the_lecture() -> None:
    """The curves above, whose area the lecture notes compare systems by."""
    names = ["AreaNCG(agg='ratio')@15", "AreaNDCG(base=2, agg='ratio')@15", "AreaNCG@15"]
    results = evaluate({"1": GRADES_Q1, "2": GRADES_Q2}, {"1": ranked(Q1), "2": ranked(Q2)}, names)
    cg = [0.5, 0.5, 2, 2, 2, 3.5, 3.5, 4, 4, 5, 5, 5, 5, 5, 8]
    ideal = [3, 5.5, 7.5, 8.5, 9.5, 10.5, 11, 11.5, 12, *[12.5] * 6]
    area = sum(own / best for own, best in zip(cg, ideal, strict=True)) / 15
    assert results.means[0].tolist() == pytest.approx([area, 0.2448472650302835, 0.360356767845158])


def test_draws_of_ties_tell_how_far_an_area_may_be_off() -> None:
    """A depth above the cutoff leaves only the last point to draws: a quarter of its error is that of the area."""
    tied = {"1": dict.fromkeys("axybcdefgh", 1.0), "2": dict.fromkeys("axyzuvw", 1.0)}
    policy = Policy(ties="expected", depth=3, samples=5)
    results = evaluate(QRELS, tied, ["AreaNCG(agg='ratio')@4", "NCG(agg='ratio')@4"], policy=policy)
    told = dict(
        warning.message.split(" is a mean over 5 random orders of ties: standard error ")
        for warning in results.warnings
        if warning.code == "sampled-ties"
    )
    of_area, of_point = float(told["AreaNCG(agg='ratio')@4"]), float(told["NCG(agg='ratio')@4"])
    assert of_area == pytest.approx(of_point / 4, rel=0.3), "told with one digit"
    assert len(told) == 2, "of points that were not asked for nothing is said"


@pytest.mark.parametrize("measure", AREAS, ids=str)
def test_an_area_has_no_ratio_of_means_by_itself(measure: Measure) -> None:
    area = complete(measure)(agg="ratio")
    with pytest.raises(UsageError, match="needs every point: `evaluate` has them"):
        area.aggregate(np.array([0.5]), np.array([1.0]))
    with pytest.raises(UsageError, match="bounds of a ratio of means"):
        evaluate(QRELS, RUN, [area], bounds=True)
    with pytest.raises(UsageError, match=f"means over topics are compared; take {area.on_topic} instead"):
        cranfield.compare(cranfield.Experiment(QRELS, {"a": RUN, "b": RUN}), [area])


@pytest.mark.parametrize("name", ["nDCG(ideal='retrieved')", "NCG(ideal='retrieved')@5", "AP(over='seen')"])
def test_is_refused_where_a_parameter_takes_the_judgements_out_of_it(name: str) -> None:
    plain = parse_measure(name)
    ratio = Measure(plain.definition, plain.name)(agg="ratio")
    own: dict[str, Any] = dict(plain.given)
    for measure, values in ((plain, {"agg": "ratio"}), (ratio, own)):
        with pytest.raises(UsageError) as refusal:
            measure(**values)
        assert str(refusal.value) == (
            f"{plain} is not a ratio to what the judgements hold: a topic would count by what a run has found; choose "
            "another average"
        )


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


def test_the_mean_of_an_area_is_explained_by_its_points() -> None:
    """Numerators and denominators of topics would not give it."""
    judged = cranfield.Experiment({"1": GRADES_Q1, "2": GRADES_Q2}, {"1": ranked(Q1), "2": ranked(Q2)})
    (area,) = explain_mean(judged, "AreaNCG(agg=ratio)@3").averages
    assert area.text == "AreaNCG(agg='ratio')@3 = (0.1667 + 0.0909 + 0.2667) / 3 = 0.5242 / 3 = 0.1747"
    assert area.formula.startswith("area under the curve of ratios of means")
    assert not area.columns
