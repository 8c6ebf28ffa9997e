"""Rank-biased overlap against the reference of Corsi and Urbano, slow definitions, and what it must hold to."""

from __future__ import annotations

import csv
import math
import re
from itertools import permutations, product

import numpy as np
import pytest

from cranfield import UsageError
from cranfield.statistics.overlap import (
    TIE_TREATMENTS,
    TiedRanking,
    Ties,
    overlap_at,
    prefix_weight,
    rank_biased_overlap,
)
from places import DATA

REFERENCE = DATA / "rbo" / "reference-50.csv"
README_X = [["red"], ["blue", "green"], ["yellow"], ["pink"]]
README_Y = [["blue", "red"], ["white"], ["yellow", "black", "purple"], ["green"]]
README = {
    "a": (0.6922853, 0.3310519, 0.8930692),
    "w": (0.7068257, 0.3429684, 0.9049857),
    "b": (0.7207131, 0.3509163, 0.9129336),
}
TREATMENTS: list[Ties] = ["w", "a", "b"]
Groups = list[list[str]]


def rbo(x: Groups, y: Groups, p: float, ties: Ties) -> tuple[float, float, float]:
    return tuple(rank_biased_overlap(TiedRanking.of_groups(x), TiedRanking.of_groups(y), p, ties))  # type: ignore[return-value]


def random_groups(generator: np.random.Generator, longest: int, chance_of_tie: float) -> Groups:
    documents = generator.permutation([f"d{i}" for i in range(longest + 4)])[: generator.integers(1, longest + 1)]
    groups: Groups = []
    for document in documents.tolist():
        if groups and generator.random() < chance_of_tie:
            groups[-1].append(document)
        else:
            groups.append([document])
    return groups


def pairs(seed: int, count: int, chance_of_tie: float, longest: int = 9) -> list[tuple[Groups, Groups]]:
    generator = np.random.default_rng(seed)
    return [
        (random_groups(generator, longest, chance_of_tie), random_groups(generator, longest, chance_of_tie))
        for _ in range(count)
    ]


# Published figures


def parsed(text: str) -> Groups:
    return [part.strip("()").split() for part in re.findall(r"\([^)]*\)|\S+", text)]


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the data folder with the reference is not here")
def test_every_row_of_the_reference() -> None:
    rows = list(csv.DictReader(REFERENCE.read_text().splitlines()))
    assert len(rows) == 50
    for row in rows:
        x, y = (TiedRanking.of_groups(parsed(row[side])) for side in "xy")
        for ties in TREATMENTS:
            for found in (
                rank_biased_overlap(x, y, float(row["p"]), ties),
                rank_biased_overlap(y, x, float(row["p"]), ties),
            ):
                expected = [float(row[f"{ties}.{name}"]) for name in ("ext", "min", "max", "res")]
                assert [*found, found.residual] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("ties", TREATMENTS)
def test_readme_of_the_reference(ties: Ties) -> None:
    assert rbo(README_X, README_Y, 0.95, ties) == pytest.approx(README[ties], abs=5e-8)
    assert rbo(README_Y, README_X, 0.95, ties) == pytest.approx(README[ties], abs=5e-8)


def test_weight_of_the_first_ranks() -> None:
    assert prefix_weight(0.9, 10) == pytest.approx(0.85559, abs=5e-6)
    assert prefix_weight(0.98, 50) == pytest.approx(0.8522, abs=5e-5)
    for p, depth in ((0.3, 1), (0.9, 1), (0.9, 7), (0.98, 30)):
        ranks = np.arange(1, 5000)
        of_rank = [(1 - p) / p * np.sum(p ** ranks[i:] / ranks[i:]) for i in range(depth)]
        assert prefix_weight(p, depth) == pytest.approx(sum(of_rank), abs=1e-12)


# Slow definitions


