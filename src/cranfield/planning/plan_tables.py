"""Plans as text: one function a format, found by name. A table is for reading, CSV a row a number for machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from cranfield.errors import plural, share
from cranfield.render.document import Block, Title, written
from cranfield.render.grid import Field, Grid, separated
from cranfield.render.json_form import Json
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.planning.plans import MeasurePlan, PairPlan, Plan, PowerAnalysis
    from cranfield.statistics.generalisability import IntervalEstimate

SCHEMA = "cranfield.plan/1"
MOST_PAIRS = 45  # a table with more is not read; those of ten runs are
UNKNOWN = "–"

Row = list[str]
Plans: TypeAlias = "Plan | tuple[PowerAnalysis, ...]"


def render(plans: Plans, format: str) -> str:
    """A plan from data, or plans from numbers, in a format, ending in a newline."""
    return FORMATS[format](plans)


def _blocks(plans: Plans) -> list[Block]:
    if not isinstance(plans, tuple):
        return [
            block
            for measure_plan in plans.measures
            for block in (*_pairs(plans, measure_plan), _reliability_grid(plans, measure_plan))
        ]
    rows = [
        [p.design, _shown(p.effect), _shown(p.difference), _shown(p.sd), f"{p.alpha:g}", f"{p.comparisons}",
         _shown(p.power), f"{p.topics:,}"]
        for p in plans
    ]  # fmt: skip
    return [Grid(["design", "effect", "difference", "sd", "alpha", "comparisons", "power", "topics"], rows)]


def _pairs(plan: Plan, measure_plan: MeasurePlan) -> list[Block]:
    tested = f"alpha {plan.aims.alpha:g}" + (f" / {plan.aims.comparisons}" if plan.aims.comparisons > 1 else "")
    title = (
        f"{measure_plan.measure}: {plural(plan.topics, 'topic')}, {plural(len(plan.runs), 'run')}; "
        f"power {plan.aims.power:g}, {tested}; intervals of {share(plan.aims.confidence)}"
    )
    pairs = list(measure_plan.pairs)
    if len(pairs) > MOST_PAIRS:
        by_sd = sorted(pairs, key=lambda pair: pair.sd)
        pairs = [by_sd[0], by_sd[len(by_sd) // 2], by_sd[-1]]
        title += f"; of {len(by_sd):,} pairs those with the least, the median and the largest sd (CSV has all)"
    header = ["a", "b", "a - b", "sd", "low", "high", f"detectable with {plan.planned:,}"]
    header += [f"topics for {difference:g}" for difference in plan.aims.differences]
    return [Title(title), Grid(header, [_pair_row(pair) for pair in pairs], labels=2)]


def _pair_row(pair: PairPlan) -> Row:
    numbers = (pair.difference, pair.sd, pair.sd_low, pair.sd_high, pair.detectable)
    return [pair.a, pair.b, *map(_shown, numbers), *(UNKNOWN if n is None else f"{n:,}" for n in pair.topics)]


def _reliability_grid(plan: Plan, measure_plan: MeasurePlan) -> Grid:
    header = ["would other topics agree?", f"with {plan.planned:,}", "low", "high"]
    for target in plan.aims.targets:
        header += [f"topics for {target:g}", "low", "high"]
    kinds = (
        ("on differences (Eρ²)", measure_plan.generalisability, measure_plan.topics_for_generalisability),
        ("on scores (Φ)", measure_plan.dependability, measure_plan.topics_for_dependability),
    )
    rows = [
        [name, *map(_shown, interval), *(_counted(number) for estimate in needed for number in estimate)]
        for name, interval, needed in kinds
    ]
    return Grid(header, rows)


def _shown(value: float | None) -> str:
    return UNKNOWN if value is None or value != value else f"{value:.4f}"


def _counted(value: float) -> str:
    return f"{value:,.0f}" if isfinite(value) else "∞" if value == value else UNKNOWN


def _separated(plans: Plans, delimiter: str) -> str:
    """Full precision for machines; what is not known is empty, and inf topics are more than any number."""
    if not isinstance(plans, tuple):
        header = ["measure", "quantity", "a", "b", "at", "value", "low", "high"]
        return separated(header, _quantities(plans), delimiter)
    return separated(list(asdict(plans[0])), [list(asdict(p).values()) for p in plans], delimiter)


def _quantities(plan: Plan) -> Iterator[tuple[Field, ...]]:
    """A row a number: measure, what it is, the pair it is about, what it is for, value and interval."""
    for measure_plan in plan.measures:
        for pair in measure_plan.pairs:
            names = (pair.a, pair.b)
            yield measure_plan.measure, "difference", *names, plan.topics, pair.difference, None, None
            yield measure_plan.measure, "sd", *names, plan.topics, pair.sd, pair.sd_low, pair.sd_high
            yield measure_plan.measure, "detectable difference", *names, plan.planned, pair.detectable, None, None
            for difference, topics in zip(plan.aims.differences, pair.topics, strict=True):
                yield measure_plan.measure, "topics for difference", *names, difference, topics, None, None
        kinds: tuple[tuple[str, IntervalEstimate, tuple[IntervalEstimate, ...]], ...] = (
            ("generalisability", measure_plan.generalisability, measure_plan.topics_for_generalisability),
            ("dependability", measure_plan.dependability, measure_plan.topics_for_dependability),
        )
        for name, interval, needed in kinds:
            yield measure_plan.measure, name, None, None, plan.planned, *map(_known, interval)
            for target, topics_needed in zip(plan.aims.targets, needed, strict=True):
                yield (
                    measure_plan.measure,
                    f"topics for {name}",
                    None,
                    None,
                    target,
                    *(_known(_whole(n)) for n in topics_needed),
                )


def _known(value: float) -> float | None:
    return value if value == value else None


def _whole(value: float) -> float:
    """Numbers of topics are whole, where they are finite."""
    return int(value) if isfinite(value) else value


def _json(plans: Plans) -> str:
    import json

    return json.dumps(to_document(plans), allow_nan=False, indent=1) + "\n"


def to_document(plans: Plans) -> dict[str, Json]:
    """The JSON form, documented in docs/planning.md; a number that is infinite or not known is null."""
    head = {"schema": SCHEMA, "version": __version__}
    if isinstance(plans, tuple):
        return head | {"plans": [asdict(p) for p in plans]}
    return head | {
        "power": plans.aims.power,
        "alpha": plans.aims.alpha,
        "comparisons": plans.aims.comparisons,
        "confidence": plans.aims.confidence,
        "topics": plans.topics,
        "planned_topics": plans.planned,
        "runs": list(plans.runs),
        "measures": [_measure_document(plans, measure_plan) for measure_plan in plans.measures],
        "policy": plans.policy.to_dict(),
        "inputs": [
            {"path": i.path, "digest": i.digest, "rows": i.rows, "topics": i.topics, "name": i.name, "tag": i.tag}
            for i in plans.inputs
        ],
        "warnings": [
            {"code": w.code, "source": w.source, "message": w.message, "doubtful": w.doubtful} for w in plans.warnings
        ],
    }


def _measure_document(plan: Plan, measure_plan: MeasurePlan) -> dict[str, Json]:
    parts = measure_plan.components
    return {
        "measure": measure_plan.measure,
        "pairs": [
            {
                "a": pair.a,
                "b": pair.b,
                "difference": pair.difference,
                "sd": {"value": pair.sd, "low": pair.sd_low, "high": pair.sd_high},
                "detectable": pair.detectable,
                "topics_needed": [
                    {"difference": difference, "topics": topics}
                    for difference, topics in zip(plan.aims.differences, pair.topics, strict=True)
                ],
            }
            for pair in measure_plan.pairs
        ],
        "variance": {
            "systems": parts.systems_variance,
            "topics": parts.topics_variance,
            "residual": parts.residual_variance,
        },
        "generalisability": _estimate_document(
            plan, measure_plan.generalisability, measure_plan.topics_for_generalisability
        ),
        "dependability": _estimate_document(plan, measure_plan.dependability, measure_plan.topics_for_dependability),
    }


def _estimate_document(plan: Plan, interval: IntervalEstimate, needed: tuple[IntervalEstimate, ...]) -> dict[str, Json]:
    def numbers(values: Iterable[float]) -> dict[str, float | None]:
        shown = (value if isfinite(value) else None for value in values)
        return dict(zip(interval._fields, shown, strict=True))

    aims = zip(plan.aims.targets, needed, strict=True)
    topics = [{"target": target, **numbers(map(_whole, estimate))} for target, estimate in aims]
    return {**numbers(interval), "topics_needed": topics}


FORMATS: dict[str, Callable[[Plans], str]] = {
    "table": lambda plans: written(_blocks(plans), "table"),
    "json": _json,
    "csv": lambda plans: _separated(plans, ","),
    "tsv": lambda plans: _separated(plans, "\t"),
    "markdown": lambda plans: written(_blocks(plans), "markdown"),
}
