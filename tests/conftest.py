"""What several test files need and is slow to make: it is made once, for all workers."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from hypothesis import settings

from commands import command_line

settings.register_profile("untimed", deadline=None)  # a test is never timed: machines are slow and busy
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def made_demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of `cranfield demo` and what the command said. The first worker that asks makes it, others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, told = shared / "demo" / "docstrings", shared / "demo.txt"
    with (shared / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            folder.parent.mkdir()
            done = command_line("demo", "-o", folder)
            assert done.exit == 0, done.stderr
            told.write_text(done.stdout, encoding="utf-8")
    return folder, told.read_text(encoding="utf-8")
