"""A picture: a function of a subject that gives an Altair chart."""

from cranfield.plot.style import Chart, chart_of, find_theme, styled
from cranfield.plot.subject import Subject, picture


@picture("topic-bars", measures=("AP",))
def topic_bars(subject: Subject) -> "Chart":
    """A bar for each topic and run."""
    results = subject.results
    rows = [
        {"run": run, "topic": topic, "score": float(results.scores[i, 0, j])}
        for i, run in enumerate(results.runs)
        for j, topic in enumerate(results.topics)
    ]
    chart = chart_of(rows).mark_bar().encode(x="topic:N", xOffset="run:N", y="score:Q", color="run:N")
    return styled(chart, find_theme(subject.theme))
