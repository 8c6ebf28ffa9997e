"""The lecture notes to the letter: every number they work out, and what is right where they slip (lecture_numbers)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_DOWN, ROUND_HALF_EVEN
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cranfield import evaluate, read_qrels, read_run
from cranfield.judged import relstring
from cranfield.measures import parse_measure
from cranfield.measures.gain import discount
from cranfield.statistics.corrections import find_correction
from lecture_numbers import IDEAL_Q1, NUMBERS, Number, dcg, digits, f, is_cut, kept_whole_first
from lectures import (
    FIVE_RELEVANT,
    GRADES_Q1,
    GRADES_Q2,
    LISTED_Q1,
    LISTED_Q2,
    Q1,
    Q2,
    Q2_LATE,
    Q2_REORDERED,
    TEN_RELEVANT,
    ranked,
    relevant,
)
from places import DATA, EXAMPLES


def says(printed: str, exact: float) -> bool:
    """Whether a number is what is printed: a fraction, or rounded or cut to as many digits."""
    if float(Fraction(printed)) == pytest.approx(exact, rel=1e-14):
        return True
    if "/" in printed:
        return False
    return any(digits(printed, exact, way) for way in (ROUND_DOWN, ROUND_HALF_EVEN))


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_numbers_are_right_here_and_the_notes_slip_where_it_is_said(number: Number) -> None:
    assert list(number.ours()) == pytest.approx(list(number.exact), abs=1e-12)
    words = number.printed.split()
    assert not words or len(words) == len(number.exact)
    wrong = [place for place, word in enumerate(words, start=1) if not says(word, number.exact[place - 1])]
    assert tuple(wrong) == number.wrong
    assert bool(number.slip) == bool(number.wrong)


def test_a_number_is_told_from_its_neighbours() -> None:
    assert says("0.66", 2 / 3)
    assert says("0.67", 2 / 3)
    assert not says("0.65", 2 / 3)
    assert not says("0.28", 0.29)
    assert not says("1.5", 1.4465)
    assert is_cut("0.66", 2 / 3)
    assert not is_cut("0.67", 2 / 3)
    assert not is_cut("0.65", 2 / 3)
    assert not is_cut("0.5", 1 / 2)
    assert not is_cut("4/9", 4 / 9)


def test_every_set_of_notes_is_there() -> None:
    printed = Counter(number.seed for number in NUMBERS for _ in number.printed.split())
    slips = Counter(number.seed for number in NUMBERS if number.slip)
    assert set(printed) == {"000", "001", "002", "003", "004"}
    assert len({(number.seed, number.place, number.what) for number in NUMBERS}) == len(NUMBERS)
    assert slips == {"000": 6, "001": 2, "002": 4, "004": 8}


def flat(values: Any) -> Iterator[float]:
    """The numbers in a number, a list of them, or a list of lists."""
    if isinstance(values, list):
        for value in values:
            yield from flat(value)
    elif isinstance(values, int | float):
        yield float(values)


WORKED = DATA.parent / "worked-examples.json"


@pytest.mark.skipif(not WORKED.exists(), reason="the examples stand beside the project or nowhere")
def test_no_worked_example_is_forgotten() -> None:
    """What was worked out of the notes by others, to the digits they give."""
    for example in json.loads(WORKED.read_text())["examples"]:
        known = [value for number in NUMBERS if number.seed == example["seed"] for value in number.exact]
        known += [value / 100 for value in known]
        tolerance = 0.6 * 10.0 ** -example.get("decimals", 10)
        for value in flat(example["exact"]):
            assert min(abs(value - other) for other in known) < tolerance, (example["what"], value)


def value(name: str, ranking: str) -> float:
    (only,) = parse_measure(name).per_topic(relstring(ranking)).tolist()
    return float(only)


def test_f_with_beta_one_half_is_misprinted() -> None:
    """000 weighs precision below the line with 0.5, where beta squared, 0.25, belongs."""
    precision, recall = 5 / 15, 5 / 10
    assert value("SetF(beta=1)", "101001000100001/11111") == pytest.approx(
        2 * precision * recall / (precision + recall)
    )
    assert value("SetF(beta=2)", "101001000100001/11111") == pytest.approx(
        5 * precision * recall / (4 * precision + recall)
    )
    half = value("SetF(beta=0.5)", "101001000100001/11111")
    assert half == pytest.approx(1.25 * precision * recall / (0.25 * precision + recall)) == pytest.approx(0.357142857)
    assert half != pytest.approx(1.25 * precision * recall / (0.5 * precision + recall), abs=0.01)
    # As printed, a perfect answer would not score 1.
    assert 1.25 / (0.5 + 1) < 1 == f(1, 1, 0.5)


def test_the_ideal_vector_of_sixteen_numbers_has_fifteen() -> None:
    """004 prints one number too many for q1: fifteen documents are shown."""
    printed = ["3.0", "6.0", "7.9", "8.9", "9.8", "10.5", "10.9", "11.2", "11.5", *["11.8"] * 7]
    exact = dcg(IDEAL_Q1, kept_whole_first)
    assert (len(printed), len(exact)) == (16, 15)
    assert all(says(word, number) for word, number in zip(printed, exact, strict=False))


def test_the_list_of_answers_to_q1_gains_three_more_than_is_printed() -> None:
    found = evaluate({"q1": GRADES_Q1}, {"q1": ranked(LISTED_Q1)}, ["CG@15", "CG@3", "CG@4"]).mean()["run"]
    assert found == {"CG@15": 13, "CG@3": 2, "CG@4": 5}


def test_r_precision_means_two_things() -> None:
    """001 takes precision where the last relevant document is found, PLast here; 004 precision at R, Rprec."""
    assert value("PLast", "101001000100001") == pytest.approx(5 / 15)
    assert value("Rprec", "101001000100001") == pytest.approx(2 / 5)


def test_a_threshold_that_must_not_be_reached_is_a_cutoff_of_one_less() -> None:
    """004 counts a first relevant document before rank i, 000 down to it: they part where it is at rank i."""
    assert value("RR@5", "00001") == pytest.approx(0.2)
    assert value("RR@4", "00001") == 0


def test_f_is_one_where_all_that_is_relevant_is_shown_too() -> None:
    """004 asks that all ranked documents be relevant, which is not enough."""
    assert value("F@2", "11/11") == pytest.approx(2 / 3)
    assert value("F@2", "11") == 1
    assert value("F@2", "00/1") == 0


def test_e_at_its_limits() -> None:
    precision, recall = value("P@5", "10100/1"), value("R@5", "10100/1")
    assert (precision, recall) == (2 / 5, 2 / 3)
    assert value("E(b=0)@5", "10100/1") == pytest.approx(1 - precision)
    assert value("E(b=1)@5", "10100/1") == pytest.approx(1 - value("F@5", "10100/1"))
    assert value("E(b=1e9)@5", "10100/1") == pytest.approx(1 - recall)


def test_recall_effort_means_two_things() -> None:
    """000 divides by what was examined until all were found, 004 by all that was retrieved."""
    assert value("RecallEffort(expected=2)", "10100000") == pytest.approx(2 / 3)
    assert value("RecallEffort(expected=2, over='retrieved')", "10100000") == pytest.approx(2 / 8)


def test_a_longer_answer_has_more_gain_and_need_not_be_better() -> None:
    """002: DCG of three results and of five cannot be compared, nDCG can."""
    assert value("DCG", "33333") > value("DCG", "333")
    assert value("nDCG", "33333") == value("nDCG", "333") == 1


def test_gain_is_discounted_less_than_a_reciprocal_rank() -> None:
    """003 draws both for one relevant document: they meet at the first rank alone."""
    ranks = np.arange(1, 101)
    kept, reciprocal = 1 / discount(ranks, None), 1 / ranks
    assert kept[0] == reciprocal[0] == 1
    assert (kept[1:] > reciprocal[1:]).all()
    # 002 calls the decay exponential: each rank would keep the same share of the one above it.
    shares = kept[1:] / kept[:-1]
    assert shares[0] == pytest.approx(0.63, abs=0.01)
    assert shares[-1] > 0.99


def test_bonferroni_multiplies_p_or_divides_the_level() -> None:
    """003 divides p by the number of comparisons, which would make everything significant."""
    p = np.array([0.02, 0.2, 0.3])
    assert find_correction("bonferroni").function(p).tolist() == pytest.approx([0.06, 0.6, 0.9])
    assert p[0] > 0.05 / 3, "not significant, by either way"
    assert p[1] / 3 > 0.05 > p[0] / 3, "divided, it would be"


FILES = {
    "recall": ({"q1": relevant(TEN_RELEVANT), "q2": relevant(["d3", "d56", "d129"])}, {"q1": Q1, "q2": Q2}),
    "means": ({"q1": relevant(FIVE_RELEVANT), "q2": relevant(["d123", "d6", "d3"])}, {"q1": Q1, "q2": Q2_REORDERED}),
    "first": (
        {"q1": relevant(FIVE_RELEVANT), "q2": relevant(["d9", "d3"]), "q3": relevant(["d123", "d6", "d3"])},
        {"q1": Q1, "q2": Q2_LATE, "q3": Q2_REORDERED},
    ),
    "gains": ({"q1": GRADES_Q1, "q2": GRADES_Q2}, {"q1": Q1, "q2": Q1}),
    "listed": (None, {"q1": LISTED_Q1, "q2": LISTED_Q2}),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_the_lectures_have_their_rankings_and_judgements(name: str) -> None:
    judgements, rankings = FILES[name]
    run = read_run(EXAMPLES / "lectures" / f"{name}.run")
    shown = {topic: sorted(run.of(topic), key=lambda document: -run.of(topic)[document]) for topic in run.topics}
    assert shown == rankings
    if judgements is not None:
        qrels = read_qrels(EXAMPLES / "lectures" / f"{name}.qrels")
        assert {topic: qrels.of(topic) for topic in qrels.topics} == judgements
