"""A gate's verdict as text: for a terminal, for a pull request, for test reports, for machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isinf
from typing import TYPE_CHECKING

from cranfield.comparison.comparison_tables import shown_p
from cranfield.errors import percent
from cranfield.formats import stem
from cranfield.render.escaping import markdown_line, visible
from cranfield.render.grid import WRITERS, Grid

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from cranfield.comparison.gate.rules import Answer
    from cranfield.comparison.gate.verdict import Check, Evidence, Verdict
    from cranfield.render.json_form import Json

SCHEMA = "cranfield.gate/2"
_SIGNS: Mapping[Answer, str] = {"pass": "✅", "fail": "❌", "cannot tell": "❔"}


def render(verdict: Verdict, format: str) -> str:
    """A verdict in a format, ending in a newline."""
    return FORMATS[format](verdict)


def checks_grid(verdict: Verdict) -> Grid:
    """What was checked."""
    shown = {"fail": "FAIL"}
    rows = [[shown.get(check.answer, check.answer), check.what, check.detail] for check in verdict.checks]
    return Grid(["", "check", "found"], rows, labels=3)


def measures_grid(verdict: Verdict) -> Grid:
    """Every measure of both runs, with what its test gave if it was tested."""
    evidence = {check.measure: check.evidence for check in verdict.checks if check.evidence is not None}
    header = ["measure", "topics", "baseline", "candidate", "difference", "better/same/worse"]
    header += [f"one-sided {percent(verdict.thresholds.alpha)} interval", "p"]
    rows = []
    for means in verdict.means:
        counts = "–" if means.better is None else f"{means.better}/{means.same}/{means.worse}"
        row = [means.measure.label, f"{means.topics}", f"{means.baseline:.4f}", f"{means.candidate:.4f}"]
        row += [f"{means.candidate - means.baseline:+z.4f}", counts]
        tested = evidence.get(str(means.measure))
        rows.append(row + (["–", "–"] if tested is None else [_interval(tested), shown_p(tested.p)]))
    return Grid(header, rows)


def _interval(tested: Evidence) -> str:
    if not tested.has_interval or tested.low is None:
        return "–"
    return f"at most {tested.high:+z.4f}" if isinf(tested.low) else f"at least {tested.low:+z.4f}"


def _table(verdict: Verdict) -> str:
    import textwrap

    promise = f"\n{textwrap.fill(visible(verdict.promise), 100)}\n" if verdict.promise else ""
    grids = "\n".join(WRITERS["table"](grid) for grid in (checks_grid(verdict), measures_grid(verdict)))
    topic_set = verdict.results.policy.topic_set
    among = "" if topic_set is None else visible(f" On {topic_set}.")
    return f"{visible(verdict.headline)}{among}\n\n{grids}{promise}"


def _markdown(verdict: Verdict) -> str:
    """A summary fit for a pull request: the verdict, the checks, and the measures folded away."""
    checks = checks_grid(verdict)
    signed = [
        [f"{_SIGNS[check.answer]} {row[0]}", *row[1:]] for check, row in zip(verdict.checks, checks.rows, strict=True)
    ]
    promise = f"\n{markdown_line(verdict.promise)}\n" if verdict.promise else ""
    return (
        f"### {_SIGNS[verdict.answer]} Retrieval quality: {markdown_line(_runs(verdict))}\n\n"
        f"{markdown_line(verdict.headline)}\n\n"
        f"{WRITERS['markdown'](checks._replace(rows=signed))}\n"
        f"<details><summary>Measures</summary>\n\n{WRITERS['markdown'](measures_grid(verdict))}{promise}\n</details>\n"
    )


def _runs(verdict: Verdict) -> str:
    """Which runs were compared, by the names of their files, and on which topics if not on all."""
    names = [stem(source.path) if source.path else source.name for source in verdict.results.inputs]
    qrels, baseline, candidate = names[0], *names[-2:]  # between them may be what was known, and lengths
    topic_set = verdict.results.policy.topic_set
    return f"{candidate} against {baseline} on {qrels}{'' if topic_set is None else f', {topic_set}'}"


def _junit(verdict: Verdict) -> str:
    """The report that continuous integration reads: a test case a check.

    A check that fails is a failure, one that cannot tell an error; or skipped, or a failure, as it counts.
    """
    from xml.etree import ElementTree

    kinds = [_junit_kind(verdict, check) for check in verdict.checks]
    totals = {
        "tests": f"{len(kinds)}",
        "failures": f"{kinds.count('failure')}",
        "errors": f"{kinds.count('error')}",
        "skipped": f"{kinds.count('skipped')}",
    }
    suites = ElementTree.Element("testsuites", {"name": "cranfield gate", **totals})
    named = _xml_text(f"cranfield gate: {_runs(verdict)}")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": named, **totals})
    for check, kind in zip(verdict.checks, kinds, strict=True):
        _add_case(suite, check, kind)
    sentences = f"{verdict.headline} {verdict.promise}".strip()
    ElementTree.SubElement(suite, "system-out").text = _xml_text(sentences)
    ElementTree.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(suites, encoding="unicode")}\n'


def _junit_kind(verdict: Verdict, check: Check) -> str | None:
    if check.answer == "cannot tell":
        return {"pass": "skipped", "fail": "failure", "cannot tell": "error"}[verdict.counted(check.answer)]
    return "failure" if check.answer == "fail" else None


def _add_case(suite: Element, check: Check, kind: str | None) -> None:
    from xml.etree.ElementTree import SubElement

    # What is tested has the same name whatever the baseline's mean: its history goes on.
    named = _xml_text(check.what if check.evidence is None else f"{check.measure}: {check.rule}")
    case = SubElement(suite, "testcase", {"classname": "cranfield.gate", "name": named, "time": "0"})
    detail = _xml_text(check.detail)
    if kind is None:
        SubElement(case, "system-out").text = detail
        return
    attributes = {"message": f"{check.answer}: {detail}"} | ({} if kind == "skipped" else {"type": check.rule})
    SubElement(case, kind, attributes).text = None if kind == "skipped" else f"{_xml_text(check.what)}: {detail}"


def _xml_text(text: str) -> str:
    """A text without the characters that XML cannot have, which are shown by their number.

    >>> _xml_text("a\\x07b")
    'a\\\\x07b'
    """
    return "".join(c if c.isprintable() or c in "\t\n" else ascii(c)[1:-1] for c in text)


def _json(verdict: Verdict) -> str:
    import json

    return json.dumps(to_document(verdict), allow_nan=False, indent=1) + "\n"


def to_document(verdict: Verdict) -> dict[str, Json]:
    """A verdict as plain Python that json can write; docs/json.md documents it."""
    from cranfield.evaluation.result_json import provenance, warnings
    from cranfield.render.json_form import finite

    thresholds = verdict.thresholds
    return finite(
        {
            "schema": SCHEMA,
            **provenance(verdict.results),
            "answer": verdict.answer,
            "passed": verdict.passed,
            "alpha": thresholds.alpha,
            "cannot_tell": thresholds.cannot_tell,
            "test": verdict.test,
            "resamples": verdict.sampling.resamples,
            "seed": verdict.sampling.seed,
            "promise": verdict.promise,
            "checks": [
                {
                    "measure": check.measure,
                    "rule": check.rule,
                    "what": check.what,
                    "answer": check.answer,
                    "detail": check.detail,
                    "evidence": None if check.evidence is None else check.evidence._asdict(),
                }
                for check in verdict.checks
            ],
            "measures": [
                means._asdict() | {"measure": str(means.measure), "direction": means.measure.better}
                for means in verdict.means
            ],
            "warnings": warnings(verdict),
        }
    )


FORMATS: Mapping[str, Callable[[Verdict], str]] = {
    "table": _table,
    "markdown": _markdown,
    "junit": _junit,
    "json": _json,
}
