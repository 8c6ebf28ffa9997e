"""A value for each topic, as trec_eval computes it: by our own measures where the formula is theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from cranfield.judged import Floats, Judged, Mask, Pool
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import GEOMETRIC_FLOOR
from cranfield.measures.gain import gains
from cranfield.measures.interpolated import reached
from cranfield.measures.registry import MEASURES, Measure, called
from cranfield.measures.trec import precision_at
from cranfield.trec_eval.arguments import Options
from cranfield.trec_eval.inputs import byte_order
from cranfield.trec_eval.names import Wanted

# trec_eval's codes: not in the pool; in the pool and not judged. No grade of the judgements is NEVER.
UNPOOLED, UNJUDGED, NEVER = -1.0, -2.0, -(2.0**60)
PERSISTENCE = 0.9
NOTHING = 1e-25


@dataclass(frozen=True, eq=False)
class Rankings:
    """A run's judged rankings with the options that formulas depend on."""

    judged: Judged
    options: Options

    @property
    def level(self) -> float:
        return float(self.options.level)

    @cached_property
    def with_leftovers(self) -> Judged:
        """The same rankings, where a topic with no grade of 0 or more has those of the topic evaluated before it.

        trec_eval counts grades in one place for all topics, and for such a topic does not clear it.
        """
        pool = self.judged.pool
        nothing_judged = ~judged_at_all(pool)
        if not nothing_judged.any():
            return self.judged
        source = np.arange(len(pool.topics))
        order = evaluated(self.judged, self.options)
        for before, topic in pairwise(order):
            if nothing_judged[topic]:
                source[topic] = source[before]
        return replace(self.judged, pool=replace(pool.select(source), topics=pool.topics))

    @cached_property
    def with_unpooled(self) -> Judged:
        """With documents that nobody pooled among the hits, for gains that count them."""
        judged = self.with_leftovers
        offsets = np.concatenate(([0], np.cumsum(judged.retrieved)))
        grade = np.full(offsets[-1], UNPOOLED)
        grade[offsets[judged.topic] + judged.rank - 1] = judged.grade
        rank = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], judged.retrieved)
        row = np.full(len(rank), -1)  # most have no judgement
        no_ties = np.ones_like(rank)
        return replace(judged, offsets=offsets, rank=rank, row=row, grade=grade, tie_first=rank, tie_size=no_ties)


def rankings(judged: Judged, options: Options) -> Rankings:
    """Rankings with grades as trec_eval holds them: whole numbers, and one code for whatever is negative."""
    grades = judged.pool.grades
    if np.any((grades != np.trunc(grades)) | (grades < 0)):
        whole = np.trunc(grades) + 0.0
        highest = max(float(np.trunc(judged.pool.max_grade)), 0.0)
        pool = Pool(judged.pool.topics, judged.pool.offsets, np.where(whole < 0, NEVER, whole), highest)
        hits = np.trunc(judged.grade) + 0.0
        judged = replace(judged, pool=pool, grade=np.where(hits < 0, UNJUDGED, hits))
    return Rankings(judged, options)


