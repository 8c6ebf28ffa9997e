"""The gate itself: judgements, baseline and candidate in, a verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import inf, isnan
from typing import NamedTuple

import numpy as np

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.gate.rules import Answer, Margin, Rule, Thresholds
from cranfield.comparison.gate.verdict import Check, Evidence, Means, Verdict
from cranfield.comparison.panels import Evaluated, judging
from cranfield.comparison.question import Question
from cranfield.comparison.systems import check_comparable, compare_results
from cranfield.comparison.tuning import of_tuned_runs
from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.formats.runs import named_runs
from cranfield.measures import Measure, as_measures
from cranfield.statistics.one_sided import (
    RANDOMISATION,
    Ahead,
    check_one_sided,
    counted,
    least_lead,
    one_sided,
    topics_needed,
)
from cranfield.statistics.significance import Floats, Sampling

ABOUT_THE_MEAN = (RANDOMISATION, "t")
ROUNDING = 1e-12  # a threshold that is met exactly must not fail for its last bit
FEW_CHANGED = 10  # topics below which the interval of a mean misses rare losses too often
SURE = 3  # standard errors that a drawn p must be away from alpha, for another seed to decide the same


def gate(
    experiment: Experiment | Results,
    thresholds: Thresholds | None = None,
    *,
    test: str = RANDOMISATION,
    sampling: Sampling | None = None,
) -> Verdict:
    """May a candidate replace the baseline? Pass, fail or cannot tell, with every check behind the answer.

    The first run is the baseline, the second the candidate. `test` decides what is required of a measure:
    randomisation, or t, wilcoxon, sign. Results of two runs, such as those of a frame, are decided on as they are: the
    baseline is the one that they name first, as `Results.runs` tells.

    >>> qrels = {str(t): {"d1": 1} for t in range(6)}
    >>> run = {str(t): {"d1": 2.0, "d2": 1.0} for t in range(6)}
    >>> gate(Experiment(qrels, [run, run]), Thresholds({"RR": Rule(minimum=0.9)})).passed
    True
    """
    thresholds, sampling = thresholds or Thresholds(), sampling or Sampling()
    measures = as_measures(list(thresholds.rules))
    check_comparable(measures)
    check_one_sided(test)
    if test not in ABOUT_THE_MEAN and any(rule.require == "non-inferior" for rule in thresholds.rules.values()):
        raise UsageError(f"a margin is about the mean, and {test} is not: take {' or '.join(ABOUT_THE_MEAN)}")
    for measure, rule in zip(measures, thresholds.rules.values(), strict=True):
        if rule.margin is not None:
            Margin.of(rule.margin).check_for(measure)
    results = _evaluated(experiment, measures)
    results.experiment.check_inside(list(thresholds.topics))
    return decided(results, thresholds, test=test, sampling=sampling)


def decided(results: Results, thresholds: Thresholds, *, test: str, sampling: Sampling) -> Verdict:
    """The verdict on results of two runs, called baseline and candidate, by the measures of the thresholds."""
    measures = as_measures(list(thresholds.rules))
    compared = [_both(results, measure) for measure in measures]
    checks = [
        check
        for both, rule in zip(compared, thresholds.rules.values(), strict=True)
        for check in measure_checks(both, rule, thresholds.alpha, test, sampling)
    ]
    checks += _topic_checks(compared, thresholds.topics)
    means = tuple(both.means() for both in compared)
    verdict = Verdict(
        checks=tuple(checks),
        means=means,
        thresholds=thresholds,
        test=test,
        sampling=sampling,
        results=results,
        warnings=results.warnings,
    )
    doubts = (
        *_undecided(compared, thresholds),
        *_turned_limits(compared, thresholds),
        *_doubts(checks, thresholds.alpha, sampling),
        *_uneven_judging(verdict),
        *of_tuned_runs(results),
    )
    return replace(verdict, warnings=(*results.warnings, *doubts))


def _evaluated(given: Experiment | Results, measures: tuple[Measure, ...]) -> Results:
    """Baseline and candidate under these names."""
    names, beside = ("baseline", "candidate"), judging(measures)
    runs = given.runs if isinstance(given, Results) else [run for _, run in named_runs(given.runs)]
    if len(runs) != 2:
        raise UsageError(f"a gate is for a baseline and a candidate, not for {len(runs)} runs")
    if isinstance(given, Results):
        return replace(given.of_measures(measures, beside), runs=names)
    named = replace(given, runs=dict(zip(names, runs, strict=True)))
    return named.evaluate(list(dict.fromkeys([*measures, *beside])))


def as_comparison(verdict: Verdict, measures: Iterable[Measure], test: str) -> Comparison | None:
    """What a verdict rests on as `compare` has it, for what is made of comparisons; None where topics are fewer than 2.

    Its test has two sides, so that it is significant at twice alpha where a one-sided one is at alpha.
    """
    enough = {means.measure for means in verdict.means if means.topics > 1}
    chosen = [measure for measure in measures if measure in enough]
    if not chosen:
        return None
    question = Question(
        baseline="baseline",
        tests=(test,),
        correction="none",
        alpha=min(2 * verdict.thresholds.alpha, 1 - ROUNDING),
        sampling=verdict.sampling,
    )
    runs = {name: [name] for name in ("candidate", "baseline")}
    return compare_results({"": Evaluated(verdict.results, runs)}, chosen, question)


def tested(verdict: Verdict) -> Comparison | None:
    """What was tested for a verdict, as `compare` has it: what a ledger keeps."""
    with_evidence = {check.measure for check in verdict.checks if check.evidence is not None}
    measures = [means.measure for means in verdict.means if str(means.measure) in with_evidence]
    return as_comparison(verdict, measures, verdict.test)


class Both(NamedTuple):
    """A measure of baseline and candidate on the topics that both have a score on."""

    measure: Measure
    topics: tuple[str, ...]
    baseline: Floats
    candidate: Floats

    @property
    def gains(self) -> tuple[Floats, Floats]:
        """Baseline and candidate turned so that more is better."""
        return self.baseline * self.measure.sign, self.candidate * self.measure.sign

    @property
    def mean(self) -> tuple[float, float]:
        """Means of baseline and candidate."""
        return float(self.baseline.mean()), float(self.candidate.mean())

    @property
    def gain(self) -> float:
        """By how much the candidate's mean is better; below 0 if it is worse."""
        before, after = self.mean
        return (after - before) * self.measure.sign

    @property
    def harm(self) -> str:
        """What a score does that gets worse."""
        return "rise" if self.measure.sign < 0 else "fall"

    @property
    def benefit(self) -> str:
        """What a score does that gets better."""
        return "fall" if self.measure.sign < 0 else "rise"

    @property
    def moved(self) -> str:
        before, after = self.mean
        return f"{before:.4f} → {after:.4f} ({after - before:+z.4f})"

    def means(self) -> Means:
        """What a table shows."""
        if self.measure.sign:
            better, same, worse = counted(*reversed(self.gains))
            return Means(self.measure, len(self.topics), *self.mean, better, same, worse)
        same = counted(self.candidate, self.baseline).level
        return Means(self.measure, len(self.topics), *self.mean, None, same, None)


