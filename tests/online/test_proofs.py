"""The proofs in their short form; and that a claim which is wrong is found to be."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from cranfield.errors import UsageError
from cranfield.online.proofs import Proofs, prove
from cranfield.online.proofs.proof import ProofEffort, above, at_most, between, count, rate
from cranfield.online.proofs.proof_tables import render_proofs
from cranfield.online.proofs.proving import PROOFS
from cranfield.online.proofs.unit_proofs import rejected_if_clustered
from places import ROOT


@cache
def short() -> Proofs:
    return prove(short=True)


def test_every_claim_is_within_its_limits() -> None:
    assert {claim.part for claim in short().claims} == {*PROOFS, "j"}
    assert [claim for claim in short().claims if not claim.holds] == []
    assert short().verdict == f"All {len(short().claims)} claims are within their limits."


def test_the_page_has_the_table_of_the_program() -> None:
    """`cranfield online prove --short -f markdown` between the marks of docs/online-users.md."""
    page = (ROOT / "docs" / "online-users.md").read_text()
    table = page.partition("<!-- proofs -->\n")[2].partition("<!-- /proofs -->")[0]
    assert table.strip() == render_proofs(short(), "markdown").strip()


def test_balanced_is_unfair_and_team_draft_blind() -> None:
    claims = {claim.claim.partition(":")[0]: claim for claim in short().claims}
    assert claims["balanced is unbiased"].seen == 12
    assert claims["team-draft is unbiased"].seen == 0
    assert claims["team-draft prefers the better"].seen == 8
    for name in ("probabilistic", "optimised", "pairwise"):
        assert claims[f"{name} prefers the better"].seen == 0


def test_the_smallest_size_is_told_and_rare_events_need_more() -> None:
    claims = [claim for claim in short().claims if "it holds from" in claim.claim]
    sizes = {claim.claim.split(", ")[1]: claim.seen for claim in claims}
    assert sizes["normal values"] < sizes["log-normal revenue"] <= sizes["one in 50"] <= 1000


def test_limits_are_binomial() -> None:
    """A true claim is outside its limits in one of a thousand trials, and a wrong one nearly always."""
    rng = np.random.default_rng(5)
    hits = rng.binomial(2000, 0.05, 4000)
    assert np.mean([not rate("x", "", 0.05, int(hit), 2000).holds for hit in hits]) < 0.003
    assert not rate("x", "", 0.05, 160, 2000).holds
    assert not at_most("x", "", 0.05, 160, 2000).holds
    assert at_most("x", "", 0.05, 0, 2000).holds
    assert not above("x", "", 0.05, 100, 2000).holds
    assert not between("x", "", (0.75, 0.85), 1300, 2000).holds
    assert not count("x", "", 12, 11).holds


def test_a_wrong_expectation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from cranfield.online.proofs import list_proofs

    monkeypatch.setitem(list_proofs.BIASED, "balanced", 0)  # as if balanced interleaving were fair
    found = prove(["i"], short=True)
    assert len(found.failed) == 1
    assert found.verdict == "1 of 10 claims are outside their limits."


def test_tests_by_event_err_as_the_formula_says() -> None:
    assert rejected_if_clustered(0.0, np.array([4.0]), np.array([1.0])) == pytest.approx(0.05)
    assert rejected_if_clustered(1.0, np.array([4.0]), np.array([1.0])) == pytest.approx(0.327, abs=1e-3)  # z / 2


def test_seeds_decide_and_parts_are_named() -> None:
    assert prove(["d"], short=True).claims == prove(["d"], short=True).claims
    assert prove(["d"], short=True).claims != prove(["d"], short=True, seed=1).claims
    assert ProofEffort(True).rng("a").random() != ProofEffort(True).rng("b").random()
    with pytest.raises(UsageError, match="no part 'z'"):
        prove(["z"])
