"""What is known of units before the experiment takes noise out of the effect: CUPED, and regression with interactions.

Both need moments alone, so that a warehouse can send those; with columns of units, regression has standard errors
that are robust in every order. A covariate must be known before exposure: one that the treatment changes takes the
effect away with the noise. `balance` has what the arms differ by in each covariate, which should be nothing.

Which: with arms of unlike size and effects that differ with the covariate, one slope for all (CUPED) can even lose to
none, and a slope for each arm (Lin) cannot; with equal arms and thousands of units they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import UsageError
from cranfield.statistics.arms import ArmEffect, TwoArms
from cranfield.statistics.moments import Moments
from cranfield.statistics.ratios import Ratio, welch_freedom
from cranfield.statistics.significance import Floats

_SINGULAR = 1e-10  # of a covariate's variance, what others must leave of it


class Adjustment(NamedTuple):
    """Two arms after adjustment, the coefficients of the covariates, and what became of the variance.

    `coefficients` has one row for CUPED, one for each arm (control, treatment) for regression. `remaining` is the
    variance of the difference as a share of the unadjusted one: 0.4 needs 40 % of the units. `balance` has the
    difference of the arms in each covariate.
    """

    arms: TwoArms
    coefficients: Floats
    remaining: float
    balance: tuple[ArmEffect, ...]
    notes: tuple[str, ...] = ()


def cuped(ratio: Ratio, covariates: Sequence[Ratio], control: Moments, treatment: Moments) -> Adjustment:
    """Takes from each arm what its covariates being off their mean explains, with one slope for all units.

    Formula: Y' = Y - θ (X - mean X), θ = cov(Y, X) / var(X) over the units of both arms; of ratios, Y and X are
    linearised, (c - R n) / n̄
    Reference: Deng, Xu, Kohavi and Walker, "Improving the sensitivity of online controlled experiments by utilizing
    pre-experiment data", 2013.

    >>> a = Moments.of({"y": [2.1, 6.2, 9.8, 13.9], "x": [1, 3, 5, 7]})
    >>> b = Moments.of({"y": [3.9, 8.1, 12.2, 16.1], "x": [2, 4, 6, 8]})
    >>> adjusted = cuped(Ratio("y"), [Ratio("x")], a, b)
    >>> round(float(adjusted.coefficients[0, 0]), 9), round(adjusted.arms.difference().value, 9)
    (1.996428571, 0.078571429)
    """
    plain = ratio.compared(control, treatment)
    pooled = control + treatment
    usable, notes = _usable(covariates, control, treatment)
    if plain.unknown is not None or plain.spread() == 0 or not usable:
        return _unadjusted(plain, covariates, control, treatment, notes)
    slope = _solved(_between(pooled, usable, usable), _between(pooled, usable, [ratio]))[:, 0]
    theta = np.array([slope[usable.index(covariate)] if covariate in usable else 0.0 for covariate in covariates])
    first, second = (_Arm(ratio, usable, moments) for moments in (control, treatment))
    share = np.array([_share(covariate, control, pooled) for covariate in usable])  # of the control in the pooled mean
    apart = second.covariates - first.covariates
    to_control, to_treatment = slope * (1 - share), slope * share
    own = (first.variance(slope), second.variance(slope))
    arms = TwoArms(
        control=first.value + float(to_control @ apart),
        treatment=second.value - float(to_treatment @ apart),
        control_variance=first.variance(to_control) + second.spread(to_control),
        treatment_variance=second.variance(to_treatment) + first.spread(to_treatment),
        covariance=first.together(to_control, to_treatment) + second.together(to_treatment, to_control),
        freedom=welch_freedom(own, (control.count - 1, treatment.count - 1)),
        units=plain.units,
    )
    return Adjustment(arms, theta[None, :], _remaining(arms, plain), _balance(covariates, control, treatment), notes)


def regression_adjusted(ratio: Ratio, covariates: Sequence[Ratio], control: Moments, treatment: Moments) -> Adjustment:
    """What each arm would show if its units were as all units are, by a regression in each arm: Lin's estimator.

    The same as one regression on treatment, covariates and their products. It never loses precision for many units,
    whatever the arms' sizes and however the effect differs between units. Numerator and denominator of a ratio are
    adjusted each. The variance has no assumption of equal variances in the arms; what it leaves out of a fully robust
    one is of second order (`robust_regression_adjusted`), and it adds that the mean of the covariates is estimated too.

    Reference: Lin, "Agnostic notes on regression adjustments to experimental data", 2013; Negi and Wooldridge,
    "Revisiting regression adjustment in experiments with heterogeneous treatment effects", 2021.

    >>> a = Moments.of({"y": [2.1, 6.2, 9.8, 13.9], "x": [1, 3, 5, 7]})
    >>> b = Moments.of({"y": [3.9, 8.1, 12.2, 16.1], "x": [2, 4, 6, 8]})
    >>> adjusted = regression_adjusted(Ratio("y"), [Ratio("x")], a, b)
    >>> adjusted.coefficients.round(3).tolist(), round(adjusted.arms.difference().value, 4)
    ([[1.95], [2.035]], 0.0825)
    """
    plain = ratio.compared(control, treatment)
    pooled = control + treatment
    usable, notes = _usable(covariates, control, treatment)
    least = len(usable) + 3
    if min(plain.units) < least and usable:
        usable, notes = [], (*notes, f"an arm has fewer than {least} units: nothing is adjusted")
    if plain.unknown is not None or plain.spread() == 0 or not usable:
        return _unadjusted(plain, covariates, control, treatment, notes)
    makes = np.stack([_row(covariate, pooled, pooled) for covariate in usable])
    fits = [_Fit.of(ratio, makes, moments, pooled) for moments in (control, treatment)]
    spread = makes @ pooled.products @ makes.T / (pooled.count - 1) / pooled.count
    slopes = [fit.slope for fit in fits]
    shared = [[float(one @ spread @ other) for other in slopes] for one in slopes]
    freedoms = tuple(moments.count - 1.0 - len(usable) for moments in (control, treatment))
    arms = TwoArms(
        control=fits[0].value,
        treatment=fits[1].value,
        control_variance=fits[0].variance + shared[0][0],
        treatment_variance=fits[1].variance + shared[1][1],
        covariance=shared[0][1],
        freedom=welch_freedom((fits[0].variance, fits[1].variance), freedoms),
        units=plain.units,
    )
    coefficients = np.zeros((2, len(covariates)))
    coefficients[:, [covariates.index(covariate) for covariate in usable]] = np.stack(slopes)
    return Adjustment(arms, coefficients, _remaining(arms, plain), _balance(covariates, control, treatment), notes)


def robust_regression_adjusted(
    control: ArrayLike,
    treatment: ArrayLike,
    control_covariates: ArrayLike,
    treatment_covariates: ArrayLike,
    *,
    kind: Literal["HC2", "HC3"] = "HC2",
) -> TwoArms:
    """Lin's estimator from values of units, with standard errors that hold whatever the variances are.

    Covariates are columns: [unit, covariate]. A ratio is given by its linearised values (`Ratio.linearised`). The mean
    of the covariates over both arms is taken as it is.

    Reference: MacKinnon and White, "Some heteroskedasticity-consistent covariance matrix estimators", 1985.

    >>> arms = robust_regression_adjusted([2.1, 6.2, 9.8, 13.9], [3.9, 8.1, 12.2, 16.1], [[1], [3], [5], [7]],
    ...                                   [[2], [4], [6], [8]])
    >>> round(arms.difference().value, 4), round(arms.difference().error, 4)
    (0.0825, 0.0924)
    """
    if kind not in ("HC2", "HC3"):
        raise UsageError(f"the robust variance is HC2 or HC3, not {kind!r}")
    arms = [np.asarray(values, dtype=np.float64) for values in (control, treatment)]
    known = [np.asarray(values, dtype=np.float64) for values in (control_covariates, treatment_covariates)]
    for values, table in zip(arms, known, strict=True):
        if table.ndim != 2 or len(table) != len(values) or len(values) < table.shape[1] + 3:
            raise UsageError(
                f"covariates must be a table of {len(values)} units, with 3 units more than columns at least, "
                f"not of shape {table.shape}"
            )
    middle = np.concatenate(known).mean(axis=0)
    fits = [_robust_mean(values, table - middle, kind) for values, table in zip(arms, known, strict=True)]
    freedoms = tuple(len(values) - 1.0 - table.shape[1] for values, table in zip(arms, known, strict=True))
    variances = (fits[0][1], fits[1][1])
    return TwoArms(
        control=fits[0][0],
        treatment=fits[1][0],
        control_variance=variances[0],
        treatment_variance=variances[1],
        freedom=welch_freedom(variances, freedoms),
        units=(len(arms[0]), len(arms[1])),
    )


class _Arm:
    """One arm's metric and covariates, all as linear functions of its columns."""

    def __init__(self, ratio: Ratio, covariates: Sequence[Ratio], moments: Moments) -> None:
        self.value = ratio.value(moments)
        self.covariates = np.array([covariate.value(moments) for covariate in covariates])
        rows = np.stack([_row(each, moments, moments) for each in (ratio, *covariates)])
        covariance = rows @ moments.products @ rows.T / max(moments.count - 1, 1) / moments.count
        self._covariance = covariance

    def variance(self, slope: Floats) -> float:
        """Of the metric less slope × covariates."""
        weights = np.array([1.0, *-slope])
        return max(0.0, float(weights @ self._covariance @ weights))

    def spread(self, slope: Floats) -> float:
        """Of slope × covariates."""
        return max(0.0, float(slope @ self._covariance[1:, 1:] @ slope))

    def together(self, own: Floats, other: Floats) -> float:
        """The covariance of the metric less own slope × covariates with other slope × covariates."""
        return float(np.array([1.0, *-own]) @ self._covariance[:, 1:] @ other)


