"""Coefficients of agreement against published figures, slow definitions and what must hold for every one of them."""

from __future__ import annotations

import math
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.statistics.coefficients import Coefficient, all_coefficients, find_coefficient
from cranfield.statistics.orderings import Ordering, agreement_of_orderings, split_half_stability
from cranfield.statistics.resampled import percentile_estimate, topic_draws
from cranfield.statistics.significance import Floats, Sampling
from cranfield.statistics.tau_ap import tau_ap_of_generalisability

# ircor's own examples (Urbano): two orders of ten systems, without and with ties.
README_X = [0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94]
README_Y = [0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94]
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        {"tau_ap": 0.8519, "tau_ap_a": 0.7454, "tau_ap_b": 0.7321, "kendall": 0.9398},
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        {"tau_ap": 0.2504, "tau_ap_a": 0.2692, "tau_ap_b": 0.297, "kendall": 0.3765},
    ),
]


def value(name: str, first: object, second: object) -> float:
    return find_coefficient(name)(np.asarray(first), np.asarray(second))


def in_fifths(scores: list[float]) -> Floats:
    return np.round(5 * np.array(scores)) / 5


def samples(seed: int, count: int, levels: int | None = None, items: tuple[int, int] = (2, 8)) -> list[list[Floats]]:
    """Pairs of short random vectors; with `levels`, so few distinct values that there are ties."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(*items, size=count)
    if levels is None:
        return [[generator.permutation(n).astype(float) for _ in range(2)] for n in sizes]
    return [[generator.integers(levels, size=n).astype(float) for _ in range(2)] for n in sizes]


# Published figures


def test_readme_of_ircor() -> None:
    x, y = np.array(README_X), np.array(README_Y)
    assert value("kendall", x, y) == pytest.approx(0.7777778, abs=5e-8)
    assert value("tau_ap", x, y) == pytest.approx(0.7491182, abs=5e-8)
    assert value("kendall_a", x, in_fifths(README_Y)) == pytest.approx(0.7111111, abs=5e-8)
    assert value("tau_ap_a", x, in_fifths(README_Y)) == pytest.approx(0.6074515, abs=5e-8)
    assert value("kendall", in_fifths(README_X), in_fifths(README_Y)) == pytest.approx(0.75, abs=5e-8)
    assert value("tau_ap_b", in_fifths(README_X), in_fifths(README_Y)) == pytest.approx(0.6269841, abs=5e-8)


@pytest.mark.parametrize(("x", "y", "expected"), SETS)
def test_sets_of_ircor(x: list[float], y: list[float], expected: dict[str, float]) -> None:
    tied_x, tied_y = np.round(x, 1), np.round(y, 1)
    found = {
        "tau_ap": value("tau_ap", x, y),
        "tau_ap_a": value("tau_ap_a", x, tied_y),
        "tau_ap_b": value("tau_ap_b", tied_x, tied_y),
        "kendall": value("kendall", tied_x, tied_y),
    }
    assert found == pytest.approx(expected, abs=5.1e-5)


def test_tau_ap_to_expect_from_generalisability() -> None:
    found = tau_ap_of_generalisability([0.93, 0.95, 0.98])
    assert found == pytest.approx([0.7487836, 0.8150692, 0.9226192], abs=5e-8)


# Slow definitions


def sign(x: float) -> int:
    return int(x > 0) - int(x < 0)


def slow_kendall(x: Floats, y: Floats) -> dict[str, float]:
    pairs = list(combinations(range(len(x)), 2))
    balance = sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs)
    untied = [sum(v[i] != v[j] for i, j in pairs) for v in (x, y)]
    classes = min(len(set(x)), len(set(y)))
    return {
        "kendall": balance / math.sqrt(untied[0] * untied[1]),
        "kendall_a": balance / len(pairs),
        "kendall_c": 2 * balance / (len(x) ** 2 * (classes - 1) / classes),
    }


def mean_ranks(x: Floats) -> list[float]:
    return [sum((b > a) + (b == a) / 2 for b in x) + 0.5 for a in x]


def slow_spearman(x: Floats, y: Floats) -> float:
    ranks = [np.array(mean_ranks(v)) for v in (x, y)]
    a, b = (r - r.mean() for r in ranks)
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


def slow_weighted(x: Floats, y: Floats) -> float:
    """Vigna's definition, weights by the rank in one side (ties broken by the other), both sides averaged."""

    def by(first: Floats, second: Floats) -> float:
        order = sorted(range(len(x)), key=lambda i: (first[i], second[i]), reverse=True)
        rank = {item: place for place, item in enumerate(order)}

        def product_of(a: Floats, b: Floats) -> float:
            return sum(
                sign(a[i] - a[j]) * sign(b[i] - b[j]) * (1 / (rank[i] + 1) + 1 / (rank[j] + 1))
                for i, j in combinations(range(len(x)), 2)
            )

        return product_of(x, y) / math.sqrt(product_of(x, x) * product_of(y, y))

    return (by(x, y) + by(y, x)) / 2


