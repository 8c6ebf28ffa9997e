"""Baseline search systems: text to terms, terms to an index, models over it, parameters tuned on a split of topics.

Needs the libraries of the `search` extra: pip install 'cranfield[search]'.
"""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.search.collection_search import Asking as Asking
    from cranfield.search.collection_search import IndexSettings as IndexSettings
    from cranfield.search.collection_search import ModelChoice as ModelChoice
    from cranfield.search.collection_search import Searched as Searched
    from cranfield.search.collection_search import TuningParts as TuningParts
    from cranfield.search.collection_search import saved_best as saved_best
    from cranfield.search.collection_search import saved_parameters as saved_parameters
    from cranfield.search.collection_search import search_collection as search_collection
    from cranfield.search.collection_search import tune_collection as tune_collection
    from cranfield.search.grids import parse_grid as parse_grid
    from cranfield.search.index import Index as Index
    from cranfield.search.index import build_index as build_index
    from cranfield.search.index import load_index as load_index
    from cranfield.search.models import MODELS as MODELS
    from cranfield.search.models import Model as Model
    from cranfield.search.models import find_model as find_model
    from cranfield.search.models import model as model
    from cranfield.search.retrieving import Retrieved as Retrieved
    from cranfield.search.retrieving import Timing as Timing
    from cranfield.search.retrieving import indexed as indexed
    from cranfield.search.retrieving import retrieve as retrieve
    from cranfield.search.retrieving import retrieve_tuned as retrieve_tuned
    from cranfield.search.systems import Ranking as Ranking
    from cranfield.search.systems import System as System
    from cranfield.search.tokens import Analysis as Analysis
    from cranfield.search.tokens import stemmers as stemmers
    from cranfield.search.tokens import stop_word_lists as stop_word_lists
    from cranfield.search.tokens import stop_words as stop_words
    from cranfield.search.tuning import Tuned as Tuned
    from cranfield.search.tuning import TunedFold as TunedFold
    from cranfield.search.tuning import Tuning as Tuning
    from cranfield.search.tuning import tune as tune

PUBLIC = {
    "collection_search": "Asking IndexSettings ModelChoice Searched TuningParts saved_best saved_parameters "
    "search_collection tune_collection",
    "grids": "parse_grid",
    "index": "Index build_index load_index",
    "models": "MODELS Model find_model model",
    "retrieving": "Retrieved Timing indexed retrieve retrieve_tuned",
    "systems": "Ranking System",
    "tokens": "Analysis stemmers stop_word_lists stop_words",
    "tuning": "Tuned TunedFold Tuning tune",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
