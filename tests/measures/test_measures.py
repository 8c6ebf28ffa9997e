"""What holds for every registered measure, whatever it measures. All of it reads the registry."""

from __future__ import annotations

import copy
import doctest
import math
import pickle
import subprocess
import sys
from ast import literal_eval
from collections.abc import Callable
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
import reference
from cranfield import Measure, Policy, UsageError, _core, evaluate, measures
from cranfield.judged import Floats, Judged, relstring
from cranfield.measures import all_measures, as_measures, parse_measure, parse_measures
from cranfield.measures.definition import AGGREGATES, EVERYWHERE
from cranfield.measures.registry import MEASURES as REGISTRY
from generate import (
    AT,
    SHAPES,
    Collection,
    Judgements,
    Rankings,
    all_variants,
    collection,
    collections,
    cut_inside,
    negative_grades,
    other_values,
    ranking,
    tied,
    variants,
)

COLLECTIONS = collections()
MEASURES = list(all_measures())
VARIANTS = list(all_variants())
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=str)
every_variant = pytest.mark.parametrize("measure", VARIANTS, ids=str)
every_collection = pytest.mark.parametrize("made", COLLECTIONS, ids=str)


def judge(qrels: Judgements, run: Rankings) -> Judged:
    return cranfield.judged.judge(cranfield.read_run(run), cranfield.read_qrels(qrels))


JUDGED = [(made, judge(made.qrels, made.run)) for made in COLLECTIONS]


def scores_of(qrels: Any, run: Any, policy: Policy | None = None) -> dict[str, dict[str, float]]:
    """{topic: {measure: score}} in every parameterisation."""
    (scores,) = evaluate(qrels, run, VARIANTS, policy=policy).per_topic().values()
    return scores


def reference_topic(made: Collection, topic: str) -> reference.Topic:
    judgements = made.qrels[topic]
    scores = made.run.get(topic, {})
    documents = ranking(scores)
    ranked = [judgements.get(document) for document in documents]
    highest = max(grade for of_topic in made.qrels.values() for grade in of_topic.values())
    return reference.Topic(ranked, list(judgements.values()), highest, [scores[document] for document in documents])


def reference_value(measure: Measure, topic: reference.Topic) -> float:
    return reference.evaluate(measure.definition.name, topic, measure.parameters)


@every_measure
def test_has_a_reference_to_be_compared_with(measure: Measure) -> None:
    if measure.definition.needs is None:
        reference.of(measure.definition.name)


DEEP = [m @ 50 for m in MEASURES if m.definition.at == "cutoff" and m.definition.needs is None]  # below every list


# Values that no list of values leads to, and parameters that change what others mean.
TOLD = [
    *(
        "InterpolatedAP(points=9)",
        "InterpolatedAP(points=10)",
        "AP(rel=2, over='seen')@4",
        "ESL(wanted=3, counting='all')",
    ),
    *(
        f"{name}(rel=2, weight='linear', of='returned'){at}"
        for name in ("Satisfaction", "Frustration")
        for at in ("", "@4")
    ),
    *(f"{name}(gain='exp', ideal='retrieved'){at}" for name in ("nDCG", "NCG") for at in ("", "@2", "@4")),
    "nDCG(gain={0: -1, 1: 3, 2: 2}, base=2, ideal='retrieved')@4",
]


@pytest.mark.parametrize("measure", [*cut_inside(VARIANTS), *DEEP, *map(parse_measure, TOLD)], ids=str)
def test_agrees_with_the_slow_reference(measure: Measure) -> None:
    for made, judged in JUDGED:
        for topic, value in zip(judged.topics, measure.per_topic(judged).tolist(), strict=True):
            expected = reference_value(measure, reference_topic(made, topic))
            assert value == pytest.approx(expected, rel=1e-12, abs=1e-12), (made, topic)


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.definition.needs is None], ids=str)
def test_every_parameter_changes_some_value(measure: Measure) -> None:
    """Otherwise nothing here would notice that it is ignored. Some count only beside another: see TOGETHER."""
    definition = measure.definition
    for name in definition.parameters.keys() - EVERYWHERE:
        one = measure(**TOGETHER.get((definition.name, name), {}))
        if name == definition.at:
            plain, *changed = [one @ value for value in AT_VALUES[name]]
        else:
            plain = one @ AT_VALUES[str(definition.at)][1] if definition.required else one
            changed = [plain(**{name: value}) for value in other_values(measure, name)]
        for other in changed:
            assert any(plain.per_topic(judged).tolist() != other.per_topic(judged).tolist() for _, judged in JUDGED)
            for made, judged in JUDGED[:6]:
                for topic, value in zip(judged.topics, other.per_topic(judged).tolist(), strict=True):
                    expected = reference_value(other, reference_topic(made, topic))
                    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12), (other, made, topic)


# Values of what is written after @; and parameters that change nothing unless another has a value of its own.
AT_VALUES: dict[str, list[Any]] = {"cutoff": [1, 3, 7], "recall": [0.0, 0.35, 0.8], "multiple": [0.3, 1.2, 2]}
TOGETHER: dict[tuple[str, str], dict[str, Any]] = {
    ("Utility", "documents"): {"d": 2},
    ("RecallEffort", "rel"): {"expected": 2},
    ("Frustration", "of"): {"cutoff": 10},
}


rankings_of_grades = st.lists(st.sampled_from([None, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]), max_size=25)


@pytest.mark.parametrize("family", sorted({measure.definition.family for measure in VARIANTS}))
@settings(max_examples=12)
@given(topics=st.lists(st.tuples(rankings_of_grades, rankings_of_grades), min_size=2, max_size=4))
def test_agrees_with_the_slow_reference_on_any_ranking(
    family: str, topics: list[tuple[list[float | None], list[float | None]]]
) -> None:
    """What is drawn is judged once for a whole family: drawing takes longer than scoring."""
    qrels: Judgements = {"0": {"the best": 4.0}}
    run: Rankings = {"0": {"the best": 1.0}}
    for number, (ranked, missed) in enumerate(topics, start=1):
        run[str(number)] = {f"d{i}": -float(i) for i in range(len(ranked))}
        grades = {f"d{i}": grade for i, grade in enumerate(ranked)} | {f"m{i}": grade for i, grade in enumerate(missed)}
        qrels[str(number)] = {document: grade for document, grade in grades.items() if grade is not None}
    qrels = {topic: judgements for topic, judgements in qrels.items() if judgements}
    run = {topic: scores for topic, scores in run.items() if scores}
    made = Collection("drawn", qrels, run)
    judged = judge(qrels, run)
    for measure in VARIANTS:
        if measure.definition.family == family:
            for topic, value in zip(judged.topics, measure.per_topic(judged).tolist(), strict=True):
                expected = reference_value(measure, reference_topic(made, topic))
                assert value == pytest.approx(expected, rel=1e-12, abs=1e-12), (measure, topic)


