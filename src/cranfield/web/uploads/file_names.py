"""What a client calls a file, made harmless: it is shown, and it is the file's name in a folder of its own."""

from __future__ import annotations

import unicodedata

LONGEST = 60  # characters: at four bytes each still a name that every file system takes
NAMELESS = "upload"


def harmless_name(given: str) -> str:
    """The last part of a path in letters, digits and ._+-, with nothing before it that means something to a reader.

    So it is no path, no option, no '-' for standard input, no 'irds:…' for a dataset, and no hidden file.

    >>> harmless_name("C:\\\\runs\\\\Läufe (2).run.gz"), harmless_name("../../etc/passwd")
    ('Läufe_2_.run.gz', 'passwd')
    >>> harmless_name("irds:vaswani"), harmless_name("-"), harmless_name("..")
    ('irds_vaswani', 'upload', 'upload')
    """
    last = unicodedata.normalize("NFC", given[-1000:]).replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(character if character.isalnum() or character in "._+-" else "_" for character in last)
    while "__" in plain:
        plain = plain.replace("__", "_")
    plain = plain.lstrip("._+-")
    if len(plain) > LONGEST:
        plain = plain[:20] + plain[20 - LONGEST :]  # what it ends in may tell the format
    return plain or NAMELESS
