"""What several test files need and is slow to make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from commands import command_line
from cranfield.report.page_pdf import BROWSERS
from needed import needs, needs_module
from once import made_once

settings.register_profile("untimed", deadline=None)  # a test is never timed: machines are slow and busy
settings.load_profile("untimed")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadgroup":
        return None
    from dealing import DealingByFile

    return DealingByFile(config, log)


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of `cranfield demo` and what the command said."""

    def make(folder: Path) -> None:
        done = command_line("demo", "-o", folder / "docstrings")
        assert done.exit == 0, done.stderr
        (folder / "told.txt").write_text(done.stdout, encoding="utf-8")

    folder = made_once(tmp_path_factory, "demo", make)
    return folder / "docstrings", (folder / "told.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's Chromium, driven by Playwright; `visits.Visit` opens a page in it.

    That without windows and their pages is the same for what is in a page, and three times as quick to open one.
    """
    program = needs("chromium-headless-shell", *BROWSERS, package="chromium-headless-shell")
    sync_api = needs_module("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()
