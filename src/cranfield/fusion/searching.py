"""Which parameters are best on some topics: every point of a grid, or one coordinate after another. No chance in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from math import comb
from typing import TypeAlias

from cranfield.fusion.method import Method
from cranfield.notation import Value

STEPS = 10  # a weight is a number of tenths
MOST_POINTS = 300  # of a grid of weights: beyond, coordinates are searched one by one
FACTORS = (0.0, 0.25, 0.5, 0.8, 1.25, 2.0, 4.0)  # what a weight is multiplied by in turn
MOST_ROUNDS = 20
BETTER = 1e-12  # gains below are rounding

# A value for each parameter, and what it scores.
Point: TypeAlias = dict[str, Value]
Scored: TypeAlias = tuple[Point, float]
Score: TypeAlias = Callable[[Point], float]


def best_parameters(method: Method, runs: int, fixed: Mapping[str, Value], score: Score) -> Scored:
    """The values of the parameters that are not fixed with which `score` is highest, and that score.

    Of equally good values the first of a grid are taken, and of weights those nearest to equal ones.
    """
    open_names = [name for name in method.tuned if name not in fixed]
    scalars = [name for name in open_names if name != "weights"]
    grids = [method.parameters[name].grid for name in scalars]
    points = [dict(fixed) | dict(zip(scalars, values, strict=True)) for values in product(*grids)]
    if "weights" not in open_names:
        return first_best(points, score)
    if comb(STEPS + runs - 1, runs - 1) <= MOST_POINTS:
        return first_best([point | {"weights": weights} for point in points for weights in simplex(runs)], score)
    return first_best_of([coordinates(point, runs, score) for point in points])


def first_best(points: Iterable[Point], score: Score) -> Scored:
    """The first of the best points.

    >>> first_best([{"k": 1}, {"k": 2}, {"k": 3}], lambda point: -abs(point["k"] - 2.5))
    ({'k': 2}, -0.5)
    """
    return first_best_of([(point, score(point)) for point in points])


def first_best_of(scored: Sequence[Scored]) -> Scored:
    """The first of the best among points with their scores."""
    best = scored[0]
    for point, value in scored[1:]:
        if value > best[1] + BETTER:
            best = point, value
    return best


def simplex(runs: int) -> list[list[float]]:
    """Weights in tenths that sum to 1, the most even ones first.

    >>> simplex(2)[:3]
    [[0.5, 0.5], [0.4, 0.6], [0.6, 0.4]]
    """
    tenths = [parts for parts in product(range(STEPS + 1), repeat=runs) if sum(parts) == STEPS]
    tenths.sort(key=lambda parts: (sum(part * part for part in parts), parts))
    return [[part / STEPS for part in parts] for parts in tenths]


def coordinates(point: Point, runs: int, score: Score) -> Scored:
    """Starts with equal weights and changes one after another for as long as the score grows."""
    best = [round(1 / runs, 12)] * runs
    highest = score(point | {"weights": best})
    for _ in range(MOST_ROUNDS):
        before = highest
        for run in range(runs):
            for factor in FACTORS:
                weights = scaled(best, run, factor)
                if weights is None:
                    continue
                value = score(point | {"weights": weights})
                if value > highest + BETTER:
                    best, highest = weights, value
        if highest <= before + BETTER:
            break
    return point | {"weights": best}, highest


def scaled(weights: Sequence[float], run: int, factor: float) -> list[float] | None:
    """The weights with one multiplied, summing to 1 again; None if nothing would be left, or nothing changes.

    >>> scaled([0.5, 0.5], 0, 0.25)
    [0.2, 0.8]
    """
    changed = [weight * factor if at == run else weight for at, weight in enumerate(weights)]
    total = sum(changed)
    if total <= 0 or weights[run] == 0:
        return None
    return [round(weight / total, 12) for weight in changed]
