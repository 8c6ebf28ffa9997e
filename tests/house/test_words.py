"""What functions say of what they were given: each line below is a call, and `words.txt` keeps its error or warnings.

An error that names no file, or whose advice got lost, is still an error, and a warning of the wrong topics still one:
a test that looks for a word of it passes. `make record` writes the words anew; then read the diff.
"""

from __future__ import annotations

import contextlib
import io
import re
from functools import cache
from importlib import import_module
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield import CranfieldError
from places import ROOT

KEPT = Path(__file__).with_name("words.txt")

# Where the names are that calls use; those that a module alone says more with are used with its name before.
NAMES = {
    "agreement.assessment": ("assess",),
    "agreement.rankings.runs": ("Overlap",),
    "plot.curves": ("by_cutoff", "gains", "normalised_gains", "precision_recall"),
    "comparison.diagnosis": ("sliced",),
    "efficiency.timing": ("queries_of",),
    "formats.attributes": ("read_attributes",),
    "measures": ("as_measures", "named"),
    "plot.subject": ("Subject", "find_picture"),
    "pooling.analysis": ("analyse",),
    "pooling.candidates": ("pooled_runs",),
    "pooling.files": ("read_groups", "read_plan", "sample_text"),
    "pooling.judging": ("JudgingSession",),
    "pooling.making": ("make_pool",),
    "pooling.simulation": ("simulate",),
    "pooling.strata": ("parse_strata",),
    "search.grids": ("parse_grid", "points"),
    "search.index": ("build_index",),
    "search.models": ("find_model",),
    "statistics.significance": ("Sampling", "find_test"),
}
CALLED = {"agreement": "coefficients", "planning": "power"}  # where a module is called otherwise than here
MODULES = (
    "agreement", "corrections", "effects", "families", "friedman", "generalisability", "one_sided", "orderings",
    "overlap", "planning", "reproducibility", "risk", "seeds", "splitting",
)  # fmt: skip


@cache
def names() -> dict[str, Any]:
    """All that calls are made of: functions, and a small collection with what is wrong with it."""
    found: dict[str, Any] = {"cranfield": cranfield, "np": np, "io": io, "inf": inf, "nan": nan}
    for module, wanted in NAMES.items():
        found |= {name: getattr(import_module(f"cranfield.{module}"), name) for name in wanted}
    found |= {module: import_module(f"cranfield.statistics.{CALLED.get(module, module)}") for module in MODULES}
    qrels = {str(topic): {"d1": 1, "d2": 0, "d3": 2} for topic in range(1, 5)}
    a = {topic: {"d1": 3.0, "d2": 2.0, "d9": 1.0} for topic in qrels}
    long = {str(topic): {"d1": 1} for topic in range(12)}
    good, bad = ({topic: {"d1": score, "d2": 2.0} for topic in long} for score in (3.0, 1.0))
    return found | {
        "long": long,
        "good": good,
        "bad": bad,
        "Rule": cranfield.comparison.Rule,
        "Thresholds": cranfield.comparison.Thresholds,
        "gate": cranfield.gate,
        "qrels": qrels,
        "a": a,
        "b": {topic: {"d2": 3.0, "d3": 2.0} for topic in qrels},
        "elsewhere": {f"x{topic}": documents for topic, documents in a.items()},
        "judges": {"ann": qrels, "bob": {topic: {"d1": 0, "d2": 1} for topic in qrels}},
        "lengths": {"d1": 5, "d2": 3, "d3": 9, "d9": 2},
        "ducks": cranfield.texts.read_documents(
            {"1": {"title": "ducks", "text": "They swim."}, "2": {"title": "geese"}}
        ),
        "scores": np.array([[0.1, 0.2, 0.5], [0.4, 0.3, 0.1], [0.3, 0.3, 0.2]]),
        "holes": np.array([[0.1, nan, 0.5], [0.4, 0.3, 0.1]]),
        "pairs": np.array([[0, 1]]),
        "some": found["Sampling"](resamples=20),
        "one": found["overlap"].TiedRanking.of_groups([["d1"]]),
        "Training": cranfield.fusion.Training,
        "Policy": cranfield.Policy,
        "Experiment": cranfield.Experiment,
        "Reading": cranfield.Reading,
        "Question": cranfield.comparison.Question,
        "Details": cranfield.comparison.Details,
    }


