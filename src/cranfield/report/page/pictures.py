"""The pictures of the page: for each measure the specification of its chart, and one drawing of each that stands
there until the script draws it, or for ever where no script runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.plot.saving import drawn
from cranfield.plot.style import DARK, caption_of
from cranfield.render.escaping import Markup, drawable
from cranfield.render.json_form import Json, finite
from cranfield.report.figures import Illustration, figures
from cranfield.report.page.columns import ColumnPool, KnownNumbers, PairFigures
from cranfield.report.report_tables import listed_topics

if TYPE_CHECKING:
    from cranfield.plot.style import Chart
    from cranfield.report.contents import Report

LINE = Markup.fixed("\n")


class Pictures:
    """What the page's script draws, and the figures as they stand in the page."""

    def __init__(self, report: Report) -> None:
        listed = listed_topics(report)
        names = drawable({"systems": list(report.systems), "topics": [report.results.topics[t] for t in listed]})
        scores = report.results.scores[:, :, listed]
        known = KnownNumbers(_texts(names["systems"]), _texts(names["topics"]), scores, _pair_figures(report))
        self._columns = ColumnPool(known)
        self._specs: list[Json] = []
        self._tables: list[Json] = []
        self._configs: list[Json] = []
        self._pictures: list[Json] = []
        self._figures: list[Markup] = []
        import altair.utils.schemapi as schemapi

        of_measures = [{f.name: f for f in figures(report, measure=m)} for m in report.results.measures]
        # That our own charts are in the form of charts is tested; to check it again takes most of the time.
        with schemapi.debug_mode(False):
            for name in dict.fromkeys(name for of_measure in of_measures for name in of_measure):
                self._add([of_measure.get(name) for of_measure in of_measures])

    @property
    def data(self) -> dict[str, Json]:
        """What the script needs to draw them."""
        return {
            "pictures": self._pictures,
            "specs": self._specs,
            "configs": self._configs,
            "tables": self._tables,
            "lists": self._columns.lists,
            "dark": dict(DARK),
        }

    @property
    def markup(self) -> Markup:
        """The figures, as a reader has them without the script."""
        return Markup.of(*self._figures)

    def _add(self, by_measure: Sequence[Illustration | None]) -> None:
        """A picture for every measure that it can be drawn by; what is the same for two is carried once."""
        shown = next(figure for figure in by_measure if figure is not None)
        titles: list[Json] = []
        captions: list[Json] = []
        numbers: list[Json] = []
        for figure in by_measure:
            titles.append((figure or shown).heading or (figure or shown).title)
            if figure is None:
                captions.append("")
                numbers.append(None)
            elif figure is not shown and not figure.of_measure:
                captions.append(captions[-1])
                numbers.append(numbers[-1])
            else:
                chart = figure.chart if figure.draw_all is None else figure.draw_all()
                captions.append(caption_of(chart))
                numbers.append(self._carried(chart))
                if figure is shown:
                    self._figures.append(_figure(figure))
        picture = {"name": shown.name, "titles": titles, "captions": captions, "specs": numbers}
        self._pictures.append(drawable(picture | {"systems": shown.systems}))

    def _carried(self, chart: Chart) -> int:
        """The number under which a specification is carried."""
        spec = drawable(chart.to_dict(validate=False))
        for needless in ("$schema", "usermeta", "background"):
            spec.pop(needless, None)
        fields = dict(_told(spec))
        spec["config"] = _number(self._configs, spec.get("config", {}))
        kept = self._without_rows(spec)
        assert isinstance(kept, dict)
        return _number(self._specs, kept | {"fields": fields})

    def _without_rows(self, part: Json) -> Json:
        """The same with numbers of tables in the place of rows."""
        if isinstance(part, list):
            return [self._without_rows(item) for item in part]
        if not isinstance(part, dict):
            return part
        values = part.get("values")
        if isinstance(values, list) and values and isinstance(values[0], dict):
            table = self._columns.table([finite(row) for row in values])
            return part | {"values": {"table": _number(self._tables, table)}}
        return {name: self._without_rows(item) for name, item in part.items()}


def _number(carried: list[Json], item: Json) -> int:
    """Where something is carried; it is added if it is not."""
    if item in carried:
        return carried.index(item)
    carried.append(item)
    return len(carried) - 1


