"""Whole command lines as files: what is typed and the files it needs, then all that the command prints and writes.

A case is a file `cases/COMMAND/NAME.txt`. Its first lines say what it shows; the rest are sections:

    # file NAME      an input file, whole
    # command        one line, `$ cranfield …`, run in the folder with the files; `< NAME` is its standard input
    # stdout         what it prints, to the letter; without this section, nothing
    # stderr         the same of what it says on standard error
    # exit           its exit code, where that is not 0
    # wrote NAME     a file that it made or changed, whole; any other that it writes is a failure

Several commands run one after the other in the same folder, each with its own expectations behind it. A path that
starts with `examples/` is a copy of a file in the project's folder of that name, one that starts with `data/` of a file
in `cases/data`. A text whose last line has no end has a line `\\ no end of line` after it.

What rightly differs from one machine, moment or release to another stands as a <word> (`VARYING`). Of numbers with
more than 12 digits the test compares 12, since the last ones depend on the processor; the files keep them all. Of texts
longer than `LONGEST` lines the first are kept, of pages a digest and of pictures the words.

`make record` writes down anew what all cases print and write, `make record ONLY='tests/cli/test_cases.py FILE …'` those
in the files. Then read the diff. An empty one shows that nothing changed to the last byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import click
import pytest

from commands import OF_THE_SERVER, command_line, command_process
from cranfield import __version__
from cranfield.cli import COMMANDS, cli
from engine_server import without_engine
from places import EXAMPLES

CASES = Path(__file__).parent / "cases"
LENT = {"examples": EXAMPLES, "data": CASES / "data"}
SECTION = re.compile(r"^# (command|stdout|stderr|exit|file \S+|wrote \S+)$\n?", re.MULTILINE)
NO_END = "\\ no end of line\n"
LONGEST = 600  # lines of a text that are kept; of a longer one the first and a digest of all
SHOWN = 60

# What rightly varies: a pattern, and what stands in its place.
VERSION = re.escape(__version__)
TOOK = r"indexing|(?:documents|queries) a second|index (?:in memory|on disk)|latency \w+|peak memory"
AMOUNT = r"[\d.,]+(?: m?s| [kMG]?B)?"
LATENCY = re.compile(r'"?latency ms(?: by topic)?"?: ?\{?\n(?:[# ]+"?\w+"?: [\d.e-]+,?\n)+')
VARYING = [
    # Versions: of this program, and of what it runs on.
    (re.compile(rf'("version": "|cranfield (?:version )?|cranfield==){VERSION}'), r"\1<version>"),
    (re.compile(r'("[\w-]+==)[\d.]+\w*(?=")'), r"\1<version>"),
    (re.compile(r'("?python"?: ")\d[\d.]*\w*(?=")'), r"\1<version>"),
    (re.compile(r"(vega-lite/v)\d[\d.]*(?=\.json)"), r"\1<version>"),
    # The machine.
    (re.compile(r'("?(?:model|architecture|ram|kernel|distribution)"?: )"[^"\n]*"'), r'\1"<machine>"'),
    (re.compile(r'("?(?:number of cores|cores this process may use)"?: )\d+'), r"\1<machine>"),
    # What searching took, and each step of the demo; in a table as text the columns are as wide as the numbers.
    (re.compile(r"^ +\d+\.\d s  (?=\S)", re.MULTILINE), "  <measured>  "),
    (re.compile(rf"^({TOOK})  +{AMOUNT}", re.MULTILINE), r"\1  <measured>"),
    (re.compile(rf"({TOOK})( \| | & |</th><td[^>]*>){AMOUNT}"), r"\1\2<measured>"),
    (re.compile(r'("?(?:seconds|(?:documents|queries) per second|peak memory bytes)"?: )[\d.e+-]+'), r"\1<measured>"),
    # What judging draws by lot, and how long it took.
    (re.compile(r'("key":)"[0-9a-f]{16}"(.*?"active_ms":)\d+'), r'\1"<drawn>"\2<measured>'),
    (re.compile(r'("undoes":)"[0-9a-f]{16}"'), r'\1"<drawn>"'),
    # Moments.
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[\d.]*(?:Z|[+-]\d\d:\d\d)?"), "<moment>"),
]
LONG_NUMBER = re.compile(r"-?\d+\.\d{11,}(?:e[-+]?\d+)?")


class Step(NamedTuple):
    """A command line and all that came of it."""

    command: str
    stdout: str = ""
    stderr: str = ""
    exit: int = 0
    wrote: Mapping[str, str] = {}

    def sections(self) -> list[tuple[str, str]]:
        said = [(name, text) for name, text in (("stdout", self.stdout), ("stderr", self.stderr)) if text]
        code = [("exit", f"{self.exit}\n")] if self.exit else []
        wrote = [(f"wrote {name}", text) for name, text in self.wrote.items()]
        return [("command", f"$ {self.command}\n"), *said, *code, *wrote]

    def run(self, folder: Path, *, in_process: bool = True) -> Step:
        """The same command line with what comes of it now, in a folder that has its inputs."""
        words = shlex.split(self.command)
        assert words[0] == "cranfield", self.command
        stdin = b""
        if "<" in words:
            stdin = (folder / words[-1]).read_bytes()
            words = words[: words.index("<")]
        before = _files_in(folder)
        # Help and errors of usage are as wide as the terminal.
        with contextlib.chdir(folder), mock.patch.dict(os.environ, {"COLUMNS": "80"}):
            done = (command_line if in_process else command_process)(*words[1:], stdin=stdin)
        after = _files_in(folder)
        changed = {name: data for name, data in after.items() if before.get(name) != data}
        wrote = {name: _described(name, data, folder) for name, data in changed.items()}
        stdout, stderr = (_kept(_settled(text, folder)) for text in (done.stdout, done.stderr))
        return Step(self.command, stdout, stderr, done.exit, wrote)


class Case(NamedTuple):
    """A case file, taken apart."""

    shows: str
    files: Mapping[str, str]
    steps: tuple[Step, ...]

    @classmethod
    def read(cls, path: Path) -> Case:
        shows, *parts = SECTION.split(path.read_bytes().decode("utf-8", "surrogateescape"))
        files: dict[str, str] = {}
        steps: list[Step] = []
        for section, text in zip(parts[::2], map(_without_mark, parts[1::2]), strict=True):
            name, _, file = section.partition(" ")
            if name == "file":
                files[file] = text
            elif name == "command":
                steps.append(Step(text.removeprefix("$ ").rstrip("\n")))
            elif name == "wrote":
                steps[-1] = steps[-1]._replace(wrote={**steps[-1].wrote, file: text})
            elif name == "exit":
                steps[-1] = steps[-1]._replace(exit=int(text))
            elif name == "stdout":
                steps[-1] = steps[-1]._replace(stdout=text)
            else:
                steps[-1] = steps[-1]._replace(stderr=text)
        return cls(shows, files, tuple(steps))

    def write(self, path: Path) -> None:
        given = [(f"file {name}", text) for name, text in self.files.items()]
        sections = [*given, *(section for step in self.steps for section in step.sections())]
        text = self.shows + "".join(f"# {name}\n{_with_mark(text)}" for name, text in sections)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        assert Case.read(path) == self, f"{path}: a text has a line that looks like the head of a section"

    def run(self, folder: Path, *, in_process: bool = True) -> Case:
        """The same case with what comes of its commands now, in an empty folder."""
        for name, source in LENT.items():
            if any(f"{name}/" in text for text in (*(step.command for step in self.steps), *self.files.values())):
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.py", "*.ipynb", "__pycache__"))
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        return self._replace(steps=tuple(step.run(folder, in_process=in_process) for step in self.steps))

    def compared(self) -> list[tuple[str, str]]:
        """Its expectations, with as many digits of numbers as are the same on every processor."""
        return [(name, _shortened(text)) for step in self.steps for name, text in step.sections()]


def _with_mark(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n{NO_END}"


def _without_mark(text: str) -> str:
    return text.removesuffix(f"\n{NO_END}")


def _files_in(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _settled(text: str, folder: Path) -> str:
    """A text without what rightly varies."""
    text = without_engine(text.replace(str(folder.resolve()), "<folder>").replace(str(folder), "<folder>"))
    text = LATENCY.sub(lambda found: re.sub(r": [\d.e-]+(?=,?\n)", ": <measured>", found[0]), text)
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text


def _shortened(text: str) -> str:
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.11e}", text)


def _digest(text: str) -> str:
    return hashlib.sha256(_shortened(text).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _kept(text: str) -> str:
    """A text whole, or the first lines of a long one and the digest of all."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= LONGEST:
        return text
    return "".join(lines[:SHOWN]) + f"… {len(lines) - SHOWN} more lines, all of them: {_digest(text)}\n"


