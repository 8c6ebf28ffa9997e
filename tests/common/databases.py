"""A real PostgreSQL in a folder of its own, for tests."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg

from needed import missing


@dataclass
class Cluster:
    """A running server; `stop` and `start` are for tests that pull it away."""

    folder: Path
    programs: Path
    user: str | None
    numbers: Iterator[int] = field(default_factory=count)

    def new_database(self, form: str = "template1") -> str:
        """The address of an empty database, or of a copy of another."""
        name = f"test{next(self.numbers)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {form}")
        return self.address(name)

    def address(self, database: str) -> str:
        return f"postgresql://judge@/{database}?host={self.folder}"

    def run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.programs / program, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            user=self.user,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"},
        )

    def start(self) -> None:
        # Durable, as a user's would be: what tests of faults say must hold there too.
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=60 -c log_min_messages=fatal"
        begin = ("-D", str(self.folder / "data"), "-o", options, "-l", str(self.folder / "log"), "-w", "start")
        for left in reversed(range(100)):
            try:
                self.run("pg_ctl", *begin)
                break
            except subprocess.CalledProcessError:  # processes of one that was killed may be there for a moment more
                if not left:
                    raise
                time.sleep(0.1)

    def kill(self) -> None:
        """As the power does: the first process dies at once, and the others when they notice."""
        number = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        os.kill(number, signal.SIGKILL)

    def stop(self, mode: str = "fast") -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")


@contextmanager
def started_cluster() -> Iterator[Cluster]:
    """A cluster that is gone afterwards. PostgreSQL does not run as root: then another user runs it."""
    programs = postgresql_programs()
    if programs is None:
        missing("there is no PostgreSQL here: apt-get install postgresql")
    user = other_user() if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="cranfield-postgresql-"))
    if user is not None:
        shutil.chown(folder, user)
    cluster = Cluster(folder, programs, user)
    try:
        cluster.run("initdb", "-A", "trust", "-U", "judge", "-E", "UTF8", "--no-sync", "-D", str(folder / "data"))
        cluster.start()
        yield cluster
        cluster.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def postgresql_programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian keeps them off the path."""
    there = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: float(path.parts[4]))
    if there:
        return there[-1].parent
    known = shutil.which("initdb")
    return Path(known).resolve().parent if known else None


def other_user() -> str:
    """A user that is not root."""
    known = {entry.pw_name for entry in pwd.getpwall()}
    names = [name for name in ("postgres", "nobody") if name in known]
    return names[0] if names else missing("PostgreSQL does not run as root, and there is no user postgres nor nobody")
