"""--quiet, on every command: what is said beside the answer is not said, and nothing else changes."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from commands import OF_THE_SERVER
from cranfield.cli import COMMANDS, cli, main
from cranfield.formats.output import save
from engine_server import with_engine
from places import EXAMPLES

# Each command on inputs that it has something to say about; the silent ones have nothing to say beside their answer.
SAYS: dict[str, str] = {
    "agreement": "two-judges.txt",
    "compare": "qrels.txt a.run b.run",
    "convert": "a.run -o - --to msmarco --lossy",
    "correlate": "--qrels qrels.txt -m AP,RR a.run b.run --resamples 10",
    "diagnose": "qrels.txt a.run b.run",
    "evaluate": "qrels.txt a.run",
    "explain": "qrels.txt a.run --topic 1 -m AP(rel=9)",
    "fuse": "a.run b.run --method weighted-sum --train qrels.txt --same-topics",
    "gate": "qrels.txt a.run b.run",
    "judge": "pond.pool --release --events pond-ann.events",
    "plan": "qrels.txt a.run b.run",
    "pool": "--analyse qrels.txt a.run b.run",
    "probe": "http://localhost:9200/pond-duplicates --topics pond-topics.tsv --rate 2000",
    "report": "qrels.txt a.run b.run -m AP -o report.tex",
    "search": "pond.toml --warm-up 0 --repeats 1",
    "online simulate": "qrels.txt a.run dense.run --users 5 -o out",
    "online rehearse": "qrels.txt a.run dense.run --users 50 --resamples 100",
    "online link": "qrels.txt a.run dense.run --resamples 100",
    "online clicks": "clicks.jsonl --resamples 0 -o c.qrels",
    "online import": "yandex yandex.tsv -o searches",
    "split": "qrels.txt --stratify a.run --folds 2",
    "study compare": "study.csv --scale sus",
    "study correlate": "study.csv qrels.txt bm25.run dense.run --scale satisfaction",
    "study plan": "--systems A,B --participants 3",
    "study score": "study.csv --scale sus",
    "try": "101 110/1",
}
SILENT = {
    "online analyse",
    "online check",
    "online plan",
    "online sessions",
    "online trials",
    "online demo",
    "online prove",
    "online audit",
    "online interleave",
    "online preferences",
    "check",
    "demo",
    "describe",
    "measures",
    "plot",
    "trec_eval",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples, and two runs that lack a topic and have ties."""
    made = tmp_path_factory.mktemp("odd")
    for path in EXAMPLES.iterdir():
        if path.is_file():
            (made / path.name).write_bytes(path.read_bytes())
    for name, source in (("a.run", "bm25.run"), ("b.run", "dense.run")):
        lines = (EXAMPLES / source).read_text().splitlines(keepends=True)
        rows = [line.split() for line in lines if line.split()[0] != "6"]
        tied = [[*row[:4], "1.5" if row[3] in ("4", "5") else row[4], row[5]] for row in rows]
        save(made / name, ["".join(" ".join(row) + "\n" for row in tied)])
    save(made / "two-judges.txt", ["1 a d1 1\n1 b d1 1\n1 a d2 0\n1 b d2 0\n2 a d3 1\n"])
    return made


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(cli, list(map(with_engine, words)) if words[0] == "probe" else list(words))


def test_every_command_is_here() -> None:
    assert {*SAYS, *SILENT, *OF_THE_SERVER} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_option(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert [option.name for option in command.params].count("quiet") == 1
    assert "quiet" in command.get_help(click.Context(command))


@pytest.mark.parametrize("name", SAYS)
def test_nothing_is_said_and_nothing_else_changes(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = SAYS[name].split()
    loud = run(folder, monkeypatch, name, *words)
    quiet = run(folder, monkeypatch, name, *words, "--quiet")
    assert loud.exception is None or isinstance(loud.exception, SystemExit), loud.exception
    assert loud.stderr != ""
    assert quiet.stderr == ""
    assert quiet.exit_code == loud.exit_code
    assert quiet.stdout == loud.stdout != ""


def test_the_option_may_stand_before_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = run(folder, monkeypatch, "--quiet", "evaluate", "qrels.txt", "a.run")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert quiet.stdout != ""


@pytest.mark.parametrize(
    "words", ["evaluate none.txt a.run", "evaluate qrels.txt a.run -m nDGC", "trec_eval none.txt a.run"]
)
def test_errors_are_told_all_the_same(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    told = []
    for more in ([], ["--quiet"]):
        monkeypatch.setattr(sys, "argv", ["cranfield", *words.split(), *more])
        with pytest.raises(SystemExit) as left:
            main()
        told.append((left.value.code, capfd.readouterr().err))
    assert told[0] == told[1]
    assert told[0][1].startswith("cranfield: ")


def test_wrong_options_are_told_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(folder, monkeypatch, "--quiet", "evaluate", "--quiet", "--no-such-option")
    assert done.exit_code == 2
    assert "No such option" in done.stderr
