"""Diversity and novelty: slow versions of the definitions, ndeval, and what must hold whatever the data."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from commands import Outcome, command_line
from cranfield import Measure, Policy, UsageError, evaluate, read_qrels, read_run
from cranfield.formats.reading import Reading
from cranfield.judged import Judged, judge
from cranfield.measures import all_measures, parse_measure
from cranfield.measures.diversified import best_gain, greedy_gains
from cranfield.measures.diversity import covering
from generate import ranking, variants

ndeval = pytest.importorskip("pyndeval")

Subtopics = dict[str, dict[str, dict[str, float]]]  # {topic: {document: {subtopic: grade}}}
Run = dict[str, dict[str, float]]
MEASURES = [measure for measure in all_measures() if measure.definition.family == "diversity"]
VARIANTS = [variant for measure in MEASURES for variant in variants(measure)]
SEARCHLESS = [variant for variant in VARIANTS if variant.parameters.get("ideal") != "exact"]


def generated(
    seed: int,
    *,
    topics: int = 8,
    judged: int = 25,
    subtopics: int = 6,
    grades: tuple[int, ...] = (0, 0, 0, 1, 1, 2, 3),
    retrieved: int = 30,
) -> tuple[Subtopics, Run]:
    """Random judgements and a run without ties. A document that fits no subtopic has a grade of 0 for subtopic 0."""
    random = Random(seed)
    qrels: Subtopics = {}
    run: Run = {}
    for topic in map(str, range(1, topics + 1)):
        names = [f"d{number}" for number in random.sample(range(200), 60)]
        qrels[topic] = {
            document: {
                str(number): random.choice(grades)
                for number in random.sample(range(1, subtopics + 1), random.randint(1, min(4, subtopics)))
            }
            if random.random() < 0.8
            else {"0": 0}
            for document in random.sample(names, judged)
        }
        scores = random.sample(range(1000), retrieved)
        run[topic] = dict(zip(random.sample(names, retrieved), map(float, scores), strict=True))
    qrels["1"]["d0"] = {"1": 3}
    return qrels, run


COLLECTIONS = [
    *(generated(seed) for seed in range(4)),
    generated(4, subtopics=1),
    generated(5, judged=3, retrieved=2),
    generated(6, grades=(-2, 0, 1)),
    generated(7, grades=(0, 0, 0, 0, 0, 1), judged=5),  # topics without a relevant document
]


# --- slow versions of the definitions ---


def relevant_to(groups: dict[str, float], rel: float) -> set[str]:
    return {subtopic for subtopic, grade in groups.items() if grade >= max(rel, 0)}


def all_subtopics(judgements: dict[str, dict[str, float]], rel: float) -> list[str]:
    return sorted(set().union(*(relevant_to(groups, rel) for groups in judgements.values())))


def gains(ranked: list[set[str]], alpha: float) -> list[float]:
    """Of each document, in rank order."""
    out = []
    for i, subtopics in enumerate(ranked):
        out.append(sum((1 - alpha) ** sum(j in above for above in ranked[:i]) for j in subtopics))
    return out


def discounts(name: str, beta: float = 0.5) -> Iterator[float]:
    for rank in itertools.count(1):
        yield {"DCG": 1 / math.log2(rank + 1), "ERR": 1 / rank, "NRBP": beta ** (rank - 1)}[name]


def total(name: str, ranked: list[set[str]], alpha: float, beta: float, cutoff: int | None) -> float:
    return math.fsum(g * d for g, d in zip(gains(ranked, alpha)[:cutoff], discounts(name, beta), strict=False))


def greedy(documents: dict[str, set[str]], alpha: float) -> list[set[str]]:
    """The document that gains most, and of equal ones that with the greatest id, again and again."""
    left = dict(documents)
    ranked: list[set[str]] = []
    while left:
        gain = {d: gains([*ranked, left[d]], alpha)[-1] for d in left}
        most = max(gain.values())
        chosen = max(d for d in left if math.isclose(gain[d], most, rel_tol=1e-12))
        ranked.append(left.pop(chosen))
    return ranked


def reference(measure: Measure, judgements: dict[str, dict[str, float]], scores: dict[str, float]) -> float:
    """The value of one topic, straight from the definition."""
    name, given = measure.definition.name, measure.parameters
    rel: float = given["rel"]
    cutoff: Any = given.get("cutoff")
    alpha, beta = given.get("alpha", 0.5), given.get("beta", 0.5)
    subtopics = all_subtopics(judgements, rel)
    if not subtopics:
        return 0.0
    everything = [relevant_to(judgements.get(document, {}), rel) for document in ranking(scores)]
    ranked = everything[:cutoff]
    if name == "StRecall":
        return len(set().union(*ranked)) / len(subtopics)
    if name == "P_IA":
        return sum(j in found for found in ranked for j in subtopics) / float(cutoff * len(subtopics))
    if name == "AP_IA":
        precisions = 0.0
        for j in subtopics:
            places = [i for i, found in enumerate(ranked, start=1) if j in found]
            n_relevant = sum(j in relevant_to(groups, rel) for groups in judgements.values())
            precisions += sum(n / i for n, i in enumerate(places, start=1)) / n_relevant
        return precisions / len(subtopics)
    formula = {"alpha_DCG": "DCG", "alpha_nDCG": "DCG", "ERR_IA": "ERR", "nERR_IA": "ERR"}.get(name, "NRBP")
    gained = total(formula, ranked, alpha, beta, cutoff)
    if name in ("alpha_DCG", "ERR_IA"):
        if given["norm"] == "none":
            return gained if name == "alpha_DCG" else alpha * gained / len(subtopics)
        return gained / total(formula, [set(subtopics)] * cutoff, alpha, beta, cutoff)
    if name == "NRBP":
        return gained / total(formula, [set(subtopics)] * 60, alpha, beta, None)
    relevant = {document: relevant_to(groups, rel) for document, groups in judgements.items()}
    relevant = {document: found for document, found in relevant.items() if found}
    best = total(formula, greedy(relevant, alpha), alpha, beta, cutoff)
    if given["ideal"] == "exact":
        depth = len(relevant) if cutoff is None else min(cutoff, len(relevant))
        best = max(
            total(formula, [relevant[d] for d in order], alpha, beta, cutoff)
            for order in itertools.permutations(relevant, depth)
        )
    return gained / best


def judged_by_subtopics(qrels: Subtopics, run: Run) -> Judged:
    return judge(read_run(run), read_qrels(qrels, reading=Reading(judgements="subtopics")))


JUDGED = [judged_by_subtopics(qrels, run) for qrels, run in COLLECTIONS]


def per_topic(qrels: Subtopics, run: Run, measure: Measure) -> dict[str, float]:
    return values_of(judged_by_subtopics(qrels, run), measure)


def values_of(found: Judged, measure: Measure) -> dict[str, float]:
    return dict(zip(found.topics, measure.per_topic(found).tolist(), strict=True))


@pytest.mark.parametrize("measure", SEARCHLESS, ids=str)
def test_every_measure_is_its_definition(measure: Measure) -> None:
    for (qrels, run), judged in zip(COLLECTIONS, JUDGED, strict=True):
        for topic, value in values_of(judged, measure).items():
            assert value == pytest.approx(reference(measure, qrels[topic], run[topic]), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("alpha", [0, 0.3, 0.5, 1])
@pytest.mark.parametrize("name", ["alpha_nDCG@3", "nERR_IA@2", "nERR_IA", "nNRBP", "alpha_nDCG"])
def test_the_exact_ideal_is_the_best_of_all_orders(name: str, alpha: float) -> None:
    measure = parse_measure(name)(ideal="exact", alpha=alpha)
    qrels, run = generated(11, topics=20, judged=6, subtopics=5, grades=(0, 1), retrieved=20)
    values = per_topic(qrels, run, measure)
    for topic, value in values.items():
        assert value == pytest.approx(reference(measure, qrels[topic], run[topic]), rel=1e-11, abs=1e-12)
    assert max(values.values()) <= 1 + 1e-12


def best_of_all_orders(documents: Any, alpha: float, weight: Any) -> float:
    """Of every order of as many documents as there are weights."""
    orders = np.array(list(itertools.permutations(range(len(documents)), len(weight))))
    ranked = documents[orders]  # order × rank × subtopic
    gain = np.sum(ranked * (1 - alpha) ** (np.cumsum(ranked, axis=1) - ranked), axis=2)
    return float(np.max(gain @ weight))


def test_the_search_agrees_with_all_orders_where_the_greedy_ideal_is_not_the_best() -> None:
    rng = np.random.default_rng(0)
    better = 0
    for _ in range(300):
        documents = rng.random((7, 6)) < 0.4
        documents[:, 0] |= ~documents.any(axis=1)
        depth, alpha = int(rng.integers(2, 5)), float(rng.choice([0.4, 0.5, 1]))
        weight = 1 / np.log2(np.arange(2, depth + 2))
        found = float(greedy_gains(documents, alpha, depth) @ weight)
        best = best_of_all_orders(documents, alpha, weight)
        assert best_gain(documents, alpha, weight, found, "q") == pytest.approx(best, rel=1e-12)
        better += best > found + 1e-12
    assert better > 15


def test_the_greedy_ideal_can_be_beaten_and_the_exact_one_says_by_how_much() -> None:
    """Greedy takes the widest document first and can then never cover all subtopics in two."""
    judged = covering("abc def / bcde")
    assert (parse_measure("alpha_nDCG@2")(alpha=1)).per_topic(judged)[0] > 1
    assert (parse_measure("alpha_nDCG@2")(alpha=1, ideal="exact")).per_topic(judged)[0] == 1


def test_a_topic_that_is_too_large_for_the_exact_ideal_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cranfield.measures.diversified.MOST_WORK", 100_000)
    random = Random(3)
    qrels = {"t7": {f"d{i}": {str(j): 1.0 for j in range(12) if random.random() < 0.3} | {"x": 0} for i in range(400)}}
    with pytest.raises(UsageError, match=r"topic 't7' has too many orders.*ideal='greedy'"):
        per_topic(qrels, {"t7": {"d1": 1.0}}, parse_measure("alpha_nDCG(ideal='exact')@20"))


# --- ndeval ---


def ndeval_scores(qrels: Subtopics, run: Run, names: list[str], **settings: Any) -> dict[str, dict[str, float]]:
    rows = [
        (topic, subtopic, document, int(grade))
        for topic, documents in qrels.items()
        for document, groups in documents.items()
        for subtopic, grade in groups.items()
    ]
    ranked = [(topic, document, score) for topic, scores in run.items() for document, score in scores.items()]
    found: dict[str, dict[str, float]] = ndeval.RelevanceEvaluator(rows, names, **settings).evaluate(ranked)
    return found


NDEVAL = {
    "ERR-IA": "ERR_IA",
    "nERR-IA": "nERR_IA",
    "alpha-DCG": "alpha_DCG",
    "alpha-nDCG": "alpha_nDCG",
    "P-IA": "P_IA",
    "strec": "StRecall",
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
}


# Powers of two: elsewhere sums that are equal differ in their last digit, and ndeval's greedy choice follows the digit.
@pytest.mark.parametrize(("alpha", "rel"), [(0.5, 1), (0.5, 2), (0.25, 1), (0.75, 2), (0.0, 1), (1.0, 1)])
def test_ndeval_agrees_on_every_measure_and_cutoff(alpha: float, rel: int) -> None:
    settings = {"alpha": alpha, "beta": 0.5 if alpha == 0.5 else 0.8}
    uncut = [(theirs, ours) for theirs, ours in NDEVAL.items() if theirs in ("NRBP", "nNRBP", "MAP-IA")]
    names = dict(uncut) | {
        f"{theirs}@{cutoff}": f"{ours}@{cutoff}"
        for theirs, ours in NDEVAL.items()
        if theirs not in dict(uncut)
        for cutoff in range(1, 21)
        if cutoff > 1 or theirs not in ("ERR-IA", "alpha-DCG")  # see below
    }
    compared = 0
    for (qrels, run), judged in zip(COLLECTIONS, JUDGED, strict=True):
        expected = ndeval_scores(qrels, run, list(names), relevance_level=rel, **settings)
        for theirs, ours in names.items():
            measure = parse_measure(ours)(rel=rel)
            measure = measure(**{k: v for k, v in settings.items() if k in measure.definition.parameters})
            topics = [topic for topic in judged.topics if all_subtopics(qrels[topic], rel)]
            values = values_of(judged, measure)
            assert all(values[topic] == 0 for topic in values.keys() - set(topics))  # ndeval divides 0 by 0
            there = np.array([expected[topic][theirs] for topic in topics])
            here = np.array([values[topic] for topic in topics])
            np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12, err_msg=ours)
            compared += int(np.count_nonzero(here))
    assert compared > 3000


@pytest.mark.parametrize(("theirs", "ours"), [("ERR-IA@1", "ERR_IA@1"), ("alpha-DCG@1", "alpha_DCG@1")])
def test_ndeval_forgets_to_divide_at_cutoff_1(theirs: str, ours: str) -> None:
    """A document relevant to two of three subtopics: 2 is not a share of anything, two thirds is."""
    qrels: Subtopics = {"1": {"a": {"1": 1, "2": 1}, "b": {"3": 1}}}
    run = {"1": {"a": 1.0}}
    assert ndeval_scores(qrels, run, [theirs])["1"][theirs] == 2
    assert per_topic(qrels, run, parse_measure(ours))["1"] == pytest.approx(2 / 3)


def test_ndeval_divides_nothing_by_nothing_where_no_subtopic_has_a_relevant_document() -> None:
    qrels: Subtopics = {"1": {"a": {"1": 0}}, "2": {"a": {"1": 1}}}
    run = {"1": {"a": 1.0}}
    assert math.isnan(ndeval_scores(qrels, run, ["nNRBP"])["1"]["nNRBP"])
    assert per_topic(qrels, run, parse_measure("nNRBP"))["1"] == 0


def test_pyndeval_orders_equal_scores_by_id_ascending_where_everybody_else_descends() -> None:
    qrels: Subtopics = {"1": {"a": {"1": 1}, "b": {"2": 0}}}
    run = {"1": {"a": 1.0, "b": 1.0}}
    assert ndeval_scores(qrels, run, ["P-IA@1"])["1"]["P-IA@1"] == 1
    assert per_topic(qrels, run, parse_measure("P_IA@1"))["1"] == per_topic(qrels, run, parse_measure("P@1"))["1"] == 0


def test_ir_measures_gives_0_for_a_second_parameterisation_in_one_call() -> None:
    """Its provider walks through the run once for each parameterisation, and the run can be walked through once."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels = [ir_measures.Qrel("1", "a", 1, "1"), ir_measures.Qrel("1", "b", 1, "2")]
    run = [ir_measures.ScoredDoc("1", "a", 2.0), ir_measures.ScoredDoc("1", "b", 1.0)]
    names = ["alpha_nDCG@5", "alpha_nDCG(alpha=0.2)@5"]
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    assert sorted(theirs.values()) == [0, 1]
    assert evaluate(qrels, run, names).scores.ravel().tolist() == [1, 1]


