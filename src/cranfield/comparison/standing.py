"""Where systems stand on a measure: tiers, and each system against one that all are set against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.errors import plural
from cranfield.measures.registry import Measure
from cranfield.statistics.effects import Effects
from cranfield.statistics.friedman import friedman
from cranfield.statistics.intervals import Ends
from cranfield.statistics.significance import Floats

ABOVE, LEVEL, BELOW = "above", "level", "below"  # tiers against a baseline
NO_TIER = "–"


class Standing(NamedTuple):
    """Where a system stands on a measure. The difference, its interval and p are those to the reference."""

    system: str
    letter: str
    tier: str
    mean: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    adjusted_p: float | None = None
    wins: int = 0
    ties: int = 0
    losses: int = 0
    beats: tuple[str, ...] = ()
    unjudged: float | None = None


def standings(comparison: Comparison, panel: Panel, reference: int) -> list[Standing]:
    """Every system on a measure, best first, against the system `reference`; in the order given if none is better.

    >>> from cranfield.comparison.systems import compare
    >>> qrels = {str(t): {"d1": 1} for t in range(4)}
    >>> good, bad = ({t: {"d1": a, "d2": 1.0} for t in qrels} for a in (2.0, 0.5))
    >>> from cranfield import Experiment
    >>> found = compare(Experiment(qrels, {"a": bad, "b": good}), "RR")
    >>> [(one.system, one.mean, one.difference, one.wins) for one in standings(found, found.panels[0], 0)]
    [('b', 1.0, 0.5, 4), ('a', 0.5, None, 0)]
    """
    to_reference = against(replace(comparison, panels=(panel,)), reference)
    tier = tiers(comparison, panel)
    effects, adjusted = to_reference.panels[0].effects, to_reference.panels[0].adjusted
    pair_of = {system: k for k, system in enumerate(to_reference.pairs[:, 0].tolist())}
    by_number = []
    for number, system in enumerate(comparison.systems):
        standing = Standing(
            system,
            comparison.letter(number),
            tier[number],
            float(panel.means[number]),
            beats=tuple(map(comparison.letter, comparison.beaten_by(panel, number))),
            unjudged=None if panel.unjudged is None else float(panel.unjudged[number]),
        )
        if number in pair_of:
            k = pair_of[number]
            standing = standing._replace(
                difference=float(effects.mean[k]),
                low=float(effects.low[k]),
                high=float(effects.high[k]),
                adjusted_p=float(adjusted[k]),
                wins=int(effects.wins[k]),
                ties=int(effects.ties[k]),
                losses=int(effects.losses[k]),
            )
        by_number.append(standing)
    order = np.argsort(-panel.gains, kind="stable")
    return [by_number[system] for system in order.tolist()]


def reference(comparison: Comparison, panel: Panel) -> int:
    """The system that others are set against: the baseline, or the best by this measure, or else the first."""
    if comparison.baseline is not None:
        return comparison.systems.index(comparison.baseline)
    return panel.best or 0


def verdict(comparison: Comparison, panel: Panel) -> str:
    """The outcome on a measure in a sentence or two: who is best, and who cannot be told from it.

    >>> from cranfield.comparison.systems import compare
    >>> qrels = {str(t): {"d1": 1} for t in range(8)}
    >>> good, bad = ({t: {"d1": a, "d2": 1.0} for t in qrels} for a in (2.0, 0.5))
    >>> from cranfield import Experiment
    >>> comparison = compare(Experiment(qrels, {"a": good, "b": bad}), "RR")
    >>> verdict(comparison, comparison.panels[0])
    'a has the highest RR, 1.0000 on 8 topics, and is significantly better than the other.'
    """
    ordered, measure = standings(comparison, panel, reference(comparison, panel)), panel.measure
    best, others, topics = ordered[0], len(ordered) - 1, on_topics(panel)
    if measure.sign == 0:
        low, high = min(s.mean for s in ordered), max(s.mean for s in ordered)
        return f"{measure} says nothing of which system is better: from {low:.4f} to {high:.4f} on {topics}."
    leaders = [comparison.systems[system] for system in panel.leaders]
    level = [s.system for s in ordered if s.system in leaders]
    have = "has" if len(level) == 1 else "share"
    text = f"{_listed(level)} {have} the {leading(measure)}, {best.mean:.4f} on {topics}"
    if comparison.baseline is not None and others == 1:
        (other,) = (s for s in ordered if s.system != comparison.baseline)
        outcome = {ABOVE: "is significantly better than", BELOW: "is significantly worse than"}.get(other.tier)
        if outcome:
            return f"{text}. {other.system} {outcome} the baseline {comparison.baseline}."
        return f"{text}. {other.system} cannot be told from the baseline {comparison.baseline} with confidence."
    if comparison.baseline is not None:
        better, worse = (sum(s.tier == tier for s in ordered) for tier in (ABOVE, BELOW))
        are = "is" if better == 1 else "are"
        return (
            f"{text}. Against the baseline {comparison.baseline}, {better} of {others} {are} significantly better and "
            f"{worse} significantly worse."
        )
    equal = [s.system for s in ordered[1:] if s.adjusted_p is not None and not s.adjusted_p < comparison.alpha]
    if not equal:
        all_others = {1: "the other", 2: "both others"}.get(others, f"all {others} others")
        return f"{text}, and is significantly better than {all_others}."
    if len(level) > 1:
        behind = [system for system in equal if system not in level]
        return text + (f"; {_listed(behind)} cannot be told from {best.system} with confidence." if behind else ".")
    sure = f" {best.system} is significantly better than {len(best.beats)} of {others}." if best.beats else ""
    return f"{text}; {_listed(equal)} cannot be told from it with confidence.{sure}"


def leading(measure: Measure) -> str:
    """What the best system of a measure has: the highest of it, or the lowest.

    >>> from cranfield.measures import as_measures
    >>> [leading(measure) for measure in as_measures(["AP", "E@10"])]
    ['highest AP', 'lowest E@10 (less is better)']
    """
    return f"highest {measure}" if measure.sign > 0 else f"lowest {measure} (less is better)"


def on_topics(panel: Panel) -> str:
    """The topics that a mean is of."""
    of = f" of {panel.collection}" if panel.collection else ""
    if panel.own_topics:
        return f"topics{of} of each system's own"
    return plural(len(panel.topics), "topic") + of


def _listed(names: Sequence[str]) -> str:
    """
    >>> _listed(["a"]), _listed(["a", "b", "c"]), _listed(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c and 4 others')
    """
    if len(names) > 5:
        return f"{', '.join(names[:3])} and {len(names) - 3} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def tiers(comparison: Comparison, panel: Panel) -> list[str]:
    """For each system its tier: "1", "2", … or, where there is a baseline, whether it is above, level with or below it.

    The best system leads the first tier, which has all systems that are not significantly different from it; the best
    of the others leads the next one. A measure without a better side has no tiers: "–".

    >>> from cranfield.comparison.systems import compare
    >>> qrels = {str(t): {"d1": 1} for t in range(9)}
    >>> good, bad = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}
    >>> runs = {"a": {t: good for t in qrels}, "b": {t: bad for t in qrels}, "c": {t: bad for t in qrels}}
    >>> from cranfield import Experiment
    >>> found = compare(Experiment(qrels, runs | {"a": runs["a"] | {"3": bad}}), "RR")
    >>> tiers(found, found.panels[0])
    ['1', '2', '2']
    """
    gains = panel.gains
    if panel.measure.sign == 0:
        return [NO_TIER] * len(gains)
    significant = {frozenset(pair) for pair in comparison.pairs[panel.adjusted < comparison.alpha].tolist()}
    if comparison.baseline is not None:
        base = comparison.systems.index(comparison.baseline)
        return [
            LEVEL if frozenset((s, base)) not in significant else ABOVE if gain > gains[base] else BELOW
            for s, gain in enumerate(gains.tolist())
        ]
    left, out = np.argsort(-gains, kind="stable").tolist(), [""] * len(comparison.systems)
    number = 0
    while left:
        number, leader = number + 1, left[0]
        tier = [system for system in left if system == leader or frozenset((leader, system)) not in significant]
        for system in tier:
            out[system] = str(number)
        left = [system for system in left if system not in tier]
    return out


def mean_ranks(panel: Panel) -> Floats:
    """Each system's mean rank over the topics, 1 for the best; by the value where none is better."""
    return friedman(panel.scores * (panel.measure.sign or 1)).ranks


