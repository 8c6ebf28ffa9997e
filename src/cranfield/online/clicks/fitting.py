"""`fit_clicks`: a click model fitted to a log, how well it foretells other users, and how sure its parameters are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural, share
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats, Mask
from cranfield.online.clicks.click_models import Behaviour, ClickModel, ClickTraining, Prior, find_click_model
from cranfield.online.clicks.fit_measures import FitQuality, FittedPages, fit_quality
from cranfield.online.clicks.impressions import ClickLog

FEW_UNITS = 30  # users below which a bootstrap over them tells little
LOOSER = 100  # times the tolerance, for fits of resamples, which start where the fit of the log ended


class Fitting(NamedTuple):
    """How a model is fitted: the prior, the share of users held out, resamples of users, and the seed of both.

    Steps end when the objective rises by less than `tolerance` a page, or after `most` of them.
    """

    prior: Prior = Prior()
    held_out: float = 0.2
    resamples: int = 100
    seed: int = 0
    tolerance: float = 1e-8
    most: int = 2000
    threads: int | None = None

    def check(self) -> None:
        """That all of it can be."""
        self.prior.check()
        if not 0 <= self.held_out < 1:
            raise UsageError(f"the share of users held out is a number from 0, below 1, not {self.held_out:g}")
        if self.resamples < 0 or self.resamples == 1:
            raise UsageError(f"resamples are 0 or at least 2, not {self.resamples}")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClickFit(PrintedInNotebooks):
    """A model fitted to all pages of a log. `quality` is that of a fit without the users held out, on their pages;
    where nobody could be held out, that of the fit on the pages that it was made of, and `is_held_out` is False.

    `relevance` of each pair is its attraction, times its satisfaction where the model knows that. `error` is its
    standard error: the larger of the spread over resamples of users, and that of a Beta distribution with as many
    trials as the pair was examined (and clicked).
    """

    log: ClickLog
    model: ClickModel
    fitting: Fitting
    behaviour: Behaviour
    quality: FitQuality
    is_held_out: bool
    relevance: Floats
    error: Floats
    shared_error: Floats  # of examination or satisfaction by rank, or of onward: over resamples; NaN without
    warnings: tuple[Finding, ...]

    @cached_property
    def shown(self) -> Floats:
        """On how many slots each pair was shown."""
        return self.log.per_pair(np.ones(len(self.log.pair), dtype=bool), np.ones(self.log.pages))

    @cached_property
    def clicks(self) -> Floats:
        """How often each pair was clicked."""
        return self.log.per_pair(self.log.clicked, np.ones(self.log.pages))

    @property
    def shared(self) -> Floats:
        """The parameters that all pages share: examination or satisfaction by rank, or the chance to go on."""
        return shared_parameters(self.behaviour)

    def _rendered(self, format: str) -> str:
        from cranfield.online.clicks.click_tables import render_fit

        return render_fit(self, format)


def shared_parameters(behaviour: Behaviour) -> Floats:
    """The parameters that all pages share."""
    if behaviour.examination is not None:
        return behaviour.examination
    return behaviour.satisfaction if behaviour.by_rank else np.array([behaviour.onward])


def fit_clicks(log: ClickLog, model: str | ClickModel = "DBN", fitting: Fitting | None = None) -> ClickFit:
    """Fits a click model to a log.

    >>> from cranfield.online.clicks import Impression, click_log
    >>> pages = [Impression("q", ["a", "b"], ["b"] if user % 3 else ["a"], f"u{user}") for user in range(60)]
    >>> fit = fit_clicks(click_log(pages), "SDBN", Fitting(resamples=20))
    >>> fit.relevance.round(2).tolist(), round(fit.quality.log_likelihood, 2)
    ([0.32, 0.95], -0.67)
    """
    wanted, how = find_click_model(model), fitting or Fitting()
    how.check()
    training = ClickTraining(log, np.ones(log.pages), how.prior, how.tolerance, how.most, how.threads)
    behaviour = wanted.function(training)
    tested = held_out_pages(log, how)
    quality = _quality(wanted, training, tested, behaviour)
    relevance = wanted.relevance(behaviour)
    counted = _counted_error(wanted, behaviour, log, how.prior)
    drawn, shared = _resampled(wanted, training, behaviour, how)
    return ClickFit(
        log=log,
        model=wanted,
        fitting=how,
        behaviour=behaviour,
        quality=quality,
        is_held_out=bool(tested.any()),
        relevance=relevance,
        error=np.fmax(counted, drawn),
        shared_error=shared,
        warnings=(*log.warnings, *_doubts(log, wanted, behaviour, quality, how, tested)),
    )


def held_out_pages(log: ClickLog, fitting: Fitting) -> Mask:
    """The pages of a share of users, drawn by the seed; at least one user, and one is left; of one user none."""
    units = int(log.unit.max()) + 1
    count = 0 if fitting.held_out == 0 else min(max(1, round(units * fitting.held_out)), units - 1)
    chosen = np.random.default_rng([fitting.seed, 0]).permutation(units)[:count]
    return np.isin(log.unit, chosen)


def _quality(model: ClickModel, training: ClickTraining, tested: Mask, behaviour: Behaviour) -> FitQuality:
    """On the pages held out, by a fit to the others; on all pages where none are held out."""
    log = training.log
    if tested.any():
        behaviour = model.function(training._replace(weight=(~tested).astype(np.float64)))
    else:
        tested = np.ones(log.pages, dtype=bool)
    given_above, alone = behaviour.chances(log, training.threads)
    slots = np.repeat(tested, np.diff(log.offsets))
    offsets = np.concatenate([[0], np.cumsum(np.diff(log.offsets)[tested])])
    return fit_quality(FittedPages(offsets, log.clicked[slots], given_above[slots], alone[slots]))


def _counted_error(model: ClickModel, behaviour: Behaviour, log: ClickLog, prior: Prior) -> Floats:
    """The standard error of relevance if every examination and every click were seen and independent."""
    attraction = _variance(behaviour.attraction, behaviour.examined, prior)
    if not model.satisfies:
        return np.sqrt(attraction)
    clicks = log.per_pair(log.clicked, np.ones(log.pages))
    satisfaction = _variance(behaviour.satisfaction, clicks, prior)
    squares = np.square(behaviour.attraction) * satisfaction + np.square(behaviour.satisfaction) * attraction
    return np.sqrt(squares + attraction * satisfaction)


def _variance(mode: Floats, trials: Floats, prior: Prior) -> Floats:
    """That of the Beta distribution with this mode: of a uniform one where nothing was seen."""
    yes = mode * (trials + prior.yes + prior.no) + 1
    no = (1 - mode) * (trials + prior.yes + prior.no) + 1
    return np.asarray(yes * no / (np.square(yes + no) * (yes + no + 1)))


def _resampled(
    model: ClickModel, training: ClickTraining, behaviour: Behaviour, fitting: Fitting
) -> tuple[Floats, Floats]:
    """The spread of relevance and of what all pages share over resamples of users; NaN without resamples."""
    log = training.log
    units = int(log.unit.max()) + 1
    shared = shared_parameters(behaviour)
    if fitting.resamples < 2 or units < 2:
        return np.full(len(log.documents), np.nan), np.full(len(shared), np.nan)
    sums, squares = np.zeros((2, len(log.documents)))
    of_shared = []
    rng = np.random.default_rng([fitting.seed, 1])
    again = training._replace(start=behaviour, tolerance=training.tolerance * LOOSER)
    for _ in range(fitting.resamples):
        times = np.bincount(rng.integers(units, size=units), minlength=units).astype(np.float64)
        drawn = model.function(again._replace(weight=times[log.unit]))
        difference = model.relevance(drawn) - model.relevance(behaviour)
        sums += difference
        squares += np.square(difference)
        of_shared.append(shared_parameters(drawn))
    count = fitting.resamples
    variance = np.maximum(squares - np.square(sums) / count, 0) / (count - 1)
    return np.sqrt(variance), np.asarray(np.std(of_shared, axis=0, ddof=1))


def _doubts(
    log: ClickLog, model: ClickModel, behaviour: Behaviour, quality: FitQuality, fitting: Fitting, tested: Mask
) -> list[Finding]:
    findings = []
    steps = behaviour.convergence
    if not steps.converged:
        message = f"{model} still rose after {plural(steps.steps, 'step')}: its parameters are not the likeliest ones"
        findings.append(Finding("not-converged", log.source, message))
    if quality.impossible:
        where = "held out" if tested.any() else "of the log"
        message = (
            f"{plural(quality.impossible, 'page')} of {quality.pages:,} {where} cannot be by {model}, so that its "
            "log-likelihood is -inf; that of the others stands beside it"
        )
        if not model.several:
            message += f". It knows no second click, and {share(_several(log))} of pages have one"
        findings.append(Finding("impossible-pages", log.source, message))
    if not tested.any():
        reason = "nobody is held out" if fitting.held_out == 0 else f"there is one {log.units} only"
        message = f"{reason}: how well clicks are foretold is measured on the pages fitted, which flatters"
        findings.append(Finding("not-held-out", log.source, message))
    units = int(log.unit.max()) + 1
    if fitting.resamples and units < FEW_UNITS:
        message = f"{plural(units, log.units)}: too few for their resamples to say how sure the parameters are"
        findings.append(Finding("few-users", log.source, message))
    return findings


def _several(log: ClickLog) -> float:
    """The share of pages with more than one click."""
    clicks = np.add.reduceat(log.clicked.astype(np.int64), log.offsets[:-1])
    return float(np.mean(clicks > 1))
