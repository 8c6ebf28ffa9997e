"""What a reader of a comparison must know before believing it, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cranfield.comparison import Comparison, Panel
from cranfield.errors import plural, some
from cranfield.findings import Finding
from cranfield.statistics.corrections import family_wise_error

FEW_TOPICS = 25
SMALL_EFFECT = 0.2  # below this d_z is called small, after Cohen
UNEVEN_JUDGING = 0.1
ENOUGH_RESAMPLES = 10  # times the inverse of the level a p-value is compared with


def of_comparison(comparison: Comparison) -> list[Finding]:
    """Every warning and note about a comparison."""
    found = list(_family(comparison))
    found += _resampling(comparison)
    for panel in comparison.panels:
        found += _of_panel(comparison, panel)
    return found


def _family(comparison: Comparison) -> Iterator[Finding]:
    count, alpha = comparison.comparisons, comparison.alpha
    if count > 1:
        error = family_wise_error(alpha, count)
        corrected = (
            "they are not corrected" if comparison.correction.name == "none" else "adjusted p-values see to that"
        )
        message = (
            f"{plural(count, 'comparison')}: uncorrected, the chance of a false alarm is up to {error:.0%}; {corrected}"
        )
        yield Finding("many-comparisons", "family", message, doubtful=comparison.correction.name == "none")
    for test in comparison.tests:
        if test.name in ("wilcoxon", "sign"):
            message = (
                f"the {test.title.removesuffix(' test')} test is not about the mean; its null hypothesis: {test.null}"
            )
            yield Finding("other-null", "tests", message)


def _resampling(comparison: Comparison) -> Iterator[Finding]:
    """Too few resamples to tell p from the level it is compared with."""
    test, sampling = comparison.tests[0], comparison.sampling
    drawn = any(np.any(panel.error[test.name] > 0) for panel in comparison.panels)
    level = comparison.alpha / (1 if test.kind == "family" else comparison.comparisons)
    needed = int(np.ceil(ENOUGH_RESAMPLES / level))
    if drawn and sampling.resamples < needed:
        message = (
            f"{sampling.resamples:,} resamples are too few for {plural(comparison.comparisons, 'comparison')}: take "
            f"{needed:,} or more (--resamples)"
        )
        yield Finding("few-resamples", test.title, message)
    if drawn:
        error = max(float(panel.error[test.name].max()) for panel in comparison.panels)
        drawn_from = f"{sampling.resamples:,} resamples, seed {sampling.seed}"
        message = f"p-values are from {drawn_from}: standard error up to {error:.1g}"
        yield Finding("sampled-p", test.title, message, doubtful=False)


def _of_panel(comparison: Comparison, panel: Panel) -> Iterator[Finding]:
    systems, label, n = comparison.systems, panel.label, len(panel.topics)
    names = [f"{systems[i]} and {systems[j]}" for i, j in comparison.pairs.tolist()]
    detectable = panel.effects.detectable[~np.isnan(panel.effects.detectable)]  # none, if topics are not shared
    if n < FEW_TOPICS and len(detectable):
        largest = float(detectable.max())
        message = (
            f"{n} topics are few: t and bootstrap tests are fragile, trust the exact randomisation p; only differences "
            f"of about {largest:.3f} would be found with a chance of {comparison.power:.0%}"
        )
        yield Finding("few-topics", label, message)
    for note in panel.notes:
        yield Finding("test-note", label, note, doubtful=False)
    identical = [
        name
        for name, (i, j) in zip(names, comparison.pairs.tolist(), strict=True)
        if np.array_equal(panel.scores[i], panel.scores[j])
    ]
    if identical:
        message = f"the same score on every topic: {some(identical)}. Are these the same run twice?"
        yield Finding("identical", label, message)
    significant = panel.adjusted < comparison.alpha
    small = significant & (np.abs(panel.effects.d_z) < SMALL_EFFECT)
    tiny = [name for name, is_small in zip(names, small.tolist(), strict=True) if is_small]
    if tiny:
        message = f"significant but small (|d_z| below {SMALL_EFFECT:g}): {some(tiny)}. Does such a difference matter?"
        yield Finding("small-effect", label, message)
    if not significant.all() and comparison.margin is None:
        message = f'{plural(int((~significant).sum()), "pair")} not significantly different: that is not "equal"'
        if len(detectable):
            message += ". Ask for equivalence within a margin that matters (--equivalence)"
        yield Finding("not-equal", label, message, doubtful=False)
    if panel.unjudged is not None and np.ptp(panel.unjudged) > UNEVEN_JUDGING:
        most, least = int(np.argmax(panel.unjudged)), int(np.argmin(panel.unjudged))
        message = (
            f"unjudged documents are {panel.unjudged[most]:.0%} of what {systems[most]} shows and "
            f"{panel.unjudged[least]:.0%} for {systems[least]}: the first may be better than it looks "
            "(`cranfield evaluate --bounds`)"
        )
        yield Finding("uneven-judging", label, message)
    alone = [name for name, spread in zip(systems, panel.spreads or (), strict=False) if spread.seeds == 1]
    if alone:
        message = f"one run alone of {some(alone)}: the result is about that run, not the method under other seeds"
        yield Finding("one-seed", label, message)
