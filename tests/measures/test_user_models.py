"""User models against cwl_eval, on generated collections without ties, wherever it is right."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield import UsageError, evaluate, measures
from cranfield.judged import relstring
from cranfield.measures import all_measures, parse_measure
from generate import UNTIED, Collection, collections, fractional_grades, ranking

ir_measures = pytest.importorskip("ir_measures")
cwl_ruler = pytest.importorskip("cwl.ruler.cwl_ruler", reason="cwl-eval is not installed")
Ranking = cwl_ruler.Ranking

DEPTH = 1000  # of every ranking of cwl_eval
MODELS: dict[str, Any] = {
    "P_CWL@5": lambda: cwl_ruler.PrecisionCWLMetric(5),
    "RR_CWL": cwl_ruler.RRCWLMetric,
    "RBP_CWL(p=0.5)": lambda: cwl_ruler.RBPCWLMetric(0.5),
    "RBP_CWL(p=0.95)": lambda: cwl_ruler.RBPCWLMetric(0.95),
    "SDCG@1": lambda: cwl_ruler.NDCGCWLMetric(1),
    "SDCG@10": lambda: cwl_ruler.NDCGCWLMetric(10),
    "NERR8@10": lambda: cwl_ruler.NERReq8CWLMetric(10),
    "NERR9@10": lambda: cwl_ruler.NERReq9CWLMetric(10),
    "NERR10": lambda: cwl_ruler.NERReq10CWLMetric(0.9),
    "NERR11": lambda: cwl_ruler.NERReq11CWLMetric(1.0),
    "NERR11(T=2)": lambda: cwl_ruler.NERReq11CWLMetric(2.0),
    "INST": lambda: cwl_ruler.INSTCWLMetric(1.0),
    "INST(T=2.5)": lambda: cwl_ruler.INSTCWLMetric(2.5),
    "INSQ": lambda: cwl_ruler.INSQCWLMetric(1.0),
    "INSQ(T=3)": lambda: cwl_ruler.INSQCWLMetric(3.0),
    "BPM@10": lambda: cwl_ruler.BPMCWLMetric(1.0, 10),
    "BPM(T=2)@20": lambda: cwl_ruler.BPMCWLMetric(2.0, 20),
}
QUANTITIES = ("EU", "ETU", "EC", "ETC", "ED")
FAMILY = [measure for measure in all_measures() if measure.definition.family == "cwl"]
SMALL = collections(4, (*UNTIED, fractional_grades))


def gains(made: Collection, topic: str, max_grade: float) -> list[float]:
    """A topic's gains in rank order; NaN for what nobody judged."""
    grades = [made.qrels[topic].get(document, -1) for document in ranking(made.run.get(topic, {}))]
    return [float("nan") if grade < 0 else min(grade, max_grade) / max_grade for grade in grades]


def misses(gain: list[float], target: float) -> bool:
    """Whether a sum of gains is the target but for its last bit, which cwl_eval takes for less."""
    sums = np.nancumsum(gain)
    return bool(np.any((sums < target) & (sums > target - 1e-9)))


def by_cwl_eval(gain: list[float], metric: Any) -> Any:
    metric.residuals = True
    metric.measure(Ranking("1", np.array(gain), np.full(len(gain), np.nan), max_n=DEPTH))
    return metric


def highest(made: Collection) -> float:
    return max(grade for judgements in made.qrels.values() for grade in judgements.values())


def of_topics(made: Collection, name: str, of: str) -> dict[str, float]:
    judged = cranfield.judged.judge(cranfield.read_run(made.run), cranfield.read_qrels(made.qrels))
    return dict(zip(judged.topics, parse_measure(name)(of=of).per_topic(judged).tolist(), strict=True))


def unstopped(gain: list[float], metric: Any) -> float:
    """The share of users who go on from cwl_eval's last rank, whom it forgets in its totals."""
    metric_ranking = Ranking("1", np.array(gain), np.full(len(gain), np.nan), max_n=DEPTH)
    return float(np.prod(metric.c_vector(metric_ranking)))


