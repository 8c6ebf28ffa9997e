"""Measures as they are given on the command line, where a module may be named too: -m mypackage:MyMeasure@10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:  # before click 8.3 it takes no type
    _Text = click.ParamType


class MeasureName(_Text):
    """The name of a measure, or several. A module that stands before one, as in mypackage:MyMeasure@10, is imported.

    This is the only door through which a name makes anything be imported: what is typed here, the user wants to run.
    """

    name = "text"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        text = str(value)
        if ":" not in text:  # measures load when the command is ready for them
            return text
        from cranfield.measures.importing import imported

        return imported(text)


def with_measures(parameter: click.Parameter) -> None:
    """Lets the option -m of a command take measures of one's own."""
    if "--measure" in parameter.opts:
        parameter.type = MeasureName()
