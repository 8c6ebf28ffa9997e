"""Times tests of significance in a fresh process: `python bench/significance.py CONTENDER SHAPE`

Prints the seconds that all pairs of systems take at 100,000 resamples, and the p-values of the first pairs. What would
take hours is timed on a few pairs, or with fewer resamples, and multiplied: time is proportional to both.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
RESAMPLES = 100_000
SHOWN = 3  # pairs whose p-values are printed, to be the same for all contenders


class Shape(NamedTuple):
    systems: int
    topics: int
    decimals: int  # of the scores; with 17 they have nothing in common
    peer_resamples: int  # what the peers, which take a minute a pair at 6,980 topics, are timed with


SHAPES = {
    "trec": Shape(systems=100, topics=50, decimals=4, peer_resamples=RESAMPLES),
    "marco": Shape(systems=20, topics=6980, decimals=17, peer_resamples=2_000),
}


def scores_of(shape: Shape) -> Floats:
    """Scores with the margin and the correlation of average precision at TREC, of systems about as far apart."""
    from scipy import special

    random = np.random.default_rng(1)
    common, own = random.normal(size=shape.topics), random.normal(size=(shape.systems, shape.topics))
    ability = random.normal(scale=0.5, size=(shape.systems, 1))
    share = special.ndtr(np.sqrt(0.6) * common + np.sqrt(0.4) * own + ability)
    return np.asarray(np.round(special.betaincinv(0.7, 1.9, share), shape.decimals))


def ours(function: Callable[[Floats, Any, Any], Any]) -> Callable[[Floats, Shape], tuple[float, Iterable[float]]]:
    """Times one of our functions on all pairs."""

    def timed(scores: Floats, shape: Shape) -> tuple[float, Iterable[float]]:
        from cranfield.statistics.significance import Sampling, all_pairs

        pairs, sampling = all_pairs(shape.systems), Sampling(resamples=RESAMPLES)
        function(scores[:, :30], pairs, Sampling(resamples=64))  # loads what it needs
        start = time.perf_counter()
        found = function(scores, pairs, sampling)
        return time.perf_counter() - start, getattr(found, "p", found)[:SHOWN]

    return timed


def drawn(scores: Floats, pairs: Any, sampling: Any) -> Any:
    from cranfield.statistics.randomised import monte_carlo_p

    return monte_carlo_p(scores, pairs, sampling)


def exact(scores: Floats, pairs: Any, sampling: Any) -> Any:
    from cranfield.statistics.randomised import exact_p

    found = exact_p(scores, pairs, sampling)
    assert not np.isnan(found).any()
    return found


def registered(name: str) -> Callable[[Floats, Any, Any], Any]:
    def test(scores: Floats, pairs: Any, sampling: Any) -> Any:
        from cranfield.statistics.significance import find_test

        return find_test(name).function(scores, pairs, sampling)

    return test


def pair_by_pair(
    test: Callable[[Floats, Floats, int], float], pairs_timed: int
) -> Callable[[Floats, Shape], tuple[float, Iterable[float]]]:
    """Times a peer's test on the first pairs: all of them would take that much longer."""

    def timed(scores: Floats, shape: Shape) -> tuple[float, Iterable[float]]:
        test(scores[0, :30], scores[1, :30], 64)  # loads and compiles
        start = time.perf_counter()
        p = [test(scores[0], scores[other + 1], shape.peer_resamples) for other in range(pairs_timed)]
        seconds = time.perf_counter() - start
        all_pairs = shape.systems * (shape.systems - 1) / 2
        return seconds * all_pairs / pairs_timed * RESAMPLES / shape.peer_resamples, p[:SHOWN]

    return timed


def with_scipy(one: Floats, other: Floats, resamples: int) -> float:
    from scipy import stats

    found = stats.permutation_test(
        (one, other), mean_difference, permutation_type="samples", n_resamples=resamples, vectorized=True
    )
    return float(found.pvalue)


def mean_difference(one: Floats, other: Floats, axis: int) -> Any:
    return np.mean(one, axis=axis) - np.mean(other, axis=axis)


def with_ranx(one: Floats, other: Floats, resamples: int) -> float:
    from ranx.statistical_tests import fisher_randomization_test

    return float(fisher_randomization_test(one, other, n_permutations=resamples)[0])


def tukey_with_numpy(scores: Floats, shape: Shape) -> tuple[float, Iterable[float]]:
    """What the formula looks like in NumPy, on a few of the resamples."""
    random, resamples = np.random.default_rng(1), 2_000
    start = time.perf_counter()
    ranges = [np.ptp(random.permuted(scores, axis=0).mean(axis=1)) for _ in range(resamples)]
    seconds = time.perf_counter() - start
    observed = np.abs(scores[0].mean() - scores[1 : SHOWN + 1].mean(axis=1))
    return seconds * RESAMPLES / resamples, (np.array(ranges)[:, None] >= observed).mean(axis=0)


CONTENDERS = {
    "drawn": ours(drawn),
    "exact": ours(exact),
    "randomised-tukey": ours(registered("randomised-tukey")),
    "maxt": ours(registered("maxt")),
    "t": ours(registered("t")),
    "scipy": pair_by_pair(with_scipy, 3),
    "ranx": pair_by_pair(with_ranx, 6),
    "tukey, numpy": tukey_with_numpy,
}


def main(contender: str, shape: Shape) -> None:
    seconds, p = CONTENDERS[contender](scores_of(shape), shape)
    print(json.dumps({"seconds": seconds, "means": {f"p of pair {i}": float(value) for i, value in enumerate(p)}}))


if __name__ == "__main__":
    main(sys.argv[1], SHAPES[sys.argv[2]])
