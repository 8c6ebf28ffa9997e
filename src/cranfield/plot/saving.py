"""A chart as a file: SVG, PNG, PDF, a page of its own, or its specification. Neither browser nor network is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from cranfield.errors import UsageError
from cranfield.formats import output
from cranfield.plot.room import of_width, widened
from cranfield.plot.style import Chart
from cranfield.render.escaping import Markup, drawable, script_data
from cranfield.render.json_form import Json

Specification: TypeAlias = dict[str, Json]  # of a chart, in the language of Vega-Lite

PPI = 180  # pixels of a PNG to the inch, unless the picture says otherwise: sharp on any screen


def _svg(specification: Specification) -> bytes:
    return widened(_drawing(specification)).encode()


def _png(specification: Specification) -> bytes:
    import vl_convert

    ppi = _usermeta(specification, "ppi")
    return bytes(vl_convert.svg_to_png(_drawing(specification), ppi=ppi if isinstance(ppi, int) else PPI))


def _pdf(specification: Specification) -> bytes:
    import vl_convert

    return bytes(vl_convert.svg_to_pdf(_drawing(specification)))


def _drawing(specification: Specification) -> str:
    """The picture as SVG, as wide as the column or the page of its paper."""
    import vl_convert

    svg, widths = str(vl_convert.vegalite_to_svg(specification)), _usermeta(specification, "widths")
    return of_width(svg, [width for width in widths if isinstance(width, int)]) if isinstance(widths, list) else svg


def _usermeta(specification: Specification, name: str) -> Json:
    kept = specification.get("usermeta")
    return kept.get(name) if isinstance(kept, dict) else None


def _html(specification: Specification) -> bytes:
    """A page of its own, with all of Vega in it; it may load nothing, nor make code of text: expressions are read."""
    import vl_convert

    title = specification.get("title")
    kept = specification.get("usermeta")
    page = Markup.fixed(PAGE).filled(
        title=title if isinstance(title, str) and title else "Picture",
        caption=str(kept["caption"]) if isinstance(kept, dict) else "",
        library=Markup.fixed(vl_convert.javascript_bundle(SNIPPET)),
        specification=script_data(specification),
    )
    return str(page).encode()


SNIPPET = "window.vegaEmbed = vegaEmbed;"  # what the page needs of the library

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src data: blob:">
<title>${title}</title>
<script>${library}</script>
</head>
<body>
<figure><div id="picture"></div><figcaption>${caption}</figcaption></figure>
<script type="application/json" id="specification">${specification}</script>
<script>
const specification = JSON.parse(document.getElementById("specification").textContent);
vegaEmbed("#picture", specification, { renderer: "svg", ast: true }).catch(console.error);
</script>
</body>
</html>
"""


def _json(specification: Specification) -> bytes:
    import json

    return (json.dumps(specification, indent=1) + "\n").encode()


WRITERS: Mapping[str, Callable[[Specification], bytes]] = {
    "svg": _svg,
    "png": _png,
    "pdf": _pdf,
    "html": _html,
    "json": _json,
}


def drawn(chart: Chart, form: str) -> bytes:
    """A chart in one of the forms: svg, png, pdf, html, json."""
    _check_form(form)
    return WRITERS[form](drawable(chart.to_dict(validate=False)))  # tests see to it that charts are as they must be


def form_of(path: str) -> str:
    """The form that the name of a file ends in.

    >>> form_of("curves.SVG")
    'svg'
    """
    form = Path(path).suffix.lower().removeprefix(".")
    _check_form(form)
    return form


def _check_form(form: str) -> None:
    if form not in WRITERS:
        raise UsageError(f"a picture can be {', '.join(WRITERS)}, not '{form}': name a file such as picture.svg")


def save(chart: Chart, path: str) -> None:
    """Writes a chart to a file, in the form that its name ends in."""
    output.save(path, [drawn(chart, form_of(path))])
