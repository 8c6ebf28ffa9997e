"""From the chance to go on at each rank to what a user of that kind gains and reads.

Users stop at the cutoff at the latest, by default at rank 1000 as in cwl_eval. Every rank down to it is written out, a
block of topics at a time: sums between hits have closed forms, but another for each model and yet another for the
residual, while so a model is one formula, that of its paper. At 1000 ranks a topic costs a few microseconds a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cranfield.judged import Floats, Judged
from cranfield.measures.arithmetic import ratio
from cranfield.measures.registry import Parameter, is_number

QUANTITIES = ("EU", "ETU", "EC", "ETC", "ED", "residual")
DEEPEST = 100_000
CELLS = 2**18  # ranks of all topics of a block: what is written out stays in the cache


def _is_depth(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DEEPEST


# What every model has.
MODEL: Mapping[str, Any] = {
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
# The gains of some topics, a row each, and the gain that every topic has elsewhere; to utility and depth.
Reading = Callable[[Floats, Floats], tuple[Floats, Floats]]


def walk(
    judged: Judged, of: str, max_grade: float | None, cutoff: int, going_on: Callable[[Floats, Floats], Floats]
) -> Floats:
    """A quantity of the user who goes on from each rank, given all gains, with this chance."""
    rank = np.arange(1.0, cutoff + 1)

    def read(gain: Floats, elsewhere: Floats) -> tuple[Floats, Floats]:
        seen = np.ones_like(gain)
        np.cumprod(going_on(rank, gain)[:, :-1], axis=1, out=seen[:, 1:])
        depth = seen.sum(axis=1)
        return (seen * gain).sum(axis=1) / depth, depth

    return quantity(judged, of, max_grade, cutoff, read)


def quantity(judged: Judged, of: str, max_grade: float | None, cutoff: int, read: Reading) -> Floats:
    """What is asked of the user who reads like this, for each topic."""
    out = np.ones(len(judged.topics))
    if of == "EC":
        return out
    highest = judged.pool.max_grade if max_grade is None else max_grade
    pooled = judged.pool.once(("C/W/L", highest), lambda: judged.pool.total(_gains(judged.pool.grades, highest)))
    hit = np.flatnonzero((judged.rank <= cutoff) & (judged.grade >= 0))
    gains, topic, column = _gains(judged.grade[hit], highest), judged.topic[hit], judged.rank[hit] - 1
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
            best[cell] = gains[shown]
            out[block] = read(best, elsewhere)[0] - utility
        else:
            out[block] = {"EU": utility, "ETU": utility * depth, "ETC": depth, "ED": depth}[of]
    return out


def _gains(grade: Floats, highest: float) -> Floats:
    return ratio(np.clip(grade, 0.0, max(highest, 0.0)), highest)
