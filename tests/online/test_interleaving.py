"""Methods of interleaving against published cases, with exact fractions; the faults of other code are tests here."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from random import Random

import pytest

from cranfield.errors import UsageError
from cranfield.online.interleaving import all_interleavers, credit, find_interleaver, interleaved
from cranfield.online.interleaving.auditing import expected_credit
from cranfield.online.interleaving.method import NOBODY, Equal, Interleaved, Interleaves, InterleavingScheme, drawing
from cranfield.online.interleaving.optimised import planned
from cranfield.online.interleaving.outcomes import AuditCase, Shown, all_outcomes, made
from cranfield.online.interleaving.pairwise import PairwisePreference
from cranfield.online.interleaving.probabilistic import rank_weights

NAMES = [*(method.name for method in all_interleavers()), "probabilistic(coins=rounds)"]


def exact(name: str) -> Interleaves:
    method = find_interleaver(name).made()
    if isinstance(method, InterleavingScheme):
        method.exact = True
    return method


def rankings(*words: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, words))


def lists(name: str, words: list[str], length: int) -> dict[tuple[str, str], Fraction]:
    """Chances of (list, teams), by going through all draws."""
    found: dict[tuple[str, str], Fraction] = {}
    case = AuditCase(rankings(*words), length)
    told: list[int] | None = []
    from cranfield.online.interleaving.outcomes import DrawReplay

    while told is not None:
        replay = DrawReplay(told)
        shown = made(exact(name), case, replay)
        key = "".join(shown.docs), "".join("AB-"[team] for team in shown.teams)
        found[key] = found.get(key, Fraction(0)) + replay.chance()
        told = replay.next()
    return found


def outcomes(name: str, words: list[str], length: int) -> list[Shown]:
    return all_outcomes(exact(name), AuditCase(rankings(*words), length), twice=False)


def lead(found: list[Shown], clicked: str) -> tuple[Fraction, ...]:
    return expected_credit(found, lambda one: tuple(i for i, doc in enumerate(one.docs) if doc in clicked))


def test_team_draft_has_four_outcomes() -> None:
    """I1"""
    quarter = Fraction(1, 4)
    assert lists("team-draft", ["123", "231"], 3) == {
        ("123", "ABA"): quarter,
        ("123", "ABB"): quarter,
        ("213", "BAA"): quarter,
        ("213", "BAB"): quarter,
    }


def test_team_draft_of_overlapping_rankings() -> None:
    """I2"""
    quarter = Fraction(1, 4)
    assert lists("team-draft", ["abcd", "beaf"], 4) == {
        ("abce", "ABAB"): quarter,
        ("abec", "ABBA"): quarter,
        ("bace", "BAAB"): quarter,
        ("baec", "BABA"): quarter,
    }


@pytest.mark.parametrize(
    ("name", "won"), [("balanced", (Fraction(1, 4), Fraction(3, 4))), ("team-draft", (Fraction(1, 2), Fraction(1, 2)))]
)
def test_one_click_at_random(name: str, won: tuple[Fraction, Fraction]) -> None:
    """I3: who wins if one of four documents is clicked, each equally likely."""
    wins = [Fraction(0), Fraction(0)]
    for shown in outcomes(name, ["abcd", "bcda"], 4):
        for slot in range(4):
            first, second = shown.credit[(slot,)]
            if first != second:
                wins[first < second] += shown.chance / 4
    assert tuple(wins) == won


def test_clicks_by_rank_give_team_draft_the_same_credit() -> None:
    """I3: with a chance of 1 / rank of a click."""
    found = outcomes("team-draft", ["abcd", "bcda"], 4)
    each = [expected_credit(found, lambda one, slot=slot: (slot,)) for slot in range(4)]  # type: ignore[misc]
    assert [sum(of[i] / (slot + 1) for slot, of in enumerate(each)) for i in (0, 1)] == [Fraction(25, 24)] * 2


def test_team_draft_does_not_see_a_better_rank() -> None:
    """I4, and what the others say of it in I15."""
    assert lead(outcomes("team-draft", ["abc", "bca"], 3), "c") == (Fraction(1, 2), Fraction(1, 2))
    first, second = lead(outcomes("probabilistic", ["abc", "bca"], 3), "c")
    assert float(first - second) == pytest.approx(-0.1897086258, abs=1e-9)
    assert lead(outcomes("pairwise", ["abc", "bca"], 3), "c") == (Fraction(-2), Fraction(0))


def test_weights_of_ranks() -> None:
    """I5"""
    for count, expected in ((3, [0.8605578, 0.1075697, 0.0318725]), (10, [0.8350508, 0.1043813, 0.0309278])):
        weights, sums = rank_weights(count, 3, False)
        assert [float(weight / sums[0]) for weight in weights[:3]] == pytest.approx(expected, abs=1e-6)


def chances(name: str, words: list[str], length: int) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for one in outcomes(name, words, length):
        found["".join(one.docs)] = found.get("".join(one.docs), Fraction(0)) + one.chance
    return found


def test_first_place_of_probabilistic() -> None:
    """I6"""
    assert chances("probabilistic", ["01", "12"], 1) == {"0": Fraction(4, 9), "1": Fraction(1, 2), "2": Fraction(1, 18)}


def test_probabilistic_gives_no_document_twice() -> None:
    """I7, which has one coin for both places; with a coin for each place, what comes third is less likely."""
    found = {docs: float(chance) for docs, chance in chances("probabilistic(coins=rounds)", ["12", "13"], 2).items()}
    expected = {"12": 0.444444, "13": 0.444444, "21": 0.049383, "23": 0.006173, "31": 0.049383, "32": 0.006173}
    assert found == pytest.approx(expected, abs=1e-6)


def test_probabilistic_credit_is_the_chance_of_who_gave_it() -> None:
    """I8; it adds up to 1 for every click, which it does not elsewhere (0.8889 + 0.7901)."""
    shown = Interleaved(rankings("12", "23"), ("1", "2"))
    method = exact("probabilistic")
    assert method.credit(shown, (0,)) == (1, 0)
    assert method.credit(shown, (1,)) == (Fraction(9, 17), Fraction(8, 17))
    assert sum(method.credit(shown, (0, 1))) == 2


@pytest.mark.parametrize("words", [("abc", "bca"), ("abcd", "efgh"), ("abcd", "bead")])
def test_probabilistic_credit_is_the_mean_over_all_assignments(words: tuple[str, str]) -> None:
    """The 2^k ways in which a list can have come about, weighed by their chances: slow, and the same."""
    known = rankings(*words)
    length = len(known[0])

    def chance(ranking: tuple[str, ...], docs: tuple[str, ...], slot: int) -> Fraction:
        left = {doc: Fraction(1, rank**3) for rank, doc in enumerate(ranking, 1) if doc not in docs[:slot]}
        return left.get(docs[slot], Fraction(0)) / sum(left.values())

    for one in outcomes("probabilistic", list(words), length)[::7]:
        total, by_slot = Fraction(0), [Fraction(0)] * length
        for teams in product((0, 1), repeat=length):
            likely = Fraction(1, 2**length)
            for slot, team in enumerate(teams):
                likely *= chance(known[team], one.docs, slot)
            total += likely
            for slot, team in enumerate(teams):
                by_slot[slot] += likely * (team == 0)
        assert total == one.chance
        assert [one.credit[(slot,)][0] for slot in range(length)] == [part / total for part in by_slot]


def test_chances_of_optimised() -> None:
    """I9"""
    plan = planned(((1, 2), (2, 3)), 2, "inverse")
    found = dict(zip(plan.lists, plan.chances, strict=True))
    assert found == pytest.approx({(1, 2): 3 / 7, (2, 1): 13 / 35, (2, 3): 1 / 5}, abs=1e-9)
    assert plan.notes == ()


@pytest.mark.parametrize("name", ["inverse", "linear", "binary"])
def test_optimised_is_fair_or_says_that_it_is_not(name: str) -> None:
    """Whatever the rankings: at every rank nobody is preferred, or it is said at which rank somebody is."""
    unfair = 0
    for other in permutations(range(4)):
        plan = planned(((0, 1, 2, 3), other), 4, name)
        shown = [(chance, docs) for docs, chance in zip(plan.lists, plan.chances, strict=True)]
        method = find_interleaver(f"optimised(credit={name})").made()
        known = tuple(tuple(map(str, ranking)) for ranking in ((0, 1, 2, 3), other))
        off = []
        for slot in range(4):
            both = [
                (chance, method.credit(Interleaved(known, tuple(map(str, docs))), (slot,))) for chance, docs in shown
            ]
            off.append(abs(sum(chance * float(a - b) for chance, (a, b) in both)))
        assert (max(off) > 1e-9) == bool(plan.notes)
        if plan.notes:
            assert f"{off.index(max(off)) + 1} (by {max(off):.3g})" in plan.notes[0]
            unfair += 1
    assert unfair == (10 if name == "binary" else 0)


def test_optimised_says_what_it_relaxed() -> None:
    shown = interleaved("optimised", [["a", "b", "c"], ["a"]], rng=1)
    assert shown.docs == ("a", "b", "c")
    assert shown.notes == (
        "no chances of these lists are fair at every rank: clicks at random prefer one ranker at rank 3 (by 0.167)",
    )


def test_optimised_refuses_what_would_take_for_ever() -> None:
    many = [[f"d{i}" for i in range(40)], [f"d{i}" for i in reversed(range(40))]]
    with pytest.raises(UsageError, match=r"2\^40 or so: at most 12 places"):
        interleaved("optimised", many, rng=1)
    assert len(interleaved("optimised", many, rng=1, length=10).docs) == 10


THREE = rankings("01234", "01243", "21403")


@pytest.mark.parametrize(
    ("clicked", "expected"),
    [("0", (0, 0, 0)), ("1", (2, 2, -2)), ("2", (-3, -3, 3)), ("12", (-1, -1, 1))],
)
def test_pairwise_scores(clicked: str, expected: tuple[float, ...]) -> None:
    """I10"""
    assert credit("pairwise", Interleaved(THREE, tuple("01234")), list(clicked)) == expected


def test_pairwise_weight() -> None:
    """I10: both of 2 and 1 are to be shown from the third place on with a chance of 2 / 3."""
    method = PairwisePreference()
    method.exact = True
    only = Interleaved(rankings("01234", "43210"), tuple("0421"))
    gained = method.credit(only, (2,))
    without = method.credit(Interleaved(only.rankings, tuple("042")), (2,))
    assert [a - b for a, b in zip(gained, without, strict=True)] == [Fraction(-3, 2), Fraction(3, 2)]


def test_pairwise_takes_lists_of_any_lengths() -> None:
    """Elsewhere it looks for a rank that a short list does not have."""
    shown = interleaved("pairwise", [["a"], ["b", "c", "d", "e"]], rng=3, length=9)
    assert sorted(shown.docs) == list("abcde")
    assert len(credit("pairwise", shown, ["e", "a"])) == 2


def test_balanced_goes_on_where_one_list_ends() -> None:
    """Elsewhere it stops there."""
    assert sorted(interleaved("balanced", [["a"], ["b", "c", "d"]], rng=1).docs) == ["a", "b", "c"]
    assert sorted(interleaved("balanced", [["a"], ["b", "c", "d"]], rng=1, length=9).docs) == ["a", "b", "c", "d"]


def test_team_draft_gives_nobody_what_only_one_ranker_has_left() -> None:
    shown = interleaved("team-draft", [["a"], ["b", "c", "d"]], rng=1, length=4)
    assert shown.teams[2:] == (NOBODY, NOBODY)
    assert sorted(shown.teams[:2]) in ([0, 1], [NOBODY, NOBODY])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_list_and_no_global_chance_is_used(name: str) -> None:
    import random

    words = [list("abcdefgh"), list("hgfedcba")]
    random.seed(0)
    first = [interleaved(name, words, rng=seed, length=5) for seed in range(20)]
    random.seed(1)
    state = random.getstate()
    assert [interleaved(name, words, rng=seed, length=5) for seed in range(20)] == first
    assert random.getstate() == state
    assert len({shown.docs for shown in first}) > 1


@pytest.mark.parametrize("name", NAMES)
def test_credit_is_the_same_every_time(name: str) -> None:
    """Elsewhere assignments are dropped at random."""
    shown = interleaved(name, [list("abcdefgh"), list("hgfedcba")], rng=2, length=8)
    assert len({credit(name, shown, ["a", "h", "c"]) for _ in range(20)}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_drawn_lists_have_the_chances_that_replaying_finds(name: str) -> None:
    """The draws of a generator and those of the auditor are of the same method."""
    words, count = [list("abcd"), list("bead")], 4000
    rng = Random(5)
    drawn = Counter(interleaved(name, words, rng, length=3).docs for _ in range(count))
    expected: dict[tuple[str, ...], float] = {}
    for one in outcomes(name, ["abcd", "bead"], 3):
        expected[one.docs] = expected.get(one.docs, 0.0) + float(one.chance)
    assert set(drawn) <= set(expected)
    for docs, chance in expected.items():
        assert abs(drawn[docs] / count - chance) < 4 * (chance * (1 - chance) / count) ** 0.5 + 1e-3


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("team-draft")])
@pytest.mark.parametrize("words", [("abcd", "bead"), ("abc", "abc"), ("ab", "cdef")])
def test_propensities_multiply_to_the_chance_of_the_list(name: str, words: tuple[str, str]) -> None:
    """Those of team draft are given the teams above, which the next test is about."""
    method, expected = exact(name), chances(name, list(words), 3)
    for seed in range(30):
        shown = made(method, AuditCase(rankings(*words), 3), drawing(Random(seed)))
        product_of = 1.0
        for chance in shown.chances:
            product_of *= float(chance)
        assert product_of == pytest.approx(float(expected["".join(shown.docs)]), abs=1e-9)


def test_propensity_of_team_draft_is_given_the_teams_above() -> None:
    shown = interleaved("team-draft", [["a", "b"], ["a", "c"]], rng=1)
    assert shown.chances == (1, 1)
    shown = interleaved("team-draft", [["a", "b", "c"], ["b", "a", "d"]], rng=1)
    assert shown.chances == (0.5, 1, 0.5)


@pytest.mark.parametrize("name", NAMES)
def test_degenerate_rankings(name: str) -> None:
    assert interleaved(name, [[], []], rng=1).docs == ()
    assert credit(name, interleaved(name, [[], []], rng=1), []) == (0, 0)
    assert interleaved(name, [["a"], []], rng=1).docs == ("a",)
    same = interleaved(name, [["a", "b", "c"]] * 2, rng=1)
    assert sorted(same.docs) == ["a", "b", "c"]
    with pytest.raises(UsageError, match="not 1"):
        interleaved(name, [["a"]], rng=1)
    with pytest.raises(UsageError, match="ranking 2 has 'b' twice"):
        interleaved(name, [["a"], ["b", "c", "b"]], rng=1)
    with pytest.raises(UsageError, match="ranking 1 must be a list"):
        interleaved(name, ["abc", ["a"]], rng=1)
    with pytest.raises(UsageError, match="1 document or more, not 0"):
        interleaved(name, [["a"], ["b"]], rng=1, length=0)
    with pytest.raises(UsageError, match="'z' was clicked and is none of the 2 documents shown"):
        credit(name, interleaved(name, [["a"], ["b"]], rng=1, length=2), ["z"])


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("optimised",)])
def test_long_rankings(name: str) -> None:
    first = [f"d{i}" for i in range(1000)]
    shown = interleaved(name, [first, first[::-1]], rng=1)
    assert sorted(shown.docs) == sorted(first)
    assert all(0 < chance <= 1 for chance in shown.chances)
    assert all(abs(value) < float("inf") for value in credit(name, shown, first[::100]))


def test_rankers_of_multileaving() -> None:
    words = [list("abc"), list("bca"), list("cab"), list("acb")]
    shown = interleaved("team-draft-multileaving", words, rng=1)
    assert set(shown.teams) <= {0, 1, 2, 3}
    assert len(credit("pairwise", interleaved("pairwise", words, rng=1), ["a"])) == 4
    with pytest.raises(UsageError, match="team-draft interleaves 2 rankings, not 4; for more, take team-draft-multi"):
        interleaved("team-draft", words, rng=1)


def test_ids_may_be_anything() -> None:
    odd = ["", " ", "\n", "-1", "nan", "a" * 10_000, "☃\x00"]
    for name in NAMES:
        shown = interleaved(name, [odd, odd[::-1]], rng=1)
        assert sorted(shown.docs) == sorted(odd)
        assert len(credit(name, shown, odd)) == 2


def test_weights_of_nothing_are_never_drawn() -> None:
    draw = drawing(Random(1))
    assert {draw((0, 1, 0)) for _ in range(50)} == {1}
    assert {draw((0, 0.0, 2.5, 0)) for _ in range(50)} == {2}
    assert list(Equal(2)[:1]) == [1]
    assert {draw(Equal(3)) for _ in range(100)} == {0, 1, 2}


def test_two_long_rankings_are_drafted_as_any_others() -> None:
    """There is a quick way for them: lists, teams and chances are those of a plain one, draw by draw."""
    rng = Random(1)
    for seed in range(200):
        words = [rng.sample("abcdefghij", 6), rng.sample("abcdefghij", 6)]
        shown = interleaved("team-draft", words, rng=seed, length=5)
        draw, docs, teams, likely = drawing(Random(seed)), list[str](), list[int](), list[float]()
        while len(docs) < 5:
            even = teams.count(0) == teams.count(1)
            tops = [next(doc for doc in ranking if doc not in docs) for ranking in words]
            teams.append(draw(Equal(2)) if even else 1 - teams[-1])
            likely.append(0.5 if even and tops[0] != tops[1] else 1)
            docs.append(tops[teams[-1]])
        assert (shown.docs, shown.teams, shown.chances) == (tuple(docs), tuple(teams), tuple(likely))