def values_of(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    """For each printed name of a measure its value for each topic. Geometric means are prepared as logarithms."""
    return OWN.get(wanted.entry.name, _registered_values)(wanted, ranked)


def judged_at_all(pool: Pool) -> Mask:
    """Which topics have a grade of 0 or more."""
    return pool.total(pool.grades >= 0) > 0


def evaluated(judged: Judged, options: Options) -> list[int]:
    """Numbers of the topics in the order in which they come: 9.0 goes through those of the run, 10.0 of the qrels."""
    order = byte_order(judged.topics)
    return [t for t in order if judged.answered[t]] if options.version == "9.0" else order


def _registered_values(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    counts_unpooled = any(float(grade) == UNPOOLED for grade, _ in wanted.pairs)
    with_gains = ranked.with_unpooled if counts_unpooled else ranked.with_leftovers
    judged = with_gains if wanted.entry.takes == "pairs" else ranked.judged
    return [measure.per_topic(judged) for measure in ours(wanted, ranked.options)]


def ours(wanted: Wanted, options: Options) -> list[Measure]:
    """The measures of ours that a measure of trec_eval corresponds to, one for each printed name."""
    name, numbers = wanted.entry.name, wanted.numbers
    measure = _registered()[name]
    if "rel" in measure.parameters:
        measure = measure(rel=float(options.level))
    if wanted.entry.takes == "ranks":
        return [measure @ int(cutoff) for cutoff in numbers]
    if wanted.entry.takes == "levels":
        return [measure @ level for level in numbers]
    if name == "utility":
        a, b, c, d = numbers
        return [measure(a=a, b=b, c=c, d=d, documents=options.documents)]
    if name == "set_F":
        return [measure(beta=max(numbers[0], 0.0) ** 0.5)]  # their parameter is the square of the textbooks' beta
    p, gain = persistence(wanted)
    if "p" in measure.parameters:
        return [measure(p=p)]
    return [measure(gain=gain) if gain else measure]


@cache
def _registered() -> dict[str, Measure]:
    """Our measures by the names that trec_eval has for them."""
    measures: dict[str, Measure] = {}
    for definition in MEASURES.values():
        measure = called(definition, definition.name)
        measures |= {name: measure for name in (definition.trec, definition.trec_at) if name is not None}
        measures |= {
            trec: called(definition, name) for name, (_, trec) in definition.averages.items() if trec is not None
        }
    return measures


def relstrings(wanted: Wanted, ranked: Rankings) -> list[str]:
    """The grades of each topic's first documents, a character each."""
    judged = ranked.judged
    shown = np.minimum(judged.retrieved, max(int(wanted.numbers[0]), 0))
    width = int(shown.max(initial=0))
    characters = np.full((len(judged.topics), width), ord("-"), dtype=np.uint8)
    seen = judged.rank <= width
    grade = judged.grade[seen]
    character = np.where(grade > 9, ord(">"), np.where(grade < 0, ord("."), ord("0") + np.clip(grade, 0, 9)))
    characters[judged.topic[seen], judged.rank[seen] - 1] = character.astype(np.uint8)
    text = characters.tobytes().decode("ascii")
    return [text[t * width : t * width + n] for t, n in enumerate(shown.tolist())]


def _logarithm(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    return [
        np.log(np.maximum(measure.per_topic(ranked.judged), GEOMETRIC_FLOOR))
        for measure in ours(wanted, ranked.options)
    ]


def _interpolated(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    return reached(ranked.judged, ranked.level, _needed(wanted, ranked))


def _needed(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    """For each recall level how many relevant documents reach it, by the version's rule."""
    relevant = ranked.judged.n_relevant(ranked.level)
    wholes = [level * relevant for level in wanted.numbers]
    if ranked.options.version == "9.0":
        return [np.trunc(whole + 0.9) for whole in wholes]
    return [np.trunc(whole + np.copysign(0.5, whole)) for whole in wholes]  # away from zero, as lround does


def _interpolated_average(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    # From the last level down: in another order the fourth decimal may come out otherwise. trec_eval expects levels in
    # ascending order and does not sort them; one too high for its place counts as recall 0, as do all before it.
    hits = ranked.judged.total(ranked.judged.hits(ranked.level))
    beyond, open_to, lost = np.ones(len(hits), dtype=bool), hits, np.zeros(len(hits), dtype=bool)
    needed: list[Floats] = []
    for count in reversed(_needed(wanted, ranked)):
        beyond &= count > hits
        lost |= ~beyond & ((count > open_to) | (count < 1))
        open_to = np.where(beyond | lost, open_to, count)
        needed.append(np.where(lost, 0.0, count))
    curves = reached(ranked.judged, ranked.level, needed)
    return [sum(curves, np.zeros(len(hits))) / len(curves)]


def _precision_at_multiples(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    relevant = ranked.judged.n_relevant(ranked.level)
    depths = [np.trunc(multiple * relevant + 0.9) for multiple in wanted.numbers]
    return [precision_at(ranked.judged, ranked.level, depth) for depth in depths]


def _rank_biased(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    p, gain = persistence(wanted)
    judged = ranked.with_unpooled if UNPOOLED in gain else ranked.judged
    least, most = _extreme_gains(judged.pool, gain)
    scaled = (least < 0) | (most > 1)  # only then are gains brought to 0 to 1
    shift, width = np.where(scaled, least, 0.0)[judged.topic], np.where(scaled, most - least, 1.0)[judged.topic]
    known = (judged.grade >= 0) | np.isin(judged.grade, list(gain))
    worth = ratio(gains(judged.grade, gain) - shift, width) * known
    return [(1 - p) * judged.total(worth * _powers(p, judged)[judged.rank - 1])]


def _extreme_gains(pool: Pool, gain: Mapping[float, float]) -> tuple[Floats, Floats]:
    """Least and greatest gain of each topic: of all that were given, and of its levels from 0 to the highest."""
    empty = np.diff(pool.offsets) == 0
    first = np.append(pool.grades, 0.0)[pool.offsets[:-1]]
    top = np.where(empty, 0.0, np.maximum(first, 0.0))
    bottom = next(float(level) for level in range(len(gain) + 1) if level not in gain)
    for level in sorted(gain, reverse=True):  # a level with a gain of its own no longer counts as itself
        top = np.where(top == level, top - 1, top)
    worths = list(gain.values())
    any_default = top >= bottom
    least = np.minimum(np.where(any_default, bottom, np.inf), min(worths, default=np.inf))
    most = np.maximum(np.where(any_default, top, -np.inf), max(worths, default=-np.inf))
    return least, most


def _residual(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    p, _ = persistence(wanted)
    power = _powers(p, ranked.judged)
    # What stands so deep that its weight is nothing beside that of rank 1 is not looked at.
    unjudged = ranked.judged.cut(max(int(np.count_nonzero(power > NOTHING)), 1)).unjudged
    below, within = power[ranked.judged.retrieved], unjudged.total(power[unjudged.rank - 1])
    # trec_eval forgets what lies below the list when all of the list is judged.
    everything_judged: Mask = ranked.judged.total(ranked.judged.hits(0)) == ranked.judged.retrieved
    return [np.where(everything_judged, 0.0, below + (1 - p) * within)]


def _powers(p: float, judged: Judged) -> Floats:
    """p⁰, p¹, … to the length of the longest list, each made from the one before: as in trec_eval, to the last bit."""
    factors = np.full(int(judged.retrieved.max(initial=0)) + 1, p)
    factors[0] = 1.0
    return np.multiply.accumulate(factors)


def _harmonic(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    """(x + 1) P R / (x P + R), in trec_eval's order: which way a half is rounded depends on it."""
    judged, x = ranked.judged, wanted.numbers[0]
    hits = judged.total(judged.hits(ranked.level))
    precision, recall = ratio(hits, judged.retrieved), ratio(hits, judged.n_relevant(ranked.level))
    return [ratio((x + 1.0) * precision * recall, x * precision + recall)]


def persistence(wanted: Wanted) -> tuple[float, dict[float, float]]:
    """The parameter p of rbp, and the gains of grades; of several for one grade the first counts."""
    p = next((value for name, value in wanted.pairs if name == "p"), PERSISTENCE)
    return p, {float(int(name)): value for name, value in reversed(wanted.pairs) if name != "p"}


def _at_gain_levels(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    # Gains have nothing to do with -l, and yet a topic without a document of that level has 0.
    has_relevant = ranked.judged.n_relevant(ranked.level) > 0
    return [np.where(has_relevant, values, 0.0) for values in _registered_values(wanted, ranked)]


def _at_gains(wanted: Wanted, ranked: Rankings) -> list[Floats]:
    # Only a sum above 0 is divided and kept.
    return [np.maximum(values, 0.0) for values in _registered_values(wanted, ranked)]


# What trec_eval computes otherwise than our measure of that name, or with other parameters.
OWN: dict[str, Callable[[Wanted, Rankings], list[Floats]]] = {
    "gm_map": _logarithm,
    "gm_bpref": _logarithm,
    "iprec_at_recall": _interpolated,
    "11pt_avg": _interpolated_average,
    "Rprec_mult": _precision_at_multiples,
    "ndcg_rel": _at_gains,
    "Rndcg": _at_gain_levels,
    "rbp": _rank_biased,
    "rbp_resid": _residual,
    "set_F": _harmonic,
}
