"""How far assessors agree on the same documents, beyond chance: coefficients from counts of pairs of grades.

Every coefficient is a function of a square matrix of counts over grades, or of a stack of them: matrices of topics add
up, so that topics can be drawn anew without looking at documents again. A confusion matrix has the grades of one
assessor in rows and of another in columns; a coincidence matrix has every ordered pair of grades that a document got
from two of its assessors, each document weighing as much as it has grades.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from cranfield.statistics.significance import Floats

Level = Literal["nominal", "linear", "quadratic", "ordinal", "interval"]


def confusion(first: Floats, second: Floats, values: Floats) -> Floats:
    """How often one assessor gave each grade (row) where the other gave each (column); NaN: not judged.

    >>> confusion(np.array([0.0, 1.0, 1.0, np.nan]), np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0])).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    counts = np.zeros((len(values), len(values)))
    np.add.at(counts, (np.searchsorted(values, first[both]), np.searchsorted(values, second[both])), 1)
    return counts


def coincidences(grades: Floats, values: Floats) -> Floats:
    """Pairs of grades from grades[document, assessor], NaN: not judged; documents of one grade make no pair.

    Formula: Σ over documents of (n_c n_k - [c = k] n_c) / (n - 1), n_c how many gave grade c, n all of them

    >>> coincidences(np.array([[1.0, 1.0, 0.0], [0.0, np.nan, np.nan]]), np.array([0.0, 1.0])).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    ratings = (grades[:, :, None] == values).sum(axis=1).astype(np.float64)
    total = ratings.sum(axis=1)
    paired = total > 1
    ratings, weight = ratings[paired], 1 / (total[paired] - 1)
    counts: Floats = np.einsum("d,dc,dk->ck", weight, ratings, ratings) - np.diag(weight @ ratings)
    return counts


def distances(values: Floats, level: Level, margin: Floats | None = None) -> Floats:
    """How far apart grades are: 1 if they differ; |c - k|; (c - k)²; or by how many judgements lie between them.

    >>> distances(np.array([0.0, 1.0, 3.0]), "quadratic").tolist()
    [[0.0, 1.0, 9.0], [1.0, 0.0, 4.0], [9.0, 4.0, 0.0]]
    """
    apart = np.abs(values[:, None] - values)
    if level == "nominal":
        return (apart > 0).astype(np.float64)
    if level == "linear":
        return apart
    if level in ("quadratic", "interval"):
        squared: Floats = apart**2
        return squared
    assert margin is not None
    # Σ n_g for g from c to k, less half of n_c and n_k, is a difference of the middles of the cumulated counts.
    middle = np.cumsum(margin, axis=-1) - margin / 2
    between: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return between


def cohen_kappa(counts: Floats, values: Floats, weights: Level = "nominal") -> Floats:
    """Agreement of two assessors beyond what their own shares of grades would give by chance (Cohen 1960, 1968).

    Formula: 1 - Σ d_ck o_ck / Σ d_ck e_ck, e the product of the margins; NaN where chance leaves nothing to disagree

    >>> float(cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]), np.array([0.0, 1.0])).round(4))
    0.4
    """
    total = counts.sum(axis=(-2, -1), keepdims=True)
    expected = counts.sum(axis=-1, keepdims=True) * counts.sum(axis=-2, keepdims=True)
    apart = distances(values, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _beyond_chance(counts, expected / total, apart)


def fleiss_kappa(counts: Floats) -> Floats:
    """Agreement of several assessors, of whom as many judged each document, from their coincidences (Fleiss 1971).

    Formula: (P - Σ p_c²) / (1 - Σ p_c²), P the mean share of pairs that agree, p_c the share of grade c

    >>> two = coincidences(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), np.array([0.0, 1.0]))
    >>> float(fleiss_kappa(two).round(4))
    0.25
    """
    margin = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = margin / margin.sum(axis=-1, keepdims=True)
        observed = np.trace(counts, axis1=-2, axis2=-1) / margin.sum(axis=-1)
        by_chance = (share**2).sum(axis=-1)
        kappa: Floats = (observed - by_chance) / np.where(by_chance < 1, 1 - by_chance, np.nan)
    return kappa


def krippendorff_alpha(counts: Floats, values: Floats, level: Level = "nominal") -> Floats:
    """Agreement of any number of assessors, who need not all judge all, from their coincidences (Krippendorff 2004).

    Formula: 1 - (n - 1) Σ d_ck o_ck / Σ d_ck n_c n_k, over pairs of grades, n_c how often grade c is in a pair

    >>> made = coincidences(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]), np.array([0.0, 1.0]))
    >>> float(krippendorff_alpha(made, np.array([0.0, 1.0])).round(4))
    0.4444
    """
    margin = counts.sum(axis=-1)
    total = margin.sum(axis=-1)[..., None, None]
    expected = margin[..., :, None] * margin[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return _beyond_chance(counts, expected / (total - 1), distances(values, level, margin))


def _beyond_chance(observed: Floats, expected: Floats, apart: Floats) -> Floats:
    """1 - observed / expected disagreement; NaN where none is expected."""
    by_chance = (apart * expected).sum(axis=(-2, -1))
    agreement: Floats = 1 - (apart * observed).sum(axis=(-2, -1)) / np.where(by_chance > 0, by_chance, np.nan)
    return agreement


def grade_agreement(counts: Floats) -> Floats:
    """For each grade, how often an assessor gives it when another did, either way round (specific agreement).

    Formula: o_cc / n_c of a symmetric matrix, or 2 o_cc / (row + column)

    >>> grade_agreement(np.array([[20.0, 5.0], [10.0, 15.0]])).round(4).tolist()
    [0.7273, 0.6667]
    """
    ratings = counts.sum(axis=-1) + counts.sum(axis=-2)
    agreement: Floats = 2 * np.diagonal(counts, axis1=-2, axis2=-1) / np.where(ratings > 0, ratings, np.nan)
    return agreement


def overlap(relevant: Floats) -> tuple[int, int]:
    """Documents that all assessors, and that any of them, find relevant: relevant[document, assessor] is 0 or 1.

    Their ratio is the overlap of Voorhees 2000. A document that one of them did not judge (NaN) is in neither.

    >>> overlap(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, np.nan]]))
    (1, 2)
    """
    judged_by_all = relevant[~np.isnan(relevant).any(axis=1)] > 0
    return int(np.count_nonzero(judged_by_all.all(axis=1))), int(np.count_nonzero(judged_by_all.any(axis=1)))
