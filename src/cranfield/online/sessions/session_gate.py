"""May a system replace another, by what sessions say? `cranfield gate`, with sessions in place of topics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cranfield.comparison.gate.decision import decided
from cranfield.comparison.gate.rules import Rule, Thresholds
from cranfield.comparison.gate.verdict import Verdict
from cranfield.errors import UsageError, either, some
from cranfield.evaluation.results import Results
from cranfield.statistics.one_sided import RANDOMISATION
from cranfield.statistics.significance import Sampling


def gate_sessions(
    results: Results,
    baseline: str | None = None,
    *,
    margin: float | str | None = None,
    alpha: float = 0.05,
    sampling: Sampling | None = None,
) -> Verdict:
    """May the other of two systems replace the baseline (the first, if none is named), by the sessions both served?

    Without a `margin` (0.01, or "2%" of the baseline's mean) no measure may get worse significantly; with one, each
    must be shown to get worse by less. Measures without a better side, such as effort, decide nothing.

    >>> from cranfield.online.sessions import score_sessions
    >>> from cranfield.online.sessions.session_logs import UserSession, Sessions
    >>> def session(system, number, gain):
    ...     return UserSession(f"s{number}", system, None, (("d",),), ((gain,),), (1.0,), 1, 0, (), None)
    >>> log = Sessions(tuple(session(s, n, float(s == "a")) for s in "ab" for n in range(9)), "log")
    >>> gate_sessions(score_sessions(log, "sDCG_jig"), "a").answer
    'fail'
    """
    if len(results.runs) != 2:
        raise UsageError(f"a gate is for a baseline and a candidate, and the log has {some(results.runs)}")
    first = results.runs[0] if baseline is None else baseline
    if first not in results.runs:
        raise UsageError(f"no system is called '{first}'; the log has {either(results.runs)}")
    served = ~np.isnan(results.scores).all(axis=1)
    if not served.all():
        raise UsageError(
            "a gate holds systems against each other session by session, and each has sessions of its own here",
            "Without the gate they are compared by users or sessions; guardrails of `cranfield online analyse` hold a "
            "margin where users were assigned at random.",
        )
    rule = Rule() if margin is None else Rule(require="non-inferior", margin=margin)
    directed = [measure for measure in results.measures if measure.sign]
    if not directed:
        raise UsageError(
            f"no value of {some(list(map(str, results.measures)))} is better than another: nothing decides"
        )
    thresholds = Thresholds(dict.fromkeys(directed, rule), alpha=alpha)
    order = [results.runs.index(first), 1 - results.runs.index(first)]
    both = replace(results.only(directed), runs=("baseline", "candidate"), scores=results.only(directed).scores[order])
    return decided(both, thresholds, test=RANDOMISATION, sampling=sampling or Sampling())
