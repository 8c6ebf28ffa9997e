"""What a picture shows once the chart's own steps were taken: the marks of Vega's scene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def marks(chart: Any, kind: str, role: str = "mark") -> list[dict[str, Any]]:
    """The marks of a kind (rect, text, rule, symbol, line) in a chart, or what has another role, such as axis-label."""
    import vl_convert

    scene: Any = vl_convert.vegalite_to_scenegraph(chart.to_dict(validate=False))  # other tests see to its form
    return [item for group in _groups(scene["scenegraph"]) if _is(group, kind, role) for item in group["items"]]


def written(chart: Any, role: str = "mark") -> list[str]:
    """What is written in a chart: names and numbers among its marks, or what has another role."""
    return [str(item["text"]) for item in marks(chart, "text", role)]


def _is(group: dict[str, Any], kind: str, role: str) -> bool:
    return group["marktype"] == kind and group.get("role") == role


def _groups(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield group
    for item in group["items"]:
        for inner in item.get("items", ()) if group["marktype"] == "group" else ():
            yield from _groups(inner)
