"""Conventions of lecture notes beside ours: what the ideal ranking has, what is averaged, counted and shared."""

from __future__ import annotations

import pytest

from cranfield import Measure, Policy, UsageError, evaluate
from cranfield.judged import relstring
from cranfield.measures import all_measures, parse_measure, parse_measures
from cranfield.measures.notation import usage


def value(name: str, ranking: str) -> float:
    return float(parse_measure(name).per_topic(relstring(ranking))[0])


@pytest.mark.parametrize("name", ["nDCG", "NCG", "nDCG@5", "NCG@5", "nDCG(gain='exp')@10", "nDCG(base=2)"])
def test_an_ideal_of_the_list_itself_misses_nothing(name: str) -> None:
    """The limitation that the notes teach: 1 1 1 scores as well as 1 1 1 1 1, though two documents are missing."""
    own = parse_measure(name)(ideal="retrieved")
    short, long = relstring("111/11"), relstring("11111")
    assert own.per_topic(short)[0] == own.per_topic(long)[0] == 1
    assert parse_measure(name).per_topic(short)[0] < parse_measure(name).per_topic(long)[0] == 1


def test_the_whole_list_is_sorted_and_then_cut() -> None:
    """The notes' five results of grades 3 2 3 0 1, at each rank."""
    values = [value(f"nDCG(ideal='retrieved')@{rank}", "32301/333") for rank in range(1, 6)]
    assert values == pytest.approx([1, 0.8710, 0.9778, 0.9112, 0.9724], abs=1e-4)
    assert value("NCG(ideal='retrieved')@2", "01003") == pytest.approx(1 / 4), "the 3 at rank 5 belongs to the ideal"


def test_an_empty_list_and_one_of_nothing_relevant_have_no_ideal() -> None:
    assert value("nDCG(ideal='retrieved')", "/1") == value("NCG(ideal='retrieved')@3", "0-0/1") == 0


def test_ties_that_no_measure_looks_at_are_not_warned_of_unless_a_depth_cuts_the_list() -> None:
    """The list has the same documents in every order; cut, it has not."""
    qrels = {"1": {"a": 1, "b": 1, "c": 0}}
    run = {"1": {"a": 9.0, "x": 8.0, "b": 1.0, "c": 1.0}}
    for measure, depth, expected in (
        ("nDCG@2", None, False),
        ("nDCG(ideal='retrieved')@2", None, False),
        ("nDCG(ideal='retrieved')@3", None, True),
        ("nDCG@2", 3, False),
        ("nDCG(ideal='retrieved')@2", 3, True),
    ):
        results = evaluate(qrels, run, measure, policy=Policy(depth=depth))
        assert ("ties" in {warning.code for warning in results.warnings}) == expected, (measure, depth)


def test_a_depth_that_cuts_ties_changes_the_ideal_of_the_list() -> None:
    """Of b and c, which are tied, one is cut off: the ideal at rank 1 is 2 in half of the orders."""
    qrels, run = {"1": {"a": 1, "b": 2, "c": 0}}, {"1": {"a": 9.0, "b": 1.0, "c": 1.0}}
    names = ["nDCG(ideal='retrieved')@1", "nDCG@1"]
    results = evaluate(qrels, run, names, policy=Policy(ties="expected", depth=2))
    assert results.means[0].tolist() == [(1 / 2 + 1) / 2, 1 / 2]


def test_precisions_at_the_relevant_documents_seen() -> None:
    ranking = "101001000100001/11111"  # the notes' first query: five of ten are found, at ranks 1, 3, 6, 10 and 15
    total = 1 + 2 / 3 + 3 / 6 + 4 / 10 + 5 / 15
    assert value("AP", ranking) == pytest.approx(total / 10)
    assert value("AP(over='seen')", ranking) == pytest.approx(total / 5)
    assert value("AP(over='seen')@6", ranking) == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)
    assert value("AP(over='seen')", "00/1") == 0
    assert parse_measure("AP(over='seen')").trec_name is None


def test_documents_gone_through() -> None:
    for ranking, read in (("0101", 4), ("11", 2), ("1-01", 4)):
        assert value("ESL(wanted=2, counting='all')", ranking) == read == value("ESL(wanted=2)", ranking) + 2
    assert value("ESL(wanted=2, counting='all', unfound=7)", "01") == 7, "what is not found has the length given"


def test_nine_points_leave_out_both_ends() -> None:
    ranking = "001000010000001"  # precision 1/3 to recall 1/3, 1/4 to 2/3, 1/5 to 1
    assert value("InterpolatedAP(points=9)", ranking) == pytest.approx((3 / 3 + 3 / 4 + 3 / 5) / 9)
    assert str(parse_measure("InterpolatedAP(points=9.0)")) == "InterpolatedAP(points=9)"