def _words(picture: str) -> list[str]:
    """What is written in a picture: where it stands depends on fonts."""
    return re.findall(r"<text[^>]*>([^<]+)<", picture)


def _described(name: str, data: bytes, folder: Path) -> str:
    """What is kept of a file that was written."""
    kinds = {b"\x89PNG": "a PNG picture", b"%PDF": "a PDF", b"\x1f\x8b": "gzip", b"PAR1": "Parquet", b"BZh": "bzip2"}
    kinds |= {b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "zip"}
    for start, kind in kinds.items():
        if data.startswith(start):
            return f"{kind}\n"
    text = _settled(data.decode("utf-8", "surrogateescape"), folder)
    if name.endswith(".svg"):
        return "an SVG picture, its words:\n" + "".join(f"{word}\n" for word in _words(text))
    if name.endswith(".html"):
        page = re.sub(r"<script>.{500000,}?</script>", "<library>", text, flags=re.DOTALL)  # Vega's, not ours
        page = re.sub(r"<svg.*?</svg>", lambda found: " ".join(_words(found[0])), page, flags=re.DOTALL)
        return f"a page of {len(page.splitlines()):,} lines, {_digest(page)}\n"
    return _kept(text)


FILES = sorted(path for command in COMMANDS for path in (CASES / command).glob("*.txt"))


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_case(path: Path, tmp_path: Path) -> None:
    case = Case.read(path)
    assert case.run(tmp_path).compared() == case.compared(), "if this is meant: make record, and read the diff"


