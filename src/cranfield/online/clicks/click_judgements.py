"""Judgements from clicks: what each document is worth, how sure that is, and what that does to scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats import read_qrels
from cranfield.judged import Floats, Integers
from cranfield.online.clicks.fitting import ClickFit
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cranfield.formats.given import GivenRuns
    from cranfield.measures import Measure
    from cranfield.policy import Policy

LEVEL = 0.05  # of intervals
SPREADS = 1.959964  # on either side of a score, in an interval of that level
ROUNDING = 1e-9  # of sums of chances


class ClickJudgement(NamedTuple):
    """One document for one query: its relevance from 0 to 1, and what it rests on."""

    query: str
    document: str
    relevance: float
    error: float
    low: float
    high: float
    grade: float
    attraction: float
    satisfaction: float
    shown: int
    examined: float
    clicks: int


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClickJudgements:
    """Relevance of documents from clicks, with its uncertainty; see `judge_clicks`.

    `grades` are the least relevance of grades 1, 2, …; without any, judgements are the relevance itself, a probability.
    """

    fit: ClickFit
    kept: Integers  # the pairs judged
    topics: tuple[str, ...]  # of each query, what judgements call it
    grades: tuple[float, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def __len__(self) -> int:
        return len(self.kept)

    def __repr__(self) -> str:
        return f"<ClickJudgements: {plural(len(self), 'document')} judged>"

    def qrels(self) -> Qrels:
        """The judgements, for `evaluate` and everything else."""
        return self._as_qrels(self.fit.relevance[self.kept])

    def draw(self, rng: np.random.Generator) -> Qrels:
        """Judgements as they might be as well: the relevance of each document drawn from its Beta distribution."""
        first, second = _beta(self.fit.relevance[self.kept], self.fit.error[self.kept])
        return self._as_qrels(rng.beta(first, second))

    def rows(self) -> Iterator[ClickJudgement]:
        """Each judgement with what it rests on: clicks, examinations, and an interval (95 %)."""
        from scipy.special import betaincinv

        fit, behaviour = self.fit, self.fit.behaviour
        relevance, error = fit.relevance[self.kept], fit.error[self.kept]
        first, second = _beta(relevance, error)
        low, high = betaincinv(first, second, LEVEL / 2), betaincinv(first, second, 1 - LEVEL / 2)
        # A skewed distribution may have its mode outside; an interval around an estimate has it inside.
        low, high = np.minimum(low, relevance), np.maximum(high, relevance)
        satisfaction = behaviour.satisfaction if fit.model.satisfies else np.full(len(fit.relevance), np.nan)
        grade = self._graded(relevance)
        for place, pair in enumerate(self.kept.tolist()):
            yield ClickJudgement(
                self.topics[fit.log.query_of_pair[pair]],
                fit.log.documents[pair],
                float(relevance[place]),
                float(error[place]),
                float(low[place]),
                float(high[place]),
                float(grade[place]),
                float(behaviour.attraction[pair]),
                float(satisfaction[pair]),
                int(fit.shown[pair]),
                float(behaviour.examined[pair]),
                int(fit.clicks[pair]),
            )

    def _graded(self, relevance: Floats) -> Floats:
        if not self.grades:
            return relevance
        return np.searchsorted(np.array(self.grades), relevance, side="right").astype(np.float64)

    def _as_qrels(self, relevance: Floats) -> Qrels:
        grade = self._graded(relevance).tolist()
        judged: dict[str, dict[str, float]] = {}
        for place, pair in enumerate(self.kept.tolist()):
            topic = self.topics[self.fit.log.query_of_pair[pair]]
            judged.setdefault(topic, {})[self.fit.log.documents[pair]] = grade[place]
        return read_qrels(judged)


def judge_clicks(
    fit: ClickFit, *, grades: Sequence[float] = (), topics: Mapping[str, str] | None = None, least_examined: float = 1
) -> ClickJudgements:
    """Judgements of what users examined at least so often, as far as can be told; what they hardly looked at has little
    but the prior, and stays unjudged. `topics` says what judgements call each query.

    >>> from cranfield.online.clicks import Fitting, Impression, click_log, fit_clicks
    >>> pages = [Impression("q", ["a", "b"], ["b"] if user % 3 else ["a"], f"u{user}") for user in range(60)]
    >>> fit = fit_clicks(click_log(pages), "SDBN", Fitting(resamples=20))
    >>> judge_clicks(fit, grades=[0.25, 0.75]).qrels().of("q")
    {'b': 2.0, 'a': 1.0}
    """
    if list(grades) != sorted(set(grades)) or not all(0 <= grade <= 1 for grade in grades):
        raise UsageError(f"grades begin at rising numbers from 0 to 1, not {', '.join(f'{x:g}' for x in grades)}")
    queries = fit.log.queries
    known = dict(zip(queries, queries, strict=True)) if topics is None else topics
    wanted = np.array([query in known for query in queries])
    seen = fit.behaviour.examined >= least_examined - ROUNDING
    kept = np.flatnonzero(seen & wanted[fit.log.query_of_pair])
    if not len(kept):
        raise DataError(
            f"no document of a query that is asked for was examined {least_examined:g} times or more",
            source=fit.log.source,
            remedy="Are the topics written as users wrote their queries?" if topics is not None else None,
        )
    called = tuple(known.get(query, query) for query in queries)
    told = []
    if not seen.all():
        which = f"{plural(int((~seen).sum()), 'document')} of {len(seen):,}"
        message = f"{which} examined less than {least_examined:g} times, as far as can be told: left unjudged"
        told.append(Finding("hardly-examined", fit.log.source, message, doubtful=False))
    return ClickJudgements(fit=fit, kept=kept, topics=called, grades=tuple(grades), warnings=tuple(told))


def _beta(mean: Floats, error: Floats) -> tuple[Floats, Floats]:
    """The parameters of the Beta distributions with these means and standard errors, as far as there are such."""
    inside = np.clip(mean, 1e-9, 1 - 1e-9)
    most = inside * (1 - inside)
    size = most / np.clip(np.square(error), 1e-12, most * (1 - 1e-9)) - 1
    return inside * size, (1 - inside) * size


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DrawnScores(PrintedInNotebooks):
    """scores[draw, run, measure]: means of runs under judgements as they might be as well, one set a draw.

    Their spread is how far scores of as many other clicks would lie apart, so that score ± 1.96 spreads (`low`, `high`)
    holds what runs score on average under judgements from so many clicks. Where draws lie is something else: noise in
    judgements moves scores by itself, since it is cut into grades, or makes the best order a better one than there is.
    Draws have it twice, and are off the score by the `shift`.
    `ahead[measure, run, other]` is the share of draws in which a run is better than another, ties counting half.
    """

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    judged: Floats  # [run, measure]: under the judgements themselves
    scores: Floats
    warnings: tuple[Finding, ...] = ()

    @property
    def error(self) -> Floats:
        """[run, measure]: the spread of draws."""
        return np.asarray(np.std(self.scores, axis=0, ddof=1))

    @property
    def low(self) -> Floats:
        """[run, measure]: the lower end of the 95 % interval."""
        return self._end(-1)

    @property
    def high(self) -> Floats:
        """[run, measure]: the upper end of the 95 % interval."""
        return self._end(1)

    @property
    def shift(self) -> Floats:
        """[run, measure]: by how much draws are off the score on average."""
        return np.asarray(self.scores.mean(axis=0) - self.judged)

    def _end(self, sign: int) -> Floats:
        least, most = np.array([measure.traits.range for measure in self.measures]).T
        return np.clip(self.judged + sign * SPREADS * self.error, least, most)

    @property
    def ahead(self) -> Floats:
        """[measure, run, other]"""
        signs = np.array([measure.sign or 1 for measure in self.measures])
        scores = np.moveaxis(self.scores * signs, 2, 0)  # [measure, draw, run]
        one, other = scores[:, :, :, None], scores[:, :, None, :]
        return np.asarray(np.mean((one > other) + 0.5 * (one == other), axis=1))

    def _rendered(self, format: str) -> str:
        from cranfield.online.clicks.click_tables import render_drawn

        return render_drawn(self, format)


def evaluate_drawn(
    judgements: ClickJudgements,
    runs: GivenRuns,
    measures: str | Measure | Iterable[str | Measure],
    *,
    draws: int = 200,
    seed: int = 0,
    policy: Policy | None = None,
) -> DrawnScores:
    """Scores of runs with what the uncertainty of the judgements does to them: over draws of these.

    Draws are independent from document to document; that topics might have been others is not in it (`compare` is for
    that).

    >>> from cranfield.online.clicks import Fitting, Impression, click_log, fit_clicks
    >>> pages = [Impression("q", ["a", "b"], ["b"] if user % 3 else ["a"], f"u{user}") for user in range(60)]
    >>> judgements = judge_clicks(fit_clicks(click_log(pages), "SDBN", Fitting(resamples=20)))
    >>> good, bad = {"q": {"b": 2.0, "a": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    >>> evaluate_drawn(judgements, {"good": good, "bad": bad}, "nDCG@10", draws=50).ahead[0, 0, 1]
    np.float64(1.0)
    """
    from cranfield.evaluation.experiment import Experiment
    from cranfield.policy import Policy

    if draws < 2:
        raise UsageError(f"two draws or more are needed, not {draws}")
    decided = policy or Policy(grades="grades" if judgements.grades else "probabilities")
    read = Experiment(judgements.qrels(), runs, decided)
    tables = dict(zip(read.names, read.tables(), strict=True))
    first = read.evaluate(measures)
    rng = np.random.default_rng([seed, 2])
    scores = [Experiment(judgements.draw(rng), tables, decided).evaluate(measures).means for _ in range(draws)]
    return DrawnScores(
        runs=first.runs, measures=first.measures, judged=first.means, scores=np.array(scores), warnings=first.warnings
    )
