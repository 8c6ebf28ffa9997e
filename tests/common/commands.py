"""The command line, called as a person would call it, and what it leaves behind."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import click

from cranfield.cli import COMMANDS, cli, main
from places import ROOT

# What these do needs a server or its data: tests/web is about them.
OF_THE_SERVER = frozenset({"project create", "project delete", "project list", "project show", "serve"})


class Outcome(NamedTuple):
    """What a command left behind."""

    stdout: str
    stderr: str
    exit: int


def command_line(*arguments: str | Path, stdin: bytes = b"", folder: Path | None = None) -> Outcome:
    """Runs `cranfield …` in this process, with streams as strict about their encoding as a terminal's."""
    words = list(map(str, arguments))
    if words[:1] == ["probe"]:  # the engine of tests stands where people have theirs
        from engine_server import with_engine, without_engine

        words = list(map(with_engine, words))
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=e) for e in ("strict", "backslashreplace"))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    code: object = 0
    with (
        contextlib.chdir(folder or "."),
        mock.patch.object(sys, "argv", ["cranfield", *words]),
        mock.patch.object(sys, "stdin", given),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        try:
            main()
        except SystemExit as exit:
            code = exit.code or 0
    assert isinstance(code, int)
    said, told = _text(out), _text(err)
    if words[:1] == ["probe"]:
        said, told = without_engine(said), without_engine(told)
    return Outcome(said, told, code)


def command_process(
    *arguments: str | Path, stdin: bytes = b"", folder: Path | None = None, **environment: str
) -> Outcome:
    """The same in a process of its own, as a shell would run it."""
    line = [sys.executable, "-m", "cranfield", *map(str, arguments)]
    done = subprocess.run(line, input=stdin, capture_output=True, env=of_a_process(**environment), cwd=folder)
    return Outcome(done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(), done.returncode)


def of_a_process(**more: str) -> dict[str, str]:
    """The environment of a process that can load the package and what tests share."""
    places = (str(ROOT / "src"), str(ROOT / "tests" / "common"), os.environ.get("PYTHONPATH"))
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))} | more


def printed(*arguments: str | Path, stdin: bytes = b"", folder: Path | None = None) -> str:
    """What a command prints that succeeds."""
    done = command_line(*arguments, stdin=stdin, folder=folder)
    assert done.exit == 0, done.stderr
    return done.stdout


def commands() -> dict[str, click.Command]:
    """Every command by its name."""
    context = click.Context(cli)
    known = {name: cli.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in known.items() if command is not None}


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")
