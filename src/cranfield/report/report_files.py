"""A report as a file, in the form that its name ends in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from cranfield.errors import UsageError
from cranfield.formats.output import check_place, save
from cranfield.report import page, page_markdown, page_pdf, page_tex
from cranfield.report.contents import Report

Files = dict[str, bytes]  # what is written, by name: the report itself first, then the pictures beside it


def write(report: Report, path: str) -> list[str]:
    """Writes a report to a file, and beside it the pictures that some forms need; gives the names of all files."""
    target, form = Path(path), check_name(path)
    written = []
    for name, content in WRITERS[form](report, target.stem).items():
        beside = target.with_name(name)
        save(beside, [content])
        written.append(str(beside))
    return written


def check_name(path: str) -> str:
    """The form that a file's name asks for: what is wrong with a name can be said before any work is done.

    >>> check_name("report.HTML")
    'html'
    """
    suffix = Path(path).suffix
    form = suffix.lower().removeprefix(".")
    if form not in WRITERS:
        raise UsageError(f"a report can be {', '.join(WRITERS)}, not '{suffix}': name a file such as report.html")
    check_place(path, "--output")
    return form


def _html(report: Report, stem: str) -> Files:
    return {f"{stem}.html": page.render(report).encode()}


def _pdf(report: Report, stem: str) -> Files:
    return {f"{stem}.pdf": page_pdf.printed(page.render(report).encode())}


WRITERS: Mapping[str, Callable[[Report, str], Files]] = {
    "html": _html,
    "md": page_markdown.files,
    "tex": page_tex.files,
    "pdf": _pdf,
}
