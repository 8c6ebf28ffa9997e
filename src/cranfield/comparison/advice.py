"""What to say of the topics and judgements that a comparison rests on: once for a collection, whatever the measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.panels import Evaluated
from cranfield.errors import plural, share, short_names, some
from cranfield.evaluation.findings import FEW_TOPICS, GOOD_TOPICS, USUAL_TOPICS, Finding, shape_of, sparse_remark
from cranfield.evaluation.results import Results
from cranfield.judged import Pool
from cranfield.measures import parse_measure
from cranfield.measures.missed import counts_missed
from cranfield.statistics.deciding import RANDOMISATION
from cranfield.statistics.significance import Floats

MOSTLY_UNJUDGED = 0.5  # of what is shown: then the judgements do not reach as far down as a measure looks


def of_collections(comparison: Comparison, evaluated: Mapping[str, Evaluated]) -> Iterator[Finding]:
    """Every warning and note of that kind."""
    for name, of_collection in evaluated.items():
        panels = [panel for panel in comparison.panels if panel.collection == name]
        pool = None if of_collection.judgements is None else of_collection.judgements.pool
        yield from _few_topics(comparison, panels, pool)
        yield from _nothing_shared(comparison, of_collection, name)
        if pool is not None:
            yield from _shallow_pool(comparison, panels, pool, of_collection.results)


def _few_topics(comparison: Comparison, panels: Sequence[Panel], pool: Pool | None) -> Iterator[Finding]:
    """Fewer topics than are usual, or than sparse judgements need: what could be found with them at all."""
    own = panels[0].own_topics
    count = min(int((~np.isnan(panel.scores)).sum(axis=1).min()) for panel in panels)
    sparse = None if pool is None else sparse_remark(pool)
    if count >= USUAL_TOPICS and sparse is None:
        return
    counted = f"{plural(count, 'topic')}{' a system' if own else ''} {'is' if count == 1 else 'are'} few"
    remarks = [f"{counted} ({USUAL_TOPICS} are usual, {GOOD_TOPICS} better)" if count < USUAL_TOPICS else counted]
    if count < FEW_TOPICS and not own:
        remarks += _deciding(comparison, panels)
        remarks[:2] = [": ".join(remarks[:2])]
    remarks += [sparse] if sparse else []
    remarks += _findable(comparison, panels, count)
    yield Finding("few-topics", _topics_of(panels[0].collection), "; ".join(remarks), doubtful=count < FEW_TOPICS)


def _deciding(comparison: Comparison, panels: Sequence[Panel]) -> list[str]:
    """So few topics that means of differences are far from normal: who decides then."""
    first = comparison.tests[0]
    if comparison.by_rule:
        return ["the exact randomisation test decides, as t is fragile"]
    if not first.fragile:
        return []
    remark = f"{first.named} is fragile, and decides because it was asked for"
    if RANDOMISATION not in panels[0].p:
        return [remark, "see what the exact randomisation test says (--test randomisation)"]
    apart = [pair for panel in panels for pair in _apart(comparison, panel, several=len(panels) > 1)]
    if not apart:
        return [remark, "the exact randomisation test agrees on every pair"]
    return [remark, f"the exact randomisation test does not agree on {listed(apart)}"]


def _apart(comparison: Comparison, panel: Panel, *, several: bool) -> list[str]:
    """Pairs on which the test that was asked for and the exact one part at alpha, before any correction."""
    alpha, p, exact = comparison.alpha, panel.decided.p, panel.p[RANDOMISATION]
    names, of = pair_names(comparison), f"{panel.measure}, " if several else ""
    return [f"{names[k]} ({of}p {exact[k]:.4f})" for k in np.flatnonzero((p < alpha) != (exact < alpha))]


def _findable(comparison: Comparison, panels: Sequence[Panel], topics: int) -> list[str]:
    """The smallest difference that so many topics show, by measure; or that they cannot show any."""
    reachable = 2.0 ** (1 - topics)  # the least p of all flips
    if any(panel.decided.by_randomisation.any() for panel in panels) and reachable >= comparison.level:
        level = f"at level {comparison.level:.2g}, as no randomisation p is below {reachable:.2g}"
        return [f"{plural(topics, 'topic')} cannot decide anything {level}"]
    finite = {panel.measure: _finite(panel.effects.detectable) for panel in panels}
    least = [f"{values.max():.3f} in {measure}" for measure, values in finite.items() if len(values)]
    if not least:
        return []
    corrected = " after correction" if comparison.comparisons > 1 else ""
    what, verb = ("differences", "are") if len(least) > 1 else ("difference", "is")
    found = f"would be found{corrected} with a chance of {share(comparison.power)}"
    return [f"the smallest {what} that {found} {verb} about {listed(least)}"]


def _finite(values: Floats) -> Floats:
    return values[np.isfinite(values) & (values > 0)]


def _nothing_shared(comparison: Comparison, evaluated: Evaluated, collection: str) -> Iterator[Finding]:
    """Systems that answer no topic in common, compared on all topics: each scores 0 on those of the other."""
    results, shown = evaluated.results, parse_measure("NumRet")
    if results.policy.topics != "qrels" or shown not in results.measures:
        return
    of_run = results.scores[:, results.measures.index(shown)] > 0
    answered = [of_run[[results.runs.index(run) for run in runs]].any(axis=0) for runs in evaluated.runs_of.values()]
    pairs = zip(pair_names(comparison), comparison.pairs.tolist(), strict=True)
    apart = [name for name, (i, j) in pairs if not (answered[i] & answered[j]).any()]
    if apart:
        message = (
            f"no topic is answered by both {listed(apart)}: each scores 0 on the topics of the other. Compare them on "
            "topics of their own: --topics run --test welch"
        )
        yield Finding("nothing-shared", _topics_of(collection), message)


def _shallow_pool(comparison: Comparison, panels: Sequence[Panel], pool: Pool, results: Results) -> Iterator[Finding]:
    """Measures that hang on all relevant documents and look further down than documents are judged: fewer are judged a
    topic than ranks looked at, and most of what is shown there is unjudged. Judgements of relevant documents alone do
    not tell how far somebody looked.
    """
    shown = parse_measure("NumRet")
    if shown not in results.measures or shape_of(pool) not in ("dense", "shallow"):
        return
    judged = float(np.median(pool.total(pool.grades >= 0)))
    longest = float(np.nanmax(results.scores[:, results.measures.index(shown)]))
    shallow: dict[str, tuple[float, str]] = {}
    for panel in panels:
        ranks = min(panel.measure.parameters.get("cutoff") or np.inf, longest)
        if panel.unjudged is None or panel.measure.sign == 0 or ranks <= judged or not counts_missed(panel.measure):
            continue
        unjudged = np.nan_to_num(panel.unjudged).round(9)  # of equal shares the first system's, whatever the sum's end
        if unjudged.max() > MOSTLY_UNJUDGED:
            shallow[str(panel.measure)] = float(unjudged.max()), comparison.systems[int(np.argmax(unjudged))]
    if not shallow:
        return
    unjudged_share, system = max(shallow.values(), key=lambda entry: entry[0])
    message = (
        f"the pool is shallow for {some(list(shallow))}: {judged:g} documents a topic are judged (median), fewer than "
        f"the ranks looked at, and {share(unjudged_share)} of what {system} shows there is not. Relevant documents "
        "that nobody judged are missing from what is to be found: prefer measures of the top, as "
        f"nDCG@{max(1, min(10, int(judged)))}"
    )
    yield Finding("shallow-pool", panels[0].collection or "judgements", message)


def _topics_of(collection: str) -> str:
    return f"topics of {collection}" if collection else "topics"


def pair_names(comparison: Comparison) -> list[str]:
    """What each pair is called in a sentence."""
    shown = short_names(comparison.systems)
    return [f"{shown[i]} and {shown[j]}" for i, j in comparison.pairs.tolist()]


def listed(names: list[str], most: int = 5) -> str:
    """The first of several things with what is said of them, and how many more there are.

    >>> listed(["a and b", "a and c", "b and c"], 2)
    'a and b, a and c; 1 more'
    """
    more = f"; {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
