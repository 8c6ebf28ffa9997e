"""Several runs into one: `fuse`, the methods and normalisations it knows, and `train_fusion`, which tunes them."""

from __future__ import annotations

from cranfield.fusion.base import Method, Normalisation, Parameter
from cranfield.fusion.fusing import fuse
from cranfield.fusion.registered import all_methods, all_normalisations, find_method, find_normalisation
from cranfield.fusion.training import TrainedFusion, train_fusion

__all__ = [
    "Method",
    "Normalisation",
    "Parameter",
    "TrainedFusion",
    "all_methods",
    "all_normalisations",
    "find_method",
    "find_normalisation",
    "fuse",
    "train_fusion",
]
