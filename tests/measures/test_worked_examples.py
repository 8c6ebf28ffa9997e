"""Examples worked by hand in lecture notes, to the digits given. Where the notes round, the exact figure is here."""

from __future__ import annotations

import numpy as np
import pytest

from cranfield import evaluate
from cranfield.judged import Floats, Judged, relstring
from cranfield.measures import parse_measure
from cranfield.measures.gain import ideal_dcg
from lectures import FIVE_RELEVANT, GRADES_Q1, GRADES_Q2, Q1, Q2, Q2_LATE, Q2_REORDERED, TEN_RELEVANT, ranked, relevant


def means(
    qrels: dict[str, dict[str, int]], run: dict[str, list[str]], names: list[str], decimals: int = 11
) -> list[float]:
    results = evaluate(qrels, {topic: ranked(documents) for topic, documents in run.items()}, names)
    return [round(value, decimals) for value in results.mean()["run"].values()]


def value(name: str, judged: Judged) -> float:
    (only,) = parse_measure(name).per_topic(judged).tolist()
    return float(only)


def curve(name: str, judged: Judged, depth: int) -> list[float]:
    """The measure at every cutoff down to a depth."""
    return [value(f"{name}@{k}", judged) for k in range(1, depth + 1)]


def ideal_curve(judged: Judged, base: float | None, depth: int) -> list[float]:
    return [float(ideal_dcg(judged, "linear", base, k)[0]) for k in range(1, depth + 1)]


def test_average_precision_with_ten_relevant_of_which_half_are_found() -> None:
    assert means({"1": relevant(TEN_RELEVANT)}, {"1": Q1}, ["AP", "InterpolatedAP(points=10)"]) == [0.29, 0.29]


def test_ten_point_average_is_not_average_precision() -> None:
    """The notes call the first one MAP: the two agree on the query above and differ on this one."""
    found = means({"2": relevant(["d3", "d56", "d129"])}, {"2": Q2}, ["InterpolatedAP(points=10)", "AP"])
    assert found == [0.255, 0.26111111111]


def test_mean_of_ten_point_averages() -> None:
    qrels = {"1": relevant(TEN_RELEVANT), "2": relevant(["d3", "d56", "d129"])}
    assert means(qrels, {"1": Q1, "2": Q2}, ["InterpolatedAP(points=10)"]) == [0.2725]


@pytest.mark.parametrize(
    ("values", "geometric"),
    [([0.05, 0.10, 0.50, 0.50, 0.75], 0.24796720982), ([0.10, 0.30, 0.45, 0.45, 0.60], 0.32534153136)],
)
def test_geometric_mean_tells_apart_what_the_mean_does_not(values: list[float], geometric: float) -> None:
    scores: Floats = np.array(values)
    assert parse_measure("MAP").aggregate(scores) == pytest.approx(0.38, abs=1e-11)
    assert parse_measure("GMAP").aggregate(scores) == pytest.approx(geometric, abs=1e-11)


def test_reciprocal_rank_with_a_threshold_counts_the_rank_at_the_threshold() -> None:
    qrels = {"1": relevant(TEN_RELEVANT), "2": relevant(["d3", "d56", "d129"])}
    results = evaluate(qrels, {"1": ranked(Q1), "2": ranked(Q2)}, "RR@3")
    assert results.of("RR@3").tolist() == pytest.approx([1, 0.33333333333], abs=1e-11)
    assert results.mean()["run"]["RR@3"] == pytest.approx(0.66666666667, abs=1e-11)


def test_mean_reciprocal_rank_with_threshold_five() -> None:
    """First relevant documents at ranks 1, 6 and 3: the second comes too late under either reading of a threshold."""
    qrels = {"1": relevant(FIVE_RELEVANT), "2": relevant(["d9", "d3"]), "3": relevant(["d123", "d6", "d3"])}
    run = {"1": Q1, "2": Q2_LATE, "3": Q2_REORDERED}
    assert means(qrels, run, ["MRR@5"]) == [0.44444444444]
    assert means(qrels, run, ["MRR@6"]) == [0.5]


