"""A ledger of comparisons: how often have these judgements been asked already?

Judgements are known by what is in them, their digest, whatever file they are in.
Whoever tries measures, baselines and topic sets until something is significant will find something. A ledger, a file
with a JSON object a line, keeps count, so that a reader can see the comparisons that were not published too.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from cranfield.comparison.comparison import Comparison
from cranfield.errors import DataError, plural
from cranfield.evaluation.findings import Finding
from cranfield.formats.json_text import parse
from cranfield.formats.output import append, so_far

SCHEMA = "cranfield.ledger/2"
FIRST = "cranfield.ledger/1"  # which had one collection alone


class Session(NamedTuple):
    """An entry of a ledger: the judgements it is about, by what is in them, and how often they were asked."""

    digests: frozenset[str | None]
    comparisons: int
    significant: int


def entered(path: str | None, comparison: Comparison | None) -> list[Finding]:
    """Adds a comparison to a ledger, if there are both, and tells of earlier ones on the same judgements."""
    if path is None or comparison is None:
        return []
    topic_set = comparison.policy.to_dict().get("topic_set")
    entry = {
        "schema": SCHEMA,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "judgements": [{"name": qrels.name, "digest": qrels.digest} for qrels in comparison.judgements],
        **({} if topic_set is None else {"topic_set": topic_set}),
        "systems": list(comparison.systems),
        "measures": [panel.label for panel in comparison.panels],
        "test": comparison.rule,
        "correction": str(comparison.correction),
        "comparisons": comparison.comparisons,
        "significant": sum(pair.significant for pair in comparison.rows()),
    }
    text = so_far(path)
    known = {qrels.digest for qrels in comparison.judgements if qrels.digest is not None}
    before = [session for session in _sessions(path, text) if known & session.digests]
    append(path, ("\n" if text and not text.endswith("\n") else "") + json.dumps(entry) + "\n")
    if not before:
        return []
    made = sum(session.comparisons for session in before)
    significant = sum(session.significant for session in before)
    message = (
        f"{plural(made, 'comparison')} {'was' if made == 1 else 'were'} made on these judgements before, in "
        f"{plural(len(before), 'session')}; "
        f"{significant:,} significant. p-values are corrected for this session alone: report the others too"
    )
    return [Finding("asked-before", "ledger", message)]


def _sessions(path: str, text: str) -> list[Session]:
    sessions = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            entry = cast("dict[str, Any]", parse(line, path, number))
            counts = [entry[key] for key in ("comparisons", "significant")]
            if entry["schema"] not in (SCHEMA, FIRST) or not all(type(count) is int for count in counts):
                raise ValueError
            listed = entry["judgements"] if entry["schema"] == SCHEMA else [entry["judgements"]]
            sessions.append(Session(frozenset(judgements["digest"] for judgements in listed), *counts))
        except (ValueError, TypeError, KeyError):
            raise DataError("is not an entry of a ledger", source=path, line=number, text=line) from None
    return sessions