def _told(part: Json) -> list[tuple[str, str]]:
    """What marks tell, by its name, with the field that it is of."""
    if isinstance(part, list):
        return [entry for item in part for entry in _told(item)]
    if not isinstance(part, dict):
        return []
    told = part.get("tooltip")
    entries = [entry for entry in (told if isinstance(told, list) else []) if isinstance(entry, dict)]
    own = [(str(entry.get("title") or entry["field"]), str(entry["field"])) for entry in entries if "field" in entry]
    return own + [entry for name, item in part.items() if name != "values" for entry in _told(item)]


def _pair_figures(report: Report) -> list[PairFigures]:
    """By measure, what the page says of every two systems."""
    comparison = report.comparison
    if comparison is None:
        return []
    pairs, count = comparison.pairs, len(comparison.systems)
    panels = [comparison.panel(measure) for measure in report.results.measures]
    return [PairFigures.of(pairs, count, panel.effects, panel.adjusted) for panel in panels]


def _texts(names: Json) -> list[str]:
    return [str(name) for name in names] if isinstance(names, list) else []


def _figure(figure: Illustration) -> Markup:
    title = Markup.element("h3", figure.title)
    picture = inline(compact(drawn(figure.chart, "svg").decode()), figure.name, figure.title)
    drawing = Markup.element("div", picture, class_="drawing paper")
    said = Markup.element("figcaption", title, Markup.element("p", figure.caption))
    return Markup.of(Markup.element("figure", said, drawing, data_chart=figure.name), LINE)


def inline(svg: str, name: str, title: str) -> Markup:
    """An SVG that can stand beside others: its ids are its own, and it is one picture to a screen reader.

    Vega counts ids on from picture to picture; counted anew, the same report is the same page.
    """
    for number, own in enumerate(dict.fromkeys(re.findall(r' id="([^"]+)"', svg))):
        svg = svg.replace(f'id="{own}"', f'id="{name}-{number}"').replace(f"url(#{own})", f"url(#{name}-{number})")
    svg = re.sub(r' (aria-[a-z]+|role)="[^"]*"', "", svg)
    named = Markup.fixed('<svg role="img" aria-label="${title}" ').filled(title=title)
    svg = svg.replace("<svg ", str(named), 1)
    return Markup.fixed(svg)  # Vega has escaped the names in it


# A rectangle as Vega writes it: what it looks like stands before and after its outline.
_CELL = re.compile(r'<path ([^>]*?)d="M(-?[\d.]+),(-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+Z"([^>]*?)(?:/>|></path>)')
_MIXED = re.compile(r"rgb\((\d+), ?(\d+), ?(\d+)\)")
MANY = 40  # cells beside each other
STEP = 17  # between shades: sixteen of each of the three colours


def compact(svg: str) -> str:
    """The same picture with one path for all cells of a shade: a mark for each of thousands weighs a megabyte.

    Shades between those of a ramp become the nearest of sixteen.

    >>> cell = '<path d="M0,0h1v2h-1Z" fill="rgb(1, 2, 3)"/>'
    >>> compact("<g>" + cell * 50 + "</g>").count("<path")
    1
    """
    runs: list[list[re.Match[str]]] = []
    for cell in _CELL.finditer(svg):
        if runs and runs[-1][-1].end() == cell.start():
            runs[-1].append(cell)
        else:
            runs.append([cell])
    for run in reversed(runs):
        if len(run) >= MANY and "stroke" not in run[0].group():
            svg = svg[: run[0].start()] + _joined(run) + svg[run[-1].end() :]
    return svg


def _joined(cells: Sequence[re.Match[str]]) -> str:
    """Cells of a shade and a height as strokes of that height: a stroke is half as long to write as an outline."""
    strokes: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        before, x, y, wide, high, after = cell.groups()
        look = re.sub(r' ?aria-[a-z]+="[^"]*"| ?role="[^"]*"', "", _MIXED.sub(_shade, f"{before} {after}")).strip()
        middle = float(y) + float(high) / 2
        strokes.setdefault((look, high), []).append(f"M{float(x):.4g} {middle:.4g}h{float(wide):.3g}")
    return "".join(
        f'<path {look.replace("fill=", "stroke=")} stroke-width="{high}" d="{"".join(parts)}"/>'
        for (look, high), parts in strokes.items()
    )


def _shade(mixed: re.Match[str]) -> str:
    return "#" + "".join(f"{round(int(part) / STEP) * STEP:02x}" for part in mixed.groups())
