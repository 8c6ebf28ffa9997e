"""Against the tools people use today, on generated collections, wherever those tools are right."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from cranfield import Measure, evaluate
from cranfield.measures import all_measures, parse_measure, parse_measures
from generate import UNTIED, WHOLE_GRADES, Collection, collections, negative_grades

pytrec_eval = pytest.importorskip("pytrec_eval")
ir_measures = pytest.importorskip("ir_measures")

SEEDS = 12
TIED_OR_NOT = collections(SEEDS, WHOLE_GRADES)
WITHOUT_TIES = collections(SEEDS, UNTIED)
# ir_measures counts a document of a negative grade as judged.
WITHOUT_NEGATIVES = collections(SEEDS, tuple(shape for shape in UNTIED if shape is not negative_grades))


def whole(made: Collection) -> dict[str, dict[str, int]]:
    """The judgements with the only grades that trec_eval knows."""
    return {topic: {document: int(grade) for document, grade in of.items()} for topic, of in made.qrels.items()}


def number_relevant(made: Collection, topic: str, rel: float) -> int:
    return sum(grade >= rel for grade in made.qrels[topic].values())


def trec_measures() -> Iterator[Measure]:
    """Every registered measure that trec_eval has, with all cutoffs that it has by default."""
    for measure in all_measures():
        for name in (measure.definition.trec, measure.definition.trec_at):
            if name is not None and name in pytrec_eval.supported_measures:
                found = parse_measures(name)
                yield from found if found[0].is_complete else [found[0] @ k for k in measure.definition.trec_cutoffs]


def recall_levels(measure: Measure) -> list[float]:
    """The recall levels at which a measure interpolates."""
    if measure.definition.name == "InterpolatedAP":
        return [level / 10 for level in range(11)]
    return [measure.parameters["recall"]] if "recall" in measure.parameters else []


def rounds_as_we_do(levels: list[float], relevant: int) -> bool:
    """Whether trec_eval 9's rule for how many documents reach a recall level is the exact one for all these levels.

    It takes int(level * R + 0.9), which binary fractions defeat now and then: 0.7 of 3 documents is 2 there.
    """
    return all(int(level * relevant + 0.9) == math.ceil(round(level * 10) * relevant / 10) for level in levels)


def test_the_differential_tests_cover_the_measures_that_trec_eval_has() -> None:
    names = {measure.trec_name for measure in trec_measures()}
    assert names >= {"map", "recip_rank", "P_5", "recall_10", "Rprec", "bpref", "ndcg", "ndcg_cut_10", "map_cut_5"}
    assert names >= {"success_1", "iprec_at_recall_0.30", "11pt_avg", "set_P", "set_recall", "set_F"}
    assert names >= {"num_q", "num_ret", "num_rel", "num_rel_ret"}
    assert None not in names


@pytest.mark.parametrize("made", TIED_OR_NOT, ids=str)
@pytest.mark.parametrize("rel", [1, 2])
def test_agrees_with_trec_eval_on_every_topic(made: Collection, rel: int) -> None:
    """pytrec_eval runs the C of trec_eval 9. It stores scores in single precision, in which all of these are exact."""
    # With a level above a topic's grades the C of bpref reads memory that is not its own.
    ours = [m for m in trec_measures() if rel == 1 or ("rel" in m.parameters and m.definition.name != "Bpref")]
    names = {str(m.definition.trec_at if "@" in str(m) else m.definition.trec) for m in ours}
    theirs = pytrec_eval.RelevanceEvaluator(whole(made), names, relevance_level=rel).evaluate(made.run)
    at_level = {measure: measure(rel=rel) if "rel" in measure.parameters else measure for measure in ours}
    results = evaluate(made.qrels, made.run, list(at_level.values()))
    (scores,) = results.per_topic().values()
    assert theirs.keys() == made.run.keys() & made.qrels.keys()
    for topic, values in theirs.items():
        relevant = number_relevant(made, topic, rel)
        for measure, leveled in at_level.items():
            if rounds_as_we_do(recall_levels(measure), relevant):
                value = scores[topic][str(leveled)]
                assert value == pytest.approx(values[measure.trec_name], rel=1e-12, abs=1e-12), (topic, leveled)


@pytest.mark.parametrize("name", ["gm_map", "gm_bpref"])
def test_geometric_means_are_those_of_trec_eval(name: str) -> None:
    for made in TIED_OR_NOT:
        answered = {topic: of for topic, of in whole(made).items() if topic in made.run}
        theirs = pytrec_eval.RelevanceEvaluator(answered, {name}).evaluate(made.run)
        logarithms = [values[name] for values in theirs.values()]
        ours = evaluate(answered, made.run, name).mean()["run"][str(parse_measure(name))]
        assert ours == pytest.approx(math.exp(math.fsum(logarithms) / len(logarithms)), rel=1e-12), made


def by_ir_measures(names: list[str], made: Collection) -> dict[tuple[str, str], float]:
    """{(topic, measure): value} of ir_measures. Topics that the run does not answer score 0 there too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [ir_measures.parse_measure(name) for name in names]
        run = {topic: ranking for topic, ranking in made.run.items() if topic in made.qrels}
        found: list[Any] = list(ir_measures.iter_calc(wanted, whole(made), run))
    # NumRelRet prints as NumRet(rel=1) there: values go by the name that was asked for.
    asked = dict(zip(map(str, wanted), names, strict=True))
    return {(metric.query_id, asked[str(metric.measure)]): metric.value for metric in found}