def measure_checks(both: Both, rule: Rule, alpha: float, test: str, sampling: Sampling) -> Iterator[Check]:
    """Everything that a rule asks of a measure."""
    measure, mean = both.measure, both.mean[1]
    figure = f"{measure} a topic" if measure.parameters["agg"] == "sum" else f"{measure}"  # `evaluate` shows the sum
    if measure.sign and rule.tolerance is not None:
        yield Check(
            measure=str(measure),
            rule="tolerance",
            what=f"{measure} {both.harm}s by at most {rule.tolerance:g}",
            answer=_kept(both.gain, -rule.tolerance),
            detail=both.moved,
        )
    if measure.sign and rule.significant:
        yield _tested(both, rule, alpha, test, sampling)
    if rule.minimum is not None:
        yield Check(
            measure=str(measure),
            rule="minimum",
            what=f"{figure} is at least {rule.minimum:g}",
            answer=_kept(mean, rule.minimum),
            detail=f"{mean:.4f}",
        )
    if rule.maximum is not None:
        yield Check(
            measure=str(measure),
            rule="maximum",
            what=f"{figure} is at most {rule.maximum:g}",
            answer=_kept(-mean, -rule.maximum),
            detail=f"{mean:.4f}",
        )


def _kept(value: float, least: float) -> Answer:
    return "pass" if value >= least - ROUNDING * max(1.0, abs(least)) else "fail"


