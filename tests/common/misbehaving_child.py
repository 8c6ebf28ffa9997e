"""The child process of uploads with more tasks: each does what a hostile file might bring the real ones to do."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.web.uploads import child
from cranfield.web.uploads.reading import KINDS, check_in_child


def sleep(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    time.sleep(600)


def spin(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    while True:
        pass


def eat(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> int:
    return len([bytearray(1 << 24) for _ in range(10_000)])


def end(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    os.kill(os.getpid(), signal.Signals[arguments["signal"]])
    time.sleep(600)


def leave(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    print("the reason", file=sys.stderr, flush=True)
    os._exit(3)


def fill(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    with open("large", "wb") as file:
        for _ in range(1000):
            file.write(bytes(1 << 20))


def talk(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> str:
    print("a word of a library on standard output", flush=True)
    return "x" * int(arguments["length"])


def fail(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    raise RuntimeError(f"a path of the server: {os.getcwd()}")


def refuse(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    raise CranfieldError(f"{os.getcwd()}/a.run:1: is wrong")


def part(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> None:
    """A process of its own in the same group, which holds the pipes and outlives this one."""
    other = ctypes.CDLL(None).fork()
    if other == 0:
        time.sleep(600)
    with open(arguments["told"], "w") as file:
        file.write(str(other))
    os._exit(0)


def reach_out(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> list[str]:
    tried = []
    attempts: dict[str, Callable[[], object]] = {
        "connect": lambda: socket.create_connection(("127.0.0.1", arguments["port"])),
        "run": lambda: subprocess.run(["true"]),
        "fork": os.fork,
        "system": lambda: os.system("true"),
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except PermissionError:
            tried.append(name)
    return tried


def look_around(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> dict[str, Any]:
    kinds = ("AS", "CPU", "FSIZE", "NOFILE", "CORE")
    files = {number: os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")[:-1]}
    return {
        "environment": dict(os.environ),
        "files": files,
        "folder": os.listdir(),
        "limits": {kind: resource.getrlimit(getattr(resource, f"RLIMIT_{kind}")) for kind in kinds},
        "leads": os.getsid(0) == os.getpid() == os.getpgid(0),
        "path": sys.path,
    }


def check_many(arguments: Mapping[str, Any], inputs: Mapping[str, int]) -> dict[str, Any]:
    """Reads each of many uploads as every kind: what came of it, and which files, modules and sockets it took."""
    with os.fdopen(inputs["upload"], "rb") as file:
        uploads = [(name, base64.b64decode(data)) for name, data in json.load(file)]
    outcomes: list[list[str]] = []
    touched: list[str] = []

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(given[0], str | bytes):
            touched.append(os.path.abspath(os.fsdecode(given[0])))
        elif event.startswith("socket."):
            touched.append(event)

    home = os.getcwd()
    for round, to_read in enumerate([uploads[:1], uploads]):  # the first loads what readers load late
        if round:
            sys.addaudithook(watch)
        for number, (name, data) in enumerate(to_read):
            for kind in KINDS:
                os.mkdir(f"{home}/{round}-{number}-{kind}")
                os.chdir(f"{home}/{round}-{number}-{kind}")
                outcome = _outcome(kind, name, data, arguments)
                if round:
                    outcomes.append([str(number), kind, *outcome])
    places = [home, *map(os.path.realpath, (sys.prefix, sys.base_prefix, *sys.path))]
    outside = sorted({path for path in touched if not os.path.realpath(path).startswith(tuple(places))})
    modules = [name for name in sys.modules if name.startswith("cranfield.")]
    return {"outcomes": outcomes, "outside": outside, "modules": modules}


def _outcome(kind: str, name: str, data: bytes, arguments: Mapping[str, Any]) -> tuple[str, str]:
    with open(".given", "xb") as file:
        file.write(data)
    given = {"kind": kind, "name": name, "options": {}, "unpacking": arguments["unpacking"]}
    try:
        check_in_child(given, {"upload": os.open(".given", os.O_RDONLY)})
    except CranfieldError as error:
        return "refused", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "read", ""


if __name__ == "__main__":
    tasks = (sleep, spin, eat, end, leave, fill, talk, fail, refuse, part, reach_out, look_around, check_many)
    child.TASKS.update({task.__name__: f"__main__:{task.__name__}" for task in tasks})
    child.main()