class _Fit(NamedTuple):
    """The metric of an arm at the mean covariates of all units, its variance, and its slope."""

    value: float
    variance: float
    slope: Floats

    @classmethod
    def of(cls, ratio: Ratio, makes: Floats, moments: Moments, pooled: Moments) -> _Fit:
        places = [moments.place(name) for name in dict.fromkeys(ratio.columns)]
        products = moments.products
        within, across = makes @ products @ makes.T, makes @ products[:, places]
        apart = makes @ (pooled.means - moments.means)
        coefficients = _solved(within, across)
        at = moments.means[places] + coefficients.T @ apart
        if ratio.denominator is None or len(places) == 1:
            value, weights = (float(at[0]), np.ones(1)) if ratio.denominator is None else (1.0, np.zeros(1))
        else:
            value = float(at[0] / at[1])
            weights = np.array([1.0, -value]) / at[1]
        left = products[np.ix_(places, places)] - coefficients.T @ across
        variance = float(weights @ left @ weights) / (moments.count - 1 - len(makes))
        leverage = 1 / moments.count + float(apart @ _solved(within, apart[:, None])[:, 0])
        raw = float(weights @ products[np.ix_(places, places)] @ weights)
        kept = variance * (moments.count - 1 - len(makes)) > 1e-13 * raw
        return cls(value, variance * leverage if kept else 0.0, coefficients @ weights)


