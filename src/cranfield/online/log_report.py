"""What is wrong with a log, problem by problem, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cranfield.errors import plural, share
from cranfield.render.document import Block, Bullet, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Grid, separated
from cranfield.render.json_form import as_json

SCHEMA = "cranfield.online-check/1"
FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


class LogProblem(NamedTuple):
    """One kind of oddity: where it is, how often, of how many rows, the first examples, and what is done about it.

    One that is `doubtful` makes a number wrong or may; the others are worth knowing.
    """

    code: str
    table: str
    source: str
    message: str
    count: int  # type: ignore[assignment]  # how often, rather than the method of tuples
    of: int
    examples: tuple[str, ...] = ()
    done: str = ""
    doubtful: bool = True


class LogSize(NamedTuple):
    """How much of a table there is."""

    table: str
    source: str
    rows: int


@dataclass(frozen=True)
class LogReport:
    """What `check_logs` found. `experiment` and `digest` are of the trial, if there is one."""

    sizes: tuple[LogSize, ...]
    problems: tuple[LogProblem, ...]
    experiment: str | None = None
    digest: str | None = None

    @property
    def doubtful(self) -> int:
        """How many problems make a number doubtful."""
        return sum(problem.doubtful for problem in self.problems)

    def __str__(self) -> str:
        return render_log_report(self, "table")


def render_log_report(report: LogReport, format: str) -> str:
    """In a format, ending in a newline; CSV and TSV have a line a problem."""
    if format == "json":
        return as_json(SCHEMA, report, doubtful=report.doubtful)
    if format in DELIMITERS:
        header = ["code", "table", "source", "doubtful", "count", "of", "examples", "message", "done"]
        rows = [
            [
                p.code,
                p.table,
                p.source,
                "yes" if p.doubtful else "no",
                p.count,
                p.of,
                " ".join(p.examples),
                p.message,
                p.done,
            ]
            for p in report.problems
        ]
        return separated(header, rows, DELIMITERS[format])
    return written(_blocks(report), format)


def _blocks(report: LogReport) -> list[Block]:
    sizes = Grid(["table", "source", "rows"], [[s.table, s.source, f"{s.rows:,}"] for s in report.sizes], labels=2)
    trial = f" of {report.experiment}, digest {report.digest}" if report.digest is not None else ""
    blocks = titled(f"The log{trial}", sizes)
    if not report.problems:
        return [*blocks, Paragraph("nothing odd")]
    ordered = sorted(report.problems, key=lambda problem: not problem.doubtful)
    rows = [
        [
            "doubtful" if p.doubtful else "note",
            p.code,
            p.table,
            f"{p.count:,}",
            f"{p.of:,}",
            share(p.count / p.of, 1) if p.of else "–",
        ]
        for p in ordered
    ]
    blocks += titled("What is odd", Grid(["", "problem", "in", "count", "of", "share"], rows, labels=3))
    blocks += [Bullet(_sentence(problem)) for problem in ordered]
    return [*blocks, Paragraph(_verdict(report))]


def _sentence(problem: LogProblem) -> str:
    first = (
        f" ({', '.join(problem.examples)}{', …' if problem.count > len(problem.examples) else ''})"
        if problem.examples
        else ""
    )
    done = f"; {problem.done}" if problem.done else ""
    return f"{problem.code}: {problem.message}{first}{done}"


def _verdict(report: LogReport) -> str:
    doubtful, found = report.doubtful, plural(len(report.problems), "finding")
    if not doubtful:
        return (
            f"none of {found} makes a number doubtful"
            if len(report.problems) > 1
            else "the finding makes no number doubtful"
        )
    return f"{doubtful} of {found} {'makes' if doubtful == 1 else 'make'} a number doubtful"


def codes_of(problems: Sequence[LogProblem]) -> list[str]:
    """The codes of problems, in their order."""
    return [problem.code for problem in problems]