@every_variant
def test_a_topic_scored_alone_has_the_same_value_to_the_bit(measure: Measure) -> None:
    for made, judged in JUDGED:
        together = measure.per_topic(judged)
        alone = [measure.per_topic(judged.select(np.array([t])))[0] for t in range(len(judged.topics))]
        assert together.tolist() == alone, made


@every_collection
def test_what_a_run_answers_elsewhere_does_not_change_a_topic(made: Collection) -> None:
    whole = scores_of(made.qrels, made.run)
    for topic in made.run.keys() & made.qrels.keys():
        assert scores_of(made.qrels, {topic: made.run[topic]})[topic] == whole[topic]


@every_variant
def test_topics_in_another_order_keep_their_values(measure: Measure) -> None:
    for made, judged in JUDGED:
        backwards = np.arange(len(judged.topics))[::-1]
        values = measure.per_topic(judged.select(backwards))
        assert values.tolist() == measure.per_topic(judged)[backwards].tolist(), made


@every_variant
def test_values_are_one_float_a_topic_within_the_stated_range(measure: Measure) -> None:
    low, high = measure.definition.range
    for made, judged in JUDGED:
        values = measure.per_topic(judged)
        assert values.shape == (len(judged.topics),)
        assert values.dtype == np.float64
        assert np.all((values >= low - 1e-12) & (values <= high + 1e-12)), made


@every_variant
def test_scoring_does_not_write_into_its_input(measure: Measure) -> None:
    for made in COLLECTIONS:
        judged = judge(made.qrels, made.run)
        arrays = [judged.rank, judged.grade, judged.tie_first, judged.tie_size, judged.retrieved, judged.pool.grades]
        before = [array.copy() for array in arrays]
        first = measure.per_topic(judged).copy()
        again = measure.per_topic(judged)
        assert first.tolist() == again.tolist()
        assert all(np.array_equal(old, new) for old, new in zip(before, arrays, strict=True)), made


