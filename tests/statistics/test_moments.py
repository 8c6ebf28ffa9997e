"""Moments: against NumPy, in any order of adding, around huge means, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.errors import DataError, UsageError
from cranfield.statistics.moments import Moments, total

RANDOM = np.random.default_rng(11)
VALUES = st.lists(
    st.tuples(*[st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False)] * 2), min_size=1, max_size=40
)


def test_means_and_covariances_are_numpys() -> None:
    clicks, queries = RANDOM.poisson(2, 500), RANDOM.poisson(5, 500)
    users = Moments.of({"clicks": clicks, "queries": queries})
    assert users.count == 500
    assert users.mean("queries") == pytest.approx(queries.mean())
    assert users.variance("clicks") == pytest.approx(clicks.var(ddof=1))
    assert users.covariance("clicks", "queries") == pytest.approx(np.cov(clicks, queries)[0, 1])
    weighted = users.variance_of({"clicks": 2.0, "queries": -0.5})
    assert weighted == pytest.approx(np.var(2 * clicks - 0.5 * queries, ddof=1))
    added = users.with_sum("excess", {"clicks": 2.0, "queries": -0.5})
    assert added.variance("excess") == pytest.approx(weighted)
    assert added.names == ("clicks", "queries", "excess")


@given(VALUES, st.lists(st.integers(0, 40), max_size=6))
def test_parts_in_any_cut_add_up_to_the_whole(values: list[tuple[float, float]], cuts: list[int]) -> None:
    table = np.array(values)
    whole = Moments.of({"x": table[:, 0], "y": table[:, 1]})
    parts = [Moments.of({"x": part[:, 0], "y": part[:, 1]}) for part in np.split(table, sorted(cuts))]
    merged = total(parts[::-1])
    scale = max(1.0, float(np.abs(table).max()))
    assert merged.count == whole.count
    assert merged.means == pytest.approx(whole.means, abs=1e-12 * scale)
    assert merged.products == pytest.approx(whole.products, abs=1e-10 * scale**2)


def test_nothing_cancels_around_a_huge_mean() -> None:
    """The exact variance of values around 1e9, by fractions; plain sums of squares would have no digit of it."""
    small = RANDOM.integers(0, 1000, 3000) / 1024  # 1e9 + k/1024 is exact in floating point
    values = 1e9 + small
    exact = [Fraction(float(value)) for value in values]
    mean = sum(exact) / len(exact)
    variance = float(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))
    assert Moments.of({"x": values}).variance("x") == pytest.approx(variance, rel=1e-9)
    parts = total(Moments.of({"x": part}) for part in np.array_split(values, 37))
    assert parts.variance("x") == pytest.approx(variance, rel=1e-7)  # a mean of a part has sixteen digits itself


@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e9 + 1 / 3, -7e-20])
def test_equal_values_do_not_vary(value: float) -> None:
    parts = [Moments.of({"x": np.full(size, value), "y": np.arange(float(size))}) for size in (1, 2, 7, 1000)]
    assert total(parts).variance("x") == 0.0
    assert total(parts).mean("x") == value
    assert total(parts).variance("y") > 0


def test_of_few_units() -> None:
    none = Moments.none(["x"])
    assert np.isnan([none.mean("x"), none.variance("x"), none.covariance("x", "x")]).all()
    one = Moments.of({"x": [3]})
    assert one.mean("x") == 3
    assert np.isnan(one.variance("x"))
    assert (none + one).to_plain() == one.to_plain() == (one + none).to_plain()
    assert Moments.of({"x": [3, 5]}).variance("x") == 2


def test_plain_sums_give_the_same() -> None:
    table = RANDOM.poisson(3, (2, 200)).astype(float)
    whole = Moments.of({"a": table[0], "b": table[1]})
    summed = Moments.from_sums(["a", "b"], 200, table.sum(axis=1), table @ table.T)
    assert summed.means == pytest.approx(whole.means)
    assert summed.products == pytest.approx(whole.products)
    constant = Moments.from_sums(["a"], 7, [7], [[7]])
    assert constant.variance("a") == 0


def test_plain_sums_that_have_lost_the_variance_are_refused() -> None:
    values = 1e9 + RANDOM.random(100)
    with pytest.raises(DataError, match="plain sums have lost it") as caught:
        Moments.from_sums(["seconds"], 100, [values.sum()], [[values @ values]])
    assert "covar_pop(x, y) * count" in str(caught.value)


def test_the_plain_form_is_json_and_comes_back() -> None:
    users = Moments.of({"clicks": RANDOM.poisson(2, 9), "queries": RANDOM.random(9)})
    back = Moments.from_plain(json.loads(json.dumps(users.to_plain())))
    assert back.to_plain() == users.to_plain()
    with_sums = {"names": ["x"], "count": 3.0, "sums": [6], "products": [[14]]}
    assert Moments.from_plain(with_sums).to_plain() == Moments.of({"x": [1, 2, 3]}).to_plain()


PLAIN = {"names": ["x", "y"], "count": 3, "means": [1.0, 2.0], "products": [[2.0, 1.0], [1.0, 2.0]]}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"names": ["x", "x"]}, "'x' stands twice"),
        ({"names": "xy"}, "must be a list of texts"),
        ({"names": ["x"]}, "means of 1 column must have the shape"),
        ({"count": -1}, "-1 units"),
        ({"count": 2.5}, "must be a whole number, not 2.5"),
        ({"count": True}, "must be a whole number, not True"),
        ({"count": float("nan")}, "must be a whole number, not nan"),
        ({"count": float("inf")}, "must be a whole number, not inf"),
        ({"count": 1}, "moments of 1 unit have products that are not 0"),
        ({"means": ["a", "b"]}, "means of moments must be numbers"),
        ({"means": [1.0, None]}, "not all finite"),
        ({"sums": [1.0, 2.0]}, "need 'means', or 'sums'"),
        ({"products": [[2.0, 1.0], [0.5, 2.0]]}, "differ"),
        ({"products": [[-2.0, 1.0], [1.0, 2.0]]}, "no sums of centred products"),
        ({"products": [[2.0, 9.0], [9.0, 2.0]]}, "no sums of centred products"),
        ({"products": [[2.0, 1.0]]}, "products of 2 columns must have the shape"),
        ({"products": [[2.0, 1.0], [1.0]]}, "products of moments must be numbers"),
    ],
)
def test_impossible_moments_are_refused(changed: dict[str, object], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        Moments.from_plain(PLAIN | changed, source="shop.json")
    assert str(caught.value).startswith("shop.json: ")


def test_missing_parts_are_named() -> None:
    with pytest.raises(DataError, match="moments need 'names', and have nothing"):
        Moments.from_plain({})


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1, float("nan")]}, "'x' has no finite number for unit 1"),
        ({"x": [float("inf")]}, "unit 0"),
        ({"x": ["a"]}, "values that are no numbers"),
        ({"x": [[1]]}, "one value for each unit"),
        ({"x": [1], "y": [1, 2]}, "unlike lengths: 'x' 1, 'y' 2"),
    ],
)
def test_bad_columns_are_refused(columns: dict[str, list[float]], words: str) -> None:
    with pytest.raises(DataError, match=words):
        Moments.of(columns)


def test_columns_are_found_by_name_whatever_their_order() -> None:
    first, second = Moments.of({"x": [1, 2], "y": [3, 5]}), Moments.of({"y": [7.0], "x": [4.0]})
    both = first + second
    assert both.names == ("x", "y")
    assert both.mean("y") == 5
    assert (second + first).mean("y") == 5
    with pytest.raises(UsageError, match="unlike columns"):
        first + Moments.of({"x": [1]})
    with pytest.raises(UsageError, match=r"no moments of 'z'; there are those of 'x' and 'y'"):
        both.mean("z")
    with pytest.raises(UsageError, match="a column 'x' already"):
        both.with_sum("x", {"y": 1.0})


def test_nothing_is_changed_in_place() -> None:
    first, second = Moments.of({"x": [1, 2, 9]}), Moments.of({"x": [4, 4]})
    before = (first.to_plain(), second.to_plain())
    first + second
    first.with_sum("y", {"x": 2.0})
    assert (first.to_plain(), second.to_plain()) == before
