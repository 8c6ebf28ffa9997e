"""The server and its database are killed at any point, and the disk is full: nothing that was acknowledged is lost,
nothing is there twice, and what is stored is what a rebuild makes of the events.

CRANFIELD_KILLS says how often each is killed; `make load` has the long form.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cranfield.web.settings import ServerSettings
from databases import Cluster
from needed import missing
from server_process import Sitting, answer, process

KILLS = int(os.environ.get("CRANFIELD_KILLS", "4"))
PAIRS = 3000 + 100 * KILLS  # so that something is left to judge after the last


def test_nothing_acknowledged_is_lost_when_the_server_is_killed(settings: ServerSettings) -> None:
    sitting = Sitting(settings, pairs=PAIRS)
    sitting.begin()
    for _ in range(KILLS):
        with process(settings.folder, settings.database, sitting.port) as started:
            time.sleep(sitting.chance.uniform(0.05, 0.8))
            started.kill()
            started.wait()
    with process(settings.folder, settings.database, sitting.port):
        sitting.goes_on()
        sitting.end()
    assert sitting.acknowledged > KILLS
    sitting.check()
    print(f"{KILLS} kills, {sitting.acknowledged} judgements acknowledged")


@pytest.mark.parametrize("way", ["killed", "immediate"])
def test_nothing_acknowledged_is_lost_when_postgresql_is_killed(way: str, tmp_path: Path, cluster: Cluster) -> None:
    """The server goes on by itself when its database is back."""
    settings = ServerSettings(folder=tmp_path / "data", database=cluster.new_database())
    sitting = Sitting(settings, pairs=PAIRS)
    with process(settings.folder, settings.database, sitting.port):
        sitting.begin()
        for _ in range(KILLS // 2):
            time.sleep(sitting.chance.uniform(0.05, 0.5))
            cluster.kill() if way == "killed" else cluster.stop("immediate")
            time.sleep(sitting.chance.uniform(0, 0.2))
            cluster.start()
            sitting.goes_on(1)
        sitting.goes_on()
        sitting.end()
    sitting.check()
    print(f"{KILLS // 2} kills, {sitting.acknowledged} judgements acknowledged")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own for a data folder."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        missing("only root can make a small disk, and not in every container: run the tests as root")
    yield place
    subprocess.run(["umount", place], check=True)


def judge_without_room(sitting: Sitting, take: Callable[[], None], give: Callable[[], None]) -> None:
    """Everybody judges; there is no room, they are told so, and when there is room again they go on."""
    sitting.goes_on()
    take()
    until = time.monotonic() + 60
    while not all(person.refused for person in sitting.people.values()):
        assert time.monotonic() < until, "a full disk was not noticed"
        time.sleep(0.02)
    before = sitting.acknowledged
    time.sleep(0.3)
    assert sitting.acknowledged == before
    assert answer(sitting.port, "GET", "/healthz") == (200, b"alive\n")
    give()
    sitting.goes_on()
    sitting.end()


def test_a_full_disk_loses_nothing(small_disk: Path) -> None:
    """Without room judgements are refused in words, and none is stored by half; with room the server goes on."""
    settings = ServerSettings(folder=small_disk / "data")
    sitting = Sitting(settings, pairs=PAIRS)
    ballast = small_disk / "ballast"

    def fill() -> None:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))

    with process(settings.folder, "", sitting.port):
        sitting.begin()
        judge_without_room(sitting, fill, ballast.unlink)
    assert {words for person in sitting.people.values() for words in person.refused} == {DISK_FULL}
    sitting.check()


DISK_FULL = "the disk of the server is full: this was not stored, and what was stored before is safe; try again later"


def test_a_file_that_may_not_grow_loses_nothing(tmp_path: Path) -> None:
    """As of a quota: what cannot be written is refused, whatever the reason."""
    settings = ServerSettings(folder=tmp_path / "data")
    sitting = Sitting(settings, pairs=PAIRS)
    with process(settings.folder, "", sitting.port) as started:
        unlimited = resource.prlimit(started.pid, resource.RLIMIT_FSIZE)

        def limit() -> None:
            resource.prlimit(started.pid, resource.RLIMIT_FSIZE, (8192, unlimited[1]))

        def free() -> None:
            resource.prlimit(started.pid, resource.RLIMIT_FSIZE, unlimited)

        sitting.begin()
        judge_without_room(sitting, limit, free)
    sitting.check()