@every_collection
def test_renaming_documents_in_their_order_changes_nothing(made: Collection) -> None:
    documents = sorted({d for table in (made.qrels, made.run) for of_topic in table.values() for d in of_topic})
    renamed = {document: f"é{number:09}" for number, document in enumerate(documents)}

    def rename(table: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        return {topic: {renamed[d]: value for d, value in of_topic.items()} for topic, of_topic in table.items()}

    assert scores_of(rename(made.qrels), rename(made.run)) == scores_of(made.qrels, made.run)


def shuffled(table: dict[str, dict[str, float]], random: Random) -> dict[str, dict[str, float]]:
    topics = random.sample(sorted(table), len(table))
    return {topic: dict(random.sample(sorted(table[topic].items()), len(table[topic]))) for topic in topics}


@every_collection
def test_the_order_of_dictionary_keys_does_not_matter(made: Collection) -> None:
    random = Random(made.name)
    one = evaluate(made.qrels, made.run, VARIANTS)
    other = evaluate(shuffled(made.qrels, random), shuffled(made.run, random), VARIANTS)
    assert one.topics == other.topics
    assert np.array_equal(one.scores, other.scores)
    assert np.array_equal(one.means, other.means)


@every_collection
def test_the_order_of_lines_does_not_matter(made: Collection, tmp_path: Path) -> None:
    random = Random(made.name)
    judgements = [f"{t} 0 {d} {g}\n" for t, of_topic in made.qrels.items() for d, g in of_topic.items()]
    # Ranks by a rule that no shuffling changes; they are not looked at.
    rows = [f"{t} Q0 {d} 1 {s} tag\n" for t, of_topic in made.run.items() for d, s in of_topic.items()]
    expected = scores_of(made.qrels, made.run)
    for number in range(2):
        qrels, run = tmp_path / f"{number}.qrels", tmp_path / f"{number}.run"
        qrels.write_text("".join(random.sample(judgements, len(judgements))))
        run.write_text("".join(random.sample(rows, len(rows))))
        assert scores_of(qrels, run) == expected


@pytest.mark.parametrize(
    "scale", [lambda s: s * 4 + 3, lambda s: math.atan(s / 64), lambda s: s - 1e6], ids=["linear", "atan", "shift"]
)
def test_only_the_order_of_the_scores_matters(scale: Callable[[float], float]) -> None:
    for made in COLLECTIONS:
        scaled = {topic: {d: scale(s) for d, s in of_topic.items()} for topic, of_topic in made.run.items()}
        assert scores_of(made.qrels, scaled) == scores_of(made.qrels, made.run), made


def with_unjudged_below(run: Rankings, number: int) -> Rankings:
    return {
        topic: scores | {f"unjudged{i}": min(scores.values()) - 1 - i for i in range(number)}
        for topic, scores in run.items()
    }


@cache
def judged_with_more_below() -> list[Judged]:
    return [judge(made.qrels, with_unjudged_below(made.run, 7)) for made, _ in JUDGED]


@every_variant
def test_unjudged_documents_below_the_rest_change_nothing_that_looks_only_above(measure: Measure) -> None:
    """A measure that by its formula depends on the length of the list is told by its reference, which reads it."""
    looked_at_length = False
    for (made, judged), longer in zip(JUDGED, judged_with_more_below(), strict=True):
        topics = [reference_topic(made, topic) for topic in judged.topics]
        for topic in topics:
            reference_value(measure, topic)
            looked_at_length |= topic.length_was_read
        if not looked_at_length:
            assert measure.per_topic(longer).tolist() == measure.per_topic(judged).tolist(), made
    # The exception stays one: only these families have measures that may depend on the length.
    assert not looked_at_length or measure.definition.family in ("sets", "counts", "trec", "lecture", "orders")


@pytest.mark.parametrize("measure", [m for m in VARIANTS if "cutoff" in dict(m.given) and m.reach], ids=str)
def test_nothing_below_the_cutoff_matters(measure: Measure) -> None:
    """Documents at lower ranks may come, go or change places, even relevant ones."""
    cutoff = measure.parameters["cutoff"]
    for seed in range(3):
        made = collection("deep", seed, documents=60, judged=30, retrieved=(cutoff + 5, 40))
        expected = measure.per_topic(judge(made.qrels, made.run)).tolist()
        top = {topic: ranking(scores)[:cutoff] for topic, scores in made.run.items()}
        cut = {topic: {d: made.run[topic][d] for d in documents} for topic, documents in top.items()}
        backwards = {
            topic: {d: score if d in top[topic] else -1000.0 - score for d, score in scores.items()}
            for topic, scores in made.run.items()
        }
        longer = with_unjudged_below(made.run, 7)
        everything_below = {
            topic: {d: -5000.0 - i for i, d in enumerate(made.qrels[topic])} | scores
            for topic, scores in made.run.items()
        }
        for changed in (cut, backwards, longer, everything_below):
            assert measure.per_topic(judge(made.qrels, changed)).tolist() == expected


@every_variant
def test_a_topic_without_an_answer_counts_as_an_empty_list(measure: Measure) -> None:
    qrels: Judgements = {"1": {"a": 1, "b": 0}, "2": {"a": 3, "b": 0}, "3": {"a": 0}}
    judged = judge(qrels, {"1": {"a": 1.0}})
    expected = [reference_value(measure, reference.Topic([], list(qrels[topic].values()), 3)) for topic in "23"]
    assert measure.per_topic(judged)[1:].tolist() == pytest.approx(expected, rel=1e-14, abs=1e-15)


def same_judged(one: Judged, other: Judged) -> None:
    assert one.topics == other.topics
    for name in ("offsets", "rank", "grade", "retrieved"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name
    assert one.pool.grades.tolist() == other.pool.grades.tolist()


def without_unjudged(made: Collection) -> Rankings:
    return {
        topic: {d: s for d, s in scores.items() if made.qrels.get(topic, {}).get(d, -1) >= 0}
        for topic, scores in made.run.items()
    }


def down_to(run: Rankings, depth: int) -> Rankings:
    return {topic: {d: scores[d] for d in ranking(scores)[:depth]} for topic, scores in run.items()}


def answered(run: Rankings) -> Rankings:
    """The topics that have documents left, and one nobody asked for, since a run has at least one row."""
    return {topic: scores for topic, scores in run.items() if scores} | {"unasked": {"d1": 1.0}}


@every_collection
def test_condensed_is_the_run_without_its_unjudged_documents(made: Collection) -> None:
    condensed = judge(made.qrels, made.run).condensed()
    edited = judge(made.qrels, answered(without_unjudged(made)))
    same_judged(condensed, edited)
    assert condensed.tie_first.tolist() == edited.tie_first.tolist()
    assert condensed.tie_size.tolist() == edited.tie_size.tolist()
    policy = Policy(judged_only=True)
    assert scores_of(made.qrels, made.run, policy) == scores_of(made.qrels, answered(without_unjudged(made)))


WITH_HOLES = [(made, judged) for made, judged in JUDGED if made.name in ("mostly_unjudged-0", "negative_grades-0")]


@every_variant
def test_any_measure_can_be_asked_to_look_at_judged_documents_only(measure: Measure) -> None:
    condensed = measure(judged_only=True)
    assert parse_measure(str(condensed)) == condensed
    for made, judged in WITH_HOLES:
        assert condensed.per_topic(judged).tolist() == measure.per_topic(judged.condensed()).tolist(), made


@pytest.mark.parametrize("ties", ["docid", "best", "expected"])
def test_judged_only_is_the_same_as_a_parameter_and_as_a_policy(ties: str) -> None:
    asked = [measure(judged_only=True) for measure in VARIANTS]
    for made in collections(1, (tied, negative_grades)):
        by_parameter = evaluate(made.qrels, made.run, asked, policy=Policy(ties=ties, depth=6, samples=3))
        by_policy = evaluate(
            made.qrels, made.run, VARIANTS, policy=Policy(ties=ties, depth=6, judged_only=True, samples=3)
        )
        assert by_parameter.scores.tolist() == by_policy.scores.tolist(), made


def test_a_list_of_judged_documents_has_no_doubt_in_it() -> None:
    for name in ("AP", "nDCG@3", "Bpref", "ERR", "infAP"):
        measure = parse_measure(name)(judged_only=True)
        lower, upper = measure.bounds(relstring("-1-0-2", "2--/1"))
        assert lower.tolist() == upper.tolist() == measure.per_topic(relstring("102", "2/1")).tolist()


@every_collection
@pytest.mark.parametrize("depth", [1, 3, 10, 1000])
def test_cut_is_the_run_down_to_a_depth(made: Collection, depth: int) -> None:
    same_judged(judge(made.qrels, made.run).cut(depth), judge(made.qrels, down_to(made.run, depth)))
    assert scores_of(made.qrels, made.run, Policy(depth=depth)) == scores_of(made.qrels, down_to(made.run, depth))


@every_collection
def test_the_depth_is_cut_before_unjudged_documents_are_taken_out(made: Collection) -> None:
    """As with trec_eval's -M and -J."""
    cut = Collection(made.name, made.qrels, down_to(made.run, 4))
    edited = answered(without_unjudged(cut))
    same_judged(judge(made.qrels, made.run).cut(4).condensed(), judge(made.qrels, edited))


@every_collection
def test_tie_groups_are_the_ranks_that_share_a_score(made: Collection) -> None:
    judged = judge(made.qrels, made.run)
    for t, topic in enumerate(judged.topics):
        scores = made.run.get(topic, {})
        ranked = [scores[document] for document in ranking(scores)]
        for hit in range(judged.offsets[t], judged.offsets[t + 1]):
            score = ranked[judged.rank[hit] - 1]
            assert judged.tie_first[hit] == ranked.index(score) + 1
            assert judged.tie_size[hit] == ranked.count(score)


def test_other_grades_have_their_own_highest() -> None:
    regraded = relstring("210").regraded(np.array([1.0, 0.5, np.nan]))
    assert regraded.pool.max_grade == 1.0
    assert regraded.rank.tolist() == [1, 2]


def test_relstring_writes_what_a_join_would_give() -> None:
    by_hand = relstring("10-2/1", "/1", "--3")
    qrels: Judgements = {"1": {"a": 1, "b": 0, "d": 2, "e": 1}, "2": {"a": 1}, "3": {"c": 3}}
    same_judged(by_hand, judge(qrels, {"1": {"a": 4, "b": 3, "c": 2, "d": 1}, "3": {"a": 3, "b": 2, "c": 1}}))


def test_recall_levels_are_met_by_the_fewest_documents_that_reach_them() -> None:
    """Exactly, though 0.07 * 100 is above 7 in binary. Precision falls from one relevant document to the next here."""
    sizes = range(1, 101)
    judged = relstring(*("0".join("1" * size) for size in sizes))
    for percent in range(101):
        needed = [max(-(-percent * size // 100), 1) for size in sizes]
        expected = [count / (2 * count - 1) for count in needed]
        assert (measures.IPrec @ (percent / 100)).per_topic(judged).tolist() == expected, percent


@pytest.mark.parametrize("highest", [53, 60, 100, 1000])
def test_err_stays_a_number_when_grades_run_high(highest: int) -> None:
    """Grades from 0 to 100 are in use. There the best document satisfies for sure, as far as a double can tell."""
    qrels: Judgements = {"1": {"a": highest, "b": highest, "c": 1}}
    run: Rankings = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert evaluate(qrels, run, "ERR").mean()["run"]["ERR"] == pytest.approx(1.0)
    assert evaluate(qrels, {"1": {"c": 3.0, "a": 1.0}}, "ERR").mean()["run"]["ERR"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["P@5", "AP", "NumRel", "Bpref", "RBP", "SetP"])
def test_a_negative_grade_is_never_relevant_whatever_rel_is(name: str) -> None:
    """It says that a document was pooled and not judged; a rel below 0 must not turn it into a relevant one."""
    judged = judge({"1": {"a": 1, "b": 0, "c": -1}}, {"1": {"c": 3.0, "a": 2.0, "b": 1.0}})
    measure = parse_measure(name)
    try:
        below_zero = measure(rel=-1)
    except UsageError:
        return
    assert below_zero.per_topic(judged).tolist() == measure(rel=0).per_topic(judged).tolist()


@every_measure
def test_docstring_has_summary_formula_reference_and_example(measure: Measure) -> None:
    definition = measure.definition
    assert definition.summary.endswith("."), "the first line of the docstring is a sentence"
    assert len(definition.summary) <= 120
    assert definition.description.startswith(definition.summary)
    assert definition.part("Formula")
    assert definition.part("Reference")
    assert f"{definition.name}" in definition.example


@every_measure
def test_docstring_example_runs(measure: Measure) -> None:
    """Doctest collection passes over decorated objects without a word, so each example is run by hand."""
    names = {name: getattr(measures, name) for name in measures.__all__} | {"relstring": relstring}
    name = measure.definition.name
    test = doctest.DocTestParser().get_doctest(measure.definition.example, names, name, None, None)
    assert test.examples
    told: list[str] = []
    doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert not told, "".join(told)


@every_measure
def test_every_parameter_says_what_it_means_and_what_it_accepts(measure: Measure) -> None:
    definition = measure.definition
    for name, parameter in definition.parameters.items():
        assert parameter.help
        assert parameter.accepts, name
        default = definition.defaults.get(name)
        assert default is None or parameter.check(default), f"{name}: its own default {default!r} is refused"


@every_variant
def test_text_of_a_measure_names_it(measure: Measure) -> None:
    again = parse_measure(str(measure))
    assert again == measure
    assert str(again) == str(measure)
    assert hash(again) == hash(measure)
    assert again.parameters == measure.parameters


@every_variant
def test_trec_name_names_the_same_measure(measure: Measure) -> None:
    if measure.trec_name is not None:
        assert parse_measure(measure.trec_name) == measure
        assert parse_measure(measure.trec_name).parameters == measure.parameters


@pytest.mark.parametrize("level", [0, 1, 0.3, 0.25, 0.125, 1 / 3])
def test_trec_name_of_a_recall_level_names_the_same_level_or_is_not_given(level: float) -> None:
    """trec_eval prints two decimals: a level that needs more has no name there."""
    measure = parse_measure(f"IPrec@{level!r}")
    assert measure.trec_name is None or parse_measure(measure.trec_name) == measure


@every_measure
def test_aliases_and_averages_name_the_measure(measure: Measure) -> None:
    definition = measure.definition
    for alias in definition.aliases:
        assert parse_measures(alias) == [measure]
    for name, (aggregate, trec) in definition.averages.items():
        average = parse_measure(name)
        assert average.parameters["agg"] == aggregate
        assert average.definition.function is definition.function
        assert str(average) == name
        if trec is not None:
            assert parse_measure(trec) == average
            assert average.trec_name == trec


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.definition.required], ids=str)
def test_a_measure_without_the_cutoff_it_needs_says_so(measure: Measure) -> None:
    assert not measure.is_complete
    with pytest.raises(UsageError, match=f"{measure.name} needs a {measure.definition.at}"):
        measure.per_topic(relstring("1"))
    with pytest.raises(UsageError, match=f"{measure.name} needs a {measure.definition.at}"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, measure)


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.definition.needs is None], ids=str)
def test_every_aggregate_is_taken_by_every_measure(measure: Measure) -> None:
    complete = measure @ AT[measure.definition.at] if measure.definition.at and not measure.is_complete else measure
    for name in AGGREGATES:
        averaged = complete(agg=name)
        assert parse_measure(str(averaged)) == averaged
        for made, judged in JUDGED[:4]:
            values = averaged.per_topic(judged)
            assert values.tolist() == complete.per_topic(judged).tolist(), made
            assert averaged.aggregate(values) == pytest.approx(plain_aggregate(name, values.tolist()), rel=1e-12)


def plain_aggregate(name: str, values: list[float]) -> float:
    if name == "sum":
        return math.fsum(values)
    if name == "geometric":
        return math.exp(math.fsum(math.log(max(value, 0.00001)) for value in values) / len(values))
    if name == "harmonic":
        return 0.0 if min(values) <= 0 else len(values) / math.fsum(1 / value for value in values)
    assert name == "mean", f"a new aggregate, {name}, needs its plain form here"
    return math.fsum(values) / len(values)


def test_averages_of_known_values() -> None:
    values: Floats = np.array([0.5, 0.25, 1.0])
    assert parse_measure("AP").aggregate(values) == pytest.approx(1.75 / 3)
    assert parse_measure("GMAP").aggregate(values) == pytest.approx(0.5)
    assert parse_measure("HMAP").aggregate(values) == pytest.approx(3 / 7)
    assert parse_measure("AP(agg='sum')").aggregate(values) == 1.75


def test_zero_counts_as_the_floor_in_a_geometric_mean_and_makes_a_harmonic_mean_zero() -> None:
    values: Floats = np.array([0.0, 0.1])
    assert parse_measure("GMAP").aggregate(values) == pytest.approx(0.001)
    assert parse_measure("AP(agg='geometric')").aggregate(values) == pytest.approx(0.001)
    assert parse_measure("HMAP").aggregate(values) == 0.0


def test_topics_without_a_value_are_left_out_of_an_average() -> None:
    values: Floats = np.array([np.nan, 0.5, 0.25])
    assert parse_measure("AP").aggregate(values) == 0.375
    assert parse_measure("NumRel").aggregate(values) == 0.75
    assert math.isnan(parse_measure("AP").aggregate(np.array([np.nan])))


def test_gmap_of_an_evaluation_averages_ap_geometrically() -> None:
    qrels: Judgements = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    run: Rankings = {"1": {"a": 1.0}, "2": {"b": 2.0, "a": 1.0}}
    means = evaluate(qrels, run, ["AP", "GMAP", "HMAP", "AP(agg='geometric')", "gm_map"]).mean()["run"]
    expected = (1 * 0.5 * 1e-5) ** (1 / 3)
    assert means["AP"] == pytest.approx(0.5)
    assert means["GMAP"] == means["AP(agg='geometric')"] == pytest.approx(expected)
    assert means["HMAP"] == 0.0


@pytest.mark.parametrize("name", ["NumRel(agg='mean')", "NumRet(agg='geometric')", "NumRelRet(agg='harmonic')"])
def test_an_averaged_count_is_not_printed_as_a_whole_number(name: str) -> None:
    qrels: Judgements = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}
    results = evaluate(qrels, {"1": {"a": 1.0, "b": 1.0}, "2": {"a": 1.0}}, name)
    mean = results.mean()["run"][name]
    assert 1 < mean < 2
    assert f"{mean:.4f}" in str(results)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("  nDCG @ 10 ", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("nDCG(cutoff=10)", "nDCG@10"),
        ("nDCG(gain='linear')@10", "nDCG@10"),
        ('nDCG(gain="exp")@20', "nDCG(gain='exp')@20"),
        ("nDCG(dcg='exp-log2')@20", "nDCG(gain='exp')@20"),
        ("nDCG(dcg='log2')@20", "nDCG@20"),
        ("nDCG(gain=exp)@20", "nDCG(gain='exp')@20"),
        ("nDCG(dcg=exp-log2)@20", "nDCG(gain='exp')@20"),
        ("nDCG( gain = exp , base=2)", "nDCG(gain='exp', base=2)"),
        ("AP(agg=geometric)", "AP(agg='geometric')"),
        ("nDCG(judged_only=True, base=None)", "nDCG(judged_only=True)"),
        ("RecallEffort(over=retrieved, expected=3)", "RecallEffort(expected=3, over='retrieved')"),
        ("nDCG(gain={2: 9, 1: 3})", "nDCG(gain={1: 3, 2: 9})"),
        ("nDCG(gains={1: 3})@5", "nDCG(gain={1: 3})@5"),
        ("nDCG(gain={-1: 0.5})", "nDCG(gain={-1: 0.5})"),
        ("nDCG(base=2, gain='exp')", "nDCG(gain='exp', base=2)"),
        ("nDCG(base=None)", "nDCG"),
        ("AP", "AP"),
        ("MAP", "AP"),
        ("AP()", "AP"),
        ("AP(rel=1)", "AP"),
        ("AP(rel=1.0)", "AP"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("AP(agg='mean')", "AP"),
        ("AP(agg='geometric')", "AP(agg='geometric')"),
        ("GMAP", "GMAP"),
        ("GMAP(rel=2)@10", "GMAP(rel=2)@10"),
        ("MRR@10", "RR@10"),
        ("Precision@5", "P@5"),
        ("Recall@5", "R@5"),
        ("RPrec", "Rprec"),
        ("BPref", "Bpref"),
        ("IPrec@.3", "IPrec@0.3"),
        ("F(beta=2)@10", "F(beta=2)@10"),
        ("RBP(p=.5)", "RBP(p=0.5)"),
        ("ERR@20", "ERR@20"),
        ("InterpolatedAP(points=11)", "InterpolatedAP"),
        ("map", "AP"),
        ("gm_map", "GMAP"),
        ("gm_bpref", "GBpref"),
        ("recip_rank", "RR"),
        ("Rprec", "Rprec"),
        ("bpref", "Bpref"),
        ("11pt_avg", "InterpolatedAP"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map_cut_1000", "AP@1000"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_100", "R@100"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF"),
        ("num_q", "NumQ"),
        ("num_ret", "NumRet"),
        ("num_rel", "NumRel"),
        ("num_rel_ret", "NumRelRet"),
    ],
)
def test_notation_is_read_into_one_canonical_form(text: str, canonical: str) -> None:
    assert str(parse_measure(text)) == canonical
    assert parse_measure(text) == parse_measure(canonical)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CG@1..3", ["CG@1", "CG@2", "CG@3"]),
        ("NCG(agg=ratio)@1..2", ["NCG(agg='ratio')@1", "NCG(agg='ratio')@2"]),
        ("nDCG(gain={1: 3, 2: 9})@4..5", ["nDCG(gain={1: 3, 2: 9})@4", "nDCG(gain={1: 3, 2: 9})@5"]),
        ("P@2..3,AP,R@9..10", ["P@2", "P@3", "AP", "R@9", "R@10"]),
        ("precision@1..2", ["P@1", "P@2"]),
        ("F2@1..2", ["F(beta=2)@1", "F(beta=2)@2"]),
        ("P @ 1 .. 2", ["P@1", "P@2"]),
        ("P@2..2", ["P@2"]),
        ("F1@15,F2@15,F0.5@15", ["F@15", "F(beta=2)@15", "F(beta=0.5)@15"]),
        ("F.5@15", ["F(beta=0.5)@15"]),
        ("F2(rel=2)@15", ["F(rel=2, beta=2)@15"]),
        ("E(beta=2)@15,F(b=2)@15,SetF(b=2)", ["E(b=2)@15", "F(beta=2)@15", "SetF(beta=2)"]),
        ("IDCG@5,ICG", ["IdealDCG@5", "IdealCG"]),
    ],
)
def test_what_students_write(text: str, names: list[str]) -> None:
    assert [str(measure) for measure in parse_measures(text)] == names


