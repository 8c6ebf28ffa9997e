"""Proofs by simulation of what is claimed of online experiments."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.proofs.proof import ProvedClaim as ProvedClaim
    from cranfield.online.proofs.proving import Proofs as Proofs
    from cranfield.online.proofs.proving import prove as prove

PUBLIC = {"proof": "ProvedClaim", "proving": "Proofs prove"}
__getattr__, __dir__ = exported(__name__, PUBLIC)
