"""Agreement between assessors: textbook values, other libraries, definitions written out pair by pair."""

from __future__ import annotations

import json
from itertools import combinations, permutations, product
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import printed
from cranfield import DataError, UsageError, read_qrels
from cranfield.agreement.assessment import assess
from cranfield.agreement.assessor_tables import render
from cranfield.agreement.graded import judges_of
from cranfield.statistics import assessors
from cranfield.statistics.coefficients import find_coefficient
from cranfield.statistics.mixing import mixed_agreement
from cranfield.statistics.significance import Sampling
from places import EXAMPLES

FEW = Sampling(resamples=200)
Floats = np.ndarray[Any, np.dtype[np.float64]]
WEIGHTS: tuple[assessors.Level, ...] = ("nominal", "linear", "quadratic")
LEVELS: tuple[assessors.Level, ...] = ("nominal", "ordinal", "interval")

# Four observers and twelve units of Krippendorff, "Computing Krippendorff's alpha-reliability", 2011.
KRIPPENDORFF = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
# How many of fourteen raters put each of ten subjects into each of five categories: Fleiss, as taught everywhere.
FLEISS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""


def table(text: str) -> Floats:
    rows = [[np.nan if cell == "." else float(cell) for cell in line.split()] for line in text.strip().splitlines()]
    return np.array(rows)


def random_grades(seed: int, documents: int = 60, judges: int = 2, missing: float = 0.0) -> Floats:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, documents)
    grades = np.clip(truth[:, None] + rng.integers(-1, 2, (documents, judges)), 0, 3).astype(float)
    grades[rng.random(grades.shape) < missing] = np.nan
    return np.asarray(grades)


def confused(grades: Floats, values: Floats) -> Floats:
    """The confusion matrix of the first two."""
    return assessors.confusion(grades[:, 0], grades[:, 1], values)


def test_a_grade_that_one_assessor_alone_gave_is_not_counted() -> None:
    """What was given, agreed and kappa are of the same documents: those with two assessors or more."""
    alone = {"a": {"1": {"d1": 1, "d2": 0, "d3": 1}}, "b": {"1": {"d1": 1, "d2": 1}}}
    assert [(each.grade, each.given) for each in assess(alone, sampling=FEW).grades] == [(0, 1), (1, 3)]


def test_textbook_values() -> None:
    grades = table(KRIPPENDORFF).T
    values = np.arange(1.0, 6.0)
    pairs = assessors.coincidences(grades, values)
    found = [float(assessors.krippendorff_alpha(pairs, values, level).round(3)) for level in LEVELS]
    assert found == [0.743, 0.815, 0.849]
    counts = table(FLEISS).astype(int)
    raters = np.array([np.repeat(np.arange(5.0), row) for row in counts])
    assert assessors.fleiss_kappa(assessors.coincidences(raters, np.arange(5.0))).round(3) == 0.210
    two_by_two = np.array([[20.0, 5.0], [10.0, 15.0]])
    assert assessors.cohen_kappa(two_by_two, np.array([0.0, 1.0])) == pytest.approx(0.4)


