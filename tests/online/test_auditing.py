"""The auditor finds what is known of methods, proves it of all rankings, and is not fooled by methods of one's own."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from click.testing import CliRunner

from cranfield.cli.online_audit import CRITERIA as NAMED
from cranfield.cli.online_audit import command as audit_command
from cranfield.errors import UsageError
from cranfield.online.interleaving import all_interleavers, audit_interleaver
from cranfield.online.interleaving.audit_cases import audit_cases
from cranfield.online.interleaving.auditing import CRITERIA, Audit
from cranfield.online.interleaving.drafts import TeamDraft
from cranfield.online.interleaving.interleaving_tables import render_audits
from cranfield.online.interleaving.method import Draw, Interleaved, Number, Rankings
from places import ROOT


def failures(audit: Audit, criterion: str) -> dict[str, int]:
    return {part.kind: part.failed for part in audit.criterion(criterion).parts if part.failed}


def test_what_is_gone_through() -> None:
    cases = audit_cases(4, 3)
    kinds: dict[str, int] = {}
    for case in cases:
        kinds[case.kind] = kinds.get(case.kind, 0) + 1
    # of lengths 1 to 3: 1 + 1, 2 · 2 + 3 and so on; by the formula Σ C(n, j)² j!, each cut at every length
    assert kinds == {
        "permutations of 1": 1,
        "permutations of 2": 2,
        "permutations of 3": 6,
        "permutations of 4": 24,
        "overlapping": (2 * 1 + 7 * 2 + 34 * 3) - 9,
        "unequal lengths": 2 * (1 + (1 + 3) + (1 + 4 + 13)),
    }
    assert len(set(cases)) == len(cases)
    sizes = [max(map(len, case.rankings)) for case in cases]
    assert sizes == sorted(sizes)


def test_balanced_is_biased_in_half_of_the_permutations() -> None:
    """I15"""
    audit = audit_interleaver("balanced")
    assert failures(audit, "unbiased")["permutations of 4"] == 12
    assert not audit.criterion("unbiased").holds
    example = audit.criterion("unbiased").counterexample
    assert example is not None
    assert example.told() == (
        "A = abc, B = bca, 3 documents shown, whatever stands at rank 3 is clicked: the expected credit is A 0, B 1, "
        "and should be the same for all"
    )
    assert audit.criterion("agreed order").holds
    assert audit.exact


def test_team_draft_is_unbiased_and_unfaithful() -> None:
    """I15 and I4"""
    audit = audit_interleaver("team-draft")
    assert audit.criterion("unbiased").holds
    assert audit.criterion("random clicks").holds
    example = audit.criterion("better wins").counterexample
    assert example is not None
    assert (example.case.rankings, example.credit) == (
        (("a", "b", "c"), ("b", "c", "a")),
        (Fraction(1, 2), Fraction(1, 2)),
    )
    assert "c is clicked wherever shown" in example.told()
    assert failures(audit, "better wins")["permutations of 4"] == 8
    assert audit.criterion("nothing early").holds


@pytest.mark.parametrize("name", ["probabilistic", "pairwise", "optimised", "optimised(credit=linear)"])
def test_the_others_are_unbiased_and_faithful_on_permutations(name: str) -> None:
    audit = audit_interleaver(name, length=4, overlapping=2)
    for criterion in ("unbiased", "random clicks", "better wins"):
        permuted = [part for part in audit.criterion(criterion).parts if part.kind.startswith("permutations")]
        assert [(part.cases, part.failed) for part in permuted] == [(1, 0), (2, 0), (6, 0), (24, 0)]
    if name in ("probabilistic", "pairwise"):
        assert audit.criterion("unbiased").holds  # with rankings of unequal lengths too
        assert not audit.criterion("agreed order").holds
        assert audit.notes == ()
    else:
        assert audit.notes == ("it has rounded numbers: what differs from nothing by less than 1e-9 is nothing here",)


def test_binary_credit_cannot_be_made_fair() -> None:
    audit = audit_interleaver("optimised(credit=binary)", overlapping=1)
    assert failures(audit, "unbiased")["permutations of 4"] == 10


def test_three_rankers_are_audited_where_a_method_takes_them() -> None:
    audit = audit_interleaver("team-draft-multileaving", length=3, overlapping=1)
    part = audit.criterion("unbiased").part("3 rankers")
    assert (part.cases, part.failed) == (1 + 4 + 36, 0)


class Mine:
    """Team draft, written once more; what is wrong with it is put in by tests."""

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return TeamDraft().interleave(rankings, length, draw)

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        return TeamDraft().credit(shown, slots)


def test_a_method_of_ones_own_is_audited_as_ours() -> None:
    ours, mine = (audit_interleaver(method, length=3) for method in ("team-draft", Mine))
    assert mine.method == "Mine"
    assert mine.criteria == ours.criteria
    assert mine.exact


class Loaded(Mine):
    """A coin that falls on one side in 501 of 1,000 throws."""

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        def loaded(weights: Sequence[Number]) -> int:
            return draw([501, 499]) if len(weights) == 2 else draw(weights)

        return super().interleave(rankings, length, loaded)


def test_the_smallest_bias_is_found() -> None:
    audit = audit_interleaver(Loaded(), length=2)
    example = audit.criterion("unbiased").counterexample
    assert example is not None
    assert example.credit == (Fraction(501, 1000), Fraction(499, 1000))
    assert max(map(len, example.case.rankings)) == 1


class Elsewhere(Mine):
    """Chance of its own."""

    share = 0.5

    def __init__(self) -> None:
        self.chance = random.Random(3)

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        def own(weights: Sequence[Number]) -> int:
            return int(self.chance.random() >= self.share)

        return super().interleave(rankings, length, own)


class LoadedElsewhere(Elsewhere):
    share = 0.7


def test_chance_from_elsewhere_is_noticed_and_bounded() -> None:
    audit = audit_interleaver(Elsewhere, length=2, overlapping=1)
    assert not audit.exact
    assert audit.bound is not None
    assert 0 < audit.bound < 0.5
    assert failures(audit, "unbiased") == {}
    assert "it draws chance from elsewhere than draw(weights)" in audit.notes[0]
    assert f"biases up to {audit.bound:.3g} clicks could be there unseen" in audit.notes[0]
    text = render_audits([audit], "table")
    assert "watched, not proven" in text
    assert "holds in" not in text
    assert "nothing seen in 2" in text


def test_a_loaded_coin_from_elsewhere_is_seen() -> None:
    audit = audit_interleaver(LoadedElsewhere, length=2, overlapping=1)
    assert failures(audit, "unbiased")["permutations of 2"] >= 1
    example = audit.criterion("unbiased").counterexample
    assert example is not None
    assert float(example.credit[0]) == pytest.approx(0.7, abs=0.06)


def test_the_bound_is_of_what_was_not_seen() -> None:
    """Biases of 0.4 clicks are seen at every rank: what is told to be there unseen is less."""
    audit = audit_interleaver(LoadedElsewhere, length=3, overlapping=0)
    example = audit.criterion("unbiased").counterexample
    assert example is not None
    seen = abs(float(example.credit[0] - example.credit[1]))
    assert audit.bound is not None
    assert audit.bound < seen
    assert f"biases up to {audit.bound:.3g} clicks could be there where none was seen" in audit.notes[0]
    everywhere = audit_interleaver(LoadedElsewhere, length=1, overlapping=0)
    assert everywhere.bound is None
    assert "1,000 lists were drawn for one pair of rankings, and a bias was seen wherever" in everywhere.notes[0]
    same = audit_interleaver(LoadedElsewhere, length=2, overlapping=0)
    assert same.bound == 0
    assert "where no bias was seen, clicks were worth the same to both rankers on every list" in same.notes[0]


def test_exit_code_1_if_what_is_required_is_not_shown() -> None:
    def code(*line: str) -> int:
        return CliRunner().invoke(audit_command, ["--length", "3", "--overlapping", "0", *line]).exit_code

    assert code("team-draft") == 0
    assert code("balanced") == 1
    assert code("team-draft", "balanced") == 1
    assert code("balanced", "--require", "agreed-order") == 0
    assert code("team-draft", "--require", "better-wins") == 1
    assert code("team-draft", "--require", "unbiased", "--require", "better-wins") == 1


def test_criteria_that_watching_cannot_tell_are_not_shown() -> None:
    watched = audit_interleaver(Elsewhere, length=2, overlapping=1)
    assert watched.shown("unbiased")
    assert not watched.shown("agreed order")


def test_the_names_of_criteria_are_those_of_the_command() -> None:
    assert tuple(name.replace(" ", "-") for name, _, _ in CRITERIA) == NAMED


def test_the_method_on_the_page_is_audited() -> None:
    (code,) = (part for part in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if "class " in part)
    scope: dict[str, Any] = {}
    exec(code, scope)
    audit = audit_interleaver(scope["CoinAtEachPlace"], length=3)
    assert audit.exact
    assert audit.shown("unbiased")
    assert audit.shown("random clicks")
    for field in Interleaved._fields:
        assert f"| `{field}` |" in PAGE.read_text()


class Silent(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return TeamDraft().interleave(rankings, length, lambda weights: 0)


def test_a_method_that_never_draws_is_said_to() -> None:
    audit = audit_interleaver(Silent, length=2)
    assert "it never drew: the same rankings always give the same list" in audit.notes
    assert not audit.criterion("unbiased").holds


class Twice(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return Interleaved(rankings, (rankings[1] or rankings[0])[:1] * 2)


class Short(Mine):
    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        return (1,)


class Endless(Mine):
    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        return (float("nan"), 0)


class Negative(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        draw([1, -1])
        return super().interleave(rankings, length, draw)


class Broken(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        raise KeyError("lost")


class Fewer(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return super().interleave(rankings, length, draw)._replace(docs=("a", "b")[:length], teams=(0,))


class Swapped(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return Interleaved(rankings, (0, 1), ("a", "b"))  # type: ignore[arg-type]


class Foreign(Mine):
    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        return Interleaved((), rankings[0])


class Late(Mine):
    """Draws elsewhere, and fails only then."""

    calls = 0

    def interleave(self, rankings: Rankings, length: int, draw: Draw) -> Interleaved:
        Late.calls += 1
        docs = rankings[Late.calls % 2] or rankings[0] or rankings[1]
        return Interleaved(rankings, docs[:length])

    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        return 1 // 0  # type: ignore[return-value]


class Uncounted(Mine):
    def credit(self, shown: Interleaved, slots: Sequence[int]) -> Sequence[Number]:
        return 3  # type: ignore[return-value]


class Unmade(Mine):
    def __init__(self, coin: int) -> None:
        self.coin = coin


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (Twice, "none twice"),
        (Short, r"Short: credit must give a number for each of 2 rankers, not \(1,\) \(.*line \d+: credit\)"),
        (Endless, "a finite number, not nan"),
        (Negative, r"Negative: draw takes weights from 0.*line \d+: draw\(\[1, -1\]\)\)"),
        (Broken, r"Broken failed: KeyError: 'lost' \(.*test_auditing.py, line \d+: raise KeyError\(.lost.\)\)"),
        (Fewer, r"Fewer: teams must have .* not \(0,\): an Interleaved is .*test_auditing.py, line \d+: interleave\)"),
        (Swapped, r"Swapped: docs must be a list of documents, not \(0, 1\).*test_auditing.py, line \d+: interleave"),
        (Foreign, "Foreign: rankings must be those that interleave was given"),
        (Late, r"Late failed: ZeroDivisionError: .*test_auditing.py, line \d+: return 1 // 0"),
        (Uncounted, r"Uncounted: credit must give a number for each of 2 rankers, not 3 \(.*: credit\)"),
        (Unmade, "Unmade cannot be made without arguments: TypeError"),
        (int, "has no interleave"),
    ],
)
def test_methods_that_are_none(method: type, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        audit_interleaver(method, length=2)


@pytest.mark.parametrize(("length", "overlapping"), [(0, None), (9, None), (2, 7), (2, -1)])
def test_what_cannot_be_gone_through(length: int, overlapping: int | None) -> None:
    with pytest.raises(UsageError, match="can be gone through"):
        audit_interleaver("team-draft", length=length, overlapping=overlapping)


PAGE = ROOT / "docs" / "interleaving.md"
COLUMNS = ("permutations of 4", "overlapping", "unequal lengths")


def audit_table() -> str:
    """What the page says of every method: failures, by kind of rankings."""
    names = [*(str(method) for method in all_interleavers()), "optimised(credit=linear)", "optimised(credit=binary)"]
    names.insert(names.index("probabilistic") + 1, "probabilistic(coins=rounds)")
    audits = [audit_interleaver(name) for name in names]
    criteria = [criterion.name for criterion in audits[0].criteria]
    lines = [f"| method | {' | '.join(criteria)} |", "|---|" + "---|" * len(criteria)]
    for audit in audits:
        cells = []
        for criterion in audit.criteria:
            failed = [str(criterion.part(kind).failed) for kind in COLUMNS]
            cells.append("holds" if criterion.holds else " + ".join(failed))
        lines.append(f"| `{audit.method}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def test_the_page_shows_what_audits_find() -> None:
    text = PAGE.read_text()
    start, end = text.index("<!-- audit -->\n"), text.index("<!-- /audit -->")
    shown = text[start + len("<!-- audit -->\n") : end].strip()
    assert shown == audit_table(), "write the table of the page anew"
