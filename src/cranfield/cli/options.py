"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cranfield.formats import FORMATS

Command = TypeVar("Command", bound=Callable[..., Any])

input_format: Callable[[Command], Command] = click.option(
    "--format",
    "input_format",
    type=click.Choice([format.name for format in FORMATS]),
    help="Format of the inputs, where their content does not tell.",
)
threads: Callable[[Command], Command] = click.option(
    "--threads", type=click.IntRange(1), help="Threads to use; every core by default. Results do not depend on it."
)