@pytest.mark.parametrize("seed", range(5))
def test_kappas_are_those_of_statsmodels(seed: int) -> None:
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    values = np.arange(4.0)
    grades = random_grades(seed)
    counts = confused(grades, values)
    for weights, theirs in zip(WEIGHTS, (None, "linear", "quadratic"), strict=True):
        expected = inter_rater.cohens_kappa(counts, wt=theirs, return_results=False)
        assert assessors.cohen_kappa(counts, values, weights) == pytest.approx(expected, abs=1e-12)
    several = random_grades(seed, judges=5)
    expected = inter_rater.fleiss_kappa(inter_rater.aggregate_raters(several.astype(int))[0])
    found = assessors.fleiss_kappa(assessors.coincidences(several, values))
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_kappas_are_those_of_scikit_learn(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    grades, values = random_grades(seed + 10), np.arange(4.0)
    for weights, theirs in zip(WEIGHTS, (None, "linear", "quadratic"), strict=True):
        expected = metrics.cohen_kappa_score(*grades.T.astype(int), labels=range(4), weights=theirs)
        found = assessors.cohen_kappa(confused(grades, values), values, weights)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_that_of_the_krippendorff_package(level: assessors.Level, missing: float) -> None:
    krippendorff = pytest.importorskip("krippendorff")
    for seed in range(5):
        grades = random_grades(seed, judges=4, missing=missing)
        values = np.unique(grades[~np.isnan(grades)])
        found = assessors.krippendorff_alpha(assessors.coincidences(grades, values), values, level)
        expected = krippendorff.alpha(reliability_data=grades.T, level_of_measurement=level)
        assert found == pytest.approx(expected, abs=1e-12)


def slow_alpha(grades: Floats, distance: Any) -> float:
    """1 - observed / expected disagreement over pairs of grades, pair by pair."""
    units = [[grade for grade in unit if not isnan(grade)] for unit in grades.tolist()]
    units = [unit for unit in units if len(unit) > 1]
    everything = [grade for unit in units for grade in unit]
    within = sum(sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units) / len(
        everything
    )
    between = sum(distance(a, b) for a, b in permutations(everything, 2))
    return float(1 - within / (between / (len(everything) * (len(everything) - 1))))


@pytest.mark.parametrize("seed", range(4))
def test_alpha_by_definition(seed: int) -> None:
    grades = random_grades(seed, documents=20, judges=3, missing=0.25)
    values = np.unique(grades[~np.isnan(grades)])
    pairs = assessors.coincidences(grades, values)
    nominal, interval = (float(assessors.krippendorff_alpha(pairs, values, level)) for level in ("nominal", "interval"))
    assert nominal == pytest.approx(slow_alpha(grades, lambda a, b: float(a != b)), abs=1e-12)
    assert interval == pytest.approx(slow_alpha(grades, lambda a, b: (a - b) ** 2), abs=1e-12)


def test_perfect_agreement_is_one_and_chance_is_about_zero() -> None:
    rng = np.random.default_rng(0)
    values = np.arange(3.0)
    same = np.repeat(rng.integers(0, 3, (50, 1)), 3, axis=1).astype(float)
    by_chance = rng.integers(0, 3, (20_000, 3)).astype(float)
    for grades, expected, off in ((same, 1.0, 1e-12), (by_chance, 0.0, 0.02)):
        pairs, two = assessors.coincidences(grades, values), confused(grades, values)
        found = [assessors.fleiss_kappa(pairs)]
        found += [assessors.krippendorff_alpha(pairs, values, level) for level in LEVELS]
        found += [assessors.cohen_kappa(two, values, weights) for weights in WEIGHTS]
        assert np.abs(np.array(found) - expected).max() < off


def test_where_nothing_can_disagree_there_is_no_coefficient() -> None:
    values = np.array([0.0, 1.0])
    same = assessors.coincidences(np.zeros((5, 2)), values)
    assert isnan(assessors.krippendorff_alpha(same, values))
    assert isnan(assessors.fleiss_kappa(same))
    assert isnan(assessors.cohen_kappa(assessors.confusion(np.zeros(5), np.zeros(5), values), values))


def judged(seed: int, judges: int = 3, topics: int = 8, missing: float = 0.2) -> dict[str, dict[str, dict[str, float]]]:
    """{judge: {topic: {document: grade}}}"""
    rng = np.random.default_rng(seed)
    found: dict[str, dict[str, dict[str, float]]] = {f"judge{j}": {} for j in range(judges)}
    for t in range(topics):
        truth = rng.integers(0, 3, 15)
        for judge in found.values():
            grades = np.clip(truth + rng.integers(-1, 2, 15), 0, 3)
            judge[f"q{t}"] = {f"d{d}": float(g) for d, g in enumerate(grades) if rng.random() >= missing}
    return found


def test_assessment_by_definition() -> None:
    given = judged(1)
    found = assess(given, sampling=FEW)
    for one, other in [*combinations(given, 2)]:
        overlaps, pairs = [], []
        for topic in given[one]:
            shared = given[one][topic].keys() & given[other][topic].keys()
            first, second = ({d for d in shared if given[judge][topic][d] >= 1} for judge in (one, other))
            overlaps += [len(first & second) / len(first | second)] if first | second else []
            pairs += [(given[one][topic][d], given[other][topic][d]) for d in shared]
        assert found.of("overlap", one, other).value == pytest.approx(np.mean(overlaps))
        values = np.arange(4.0)
        counts = confused(np.array(pairs), values)
        assert found.of("kappa", one, other).value == pytest.approx(
            float(assessors.cohen_kappa(counts, np.arange(4.0)))
        )
        assert next(each for each in found.confusions if each.judges == (one, other)).counts == tuple(
            map(tuple, counts.astype(int).tolist())
        )
    rows = [
        [given[judge][topic].get(f"d{d}", np.nan) for judge in given] for topic in given["judge0"] for d in range(15)
    ]
    assert found.of("alpha-nominal").value == pytest.approx(slow_alpha(np.array(rows), lambda a, b: float(a != b)))
    by_two = [row for row in rows if np.isfinite(row).sum() > 1]
    assert sum(one.given for one in found.grades) == int(np.isfinite(np.array(by_two)).sum())
    for each in found.coefficients:
        assert each.estimate.low <= each.estimate.value <= each.estimate.high


def test_topics_stand_by_themselves() -> None:
    given = judged(2)
    found = assess(given, sampling=FEW)
    for one in found.topics:
        alone = assess({judge: {one.topic: of[one.topic]} for judge, of in given.items()}, sampling=FEW)
        assert alone.topics == (one,)
        for name, value in (("overlap", one.overlap), ("fleiss", one.fleiss)):
            assert alone.of(name).value == pytest.approx(value)
        assert alone.of("alpha-nominal").value == pytest.approx(one.alpha_nominal)
        assert alone.of("alpha-ordinal").value == pytest.approx(one.alpha_ordinal)
        kappas = [alone.of("kappa", *pair).value for pair in combinations(given, 2)]
        assert one.kappa == pytest.approx(np.mean(kappas))


def test_a_grade_beyond_chance_is_kappa_of_that_grade_against_the_rest() -> None:
    """Fleiss' kappa of a category is his kappa when all other categories are one."""
    rows = table(FLEISS).astype(int).tolist()
    grades = np.array([[grade for grade, count in enumerate(row) for _ in range(count)] for row in rows], dtype=float)
    given = {f"j{j}": {"q": {f"d{d}": grades[d, j] for d in range(len(grades))}} for j in range(grades.shape[1])}
    found = assess(given, sampling=Sampling(resamples=2))
    values = np.array([0.0, 1.0])
    for one in found.grades:
        alone = assessors.coincidences((grades == one.grade).astype(float), values)
        assert one.kappa == pytest.approx(float(assessors.fleiss_kappa(alone)))


def test_assessors_who_share_nothing_are_not_compared() -> None:
    """Two pairs of assessors, each with topics of its own, as where judging is divided up."""
    given = judged(5, judges=4, topics=12, missing=0.0)
    divided = {
        judge: {topic: of for topic, of in topics.items() if (int(topic[1:]) < 6) == (judge in ("judge0", "judge1"))}
        for judge, topics in given.items()
    }
    runs = {
        f"run{r}": {f"q{t}": {f"d{d}": -float((d * (r + 2) + t) % 15) for d in range(15)} for t in range(12)}
        for r in range(4)
    }
    found = assess(divided, runs=runs, sampling=FEW)
    pairs = {each.judges for each in found.coefficients if each.name == "kappa"}
    assert pairs == {("judge0", "judge1"), ("judge2", "judge3")} == {each.judges for each in found.confusions}
    assert found.orderings is not None
    assert {row.names[0] for row in found.orderings.pairs.rows} == {"AP judge0", "AP judge2"}
    assert isnan(found.orderings.mixed.value)
    assert {"nothing-shared", "no-ordering"} <= {finding.code for finding in found.warnings}
    assert "drawn by lot" not in render(found, "table")
    alone = assess({judge: divided[judge] for judge in ("judge0", "judge1")}, sampling=FEW)
    assert alone.of("kappa", "judge0", "judge1").value == found.of("kappa", "judge0", "judge1").value


def test_an_ordering_that_differs_by_what_is_shared_is_told_with_the_pair() -> None:
    ann = {f"q{t}": {"d1": 1, "d2": 0, "d3": 0, "d4": 1} for t in range(3)}
    bob, eve = ({t: {d: of[d] for d in shared} for t, of in ann.items()} for shared in (("d1", "d2"), ("d3", "d4")))
    orders = {"a": ("d1", "d2", "d3", "d4"), "b": ("d2", "d1", "d4", "d3")}
    runs = {name: {t: {d: -float(i) for i, d in enumerate(order)} for t in ann} for name, order in orders.items()}
    found = assess({"ann": ann, "bob": bob, "eve": eve}, runs=runs, sampling=FEW)
    assert found.orderings is not None
    notes = found.orderings.pairs.notes
    assert {"AP ann beside AP bob: AP ann: a, b", "AP ann beside AP eve: AP ann: b, a"} <= set(notes)
    assert "AP bob: a, b" in notes


def test_an_assessor_who_finds_nothing_orders_nothing() -> None:
    given = judged(6, topics=4, missing=0.0)
    nothing = {topic: dict.fromkeys(of, 0.0) for topic, of in given["judge0"].items()}
    runs = {
        name: {t: {f"d{d}": sign * float(d) for d in range(15)} for t in nothing}
        for name, sign in (("a", 1), ("b", -1))
    }
    found = assess({**given, "idle": nothing}, runs=runs, sampling=FEW)
    assert found.orderings is not None
    assert len(found.orderings.pairs.rows) == 2 * 3
    with pytest.raises(DataError, match="no two assessors both find something relevant"):
        assess({"ann": given["judge0"], "idle": nothing}, runs=runs, sampling=FEW)


def test_interval_covers_the_value_of_all_topics() -> None:
    """Over many sets of topics, about 95 in 100 intervals hold the alpha that all topics together have."""
    truth = assess(judged(99, topics=400, missing=0.0), sampling=Sampling(resamples=2)).of("alpha-ordinal").value
    inside = 0
    for seed in range(30):
        estimate = assess(judged(seed, topics=25, missing=0.0), sampling=Sampling(seed, 200)).of("alpha-ordinal")
        inside += estimate.low <= truth <= estimate.high
    assert 0.8 <= inside / 30 <= 1


def test_same_judgements_in_every_form_give_the_same(tmp_path: Path) -> None:
    given = judged(3)
    found = assess(given, sampling=FEW)
    lines = [f"{t} {j} {d} {g:g}\n" for j, of in given.items() for t, ds in of.items() for d, g in ds.items()]
    (tmp_path / "all.txt").write_text("".join(lines))
    for judge, of in given.items():
        text = "".join(f"{t} 0 {d} {g:g}\n" for t, documents in of.items() for d, g in documents.items())
        (tmp_path / f"{judge}.qrels").write_text(text)
    from_one = assess(judges_of([tmp_path / "all.txt"]), sampling=FEW)
    from_three = assess(judges_of([tmp_path / f"{judge}.qrels" for judge in given]), sampling=FEW)
    assert found.coefficients == from_one.coefficients == from_three.coefficients
    assert found.judges == from_three.judges


def test_negative_grades_are_no_judgements() -> None:
    ann, bob = {"q1": {"d1": 1, "d2": 0, "d3": 1}}, {"q1": {"d1": 1, "d2": 0, "d3": -1}}
    shorter = {"q1": {"d1": 1, "d2": 0}}
    assert assess({"a": ann, "b": bob}, sampling=FEW).coefficients == (
        assess({"a": ann, "b": shorter}, sampling=FEW).coefficients
    )


def test_orderings_of_systems() -> None:
    """A contrary judge turns the ordering round, and that is said."""
    judge = {f"q{t}": {"d1": 1, "d2": 0} for t in range(4)}
    contrary = {f"q{t}": {"d1": 0, "d2": 1} for t in range(4)}
    runs = {name: {f"q{t}": {first: 2.0, other: 1.0} for t in range(4)} for name, first, other in RANKED}
    found = assess({"a": judge, "b": contrary}, runs=runs, sampling=FEW)
    assert found.orderings is not None
    assert found.orderings.pairs.of("AP a", "AP b", "kendall")["value"] == -1
    assert found.orderings.says == (
        "the disagreement changes the ordering of systems: the smallest tau is -1.000, below 0.9"
    )
    assert (found.orderings.mixed.low, found.orderings.mixed.high) == (-1, 1)
    same = assess({"a": judge, "b": judge}, runs=runs, sampling=FEW)
    assert same.orderings is not None
    assert same.orderings.says == (
        "the disagreement does not change the ordering of systems much: the smallest tau is 1.000, at least 0.9"
    )
    assert same.orderings.mixed.value == 1
    tied = assess({"a": judge, "b": judge}, runs=dict.fromkeys(["x", "y"], next(iter(runs.values()))), sampling=FEW)
    assert tied.orderings is not None
    assert tied.orderings.says == (
        "whether the disagreement changes the ordering of systems can't be told: systems are tied"
    )


def test_what_only_one_judged_does_not_count_as_disagreement() -> None:
    """Orderings are compared on the documents that both judged."""
    judge = {f"q{t}": {"d1": 1, "d2": 0} for t in range(4)}
    longer = {topic: {**grades, "d3": 1} for topic, grades in judge.items()}
    ranked = {"good": "d1 d2 d3", "bad": "d3 d2 d1"}
    runs = {
        name: {topic: {d: -float(i) for i, d in enumerate(order.split())} for topic in judge}
        for name, order in ranked.items()
    }
    found = assess({"a": judge, "b": longer}, runs=runs, sampling=FEW)
    assert found.orderings is not None
    assert found.orderings.pairs.of("AP a", "AP b", "kendall")["value"] == 1


def test_mixed_orderings_by_definition() -> None:
    """All assignments of judges to topics are equally likely: the mean over random ones is that over all."""
    scores = np.random.default_rng(3).random((2, 4, 3))
    kendall = find_coefficient("kendall")
    mixes = [np.mean([scores[j, :, t] for t, j in enumerate(of)], axis=0) for of in product(range(2), repeat=3)]
    expected = np.mean([kendall(one, other) for one in mixes for other in mixes])
    found = mixed_agreement(kendall, scores, Sampling(resamples=1500))
    assert found.value == pytest.approx(expected, abs=0.05)


RANKED = (("good", "d1", "d2"), ("bad", "d2", "d1"))


def test_what_can_not_be_assessed_is_said() -> None:
    with pytest.raises(DataError, match="nobody to agree with"):
        assess({"ann": {"q1": {"d1": 1}}})
    with pytest.raises(DataError, match="judged by two assessors"):
        assess({"ann": {"q1": {"d1": 1}}, "bob": {"q1": {"d2": 1}}})
    with pytest.raises(UsageError, match="several assessors"):
        assess(read_qrels({"q1": {"d1": 1}}))
    found = assess({"ann": {"q1": {"d1": 1, "d2": 0}}, "bob": {"q1": {"d1": 1}}}, sampling=FEW)
    assert {finding.code for finding in found.warnings} == {"judged-once", "few-topics"}
    with pytest.raises(UsageError, match="must be a number"):
        assess({"ann": {"q1": {"d1": 1}}, "bob": {"q1": {"d1": 1}}}, rel=float("nan"))
    given = judged(4, missing=0.0)
    twice = assess({"a": given["judge0"], "b": given["judge0"]}, rel=9, sampling=FEW)
    assert {finding.code for finding in twice.warnings} == {"same-grades", "no-overlap", "few-topics"}


def test_grades_that_are_all_the_same_are_told_where_kappa_has_no_value() -> None:
    same = {f"d{i}": 2 for i in range(5)}
    found = assess({"ann": {"q1": same}, "bob": {"q1": same}}, sampling=FEW)
    assert isnan(found.of("kappa", "ann", "bob").value)
    told = "judgements: every grade is 2: kappa and alpha, agreement beyond chance, have no value"
    assert told in [str(finding) for finding in found.warnings]
    assert "–" in render(found, "table")
    other = assess({"ann": {"q1": same}, "bob": {"q1": same | {"d1": 1}}}, sampling=FEW)
    assert "one-grade" not in {finding.code for finding in other.warnings}


def command(*arguments: str) -> str:
    return printed("agreement", *arguments, "--resamples", "100", folder=EXAMPLES)


def test_command_prints_the_same_numbers_in_every_format() -> None:
    document = json.loads(command("judges.txt", "-f", "json", "--run", "bm25.run", "--run", "dense.run"))
    assert document["schema"] == "cranfield.agreement/1"
    assert document["orderings"]["pairs"]["schema"] == "cranfield.correlate/1"
    values = [entry["estimate"]["value"] for entry in document["coefficients"]]
    found = assess(judges_of([EXAMPLES / "judges.txt"]), sampling=Sampling(resamples=100))
    for form in ("table", "markdown", "latex", "html"):
        text = render(found, form, per_topic=True)
        assert all(f"{value:.4f}" in text for value in values)
    lines = render(found, "csv").splitlines()
    assert [float(line.split(",")[3]) for line in lines[1:]] == values
    assert len(command("judges.txt", "-f", "tsv", "--per-topic").splitlines()) == 1 + len(document["topics"])


def test_a_coefficient_that_is_not_there_is_told_with_those_that_are() -> None:
    given = {judge: {"q1": {"d1": 1, "d2": 0, "d3": grade}} for judge, grade in (("ann", 1), ("bob", 0))}
    found = assess(given, sampling=Sampling(resamples=20))
    names = "overlap, kappa, kappa-linear, kappa-quadratic, fleiss, alpha-nominal, alpha-ordinal, alpha-interval"
    for wanted, told in ((["tau"], "no tau of all"), (["kappa", "ann", "eve"], "no kappa of ann, eve")):
        with pytest.raises(UsageError) as error:
            found.of(*wanted)
        assert str(error.value) == f"{told}; there are {names} of ann, bob"


def test_the_sampling_is_kept() -> None:
    given = {judge: {"q1": {"d1": 1, "d2": 0}} for judge in ("ann", "bob")}
    found = assess(given, sampling=Sampling(seed=4, resamples=20))
    assert (found.seed, found.resamples) == (4, 20)
