"""The ground of a picture. Of an SVG, room for the letters of whoever looks at it: its text is set in the viewer's
fonts, and where these are wider than those that it was measured with, names at the edge would be cut off. On paper, one
of two widths: pictures of other widths would be made to fit, and have letters of other sizes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from math import ceil, cos, floor, radians, sin
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# How wide letters are in DejaVu, sans or serif, whichever is wider, in hundredths of the size of the font: of the
# fonts that systems have for want of another it is the widest.
_WIDTHS = (
    (27, "'"),
    (32, " ,.ijl"),
    (40, "/:;\\|-f()[]!IJt"),
    (50, '"r*_`'),
    (56, "szc?"),
    (61, "vxyako"),
    (64, "$0123456789bdeghnpqu{}"),
    (69, "LYPTFSZ"),
    (75, "XAVBEKR"),
    (84, "CDGOQ#+<=>U^~−"),
    (89, "wHN&"),
    (103, "%m@MW"),
)
WIDEST = {letter: width / 100 for width, letters in _WIDTHS for letter in letters}
OTHERS = 0.7  # letters that have no width above
WIDE = 1.0  # ideographs and the like

NEARLY = 1.12  # of a width, that is made to fit it

Place: TypeAlias = tuple[float, float]
Matrix: TypeAlias = tuple[float, float, float, float, float, float]  # as in SVG's matrix(a, b, c, d, e, f)

_HEAD = re.compile(
    r'width="([\d.]+)" height="([\d.]+)" viewBox="(-?[\d.]+) (-?[\d.]+) ([\d.]+) ([\d.]+)"(><rect )[^f]*(?=fill)'
)
_MOVES = re.compile(r"(translate|rotate)\(([^)]*)\)")


def widest(text: str, font: float) -> float:
    """How many pixels a text takes in the widest of the fonts that are common.

    >>> round(widest("bm25", 10), 1), widest("中", 10)
    (29.5, 10.0)
    """
    return font * sum(WIDEST.get(letter) or _of_other(letter) for letter in text)


def _of_other(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return WIDE if unicodedata.east_asian_width(letter) in "WF" else OTHERS


class Ground(NamedTuple):
    """What a picture is drawn on: how wide and high it is shown, and where it lies in the picture's own pixels."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, head: re.Match[str]) -> Ground:
        """The ground that the head of an SVG tells of."""
        width, height, left, top, wide, high = map(float, head.groups()[:6])
        return cls(width, height, left, top, left + wide, top + high)

    def under(self, svg: str, head: re.Match[str]) -> str:
        """The SVG with this ground."""
        across, down = f"{self.right - self.left:g}", f"{self.bottom - self.top:g}"
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="{self.left:g} {self.top:g} {across} {down}"'
        # A pixel larger on each side: where a width is no whole number of pixels, its edge would show what is behind.
        wider, higher = f"{self.right - self.left + 2:g}", f"{self.bottom - self.top + 2:g}"
        ground = f'{head[7]}x="{self.left - 1:g}" y="{self.top - 1:g}" width="{wider}" height="{higher}" '
        return f"{svg[: head.start()]}{size}{ground}{svg[head.end() :]}"


def widened(svg: str) -> str:
    """The same picture on a ground so large that all of its text is inside in the widest of the fonts that are common.

    >>> text = '<text text-anchor="end" transform="translate(30,10)" font-size="10px">mmmmm</text>'
    >>> ground = 'width="40" height="20" viewBox="0 0 40 20"><rect width="40" height="20" fill="#fff"/>'
    >>> widened(f'<svg xmlns="http://www.w3.org/2000/svg" {ground}{text}</svg>')[40:84]
    'width="62" height="20" viewBox="-22 0 62 20"'
    """
    from xml.etree.ElementTree import fromstring

    head = _HEAD.search(svg)
    if head is None:
        return svg
    own = Ground.of(head)
    corners = [own[2:4], own[4:], *_corners(fromstring(svg), (1.0, 0.0, 0.0, 1.0, 0.0, 0.0))]
    left, top = (float(floor(min(place[axis] for place in corners))) for axis in (0, 1))
    right, bottom = (float(ceil(max(place[axis] for place in corners))) for axis in (0, 1))
    scale = own.width / (own.right - own.left)
    width, height = round((right - left) * scale), round((bottom - top) * scale)
    return Ground(width, height, left, top, right, bottom).under(svg, head)


def of_width(svg: str, widths: Sequence[int]) -> str:
    """The same picture on a ground of the first width that it fits, in the middle; made a little smaller if it nearly
    fits, or to fit the last.

    >>> ground = '<svg width="{0}" height="20" viewBox="0 0 {0} 20"><rect width="{0}" height="20" fill="#fff"/></svg>'
    >>> for width in (90, 105, 150):
    ...     of_width(ground.format(width), [100, 200])[5:50]
    'width="100" height="20" viewBox="-5 0 100 20"'
    'width="100" height="19" viewBox="0 0 105 20">'
    'width="200" height="20" viewBox="-25 0 200 20'
    """
    head = _HEAD.search(svg)
    if head is None or not widths:
        return svg
    own = Ground.of(head)
    wanted = next((room for room in widths if own.width <= room * NEARLY), widths[-1])
    wide = max(own.width, float(wanted))
    left = round((own.width - wide) / 2)
    height = round(own.height * wanted / wide)
    return own._replace(width=wanted, height=height, left=left, right=left + wide).under(svg, head)


def _corners(element: Element, outer: Matrix) -> Iterator[Place]:
    """Where the corners of every text are."""
    matrix = _moved(outer, element.get("transform", ""))
    if element.tag.endswith("}text"):
        yield from (_at(matrix, place) for place in _box(element))
        return
    for child in element:
        yield from _corners(child, matrix)


def _box(text: Element) -> list[Place]:
    """The ends of a text, which may have several lines, from where it stands."""
    font = float(text.get("font-size", "0").removesuffix("px"))
    lines = [text.text or "", *("".join(line.itertext()) for line in text)]
    width = max(widest(line, font) for line in lines)
    start = {"end": -width, "middle": -width / 2}.get(text.get("text-anchor", ""), 0.0)
    return [(start, 0.0), (start + width, 0.0)]


def _moved(outer: Matrix, transform: str) -> Matrix:
    for kind, text in _MOVES.findall(transform):
        numbers = [float(number) for number in re.split(r"[ ,]+", text.strip())]
        a, b, c, d, e, f = outer
        if kind == "translate":
            across, down = numbers[0], numbers[1] if len(numbers) > 1 else 0.0
            outer = (a, b, c, d, a * across + c * down + e, b * across + d * down + f)
        elif kind == "rotate":
            s, k = sin(radians(numbers[0])), cos(radians(numbers[0]))
            outer = (a * k + c * s, b * k + d * s, c * k - a * s, d * k - b * s, e, f)
    return outer


def _at(matrix: Matrix, place: Place) -> Place:
    a, b, c, d, e, f = matrix
    return a * place[0] + c * place[1] + e, b * place[0] + d * place[1] + f
