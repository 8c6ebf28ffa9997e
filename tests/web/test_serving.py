"""The server as a process: how it starts, how it stops, and what it does without its database."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path

from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from crowds import free_port
from databases import Cluster
from ponds import pond
from server_process import answer, process, token_of
from sites import Site


def test_the_first_start_prints_a_link_once_and_stops_when_told(tmp_path: Path) -> None:
    port = free_port()
    with process(tmp_path / "data", "", port) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == f"serving {tmp_path / 'data'} on http://localhost:{port}\n"
        link = re.search(r"/invite/[\w-]+", started.stdout.readline())
        assert link is not None
        status, page = answer(port, "GET", link.group()) or (0, b"")
        assert status == 200
        assert b"Set up this server" in page
        started.send_signal(signal.SIGTERM)
        assert started.wait(20) == 0


def test_postgresql_goes_and_comes_back(tmp_path: Path, cluster: Cluster) -> None:
    """While the database is away the server says so, and nothing is lost; it goes on by itself when it is back."""
    settings = ServerSettings(folder=tmp_path / "data", database=cluster.new_database())
    store = open_folder(settings)
    site = Site(settings, store)
    topic = pond(site)["topic"]
    site.member("ann", "ducks", "assessor")
    token = token_of(site, "ann")
    store.close()
    port = free_port()
    path = f"/api/v1/projects/ducks/topics/{topic}/leases"
    with process(settings.folder, settings.database, port):
        got = answer(port, "POST", path, {"count": 1}, token)
        assert got is not None
        pair = json.loads(got[1])["leases"][0]["pair"]
        cluster.stop("immediate")
        said = [{"pair": pair, "kind": "grade", "grade": 2, "key": "k"}]
        away = answer(port, "POST", "/api/v1/projects/ducks/judgements", said, token)
        assert away is not None
        assert away[0] == 503
        assert b"the database does not answer" in away[1]
        cluster.start()
        for _ in range(100):
            back = answer(port, "POST", "/api/v1/projects/ducks/judgements", said, token)
            if back is not None and back[0] == 200:
                break
            time.sleep(0.1)
        assert back is not None
        assert json.loads(back[1]) == {"saved": ["k"], "refused": []}
