"""The online demo: simulated users decide, and all that is printed is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import command_line
from cranfield.demo.online_demo import OnlineDemo, build_online_demo
from cranfield.demo.online_telling import told_online
from cranfield.errors import UsageError
from cranfield.online import check_logs, read_logs, read_trial


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> OnlineDemo:
    return build_online_demo(tmp_path_factory.mktemp("online") / "demo", users=600)


def test_both_designs_find_the_system_that_is_asked_the_whole_question(demo: OnlineDemo) -> None:
    assert demo.preferred.verdict.startswith("Users prefer bm25-long to bm25: ")
    assert demo.analysis.units == 600
    assert demo.rehearsal.verdict.startswith("Both find bm25-long.")


def test_the_logs_are_sound_and_the_report_is_there(demo: OnlineDemo) -> None:
    folder = demo.folder / "ab-test"
    assert check_logs(read_logs(str(folder)), read_trial(str(folder / "experiment.toml"))).problems == ()
    page = demo.page.read_text()
    assert "bm25-long" in page
    assert page.lstrip().lower().startswith("<!doctype html>")


def test_what_is_told_is_there(demo: OnlineDemo) -> None:
    text = told_online(demo)
    assert "A/B test, 600 users: " in text
    for name in re.findall(r"^  (\S+)  +\S", text.partition(":\n  report.html")[1] + text, re.MULTILINE):
        if name.endswith(("/", ".html")):
            assert (demo.folder / name).exists(), name


def test_what_to_try_next_runs(demo: OnlineDemo) -> None:
    lines = re.findall(r"(?:cranfield) (online .*)", told_online(demo).partition("Try next:")[2])
    assert len(lines) == 4
    for line in lines:
        assert command_line(*line.replace("online ", "online\0", 1).replace(" ", "\0").split("\0")).exit == 0, line


def test_another_seed_is_other_users(demo: OnlineDemo, tmp_path: Path) -> None:
    other = build_online_demo(tmp_path / "demo", users=600, seed=1)
    assert other.preferred.clicked != demo.preferred.clicked


def test_the_demo_again_begins_new_ledgers_and_says_so(tmp_path: Path) -> None:
    build_online_demo(tmp_path / "demo", users=100)
    ledger = tmp_path / "demo" / "ab-test" / "experiment.toml.ledger"
    ledger.write_text("a look\n")
    told: list[str] = []
    build_online_demo(tmp_path / "demo", users=100, say=told.append)
    written = "an earlier simulation was there and is written over"
    assert f"{ledger.parent}: {written}, and its ledger is removed" in told
    assert f"{tmp_path / 'demo' / 'interleaving'}: {written}" in told
    assert not ledger.exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        build_online_demo(tmp_path)
    (tmp_path / "thesis.txt").unlink()
    (tmp_path / "collection.toml").write_text('name = "docstrings"\n')  # of the demo offline
    with pytest.raises(UsageError, match="holds something else"):
        build_online_demo(tmp_path)
