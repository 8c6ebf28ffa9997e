"""Baseline search systems: text to terms, terms to an index, models over it, parameters tuned on a split of topics.

Needs the libraries of the `search` extra: pip install 'cranfield[search]'.
"""

from __future__ import annotations

from cranfield.search.analysis import Analysis, stemmers, stop_word_lists, stop_words
from cranfield.search.grids import parse_grid
from cranfield.search.index import Index, build_index, load_index
from cranfield.search.models import MODELS, Model, Ranking, System, find_model, model
from cranfield.search.retrieving import Retrieved, Timing, indexed, retrieve, retrieve_tuned
from cranfield.search.tuning import Tuned, TunedFold, tune

__all__ = [
    "MODELS",
    "Analysis",
    "Index",
    "Model",
    "Ranking",
    "Retrieved",
    "System",
    "Timing",
    "Tuned",
    "TunedFold",
    "build_index",
    "find_model",
    "indexed",
    "load_index",
    "model",
    "parse_grid",
    "retrieve",
    "retrieve_tuned",
    "stemmers",
    "stop_word_lists",
    "stop_words",
    "tune",
]
