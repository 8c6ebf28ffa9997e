"""What is written in a picture, and where: the boxes of its texts, and the middles of its points, in pixels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import cos, radians, sin
from xml.etree import ElementTree

LETTER = 0.5  # width of a letter, for each pixel of the font: on the narrow side, so that no touch is imagined
SVG = "{http://www.w3.org/2000/svg}"
MOVES = re.compile(r"(translate|rotate)\(([^)]*)\)")


@dataclass(frozen=True)
class WrittenText:
    """A line of text: its corners, from the left end of its foot on, and whether it stands upright."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    slanted: bool = False

    def covers(self, other: WrittenText) -> bool:
        """Whether two texts lie on each other by more than a pixel."""
        across = min(self.right, other.right) - max(self.left, other.left)
        return across > 1 and min(self.bottom, other.bottom) - max(self.top, other.top) > 1

    def hides(self, x: float, y: float) -> bool:
        """Whether a point lies under the text."""
        return self.left < x < self.right and self.top < y < self.bottom


@dataclass(frozen=True)
class Drawing:
    """The size of a picture, its texts, and the middles of its symbols by the role of the marks."""

    width: float
    height: float
    texts: list[WrittenText]
    points: list[tuple[float, float]]


def read_drawing(svg: str) -> Drawing:
    """The texts and points of an SVG that Vega has drawn."""
    root = ElementTree.fromstring(svg)
    texts: list[WrittenText] = []
    points: list[tuple[float, float]] = []
    _walk(root, 0.0, 0.0, texts, points, symbols=False)
    width, height = (float(root.attrib[name].removesuffix("px")) for name in ("width", "height"))
    return Drawing(width, height, texts, points)


def _walk(
    element: ElementTree.Element,
    x: float,
    y: float,
    texts: list[WrittenText],
    points: list[tuple[float, float]],
    *,
    symbols: bool,
) -> None:
    angle = 0.0
    for kind, numbers in MOVES.findall(element.get("transform", "")):
        values = [float(number) for number in re.split(r"[ ,]+", numbers.strip())]
        if kind == "translate":
            x, y = x + values[0], y + (values[1] if len(values) > 1 else 0.0)
        else:
            angle = values[0]
    if element.tag == f"{SVG}text" and float(element.get("opacity", "1")) > 0:
        texts += _lines(element, x, y, angle)
    if element.tag == f"{SVG}path" and symbols:
        points.append((x, y))
    role = element.get("class", "")
    for child in element:
        _walk(child, x, y, texts, points, symbols=("mark-symbol role-mark" in role) or (symbols and not role))


def _lines(element: ElementTree.Element, x: float, y: float, angle: float) -> list[WrittenText]:
    size = float(element.get("font-size", "11px").removesuffix("px"))
    parts = [child.text or "" for child in element] or [element.text or ""]
    found = []
    for number, text in enumerate(parts):
        width = len(text) * size * LETTER
        before = {"middle": width / 2, "end": width}.get(element.get("text-anchor", "start"), 0.0)
        turn = radians(angle)
        foot = y + number * size * 1.2
        corners = [
            (x + along * cos(turn) - up * sin(turn), foot + along * sin(turn) + up * cos(turn))
            for along in (-before, width - before)
            for up in (-0.72 * size, 0.05 * size)
        ]
        (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*corners, strict=True))
        if text.strip():
            found.append(WrittenText(text, left, top, right, bottom, angle not in (0.0, -90.0, 90.0, 270.0)))
    return found
