"""Every measure, by family. To add one, write one decorated function in the module of its family.

Families load when one of their measures is first asked for, so that starting up stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cranfield.measures.registry import (
    Measure,
    all_measures,
    as_measures,
    measure,
    named,
    parse_measure,
    parse_measures,
)

if TYPE_CHECKING:
    from cranfield.measures.counts import Judged, NumNonrelRet, NumQ, NumRel, NumRelRet, NumRet, Unjudged
    from cranfield.measures.cwl import (
        AP_CWL,
        BPM,
        INSQ,
        INST,
        NERR8,
        NERR9,
        NERR10,
        NERR11,
        P_CWL,
        RBP_CWL,
        RR_CWL,
        SDCG,
    )
    from cranfield.measures.diversity import AP_IA, ERR_IA, NRBP, P_IA, StRecall, alpha_DCG, alpha_nDCG, nERR_IA, nNRBP
    from cranfield.measures.gain import CG, DCG, IdealDCG, nDCG
    from cranfield.measures.interpolated import InterpolatedAP, IPrec
    from cranfield.measures.known import Coverage, Novelty
    from cranfield.measures.lecture import (
        ESL,
        NCG,
        AreaNCG,
        AreaNDCG,
        Frustration,
        IdealCG,
        PLast,
        RecallEffort,
        RelativeRecall,
        Satisfaction,
    )
    from cranfield.measures.orders import Accuracy, Compat
    from cranfield.measures.preferences import APpref, Ppref, Rpref, Wpref
    from cranfield.measures.ranked import AP, RR, Bpref, E, F, P, R, Rprec, Success
    from cranfield.measures.sampled import infNDCG, statAP, xinfAP
    from cranfield.measures.sets import SetAP, SetF, SetP, SetR, SetRelP, Utility
    from cranfield.measures.timed import TBG, U
    from cranfield.measures.trec import BinG, G, GradedRBP, RBPResidual, RelP, RnDCG, RprecMult, Yaap, infAP, nDCGRel
    from cranfield.measures.user_models import ERR, RBP

__all__ = [
    "AP_IA",
    "ERR_IA",
    "NRBP",
    "P_IA",
    "StRecall",
    "alpha_DCG",
    "alpha_nDCG",
    "nERR_IA",
    "nNRBP",
    "AP",
    "AP_CWL",
    "BPM",
    "CG",
    "DCG",
    "ERR",
    "ESL",
    "INSQ",
    "INST",
    "NCG",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "P_CWL",
    "RBP",
    "RBP_CWL",
    "RR",
    "RR_CWL",
    "SDCG",
    "APpref",
    "Accuracy",
    "AreaNCG",
    "AreaNDCG",
    "BinG",
    "Bpref",
    "Compat",
    "E",
    "F",
    "Frustration",
    "G",
    "GradedRBP",
    "IPrec",
    "IdealCG",
    "IdealDCG",
    "InterpolatedAP",
    "Judged",
    "Measure",
    "NumNonrelRet",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "PLast",
    "Ppref",
    "R",
    "RBPResidual",
    "RecallEffort",
    "RelP",
    "RelativeRecall",
    "RnDCG",
    "Rpref",
    "Rprec",
    "RprecMult",
    "Satisfaction",
    "SetAP",
    "SetF",
    "SetP",
    "SetR",
    "SetRelP",
    "Success",
    "Unjudged",
    "Utility",
    "Wpref",
    "Yaap",
    "all_measures",
    "as_measures",
    "infAP",
    "infNDCG",
    "measure",
    "nDCG",
    "nDCGRel",
    "parse_measure",
    "parse_measures",
    "statAP",
    "xinfAP",
    "Coverage",
    "Novelty",
    "TBG",
    "U",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'cranfield.measures' has no attribute '{name}'")
    return named(name)


def __dir__() -> list[str]:
    return __all__
