"""Is A really better than B? Arrays of scores in, small results out; knows neither measures nor files."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.statistics.arms import TwoArms as TwoArms
    from cranfield.statistics.confidence_sequences import ConfidenceSequence as ConfidenceSequence
    from cranfield.statistics.covariates import cuped as cuped
    from cranfield.statistics.covariates import regression_adjusted as regression_adjusted
    from cranfield.statistics.group_sequential import SequentialDesign as SequentialDesign
    from cranfield.statistics.margins import non_inferior as non_inferior
    from cranfield.statistics.moments import Moments as Moments
    from cranfield.statistics.ratios import Ratio as Ratio
    from cranfield.statistics.seeds import SeedComparison as SeedComparison
    from cranfield.statistics.seeds import compare_seeds as compare_seeds
    from cranfield.statistics.sizes import Sizing as Sizing
    from cranfield.statistics.splitting import Split as Split
    from cranfield.statistics.splitting import shared_topics as shared_topics

PUBLIC = {
    "arms": "TwoArms",
    "confidence_sequences": "ConfidenceSequence",
    "covariates": "cuped regression_adjusted",
    "group_sequential": "SequentialDesign",
    "margins": "non_inferior",
    "moments": "Moments",
    "ratios": "Ratio",
    "seeds": "SeedComparison compare_seeds",
    "sizes": "Sizing",
    "splitting": "Split shared_topics",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
