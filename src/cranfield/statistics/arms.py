"""Two arms of an experiment side by side: absolute and relative effects with their intervals, and evidence of margins.

However the values of the arms were estimated (as they are, adjusted by covariates), what follows is the same: two
estimates with their variances. Effects are treatment minus control.

The relative effect has Fieller's interval. It holds the ratios ρ for which treatment - ρ control is not off zero, so
that it leaves out 0 exactly where the interval of the difference does. The delta method promises no such thing: its
interval can contain 0 beside a difference that is significant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt
from typing import Literal, NamedTuple

from cranfield.errors import UsageError, plural

Reference = Literal["t", "z"]
Method = Literal["t", "z", "fieller", "delta", "exchange", "undefined"]
ROUNDING = 1e-14  # values that differ by less, relative to themselves, are equal


class ArmEffect(NamedTuple):
    """An effect with its standard error, the statistic and its degrees of freedom, two-sided p and interval.

    `method` is what p and interval rest on: "t" or "z" of the difference; "fieller" or "delta" of a relative effect;
    "exchange" where nothing varies within the arms, and only a permutation of the units tells them apart; "undefined"
    where there is no answer: p is NaN then and the interval endless, and `notes` says why.
    """

    value: float
    error: float
    freedom: float
    statistic: float
    p: float
    low: float
    high: float
    method: Method
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TwoArms:
    """Estimates of control and treatment with their variances and their covariance (0 unless covariates tie them).

    `freedom` is of the variance of their difference; `exchanged` the p of a permutation test if units vary only between
    the arms, NaN where there is none.

    >>> arms = TwoArms(control=0.35, treatment=0.6, control_variance=0.015705, treatment_variance=0.00336, freedom=7.1)
    >>> effect = arms.difference()
    >>> round(effect.value, 4), round(effect.low, 4), round(effect.high, 4), round(effect.p, 4)
    (0.25, -0.0756, 0.5756, 0.1125)
    """

    control: float
    treatment: float
    control_variance: float
    treatment_variance: float
    covariance: float = 0.0
    freedom: float = inf
    units: tuple[int, int] = (0, 0)
    exchanged: float = nan

    @property
    def unknown(self) -> str | None:
        """Why nothing can be said of a difference; None if something can."""
        for name, value, variance, units in (
            ("control", self.control, self.control_variance, self.units[0]),
            ("treatment", self.treatment, self.treatment_variance, self.units[1]),
        ):
            if isnan(value):
                nothing = "no units" if not units else "nothing to divide by: its denominators add up to 0"
                return f"{name} has {nothing}"
            if isnan(variance):
                return f"{name} has {plural(units, 'unit')}: its variance is unknown below 2"
        return None

    def mirrored(self) -> TwoArms:
        """The same of a metric with the sign turned: what was a loss is a gain.

        >>> TwoArms(1.0, 3.0, 0.1, 0.1).mirrored().difference().value
        -2.0
        """
        return replace(self, control=-self.control, treatment=-self.treatment)

    def spread(self, factor: float = 1.0) -> float:
        """The standard error of treatment - factor × control.

        >>> TwoArms(1.0, 1.0, 0.09, 0.16).spread()
        0.5
        """
        apart = self.treatment_variance + factor**2 * self.control_variance
        together = 2 * factor * self.covariance
        # Where adjusted values leave nothing to vary, the parts cancel up to rounding, which is no variance.
        return sqrt(apart - together) if apart - together > 1e-13 * (apart + abs(together)) else 0.0 * apart

    def difference(self, *, confidence: float = 0.95, reference: Reference = "t") -> ArmEffect:
        """Treatment minus control: Welch's t test by default, and its interval.

        With few units t matters; with thousands it is z to three digits. With z the standard error is taken for known.
        """
        check_confidence(confidence)
        if self.unknown is not None:
            return _undefined(self.treatment - self.control, self.unknown)
        value = _cleared(self.treatment - self.control, abs(self.treatment) + abs(self.control))
        error = self.spread()
        if error == 0:
            return self._of_constants(value, confidence)
        freedom = self.freedom if reference == "t" else inf
        half = critical_value(freedom, (1 + confidence) / 2) * error
        p = 2 * upper_tail(abs(value) / error, freedom)
        return ArmEffect(value, error, freedom, value / error, p, value - half, value + half, reference)

    def relative(
        self, *, confidence: float = 0.95, reference: Reference = "t", method: Literal["fieller", "delta"] = "fieller"
    ) -> ArmEffect:
        """The difference by the absolute value of the control: 0.1 is ten per cent more.

        With Fieller's interval p is that of the difference, and both agree with it. Undefined where the control is not
        surely off zero: then no interval of a ratio ends.

        >>> arms = TwoArms(2.0, 2.2, 0.0025, 0.0025)
        >>> effect = arms.relative()
        >>> round(effect.value, 4), round(effect.low, 4), round(effect.high, 4), round(effect.p, 4)
        (0.1, 0.0297, 0.1756, 0.0047)
        >>> TwoArms(0.05, 0.3, 0.0025, 0.0025).relative().notes[0]
        'the control is not surely off zero (0.05, standard error 0.05): there is no relative effect'
        """
        check_confidence(confidence)
        if method not in ("fieller", "delta"):
            raise UsageError(f"the relative effect is by fieller or delta, not {method!r}")
        absolute = self.difference(confidence=confidence, reference=reference)
        if absolute.method == "undefined":
            return absolute._replace(value=nan)
        if self.control == 0:
            return _undefined(nan, "the control is 0: there is no relative effect")
        quantile = critical_value(absolute.freedom, (1 + confidence) / 2) if absolute.error else 0.0
        baseline = abs(self.control)
        if self.control**2 <= quantile**2 * self.control_variance:
            seen = f"{self.control:g}, standard error {sqrt(self.control_variance):g}"
            return _undefined(nan, f"the control is not surely off zero ({seen}): there is no relative effect")
        value, ratio = absolute.value / baseline, self.treatment / self.control
        error = self.spread(ratio) / baseline
        if absolute.method == "exchange":
            ends = [end / baseline for end in (absolute.low, absolute.high)]
            return absolute._replace(value=value, error=0.0, low=ends[0], high=ends[1])
        if method == "delta":
            p = 2 * upper_tail(abs(value) / error, absolute.freedom) if error else nan
            statistic = value / error if error else nan
            return ArmEffect(
                value,
                error,
                absolute.freedom,
                statistic,
                p,
                value - quantile * error,
                value + quantile * error,
                "delta",
            )
        low, high = self._fieller(quantile)
        return absolute._replace(value=value, error=error, low=low, high=high, method="fieller")

    def _fieller(self, quantile: float) -> tuple[float, float]:
        """The ends of the ratios ρ with (treatment - ρ control)² <= quantile² × variance, less 1 and by |control|."""
        square = quantile**2
        a = self.control**2 - square * self.control_variance
        b = self.control * self.treatment - square * self.covariance
        c = self.treatment**2 - square * self.treatment_variance
        root = sqrt(max(b * b - a * c, 0.0))
        ends = ((b - root) / a - 1, (b + root) / a - 1)
        return ends if self.control > 0 else (-ends[1], -ends[0])

    def p_above(self, margin: float, *, relative: bool = False) -> float:
        """One-sided p of treatment being above control + margin; of control × (1 + margin) if relative to it.

        NaN where there is no answer: nothing is shown then.

        >>> round(TwoArms(1.0, 1.0, 0.0001, 0.0001).p_above(-0.05), 5)
        0.0002
        """
        if self.unknown is not None:
            return nan
        factor = 1 + margin * (1 if self.control >= 0 else -1) if relative else 1.0
        limit = factor * self.control + (0.0 if relative else margin)
        value = _cleared(self.treatment - limit, abs(self.treatment) + abs(limit))
        error = self.spread(factor)
        if error == 0:
            return 1.0 if value <= 0 else self.exchanged
        return upper_tail(value / error, self.freedom)

    def _of_constants(self, value: float, confidence: float) -> ArmEffect:
        """What is said where no unit varies within its arm: what dealing the units to arms anew says."""
        p = 1.0 if value == 0 else self.exchanged
        if isnan(p):
            return _undefined(value, "nothing is left that varies within the arms: p is undefined")
        note = "no unit varies within its arm: p is that of dealing the units to the arms anew"
        if self.exchanged < 1 - confidence:
            return ArmEffect(value, 0.0, nan, nan, p, value, value, "exchange", (note,))
        return ArmEffect(value, 0.0, nan, nan, p, -inf, inf, "exchange", (note,))


def critical_value(freedom: float, share: float) -> float:
    """The quantile of t; of the normal distribution for endless degrees of freedom.

    >>> round(critical_value(float("inf"), 0.975), 6), round(critical_value(10, 0.975), 6)
    (1.959964, 2.228139)
    """
    from scipy.special import ndtri, stdtrit

    return float(ndtri(share) if freedom == inf else stdtrit(freedom, share))


def upper_tail(statistic: float, freedom: float) -> float:
    """The chance that t is above; normal for endless degrees of freedom.

    >>> round(upper_tail(1.959964, float("inf")), 6)
    0.025
    """
    from scipy.special import ndtr, stdtr

    return float(ndtr(-statistic) if freedom == inf else stdtr(freedom, -statistic))


def check_confidence(confidence: float) -> None:
    """Refuses a level of confidence that is none.

    >>> check_confidence(95)
    Traceback (most recent call last):
    cranfield.errors.UsageError: confidence must be between 0 and 1, not 95
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must be between 0 and 1, not {confidence:g}")


def _undefined(value: float, *notes: str) -> ArmEffect:
    return ArmEffect(value, nan, nan, nan, nan, -inf, inf, "undefined", notes)


def _cleared(value: float, size: float) -> float:
    """The value, or 0 where it is what rounding leaves of two equal ones."""
    return 0.0 if abs(value) <= ROUNDING * size else value
