"""Rehearsals and links as text that can be pasted, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING

from cranfield.errors import plural, share
from cranfield.render.document import Block, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Field, Grid, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.online.users.linking import OfflineOnline
    from cranfield.online.users.sensitivity import Rehearsal

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")
ONLINE = ("ctr", "satisfied", "rr_first")


def render_rehearsal(found: Rehearsal, format: str) -> str:
    """The verdict first, then what each design needs; CSV has a line for each."""
    if format == "json":
        return as_json("cranfield.rehearsal/1", found, verdict=found.verdict)
    if format in DELIMITERS:
        from cranfield.online.users.sensitivity import NeededUsers

        rows: list[Sequence[Field]] = [[_known(value) for value in one] for one in found.needed]
        return separated(NeededUsers._fields, rows, DELIMITERS[format])
    header = ["design", "metric", "effect", "users", "from", "to", "impressions", "times", "from", "to"]
    grid = Grid(
        header,
        [
            [
                one.design,
                one.metric,
                f"{one.effect:+z.4f}",
                *(_count(value) for value in (one.users, one.low, one.high, one.impressions)),
                *(_times(value) for value in (one.times, one.times_low, one.times_high)),
            ]
            for one in found.needed
        ],
        labels=2,
    )
    test = f"one test at {found.alpha:g}, power {found.power:g}"
    first, second = found.names
    notes = [
        f"effect: of {second} over {first}, in the metric; of preference, Delta: the share of impressions with clicks "
        f"that {second} wins, ties as halves, - 1/2",
        f"users: in both arms together, or of interleaved lists ({found.method}); {test}",
        "times: how many times as many users as interleaving needs",
        f"from, to: 95% of {found.simulated:,} simulated users drawn anew",
    ]
    return written([Paragraph(found.verdict), *titled("Users that find the difference", grid, notes)], format)


def render_link(found: OfflineOnline, format: str) -> str:
    """The verdict first, then the links and the systems; CSV has a line for each metric."""
    if format == "json":
        return as_json("cranfield.offline-online/1", found, verdict=found.verdict)
    if format in DELIMITERS:
        from cranfield.online.users.linking import MetricLink

        rows: list[Sequence[Field]] = [[_known(value) for value in link] for link in found.links]
        return separated(MetricLink._fields, rows, DELIMITERS[format])
    grid = Grid(
        ["metric", "correlation", "from", "to", "slope", "from", "to", "agreeing", "from", "to"],
        [
            [link.metric, *(_number(value) for value in link[1:7]), *(_share(value) for value in link[7:])]
            for link in found.links
        ],
    )
    topics = plural(found.topics, "topic")
    notes = [
        f"correlation, slope: of differences online with differences in {found.measure}, over {topics} and "
        f"{plural(found.pairs, 'pair')} of systems; no difference is the origin of both",
        "agreeing: of pairs whose means differ in both, the share that differ in the same direction",
        f"preference: Delta of {found.method}, for each pair and topic; from, to: 95% of topics drawn anew",
        f"{found.impressions:,} {found.users} users on every list; their clicks follow the judgements by which "
        f"{found.measure} is computed, so that real users would agree less",
    ]
    systems = Grid(
        ["system", found.measure, *ONLINE],
        [[one.name, f"{one.offline:.4f}", *(f"{value:.4f}" for value in one.online)] for one in found.systems],
    )
    blocks: list[Block] = [Paragraph(found.verdict), *titled("Offline and online", grid, notes)]
    return written([*blocks, *titled("Means over topics", systems)], format)


def _known(value: Field) -> Field:
    return None if isinstance(value, float) and (isnan(value) or isinf(value)) else value


def _count(value: float) -> str:
    return "–" if isnan(value) else "endless" if isinf(value) else f"{-(-value // 1):,.0f}"


def _times(value: float) -> str:
    return "–" if isnan(value) else "endless" if isinf(value) else f"{value:.2f}"


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:+z.3f}"


def _share(value: float) -> str:
    return "–" if isnan(value) else share(value)