@pytest.mark.parametrize("ranking", ["10100/1", "1", "0-", "/1", "11"])
def test_what_is_returned_either_satisfies_or_frustrates(ranking: str) -> None:
    satisfied, frustrated = value("Satisfaction(of='returned')", ranking), value("Frustration(of='returned')", ranking)
    shown = ranking.partition("/")[0]
    assert satisfied == (shown.count("1") / len(shown) if shown else 0) == value("SetP", ranking)
    assert satisfied + frustrated == 1, "nothing returned is the worst of both"
    assert frustrated == value("Frustration", ranking), "without a cutoff the ranks are those of the list"


def test_a_short_list_is_a_share_of_itself() -> None:
    assert value("Satisfaction(of='returned')@4", "10") == value("Frustration(of='returned')@4", "10") == 0.5
    assert value("Satisfaction@4", "10") == 1
    assert value("Frustration@4", "10") == 0.25
    assert value("Satisfaction(of='returned')@1", "10") == 1
    assert value("Satisfaction", "100/1") == 0.5, "of the two that a list of three could have"


WORKINGS = {
    "nDCG(ideal='retrieved')@2": ("123/3", "DCG / ideal DCG = (1/log2 2 + 2/log2 3) / (3/log2 2 + 2/log2 3)"),
    "NCG(ideal='retrieved')@2": ("123/3", "CG / ideal CG = (1 + 2) / (3 + 2) = 3 / 5"),
    "AP(over='seen')@3": ("1011/1", "(1/1 + 2/3) / 2 = 1.6667 / 2"),
    "ESL(wanted=2, counting='all')": ("0101", "2 + 0 · 1 / (1 + 1) + 2"),
    "ESL(wanted=2)": ("0101", "2 + 0 · 1 / (1 + 1)"),
    "Satisfaction(of='returned')": ("101-/1", "(1 + 1) / 4 = 2 / 4"),
    "Satisfaction(of='returned', weight='linear')": ("101-/1", "(4 + 2) / 10 = 6 / 10"),
    "Frustration(of='returned')@5": ("101-/1", "(1 + 1) / 4 = 2 / 4"),
    "Frustration@5": ("101-/1", "(1 + 1) / 5 = 2 / 5"),
    "InterpolatedAP(points=9)": ("1", "(1 + 1 + 1 + 1 + 1 + … + 1 + 1) / 9 = 9 / 9"),
}


@pytest.mark.parametrize("name", WORKINGS)
def test_the_working_is_that_of_the_convention(name: str) -> None:
    ranking, steps = WORKINGS[name]
    measure: Measure = parse_measure(name)
    trace = measure.trace(relstring(ranking))
    working = measure.working(trace)
    assert " = ".join(working.steps).startswith(steps)
    if working.contribution is not None:
        assert working.contribution.sum() == pytest.approx(trace.value)


def refusal(name: str) -> str:
    """What is said of a name that is no measure; nothing if it is one."""
    try:
        parse_measures(name)
    except UsageError as error:
        return str(error)
    return ""


NAMES = [(name, measure) for measure in all_measures() for name in measure.definition.known_as]


@pytest.mark.parametrize(("name", "measure"), NAMES, ids=str)
def test_what_lectures_call_a_measure_leads_to_it(name: str, measure: Measure) -> None:
    """However it is spelt: a name that ranx or trec_eval has too is taken, any other is told."""
    for spelt in (name, name.upper(), f"{name}@10"):
        told = refusal(spelt)
        ours = measure.name if spelt.endswith("@10") else usage(measure).removeprefix(measure.name)
        assert not told or (measure.name in told and ours in told and "` tells more" in told), spelt


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("R-precision", "that is Rprec or PLast[@k]: `cranfield measures Rprec` tells more"),
        ("harmonic mean", "that is F@k or SetF: `cranfield measures F` tells more"),
        ("E measure@5", "that is E@5: `cranfield measures E` tells more"),
        ("F1", "that is F@k: `cranfield measures F` tells more"),
        ("F2", "that is F(beta=2)@k: `cranfield measures F` tells more"),
        ("F-Measure@15", "that is F@15 or SetF: `cranfield measures F` tells more"),
        ("R-Precision@5", "that is Rprec or PLast@5: `cranfield measures Rprec` tells more"),
        ("MeanReciprocalRank@10", "that is RR@10: `cranfield measures RR` tells more"),
        ("ExpectedSearchLength", "that is ESL: `cranfield measures ESL` tells more"),
        ("share of relevant documents returned@5", "that is Satisfaction(of='returned')@5: "),
        ("ideal DCG", "that is IdealDCG[@k]: `cranfield measures IdealDCG` tells more"),
        ("Mean Reciprocal Rank", "that is RR[@k]: `cranfield measures RR` tells more"),
        ("coverage-ratio", "that is Coverage[@k]: `cranfield measures Coverage` tells more"),
        ("precisoin", "did you mean Precision"),
    ],
)
def test_a_name_of_the_notes_that_is_not_ours(name: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_measure(name)
    assert str(error.value).startswith(f"unknown measure '{name}'; {told}")


def test_remarks_on_names_have_no_semicolon() -> None:
    """They would be taken for names."""
    for name, measure in NAMES:
        assert name.count("(") == name.count(")"), measure
        assert measure.definition.part("Known as").count(name) >= 1
