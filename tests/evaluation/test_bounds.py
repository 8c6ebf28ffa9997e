"""Bounds: compared with every way in which the unjudged documents could have been judged, one by one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield import Measure
from cranfield.judged import relstring
from cranfield.measures import parse_measure
from cranfield.measures.bounded import by_search
from generate import all_variants, cut_inside
from guesses import RANKINGS, every_guess
from places import ROOT


def random_rankings(seed: int, count: int) -> list[str]:
    """Short rankings with one to three holes."""
    random = Random(seed)
    made: list[str] = []
    while len(made) < count:
        shown = "".join(random.choices("-0123", (5, 2, 2, 1, 1), k=random.randint(1, 7)))
        if 1 <= shown.count("-") <= 3:
            made.append(shown + "/" + "".join(random.choices("0123", k=random.randint(0, 4))))
    return made


class Lists:
    """Rankings with holes, and all that they may turn out to be; grades of all topics are those of the first."""

    def __init__(self, rankings: list[str], grades: str) -> None:
        self.rankings = rankings
        self.guesses = [every_guess(ranking, grades) for ranking in rankings]
        self.open = relstring(grades, *rankings)
        self.closed = relstring(grades, *(guess for guesses in self.guesses for guess in guesses))

    def check(self, measure: Measure) -> None:
        lowest, highest = (side[1:] for side in measure.bounds(self.open))
        values, as_it_is = measure.per_topic(self.closed)[1:], measure.per_topic(self.open)[1:]
        ends = np.cumsum([len(guesses) for guesses in self.guesses])
        for i, (end, guesses) in enumerate(zip(ends, self.guesses, strict=True)):
            possible = np.append(values[end - len(guesses) : end], as_it_is[i])
            assert lowest[i] == pytest.approx(possible.min(), abs=1e-12), self.rankings[i]
            assert highest[i] == pytest.approx(possible.max(), abs=1e-12), self.rankings[i]


FORMS = list(cut_inside(all_variants()))
SHORT = Lists([*RANKINGS, *random_rankings(5, 20)], "3210")
# More holes than the search of the m highest and m lowest can go through by chance alone, and cutoffs among them.
HOLES = Lists(["--1-0-2-/1", "0-2---1/20", "-2-0--1-/", "1-----/02"], "210")
GAPS = Lists(["-0-3-", "3--0-/3", "0-3--/0"], "30")


@pytest.mark.parametrize("measure", FORMS, ids=str)
def test_bounds_are_the_extremes_of_everything_possible(measure: Measure) -> None:
    SHORT.check(measure)
    HOLES.check(measure)
    if "gain={" not in str(measure) and "rel=" not in str(measure) and "max_grade=" not in str(measure):
        GAPS.check(measure)


def test_a_grade_between_those_in_use_widens_only_the_bounds_of_some_measures() -> None:
    """As the documentation says: those that compare grades, and those that more relevance may lower."""
    between = Lists(["-0-3-", "3--0-/3", "0-3--/0", "-3---/0", "-3330----/333"], "30")
    between.guesses = [every_guess(ranking, "3210") for ranking in between.rankings]
    between.closed = relstring("30", *(guess for guesses in between.guesses for guess in guesses))
    wider: set[str] = set()
    for measure in FORMS:
        if "gain={" in str(measure):
            continue
        try:
            between.check(measure)
        except AssertionError:
            wider.add(measure.definition.name)
    decision = ROOT / "docs" / "decisions" / "judgements.md"
    compared = {"Ppref", "Rpref", "Wpref"}
    assert all(f"`{name}`" in decision.read_text() for name in compared)
    assert wider <= compared | {m.definition.name for m in FORMS if m.searches_bounds}
    assert wider >= {"Ppref", "APpref", "BPM"}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "P(rel=5)@2",
            "AP(rel=5)",
            "ERR(max_grade=5)",
            "ERR(max_grade=5)@2",
            "GradedRBP(max_grade=5)",
            "RelP(rel=5)@2",
        ),
        *(
            "SDCG(max_grade=5)@3",
            "INST(max_grade=5)@3",
            "BPM(max_grade=5)@3",
            "nDCG(gain={5: 9})@3",
            "NCG(gain={5: 9})",
        ),
        *("DCG(gain={5: 9})@2", "IdealDCG(gain={5: 9})", "AreaNCG(gain={5: 9})@3", "G(gain={5: 9})"),
    ],
)
def test_a_grade_that_the_measure_names_is_possible_too(name: str) -> None:
    lists = Lists(["-1-0-", "2--0-/1", "1--"], "210")
    lists.guesses = [every_guess(ranking, "5210") for ranking in lists.rankings]
    lists.closed = relstring("210", *(guess for guesses in lists.guesses for guess in guesses))
    # The highest grade of the judgements is 2, whatever an unjudged document turns out to be.
    lists.closed = replace(lists.closed, pool=replace(lists.closed.pool, max_grade=2.0))
    lists.check(parse_measure(name))


@pytest.mark.parametrize("name", ["CG", "DCG@2", "nDCG", "nDCG@3", "NCG@2", "AreaNDCG@3", "IdealDCG"])
def test_gains_below_nought_may_lower_a_score(name: str) -> None:
    one, _, at = name.partition("@")
    measure = parse_measure(f"{one}(gain={{0: -1, 1: 2}})" + (f"@{at}" if at else ""))
    Lists(["-1-0-", "2--0-/1", "1--", "--21-/0"], "210").check(measure)
    assert measure.searches_bounds
    assert not parse_measure("nDCG(gain={1: 2})").searches_bounds


def test_bounds_of_measures_that_relevance_may_hurt_are_searched_for_in_longer_lists() -> None:
    """What the search finds on lists too long for every guess holds every guess of a sample."""
    random = Random(11)
    ranking = "".join(random.choices("-0123", (6, 2, 1, 1, 1), k=30))
    judged = relstring("3210", ranking)
    guesses = ["".join(random.choice("0123") if c == "-" else c for c in ranking) for _ in range(300)]
    for measure in all_variants():
        if measure.searches_bounds:
            lowest, highest = measure.bounds(judged)
            values = measure.per_topic(relstring("3210", *guesses))[1:]
            assert lowest[1] <= values.min() + 1e-9, measure
            assert highest[1] >= values.max() - 1e-9, measure


@pytest.mark.parametrize("measure", list(all_variants()), ids=str)
def test_bounds_hold_the_value(measure: Measure) -> None:
    judged = relstring("2", *RANKINGS, "012", "")
    lowest, highest = measure.bounds(judged)
    value = measure.per_topic(judged)
    assert np.all(lowest <= value + 1e-12)
    assert np.all(value <= highest + 1e-12)


def test_searched_bounds_are_told() -> None:
    results = cranfield.evaluate({"1": {"a": 1}}, {"1": {"b": 2.0, "a": 1.0}}, ["AP", "Compat"], bounds=True)
    assert [warning.message for warning in results.warnings if warning.code == "searched-bounds"] == [
        "bounds of Compat are the widest that a search found; in long lists wider ones may be possible"
    ]


def test_negative_grades_are_holes() -> None:
    qrels = {"1": {"a": 1, "b": -1}, "2": {"a": 1}}
    with_negative = cranfield.evaluate(
        qrels, {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0, "a": 1.0}}, ["AP", "nDCG", "Bpref"], bounds=True
    )
    assert with_negative.lower is not None
    assert with_negative.upper is not None
    assert with_negative.lower[0, :2, 0].tolist() == pytest.approx(with_negative.lower[0, :2, 1].tolist())
    assert with_negative.upper[0, :, 0].tolist() == pytest.approx(with_negative.upper[0, :, 1].tolist())


@pytest.mark.parametrize("name", ["IPrec@0.0", "IPrec@0.1", "IPrec@0.7", "IPrec@1.0", "InterpolatedAP"])
def test_bounds_of_interpolated_precision_on_longer_lists_are_those_of_the_search(name: str) -> None:
    random = Random(name)
    rankings = [
        "".join(random.choices("-012", (6, 2, 1, 1), k=random.randint(1, 60)))
        + "/"
        + "".join(random.choices("012", k=random.randint(0, 12)))
        for _ in range(60)
    ]
    measure, judged = parse_measure(name), relstring("1", *rankings)
    lowest, highest = measure.bounds(judged)
    by_trying = by_search(judged, measure.per_topic, 2)
    assert lowest.tolist() == pytest.approx(by_trying[0].tolist(), abs=1e-12)
    assert highest.tolist() == pytest.approx(by_trying[1].tolist(), abs=1e-12)


# Documents that share a score, judged, unjudged and pooled ones; z and w nobody judged share one with no other.
TIED = {
    "1": {"a": 3.0, "b": 3.0, "c": 2.0, "d": 2.0, "u": 2.0, "v": 2.0, "h": 1.0},
    "2": {"u": 3.0, "v": 3.0, "b": 2.0, "a": 2.0, "w": 2.0},
    "3": {"x": 2.0, "u": 2.0, "b": 1.0, "v": 1.0},
}
JUDGED: dict[str, float] = {"a": 0, "b": 1, "c": 1, "d": 1, "h": 1, "x": -1}
UNJUDGED = "uvwx"


def in_any_order(measure: Measure) -> bool:
    """Whether the order of ties, whatever the policy says of it, is nothing to a measure that looks at order."""
    policies = [cranfield.Policy(ties=ties) for ties in ("docid", "best", "worst")]
    qrels = dict.fromkeys(TIED, JUDGED)
    scores = [cranfield.evaluate(qrels, TIED, measure, policy=policy).scores for policy in policies]
    if not all(np.array_equal(scores[0], other) for other in scores[1:]):
        return False
    best = {topic: sorted(ranking, key=lambda d: (-ranking[d], -JUDGED.get(d, 0))) for topic, ranking in TIED.items()}
    return not np.array_equal(scores[0], cranfield.evaluate(qrels, best, measure).scores)


LEVELLED = [measure for measure in FORMS if measure.definition.name == "ESL" and in_any_order(measure)]


def test_measures_in_any_order_are_known_and_say_that_their_bounds_look_at_ties() -> None:
    assert [measure for measure in FORMS if in_any_order(measure)] == LEVELLED
    assert all(measure.traits.every_document for measure in LEVELLED)


@pytest.mark.parametrize("ties", ["docid", "best", "worst"])
@pytest.mark.parametrize("measure", LEVELLED, ids=str)
def test_bounds_of_what_is_a_mean_over_orders_are_of_that_mean(measure: Measure, ties: str) -> None:
    policy = cranfield.Policy(ties=ties)
    results = cranfield.evaluate(dict.fromkeys(TIED, JUDGED), TIED, measure, policy=policy, bounds=True)
    assert results.lower is not None
    assert results.upper is not None
    for t, topic in enumerate(results.topics):
        open_here = [document for document in TIED[topic] if document in UNJUDGED]
        guesses = product((0, 1), repeat=len(open_here))
        closed = [JUDGED | dict(zip(open_here, guess, strict=True)) for guess in guesses]
        values = [cranfield.evaluate({topic: g}, {topic: TIED[topic]}, measure).scores[0, 0, 0] for g in closed]
        assert results.lower[0, 0, t] == pytest.approx(min(values))
        assert results.upper[0, 0, t] == pytest.approx(max(values))


def test_expected_search_length_of_ties_is_bounded_by_the_command_too(tmp_path: Path) -> None:
    """A run alone is read early, without its rows: here they are needed."""
    scores = {"a": 3, "b": 3, "c": 2, "d": 2, "e": 2, "f": 2, "g": 2, "h": 1}
    (tmp_path / "run").write_text("".join(f"1 Q0 {d} 0 {score} r\n" for d, score in scores.items()))
    (tmp_path / "qrels").write_text("1 0 a 0\n" + "".join(f"1 0 {document} 1\n" for document in "bcdh"))
    asked = ("--bounds", "-m", "ESL(wanted=2)", "-f", "csv")
    called = command_line("evaluate", tmp_path / "qrels", tmp_path / "run", *asked)
    assert called.stdout.splitlines()[1] == "run,2.0,1.0,2.0"
    assert called.stderr == "", "it is the mean over all orders already"
