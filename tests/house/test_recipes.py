"""The recipes for tracks: every command on the page is run on the miniatures in examples/recipes.

What is shown under a command is what it says on standard error and then on standard output; `make record` writes it
anew.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from commands import command_line
from cranfield.measures.notation import parse_measure
from places import EXAMPLES, ROOT

PAGE = ROOT / "docs" / "recipes.md"
FILES = EXAMPLES / "recipes"
SESSION = re.compile(r"```console\n(.*?)```", re.DOTALL)
TRACKS = (
    "Filtering",
    "Cross-language",
    "Spoken documents",
    "Expert finding",
    "Microblogs",
    "Summaries",
    "Sentiment and opinions",
    "Known items",
    "Question answering",
    "The web",
)


def commands(session: str) -> list[str]:
    return [line.removeprefix("$ ") for line in session.splitlines() if line.startswith("$ ")]


def shown(session: str, folder: Path) -> str:
    """A session as it is when its commands are run again."""
    return "".join(f"$ {command}\n{outcome(command, folder)}" for command in commands(session))


def outcome(command: str, folder: Path) -> str:
    if command.startswith("cranfield "):
        done = command_line(*shlex.split(command)[1:], folder=folder)
        return done.stderr + done.stdout
    return subprocess.run(command, shell=True, capture_output=True, text=True, cwd=folder, check=True).stdout


def written(page: str, folder: Path) -> str:
    return SESSION.sub(lambda session: f"```console\n{shown(session[1], folder)}```", page)


def test_every_command_of_the_recipes_says_what_is_shown(tmp_path: Path) -> None:
    folder = shutil.copytree(FILES, tmp_path / "recipes")
    page = PAGE.read_text(encoding="utf-8")
    sessions = SESSION.findall(page)
    assert len(sessions) >= len(TRACKS)
    for session in sessions:
        assert commands(session)
        assert shown(session, folder) == session
        assert "cranfield: Error" not in session
    assert written(page, folder) == page


def test_there_is_a_recipe_for_every_track_with_a_miniature() -> None:
    sections = {part.partition("\n")[0]: part for part in re.split(r"(?m)^## ", PAGE.read_text(encoding="utf-8"))[1:]}
    for track in TRACKS:
        assert "```console\n$ " in sections[track], track
        for question in ("**Asked:**", "**Judgements:**", "**Measures:**", "**Not done here:**"):
            assert question in sections[track], (track, question)


def test_every_miniature_is_used_and_every_file_is_there() -> None:
    used = " ".join(
        command for session in SESSION.findall(PAGE.read_text(encoding="utf-8")) for command in commands(session)
    )
    for path in FILES.iterdir():
        assert re.search(rf"(?<!\S){re.escape(path.name)}(?!\S)", used), path.name


def test_measures_that_are_named_are_known() -> None:
    sessions = SESSION.findall(PAGE.read_text(encoding="utf-8"))
    words = [shlex.split(command) for session in sessions for command in commands(session)]
    names = [line[i + 1] for line in words for i, word in enumerate(line) if word == "-m"]
    assert len(names) > 20
    for name in names:
        assert parse_measure(name)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(FILES, Path(place) / "recipes")
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), copy), encoding="utf-8")
