"""Two rankings side by side, their documents joined by lines: an SVG drawing that takes its colours from the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cranfield.errors import shorten
from cranfield.render.escaping import Markup

if TYPE_CHECKING:
    from cranfield.explanation.explanation import ExplainedRank, SideBySide

ROW = 24
BETWEEN = 190  # room for the lines
CHARACTER = 7.5  # room for one in a name
LONGEST_NAME = 28


def drawn(
    pair: SideBySide,
    lines: Sequence[ExplainedRank],
    other_lines: Sequence[ExplainedRank],
    title_of: Callable[[str], str],
) -> Markup:
    """The documents shown of both runs; a full dot is one that counts, a ring one that is judged, none is unjudged.

    Who points at a document reads all of its id, and its title where that is known.
    """

    def told(line: ExplainedRank) -> str:
        return ": ".join(filter(None, [line.document, title_of(line.document)]))

    move = {placed.move.document: placed.move for placed in pair.documents}
    place, other_place = ({line.document: _middle(i) for i, line in enumerate(shown)} for shown in (lines, other_lines))
    longest = max([len(pair.run), len(pair.other), *(len(_label(line)) for line in (*lines, *other_lines))])
    left = round(CHARACTER * longest) + 24
    right = left + BETWEEN
    label = f"Documents of {pair.run} and {pair.other}, joined by lines"
    parts = [_text(left - 14, 16, pair.run, "end", bold=True), _text(right + 14, 16, pair.other, "start", bold=True)]
    for line in lines:
        if line.document in other_place:
            parts.append(_joined(line, told(line), (left, place[line.document]), (right, other_place[line.document])))
    for line in lines:
        y, elsewhere = place[line.document], move[line.document].other_rank
        parts.append(_entry(line, told(line), left, y, "end"))
        if line.document not in other_place:
            parts.append(_text(left + 12, y + 4, f"→ {elsewhere}" if elsewhere else "entered", "start", faint=True))
    for line in other_lines:
        y, elsewhere = other_place[line.document], move[line.document].rank
        parts.append(_entry(line, told(line), right, y, "start"))
        if line.document not in place:
            parts.append(_text(right - 12, y + 4, f"{elsewhere} ←" if elsewhere else "left", "end", faint=True))
    box = f"0 0 {left + right} {_middle(max(len(lines), len(other_lines)))}"
    drawing = Markup.fixed("\n").join(parts)
    return Markup.element("svg", drawing, viewBox=box, width=left + right, role="img", aria_label=label)


def _middle(place: int) -> int:
    return ROW * (place + 1) + 12


def _label(line: ExplainedRank) -> str:
    grade = "–" if line.grade is None else f"{line.grade:g}"
    return f"{line.rank}. {shorten(line.document, LONGEST_NAME)} ({grade})"


def _joined(line: ExplainedRank, told: str, start: tuple[int, int], end: tuple[int, int]) -> Markup:
    middle = (start[0] + end[0]) // 2
    hit: dict[str, str | float] = {"stroke": "var(--hit)", "stroke-width": 2}
    counts = hit if line.counts else {"stroke": "currentColor", "stroke-opacity": 0.35}
    curve = f"M{start[0] + 7},{start[1]} C{middle},{start[1]} {middle},{end[1]} {end[0] - 7},{end[1]}"
    return Markup.element("path", Markup.element("title", told), d=curve, fill="none", **counts)


def _entry(line: ExplainedRank, told: str, x: int, y: int, anchor: str) -> Markup:
    """Rank, document and grade, with a dot where lines end."""
    dot = Markup()
    if line.grade is not None:
        fill, edge = ("var(--hit)", "var(--hit)") if line.counts else ("none", "currentColor")
        dot = Markup.element("circle", cx=x, cy=y, r=4.5, fill=fill, stroke=edge)
    name = _text(x + (-14 if anchor == "end" else 14), y + 4, _label(line), anchor, bold=line.counts)
    return Markup.element("g", Markup.element("title", told), dot, name)


def _text(x: int, y: int, words: str, anchor: str, *, bold: bool = False, faint: bool = False) -> Markup:
    look = {"font-weight": 600 if bold else None, "opacity": 0.6 if faint else None}
    return Markup.element("text", words, x=x, y=y, text_anchor=anchor, **look)
