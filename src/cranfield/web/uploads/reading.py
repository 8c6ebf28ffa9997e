"""Uploads read by the package's own readers, in a child process, and kept in one form.

A run and judgements become TREC text, topics and documents JSON lines. What is odd is told as `cranfield check` tells
it, what cannot be read by the readers' own errors, under the client's name for the file: no path of the server is in
them, because the child knows none.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from cranfield.errors import DataError
from cranfield.render.escaping import visible
from cranfield.web.uploads.child import CHILD, ChildLimits, in_child, work_folder
from cranfield.web.uploads.file_names import harmless_name
from cranfield.web.uploads.refusal import UploadError
from cranfield.web.uploads.unpacking import UNPACKING, UnpackingLimits, unpack

if TYPE_CHECKING:
    from cranfield.evaluation.findings import Finding
    from cranfield.formats.given import Json
    from cranfield.formats.reading import Reading
    from cranfield.tables import Qrels, Run

UploadKind = Literal["run", "judgements", "topics", "documents"]
KINDS: tuple[UploadKind, ...] = get_args(UploadKind)
SUFFIX: Mapping[UploadKind, str] = {
    "run": ".run",
    "judgements": ".qrels",
    "topics": ".topics.jsonl",
    "documents": ".documents.jsonl",
}
# The formats that a client may name. Others are packed within, or those of plug-ins.
TABLES = ("trec", "csv", "tsv", "jsonl", "json", "msmarco", "ntcir")
TEXTS = ("trec", "smart", "jsonl", "beir", "csv", "tsv", "msmarco")
IDS = ("given", "position", "number")
MOST_FINDINGS = 100
WRITTEN = ".kept"  # in the child's folder; no client's file is called so


@dataclass(frozen=True, kw_only=True)
class UploadFinding:
    """Something odd about an upload: a stable code, a sentence, and whether it makes a number doubtful."""

    code: str
    message: str
    doubtful: bool


@dataclass(frozen=True, kw_only=True)
class CheckedUpload:
    """An upload that was read: where it is kept now, in which form it came, what it holds, what is odd about it.

    The digest and size are those of the file at `path`. A run or judgements have rows, topics and documents; topics
    and documents only themselves. `more_findings` are those beyond the first 100.
    """

    kind: UploadKind
    path: str
    name: str
    size: int
    sha256: str
    compression: str | None
    format: str | None
    tag: str
    rows: int
    topics: int
    documents: int
    findings: tuple[UploadFinding, ...]
    more_findings: int

    def remove(self) -> None:
        """Removes the file, if it is still there."""
        try:
            os.remove(self.path)
        except FileNotFoundError:
            return


@dataclass(frozen=True, kw_only=True)
class UploadOptions:
    """How an upload is read, where it does not tell itself: its format, and what the ids of topics are."""

    format: str | None = None
    ids: str = "given"


AS_IT_IS = UploadOptions()


def checked_upload(
    path: str | os.PathLike[str],
    *,
    kind: UploadKind,
    name: str,
    folder: str | os.PathLike[str],
    options: UploadOptions = AS_IT_IS,
    judgements: str | os.PathLike[str] | None = None,
    unpacking: UnpackingLimits = UNPACKING,
    limits: ChildLimits = CHILD,
) -> CheckedUpload:
    """Reads an upload in a child process; gives what it is, kept in a file of a new name in the folder.

    `name` is what the client calls it. With judgements, a kept file of them, a run is checked against them. It waits:
    call it in a thread. The upload itself stays where it is.
    """
    called = harmless_name(name)
    _refuse_options(kind, called, options)
    arguments: dict[str, Json] = {
        "kind": kind,
        "name": called,
        "options": asdict(options),
        "unpacking": asdict(unpacking),
    }
    with _opened(path, called) as upload, work_folder(folder) as work:
        if judgements is None:
            answer = in_child("check", arguments, inputs={"upload": upload}, folder=work, limits=limits)
        else:
            with _opened(judgements, "the judgements") as beside:
                inputs = {"upload": upload, "judgements": beside}
                answer = in_child("check", arguments, inputs=inputs, folder=work, limits=limits)
        return _kept(kind, called, answer, work, os.path.realpath(folder))


def _refuse_options(kind: UploadKind, name: str, options: UploadOptions) -> None:
    known = TABLES if kind in ("run", "judgements") else TEXTS
    if options.format is not None and options.format not in known:
        message = f"uploads of {kind} are in {', '.join(known)}, not in '{options.format[:60]}'"
        raise UploadError("contents", message)
    if options.ids not in IDS:
        raise UploadError("contents", f"ids are {', '.join(IDS)}, not '{options.ids[:60]}'")
    if name.lower().endswith(".toml"):
        remedy = "Upload the documents, topics and judgements themselves."
        raise UploadError("not-one-file", f"{name}: a TOML file names other files, which are not sent with it", remedy)


@contextmanager
def _opened(path: str | os.PathLike[str], name: str) -> Iterator[int]:
    """A descriptor of a file: of one that is a file, not a way to another, nor a pipe that never ends."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        message = f"{name}: is no file that can be read"
        raise UploadError("not-one-file", message, detail=error.strerror or str(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise UploadError("not-one-file", f"{name}: is no file")
        yield opened
    finally:
        os.close(opened)


def _kept(kind: UploadKind, name: str, answer: Json, work: str, folder: str) -> CheckedUpload:
    """What the child has written, under a new name; of what it says, only what has the right form."""
    try:
        opened = os.open(os.path.join(work, WRITTEN), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(opened, "rb") as file:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise ValueError("what the child has written is no file")
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            os.fsync(opened)
        checked = _checked(kind, name, answer, os.path.join(folder, secrets.token_hex(16) + SUFFIX[kind]))
        os.replace(os.path.join(work, WRITTEN), checked["path"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        message = f"{name}: reading it failed: that is a fault of the server"
        raise UploadError("failure", message, detail=f"{type(error).__name__}: {error}") from None
    return CheckedUpload(**checked, sha256=digest, size=status.st_size)


def _checked(kind: UploadKind, name: str, answer: Json, path: str) -> dict[str, Any]:
    assert isinstance(answer, dict)
    said: dict[str, Any] = answer
    found = [
        UploadFinding(code=_words(code, 40), message=_words(message, 2000), doubtful=bool(doubtful))
        for code, message, doubtful in said["findings"][:MOST_FINDINGS]
    ]
    return {
        "kind": kind,
        "path": path,
        "name": name,
        "compression": None if said["compression"] is None else _words(said["compression"], 20),
        "format": None if said["format"] is None else _words(said["format"], 20),
        "tag": _words(said["tag"], 200),
        "findings": tuple(found),
        "more_findings": max(0, len(said["findings"]) - MOST_FINDINGS),
        **{count: int(said[count]) for count in ("rows", "topics", "documents")},
    }


def _words(text: object, most: int) -> str:
    """Text that a page and a database can take, whatever it was."""
    return visible(str(text)[:most]).encode("utf-8", "backslashreplace").decode()


# What follows is run by the child.


def check_in_child(arguments: Mapping[str, Json], inputs: Mapping[str, int]) -> Json:
    """Unpacks an upload into this folder, reads it, and writes it in the form in which it is kept."""
    given: Mapping[str, Any] = arguments
    name = given["name"]
    with os.fdopen(inputs["upload"], "rb") as source, open(name, "xb") as target:
        content = unpack(source, target, name, UnpackingLimits(**given["unpacking"]))
    options = UploadOptions(**given["options"])
    reader = {"run": _run, "judgements": _judgements, "topics": _topics, "documents": _documents}[given["kind"]]
    counted = reader(name, options, inputs.get("judgements"))
    return {"compression": content.compression, "format": None, "tag": "", "topics": 0, "documents": 0} | counted


def _run(name: str, options: UploadOptions, judgements: int | None) -> dict[str, Json]:
    from cranfield.evaluation.checking import check, with_others
    from cranfield.evaluation.experiment import Experiment
    from cranfield.evaluation.findings import of_run_alone
    from cranfield.formats import read_qrels, read_run
    from cranfield.formats.faults import all_faults
    from cranfield.texts.writing import write_run

    reading = _of_table(options)
    try:
        run = read_run(name, reading=reading)
    except DataError as fault:
        faults = all_faults(name, lambda source: read_run(source, reading=reading))
        raise with_others(fault, [faults]) from None
    if judgements is None:
        findings = of_run_alone(run)
    else:
        with os.fdopen(judgements, "rb") as file:
            qrels = read_qrels(file, name="judgements")
        findings = check(Experiment(qrels, [run]))
    lost = write_run(run, WRITTEN, format="trec", lossy=True)
    return _of_rows(run, findings, lost)


def _judgements(name: str, options: UploadOptions, _: int | None) -> dict[str, Json]:
    from cranfield.evaluation.checking import check
    from cranfield.evaluation.experiment import Experiment
    from cranfield.texts.writing import write_qrels

    experiment = Experiment(name, (), reading=_of_table(options))
    findings = check(experiment)
    qrels = experiment.judgements().qrels
    lost = write_qrels(qrels, WRITTEN, format="trec", lossy=True)
    return _of_rows(qrels, findings, lost)


def _topics(name: str, options: UploadOptions, _: int | None) -> dict[str, Json]:
    from cranfield.formats.reading import Reading
    from cranfield.texts import read_topics
    from cranfield.texts.writing import write_topics

    ids: Any = options.ids
    topics = read_topics(name, reading=Reading(format=options.format), ids=ids)
    lost = write_topics(topics, WRITTEN, format="jsonl", lossy=True)
    return {"rows": len(topics), "topics": len(topics), "findings": _told(topics.notes, lost)}


def _documents(name: str, options: UploadOptions, _: int | None) -> dict[str, Json]:
    """Documents go through in blocks where they are many: only what stands in the file is counted."""
    from cranfield.formats.reading import Reading
    from cranfield.texts.conversion import convert

    notes = convert(
        name, WRITTEN, kind="documents", reading=Reading(format=options.format), to_format="jsonl", lossy=True
    )
    with open(WRITTEN, "rb") as file:
        number = sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 20), b""))
    return {"rows": number, "documents": number, "findings": _told((), notes)}


def _of_table(options: UploadOptions) -> Reading:
    from cranfield.formats.reading import Reading

    return Reading(format=options.format, threads=1)


def _of_rows(table: Run | Qrels, findings: list[Finding], lost: tuple[str, ...]) -> dict[str, Json]:
    documents: set[str] = set()
    for of_topic in table.to_dict().values():
        documents.update(of_topic)
    told: list[Json] = [[finding.code, str(finding), finding.doubtful] for finding in findings]
    return {
        "format": table.origin.format,
        "tag": table.origin.tag,
        "rows": len(table),
        "topics": len(table.topics),
        "documents": len(documents),
        "findings": told + _told((), lost),
    }


def _told(notes: tuple[tuple[str, str], ...], sentences: tuple[str, ...]) -> list[Json]:
    of_notes: list[Json] = [[code, sentence, False] for code, sentence in notes]
    return of_notes + [["note", sentence, False] for sentence in sentences]
