"""Is A really better than B? Arrays of scores in, small results out; knows neither measures nor files."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.statistics.seeds import SeedComparison as SeedComparison
    from cranfield.statistics.seeds import compare_seeds as compare_seeds
    from cranfield.statistics.splitting import Split as Split
    from cranfield.statistics.splitting import shared_topics as shared_topics

PUBLIC = {
    "seeds": "SeedComparison compare_seeds",
    "splitting": "Split shared_topics",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
