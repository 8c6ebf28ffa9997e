"""One measure on one collection: every pair of systems tested, decided and given its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cranfield.comparison.comparison import Folds, Macro, Panel
from cranfield.comparison.question import Question
from cranfield.errors import DataError, UsageError
from cranfield.evaluation.experiment import Judgements
from cranfield.evaluation.results import Results
from cranfield.measures import Measure, parse_measure
from cranfield.measures.missed import stops_at_first
from cranfield.policy import TopicSet
from cranfield.statistics.corrections import find_correction
from cranfield.statistics.deciding import Decision, T, decide
from cranfield.statistics.differences import Booleans, moments
from cranfield.statistics.effects import Effects, detectable, effects, within
from cranfield.statistics.independent import pooled_freedom, shared_topics
from cranfield.statistics.intervals import Ends, agreeing, decided, flipped, of_t, unpaired
from cranfield.statistics.paired import t as paired_t
from cranfield.statistics.risk import risk
from cranfield.statistics.seeds import compare_seeds, seed_spread
from cranfield.statistics.significance import Floats, Integers, Outcome, SignificanceTest, differences
from cranfield.statistics.splitting import ResampledTest, corrected_resampled_t

# Shown in place of a test where systems have several runs.
SEED_TEST = SignificanceTest(
    name="seeds",
    title="t test over topics and seeds",
    null="over all topics and all seeds that could have been drawn, the two methods score the same",
    function=paired_t,
)
FIRST = parse_measure("Judged@1")


class Evaluated(NamedTuple):
    """Systems evaluated on a collection, for each system the names of its runs in the results, and the judgements where
    there is something to be said of them.
    """

    results: Results
    runs_of: dict[str, list[str]]
    judgements: Judgements | None = None


class _Tested(NamedTuple):
    """What was found of each pair; `error` is the standard error of its difference, with degrees of freedom."""

    effects: Effects
    outcomes: dict[str, Outcome]
    error: Floats
    freedom: Floats


def tested_panel(
    collection: str,
    evaluated: Evaluated,
    measure: Measure,
    pairs: Integers,
    tests: tuple[SignificanceTest, ...],
    question: Question,
) -> Panel:
    """The pairs of one measure on one collection with their p-values; `corrected` does what takes all panels."""
    results, groups = evaluated.results, list(evaluated.runs_of.values())
    of_run = results.scores[:, results.measures.index(measure)]
    several = tests == (SEED_TEST,)
    kept = _kept_topics(results, of_run, measure, tests)
    by_seed = [of_run[[results.runs.index(name) for name in group]][:, kept] for group in groups]
    scores = np.stack([runs.mean(axis=0) for runs in by_seed])
    tested = _over_seeds(by_seed, scores, pairs) if several else _tested(scores, pairs, tests, question)
    by_rule = question.by_rule and not several
    decision = decide(scores, pairs, tested.outcomes, question.sampling, by_rule=by_rule, kind=tests[0].kind)
    differing = tested.effects
    if measure.sign < 0:  # the lower value wins a topic
        differing = differing._replace(wins=differing.losses, losses=differing.wins)
    topics = tuple(results.topics[t] for t in np.flatnonzero(kept))
    unknown = np.full(len(pairs), np.nan)
    margin, weight = question.details.margin, question.details.risk
    return Panel(
        collection=collection,
        measure=measure,
        topics=topics,
        scores=scores,
        unjudged=_unjudged(results, _judged_share(measure), groups),
        first_unjudged=_unjudged(results, FIRST, groups) if stops_at_first(measure) else None,
        rankings=_rankings(results, groups),
        effects=differing,
        together=Ends(unknown, unknown),
        standard_error=tested.error,
        freedom=tested.freedom,
        p={name: outcome.p for name, outcome in tested.outcomes.items()},
        error={name: outcome.error for name, outcome in tested.outcomes.items()},
        decided=decision,
        adjusted=decision.p,
        notes=tuple(dict.fromkeys(note for outcome in tested.outcomes.values() for note in outcome.notes)),
        equivalence=None if margin is None else within(margin, differing.mean, tested.error, tested.freedom).p,
        spreads=tuple(seed_spread(runs) for runs in by_seed) if several else None,
        folds=_folds(scores, topics, pairs, question, results.policy.topic_set),
        risk=None if weight is None else risk(scores * measure.sign, int(pairs[0, 1]), alpha=weight),
    )


def _kept_topics(results: Results, scores: Floats, measure: Measure, tests: tuple[SignificanceTest, ...]) -> Booleans:
    """The topics that a comparison is made on: those with a score from every run, unless a test is for others too."""
    independent = [str(test) for test in tests if test.kind == "independent"]
    if independent and results.policy.topics != "run":
        if shared := _shared(results):
            raise shared_topics(shared)
        raise UsageError(
            f"{independent[0]} is for systems that each have topics of their own, and under --topics "
            f"{results.policy.topics} every topic counts for all: say --topics run (policy=Policy(topics='run')), "
            "or take a test for shared topics, as t"
        )
    kept: Booleans = np.ones(len(results.topics), dtype=bool)
    if not independent:
        kept &= ~np.isnan(scores).any(axis=0)
    if np.count_nonzero(kept) < 2:
        raise DataError(
            f"{measure}: a comparison needs 2 topics with a score from every system or more, not "
            f"{np.count_nonzero(kept)}",
            remedy="With --topics run, only topics that every run answers are compared one by one. Systems that each "
            "have topics of their own are compared by --test welch, student or mann-whitney."
            if results.policy.topics == "run"
            else None,
        )
    return kept


def _shared(results: Results) -> int:
    """The most topics that two runs both answer, as far as is known here."""
    shown = parse_measure("NumRet")
    if shown not in results.measures:
        return 0
    answered = (results.scores[:, results.measures.index(shown)] > 0).astype(np.int64)
    return int(np.triu(answered @ answered.T, 1).max(initial=0))


def _tested(scores: Floats, pairs: Integers, tests: tuple[SignificanceTest, ...], question: Question) -> _Tested:
    """One run of each system."""
    if any(test.kind == "independent" for test in tests):
        return _on_different_topics(scores, pairs, tests, question)
    return _Tested(
        effects(scores, pairs),
        {str(test): test.function(scores, pairs, question.sampling) for test in tests},
        np.sqrt(moments(scores, pairs).variance / scores.shape[1]),
        np.full(len(pairs), scores.shape[1] - 1.0),
    )


def corrected(
    panels: Sequence[Panel], pairs: Integers, test: SignificanceTest, question: Question
) -> tuple[list[Panel], float]:
    """The panels with p-values corrected for everything compared, and with intervals; and the level of these.

    A family test has seen to its own pairs: only the panels are left to correct for.
    """
    correction, size = find_correction(question.correction), len(pairs) * int(in_family(panels).sum())
    adjusted, level = _as_family(panels, question, by_test=test.kind == "family")
    with_intervals = []
    for panel, row in zip(panels, adjusted, strict=True):
        low, high = _interval(panel, pairs, level, row < question.alpha, test, question)
        together = Ends(low, high)  # which those of a family test are
        if test.kind != "family":
            alone = min(question.alpha / size, level)  # Bonferroni; Benjamini and Yekutieli may be stricter
            together = _interval(panel, pairs, alone, panel.decided.p < alone, test, question)
        planned = correction.level(question.alpha, size)
        least = detectable(panel.standard_error, panel.freedom, power=question.details.power, alpha=planned)
        # What no flip of so few topics can reach is not found, however large it is.
        out_of_reach = panel.decided.by_randomisation & (2.0 ** (1 - len(panel.topics)) >= planned)
        least = np.where(out_of_reach, np.inf, least)
        effects = panel.effects._replace(low=low, high=high, detectable=least)
        with_intervals.append(replace(panel, effects=effects, together=together, adjusted=row))
    return with_intervals, level


def in_family(parts: Sequence[Panel | Macro]) -> Booleans:
    """Which of them are the family that is corrected for: measures without a better side decide nothing, so that they
    weaken nothing either, unless there are no others.
    """
    directed = np.array([part.measure.sign != 0 for part in parts])
    return directed if directed.any() else ~directed


def _as_family(parts: Sequence[Panel | Macro], question: Question, *, by_test: bool = False) -> tuple[Floats, float]:
    """p-values corrected as one family, a row a part, and the level that they are then compared with.

    `by_test`: a family test has corrected the rows. Parts outside the family are read at the level of the others.
    """
    correction, members = find_correction(question.correction), in_family(parts)
    p = np.array([part.decided.p for part in parts])
    family = p[members]
    if by_test:
        corrected_family, level = np.minimum(family * len(family), 1.0), question.alpha / len(family)
    else:
        corrected_family = correction(family)
        level = correction.level(question.alpha, family.size, int(np.sum(corrected_family < question.alpha)))
    adjusted = np.minimum(p * question.alpha / level, 1.0)
    adjusted[members] = corrected_family
    return adjusted, level


def _interval(
    panel: Panel, pairs: Integers, level: float, significant: Booleans, test: SignificanceTest, question: Question
) -> Ends:
    """For each pair the differences that what decides it does not reject at a level."""
    if test.kind == "independent":
        return unpaired(panel.scores, pairs, panel.decided, level, significant)
    if test.kind == "family" and panel.decided.by_randomisation.all():  # undefined, and each pair by itself instead
        level = level / len(pairs)
    if test != SEED_TEST:
        return decided(panel.scores, pairs, panel.decided, level, significant, question.sampling)
    ends = of_t(panel.effects.mean, panel.standard_error, panel.freedom, level)
    instead = panel.decided.by_randomisation
    if instead.any():
        ends.low[instead], ends.high[instead] = flipped(
            differences(panel.scores, pairs[instead]), level, question.sampling
        )
    return agreeing(ends, panel.effects.mean, significant)


def _over_seeds(by_seed: list[Floats], scores: Floats, pairs: Integers) -> _Tested:
    """Differences between methods, allowing for other topics and for other seeds."""
    compared = [compare_seeds(by_seed[i], by_seed[j]) for i, j in pairs.tolist()]
    statistic, p, error, freedom = np.array(
        [(pair.statistic, pair.p, pair.error, pair.freedom) for pair in compared]
    ).T.copy()
    outcome = Outcome(statistic, p, np.zeros(len(pairs)))
    freedom = np.where(np.isnan(freedom), scores.shape[1] - 1, freedom)
    return _Tested(effects(scores, pairs), {SEED_TEST.name: outcome}, error, freedom)


def _on_different_topics(
    scores: Floats, pairs: Integers, tests: tuple[SignificanceTest, ...], question: Question
) -> _Tested:
    """Systems that were run on topics of their own: there are no differences on a topic."""
    paired = [str(test) for test in tests if test.kind != "independent"]
    if paired:
        unpaired = next(str(test) for test in tests if test.kind == "independent")
        raise UsageError(
            f"{paired[0]} is for systems that share topics, {unpaired} for systems that do not: ask for tests of one "
            "kind"
        )
    for request, wanted in (
        ("equivalence", question.details.margin),
        ("risk", question.details.risk),
        ("a comparison by folds", question.details.splits),
    ):
        if wanted is not None:
            raise UsageError(f"{request} needs systems that answer the same topics; {tests[0]} is for others")
    outcomes = {str(test): test.function(scores, pairs, question.sampling) for test in tests}
    unknown, none = np.full(len(pairs), np.nan), np.zeros(len(pairs), dtype=np.int64)
    means, sizes = np.nanmean(scores, axis=1), (~np.isnan(scores)).sum(axis=1)
    unpaired_effects = Effects(
        means[pairs[:, 0]] - means[pairs[:, 1]], unknown, unknown, unknown, none, none, none, unknown
    )
    variance = (np.nanvar(scores, axis=1, ddof=1) / sizes)[pairs]
    return _Tested(
        unpaired_effects, outcomes, np.sqrt(variance.sum(axis=1)), pooled_freedom(variance, sizes[pairs] - 1.0)
    )


def macro_summary(
    panels: Sequence[Panel], pairs: Integers, test: SignificanceTest, question: Question
) -> tuple[Macro, ...]:
    """Each measure over all collections, which count the same however many topics they have; corrected as a family.

    The collections are those at hand, not a sample of all there could be: only topics are taken to vary.
    """
    measures = list(dict.fromkeys(panel.measure for panel in panels))
    made = [
        _macro([panel for panel in panels if panel.measure == measure], pairs, test, question) for measure in measures
    ]
    adjusted, level = _as_family(made, question)
    summaries = []
    for macro, row in zip(made, adjusted, strict=True):
        of_measure = [panel for panel in panels if panel.measure == macro.measure]
        ends = of_t(macro.difference, macro.error, macro.freedom, level)
        instead = macro.decided.by_randomisation
        if instead.any():
            difference = np.concatenate([differences(panel.scores, pairs[instead]) for panel in of_measure], axis=1)
            weights = np.concatenate([np.full(len(panel.topics), 1 / len(panel.topics)) for panel in of_measure])
            ends.low[instead], ends.high[instead] = flipped(difference, level, question.sampling, weights)
        ends = agreeing(ends, macro.difference, row < question.alpha)
        summaries.append(macro._replace(low=ends.low, high=ends.high, adjusted=row, level=level))
    return tuple(summaries)


def _macro(panels: Sequence[Panel], pairs: Integers, test: SignificanceTest, question: Question) -> Macro:
    """One measure: t of the mean of the collections' differences, with Satterthwaite's degrees of freedom."""
    from scipy.special import stdtr

    difference = np.mean([panel.effects.mean for panel in panels], axis=0)
    variances = np.array([np.square(panel.standard_error) for panel in panels]).T / len(panels) ** 2
    freedom = pooled_freedom(variances, np.array([panel.freedom for panel in panels]).T)
    error = np.sqrt(variances.sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = difference / error
        p = np.where(error == 0, np.nan, 2 * stdtr(freedom, -np.abs(statistic)))
    outcomes = {T: Outcome(statistic, p, np.zeros(len(pairs)))}
    means = np.mean([panel.means for panel in panels], axis=0)
    # On the scores of all topics, each over the number of topics of its collection, sums are means of collections.
    scores = np.concatenate([panel.scores / len(panel.topics) for panel in panels], axis=1)
    if test.kind == "independent":
        decision = Decision(p, np.zeros(len(pairs)), (T,) * len(pairs))
    else:
        decision = decide(scores, pairs, outcomes, question.sampling, by_rule=question.by_rule and test != SEED_TEST)
    return Macro(panels[0].measure, means, difference, error, freedom, decision, p, p, p, np.nan)


def _folds(
    scores: Floats, topics: tuple[str, ...], pairs: Integers, question: Question, topic_set: TopicSet | None
) -> tuple[Folds, ...] | None:
    if question.details.splits is None:
        return None
    place = {topic: number for number, topic in enumerate(topics)}
    parts = question.details.splits.folds
    tested = [[place[topic] for topic in part.test if topic in place] for part in parts]
    tuned = [sum(topic in place for topic in part.train) for part in parts]
    if not all(tested) or not all(tuned):
        raise DataError(
            "a fold has no topic to test on, or none to tune on, among those compared",
            remedy="Are they of this collection?"
            if topic_set is None
            else f"Only the topics of {topic_set.name} are compared (--topic-set): compare without it.",
        )
    if len(parts) == 1:
        return _held_out(scores[:, tested[0]], pairs, question)
    means = np.array([scores[:, part].mean(axis=1) for part in tested])
    train, test = float(np.mean(tuned)), float(np.mean([len(part) for part in tested]))
    out = []
    for i, j in pairs.tolist():
        differences = tuple((means[:, i] - means[:, j]).tolist())
        out.append(Folds(differences, corrected_resampled_t(differences, train, test, confidence=1 - question.alpha)))
    return tuple(out)


def _held_out(scores: Floats, pairs: Integers, question: Question) -> tuple[Folds, ...]:
    """One split has nothing that overlaps: the paired t test on the topics that were held out."""
    if scores.shape[1] < 2:
        raise DataError("one topic to test on is among those compared, and a comparison needs 2")
    effect, outcome = effects(scores, pairs, alpha=question.alpha), paired_t(scores, pairs, question.sampling)
    error = np.sqrt(moments(scores, pairs).variance / scores.shape[1])
    low, high = (np.where(np.isnan(outcome.p), np.nan, end) for end in (effect.low, effect.high))
    columns = (effect.mean, error, outcome.statistic, outcome.p, low, high)
    return tuple(
        Folds((mean,), ResampledTest(mean, spread, statistic, scores.shape[1] - 1, p, low, high))
        for mean, spread, statistic, p, low, high in zip(*(column.tolist() for column in columns), strict=True)
    )


def judging(measures: Sequence[Measure]) -> list[Measure]:
    """What tells how well documents are judged that measures look at: the share of them, at rank 1 too where a measure
    stops at what it finds first, and if there are any.
    """
    first = [FIRST for measure in measures if stops_at_first(measure)]
    return list(dict.fromkeys([*map(_judged_share, measures), *first, parse_measure("NumRet")]))


def unjudged_shares(results: Results, measure: Measure) -> Floats:
    """For each run the mean share of unjudged documents among those that a measure looks at, over the topics for which
    it shows any; `judging` names what must be evaluated for it.
    """
    shares = _unjudged(results, _judged_share(measure), [[run] for run in results.runs])
    if shares is None:
        raise UsageError(f"{', '.join(map(str, judging([measure])))} must be evaluated to tell what is unjudged")
    return shares


def _judged_share(measure: Measure) -> Measure:
    cutoff = measure.parameters.get("cutoff")
    judged = parse_measure("Judged")
    return judged if cutoff is None else judged @ cutoff


def _unjudged(results: Results, share: Measure, groups: list[list[str]]) -> Floats | None:
    """For each system the mean share of unjudged documents over the topics for which it shows any; NaN if none."""
    shown = parse_measure("NumRet")
    if share not in results.measures or shown not in results.measures:
        return None
    answered = results.scores[:, results.measures.index(shown)] > 0
    unjudged = np.where(answered, 1 - results.scores[:, results.measures.index(share)], 0.0)
    counts = answered.sum(axis=1)
    means = np.divide(unjudged.sum(axis=1), counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return np.array([means[[results.runs.index(name) for name in group]].mean() for group in groups])


def _rankings(results: Results, groups: list[list[str]]) -> tuple[str, ...] | None:
    """What tells the rankings of systems apart, those of all runs of a system together; None where none were read."""
    if not results.rankings:
        return None
    return tuple(" ".join(results.rankings[run] for run in group) for group in groups)