def slow_tau_ap(truth: Floats, estimate: Floats) -> float:
    order = sorted(range(len(truth)), key=lambda i: -estimate[i])
    right = [float(sum(truth[j] > truth[i] for j in order[:place])) / place for place, i in enumerate(order) if place]
    return 2 * sum(right) / len(right) - 1


def slow_tau_ap_a(truth: Floats, estimate: Floats) -> float:
    """The mean of tau-AP over every order of the items that the estimate allows."""
    allowed = [
        order
        for order in permutations(range(len(truth)))
        if all(estimate[a] >= estimate[b] for a, b in pairwise(order))
    ]
    ranked = [np.array([-order.index(i) for i in range(len(truth))], dtype=float) for order in allowed]
    return sum(slow_tau_ap(truth, scores) for scores in ranked) / len(ranked)


def slow_tau_ap_b(x: Floats, y: Floats) -> float:
    def down(truth: Floats, estimate: Floats) -> float:
        items = range(len(truth))
        above = {i: [j for j in items if estimate[j] > estimate[i]] for i in items}
        shares = [float(sum(truth[j] > truth[i] for j in above[i])) / len(above[i]) for i in items if above[i]]
        return 2 * sum(shares) / len(shares) - 1

    return (down(x, y) + down(y, x)) / 2


def is_constant(x: Floats) -> bool:
    return len(set(x)) == 1


@pytest.mark.parametrize("levels", [None, 2, 3, 5])
def test_definitions_with_and_without_ties(levels: int | None) -> None:
    compared = 0
    for x, y in samples(1, 80, levels):
        if is_constant(x) or is_constant(y):
            assert all(math.isnan(each(x, y)) for each in all_coefficients())
            continue
        expected = slow_kendall(x, y) | {"spearman": slow_spearman(x, y), "tau_ap_b": slow_tau_ap_b(x, y)}
        expected["weighted_kendall"] = slow_weighted(x, y)
        if len(set(x)) == len(x):
            expected["tau_ap_a"] = slow_tau_ap_a(x, y)
        if levels is None:
            one, other = slow_tau_ap(x, y), slow_tau_ap(y, x)
            expected |= {"tau_ap": one, "tau_ap_reversed": other, "tau_ap_symmetric": (one + other) / 2}
        assert {name: value(name, x, y) for name in expected} == pytest.approx(expected, abs=1e-12)
        compared += 1
    assert compared > 30


def test_tau_ap_with_ties_in_the_estimate_only() -> None:
    for (truth, _), (_, estimate) in zip(samples(2, 60, items=(5, 6)), samples(3, 60, 3, items=(5, 6)), strict=True):
        if not is_constant(estimate):
            assert value("tau_ap_a", truth, estimate) == pytest.approx(slow_tau_ap_a(truth, estimate), abs=1e-12)


def test_long_lists() -> None:
    generator = np.random.default_rng(4)
    x, y = generator.random(400), np.round(generator.random(400), 2)
    expected = {**slow_kendall(x, y), "tau_ap_b": slow_tau_ap_b(x, y)}
    assert {name: value(name, x, y) for name in expected} == pytest.approx(expected, abs=1e-12)


# What holds for every coefficient


