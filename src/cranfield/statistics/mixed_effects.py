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
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.statistics.significance import Floats, Integers

STARTS = (1.0, 0.01)  # variances, in terms of the residual's, from which the best ones are looked for
LARGEST = 1e7  # of them that is looked at
NO_RESIDUAL = 1e5  # of them from which on nothing is left for the residual
NOTHING = 1e-6  # below, in terms of the residual's, a variance is none
FLAT = 1e-4  # slope of the criterion up to which it is at its lowest
EXACT = 1e-12  # share of the variation below which nothing is left for the residual


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
    """What the criterion needs of the data: products of the columns for groups and random effects, and with values."""

    rows: int
    groups: int
    columns: Floats
    with_values: Floats
    values: float
    ends: tuple[int, ...]  # where the columns of each random effect end, the first after those of the groups

    @property
    def effects(self) -> list[slice]:
        return [slice(start, end) for start, end in pairwise(self.ends)]


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
    within = products.values - float((products.with_values**2 / np.diag(products.columns))[: products.groups].sum())
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
    ratios = np.where(found < NOTHING, 0.0, found)
    return _fitted(products, ratios, list(random), centre)


def _products(values: Floats, group: Integers, random: Mapping[str, Integers]) -> _Products:
    counts = [int(level.max()) + 1 for level in (group, *random.values())]
    columns = np.hstack([np.eye(n)[level] for n, level in zip(counts, (group, *random.values()), strict=True)])
    ends = tuple(np.cumsum(counts).tolist())
    return _Products(len(values), counts[0], columns.T @ columns, columns.T @ values, float(values @ values), ends)


class _Solved(NamedTuple):
    """Henderson's equations of the model, solved for variances in terms of the residual's."""

    inverse: Floats
    logarithm: float  # of their determinant
    scale: Floats
    effects: Floats
    residual: float  # sum of squares


def _solved(products: _Products, ratios: Floats) -> _Solved:
    scale = np.ones(len(products.columns))
    prior = np.zeros(len(scale))
    for columns, ratio in zip(products.effects, ratios, strict=True):
        scale[columns], prior[columns] = np.sqrt(ratio), 1.0
    equations = products.columns * np.outer(scale, scale) + np.diag(prior)
    inverse = np.asarray(np.linalg.inv(equations), dtype=np.float64)
    right = scale * products.with_values
    effects = inverse @ right
    residual = max(products.values - float(right @ effects), 0.0)
    return _Solved(inverse, float(np.linalg.slogdet(equations)[1]), scale, effects, residual)


def _criterion(products: _Products, ratios: Floats) -> tuple[float, Floats]:
    """The profiled restricted criterion and its slope by each ratio."""
    solved = _solved(products, ratios)
    free = products.rows - products.groups
    residual = max(solved.residual, EXACT * products.values)
    value = solved.logarithm + free * (1 + np.log(2 * np.pi * residual / free))
    scaled = products.columns * solved.scale  # products of plain columns with scaled ones
    left = np.diag(products.columns) - ((scaled @ solved.inverse) * scaled).sum(axis=1)
    unexplained = products.with_values - scaled @ solved.effects
    slope = [
        left[columns].sum() - free / residual * float(np.square(unexplained[columns]).sum())
        for columns in products.effects
    ]
    return float(value), np.array(slope)


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
        covariance=solved.inverse[:groups, :groups] * residual,
        variances={name: float(ratio * residual) for name, ratio in zip(names, ratios, strict=True)},
        residual=residual,
        criterion=criterion,
        converged=bool(flat.all() and not exact),
        slopes=slopes,
        uncertainty=uncertainty,
    )


def _spread(products: _Products, solved: _Solved, ratios: Floats, residual: float) -> tuple[Floats, Floats]:
    """Slopes of the means' covariance by each variance above 0, and the covariance of these variances.

    The latter is the inverse of the expected information, ½ tr(P Vᵢ P Vⱼ) with P = (I - W B Wᵀ) / σ².
    """
    groups = products.groups
    present = [columns for columns, ratio in zip(products.effects, ratios, strict=True) if ratio > 0]
    count = len(present) + 1
    if residual == 0:
        return np.zeros((count, groups, groups)), np.zeros((count, count))
    plain = products.columns
    weights = solved.inverse * np.outer(solved.scale, solved.scale)  # B
    gram = plain @ weights
    once = (plain - gram @ plain) / residual  # Wᵀ P W
    twice = (plain - 2 * gram @ plain + gram @ gram @ plain) / residual**2  # Wᵀ P P W
    information = np.empty((count, count))
    for i, one in enumerate(present):
        for j, other in enumerate(present):
            information[i, j] = np.square(once[one, other]).sum() / 2
        information[i, -1] = information[-1, i] = np.trace(twice[one, one]) / 2
    both = np.trace(gram @ gram)
    information[-1, -1] = (products.rows - 2 * np.trace(gram) + both) / residual**2 / 2
    fixed = (solved.inverse * solved.scale)[:groups] @ plain  # what each column weighs in each mean
    slopes = [fixed[:, columns] @ fixed[:, columns].T for columns in present]
    slopes.append((solved.inverse @ (plain * np.outer(solved.scale, solved.scale)) @ solved.inverse)[:groups, :groups])
    return np.array(slopes), np.asarray(np.linalg.pinv(information, hermitian=True), dtype=np.float64)
