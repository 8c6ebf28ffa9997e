"""Several runs into one: `fuse`, the methods and normalisations it knows, and `train_fusion`, which tunes them."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.fusion.fusing import fuse as fuse
    from cranfield.fusion.method import Method as Method
    from cranfield.fusion.method import Normalisation as Normalisation
    from cranfield.fusion.method import all_methods as all_methods
    from cranfield.fusion.method import all_normalisations as all_normalisations
    from cranfield.fusion.method import find_method as find_method
    from cranfield.fusion.method import find_normalisation as find_normalisation
    from cranfield.fusion.training import TrainedFusion as TrainedFusion
    from cranfield.fusion.training import Training as Training
    from cranfield.fusion.training import train_fusion as train_fusion

PUBLIC = {
    "fusing": "fuse",
    "method": "Method Normalisation all_methods all_normalisations find_method find_normalisation",
    "training": "TrainedFusion Training train_fusion",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
