"""The picture of recall against effort: documents gone through, relevant ones found, and how many could have been."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural, share
from cranfield.evaluation.experiment import Experiment
from cranfield.judged import Floats
from cranfield.measures import Measure, parse_measure
from cranfield.plot.curves import Curves, Point, by_cutoff
from cranfield.plot.lines import lines
from cranfield.plot.style import Chart
from cranfield.plot.subject import Subject, picture

DEEPEST = 1000  # documents a topic, if nothing else is said
MOST_PLACES = 100  # at which recall is computed
IDEAL, REACHABLE = "ideal, all", "ideal, found"


class Reach(NamedTuple):
    """For each topic that counts, how many documents are relevant, and how many of them any of the runs retrieves."""

    relevant: Floats
    retrieved: Floats

    @property
    def is_whole(self) -> bool:
        """Whether every relevant document is retrieved."""
        return bool((self.retrieved == self.relevant).all())

    @property
    def share(self) -> float:
        """The share of the relevant documents that are retrieved, mean over topics that have any."""
        some = self.relevant > 0
        return float((self.retrieved[some] / self.relevant[some]).mean()) if some.any() else 0.0

    def best(self, effort: int, *, of_all: bool) -> float:
        """The highest recall that so many documents a topic can have, mean over topics: of all relevant documents, or
        of those retrieved. A topic without relevant documents has none, as in R.

        >>> reach = Reach(np.array([4, 1, 0]), np.array([2, 1, 0]))
        >>> reach.best(1, of_all=True), reach.best(3, of_all=True), reach.best(3, of_all=False)
        (0.4166666666666667, 0.5833333333333334, 0.5)
        """
        most = np.minimum(self.relevant if of_all else self.retrieved, effort)
        shares = np.divide(most, self.relevant, out=np.zeros(len(most)), where=self.relevant > 0)
        return float(shares.mean())


@picture("effort", measures=("R",), of_its_own=True, uses=("baseline", "depth", "highlight"))
def effort(subject: Subject) -> Chart:
    """Recall against the documents gone through, with the most that can be reached with so many."""
    measure = parse_measure(subject.measures[0])
    if measure.definition.name != "R" or measure.parameters.get("cutoff") is not None:
        raise UsageError(f"this picture is of recall at every rank, such as R or R(rel=2), not of {measure}")
    experiment = subject.experiment
    made, reach = recall_by_effort(experiment, measure, subject.depth)
    systems, topics = plural(len(experiment.names), "system"), plural(len(reach.relevant), "topic")
    of_found = f", and of the {share(reach.share)} of them that the systems retrieve together"
    caption = (
        f"Recall ({measure}) of {systems} by the number of documents gone through for each topic, mean over {topics}. "
        "Dashed: the most that so many documents can reach, in an ideal order of all relevant documents"
        f"{' (the systems retrieve all of them)' if reach.is_whole else of_found}."
    )
    return lines(
        made,
        theme=subject.theme,
        y_domain=(0.0, 1.0),
        caption=caption,
        chosen={"baseline": subject.baseline, "highlight": subject.highlight},
    )


def recall_by_effort(experiment: Experiment, measure: Measure, depth: int | None = None) -> tuple[Curves, Reach]:
    """Recall after some numbers of documents, for each run, each with the most that could be reached there: series "",
    and two that all runs share, the second where some relevant documents are not retrieved.

    >>> qrels = {"1": {"d1": 1, "d2": 1}}
    >>> made, _ = recall_by_effort(Experiment(qrels, {"a": {"1": {"d9": 2.0, "d1": 1.0}}}), parse_measure("R"))
    >>> made.of("a"), made.of("a", series=IDEAL), made.of("a", series=REACHABLE)
    ([(1.0, 0.0), (2.0, 0.5)], [(1.0, 0.5), (2.0, 1.0)], [(1.0, 0.5), (2.0, 0.5)])
    """
    longest = max(int(run.table.counts().max()) for run in experiment.tables())
    last = depth or min(DEEPEST, longest)
    places = np.unique(np.linspace(1, last, min(last, MOST_PLACES)).round().astype(int)).tolist()
    own = by_cutoff(experiment, measure, places)
    reach = reached(experiment, measure)
    points = list(own.points)
    for series, of_all in ((IDEAL, True), (REACHABLE, False)):
        if not of_all and reach.is_whole:
            continue
        best = [(float(place), reach.best(place, of_all=of_all)) for place in places]
        points += [Point(run, "", series, x, y) for run in experiment.names for x, y in best]
    return Curves("documents gone through for each topic", "recall", tuple(points)), reach


def reached(experiment: Experiment, measure: Measure) -> Reach:
    """What there is to find on the topics that count for any run, and what the runs find of it together."""
    rel, judgements = measure.parameters["rel"], experiment.judgements()
    pool = judgements.pool
    retrieved = np.zeros(len(pool.grades), dtype=bool)
    for run in experiment.tables():
        joined = experiment.joined(run, judgements)
        retrieved[joined.row[joined.hits(rel)]] = True
    results = experiment.evaluate(measure @ 1)
    counted = {topic for t, topic in enumerate(results.topics) if not np.isnan(results.scores[:, 0, t]).all()}
    places = [t for t, topic in enumerate(pool.topics) if topic in counted]
    return Reach(pool.total(pool.grades >= max(rel, 0))[places], pool.total(retrieved)[places])
