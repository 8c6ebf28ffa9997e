"""The mixed-effects model against closed forms, published figures and another implementation."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest

from cranfield.errors import UsageError
from cranfield.statistics.mixed_effects import _products, fit_mixed
from cranfield.statistics.significance import Floats, Integers


def crossed(*levels: int) -> list[Integers]:
    """Every combination of levels once: for each factor the level of every value."""
    return [np.array(column) for column in zip(*product(*map(range, levels)), strict=True)]


def with_squares(factors: list[Integers], squares: list[float], residual: float, seed: int = 0) -> Floats:
    """Values of a balanced crossed design whose sums of squares are those wanted, to the last digit."""
    draw = np.random.default_rng(seed)
    values = np.zeros(len(factors[0]))
    rest = draw.normal(size=len(values))
    rest -= rest.mean()
    for factor, square in zip(factors, squares, strict=True):
        levels = int(factor.max()) + 1
        means = draw.normal(size=levels)
        part = (means - means.mean())[factor]
        values += part * np.sqrt(square / (part @ part)) if square else 0
        rest -= np.array([rest[factor == level].mean() for level in range(levels)])[factor]
    return np.asarray(values + rest * np.sqrt(residual / (rest @ rest)))


@pytest.mark.parametrize("seed", range(5))
def test_in_a_balanced_design_it_is_the_analysis_of_variance(seed: int) -> None:
    system, participant, topic = crossed(3, 12, 6)
    squares = [4.0, 40.0, 15.0]
    values = with_squares([system, participant, topic], squares, 45.0, seed)
    fit = fit_mixed(values, system, {"participant": participant, "topic": topic})
    free = 216 - 1 - 2 - 11 - 5
    residual = 45.0 / free
    assert fit.converged
    assert fit.singular == ()
    assert fit.residual == pytest.approx(residual, rel=1e-7)
    assert fit.variances["participant"] == pytest.approx((40.0 / 11 - residual) / 18, rel=1e-6)
    assert fit.variances["topic"] == pytest.approx((15.0 / 5 - residual) / 36, rel=1e-6)
    overall = fit.overall()
    assert overall.f == pytest.approx(4.0 / 2 / residual, rel=1e-7)
    assert overall.freedom == 2
    assert overall.residual_freedom == pytest.approx(free, rel=1e-6)
    difference = fit.contrast(np.array([1.0, -1.0, 0.0]))
    assert difference.error == pytest.approx(np.sqrt(2 * residual / 72), rel=1e-7)
    assert difference.freedom == pytest.approx(free, rel=1e-6)


def test_published_figures_of_a_block_design() -> None:
    """Faraway's penicillin (4 treatments, 5 blends): lme4 has blend 11.8, residual 18.8, errors 2.48 and 2.75, F 1.24;
    the data are made anew from their sums of squares: 70, 264 and 226."""
    treatment, blend = crossed(4, 5)
    fit = fit_mixed(with_squares([treatment, blend], [70, 264], 226), treatment, {"blend": blend})
    assert fit.variances["blend"] == pytest.approx(11.8, abs=0.05)
    assert fit.residual == pytest.approx(18.8, abs=0.05)
    assert np.sqrt(fit.covariance[0, 0]) == pytest.approx(2.48, abs=0.006)  # √6.125 = 2.4749
    assert fit.contrast(np.array([1.0, -1, 0, 0])).error == pytest.approx(2.75, abs=0.006)
    assert fit.overall().f == pytest.approx(1.24, abs=0.005)
    assert fit.overall().p == pytest.approx(0.34, abs=0.005)
    assert fit.criterion == pytest.approx(103.8, abs=0.05)


def test_published_criterion_of_crossed_effects() -> None:
    """lme4's Penicillin (24 plates × 6 samples): variances 0.7169, 3.7311 and 0.3024, criterion 330.9."""
    plate, sample = crossed(24, 6)
    squares = [(0.3024 + 6 * 0.7169) * 23, (0.3024 + 24 * 3.7311) * 5]
    values = with_squares([plate, sample], squares, 0.3024 * 115)
    fit = fit_mixed(values, np.zeros(144, dtype=np.int64), {"plate": plate, "sample": sample})
    assert fit.criterion == pytest.approx(330.86, abs=0.02)
    assert np.sqrt(fit.covariance[0, 0]) == pytest.approx(0.8086, abs=0.0005)
    assert fit.variances["sample"] == pytest.approx(3.7311, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_unbalanced_data_are_fitted_as_statsmodels_does(seed: int) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    draw = np.random.default_rng(seed)
    kept = draw.random(3 * 14 * 8) < 0.45
    system, participant, topic = (column[kept] for column in crossed(3, 14, 8))
    own = draw.normal(0, 0.9, 14)[participant] + draw.normal(0, 0.6, 8)[topic]
    values = np.array([3.0, 3.4, 3.2])[system] + own + draw.normal(0, 0.7, len(system))
    fit = fit_mixed(values, system, {"participant": participant, "topic": topic})
    names, levels = ["participant", "topic"], [participant, topic]
    columns = [[[f"{name}{n}" for n in range(level.max() + 1)]] for name, level in zip(names, levels, strict=True)]
    spec = VCSpec(names, columns, [[np.eye(level.max() + 1)[level]] for level in levels])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = MixedLM(values, np.eye(3)[system], groups=np.zeros(len(values)), exog_vc=spec).fit(reml=True)
    assert fit.criterion <= -2 * other.llf + 1e-6  # never worse
    assert fit.criterion == pytest.approx(-2 * other.llf, abs=1e-3)
    assert fit.means == pytest.approx(other.fe_params, abs=2e-3)
    assert [*fit.variances.values(), fit.residual] == pytest.approx([*other.vcomp, other.scale], rel=0.02)


def numbered(levels: Integers) -> Integers:
    return np.unique(levels, return_inverse=True)[1].astype(np.int64)


def with_interactions(participants: int, topics: int, kept: float, seed: int) -> tuple[Integers, dict[str, Integers]]:
    draw = np.random.default_rng(seed)
    columns = crossed(3, participants, topics)
    rows = draw.random(len(columns[0])) < kept
    system, participant, topic = (numbered(column[rows]) for column in columns)
    own, others = numbered(participant * 3 + system), numbered(topic * 3 + system)
    return system, {"participant": participant, "participant × system": own, "topic": topic, "topic × system": others}


@pytest.mark.parametrize(("participants", "topics"), [(12, 5), (4, 14)])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_solved_in_blocks_is_what_whole_matrices_give(participants: int, topics: int, seed: int) -> None:
    system, random = with_interactions(participants, topics, 0.6, seed)
    draw = np.random.default_rng(seed)
    values = draw.normal(0, 1, len(system)) + 0.3 * system
    for level in random.values():
        values += draw.normal(0, 0.8, level.max() + 1)[level]
    fit = fit_mixed(values, system, random)
    spreads = [np.equal.outer(level, level) * 1.0 for name, level in random.items() if fit.variances[name] > 0]
    spreads.append(np.eye(len(values)))
    variances = [*(v for v in fit.variances.values() if v > 0), fit.residual]
    whole = np.linalg.inv(sum(v * spread for v, spread in zip(variances, spreads, strict=True)))
    groups = np.eye(3)[system]
    covariance = np.linalg.inv(groups.T @ whole @ groups)
    assert fit.covariance == pytest.approx(covariance, rel=1e-8, abs=1e-10)
    assert fit.means == pytest.approx(covariance @ groups.T @ whole @ values, rel=1e-8)
    rest = whole - whole @ groups @ covariance @ groups.T @ whole
    information = [[np.trace(rest @ one @ rest @ other) / 2 for other in spreads] for one in spreads]
    assert fit.uncertainty == pytest.approx(np.linalg.inv(information), rel=1e-7, abs=1e-10)
    for slope, spread in zip(fit.slopes, spreads, strict=True):
        weights = covariance @ groups.T @ whole
        assert slope == pytest.approx(weights @ spread @ weights.T, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(("participants", "topics"), [(500, 12), (12, 500)])
def test_whoever_is_many_is_solved_one_by_one(participants: int, topics: int) -> None:
    """Matrices of all participants, or topics, at once took minutes."""
    system, random = with_interactions(participants, topics, 1.0, 0)
    products = _products(np.zeros(len(system)), system, random)
    assert products.blocks.shape == (500, 4, 4)
    assert products.plain.shape == (51, 51)  # 3 systems, 12 of the others, 36 of these with a system


def test_two_groups_with_pairs_are_the_paired_t_test() -> None:
    from scipy import stats

    system, participant = crossed(2, 9)
    draw = np.random.default_rng(3)
    values = draw.normal(0, 1, 9)[participant] + 0.4 * system + draw.normal(0, 0.5, 18)
    fit = fit_mixed(values, system, {"participant": participant})
    paired = stats.ttest_rel(values[:9], values[9:])
    part = fit.contrast(np.array([1.0, -1.0]))
    assert part.value / part.error == pytest.approx(paired.statistic, rel=1e-7)
    assert part.freedom == pytest.approx(8, rel=1e-6)
    assert fit.overall().p == pytest.approx(paired.pvalue, rel=1e-6)


def test_a_variance_that_is_not_there_is_none_and_the_fit_is_that_without_it() -> None:
    system, participant, topic = crossed(2, 6, 5)
    values = with_squares([system, participant, topic], [1.0, 20.0, 0.0], 30.0)
    fit = fit_mixed(values, system, {"participant": participant, "topic": topic})
    without = fit_mixed(values, system, {"participant": participant})
    assert fit.singular == ("topic",)
    assert fit.variances["topic"] == 0
    assert fit.converged
    assert fit.residual == pytest.approx(without.residual, rel=1e-6)
    assert fit.contrast(np.array([1.0, -1.0])) == pytest.approx(without.contrast(np.array([1.0, -1.0])), rel=1e-6)


@pytest.mark.parametrize("values", [[3, 3, 3, 3, 3, 3], [3, 4, 3, 4, 3, 4], [3, 4, 2, 3, 5, 6]])
def test_without_chance_nothing_is_claimed(values: list[float]) -> None:
    """All the same, all as their group, or a difference that is the same for everybody."""
    system, participant = np.array([0, 1] * 3), np.repeat(np.arange(3), 2)
    fit = fit_mixed(np.array(values, dtype=float), system, {"participant": participant})
    assert not fit.converged
    assert fit.residual == 0
    assert np.isnan(fit.overall().p)
    assert np.isnan(fit.contrast(np.array([1.0, -1.0])).freedom)


def test_without_random_effects_it_is_one_way() -> None:
    from scipy import stats

    values = np.array([1.0, 2, 3, 2, 4, 6, 5, 7, 6])
    fit = fit_mixed(values, np.repeat(np.arange(3), 3), {})
    wanted = stats.f_oneway(values[:3], values[3:6], values[6:])
    assert (fit.overall().f, fit.overall().p) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_as_many_groups_as_values_are_refused() -> None:
    with pytest.raises(UsageError, match="2 values of 2 groups leave nothing"):
        fit_mixed(np.array([1.0, 2.0]), np.array([0, 1]), {})


def test_false_alarms_are_as_many_as_wanted_where_systems_suit_topics_differently() -> None:
    """Two systems that are the same on average, but each suits some topics: without the interaction, p is too small."""
    draw = np.random.default_rng(8)
    system, participant, topic = crossed(2, 8, 10)
    cells = topic * 2 + system
    alarms = {"with": 0, "without": 0}
    times = 40
    for _ in range(times):
        own = draw.normal(0, 0.5, 8)[participant] + draw.normal(0, 0.5, 10)[topic] + draw.normal(0, 0.5, 20)[cells]
        values = own + draw.normal(0, 0.7, len(system))
        effects = {"participant": participant, "topic": topic}
        alarms["without"] += fit_mixed(values, system, effects).overall().p < 0.05
        alarms["with"] += fit_mixed(values, system, {**effects, "topic × system": cells}).overall().p < 0.05
    assert alarms["with"] <= 5
    assert alarms["without"] >= 9


@pytest.mark.parametrize("seed", range(4))
def test_digits_do_not_depend_on_the_order_of_sums(seed: int) -> None:
    """Rows in another order are rounded otherwise, as on another processor: the minimum is told by its slope."""
    draw = np.random.default_rng(seed)
    system, participant, topic = crossed(3, 12, 6)
    values = 0.5 * draw.normal(size=12)[participant] + 0.3 * draw.normal(size=6)[topic]
    values += draw.normal(size=len(values))
    fits = []
    for order in (np.arange(len(values)), draw.permutation(len(values)), draw.permutation(len(values))):
        fit = fit_mixed(values[order], system[order], {"participant": participant[order], "topic": topic[order]})
        fits.append([*fit.variances.values(), fit.residual])
    np.testing.assert_allclose(fits[1:], [fits[0]] * 2, rtol=1e-12)