# --- what must hold whatever the data ---


def renamed(qrels: Subtopics, run: Run, seed: int) -> tuple[Subtopics, Run]:
    """Other names for subtopics, topic by topic, and for documents in the same order."""
    random = Random(seed)
    out: Subtopics = {}
    for topic, documents in qrels.items():
        names = random.sample(range(100), 10)
        out[topic] = {
            f"x{document}": {f"s{names[int(subtopic)]}": grade for subtopic, grade in groups.items()}
            for document, groups in random.sample(list(documents.items()), len(documents))
        }
    return out, {topic: {f"x{document}": s for document, s in scores.items()} for topic, scores in run.items()}


RENAMED = [(JUDGED[i], judged_by_subtopics(*renamed(*COLLECTIONS[i], i))) for i in range(3)]


@pytest.mark.parametrize("measure", SEARCHLESS, ids=str)
def test_names_of_subtopics_and_documents_and_the_order_of_lines_do_not_matter(measure: Measure) -> None:
    for judged, other in RENAMED:
        assert values_of(other, measure) == pytest.approx(values_of(judged, measure), rel=1e-12)


def test_the_exact_ideal_does_not_depend_on_the_order_of_ids() -> None:
    """The greedy one does: of two documents that gain the same it takes the greater id, and goes on from there."""
    shapes = [{"1", "2"}, {"1", "3"}, {"2", "4"}]
    run = {"1": {"none": 1.0, "a": 0.5}}
    values = {"greedy": set(), "exact": set()}  # type: dict[str, set[float]]
    for order in itertools.permutations(shapes):
        qrels: Subtopics = {"1": {d: dict.fromkeys(sorted(s), 1.0) for d, s in zip("xyz", order, strict=True)}}
        qrels["1"]["a"] = {"1": 1.0}
        for way, seen in values.items():
            seen.add(round(per_topic(qrels, run, parse_measure(f"alpha_nDCG(alpha=1, ideal='{way}')@2"))["1"], 12))
    assert len(values["exact"]) == 1
    assert len(values["greedy"]) == 2