@pytest.mark.parametrize(("beta", "expected"), [(1, 0.4), (2, 0.45454545455), (0.5, 0.35714285714)])
def test_f_of_five_found_of_ten_relevant_in_fifteen(beta: float, expected: float) -> None:
    found = means({"1": relevant(TEN_RELEVANT)}, {"1": Q1}, [f"SetF(beta={beta})", f"F(beta={beta})@15"])
    assert found == [expected, expected]


@pytest.mark.parametrize(("beta", "expected"), [(1, 0.33333333333), (2, 0.55555555556), (0.5, 0.2380952381)])
def test_f_of_three_found_of_three_relevant_in_fifteen(beta: float, expected: float) -> None:
    qrels = {"2": relevant(["d3", "d56", "d129"])}
    assert means(qrels, {"2": Q2}, [f"SetF(beta={beta})", f"F(beta={beta})@15"]) == [expected, expected]


def test_gain_with_exponential_gains() -> None:
    judged = relstring("323012")
    assert value("DCG(gain='exp')", judged) == pytest.approx(13.848263629273, abs=1e-12)
    assert ideal_dcg(judged, "exp", None, None)[0] == pytest.approx(14.595390756455, abs=1e-12)
    assert value("nDCG(gain='exp')", judged) == pytest.approx(0.948810748568, abs=1e-12)


def test_precision_and_recall_of_the_first_three() -> None:
    judged = relstring("110/11111111")
    assert curve("P", judged, 3) == pytest.approx([1, 1, 0.66666666667], abs=1e-11)
    assert curve("R", judged, 3) == pytest.approx([0.1, 0.2, 0.2], abs=1e-11)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("P", [1, 0.5, 0.66666666667, 0.5, 0.6]),
        ("R", [0.33333333333, 0.33333333333, 0.66666666667, 0.66666666667, 1]),
        ("F", [0.5, 0.4, 0.66666666667, 0.57142857143, 0.75]),
    ],
)
def test_precision_recall_and_f_at_every_rank(name: str, expected: list[float]) -> None:
    assert curve(name, relstring("10101"), 5) == pytest.approx(expected, abs=1e-11)


def test_average_precision_of_every_other_document_relevant() -> None:
    """The notes print 0.7575, a slip."""
    assert value("AP", relstring("10101")) == pytest.approx(0.75555555556, abs=1e-11)


def test_reciprocal_rank_of_first_fifth_and_never() -> None:
    assert parse_measure("RR").per_topic(relstring("10000", "00001", "00000")).tolist() == [1, 0.2, 0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CG", [3, 5, 8, 8, 9]),
        ("DCG", [3, 4.261859507143, 5.761859507143, 5.761859507143, 6.148712314377]),
        ("nDCG", [1, 0.871049064255, 0.977781361631, 0.911186945935, 0.972364284173]),
    ],
)
def test_cumulated_gain_at_every_rank(name: str, expected: list[float]) -> None:
    assert curve(name, relstring("32301"), 5) == pytest.approx(expected, abs=1e-12)


def test_ideal_gain_at_every_rank() -> None:
    expected = [3, 4.892789260714, 5.892789260714, 6.323465818788, 6.323465818788]
    assert ideal_curve(relstring("32301"), None, 5) == pytest.approx(expected, abs=1e-12)
    assert ideal_curve(relstring("31"), None, 2)[1] == pytest.approx(3.630929753571, abs=1e-12)


