"""What was given on the line, as it was typed; an option that takes one value takes no second one in silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from cranfield.errors import UsageError

_WORDS = "cranfield.words"  # where a context keeps what was typed
_COLLECTED = {"store": "append", "store_const": "append_const"}  # click overwrites the first value with the second


def with_single_values(command: click.Command) -> click.Command:
    """The command, which refuses two values for an option that takes one: click would take the last."""
    if "make_parser" in vars(command):
        return command
    made = command.make_parser

    def make_parser(context: click.Context) -> Any:
        parser = made(context)
        # click looks for a word among the long names first, and where there is none thinks long of what may be meant.
        parser._long_opt.update(parser._short_opt)
        several = {parameter.name for parameter in command.params if getattr(parameter, "multiple", False)}
        spellings = (*parser._long_opt.values(), *parser._short_opt.values())
        for option in spellings:
            if option.dest not in several:
                option.action = _COLLECTED.get(option.action, option.action)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> tuple[dict[str, Any], list[str], list[click.Parameter]]:
            words = context.meta[_WORDS] = tuple(args)
            values, rest, order = parse(args)
            for parameter in dict.fromkeys(order):
                name = parameter.name or ""
                if isinstance(parameter, click.Option) and name not in several and isinstance(values.get(name), list):
                    values[name] = _single(parameter, values[name], words)
            return values, rest, order

        vars(parser)["parse_args"] = parse_args
        return parser

    vars(command)["make_parser"] = make_parser
    return command


def _single(option: click.Option, values: Sequence[Any], words: Sequence[str]) -> Any:
    """The value of an option, the same however often it was given."""
    first, *others = dict.fromkeys(values)
    if not others:
        return first
    if option.is_flag:
        raise UsageError(f"{option.opts[0]} or {option.secondary_opts[0]}, not both")
    times = "twice" if len(values) == 2 else f"{len(values)} times"
    raise UsageError(f"{spelling(option, words)} was given {times}: {', '.join(map(str, values))}; it takes one")


def spelling(option: click.Parameter, words: Sequence[str]) -> str:
    """An option as it was typed: -f or --output-format."""
    for word in words:
        for name in (*option.opts, *option.secondary_opts):
            joined = f"{name}=" if name.startswith("--") else name  # --depth=3, -fcsv
            if word == name or word.startswith(joined):
                return name
    return option.opts[-1]


def given() -> dict[str, str]:
    """The options that were given on the line, by the name of their parameter, each as it was typed."""
    context = click.get_current_context()
    return {
        option.name or "": spelling(option, context.meta.get(_WORDS, ()))
        for option in context.command.params
        if isinstance(option, click.Option)
        and context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    }


def refuse(*names: str, why: str) -> None:
    """Refuses options that would not count, by the names of their parameters, and says why."""
    for name, option in given().items():
        if name in names:
            raise UsageError(f"{option} {why}")


def refuse_all_but(*names: str, why: str) -> None:
    """Refuses every option but some, and says why; standard error may always be silent."""
    refuse(*(name for name in given() if name not in (*names, "quiet")), why=why)