def slow(x: Groups, y: Groups, p: float, ties: Ties) -> tuple[float, float, float]:
    """Depth by depth, document by document."""
    short, long = sorted((x, y), key=lambda groups: sum(map(len, groups)))
    s, l = (sum(map(len, groups)) for groups in (short, long))  # noqa: E741

    def share(groups: Groups, document: str, depth: int) -> float:
        first = 1
        for group in groups:
            if document in group:
                if ties == "w":
                    return float(depth >= first)
                return min(max((depth - first + 1) / len(group), 0.0), 1.0)
            first += len(group)
        return 0.0

    in_short, in_long = [d for g in short for d in g], [d for g in long for d in g]
    both = [d for d in in_short if d in in_long]
    alone = [d for d in in_long if d not in in_short]

    def divisor(depth: int) -> float:
        ours, theirs = ([share(g, d, depth) for d in items] for g, items in ((short, in_short), (long, in_long)))
        if ties == "w":
            return ((sum(ours) if depth <= s else depth) + sum(theirs)) / 2
        if ties == "a":
            return depth
        return math.sqrt((sum(c * c for c in ours) if depth <= s else depth) * sum(c * c for c in theirs))

    def overlap(depth: int) -> float:
        return sum(share(short, d, depth) * share(long, d, depth) for d in both)

    at_end = overlap(s) / divisor(s)
    lowest = extrapolated = highest = 0.0
    for depth in range(1, l + 1):
        shares = [share(long, d, depth) for d in alone]
        begun = [c for c in shares if c > 0]
        to_come = max(depth - s, 0)
        guess = to_come * at_end * sum(begun) / len(begun) if begun else 0.0
        weight = p**depth / divisor(depth)
        lowest += overlap(depth) * weight
        extrapolated += (overlap(depth) + guess) * weight
        highest += (overlap(depth) + sum(shares[:to_come])) * weight
    for depth in range(l + 1, 3000):
        lowest += len(both) / depth * p**depth
        extrapolated += (len(both) + (l - s) * at_end) / l * p**depth
        highest += min(len(both) + 2 * depth - l - s, depth) / depth * p**depth
    scale = (1 - p) / p
    return scale * extrapolated, scale * lowest, scale * highest


@pytest.mark.parametrize("ties", TREATMENTS)
@pytest.mark.parametrize("chance_of_tie", [0.0, 0.3, 0.8])
def test_definition(ties: Ties, chance_of_tie: float) -> None:
    for x, y in pairs(1, 12, chance_of_tie):
        for p in (0.5, 0.9):
            assert rbo(x, y, p, ties) == pytest.approx(slow(x, y, p, ties), abs=1e-12)


def agreement_to(depth: int, x: list[str], y: list[str], p: float) -> float:
    return sum(len({*x[:d]} & {*y[:d]}) / d * p**d for d in range(1, depth + 1)) * (1 - p) / p


def test_bounds_are_those_of_lists_that_go_on() -> None:
    """Without ties: as if nothing to come agreed, and as if everything agreed as early as it can."""
    for x, y in pairs(2, 40, 0.0):
        short, long = sorted(([d for g in groups for d in g] for groups in (x, y)), key=len)
        never = agreement_to(
            300, [*short, *(f"s{i}" for i in range(300))], [*long, *(f"l{i}" for i in range(300))], 0.8
        )
        fresh = [f"n{i}" for i in range(300)]
        missing_in_short = [d for d in long if d not in short]
        missing_in_long = [d for d in short if d not in long]
        at_once = agreement_to(300, [*short, *missing_in_short, *fresh], [*long, *missing_in_long, *fresh], 0.8)
        _, lowest, highest = rbo(x, y, 0.8, "a")
        assert lowest == pytest.approx(never, abs=1e-12)
        assert highest == pytest.approx(at_once, abs=1e-12)


def test_extrapolation_without_ties_is_that_of_webber_et_al() -> None:
    """Their equation 32."""
    p = 0.85
    for x, y in pairs(3, 40, 0.0):
        short, long = sorted(([d for g in groups for d in g] for groups in (x, y)), key=len)
        s, l = len(short), len(long)  # noqa: E741
        overlap = [len({*short[:d]} & {*long[:d]}) for d in range(l + 1)]
        seen = sum(overlap[d] / d * p**d for d in range(1, l + 1))
        guessed = sum(overlap[s] * (d - s) / (s * d) * p**d for d in range(s + 1, l + 1))
        expected = (1 - p) / p * (seen + guessed) + ((overlap[l] - overlap[s]) / l + overlap[s] / s) * p**l
        for ties in TREATMENTS:
            assert rbo(x, y, p, ties)[0] == pytest.approx(expected, abs=1e-12)


def orders(groups: Groups) -> list[Groups]:
    """Every order of the tied documents, as lists without ties."""
    return [[[d] for part in parts for d in part] for parts in product(*(permutations(group) for group in groups))]


def test_a_is_the_mean_over_all_orders_of_the_tied_documents() -> None:
    compared = 0
    for x, y in pairs(4, 60, 0.35, longest=5):
        each = np.array([rbo(one, other, 0.8, "a") for one in orders(x) for other in orders(y)])
        extrapolated, lowest, highest = rbo(x, y, 0.8, "a")
        assert lowest == pytest.approx(each[:, 1].mean(), abs=1e-12)
        if sum(map(len, x)) == sum(map(len, y)):
            assert (extrapolated, highest) == pytest.approx(tuple(each[:, [0, 2]].mean(axis=0)), abs=1e-12)
            compared += len(each) > 1
    assert compared > 3


# What it must hold to


