"""`prove`: simulations with fixed seeds that show what is claimed of the statistics of online experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cranfield.errors import UsageError, either
from cranfield.online.proofs import always_valid, click_proofs, list_proofs, looking_early, unit_proofs
from cranfield.online.proofs.proof import Proof, ProofEffort, ProvedClaim

PROOFS: Mapping[str, Sequence[Proof]] = {
    "a": (looking_early.peeking,),
    "b": (looking_early.group_sequential,),
    "c": (always_valid.over_looks, always_valid.smallest_sizes),
    "d": (looking_early.signs,),
    "e": (unit_proofs.queries_of_users, unit_proofs.quantiles_of_users, unit_proofs.equal_latencies),
    "f": (unit_proofs.impressions_of_users,),
    "g": (unit_proofs.adjustment,),
    "h": (unit_proofs.sample_ratios,),
    "i": (list_proofs.audits,),
    "k": (list_proofs.sensitivity,),
    "l": (click_proofs.recovery,),
    "n": (looking_early.stopped,),
}


class Proofs(NamedTuple):
    """All claims with what was seen; `short` says that little was tried."""

    short: bool
    seed: int
    claims: tuple[ProvedClaim, ...]

    @property
    def failed(self) -> tuple[ProvedClaim, ...]:
        """Claims that are outside their limits."""
        return tuple(claim for claim in self.claims if not claim.holds)

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        if not self.failed:
            return f"All {len(self.claims)} claims are within their limits."
        return f"{len(self.failed)} of {len(self.claims)} claims are outside their limits."


def prove(
    parts: Sequence[str] = (),
    *,
    short: bool = False,
    seed: int = 0,
    step: Callable[[], None] = lambda: None,
) -> Proofs:
    """Runs the proofs of some parts, or of all; `step` is called after each.

    >>> prove(["i"], short=True).verdict
    'All 10 claims are within their limits.'
    """
    unknown = [part for part in parts if part not in PROOFS]
    if unknown:
        raise UsageError(f"there is no part '{unknown[0]}' of the proofs; there is {either(PROOFS)}")
    effort = ProofEffort(short, seed)
    claims: list[ProvedClaim] = []
    for part, proofs in PROOFS.items():
        for proof in proofs if not parts or part in parts else ():
            claims += proof(effort)
            step()
    return Proofs(short, seed, tuple(claims))
