"""Every measure, by family. To add one, write one decorated function in the module of its family."""

from cranfield.measures.counts import Judged, NumQ, NumRel, NumRelRet, NumRet
from cranfield.measures.gain import CG, DCG, nDCG
from cranfield.measures.interpolated import InterpolatedAP, IPrec
from cranfield.measures.ranked import AP, RR, Bpref, E, F, P, R, Rprec, Success
from cranfield.measures.registry import Measure, all_measures, as_measures, measure, parse_measure, parse_measures
from cranfield.measures.sets import SetF, SetP, SetR
from cranfield.measures.user_models import ERR, RBP

__all__ = [
    "AP",
    "CG",
    "DCG",
    "ERR",
    "RBP",
    "RR",
    "Bpref",
    "E",
    "F",
    "IPrec",
    "InterpolatedAP",
    "Judged",
    "Measure",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "R",
    "Rprec",
    "SetF",
    "SetP",
    "SetR",
    "Success",
    "all_measures",
    "as_measures",
    "measure",
    "nDCG",
    "parse_measure",
    "parse_measures",
]
