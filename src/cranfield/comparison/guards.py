"""What a reader of a comparison must know before believing it, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np

from cranfield.comparison.advice import listed, pair_names
from cranfield.comparison.comparison import Comparison, Panel
from cranfield.errors import percent, plural, share, some
from cranfield.evaluation.findings import Finding
from cranfield.statistics.corrections import family_wise_error
from cranfield.statistics.deciding import FEW_CHANGED, RANDOMISATION
from cranfield.statistics.differences import win_tie_loss
from cranfield.statistics.effects import sure_interval

SMALL_EFFECT = 0.2  # below this d_z is called small, after Cohen
UNEVEN_JUDGING = 0.1
ROUNDING = 1e-9  # 0.3 - 0.2 is not above 0.1
ENOUGH_RESAMPLES = 10  # times the inverse of the level a p-value is compared with


def of_comparison(comparison: Comparison) -> list[Finding]:
    """Every warning and note about a comparison."""
    warnings = list(_family(comparison))
    warnings += _resampling(comparison)
    for panel in comparison.panels:
        warnings += _of_panel(comparison, panel)
    return warnings


def _family(comparison: Comparison) -> Iterator[Finding]:
    count, alpha, correction = comparison.comparisons, comparison.alpha, comparison.correction
    test = comparison.tests[0]
    if count > 1:
        error = family_wise_error(alpha, count)
        if test.kind == "family":
            measures = " and, times their number, for the measures" if len(comparison.panels) > 1 else ""
            remedy = f"{test.named} corrects for all pairs itself{measures}"
        elif correction.name == "none":
            remedy = "they are not corrected"
        else:
            remedy = f"adjusted p-values ({correction.title}) keep below {alpha:g} {correction.controls}"
        message = (
            f"{plural(count, 'comparison')}: uncorrected, the chance of a false alarm among them would be about "
            f"{share(error)} if they were independent; {remedy}"
        )
        yield Finding("many-comparisons", "family", message, doubtful=correction.name == "none")
    for significance_test in comparison.tests:
        if not significance_test.about_mean:
            test_alone = significance_test.named.partition(",")[0]
            message = f"{test_alone} is not about the mean; its null hypothesis: {significance_test.null}"
            yield Finding("other-null", "tests", message)


def _resampling(comparison: Comparison) -> Iterator[Finding]:
    """Too few resamples to tell p from the level it is compared with."""
    sampling, about = comparison.sampling, " and ".join(test.title for test in comparison.deciding)
    error = max(float(panel.decided.error.max(initial=0.0)) for panel in comparison.panels)
    if error == 0:
        return
    compared = len(comparison.panels) if comparison.tests[0].kind == "family" else comparison.comparisons
    needed = int(np.ceil(ENOUGH_RESAMPLES * compared / comparison.alpha))
    if sampling.resamples < needed:
        message = (
            f"{sampling.resamples:,} resamples are too few for {plural(comparison.comparisons, 'comparison')}: take "
            f"{needed:,} or more (--resamples)"
        )
        yield Finding("few-resamples", about, message)
    drawn_from = f"{sampling.resamples:,} resamples, seed {sampling.seed}"
    message = f"p-values are from {drawn_from}: standard error up to {error:.1g}"
    yield Finding("sampled-p", about, message, doubtful=False)


def _of_panel(comparison: Comparison, panel: Panel) -> Iterator[Finding]:
    systems, label = comparison.systems, panel.label
    names = pair_names(comparison)
    paired = not np.isnan(panel.effects.d_z).all()  # systems that answer different topics have no differences on them
    if paired:
        yield from _few_changed(comparison, panel, names)
    for note in panel.notes:
        yield Finding("test-note", label, note, doubtful=False)
    yield from _undefined(comparison, panel, names)
    identical = [
        (name, tuple(pair))
        for name, pair in zip(names, comparison.pairs.tolist(), strict=True)
        if np.array_equal(panel.scores[pair[0]], panel.scores[pair[1]])
    ]
    if identical and panel.measure.sign:
        yield from _identical(panel, identical)
    significant = panel.adjusted < comparison.alpha
    small = significant & (np.abs(panel.effects.d_z).round(2) < SMALL_EFFECT)  # as tables show it
    tiny = [name for name, is_small in zip(names, small.tolist(), strict=True) if is_small]
    if tiny:
        message = (
            f"significant but small (|d_z| below {SMALL_EFFECT:g}): {listed(tiny)}. Does such a difference matter?"
        )
        yield Finding("small-effect", label, message)
    level = int((~significant).sum()) - len(identical)
    if level > 0 and panel.measure.sign and comparison.margin is None:
        message = f'{plural(level, "pair")} not significantly different: that is not "equal"'
        if paired:
            message += ". Ask for equivalence within a margin that matters (--equivalence)"
        yield Finding("not-equal", label, message, doubtful=False)
    yield from _uneven_judging(comparison, panel)
    alone = [name for name, spread in zip(systems, panel.spreads or (), strict=False) if spread.seeds == 1]
    if alone:
        message = f"one run alone of {some(alone)}: the result is about that run, not the method under other seeds"
        yield Finding("one-seed", label, message)


def _identical(panel: Panel, pairs: list[tuple[str, tuple[int, int]]]) -> Iterator[Finding]:
    """Pairs with the same scores: a run entered twice only where the rankings are the same as well."""
    ranked = panel.rankings
    twice = [name for name, (i, j) in pairs if ranked is not None and ranked[i] == ranked[j]]
    others = [name for name, _ in pairs if name not in twice]
    if twice:
        message = f"every judged document at the same rank: {listed(twice)}. Are these the same run twice?"
        yield Finding("identical", panel.label, message)
    if others:
        differ = ", though their rankings differ" if ranked is not None else ""
        message = f"the same by {panel.measure} on every topic{differ}: {listed(others)}"
        yield Finding("same-scores", panel.label, message, doubtful=False)


def _few_changed(comparison: Comparison, panel: Panel, names: list[str]) -> Iterator[Finding]:
    """Few of the topics change: no interval from the differences seen holds, one from their number does."""
    topics = len(panel.topics)
    gains, _, losses = win_tie_loss(panel.scores, comparison.pairs)
    changed = gains + losses
    few = np.flatnonzero((changed > 0) & (changed < FEW_CHANGED) & (4 * changed < topics))
    if not len(few):
        return
    lowest, highest = panel.measure.definition.range
    shown = listed([f"{names[k]} on {changed[k]}" for k in few])
    message = f"few of the {topics} topics change ({shown}): intervals from so few differences cover too little"
    if isfinite(highest - lowest):
        low, high = sure_interval(gains[few], losses[few], topics, highest - lowest, comparison.alpha)
        ends = [f"{names[k]} [{a:+z.4f}, {b:+z.4f}]" for k, a, b in zip(few, low, high, strict=True)]
        message += (
            f"; counting only how many change, whatever their scores, the {percent(comparison.alpha)} interval of the "
            f"mean difference is, for {listed(ends)}"
        )
    yield Finding("few-changed", panel.label, message)


def _undefined(comparison: Comparison, panel: Panel, names: list[str]) -> Iterator[Finding]:
    """Where the test that was to decide has no answer, and which one has."""
    first = comparison.tests[0]
    undefined = np.flatnonzero(np.isnan(panel.p[str(first)]))
    if not len(undefined):
        return
    who = listed([names[k] for k in undefined])
    decided = {panel.decided.by[k] for k in undefined.tolist()}
    instead = "the exact randomisation test decides" if decided == {RANDOMISATION} else "nothing decides"
    yield Finding("undefined", panel.label, f"{first.named} is undefined for {who}: {instead}", doubtful=False)


def _uneven_judging(comparison: Comparison, panel: Panel) -> Iterator[Finding]:
    """Systems of which unlike shares are judged: of all that a measure looks at, or at rank 1 where the rest hardly
    counts.
    """
    systems = comparison.systems
    for unjudged, where in ((panel.unjudged, ""), (panel.first_unjudged, " at rank 1")):
        if unjudged is None or np.isnan(unjudged).all() or panel.measure.sign == 0:
            continue
        most, least = int(np.nanargmax(unjudged)), int(np.nanargmin(unjudged))
        if unjudged[most] - unjudged[least] > UNEVEN_JUDGING + ROUNDING:
            message = (
                f"unjudged documents are {share(float(unjudged[most]))} of what {systems[most]} shows{where} and "
                f"{share(float(unjudged[least]))} for {systems[least]}: the first may be better than it looks "
                "(`cranfield evaluate --bounds`, or `bounds=True` in Python, says by how much)"
            )
            yield Finding("uneven-judging", panel.label, message)
            return