def _tested(both: Both, rule: Rule, alpha: float, test: str, sampling: Sampling) -> Check:
    """Each requirement asks whether one of two is ahead: the baseline, the candidate, or the candidate plus margin."""
    before, after = both.gains
    counts = counted(after, before)
    margin = Margin.of(rule.margin).size_for(both.mean[0]) if rule.margin is not None else None
    if rule.require == "no-evidence-of-harm":
        first, second, claim = before, after, f"{both.measure} does not {both.harm} significantly"
    elif margin is None:
        first, second, claim = after, before, f"{both.measure} {both.benefit}s significantly"
    else:
        size = f" ({margin:.4g})" if Margin.of(rule.margin).percent else ""
        first, second = after + margin, before
        claim = f"{both.measure} {both.harm}s by less than {Margin.of(rule.margin)}{size}, surely"
    outcome, leads = one_sided(first, second, test, sampling), counted(first, second)
    ahead = _is_ahead(outcome.p, leads, alpha)
    if margin is not None and not counts.changed:
        answer: Answer = "pass"  # what did not change is not worse, however few the topics are
    elif ahead is None:
        answer = "cannot tell"
    else:
        answer = "pass" if ahead == (rule.require != "no-evidence-of-harm") else "fail"
    least = least_lead(first, second, alpha, outcome.test, sampling)
    # p may be exact where the end of the interval is drawn: next to alpha they must still say the same
    least = max(least, 0.0) if outcome.p < alpha else min(least, 0.0)
    low, high = _interval(least - (margin or 0.0), has_end=(first is before) != (both.measure.sign < 0))
    evidence = Evidence(
        p=outcome.p,
        test=outcome.test,
        method=outcome.method,
        error=outcome.error,
        low=low,
        high=high,
        topics=counts.topics,
        changed=counts.changed,
        needed=topics_needed(alpha),
        margin=margin,
    )
    detail = f"{both.moved}, {_evidence_in_words(evidence, test)}" + "".join(
        f"; {why}" for why in _reasons(answer, evidence, alpha)
    )
    return Check(
        measure=str(both.measure), rule=rule.require, what=claim, answer=answer, detail=detail, evidence=evidence
    )


def _is_ahead(p: float, leads: Ahead, alpha: float) -> bool | None:
    """Whether there is evidence of a lead; None where so few topics can never give it.

    Nothing is open where no topic speaks for a lead. Of few topics that differ, only those that all speak for it
    leave it open: so whatever the number of topics, a gain on one of them never makes the answer worse.
    """
    if p < alpha:
        return True
    needed = topics_needed(alpha)
    few = leads.topics < needed or (leads.changed < needed and not leads.behind)
    return None if few and leads.ahead else False


def _interval(least: float, *, has_end: bool) -> tuple[float | None, float | None]:
    """The interval of candidate minus baseline, from the least lead that is sure.

    It has an end if the lead is one of lower scores, else a beginning.
    """
    if isnan(least):
        return None, None
    return (-inf, 0.0 - least) if has_end else (least, inf)


def _evidence_in_words(evidence: Evidence, chosen_test: str) -> str:
    """The p-value in words."""
    p = "p<0.0001" if evidence.p < 0.0001 else f"p={evidence.p:.4f}"
    test = "exact randomisation" if evidence.method == "exact" else evidence.test
    drawn = f" ± {evidence.error:.1g}" if evidence.method == "drawn" and evidence.p >= 0.0001 else ""
    instead = f", for {chosen_test} has no answer here" if evidence.test != chosen_test else ""
    return f"{p}{drawn} ({test}{instead}), {evidence.changed} of {plural(evidence.topics, 'topic')} changed"


