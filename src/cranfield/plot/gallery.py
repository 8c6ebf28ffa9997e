"""Pictures of curves."""

from __future__ import annotations

from cranfield.errors import UsageError, plural
from cranfield.measures import parse_measure
from cranfield.plot import curves
from cranfield.plot.curves import Curves, area
from cranfield.plot.documents import score_and_grade
from cranfield.plot.lines import Chosen, band, levels, lines, raw_and_interpolated
from cranfield.plot.naming import named_systems
from cranfield.plot.style import Chart, find_theme
from cranfield.plot.subject import Subject, picture


@picture("interpolated", by_topic=True, uses=("baseline", "highlight"))
def interpolated(subject: Subject) -> Chart:
    """Interpolated precision at the eleven recall levels, mean over topics or topic by topic."""
    made = curves.interpolated(subject.experiment, topics=subject.topics)
    caption = interpolated_caption(made)
    return lines(made, theme=subject.theme, caption=caption, y_domain=(0.0, 1.0), chosen=_named(subject))


def interpolated_caption(made: Curves) -> str:
    """What curves of interpolated precision show."""
    return (
        f"Interpolated precision at the eleven standard recall levels, {made.averaged}: at each level the highest "
        "precision at that recall or any above, in steps."
    )


@picture("precision-recall", by_topic=True, uses=("baseline", "highlight"))
def precision_recall(subject: Subject) -> Chart:
    """Interpolated precision by recall on one topic; of up to four runs also after each relevant document."""
    topic = subject.one_topic()
    raw = curves.precision_recall(subject.experiment, [topic])
    smooth = curves.interpolated(subject.experiment, topics=[topic])
    return raw_and_interpolated(raw, smooth, theme=subject.theme, title=f"topic {topic}", chosen=_named(subject))


@picture("cutoff", measures=("nDCG",), by_topic=True, uses=("baseline", "depth", "highlight"))
def by_cutoff(subject: Subject) -> Chart:
    """A measure by cutoff: P, R, nDCG or any other that has one."""
    made = curves.by_cutoff(subject.experiment, subject.measures[0], _ranks(subject), topics=subject.topics)
    caption = cutoff_caption(made)
    return lines(made, theme=subject.theme, caption=caption, chosen=_named(subject))


def cutoff_caption(made: Curves) -> str:
    """What curves by cutoff show."""
    return f"{made.y} of the first documents at every cutoff, {made.averaged}."


@picture("gain", measures=("DCG",), of_its_own=True, by_topic=True, uses=("baseline", "depth", "highlight"))
def gain(subject: Subject) -> Chart:
    """Cumulated gain (CG) or discounted cumulated gain (DCG) by rank, with the ideal."""
    made = curves.gains(subject.experiment, subject.measures[0], depth=subject.depth, topics=subject.topics)
    caption = f"{made.y[0].upper()}{made.y[1:]}, by rank, {made.averaged}; dashed: the ideal ranking."
    return lines(made, theme=subject.theme, caption=caption, chosen=_named(subject))


@picture("normalised-gain", measures=("DCG",), of_its_own=True, uses=("baseline", "depth", "highlight"))
def normalised_gain(subject: Subject) -> Chart:
    """Gain over ideal gain by rank, mean of ratios and ratio of means, with the area under each."""
    parts = {
        average: curves.normalised_gains(subject.experiment, subject.measures[0], depth=subject.depth, average=average)
        for average in ("mean of ratios", "ratio of means")
    }
    areas = {run: [area(made.of(run)) for made in parts.values()] for run in subject.experiment.names}
    told = {run: f"{run} ({first:.3f}, {second:.3f})" for run, (first, second) in areas.items()}
    points = [
        point._replace(series="" if average == "mean of ratios" else average)
        for average, made in parts.items()
        for point in made.points
    ]
    label = parts["mean of ratios"].y.removesuffix(", mean of ratios")
    caption = (
        f"{label} by rank over {plural(parts['mean of ratios'].topics, 'topic')}: mean of the topics' ratios to the "
        "ideal, and dashed the ratio of the means; in brackets the area under each"
    )
    made = Curves("rank", label, tuple(points))
    on_paper = find_theme(subject.theme).column is not None  # there is no room for areas beside the lines
    title = "Mean of ratios; dashed: ratio of means" + ("" if on_paper else " (area under each)")
    named = named_systems(
        levels(made), baseline=[subject.baseline] if subject.baseline else [], highlight=subject.highlight
    )
    caption += f": {', '.join(told[run] for run in named)}." if on_paper else "."
    labels = {} if on_paper else told
    return lines(made, theme=subject.theme, title=title, caption=caption, labels=labels, chosen=_named(subject))


@picture("rbp", measures=("RBP",), of_its_own=True, uses=("baseline", "depth", "highlight"))
def rank_biased(subject: Subject) -> Chart:
    """Rank-biased precision by depth, with what unjudged and unseen documents could add."""
    measure = parse_measure(subject.measures[0])
    if measure.definition.name != "RBP" or measure.parameters["cutoff"] is not None:
        raise UsageError(f"this picture is of RBP at every cutoff, such as RBP(p=0.95), not of {measure}")
    p, rel = measure.parameters["p"], measure.parameters["rel"]
    made = curves.rank_biased(subject.experiment, p=p, rel=rel, depth=subject.depth)
    title = "Dashed: if all that is unjudged or further down were relevant"
    caption = f"{made.y} by rank, {made.averaged}; d{title[1:]}."
    return band(made, theme=subject.theme, title=title, caption=caption, chosen=_named(subject))


@picture(
    "discounts",
    measures=("CG", "DCG", "DCG(base=2)", "DCG(base=10)", "RR"),
    several=True,
    of_its_own=True,
    without_runs=True,
    uses=("depth", "highlight"),
)
def discounts(subject: Subject) -> Chart:
    """What measures discount: how much a relevant document counts at each rank; of no runs."""
    made = curves.discounts(subject.measures, depth=subject.depth or 20)
    alone = curves.only_alone(subject.measures)
    title = f"{', '.join(alone)}: where no other document is relevant" if alone else ""
    caption = "How much a relevant document counts at each rank, as a share of what it counts at rank 1."
    return lines(
        made,
        theme=subject.theme,
        y_domain=(0.0, 1.0),
        title=title,
        caption=caption,
        chosen={"highlight": subject.highlight},
    )


@picture("ranks", by_topic=True, uses=("depth",))
def by_rank(subject: Subject) -> Chart:
    """Score and relevance by rank on one topic."""
    topic, depth = subject.one_topic(), subject.depth or 50
    rows = curves.ranked(subject.experiment, topic)
    longest = max((row.rank for row in rows), default=0)
    title = f"Topic {topic}" + (f", the first {depth} of {longest:,} ranks" if longest > depth else "")
    shown = [row for row in rows if row.rank <= depth]
    return score_and_grade(shown, title=title, caption=f"{title}.", theme=subject.theme)


def _named(subject: Subject) -> Chosen:
    """The runs that a picture of many names."""
    return {"baseline": subject.baseline, "highlight": subject.highlight}


def _ranks(subject: Subject) -> range | None:
    return range(1, subject.depth + 1) if subject.depth else None
