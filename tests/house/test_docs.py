"""What the documentation shows is what happens."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Outcome, command_line, printed
from cranfield.demo.building import SYSTEMS
from cranfield.formats.format import readable
from cranfield.formats.layout import ACCEPTED
from cranfield.fusion import all_methods, all_normalisations
from cranfield.online import all_metrics
from cranfield.online.log_tables import TABLES
from cranfield.online.trial_files import EXCLUSIONS, LOOKS, TOP
from cranfield.policy import EMPTY_TOPICS, GRADES, JUDGES, TIES, TOPICS, Policy
from cranfield.statistics.significance import all_tests
from cranfield.studies import read_scales
from cranfield.studies.answers import ROLES
from cranfield.studies.assignments import DESIGNS
from cranfield.studies.scales import SCALES
from places import EXAMPLES, ROOT


def blocks(path: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / path).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_python_of_the_first_pages_runs_and_shows_right_values(page: str) -> None:
    (code,) = blocks(page, "python")
    names: dict[str, object] = {}
    exec(code, names)
    shown = [line.split("#", 1) for line in code.splitlines() if "# {" in line]
    assert shown
    for expression, value in shown:
        assert eval(expression, names) == eval(value)


SHELL = re.compile(
    r"[|<>&;*?$~()]"
)  # what a shell makes something of; without it a command needs no process of its own


def in_shell(words: str, folder: Path) -> Outcome:
    line = words.replace("cranfield", f"{shlex.quote(sys.executable)} -m cranfield", 1)
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=folder, check=False)
    return Outcome(done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize(("page", "count"), [("README.md", 5), ("docs/tour.md", 20)])
def test_commands_of_the_first_pages_run_and_print_what_is_shown(page: str, count: int, tmp_path: Path) -> None:
    for path in (EXAMPLES).iterdir():
        if path.is_file() and path.suffix != ".py":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    steps = [step for session in blocks(page, "console") for step in re.split(r"(?m)^\$ ", session)[1:]]
    assert len(steps) >= count
    for step in steps:
        command, _, shown = step.partition("\n")
        words = command.split("   #")[0]
        assert words.startswith("cranfield ")
        done = (
            in_shell(words, tmp_path) if SHELL.search(words) else command_line(*shlex.split(words)[1:], folder=tmp_path)
        )
        assert done.exit == (1 if " check " in words else 0), done.stderr
        assert shown in done.stdout


def test_sessions_on_the_page_of_python_run_and_show_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in EXAMPLES.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    sessions = blocks("docs/python.md", "python")
    assert len(sessions) > 10
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for number, session in enumerate(sessions, start=1):
        parsed = parser.get_doctest(session, names, f"session {number}", "docs/python.md", 0)
        assert parsed.examples
        failed, _ = runner.run(parsed, clear_globs=False)
        assert not failed, f"session {number}: what was expected and what came is printed above"
        names = parsed.globs


def test_the_page_of_studies_shows_what_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXAMPLES.iterdir():
        if path.is_file():
            (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    steps = [step for session in blocks("docs/studies.md", "console") for step in re.split(r"(?m)^\$ ", session)[1:]]
    assert len(steps) == 5
    for step in steps:
        command, _, shown = step.partition("\n")
        parts = [re.escape(part) for part in shown.split("…\n")]  # what is left out is marked
        assert re.fullmatch("(?s:.+)".join(parts), printed(*shlex.split(command)[1:])), command
    (session,) = blocks("docs/studies.md", "python")
    parsed = doctest.DocTestParser().get_doctest(session, {}, "studies", "docs/studies.md", 0)
    assert doctest.DocTestRunner().run(parsed).failed == 0
    (scales,) = blocks("docs/studies.md", "toml")
    (tmp_path / "scales.toml").write_text(scales)
    (scale,) = read_scales("scales.toml").values()
    assert (scale.name, scale.top, scale.whole) == ("trust", 100, True)


def test_the_page_of_studies_names_every_scale_column_and_design() -> None:
    text = (ROOT / "docs" / "studies.md").read_text()
    for name in (*SCALES, *DESIGNS):
        assert f"`{name}`" in text, name
    for names in ROLES.values():
        for name in names:
            assert f"`{name}`" in text.replace("_id`", "id`"), name


def test_the_page_of_logs_names_every_column_key_metric_and_check() -> None:
    text = (ROOT / "docs" / "online.md").read_text()
    for columns in TABLES.values():
        for name, column in columns.items():
            assert all(f"`{each}`" in text for each in (name, *column.others)), name
    for name in (*TOP, *LOOKS, *EXCLUSIONS):
        assert f"`{name}`" in text or f"[{name}" in text, name
    for metric in all_metrics():
        assert f"`{metric.name}`" in text or f"`{metric.name}(" in text, metric.name
        listed = text.partition("| metric | better |")[2]
        row = next(line for line in listed.splitlines() if line.startswith("|") and f"`{metric.name}" in line)
        assert f"| {metric.better} |" in row, metric.name
    checks = "".join((ROOT / f"src/cranfield/online/{name}_checks.py").read_text() for name in ("log", "event", "unit"))
    codes = set(re.findall(r"(?:found|LogProblem)\(\s*\"([a-z-]+)\"", checks))
    assert len(codes) > 35
    assert {code for code in codes if f"`{code}`" not in text} == set()


def test_the_page_on_homework_is_a_walk_that_can_be_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in EXAMPLES.glob("pond*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    steps = [step for session in blocks("docs/homework.md", "console") for step in re.split(r"(?m)^\$ ", session)[1:]]
    assert len(steps) == 10
    for step in steps:
        command, _, shown = step.partition("\n")
        line, _, file = command.partition(" > ")
        program, *words = shlex.split(line)
        done = command_line(*words)
        assert (program, done.exit) == ("cranfield", 0), done.stderr
        assert shown in done.stdout
        if file:
            (tmp_path / file).write_text(done.stdout)
    (session,) = blocks("docs/homework.md", "python")
    parsed = doctest.DocTestParser().get_doctest(session, {}, "the session", "docs/homework.md", 0)
    assert not doctest.DocTestRunner().run(parsed).failed


def test_the_page_of_python_names_every_choice_of_a_policy() -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    for field in Policy.__dataclass_fields__:
        assert f"`{field}`" in text, field
    for choices in (TIES, TOPICS, EMPTY_TOPICS, GRADES, JUDGES):
        assert ", ".join(f"`{choice}`" for choice in choices) in text


def test_the_readme_is_a_first_screen() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 120
    assert max(map(len, lines)) <= 150


def test_what_the_first_pages_count_is_as_many() -> None:
    text = "".join((ROOT / page).read_text() for page in ("README.md", "docs/tour.md"))
    assert f"# {len(all_methods())} methods, {len(all_normalisations())} normalisations\n" in text
    words = {9: "Nine", 10: "Ten", 11: "Eleven", 12: "Twelve", 13: "Thirteen"}
    assert f"{words[len(all_tests())]} tests, each with its null hypothesis" in text
    assert text.count(f"runs {('four', 'five', 'six')[len(SYSTEMS) - 4]} systems") == 2


def test_methods_of_fusion_are_documented() -> None:
    text = (ROOT / "docs" / "fusion.md").read_text()
    for name in [method.name for method in all_methods()] + [form.name for form in all_normalisations()]:
        assert f"`{name}`" in text, name


def test_accepted_columns_and_formats_are_documented() -> None:
    text = (ROOT / "docs" / "inputs.md").read_text()
    for role, names in ACCEPTED.items():
        assert f"| {role} | {', '.join(f'`{name}`' for name in names)} |" in text
    for format in readable():
        assert f"`{format.name}`" in text


def test_json_form_documents_the_policy() -> None:
    text = (ROOT / "docs" / "json.md").read_text()
    for field in Policy.__dataclass_fields__:
        assert f"`{field}`" in text


def test_links_between_documents_lead_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_every_layer_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for module in (ROOT / "src" / "cranfield" / "core").glob("*.[ch]pp"):
        if module.stem not in ("module", "bytes", "parallel", "text", "table", "arrow", "objects", "join"):
            assert module.name in text, module.name


def test_the_page_of_measures_is_current() -> None:
    from cranfield.measures.measures_page import page

    assert (ROOT / "docs" / "measures.md").read_text() == page(), "run `make docs`"
