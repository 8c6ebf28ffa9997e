"""Curves and user-oriented measures of the lectures, with examples by hand where lectures print no numbers."""

from __future__ import annotations

import pytest

import cranfield
from cranfield import evaluate, measures
from cranfield.judged import Judged, relstring
from cranfield.measures import parse_measure

# The rankings of two queries in one lecture, by grade, then the judged documents that they miss.
QUERY_1 = "1-1--3---2----3/32211"
QUERY_2 = "--2----1------3"
RANKS = range(1, 16)


@pytest.fixture
def lecture() -> Judged:
    judged = relstring(QUERY_1, QUERY_2)
    assert sorted(judged.pool.grades[:10].tolist(), reverse=True) == [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    assert judged.pool.grades[10:].tolist() == [3, 2, 1]
    return judged


def means(name: str, judged: Judged) -> list[float]:
    """A measure's mean over the queries at every rank."""
    return [float((parse_measure(name) @ rank).per_topic(judged).mean()) for rank in RANKS]


def test_ncg_as_mean_of_ratios(lecture: Judged) -> None:
    """CG of 1 0 1 0 0 3 … over 3 6 9 11 …, and of 0 0 2 … over 3 5 6."""
    found = means("NCG", lecture)
    assert found[:3] == pytest.approx([(1 / 3 + 0) / 2, (1 / 6 + 0) / 2, (2 / 9 + 2 / 6) / 2])
    assert found[14] == pytest.approx((10 / 19 + 6 / 6) / 2)


@pytest.mark.parametrize(
    ("area", "curve"),
    [
        ("AreaNCG", "NCG"),
        ("AreaNDCG", "nDCG"),
        ("AreaNDCG(base=2)", "nDCG(base=2)"),
        ("AreaNCG(gain='exp')", "NCG(gain='exp')"),
    ],
)
def test_area_is_the_mean_of_the_curve(lecture: Judged, area: str, curve: str) -> None:
    heights = means(curve, lecture)
    for rank in RANKS:
        found = (parse_measure(area) @ rank).per_topic(lecture).mean()
        assert found == pytest.approx(sum(heights[:rank]) / rank, rel=1e-12)


def test_area_far_below_the_end_of_the_list_comes_to_the_end_of_the_curve() -> None:
    assert (measures.AreaNCG @ 10**12).per_topic(relstring("01/1"))[0] == pytest.approx(0.5, rel=1e-9)


def test_precision_at_the_first_and_at_the_last_relevant_document(lecture: Judged) -> None:
    assert parse_measure("PFirst").per_topic(lecture).tolist() == pytest.approx([1, 1 / 3])
    assert measures.PLast.per_topic(lecture).tolist() == pytest.approx([5 / 15, 3 / 15])
    assert parse_measure("PFirst") == measures.RR


def weakly_ordered(*levels: str, missed: str = "") -> Judged:
    """A ranking by levels of equal score, a grade a document."""
    grades: dict[str, int] = {}
    scores: dict[str, float] = {}
    for number, level in enumerate(levels):
        for grade in level:
            name = f"d{len(scores):03}"
            scores[name] = -float(number)
            grades[name] = int(grade)
    grades |= {f"m{i}": int(grade) for i, grade in enumerate(missed)}
    return cranfield.judged.judge(cranfield.read_run({"1": scores}), cranfield.read_qrels({"1": grades}))


@pytest.mark.parametrize(
    ("levels", "wanted", "expected"),
    [
        # Van Rijsbergen's example: three documents above are not relevant, and two of the five of the level are.
        (("000", "10010"), 1, 3 + 3 * 1 / 3),
        (("000", "10010"), 2, 3 + 3 * 2 / 3),
        # In a strict order it is the number of documents above that are not relevant.
        (("0", "1", "0", "0", "1"), 1, 1),
        (("0", "1", "0", "0", "1"), 2, 3),
        # One level in all: a constant scorer expects what chance gives.
        (("0000001",), 1, 3),
        # What is wanted may come from several levels: one of two is still wanted from the last.
        (("10", "0", "1100"), 2, 2 + 2 * 1 / 3),
        (("1",), 1, 0),
    ],
)
def test_expected_search_length_on_weak_orders(levels: tuple[str, ...], wanted: int, expected: float) -> None:
    found = measures.ESL(wanted=wanted).per_topic(weakly_ordered(*levels))
    assert found.tolist() == pytest.approx([expected])


def test_a_search_that_the_list_cannot_satisfy_has_the_length_that_was_given_for_it() -> None:
    judged = weakly_ordered("010", "0", missed="1")
    assert measures.ESL(wanted=2).per_topic(judged).tolist() == [1000]
    assert measures.ESL(wanted=2, unfound=50).per_topic(judged).tolist() == [50]
    assert measures.ESL(wanted=3, unfound=50).per_topic(judged).tolist() == [50], "there are no three to be found"


def test_a_depth_cuts_the_level_that_is_read() -> None:
    """Tied documents stand by id descending: of 0 0 1 1 with ids a to d the first three are 1 1 0."""
    run = {"1": dict.fromkeys("abcd", 1.0)}
    qrels = {"1": {"a": 0, "b": 0, "c": 1, "d": 1}}
    whole = evaluate(qrels, run, "ESL")
    cut = evaluate(qrels, run, "ESL", policy=cranfield.Policy(depth=3))
    assert whole.scores.tolist() == [[[pytest.approx(2 / 3)]]]
    assert cut.scores.tolist() == [[[pytest.approx(1 / 3)]]]


def test_user_oriented_measures() -> None:
    judged = relstring("1010010000/1")
    assert measures.RelativeRecall(expected=5).per_topic(judged).tolist() == [0.6]
    assert (measures.RelativeRecall(expected=2) @ 5).per_topic(judged).tolist() == [1.0]
    assert measures.RelativeRecall.per_topic(judged).tolist() == measures.SetR.per_topic(judged).tolist()
    assert measures.RecallEffort(expected=3).per_topic(judged).tolist() == [3 / 6]
    assert measures.RecallEffort(expected=3, over="retrieved").per_topic(judged).tolist() == [3 / 10]
    assert measures.RecallEffort.per_topic(judged).tolist() == [0.0], "one of the four is not to be found"


def test_satisfaction_and_frustration() -> None:
    judged = relstring("1010010000/1", "1")
    assert (measures.Satisfaction @ 10).per_topic(judged).tolist() == [3 / 4, 1]
    assert (measures.Frustration @ 10).per_topic(judged).tolist() == [7 / 10, 0]
    weighted = measures.Satisfaction(weight="linear") @ 5
    assert weighted.per_topic(judged).tolist() == pytest.approx([(5 + 3) / (5 + 4 + 3 + 2), 1])
    weighted = measures.Frustration(weight="linear") @ 5
    assert weighted.per_topic(judged).tolist() == pytest.approx([(4 + 2 + 1) / 15, 0])
