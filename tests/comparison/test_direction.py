"""Which way is better: whatever ranks, marks, colours, tunes, tiers or counts wins asks the measure.

The twin of a measure M is -M, declared the other way round. Every decision about M must be the same about its twin.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield import Measure, UsageError
from cranfield.agreement.rankings.system_correlation import correlate_halves, correlate_systems
from cranfield.comparison.comparison import Comparison
from cranfield.comparison.comparison_tables import pairs_grid, systems_grid
from cranfield.comparison.diagnosis import diagnose
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.standing import standings, tiers
from cranfield.comparison.systems import compare_results
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.fusion import Training, train_fusion
from cranfield.judged import Floats, Judged
from cranfield.measures import all_measures, parse_measure
from cranfield.measures.definition import Better
from cranfield.measures.registry import MEASURES
from cranfield.planning.splits import split
from cranfield.plot.style import COLOURS, SHADES, Chart
from cranfield.plot.subject import Subject, find_picture
from cranfield.pooling.analysis import analyse
from cranfield.report.contents import Report, gather
from cranfield.report.figures import figures
from cranfield.report.page.payload import payload
from cranfield.search.index import build_index
from cranfield.search.tuning import Tuning, tune
from cranfield.statistics.significance import Sampling
from cranfield.texts.texts import Documents
from generate import all_variants
from made import asked_of
from scene import marks

SYSTEMS = ("a", "b", "c", "d")
TOPICS = tuple(map(str, range(12)))
OPPOSITE: dict[Better, Better] = {"higher": "lower", "lower": "higher", "neither": "neither"}
VARIANTS = list(all_variants())
COMPARABLE = [measure for measure in VARIANTS if measure.parameters["agg"] in ("mean", "sum")]
FROM_GRADES = [m for m in COMPARABLE if m.sign and m.definition.needs is None and m.name != "Utility"]
DIRECTED = list({(measure.name, measure.better): measure for measure in COMPARABLE if measure.sign}.values())
NEITHER = list({measure.name: measure for measure in COMPARABLE if not measure.sign}.values())
every_directed = pytest.mark.parametrize("measure", DIRECTED, ids=str)
LOSSES = {"E", "ESL", "Frustration"}


def twin(measure: Measure) -> Measure:
    """The measure turned round, under a name of its own."""
    function = measure.definition.function

    def turned(judged: Judged, **parameters: Any) -> Floats:
        return -function(judged, **parameters)

    low, high = measure.definition.range
    definition = measure.definition.replaced(
        name=f"Minus{measure.name}",
        function=turned,
        better=OPPOSITE[measure.better],
        range=(-high, -low),
        averages={},
    )
    return Measure(definition, definition.name, measure.given)


@pytest.fixture
def named_twin(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Makes a measure's twin known by its name, for what takes names."""

    def register(text: str) -> str:
        turned = twin(parse_measure(text))
        monkeypatch.setitem(MEASURES._called, turned.name, turned.definition)
        return str(turned)

    return register


