"""What a data folder holds beside its database: one list, by which files are placed, backed up and restored.

Whoever writes a file into the folder names the part here that it belongs to; so nothing new is left out of a backup.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path


class FolderPart(StrEnum):
    """The folders of a data folder."""

    COLLECTIONS = "collections"  # documents, and what a learner knows of them
    UPLOADS = "uploads"  # documents, topics and judgements that were sent, under their digests
    RUNS = "runs"  # under their digests
    RELEASES = "releases"  # by project and version
    INCOMING = "incoming"  # what is on its way: nothing refers to it, and the next start removes it


CARRIED = tuple(part for part in FolderPart if part is not FolderPart.INCOMING)
BUILDING, MAKING = ".building", ".making"  # how files and folders end that are not whole yet


def part_of(folder: Path, part: FolderPart) -> Path:
    """Where a part of a data folder is.

    >>> part_of(Path("data"), FolderPart.RUNS).as_posix()
    'data/runs'
    """
    return folder / part.value


def carried_files(folder: Path) -> Iterator[Path]:
    """All files that a backup carries, in order; what is not whole yet is left out."""
    for part in CARRIED:
        for path in sorted(part_of(folder, part).rglob("*")):
            unfinished = any(name.endswith((BUILDING, MAKING)) for name in path.relative_to(folder).parts)
            if path.is_file() and not path.is_symlink() and not unfinished:
                yield path


def digest_of(path: Path) -> str:
    """The SHA-256 digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