@pytest.mark.parametrize(
    "name", ["ties-by-docid", "missing-topic", "topic-rows-csv", "error-duplicate", "error-measure"]
)
def test_case_in_a_process_of_its_own(name: str, tmp_path: Path) -> None:
    case = Case.read(CASES / "evaluate" / f"{name}.txt")
    assert case.run(tmp_path, in_process=False).compared() == case.compared()


def test_a_case_says_what_it_shows_and_is_in_the_folder_of_its_command() -> None:
    for path in FILES:
        case = Case.read(path)
        assert case.shows.endswith((".\n", "?\n")), path
        name = path.parent.name
        lines = [step.command.removeprefix("cranfield --quiet ").removeprefix("cranfield ") for step in case.steps]
        assert any(line == name or line.startswith(f"{name} ") for line in lines), path
        assert all(step.sections()[1:] for step in case.steps), f"{path}: a command that says nothing shows nothing"


WITH_CASES = sorted(set(COMMANDS) - OF_THE_SERVER)


def test_every_folder_is_that_of_a_command() -> None:
    assert {path.name for path in CASES.iterdir()} == {*WITH_CASES, "data"}


@pytest.mark.parametrize("command", WITH_CASES)
def test_every_command_has_cases_of_what_it_refuses_and_of_each_format(command: str) -> None:
    steps = [step for path in FILES if path.parent.name == command for step in Case.read(path).steps]
    assert sum(1 for step in steps if step.exit and step.stderr and not step.stdout) >= 2
    known = cli.get_command(click.Context(cli), command)
    assert known
    choices = [option.type.choices for option in known.params if isinstance(option.type, click.Choice)]
    offered = {name for names in choices if "table" in names for name in names}
    assert offered - {"table"} == {name for step in steps for name in re.findall(r" -f (\w+)", step.command)}


def record(paths: list[Path]) -> None:
    """Writes down what the commands of cases print and write now."""
    warnings.simplefilter("error")  # as in the tests
    for path in paths:
        with tempfile.TemporaryDirectory() as folder:
            Case.read(path).run(Path(folder)).write(path)


if __name__ == "__main__":
    record([Path(name).resolve() for name in sys.argv[1:]] or FILES)