def test_one_measure_is_no_range() -> None:
    told = "^'CG@1..15' names 15 measures, and one is wanted: CG@1, CG@2, CG@3, CG@4, CG@5 and 10 more$"
    with pytest.raises(UsageError, match=told):
        parse_measure("CG@1..15")


def test_the_weight_is_given_once() -> None:
    with pytest.raises(UsageError, match="gives beta twice"):
        parse_measure("F(b=2, beta=3)@5")
    with pytest.raises(UsageError, match=r"^F: beta is given twice, under two names$"):
        measures.F(b=2, beta=3)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (("E", {"beta": 2}), "E(b=2)@10"),
        (("F", {"b": 2}), "F(beta=2)@10"),
        (("nDCG", {"dcg": "exp-log2"}), "nDCG(gain='exp')@10"),
        (("nDCG", {"gains": {1: 3}}), "nDCG(gain={1: 3})@10"),
        (("INST", {"min_rel": 1}), "INST(min_grade=1)@10"),
    ],
)
def test_other_names_of_a_parameter_are_taken_in_python_as_in_notation(
    theirs: tuple[str, dict[str, Any]], ours: str
) -> None:
    name, parameters = theirs
    made = getattr(measures, name)(**parameters) @ 10
    written = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
    assert made == parse_measure(f"{name}({written})@10") == parse_measure(ours)
    with pytest.raises(UsageError, match=r"^AP has no parameter 'beta'"):
        measures.AP(beta=2)