@pytest.mark.parametrize("each", all_coefficients(), ids=lambda each: each.name)
class TestEvery:
    def test_same_and_reversed_orders(self, each: Coefficient) -> None:
        for x, _ in samples(5, 20):
            assert each(x, x) == pytest.approx(1 if each.name != "kendall_c" else each(x, x))
            assert each(x, -x) == pytest.approx(-each(x, x))

    def test_from_minus_one_to_one_and_nan_only_where_ties_are_not_provided_for(self, each: Coefficient) -> None:
        for levels in (None, 3):
            for x, y in samples(6, 60, levels):
                found = each(x, y)
                if math.isnan(found):
                    assert levels == 3
                    assert is_constant(x) or is_constant(y) or "undefined" in each.ties
                else:
                    assert -1 - 1e-12 <= found <= 1 + 1e-12

    def test_sides_may_change_places_only_if_neither_is_the_truth(self, each: Coefficient) -> None:
        pairs = [(each(x, y), each(y, x)) for x, y in samples(7, 60)]
        alike = all(math.isclose(one, other, abs_tol=1e-12) for one, other in pairs)
        assert alike == (each.truth == "neither")

    def test_only_the_order_counts(self, each: Coefficient) -> None:
        generator = np.random.default_rng(8)
        for levels in (None, 4):
            for x, y in samples(9, 20, levels):
                shuffle = generator.permutation(len(x))
                expected = pytest.approx(each(x, y), abs=1e-12, nan_ok=True)
                assert each(x[shuffle], y[shuffle]) == expected
                assert each(np.exp(x), 3 * y - 100) == expected

    def test_explains_itself(self, each: Coefficient) -> None:
        assert each.says.endswith(".")
        assert each.title
        assert each.ties
        assert ("truth" in each.orientation()) == (each.truth != "neither")
        assert ">>>" in (each.function.__doc__ or "")

    def test_what_has_no_order(self, each: Coefficient) -> None:
        assert math.isnan(each([1.0], [1.0]))
        assert math.isnan(each([], []))
        assert math.isnan(each([1.0, 1.0], [1.0, 2.0]))
        assert each([1.0, 2.0], [5.0, 7.0]) == pytest.approx(1)
        assert each([-math.inf, 0.0, math.inf], [0.0, math.inf, 1.0]) == each([1, 2, 3], [1, 3, 2])
        with pytest.raises(UsageError, match="NaN"):
            each([1.0, math.nan], [1.0, 2.0])
        with pytest.raises(UsageError, match="two scores for each item"):
            each([1.0, 2.0], [1.0, 2.0, 3.0])


def test_ties_change_nothing_where_there_are_none() -> None:
    for x, y in samples(10, 40):
        assert value("tau_ap_a", x, y) == pytest.approx(value("tau_ap", x, y), abs=1e-12)
        assert value("tau_ap_b", x, y) == pytest.approx(value("tau_ap_symmetric", x, y), abs=1e-12)
        assert value("kendall_a", x, y) == pytest.approx(value("kendall", x, y), abs=1e-12)


def test_unknown_coefficient_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="tau_ap_b"):
        find_coefficient("tau")


# Orderings of systems

FEW = Sampling(seed=3, resamples=100)


def scores_of_systems(seed: int, systems: int = 6, topics: int = 4) -> Floats:
    generator = np.random.default_rng(seed)
    return generator.random((systems, topics)) + np.linspace(0, 0.5, systems)[:, None]


def test_interval_is_that_of_all_resamples_of_the_topics() -> None:
    """Four topics have 256 resamples, which can all be looked at."""
    x, y, kendall = scores_of_systems(1), scores_of_systems(2), find_coefficient("kendall")
    every = [
        kendall(x[:, list(draw)].mean(axis=1), y[:, list(draw)].mean(axis=1)) for draw in product(range(4), repeat=4)
    ]
    sampling = Sampling(seed=3, resamples=2000)
    (found,) = agreement_of_orderings([kendall], Ordering(x), Ordering(y), sampling, same_topics=True)
    assert found.value == pytest.approx(kendall(x.mean(axis=1), y.mean(axis=1)))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975])), abs=1e-9)