LONGER = [
    judged_by_subtopics(qrels, {t: scores | {f"new{i}": -1.0 - i for i in range(5)} for t, scores in run.items()})
    for qrels, run in COLLECTIONS
]


@pytest.mark.parametrize("measure", SEARCHLESS, ids=str)
def test_values_are_in_range_topics_apart_and_untouched_by_what_follows(measure: Measure) -> None:
    low, high = measure.definition.range
    for found, longer in zip(JUDGED, LONGER, strict=True):
        values = measure.per_topic(found)
        assert values.shape == (len(found.topics),)
        assert np.all((values >= low) & (values <= high + 1e-12))
        alone = [measure.per_topic(found.select(np.array([t])))[0] for t in range(len(found.topics))]
        assert values.tolist() == alone
        assert measure.per_topic(longer).tolist() == values.tolist()


@pytest.mark.parametrize(
    ("ours", "plain"),
    [
        ("alpha_DCG(alpha=0, norm='none')@10", "DCG(gain={1: 1, 2: 1, 3: 1})@10"),
        ("alpha_nDCG(alpha=0)@10", "nDCG(gain={1: 1, 2: 1, 3: 1})@10"),
        ("StRecall@5", "Success@5"),
        ("AP_IA", "AP"),
        ("AP_IA(rel=2)@7", "AP(rel=2)@7"),
        ("P_IA@5", "P@5"),
    ],
)
def test_one_subtopic_leaves_the_plain_measure(ours: str, plain: str) -> None:
    qrels, run = generated(20, subtopics=1)
    results = evaluate(qrels, run, [ours, plain])
    assert results.scores[0, 0].tolist() == pytest.approx(results.scores[0, 1].tolist(), rel=1e-12)
    assert results.scores[0, 0].max() > 0