def test_recall_and_precision_at_each_relevant_document() -> None:
    qrels = {"1": relevant(TEN_RELEVANT)}
    recalls = means(qrels, {"1": Q1}, [f"R@{rank}" for rank in (1, 3, 6, 10, 15)])
    precisions = means(qrels, {"1": Q1}, [f"P@{rank}" for rank in (1, 3, 6, 10, 15)])
    assert recalls == [0.1, 0.2, 0.3, 0.4, 0.5]
    assert precisions == [1, 0.66666666667, 0.5, 0.4, 0.33333333333]


def test_interpolated_precision_at_eleven_recall_levels() -> None:
    judged = relstring("001000010000001")
    third = 0.33333333333
    expected = [third, third, third, third, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2]
    found = [value(f"IPrec@{level / 10}", judged) for level in range(11)]
    assert found == pytest.approx(expected, abs=1e-11)
    other = [0.5, 0.5, 0.5, 0.4, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2, 0.1]
    both = [100 * (one + two) / 2 for one, two in zip(found, other, strict=True)]
    expected_mean = [41.66666666667, 41.66666666667, 41.66666666667, 36.66666666667, 27.5, 27.5, 27.5, 20, 20, 20, 15]
    assert both == pytest.approx(expected_mean, abs=1e-9)


def test_precision_at_cutoffs_and_at_the_number_of_relevant_documents() -> None:
    found = means({"1": relevant(FIVE_RELEVANT)}, {"1": Q1}, ["P@5", "P@15", "Rprec"])
    assert found == [0.4, 0.33333333333, 0.4]
    assert means({"2": relevant(["d123", "d6", "d3"])}, {"2": Q2_REORDERED}, ["Rprec"]) == [0.33333333333]


def test_mean_average_precision_of_two_queries_whole_and_cut() -> None:
    qrels = {"1": relevant(FIVE_RELEVANT), "2": relevant(["d123", "d6", "d3"])}
    run = {"1": ranked(Q1), "2": ranked(Q2_REORDERED)}
    results = evaluate(qrels, run, ["MAP", "MAP@8"])
    assert results.of("AP").tolist() == pytest.approx([0.58, 0.32222222222], abs=1e-11)
    assert list(results.mean()["run"].values()) == pytest.approx([0.45111111111, 0.32777777778], abs=1e-11)


def judged_by_grade(documents: list[str], grades: dict[str, int]) -> Judged:
    """A ranking written by hand from documents and grades."""
    missed = "".join(str(grade) for document, grade in grades.items() if document not in documents)
    return relstring("".join(str(grades.get(document, "-")) for document in documents) + "/" + missed)


def test_cumulated_gain_of_a_graded_ranking() -> None:
    expected = [1, 1, 2, 2, 2, 5, 5, 5, 5, 7, 7, 7, 7, 7, 10]
    assert curve("CG", judged_by_grade(Q1, GRADES_Q1), 15) == expected


def test_gain_discounted_from_the_base_on() -> None:
    """The discount of Järvelin and Kekäläinen with base 2: ranks 1 and 2 are not discounted."""
    q1 = [round(x, 3) for x in curve("DCG(base=2)", judged_by_grade(Q1, GRADES_Q1), 15)]
    assert q1 == [1, 1, 1.631, 1.631, 1.631, 2.791, 2.791, 2.791, 2.791, 3.394, 3.394, 3.394, 3.394, 3.394, 4.161]
    q2 = [round(x, 3) for x in curve("DCG(base=2)", judged_by_grade(Q2, GRADES_Q2), 15)]
    assert q2 == [0, 0, 1.262, 1.262, 1.262, 1.262, 1.262, 1.595, 1.595, 1.595, 1.595, 1.595, 1.595, 1.595, 2.363]


def test_ideal_gain_discounted_from_the_base_on() -> None:
    ideal = [round(x, 3) for x in ideal_curve(judged_by_grade(Q1, GRADES_Q1), 2, 15)]
    assert ideal[:10] == [3, 6, 7.893, 8.893, 9.754, 10.528, 10.884, 11.217, 11.533, 11.834]
    assert ideal[10:] == [11.834] * 5
