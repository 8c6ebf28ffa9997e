"""From the chance to go on at each rank to what a user of that kind gains and reads.

Users stop at the cutoff at the latest, by default at rank 1000 as in cwl_eval. Every rank down to it is written out, a
block of topics at a time: sums between hits have closed forms, but another for each model and yet another for the
residual, while so a model is one formula, that of its paper. At 1000 ranks a topic costs a few microseconds a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import ratio
from cranfield.measures.definition import Better
from cranfield.measures.explained import Trace, Working
from cranfield.measures.explained_gains import by_attention
from cranfield.notation import Value
from cranfield.registry import Parameter, is_number

SEEN = "V"  # not a quantity of a topic: the chance that each rank is seen, for `explain`
QUANTITIES = ("EU", "ETU", "EC", "ETC", "ED", "residual")
DEEPEST = 100_000
CELLS = 2**18  # ranks of all topics of a block: what is written out stays in the cache


def _is_depth(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DEEPEST


def explained(
    trace: Trace, *, of: str, min_grade: float, max_grade: float | None, cutoff: int, **own: Value
) -> Working:
    """How a user model's value arises: by the chance that each rank is seen."""
    grades = (min_grade, max_grade)
    seen = trace.function(trace.judged, of=SEEN, min_grade=min_grade, max_grade=max_grade, cutoff=cutoff, **own)
    return by_attention(trace, seen[0], gains_by_rank(trace.judged, grades, cutoff)[0], of=of)


def better(*, of: str, **_: Value) -> Better:
    """More gain is better. How much is read for it, and what is not known of it, has no better side of its own."""
    return "higher" if of in ("EU", "ETU") else "neither"


# What every model has.
MODEL: Mapping[str, Any] = {
    "better": better,
    "explain": explained,
    "min_grade": Parameter(
        "the grade that is worth 0, lower ones too", "a number from 0", lambda v: is_number(v) and v >= 0
    ),
    "max_grade": Parameter(
        "the grade that is worth 1, higher ones too; None takes the highest of the judgements",
        "None or a number above 0",
        lambda v: v is None or (is_number(v) and v > 0),
    ),
    "of": Parameter(
        "EU expected utility (the measure), ETU expected total utility, EC expected cost, ETC expected total cost, ED "
        "expected depth, or the residual of EU",
        ", ".join(map(repr, QUANTITIES)),
        lambda v: isinstance(v, str) and v in QUANTITIES,
    ),
    "cutoff": Parameter("the rank at which every user stops", f"a whole number from 1 to {DEEPEST}", _is_depth),
}
Grade = float | None  # None: the highest of the judgements
Grades = tuple[float, Grade]  # those that are worth 0 and 1
# The gains of some topics, a row each, and the gain that every topic has elsewhere; to utility and depth.
Reading = Callable[[Floats, Floats], tuple[Floats, Floats]]


def walk(judged: Judged, of: str, grades: Grades, cutoff: int, going_on: Callable[[Floats, Floats], Floats]) -> Floats:
    """A quantity of the user who goes on from each rank, given all gains, with this chance."""
    rank = np.arange(1.0, cutoff + 1)

    def seen_with(gain: Floats) -> Floats:
        seen = np.ones_like(gain)
        np.cumprod(going_on(rank, gain)[:, :-1], axis=1, out=seen[:, 1:])
        return seen

    def read(gain: Floats, elsewhere: Floats) -> tuple[Floats, Floats]:
        seen = seen_with(gain)
        depth = seen.sum(axis=1)
        return (seen * gain).sum(axis=1) / depth, depth

    if of == SEEN:
        return seen_with(gains_by_rank(judged, grades, cutoff))
    return quantity(judged, of, grades, cutoff, read)


def quantity(judged: Judged, of: str, grades: Grades, cutoff: int, read: Reading) -> Floats:
    """What is asked of the user who reads like this, for each topic."""
    out = np.ones(len(judged.topics))
    if of == "EC":
        return out
    lowest, highest = grades[0], judged.pool.max_grade if grades[1] is None else grades[1]
    if grades[1] is not None and lowest >= highest:
        raise UsageError(f"min_grade must be below max_grade, but they are {lowest:g} and {highest:g}")
    pooled = pooled_gain(judged, grades)
    known = judged.grade >= 0
    shown_at, gains = judged.levelled(known * _gains(judged.grade, lowest, highest))
    _, certain = judged.levelled(known.astype(np.float64))  # of tied documents the share that is judged
    hit = np.flatnonzero((shown_at.rank <= cutoff) & (certain > 0))
    gains, certain, topic, column = gains[hit], certain[hit], shown_at.topic[hit], shown_at.rank[hit] - 1
    step = max(1, CELLS // cutoff)
    for start in range(0, len(out), step):
        block = slice(start, min(start + step, len(out)))
        shown = slice(*np.searchsorted(topic, (block.start, block.stop)))
        cell = (topic[shown] - start, column[shown])
        gain = np.zeros((block.stop - start, cutoff))
        gain[cell] = gains[shown]
        elsewhere = np.maximum(pooled[block] - gain.sum(axis=1), 0.0)
        utility, depth = read(gain, elsewhere)
        if of == "residual":
            best = np.ones_like(gain)
            best[cell] = gains[shown] + (1 - certain[shown])
            out[block] = read(best, elsewhere)[0] - utility
        else:
            out[block] = {"EU": utility, "ETU": utility * depth, "ETC": depth, "ED": depth}[of]
    return out


def gains_by_rank(judged: Judged, grades: Grades, cutoff: int) -> Floats:
    """The gain at each rank down to the cutoff, a row for each topic."""
    highest = judged.pool.max_grade if grades[1] is None else grades[1]
    hit = np.flatnonzero((judged.rank <= cutoff) & (judged.grade >= 0))
    gain = np.zeros((len(judged.topics), cutoff))
    gain[judged.topic[hit], judged.rank[hit] - 1] = _gains(judged.grade[hit], grades[0], highest)
    return gain


def pooled_gain(judged: Judged, grades: Grades) -> Floats:
    """The gain of all judged documents of each topic."""
    lowest, highest = grades[0], judged.pool.max_grade if grades[1] is None else grades[1]
    return judged.pool.once(
        ("C/W/L", lowest, highest), lambda: judged.pool.total(_gains(judged.pool.grades, lowest, highest))
    )


def _gains(grade: Floats, lowest: float, highest: float) -> Floats:
    scale = max(highest - lowest, 0.0)
    return ratio(np.clip(grade - lowest, 0.0, scale), scale)