CALLS = """
planning.power(0.5, 1)
planning.power(0.5, 10**10)
planning.power(inf, 10)
planning.power(0.5, 10, alpha=0)
planning.power(0.5, 10, alpha=1)
planning.power(0.5, 10, design='crossed')
planning.topics_needed(0)
planning.topics_needed(inf)
planning.topics_needed(1e-9)
planning.topics_needed(0.5, power=0.04)
planning.topics_needed(0.5, power=1)
planning.detectable_effect(1)
planning.detectable_effect(10**10)
planning.anova_power(0.1, 0.2, 1, 3)
planning.anova_power(0.1, 0, 10, 3)
planning.anova_power(nan, 0.2, 10, 3)
planning.anova_power(0.1, 0.2, 10, 1)
planning.topics_for_anova(0.1, 0.2, 1)
planning.topics_for_anova(0, 0.2, 3)
planning.sd_interval(0.1, 10, confidence=1)
cranfield.planning.power_analysis()
cranfield.planning.power_analysis(effect=0.3, difference=0.1, sd=0.2)
cranfield.planning.power_analysis(difference=0.1)
cranfield.planning.power_analysis(difference=-inf, sd=0.1)
cranfield.planning.power_analysis(difference=0.1, sd=0)
cranfield.planning.power_analysis(effect=0.3, topics=20, power=0.8)
cranfield.planning.power_analysis(effect=0.3, alpha=1.5)
cranfield.planning.power_analysis(effect=0.3, comparisons=0)
read_groups('no-group.csv')
read_plan('no-depth.csv')
cranfield.texts.read_collection('several')
cranfield.texts.read_collection('nothing')
cranfield.plan(Experiment(qrels, a), 'AP')
cranfield.diagnose(Experiment(qrels, a), 'AP')
cranfield.evaluate(Experiment(qrels, a), a, 'AP')
cranfield.evaluate(qrels, a)
cranfield.evaluate(runs=a)
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}))
cranfield.compare(qrels, {'a': a, 'b': b}, 'AP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', 't')
cranfield.diagnose(Experiment(qrels, {'a': a, 'b': b}))
cranfield.describe(Experiment(qrels, a))
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', details=Details(splits=cranfield.split(['1', '2', '3', '4', 'x', 'y', 'z', 'w'], folds=4)))
cranfield.plan(Experiment(qrels, {'a': a, 'b': b}), 'GMAP')
cranfield.plan(Experiment({'1': qrels['1']}, {'a': a, 'b': b}), 'AP')
cranfield.plan(Experiment(qrels, {'a': a, 'b': {'1': b['1'], '2': b['2']}}, policy=Policy(topics='run')), 'AP')
cranfield.planning.Aims(power=1.5)
cranfield.planning.Aims(alpha=0)
cranfield.planning.Aims(differences=(0,))

generalisability.variance_components(scores[:1])
generalisability.variance_components(holes)
generalisability.dependability(generalisability.variance_components(scores), 0)
generalisability.dependability(generalisability.variance_components(scores), confidence=1)
generalisability.topics_for_dependability(generalisability.variance_components(scores), 1)

agreement.find_coefficient('nope')
agreement.find_coefficient('kendall')(np.ones(3), np.ones(2))
agreement.find_coefficient('kendall')(np.array([1.0, nan]), np.ones(2))
orderings.Ordering(holes)
orderings.split_half_stability([agreement.find_coefficient('kendall')], orderings.Ordering(scores[:, :1]), some)
overlap.TiedRanking.of_scores(['d1'], [1.0, 2.0])
overlap.TiedRanking.of_scores(['d1'], [nan])
overlap.TiedRanking.of_groups([])
overlap.TiedRanking.of_groups([['d1'], ['d1']])
overlap.rank_biased_overlap(one, one, 1.0)
overlap.rank_biased_overlap(one, one, ties='c')
overlap.prefix_weight(0.9, 0)
overlap.overlap_at(one, one, 0)
reproducibility.reproduction_of_scores(np.ones(3), np.ones(2), some)

find_test('nope')
find_test('t').function(scores[:, :1], pairs, some)
find_test('t').function(holes, pairs, some)
find_test('bootstrap').function(scores, pairs, Sampling(resamples=0))
find_test('maxt').function(scores, pairs, Sampling(resamples=0))
find_test('welch').function(scores, pairs, some)
find_test('welch').function(np.array([[0.1, nan, nan], [nan, 0.3, 0.1]]), pairs, some)
families.tukey(scores[:1], pairs, some)
friedman.friedman(scores[:2])
one_sided.one_sided(scores[0], scores[1], 'bootstrap')
corrections.find_correction('nope')
corrections.find_correction('holm')(np.array([0.5, 1.5]))
effects.effects(scores, pairs, alpha=0)
effects.effects(scores, pairs, power=1)
effects.effects(scores, pairs, comparisons=0)
effects.equivalence(scores, pairs, 0)

cranfield.statistics.risk.risk(scores, 3)
cranfield.statistics.risk.risk(scores, 0, alpha=-1)
cranfield.statistics.risk.risk(holes, 0)
risk.t_risk(scores[:, :1], scores[0, :1])
risk.u_risk(scores, np.ones(2))
risk.u_risk(scores, np.array([0.1, nan, 0.2]))
risk.u_risk(scores[0], scores[0])
risk.z_risk(-scores)
cranfield.statistics.compare_seeds(scores, scores[:, :2])
cranfield.statistics.compare_seeds(scores, scores, confidence=1)
cranfield.statistics.compare_seeds(scores, holes)
cranfield.statistics.compare_seeds(scores[:, :1], scores[:, :1])

splitting.k_folds(['1', '2'], 3)
splitting.k_folds(['1', '2'], 1)
splitting.k_folds(['1'], 2)
splitting.k_folds(['1', '2', '1'], 2)
splitting.k_folds(['1', '2'], 2, repeats=0)
splitting.k_folds(['1', '2'], 2, seed=-1)
splitting.k_folds(['1', '2'], 2, difficulty={'1': 0.5})
splitting.hold_out(['1', '2', '3'], 0.1)
splitting.corrected_resampled_t([0.1], 8, 2)
splitting.corrected_resampled_t([0.1, 0.2], 0, 2)
splitting.corrected_resampled_t([0.1, 0.2], 8, 0)
splitting.corrected_resampled_t([0.1, 0.2], 8, 2, confidence=0)
cranfield.split(['1', '2', '3'])
cranfield.split(['1', '2', '3'], folds=2, test_share=0.5)
cranfield.split(['1', '2', '3'], folds=2, repeats=10**9)
cranfield.planning.read_splits({})
cranfield.planning.read_splits({'folds': [{'train': ['1'], 'test': ['2']}], 'seed': 'x'})
cranfield.planning.read_splits({'folds': [{'train': ['1'], 'test': ['2']}], 'stratified': 3})
cranfield.planning.read_splits({'folds': [{'train': ['1']}]})
cranfield.planning.read_splits({'folds': [{'train': ['1'], 'test': [2]}]})
cranfield.planning.read_splits({'folds': [{'train': ['1', '3', '1'], 'test': ['2']}]})
cranfield.planning.read_splits({'folds': [{'train': ['1', '3'], 'test': ['2', '3']}]})
cranfield.planning.read_splits({'folds': [{'train': ['1', '3'], 'test': ['2']}]}, ['1', '2'])

cranfield.correlate(a, elsewhere)
cranfield.correlate(a, b, depth=0)
cranfield.correlate(a, b, coefficients=[])
cranfield.correlate(a, b, p=0.5)
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), folds=3)
cranfield.search.tune(build_index(ducks), 'bm25', {}, qrels, None, grid={})
cranfield.correlate(a, b).of('nope')
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP')
cranfield.agreement.correlate_systems(Experiment(qrels, a), ['AP', 'RR'])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', other_qrels=qrels, topic_sets=[['1']])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', topic_sets=[['1'], ['2'], ['3']])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', topic_sets=[['1'], ['9']])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}, policy=Policy(topics='run')), ['AP', 'RR'])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a | elsewhere, 'b': b | elsewhere}), 'AP', other_qrels={'x1': {'d1': 1}})
cranfield.agreement.correlate_halves(Experiment({'1': qrels['1']}, {'a': a, 'b': b}), 'AP')
cranfield.agreement.reproduction(Experiment(qrels, {'a': a}, policy=Policy(topics='run')), {'b': b}, 'AP')
cranfield.agreement.reproduction(Experiment(qrels, {'a': a}), {'b': b}, 'AP', other_qrels=qrels)
cranfield.agreement.reproduction(Experiment(qrels, {'a': a, 'b': b}), {'b': b}, 'AP')
cranfield.agreement.reproduction(Experiment(qrels, {'a': a}), {'b': b}, 'GMAP')
cranfield.agreement.reproduction(Experiment(qrels | {'x1': {'d1': 1}}, {'a': a}), {'b': elsewhere}, 'AP')
assess(qrels)
assess({'ann': qrels})
assess({'ann': qrels, 'bob': {'1': {'d7': 1}}})
assess(judges, rel=nan)
assess(judges).of('nope', 'ann')

cranfield.comparison.compare_collections({}, 'AP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', details=Details(splits=cranfield.planning.Splits((cranfield.statistics.Split(('1', '2'), ('3',)),))))
cranfield.evaluate(qrels, a, 'AP', bounds=True, policy=Policy(ties='expected'))
cranfield.evaluate(qrels, a, 'AP', bounds=True, policy=Policy(grades='probabilities'))
cranfield.evaluate(qrels, a, 'R(agg="ratio")@5', bounds=True)
cranfield.evaluate(qrels, {}, 'AP')
cranfield.evaluate(qrels, {'a': 3}, 'AP')
cranfield.evaluate(qrels, a, [])
cranfield.evaluate(qrels, a, 3)
Experiment(qrels, a).evaluate('AP', figures='nope')
cranfield.evaluate(qrels, elsewhere, 'AP', policy=Policy(topics='common'))
cranfield.evaluate(cranfield.evaluation.of_judges(judges), a, 'TBG', lengths=lengths, policy=Policy(judges='mean'))
cranfield.evaluate(qrels, a, 'TBG', lengths={'d1': 9})
cranfield.evaluate(qrels, a, 'TBG')
cranfield.evaluate(qrels, a, 'AP', policy=Policy(judges='mean'))
cranfield.evaluate(qrels, a, 'AP', policy=Policy(grades='probabilities'))
cranfield.evaluate({'1': {'d1': 0}}, a, 'AP')
cranfield.evaluate({'1': {'d1': -1}}, a, 'AP')
cranfield.evaluate(qrels, a, 'xinfAP')
cranfield.evaluate(qrels, a, 'AP').of('RR')
cranfield.evaluate(qrels, {'a': a, 'b': b}, 'AP').of('AP')
cranfield.evaluate(qrels, {'a': a, 'b': b}, 'AP').of('AP', 'c')
cranfield.Policy(ties='nope')
Policy(samples=1)
Policy(seed=-1)
Policy(depth=0)
named('nope')
as_measures(3)
cranfield.measures.parse_measure('AP, RR')
cranfield.measures.parse_measure('P')(rel='x')
cranfield.measures.parse_measure('P@x')
cranfield.measures.parse_measure('AP,,RR')
cranfield.measures.parse_measure('AP(nope=1)')
cranfield.measures.parse_measure('AP(2)')
cranfield.measures.parse_measure('AP(agg="nope")')
cranfield.measures.parse_measure('RR(agg="ratio")')
cranfield.measures.parse_measure('NumRet@5')
cranfield.explain(Experiment(qrels, a), 1, 'AP')
cranfield.explain(Experiment(qrels, a), '9', 'AP')
cranfield.explain(Experiment(qrels, {'a': a, 'b': b, 'c': a}), '1', 'AP')
cranfield.explain(Experiment(qrels, a, policy=Policy(ties='expected')), '1', 'AP')
cranfield.explain(Experiment(qrels, a, policy=Policy(grades='probabilities')), '1', 'AP')
cranfield.diagnose(Experiment(qrels, {"run": a, "other": b}), ['AP', 'RR'])
cranfield.diagnose(Experiment(qrels, {"run": a, "other": b}), 'GMAP')
cranfield.diagnose(Experiment(qrels, {"run": a, "other": b}), 'AP', topics=['9'])
cranfield.diagnose(Experiment({'1': qrels['1']}, {"run": a, "other": b}), 'AP')
sliced(['1'], scores[:2, :1], {'9': {'kind': 'x'}})
read_attributes('one-column.csv')
read_attributes('names-twice.csv')
read_attributes('short.csv')
read_attributes('topic-twice.csv')

by_cutoff(Experiment(qrels, a), 'NumRet')
gains(Experiment(qrels, a), 'nope')
normalised_gains(Experiment(qrels, a), average='nope')
precision_recall(Experiment(qrels, a), ['9'])
precision_recall(Experiment(qrels, a, policy=Policy(ties='expected')), ['1'])
find_picture('nope')
find_picture('agreement').draw(Subject(experiment=Experiment(qrels, {'a': a, 'b': b}), measures=('AP', 'RR')))
find_picture('interpolated').draw(Subject(experiment=Experiment(qrels, {'a': a, 'b': b}), theme='nope'))
queries_of('ducks')
cranfield.efficiency.measure_system(lambda query: {}, [])
cranfield.efficiency.measure_system(lambda query: {}, ['ducks'], repeats=0)

make_pool({'a': a, 'b': b}, 'nope')
make_pool({'a': a, 'b': b}, 'depth', depth=0)
make_pool({'a': a, 'b': b}, 'depth', budget=0)
make_pool({'a': a, 'b': b}, 'plan')
make_pool({'a': a, 'b': b}, 'rbp:nope=1')
make_pool({'a': a, 'b': b}, 'rbp:p=2')
sample_text(make_pool({'a': a, 'b': b}, 'depth', depth=2))
JudgingSession({'a': a, 'b': b}, 'stratified')
JudgingSession({'a': a, 'b': b}, 'depth', rel=nan)
JudgingSession({'a': a, 'b': b}, 'depth').next('9')
JudgingSession({'a': a, 'b': b}, 'depth').judged('1', 'd7', 1)
pooled_runs({'a': a, 'b': b}, 3, {'a': (3, 1)})
pooled_runs({'a': a, 'b': b}, None, read_plan('plan.csv'))
parse_strata('5')
parse_strata('5:1,3:50%')
analyse(Experiment(qrels, {'a': a}), measure='AP')
analyse(Experiment(qrels, {'a': a, 'b': b}), measure='R(agg="ratio")@5')
analyse(Experiment(qrels, {'a': a, 'b': b}), measure='AP', groups={'a': 'x'})
analyse(Experiment(qrels, {'a': a, 'b': b}), measure='AP', groups={'a': 'x', 'b': 'x'})
simulate(Experiment(qrels, {'a': a, 'b': b}), ['depth'], budgets=[2]).of('rrf', 2)
read_plan('one-column.csv')
read_groups('one-column.csv')

cranfield.fuse([a])
cranfield.fuse([a, elsewhere])
cranfield.fuse([a, b], 'nope')
cranfield.fuse([a, b], norm='min-max')
cranfield.fuse([a, b], 'combsum', norm='nope')
cranfield.fuse([a, b], depth=0)
cranfield.fuse([a, b], parameters={'nope': 1})
cranfield.fuse([a, b], parameters={'k': -1})
cranfield.fuse([a, b], 'probfuse')
cranfield.fuse([a, b], 'weighted-sum', parameters={'weights': [0, 0]})
cranfield.fuse([a, b], 'weighted-sum', parameters={'weights': [1]})
cranfield.fuse([a, b], 'combsum', norm='none', parameters={}, depth=True)
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'combsum')
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'rrf', Training(measure='NumRet'))
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'rrf', Training(measure='R(agg="ratio")@5'))
cranfield.fusion.train_fusion(Experiment(elsewhere, [a, b]), 'rrf')
cranfield.fusion.train_fusion(Experiment({topic: {'d77': 1} for topic in qrels}, [a, b]), 'rrf')
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'rrf', Training(same_topics=True, splits=cranfield.split(['1', '2'], folds=2)))
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'rrf', Training(splits=cranfield.split(list(qrels), folds=2, repeats=2)))

find_model('nope')
find_model('bm25').check({'k1': -1})
find_model('bm25').check_names(['nope'])
parse_grid(['k1'], find_model('bm25'))
parse_grid(['k1=1,2', 'k1=3,4'], find_model('bm25'))
parse_grid(['k1=1,1'], find_model('bm25'))
parse_grid(['k1=x'], find_model('bm25'))
parse_grid(['k1=1:2'], find_model('bm25'))
parse_grid(['k1=2:1:0.5'], find_model('bm25'))
parse_grid(['k1=0:1:0.0000001'], find_model('bm25'))
parse_grid(['seed=1.5'], find_model('random'))
parse_grid(['sublinear=maybe'], find_model('tfidf'))
points({name: tuple(range(200)) for name in 'abc'})
build_index(cranfield.texts.read_documents({}))
build_index(cranfield.texts.read_documents({'1': 'the of'}))
ducks.text('nope')
ducks.only(['3'])
cranfield.texts.texts.Documents(('1', '2'), {'title': ['x']})
cranfield.texts.texts.Documents(('1', '2', '1'), {'title': ['x', 'y', 'z']})
cranfield.texts.read_collection(3)
cranfield.texts.read_documents([{'id': 1.5, 'text': 'x'}])
cranfield.texts.read_documents('names-twice.tsv')
cranfield.texts.read_documents('before.smart', reading=Reading(format='smart'))
cranfield.texts.read_documents('blank.txt', reading=Reading(format='smart'))
cranfield.texts.read_topics('one-column.csv', reading=Reading(format='trec'))
cranfield.texts.read_documents('blank.txt', reading=Reading(columns={'document': 'd'}))
cranfield.texts.read_topics('blank.txt', reading=Reading(judgements='plain'))
cranfield.convert(cranfield.texts.read_collection(documents=ducks), 'out', reading=Reading(format='trec'))
cranfield.texts.write_collection(cranfield.texts.read_collection(documents=ducks), 'a\\0b')
cranfield.write_run(a, io.StringIO(), format='parquet')
cranfield.efficiency.costs_of(['a.run'], 'nope')

cranfield.comparison.Rule(tolerance=-1)
cranfield.comparison.Rule(tolerance='x')
cranfield.comparison.Rule(minimum=True)
cranfield.comparison.Rule(maximum=inf)
cranfield.comparison.Rule(minimum=0.5, maximum=0.4)
cranfield.comparison.Rule(significant=1)
cranfield.comparison.Rule(require='nope')
cranfield.comparison.Rule(require='non-inferior')
cranfield.comparison.Rule(require='non-inferior', margin=0)
cranfield.comparison.Rule(require='non-inferior', margin=inf)
cranfield.comparison.Rule(require='non-inferior', margin='2 percent')
cranfield.comparison.Rule(require='non-inferior', margin='100%')
cranfield.comparison.Rule(require='better', margin=0.1)
cranfield.comparison.Rule(require='better', significant=False)
cranfield.comparison.Thresholds(alpha=1)
cranfield.comparison.Thresholds(alpha='x')
cranfield.comparison.Thresholds(cannot_tell='nope')
cranfield.comparison.Thresholds(topics={'7': -0.1})
cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(significant=False)})
cranfield.comparison.Thresholds({'NumRet': cranfield.comparison.Rule()})
cranfield.comparison.Thresholds.of_document({'nope': 1})
cranfield.comparison.Thresholds.of_document({'measures': 3})
cranfield.comparison.Thresholds.of_document({'topics': [1]})
cranfield.comparison.Thresholds.of_document({'topics': {'7': -0.1}})
cranfield.comparison.Thresholds.of_document({'alpha': 'x'})
cranfield.comparison.Thresholds.of_document({'alpha': 2})
cranfield.comparison.Thresholds.of_document({'measures': {'AP': {'nope': 1}}})
cranfield.comparison.Thresholds.of_document({'measures': {'AP': 3}})
cranfield.comparison.Thresholds.of_document({'measures': {'AP': {}, 'map': {}}})
cranfield.comparison.Thresholds.of_document({'measures': {'AP': {'tolerance': -1}}})
cranfield.comparison.Thresholds.of_document({'measures': {'NumRet': {'tolerance': 1}}})
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(require='non-inferior', margin=1)}))
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(require='non-inferior', margin=5)}))
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(require='non-inferior', margin=0.1)}), test='sign')
cranfield.gate(Experiment(qrels, [a, b]), test='bootstrap')
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds(topics={'9': 0.1}))
cranfield.gate(Experiment(qrels, [{'1': a['1']}, {'2': b['2']}], policy=Policy(topics='run')))
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(maximum=0.9), 'E@5': cranfield.comparison.Rule(minimum=0.1)}))
cranfield.gate(Experiment(qrels, [a, b]), cranfield.comparison.Thresholds({'AP': cranfield.comparison.Rule(), 'NumRet': cranfield.comparison.Rule()}))
cranfield.compare(Experiment(qrels, {'a': a}), 'AP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', baseline='c')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'GMAP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'NumRet', baseline='a', details=Details(risk=1))
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', tests=['tukey'], correction='none')
cranfield.compare(Experiment(qrels, {'a': [a, b], 'b': [b, a]}), 'AP', tests=['t'])
cranfield.compare(Experiment(qrels, {'a': [a], 'b': []}), 'AP')
cranfield.compare(Experiment(qrels, {'a': [a], 'b': [b]}), 'AP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', details=Details(tuned_on=['1', '2']))
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP').panel('RR')
cranfield.comparison.compare_collections({'web': Experiment(qrels, {'a': a, 'b': b}), 'news': Experiment(qrels, {'a': a, 'c': b})}, 'AP')

[gate(Experiment(long, [good, bad])).headline]
[gate(Experiment(long, [bad, good])).headline]
[gate(Experiment(long, [good, good]), Thresholds({'RR': Rule(require='better')})).headline]
[gate(Experiment(long, [good, bad]), Thresholds({'RR': Rule(), 'AP': Rule(tolerance=0.9, significant=False)})).headline]
[gate(Experiment(long, [bad, good]), Thresholds({'RR': Rule(), 'AP': Rule(tolerance=0)})).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule()})).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule(), 'AP': Rule()})).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule(), 'AP': Rule(minimum=0)})).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule(), 'AP': Rule(minimum=1)})).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule()}, cannot_tell='pass')).headline]
[gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule()}, cannot_tell='fail')).headline]
[gate(Experiment(long, [good, bad])).promise]
[gate(Experiment(long, [good, bad]), test='t').promise]
[gate(Experiment(long, [good, bad]), Thresholds({'RR': Rule(), 'AP': Rule(), 'P@1': Rule(require='better')}, alpha=0.1)).promise]
[gate(Experiment(long, [good, bad]), Thresholds({'RR': Rule(require='non-inferior', margin='2%')})).promise]
[gate(Experiment(qrels, [a, b])).promise]
[check.detail for check in gate(Experiment(long, [good, bad]), Thresholds({'RR': Rule(), 'AP': Rule(tolerance=0.1)})).checks]
[check.detail for check in gate(Experiment(long, [good, good]), Thresholds({'RR': Rule(), 'AP': Rule(require='better')})).checks]
[check.what for check in gate(Experiment(long, [good, bad]), Thresholds({'RR': Rule(require='non-inferior', margin='2%')})).checks]
[check.what for check in gate(Experiment(long, [good, bad]), Thresholds({'E@1': Rule(tolerance=0.1), 'RR': Rule(require='better')})).checks]
[check.what for check in gate(Experiment(long, [good, bad]), Thresholds({'NumRet': Rule(minimum=1, maximum=3)}, {'1': 0.5})).checks]
[check.detail for check in gate(Experiment(qrels, [a, b]), Thresholds({'RR': Rule(), 'AP': Rule(require='better')})).checks]
[check.detail for check in gate(Experiment(long, [good, bad | {'1': good['1']}]), Thresholds({'E@1': Rule()}), test='sign').checks]

cranfield.evaluate(qrels | {'5': {'d1': 0}}, a | {'x': a['1']}, 'AP')
cranfield.evaluate(qrels | {'5': {'d1': 0}}, {'1': a['1'], '2': a['2']}, 'AP', policy=Policy(empty_topics='drop'))
cranfield.evaluate(qrels, {'a': a, 'b': {'1': a['1']}}, 'AP', policy=Policy(topics='common'))
cranfield.evaluate(qrels, {'a': a, 'b': {'1': a['1']}}, 'AP', policy=Policy(topics='run'))
cranfield.evaluate({'1': {'d1': 0.5, 'd2': 1, 'd3': -1}}, {'1': {'d1': 1.0, 'd2': 1.0, 'd7': 1.0, 'd8': 1.0}}, 'AP')
cranfield.evaluate({'1': {'d1': 0.5, 'd2': 1, 'd3': -1}}, {'1': {'d1': 1.0, 'd2': 1.0, 'd7': 1.0}}, 'RR', policy=Policy(ties='expected', samples=5))
cranfield.evaluate({'1': {'d1': 0.5, 'd2': 0.2}}, a, ['Bpref', 'InterpolatedAP'], policy=Policy(grades='probabilities', samples=5))
cranfield.evaluate({'1': {'d1': 0.5, 'd2': 0.2}}, {'1': {'d1': 1.0, 'd2': 1.0}}, 'Bpref', policy=Policy(grades='probabilities', ties='expected', samples=5))
cranfield.evaluate({'1': {'d1': 0.5}, '2': {'d2': 0.2}}, a, 'AP', policy=Policy(grades='probabilities'))
cranfield.evaluate(qrels, a, 'R(agg="ratio")@5', policy=Policy(grades='probabilities'))
cranfield.evaluate({'1': {'d1': 0.5}}, a, 'R(agg="ratio")@5', policy=Policy(grades='probabilities'))
cranfield.evaluate(qrels, {'1': {'x1': 1.0}}, 'AP')
cranfield.evaluate(qrels, a, 'AP(rel=3)')
cranfield.evaluate(qrels, a, ['AreaNDCG@5', 'AP', 'ESL'], bounds=True)
cranfield.evaluate({'1': {'d1': {'1': 1}}}, a, 'StRecall@5')
cranfield.evaluate(qrels | {'5': {'d1': 0}}, {'a': a, 'b': {'5': a['1']}}, 'AP', policy=Policy(topics='common', empty_topics='drop'))
cranfield.evaluate(qrels | {'5': {'d1': 0}}, {'a': a, 'b': {'5': a['1']}}, 'AP', policy=Policy(topics='run', empty_topics='drop'))
cranfield.check(Experiment(qrels, {'a': a | {'1': {'d1': 2.0}}}))
cranfield.check(Experiment({str(t): {f'd{n}': 1 for n in range(20)} for t in range(3)}, {str(t): {f'x{n}': n for n in range(12)} | {'d1': 99} for t in range(3)}))
cranfield.evaluate(qrels, a, 'nDCG@10,AP and more')
cranfield.measures.parse_measure('nDCG@5,10')
cranfield.measures.parse_measure('GRBP')
cranfield.measures.parse_measure('rbp.0.8')
cranfield.measures.parse_measure('nDCG AP')
cranfield.measures.parse_measure('nDCG(dcg="nope")@5')
cranfield.measures.parse_measure('zzz')
cranfield.evaluate({'1': {'d1': 2000}}, a, 'nDCG(gain="exp")@5')

cranfield.correlate(a, b)
cranfield.correlate(a, {'1': {'d1': 1.0, 'd2': 1.0}, 'x': {'d1': 1.0}}, overlap=Overlap(ties='a'))
cranfield.correlate(a, a, coefficients=['tau_ap', 'kendall'], overlap=Overlap(p=0.5))
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), ['AP', 'RR'], sampling=some)
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), ['AP', 'NumRet'])
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': a}), ['AP', 'RR'], sampling=some)
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': {'1': a['1']} | {t: b[t] for t in '234'}}), ['AP', 'RR'], sampling=some)
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', topic_sets=[['1', '2'], ['2', '9']], sampling=some)
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', topic_sets=[['1']], sampling=some)
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a, 'b': b}), 'AP', other_qrels={'1': {'d2': 1}, 'x': {'d2': 1}}, sampling=some)
cranfield.agreement.correlate_halves(Experiment(qrels, {'a': a, 'b': b}), 'AP', sampling=some)
cranfield.agreement.reproduction(Experiment(qrels, {'a': a}), {'b': b | {'x': a['1']}}, 'AP', sampling=some)
cranfield.agreement.reproduction(Experiment(qrels, {'a': a, 'b': {'1': a['1'], '2': b['2'], '3': a['3'], '4': a['4']}}), {'c': b, 'd': a}, 'AP', sampling=some)
cranfield.agreement.reproduction(Experiment(qrels, {'a': a, 'b': b}), {'c': b, 'd': a}, 'AP', other_qrels=qrels, sampling=some)
assess(judges, sampling=some)
assess({'ann': qrels, 'bob': {'1': {'d1': 1}, '2': {'d7': 2}}, 'eve': {'3': {'d2': 1}}}, sampling=some)
assess({'ann': {'1': {f'd{n}': n % 2 for n in range(12)}}, 'bob': {'1': {f'd{n}': n % 2 for n in range(12)}}}, sampling=some)
assess({'ann': {'1': {'d1': 0}}, 'bob': {'1': {'d1': 0}}}, sampling=some)
assess({'ann': {'1': {'d1': 0, 'd2': 1}}, 'bob': {'1': {'d1': 0, 'd2': 0}}}, runs={'a': a, 'b': b}, sampling=some)
assess({'ann': qrels, 'bob': qrels, 'eve': {'1': {'d1': 0, 'd2': 0, 'd3': 0}}}, runs={'a': a, 'b': b}, sampling=some).orderings.pairs
cranfield.plan(Experiment(qrels, {'a': a, 'b': b | {'2': a['2']}, 'c': a}), ['AP', 'RR'])
cranfield.plan(Experiment(qrels, {'a': a, 'b': {'1': b['1'], '2': a['2'], '3': {'d3': 1.0}, '4': a['4']}}), 'AP')
orderings.agreement_of_orderings([agreement.find_coefficient('kendall')], orderings.Ordering(scores), orderings.Ordering(scores[:2]), some, same_topics=True)
orderings.agreement_of_orderings([agreement.find_coefficient('kendall')], orderings.Ordering(scores), orderings.Ordering(scores[:, :2]), some, same_topics=True)
cranfield.statistics.compare_seeds(scores, scores[:1] + 0.1)
find_test('wilcoxon').function(np.round(scores, 1), np.array([[0, 1], [0, 2], [1, 2]]), some)
find_test('t').function(np.array([[0.1, 0.2], [0.2, 0.3], [0.5, 0.1]]), np.array([[0, 1], [0, 2], [1, 2]]), some)
cranfield.fuse([{'1': {'d1': 1e308}}, {'1': {'d1': 1e308}}], 'combsum', norm='none')
str(cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'probfuse', Training(folds=2))).splitlines()

cranfield.read_run(io.StringIO('1 Q0 d1 1 nan t\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 1e999 t\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 high t\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 1_0 t\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 1 t\\n1 Q0 d2 2\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 1 t\\n1 Q0 d1 2 0.5 t\\n'))
cranfield.read_run(io.StringIO('1 Q0 d1 1 1 t\\n1 Q0 d1 1 1 t\\n1 Q0 d2 2 0.5 u\\n')).origin
cranfield.read_run(io.StringIO('1 d1 1\\n1 d2 2\\n'))
cranfield.read_run(io.StringIO('1,d1,1.0\\n1,d2,0.5\\n'))
cranfield.read_run(io.StringIO('topic,document,score\\n1,"d1,1.0\\n'))
cranfield.read_run(io.StringIO('topic,document,score\\n1,d1,1.0,3\\n'))
cranfield.read_run(io.StringIO('topic,document,score,score\\n1,d1,1.0,3\\n'))
cranfield.read_run(io.StringIO('topic,document,grade\\n1,d1,1\\n'))
cranfield.read_run(io.StringIO('topic,document\\n1,d1\\n'))
cranfield.read_run(io.StringIO('topic;document;score\\n1;d1;1.0\\n'))
cranfield.read_run(io.BytesIO(b'1 Q0 d\\0 1 1 t\\n'))
cranfield.read_run(io.BytesIO('1 Q0 d1 1 1 t\\n'.encode('utf-16')))
cranfield.read_run(io.BytesIO(b'PK\\3\\4 and so on'))
cranfield.read_run(io.StringIO(''))
cranfield.read_run(io.StringIO('{"1": {"d1": NaN}}'))
cranfield.read_run(io.StringIO('{"1": {"d1": 1, "d1": 2}}'))
cranfield.read_run(io.StringIO('{"1": {"d1": "x"}}'))
cranfield.read_run(io.StringIO('[1, 2]'), reading=Reading(format='json'))
cranfield.read_run(io.StringIO('topic,mine,score\\n1,d1,1\\n'), reading=Reading(columns={'nope': 'mine'}))
cranfield.read_qrels({'1': {'d1': 1}}, reading=Reading(judgements='nope'))
cranfield.read_run(io.StringIO('{"1": {"d1": 1e999}}'))
cranfield.read_run(io.StringIO('{"topic": "1", "document": "d1", "score": 1}\\n[1]\\n'))
cranfield.read_run(io.StringIO('{"topic": "1", "document": "d1", "score": 1}\\n{"topic": "1"}\\n'))
cranfield.read_run({'1': {'d1': nan}})
cranfield.read_run({'1': {'d1': 'x'}})
cranfield.read_run({'1': {'d1': 10**400}})
cranfield.read_run((['1'], ['d1'], [1.0, 2.0]))
cranfield.read_run((np.array(['1']), np.array([['d1', 'd2']]), np.array([[1.0]])))
cranfield.read_run((np.array(['1', '2']), np.array([['d1', 'd2']]), np.array([[1.0, 2.0]])))
cranfield.read_run((np.array(['1']), np.ma.masked_array([['d1', 'd2']], mask=[[0, 1]]), np.array([[1.0, 2.0]])))
cranfield.read_run((['1', '2'], [['d1'], ['d1', 'd2']], [[1.0], [1.0, 2.0]]))
cranfield.read_run(iter([]))
cranfield.read_run([{'topic': '1'}])
cranfield.read_run(3)
cranfield.read_run('no/such.run')
cranfield.read_run('.')
cranfield.read_run('1 Q0 d1 1 1 t\\n2 Q0 d1 1 1 t\\n')
cranfield.read_run({'1': {'d1': 1}}, reading=Reading(threads=0))
cranfield.read_run(io.StringIO('topic,mine,score\\n1,d1,1\\n'), reading=Reading(columns={'document': 'mine', 'topic': 'mine'}))
cranfield.read_qrels(io.StringIO('1 d1 1\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1 1 5\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1 1\\n1 0 d1 2\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1 x\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1 1\\n1 0 d2 1 7 8\\n'))
cranfield.read_qrels(io.StringIO('topic,document\\n1,d1\\n'))
cranfield.read_qrels(io.StringIO('1 0 d1\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.StringIO('1 0 d1 x\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.BytesIO(b'1 0 d\\0 1\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.StringIO('topic,document,grade\\n1,d1,1\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.StringIO('topic,subtopic,document,grade\\n1,1,d1\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.StringIO('{"topic": "1", "subtopic": 1, "document": "d1", "grade": 1}\\n[1]\\n'), reading=Reading(judgements='subtopics'))
cranfield.read_qrels({'1': {'d1': 1}}, reading=Reading(judgements='subtopics'))
cranfield.read_qrels(3, reading=Reading(judgements='subtopics'))
cranfield.read_qrels(io.StringIO('1 0 d1 1 x\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.StringIO('1 0 d1\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.StringIO('1 d1 1 0 1.5\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.StringIO('1 0 d1 1 1\\n1 2 d2 1 1\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.BytesIO(b'1 0 d\\0 1 1\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels({'1': {'d1': 1}}, reading=Reading(judgements='sampled'))
cranfield.read_qrels({'1': {'d1': (1, 0.5, 3)}}, reading=Reading(judgements='sampled'))
cranfield.read_qrels([dict(topic='1', document='d1', grade=grade, stratum=0) for grade in (0, 1)], reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.StringIO('1 0 d1 1 1\\n1 0 d1 1 0\\n'), reading=Reading(judgements='sampled'))
cranfield.read_qrels({'1': 3}, reading=Reading(judgements='sampled'))
cranfield.read_qrels(3, reading=Reading(judgements='sampled'))
cranfield.read_qrels([3], reading=Reading(judgements='sampled'))
cranfield.read_qrels([{'topic': '1', 'document': 'd1', 'grade': 1}], reading=Reading(judgements='sampled'))
cranfield.read_qrels(io.StringIO('1 d1\\n'), reading=Reading(judgements='preferences'))
cranfield.read_qrels(io.StringIO('1 d1 d2 3\\n'), reading=Reading(judgements='preferences'))
cranfield.read_qrels(io.BytesIO(b'1 d\\0 d2\\n'), reading=Reading(judgements='preferences'))
cranfield.read_qrels([(1, 2)], reading=Reading(judgements='preferences'))
cranfield.read_qrels([(1, 2.5, 3)], reading=Reading(judgements='preferences'))
cranfield.read_qrels({'1': [('d1', 'd2'), ('d2', 'd1')]}, reading=Reading(judgements='preferences')).origin
cranfield.read_qrels({'1': [('d1', 'd2'), ('d1', 'd2')]}, reading=Reading(judgements='preferences')).origin
cranfield.evaluate(qrels, a, 'TBG', lengths=3)
cranfield.evaluation.of_judges({})
cranfield.evaluate(cranfield.evaluation.of_judges(judges), a, 'AP', policy=Policy(judges='agreement'))
cranfield.evaluate(cranfield.evaluation.of_judges(judges), a, 'AP', policy=Policy(grades='probabilities'))

cranfield.texts.read_documents(io.StringIO('id\\ttext\\n1\\n'), reading=Reading(format='tsv'))
cranfield.texts.read_documents(io.StringIO('id,text\\n1,"x\\n'), reading=Reading(format='csv'))
cranfield.texts.read_documents(io.StringIO('id,text\\n,x\\n'), reading=Reading(format='csv'))
cranfield.texts.read_documents(io.StringIO('id,text\\n1,x\\n1,y\\n'), reading=Reading(format='csv'))
cranfield.texts.read_documents(io.StringIO(''), reading=Reading(format='csv'))
cranfield.texts.read_documents(io.StringIO('{"id": 1, "text": "x"}\\n[1]\\n'), reading=Reading(format='jsonl'))
cranfield.texts.read_documents(io.StringIO('{"id": 1, "text": "x"}\\n{"id": 1, "text": "y"}\\n'), reading=Reading(format='jsonl'))
cranfield.texts.read_documents(io.StringIO('words\\n<DOC><DOCNO>1</DOCNO> more <TEXT>x</DOC>\\n<DOC><DOCNO>2</DOCNO>y</DOC>\\n'), reading=Reading(format='trec'))
cranfield.texts.read_documents(io.StringIO('<DOC><TEXT>x</TEXT></DOC>\\n'), reading=Reading(format='trec'))
cranfield.texts.read_documents(io.StringIO('words\\n'), reading=Reading(format='trec'))
cranfield.texts.read_documents(io.StringIO('.I\\n.W\\nx\\n'), reading=Reading(format='smart'))
cranfield.texts.read_documents(io.StringIO('.I 1\\nx\\n'), reading=Reading(format='smart'))
cranfield.texts.read_documents(io.BytesIO(b'\\x1f\\x9d and so on'), reading=Reading(format='trec'))
cranfield.texts.read_documents(io.BytesIO(b'<DOC>\\0</DOC>'), reading=Reading(format='trec'))
cranfield.texts.read_documents(3)
cranfield.texts.read_topics(io.StringIO('<top><title>ducks</top>'), reading=Reading(format='trec'))
cranfield.texts.read_topics(io.StringIO('<top> words <num> Number: 1 <title> ducks\\n<top><num>2<title>geese</top>'), reading=Reading(format='trec'))
cranfield.texts.read_topics(io.StringIO('1\\tducks\\n2\\n'), reading=Reading(format='tsv'))
cranfield.texts.read_topics({'1': ''})
cranfield.texts.read_collection()
cranfield.texts.read_collection('.')
cranfield.texts.read_collection('no-such.toml')
cranfield.convert({'1': {'d1': 1}}, 'out.csv')
cranfield.convert(cranfield.texts.read_collection(documents=ducks), 'out', kind='run')
cranfield.convert(cranfield.texts.read_collection(documents=ducks), io.BytesIO())
cranfield.convert(cranfield.texts.read_collection(documents=ducks), 'out.tsv', kind='topics')
cranfield.write_run({'1': {'d 1': 1.0}}, 'out.txt', format='trec')
cranfield.write_run(a, 'out.nope')
cranfield.write_run(a, 'out', format='nope')
cranfield.texts.write_documents(cranfield.texts.read_documents({'1': 'x\\ty'}), io.BytesIO(), format='tsv')
cranfield.describe(ducks, {'a': a})
cranfield.describe({'1': {'d1': 1}}, kind='documents')
cranfield.describe(io.StringIO('1 Q0 d1 1 1 t\\n'))
cranfield.describe(cranfield.texts.read_collection(documents=ducks), reading=Reading(format='trec'))
cranfield.efficiency.measure_system(lambda query: (x for x in 'ab'), ['ducks'], warm_up=0)
cranfield.evaluate(qrels, a, 'AP', nope=3)
cranfield.evaluate(qrels, a, 'AP', ties='worst')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}, reading=Reading(format='trec')), 'AP')
cranfield.compare(Experiment(qrels, {'a': a, 'b': b}), 'AP', test='t')
cranfield.evaluate('qrels.txt', a, 'AP', policy={'ties': 'worst'})
make_pool({'a': a, 'b': b}, 'stratified', depth=3)
make_pool({'a': a, 'b': b}, 'depth', strata=parse_strata('5:1'))
make_pool({'a': a, 'b': b}, 'hedge')
simulate(Experiment(qrels, {'a': a, 'b': b}), ['depth'], budgets=[])
simulate(Experiment({'9': {'d1': 1}}, {'a': a, 'b': b}), ['depth'], budgets=[1])
analyse(Experiment({'1': {'x': 1}}, {'a': a, 'b': b}))
cranfield.fuse([{'1': {'d1': -1.0}}, {'1': {'d1': -2.0}}], 'combsum', norm='max')
cranfield.fuse([{'1': {'d1': inf}}, {'1': {'d1': -2.0}}], 'combsum')
cranfield.fusion.train_fusion(Experiment(qrels, [a, b]), 'rrf', Training(same_topics=True))
cranfield.retrieve(build_index(ducks), cranfield.texts.read_topics({'1': 'zebras'}), 'bm25')
cranfield.planning.read_splits({'folds': [{'train': [*map(str, range(25))], 'test': [*map(str, range(22))]}]})
cranfield.compare(Experiment(qrels, {f's{n}': a for n in range(25)}), 'AP', baseline='c')
cranfield.agreement.correlate_systems(Experiment(qrels, {f's{n}': a for n in range(12)}), ['AP', 'RR'], sampling=some)
cranfield.correlate(a, elsewhere | {'x9': a['1']})
cranfield.agreement.reproduction(Experiment(qrels | {'x1': {'d1': 1}}, {'a': a}), {'b': elsewhere | {'x9': a['1']}}, 'AP')
cranfield.agreement.correlate_systems(Experiment(qrels, {'a': a | elsewhere, 'b': b}), 'AP', other_qrels={t: {'d1': 1} for t in elsewhere})
sliced(['1'], scores[:2, :1], {f'x{n}': {'kind': 'x'} for n in range(5)})
cranfield.read_run(io.StringIO(','.join(f'c{n}' for n in range(15)) + '\\n'), reading=Reading(format='csv'))
cranfield.texts.read_documents(io.StringIO(','.join(f'c{n}' for n in range(15)) + '\\n1\\n'), reading=Reading(format='csv'))
simulate(Experiment({f'x{n}': {'d1': 1} for n in range(5)}, {'a': a, 'b': b}), ['depth'], budgets=[1])
cranfield.retrieve(build_index(ducks), cranfield.texts.read_topics({'1': 'ducks'}), 'bm25', depth=0)
"""  # noqa: E501 - a call is a line

