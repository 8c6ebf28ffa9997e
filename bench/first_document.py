"""From nothing to a document that can be judged, beside Label Studio and ASReview: Markdown.

    python bench/first_document.py [TOOL …]

For each of the three a new environment in a temporary folder, one after another, each with everything fetched anew from
the package index (no cache of pip, no local wheels). Ours is compiled from this folder, which is timed apart: others
come as wheels. Then each is started as its manual says, with a home of its own. Ours is asked until a page has a
document to grade, with the account made first; ASReview until it gives a record to label, with a project made first, of
as many documents; of Label Studio the first page counts, which comes before an account, a project and an import. Run it
by hand: it takes a quarter of an hour, and the network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from http.cookiejar import CookieJar
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

HERE = Path(__file__).resolve().parent.parent
PATIENCE = 300  # seconds that a start may take
STEP = 0.05


@dataclass(frozen=True, kw_only=True)
class Tool:
    """What is installed, how it is started on a port, and what counts as its first page."""

    name: str
    wanted: str
    source: Path | None = None
    command: Callable[[Path, int], list[str]]
    first: str
    reached: Callable[[int, Path], bool]


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was measured of a tool."""

    name: str
    version: str
    compiling: float
    seconds: float
    packages: int
    megabytes: float
    start: str
    again: str
    first: str


def opened(address: str, form: dict[str, str] | None = None, jar: CookieJar | None = None) -> tuple[int, str]:
    """Status and text of a page; a server that does not answer yet has the status 0."""
    base = "/".join(address.split("/")[:3])
    body = None if form is None else urlencode(form).encode()
    asked = Request(address, body, headers={"origin": base, "accept": "text/html"})
    try:
        with build_opener(HTTPCookieProcessor(jar if jar is not None else CookieJar())).open(asked, timeout=30) as page:
            return page.status, page.read().decode("utf-8", "replace")
    except (URLError, HTTPException, OSError) as error:
        return getattr(error, "code", 0), ""


def answers(port: int, _: Path) -> bool:
    """Whether the first page is there."""
    status, text = opened(f"http://127.0.0.1:{port}/")
    return status == 200 and "<html" in text.lower()


class Judge:
    """Who makes the first account by the link that is printed, and opens the first topic; later they sign in."""

    NAME, PASSWORD = "judge", "a long enough word to come in"

    def __call__(self, port: int, log: Path) -> bool:
        base, jar = f"http://127.0.0.1:{port}", CookieJar()
        if opened(f"{base}/healthz")[0] != 200:
            return False
        link = re.search(r"http://\S+/invite/(\S+)", log.read_text())
        if link is not None:
            opened(f"{base}/invite/{link[1]}", {"name": self.NAME, "password": self.PASSWORD}, jar)
        else:
            opened(f"{base}/login", {"name": self.NAME, "password": self.PASSWORD}, jar)
        topics = opened(f"{base}/p/demo/judge", jar=jar)[1]
        topic = re.search(r'href="(/p/demo/judge/[^"/]+)"', topics)
        if topic is None:
            raise RuntimeError("the topics did not come: the account was not made, or the page is another")
        status, text = opened(base + topic[1], jar=jar)
        return status == 200 and 'value="grade:' in text and 'class="card"' in text


class Reviewer:
    """Who makes a project of a file, as the first page of ASReview has them do, and asks for a record to label."""

    DOCUMENTS = 5_314  # as many as the project of ours has
    BORDER = "a-border-between-parts"

    def __call__(self, port: int, log: Path) -> bool:
        base = f"http://127.0.0.1:{port}/api/projects"
        projects = answer_of(base)
        if projects is None:
            return False
        known = projects["result"]
        project = f"{base}/{known[0]['id'] if known else self.new(base)}"
        status = answer_of(f"{project}/status")
        if status is not None and status["status"] == "setup":
            answer_of(f"{project}/review", b"status=review", "application/x-www-form-urlencoded", "PUT")
        record = answer_of(f"{project}/get_record")
        return record is not None and bool(record["result"])

    def new(self, base: str) -> str:
        chance = Random(15)
        lines = ["title,abstract"]
        for number in range(self.DOCUMENTS):
            lines.append(f"Document {number}," + " ".join(f"word{chance.randrange(20_000)}" for _ in range(100)))
        parts = [
            f'--{self.BORDER}\r\ncontent-disposition: form-data; name="mode"\r\n\r\noracle\r\n',
            f'--{self.BORDER}\r\ncontent-disposition: form-data; name="file"; filename="documents.csv"\r\n',
            "content-type: text/csv\r\n\r\n" + "\n".join(lines) + f"\r\n--{self.BORDER}--\r\n",
        ]
        made = answer_of(f"{base}/create", "".join(parts).encode(), f"multipart/form-data; boundary={self.BORDER}")
        if made is None:
            raise RuntimeError("the project was not made")
        return str(made["id"])


def answer_of(address: str, body: bytes | None = None, kind: str = "", method: str | None = None) -> Any:
    """What a program answers, read as JSON; None while it does not answer."""
    request = Request(address, body, headers={"content-type": kind} if kind else {}, method=method)
    try:
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except (URLError, HTTPException, OSError, ValueError):
        return None


