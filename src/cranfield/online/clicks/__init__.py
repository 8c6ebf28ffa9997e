"""Clicks as judgements: models, how well they foretell clicks, and judgements with their uncertainty."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.online.clicks.click_judgements import ClickJudgements as ClickJudgements
    from cranfield.online.clicks.click_judgements import DrawnScores as DrawnScores
    from cranfield.online.clicks.click_judgements import evaluate_drawn as evaluate_drawn
    from cranfield.online.clicks.click_judgements import judge_clicks as judge_clicks
    from cranfield.online.clicks.click_models import ClickModel as ClickModel
    from cranfield.online.clicks.click_models import Prior as Prior
    from cranfield.online.clicks.click_models import find_click_model as find_click_model
    from cranfield.online.clicks.fitting import ClickFit as ClickFit
    from cranfield.online.clicks.fitting import Fitting as Fitting
    from cranfield.online.clicks.fitting import fit_clicks as fit_clicks
    from cranfield.online.clicks.impressions import ClickLog as ClickLog
    from cranfield.online.clicks.impressions import Impression as Impression
    from cranfield.online.clicks.impressions import click_log as click_log
    from cranfield.online.clicks.page_logs import read_clicks as read_clicks

PUBLIC = {
    "click_judgements": "ClickJudgements DrawnScores evaluate_drawn judge_clicks",
    "click_models": "ClickModel Prior find_click_model",
    "fitting": "ClickFit Fitting fit_clicks",
    "impressions": "ClickLog Impression click_log",
    "page_logs": "read_clicks",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
