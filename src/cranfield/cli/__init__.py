"""The command line: text becomes objects at the edge, one library call, one rendering.

Commands load when they are called for, and heavy libraries inside them: `cranfield --help` answers at once.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from contextlib import redirect_stderr, suppress
from copy import copy
from functools import wraps
from importlib import import_module
from typing import Any, NoReturn

import click

from cranfield.cli.given import with_single_values
from cranfield.cli.measure_names import with_measures
from cranfield.cli.progress import seconds_told
from cranfield.cli.stopping import Stopped, stop_on_signals
from cranfield.cli.streams import guarded
from cranfield.errors import CranfieldError, DataError, UsageError
from cranfield.render.escaping import visible
from cranfield.version import __version__

# What each command is for, by what people come to do; here, since its module would have to be loaded to be listed.
TASKS = {
    "Start": {
        "demo": "See it all at work, with no data of your own.",
    },
    "Evaluate": {
        "evaluate": "Score runs against relevance judgements.",
        "check": "Report everything odd about judgements and runs.",
        "explain": "Show how a run's score on a topic, or its mean, arises.",
        "try": "Score rankings typed by hand, and show the working.",
        "measures": "List the measures, or explain one of them.",
        "trec_eval": "Print what trec_eval would print, to the character.",
    },
    "Compare": {
        "compare": "Tell which differences between runs are beyond chance.",
        "diagnose": "Show where the difference between two runs comes from.",
        "gate": "Decide whether a candidate may replace the baseline.",
        "correlate": "Tell how far rankings of documents or systems agree.",
    },
    "Show": {
        "plot": "Draw a picture of runs.",
        "report": "Write a report on runs, to share.",
    },
    "Build a collection": {
        "describe": "Tell what a collection holds and what it can measure.",
        "plan": "Tell how many topics would show a difference.",
        "split": "Split topics into those to tune on and those to test on.",
        "pool": "Choose the documents to judge, and tell what came of it.",
        "serve": "Serve projects in which people judge, in a browser.",
        "judge": "Judge the documents of a pool in the terminal.",
        "project create": "Make a project from a collection and runs.",
        "project list": "List the projects of a server.",
        "project show": "Show how a project is doing.",
        "project delete": "Delete a project without judgements.",
        "agreement": "Tell how far assessors agree, and whether it matters.",
    },
    "Make and convert runs": {
        "search": "Search a collection with a baseline; measure its speed.",
        "probe": "Send topics to a running engine: a run, and its speed.",
        "fuse": "Fuse several runs into one.",
        "convert": "Write runs, judgements or texts in another format.",
    },
    "Watch users": {
        "online check": "Report everything odd about a log of searches.",
        "online plan": "Tell how large and how long an A/B test must be.",
        "online trials": "List trials with their looks, layers and changes.",
        "online analyse": "Tell whether an A/B test shows a gain, and what to do.",
        "online import": "Make a log of others one that can be analysed.",
        "online interleave": "Make one list of several rankings, for each user.",
        "online preferences": "Tell whose documents users prefer on interleaved lists.",
        "online audit": "Prove a way to interleave fair, or show where not.",
        "online clicks": "Make judgements of what users click.",
        "online sessions": "Score whole sessions, and tell what they cost users.",
        "online simulate": "Rehearse an experiment: simulated users leave a log.",
        "online rehearse": "Tell how many users an A/B test and interleaving need.",
        "online link": "Tell whether differences offline foretell what users do.",
        "online demo": "See an online experiment at work, with simulated users.",
        "online prove": "Prove by simulation what online statistics claim.",
    },
    "Ask people": {
        "study plan": "Plan who uses which system on which topics.",
        "study score": "Score questionnaires such as SUS and NASA-TLX.",
        "study compare": "Tell which system participants find better.",
        "study correlate": "Tell whether participants feel what measures say.",
    },
}
COMMANDS = tuple(sorted(name for commands in TASKS.values() for name in commands))
FAMILIES = {name.split()[0] for name in COMMANDS if " " in name}  # first words of commands of two
# Of commands that are called as no module can be.
MODULES = {"try": "by_hand"} | {name: name.replace(" ", "_") for name in COMMANDS if " " in name}
OTHERS_SAY = {"--metric": "--measure", "--metrics": "--measure"}  # what neighbours call an option
USAGE, BAD_DATA, NOBODY_READS = 2, 3, 141
QUIET = "No notes, warnings or progress on standard error; errors are still shown."
# Colour is what click calls leaving control characters in what is printed: they belong to ids, see `streams`.
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "color": True}


class LazyGroup(click.Group):
    """Imports the module of a command when the command is needed."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except click.NoSuchOption as error:
            ours, command = OTHERS_SAY.get(error.option_name), error.ctx and error.ctx.command
            if not ours or not command or not any(ours in parameter.opts for parameter in command.params):
                raise
            message = f"No such option {error.option_name!r}; did you mean {ours}?"
            raise click.NoSuchOption(error.option_name, message, ctx=error.ctx) from None
        except BrokenPipeError:  # click would make exit code 1 of it, which is the no of `gate`
            sys.exit(NOBODY_READS)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists commands by task, all in one column and each on its line."""
        widest = max(map(len, COMMANDS))
        for task, commands in TASKS.items():
            with formatter.section(task):
                formatter.write_dl([(name.ljust(widest), purpose) for name, purpose in commands.items()])

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = words[0]
        if name in FAMILIES and not context.resilient_parsing:
            name, words = _of_family(context, words)
        if name not in COMMANDS and not name.startswith("-") and not context.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1)
            context.fail(f"There is no command {name!r}" + (f"; did you mean {near[0]}?" if near else "."))
        return super().resolve_command(context, words)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = import_module(f"cranfield.cli.{MODULES.get(name, name)}").command
        assert isinstance(command, click.Command)
        for parameter in command.params:
            parameter.type = plain_numbers(parameter.type)
            if name != "trec_eval":  # which has names and groups of its own
                with_measures(parameter)
        if name != "trec_eval":  # which takes the last, as trec_eval does, and has a -h of its own
            command = with_help(with_single_values(command))
        return with_quiet(command)

    def get_help_option(self, context: click.Context) -> click.Option:
        return HELP


def _of_family(context: click.Context, words: list[str]) -> tuple[str, list[str]]:
    """The name of a command of two words as one word, and all words with it; with --help, what the family has."""
    family = {name: text for of_task in TASKS.values() for name, text in of_task.items() if name.split()[0] == words[0]}
    if words[1:2] in (["-h"], ["--help"]):
        formatter = context.make_formatter()
        formatter.write_usage(f"cranfield {words[0]}", f"{'|'.join(name.split()[1] for name in family)} …")
        with formatter.section("Commands"):
            formatter.write_dl(list(family.items()))
        click.echo(formatter.getvalue(), nl=False)
        context.exit()
    if len(words) == 1:
        context.fail(f"Which one? There is {', '.join(family)}.")
    name = " ".join(words[:2])
    return name, [name, *words[2:]]


def _show_help(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _show_version(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(f"cranfield {__version__}", color=context.color)
        context.exit()


# Those of click look for translations of their words, and load what that takes.
HELP = click.Option(
    ["wants_help", "-h", "--help"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    help="Show this message and exit.",
    callback=_show_help,
)


def with_help(command: click.Command) -> click.Command:
    """The command with our --help."""

    def get_help_option(context: click.Context) -> click.Option:
        return HELP

    vars(command)["get_help_option"] = get_help_option
    return command


def with_quiet(command: click.Command) -> click.Command:
    """The command with --quiet. Whatever it says on standard error is lost then; errors leave it as exceptions, and the
    program tells them.
    """
    run = command.callback
    if run is None or any(option.name == "quiet" for option in command.params):
        return command

    @wraps(run)
    def quietly(*arguments: Any, quiet: bool, **given: Any) -> Any:
        if not (quiet or click.get_current_context().find_root().params.get("quiet")):
            return run(*arguments, **given)
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):
            return run(*arguments, **given)

    command.callback = quietly
    command.params.append(click.Option(["--quiet"], is_flag=True, help=QUIET))
    return command


def plain_numbers(kind: click.ParamType[Any]) -> click.ParamType[Any]:
    """The same type, but numbers are written as in files: click, as Python, takes 1_0, and nan for any range."""
    takes = (click.types.IntParamType, click.types.FloatParamType)
    if not isinstance(kind, takes) or "convert" in vars(kind):
        return kind
    from cranfield.numerals import decimal, whole

    read = whole if isinstance(kind, click.types.IntParamType) else decimal
    plain = copy(kind)

    def convert(value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        if isinstance(value, str) and read(value) is None:
            what = "whole number" if read is whole else "number"
            remedy = "digits are 0 to 9, with nothing between them"
            if value.endswith("%"):
                remedy = "this option takes no percent"
            kind.fail(f"{value!r} is not a {what}: {remedy}.", parameter, context)
        return kind.convert(value, parameter, context)

    vars(plain)["convert"] = convert
    return plain


@click.group(cls=LazyGroup, context_settings=SETTINGS)
@click.option("--quiet", is_flag=True, help=QUIET)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    help="Show the version and exit.",
    callback=_show_version,
)
@click.pass_context
def cli(context: click.Context, quiet: bool) -> None:
    """How good is a search system? Evaluate rankings against relevance judgements.

    Exit codes: 0 fine, 1 `check` found something doubtful, `probe` misses a document or `gate` says no, 2 wrong usage,
    3 bad data, 4 `gate` cannot tell, 130 interrupted; `trec_eval` has its own.

    \b
    Examples:
      $ cranfield evaluate qrels.txt bm25.run -m nDCG@10 -m AP
      $ cranfield measures nDCG
      $ cranfield check qrels.txt bm25.run
    """
    from cranfield.formats.touched import one_command

    context.with_resource(one_command())


def entry() -> None:
    """The `cranfield` program: `main`, then out at once, without taking apart what the system frees anyway."""
    code: object = 0
    try:
        stop_on_signals()
        main()
    except SystemExit as exit:
        code = exit.code
    except Stopped as stopped:
        code = stopped.exit_code
        with suppress(OSError, AttributeError):  # standard error may be closed
            print("cranfield: interrupted, nothing half written is left", file=sys.stderr, flush=True)
    except KeyboardInterrupt:  # before signals were heeded
        code = 130
    os._exit(code if isinstance(code, int) else 0)


def main() -> None:
    """Runs the command line; errors go to standard error with the exit code of their kind."""
    codecs.register_error("cranfield", _written_anyhow)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="cranfield")
    with guarded():
        _run()


def _run() -> None:
    try:
        try:
            with seconds_told("cranfield"):
                cli(prog_name="cranfield")
        finally:
            for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that was closed is None
                stream.flush()
    except CranfieldError as error:
        told = error.at_prompt if isinstance(error, DataError) else str(error)
        _end(told, USAGE if isinstance(error, UsageError) else BAD_DATA)
    except BrokenPipeError:  # the reader of our output has gone: nothing more to say, not even at exit
        if sys.stderr is not None:
            sys.stderr.close()
        sys.exit(NOBODY_READS)
    except OSError as error:
        what = "standard output cannot be written" if error.filename is None else f"{error.filename}: cannot be used"
        _end(visible(f"{what}: {error.strerror or error}"), BAD_DATA)
    except MemoryError:
        _end("there is not enough memory for this", BAD_DATA)


def _end(told: str, code: int) -> NoReturn:
    """Says why on standard error, if there is one that can be written to, and ends."""
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError):
            print(f"cranfield: {told}", file=sys.stderr, flush=True)
    sys.exit(code)


def _written_anyhow(error: UnicodeError) -> tuple[str | bytes, int]:
    """What cannot be encoded: a byte of an id that was not UTF-8 leaves as it came, anything else as an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    is_byte = 0xDC80 <= ord(character) <= 0xDCFF
    shown = bytes([ord(character) - 0xDC00]) if is_byte else character.encode("ascii", "backslashreplace").decode()
    return shown, error.start + 1
