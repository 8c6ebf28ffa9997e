"""A process of its own for hostile bytes, with limits that it cannot raise: `in_child` starts it, it runs `main`.

The parser is C++ and the file a stranger's: what goes wrong in here ends here, and is told in words. The child gets
descriptors of the files that it may read, an empty folder to write in, and of the environment nothing but where the
packages are. It is started anew, not forked: the server has threads.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from cranfield.errors import CranfieldError
from cranfield.web.uploads.advice import advice_for_uploads
from cranfield.web.uploads.refusal import STATUS, UploadError

if TYPE_CHECKING:
    from cranfield.formats.given import Json

Task: TypeAlias = "Callable[[Mapping[str, Json], Mapping[str, int]], Json]"
# All that a child does: a task's name, and the function that does it. No name from the network gets in here.
TASKS = {"check": "cranfield.web.uploads.reading:check_in_child"}
MODULE = "cranfield.web.uploads.child"
PREFIX = "child-"  # of the folders of children
MOST_REQUESTED = 1 << 15  # bytes of a request: it fits into a pipe, so that writing it never waits
STDERR_KEPT = 4096  # bytes, for the log
TEXT_KEPT = 20_000  # characters of an error's text
AT_ONCE = 2  # children: each may take its memory and a core, and the judges are to notice nothing
# Nothing that reads a file needs these; whatever tries them is stopped.
FORBIDDEN = ("socket.", "subprocess.", "os.exec", "os.fork", "os.posix_spawn", "os.system", "urllib.", "ftplib.")


@dataclass(frozen=True, kw_only=True)
class ChildLimits:
    """What a child may use. memory, file_bytes (of each file it writes) and answer_bytes are bytes, processor_seconds
    are of work, wall_seconds of waiting.
    """

    memory: int = 2 << 30
    processor_seconds: int = 60
    wall_seconds: float = 120
    file_bytes: int = 2 << 30
    open_files: int = 64
    answer_bytes: int = 1 << 20


CHILD = ChildLimits()
_places = threading.BoundedSemaphore(AT_ONCE)


@contextmanager
def work_folder(below: str | os.PathLike[str]) -> Iterator[str]:
    """An empty folder for one child, of a new name and for this user alone; removed with what is in it."""
    path = tempfile.mkdtemp(prefix=PREFIX, dir=os.path.realpath(below))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def in_child(
    task: str,
    arguments: Mapping[str, Json],
    *,
    inputs: Mapping[str, int],
    folder: str,
    limits: ChildLimits = CHILD,
) -> Json:
    """What a task gives for arguments and open files, done in a child process; an `UploadError` says what went wrong.

    It waits, at most as long as a child may take for one of the AT_ONCE places, then for the child: call it in a
    thread. Whatever the child has written is in the folder.
    """
    request = {"task": task, "arguments": arguments, "inputs": inputs, "limits": asdict(limits)}
    data = json.dumps(request).encode()
    if len(data) > MOST_REQUESTED:
        raise UploadError("malformed", "what is said about the file is too long")
    if not _places.acquire(timeout=limits.wall_seconds):
        raise UploadError("busy", "too many files are being read at once", "Nothing was kept. Send it again later.")
    try:
        return _in_child(data, inputs, folder, limits)
    finally:
        _places.release()


def _in_child(request: bytes, inputs: Mapping[str, int], folder: str, limits: ChildLimits) -> Json:
    process = subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", MODULE],  # -P: the folder of the child is no place for modules
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=_environment(folder),
        pass_fds=tuple(inputs.values()),
        start_new_session=True,
    )
    with process:
        try:
            answer, said, over = _conversation(process, request, limits)
        finally:
            # Before it is waited for, its number is its own: no stranger can be hit.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    detail = said.decode("utf-8", "replace")
    if over is not None or process.returncode != 0:
        raise _ended(over or _reason(process.returncode), process.returncode, limits, detail)
    return _meaning(answer, detail)


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the server's own, but where Python finds the packages."""
    places = [os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    paths = {"PYTHONPATH": os.pathsep.join(places)} if places else {}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {"LC_ALL": "C.UTF-8", "PATH": os.defpath, "TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1"} | threads | paths


def _conversation(
    process: subprocess.Popen[bytes], request: bytes, limits: ChildLimits
) -> tuple[bytes, bytes, str | None]:
    """The child's answer, what it said besides, and which limit of ours it went over."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    deadline = time.monotonic() + limits.wall_seconds
    with suppress(BrokenPipeError):
        process.stdin.write(request)
        process.stdin.close()
    answer, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, answer)
        selector.register(process.stderr, selectors.EVENT_READ, said)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return b"", bytes(said), "time"
            for key, _ in selector.select(left):
                piece = os.read(key.fd, 1 << 16)
                key.data.extend(piece)
                if not piece:
                    selector.unregister(key.fileobj)
            if len(answer) > limits.answer_bytes:
                return b"", bytes(said), "answer"
            del said[:-STDERR_KEPT]
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > deadline:
            return b"", bytes(said), "time"
        time.sleep(0.002)
    return bytes(answer), bytes(said), None


def _reason(returned: int) -> str:
    """Why a child ended that nobody here has ended."""
    if returned == -signal.SIGXCPU:
        return "processor"
    if returned == -signal.SIGXFSZ:
        return "file-size"
    if returned == -signal.SIGALRM:
        return "time"
    if returned in (-signal.SIGKILL, -signal.SIGTERM):
        return "killed"
    return "crash" if returned < 0 else "failure"


def _ended(code: str, returned: int, limits: ChildLimits, detail: str) -> UploadError:
    signalled = signal.Signals(-returned).name if returned < 0 else f"exit code {returned}"
    words = {
        "time": f"reading it took longer than {limits.wall_seconds:g} seconds",
        "processor": f"reading it took more than {limits.processor_seconds} seconds of processor time",
        "file-size": f"what is made of it is more than {limits.file_bytes:,} bytes",
        "memory": f"reading it needs more than {limits.memory >> 20:,} MiB of memory",
        "answer": f"what there is to say about it is more than {limits.answer_bytes:,} bytes",
        "no-space": "the server's disk is full",
        "killed": "reading it was stopped from outside, perhaps because the server is short of memory",
        "crash": f"reading it crashed ({signalled}), perhaps for want of memory",
        "failure": "reading it failed: that is a fault of the server",
    }
    return UploadError(code, words[code], "Nothing was kept.", detail=f"{signalled}: {detail}")


def _meaning(answer: bytes, detail: str) -> Json:
    """What an answer says. The child has read hostile bytes: what it says is looked at as theirs would be."""
    try:
        said = json.loads(answer)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or ("given" in said) == ("refused" in said):
        raise UploadError("failure", "reading it failed: that is a fault of the server", detail=detail)
    if "given" in said:
        return cast("Json", said["given"])
    code, text = str(said["refused"]), str(said.get("text", ""))[:TEXT_KEPT]
    first, *more = (line.strip() for line in text.encode("utf-8", "backslashreplace").decode().split("\n"))
    raise UploadError(code if code in STATUS else "failure", first, *more, detail=detail)


# What follows is run by the child.


def main() -> NoReturn:
    """One request from standard input, one answer to standard output."""
    request: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    limits = ChildLimits(**request["limits"])
    answering = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    _limit(limits)
    sys.addaudithook(_forbid)
    try:
        task = _task(request["task"])
        answer = {"given": task(request["arguments"], request["inputs"])}
        data = json.dumps(answer).encode()
    except BaseException as error:
        data = json.dumps(_refusal(error, limits)).encode()
    with suppress(OSError), os.fdopen(answering, "wb") as file:
        file.write(data)
    sys.stderr.flush()
    os._exit(0)  # what is left in memory is of no use, and may be damaged


def _task(name: str) -> Task:
    module, _, function = TASKS[name].partition(":")
    return cast("Task", getattr(import_module(module), function))


def _limit(limits: ChildLimits) -> None:
    """Sets what this process may use: both limits of each kind, so that it cannot raise them again."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, limits.memory),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ):
        resource.setrlimit(kind, (most, most))
    # One second more until it is killed without a word: the signal at the first tells which limit it was.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds + 1))
    signal.setitimer(signal.ITIMER_REAL, limits.wall_seconds + 5)  # if the server is gone, nobody else ends it
    os.umask(0o077)


def _forbid(event: str, _: object) -> None:
    if event.startswith(FORBIDDEN):
        raise PermissionError(f"{event} is not for uploads")


def _refusal(error: BaseException, limits: ChildLimits) -> dict[str, str]:
    """Why a task was not done, for the server: the texts of this package, and of others no word."""
    limit = _limit_behind(error)
    if limit is not None:
        return {"refused": limit, "text": str(_ended(limit, 0, limits, ""))}
    if isinstance(error, UploadError):
        return {"refused": error.code, "text": str(error)}
    if isinstance(error, CranfieldError):
        return {"refused": "contents", "text": advice_for_uploads(error).replace(os.getcwd() + os.sep, "")}
    import traceback

    traceback.print_exception(error)
    return {"refused": "failure", "text": f"reading it failed ({type(error).__name__}): that is a fault of the server"}


def _limit_behind(error: BaseException | None) -> str | None:
    """The limit that an error is about, if it or one that it stands for is."""
    import errno

    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return "memory"
        if isinstance(error, OSError) and error.errno == errno.EFBIG:
            return "file-size"
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return "no-space"
        error = error.__cause__ or error.__context__
    return None


if __name__ == "__main__":
    main()
