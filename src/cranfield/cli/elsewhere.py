"""Names that are no measures, but something else that a command has: tests, coefficients, methods, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from cranfield.errors import either
from cranfield.registry import squeezed

if TYPE_CHECKING:
    from cranfield.registry import Entry, Function, Registry

# Where the things of each kind are registered, and how a command is given one of them.
KINDS = (
    ("cranfield.statistics.significance", "TESTS", "compare --test"),
    ("cranfield.statistics.corrections", "CORRECTIONS", "compare --correction"),
    ("cranfield.statistics.coefficients", "COEFFICIENTS", "correlate --coefficient"),
    ("cranfield.fusion.method", "METHODS", "fuse --method"),
    ("cranfield.pooling.strategy", "METHODS", "pool --method"),
    ("cranfield.search.models", "MODELS", "search --model"),
)
PICTURES = ("cranfield.plot.subject", "PICTURES", "plot")
FEW = 3  # commands that speak of something; what more of them do is no answer


def elsewhere(name: str, group: click.Group) -> str:
    """Which command has what is called so, to stand after what is said of a measure that there is not; or nothing.

    >>> from cranfield.cli import cli
    >>> elsewhere("spearman", cli), elsewhere("t-test", cli), elsewhere("pooling", cli)
    ('`cranfield correlate --coefficient spearman`', '`cranfield compare --test t`', '`cranfield pool --help`')
    """
    meant = squeezed(name)
    if len(meant) < 2:
        return ""
    commands = [command for command in group.list_commands(click.Context(group)) if meant.startswith(squeezed(command))]
    shown = _registered(meant, _called, KINDS) or [f"{command} --help" for command in commands[:1]]
    shown = shown or _registered(meant, _called, [PICTURES]) or _registered(meant, _titled, [*KINDS, PICTURES])
    shown = shown or [f"{command} --help" for command in _speaking_of(name, group)]
    return either([f"`cranfield {usage}`" for usage in shown]) if shown else ""


def _registered(
    meant: str,
    told: Callable[[Registry[Entry[Function]], str], Entry[Function] | None],
    kinds: Sequence[tuple[str, str, str]],
) -> list[str]:
    """How a command is given what is called or titled so; nothing where no kind has it."""
    for module, kind, usage in kinds:
        entry = told(getattr(import_module(module), kind), meant)
        if entry is not None:
            return [f"{usage} {entry.name}"]
    return []


def _called(kind: Registry[Entry[Function]], meant: str) -> Entry[Function] | None:
    return next((entry for entry in kind.values() if meant in map(squeezed, entry.names)), None)


def _titled(kind: Registry[Entry[Function]], meant: str) -> Entry[Function] | None:
    titled = (entry for entry in kind.values() if meant in squeezed(str(getattr(entry, "title", ""))))
    return next(titled, None) if len(meant) > 3 else None


def _speaking_of(name: str, group: click.Group) -> list[str]:
    """The commands whose help has the word, if they are few."""
    word, context = rf"(?<!\w){re.escape(name.lower())}(?!\w)", click.Context(group)
    speaking = []
    for called in group.list_commands(context):
        command = group.get_command(context, called)
        if command is not None and re.search(word, command.get_help(click.Context(command, context, called)).lower()):
            speaking.append(called)
    return speaking if len(speaking) <= FEW else []