def test_one_subtopic_leaves_err_with_a_highest_grade_of_1() -> None:
    qrels, run = generated(21, subtopics=1, grades=(0, 1))
    qrels["1"]["d0"] = {"1": 1}
    results = evaluate(qrels, run, ["ERR_IA(norm='none')@10", "ERR(max_grade=1)@10", "NRBP(alpha=0)", "RBP(p=0.5)"])
    assert results.scores[0, 0].tolist() == pytest.approx(results.scores[0, 1].tolist(), rel=1e-12)
    assert results.scores[0, 2].tolist() == pytest.approx(results.scores[0, 3].tolist(), rel=1e-12)


def test_measures_of_means_are_exact_under_ties_and_the_others_are_sampled() -> None:
    """All orders of four tied documents, averaged."""
    qrels: Subtopics = {"1": {"a": {"1": 1, "2": 1}, "b": {"2": 1}, "c": {"3": 1}, "d": {"1": 0}}}
    tied = {"1": dict.fromkeys("abcd", 1.0)}
    for name in ("StRecall@2", "AP_IA", "P_IA@3", "alpha_nDCG@3", "ERR_IA@2", "NRBP"):
        measure = parse_measure(name)
        orders = [{"1": {d: -float(i) for i, d in enumerate(order)}} for order in itertools.permutations("abcd")]
        mean = math.fsum(per_topic(qrels, order, measure)["1"] for order in orders) / len(orders)
        results = evaluate(qrels, tied, measure, policy=Policy(ties="expected", samples=400))
        exact = measure.traits.exact_ties
        assert exact == (name in ("StRecall@2", "AP_IA", "P_IA@3"))
        assert results.scores[0, 0, 0] == pytest.approx(mean, abs=1e-12 if exact else 0.05)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_bounds_are_refused_with_the_reason(measure: Measure) -> None:
    asked = measure @ 5 if measure.definition.required else measure
    with pytest.raises(UsageError, match=f"{measure.name} has no bounds.*besides its grade"):
        evaluate(*COLLECTIONS[0], asked, bounds=True)


