"""Every test of the server runs on SQLite and on a real PostgreSQL; each gets a database of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from databases import Cluster, started_cluster
from sites import Site


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """PostgreSQL, started when the first test asks for it; without its programs those tests are skipped."""
    with started_cluster() as started:
        yield started


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> ServerSettings:
    """Where a server has its data."""
    address = request.getfixturevalue("cluster").new_database() if request.param == "postgresql" else ""
    return ServerSettings(folder=tmp_path / "data", database=address)


class Clock:
    """A time that tests move: it begins at a round one and never goes by itself."""

    def __init__(self) -> None:
        self.now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now

    def forward(self, *, minutes: float = 0, days: float = 0) -> None:
        self.now += int(minutes * 60_000 + days * 86_400_000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(settings: ServerSettings, clock: Clock) -> Iterator[Store]:
    """An empty database in the newest form."""
    opened = open_folder(settings, clock)
    yield opened
    opened.close()


@pytest.fixture
def site(settings: ServerSettings, store: Store) -> Site:
    """A server in this process, with people who visit it (tests/common/sites.py)."""
    return Site(settings, store)
