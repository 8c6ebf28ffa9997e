"""Pools taken apart and replayed: text that can be pasted, and JSON (`cranfield.pool-analysis/1`, `…-simulation/1`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from cranfield.errors import plural, share
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import BEST, DELIMITERS, WRITERS, Cell, Field, Grid, number, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.pooling.analysis import Contribution, LeftOut, PoolAnalysis
    from cranfield.pooling.missing import Missing
    from cranfield.pooling.simulation import Simulation

FORMATS = ("table", "json", *DELIMITERS, *(name for name in WRITERS if name != "table"))


def render_analysis(analysis: PoolAnalysis, format: str) -> str:
    """A pool taken apart, in a format, ending in a newline; CSV and TSV have a row for each run left out."""
    if format == "json":
        return as_json("cranfield.pool-analysis/1", analysis)
    if format in DELIMITERS:
        header = ["left_out", "kind", "run", "score", "score_without", "loss", "rank", "rank_without", "tau", "tau_ap"]
        kinds = {"run": analysis.left_out, "group": analysis.groups_left_out}
        rows: list[list[Field]] = [
            [
                *(omission.name, kind, run.run, run.score, run.score_without, run.loss, run.rank, run.rank_without),
                *(None if isnan(tau) else tau for tau in (omission.tau, omission.tau_ap)),
            ]
            for kind, left_out in kinds.items()
            for omission in left_out
            for run in omission.runs
        ]
        return separated(header, rows, DELIMITERS[format])
    return written(_analysis_blocks(analysis), format)


def _analysis_blocks(analysis: PoolAnalysis) -> list[Block]:
    depth = "whole lists" if analysis.depth is None else f"the first {analysis.depth:,} ranks"
    title = (
        f"{plural(analysis.judged, 'judged document')}, {analysis.relevant:,} relevant, "
        f"{plural(analysis.topics, 'topic')}; runs count with {depth} ({analysis.measure})"
    )
    notes = [
        "only here: relevant documents that no other run brought; left out: as if the run had not been pooled, so that "
        "nobody had judged these; ↓ marks a rank that falls by it; tau: how far the order of all runs stays the same"
    ]
    if analysis.nobodys:
        come = "comes" if analysis.nobodys == 1 else "come"
        notes.append(f"{plural(analysis.nobodys, 'relevant document')} {come} from no run.")
    blocks = titled(title, _left_out_grid("run", analysis.contributions, analysis.left_out), notes)
    if analysis.groups_left_out:
        grid = _left_out_grid("group", analysis.group_contributions, analysis.groups_left_out)
        blocks += titled("Groups left out", grid)
    rows = [[str(at.depth), *(share(part, 1) for part in at[1:])] for at in analysis.shares]
    blocks += titled("Share of retrieved documents that is judged, over runs", Grid(["depth", *_SHARES], rows))
    if analysis.missing:
        blocks += titled("Relevant documents likely missing", None, _missing_notes(analysis.missing))
    verdict = f"Verdict: {analysis.verdict.word} for systems like these"
    return blocks + titled(verdict, None, analysis.verdict.reasons)


_SHARES = ("least", "mean", "most")


def _left_out_grid(noun: str, contributions: Sequence[Contribution], left_out: Sequence[LeftOut]) -> Grid:
    """What each brought, and a row for each of its runs when it is left out, with an arrow where it falls."""
    header = [noun, "judged", "relevant", "only here", *(["run"] if noun == "group" else [])]
    header += ["score", "score left out", "loss", "rank", "rank left out", "tau", "tau-AP"]
    rows: list[list[str | Cell]] = []
    for brought, omission in zip(contributions, left_out, strict=True):
        for i, run in enumerate(omission.runs):
            first = [brought.name, f"{brought.judged:,}", f"{brought.relevant:,}", f"{brought.only_relevant:,}"]
            row: list[str | Cell] = [*(first if i == 0 else [""] * 4), *([run.run] if noun == "group" else [])]
            row += [f"{run.score:.4f}", f"{run.score_without:.4f}", f"{run.loss:+z.1%}", str(run.rank)]
            row.append(Cell(str(run.rank_without), above="↓" if run.drop > 0 else ""))
            rows.append([*row, *(number(tau, ".3f") if i == 0 else "" for tau in (omission.tau, omission.tau_ap))])
    return Grid(header, rows)


def _missing_notes(missing: Missing) -> list[str]:
    from cranfield.pooling.missing import ASSUMES

    value, low, high, _ = missing.missing
    part = missing.share
    return [
        f"about {value:,.0f} [{low:,.0f}, {high:,.0f}] beyond the {missing.found:,} found, between ranks "
        f"{missing.depth + 1:,} and {missing.reach:,}: {share(part.value)} [{share(part.low)}, {share(part.high)}] "
        "of all",
        f"supposing that {ASSUMES}; new ones fall with depth to the power {missing.exponent:.2f}; 95% intervals from "
        "topics drawn anew",
    ]


def render_simulation(simulation: Simulation, format: str) -> str:
    """Methods replayed, in a format, ending in a newline."""
    if format == "json":
        return as_json("cranfield.pool-simulation/1", simulation)
    if format in DELIMITERS:
        rows = [[None if isinstance(x, float) and isnan(x) else x for x in row] for row in simulation.rows]
        return separated(simulation.rows[0]._fields, rows, DELIMITERS[format])
    best = {
        budget: max(row.relevant for row in simulation.rows if row.budget == budget) for budget in simulation.budgets
    }
    rows_shown: list[list[str | Cell]] = []
    for row in simulation.rows:
        relevant = Cell(f"{row.relevant:,}", best=row.relevant == best[row.budget])
        counts: list[str | Cell] = [row.method, f"{row.budget:,}", f"{row.judged:,}", relevant]
        rows_shown.append([*counts, number(row.recall), number(row.tau, ".3f")])
    grid = Grid(simulation.rows[0]._fields, rows_shown)
    title = (
        f"Replayed on {plural(len(simulation.topics), 'topic')} with "
        f"{plural(simulation.relevant, 'relevant document')}; runs down to rank {simulation.depth:,}, "
        f"seed {simulation.seed}"
    )
    most = f"{BEST} stands before" if format == "table" else "bold is"
    notes = [
        f"{most} the most relevant documents found at a budget; "
        "budget: judgements a topic; recall: share of the relevant documents found; tau: Kendall's tau-b between the "
        f"orderings of the runs by {simulation.measure} under these judgements and under all"
    ]
    if simulation.beyond_runs:
        noun = "asks" if len(simulation.beyond_runs) == 1 else "ask"
        notes.append(
            f"{', '.join(simulation.beyond_runs)} {noun} for any document of the collection, the other methods for "
            "those of the runs: recall is of all documents judged relevant, from wherever they came"
        )
    return written(titled(title, grid, notes) + _effort_blocks(simulation), format)


def _effort_blocks(simulation: Simulation) -> list[Block]:
    """What judging costs with each method, and what comes of some judgements for each relevant document."""
    from cranfield.pooling.simulation import TARGETS, TIMES

    header = ["method", *(f"to {share(target)}" for target in TARGETS), *(f"after {times}R" for times in TIMES)]
    rows: list[list[str | Cell]] = [
        [
            effort.method,
            *("–" if needed is None else f"{needed:,}" for needed in effort.needed),
            *(number(recall) for recall in effort.recall),
        ]
        for effort in simulation.efforts
    ]
    notes = [
        "to 80%: judgements a topic after which half of the topics have this recall, – if fewer have it within "
        f"{plural(simulation.budgets[-1], 'judgement')}; after 2R: mean recall after twice as many judgements as the "
        "topic has relevant documents, or all of these"
    ]
    return titled("What judging costs", Grid(header, rows), notes)
