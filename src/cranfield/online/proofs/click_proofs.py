"""Proofs about click models: parameters are found again, and clicks foretold as well as the truth foretells them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cranfield.judged import Mask
from cranfield.online.clicks import Fitting, Impression, Prior, click_log, fit_clicks
from cranfield.online.clicks.click_models import Behaviour, Convergence
from cranfield.online.clicks.impressions import ClickLog
from cranfield.online.proofs.proof import ProofEffort, ProvedClaim, value
from cranfield.statistics.significance import Floats

DOCUMENTS, SHOWN = 12, 6
EXAMINATION = np.array([1.0, 0.7, 0.5, 0.4, 0.3, 0.25])
ONWARD = 0.85


def _clicks(model: str, attraction: Floats, satisfaction: Floats, rng: np.random.Generator) -> Mask:
    """Clicks on pages whose documents have this attraction and satisfaction (a row each)."""
    pages, length = attraction.shape
    attracted = rng.random((pages, length)) < attraction
    if model == "PBM":
        return np.asarray(attracted & (rng.random((pages, length)) < EXAMINATION))
    on, clicked = np.ones(pages, dtype=np.bool_), np.zeros((pages, length), dtype=np.bool_)
    for rank in range(length):
        clicked[:, rank] = on & attracted[:, rank]
        left = clicked[:, rank] & (rng.random(pages) < satisfaction[:, rank])
        on = on & ~left & (rng.random(pages) < ONWARD if model == "DBN" else True)
        if model == "CM":
            on = on & ~clicked[:, rank]
    return clicked


def _log(model: str, truth: Floats, pages: int, rng: np.random.Generator) -> ClickLog:
    """A log of one query by a model, with the attraction and the satisfaction of its documents."""
    attraction, satisfaction = truth
    shown = np.argsort(rng.random((pages, DOCUMENTS)), axis=1)[:, :SHOWN]
    clicked = _clicks(model, attraction[shown], satisfaction[shown], rng)
    names = np.array([f"d{doc}" for doc in range(DOCUMENTS)])[shown]
    return click_log(
        Impression("q", docs.tolist(), docs[hits].tolist(), f"u{user}")
        for user, (docs, hits) in enumerate(zip(names, clicked, strict=True))
    )


def recovery(effort: ProofEffort) -> Iterator[ProvedClaim]:
    """l: models fitted to clicks by known parameters find these again, within what so many pages leave open; and their
    log-likelihood is that of the truth, which no model exceeds on other pages but by chance.
    """
    pages = effort.times(10_000, 100_000)
    margin = 4 * np.sqrt(0.25 / (pages * SHOWN / DOCUMENTS / 4))  # four errors of a share, seen on a quarter of pages
    for model in ("PBM", "CM", "DBN"):
        rng = effort.rng(f"l {model}")
        truth = rng.uniform(0.1, 0.8, (2, DOCUMENTS))
        log, other = _log(model, truth, pages, rng), _log(model, truth, pages, rng)
        attraction, satisfaction = truth[:, [int(doc[1:]) for doc in log.documents]]
        fit = fit_clicks(log, model, Fitting(prior=Prior(0, 0), held_out=0.0, resamples=0))
        scale = fit.behaviour.examination[0] if fit.behaviour.examination is not None else 1.0
        off = float(np.abs(fit.behaviour.attraction * scale - attraction).max())
        yield value("l", f"{model}, {pages:,} pages: largest error of an attraction", 0.0, off, margin, pages)
        if model == "DBN":
            off = float(np.abs(fit.behaviour.satisfaction - satisfaction).max())
            yield value("l", f"{model}, {pages:,} pages: largest error of a satisfaction", 0.0, off, 3 * margin, pages)
        right = _truth(model, *truth[:, [int(doc[1:]) for doc in other.documents]])
        found = _reordered(fit.behaviour, log.documents, other.documents)
        apart = _likelihood(found, other) - _likelihood(right, other)
        claim = f"{model}: log-likelihood of another page, fitted less true"
        yield value("l", claim, 0.0, apart, 3 * (2 * DOCUMENTS + SHOWN) / pages, pages)


def _reordered(behaviour: Behaviour, documents: tuple[str, ...], wanted: tuple[str, ...]) -> Behaviour:
    """The same with pairs in the order of another log."""
    order = [documents.index(doc) for doc in wanted]
    return behaviour._replace(attraction=behaviour.attraction[order], satisfaction=behaviour.satisfaction[order])


def _truth(model: str, attraction: Floats, satisfaction: Floats) -> Behaviour:
    seen = np.ones(len(attraction))
    if model == "PBM":
        return Behaviour(attraction, np.zeros(len(attraction)), seen, Convergence(), examination=EXAMINATION)
    if model == "CM":
        return Behaviour(attraction, seen, seen, Convergence())
    return Behaviour(attraction, satisfaction, seen, Convergence(), onward=ONWARD)


def _likelihood(behaviour: Behaviour, log: ClickLog) -> float:
    above, _ = behaviour.chances(log)
    return float(np.log(np.where(log.clicked, above, 1 - above)).sum()) / log.pages