@pytest.mark.parametrize("name", MODELS)
def test_every_quantity_agrees_with_cwl_eval(name: str) -> None:
    """Total utility and cost too, once the users are counted who are still reading at its last rank."""
    for made in SMALL:
        ours = {of: of_topics(made, name, of) for of in (*QUANTITIES, "residual")}
        for topic in made.qrels:
            gain = gains(made, topic, highest(made))
            if name.startswith("BPM") and misses(gain, 2 if "T=2" in name else 1):
                continue
            theirs = by_cwl_eval(gain, MODELS[name]())
            still_reading = unstopped(gain, MODELS[name]())
            expected = {
                "EU": theirs.expected_utility,
                "ETU": theirs.expected_total_utility + still_reading * np.nansum(gain),
                "EC": theirs.expected_cost,
                "ETC": theirs.expected_total_cost + still_reading * DEPTH,
                "ED": theirs.expected_items,
                "residual": theirs.residual_expected_utility,
            }
            for of, value in expected.items():
                assert ours[of][topic] == pytest.approx(value, rel=1e-9, abs=1e-9), (made, topic, of)


def by_ir_measures(names: list[str], made: Collection) -> dict[tuple[str, str], float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [ir_measures.parse_measure(name) for name in names]
        qrels = {topic: {d: int(grade) for d, grade in of.items()} for topic, of in made.qrels.items()}
        run = {topic: scores for topic, scores in made.run.items() if topic in made.qrels}
        asked = dict(zip(map(str, wanted), names, strict=True))
        return {
            (x.query_id, asked[str(x.measure)]): x.value for x in ir_measures.cwl_eval.iter_calc(wanted, qrels, run)
        }


@pytest.mark.parametrize("max_rel", [1, 3])
def test_ir_measures_names_are_taken_and_give_its_values(max_rel: int) -> None:
    """Grades above max_rel count as max_rel in both."""
    plain = [
        *("SDCG({})@5", "SDCG({})@20", "NERR8({})@10", "NERR9({})@10", "NERR10({})", "NERR10(p=0.5,{})", "NERR11({})"),
        *("NERR11(T=2.0,{})", "INST({})", "INST(T=2.0,{})", "INSQ({})", "INSQ(T=3.0,{})", "BPM({})@10"),
        *("BPM(T=2.0,{})@20",),
    ]
    names = [name.format(f"max_rel={max_rel}") for name in plain]
    for made in collections(2, UNTIED):
        ours = evaluate(made.qrels, made.run, names).per_topic()["run"]
        theirs = by_ir_measures(names, made)
        assert len(theirs) == len(names) * len(made.qrels)
        for (topic, name), value in theirs.items():
            if name.startswith("BPM") and misses(gains(made, topic, max_rel), 2 if "T=2" in name else 1):
                continue
            mine = ours[topic][str(parse_measure(name))]
            assert mine == pytest.approx(value, rel=1e-9, abs=1e-9), (made, topic, name)


def test_objects_of_ir_measures_are_taken() -> None:
    (wanted,) = evaluate({"1": {"a": 2}}, {"1": {"a": 1.0}}, [ir_measures.INST(T=2.0, max_rel=2)]).measures
    assert wanted == parse_measure("INST(T=2, max_grade=2)")


@pytest.mark.parametrize(
    ("model", "binary"), [("P_CWL@5", "P@5"), ("RR_CWL", "RR"), ("AP_CWL", "AP"), ("AP_CWL@5", "AP@5")]
)
def test_models_of_binary_measures_give_those_measures(model: str, binary: str) -> None:
    for made in collections(3, UNTIED):
        name = parse_measure(model)(max_grade=1)
        results = evaluate(made.qrels, made.run, [name, binary])
        assert results.of(name).tolist() == pytest.approx(results.of(binary).tolist(), rel=1e-12), made


def test_rank_biased_precision_is_the_limit_of_its_model() -> None:
    for made in collections(3, UNTIED):
        results = evaluate(made.qrels, made.run, ["RBP_CWL(max_grade=1)", "RBP"])
        assert results.scores[0, 0].tolist() == pytest.approx(results.scores[0, 1].tolist(), rel=1e-12), made


@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_quantities_hang_together(model: cranfield.Measure) -> None:
    """A document costs 1: cost is depth, and total utility is utility times depth, whatever the model."""
    complete = model if model.is_complete else model @ 10
    judged = relstring("1020-3", "----", "3", "0001/3", "/2")
    of = {name: complete(of=name).per_topic(judged) for name in QUANTITIES}
    assert of["EC"].tolist() == [1.0] * 5
    assert of["ETC"].tolist() == of["ED"].tolist()
    assert of["ETU"].tolist() == pytest.approx((of["EU"] * of["ED"]).tolist(), rel=1e-12)
    assert np.all(of["ED"] >= 1)
    assert np.all(of["EU"] <= 1 + 1e-12)


@pytest.mark.parametrize("model", FAMILY, ids=str)
def test_a_list_that_is_judged_down_to_the_cutoff_has_no_residual(model: cranfield.Measure) -> None:
    assert (model(of="residual") @ 4).per_topic(relstring("1020", "0000/1", "3210")).tolist() == [0.0] * 3


def test_documents_that_do_not_fit_into_a_block_are_those_of_the_next() -> None:
    """Topics are taken in blocks: more of them than one block holds give each what it has alone."""
    rankings = ["1-02", "0210", "--2", "2"] * 20
    many, four = relstring(*rankings), relstring(*rankings[:4])
    model = measures.INST @ 100_000
    assert model.per_topic(many).tolist() == model.per_topic(four).tolist() * 20


def test_a_scale_of_grades_has_two_ends() -> None:
    assert (measures.SDCG(min_grade=1, max_grade=3) @ 1).per_topic(relstring("1", "2", "3", "0")).tolist() == [
        0,
        0.5,
        1,
        0,
    ]
    with pytest.raises(UsageError, match="min_grade must be below max_grade, but they are 2 and 2"):
        (measures.SDCG(min_grade=2, max_grade=2) @ 1).per_topic(relstring("1"))


# Where cwl_eval is not right.


def test_cwl_eval_forgets_the_users_who_are_still_reading_at_its_last_rank() -> None:
    """Its chances to stop do not add up to 1: total cost comes out below expected depth, which is the same number."""
    gain = [1.0, 0.0, 0.5]
    theirs = by_cwl_eval(gain, cwl_ruler.INSQCWLMetric(3.0))
    assert theirs.expected_total_cost < theirs.expected_items - 0.03
    judged = relstring("201")
    ours = {of: measures.INSQ(T=3, of=of).per_topic(judged)[0] for of in ("ETC", "ED")}
    assert ours["ETC"] == ours["ED"] == pytest.approx(theirs.expected_items, rel=1e-12)


def test_cwl_eval_leaves_relevant_documents_out_of_ap_that_were_not_retrieved() -> None:
    """Its AP divides by the relevant documents retrieved, though its help says by all."""
    theirs = by_cwl_eval([1.0, 0.0, 1.0], cwl_ruler.APCWLMetric())
    assert theirs.expected_utility == pytest.approx((1 + 2 / 3) / 2)
    assert measures.AP_CWL.per_topic(relstring("101/1"))[0] == pytest.approx((1 + 2 / 3) / 3)
    assert theirs.expected_utility == pytest.approx(measures.AP_CWL.per_topic(relstring("101"))[0])


def test_cwl_eval_lets_a_user_go_on_who_has_all_that_was_wanted() -> None:
    """A third, one and two thirds more, one by one, are below 2 in binary."""
    gain = [1 / 3, 1.0, 1 / 3, 1 / 3, 0.0, 0.0]
    assert misses(gain, 2)
    assert by_cwl_eval(gain, cwl_ruler.BPMCWLMetric(2.0, 6)).expected_items == 6
    assert (measures.BPM(T=2, of="ED") @ 6).per_topic(relstring("131100")).tolist() == [4.0]


def test_cwl_eval_takes_a_target_of_inst_that_makes_chances_above_one() -> None:
    metric = cwl_ruler.INSTCWLMetric(0.1)
    assert metric.c_vector(Ranking("1", np.array([1.0, 1.0]), np.ones(2)))[0] > 1
    with pytest.raises(UsageError, match=r"T must be a number from 0\.5"):
        parse_measure("INST(T=0.1)")


def test_ir_measures_takes_what_nobody_judged_for_not_relevant() -> None:
    """A negative grade is no judgement: with cwl_eval's own words it is NaN, and counts in the residual."""
    judged = cranfield.judged.judge(
        cranfield.read_run({"1": {"a": 2.0, "b": 1.0}}), cranfield.read_qrels({"1": {"a": -1, "b": 1}})
    )
    ours = (measures.P_CWL(of="residual") @ 2).per_topic(judged)[0]
    assert ours == 0.5
    assert ours == by_cwl_eval([float("nan"), 1.0], cwl_ruler.PrecisionCWLMetric(2)).residual_expected_utility