# All rankings of the judged documents and one more, and first the list with nothing in it.
POOL = {"a": 3.0, "b": 1.0, "c": 1.0, "d": 0.0, "e": 0.0}
ANSWERS = [order for size in range(5) for order in permutations("abcdef", size)]


def test_who_answers_nothing_is_never_the_best_while_there_is_something_to_be_found() -> None:
    qrels: Judgements = {str(number): POOL for number in range(len(ANSWERS))}
    run: Rankings = {
        str(i): {document: -float(k) for k, document in enumerate(ANSWERS[i])} for i in range(len(ANSWERS))
    }
    judged = judge(qrels, {topic: scores for topic, scores in run.items() if scores})
    best = []
    for measure in (form for form in [*VARIANTS, *map(parse_measure, TOLD)] if form.sign):
        empty, *others = (measure.sign * measure.per_topic(judged)).tolist()
        if empty >= max(others):
            best.append(str(measure))
    assert best == ["Utility(c=2)"], "which pays for what is not retrieved, as it is asked to"
    losses = [form for form in VARIANTS if form.sign < 0 and form.name != "ESL"]
    for measure in losses:
        assert measure.per_topic(judged)[0] == measure.per_topic(judged).max() == 1, measure


def test_a_missing_recall_level_is_shown_as_one() -> None:
    with pytest.raises(UsageError, match=r"^IPrec needs a recall: IPrec@0\.1$"):
        as_measures("IPrec")
    with pytest.raises(UsageError, match=r"^P needs a cutoff: P\(rel=2\)@10$"):
        as_measures("P(rel=2)")


