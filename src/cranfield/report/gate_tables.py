"""A gate's verdict as text: for a terminal, for a pull request, for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cranfield.report.comparison_tables import pairs_grid
from cranfield.report.grid import WRITERS, Grid

if TYPE_CHECKING:
    from cranfield.gating import Verdict


def render(verdict: Verdict, format: str) -> str:
    """A verdict in a format, ending in a newline."""
    return FORMATS[format](verdict)


def checks_grid(verdict: Verdict) -> Grid:
    """What was checked."""
    rows = [["pass" if check.passed else "FAIL", check.what, check.detail] for check in verdict.checks]
    return Grid(["", "check", "found"], rows, labels=3)


def headline(verdict: Verdict) -> str:
    """The verdict in a line."""
    failed = sum(not check.passed for check in verdict.checks)
    return (
        f"The candidate passes all {len(verdict.checks)} checks."
        if not failed
        else f"The candidate fails {failed} of {len(verdict.checks)} checks."
    )


def _table(verdict: Verdict) -> str:
    return f"{headline(verdict)}\n\n{WRITERS['table'](checks_grid(verdict))}"


def _markdown(verdict: Verdict) -> str:
    """A summary fit for a pull request: the verdict, the checks, and the comparison folded away."""
    sign = "✅" if verdict.passed else "❌"
    details = "\n".join(
        f"{panel.label}\n\n{WRITERS['markdown'](pairs_grid(verdict.comparison, panel))}"
        for panel in verdict.comparison.panels
    )
    return (
        f"### {sign} Retrieval quality\n\n{headline(verdict)}\n\n{WRITERS['markdown'](checks_grid(verdict))}\n"
        f"<details><summary>Comparison</summary>\n\n{details}\n</details>\n"
    )


def _json(verdict: Verdict) -> str:
    import json

    checks = [{"what": check.what, "passed": check.passed, "detail": check.detail} for check in verdict.checks]
    document = {"schema": "cranfield.gate/1", "passed": verdict.passed, "checks": checks}
    return json.dumps(document | {"comparison": verdict.comparison.to_dict()}, allow_nan=False, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Verdict], str]] = {"table": _table, "markdown": _markdown, "json": _json}
