"""Means of groups when the same people, and the same tasks, are behind many of the values: a mixed-effects model.

Value = mean of its group (fixed) + what its participant adds + what its topic adds … (random, crossed) + residual. The
variances are those of restricted maximum likelihood, found on the profiled criterion of Bates, Mächler, Bolker and
Walker, "Fitting linear mixed-effects models using lme4", 2015; differences between means have the degrees of freedom of
Satterthwaite ("An approximate distribution of estimates of variance components", 1946), F those of Fai and Cornelius
("Approximate F-tests of multiple degree of freedom hypotheses", 1996). In a balanced design all are those of the
analysis of variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats, Integers

STARTS = (1.0, 0.01)  # variances, in terms of the residual's, from which the best ones are looked for
LARGEST = 1e7  # of them that is looked at
NO_RESIDUAL = 1e5  # of them from which on nothing is left for the residual
NOTHING = 1e-6  # below, in terms of the residual's, a variance is none
FLAT = 1e-4  # slope of the criterion up to which it is at its lowest
PIECE = 1 << 18  # multiplications up to which matrix libraries start no threads
EXACT = 1e-12  # share of the variation below which nothing is left for the residual
NEWTON = 8  # steps at most to the digits that the slope tells; two or three do


class Contrast(NamedTuple):
    """A difference between means, its standard error and its degrees of freedom."""

    value: float
    error: float
    freedom: float


class OverallTest(NamedTuple):
    """Are all means the same? F with its degrees of freedom and p; NaN where there is no residual to judge by."""

    f: float
    freedom: float
    residual_freedom: float
    p: float


@dataclass(frozen=True, kw_only=True)
class MixedFit:
    """Means of the groups, variances of the random effects and of the residual, and the criterion (-2 log likelihood).

    `converged` says whether the criterion is at its lowest. A random effect whose variance is 0 could not be told from
    the residual's chance: the fit is called singular then, and is that of the model without it.
    """

    means: Floats
    covariance: Floats
    variances: Mapping[str, float]
    residual: float
    criterion: float
    converged: bool
    slopes: Floats  # of the covariance by each variance that is not 0, the residual's last
    uncertainty: Floats  # covariance of these variances

    @property
    def singular(self) -> tuple[str, ...]:
        """The random effects that have no variance."""
        return tuple(name for name, variance in self.variances.items() if variance == 0)

    def contrast(self, weights: Floats) -> Contrast:
        """A weighted sum of the means, such as the difference of two."""
        square = float(weights @ self.covariance @ weights)
        slope = np.einsum("i,kij,j->k", weights, self.slopes, weights)
        spread = float(slope @ self.uncertainty @ slope)
        freedom = 2 * square**2 / spread if spread > 0 else np.nan
        return Contrast(float(weights @ self.means), float(np.sqrt(square)), freedom)

    def overall(self) -> OverallTest:
        """The test that all means are the same."""
        from scipy.special import fdtrc

        groups = len(self.means)
        contrasts = np.eye(groups)[:-1] - np.eye(groups)[1:]
        values, vectors = np.linalg.eigh(contrasts @ self.covariance @ contrasts.T)
        if self.residual == 0 or values.min() <= 0:
            return OverallTest(np.nan, groups - 1, np.nan, np.nan)
        parts = [self.contrast(vector @ contrasts) for vector in vectors.T]
        f = sum((part.value / part.error) ** 2 for part in parts) / len(parts)
        expected = sum(part.freedom / (part.freedom - 2) for part in parts if part.freedom > 2)
        freedom = 2 * expected / (expected - len(parts)) if expected > len(parts) else np.nan
        if len(parts) == 1:
            freedom = parts[0].freedom
        return OverallTest(float(f), groups - 1, freedom, float(fdtrc(groups - 1, freedom, f)))


class _Products(NamedTuple):
    """What the criterion needs of the data: products of columns for groups and random effects, and with the values.

    Columns of one random effect, the root, and of those within it, such as participant and participant × system, meet
    only within a level of the root: they are in blocks, a level each, which are solved one by one. What is left, the
    plain columns, is those of the groups, first, and of the other random effects.
    """

    rows: int
    groups: int
    values: float
    blocks: Floats  # [level, column, column]
    across: Floats  # [level, column, plain column]
    plain: Floats  # [plain column, plain column]
    block_values: Floats  # [level, column]
    plain_values: Floats
    places: tuple[tuple[bool, slice], ...]  # of each random effect: whether in the blocks, and its columns


def fit_mixed(values: Floats, group: Integers, random: Mapping[str, Integers]) -> MixedFit:
    """Fits the model: `group` numbers each value's group, `random` for each random effect the level of each value.

    >>> participant, system = np.repeat(np.arange(4), 2), np.tile(np.arange(2), 4)
    >>> fit = fit_mixed(np.array([3.0, 4, 2, 4, 5, 5, 1, 3]), system, {"participant": participant})
    >>> fit.means.round(3), round(fit.variances["participant"], 3), round(fit.residual, 3)
    (array([2.75, 4.  ]), 1.333, 0.458)
    >>> [round(part, 3) for part in fit.contrast(np.array([-1.0, 1.0]))]
    [1.25, 0.479, 3.0]
    """
    from scipy.optimize import minimize

    centre = float(values.mean())
    products = _products(values - centre, group, random)
    if products.rows <= products.groups:
        raise UsageError(f"{products.rows} values of {products.groups} groups leave nothing to judge differences by")
    sizes, sums = np.diag(products.plain)[: products.groups], products.plain_values[: products.groups]
    within = products.values - float((sums**2 / sizes).sum())
    if within <= EXACT * float(values @ values):  # every value is the mean of its group
        return _fitted(products, np.zeros(len(random)), list(random), centre)
    runs = [
        minimize(
            lambda ratios: _criterion(products, ratios),
            np.full(len(random), start),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, LARGEST)] * len(random),
            options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
        )
        for start in (STARTS if random else ())
    ]
    found = min(runs, key=lambda run: run.fun).x if runs else np.empty(0)
    ratios = _settled(products, np.where(found < NOTHING, 0.0, found))
    return _fitted(products, ratios, list(random), centre)


def _products(values: Floats, group: Integers, random: Mapping[str, Integers]) -> _Products:
    groups = int(group.max()) + 1
    root, inner = _arrangement(random)
    places: list[tuple[bool, slice]] = []
    in_blocks: list[Integers] = []
    in_plain = [group]
    width, end = 0, groups
    for name, level in random.items():
        if name in inner:
            place = inner[name]
            size = int(place.max()) + 1
            places.append((True, slice(width, width + size)))
            in_blocks.append(width + place)
            width += size
        else:
            size = int(level.max()) + 1
            places.append((False, slice(end, end + size)))
            in_plain.append(end + level)
            end += size
    levels = int(root.max(initial=-1)) + 1
    blocks, across = np.zeros((levels, width, width)), np.zeros((levels, width, end))
    plain, block_values, plain_values = np.zeros((end, end)), np.zeros((levels, width)), np.zeros(end)
    for column in in_plain:
        np.add.at(plain_values, column, values)
        for other in in_plain:
            np.add.at(plain, (column, other), 1)
    for column in in_blocks:
        np.add.at(block_values, (root, column), values)
        for other in in_blocks:
            np.add.at(blocks, (root, column, other), 1)
        for other in in_plain:
            np.add.at(across, (root, column, other), 1)
    square = float(values @ values)
    return _Products(len(values), groups, square, blocks, across, plain, block_values, plain_values, tuple(places))


def _arrangement(random: Mapping[str, Integers]) -> tuple[Integers, dict[str, Integers]]:
    """The root that leaves the fewest columns to be solved at once, and of the effects within it, for each value, the
    place of its level among those of the same level of the root."""
    best: tuple[Integers, dict[str, Integers]] = (np.empty(0, dtype=np.int64), {})
    fewest = np.inf
    for root in random.values():
        inner = {}
        columns = 0
        for name, level in random.items():
            place = _place_within(level, root)
            if place is not None:
                inner[name] = place
            columns += int((level if place is None else place).max()) + 1
        if columns < fewest:
            best, fewest = (root, inner), columns
    return best


def _place_within(level: Integers, root: Integers) -> Integers | None:
    """Of each value's level, its place among the levels with the same root; None if one has several roots.

    >>> cells, people = np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])
    >>> _place_within(cells, people), _place_within(people, cells)
    (array([0, 1, 0, 0]), None)
    """
    owners = np.full(int(level.max()) + 1, -1)
    owners[level] = root
    if (owners[level] != root).any():
        return None
    order = np.argsort(owners, kind="stable")
    ordered = owners[order]
    places = np.empty_like(owners)
    places[order] = np.arange(len(owners)) - np.searchsorted(ordered, ordered)
    return np.asarray(places[level], dtype=np.int64)


class _Solved(NamedTuple):
    """Henderson's equations of the model, solved for variances in terms of the residual's.

    With A the columns in blocks, C the plain ones, M = (I + A D A')⁻¹ = I - A B A' and K the weights of C,
    P = M - M C K C' M takes off the values what groups and random effects explain.
    """

    inner: Floats  # B
    kept: Floats  # I - A'A B, so that A'M = kept A'
    left: Floats  # A'MC
    reduced: Floats  # C'MC
    weights: Floats  # K
    reduced_values: Floats  # C'My
    effects: Floats  # of the plain columns
    logarithm: float  # of the determinant of the equations
    residual: float  # sum of squares


def _crossed(first: Floats, second: Floats) -> Floats:
    """Sum over blocks of first'second, in pieces for which no threads are started: where cores are busy, waiting for
    them takes many times as long as multiplying, and it is done for every guess of the variances."""
    first, second = (matrix.reshape(-1, matrix.shape[2]) for matrix in (first, second))
    step = PIECE // (first.shape[1] * second.shape[1])
    if step < 4:
        return np.asarray(first.T @ second)
    total = np.zeros((first.shape[1], second.shape[1]))
    for start in range(0, len(first), step):
        total += first[start : start + step].T @ second[start : start + step]
    return total


def _solved(products: _Products, ratios: Floats) -> _Solved:
    block_scale, plain_scale = np.ones(products.blocks.shape[1]), np.ones(len(products.plain))
    prior = np.zeros(len(plain_scale))
    for (in_blocks, columns), ratio in zip(products.places, ratios, strict=True):
        if in_blocks:
            block_scale[columns] = np.sqrt(ratio)
        else:
            plain_scale[columns], prior[columns] = np.sqrt(ratio), 1.0
    block_scales = np.outer(block_scale, block_scale)
    equations = products.blocks * block_scales + np.eye(len(block_scale))
    inner = np.linalg.inv(equations) * block_scales
    kept = np.eye(len(block_scale)) - products.blocks @ inner
    taken = inner @ products.across
    reduced = products.plain - _crossed(products.across, taken)
    reduced_values = products.plain_values - np.einsum("bim,bi->m", taken, products.block_values)
    plain_scales = np.outer(plain_scale, plain_scale)
    remaining = reduced * plain_scales + np.diag(prior)
    weights = np.linalg.inv(remaining) * plain_scales
    effects = weights @ reduced_values
    explained = np.einsum("bi,bij,bj->", products.block_values, inner, products.block_values)
    residual = max(products.values - float(explained) - float(reduced_values @ effects), 0.0)
    logarithm = float(np.linalg.slogdet(equations)[1].sum() + np.linalg.slogdet(remaining)[1])
    return _Solved(inner, kept, kept @ products.across, reduced, weights, reduced_values, effects, logarithm, residual)


def _criterion(products: _Products, ratios: Floats) -> tuple[float, Floats]:
    """The profiled restricted criterion and its slope by each ratio."""
    solved = _solved(products, ratios)
    free = products.rows - products.groups
    residual = max(solved.residual, EXACT * products.values)
    value = solved.logarithm + free * (1 + np.log(2 * np.pi * residual / free))
    # Of each column z, z'Pz and z'Py.
    in_blocks = np.einsum("bij,bji->bi", solved.kept, products.blocks)
    in_blocks -= ((solved.left @ solved.weights) * solved.left).sum(axis=2)
    in_plain = np.diag(solved.reduced) - ((solved.reduced @ solved.weights) * solved.reduced).sum(axis=1)
    unexplained_blocks = np.einsum("bij,bj->bi", solved.kept, products.block_values) - solved.left @ solved.effects
    unexplained_plain = solved.reduced_values - solved.reduced @ solved.effects
    slope = []
    for blocked, columns in products.places:
        left = in_blocks[:, columns] if blocked else in_plain[columns]
        unexplained = unexplained_blocks[:, columns] if blocked else unexplained_plain[columns]
        slope.append(left.sum() - free / residual * float(np.square(unexplained).sum()))
    return float(value), np.array(slope)


def _settled(products: _Products, ratios: Floats) -> Floats:
    """The ratios moved to where the criterion is flat, by Newton's steps on its slope.

    The criterion itself tells a minimum from its neighbours to half of the digits, so that the others were those of the
    processor; its slope tells all of them.
    """
    free = np.flatnonzero((ratios > 0) & (ratios < NO_RESIDUAL))
    slope = _criterion(products, ratios)[1][free]
    for _ in range(NEWTON if len(free) else 0):
        columns = []
        for place in free:
            apart = np.zeros_like(ratios)
            apart[place] = 1e-5 * ratios[place]
            rise = _criterion(products, ratios + apart)[1] - _criterion(products, ratios - apart)[1]
            columns.append(rise[free] / (2 * apart[place]))
        step = np.linalg.lstsq(np.array(columns).T, slope, rcond=None)[0]
        moved = ratios.copy()
        moved[free] -= step
        if (np.abs(step) > 0.01 * ratios[free]).any():  # not near a minimum: what was found stays
            break
        further = _criterion(products, moved)[1][free]
        if np.abs(further * moved[free]).max() >= np.abs(slope * ratios[free]).max():
            break
        ratios, slope = moved, further
    return ratios


def _fitted(products: _Products, ratios: Floats, names: list[str], centre: float) -> MixedFit:
    solved = _solved(products, ratios)
    free, groups = products.rows - products.groups, products.groups
    exact = bool(np.any(ratios > NO_RESIDUAL)) or solved.residual <= EXACT * (
        products.values + products.rows * centre**2
    )
    criterion, slope = (np.nan, np.zeros(len(ratios))) if exact else _criterion(products, ratios)
    residual = 0.0 if exact else solved.residual / free
    slopes, uncertainty = _spread(products, solved, ratios, residual)
    # At 0 the criterion may only rise; elsewhere it must be flat, by the size of the ratio.
    flat = np.where(ratios > 0, np.abs(slope * ratios) < FLAT * free, slope > -FLAT * free)
    return MixedFit(
        means=solved.effects[:groups] + centre,
        covariance=solved.weights[:groups, :groups] * residual,
        variances={name: float(ratio * residual) for name, ratio in zip(names, ratios, strict=True)},
        residual=residual,
        criterion=criterion,
        converged=bool(flat.all() and not exact),
        slopes=slopes,
        uncertainty=uncertainty,
    )


def _spread(products: _Products, solved: _Solved, ratios: Floats, residual: float) -> tuple[Floats, Floats]:
    """Slopes of the means' covariance by each variance above 0, and the covariance of these variances.

    The latter is the inverse of the expected information, ½ tr(P Vᵢ P Vⱼ), in terms of σ⁴.
    """
    groups, weights = products.groups, solved.weights
    present = [place for place, ratio in zip(products.places, ratios, strict=True) if ratio > 0]
    count = len(present) + 1
    if residual == 0:
        return np.zeros((count, groups, groups)), np.zeros((count, count))
    twice, thrice = _powers(products, solved)
    information = np.empty((count, count))
    for i, one in enumerate(present):
        for j, other in enumerate(present):
            information[i, j] = _shared(products, solved, one, other)
        information[i, -1] = information[-1, i] = _alone(products, solved, one, twice)
    taken = solved.inner @ products.blocks
    squares = products.rows - 2 * np.einsum("bii->", taken) + np.einsum("bij,bji->", taken, taken)
    both = np.trace(weights @ twice @ weights @ twice)
    information[-1, -1] = squares - 2 * np.trace(weights @ thrice) + both
    slopes = []
    for blocked, columns in present:
        # What each column weighs in each mean.
        fixed = (
            np.einsum("gm,bim->gbi", weights[:groups], solved.left[:, columns]).reshape(groups, -1)
            if blocked
            else (weights @ solved.reduced)[:groups, columns]
        )
        slopes.append(fixed @ fixed.T)
    slopes.append(weights[:groups] @ twice @ weights[:, :groups])
    uncertainty = np.linalg.pinv(information / residual**2 / 2, hermitian=True)
    return np.array(slopes), np.asarray(uncertainty, dtype=np.float64)


def _powers(products: _Products, solved: _Solved) -> tuple[Floats, Floats]:
    """C'M²C and C'M³C: M takes A B A' off what it is applied to, again and again."""
    powers, left, taken = [], products.across, np.zeros_like(products.across)
    for _ in range(3):
        taken = taken + solved.inner @ left
        left = solved.kept @ left
        powers.append(products.plain - _crossed(products.across, taken))
    return powers[1], powers[2]


def _shared(products: _Products, solved: _Solved, one: tuple[bool, slice], other: tuple[bool, slice]) -> float:
    """Sum of squares of Zᵢ'PZⱼ, which for two effects in blocks is blocks less a product of narrow matrices."""
    weights, reduced = solved.weights, solved.reduced
    (first_blocked, first), (second_blocked, second) = one, other
    rest = reduced - reduced @ weights @ reduced
    if not first_blocked and not second_blocked:
        return float(np.square(rest[first, second]).sum())
    if first_blocked and second_blocked:
        blocks = (solved.kept @ products.blocks)[:, first, second]
        left, right = solved.left[:, first], solved.left[:, second]
        narrow = left @ weights
        between = _crossed(left, left) @ weights
        between = between @ _crossed(right, right) @ weights
        return float(np.square(blocks).sum() - 2 * np.einsum("bij,bim,bjm->", blocks, narrow, right) + between.trace())
    left, columns = (solved.left[:, first], second) if first_blocked else (solved.left[:, second], first)
    return float(np.square((left - left @ weights @ reduced)[:, :, columns]).sum())


def _alone(products: _Products, solved: _Solved, place: tuple[bool, slice], twice: Floats) -> float:
    """Trace of Z'PPZ."""
    blocked, columns = place
    weights, reduced = solved.weights, solved.reduced
    around = weights @ twice @ weights
    if not blocked:
        once = twice @ weights @ reduced
        return float(np.diag(twice - once - once.T + reduced @ around @ reduced)[columns].sum())
    left = solved.left[:, columns]
    further = (solved.kept @ solved.left)[:, columns]
    squares = np.einsum("bij,bjk,bik->bi", solved.kept, products.blocks, solved.kept)[:, columns]
    return float(squares.sum() - 2 * ((further @ weights) * left).sum() + ((left @ around) * left).sum())
