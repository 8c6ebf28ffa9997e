"""The picture of pooling methods."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.errors import plural
from cranfield.evaluation.experiment import Experiment
from cranfield.formats import read_qrels
from cranfield.plot.curves import Curves, Point
from cranfield.plot.lines import lines
from cranfield.plot.style import Chart
from cranfield.plot.subject import Subject, picture
from cranfield.pooling.simulation import Simulation, simulate

BUDGET = 100
MOST_REPLAYED = 500  # topics, evenly among all: every method judges each of them anew
TITLE = "Pooling methods replayed"


@picture("pooling", uses=("depth", "highlight"))
def pooling(subject: Subject) -> Chart:
    """Relevant documents that pooling methods would have found, by the number of judgements a topic."""
    experiment = subject.experiment
    budget = subject.depth or BUDGET
    judged = experiment.judgements().qrels
    topics = judged.topics
    part = topics[:: -(-len(topics) // MOST_REPLAYED)]
    qrels = judged if len(part) == len(topics) else read_qrels({topic: judged.of(topic) for topic in part})
    made = simulate(Experiment(qrels, list(experiment.tables())), budgets=[budget])
    sample = "" if len(part) == len(topics) else f" on {len(part):,} of {len(topics):,} topics"
    return _drawn(made, len(part), sample, subject.theme, subject.highlight)


def found_by_budget(simulation: Simulation, *, theme: str = "screen") -> Chart:
    """A line a method: recall of the judgements' relevant documents against judgements made.

    >>> from cranfield.pooling.simulation import simulate
    >>> experiment = Experiment({"1": {"d1": 1}}, {"a": {"1": {"d2": 2.0, "d1": 1.0}}})
    >>> made = simulate(experiment, ["depth"], [2])
    >>> found_by_budget(made).to_dict()["layer"][0]["mark"]["type"]
    'line'
    """
    return _drawn(simulation, None, "", theme, ())


def _drawn(made: Simulation, topics: int | None, sample: str, theme: str, highlight: Sequence[str]) -> Chart:
    where = "" if topics is None else sample or f" on {plural(topics, 'topic')}"
    caption = f"Share of the known relevant documents that each pooling method finds{where}, by judgements a topic."
    return lines(curves(made), theme=theme, title=f"{TITLE}{sample}", caption=caption, chosen={"highlight": highlight})


def curves(simulation: Simulation) -> Curves:
    """Recall after each number of judgements a topic, for each method.

    >>> from cranfield.pooling.simulation import simulate
    >>> experiment = Experiment({"1": {"d1": 1}}, {"a": {"1": {"d2": 2.0, "d1": 1.0}}})
    >>> made = simulate(experiment, ["depth"], [2])
    >>> curves(made).of("depth")
    [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)]
    """
    points = tuple(
        Point(method, "", "", float(budget), relevant_found / simulation.relevant)
        for method in simulation.methods
        for budget, relevant_found in enumerate(simulation.found[method].tolist())
    )
    return Curves("judgements a topic", "recall", points, noun="methods")
