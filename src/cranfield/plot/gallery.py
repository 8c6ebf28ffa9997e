"""Pictures of curves."""

from __future__ import annotations

from cranfield.errors import UsageError
from cranfield.measures import parse_measure
from cranfield.plot import curves
from cranfield.plot.curves import Curves, area
from cranfield.plot.documents import score_and_grade
from cranfield.plot.lines import band, lines, raw_and_interpolated
from cranfield.plot.style import Chart
from cranfield.plot.subject import Subject, picture


@picture("interpolated", by_topic=True)
def interpolated(subject: Subject) -> Chart:
    """Interpolated precision at the eleven recall levels, mean over topics or topic by topic."""
    made = curves.interpolated(subject.experiment, topics=subject.topics)
    return lines(made, theme=subject.theme, y_domain=(0.0, 1.0))


@picture("precision-recall", by_topic=True)
def precision_recall(subject: Subject) -> Chart:
    """Precision after each relevant document of one topic, and the interpolated curve over it."""
    topic = subject.one_topic()
    raw = curves.precision_recall(subject.experiment, [topic])
    smooth = curves.interpolated(subject.experiment, topics=[topic])
    return raw_and_interpolated(raw, smooth, theme=subject.theme, title=f"topic {topic}")


@picture("cutoff", measures=("nDCG",), by_topic=True, uses=("depth",))
def by_cutoff(subject: Subject) -> Chart:
    """A measure by cutoff: P, R, nDCG or any other that has one."""
    made = curves.by_cutoff(subject.experiment, subject.measures[0], _ranks(subject), topics=subject.topics)
    return lines(made, theme=subject.theme)


@picture("gain", measures=("DCG",), of_its_own=True, by_topic=True, uses=("depth",))
def gain(subject: Subject) -> Chart:
    """Cumulated gain (CG) or discounted cumulated gain (DCG) by rank, with the ideal."""
    made = curves.gains(subject.experiment, subject.measures[0], depth=subject.depth, topics=subject.topics)
    return lines(made, theme=subject.theme)


@picture("normalised-gain", measures=("DCG",), of_its_own=True, uses=("depth",))
def normalised_gain(subject: Subject) -> Chart:
    """Gain over ideal gain by rank, mean of ratios and ratio of means, with the area under each."""
    parts = {
        average: curves.normalised_gains(subject.experiment, subject.measures[0], depth=subject.depth, average=average)
        for average in ("mean of ratios", "ratio of means")
    }
    areas = {run: [area(made.of(run)) for made in parts.values()] for run in subject.experiment.names}
    names = {run: f"{run} ({first:.3f}, {second:.3f})" for run, (first, second) in areas.items()}
    points = [
        point._replace(run=names[point.run], series="" if average == "mean of ratios" else average)
        for average, made in parts.items()
        for point in made.points
    ]
    label = parts["mean of ratios"].y.removesuffix(", mean of ratios")
    title = "mean of ratios; thin, dotted: ratio of means (area under each)"
    return lines(Curves("rank", label, tuple(points)), theme=subject.theme, title=title)


@picture("rbp", measures=("RBP",), of_its_own=True, uses=("depth",))
def rank_biased(subject: Subject) -> Chart:
    """Rank-biased precision by depth, with what unjudged and unseen documents could add."""
    measure = parse_measure(subject.measures[0])
    if measure.definition.name != "RBP" or measure.parameters["cutoff"] is not None:
        raise UsageError(f"this picture is of RBP at every cutoff, such as RBP(p=0.95), not of {measure}")
    p, rel = measure.parameters["p"], measure.parameters["rel"]
    made = curves.rank_biased(subject.experiment, p=p, rel=rel, depth=subject.depth)
    return band(made, theme=subject.theme, title="dotted: if all that is unjudged or further down were relevant")


@picture(
    "discounts",
    measures=("CG", "DCG", "DCG(base=2)", "DCG(base=10)", "RR"),
    several=True,
    of_its_own=True,
    without_runs=True,
    uses=("depth",),
)
def discounts(subject: Subject) -> Chart:
    """What measures discount: how much a relevant document counts at each rank; of no runs."""
    made = curves.discounts(subject.measures, depth=subject.depth or 20)
    alone = curves.only_alone(subject.measures)
    title = f"{', '.join(alone)}: where no other document is relevant" if alone else ""
    return lines(made, theme=subject.theme, y_domain=(0.0, 1.0), title=title)


@picture("ranks", by_topic=True, uses=("depth",))
def by_rank(subject: Subject) -> Chart:
    """Score and relevance by rank on one topic."""
    topic, depth = subject.one_topic(), subject.depth or 50
    rows = curves.ranked(subject.experiment, topic)
    longest = max((row.rank for row in rows), default=0)
    title = f"topic {topic}" + (f", the first {depth} of {longest:,} ranks" if longest > depth else "")
    return score_and_grade([row for row in rows if row.rank <= depth], title=title, theme=subject.theme)


def _ranks(subject: Subject) -> range | None:
    return range(1, subject.depth + 1) if subject.depth else None
