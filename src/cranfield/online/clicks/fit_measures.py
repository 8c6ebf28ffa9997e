"""How well a click model foretells clicks: log-likelihood and perplexity, of which there are two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.judged import Floats, Integers, Mask


class FitQuality(NamedTuple):
    """How well clicks were foretold, on so many pages.

    `log_likelihood` is the mean, over pages, of Σ ln P(c_r | clicks above) over all ranks of the page: a sum, not a
    mean over ranks, in natural logarithms. It is -inf where a page has no chance by the model; `impossible`
    counts such pages, and `possible` is the log-likelihood of the others (NaN where there are none).

    Perplexity at rank r is 2^(-mean of log2 P(c_r)) over the pages that have a rank r, `pages_at` of them: 1 foretells
    everything, 2 is a coin. `conditional` has the chances given the clicks above on the page, `unconditional` those
    given nothing. Their means count each rank once.
    """

    pages: int
    log_likelihood: float
    possible: float
    impossible: int
    conditional: Floats
    unconditional: Floats
    pages_at: Integers

    @property
    def mean_conditional(self) -> float:
        """The mean over ranks of the perplexity given the clicks above."""
        return float(np.mean(self.conditional)) if len(self.conditional) else float("nan")

    @property
    def mean_unconditional(self) -> float:
        """The mean over ranks of the perplexity given nothing."""
        return float(np.mean(self.unconditional)) if len(self.unconditional) else float("nan")


class FittedPages(NamedTuple):
    """Slots of pages: where each page begins, what was clicked, and the chances of a click by a model."""

    offsets: Integers
    clicked: Mask
    given_above: Floats
    alone: Floats


def fit_quality(slots: FittedPages) -> FitQuality:
    """How well the clicks of pages were foretold.

    >>> chances = np.array([0.5, 0.2, 0.1] * 2)
    >>> clicked = np.array([True, False, False, False, True, False])
    >>> quality = fit_quality(FittedPages(np.array([0, 3, 6]), clicked, chances, chances))
    >>> quality.conditional.round(7).tolist(), round(quality.mean_conditional, 7), round(quality.log_likelihood, 7)
    ([2.0, 2.5, 1.1111111], 1.8703704, -1.7147984)
    """
    pages = len(slots.offsets) - 1
    size = np.diff(slots.offsets)
    page = np.repeat(np.arange(pages), size)
    rank = np.arange(len(page)) - np.repeat(slots.offsets[:-1], size)
    of_page = np.bincount(page, _logs(slots.given_above, slots.clicked), pages)
    can_be = np.isfinite(of_page)
    pages_at = np.bincount(rank, minlength=int(size.max(initial=0)))
    return FitQuality(
        pages=pages,
        log_likelihood=float(np.mean(of_page)) if pages else float("nan"),
        possible=float(np.mean(of_page[can_be])) if can_be.any() else float("nan"),
        impossible=int(np.sum(~can_be)),
        conditional=_perplexity(slots.given_above, slots.clicked, rank, pages_at),
        unconditional=_perplexity(slots.alone, slots.clicked, rank, pages_at),
        pages_at=pages_at,
    )


def _logs(chances: Floats, clicked: Mask) -> Floats:
    with np.errstate(divide="ignore"):
        return np.where(clicked, np.log(chances), np.log1p(-np.minimum(chances, 1.0)))


def _perplexity(chances: Floats, clicked: Mask, rank: Integers, pages_at: Integers) -> Floats:
    sums = np.bincount(rank, _logs(chances, clicked), len(pages_at))
    return np.asarray(np.exp(-sums / pages_at))
