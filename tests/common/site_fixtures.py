"""Every test of the server runs on SQLite and on a real PostgreSQL; each gets a database of its own."""

from __future__ import annotations

import shutil
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


# Databases in the newest form, of which each test gets a copy: to migrate an empty one takes longer than most tests.


@pytest.fixture(scope="session")
def ready_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ready")
    open_folder(ServerSettings(folder=folder)).close()
    return folder / "cranfield.db"


@pytest.fixture(scope="session")
def ready_database(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    address = cluster.new_database()
    open_folder(ServerSettings(folder=tmp_path_factory.mktemp("ready"), database=address)).close()
    return address.partition("@/")[2].partition("?")[0]


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> ServerSettings:
    """Where a server has its data."""
    folder = tmp_path / "data"
    if request.param == "postgresql":
        cluster, ready = (request.getfixturevalue(name) for name in ("cluster", "ready_database"))
        return ServerSettings(folder=folder, database=cluster.new_database(ready))
    folder.mkdir(mode=0o700)
    shutil.copy(request.getfixturevalue("ready_file"), folder)
    return ServerSettings(folder=folder)


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
