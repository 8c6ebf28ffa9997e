"""Rows of weights in the core: products and neighbours to the last bit as SciPy has them, by any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from cranfield._core import nearest_rows, row_products


def matrix(seed: int, rows: int = 1500, width: int = 400) -> csr_matrix:
    made = csr_matrix(random_array((rows, width), density=0.02, rng=np.random.default_rng(seed), dtype=np.float32))
    made.sort_indices()
    return made


def parts(made: csr_matrix) -> tuple[Any, Any, Any]:
    return made.indptr.astype(np.int64), made.indices.astype(np.int32), made.data


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_products_are_those_of_scipy(kind: Any, threads: int) -> None:
    made = matrix(1)
    vector = np.random.default_rng(2).normal(size=made.shape[1]).astype(kind)
    products = row_products(*parts(made), vector, None, threads)
    assert products.dtype == kind
    assert np.array_equal(products, made @ vector)
    named = np.array([7, 0, 7, 1499], dtype=np.int64)
    assert np.array_equal(row_products(*parts(made), vector, named, threads), (made @ vector)[named])


@pytest.mark.parametrize("threads", [1, 3])
def test_nearest_are_those_of_the_product_of_all(threads: int) -> None:
    made = matrix(3)
    shared = np.random.default_rng(4).random(made.shape[1]) < 0.7
    numbers, products = nearest_rows(*parts(made), shared, 5, threads)
    some = made[:, shared]
    every = (some @ some.T).toarray()
    np.fill_diagonal(every, 0)
    for row, found in enumerate(every):
        best = np.lexsort((np.arange(len(found)), -found))[:5]
        wanted = [number if found[number] else row for number in best.tolist()]
        assert numbers[5 * row : 5 * row + 5].tolist() == wanted
        assert np.array_equal(products[5 * row : 5 * row + 5], found[best])


def test_what_is_damaged_is_refused() -> None:
    starts, columns, weights = parts(matrix(5, 20))
    vector = np.ones(400)
    with pytest.raises(IndexError, match="no such column"):
        row_products(starts, columns, weights, vector[: int(columns.max())], None, 2)
    with pytest.raises(IndexError, match="no such column"):
        row_products(starts, -columns - 1, weights, vector, None, 1)
    with pytest.raises(IndexError, match="no such row"):
        row_products(starts, columns, weights, vector, np.array([20], dtype=np.int64), 1)
    for wrong in (starts[::-1], starts + 1, starts - 5):
        with pytest.raises(IndexError, match="a row that ends before it begins, or after all that is stored"):
            row_products(np.ascontiguousarray(wrong), columns, weights, vector, None, 1)
        with pytest.raises(IndexError, match="a row that ends before it begins, or after all that is stored"):
            nearest_rows(np.ascontiguousarray(wrong), columns, weights, np.ones(400, bool), 3, 2)
    with pytest.raises(ValueError, match="the arrays differ in length"):
        row_products(starts, columns[:-1], weights, vector, None, 1)
