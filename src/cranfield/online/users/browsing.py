"""Users go down result pages: what they click, how long they read, when they stop; many pages at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.judged import Mask
from cranfield.online.users.behaviours import ClickTable
from cranfield.online.users.user_models import UserModel
from cranfield.statistics.significance import Floats

RELEVANT = 0.5  # of the highest grade: from here on a document satisfies, where nothing says which grades do


class Browsed(NamedTuple):
    """What was done on each page (row) at each rank (column): clicks, seconds after the query when they came, seconds
    of reading; how far users looked, and when they were done.
    """

    clicked: Mask
    at: Floats
    dwell: Floats
    seen: NDArray[np.int64]
    seconds: Floats


def browse(
    model: UserModel, table: ClickTable, relevance: Floats, effects: Floats, rng: np.random.Generator
) -> Browsed:
    """What users do on pages with documents of this relevance (from 0 to 1, NaN where the page has ended), each with
    an effect on the logit of its click.

    >>> pages = np.array([[0.0, 1.0, 0.0, 1.0]])
    >>> table = UserModel("perfect").table(top=1)
    >>> browse(UserModel("perfect"), table, pages, np.zeros_like(pages), np.random.default_rng(1)).clicked
    array([[False,  True, False,  True]])
    """
    pages, length = relevance.shape
    costs = model.costs
    known = np.nan_to_num(relevance)
    chances, stops = table.clicks(known), table.stops(known)
    odds = np.exp(effects)
    chances = chances * odds / (1 - chances + chances * odds)  # the logit moved: 0 and 1 stay what they are
    medians = np.log(costs.irrelevant) + (np.log(costs.relevant) - np.log(costs.irrelevant)) * known
    on = np.ones(pages, dtype=np.bool_)
    clicked = np.zeros((pages, length), dtype=np.bool_)
    at, dwell = np.zeros((pages, length)), np.zeros((pages, length))
    seen = np.zeros(pages, dtype=np.int64)
    passed, pleased = np.zeros(pages, dtype=np.int64), np.zeros(pages, dtype=np.int64)
    seconds = np.zeros(pages)
    for rank in range(min(length, model.depth)):
        on = on & ~np.isnan(relevance[:, rank])
        seen += on
        seconds = seconds + on * costs.snippet
        drawn = rng.random((2, pages))
        clicks = on & (drawn[0] < chances[:, rank])
        reading = np.exp(medians[:, rank] + costs.spread * rng.standard_normal(pages))
        clicked[:, rank], at[:, rank], dwell[:, rank] = clicks, seconds * clicks, reading * clicks
        seconds = seconds + reading * clicks
        on = on & ~(clicks & (drawn[1] < stops[:, rank]))
        if model.patience is not None:
            passed = np.where(clicks, 0, passed + 1)
            on = on & (passed < model.patience)
        if model.satisfied_after is not None:
            pleased = pleased + (clicks & (known[:, rank] >= RELEVANT))
            on = on & (pleased < model.satisfied_after)
    return Browsed(clicked, at, dwell, seen, seconds)