def test_without_subtopics_a_measure_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="NRBP needs judgements for each subtopic"):
        evaluate(read_qrels({"1": {"a": 1}}), {"1": {"a": 1.0}}, "NRBP")


# --- the command line ---


QRELS = "1 1 a 1\n1 2 a 2\n1 2 b 1\n1 3 c 1\n1 0 d 0\n"
RUN = "1 Q0 a 1 3 x\n1 Q0 d 2 2 x\n1 Q0 c 3 1 x\n"


def command(folder: Path, *arguments: str) -> Outcome:
    (folder / "diversity.qrels").write_text(QRELS)
    (folder / "x.run").write_text(RUN)
    return command_line("evaluate", folder / "diversity.qrels", folder / "x.run", *arguments)


def test_a_measure_that_needs_subtopics_gets_them_and_the_others_the_highest_grade(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", "alpha_nDCG@20", "-m", "StRecall@1", "-m", "P@10", "-m", "CG@1", "-f", "trec")
    assert done.exit == 0, done.stderr
    values = {line.split()[0]: float(line.split()[2]) for line in done.stdout.splitlines()}
    expected = (2 + 1 / 2) / (2 + 1 / math.log2(3) + 0.5 / 2)
    assert values == {"alpha_nDCG@20": pytest.approx(expected, abs=5e-5), "StRecall@1": 0.6667, "P_10": 0.2, "CG@1": 2}


def test_subtopics_can_be_asked_for_where_no_measure_needs_them(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", "P@10", "-f", "trec", "--judgements", "subtopics")
    assert done.exit == 0
    assert done.stdout.split()[-1] == "0.2000"


def test_otherwise_the_second_grade_is_an_error_that_knows_what_to_do(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", "P@10")
    assert done.exit == 3
    assert "diversity.qrels:2: document 'a' is given a second grade" in done.stderr
    assert "--judgements subtopics" in done.stderr


def test_bounds_are_refused_at_the_command_line(tmp_path: Path) -> None:
    done = command(tmp_path, "-m", "NRBP", "--bounds")
    assert done.exit == 2
    assert "NRBP has no bounds" in done.stderr


def test_plain_judgements_taken_for_subtopics_are_told(tmp_path: Path) -> None:
    """A measure of diversity reads the second column as the subtopic, which in plain judgements is 0 everywhere."""
    qrels = tmp_path / "plain.qrels"
    qrels.write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"a": 1.0}}
    assert [w.code for w in evaluate(qrels, run, "alpha_nDCG@2").warnings] == ["one-subtopic"]
    assert not evaluate(qrels, run, "nDCG@2").warnings
    qrels.write_text("1 0 a 1\n1 1 b 1\n2 0 a 1\n")
    assert not evaluate(qrels, run, "alpha_nDCG@2").warnings
