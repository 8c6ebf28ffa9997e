"""The command line: text becomes objects at the edge, one library call, one rendering.

Commands load when they are called for, and heavy libraries inside them: `cranfield --help` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stderr
from functools import wraps
from importlib import import_module
from typing import Any

import click

from cranfield.errors import CranfieldError, DataError, UsageError
from cranfield.version import __version__

COMMANDS = (
    "agreement",
    "check",
    "compare",
    "convert",
    "correlate",
    "demo",
    "describe",
    "diagnose",
    "evaluate",
    "explain",
    "fuse",
    "gate",
    "measures",
    "plan",
    "plot",
    "pool",
    "report",
    "search",
    "split",
    "trec_eval",
)
USAGE, BAD_DATA = 2, 3
QUIET = "No notes, warnings or progress on standard error; errors are told all the same."


class LazyGroup(click.Group):
    """Imports the module of a command when the command is needed."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = import_module(f"cranfield.cli.{name}").command
        assert isinstance(command, click.Command)
        return with_quiet(command)


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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--quiet", is_flag=True, help=QUIET)
@click.version_option(__version__, message="cranfield %(version)s")
def cli(quiet: bool) -> None:
    """How good is a search system? Evaluate rankings against relevance judgements.

    Exit codes: 0 fine, 1 `check` found something doubtful or `gate` says no, 2 wrong usage, 3 bad data, 4 `gate` cannot
    tell; `trec_eval` has its own.

    \b
    Examples:
      $ cranfield evaluate qrels.txt bm25.run -m nDCG@10 -m AP
      $ cranfield measures nDCG
      $ cranfield check qrels.txt bm25.run
    """


def entry() -> None:
    """The `cranfield` program: `main`, then out at once, without taking apart what the system frees anyway."""
    code: object = 0
    try:
        main()
    except SystemExit as exit:
        code = exit.code
    os._exit(code if isinstance(code, int) else 0)


def main() -> None:
    """Runs the command line; errors go to standard error with the exit code of their kind."""
    for stream in (sys.stdout, sys.stderr):  # ids that are not UTF-8 leave as the bytes they came as
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")
    try:
        try:
            cli(prog_name="cranfield")
        finally:
            for stream in filter(None, (sys.stdout, sys.stderr)):  # a stream that was closed is None
                stream.flush()
    except CranfieldError as error:
        told = error.at_prompt if isinstance(error, DataError) else error
        print(f"cranfield: {told}", file=sys.stderr)
        sys.exit(USAGE if isinstance(error, UsageError) else BAD_DATA)
    except BrokenPipeError:  # the reader of our output has gone: nothing more to say, not even at exit
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is not None:  # of files we speak ourselves
            raise
        print(f"cranfield: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(BAD_DATA)
