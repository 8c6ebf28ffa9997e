"""The files of a release: written once, for reading alone, and known by their digests."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from starlette.exceptions import HTTPException

from cranfield.web.data_folder import MAKING, FolderPart, part_of

log = logging.getLogger("cranfield.web")
QRELS, PROVENANCE, EVENTS, SAMPLED = "qrels.txt", "provenance.json", "events.jsonl", "sampled.txt"


def digest_of(content: bytes) -> str:
    """What a file is known by.

    >>> digest_of(b"q1 0 d1 1")[:20]
    'sha256:723929a0fa9cb'
    """
    return f"sha256:{sha256(content).hexdigest()}"


def folder_of(data: Path, slug: str) -> Path:
    """Where the versions of a project are."""
    return part_of(data, FolderPart.RELEASES) / slug


def written(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Writes files into a new folder that has no number yet; on the disk when this returns."""
    place = folder / f"{secrets.token_hex(8)}{MAKING}"
    place.mkdir(mode=0o700, parents=True)
    for name, content in files.items():
        descriptor = os.open(place / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o400)
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _on_disk(place)
    return place


def numbered(made: Path, version: int) -> None:
    """Gives what was written its number. A folder that has it already is of a release that was never noted."""
    place = made.parent / str(version)
    if place.exists():
        shutil.rmtree(place)
    made.rename(place)
    _on_disk(made.parent)


def given_up(made: Path) -> None:
    """Removes what got no number."""
    shutil.rmtree(made, ignore_errors=True)


def unchanged(path: Path, digest: str) -> bytes:
    """A file that is what it was when it was released; otherwise it is not given to anybody."""
    try:
        content = path.read_bytes()
    except OSError:
        log.error("a file of a release can't be read: %s", path)
        raise HTTPException(500, "the file of this release can't be read: it must be restored from a backup") from None
    if digest_of(content) != digest:
        log.error("a file of a release was changed: %s", path)
        raise HTTPException(500, "the file of this release was changed on the disk: it must be restored from a backup")
    return content


def _on_disk(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