@pytest.mark.parametrize("measure", list(all_measures()), ids=str)
def test_every_formula_with_a_parameter_is_of_a_value_that_it_can_have(measure: Measure) -> None:
    for label, formula in measure.definition.formulas.items():
        assert formula
        name, _, value = label.removeprefix("Formula").removeprefix(" with ").partition("=")
        if name:
            assert measure(**{name: literal_eval(value)}).formula == formula
            assert measure.formula != formula
    assert measure.formula == measure.definition.part("Formula")


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("AP(over='seen')@5", "(1 / r_k) Σ", "(1 / R)"),
        ("AP@5", "(1 / R) Σ", "r_k"),
        ("nDCG(ideal='retrieved')@5", "of the documents of the list", "ideal ranking"),
        ("NCG(ideal='retrieved')@5", "of the documents of the list", "ideal ranking"),
        ("ESL(counting='all')", "+ (number wanted)", "with counting"),
        ("ESL", "j + i s / (r + 1)", "wanted)"),
        ("RecallEffort(over='retrieved')", "/ (number retrieved)", "rank"),
        ("Satisfaction(of='returned')", "i ≤ min(k, n)", "min(k, R)"),
        ("Frustration(of='returned')", "i ≤ min(k, n)", "all ranks"),
        ("InterpolatedAP(points=9)", "r = 0.1, 0.2, … 0.9", "… 1"),
        ("InterpolatedAP(points=10)", "r = 0.1, 0.2, … 1", "0, 0.1"),
        ("NCG(agg='ratio')@5", "CG@k of the ideal ranking", "means"),
    ],
)
def test_the_formula_is_that_of_the_parameters(text: str, has: str, lacks: str) -> None:
    formula = parse_measure(text).formula
    assert has in formula
    assert lacks not in formula


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("P.5,10", ["P@5", "P@10"]),
        ("recall_5,10", ["R@5", "R@10"]),
        ("success", ["Success@1", "Success@5", "Success@10"]),
        ("ndcg_cut", [f"nDCG@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]),
        ("iprec_at_recall", [f"IPrec@{i / 10}" for i in range(11)]),
    ],
)
def test_some_texts_of_trec_eval_name_several_measures(text: str, names: list[str]) -> None:
    assert [str(measure) for measure in parse_measures(text)] == names
    with pytest.raises(UsageError, match=f"names {len(names)} measures"):
        parse_measure(text)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "unknown measure"),
        ("nDGC@10", "did you mean nDCG"),
        ("ndcg_cutt_10", "unknown measure"),
        ("@10", "unknown measure"),
        ("AP@", "unknown measure"),
        ("nDCG@10@5", "unknown measure"),
        ("import os", "unknown measure"),
        ("AP + RR", "unknown measure"),
        ("AP.real", "unknown measure"),
        ("ndcg.1=3", "unknown measure"),
        ("set_F.2", "unknown measure"),
        ("P_5x", "unknown measure"),
        ("P_1_0", "unknown measure"),
        ("P_ 5", "unknown measure"),
        ("P_", "unknown measure"),
        ("(" * 500, "unknown measure"),
        ("AP(10)", "given by name"),
        ("AP(foo=1)", "AP has no parameter 'foo'; it has rel, over, cutoff, judged_only, agg"),
        ("AP(**{'rel': 2})", "no parameter"),
        ("NumQ@5", "NumQ takes no cutoff"),
        ("Rprec@5", "Rprec takes no cutoff"),
        ("P@0", "whole number from 1, not 0"),
        ("P@-5", "whole number from 1, not -5"),
        ("P@5.0", "whole number from 1, not 5.0"),
        ("P@True", "whole number from 1, not True"),
        ("P@'5'", "whole number from 1, not '5'"),
        ("P_0", "whole number from 1, not 0"),
        ("IPrec@1.5", "a number from 0 to 1, not 1.5"),
        ("iprec_at_recall_nan", "a number from 0 to 1, not nan"),
        ("AP(rel='x')", "rel must be a number"),
        ("AP(rel=True)", "rel must be a number"),
        ("AP(rel=1e999)", "rel must be a number"),
        ("AP(rel=nan)", "rel must be a number, not 'nan'"),
        ("AP(rel=f(2))", "a parameter is a number, a word, or a {grade: gain} table"),
        ("P@ten", "a parameter is a number"),
        ("nDCG(gain={a: 1})", "a parameter is a number"),
        ("nDCG(gain=exq)", "gain must be 'linear', 'exp' or {grade: gain}, not 'exq'; did you mean exp?"),
        ("nDCG(gain='Linear')", "not 'Linear'; did you mean linear?"),
        ("nDCG(gain=exponential)@5", "{grade: gain}, not 'exponential'; did you mean exp?"),
        ("nDCG@5(gain=exp)", "'nDCG@5(gain=exp)': the cutoff comes last: nDCG(gain=exp)@5"),
        ("IPrec@20", "a number from 0 to 1, not 20; 20 % is written IPrec@0.2"),
        ("IPrec(rel=2)@50", "50 % is written IPrec(rel=2)@0.5"),
        ("iprec_at_recall_20", "20 % is written IPrec@0.2"),
        ("IPrec@10%", "'IPrec@10%': recall is written as a share: IPrec@0.1"),
        ("IPrec(rel=2)@10 %", "recall is written as a share: IPrec(rel=2)@0.1"),
        ("P@10%", "'P@10%': a cutoff is a number of documents: P@10"),
        ("SetP@10%", "unknown measure"),
        ("P@1,2,3", "the measure is named again: write P@1,P@2,P@3, P@1..3 or P.1,2,3"),
        ("R@1,5", "the measure is named again: write R@1,R@5 or recall.1,5"),
        ("NCG(agg=ratio)@1,2", "write NCG(agg=ratio)@1,NCG(agg=ratio)@2 or NCG(agg=ratio)@1..2"),
        ("P@1..3,7", "the measure is named again: write P@1..3,P@7"),
        ("P@3..1", "'P@3..1': a range goes from the smaller cutoff to the larger: P@1..3"),
        ("P@..5", "'P@..5': a range is from one cutoff to another, as in P@1..15"),
        ("P@1..", "a range is from one cutoff to another, as in P@1..15"),
        ("P@1..x", "a range is from one cutoff to another"),
        ("P@0..3", "whole number from 1, not 0"),
        ("P@1..2000", "'P@1..2000' would be 2,000 measures; a range has at most 1,000"),
        ("SetP@1..3", "SetP takes no cutoff"),
        ("IPrec@0.1..0.9", "recall levels are named each, as in iprec_at_recall.0.1,0.2,0.3"),
        ("IPrec@0..1", "'IPrec@0..1': a range is of cutoffs, as in P@1..15"),
        ("nonsuch@1..3", "unknown measure 'nonsuch'"),
        ("spearman", "unknown measure 'spearman'; `cranfield measures` lists them"),
        ("kappa", "unknown measure 'kappa'; `cranfield measures` lists them"),
        ("nDCG(gain=quadratic)", "{grade: gain}, not 'quadratic'"),
        ("AP(agg=geometrik)", "harmonic, sum, ratio, not 'geometrik'; did you mean geometric?"),
        ("nDCG(ideal=retrived)@5", "ideal must be 'judged' or 'retrieved', not 'retrived'; did you mean retrieved?"),
        ("AP(rel=[1])", "rel must be a number"),
        ("AP(rel=1" + 400 * "0" + ")", "rel must be a number"),
        ("AP(agg='median')", "agg must be mean, geometric, harmonic, sum"),
        ("AP(agg=[1])", "agg must be mean, geometric, harmonic, sum"),
        ("RBP(p=1)", "between 0 and 1, not 1"),
        ("RBP(p=0)", "between 0 and 1, not 0"),
        ("F(beta=-1)@5", "beta must be a number from 0, not -1"),
        ("nDCG(base=1)", "above 1, not 1"),
        ("nDCG(gain='foo')", "'linear', 'exp' or {grade: gain}, not 'foo'"),
        ("nDCG(gain={})", "'linear', 'exp' or {grade: gain}"),
        ("nDCG(gain={'a': 1})", "'linear', 'exp' or {grade: gain}"),
        ("nDCG(gain={1: 2, 'a': 3})", "'linear', 'exp' or {grade: gain}"),
        ("nDCG(gain={1: 2, None: 3})", "'linear', 'exp' or {grade: gain}"),
        ("nDCG(gain={[1]: 2})", "{grade: gain}"),
        ("nDCG(gain=open)", "{grade: gain}, not 'open'"),
        ("nDCG(gain=__import__('os'))", "a parameter is a number"),
        ("InterpolatedAP(points=12)", "points must be 11, 10 or 9, not 12"),
        ("ERR(max_grade=0)", "above 0, not 0"),
        # What is accepted is applied: nothing is passed over or overruled in silence.
        ("nDCG(dcg='foo')", "dcg"),
        ("P(dcg='log2')@5", "P has no parameter 'dcg'"),
        ("P(gains={1: 3})@5", "P has no parameter 'gain"),
        ("AP(rel=1, rel=2)", "rel"),
        ("AP(cutoff=5)@10", "cutoff"),
        ("nDCG(gain={1: 3}, gains={1: 2})", "gain"),
        ("nDCG(gain='linear', dcg='exp-log2')", "gain"),
    ],
)
def test_a_text_that_names_no_measure_is_refused_with_a_reason(text: str, fragment: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_measures(text)
    assert fragment in str(error.value)


def test_numbers_of_numpy_are_numbers() -> None:
    ten: Any = np.int64(10)
    assert str(measures.nDCG @ ten) == "nDCG@10"
    assert str(measures.AP(rel=np.int64(2))) == "AP(rel=2)"
    assert str(measures.RBP(p=np.float64(0.5))) == "RBP(p=0.5)"


@pytest.mark.parametrize("name", ["P", "Judged", "nDCG", "AP", "RR", "R", "ERR"])
@pytest.mark.parametrize("cutoff", [2**31, 2**63, 10**30])
def test_a_cutoff_beyond_every_list_is_either_used_or_refused(name: str, cutoff: int) -> None:
    try:
        measure = parse_measure(f"{name}@{cutoff}")
    except UsageError:
        return
    assert measure.per_topic(relstring("101-")).tolist() == pytest.approx(
        [reference_value(measure, reference.Topic([1, 0, 1, None], [1, 0, 1], 1))]
    )


def test_equal_measures_print_alike() -> None:
    """Results are keyed by text: one measure must not have two."""
    for one, other in [("IPrec@1", "IPrec@1.0"), ("AP(rel=2)", "AP(rel=2.0)"), ("nDCG(base=2)", "nDCG(base=2.0)")]:
        if parse_measure(one) == parse_measure(other):
            assert str(parse_measure(one)) == str(parse_measure(other))


def test_variants_reach_every_parameter_of_every_measure() -> None:
    """The properties above are only as good as the parameterisations they run on."""
    assert len(MEASURES) >= 20
    for measure in MEASURES:
        varied = {name for variant in variants(measure) for name, _ in variant.given}
        assert varied >= measure.definition.parameters.keys() - set(EVERYWHERE)
    assert len(COLLECTIONS) >= len(SHAPES)


def test_families_are_the_modules_that_define_measures() -> None:
    modules = Path(measures.__file__).parent.glob("*.py")
    assert sorted(REGISTRY.modules()) == sorted(path.stem for path in modules if "\n@measure(" in path.read_text())


def test_a_name_means_the_same_whichever_families_are_loaded() -> None:
    """It is looked for family by family: no two measures may share one, nor may trec_eval's name of another."""
    owner: dict[str, str] = {}
    for definition in (measure.definition for measure in MEASURES):
        for name in (definition.name, *definition.aliases, *definition.averages):
            assert owner.setdefault(name, definition.name) == definition.name
    for name, whose in owner.items():
        assert {one.definition.name for one in parse_measures(name)} == {whose}


def printed(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(("name", "loaded"), [("AP", 1), ("P.5,10", 1), ("nDCG@10", 2), ("ndcg_cut_10", 2), ("RBP", 3)])
def test_a_name_loads_no_family_beyond_its_own(name: str, loaded: int) -> None:
    code = (
        "import sys; from cranfield.measures.notation import MEASURES, parse_measures\n"
        f"parse_measures({name!r})\n"
        "print(*(f for f in MEASURES.modules() if f'cranfield.measures.{f}' in sys.modules))"
    )
    assert printed(code).split() == list(REGISTRY.modules()[:loaded])


def test_a_measure_of_ones_own_may_take_the_name_of_ours() -> None:
    code = (
        "import cranfield, numpy\n"
        "@cranfield.measure()\n"
        "def ERR(judged, *, cutoff=None): return numpy.full(len(judged.topics), 0.25)\n"
        "names = [measure.name for measure in cranfield.measures.all_measures()]\n"
        "parsed = cranfield.measures.parse_measure('ERR@5')\n"
        "print(names.count('ERR'), *parsed.per_topic(cranfield.judged.relstring('1')))"
    )
    assert printed(code) == "1 0.25"


def test_threads_may_ask_for_measures_of_different_families_at_once() -> None:
    """In a new interpreter, where families load while others are looked through."""
    code = (
        "import sys, threading; from cranfield.measures.notation import parse_measures\n"
        "sys.setswitchinterval(1e-6)\n"
        "names = ['nDCG@10', 'infAP', 'ESL', 'TBG', 'Compat', 'statAP', 'PLast', 'U', 'P@5']\n"
        "start, found = threading.Barrier(len(names)), {}\n"
        "def ask(name): start.wait(); found[name] = parse_measures(name)\n"
        "threads = [threading.Thread(target=ask, args=(name,)) for name in names]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(len(found))"
    )
    assert [printed(code) for _ in range(5)] == ["9"] * 5


def test_every_measure_can_be_copied_and_pickled() -> None:
    for measure in [*all_variants(), cranfield.measures.parse_measure("GMAP")]:
        for twin in (copy.deepcopy(measure), pickle.loads(pickle.dumps(measure))):
            assert twin == measure
            assert twin.definition is measure.definition
    results = cranfield.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, ["AP", "nDCG(gain='exp')@5"])
    assert pickle.loads(pickle.dumps(results)).to_dict() == results.to_dict()


def test_a_pickle_reaches_families_that_are_not_loaded() -> None:
    pickled = pickle.dumps(cranfield.measures.parse_measure("INST(T=3)"))
    assert printed(f"import pickle; print(pickle.loads({pickled!r}))") == "INST(T=3)"


def test_the_nearest_names_are_those_of_all_families() -> None:
    code = (
        "import cranfield\ntry: cranfield.measures.parse_measure('infAPP')\n"
        "except cranfield.UsageError as error: print(error)"
    )
    assert printed(code) == "unknown measure 'infAPP'; did you mean infAP or xinfAP?"


@pytest.mark.parametrize("given", ["1.0", "np.ones(1)", "np.ones((2, 2))", "None"])
def test_a_measure_of_ones_own_must_give_a_value_for_each_topic(given: str) -> None:
    code = (
        "import cranfield, numpy as np\n"
        "@cranfield.measure()\n"
        f"def Own(judged): return {given}\n"
        "try: cranfield.evaluate({'1': {'a': 1}, '2': {'a': 1}}, {'1': {'a': 1.0}}, 'Own')\n"
        "except cranfield.UsageError as error: print(error)"
    )
    assert printed(code) == "Own must give an array of 2 values, one for each topic"


def test_a_parameter_that_nothing_describes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Own: nothing says what depth is; describe it: @measure\(depth=Parameter"):

        @cranfield.measure()
        def Own(judged: Judged, *, depth: int = 1) -> Any: ...


@pytest.mark.parametrize("sums", ["total", "running", "product_above", "best_from_here"])
def test_sums_over_hits_refuse_what_is_not_a_value_for_each(sums: str) -> None:
    judged = relstring("10-2/1")
    for length in (0, 2, 4):
        with pytest.raises(UsageError, match=f"{length} values where there must be one for each of 3 hits"):
            getattr(judged, sums)(np.ones(length))


@pytest.mark.parametrize("sums", ["segment_sum", "running_sum", "product_above", "best_from_here"])
@pytest.mark.parametrize("kind", [np.bool_, np.float64])
@pytest.mark.parametrize(
    ("offsets", "length", "told"),
    [
        ([0, 2, 3], 2, "2 values where there must be one for each of 3 entries"),
        ([0, 2, 3], 4, "4 values where there must be one for each of 3 entries"),
        ([0, 2**40], 3, f"3 values where there must be one for each of {2**40} entries"),
        ([0], 1, "1 values where there must be one for each of 0 entries"),
        ([], 0, "offsets of segments begin at 0"),
        ([1, 3], 3, "offsets of segments begin at 0"),
        ([-2, 3], 3, "offsets of segments begin at 0"),
        ([0, 3, -5, 3], 3, "offsets of segments never fall"),
        ([0, 9, 3], 3, "offsets of segments never fall"),
    ],
    ids=str,
)
def test_sums_over_segments_stay_within_their_values_whoever_calls(
    sums: str, kind: type[np.generic], offsets: list[int], length: int, told: str
) -> None:
    x: Any = np.ones(length, dtype=kind)
    with pytest.raises(UsageError, match=f"^{told}$"):
        getattr(_core, sums)(np.array(offsets, dtype=np.int64), x)


def test_what_values_are_missing_for_is_named() -> None:
    judged = relstring("10-2/1")
    for refused, things in (
        (judged.total, "3 hits"),
        (judged.pool.total, "4 judgements"),
        (judged.unjudged.total, "1 unjudged documents"),
        (judged.unjudged.running, "1 unjudged documents"),
    ):
        with pytest.raises(UsageError, match=f"^0 values where there must be one for each of {things}$"):
            refused(np.ones(0))


@pytest.mark.parametrize("kind", [np.bool_, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 2])
def test_sums_over_topics_take_marks_and_numbers(kind: type[np.generic], step: int) -> None:
    x: Any = np.repeat([1, 0, 1, 1, 0, 1], step).astype(kind)[::step]
    offsets = np.array([0, 2, 2, 6])
    assert _core.segment_sum(offsets, x).tolist() == [1, 0, 3]
    assert _core.running_sum(offsets, x).tolist() == [1, 1, 1, 2, 2, 3]
    assert _core.segment_sum(offsets, (2 * x).astype(kind)).tolist() == ([1, 0, 3] if kind is np.bool_ else [2, 0, 6])
