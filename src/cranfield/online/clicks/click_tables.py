"""A fitted click model, the judgements from it, and scores under draws of these: as text, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING

from cranfield.errors import plural, share
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import DELIMITERS, Cell, Field, Grid, number, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.online.clicks.click_judgements import ClickJudgements, DrawnScores
    from cranfield.online.clicks.fitting import ClickFit
    from cranfield.render.json_form import Json

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")
DETAILS = (
    *("query", "document", "relevance", "error", "low", "high", "grade"),
    *("attraction", "satisfaction", "shown", "examined", "clicks"),
)


def shared_name(fit: ClickFit) -> str:
    """What the parameters of a model that all pages share are called."""
    if fit.behaviour.examination is not None:
        return "examination"
    return "satisfaction" if fit.behaviour.by_rank else "onward"


def render_fit(fit: ClickFit, format: str, drawn: DrawnScores | None = None) -> str:
    """How well a model foretells clicks at each rank, and how users go down the page; CSV and TSV have the ranks."""
    if format == "json":
        return as_json("cranfield.online-clicks/1", _document(fit, drawn))
    by_rank = fit.behaviour.by_rank or fit.behaviour.examination is not None
    name = shared_name(fit)
    quality = fit.quality
    header = ["rank", "pages", "conditional", "unconditional", *([name, "error"] if by_rank else [])]
    rows: list[list[Field]] = []
    for rank, pages in enumerate(quality.pages_at.tolist()):
        row: list[Field] = [rank + 1, pages, float(quality.conditional[rank]), float(quality.unconditional[rank])]
        rows.append([*row, *([float(fit.shared[rank]), float(fit.shared_error[rank])] if by_rank else [])])
    if format in DELIMITERS:
        known = [[None if isinstance(value, float) and isnan(value) else value for value in row] for row in rows]
        return separated(header, known, DELIMITERS[format])
    cells = [[str(row[0]), f"{row[1]:,}", *(number(float(x or 0.0)) for x in row[2:])] for row in rows]
    mean = [quality.mean_conditional, quality.mean_unconditional]
    cells.append(["mean", "", *map(number, mean), *(["", ""] if by_rank else [])])
    blocks = titled(_title(fit), Grid(header, cells), _notes(fit))
    return written([*blocks, *(_drawn_blocks(drawn) if drawn else [])], format)


def _title(fit: ClickFit) -> str:
    log, steps = fit.log, fit.behaviour.convergence
    how = "closed form" if not steps.objective else f"{plural(steps.steps, 'step')}"
    if not steps.converged:
        how += ", not converged"
    units = int(log.unit.max()) + 1
    of_units = "" if log.units == "page" else f" of {plural(units, log.units)}"
    return f"{fit.model}, {fit.model.title}: {plural(log.pages, 'page')}{of_units}, {how}"


def _notes(fit: ClickFit) -> list[str]:
    quality, prior = fit.quality, fit.fitting.prior
    whose = f"{plural(quality.pages, 'page')} of {fit.log.units}s held out" if fit.is_held_out else "the pages fitted"
    notes = [
        f"log-likelihood a page, Σ ln P(click or none | clicks above) over its ranks: {quality.log_likelihood:.4f}, on "
        f"{whose}"
    ]
    if quality.impossible:
        others = "" if isnan(quality.possible) else f"; of the others it is {quality.possible:.4f}"
        notes.append(f"{plural(quality.impossible, 'page')} of these cannot be by the model{others}")
    notes.append(
        "conditional, unconditional: perplexity 2^(-mean log2 P) given the clicks above, and given nothing, over the "
        "pages that have the rank; 1 foretells all, 2 is a coin; the mean counts each rank once"
    )
    if fit.behaviour.examination is None and not fit.behaviour.by_rank and fit.model.name == "DBN":
        error = float(fit.shared_error[0])
        told = "" if isnan(error) or "gamma" in dict(fit.model.given) else f", standard error {error:.4f}"
        notes.append(f"chance to go on where not satisfied (gamma): {fit.behaviour.onward:.4f}{told}")
    notes.append(f"every parameter has the prior of {prior.yes:g} times yes and {prior.no:g} times no")
    return notes


def _document(fit: ClickFit, drawn: DrawnScores | None) -> dict[str, Json]:
    quality, steps = fit.quality, fit.behaviour.convergence
    document: dict[str, Json] = {
        "click_model": str(fit.model),
        "pages": fit.log.pages,
        fit.log.units + "s": int(fit.log.unit.max()) + 1,
        "queries": len(fit.log.queries),
        "pairs": len(fit.log.documents),
        "clicks": int(fit.log.clicked.sum()),
        "prior": list(fit.fitting.prior),
        "seed": fit.fitting.seed,
        "steps": steps.steps,
        "converged": steps.converged,
        "objective": steps.objective[-1] if steps.objective else None,
        "held_out": fit.is_held_out,
        "fit": {
            "pages": quality.pages,
            "log_likelihood_per_page": quality.log_likelihood,
            "impossible_pages": quality.impossible,
            "log_likelihood_per_possible_page": quality.possible,
            "conditional_perplexity": quality.conditional.tolist(),
            "unconditional_perplexity": quality.unconditional.tolist(),
            "mean_conditional_perplexity": quality.mean_conditional,
            "mean_unconditional_perplexity": quality.mean_unconditional,
            "pages_at_rank": quality.pages_at.tolist(),
        },
        shared_name(fit): fit.shared.tolist(),
        shared_name(fit) + "_error": fit.shared_error.tolist(),
        "warnings": [{"code": each.code, "source": each.source, "message": each.message} for each in fit.warnings],
    }
    if drawn is not None:
        document["drawn"] = [
            {
                "run": run,
                "measure": str(measure),
                "score": float(drawn.judged[r, m]),
                "low": float(drawn.low[r, m]),
                "high": float(drawn.high[r, m]),
                "shift": float(drawn.shift[r, m]),
            }
            for m, measure in enumerate(drawn.measures)
            for r, run in enumerate(drawn.runs)
        ]
    return document


def details_text(judgements: ClickJudgements, delimiter: str) -> str:
    """Every judgement with its error, its interval and what it rests on, as CSV or TSV."""
    rows: list[Sequence[Field]] = [
        [None if isinstance(value, float) and not isfinite(value) else value for value in row]
        for row in judgements.rows()
    ]
    return separated(DETAILS, rows, delimiter)


def render_drawn(drawn: DrawnScores, format: str) -> str:
    """Scores under the judgements, with the interval of draws of these, and how often a run is ahead of the first."""
    return written(_drawn_blocks(drawn), format)


def _shifts(drawn: DrawnScores, m: int) -> str:
    """By how much draws are off the score of each run."""
    return ", ".join(f"{float(drawn.shift[r, m]):+z.4f} ({run})" for r, run in enumerate(drawn.runs))


def _drawn_blocks(drawn: DrawnScores) -> list[Block]:
    blocks: list[Block] = []
    for m, measure in enumerate(drawn.measures):
        several = len(drawn.runs) > 1
        header = ["run", measure.label, "low", "high", *([f"ahead of {drawn.runs[0]}"] if several else [])]
        rows: list[list[str | Cell]] = []
        for r, run in enumerate(drawn.runs):
            ends = (drawn.judged[r, m], drawn.low[r, m], drawn.high[r, m])
            ahead = ([share(float(drawn.ahead[m, r, 0])) if r else ""]) if several else []
            rows.append([run, *(number(float(x)) for x in ends), *ahead])
        notes = [
            "low and high: 95 % interval of what it scores on average with as many clicks of other users, by the "
            f"spread of {len(drawn.scores):,} draws of the judgements; topics are those at hand",
            "noise in judgements moves scores by itself, which is not in the interval: draws, which have it twice, "
            f"are off by {_shifts(drawn, m)}; with endless clicks scores may be as far off the other way",
        ]
        if several:
            notes.append("ahead: the share of draws in which it is better, ties half")
        blocks += titled(f"{measure} under what clicks say", Grid(header, rows), notes)
    return blocks