def test_other_topics_have_resamples_of_their_own() -> None:
    """256 resamples of four topics by 27 of three; Kendall's tau without ties is a product of signs."""
    x, y, kendall = scores_of_systems(1), scores_of_systems(2, topics=3), find_coefficient("kendall")
    i, j = np.triu_indices(6, 1)
    signs = []
    for scores, topics in ((x, 4), (y, 3)):
        means = np.array([scores[:, list(draw)].mean(axis=1) for draw in product(range(topics), repeat=topics)])
        signs.append(np.sign(means[:, i] - means[:, j]))
    every = (signs[0] @ signs[1].T / len(i)).ravel()
    sampling = Sampling(seed=3, resamples=1000)
    (found,) = agreement_of_orderings([kendall], Ordering(x), Ordering(y), sampling, same_topics=False)
    error = 4 * math.sqrt(0.025 * 0.975 / 1000)
    for end, share in ((found.low, 0.025), (found.high, 0.975)):
        assert np.mean(every < end - 1e-9) - error <= share <= np.mean(every <= end + 1e-9) + error
    (itself,) = agreement_of_orderings([kendall], Ordering(x), Ordering(x), FEW, same_topics=False)
    assert itself.value == pytest.approx(1)
    assert itself.low < 0.9
    with pytest.raises(UsageError, match="different topics: 4 and 3"):
        agreement_of_orderings([kendall], Ordering(x), Ordering(y), sampling, same_topics=True)


def test_seed_decides_the_interval() -> None:
    x, y, kendall = scores_of_systems(1, topics=30), scores_of_systems(2, topics=30), find_coefficient("spearman")

    def interval(seed: int) -> object:
        sampling = Sampling(seed, 50)
        return agreement_of_orderings([kendall], Ordering(x), Ordering(y), sampling, same_topics=True)

    assert interval(1) == interval(1)
    assert interval(1) != interval(2)


def test_systems_whose_means_differ_by_rounding_are_tied() -> None:
    scores = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.0, 0.0, 0.0]])
    assert scores[0].mean() != scores[1].mean()
    assert len(set(Ordering(scores).numbers())) == 2


def test_halves_over_every_split() -> None:
    x, kendall = scores_of_systems(4), find_coefficient("kendall")
    every = [
        kendall(x[:, list(half)].mean(axis=1), x[:, [t for t in range(4) if t not in half]].mean(axis=1))
        for half in combinations(range(4), 2)
    ]
    (found,) = split_half_stability([kendall], Ordering(x), Sampling(seed=1, resamples=600))
    assert found.mean == pytest.approx(np.mean(every), abs=4 * float(np.std(every)) / math.sqrt(600))
    assert found.deviation == pytest.approx(np.std(every), rel=0.1)
    assert (found.low, found.high) == pytest.approx((min(every), max(every)))
    with pytest.raises(UsageError, match="one topic"):
        split_half_stability([kendall], Ordering(x[:, :1]), Sampling())
    (never,) = split_half_stability([kendall], Ordering(np.ones((3, 4))), Sampling(resamples=30))
    assert np.isnan([never.mean, never.deviation, never.low, never.high]).all()
    assert never.undefined == 30


def test_undefined_resamples_are_counted_and_left_out() -> None:
    found = percentile_estimate(0.5, np.array([math.nan, 0.25, 0.75, math.nan]), 0.999)
    assert found.undefined == 2
    assert (found.low, found.high) == pytest.approx((0.25, 0.75), abs=1e-3)
    assert math.isnan(percentile_estimate(0.5, np.array([math.nan])).low)


def test_draws_are_even_and_streams_differ() -> None:
    drawn = np.array(list(topic_draws(5, Sampling(seed=0, resamples=4000))))
    shares = np.bincount(drawn.ravel(), minlength=5) / drawn.size
    assert shares == pytest.approx(np.full(5, 0.2), abs=4 * math.sqrt(0.16 / drawn.size))
    assert (drawn != np.array(list(topic_draws(5, Sampling(seed=0, resamples=4000), stream=1)))).any()


def test_scores_must_be_complete() -> None:
    with pytest.raises(UsageError, match="every system and topic"):
        Ordering(np.array([[0.1, math.nan]]))
    sampling, kendall = Sampling(resamples=10), find_coefficient("kendall")
    with pytest.raises(UsageError, match="different systems: 6 and 5"):
        agreement_of_orderings(
            [kendall], Ordering(scores_of_systems(1)), Ordering(scores_of_systems(1, 5)), sampling, same_topics=True
        )
