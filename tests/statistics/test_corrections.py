"""Corrections for many comparisons against published figures and statsmodels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from commands import command_line
from cranfield.errors import UsageError
from cranfield.statistics.corrections import all_corrections, family_wise_error, find_correction
from places import EXAMPLES
from simulate import Floats

# Benjamini and Hochberg, 1995: fifteen p-values of a trial of a heart drug.
HEART = np.array(
    [1e-4, 4e-4, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1]
)
STATSMODELS = {
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "bonferroni": "bonferroni",
    "benjamini-hochberg": "fdr_bh",
    "benjamini-yekutieli": "fdr_by",
}
NAMES = [correction.name for correction in all_corrections()]


def families() -> Iterator[Floats]:
    """Families of 1 to 30 p-values, with ties, zeros and ones among them, in no order."""
    random = np.random.default_rng(0)
    for size in (1, 2, 3, 7, 30):
        yield random.random(size) ** 3
        yield random.choice([0.0, 1e-200, 0.01, 0.02, 0.05, 1.0], size)


@pytest.mark.parametrize(
    ("name", "found"),
    [("bonferroni", 3), ("holm", 3), ("benjamini-hochberg", 4), ("benjamini-yekutieli", 3), ("none", 9)],
)
def test_published_findings(name: str, found: int) -> None:
    assert np.count_nonzero(find_correction(name)(HEART) <= 0.05) == found


def test_published_adjusted_value() -> None:
    assert find_correction("benjamini-hochberg")(HEART)[3] == pytest.approx(0.035625, rel=1e-12)


def test_every_correction_has_an_oracle() -> None:
    assert set(NAMES) == {*STATSMODELS, "none"}


@pytest.mark.parametrize("name", STATSMODELS)
def test_adjusted_values_are_those_of_statsmodels(name: str) -> None:
    for p in families():
        expected = multipletests(p, method=STATSMODELS[name])[1]
        np.testing.assert_allclose(find_correction(name)(p), expected, rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_properties_of_adjusted_values(name: str) -> None:
    """Never below the p-value, never above 1, in its order, and each where its p-value stands."""
    correct = find_correction(name)
    for p in families():
        adjusted = correct(p)
        assert (adjusted >= p).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
        order = np.random.default_rng(len(p)).permutation(len(p))
        np.testing.assert_array_equal(correct(p[order]), adjusted[order])


def test_strictness() -> None:
    chain = ["none", "benjamini-hochberg", "hochberg", "holm", "bonferroni"]
    for p in families():
        by_name = {name: find_correction(name)(p) for name in NAMES}
        for weaker, stricter in [*pairwise(chain), ("benjamini-hochberg", "benjamini-yekutieli")]:
            assert (by_name[weaker] <= by_name[stricter] * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_family_of_systems_measures_and_collections_is_one_family(name: str) -> None:
    family = np.random.default_rng(0).random((4, 3, 2))
    np.testing.assert_array_equal(find_correction(name)(family), find_correction(name)(family.ravel()).reshape(4, 3, 2))
    assert find_correction(name)(np.empty((0, 3))).shape == (0, 3)
    np.testing.assert_array_equal(find_correction(name)(np.array([0.03])), [0.03])


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_what_is_no_p_value_is_refused(value: float) -> None:
    with pytest.raises(UsageError, match="a p-value is not from 0 to 1"):
        find_correction()(np.array([0.1, value]))


@pytest.mark.parametrize("name", NAMES)
def test_an_undefined_p_value_stays_so_and_counts_as_a_comparison(name: str) -> None:
    adjusted = find_correction(name)(np.array([0.01, np.nan, 0.02]))
    assert np.isnan(adjusted).tolist() == [False, True, False]
    np.testing.assert_array_equal(adjusted[[0, 2]], find_correction(name)(np.array([0.01, 1.0, 0.02]))[[0, 2]])


@pytest.mark.parametrize("name", NAMES)
def test_the_level_of_a_correction_parts_what_it_finds_from_the_rest(name: str) -> None:
    """So that an interval at that level leaves out zero exactly where adjusted p is below alpha."""
    correction, sizes = find_correction(name), set()
    random = np.random.default_rng(1)
    for size in (1, 2, 3, 10, 45):
        for power in (0.5, 1, 2, 4):
            p = random.random(size) ** power
            found = correction(p) < 0.05
            level = correction.level(0.05, size, int(found.sum()))
            np.testing.assert_array_equal(p < level, found)
            assert 0 < level <= 0.05
            sizes.add(bool(found.any()) + 2 * bool(found.all()))
    assert sizes >= {0, 1, 3}


def test_the_level_to_plan_with_is_that_of_the_smallest_p_value() -> None:
    shares = {name: find_correction(name).level(0.05, 10) / 0.05 for name in NAMES}
    harmonic = sum(1 / i for i in range(1, 11))
    tenth = pytest.approx(0.1)
    assert shares == {
        "holm": tenth,
        "hochberg": tenth,
        "bonferroni": tenth,
        "benjamini-hochberg": tenth,
        "benjamini-yekutieli": pytest.approx(0.1 / harmonic),
        "none": 1,
    }


def test_unknown_names_are_answered_with_the_known() -> None:
    with pytest.raises(UsageError, match="unknown correction 'holms'; there are holm, hochberg"):
        find_correction("holms")


def test_every_correction_says_what_it_controls() -> None:
    for correction in all_corrections():
        assert correction.controls
        assert ">>>" in correction.help


def test_family_wise_error() -> None:
    assert family_wise_error(0.05, 1) == pytest.approx(0.05)
    assert family_wise_error(0.05, 190) == pytest.approx(1 - 0.95**190)


def test_the_command_explains_corrections_and_refuses_others() -> None:
    told = command_line("compare", "--correction", "list")
    assert [line for line in told.stdout.splitlines() if not line.startswith(" ")] == [
        c.name for c in all_corrections()
    ]
    files = [EXAMPLES / name for name in ("qrels.txt", "bm25.run", "dense.run")]
    refused = command_line("compare", *files, "--correction", "sidak")
    assert refused.exit == 2
    assert "unknown correction 'sidak'; there are holm" in refused.stderr
