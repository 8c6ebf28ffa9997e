"""How scores arise, for as many systems and measures as the page can carry; for the others, the command to ask with."""

from __future__ import annotations

import shlex
from dataclasses import fields
from os import PathLike, fspath
from typing import NamedTuple

from cranfield.errors import UsageError
from cranfield.explanation.accounts import explain
from cranfield.explanation.explanation import Account
from cranfield.explanation.explanation_tables import account_grid, board, sentences
from cranfield.measures import Measure
from cranfield.policy import Policy
from cranfield.quotation.text_sources import TextSource
from cranfield.render.escaping import script_data, utf8, visible_lines
from cranfield.render.json_form import Json
from cranfield.report.contents import Report
from cranfield.report.page.payload import shown
from cranfield.report.report_tables import listed_topics
from cranfield.tables import Run

MOST_EXPLAINED = 600  # a score takes some milliseconds to explain
MOST_CARRIED = 300_000  # bytes of the page


class Explained(NamedTuple):
    """The scores of a system by a measure, both by number, with how that of each topic arises."""

    measure: int
    system: int
    topics: list[dict[str, Json]]


def explainable(report: Report) -> bool:
    """Whether scores arise from one ranking: under some policies they are means over many."""
    measure = report.results.measures[0]
    first = report.experiment.tables()[0]
    try:
        explain(report.experiment.alone(first), report.results.topics[0], measure)
    except UsageError:
        return False
    return True


def explanations(report: Report) -> list[Explained]:
    """Every topic explained for the best system by the first measure, then the next best, then other measures.

    Systems and measures are explained for all topics or not at all; those that would make the page too large are not.
    """
    if not explainable(report):
        return []
    topics = listed_topics(report)
    carried: list[Explained] = []
    left = MOST_CARRIED
    wanted = [(m, s.system) for m in report.results.measures for s in report.standings(m)]
    for measure, system in wanted[: MOST_EXPLAINED // len(topics)]:
        number = report.systems.index(system)
        entries = _of_system(report, report.experiment.tables()[number], measure, left)
        if entries is None:
            break
        left -= size(entries)
        carried.append(Explained(report.results.measures.index(measure), number, entries))
    return carried


def _of_system(report: Report, run: Run, measure: Measure, room: int) -> list[dict[str, Json]] | None:
    """Each topic, or None if there is no room for all of them."""
    alone = report.experiment.alone(run)
    entries = []
    for topic in (report.results.topics[t] for t in listed_topics(report)):
        explained = explain(alone, topic, measure)
        entry = _entry(explained.accounts[0])
        room -= size(entry)
        if room < 0:
            return None
        entries.append(entry)
    return entries


def _entry(account: Account) -> dict[str, Json]:
    grid = account_grid(account)
    return {
        "header": shown(grid.header),
        "rows": [shown(cell.text.strip() for cell in row) for row in grid.cells()],
        "board": utf8(visible_lines(board(account))),
        "said": shown(sentences(account)),
    }


def size(data: Json) -> int:
    """The bytes that data take in the page."""
    return len(str(script_data(data)))


def commands(report: Report) -> list[str] | None:
    """For each system the start of the command that explains it, to be followed by topic and measure.

    None where there is no such command: inputs that were no files, a policy that leaves no ranking to go through.
    """
    qrels, *runs = [source.path for source in report.results.inputs]
    if qrels is None or None in runs or not explainable(report):
        return None
    flags = policy_flags(report.results.policy) + text_flags(report)
    return shown(shlex.join(["cranfield", "explain", qrels, str(run), *flags]) for run in runs)


def text_flags(report: Report) -> list[str]:
    """The options that ask for the texts that the report shows, where these are files."""
    source = TextSource() if report.quotations is None else report.quotations.source
    given = [("--collection", source.collection), ("--questions", source.topics)]
    given += [("--documents", documents) for documents in source.documents]
    flags = [part for option, path in given if isinstance(path, str | PathLike) for part in (option, fspath(path))]
    return [*flags, "--ids", source.ids] if flags and source.ids != "given" else flags


def policy_flags(policy: Policy) -> list[str]:
    """The options that ask for a policy, without those that are so by default.

    >>> policy_flags(Policy(ties="file", judged_only=True, depth=50))
    ['--ties', 'file', '--depth', '50', '--judged-only']
    """
    flags: list[str] = []
    for setting in fields(policy):
        value = getattr(policy, setting.name)
        if value != setting.default and setting.name not in _NO_OPTION:
            option = f"--{setting.name.replace('_', '-')}"
            flags += [option] if value is True else [option, str(value)]
    return flags


# An explanation draws nothing, and is of one topic, whatever set that is in.
_NO_OPTION = ("samples", "seed", "topic_set")