def scored(measure: Measure, seed: int = 3) -> Results:
    """Systems with random scores, whatever the measure would make of them; two of them tied on the average."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 9, (4, 1, 12)) / 8 + np.array([0.0, 0.5, 0.0, 0.25])[:, None, None]
    scores[2] = scores[0][:, ::-1]
    qrels = {topic: {"d": 1} for topic in TOPICS}
    runs: Any = {system: {topic: {"d": 1.0} for topic in TOPICS} for system in SYSTEMS}
    found = cranfield.evaluate(qrels, runs, "P@1")
    return replace(found, measures=(measure,), scores=scores)


def both(measure: Measure) -> tuple[Results, Results]:
    given = scored(measure)
    return given, replace(given, measures=(twin(measure),), scores=-given.scores)


def compared(results: Results, **asked: Any) -> Comparison:
    measure = replace(results.measures[0], given=tuple(g for g in results.measures[0].given if g[0] != "agg"))
    each = {"": Evaluated(replace(results, measures=(measure,)), {run: [run] for run in results.runs})}
    return compare_results(each, [measure], asked_of(**{"sampling": Sampling(), **asked}))


def test_directions_are_what_the_field_takes_them_for() -> None:
    by_name = {measure.name: measure.better for measure in all_measures()}
    assert {name for name, better in by_name.items() if better == "lower"} == LOSSES
    assert {name for name, better in by_name.items() if better == "neither"} == {
        *("NumQ", "NumRet", "NumRel", "Judged", "Unjudged", "RBPResidual", "IdealDCG", "IdealCG"),
        "NumNonrelRet",  # which is least for who retrieves nothing
    }
    of = {quantity: parse_measure(f"INST(of='{quantity}')@10").better for quantity in ("EU", "ETU", "ED", "residual")}
    assert of == {"EU": "higher", "ETU": "higher", "ED": "neither", "residual": "neither"}


@pytest.mark.parametrize("measure", FROM_GRADES, ids=str)
def test_a_perfect_ranking_is_never_worse_than_a_useless_one(measure: Measure) -> None:
    """The declared direction is the true one. (Of Utility the user says what is worth how much.)"""
    good, bad = cranfield.judged.relstring("2211000/"), cranfield.judged.relstring("0000000/2211")
    assert measure.sign * (measure.per_topic(good) - measure.per_topic(bad))[0] >= 0


@every_directed
def test_a_comparison_decides_the_same_of_a_measure_and_its_twin(measure: Measure) -> None:
    for baseline in (None, "b"):
        here, there = (
            compared(results, baseline=baseline, risk=1.0 if baseline else None) for results in both(measure)
        )
        panel, turned = here.panels[0], there.panels[0]
        assert panel.best == turned.best
        assert tiers(here, panel) == tiers(there, turned)
        assert [here.beaten_by(panel, i) for i in range(4)] == [there.beaten_by(turned, i) for i in range(4)]
        for pair, other in zip(here.rows(), there.rows(), strict=True):
            assert (pair.wins, pair.ties, pair.losses) == (other.wins, other.ties, other.losses)
            assert pair.difference == -other.difference
            assert (pair.low, pair.high) == pytest.approx((-other.high, -other.low), abs=1e-14)
            assert (pair.adjusted_p, pair.significant) == (other.adjusted_p, other.significant)
        for one, other_one in zip(standings(here, panel, 1), standings(there, turned, 1), strict=True):
            assert (one.system, one.tier, one.beats, one.wins) == (
                *(other_one.system, other_one.tier, other_one.beats, other_one.wins),
            )
        cells = [
            [(cell.best, cell.above) for row in systems_grid(found).cells() for cell in row] for found in (here, there)
        ]
        assert cells[0] == cells[1]
        stars = [[row[1].above for row in pairs_grid(found, found.panels[0]).cells()] for found in (here, there)]
        assert stars[0] == stars[1]
        if panel.risk is not None and turned.risk is not None:
            for name, values in panel.risk._asdict().items():
                assert np.array_equal(values, getattr(turned.risk, name), equal_nan=True), name


@pytest.mark.parametrize("name", ["E@10", "ESL", "Frustration@5", "AP"])
def test_the_best_is_the_lowest_of_a_loss_and_the_highest_of_others(name: str) -> None:
    measure = parse_measure(name)
    found = compared(scored(measure))
    means = found.panels[0].means
    assert found.panels[0].best == int(np.argmin(means) if measure.better == "lower" else np.argmax(means))
    order = [standing.mean for standing in standings(found, found.panels[0], 0)]
    assert order == sorted(order, reverse=measure.better == "higher")


@pytest.mark.parametrize("measure", NEITHER, ids=str)
def test_a_measure_without_a_better_side_is_shown_and_decides_nothing(measure: Measure) -> None:
    found = compared(scored(measure))
    panel = found.panels[0]
    assert panel.best is None
    assert tiers(found, panel) == ["–"] * 4
    assert [found.beaten_by(panel, i) for i in range(4)] == [[]] * 4
    assert [one.system for one in standings(found, panel, 0)] == list(SYSTEMS)
    assert not any(cell.best or cell.above for row in systems_grid(found).cells() for cell in row)
    assert {row[4].text for row in pairs_grid(found, panel).cells()} == {"–"}
    assert {(pair.wins, pair.losses) for pair in found.rows()} == {(None, None)}
    assert any(pair.difference for pair in found.rows())


def test_what_needs_a_direction_refuses_a_measure_without_one() -> None:
    qrels = {topic: {"d1": 1} for topic in TOPICS}
    runs = {"a": {topic: {"d1": 1.0} for topic in TOPICS}, "b": {topic: {"d2": 1.0, "d1": 0.5} for topic in TOPICS}}
    experiment = Experiment(qrels, runs)
    refused: list[Callable[[], Any]] = [
        lambda: cranfield.compare(experiment, "NumRet", baseline="a", details=cranfield.comparison.Details(risk=1.0)),
        lambda: correlate_systems(Experiment(qrels, runs), ["NumRet", "AP"]),
        lambda: analyse(Experiment(qrels, runs), measure="NumRet"),
        lambda: train_fusion(Experiment(qrels, runs), training=Training(measure="NumRet")),
        lambda: tune(INDEX, "bm25", QUERIES, JUDGED, split(list(QUERIES), folds=2), tuning_for("NumRet")),
        *(
            lambda kind=kind: picture(kind, scored(parse_measure("NumRet")))
            for kind in ("stability", "agreement", "critical-difference", "pareto", "sweep")
        ),
    ]
    for call in refused:
        with pytest.raises(UsageError, match="no value of NumRet is better than another"):
            call()


def chart(kind: str, results: Results) -> Chart:
    costs = {system: float(cost) for cost, system in enumerate(results.runs)}
    subject = Subject(experiment=Experiment({}), evaluated=results, costs=costs)
    object.__setattr__(subject, "results", results)  # whatever the measures are called
    return find_picture(kind).draw(subject)


def picture(kind: str, results: Results) -> dict[str, Any]:
    made: dict[str, Any] = chart(kind, results).to_dict()
    return made


def two(results: Results) -> Results:
    return replace(results, runs=results.runs[:2], scores=results.scores[:2])


def sorts(part: Any) -> list[Any]:
    """The orders that a chart gives its axes, wherever they stand."""
    if isinstance(part, dict):
        own = [part["sort"]] if isinstance(part.get("sort"), list) else []
        return own + [order for value in part.values() for order in sorts(value)]
    return [order for value in part for order in sorts(value)] if isinstance(part, list) else []


@pytest.mark.parametrize("name", ["AP", "E@10"])
@pytest.mark.parametrize(
    "kind", ["forest", "heatmap", "p-values", "stability", "critical-difference", "histogram", "means", "beeswarm"]
)
def test_pictures_put_a_measure_and_its_twin_in_the_same_order(kind: str, name: str) -> None:
    given = both(parse_measure(name))
    here, there = (picture(kind, two(results) if kind == "histogram" else results) for results in given)
    assert sorts(here) == sorts(there) or kind == "critical-difference"
    if kind == "critical-difference":
        drawn = [made["data"]["values"] for made in (here, there)]
        assert drawn[0] == drawn[1]


@pytest.mark.parametrize("name", ["AP", "E@10"])
def test_a_histogram_has_the_colour_of_the_better_run(name: str) -> None:
    measure = parse_measure(name)
    results = two(scored(measure))
    differences = sorted((results.scores[0, 0] - results.scores[1, 0]).tolist(), reverse=measure.better == "higher")
    bars = sorted(marks(chart("histogram", results), "rect"), key=lambda bar: float(bar["x"]))
    for bar, difference in zip(bars, differences, strict=True):
        if difference:
            better = difference < 0 if measure.better == "lower" else difference > 0
            assert bar["fill"] == COLOURS[0 if better else 1]
    neutral = marks(chart("histogram", two(scored(parse_measure("NumRet")))), "rect")
    assert len({bar["fill"] for bar in neutral}) == 1


def test_a_heat_map_is_strong_where_it_is_good() -> None:
    for name, turned in (("AP", False), ("E@10", True), ("NumRet", False)):
        scale = picture("heatmap", scored(parse_measure(name)))["encoding"]["color"]["scale"]
        assert scale["range"] == [*(reversed(SHADES) if turned else SHADES)]


def test_a_scatter_says_on_which_side_the_first_run_is_better() -> None:
    titles = {name: picture("scatter", two(scored(parse_measure(name))))["title"] for name in ("AP", "E@10", "NumRet")}
    assert titles == {"AP": "Above the line a is better", "E@10": "Below the line a is better", "NumRet": ""}


def test_the_pareto_front_holds_the_best_at_each_cost() -> None:
    for results in both(parse_measure("AP")):
        points = picture("pareto", results)["layer"][2]["data"]["values"]
        front = [point["system"] for point in points if point["on"] == "on the front"]
        gains = results.measures[0].sign * results.means[:, 0]
        assert front == [run for i, run in enumerate(SYSTEMS) if all(gains[i] > gains[j] for j in range(i))]


def test_agreement_of_measures_is_about_what_is_better() -> None:
    given = scored(parse_measure("AP"))
    turned = replace(
        given,
        measures=(given.measures[0], twin(given.measures[0])),
        scores=np.concatenate([given.scores, -given.scores], 1),
    )
    cells = picture("agreement", turned)["data"]["values"]
    assert {cell["value"] for cell in cells} == {1.0}


QRELS = {str(t): {"d1": 1, "d2": 2, "d3": 0} for t in range(9)}


def run(seed: int, good: float) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    return {t: {f"d{i}": float(rng.normal(good * (i < 3))) for i in range(1, 7)} for t in QRELS}


RUNS = {"good": run(1, 3.0), "fair": run(2, 1.0), "poor": run(3, -1.0)}
INDEX = build_index(
    Documents(("d1", "d2", "d3"), {"text": ["ducks swim", "geese fly, ducks swim and swim", "swim swim swim swim"]})
)
QUERIES = {"1": "swim", "2": "ducks swim", "3": "geese", "4": "fly swim"}
JUDGED = {"1": {"d1": 1}, "2": {"d1": 1}, "3": {"d2": 1}, "4": {"d2": 1}}


def tuning_for(measure: str) -> Tuning:
    return Tuning(grid={"b": (0.0, 0.5, 1.0), "k1": (0.1, 2.0)}, measure=measure)


def reported(measure: Measure) -> Report:
    return gather(Experiment(QRELS, RUNS), [measure])


def carried(report: Report) -> Any:
    """What the script of the page reads."""
    return json.loads(json.dumps(payload(report)))


@pytest.mark.parametrize("name", ["nDCG@5", "E@5"])
def test_a_report_says_the_same_of_a_measure_and_its_twin(name: str) -> None:
    measure = parse_measure(name)
    here, there = reported(measure), reported(twin(measure))
    words, turned = here.verdict(measure), there.verdict(there.results.measures[0])
    best = here.standings(measure)[0].system
    assert best == there.standings(there.results.measures[0])[0].system == "good"
    assert words.startswith(f"good has the {'highest nDCG@5' if measure.sign > 0 else 'lowest E@5 (less is better)'}, ")
    assert turned.startswith(f"good has the {'lowest' if measure.sign > 0 else 'highest'} Minus")
    assert words.split(" topics")[1] == turned.split(" topics")[1]
    of, other = (carried(report)["measures"][0] for report in (here, there))
    for name in ("wins", "ties", "losses", "adjusted_p", "tiers", "beats", "tiers_against"):
        assert of[name] == other[name], name
    assert here.reference(measure) == there.reference(there.results.measures[0])
    assert (of["sign"], other["sign"]) == (measure.sign, -measure.sign)


def test_a_report_on_a_measure_without_a_better_side_says_so() -> None:
    report = gather(Experiment(QRELS, RUNS), ["NumRet"])
    assert report.verdict(report.results.measures[0]) == (
        "NumRet says nothing of which system is better: from 6.0000 to 6.0000 on 9 topics."
    )
    assert set(carried(report)["measures"][0]["tiers"]) == {"–"}
    assert "stability" not in [figure.name for figure in figures(report)]


@pytest.mark.parametrize("name", ["RR", "E@2"])
def test_tuning_training_and_pool_analysis_follow_the_direction(name: str, named_twin: Callable[[str], str]) -> None:
    turned = named_twin(name)
    splits = split(list(QUERIES), folds=2)
    tuned = [tune(INDEX, "bm25", QUERIES, JUDGED, splits, tuning_for(measure)) for measure in (name, turned)]
    assert [fold.parameters for fold in tuned[0].folds] == [fold.parameters for fold in tuned[1].folds]
    assert tuned[0].best_score == -tuned[1].best_score
    sign = parse_measure(name).sign
    assert sign * tuned[0].best_score >= sign * tuned[0].test_score
    trained = [
        train_fusion(Experiment(QRELS, RUNS), training=Training(measure=measure, folds=3)) for measure in (name, turned)
    ]
    assert [fold.parameters for fold in trained[0].folds] == [fold.parameters for fold in trained[1].folds]
    assert [fold.score for fold in trained[0].folds] == [-fold.score for fold in trained[1].folds]
    pools = [analyse(Experiment(QRELS, RUNS), measure=measure) for measure in (name, turned)]
    for here, there in zip(pools[0].left_out, pools[1].left_out, strict=True):
        assert (here.tau, here.tau_ap) == (there.tau, there.tau_ap)
        for one, other in zip(here.runs, there.runs, strict=True):
            assert (one.rank, one.rank_without, one.loss) == (other.rank, other.rank_without, other.loss)
    assert [one.runs[0].rank for one in pools[0].left_out] == [1, 2, 3]


def test_correlations_of_systems_follow_the_direction(named_twin: Callable[[str], str]) -> None:
    turned = named_twin("AP")
    assert (
        correlate_systems(Experiment(QRELS, RUNS), ["AP", turned], "kendall").of("AP", turned, "kendall")["value"]
        == 1.0
    )
    found = correlate_systems(Experiment(QRELS, RUNS), ["AP", "E@5"])
    assert all(row.values[0] == 1.0 for row in found.rows)
    assert any("E@5: good, fair, poor" in note for note in found.notes)
    halves = [correlate_halves(Experiment(QRELS, RUNS), measure, "tau_ap_b") for measure in ("AP", turned)]
    assert halves[0].rows[0].values == halves[1].rows[0].values


def test_a_diagnosis_begins_with_the_largest_gain() -> None:
    measure = parse_measure("RR")
    here, there = (diagnose(Experiment(QRELS, [RUNS["good"], RUNS["poor"]]), one) for one in (measure, twin(measure)))
    assert [part.topic for part in here.topics] == [part.topic for part in there.topics]
    assert here.topics[0].difference > here.topics[-1].difference


def test_tables_mark_a_loss_with_an_arrow_and_json_names_the_direction() -> None:
    results = cranfield.evaluate(QRELS, RUNS, ["AP", "E@5", "NumRet"])
    assert str(results).splitlines()[0].split() == ["run", "AP", "E@5", "↓", "NumRet"]
    better = {"AP": "higher", "E@5": "lower", "NumRet": "neither"}
    assert results.to_dict()["better"] == better
    found = cranfield.compare(Experiment(QRELS, RUNS), ["AP", "E@5", "NumRet"])
    assert [entry["better"] for entry in found.to_dict()["means"]] == list(better.values())
    assert found.grid().header[2:5] == ["AP", "E@5 ↓", "NumRet a topic"]


def test_a_measure_without_a_better_side_weakens_no_other() -> None:
    alone, beside = (
        cranfield.compare(Experiment(QRELS, RUNS), ["AP", *more]) for more in ([], ["NumRet", "NumRel", "Judged@2"])
    )
    assert beside.comparisons == alone.comparisons == 3
    assert beside.level == alone.level
    assert beside.panels[0].adjusted.tolist() == alone.panels[0].adjusted.tolist()
    assert beside.panels[0].effects.low.tolist() == alone.panels[0].effects.low.tolist()
    for pair in beside.rows():  # and what is shown of it does not contradict itself
        assert (pair.adjusted_p < beside.alpha) == (pair.low > 0 or pair.high < 0), pair
    assert cranfield.compare(Experiment(QRELS, RUNS), "NumRet").comparisons == 3
    warned = [str(warning) for warning in beside.warnings if str(warning).startswith(("NumRet", "NumRel"))]
    assert not [text for text in warned if "same run twice" in text or "equal" in text]


def test_the_head_of_a_count_says_that_its_mean_is_compared() -> None:
    assert [panel.heading for panel in cranfield.compare(Experiment(QRELS, RUNS), ["NumRelRet", "AP"]).panels] == [
        *("NumRelRet a topic", "AP"),
    ]


def test_what_few_topics_could_find_says_whether_it_is_corrected() -> None:
    def told(measures: list[str]) -> str:
        found = cranfield.compare(Experiment(QRELS, {name: RUNS[name] for name in ("good", "fair")}), measures)
        return next(str(warning) for warning in found.warnings if warning.code == "few-topics")

    assert "would be found with a chance of 80%" in told(["AP"])
    assert "would be found after correction with a chance of 80%" in told(["AP", "RR"])