@pytest.mark.parametrize("ties", TREATMENTS)
def test_symmetry_names_and_bounds(ties: Ties) -> None:
    for x, y in pairs(5, 80, 0.4):
        found = rbo(x, y, 0.9, ties)
        assert found == pytest.approx(rbo(y, x, 0.9, ties), abs=1e-12)
        renamed = [[[f"other-{d}" for d in group[::-1]] for group in groups] for groups in (x, y)]
        assert found == pytest.approx(rbo(renamed[0], renamed[1], 0.9, ties), abs=1e-12)
        extrapolated, lowest, highest = found
        assert -1e-12 <= lowest <= highest + 1e-12
        assert highest <= 1 + 1e-12
        assert lowest - 1e-12 <= extrapolated


def test_a_list_agrees_with_itself() -> None:
    for x, _ in pairs(6, 40, 0.5):
        assert rbo(x, x, 0.9, "w")[0] == pytest.approx(1)
        assert rbo(x, x, 0.9, "b")[0] == pytest.approx(1)
        assert rbo(x, x, 0.9, "a")[0] <= 1 + 1e-12
    assert rbo([["a", "b"]], [["a", "b"]], 0.9, "a")[0] < 1


def test_disjoint_lists_do_not_agree() -> None:
    extrapolated, lowest, highest = rbo([["a"], ["b", "c"]], [["x"], ["y"]], 0.9, "b")
    assert (extrapolated, lowest) == (0, 0)
    assert highest > 0.5


def test_residual_shrinks_with_depth_and_grows_with_persistence() -> None:
    deep = [[f"d{i}"] for i in range(200)]
    residuals = [
        rank_biased_overlap(TiedRanking.of_groups(deep[:n]), TiedRanking.of_groups(deep[:n]), 0.9).residual
        for n in (5, 20, 200)
    ]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < 1e-9
    shallow = TiedRanking.of_groups(deep[:20])
    assert rank_biased_overlap(shallow, shallow, 0.98).residual > rank_biased_overlap(shallow, shallow, 0.9).residual


def test_deep_lists_of_ties() -> None:
    """One group of ten thousand against as many ranks; every depth has the same share of the group in it."""
    documents = [f"d{i}" for i in range(10_000)]
    tied, ranked = TiedRanking.of_groups([documents]), TiedRanking.of_groups([[d] for d in documents])
    found = rank_biased_overlap(tied, ranked, 0.9, "a")
    weights = 0.9 ** np.arange(1, 10_001) * (0.1 / 0.9)
    assert found.lowest == pytest.approx(float(np.sum(weights * np.arange(1, 10_001) / 10_000)), rel=1e-12)
    assert found.lowest <= found.extrapolated <= found.highest <= found.lowest + 1e-15


def test_scores_and_groups_make_the_same_ranking() -> None:
    scored = TiedRanking.of_scores(["c", "a", "b", "d"], [1.0, 3.0, 1.0, -math.inf])
    grouped = TiedRanking.of_groups([["a"], ["c", "b"], ["d"]])
    assert scored.documents == grouped.documents
    assert scored.first.tolist() == grouped.first.tolist() == [1, 2, 2, 4]
    assert scored.last.tolist() == grouped.last.tolist() == [1, 3, 3, 4]
    assert len(scored) == 4


def test_overlap_at_a_depth() -> None:
    x, y = TiedRanking.of_groups([["a"], ["b"], ["c"], ["d"]]), TiedRanking.of_groups([["b"], ["x"], ["a"]])
    assert overlap_at(x, y, 1) == (0, 0)
    assert overlap_at(x, y, 3) == (2 / 3, 2 / 4)
    assert overlap_at(x, y, 100) == (2 / 4, 2 / 5)
    assert overlap_at(x, x, 100) == (1, 1)


def test_wrong_requests_are_refused() -> None:
    one = TiedRanking.of_groups([["a"]])
    for p in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(UsageError, match="p must be between 0 and 1"):
            rank_biased_overlap(one, one, p)
        with pytest.raises(UsageError, match="p must be between 0 and 1"):
            prefix_weight(p, 3)
    with pytest.raises(UsageError, match="w, a, b"):
        rank_biased_overlap(one, one, 0.9, "c")  # type: ignore[arg-type]
    assert tuple(TIE_TREATMENTS) == ("w", "a", "b")
    with pytest.raises(UsageError, match="twice"):
        TiedRanking.of_groups([["a"], ["b", "a"]])
    with pytest.raises(UsageError, match="without documents"):
        TiedRanking.of_scores([], [])
    with pytest.raises(UsageError, match="2 documents but 1 scores"):
        TiedRanking.of_scores(["a", "b"], [1.0])
    with pytest.raises(UsageError, match="NaN"):
        TiedRanking.of_scores(["a", "b"], [1.0, math.nan])
    for wrong in (lambda: overlap_at(one, one, 0), lambda: prefix_weight(0.5, 0)):
        with pytest.raises(UsageError, match="depth must be"):
            wrong()
