"""How many topics does a comparison need, and what could it have seen? Power of two-sided t tests and of ANOVA.

An effect is a difference of means divided by a standard deviation: of the differences between two systems on the same
topics (design "paired"), or of the scores of one system where each has topics of its own ("independent").

Reference: Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988; Sakai, "Topic set size design",
Information Retrieval Journal 19, 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, isnan, sqrt
from typing import Literal, get_args

from cranfield.errors import UsageError

Design = Literal["paired", "independent"]
DESIGNS: tuple[Design, ...] = get_args(Design)
MOST_TOPICS = 10**9


def power(effect: float, topics: float, *, alpha: float = 0.05, design: Design = "paired") -> float:
    """The chance that a two-sided t test at level alpha finds an effect with that many topics (for each system, if
    independent).

    Formula: P(|T| > t_{1-alpha/2}), T noncentral t; paired: n-1 degrees of freedom, noncentrality effect √n;
    independent: 2n-2 degrees of freedom, noncentrality effect √(n/2)

    >>> round(power(0.5, 34), 4)
    0.8078
    """
    _check_share("alpha", alpha)
    _check_design(design)
    _check_finite("effect", effect)
    if not 2 <= topics <= MOST_TOPICS:
        raise UsageError(f"topics must be from 2 to {MOST_TOPICS:,}, not {topics:g}")
    return _power(abs(effect), topics, alpha, design)


def topics_needed(effect: float, *, power: float = 0.8, alpha: float = 0.05, design: Design = "paired") -> int:
    """The least number of topics (for each system, if independent) with which the test finds an effect with that
    chance.

    >>> topics_needed(0.5), topics_needed(0.5, design="independent")
    (34, 64)
    """
    _check_target(power, alpha)
    _check_design(design)
    _check_positive("effect", abs(effect))
    guess = _roughly(abs(effect), power, alpha, design)
    return _least_topics(lambda topics: _power(abs(effect), topics, alpha, design), power, guess)


def detectable_effect(topics: float, *, power: float = 0.8, alpha: float = 0.05, design: Design = "paired") -> float:
    """The least effect that the test finds with that chance; times the standard deviation it is a difference.

    >>> round(detectable_effect(50), 4)
    0.4042
    """
    _check_design(design)
    if not 2 <= topics <= MOST_TOPICS:
        raise UsageError(f"topics must be from 2 to {MOST_TOPICS:,}, not {topics:g}")
    freedom, units = _of_design(topics, design)
    return detectable_shift(freedom, power=power, alpha=alpha) / units


def detectable_shift(freedom: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The least difference, in standard errors, that a two-sided t test with so many degrees of freedom finds with that
    chance.

    >>> round(detectable_shift(49) / 50**0.5, 4)
    0.4042
    """
    _check_target(power, alpha)
    low, high = 0.0, 1.0
    while _chance(high, freedom, alpha) < power:
        low, high = high, high * 2
    while high - low > 1e-13 * high:  # the chance rises with the shift; scipy.optimize would take longer to load
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(middle, freedom, alpha) < power else (low, middle)
    return high


def anova_power(difference: float, sd: float, topics: float, systems: int, *, alpha: float = 0.05) -> float:
    """The chance that a one-way ANOVA of several systems finds that they differ, when the best and the worst are that
    far apart and the others lie between them as unfavourably as can be (all in the middle).

    Formula: P(F > F_{1-alpha}), F noncentral with m-1 and m(n-1) degrees of freedom, noncentrality n difference² / (2
    sd²)
    Reference: Sakai, "Topic set size design", 2016.

    >>> round(anova_power(0.1, 0.2, 80, 5), 4)
    0.7101
    """
    _check_share("alpha", alpha)
    _check_positive("sd", sd)
    _check_finite("difference", difference)
    _check_systems(systems)
    if not 2 <= topics <= MOST_TOPICS:
        raise UsageError(f"topics must be from 2 to {MOST_TOPICS:,}, not {topics:g}")
    return _anova_power(difference / sd, topics, systems, alpha)


