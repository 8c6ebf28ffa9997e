"""Continuous active learning: a learner that says which documents to judge next, how many it may have missed, and when
rules would stop.

Needs the libraries of the `search` extra: pip install 'cranfield[search]'.
"""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.learning.features import Features as Features
    from cranfield.learning.features import build_features as build_features
    from cranfield.learning.features import open_features as open_features
    from cranfield.learning.learner import TopicLearner as TopicLearner
    from cranfield.learning.learner import batch_after as batch_after
    from cranfield.learning.recall import RecallEstimate as RecallEstimate
    from cranfield.learning.recall import estimate_recall as estimate_recall
    from cranfield.learning.recall import is_sample_turn as is_sample_turn
    from cranfield.learning.recall import sample_order as sample_order
    from cranfield.learning.stopping import StopRule as StopRule
    from cranfield.learning.stopping import stop_rules as stop_rules

PUBLIC = {
    "features": "Features build_features open_features",
    "learner": "TopicLearner batch_after",
    "recall": "RecallEstimate estimate_recall is_sample_turn sample_order",
    "stopping": "StopRule stop_rules",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
