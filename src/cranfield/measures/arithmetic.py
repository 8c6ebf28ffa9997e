"""Small pieces that formulas share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cranfield.judged import Floats, Integers, Judged

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cranfield.notation import Value


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """numerator / denominator, and 0 where the denominator is 0.

    >>> ratio([1.0, 2.0], [2.0, 0.0])
    array([0.5, 0. ])
    """
    top, bottom = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    out: Floats = np.divide(top, bottom, out=np.zeros(top.shape), where=bottom != 0)
    return out


def f_beta(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + b²) P R / (b² P + R), and 0 where both are 0."""
    weight = beta * beta
    return ratio((1 + weight) * precision * recall, weight * precision + recall)


def within(rank: Integers, cutoff: int | None) -> Floats:
    """1 down to the cutoff, 0 below."""
    return np.ones(len(rank)) if cutoff is None else (rank <= cutoff).astype(np.float64)


def reciprocal_rank(judged: Judged, rel: float, cutoff: int | None) -> Floats:
    """One over the rank of each topic's first relevant document down to the cutoff; 0 without one."""
    hit = judged.hits(rel, cutoff)
    return judged.total(hit * (judged.running(hit) == 1) / judged.rank)


def number_relevant(judged: Judged, *, rel: float, **_: Value) -> Floats:
    """How many relevant documents each topic has: what recall, AP and R-precision divide by."""
    return judged.n_relevant(rel)