def _robust_mean(values: Floats, centred: Floats, kind: str) -> tuple[float, float]:
    """The intercept of a regression, and its variance."""
    design = np.column_stack([np.ones(len(values)), centred])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ values
    residuals = values - design @ coefficients
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    weights = residuals**2 / np.maximum(1 - leverage, 1e-12) ** (1 if kind == "HC2" else 2)
    influence = design @ inverse[0]
    return float(coefficients[0]), float(influence**2 @ weights)


def _row(ratio: Ratio, at: Moments, columns: Moments) -> Floats:
    """The weights of all columns that make a ratio linear."""
    row = np.zeros(len(columns.names))
    for name, weight in ratio.slope(at).items():
        row[columns.place(name)] = weight
    return row


def _between(moments: Moments, first: Sequence[Ratio], second: Sequence[Ratio]) -> Floats:
    """Sums of centred products of linearised ratios."""
    rows = [np.stack([_row(ratio, moments, moments) for ratio in ratios]) for ratios in (first, second)]
    return np.asarray(rows[0] @ moments.products @ rows[1].T)


def _solved(matrix: Floats, right: Floats) -> Floats:
    """matrix⁻¹ right; where covariates say the same, the least of the solutions."""
    scale = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    inverse = np.linalg.pinv(matrix / np.outer(scale, scale), rcond=_SINGULAR, hermitian=True)
    return np.asarray(inverse @ (right / scale[:, None]) / scale[:, None])


def _share(covariate: Ratio, control: Moments, pooled: Moments) -> float:
    """The weight of the control in a covariate's value over all units."""
    if covariate.denominator is None:
        return control.count / pooled.count
    return control.mean(covariate.denominator) * control.count / (pooled.mean(covariate.denominator) * pooled.count)


def _usable(covariates: Sequence[Ratio], control: Moments, treatment: Moments) -> tuple[list[Ratio], tuple[str, ...]]:
    """The covariates that say something, and sentences about those that do not."""
    if not covariates:
        raise UsageError("there is no covariate to adjust by")
    usable: list[Ratio] = []
    notes: list[str] = []
    for covariate in covariates:
        if any(isnan(covariate.value(arm)) for arm in (control, treatment)):
            notes.append(f"{'/'.join(covariate.columns)} has no value in an arm: it is left out")
        elif not covariate.of(control + treatment).variance > 0:
            notes.append(f"{'/'.join(covariate.columns)} does not vary: it is left out")
        elif covariate not in usable:
            usable.append(covariate)
    return usable, tuple(notes)


def _unadjusted(
    plain: TwoArms, covariates: Sequence[Ratio], control: Moments, treatment: Moments, notes: tuple[str, ...]
) -> Adjustment:
    nothing = np.zeros((1, len(covariates)))
    return Adjustment(plain, nothing, 1.0, _balance(covariates, control, treatment), notes)


def _balance(covariates: Sequence[Ratio], control: Moments, treatment: Moments) -> tuple[ArmEffect, ...]:
    return tuple(covariate.compared(control, treatment).difference() for covariate in covariates)


def _remaining(arms: TwoArms, plain: TwoArms) -> float:
    before = plain.spread() ** 2
    return arms.spread() ** 2 / before if before else 1.0