TOOLS = (
    Tool(
        name="cranfield[web]",
        wanted="cranfield[web]",
        source=HERE,
        command=lambda programs, port: [str(programs / "cranfield"), "serve", "demo", "--port", str(port)],
        first="a document to grade, the account made",
        reached=Judge(),
    ),
    Tool(
        name="asreview",
        wanted="asreview",
        command=lambda programs, port: [str(programs / "asreview"), "lab", "--no-browser", "--port", str(port)],
        first="a record to label, the project made",
        reached=Reviewer(),
    ),
    Tool(
        name="label-studio",
        wanted="label-studio",
        command=lambda programs, port: [str(programs / "label-studio"), "start", "--no-browser", "--port", str(port)],
        first="its first page, without an account and a project",
        reached=answers,
    ),
)


def alone(home: Path) -> dict[str, str]:
    """An environment in which pip fetches everything from the index, and programs keep their data in `home`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_FIND", "PIP_EXTRA"))}
    return {**kept, "PIP_CONFIG_FILE": os.devnull, "HOME": str(home), "ASREVIEW_LAB_NO_BROWSER": "1"}


def installed(tool: Tool, folder: Path) -> tuple[float, float, str]:
    """Seconds of compiling, seconds of pip, and what pip has then installed, as `name==version` lines."""
    environment = alone(folder)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [str(folder / "venv/bin/python"), "-m", "pip", "--disable-pip-version-check"]
    wanted, begun = tool.wanted, time.perf_counter()
    if tool.source is not None:
        make = [*pip, "wheel", "--quiet", "--no-cache-dir", "--no-deps", "--wheel-dir", str(folder), str(tool.source)]
        subprocess.run(make, check=True, env=environment, cwd=folder)
        wanted = f"{tool.wanted} @ {next(folder.glob('*.whl')).as_uri()}"
    compiled = time.perf_counter()
    subprocess.run([*pip, "install", "--quiet", "--no-cache-dir", wanted], check=True, env=environment, cwd=folder)
    done = time.perf_counter()
    listed = subprocess.run(
        [*pip, "list", "--format=freeze"], check=True, env=environment, capture_output=True, text=True
    )
    return compiled - begun, done - compiled, listed.stdout


def size(folder: Path) -> float:
    """Megabytes on the disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 1e6


@contextmanager
def running(tool: Tool, folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """The program at work, with what it prints; it is stopped in the end, with all that it started."""
    log = folder / "printed"
    with log.open("wb") as out:
        process = subprocess.Popen(
            tool.command(folder / "venv/bin", port),
            cwd=folder,
            env={**alone(folder), "PYTHONUNBUFFERED": "1"},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process, log
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def started(tool: Tool, folder: Path) -> str:
    """Seconds from the command to the first page, or what happened instead."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    begun = time.perf_counter()
    with running(tool, folder, port) as (process, log):
        while time.perf_counter() < begun + PATIENCE:
            if tool.reached(port, log):
                return f"{time.perf_counter() - begun:.1f} s"
            if process.poll() is not None:
                last = log.read_text(errors="replace").strip().splitlines()[-1:]
                return f"ended with {process.returncode}: {' '.join(last)}"
            time.sleep(STEP)
    return f"no page in {PATIENCE} s"


def measured(tool: Tool, folder: Path) -> Found:
    """Installs a tool and starts it twice: the first time makes its data."""
    folder.mkdir(parents=True)
    compiling, seconds, listed = installed(tool, folder)
    packages = [line for line in listed.split() if not line.startswith(("pip==", "setuptools==", "wheel=="))]
    own = f"{tool.name.partition('[')[0]}=="
    return Found(
        name=tool.name,
        version=next((line.removeprefix(own) for line in packages if line.startswith(own)), "from this folder"),
        compiling=compiling,
        seconds=seconds,
        packages=len(packages),
        megabytes=size(folder / "venv"),
        start=started(tool, folder),
        again=started(tool, folder),
        first=tool.first,
    )


def main() -> None:
    """Measures the tools, one after another, and prints a table."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("tools", metavar="TOOL", nargs="*", help=f"of {', '.join(tool.name for tool in TOOLS)}; or all")
    chosen = asked.parse_args().tools or [tool.name for tool in TOOLS]
    print("| tool | version | compile | pip install | packages | size | first start | later start | until |")
    print("|---|---|--:|--:|--:|--:|--:|--:|---|", flush=True)
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as temporary:
        for tool in [tool for tool in TOOLS if tool.name in chosen]:
            try:
                found = measured(tool, Path(temporary).resolve() / tool.name)
            except subprocess.CalledProcessError as error:
                print(f"| {tool.name} | | | pip ended with {error.returncode} | | | | | |", flush=True)
                continue
            finally:
                loads.append(os.getloadavg()[0])
            compiling = f"{found.compiling:.0f} s" if tool.source is not None else "–"
            print(
                f"| {found.name} | {found.version} | {compiling} | {found.seconds:.0f} s | {found.packages} | "
                f"{found.megabytes:,.0f} MB | {found.start} | {found.again} | {found.first} |",
                flush=True,
            )
    print(f"\nLoad average (1 minute) before and after each: {', '.join(f'{load:.1f}' for load in loads)}.")


if __name__ == "__main__":
    main()