def _reasons(answer: Answer, evidence: Evidence, alpha: float) -> Iterator[str]:
    if answer == "cannot tell":
        few = f"{plural(evidence.topics, 'topic')}" if evidence.topics < evidence.needed else "so few"
        yield f"{few} can never give a p below {alpha:g}: {evidence.needed} topics that differ are needed at least"
    elif not evidence.changed:
        yield "the same score on every topic"
    elif answer == "pass" and evidence.topics < evidence.needed and evidence.p == 1.0:
        yield "no topic got worse"


def _both(results: Results, measure: Measure) -> Both:
    scores = results.scores[:, results.measures.index(measure)]
    kept = ~np.isnan(scores).any(axis=0)
    if not kept.any():
        raise DataError(
            f"{measure}: there is no topic with a score from both baseline and candidate",
            remedy="With --topics run only topics that both runs answer can be compared.",
        )
    topics = tuple(results.topics[topic] for topic in np.flatnonzero(kept))
    return Both(measure, topics, scores[0, kept], scores[1, kept])


def _topic_checks(compared: list[Both], topics: Mapping[str, float]) -> Iterator[Check]:
    """Topics that must not get worse, on any measure that says what worse is."""
    unknown = [topic for topic in topics for both in compared if topic not in both.topics]
    if unknown:
        raise UsageError(f"no topic {some(list(dict.fromkeys(unknown)))} among those compared")
    for both in compared:
        change = both.candidate - both.baseline
        for topic, most in topics.items() if both.measure.sign else ():
            moved = float(change[both.topics.index(topic)])
            yield Check(
                measure=str(both.measure),
                rule="topic",
                what=f"{both.measure} of topic {topic} {both.harm}s by at most {most:g}",
                answer=_kept(moved * both.measure.sign, -most),
                detail=f"{moved:+z.4f}",
            )


def _undecided(compared: list[Both], thresholds: Thresholds) -> Iterator[Finding]:
    """Measures that are shown only."""
    for both, rule in zip(compared, thresholds.rules.values(), strict=True):
        if both.measure.sign == 0 and not rule.has_limit:
            message = "no value is better than another: it is shown and decides nothing without a minimum or a maximum"
            yield Finding("no-direction", str(both.measure), message, doubtful=False)


def _uneven_judging(verdict: Verdict) -> Iterator[Finding]:
    """A candidate that shows more unjudged documents may be better than it looks: the guard that `compare` has."""
    made = as_comparison(verdict, [means.measure for means in verdict.means], "t")
    yield from (warning for warning in (made.warnings if made else ()) if warning.code == "uneven-judging")


def _turned_limits(compared: list[Both], thresholds: Thresholds) -> Iterator[Finding]:
    """Limits on the side where a measure is good: they let what is worse pass."""
    for both, rule in zip(compared, thresholds.rules.values(), strict=True):
        sign = both.measure.sign
        for name, limit, good in (("minimum", rule.minimum, sign < 0), ("maximum", rule.maximum, sign > 0)):
            if limit is not None and good:
                other = "maximum" if name == "minimum" else "minimum"
                better = both.measure.better
                message = f"{better} values are better, and a {name} refuses those: was a {other} meant (--{other})?"
                yield Finding("turned-limit", str(both.measure), message)


def _doubts(checks: list[Check], alpha: float, sampling: Sampling) -> Iterator[Finding]:
    """Decisions that another seed might turn, and margins judged by too few topics that change."""
    for check in checks:
        evidence = check.evidence
        if evidence is None:
            continue
        if evidence.method == "drawn" and abs(evidence.p - alpha) < SURE * evidence.error:
            message = (
                f"p {evidence.p:.4f} from {sampling.resamples:,} resamples is within {SURE} standard errors of "
                f"{alpha:g}: another seed may decide otherwise, take more (--resamples)"
            )
            yield Finding("near-alpha", check.measure, message)
        if check.rule == "non-inferior" and 0 < evidence.changed < FEW_CHANGED and evidence.has_interval:
            sure = f"{100 * (1 - alpha):.10g}%"
            message = (
                f"the interval rests on the {plural(evidence.changed, 'topic')} that changed, of {evidence.topics:,}, "
                f"and holds less often than {sure}: a rare large loss may not be among so few. Take more topics, or "
                "protect those that matter (--topic)"
            )
            yield Finding("few-changed", check.measure, message)
