"""What documents contribute to the scores of whole runs is what `explain` says of each topic."""

from __future__ import annotations

import numpy as np
import pytest

from cranfield import Measure, Policy
from cranfield.evaluation.experiment import Experiment
from cranfield.explanation.accounts import explain
from cranfield.explanation.contributions import contributions
from cranfield.judged import relstring
from cranfield.measures import parse_measure
from generate import Collection, all_variants, graded, missing_topics, negative_grades, short_lists, tied

CUMULATIVE = [measure for measure in all_variants() if measure.traits.cumulative]
USUAL = ["nDCG@10", "AP", "RR", "P@10", "R@100", "ERR@20", "RBP", "Bpref", "Rprec", "Success@5", "DCG"]
SHAPES = (graded, tied, negative_grades, short_lists, missing_topics)
RANKINGS = ("1", "0210-3/12", "--0", "3-2-1-0/22", "0012--30123-1/0012", "22220000/", "-2-", "0/1")


def test_the_usual_measures_are_explained_for_all_topics_at_once() -> None:
    assert [name for name in USUAL if not parse_measure(name).traits.cumulative] == []


@pytest.mark.parametrize("measure", CUMULATIVE, ids=str)
def test_measures_that_say_they_are_cumulative_are(measure: Measure) -> None:
    """The score of a list cut short is the sum, so far, of what its documents contribute to that of the whole one."""
    for text in RANKINGS:
        judged = relstring(text)
        trace = measure.trace(judged)
        added = measure.working(trace).contribution
        assert added is not None
        cut = [measure.per_topic(judged.cut(rank))[0] for rank in range(1, trace.length + 1)]
        assert cut == pytest.approx(np.cumsum(added), abs=1e-12), text


def as_explained(made: Collection, measure: str, topic: str, policy: Policy, depth: int) -> dict[str, float]:
    """What each of the first documents adds, as `explain` has it."""
    experiment = Experiment(made.qrels, made.run, policy=policy)
    lines = explain(experiment, topic, measure, shown=40).accounts[0].lines
    return {line.document: line.contribution or 0.0 for line in lines}


@pytest.mark.parametrize("policy", [Policy(), Policy(ties="worst"), Policy(depth=4), Policy(judged_only=True)], ids=str)
@pytest.mark.parametrize("made", [shape(5) for shape in SHAPES], ids=repr)
def test_contributions_are_those_of_explain(made: Collection, policy: Policy) -> None:
    experiment = Experiment(made.qrels, made.run, policy=policy)
    run, topics, depth = experiment.tables()[0], list(made.qrels)[:3], 6
    names = [*USUAL, "nDCG(judged_only=True)@5", "SetP", "Satisfaction@3", "nDCG(ideal='retrieved')"]
    arrays = contributions(experiment, run, [parse_measure(name) for name in names], topics, depth)
    documents = experiment.documents(run, topics, depth)
    for name, added in zip(names, arrays, strict=True):
        assert added is not None, name
        for t, topic in enumerate(topics):
            known = as_explained(made, name, topic, policy, depth)
            expected = [known.get(document, 0.0) for document in documents[t]]  # what is condensed away adds nothing
            assert added[t, : len(expected)] == pytest.approx(expected, abs=1e-9), (name, topic)
            assert not added[t, len(expected) :].any()


def test_what_is_no_sum_has_no_contributions() -> None:
    made = graded(1)
    experiment = Experiment(made.qrels, made.run)
    measures = [parse_measure(name) for name in ("F@5", "SetP(judged_only=True)", "P@5")]
    none, needs_ranks, some = contributions(experiment, experiment.tables()[0], measures, list(made.qrels), 5)
    assert none is None
    assert needs_ranks is None, "its ranks are not those of the ranking"
    assert some is not None
