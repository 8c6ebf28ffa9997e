"""What is kept of the units of an experiment: how many they are, the mean of each column, how columns vary together.

Every estimate of an online experiment (means, ratios, adjustments by covariates, their standard errors) is a function
of these few numbers of each arm. They can be added up: of shards, days or machines, in any order. What is summed is
centred, Σ (x - mean x)(y - mean y), and never Σ xy: of values around a billion plain sums keep no digit of the
variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import nan, sqrt
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from cranfield.errors import DataError, UsageError, plural
from cranfield.statistics.significance import Floats

ROUNDING = 8 * float(np.finfo(np.float64).eps)  # deviations below this, relative to the mean, are none
_ASYMMETRY = 1e-9  # relative difference between products[i][j] and products[j][i] that is still rounding
_LEAST_SHARE = 1e-10  # of a sum of squares, that must be variance: six digits of it are then left


class PlainMoments(TypedDict):
    """The form of moments in JSON: `products[i][j]` is Σ (x_i - mean_i)(x_j - mean_j) over all units."""

    names: list[str]
    count: int
    means: list[float]
    products: list[list[float]]


@dataclass(frozen=True, eq=False)
class Moments:
    """Number of units, mean of each of their columns, and sums of centred products of every two columns.

    A column has one value for each unit, such as the clicks of a user. `means[i]` is of the column `names[i]`,
    `products[i, j]` is Σ (x_i - mean_i)(x_j - mean_j); divided by count - 1 it is their covariance. Of no units the
    means are 0 and mean nothing.

    >>> users = Moments.of({"clicks": [1, 0, 3, 2], "queries": [4, 2, 5, 2]})
    >>> users.count, users.mean("clicks"), users.variance("clicks"), users.covariance("clicks", "queries")
    (4, 1.5, 1.6666666666666667, 1.1666666666666667)
    """

    names: tuple[str, ...]
    count: int
    means: Floats
    products: Floats

    def __post_init__(self) -> None:
        size = len(self.names)
        if len(set(self.names)) < size:
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise DataError(f"column {twice!r} stands twice in the moments")
        if self.count < 0:
            raise DataError(f"moments of {self.count} units: the count must be 0 or more")
        for what, values, shape in (("means", self.means, (size,)), ("products", self.products, (size, size))):
            if values.shape != shape:
                raise DataError(f"{what} of {plural(size, 'column')} must have the shape {shape}, not {values.shape}")
            if not np.isfinite(values).all():
                raise DataError(f"{what} of {_listed(self.names)} are not all finite numbers: {values.tolist()}")

    @classmethod
    def of(cls, columns: Mapping[str, ArrayLike]) -> Moments:
        """Moments of columns with a value for each unit; a value that is missing or infinite is refused.

        >>> Moments.of({"clicks": [1, float("nan")]})
        Traceback (most recent call last):
        cranfield.errors.DataError: column 'clicks' has no finite number for unit 1 (counted from 0): nan
            give every unit a value: 0 where nothing happened, or leave the unit out of all columns
        """
        arrays = {name: _column(name, values) for name, values in columns.items()}
        if len({len(array) for array in arrays.values()}) > 1:
            lengths = ", ".join(f"{name!r} {len(array)}" for name, array in arrays.items())
            raise DataError(f"columns must have a value for every unit, and have unlike lengths: {lengths}")
        names = tuple(arrays)
        count = len(next(iter(arrays.values()), ()))
        if count == 0:
            return cls.none(names)
        table = np.stack(list(arrays.values()))
        means = table.mean(axis=1)
        # The mean of many values is off by rounding; what is left around it mends that, and equal values leave nothing.
        means = np.where(np.ptp(table, axis=1) == 0, table[:, 0], means + (table - means[:, None]).mean(axis=1))
        centred = table - means[:, None]
        return cls(names, count, means, centred @ centred.T)

    @classmethod
    def none(cls, names: Iterable[str]) -> Moments:
        """Moments of no units, to begin adding with.

        >>> Moments.none(["clicks"]).count
        0
        """
        columns = tuple(names)
        return cls(columns, 0, np.zeros(len(columns)), np.zeros((len(columns), len(columns))))

    @classmethod
    def from_sums(cls, names: Sequence[str], count: int, sums: ArrayLike, products: ArrayLike) -> Moments:
        """Moments from plain sums Σ x_i and Σ x_i x_j, as a database gives them most easily.

        Sums that leave fewer than 6 digits of a variance are refused: what is left of it would be rounding.

        >>> Moments.from_sums(["clicks"], 4, [6], [[14]]).products
        array([[5.]])
        >>> Moments.from_sums(["seconds"], 4, [4e9], [[4e18 + 512]])
        Traceback (most recent call last):
        cranfield.errors.DataError: 'seconds' varies too little around its mean 1e+09: plain sums have lost it
            send centred products, Σ (x - mean x)(y - mean y): covar_pop(x, y) * count in SQL
        """
        total, raw = np.asarray(sums, dtype=np.float64), np.asarray(products, dtype=np.float64)
        if count <= 0:
            return cls(tuple(names), count, total, raw)
        plain = cls(tuple(names), count, total, raw)  # its checks are those of shapes and numbers
        centred = np.empty_like(raw)
        exact = [Fraction(float(value)) for value in total]
        for i, j in np.ndindex(*raw.shape):  # only what the sums themselves have lost is lost
            centred[i, j] = Fraction(float(raw[i, j])) - exact[i] * exact[j] / count
        for place, name in enumerate(plain.names):
            whole = total[place].is_integer() and raw[place, place].is_integer() and raw[place, place] < 2**53
            if not whole and centred[place, place] < _LEAST_SHARE * raw[place, place]:
                raise _cancelled(name, total[place] / count)
        return cls(plain.names, count, total / count, centred)

    @classmethod
    def from_plain(cls, plain: Mapping[str, object], *, source: str | None = None) -> Moments:
        """Moments of their plain form, as read from JSON: `names`, `count`, `means` and `products`.

        In place of `means`, `sums` may be given; then `products` are plain sums of products too (`from_sums`).

        >>> plain = {"names": ["clicks"], "count": 4, "means": [1.5], "products": [[5.0]]}
        >>> Moments.from_plain(plain).variance("clicks")
        1.6666666666666667
        >>> Moments.from_plain({"names": ["clicks"], "count": 4, "products": [[5.0]]})
        Traceback (most recent call last):
        cranfield.errors.DataError: moments need 'means', or 'sums', and have 'names', 'count' and 'products'
        """
        for field in ("names", "count", "products"):
            if field not in plain:
                raise DataError(f"moments need {field!r}, and have {_listed(plain)}", source=source)
        if ("means" in plain) == ("sums" in plain):
            raise DataError(f"moments need 'means', or 'sums', and have {_listed(plain)}", source=source)
        names, count = _names(plain["names"], source), _count(plain["count"], source)
        first = "means" if "means" in plain else "sums"
        vector, matrix = _numbers(plain[first], first, source), _numbers(plain["products"], "products", source)
        try:
            made = (cls if first == "means" else cls.from_sums)(names, count, vector, matrix)
        except DataError as error:
            raise DataError(error.message, source=source, remedy=error.remedy) from None
        made._check_possible(source)
        return made

    def to_plain(self) -> PlainMoments:
        """The plain form, for JSON.

        >>> Moments.of({"clicks": [1, 0, 3, 2]}).to_plain()
        {'names': ['clicks'], 'count': 4, 'means': [1.5], 'products': [[5.0]]}
        """
        return {
            "names": list(self.names),
            "count": self.count,
            "means": self.means.tolist(),
            "products": self.products.tolist(),
        }

    def __add__(self, other: Moments) -> Moments:
        """The moments of the units of both: Chan, Golub and LeVeque, "Updating formulae", 1979.

        >>> first, second = Moments.of({"clicks": [1, 0]}), Moments.of({"clicks": [3, 2]})
        >>> (first + second).to_plain() == Moments.of({"clicks": [1, 0, 3, 2]}).to_plain()
        True
        """
        if not isinstance(other, Moments):
            return NotImplemented
        if set(self.names) != set(other.names):
            raise UsageError(
                f"moments of unlike columns cannot be added: {_listed(self.names)}; {_listed(other.names)}"
            )
        other = other.chosen(self.names)
        count = self.count + other.count
        if not self.count or not other.count:
            return self if self.count else other
        apart = other.means - self.means
        means = self.means + apart * (other.count / count)
        spread = np.outer(apart, apart) * (self.count * other.count / count)
        return Moments(self.names, count, means, self.products + other.products + spread)

    def chosen(self, names: Sequence[str]) -> Moments:
        """The moments of some columns, in the order asked for.

        >>> Moments.of({"clicks": [1, 0], "queries": [2, 2]}).chosen(["queries"]).means
        array([2.])
        """
        places = [self.place(name) for name in names]
        return Moments(tuple(names), self.count, self.means[places], self.products[np.ix_(places, places)])

    def place(self, name: str) -> int:
        """Which column has that name.

        >>> Moments.none(["clicks"]).place("click")
        Traceback (most recent call last):
        cranfield.errors.UsageError: there are no moments of 'click'; there are those of 'clicks'
        """
        if name not in self.names:
            raise UsageError(f"there are no moments of {name!r}; there are those of {_listed(self.names)}")
        return self.names.index(name)

    def mean(self, name: str) -> float:
        """The mean of a column; NaN of no units."""
        return float(self.means[self.place(name)]) if self.count else nan

    def variance(self, name: str) -> float:
        """The variance of a column, over count - 1; NaN of fewer than 2 units, and 0 where only rounding varies."""
        return self.variance_of({name: 1.0})

    def covariance(self, first: str, second: str) -> float:
        """The covariance of two columns, over count - 1; NaN of fewer than 2 units."""
        return float(self.products[self.place(first), self.place(second)] / (self.count - 1)) if self.count > 1 else nan

    def variance_of(self, weights: Mapping[str, float]) -> float:
        """The variance of a weighted sum of columns; exactly 0 where it varies by no more than rounding.

        >>> users = Moments.of({"clicks": [1, 2, 3], "queries": [2, 4, 6]})
        >>> users.variance_of({"clicks": 2.0, "queries": -1.0})
        0.0
        """
        if self.count < 2:
            return nan
        places, factors = [self.place(name) for name in weights], np.array(list(weights.values()))
        chosen = self.products[np.ix_(places, places)]
        variance = max(0.0, float(factors @ chosen @ factors)) / (self.count - 1)
        # Equal values differ by the rounding of what they were made of, and so do parts that cancel each other.
        parts = float(np.abs(factors) @ np.sqrt(np.maximum(np.diagonal(chosen), 0.0))) / sqrt(self.count - 1)
        size = ROUNDING * float(np.abs(factors) @ np.abs(self.means[places]))
        return 0.0 if sqrt(variance) <= max(size, parts * sqrt(ROUNDING)) else variance

    def with_sum(self, name: str, weights: Mapping[str, float]) -> Moments:
        """The same with one more column, a weighted sum of others, such as a ratio that is linearised.

        >>> users = Moments.of({"clicks": [1, 0, 3], "queries": [4, 2, 5]})
        >>> users.with_sum("excess", {"clicks": 1.0, "queries": -0.25}).mean("excess")
        0.41666666666666663
        """
        if name in self.names:
            raise UsageError(f"there is a column {name!r} already")
        factors = np.zeros(len(self.names))
        for other, weight in weights.items():
            factors[self.place(other)] = weight
        makes = np.vstack([np.eye(len(self.names)), factors])
        return Moments((*self.names, name), self.count, makes @ self.means, makes @ self.products @ makes.T)

    def _check_possible(self, source: str | None) -> None:
        """Refuses products that no units could have: not symmetric, or with a variance below 0."""
        scale = np.sqrt(np.maximum(np.diagonal(self.products), 0.0))
        limit = np.outer(scale, scale)
        if (np.diagonal(self.products) < 0).any() or (np.abs(self.products) > limit * (1 + _ASYMMETRY)).any():
            raise DataError(
                "the products of these moments are no sums of centred products",
                source=source,
                remedy="products[i][j] is Σ (x_i - mean_i)(x_j - mean_j); if it is Σ x_i x_j, give sums, not means",
            )
        if (np.abs(self.products - self.products.T) > _ASYMMETRY * limit).any():
            raise DataError("products[i][j] and products[j][i] of these moments differ", source=source)
        if self.count < 2 and self.products.any():
            raise DataError(f"moments of {plural(self.count, 'unit')} have products that are not 0", source=source)


def total(parts: Iterable[Moments]) -> Moments:
    """The moments of the units of all parts, of which there must be one at least.

    >>> total([Moments.of({"clicks": [1, 0]}), Moments.of({"clicks": [5]})]).mean("clicks")
    2.0
    """
    return reduce(Moments.__add__, parts)


def _column(name: str, values: ArrayLike) -> Floats:
    try:
        column = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"column {name!r} has values that are no numbers") from None
    if column.ndim != 1:
        raise DataError(f"column {name!r} must have one value for each unit, not the shape {column.shape}")
    if not np.isfinite(column).all():
        place = int(np.argmin(np.isfinite(column)))
        raise DataError(
            f"column {name!r} has no finite number for unit {place} (counted from 0): {column[place]}",
            remedy="give every unit a value: 0 where nothing happened, or leave the unit out of all columns",
        )
    return column


def _cancelled(name: str, mean: float) -> DataError:
    return DataError(
        f"{name!r} varies too little around its mean {mean:g}: plain sums have lost it",
        remedy="send centred products, Σ (x - mean x)(y - mean y): covar_pop(x, y) * count in SQL",
    )


def _names(given: object, source: str | None) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise DataError(f"names of moments must be a list of texts, not {given!r}", source=source)
    return tuple(given)


def _count(given: object, source: str | None) -> int:
    if isinstance(given, bool) or not isinstance(given, int | float) or given % 1 != 0:
        raise DataError(f"count of moments must be a whole number, not {given!r}", source=source)
    return int(given)


def _numbers(given: object, field: str, source: str | None) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{field} of moments must be numbers, not {given!r}", source=source) from None


def _listed(names: Iterable[str]) -> str:
    *most, last = [repr(name) for name in names] or ["nothing"]
    return f"{', '.join(most)} and {last}" if most else last
