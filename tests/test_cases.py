"""Whole evaluations as files: judgements and a run in, the exact output or the error out.

A case in `cases/` has the sections `# qrels` and `# run` (several make several runs), and `# expect` (standard output,
exactly), `# warn` or `# error` (lines that standard error must contain), `# args` and `# exit`. Lines before the first
section say what the case shows.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from cranfield.cli import main

CASES = Path(__file__).parent / "cases"
SECTION = re.compile(r"^# (args|qrels|run|expect|warn|error|exit)$", re.MULTILINE)


class Outcome(NamedTuple):
    """What a command left behind."""

    stdout: str
    stderr: str
    exit: int


def cranfield(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Runs the command line in this process, with streams as strict about their encoding as a terminal's."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=e) for e in ("strict", "backslashreplace"))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["cranfield", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", given),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        try:
            main()
        except SystemExit as exit:
            code = exit.code or 0
    assert isinstance(code, int)
    return Outcome(_text(out), _text(err), code)


def cranfield_process(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """The same in a process of its own, as a shell would run it."""
    source = str(Path(__file__).parent.parent / "src")
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "cranfield", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, env=os.environ | {"PYTHONPATH": path})
    return Outcome(done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(), done.returncode)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")


class Case(NamedTuple):
    """A case file, taken apart."""

    arguments: tuple[str, ...]
    qrels: str
    runs: Sequence[str]
    expect: str | None
    messages: tuple[str, ...]
    exit: int

    @classmethod
    def read(cls, path: Path) -> Case:
        parts = SECTION.split(path.read_text())
        sections = list(zip(parts[1::2], (body.removeprefix("\n") for body in parts[2::2]), strict=True))
        first = dict(reversed(sections))
        said = first.get("error", "") + first.get("warn", "")
        return cls(
            tuple(first.get("args", "").split()),
            first["qrels"],
            [body for name, body in sections if name == "run"],
            first.get("expect"),
            tuple(line for line in said.splitlines() if line),
            int(first.get("exit", "0")),
        )

    def command(self, folder: Path) -> list[str | Path]:
        """Writes the inputs into a folder and gives the arguments that evaluate them."""
        (folder / "qrels").write_text(self.qrels)
        names = ["run"] if len(self.runs) == 1 else [f"run{i}" for i in range(1, len(self.runs) + 1)]
        for name, text in zip(names, self.runs, strict=True):
            (folder / name).write_text(text)
        return ["evaluate", folder / "qrels", *(folder / name for name in names), *self.arguments]

    def check(self, outcome: Outcome) -> None:
        assert outcome.exit == self.exit, outcome.stderr
        if self.expect is not None:
            assert outcome.stdout == self.expect
        elif self.exit:
            assert outcome.stdout == ""
        lines = outcome.stderr.splitlines()
        for message in self.messages:
            assert any(message in line for line in lines), f"{message!r} is not in\n{outcome.stderr}"
        if not self.messages:
            assert outcome.stderr == ""


FILES = sorted(CASES.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(path: Path, tmp_path: Path) -> None:
    case = Case.read(path)
    case.check(cranfield(*case.command(tmp_path)))


@pytest.mark.parametrize(
    "name", ["ties-by-docid", "missing-topic", "topic-rows-csv", "error-duplicate", "error-measure"]
)
def test_case_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    case = Case.read(CASES / f"{name}.txt")
    case.check(cranfield_process(*case.command(tmp_path)))


def test_every_case_expects_something() -> None:
    """A misspelt section name would otherwise make a case that checks nothing."""
    assert len(FILES) >= 25
    for path in FILES:
        case = Case.read(path)
        assert case.qrels, path
        assert case.runs, path
        assert case.expect is not None or (case.exit and case.messages), path
