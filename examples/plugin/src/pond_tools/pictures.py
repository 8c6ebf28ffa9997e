"""A picture: a function of a subject that gives an Altair chart."""

from typing import Any

from cranfield.plot.style import altair, find_theme, styled
from cranfield.plot.subject import Subject, picture


@picture("topic-bars", measures=("AP",))
def topic_bars(subject: Subject) -> Any:
    """A bar for each topic and run."""
    alt = altair()
    results = subject.results
    rows = [
        {"run": run, "topic": topic, "score": float(results.scores[i, 0, j])}
        for i, run in enumerate(results.runs)
        for j, topic in enumerate(results.topics)
    ]
    bars = alt.Chart(alt.Data(values=rows)).mark_bar()
    chart = bars.encode(x="topic:N", xOffset="run:N", y="score:Q", color="run:N")
    return styled(chart, find_theme(subject.theme))
