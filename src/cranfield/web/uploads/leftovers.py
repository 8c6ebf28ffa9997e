"""What a server that was killed has left behind: files that were coming, and folders of children."""

from __future__ import annotations

import os
import shutil

from cranfield.web.uploads.child import PREFIX
from cranfield.web.uploads.receiving import UNCHECKED


def remove_leftovers(folder: str | os.PathLike[str]) -> int:
    """Removes them from a folder of uploads; gives their number. Call it before the server takes requests.

    What was checked and kept is not touched: which of it is wanted, only the database knows.
    """
    number = 0
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False) and entry.name.startswith(PREFIX):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif entry.is_file(follow_symlinks=False) and entry.name.endswith(UNCHECKED):
                os.remove(entry.path)
            else:
                continue
            number += 1
    return number
