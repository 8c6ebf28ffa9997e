"""Pictures of comparisons: differences by topic, intervals, two systems' topics, ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from cranfield.errors import UsageError
from cranfield.plot.base import Subject, picture
from cranfield.plot.style import BAD, COLOURS, GOOD, NEUTRAL, altair, colour_scale, find_theme, spread, styled
from cranfield.statistics.friedman import critical_difference, friedman


@picture("histogram", measures=("Rprec",))
def histogram(subject: Subject) -> Any:
    """The precision histogram: difference of two runs on every topic, sorted or in the order of the topics."""
    alt = altair()

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    difference = results.of(measure, first) - results.of(measure, second)
    counted = [(topic, float(d)) for topic, d in zip(results.topics, difference, strict=True) if not np.isnan(d)]
    if subject.sort:
        counted.sort(key=lambda pair: -pair[1])
    rows = [{"topic": topic, "difference": value, "better": first if value > 0 else second} for topic, value in counted]
    few = len(rows) <= look.width // (look.font + 2)
    axis = alt.Axis(labels=few, ticks=few, labelAngle=0 if few and len(rows) < 25 else -90, labelOverlap=False)
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("topic:N", title="topic", sort=[topic for topic, _ in counted], axis=axis),
            y=alt.Y("difference:Q", title=f"{measure}: {first} − {second}"),
            color=alt.Color(
                "better:N",
                title="better",
                scale=alt.Scale(domain=[first, second], range=[GOOD, BAD]),
                legend=alt.Legend(orient="top", direction="horizontal"),
            ),
            tooltip=["topic:N", alt.Tooltip("difference:Q", format="+.4f")],
        )
        .properties(width=look.width, height=look.height)
    )
    return styled(chart, look)


@picture("forest", measures=("nDCG@10",))
def forest(subject: Subject) -> Any:
    """Differences of pairs with their intervals: thick for one comparison, thin for all of them together."""
    alt = altair()

    look = find_theme(subject.theme)
    comparison = subject.comparison
    rows = [
        pair._asdict()
        | {
            "pair": f"{pair.system} − {pair.other}",
            "verdict": "significant" if pair.significant else "not significant",
            "p": None,
        }
        for pair in comparison.rows()
    ]
    order = [
        row["pair"] for row in sorted(rows, key=lambda row: -row["difference"]) if row["measure"] == rows[0]["measure"]
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("pair:N", title=None, sort=order, axis=alt.Axis(labelLimit=400)),
        color=alt.Color(
            "verdict:N",
            title=None,
            scale=alt.Scale(domain=["significant", "not significant"], range=[GOOD, NEUTRAL]),
            legend=alt.Legend(orient="top"),
        ),
        tooltip=[
            "pair:N",
            "measure:N",
            *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("difference", "low", "high", "adjusted_p")),
        ],
    )
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color="#444", strokeDash=[3, 3]).encode(x="zero:Q")
    title = f"difference, {1 - comparison.alpha:.0%} interval"
    layers = [
        zero,
        base.mark_rule(strokeWidth=1).encode(x=alt.X("together_low:Q", title=title), x2="together_high:Q"),
        base.mark_rule(strokeWidth=look.line * 2).encode(x="low:Q", x2="high:Q"),
        base.mark_point(filled=True, size=look.font * 5, opacity=1).encode(x="difference:Q"),
    ]
    height = max(len(order), 2) * (look.font + 8)
    parts = [
        alt.layer(*layers)
        .transform_filter(alt.datum.measure == str(panel.measure))
        .properties(width=look.width, height=height, title=panel.label)
        for panel in comparison.panels
    ]
    return styled(parts[0] if len(parts) == 1 else alt.vconcat(*parts), look)


@picture("scatter", measures=("nDCG@10",))
def scatter(subject: Subject) -> Any:
    """The topics of two runs: the score of one against that of the other."""
    alt = altair()

    first, second = subject.two_runs()
    look = find_theme(subject.theme)
    results = subject.results
    measure = results.measures[0]
    rows: list[dict[str, Any]] = [
        {"topic": topic, "a": float(a), "b": float(b)}
        for topic, a, b in zip(results.topics, results.of(measure, first), results.of(measure, second), strict=True)
        if not np.isnan(a + b)
    ]
    if not rows:
        raise UsageError("the two runs have no topic in common")
    high = max([1.0 if measure.definition.range == (0.0, 1.0) else 0.0, *(max(row["a"], row["b"]) for row in rows)])
    limits = alt.Scale(domain=[0, high], nice=False)
    points = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, opacity=0.55, size=look.font * 4, color=COLOURS[0])
        .encode(
            x=alt.X("b:Q", title=f"{measure}, {second}", scale=limits),
            y=alt.Y("a:Q", title=f"{measure}, {first}", scale=limits),
            tooltip=[
                "topic:N",
                alt.Tooltip("a:Q", title=first, format=".4f"),
                alt.Tooltip("b:Q", title=second, format=".4f"),
            ],
        )
    )
    diagonal = (
        alt.Chart(alt.Data(values=[{"b": 0, "a": 0}, {"b": high, "a": high}]))
        .mark_line(color=NEUTRAL, strokeDash=[3, 3], strokeWidth=1)
        .encode(x="b:Q", y="a:Q")
    )
    side = min(look.width, int(look.height * 1.1))
    return styled(alt.layer(diagonal, points).properties(width=side, height=side), look)


@picture("critical-difference", measures=("nDCG@10",))
def critical(subject: Subject) -> Any:
    """Mean ranks of the runs over topics; bars join runs that do not differ significantly (Friedman and Nemenyi)."""
    alt = altair()

    look = find_theme(subject.theme)
    results = subject.results
    scores = results.scores[:, 0][:, ~np.isnan(results.scores[:, 0]).any(axis=0)]
    ranks = friedman(scores).ranks
    difference = critical_difference(*scores.shape)
    order = np.argsort(ranks)
    names = [results.runs[i] for i in order]
    sorted_ranks = ranks[order]
    count = len(names)
    rows = [
        {
            "run": name,
            "rank": float(rank),
            "row": place if place < (count + 1) // 2 else count - 1 - place,
            "left": place < (count + 1) // 2,
        }
        for place, (name, rank) in enumerate(zip(names, sorted_ranks, strict=True))
    ]
    together = cliques(sorted_ranks, difference)
    step = look.font + 6
    top = 34 + 7 * len(together)
    low, high = 1.0, float(count)
    span = alt.Scale(domain=[low, high], nice=False)
    axis = alt.X("rank:Q", title=None, scale=span, axis=alt.Axis(orient="top", tickMinStep=1, grid=False))

    def place(row: dict[str, Any]) -> float:
        return float(top + row["row"] * step)

    height = top + ((count + 1) // 2) * step
    fixed = alt.Scale(domain=[0, height], range=[0, height])
    lines: list[dict[str, Any]] = []
    texts: list[dict[str, Any]] = []
    for row in rows:
        end = low if row["left"] else high
        lines += [
            {"run": row["run"], "rank": x, "y": y, "order": i}
            for i, (x, y) in enumerate([(row["rank"], 0.0), (row["rank"], place(row)), (end, place(row))])
        ]
        texts.append(
            {
                "run": row["run"],
                "label": f"{row['run']} {row['rank']:.2f}",
                "rank": end,
                "y": place(row),
                "left": row["left"],
            }
        )
    bars = [
        {
            "rank": float(sorted_ranks[i]) - 0.03 * (high - low) / 10,
            "end": float(sorted_ranks[j]) + 0.03 * (high - low) / 10,
            "y": 24.0 + 7 * k,
        }
        for k, (i, j) in enumerate(together)
    ]
    y = alt.Y("y:Q", axis=None, scale=fixed)
    drawn = (
        alt.Chart(alt.Data(values=lines))
        .mark_line(color="#333", strokeWidth=1)
        .encode(x=axis, y=y, detail="run:N", order="order:Q")
    )
    label = alt.Chart(alt.Data(values=texts)).encode(x="rank:Q", y=y, text="label:N")
    joined = (
        alt.Chart(alt.Data(values=bars))
        .mark_rule(strokeWidth=look.line * 2, color=COLOURS[1])
        .encode(x="rank:Q", x2="end:Q", y=y)
    )
    layers = [
        drawn,
        label.transform_filter(alt.datum.left).mark_text(align="right", dx=-4, fontSize=look.font),
        label.transform_filter(~alt.datum.left).mark_text(align="left", dx=4, fontSize=look.font),
        *([joined] if bars else []),
    ]
    title = f"mean rank by {results.measures[0]}; critical difference {difference:.2f}"
    return styled(alt.layer(*layers).properties(width=look.width, height=height, title=title), look)


def cliques(ranks: Any, difference: float) -> list[tuple[int, int]]:
    """The longest stretches of sorted mean ranks that lie within the critical difference.

    >>> cliques([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for i in range(len(ranks)):
        j = max(k for k in range(i, len(ranks)) if ranks[k] - ranks[i] <= difference)
        if j > i and (not found or j > found[-1][1]):
            found.append((i, j))
    return found


@picture("pareto", measures=("nDCG@10",))
def pareto(subject: Subject) -> Any:
    """Effectiveness against cost, such as latency: the line joins the runs that no other beats on both."""
    alt = altair()

    look = find_theme(subject.theme)
    results, costs = subject.results, subject.costs or {}
    missing = [run for run in results.runs if run not in costs]
    if missing:
        raise UsageError(f"no cost is known of {', '.join(missing)}: give a table of run and cost")
    names = list(results.runs)
    rows: list[dict[str, Any]] = [
        {"run": run, "cost": costs[run], "mean": float(mean)}
        for run, mean in zip(names, results.means[:, 0], strict=True)
    ]
    front = [row for row in rows if not any(_dominates(other, row) for other in rows)]
    front.sort(key=lambda row: row["cost"])
    x = alt.X("cost:Q", title=subject.cost_label, scale=alt.Scale(zero=False, padding=20))
    y = alt.Y("mean:Q", title=str(results.measures[0]), scale=alt.Scale(zero=False, padding=20))
    colour = alt.Color("run:N", scale=colour_scale(names), legend=None)
    points = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour, tooltip=["run:N", "cost:Q", "mean:Q"])
    line = alt.Chart(alt.Data(values=front)).mark_line(color=NEUTRAL, strokeDash=[4, 3], strokeWidth=1).encode(x=x, y=y)
    values = [row["mean"] for row in rows]
    gap = (max(values) - min(values) or 1.0) * look.font * 1.2 / look.height
    places = spread(values, gap, min(values), max(values))
    labels = [row | {"mean": place} for row, place in zip(rows, places, strict=True)]
    text = (
        alt.Chart(alt.Data(values=labels))
        .mark_text(align="left", dx=8, fontSize=look.font)
        .encode(x=x, y=y, text="run:N", color=colour)
    )
    layers = [line, points.mark_point(filled=True, size=look.font * 6, opacity=1), text]
    return styled(alt.layer(*layers).properties(width=look.width, height=look.height), look)


def _dominates(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a run is at least as good at no more cost, and better in one of the two."""
    as_good = one["cost"] <= other["cost"] and one["mean"] >= other["mean"]
    return bool(as_good and (one["cost"] < other["cost"] or one["mean"] > other["mean"]))