def topics_for_anova(difference: float, sd: float, systems: int, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """The least number of topics with which a one-way ANOVA finds, with that chance, that systems differ whose best and
    worst are that far apart.

    >>> topics_for_anova(0.1, 0.2, 5)
    97
    """
    _check_target(power, alpha)
    _check_positive("sd", sd)
    _check_positive("difference", abs(difference))
    _check_systems(systems)
    return _least_topics(lambda topics: _anova_power(difference / sd, topics, systems, alpha), power, guess=2)


def sd_interval(sd: float, topics: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Where the true standard deviation lies, given one estimated from that many topics; exact for normal data.

    Formula: sd √((n-1) / χ²) at the two quantiles of χ² with n-1 degrees of freedom

    >>> [round(bound, 4) for bound in sd_interval(0.1, 50)]
    [0.0835, 0.1246]
    """
    from scipy.stats import chi2

    _check_share("confidence", confidence)
    tail = (1 - confidence) / 2
    low, high = (sd * sqrt((topics - 1) / float(chi2.isf(at, topics - 1))) for at in (tail, 1 - tail))
    return low, high


def _power(effect: float, topics: float, alpha: float, design: Design) -> float:
    freedom, units = _of_design(topics, design)
    return _chance(effect * units, freedom, alpha)


def _of_design(topics: float, design: Design) -> tuple[float, float]:
    """Degrees of freedom, and how many standard errors of the difference an effect of 1 is."""
    return (topics - 1, sqrt(topics)) if design == "paired" else (2 * topics - 2, sqrt(topics / 2))


def _chance(noncentrality: float, freedom: float, alpha: float) -> float:
    """That |T| of a noncentral t is above what it must be at level alpha."""
    from scipy.special import nctdtr, stdtrit

    critical = -stdtrit(freedom, alpha / 2)
    within, below = (float(nctdtr(freedom, noncentrality, bound)) for bound in (critical, -critical))
    if isnan(within):
        case = f"so small an alpha ({alpha:g}) with {freedom:g} degrees of freedom"
        raise UsageError(f"power cannot be computed for {case}")
    return 1 - within + (0.0 if isnan(below) else below)  # SciPy's answer where the far tail vanishes is NaN


def _anova_power(effect: float, topics: float, systems: int, alpha: float) -> float:
    from scipy.special import fdtri, ncfdtr

    between, within = systems - 1, systems * (topics - 1)
    return 1 - float(ncfdtr(between, within, topics * effect**2 / 2, fdtri(between, within, 1 - alpha)))


def _roughly(effect: float, power: float, alpha: float, design: Design) -> int:
    """Topics needed by the normal approximation, which is seldom off by more than one."""
    from scipy.special import ndtri

    critical, reach = -float(ndtri(alpha / 2)), float(ndtri(power))
    topics = ((critical + reach) / effect) ** 2 * (1 if design == "paired" else 2) + critical**2 / 2
    return int(min(topics, MOST_TOPICS))


def _least_topics(power_of: Callable[[float], float], target: float, guess: int) -> int:
    """The least whole number of topics, from 2, with that power: growing steps from a guess, then bisection."""
    high = max(2, guess)
    low, step = high - 1, 1
    while power_of(high) < target:
        if high >= MOST_TOPICS:
            raise UsageError(f"more than {MOST_TOPICS:,} topics are needed: the difference is too small to be found")
        low, high, step = high, min(high + step, MOST_TOPICS), 2 * step
    while low >= 2 and power_of(low) >= target:
        low, high, step = max(1, low - step), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if power_of(middle) < target else (low, middle)
    return high


def _check_target(power: float, alpha: float) -> None:
    _check_share("power", power)
    _check_share("alpha", alpha)
    if power <= alpha:
        raise UsageError(f"power must be above alpha ({alpha:g}), which a test has without any effect, not {power:g}")


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise UsageError(f"{name} must be between 0 and 1, not {value:g}")


def _check_finite(name: str, value: float) -> None:
    if not isfinite(value):
        raise UsageError(f"{name} must be a finite number, not {value:g}")


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < inf:
        raise UsageError(f"{name} must be a finite number above 0, not {value:g}")


def _check_design(design: str) -> None:
    if design not in DESIGNS:
        raise UsageError(f"design must be one of {', '.join(DESIGNS)}, not {design!r}")


def _check_systems(systems: int) -> None:
    if systems < 2:
        raise UsageError(f"systems must be at least 2, not {systems}")
