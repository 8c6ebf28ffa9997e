"""`leaderboard`: runs best first by one measure, with ranks, tiers, and what changed since they were scored before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.comparison.comparison_tables import corrected
from cranfield.comparison.earlier import EarlierResults, changes, read_earlier
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Question
from cranfield.comparison.standing import NO_TIER, tiers
from cranfield.comparison.systems import compare_results
from cranfield.comparison.tuning import of_tuned_runs
from cranfield.errors import plural
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.places import Earlier, Places, ranks
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.evaluation.result_json import to_document
from cranfield.evaluation.result_tables import render
from cranfield.evaluation.results import Results
from cranfield.measures import Measure, parse_measure

if TYPE_CHECKING:
    from cranfield.formats.given import File, Json

# Of what is odd about a comparison, what matters for tiers and ranks.
ABOUT_TIERS = ("few-topics", "identical", "same-scores")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Leaderboard(PrintedInNotebooks):
    """Results and the places of their runs by one measure; `warnings` are those of both."""

    results: Results
    places: Places
    warnings: tuple[Finding, ...]

    def render(self, format: str, *, per_topic: bool = False) -> str:
        """The results in a format of `cranfield evaluate`, best run first."""
        return render(replace(self.results, warnings=self.warnings), format, per_topic=per_topic, places=self.places)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python, in the documented JSON form of an evaluation, best run first."""
        return to_document(replace(self.results, warnings=self.warnings), per_topic=True, places=self.places)

    def _rendered(self, format: str) -> str:
        return self.render(format)

    def _headline(self) -> str:
        return f"<Leaderboard: {plural(len(self.results.runs), 'run')} by {self.places.measure}>"


def leaderboard(
    results: Results, measure: str | Measure, before: File | Mapping[str, Json] | None = None
) -> Leaderboard:
    """Runs best first by one of the measures that were evaluated: runs with the same mean share a rank.

    A tier has the runs that are not significantly different from its best, as `compare` decides it for all pairs on
    this measure. `before` is what an earlier evaluation printed as JSON, a file or the dict itself: then each run has
    its rank and its mean there, and what changed.

    >>> import cranfield
    >>> qrels = {str(t): {"d1": 1} for t in range(9)}
    >>> good, bad = ({t: {"d1": score, "d2": 1.0} for t in qrels} for score in (2.0, 0.5))
    >>> results = cranfield.evaluate(qrels, {"ann": bad, "bob": good, "eve": good}, "RR")
    >>> print(leaderboard(results, "RR").render("table"), end="")
    rank  tier  run      RR
    1     1     bob  1.0000
    1     1     eve  1.0000
    3     2     ann  0.5000
    """
    wanted = parse_measure(measure) if isinstance(measure, str) else measure
    wanted.check_direction("take another measure", reason="runs are put in order")
    means = tuple(results[wanted].values())
    found, rule, doubts = _tiers(results, wanted)
    places = Places(measure=wanted, means=means, tiers=tuple(found), rule=rule)
    told = Finding("tiers", str(wanted), rule, doubtful=False)
    warnings = [*results.warnings, told, *doubts, *of_tuned_runs(results)]
    if before is not None:
        known = read_earlier(before, wanted, results.policy)
        places = replace(places, earlier=_earlier(known, results, wanted), source=known.name)
        warnings += changes(known, results)
    return Leaderboard(results=results, places=places, warnings=tuple(warnings))


def _earlier(known: EarlierResults, results: Results, measure: Measure) -> tuple[Earlier | None, ...]:
    """Where each run stood among all that were scored then."""
    rank = dict(zip(known.means, ranks(list(known.means.values()), measure), strict=True))
    return tuple(Earlier(rank[run], known.means[run]) if run in rank else None for run in results.runs)


def _tiers(results: Results, measure: Measure) -> tuple[list[str], str, list[Finding]]:
    """The tier of each run, how tiers were decided or why there are none, and what is doubtful about them."""
    runs = results.runs
    if len(runs) == 1:
        return ["1"], "one run alone is a tier of its own", []
    none = [NO_TIER] * len(runs)
    if measure.parameters["agg"] not in ("mean", "sum"):
        return none, "no tiers: tests of significance compare means over topics, which this is not", []
    if np.isnan(results.scores[:, results.measures.index(measure)]).any():
        return none, "no tiers: runs that are each scored on topics of their own (--topics run) are not compared", []
    if len(results.topics) < 2:
        return none, "no tiers: one topic alone shows no difference beyond chance", []
    comparison = compare_results({"": Evaluated(results, {run: [run] for run in runs})}, [measure], Question())
    rule = (
        f"a tier has the runs that are not significantly different from its best; decided by {comparison.rule}; "
        f"{corrected(comparison)}, level {comparison.alpha:g}"
    )
    new = comparison.warnings[len(results.warnings) :]
    return tiers(comparison, comparison.panels[0]), rule, [doubt for doubt in new if doubt.code in ABOUT_TIERS]