FILES = {
    "one-column.csv": "topic\n1\n",
    "names-twice.csv": "topic,kind,kind\n1,a,b\n",
    "names-twice.tsv": "id\ttext\ttext\n1\tx\ty\n",
    "short.csv": "topic,kind\n1,a\n2\n",
    "topic-twice.csv": "topic,kind\n1,a\n1,b\n",
    "no-group.csv": "run,group\na,\n",
    "no-depth.csv": "run,depth\na,0\n",
    "several/one.qrels": "1 0 d1 1\n",
    "several/two.qrels": "1 0 d1 1\n",
    "nothing/notes": "nothing\n",
    "plan.csv": "run,depth,priority\na,3,1\nz,1,2\n",
    "before.smart": "\n  ducks\n.I 1\n.W\ngeese\n",
    "blank.txt": "\n\n",
}


def calls() -> list[str]:
    return [line for line in CALLS.splitlines() if line]


@cache
def kept() -> dict[str, str]:
    parts = re.split(r"^>>> (.+)\n", KEPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (text.rstrip("\n") for text in parts[2::2]), strict=True))


def said(call: str, folder: Path) -> str:
    """The kind of error and all of its words; of what is no error all warnings and notes."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    with contextlib.chdir(folder):
        try:
            found = eval(call, dict(names()))
        except CranfieldError as error:
            return f"{type(error).__name__}: {error}"
    told = found if isinstance(found, list) else getattr(found, "warnings", ())
    lines = [f"{getattr(each, 'code', 'text')}{' (doubtful)' * getattr(each, 'doubtful', 0)}: {each}" for each in told]
    lines += [f"note: {note}" for note in getattr(found, "notes", ())]
    return "\n".join(lines)


@pytest.mark.parametrize("call", calls())
def test_what_is_said_is_said_in_these_words(call: str, tmp_path: Path) -> None:
    text = said(call, tmp_path)
    assert text
    assert text == kept().get(call), "if this is meant: make record, and read the diff"


def test_no_two_parts_of_a_text_are_glued_together() -> None:
    """A text that goes on in the next line has a blank at one side: "Wheret has no answer" stood in a help."""
    glued = re.compile(r"""[\w,;:.)]"\n\s*[frb]*"[\w(]""")
    assert glued.search('"by half. Where"\n    "t has no answer"')
    found = [
        (path.name, match[0])
        for path in (ROOT / "src").rglob("*.py")
        for match in glued.finditer(path.read_text("utf-8"))
    ]
    assert found == []


def keep() -> None:
    import tempfile

    told = []
    for call in calls():
        with tempfile.TemporaryDirectory() as place:
            told.append(f">>> {call}\n{said(call, Path(place))}\n\n")
    KEPT.write_text("".join(told), encoding="utf-8")


if __name__ == "__main__":
    keep()