def level_groups(comparison: Comparison, panel: Panel, order: list[int]) -> list[list[int]]:
    """Groups of systems none of which differs significantly from another of its group, each in the given order.

    Every two systems that do not differ share a group, and no others do: stretches of the order first, then groups
    with gaps for pairs that a system between them keeps out of one. The decision is that of letters and tiers.

    >>> from cranfield.comparison.systems import compare
    >>> qrels = {str(t): {"d1": 1} for t in range(9)}
    >>> good, bad = {"d1": 2.0, "d2": 1.0}, {"d2": 2.0, "d1": 1.0}
    >>> runs = {"a": {t: good for t in qrels}, "b": {t: bad for t in qrels}, "c": {t: bad for t in qrels}}
    >>> from cranfield import Experiment
    >>> found = compare(Experiment(qrels, runs), "RR")
    >>> level_groups(found, found.panels[0], [0, 1, 2])
    [[1, 2]]
    """
    level = {frozenset(pair) for pair in comparison.pairs[~(panel.adjusted < comparison.alpha)].tolist()}
    groups: list[list[int]] = []
    for start, first in enumerate(order):
        group = [first]
        for system in order[start + 1 :]:
            if not all(frozenset((system, member)) in level for member in group):
                break
            group.append(system)
        if len(group) > 1 and not any(set(group) <= set(known) for known in groups):
            groups.append(group)
    for pair in sorted(
        (sorted(pair, key=order.index) for pair in level), key=lambda pair: list(map(order.index, pair))
    ):
        if not any(set(pair) <= set(known) for known in groups):
            group = list(pair)
            for system in order:
                if system not in group and all(frozenset((system, member)) in level for member in group):
                    group.append(system)
            groups.append(sorted(group, key=order.index))
    return [group for group in groups if not any(set(group) < set(other) for other in groups)]