def compare_with_ir_measures(names: list[str], made: Collection, tolerance: float = 1e-9) -> None:
    ours = evaluate(made.qrels, made.run, names).per_topic()["run"]
    theirs = by_ir_measures(names, made)
    assert len(theirs) == len(names) * len(made.qrels)
    for (topic, name), value in theirs.items():
        mine = ours[topic][str(parse_measure(name))]
        assert mine == pytest.approx(value, rel=tolerance, abs=tolerance), (topic, name)


BINARY = [
    *("AP", "AP(rel=2)", "AP@10", "AP(rel=2)@5", "P@1", "P@5", "P(rel=2)@10", "R@5", "R(rel=2)@100", "RR", "RR(rel=2)"),
    *("Rprec", "Rprec(rel=2)", "Bpref", "SetP", "SetP(rel=2)", "SetR", "SetR(rel=2)", "SetF", "SetF(rel=2)"),
    *("Success@1", "Success(rel=2)@5", "NumRelRet", "NumRet"),
]


@pytest.mark.parametrize("made", WITHOUT_TIES, ids=str)
def test_binary_measures_agree_with_ir_measures(made: Collection) -> None:
    compare_with_ir_measures(BINARY, made)


@pytest.mark.parametrize("made", WITHOUT_TIES, ids=str)
def test_gain_measures_agree_with_ir_measures(made: Collection) -> None:
    compare_with_ir_measures(["nDCG", "nDCG@1", "nDCG@5", "nDCG@10", "nDCG@100"], made)


@pytest.mark.parametrize("made", WITHOUT_TIES, ids=str)
def test_reciprocal_rank_at_a_cutoff_agrees_with_ir_measures(made: Collection) -> None:
    compare_with_ir_measures(["RR@1", "RR@3", "RR@10", "RR(rel=2)@10"], made)


@pytest.mark.parametrize("made", WITHOUT_TIES, ids=str)
def test_interpolated_precision_agrees_with_ir_measures_where_it_rounds_right(made: Collection) -> None:
    levels = [level / 10 for level in range(11)]
    names = [f"IPrec@{level}" for level in levels]
    ours = evaluate(made.qrels, made.run, names).per_topic()["run"]
    compared = 0
    for (topic, name), value in by_ir_measures(names, made).items():
        if rounds_as_we_do([float(name.partition("@")[2])], number_relevant(made, topic, 1)):
            assert ours[topic][name] == pytest.approx(value, rel=1e-9, abs=1e-9), (topic, name)
            compared += 1
    assert compared > len(levels)


@pytest.mark.parametrize("made", WITHOUT_NEGATIVES, ids=str)
def test_share_of_judged_documents_agrees_with_ir_measures(made: Collection) -> None:
    compare_with_ir_measures(["Judged@1", "Judged@5", "Judged@10"], made)


def test_counts_of_relevant_documents_agree_with_ir_measures() -> None:
    """Where the run answers every topic: ir_measures leaves the others out of its counts."""
    for made in WITHOUT_TIES:
        if made.run.keys() == made.qrels.keys():
            names = ["NumQ", "NumRel", "NumRet", "NumRelRet"]
            wanted = [ir_measures.parse_measure(name) for name in names]
            theirs = ir_measures.calc_aggregate(wanted, whole(made), made.run)
            ours = evaluate(made.qrels, made.run, names).mean()["run"]
            assert list(ours.values()) == [theirs[measure] for measure in wanted], made


def test_exponential_gains_agree_with_ir_measures() -> None:
    """Its provider is a Perl script that prints five decimals."""
    names = ["nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@10"]
    try:
        by_ir_measures(names, WITHOUT_NEGATIVES[0])
    except Exception as error:  # whatever running a script can raise: no Perl, no permission, an exit code
        pytest.skip(f"ir_measures cannot run gdeval here: {error!r}")
    for made in WITHOUT_NEGATIVES[::5]:
        compare_with_ir_measures(names, made, tolerance=5.1e-6)


def test_rank_biased_precision_agrees_with_cwl_eval() -> None:
    pytest.importorskip("cwl", reason="cwl_eval is not installed")
    for made in WITHOUT_TIES:
        compare_with_ir_measures(["RBP(rel=1, p=0.5)", "RBP(rel=1, p=0.8)", "RBP(rel=2, p=0.95)"], made)


def test_an_untied_collection_has_no_ties() -> None:
    """The comparisons above rest on it: the providers of ir_measures break ties in different ways."""
    for made in WITHOUT_TIES:
        for scores in made.run.values():
            assert len(set(scores.values())) == len(scores)
