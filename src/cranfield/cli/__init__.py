"""The command line: text becomes objects at the edge, one library call, one rendering.

Commands load when they are called for, and heavy libraries inside them: `cranfield --help` answers at once.
"""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

import click

from cranfield.errors import CranfieldError, UsageError
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


class LazyGroup(click.Group):
    """Imports the module of a command when the command is needed."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = import_module(f"cranfield.cli.{name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="cranfield %(version)s")
def cli() -> None:
    """How good is a search system? Evaluate rankings against relevance judgements.

    Exit codes: 0 fine, 1 `check` found something doubtful or `gate` says no, 2 wrong usage, 3 bad data; `trec_eval` has
    its own.

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
        print(f"cranfield: {error}", file=sys.stderr)
        sys.exit(USAGE if isinstance(error, UsageError) else BAD_DATA)
    except BrokenPipeError:  # the reader of our output has gone: nothing more to say, not even at exit
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.filename is not None:  # of files we speak ourselves
            raise
        print(f"cranfield: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(BAD_DATA)