def against(comparison: Comparison, reference: int) -> Comparison:
    """The pairs with one system alone, as that of the other minus it: p-values stay those of the whole family.

    >>> from cranfield.comparison.systems import compare
    >>> qrels = {str(t): {"d1": 1} for t in range(4)}
    >>> good, bad = ({t: {"d1": a, "d2": 1.0} for t in qrels} for a in (2.0, 0.5))
    >>> from cranfield import Experiment
    >>> found = against(compare(Experiment(qrels, {"a": good, "b": bad, "c": bad}), "RR"), 0)
    >>> [(pair.system, pair.other, pair.difference) for pair in found.rows()]
    [('b', 'a', -0.5), ('c', 'a', -0.5)]
    """
    kept = np.flatnonzero((comparison.pairs == reference).any(axis=1))
    turned = comparison.pairs[kept, 0] == reference
    pairs = np.where(turned[:, None], comparison.pairs[kept][:, ::-1], comparison.pairs[kept])

    def ends(low: Floats, high: Floats) -> Ends:
        return Ends(np.where(turned, -high[kept], low[kept]), np.where(turned, -low[kept], high[kept]))

    def part(effects: Effects) -> Effects:
        kept_effects = Effects(*(column[kept] for column in effects))  # type: ignore[arg-type]
        low, high = ends(effects.low, effects.high)
        return kept_effects._replace(
            mean=np.where(turned, -kept_effects.mean, kept_effects.mean),
            low=low,
            high=high,
            d_z=np.where(turned, -kept_effects.d_z, kept_effects.d_z),
            wins=np.where(turned, kept_effects.losses, kept_effects.wins),
            losses=np.where(turned, kept_effects.wins, kept_effects.losses),
        )

    panels = [
        replace(
            panel,
            effects=part(panel.effects),
            together=ends(*panel.together),
            standard_error=panel.standard_error[kept],
            freedom=panel.freedom[kept],
            decided=panel.decided.of(kept),
            p={name: p[kept] for name, p in panel.p.items()},
            error={name: error[kept] for name, error in panel.error.items()},
            adjusted=panel.adjusted[kept],
            equivalence=None if panel.equivalence is None else panel.equivalence[kept],
        )
        for panel in comparison.panels
    ]
    return replace(comparison, pairs=pairs, panels=tuple(panels))
